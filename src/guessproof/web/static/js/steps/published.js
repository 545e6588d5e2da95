// Published methods, laid over the chart of beliefs when somebody asks for them, each with what is true of it here.
import { Refused, work } from "../api.js";
import { chart } from "../board.js";
import { el, fill } from "../dom.js";
import { attackOf, onAnswer } from "../engine.js";
import * as store from "../store.js";

const SAYS = { tight: "exact", "sound but loose": "holds, loosely", unsound: "does not hold" };
let job = null, said, box, known = "", rows = [];

export function mount() {
  said = el("div", { id: "published-said", role: "status", class: "stack" });
  box = el("input", { type: "checkbox", id: "published-on", on: { change: () => (box.checked ? find() : clear()) } });
  chart("gains").extra.append(el("label", { class: "row tick hint" }, box, "compare with published methods"), said);
  store.subscribe((state) => { if (known && keyOf(state) !== known) { known = ""; if (box.checked) later(); } });
  onAnswer((answer) => { if (answer.kind === "charts") setTimeout(overlay); });
}

const keyOf = (state) => JSON.stringify([attackOf(state), state.attacker?.advantage]);

// A drag is not followed: the comparison is made anew when it is over.
let timer;
function later() { clearTimeout(timer); rows = []; overlay(); fill(said, el("p", { class: "hint" }, "…")); timer = setTimeout(find, 900); }

function clear() { job?.stop(); job = null; known = ""; rows = []; overlay(); fill(said); }

async function find() {
  job?.stop();
  const mine = work("published", store.get(), { progress: (_, words) => fill(said, el("p", { class: "hint" }, words ? `${words} …` : "comparing …")) });
  job = mine;
  known = keyOf(store.get());
  try {
    const found = await mine.done;
    if (job !== mine) return;
    show(found);
  } catch (error) {
    if (job === mine) fill(said, el("p", { class: "error" }, error instanceof Refused ? error.error.message : "no answer"));
  }
}

function show({ at, name, methods }) {
  if (!methods.length) { fill(said, el("p", { class: "hint" }, "None of the works that are known here speaks of this attack: they take one column, and a guess within a distance or of one label.")); return; }
  rows = methods.flatMap((m) => m.rows.map((row) => ({ ...row, method: `${m.work} ${m.result}`, words: SAYS[m.here] || m.here, holds: m.here !== "unsound" })));
  overlay();
  fill(said, at === null ? null : el("p", { class: "hint" }, `For the true value ${name} = ${typeof at === "number" ? Number(at.toPrecision(5)) : at}. Dashed: what each says that he can believe at most.`),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Published methods" }, el("table", { id: "published-table" },
      el("thead", {}, el("tr", {}, ["published", "ε it would allow", "here", "in general"].map((k) => el("th", { scope: "col" }, k)))),
      el("tbody", {}, methods.map((m) => el("tr", { "data-method": m.id }, el("td", { title: m.title }, `${m.work} ${m.result}`), el("td", {}, m.epsilon ?? "–"),
        el("td", { class: m.here === "unsound" ? "alarm" : "" }, SAYS[m.here] || m.here), el("td", { title: m.truth }, m.general)))))),
    el("details", {}, el("summary", {}, "What they say, and what is true"), el("ul", { class: "hint" }, methods.map((m) => el("li", {}, el("b", {}, `${m.work} ${m.result}: `), m.says, " ", m.truth)))));
}

// Lines end where the chart ends.
function overlay() {
  const gains = chart("gains");
  const end = Math.max(0, ...(gains.rows.curve || []).map((row) => row.epsilon));
  gains.update({ published: rows.filter((row) => row.epsilon <= end) });
}
