"""One interval at one true value: proven on a grid of peaks, as curves are, and more closely by boxes.

A grid leaves open what 0.025 % more of ε would add, and finds attacks that one climb misses. Boxes of peaks and beliefs
prove eight digits of the best attack, and little else; they ask for thousands of integrals: too many where each is a
quadrature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from guessproof.risk.limits import largest_epsilon
from guessproof.risk.misjudged.along import MisjudgedAlong
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, TentRanges
from guessproof.risk.misjudged.wrong_prior import BACK, MeasuredDirectly, WrongTents
from guessproof.world.checks import Array

_CLOSE = 1e-5  # of ε: how closely the largest one is looked for
_HAIRS = (4e-9, 3e-7, 3e-5)  # how far above an attack, or below its ε, boxes are asked for a proof


@dataclass(frozen=True)
class WrongAlong(MeasuredDirectly):
    """The better of both."""

    tents: WrongTents
    _grids: dict[tuple[float, Move], MisjudgedAlong] = field(
        default_factory=dict[tuple[float, Move], MisjudgedAlong], repr=False, compare=False
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

    def reached(self, epsilon: float, move: Move) -> float:
        found = self.both(epsilon, move)[0]
        return found if self._is_slow else max(found, self._boxes.reached(epsilon, move))

    def limit(self, epsilon: float, move: Move) -> float:
        bound = self.both(epsilon, move)[1]
        if self._is_slow or math.isinf(self.factor):
            return bound
        reached = self.reached(epsilon, move)
        closer = (reached * (1 + hair) for hair in _HAIRS if reached * (1 + hair) < bound)
        return next((rise for rise in closer if self._boxes.keeps(epsilon, rise, move)), bound)

    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        if self.both(epsilon, move)[1] <= limit:
            return True
        return not self._is_slow and self._boxes.keeps(epsilon, limit, move)

    def epsilon(self, limit: float, move: Move) -> float:
        if limit <= 0 or self.is_free(limit, move):
            return 0.0 if limit <= 0 else math.inf

        def bound(epsilon: Array) -> Array:
            return np.asarray(self.both(float(epsilon), move)[1])

        found = float(largest_epsilon(bound, np.asarray(limit), start=self.start, relative=_CLOSE))
        found = max(found, self.whatever(limit))
        if self._is_slow:
            return found
        broken = self._broken(limit, move)
        closer = (broken * (1 - BACK * hair) for hair in _HAIRS if broken * (1 - BACK * hair) > found)
        return next((e for e in closer if self._boxes.keeps(e, limit, move)), found)

    def _broken(self, limit: float, move: Move) -> float:
        """The ε at which an attack breaks a limit."""

        def reached(epsilon: Array) -> Array:
            return np.asarray(self._boxes.reached(float(epsilon), move))

        return float(largest_epsilon(reached, np.asarray(limit), start=self.start, relative=1e-10))

    @property
    def _is_slow(self) -> bool:
        return self.tents.goal.world.prior.by_quadrature

    @property
    def _boxes(self) -> WrongTents:
        return self.tents.wrong_by(self.factor)

    def measured(self, epsilon: float, move: Move) -> tuple[float, float]:
        goal = replace(self.tents.goal, factor=self.factor)
        grid = self._grids.setdefault((self.factor, move), MisjudgedAlong(goal, move))
        value, bound = grid.measure(np.array([epsilon]))
        return float(value[0]), float(bound[0])

    def quick_factor(self, epsilon: float, limit: float, move: Move) -> float:
        return self._boxes.quick_factor(epsilon, limit, move)
