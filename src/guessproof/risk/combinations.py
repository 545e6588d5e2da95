"""Finitely many combinations of values: the one table behind goals about several finite attributes, and true values.

`world.finite.Finite` is what is believed of one attribute; a table of combinations is what is believed of several,
dependent or not. With a distance between any two combinations it is a finite world (`risk.finite`), which answers.

Over which true values a worst case ranges: a table of values lists all that people can have. A sample does not: whoever
the release is about may have any value within the declared bounds, or, where none are declared, from the smallest to
the largest of the sample. As the true value t moves along the line, the set of correct guesses changes only where one
of the sample's numbers comes in or drops out, so one t at each of these places and one between any two stand for all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.errors import KnowledgeError, NotCertifiedError, TrueValueError
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import (
    Compound,
    Conditional,
    Exactly,
    Goal,
    Norm,
    Together,
    Within,
    combine,
)
from guessproof.world.joint import JointTable

Row = dict[str, Any]  # of attribute → value

_WHOLE_TABLE = 2000  # values of an attribute up to which distances between all of them are kept
MOST_COMBINATIONS = 20_000  # of true values that are looked at


@dataclass(frozen=True)
class Combinations:
    """Every combination that can occur: per attribute the positions of its values in the prior; and the masses."""

    attributes: tuple[Attribute, ...]
    places: NDArray[np.int64]
    mass: Array

    @classmethod
    def of(cls, attributes: Sequence[Attribute]) -> Combinations:
        """All combinations of finite attributes; what a joint prior says of any others is summed out."""
        groups = list(_groups(attributes))
        which = np.indices([weights.size for _, _, weights in groups]).reshape(len(groups), -1)
        places = np.zeros((len(attributes), which.shape[1]), dtype=np.int64)
        mass = np.ones(which.shape[1])
        for (own, rows, weights), at in zip(groups, which, strict=True):
            places[own] = rows[:, at]
            mass *= weights[at]
        return cls(tuple(attributes), places, mass / mass.sum())

    def where(self, kept: Array, known: Goal) -> Combinations:
        """Those that an attacker does not rule out."""
        keep = kept > 0.5
        total = float(self.mass @ keep)
        if not total > 0:
            raise KnowledgeError(
                "knows", known, "the prior gives this no probability", "widen it"
            )
        return Combinations(self.attributes, self.places[:, keep], self.mass[keep] / total)

    @property
    def size(self) -> int:
        """How many there are."""
        return self.mass.size

    @property
    def rows(self) -> list[Row]:
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
            parts = [self.correct(part, truth) > 0 for part in goal.parts]
            return goal.rule(parts, axis=0).astype(np.float64)
        names = [a.name for a in self.attributes]
        at = [names.index(a.name) for a in goal.attributes]
        if isinstance(goal, Together):
            values = [_finite(self.attributes[i]).points[self.places[i]] for i in at]
            t = [float(truth[names[i]]) for i in at] if goal.depends_on_truth else None
            return goal.holds(values, t).astype(np.float64)
        chosen = goal.chosen(_finite(self.attributes[at[0]]), true_value(goal, truth))
        return chosen[self.places[at[0]]]

    def distances(self, norm: Norm, first: Any, second: Any) -> Array:
        """The attributes' own distances, joined, between combinations; positions are broadcast against each other."""
        parts: list[Array] = []
        for attribute, place in zip(self.attributes, self.places, strict=True):
            labels, between = axis_labels(_finite(attribute)), attribute.distance.distance
            one, two = place[first], place[second]
            if len(labels) <= _WHOLE_TABLE:
                parts.append(between(labels[:, None], labels)[one, two])
            else:
                parts.append(between(labels[one], labels[two]))
        return combine(norm, parts)


@dataclass(frozen=True)
class OpenTruths:
    """True combinations, one for each set of correct guesses that is neither empty nor certain."""

    truths: list[Row]
    correct: Array  # one row per truth: which combinations are correct guesses
    certain: Row | None  # a truth at which every combination is one


def open_truths(table: Combinations, goal: Goal, truths: Iterable[Row]) -> OpenTruths:
    """What sets of correct guesses the goal can have, over some true combinations."""
    found: dict[bytes, tuple[Row, Array]] = {}
    certain: Row | None = None
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
    sizes: dict[object, float] = {}
    for attribute in attributes:
        joint, prior = joint_of(attribute), attribute.prior
        if isinstance(joint, JointTable):
            sizes[joint.names] = len(joint.rows)
        else:
            sizes[attribute.name] = len(prior.values) if isinstance(prior, Finite) else math.inf
    return math.prod(sizes.values())


def axis_labels(prior: Finite) -> Any:
    """The values of a finite prior as numbers where they are, as objects otherwise."""
    if prior.is_line:
        return np.asarray(prior.points)
    labels = np.empty(len(prior.values), dtype=object)
    labels[:] = prior.values
    return labels


