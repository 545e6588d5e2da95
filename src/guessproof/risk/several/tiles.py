"""Two numbers cut into tiles, small along the goal's edge and coarse far from it, and anchors on that edge."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from guessproof.risk.several.anchors import ROUND, anchored_bound, climbed, levelled_bound
from guessproof.risk.several.cells import fixed_points, leaves
from guessproof.risk.several.formula import is_round
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.plane import Boxes2, Plane, plane_of
from guessproof.risk.several.reaching import Landscape, follow, reached_odds
from guessproof.risk.several.tile import Tiles
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.goals import And, Compound, Conditional, Goal, Near, Norm, Not, Together
from guessproof.world.line import LinePrior

_HALVINGS = 5  # of what is still on the edge, where a tile on it is measured
_FAR = 1e-7
_ANCHORS, _MOST_ANCHORS = 40, 80
_POOL = 600
_BISECTED = 20  # times that a side of a box is halved where an anchor is put onto the edge
_SUMMITS = 64  # of an attack
_NEAR_ENOUGH = 0.12  # in ε·distance between neighbours
_RECENT = 4  # bounds that are kept: what was chosen is asked for again
_SAME = 3e-9  # relative: a search ends this little below the last ε that it tried, rounding apart
_TELLING = 2e-3  # anchors farther out than this probability are not worth it


@dataclass(frozen=True)
class Detail:
    """How finely tiles are cut."""

    pieces: int  # of the goal's own extent, before its edge is cut finer; twice as many of the bulk without one
    splits: int  # times that tiles on the goal's edge are cut in four
    widest: float  # of the bulk
    growth: float


ROUGH = Detail(6, 1, 0.1, 1.3)
FINE = Detail(12, 2, 0.05, 1.15)


@dataclass(frozen=True)
class Edged:
    """A bound on log-odds, and what it was proven with: tiles, anchors and ln w at them."""

    bound: float
    tiles: Tiles
    anchors: Array
    log_w: Array


def edge_bound(joint_attack: JointAttack, goal: Goal, epsilon: float) -> Edged | None:
    """Log-odds that no likelihood exceeds, by anchors; None where two numbers cannot be tiled."""
    plane = plane_of(joint_attack, goal)
    if plane is None:
        return None
    recent: deque[tuple[float, Edged]] = joint_attack.shares.setdefault((goal, "edged"), deque(maxlen=_RECENT))
    for larger, known in recent:
        if epsilon <= larger <= epsilon * (1 + _SAME):  # what is private at ε is so at a larger one
            return known
    found = _edged(joint_attack, goal, plane, epsilon)
    recent.append((epsilon, found))
    return found


def _edged(joint_attack: JointAttack, goal: Goal, plane: Plane, epsilon: float) -> Edged:
    key, kept = (goal, "tiles"), joint_attack.shares
    if key not in kept:  # the same at every ε, but for what lies in the tails
        kept[key] = [plane.still(*cut_in_boxes(joint_attack, goal, plane, detail)) for detail in (ROUGH, FINE)]
    rough, tiles = (plane.with_tails(still, boxes, epsilon) for still, boxes in kept[key])
    anchors = edge_points(joint_attack, goal, plane, tiles, kept[key][1][1], epsilon)
    start = climbed(rough, anchors, joint_attack.norm, epsilon)
    if isinstance(goal.part if isinstance(goal, Not) else goal, Near):
        found = anchored_bound(tiles, anchors, joint_attack.norm, epsilon, start, ROUND)
    elif is_round(goal):
        found = anchored_bound(tiles, anchors, joint_attack.norm, epsilon, start)
    else:  # along a long edge shares have to be level far out as well
        masses = joint_attack.shares.get((goal, "prior"))
        found = levelled_bound(tiles, anchors, joint_attack.norm, epsilon, start, masses=masses)
    return Edged(found.bound, tiles, anchors, found.log_w)


def edge_attack(found: Edged, norm: Norm, epsilon: float) -> float:
    """Log-odds that a likelihood is sure to reach that follows the anchors: the best of peaks and hollows."""
    tiles = found.tiles
    lands = [follow(tiles, found.anchors, found.log_w, norm, epsilon, sign, _SUMMITS) for sign in (+1, -1)]
    inner = np.flatnonzero((tiles.right[0] > 0.5) & ~tiles.is_far)
    if inner.size:
        heart = np.average(tiles.middle[inner], axis=0, weights=tiles.mass[inner])[None, :]
        lands.append(Landscape(heart, np.zeros(1), +1))
    return max(reached_odds(tiles, land, norm, epsilon) for land in lands)


def cut_in_boxes(joint_attack: JointAttack, goal: Goal, plane: Plane, detail: Detail) -> tuple[Boxes2, Array]:
    """Boxes, and of each the least and most that is correct and the least and most that is wrong, as shares."""
    parts = leaves(goal)
    marks = [fixed_points(joint_attack, a, parts, None) for a in plane.members]
    boxes = Boxes2.product(*(_edges(plane, i, own, detail) for i, own in enumerate(plane.marks(*marks))))
    decide = decider(joint_attack, goal, plane)
    done: list[tuple[Boxes2, Array]] = []
    for level in range(detail.splits + 1):
        shares = decide(boxes)
        settled = np.all(shares[::2] == shares[1::2], axis=0) | ~boxes.is_finite
        done.append((boxes[settled], shares[:, settled]))
        boxes = boxes[~settled]
        if level < detail.splits:
            boxes = boxes.split(2)
    done.append((boxes, _shares(plane, boxes, decide)))
    return Boxes2.joined([b for b, _ in done]), np.concatenate([shares for _, shares in done], axis=1)


def decider(joint_attack: JointAttack, goal: Goal, plane: Plane) -> Callable[[Boxes2], Array]:
    """Of boxes: which hold correct guesses only, which may hold any; and the same of wrong ones."""
    known = isinstance(goal, Conditional)
    regions = (And((goal.goal, goal.region)), And((~goal.goal, goal.region))) if known else (goal, ~goal)

    def decide(some: Boxes2) -> Array:
        hull = plane.hull(some)
        return np.stack([side for region in regions for side in decided(joint_attack, region, *hull)]) * 1.0

    return decide


def tile_shares(plane: Plane, boxes: Boxes2, decide: Callable[[Boxes2], Array], halvings: int = _HALVINGS) -> Array:
    """The shares of any boxes; those on the goal's edge are looked at closely."""
    shares = decide(boxes)
    cut = np.flatnonzero(np.any(shares[::2] != shares[1::2], axis=0) & boxes.is_finite)
    if cut.size:
        shares[:, cut] = _shares(plane, boxes[cut], decide, halvings)
    return shares


