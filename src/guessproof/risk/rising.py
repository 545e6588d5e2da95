"""A rising function of ε, known at few knots and bounded between them: answers are looked up, on the private side.

Between two knots a bound lies below the straight line through them plus some `room`, and below the right knot, because
the function rises. Knots are added where that would lose more than a small share of ε.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guessproof.world.checks import Array

Measure = Callable[[Array], tuple[Array, Array]]  # ε → (attack, bound)
Room = Callable[[Array, Array, Array], Array]  # two ε and the bound at the second → how far above the line

CLOSE = 6.5e-4  # how much of ε an answer may lose between two knots
_FIRST = 32  # knots to begin with
_LEAST, _LEAST_OF_SLOW, _MOST = 1e-4, 1e-2, 1e4  # times a typical ε: how far the knots reach
_HIGH, _LEVEL = 0.9, 1.02  # they end at such a bound, or where four times the ε raises it by no more than this factor
_ROUNDS = 16
_BACK = 1e-12  # rounding in the look-up itself


@dataclass(frozen=True, eq=False)
class Rising:
    """Knots, the bound at each, and the room above the straight line from each to the next."""

    epsilon: Array
    value: Array  # what an attack reaches
    bound: Array
    room: Array

    @classmethod
    def through(cls, measure: Measure, room: Room, typical: float, most: int) -> Rising:
        """Knots around a typical ε, at most so many unless the first ones are more."""
        slow = most < 2 * _FIRST
        least, first = (_LEAST_OF_SLOW, most // 2) if slow else (_LEAST, _FIRST)
        epsilon = np.geomspace(typical * least, _top(measure, typical, 2 if slow else 7), first)
        value, bound = measure(epsilon)
        made = cls(epsilon, value, _rising(bound), room(epsilon[:-1], epsilon[1:], bound[1:]))
        for _ in range(_ROUNDS):
            lost = made.lost
            wide = np.argsort(-lost)[: max(most - made.epsilon.size, 0)]
            wide = np.sort(wide[lost[wide] > CLOSE])
            if not wide.size:
                return made
            made = made._refined(wide, measure, room)
        return made

    def _refined(self, wide: NDArray[np.int64], measure: Measure, room: Room) -> Rising:
        """The same with a knot in the middle of some intervals."""
        middle = np.sqrt(self.epsilon[wide] * self.epsilon[wide + 1])
        value, found = measure(middle)
        epsilon = np.insert(self.epsilon, wide + 1, middle)
        bound = _rising(np.insert(self.bound, wide + 1, found))
        left = wide + np.arange(wide.size)  # where the halves of the cut intervals are now
        fresh = np.sort(np.concatenate([left, left + 1]))
        rooms = np.insert(self.room, wide + 1, 0.0)
        rooms[fresh] = room(epsilon[fresh], epsilon[fresh + 1], bound[fresh + 1])
        return Rising(epsilon, np.insert(self.value, wide + 1, value), bound, rooms)

    def shifted(self, by: float) -> Rising:
        """The same function plus a constant."""
        return Rising(self.epsilon, self.value + by, self.bound + by, self.room)

    @property
    def lost(self) -> Array:
        """How much of ε a look-up between two knots loses, as a share; 0 where the function has levelled."""
        return self._share_of_step(np.minimum(self.room, np.diff(self.bound)))

    @property
    def loose(self) -> float:
        """The same with how far bound and attack are apart at the knots: what an answer loses at most."""
        apart = np.maximum(self.bound - self.value, 0.0)[1:]
        between = np.minimum(self.room, np.diff(self.bound))
        return float(np.max(self._share_of_step(between + apart), initial=0.0))

    def _share_of_step(self, height: Array) -> Array:
        step, climb = np.diff(self.epsilon) / self.epsilon[:-1], np.diff(self.bound)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = height / climb
        level = climb <= 1e-6 * self.bound[1:]
        return np.where(level, 0.0, step * np.where(np.isnan(share), 1.0, share))

    def at(self, epsilon: float) -> float | None:
        """What no ε up to this one exceeds; None outside of the knots."""
        if not self.epsilon[0] <= epsilon <= self.epsilon[-1]:
            return None
        j = int(np.searchsorted(self.epsilon, epsilon))
        if self.epsilon[j] == epsilon:
            return float(self.bound[j])
        share = (epsilon - self.epsilon[j - 1]) / (self.epsilon[j] - self.epsilon[j - 1])
        line = (1 - share) * self.bound[j - 1] + share * self.bound[j] + self.room[j - 1]
        return float(min(line * (1 + _BACK), self.bound[j]))

    def inverse(self, limit: float) -> float | None:
        """An ε at which the limit is proven to hold, near the largest one; None outside of the knots."""
        if not self.bound[0] <= limit < self.bound[-1]:
            return None
        j = int(np.searchsorted(self.bound, limit, side="right"))
        climb = self.bound[j] - self.bound[j - 1]
        share = max((limit * (1 - _BACK) - self.bound[j - 1] - self.room[j - 1]) / climb, 0.0)
        return float(self.epsilon[j - 1] + share * (self.epsilon[j] - self.epsilon[j - 1])) * (1 - _BACK)


def _top(measure: Measure, typical: float, count: int) -> float:
    """An ε from which on there is little left to learn."""
    epsilon, last, bound = typical, 0.0, 0.0
    while epsilon < _MOST * typical:
        bound = float(measure(np.array([epsilon]))[1][0])
        if bound >= _HIGH or bound <= _LEVEL * last:
            break
        epsilon, last = 4 * epsilon, bound
    between = np.geomspace(epsilon / 4, epsilon, count)
    enough = measure(between)[1] >= min(_HIGH, bound / _LEVEL)
    return float(between[int(np.argmax(enough))])


def _rising(bound: Array) -> Array:
    """What is bounded rises, so a knot is bounded by every later one."""
    return np.minimum.accumulate(bound[::-1])[::-1]
