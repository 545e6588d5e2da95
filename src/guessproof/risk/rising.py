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
Rough = Callable[[Array], Array]  # ε → about the same
Room = Callable[[Array, Array, tuple[Array, Array]], Array]  # two ε and the bounds there → how far above the line

CLOSE = 6.5e-4  # how much of ε an answer may lose between two knots
_FIRST = 32  # knots to begin with
_LEAST, _LEAST_OF_SLOW, _MOST = 1e-4, 1e-2, 1e4  # times a typical ε: how far the knots reach
_HIGH, LEVEL = 0.9, 1.02  # they end at such a bound, or where four times the ε raises it by no more than this factor
_ROUNDS = 16
_MOST_PARTS = 4  # where intervals are wide, what they lose says little
_BACK = 1e-12  # rounding in the look-up itself


@dataclass(frozen=True, eq=False)
class Rising:
    """Knots, the bound at each, and the room above the straight line from each to the next."""

    epsilon: Array
    value: Array  # what an attack reaches
    bound: Array
    room: Array

    @classmethod
    def through(
        cls, measure: Measure, room: Room, typical: float, most: int, level: float = LEVEL, rough: Rough | None = None
    ) -> Rising:
        """Knots around a typical ε, at most so many unless the first ones are more.

        They end where four times the ε raises the bound by no more than the factor `level`. If the bound takes long,
        `rough` tells about where that is, and they end where all would not be enough.
        """
        slow_bound = rough is not None
        rough = rough if rough is not None else lambda epsilon: measure(epsilon)[1]
        slow = most < 2 * _FIRST
        least, first = (_LEAST_OF_SLOW, most // 2) if slow else (_LEAST, _FIRST)
        epsilon = np.geomspace(typical * least, _top(rough, typical, 2 if slow else 7, level), first)
        value, bound = measure(epsilon)
        bound = _rising(bound)
        made = cls(
            epsilon, np.maximum.accumulate(value), bound, room(epsilon[:-1], epsilon[1:], (bound[:-1], bound[1:]))
        )
        for _ in range(_ROUNDS):
            made = made._affordable(most) if slow_bound else made
            lost = made.lost
            wide = np.argsort(-lost)[: max(most - made.epsilon.size, 0)]
            wide = np.sort(wide[lost[wide] > CLOSE])
            if not wide.size:
                return made
            made = made._refined(wide, _parts(lost[wide]), measure, room)
        return made

    def _refined(self, wide: NDArray[np.int64], parts: NDArray[np.int64], measure: Measure, room: Room) -> Rising:
        """The same with some intervals cut into so many parts."""
        place, share = np.repeat(wide, parts - 1), np.concatenate([np.arange(1, n) / n for n in parts])
        between = self.epsilon[place] ** (1 - share) * self.epsilon[place + 1] ** share
        value, found = measure(between)
        epsilon = np.insert(self.epsilon, place + 1, between)
        bound = _rising(np.insert(self.bound, place + 1, found))
        rooms = np.insert(self.room, place + 1, np.nan)
        kept = np.searchsorted(epsilon, self.epsilon)
        lowered = kept[bound[kept] != self.bound]  # a chord that was lowered needs another room
        stale = np.concatenate([kept[wide], lowered, lowered - 1])
        rooms[stale[(stale >= 0) & (stale < rooms.size)]] = np.nan
        fresh = np.flatnonzero(np.isnan(rooms))
        rooms[fresh] = room(epsilon[fresh], epsilon[fresh + 1], (bound[fresh], bound[fresh + 1]))
        reached = np.maximum.accumulate(np.insert(self.value, place + 1, value))
        return Rising(epsilon, reached, bound, rooms)

    def close_part(self, most: float) -> Rising:
        """Up to the first knot after which a look-up may lose more than this share of ε; all of it where none would."""
        loose = np.flatnonzero(self._lost_in_all > most)
        return self._first_part(int(loose[0]) if loose.size else self.room.size)

    def _affordable(self, most: int) -> Rising:
        """Up to where so many knots are about enough: what is lost falls with the square of their number."""
        parts = np.maximum(np.sqrt(self.lost / CLOSE), 1.0)
        return self._first_part(int(np.searchsorted(np.cumsum(parts), most)))

    def _first_part(self, last: int) -> Rising:
        if last == 0:
            return self
        return Rising(self.epsilon[: last + 1], self.value[: last + 1], self.bound[: last + 1], self.room[:last])

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
        return float(np.max(self._lost_in_all, initial=0.0))

    @property
    def _lost_in_all(self) -> Array:
        apart = np.maximum(self.bound - self.value, 0.0)[1:]
        return self._share_of_step(np.minimum(self.room, np.diff(self.bound)) + apart)

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


def _parts(lost: Array) -> NDArray[np.int64]:
    """Into how many parts an interval is cut: what it loses falls with the square of its width."""
    wanted = np.sqrt(np.minimum(lost / CLOSE, 1e6))
    return np.clip(np.ceil(wanted), 2, _MOST_PARTS).astype(np.int64)


def _top(rough: Rough, typical: float, count: int, level: float) -> float:
    """An ε from which on there is little left to learn."""
    epsilon, last, bound = typical, 0.0, 0.0
    while epsilon < _MOST * typical:
        bound = float(rough(np.array([epsilon]))[0])
        if bound >= _HIGH or bound <= level * last:
            break
        epsilon, last = 4 * epsilon, bound
    between = np.geomspace(epsilon / 16, epsilon, 2 * count - 1)
    enough = rough(between) >= min(_HIGH, bound / level)
    return float(between[int(np.argmax(enough))])


def _rising(bound: Array) -> Array:
    """What is bounded rises, so a knot is bounded by every later one."""
    return np.minimum.accumulate(bound[::-1])[::-1]
