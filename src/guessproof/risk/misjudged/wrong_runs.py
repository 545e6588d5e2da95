"""The worst true value beside a sample under a prior that may be wrong: what bounds all ε is asked of one ε."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guessproof.risk.misjudged.along_runs import MisjudgedAlongRuns
from guessproof.risk.misjudged.at_one_epsilon import AtOneEpsilon
from guessproof.risk.misjudged.looked_up import CLOSE, LookedUp
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.truth_curve import proven_at, proven_curve
from guessproof.risk.misjudged.wrong_prior import Widths
from guessproof.risk.rising import Rising
from guessproof.risk.worst_atoms import Runs

_HAIRS = (1.5e-3, 0.01, 0.05, 0.2, 0.6)  # how far below the ε of the attack proofs are tried


@dataclass(frozen=True)
class WrongRuns(LookedUp):
    """Runs of numbers, of which each is what some true value makes correct: attack and bound meet within 0.1 % of ε."""

    runs: Runs
    _along: dict[tuple[float, Move], MisjudgedAlongRuns] = field(
        default_factory=dict[tuple[float, Move], MisjudgedAlongRuns], repr=False, compare=False
    )
    _proven: dict[tuple[float, float, Move], tuple[float, float, int]] = field(
        default_factory=dict[tuple[float, float, Move], tuple[float, float, int]], repr=False, compare=False
    )

    @classmethod
    def of(cls, factor: float, runs: Runs) -> WrongRuns:
        across = float(np.ptp(runs.atoms.psi)) + runs.step
        log_p, log_q = runs.log_prior
        odds = log_p - log_q
        return cls(factor, Widths(across, across, across, float(np.max(odds)), float(np.min(odds))), runs)

    @property
    def start(self) -> float:
        return 1 / self.widths.across

    @property
    def hairs(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return _HAIRS, _HAIRS

    @property
    def closely(self) -> float:
        return 1e-5

    def has_curve(self, move: Move) -> bool:
        return True

    def made(self, move: Move, after: float) -> Rising | None:
        found = proven_curve(self.along(move), None, self.runs.typical, after=after or None)
        return None if found is None else found.close(CLOSE)

    def along(self, move: Move) -> MisjudgedAlongRuns:
        """Attacks and boxes, with what is known of them."""
        return self._along.setdefault((self.factor, move), MisjudgedAlongRuns(self.runs, self.factor, move))

    def reached(self, epsilon: float, move: Move) -> float:
        whatever = math.tanh(epsilon * self.widths.across / 4)  # whatever the prior is
        if epsilon == 0 or math.isinf(self.factor):
            return whatever
        self.bounds(epsilon, move)  # a curve knows attacks that others may follow
        along = self.along(move)
        at = np.array([min(epsilon, along.largest)])  # what is reached with less is reached
        return min(max(float(along.rough(at)[0]), float(along.followed(at)[0][0])), whatever)

    def limit(self, epsilon: float, move: Move) -> float:
        least, most = self.bounds(epsilon, move)
        whatever = math.tanh(epsilon * self.widths.across / 4)
        return min(least if least == most else min(max(self._found(epsilon, move)[1], least), most), whatever)

    def worst_at(self, epsilon: float) -> tuple[Any, float]:
        row = self._found(epsilon, 1)[2]
        return float(self.runs.at[row]), float(np.exp(self.runs.log_prior[0][row]))

    def _found(self, epsilon: float, move: Move) -> tuple[float, float, int]:
        """What an attack reaches, what nothing exceeds, and at which run."""
        whatever = math.tanh(epsilon * self.widths.across / 4)
        if epsilon == 0 or math.isinf(self.factor):
            return whatever, whatever, 0
        key = (epsilon, self.factor, move)
        if key not in self._proven:
            value, bound, truth = proven_at(self.along(move), epsilon)
            self._proven[key] = min(value, whatever), min(bound, whatever * (1 + 1e-15), self._left(move)), int(truth)
        return self._proven[key]

    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        if limit >= math.tanh(epsilon * self.widths.across / 4):
            return True
        return limit > 0 and not math.isinf(self.factor) and self.limit(epsilon, move) <= limit

    def largest_factor(self, epsilon: float, limit: float, move: Move) -> float:
        if self.wrong_by(math.inf).keeps(epsilon, limit, move):
            return math.inf
        return AtOneEpsilon(lambda factor: self.wrong_by(factor).along(move), epsilon, limit).largest_factor(1.0)

    def is_free(self, limit: float, move: Move) -> bool:
        return limit >= self._left(move)

    def _left(self, move: Move) -> float:
        """How far any belief can rise, or fall, at most: also where no ε as large can be proven."""
        low, high = self.widths.beliefs(self.factor)
        return 1 - low if move > 0 else high
