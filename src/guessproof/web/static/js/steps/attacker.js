// Who attacks: what he believes of each column, and which guesses are right.
import { post, Refused } from "../api.js";
import { at, el, field, fill, heading, put as write, say } from "../dom.js";
import * as goal from "../goal.js";
import { number } from "../numbers.js";
import * as store from "../store.js";

const FAMILIES = {
  normal: [["mean", 20], ["sd", 6]], uniform: [["low", 0], ["high", 100]], exponential: [["scale", 10]], laplace: [["mean", 20], ["scale", 5]],
  lognormal: [["median", 20], ["sd_log", 0.5]], gamma: [["shape", 2], ["scale", 10]], student_t: [["mean", 20], ["scale", 5], ["df", 4]],
};
const WORDS = {
  normal: "bell curve", uniform: "all alike in a range", exponential: "many small, few large", laplace: "sharp peak", lognormal: "skewed to the right",
  gamma: "gamma", student_t: "bell with heavy tails", categorical: "shares of labels", unknown: "no idea", other: "as in the plan",
};

let shape = "";

export function mount() {
  store.subscribe(refresh);
}

// Fields are only made anew when there are others; otherwise they keep the cursor.
function refresh(state) {
  const columns = state.columns || {};
  const now = JSON.stringify([Object.entries(columns).map(([n, c]) => [n, familyOf(c.prior), labels(c.prior).length, Boolean(c.public)]), goalShape(state), wanted(state)]);
  if (now !== shape) { shape = now; draw(state); } else update(state);
}

function goalShape(state) {
  const parts = goal.parse(state.attacker?.goal || "");
  return parts ? [parts.join, parts.parts.map((p) => [p.column, p.how])] : "text";
}

const wanted = (state) => goal.columns(state.attacker?.goal || "", Object.keys(state.columns || {}));

export function familyOf(prior) {
  if (prior === undefined) return "";
  if (prior === "unknown" || prior?.unknown) return "unknown";
  const [kind] = Object.keys(prior);
  return FAMILIES[kind] || (kind === "categorical" && !Array.isArray(prior.categorical)) ? kind : "other";
}
// Texts have no distance: such a value is guessed exactly, or not.
const isText = (state, name) => {
  const column = state.columns?.[name] || {};
  return familyOf(column.prior) === "categorical" || (column.levels || []).some((level) => typeof level === "string");
};
const labels = (prior) => (prior?.categorical && !Array.isArray(prior.categorical) ? Object.entries(prior.categorical) : []);

function draw(state) {
  const columns = Object.keys(state.columns || {});
  fill(at("attacker"),
    heading("attacker-title", true, "Who might guess?"),
    el("div", { class: "stack" },
      el("p", { class: "hint" }, "What could anybody believe about a person before the release? Take it from public knowledge, never from the table."),
      ...columns.map((name) => card(state, name)),
      el("div", {}, el("button", { type: "button", id: "add-column", on: { click: addColumn } }, "Add a column")),
      wish(state, columns),
      el("p", { class: "sentence", id: "goal-words" }),
      el("p", { class: "error", id: "attacker-error", hidden: true })));
  update(state);
}

