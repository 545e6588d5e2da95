"""Laplace noise: the mechanism that attains ε·d-privacy exactly (theory §15; [MXK] Theorem 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.mechanisms.base import (
    Mechanism,
    checked_delta,
    checked_nonnegative,
    checked_positive,
    checked_probability,
    raised_until,
    ratio_up,
    store,
)


@dataclass(frozen=True)
class Laplace(Mechanism):
    """Noise with density e^(−|z|/scale)/(2·scale), scale = sensitivity/ε.

    >>> round(Laplace(sensitivity=1, epsilon=0.5).error(confidence=0.95), 4)
    5.9915
    """

    sensitivity: float
    epsilon: float

    name = "laplace"
    chart_label = "Laplace"
    density_words = "P(z) ∝ exp(−|z| / b), z a multiple of g"
    integer_noise = "laplace"

    def __post_init__(self) -> None:
        store(
            self,
            sensitivity=checked_positive("sensitivity", self.sensitivity),
            epsilon=checked_positive("epsilon", self.epsilon),
        )
        ratio_up(self.sensitivity, self.epsilon)

    @property
    def scale(self) -> float:
        """Δ/ε, rounded up."""
        return ratio_up(self.sensitivity, self.epsilon)

    @property
    def standard_deviation(self) -> float:
        """√2 times the scale."""
        return math.sqrt(2) * self.scale

    def density(self, z: Any) -> Any:
        """Density of the noise at z."""
        return np.exp(-np.abs(z) / self.scale) / (2 * self.scale)

    def log_density(self, size: Any) -> Any:
        """−|z|/scale."""
        return -np.asarray(size) / self.scale

    def cdf(self, z: Any) -> Any:
        """P(noise ≤ z), accurate in both tails."""
        half_tail = 0.5 * np.exp(-np.abs(z) / self.scale)
        return np.where(np.less(z, 0), half_tail, 1 - half_tail)[()]

    def error(self, *, confidence: float) -> float:
        """−scale·ln(1−p).

        >>> round(Laplace(1, 1).error(confidence=0.95), 6)
        2.995732
        """
        return -self.scale * math.log1p(-checked_probability("confidence", confidence))

    def confidence(self, *, within: float) -> float:
        """1 − e^(−c/scale) ([MXK] Theorem 2)."""
        return -math.expm1(-checked_nonnegative("within", within) / self.scale)

    @classmethod
    def epsilon_for(cls, *, sensitivity: float, within: float, confidence: float) -> float:
        """The smallest ε with P(|noise| ≤ within) ≥ confidence: −Δ·ln(1−p)/c ([MXK] Theorem 2).

        >>> round(Laplace.epsilon_for(sensitivity=1, within=5, confidence=0.95), 12)
        0.599146454711
        """
        change = checked_positive("sensitivity", sensitivity)
        bound = checked_positive("within", within)
        wanted = checked_probability("confidence", confidence)
        closed_form = -change * math.log1p(-wanted) / bound
        return raised_until(lambda e: cls(change, e).confidence(within=bound) >= wanted, closed_form)

    def delta_at(self, epsilon: float) -> float:
        """1 − e^((ε′−ε)/2) below ε, 0 from there on.

        >>> round(Laplace(1, 1).delta_at(0.5), 6)
        0.221199
        """
        other = checked_nonnegative("epsilon", epsilon)
        return max(0.0, -math.expm1((other - self.sensitivity / self.scale) / 2))

    def epsilon_at(self, delta: float = 0.0) -> float:
        """ε + 2·ln(1−δ), not below 0."""
        return max(0.0, self.sensitivity / self.scale + 2 * math.log1p(-checked_delta(delta)))

    def loss_distribution(self, losses: Any, parameters: Any) -> Any:
        """Exactly."""
        return losses.from_laplace_mechanism(self.scale, sensitivity=self.sensitivity)


@dataclass(frozen=True)
class LaplaceLaw:
    """Density e^(−|z|)/2."""

    def central(self, flint: Any, z: Any) -> Any:
        """(1 − e^(−z))/2."""
        return -(-z).expm1() / 2

    def density(self, flint: Any, z: Any) -> Any:
        """e^(−z)/2."""
        return (-z).exp() / 2

    def tail_quantile(self, tail: float) -> float:
        """−ln(tail)."""
        return -math.log(tail)
