"""Linear programs over nodes and edges: the largest odds of a goal under M[row] <= e^cost M[col] on every edge.

Many nodes (`best_odds`). HiGHS looks for likelihoods M >= 0 with the least mass outside the goal per mass inside. Only
the prices y >= 0 of the edges are taken from it, and what they prove is computed here: with M = e^-way m, way the
shortest path to the goal,

    outside·m - mu inside·m = sum of residual·m + sum over edges of y (m[col] - ratio m[row]) >= 0

where residual = outside - mu inside + (inflow ratio·y) - (outflow y) >= 0 at every node. Then no odds exceed 1/mu,
whatever the solver did. Prices that overload a node by rounding are scaled down first, from the farthest node inwards.

Few points, however far apart (`largest_gain`). Mass `a` of the goal and mass `c` of the rest lie on points i and j, and
L_i ≤ e^{D_ij} L_j. Where the odds Σ aL / Σ cL are largest, as many of these constraints are tight as it takes to fix L:
a spanning tree. In units of L a plan that carries all of the goal to the rest is an ordinary flow on that tree: on each
edge, what the points behind it hold of the goal less what they hold of the rest. If no flow is negative, the plan
proves that no odds are larger. If one is, the part of the tree behind it holds more goal than rest and is lifted until
another constraint is tight: the simplex method without any exponential of a distance. Any plan without negative flows
is a proof, recomputed from masses and distances alone; the caller finds out what the likelihood reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.world.checks import Array, Indices
from guessproof.world.line import log_sum

SIMPLEX_UP_TO = 600  # nodes; beyond an interior point is faster
METHODS = "highs-ds", "highs-ipm"  # each answers some programs that the other does not
TIGHT = {  # the smallest tolerances that the solver accepts
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}
SMALLEST = 1e-300  # stands for 0 where a logarithm or a sparse entry is wanted
FLOOR = 600.0  # paths longer than this weigh nothing: e^-600 is above the smallest number
STEP = 1e-9  # added to each step of a path, so that it is longer than the part before, also at no cost
ROUNDING = 1e-12  # relative error of a sum of a few hundred thousand products, in ln odds
CANCELLED = 1e-15  # what is left of a difference below this share of its terms is rounding
APART = 2e4  # stands for an infinite distance: e^{−APART} is nothing beside any mass
OF_LOGS = 4e-15  # of a logarithm, relative to the largest that is added
PIVOTS = 30  # of the search for each point, and for ten more


@dataclass(frozen=True)
class Couplings:
    """M[rows] <= e^cost M[cols]."""

    rows: Indices
    cols: Indices
    cost: Array


@dataclass(frozen=True)
class ProgramBound:
    """Log-odds that no M exceeds, ln M of the solver's answer (a hint for an attack, no more), and what proves them.

    With odds = e^bound and the flow y on the edges, for every node k but for rounding:
    inside[k] - odds outside[k] + sum of e^cost y (edges with column k) - sum of y (edges with row k) <= 0.
    """

    bound: float
    log_m: Array
    flow: Array | None = None


def best_odds(inside: Array, outside: Array, edges: Couplings) -> ProgramBound:
    """Return log-odds of inside to outside that no likelihood exceeds; infinite where nothing is proven."""
    # A likelihood e^-way near the best one, so that nothing in the program is tiny: the distance from the goal.
    rows, cols, size = edges.rows, edges.cols, inside.size
    way = np.minimum(_paths(edges.cost, (rows, cols), size, np.flatnonzero(inside > 0)), FLOOR)
    log_in, log_out = (
        float(np.log(np.maximum(part @ np.exp(-way), SMALLEST))) for part in (inside, outside)
    )
    a, o = inside * np.exp(-way - log_in), outside * np.exp(-way - log_out)
    ratio = np.exp(np.minimum(way[cols] - way[rows] - edges.cost, 0.0))
    log_m = -way
    many = size > SIMPLEX_UP_TO
    for method in METHODS[:: -1 if many else 1]:
        # Of many nodes no step away from the goal needs to climb, and a missing edge only loosens.
        kept = np.flatnonzero((way[rows] <= way[cols]) | (not many))
        some, prices = Couplings(rows[kept], cols[kept], edges.cost[kept]), np.zeros(rows.size)
        found = solve_edges(o, a, some, ratio[kept], method)
        if found is None:
            continue
        m, prices[kept] = found
        log_m = np.log(np.maximum(m, SMALLEST)) - way
        least = _repair(a, o, edges, ratio, prices, log_m)
        # Masses too far apart for numbers are not seen by the check.
        if least > 0 and not np.any((inside > 0) & (a == 0)):
            flow = np.exp(log_in + way[rows]) * ratio * prices / least
            bound = float(log_in - log_out - np.log(least) + ROUNDING)
            return ProgramBound(bound, log_m, flow)
    return ProgramBound(np.inf, log_m)


def _paths(
    cost: Array, ends: tuple[Indices, Indices], size: int, start: Any, **options: bool
) -> Any:
    """The shortest directed paths from the nearest of some nodes, one end of each edge to the other."""
    from scipy.sparse import csr_array  # takes longer to import than most questions to answer
    from scipy.sparse.csgraph import dijkstra

    graph = csr_array((np.maximum(cost, SMALLEST), ends), shape=(size, size))
    return dijkstra(graph, indices=start, **(options or {"min_only": True}))


def _repair(
    a: Array, o: Array, edges: Couplings, ratio: Array, prices: Array, log_m: Array
) -> float:
    """Mend the prices; return a mu with outside·m >= mu inside·m for every feasible m, which they prove.

    Nodes are visited from the least likely one upwards. A node that cannot bear what flows out of it sends less, so
    that what is missing moves towards the goal, by ratios of at most 1. What is missing at a node of the goal is
    fetched from the heaviest one, along the shortest path between the two, for the farthest ones first.
    """
    rows, cols, size, top = edges.rows, edges.cols, a.size, int(np.argmax(a))
    prices[log_m[rows] <= log_m[cols]] = 0.0
    net = np.bincount(rows, ratio * prices, size) - np.bincount(cols, prices, size)
    level = float((o + net)[top] / a[top])
    have = o - level * a
    ends = np.cumsum(np.bincount(cols, minlength=size))
    leaving = np.split(np.argsort(cols, kind="stable"), ends)
    for node in np.argsort(log_m, kind="stable"):
        flows = leaving[node]
        wanted = float(np.sum(prices[flows]))
        if wanted > 0:
            prices[flows] *= min(1.0, max(float(have[node]), 0.0) / wanted)
            have[node] -= float(np.sum(prices[flows]))
            np.add.at(have, rows[flows], ratio[flows] * prices[flows])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        path, before = _paths(
            STEP - np.log(ratio), (cols, rows), size, top, return_predecessors=True
        )
        numbers = {ends: k for k, ends in enumerate(zip(cols, rows, strict=True))}
        for node in np.argsort(-path, kind="stable"):
            if have[node] < 0 and 0 < path[node] < np.inf:
                edge = numbers[before[node], node]
                fetched = -have[node] / ratio[edge]
                prices[edge] += fetched
                have[before[node]] -= fetched
                have[node] = 0.0
        short = ~(have >= 0)  # also where too much would have to be moved for numbers
        least = float(np.min(have[short] / np.maximum(a[short], SMALLEST), initial=0.0))
    return (level + least) * (1 - ROUNDING)


def solve_edges(
    cost: Array, fixed: Array, edges: Couplings, ratio: Array, method: str
) -> tuple[Array, Array] | None:
    """Minimise cost·m with fixed·m = 1 and ratio m[row] <= m[col]; return (m, prices >= 0), or None."""
    from scipy.optimize import linprog  # takes longer to import than most questions to answer
    from scipy.sparse import csr_array

    size, count = cost.size, edges.rows.size
    ends = np.tile(np.arange(count), 2), np.append(edges.rows, edges.cols)
    matrix = csr_array((np.append(ratio, -np.ones(count)), ends), shape=(count, size))
    sides = matrix, np.zeros(count), fixed[None, :], [1.0]
    found: Any = linprog(cost, *sides, method=method, options=TIGHT)
    if found.x is None:
        return None
    return found.x, np.maximum(-found.ineqlin.marginals, 0.0)


def largest_gain(log_a: Array, log_c: Array, distance: Array) -> tuple[float, Array]:
    """What no ln Σ aL / Σ cL exceeds, and ln L on the rest's points, from which the goal's follow."""
    finite = np.isfinite(distance)
    if not np.all(np.any(finite, axis=1)):  # a goal that nothing outside limits
        return np.inf, np.zeros(len(log_c))
    furthest = float(np.max(distance[finite]))
    distance = np.where(finite, distance, APART + 4 * furthest)
    m, n = distance.shape
    edges, behind, height = _tent(log_a, log_c, distance)
    side = np.repeat([1.0, -1.0], [m, n])
    flow = log_flow = np.zeros(len(edges))
    for _ in range(PIVOTS * (10 + m + n)):
        shares = log_a + height[:m], log_c + height[m:]
        weight = np.concatenate([share - log_sum(share) for share in shares])
        behind = behind - behind[:, [int(np.argmax(weight))]]
        largest = np.max(np.where(behind != 0, weight, -np.inf), axis=1, keepdims=True)
        parts = behind * side * np.exp(np.minimum(weight - largest, 0.0))
        flow = np.sum(parts, axis=1)
        flow[np.abs(flow) <= CANCELLED * (2 + np.count_nonzero(parts, axis=1))] = 0.0
        with np.errstate(divide="ignore"):
            log_flow = largest[:, 0] + np.log(np.abs(flow))
        negative = np.flatnonzero(flow < 0)
        if not negative.size:
            break
        out = int(negative[np.argmax(log_flow[negative])])
        lifted = behind[out] != behind[out, edges[out, 0]]
        crossing = lifted[:m, None] & ~lifted[m:]
        room = np.where(crossing, distance + height[m:] - height[:m, None], np.inf)
        i, j = np.unravel_index(int(np.argmin(room)), room.shape)
        height[lifted] += max(float(room[i, j]), 0.0)
        # Exchange of one edge for another: one step of Gauss and Jordan.
        entering = behind[:, i] - behind[:, m + j]
        row = behind[out] / entering[out]
        entering[out] -= 1
        behind = behind - np.outer(entering, row)
        edges[out] = i, j
    plan = np.full(distance.shape, -np.inf)
    plan[edges[:, 0], edges[:, 1]] = np.where(flow > 0, log_flow - height[edges[:, 0]], -np.inf)
    heights = height[m:] - float(np.max(height))
    idle = np.flatnonzero(np.max(plan, axis=1) == -np.inf)
    plan[idle, np.argmin(distance[idle] + heights, axis=1)] = 0.0
    load = plan + (log_a - log_sum(plan))[:, None] + distance
    sizes = furthest, float(np.max(np.abs(log_a))), float(np.max(np.abs(log_c)))
    return float(np.max(log_sum(load.T) - log_c)) + OF_LOGS * (4 + sum(sizes)), heights


def _tent(log_a: Array, log_c: Array, distance: Array) -> tuple[Indices, Array, Array]:
    """The best likelihood that falls from one point of the goal, raised at the goal's other points as far as it may be.

    Its tree as edges (goal, rest); which points lie behind each edge, seen from the peak (1 where the goal's end is
    behind it, −1 where the rest's is); and ln L.
    """
    m, n = distance.shape
    peak = int(np.argmax(log_a - log_sum(log_c - distance)))
    room = distance - distance[peak]
    others, rests = np.delete(np.arange(m), peak), np.arange(n)
    limits = np.argmin(room, axis=1)[others]
    edges = np.stack([np.append(np.full(n, peak), others), np.append(rests, limits)], axis=1)
    behind = np.zeros((m + n - 1, m + n))
    behind[rests, m + rests] = behind[limits, others] = -1.0
    behind[n + np.arange(m - 1), others] = 1.0
    return edges, behind, np.append(np.min(room, axis=1), -distance[peak])
