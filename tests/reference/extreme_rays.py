"""The worst posterior of a small finite world: every likelihood that can be the worst one, in many digits.

A worst likelihood lies on an extreme ray of { L : Lᵢ ≤ e^{Dᵢⱼ} Lⱼ }: so many constraints are tight that they join all
points. It is enough to try every spanning tree with every choice of which end of each edge is the higher one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from mpmath import mp, mpf
from numpy.typing import ArrayLike

Edge = tuple[int, int]


def posterior(
    prior: ArrayLike, distance: ArrayLike, goal: ArrayLike, epsilon: float, side: str = "upper", digits: int = 40
) -> mpf:
    """The highest or lowest belief; all distances finite. A goal's weight may be a share of its point."""
    with mp.workdps(digits):
        mass = [mpf(float(v)) for v in np.asarray(prior, float)]
        share = [mpf(float(v)) for v in np.asarray(goal, float)]
        metric = [[mpf(epsilon) * mpf(float(v)) for v in row] for row in np.asarray(distance, float)]
        beliefs = []
        for heights in _heights(metric):
            weight = [m * mp.exp(h) for m, h in zip(mass, heights, strict=True)]
            beliefs.append(mp.fsum(w * g for w, g in zip(weight, share, strict=True)) / mp.fsum(weight))
        return max(beliefs) if side == "upper" else min(beliefs)


def _heights(metric: Sequence[Sequence[mpf]]) -> Iterator[list[mpf]]:
    """ln L of every extreme ray, the first point at 0."""
    n, slack = len(metric), mpf(10) ** (10 - mp.dps)
    for edges in _trees(n):
        for signs in product((1, -1), repeat=n - 1):
            heights = _along(n, edges, signs, metric)
            if all(heights[i] - heights[j] <= metric[i][j] + slack for i in range(n) for j in range(n)):
                yield heights


def _along(n: int, edges: Sequence[Edge], signs: Sequence[int], metric: Sequence[Sequence[mpf]]) -> list[mpf]:
    heights: list[mpf | None] = [mpf(0), *[None] * (n - 1)]
    todo = list(zip(edges, signs, strict=True))
    while todo:
        (i, j), sign = todo.pop(0)
        if heights[i] is None and heights[j] is None:
            todo.append(((i, j), sign))
        elif heights[j] is None:
            heights[j] = heights[i] + sign * metric[i][j]
        else:
            heights[i] = heights[j] - sign * metric[i][j]
    return [h for h in heights if h is not None]


def _trees(n: int) -> Iterator[list[Edge]]:
    """All spanning trees of n points, by Prüfer's sequences."""
    if n == 2:
        yield [(0, 1)]
        return
    for sequence in product(range(n), repeat=n - 2):
        degree = [1 + sequence.count(v) for v in range(n)]
        edges = []
        for v in sequence:
            leaf = degree.index(1)
            edges.append((leaf, v))
            degree[leaf], degree[v] = 0, degree[v] - 1
        last = [v for v in range(n) if degree[v] == 1]
        yield [*edges, (last[0], last[1])]
