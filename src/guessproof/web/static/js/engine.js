// Answers: certified ones from a curve at once, the exact one when it is ready. One request of each kind at a time;
// the latest state always gets its answer.
import { post, work, Refused } from "./api.js";
import * as store from "./store.js";

const listeners = new Set();
export const onAnswer = (run) => listeners.add(run);
const tell = (answer) => Promise.all([...listeners].map((run) => run(answer)));

let wanted = 0;      // how many changes there were
let answered = -1;   // the change that the quick answer belongs to
let settled = -1;    // the change that the exact answer belongs to
let quickBusy = false;
let exactBusy = null;
let drawn = "";      // the attack whose charts are drawn

export const painted = () => answered;
export const drawnAttack = () => drawn;

export function changed() {
  wanted += 1;
  document.body.dataset.asked = String(wanted);
  quick();
  later();
}

async function quick() {
  if (quickBusy) return;
  quickBusy = true;
  try {
    while (answered < wanted) {
      const turn = wanted;
      const state = store.get();
      const found = await post("/live", { state });
      if (!found.ready) { if (settled < wanted) tell({ kind: "waiting" }); watch(); return; }
      answered = turn;
      if (settled < turn) await tell({ kind: "quick", outcome: found.outcome, rows: found.rows });
      else await tell({ kind: "rows", rows: found.rows });
      document.body.dataset.answered = String(turn); // everything is drawn
      await charts(state);
    }
  } catch (error) {
    if (error instanceof Refused) { answered = wanted; tell({ kind: "refused", error: error.error }); }
  } finally {
    quickBusy = false;
  }
}

// The charts of one attack are drawn once.
async function charts(state) {
  const key = attackOf(state);
  if (key === drawn) return;
  const found = await post("/charts", { state });
  if (!found.ready) return;
  drawn = key;
  tell({ kind: "charts", charts: found.charts });
}

// A risk profile has charts of its own: they follow when the drag is over.
let profile = "";
function again() {
  const now = JSON.stringify(store.get().risk || null);
  if (now !== profile) { profile = now; drawn = ""; answered = Math.min(answered, wanted - 1); quick(); }
}

export function attackOf(state) {
  const { advantage, posterior, odds, ...attacker } = state.attacker || {};
  const names = [advantage, posterior, odds].map((v) => v !== undefined);
  const { accuracy, risk, labels, ...rest } = state;
  const targets = Object.keys(accuracy || {});
  return JSON.stringify({ ...rest, attacker, names, targets, risk: Boolean(risk), release: (state.release || {}).mechanism });
}

// The curve of an attack is made once it stands still; one that is no longer wanted is given up.
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
  const mine = { key, job: work("beliefs", store.get()) };
  making = mine;
  let made = true;
  try { await mine.job.done; } catch { made = false; /* then the exact answer says why */ }
  if (making !== mine) return;
  making = null;
  if (made) quick();
}

let timer;
function later() {
  clearTimeout(timer);
  timer = setTimeout(exact, 180);
}

export async function exact() {
  if (exactBusy) return;
  const turn = wanted;
  exactBusy = work("outcome", store.get());
  tell({ kind: "working" });
  const slow = setInterval(() => tell({ kind: "slow", stop: exactBusy?.stop }), 4000);
  try {
    const outcome = await exactBusy.done;
    if (turn === wanted) { settled = turn; tell({ kind: "exact", outcome }); again(); }
  } catch (error) {
    if (turn === wanted && error instanceof Refused) tell({ kind: "refused", error: error.error });
  } finally {
    clearInterval(slow);
    exactBusy = null;
    if (turn !== wanted) later();
  }
}
