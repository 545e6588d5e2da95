// What somebody believes before and after one output. Bayes' rule on the grid of the drawn density.

export function after(before, slope, output) {
  if (!before.length || !(slope > 0)) return before;
  const weighed = before.map(({ x, density, inside }) => ({ x, density: density * Math.exp(-slope * Math.abs(x - output)), inside }));
  const total = area(weighed) || 1;
  return weighed.map((row) => ({ ...row, density: row.density / total }));
}

// The goal's edges are points of the grid, so that no part of it is lost.
const area = (rows, counts = () => true) => rows.slice(1).reduce((sum, row, i) => sum + (counts(rows[i], row) ? (row.x - rows[i].x) * (row.density + rows[i].density) / 2 : 0), 0);

export const belief = (rows) => area(rows, (a, b) => a.inside && b.inside) / (area(rows) || 1);

// One value of the density, and noise of the same law as the release: for the game, where nobody is real.
export function drawn(rows) {
  let rest = Math.random() * area(rows);
  for (let i = 1; i < rows.length; i += 1) {
    const part = area([rows[i - 1], rows[i]]);
    if (rest <= part) return rows[i - 1].x + (part ? rest / part : 0) * (rows[i].x - rows[i - 1].x);
    rest -= part;
  }
  return rows[rows.length - 1].x;
}

export function laplace(scale) {
  const u = Math.random() - 0.5;
  return -scale * Math.sign(u) * Math.log(1 - 2 * Math.abs(u) || Number.MIN_VALUE);
}