def _shares(plane: Plane, boxes: Boxes2, decide: Callable[[Boxes2], Array], halvings: int = _HALVINGS) -> Array:
    """The shares of boxes on the goal's edge: what is still on it is cut in four, so many times."""
    count = boxes.low[0].size
    sums, parts, home = np.zeros((5, count)), boxes, np.arange(count)
    for level in range(halvings):
        parts, home = parts.split(2), np.tile(home, 4)
        told = np.concatenate([decide(parts), np.ones((1, home.size))])  # and all of it
        settled = np.all(told[:4:2] == told[1:4:2], axis=0) | (level == halvings - 1)
        weighed = told[:, settled] * plane.mass(parts[settled])
        sums += [np.bincount(home[settled], row, count) for row in weighed]
        parts, home = parts[~settled], home[~settled]
    whole = sums[4]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.clip(sums[:4] / whole + np.array([-1, 1, -1, 1])[:, None] * 1e-12, 0.0, 1.0)
    return np.where(whole > 0, shares, np.array([0.0, 1.0, 0.0, 1.0])[:, None])


def decided(joint_attack: JointAttack, goal: Goal, low: list[Array], high: list[Array]) -> tuple[Any, Any]:
    """Of boxes of the goal's two attributes: which hold correct guesses only, and which may hold any."""
    if isinstance(goal, Compound):
        parts = [decided(joint_attack, part, low, high) for part in goal.parts]
        if isinstance(goal, Not):
            return ~parts[0][1], ~parts[0][0]
        join = np.all if isinstance(goal, And) else np.any
        return join([p[0] for p in parts], axis=0), join([p[1] for p in parts], axis=0)
    names = list(joint_attack.attributes)
    at = [names.index(a.name) for a in goal.attributes]
    if isinstance(goal, Together):
        return goal.decided([low[i] for i in at], [high[i] for i in at], joint_attack.point(goal))
    a, b = low[at[0]], high[at[0]]
    ends = joint_attack.intervals(goal)
    return (
        np.any([(a >= lo) & (b <= hi) for lo, hi in ends], axis=0),
        np.any([(b > lo) & (a < hi) for lo, hi in ends], axis=0),
    )


