"""Several releases together.

A guarantee is a metric: releases with ε₁d₁, ε₂d₂, … leave the log-likelihood Lipschitz in Σ εⱼdⱼ
(theory §1). Here are the scalar shadows of that sum: the dual-norm rule of [LP] Theorem 4 with parallel
and sequential composition at its ends, (ε, δ) lists, where composition can be tighter than addition, and the
way back: a budget split among queries.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import MissingExtraError, ParameterError
from guessproof.mechanisms.base import (
    Mechanism,
    checked_delta,
    checked_nonnegative,
    checked_positive,
    checked_probability,
)
from guessproof.mechanisms.gaussian import gdp_epsilon

NORMS = {"l1": 1.0, "l2": 2.0, "linf": math.inf}


def norm_exponent(norm: str | float) -> float:
    """The p of a distance that is an ℓp norm of its components: "l1", "l2", "linf" or a number from 1.

    >>> norm_exponent("linf"), norm_exponent(3)
    (inf, 3.0)
    """
    remedy = 'use "l1", "l2", "linf" or a number of at least 1'
    if isinstance(norm, str):
        if norm.lower() not in NORMS:
            raise ParameterError("norm", norm, "it is not a known norm", remedy)
        return NORMS[norm.lower()]
    try:
        exponent = float(norm)
    except (TypeError, ValueError):
        raise ParameterError("norm", norm, "it is not a norm", remedy) from None
    if math.isnan(exponent) or exponent < 1 or isinstance(norm, bool):
        raise ParameterError("norm", norm, "it is not a norm", remedy)
    return exponent


def dual_exponent(norm: str | float) -> float:
    """The q with 1/p + 1/q = 1.

    >>> dual_exponent("linf"), dual_exponent("l2"), dual_exponent("l1")
    (1.0, 2.0, inf)
    """
    exponent = norm_exponent(norm)
    if exponent == 1:
        return math.inf
    return 1.0 if math.isinf(exponent) else exponent / (exponent - 1)


def total_epsilon(epsilons: Iterable[float], norm: str | float = "linf") -> float:
    """The ε of queries that each see their own component: ‖(ε₁ … ε_m)‖_q ([LP] Theorem 4).

    ``norm`` is the norm of the *distance*: with "linf" every component may move by one, and ε adds up; with
    "l1" only one may, and the largest ε counts.

    >>> total_epsilon([0.3, 0.4], "linf"), total_epsilon([0.3, 0.4], "l2"), total_epsilon([0.3, 0.4], "l1")
    (0.7, 0.5, 0.4)
    """
    values = [checked_nonnegative("epsilons", value) for value in epsilons]
    if not values:
        return 0.0
    exponent, largest = dual_exponent(norm), max(values)
    if math.isinf(exponent) or largest == 0:
        return largest
    if exponent == 1:
        return math.fsum(values)
    if exponent == 2:
        return math.hypot(*values)
    return largest * math.fsum((value / largest) ** exponent for value in values) ** (1 / exponent)


def sequential(epsilons: Iterable[float]) -> float:
    """Releases on the same data: the sum.

    >>> sequential([0.25, 0.5])
    0.75
    """
    return total_epsilon(epsilons, "linf")


def parallel(epsilons: Iterable[float]) -> float:
    """Releases on disjoint data, when a record's part is public and fixed: the largest.

    >>> parallel([0.25, 0.5])
    0.5
    """
    return total_epsilon(epsilons, "l1")


@dataclass(frozen=True)
class Composed:
    """What a list of releases costs together, and by which rule."""

    epsilon: float
    delta: float
    method: str


def compose(releases: Sequence[Mechanism], *, delta: float = 0.0) -> Composed:
    """The least ε, at this δ in all, by closed forms: addition, and exact μ-GDP for the Gaussian releases.

    >>> from guessproof.mechanisms.gaussian import Gaussian
    >>> from guessproof.mechanisms.laplace import Laplace
    >>> compose([Gaussian(1, 1, 1e-6)] * 4, delta=4e-6).method
    'μ-GDP'
    >>> compose([Laplace(1, 0.5), Laplace(2, 0.25)])
    Composed(epsilon=0.75, delta=0.0, method='addition')
    """
    allowed = checked_delta(delta)
    options = [option for option in (_added(releases, allowed), _gaussian(releases, allowed)) if option]
    if not options:
        problem = "it is below what the releases need together"
        raise ParameterError("delta", delta, problem, "give at least the sum of their deltas")
    return min(options, key=lambda option: option.epsilon)


def compose_numerically(releases: Sequence[Mechanism], *, delta: float) -> Composed:
    """The least ε of the closed forms and of dp_accounting's privacy loss distributions (rounded up there).

    >>> from guessproof.mechanisms.laplace import Laplace
    >>> result = compose_numerically([Laplace(1, 0.1)] * 50, delta=1e-6)
    >>> round(result.epsilon, 1), result.method
    (3.1, 'privacy loss distribution')
    """
    allowed = checked_probability("delta", delta)
    total = None
    for release in releases:
        one = _loss_distribution(release)
        total = one if total is None else total.compose(one)
    if total is None:
        return Composed(0.0, 0.0, "addition")
    numeric = Composed(float(total.get_epsilon_for_delta(allowed)), allowed, "privacy loss distribution")
    try:
        return min(compose(releases, delta=allowed), numeric, key=lambda option: option.epsilon)
    except ParameterError:
        return numeric


def _added(releases: Sequence[Mechanism], delta: float) -> Composed | None:
    """Σε with Σδ, where that much δ is allowed."""
    spent = math.fsum(release.failure for release in releases)
    if spent > delta:
        return None
    return Composed(math.fsum(release.epsilon for release in releases), delta, "addition")


def _gaussian(releases: Sequence[Mechanism], delta: float) -> Composed | None:
    """Gaussian releases compose exactly (μ² adds); pure ones are added on top."""
    parts = [release.mu for release in releases if release.mu is not None]
    rest = [release for release in releases if release.mu is None]
    left = delta - math.fsum(release.failure for release in rest)
    if not parts or left <= 0:
        return None
    mu = math.hypot(*parts)
    others = math.fsum(release.epsilon for release in rest)
    return Composed(gdp_epsilon(mu, left) + others, delta, "μ-GDP")


def _loss_distribution(release: Mechanism) -> Any:
    """The release as a privacy loss distribution of dp_accounting."""
    try:
        from dp_accounting.pld import common
        from dp_accounting.pld import privacy_loss_distribution as losses
    except ImportError:
        raise MissingExtraError("dp-accounting", "accounting") from None
    return release.loss_distribution(losses, common.DifferentialPrivacyParameters)


def split_budget(
    *,
    epsilon: float,
    sensitivities: Sequence[float],
    weights: Sequence[float] | None = None,
    norm: str | float = "linf",
    power: float = 2,
) -> list[float]:
    """Minimise Σ wᵢ(Δᵢ/εᵢ)^k subject to ‖ε‖_q ≤ ε: εᵢ ∝ (wᵢΔᵢ^k)^(1/(q+k)).

    ``norm`` is the norm of the distance; q is its dual (``linf``: the εᵢ add up). ``power`` 2 minimises
    variances, 1 mean errors; a large power approaches equal weighted errors.

    >>> [round(e, 4) for e in split_budget(epsilon=1, sensitivities=[1, 10], power=2)]
    [0.1773, 0.8227]
    >>> split_budget(epsilon=1, sensitivities=[1, 10], norm="l1")
    [1.0, 1.0]
    """
    whole, exponent = checked_positive("epsilon", epsilon), checked_positive("power", power)
    logs, weight_logs = _logs("sensitivities", sensitivities), _weight_logs(weights, len(sensitivities))
    dual = dual_exponent(norm)
    if math.isinf(dual):
        return [whole] * len(logs)
    return _scaled((weight_logs + exponent * logs) / (dual + exponent), whole, norm)


def _scaled(logs: Any, epsilon: float, norm: str | float) -> list[float]:
    """Numbers in the given proportions with total ε, never above it."""
    shares = np.exp(logs - np.max(logs))
    factor = epsilon / total_epsilon(shares, norm)
    amounts = [float(share * factor) for share in shares]
    while total_epsilon(amounts, norm) > epsilon:
        factor = math.nextafter(factor, 0.0)
        amounts = [float(share * factor) for share in shares]
    return amounts


def _logs(name: str, values: Sequence[float]) -> Any:
    if len(values) == 0:
        raise ParameterError(name, values, "it is empty", "give one number for each query")
    return np.log([checked_positive(name, value) for value in values])


def _weight_logs(weights: Sequence[float] | None, count: int) -> Any:
    if weights is None:
        return np.zeros(count)
    if len(weights) != count:
        raise ParameterError("weights", weights, f"there are {count} queries", "give one weight for each query")
    return _logs("weights", weights)
