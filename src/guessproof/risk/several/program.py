"""A linear program over cells, and a proof of its value that does not trust the solver.

Find likelihoods M ≥ 0 with M_row ≤ e^{cost} M_col on every edge that leave the least mass outside the goal per mass
inside. From the solver only the edges' prices y ≥ 0 are taken. If outside − μ·inside + Aᵀy ≥ 0 at every cell, then
outside·M ≥ μ·inside·M for every feasible M, whatever the solver did: that is what `certify` checks, by a few
multiplications. Prices that miss it by rounding are first mended along a tree that leads into the goal.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.edge_program import EdgeProgram
from guessproof.world.checks import Array

Index = NDArray[np.int64]
_TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_INTERIOR: dict[str, Any] = {"run_crossover": "choose"}  # as long as the rest, and mending makes up for it
_SIMPLEX_UP_TO = 600
_FLOOR = -600.0


@dataclass(frozen=True)
class Edges:
    """M[rows] ≤ e^{cost} M[cols]."""

    rows: Index
    cols: Index
    cost: Array


@dataclass(frozen=True)
class Solved:
    """Log-odds that no feasible M exceeds, and ln M of the solver's answer (a hint for an attack, no more)."""

    bound: float
    log_m: Array


def best_odds(inside: Array, outside: Array, edges: Edges, seconds: float = 600.0) -> Solved:
    """The largest log-odds of inside to outside, certified from above; infinite when time runs out."""
    start = reference(inside, edges)
    with np.errstate(divide="ignore"):
        log_in = float(np.log(np.sum(inside * np.exp(start))))
        log_out = float(np.log(np.sum(outside * np.exp(start))))
    if not np.isfinite(log_in - log_out):
        return Solved(np.inf, start)
    a, o = inside * np.exp(start - log_in), outside * np.exp(start - log_out)
    ratio = np.exp(np.minimum(start[edges.rows] - edges.cost - start[edges.cols], 0.0))
    found = _solve(o, a, edges, ratio, seconds)
    if found is None:
        return Solved(np.inf, start)
    m, prices = found
    with np.errstate(over="ignore", invalid="ignore"):  # prices that cannot be mended prove nothing
        proven = [certify(a, o, edges, ratio, y) for y in (_mended(a, o, edges, ratio, prices), prices)]
    least = max((value for value in proven if np.isfinite(value)), default=0.0)
    bound = log_in - log_out - np.log(least) + 1e-12 if least > 0 else np.inf
    return Solved(float(bound), start + np.log(np.maximum(m, 1e-300)))


def reference(inside: Array, edges: Edges) -> Array:
    """ln of a feasible likelihood: minus the shortest way to the goal."""
    # A step along an edge from its column to its row may lose at most the edge's cost, in both directions alike.
    n, cost = inside.size, np.maximum(edges.cost, 1e-300)
    if n > _SIMPLEX_UP_TO:
        from scipy.sparse import csr_array  # heavy, and often not needed
        from scipy.sparse.csgraph import dijkstra

        graph = csr_array((cost, (edges.rows, edges.cols)), shape=(n, n))
        way = np.asarray(dijkstra(graph, directed=False, indices=np.flatnonzero(inside > 0), min_only=True))
    else:
        way, before = np.where(inside > 0, 0.0, np.inf), None
        while before is None or np.any(way < before):
            before = way.copy()
            np.minimum.at(way, edges.rows, before[edges.cols] + cost)
            np.minimum.at(way, edges.cols, before[edges.rows] + cost)
    return np.maximum(-way, _FLOOR)


def certify(a: Array, o: Array, edges: Edges, ratio: Array, prices: Array) -> float:
    """The largest μ with o − μ·a + Aᵀy ≥ 0 everywhere, after shrinking y until that can hold."""
    moved = np.bincount(edges.rows, ratio * prices, a.size) - np.bincount(edges.cols, prices, a.size)
    stuck = (a == 0) & (moved < 0)
    shrink = min(1.0, float(np.min(o[stuck] / -moved[stuck], initial=1.0)))
    some = a > 0
    return float(np.min((o + shrink * moved)[some] / a[some]))


def _mended(a: Array, o: Array, edges: Edges, ratio: Array, prices: Array) -> Array:
    """Prices whose small violations are carried along a tree to the heaviest cell of the goal."""
    n, root = a.size, int(np.argmax(a))
    moved = np.bincount(edges.rows, ratio * prices, n) - np.bincount(edges.cols, prices, n)
    some = a > 0.01 * np.max(a)
    level = float(np.min((o + moved)[some] / a[some]))
    order, upwards = _tree(n, root, edges, np.flatnonzero(ratio > 1e-12), ratio)
    slack = o + moved - level * a
    # Rounding of the sums themselves; a hair more than that is carried so that the check below cannot fail on it.
    hair = 1e-15 * (o + np.bincount(edges.rows, ratio * prices, n) + np.bincount(edges.cols, prices, n))
    prices = prices.copy()
    for k in order[:0:-1]:
        if slack[k] >= hair[k]:
            continue
        e = upwards[k]
        up = int(edges.cols[e])
        more = (hair[k] - slack[k]) / ratio[e]
        prices[e] += more
        slack[up] -= more
    return prices


def _tree(n: int, root: int, edges: Edges, usable: Index, ratio: Array) -> tuple[list[int], dict[int, int]]:
    """Cells from which edges lead to the root, the nearest first, and the first edge on the way from each.

    What is carried along an edge grows by 1/ratio: the nearest way is the one on which it grows least.
    """
    sources: list[list[tuple[int, int, float]]] = [[] for _ in range(n)]
    for e, row, col, way in zip(
        usable.tolist(), edges.rows[usable].tolist(), edges.cols[usable].tolist(), -np.log(ratio[usable]), strict=True
    ):
        sources[col].append((row, e, float(way)))
    order, upwards, queue = list[int](), dict[int, int](), [(0.0, root, -1)]
    while queue:
        far, k, edge = heappop(queue)
        if k in upwards:
            continue
        upwards[k] = edge
        order.append(k)
        for row, e, way in sources[k]:
            if row not in upwards:
                heappush(queue, (far + way, row, e))
    return order, upwards


def _solve(o: Array, a: Array, edges: Edges, ratio: Array, seconds: float) -> tuple[Array, Array] | None:
    program = EdgeProgram(o, a, edges.rows, edges.cols, ratio, np.zeros(edges.rows.size))
    limit = {"time_limit": max(seconds, 0.05)}
    few = o.size <= _SIMPLEX_UP_TO
    try:
        found = program.solved("simplex" if few else "ipm", {**_TIGHT, **({} if few else _INTERIOR), **limit})
        return found if found is not None else program.solved("choose", limit)
    except TimeoutError:
        return None
