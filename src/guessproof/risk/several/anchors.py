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

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.several.downhill import downhill
from guessproof.risk.several.program import Edges, best_odds
from guessproof.world.checks import Array
from guessproof.world.goals import Norm, combine, power_of

Climb = tuple[tuple[float, int], ...]
_SHARPER: Climb = ((20.0, 50), (100.0, 20))  # how hard the least is, and steps uphill at that
_SHARPEST: Climb = ((100.0, 24), (400.0, 30), (1200.0, 30))
_OFFERS = 12  # anchors that a tile may be handed to
_LARGEST_WAY = 300.0  # in ε·distance: beyond it exponentials tell nothing


@dataclass(frozen=True)
class Tiles:
    """Cells of the plane: corners in units of distance, their weights at the cell's mean, masses, shares.

    On a cell e^{εd} is convex in position and lies below its corners' values (Edmundson–Madansky), and e^{−εd} above
    e^{−ε·(mean d)} (Jensen). In a cell that the goal's edge cuts only the farthest corner counts.
    """

    corners: Array  # cell × corner × axis
    weight: Array  # cell × corner
    mass: Array
    right: tuple[Array, Array]  # the least and the most that belongs to the goal, as shares
    wrong: tuple[Array, Array]  # the same of wrong guesses
    is_cut: Any
    rise: Array  # ln E[e^{+ε·(way beyond the corners)}] of cells that reach to infinity, 0 elsewhere
    fall: Array  # the same of e^{−ε·…}

    @property
    def inside(self) -> Array:
        """The most that can belong to the goal."""
        return self.right[1]

    @property
    def outside(self) -> Array:
        """The least that is a wrong guess."""
        return self.wrong[0]

    def worth(self, anchors: Array, norm: Norm, epsilon: float) -> tuple[Array, Array]:
        """ln of what correct and wrong cells are worth if they are handed to each anchor."""
        right, wrong = self.inside > 0, self.outside > 0
        with np.errstate(divide="ignore"):
            up = self._bounds(right, anchors, norm, epsilon, +1) + np.log(self.mass * self.inside)[right, None]
            down = self._bounds(wrong, anchors, norm, epsilon, -1) + np.log(self.mass * self.outside)[wrong, None]
        return up, down

    def _bounds(self, some: Any, anchors: Array, norm: Norm, epsilon: float, sign: int) -> Array:
        corners, weight, cut = self.corners[some], self.weight[some], self.is_cut[some][:, None]
        total, most = (np.zeros((corners.shape[0], anchors.shape[0])) for _ in range(2))
        for c in range(corners.shape[1]):
            gaps = [np.abs(corners[:, c, i, None] - anchors[None, :, i]) for i in range(anchors.shape[1])]
            way = epsilon * combine(norm, gaps)
            most = np.maximum(most, way)
            total += weight[:, c, None] * (np.exp(way) if sign > 0 else way)
        if sign > 0:
            return np.where(cut, most, np.log(total)) + self.rise[some][:, None]
        return self.fall[some][:, None] - np.where(cut, most, total)


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
    def of(cls, worth: Array, log_w: Array, sign: int, most: int) -> _Offers:
        count = log_w.size
        if count <= most:
            return cls(np.ascontiguousarray(worth.T), None, count, sign)
        anchor = np.argpartition(sign * (worth + log_w), most, axis=1)[:, :most]
        own = np.take_along_axis(worth, anchor, axis=1)
        return cls(np.ascontiguousarray(own.T), np.ascontiguousarray(anchor.T), count, sign)

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

    def handed(self, log_w: Array, sharpness: float) -> Array:
        """ln of what each anchor is handed."""
        _, share = self.soft(log_w, sharpness)
        top = float(np.max(self.worth))
        with np.errstate(divide="ignore"):
            return np.log(self.gathered(share * np.exp(self.worth - top))) + top


_Sides = tuple[_Offers, _Offers]


def _offers(tiles: Tiles, anchors: Array, norm: Norm, epsilon: float, log_w: Array) -> _Sides:
    up, down = tiles.worth(anchors, norm, epsilon)
    return _Offers.of(up, log_w, +1, _OFFERS), _Offers.of(down, log_w, -1, _OFFERS)


def climbed(tiles: Tiles, anchors: Array, norm: Norm, epsilon: float) -> Array:
    """ln w of a likelihood at the anchors that is nearly the best, from soft to sharp."""
    log_w = np.zeros(len(anchors))
    if _is_in_reach(tiles, anchors, epsilon):
        up, down = tiles.worth(anchors, norm, epsilon)
        sides = _Offers.of(up, log_w, +1, len(anchors)), _Offers.of(down, log_w, -1, len(anchors))
        for sharpness, steps in _SHARPER:
            log_w = _uphill(sides, log_w, sharpness, steps)
    return log_w


