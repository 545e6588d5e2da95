"""Boxes of true values and peaks, in rows, and what is asked of them at the peaks that they end at.

What bounds a row is told by `truth_boxes`; here radii are chosen, attacks are brought nearer, and boxes are cut.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.truth_boxes import MovedPolygon, PeakedGoals, most_risen
from guessproof.risk.misjudged.turns import TurnedPart, best_turns, dense, nearer_turns, reached_by, risen
from guessproof.world.checks import Array

_STEPS = 1  # of Newton's method, to the best turns
_RADII, _BULKY = 5, 3.0  # of a row; times where most of the prior lies: a range for which a share of them is meant
_BOTH = 0.5  # boxes are cut both ways where the one says that much of the other
DEEP = 3  # boxes that are cut so many times are looked at closer
_BLOCK = 512  # rows worked on at a time, so that they stay in the cache


@dataclass(frozen=True, eq=False)
class TruthBoxes:
    """Of each box: its ε, true values and peaks from and to, about the best turns, and how often it was cut."""

    which: NDArray[np.int64]
    truths: Array
    peaks: Array
    turns: Array
    depth: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: list[TruthBoxes]) -> TruthBoxes:
        arrays = [[getattr(part, f.name) for part in parts] for f in fields(cls)]
        return cls(*(np.concatenate(each, axis=-1) for each in arrays))

    def proof(self, most: Array) -> Array:
        """Rows of numbers: the place of ε, true values and peaks from and to, and what bounds them."""
        return np.stack([self.which.astype(np.float64), *self.truths, *self.peaks, most])

    @property
    def middle(self) -> Array:
        return 0.5 * self.truths[0] + 0.5 * self.truths[1]

    def pick(self, some: NDArray[np.int64]) -> TruthBoxes:
        return TruthBoxes(*(getattr(self, f.name)[..., some] for f in fields(self)))

    def cut(self, looked: LookedBoxes, open_: NDArray[np.bool_]) -> TruthBoxes:
        """Open boxes cut in two, by what is loosest: true values (and radii), or peaks; or in four."""
        by_peak = looked.by_peak
        by_truth = looked.most - looked.reached - by_peak
        both = np.minimum(by_truth, by_peak) > _BOTH * np.maximum(by_truth, by_peak)
        both |= (looked.most >= 1) & (self.depth >= DEEP)  # which says nothing of what is loose
        kinds = both, ~both & (by_truth >= by_peak), ~both & (by_truth < by_peak)
        four, truths, peaks = (self.pick(np.flatnonzero(open_ & kind)) for kind in kinds)
        halves = four._halved("truths")._halved("peaks"), truths._halved("truths"), peaks._halved("peaks")
        return TruthBoxes.joined(list(halves))

    def _halved(self, ends: str) -> TruthBoxes:
        a, b = getattr(self, ends)
        middle = 0.5 * a + 0.5 * b
        parts = [np.stack(part) for part in ((a, middle), (middle, b))]
        return TruthBoxes.joined([replace(self, depth=self.depth + 1, **{ends: part}) for part in parts])


@dataclass(frozen=True, eq=False)
class LookedBoxes:
    """Of each box: what bounds it, about how much peaks between its ends add, and the better attack at one of them."""

    most: Array
    by_peak: Array
    reached: Array
    peak: Array
    turns: Array


@dataclass(frozen=True, eq=False)
class TruthPeaks:
    """Of goals and peaks, in rows: the best attack on the grid of radii, and the polygons."""

    value: Array
    turns: Array
    upper: Array
    lower: Array

    @classmethod
    def joined(cls, parts: list[TruthPeaks]) -> TruthPeaks:
        axes = 0, 1, 2, 2
        arrays = [[getattr(part, f.name) for part in parts] for f in fields(cls)]
        return cls(*(np.concatenate(each, axis=axis) for each, axis in zip(arrays, axes, strict=True)))

    def added(self, place: NDArray[np.int64], more: Array, move: Move) -> Array:
        """About what more of a tent, or less of a valley, adds to what bounds rows.

        A wrong prior that is best with much more of a tent weighs all less than the one that is best without.
        """
        upper, lower = (0.5 * np.sum(v[:, :, place], axis=1) for v in (self.upper, self.lower))
        (a, into), (b, out) = upper[..., :, None], lower[..., None, :]
        more = more[:, None, None]
        with np.errstate(all="ignore"):
            rises = risen(a, into, b, out), risen(a, into + more, b, out) if move > 0 else risen(a, into, b, out - more)
            before, after = (np.max(np.where(np.isnan(v), -1.0, v), axis=(1, 2)) for v in rises)
        return np.maximum(after - before, 0.0)

    def bounds(self, places: NDArray[np.int64], more: Array, move: Move) -> Array:
        """What bounds rows with more of a tent, or less of a valley; the same for two boxes is asked once."""
        pairs = np.empty(places.shape, dtype=np.complex128)  # which are told apart quickly
        pairs.real, pairs.imag = places, more
        asked, inverse = np.unique(pairs, return_inverse=True)
        place, changed = asked.real.astype(np.int64), asked.imag
        found = np.empty(place.size)
        for b in blocks(np.arange(place.size)):
            none = np.zeros(b.size)
            more = np.stack([changed[b], none] if move > 0 else [none, -changed[b]])
            found[b] = most_risen(self.upper[:, :, place[b]], self.lower[:, :, place[b]], more)
        return found[inverse.reshape(places.shape)]


@dataclass(frozen=True, eq=False)
class TruthRows:
    """Goals with their peaks; radii are shares of how far they can reach."""

    goals: PeakedGoals
    bulk: Pair

    def pick(self, some: NDArray[np.int64]) -> TruthRows:
        return TruthRows(self.goals.pick(some), self.bulk)

    @cached_property
    def reaches(self) -> tuple[Array, Array, Array]:
        """How far from its peak a goal reaches, how near what lies outside comes, and how far that reaches."""
        return self.goals.reaches(self.bulk)

    @cached_property
    def raised(self) -> Array:
        """By how much the step of the distance raises what is in the target."""
        with np.errstate(over="ignore"):
            return np.exp(self.goals.epsilon * self.goals.world.form.step)

    def parts(self, inside: Array, outside: Array, *, from_one: bool = False) -> tuple[TurnedPart, TurnedPart]:
        """What is raised and what it is compared with, for radii; outside, h is 1 everywhere at first."""
        goals, (reach, near, far) = self.goals, (r[:, None] for r in self.reaches)
        psi, support, k = goals.world.form.psi, goals.world.prior.support, goals.rate[:, None]
        end = np.maximum(psi(support[1]) - psi(goals.c), psi(goals.c) - psi(support[0]))
        cut_in, cut_out = reach * inside, np.concatenate([end[:, None], near + (far - near) * outside], axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            within = TurnedPart(*goals.inside(cut_in, from_one=from_one), np.exp(-k * cut_in))
            beside = TurnedPart(*goals.outside(cut_out, from_one=from_one), np.exp(-k * cut_out))
        target, rest = (within, beside) if goals.move > 0 else (beside, within)
        return target.raised(self.raised[:, None]), rest

    def nearer(self, turns: Array, steps: int) -> Array:
        """Turns that are nearer to the best ones of each peak."""
        reach, near, far = self.reaches
        steep = -self.goals.rate * np.stack([reach, far - near])
        return nearer_turns(self.parts, turns, self.goals.move, steep, steps)

    def reached(self, turns: Array) -> Array:
        """How far the belief moves with such turns."""
        return reached_by(self.parts, turns)

    def looked(self, turns: Array, narrow: Array) -> TruthPeaks:
        """What every row can reach, and what bounds it, with radii that are dense around the best turns."""
        goals, every = self.goals, np.arange(self.goals.c.size)
        inside, outside = self._radii(self.nearer(turns, _STEPS), narrow)
        target, rest = self.parts(inside, outside, from_one=True)
        with np.errstate(all="ignore"):
            value, (i, j) = best_turns(target, rest)
            upper = MovedPolygon.of(target, goals, goals.move, 1, self.raised).corners
            lower = MovedPolygon.of(rest, goals, -goals.move, -1, np.ones_like(self.raised)).corners
        at = (i, j) if goals.move > 0 else (j, i)
        best = np.stack([inside[every, at[0]], outside[every, np.maximum(at[1] - 1, 0)]])
        return TruthPeaks(value, best, upper, lower)

    def _radii(self, turns: Array, narrow: Array) -> Pair:
        world, (_, near, far) = self.goals.world, self.reaches
        low, high = world.form.psi(world.prior.quantile([0.1, 0.9]))
        with np.errstate(divide="ignore"):
            bulky = np.clip(_BULKY * (high - low) / (far - near), 1e-3, 1.0)
        return dense(turns[0], _RADII, narrow), dense(turns[1], _RADII, narrow * bulky)[:, ::-1]


def blocks(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [rows[i : i + _BLOCK] for i in range(0, rows.size, _BLOCK)] or [rows]
