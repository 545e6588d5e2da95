"""A rising function of ε, known at few knots and bounded between them: answers are looked up, on the private side.

Between two knots a bound lies below the straight line through them plus a parabola, `room` in the middle and 0 at both
knots, and below the right knot, because the function rises. Knots are added where that would lose more than a small
share of ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from guessproof.world.checks import Array

Measure = Callable[[Array], tuple[Array, Array]]  # ε → (attack, bound)
Rough = Callable[[Array], Array]  # ε → about the same, or other ε
Room = Callable[[Array, Array, tuple[Array, Array]], Array]  # two ε, the bounds there → how far above the line midway

CLOSE = 6.5e-4  # how much of ε an answer may lose between two knots
_FIRST = 32  # knots to begin with
_LEAST, _LEAST_OF_SLOW, _LARGEST = 1e-4, 1e-2, 1e4  # times a typical ε: how far the knots reach
_HIGH, LEVEL = 0.9, 1.02  # they end at such a bound, or where four times the ε raises it by no more than this factor
_FROM, _TO, _LOOKS = 2e-2, 60.0, 14  # times a typical ε: where it is looked for how many knots are needed
_NARROW, _CAREFUL, _WIDEST = 0.05, 0.8, 1.4  # a step of ln ε for that, the share of what may be lost, the widest step
_LITTLE = 0.2  # of the room: what is lost of it, at least, where knots are planned
_ROUNDS = 16
_MOST_PARTS = 4  # where intervals are wide, what they lose says little
_BACK = 1e-12  # rounding in the look-up itself
_MOST_FURTHER = 8  # parts that come after a curve
_ADDING = Lock()  # of such a part: it is made by any number of threads, and added once
_ON, _UP = 1.01, 1 + 1e-6  # how much of ε, and of what it bounds, one has to add to be followed by others


@dataclass(frozen=True, eq=False)
class Rising:
    """Knots, the bound at each, and the room above the straight line midway from each to the next."""

    epsilon: Array
    value: Array  # what an attack reaches
    bound: Array
    room: Array

    @classmethod
    def through(cls, measure: Measure, room: Room, typical: float, most: int, rough: Rough | None = None) -> Rising:
        """Knots around a typical ε, at most so many unless the first ones are more.

        They end where four times the ε hardly raises the bound any more, or what is roughly known of it.
        """
        slow = most < 2 * _FIRST
        least, first = (_LEAST_OF_SLOW, most // 2) if slow else (_LEAST, _FIRST)
        top = _top(rough or (lambda epsilon: measure(epsilon)[1]), typical, 2 if slow else 7)
        made = cls._at(measure, room, np.geomspace(typical * least, top, first))
        for _ in range(_ROUNDS):
            lost = np.maximum(made.lost, made._lost_to_kinks)
            wide = np.argsort(-lost)[: max(most - made.epsilon.size, 0)]
            wide = np.sort(wide[lost[wide] > CLOSE])
            if not wide.size:
                return made
            made = made._refined(wide, _parts(lost[wide]), measure, room)
        return made

    @classmethod
    def planned(
        cls,
        measure: Measure,
        room: Room,
        rough: Rough,
        needs: Room,
        typical: float,
        most: int,
        most_lost: float,
        after: float | None = None,
    ) -> Rising:
        """The same where a bound takes long: knots lie where a rough look at attacks says that they are needed.

        `rough` is about what attacks reach and `needs` about the room between two ε that are close to each other. Knots
        end where so many are about enough, and where a look-up would lose more than a share of ε; they may begin after
        those of another curve.
        """
        epsilon = _planned(rough, needs, typical, most, after)
        if epsilon.size < 2:  # nothing is left to learn
            return cls.unknown()
        made = cls._at(measure, room, epsilon)
        for _ in range(_ROUNDS):
            # A knot whose bound is far from its attack is not mended by others.
            made = made.without(made._lost_at_knots > most_lost)
            wide = np.flatnonzero(made.lost_in_all > most_lost)[: max(epsilon.size + most // 2 - made.epsilon.size, 0)]
            if not wide.size:
                break
            made = made._refined(wide, np.full(wide.size, 2), measure, room)
        return made.without(made.lost_in_all > most_lost)

    @classmethod
    def unknown(cls) -> Rising:
        """Nothing but that it begins with 0: every look-up is left to somebody else."""
        return cls(np.zeros(1), np.zeros(1), np.zeros(1), np.empty(0))

    @classmethod
    def _at(cls, measure: Measure, room: Room, epsilon: Array) -> Rising:
        value, bound = measure(epsilon)
        bound = _rising(bound)
        return cls(
            epsilon, np.maximum.accumulate(value), bound, room(epsilon[:-1], epsilon[1:], (bound[:-1], bound[1:]))
        )

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

    def close(self, most_lost: float) -> Rising:
        """The part that loses no more of ε than a share."""
        return self.without(self.lost_in_all > most_lost)

    def without(self, loose: NDArray[np.bool_]) -> Rising:
        """The part between loose intervals along which it rises most; all of it where every one is loose."""
        marks = np.concatenate([[True], loose, [True]])
        first, last = np.flatnonzero(marks[:-1] & ~marks[1:]), np.flatnonzero(~marks[:-1] & marks[1:])
        if not first.size:
            return self
        best = int(np.argmax(self.bound[last] - self.bound[first]))
        a, b = int(first[best]), int(last[best])
        return Rising(self.epsilon[a : b + 1], self.value[a : b + 1], self.bound[a : b + 1], self.room[a:b])

    def with_piece(self, place: int, piece: Rising) -> Rising:
        """The same with more knots in one interval, from its first knot to its last: where both know one, the higher
        bound holds for the lines on both sides of it. It goes on rising: what is raised only raises lines.
        """
        ends = np.maximum(self.bound[place : place + 2], piece.bound[[0, -1]])
        value = np.maximum(self.value[place : place + 2], piece.value[[0, -1]])

        def joined(own: Array, more: Array, both: Array) -> Array:
            return np.concatenate([own[:place], both[:1], more[1:-1], both[1:], own[place + 2 :]])

        return Rising(
            joined(self.epsilon, piece.epsilon, self.epsilon[place : place + 2]),
            np.maximum.accumulate(joined(self.value, piece.value, value)),
            np.maximum.accumulate(joined(self.bound, piece.bound, ends)),
            np.concatenate([self.room[:place], piece.room, self.room[place + 1 :]]),
        )

    def shifted(self, by: float) -> Rising:
        """The same function plus a constant."""
        return Rising(self.epsilon, self.value + by, self.bound + by, self.room)

    @property
    def lost(self) -> Array:
        """How much of ε a look-up between two knots loses, about, as a share; 0 where the function has levelled."""
        return self._share_of(self._above / (0.5 * (self.epsilon[1:] + self.epsilon[:-1])))

    @property
    def loose(self) -> float:
        """The same with how far bound and attack are apart at the knots: what an answer loses at most."""
        return float(np.max(self.lost_in_all, initial=0.0))

    @property
    def lost_in_all(self) -> Array:
        """Both, for each interval."""
        return self.lost + self._lost_at_knots

    @property
    def _lost_at_knots(self) -> Array:
        """What is lost since bound and attack are apart at the two knots of each interval."""
        with np.errstate(invalid="ignore"):  # an only knot may be that of 0
            apart = np.maximum(self.bound - self.value, 0.0) / self.epsilon
        return self._share_of(np.maximum(apart[1:], apart[:-1]))

    @property
    def _lost_to_kinks(self) -> Array:
        """The same where it bends upwards at once between two knots, as the slopes before and after them tell.

        Two lines of these slopes meet below the chord by step·(s − s₁)(s₂ − s)/(s₂ − s₁). What bends as much further on
        is no kink, nor is what bounds leave open.
        """
        step, lost = np.diff(self.epsilon), np.zeros(self.room.size)
        if step.size < 3:
            return lost
        slope = np.diff(self.value) / step
        bends = np.pad(np.diff(slope) / (0.5 * (step[1:] + step[:-1])), 1, mode="edge")
        before, here, after, width = slope[:-2], slope[1:-1], slope[2:], step[1:-1]
        smooth = 2 * width * np.maximum(np.maximum(bends[:-3], bends[3:]), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            height = width * (here - before) * (after - here) * (after - before - smooth) / np.square(after - before)
        apart = self.bound - self.value
        height = height - np.maximum(apart[1:], apart[:-1])[1:-1]
        kinked = (before < here) & (here < after) & (after - before > smooth) & (height > 0)
        room = np.minimum(self.room, np.diff(self.bound))[1:-1]
        lost[1:-1] = np.where(kinked, room + height, 0.0)
        return self._share_of(lost / (0.5 * (self.epsilon[1:] + self.epsilon[:-1])))

    @property
    def _above(self) -> Array:
        """How far what is looked up lies above the function midway, about: attacks at the knots tell how it bends.

        Of two ends that seem bent downwards the straighter one tells: between knots far apart the other says too much.
        Where it has a kink upwards at a knot itself, only that end of an interval seems bent that way.
        """
        room, step = np.minimum(self.room, np.diff(self.bound)), np.diff(self.epsilon)
        first, second = self._bends
        bend = np.where((first < 0) & (second < 0), np.maximum(first, second), np.minimum(first, second))
        return np.maximum(room + bend * np.square(step) / 8, 0.0)

    @property
    def _bends(self) -> tuple[Array, Array]:
        """The second derivative around the two ends of each interval, about."""
        step = np.diff(self.epsilon)
        if step.size < 2:
            return np.zeros(step.size), np.zeros(step.size)
        bends = np.diff(np.diff(self.value) / step) / (0.5 * (step[1:] + step[:-1]))
        return np.append(bends[:1], bends), np.append(bends, bends[-1:])

    def _share_of(self, height: Array) -> Array:
        """How much of ε some height, told for each ε, is worth."""
        step, climb = np.diff(self.epsilon), np.diff(self.bound)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = step * height / climb
        return np.where(climb <= 1e-6 * self.bound[1:], 0.0, np.where(np.isnan(share), 1.0, share))

    def at(self, epsilon: float) -> float | None:
        """What no ε up to this one exceeds; None outside of the knots."""
        if not self.epsilon[0] <= epsilon <= self.epsilon[-1]:
            return None
        j = int(np.searchsorted(self.epsilon, epsilon))
        if self.epsilon[j] == epsilon:
            return float(self.bound[j])
        if math.isinf(self.room[j - 1]):
            return float(self.bound[j])
        share = (epsilon - self.epsilon[j - 1]) / (self.epsilon[j] - self.epsilon[j - 1])
        first, last = self.bound[j - 1 : j + 1]
        found = first + share * (last - first + 4 * (1 - share) * self.room[j - 1])  # rounded, a line still rises
        return float(min(found * (1 + _BACK), last))

    def inverse(self, limit: float) -> float | None:
        """An ε at which the limit is proven to hold, near the largest one; None outside of the knots."""
        if not self.bound[0] <= limit < self.bound[-1]:
            return None
        j = int(np.searchsorted(self.bound, limit, side="right"))
        above, most = max(limit * (1 - _BACK) - self.bound[j - 1], 0.0), float(4 * self.room[j - 1])
        if math.isinf(most):
            return float(self.epsilon[j - 1]) * (1 - _BACK)
        slope = self.bound[j] - self.bound[j - 1] + most  # at the first knot: above = share·slope − share²·most
        share = 2 * above / (slope + math.sqrt(max(slope * slope - 4 * most * above, 0.0)))
        return float(self.epsilon[j - 1] + share * (self.epsilon[j] - self.epsilon[j - 1])) * (1 - _BACK)


@dataclass(eq=False)
class Further:
    """What comes after a curve, in parts: each is made when something beyond the last one is first asked for."""

    end: float  # the ε after which the first of them begins
    make: Callable[[float], Rising | None]  # what comes after an ε, if that is known
    parts: list[Rising] = field(default_factory=list[Rising])
    is_whole: bool = False  # nothing more comes

    def each(self) -> Iterator[Rising]:
        for i in range(_MOST_FURTHER):
            while i == len(self.parts) and not self.is_whole:
                self._go_on()
            if i == len(self.parts):
                return
            yield self.parts[i]

    def _go_on(self) -> None:
        end = self.end
        made = self.make(end)
        with _ADDING:
            if self.end != end or self.is_whole:  # another thread has made it meanwhile
                return
            if made is None or made.epsilon.size < 2:
                self.is_whole = True
                return
            levelled = made.bound[-1] <= _UP * made.bound[0]
            self.is_whole = bool(levelled or made.epsilon[-1] <= _ON * end)
            self.end = float(made.epsilon[-1])
            self.parts.append(made)


def inverse_of(parts: Iterable[Rising], limit: float) -> tuple[float, float]:
    """An ε at which the limit is proven to hold, twice; or between which ε others may say one, where no part does.

    Where a part ends its bound holds, and the next one says no less than where it begins: what others say of limits
    between the two is not to be less than the former, which is proven, nor more than the latter.
    """
    least = 0.0
    for part in parts:
        if limit < part.bound[-1]:
            found = part.inverse(limit)
            return _ends(least, float(part.epsilon[0]) * (1 - _BACK), found)
        least = max(least, float(part.epsilon[-1]))
    return least, math.inf


def bound_of(parts: Iterable[Rising], epsilon: float) -> tuple[float, float]:
    """What no ε up to this one exceeds, twice; or between what others may say, where no part knows."""
    least = 0.0
    for part in parts:
        if epsilon <= part.epsilon[-1]:
            return _ends(least, float(part.bound[0]), part.at(epsilon))
        least = max(least, float(part.bound[-1]))
    return least, math.inf


def _ends(least: float, most: float, found: float | None) -> tuple[float, float]:
    return (least, max(most, least)) if found is None else (max(found, least), max(found, least))


def _parts(lost: Array) -> NDArray[np.int64]:
    """Into how many parts an interval is cut: what it loses falls with the square of its width."""
    wanted = np.sqrt(np.minimum(lost / CLOSE, 1e6))
    return np.clip(np.ceil(wanted), 2, _MOST_PARTS).astype(np.int64)


def _top(rough: Rough, typical: float, count: int) -> float:
    """An ε from which on there is little left to learn."""
    epsilon, last, bound = typical, 0.0, 0.0
    while epsilon < _LARGEST * typical:
        bound = float(rough(np.array([epsilon]))[0])
        if bound >= _HIGH or bound <= LEVEL * last:
            break
        epsilon, last = 4 * epsilon, bound
    between = np.geomspace(epsilon / 16, epsilon, 2 * count - 1)
    enough = rough(between) >= min(_HIGH, bound / LEVEL)
    return float(between[int(np.argmax(enough))])


def _planned(rough: Rough, needs: Room, typical: float, most: int, after: float | None) -> Array:
    """Knots such that an interval between two of them loses about what it may, but for the last one."""
    sizes = np.geomspace(_FROM, _TO, _LOOKS)
    value = np.maximum.accumulate(rough(typical * sizes))
    high = np.flatnonzero((value >= _HIGH) | (np.arange(_LOOKS) >= _LOOKS - 1))[0]
    high = max(high, 1)  # the first of them may be high already
    sizes, value = sizes[: high + 1], value[: high + 1]
    with np.errstate(all="ignore"):
        rise = np.gradient(np.log(value), np.log(sizes))  # 1 where an advantage is about a share of ε
        room = needs(typical * sizes, typical * sizes * (1 + _NARROW), (value, value * (1 + _NARROW * rise)))
        bent = np.gradient(np.gradient(value, sizes), sizes) * np.square(sizes)
        lost = np.maximum(room + bent * _NARROW**2 / 8, _LITTLE * room) / (rise * value)
        step = _NARROW * np.sqrt(_CAREFUL * CLOSE / lost)
    step = np.clip(np.where(np.isnan(step), _WIDEST, step), 1e-3, _WIDEST)
    # What is lost for a given ratio of two ε is about a share of ε where ε is small.
    below = np.geomspace(_LEAST, _FROM, _LOOKS)[:-1]
    at, steps = np.concatenate([below, sizes]), np.concatenate([step[0] * np.sqrt(_FROM / below), step])
    logs = np.linspace(np.log(at[0]), np.log(at[-1]), 64 * _LOOKS)
    steps = np.minimum(np.exp(np.interp(logs, np.log(at), np.log(steps))), _WIDEST)
    count = np.concatenate([[0.0], np.cumsum(np.diff(logs) * 0.5 * (1 / steps[1:] + 1 / steps[:-1]))])
    start = 0.0 if after is None else float(np.interp(np.log(after / typical), logs, count))
    steps = min(most, int(np.ceil(count[-1] - start)))
    knots = typical * np.exp(np.interp(np.linspace(start, min(count[-1], start + steps), steps + 1), count, logs))
    return knots if after is None else np.append(after, knots[1:])


def _rising(bound: Array) -> Array:
    """What is bounded rises, so a knot is bounded by every later one."""
    return np.minimum.accumulate(bound[::-1])[::-1]
