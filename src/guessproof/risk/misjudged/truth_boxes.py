"""A prior that may be wrong, for every true value of a range: boxes of true values and peaks, in rows.

Hold the peak c of a tent L fixed while the true value t moves. Of the integrals in `along`, a tangent of slope ℓ to A
has the height U(t) = max over h of ∫_G (L − ℓ)hf = ∫_lo^hi W·f, with W = w(L − ℓ) and w(z) = κz for z > 0, z below.
Only the edges move with t:

    U'(t) = (W·f)(hi) − (W·f)(lo),     and of b, B the same with the signs turned and w(z) = κz for z < 0.

From the middle of a box, half-width d, U leaves its own tangent line by d²/2 times what U' rises by at most, at most.
W falls away from c, which bends U down, as it should: that part is not charged, and it pays for what W·f' adds. (Where
an edge passes the peak this is not so; there it is charged what L can grow by.) The least and the largest a leave
theirs by d times what f varies by. Tangents keep their slopes, so the corners of both polygons, where two of them meet,
move along straight lines with t. Along such lines, from one end of the box to the other, with T = a + b, S = A + B,
P = A/S and α, β the weights of the first end in T and in S,

    A/(A+B) − a/(a+b) = α·(that at the first end) + (1−α)·(that at the second) + (β − α)·(P₁ − P₂),

and |β − α| ≤ |S₁T₂ − S₂T₁| / 4√(S₁S₂T₁T₂). The last term is a product of two small numbers, and mostly 0: where h is
the same on both sides of an edge, S and T do not change at all. So both ends of a box bound all of it.

Between two peaks the same holds as at one true value: A is larger by κ·sinh(ε(c₂−c₁)/2)·P[c₁, c₂] at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.turns import TurnedPart, risen
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array

_ROUNDING = 4e-14  # of beliefs
_SLIVER = 4e-15  # of where edges are: as near to a jump of the density as that is beside it


@dataclass(frozen=True, eq=False)
class Strip:
    """What the density is at an edge of the goal, and along the strip that the edge passes in a box."""

    at: Array
    varies: Array  # by how much it differs along the strip
    slopes: Pair
    beside: Array  # what rounding may hide at the ends of the strip
    holds: Array  # the slope of L, times f, at least: it helps where the peak is on the goal's side of the strip
    grows: Array  # the same at most, where it is not

    def off(self, weight: Array, half: Array, raised: Array, factor: float) -> Array:
        """How far above its tangent line this edge's share of U is at most, in units of half²/2."""
        least, most = (s[:, None] for s in self.slopes)
        size = np.abs(weight)
        bent = np.where(weight > 0, weight * most, weight * least) + size * (2 * self.beside / half**2)[:, None]
        bent = np.fmin(bent, size * (2 * self.varies / half + 2 * self.beside / half**2)[:, None])
        return np.where(weight == 0, 0.0, bent) + (raised * (factor * self.grows - self.holds))[:, None]


