// What somebody believes before and after one output. Bayes' rule on the grid of the drawn density.

export function after(before, slope, output) {
  if (!before.length || !(slope > 0)) return before;
  const weights = before.map(({ x, density }) => density * Math.exp(-slope * Math.abs(x - output)));
  const step = before.length > 1 ? before[1].x - before[0].x : 1;
  const total = weights.reduce((sum, w) => sum + w, 0) * step || 1;
  return before.map(({ x, inside }, i) => ({ x, density: weights[i] / total, inside }));
}

export function belief(rows) {
  const total = rows.reduce((sum, r) => sum + r.density, 0) || 1;
  return rows.filter((r) => r.inside).reduce((sum, r) => sum + r.density, 0) / total;
}

// One value of the density, and noise of the same law as the release: for the game, where nobody is real.
export function drawn(rows) {
  let rest = Math.random() * rows.reduce((sum, r) => sum + r.density, 0);
  for (const row of rows) { rest -= row.density; if (rest <= 0) return row.x; }
  return rows[rows.length - 1].x;
}

export function laplace(scale) {
  const u = Math.random() - 0.5;
  return -scale * Math.sign(u) * Math.log(1 - 2 * Math.abs(u) || Number.MIN_VALUE);
}
