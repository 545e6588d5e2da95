"""A plane of two numbers in coordinates that are independent: boxes of it have masses and means that are products.

Two independent numbers are such coordinates themselves. Two that are jointly normal are not, but the first and what is
left of the second after subtracting its part in the first are; boxes are parallelograms to the eye then, and distances
stay convex on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.peak_attack import mean_places
from guessproof.risk.several.tile import Tiles
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.goals import Goal
from guessproof.world.joint import JointHistogram, JointNormal
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm


@dataclass(frozen=True)
class Boxes2:
    """Boxes of two coordinates."""

    low: tuple[Array, Array]
    high: tuple[Array, Array]

    @classmethod
    def product(cls, x: Array, y: Array) -> Boxes2:
        """All boxes between two lists of edges."""
        low = np.meshgrid(x[:-1], y[:-1], indexing="ij")
        high = np.meshgrid(x[1:], y[1:], indexing="ij")
        return cls((low[0].ravel(), low[1].ravel()), (high[0].ravel(), high[1].ravel()))

    @classmethod
    def joined(cls, parts: list[Boxes2]) -> Boxes2:
        """Several lists of boxes as one."""
        low, high = ([np.concatenate([getattr(p, e)[i] for p in parts]) for i in (0, 1)] for e in ("low", "high"))
        return cls((low[0], low[1]), (high[0], high[1]))

    def __getitem__(self, some: Any) -> Boxes2:
        low, high = ([side[some] for side in ends] for ends in (self.low, self.high))
        return Boxes2((low[0], low[1]), (high[0], high[1]))

    @property
    def is_finite(self) -> Any:
        """Which do not reach to infinity."""
        return np.all([np.isfinite(a) & np.isfinite(b) for a, b in zip(self.low, self.high, strict=True)], axis=0)

    def halves(self, axis: Any, out: list[float]) -> Boxes2:
        """Each cut in two along its own axis, those without end so far beyond their beginning; lower halves first."""
        endless = [np.isinf(a) | np.isinf(b) for a, b in zip(self.low, self.high, strict=True)]
        first = endless[0] | (~endless[1] & (axis == 0))
        low, high = [np.tile(a, 2) for a in self.low], [np.tile(b, 2) for b in self.high]
        for i, along in enumerate((first, ~first)):
            a, b = self.low[i], self.high[i]
            with np.errstate(invalid="ignore"):
                cut = np.where(np.isinf(b), a + out[i], np.where(np.isinf(a), b - out[i], 0.5 * (a + b)))
            high[i][: a.size][along], low[i][a.size :][along] = cut[along], cut[along]
        return Boxes2((low[0], low[1]), (high[0], high[1]))

    def split(self, parts: int) -> Boxes2:
        """Each cut in so many parts per side; parts of one box stand as far apart as there are boxes."""
        cuts = [[a + (b - a) * (k / parts) if k < parts else b for k in range(parts + 1)]
                for a, b in zip(self.low, self.high, strict=True)]  # fmt: skip
        places = [(i, j) for i in range(parts) for j in range(parts)]
        low = tuple(np.concatenate([cuts[axis][p[axis]] for p in places]) for axis in (0, 1))
        high = tuple(np.concatenate([cuts[axis][p[axis] + 1] for p in places]) for axis in (0, 1))
        return Boxes2((low[0], low[1]), (high[0], high[1]))


@dataclass(frozen=True)
class Plane:
    """Two attributes with densities; the second is `tilt` times the first plus its own coordinate."""

    members: tuple[Attribute, Attribute]
    coordinates: tuple[LinePrior, LinePrior]
    forms: tuple[LineForm, LineForm]
    tilt: float = 0.0
    joint: JointHistogram | None = None

    @property
    def is_upright(self) -> bool:
        """Whether the coordinates are the attributes."""
        return self.tilt == 0

    def support(self, axis: int) -> tuple[float, float]:
        """Where a coordinate can lie."""
        return self.coordinates[axis].support

    def quantiles(self, axis: int, u: list[float]) -> list[float]:
        """Values of a coordinate below which these probabilities lie."""
        return np.asarray(self.coordinates[axis].quantile(u)).tolist()

    def breaks(self, axis: int) -> list[float]:
        """Where a coordinate's density or distance bends."""
        prior = self.coordinates[axis]
        own = list(prior.breaks) if self.joint is not None or len(prior.breaks) <= 40 else []
        return [*own, *(self.members[axis].distance.breaks if self.is_upright else ())]

    def hull(self, boxes: Boxes2) -> tuple[list[Array], list[Array]]:
        """The least and the largest values of both attributes in boxes."""
        if self.is_upright:
            return list(boxes.low), list(boxes.high)
        ends = [self.tilt * end for end in (boxes.low[0], boxes.high[0])]
        least, most = (pick(ends[0], ends[1]) for pick in (np.minimum, np.maximum))
        return [boxes.low[0], boxes.low[1] + least], [boxes.high[0], boxes.high[1] + most]

    def marks(self, first: list[float], second: list[float]) -> tuple[list[float], list[float]]:
        """Where the goal's own ends lie on both coordinates."""
        if self.is_upright:
            return first, second
        if not first or not second:
            return [], []
        ends = [self.tilt * end for end in (min(first), max(first))]
        return [min(first), max(first)], [min(second) - max(ends), max(second) - min(ends)]

    def mass(self, boxes: Boxes2) -> Array:
        """The probability of boxes."""
        if self.joint is not None:
            return self.joint.box_mass(boxes.low, boxes.high)
        x, y = (p.quick_mass(a, b) for p, a, b in zip(self.coordinates, boxes.low, boxes.high, strict=True))
        return np.maximum(x, 0.0) * np.maximum(y, 0.0)

    def telling(self, boxes: Boxes2, shares: Array) -> Any:
        """Which boxes count: those that have some probability, and something correct or wrong in them."""
        return (self.mass(boxes) > 0) & np.any(shares > 0, axis=0)

    def moved(self, boxes: Boxes2, way: Array) -> Boxes2:
        """Boxes carried along by a way of both attributes."""
        x, y = float(way[0]), float(way[1] - self.tilt * way[0])
        return Boxes2((boxes.low[0] + x, boxes.low[1] + y), (boxes.high[0] + x, boxes.high[1] + y))

    def places(self, points: Array) -> Array:
        """Points (of both attributes) in units of distance."""
        return np.stack([np.asarray(form.psi(points[:, i])) for i, form in enumerate(self.forms)], axis=1)

    def tiles(self, boxes: Boxes2, shares: Array, epsilon: float) -> Tiles:
        """Boxes as tiles, with the least and most that is correct and the least and most that is wrong in each."""
        return self.with_tails(*self.still(boxes, shares), epsilon)

    def with_tails(self, tiles: Tiles, boxes: Boxes2, epsilon: float) -> Tiles:
        """The tiles of boxes, with what lies beyond those that reach to infinity."""
        rise, fall = (np.zeros(tiles.mass.size) for _ in range(2))
        for axis in (0, 1):
            up, down = self._beyond(axis, boxes.low[axis], boxes.high[axis], epsilon)
            rise, fall = rise + up, fall + down
        return replace(tiles, rise=rise, fall=fall)

    def still(self, boxes: Boxes2, shares: Array) -> tuple[Tiles, Boxes2]:
        """What of the tiles is the same at every ε, and the boxes that count."""
        some = self.telling(boxes, shares)
        boxes, shares = boxes[some], shares[:, some]
        mass = self.mass(boxes)
        ends, means = list[tuple[Array, Array]](), list[Array]()
        for axis in (0, 1):
            low, high = boxes.low[axis], boxes.high[axis]
            ends.append((np.where(np.isinf(low), high, low), np.where(np.isinf(high), low, high)))
            means.append(mean_places(self.coordinates[axis], low, high, self.joint is not None))
        corners, weight = list[Array](), list[Array]()
        for a in (0, 1):
            for b in (0, 1):
                point = np.stack([ends[0][a], ends[1][b] + self.tilt * ends[0][a]], axis=1)
                corners.append(self.places(point))
                weight.append((means[0] if a else 1 - means[0]) * (means[1] if b else 1 - means[1]))
        cut = np.any((shares > 0) & (shares < 1), axis=0) | (np.sum(shares[1::2] > 0, axis=0) > 1)
        right, wrong = (shares[0], shares[1]), (shares[2], shares[3])
        none = np.zeros(mass.size)
        return Tiles(
            np.stack(corners, 1), np.stack(weight, 1), mass, right, wrong, cut, none, none, self.is_upright
        ), boxes

    def _beyond(self, axis: int, low: Array, high: Array, epsilon: float) -> tuple[Array, Array]:
        """ln of the moments of what lies beyond the finite end of boxes that reach to infinity, each from its own."""
        rise, fall = np.zeros(low.size), np.zeros(low.size)
        for sign, endless, edge in ((-1, np.isinf(low), high), (+1, np.isinf(high), low)):
            if endless.any():
                edges, own = np.unique(edge[endless], return_inverse=True)
                up, down = self._moments(axis, sign, edges, epsilon)
                rise[endless] += up[own]
                fall[endless] += down[own]
        return rise, fall

    def _moments(self, axis: int, sign: int, edges: Array, epsilon: float) -> tuple[Array, Array]:
        """ln E[e^{±ε·(way beyond an edge)}] of what lies beyond it: tails that were cut begin at several edges."""
        prior, slope = self.coordinates[axis], self._tail_slope(axis, sign)
        a, b = (np.full(edges.size, -np.inf), edges) if sign < 0 else (edges, np.full(edges.size, np.inf))
        whole = prior.log_tilt(0.0, a, b)
        up, down = (prior.log_tilt(s * sign * epsilon * slope, a, b, edges) - whole for s in (+1, -1))
        return np.asarray(up), np.asarray(down)

    def _tail_slope(self, axis: int, sign: int) -> float:
        """How far both attributes move at most, together, where a coordinate moves by one in its tail."""
        own = self.forms[axis].slopes[0 if sign < 0 else -1]
        if self.is_upright or axis == 1:
            return max(self.forms[1].slopes) if not self.is_upright else own
        return own + abs(self.tilt) * max(self.forms[1].slopes)


