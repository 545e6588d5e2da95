"""Linear programs over nodes and edges: the largest odds of a goal under M[row] <= e^cost M[col] on every edge.

HiGHS looks for likelihoods M >= 0 with the least mass outside the goal per mass inside. Only the prices y >= 0 of the
edges are taken from it, and what they prove is computed here: with M = e^-way m, way the shortest path to the goal,

    outside·m - mu inside·m = sum of residual·m + sum over edges of y (m[col] - ratio m[row]) >= 0

where residual = outside - mu inside + (inflow ratio·y) - (outflow y) >= 0 at every node. Then no odds exceed 1/mu,
whatever the solver did. Prices that overload a node by rounding are scaled down first, from the farthest node inwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.world.checks import Array, Indices
from guessproof.world.special import read_compiled

TIGHT = 1e-10  # tolerance of the simplex method, the smallest that the solver accepts
REPAIRED = 1e-8  # tolerance of the interior point: what it leaves is repaired
SMALLEST = 1e-300  # stands for 0 where a logarithm or a sparse entry is wanted
HEAVY = 0.01  # share of the heaviest node of the goal from which a node fixes the level
SIMPLEX_UP_TO = (
    150  # nodes; beyond it an interior point is faster, and its rounding is repaired
)
NARROW_UP_TO = 1500  # the same where gains are so small that what is repaired would exceed them
FLOOR = 600.0  # paths longer than this weigh nothing: e^-600 is above the smallest number
NEAR = 0.05  # diameter in ln L below which each edge matters
SMALL = 4e-3  # diameter in ln L below which small gains would lose their digits
STEP = 1e-9  # added to each step of a path, so that it is longer than the part before, also at no cost
ROUNDING = 1e-12  # relative error of a sum of a few hundred thousand products, in ln odds


@dataclass(frozen=True)
class Couplings:
    """M[rows] <= e^cost M[cols]."""

    rows: Indices
    cols: Indices
    cost: Array

    def scaled(self, factor: float) -> Couplings:
        """The same with all costs multiplied."""
        return Couplings(self.rows, self.cols, factor * self.cost)


@dataclass(frozen=True)
class ProgramBound:
    """Log-odds that no M exceeds, ln M of the solver's answer (a hint for an attack, no more), and what proves them.

    With odds = e^bound and the flow y on the edges, for every node k but for rounding:
    inside[k] - odds outside[k] + sum of e^cost y (edges with column k) - sum of y (edges with row k) <= 0.
    """

    bound: float
    log_m: Array
    flow: Array | None = None


def best_odds(
    inside: Array, outside: Array, edges: Couplings, *, exact: bool = False
) -> ProgramBound:
    """Return log-odds of inside to outside that no likelihood exceeds; infinite where nothing is proven.

    `exact` asks for the simplex method, which is slower for many nodes and leaves no rounding to repair.
    """
    middle = np.array([int(np.argmax(inside))])
    width = sum(
        float(np.max(_shortest(edges, inside.size, middle, backwards=back)))
        for back in (False, True)
    )
    if 0 < width < SMALL:
        # From a larger ε, where digits are left: L^θ is private at θε, and ln E L^θ ≥ θ(ln E L − w²/8) (Hoeffding).
        share, base = width / SMALL, float(np.log(np.sum(inside)) - np.log(np.sum(outside)))
        found = best_flow(inside, outside, edges.scaled(1 / share), exact=exact, every=True)
        bound = base + share * (found.bound - base + SMALL**2 / 8)
        return ProgramBound(bound, share * found.log_m)
    return best_flow(inside, outside, edges, exact=exact, every=width < NEAR)


def best_flow(
    inside: Array, outside: Array, edges: Couplings, *, exact: bool = False, every: bool = False
) -> ProgramBound:
    """Return the same with the flow that proves it, however small the gain; `every` edge, or those that matter most."""
    # A likelihood e^-way near the best one, so that nothing in the program is tiny: the distance from the goal. No step
    # away from it needs to climb, and a missing edge only loosens.
    way = np.minimum(_shortest(edges, inside.size, np.flatnonzero(inside > 0)), FLOOR)
    kept = (way[edges.rows] <= way[edges.cols]) | exact | every
    log_in, log_out = (
        float(np.log(np.maximum(part @ np.exp(-way), SMALLEST))) for part in (inside, outside)
    )
    a, o = inside * np.exp(-way - log_in), outside * np.exp(-way - log_out)
    ratio = np.exp(np.minimum(way[edges.cols] - way[edges.rows] - edges.cost, 0.0))
    inner = Couplings(edges.rows[kept], edges.cols[kept], edges.cost[kept])
    closely = exact or (every and inside.size <= NARROW_UP_TO)
    found = solve_edges(o, a, inner, ratio[kept], np.zeros(inner.rows.size), 1.0, exact=closely)
    if found is None:
        return ProgramBound(np.inf, -way)
    log_m = np.log(np.maximum(found[0], SMALLEST)) - way
    if np.any(
        (inside > 0) & (a == 0)
    ):  # too far apart for numbers: the check would not see this mass
        return ProgramBound(np.inf, log_m)
    prices = np.zeros(kept.size)
    prices[kept] = found[1]
    least = _repair(a, o, edges, ratio, prices, log_m)
    if not least > 0:
        return ProgramBound(np.inf, log_m)
    flow = np.exp(log_in + way[edges.rows]) * ratio * prices / least
    return ProgramBound(float(log_in - log_out - np.log(least) + ROUNDING), log_m, flow)


def _shortest(edges: Couplings, size: int, start: Indices, *, backwards: bool = False) -> Array:
    """The shortest directed path from any of some nodes (or to one of them)."""
    from scipy.sparse import csr_array  # takes longer to import than most questions to answer
    from scipy.sparse.csgraph import dijkstra

    ends = (edges.cols, edges.rows) if backwards else (edges.rows, edges.cols)
    graph = csr_array((np.maximum(edges.cost, SMALLEST), ends), shape=(size, size))
    return np.asarray(dijkstra(graph, indices=start, min_only=True), dtype=np.float64)


def _repair(
    a: Array, o: Array, edges: Couplings, ratio: Array, prices: Array, log_m: Array
) -> float:
    """Mend the prices; return a mu with outside·m >= mu inside·m for every feasible m, which they prove.

    Nodes are visited from the least likely one upwards. A node that cannot bear what flows out of it sends less, so
    that what is missing moves towards the goal, by ratios of at most 1. What is missing at a node of the goal is
    fetched from the heaviest one, along the shortest path between the two.
    """
    size, top = a.size, int(np.argmax(a))
    prices[log_m[edges.rows] <= log_m[edges.cols]] = 0.0
    net = np.bincount(edges.rows, ratio * prices, size) - np.bincount(edges.cols, prices, size)
    heavy = a > HEAVY * a[top]
    level = float(np.min((o + net)[heavy] / a[heavy]))
    have = o - level * a
    leaving = np.argsort(edges.cols, kind="stable")
    starts = np.searchsorted(edges.cols[leaving], np.arange(size + 1)).tolist()
    for node in np.argsort(log_m, kind="stable").tolist():
        flows = leaving[starts[node] : starts[node + 1]]
        flows = flows[prices[flows] > 0]
        if flows.size:
            prices[flows] *= min(
                1.0, max(float(have[node]), 0.0) / float(np.sum(prices[flows]))
            )
            have[node] -= float(np.sum(prices[flows]))
            np.add.at(have, edges.rows[flows], ratio[flows] * prices[flows])
    if np.any((have < 0) & (np.arange(size) != top)):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            _fetch(have, top, edges, ratio, prices)
        if not np.isfinite(have).all():  # too much would have to be moved for numbers
            return 0.0
    short = have < 0
    least = float(np.min(have[short] / np.maximum(a[short], SMALLEST), initial=0.0))
    return (level + least) * (1 - ROUNDING)


def _fetch(have: Array, top: int, edges: Couplings, ratio: Array, prices: Array) -> None:
    """Move what nodes have too little of to the heaviest node of the goal, the farthest ones first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    steps, size = (edges.cols, edges.rows), have.size
    with np.errstate(divide="ignore"):
        graph = csr_array((STEP - np.log(ratio), steps), shape=(size, size))
    path, before = dijkstra(graph, indices=top, return_predecessors=True)
    number = csr_array((np.arange(1, ratio.size + 1), steps), shape=(size, size))
    for node in np.argsort(-path, kind="stable").tolist():
        if have[node] < 0 and node != top and np.isfinite(path[node]):
            edge = number[before[node], node] - 1
            fetched = -have[node] / ratio[edge]
            prices[edge] += fetched
            have[before[node]] -= fetched
            have[node] = 0.0


