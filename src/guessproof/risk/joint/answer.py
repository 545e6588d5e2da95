"""The questions of an attack on several attributes, answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from guessproof.errors import InfeasibleError, ParameterError, TrueValueError
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket, Direction, Effort, larger
from guessproof.risk.combinations import OpenTruths
from guessproof.risk.joint.engine import JointBounds
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.risk.joint.one_number import OneNumber, one_number
from guessproof.risk.joint.worst import WorstTruths, all_truths
from guessproof.risk.limits import (
    Belief,
    advantage_bracket,
    advantage_of,
    checked_limits,
    posterior_bracket,
    posterior_of,
    safe_epsilon,
)
from guessproof.world.attributes import Attribute
from guessproof.world.checks import LARGEST, Array
from guessproof.world.goals import Goal, Norm, Not
from guessproof.world.line import LinePrior

Found = tuple[float, float, Any, float]  # attack, bound, true values, and the prior there


@dataclass(frozen=True)
class JointAnswers:
    """A goal about several attributes; `truth` is None where the true values are unknown."""

    goal: Goal
    attributes: Mapping[str, Attribute]
    truth: Mapping[str, Any] | None
    norm: Norm

    @cached_property
    def engine(self) -> JointBounds:
        """The engine at the stated true values."""
        if self.truth is None:
            raise ParameterError(
                "at", None, "the answer depends on the true values", "give at={…}"
            )
        return JointBounds(JointAttack(self.attributes, self.truth, self.norm), self.goal)

    @property
    def prior(self) -> float:
        """P(goal) before the release."""
        return float(np.exp(self.engine.prior().log_p))

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        """The largest or smallest belief after the worst output."""
        if self.truth is not None:
            return posterior_bracket(self.engine.belief(effort), epsilon, side)
        if side != "upper":
            raise ParameterError("side", side, "needs true values", "give at={…}")
        return self._worst(epsilon, "posterior", effort)

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        """How far the belief can rise, or move."""
        if self.truth is not None:
            return advantage_bracket(self.engine.belief(effort), epsilon, both)
        rise = self._worst(epsilon, "rise", effort)
        return larger(rise, self._worst(epsilon, "fall", effort)) if both else rise

    @property
    def bounds_only(self) -> Belief | None:
        """The goal's prior and bounds on its gains, without attacks, which take longer; None without true values."""
        return None if self.truth is None else self.engine.belief(attack=False)

    def epsilon(self, advantage: Any, posterior: Any, both: bool, effort: Effort | None) -> Any:
        """The largest ε that is proven to keep the limits."""
        if self.truth is None:
            return self._worst_epsilon(advantage, posterior, both, effort)
        limits: dict[str, Any] = {"advantage": advantage, "posterior": posterior, "both": both}
        start = self.typical
        if not self.engine.is_product and self.engine.whole is None:
            found = safe_epsilon(
                self.engine.rough().belief(attack=False), **limits, start=start
            )
            start = found if np.ndim(found) == 0 and 0 < found < LARGEST else start
        return safe_epsilon(
            self.engine.belief(effort, attack=effort is not None), **limits, start=start
        )

    @property
    def typical(self) -> float:
        """An ε at which the bulk of the widest prior is about one unit wide: where a search may start."""
        widths = [1e-300]
        for attribute in self.attributes.values():
            prior, form = attribute.prior, attribute.distance.line_form
            if isinstance(prior, LinePrior) and form is not None:
                low, high = form.psi(prior.quantile([0.1, 0.9]))
                widths.append(float(high - low))
        return 1 / max(widths) if max(widths) > 1e-290 else 1.0

    # Without true values: the worst ones.

    @cached_property
    def _truths(self) -> OpenTruths | None:
        """All true values with an answer of their own, where there are finitely many."""
        found = all_truths(self.attributes, self.goal, self.norm)
        if found is not None and not found.truths:
            raise TrueValueError(
                "at", None, "the goal is certain for every true value", "choose a narrower goal"
            )
        return found

    @cached_property
    def _each(self) -> list[JointAnswers]:
        truths = [] if self._truths is None else self._truths.truths
        return [JointAnswers(self.goal, self.attributes, row, self.norm) for row in truths]

    @cached_property
    def _alone(self) -> OneNumber | None:
        """The value of a weighted sum of normal numbers, whose worst true value is that of one number."""
        is_turned = isinstance(
            self.goal, Not
        )  # the true value where most is missed is not searched for
        return None if is_turned else one_number(self.attributes, self.goal, self.norm)

    @cached_property
    def _anywhere(self) -> WorstTruths:
        return WorstTruths(self.attributes, self.goal, self.norm)

    def _worst(self, epsilon: Array, aim: Direction, effort: Effort | None) -> Bracket:
        one, how = self._worst_place, "worst true values by boxes of them"
        if self._alone is not None:
            one, how = self._worst_sum, "worst value of the formula, as one number"
        elif self._truths is not None:
            one, how = (
                partial(self._worst_row, effort),
                "worst of all combinations of true values",
            )
        found = [one(aim, float(e)) for e in epsilon.ravel()]
        attack, bound, prior = (
            np.reshape([f[i] for f in found], epsilon.shape)[()] for i in (0, 1, 3)
        )
        at = np.empty(len(found), dtype=object)
        at[:] = [f[2] for f in found]
        return Bracket.meet(
            attack, bound, how, worst_at=at.reshape(epsilon.shape)[()], worst_prior=prior
        )

    def _worst_place(self, aim: Direction, epsilon: float) -> Found:
        bound, at = self._anywhere.worst(epsilon, aim)
        value, prior = self._anywhere.reached(epsilon, aim, at)
        return min(value, bound), bound, at, prior

    def _worst_sum(self, aim: Direction, epsilon: float) -> Found:
        """The place is told as the formula's value."""
        assert self._alone is not None
        brackets = [
            attack.posterior(epsilon) if aim == "posterior" else attack.worst(epsilon, aim)
            for attack in (
                Attack(self._alone.on(own))
                for own in (self._alone.bounding, self._alone.reaching)
                if own
            )
        ]
        reached, most = brackets[-1], float(brackets[0].bound)
        gained = min(float(reached.attack), most) if len(brackets) > 1 else 0.0
        return (
            gained,
            most,
            {self._alone.bounding.name: reached.worst_at},
            float(np.asarray(reached.worst_prior)),
        )

    def _worst_row(self, effort: Effort | None, aim: Direction, epsilon: float) -> Found:
        certain = None if self._truths is None else self._truths.certain
        if aim == "posterior" and certain is not None:
            return 1.0, 1.0, certain, 1.0
        found: list[Found] = []
        value = posterior_of if aim == "posterior" else advantage_of
        for one in self._each:
            belief = one.engine.belief(effort)
            gains = belief.gain(np.asarray(-epsilon if aim == "fall" else epsilon))
            attack, bound = (
                float(abs(value(belief.log_p, belief.log_q, gain))) for gain in gains
            )
            found.append((attack, bound, one.truth, float(np.exp(belief.log_p))))
        best = max(found, key=lambda one: one[0])
        return best[0], max(bound for _, bound, _, _ in found), best[2], best[3]

    def _worst_epsilon(
        self, advantage: Any, posterior: Any, both: bool, effort: Effort | None
    ) -> Any:
        limits = checked_limits(advantage, posterior)
        if self._alone is not None:
            attack = Attack(self._alone.on(self._alone.bounding))
            return attack.epsilon(advantage=advantage, posterior=posterior, both=both)
        if self._truths is not None:
            if (
                limits[1] is not None
                and self._truths.certain is not None
                and np.any(limits[1] < 1)
            ):
                raise InfeasibleError(
                    f"posterior: at the true value {self._truths.certain} the goal is certain before any release, "
                    f"above the limit {float(np.min(limits[1])):.6g}; choose a narrower goal"
                )
            found = [one.epsilon(advantage, posterior, both, effort) for one in self._each]
        else:
            aims: list[tuple[Array | None, Direction]] = [
                (limits[1], "posterior"),
                (limits[0], "rise"),
            ]
            if both:
                aims.append((limits[0], "fall"))
            found = [
                np.vectorize(partial(self._search, aim), otypes=[np.float64])(limit)
                for limit, aim in aims
                if limit is not None
            ]
        least = np.min(np.broadcast_arrays(*found), axis=0)
        return float(least) if least.ndim == 0 else least

    def _search(self, aim: Direction, limit: float) -> float:
        """ε for one limit on what no true values exceed."""
        if limit >= 1:
            return np.inf
        if aim == "posterior":
            before = self._anywhere.reached(0.0, aim, self._anywhere.worst(0.0, aim)[1])[0]
            if limit <= before:
                raise InfeasibleError(
                    f"posterior: some true value has a belief of {before:.6g} before any release, above the limit "
                    f"{limit:.6g}; allow a higher belief or a narrower goal"
                )
        return self._anywhere.epsilon(limit, aim, self.typical) if limit > 0 else 0.0
