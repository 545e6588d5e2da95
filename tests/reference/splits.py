"""The best split of a budget by a solver, for any convex errors: slow, and without the closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize

from guessproof.mechanisms.composition import dual_exponent, total_epsilon


def solved_split(
    *, epsilon: float, errors: Sequence[Callable[[float], float]], norm: str | float = "linf"
) -> list[float]:
    """Minimise Σ errorᵢ(εᵢ) subject to ‖ε‖_q ≤ ε."""
    dual, count = dual_exponent(norm), len(errors)
    if math.isinf(dual):
        return [epsilon] * count

    def loss(shares: Any) -> float:
        return float(
            sum(error(float(e)) for error, e in zip(errors, epsilon * np.power(shares, 1 / dual), strict=True))
        )

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
    amounts = np.power(np.clip(found.x, 1e-9, 1.0), 1 / dual)
    return [float(e) for e in amounts * epsilon / total_epsilon(amounts, norm)]
