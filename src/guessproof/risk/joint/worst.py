"""The worst true values of several attributes: what none gives the attacker more than.

Finite attributes are tried one combination after the other, a weighted sum of normal numbers is one number, and places
of two numbers are searched by `places`. Any tree of independent attributes is bounded by boxes of true values and the
product rule: in a box the belief in one part lies in low … high before the release and rises by at most `rise`, so

    an AND rises by at most Π min(p + rise, 1) − Π p, which is largest at p = 1 − rise, or at the end of the box nearest
    to it; an OR by at most Π q − Π max(q − rise, 0), largest at q = 1 − low.

A fall is a rise of the complement. A belief near a place is at most that in the box around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError, TrueValueError
from guessproof.risk.bracket import Direction, Worst
from guessproof.risk.combinations import (
    Combinations,
    open_truths,
    true_combinations,
    true_values_of,
)
from guessproof.risk.joint.engine import JointBounds, typical_epsilon
from guessproof.risk.joint.formula import GoalBlock, Tree, blocks, negated, normal
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.risk.joint.one_number import OneNumber, one_number
from guessproof.risk.joint.places import PlaceBoxes, PlaceFound, change, judged
from guessproof.risk.joint.tables import is_finite
from guessproof.risk.limits import Belief, advantage_of, largest_epsilon
from guessproof.risk.line.worst import WorstSearch
from guessproof.risk.worst_truth import WorstTruth, worst_search
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Conditional, Goal, Near, Norm, Not, Within

MOST = 2000  # true combinations that are tried
MOST_BOXES = 500_000  # of all attributes together; each alone is cut into 2,000 at most
SHY = 0.005  # by how much ε stays below what the worst place found allows, so that others need fewer looks
ROUNDS = 20  # of a search for ε, each at a lower one
STEPS = (
    0.7,
    0.98,
)  # by which ε falls at least and at most where a place other than the worst one is open
SEARCHED = 1e-3  # relative error of a search for ε
LOOSE = 1.1  # times what a place gives: a bound that the product rule may bring down
LEAST = 1e-9  # times a typical ε: of 0 boxes with infinite ends know nothing
ROUNDING = 1 + 1e-12
REMEDY = (
    "give at={…}, as of formulas it is for weighted sums of independent normal numbers and for listed values, and of "
    "two independent numbers under normal, uniform, exponential, Laplace or histogram priors"
)


def worst_truths(attributes: Mapping[str, Attribute], goal: Goal, norm: Norm) -> WorstTruth:
    """All true values of a goal about several attributes."""
    alone = None if isinstance(goal, Not) else one_number(attributes, goal, norm)
    if alone is not None:
        return WorstTruth(WorstSum(alone), "worst value of the formula, as one number")
    if is_finite(JointAttack(attributes, {}, norm), goal):
        rows = WorstRows.of(attributes, goal, norm)
        return WorstTruth(rows, "worst of all combinations of true values")
    return WorstTruth(WorstPlaces(attributes, goal, norm), "worst true values by boxes of them")


@dataclass(frozen=True)
class WorstSum:
    """A weighted sum of normal numbers, whose worst true value is that of one number; it is named by the sum's."""

    sum: OneNumber

    def worst(self, epsilon: float, direction: Direction) -> Worst:
        """The worst value of the sum that was found, and what none exceeds."""
        most = self._search(self.sum.bounding).worst(epsilon, direction)
        reached = replace(most, value=most.prior if direction == "posterior" else 0.0)
        if self.sum.reaching is not None:
            reached = self._search(self.sum.reaching).worst(epsilon, direction)
        at = {self.sum.bounding.attribute.name: reached.at}
        return Worst(at, min(reached.value, most.bound), most.bound, reached.prior)

    def epsilon(self, limit: float, direction: Direction) -> float:
        """The largest ε at which no value of the sum exceeds a limit."""
        return self._search(self.sum.bounding).epsilon(limit, direction)

    @staticmethod
    def _search(goal: Goal) -> WorstSearch:
        return worst_search(goal.attribute, goal)


