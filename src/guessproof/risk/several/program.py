"""A linear program over cells, and a proof of its value that does not trust the solver.

Find likelihoods M ≥ 0 with M_row ≤ e^{cost} M_col on every edge that leave the least mass outside the goal per mass
inside. From the solver only the edges' prices y ≥ 0 are taken. If outside − μ·inside + Aᵀy ≥ 0 at every cell, then
outside·M ≥ μ·inside·M for every feasible M, whatever the solver did: that is what `certify` checks, by a few
multiplications. Prices that miss it by rounding are first mended along a tree that leads into the goal.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.world.checks import Array

Index = NDArray[np.int64]
_TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
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
    from scipy.sparse import csr_array  # heavy, and often not needed
    from scipy.sparse.csgraph import dijkstra

    n = inside.size
    # A step along an edge from its column to its row may lose at most the edge's cost, in both directions alike.
    graph = csr_array((np.maximum(edges.cost, 1e-300), (edges.rows, edges.cols)), shape=(n, n))
    way = dijkstra(graph, directed=False, indices=np.flatnonzero(inside > 0), min_only=True)
    return np.maximum(-np.asarray(way), _FLOOR)


def certify(a: Array, o: Array, edges: Edges, ratio: Array, prices: Array) -> float:
    """The largest μ with o − μ·a + Aᵀy ≥ 0 everywhere, after shrinking y until that can hold."""
    moved = np.bincount(edges.rows, ratio * prices, a.size) - np.bincount(edges.cols, prices, a.size)
    stuck = (a == 0) & (moved < 0)
    shrink = min(1.0, float(np.min(o[stuck] / -moved[stuck], initial=1.0)))
    some = a > 0
    return float(np.min((o + shrink * moved)[some] / a[some]))


def _mended(a: Array, o: Array, edges: Edges, ratio: Array, prices: Array) -> Array:
    """Prices whose small violations are carried along a tree to the heaviest cell of the goal."""
    from scipy.sparse import csr_array  # heavy, and often not needed
    from scipy.sparse.csgraph import breadth_first_order

    n, root = a.size, int(np.argmax(a))
    moved = np.bincount(edges.rows, ratio * prices, n) - np.bincount(edges.cols, prices, n)
    some = a > 0.01 * np.max(a)
    level = float(np.min((o + moved)[some] / a[some]))
    usable = ratio > 1e-12
    graph = csr_array((np.ones(int(usable.sum())), (edges.cols[usable], edges.rows[usable])), shape=(n, n))
    order, parent = breadth_first_order(graph, root, directed=True)
    by_pair = {pair: e for e, pair in enumerate(zip(edges.rows.tolist(), edges.cols.tolist(), strict=True))}
    slack = o + moved - level * a
    # Rounding of the sums themselves; a hair more than that is carried so that the check below cannot fail on it.
    hair = 1e-15 * (o + np.bincount(edges.rows, ratio * prices, n) + np.bincount(edges.cols, prices, n))
    prices = prices.copy()
    for k in order[::-1].tolist():
        if k == root or slack[k] >= hair[k]:
            continue
        up = int(parent[k])
        e = by_pair[(k, up)]
        more = (hair[k] - slack[k]) / ratio[e]
        prices[e] += more
        slack[up] -= more
    return prices


def _solve(o: Array, a: Array, edges: Edges, ratio: Array, seconds: float) -> tuple[Array, Array] | None:
    from scipy.optimize import linprog  # heavy, and often not needed
    from scipy.sparse import coo_array

    n, e = o.size, edges.rows.size
    index = np.arange(e)
    entries = np.concatenate([ratio, -np.ones(e)])
    places = (np.concatenate([index, index]), np.concatenate([edges.rows, edges.cols]))
    matrix = coo_array((entries, places), shape=(e, n)).tocsr()
    limit = {"time_limit": max(seconds, 0.05)}
    for method, options in (("highs-ds" if n <= _SIMPLEX_UP_TO else "highs-ipm", _TIGHT), ("highs", {})):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Any = linprog(
                o, A_ub=matrix, b_ub=np.zeros(e), A_eq=a[None, :], b_eq=[1.0], bounds=(0, None),
                method=method, options={**options, **limit},
            )  # fmt: skip
        if found.x is not None and found.ineqlin is not None and found.ineqlin.marginals is not None:
            return np.asarray(found.x), np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
        if found.status == 1:  # out of time
            break
    return None