def _groups(attributes: Sequence[Attribute]) -> Iterator[tuple[list[int], Any, Any]]:
    """Attributes that depend on each other, with the positions of their values that occur together and how often."""
    ties: dict[object, list[int]] = {}
    for i, attribute in enumerate(attributes):
        joint = joint_of(attribute)
        ties.setdefault(attribute.name if joint is None else joint.names, []).append(i)
    for own in ties.values():
        joint, prior = joint_of(attributes[own[0]]), _finite(attributes[own[0]])
        places, weights = np.arange(prior.mass.size)[None, :], prior.mass
        if isinstance(joint, JointTable):
            columns = [(_finite(attributes[i]), joint.axis(attributes[i].name)) for i in own]
            indices = [[of.index(row[axis]) for row in joint.rows] for of, axis in columns]
            places, weights = np.array(indices), np.asarray(joint.weights)
        some = weights > 0
        rows, which = np.unique(places[:, some], axis=1, return_inverse=True)
        yield own, rows, np.bincount(which.ravel(), weights[some])


def _finite(attribute: Attribute) -> Finite:
    assert isinstance(attribute.prior, Finite)
    return attribute.prior


def true_value(goal: Goal, truth: Mapping[str, Any]) -> Any:
    """The true value of a goal's one attribute, or None where it does not matter."""
    if not goal.depends_on_truth:
        return None
    name = goal.attributes[0].name
    if name not in truth:
        raise TrueValueError(
            "at", None, f"the true value of {name} is missing", f"give at={{{name!r}: …}}"
        )
    return truth[name]


def true_values_of(attribute: Attribute, goal: Goal) -> list[Any]:
    """True values of a finite prior that stand for all, as far as a goal about it can tell them apart."""
    if _finite(attribute).between is None:
        return possible_values(attribute)
    along = [values_along(attribute, goal), possible_values(attribute)]
    return np.unique(np.concatenate(along)).tolist()


def true_combinations(attributes: Mapping[str, Attribute], goal: Goal) -> list[Row]:
    """Combinations of true values of finite attributes that stand for all.

    A joint table lists the combinations that occur; in a sample of combinations any values may go together.
    """
    sides: dict[object, list[Row]] = {}
    for name in (a.name for a in goal.attributes):
        joint = joint_of(attributes[name])
        if isinstance(joint, JointTable) and not joint.sampled:
            own = [a.name for a in goal.attributes if a.name in joint.names]
            sides[joint.names] = _rows_of([attributes[n] for n in own])
        else:
            sides[name] = [{name: v} for v in true_values_of(attributes[name], goal)]
    count = math.prod(map(len, sides.values()))
    if count > MOST_COMBINATIONS:
        raise NotCertifiedError(
            f"{count} combinations of true values are too many; give one with at={{…}}"
        )
    return [
        {k: v for part in row for k, v in part.items()}
        for row in itertools.product(*sides.values())
    ]


def _rows_of(members: list[Attribute]) -> list[Row]:
    """What a table says of some attributes, within their bounds, each once."""
    allowed = {a.name: set(possible_values(a)) for a in members}
    rows = Combinations.of(members).rows
    return [row for row in rows if all(v in allowed[name] for name, v in row.items())]


def possible_values(attribute: Attribute) -> list[Any]:
    """The values of the prior that are possible within the bounds."""
    prior = _finite(attribute)
    values: list[Any] = list(itertools.compress(prior.values, prior.mass > 0))
    if not prior.is_line or attribute.bounds is None:
        return values
    low, high = attribute.range
    return [v for v in values if low <= float(v) <= high]


def values_along(attribute: Attribute, goal: Goal) -> Array:
    """True values beside a sample, rising: places where the correct guesses change, at even positions, and middles."""
    prior = _finite(attribute)
    low, high = attribute.range
    turns = turning_points(goal, attribute.name, prior.points[prior.mass > 0])
    beyond = 1 + 2 * float(np.max(np.abs(turns), initial=0.0))  # further out nothing changes
    low, high = max(low, -beyond), min(high, beyond)
    cuts = np.unique(np.concatenate([[low, high], turns[(turns >= low) & (turns <= high)]]))
    found = np.empty(2 * cuts.size - 1)
    found[::2], found[1::2] = cuts, 0.5 * cuts[1:] + 0.5 * cuts[:-1]
    return found


def turning_points(goal: Goal, name: str, points: Array) -> Array:
    """The true values at which one of the numbers becomes a correct guess, or ceases to be."""
    if isinstance(goal, Conditional):
        return turning_points(goal.goal, name, points)
    if isinstance(goal, Compound):
        return np.concatenate([turning_points(part, name, points) for part in goal.parts])
    if name not in (a.name for a in goal.attributes) or not goal.depends_on_truth:
        return np.empty(0)
    if isinstance(goal, Together):
        problem = (
            "the worst true value of several numbers together is not searched beside a sample"
        )
        raise NotCertifiedError(
            f"{problem}; give at={{…}}, or the numbers as a table of values"
        )
    if isinstance(goal, Within):
        return goal.turning_points(points)
    return points if isinstance(goal, Exactly) else np.empty(0)