def plane_of(joint_attack: JointAttack, goal: Goal) -> Plane | None:
    """The plane of a goal about two numbers with densities, distances along both of which are convex; else None."""
    members = joint_attack.members(goal)
    if len(members) != 2 or list(joint_attack.attributes) != [a.name for a in members]:
        return None
    forms = [a.distance.line_form for a in members]
    priors = [a.prior for a in members if isinstance(a.prior, LinePrior)]
    plain = [f for f in forms if f is not None and np.isinf(f.cap) and not f.step and not any(f.jumps)]
    if len(priors) < 2 or len(plain) < 2:
        return None
    joints = [joint_of(a) for a in members]
    first, second = members
    if joints[0] is None and joints[1] is None:
        return Plane((first, second), (priors[0], priors[1]), (plain[0], plain[1]))
    joint = joints[0]
    if isinstance(joint, JointNormal) and {*joint.names} == {first.name, second.name}:
        if not all(form.is_straight for form in plain):
            return None
        own, left, tilt = joint.apart(first.name)
        return Plane((first, second), (own, left), (plain[0], plain[1]), tilt)
    if isinstance(joint, JointHistogram) and joint.names == (first.name, second.name):
        return Plane((first, second), (priors[0], priors[1]), (plain[0], plain[1]), joint=joint)
    return None
