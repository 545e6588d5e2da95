"""A prior that may be wrong, for every true value of a range: boxes of true values and peaks, in rows.

Hold the peak c of a tent L fixed while the true value t moves. Of the integrals in `along`, a tangent of slope ℓ to A
has the height U(t) = max over h of ∫_G (L − ℓ)hf = ∫_lo^hi W·f, with W = w(L − ℓ) and w(z) = κz for z > 0, z below.
Only the edges move with t, along straight lines:

    U'(t) = hi'·(W·f)(hi) − lo'·(W·f)(lo),     and of b, B the same with the signs turned and w(z) = κz for z < 0.

So U lies above the chord of its values at the two ends of a box, half-width d, by 4θ(1−θ)·q at most, where 2q/d² is the
most that −U'' can be: h·|L'|·f and |W·f'| at both edges, times lo'² or hi'². The least and the largest a leave their
chords by d²/2 times the slope of f, or d/2 times what f varies by. Tangents keep their slopes, so the corners of both
polygons, where two of them meet, move along straight lines with t but for what is told above. Along such lines, from
one end of the box to the other, with T = a + b, S = A + B, P = A/S and α, β the weights of the first end in T and in S,

    A/(A+B) − a/(a+b) = α·(that at the first end) + (1−α)·(that at the second) + (β − α)·(P₁ − P₂),

and |β − α| ≤ α(1−α)·|S₁T₂ − S₂T₁|·max(T/S)/T₁T₂. The last term is a product of two small numbers, and mostly 0: where
h is the same on both sides of an edge, S and T do not change at all. With q of what is raised and q' of the rest, A/S
grows by 4θ(1−θ)·(q·B/S + q'·A/S)/(S − q') at most, and θ(1−θ) ≤ α(1−α)·max(T₁/T₂, T₂/T₁). So the two ends of a box and
a parabola above their chord bound all of it.

Between two peaks the same holds as at one true value: A is larger by κ·sinh(ε(c₂−c₁)/2)·P[c₁, c₂] at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.radii import Radii
from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.turns import TurnedPart, risen
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array

_ROUNDING = 4e-14  # of beliefs
SLIVER = 4e-15  # of where edges are: as near to a jump of the density as that is beside it


@dataclass(frozen=True, eq=False)
class Strip:
    """What the likelihood and the density are along the strip that an edge of the goal passes in a box."""

    half: Array
    likely: Pair  # L at least and at most
    likely_beside: Pair  # the same with what rounding may hide
    steep: Array  # how steep L is at most
    density: Pair
    slopes: Pair  # of the density
    beside: Array  # what rounding may hide at the ends of the strip

    def bends(self, slope: Array, way: Move, out: int, raised: Array, factor: float) -> Array:
        """What −way·U'' can be at most for each tangent, by what this edge does; `out` is 1 where it adds to U."""
        low, high = (raised[:, None] * v[:, None] - slope for v in self.likely)
        weights, half = _weights(low, high, way, factor), self.half[:, None]
        h = np.where((high > 0) if way > 0 else (low < 0), factor, 1.0)
        # Where W changes its sign, so may the slope of f: what both parts of W add then adds up.
        size = hidden = np.max(weights, axis=0, initial=0.0) - np.min(weights, axis=0, initial=0.0)
        if self.likely_beside is not self.likely:
            low, high = (raised[:, None] * v[:, None] - slope for v in self.likely_beside)
            others = _weights(low, high, way, factor)
            hidden = np.max(others, axis=0, initial=0.0) - np.min(others, axis=0, initial=0.0)
        products = -way * out * np.stack([weights * v[:, None] for v in self.slopes])
        bent = np.max(np.where(np.isnan(products), 0.0, products), axis=(0, 1))
        varies = (self.density[1] - self.density[0])[:, None]
        bent = np.fmin(bent, size * varies / half) + hidden * 2 * self.beside[:, None] / half**2
        return h * (raised * self.steep * self.density[1])[:, None] + bent

    def moved(self, bend: Array) -> Array:
        """What a second derivative adds in the middle between two ends; nothing where the edge does not move."""
        with np.errstate(invalid="ignore"):
            return np.where(self.half > 0, 0.5 * np.square(self.half) * bend, 0.0)

    @property
    def bends_of_mass(self) -> Pair:
        """Between what the second derivative of the mass before the edge is."""
        varies = (self.density[1] - self.density[0]) / self.half
        beside = 2 * self.beside / np.square(self.half)
        return np.fmax(self.slopes[0], -varies) - beside, np.fmin(self.slopes[1], varies) + beside


def _weights(low: Array, high: Array, way: Move, factor: float) -> Array:
    """W where L − ℓ is least and largest."""
    return np.stack([np.where(way * z > 0, factor, 1.0) * z for z in (low, high)])


@dataclass(frozen=True, eq=False)
class PeakedGoals:
    """In rows: an ε, a goal (in a box of true values the middle one), how far its edges move either way, and a peak."""

    radii: Radii
    factor: float
    move: Move
    epsilon: Array
    lo: Array
    hi: Array
    halves: Array  # of the lower edge and of the upper one: a goal in percent grows as it moves
    c: Array

    def pick(self, some: NDArray[np.int64]) -> PeakedGoals:
        each = (self.epsilon, self.lo, self.hi, self.halves, self.c)
        return PeakedGoals(self.radii, self.factor, self.move, *(v[..., some] for v in each))

    @property
    def world(self) -> TiltedIntegrals:
        return self.radii.world

    @property
    def rate(self) -> Array:
        return self.move * self.epsilon

    @property
    def ends(self) -> PeakedGoals:
        """The goals at both ends of each box, first ones first; they move no more."""
        lo, hi = (np.concatenate([v - half, v + half]) for v, half in zip((self.lo, self.hi), self.halves, strict=True))
        epsilon, halves, c = (np.tile(v, 2) for v in (self.epsilon, 0 * self.halves, self.c))
        return PeakedGoals(self.radii, self.factor, self.move, epsilon, lo, hi, halves, c)

    def widest(self, reach: Array, near: Array) -> Pair:
        """How far from its peak some goal of a box reaches, and how near what lies outside of some comes, at most."""
        radii, c, support = self.radii, self.c, self.world.prior.support
        ends = (np.clip(v, *support) for v in (self.lo - self.halves[0], self.hi + self.halves[1]))
        reach = np.maximum(reach, np.maximum(*(radii.farthest(c, end) for end in ends)))
        first, last = self.lo + self.halves[0], self.hi - self.halves[1]
        beside = (first > c) | (last < c)  # a peak beside a goal has what lies outside at once
        inner = np.minimum(radii.nearest(c, first), radii.nearest(c, last))
        return reach, np.minimum(near, np.where(beside, 0.0, inner))

    def reaches(self, bulk: Pair) -> tuple[Array, Array, Array]:
        """How far from its peak a goal reaches, how near what lies outside comes, and how far that reaches."""
        radii, c, support = self.radii, self.c, self.world.prior.support
        lo, hi = np.clip(self.lo, *support), np.clip(self.hi, *support)
        near = np.where((lo > c) | (hi < c), 0.0, np.minimum(radii.nearest(c, lo), radii.nearest(c, hi)))
        reach, far = (np.maximum(radii.farthest(c, a), radii.farthest(c, b)) for a, b in ((lo, hi), bulk))
        return reach, near, far

    def inside(self, cut: Array, *, from_one: bool = False) -> Pair:
        """∫hf and ∫Lhf in the goal, h being κ within such radii of the peak.

        With `from_one` h is 1 everywhere at the first radius and κ at the last: where ψ is flat, many values are
        equally far from the peak, and a radius says too little.
        """
        lo, hi, c = (v[:, None] for v in (self.lo, self.hi, self.c))
        cut = cut[:, 1:-1] if from_one else cut
        left, right = self.radii.around(c, cut)
        left = np.where(self.radii.farthest(c, lo) <= cut, lo, left)
        left = np.concatenate([lo, np.maximum(left, lo)], axis=1), np.minimum(c, hi)
        right = np.maximum(c, lo), np.concatenate([hi, np.minimum(right, hi)], axis=1)
        return self._weighed([left, right], from_one)

    def outside(self, cut: Array, *, from_one: bool = False) -> Pair:
        """The same outside, h being κ from such radii on."""
        lo, hi, c = (v[:, None] for v in (self.lo, self.hi, self.c))
        cut = cut[:, 1:-1] if from_one else cut
        left, right = self.radii.around(c, cut)
        ends = np.full_like(c, -np.inf), np.full_like(c, np.inf)
        pieces = [
            (ends[0], np.concatenate([np.minimum(lo, c), np.minimum(left, lo)], axis=1)),
            (np.concatenate([np.maximum(hi, c), np.maximum(right, hi)], axis=1), ends[1]),
        ]
        mass, told = self._weighed(pieces, from_one)
        beside = np.flatnonzero((self.c < self.lo) | (self.c > self.hi))
        if beside.size:  # a peak beside the goal has some of what lies outside on its way there
            left, right, lo, hi, c = (v[beside] for v in (left, right, lo, hi, c))
            pieces = [
                (hi, np.concatenate([c, left], axis=1)),
                (np.concatenate([c, right], axis=1), lo),
            ]
            more = self.pick(beside)._weighed(pieces, from_one)
            mass[beside] += more[0]
            told[beside] += more[1]
        return mass, told

    def _weighed(self, pieces: list[Pair], from_one: bool) -> Pair:
        """∫hf and ∫Lhf over a piece on the left and one on the right of the peak; first whole, then where h is κ."""
        mass, told = self.world.sides(self.rate, pieces[0], pieces[1], self.c)
        tilts = np.stack([mass, told])
        whole = tilts[..., :1]
        weighed = whole + (self.factor - 1) * tilts[..., 1:]
        if from_one:
            weighed = np.concatenate([whole, weighed, self.factor * whole], axis=-1)
        return weighed[0], weighed[1]

    def strips(self) -> tuple[Strip, Strip]:
        """The strips that the lower and the upper edge pass."""
        return self._strip(self.lo, self.halves[0]), self._strip(self.hi, self.halves[1])

    def _strip(self, edge: Array, half: Array) -> Strip:
        prior, form = self.world.prior, self.world.form
        sliver = SLIVER * (np.abs(self.lo) + np.abs(self.hi) + half)
        first, last = edge - half, edge + half
        inner = np.minimum(first + sliver, edge), np.maximum(last - sliver, edge)
        beside, wide = prior.density_range(first, last)[1] * sliver, self._likely(first, last)
        # Strips end where ψ jumps: L there is that of the inside, but for what rounding hides.
        least, most = likely = self._likely(*inner) if form.jumped.size else wide
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            steep = self.epsilon * form.slopes[0] * most if form.is_straight else (most - least) / half
        for cut in form.jumped:
            steep = np.where((inner[0] <= cut) & (cut < inner[1]), np.inf, steep)
        down, up = prior.density_slopes(*inner)
        slopes = np.where(down > up, 0.0, down), np.where(down > up, 0.0, up)  # a strip of rounding alone has none
        return Strip(half, likely, wide, steep, prior.density_range(*inner), slopes, beside)

    def _likely(self, first: Array, last: Array) -> Pair:
        """L at least and at most from one value to another."""
        with np.errstate(invalid="ignore", over="ignore"):
            logs = np.stack([self.log_likelihood(v) for v in (first, last, np.clip(self.c, first, last))])
            return np.exp(np.min(logs, axis=0)), np.exp(np.max(logs, axis=0))

    def log_likelihood(self, x: Array) -> Array:
        """ln L at some value."""
        psi = self.world.form.psi
        return -self.rate * np.abs(psi(x) - psi(self.c))


@dataclass(frozen=True, eq=False)
class MovedPolygon:
    """Corners (mass or told, end of the box, row, corner) that bound ∫Lhf for every true value of a box.

    From one end to the other they move along straight lines, but for a parabola: how high it is for each tangent. Where
    that is `steady`, it is as high near the ends of the box as between them.
    """

    corners: Array
    bends: Array
    steady: bool = False

    @classmethod
    def of(cls, part: TurnedPart, goals: PeakedGoals, sign: int, way: Move, raised: Array) -> MovedPolygon:
        """Above what is concave (way 1) or below what is convex (−1), inside the goal (sign 1) or outside (−1).

        The part has rows for the first ends of all boxes, and then for the second ones.
        """
        mass, told = (v.reshape(2, goals.c.size, -1) for v in part.polygon(way))
        slope = part.slope[: goals.c.size]
        # A tangent that goes straight up says nothing, and a level one is far from all others: the next one says all.
        steep, level = np.isinf(slope[:, 0]), slope[:, 0] == 0
        if steep.any() or level.any():
            slope = slope.copy()
            slope[steep | level, 0] = slope[steep | level, 1]
            told[:, steep, 0] = told[:, steep, 1]
            told[:, level, 0] = (told[..., 1] - slope[:, 1] * (mass[..., 1] - mass[..., 0]))[:, level]
        strips = goals.strips()
        by_edge = [
            strip.moved(strip.bends(slope, way, out, raised, goals.factor).T).T
            for strip, out in zip(strips, (-sign, sign), strict=True)
        ]
        bends = np.maximum(by_edge[0] + by_edge[1], 0.0)
        (least, most), (first, last) = ([strip.moved(v) for v in strip.bends_of_mass] for strip in strips)
        wide = np.maximum(last - least, most - first)
        for place, by in ((0, -wide), (-1, goals.factor * wide)):
            mass[..., place] += by
            told[..., place] += slope[:, place] * by
        not_below_zero(mass, told, slope[:, 0], way)
        return cls(np.stack([mass, told]), bends)


def not_below_zero(mass: Array, told: Array, slope: Array, way: Move) -> None:
    """Let a polygon begin where masses and what is above them are not negative, at both ends of the box alike.

    Along its first tangent that is where it meets an axis. Where that is another axis at each end, or the tangent is
    too steep, what lies above the first corner is at most what lies above the second: they rise.
    """
    below, height = np.any(mass[..., 0] < 0, axis=0), told[..., 0] - slope * mass[..., 0]
    under = np.all(height < 0, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        meets = np.where(under, -height / slope, 0.0)
    mass[..., 0] = np.where(below, meets, mass[..., 0])
    told[..., 0] = np.where(below, np.where(under, 0.0, height), told[..., 0])
    if way > 0:
        flat = np.any(told[..., 0] < 0, axis=0)
        told[..., 0] = np.where(flat, told[..., 1], told[..., 0])


def most_risen(upper: MovedPolygon, lower: MovedPolygon, more: Array) -> Array:
    """What A/(A+B) − a/(a+b) is at most for every true value of a box, in each row.

    To A and B something may be added.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        (a, into), (b, out) = upper.corners, lower.corners
        target, rest = (a, into + more[0][:, None]), (b, out + more[1][:, None])
        corners = _Corners.of(target, rest)
        bends, steady = (upper.bends, lower.bends), upper.steady or lower.steady
        most = np.maximum(*(_most_along(corners, way, *bends, steady=steady) for way in (1, -1)))
    below = [np.any(v < 0, axis=(0, 2)) for v in (*target, *rest)]
    wrong = np.isnan(most) | np.any(below, axis=0)
    return np.where(wrong, 1.0, np.minimum(most, 1.0)) + _ROUNDING


