"""Tiles and anchors around the true place, carried to other true places.

Seen from the true place, correct guesses, tiles and anchors are the same everywhere where distances are straight; only
the prior's mass in the tiles is another. So they are cut once for many places, unless the prior has edges of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from guessproof.risk.several.anchors import Climb, anchored_bound, climbed
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.plane import Boxes2, Plane, plane_of
from guessproof.risk.several.tile import Tiles
from guessproof.risk.several.tiles import ROUGH, Detail, Edged, cut_in_boxes, edge_points
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.goals import Goal, Norm, combine
from guessproof.world.line import expit

_CARRIED = ROUGH, Detail(24, 1, 0.05, 1.15)
_ONCE = Detail(6, 1, 0.3, 1.5), Detail(24, 1, 0.2, 1.25)  # of tiles that cannot be carried, so that there are fewer
_CLIMBS: tuple[Climb, Climb] = (((300.0, 16), (1000.0, 20)), ((400.0, 30), (1200.0, 40)))  # a close look, a closer one
_STRAY = 0.3  # by which ln w moves at most in one climb: tiles are offered to the anchors that counted at its start
_ASTRAY = 1.2  # times the largest difference that is private
_NEAR = 0.6  # standard deviations over which tiles are carried


@dataclass(frozen=True)
class Frame:
    """Tiles that were cut around one place, roughly and finely, each with its shares of correct and wrong guesses."""

    place: Array
    rough: tuple[Boxes2, Array]
    fine: tuple[Boxes2, Array]


@dataclass(frozen=True)
class Seen:
    """A good likelihood at one place: ln w at the anchors."""

    place: Array
    epsilon: float
    log_w: Array


@dataclass(frozen=True)
class Carried:
    """A goal around many places: its tiles, and its anchors."""

    attributes: Mapping[str, Attribute]
    goal: Goal
    norm: Norm
    sd: Array
    plane: Plane
    frames: list[Frame] = field(default_factory=list[Frame])
    anchors: list[Array] = field(default_factory=list[Array])  # as ways from the true place, once there are some
    seen: list[Seen] = field(default_factory=list["Seen"])

    @classmethod
    def of(cls, attributes: Mapping[str, Attribute], goal: Goal, norm: Norm, sd: Array) -> Carried | None:
        """None where anchors prove nothing."""
        plane = plane_of(JointAttack(attributes, {}, norm), goal)
        return None if plane is None else cls(attributes, goal, norm, sd, plane)

    @property
    def is_movable(self) -> bool:
        """Whether tiles can be carried: not where the prior has edges, which stay where they are."""
        return all(prior.normal_form is not None for prior in self.plane.coordinates)

    def bound(self, place: Array, epsilon: float, known: Edged | None = None) -> Edged:
        """Log-odds that no likelihood exceeds where `place` is true; better ones where some are known."""
        tiles, boxes = self._tiles(place, epsilon, rough=False)
        here = self.plane.places(place[None, :])
        if not self.anchors or not self.is_movable:
            points = edge_points(self._joint_attack(place), self.goal, self.plane, tiles, boxes, epsilon)
            self.anchors[:] = [points - here]
        anchors = self.anchors[0] + here
        start = self._known(place, epsilon) if known is None else known.log_w
        climb = _CLIMBS[known is not None]
        found = None if start is None else anchored_bound(tiles, anchors, self.norm, epsilon, start, climb, _STRAY)
        if found is None or not self._is_private(found.log_w, anchors, epsilon):
            start = climbed(self._tiles(place, epsilon, rough=True)[0], anchors, self.norm, epsilon)
            found = anchored_bound(tiles, anchors, self.norm, epsilon, start, climb)
        if self.is_movable and self._is_private(found.log_w, anchors, epsilon):
            self.seen.append(Seen(place, epsilon, found.log_w))
        return Edged(found.bound + 1e-9, tiles, anchors, found.log_w)

    def _is_private(self, log_w: Array, anchors: Array, epsilon: float) -> bool:
        """Whether ln w is about as a private likelihood's: a climb that went astray leads others astray."""
        across = float(combine(self.norm, list(np.ptp(anchors, axis=0))))
        return bool(np.ptp(log_w) <= _ASTRAY * epsilon * across)

    def _known(self, place: Array, epsilon: float) -> Array | None:
        """Where to climb from: what was found at a place nearby, if there is any."""
        near = min(reversed(self.seen), key=lambda s: self._apart(s.place, place), default=None)
        if near is None or self._apart(near.place, place) > _NEAR:
            return None
        return near.log_w * (epsilon / near.epsilon)

    def _tiles(self, place: Array, epsilon: float, rough: bool) -> tuple[Tiles, Boxes2]:
        frame = self._frame(place)
        way, (boxes, shares) = place - frame.place, frame.rough if rough else frame.fine
        still, boxes = self.plane.still(self.plane.moved(boxes, way), leant(self.plane, boxes, shares, way))
        return self.plane.with_tails(still, boxes, epsilon), boxes

    def _joint_attack(self, place: Array) -> JointAttack:
        return JointAttack(self.attributes, dict(zip(self.attributes, place.tolist(), strict=True)), self.norm)

    def _apart(self, one: Array, other: Array) -> float:
        return float(np.max(np.abs(one - other) / self.sd))

    def _frame(self, place: Array) -> Frame:
        near = min(self.frames, key=lambda f: self._apart(f.place, place), default=None)
        if near is None or self._apart(near.place, place) > (_NEAR if self.is_movable else 0.0):
            here, details = self._joint_attack(place), _CARRIED if self.is_movable else _ONCE
            near = Frame(place, *(cut_in_boxes(here, self.goal, self.plane, detail) for detail in details))
            self.frames.append(near)
        return near


def leant(plane: Plane, boxes: Boxes2, shares: Array, way: Array) -> Array:
    """Shares of boxes that are carried by a way: there a normal density leans by e^{−way·z/sd²} more than before.

    Within a box that is at most one factor r, and a share s becomes at most rs : (rs + 1 − s). Where a coordinate is
    not normal, nothing is known of shares but whether they are all or nothing.
    """
    steep = np.zeros(shares.shape[1])
    moved = (float(way[0]), float(way[1] - plane.tilt * way[0]))
    for axis, step in enumerate(moved):
        bell = plane.coordinates[axis].normal_form
        pull = np.inf if bell is None else abs(step) / bell.sd**2
        if step:
            steep = steep + pull * (boxes.high[axis] - boxes.low[axis])
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        log_odds = np.log(shares) - np.log1p(-shares)
        least, most = (expit(np.where(np.isinf(log_odds), log_odds, log_odds + s * steep)) for s in (-1, +1))
    return np.where(np.array([True, False, True, False])[:, None], least, most)
