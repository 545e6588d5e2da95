"""Many numbers under a prior that may be wrong, at one true value: what bounds all ε at once is asked of one ε."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from guessproof.risk.atoms import Atoms
from guessproof.risk.misjudged.along_atoms import MisjudgedRun
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import ProvenDirectly

_CLOSE = 1e-5  # of ε: how closely the largest one is looked for


@dataclass(frozen=True)
class WrongRun(ProvenDirectly):
    """A run of numbers that are correct: attack and bound meet within what 0.025 % of ε is worth."""

    atoms: Atoms
    run: tuple[int, int]
    step: float
    _found: dict[tuple[float, float, int], tuple[float, float]] = field(
        default_factory=dict[tuple[float, float, int], tuple[float, float]], repr=False, compare=False
    )

    @property
    def relative(self) -> float:
        return _CLOSE

    def most(self, epsilon: float, move: Move) -> tuple[float, float]:
        whatever = math.tanh(epsilon * self.widths.across / 4)  # whatever the prior is
        if epsilon == 0 or self.widths.across == 0 or math.isinf(self.factor):
            return whatever, whatever
        key = (epsilon, self.factor, move)
        if key not in self._found:
            run = MisjudgedRun(self.atoms, self.run, self.step, self.factor, move)
            value, bound = (float(v[0]) for v in run.measure(np.array([epsilon])))
            self._found[key] = min(value, whatever), min(bound, whatever * (1 + 1e-15))
        return self._found[key]
