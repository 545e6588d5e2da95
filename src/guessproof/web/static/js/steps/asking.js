// One question at a time, the same as `guessproof init --ask`: the plan grows with the answers.
import { post, Refused } from "../api.js";
import { announce, at, el, fill, field } from "../dom.js";
import { shownColumns } from "./data.js";
import * as store from "../store.js";

let answers = [], typed = "";

export function mount() { at("ask-me").addEventListener("click", () => { answers = []; typed = ""; step(); at("ask-dialog").showModal(); }); }

const about = () => {
  const { data } = store.get();
  return data ? { source: data.source, table: data.table || "t", columns: Object.keys(shownColumns() || {}) } : {};
};

async function step(more) {
  const asked = more === undefined ? answers : [...answers, more];
  try {
    const found = await post("/ask", { answers: asked, ...about() });
    answers = asked;
    if (found.state) finish(found.state); else show(found);
  } catch (error) { refuse(error instanceof Refused ? `${error.error.problem}; ${error.error.remedy}` : "no answer"); }
}

function refuse(words) { const node = at("ask-error"); if (node) node.textContent = words; else fill(at("ask-dialog"), el("h2", { id: "ask-title" }, "Questions"), el("p", { class: "error" }, words), close("Close")); }

const close = (words) => el("button", { type: "button", on: { click: () => at("ask-dialog").close() } }, words);

function show({ question, number, toml }) {
  const input = answerField(question);
  const send = (event) => { event.preventDefault(); typed = ""; step(input.value()); };
  const back = () => { typed = answers.pop(); step(); };
  fill(at("ask-dialog"), el("form", { class: "stack", on: { submit: send } },
    el("h2", { id: "ask-title" }, `${number}. ${question.text}`),
    el("p", { class: "hint" }, question.why),
    input.node,
    el("p", { class: "error", id: "ask-error", role: "alert" }),
    el("div", { class: "row" }, el("button", { class: "main", id: "ask-next" }, "Next"), answers.length ? el("button", { type: "button", id: "ask-back", on: { click: back } }, "Back") : null, close("Never mind")),
    el("details", {}, el("summary", {}, "The plan so far"), el("pre", { class: "code", tabindex: "0", "aria-label": "The plan so far" }, toml))));
  input.focus();
  announce(question.text);
}

function answerField(question) {
  if (question.kind === "choice") {
    const options = question.choices.map(({ value, words }, i) => {
      const radio = el("input", { type: "radio", name: "ask-choice", value, id: `ask-${value}`, checked: typed ? typed === value : i === 0 });
      return el("label", { class: "row choice", for: radio.id }, radio, words);
    });
    const node = el("div", { class: "stack", role: "radiogroup", "aria-labelledby": "ask-title" }, options);
    return { node, value: () => node.querySelector("input:checked")?.value ?? "", focus: () => node.querySelector("input:checked")?.focus() };
  }
  const known = question.kind === "column" ? about().columns || [] : [];
  const input = known.length ? el("select", { id: "ask-answer" }, known.map((name) => el("option", { value: name, selected: name === typed }, name)))
    : el("input", { id: "ask-answer", class: "plain", autocomplete: "off", value: typed, placeholder: question.optional ? "" : `as ${question.example}` });
  return { node: field(question.optional ? `Your answer (as ${question.example}; may be left empty)` : `Your answer, as ${question.example}`, input, { wide: true }), value: () => input.value, focus: () => input.focus() };
}

function finish(state) {
  at("ask-dialog").close();
  store.replace(state);
  announce("The plan is complete.");
  at("outcome").focus();
}
