"""Finitely many combinations of values, dependent or not: a linear program over them.

Up to a few hundred combinations every pair is a constraint and the answer is exact. Beyond that only near pairs are,
which leaves the bound proven, and the attack is repaired with all pairs. Large samples are gathered into groups around
a centre c: L is within e^{±ε·d(x, c)} of L(c), so goal masses times E[e^{+εd}] against others times E[e^{−εd}] bound
the odds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from guessproof.errors import GoalError, MetricError
from guessproof.risk.combinations import Combinations, count_combinations
from guessproof.risk.finite import GoalClasses, shortest_paths
from guessproof.risk.several.joint_attack import JointAttack, Pair, Part
from guessproof.risk.several.program import Edges, best_odds
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Conditional, Goal, Norm

_DENSE = 260  # combinations up to which every pair is a constraint
_SPARSE = 900  # combinations up to which each is a point of its own
_NEIGHBOURS = 20
_MOST = 200_000
_FAR = 600.0  # beyond this the spread within a group tells nothing of the group


def is_finite(joint_attack: JointAttack, goal: Goal) -> bool:
    """Whether all attributes are finite, with few enough combinations."""
    return count_combinations(joint_attack.members(goal)) <= _MOST


def finite_part(joint_attack: JointAttack, goal: Goal) -> Part:
    """The prior and the gains of a goal about finite attributes."""
    table = Combinations.of(joint_attack.members(goal))
    if isinstance(goal, Conditional):
        table, goal = table.where(table.correct(goal.region, joint_attack.truth), goal.region), goal.goal
    marks = table.correct(goal, joint_attack.truth)
    with np.errstate(divide="ignore"):
        log_p, log_q = float(np.log(marks @ table.mass)), float(np.log((1 - marks) @ table.mass))
    direct = all(a.distance.keeps_triangle for a in table.attributes)
    if table.size > _SPARSE:
        if not direct:
            raise MetricError(
                "metric", "a table", "a detour is shorter than a direct way", "give the lengths of the shortest ways"
            )
        diameter = joint_attack.diameter(goal)
        return Part(log_p, log_q, lambda k: _grouped(table, joint_attack.norm, diameter, marks, k))
    everyone = np.arange(table.size)
    distance = table.distances(joint_attack.norm, everyone, everyone)
    if table.size <= _DENSE:
        return Part(log_p, log_q, GoalClasses.of(table.mass, distance, marks).gain)
    distance = distance if direct else shortest_paths(distance)
    return Part(log_p, log_q, lambda k: _sparse(table.mass, marks, distance, k))


def _sparse(mass: Array, marks: Array, distance: Array, k: float) -> Pair:
    if k < 0:
        attack, bound = _sparse(mass, 1 - marks, distance, -k)
        return -attack, -bound
    prior = float(np.log(marks @ mass) - np.log((1 - marks) @ mass))
    edges = _near_pairs(distance, k)
    solved = best_odds(mass * marks, mass * (1 - marks), edges)
    likelihood = np.min(k * distance + solved.log_m[None, :], axis=1)
    attack = _odds(mass, marks, likelihood)
    cap = k * float(np.max(distance))
    bound = min(solved.bound - prior, cap)
    return min(max(attack - prior - 1e-13, 0.0), bound), bound


def _near_pairs(distance: Array, k: float) -> Edges:
    """Each point with its nearest others, and with one point that all are joined to."""
    n = len(distance)
    count = min(_NEIGHBOURS, n - 1)
    near = np.argpartition(distance + np.diag(np.full(n, np.inf)), count - 1, axis=1)[:, :count]
    rows, cols = np.repeat(np.arange(n), count), near.ravel()
    hub = int(np.argmin(np.max(distance, axis=1)))
    others = np.delete(np.arange(n), hub)
    pairs = np.unique(
        np.concatenate(
            [np.stack([rows, cols]), np.stack([cols, rows]), np.stack([others, np.full(n - 1, hub)]),
             np.stack([np.full(n - 1, hub), others])], axis=1,
        ), axis=1,
    )  # fmt: skip
    finite = np.isfinite(distance[pairs[0], pairs[1]])
    first, second = pairs[0][finite], pairs[1][finite]
    return Edges(first, second, k * distance[first, second])


def _odds(mass: Array, marks: Array, likelihood: Array) -> float:
    scaled = mass * np.exp(likelihood - np.max(likelihood))
    with np.errstate(divide="ignore"):
        return float(np.log(marks @ scaled) - np.log((1 - marks) @ scaled))


def _grouped(table: Combinations, norm: Norm, diameter: float, marks: Array, k: float) -> Pair:
    """(attack, bound) for very many combinations, in groups."""
    if k == 0:
        return 0.0, 0.0
    if k < 0:
        attack, bound = _grouped(table, norm, diameter, 1 - marks, -k)
        return -attack, -bound
    group, centre = _groups(table, marks)
    gap = table.distances_to(norm, centre[group])
    if not np.all(np.isfinite(gap)):
        raise GoalError("distance", np.inf, "so many combinations need finite distances", "give fewer combinations")
    most = k * diameter
    if k * float(np.max(gap)) > _FAR:
        return 0.0, most
    goal = marks[centre]
    up, down = (np.bincount(group, table.mass * np.exp(s * k * gap)) for s in (+1, -1))
    distance = table.distances(norm, centre, centre)
    solved = best_odds(np.where(goal > 0, up, 0.0), np.where(goal > 0, 0.0, down), _near_pairs(distance, k))
    prior = float(np.log(marks @ table.mass) - np.log((1 - marks) @ table.mass))
    heights = np.min(k * distance + solved.log_m[None, :], axis=1)
    everyone = np.arange(table.size)
    likelihood = np.concatenate(
        [np.max(heights - k * table.distances(norm, part, centre), axis=1) for part in np.array_split(everyone, 64)]
    )
    bound = min(solved.bound - prior, most)
    return min(max(_odds(table.mass, marks, likelihood) - prior - 1e-13, 0.0), bound), bound


def _groups(table: Combinations, marks: Array) -> tuple[Any, Any]:
    """Combinations that share the goal and nearly share all numbers; the centre is one of them."""
    bins = max(2, int((_SPARSE / 1.5) ** (1 / len(table.attributes))))
    key = marks.astype(np.int64)
    for attribute, place in zip(table.attributes, table.places, strict=True):
        assert isinstance(attribute.prior, Finite)
        if attribute.prior.is_line and len(attribute.prior.values) > bins:
            x = attribute.prior.points[place]
            own = np.minimum((bins * (x - x.min()) / (np.ptp(x) or 1.0)).astype(np.int64), bins - 1)
            key = key * bins + own
        else:
            key = key * len(attribute.prior.values) + place
    _, group = np.unique(key, return_inverse=True)
    group = group.ravel()
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group.max() + 1))
    ends = np.append(starts[1:], group.size)
    return group, order[(starts + ends) // 2]