def anchored_bound(
    tiles: Tiles, anchors: Array, norm: Norm, epsilon: float, log_w: Array, steps: Climb = _SHARPEST
) -> Anchored:
    """The bound from these anchors; the nearer ln w is to the best, the better it is."""
    n = len(anchors)
    if not _is_in_reach(tiles, anchors, epsilon):
        return Anchored(np.inf, log_w)
    sides = _offers(tiles, anchors, norm, epsilon, log_w)
    for sharpness, count in steps:
        log_w = _uphill(sides, log_w, sharpness, count)
    right, wrong = (side.handed(log_w, steps[-1][0]) for side in sides)
    shift = float(np.max(right))
    rows, cols = np.nonzero(~np.eye(n, dtype=bool))
    gaps = [np.abs(anchors[rows, i] - anchors[cols, i]) for i in range(anchors.shape[1])]
    edges = Edges(rows, cols, epsilon * combine(norm, gaps))
    return Anchored(best_odds(np.exp(right - shift), np.exp(wrong - shift), edges).bound, log_w)


def _is_in_reach(tiles: Tiles, anchors: Array, epsilon: float) -> bool:
    """Whether both sides have cells, at distances whose exponentials still tell something."""
    far = max(float(np.max(np.abs(tiles.corners[..., i] - anchors[0, i]), initial=0.0)) for i in range(2))
    moments = np.all(np.isfinite(tiles.rise[tiles.inside > 0]))
    return bool(epsilon * far <= _LARGEST_WAY and moments and np.any(tiles.inside > 0) and np.any(tiles.outside > 0))


def _uphill(sides: _Sides, log_w: Array, sharpness: float, steps: int) -> Array:
    def loss(s: Array) -> tuple[float, Array]:
        (inside, one), (outside, two) = (side.summed(s, sharpness) for side in sides)
        return outside - inside, two - one

    return downhill(loss, log_w, steps)


def peaks_reach(tiles: Tiles, summits: Array, height: Array, norm: Norm, epsilon: float) -> float:
    """Log-odds that L(x) = max_i e^{height_i − ε·d(x, summit_i)} is sure to reach.

    A peak is log-concave: on a tile its mean is at least e^{−ε·(mean d)}, and the maximum lies below that of the
    tangents at the tile's mean, whose exponential is convex and lies below its corners' values. Only the least of what
    is correct and the most of what is wrong are counted; beyond the corners of a tile without end L only falls.
    """
    middle = np.einsum("kc,kci->ki", tiles.weight, tiles.corners)
    gaps = [middle[:, None, i] - summits[None, :, i] for i in range(2)]
    way = combine(norm, [np.abs(gap) for gap in gaps])
    value = height - epsilon * way
    best = np.argmax(value, axis=1)
    slopes = _slopes(norm, gaps, way)
    low, high, most, least = (np.zeros(best.size) for _ in range(4))
    most -= np.inf
    least += np.inf
    for c in range(tiles.corners.shape[1]):
        step = tiles.corners[:, c] - middle
        own = combine(norm, [np.abs(tiles.corners[:, c, i] - summits[best, i]) for i in range(2)])
        peak = height[best] - epsilon * own
        tangent = np.max(value - epsilon * (slopes[0] * step[:, :1] + slopes[1] * step[:, 1:]), axis=1)
        low, high = low + tiles.weight[:, c] * peak, high + tiles.weight[:, c] * np.exp(tangent)
        most, least = np.maximum(most, tangent), np.minimum(least, peak)
    far = (tiles.rise != 0) | (tiles.fall != 0)
    low = np.where(far, 0.0, np.exp(np.where(tiles.is_cut, least, low)))
    high = np.where(tiles.is_cut | far, np.exp(most), high)
    inside, outside = (float(np.sum(tiles.mass * share * side)) for share, side in
                       ((tiles.right[0], low), (tiles.wrong[1], high)))  # fmt: skip
    with np.errstate(divide="ignore"):
        return float(np.log(inside) - np.log(outside)) - 1e-9


def _slopes(norm: Norm, gaps: list[Array], way: Array) -> list[Array]:
    """A subgradient of the distance from every summit at every tile's mean."""
    signs = [np.sign(gap) for gap in gaps]
    power = power_of(norm)
    if np.isinf(power):
        first = np.abs(gaps[0]) >= np.abs(gaps[1])
        return [signs[0] * first, signs[1] * ~first]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [np.where(way > 0, (np.abs(gap) / way) ** (power - 1), 0.0) for gap in gaps]
    return [sign * share for sign, share in zip(signs, shares, strict=True)]
