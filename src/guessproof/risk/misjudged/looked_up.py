"""Engines of which a curve of all ε answers for one, where there is one: every further question is looked up."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import partial

from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import WrongPrior
from guessproof.risk.rising import Further, Rising, bound_of, inverse_of

CLOSE = 1e-3  # of ε: what may be lost where a curve answers

Curves = dict[tuple[float, Move], Further]  # by factor and move, each in parts


@dataclass(frozen=True)
class LookedUp(WrongPrior):
    """Parts of a curve, made when they are asked for."""

    curves: Curves = field(default_factory=Curves, kw_only=True, repr=False, compare=False)

    @abstractmethod
    def has_curve(self, move: Move) -> bool:
        """Whether one is worth its time."""

    @abstractmethod
    def made(self, move: Move, after: float) -> Rising | None:
        """The part after an ε, or from 0 on."""

    def bounds(self, epsilon: float, move: Move) -> tuple[float, float]:
        """Between what parts leave open, at an ε: the same twice where one tells it."""
        curve = self._curve(move)
        return (0.0, math.inf) if curve is None else bound_of(curve.each(), epsilon)

    def epsilon(self, limit: float, move: Move) -> float:
        """The largest ε at which the limit is proven."""
        curve = None if limit <= 0 or self.is_free(limit, move) else self._curve(move)
        least, most = (0.0, math.inf) if curve is None else inverse_of(curve.each(), limit)
        if least == most:
            return max(least, self.whatever(limit))
        return min(max(super().epsilon(limit, move), least), most)

    def _curve(self, move: Move) -> Further | None:
        if math.isinf(self.factor) or not self.has_curve(move):
            return None
        return self.curves.setdefault((self.factor, move), Further(0.0, partial(self.made, move)))