@dataclass(frozen=True, eq=False)
class WorstRows:
    """All combinations of true values of finite attributes that have an answer of their own."""

    belief: Belief
    truths: list[dict[str, Any]]
    certain: dict[str, Any] | None

    @classmethod
    def of(cls, attributes: Mapping[str, Attribute], goal: Goal, norm: Norm) -> WorstRows:
        """The rows of a goal."""
        table = Combinations.of([attributes[a.name] for a in goal.attributes])
        truths, inner = true_combinations(attributes, goal), goal
        if isinstance(goal, Conditional):  # nobody has values that the attacker rules out
            table = table.where(table.correct(goal.region, {}), goal.region)
            inner = goal.goal
            for known in goal.known:
                names = [a.name for a in known.members]
                truths = [row for row in truths if known.holds([row[n] for n in names], None)]
        found = open_truths(table, inner, truths)
        if not found.truths:
            raise TrueValueError(
                "at", None, "the goal is certain for every true value", "choose a narrower goal"
            )
        if len(found.truths) > MOST:
            raise NotCertifiedError(
                f"{len(found.truths)} combinations of true values are too many; give one with at={{…}}"
            )
        each = [
            JointBounds(JointAttack(attributes, row, norm), goal).belief()
            for row in found.truths
        ]

        def gain(k: Array) -> tuple[Array, Array]:
            pairs = [
                one.gain(own)
                for one, own in zip(each, np.broadcast_to(k, len(each)), strict=True)
            ]
            attack, bound = np.array(pairs).T
            return attack, bound

        log_p, log_q = np.array([(one.log_p, one.log_q) for one in each]).T
        return cls(
            Belief(log_p, log_q, gain, each[0].how, each[0].relative),
            found.truths,
            found.certain,
        )

    def worst(self, epsilon: float, direction: Direction) -> Worst:
        """The worst row, and what none exceeds."""
        if direction == "posterior" and self.certain is not None:
            return Worst(self.certain, 1.0, 1.0, 1.0)
        own = self.belief
        gains = own.gain(np.asarray(-epsilon if direction == "fall" else epsilon))
        attack, bound = (change(own.log_p, own.log_q, gain, direction) for gain in gains)
        best = int(np.argmax(attack))
        return Worst(
            self.truths[best],
            float(attack[best]),
            float(np.max(bound)),
            float(np.exp(own.log_p[best])),
        )

    def epsilon(self, limit: float, direction: Direction) -> float:
        """The largest ε at which no row exceeds a limit."""
        if direction == "posterior":
            limit = max(limit, float(np.exp(np.max(self.belief.log_p))))
            return float(np.min(self.belief.epsilon(posterior=limit)))
        belief = self.belief.turned if direction == "fall" else self.belief
        return float(np.min(belief.epsilon(limit)))


