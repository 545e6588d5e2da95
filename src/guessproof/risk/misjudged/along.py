"""A prior that may be wrong, at many ε at once: what attacks reach, and what is proven that nothing exceeds.

An attack is three numbers: the peak c of a tent, and how far from it the wrong prior h turns, inside the goal and
outside. Write a, A for ∫hf and ∫Lhf inside, b, B for the same outside. For one peak, A is concave in a and B is convex
in b, with slopes L where h turns. So between few radii both lie near their chords, and what the belief rises by,

    A/(A+B) − a/(a+b),

is known at the corners of cells of (a, b) and exceeds them by second order only. Between two peaks c₁ < c₂ a tent is a
mixture of theirs but for x between them, where it is higher by tanh(ε(c₂−c₁)/2) at most: for every h the belief exceeds
the larger of the two by at most κ·tanh(ε(c₂−c₁)/2)·P[c₁, c₂]/∫Lf. So a grid of peaks and radii, dense
around the attack, bounds all of them. A fall of the belief is a rise of what lies outside, with L that grows away
from c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, TentRanges
from guessproof.world.checks import Array

_LITTLE_OF_EPSILON = 2.5e-4  # how far above an attack a bound may be, as what it loses of ε
_CLOSEST = 1e-6  # the same as a share of the attack, at least
_PEAKS, _TURNS = 17, 13  # where a search for attacks begins
_CLIMBS, _FIRST_STEP, _SHRINK = 9, 0.04, 0.4
_PEAKS_BESIDE, _MOST_RADII = 6, 32  # points of a grid on each side of an attack
_LOOKS = 1  # at a peak whose bound is not close
_NARROW = 0.01  # the share of a range in which it is even
_AGAIN, _BETTER = 3, 1e-7  # times that a grid may show a better attack, and by how much
_ROUNDS, _MOST_PEAKS = 6, 128  # of cutting between peaks, and for one ε
_VAIN = 0.5  # of what is allowed: cutting between peaks for less than this is in vain
_BLOCK = 256  # peaks worked on at a time, so that their cells stay in the cache
_ROUNDING = 1e-14


@dataclass(frozen=True)
class MisjudgedAlong:
    """One interval at one true value, under a prior that may be wrong by a factor."""

    goal: MisjudgedGoal
    move: Move
    known: dict[float, Array] = field(default_factory=dict[float, Array], repr=False, compare=False)  # attacks by ε

    def measure(self, epsilon: Array) -> tuple[Array, Array]:
        """(attack, bound) for each ε."""
        ranges = TentRanges.of(self.goal)
        starts = self._first(ranges, epsilon) if not self.known else np.stack([self._near(e) for e in epsilon], axis=1)
        value, shares = self._climbed(ranges, starts, epsilon)
        bound, todo = np.ones(epsilon.size), np.arange(epsilon.size)
        for _ in range(_AGAIN):
            grid = PeakGrid(ranges, self.move, epsilon[todo], shares[:, todo])
            bound[todo], found, there = grid.bound(value[todo], self._enough(grid, value[todo]))
            todo = todo[better := found > value[todo] * (1 + _BETTER)]
            if not todo.size:
                break
            # The grid has a better attack: from there on again.
            value[todo], shares[:, todo] = self._climbed(ranges, there[:, better], epsilon[todo])
        for e, share in zip(epsilon, shares.T, strict=True):
            self.known[float(e)] = share
        return np.minimum(np.maximum(value, 0.0), bound), bound

    def _enough(self, grid: PeakGrid, value: Array) -> Array:
        """How far above the attack is close enough: what a little more of ε adds to it."""
        ahead = self._at(grid.ranges, grid.attacks[..., None], grid.epsilon * (1 + _LITTLE_OF_EPSILON))[:, 0, 0, 0]
        return np.maximum(ahead, value * (1 + _CLOSEST))

    def _near(self, epsilon: float) -> Array:
        return self.known[min(self.known, key=lambda e: abs(np.log(e / epsilon)))]

    def _first(self, ranges: TentRanges, epsilon: Array) -> Array:
        """The best of a grid."""
        axes = [np.zeros(epsilon.size), *(np.linspace(0.0, 1.0, n) for n in (_PEAKS, _TURNS, _TURNS))]
        values = ranges.advantages(axes, epsilon[:, None, None], self.move).reshape(epsilon.size, -1)
        places = np.unravel_index(np.argmax(values, axis=1), (_PEAKS, _TURNS, _TURNS))
        return np.stack([axis[at] for axis, at in zip(axes[1:], places, strict=True)])

    def _at(self, ranges: TentRanges, shares: Array, epsilon: Array) -> Array:
        """How far attacks move the belief; shares (3, ε, values along each)."""
        axes = [np.zeros(epsilon.size), shares[0], shares[1][:, None, :], shares[2][:, None, :]]
        return ranges.advantages(axes, epsilon[:, None, None], self.move)

    def _climbed(self, ranges: TentRanges, start: Array, epsilon: Array) -> tuple[Array, Array]:
        """Newton's steps on a small grid around the best, which shrinks."""
        best, value, every = start.copy(), np.full(epsilon.size, -np.inf), np.arange(epsilon.size)
        centre, step = start.copy(), _FIRST_STEP
        for _ in range(_CLIMBS):
            around = np.clip(centre[..., None] + step * np.array([-1.0, 0.0, 1.0]), 0.0, 1.0)
            found = self._at(ranges, around, epsilon)
            place = np.argmax(found.reshape(epsilon.size, -1), axis=1)
            top = found.reshape(epsilon.size, -1)[every, place]
            axes = np.stack(np.unravel_index(place, (3, 3, 3)))
            there = np.take_along_axis(around, axes[..., None], axis=2)[..., 0]
            better = top > value
            best, value = np.where(better, there, best), np.where(better, top, value)
            centre = np.where(better, _newton(found, centre, step, there), best)
            step *= _SHRINK
        return value, best


