"""Finitely many combinations of values, dependent or not: a linear program over them.

Up to a few hundred combinations the answer is exact. Large samples are gathered into groups around a centre c: L is
within e^{±ε·d(x, c)} of L(c), so goal masses times E[e^{+εd}] against others times E[e^{−εd}] bound the odds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from guessproof.errors import GoalError, MetricError
from guessproof.risk.combinations import Combinations, count_combinations
from guessproof.risk.finite import GoalClasses
from guessproof.risk.finite.linear import best_odds
from guessproof.risk.finite.worlds import near_pairs
from guessproof.risk.joint.joint_attack import JointAttack, Pair, Part
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Conditional, Goal, Norm

_SPARSE = 900  # combinations up to which each is a point of its own
_MOST = 200_000
_FAR = 600.0  # beyond this the spread within a group tells nothing of the group


def is_finite(joint_attack: JointAttack, goal: Goal) -> bool:
    """Whether all attributes are finite, with few enough combinations."""
    return count_combinations(joint_attack.members(goal)) <= _MOST


def finite_part(joint_attack: JointAttack, goal: Goal) -> Part:
    """The prior and the gains of a goal about finite attributes."""
    table = Combinations.of(joint_attack.members(goal))
    if isinstance(goal, Conditional):
        table, goal = (
            table.where(table.correct(goal.region, joint_attack.truth), goal.region),
            goal.goal,
        )
    marks = table.correct(goal, joint_attack.truth)
    with np.errstate(divide="ignore"):
        log_p, log_q = (
            float(np.log(marks @ table.mass)),
            float(np.log((1 - marks) @ table.mass)),
        )
    direct = all(a.distance.keeps_triangle for a in table.attributes)
    if table.size > _SPARSE:
        if not direct:
            raise MetricError(
                "metric",
                "a table",
                "a detour is shorter than a direct way",
                "give the lengths of the shortest ways",
            )
        diameter = joint_attack.diameter(goal)
        return Part(
            log_p, log_q, lambda k: _grouped(table, joint_attack.norm, diameter, marks, k)
        )
    everyone = np.arange(table.size)
    distance = table.distances(joint_attack.norm, everyone, everyone)
    return Part(log_p, log_q, GoalClasses.of(table.mass, distance, marks).gain)


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
        raise GoalError(
            "distance",
            np.inf,
            "so many combinations need finite distances",
            "give fewer combinations",
        )
    most = k * diameter
    if k * float(np.max(gap)) > _FAR:
        return 0.0, most
    goal = marks[centre]
    up, down = (np.bincount(group, table.mass * np.exp(s * k * gap)) for s in (+1, -1))
    distance = table.distances(norm, centre, centre)
    solved = best_odds(
        np.where(goal > 0, up, 0.0), np.where(goal > 0, 0.0, down), near_pairs(k * distance)
    )
    prior = float(np.log(marks @ table.mass) - np.log((1 - marks) @ table.mass))
    heights = np.min(k * distance + solved.log_m[None, :], axis=1)
    everyone = np.arange(table.size)
    likelihood = np.concatenate(
        [
            np.max(heights - k * table.distances(norm, part, centre), axis=1)
            for part in np.array_split(everyone, 64)
        ]
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
            own = np.minimum(
                (bins * (x - x.min()) / (np.ptp(x) or 1.0)).astype(np.int64), bins - 1
            )
            key = key * bins + own
        else:
            key = key * len(attribute.prior.values) + place
    _, group = np.unique(key, return_inverse=True)
    group = group.ravel()
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group.max() + 1))
    ends = np.append(starts[1:], group.size)
    return group, order[(starts + ends) // 2]
