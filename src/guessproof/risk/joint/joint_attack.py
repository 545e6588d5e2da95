"""What is asked: attributes with their true values, a norm that joins their distances, and the parts that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guessproof.errors import ParameterError, TrueValueError
from guessproof.risk.combinations import true_value
from guessproof.risk.joint.product import BeliefShift
from guessproof.risk.single import Pair, belief_of, true_values
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Norm, Together, combine
from guessproof.world.line import LinePrior

Gain = Callable[[float], Pair]  # k = +ε: the largest gain; k = −ε: the smallest


@dataclass(frozen=True)
class Part:
    """A block's prior, and its gain at k = ±ε."""

    log_p: float
    log_q: float
    gain: Gain

    def shift(self, k: float, which: int) -> BeliefShift:
        """The attack (0) or the bound (1) as a shift of belief; none where the goal is empty or certain."""
        is_open = k and min(self.log_p, self.log_q) > -np.inf
        return BeliefShift(self.log_p, self.log_q, self.gain(k)[which] if is_open else 0.0)


@dataclass(frozen=True)
class JointAttack:
    """The attributes of a goal, where the truth lies, and how distances join."""

    attributes: Mapping[str, Attribute]
    truth: Mapping[str, Any]
    norm: Norm
    kept: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, attribute in self.attributes.items():
            prior, value = attribute.prior, self.truth.get(name)
            if not isinstance(prior, (LinePrior, Finite)):
                problem = f"{name} has no prior, which several attributes need"
                raise ParameterError("prior", prior, problem, "give it one")
            if isinstance(value, (list, np.ndarray)) and np.ndim(value):
                problem = "several attributes need one true value each"
                raise TrueValueError(f"at[{name!r}]", value, problem, "ask one at a time")
            if name in self.truth:
                if isinstance(prior, Finite):
                    attribute.check_true(value)
                else:
                    true_values(attribute, prior, value)

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What does not depend on epsilon, computed once."""
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]

    def members(self, goal: Goal) -> tuple[Attribute, ...]:
        """The attributes of a goal as they stand in this joint attack, conditioned on what is known."""
        return tuple(self.attributes[a.name] for a in goal.attributes)

    def point(self, goal: Together) -> list[float] | None:
        """The true values of a goal about several numbers, or None where they do not matter."""
        if not goal.depends_on_truth:
            return None
        return [float(self.truth[a.name]) for a in goal.members]

    def single(self, goal: Goal) -> Part:
        """The exact answer for a goal about one attribute."""
        return self.once(("single", goal), lambda: self._single(goal))

    def _single(self, goal: Goal) -> Part:
        (attribute,), at = self.members(goal), true_value(goal, self.truth)
        prior = attribute.prior
        if isinstance(prior, Finite):
            chosen = goal.chosen(prior, at)
            shares = [chosen @ prior.mass, (1 - chosen) @ prior.mass]
        else:
            assert isinstance(prior, LinePrior)
            ends = np.array([-np.inf, *np.ravel(self.intervals(goal)), np.inf])
            mass = np.asarray(prior.mass(ends[:-1], ends[1:]))
            shares = [np.sum(mass[1::2]), np.sum(mass[::2])]
        if not np.all(shares):
            right, wrong = (0.0 if share > 0 else -np.inf for share in shares)
            return Part(right, wrong, lambda k: (0.0, 0.0))
        belief = belief_of(attribute, goal, at)

        def gain(k: float) -> Pair:
            attack, bound = belief.gain(np.asarray(float(k)))
            return float(attack), float(bound)

        return Part(float(belief.log_p), float(belief.log_q), gain)

    def intervals(self, goal: Goal) -> list[tuple[float, float]]:
        """The correct guesses of a goal about one attribute; of listed values, intervals that end between them."""
        prior, t = self.members(goal)[0].prior, true_value(goal, self.truth)
        if not isinstance(prior, Finite):
            return [(float(a), float(b)) for a, b in goal.edges(0.0 if t is None else t)]
        values, chosen = places(prior)[prior.mass > 0], goal.chosen(prior, t)[prior.mass > 0]
        ends = np.concatenate([[-np.inf], 0.5 * values[1:] + 0.5 * values[:-1], [np.inf]])
        turns = np.flatnonzero(np.diff(chosen > 0, prepend=False, append=False))
        return list(zip(ends[turns[::2]].tolist(), ends[turns[1::2]].tolist(), strict=True))

    def diameter(self, goal: Goal) -> float:
        """The largest distance between any two possible values."""
        return float(combine(self.norm, [span(a) for a in self.members(goal)]))


def span(attribute: Attribute) -> float:
    """Return an upper bound on the distance between two values of an attribute."""
    prior: Any = attribute.prior
    metric = attribute.distance
    if isinstance(prior, Finite) or getattr(prior, "values", ()):
        labels = np.array([*prior.values, None], dtype=object)[:-1]
        return float(np.max(metric.distance(labels[:, None], labels)))
    return metric.diameter(*prior.support)


def places(prior: Finite) -> Array:
    """Return the numbers of a finite prior, or the positions of its labels."""
    return prior.points if prior.is_line else np.arange(prior.mass.size, dtype=np.float64)
