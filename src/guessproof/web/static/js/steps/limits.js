// What may happen at most, and how near the answer must be: sliders and numbers that say the same.
import { at, el, fill, heading } from "../dom.js";
import { fromSlider, number, odds, percent, toSlider } from "../numbers.js";
import * as store from "../store.js";

const confidence = () => store.read("accuracy", "confidence") ?? 0.95;

const LIMITS = [
  { id: "advantage", path: ["attacker", "advantage"], name: "He may be right more often by", unit: "%", low: 0.001, high: 0.5, usual: 0.05, scale: 100,
    words: (v) => `${odds(v)} guesses more than today, whoever is asked about` },
  { id: "posterior", path: ["attacker", "posterior"], name: "He may be right in all", unit: "%", low: 0.01, high: 0.99, usual: 0.4, scale: 100,
    words: (v) => `at most ${odds(v)} guesses right after the release` },
  { id: "within", path: ["accuracy", "within"], name: "The answer must be right to within", unit: "", low: 0.001, high: 10000, usual: 1, scale: 1, data: true,
    words: (v) => `± ${v}, in ${percent(confidence())} of releases` },
  { id: "confidence", path: ["accuracy", "confidence"], name: "… and so often", unit: "%", low: 0.5, high: 0.999, usual: 0.95, scale: 100, data: true, needs: ["accuracy", "within"],
    words: (v) => `in ${percent(v)} of releases` },
  { id: "prior_factor", path: ["attacker", "prior_factor"], name: "What he believes may be misjudged by a factor of", unit: "×", low: 1.01, high: 5, usual: 1.2, scale: 1,
    words: (v) => `the odds of any two values may differ from the curve by ×${v}` },
  { id: "relative", path: ["risk", "fixed_value", "relative"], name: "That somebody is in the table may become likelier by a factor of", unit: "×", low: 1.05, high: 20, usual: 3, scale: 1, records: true,
    words: (v) => `whoever believed it with 1 in 100 may believe it with ${odds(v / 100)}` },
  { id: "absolute", path: ["risk", "fixed_value", "absolute"], name: "… or stay at most at", unit: "%", low: 0.01, high: 0.9, usual: 0.25, scale: 100, records: true, needs: ["risk", "fixed_value"],
    words: (v) => `no factor counts while he believes it with at most ${odds(v)}` },
];
const PROFILE = { fixed_value: { q: 1, absolute: 0.25, relative: 3 } };

const rows = {};

export function mount(start) {
  const presets = Object.entries(start.presets).map(([name, preset]) => el("button", { type: "button", "data-preset": name, on: { click: () => store.set(["attacker", "advantage"], preset.advantage) } }, name));
  fill(at("limits"),
    heading("limits-title", 4, "How much may be learnt?", el("div", { class: "chips", role: "group", "aria-label": "Presets" }, presets)),
    ...LIMITS.map(row),
    el("label", { class: "row hint" }, el("input", { type: "checkbox", id: "both", on: { change: (event) => store.set(["attacker", "both"], event.target.checked || undefined) } }), "what he believes may not fall by as much either"));
  store.subscribe(refresh);
}

function row(limit) {
  const check = el("input", { type: "checkbox", id: `${limit.id}-on`, "aria-label": `Limit: ${limit.name}`,
    on: { change: (event) => (limit.id === "relative" ? store.set(["risk"], event.target.checked ? PROFILE : undefined) : store.set(limit.path, event.target.checked ? limit.usual : undefined)) } });
  const slider = el("input", { type: "range", min: 0, max: 1000, step: 1, id: `${limit.id}-slider`, "aria-label": limit.name,
    on: { input: (event) => store.set(limit.path, fromSlider(Number(event.target.value), limit.low, limit.high), { drag: limit.id }), change: store.endDrag } });
  const exact = el("input", { type: "number", step: "any", min: 0, id: `${limit.id}-number`, "aria-label": `${limit.name} (number)`,
    on: { input: (event) => { const value = number(event.target.value); if (value !== undefined) store.set(limit.path, Number((value / limit.scale).toPrecision(12)), { drag: `${limit.id}-n` }); }, change: store.endDrag } });
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
    const value = limit.path.reduce((v, k) => v?.[k], state);
    const needed = limit.needs && limit.needs.reduce((v, k) => v?.[k], state) === undefined;
    const unfit = limit.records && (!["records", "persons"].includes(state.data?.protects) || (state.risk && !state.risk.fixed_value));
    node.hidden = (limit.data && !store.hasData()) || Boolean(needed) || Boolean(unfit);
    check.hidden = limit.id === "absolute";
    check.checked = value !== undefined;
    node.classList.toggle("off", value === undefined);
    slider.disabled = exact.disabled = value === undefined;
    const shown = typeof value === "number" ? value : limit.usual;
    slider.setAttribute("aria-valuetext", limit.words(shown));
    if (document.activeElement !== slider) slider.value = toSlider(shown, limit.low, limit.high);
    if (document.activeElement !== exact) exact.value = value === undefined ? "" : Number((shown * limit.scale).toPrecision(10));
    words.textContent = value === undefined ? "no limit" : limit.words(shown);
  }
  at("both").checked = Boolean(state.attacker?.both);
}
