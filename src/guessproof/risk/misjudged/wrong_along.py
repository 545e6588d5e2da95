"""One interval at one true value: proven on a grid of peaks, as curves are, and closer.

What a grid leaves open falls with the square of how far its peaks and radii are apart, so that eight digits take little
more than four; where they take more than they are worth, it is said how many were proven.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from guessproof.risk.limits import by_few_looks
from guessproof.risk.misjudged.along import CLOSE, CLOSEST, Closeness, MisjudgedAlong
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, TentRanges
from guessproof.risk.misjudged.wrong_prior import MeasuredDirectly, WrongTents

_NEAR, _CLOSE = 1e-3, 1e-8  # of ε: how closely the largest one is looked for, at first and then


@dataclass(frozen=True)
class WrongAlong(MeasuredDirectly):
    """Attack and bound, nearly always meeting."""

    tents: WrongTents
    _grids: dict[tuple[float, Move, Closeness], MisjudgedAlong] = field(
        default_factory=dict[tuple[float, Move, Closeness], MisjudgedAlong], repr=False, compare=False
    )

    @staticmethod
    def suits(goal: MisjudgedGoal) -> bool:
        """Whether integrals are quick, and peaks are looked for in all of the goal."""
        world = goal.world
        if not any(world.form.slopes) or (world.prior.by_quadrature and world.tables is None):
            return False
        first, last = TentRanges.of(goal).bulk
        lo, hi = (float(end) for end in goal.edges(np.asarray(goal.low)))
        return bool(first <= lo and hi <= last)

    @property
    def start(self) -> float:
        return self.tents.start

    @property
    def relative(self) -> float:
        return _CLOSE

    def epsilon(self, limit: float, move: Move) -> float:
        """The root of the bound, looked for from that of a coarser one."""
        if limit <= 0 or self.is_free(limit, move):
            return 0.0 if limit <= 0 else math.inf
        rough = self._along(move, CLOSE)
        start = by_few_looks(lambda e: float(rough.measure(np.array([e]))[1][0]), limit, self.start, _NEAR)
        found = None if start is None else by_few_looks(lambda e: self.limit(e, move), limit, start, _CLOSE)
        return super().epsilon(limit, move) if found is None else max(found, self.whatever(limit))

    def _along(self, move: Move, close: Closeness) -> MisjudgedAlong:
        goal = replace(self.tents.goal, factor=self.factor)
        return self._grids.setdefault((self.factor, move, close), MisjudgedAlong(goal, move, close))

    def measured(self, epsilon: float, move: Move) -> tuple[float, float]:
        value, bound = self._along(move, CLOSEST).measure(np.array([epsilon]))
        return float(value[0]), float(bound[0])

    def quick_factor(self, epsilon: float, limit: float, move: Move) -> float:
        return self.tents.wrong_by(self.factor).quick_factor(epsilon, limit, move)
