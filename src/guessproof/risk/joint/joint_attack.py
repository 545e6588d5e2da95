"""What is asked: attributes with their true values, a norm that joins their distances, and the parts that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError, TrueValueError
from guessproof.risk.combinations import true_value
from guessproof.risk.joint.product import BeliefShift
from guessproof.risk.single import belief_of, true_values
from guessproof.world.attributes import Attribute
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Norm, Together, combine
from guessproof.world.line import LinePrior

Pair = tuple[float, float]  # (attack, bound) of a signed gain
Gain = Callable[[float], Pair]  # k = +ε: the largest gain; k = −ε: the smallest


@dataclass(frozen=True)
class Part:
    """A block's prior, and its gain at k = ±ε."""

    log_p: float
    log_q: float
    gain: Gain
    bound: Callable[[float], float] | None = (
        None  # the bound alone, where an attack takes time of its own
    )

    @property
    def is_open(self) -> bool:
        """Whether the goal is neither empty nor certain."""
        return self.log_p > -np.inf and self.log_q > -np.inf

    def shift(self, k: float, which: int) -> BeliefShift:
        """The attack (0) or the bound (1) as a shift of belief."""
        return BeliefShift(
            self.log_p, self.log_q, self.gain(k)[which] if k and self.is_open else 0.0
        )

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
    _parts: dict[Goal, Part] = field(
        default_factory=dict[Goal, Part], repr=False, compare=False
    )
    shares: dict[Any, Any] = field(
        default_factory=dict[Any, Any], repr=False, compare=False
    )  # of cells, worked out once

    def __post_init__(self) -> None:
        for name, attribute in self.attributes.items():
            if not isinstance(attribute.prior, (LinePrior, Finite)):
                raise ParameterError(
                    "prior",
                    attribute.prior,
                    f"{name} has no prior, which several attributes need",
                    "give it one",
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
                raise TrueValueError(
                    "at",
                    None,
                    f"the true value of {attribute.name} is missing",
                    "give all of them",
                )
        return [float(self.truth[a.name]) for a in goal.members]

    def single(self, goal: Goal) -> Part:
        """The exact answer for a goal about one attribute."""
        if goal not in self._parts:
            self._parts[goal] = self._single(goal)
        return self._parts[goal]

    def _single(self, goal: Goal) -> Part:
        (attribute,) = self.members(goal)
        right, wrong = self._shares(attribute, goal)
        if not (right > 0 and wrong > 0):
            return Part(
                0.0 if right > 0 else -np.inf,
                0.0 if wrong > 0 else -np.inf,
                lambda k: (0.0, 0.0),
            )
        belief = belief_of(attribute, goal, self.at(goal))
        if belief.log_p.ndim:
            raise TrueValueError(
                "at",
                self.at(goal),
                "several attributes need one true value each",
                "give numbers",
            )

        def gain(k: float) -> Pair:
            attack, bound = belief.gain(np.asarray(float(k)))
            return float(attack), float(bound)

        return Part(float(belief.log_p), float(belief.log_q), gain)

    def _shares(self, attribute: Attribute, goal: Goal) -> Pair:
        """The probability of right and of wrong guesses."""
        prior = attribute.prior
        if isinstance(prior, Finite):
            chosen = goal.chosen(prior, self.at(goal))
            return float(chosen @ prior.mass), float((1 - chosen) @ prior.mass)
        assert isinstance(prior, LinePrior)
        region = self.intervals(goal)
        if region and all(a == b for a, b in region):
            problem = "single numbers have probability 0 under a continuous prior"
            raise GoalError("goal", goal, problem, "use within(…, radius)")
        ends = np.array([-np.inf, *(x for pair in region for x in pair), np.inf])
        mass = np.asarray(prior.mass(ends[:-1], ends[1:]))
        return float(np.sum(mass[1::2])), float(np.sum(mass[::2]))

    def intervals(self, goal: Goal) -> list[tuple[float, float]]:
        """The correct guesses of a goal about one number."""
        t = self.at(goal)
        return [(float(a), float(b)) for a, b in goal.edges(0.0 if t is None else t)]

    def marks(self, goal: Goal, name: str) -> list[float]:
        """Values of an attribute at which a goal about it (and others) begins or ends."""
        if isinstance(goal, Together):
            found = goal.marks([a.name for a in goal.members].index(name), self.point(goal))
        else:
            found = [x for pair in self.intervals(goal) for x in pair]
        return [x for x in found if np.isfinite(x)]

    def diameter(self, goal: Goal) -> float:
        """The largest distance between any two possible values."""
        spans = [span(a) for a in self.members(goal)]
        return float(combine(self.norm, spans))


def span(attribute: Attribute, ends: tuple[float, float] | None = None) -> float:
    """An upper bound on the distance between two values of an attribute, of a line between these ends."""
    prior: Any = attribute.prior
    metric, form = attribute.distance, attribute.distance.line_form
    if isinstance(prior, Finite) or getattr(prior, "values", ()):
        labels = np.array([*prior.values, None], dtype=object)[:-1]
        return float(np.max(metric.distance(labels[:, None], labels)))
    if form is not None and form.is_flat:
        return form.step
    low, high = (np.asarray(end) for end in (prior.support if ends is None else ends))
    with np.errstate(invalid="ignore"):
        reach = float(metric.spread((low, low), (high, high)))
    return np.inf if np.isnan(reach) else reach


def _check_truth(attribute: Attribute, value: Any) -> None:
    if isinstance(value, (list, np.ndarray)) and np.ndim(value):
        raise TrueValueError(
            f"at[{attribute.name!r}]",
            value,
            "several attributes need one true value each",
            "ask one at a time",
        )
    if isinstance(attribute.prior, Finite):
        attribute.check_true(value)
    else:
        assert isinstance(attribute.prior, LinePrior)
        true_values(attribute, attribute.prior, value)
