"""The worst true values of several attributes: what none gives the attacker more than.

Finite attributes are tried one combination after the other (`all_truths`). Numbers with a goal of one shape around them
are searched by `places`. Any tree of independent attributes is bounded by boxes of true values and the product rule: in
a box the belief in one part lies in low … high before the release and rises by at most `rise` (`line.worst`), so

    an AND rises by at most Π min(p + rise, 1) − Π p, which is largest at p = 1 − rise, or at the end of the box nearest
    to it; an OR by at most Π q − Π max(q − rise, 0), largest at q = 1 − low.

A fall is a rise of the complement. A belief near a place is at most that in the box around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError, TrueValueError
from guessproof.risk.bracket import Direction
from guessproof.risk.combinations import Combinations, OpenTruths, open_truths
from guessproof.risk.joint.engine import JointBounds
from guessproof.risk.joint.formula import GoalBlock, Tree, blocks, negated, normal
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.risk.joint.places import Place, PlaceFound, PlaceSearch
from guessproof.risk.joint.tables import is_finite
from guessproof.risk.limits import advantage_of, largest_epsilon, posterior_of
from guessproof.risk.line.worst import WorstSearch
from guessproof.risk.truths import true_combinations, true_values_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.formulas import FormulaGoal
from guessproof.world.goals import And, Conditional, Goal, Near, Norm, Not, Together, Within
from guessproof.world.line import LinePrior

MOST = 2000  # true combinations that are tried
MOST_BOXES = 500_000  # of all attributes together; each alone is cut into 2,000 at most
SHY = 0.01  # by how much ε stays below what the worst place found allows, so that others need fewer looks
ROUNDS = 20  # of a search for ε, each at a lower one
STEPS = 0.7, 0.98  # by which ε falls at least and at most in one of them
SEARCHED = 1e-3  # relative error of a search for ε
LOOSE = 1.1  # times what a place gives: a bound that the product rule may bring down
ROUNDING = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class TrueBoxes:
    """In each box of true values the belief before lies in low … high and rises by at most `rise`."""

    low: Array
    high: Array
    rise: Array

    @property
    def most(self) -> Array:
        """The belief after the release."""
        return np.minimum(self.high + self.rise, 1.0)


def joined(tree: Tree, parts: Mapping[GoalBlock, TrueBoxes]) -> TrueBoxes:
    """The same of a tree of independent parts, each along an axis of its own.

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
    if tree.kind == "or":
        start = [1 - box.low for box in found]
        end = [np.maximum(1 - box.low - box.rise, 0.0) for box in found]
        low, high = (1 - _times([1 - side for side in sides]) for sides in _ends(found))
        return TrueBoxes(low, high, _times(start) - _times(end))
    start = [np.clip(1 - box.rise, box.low, box.high) for box in found]
    end = [np.minimum(p + box.rise, 1.0) for p, box in zip(start, found, strict=True)]
    low, high = (_times(sides) for sides in _ends(found))
    return TrueBoxes(low, high, _times(end) - _times(start))


def _ends(boxes: list[TrueBoxes]) -> tuple[list[Array], list[Array]]:
    return [box.low for box in boxes], [box.high for box in boxes]


def _times(parts: list[Array]) -> Array:
    return reduce(np.multiply, parts)


def all_truths(
    attributes: Mapping[str, Attribute], goal: Goal, norm: Norm
) -> OpenTruths | None:
    """The true values of finite attributes that stand for all; None where some attribute has a density."""
    joint_attack = JointAttack(attributes, {}, norm)
    if not is_finite(joint_attack, goal):
        return None
    table, truths = (
        Combinations.of(joint_attack.members(goal)),
        true_combinations(attributes, goal),
    )
    if isinstance(goal, Conditional):  # nobody has values that the attacker rules out
        table = table.where(table.correct(goal.region, {}), goal.region)
        truths = [truth for truth in truths if _is_possible(goal.region, truth)]
        goal = goal.goal
    found = open_truths(table, goal, truths)
    if len(found.truths) > MOST:
        raise NotCertifiedError(
            f"{len(found.truths)} combinations of true values are too many; give one with at={{…}}"
        )
    return found


