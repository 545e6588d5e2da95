"""Generalised Cauchy noise: pure ε with heavy tails, for answers whose scale of noise may depend on the data.

Noise is (c/b)·z, density of z ∝ 1/(1+|z|^γ), c a β-smooth bound on the (derivative) sensitivity. Moving the
data by dx slides the noise by at most b·dx and rescales it by at most β·dx, so ε is enough iff

    sup_z [ b·γz^(γ−1)/(1+z^γ) + β·|γz^γ/(1+z^γ) − 1| ] ≤ ε                                (theory §15)

**Closed form.** Put t = z^γ/(1+z^γ) and write |·| as the larger of ±: the left side is the larger of
bγ·t^(1−1/γ)(1−t)^(1/γ) ± β(γt − 1), concave in t; if its peak is ε, it lies at t = (1−1/γ)(1 ± β/ε). Hence

    b = min over s = ±1 of (ε + sβ)^(1/γ) · (ε/(γ−1) − sβ)^(1−1/γ)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.mechanisms.base import (
    Law,
    Mechanism,
    checked_delta,
    checked_finite,
    checked_nonnegative,
    checked_positive,
    checked_probability,
    raised_until,
    ratio_up,
    smallest_good,
    store,
)
from guessproof.world import special

# A few roundings separate the computed b from the true one; this factor puts it on the private side.
PRIVATE = 1 - 2.0**-48


@dataclass(frozen=True)
class Cauchy(Mechanism):
    """Noise (sensitivity/b)·z with density of z ∝ 1/(1+|z|^γ) and the largest b that ε allows.

    ``sensitivity`` is the β-smooth bound c at hand; with ``beta=0`` it is an ordinary global sensitivity.
    ε holds per unit of distance, for every distance.

    >>> round(Cauchy(sensitivity=1, epsilon=1).error(confidence=0.95), 2)
    4.09
    """

    sensitivity: float
    epsilon: float
    gamma: float = 4.0
    beta: float = 0.0

    name = "cauchy"
    chart_label = "Cauchy, γ = 4"
    density_words = "density of z / b ∝ 1 / (1 + |z / b|^γ), rounded to a multiple of g"
    symbols = MappingProxyType({"gamma": "γ", "beta": "β"})
    citation = (
        "Nissim, Raskhodnikova & Smith, Smooth Sensitivity and Sampling in Private Data Analysis, STOC 2007.",
        "generalised Cauchy noise",
    )
    is_log_concave = False
    tails = "alike"

    def __post_init__(self) -> None:
        store(
            self,
            sensitivity=checked_positive("sensitivity", self.sensitivity),
            epsilon=checked_positive("epsilon", self.epsilon),
            gamma=checked_gamma(self.gamma),
            beta=checked_nonnegative("beta", self.beta),
        )
        cauchy_b(self.epsilon, self.gamma, self.beta)

    @classmethod
    def options(cls, *, delta: float, confidence: float) -> dict[str, float]:
        """The γ with the least error at this confidence."""
        return {"gamma": best_gamma(confidence)}

    @classmethod
    def following(cls, sensitivity: float, epsilon: float, *, share: float, confidence: float) -> Cauchy:
        """With β = ``share``·ε, for a scale that follows the data, and the γ with the least error then."""
        return cls(sensitivity, epsilon, best_gamma(confidence, beta_share=share), share * epsilon)

    @classmethod
    def epsilon_following(
        cls, *, sensitivity: float, within: float, confidence: float, share: float, shaped_for: float
    ) -> float:
        """An ε with P(|noise| ≤ within) ≥ confidence at the largest scale, for this share and every smaller one."""
        gamma = best_gamma(shaped_for, beta_share=share)
        widest = sensitivity * cauchy_quantile(confidence, gamma) / cauchy_b(1.0, gamma, share)
        return math.nextafter(widest / within * (1 + 1e-9), math.inf)

    @property
    def shape(self) -> dict[str, float]:
        """γ, and β where the scale follows the data."""
        return {"gamma": self.gamma, **({"beta": self.beta} if self.beta else {})}

    @property
    def law(self) -> Law:
        """The standard noise."""
        return CauchyLaw(self.gamma)

    @property
    def follows_data(self) -> bool:
        """Where its bound on the sensitivity is a smooth one."""
        return self.beta > 0

    @property
    def scale(self) -> float:
        """c/b, rounded up."""
        return ratio_up(self.sensitivity, cauchy_b(self.epsilon, self.gamma, self.beta))

    @property
    def standard_deviation(self) -> float:
        """scale·√(sin(π/γ)/sin(3π/γ)); infinite for γ ≤ 3.

        >>> noise = Cauchy(1, 1)
        >>> math.isclose(noise.standard_deviation, noise.scale)     # at γ = 4 the root is 1
        True
        """
        if self.gamma <= 3:
            return math.inf
        return self.scale * math.sqrt(math.sin(math.pi / self.gamma) / math.sin(3 * math.pi / self.gamma))

    def density(self, z: Any) -> Any:
        """γ·sin(π/γ)/(2π·scale) / (1+|z/scale|^γ)."""
        peak = self.gamma * math.sin(math.pi / self.gamma) / (2 * math.pi * self.scale)
        return peak * special.expit(-self.gamma * _log_abs(z, self.scale))

    def log_density(self, size: Any) -> Any:
        """−ln(1+|z/scale|^γ)."""
        return -np.logaddexp(0.0, self.gamma * _log_abs(size, self.scale))

    def bend(self, z: Any) -> Any | None:
        """|γt(γ−1−γt)|/z² + (γt/z)² with t = z^γ/(1+z^γ), where the density has no kink (γ ≥ 2)."""
        if self.gamma < 2:
            return None
        gamma, share = self.gamma, 1 / (1 + z**-self.gamma)
        return np.abs(gamma * share * (gamma - 1 - gamma * share)) / z**2 + (gamma * share / z) ** 2

    def cdf(self, z: Any) -> Any:
        """P(noise ≤ z), accurate in both tails."""
        inside, outside = _central_and_tails(_log_abs(z, self.scale), self.gamma)
        return np.where(np.less(z, 0), 0.5 * outside, 0.5 + 0.5 * inside)[()]

    def error(self, *, confidence: float) -> float:
        """scale times the two-sided quantile of z."""
        return self.scale * cauchy_quantile(confidence, self.gamma)

    def confidence(self, *, within: float) -> float:
        """P(|noise| ≤ within).

        >>> noise = Cauchy(1, 1)
        >>> round(noise.confidence(within=noise.scale), 5)
        0.78055
        """
        return cauchy_confidence(checked_nonnegative("within", within) / self.scale, self.gamma)

    @classmethod
    def epsilon_for(
        cls, *, sensitivity: float, within: float, confidence: float, gamma: float = 4.0, beta: float = 0.0
    ) -> float:
        """The smallest ε with P(|noise| ≤ within) ≥ confidence.

        >>> round(Cauchy.epsilon_for(sensitivity=1, within=4.09, confidence=0.95), 3)
        1.0
        """
        change = checked_positive("sensitivity", sensitivity)
        bound = checked_positive("within", within)
        wanted = checked_probability("confidence", confidence)
        closed_form = cauchy_epsilon(change * cauchy_quantile(wanted, gamma) / bound, gamma, beta)

        def enough(epsilon: float) -> bool:
            return cls(change, epsilon, gamma, beta).confidence(within=bound) >= wanted

        return raised_until(enough, closed_form)

    def delta_at(self, epsilon: float) -> float:
        """An upper bound on δ at a smaller ε′, true of every ε-private release: (e^ε − e^ε′)/(1 + e^ε)."""
        other = checked_nonnegative("epsilon", epsilon)
        delivered = self.epsilon_at()
        return max(0.0, -math.expm1(other - delivered) / (1 + math.exp(-delivered)))

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The ε per unit of distance that the scale delivers; with δ, the inverse of :meth:`delta_at`."""
        delivered = cauchy_epsilon(self.sensitivity / self.scale, self.gamma, self.beta)
        shrink = checked_delta(delta) * (1 + math.exp(-delivered))
        return max(0.0, delivered + math.log1p(-shrink)) if shrink < 1 else 0.0


