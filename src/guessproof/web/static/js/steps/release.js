// Budget and release: the cost is named first, and charged only when that was confirmed.
import { post, Refused } from "../api.js";
import { announce, at, el, field, fill, heading } from "../dom.js";
import { onAnswer } from "../engine.js";
import { sketch } from "./sketch.js";
import * as store from "../store.js";

let standing, said, answer;
let known = "";
let cost = null;  // of all releases of the plan, once its exact answer is there

export function mount() {
  standing = el("div", { id: "standing" });
  said = el("p", { class: "error", id: "release-error", role: "alert", hidden: true });
  answer = el("div", { id: "answer", role: "status" });
  fill(at("release"), heading("release-title", true, "Release"), el("div", { class: "stack" }, sketch(), standing, said, answer));
  store.subscribe((state) => {
    at("release").hidden = !store.hasData();
    const now = JSON.stringify([state.data, state.query, state.release]);
    if (now !== known) { known = now; fill(answer); }
  });
  onAnswer(({ kind, outcome }) => {
    if (kind !== "exact" || !store.hasData()) return;
    cost = outcome.answer?.epsilon_charged_for_all ?? null;
    look();
  });
}

function refuse(error) {
  said.hidden = !error;
  said.textContent = error instanceof Refused ? `${error.error.message}${error.error.charged ? " (the budget was charged)" : ""}` : error ? "no answer" : "";
}

export async function look() {
  try {
    const found = await post("/budget", { state: store.get() });
    fill(standing, found.is_open ? bar(found) : opening(found));
    refuse(null);
  } catch (error) { refuse(error); }
}

function bar(found) {
  return el("div", { class: "stack" },
    el("p", {}, `${found.name}: ε = ${found.left} of ${found.budget} is left.`),
    el("progress", { max: 1, value: found.share, "aria-label": `spent: ${found.spent} of ${found.budget}` }),
    found.charges.length ? el("details", {}, el("summary", {}, `${found.charges.length} earlier`), el("ul", { class: "hint" }, found.charges.map((c) => el("li", {}, `ε = ${c.epsilon}: ${c.query}`)))) : null,
    el("div", {}, el("button", { type: "button", class: "main", id: "offer", on: { click: offer } }, "Release …")));
}

function opening(found) {
  const amount = el("input", { type: "number", step: "any", min: 0, value: enough(cost), id: "budget-amount" });
  const go = async () => {
    try { await post("/budget/open", { state: store.get(), name: found.name, budget: String(amount.value) }); announce("budget opened"); look(); } catch (error) { refuse(error); }
  };
  return el("div", { class: "stack" }, el("p", {}, `${found.name} has no budget yet. Its owner sets it once; no plan can raise it.`),
    cost ? el("p", { class: "hint" }, `This plan takes ε = ${enough(cost)} of it.`) : null,
    el("div", { class: "row" }, field("ε for all releases together", amount), el("button", { type: "button", id: "open-budget", on: { click: go } }, "Open this budget")));
}

// In three digits, never below.
function enough(epsilon) {
  if (!epsilon) return 1;
  const unit = 10 ** (Math.floor(Math.log10(epsilon)) - 2);
  return Number((Math.ceil(epsilon / unit) * unit).toPrecision(3));
}

async function offer() {
  refuse(null);
  const state = store.get();
  try {
    const found = await post("/release/offer", { state });
    const dialog = at("confirm-dialog");
    const go = el("button", { type: "button", class: "main", id: "confirm", disabled: !found.fits, on: { click: () => { dialog.close(); make(state, found.offer); } } },
      found.answered_before ? "Show it again" : `Charge ε = ${found.cost} and release`);
    fill(dialog, el("h2", { id: "confirm-title" }, found.answered_before ? "This was answered before" : `This charges ε = ${found.cost} to ${found.name}`),
      el("div", { class: "stack" }, el("pre", { class: "code" }, found.query),
        el("p", {}, found.answered_before ? "The same answer is shown, and nothing is charged." : `Of ε = ${found.left} that is left, ε = ${found.left_after} remains. A charge is never given back.`),
        found.fits ? null : el("p", { class: "error" }, "The budget does not allow this."),
        el("div", { class: "row" }, go, el("button", { type: "button", id: "refrain", on: { click: () => dialog.close() } }, "Do not release"))));
    dialog.showModal();
  } catch (error) { refuse(error); }
}

async function make(state, name) {
  fill(answer, el("p", { class: "hint" }, "charging, asking, adding noise …"));
  try {
    const found = await post("/release", { state, offer: name });
    const rows = found.shown.rows;
    const keys = Object.keys(rows[0]?.group || {});
    const cut = rows.some((row) => row.nearest) ? ["nearest possible"] : [];
    const possible = (row) => (row.nearest ? `, nearest possible ${row.nearest}` : "");
    fill(answer, found.replayed ? el("p", { class: "hint" }, "This very request was answered before: the same answer, no new charge.") : null,
      rows.length === 1 ? el("p", { class: "answer" }, `${rows[0].name} = ${rows[0].value} `, el("small", { class: "hint" }, `${rows[0].error}${rows[0].ranks} (${rows[0].confidence})${possible(rows[0])}`))
        : el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The answer" }, el("table", {}, el("thead", {}, el("tr", {}, [...keys, "answer", "value", ...cut, "error"].map((k) => el("th", { scope: "col" }, k)))),
          el("tbody", {}, rows.map((row) => el("tr", {}, keys.map((k) => el("td", {}, row.group[k])), el("td", {}, row.name), el("td", {}, row.value), cut.map(() => el("td", {}, row.nearest)), el("td", {}, row.error || row.ranks)))))),
      found.shown.notes.map((note) => el("p", { class: "hint" }, note)),
      el("p", { class: "hint" }, `Charged ε = ${found.shown.charged}; left: ε = ${found.shown.left}.`), el("p", { class: "hint head" }, `Head of the ledger: ${found.head}`));
  } catch (error) { fill(answer); refuse(error); return; }
  look();
}
