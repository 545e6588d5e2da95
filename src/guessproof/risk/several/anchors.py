"""Anchors: a bound for two numbers from a few points on the edge of the goal.

Whatever a private likelihood L is, from its values w_j at points b_j follow L(x) ≤ min_j w_j e^{ε·d(x, b_j)} on the
correct guesses and L(x) ≥ max_j w_j e^{−ε·d(x, b_j)} on the wrong ones. With anchors along the edge of the goal nothing
else constrains the two sides, so the bound closes on the truth as they get dense, in the true distance of any norm.

Of the largest I(w) : O(w), I(w) = Σ_k min_j w_j U_kj over cells of correct guesses and O(w) = Σ_k max_j w_j D_kj over
cells of wrong ones, a smoothed version is climbed. What it leaves behind is a way to hand every cell out to anchors,
and any such way is a proof: with A_j and C_j what anchor j is handed, I(w) ≤ Σ w_j A_j and O(w) ≥ Σ w_j C_j, so the
odds are at most the largest Σ w_j A_j : Σ w_j C_j for any w that are private among the anchors: a small linear program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.several.downhill import downhill
from guessproof.risk.several.levelling import levelled, never
from guessproof.risk.several.program import Edges, best_odds
from guessproof.risk.several.tile import Tiles
from guessproof.world.checks import Array
from guessproof.world.goals import Norm, combine

Climb = tuple[tuple[float, int], ...]
Late = Callable[[], bool]
_SHARPER: Climb = ((20.0, 50), (100.0, 20))  # how hard the least is, and steps uphill at that
_SHARPEST: Climb = ((100.0, 24), (400.0, 30), (1200.0, 30))
ROUND: Climb = _SHARPEST[1:]  # around a disc, whose rough climb leads as far already
LEVEL: Climb = ((30.0, 6), (100.0, 8), (400.0, 10))  # of shares that are levelled
_PART_CLIMB: Climb = ((100.0, 40), (300.0, 80))  # of parts, after their tiles
_OFFERS = 12  # anchors that a tile may be handed to
_FEW = 80  # anchors that are compared each with all; of more each with so many, by nearness and by how much that binds
_PAIRS = 20
_OFFERS_LEVEL, _PAIRS_LEVEL = 40, 6_000_000  # of a tile at least; of all tiles together, where these are more
_STRAY = 0.3  # by which ln w moves at most where tiles are offered to some anchors only
_SMALL, _NEXT_TO_NOTHING = -11.0, -16.0  # ln of shares: of an anchor that may be left out, of what that may cost
_SHARES, _SPARED = (1e-3, 1e-4, 1e-5, 1e-6), 3e-4  # of anchors that are kept; what leaving others out may cost
_SURE = 1e-6  # of a known probability, which is a quadrature's
_SHOWN = 2  # of the sharpest shares
_HUBS = 8  # others that all are compared with
_LARGEST_WAY = 300.0  # in ε·distance: beyond it exponentials tell nothing


Masses = tuple[float, float]  # the goal's probability, and that of wrong guesses


@dataclass(frozen=True)
class MiscountedTiles:
    """By how much cells that the goal's edge cuts count too much as correct, and too little as wrong.

    Of such cells the most that may be correct is counted, and the least that is wrong. Where the goal's probability is
    known, so is what all of them together count too much. Wherever that lies, it was counted at w_j·e^{ε·(farthest
    corner)} for some anchors j, which for private w is no less than w_i·e^{−ε·D_i} for any anchor i, D_i being its way
    to the farthest of these cells: that much, or any mean of it over anchors, can be taken off again. What is wrong
    besides has no lower likelihood, and can be added. Without it a gain at a small ε is lost in what is unsure.
    """

    over: float
    under: float
    ways: Array  # ε·way from every anchor to the farthest of these cells

    @classmethod
    def of(
        cls, cells: Tiles, masses: Masses | None, anchors: Array, norm: Norm, epsilon: float
    ) -> MiscountedTiles | None:
        near = cells.is_cut & ~cells.is_far
        if masses is None or not near.any():
            return None
        spare = [_SURE * mass + 1e-14 for mass in masses]
        # Far cells have no farthest corner: all that is unsure there is taken to lie there.
        beyond = [float(np.sum((cells.mass * (most - least))[~near])) for least, most in (cells.right, cells.wrong)]
        over = float(np.sum(cells.mass * cells.inside)) - masses[0] - beyond[0] - spare[0]
        under = masses[1] - float(np.sum(cells.mass * cells.outside)) - beyond[1] - spare[1]
        corners = np.unique(cells.corners[near].reshape(-1, 2), axis=0)
        ways = np.max(_apart(anchors, corners, norm), axis=1)
        return cls(max(over, 0.0), max(under, 0.0), epsilon * ways)

    def mended(self, right: Array, wrong: Array, log_w: Array) -> tuple[Array, Array]:
        """ln of what anchors are handed, with what was counted too much or too little shared out as the rest is."""
        taken, given = (np.logaddexp.reduce(side) for side in (right, wrong))
        less = np.minimum(self.over * np.exp(np.minimum(log_w - self.ways - taken, 50.0)), 0.5)
        more = self.under * np.exp(np.minimum(log_w - self.ways - given, 50.0))
        return right + np.log1p(-less), wrong + np.log1p(more)


@dataclass(frozen=True)
class Anchored:
    """Log-odds that no likelihood exceeds, and ln w of a good likelihood at the anchors."""

    bound: float
    log_w: Array


@dataclass(frozen=True)
class _Offers:
    """Tiles of correct (sign +1) or of wrong guesses (−1) and the anchors that each may be handed to.

    Whatever is left out, what is handed to the others is a proof; those that come last for a tile are left out.
    """

    worth: Array  # anchors × tile: along the tiles is where sums run fast
    anchor: NDArray[np.int64] | None  # None: every anchor, in its order
    count: int
    sign: int

    @classmethod
    def of(
        cls, tiles: Tiles, anchors: Array, norm: Norm, epsilon: float, log_w: Array, sign: int, most: int
    ) -> _Offers:
        count = log_w.size
        if count <= most:
            worth = tiles.worth(anchors, norm, epsilon, sign)
            return cls(np.ascontiguousarray(worth.T), None, count, sign)
        middle = tiles.middle[(tiles.inside if sign > 0 else tiles.outside) > 0]
        way = _apart(middle, anchors, norm)
        anchor = np.argpartition(sign * log_w + epsilon * way, most, axis=1)[:, :most]
        worth = tiles.worth(anchors, norm, epsilon, sign, anchor)
        return cls(np.ascontiguousarray(worth.T), np.ascontiguousarray(anchor.T), count, sign)

    def soft(self, log_w: Array, sharpness: float) -> tuple[Array, Array]:
        """The least (+) or largest (−) over anchors, smoothed, and each one's share in it."""
        share = self.worth + (log_w[:, None] if self.anchor is None else log_w[self.anchor])
        share *= -self.sign * sharpness
        top = np.max(share, axis=0)
        share -= top
        np.exp(share, out=share)
        total = np.sum(share, axis=0)
        share /= total
        return -self.sign * (top + np.log(total)) / sharpness, share

    def gathered(self, amounts: Array) -> Array:
        """What falls to each anchor."""
        if self.anchor is None:
            return np.sum(amounts, axis=1)
        return np.asarray(np.bincount(self.anchor.ravel(), amounts.ravel(), self.count), dtype=np.float64)

    def summed(self, log_w: Array, sharpness: float) -> tuple[float, Array]:
        """ln of the smoothed total, and its slope in every ln w."""
        logs, share = self.soft(log_w, sharpness)
        top = float(np.max(logs))
        parts = np.exp(logs - top)
        total = float(np.sum(parts))
        share *= parts / total
        return top + float(np.log(total)), self.gathered(share)

    def least(self, log_w: Array) -> float:
        """ln of the total of the least (+) or the largest (−) over anchors."""
        worth = self.worth + (log_w[:, None] if self.anchor is None else log_w[self.anchor])
        return float(np.logaddexp.reduce(self.sign * np.min(self.sign * worth, axis=0)))

    def handed(self, log_w: Array, sharpness: float) -> Array:
        """ln of what each anchor is handed."""
        _, share = self.soft(log_w, sharpness)
        top = float(np.max(self.worth))
        with np.errstate(divide="ignore"):
            return np.log(self.gathered(share * np.exp(self.worth - top))) + top