def solve_edges(
    cost: Array,
    fixed: Array,
    edges: Couplings,
    ratio: Array,
    room: Array,
    total: float,
    *,
    exact: bool = False,
) -> tuple[Array, Array] | None:
    """Minimise cost·m with fixed·m = total and ratio m[row] - m[col] <= room; return (m, prices >= 0), or None."""
    core: Any = read_compiled("scipy.optimize._highspy._core")
    size, count, some = cost.size, edges.rows.size, np.flatnonzero(fixed)
    program = core.HighsLp()
    program.num_col_ = program.a_matrix_.num_col_ = size
    program.num_row_ = program.a_matrix_.num_row_ = count + 1
    program.col_cost_ = cost
    program.col_lower_ = np.zeros(size)
    program.col_upper_ = np.full(size, core.kHighsInf)
    program.row_lower_ = np.append(np.full(count, -core.kHighsInf), total)
    program.row_upper_ = np.append(room, total)
    program.a_matrix_.format_ = core.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.append(
        2 * np.arange(count + 1), 2 * count + some.size
    ).astype(np.int32)
    pairs = np.stack([edges.rows, edges.cols], axis=1).ravel()
    program.a_matrix_.index_ = np.append(pairs, some).astype(np.int32)
    entries = np.stack([ratio, -np.ones(count)], axis=1).ravel()
    program.a_matrix_.value_ = np.append(entries, fixed[some])
    options, engine = core.HighsOptions(), core._Highs()
    simplex = exact or size <= SIMPLEX_UP_TO
    options.output_flag = False
    options.solver, options.run_crossover = ("simplex", "on") if simplex else ("ipm", "off")
    for name in (
        "primal_feasibility_tolerance",
        "dual_feasibility_tolerance",
        "ipm_optimality_tolerance",
    ):
        setattr(options, name, TIGHT if simplex else REPAIRED)
    engine.passOptions(options)
    engine.passModel(program)
    engine.run()
    found = engine.getSolution()
    if engine.getModelStatus() != core.HighsModelStatus.kOptimal and not found.dual_valid:
        return None
    return np.asarray(found.col_value), np.maximum(-np.asarray(found.row_dual)[:count], 0.0)
