"""Mugunthan, Xiao & Kagal, as published: "Novel strategies to calculate the privacy loss parameter", a poster.

[MXK] is read as a transcription. A mechanism adds noise with standard deviation σ = M/ε; c is how far the
noisy answer may be from the true one, p how probable that has to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.integrate import quad

from guessproof.mechanisms.base import root

LAPLACE_M = math.sqrt(2)
"""[MXK] σ = Δ√2/ε for Laplace noise: M = √2·Δ."""


def lemma_1_product(standard_deviation: float, epsilon: float) -> float:
    """[MXK] Lemma 1 (σ ∝ 1/ε): the product that the lemma says is constant."""
    return standard_deviation * epsilon


def theorem_1(m: float, within: float, p: float) -> float:
    """[MXK] Theorem 1: M/(w·q(D)·√(1−p)), with `within` for w·q(D).

    >>> round(theorem_1(LAPLACE_M, 1.0, 0.95), 4)
    6.3246
    """
    return m / (within * math.sqrt(1 - p))


def theorem_1_laplace(sensitivity: float, within: float, p: float) -> float:
    """[MXK] Theorem 1 for Laplace noise: Δ√2/(w·q(D)·√(1−p))."""
    return sensitivity * math.sqrt(2) / (within * math.sqrt(1 - p))


def theorem_2(density: Callable[[float, float], float], within: float, p: float, low: float, high: float) -> float:
    """[MXK] Theorem 2: the ε in [low, high] with ∫_{−c}^{c} f(x) dx = p, f the noise density at that ε."""

    def excess(epsilon: float) -> float:
        return 2 * quad(lambda x: density(x, epsilon), 0, within)[0] - p

    return root(excess, low, high)


def theorem_2_laplace(sensitivity: float, within: float, p: float) -> float:
    """[MXK] Theorem 2 for Laplace noise: −Δ·ln(1−p)/c.

    >>> round(theorem_2_laplace(1.0, 1.0, 0.95), 4)
    2.9957
    """
    return -sensitivity * math.log(1 - p) / within


def theorem_3(m: float, within: float, p: float) -> float:
    """[MXK] Theorem 3: |M|/c·√(ln 2 − ln(1−p))."""
    return abs(m) / within * math.sqrt(math.log(2) - math.log(1 - p))


def theorem_3_laplace(sensitivity: float, within: float, p: float) -> float:
    """[MXK] Theorem 3 for Laplace noise: Δ/c·√(2(ln 2 − ln(1−p))).

    >>> round(theorem_3_laplace(1.0, 1.0, 0.95), 4)
    2.7162
    """
    return sensitivity / within * math.sqrt(2 * (math.log(2) - math.log(1 - p)))


def ratio(p: float) -> float:
    """[MXK] Figure 1: ε₂/ε₃ = −ln(1−p)/√(2(ln 2 − ln(1−p))).

    >>> round(ratio(0.5), 4)
    0.4163
    """
    return -math.log(1 - p) / math.sqrt(2 * (math.log(2) - math.log(1 - p)))


def threshold() -> float:
    """[MXK] below Figure 1: the p at which the ratio is 1, 1 − e^{−(1+√(1+2 ln 2))}.

    >>> round(threshold(), 4)
    0.9215
    """
    return -math.expm1(-(1 + math.sqrt(1 + 2 * math.log(2))))
