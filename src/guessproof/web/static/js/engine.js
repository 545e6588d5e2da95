// Answers: safe ones from a curve at once, the final one when it is ready. One request of each kind at a time;
// the latest state always gets its answer, and no event is dropped: each ends in a drawing of its state or a later one.
import { post, work, Refused } from "./api.js";
import * as store from "./store.js";

const listeners = new Set();
export const onAnswer = (run) => listeners.add(run);
export const tell = (answer) => Promise.all([...listeners].map((run) => run(answer)));

let wanted = 0;      // how many changes there were
let asked = -1;      // the change that was asked about last
let settled = -1;    // the change that the exact answer belongs to
let quickBusy = false;
let exactBusy = null;

export function changed() {
  wanted += 1;
  final = finished = null;
  document.body.dataset.asked = String(wanted);
  quick();
  later();
}

// One request is on its way while the answer before it is drawn.
async function quick() {
  if (quickBusy) return;
  quickBusy = true;
  try {
    while (asked < wanted) {
      const turn = asked = wanted;
      const state = store.get();
      const found = await post("/live", { state }).catch(refusal);
      if (found.ready) paint({ turn, state, found });
      else if (turn < wanted) continue;
      else if (found.error) { next = null; tell({ kind: "refused", error: found.error }); }
      else if (!found.coming) { uncharted = attackOf(state); tell({ kind: "uncharted" }); drawFinal(); }
      else { asked = turn - 1; tell({ kind: "waiting", settled: settled >= turn }); watch(); return; }
    }
  } finally {
    quickBusy = false;
  }
}

const refusal = (error) => { if (error instanceof Refused) return { ready: false, error: error.error }; throw error; };

// Of the answers that came while something was drawn, the newest is drawn next.
let next = null;
let painting = false;
async function paint(answer) {
  next = answer;
  if (painting) return;
  painting = true;
  try {
    while (next) {
      const { turn, state, found } = next;
      next = null;
      const rows = settled < turn ? found.rows : final ?? found.rows; // a final answer is not drawn over by a quick one
      await tell(settled < turn ? { kind: "quick", outcome: found.outcome, rows } : { kind: "rows", rows });
      document.body.dataset.answered = String(turn); // everything is drawn
      charts(state, rows);
    }
  } finally {
    painting = false;
  }
}

// The charts of one attack are drawn once. Rows that were drawn meanwhile belong to a later state.
let drawn = "";      // the attack whose charts are drawn
let coming = null;   // the charts that are on their way
let outdated = false; // whether they are drawn again all the same
let latest = null;
export const drawnAttack = () => drawn;
export const isDrawn = () => drawn === attackOf(store.get());

async function charts(state, rows) {
  const key = attackOf(state);
  latest = rows;
  if (key === coming?.key) return;
  if (key === drawn && !outdated) { coming = null; return; } // those on their way are of an attack that was left again
  const mine = coming = { key };
  const found = await post("/charts", { state }).catch(refusal); // the answer itself says why
  if (coming !== mine) return;
  coming = null;
  if (!found.ready) return;
  drawn = key;
  outdated = false;
  tell({ kind: "charts", charts: found.charts, key, whole: true });
  if (latest !== rows || final) tell({ kind: "rows", rows: final ?? latest });
}

// Where a curve takes long, charts that need none come with the final answer, and its rows.
let final = null;     // those rows
let finished = null;  // those charts, and their attack
let uncharted = "";   // the attack that has no curve, so that these are all
function drawFinal() {
  if (!finished || finished.key === drawn) return;
  const whole = finished.key === uncharted;
  if (whole) drawn = finished.key;
  tell({ kind: "charts", ...finished, whole });
}

// A risk profile has charts of its own: they follow when the drag is over.
let profile = "";
function again() {
  const now = JSON.stringify(store.get().risk || null);
  if (now !== profile) { profile = now; redraw(); }
}

function redraw() { outdated = true; coming = null; asked = Math.min(asked, wanted - 1); quick(); }

export function attackOf(state) {
  const { advantage, posterior, odds, ...attacker } = state.attacker || {};
  const names = [advantage, posterior, odds].map((v) => v !== undefined);
  const { accuracy, risk, labels, ...rest } = state;
  const targets = Object.keys(accuracy || {});
  return JSON.stringify({ ...rest, attacker, names, targets, risk: Boolean(risk) });
}

// The curve of an attack is made once it stands still; one that is no longer wanted is given up. One that takes long can be
// looked at before it is done, and is drawn again when it is.
let making = null;
let still;
function watch() {
  clearTimeout(still);
  still = setTimeout(make, 250);
}

async function make() {
  const key = attackOf(store.get());
  if (making?.key === key) return;
  making?.job.stop();
  let told = 0;
  const progress = (share) => {
    if (making !== mine || share <= told) return;
    told = share;
    tell({ kind: "curve", share });
    if (drawn !== key && coming?.key !== key) quick();
  };
  const mine = { key, job: work("beliefs", store.get(), { progress }) };
  making = mine;
  let made = true;
  try { await mine.job.done; } catch { made = false; /* then the exact answer says why */ }
  if (making !== mine) return;
  making = null;
  if (told || !made) tell({ kind: "curve", share: 1 });
  if (made) if (told) redraw(); else quick();
}

let timer;
function later() {
  clearTimeout(timer);
  timer = setTimeout(exact, 180);
}

function give({ charts: drawings, rows, ...outcome }, key) {
  final = rows ?? null;
  finished = drawings ? { charts: drawings, key } : null;
  tell({ kind: "exact", outcome });
  drawFinal();
  if (rows) tell({ kind: "rows", rows });
  again();
}

export async function exact() {
  if (exactBusy) return;
  const turn = wanted;
  const key = attackOf(store.get());
  exactBusy = work("outcome", store.get());
  tell({ kind: "working" });
  const patience = setInterval(() => tell({ kind: "slow", stop: exactBusy?.stop }), 4000);
  try {
    const outcome = await exactBusy.done;
    if (turn === wanted) { settled = turn; give(outcome, key); }
  } catch (error) {
    if (turn === wanted && error instanceof Refused) tell({ kind: "refused", error: error.error });
  } finally {
    clearInterval(patience);
    exactBusy = null;
    if (turn !== wanted) later();
  }
}