def cauchy_b(epsilon: float, gamma: float = 4.0, beta: float = 0.0) -> float:
    """The largest b that keeps the exact condition, on the private side.

    >>> round(1 / cauchy_b(1.0), 4), round(1 / cauchy_b(1.0, beta=0.1), 4)
    (2.2795, 2.9085)
    """
    epsilon, gamma = checked_positive("epsilon", epsilon), checked_gamma(gamma)
    beta = checked_nonnegative("beta", beta)
    if beta >= epsilon / max(1.0, gamma - 1):
        remedy = "take a smaller beta, a gamma nearer 2, or a larger epsilon"
        raise ParameterError("beta", beta, "it must be below epsilon/max(1, gamma − 1)", remedy)
    return PRIVATE * min(_b_branch(epsilon, gamma, beta), _b_branch(epsilon, gamma, -beta))


def _b_branch(epsilon: float, gamma: float, signed_beta: float) -> float:
    power = 1 / gamma
    slide, rescale = max(epsilon + signed_beta, 0.0), max(epsilon / (gamma - 1) - signed_beta, 0.0)
    return slide**power * rescale ** (1 - power)


def cauchy_epsilon(b: float, gamma: float = 4.0, beta: float = 0.0) -> float:
    """The ε that a given b costs: the supremum of the condition, on the private side.

    >>> round(cauchy_epsilon(1 / 2.2795), 4)
    1.0
    """
    b, gamma = checked_positive("b", b), checked_gamma(gamma)
    beta = checked_nonnegative("beta", beta)
    unscaled = b * (gamma - 1) ** (1 - 1 / gamma) / PRIVATE
    if beta == 0:
        return unscaled

    def enough(epsilon: float) -> bool:
        smooth = min(_b_branch(epsilon, gamma, beta), _b_branch(epsilon, gamma, -beta))
        return smooth * PRIVATE >= b

    # the two terms of the condition are at most their own suprema: b·(…) and β·max(1, γ−1)
    least = beta * max(1.0, gamma - 1)
    return smallest_good(enough, least, (unscaled + least) * (1 + 1e-12))


