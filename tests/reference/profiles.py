"""Risk profiles the slow way: Bayes' rule, a linear program, bisection and grids; no closed forms."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]


def relative_risk_by_program(p: float, q: float, epsilon: float) -> float:
    """The largest posterior over prior of the first of three worlds, by a linear program."""
    prior = np.array([p * q, p * (1 - q), 1 - p])
    distance = np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    rows = []
    for i in range(3):
        for j in range(3):
            if i != j:
                row = np.zeros(3)
                row[i], row[j] = np.exp(-epsilon * distance[i, j]), -1.0
                rows.append(row)
    solution = linprog([-prior[0], 0, 0], A_ub=rows, b_ub=np.zeros(6), A_eq=[prior], b_eq=[1.0], method="highs")
    assert solution.success
    return -solution.fun / prior[0]


def total(p: ArrayLike, q: ArrayLike, x: ArrayLike) -> Floats:
    """1/r at x = e^{−ε}: the denominator of Theorem 1."""
    p, q, x = (np.asarray(value, dtype=np.float64) for value in (p, q, x))
    return p * q + x**2 * p * (1 - q) + x * (1 - p)


def allowed_epsilon(p: ArrayLike, q: ArrayLike, ratio: ArrayLike) -> Floats:
    """The ε at which the risk of Theorem 1 reaches the ratio, by bisection; ∞ where it never does."""
    p, q, ratio = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (p, q, ratio)))
    low, high = np.zeros(p.shape), np.full(p.shape, 60.0)
    for _ in range(70):
        middle = (low + high) / 2
        safe = ratio * total(p, q, np.exp(-middle)) >= 1
        low, high = np.where(safe, middle, low), np.where(safe, high, middle)
    return np.where(ratio * p * q >= 1, np.inf, low)


def exact_epsilon(p: float, q: float, ratio: float) -> mp.mpf:
    """The same with fifty digits, from the quadratic equation."""
    with mp.workdps(50):
        p, q, room = mp.mpf(p), mp.mpf(q), 1 / mp.mpf(ratio) - mp.mpf(p) * mp.mpf(q)
        if room <= 0:
            return mp.inf
        return mp.log(((1 - p) + mp.sqrt((1 - p) ** 2 + 4 * p * (1 - q) * room)) / (2 * room))


def lowest_on_line(ratio: Callable[[Floats], Floats], place: Callable[[Floats], tuple[Floats, Floats]]) -> float:
    """The minimum of (17) over t in (0, 1] with (p, q) = place(t): a grid, then finer ones around its best."""
    low, high = 1e-9, 1.0
    best = np.inf
    for _ in range(4):
        t = np.linspace(low, high, 801)
        epsilon = allowed_epsilon(*place(t), ratio(t))
        at = int(np.argmin(epsilon))
        best = min(best, float(epsilon[at]))
        low, high = t[max(at - 1, 0)], t[min(at + 1, 800)]
    return best


def lowest_in_box(
    ratio: Callable[[Floats, Floats], Floats],
    p: tuple[float, float],
    q: tuple[float, float],
    count: int = 121,
    zooms: int = 4,
) -> float:
    """The minimum of (17) over a rectangle: a grid, then finer ones around its best."""
    (p0, p1), (q0, q1), best = p, q, np.inf
    for _ in range(zooms):
        axis_p = np.unique(np.maximum(np.linspace(p0, p1, count), 1e-12))
        axis_q = np.unique(np.maximum(np.linspace(q0, q1, count), 1e-12))
        grid_p, grid_q = np.meshgrid(axis_p, axis_q, indexing="ij")
        epsilon = allowed_epsilon(grid_p, grid_q, ratio(grid_p, grid_q))
        i, j = np.unravel_index(int(np.argmin(epsilon)), epsilon.shape)
        best = min(best, float(epsilon[i, j]))
        p0, p1 = axis_p[max(i - 1, 0)], axis_p[min(i + 1, len(axis_p) - 1)]
        q0, q1 = axis_q[max(j - 1, 0)], axis_q[min(j + 1, len(axis_q) - 1)]
    return best
