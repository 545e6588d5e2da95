"""The attack: a goal, what is true, what is known; and the three questions that can be asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from guessproof.errors import (
    GoalError,
    InfeasibleError,
    KnowledgeError,
    ParameterError,
    UnknownAttributeError,
)
from guessproof.risk.bracket import Bracket
from guessproof.risk.invert import largest_epsilon
from guessproof.risk.limits import (
    Belief,
    advantage_bracket,
    checked_epsilon,
    checked_limits,
    posterior_bracket,
    safe_epsilon,
)
from guessproof.risk.priorless import Priorless
from guessproof.risk.single import belief_of
from guessproof.risk.worst_case import Aim, Ranging, Worst, worst_true_value
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Within
from guessproof.world.line import LinePrior
from guessproof.world.priors import PartlyKnown, Unknown


@dataclass(frozen=True)
class Attack:
    """An attacker who knows every other record and wants to meet a goal about one.

    `at` names the true value (or an array of them); without it answers hold for the worst one.
    `knows` conditions the prior on what the attacker knows already: an interval or a set of values.

    >>> from guessproof.world.priors import normal
    >>> from guessproof.world.goals import within
    >>> time = Attribute("time", prior=normal(mean=20, sd=6.28))
    >>> alice = Attack(within(time, 2), at={"time": 20})
    >>> round(alice.prior, 4), round(alice.epsilon(advantage=0.05), 4)
    (0.2499, 0.0494)
    """

    goal: Goal
    at: Mapping[str, Any] | None = None
    knows: Mapping[str, Any] | None = None
    norm: str = "linf"

    def __post_init__(self) -> None:
        if not isinstance(self.goal, Goal):
            raise GoalError("goal", self.goal, "is not a goal", "use within(…), exactly(…), among(…) or inside(…)")
        if self.norm not in ("l1", "l2", "linf"):
            raise ParameterError("norm", self.norm, "is not a norm", "say 'l1', 'l2' or 'linf'")
        for field in ("at", "knows"):
            self._check_names(field, getattr(self, field))

    def _check_names(self, field: str, table: Any) -> None:
        names = [a.name for a in self.goal.attributes]
        if table is None:
            return
        if not isinstance(table, Mapping):
            raise ParameterError(field, table, "is not a table of attribute → value", f"write {{{names[0]!r}: …}}")
        for name in table:
            if name not in names:
                raise UnknownAttributeError(
                    field, name, "no attribute of the goal has this name", f"use one of {names}"
                )

    @cached_property
    def attribute(self) -> Attribute:
        """The goal's attribute, with its prior conditioned on what the attacker knows."""
        attribute = self.goal.attributes[0]
        known = (self.knows or {}).get(attribute.name)
        if known is None:
            return attribute
        if isinstance(attribute.prior, (Unknown, PartlyKnown)):
            raise KnowledgeError("knows", known, "an unknown prior cannot be conditioned", "narrow its range instead")
        pair = isinstance(known, (tuple, list)) and len(known) == 2
        try:
            prior = attribute.prior.given(*known) if pair else attribute.prior.given(known)
        except KnowledgeError as error:  # say which attribute's
            raise KnowledgeError(f"knows[{attribute.name!r}]", known, error.problem, error.remedy) from None
        return replace(attribute, prior=prior)

    @property
    def prior(self) -> Any:
        """P(goal) before the release."""
        value = np.exp(self._belief("prior").log_p)
        return float(value) if value.ndim == 0 else value

    def posterior(self, epsilon: Any, side: str = "upper") -> Bracket:
        """The largest (or, with side="lower", the smallest) belief in the goal after the worst output."""
        epsilon = checked_epsilon(epsilon)
        if self._known_truth:
            return posterior_bracket(self._belief("posterior"), epsilon, side)
        if side != "upper":
            raise ParameterError("side", side, "needs a true value", "give at={…}")
        return self._worst(epsilon, "posterior")

    def advantage(self, epsilon: Any, both: bool = False) -> Bracket:
        """How far the belief can rise after the worst output; with both=True, move in either direction."""
        epsilon = checked_epsilon(epsilon)
        if isinstance(self.attribute.prior, (Unknown, PartlyKnown)):
            return self._priorless.advantage(epsilon, both)
        if self._known_truth:
            return advantage_bracket(self._belief("advantage"), epsilon, both)
        rise = self._worst(epsilon, "rise")
        if not both:
            return rise
        fall = self._worst(epsilon, "fall")
        return rise if np.all(np.asarray(rise.bound) >= np.asarray(fall.bound)) else _larger(rise, fall)

    def epsilon(self, *, advantage: Any = None, posterior: Any = None, both: bool = False) -> Any:
        """The largest ε at which every limit is proven to hold; math.inf where nothing can break it."""
        if isinstance(self.attribute.prior, (Unknown, PartlyKnown)):
            if posterior is not None or advantage is None:
                raise ParameterError("posterior", posterior, "is undefined without a prior", "limit the advantage")
            return self._priorless.epsilon(checked_limits(advantage, None)[0], both)
        if self._known_truth:
            return safe_epsilon(self._belief("epsilon"), advantage=advantage, posterior=posterior, both=both)
        return self._worst_epsilon(*checked_limits(advantage, posterior), both)

    @property
    def _known_truth(self) -> bool:
        return not self.goal.depends_on_truth or self._true_value is not None

    @property
    def _true_value(self) -> Any:
        return (self.at or {}).get(self.goal.attributes[0].name)

    @cached_property
    def _known_belief(self) -> Belief:
        return belief_of(self.attribute, self.goal, self._true_value)

    def _belief(self, asked: str) -> Belief:
        if isinstance(self.attribute.prior, (Unknown, PartlyKnown)):
            raise ParameterError(asked, self.attribute.prior, "is undefined without a prior", "ask for the advantage")
        if not self._known_truth:
            raise ParameterError(asked, None, "depends on the true value", "give at={…}, or ask for the advantage")
        return self._known_belief

    @cached_property
    def _priorless(self) -> Priorless:
        return Priorless(self.attribute, self.goal, self._true_value)

    # Without a true value: the worst one.

    def _worst(self, epsilon: Array, aim: Aim) -> Bracket:
        prior = self.attribute.prior
        found = [self._worst_at(float(e), aim) for e in epsilon.ravel()]
        how = "worst over the prior's values" if isinstance(prior, Finite) else "worst true value by branch and bound"

        def shaped(values: list[Any]) -> Any:
            return np.asarray(values).reshape(epsilon.shape) if epsilon.ndim else values[0]

        return Bracket.meet(
            shaped([w.value for w in found]),
            shaped([w.bound for w in found]),
            how,
            worst_at=shaped([w.at for w in found]),
            worst_prior=shaped([w.prior for w in found]),
        )

    def _worst_at(self, epsilon: float, aim: Aim) -> Worst:
        if isinstance(self.attribute.prior, Finite):
            return _worst_of_values(self._values_belief, self._values, epsilon, aim)
        return worst_true_value(self._ranging, epsilon, aim)

    @cached_property
    def _values(self) -> list[Any]:
        """The possible true values of a finite prior, for which the goal is neither impossible nor certain."""
        prior = self.attribute.prior
        assert isinstance(prior, Finite)
        low, high = self.attribute.range if prior.is_line else (-np.inf, np.inf)
        values = [v for v, w in zip(prior.values, prior.weights, strict=True) if w > 0]
        if prior.is_line:
            values = [v for v in values if low <= float(v) <= high]  # pyright: ignore[reportArgumentType]
        certain = [v for v in values if (1 - self.goal.chosen(prior, v)) @ prior.mass <= 0]
        if len(certain) == len(values):
            raise GoalError("goal", self.goal, "is certain for every true value", "choose a narrower goal")
        return [v for v in values if v not in certain]

    @cached_property
    def _values_belief(self) -> Belief:
        labels = np.empty(len(self._values), dtype=object)
        labels[:] = self._values
        return belief_of(self.attribute, self.goal, labels)

    @cached_property
    def _ranging(self) -> Ranging:
        prior, form = self.attribute.prior, self.attribute.distance.line_form
        assert isinstance(prior, LinePrior)
        if form is None or not np.isinf(form.cap) or not isinstance(self.goal, Within):
            raise ParameterError(
                "at",
                None,
                "the worst true value is found only for |ψ(x) − ψ(x')| and one interval",
                "give at={…}",
            )
        low, high = self.attribute.range
        goal = self.goal
        return Ranging(prior, form, lambda t: goal.edges(t)[0], low, high, goal.radius is not None)

    def _worst_epsilon(self, advantage: Array | None, posterior: Array | None, both: bool) -> Any:
        limits: list[tuple[Array, Aim]] = []
        if posterior is not None:
            before = self._worst_at(0.0, "posterior")
            if np.any(posterior < before.value * (1 - 1e-9)):
                raise InfeasibleError(
                    f"posterior: at the true value {before.at:g} the belief is {before.value:.6g} before any release, "
                    f"above the limit {float(np.min(posterior)):.6g}; allow a higher belief or a narrower goal"
                )
            limits.append((posterior, "posterior"))
        if advantage is not None:
            limits.append((advantage, "rise"))
            if both:
                limits.append((advantage, "fall"))
        found = [_each_limit(limit, partial(self._worst_bound, aim)) for limit, aim in limits]
        least = np.min(np.broadcast_arrays(*found), axis=0)
        return float(least) if least.ndim == 0 else least

    def _worst_bound(self, aim: Aim, epsilon: float) -> float:
        return self._worst_at(epsilon, aim).bound