def cauchy_quantile(confidence: float, gamma: float = 4.0) -> float:
    """The c with P(|z| ≤ c) = confidence: |z|^γ/(1+|z|^γ) is Beta(1/γ, 1−1/γ).

    >>> round(cauchy_quantile(0.78055), 4)
    1.0
    """
    wanted, gamma = checked_probability("confidence", confidence), checked_gamma(gamma)
    if wanted > float(special.betainc(1 / gamma, 1 - 1 / gamma, 0.5)):
        return cauchy_tail_quantile(1 - wanted, gamma)
    flat = wanted * math.pi / (gamma * math.sin(math.pi / gamma))
    if flat**gamma < 1e-20:  # so near 0 that the density is its peak
        return flat
    share = float(special.betaincinv(1 / gamma, 1 - 1 / gamma, wanted))
    return (share / (1 - share)) ** (1 / gamma)


def cauchy_tail_quantile(tail: float, gamma: float = 4.0) -> float:
    """The c with P(|z| > c) = tail, accurate for the smallest tails.

    >>> round(cauchy_tail_quantile(1e-12), 1)       # about (2√2/(3π·tail))^(1/3)
    6695.1
    """
    if tail > float(special.betainc(1 - 1 / gamma, 1 / gamma, 0.5)):
        return cauchy_quantile(1 - tail, gamma) if tail < 1 else 0.0
    rest = float(special.betaincinv(1 - 1 / gamma, 1 / gamma, tail))
    if rest < 1e-290:
        remedy = "take a larger gamma or a lower confidence"
        raise ParameterError("gamma", gamma, "the tail reaches beyond floating point", remedy)
    return ((1 - rest) / rest) ** (1 / gamma)


def cauchy_confidence(within: float, gamma: float = 4.0) -> float:
    """P(|z| ≤ within).

    >>> round(cauchy_confidence(1.0), 5)
    0.78055
    """
    return float(_central_and_tails(_log_abs(within, 1.0), gamma)[0])


