// A risk profile: how far a belief may grow, for which attackers. p: that somebody is in the table; q: that he has the
// value, if he is in it.
import { el, field, fill } from "../dom.js";
import { number, odds } from "../numbers.js";
import * as store from "../store.js";

const KINDS = {
  none: ["no limit on beliefs about being in the table", undefined],
  constant: ["one factor for everybody", () => 3],
  fixed_value: ["somebody who knows the value, and asks whether the person is in", () => ({ q: 1, absolute: 0.25, relative: 3 })],
  fixed_inclusion: ["somebody who knows how likely the person is in, and asks for the value", () => ({ p: 0.05, absolute: 0.15, relative: 3 })],
  box: ["one factor for a range of beliefs", () => ({ relative: 3, p: [0.01, 1], q: [0.01, 1] })],
  points: ["a factor for each prior, drawn by points", () => [[0.001, 10], [0.1, 3], [0.5, 1.5]]],
};

export const fits = (state) => ["records", "persons"].includes(state.data?.protects);
const kindsOf = (state) => Object.keys(state.risk || {});
const kindOf = (state) => { const found = kindsOf(state); return !found.length ? "none" : found.length === 1 && KINDS[found[0]] ? found[0] : "plan"; };

const slider = (kind, path, name, more) => ({ id: ["risk", kind, ...path].join("-"), path: ["risk", kind, ...path], risk: kind, name, shown: (state) => fits(state) && kindOf(state) === kind, ...more });
const ratio = (kind, path) => slider(kind, path, "It may become likelier by a factor of", { unit: "×", low: 1.05, high: 20, usual: 3, scale: 1, words: (v) => `whoever believed it with 1 in 100 may believe it with ${odds(Math.min(1, v / 100))}` });
const level = (kind) => slider(kind, ["absolute"], "… or stay at most at", { unit: "%", low: 0.01, high: 0.9, usual: 0.25, scale: 100, words: (v) => `no factor counts while he believes it with at most ${odds(v)}` });
const share = (kind, path, name) => slider(kind, path, name, { unit: "%", low: 0.001, high: 1, usual: 0.05, scale: 100, words: (v) => `${odds(v)}` });

export const SLIDERS = [
  ratio("constant", []),
  share("fixed_value", ["q"], "He believes in the value, if the person is in, with"), ratio("fixed_value", ["relative"]), level("fixed_value"),
  share("fixed_inclusion", ["p"], "He believes that the person is in with"), ratio("fixed_inclusion", ["relative"]), level("fixed_inclusion"),
  ratio("box", ["relative"]), share("box", ["p", 0], "Believes that the person is in, from"), share("box", ["p", 1], "… to"),
  share("box", ["q", 0], "Believes in the value, from"), share("box", ["q", 1], "… to"),
];

let node, select, list, drawn = "";

export function picker() {
  select = el("select", { id: "risk-kind", on: { change: () => { const make = KINDS[select.value]?.[1]; if (select.value !== "plan") store.set(["risk"], make ? { [select.value]: make() } : undefined); } } });
  node = el("div", { class: "limit risk" }, el("span", {}), field("Whether somebody is in the table: against whom?", select, { wide: true }));
  return node;
}

export function points() { list = el("div", { class: "stack", id: "risk-points" }); return list; }

export function refresh(state) {
  node.hidden = !fits(state);
  const kind = kindOf(state);
  const kinds = [...Object.keys(KINDS), ...(kind === "plan" ? ["plan"] : [])];
  if (select.dataset.kinds !== kinds.join()) { select.dataset.kinds = kinds.join(); fill(select, kinds.map((name) => el("option", { value: name }, KINDS[name]?.[0] ?? "several together, as in the plan"))); }
  select.value = kind;
  list.hidden = !fits(state) || kind !== "points";
  const pairs = pairsOf(state);
  const now = JSON.stringify([list.hidden, pairs.length]);
  if (now !== drawn) { drawn = now; fill(list, list.hidden ? null : table(pairs)); }
  for (const input of list.querySelectorAll("input")) if (document.activeElement !== input) input.value = pairs[Number(input.dataset.row)]?.[Number(input.dataset.side)] ?? "";
}

const pairsOf = (state) => { const held = state.risk?.points; return Array.isArray(held) ? held : held?.pairs || []; };

function change(edit) {
  const next = structuredClone(store.get());
  const pairs = pairsOf(next);
  edit(pairs);
  pairs.sort((a, b) => a[0] - b[0]);
  store.replace(next);
}

function table(pairs) {
  const cell = (row, side, label) => el("input", { type: "number", step: "any", min: 0, "data-row": row, "data-side": side, "aria-label": `${label} ${row + 1}`,
    on: { change: (event) => { const value = number(event.target.value); if (value !== undefined) change((all) => { all[row][side] = value; }); } } });
  return [pairs.map((_, row) => el("div", { class: "row" }, field("A prior of", cell(row, 0, "Prior of point")), field("may grow by the factor", cell(row, 1, "Factor of point")),
    pairs.length > 2 ? el("button", { type: "button", class: "link", "aria-label": `Remove point ${row + 1}`, on: { click: () => change((all) => all.splice(row, 1)) } }, "Remove") : null)),
  el("button", { type: "button", class: "link", on: { click: () => change((all) => { const last = all[all.length - 1]; all.push([Number(Math.min(1, (last[0] + 1) / 2).toPrecision(3)), last[1]]); }) } }, "Add a point")];
}

// A preset moves the numbers of the profile that there is.
export function preset(risk, { relative, absolute }) {
  const [kind] = Object.keys(risk || {});
  if (!kind) return { fixed_value: { q: 1, absolute: 0.25, relative } };
  if (kind === "constant") return { ...risk, constant: relative };
  if (kind === "fixed_inclusion") return { ...risk, fixed_inclusion: { ...risk.fixed_inclusion, absolute } };
  return kind === "points" ? risk : { ...risk, [kind]: { ...risk[kind], relative } };
}
