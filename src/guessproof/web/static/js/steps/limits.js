// What may happen at most, and how near the answer must be: sliders and numbers that say the same.
import { at, el, fill, heading, name, put, say } from "../dom.js";
import { fromSlider, number, odds, percent, toSlider } from "../numbers.js";
import * as profile from "./profile.js";
import * as store from "../store.js";
import { truth } from "../words.js";

// A stated true value is the only one that is promised anything; without one the most exposed counts, and with it everybody.
const about = () => { const at = truth(store.read("attacker", "at")); return at ? `about somebody whose true value is ${at}` : "whoever is asked about"; };
const confidence = () => store.read("accuracy", "confidence") ?? 0.95;

const LIMITS = [
  { id: "advantage", path: ["attacker", "advantage"], name: "He may be right more often by", unit: "%", low: 0.001, high: 0.5, usual: 0.05, scale: 100,
    words: (v) => `${odds(v)} guesses more than today, ${about()}` },
  { id: "posterior", path: ["attacker", "posterior"], name: "He may be right in all", unit: "%", low: 0.01, high: 0.99, usual: 0.4, scale: 100,
    words: (v) => `at most ${odds(v)} guesses right after the release` },
  { id: "odds", path: ["attacker", "odds"], name: "… or as odds: right at most once in", unit: "guesses", low: 1.2, high: 200, usual: 3, scale: 1,
    read: (text) => { const found = /^\s*([\d.]+)\s+in\s+([\d.]+)\s*$/.exec(text ?? ""); return found ? Number(found[2]) / Number(found[1]) : undefined; },
    write: (v) => `1 in ${v}`,
    words: (v) => `1 in ${Number(v.toPrecision(3))} guesses right after the release, at most` },
  { id: "within", path: ["accuracy", "within"], name: "The answer must be right to within", unit: "", low: 0.001, high: 10000, usual: 1, scale: 1, shown: () => store.hasData(),
    words: (v) => `± ${v}, in ${percent(confidence())} of releases` },
  { id: "confidence", path: ["accuracy", "confidence"], name: "… and so often", unit: "%", low: 0.5, high: 0.999, usual: 0.95, scale: 100, shown: () => store.hasData() && store.read("accuracy", "within") !== undefined,
    words: (v) => `in ${percent(v)} of releases` },
  { id: "prior_factor", path: ["attacker", "prior_factor"], name: "What he believes may be misjudged by a factor of", unit: "×", low: 1.01, high: 5, usual: 1.2, scale: 1,
    words: (v) => `the odds of any two values may differ from the curve by ×${v}` },
  ...profile.SLIDERS,
];

const rows = {};

export function mount(start) {
  const presets = Object.entries(start.presets).map(([name, preset]) => el("button", { type: "button", "data-preset": name, on: { click: () => choose(preset) } }, name));
  const [plain, risky] = [LIMITS.filter((l) => !l.risk), LIMITS.filter((l) => l.risk)];
  fill(at("limits"),
    heading("limits-title", true, "How much may be learnt?", el("div", { class: "chips", role: "group", "aria-label": "Presets" }, presets)),
    ...plain.map(row),
    profile.picker(), ...risky.map(row), profile.points(),
    el("label", { class: "row tick hint" }, el("input", { type: "checkbox", id: "both", on: { change: (event) => store.set(["attacker", "both"], event.target.checked || undefined) } }), "his belief may not fall by more than that either"));
  store.subscribe(refresh);
}

// A preset moves what the plan limits already; where records are protected, that is the risk profile.
function choose(preset) {
  const next = structuredClone(store.get());
  if (next.attacker?.goal || !profile.fits(next)) next.attacker = { ...next.attacker, advantage: preset.advantage };
  if (profile.fits(next)) next.risk = profile.preset(next.risk, preset);
  store.replace(next);
}

function row(limit) {
  const move = (value, drag) => store.set(limit.path, limit.write ? limit.write(value) : value, { drag });
  const check = limit.risk ? el("span", {}) : el("input", { type: "checkbox", id: `${limit.id}-on`, "aria-label": `Limit: ${limit.name}`,
    on: { change: (event) => (event.target.checked ? move(limit.usual, null) : store.set(limit.path, undefined)) } });
  const slider = el("input", { type: "range", min: 0, max: 1000, step: 1, id: `${limit.id}-slider`, "aria-label": limit.name,
    on: { input: (event) => move(fromSlider(Number(event.target.value), limit.low, limit.high), limit.id), change: store.endDrag } });
  const exact = el("input", { type: "number", step: "any", min: 0, id: `${limit.id}-number`, "aria-label": `${limit.name} (number)`,
    on: { input: (event) => { const value = number(event.target.value); if (value !== undefined) move(Number((value / limit.scale).toPrecision(12)), `${limit.id}-n`); }, change: store.endDrag } });
  const words = el("p", { class: "words", id: `${limit.id}-words` });
  slider.setAttribute("aria-describedby", words.id);
  const node = el("div", { class: "limit", id: `limit-${limit.id}` }, check, el("label", { class: "name", for: slider.id }, limit.name),
    el("span", { class: "value" }, exact, limit.unit), slider, words);
  rows[limit.id] = { node, check, slider, exact, words };
  return node;
}

function refresh(state) {
  for (const limit of LIMITS) {
    const { node, check, slider, exact, words } = rows[limit.id];
    const held = limit.path.reduce((v, k) => v?.[k], state);
    const value = limit.read ? limit.read(held) : held;
    node.hidden = Boolean(limit.shown && !limit.shown(state));
    if (node.hidden) continue;
    check.checked = value !== undefined;
    node.classList.toggle("off", value === undefined);
    slider.disabled = exact.disabled = value === undefined;
    const shown = typeof value === "number" ? value : limit.usual;
    const told = limit.words(shown);
    name(slider, "aria-valuetext", told);
    if (document.activeElement !== slider) put(slider, toSlider(shown, limit.low, limit.high));
    if (document.activeElement !== exact) put(exact, value === undefined ? "" : Number((shown * limit.scale).toPrecision(10)));
    say(words, value === undefined ? "no limit" : told);
  }
  profile.refresh(state);
  at("both").checked = Boolean(state.attacker?.both);
}