_Sides = tuple[_Offers, _Offers]


def offered(tiles: Tiles, anchors: Array, norm: Norm, epsilon: float, log_w: Array, most: int) -> _Sides:
    one, other = (_Offers.of(tiles, anchors, norm, epsilon, log_w, sign, most) for sign in (+1, -1))
    return one, other


def climbed(tiles: Tiles, anchors: Array, norm: Norm, epsilon: float) -> Array:
    """ln w of a likelihood at the anchors that is nearly the best, from soft to sharp."""
    log_w = np.zeros(len(anchors))
    if _is_in_reach(tiles, anchors, epsilon):
        sides = offered(tiles, anchors, norm, epsilon, log_w, len(anchors))
        for sharpness, steps in _SHARPER:
            log_w = uphill(sides, log_w, sharpness, steps)
    return log_w


def anchored_bound(
    tiles: Tiles,
    anchors: Array,
    norm: Norm,
    epsilon: float,
    log_w: Array,
    steps: Climb | None = None,
    stray: float = np.inf,
    offers: int = _OFFERS,
) -> Anchored:
    """The bound from these anchors; the nearer ln w is to the best, the better it is. No ln w strays farther.

    Far from the edge many anchors are as good as one another, and the more a tile may be handed to the better.
    """
    if not _is_in_reach(tiles, anchors, epsilon):
        return Anchored(np.inf, log_w)
    sides, steps = offered(tiles, anchors, norm, epsilon, log_w, offers), steps or _SHARPEST
    for sharpness, count in steps:
        log_w = uphill(sides, log_w, sharpness, count, stray)
    if tiles.parts is not None:  # climbing looks at whole tiles; in the end each part goes where it is worth least
        sides = offered(tiles.parts.tiles, anchors, norm, epsilon, log_w, offers)
        for sharpness, count in _PART_CLIMB:
            log_w = uphill(sides, log_w, sharpness, count, stray)
    bound = np.inf
    # As climbed, or lowered to what is private among anchors where the climb went astray: any ln w are a proof.
    for own in (log_w, np.min(log_w + epsilon * _apart(anchors, anchors, norm), axis=1)):
        for sharpness, _ in reversed(steps):  # softer where the hardest leaves amounts lost in a solver's rounding
            bound = min(bound, _shown(sides, own, sharpness, anchors, norm, epsilon))
            if bound < np.inf:
                return Anchored(bound, log_w)
    return Anchored(bound, log_w)


