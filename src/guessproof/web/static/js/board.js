// Which charts there are, and which rows reach them.
import { Chart } from "./charts.js";
import { at } from "./dom.js";
import { onAnswer } from "./engine.js";

const CHARTS = {
  gains: ["What he can reach, at every ε", { legend: [["ink", "belief after, at most"], ["safe", "advantage, at most"], ["alarm dashed", "an attack reaches"]] }],
  room: ["Room for ε", {}],
  noise: ["The noise", { legend: [["safe", "19 of 20 answers, or as many as you ask for"]] }],
  errors: ["Error, at every ε", {}],
};
const charts = {};
export let paints = 0;

export function mount() {
  for (const [name, [title, options]] of Object.entries(CHARTS)) {
    charts[name] = new Chart(name, title, options);
    at("charts").append(charts[name].node);
  }
  onAnswer((answer) => {
    if (answer.kind === "charts") drawAll(answer.charts);
    if (answer.rows) updateAll(answer.rows);
  });
}

async function drawAll(found) {
  for (const [name, chart] of Object.entries(charts)) if (found[name]) chart.draw(found[name].spec, found[name].rows); else chart.hide();
  await Promise.all(Object.values(charts).map((chart) => chart.drawing));
  document.body.dataset.charts = "drawn";
}

async function updateAll(rows) {
  await Promise.all(Object.entries(rows).map(([name, sets]) => charts[name]?.update(sets)));
  paints += 1;
  document.body.dataset.paints = String(paints);
}
