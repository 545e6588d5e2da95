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
from functools import partial
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError
from guessproof.risk.bracket import Bracket
from guessproof.risk.joint.engine import JointBounds
from guessproof.risk.joint.formula import BeliefShift, GoalBlock, normal, product_shift
from guessproof.risk.joint.joint_attack import JointAttack, span
from guessproof.risk.limits import largest_epsilon, posterior_of
from guessproof.risk.prior_free import PriorFree, worst_advantage, worst_distance
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.goals import And, Exactly, Goal, Norm, Within, combine
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

        tree = normal(self.goal)
        known = {n: a for n, a in self.attributes.items() if n != name}
        truth = {n: value for n, value in (self.truth or {}).items() if n in known}
        engine = JointBounds(JointAttack(known, truth, self.norm), self.goal)

        def shift(p: float, block: GoalBlock, k: float) -> BeliefShift:
            if name not in [a.name for a in block.goal.attributes]:
                return engine.part(block.goal).shift(k, 1)
            if block.is_single:
                return BeliefShift(*np.log([p, 1 - p]))
            problem = "says something of several numbers, one without a prior"
            raise GoalError("goal", block.goal, problem, "give it a prior")

        def beliefs(k: float) -> Array:
            """The belief after (k = ±epsilon) or before (0), where that in the unknown part is 0 and 1."""
            with np.errstate(divide="ignore"):
                wholes = [product_shift(tree, k, partial(shift, p)) for p in (0.0, 1.0)]
            return np.array([posterior_of(s.log_p, s.log_q, s.gain) for s in wholes])

        distance, before = epsilon * span(self.attributes[name]), beliefs(0.0)
        rise = _largest_gap(before, beliefs(epsilon), distance)
        if not both:
            return rise
        fall = _largest_gap((1 - before)[::-1], (1 - beliefs(-epsilon))[::-1], distance)
        return max(rise, fall)


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
