// The other way round: what does this ε mean? Safe numbers from a curve while it is dragged, the final ones after.
import { post, Refused, work } from "../api.js";
import { dots } from "../dots.js";
import { announce, at, el, fill, heading } from "../dom.js";
import { onAnswer } from "../engine.js";
import { fromSlider, number, toSlider } from "../numbers.js";
import * as store from "../store.js";
import { CERTAINTY, READ_OFF } from "../words.js";

const LOW = 0.001, HIGH = 30;
let epsilon = null, touched = false, seen = false, stale = false, slider, exact, said, busy = false, again = false, timer, job = null;

export function mount() {
  slider = el("input", { type: "range", min: 0, max: 1000, step: 1, id: "meaning-slider", on: { input: () => pick(fromSlider(Number(slider.value), LOW, HIGH)) } });
  exact = el("input", { type: "number", step: "any", min: 0, id: "meaning-number", class: "plain", "aria-label": "ε (number)", on: { input: () => { const value = number(exact.value); if (value > 0 && value <= 100) pick(value, true); } } });
  said = el("div", { id: "meaning-said", class: "stack" });
  fill(at("meaning"), heading("meaning-title", false, "What does an ε mean?"),
    el("div", { class: "stack" }, el("div", { class: "row" }, el("label", { class: "field wide", for: slider.id }, "Drag any ε", slider), exact), said));
  // Nobody looks: nothing is asked.
  new IntersectionObserver(([entry]) => { seen = entry.isIntersecting; if (seen && stale) ask(); }).observe(at("meaning"));
  onAnswer(({ kind, outcome }) => {
    const recommended = kind === "exact" && outcome.feasible ? Number(outcome.shown.epsilon) : NaN; // none where any ε will do
    if (recommended > 0 && !touched) show(recommended); // it begins there: the ε that is shown keeps every limit
    else if (kind === "exact" || kind === "rows") ask();
  });
  store.subscribe((_, changed) => { if (!changed.length) touched = false; });
}

function show(value) { epsilon = value; slider.value = toSlider(epsilon, LOW, HIGH); exact.value = epsilon; ask(); }

function pick(value, typed = false) {
  touched = true;
  epsilon = value;
  if (typed) slider.value = toSlider(value, LOW, HIGH); else exact.value = value;
  slider.setAttribute("aria-valuetext", `ε ${value}`);
  ask();
}

async function ask() {
  stale = !seen;
  if (epsilon === null || stale) return;
  again = true;
  clearTimeout(timer);
  timer = setTimeout(settle, 500);
  if (busy) return;
  busy = true;
  try {
    while (again) {
      again = false;
      const found = await post("/meaning", { state: store.get(), epsilon });
      if (found.ready) tell(found.meaning);
    }
  } catch (error) { refuse(error); }
  busy = false;
}

async function settle() {
  job?.stop();
  const mine = work("meaning", store.get(), { epsilon });
  job = mine;
  try { const found = await mine.done; if (job === mine && found.epsilon === epsilon) { tell(found); if (touched) announce(said.querySelector("p").textContent); } } catch (error) { if (job === mine) refuse(error); }
}

function refuse(error) { fill(said, el("p", { class: "hint" }, error instanceof Refused ? error.error.message : "no answer")); }

function tell(found) {
  const { people, general } = found;
  const open = said.querySelector("details")?.open;
  const of = people?.base.toLocaleString("en");
  fill(said,
    el("p", { id: "meaning-words", class: "sentence" }, people
      ? `At ε = ${found.epsilon} at most ${people.after.toLocaleString("en")} of ${of} guesses are right${people.before === null ? "" : `; today ${people.before.toLocaleString("en")} are`}.`
      : found.advantage ? `At ε = ${found.epsilon} he becomes right at most ${found.advantage.shown} more often.` : `At ε = ${found.epsilon} no output multiplies anybody’s odds by more than ${general.odds_factor}.`),
    people ? dots(people) : null,
    el("dl", { class: "facts" }, [
      ["Belief after, at most", found.posterior?.shown], ["Advantage, at most", found.advantage?.shown], ["Error", found.errors], ["Noise scale", found.noise_scale],
      ...found.limits.map((limit) => [`${limit.name}: ε ${limit.side} ${limit.epsilon}`, `${limit.kept ? "✓ kept" : found.exact ? "✗ broken" : "not proven as yet"}: ${limit.how}`]),
      ["Certainty", found.exact ? ["final answer", CERTAINTY[found.status]].filter(Boolean).join(" · ") : READ_OFF],
    ].filter(([, value]) => value).map(([what, value]) => [el("dt", {}, what), el("dd", { class: String(value).startsWith("✗") ? "alarm" : "" }, value)])),
    el("details", { open }, el("summary", {}, `Whatever the data: odds grow by a factor of ${general.odds_factor} at most`),
      el("p", { class: "hint" }, `Of two values one unit apart. A belief rises by at most ${general.worst_advantage}, whatever it was.`),
      table(["belief before", "after, at most", "factor"], general.beliefs.map((row) => [row.before, row.after, row.ratio])),
      el("p", { class: "hint" }, "Published uses with an ε nearby (their units differ):"),
      table(["who", "what", "ε", "protects"], general.deployments.map((d) => [d.who, d.what, d.epsilon, d.protects]))));
}

const table = (heads, rows) => el("table", {}, el("thead", {}, el("tr", {}, heads.map((k) => el("th", { scope: "col" }, k)))), el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell))))));
