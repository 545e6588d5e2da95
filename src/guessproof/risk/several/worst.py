"""Several attributes, no true value given: what no true value exceeds.

Finite attributes are tried one combination after the other. Otherwise each attribute's range is cut into boxes of true
values. For all t in a box a goal "within r of t" lies inside the largest such interval and holds the smallest, so the
product rule with the largest intervals bounds the belief after the release, and the smallest ones the belief before.
The bound is certified, of first order in the boxes; what a likely worst point really gives stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.risk.combinations import Combinations, OpenTruths, open_truths
from guessproof.risk.limits import advantage_of, posterior_of
from guessproof.risk.several.belief import JointEngine
from guessproof.risk.several.belief_boxes import BeliefBoxes, join_boxes
from guessproof.risk.several.finite import is_finite
from guessproof.risk.several.formula import GoalBlock, blocks, negated, normal
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.tent import log_prior
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.risk.truths import true_combinations, true_values_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.formulas import FormulaGoal
from guessproof.world.goals import And, Conditional, Goal, Norm, Not, Together, Within
from guessproof.world.line import LinePrior

_CELLS = {1: 4000, 2: 1200, 3: 120}
_MOST = 2000
_FAR = 1e-7


@dataclass(frozen=True)
class TrueBoxes:
    """Boxes of one attribute's true values, with a value in each."""

    beliefs: BeliefBoxes
    middle: list[Any]


Span = tuple[Array, Array]  # least, most
TrueEnds = tuple[Span, Span, list[Any]]  # the belief after and before in each box, and a value in it


def all_truths(attributes: Mapping[str, Attribute], goal: Goal, norm: Norm) -> OpenTruths | None:
    """The true values of finite attributes that stand for all; None where some attribute has a density."""
    joint_attack = JointAttack(attributes, {}, norm)
    if not is_finite(joint_attack, goal):
        return None
    table, truths = Combinations.of(joint_attack.members(goal)), true_combinations(attributes, goal)
    if isinstance(goal, Conditional):  # nobody has values that the attacker rules out
        table = table.where(table.correct(goal.region, {}), goal.region)
        truths = [truth for truth in truths if _is_possible(goal.region, truth)]
        goal = goal.goal
    found = open_truths(table, goal, truths)
    if len(found.truths) > _MOST:
        raise NotCertifiedError(f"{len(found.truths)} combinations of true values are too many; give one with at={{…}}")
    return found


def _is_possible(region: Goal, truth: Mapping[str, Any]) -> bool:
    """Whether values lie in what is known of several numbers together."""
    parts = region.parts if isinstance(region, And) else (region,)
    found = [p.holds([truth[a.name] for a in p.members], None) for p in parts if isinstance(p, Together)]
    return all(bool(held) for held in found)


def _remedy(block: GoalBlock) -> str:
    """What would help: of a formula only sums of normal numbers are searched, or columns with listed values."""
    if isinstance(block.goal.part if isinstance(block.goal, Not) else block.goal, FormulaGoal):
        return "give at={…}, as of formulas it is for weighted sums of independent normal numbers and for listed values"
    return "give at={…}, or two independent normal, uniform, exponential, Laplace or histogram priors"