@dataclass(frozen=True, eq=False)
class WorstPlaces:
    """True values of independent attributes of which some have a density."""

    attributes: Mapping[str, Attribute]
    goal: Goal
    norm: Norm

    @cached_property
    def places(self) -> PlaceBoxes | None:
        """All places, where they can be searched."""
        return PlaceBoxes.of(self.attributes, self.goal, self.norm)

    def worst(self, epsilon: float, direction: Direction) -> Worst:
        """The worst true values found, and what none exceed."""
        if self.places is None or not epsilon:
            bound, at = self.by_boxes(epsilon, direction)
        else:
            found = self._found(self.places, epsilon, direction)
            bound, at = found.bound, dict(zip(self.places.attributes, found.place, strict=True))
        if not epsilon and direction != "posterior":
            bound = 0.0
        try:
            engine = JointBounds(JointAttack(self.attributes, at, self.norm), self.goal)
            prior, value = engine.prior(), judged(engine, epsilon, direction, attack=True)
        except TrueValueError:  # none can lie there
            return Worst(at, 0.0, bound, 0.0)
        return Worst(at, min(value, bound), bound, float(np.exp(prior.log_p)))

    def _found(
        self, places: PlaceBoxes, epsilon: float, direction: Direction, enough: float = 0.0
    ) -> PlaceFound:
        """What no place exceeds; with `enough`, no closer than to show that it is kept or not."""
        found = places.worst(epsilon, direction, enough)
        if found.bound <= max(enough, found.value * LOOSE):
            return found
        return replace(found, bound=min(found.bound, self.by_boxes(epsilon, direction)[0]))

    def epsilon(self, limit: float, direction: Direction) -> float:
        """The largest ε found at which the limit is proven to hold for all true values."""
        if not 0 < limit < 1:
            return math.inf if limit else 0.0
        places = self.places
        if places is None:
            return self._largest(lambda e: self.by_boxes(e, direction)[0], limit)
        place, epsilon = places.middle, math.inf
        for _ in range(ROUNDS):
            value = partial(places.at, place, aim=direction)
            epsilon = min(epsilon, self._largest(value, limit) * (1 - SHY))
            if not epsilon:
                break
            found = self._found(places, epsilon, direction, limit)
            if found.bound <= limit:
                return epsilon / ROUNDING
            if found.value <= limit:
                base = value(0.0)
                epsilon *= float(np.clip((limit - base) / (found.bound - base), *STEPS))
            place = found.place
        return 0.0

    def _largest(self, bound: Callable[[float], float], limit: float) -> float:
        base = bound(0.0)
        rise, start = np.asarray(max(limit - base, 0.0)), typical_epsilon(self.attributes)
        found = largest_epsilon(
            lambda e: np.asarray(bound(float(e)) - base), rise, start=start, relative=SEARCHED
        )
        return float(found)

    # The product rule over boxes of true values.

    def by_boxes(self, epsilon: float, direction: Direction) -> tuple[float, dict[str, Any]]:
        """What no true values exceed by the product rule, and about where it is reached."""
        goal = self.goal
        if isinstance(goal, Near) and goal.by != "linf":
            goal = And(tuple(Within(a, goal.radius) for a in goal.members))
            direction = "posterior"
        tree = negated(normal(goal)) if direction == "fall" else normal(goal)
        own = blocks(tree)
        along = {
            block: self._true_boxes(block, epsilon, len(own)).shaped(i, len(own))
            for i, block in enumerate(own)
        }
        whole = joined(tree, along)
        value = (
            np.minimum(whole.high + whole.rise, 1) if direction == "posterior" else whole.rise
        )
        value = np.broadcast_to(value, [along[block].high.size for block in own])
        found = np.unravel_index(int(np.argmax(value)), value.shape)
        at = {
            block.goal.attributes[0].name: along[block].at[int(i)]
            for block, i in zip(own, found, strict=True)
            if along[block].at
        }
        return min(float(np.max(value)) * ROUNDING, 1.0), at

    def _true_boxes(self, block: GoalBlock, epsilon: float, count: int) -> TrueBoxes:
        """Boxes of one attribute's true values."""
        misses = isinstance(block.goal, Not)
        goal = block.goal.part if isinstance(block.goal, Not) else block.goal
        if not block.is_single:
            raise NotCertifiedError(
                f"the worst true value is not searched for {block!r}, whose attributes hang together; {REMEDY}"
            )
        attribute = self.attributes[goal.attributes[0].name]
        if isinstance(attribute.prior, Finite) or not goal.depends_on_truth:
            found = self._values(attribute, goal, epsilon, misses)
        else:
            size = min(MOST, int(MOST_BOXES ** (1 / count)))
            found = self._intervals(attribute, goal, epsilon, misses, size)
        return replace(found, low=1 - found.high, high=1 - found.low) if misses else found

    def _values(
        self, attribute: Attribute, goal: Goal, epsilon: float, misses: bool
    ) -> TrueBoxes:
        """Beliefs before and rises at true values that stand for all."""
        values = true_values_of(attribute, goal) if goal.depends_on_truth else []
        truths = [{attribute.name: v} for v in values] or [{}]
        parts = [JointAttack(self.attributes, row, self.norm).single(goal) for row in truths]
        shifts = [part.shift(-epsilon if misses else epsilon, 1) for part in parts]
        before = np.exp([s.log_p for s in shifts])
        rises = [abs(float(advantage_of(s.log_p, s.log_q, s.gain))) for s in shifts]
        return TrueBoxes(before, before, np.array(rises), values)

    def _intervals(
        self, attribute: Attribute, goal: Goal, epsilon: float, misses: bool, count: int
    ) -> TrueBoxes:
        """Beliefs before and rises between neighbouring true values, and beyond the outermost."""
        search = worst_search(attribute, goal)
        epsilon = max(epsilon, LEAST * typical_epsilon(self.attributes))
        start, end, beyond = search.range_of(epsilon, "rise")
        points = search.points(start, end)
        share = np.linspace(0, points.size - 1, count)
        points = np.unique(np.interp(share, np.arange(points.size), points))
        rise = search.over(points, epsilon, "fall" if misses else "rise").most
        lo, hi = goal.edges(points)[0]
        low = search.prior.mass(lo[1:], np.maximum(hi[:-1], lo[1:]))
        high, middle = search.prior.mass(lo[:-1], hi[1:]), 0.5 * points[1:] + 0.5 * points[:-1]
        if np.any(np.isinf(attribute.range)):
            low, middle = np.append(low, 0.0), np.append(middle, middle[0])
            high, rise = np.append(high, beyond), np.append(rise, beyond)
        return TrueBoxes(low, high, rise, middle.tolist())


