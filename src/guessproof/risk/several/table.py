"""Finitely many combinations of values, dependent or not: a linear program over them.

Up to a few hundred combinations every pair is a constraint and the answer is exact. Beyond that only near pairs are,
which leaves the bound proven, and the attack is repaired with all pairs. Large samples are gathered into groups around
a centre c: L is within e^{±ε·d(x, c)} of L(c), so goal masses times E[e^{+εd}] against others times E[e^{−εd}] bound
the odds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from guessproof.errors import GoalError, MetricError
from guessproof.risk.finite import shortest_paths, signed_gain
from guessproof.risk.several.program import Edges, best_odds
from guessproof.risk.several.scene import Pair, Part, Scene, axis_labels
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Compound, Goal, Near, Or, combine
from guessproof.world.joint import JointTable

_DENSE = 260  # combinations up to which every pair is a constraint
_SPARSE = 900  # combinations up to which each is a point of its own
_NEIGHBOURS = 20
_MOST = 200_000
_FAR = 600.0  # beyond this the spread within a group tells nothing of the group


@dataclass(frozen=True)
class Table:
    """Combinations of values: per attribute the position of each combination's value, and the masses."""

    attributes: tuple[Attribute, ...]
    places: tuple[Any, ...]
    mass: Array


def is_table(scene: Scene, goal: Goal) -> bool:
    """Whether all attributes are finite, with few enough combinations."""
    members = scene.members(goal)
    if not all(isinstance(a.prior, Finite) for a in members):
        return False
    sizes: dict[object, int] = {}
    for a in members:
        joint = joint_of(a)
        assert isinstance(a.prior, Finite)
        sizes[a.name if joint is None else joint.names] = len(a.prior.values if joint is None else joint.rows)  # pyright: ignore[reportAttributeAccessIssue]
    return float(np.prod([float(s) for s in sizes.values()])) <= _MOST


def table_of(scene: Scene, goal: Goal) -> Table:
    """All combinations that can occur; attributes of a joint prior that the goal does not name are summed out."""
    members = scene.members(goal)
    groups: list[tuple[list[int], list[tuple[tuple[int, ...], float]]]] = []
    done: set[object] = set()
    for i, a in enumerate(members):
        joint, prior = joint_of(a), a.prior
        assert isinstance(prior, Finite)
        if joint is None:
            groups.append(([i], [((j,), w) for j, w in enumerate(prior.weights) if w > 0]))
        elif joint.names not in done:
            done.add(joint.names)
            assert isinstance(joint, JointTable)
            own = [j for j, b in enumerate(members) if joint_of(b) is not None and b.name in joint.names]
            rows: dict[tuple[int, ...], float] = {}
            for row, weight in zip(joint.rows, joint.weights, strict=True):
                key = tuple(members[j].prior.index(row[joint.axis(members[j].name)]) for j in own) if weight > 0 else ()  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess]
                if weight > 0:
                    rows[key] = rows.get(key, 0.0) + weight
            groups.append((own, list(rows.items())))
    combos = list(product(*(rows for _, rows in groups)))
    places = np.zeros((len(members), len(combos)), dtype=np.int64)
    for c, combo in enumerate(combos):
        for (own, _), (key, _) in zip(groups, combo, strict=True):
            places[own, c] = key
    mass = np.array([float(np.prod([w for _, w in combo])) for combo in combos])
    return Table(members, tuple(places), mass / mass.sum())


def chosen(table: Table, goal: Goal, scene: Scene) -> Array:
    """1 for each combination that meets the goal."""
    if isinstance(goal, Compound):
        parts = [chosen(table, part, scene) for part in goal.parts]
        return np.min(parts, axis=0) if isinstance(goal, And) else (
            np.max(parts, axis=0) if isinstance(goal, Or) else 1 - parts[0]
        )  # fmt: skip
    names = [a.name for a in table.attributes]
    at = [names.index(a.name) for a in goal.attributes]
    if isinstance(goal, Near):
        values = [table.attributes[i].prior.points[table.places[i]] for i in at]  # pyright: ignore[reportAttributeAccessIssue]
        return goal.holds(values, [float(scene.truth[names[i]]) for i in at]).astype(np.float64)
    prior = table.attributes[at[0]].prior
    assert isinstance(prior, Finite)
    return goal.chosen(prior, scene.at(goal))[table.places[at[0]]]


