"""Over which true values a worst case ranges.

A table of values lists all that people can have. A sample does not: whoever the release is about may have any value
within the declared bounds, or, where none are declared, from the smallest to the largest of the sample. As the true
value t moves along the line, the set of correct guesses changes only where one of the sample's numbers comes in or
drops out, so one t at each of these places and one between any two stand for all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError, TrueValueError
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Compound, Conditional, Exactly, Goal, Together, Within
from guessproof.world.joint import JointTable

MOST_COMBINATIONS = 20_000  # of true values that are looked at


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
    prior = attribute.prior
    assert isinstance(prior, Finite)
    if prior.between is not None:
        return np.unique(
            np.concatenate([values_along(attribute, goal), possible_values(attribute)])
        ).tolist()
    return possible_values(attribute)


def true_combinations(attributes: Mapping[str, Attribute], goal: Goal) -> list[dict[str, Any]]:
    """Combinations of true values of finite attributes that stand for all.

    A joint table lists the combinations that occur; in a sample of combinations any values may go together.
    """
    sides: list[list[dict[str, Any]]] = []
    done: set[tuple[str, ...]] = set()
    for name in (a.name for a in goal.attributes):
        joint = joint_of(attributes[name])
        if joint is None or (isinstance(joint, JointTable) and joint.sampled):
            sides.append([{name: v} for v in true_values_of(attributes[name], goal)])
        elif joint.names not in done:
            assert isinstance(joint, JointTable)
            done.add(joint.names)
            sides.append(
                _rows(
                    joint,
                    attributes,
                    [a.name for a in goal.attributes if a.name in joint.names],
                )
            )
    count = math.prod(len(side) for side in sides)
    if count > MOST_COMBINATIONS:
        raise NotCertifiedError(
            f"{count} combinations of true values are too many; give one with at={{…}}"
        )
    return [
        {k: v for part in row for k, v in part.items()} for row in itertools.product(*sides)
    ]


def _rows(
    joint: JointTable, attributes: Mapping[str, Attribute], names: list[str]
) -> list[dict[str, Any]]:
    """What the rows of a table say of some attributes, within their bounds, each once."""
    allowed = {name: set(possible_values(attributes[name])) for name in names}
    places = [joint.axis(name) for name in names]
    rows = {
        tuple(row[i] for i in places): None
        for row, w in zip(joint.rows, joint.weights, strict=True)
        if w > 0
    }
    found = [dict(zip(names, row, strict=True)) for row in rows]
    return [row for row in found if all(value in allowed[name] for name, value in row.items())]


def possible_values(attribute: Attribute) -> list[Any]:
    """The values of the prior that are possible within the bounds."""
    prior = attribute.prior
    assert isinstance(prior, Finite)
    values = [v for v, w in zip(prior.values, prior.weights, strict=True) if w > 0]
    if not prior.is_line or attribute.bounds is None:
        return values
    low, high = attribute.range
    return [v for v in values if low <= float(v) <= high]  # pyright: ignore[reportArgumentType]


def values_along(attribute: Attribute, goal: Goal) -> Array:
    """True values beside a sample, rising: places where the correct guesses change, at even positions, and middles."""
    prior = attribute.prior
    assert isinstance(prior, Finite)
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
    if name not in (a.name for a in goal.attributes):
        return np.empty(0)
    if isinstance(goal, Together):
        if not goal.depends_on_truth:
            return np.empty(0)
        problem = (
            "the worst true value of several numbers together is not searched beside a sample"
        )
        raise NotCertifiedError(
            f"{problem}; give at={{…}}, or the numbers as a table of values"
        )
    if isinstance(goal, Within):
        return goal.turning_points(points)
    return points if isinstance(goal, Exactly) else np.empty(0)
