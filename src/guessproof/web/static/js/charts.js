// A chart is drawn once; then only its rows change. Beside each one: its values as a table, and a download.
import { expressionInterpreter } from "../vendor/vega-interpreter.js";
import { el, fill } from "./dom.js";
import { config, dark, painted, tinted } from "./theme.js";

const MOST_ROWS = 60;
const WORDS = {
  epsilon: "ε", gain: "advantage, at most", belief: "belief after, at most", reached: "an attack reaches", x: "value", inside: "right guess", z: "noise", error: "error, ±",
  from: "from ε", to: "to ε", what: "limit", words: "allows", how: "because", fits: "all fit together", share: "believed", height: "as likely as the most likely", x2: "… to", y: "other value", y2: "… to",
};
const UNSAID = new Set(["colour", "piece"]);

export class Chart {
  constructor(name, title, { legend = [], note = "", listed = null, words = {} } = {}) {
    this.name = name;
    this.listed = listed; // whose rows are the table
    this.words = { ...WORDS, ...words };
    this.title = title;
    this.rows = {};
    this.spec = null;
    this.view = null;
    this.drawing = Promise.resolve();
    this.picture = el("div", { class: "picture", role: "img", "aria-label": title });
    this.table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Values of: ${title}` });
    this.details = el("details", {}, el("summary", {}, "Values as a table"), this.table);
    this.details.addEventListener("toggle", () => this.list());
    this.coming = el("div", { class: "coming hint", hidden: true }, this.awaited = el("p", {}), this.share = el("progress", { max: 1, "aria-label": `${title}: how far it is` }));
    this.extra = el("div", { class: "extra" });
    this.node = el("figure", { class: "chart", id: `chart-${name}`, hidden: true },
      el("header", {}, this.heading = el("h3", {}, title)),
      this.legend = el("p", { class: "legend" }),
      this.coming, this.picture, this.extra,
      this.note = el("p", { class: "hint", hidden: !note }, note),
      this.footer = el("footer", {}, this.details, this.button("SVG"), this.button("PNG")));
    this.explain(legend);
    // What cannot be seen is drawn when it comes into view.
    this.seen = true;
    this.stale = false;
    new IntersectionObserver(([entry]) => { this.seen = entry.isIntersecting; if (this.seen && this.stale) this.update({}); }, { rootMargin: "100px" }).observe(this.node);
    dark.addEventListener("change", () => { if (this.spec) this.draw({ spec: this.spec, rows: this.rows }); });
  }

  explain(legend) { fill(this.legend, legend.map(([kind, words]) => el("span", { class: `key ${kind}`, "data-words": words }, words))); }

  // Another title for another picture.
  call(title) {
    this.title = this.heading.textContent = title;
    this.picture.setAttribute("aria-label", title);
    this.table.setAttribute("aria-label", `Values of: ${title}`);
  }

  // What is not there yet is said in its place, with how far it is where that is known.
  expect(words, share) {
    if (!words && !this.spec) this.hide();
    this.coming.hidden = !words;
    if (!words) return;
    if (this.awaited.textContent !== words) this.awaited.textContent = words;
    this.share.hidden = share === undefined;
    if (share !== undefined) this.share.value = share;
    this.node.hidden = false;
    this.node.classList.toggle("empty-chart", !this.spec);
  }

  // Words of the legend that hold for this picture.
  keys(shown) {
    for (const key of this.legend.children) if (key.dataset.words in shown) key.hidden = !shown[key.dataset.words];
  }

  pale(yes) { this.picture.classList.toggle("pale", yes); }

  button(form) {
    return el("button", { type: "button", class: "link", "aria-label": `Download ${this.title} as ${form}`, on: { click: () => this.download(form) } }, form);
  }

  draw({ spec, rows, title, note }) {
    this.spec = spec;
    this.rows = { ...rows };
    this.node.hidden = false;
    this.node.classList.remove("empty-chart");
    this.coming.hidden = true;
    if (title) this.call(title);
    if (note !== undefined) { this.note.textContent = note; this.note.hidden = !note; }
    this.drop();
    this.drawing = this.drawing.then(() => this.embed()).catch((error) => { fill(this.picture, el("p", { class: "empty" }, "This chart could not be drawn.")); console.error(error); });
    this.list();
    return this.drawing;
  }

  drop() { this.view?.finalize(); this.view = null; }

  async embed() {
    this.drop();
    this.stale = false;
    const datasets = Object.fromEntries(Object.entries(this.rows).map(([name, rows]) => [name, rows.map(tinted)]));
    const named = { ...painted(this.spec), datasets };
    const result = await window.vegaEmbed(this.picture, named, {
      mode: "vega-lite", ast: true, expr: expressionInterpreter, actions: false, logLevel: window.vega.Error, renderer: "canvas", defaultStyle: false,
      config: config(), tooltip: { disableDefaultStyle: true, theme: "custom" }, loader: { load: () => Promise.reject(new Error("nothing is loaded")) },
    });
    this.view = result.view;
    if (this.stale) await this.update({}); // other rows came while it was drawn
  }

  // Other rows for the same drawing.
  update(rows) {
    Object.assign(this.rows, rows);
    if (!this.view) { this.stale = true; return this.drawing; }
    if (!this.seen) { this.stale = true; return null; }
    const changed = this.stale ? this.rows : rows;
    this.stale = false;
    for (const [name, values] of Object.entries(changed)) {
      try { refill(this.view, name, values); } catch { /* a dataset that this drawing does not show */ }
    }
    if (this.details.open) this.list();
    return this.view.runAsync();
  }

  hide() { this.node.hidden = true; this.spec = null; this.of = null; this.drop(); }

  list() {
    if (!this.details.open) return;
    const width = (found) => Object.keys(found[0] || {}).length; // of two equally long ones, the one that says more
    const [longest] = Object.values(this.rows).sort((a, b) => b.length - a.length || width(b) - width(a)).concat([[]]);
    const rows = this.rows[this.listed] || longest;
    const keys = Object.keys(rows[0] || {}).filter((key) => !UNSAID.has(key));
    const step = Math.max(1, Math.ceil(rows.length / MOST_ROWS));
    const shown = rows.filter((_, i) => i % step === 0);
    fill(this.table, el("table", {}, el("thead", {}, el("tr", {}, keys.map((k) => el("th", { scope: "col" }, this.words[k] || k)))),
      el("tbody", {}, shown.map((row) => el("tr", {}, keys.map((k) => el("td", {}, spell(row[k]))))))));
  }

  async download(form) {
    if (!this.view) return;
    const address = form === "PNG" ? await this.view.toImageURL("png", 2)
      : URL.createObjectURL(new Blob([await this.view.toSVG()], { type: "image/svg+xml" }));
    el("a", { href: address, download: `${this.name}.${form.toLowerCase()}` }).click();
  }
}

// The rows that the drawing holds are changed, and only what is more or less comes or goes. New ones cost more to draw,
// and Vega keeps a note of every row that it ever held: in a long drag those would fill the memory.
function refill(view, name, values) {
  const held = view.data(name);
  const fields = Object.keys(values[0] || {});
  const change = window.vega.changeset();
  const shared = held.length && fields.every((field) => field in held[0]) ? Math.min(held.length, values.length) : 0;
  const places = new Map(held.slice(0, shared).map((row, i) => [row, values[i]]));
  for (const field of fields) {
    if ([...places].some(([row, value]) => row[field] !== value[field])) change.modify((row) => places.has(row), field, (row) => places.get(row)[field]);
  }
  view.change(name, change.remove(held.slice(shared)).insert(values.slice(shared).map(tinted)));
}

export function spell(value) {
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5)));
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null || value === undefined ? "" : String(value);
}
