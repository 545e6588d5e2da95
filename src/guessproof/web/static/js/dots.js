// A hundred guesses: how many are right today, and at most after the release.
import { el, name, say, svg } from "./dom.js";

const COLUMNS = 20, COUNT = 100, SIZE = 10;

function dotted() {
  const drawing = svg("svg", { viewBox: `0 0 ${COLUMNS * SIZE} ${(COUNT / COLUMNS) * SIZE}`, role: "img" });
  for (let i = 0; i < COUNT; i += 1) drawing.append(svg("circle", { cx: (i % COLUMNS) * SIZE + SIZE / 2, cy: Math.floor(i / COLUMNS) * SIZE + SIZE / 2, r: 3.7 }));
  return drawing;
}

// Dots are made once; a drag only colours them.
function paint(figure, title, count, { base, was, now }) {
  const [caption, drawing] = figure.children;
  const of = `${count.toLocaleString("en")} of ${base.toLocaleString("en")}`;
  say(caption.firstElementChild, of);
  name(drawing, "aria-label", `${title} ${count} of ${base.toLocaleString("en")} guesses are right`);
  const share = base / COUNT;
  const [old, more] = [Math.round(Math.min(was, now) / share), Math.ceil(now / share)];
  for (let i = 0; i < COUNT; i += 1) name(drawing.children[i], "class", i < old ? "was" : i < more ? "more" : "rest");
}

export function dots({ base, before, after }, held = null) {
  const pictures = [...(before === null ? [] : [["Today:", before, { base, was: before, now: before }]]), ["After: at most", after, { base, was: before ?? 0, now: after }]];
  const node = held?.children.length === pictures.length ? held
    : el("div", { class: "dots" }, pictures.map(([title]) => el("figure", {}, el("figcaption", {}, `${title} `, el("b", {})), dotted())));
  pictures.forEach(([title, count, shares], i) => paint(node.children[i], title, count, shares));
  return node;
}
