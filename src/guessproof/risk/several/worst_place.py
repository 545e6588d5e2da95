"""The worst true place of several numbers, by branch and bound over boxes of places (`moving`).

A box is bounded from its corners, first with bounds that cost nothing; only corners of boxes that may hold the worst
place are looked at with anchors. Places far out are bounded by the half-line beyond which their guesses lie. Where the
world looks the same from mirrored places, or from all places equally far from the mean, one of them stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count, product
from typing import Any

import numpy as np

from guessproof.risk.bracket import Effort
from guessproof.risk.several.belief import JointEngine
from guessproof.risk.several.bends import NormalBends
from guessproof.risk.several.carried import Carried
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.moving import BoxBeliefs, Moving, moving
from guessproof.risk.several.refining import looked_at_twice
from guessproof.risk.several.tiles import Edged, edge_attack, edge_bound
from guessproof.risk.several.unmixed import Unmixed
from guessproof.risk.truth_search import Direction
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.goals import And, Goal, Near, Norm

_WIDE = 0.1  # a box whose γ is larger is cut before its corners are looked at closely
_CLOSE_LOOKS = 60  # with anchors, where no time was given
_LOOKS, _ROUNDS_ONCE = 160, 1000  # looks where tiles are cut for every place, and boxes
_MOST_BOXES = 4000
_FARTHEST, _FAR = 1e6, 32.0  # standard deviations
_UNEVEN = 1.0  # change of ln p in a box that is cut for that alone
_NEAR_ENOUGH = 0.02  # in odds, between attack and bound at the place found
_ENDLESS = 1e6  # log-odds that are as good as infinite, with which weights can still be multiplied
_SLACK = 0.0078  # by which ε stays below what the worst place found allows, so that others need fewer looks
_ROUNDS, _SECANTS = 24, 8
_GOES_ON = 1.05  # times the limit: where no box exceeds it by more, the next ε goes on with these boxes
_USUAL = 0.0078  # relative width within which the worst place is looked for


_Box = tuple[float, int, Array, Array]  # minus what no place in it exceeds, its number, and its ends


@dataclass(frozen=True)
class Unsettled:
    """Boxes of places that may exceed a limit, and what all others are known to stay below."""

    boxes: list[_Box]
    far: float
    is_even: bool = False  # whether they came from a box in which two numbers can change places


@dataclass(frozen=True)
class WorstFound:
    """What no place exceeds, the place where the most was found, and how much that was (as a bound)."""

    bound: float
    place: Array
    value: float
    way: Array  # to that place, or to a mirrored one
    left: Unsettled


@dataclass(frozen=True)
class _Corner:
    """Beliefs at one place: ln p, ln(1 − p), and log-odds that are not exceeded."""

    log_p: float
    log_q: float
    odds: float
    looks: int = 0  # how closely it was looked at with anchors, 2 at most
    seen: Edged | None = None

    def value(self, after: bool) -> float:
        belief = float(np.exp(-np.logaddexp(0.0, -self.odds)))
        return belief if after else belief - float(np.exp(self.log_p))


@dataclass(frozen=True)
class WorstPlace:
    """A goal around an unknown place."""

    attributes: Mapping[str, Attribute]
    goal: Goal
    norm: Norm
    world: Moving
    turned: Unmixed | None = None  # where the numbers here are others than those asked about
    _corners: dict[Any, _Corner] = field(default_factory=dict[Any, _Corner], repr=False, compare=False)
    _carried: dict[bool, Carried | None] = field(
        default_factory=dict[bool, "Carried | None"], repr=False, compare=False
    )

    @classmethod
    def of(cls, attributes: Mapping[str, Attribute], goal: Goal, norm: Norm) -> WorstPlace | None:
        """None where places cannot be compared by moving the prior."""
        turned = Unmixed.of(attributes, goal, norm)
        attributes, goal = (attributes, goal) if turned is None else (turned.attributes, turned.goal)
        world = moving(attributes, goal, norm)
        return None if world is None else cls(attributes, goal, norm, world, turned)

    def worst(
        self,
        epsilon: float,
        aim: Direction,
        effort: Effort | None = None,
        enough: float = -np.inf,
        known: Unsettled | None = None,
    ) -> WorstFound:
        """What no place exceeds; where `enough` is given, no closer than to show that it is kept, or not.

        What is `known` at a larger ε holds at this one, since what is private here is private there.
        """
        misses, after = aim == "fall", aim == "posterior"
        if epsilon == 0 and not after:
            return WorstFound(0.0, self._declared(0 * self.world.mean), 0.0, 0 * self.world.mean, Unsettled([], 0.0))
        tolerance = _USUAL if effort is None else min(effort.tolerance, _USUAL)  # who asks gets no less
        left = self._allowance(effort)
        known = known or self._all(epsilon, misses, after, enough)
        boxes, far = [*known.boxes], known.far
        place, value = self._centre(*boxes[0][2:]), -np.inf
        ticket = count(max(box[1] for box in boxes) + 1)
        is_even = known.is_even

        def bounded(a: Array, b: Array) -> float:
            return self._bounded(a, b, epsilon, misses, after)

        while boxes:
            top, (_, _, a, b) = -boxes[0][0], boxes[0]
            if top <= max(far, enough, value * (1 + tolerance)) or value > enough > 0 or not left(len(boxes)):
                break
            heappop(boxes)
            ends = [self._at(a, b, corner) for corner in product((0, 1), repeat=self._axes(a, b).size)]
            gap = self.world.gap(a, b, epsilon, misses)
            looks = 0 if gap > _WIDE else 1 if gap > tolerance else 2
            found = [self._corner(end, epsilon, misses, looks).value(after) for end in ends] if looks else [value]
            if max(found) > value:
                place, value = ends[int(np.argmax(found))], max(found)
            better = min(bounded(a, b), top)  # its corners may have been looked at for a neighbour
            if better < top * (1 - 1e-9):
                heappush(boxes, (-better, next(ticket), a, b))
                continue
            for half in self._halves(a, b, epsilon, misses):
                if is_even and half[0][0] >= half[1][1]:  # the numbers change places in one that is kept
                    continue
                heappush(boxes, (-min(bounded(*half), top), next(ticket), *half))
        bound = min(max(far, -boxes[0][0] if boxes else -np.inf), 1.0)
        return WorstFound(bound, self._declared(place), value, place, Unsettled(boxes, far, is_even))

    def _all(self, epsilon: float, misses: bool, after: bool, enough: float) -> Unsettled:
        """All places, as one box."""
        low, high, far = self._range(epsilon, misses, after, enough)
        even = self.world.is_even and low[0] == low[1] and high[0] == high[1]
        return Unsettled([(-self._bounded(low, high, epsilon, misses, after), 0, low, high)], far, even)

    def _allowance(self, effort: Effort | None) -> Callable[[int], bool]:
        """Whether there is time left for another box."""
        rounds = count()
        if effort is not None:
            began = effort.clock()
            return lambda boxes: effort.clock() - began < effort.seconds
        if self.world.is_normal:
            return lambda boxes: next(rounds) < 4 * _CLOSE_LOOKS and boxes < _MOST_BOXES
        before = self._looks()
        return lambda boxes: self._looks() - before < _LOOKS and next(rounds) < _ROUNDS_ONCE

    def _looks(self) -> int:
        """How many looks with anchors there were."""
        return sum(corner.looks for corner in self._corners.values())

    def epsilon(self, limit: float, aim: Direction, start: float, effort: Effort | None = None) -> float:
        """The largest ε found that is proven to keep the limit at every place; `start` is where the search begins."""
        if limit >= 1:
            return np.inf
        began = 0.0 if effort is None else effort.clock()
        place = self._range(start, aim == "fall", aim == "posterior", limit)[0]
        epsilon = self._epsilon_at(place, limit, aim, start)
        trial, left = epsilon * (1 - _SLACK), None
        for _ in range(_ROUNDS):  # each at a lower ε than the one before
            work = effort if effort is None else replace(effort, seconds=effort.seconds / 3)
            found = self.worst(trial, aim, work, limit, left)
            left = found.left if found.bound <= limit * _GOES_ON else None  # many small boxes need more looks than few
            if found.bound <= limit:
                return trial * (1 - 1e-12)
            if effort is not None and effort.clock() - began > effort.seconds:
                trial *= 0.7
            elif found.value > limit:
                better = self._epsilon_at(found.way, limit, aim, trial)
                trial = min(better, trial) * (1 - _SLACK)
            else:
                trial *= max(0.8, limit / found.bound) * (1 - _SLACK / 4)
        return 0.0

    def _epsilon_at(self, way: Array, limit: float, aim: Direction, start: float) -> float:
        """About the ε at which one place reaches the limit."""
        misses, after = aim == "fall", aim == "posterior"

        def excess(log_epsilon: float) -> float:
            value = self._corner(way, float(np.exp(log_epsilon)), misses, looks=1).value(after)
            return float(np.log(max(value, 1e-300) / limit))

        at, value = float(np.log(start)), excess(float(np.log(start)))
        slope = 1.0
        for _ in range(_SECANTS):
            if abs(value) < 1e-3:
                break
            step = float(np.clip(-value / slope, -2.0, 2.0))
            new = excess(at + step)
            slope = float(np.clip((new - value) / step, 0.2, 5.0))
            at, value = at + step, new
        return float(np.exp(at - value / slope))

    def reached(self, epsilon: float, aim: Direction, found: WorstFound) -> tuple[float, Array, float]:
        """What an attacker is sure to gain at the place found or nearest to the mean; which it is, and its prior."""
        low, high = (np.array([a.range[e] for a in self.attributes.values()]) for e in (0, 1))
        tried = [found.place, np.clip(self.world.mean, low, high)]
        gains = [self._reached(epsilon, aim, place) for place in tried]
        best = int(np.argmax([value for value, _ in gains]))
        return gains[best][0], tried[best], gains[best][1]

    def _reached(self, epsilon: float, aim: Direction, place: Array) -> tuple[float, float]:
        sign = -1.0 if aim == "fall" else 1.0
        engine = JointEngine(JointAttack(self.attributes, self.named(place), self.norm), self.goal)
        prior = engine.prior()
        p = float(np.exp(prior.log_p if sign > 0 else prior.log_q))
        odds = sign * (prior.log_p - prior.log_q)
        if epsilon:
            odds += sign * engine.quick_attack(sign * epsilon)
            followed = self._followed(engine, epsilon, sign < 0, place)
            if followed is not None:
                odds = max(odds, edge_attack(followed, self.norm, epsilon))
            if followed is not None and not self.world.is_normal:
                side = ~self.goal if sign < 0 else self.goal
                odds = max(odds, looked_at_twice(engine.joint_attack, side, epsilon, _NEAR_ENOUGH)[0])
        belief = float(np.exp(-np.logaddexp(0.0, -odds)))
        return belief if aim == "posterior" else max(belief - p, 0.0), float(np.exp(prior.log_p))

    def _followed(self, engine: JointEngine, epsilon: float, misses: bool, place: Array) -> Edged | None:
        """Anchors around a place, under the attributes' own distances (which may be shorter than the world's)."""
        if self.attributes != self.world.attributes:
            return edge_bound(engine.joint_attack, ~self.goal if misses else self.goal, epsilon)
        carried = self._frames(misses)
        return None if carried is None else carried.bound(place, epsilon)

    def _declared(self, way: Array) -> Array:
        """The place at the end of a way, or the one mirrored in the mean that people can have."""
        low, high = (np.array([a.range[e] for a in self.attributes.values()]) for e in (0, 1))
        place, mirror = self.world.place(way), self.world.place(-way)
        apart = [np.maximum(np.maximum(low - p, p - high), 0.0) for p in (place, mirror)]
        return np.where(np.array(self.world.mirrored) & (apart[1] < apart[0]), mirror, place)

    def told(self, place: Array) -> dict[str, Any]:
        """A place as true values of the numbers that were asked about."""
        return self.named(place if self.turned is None else self.turned.back(place))

    def named(self, place: Array) -> dict[str, Any]:
        """A place as true values of the numbers here."""
        return dict(zip(self.attributes, place.tolist(), strict=True))

    # Where to look.

    @property
    def _is_round(self) -> bool:
        """Whether all places equally far from the mean are alike."""
        world, free = self.world, all(np.isinf(a.range).all() for a in self.attributes.values())
        even = len({*world.sd.tolist()}) == 1 and len({*world.slopes.tolist()}) == 1 and all(world.mirrored)
        disc = isinstance(self.goal, Near) and self.goal.by == "l2"
        return world.is_normal and free and even and disc and self.norm == "l2"

    def _range(self, epsilon: float, misses: bool, after: bool, enough: float) -> tuple[Array, Array, float]:
        """The box of places to look at, as ways from the mean, and what lies beyond it cannot exceed."""
        world = self.world
        low, high = (np.array([a.range[e] for a in self.attributes.values()]) - world.mean for e in (0, 1))
        if any(world.mirrored):  # mirrored places are alike, number by number
            alike, inside = np.array(world.mirrored), (low < 0) & (high > 0)
            near, far = np.where(inside, 0.0, np.minimum(abs(low), abs(high))), np.maximum(abs(low), abs(high))
            low, high = np.where(alike, near, low), np.where(alike, far, high)
        elif world.is_normal and np.isinf(low).all() and np.isinf(high).all():  # all numbers mirrored at once
            low[0] = 0.0
        middle = self._centre(low, high)
        small = 0.9 * enough if enough > 0 else 0.5 * self._corner(middle, epsilon, misses, looks=1).value(after)
        far = 0.0
        for axis in range(world.count):
            rate = 0.0 if misses else epsilon
            most = _FARTHEST if world.is_normal else _FAR  # a tail that ε outweighs never gets small
            cut = _beyond(lambda at, i=axis, e=rate: world.bends.beyond(i, at, e), float(world.sd[axis]), small, most)
            nearest = max(float(low[axis]), -float(high[axis]), 0.0)
            cut = max(cut, nearest + float(world.sd[axis]))
            if max(float(high[axis]), -float(low[axis])) > cut:
                far = max(far, world.bends.beyond(axis, cut, rate))
                low[axis], high[axis] = max(low[axis], -cut), min(high[axis], cut)
        if self._is_round:
            low[1:], high[1:] = 0.0, 0.0
        return low, high, far

    def _centre(self, low: Array, high: Array) -> Array:
        return np.clip(0.0, low, high)

    def _axes(self, low: Array, high: Array) -> Any:
        return np.flatnonzero(high > low)

    def _at(self, low: Array, high: Array, corner: tuple[int, ...]) -> Array:
        place = low.copy()
        for axis, end in zip(self._axes(low, high), corner, strict=True):
            place[axis] = high[axis] if end else low[axis]
        return place

    def _halves(self, low: Array, high: Array, epsilon: float, misses: bool) -> list[tuple[Array, Array]]:
        axis = self._uneven(low, high, epsilon, misses)
        if axis is None:
            axis = int(np.argmax((high - low) ** 2 * self.world.bent(low, high, epsilon, misses)))
        one, other = high.copy(), low.copy()
        one[axis] = other[axis] = self.world.bends.cut(axis, float(low[axis]), float(high[axis]))
        return [(low, one), (other, high)]

    def _uneven(self, low: Array, high: Array, epsilon: float, misses: bool) -> int | None:
        """The axis along which the prior changes most, if so much that a box bends along the other for that alone."""
        if self.world.is_normal:
            return None
        logs = np.full((2, 2), -np.inf)
        for corner in product((0, 1), repeat=2):
            found = self._corner(np.where(corner, high, low), epsilon, misses)
            logs[corner] = found.log_q if misses else found.log_p
        with np.errstate(invalid="ignore"):
            changes = [float(np.max(np.abs(np.diff(np.maximum(logs, -_ENDLESS), axis=axis)))) for axis in (0, 1)]
        return int(np.argmax(changes)) if max(changes) > _UNEVEN else None

    # What is known there.

    def _bounded(self, low: Array, high: Array, epsilon: float, misses: bool, after: bool) -> float:
        axes = self._axes(low, high)
        found = [self._corner(self._at(low, high, c), epsilon, misses) for c in product((0, 1), repeat=axes.size)]
        if not axes.size:
            return found[0].value(after)
        least = self.world.bends.within(low, high, epsilon, misses)
        if any(np.isinf(c.log_p) or np.isinf(c.log_q) for c in found):  # corners say nothing of what lies between them
            return least
        odds = np.clip([c.odds for c in found], -_ENDLESS, _ENDLESS)
        corners = BoxBeliefs(np.array([c.log_p for c in found]), np.array([c.log_q for c in found]),
                          -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds))  # fmt: skip
        return min(self.world.most(corners, low, high, epsilon, misses, after) + 1e-12, least)

    def _corner(self, way: Array, epsilon: float, misses: bool, looks: int = 0) -> _Corner:
        way = np.sort(way) if self.world.is_even else way
        key = (tuple(np.round(way / self.world.sd, 9).tolist()), epsilon, misses)
        known = self._corners.get(key) or self._first(way, epsilon, misses)
        carried = self._frames(misses)
        while carried is not None and epsilon and known.looks < looks:
            seen = carried.bound(self.world.place(way), epsilon, known.seen)
            known = replace(known, odds=min(known.odds, seen.bound), looks=known.looks + 1, seen=seen)
        self._corners[key] = known
        return known

    def _first(self, way: Array, epsilon: float, misses: bool) -> _Corner:
        place, sign = self.world.place(way), -1.0 if misses else 1.0
        engine = JointEngine(JointAttack(self.world.attributes, self.named(place), self.norm), self.goal)
        prior = engine.prior()
        p, q = (prior.log_q, prior.log_p) if misses else (prior.log_p, prior.log_q)
        odds = p - q + sign * (engine.quick_bound(sign * epsilon) if epsilon else 0.0)
        belief = 1.0 if misses else self.world.bends.within(way, way, epsilon, misses)
        return _Corner(p, q, odds if belief >= 1 else min(odds, max(p - q, float(np.log(belief / (1 - belief))))))

    @property
    def _is_correlated(self) -> bool:
        return isinstance(self.world.bends, NormalBends) and not self.world.bends.is_independent

    def _frames(self, misses: bool) -> Carried | None:
        if misses not in self._carried:
            goal = ~self.goal if misses else self.goal
            exact = self.norm == "l1" and isinstance(self.goal, And) and not self._is_correlated  # by the product rule
            found = None if exact else Carried.of(self.world.attributes, goal, self.norm, self.world.sd)
            self._carried[misses] = found
        return self._carried[misses]


def _beyond(belief: Callable[[float], float], unit: float, small: float, most: float) -> float:
    """A distance beyond which a falling belief is small, or so many units."""
    far = unit
    while belief(far) > small and far < most * unit:
        far *= 2
    low, high = 0.5 * far, far
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if belief(middle) <= small else (middle, high)
    return high
