"""The curve of the worst true value: what bounds it at a knot helps at others, and between two of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.gaps import gap_of_tents, room_by_odds, room_by_ratio
from guessproof.risk.rest_gaps import RestGaps, Sides
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.worst_along import Known, WorstAlong, WorstAt
from guessproof.risk.worst_case import Direction, TruthSearch, worst_true_value
from guessproof.world.checks import Array

_LITTLE_OF_EPSILON = 1e-4  # what a bound between other knots may lose, as a share of ε
_LARGEST = 1e4  # times a typical ε: as far as knots reach
_FINER = 4  # parts of a box, for what lies outside of its goals, where its ends alone say little of that

Pair = tuple[Array, Array]


class WorstTruths:
    """The worst true value at many ε; what is known at one helps between it and its neighbours."""

    def __init__(self, search: TruthSearch, direction: Direction, typical: float) -> None:
        self.search, self.direction = search, direction
        self.world = TiltedIntegrals(search.prior, search.form)
        least = worst_true_value(search, 0.0, "posterior").bound if direction == "posterior" else 0.0
        self.along = WorstAlong(search, direction, typical, typical * _LARGEST, least)
        self.found: dict[float, tuple[Array, float, float]] = {}

    def measure(self, epsilon: Array) -> tuple[Array, Array]:
        """What some true value reaches, and what none exceeds."""
        found: WorstAt = self.along.at(epsilon, self._known(epsilon))
        for i, e in enumerate(epsilon):
            self.found[float(e)] = (found.boxes[i], float(found.value[i]), float(found.beyond[i]))
        return found.value, found.bound

    def _known(self, epsilon: Array) -> Known | None:
        """Boxes of a larger ε, the value at a smaller one, and what some of ε is worth between them."""
        known = np.array(sorted(self.found))
        if not known.size or epsilon.max() > known[-1]:
            return None
        after = np.searchsorted(known, epsilon)
        values = np.array([self.found[float(e)][1] for e in known])
        above = np.array([self.found[float(known[j])][0] for j in after])
        before = np.maximum(after - 1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            climb = (values[after] - values[before]) / np.log(known[after] / known[before])
        close = _LITTLE_OF_EPSILON * np.maximum(np.nan_to_num(climb, posinf=0.0, neginf=0.0), 0.0)
        return Known(above, np.where(after, values[before], 0.0), close)

    def room(self, first: Array, second: Array, bounds: Pair) -> Array:
        """How far above the straight line between two knots, midway."""
        boxes = np.array([self.found[float(e)][0] for e in second])
        value = np.array([self.found[float(e)][1] for e in first])
        beyond = np.array([self.found[float(e)][2] for e in second])
        if self.direction == "fall":
            room = self._room_of_valleys(boxes, value, first, second, bounds)
        else:
            room = self._room_of_tents(boxes, value, first, second, bounds)
        return np.where(beyond < value, room, np.inf)

    def _room_of_valleys(self, boxes: Array, value: Array, first: Array, second: Array, bounds: Pair) -> Array:
        row, low, high = self.along.runs(boxes, value)
        peaks = self.search.edges(low)[0], self.search.edges(high)[1]
        bottom, top = (np.clip(p, *self.search.prior.support) for p in peaks)
        gap = np.zeros(first.shape)
        np.maximum.at(gap, row, gap_of_tents(self.world, bottom, top, first[row], second[row], -1))
        return room_by_ratio(gap, 1.0, bounds)

    def _room_of_tents(self, boxes: Array, value: Array, first: Array, second: Array, bounds: Pair) -> Array:
        row, box = self.along.near(boxes, value)
        parts = (self._fine.size - 1) // boxes.shape[1]
        row, part = np.repeat(row, parts), (box[:, None] * parts + np.arange(parts)).ravel()
        sides, places = self._sides(row, part, first, second)
        gap = self._gaps.between(sides.pick(places[row, part]), sides.pick(places[row, part + 1]), first[row], second[row])
        found = self._largest(row, gap, (self._before[0][part], self._before[1][part]), bounds)
        for t in self.along.lasting:  # beliefs beyond it, from whatever they rise
            every = np.arange(first.size)
            ends = Sides.of(self.world, *self.search.edges(np.full(first.size, t)), first, second)
            gap = self._gaps.between(ends, ends, first, second)
            found = np.maximum(found, self._largest(every, gap, (np.zeros(1), np.zeros(1)), bounds))
        return found

    def _largest(self, row: NDArray[np.int64], gap: Array, before: Pair, bounds: Pair) -> Array:
        """The largest room of each row, of rises that start from some beliefs."""
        climbs = bounds[0][row], bounds[1][row]
        certain = before[1] + climbs[1] >= 1  # no belief after it is larger than 1
        most = np.where(certain, 1.0, 1 + climbs[0]), np.where(certain, 1.0, 1 + climbs[1])
        found = np.zeros(bounds[0].shape)
        np.maximum.at(found, row, room_by_odds(gap, before, climbs, most))
        return found

    def _sides(self, row: NDArray[np.int64], part: NDArray[np.int64], first: Array, second: Array) -> tuple[Sides, NDArray[np.int64]]:
        """What lies outside of the goals at both ends of each part, each asked once, and where it is among them."""
        needed = np.zeros((first.size, self._fine.size), dtype=bool)
        needed[row, part] = needed[row, part + 1] = True
        at, point = np.nonzero(needed)
        places = np.cumsum(needed.ravel()).reshape(needed.shape) - 1
        return Sides.of(self.world, *self.search.edges(self._fine[point]), first[at], second[at]), places

    @cached_property
    def _gaps(self) -> RestGaps:
        return RestGaps(self.world)

    @cached_property
    def _fine(self) -> Array:
        """Ends of the boxes, and of their parts."""
        points, parts = self.along.points, 1 if self._gaps.is_even else _FINER
        return np.interp(np.arange(parts * (points.size - 1) + 1) / parts, np.arange(points.size), points)

    @cached_property
    def _before(self) -> Pair:
        """Between which beliefs a rise starts in each part of a box; where it is the belief itself, from 0."""
        if self.direction == "posterior":
            return np.zeros(self._fine.size - 1), np.zeros(self._fine.size - 1)
        lo, hi = self.search.edges(self._fine)
        mass = self.search.prior.mass
        return mass(lo[1:], np.maximum(hi[:-1], lo[1:])), mass(lo[:-1], hi[1:])
