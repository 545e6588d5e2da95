// The plan in other words: as a file, as Python, as a command; and a link, while there is no data.
import { post } from "./api.js";
import { announce, at, el, fill } from "./dom.js";
import * as store from "./store.js";

export async function openCopy() {
  const dialog = at("copy-dialog");
  const found = await post("/plan/write", { state: store.get() });
  const part = (title, text, name) => (text ? el("section", {}, el("h3", {}, title), el("pre", { class: "code", tabindex: "0", id: `copy-${name}`, "aria-label": title }, text),
    el("button", { type: "button", on: { click: () => copy(text, title) } }, "Copy")) : null);
  fill(dialog, el("h2", { id: "copy-title" }, "Take it with you"), el("div", { class: "stack" },
    part("plan.toml", found.toml, "toml"), part("Python", found.python, "python"), part("Command", found.command, "command"),
    store.hasData() ? el("p", { class: "hint" }, "A link is offered only while no data is open.") : part("Link", `${location.origin}${location.pathname}#${encode(store.get())}`, "link"),
    el("div", {}, el("button", { type: "button", class: "main", on: { click: () => dialog.close() } }, "Close"))));
  dialog.showModal();
}

async function copy(text, what) {
  await navigator.clipboard.writeText(text).catch(() => {});
  announce(`${what} copied`);
}

export function encode(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// A link holds a calculation and nothing else; anything that cannot be one is ignored.
export function decode(fragment) {
  try {
    const text = atob(fragment.replace(/^#/, "").replaceAll("-", "+").replaceAll("_", "/"));
    const state = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
    const { columns, attacker } = state;
    return columns && attacker && typeof columns === "object" ? { columns, attacker } : null;
  } catch { return null; }
}
