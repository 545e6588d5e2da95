// The charts are defined once, for paper; here they take the colours of the page.

const NAMES = {
  "#1f3a5f": "--chart-ink", "#24313d": "--chart-ink", "#4f78ad": "--chart-ink", "#8a94a3": "--chart-quiet", "#5b6773": "--chart-quiet",
  "#2a9d8f": "--chart-safe", "#1b6b63": "--chart-safe", "#c8553d": "--chart-alarm", "#d1495b": "--chart-alarm",
  "#a33b20": "--chart-alarm", "#d9dfe3": "--line", "#e9ecf0": "--line", "#cfe5e1": "--tint",
};

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function painted(spec) {
  const known = Object.fromEntries(Object.entries(NAMES).map(([paper, name]) => [paper, colour(name)]));
  const walk = (value) => {
    if (typeof value === "string") return known[value] ?? value;
    if (Array.isArray(value)) return value.map(walk);
    return value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, walk(v)])) : value;
  };
  return walk(spec);
}

// A copy of a row; the colours of a map are mixed for paper, and here from those of the page.
export function tinted(row) {
  if (row.colour === undefined || row.height === undefined) return { ...row };
  const shade = mixed(colour("--card"), colour("--chart-ink"), 0.75 * row.height);
  return { ...row, colour: row.inside ? mixed(shade, colour("--chart-alarm"), 0.45) : shade };
}

const parts = (hex) => [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
function mixed(one, other, share) {
  const [a, b] = [parts(one), parts(other)];
  return `#${a.map((v, i) => Math.round(v + share * (b[i] - v)).toString(16).padStart(2, "0")).join("")}`;
}

export function config() {
  const quiet = colour("--chart-quiet"), ink = colour("--ink"), grid = colour("--chart-grid"), line = colour("--line");
  return {
    background: null,
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: { labelColor: quiet, titleColor: quiet, titleFontWeight: "normal", labelFontSize: 12, titleFontSize: 12, gridColor: grid, domainColor: line, tickColor: line },
    legend: { labelColor: quiet, titleColor: quiet },
    title: { color: ink, subtitleColor: quiet, anchor: "start", fontSize: 13 },
  };
}

export const dark = matchMedia("(prefers-color-scheme: dark)");
