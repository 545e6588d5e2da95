"""Narrowing: round after round, tiles that matter are cut finer and anchors are put where they are missed.

Where a bracket is wide is known tile by tile. Over a tile ε·distance from its anchor varies, and half of that variance
is what bound and attack differ by (`anchors`, `reaching`); a tile that the goal's edge cuts, or that has no end, is
uncertain as a whole. Between anchors a likelihood is known the less, the farther they are apart. Each round cuts the
tiles that make up most of it and adds anchors, so that the width falls with the work, as long as anybody waits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.several.anchors import Climb, Tiles, anchored_bound, climbed
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.plane import Boxes2, Plane, plane_of
from guessproof.risk.several.reaching import climbed_land, far_apart, follow, reached_odds
from guessproof.risk.several.tiles import ROUGH, Detail, cut_in_boxes, decider, edge_points, edge_pool, tile_shares
from guessproof.world.checks import Array
from guessproof.world.goals import Goal, Norm, combine

_START = Detail(8, 1, 0.06, 1.2)
_CLIMB = ((20.0, 30), (100.0, 40), (400.0, 40))
_LONG_CLIMB = ((20.0, 60), (100.0, 120), (400.0, 120))
_LAGS, _FEWER = 0.4, 3  # of the width that tiles are known to make; of the tiles that are cut then
_OFFERS = 40
_STRAY = 0.3  # by which ln w moves at most in one climb
_SUMMITS, _MOST_SUMMITS = 64, 500
_MOST_OF_IT = 0.95  # of the width is made by the tiles that are cut next
_MOST_LEVELS = 4  # halvings of a tile in one round
_STEP_OUT = 0.15  # of the bulk: where a tile without end is cut


@dataclass(frozen=True)
class Narrowing:
    """Where a bracket of log-odds stands, and what it was proven with."""

    joint_attack: JointAttack
    goal: Goal
    plane: Plane
    epsilon: float
    boxes: Boxes2
    shares: Array
    tiles: Tiles
    anchors: Array
    log_w: Array
    attack: float
    bound: float
    signs: tuple[int, ...] = (+1, -1)  # of the landscapes that are worth a look
    summits: int = _SUMMITS

    @property
    def size(self) -> int:
        """The number of tiles."""
        return self.tiles.mass.size

    @property
    def norm(self) -> Norm:
        """How distances join."""
        return self.joint_attack.norm

    def narrowed(self, growth: float) -> Narrowing:
        """The next round, with at most so many times as many tiles."""
        loss, gain, axis = self._losses()
        width = max(self.bound - self.attack, 1e-12)
        known = float(np.sum(loss))
        lags = known < _LAGS * width  # then it is not the tiles that leave it wide, but likelihoods short of the best
        room = int((growth - 1) * self.size / (_FEWER if lags else 1))
        chosen = _heaviest(loss, room)
        levels = int(np.clip(np.log2(1 + room / chosen.size), 1, _MOST_LEVELS))  # few that matter are cut smaller
        boxes, shares = self._cut(chosen, axis, levels)
        more = 1 + 0.6 * (growth - 1) if known < 0.75 * width else 1 + 0.25 * (growth - 1)
        pool = edge_pool(self.joint_attack, self.goal, self.plane, self.tiles)
        anchors, log_w = self._with_anchors(pool, gain, int(np.ceil((more - 1) * len(self.anchors))))
        summits = min(round(self.summits * more) + 1, _MOST_SUMMITS)
        state = replace(self, boxes=boxes, shares=shares, anchors=anchors, log_w=log_w, summits=summits)
        return _proven(state, _LONG_CLIMB if lags else _CLIMB)

    def _losses(self) -> tuple[Array, Array, NDArray[np.int64]]:
        """What each tile adds to the width, what each anchor is handed, and the axis along which to cut a tile."""
        tiles, count = self.tiles, self.size
        loss, handed = np.zeros(count), np.zeros(len(self.anchors))
        bent = np.zeros((count, 2))
        for sign in (+1, -1):
            some = np.flatnonzero((tiles.inside if sign > 0 else tiles.outside) > 0)
            ways = far_apart(tiles.middle[some], self.anchors, self.norm)
            best = np.argmin(sign * self.log_w + self.epsilon * ways, axis=1)
            worth = tiles.worth(self.anchors, self.norm, self.epsilon, sign, best[:, None])[:, 0] + self.log_w[best]
            part = np.exp(worth - np.max(worth))
            part /= np.sum(part)
            handed += np.bincount(best, part, len(self.anchors))
            corners = self.epsilon * np.stack(
                [_way(tiles.corners[some, c], self.anchors[best], self.norm) for c in range(4)], axis=1
            )
            mean = np.sum(tiles.weight[some] * corners, axis=1)
            bend = mean - self.epsilon * ways[np.arange(best.size), best]  # where a distance has a kink
            varied = np.sum(tiles.weight[some] * (corners - mean[:, None]) ** 2, axis=1) / 2 + bend
            unsure = tiles.right[1][some] - tiles.right[0][some] + np.ptp(corners, axis=1)
            varied = np.where(tiles.is_cut[some], np.maximum(varied, unsure), varied)
            loss[some] += part * np.minimum(np.where(tiles.is_far[some], 1.0, varied), 1.0)
            bent[some, 0] += np.abs(corners[:, 2] - corners[:, 0]) + np.abs(corners[:, 3] - corners[:, 1])
            bent[some, 1] += np.abs(corners[:, 1] - corners[:, 0]) + np.abs(corners[:, 3] - corners[:, 2])
        sides = np.stack([np.ptp(tiles.corners[..., i], axis=1) for i in (0, 1)], axis=1)
        bent = np.where(tiles.is_cut[:, None], sides, bent + 1e-9 * sides)
        return loss, handed, np.argmax(bent, axis=1)

    def _cut(self, chosen: Any, axis: NDArray[np.int64], levels: int) -> tuple[Boxes2, Array]:
        """The chosen boxes in halves, so many times, along one side and the other in turn."""
        keep = np.ones(self.size, dtype=bool)
        keep[chosen] = False
        ends = [self.plane.quantiles(i, [0.02, 0.98]) for i in (0, 1)]
        out = [_STEP_OUT * (b - a) for a, b in ends]
        parts, shares, own = self.boxes[chosen], self.shares[:, chosen], axis[chosen]
        for _ in range(levels):
            parts, shares, own = parts.halves(own, out), np.tile(shares, (1, 2)), np.tile(1 - own, 2)
        unsettled = np.flatnonzero(np.any(shares[::2] != shares[1::2], axis=0))
        if unsettled.size:
            decide = decider(self.joint_attack, self.goal, self.plane)
            shares[:, unsettled] = tile_shares(self.plane, parts[unsettled], decide)
        boxes = Boxes2.joined([self.boxes[keep], parts])
        shares = np.concatenate([self.shares[:, keep], shares], axis=1)
        some = self.plane.telling(boxes, shares)
        return boxes[some], shares[:, some]

    def _with_anchors(self, pool: Array, handed: Array, count: int) -> tuple[Array, Array]:
        """More anchors, of the goal's edge, where much is handed to few."""
        if not len(pool):
            return self.anchors, self.log_w
        ways = far_apart(pool, self.anchors, self.norm)
        nearest, gap = np.argmin(ways, axis=1), np.min(ways, axis=1)
        dense = (handed / np.maximum(np.bincount(nearest, minlength=handed.size), 1))[nearest]
        chosen: list[int] = []
        for _ in range(count):
            k = int(np.argmax(dense * gap**2))
            if gap[k] <= 0:
                break
            chosen.append(k)
            gap = np.minimum(gap, far_apart(pool, pool[k : k + 1], self.norm)[:, 0])
        ways = self.epsilon * ways[chosen]
        between = 0.5 * (np.min(self.log_w + ways, axis=1) + np.max(self.log_w - ways, axis=1))
        return np.concatenate([self.anchors, pool[chosen]]), np.concatenate([self.log_w, between])