@dataclass(frozen=True, eq=False)
class _Corners:
    """Of each end of a box, row, corner of the target and corner of the rest: a + b, A + B and the rise."""

    target: Pair
    rest: Pair
    before: Array
    after: Array
    risen: Array

    @classmethod
    def of(cls, target: Pair, rest: Pair) -> _Corners:
        (a, into), (b, out) = ((v[..., :, None] for v in target), (v[..., None, :] for v in rest))
        before, after = a + b, into + out
        return cls(target, rest, before, after, (into * b - out * a) / (before * after))

    @cached_property
    def thinned(self) -> Array:
        """(a + b)/(A + B)."""
        return self.before / self.after

    @cached_property
    def uneven(self) -> Array:
        """How much larger a + b is at one end of the box than at the other."""
        moved = self.before[:1] / self.before[1:]
        return np.maximum(moved, 1 / moved)

    @cached_property
    def twisted(self) -> Array:
        """What (β − α)·(P₁ − P₂) is at most of 4α(1−α)."""
        (into, out), (t, s) = (self.target[1], self.rest[1]), (self.before, self.after)
        apart = into[0][..., :, None] * out[1][..., None, :] - into[1][..., :, None] * out[0][..., None, :]
        return np.abs(np.stack([s[0] * t[1] - s[1] * t[0], apart]))

    @cached_property
    def shares(self) -> Pair:
        """A/(A+B) and B/(A+B), at the end of the box where that is more."""
        into, out = (np.max(v / self.after, axis=0) for v in (self.target[1][..., :, None], self.rest[1][..., None, :]))
        return into, out


