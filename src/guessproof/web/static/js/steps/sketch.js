// Noise seen before it is paid for: an empty table, answered a few times.
import { post, Refused } from "../api.js";
import { spell } from "../charts.js";
import { el, fill } from "../dom.js";
import * as store from "../store.js";

export function sketch() {
  const said = el("div", { role: "status" });
  const draw = async () => {
    try {
      const { names, tables } = await post("/sketch", { state: store.get() });
      fill(said, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Noise alone" }, el("table", {},
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "noise alone"), tables.map((_, i) => el("th", { scope: "col" }, `try ${i + 1}`)))),
        el("tbody", {}, names.map((name, row) => el("tr", {}, el("td", {}, name), tables.map((table) => el("td", {}, spell(table[row])))))))));
    } catch (error) { fill(said, el("p", { class: "error" }, error instanceof Refused ? error.error.message : "no answer")); }
  };
  return el("details", { id: "sketch" }, el("summary", {}, "See the noise first"), el("div", { class: "stack" },
    el("p", { class: "hint" }, "The same noise on an empty table. The data is not opened, nothing is charged."), el("div", {}, el("button", { type: "button", id: "draw-sketch", on: { click: draw } }, "Draw it again")), said));
}
