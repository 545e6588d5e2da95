"""A distance with a cap under a prior that may be wrong, at the worst true value: a curve of all ε answers for one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.risk.gaps import gap_across, room_of_beliefs
from guessproof.risk.misjudged.hill_truths import HillTruths
from guessproof.risk.misjudged.looked_up import LookedUp
from guessproof.risk.misjudged.odds import LARGEST_FACTOR, with_odds_of
from guessproof.risk.misjudged.quick import aim
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import MeasuredDirectly, WrongPrior
from guessproof.risk.rising import Rising
from guessproof.risk.truth_search import TruthSearch
from guessproof.risk.worst_case import worst_true_value
from guessproof.world.checks import Array

_KNOTS = 32
_CLOSE = 5e-3  # of ε: what may be lost where a curve answers
_LOOSE = 1.01  # times an attack: where more than that is left open, what holds without the cap is asked
_FINE, _ROUGH = 2e-3, 0.04  # of ln κ: how closely the largest factor is looked for


def cuts_hills(search: TruthSearch) -> bool:
    """Whether boxes of true values are worth their time: a distance straight up to its cap, and closed integrals."""
    return math.isfinite(search.form.cap) and search.form.is_straight and not search.prior.by_quadrature


@dataclass(frozen=True)
class HillCurve:
    """All ε of one interval around a true value that may be any."""

    truths: HillTruths
    typical: float

    def made(self, after: float | None = None) -> Rising:
        """The curve, or what comes after an ε."""
        truths = self.truths
        made = Rising.planned(truths.measure, self.room, truths.rough, self.room, self.typical, _KNOTS, _CLOSE, after)
        made = made.without(made.bound[1:] >= 1)
        return made if made.bound[-1] < 1 else Rising.unknown()  # where nothing is proven, nothing is said

    @cached_property
    def before(self) -> tuple[float, float]:
        """Between which beliefs a move starts."""
        most = worst_true_value(self.truths.search, 0.0, "posterior").bound
        high = float(with_odds_of(min(most, 1.0), self.truths.factor))
        return (0.0, high) if self.truths.move > 0 else (1 - high, 1.0)

    def room(self, first: Array, second: Array, bound: tuple[Array, Array]) -> Array:
        """How far above the straight line between two knots, midway: by how far apart two values are."""
        form = self.truths.search.form
        gap, top = gap_across(form.cap + form.step, first, second), 1 - self.before[0]
        bound = np.minimum(bound[0], top), np.minimum(bound[1], top)
        most = np.minimum(self.before[1] + bound[0], 1.0), np.minimum(self.before[1] + bound[1], 1.0)
        return np.minimum(room_of_beliefs(gap, gap, self.before, bound, most), gap)


@dataclass(frozen=True)
class WrongCapped(LookedUp, MeasuredDirectly):
    """One interval around the worst true value: proven by boxes, and by what holds without the cap."""

    search: TruthSearch
    uncapped: WrongPrior

    def measured(self, epsilon: float, move: Move) -> tuple[float, float]:
        value, bound = worst_true_value(self.search, epsilon, aim(move)).value, 1.0
        if cuts_hills(self.search):
            found = self._truths(move).measure(np.array([epsilon]))
            value, bound = max(value, float(found[0][0])), float(found[1][0])
        elif not any(self.search.form.jumps):
            value = max(value, float(self._truths(move).rough(np.array([epsilon]))[0]))
        if bound > _LOOSE * value:
            bound = min(bound, self.uncapped.wrong_by(self.factor).limit(epsilon, move))
        return min(value, bound), bound

    def epsilon(self, limit: float, move: Move) -> float:
        if cuts_hills(self.search) or limit <= 0 or self.is_free(limit, move):
            return super().epsilon(limit, move)
        return max(self.uncapped.wrong_by(self.factor).epsilon(limit, move), self.whatever(limit))

    def limit(self, epsilon: float, move: Move) -> float:
        least, most = self.bounds(epsilon, move)
        whatever = math.tanh(epsilon * self.widths.across / 4)
        return min(least, whatever) if least == most else min(max(super().limit(epsilon, move), least), most, whatever)

    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        if limit >= 1 or limit >= math.tanh(epsilon * self.widths.across / 4):
            return True
        if math.isinf(self.factor) or limit <= 0:
            return False
        if not cuts_hills(self.search):
            return self.limit(epsilon, move) <= limit
        at, truths = np.array([epsilon]), self._truths(move)
        with np.errstate(all="ignore"):
            value, best = truths.climbed(at)
            return bool(value[0] <= limit and truths.holds(at, np.array([limit]), best)[0])

    def worst_at(self, epsilon: float) -> tuple[Any, float]:
        if cuts_hills(self.search):
            with np.errstate(all="ignore"):
                at = float(self._truths(1).climbed(np.array([epsilon]))[1][0, 0])
        else:
            at = worst_true_value(self.search, epsilon, "rise").at
        return at, float(self.search.prior.mass(*self.search.edges(np.asarray(at))))

    def has_curve(self, move: Move) -> bool:
        del move
        return cuts_hills(self.search)

    def made(self, move: Move, after: float) -> Rising | None:
        found = HillCurve(self._truths(move), self.start).made(after or None)
        return found if found.epsilon.size > 1 else None

    @property
    def start(self) -> float:
        low, high = self.search.form.psi(self.search.prior.quantile([0.1, 0.9]))
        return 1 / float(high - low) if high > low else 1.0

    def largest_factor(self, epsilon: float, limit: float, move: Move) -> float:
        return self._largest(epsilon, limit, move, _FINE)

    def quick_factor(self, epsilon: float, limit: float, move: Move) -> float:
        return self._largest(epsilon, limit, move, _ROUGH)

    def _largest(self, epsilon: float, limit: float, move: Move, close: float) -> float:
        """A factor that keeps the limit, within a share of its logarithm of one that was not proven to."""
        if self.wrong_by(math.inf).keeps(epsilon, limit, move):
            return math.inf
        low, high = 0.0, math.log(LARGEST_FACTOR)
        trial = math.log(1.05)
        while high - low > close * max(high, 0.1):
            if self.wrong_by(math.exp(trial)).keeps(epsilon, limit, move):
                low, trial = trial, min(2 * trial, 0.5 * (trial + high))
            else:
                high, trial = trial, 0.5 * (low + trial)
        return math.exp(low)

    def _truths(self, move: Move) -> HillTruths:
        return HillTruths(self.search, self.factor, move)
