"""Gaussian noise with its exact (ε, δ) curve, as μ-GDP.

Sources: Balle & Wang 2018, Theorem 8 (the curve); Dong, Roth & Su 2019 (μ-GDP); theory §15.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
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
    root,
    smallest_good,
    store,
)
from guessproof.world import special

# A relative cushion in δ, above the rounding error of the curve (checked against 50 digits in the tests).
CUSHION = 1e-11
GRID_ROOM = 1 - 2.0**-20  # of δ; the rest is for what the grid adds, so that what is charged is what was asked for
NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)


@dataclass(frozen=True)
class Gaussian(Mechanism):
    """Normal noise, just wide enough for (ε, δ).

    >>> noise = Gaussian(sensitivity=1, epsilon=1, delta=1e-5)
    >>> round(noise.scale, 4), round(noise.error(confidence=0.95), 4)
    (3.7306, 7.3119)
    """

    sensitivity: float
    epsilon: float
    delta: float

    name = "gaussian"
    chart_label = "Gaussian"
    density_words = "P(z) ∝ exp(−z² / 2b²), z a multiple of g"
    citation = (
        "Balle & Wang, Improving the Gaussian Mechanism for Differential Privacy, ICML 2018.",
        "the exact curve of Gaussian noise",
    )
    has_delta = True
    is_euclidean = True
    tails = "apart"
    integer_noise = "gaussian"

    def __post_init__(self) -> None:
        store(
            self,
            sensitivity=checked_positive("sensitivity", self.sensitivity),
            epsilon=checked_nonnegative("epsilon", self.epsilon),
            delta=checked_probability("delta", self.delta),
        )

    @classmethod
    def options(cls, *, delta: float, confidence: float) -> dict[str, float]:
        """δ, without the room that the grid needs."""
        return {"delta": delta * GRID_ROOM}

    @property
    def failure(self) -> float:
        """δ."""
        return self.delta

    @property
    def mu(self) -> float:
        """Sensitivity over standard deviation: the release is μ-GDP."""
        return self.sensitivity / self.scale

    @property
    def scale(self) -> float:
        """The standard deviation σ = Δ/μ, rounded up."""
        return ratio_up(self.sensitivity, gdp_mu(self.epsilon, self.delta))

    @property
    def standard_deviation(self) -> float:
        """The scale itself."""
        return self.scale

    def density(self, z: Any) -> Any:
        """Density of the noise at z."""
        scale = self.scale
        return np.exp(-0.5 * np.square(np.divide(z, scale))) / (scale * math.sqrt(2 * math.pi))

    def log_density(self, size: Any) -> Any:
        """−(z/σ)²/2."""
        return -0.5 * np.square(np.asarray(size) / self.scale)

    def cdf(self, z: Any) -> Any:
        """P(noise ≤ z)."""
        return special.ndtr(np.divide(z, self.scale))

    def error(self, *, confidence: float) -> float:
        """σ·Φ⁻¹((1+p)/2)."""
        return self.scale * _two_sided(checked_probability("confidence", confidence))

    def confidence(self, *, within: float) -> float:
        """erf(c/(σ√2))."""
        return math.erf(checked_nonnegative("within", within) / (self.scale * math.sqrt(2)))

    @classmethod
    def epsilon_for(cls, *, sensitivity: float, within: float, confidence: float, delta: float) -> float:
        """The smallest ε at this δ with P(|noise| ≤ within) ≥ confidence (0 where δ alone is enough).

        >>> round(Gaussian.epsilon_for(sensitivity=1, within=7.3119, confidence=0.95, delta=1e-5), 4)
        1.0
        """
        change = checked_positive("sensitivity", sensitivity)
        bound = checked_positive("within", within)
        wanted = checked_probability("confidence", confidence)
        failure = checked_probability("delta", delta)

        def enough(epsilon: float) -> bool:
            return cls(change, epsilon, failure).confidence(within=bound) >= wanted

        if enough(0.0):
            return 0.0
        closed_form = gdp_epsilon(change * _two_sided(wanted) / bound, failure)
        return raised_until(enough, max(closed_form, 1e-300))

    def delta_at(self, epsilon: float) -> float:
        """Φ(μ/2 − ε′/μ) − e^ε′·Φ(−μ/2 − ε′/μ) (Balle & Wang, Theorem 8)."""
        return gdp_delta(self.mu, epsilon)

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The smallest ε′ that holds with this δ; infinite at δ = 0, which no Gaussian noise gives."""
        return gdp_epsilon(self.mu, delta) if checked_delta(delta) else math.inf

    def cost_on_grid(self, step: float, rounded: int, *, is_exact: bool) -> tuple[float, float]:
        """Rounding adds to μ, and the grid to δ even where nothing is rounded."""
        width = step / self.scale
        mu = self.mu + rounded * width
        return self.epsilon, gdp_delta(mu, self.epsilon) + lattice_delta(mu, width)

    def loss_distribution(self, losses: Any, parameters: Any) -> Any:
        """Exactly."""
        return losses.from_gaussian_mechanism(self.scale, sensitivity=self.sensitivity)

    def normal_posterior(self, prior_sd: float, slope: float, radius: float) -> float | None:
        """The posterior has one variance whatever the output."""
        return normal_gaussian(prior_sd, self.scale / abs(slope), radius)


