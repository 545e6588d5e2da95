"""Several attributes, of some of which only the range is known: answers that hold for every prior there.

All of them unknown: two worlds R apart, R the diameter of all ranges in the attack's norm, and every prior between gain
tanh(εR/4) at most, whatever the goal is. One unknown, the others independent of it and known: with p the unknown belief
in its part of the goal, the product rule makes the goal's belief α + β·p before and at most α' + β'·u(p) after, with
u(p) = p/(p + e^{−εR}(1−p)); the largest difference has a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError
from guessproof.risk.bracket import Bracket
from guessproof.risk.limits import largest_epsilon
from guessproof.risk.two_valued import worst_advantage, worst_distance
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Compound, Exactly, Goal, Norm, Not, Within, power_of
from guessproof.world.priors import PartlyKnown, Unknown


def lacks_prior(attribute: Attribute) -> bool:
    """Whether only the range of an attribute is known."""
    return isinstance(attribute.prior, Unknown)


@dataclass(frozen=True)
class UnknownSeveral:
    """A goal about several attributes, at least one of which has no prior."""

    goal: Goal
    attributes: Mapping[str, Attribute]
    truth: Mapping[str, Any] | None
    norm: Norm

    def __post_init__(self) -> None:
        for attribute in self.attributes.values():
            if isinstance(attribute.prior, PartlyKnown):
                problem = "one probability of a prior is not enough among several attributes"
                raise ParameterError("prior", attribute.prior, problem, "give a prior, or unknown(low, high)")

    def advantage(self, epsilon: Array, both: bool) -> Bracket:
        """How far the belief can rise, or move, under the worst prior."""
        values = [self._one(float(e), both) for e in np.ravel(epsilon)]
        attacks, bounds = (np.reshape([v[i] for v in values], np.shape(epsilon)) for i in (0, 1))
        worlds, worst = "unknown priors: two worlds a diameter apart", "one unknown prior: product rule, worst belief"
        how = worlds if self._all else worst
        return Bracket.meet(attacks, bounds, how)

    def epsilon(self, advantage: Any, both: bool) -> Any:
        """The largest ε that keeps the advantage whatever the unknown priors are."""
        limit = np.asarray(advantage, dtype=np.float64)
        if self._all:
            reach = self._reach(self.attributes)
            found = np.asarray(worst_distance(limit) / reach) * (1 - 1e-15) if reach else np.full(limit.shape, np.inf)
            return float(found) if found.ndim == 0 else found
        bound = np.vectorize(lambda e: self._one(float(e), both)[1], otypes=[float])
        found = largest_epsilon(bound, limit)
        return float(found) if found.ndim == 0 else found

    # All unknown.

    @property
    def _all(self) -> bool:
        return all(lacks_prior(a) for a in self.attributes.values())

    def _one(self, epsilon: float, both: bool) -> tuple[float, float]:
        """(reached, never exceeded) at one ε."""
        if self._all:
            bound = float(worst_advantage(epsilon * self._reach(self.attributes)))
            return self._reached(epsilon, bound), bound
        unknown = [n for n, a in self.attributes.items() if lacks_prior(a)]
        options = [self._product(epsilon, unknown[0], both)] if len(unknown) == 1 else []
        reach = self._reach(self.attributes)
        options += [float(worst_advantage(epsilon * reach))] if math.isfinite(reach) else []
        if not options:
            problem = "several of these have no prior, and others no bounded range"
            raise ParameterError("prior", unknown, problem, "give priors, or bounded ranges")
        return 0.0, min(options)

    def _reached(self, epsilon: float, bound: float) -> float:
        """Somebody who knows all of the others: two values of one attribute, as far apart as they can be."""
        simple = isinstance(self.goal, And) and all(isinstance(p, (Within, Exactly)) for p in self.goal.parts)
        if not simple or self.truth is not None:
            return 0.0
        alone = [self._reach({n: a}) for n, a in self.attributes.items() if not _covers(self.goal, a)]
        return min(float(worst_advantage(epsilon * max(alone, default=0.0))), bound)

    def _reach(self, attributes: Mapping[str, Attribute]) -> float:
        """How far apart any two worlds are."""
        sizes = [_diameter(a) for a in attributes.values()]
        power = power_of(self.norm)
        if math.isinf(power) or not all(map(math.isfinite, sizes)):
            return math.fsum(sizes) if not math.isinf(power) else max(sizes)
        return math.fsum(s**power for s in sizes) ** (1 / power) * (1 + 1e-14)

    # One unknown.

    def _product(self, epsilon: float, name: str, both: bool) -> float:
        """The largest rise (or move) over the unknown belief, the others at their worst by the product rule."""
        before = self._values(self.goal, epsilon, name, "before")
        found = [_largest_gap(before, self._values(self.goal, epsilon, name, "upper"), epsilon * self._own(name))]
        if both:
            lower = self._values(self.goal, epsilon, name, "lower")
            turned = [(1 - b - a, b) for a, b in (before, lower)]
            found.append(_largest_gap(turned[0], turned[1], epsilon * self._own(name)))
        return max(found)

    def _own(self, name: str) -> float:
        return _diameter(self.attributes[name])

    def _values(self, goal: Goal, epsilon: float, name: str, side: str) -> tuple[float, float]:
        """(α, β): the belief in the goal is α + β·p, p that in the unknown part."""
        if isinstance(goal, Compound):
            if isinstance(goal, Not):
                raise GoalError("goal", goal, "a part that is missed needs a prior", "give one, or ask without not")
            parts = [self._values(part, epsilon, name, side) for part in goal.parts]
            return _and(parts) if isinstance(goal, And) else _or(parts)
        mine = goal.attributes[0].name
        if mine == name:
            return 0.0, 1.0
        return self._known(goal, mine, epsilon, side), 0.0

    def _known(self, goal: Goal, name: str, epsilon: float, side: str) -> float:
        from guessproof.risk.attack import Attack

        if goal.depends_on_truth and (self.truth is None or name not in self.truth):
            problem = f"beside an unknown prior the true value of {name} is needed"
            raise ParameterError("at", None, problem, f"give at={{{name!r}: …}} and the others")
        known = {name: self.truth[name]} if self.truth is not None and name in self.truth else None
        attack = Attack(goal, known)
        if side == "before":
            return float(attack.prior)
        return float(attack.posterior(epsilon, side).bound)


def _and(parts: list[tuple[float, float]]) -> tuple[float, float]:
    """The product of beliefs, of which one at most holds the unknown one."""
    alpha, beta = 1.0, 0.0
    for a, b in parts:
        alpha, beta = alpha * a, alpha * b + beta * a  # no product of two unknown ones: each attribute occurs once
    return alpha, beta


def _or(parts: list[tuple[float, float]]) -> tuple[float, float]:
    """1 − Π(1 − belief)."""
    alpha, beta = _and([(1 - a, -b) for a, b in parts])
    return 1 - alpha, -beta


def _largest_gap(before: tuple[float, float], after: tuple[float, float], distance: float) -> float:
    """max over p in [0, 1] of α' + β'·u(p) − α − β·p."""
    (a, b), (c, d) = before, after
    k = math.exp(-distance) if distance < 700 else 0.0

    def gap(p: float) -> float:
        u = 1.0 if p >= 1 else p / (p + k * (1 - p)) if p > 0 else 0.0
        return c + d * u - a - b * p

    best = max(gap(0.0), gap(1.0))
    if b > 0 and d > 0 and k < 1:
        p = (math.sqrt(d * k / b) - k) / (1 - k)
        best = max(best, gap(min(max(p, 0.0), 1.0)), c + d - a if k == 0 else best)
    return min(max(best, 0.0), 1.0)


def _diameter(attribute: Attribute) -> float:
    """How far apart two values of the attribute can be."""
    metric, form = attribute.distance, attribute.distance.line_form
    if isinstance(attribute.prior, Finite) and not (attribute.prior.is_line and form is not None):
        values = np.empty(len(attribute.prior.values), dtype=object)
        values[:] = attribute.prior.values
        return float(np.max(metric.distance(values[:, None], values[None, :])))
    prior: Any = attribute.prior
    low, high = (prior.low, prior.high) if lacks_prior(attribute) else attribute.range
    if isinstance(prior, Finite):
        low, high = float(prior.points[0]), float(prior.points[-1])
    if form is not None and not math.isfinite(high - low):
        return math.inf if form.slopes[0] or form.slopes[-1] else float(metric.distance(-1e300, 1e300))
    return float(metric.distance(low, high))


def _covers(goal: Goal, attribute: Attribute) -> bool:
    """Whether a part of the goal holds all that an attribute can be."""
    part = next(p for p in goal.parts if p.attributes[0].name == attribute.name)  # pyright: ignore[reportAttributeAccessIssue]
    prior: Any = attribute.prior
    low, high = part.edges(prior.low)[0]
    return bool(low <= prior.low and high >= prior.high)