def _edges(plane: Plane, axis: int, fixed: list[float], detail: Detail) -> Array:
    """Edges of the first boxes: finer between the goal's own ends, growing from there on."""
    (low, high), knots = plane.support(axis), plane.breaks(axis)
    near, far, first, last = plane.quantiles(axis, [0.02, 0.98, _FAR, 1 - _FAR])
    bulk = far - near
    own = sorted({min(max(e, low), high) for e in fixed})  # a goal that reaches beyond the support ends with it
    if own:
        start, end = own[0], own[-1]
        gaps = np.diff(own)
        step = min(float(np.min(gaps)) / detail.pieces if gaps.size else np.inf, bulk / 8)
        step = max(step, (end - start) / (4 * detail.pieces))
    else:
        start, end = max(low, near - 0.35 * bulk), min(high, far + 0.35 * bulk)
        step = (end - start) / (2 * detail.pieces)
    found = {start, end, *own, *(k for k in knots if low < k < high)}
    inner = sorted(e for e in found if start <= e <= end)
    for a, b in pairwise(inner):
        found |= set(np.linspace(a, b, max(1, round((b - a) / step)) + 1).tolist())
    for begin, sign, goal in ((start, -1, max(first, low)), (end, +1, min(last, high))):
        at, width, bulky = begin, step, max(detail.widest * bulk, step)
        while sign * (goal - at) > 0:
            out = (
                near - at if sign < 0 else at - far
            ) - 0.75 * bulk  # far out in a heavy tail tiles grow with the way there
            width = min(width * detail.growth, max(bulky, (detail.growth - 1) * out))
            at += sign * width
            found.add(min(max(at, low), high))
    return np.unique([low, *(e for e in found if np.isfinite(e)), high])


def edge_points(
    joint_attack: JointAttack, goal: Goal, plane: Plane, tiles: Tiles, boxes: Boxes2, epsilon: float
) -> Array:
    """Points of the goal's edge, as far apart as they can be."""
    disc = goal.part if isinstance(goal, Not) else goal
    if isinstance(disc, Near):
        t = joint_attack.point(disc)
        assert t is not None
        rim = _rim(disc, t, plane)
        return rim[np.linspace(0, len(rim), _ANCHORS, endpoint=False).astype(np.int64)]
    middle = 0.5 * (np.min(tiles.corners, axis=1) + np.max(tiles.corners, axis=1))
    weighty = tiles.mass >= _TELLING * np.max(tiles.mass[tiles.is_cut], initial=0.0)
    cut = tiles.is_cut & weighty & (tiles.rise == 0)
    points = _on_edge(joint_attack, goal, plane, boxes[cut], middle[cut])
    flat = _flat_edges(joint_attack, goal, plane)
    points = np.concatenate([points, flat]) if flat.size else points
    return _spread_out(points if points.size else middle[:1], epsilon)


def _rim(disc: Near, t: list[float], plane: Plane) -> Array:
    """Points of a disc's edge, where the numbers can lie."""
    rim = np.stack(disc.rim(t, _POOL), axis=1)
    ends = [a.prior.support for a in plane.members if isinstance(a.prior, LinePrior)]
    possible = np.all([(rim[:, i] >= low) & (rim[:, i] <= high) for i, (low, high) in enumerate(ends)], axis=0)
    return plane.places(rim[possible] if possible.any() else rim)


def edge_pool(joint_attack: JointAttack, goal: Goal, plane: Plane, tiles: Tiles, boxes: Boxes2) -> Array:
    """Very many points of the goal's edge, far out too."""
    disc = goal.part if isinstance(goal, Not) else goal
    if isinstance(disc, Near):
        t = joint_attack.point(disc)
        assert t is not None
        return _rim(disc, t, plane)
    flat = _flat_edges(joint_attack, goal, plane, _POOL, _FAR)
    cut = tiles.is_cut & ~tiles.is_far
    return np.concatenate([_on_edge(joint_attack, goal, plane, boxes[cut], tiles.middle[cut]), flat])


def _on_edge(joint_attack: JointAttack, goal: Goal, plane: Plane, boxes: Boxes2, middle: Array) -> Array:
    """Points of boxes that the goal's edge cuts: on it, and in their middles, if it is not what is known that ends."""
    turns = _turns(joint_attack, goal, plane, boxes)
    return turns if isinstance(goal, Conditional) and turns.size else np.concatenate([middle, turns])


