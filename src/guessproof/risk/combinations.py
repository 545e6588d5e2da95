"""Finitely many combinations of values: the one table behind goals about several finite attributes.

`world.finite.Finite` is what is believed of one attribute; a table of combinations is what is believed of several,
dependent or not. With a distance between any two combinations it is a finite world (`risk.finite`), which answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.errors import KnowledgeError
from guessproof.risk.truths import true_value
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Compound, Goal, Norm, Or, Together, combine
from guessproof.world.joint import JointTable

_WHOLE_TABLE = 2000  # values of an attribute up to which distances between all of them are kept


@dataclass(frozen=True)
class Combinations:
    """Every combination that can occur: per attribute the position of its value in the prior, and the masses."""

    attributes: tuple[Attribute, ...]
    places: tuple[NDArray[np.int64], ...]
    mass: Array

    @classmethod
    def of(cls, attributes: Sequence[Attribute]) -> Combinations:
        """All combinations of finite attributes; what a joint prior says of any others is summed out."""
        groups = list(_groups(attributes))
        found = list(product(*(rows for _, rows in groups)))
        places = np.zeros((len(attributes), len(found)), dtype=np.int64)
        for column, combination in enumerate(found):
            for (own, _), (key, _) in zip(groups, combination, strict=True):
                places[own, column] = key
        mass = np.array(
            [math.prod(weight for _, weight in combination) for combination in found]
        )
        return cls(tuple(attributes), tuple(places), mass / mass.sum())

    def where(self, kept: Array, known: Goal) -> Combinations:
        """Those that an attacker does not rule out."""
        keep = kept > 0.5
        total = float(self.mass @ keep)
        if not total > 0:
            raise KnowledgeError(
                "knows", known, "the prior gives this no probability", "widen it"
            )
        return Combinations(
            self.attributes,
            tuple(place[keep] for place in self.places),
            self.mass[keep] / total,
        )

    @property
    def size(self) -> int:
        """How many there are."""
        return self.mass.size

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Each combination as a table of attribute → value."""
        columns = [
            [_finite(a).values[i] for i in place]
            for a, place in zip(self.attributes, self.places, strict=True)
        ]
        names = [a.name for a in self.attributes]
        return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]

    def correct(self, goal: Goal, truth: Mapping[str, Any]) -> Array:
        """1 for each combination that meets the goal where this is true, 0 for the others."""
        if isinstance(goal, Compound):
            parts = [self.correct(part, truth) for part in goal.parts]
            if isinstance(goal, And):
                return np.min(parts, axis=0)
            return np.max(parts, axis=0) if isinstance(goal, Or) else 1 - parts[0]
        names = [a.name for a in self.attributes]
        at = [names.index(a.name) for a in goal.attributes]
        if isinstance(goal, Together):
            values = [_finite(self.attributes[i]).points[self.places[i]] for i in at]
            t = [float(truth[names[i]]) for i in at] if goal.depends_on_truth else None
            return goal.holds(values, t).astype(np.float64)
        prior = _finite(self.attributes[at[0]])
        return goal.chosen(prior, true_value(goal, truth))[self.places[at[0]]]

    def distances(self, norm: Norm, first: Any, second: Any) -> Array:
        """The attributes' own distances, joined, between each of some combinations and each of others."""
        parts: list[Array] = []
        for attribute, place in zip(self.attributes, self.places, strict=True):
            labels = axis_labels(_finite(attribute))
            if len(labels) <= _WHOLE_TABLE:
                whole = attribute.distance.distance(labels[:, None], labels[None, :])
                parts.append(whole[place[first][:, None], place[second][None, :]])
            else:
                parts.append(
                    attribute.distance.distance(
                        labels[place[first]][:, None], labels[place[second]][None, :]
                    )
                )
        return combine(norm, parts)

    def distances_to(self, norm: Norm, partner: Any) -> Array:
        """The same from each combination to one partner of its own."""
        parts: list[Array] = []
        for attribute, place in zip(self.attributes, self.places, strict=True):
            labels = axis_labels(_finite(attribute))
            parts.append(attribute.distance.distance(labels[place], labels[place[partner]]))
        return combine(norm, parts)


@dataclass(frozen=True)
class OpenTruths:
    """True combinations, one for each set of correct guesses that is neither empty nor certain."""

    truths: list[dict[str, Any]]
    correct: Array  # one row per truth: which combinations are correct guesses
    certain: dict[str, Any] | None  # a truth at which every combination is one


def open_truths(
    table: Combinations, goal: Goal, truths: Iterable[dict[str, Any]]
) -> OpenTruths:
    """What sets of correct guesses the goal can have, over some true combinations."""
    found: dict[bytes, tuple[dict[str, Any], Array]] = {}
    certain: dict[str, Any] | None = None
    for truth in truths:
        marks = table.correct(goal, truth)
        if (1 - marks) @ table.mass <= 0:
            certain = certain or truth
        elif marks @ table.mass > 0:
            found.setdefault(marks.tobytes(), (truth, marks))
    return OpenTruths(
        [t for t, _ in found.values()], np.asarray([m for _, m in found.values()]), certain
    )


def count_combinations(attributes: Iterable[Attribute]) -> float:
    """At most how many combinations there are; infinitely many where an attribute has a density."""
    sizes: dict[object, int] = {}
    for attribute in attributes:
        joint, prior = joint_of(attribute), attribute.prior
        if not isinstance(prior, Finite):
            return math.inf
        if joint is None:
            sizes[attribute.name] = len(prior.values)
        else:
            assert isinstance(joint, JointTable)
            sizes[joint.names] = len(joint.rows)
    return math.prod(map(float, sizes.values()))


def axis_labels(prior: Finite) -> Any:
    """The values of a finite prior as numbers where they are, as objects otherwise."""
    if prior.is_line:
        return np.asarray(prior.points)
    labels = np.empty(len(prior.values), dtype=object)
    labels[:] = prior.values
    return labels


_Group = tuple[list[int], list[tuple[tuple[int, ...], float]]]


def _groups(attributes: Sequence[Attribute]) -> Iterable[_Group]:
    """Attributes that depend on each other, with the positions of their values that occur together and how often."""
    done: set[object] = set()
    for i, attribute in enumerate(attributes):
        joint = joint_of(attribute)
        if joint is None:
            yield [i], [((j,), w) for j, w in enumerate(_finite(attribute).weights) if w > 0]
        elif joint.names not in done:
            done.add(joint.names)
            assert isinstance(joint, JointTable)
            yield _joint_group(attributes, joint)


def _joint_group(attributes: Sequence[Attribute], joint: JointTable) -> _Group:
    own = [
        j for j, a in enumerate(attributes) if joint_of(a) is not None and a.name in joint.names
    ]
    rows: dict[tuple[int, ...], float] = {}
    for row, weight in zip(joint.rows, joint.weights, strict=True):
        if weight > 0:
            key = tuple(
                _finite(attributes[j]).index(row[joint.axis(attributes[j].name)]) for j in own
            )
            rows[key] = rows.get(key, 0.0) + weight
    return own, list(rows.items())


def _finite(attribute: Attribute) -> Finite:
    assert isinstance(attribute.prior, Finite)
    return attribute.prior