@dataclass(frozen=True, eq=False)
class PeakGrid:
    """Peaks and radii around attacks, one for each ε."""

    ranges: TentRanges
    move: Move
    epsilon: Array
    attacks: Array

    def bound(self, value: Array, enough: Array) -> tuple[Array, Array, Array]:
        """What no peak and no wrong prior exceeds, for each ε, and the best attack of the grid.

        Peaks are added until the bound is close enough.
        """
        shares = _dense(self.attacks[0], _PEAKS_BESIDE)
        rows = self._at(np.repeat(np.arange(self.epsilon.size), shares.shape[1]), shares.ravel(), enough)
        for _ in range(_ROUNDS):
            first, between = self._between(rows)
            high = enough.copy()  # what bounds the peaks themselves is not lowered by cutting between them
            np.maximum.at(high, rows.which, rows.bound + _VAIN * (enough - value)[rows.which])
            wide = first[(between > high[rows.which[first]]) & (rows.share[first + 1] > rows.share[first])]
            wide = wide[np.bincount(rows.which, minlength=self.epsilon.size)[rows.which[wide]] < _MOST_PEAKS]
            if not wide.size:
                break
            new = self._at(rows.which[wide], 0.5 * (rows.share[wide] + rows.share[wide + 1]), enough)
            rows = rows.with_rows(wide + 1, new)
        first, between = self._between(rows)
        bound = np.zeros(self.epsilon.size)
        np.maximum.at(bound, rows.which[first], between)
        order = np.lexsort((rows.value, rows.which))
        best = order[np.searchsorted(rows.which[order], np.arange(self.epsilon.size), side="right") - 1]
        there = np.concatenate([rows.share[best][None], rows.turns[:, best]])
        return np.minimum(bound, 1.0), rows.value[best], there

    def _between(self, rows: _PeakRows) -> tuple[NDArray[np.int64], Array]:
        """What bounds all peaks from one to the next: the number of the first, and the bound."""
        first = np.flatnonzero(rows.which[1:] == rows.which[:-1])
        return first, np.maximum(rows.bound[first], rows.bound[first + 1]) + self._gap(rows, first)

    def _gap(self, rows: _PeakRows, first: NDArray[np.int64]) -> Array:
        """How much a tent with its peak between two others exceeds them at most."""
        world, factor = self.ranges.goal.world, self.ranges.goal.factor
        left, right = self._peak(rows.share[first]), self._peak(rows.share[first + 1])
        apart = 0.5 * self.epsilon[rows.which[first]] * (world.form.psi(right) - world.form.psi(left))
        # The excess of a tent is convex on both sides of its peak and 0 at the two others: no more than a triangle.
        most = 0.5 * (right - left) * world.prior.density_range(left, right)[1]
        more = np.tanh(apart) * np.fmin(world.prior.mass(left, right), most if world.form.is_straight else np.inf)
        least = np.minimum(rows.total[first], rows.total[first + 1]) / np.cosh(apart)
        least = least - (more if self.move < 0 else 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(more > 0, np.where(least > 0, factor * more / least, np.inf), 0.0)

    def _peak(self, share: Array) -> Array:
        (lo, hi), bulk = self._edges, self.ranges.bulk
        low, high = np.clip(lo, *bulk), np.clip(hi, *bulk)
        return low + share * (high - low)

    @property
    def _edges(self) -> tuple[float, float]:
        lo, hi = self.ranges.goal.edges(np.asarray(self.ranges.goal.low))
        return float(lo), float(hi)

    def _at(self, which: NDArray[np.int64], share: Array, enough: Array) -> _PeakRows:
        """For each ε and peak: what no wrong prior exceeds, ∫Lf, and the best attack."""
        rows = self._looked(which, share, self.attacks[1:, which])
        for _ in range(_LOOKS):  # where this is not close, once more around what is best for that peak
            loose = np.flatnonzero(rows.bound > enough[which])
            if not loose.size:
                break
            again = self._looked(which[loose], share[loose], rows.turns[:, loose])
            rows.bound[loose] = np.minimum(rows.bound[loose], again.bound)
            better = again.value > rows.value[loose]
            rows.turns[:, loose[better]], rows.value[loose[better]] = again.turns[:, better], again.value[better]
        return rows

    def _looked(self, which: NDArray[np.int64], share: Array, turns: Array) -> _PeakRows:
        blocks = [slice(i, i + _BLOCK) for i in range(0, which.size, _BLOCK)]
        found = [self._block(which[b], self._peak(share[b]), turns[:, b]) for b in blocks]
        parts = [np.concatenate([f[i] for f in found], axis=-1) for i in range(4)]
        return _PeakRows(which, share, *parts)

    def _block(self, which: NDArray[np.int64], c: Array, turns: Array) -> tuple[Array, Array, Array, Array]:
        tents = _PeakTents.of(self.ranges, self.move, self.epsilon[which], c)
        half = min(8 + math.ceil(2 * self.ranges.goal.factor), _MOST_RADII)
        inside, outside = _dense(turns[0], half), _dense(turns[1], half)[:, ::-1]
        target, rest, total = tents.parts(inside, outside)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            bound, value, at = _most(target, rest)
        at, every = at if self.move > 0 else at[::-1], np.arange(c.size)
        best = np.stack([inside[every, at[0]], outside[every, np.maximum(at[1] - 1, 0)]])
        return bound, total, value, best


@dataclass(frozen=True, eq=False)
class _PeakTents:
    """Tents of one goal with their peaks, a row each; radii are shares of how far they can reach."""

    ranges: TentRanges
    move: Move
    epsilon: Array
    c: Array
    edges: tuple[float, float]
    reach: Array
    near: Array
    far: Array
    end: Array

    @classmethod
    def of(cls, ranges: TentRanges, move: Move, epsilon: Array, c: Array) -> _PeakTents:
        goal, (first, last) = ranges.goal, ranges.bulk
        psi, (lo, hi), support = goal.world.form.psi, goal.edges(np.asarray(goal.low)), goal.world.prior.support
        low, high = np.clip(lo, first, last), np.clip(hi, first, last)
        sides, outer = (psi(high) - psi(c), psi(c) - psi(low)), (psi(last) - psi(c), psi(c) - psi(first))
        end = np.maximum(psi(support[1]) - psi(c), psi(c) - psi(support[0]))
        edges = float(lo), float(hi)
        return cls(ranges, move, epsilon, c, edges, np.maximum(*sides), np.minimum(*sides), np.maximum(*outer), end)

    def parts(self, inside: Array, outside: Array) -> tuple[_TurnedPart, _TurnedPart, Array]:
        """What is raised and what it is compared with, for radii; and ∫Lf."""
        k = self.move * self.epsilon[:, None]
        cut_in, cut_out = self.reach[:, None] * inside, self.near[:, None] + (self.far - self.near)[:, None] * outside
        cut_out = np.concatenate([self.end[:, None], cut_out], axis=1)  # at first h is 1 everywhere outside
        lo, hi = (np.asarray(e) for e in self.edges)
        found: list[_TurnedPart] = []
        with np.errstate(over="ignore", invalid="ignore"):
            for cut, is_in in ((cut_in, True), (cut_out, False)):
                mass, told = self.ranges.masses(lo, hi, self.c, cut, k, inside=is_in)
                found.append(_TurnedPart(np.exp(mass), np.exp(told), np.exp(-k * cut)))
            target, rest = found if self.move > 0 else found[::-1]
            raised = np.exp(self.epsilon * self.ranges.goal.world.form.step)[:, None]
        return target.raised(raised), rest, found[0].told[:, 0] + found[1].told[:, 0]


@dataclass(frozen=True, eq=False)
class _PeakRows:
    """Peaks of several ε, one after the other: what bounds each, ∫Lf, and the best attack on the grid."""

    which: NDArray[np.int64]
    share: Array
    bound: Array
    total: Array
    value: Array
    turns: Array

    def with_rows(self, places: NDArray[np.int64], new: _PeakRows) -> _PeakRows:
        parts = [(getattr(self, f.name), getattr(new, f.name)) for f in fields(self)]
        return _PeakRows(*(np.insert(old, places, more, axis=-1) for old, more in parts))


@dataclass(frozen=True, eq=False)
class _TurnedPart:
    """∫hf, ∫Lhf and L where h turns, for radii along which h becomes κ further and further."""

    mass: Array
    told: Array
    slope: Array

    def raised(self, by: Array) -> _TurnedPart:
        return _TurnedPart(self.mass, self.told * by, self.slope * by)

    @property
    def off(self) -> Array:
        """How far ∫Lhf can lie from its chord: between two tangents, and between its ends."""
        step, climb = np.diff(self.mass), np.diff(self.told)
        found = np.abs(np.diff(self.slope)) * step / 4
        return np.where(step > 0, np.fmin(found, climb), climb)


def _most(target: _TurnedPart, rest: _TurnedPart) -> tuple[Array, Array, tuple[NDArray[np.int64], ...]]:
    """What A/(A+B) − a/(a+b) is at most, in each row; A (concave) of the target, B (convex) of the rest.

    On chords it is N/D with N = Ab − Ba, which is linear in a and in b, and D = (A+B)(a+b). So N − rD exceeds its
    corners by at most q·r with q = (ΔA·Δa + ΔB·Δb)/4, and N/D those of N/D by at most 1/(1 − q/D).
    Then the largest value at a corner, and at which.
    """
    a, into, more = target.mass[:, :, None], target.told[:, :, None], target.off[:, :, None]
    b, out, less = rest.mass[:, None, :], rest.told[:, None, :], rest.off[:, None, :]
    size = (into + out) * (a + b)
    values = (into * b - out * a) / size
    corner = np.maximum(values[:, 1:], values[:, :-1])
    corner = np.maximum(corner[:, :, 1:], corner[:, :, :-1])
    bend = 0.25 * (np.diff(into, axis=1) * np.diff(a, axis=1) + np.diff(out, axis=2) * np.diff(b, axis=2))
    left = 1 - bend / size[:, :-1, :-1]  # masses grow along the radii: the first corner is the smallest
    off = (more * out[:, :, 1:] + less * (into[:, 1:] + more)) / np.square(into[:, :-1] + out[:, :, :-1])
    found = np.where(left > 0, np.maximum(corner, 0.0) / left, 1.0) + off + _ROUNDING
    flat = np.where(np.isnan(values), -1.0, values).reshape(len(values), -1)
    best = np.argmax(flat, axis=1)
    bound = np.max(np.where(np.isnan(found), 1.0, found), axis=(1, 2))
    return bound, flat[np.arange(len(flat)), best], np.unravel_index(best, values.shape[1:])


def _dense(centre: Array, half: int) -> Array:
    """Shares from 0 to 1 that are dense around each centre and ever wider further away, in rows."""
    away = np.sinh(np.linspace(-1.0, 1.0, 2 * half + 1) * np.arcsinh(1 / _NARROW)) * _NARROW
    made = np.clip(centre[:, None] + away, 0.0, 1.0)
    made[:, 0], made[:, -1] = 0.0, 1.0
    return made


def _newton(found: Array, centre: Array, step: float, there: Array) -> Array:
    """Where the parabola through a grid of 3×3×3 values is highest, not far from it; the best of the grid elsewhere."""
    first = np.stack([found[:, 2, 1, 1] - found[:, 0, 1, 1], found[:, 1, 2, 1] - found[:, 1, 0, 1],
                      found[:, 1, 1, 2] - found[:, 1, 1, 0]], axis=-1) / 2  # fmt: skip
    hess = np.empty((*first.shape, 3))
    middle = found[:, 1, 1, 1]
    for i in range(3):
        for j in range(i, 3):

            def at(a: int, b: int, i: int = i, j: int = j) -> Array:
                index = [1, 1, 1]
                index[i] += a
                index[j] += b
                return found[:, index[0], index[1], index[2]]

            value = at(1, 0) + at(-1, 0) - 2 * middle if i == j else (at(1, 1) + at(-1, -1) - at(1, -1) - at(-1, 1)) / 4
            hess[:, i, j] = hess[:, j, i] = value
    with np.errstate(all="ignore"):
        size = np.maximum(np.max(np.abs(hess), axis=(1, 2)), 1e-300)
        hess = hess - (1e-9 * size)[:, None, None] * np.eye(3)
        top = np.isfinite(hess).all(axis=(1, 2)) & np.isfinite(first).all(axis=1)
        hess[~top] = -np.eye(3)
        move = -np.linalg.solve(hess, np.where(np.isfinite(first), first, 0.0)[..., None])[..., 0].T
    near = top & np.all(np.abs(move) <= 2, axis=0)
    return np.where(near, np.clip(centre + step * move, 0.0, 1.0), there)