def _is_possible(region: Goal, truth: Mapping[str, Any]) -> bool:
    """Whether values lie in what is known of several numbers together."""
    parts = region.parts if isinstance(region, And) else (region,)
    found = [
        p.holds([truth[a.name] for a in p.members], None)
        for p in parts
        if isinstance(p, Together)
    ]
    return all(bool(held) for held in found)


@dataclass(frozen=True)
class WorstTruths:
    """All true values of independent attributes of which some have a density."""

    attributes: Mapping[str, Attribute]
    goal: Goal
    norm: Norm

    def worst(self, epsilon: float, aim: Direction) -> tuple[float, dict[str, Any]]:
        """What no true values exceed, and those at which it may be reached."""
        places = PlaceSearch.of(self.attributes, self.goal, self.norm, aim, epsilon)
        if places is None:
            return self.by_boxes(epsilon, aim)
        found = self._places(places)
        return found.bound, dict(zip(places.attributes, found.place, strict=True))

    def _places(self, places: PlaceSearch, enough: float = -np.inf) -> PlaceFound:
        """The same of all places; where `enough` is given, no closer than to show that it is kept or not."""
        found = places.worst(enough)
        if found.bound <= max(enough, found.value * LOOSE):
            return found
        return replace(
            found, bound=min(found.bound, self.by_boxes(places.epsilon, places.aim)[0])
        )

    def epsilon(self, limit: float, aim: Direction, start: float) -> float:
        """The largest ε found at which the limit is proven to hold for all true values; searched from `start`."""
        places = PlaceSearch.of(self.attributes, self.goal, self.norm, aim, start)
        if places is None:
            base = self.by_boxes(0.0, aim)[0] if aim == "posterior" else 0.0
            return self._largest(lambda e: self.by_boxes(e, aim)[0], base, limit, start)
        search = partial(PlaceSearch.of, self.attributes, self.goal, self.norm, aim)
        found, epsilon = PlaceFound(np.inf, places.middle, np.inf), np.inf
        for _ in range(ROUNDS):
            value = partial(_value, search, found.place)
            base = value(0.0)
            if found.value > limit:
                epsilon = min(epsilon, self._largest(value, base, limit, start)) * (1 - SHY)
            else:
                epsilon *= float(np.clip((limit - base) / (found.bound - base), *STEPS))
            places = search(epsilon)
            if places is None or not epsilon:
                break
            found, start = self._places(places, limit), epsilon or start
            if found.bound <= limit:
                return epsilon / ROUNDING
        return 0.0

    @staticmethod
    def _largest(
        bound: Callable[[float], float], base: float, limit: float, start: float
    ) -> float:
        if limit <= base:
            return 0.0
        rise = np.asarray(limit - base)
        return float(
            largest_epsilon(
                lambda e: np.asarray(bound(float(e)) - base),
                rise,
                start=start,
                relative=SEARCHED,
            )
        )

    def reached(
        self, epsilon: float, aim: Direction, at: dict[str, Any]
    ) -> tuple[float, float]:
        """What the attacker is sure to gain at true values, and the belief before; nothing where none can lie."""
        try:
            engine = JointBounds(JointAttack(self.attributes, at, self.norm), self.goal)
        except TrueValueError:
            return 0.0, 0.0
        prior = engine.prior()
        attack = engine.gain(-epsilon if aim == "fall" else epsilon)[0]
        value = posterior_of if aim == "posterior" else advantage_of
        return abs(float(value(prior.log_p, prior.log_q, attack))), float(np.exp(prior.log_p))

    # The product rule over boxes of true values.

    def by_boxes(self, epsilon: float, aim: Direction) -> tuple[float, dict[str, Any]]:
        """What no true values exceed by the product rule."""
        goal = self.goal
        if (
            isinstance(goal, Near) and goal.by != "linf"
        ):  # a belief near a place is at most that in the box around it
            goal, aim = And(tuple(Within(a, goal.radius) for a in goal.members)), "posterior"
        tree = negated(normal(goal)) if aim == "fall" else normal(goal)
        own = blocks(tree)
        found = [self._true_boxes(block, epsilon, len(own)) for block in own]
        along = {
            block: TrueBoxes(
                *(
                    np.reshape(x, [-1 if i == j else 1 for j in range(len(own))])
                    for x in columns[:3]
                )
            )
            for i, (block, columns) in enumerate(zip(own, found, strict=True))
        }
        whole = joined(tree, along)
        value = np.broadcast_to(
            whole.most if aim == "posterior" else whole.rise, [len(f[3]) for f in found]
        )
        at = np.unravel_index(int(np.argmax(value)), value.shape)
        values = [
            (b.goal.attributes[0].name, f[3][int(i)])
            for b, f, i in zip(own, found, at, strict=True)
        ]
        where = {name: value for name, value in values if value is not None}
        return float(np.max(value)) * ROUNDING, where

    def _true_boxes(
        self, block: GoalBlock, epsilon: float, count: int
    ) -> tuple[Array, Array, Array, list[Any]]:
        """Low, high and rise in boxes of one attribute's true values, and a value in each."""
        misses = isinstance(block.goal, Not)
        goal = block.goal.part if isinstance(block.goal, Not) else block.goal
        attribute = self.attributes[goal.attributes[0].name]
        if not block.is_single:
            raise NotCertifiedError(
                f"the worst true value is not searched for {block!r}, whose attributes hang together; {_remedy(goal)}"
            )
        if isinstance(attribute.prior, Finite) or not goal.depends_on_truth:
            low, rise, middle = self._values(attribute, goal, epsilon, misses)
            high = low
        else:
            size = min(MOST, int(MOST_BOXES ** (1 / count)))
            low, high, rise, middle = self._intervals(attribute, goal, epsilon, misses, size)
        return (1 - high, 1 - low, rise, middle) if misses else (low, high, rise, middle)

    def _values(
        self, attribute: Attribute, goal: Goal, epsilon: float, misses: bool
    ) -> tuple[Array, Array, list[Any]]:
        """Beliefs before and rises at true values, one for each set of correct guesses."""
        prior, values = attribute.prior, [None]
        if isinstance(prior, Finite):
            values = list(
                {
                    goal.chosen(prior, v).tobytes(): v for v in true_values_of(attribute, goal)
                }.values()
            )
        truths = [{} if v is None else {attribute.name: v} for v in values]
        parts = [
            JointAttack(self.attributes, truth, self.norm).single(goal) for truth in truths
        ]
        shifts = [part.shift(-epsilon if misses else epsilon, 1) for part in parts]
        rises = [abs(float(advantage_of(s.log_p, s.log_q, s.gain))) for s in shifts]
        return np.exp([s.log_p for s in shifts]), np.array(rises), values

    def _intervals(
        self, attribute: Attribute, goal: Goal, epsilon: float, misses: bool, count: int
    ) -> tuple[Array, Array, Array, list[Any]]:
        """Least and most belief before and the rise between neighbouring true values, and beyond the outermost."""
        prior, form = attribute.prior, attribute.distance.line_form
        if not isinstance(prior, LinePrior) or not isinstance(goal, Within) or form is None:
            raise NotCertifiedError(
                f"the worst true value is not searched for {goal!r}; give at={{…}}"
            )
        search = WorstSearch.of(prior, form, goal, *attribute.range)
        start, end, beyond = search.range_of(epsilon, "rise")
        points = search.points(start, end)
        points = np.unique(
            np.interp(np.linspace(0, points.size - 1, count), np.arange(points.size), points)
        )
        rise = search.over(points, epsilon, "fall" if misses else "rise").most
        lo, hi = goal.edges(points)[0]
        core = lo[1:] < hi[:-1]
        low = np.where(core, prior.mass(np.where(core, lo[1:], lo[:-1]), hi[:-1]), 0.0)
        high = np.asarray(prior.mass(lo[:-1], hi[1:]))
        middle = (0.5 * points[1:] + 0.5 * points[:-1]).tolist()
        if not np.any(np.isinf(attribute.range)):
            return low, high, rise, middle
        return (
            np.append(low, 0.0),
            np.append(high, beyond),
            np.append(rise, beyond),
            [*middle, middle[0]],
        )


def _value(
    search: Callable[[float], PlaceSearch | None], place: Place, epsilon: float
) -> float:
    places = search(epsilon)
    return 1.0 if places is None else places.at(place)


def _remedy(goal: Goal) -> str:
    """What would help: of a formula only sums of normal numbers are searched, or columns with listed values."""
    if isinstance(goal, FormulaGoal):
        return "give at={…}, as of formulas it is for weighted sums of independent normal numbers and for listed values"
    return "give at={…}, or two independent normal, uniform, exponential, Laplace or histogram priors"
