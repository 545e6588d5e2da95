"""Any goal and any metric on the line, by certified cells.

The line is cut into cells, with the goal's ends and the metric's breaks on cell edges. The unknowns are the cells'
own averages M_k = E[L | cell k], so the masses of goal and complement are exact sums. Two cells are coupled
quantile to quantile; nothing moves further than D_kk' = sup_u d(Q_k(u), Q_k'(u)), so M_k ≤ e^{D_kk'} M_k' holds for
every private likelihood: the linear program over these constraints bounds them all, to second order in the
cell size. The attack is the program's own solution, spread over the line as L(x) = max_k M_k e^{−d(x, x_k)}.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from guessproof.risk.bracket import agreed
from guessproof.risk.finite import largest_gain, solve
from guessproof.world.checks import Array
from guessproof.world.line import LinePrior, log_sum
from guessproof.world.line_form import Metric

CELLS = 120
_GRID = 16  # quantiles at which a coupling is bounded
_FINE = 24  # parts of a cell over which an attack is integrated


def cell_edges(prior: LinePrior, metric: Metric, intervals: list[tuple[float, float]], cells: int) -> Array:
    """Edges at equal widths over the bulk of the prior, with every break on an edge."""
    low, high = prior.support
    near, far = (float(q) for q in prior.quantile([1e-7, 1 - 1e-7]))
    fixed = [e for pair in intervals for e in pair] + list(metric.breaks)
    fixed = sorted({e for e in fixed if low < e < high})
    start, end = max(low, min([near, *fixed])), min(high, max([far, *fixed]))
    knots = [start, *[e for e in fixed if start < e < end], end]
    width = (end - start) / cells
    parts = [np.linspace(a, b, max(1, round((b - a) / width)) + 1)[:-1] for a, b in pairwise(knots)]
    edges = np.concatenate([*parts, [end]])
    if low < start:
        edges = np.concatenate([[low], edges])
    return np.concatenate([edges, [high]]) if high > end else edges


def cells_gain(
    prior: LinePrior, metric: Metric, intervals: list[tuple[float, float]], k: float, cells: int = CELLS
) -> tuple[float, float]:
    """(attack, bound) of the signed gain at k = ±ε."""
    if k == 0:
        return 0.0, 0.0
    edges = cell_edges(prior, metric, intervals, cells)
    left, right = edges[:-1], edges[1:]
    mass = prior.mass(left, right)
    keep = mass > 0
    left, right, mass = left[keep], right[keep], mass[keep]
    middle = _quantiles(prior, left, right, np.array([0.5]))[:, 0]
    goal = np.any([(middle >= a) & (middle <= b) for a, b in intervals], axis=0).astype(np.float64)
    if k < 0:
        goal = 1 - goal
    total = mass / mass.sum()
    distance = abs(k) * _coupled(prior, metric, left, right)
    _reach_tails(prior, metric, abs(k), left, right, distance)
    _, bound = largest_gain(total, goal, distance)
    attack, bound = agreed(_attack(prior, metric, abs(k), left, right, total, goal, middle), bound)
    return (attack, bound) if k > 0 else (-attack, -bound)


def _quantiles(prior: LinePrior, left: Array, right: Array, u: Array) -> Array:
    """The conditional quantiles of each cell, one row a cell."""
    start, size = prior.cdf(left)[:, None], prior.mass(left, right)[:, None]
    x = prior.quantile(np.clip(start + size * u, 0.0, 1.0))
    x = np.clip(x, left[:, None], right[:, None])
    inner = (u > 0) & (u < 1)
    # In a far tail 1 − u loses the digits that tell the cell's values apart: look for them by their masses.
    reached = prior.mass(left[:, None], x[:, inner])
    vague = np.flatnonzero(np.any(np.abs(reached - size * u[inner]) > 1e-9 * size, axis=1))
    if vague.size:
        x[np.ix_(vague, np.flatnonzero(inner))] = _by_mass(prior, left[vague], right[vague], u[inner])
    x[:, u == 0], x[:, u == 1] = left[:, None], right[:, None]
    return x


def _by_mass(prior: LinePrior, left: Array, right: Array, u: Array) -> Array:
    """The same for 0 < u < 1, by halving the way between two values; a cell has at most one infinite end."""
    size = prior.mass(left, right)[:, None]
    step = float(np.diff(prior.quantile([0.25, 0.75]))[0])
    low, high = (np.broadcast_to(e[:, None], (left.size, u.size)).copy() for e in (left, right))
    for _ in range(1000):
        low = np.where(np.isinf(left)[:, None], np.where(np.isinf(low), right[:, None], low) - step, low)
        high = np.where(np.isinf(right)[:, None], np.where(np.isinf(high), left[:, None], high) + step, high)
        step *= 2
        if np.all(prior.mass(low, high) >= u[-1] * size):
            break
    for _ in range(100):
        middle = 0.5 * low + 0.5 * high
        above = prior.mass(left[:, None], middle) >= u * size
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return 0.5 * low + 0.5 * high


def _coupled(prior: LinePrior, metric: Metric, left: Array, right: Array) -> Array:
    """sup_u d(Q_k(u), Q_k'(u)), bounded on a grid of u by the spread of each step."""
    q = _quantiles(prior, left, right, np.linspace(0, 1, _GRID + 1))
    n = len(left)
    worst = np.zeros((n, n))
    for i in range(_GRID):
        # Rounding in the quantiles may move a step's ends by a hair: widen it by more than that.
        with np.errstate(invalid="ignore"):  # a step that begins and ends at infinity has no width
            width = q[:, i + 1] - q[:, i]
        slack = 1e-9 * np.where(np.isfinite(width), width, 0.0)
        a, b = np.maximum(q[:, i] - slack, left), np.minimum(q[:, i + 1] + slack, right)
        with np.errstate(invalid="ignore"):
            reach = metric.spread((a[:, None], b[:, None]), (a[None, :], b[None, :]))
        worst = np.maximum(worst, np.nan_to_num(reach, nan=np.inf, posinf=np.inf))
    np.fill_diagonal(worst, 0.0)
    return np.maximum(worst, worst.T)


def _reach_tails(prior: LinePrior, metric: Metric, k: float, left: Array, right: Array, distance: Array) -> None:
    """Constraints into and out of an infinite cell through its finite edge, by the tail's exponential moments."""
    slope, offset = metric.tail
    for t, edge, sign in ((0, right[0], -1), (len(left) - 1, left[-1], +1)):
        if np.isfinite(left[t]) and np.isfinite(right[t]):
            continue
        inner = np.isfinite(left) & np.isfinite(right)
        # From just inside the tail: the edge itself may lie on the other side of a break.
        here = np.full(left.shape, np.nextafter(edge, sign * np.inf))
        to_edge = k * (metric.spread((left, right), (here, here)) + offset)
        # ln E[e^{±k·slope·|x − edge|} | tail]; infinite where the moment does not exist, which leaves the edge out.
        up, down = (
            float(
                prior.log_tilt(s * k * slope * sign, left[t], right[t], edge) - prior.log_tilt(0.0, left[t], right[t])
            )
            for s in (+1, -1)
        )
        distance[t, inner] = np.minimum(distance[t, inner], (to_edge + up)[inner])
        distance[inner, t] = np.minimum(distance[inner, t], (to_edge - down)[inner])


def _attack(
    prior: LinePrior,
    metric: Metric,
    k: float,
    left: Array,
    right: Array,
    mass: Array,
    goal: Array,
    middle: Array,
) -> float:
    """A feasible likelihood near the best, its masses bounded from the attacker's bad side."""
    points = metric.distance(middle[:, None], middle[None, :])
    log_l = solve(mass, goal, k * points)[2]
    fine = _quantiles(prior, left, right, np.linspace(0, 1, _FINE + 1))
    a, b = fine[:, :-1].ravel(), fine[:, 1:].ravel()
    part = prior.mass(a, b)
    some = part > 0
    a, b, part = a[some], b[some], part[some]
    inside = np.repeat(goal, _FINE)[some] > 0
    centre = np.where(np.isfinite(a) & np.isfinite(b), 0.5 * a + 0.5 * b, np.where(np.isfinite(a), a, b))
    value = np.max(log_l - k * metric.distance(centre[:, None], middle[None, :]), axis=1)
    with np.errstate(invalid="ignore"):
        radius = metric.spread((a, b), (centre, centre))
    radius = k * np.where(np.isnan(radius), np.inf, radius)
    low = np.where(np.isinf(radius), -np.inf, value - radius)
    high = np.minimum(value + radius, float(np.max(log_l)))
    log_part = np.log(part)
    met, missed = log_sum(log_part[inside] + low[inside]), log_sum(log_part[~inside] + high[~inside])
    return max(0.0, float(met - missed - log_sum(log_part[inside]) + log_sum(log_part[~inside])))
