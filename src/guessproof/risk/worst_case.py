"""The worst true value: a supremum over t, certified by branch and bound.

Boxes of true values (`truth_ends`) whose bound cannot beat the best t found so far are dropped, others halved; what
lies beyond all of them on an infinite side has a bound of its own (`truth_search`).
"""

from __future__ import annotations

import numpy as np

from guessproof.risk.tent import log_prior
from guessproof.risk.truth_ends import Ends, Worst, box_bound, in_tails, slope_range
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.world.checks import Array

_BOXES = 600_000  # asked in all; a narrow goal needs as many as go into the range of true values
_PATIENCE = ((150_000, 1e-6), (250_000, 1e-4), (400_000, 1e-3))  # after so many boxes, which share may be left open
_MOST_KINKS = 40  # a histogram of more intervals is cut at its quantiles only
_PARTS, _AT_ONCE = 16, 1024  # into how many parts a box is cut at most, and about how many points are asked at once
_CLOSE = np.geomspace(1e-5, 1.0, 96)  # in how many steps boxes narrow towards where the worst value seems to lie
_ZOOMS, _CLOSER = 3, 128  # looks for a worst value, and points of each: long questions cost little


def worst_true_value(goal: TruthSearch, epsilon: float, direction: Direction, near: float | None = None) -> Worst:
    """The supremum over true values, to an absolute tolerance unless the box limit is reached first.

    `near` is where it seems to lie: boxes are narrow there from the start.
    """
    if epsilon == 0 and direction != "posterior":
        middle = np.clip(goal.prior.quantile(0.5), goal.low, goal.high)
        return Worst(float(middle), 0.0, 0.0, float(goal.prior.mass(*goal.edges(middle))))
    low, high, beyond = goal.tails(epsilon, direction)
    tolerance = 1e-10 if goal.sharp else 1e-3
    points = first_points(goal, low, high)
    if near is not None:
        points = np.union1d(points, _around(near, points))
    ends = _first_ends(goal, points, epsilon, direction)
    left, right = ends.pick(slice(None, -1)), ends.pick(slice(1, None))
    best, settled = ends.best(), beyond
    if beyond > best.value:  # a supremum at infinity is approached slowly
        tolerance = max(tolerance, 1e-9)
    asked = 0
    for _ in range(70):
        some = goal.prior.mass(left.t, right.t) > 0  # a true value has to be possible
        left, right = left.pick(some), right.pick(some)
        low_slope, high_slope = slope_range(goal, left, right, epsilon, direction)
        one_end = (low_slope >= 0) | (high_slope <= 0)
        settled = max(settled, float(np.max(np.maximum(left.bound, right.bound)[one_end], initial=0.0)))
        left, right = left.pick(~one_end), right.pick(~one_end)
        if left.t.size == 0:
            break
        asked += left.t.size
        share = max((share for boxes, share in _PATIENCE if asked > boxes), default=0.0)
        tolerance = max(tolerance, share * best.value)
        enough = max(best.value, settled) + tolerance
        out_there = in_tails(goal, left, right, direction)
        done = out_there <= max(best.value, beyond) + tolerance
        settled = max(settled, float(np.max(out_there[done], initial=0.0)))
        left, right, slopes = left.pick(~done), right.pick(~done), [s[~one_end][~done] for s in (low_slope, high_slope)]
        bound = box_bound(goal, left, right, *slopes, epsilon, direction, enough)
        keep = bound > enough
        settled = max(settled, float(np.max(bound[~keep], initial=0.0)))
        left, right = left.pick(keep), right.pick(keep)
        if left.t.size == 0:
            break
        if asked > _BOXES or np.all(np.nextafter(left.t, np.inf) >= right.t):
            settled = max(settled, float(np.max(bound[keep])))
            break
        left, right, inner = _split(goal, left, right, epsilon, direction)
        best = max(best, inner.best(), key=lambda w: w.value)
    return Worst(best.at, best.value, max(settled, best.bound), best.prior)


