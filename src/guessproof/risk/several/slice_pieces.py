"""What regions of two numbers hold of slices along one of them: nothing is overlooked between nodes.

A slice is cut into pieces, which are halved as long as an enclosure leaves open whether they are correct (a sliver, or
two ends close together, is found by that). A piece that is small and begins correct and ends wrong, or the other way
round, has one end of a region in it, which is found by bisection.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.risk.several.joint_attack import JointAttack
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.formulas import Given
from guessproof.world.goals import And, Compound, Goal, Not, Together

_PIECES = 16  # of a slice
_LEVELS = np.concatenate([[1e-12, 1e-6], np.arange(1, _PIECES) / _PIECES, [1 - 1e-6, 1 - 1e-12]])
_ENCLOSED, _HALVINGS, _BISECTED = 7, 45, 44  # halvings before a single end is looked for, at most, and of that
_CROWDED = 64  # open pieces of a slice: more than any goal has ends
LEAST = 1e-15  # probability of what is left as it is


@dataclass(frozen=True)
class Slices:
    """Slices along the last of two numbers."""

    joint_attack: JointAttack
    regions: tuple[Goal, ...]
    other: Attribute
    last: Attribute

    @cached_property
    def edges(self) -> Array:
        """Of pieces that all slices have in common."""
        prior: Any = self.last.prior
        own = [*np.asarray(prior.quantile(_LEVELS)), *prior.breaks, *marks(self.joint_attack, self.regions, self.last)]
        return np.unique([*prior.support, *np.clip([e for e in own if np.isfinite(e)], *prior.support)])

    def held(self, points: Array) -> Array:
        """What the regions hold of slices, one row each, and what these hold in all."""
        home = np.repeat(np.arange(points.size), self.edges.size - 1)
        low, high = (np.tile(end, points.size) for end in (self.edges[:-1], self.edges[1:]))
        found = np.zeros((len(self.regions) + 1, points.size))

        def add(some: Any, low: Array, high: Array, correct: Any) -> None:
            mass = self._mass(points[some], low, high)
            for total, row in zip(found, (*correct, np.ones(some.size)), strict=True):
                total += np.bincount(some, mass * row, points.size)

        for level in range(_HALVINGS):
            correct, settled = self._decided(points[home], points[home], low, high)
            add(home[settled], low[settled], high[settled], correct[:, settled])
            home, low, high = home[~settled], low[~settled], high[~settled]
            if not home.size:
                break
            x = points[home]
            ends = [self._met(x, np.where(np.isinf(a), b, a)) for a, b in ((low, high), (high, low))]
            small = np.isinf(low) | np.isinf(high) | (self._mass(x, low, high) <= LEAST) | (level == _HALVINGS - 1)
            # Along a slice that touches an edge, rounding leaves every piece open, however small.
            small |= (np.bincount(home)[home] > _CROWDED) & (level > _ENCLOSED)
            single = ~small & np.any(ends[0] != ends[1], axis=0) & (level >= _ENCLOSED)
            middle = self._turn(x[single], low[single], high[single], ends[0][:, single])
            add(home[small], low[small], high[small], ends[0][:, small])
            add(home[single], low[single], middle, ends[0][:, single])
            add(home[single], middle, high[single], ends[1][:, single])
            left = ~small & ~single
            home, low, high = np.tile(home[left], 2), low[left], high[left]
            middle = 0.5 * (low + high)
            low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        return found

    def is_open(self, left: Array, right: Array) -> Any:
        """In which panels of the other number some piece of a slice is neither wholly correct nor wholly wrong."""
        count = self.edges.size - 1
        low, high = (np.tile(end, left.size) for end in (self.edges[:-1], self.edges[1:]))
        _, settled = self._decided(np.repeat(left, count), np.repeat(right, count), low, high)
        settled |= np.isinf(low) | np.isinf(high)
        return ~np.all(settled.reshape(left.size, count), axis=1)

    def _decided(self, left: Array, right: Array, low: Array, high: Array) -> tuple[Any, Any]:
        """Of boxes, which regions they belong to, a row for each; and for which of them that is settled."""
        from guessproof.risk.several.tiles import decided  # which builds on what this belongs to

        sides = {self.other.name: (left, right), self.last.name: (low, high)}
        ends = [[sides[name][i] if name in sides else low for name in self.joint_attack.attributes] for i in (0, 1)]
        told = [decided(self.joint_attack, region, ends[0], ends[1]) for region in self.regions]
        only, some = (np.stack([np.broadcast_to(t[i], low.shape) for t in told]) for i in (0, 1))
        return only, np.all(only == some, axis=0)

    def _met(self, x: Array, y: Array) -> Any:
        """Which points belong to regions, without what is allowed for rounding: it would fill one that is empty."""
        return self._decided(x, x, y, y)[0]

    def _turn(self, x: Array, low: Array, high: Array, before: Any) -> Array:
        """Where pieces leave what they begin in."""
        for _ in range(_BISECTED if x.size else 0):
            middle = 0.5 * (low + high)
            values = {self.other.name: x, self.last.name: middle}  # points take a third of the time of enclosures
            met = [np.broadcast_to(meets(self.joint_attack, region, values), x.shape) for region in self.regions]
            same = np.all(np.stack(met) == before, axis=0)
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return 0.5 * (low + high)

    def _mass(self, x: Array, low: Array, high: Array) -> Array:
        prior: Any = self.last.prior
        joint: Any = joint_of(self.other)
        if joint is None:
            return np.maximum(prior.quick_mass(low, high), 0.0)
        return np.maximum(joint.slice_mass(self.other.name, x, low[:, None], high[:, None])[:, 0], 0.0)


def marks(joint_attack: JointAttack, regions: Iterable[Goal], attribute: Attribute) -> list[float]:
    """Where along an attribute a slice may begin or end to meet a goal."""
    if isinstance(attribute.prior, Finite):
        return []
    found: list[float] = []
    for goal in (g for region in regions for g in leaf_goals(region)):
        names = [a.name for a in goal.attributes]
        if attribute.name not in names:
            continue
        if isinstance(goal, Together):
            found += goal.marks(names.index(attribute.name), joint_attack.point(goal))
        else:
            found += [e for pair in joint_attack.intervals(goal) for e in pair]
    return [e for e in found if np.isfinite(e)]


def leaf_goals(goal: Goal) -> list[Goal]:
    """The goals that a goal is made of."""
    if isinstance(goal, Given):
        return [*leaf_goals(goal.goal), *goal.known]
    if isinstance(goal, Compound):
        return [leaf for part in goal.parts for leaf in leaf_goals(part)]
    return [goal]


def meets(joint_attack: JointAttack, goal: Goal, values: dict[str, Any]) -> Any:
    """Which points meet a goal."""
    if isinstance(goal, Compound):
        parts = np.broadcast_arrays(*(meets(joint_attack, part, values) for part in goal.parts))
        if isinstance(goal, Not):
            return ~parts[0]
        return np.all(parts, axis=0) if isinstance(goal, And) else np.any(parts, axis=0)
    if isinstance(goal, Together):
        return goal.holds(np.broadcast_arrays(*(values[a.name] for a in goal.members)), joint_attack.point(goal))
    (attribute,) = joint_attack.members(goal)
    value = np.broadcast_arrays(*values.values())[list(values).index(attribute.name)]
    if isinstance(attribute.prior, Finite):
        chosen = goal.chosen(attribute.prior, joint_attack.at(goal)) > 0.5
        own = attribute.prior
        return chosen[np.searchsorted(own.points, value) if own.is_line else value.astype(np.int64)]
    return np.any([(value >= a) & (value <= b) for a, b in joint_attack.intervals(goal)], axis=0)