def _most_along(corners: _Corners, way: Move, raised: Array, lowered: Array, *, steady: bool) -> Array:
    """The largest value along all edges of the target (1) or of the rest (−1), at the corners of the other one.

    What S, T and the factors of (β − α)·(P₁ − P₂) are at the ends of an edge bounds them along it: they are linear
    there, since its slope is the same at both ends of the box. Of a corner both tangents count.
    """
    axis = 2 if way > 0 else 3
    value = np.maximum(*_ends(corners.risen, axis))
    inner = _inner_tops(corners, way)
    if inner is not None:
        np.maximum.at(value, *inner)
    before, after = (np.minimum(*_ends(v, axis)) for v in (corners.before, corners.after))
    ratio = np.maximum(*_ends(corners.thinned, axis)).max(axis=0)
    twisted = np.maximum(*_ends(corners.twisted, axis))
    twist, both = twisted[0] * twisted[1] / (4 * after[0] * after[1]), before[0] * before[1]
    raised, lowered = (raised, _of_corners(lowered)) if way > 0 else (_of_corners(raised), lowered)
    raised, lowered = raised[:, :, None], lowered[:, None, :]
    into, out = (np.maximum(*_ends(v[None], axis))[0] for v in corners.shares)
    uneven = np.maximum(*_ends(corners.uneven, axis))[0]
    left = np.minimum(after[0], after[1]) - lowered
    raises = np.where(left > 0, (raised * out + lowered * into) / left, np.inf)
    room, level, always = twist * ratio / both, twist / np.sqrt(after[0] * after[1] * both), 0.0
    if steady:
        always = np.where(np.isnan(raises), np.inf, raises)
    else:
        room, level = room + uneven * raises, level + raises
    room, level = (np.where(np.isnan(v), np.inf, v) for v in (room, level))  # what underflows is not known
    # Where ends are far apart, what (β − α)·(P₁ − P₂) is anywhere says more than how it goes to 0 at both.
    return np.max(np.minimum(_top_of_parabola(value, room), np.max(value, axis=0) + level) + always, axis=(1, 2))


