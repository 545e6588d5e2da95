// The page begins: the plan it was started with, what the tab held before, a link, or an example.
import { call, post, Refused } from "./api.js";
import * as board from "./board.js";
import { decode, openCopy } from "./copying.js";
import { at, el, fill, warn } from "./dom.js";
import * as engine from "./engine.js";
import * as asking from "./steps/asking.js";
import * as attacker from "./steps/attacker.js";
import * as audit from "./steps/audit.js";
import * as beliefs from "./steps/beliefs.js";
import * as data from "./steps/data.js";
import * as limits from "./steps/limits.js";
import * as meaning from "./steps/meaning.js";
import * as outcome from "./steps/outcome.js";
import * as published from "./steps/published.js";
import * as question from "./steps/question.js";
import * as release from "./steps/release.js";
import * as report from "./steps/report.js";
import * as store from "./store.js";

const EXAMPLE = { columns: { time: { bounds: [0, 120], prior: { normal: { mean: 20, sd: 6.28 } } } }, attacker: { goal: "time within 2", advantage: 0.05 } };

async function begin() {
  const [start, kept] = await Promise.all([call("GET", "/start"), call("GET", "/state")]);
  for (const part of [data, question, attacker, limits, outcome, board, published, beliefs, meaning, asking, release, audit, report]) part.mount(start);
  store.subscribe(() => { at("undo").disabled = !store.canUndo(); at("redo").disabled = !store.canRedo(); });
  store.subscribe(engine.changed);
  at("undo").addEventListener("click", store.undo);
  at("redo").addEventListener("click", store.redo);
  at("copy").addEventListener("click", openCopy);
  at("fresh").addEventListener("click", () => store.replace(structuredClone(start.state || EXAMPLE)));
  at("open-plan").addEventListener("change", openPlan);
  const linked = location.hash.length > 1 ? decode(location.hash) : null;
  if (linked) history.replaceState(null, "", location.pathname);
  store.begin(linked || kept.state || structuredClone(start.state || EXAMPLE));
  document.body.dataset.ready = "yes";
}

async function openPlan(event) {
  const [file] = event.target.files;
  if (!file) return;
  try {
    const { state } = await post("/plan/read", { toml: await file.text() });
    store.replace(state);
    warn("");
  } catch (error) { warn(error instanceof Refused ? error.error.message : "this file cannot be read"); }
  event.target.value = "";
}

async function login() {
  const dialog = at("login-dialog");
  const input = el("input", { type: "password", id: "token", class: "plain", autocomplete: "off" });
  const said = el("p", { class: "error", role: "alert" });
  const form = el("form", { class: "stack", on: { submit: async (event) => {
    event.preventDefault();
    try { await post("/login", { token: input.value.trim() }); dialog.close(); begin(); } catch (error) { said.textContent = error.error?.message || "no answer"; }
  } } }, el("h2", { id: "login-title" }, "Token"), el("label", { for: "token" }, "guessproof serve printed one when it was started."), input, said, el("div", {}, el("button", { class: "main" }, "Enter")));
  fill(dialog, form);
  dialog.showModal();
}

begin().catch((error) => { if (error instanceof Refused && error.status === 401) login(); else warn(error.message); });
