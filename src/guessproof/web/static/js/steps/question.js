// The questions, checked while they are typed: what is refused is underlined, what is accepted says what it promises.
import { post } from "../api.js";
import { at, el, field, fill, heading } from "../dom.js";
import * as store from "../store.js";

let boxes = {};
let shape = "", last = "", timer;

export function mount() { store.subscribe(refresh); }

const asked = (state) => (state.queries ? Object.entries(state.queries).map(([name, q]) => [name, q.sql ?? ""]) : [["", state.query?.sql ?? ""]]);

function refresh(state) {
  at("question").hidden = !store.hasData();
  if (!store.hasData()) return;
  const names = JSON.stringify(asked(state).map(([name]) => name));
  if (names !== shape) { shape = names; draw(state); }
  for (const [name, sql] of asked(state)) {
    const { text } = boxes[name];
    if (text.value !== sql && document.activeElement !== text) { text.value = sql; paint(boxes[name], null); }
  }
  const { data, query, queries, columns, tables } = state;
  const now = JSON.stringify({ data, query, queries, columns, tables });
  if (now === last) return;
  last = now;
  clearTimeout(timer);
  timer = setTimeout(() => check(state, now), 120);
}

function draw(state) {
  boxes = {};
  const list = asked(state);
  fill(at("question"), heading("question-title", true, list.length > 1 ? "The questions" : "The question", el("button", { type: "button", class: "link", id: "add-question", on: { click: add } }, "Ask another one too")),
    el("div", { class: "stack" }, list.map(([name]) => box(name, list.length > 1))));
}

function box(name, several) {
  const under = el("pre", { "aria-hidden": "true" });
  const text = el("textarea", { id: several ? `sql-${name}` : "sql", rows: 3, spellcheck: "false", autocomplete: "off", "aria-label": `The question${several ? ` ${name}` : ""}, in SQL`,
    on: { input: () => { paint(boxes[name], null); store.set(name ? ["queries", name, "sql"] : ["query", "sql"], text.value, { drag: `sql-${name}` }); }, change: store.endDrag, scroll: () => { under.scrollTop = text.scrollTop; } } });
  const said = el("div", { id: several ? `said-${name}` : "sql-said", role: "status" });
  text.setAttribute("aria-describedby", said.id);
  boxes[name] = { text, under, said };
  const within = el("input", { type: "number", step: "any", min: 0, value: store.read("queries", name, "accuracy", "within") ?? "", on: { change: (event) => store.set(["queries", name, "accuracy"], event.target.value ? { within: Number(event.target.value) } : undefined) } });
  return el("div", { class: "stack" }, several ? el("header", { class: "row" }, el("h3", {}, name), field("right to within", within), el("button", { type: "button", class: "link", on: { click: () => remove(name) } }, `Remove ${name}`)) : null,
    el("div", { class: "sql" }, el("div", { class: "under" }), under, text), said);
}

function add() {
  const next = structuredClone(store.get());
  const { query, accuracy, ...rest } = next;
  const queries = next.queries || { first: { sql: query?.sql ?? "", ...(accuracy ? { accuracy } : {}) } };
  let number = Object.keys(queries).length + 1;
  while (queries[`question${number}`]) number += 1;
  queries[`question${number}`] = { sql: `SELECT COUNT(*) AS n FROM ${next.data?.table || "t"}` };
  store.replace({ ...rest, queries });
}

function remove(name) {
  const next = structuredClone(store.get());
  delete next.queries[name];
  const left = Object.values(next.queries);
  if (left.length === 1) { const { queries, ...rest } = next; store.replace({ ...rest, query: { sql: left[0].sql }, ...(left[0].accuracy ? { accuracy: left[0].accuracy } : {}) }); } else store.replace(next);
}

async function check(state, now) {
  const found = await post("/question", { state }).catch((error) => ({ questions: Object.fromEntries(asked(state).map(([name]) => [name, { accepted: false, error: error.error }])) }));
  if (now !== last) return;
  for (const [name, one] of Object.entries(found.questions)) if (boxes[name]) tell(boxes[name], one);
}

function tell(parts, { accepted, error, accounts }) {
  paint(parts, error?.place || null);
  parts.text.setAttribute("aria-invalid", String(!accepted));
  fill(parts.said, accepted
    ? [el("p", { class: "good" }, "Accepted. What one person can change:"), el("ul", { class: "hint" }, accounts.map((words) => el("li", {}, words)))]
    : el("p", { class: "error" }, error ? [error.problem || error.message, error.remedy ? `; ${error.remedy}` : ""].join("") : "not checked"));
}

function paint({ text, under }, place) {
  if (!place) { fill(under, text.value); return; }
  const [start, end] = [place[0], Math.max(place[1], place[0] + 1)];
  fill(under, text.value.slice(0, start), el("mark", {}, text.value.slice(start, end)), text.value.slice(end));
}
