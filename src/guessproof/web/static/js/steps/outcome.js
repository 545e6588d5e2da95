// The decision: in odds first, then ε, then everything behind it.
import { Refused, work } from "../api.js";
import { dots } from "../dots.js";
import { announce, at, el, fill, heading, name, say } from "../dom.js";
import { isDrawn, onAnswer } from "../engine.js";
import * as goal from "../goal.js";
import * as store from "../store.js";
import { CERTAINTY, READ_OFF, truth as trueWords } from "../words.js";

let last = null;
let busy = null;
let dotted = "";

export function mount() {
  fill(at("outcome"), heading("outcome-title", false, "What this means", el("span", { id: "certainty", class: "state busy" }, "…")),
    el("div", { class: "decision" }, el("div", { class: "epsilon", id: "epsilon" }, el("p", {}, el("small", {}, "ε "), el("span", { class: "big" }, "…"))),
      el("div", { class: "told" }, el("p", { class: "headline", id: "headline" }, "Drag a limit and see what it costs."), el("p", { class: "hint", id: "whom", hidden: true }), el("div", { id: "dots" }))),
    el("p", { class: "error", id: "refusal", hidden: true }));
  fill(at("more"), heading("more-title", false, "Behind the number"), el("div", { id: "facts", class: "stack" }, el("p", { class: "empty" }, "…")));
  onAnswer(answer);
  store.subscribe(() => { final = false; at("outcome").classList.add("former"); mark("busy", "working …"); });
}

let marked = [];
function mark(...now) {
  if (now.every((part, i) => part === marked[i]) && busy === marked[2]) return;
  const node = at("certainty");
  const [kind, words] = now;
  marked = [kind, words, busy];
  node.className = `state ${kind}`;
  fill(node, words, busy ? el("button", { type: "button", class: "link", on: { click: busy } }, "stop") : null);
}

let pictured = true; // whether no pictures are to come
function answer({ kind, outcome, error, stop, settled }) {
  if (kind === "slow") { busy = stop; mark("busy", "computing the final answer … "); return; }
  if (kind === "waiting") { pictured = false; if (!settled && !busy) mark("busy", "computing a curve for quick answers …"); }
  if (kind === "uncharted" || (kind === "charts" && isDrawn())) pictured = true;
  if (kind === "refused") refuse(error);
  if (kind === "quick" || kind === "exact") { busy = null; show(outcome); } else if (last?.exact && final) certify(last);
}

function refuse(error) {
  busy = null;
  final = false;
  at("outcome").classList.remove("former");
  mark("busy", "not answered");
  at("refusal").hidden = false;
  at("refusal").textContent = error.message;
  fill(at("headline"), el("span", { class: "alarm" }, "This cannot be answered yet."));
  at("epsilon").className = "epsilon none";
  at("epsilon").querySelector(".big").textContent = "–";
  announce(error.message);
}

const upTo = (outcome) => (outcome.exact ? "" : "≥\u00a0");

// Two things are said: whether this was computed for the very ε or looked up on a curve that errs on the safe side; and whether an
// attack reaches the bound, or it is only proven that none gets past it.
let final = false; // whether the final answer to what stands there is shown
function certify(outcome) {
  const status = outcome.feasible ? outcome.advantage?.status : undefined;
  const parts = outcome.exact ? [outcome.feasible ? "final answer" : "final answer: no ε keeps this", CERTAINTY[status], pictured ? null : "pictures are still being computed"] : [READ_OFF];
  mark(outcome.exact ? (status === "proven" ? "exact proven" : "exact") : "busy", parts.filter(Boolean).join(" · "));
}

function show(outcome) {
  last = outcome;
  at("outcome").classList.remove("former");
  at("refusal").hidden = true;
  final = outcome.exact;
  certify(outcome);
  fill(at("headline"), ...headline(outcome));
  const box = at("epsilon");
  box.className = outcome.feasible ? "epsilon" : "epsilon none";
  fill(box, el("p", {}, el("small", {}, outcome.mode === "calculator" ? "ε per unit, at most " : "recommended ε "),
    el("span", { class: "big", id: "epsilon-value" }, outcome.feasible ? [outcome.exact ? null : el("span", { class: "mark", title: "the final one is at least so large" }, upTo(outcome)), outcome.shown.epsilon] : "none")),
    outcome.mode === "plan" && outcome.feasible ? el("small", { id: "interval" }, roomWords(outcome)) : null,
    outcome.shown.errors ? el("small", {}, outcome.shown.errors) : outcome.feasible && outcome.mode === "calculator" && Object.keys(store.read("columns") || {}).length === 1 ? el("small", {}, `noise of scale ${outcome.shown.noise_scale} on a sum`) : null);
  const people = outcome.feasible ? outcome.people : null;
  const stated = trueWords(store.read("attacker", "at"));
  say(at("whom"), stated ? `about somebody with ${stated}` : "about whoever is easiest to guess");
  name(at("whom"), "title", at("whom").textContent); // one line, however long it is
  at("whom").hidden = !people;
  if (JSON.stringify(people) !== dotted) { dotted = JSON.stringify(people); dot(people); }
  at("brief").textContent = outcome.feasible ? `${outcome.people ? `${outcome.people.before ?? "?"} → at most ${outcome.people.after} of ${outcome.people.base} · ` : ""}ε ${upTo(outcome)}${outcome.shown.epsilon}` : "no ε does all of this";
  if (outcome.exact) { facts(outcome); announce(outcome.feasible ? `ε ${outcome.shown.epsilon}. ${at("headline").textContent}` : at("headline").textContent); }
}

