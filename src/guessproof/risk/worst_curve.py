"""The curve of the worst true value: what bounds it at a knot helps at others, and between two of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from guessproof.risk.capped import Hills
from guessproof.risk.capped_gaps import gap_of_hills
from guessproof.risk.gaps import gap_across, gap_of_tents, room_by_ratio
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.risk.worst_along import LITTLE_OF_EPSILON, Known, WorstAlong, WorstAt
from guessproof.risk.worst_case import worst_true_value
from guessproof.risk.worst_rooms import Rooms
from guessproof.world.checks import Array

_APART = 1e-3  # the least difference of ln ε that tells how fast the worst value rises
_LARGEST = 1e4  # times a typical ε: as far as knots reach

Pair = tuple[Array, Array]


class WorstTruths:
    """The worst true value at many ε; what is known at one helps between it and its neighbours."""

    def __init__(self, search: TruthSearch, direction: Direction, typical: float) -> None:
        self.search = search
        self.direction: Direction = direction
        self.world = TiltedIntegrals(search.prior, search.form)
        least = worst_true_value(search, 0.0, "posterior").bound if direction == "posterior" else 0.0
        self.along = WorstAlong(replace(search, by_tables=True), direction, typical, typical * _LARGEST, least)
        self.found: dict[float, tuple[Array, float, float]] = {}

    def measure(self, epsilon: Array) -> tuple[Array, Array]:
        """What some true value reaches, and what none exceeds."""
        found: WorstAt = self.along.at(epsilon, self._known(epsilon))
        for i, e in enumerate(epsilon):
            self.found[float(e)] = (found.boxes[i], float(found.value[i]), float(found.beyond[i]))
        return found.value, found.bound

    def rough(self, epsilon: Array) -> Array:
        """What the ends of the first boxes reach: nothing that is proven, but at once."""
        return self.along.reached(epsilon)

    def _known(self, epsilon: Array) -> Known | None:
        """Boxes of a larger ε, the value at a smaller one, and what some of ε is worth between them."""
        known = np.array(sorted(self.found))
        if not known.size or epsilon.max() > known[-1]:
            return None
        after = np.searchsorted(known, epsilon)
        values = np.array([self.found[float(e)][1] for e in known])
        above = np.array([self.found[float(known[j])][0] for j in after])
        before = np.maximum(after - 1, 0)
        apart = np.maximum(np.log(known[after] / known[before]), _APART)  # some are the same but for rounding
        close = LITTLE_OF_EPSILON * np.maximum(values[after] - values[before], 0.0) / apart
        return Known(above, np.where(after, values[before], 0.0), close)

    def room(self, first: Array, second: Array, bounds: Pair) -> Array:
        """How far above the straight line between two knots, midway."""
        boxes = np.array([self.found[float(e)][0] for e in second])
        value = np.array([self.found[float(e)][1] for e in first])
        beyond = np.array([self.found[float(e)][2] for e in second])
        if np.isfinite(self.search.form.cap):
            room = self._room_of_hills(boxes, value, first, second, bounds)
        elif self.direction == "fall":
            room = self._room_of_valleys(boxes, value, first, second, bounds)
        else:
            row, box = self.along.near(boxes, value)
            points, last = self.along.points, self.along.lasting
            room = Rooms(self.search, first, second, bounds, self.direction).of(row, points[box], points[box + 1], last)
        return np.where(beyond < value, room, np.inf)

    def _room_of_valleys(self, boxes: Array, value: Array, first: Array, second: Array, bounds: Pair) -> Array:
        row, low, high = self.along.runs(boxes, value)
        peaks = self.search.edges(low)[0], self.search.edges(high)[1]
        bottom, top = (np.clip(p, *self.search.prior.support) for p in peaks)
        gap = np.zeros(first.shape)
        np.maximum.at(gap, row, gap_of_tents(self.world, bottom, top, first[row], second[row], -1))
        return room_by_ratio(gap, 1.0, bounds)

    def _room_of_hills(self, boxes: Array, value: Array, first: Array, second: Array, bounds: Pair) -> Array:
        """The same of mountains and basins whose flat parts are in goals of true values near the worst."""
        row, low, high = self.along.runs(boxes, value)
        every, last = np.arange(first.size), self.along.lasting
        row = np.concatenate([row, np.repeat(every, last.size)])
        low, high = (np.concatenate([t, np.tile(last, first.size)]) for t in (low, high))
        form, support = self.search.form, self.search.prior.support
        across = gap_across(form.cap + form.step, first, second)
        if any(form.jumps) or form.step:
            return room_by_ratio(across, self._most_before, bounds)
        flat = tuple(np.clip(e, *support) for e in (self.search.edges(low)[0], self.search.edges(high)[1]))
        gap = np.zeros(first.shape)
        sign = -1 if self.direction == "fall" else 1
        found = gap_of_hills(self.hills, (flat[0], flat[1]), (first[row], second[row]), sign)
        np.maximum.at(gap, row, found)
        return room_by_ratio(np.fmin(gap, across), self._most_before, bounds)

    @cached_property
    def hills(self) -> Hills:
        """All mountains."""
        return Hills.of(self.search.prior, self.search.form)

    @cached_property
    def _most_before(self) -> float:
        """The largest belief that a move starts from; where it is no move but the belief itself, 0."""
        if self.direction == "posterior":
            return 0.0
        return 1.0 if self.direction == "fall" else worst_true_value(self.search, 0.0, "posterior").bound
