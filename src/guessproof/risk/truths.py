"""Over which true values a worst case ranges.

A table of values lists all that people can have. A sample does not: whoever the release is about may have any value
within the declared bounds, or, where none are declared, from the smallest to the largest of the sample. As the true value
t moves along the line, the set of correct guesses changes only where one of the sample's numbers comes in or drops out,
so one t at each of these places and one between any two stand for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Compound, Exactly, Goal, Within


def true_values_of(attribute: Attribute, goal: Goal) -> list[Any]:
    """True values of a finite prior that stand for all, as far as a goal about it can tell them apart."""
    prior = attribute.prior
    assert isinstance(prior, Finite)
    if prior.between is not None:
        return np.unique(np.concatenate([along(attribute, goal), listed(attribute)])).tolist()
    return listed(attribute)


def listed(attribute: Attribute) -> list[Any]:
    """The values of the prior that are possible within the bounds."""
    prior = attribute.prior
    assert isinstance(prior, Finite)
    values = [v for v, w in zip(prior.values, prior.weights, strict=True) if w > 0]
    if not prior.is_line or attribute.bounds is None:
        return values
    low, high = attribute.range
    return [v for v in values if low <= float(v) <= high]  # pyright: ignore[reportArgumentType]


def along(attribute: Attribute, goal: Goal) -> Array:
    """True values beside a sample: each place where the correct guesses change, and the middle between any two."""
    prior = attribute.prior
    assert isinstance(prior, Finite)
    low, high = attribute.range
    turns = turning_points(goal, prior.points[prior.mass > 0])
    low, high = (e if np.isfinite(e) else s * (1 + 2 * np.max(np.abs(turns), initial=0.0)) for e, s in ((low, -1), (high, 1)))
    cuts = np.unique(np.concatenate([[low, high], turns[(turns >= low) & (turns <= high)]]))
    return np.unique(np.concatenate([cuts, 0.5 * cuts[1:] + 0.5 * cuts[:-1]]))


def turning_points(goal: Goal, points: Array) -> Array:
    """The true values at which one of the numbers becomes a correct guess, or ceases to be."""
    if isinstance(goal, Compound):
        return np.concatenate([turning_points(part, points) for part in goal.parts])
    if isinstance(goal, Within):
        return goal.turning_points(points)
    return points if isinstance(goal, Exactly) else np.empty(0)