def lattice_delta(mu: float, step: float) -> float:
    """What δ may gain when Gaussian noise lives on a grid of ``step`` standard deviations.

    The normaliser of the discrete Gaussian is at least the integral's, and a sum differs from an integral by
    at most an eighth of the total variation of the slope: δ_grid ≤ δ + (0.23 + 0.1μ)·step².

    >>> lattice_delta(1.0, 2.0**-40) < 1e-24
    True
    """
    return (0.23 + 0.1 * mu) * step * step


def normal_gaussian(prior_sd: float, noise_sd: float, radius: float) -> float:
    """erf(r/√(2v)) with v = 1/(1/σ₀² + 1/σ²): the supremum, and the best guesser's success on every output.

    >>> round(normal_gaussian(1.0, 1.0, 1.0), 6)
    0.842701
    """
    precision = checked_positive("prior_sd", prior_sd) ** -2 + checked_positive("noise_sd", noise_sd) ** -2
    return math.erf(checked_positive("radius", radius) * math.sqrt(precision / 2))


def gdp_delta(mu: float, epsilon: float) -> float:
    """δ(ε) of a μ-GDP release.

    >>> round(gdp_delta(1.0, 1.0), 6)
    0.126937
    """
    return math.exp(log_gdp_delta(mu, epsilon))


def log_gdp_delta(mu: float, epsilon: float) -> float:
    """ln δ(ε), accurate far into the tail.

    With u = ε/μ − μ/2 and v = u + μ, δ = φ(u)·(R(u) − R(v)) for the Mills ratio R: no e^ε, no overflow. For
    small μ the difference of R is the integral of −R′(t) = 1 − t·R(t).

    >>> round(log_gdp_delta(0.1, 1.0), 6)
    -57.356934
    """
    mu = checked_positive("mu", mu)
    u = checked_nonnegative("epsilon", epsilon) / mu - mu / 2
    v = u + mu
    if u > 1e7:
        return -math.inf
    if u < -1:
        # φ(u)·R(v) = e^ε·Q(v): subtract from Φ(−u), which is at least 0.84 here
        ratio = math.exp(-0.5 * u * u + math.log(_mills(v)) - _LOG_ROOT_TAU - float(special.log_ndtr(-u)))
        return float(special.log_ndtr(-u)) + math.log1p(-ratio)
    if mu < 0.5:
        points = u + 0.5 * mu * (1 + NODES)
        difference = 0.5 * mu * float(np.dot(WEIGHTS, _mills_slope(points)))
    else:
        difference = _mills(u) - _mills(v)
    return -0.5 * u * u - _LOG_ROOT_TAU + math.log(difference)


def gdp_epsilon(mu: float, delta: float) -> float:
    """The smallest ε with δ(ε) ≤ δ, on the private side.

    >>> round(gdp_epsilon(1.0, 0.126937), 5)
    1.0
    """
    mu = checked_positive("mu", mu)
    target = _log_target(delta)

    def holds(epsilon: float) -> bool:
        return log_gdp_delta(mu, epsilon) <= target

    if holds(0.0):
        return 0.0
    # Q(u) bounds δ, and Q(u) ≤ e^(−u²/2)
    high = mu * (mu / 2 + math.sqrt(-2 * target) + 1)
    return smallest_good(holds, 0.0, high)


@lru_cache(maxsize=1024)
def gdp_mu(epsilon: float, delta: float) -> float:
    """The largest μ for which a μ-GDP release is (ε, δ)-private, on the private side.

    >>> round(gdp_mu(1.0, 1e-5), 6)
    0.268051
    """
    epsilon = checked_nonnegative("epsilon", epsilon)
    target = _log_target(delta)
    # At ε the curve is at most its value at 0, 2Φ(μ/2) − 1: that μ is a safe start. At the far end, δ(ε) ≥ ½.
    low = 2 * float(special.ndtri(0.5 + 0.5 * math.exp(target)))
    low = max(low, 1e-300)
    high = max(low, math.sqrt(2 * epsilon)) * 1.5 + 1
    while log_gdp_delta(high, epsilon) <= target:
        high *= 2

    def excess(log_mu: float) -> float:
        return max(log_gdp_delta(math.exp(log_mu), epsilon), -1e9) - target

    if excess(math.log(low)) >= 0:
        return low
    found = math.exp(root(excess, math.log(low), math.log(high)))
    step = 2.0**-52
    while log_gdp_delta(found * (1 - step), epsilon) > target:
        step *= 2
    return found * (1 - step)


_LOG_ROOT_TAU = 0.5 * math.log(2 * math.pi)


def _log_target(delta: float) -> float:
    return math.log(checked_probability("delta", delta)) - CUSHION


def _two_sided(confidence: float) -> float:
    """The c with P(|Z| ≤ c) = confidence for standard normal Z, accurate at both ends."""
    if confidence > 0.5:
        return float(-special.ndtri(0.5 * (1 - confidence)))
    return math.sqrt(2) * float(special.erfinv(confidence))


def _mills(t: float) -> float:
    """R(t) = (1 − Φ(t))/φ(t)."""
    return math.sqrt(math.pi / 2) * float(special.erfcx(t / math.sqrt(2)))


def _mills_slope(t: Any) -> Any:
    """−R′(t) = 1 − t·R(t); its series 1/t² − 3/t⁴ + 15/t⁶ … where the difference would cancel."""
    plain = 1 - t * math.sqrt(math.pi / 2) * special.erfcx(t / math.sqrt(2))
    square = np.maximum(t * t, 1.0)
    series = (1 - (3 - (15 - (105 - 945 / square) / square) / square) / square) / square
    return np.where(t > 60, series, plain)
