"""Any goal and any metric on the line, by certified cells.

The line is cut into cells, with the goal's ends and the metric's breaks at their ends. M_k is the mean of a likelihood
over cell k, so the masses of goal and complement are exact sums. For ends a of cell k and b of cell k', from inside,

    M_k ≤ e^c M_k',   c = ln E_k e^{ε·d(x, a)} + ε·d(a, b) − ln E_k' e^{−ε·d(b, x)},

by the triangle inequality; and c = ε times the largest distance of the two cells will do. Cells consist of pieces,
whose masses and distances from the ends are known. The bound is the linear program over these constraints. The attack
spreads the program's solution over the line, L(x) = max_k M_k e^{−ε·d(x, x_k)}, which is private whatever M is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.bracket import agreed
from guessproof.risk.finite import solve
from guessproof.world.checks import Array
from guessproof.world.distances import Metric
from guessproof.world.line import LinePrior
from guessproof.world.pieces import Pieces, pieces_of

CELLS = 120  # of which programs take a tenth of a second
PARTS = 64  # of a cell at least: distances from its ends are off by a part's width at most
FAR = 1e-7  # mass on each side that lies beyond the cells of equal width
Intervals = list[tuple[float, float]]


def cells_gain(
    prior: LinePrior, metric: Metric, intervals: Intervals, k: float
) -> tuple[float, float]:
    """(attack, bound) of the signed gain at k = ±ε."""
    if k == 0:
        return 0.0, 0.0
    cells = MetricCells.of(prior, metric, intervals)
    goal = np.any([(cells.middle >= a) & (cells.middle <= b) for a, b in intervals], axis=0)
    goal = goal.astype(np.float64) if k > 0 else 1.0 - goal
    mass = np.exp(cells.log_mass)
    _, bound, log_means = solve(mass / mass.sum(), goal, cells.costs(abs(k)))
    low, high = cells.reached(log_means, abs(k))
    inside = goal[cells.which] > 0
    reached = np.logaddexp.reduce(low[inside]) - np.logaddexp.reduce(high[~inside])
    before = np.log(mass @ goal) - np.log(mass @ (1 - goal))
    attack, bound = agreed(max(0.0, float(reached - before)), bound)
    return (attack, bound) if k > 0 else (-attack, -bound)


@dataclass(frozen=True, eq=False)
class MetricCells:
    """Pieces with positive masses, gathered into cells; the ends of pieces are seen from inside."""

    metric: Metric
    left: Array
    right: Array
    piece_mass: Array  # logarithms
    which: NDArray[np.int64]  # the cell of each piece
    pieces: Pieces

    @staticmethod
    def of(prior: LinePrior, metric: Metric, intervals: Intervals) -> MetricCells:
        """Cells of about equal widths over the bulk of the prior, with every break at an end."""
        low, high = prior.support
        fixed = {end for pair in intervals for end in pair} | set(metric.breaks)
        bulk = (float(end) for end in prior.quantile([FAR, 1 - FAR]))
        knots = sorted({*bulk, *(end for end in fixed if low < end < high)})
        width = (knots[-1] - knots[0]) / CELLS
        inner = [
            np.linspace(a, b, max(1, round((b - a) / width)) + 1) for a, b in pairwise(knots)
        ]
        cuts = np.unique(np.concatenate(inner))
        places = np.arange(PARTS * (cuts.size - 1) + 1) / PARTS
        pieces = pieces_of(prior).cut(np.interp(places, np.arange(cuts.size), cuts))
        some = pieces.log_mass > -np.inf
        left, right = pieces.left[some], pieces.right[some]
        cell = np.searchsorted(cuts, left, side="right")
        return MetricCells(
            metric,
            np.where(np.isfinite(left), np.nextafter(left, np.inf), left),
            np.where(np.isfinite(right), np.nextafter(right, -np.inf), right),
            pieces.log_mass[some],
            np.unique(cell, return_inverse=True)[1],
            pieces,
        )

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first piece of each cell."""
        return np.searchsorted(self.which, np.arange(self.which[-1] + 1))

    @cached_property
    def log_mass(self) -> Array:
        """ln of the mass of each cell."""
        return np.logaddexp.reduceat(self.piece_mass, self.starts)

    @cached_property
    def span(self) -> tuple[Array, Array]:
        """First and last value of each cell."""
        return self.left[self.starts], self.right[np.append(self.starts[1:], 0) - 1]

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """The same; of an infinite cell its finite end twice."""
        first, last = self.span
        return np.where(np.isfinite(first), first, last), np.where(
            np.isfinite(last), last, first
        )

    @cached_property
    def middle(self) -> Array:
        """A value in each cell."""
        return 0.5 * self.ends[0] + 0.5 * self.ends[1]

    def costs(self, rate: float) -> Array:
        """c for every two cells: the least over their ends."""
        first, last = self.span
        with np.errstate(invalid="ignore"):
            found = rate * self.metric.spread((first[:, None], last[:, None]), self.span)
        away = [self._log_mean(end, rate) for end in self.ends]
        back = [self._log_mean(end, -rate) for end in self.ends]
        for a, b in product((0, 1), (0, 1)):
            across = rate * self.metric.distance(self.ends[a][:, None], self.ends[b])
            found = np.fmin(found, away[a][:, None] + across - back[b])
        np.fill_diagonal(found, 0.0)
        return np.maximum(found, 0.0)

    def _log_mean(self, end: Array, rate: float) -> Array:
        """ln of the mean of e^{rate·d(x, end)} over each cell: from above for a positive rate, else from below."""
        at = end[self.which]
        slope, offset = self.metric.tail
        with np.errstate(invalid="ignore"):
            terms = self.piece_mass + rate * self.metric.spread(
                (self.left, self.right), (at, at)
            )
        for i, side, near in ((0, self.left, self.right[0]), (-1, self.right, self.left[-1])):
            if np.isinf(side[i]):
                tilts = self.pieces.end_tilt(np.sign(side[i]) * rate * slope, at_left=True)
                beyond = self.metric.distance(near, at[i]) + offset
                terms[i] = tilts[int(rate > 0)][i] + rate * beyond
        return np.logaddexp.reduceat(terms, self.starts) - self.log_mass

    def reached(self, log_means: Array, rate: float) -> tuple[Array, Array]:
        """Bounds of ln ∫ L f over each piece, for the likelihood through the means."""
        left, right = (
            np.where(np.isfinite(x), x, y)
            for x, y in ((self.left, self.right), (self.right, self.left))
        )
        centre = 0.5 * left + 0.5 * right
        height = np.max(
            log_means - rate * self.metric.distance(centre[:, None], self.middle), axis=1
        )
        with np.errstate(invalid="ignore"):
            radius = rate * self.metric.spread((self.left, self.right), (centre, centre))
        most = np.minimum(height + radius, np.max(log_means))
        return self.piece_mass + height - radius, self.piece_mass + most