function dot(people) {
  const held = at("dots").firstElementChild;
  const drawn = people ? dots(people, held) : null;
  if (drawn !== held) fill(at("dots"), drawn);
}

// What decides, in words: the least that is accurate, or the most that is safe.
function roomWords({ binding, shown, interval }) {
  if (binding === "accuracy") return shown.high === "any" ? "the least that is accurate enough" : `the least that is accurate enough; safe up to ${shown.high}`;
  const most = { attacker: "the most that keeps his guesses down", risk: "the most that the risk profile allows", budget: "all that is left of the budget", fixed: "as the plan says" }[binding] || binding;
  return interval[0] ? `${most}; accurate enough from ${shown.low}` : most;
}

function headline(outcome) {
  if (!outcome.feasible) return [el("span", { class: "alarm" }, "No ε does all of this. "), outcome.explanation ? el("span", { class: "hint" }, outcome.explanation) : ""];
  const { people } = outcome;
  if (!people) return [outcome.shown.advantage ? `Whatever he believed before, he becomes right at most ${outcome.shown.advantage} more often.` : outcome.explanation || ""];
  const of = people.base.toLocaleString("en");
  const before = people.before === null ? "" : `Today ${people.before.toLocaleString("en")} of ${of} guesses would be right. `;
  return [`${before}After this release at most ${people.after.toLocaleString("en")} of ${of}.`];
}

function facts(outcome) {
  const { shown } = outcome;
  const list = [
    ["Belief after, at most", shown.posterior], ["Advantage, at most", shown.advantage],
    ["Easiest to guess", risen(outcome.posterior, outcome.posterior?.bound)], ["Most is learnt", store.read("attacker", "both") ? where(outcome.advantage) : risen(outcome.advantage, outcome.advantage?.worst_prior + outcome.advantage?.bound)],
    ["Largest ε if nothing is known of his beliefs", shown.prior_free_epsilon],
    ["Largest ε if the prior were 25 % narrower", shown.narrower_prior_epsilon], ["Largest ε if it were 25 % wider", shown.wider_prior_epsilon],
    ["Noise scale", shown.noise_scale], ["If the prior is wrong", shown.misjudged],
  ].filter(([, value]) => value);
  const changes = outcome.changes || [];
  const assumptions = outcome.assumptions || [];
  const factor = el("p", { class: "hint", id: "factor", role: "status" });
  const ask = el("button", { type: "button", id: "ask-factor", on: { click: () => findFactor(factor, ask) } }, "How wrong may the prior be?");
  fill(at("facts"),
    el("p", {}, outcome.explanation || ""),
    el("dl", { class: "facts" }, list.map(([what, value]) => [el("dt", {}, what), el("dd", {}, value)])),
    outcome.feasible && !shown.misjudged ? el("div", { class: "row" }, ask, factor) : null,
    warnings(outcome.answer?.warnings || []),
    changes.length ? el("div", {}, el("h3", {}, outcome.feasible ? "One change at a time: what would still do" : "One change at a time: what is enough"),
      el("table", {}, el("thead", {}, el("tr", {}, ["of the plan", "now", outcome.feasible ? "would still do" : "is enough"].map((t) => el("th", { scope: "col" }, t)))),
        el("tbody", {}, changes.map((c) => el("tr", {}, el("td", {}, c.what), el("td", {}, c.now), el("td", {}, c.then)))))) : null,
    assumptions.length ? el("details", {}, el("summary", {}, "What must hold for this to be true"), el("ul", {}, assumptions.map((a) => el("li", {}, a)))) : null);
}

const warnings = (list) => (list.length ? el("div", { class: "sub" }, el("h3", {}, "Is this what you mean?"), el("ul", { class: "hint" }, list.map((w) => el("li", {}, `${w.field}: ${w.problem}; ${w.remedy}`)))) : null);

// Where belief is highest and where it rises most are two true values, each with its own start.
const named = (value) => (value && typeof value === "object" ? value : { [Object.keys(store.read("columns") || {}).find((name) => goal.columns(store.read("attacker", "goal") || "", [name]).length) ?? "value"]: value });
const where = (bracket) => (bracket?.worst_at === null || bracket?.worst_at === undefined ? "" : trueWords(named(bracket.worst_at)));
const risen = (bracket, after) => (where(bracket) ? `at ${where(bracket)}: ${(100 * bracket.worst_prior).toFixed(1)} % → ${(Math.ceil(Math.min(1, after) * 1e4 - 1e-9) / 100).toFixed(2)} %` : "");

async function findFactor(node, button) {
  const job = work("factor", store.get());
  button.disabled = true;
  node.textContent = "working this out takes some seconds …";
  try {
    const { words } = await job.done;
    node.textContent = words || "there is no prior to misjudge";
  } catch (error) { node.textContent = error instanceof Refused ? error.error.message : "no answer"; }
  button.disabled = false;
}

export const outcome = () => last;
