// The audit plays the attacker against the real engine and sampler, on made-up tables.
import { Refused, work } from "../api.js";
import { Chart, spell } from "../charts.js";
import { at, el, fill, heading } from "../dom.js";
import * as store from "../store.js";

let job = null, found, chart, known = "";

export function mount() {
  found = el("div", { id: "audit-found", role: "status", class: "stack" });
  const start = el("button", { type: "button", id: "start-audit", on: { click: run } }, "Attack our own answer");
  fill(at("audit"), heading("audit-title", true, "Audit"), el("div", { class: "stack" }, el("p", { class: "hint" }, "Plays the attacker on made-up tables. The data is not read, nothing is charged."), el("div", {}, start), found));
  store.subscribe((state) => {
    at("audit").hidden = !store.hasData();
    const now = JSON.stringify(state);
    if (known && now !== known) { fill(found); known = ""; }
  });
}

async function run() {
  const bar = el("progress", { max: 1, value: 0, "aria-label": "How far the audit is" });
  const words = el("span", { class: "hint" }, "starting …");
  const stop = el("button", { type: "button", id: "stop-audit", on: { click: () => job?.stop() } }, "Stop");
  known = JSON.stringify(store.get());
  fill(found, bar, el("div", { class: "row" }, words, stop));
  job = work("audit", store.get(), { progress: (share, said) => { bar.value = share; words.textContent = said || "working …"; }, trials: 20000, seconds: 15 });
  try { show(await job.done); } catch (error) { fill(found, el("p", { class: "error" }, error instanceof Refused ? error.error.message : "no answer")); }
  job = null;
}

function show({ audit, chart: drawing }) {
  chart ??= new Chart("audit", "Predicted and measured");
  fill(found, el("p", { class: audit.passed ? "good" : "error", id: "verdict" }, audit.passed ? "Nothing more was found than was promised." : "More (or less) was found than was promised: do not release."),
    el("details", {}, el("summary", {}, `${audit.checks.length} checks, ${audit.trials.toLocaleString("en")} noises drawn`),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Checks" }, el("table", {}, el("thead", {}, el("tr", {}, ["check", "measured", "promised", "verdict"].map((k) => el("th", { scope: "col" }, k)))),
        el("tbody", {}, audit.checks.map((c) => el("tr", {}, el("td", {}, c.name), el("td", {}, spell(c.measured)), el("td", {}, c.name === "engine" && c.expected === 0 ? "0, but for rounding" : spell(c.expected)), el("td", {}, c.verdict))))))), drawing ? chart.node : null);
  if (drawing) chart.draw({ spec: fitted(drawing.spec), rows: drawing.rows });
}

// Two pictures side by side are too small where there is no room for both.
function fitted({ title, hconcat, ...spec }) { return hconcat ? { ...spec, [at("audit").clientWidth < 600 ? "vconcat" : "hconcat"]: hconcat } : spec; }
