"""The worst posterior on the line for any metric and any goal: many points, and a linear program.

The error is of second order in the width of the cells: halving them gives an extrapolated value and how far
to trust it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference import linear_program

Floats = NDArray[np.float64]
Interval = tuple[float, float]
Distance = Callable[[Floats, Floats], Floats]


class Approximation(NamedTuple):
    value: float
    error: float


def posterior(
    cdf: Callable[[Floats], Floats],
    window: Interval,
    goal: Sequence[Interval],
    distance: Distance,
    epsilon: float,
    side: str = "upper",
    cells: int = 96,
    breaks: Sequence[float] = (),
) -> Approximation:
    """The prior is given by its cdf on a window; `breaks` are where metric or density is not smooth."""
    edges = _edges(window, goal, breaks, cells)
    coarse, fine = (_posterior_on(cdf, e, goal, distance, epsilon, side) for e in (edges, _halved(edges)))
    return Approximation(fine + (fine - coarse) / 3, abs(fine - coarse) / 3)


def _posterior_on(
    cdf: Callable[[Floats], Floats],
    edges: Floats,
    goal: Sequence[Interval],
    distance: Distance,
    epsilon: float,
    side: str,
) -> float:
    points = (edges[:-1] + edges[1:]) / 2
    masses = np.diff(cdf(edges))
    correct = np.any([(low < points) & (points < high) for low, high in goal], axis=0).astype(float)
    return point_posterior(points, masses / masses.sum(), correct, distance, epsilon, side)


def point_posterior(
    points: Floats, masses: Floats, correct: Floats, distance: Distance, epsilon: float, side: str = "upper"
) -> float:
    """The linear program on given points, without the constraints that follow from shorter ones."""
    between = distance(points[:, None], points[None, :])
    masses, correct, between = _merge(masses, correct, between)
    pairs = _needed_pairs(between)
    return linear_program.posterior_on_pairs(masses, between, correct, pairs, epsilon, side)


def _edges(window: Interval, goal: Sequence[Interval], breaks: Sequence[float], cells: int) -> Floats:
    """Edges at all ends and breaks; half of the cells in the goal, where the likelihood has its peak."""
    low, high = window
    marks = [low, *(k for k in (*breaks, *np.ravel(goal)) if low < k < high), high]
    parts = [_part(float(a), float(b), window, goal, cells) for a, b in pairwise(np.unique(marks))]
    return np.append(np.concatenate(parts), high)


def _part(a: float, b: float, window: Interval, goal: Sequence[Interval], cells: int) -> Floats:
    correct = any(low <= a and b <= high for low, high in goal)
    whole = sum(high - low for low, high in goal) if correct else window[1] - window[0]
    return np.linspace(a, b, max(2, round(cells / 2 * (b - a) / whole)) + 1)[:-1]


def _halved(edges: Floats) -> Floats:
    return np.sort(np.concatenate([edges, (edges[:-1] + edges[1:]) / 2]))


def _merge(masses: Floats, correct: Floats, between: Floats) -> tuple[Floats, Floats, Floats]:
    """Points at distance 0 have one likelihood: they become one point, correct in part."""
    first = np.argmax(between <= 0, axis=1)  # the diagonal is 0, so there always is one
    kept, group = np.unique(first, return_inverse=True)
    merged = np.bincount(group, masses)
    share = np.bincount(group, masses * correct) / np.where(merged > 0, merged, 1.0)
    return merged, share, between[np.ix_(kept, kept)]


def _needed_pairs(between: Floats) -> NDArray[np.int64]:
    """Pairs whose distance is not already the length of a way through a third point."""
    needed = [
        (i, j)
        for i in range(len(between))
        for j in range(i + 1, len(between))
        if np.isfinite(between[i, j]) and _shortest_detour(between, i, j) > between[i, j] * (1 + 1e-12)
    ]
    return np.array(needed, dtype=np.int64).reshape(-1, 2)


def _shortest_detour(between: Floats, i: int, j: int) -> float:
    detours = between[i] + between[j]
    detours[[i, j]] = np.inf
    return float(detours.min())
