"""Two-sided geometric noise on whole numbers (integer Laplace), for counts ([KR] eqs. 2 and 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.mechanisms.base import (
    Mechanism,
    checked_delta,
    checked_nonnegative,
    checked_positive,
    checked_probability,
    raised_until,
    ratio_up,
    root,
    smallest_good,
    store,
)


@dataclass(frozen=True)
class Geometric(Mechanism):
    """Integer noise with P(k) ∝ α^|k|, α = e^(−ε/Δ).

    >>> noise = Geometric(sensitivity=1, epsilon=0.51)
    >>> round(noise.standard_deviation, 2), round(float(noise.mass(0)), 2)     # [KR] Table 3
    (2.74, 0.25)
    """

    sensitivity: float
    epsilon: float

    name = "geometric"
    chart_label = "geometric (whole numbers)"
    density_words = "P(z) ∝ exp(−|z| / b), z a whole number"
    citation = (
        "Ghosh, Roughgarden & Sundararajan, Universally Utility-Maximizing Privacy Mechanisms, STOC 2009.",
        "geometric noise",
    )
    is_whole = True
    integer_noise = "laplace"

    def __post_init__(self) -> None:
        store(
            self,
            sensitivity=checked_whole("sensitivity", self.sensitivity),
            epsilon=checked_positive("epsilon", self.epsilon),
        )
        ratio_up(self.sensitivity, self.epsilon)

    @property
    def scale(self) -> float:
        """Δ/ε, rounded up; α = e^(−1/scale)."""
        return ratio_up(self.sensitivity, self.epsilon)

    @property
    def standard_deviation(self) -> float:
        """√(2α)/(1−α) = 1/(√2·sinh(1/(2·scale))) ([KR] eq. 2)."""
        half = 0.5 / self.scale
        return 1 / (math.sqrt(2) * math.sinh(half)) if half < 700 else 0.0

    def mass(self, k: Any) -> Any:
        """P(noise = k); zero off the whole numbers. At 0: (1−α)/(1+α) ([KR] eq. 3)."""
        number = np.asarray(k, dtype=float)
        values = math.tanh(0.5 / self.scale) * np.exp(-np.abs(number) / self.scale)
        return np.where(number == np.floor(number), values, 0.0)[()]

    @property
    def even_chance(self) -> float:
        """(1+α²)/(1+α)²."""
        shrink = math.exp(-1 / self.scale)
        return (1 + shrink**2) / (1 + shrink) ** 2

    def log_density(self, size: Any) -> Any:
        """−|k|/scale."""
        return -np.asarray(size) / self.scale

    def cdf(self, z: Any) -> Any:
        """P(noise ≤ z): α^(−k)/(1+α) for k = ⌊z⌋ below 0, one minus its mirror above."""
        number = np.floor(np.asarray(z, dtype=float))
        below = np.less(number, 0)
        steps = np.where(below, -number, number + 1)
        tail = np.exp(-steps / self.scale) / (1 + math.exp(-1 / self.scale))
        return np.where(below, tail, 1 - tail)[()]

    def error(self, *, confidence: float) -> float:
        """The smallest whole c with P(|noise| ≤ c) ≥ p, from α^(c+1) ≤ (1−p)(1+α)/2.

        >>> Geometric(1, 0.5).error(confidence=0.95)
        6.0
        """
        wanted = checked_probability("confidence", confidence)
        log_allowed = math.log1p(-wanted) + math.log1p(math.expm1(-1 / self.scale) / 2)
        guess = max(0.0, float(math.ceil(-log_allowed * self.scale)) - 2)
        step = max(1.0, math.ulp(guess))
        while self.confidence(within=guess) < wanted:
            guess += step
        return guess

    def confidence(self, *, within: float) -> float:
        """1 − 2α^(⌊c⌋+1)/(1+α)."""
        steps = math.floor(checked_nonnegative("within", within)) + 1
        # ln of the two tails together, in a form without cancellation near 0
        log_tails = -steps / self.scale - math.log1p(math.expm1(-1 / self.scale) / 2)
        return -math.expm1(log_tails)

    @classmethod
    def epsilon_for(cls, *, sensitivity: float, within: float, confidence: float) -> float:
        """The smallest ε with P(|noise| ≤ within) ≥ confidence; ``within = 0`` asks for the exact answer.

        >>> import math
        >>> exact = Geometric.epsilon_for(sensitivity=1, within=0, confidence=0.5)
        >>> math.isclose(exact, math.log(3))       # (1−α)/(1+α) = 1/2
        True
        """
        change = checked_whole("sensitivity", sensitivity)
        bound = checked_nonnegative("within", within)
        wanted = checked_probability("confidence", confidence)
        rate = _rate_for(math.floor(bound) + 1, wanted)
        return raised_until(lambda e: cls(change, e).confidence(within=bound) >= wanted, change * rate)

    def delta_at(self, epsilon: float) -> float:
        """Σ (P(k) − e^ε′·P(k−Δ))⁺ = F(m) − e^ε′·F(m−Δ) with m = ⌊(Δ − ε′·scale)/2⌋.

        >>> round(Geometric(1, 1).delta_at(0.5), 6)      # (1 − αe^0.5)/(1+α)
        0.287649
        """
        other = checked_nonnegative("epsilon", epsilon)
        if other >= self.sensitivity / self.scale:
            return 0.0
        last = math.floor((self.sensitivity - other * self.scale) / 2)
        # F(m−Δ) lies in the left tail, where e^ε′ may be large: multiply inside the exponent
        moved = math.exp(other - (self.sensitivity - last) / self.scale) / (1 + math.exp(-1 / self.scale))
        return max(0.0, float(self.cdf(last)) - moved)

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The smallest ε′ with ``delta_at(ε′) ≤ delta``."""
        allowed = checked_delta(delta)
        full = self.sensitivity / self.scale
        return smallest_good(lambda e: self.delta_at(e) <= allowed, 0.0, full) if allowed else full

    def loss_distribution(self, losses: Any, parameters: Any) -> Any:
        """Exactly."""
        return losses.from_discrete_laplace_mechanism(1 / self.scale, sensitivity=int(self.sensitivity))


def checked_whole(field: str, value: Any) -> float:
    """A positive whole number: integer noise hides a change by whole steps."""
    number = checked_positive(field, value)
    if number != math.floor(number):
        raise ParameterError(field, value, "integer noise needs a whole number", "use Laplace for real answers")
    return number


def _rate_for(steps: int, confidence: float) -> float:
    """The x = ε/Δ with 2e^(−steps·x)/(1+e^(−x)) = 1 − confidence."""
    target = math.log1p(-confidence)

    def excess(x: float) -> float:
        return -math.log1p(math.expm1(-x) / 2) - steps * x - target

    low, high = -target / steps, (math.log(2) - target) / steps
    return root(excess, low, high)
