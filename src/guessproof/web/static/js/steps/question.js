// The question, checked while it is typed: what is refused is underlined, what is accepted says what it promises.
import { post } from "../api.js";
import { at, el, fill, heading } from "../dom.js";
import * as store from "../store.js";

let text, under, said, last = "", timer;

export function mount() {
  under = el("pre", { "aria-hidden": "true" });
  text = el("textarea", { id: "sql", rows: 3, spellcheck: "false", autocomplete: "off", "aria-describedby": "sql-said", "aria-label": "The question, in SQL",
    on: { input: () => { paint(null); store.set(["query", "sql"], text.value, { drag: "sql" }); }, change: store.endDrag, scroll: () => { under.scrollTop = text.scrollTop; } } });
  said = el("div", { id: "sql-said", role: "status" });
  fill(at("question"), heading("question-title", 2, "The question"), el("div", { class: "stack" }, el("div", { class: "sql" }, el("div", { class: "under" }), under, text), said));
  store.subscribe(refresh);
}

function refresh(state) {
  at("question").hidden = !store.hasData();
  if (!store.hasData()) return;
  const sql = state.query?.sql ?? "";
  if (text.value !== sql && document.activeElement !== text) text.value = sql;
  const { data, query, columns, tables } = state;
  const now = JSON.stringify({ data, query, columns, tables });
  if (now === last) return;
  last = now;
  clearTimeout(timer);
  timer = setTimeout(() => check(state, now), 120);
}

async function check(state, asked) {
  const found = await post("/question", { state }).catch((error) => ({ accepted: false, error: error.error }));
  if (asked !== last) return;
  paint(found.error?.place || null);
  text.setAttribute("aria-invalid", String(!found.accepted));
  fill(said, found.accepted
    ? [el("p", { class: "good" }, "Accepted. What one person can change:"), el("ul", { class: "hint" }, found.accounts.map((words) => el("li", {}, words)))]
    : el("p", { class: "error", id: "sql-error" }, found.error ? [found.error.problem || found.error.message, found.error.remedy ? `; ${found.error.remedy}` : ""].join("") : "not checked"));
}

function paint(place) {
  if (!place) { fill(under, text.value); return; }
  const [start, end] = [place[0], Math.max(place[1], place[0] + 1)];
  fill(under, text.value.slice(0, start), el("mark", {}, text.value.slice(start, end)), text.value.slice(end));
}