function card(state, name) {
  const prior = state.columns[name].prior;
  const family = familyOf(prior);
  const path = ["columns", name];
  const kinds = ["normal", "uniform", "exponential", "laplace", "lognormal", "gamma", "student_t", "categorical", "unknown", ...(family === "other" ? ["other"] : [])];
  const choice = el("select", { on: { change: (event) => store.set([...path, "prior"], started(event.target.value, state.columns[name])) } },
    family === "" ? el("option", { value: "" }, wanted(state).includes(name) ? "choose …" : "nothing: no guess is about it") : null,
    kinds.map((kind) => el("option", { value: kind, selected: kind === family }, WORDS[kind])));
  const title = el("input", { class: "plain", value: name, "aria-label": "Name of the column", size: 12, on: { change: (event) => rename(name, event.target.value.trim()) } });
  const remove = el("button", { type: "button", class: "link", "aria-label": `Remove ${name}`, on: { click: () => removeColumn(name) } }, "Remove");
  const range = family === "categorical" ? null : el("div", { class: "row" }, boundField(name, 0, "At least"), boundField(name, 1, "At most"), el("p", { class: "hint" }, "public bounds of the column"));
  const header = el("header", {}, title, Object.keys(state.columns).length > 1 ? remove : null);
  if (state.columns[name].public) return el("div", { class: "sub", "data-column": name, "data-public": "yes" }, header, el("p", { class: "hint" }, "Public: everybody knows it, so that nothing is believed of it or guessed."), range);
  return el("div", { class: "sub", "data-column": name }, header,
    el("div", { class: "row" }, field("Believed to be", choice),
      ...(FAMILIES[family] || []).map(([key]) => numberField(key, [...path, "prior", family, key], `${name}-${key}`))),
    family === "categorical" ? shares(name, prior) : helper(name), range);
}

function started(kind, column) {
  if (kind === "unknown") return "unknown";
  if (kind === "categorical") return { categorical: { yes: 0.5, no: 0.5 } };
  const known = column.prior && typeof column.prior === "object" ? Object.values(column.prior)[0] || {} : {};
  return { [kind]: Object.fromEntries(FAMILIES[kind].map(([key, usual]) => [key, known[key] ?? usual])) };
}

function numberField(label, path, id) {
  const input = el("input", { type: "number", step: "any", id, "data-path": JSON.stringify(path),
    on: { input: (event) => { const value = number(event.target.value); if (value !== undefined) store.set(path, value, { drag: id }); }, change: store.endDrag } });
  return field(label, input);
}

function boundField(name, side, label) {
  const id = `${name}-bound-${side}`;
  const input = el("input", { type: "number", step: "any", id, "data-bound": side,
    on: { change: (event) => {
      const pair = [...(store.read("columns", name, "bounds") || [undefined, undefined])];
      pair[side] = number(event.target.value);
      const other = at(`${name}-bound-${1 - side}`);
      pair[1 - side] = number(other.value);
      store.set(["columns", name, "bounds"], pair.every((v) => v !== undefined) ? pair : undefined);
    } } });
  return field(label, input);
}

// "Half of people lie between _ and _" makes a bell curve.
function helper(name) {
  const low = el("input", { type: "number", step: "any" });
  const high = el("input", { type: "number", step: "any" });
  const said = el("p", { class: "hint", role: "status" });
  const apply = async () => {
    try {
      const found = await post("/prior", { words: `half between ${low.value} and ${high.value}` });
      said.textContent = found.comment;
      store.set(["columns", name, "prior"], found.prior);
    } catch (error) { if (error instanceof Refused) said.textContent = `${error.error.problem}; ${error.error.remedy}`; }
  };
  return el("details", {}, el("summary", {}, "Help me: half of people lie between …"),
    el("div", { class: "row" }, field("Half lie between", low), field("and", high), el("button", { type: "button", on: { click: apply } }, "Use it")), said);
}

function shares(name, prior) {
  const path = ["columns", name, "prior", "categorical"];
  const rows = labels(prior).map(([label, share], index) => el("div", { class: "row" },
    field("Label", el("input", { class: "plain", value: label, size: 10, on: { change: (event) => {
      const entries = labels(store.read("columns", name, "prior"));
      entries[index] = [event.target.value, entries[index][1]];
      store.set(path, Object.fromEntries(entries));
    } } })),
    field("Share", el("input", { type: "number", step: "any", min: 0, max: 1, value: share, "aria-label": `Share of ${label}`, on: { change: (event) => {
      const entries = labels(store.read("columns", name, "prior"));
      entries[index] = [entries[index][0], number(event.target.value) ?? 0];
      store.set(path, Object.fromEntries(entries));
    } } })),
    el("button", { type: "button", class: "link", "aria-label": `Remove ${label}`, on: { click: () => {
      store.set(path, Object.fromEntries(labels(store.read("columns", name, "prior")).filter((_, i) => i !== index)));
    } } }, "Remove")));
  const add = el("button", { type: "button", class: "link", on: { click: () => {
    const entries = labels(store.read("columns", name, "prior"));
    store.set(path, Object.fromEntries([...entries, [`label ${entries.length + 1}`, 0]]));
  } } }, "Add a label");
  return el("div", { class: "stack" }, rows, add);
}

