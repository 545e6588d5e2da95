// A hundred guesses: how many are right today, and at most after the release.
import { el, svg } from "./dom.js";

const COLUMNS = 20, SIZE = 10;

function dotted(base, was, now, label) {
  const rows = Math.ceil(Math.min(base, 100) / COLUMNS);
  const drawing = svg("svg", { viewBox: `0 0 ${COLUMNS * SIZE} ${rows * SIZE}`, role: "img", "aria-label": label });
  const share = base / 100;
  for (let i = 0; i < 100; i += 1) {
    const kind = i < Math.round(Math.min(was, now) / share) ? "was" : i < Math.ceil(now / share) ? "more" : "rest";
    drawing.append(svg("circle", { cx: (i % COLUMNS) * SIZE + SIZE / 2, cy: Math.floor(i / COLUMNS) * SIZE + SIZE / 2, r: 3.7, class: kind }));
  }
  return drawing;
}

export function dots({ base, before, after }) {
  const of = base.toLocaleString("en");
  const figure = (title, count, was, now) => el("figure", {}, el("figcaption", {}, `${title} `, el("b", {}, `${count.toLocaleString("en")} of ${of}`)), dotted(base, was, now, `${title} ${count} of ${of} guesses are right`));
  if (before === null) return el("div", { class: "dots" }, figure("After: at most", after, 0, after));
  return el("div", { class: "dots" }, figure("Today:", before, before, before), figure("After: at most", after, before, after));
}
