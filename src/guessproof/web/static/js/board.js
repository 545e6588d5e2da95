// Which charts there are, and which rows reach them.
import { Chart } from "./charts.js";
import { at } from "./dom.js";
import { attackOf, drawnAttack, onAnswer } from "./engine.js";
import * as store from "./store.js";

const CHARTS = {
  gains: ["What he can reach, at every ε", { listed: "curve", legend: [["ink", "belief after, at most"], ["safe", "advantage, at most"], ["alarm dashed", "an attack reaches"]] }],
  room: ["Room for ε", { listed: "bars" }],
  noise: ["The noise", { words: { inside: "one of those 19" }, legend: [["safe", "19 of 20 answers, or as many as you ask for"]] }],
  errors: ["Error, at every ε", {}],
  profile: ["What the risk profile allows", {}],
  map: ["ε over both priors", {}],
};
const charts = {};
export const chart = (name) => charts[name];

export function mount() {
  for (const [name, [title, options]] of Object.entries(CHARTS)) {
    charts[name] = new Chart(name, title, options);
    at("charts").append(charts[name].node);
  }
  store.subscribe((state) => fresh(attackOf(state) === drawnAttack()));
  onAnswer((answer) => {
    if (answer.kind === "charts") return drawAll(answer.charts);
    return answer.rows ? updateAll(answer.rows) : null;
  });
}

async function drawAll(found) {
  for (const [name, chart] of Object.entries(charts)) if (found[name]) chart.draw(found[name].spec, found[name].rows); else chart.hide();
  await Promise.all(Object.values(charts).map((chart) => chart.drawing));
  fresh(attackOf(store.get()) === drawnAttack());
}

// Charts of another attack than the one that stands there are pale until theirs are drawn.
let shown = null;
function fresh(yes) {
  if (yes === shown) return;
  shown = yes;
  at("charts").classList.toggle("stale", !yes);
  at("charts").setAttribute("aria-busy", String(!yes));
  if (yes) document.body.dataset.charts = "drawn"; else delete document.body.dataset.charts;
}

async function updateAll(rows) {
  await Promise.all(Object.entries(rows).map(([name, sets]) => (charts[name] && !charts[name].node.hidden ? charts[name].update(sets) : null)));
}
