// The state is a plan: tables and keys as in plan.toml. Every change goes through here, and can be undone.
import { call } from "./api.js";

const listeners = new Set();
let state = {};
let past = [];
let future = [];
let dragging = null;
let saving;

export const get = () => state;
export const subscribe = (run) => { listeners.add(run); return () => listeners.delete(run); };
export const hasData = () => Boolean(state.data || state.query || state.queries);

export function read(...path) {
  return path.reduce((value, key) => (value === undefined || value === null ? undefined : value[key]), state);
}

// One value. A drag counts as one step for undo: `drag` names it while it lasts.
export function set(path, value, { drag = null } = {}) {
  const next = structuredClone(state);
  let place = next;
  for (const key of path.slice(0, -1)) place = place[key] = typeof place[key] === "object" && place[key] !== null ? place[key] : {};
  const key = path[path.length - 1];
  if (value === undefined || value === null || value === "") delete place[key]; else place[key] = value;
  prune(next);
  replace(next, { drag, changed: path });
}

export function replace(next, { drag = null, changed = [] } = {}) {
  if (JSON.stringify(next) === JSON.stringify(state)) return;
  if (drag === null || drag !== dragging) { past.push(state); future = []; }
  if (past.length > 200) past.shift();
  dragging = drag;
  state = next;
  tell(changed);
}

export function undo() { if (past.length) { future.push(state); state = past.pop(); dragging = null; tell([]); } }
export function redo() { if (future.length) { past.push(state); state = future.pop(); dragging = null; tell([]); } }
export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;
export function endDrag() { dragging = null; }

export function begin(first) { state = first; past = []; future = []; tell([]); }

function tell(changed) {
  for (const run of listeners) run(state, changed);
  clearTimeout(saving);
  saving = setTimeout(() => call("PUT", "/state", { state }).catch(() => {}), 250);
}

// Tables that hold nothing say nothing.
function prune(tables) {
  for (const [key, value] of Object.entries(tables)) {
    if (value && typeof value === "object" && !Array.isArray(value) && !Object.keys(value).length && !["columns"].includes(key)) delete tables[key];
  }
}