def _each_limit(limit: Array, bound: Any) -> Array:
    """ε for each limit on a bound that does not start from 0 (a posterior starts at the prior)."""
    at_zero = bound(0.0)

    def one(value: float) -> float:
        if value >= 1 or value <= at_zero:
            return np.inf if value >= 1 else 0.0
        rise = np.asarray(value - at_zero)
        return float(largest_epsilon(lambda e: np.asarray(bound(float(e)) - at_zero), rise, relative=1e-9))

    return np.asarray(np.vectorize(one, otypes=[np.float64])(limit))


def _worst_of_values(belief: Belief, values: list[Any], epsilon: float, aim: Aim) -> Worst:
    if aim == "posterior":
        bracket = posterior_bracket(belief, np.asarray(epsilon), "upper")
        attack, bound = np.asarray(bracket.attack), np.asarray(bracket.bound)
    else:
        from guessproof.risk import odds

        sign = 1 if aim == "rise" else -1
        pair = belief.gain(np.asarray(sign * epsilon))
        attack, bound = (np.abs(odds.advantage(belief.log_p, belief.log_q, g)) for g in pair)
    best = int(np.argmax(attack))
    return Worst(values[best], float(attack[best]), float(np.max(bound)), float(np.exp(belief.log_p[best])))


def _larger(one: Bracket, other: Bracket) -> Bracket:
    """The larger of two brackets, elementwise."""
    first = np.asarray(one.bound) >= np.asarray(other.bound)

    def pick(a: Any, b: Any) -> Any:
        chosen = np.where(first, a, b)
        return chosen if chosen.ndim else chosen.item()

    return Bracket.meet(
        np.maximum(one.attack, other.attack),
        np.maximum(one.bound, other.bound),
        one.how,
        worst_at=pick(one.worst_at, other.worst_at),
        worst_prior=pick(one.worst_prior, other.worst_prior),
    )
