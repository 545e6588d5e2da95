"""Between two true values: what both give bounds all between them, by a straight line and a parabola.

For one likelihood L with Z = ∫Lf, the belief in G(t) rises by ∫_{G(t)} f·(L/Z − 1). Where both edges of the goal move
evenly its second derivative in t is hi'²·w'(hi) − lo'²·w'(lo) with w = f·(L/Z − 1), and as L rises and falls by no more
than εψ' times itself,

    w' = f'·(L/Z − 1) + f·L'/Z,     |f·L'/Z| ≤ εψ'·f·L/Z.

So it is at least −M for all L = tents whose peaks lie between those of the two ends, among them the best one of every t
between: their L/Z at the edges is enclosed as for the derivative (`truth_ends`). A supremum of functions which become
convex when M·t²/2 is added becomes convex too: it lies at most M·(t−t₁)(t₂−t)/2 above the straight line through what
t₁ and t₂ give. For a fall all signs turn, and |L'| is bounded by the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from guessproof.risk.truth_ends import Ends, ratios_at_edges
from guessproof.risk.truth_search import Direction, Range, TruthSearch
from guessproof.world.checks import Array


def chord_bound(goal: TruthSearch, left: Ends, right: Ends, epsilon: ArrayLike, direction: Direction) -> Array:
    """What no true value between two exceeds; inf where the density jumps between them, or its slope is not known."""
    if goal.form.step:  # it bends what a belief without it would be
        return np.full(left.t.shape, np.inf)
    with np.errstate(all="ignore"):
        width = right.t - left.t
        bent = 0.5 * np.square(width) * most_bent(goal, left, right, epsilon, direction)
        climb = right.bound - left.bound
        share = np.clip(0.5 + 0.5 * climb / bent, 0.0, 1.0)
        found = left.bound + share * climb + share * (1 - share) * bent
        found = np.where(bent <= 0, np.maximum(left.bound, right.bound), found)  # not where nobody knows
    return np.where(np.isnan(found), np.inf, found)


def most_bent(goal: TruthSearch, left: Ends, right: Ends, epsilon: ArrayLike, direction: Direction) -> Array:
    """M: how fast, at most, the slope of what an attacker gets from one likelihood falls between two true values."""
    sign, width = (-1 if direction == "fall" else 1), right.t - left.t
    before = 0.0 if direction == "posterior" else 1.0
    (lo1, hi1), (lo2, hi2) = goal.edges(left.t), goal.edges(right.t)
    found = np.zeros(left.t.shape)
    ratios = ratios_at_edges(goal, left, right, epsilon, direction)
    for side, (a, b), ratio in zip((-1, 1), ((lo1, lo2), (hi1, hi2)), ratios, strict=True):
        slopes, densest = goal.prior.density_slopes(a, b), goal.prior.density_range(a, b)[1]
        turned = slopes if sign == side else (-slopes[1], -slopes[0])
        least = _least_product(turned, (ratio[0] - before, ratio[1] - before))
        steep = np.asarray(epsilon) * steepest(goal, a, b) * densest * ratio[1]
        some = densest > 0  # where nothing flows in, nothing bends
        found += np.where(some, np.square((b - a) / width) * (steep - least), 0.0)
    return found


def _least_product(x: Range, y: Range) -> Array:
    return np.min([a * b for a in x for b in y], axis=0)


def steepest(goal: TruthSearch, a: Array, b: Array) -> Array:
    """The largest slope of ψ between a and b; inf where it jumps there."""
    form = goal.form
    found = np.zeros(a.shape)
    for slope, start, end in zip(form.slopes, *form.ends, strict=True):
        found = np.where((a < end) & (b > start), np.maximum(found, slope), found)
    for cut, jump in zip(form.cuts, form.jumps, strict=True):
        found = np.where((a < cut) & (cut < b), np.inf, found) if jump else found
    return found
