// Which charts there are, which rows reach them, and which are still being computed.
import { Chart } from "./charts.js";
import { at } from "./dom.js";
import { attackOf, isDrawn, onAnswer } from "./engine.js";
import * as store from "./store.js";

const CHARTS = {
  gains: ["What he can reach, at every ε", { listed: "curve", legend: [["ink", "belief after, at most"], ["safe", "advantage, at most"], ["alarm dashed", "an attack reaches"]] }],
  room: ["Room for ε", { listed: "bars" }],
  noise: ["The noise", { words: { inside: "one of those 19" }, legend: [["safe", "19 of 20 answers, or as many as you ask for"]] }],
  errors: ["Error, at every ε", {}],
  profile: ["What the risk profile allows", {}],
  map: ["ε over both priors", {}],
};
const ALWAYS = ["room", "noise", "errors"];
let climbing = false; // whether it is said how far the curve is
const charts = {};
export const chart = (name) => charts[name];

export function mount() {
  for (const [name, [title, options]] of Object.entries(CHARTS)) {
    charts[name] = new Chart(name, title, options);
    at("charts").append(charts[name].node);
  }
  store.subscribe(() => { if (!isDrawn()) climbing = false; fresh(); });
  onAnswer((answer) => {
    if (answer.kind === "charts") return drawAll(answer);
    if (answer.kind === "waiting") expectAll("being computed …");
    if (answer.kind === "curve") follow(answer.share);
    if (answer.kind === "refused" || answer.kind === "uncharted") for (const chart of Object.values(charts)) chart.expect("");
    return answer.rows ? updateAll(answer.rows) : null;
  });
}

async function drawAll({ charts: found, key, whole }) {
  for (const [name, chart] of Object.entries(charts)) if (found[name]) { chart.of = key; name === "gains" ? drawGains(found.gains) : chart.draw(found[name]); } else if (whole) chart.hide();
  await Promise.all(Object.values(charts).map((chart) => chart.drawing));
  fresh();
}

// What no attack is known to reach has no line, and no place in the legend.
function drawGains(found) {
  charts.gains.keys({ "an attack reaches": found.rows.curve.some((row) => row.reached !== undefined) });
  charts.gains.draw(found);
}

// A place is kept for what will come, with words in it.
function expectAll(words) {
  const key = attackOf(store.get());
  const names = [...(store.read("attacker", "goal") ? ["gains"] : []), ...ALWAYS];
  for (const name of names) if (charts[name].of !== key && !(name === "gains" && climbing)) charts[name].expect(words);
}

function follow(share) {
  climbing = share < 1;
  if (share < 1) charts.gains.expect(isDrawn() ? "coarse as yet: more values of ε are being computed …" : "being computed, one ε after the other …", share);
  else charts.gains.expect("");
}

// A chart of another attack than the one that stands there is pale until its own is drawn.
function fresh() {
  const key = attackOf(store.get());
  const yes = isDrawn();
  for (const chart of Object.values(charts)) chart.pale(chart.of !== key);
  at("charts").setAttribute("aria-busy", String(!yes));
  if (yes) document.body.dataset.charts = "drawn"; else delete document.body.dataset.charts;
}

async function updateAll(rows) {
  await Promise.all(Object.entries(rows).map(([name, sets]) => (charts[name] && !charts[name].node.hidden ? charts[name].update(sets) : null)));
}
