"""The curve of the worst true value: what bounds it at a knot helps at others, and between two of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from guessproof.risk.gaps import gap_of_tents, room_by_ratio
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.worst_along import Known, WorstAlong, WorstAt
from guessproof.risk.worst_case import Direction, TruthSearch, worst_true_value
from guessproof.risk.worst_rooms import Rooms
from guessproof.world.checks import Array

_LITTLE_OF_EPSILON = 1e-4  # what a bound between other knots may lose, as a share of ε
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
        close = _LITTLE_OF_EPSILON * np.maximum(values[after] - values[before], 0.0) / apart
        return Known(above, np.where(after, values[before], 0.0), close)

    def room(self, first: Array, second: Array, bounds: Pair) -> Array:
        """How far above the straight line between two knots, midway."""
        boxes = np.array([self.found[float(e)][0] for e in second])
        value = np.array([self.found[float(e)][1] for e in first])
        beyond = np.array([self.found[float(e)][2] for e in second])
        if self.direction == "fall":
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