def _turns(joint_attack: JointAttack, goal: Goal, plane: Plane, boxes: Boxes2) -> Array:
    """A point of the goal's edge in each box that it cuts: between a correct corner and a wrong one, by halves.

    From an anchor beside the edge both sides are farther than from one on it, by twice its way there; from one in the
    middle of such a box the farthest corner is nearer.
    """
    boxes = boxes[boxes.is_finite]
    decide = decider(joint_attack, goal, plane)
    corners = np.stack([np.stack(ends) for ends in product(*zip(boxes.low, boxes.high, strict=True))])
    told = np.stack([decide(Boxes2((x, y), (x, y))) for x, y in corners])  # corner × what × box
    some = np.flatnonzero(np.any(told[:, 0] > 0, axis=0) & np.any(told[:, 2] > 0, axis=0))
    right, wrong = (corners[np.argmax(told[:, what, some], axis=0), :, some].T for what in (0, 2))
    for _ in range(_BISECTED):
        x, y = middle = 0.5 * (right + wrong)
        is_right = decide(Boxes2((x, y), (x, y)))[0] > 0
        right, wrong = np.where(is_right, middle, right), np.where(is_right, wrong, middle)
    x, y = 0.5 * (right + wrong)
    return plane.places(np.stack([x, y + plane.tilt * x], axis=1))


def _flat_edges(
    joint_attack: JointAttack, goal: Goal, plane: Plane, count: int = 48, telling: float = _TELLING
) -> Array:
    """Points on the ends of intervals of one attribute, where these are the edge of the whole goal."""
    found: list[Array] = []
    goal = goal.goal if isinstance(goal, Conditional) else goal
    for leaf in leaves(goal):
        if isinstance(leaf, Together):
            continue
        axis = [a.name for a in plane.members].index(leaf.attributes[0].name)
        ends = [e for pair in joint_attack.intervals(leaf) for e in pair if np.isfinite(e)]
        others = [e for g in leaves(goal) if not isinstance(g, Together) and g.attributes != leaf.attributes
                  for pair in joint_attack.intervals(g) for e in pair if np.isfinite(e)]  # fmt: skip
        near, far = _own_quantiles(plane.members[1 - axis], [telling, 1 - telling])
        along = np.unique([*np.linspace(near, far, count), *others, *_between(others)])
        gap = 1e-6 * (far - near)
        for end in ends:
            sides = []
            for shift in (-gap, gap):
                point = (
                    [np.full(along.size, end + shift), along]
                    if axis == 0
                    else [along, np.full(along.size, end + shift)]
                )
                sides.append(decided(joint_attack, goal, point, point)[1])
            turn = sides[0] != sides[1]
            # A corner of the edge belongs to it.
            turn |= np.isin(along, others)
            points = np.empty((int(turn.sum()), 2))
            points[:, axis], points[:, 1 - axis] = end, along[turn]
            found.append(plane.places(points))
    return np.concatenate(found) if found else np.empty((0, 2))


def _own_quantiles(attribute: Attribute, u: list[float]) -> list[float]:
    """Values of an attribute, whatever the other one is: where coordinates are tilted, it is none of them."""
    assert isinstance(attribute.prior, LinePrior)
    return np.asarray(attribute.prior.quantile(u)).tolist()


def _between(ends: list[float]) -> list[float]:
    return [a + (b - a) * k / 8 for a, b in zip(sorted(ends)[:-1], sorted(ends)[1:], strict=True) for k in range(1, 8)]


def _spread_out(points: Array, epsilon: float) -> Array:
    """Each next point as far as can be from those before it, until neighbours are near."""
    first = int(np.argmax(np.sum((points - np.mean(points, axis=0)) ** 2, axis=1)))
    chosen = [first]
    gap = np.max(np.abs(points - points[first]), axis=1)
    while len(chosen) < _MOST_ANCHORS and (left := float(np.max(gap))) > 0:
        if len(chosen) >= _ANCHORS and epsilon * left < _NEAR_ENOUGH:
            break
        chosen.append(int(np.argmax(gap)))
        gap = np.minimum(gap, np.max(np.abs(points - points[chosen[-1]]), axis=1))
    return points[np.array(chosen)]
