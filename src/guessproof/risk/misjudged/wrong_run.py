"""Many numbers under a prior that may be wrong, at one true value: what bounds all ε at once is asked of one ε."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.atoms import Atoms
from guessproof.risk.misjudged.along_atoms import MisjudgedRun
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import MeasuredDirectly

_CLOSE = 1e-5  # of ε: how closely the largest one is looked for


@dataclass(frozen=True)
class WrongRun(MeasuredDirectly):
    """A run of numbers that are correct: attack and bound meet within what 0.025 % of ε is worth."""

    atoms: Atoms
    run: tuple[int, int]
    step: float

    @property
    def relative(self) -> float:
        return _CLOSE

    def measured(self, epsilon: float, move: Move) -> tuple[float, float]:
        run = MisjudgedRun(self.atoms, self.run, self.step, self.factor, move)
        value, bound = run.measure(np.array([epsilon]))
        return float(value[0]), float(bound[0])
