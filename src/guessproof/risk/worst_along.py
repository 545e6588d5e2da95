"""The worst true value for many ε at once: one branch and bound over all of them, and where the worst can lie at each.

The boxes are those of `truth_ends`; each has an ε of its own. Thousands of them cost little more than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.chords import chord_bound
from guessproof.risk.truth_ends import Ends, box_bound, slope_range
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.risk.worst_case import first_points
from guessproof.world.checks import Array

LITTLE_OF_EPSILON = 1e-4  # what a bound between other knots may lose, as a share of ε
_CLOSE, _CLOSEST = 5e-5, 1e-6  # how far, as a share, the bound may exceed the worst value found
_PARTS = 4
_ROUNDS = 24
_FAR = 40  # doublings of the range that a typical ε needs
_MOST = 30_000  # boxes
_LITTLE = 1e-12


@dataclass(frozen=True, eq=False)
class WorstAt:
    """For each ε: the worst value found, what no true value exceeds, and the same for each of the first boxes.

    `beyond` is what no true value outside of the boxes exceeds, but for those that the last one inside stands for.
    """

    epsilon: Array
    value: Array
    bound: Array
    boxes: Array
    beyond: Array


@dataclass(frozen=True, eq=False)
class Known:
    """Of each ε, from its neighbours: what bounds each box, what some true value reaches, and how close is enough."""

    above: Array
    floor: Array
    close: Array


@dataclass(frozen=True, eq=False)
class WorstAlong:
    """A goal whose true value is unknown, asked for many ε up to the largest one that its range was made for."""

    goal: TruthSearch
    direction: Direction
    typical: float
    largest: float
    least: float = 0.0  # what is reached at ε = 0: only what exceeds it counts

    @cached_property
    def points(self) -> Array:
        """Ends of the first boxes, the same for every ε: dense where a typical ε needs them, ever wider outside."""
        low, high, _ = self.goal.tails(self.typical, self.direction)
        first, last, _ = self.goal.tails(self.largest, self.direction)
        kinds = self.goal.prior.tails  # beyond memoryless tails the belief only falls, for every ε
        first, last = (low if kinds[0] == "memoryless" else first), (high if kinds[1] == "memoryless" else last)
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        far = middle + half * np.array([-1.0, 1.0])[:, None] * 2.0 ** np.arange(1, _FAR)
        far = np.concatenate([far.ravel(), [first, last]])
        outside = far[((far < low) | (far > high)) & (far >= first) & (far <= last)]
        return np.union1d(first_points(self.goal, low, high, 24), outside)

    @cached_property
    def _possible(self) -> NDArray[np.bool_]:
        return np.asarray(self.goal.prior.mass(self.points[:-1], self.points[1:]) > 0)

    def at(self, epsilon: Array, known: Known | None = None) -> WorstAt:
        """The worst true values, helped by what is known at neighbouring ε."""
        shape = epsilon.size, self.points.size - 1
        known = Known(np.ones(shape), np.zeros(shape[0]), np.zeros(shape[0])) if known is None else known
        asked = np.broadcast_to(self._possible, shape) & (known.above >= known.floor[:, None])
        with np.errstate(all="ignore"):
            return self._searched(epsilon, np.where(self._possible, known.above, 0.0), asked, known.close)

    def reached(self, epsilon: Array) -> Array:
        """What some of the points reach."""
        with np.errstate(all="ignore"):
            ends, places = self._ends(epsilon, np.broadcast_to(self._possible, (epsilon.size, self.points.size - 1)))
        each = np.append(ends.value, -np.inf)[np.where(places >= 0, places, -1)]
        return np.max(each, axis=1)

    def _searched(self, epsilon: Array, boxes: Array, asked: NDArray[np.bool_], close: Array) -> WorstAt:
        ends, places = self._ends(epsilon, asked)
        which, box = np.nonzero(asked)
        left, right = ends.pick(places[which, box]), ends.pick(places[which, box + 1])
        value, beyond = np.full(epsilon.size, -np.inf), self._beyond(epsilon, (0, 1))
        np.maximum.at(value, which, np.maximum(left.value, right.value))
        close = np.where(close > 0, close, self._worth(epsilon, value))
        found = np.where(asked, 0.0, boxes)  # the largest bound in each of the first boxes
        settled = np.maximum(beyond, np.max(found, axis=1, initial=0.0))
        for i in range(_ROUNDS + 1):
            most = np.maximum(value, settled)
            near = np.where(close > 0, close, _CLOSE * np.maximum(most - self.least, 0.0))
            enough = most + near + 1e-13
            bound = np.minimum(self._bounds(left, right, epsilon[which], enough[which]), boxes[which, box])
            wide = bound > enough[which]
            if i == _ROUNDS or np.count_nonzero(wide) > _MOST:
                wide[:] = False
            np.maximum.at(settled, which[~wide], bound[~wide])
            np.maximum.at(found, (which[~wide], box[~wide]), bound[~wide])
            if not wide.any():
                break
            which, box = which[wide], box[wide]
            left, right, inner = _split(self.goal, left.pick(wide), right.pick(wide), epsilon[which], self.direction)
            np.maximum.at(value, np.tile(which, _PARTS - 1), inner.value)
            which, box = np.tile(which, _PARTS), np.tile(box, _PARTS)
        others = self._beyond(epsilon, [side for side in (0, 1) if not self._falls(side)])
        return WorstAt(epsilon, value, np.maximum(settled, value), found, others)

    def _worth(self, epsilon: Array, value: Array) -> Array:
        """How close is enough, told by how fast what is reached rises with ε; 0 where only one ε is asked."""
        if epsilon.size < 2:
            return np.zeros(epsilon.size)
        rise = np.gradient(value, np.log(epsilon))
        most = np.maximum(value - self.least, 0.0)
        return np.clip(LITTLE_OF_EPSILON * rise, _CLOSEST * most, _CLOSE * most)

    def _ends(self, epsilon: Array, asked: NDArray[np.bool_]) -> tuple[Ends, NDArray[np.int64]]:
        """The ends of the boxes that are asked, each once, and where each point of each ε is among them."""
        needed = np.zeros((epsilon.size, self.points.size), dtype=bool)
        needed[:, :-1] |= asked
        needed[:, 1:] |= asked
        row, point = np.nonzero(needed)
        places = np.cumsum(needed.ravel()).reshape(needed.shape) - 1
        return Ends.at(self.goal, self.points[point], epsilon[row], self.direction), places

    def _bounds(self, left: Ends, right: Ends, epsilon: Array, enough: Array) -> Array:
        """What no true value of a box exceeds: chord and parabola, or what else there is where these say too little."""
        bound = self._falling(left, right, chord_bound(self.goal, left, right, epsilon, self.direction))
        rest = np.flatnonzero(bound > enough)
        if rest.size:
            a, b, e = left.pick(rest), right.pick(rest), epsilon[rest]
            low, high = slope_range(self.goal, a, b, e, self.direction)
            one_end = (low >= 0) | (high <= 0)
            asked = np.where(np.isinf(bound[rest]), enough[rest], -np.inf)
            by_slope = box_bound(self.goal, a, b, low, high, e, self.direction, asked)
            found = np.where(one_end, np.maximum(a.bound, b.bound), by_slope)
            bound[rest] = np.fmin(bound[rest], np.where(np.isnan(found), 1.0, found))
        return bound

    def _falling(self, left: Ends, right: Ends, bound: Array) -> Array:
        """Along memoryless tails the belief itself only falls, and an advantage is at most the belief."""
        goal = self.goal
        if self.direction == "fall" or not goal.fixed_radius or not goal.form.is_straight:
            return bound
        before = 0.0 if self.direction == "posterior" else 1.0
        corners = [x for x in (*goal.prior.support, *goal.prior.breaks) if np.isfinite(x)]
        for side, near in ((0, right), (1, left)):
            if goal.prior.tails[side] == "memoryless" and corners:
                lo, hi = goal.edges(near.t)
                outside = lo >= max(corners) if side else hi <= min(corners)
                bound = np.where(outside, np.minimum(bound, near.bound + before * near.prior), bound)
        return bound

    def _falls(self, side: int) -> bool:
        """Whether beyond the last point of a side every belief is at most the one at that point."""
        goal = self.goal
        tents = self.direction != "fall" and goal.form.is_straight and goal.fixed_radius
        return tents and goal.prior.tails[side] == "memoryless" and not np.isfinite((goal.low, goal.high)[side])

    def _beyond(self, epsilon: Array, sides: Sequence[int]) -> Array:
        """What no true value beyond the first or the last point exceeds."""
        found = np.zeros(epsilon.size)
        for side in sides:
            if np.isfinite((self.goal.low, self.goal.high)[side]):
                continue
            t, kind = float(self.points[-side]), self.goal.prior.tails[side]
            most = self.goal.beyond(t, side, kind, float(np.max(epsilon)), self.direction)  # it rises with ε
            if most <= _LITTLE:
                each: Array | float = most
            elif self._falls(side):
                last = Ends.at(self.goal, np.full(epsilon.size, t), epsilon, self.direction)
                each = last.bound + (0.0 if self.direction == "posterior" else last.prior)
            else:
                each = np.array([self.goal.beyond(t, side, kind, float(e), self.direction) for e in epsilon])
            found = np.maximum(found, each)
        return found

    def near(self, boxes: Array, value: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the worst true value can be for a smaller ε: the boxes that exceed a value, each with its row."""
        row, box = np.nonzero(boxes >= value[:, None])
        return row, box

    def runs(self, boxes: Array, value: Array) -> tuple[NDArray[np.int64], Array, Array]:
        """The same as runs of such boxes: for each its row, its lower and its upper end.

        Worst values on both sides of a middle are two runs, and what lies between them does not count.
        """
        some = np.zeros((boxes.shape[0], boxes.shape[1] + 2), dtype=bool)
        some[:, 1:-1] = boxes >= value[:, None]
        row, first = np.nonzero(some[:, 1:] & ~some[:, :-1])
        _, last = np.nonzero(some[:, :-1] & ~some[:, 1:])
        return row, self.points[first], self.points[last]

    @property
    def lasting(self) -> Array:
        """Points that stand for all true values beyond them: beliefs there are at most the one at the point."""
        return np.array([self.points[-side] for side in (0, 1) if self._falls(side)])


def _split(goal: TruthSearch, left: Ends, right: Ends, epsilon: Array, direction: Direction) -> tuple[Ends, Ends, Ends]:
    share = (np.arange(1, _PARTS) / _PARTS)[:, None]
    t = (1 - share) * left.t + share * right.t
    inner = Ends.at(goal, t.ravel(), np.tile(epsilon, _PARTS - 1), direction, left.guess(right, share))
    return left.join(inner), inner.join(right), inner
