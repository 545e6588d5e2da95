"""The best likelihood of a finite world in logarithms, however far apart its points are.

Mass `a` of the goal and mass `c` of the rest lie on finitely many points, and L_i ≤ e^{D_ij} L_j for every point i of
the goal and j of the rest. Where the odds Σ aL / Σ cL are largest, as many of these constraints are tight as it takes
to fix L: a spanning tree. In units of L a plan that carries all of the goal to the rest is an ordinary flow on that
tree: on each edge, what the points behind it hold of the goal less what they hold of the rest. If no flow is negative,
the plan proves that no odds are larger. If one is, the part of the tree behind it holds more goal than rest and is
lifted until another constraint is tight. This is the simplex method; it needs no exponential of a distance.

What is returned does not rest on the method's success: any plan without negative flows is a proof, recomputed here from
the masses and distances alone, and the caller finds out what the likelihood reaches.
"""

from __future__ import annotations

import numpy as np

from guessproof.world.checks import Array, Indices
from guessproof.world.line import log_sum

CANCELLED = 1e-15  # what is left of a difference below this share of its terms is rounding
APART = 2e4  # stands for an infinite distance: e^{−APART} is nothing beside any mass
ROUNDING = 4e-15  # of a logarithm, relative to the largest that is added
STEPS = 300, 30  # of the search: at least so many, and so many for each point


def largest_gain(log_a: Array, log_c: Array, distance: Array) -> tuple[float, Array]:
    """What no ln Σ aL / Σ cL exceeds, and ln L on the rest's points, from which the goal's follow."""
    if np.any(np.all(np.isinf(distance), axis=1)):  # a goal that nothing outside limits
        return np.inf, np.zeros(len(log_c))
    furthest = float(np.max(distance, initial=0.0, where=np.isfinite(distance)))
    apart = np.where(np.isfinite(distance), distance, APART + 4 * furthest)
    (m, n), still = distance.shape, 0
    edges, behind, height = _best_tent(log_a, log_c, apart)
    side = np.repeat([1.0, -1.0], [m, n])
    steps = STEPS[0] + STEPS[1] * (m + n)
    while True:
        shares = log_a + height[:m], log_c + height[m:]
        weight = np.concatenate([share - log_sum(share) for share in shares])
        behind = behind - behind[:, [int(np.argmax(weight))]]
        largest = np.max(np.where(behind != 0, weight, -np.inf), axis=1, keepdims=True)
        parts = behind * side * np.exp(np.minimum(weight - largest, 0.0))
        flow, log_flow = np.sum(parts, axis=1), largest[:, 0]
        flow[np.abs(flow) <= CANCELLED * (2 + np.count_nonzero(parts, axis=1))] = 0.0
        with np.errstate(divide="ignore"):
            log_flow = log_flow + np.log(np.abs(flow))
        negative = np.flatnonzero(flow < 0)
        steps -= 1
        if steps < 0 or not negative.size:
            break
        # After many steps without progress the rule that cannot go round in circles (Bland).
        order = -edges[negative] @ [n, 1] if still > m + n else log_flow[negative]
        out = int(negative[np.argmax(order)])
        lifted = behind[out] != behind[out, edges[out, 0]]
        crossing = lifted[:m, None] & ~lifted[m:]
        room = np.where(crossing, apart + height[m:] - height[:m, None], np.inf)
        i, j = np.unravel_index(int(np.argmin(room)), room.shape)
        still = 0 if room[i, j] > 0 else still + 1
        height[lifted] += max(float(room[i, j]), 0.0)
        # Exchange of one edge for another: one step of Gauss and Jordan.
        entering = behind[:, i] - behind[:, m + j]
        row = behind[out] / entering[out]
        entering[out] -= 1
        behind = behind - np.outer(entering, row)
        edges[out] = i, j
    plan = np.full(distance.shape, -np.inf)
    plan[edges[:, 0], edges[:, 1]] = np.where(flow > 0, log_flow - height[edges[:, 0]], -np.inf)
    plan[np.isinf(distance)] = -np.inf
    heights = height[m:] - float(np.max(height))
    idle = np.flatnonzero(np.max(plan, axis=1) == -np.inf)
    plan[idle, np.argmin(distance[idle] + heights, axis=1)] = 0.0
    with np.errstate(invalid="ignore"):
        carried = plan + (log_a - log_sum(plan))[:, None]
        load = np.where(carried > -np.inf, carried + distance, -np.inf)
    sizes = furthest, float(np.max(np.abs(log_a))), float(np.max(np.abs(log_c)))
    return float(np.max(log_sum(load.T) - log_c)) + ROUNDING * (4 + sum(sizes)), heights


def _best_tent(log_a: Array, log_c: Array, distance: Array) -> tuple[Indices, Array, Array]:
    """The likelihood that falls from one point of the goal, raised at the goal's other points as far as it may be.

    Its tree as edges (goal, rest); which points lie behind each edge, seen from the peak (1 where the goal's end is
    behind it, −1 where the rest's is); and ln L.
    """
    m, n = distance.shape
    raised = np.min(distance[:, None, :] - distance[None, :, :], axis=2)  # [i, peak]
    odds = log_sum((log_a[:, None] + raised).T) - log_sum(log_c[None, :] - distance)
    peak = int(np.argmax(odds))
    others, rests = np.delete(np.arange(m), peak), np.arange(n)
    limits = np.argmin(distance - distance[peak], axis=1)[others]
    edges = np.stack([np.append(np.full(n, peak), others), np.append(rests, limits)], axis=1)
    behind = np.zeros((m + n - 1, m + n))
    behind[rests, m + rests] = behind[limits, others] = -1.0
    behind[n + np.arange(m - 1), others] = 1.0
    return edges, behind, np.append(raised[:, peak], -distance[peak])