@dataclass(frozen=True, eq=False)
class TrueBoxes:
    """In each box of true values the belief before lies in low … high and rises by at most `rise`; `at` lies in it."""

    low: Array
    high: Array
    rise: Array
    at: Sequence[Any] = ()

    def shaped(self, axis: int, count: int) -> TrueBoxes:
        """The same along one of several axes."""
        shape = [-1 if i == axis else 1 for i in range(count)]
        low, high, rise = (np.reshape(x, shape) for x in (self.low, self.high, self.rise))
        return TrueBoxes(low, high, rise, self.at)


def joined(tree: Tree, parts: Mapping[GoalBlock, TrueBoxes]) -> TrueBoxes:
    """The boxes of a tree of independent parts, each along an axis of its own.

    >>> from guessproof.risk.joint.formula import Gate
    >>> from guessproof.world.goals import exactly
    >>> x, y = (GoalBlock(exactly(Attribute(name, Finite.of({0: 0.5, 1: 0.5})))) for name in "xy")
    >>> half = TrueBoxes(np.array([0.5]), np.array([0.5]), np.array([0.25]))
    >>> float(joined(Gate("and", (x, y)), {x: half, y: half}).rise[0])
    0.3125
    """
    if isinstance(tree, GoalBlock):
        return parts[tree]
    found = [joined(part, parts) for part in tree.parts]
    if (
        tree.kind == "or"
    ):  # all parts missed: 1 − belief lies in 1 − high … 1 − low, and falls by at most `rise`
        least, most = (
            _times([1 - box.high for box in found]),
            _times([1 - box.low for box in found]),
        )
        left = _times([np.maximum(1 - box.low - box.rise, 0.0) for box in found])
        return TrueBoxes(1 - most, 1 - least, most - left)
    start = [np.clip(1 - box.rise, box.low, box.high) for box in found]
    end = [np.minimum(p + box.rise, 1.0) for p, box in zip(start, found, strict=True)]
    low, high = _times([box.low for box in found]), _times([box.high for box in found])
    return TrueBoxes(low, high, _times(end) - _times(start))


def _times(parts: list[Array]) -> Array:
    return reduce(np.multiply, parts)
