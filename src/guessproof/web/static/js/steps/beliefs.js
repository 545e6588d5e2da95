// The prior with the right guesses marked, redrawn while it is changed; and what one output makes of it.
import { post } from "../api.js";
import { Chart } from "../charts.js";
import { after, belief, drawn, laplace } from "../densities.js";
import { at, el, fill } from "../dom.js";
import { onAnswer } from "../engine.js";
import * as goal from "../goal.js";
import { percent } from "../numbers.js";
import * as store from "../store.js";
import { truth as trueWords } from "../words.js";

let chart, slider, said, game, unplayed, known = "", shape = null, slope = 0, busy = false, again = false, bound = null, today = null, score, worst = null, drawnFor, touched = false;

export function mount() {
  chart = new Chart("beliefs", "What he believes, before and after");
  slider = el("input", { type: "range", id: "output", min: 0, max: 1000, step: 1, value: 500, "aria-label": "The output points at", on: { input: () => { touched = true; move(); } } });
  said = el("p", { class: "hint", id: "output-words" });
  game = el("details", { id: "game" }, el("summary", {}, "Play the attacker"), el("div", { class: "stack" }));
  game.addEventListener("toggle", () => { if (game.open && shape?.kind === "line") reset(); });
  unplayed = el("p", { class: "hint" }, "One number can be played with: drag what he sees, or be the attacker yourself. With labels or several columns, the limits and the chart of ε say what he can reach.");
  drawnFor = el("p", { class: "hint", id: "drawn-for" });
  chart.extra.append(drawnFor, el("label", { class: "field" }, "Drag the output that he sees", slider), said, game, unplayed);
  at("charts").prepend(chart.node);
  store.subscribe(refresh);
  onAnswer(({ kind, outcome }) => {
    if (!outcome?.feasible) return null;
    if (kind === "exact") drawFor(outcome.advantage?.worst_at ?? null);
    const [name] = Object.keys(store.read("columns") || {});
    slope = outcome.mode === "calculator" ? outcome.epsilon : outcome.epsilon_per_unit?.[shape?.name ?? name] || 0;
    bound = outcome.posterior?.bound ?? null;
    today = outcome.before;
    return move();
  });
}

function refresh(state) {
  const now = JSON.stringify([state.columns, state.attacker?.goal, state.attacker?.at, Boolean(state.data)]);
  if (now === known) return;
  known = now;
  worst = null;
  again = true;
  if (!busy) fetchShape();
}

// Once it is known who is most exposed, that is what is drawn.
function drawFor(found) {
  if (JSON.stringify(found) === JSON.stringify(worst)) return;
  worst = found;
  again = true;
  if (!busy) fetchShape();
}

const LINES = [["quiet", "before"], ["ink", "after the output below"], ["alarm", "right guesses"]];
const DRAWN_FOR = { stated: (words) => `Drawn for the stated true value: ${words}.`, worst: (words) => `Drawn for the most exposed true value: ${words}.`, middle: (words) => `Drawn for a true value in the middle, ${words}; the most exposed one follows.`, any: () => "" };

async function fetchShape() {
  busy = true;
  while (again) {
    again = false;
    try { show(await post("/shape", { state: store.get(), worst })); } catch { shape = null; chart.hide(); }
  }
  busy = false;
}

function show(found) {
  if (found.kind === "none") { shape = null; chart.hide(); return; }
  const same = shape && shape.kind === found.kind && shape.name === found.name && JSON.stringify(shape.spec) === JSON.stringify(found.spec);
  const held = same && touched && shape.kind === "line" ? output() : null;
  shape = found;
  const line = found.kind === "line";
  chart.call(line ? "What he believes, before and after" : "What he believes today, and which guesses are right");
  chart.explain(line ? LINES : found.legend ?? [["alarm", "right guesses"]]);
  slider.parentElement.hidden = said.hidden = game.hidden = !line;
  unplayed.hidden = line;
  const { truth, at: place } = found.drawn_for;
  drawnFor.textContent = DRAWN_FOR[truth](trueWords(truth === "worst" && worst && typeof worst === "object" ? worst : place));
  if (same) chart.update(found.rows); else chart.draw(found);
  if (!line) return;
  if (held === null) setOutput(found.at);
  move();
}

const span = () => { const rows = shape.rows.before; return [rows[0].x, rows[rows.length - 1].x]; };
const output = () => { const [low, high] = span(); return low + (high - low) * (slider.value / 1000); };
function setOutput(value) { const [low, high] = span(); slider.value = Math.round(1000 * (value - low) / (high - low)); }

function move() {
  if (shape?.kind !== "line") return null;
  const y = output();
  const rows = after(shape.rows.before, slope, y);
  const tells = `points at ${Number(y.toPrecision(4))}`;
  slider.setAttribute("aria-valuetext", tells);
  said.textContent = slope > 0 ? `An output that ${tells}: he gives the marked guesses ${percent(belief(rows))}; before it was ${percent(belief(shape.rows.before))}. The worst output is what the limits count.` : "";
  return chart.update({ after: rows, output: [{ x: y }] });
}

// The game: somebody made up, an output with real-sized noise, your guess.
function reset() { score = { right: 0, rounds: 0, truth: null }; round(); }

function round() {
  if (!slope) return;
  score.truth = drawn(shape.rows.before);
  score.output = score.truth + laplace(1 / slope);
  const guess = el("input", { type: "number", step: "any", id: "guess" });
  const result = el("p", { role: "status", id: "game-result", class: "hint" });
  const tell = (event) => { event.preventDefault(); if (guess.value !== "") judge(Number(guess.value), result); };
  fill(game.querySelector(".stack"),
    el("p", {}, `Somebody was drawn from the curve. You know everybody else, so the release tells you: this person’s ${shape.name} looks like ${Number(score.output.toPrecision(4))} (with the noise).`),
    el("form", { class: "row", on: { submit: tell } }, el("label", { class: "field" }, "Your guess", guess), el("button", { class: "main", id: "try" }, "Guess")), result);
}

function judge(value, node) {
  const part = goal.parse(store.read("attacker", "goal") || "")?.parts[0];
  const near = part?.how === "percent" ? (part.size / 100) * Math.abs(score.truth) : part?.size ?? 0;
  const right = Math.abs(value - score.truth) <= near;
  score.rounds += 1;
  score.right += right ? 1 : 0;
  const limit = bound === null ? "" : ` Today’s best guess is right ${today === null ? "less often" : `in ${percent(today)}`}; no attacker exceeds ${percent(bound)} after any output.`;
  node.textContent = `${right ? "Right" : "Missed"}: it was ${Number(score.truth.toPrecision(4))}. You: ${score.right} of ${score.rounds}.${limit}`;
  score.truth = null;
  const form = game.querySelector("form");
  fill(form, el("button", { type: "button", class: "main", on: { click: round } }, "Next person"));
}
