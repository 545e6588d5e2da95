"""A distance with a cap under a prior that may be wrong, at one true value: what bounds all ε is asked of one ε."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from guessproof.risk.misjudged.hills import HillGoal
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import MeasuredDirectly

_CLOSE = 1e-5  # of ε: how closely the largest one is looked for


@dataclass(frozen=True)
class WrongHills(MeasuredDirectly):
    """One interval: attack and bound meet within what 0.025 % of ε is worth."""

    goal: HillGoal

    @property
    def relative(self) -> float:
        return _CLOSE

    def measured(self, epsilon: float, move: Move) -> tuple[float, float]:
        from guessproof.risk.misjudged.along_hills import MisjudgedHills  # only where it is asked for

        hills = MisjudgedHills(replace(self.goal, factor=self.factor), move)
        value, bound = hills.measure(np.array([epsilon]))
        return float(value[0]), float(bound[0])
