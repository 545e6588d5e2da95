"""The worst posterior in a finite space: every constraint of ε·d-privacy written down, and a solver."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
# HiGHS accepts no tighter tolerance.
TOLERANCE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def posterior(
    prior: ArrayLike, distance: ArrayLike, goal: ArrayLike, epsilon: float = 1.0, side: str = "upper"
) -> float:
    """Optimise Σ g·f·L subject to Σ f·L = 1 and Lᵢ ≤ e^{ε·dᵢⱼ}·Lⱼ for all pairs.

    A goal's weight between 0 and 1 is the share of that point's mass which counts as correct.
    """
    return posterior_on_pairs(prior, distance, goal, _all_pairs(distance), epsilon, side)


def posterior_on_pairs(
    prior: ArrayLike, distance: ArrayLike, goal: ArrayLike, pairs: ArrayLike, epsilon: float, side: str
) -> float:
    """The same with the constraints of the listed pairs only, each in both directions."""
    likelihood = worst_likelihood(prior, distance, goal, pairs, epsilon, side)
    mass = np.asarray(prior, float) * likelihood
    return float(mass @ np.asarray(goal, float) / mass.sum())


def worst_likelihood(
    prior: ArrayLike, distance: ArrayLike, goal: ArrayLike, pairs: ArrayLike, epsilon: float, side: str
) -> Floats:
    f, g = np.asarray(prior, float), np.asarray(goal, float)
    first, second = np.asarray(pairs, int).T
    shrink = np.exp(-epsilon * np.asarray(distance, float)[first, second])
    lhs = _rows(first, second, shrink, len(f))
    solution = linprog(
        -f * g if side == "upper" else f * g,
        A_ub=lhs,
        b_ub=np.zeros(lhs.shape[0]),
        A_eq=f[None, :],
        b_eq=[1.0],
        bounds=(0, None),
        method="highs",
        options=TOLERANCE,
    )
    if not solution.success:
        raise ArithmeticError(solution.message)
    return solution.x


def _all_pairs(distance: ArrayLike) -> NDArray[np.int64]:
    return np.argwhere(np.triu(np.isfinite(np.asarray(distance, float)), k=1))


def _rows(first: NDArray[np.int64], second: NDArray[np.int64], shrink: Floats, points: int) -> csr_array:
    """e^{−εd}·Lᵢ − Lⱼ ≤ 0 and the same with i and j exchanged."""
    count = len(first)
    row = np.repeat(np.arange(2 * count), 2)
    column = np.stack([first, second, second, first], axis=1).ravel()
    value = np.stack([shrink, -np.ones(count), shrink, -np.ones(count)], axis=1).ravel()
    return csr_array((value, (row, column)), shape=(2 * count, points))