@dataclass(frozen=True)
class Boxes:
    """The worst true value of independent attributes, by boxes."""

    attributes: Mapping[str, Attribute]
    goal: Goal
    norm: Norm

    def __post_init__(self) -> None:
        for block in blocks(normal(self.goal)):
            if not block.is_single:
                problem = f"the worst true value is not searched for {block!r}, whose attributes hang together"
                raise NotCertifiedError(f"{problem}; {_remedy(block)}")
            self._check(block)

    def _check(self, block: GoalBlock) -> None:
        goal = block.goal.part if isinstance(block.goal, Not) else block.goal
        attribute = self.attributes[goal.attributes[0].name]
        form = attribute.distance.line_form
        simple = isinstance(goal, Within) or not goal.depends_on_truth
        if not isinstance(attribute.prior, Finite) and (not simple or form is None or np.isfinite(form.cap)):
            raise NotCertifiedError(f"the worst true value is not searched for {block!r}; give at={{…}}")

    def worst(self, epsilon: float, aim: Direction) -> tuple[float, dict[str, Any]]:
        """What no true value exceeds, and where it may be reached."""
        tree = negated(normal(self.goal)) if aim == "fall" else normal(self.goal)
        own = blocks(tree)
        found = {b: self._true_boxes(b, epsilon, len(own)) for b in own}
        whole = join_boxes(tree, {b: found[b].beliefs.along(i, len(own)) for i, b in enumerate(own)})
        value = whole.most if aim == "posterior" else whole.rise
        value = np.broadcast_to(value, [len(found[b].middle) for b in own])
        at = np.unravel_index(int(np.argmax(value)), value.shape)
        where = {b.goal.attributes[0].name: found[b].middle[int(i)] for b, i in zip(own, at, strict=True)}
        return float(np.max(value)) * (1 + 1e-12), where

    def reached(self, epsilon: float, aim: Direction, where: dict[str, Any]) -> tuple[float, float]:
        """What one true value gives the attacker, and its prior."""
        engine = JointEngine(JointAttack(self.attributes, where, self.norm), self.goal)
        prior = engine.prior()
        attack = engine.cheap(-epsilon if aim == "fall" else epsilon)[0]
        if aim == "posterior":
            return float(posterior_of(prior.log_p, prior.log_q, attack)), float(np.exp(prior.log_p))
        return float(abs(advantage_of(prior.log_p, prior.log_q, attack))), float(np.exp(prior.log_p))

    def _true_boxes(self, block: GoalBlock, epsilon: float, count: int) -> TrueBoxes:
        goal = block.goal.part if isinstance(block.goal, Not) else block.goal
        attribute = self.attributes[goal.attributes[0].name]
        if isinstance(attribute.prior, Finite):
            after, before, middle = self._values(attribute, attribute.prior, goal, epsilon)
        else:
            after, before, middle = self._boxes(attribute, goal, epsilon, _CELLS.get(count, 25))
        if isinstance(block.goal, Not):
            after, before = ((1 - most, 1 - least) for least, most in (after, before))
        return TrueBoxes(BeliefBoxes.becoming(*before, after[1]), middle)

    def _values(self, attribute: Attribute, prior: Finite, goal: Goal, epsilon: float) -> TrueEnds:
        values = _telling(attribute, prior, goal)
        least, most, before = [], [], []
        for value in values:
            part = JointAttack(self.attributes, {attribute.name: value}, self.norm).single(goal)
            for sign, into in ((-1, least), (+1, most)):
                gain = part.gain(sign * epsilon)[1] if epsilon and part.is_open else 0.0
                into.append(_posterior(part.log_p, part.log_q, gain))
            before.append(float(np.exp(part.log_p)))
        return (np.array(least), np.array(most)), (np.array(before), np.array(before)), values

    def _boxes(self, attribute: Attribute, goal: Goal, epsilon: float, cells: int) -> TrueEnds:
        prior, form = attribute.prior, attribute.distance.line_form
        assert isinstance(prior, LinePrior)
        assert form is not None
        start, end, middle = _edges_of_boxes(attribute, prior, cells if goal.depends_on_truth else 1)
        if isinstance(goal, Within):
            outer = _hull(goal, start, end)
            with np.errstate(invalid="ignore"):
                inner = goal.edges(end)[0][0], goal.edges(start)[0][1]
            inner = (np.where(np.isnan(inner[0]), np.inf, inner[0]), np.where(np.isnan(inner[1]), -np.inf, inner[1]))
        else:
            part = JointAttack(self.attributes, {}, self.norm).single(goal)
            gains = [part.gain(s * epsilon)[1] if epsilon and part.is_open else 0.0 for s in (-1, 1)]
            after = tuple(np.array([_posterior(part.log_p, part.log_q, g)]) for g in gains)
            p = np.array([np.exp(part.log_p)])
            return (after[0], after[1]), (p, p), [float(middle[0])]
        ranging = TruthSearch(prior, form, lambda t: goal.edges(t)[0], *attribute.range, goal.radius is not None)
        least, small = _interval(ranging, *inner, epsilon, "fall")
        most, large = _interval(ranging, *outer, epsilon, "rise")
        return (least, most), (small, large), middle.tolist()


def _telling(attribute: Attribute, prior: Finite, goal: Goal) -> list[Any]:
    """True values beside a finite prior, one for each set of correct guesses."""
    found = {goal.chosen(prior, value).tobytes(): value for value in true_values_of(attribute, goal)}
    return list(found.values())


def _interval(ranging: TruthSearch, lo: Array, hi: Array, epsilon: float, aim: Direction) -> tuple[Array, Array]:
    """Beliefs after and before in intervals, empty ones included."""
    empty = ~(lo < hi)
    low, high = ranging.prior.support
    a, b = np.where(empty, low, lo), np.where(empty, high, hi)
    with np.errstate(invalid="ignore"):
        log_p, log_q = log_prior(ranging.prior, a, b)
        open_ = np.isfinite(log_p) & np.isfinite(log_q) & ~empty
        pick = np.flatnonzero(open_)
        after = np.where(empty | np.isneginf(log_p), 0.0, 1.0)
        if pick.size:
            gain = ranging.gain(a[pick], b[pick], epsilon, aim)[1] if epsilon else np.zeros(pick.size)
            after[pick] = posterior_of(log_p[pick], log_q[pick], gain)
    return after, np.where(empty, 0.0, np.exp(log_p))


def _hull(goal: Within, start: Array, end: Array) -> tuple[Array, Array]:
    lows, highs = goal.edges(start)[0], goal.edges(end)[0]
    with np.errstate(invalid="ignore"):
        return np.fmin(lows[0], highs[0]), np.fmax(lows[1], highs[1])


def _edges_of_boxes(attribute: Attribute, prior: LinePrior, cells: int) -> tuple[Array, Array, Array]:
    """Ends and middles of boxes of true values; the first and last reach as far as the range does."""
    low, high = attribute.range
    near, far = (float(e) for e in prior.quantile([_FAR, 1 - _FAR]))
    first, last = max(low, min(near, high)), min(high, max(far, low))
    edges = np.linspace(first, last, cells + 1)
    if low < first:
        edges = np.concatenate([[low], edges])
    if high > last:
        edges = np.concatenate([edges, [high]])
    start, end = edges[:-1], edges[1:]
    with np.errstate(invalid="ignore"):
        middle = np.where(
            np.isfinite(start) & np.isfinite(end), 0.5 * (start + end), np.where(np.isfinite(start), start, end)
        )
    return start, end, middle


def _posterior(log_p: float, log_q: float, gain: float) -> float:
    if np.isneginf(log_p) or np.isneginf(log_q):
        return float(np.exp(log_p))
    return float(posterior_of(log_p, log_q, gain))
