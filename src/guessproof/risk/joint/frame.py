"""Independent axes behind several attributes, and distances between points that are given by them.

Attributes with priors of their own are axes themselves. Of two that are jointly normal, the second is t times the first
plus an independent rest: x = u, y = v + t·u. Distances along u and v at once are a norm of (|du|, |dv + t·du|), convex
in (du, dv), so that bounds at the corners of a box of displacements hold inside it. Where a distance is not straight,
its steepest slope bounds it from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.goals import Norm, combine, power_of
from guessproof.world.joint import Joint, JointHistogram, JointNormal

LEAST_SLOPE = 1e-200  # stands for that of a distance that is 0 everywhere

Box = tuple[Any, Any]  # least and largest values


@dataclass(frozen=True, eq=False)
class Frame:
    """Axes that stand for attributes; all but the tilted ones are attributes themselves."""

    axes: tuple[Attribute, ...]
    norm: Norm
    tilts: tuple[
        tuple[int, int, float], ...
    ] = ()  # (i, j, t): attribute i is axis i plus t times axis j
    turn: Array | None = None  # takes signed distances along axes to distances of attributes
    is_straight: bool = True  # distances are exact, and not only bounds

    @cached_property
    def histogram(self) -> JointHistogram | None:
        """The joint histogram of both axes, where they depend on each other."""
        found = [
            joint for joint in shared_joints(self.axes) if isinstance(joint, JointHistogram)
        ]
        return found[0] if found else None

    def values(self, boxes: Sequence[Box]) -> list[Box]:
        """The values of attributes in boxes of the axes."""
        found = list(boxes)
        for i, j, tilt in self.tilts:
            (low, high), (one, two) = boxes[i], boxes[j]
            found[i] = (
                low + np.minimum(tilt * one, tilt * two),
                high + np.maximum(tilt * one, tilt * two),
            )
        return found

    def distance(self, parts: Sequence[Any], which: Sequence[int] | None = None) -> Any:
        """The distance of a step whose signed lengths along some axes (all of them by default) are given."""
        if self.turn is None:
            return combine(self.norm, [np.abs(part) for part in parts])
        return combine(self.norm, [np.abs(row) for row in _rows(self.turn, parts, which)])

    def reach(self, parts: Sequence[Any], which: Sequence[int] | None = None) -> Any:
        """The largest distance of a step of at most these lengths, either way."""
        if self.turn is None:
            return combine(self.norm, list(parts))
        return combine(self.norm, _rows(np.abs(self.turn), parts, which))

    def rms(self, parts: Sequence[Any]) -> Any:
        """The root of the mean square distance, from those of independent steps along each axis: at most."""
        is_wide = self.turn is None and power_of(self.norm) >= 2
        return combine("l2" if is_wide else "l1", list(parts))


def _rows(turn: Array, parts: Sequence[Any], which: Sequence[int] | None) -> list[Any]:
    columns = range(len(turn)) if which is None else which
    return [
        sum(row[i] * part for i, part in zip(columns, parts, strict=True) if row[i])
        for row in turn
    ]


def shared_joints(members: Sequence[Attribute]) -> list[Joint]:
    """The joint priors that at least two of some attributes have in common."""
    found = [joint for a in members if (joint := joint_of(a)) is not None]
    return list(
        {
            id(joint): joint for joint in found if sum(joint is other for other in found) > 1
        }.values()
    )


def frame_of(members: Sequence[Attribute], norm: Norm) -> Frame:
    """The axes behind some attributes."""
    pairs = [joint for joint in shared_joints(members) if isinstance(joint, JointNormal)]
    if not pairs:
        return Frame(tuple(members), norm)
    axes, names = list(members), [a.name for a in members]
    turn, tilts, straight = np.eye(len(axes)), list[tuple[int, int, float]](), True
    for joint in pairs:
        j, i = (names.index(name) for name in joint.names)
        forms = [members[k].distance.line_form for k in (j, i)]
        known = [
            form for form in forms if form is not None and not form.step and not any(form.jumps)
        ]
        if len(known) < 2:
            raise NotCertifiedError(
                "distances with steps are not answered for jointly normal attributes; give a joint histogram"
            )
        straight &= all(form.is_straight and np.isinf(form.cap) for form in known)
        first, second = (max(*form.slopes, LEAST_SLOPE) for form in known)
        own, rest, tilt = joint.apart(joint.names[0])
        along = float(combine(norm, [first, second * abs(tilt)]))
        axes[j] = Attribute(members[j].name, own, 1 / along)
        axes[i] = Attribute(members[i].name, rest, 1 / second)
        turn[j, j], turn[i, j] = first / along, second * tilt / along
        tilts.append((i, j, tilt))
    return Frame(tuple(axes), norm, tuple(tilts), turn, straight)