def table_part(scene: Scene, goal: Goal) -> Part:
    """The prior and the gains of a goal about finite attributes."""
    table = table_of(scene, goal)
    marks = chosen(table, goal, scene)
    with np.errstate(divide="ignore"):
        log_p, log_q = float(np.log(marks @ table.mass)), float(np.log((1 - marks) @ table.mass))
    direct = all(a.distance.keeps_triangle for a in table.attributes)
    if table.mass.size > _SPARSE:
        if not direct:
            raise MetricError(
                "metric", "a table", "a detour is shorter than a direct way", "give the lengths of the shortest ways"
            )
        return Part(log_p, log_q, lambda k: _grouped(scene, table, marks, k))
    distance = between(scene, table, np.arange(table.mass.size), np.arange(table.mass.size))
    distance = distance if direct else shortest_paths(distance)
    if table.mass.size <= _DENSE:
        return Part(log_p, log_q, lambda k: signed_gain(table.mass, marks, distance, k))
    return Part(log_p, log_q, lambda k: _sparse(table.mass, marks, distance, k))


def between(scene: Scene, table: Table, first: Any, second: Any) -> Array:
    """The distances between two lists of combinations."""
    parts: list[Array] = []
    for attribute, place in zip(table.attributes, table.places, strict=True):
        assert isinstance(attribute.prior, Finite)
        labels = axis_labels(attribute.prior)
        if len(labels) <= 2000:
            whole = attribute.distance.distance(labels[:, None], labels[None, :])
            parts.append(whole[place[first][:, None], place[second][None, :]])
        else:
            parts.append(attribute.distance.distance(labels[place[first]][:, None], labels[place[second]][None, :]))
    return combine(scene.norm, parts)


def _pairwise(scene: Scene, table: Table, partner: Any) -> Array:
    """The distance from each combination to its own partner."""
    parts: list[Array] = []
    for attribute, place in zip(table.attributes, table.places, strict=True):
        assert isinstance(attribute.prior, Finite)
        labels = axis_labels(attribute.prior)
        parts.append(attribute.distance.distance(labels[place], labels[place[partner]]))
    return combine(scene.norm, parts)


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


def _grouped(scene: Scene, table: Table, marks: Array, k: float) -> Pair:
    """(attack, bound) for very many combinations, in groups."""
    if k == 0:
        return 0.0, 0.0
    if k < 0:
        attack, bound = _grouped(scene, table, 1 - marks, -k)
        return -attack, -bound
    group, centre = _groups(table, marks)
    gap = _pairwise(scene, table, centre[group])
    if not np.all(np.isfinite(gap)):
        raise GoalError("distance", np.inf, "so many combinations need finite distances", "give fewer combinations")
    most = k * scene.diameter(_whole(table))
    if k * float(np.max(gap)) > _FAR:
        return 0.0, most
    goal = marks[centre]
    up, down = (np.bincount(group, table.mass * np.exp(s * k * gap)) for s in (+1, -1))
    distance = between(scene, table, centre, centre)
    solved = best_odds(np.where(goal > 0, up, 0.0), np.where(goal > 0, 0.0, down), _near_pairs(distance, k))
    prior = float(np.log(marks @ table.mass) - np.log((1 - marks) @ table.mass))
    heights = np.min(k * distance + solved.log_m[None, :], axis=1)
    everyone = np.arange(table.mass.size)
    likelihood = np.concatenate(
        [np.max(heights - k * between(scene, table, part, centre), axis=1) for part in np.array_split(everyone, 64)]
    )
    bound = min(solved.bound - prior, most)
    return min(max(_odds(table.mass, marks, likelihood) - prior - 1e-13, 0.0), bound), bound


def _whole(table: Table) -> Goal:
    from guessproof.world.goals import exactly

    return And(tuple(exactly(a) for a in table.attributes))


def _groups(table: Table, marks: Array) -> tuple[Any, Any]:
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
