"""The questions of an attack on several attributes, answered: at stated true values, or at the worst ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.bracket import Bracket, Effort
from guessproof.risk.joint.engine import JointBounds
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.risk.joint.worst import typical_epsilon, worst_truths
from guessproof.risk.worst_truth import WorstTruth
from guessproof.world.attributes import Attribute
from guessproof.world.checks import LARGEST, Array
from guessproof.world.goals import Goal, Norm


@dataclass(frozen=True)
class JointAnswers:
    """A goal about several attributes; `truth` is None where the true values are left open."""

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

    @cached_property
    def _left_open(self) -> WorstTruth:
        return worst_truths(self.attributes, self.goal, self.norm)

    @property
    def prior(self) -> float:
        """P(goal) before the release."""
        return float(np.exp(self.engine.prior().log_p))

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        """The largest or smallest belief after the worst output."""
        if self.truth is None:
            return self._left_open.posterior(epsilon, side, effort)
        return self.engine.belief(effort).posterior(epsilon, side)

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        """How far the belief can rise, or move."""
        if self.truth is None:
            return self._left_open.advantage(epsilon, both, effort)
        return self.engine.belief(effort).advantage(epsilon, both)

    def epsilon(self, advantage: Any, both: bool, posterior: Any, effort: Effort | None) -> Any:
        """The largest ε that is proven to keep the limits."""
        if self.truth is None:
            return self._left_open.epsilon(advantage, both, posterior, effort)
        start = typical_epsilon(self.attributes)
        if not self.engine.is_product and self.engine.whole is None:
            rough = self.engine.rough().belief(attack=False)
            found = rough.epsilon(advantage, both, posterior, start=start)
            start = found if np.ndim(found) == 0 and 0 < found < LARGEST else start
        belief = self.engine.belief(effort, attack=effort is not None)
        return belief.epsilon(advantage, both, posterior, start=start)
