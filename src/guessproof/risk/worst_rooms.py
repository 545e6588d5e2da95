"""How far the worst rise can lie above its chord between two ε: the largest room of all true values near the worst.

`rest_gaps` bounds the log-odds of all true values of a box at once. What a box loses against its own ends falls with
its width, and its ends say what no cut can go below: a box is cut until it is near to what some end needs anyway, or
below what would cost an answer anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.gaps import room_by_odds
from guessproof.risk.rest_gaps import RestGaps, Sides
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.world.checks import Array

_NEEDLESS, _HOPELESS = 3e-4, 3e-3  # as shares of ε: a room that costs little, and one that more knots have to mend
_NEARLY = 1.1  # of the largest room at an end: no need to come closer
_ROUNDS, _MOST = 10, 20_000  # of cutting, and boxes at once
_STARTS = np.linspace(0.0, 1.0, 3)[:, None]  # beliefs that a rise may start from are taken together between these

Pair = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Rooms:
    """Two ε in each row, and what bounds the worst rise (or belief) at both."""

    search: TruthSearch
    first: Array
    second: Array
    bounds: Pair
    direction: Direction

    def of(self, row: NDArray[np.int64], low: Array, high: Array, last: Array) -> Array:
        """The room of each row: boxes with their rows, and points beyond which beliefs are no higher."""
        found, least = np.zeros(self.first.shape), np.zeros(self.first.shape)
        for t in last:
            np.maximum(found, self._of_beliefs_at(float(t)), out=found)
        t, left, right = (low, high), self._sides(low, row), self._sides(high, row)
        ends = row, left
        for i in range(_ROUNDS + 1):
            np.maximum.at(least, ends[0], self._between(*ends, ends[1]))
            room = self._between(row, left, right)
            wide = room > self._enough(np.maximum(found, least))[row]
            if i == _ROUNDS or np.count_nonzero(wide) > _MOST:
                wide[:] = False
            np.maximum.at(found, row[~wide], room[~wide])
            if not wide.any():
                break
            row, t, left, right = row[wide], (t[0][wide], t[1][wide]), left.pick(wide), right.pick(wide)
            middle = 0.5 * t[0] + 0.5 * t[1]
            ends = row, self._sides(middle, row)
            row, t = np.append(row, row), (np.append(t[0], middle), np.append(middle, t[1]))
            left, right = left.join(ends[1]), ends[1].join(right)
        return found

    def _enough(self, found: Array) -> Array:
        """Rooms that need not be smaller."""
        with np.errstate(all="ignore"):
            all_of_epsilon = (self.bounds[1] - self.bounds[0]) * 0.5 * (self.first + self.second)
            all_of_epsilon /= self.second - self.first
        enough = np.maximum(_NEEDLESS * all_of_epsilon, _NEARLY * found)
        return np.where(found > _HOPELESS * all_of_epsilon, np.inf, enough)

    def _sides(self, t: Array, row: NDArray[np.int64]) -> Sides:
        return Sides.of(self._gaps.world, *self.search.edges(t), self.first[row], self.second[row])

    def _between(self, row: NDArray[np.int64], left: Sides, right: Sides) -> Array:
        """The room of each box."""
        gaps = self._gaps.between(left, right, self.first[row], self.second[row])
        if self.direction == "posterior":
            return self._by_odds(gaps, np.zeros((1, 1)), row)
        mass, some = self.search.prior.mass, 1 - self.bounds[0][row]
        least, most = mass(right.lo, np.maximum(left.hi, right.lo)), np.minimum(mass(left.lo, right.hi), some)
        # A rise ends at 1: from a larger belief on it is never more than what bounds the first ε.
        room = self._by_odds(gaps, least + _STARTS * (np.maximum(most, least) - least), row)
        return np.where(least >= some, 0.0, room)

    def _of_beliefs_at(self, t: float) -> Array:
        """Beyond some points rises are at most the belief there: as if they had started from 0."""
        row = np.arange(self.first.size)
        sides = self._sides(np.full(row.size, t), row)
        return self._by_odds(self._gaps.between(sides, sides, self.first, self.second), np.zeros((1, 1)), row)

    def _by_odds(self, gaps: Pair, before: Array, row: NDArray[np.int64]) -> Array:
        climbs = self.bounds[0][row], self.bounds[1][row]
        low, high = (before[:-1], before[1:]) if before.shape[0] > 1 else (before, before)
        certain = high + climbs[1] >= 1  # no belief after it is larger than 1
        most = np.where(certain, 1.0, 1 + climbs[0]), np.where(certain, 1.0, 1 + climbs[1])
        return np.max(room_by_odds(gaps[0], (low, high), climbs, most, gaps[1]), axis=0)

    @cached_property
    def _gaps(self) -> RestGaps:
        return RestGaps(TiltedIntegrals(self.search.prior, self.search.form))
