"""Any goal and any metric on the line, by certified cells.

The line is cut into cells, with the goal's ends and the metric's breaks at their ends. M_k is the mean of a likelihood
over cell k, so the masses of goal and complement are exact sums. For ends a of cell k and b of cell k', from inside,

    M_k ≤ e^c M_k',   c = ln E_k e^{ε·d(x, a)} + ε·d(a, b) − ln E_k' e^{−ε·d(b, x)},

by the triangle inequality; and c = ε times the largest distance of the two cells will do. Cells are divided into parts,
whose masses and distances from the ends are known. The bound is the linear program over these constraints. The attack
spreads the program's solution over the line, L(x) = max_k M_k e^{−ε·d(x, x_k)}, which is private whatever M is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from guessproof.risk.bracket import agreed
from guessproof.risk.finite import solve
from guessproof.world.checks import Array
from guessproof.world.distances import Metric
from guessproof.world.line import LinePrior, log_sum
from guessproof.world.pieces import Pieces, pieces_of

CELLS = 120  # of which programs take a tenth of a second
PARTS = 64  # of a cell: distances from its ends are off by a part's width at most
FAR = 1e-7  # mass on each side that lies beyond the cells of equal width
Intervals = list[tuple[float, float]]


def cells_gain(
    prior: LinePrior, metric: Metric, intervals: Intervals, k: float
) -> tuple[float, float]:
    """(attack, bound) of the signed gain at k = ±ε."""
    if k == 0:
        return 0.0, 0.0
    cells = MetricCells.of(prior, metric, intervals)
    goal = cells.goal if k > 0 else 1 - cells.goal
    _, bound, log_means = solve(cells.mass / cells.mass.sum(), goal, cells.costs(abs(k)))
    attack, bound = agreed(cells.reached(goal, log_means, abs(k)), bound)
    return (attack, bound) if k > 0 else (-attack, -bound)


@dataclass(frozen=True, eq=False)
class MetricCells:
    """Cells with positive masses; a row of ends and masses of parts for each. An infinite cell has one part only."""

    prior: LinePrior
    metric: Metric
    mass: Array
    goal: Array
    cuts: Array
    parts: Array

    @staticmethod
    def of(prior: LinePrior, metric: Metric, intervals: Intervals) -> MetricCells:
        """Cells of about equal widths over the bulk of the prior, with every break at an end."""
        low, high = prior.support
        fixed = {end for pair in intervals for end in pair} | set(metric.breaks)
        near, far = (float(end) for end in prior.quantile([FAR, 1 - FAR]))
        knots = sorted({near, far, *(end for end in fixed if low < end < high)})
        width = (knots[-1] - knots[0]) / CELLS
        inner = [
            np.linspace(a, b, max(1, round((b - a) / width)) + 1)[:-1]
            for a, b in pairwise(knots)
        ]
        ends = np.unique(np.concatenate([[low], *inner, knots[-1:], [high]]))
        left, right = ends[:-1], ends[1:]
        some = prior.mass(left, right) > 0
        left, right = left[some], right[some]
        # Seen from inside, on the near side of breaks.
        first = np.where(np.isfinite(left), np.nextafter(left, np.inf), left)
        last = np.where(np.isfinite(right), np.nextafter(right, -np.inf), right)
        finite = np.isfinite(left) & np.isfinite(right)
        share = np.where(
            finite[:, None], np.arange(PARTS + 1) / PARTS, np.arange(PARTS + 1) > 0
        )
        with np.errstate(invalid="ignore"):
            cuts = first[:, None] + share * (last - first)[:, None]
        cuts = np.where(share == 0, first[:, None], np.where(share == 1, last[:, None], cuts))
        middle = np.where(
            finite, 0.5 * first + 0.5 * last, np.where(np.isfinite(left), first, last)
        )
        goal = np.any([(middle >= a) & (middle <= b) for a, b in intervals], axis=0)
        return MetricCells(
            prior,
            metric,
            prior.mass(left, right),
            goal.astype(np.float64),
            cuts,
            prior.mass(cuts[:, :-1], cuts[:, 1:]),
        )

    @property
    def middle(self) -> Array:
        """A value in each cell."""
        first, last = self.cuts[:, 0], self.cuts[:, -1]
        inside = 0.5 * first + 0.5 * last
        return np.where(np.isfinite(inside), inside, np.where(np.isfinite(first), first, last))

    def costs(self, rate: float) -> Array:
        """c for every two cells: the least over their ends."""
        first, last = self.cuts[:, 0], self.cuts[:, -1]
        with np.errstate(invalid="ignore"):
            found = rate * self.metric.spread((first[:, None], last[:, None]), (first, last))
        for a in (0, -1):
            for b in (0, -1):
                ends = self.cuts[:, a, None], self.cuts[None, :, b]
                with np.errstate(invalid="ignore"):
                    away = rate * self.metric.distance(*ends)
                    cost = (
                        self._log_mean(a, rate)[:, None]
                        + away
                        - self._log_mean(b, -rate)[None, :]
                    )
                known = np.isfinite(ends[0]) & np.isfinite(ends[1])
                found = np.fmin(found, np.where(known, cost, np.inf))
        np.fill_diagonal(found, 0.0)
        return np.maximum(found, 0.0)

    def _log_mean(self, end: int, rate: float) -> Array:
        """ln of the mean of e^{rate·d(x, end)} over each cell: from above for a positive rate, else from below."""
        at = self.cuts[:, end, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            reach = self.metric.spread((self.cuts[:, :-1], self.cuts[:, 1:]), (at, at))
            found = np.logaddexp.reduce(np.log(self.parts) + rate * reach, axis=1) - np.log(
                self.parts.sum(axis=1)
            )
        slope, offset = self.metric.tail
        for i, sign in ((0, -1), (-1, 1)):
            edge, beyond = (
                self.cuts[i, 0 if sign > 0 else -1],
                self.cuts[i, -1 if sign > 0 else 0],
            )
            if np.isinf(beyond):
                tilt = log_tilt(
                    self.prior,
                    sign * rate * slope,
                    (min(edge, beyond), max(edge, beyond)),
                    float(edge),
                )
                found[i] = tilt[int(rate > 0)] - np.log(self.mass[i]) + rate * offset
        return found

    def reached(self, goal: Array, log_means: Array, rate: float) -> float:
        """The gain of the likelihood through the means, its masses bounded from the attacker's bad side."""
        first, last, middle = self.cuts[:, :-1], self.cuts[:, 1:], self.middle
        finite = np.isfinite(first) & np.isfinite(last)
        centre = np.where(
            finite, 0.5 * np.where(finite, first, 0.0) + 0.5 * last, middle[:, None]
        )
        value = np.max(
            log_means - rate * self.metric.distance(centre[..., None], middle), axis=-1
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            radius = np.nan_to_num(
                rate * self.metric.spread((first, last), (centre, centre)), nan=np.inf
            )
            log_mass = np.log(self.parts)
        low, high = (
            log_mass + value - radius,
            log_mass + np.minimum(value + radius, np.max(log_means)),
        )
        met, missed = (
            log_sum(side[goal == mark].ravel()) for side, mark in ((low, 1), (high, 0))
        )
        before = np.log(self.mass @ goal) - np.log(self.mass @ (1 - goal))
        return max(0.0, float(met - missed - before))


def log_tilt(
    prior: LinePrior, k: float, ends: tuple[float, float], ref: float
) -> tuple[float, float]:
    """Bounds of ln ∫ e^{k(x − ref)} f(x) dx between two ends."""
    pieces = pieces_of(prior).cut(ends)
    inside = (pieces.left >= ends[0]) & (pieces.right <= ends[1])
    low, high = (float(np.logaddexp.reduce(side[inside])) for side in _shifted(pieces, k, ref))
    return low, high


def _shifted(pieces: Pieces, k: float, ref: float) -> list[Array]:
    shift = k * (np.where(np.isfinite(pieces.left), pieces.left, pieces.right) - ref)
    bounds = pieces.end_tilt(k, at_left=True)
    return [pieces.clip(bound, np.asarray(k), at_left=True) + shift for bound in bounds]
