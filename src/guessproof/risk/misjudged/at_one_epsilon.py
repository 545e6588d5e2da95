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

_FACTORS = 1.01, 1.2, 1.5, 2.0, 3.0, 6.0, 16.0, 64.0, 512.0, 1e5
_CLOSELY, _HALVINGS = 0.01, 10  # of ln κ
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

    def _proven_factor(self, epsilon: float, limit: float, move: Move, broken: float) -> float:
        """Halved a few times where an attack was missed, and a factor well below its own is all that is proven."""
        proven, most = math.log(super()._proven_factor(epsilon, limit, move, broken)), math.log(broken)
        shares = [0.0, *self.shares, 1.0]
        failed = max(share for share in shares if most * (1 - share) > proven * (1 + 1e-12))
        open_ = most * (1 - failed)
        for _ in range(_HALVINGS):
            if open_ - proven <= _CLOSELY * proven:
                break
            middle = 0.5 * (open_ + proven)
            kept = self.wrong_by(math.exp(middle)).keeps(epsilon, limit, move)
            proven, open_ = (middle, open_) if kept else (proven, middle)
        return math.exp(proven)

    def reached(self, epsilon: float, move: Move) -> float:
        along, whatever = self.along(self.factor, move), self._whatever(epsilon)
        at = np.array([min(epsilon, along.largest)])  # what is reached with less is reached
        return min(max(float(along.rough(at)[0]), float(along.followed(at)[0][0])), whatever)

    def limit(self, epsilon: float, move: Move) -> float:
        whatever = self._whatever(epsilon)
        if math.isinf(self.factor):
            return whatever
        return min(proven_at(self.along(self.factor, move), epsilon)[1], whatever)

    def largest_factor(self, epsilon: float, limit: float, move: Move) -> float:
        """Attacks under huge factors are hard to find: the first factor of some at which one breaks the limit."""
        found = (factor for factor in _FACTORS if self.wrong_by(factor).reached(epsilon, move) > limit)
        broken = next(found, None)
        if broken is None or broken == _FACTORS[0]:
            return super().largest_factor(epsilon, limit, move) if broken is None else 1.0
        return self._below_broken(epsilon, limit, move, broken)

    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        return self.limit(epsilon, move) <= limit

    def is_free(self, limit: float, move: Move) -> bool:
        low, high = self.widths.beliefs(self.factor)
        return limit >= (1 - low if move > 0 else high)

    def _whatever(self, epsilon: float) -> float:
        """What holds whatever the prior is."""
        return math.tanh(epsilon * self.widths.across / 4)
