"""A goal that reaches to an end of what is possible, under a prior that may be wrong: one ε of what bounds all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.misjudged.ramps import MisjudgedRamp
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import MeasuredDirectly, Widths
from guessproof.risk.ramp import Ramp


@dataclass(frozen=True)
class WrongRamp(MeasuredDirectly):
    """All on one side of an edge: attack and bound meet."""

    ramp: Ramp

    @classmethod
    def of(cls, factor: float, widths: Widths, ramp: Ramp) -> WrongRamp | None:
        """None where the edge lies beyond where turns are looked for."""
        return None if MisjudgedRamp.of(ramp, factor, 1) is None else cls(factor, widths, ramp)

    @property
    def start(self) -> float:
        spread = self.ramp.world.spread
        return 1 / spread if spread > 0 else 1.0

    def measured(self, epsilon: float, move: Move) -> tuple[float, float]:
        along = MisjudgedRamp.of(self.ramp, self.factor, move)
        assert along is not None
        value, bound = along.measure(np.array([epsilon]))
        return float(value[0]), float(bound[0])