function wish(state, columns) {
  const parts = goal.parse(state.attacker?.goal || "");
  const text = el("input", { class: "plain", id: "goal-text", on: { change: (event) => store.set(["attacker", "goal"], event.target.value.trim()) } });
  const raw = el("details", { open: !parts }, el("summary", {}, "As text"), field("Goal", text, { wide: true }));
  if (!parts) return el("div", { class: "sub" }, el("h3", {}, "A right guess"), raw, truth(state));
  const change = (edit) => { const next = goal.parse(store.read("attacker", "goal")); edit(next); store.set(["attacker", "goal"], goal.spell(next)); };
  const rows = parts.parts.map((part, index) => el("div", { class: "row" },
    field("Column", el("select", { on: { change: (event) => change((g) => { g.parts[index].column = event.target.value; if (isText(state, event.target.value)) g.parts[index].how = "exactly"; }) } },
      [...new Set([...columns, part.column])].map((name) => el("option", { value: name, selected: name === part.column }, name)))),
    field("How near", el("select", { on: { change: (event) => change((g) => { g.parts[index].how = event.target.value; }) } },
      [["within", "within"], ["percent", "within percent"], ["exactly", "exactly"]]
        .filter(([value]) => value === "exactly" || value === part.how || !isText(state, part.column)).map(([value, words]) => el("option", { value, selected: value === part.how }, words)))),
    part.how === "exactly" ? null : field("of the truth by", el("input", { type: "number", step: "any", min: 0, "data-size": index, id: `goal-size-${index}`,
      on: { input: (event) => { const value = number(event.target.value); if (value > 0) { const next = goal.parse(store.read("attacker", "goal")); next.parts[index].size = value; store.set(["attacker", "goal"], goal.spell(next), { drag: `goal-${index}` }); } }, change: store.endDrag } })),
    parts.parts.length > 1 ? el("button", { type: "button", class: "link", "aria-label": `Remove wish ${index + 1}`, on: { click: () => change((g) => g.parts.splice(index, 1)) } }, "Remove") : null));
  const join = (word) => el("button", { type: "button", "aria-pressed": String(parts.join === word), on: { click: () => change((g) => { g.join = word; }) } }, word.toUpperCase());
  const free = columns.find((name) => !parts.parts.some((part) => part.column === name));
  return el("div", { class: "sub" },
    el("header", {}, el("h3", {}, "A right guess"), parts.parts.length > 1 ? el("div", { class: "segmented", role: "group", "aria-label": "All or any of these" }, join("and"), join("or")) : null),
    rows,
    free ? el("div", {}, el("button", { type: "button", class: "link", on: { click: () => change((g) => g.parts.push({ column: free, how: isText(state, free) ? "exactly" : "within", size: 1 })) } }, `and also ${free}`)) : null,
    truth(state), raw);
}

