"""What is asked: attributes with their true values, a norm that joins their distances, and the parts that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError, TrueValueError
from guessproof.risk.combinations import axis_labels
from guessproof.risk.several.formula import Gate, GoalBlock, Tree
from guessproof.risk.several.shift import BeliefShift, all_of, any_of
from guessproof.risk.single import belief_of, true_values
from guessproof.risk.truths import true_value
from guessproof.risk.zigzag import region_log_prior
from guessproof.world.attributes import Attribute
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Norm, Together, combine
from guessproof.world.line import LinePrior
from guessproof.world.line_form import Metric, Multiple
from guessproof.world.metrics import Matrix

Pair = tuple[float, float]  # (attack, bound) of a signed gain
Gain = Callable[[float], Pair]  # k = +ε: the largest gain; k = −ε: the smallest


@dataclass(frozen=True)
class Part:
    """A block's prior, and its gain at k = ±ε."""

    log_p: float
    log_q: float
    gain: Gain
    bound: Callable[[float], float] | None = None  # the bound alone, where an attack takes time of its own

    @property
    def is_open(self) -> bool:
        """Whether the goal is neither empty nor certain."""
        return self.log_p > -np.inf and self.log_q > -np.inf

    def shift(self, k: float, which: int) -> BeliefShift:
        """The attack (0) or the bound (1) as a shift of belief."""
        return BeliefShift(self.log_p, self.log_q, self.gain(k)[which] if k and self.is_open else 0.0)

    def bounded(self, k: float) -> BeliefShift:
        """The bound as a shift of belief, without looking for an attack."""
        if self.bound is None or not k or not self.is_open:
            return self.shift(k, 1)
        return BeliefShift(self.log_p, self.log_q, self.bound(k))


@dataclass(frozen=True)
class JointAttack:
    """The attributes of a goal, where the truth lies, and how distances join."""

    attributes: Mapping[str, Attribute]
    truth: Mapping[str, Any]
    norm: Norm
    _parts: dict[Goal, Part] = field(default_factory=dict[Goal, Part], repr=False, compare=False)
    shares: dict[Any, Any] = field(
        default_factory=dict[Any, Any], repr=False, compare=False
    )  # of cells, worked out once

    def __post_init__(self) -> None:
        for name, attribute in self.attributes.items():
            if not isinstance(attribute.prior, (LinePrior, Finite)):
                raise ParameterError(
                    "prior", attribute.prior, f"{name} has no prior, which several attributes need", "give it one"
                )
            if name in self.truth:
                _check_truth(attribute, self.truth[name])

    def members(self, goal: Goal) -> tuple[Attribute, ...]:
        """The attributes of a goal as they stand in this joint attack, conditioned on what is known."""
        return tuple(self.attributes[a.name] for a in goal.attributes)

    def at(self, goal: Goal) -> Any:
        """The true value of a goal's one attribute, or None where it does not matter."""
        return true_value(goal, self.truth)

    def point(self, goal: Together) -> list[float] | None:
        """The true values of a goal about several numbers, or None where they do not matter."""
        if not goal.depends_on_truth:
            return None
        for attribute in goal.members:
            if attribute.name not in self.truth:
                raise TrueValueError("at", None, f"the true value of {attribute.name} is missing", "give all of them")
        return [float(self.truth[a.name]) for a in goal.members]

    def single(self, goal: Goal) -> Part:
        """The exact answer for a goal about one attribute."""
        if goal not in self._parts:
            self._parts[goal] = self._single(goal)
        return self._parts[goal]

    def _single(self, goal: Goal) -> Part:
        (attribute,) = self.members(goal)
        log_p, log_q = self._log_prior(attribute, goal)
        if log_p == -np.inf or log_q == -np.inf or is_untouched(attribute.distance):
            return Part(log_p, log_q, lambda k: (0.0, 0.0))
        belief = belief_of(attribute, goal, self.at(goal))
        if belief.log_p.ndim:
            raise TrueValueError("at", self.at(goal), "several attributes need one true value each", "give numbers")

        def gain(k: float) -> Pair:
            attack, bound = belief.gain(np.asarray(float(k)))
            return float(attack), float(bound)

        return Part(log_p, log_q, gain)

    def _log_prior(self, attribute: Attribute, goal: Goal) -> Pair:
        prior, t = attribute.prior, self.at(goal)
        if isinstance(prior, Finite):
            chosen = goal.chosen(prior, t)
            with np.errstate(divide="ignore"):
                return float(np.log(chosen @ prior.mass)), float(np.log((1 - chosen) @ prior.mass))
        assert isinstance(prior, LinePrior)
        region = self.intervals(goal)
        if not region:
            return -np.inf, 0.0
        if all(a == b for a, b in region):
            raise GoalError(
                "goal", goal, "single numbers have probability 0 under a continuous prior", "use within(…, radius)"
            )
        log_p, log_q = region_log_prior(prior, region)
        return float(log_p), float(log_q)

    def intervals(self, goal: Goal) -> list[tuple[float, float]]:
        """The correct guesses of a goal about one number."""
        t = self.at(goal)
        return [(float(a), float(b)) for a, b in goal.edges(0.0 if t is None else t)]

    def prior(self, tree: Tree) -> BeliefShift:
        """The prior of a tree of single blocks."""
        if isinstance(tree, GoalBlock):
            return self.single(tree.goal).shift(0.0, 0)
        return join(tree, [self.prior(p) for p in tree.parts])

    def diameter(self, goal: Goal) -> float:
        """The largest distance between any two possible values."""
        spans = [span(a) for a in self.members(goal)]
        return float(combine(self.norm, spans))


def join(tree: Gate, parts: list[BeliefShift]) -> BeliefShift:
    """The shift of a gate from those of its independent parts."""
    return all_of(parts) if tree.kind == "and" else any_of(parts)


def is_untouched(metric: Metric) -> bool:
    """Whether all values are at distance 0: the release says nothing of the attribute."""
    if isinstance(metric, Multiple):
        return metric.factor == 0 or is_untouched(metric.metric)
    if isinstance(metric, Matrix):
        return not np.any(metric.distances)
    form = metric.line_form
    return form is not None and form.is_flat and form.step == 0


def span(attribute: Attribute) -> float:
    """An upper bound on the distance between two values of an attribute."""
    metric, prior = attribute.distance, attribute.prior
    if is_untouched(metric):
        return 0.0
    if isinstance(prior, Finite):
        labels = axis_labels(prior)
        return float(np.max(metric.distance(labels[:, None], labels[None, :])))
    form = metric.line_form
    if form is not None and form.is_flat:
        return form.step
    assert isinstance(prior, LinePrior)
    low, high = (np.asarray(e) for e in prior.support)
    with np.errstate(invalid="ignore"):
        reach = float(metric.spread((low, high), (low, high)))
    return np.inf if np.isnan(reach) else reach


def _check_truth(attribute: Attribute, value: Any) -> None:
    if isinstance(value, (list, np.ndarray)) and np.ndim(value):
        raise TrueValueError(
            f"at[{attribute.name!r}]", value, "several attributes need one true value each", "ask one at a time"
        )
    if isinstance(attribute.prior, Finite):
        attribute.check_true(value)
    else:
        assert isinstance(attribute.prior, LinePrior)
        true_values(attribute, attribute.prior, value)
