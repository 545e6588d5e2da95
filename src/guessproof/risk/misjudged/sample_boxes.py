"""Boxes of true values beside a sample, in rows: what bounds all runs of numbers from one to another, at one peak.

As the true value rises, the correct guesses are runs of numbers whose two ends rise (`worst_atoms`). Hold the peak c
fixed. As in `truth_boxes`, a tangent of slope ℓ has the height U = Σ W·f over the run, with W = w(L − ℓ), and of a box
of runs only those numbers count that its two ends pass, the strips. Let s be what both ends together have passed, and
θ the share of it that a run has: then one end is as much behind its own chord as the other is ahead of it, by δ,

    U − chord = Σ over both strips of (mean W)·(±δ), plus what W varies by there.

Where W varies by R along a strip of mass Z, and m is in the middle of what it can be, the numbers passed so far say
|Σ passed (W−m)f − θ·Σ all (W−m)f| ≤ (R/2)·((1−θ)·passed + θ·left) ≤ (R/2)·(Z/2 + |δ|). So U lies above its chord by

    |m_lo + m_hi|·|δ| + Σ (R/2)·(Z/2 + |δ|)     at most,

and the mass of a run by 2|δ|. δ is known beforehand for the boxes that come of halving: about half the root of how many
numbers are passed, where these come in no order. Of two runs that are neighbours nothing lies between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.atoms import Places
from guessproof.risk.misjudged.along import best_levels
from guessproof.risk.misjudged.sample_world import Piece, SampleWorld
from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.truth_boxes import MovedPolygon, not_below_zero
from guessproof.risk.misjudged.truth_rows import TruthPeaks
from guessproof.risk.misjudged.turns import TurnedPart, dense, levels_at_best
from guessproof.world.checks import Array

_Sides = tuple[list[Piece], list[Piece]]  # on the left of a peak, and on the right

_Levels = Callable[[TurnedPart, TurnedPart], Pair]  # what is reached, and ln L where h turns

_RADII = 5  # of a row
_SPARSE = 0.3  # with which two of five radii are about as far apart as two of so many numbers: they are no denser
_ROOM = 1e-12  # so that a radius is not shorter than the distance that it was told from


@dataclass(frozen=True, eq=False)
class SampledRuns:
    """In rows: an ε, the first and the last run of a box (places from and to), by how much one between them may be off
    its chord, and a peak."""

    world: SampleWorld
    factor: float
    move: Move
    row: Places  # where the world keeps the sums of this ε
    epsilon: Array
    lo: Piece  # where the first run begins, and the last
    hi: Piece
    off: Array  # by how much the upper end may be ahead of its chord, and the lower one behind: from and to
    c: Places

    def pick(self, some: NDArray[np.int64]) -> SampledRuns:
        (lo, hi), off = ((v[0][some], v[1][some]) for v in (self.lo, self.hi)), self.off[:, some]
        ends = self.row[some], self.epsilon[some], lo, hi
        return SampledRuns(self.world, self.factor, self.move, *ends, off, self.c[some])

    @property
    def ends(self) -> SampledRuns:
        """The runs at both ends of each box, first ones first."""
        lo, hi = np.concatenate(self.lo), np.concatenate(self.hi)
        row, c, off = np.tile(self.row, 2), np.tile(self.c, 2), np.zeros((2, lo.size))
        epsilon = np.tile(self.epsilon, 2)
        return SampledRuns(self.world, self.factor, self.move, row, epsilon, (lo, lo), (hi, hi), off, c)

    @property
    def rate(self) -> Array:
        return self.move * self.epsilon

    @property
    def log_peak(self) -> Array:
        return self.world.log_peak(self.epsilon, self.move, self.c)

    @property
    def raised(self) -> Array:
        """By how much the step of the distance raises what is in the target."""
        return np.exp(self.epsilon * self.world.step)

    @property
    def reaches(self) -> tuple[Array, Array, Array]:
        """How far from its peak a run may reach, how near what lies outside may come, and how far that reaches."""
        away, psi, c = self.world.away, self.world.psi, self.c
        reach = np.maximum(away(c, self.lo[0])[1], away(c, self.hi[1])[1])
        near = np.minimum(away(c, self.lo[1])[0], away(c, self.hi[0])[0])
        beside = (c < self.lo[1]) | (c >= self.hi[0])
        return reach, np.where(beside, 0.0, near), np.maximum(psi[-1] - psi[c], psi[c] - psi[0])

    def parts(self, inside: Array, outside: Array) -> tuple[TurnedPart, TurnedPart]:
        """What is raised and what it is compared with in the first runs, for shares of how far radii can reach."""
        return self._parts(*self._lengths(inside, outside), from_one=False)

    def _lengths(self, inside: Array, outside: Array) -> Pair:
        reach, near, far = (r[:, None] for r in self.reaches)
        outside = np.concatenate([far, near + (far - near) * outside], axis=1)  # at first h is 1 everywhere outside
        return reach * inside, outside

    def _parts(self, inside: Array, outside: Array, *, from_one: bool) -> tuple[TurnedPart, TurnedPart]:
        """The same for radii; with `from_one` h is 1 everywhere at the first of them and κ at the last."""
        lo, hi, c, k = self.lo[0][:, None], self.hi[0][:, None], self.c[:, None], self.rate[:, None]
        peak, none, n = self.log_peak[:, None], 0 * c, self.world.size + 0 * c
        left, right = self.world.around(c, inside * (1 + _ROOM))
        whole = [(lo, np.minimum(c, hi))], [(np.maximum(c, lo), hi)]
        turned = (
            [(np.maximum(left, lo), np.minimum(c, hi))],
            [(np.maximum(c, lo), np.minimum(right, hi))],
        )
        within = TurnedPart(*self._weighed(whole, turned, from_one), np.exp(peak - k * inside))
        left, right = self.world.around(c, outside * (1 + _ROOM))
        whole = (
            [(none, np.minimum(lo, c)), (hi, np.maximum(c, hi))],
            [(np.maximum(hi, c), n), (np.minimum(c, lo), lo)],
        )
        turned = (
            [(none, np.minimum(left, lo)), (hi, np.maximum(np.minimum(left, c), hi))],
            [(np.maximum(hi, right), n), (np.minimum(np.maximum(right, c), lo), lo)],
        )
        beside = TurnedPart(*self._weighed(whole, turned, from_one), np.exp(peak - k * outside))
        target, rest = (within, beside) if self.move > 0 else (beside, within)
        return target.raised(self.raised[:, None]), rest

    def _weighed(self, whole: _Sides, turned: _Sides, from_one: bool) -> Pair:
        """Σhf and ΣLhf with h = κ on the pieces that have turned, and 1 on the rest of the whole."""
        found = list[Array]()
        for tilted in (False, True):
            part, more = (self._added(pieces, tilted) for pieces in (whole, turned))
            if from_one:
                more[:, 0], more[:, -1] = 0.0, part[:, 0]
            found.append(part + (self.factor - 1) * more)
        return found[0], found[1]

    def _added(self, pieces: _Sides, tilted: bool) -> Array:
        if tilted:
            return self.world.told(self.row, self.epsilon, self.move, self.c, *pieces)
        return np.sum([self.world.masses(piece) for side in pieces for piece in side], axis=0)

    # Attacks.

    def climbed(self, turns: Array, narrow: tuple[float, ...]) -> Pair:
        """How far beliefs move with the best turns near some, for the first runs, and where these turns are."""
        value = np.full(self.c.size, -np.inf)
        for each in narrow:
            radii = self._radii(turns, np.full(self.c.size, each))
            found, there = self._best(best_levels, *self._parts(*radii, from_one=True), turns)
            turns = np.where(found >= value, there, turns)
            value = np.maximum(value, found)
        return value, turns

    def _radii(self, turns: Array, narrow: Array) -> Pair:
        """Radii inside and outside that are dense around some turns; of few numbers also those beside the turns."""
        inside, outside = self._lengths(*self._dense(turns, narrow))
        if not self.world.is_few:
            return inside, outside
        return self._with_numbers(inside, 1), self._with_numbers(outside, -1)

    def _dense(self, turns: Array, narrow: Array) -> Pair:
        """Shares of how far radii can reach that are dense around some turns, not more so than numbers are."""
        held = self.hi[0] - self.lo[0]
        least = [_SPARSE / np.square(np.maximum(n, 1)) for n in (held, self.world.size - held)]
        inside, outside = (dense(t, _RADII, np.clip(narrow, n, 1.0)) for t, n in zip(turns, least, strict=True))
        return inside, outside[:, ::-1]

    def _best(self, levels_of: _Levels, target: TurnedPart, rest: TurnedPart, turns: Array) -> Pair:
        with np.errstate(all="ignore"):
            value, levels = levels_of(target, rest)
        return value - self.world.rounding, self._turns_at(levels, turns)

    def _turns_at(self, levels: Array, turns: Array) -> Array:
        """The shares of radii at which ln L is so much, for target and rest; others where that is no number."""
        (reach, near, far), peak, step = self.reaches, self.log_peak, self.epsilon * self.world.step
        inner, outer = levels[:: self.move]
        inner, outer = (inner - step, outer) if self.move > 0 else (inner, outer - step)
        with np.errstate(all="ignore"):
            away = (peak - inner) / self.rate, (peak - outer) / self.rate
            shares = np.stack([away[0] / reach, (away[1] - near) / (far - near)])
        return np.where(np.isnan(shares), turns, np.clip(shares, 0.0, 1.0))

    # Boxes.

    def looked(self, turns: Array, narrow: Array) -> TruthPeaks:
        """What every row can reach at both ends, and what bounds it, with radii dense around the best turns."""
        ends, (inside, outside) = self.ends, self._radii(turns, narrow)
        target, rest = ends._parts(np.tile(inside, (2, 1)), np.tile(outside, (2, 1)), from_one=True)
        levels_of = best_levels if self.world.is_few else levels_at_best
        value, there = ends._best(levels_of, target, rest, np.tile(turns, 2))
        with np.errstate(all="ignore"):
            upper, lower = self._polygon(target, 1), self._polygon(rest, -1)
        better = np.arange(self.c.size) + self.c.size * (value[self.c.size :] > value[: self.c.size])
        value = value.reshape(2, -1)
        corners = upper.corners, lower.corners
        return TruthPeaks(value, there[:, better], *corners, upper.bends, lower.bends, steady=True)

    def _with_numbers(self, radii: Array, way: Move) -> Array:
        """With the distances of the two numbers beside the middle radius, in order: each of few makes a turn."""
        middle = radii[:, radii.shape[1] // 2, None]
        beside = (
            np.clip(v, *np.sort(radii[:, [0, -1]].T[..., None], axis=0))
            for v in self.world.beside(self.c[:, None], middle)
        )
        return way * np.sort(way * np.concatenate([radii, *beside], axis=1), axis=1)

    def _polygon(self, part: TurnedPart, way: Move) -> MovedPolygon:
        """Above what is concave (way 1) or below what is convex (−1), for every run of a box."""
        rows = self.c.size
        mass, told = (v.reshape(2, rows, -1) for v in part.polygon(way))
        slope = part.slope[:rows]
        raised = self.raised if way > 0 else np.ones(rows)
        means, varies, size = np.zeros_like(slope), np.zeros_like(slope), np.max(np.abs(self.off), axis=0)[:, None]
        for a, b in (self.lo, self.hi):
            low, high = (raised[:, None] * v[:, None] - slope for v in self._likely(a, b))
            weights = np.stack([np.where(way * z > 0, self.factor, 1.0) * z for z in (low, high)])
            some, strip = (b > a)[:, None], self.world.masses((a, b))[:, None]
            means += np.where(some, 0.5 * (weights[0] + weights[1]), 0.0)
            varies += np.where(some, 0.5 * np.abs(weights[1] - weights[0]) * (0.5 * strip + size), 0.0)
        # What a run has more of the goal is missing from the rest; above what is concave, below what is convex.
        inside = way == self.move
        off = self.off[:, :, None] if inside else -self.off[::-1, :, None]
        lifts = np.where(size > 0, np.maximum(*(way * means * each for each in off)) + varies, 0.0)
        for place, by in ((0, 2 * off[0, :, 0]), (-1, 2 * self.factor * off[1, :, 0])):
            mass[..., place] += by
            told[..., place] += slope[:, place] * by
        not_below_zero(mass, told, slope[:, 0], way)
        return MovedPolygon(np.stack([mass, told]), lifts, steady=True)

    def _likely(self, first: Places, end: Places) -> Pair:
        """L at least and at most, of the numbers of a strip."""
        psi, last = self.world.psi, np.clip(end - 1, 0, self.world.size - 1)
        first = np.minimum(first, self.world.size - 1)
        nearest = np.clip(self.c, first, np.maximum(first, last))
        logs = [self.log_peak - self.rate * np.abs(psi[p] - psi[self.c]) for p in (first, last, nearest)]
        return np.exp(np.min(logs, axis=0)), np.exp(np.max(logs, axis=0))