def _of_corners(bends: Array) -> Array:
    """Of the two tangents that meet in each corner the larger one."""
    return np.maximum(np.concatenate([bends[:, :1], bends], axis=1), np.concatenate([bends, bends[:, -1:]], axis=1))


def _top_of_parabola(ends: Array, room: Array) -> Array:
    """The most of (1−α)·(the first end) + α·(the second) + 4α(1−α)·room."""
    high, apart = np.maximum(ends[0], ends[1]), np.abs(ends[0] - ends[1])
    left = np.maximum(1 - apart / (4 * room), 0.0)
    return high + np.where(room > 0, room * np.square(np.where(np.isnan(left), 1.0, left)), 0.0)


def _ends(values: Array, axis: int) -> Pair:
    """What corners at the two ends of each edge have."""
    return (values[:, :, :-1], values[:, :, 1:]) if axis == 2 else (values[..., :-1], values[..., 1:])


def _inner_tops(corners: _Corners, way: Move) -> tuple[tuple[NDArray[np.int64], ...], Array] | None:
    """Edges along which the rise may have its top inside, and what it is there.

    With A = α + sa the rise grows along the target while sB·(a+b)² > b·(A+B)², and with B = β + sb along the rest while
    sA·(a+b)² < a·(A+B)²: both change but once, where √(sB)·(a+b) = √b·(A+B), or the like.
    """
    (mass, told), (held, kept) = (corners.target, corners.rest) if way > 0 else (corners.rest, corners.target)
    slope = np.maximum(np.diff(told) / np.diff(mass), 0.0)
    share = np.square(corners.thinned)
    if way > 0:
        pull = slope[..., :, None] * (kept / held)[..., None, :]
        first, second = _ends(share, 2)
        some = np.nonzero((pull * first > 1) != (pull * second > 1))
        end, row, edge, corner = some
    else:
        pull = (kept / held)[..., :, None] * slope[..., None, :]
        first, second = _ends(share, 3)
        some = np.nonzero((pull * first > 1) != (pull * second > 1))
        end, row, corner, edge = some
    if not end.size:
        return None
    start, value, s = mass[end, row, edge], told[end, row, edge], slope[end, row, edge]
    b, out = held[end, row, corner], kept[end, row, corner]
    root, drawn = np.sqrt(b), np.sqrt(s) * np.sqrt(out)
    ahead = (root * (value + out) - drawn * (start + b)) / (drawn - s * root)
    step = mass[end, row, edge + 1] - start
    ahead = np.where(np.isnan(ahead), 0.0, np.clip(ahead, np.minimum(step, 0.0), np.maximum(step, 0.0)))
    return some, way * risen(start + ahead, value + np.where(ahead != 0, s * ahead, 0.0), b, out)
