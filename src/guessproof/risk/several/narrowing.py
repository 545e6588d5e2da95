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

from guessproof.risk.several.anchors import Climb, Late, climbed, levelled_bound, never
from guessproof.risk.several.cells import leaves
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.plane import Boxes2, Plane, plane_of
from guessproof.risk.several.reaching import Landscape, climbed_land, far_apart, follow, reached_odds
from guessproof.risk.several.tile import TileParts, Tiles
from guessproof.risk.several.tiles import ROUGH, Detail, cut_in_boxes, decider, edge_points, edge_pool, tile_shares
from guessproof.world.checks import Array
from guessproof.world.formulas import FormulaGoal
from guessproof.world.goals import Goal, Norm, combine

_START = Detail(8, 1, 0.06, 1.2)
_CLIMB: Climb = ((30.0, 6), (100.0, 10), (400.0, 14))
_LAGS, _FEWER = 0.4, 1.3  # of the width that tiles are known to make; of the tiles that are cut then
_SUMMITS, _MOST_SUMMITS = 64, 500
_MOST_OF_IT = 0.95  # of the width is made by the tiles that are cut next
_MOST_LEVELS = 4  # halvings of a tile in one round
_STEP_OUT = 0.15  # of the bulk: where a tile without end is cut
_PARTS, _PARTS_ON_EDGE = 2, 4  # per side, of a tile, of one on the goal's edge
_PART_HALVINGS = 5  # of what is still on the edge, where such a part is measured


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
    land: Landscape | None = None  # the likelihood that reaches most

    @property
    def size(self) -> int:
        """The number of tiles."""
        return self.tiles.mass.size

    @property
    def is_boundless(self) -> bool:
        """Whether tails of the goal are heavier than any anchor can hold: then no round proves anything."""
        return bool(np.any(np.isinf(self.tiles.rise[self.tiles.inside > 0])))

    @property
    def norm(self) -> Norm:
        """How distances join."""
        return self.joint_attack.norm

    def at(self, epsilon: float) -> Narrowing:
        """The same tiles and anchors at another ε, of which nothing is proven yet."""
        if epsilon == self.epsilon:
            return self
        longer = epsilon / self.epsilon
        land = self.land if self.land is None else replace(self.land, height=longer * self.land.height)
        return replace(self, epsilon=epsilon, log_w=longer * self.log_w, attack=-np.inf, bound=np.inf, land=land)

    def narrowed(self, growth: float, is_late: Late = never, epsilon: float | None = None) -> Narrowing:
        """The next round, with at most so many times as many tiles, at this ε or at another one.

        TimeoutError where it takes too long.
        """
        loss, gain, axis = self._losses()
        width = max(self.bound - self.attack, 1e-12)
        known = float(np.sum(loss))
        lags = known < _LAGS * width  # then it is less the tiles that leave it wide than too few anchors
        room = int((growth - 1) * self.size / (_FEWER if lags else 1))
        chosen = _heaviest(loss, room)
        levels = int(np.clip(np.log2(1 + room / chosen.size), 1, _MOST_LEVELS))  # few that matter are cut smaller
        boxes, shares = self._cut(chosen, axis, levels)
        more = 1 + 0.6 * (growth - 1) if known < 0.75 * width else 1 + 0.25 * (growth - 1)
        pool = edge_pool(self.joint_attack, self.goal, self.plane, self.tiles, self.boxes)
        anchors, log_w = self._with_anchors(pool, gain, int(np.ceil((more - 1) * len(self.anchors))))
        summits = min(round(self.summits * more) + 1, _MOST_SUMMITS)
        state = replace(self, boxes=boxes, shares=shares, anchors=anchors, log_w=log_w, summits=summits)
        return _proven(state if epsilon is None else state.at(epsilon), is_late)

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
            cut, in_parts = tiles.is_cut[some], tiles.parts is not None
            varied = np.where(cut, np.maximum(varied, unsure), varied)
            varied /= np.where(cut, _PARTS_ON_EDGE, _PARTS**2) if in_parts else 1.0  # what is left of it in their parts
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


def is_slanted(goal: Goal) -> bool:
    """Whether the edge of the goal, or of what is known, runs across the axes: it would cut cells everywhere."""
    return any(isinstance(leaf, FormulaGoal) for leaf in leaves(goal))