def _first_ends(goal: TruthSearch, points: Array, epsilon: float, direction: Direction) -> Ends:
    """What the ends of the first boxes give: how far a belief rises and how high it gets come from the same tents."""
    known = goal.last_tents.get("tents")
    if known is None or direction == "fall" or known[0] != epsilon or not np.array_equal(known[1], points):
        edges = goal.edges(points)
        before = log_prior(goal.prior, *edges)
        known = epsilon, points, before, goal.tents(*edges, epsilon, direction, before)
        if direction != "fall":
            goal.last_tents["tents"] = known
    return Ends.of(goal, points, epsilon, direction, *known[2:])


def likely_worst(goal: TruthSearch, epsilon: float, direction: Direction, near: float | None = None) -> float:
    """Where the worst true value seems to lie, or the worst one near another: a quick look, not proven."""
    low, high, _ = goal.tails(epsilon, direction)
    t, zooms, guess = first_points(goal, low, high, 24), _ZOOMS, None
    best = float(t[0])
    if near is not None:
        reach = 0.02 * (t[-1] - t[0])
        t, zooms = np.clip(near + reach * np.linspace(-1, 1, _CLOSER + 1), low, high), _ZOOMS - 1
    for _ in range(zooms):
        ends = Ends.at(goal, t, epsilon, direction, guess)
        i = int(np.argmax(ends.value))
        best, before, after = (float(t[j]) for j in (i, max(i - 1, 0), min(i + 1, t.size - 1)))
        closer = np.unique(np.append(np.linspace(before, after, _CLOSER + 1), best))
        guess = None if np.isfinite(goal.form.cap) else np.interp(closer, t, ends.peak)
        t = closer
    return best


def first_points(goal: TruthSearch, low: float, high: float, most: int = 64) -> Array:
    """Ends of the first boxes: evenly over the range, over the bulk of the prior, and where a goal bends."""
    count = most if goal.sharp else 8
    bulk = np.clip(goal.prior.quantile(np.linspace(0.001, 0.999, 2 * count + 1)), low, high)
    return np.unique(np.concatenate([np.linspace(low, high, count + 1), bulk, _kinks(goal, low, high)]))


def _around(near: float, points: Array) -> Array:
    """Points around one, the further from it the further apart, until others are as near to each other."""
    low, high = float(points[0]), float(points[-1])
    i = int(np.searchsorted(points, near))
    step = float(points[min(i + 1, points.size - 1)] - points[max(i - 2, 0)])
    away = step * _CLOSE
    around = np.concatenate([near - away, [near], near + away])
    return around[(around >= low) & (around <= high)]


def _split(goal: TruthSearch, left: Ends, right: Ends, epsilon: float, direction: Direction) -> tuple[Ends, Ends, Ends]:
    """Every box cut into equal ones (few into many, as a long question costs little more than a short one)."""
    parts = int(np.clip(_AT_ONCE // left.t.size, 2, _PARTS))
    share = (np.arange(1, parts) / parts)[:, None]
    t = (1 - share) * left.t + share * right.t
    inner = Ends.at(goal, t.ravel(), epsilon, direction, left.guess(right, share))
    return left.join(inner), inner.join(right), inner


def _kinks(goal: TruthSearch, low: float, high: float) -> Array:
    """Where the slope changes at once: 0 for a percentage, where an edge of the goal meets a break of prior or ψ."""
    known = goal.last_kinks.get((low, high))
    if known is not None:
        return known
    breaks = np.array([x for x in (*goal.prior.support, *goal.prior.breaks, *goal.form.cuts) if np.isfinite(x)])
    below, above = np.full((2, breaks.size), low), np.full((2, breaks.size), high)
    for _ in range(60 if breaks.size <= _MOST_KINKS else 0):
        middle = 0.5 * below + 0.5 * above
        edges = goal.edges(middle)
        short = np.stack([edges[0][0], edges[1][1]]) < breaks
        below, above = np.where(short, middle, below), np.where(short, above, middle)
    found = np.concatenate([below.ravel(), above.ravel(), [0.0]])
    found = found[(found > low) & (found < high)]
    if (low, high) == (goal.low, goal.high):  # the same for every ε
        goal.last_kinks[low, high] = found
    return found
