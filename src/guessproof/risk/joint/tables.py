"""Finitely many combinations of values, dependent or not: a linear program over them.

Up to a few hundred combinations the answer is exact. Large samples are gathered into groups around a centre c: L is
within e^{±ε·d(x, c)} of L(c), so goal masses times E[e^{+εd}] against others times E[e^{−εd}] bound the odds.
"""

from __future__ import annotations

import numpy as np

from guessproof.errors import GoalError, MetricError
from guessproof.risk.combinations import Combinations, axis_labels, count_combinations
from guessproof.risk.finite.linear import best_odds
from guessproof.risk.finite.worlds import GoalClasses, near_pairs
from guessproof.risk.joint.axes import Index
from guessproof.risk.joint.joint_attack import JointAttack, Pair, Part
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Conditional, Goal

_SPARSE = 900  # combinations up to which each is a point of its own
_MOST = 200_000
_FAR = 600.0  # beyond this the spread within a group tells nothing of the group


def is_finite(joint_attack: JointAttack, goal: Goal) -> bool:
    """Whether all attributes are finite, with few enough combinations."""
    return count_combinations(joint_attack.members(goal)) <= _MOST


def finite_part(joint_attack: JointAttack, goal: Goal) -> Part:
    """The prior and the gains of a goal about finite attributes."""
    table, norm = Combinations.of(joint_attack.members(goal)), joint_attack.norm
    if isinstance(goal, Conditional):
        table = table.where(table.correct(goal.region, joint_attack.truth), goal.region)
        goal = goal.goal
    marks = table.correct(goal, joint_attack.truth)
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log([marks @ table.mass, (1 - marks) @ table.mass]).tolist()
    everyone = np.arange(table.size)
    if table.size <= _SPARSE:
        distance = table.distances(norm, everyone[:, None], everyone)
        return Part(log_p, log_q, GoalClasses.of(table.mass, distance, marks).gain)
    if not all(a.distance.keeps_triangle for a in table.attributes):
        remedy = "give the lengths of the shortest ways"
        raise MetricError("metric", "a table", "a detour is shorter than a direct way", remedy)
    centre, group = _groups(table, marks)
    gap = table.distances(norm, everyone, centre[group])
    if not np.all(np.isfinite(gap)):
        problem = "so many combinations need finite distances"
        raise GoalError("distance", np.inf, problem, "give fewer combinations")
    apart = table.distances(norm, centre[:, None], centre)
    most = joint_attack.diameter(goal)

    def gain(k: float) -> Pair:
        """(attack, bound) by groups; of falls as the rise of all that is not the goal."""
        sign, epsilon, right = (1, k, marks) if k >= 0 else (-1, -k, 1 - marks)
        bound = epsilon * most
        if epsilon * float(np.max(gap)) > _FAR or not epsilon:
            return 0.0, sign * bound
        up, down = (np.bincount(group, table.mass * np.exp(s * epsilon * gap)) for s in (1, -1))
        inside, outside = up * right[centre], down * (1 - right[centre])
        solved = best_odds(inside, outside, near_pairs(epsilon * apart))
        heights = np.min(epsilon * apart + solved.log_m, axis=1)
        log_l = np.concatenate(
            [
                np.max(heights - epsilon * table.distances(norm, part[:, None], centre), axis=1)
                for part in np.array_split(everyone, 64)
            ]
        )
        prior = sign * (log_p - log_q)
        bound = min(solved.bound - prior, bound)
        reached = min(max(_odds(table.mass, right, log_l) - prior - 1e-13, 0.0), bound)
        return sign * reached, sign * bound

    return Part(log_p, log_q, gain)


def _odds(mass: Array, marks: Array, log_l: Array) -> float:
    scaled = mass * np.exp(log_l - np.max(log_l))
    with np.errstate(divide="ignore"):
        return float(np.log(marks @ scaled) - np.log((1 - marks) @ scaled))


def _groups(table: Combinations, marks: Array) -> tuple[Index, Index]:
    """Centres of combinations that share the goal and nearly share all numbers; and the group of each."""
    bins = max(2, int((_SPARSE / 1.5) ** (1 / len(table.attributes))))
    keys: list[Array] = [marks]
    for attribute, place in zip(table.attributes, table.places, strict=True):
        prior = attribute.prior
        assert isinstance(prior, Finite)
        if prior.is_line and len(prior.values) > bins:
            x = axis_labels(prior)[place]
            place = np.minimum(bins * (x - x.min()) // (np.ptp(x) or 1.0), bins - 1)
        keys.append(place)
    _, group = np.unique(np.array(keys), axis=1, return_inverse=True)
    group = group.ravel()
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    starts = np.append(0, ends[:-1])
    return order[(starts + ends) // 2], group