def levelled_bound(
    tiles: Tiles,
    anchors: Array,
    norm: Norm,
    epsilon: float,
    log_w: Array,
    climb: Climb = LEVEL,
    is_late: Late = never,
    masses: Masses | None = None,
) -> Anchored:
    """The bound from these anchors by shares that are level (`levelling`): it takes longer, and leaves less.

    The sharper shares are, the less is lost between anchors that are nearly as good, and the harder they are to level:
    the least of what the sharpest ones show counts. TimeoutError where it takes too long.
    """
    if not _is_in_reach(tiles, anchors, epsilon):
        return Anchored(np.inf, log_w)
    everywhere, kept = anchors, np.arange(log_w.size)
    ways, bound = epsilon * _apart(anchors, anchors, norm), np.inf
    finer = 1 / min(max(float(np.max(ways)), 1e-9), 1.0)  # where ε is so small that likelihoods hardly differ
    for at, (sharpness, looks) in enumerate((finer * hard, looks) for hard, looks in climb):
        log_w = np.min(log_w + ways, axis=1)  # what is not private among anchors is offered to too few
        finest = tiles.parts is not None and at == len(climb) - 1
        cells = tiles.parts.tiles if tiles.parts is not None and finest else tiles
        offers = max(_OFFERS_LEVEL, _PAIRS_LEVEL // max(cells.mass.size, 1))
        sides = offered(cells, anchors, norm, epsilon, log_w, offers)
        moved = levelled(sides, log_w, sharpness, looks, is_late) - log_w
        log_w = log_w + (np.clip(moved, -_STRAY, _STRAY) if offers < log_w.size else moved)
        if at >= len(climb) - _SHOWN:
            counted = MiscountedTiles.of(cells, masses, anchors, norm, epsilon)
            bound = min(bound, _shown(sides, log_w, sharpness, anchors, norm, epsilon, counted))
        if at == 0:
            kept = _told(tiles, anchors, norm, epsilon, log_w, sides, sharpness, offers)
            anchors, log_w, ways = anchors[kept], log_w[kept], ways[np.ix_(kept, kept)]
        if is_late():
            raise TimeoutError
    ways = epsilon * _apart(everywhere, anchors, norm)
    whole = 0.5 * (np.min(log_w + ways, axis=1) + np.max(log_w - ways, axis=1))
    whole[kept] = log_w
    return Anchored(bound, whole)


def _told(
    tiles: Tiles,
    anchors: Array,
    norm: Norm,
    epsilon: float,
    log_w: Array,
    sides: _Sides,
    sharpness: float,
    offers: int,
) -> NDArray[np.int64]:
    """Which anchors are worth keeping: without the others hardly more is proven of this likelihood.

    One far out is handed next to nothing, yet a likelihood that has its peak there makes it count: its shares would
    have to be as level as those of any other, by numbers that no climb sees. Without it what lies there is handed to
    those further inside.
    """
    share = np.maximum(*(side.summed(log_w, sharpness)[1] for side in sides))
    before = _hard(sides, log_w)
    for least in _SHARES:
        some = np.flatnonzero(share >= least)
        if some.size == share.size:
            break
        if some.size > 1:
            left = offered(tiles, anchors[some], norm, epsilon, log_w[some], offers)
            if _hard(left, log_w[some]) <= before + _SPARED:
                return some
    return np.arange(share.size)


def _hard(sides: _Sides, log_w: Array) -> float:
    """Log-odds of one likelihood where every tile goes to the anchor to which it is worth least, or most."""
    return sides[0].least(log_w) - sides[1].least(log_w)


def _shown(
    sides: _Sides,
    log_w: Array,
    sharpness: float,
    anchors: Array,
    norm: Norm,
    epsilon: float,
    counted: MiscountedTiles | None = None,
) -> float:
    """The bound from what anchors are handed at these ln w, which are the units that its program is solved in.

    Where ln w are not private among anchors a cost below 0 is left at 0 by the program, which only loosens it.
    """
    right, wrong = (side.handed(log_w, sharpness) + log_w for side in sides)
    if counted is not None:
        right, wrong = counted.mended(right, wrong, log_w)
    right, some = merged(right, wrong, epsilon * _apart(anchors, anchors, norm) - (log_w[:, None] - log_w))
    own, shift = log_w[some], float(np.max(right))
    edges = _between(anchors[some], norm, epsilon, own)
    cost = edges.cost - (own[edges.rows] - own[edges.cols])
    return best_odds(np.exp(right - shift), np.exp(wrong[some] - shift), Edges(edges.rows, edges.cols, cost)).bound


def merged(right: Array, wrong: Array, cost: Array) -> tuple[Array, NDArray[np.int64]]:
    """ln of what is handed of correct guesses to anchors that tell, and which these are.

    Anchors that are handed next to nothing are lost in a solver's rounding, and a proof with them. What one is handed
    of correct guesses can be handed to another at the price of the way; what it is of wrong ones is left out.
    """
    right, kept = right.copy(), np.ones(right.size, dtype=bool)
    totals = [float(np.logaddexp.reduce(side)) for side in (right, wrong)]
    share = np.maximum(right - totals[0], wrong - totals[1])
    cost = cost + np.where(np.eye(share.size, dtype=bool), np.inf, 0.0)
    for j in np.argsort(share)[:-1]:
        if share[j] > _SMALL:
            break
        near = int(np.argmin(np.where(kept, cost[j], np.inf)))
        if right[j] + cost[j, near] <= totals[0] + _NEXT_TO_NOTHING:
            right[near], kept[j] = np.logaddexp(right[near], right[j] + cost[j, near]), False
    some = np.flatnonzero(kept)
    return right[some], some


def _apart(places: Array, others: Array, norm: Norm) -> Array:
    return combine(norm, [np.abs(places[:, None, i] - others[None, :, i]) for i in (0, 1)])


def _between(anchors: Array, norm: Norm, epsilon: float, log_w: Array) -> Edges:
    """What holds between anchors: of very many, only between near ones and where it nearly binds."""
    cost = epsilon * _apart(anchors, anchors, norm)
    pairs = ~np.eye(log_w.size, dtype=bool)
    if log_w.size > _FEW:
        slack = cost - (log_w[:, None] - log_w[None, :])
        kept = np.zeros_like(pairs)
        for order in (cost, slack):
            np.put_along_axis(kept, np.argpartition(order, _PAIRS, axis=1)[:, :_PAIRS], True, axis=1)
        kept[:, :_HUBS] = True  # the first are far apart: what is far out stays tied to the rest, else nothing holds it
        pairs &= kept
    rows, cols = np.nonzero(pairs)
    return Edges(rows, cols, cost[rows, cols])


def _is_in_reach(tiles: Tiles, anchors: Array, epsilon: float) -> bool:
    """Whether both sides have cells, at distances whose exponentials still tell something."""
    far = max(float(np.max(np.abs(tiles.corners[..., i] - anchors[0, i]), initial=0.0)) for i in range(2))
    moments = np.all(np.isfinite(tiles.rise[tiles.inside > 0]))
    return bool(epsilon * far <= _LARGEST_WAY and moments and np.any(tiles.inside > 0) and np.any(tiles.outside > 0))


def uphill(sides: _Sides, log_w: Array, sharpness: float, steps: int, stray: float = np.inf) -> Array:
    def loss(s: Array) -> tuple[float, Array]:
        (inside, one), (outside, two) = (side.summed(s, sharpness) for side in sides)
        return outside - inside, two - one

    if stray == np.inf:
        found = downhill(loss, log_w, steps)
        # Where rounding is all that tells heights apart a climb can leave the world; nothing private lies out there.
        return found if float(np.ptp(found)) <= 2 * _LARGEST_WAY else log_w

    def near(change: Array) -> tuple[float, Array]:
        bent = np.tanh(change / stray)
        value, slope = loss(log_w + stray * bent)
        return value, slope * (1 - bent**2)

    return log_w + stray * np.tanh(downhill(near, np.zeros(log_w.size), steps) / stray)
