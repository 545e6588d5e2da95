"""The best likelihood of a finite world in logarithms, however far apart its points are.

Mass `a` of the goal and mass `c` of the rest lie on finitely many points, and L_i ≤ e^{D_ij} L_j for every point i of
the goal and j of the rest. Where the odds Σ aL / Σ cL are largest, as many of these constraints are tight as it takes
to fix L: a spanning tree. In units of L a plan that carries all of the goal to the rest is an ordinary flow on that
tree, so it follows from the leaves inwards, by subtraction. If no flow is negative, the plan proves that no odds are
larger. If one is, the part of the tree behind it holds more goal than rest and is lifted until another constraint is
tight. This is the simplex method; it needs no exponential of a distance.

What is returned does not rest on the method's success: any plan without negative flows is a proof, recomputed here from
the masses and distances alone, and the caller finds out what the likelihood reaches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from guessproof.world.checks import Array
from guessproof.world.line import log_sum

CANCELLED = 1e-15  # what is left of a difference below this share of its terms is rounding
APART = 2e4  # stands for an infinite distance: e^{−APART} is nothing beside any mass
ROUNDING = 4e-15  # of a logarithm, relative to the largest that is added
STEPS = 300, 30  # of the search: at least so many, and so many for each point
Flow = tuple[int, float]  # sign and logarithm


@dataclass
class Tree:
    """A spanning tree of tight constraints between the goal's points (0 … m−1) and the rest's (m …)."""

    log_mass: tuple[Array, Array]
    distance: Array
    height: Array  # ln L
    near: list[set[int]]

    def walk(self, start: int, without: int = -1) -> tuple[list[int], list[int]]:
        """The nodes reached from `start`, in order, and the node that each was reached from."""
        parent = [-1] * len(self.near)
        order = [start]
        for node in order:
            for other in self.near[node]:
                if other != parent[node] and not (node == start and other == without):
                    parent[other] = node
                    order.append(other)
        return order, parent

    def flows(self) -> dict[tuple[int, int], Flow]:
        """What each edge (goal, rest) carries, in units of L, if all is to be carried and no point overloaded."""
        m = len(self.distance)
        parts = zip(self.log_mass, (self.height[:m], self.height[m:]), strict=True)
        weight = np.concatenate(
            [mass + height - log_sum(mass + height) for mass, height in parts]
        )
        order, parent = self.walk(int(np.argmax(weight)))
        passed: list[list[Flow]] = [[] for _ in order]
        found: dict[tuple[int, int], Flow] = {}
        own = weight.tolist()
        for node in order[:0:-1]:
            flow = _left_over(own[node], passed[node])
            up = parent[node]
            passed[up].append(flow)
            found[(node, up) if node < m else (up, node)] = flow
        return found

    def pivot(self, goal: int, rest: int) -> float:
        """Take an edge out and lift what lies behind it until another constraint is tight; how far it was lifted."""
        m = len(self.distance)
        behind, _ = self.walk(rest, without=goal)
        lifted = np.zeros(len(self.near), dtype=bool)
        lifted[behind] = True
        goals, rests = np.flatnonzero(lifted[:m]), np.flatnonzero(~lifted[m:])
        room = (
            self.distance[np.ix_(goals, rests)]
            + self.height[m + rests]
            - self.height[goals, None]
        )
        i, j = np.unravel_index(int(np.argmin(room)), room.shape)
        least = max(float(room[i, j]), 0.0)
        self.height[lifted] += least
        self.near[goal].discard(rest)
        self.near[rest].discard(goal)
        self.join(int(goals[i]), int(m + rests[j]))
        return least

    def join(self, goal: int, rest: int) -> None:
        """Add an edge."""
        self.near[goal].add(rest)
        self.near[rest].add(goal)


def largest_gain(log_a: Array, log_c: Array, distance: Array) -> tuple[float, Array]:
    """What no ln Σ aL / Σ cL exceeds, and ln L on the rest's points, from which the goal's follow."""
    if np.any(np.all(np.isinf(distance), axis=1)):  # a goal that nothing outside limits
        return np.inf, np.zeros(len(log_c))
    furthest = float(np.max(distance, initial=0.0, where=np.isfinite(distance)))
    apart = np.where(np.isfinite(distance), distance, APART + 4 * furthest)
    tree = _best_tent(log_a, log_c, apart)
    m, still, size = len(log_a), 0, len(tree.near)
    for _ in range(STEPS[0] + STEPS[1] * size):
        negative = [(value[1], edge) for edge, value in tree.flows().items() if value[0] < 0]
        if not negative:
            break
        # After many steps without progress the rule that cannot go round in circles (Bland).
        goal, rest = min(edge for _, edge in negative) if still > size else max(negative)[1]
        still = still + 1 if tree.pivot(goal, rest) == 0 else 0
    plan = np.full(distance.shape, -np.inf)
    for (goal, rest), (sign, flow) in tree.flows().items():
        if sign > 0 and np.isfinite(distance[goal, rest - m]):
            plan[goal, rest - m] = flow - tree.height[goal]
    heights = tree.height[m:] - float(np.max(tree.height))
    idle = np.flatnonzero(np.max(plan, axis=1) == -np.inf)
    plan[idle, np.argmin(distance[idle] + heights, axis=1)] = 0.0
    with np.errstate(invalid="ignore"):
        carried = plan + (log_a - log_sum(plan))[:, None]
        load = np.where(carried > -np.inf, carried + distance, -np.inf)
    noise = ROUNDING * (
        4 + furthest + float(np.max(np.abs(log_a))) + float(np.max(np.abs(log_c)))
    )
    return float(np.max(log_sum(load.T) - log_c)) + noise, heights


def _best_tent(log_a: Array, log_c: Array, distance: Array) -> Tree:
    """The likelihood that falls from one point of the goal, raised at the goal's other points as far as it may be."""
    m, n = distance.shape
    raised = np.min(distance[:, None, :] - distance[None, :, :], axis=2)  # [i, peak]
    odds = log_sum((log_a[:, None] + raised).T) - log_sum(log_c[None, :] - distance)
    peak = int(np.argmax(odds))
    height = np.concatenate([raised[:, peak], -distance[peak]])
    tree = Tree((log_a, log_c), distance, height, [set() for _ in range(m + n)])
    limits = np.argmin(distance - distance[peak], axis=1)
    for j in range(n):
        tree.join(peak, m + j)
    for i in range(m):
        if i != peak:
            tree.join(i, m + int(limits[i]))
    return tree


def _left_over(own: float, passed: list[Flow]) -> Flow:
    """What a node has left for the edge towards the root."""
    if not passed:
        return 1, own
    top = max(own, max(size for _, size in passed))
    rest = math.exp(own - top) - sum(sign * math.exp(size - top) for sign, size in passed)
    if abs(rest) <= CANCELLED * (2 + len(passed)):
        return 0, -math.inf
    return (1 if rest > 0 else -1), top + math.log(abs(rest))