def narrowing(joint_attack: JointAttack, goal: Goal, epsilon: float) -> Narrowing | None:
    """The first round; None where two numbers cannot be tiled."""
    plane = plane_of(joint_attack, goal)
    if plane is None:
        return None
    rough, (boxes, shares) = (cut_in_boxes(joint_attack, goal, plane, detail) for detail in (ROUGH, _START))
    some = plane.telling(boxes, shares)
    boxes, shares = boxes[some], shares[:, some]
    tiles = plane.tiles(boxes, shares, epsilon)
    anchors = edge_points(joint_attack, goal, plane, tiles, epsilon)
    start = climbed(plane.tiles(*rough, epsilon), anchors, joint_attack.norm, epsilon)
    return _proven(Narrowing(joint_attack, goal, plane, epsilon, boxes, shares, tiles, anchors, start, -np.inf, np.inf))


def _proven(state: Narrowing, climb: Climb = _CLIMB) -> Narrowing:
    """The bracket of these boxes and anchors, never worse than the one before."""
    tiles = state.plane.tiles(state.boxes, state.shares, state.epsilon)
    found = anchored_bound(tiles, state.anchors, state.norm, state.epsilon, state.log_w, climb, _STRAY, _OFFERS)
    reached = {sign: _reached(state, tiles, found.log_w, sign) for sign in state.signs}
    best = max(reached, key=lambda sign: reached[sign])
    return replace(
        state,
        tiles=tiles,
        log_w=found.log_w,
        bound=min(found.bound, state.bound),
        attack=max(reached[best], state.attack),
        signs=(best,),
    )


def _reached(state: Narrowing, tiles: Tiles, log_w: Array, sign: int) -> float:
    norm, epsilon = state.norm, state.epsilon
    land = follow(tiles, state.anchors, log_w, norm, epsilon, sign, state.summits)
    better = climbed_land(tiles, land, norm, epsilon)
    return max(reached_odds(tiles, one, norm, epsilon) for one in (land, better))


def _heaviest(loss: Array, count: int) -> Any:
    """The tiles that make up most of the loss, at most so many."""
    order = np.argsort(-loss)
    enough = int(np.searchsorted(np.cumsum(loss[order]), _MOST_OF_IT * float(np.sum(loss)))) + 1
    return order[: max(1, min(enough, count))]


def _way(places: Array, points: Array, norm: Norm) -> Array:
    return combine(norm, [np.abs(places[:, i] - points[:, i]) for i in (0, 1)])