// Somebody's true values; left empty, whoever is most exposed. Of several, all are stated or none.
function truth(state) {
  const names = wanted(state);
  if (!names.length) return null;
  const said = el("p", { class: "hint", id: "truth-said", role: "status" });
  const change = () => {
    const found = Object.fromEntries([...at("attacker").querySelectorAll("[data-truth]")].map((input) => [input.dataset.truth, trueValue(input)]).filter(([, value]) => value !== undefined));
    const count = Object.keys(found).length;
    const whole = !count || count === names.length || names.every((name) => (found[name] === undefined) === (store.read("attacker", "at", name) === undefined));
    said.textContent = whole ? "" : `State ${names.filter((name) => found[name] === undefined).join(", ")} too, or none of them.`;
    const others = Object.entries(store.read("attacker", "at") || {}).filter(([name]) => !names.includes(name));
    if (whole) store.set(["attacker", "at"], count || others.length ? { ...Object.fromEntries(others), ...found } : undefined);
  };
  const fields = names.map((name) => {
    const numeric = familyOf(state.columns[name].prior) !== "categorical" && !state.attacker?.at?.[name]?.$date;
    return field(names.length > 1 ? name : "True value (empty: the most exposed)", el("input", { ...(numeric ? { type: "number", step: "any" } : { class: "plain", size: 10 }),
      id: names.length > 1 ? `truth-${name}` : "truth", placeholder: "worst", "data-truth": name, on: { change } }));
  });
  return el("div", { class: "stack" }, names.length > 1 ? el("p", { class: "hint" }, "True values (all empty: the most exposed)") : null, el("div", { class: "row" }, fields), names.length > 1 ? said : null);
}

function trueValue(input) {
  if (input.type === "number") return number(input.value);
  const text = input.value.trim();
  return text && store.read("attacker", "at", input.dataset.truth)?.$date ? { $date: text } : text || undefined;
}

function update(state) {
  for (const input of at("attacker").querySelectorAll("[data-path]")) put(input, JSON.parse(input.dataset.path).reduce((v, k) => v?.[k], state));
  for (const card of at("attacker").querySelectorAll("[data-column]")) {
    const bounds = state.columns?.[card.dataset.column]?.bounds;
    if (Array.isArray(bounds) || bounds === undefined) for (const input of card.querySelectorAll("[data-bound]")) if (bounds) put(input, bounds[Number(input.dataset.bound)]);
  }
  const parts = goal.parse(state.attacker?.goal || "");
  for (const input of at("attacker").querySelectorAll("[data-size]")) put(input, parts?.parts[Number(input.dataset.size)]?.size);
  put(at("goal-text"), state.attacker?.goal ?? "");
  for (const input of at("attacker").querySelectorAll("[data-truth]")) {
    const value = state.attacker?.at?.[input.dataset.truth];
    if (document.activeElement !== input && (value !== undefined || !pending())) write(input, value?.$date ?? value ?? "");
  }
  say(at("goal-words"), state.attacker?.goal ? goal.words(state.attacker.goal) : "Nobody attacks yet: say what somebody would like to guess.");
}

// Whether true values were begun that are not in the plan yet: they are not taken away.
const pending = () => Boolean(at("truth-said")?.textContent);

function put(input, value) {
  if (input && document.activeElement !== input && value !== undefined && typeof value !== "object") write(input, value);
}

function addColumn() {
  const names = Object.keys(store.read("columns") || {});
  let name = "value";
  for (let i = 2; names.includes(name); i += 1) name = `value${i}`;
  const next = structuredClone(store.get());
  next.columns = { ...next.columns, [name]: { prior: { normal: { mean: 20, sd: 6 } } } };
  next.attacker = next.attacker || { goal: `${name} within 2`, advantage: 0.05 };
  store.replace(next);
}

function removeColumn(name) {
  const next = structuredClone(store.get());
  delete next.columns[name];
  const parts = goal.parse(next.attacker?.goal || "");
  const left = parts?.parts.filter((part) => part.column !== name);
  if (left?.length) next.attacker.goal = goal.spell({ ...parts, parts: left });
  else if (parts) next.attacker.goal = `${Object.keys(next.columns)[0]} within 1`;
  store.replace(next);
}

function rename(from, to) {
  if (!to || to === from || store.read("columns", to)) { shape = ""; refresh(store.get()); return; }
  const next = structuredClone(store.get());
  next.columns = Object.fromEntries(Object.entries(next.columns).map(([name, column]) => [name === from ? to : name, column]));
  const parts = goal.parse(next.attacker?.goal || "");
  if (parts) next.attacker.goal = goal.spell({ ...parts, parts: parts.parts.map((p) => (p.column === from ? { ...p, column: to } : p)) });
  store.replace(next);
}
