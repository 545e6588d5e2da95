"""From the accuracy that is wanted to the ε that it needs, for one query and for several.

[MXK] Theorem 2 for every mechanism: exact quantiles of the noise. Relative accuracy is relative to a
*declared* magnitude, never to the true answer, which is confidential (theory §10).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from guessproof.errors import ParameterError
from guessproof.mechanisms.base import checked_positive, checked_probability
from guessproof.mechanisms.composition import dual_exponent, total_epsilon
from guessproof.mechanisms.laplace import Laplace


@dataclass(frozen=True)
class Target:
    """The accuracy one query must have: P(|noise| ≤ within) ≥ confidence.

    ``mechanism`` is a class such as ``Laplace``; ``options`` are its further parameters (``delta`` and so on).

    >>> round(Target(sensitivity=1, within=5, confidence=0.95).epsilon, 4)
    0.5991
    """

    sensitivity: float
    within: float
    confidence: float
    mechanism: Any = Laplace
    options: Mapping[str, float] = field(default_factory=dict)

    @property
    def epsilon(self) -> float:
        """The smallest ε that reaches the target."""
        return self.mechanism.epsilon_for(
            sensitivity=self.sensitivity, within=self.within, confidence=self.confidence, **self.options
        )


def relative_target(*, fraction: float, magnitude: float, sensitivity: float, confidence: float, **more: Any) -> Target:
    """A target of ``fraction`` of a declared, public magnitude.

    >>> relative_target(fraction=0.05, magnitude=200, sensitivity=1, confidence=0.9).within
    10.0
    """
    within = checked_positive("fraction", fraction) * checked_positive("magnitude", magnitude)
    return Target(sensitivity, within, checked_probability("confidence", confidence), **more)


@dataclass(frozen=True)
class Budget:
    """An ε for each query, and what they cost together."""

    epsilons: tuple[float, ...]
    total: float


def least_budget(targets: Sequence[Target], *, norm: str | float = "linf") -> Budget:
    """Meet every query's own accuracy with the least ε: each gets the least, and the total is least.

    >>> budget = least_budget([Target(1, 5, 0.95), Target(10, 50, 0.95)])
    >>> round(budget.total, 4)
    1.1983
    """
    epsilons = tuple(target.epsilon for target in targets)
    return Budget(epsilons, total_epsilon(epsilons, norm))


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
    variances, 1 mean errors; a large power approaches :func:`split_worst`.

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


def split_worst(
    *,
    epsilon: float,
    sensitivities: Sequence[float],
    weights: Sequence[float] | None = None,
    norm: str | float = "linf",
) -> list[float]:
    """Minimise max wᵢΔᵢ/εᵢ: the weighted errors become equal, εᵢ ∝ wᵢΔᵢ (with "l1": each gets all of ε).

    >>> [round(e, 4) for e in split_worst(epsilon=1, sensitivities=[1, 9])]
    [0.1, 0.9]
    """
    whole = checked_positive("epsilon", epsilon)
    logs, weight_logs = _logs("sensitivities", sensitivities), _weight_logs(weights, len(sensitivities))
    if math.isinf(dual_exponent(norm)):
        return [whole] * len(logs)
    return _scaled(weight_logs + logs, whole, norm)


def split_convex(
    *,
    epsilon: float,
    errors: Sequence[Callable[[float], float]],
    weights: Sequence[float] | None = None,
    norm: str | float = "linf",
) -> list[float]:
    """Minimise Σ wᵢ·errorᵢ(εᵢ) for any convex, decreasing errors, where no closed form exists.

    A solver finds the shares; they are scaled to the private side, so the total is never above ε.

    >>> split = split_convex(epsilon=1, errors=[lambda e: e**-2, lambda e: 100 * e**-2])
    >>> [round(e, 3) for e in split]
    [0.177, 0.823]
    """
    whole, dual, count = checked_positive("epsilon", epsilon), dual_exponent(norm), len(errors)
    weight = np.exp(_weight_logs(weights, count))
    if math.isinf(dual) or count == 1:
        return [whole] * count

    def loss(shares: Any) -> float:
        amounts = whole * np.power(shares, 1 / dual)
        return float(sum(w * error(float(e)) for w, error, e in zip(weight, errors, amounts, strict=True)))

    start = np.full(count, 1 / count)
    unit = loss(start)
    found = minimize(
        lambda shares: loss(shares) / unit,
        start,
        method="SLSQP",
        bounds=[(1e-9, 1.0)] * count,
        constraints={"type": "eq", "fun": lambda shares: float(np.sum(shares)) - 1.0},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    best = min((start, np.clip(found.x, 1e-9, 1.0)), key=loss)
    return _scaled(np.log(best) / dual, whole, norm)


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
