"""A distance with a cap under a prior that may be wrong, at one true value: what bounds all ε is asked of one ε."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from guessproof.risk.misjudged.hills import HillGoal
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import ProvenDirectly

_CLOSE = 1e-5  # of ε: how closely the largest one is looked for


@dataclass(frozen=True)
class WrongHills(ProvenDirectly):
    """One interval: attack and bound meet within what 0.025 % of ε is worth."""

    goal: HillGoal
    _found: dict[tuple[float, float, int], tuple[float, float]] = field(
        default_factory=dict[tuple[float, float, int], tuple[float, float]], repr=False, compare=False
    )

    @property
    def relative(self) -> float:
        return _CLOSE

    @property
    def start(self) -> float:
        return 1 / self.widths.across

    def reached(self, epsilon: float, move: Move) -> float:
        return self._most(epsilon, move)[0]

    def limit(self, epsilon: float, move: Move) -> float:
        return self._most(epsilon, move)[1]

    def _most(self, epsilon: float, move: Move) -> tuple[float, float]:
        whatever = math.tanh(epsilon * self.widths.across / 4)  # whatever the prior is
        if epsilon == 0 or math.isinf(self.factor):
            return whatever, whatever
        key = (epsilon, self.factor, move)
        if key not in self._found:
            from guessproof.risk.misjudged.along_hills import MisjudgedHills  # only where it is asked for

            hills = MisjudgedHills(replace(self.goal, factor=self.factor), move)
            value, bound = (float(v[0]) for v in hills.measure(np.array([epsilon])))
            self._found[key] = min(value, whatever), min(bound, whatever * (1 + 1e-15))
        return self._found[key]