@lru_cache(maxsize=256)
def best_gamma(confidence: float, *, beta_share: float = 0.0) -> float:
    """The γ with the smallest error at a confidence, for β = ``beta_share``·ε.

    Any γ is private; this one needs the least noise. Searched to about 1e-6.

    >>> round(best_gamma(0.95), 2)
    3.86
    """
    wanted, share = (
        checked_probability("confidence", confidence),
        checked_nonnegative("beta_share", beta_share),
    )
    if share >= 1:
        raise ParameterError("beta_share", beta_share, "β must stay below ε", "give a share below 1")
    highest = min(60.0, 1 + 1 / share) if share else 60.0

    def log_error(gamma: float) -> float:
        return math.log(cauchy_quantile(wanted, gamma) / cauchy_b(1.0, gamma, share))

    return _least(log_error, 1.2, highest * (1 - 1e-9))


def checked_gamma(value: Any) -> float:
    """An exponent above 1; below, the density has no finite integral."""
    gamma = checked_finite("gamma", value)
    if gamma <= 1:
        raise ParameterError("gamma", value, "it must be above 1", "give an exponent such as 4")
    return gamma


def _central_and_tails(log_z: Any, gamma: float) -> tuple[Any, Any]:
    """P(|Z| ≤ z) and P(|Z| > z), each from the end of the incomplete beta function where it is accurate."""
    inner = special.betainc(1 / gamma, 1 - 1 / gamma, special.expit(gamma * np.minimum(log_z, 0.0)))
    outer = special.betainc(1 - 1 / gamma, 1 / gamma, special.expit(-gamma * np.maximum(log_z, 0.0)))
    near = log_z < 0
    return np.where(near, inner, 1 - outer), np.where(near, 1 - inner, outer)


def _log_abs(z: Any, scale: float) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(np.abs(np.divide(z, scale)))


def _least(loss: Callable[[float], float], low: float, high: float, points: int = 24) -> float:
    """Minimise over an interval: a coarse geometric grid, then a bounded search around its best point."""
    grid = np.geomspace(low, high, points)
    best = int(np.argmin([loss(float(x)) for x in grid]))
    ends = float(grid[max(0, best - 1)]), float(grid[min(points - 1, best + 1)])
    from scipy.optimize import minimize_scalar  # SciPy's solvers take longer to import than most questions to answer

    found: Any = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-7 * ends[1]})
    return float(min((found.x, grid[best]), key=loss))


@dataclass(frozen=True)
class CauchyLaw:
    """Density ∝ 1/(1+|z|^γ)."""

    gamma: float

    def central(self, flint: Any, z: Any) -> Any:
        """Half the regularised incomplete beta function, from its accurate end; elementary at γ = 4."""
        if self.gamma == 4:
            return _central_quartic(flint, z)
        if z == 0:
            return flint.arb(0)
        power, inside = z ** flint.arb(self.gamma), 1 / flint.arb(self.gamma)
        if power < 1:
            return (power / (1 + power)).beta_lower(inside, 1 - inside, regularized=True) / 2
        return (1 - (1 / (1 + power)).beta_lower(1 - inside, inside, regularized=True)) / 2

    def density(self, flint: Any, z: Any) -> Any:
        """γ·sin(π/γ)/(2π) / (1+z^γ)."""
        gamma, pi = flint.arb(self.gamma), flint.arb.pi()
        return gamma * (pi / gamma).sin() / (2 * pi) / (1 + z**gamma)

    def tail_quantile(self, tail: float) -> float:
        """By the inverse incomplete beta function."""
        return cauchy_tail_quantile(tail, self.gamma)


def _central_quartic(flint: Any, z: Any) -> Any:
    """P(0 ≤ Z ≤ z) at γ = 4: (artanh(√2·z/(1+z²)) + atan(1+√2·z) − atan(1−√2·z))/(2π)."""
    rooted = flint.arb(2).sqrt() * z
    square = 1 + z * z
    logarithm = ((square + rooted) / (square - rooted)).log()
    return (logarithm / 2 + (1 + rooted).atan() - (1 - rooted).atan()) / (2 * flint.arb.pi())
