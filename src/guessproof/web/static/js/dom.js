// Elements from plain values. Text is always text: nothing from outside is read as HTML.

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (key === "class") node.className = value;
    else if (key === "value") node.value = value;
    else if (key === "checked") node.checked = value;
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const SVG = "http://www.w3.org/2000/svg";
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

export const at = (id) => document.getElementById(id);

export function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

// What is there already is left alone: a drag touches many places sixty times a second, and most of them stay as they are.
export function say(node, text) { if (node.textContent !== text) node.textContent = text; }
export function put(input, value) { if (value === "" || input.value !== String(value)) input.value = value; }
export function name(node, key, value) { if (node.getAttribute(key) !== value) node.setAttribute(key, value); }

let unique = 0;
export const fresh = (stem) => `${stem}-${(unique += 1)}`;

export function field(label, input, { wide = false } = {}) {
  const id = input.id || fresh("field");
  input.id = id;
  const holder = el("div", { class: wide ? "field wide" : "field" }, el("label", { for: id }, label));
  holder.append(input);
  return holder;
}

// Steps that are shown are counted by the style sheet.
export function heading(id, counted, text, ...more) {
  return el("header", {}, el("h2", { id }, counted ? el("span", { class: "number", "aria-hidden": "true" }) : null, text), ...more);
}

// Changes are told to people who cannot see them, but not every step of a drag.
let last;
export function announce(text) {
  clearTimeout(last);
  last = setTimeout(() => { at("status").textContent = text; }, 700);
}

export function warn(text) {
  const notice = at("notice");
  notice.textContent = text || "";
  notice.hidden = !text;
}
