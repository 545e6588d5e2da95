"""The product rule: independent blocks multiply, at any norm.

P(G₂ | G₁, y) is itself a posterior: the likelihood of x₂ averaged over x₁ ∈ G₁ is as Lipschitz as before, because
moving x₂ alone costs d₂ in every ℓp. So AND never exceeds the product of what each block allows, and OR never falls
below it for the complements. In ℓ1 the product of the blocks' own attacks is a feasible likelihood: then it is exact.
Averaging needs independence: on dependent attributes the rule is refused.

A part is its prior (ln p, ln(1−p)) and a gain, the change of its log-odds. AND multiplies beliefs, NOT swaps and
negates, OR is both. Everything is written in ratios to the prior, so that the tiny gains of a tiny ε keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from guessproof.risk.joint.formula import GoalBlock, Tree

_LARGE = 40.0  # beyond this e^x and e^x − 1 are one number
_NEARLY = 0.5  # of the rest that is gone
_TINY = 1e-290  # below it numbers have few digits
NOISE = 1e-13, 8e-15  # of a gain composed of a few others: error per gain below 1, and relative


@dataclass(frozen=True)
class BeliefShift:
    """A goal's prior and the change of its log-odds."""

    log_p: float
    log_q: float
    gain: float = 0.0

    @property
    def ratio(self) -> float:
        """ln(belief after / belief before)."""
        if self.gain > 1:
            return -float(np.logaddexp(self.log_p, self.log_q - self.gain))
        if self.gain < -1:
            return self.gain - float(np.logaddexp(self.log_q, self.log_p + self.gain))
        return self.gain - float(np.log1p(np.exp(self.log_p) * np.expm1(self.gain)))

    def flipped(self) -> BeliefShift:
        """The same for the complement."""
        return BeliefShift(self.log_q, self.log_p, -self.gain)


def all_of(parts: Sequence[BeliefShift]) -> BeliefShift:
    """Return the AND of independent parts.

    >>> half = BeliefShift(np.log(0.5), np.log(0.5), np.log(3))     # from 1/2 to 3/4
    >>> both = all_of([half, half])                           # from 1/4 to 9/16
    >>> round(float(np.exp(both.gain)) * 7 / 9, 12)
    3.0
    """
    log_p = sum(_log_p(part) for part in parts)
    with np.errstate(divide="ignore"):
        log_q = float(np.log(-np.expm1(log_p)))
    ratio = sum(part.ratio for part in parts)
    if np.isneginf([log_p, log_q]).any():
        return BeliefShift(log_p, log_q)
    if np.isneginf(ratio):
        return BeliefShift(log_p, log_q, -np.inf)
    odds = log_p - log_q
    fall = np.exp(odds) * np.expm1(ratio) if ratio <= _LARGE else np.exp(odds + ratio)
    if fall <= _NEARLY:
        return BeliefShift(log_p, log_q, ratio - float(np.log1p(-fall)))
    # The rest from what is left of each part: from 1 − fall it would be rounding.
    left = np.array([part.log_q - part.log_p - part.gain for part in parts])
    after = -float(np.sum(np.logaddexp(0.0, left)))
    rest = float(np.log(-np.expm1(after)) if after < -_TINY else np.logaddexp.reduce(left))
    return BeliefShift(log_p, log_q, after - rest - odds)


def _log_p(part: BeliefShift) -> float:
    """ln p, from 1 − p where that has more digits."""
    return float(np.log1p(-np.exp(part.log_q))) if part.log_q < -1 else part.log_p


def product_shift(
    tree: Tree, k: float, block: Callable[[GoalBlock, float], BeliefShift]
) -> BeliefShift:
    """Return the whole's shift from the blocks' own; an OR is what is left of the AND of complements."""
    if isinstance(tree, GoalBlock):
        return block(tree, k)
    return joined(tree.kind, [product_shift(part, k, block) for part in tree.parts])


def joined(kind: str, parts: Sequence[BeliefShift]) -> BeliefShift:
    """Return the shift of a gate from those of its independent parts."""
    if kind == "and":
        return all_of(parts)
    return all_of([part.flipped() for part in parts]).flipped()


def widened(attack: float, bound: float, k: float) -> tuple[float, float]:
    """Return both with room for rounding, outward from the truth."""
    both = np.array([attack, bound])
    size = np.where(np.isfinite(both), np.abs(both), 0.0)
    noise = np.copysign(NOISE[0] * np.minimum(size, 1.0) + NOISE[1] * size, k)
    return float(attack - noise[0]), float(bound + noise[1])
