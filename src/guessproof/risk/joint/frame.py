"""Independent axes behind several attributes, distances between their points, and boxes that a goal holds.

Attributes with priors of their own are axes themselves. Of two that are jointly normal, the second is t times the first
plus an independent rest: x = u, y = v + t·u. Distances along u and v at once are a norm of (|du|, |dv + t·du|), convex
in (du, dv), so that bounds at the corners of a box of displacements hold inside it. Where a distance is not straight,
its steepest slope bounds it from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array, Mask
from guessproof.world.finite import Finite
from guessproof.world.goals import (
    Compound,
    Conditional,
    Goal,
    Not,
    Together,
    combine,
    power_of,
)
from guessproof.world.joint import Joint, JointHistogram, JointNormal
from guessproof.world.line import LinePrior

LEAST_SLOPE = 1e-200  # stands for that of a distance that is 0 everywhere

Box = tuple[Any, Any]  # least and largest values


@dataclass(frozen=True, eq=False)
class Frame:
    """Axes that stand for attributes; all but the tilted ones are attributes themselves."""

    question: JointAttack
    axes: tuple[Attribute, ...]
    turn: Array  # takes signed distances along axes to distances of attributes
    tilts: tuple[
        tuple[int, int, float], ...
    ]  # (i, j, t): attribute i is axis i plus t times axis j
    is_straight: bool  # distances are exact, and not only bounds

    @property
    def lines(self) -> dict[int, LinePrior]:
        """The axes that are intervals, and not listed values."""
        priors = [axis.prior for axis in self.axes]
        return {i: prior for i, prior in enumerate(priors) if isinstance(prior, LinePrior)}

    @property
    def histogram(self) -> JointHistogram | None:
        """The joint histogram of both axes, where they depend on each other."""
        found = [j for j in shared_joints(self.axes) if isinstance(j, JointHistogram)]
        return found[0] if found else None

    def marks(self, goal: Goal, name: str) -> list[float]:
        """Values of an axis at which a goal begins or ends; none of tilted ones, along which it is not upright."""
        if name in [self.axes[i].name for i, _, _ in self.tilts]:
            return []
        found: list[float] = []
        for leaf in leaves(goal):
            names = [a.name for a in leaf.attributes]
            if name in names and isinstance(leaf, Together):
                found += leaf.marks(names.index(name), self.question.point(leaf))
            elif name in names:
                found += np.ravel(self.question.intervals(leaf)).tolist()
        return [x for x in found if np.isfinite(x)]

    def distance(self, parts: Sequence[Any]) -> Any:
        """The distance of a step whose signed length along each axis is given."""
        return combine(self.question.norm, [np.abs(row) for row in _rows(self.turn, parts)])

    def reach(self, parts: Sequence[Any]) -> Any:
        """The largest distance of a step of at most these lengths, either way."""
        return combine(self.question.norm, _rows(np.abs(self.turn), parts))

    def rms(self, parts: Sequence[Any]) -> Any:
        """The root of the mean square distance, from those of independent steps along each axis: at most."""
        is_wide = power_of(self.question.norm) >= 2
        return combine("l2" if is_wide else "l1", _rows(np.abs(self.turn), parts))

    def decided(self, goal: Goal, boxes: Any) -> tuple[Mask, Mask]:
        """Which boxes hold right guesses only, and which may hold any; least and largest values for each axis."""
        if isinstance(goal, Compound):
            found = [self.decided(part, boxes) for part in goal.parts]
            wholly, partly = (
                np.asarray(goal.rule(side, axis=0)) for side in zip(*found, strict=True)
            )
            return (partly, wholly) if isinstance(goal, Not) else (wholly, partly)
        names, values = [a.name for a in self.axes], list[Any](boxes)
        for i, j, tilt in self.tilts:
            ends = np.multiply(tilt, boxes[j])
            values[i] = boxes[i][0] + np.min(ends, axis=0), boxes[i][1] + np.max(ends, axis=0)
        lows, highs = zip(*(values[names.index(a.name)] for a in goal.attributes), strict=True)
        if isinstance(goal, Together):
            return goal.decided(lows, highs, self.question.point(goal))
        low, high = lows[0], highs[0]
        wholly = partly = np.zeros(np.shape(low), dtype=bool)
        for a, b in self.question.intervals(goal):
            wholly = wholly | ((low >= a) & (high <= b))
            partly = partly | ((high > a) & (low < b))  # an end that is shared has no mass
        return wholly, partly | wholly


def leaves(goal: Goal) -> list[Goal]:
    """Return the goals that a compound is made of, each once; what is known besides among them."""
    parts: Sequence[Goal] = ()
    if isinstance(goal, Conditional):
        parts = goal.goal, goal.region
    elif isinstance(goal, Compound):
        parts = goal.parts
    return list(dict.fromkeys(leaf for part in parts for leaf in leaves(part))) or [goal]


def shared_joints(members: Sequence[Attribute]) -> list[Joint]:
    """Return the joint priors that at least two of some attributes have in common."""
    found = [joint for a in members if (joint := joint_of(a)) is not None]
    return [
        joint for i, joint in enumerate(found) if any(joint is other for other in found[:i])
    ]


def frame_of(question: JointAttack, goal: Goal) -> Frame:
    """Return the axes behind the attributes of a goal."""
    members = question.members(goal)
    axes, names = list(members), [a.name for a in members]
    turn, tilts = np.eye(len(axes)), list[tuple[int, int, float]]()
    straight = all(isinstance(a.prior, Finite) or a.distance.line_form for a in members)
    for joint in shared_joints(members):
        if not isinstance(joint, JointNormal):
            continue
        j, i = (names.index(name) for name in joint.names)
        forms = [members[k].distance.line_form for k in (j, i)]
        known = [form for form in forms if form and not form.step and not any(form.jumps)]
        if len(known) < 2:
            raise NotCertifiedError(
                "distances with steps are not answered for jointly normal attributes; give a joint histogram"
            )
        straight &= all(form.is_straight and np.isinf(form.cap) for form in known)
        first, second = (max(*form.slopes, LEAST_SLOPE) for form in known)
        own, rest, tilt = joint.apart(joint.names[0])
        along = float(combine(question.norm, [first, second * abs(tilt)]))
        axes[j] = Attribute(members[j].name, own, 1 / along)
        axes[i] = Attribute(members[i].name, rest, 1 / second)
        turn[j, j], turn[i, j] = first / along, second * tilt / along
        tilts.append((i, j, tilt))
    return Frame(question, tuple(axes), turn, tuple(tilts), straight)


def _rows(turn: Array, parts: Sequence[Any]) -> list[Any]:
    """A matrix times a column of arrays; where it is 0, nothing is added for an infinite part."""
    return [
        sum(t * part for t, part in zip(row, parts, strict=True) if t) for row in turn.tolist()
    ]
