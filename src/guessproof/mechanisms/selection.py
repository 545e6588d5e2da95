"""Picking one of several public values by their scores: permute and flip, a better exponential mechanism.

Each value gets its score plus exponential noise of scale b, and the largest wins. If a change of the data raises no
score by more than r above what it does to any other, fix everybody else's noise: the winner then has to beat a mark
that lies at most r higher, and exponential noise does so with probability e^(−r/b) times what it was, at least. So
ln P moves by r/b at most: by the *spread* of the changes of scores, and with two values it does (theory §16).

**Error.** Let one value have the best score and all others one that is t lower, p = e^(−t/b). Values are tried in
random order and each is taken with probability e^((score − best)/b), so the best one wins with probability
(1/m)·Σ(1 − p)^k = (1 − (1 − p)^m)/(m·p). Raising a score that is lower still, or removing another good one, makes
the best win less often: no data of m values are worse. The error is exact, and smaller than that of the exponential
mechanism, b·ln(m/(1 − confidence)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.mechanisms.base import (
    Mechanism,
    checked_nonnegative,
    checked_positive,
    checked_probability,
    raised_until,
    ratio_up,
    root,
    store,
)


@dataclass(frozen=True)
class Selection(Mechanism):
    """One of `candidates` values, picked by scores of which a change moves no two apart by more than `sensitivity`.

    >>> median = Selection(sensitivity=2, epsilon=1, candidates=101)
    >>> median.scale, round(median.error(confidence=0.95), 2)
    (2.0, 13.75)
    """

    sensitivity: float
    epsilon: float
    candidates: int

    name = "permute and flip"
    chart_label = "Permute and flip"
    density_words = "the value whose score plus z is largest, density of z ∝ exp(−z / b) for z ≥ 0"
    citation = (
        "McKenna & Sheldon, Permute-and-Flip: A New Mechanism for Differentially Private Selection, NeurIPS 2020.",
        "picking a value by its rank",
    )
    adds_noise = False

    def __post_init__(self) -> None:
        store(
            self,
            sensitivity=checked_positive("sensitivity", self.sensitivity),
            epsilon=checked_positive("epsilon", self.epsilon),
        )
        if self.candidates < 1:
            raise ParameterError("candidates", self.candidates, "there is nothing to pick from", "name some values")

    @property
    def scale(self) -> float:
        """b = sensitivity/ε, rounded up."""
        return ratio_up(self.sensitivity, self.epsilon)

    @property
    def standard_deviation(self) -> float:
        """Refused: the error is one of ranks, and how it is spread depends on the data."""
        raise self._refusal("its spread depends on the data")

    def cdf(self, z: Any) -> Any:
        """Refused: nothing is added."""
        raise self._refusal("it adds no noise")

    def log_density(self, size: Any) -> Any:
        """Refused: nothing is added."""
        raise self._refusal("it adds no noise")

    def error(self, *, confidence: float) -> float:
        """The least t with P(the score picked is more than t below the best) ≤ 1 − confidence, whatever the scores."""
        level = checked_probability("confidence", confidence)
        if level <= 1 / self.candidates:
            return 0.0
        start = -self.scale * math.log(_chance_for(level, self.candidates))
        return raised_until(lambda t: self.confidence(within=t) >= level, start)

    def confidence(self, *, within: float) -> float:
        """P(the score picked is at most `within` below the best), at least."""
        return _best_wins(math.exp(-checked_nonnegative("within", within) / self.scale), self.candidates)

    @classmethod
    def epsilon_for(cls, *, sensitivity: float, within: float, confidence: float, candidates: int) -> float:
        """The least ε at which so many answers are this near.

        >>> epsilon = Selection.epsilon_for(sensitivity=2, within=10, confidence=0.95, candidates=101)
        >>> Selection(2, epsilon, 101).error(confidence=0.95) <= 10
        True
        """
        level, near = checked_probability("confidence", confidence), checked_positive("within", within)
        most = checked_positive("sensitivity", sensitivity)
        start = most * -math.log(_chance_for(level, candidates)) / near
        if start <= 0:
            raise ParameterError("confidence", confidence, "any pick is this sure", "leave the target out")
        return raised_until(lambda e: cls(most, e, candidates).confidence(within=near) >= level, start)

    def delta_at(self, epsilon: float) -> float:
        """An upper bound on δ at another ε, as for everything that keeps ε: (e^ε − e^ε′)/(1 + e^ε)."""
        own = self.sensitivity / self.scale
        return max(0.0, -math.expm1(epsilon - own) / (1 + math.exp(-own)))

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The ε that it delivers, whatever the δ."""
        return self.sensitivity / self.scale

    def chances(self, scores: Any) -> Any:
        """P(each value is picked) for these scores: U_r ∫₀¹ Π_{i≠r} (1 − v·U_i) dv, with U = e^((score − best)/b).

        >>> Selection(2, 1, 2).chances([0, -2 * math.log(4)]).tolist()
        [0.875, 0.125]
        """
        found = np.asarray(scores, dtype=float)
        weights = np.exp((found - found.max()) / self.scale)
        nodes, widths = np.polynomial.legendre.leggauss(len(weights) // 2 + 1)  # exact: a polynomial
        loses = 1 - 0.5 * (nodes[:, None] + 1) * weights[None, :]
        whole = np.prod(loses, axis=1)[:, None] / loses
        return weights * (0.5 * widths @ whole)

    def _refusal(self, problem: str) -> ParameterError:
        return ParameterError("mechanism", self.name, problem, "ask for its error in ranks")


def _best_wins(chance: float, candidates: int) -> float:
    """(1 − (1 − p)^m)/(m·p): how surely the one best value is picked when m − 1 others are taken with chance p."""
    if chance * candidates < 1e-9:
        return 1 - 0.5 * (candidates - 1) * chance
    if chance >= 1:
        return 1 / candidates
    return -math.expm1(candidates * math.log1p(-chance)) / (candidates * chance)


def _chance_for(level: float, candidates: int) -> float:
    """The p at which the best value is picked so surely."""
    if level <= 1 / candidates or candidates == 1:
        return 1.0
    logarithm = root(lambda x: _best_wins(math.exp(x), candidates) - level, -745.0, 0.0)
    return math.exp(logarithm)