def narrowing(joint_attack: JointAttack, goal: Goal, epsilon: float, is_late: Late = never) -> Narrowing | None:
    """The first round; None where two numbers cannot be tiled. TimeoutError where it takes too long."""
    plane = plane_of(joint_attack, goal)
    if plane is None:
        return None
    rough, (boxes, shares) = (cut_in_boxes(joint_attack, goal, plane, detail) for detail in (ROUGH, _START))
    some = plane.telling(boxes, shares)
    boxes, shares = boxes[some], shares[:, some]
    if is_late():
        raise TimeoutError
    tiles = plane.tiles(boxes, shares, epsilon)
    anchors = edge_points(joint_attack, goal, plane, tiles, boxes, epsilon)
    start = climbed(plane.tiles(*rough, epsilon), anchors, joint_attack.norm, epsilon)
    first = Narrowing(joint_attack, goal, plane, epsilon, boxes, shares, tiles, anchors, start, -np.inf, np.inf)
    return _proven(first, is_late)


def _proven(state: Narrowing, is_late: Late = never) -> Narrowing:
    """The bracket of these boxes and anchors, never worse than the one before."""
    tiles = state.plane.tiles(state.boxes, state.shares, state.epsilon)
    tiles = _in_parts(state, tiles) if is_slanted(state.goal) else tiles
    masses = state.joint_attack.shares.get((state.goal, "prior"))
    found = levelled_bound(tiles, state.anchors, state.norm, state.epsilon, state.log_w, _CLIMB, is_late, masses)
    shown = replace(state, tiles=tiles, log_w=found.log_w, bound=min(found.bound, state.bound))
    if is_late():  # a bound without its attack is better than none
        return shown
    most, land = max((_reached(shown, tiles, found.log_w, sign) for sign in state.signs), key=lambda one: one[0])
    return replace(shown, attack=max(most, state.attack), signs=(land.sign,), land=land)


def _in_parts(state: Narrowing, tiles: Tiles) -> Tiles:
    """Tiles that are measured by their parts: few where a likelihood is smooth, more along the goal's edge."""
    plane, boxes = state.plane, state.boxes
    cut, finite = tiles.is_cut, boxes.is_finite
    found: list[tuple[Boxes2, Array, NDArray[np.int64]]] = []
    for some, count in ((finite & ~cut, _PARTS), (finite & cut, _PARTS_ON_EDGE), (~finite, 1)):
        chosen = np.flatnonzero(some)
        if not chosen.size:
            continue
        parts = boxes[chosen].split(count) if count > 1 else boxes[chosen]
        shares = np.tile(state.shares[:, chosen], (1, count * count))
        if count == _PARTS_ON_EDGE:
            decide = decider(state.joint_attack, state.goal, plane)
            shares = tile_shares(plane, parts, decide, _PART_HALVINGS)
        found.append((parts, shares, np.tile(chosen, count * count)))
    whole = np.concatenate([w for _, _, w in found])
    order = np.argsort(whole, kind="stable")
    parts, shares = Boxes2.joined([p for p, _, _ in found])[order], np.concatenate([s for _, s, _ in found], axis=1)
    some = plane.telling(parts, shares := shares[:, order])
    fine = TileParts(plane.tiles(parts[some], shares[:, some], state.epsilon), whole[order][some])
    right, wrong = fine.shares(tiles.mass.size)
    return replace(tiles, right=right, wrong=wrong, parts=fine)


def _reached(state: Narrowing, tiles: Tiles, log_w: Array, sign: int) -> tuple[float, Landscape]:
    """Log-odds that are reached, and by what: the best of new points, and of those of the round before, climbed."""
    norm, epsilon = state.norm, state.epsilon
    parts = tiles if tiles.parts is None else tiles.parts.tiles
    new = follow(tiles, state.anchors, log_w, norm, epsilon, sign, state.summits)
    known = [new] if state.land is None else [new, state.land]

    def valued(land: Landscape) -> tuple[float, Landscape]:
        return reached_odds(parts, land, norm, epsilon), land

    found = [valued(new), *(valued(climbed_land(tiles, land, norm, epsilon)) for land in known)]
    best = max(found, key=lambda one: one[0])
    if tiles.parts is None:
        return best
    return max(best, valued(climbed_land(parts, best[1], norm, epsilon)), key=lambda one: one[0])


def _heaviest(loss: Array, count: int) -> Any:
    """The tiles that make up most of the loss, at most so many."""
    order = np.argsort(-loss)
    enough = int(np.searchsorted(np.cumsum(loss[order]), _MOST_OF_IT * float(np.sum(loss)))) + 1
    return order[: max(1, min(enough, count))]


def _way(places: Array, points: Array, norm: Norm) -> Array:
    return combine(norm, [np.abs(places[:, i] - points[:, i]) for i in (0, 1)])
