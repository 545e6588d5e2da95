"""The worst true value under a prior that may be wrong, asked of one ε and many factors: no curve is worth its time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from guessproof.risk.misjudged.curve_boxes import AlongTruths
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.truth_curve import proven_at
from guessproof.risk.misjudged.wrong_prior import WrongPrior

_SHARES = (3e-3, 6e-3, 0.012, 0.03, 0.1, 0.3)  # of ln κ


@dataclass(frozen=True)
class AtOneEpsilon(WrongPrior):
    """What attacks reach, and what boxes prove there: a thousandth of ε above it."""

    along: Callable[[float, Move], AlongTruths]  # of a factor

    @property
    def start(self) -> float:
        return 1 / self.widths.across if 0 < self.widths.across < math.inf else 1.0

    @property
    def shares(self) -> tuple[float, ...]:
        return _SHARES

    def reached(self, epsilon: float, move: Move) -> float:
        along, whatever = self.along(self.factor, move), self._whatever(epsilon)
        at = np.array([min(epsilon, along.largest)])  # what is reached with less is reached
        return min(max(float(along.rough(at)[0]), float(along.followed(at)[0][0])), whatever)

    def limit(self, epsilon: float, move: Move) -> float:
        whatever = self._whatever(epsilon)
        if math.isinf(self.factor):
            return whatever
        return min(proven_at(self.along(self.factor, move), epsilon)[1], whatever)

    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        return self.limit(epsilon, move) <= limit

    def is_free(self, limit: float, move: Move) -> bool:
        low, high = self.widths.beliefs(self.factor)
        return limit >= (1 - low if move > 0 else high)

    def _whatever(self, epsilon: float) -> float:
        """What holds whatever the prior is."""
        return math.tanh(epsilon * self.widths.across / 4)
