"""A prior that may be wrong, at many ε at once: what attacks reach, and what is proven that nothing exceeds.

An attack is three numbers: the peak c of a tent, and how far from it the wrong prior h turns, inside the goal and
outside. Write a, A for ∫hf and ∫Lhf inside, b, B for the same outside. For one peak, A is concave in a and B is convex
in b, with slopes L where h turns: tangents at few radii are a polygon above A and one below B. What the belief rises
by,

    A/(A+B) − a/(a+b),

is largest on the edges of the cells of (a, b) between corners of the polygons: along a ray a : b the second term stays,
and A/B is a ratio of two linear functions, hence monotone. Along an edge the derivative vanishes at one place, by a
linear equation. So the bound for all h is a closed form, off by second order in how far the radii are from the best.

Between two peaks c₁ < c₂ a tent is a mixture of theirs but for x between them, where it is higher by tanh(ε(c₂−c₁)/2)
at most, with weights that add up to 1/cosh(ε(c₂−c₁)/2) at least. So for every h the belief rises by no more than the
better of the two would if A were larger by κ·sinh(ε(c₂−c₁)/2)·P[c₁, c₂] (half of that for an even density: the excess
is convex on both sides of its peak). So a grid of peaks and radii, dense around the attack, bounds all of them. A fall
of the belief is a rise of what lies outside, with L that grows away from c; there B is smaller between the peaks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.rows import Rows, row_axis
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, Pair, TentRanges
from guessproof.risk.misjudged.turns import (
    TurnedPart,
    best_place,
    best_turns,
    dense,
    levels_of,
    nearer_turns,
    reached_by,
    risen,
)
from guessproof.world.checks import Array

_PEAKS, _TURNS = 17, 13  # where a search for attacks begins
_CLIMBS, _FIRST_STEP, _SHRINK = 5, 0.04, 0.4
_PEAKS_AT_FIRST, _RADII = 12, 7  # points of a grid around an attack
_STEPS, _STEPS_BETWEEN = 3, 1  # from the radii of an attack to those of a peak, or from those of its neighbours
_NARROW = 0.01  # the share of a range in which it is even, at first
_BULKY = 3.0  # times where most of the prior lies: a range for which that share is meant
_AGAIN, _BETTER = 3, 1e-7  # times that a grid may show a better attack, and by how much
_VAIN = 0.5  # of what is allowed: cutting between peaks for less than this is in vain
_BLOCK = 256  # peaks worked on at a time, so that their cells stay in the cache
_ROUNDING = 4e-14  # of beliefs


@dataclass(frozen=True)
class Closeness:
    """How far above an attack a bound may be, and how much work that is worth."""

    of_epsilon: float  # as what it loses of ε
    of_attack: float  # the same as a share of the attack, at least
    narrower: tuple[float, ...]  # of a range in which radii are even: looking again, and once more
    rounds: int  # of cutting between peaks
    peaks: int  # at most for one ε


CLOSE = Closeness(2.5e-4, 1e-6, (0.003,), 6, 128)  # enough for a curve
CLOSEST = Closeness(2e-9, 1e-9, (0.003, 3e-4, 3e-5), 20, 8192)  # for one ε: both meet


@dataclass(frozen=True)
class MisjudgedAlong:
    """One interval at one true value, under a prior that may be wrong by a factor."""

    goal: MisjudgedGoal
    move: Move
    close: Closeness = CLOSE
    known: dict[float, Array] = field(default_factory=dict[float, Array], repr=False, compare=False)  # attacks by ε

    def measure(self, epsilon: Array) -> tuple[Array, Array]:
        """(attack, bound) for each ε."""
        value, bound = np.full(epsilon.size, self._most), np.ones(epsilon.size)
        some = self._is_told(epsilon)
        if some.any():
            value[some], bound[some] = self._measured(epsilon[some])
        return value, np.minimum(bound, self._most * (1 + 1e-12))

    def _is_told(self, epsilon: Array) -> NDArray[np.bool_]:
        """Whether integrals end: where a tail outweighs a valley, all that lies outside is believed."""
        if self.move > 0:
            return np.ones(epsilon.size, dtype=bool)
        lo, hi = (np.full(epsilon.size, float(end)) for end in self.goal.edges(np.asarray(self.goal.low)))
        ends, tilt = np.full(epsilon.size, np.inf), self.goal.world.log_tilt
        with np.errstate(all="ignore"):
            return (tilt(-epsilon, -ends, lo, lo) < np.inf) & (tilt(epsilon, hi, ends, hi) < np.inf)

    @property
    def _most(self) -> float:
        """How far a belief can move at all: from what it is at most, or least, to 0 or 1."""
        declared = float(self.goal.world.prior.mass(*self.goal.edges(np.asarray(self.goal.low))))
        before = float(with_odds_of(min(declared, 1.0), self.goal.factor ** (-self.move)))
        return 1 - before if self.move > 0 else before

    def _measured(self, epsilon: Array) -> tuple[Array, Array]:
        ranges = TentRanges.of(self.goal)
        starts = np.stack([self._near(e) for e in epsilon], axis=1) if self.known else self._first(ranges, epsilon)[1]
        value, shares = self._climbed(ranges, starts, epsilon)
        bound, todo = np.ones(epsilon.size), np.arange(epsilon.size)
        for _ in range(_AGAIN):
            grid = PeakGrid(ranges, self.move, epsilon[todo], shares[:, todo], self.close)
            enough = self._enough(grid, value[todo])
            bound[todo], found, there = grid.bound(value[todo], enough)
            better = found > value[todo] * (1 + _BETTER)
            value[todo], shares[:, todo] = (
                np.where(better, found, value[todo]),
                np.where(better, there, shares[:, todo]),
            )
            todo = todo[better & (bound[todo] > enough)]
            if not todo.size:
                break
            # The grid has a better attack, and with it a bound that may be closer: from there on again.
            value[todo], shares[:, todo] = self._climbed(ranges, shares[:, todo], epsilon[todo])
        self._keep(epsilon, shares)
        return np.minimum(np.maximum(value, 0.0), bound), bound

    def _enough(self, grid: PeakGrid, value: Array) -> Array:
        """How far above the attack is close enough: what a little more of ε adds to it."""
        ahead = self._at(grid.ranges, grid.attacks[..., None], grid.epsilon * (1 + self.close.of_epsilon))[:, 0, 0, 0]
        return np.maximum(ahead, value * (1 + self.close.of_attack))

    def _near(self, epsilon: float) -> Array:
        return self.known[min(self.known, key=lambda e: abs(np.log(e / epsilon)))]

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach; what follows starts from there."""
        found, some = np.full(epsilon.size, self._most), self._is_told(epsilon)
        if some.any():
            ranges = TentRanges.of(self.goal)
            found[some], shares = self._climbed(ranges, self._first(ranges, epsilon[some])[1], epsilon[some])
            self._keep(epsilon[some], shares)
        return found

    def _keep(self, epsilon: Array, shares: Array) -> None:
        self.known.update({float(e): share for e, share in zip(epsilon, shares.T, strict=True)})

    def _first(self, ranges: TentRanges, epsilon: Array) -> Pair:
        """The best of a grid of peaks, with about the best turns for each, and where it is."""
        axes = [np.zeros(epsilon.size), *(np.linspace(0.0, 1.0, n) for n in (_PEAKS, _TURNS, _TURNS))]
        values = ranges.advantages(axes, epsilon[:, None, None], self.move).reshape(epsilon.size * _PEAKS, -1)
        places = np.unravel_index(np.argmax(values, axis=1), (_TURNS, _TURNS))
        turns = np.stack([axis[at] for axis, at in zip(axes[2:], places, strict=True)])
        shares, which = np.tile(axes[1], epsilon.size), np.repeat(np.arange(epsilon.size), _PEAKS)
        grid = PeakGrid(ranges, self.move, epsilon, np.zeros((3, epsilon.size)))
        turns, values = grid.climbed(which, shares, turns)
        best = np.argmax(values.reshape(epsilon.size, _PEAKS), axis=1) + _PEAKS * np.arange(epsilon.size)
        return values[best], np.concatenate([shares[best][None], turns[:, best]])

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
    close: Closeness = CLOSE

    def bound(self, value: Array, enough: Array) -> tuple[Array, Array, Array]:
        """What no peak and no wrong prior exceeds, for each ε, and the best attack of the grid.

        Peaks are added until the bound is close enough.
        """
        shares = dense(self.attacks[0], _PEAKS_AT_FIRST, _NARROW)
        which = np.repeat(np.arange(self.epsilon.size), shares.shape[1])
        rows = self._at(which, shares.ravel(), self.attacks[1:, which], _STEPS, enough)
        rows = self._with_gaps(rows, np.arange(rows.which.size), enough)
        for _ in range(self.close.rounds):
            high = enough.copy()  # what bounds the peaks themselves is not lowered by cutting between them
            np.maximum.at(high, rows.which, rows.bound + _VAIN * (enough - value)[rows.which])
            wide = np.flatnonzero((rows.between > high[rows.which]) & (rows.between > 0))  # after the last lies none
            wide = wide[np.bincount(rows.which, minlength=self.epsilon.size)[rows.which[wide]] < self.close.peaks]
            if not wide.size:
                break
            share, turns = (0.5 * (v[..., wide] + v[..., wide + 1]) for v in (rows.share, rows.turns))
            new = self._at(rows.which[wide], share, turns, _STEPS_BETWEEN, enough)
            fresh = wide + np.arange(wide.size)
            rows = self._with_gaps(rows.with_rows(wide + 1, new), np.concatenate([fresh, fresh + 1]), enough)
        bound = np.zeros(self.epsilon.size)
        np.maximum.at(bound, rows.which, np.maximum(rows.bound, rows.between))
        order = np.lexsort((rows.value, rows.which))
        best = order[np.searchsorted(rows.which[order], np.arange(self.epsilon.size), side="right") - 1]
        there = np.concatenate([rows.share[best][None], rows.turns[:, best]])
        return np.minimum(bound, 1.0), rows.value[best], there

    def climbed(self, which: NDArray[np.int64], share: Array, turns: Array) -> Pair:
        """The best turns for peaks, and what they reach."""
        tents = _PeakTents.of(self.ranges, self.move, self.epsilon[which], self._peak(share))
        first, nearer = tents.reached(turns), tents.nearer(turns, _STEPS)
        value = tents.reached(nearer)
        return np.where(value > first, nearer, turns), np.maximum(value, first)

    def _with_gaps(self, rows: _PeakRows, first: NDArray[np.int64], enough: Array) -> _PeakRows:
        """What bounds all peaks from some rows to the next of the same ε."""
        first = first[first + 1 < rows.which.size]
        first = first[(rows.which[first + 1] == rows.which[first]) & (rows.share[first + 1] > rows.share[first])]
        more = self._more(rows, first)
        found = np.zeros(first.size)
        for side in (first, first + 1):
            bound, close = rows.bound_with(side, more), enough[rows.which[first]]
            for part in row_blocks(np.flatnonzero(bound > close)):
                upper, lower = rows.upper[:, side[part]], rows.lower[:, side[part]]
                bound[part] = np.minimum(bound[part], most_between(upper, lower, more[:, part]))
            found = np.maximum(found, bound)
        rows.between[first] = found
        return rows

    def _more(self, rows: _PeakRows, first: NDArray[np.int64]) -> Array:
        """How much a tent with its peak between two others holds more than a mixture of theirs, of target and rest.

        It is a mixture but for what lies between the peaks, all of it in the goal: a tent has more there, a valley
        less. The weights add up to 1/cosh at least.
        """
        world, factor = self.ranges.goal.world, self.ranges.goal.factor
        left, right = self._peak(rows.share[first]), self._peak(rows.share[first + 1])
        epsilon = self.epsilon[rows.which[first]]
        apart = 0.5 * epsilon * (world.form.psi(right) - world.form.psi(left))
        # The excess of a tent is convex on both sides of its peak and 0 at the two others: no more than a triangle.
        most = 0.5 * (right - left) * world.prior.density_range(left, right)[1]
        mass = np.fmin(world.prior.mass(left, right), most if world.form.is_straight else np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            more = np.where(mass > 0, factor * np.sinh(apart) * mass, 0.0)
            raised = np.exp(epsilon * world.form.step)
            more, none = more * raised if self.move > 0 else -more, np.zeros_like(more)
        return np.stack([more, none]) if self.move > 0 else np.stack([none, more])

    def _peak(self, share: Array) -> Array:
        (lo, hi), bulk = self._edges, self.ranges.bulk
        low, high = np.clip(lo, *bulk), np.clip(hi, *bulk)
        return low + share * (high - low)

    @property
    def _edges(self) -> tuple[float, float]:
        lo, hi = self.ranges.goal.edges(np.asarray(self.ranges.goal.low))
        return float(lo), float(hi)

    def _at(self, which: NDArray[np.int64], share: Array, turns: Array, steps: int, enough: Array) -> _PeakRows:
        """For each ε and peak: what no wrong prior exceeds, and the best attack."""
        rows = self._looked(which, share, turns, steps, _NARROW)
        for narrow in self.close.narrower:  # where this is not close, once more around what is best for that peak
            loose = np.flatnonzero(rows.bound > enough[which])
            if not loose.size:
                break
            again = self._looked(which[loose], share[loose], rows.turns[:, loose], steps, narrow)
            rows.improve(loose, again)
        return rows

    def _looked(self, which: NDArray[np.int64], share: Array, turns: Array, steps: int, narrow: float) -> _PeakRows:
        blocks = row_blocks(np.arange(which.size))
        return _PeakRows.joined([self._block(which[b], share[b], turns[:, b], steps, narrow) for b in blocks])

    def _block(self, which: NDArray[np.int64], share: Array, turns: Array, steps: int, narrow: float) -> _PeakRows:
        tents = _PeakTents.of(self.ranges, self.move, self.epsilon[which], self._peak(share))
        turns = tents.nearer(turns, steps)
        inside, outside = dense(turns[0], _RADII, narrow), dense(turns[1], _RADII, narrow * tents.bulky)
        outside = outside[:, ::-1]
        target, rest = tents.parts(inside, outside, from_one=True)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            value, at = best_turns(target, rest)
            upper, lower = target.polygon(1), rest.polygon(-1)
        none, every = np.zeros((2, which.size)), np.arange(which.size)
        bound, at = most_between(upper, lower, none), at if self.move > 0 else at[::-1]
        best = np.stack([inside[every, at[0]], outside[every, np.maximum(at[1] - 1, 0)]])
        return _PeakRows(which, share, bound, value, best, upper, lower, none[0])


def row_blocks(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [rows[i : i + _BLOCK] for i in range(0, rows.size, _BLOCK)]


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

    def parts(self, inside: Array, outside: Array, *, from_one: bool = False) -> tuple[TurnedPart, TurnedPart]:
        """What is raised and what it is compared with, for radii."""
        k = self.move * self.epsilon[:, None]
        cut_in, cut_out = self.reach[:, None] * inside, self.near[:, None] + (self.far - self.near)[:, None] * outside
        cut_out = np.concatenate([self.end[:, None], cut_out], axis=1)  # at first h is 1 everywhere outside
        lo, hi = (np.asarray(e) for e in self.edges)
        found: list[TurnedPart] = []
        with np.errstate(over="ignore", invalid="ignore"):
            for cut, is_in in ((cut_in, True), (cut_out, False)):
                mass, told = self.ranges.masses(lo, hi, self.c, cut, k, inside=is_in, from_one=from_one)
                found.append(TurnedPart(np.exp(mass), np.exp(told), np.exp(-k * cut)))
            target, rest = found if self.move > 0 else found[::-1]
            raised = np.exp(self.epsilon * self.ranges.goal.world.form.step)[:, None]
        return target.raised(raised), rest

    @property
    def bulky(self) -> Array:
        """How far most of the prior reaches, as a share of how far radii outside do: little where tails are heavy."""
        world = self.ranges.goal.world
        low, high = world.form.psi(world.prior.quantile([0.1, 0.9]))
        with np.errstate(divide="ignore"):
            return np.clip(_BULKY * (high - low) / (self.far - self.near), 1e-3, 1.0)

    def nearer(self, turns: Array, steps: int) -> Array:
        """Turns that are nearer to the best ones of each peak."""
        steep = -self.move * self.epsilon * np.stack([self.reach, self.far - self.near])
        return nearer_turns(self.parts, turns, self.move, steep, steps)

    def reached(self, turns: Array) -> Array:
        """How far the belief moves with such turns."""
        return reached_by(self.parts, turns)


@dataclass(frozen=True, eq=False)
class _PeakRows(Rows):
    """Peaks of several ε, one after the other: what bounds each, the best attack on the grid, and the polygons.

    `between` bounds all peaks from one to the next of the same ε.
    """

    which: NDArray[np.int64]
    share: Array
    bound: Array
    value: Array
    turns: Array
    upper: Array
    lower: Array
    between: Array

    def with_rows(self, places: NDArray[np.int64], new: _PeakRows) -> _PeakRows:
        parts = [(getattr(self, f.name), getattr(new, f.name)) for f in fields(self)]
        return _PeakRows(*(np.insert(old, places, more, axis=row_axis(old)) for old, more in parts))

    def bound_with(self, places: NDArray[np.int64], more: Array) -> Array:
        """The bound of some peaks where A or B is changed."""
        return bound_with_more(self.bound[places], self.upper[:, places], self.lower[:, places], more)

    def improve(self, places: NDArray[np.int64], again: _PeakRows) -> None:
        """Put what was looked at again in its places, where it says more."""
        lower = again.bound < self.bound[places]
        self.bound[places[lower]] = again.bound[lower]
        self.upper[:, places[lower]], self.lower[:, places[lower]] = again.upper[:, lower], again.lower[:, lower]
        better = again.value > self.value[places]
        self.turns[:, places[better]], self.value[places[better]] = again.turns[:, better], again.value[better]


def bound_with_more(bound: Array, upper: Array, lower: Array, more: Array) -> Array:
    """A bound where A or B is changed: at most by what that is of the least A + B, at h = 1."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        least = upper[1, :, 0] + lower[1, :, 0] + more[1]
        found = bound + (more[0] - more[1]) / least
    return np.where(least > 0, np.fmin(found, 1.0), 1.0)


def most_between(upper: Array, lower: Array, more: Array) -> Array:
    """What A/(A+B) − a/(a+b) is at most, in each row; A (concave) below one polygon, B (convex) above another.

    To A and B something may be added.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        target, rest = (upper[0], upper[1] + more[0][:, None]), (lower[0], lower[1] + more[1][:, None])
        # What varies along an edge comes last; the rest falls by what the target rises.
        found = np.maximum(_along_edges(target, rest, 1), _along_edges(rest, target, -1))
    return np.where(np.isnan(found) | np.any(rest[1] < 0, axis=1), 1.0, found) + _ROUNDING


def _along_edges(varies: tuple[Array, Array], fixed: tuple[Array, Array], way: Move) -> Array:
    """The largest value along all edges of one polygon, at the corners of the other, in each row."""
    (mass, told), (b, out) = (v[:, None, :] for v in varies), (v[:, :, None] for v in fixed)
    ends = way * risen(mass, told, b, out)
    return np.maximum(np.max(best_of_edges(varies, fixed, way)[0], axis=(1, 2)), np.max(ends, axis=(1, 2)))


def best_of_edges(varies: tuple[Array, Array], fixed: tuple[Array, Array], way: Move) -> tuple[Array, Array, Array]:
    """For each row, corner of one polygon and edge of the other: the largest value along it, and what varies there.

    With A = α + sa its derivative vanishes where √(sB)·(a+b) = √b·(A+B), which is one place.
    """
    mass, told = (v[:, None, :] for v in varies)
    b, out = (v[:, :, None] for v in fixed)
    step = np.diff(mass, axis=2)
    slope = np.maximum(np.diff(told, axis=2), 0.0) / step
    start, value = mass[:, :, :-1], told[:, :, :-1]
    root_b, pull = np.sqrt(b), np.sqrt(slope) * np.sqrt(out)
    ahead = (root_b * (value + out) - pull * (start + b)) / (pull - slope * root_b)
    ahead = np.clip(np.where(np.isnan(ahead), 0.0, ahead), 0.0, step)
    mass, told = start + ahead, value + np.where(ahead > 0, slope * ahead, 0.0)
    return way * risen(mass, told, b, out), mass, told


def best_levels(target: TurnedPart, rest: TurnedPart) -> tuple[Array, Array]:
    """The best attack with chords between radii, in rows, and what ln L is where h turns if nothing is to be better.

    Where the derivatives vanish, ln L is ln(b/B) for the target and ln(a/A) for the rest plus 2·ln((A+B)/(a+b)).
    """
    ours, theirs = (target.mass, target.told), (rest.mass, rest.told)
    values, masses, told = best_of_edges(ours, theirs, 1)
    others, other_masses, other_told = best_of_edges(theirs, ours, -1)
    every = np.arange(len(values))
    first, second = (best_place(v) for v in (values, others))
    corner, edge = np.unravel_index(first, values.shape[1:])
    best = values[every, corner, edge], masses[every, corner, edge], told[every, corner, edge]
    one = np.stack([*best, rest.mass[every, corner], rest.told[every, corner]])
    corner, edge = np.unravel_index(second, others.shape[1:])
    best = others[every, corner, edge], other_masses[every, corner, edge], other_told[every, corner, edge]
    other = np.stack([best[0], target.mass[every, corner], target.told[every, corner], *best[1:]])
    value, a, into, b, out = np.where(one[0] >= other[0], one, other)
    return np.nan_to_num(value), levels_of(a, into, b, out)


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
