"""The worst true value under a prior that may be wrong, asked of one ε and many factors: no curve is worth its time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from guessproof.risk.misjudged.curve_boxes import AlongTruths
from guessproof.risk.misjudged.odds import LARGEST_FACTOR
from guessproof.risk.misjudged.truth_curve import proven_at
from guessproof.risk.roots import crossing

_UP = 0.1, 0.4, 1.0, 2.0, 4.0, 8.0, 16.0  # by what ln κ is raised until an attack breaks the limit
_BROKEN = 1e-3  # how finely ln κ is found at which one does
_BACK = 5e-3  # of ln κ: how far below it boxes prove the limit, which are a thousandth of ε above attacks
_CLOSELY, _HALVINGS = 0.01, 6  # of ln κ, where they prove it only further below


@dataclass(frozen=True)
class AtOneEpsilon:
    """A limit at one ε: what attacks reach, and what boxes prove, for one factor or another."""

    along: Callable[[float], AlongTruths]
    epsilon: float
    limit: float

    def largest_factor(self, proven: float) -> float:
        """The largest factor that keeps the limit, about: one that is proven, from one that is known to be.

        Attacks under huge factors are hard to find, so that factors are raised step by step.
        """
        least = below = math.log(max(proven, 1.0))
        broken = None
        for up in _UP:
            if least + up > math.log(LARGEST_FACTOR):
                break
            if self._excess(least + up) > 0:
                broken = least + up
                break
            below = least + up
        if broken is None:
            return math.exp(below) if below > least and self._is_kept(below) else proven
        if self._excess(below) < 0:
            broken = crossing(self._excess, below, broken, xtol=_BROKEN)
        return math.exp(self._largest(least, broken * (1 - _BACK)))

    def _largest(self, kept: float, tried: float) -> float:
        """ln κ from one that is kept to one that may be."""
        if tried <= kept or self._is_kept(tried):
            return max(kept, tried)
        for _ in range(_HALVINGS):
            if tried - kept <= _CLOSELY * kept:
                break
            middle = 0.5 * (kept + tried)
            kept, tried = (middle, tried) if self._is_kept(middle) else (kept, middle)
        return kept

    def _excess(self, room: float) -> float:
        """By how much an attack exceeds the limit."""
        along = self.along(math.exp(room))
        at = np.array([min(self.epsilon, along.largest)])  # what is reached with less is reached
        return max(float(along.rough(at)[0]), float(along.followed(at)[0][0])) - self.limit

    def _is_kept(self, room: float) -> bool:
        return proven_at(self.along(math.exp(room)), self.epsilon)[1] <= self.limit
