"""Several runs of correct guesses under a prior that may be wrong: one ε of what bounds all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from guessproof.risk.limits import by_few_looks
from guessproof.risk.misjudged.along_zigzags import HAIRS, MisjudgedZigzags
from guessproof.risk.misjudged.by_odds import OddsRange
from guessproof.risk.misjudged.stretches import AtomStretches, DensityStretches
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import MeasuredDirectly

_CLOSE = 1e-5  # of ε: how closely the largest one is looked for


@dataclass(frozen=True)
class WrongZigzags(MeasuredDirectly):
    """Attack and bound within what 0.025 % of ε is worth, mostly; and no more than odds alone say."""

    cut: DensityStretches | AtomStretches
    step: float
    by_odds: OddsRange
    _alongs: dict[tuple[float, Move], MisjudgedZigzags] = field(
        default_factory=dict[tuple[float, Move], MisjudgedZigzags], repr=False, compare=False
    )

    @property
    def relative(self) -> float:
        return _CLOSE

    @property
    def start(self) -> float:
        return self.by_odds.start

    def epsilon(self, limit: float, move: Move) -> float:
        """The root of the bound, by few looks."""
        if limit <= 0 or self.is_free(limit, move):
            return 0.0 if limit <= 0 else math.inf
        start = self.by_odds.wrong_by(self.factor).epsilon(limit, move)
        found = by_few_looks(lambda e: self.limit(e, move), limit, start, _CLOSE) if 0 < start < math.inf else None
        return super().epsilon(limit, move) if found is None else max(found, self.whatever(limit))

    def measured(self, epsilon: float, move: Move) -> tuple[float, float]:
        cut = self.cut if move > 0 else self.cut.turned
        along = self._alongs.setdefault((self.factor, move), MisjudgedZigzags(cut, self.step, self.factor, HAIRS))
        value, bound = along.measure(np.array([epsilon]))
        odds = self.by_odds.wrong_by(self.factor)
        least = min(float(bound[0]), odds.limit(epsilon, move))
        return min(max(float(value[0]), odds.reached(epsilon, move)), least), least

    def quick_factor(self, epsilon: float, limit: float, move: Move) -> float:
        return self.by_odds.quick_factor(epsilon, limit, move)
