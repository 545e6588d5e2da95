"""Laplace noise on a smooth sensitivity: an (ε, δ) guarantee, exact for records one unit apart.

The noise is (c(x)/b)·z, z standard Laplace, ln c β-Lipschitz and |q′| ≤ c. Two data sets one unit apart see
Laplace(0, 1) and Laplace(m, e^λ) in units of c(x)/b, where |λ| ≤ β is how much ln c changed, and

    m ≤ (b/β)·(2e^((β+λ)/2) − 1 − e^λ)      c may rise at rate β and fall again on the way

Overlaps of symmetric unimodal densities shrink as their centres part, so the largest m is the worst. δ is the
supremum over λ of a closed form, certified from above by splitting [−β, β] (theory §15).
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from guessproof.errors import ParameterError
from guessproof.mechanisms.base import (
    Law,
    Mechanism,
    checked_nonnegative,
    checked_positive,
    checked_probability,
    largest_good,
    smallest_good,
    store,
)
from guessproof.mechanisms.laplace import Laplace, LaplaceLaw

SLACK = 1e-3  # how far, relatively, the certified δ may lie above the true one


@dataclass(frozen=True)
class SmoothLaplace(Mechanism):
    """Laplace noise of scale c/b for a β-smooth bound c, with the largest b that (ε, δ) allows.

    >>> noise = SmoothLaplace(sensitivity=1, epsilon=1, delta=1e-6, beta=0.05)
    >>> published = 1 - 0.05 * (1 - 1 - math.log(1e-6 / 2))     # b from δ = 2e^(ε−1−(ε−b)/β)
    >>> round(noise.b, 3), round(published, 3)
    (0.519, 0.275)
    """

    sensitivity: float
    epsilon: float
    delta: float
    beta: float

    name = "smooth laplace"
    chart_label = "Laplace, smooth sensitivity"
    density_words = "density of z ∝ exp(−|z| / b), rounded to a multiple of g"
    has_delta = True

    def __post_init__(self) -> None:
        store(
            self,
            sensitivity=checked_positive("sensitivity", self.sensitivity),
            epsilon=checked_positive("epsilon", self.epsilon),
            delta=checked_probability("delta", self.delta),
            beta=checked_nonnegative("beta", self.beta),
        )
        smooth_laplace_b(self.epsilon, self.delta, self.beta)

    @property
    def failure(self) -> float:
        """δ."""
        return self.delta

    @property
    def law(self) -> Law:
        """The standard noise."""
        return LaplaceLaw()

    @property
    def follows_data(self) -> bool:
        """Where its bound on the sensitivity is a smooth one."""
        return self.beta > 0

    @property
    def b(self) -> float:
        """The slide per unit of distance, in standard units of noise."""
        return smooth_laplace_b(self.epsilon, self.delta, self.beta)

    @property
    def scale(self) -> float:
        """c/b."""
        return self._noise.scale

    @property
    def standard_deviation(self) -> float:
        """√2·c/b."""
        return self._noise.standard_deviation

    @property
    def _noise(self) -> Laplace:
        return Laplace(self.sensitivity, self.b)

    def density(self, z: Any) -> Any:
        """Density of the noise at z."""
        return self._noise.density(z)

    def log_density(self, size: Any) -> Any:
        """Refused: c depends on the data, so one value of it is not what the attacker sees."""
        remedy = "use a mechanism whose scale is public"
        raise ParameterError("mechanism", self.name, "its likelihood is not known without the data", remedy)

    def cdf(self, z: Any) -> Any:
        """P(noise ≤ z)."""
        return self._noise.cdf(z)

    def error(self, *, confidence: float) -> float:
        """−(c/b)·ln(1−p)."""
        return self._noise.error(confidence=confidence)

    def confidence(self, *, within: float) -> float:
        """1 − e^(−within·b/c)."""
        return self._noise.confidence(within=within)

    @classmethod
    def epsilon_for(cls, *, sensitivity: float, within: float, confidence: float, delta: float, beta: float) -> float:
        """The smallest ε at this δ and β with P(|noise| ≤ within) ≥ confidence."""
        needed = Laplace.epsilon_for(sensitivity=sensitivity, within=within, confidence=confidence)

        def enough(epsilon: float) -> bool:
            return smooth_laplace_delta(needed, beta, epsilon) <= delta

        high = needed + checked_nonnegative("beta", beta)
        while not enough(high):
            high *= 2
        return smallest_good(enough, 0.0, high, steps=45)

    def delta_at(self, epsilon: float) -> float:
        """δ at another ε."""
        return smooth_laplace_delta(self.sensitivity / self.scale, self.beta, epsilon)

    def epsilon_at(self, delta: float = 0.0) -> float:
        """ε at another δ; infinite at δ = 0 unless β = 0."""
        if delta == 0:
            return math.inf if self.beta else self.sensitivity / self.scale
        high = self.epsilon
        while self.delta_at(high) > delta:
            high *= 2
        return smallest_good(lambda e: self.delta_at(e) <= delta, 0.0, high, steps=45)


@lru_cache(maxsize=1024)
def smooth_laplace_b(epsilon: float, delta: float, beta: float) -> float:
    """The largest b whose certified δ at ε stays below ``delta``.

    >>> round(smooth_laplace_b(1.0, 1e-6, 0.0), 5)       # β = 0 is plain Laplace: b = ε − 2·ln(1−δ)
    1.0
    """
    epsilon, delta = checked_positive("epsilon", epsilon), checked_probability("delta", delta)
    low = 1e-9 * epsilon
    if smooth_laplace_delta(low, beta, epsilon) > delta:
        remedy = "take a smaller beta, a larger epsilon or a larger delta"
        raise ParameterError("beta", beta, "no noise scale reaches this delta", remedy)
    high = epsilon - 2 * math.log1p(-delta)
    return largest_good(lambda b: smooth_laplace_delta(b, beta, epsilon) <= delta, low, high, steps=45)


def smooth_laplace_delta(b: float, beta: float, epsilon: float) -> float:
    """The δ of Laplace noise (c/b)·z at ε, from above, within a thousandth of the truth.

    >>> smooth_laplace_delta(0.5, 0.05, 1.0) < 2 * math.exp(1 - 1 - (1 - 0.5) / 0.05)  # as published
    True
    """
    b, beta = checked_positive("b", b), checked_nonnegative("beta", beta)
    epsilon = checked_nonnegative("epsilon", epsilon)
    if beta == 0:
        return hockey_stick(epsilon, b, 0.0)
    attained = 0.0
    cells: list[tuple[float, float, float]] = []

    def split(low: float, high: float) -> None:
        nonlocal attained
        attained = max(attained, hockey_stick(epsilon, _slide(b, beta, high), high))
        # in the cell the density is at least e^(low−high) times that with the smaller scale and larger slide
        bound = hockey_stick(epsilon - (high - low), _slide(b, beta, high), low)
        heapq.heappush(cells, (-bound, low, high))

    attained = hockey_stick(epsilon, _slide(b, beta, -beta), -beta)
    split(-beta, beta)
    while True:
        bound, low, high = heapq.heappop(cells)
        if -bound <= attained * (1 + SLACK) + 1e-300:
            return -bound
        middle = 0.5 * (low + high)
        split(low, middle)
        split(middle, high)


def _slide(b: float, beta: float, log_scale: float) -> float:
    """The largest distance between the two centres (module docstring); rises with ``log_scale``."""
    # 2e^((β+λ)/2) − 1 − e^λ without cancellation for small β
    total = 2 * math.expm1(0.5 * (beta + log_scale)) - math.expm1(log_scale)
    return b * max(total, 0.0) / beta


def hockey_stick(epsilon: float, centre: float, log_scale: float) -> float:
    """∫ (p − e^ε·q)⁺ for p = Laplace(0, 1), q = Laplace(centre ≥ 0, e^log_scale).

    >>> round(hockey_stick(0.5, 1.0, 0.0), 6)           # 1 − e^((ε−1)/2)
    0.221199
    """
    width = math.exp(log_scale)
    level = epsilon - log_scale  # p > e^ε·q where |x−centre|/width − |x| > level
    near, far = centre / width - level, centre / width + level
    crossings = [near / (1 + 1 / width)]
    if width != 1:
        crossings += [-near / (1 - 1 / width), far / (1 / width - 1)]
    points = sorted({0.0, centre, *(x for x in crossings if math.isfinite(x))})
    edges = [-math.inf, *points, math.inf]
    total = 0.0
    for left, right in pairwise(edges):
        inner = right - 1 if left == -math.inf else left + 1 if right == math.inf else 0.5 * (left + right)
        if abs(inner - centre) / width - abs(inner) > level:
            theirs = _laplace_mass((left - centre) / width, (right - centre) / width, epsilon)
            total += _laplace_mass(left, right) - theirs
    return max(total, 0.0)


def _laplace_mass(left: float, right: float, log_factor: float = 0.0) -> float:
    """e^log_factor times the standard Laplace mass of [left, right]."""
    if left < 0 < right:
        return _laplace_mass(left, 0.0, log_factor) + _laplace_mass(0.0, right, log_factor)
    near, far = min(abs(left), abs(right)), max(abs(left), abs(right))
    return 0.5 * math.exp(log_factor - near) * -math.expm1(near - far)
