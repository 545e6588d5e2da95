"""Jointly normal numbers, turned until they are independent.

A disc by ℓ2 and distances that join by ℓ2 look the same from every side. Unmixed around the mean, onto the principal
axes of their covariance, two jointly normal numbers are two independent ones, and the question is the same. Numbers
without correlation need not be turned, whatever the goal and the norm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.goals import And, Goal, Near, Norm, Within
from guessproof.world.joint import JointNormal
from guessproof.world.line import Normal


@dataclass(frozen=True)
class Unmixed:
    """A goal about two jointly normal numbers as one about two independent ones, of the same names."""

    attributes: Mapping[str, Attribute]
    goal: Goal
    axes: Array  # one column for each of the independent numbers

    @classmethod
    def of(cls, attributes: Mapping[str, Attribute], goal: Goal, norm: Norm) -> Unmixed | None:
        """None where numbers are independent already, or where a turned question is another one."""
        members = list(attributes.values())
        joint = joint_of(members[0])
        if not isinstance(joint, JointNormal) or joint.names != tuple(attributes):
            return None
        cross = joint.correlation * joint.sd[0] * joint.sd[1]
        if not cross:
            spread, axes = np.array(joint.sd) ** 2, np.eye(2)
        elif _looks_round(members, goal, norm):
            spread, axes = np.linalg.eigh([[joint.sd[0] ** 2, cross], [cross, joint.sd[1] ** 2]])
        else:
            return None
        centre = (axes.T @ np.array(joint.mean)).tolist()
        priors = [Normal(m, s) for m, s in zip(centre, np.sqrt(spread).tolist(), strict=True)]
        turned = {a.name: replace(a, prior=prior) for a, prior in zip(members, priors, strict=True)}
        found = _about(goal, turned)
        return None if found is None else cls(turned, found, axes)

    def back(self, place: Array) -> Array:
        """A place of the independent numbers as one of the numbers themselves."""
        return np.asarray(self.axes @ place, dtype=np.float64)


def _looks_round(members: list[Attribute], goal: Goal, norm: Norm) -> bool:
    """Whether goal, distances and the places that people can have look the same from every side."""
    free = all(a.bounds is None and a.metric is None for a in members)
    return isinstance(goal, Near) and goal.by == norm == "l2" and free and members[0].scale == members[1].scale


def _about(goal: Goal, members: Mapping[str, Attribute]) -> Goal | None:
    """The same goal about other attributes of the same names; None where it is of another kind."""
    if isinstance(goal, Near):
        return replace(goal, members=tuple(members[a.name] for a in goal.members))
    if not isinstance(goal, And) or not all(isinstance(part, Within) for part in goal.parts):
        return None
    return replace(
        goal,
        parts=tuple(
            replace(part, attribute=members[part.attribute.name]) for part in goal.parts if isinstance(part, Within)
        ),
    )
