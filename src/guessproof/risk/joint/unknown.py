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
from guessproof.risk.joint.joint_attack import span
from guessproof.risk.limits import largest_epsilon
from guessproof.risk.prior_free import PriorFree, worst_advantage, worst_distance
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.goals import And, Compound, Exactly, Goal, Norm, Not, Within, combine
from guessproof.world.priors import PartlyKnown, Unknown

BACK = 1e-14  # relative: rounding of an ε in closed form


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
                raise ParameterError(
                    "prior", attribute.prior, problem, "give a prior, or unknown(low, high)"
                )

    def advantage(self, epsilon: Array, both: bool, *unused: Any) -> Bracket:
        """How far the belief can rise, or move, under the worst prior."""
        bound = np.vectorize(self._bound, otypes=[np.float64])(epsilon, both)
        if len(self._unknown) < len(self.attributes):
            how = "one unknown prior: product rule, worst belief"
            return Bracket.meet(0 * bound, bound, how)
        # An attacker who knows all attributes but one.
        parts = self.goal.parts if isinstance(self.goal, And) and self.truth is None else ()
        reached = [0 * bound]
        if all(isinstance(part, (Within, Exactly)) for part in parts):
            alone = [PriorFree(part.attributes[0], part, None) for part in parts]
            reached += [np.asarray(part.advantage(epsilon, both).attack) for part in alone]
        how = "unknown priors: two worlds a diameter apart"
        return Bracket.meet(np.max(reached, axis=0), bound, how)

    def epsilon(self, advantage: Any, both: bool, *unused: Any) -> Any:
        """The largest ε that keeps the advantage whatever the unknown priors are."""
        limit = np.asarray(advantage, dtype=np.float64)
        if len(self._unknown) < len(self.attributes):
            bound = np.vectorize(self._bound, otypes=[np.float64])
            found = largest_epsilon(lambda epsilon: bound(epsilon, both), limit)
        else:
            found = (
                worst_distance(limit) / self._reach * (1 - BACK)
                if self._reach
                else limit + np.inf
            )
        return float(found) if found.ndim == 0 else found

    @property
    def _unknown(self) -> list[str]:
        """The attributes without a prior."""
        return [n for n, a in self.attributes.items() if isinstance(a.prior, Unknown)]

    @property
    def _reach(self) -> float:
        """How far apart any two worlds are."""
        return float(combine(self.norm, [span(a) for a in self.attributes.values()]))

    def _bound(self, epsilon: float, both: bool) -> float:
        """What the advantage never exceeds."""
        if epsilon == 0:
            return 0.0
        unknown, reach = self._unknown, self._reach
        always = float(worst_advantage(epsilon * reach))
        if len(unknown) == 1:
            return min(always, self._product(epsilon, unknown[0], both))
        if math.isinf(reach) and len(unknown) < len(self.attributes):
            problem = "several of these have no prior, and others no bounded range"
            raise ParameterError("prior", unknown, problem, "give priors, or bounded ranges")
        return always

    def _product(self, epsilon: float, name: str, both: bool) -> float:
        """The largest rise (or move) over the unknown belief, the others at their worst by the product rule."""

        def ends(side: str) -> Array:
            return np.array(
                [self._belief(self.goal, epsilon, side, {name: p}) for p in (0.0, 1.0)]
            )

        distance, before = epsilon * span(self.attributes[name]), ends("before")
        rise = _largest_gap(before, ends("upper"), distance)
        if not both:
            return rise
        return max(rise, _largest_gap((1 - before)[::-1], (1 - ends("lower"))[::-1], distance))

    def _belief(
        self, goal: Goal, epsilon: float, side: str, given: Mapping[str, float]
    ) -> float:
        """The belief in a goal by the product rule, where that in the unknown part is given."""
        from guessproof.risk.attack import Attack  # which asks for this module

        if isinstance(goal, Not):
            raise GoalError(
                "goal",
                goal,
                "a part that is missed needs a prior",
                "give one, or ask without not",
            )
        if isinstance(goal, Compound):
            parts = [self._belief(part, epsilon, side, given) for part in goal.parts]
            return (
                math.prod(parts)
                if isinstance(goal, And)
                else 1 - math.prod(1 - p for p in parts)
            )
        name = goal.attributes[0].name
        if name in given:
            return given[name]
        at = {n: value for n, value in (self.truth or {}).items() if n == name}
        if goal.depends_on_truth and not at:
            problem = f"beside an unknown prior the true value of {name} is needed"
            raise ParameterError("at", None, problem, f"give at={{{name!r}: …}} and the others")
        attack = Attack(goal, at or None)
        return float(
            attack.prior if side == "before" else attack.posterior(epsilon, side).bound
        )


def _largest_gap(before: Array, after: Array, distance: float) -> float:
    """max over p in [0, 1] of the belief after, in which p has risen by `distance` in ln odds, minus that before.

    Both are known at p = 0 and p = 1.
    """
    b, d, k = float(np.diff(before)[0]), float(np.diff(after)[0]), math.exp(-distance)
    inner = (math.sqrt(d * k / b) - k) / (1 - k) if b > 0 and d > 0 and k < 1 else 0.0
    p = np.clip([0.0, inner, 1.0], 0.0, 1.0)
    raised = p / np.where(p > 0, p + k * (1 - p), 1.0)
    if k == 0:  # no prior is too small to become certain
        raised[0] = 1.0
    return float(np.clip(np.max(after[0] + d * raised - before[0] - b * p), 0.0, 1.0))