@dataclass(frozen=True, eq=False)
class PeakedGoals:
    """In rows: an ε, a goal (the middle one of a box of true values), how far it moves either way, and a peak."""

    world: TiltedIntegrals
    factor: float
    move: Move
    epsilon: Array
    lo: Array
    hi: Array
    half: Array
    c: Array

    def pick(self, some: NDArray[np.int64]) -> PeakedGoals:
        each = (self.epsilon, self.lo, self.hi, self.half, self.c)
        return PeakedGoals(self.world, self.factor, self.move, *(v[some] for v in each))

    @property
    def rate(self) -> Array:
        return self.move * self.epsilon

    def reaches(self, bulk: Pair) -> tuple[Array, Array, Array]:
        """How far from its peak a goal reaches, how near what lies outside comes, and how far that reaches."""
        psi, support = self.world.form.psi, self.world.prior.support
        low, high, c = psi(np.clip(self.lo, *support)), psi(np.clip(self.hi, *support)), psi(self.c)
        near = np.maximum(np.minimum(high - c, c - low), 0.0)
        return np.maximum(high - c, c - low), near, np.maximum(psi(bulk[1]) - c, c - psi(bulk[0]))

    def inside(self, cut: Array, *, from_one: bool = False) -> Pair:
        """∫hf and ∫Lhf in the goal, h being κ within such radii of the peak.

        With `from_one` h is 1 everywhere at the first radius and κ at the last: where ψ is flat, many values are
        equally far from the peak, and a radius says too little.
        """
        lo, hi, c = (v[:, None] for v in (self.lo, self.hi, self.c))
        cut = cut[:, 1:-1] if from_one else cut
        left, right = self._around(c, cut)
        left = np.where(self.world.form.psi(c) - self.world.form.psi(lo) <= cut, lo, left)
        left = np.concatenate([lo, np.maximum(left, lo)], axis=1), np.minimum(c, hi)
        right = np.maximum(c, lo), np.concatenate([hi, np.minimum(right, hi)], axis=1)
        return self._weighed([left, right], from_one)

    def outside(self, cut: Array, *, from_one: bool = False) -> Pair:
        """The same outside, h being κ from such radii on."""
        lo, hi, c = (v[:, None] for v in (self.lo, self.hi, self.c))
        cut = cut[:, 1:-1] if from_one else cut
        left, right = self._around(c, cut)
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

    def _around(self, c: Array, cut: Array) -> Pair:
        psi, inverse = self.world.form.psi, self.world.form.inverse
        return inverse(psi(c) - cut), inverse(psi(c) + cut)

    def _weighed(self, pieces: list[Pair], from_one: bool) -> Pair:
        """∫hf and ∫Lhf over a piece on the left and one on the right of the peak; first whole, then where h is κ."""
        starts, ends = ([piece[i] for piece in pieces] for i in (0, 1))
        shape = np.broadcast_shapes(*(v.shape for v in (*starts, *ends)))
        a, b = (np.stack([np.broadcast_to(v, shape) for v in side]) for side in (starts, ends))
        b = np.maximum(a, b)
        rate = np.array([1, -1])[:, None, None] * self.rate[:, None]
        rates = np.stack([np.zeros_like(rate), rate])
        ref = self.c[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            tilts = np.sum(np.exp(self.world.log_tilt(*np.broadcast_arrays(rates, a, b, ref))), axis=1)
        whole = tilts[..., :1]
        weighed = whole + (self.factor - 1) * tilts[..., 1:]
        if from_one:
            weighed = np.concatenate([whole, weighed, self.factor * whole], axis=-1)
        return weighed[0], weighed[1]

    def strips(self) -> tuple[Strip, Strip]:
        """The strips that the lower and the upper edge pass."""
        return self._strip(self.lo, 1), self._strip(self.hi, -1)

    def _strip(self, edge: Array, way: Move) -> Strip:
        prior, form, half = self.world.prior, self.world.form, self.half
        at = np.exp(prior.log_density(edge))
        sliver = _SLIVER * (np.abs(self.lo) + np.abs(self.hi) + half)
        first, last = edge - half, edge + half
        inner = np.minimum(first + sliver, edge), np.maximum(last - sliver, edge)
        (least, densest), most = prior.density_range(*inner), prior.density_range(first, last)[1]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            varies = np.maximum(densest - at, at - least)
            slopes = prior.density_slopes(*inner)
            here, at_edge = np.exp(self.log_likelihood(edge)), form.psi(edge)
            away = np.maximum(form.psi(last) - at_edge, at_edge - form.psi(first))
            crossed = way * (self.c - edge) < half  # the peak is in the strip or beyond, not on the goal's side of it
            steepest = np.expm1(self.epsilon * away) * (1.0 if form.is_straight else 2.0) / half
            falls = self.epsilon * (form.slopes[0] if form.is_straight else 0.0) * np.exp(-self.epsilon * away)
        grows = np.where(crossed & (half > 0), here * steepest * most, 0.0)
        return Strip(at, varies, slopes, most * sliver, np.where(crossed, 0.0, here * falls * least), grows)

    def log_likelihood(self, x: Array) -> Array:
        """ln L at some value."""
        psi = self.world.form.psi
        return -self.rate * np.abs(psi(x) - psi(self.c))


@dataclass(frozen=True, eq=False)
class MovedPolygon:
    """Corners (mass or told, end of the box, row, corner) that bound ∫Lhf for every true value of a box.

    From one end to the other they move along straight lines.
    """

    corners: Array

    @classmethod
    def of(cls, part: TurnedPart, goals: PeakedGoals, sign: int, way: Move, raised: Array) -> MovedPolygon:
        """Above what is concave (way 1) or below what is convex (−1), inside the goal (sign 1) or outside (−1)."""
        mass, told = part.polygon(way)
        slope, factor = part.slope, goals.factor
        steep = np.isinf(slope[:, 0])
        if steep.any():  # nothing is said by a tangent that goes straight up: the next one says all
            slope, told = slope.copy(), told.copy()
            slope[steep, 0], told[steep, 0] = slope[steep, 1], told[steep, 1]
        half = goals.half
        moves, lines, wide = np.zeros_like(mass), np.zeros_like(mass), np.zeros_like(half)
        off = np.zeros_like(slope)
        for strip, edge, out in zip(goals.strips(), (goals.lo, goals.hi), (-sign, sign), strict=True):
            here = (np.exp(goals.log_likelihood(edge)) * raised)[:, None]
            above = here - slope if way > 0 else slope - here  # where it is positive, h is κ
            weight = way * np.where(above > 0, factor, 1.0) * above
            share = np.clip(above[:, 1:] / (above[:, 1:] - above[:, :-1]), 0.0, 1.0)
            h = 1 + (factor - 1) * np.where(np.isnan(share), 1.0, share)
            h = np.concatenate([np.ones_like(here), h, np.full_like(here, factor)], axis=1)
            by = out * strip.at[:, None]
            moves = moves + by * h
            first, tangent = (np.concatenate([v[:, :1], v], axis=1) for v in (weight, slope))
            lines = lines + by * (first + tangent * h)
            off = off + strip.off(way * out * weight, half, raised, factor)
            wide = wide + half * strip.varies + strip.beside
        ends = half * np.array([[-1.0], [1.0]])
        mass, told = (v + ends[..., None] * by for v, by in ((mass, moves), (told, lines)))
        told = told + way * (0.5 * half * half * np.max(np.maximum(off, 0.0), axis=1))[:, None]
        for place, by in ((0, -wide), (-1, factor * wide)):
            mass[..., place] += by
            told[..., place] += slope[:, place] * by
        _not_below_zero(mass, told, slope[:, 0], way)
        return cls(np.stack([mass, told]))


def _not_below_zero(mass: Array, told: Array, slope: Array, way: Move) -> None:
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


def most_risen(upper: Array, lower: Array, more: Array) -> Array:
    """What A/(A+B) − a/(a+b) is at most for every true value of a box, in each row.

    To A and B something may be added.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        target, rest = (upper[0], upper[1] + more[0][:, None]), (lower[0], lower[1] + more[1][:, None])
        corners = _Corners.of(target, rest)
        most = np.maximum(*(_most_along(corners, way) for way in (1, -1)))
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
    def twisted(self) -> Array:
        """|S₁T₂ − S₂T₁| and |A₁B₂ − A₂B₁|, the factors of (β − α)·(P₁ − P₂)."""
        (into, out), (t, s) = (self.target[1], self.rest[1]), (self.before, self.after)
        apart = into[0][..., :, None] * out[1][..., None, :] - into[1][..., :, None] * out[0][..., None, :]
        return np.abs(np.stack([s[0] * t[1] - s[1] * t[0], apart]))


def _most_along(corners: _Corners, way: Move) -> Array:
    """The largest value along all edges of the target (1) or of the rest (−1), at the corners of the other one.

    What S, T and the factors of (β − α)·(P₁ − P₂) are at the ends of an edge bounds them along it: they are linear
    there, since its slope is the same at both ends of the box.
    """
    axis = 2 if way > 0 else 3
    first, second = _ends(corners.risen, axis)
    value = np.max(np.maximum(first, second), axis=0)
    inner = _inner_tops(corners, way)
    if inner is not None:
        (_, row, i, j), found = inner
        np.maximum.at(value, (row, i, j), found)
    before, after = (np.minimum(*_ends(v, axis)) for v in (corners.before, corners.after))
    twisted, both = np.maximum(*_ends(corners.twisted, axis)), after[0] * after[1]
    bent = twisted[0] * twisted[1] / (4 * both * np.sqrt(both * before[0] * before[1]))
    return np.max(value + bent, axis=(1, 2))


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
    share = np.square(corners.before / corners.after)
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
