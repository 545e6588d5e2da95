// The table: a file of the folder, an upload, or a connection. Names and kinds of columns are shown, never a value.
import { call, post, Refused } from "../api.js";
import { at, el, field, fill, heading, warn } from "../dom.js";
import * as goal from "../goal.js";
import { number } from "../numbers.js";
import * as store from "../store.js";

let choices = { tables: [], connections: [] };
let columns = null; // of the table that is open
let header = false; // whether its owner said that the first line holds names
let shape = "";
export const shownColumns = () => columns;

export async function mount(start) {
  choices = { tables: start.tables, connections: [] };
  at("data").hidden = false;
  store.subscribe(refresh);
  try { choices = await call("GET", "/tables"); shape = ""; refresh(store.get()); } catch { /* the list of the start remains */ }
}

function refresh(state) {
  const now = JSON.stringify([state.data?.source, state.data?.protects, state.data?.table, Object.keys(state.columns || {}), columns, choices]);
  if (now !== shape) { shape = now; draw(state); }
  const rows = at("data-rows");
  if (rows && document.activeElement !== rows) rows.value = state.data?.rows ?? "";
}

function draw(state) {
  const opened = state.data?.source;
  const names = [...choices.tables.map((t) => t.name), ...(choices.connections || [])];
  const pick = el("select", { id: "pick-table", on: { change: (event) => event.target.value && open(event.target.value) } },
    el("option", { value: "" }, names.length ? "choose a table …" : "no table in this folder"),
    [...new Set([...names, ...(opened ? [opened] : [])])].map((name) => el("option", { value: name, selected: name === opened }, name)));
  const upload = el("input", { type: "file", id: "upload", class: "hidden-file", accept: ".csv,.tsv,.gz,.parquet", on: { change: send } });
  fill(at("data"), heading("data-title", true, "The data", opened ? el("button", { type: "button", class: "link", id: "leave-data", on: { click: leave } }, "Work without data") : null),
    el("div", { class: "stack" },
      el("p", { class: "hint" }, opened ? "Only names and kinds of columns are read before a release is charged." : "Optional. Without data this page is a calculator."),
      el("div", { class: "row" }, field("Table", pick, { wide: true }), el("label", { class: "button", for: "upload" }, "Upload"), upload),
      opened ? about(state) : null));
}

function about(state) {
  const kinds = Object.entries(columns || {});
  const protects = el("select", { id: "protects", on: { change: (event) => store.set(["data", "protects"], event.target.value) } },
    [["values", "values of a person"], ["records", "being in the table"], ["persons", "all rows of a person"]].map(([value, words]) => el("option", { value, selected: value === state.data.protects }, words)));
  const rows = el("input", { type: "number", min: 1, step: 1, id: "data-rows", on: { change: (event) => store.set(["data", "rows"], number(event.target.value)) } });
  const text = (key, label) => field(label, el("input", { class: "plain", value: state.data[key] ?? "", size: 10, on: { change: (event) => store.set(["data", key], key === "max_rows" ? number(event.target.value) : event.target.value.trim()) } }));
  return el("div", { class: "stack" },
    columns === null && !header ? el("div", { class: "row" }, el("button", { type: "button", id: "show-columns", on: { click: () => look(state.data.source, true) } }, "The first line holds names: show them")) : null,
    kinds.length ? el("div", { class: "chips", role: "group", "aria-label": "Columns" }, kinds.map(([name, kind]) => chip(state, name, kind))) : null,
    el("div", { class: "row" }, field("Protected", protects),
      state.data.protects === "values" ? field("Rows, at least (public)", rows) : null,
      state.data.protects === "persons" ? [text("person", "Column of the person"), text("max_rows", "Rows a person, at most")] : null));
}

function chip(state, name, kind) {
  const used = Boolean(state.columns?.[name]);
  return el("button", { type: "button", class: "chip", "aria-pressed": String(used), "data-chip": name, title: used ? "declared" : "declare this column", on: { click: () => declare(name, kind) } }, name, " ", el("small", {}, kind));
}

function declare(name, kind) {
  if (store.read("columns", name)) return;
  const next = structuredClone(store.get());
  const named = kind === "text" || kind === "boolean";
  next.columns = { ...next.columns, [name]: named ? { prior: { categorical: { yes: 0.5, no: 0.5 } } } : { bounds: [0, 100], prior: { normal: { mean: 50, sd: 15 } } } };
  if (!next.attacker?.goal) next.attacker = { ...next.attacker, goal: goal.spell({ join: "and", parts: [{ column: name, how: named ? "exactly" : "within", size: 2 }] }), advantage: next.attacker?.advantage ?? 0.05 };
  if (!next.query?.sql) next.query = { sql: `SELECT ${named ? "COUNT(*) AS n" : `AVG(${name}) AS mean_${name}`} FROM ${next.data.table || "t"}${named ? ` WHERE ${name} = 'yes'` : ""}` };
  store.replace(next);
}

async function look(source, named, table) {
  try {
    const found = await post("/tables/columns", { source, named, ...(table ? { table } : {}) });
    header = named;
    columns = found.needs_header ? null : found.columns;
    warn("");
    shape = ""; refresh(store.get());
    return found;
  } catch (error) { warn(error instanceof Refused ? error.error.message : "the table could not be opened"); return null; }
}

async function open(source, named = false) {
  header = false;
  const found = await look(source, named);
  if (!found) { shape = ""; refresh(store.get()); return; }
  const before = store.get();
  const known = Object.fromEntries(Object.entries(before.columns || {}).filter(([name]) => found.columns[name] !== undefined));
  const next = { ...structuredClone(before), data: { name: source.replace(/^env:/, "").replace(/\..*$/, ""), source, table: found.table, protects: "values", ...(before.data?.rows ? { rows: before.data.rows } : {}) } };
  if (!found.needs_header) {
    next.columns = known;
    if (!Object.keys(known).length) delete next.attacker;
  }
  next.query = before.query || { sql: defaultSql(next) };
  next.release = { ledger: "guessproof.ledger", ...before.release };
  store.replace(next);
}

const defaultSql = (state) => {
  const [name] = Object.keys(state.columns || {});
  return name ? `SELECT AVG(${name}) AS mean_${name} FROM ${state.data.table}` : `SELECT COUNT(*) AS n FROM ${state.data.table}`;
};

async function send(event) {
  const [file] = event.target.files;
  event.target.value = "";
  if (!file) return;
  try {
    const { name } = await call("POST", "/uploads", file, { raw: true, headers: { "X-File-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" } });
    choices = await call("GET", "/tables");
    await open(name);
  } catch (error) { warn(error instanceof Refused ? error.error.message : "the file could not be sent"); }
}

function leave() {
  const { columns: kept, attacker } = structuredClone(store.get());
  columns = null;
  header = false;
  store.replace({ columns: kept || {}, ...(attacker ? { attacker } : {}) });
}
