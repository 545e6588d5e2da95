"""Boxes of true values and peaks, in rows, and what is asked of them at the peaks that they end at.

What bounds a row is told by `truth_boxes`; here radii are chosen, attacks are brought nearer, and boxes are cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.rows import Rows
from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.truth_boxes import MovedPolygon, PeakedGoals, most_risen
from guessproof.risk.misjudged.turns import (
    TurnedPart,
    best_turns,
    dense,
    levels_of,
    nearer_turns,
    reached_by,
    risen,
)
from guessproof.world.checks import Array

_STEPS = 1  # of Newton's method, to the best turns
_RADII, _BULKY = 5, 3.0  # of a row; times where most of the prior lies: a range for which a share of them is meant
_BOTH = 0.5  # boxes are cut both ways where the one says that much of the other
_ROUNDED = 1e-9  # of a radius
DEEP = 3  # boxes that are cut so many times are looked at closer
_BLOCK = 512  # rows worked on at a time, so that they stay in the cache


@dataclass(frozen=True, eq=False)
class TruthBoxes(Rows):
    """Of each box: its ε, true values and peaks from and to, about the best turns, and how often it was cut."""

    which: NDArray[np.int64]
    truths: Array
    peaks: Array
    turns: Array
    depth: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LookedBoxes:
    """Of each box: what bounds it, about how much peaks between its ends add, and the best attack in its corners."""

    most: Array
    by_peak: Array
    reached: Array
    truth: Array
    peak: Array
    turns: Array


@dataclass(frozen=True, eq=False)
class TruthPeaks:
    """Of boxes and peaks, in rows: the best attack at both ends on the grid of radii, its turns, and the polygons."""

    value: Array  # by end
    turns: Array
    upper: Array
    lower: Array
    raised: Array
    lowered: Array
    steady: bool = False

    @classmethod
    def joined(cls, parts: list[TruthPeaks]) -> TruthPeaks:
        axes = {"value": 1, "turns": 1, "upper": 2, "lower": 2, "raised": 0, "lowered": 0}
        arrays = (np.concatenate([getattr(part, name) for part in parts], axis=axis) for name, axis in axes.items())
        return cls(*arrays, steady=parts[0].steady)

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
            upper = MovedPolygon(self.upper[:, :, place[b]], self.raised[place[b]], self.steady)
            lower = MovedPolygon(self.lower[:, :, place[b]], self.lowered[place[b]], self.steady)
            found[b] = most_risen(upper, lower, more)
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

    def parts(self, inside: Array, outside: Array) -> tuple[TurnedPart, TurnedPart]:
        """What is raised and what it is compared with, for radii; outside, h is 1 everywhere at first."""
        reach, near, far = (r[:, None] for r in self.reaches)
        return self._parts(reach * inside, near + (far - near) * outside)

    def _parts(self, inside: Array, outside: Array, *, from_one: bool = False) -> tuple[TurnedPart, TurnedPart]:
        goals, k = self.goals, self.goals.rate[:, None]
        radii, c = goals.radii, goals.c[:, None]
        end = np.maximum(*(radii.farthest(goals.c, np.asarray(e)) for e in goals.world.prior.support))
        outside = np.concatenate([end[:, None], outside], axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            within = TurnedPart(*goals.inside(inside, from_one=from_one), np.exp(-k * radii.distance(c, inside)))
            beside = TurnedPart(*goals.outside(outside, from_one=from_one), np.exp(-k * radii.distance(c, outside)))
        target, rest = (within, beside) if goals.move > 0 else (beside, within)
        return target.raised(self.raised[:, None]), rest

    def nearer(self, turns: Array, steps: int) -> Array:
        """Turns that are nearer to the best ones of each peak."""
        reach, near, far = self.reaches
        steep = -self.goals.rate * np.stack([reach, far - near])
        at = np.stack([reach * turns[0], near + (far - near) * turns[1]])
        for start, end in self.goals.radii.stretches(self.goals.c):
            steep = np.where((start < at) & (at < end), 0.0, steep)
        return nearer_turns(self.parts, turns, self.goals.move, steep, steps)

    def reached(self, turns: Array) -> Array:
        """How far the belief moves with such turns."""
        return reached_by(self.parts, turns)

    def looked(self, turns: Array, narrow: Array) -> TruthPeaks:
        """What every row can reach at both ends, and what bounds it, with radii dense around the best turns."""
        goals, ends = self.goals, TruthRows(self.goals.ends, self.bulk)
        inside, outside = self._radii(self.nearer(turns, _STEPS), narrow)
        reach, near, far = self.reaches
        radii = self._with_flats(reach[:, None] * inside, near[:, None] + (far - near)[:, None] * outside)
        turned = radii[0].copy(), radii[1].copy()
        radii[0][:, -1], radii[1][:, -1] = goals.widest(reach, near)  # h is κ everywhere, for all goals of a box
        target, rest = ends._parts(*(np.tile(r, (2, 1)) for r in radii), from_one=True)
        with np.errstate(all="ignore"):
            value, at = best_turns(target, rest)
            upper = MovedPolygon.of(target, goals, goals.move, 1, self.raised)
            lower = MovedPolygon.of(rest, goals, -goals.move, -1, np.ones_like(self.raised))
        value = value.reshape(2, -1)
        row = np.arange(goals.c.size) + goals.c.size * (value[1] > value[0])
        i, j = (v[row] for v in (at if goals.move > 0 else at[::-1]))
        every = np.arange(goals.c.size)
        best = turned[0][every, i], turned[1][every, np.maximum(j - 1, 0)]
        if goals.world.form.jumped.size:
            best = self._across_jumps(best, target.pick(row), rest.pick(row), (i, j))
        with np.errstate(all="ignore"):
            best = np.stack([best[0] / reach, (best[1] - near) / (far - near)])
        best = np.clip(np.nan_to_num(best), 0.0, 1.0)
        return TruthPeaks(value, best, upper.corners, lower.corners, upper.bends, lower.bends)

    def _across_jumps(
        self, radii: Pair, target: TurnedPart, rest: TurnedPart, at: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> Pair:
        """Turns where ψ jumps: h is the same for every radius between two, and ln L there tells which it should be."""
        goals, every, step = self.goals, np.arange(self.goals.c.size), np.log(self.raised)
        i, j = at if goals.move > 0 else at[::-1]
        ours, theirs = ((part.mass[every, n], part.told[every, n]) for part, n in ((target, i), (rest, j)))
        with np.errstate(all="ignore"):
            levels = levels_of(*ours, *theirs)
            wanted = -(levels - np.stack([step, 0 * step])) / goals.rate
        found, beside = list(radii), goals.radii.beside_jumps(goals.c)
        for n, radius in enumerate(wanted[:: goals.move]):
            for one, other in zip(beside[::2], beside[1::2], strict=True):
                low, high = np.minimum(one, other), np.maximum(one, other)
                between = (found[n] >= low * (1 - _ROUNDED)) & (found[n] <= high * (1 + _ROUNDED)) & np.isfinite(radius)
                longer = low - goals.radii.distance(goals.c, low)  # than distances, where some are equally far
                found[n] = np.where(between, np.clip(radius + longer, low, high), found[n])
        return found[0], found[1]

    def _with_flats(self, inside: Array, outside: Array) -> Pair:
        """Where many values are equally far from the peak, a radius of theirs is among those of both sides.

        So are those between which there are no values, where ψ jumps.
        """
        radii, c = self.goals.radii, self.goals.c
        between = [0.5 * (start + end)[:, None] for start, end in radii.stretches(c)]
        between += [radius[:, None] for radius in radii.beside_jumps(c)]
        if not between:
            return inside, outside
        inside = np.concatenate([inside, *(np.minimum(v, inside[:, -1:]) for v in between)], axis=1)
        outside = np.concatenate([outside, *(np.clip(v, outside[:, -1:], outside[:, :1]) for v in between)], axis=1)
        return np.sort(inside, axis=1), np.ascontiguousarray(np.sort(outside, axis=1)[:, ::-1])

    def _radii(self, turns: Array, narrow: Array) -> Pair:
        _, near, far = self.reaches
        with np.errstate(divide="ignore"):
            bulky = np.clip(_BULKY * self.goals.world.spread / (far - near), 1e-3, 1.0)
        return dense(turns[0], _RADII, narrow), dense(turns[1], _RADII, narrow * bulky)[:, ::-1]


def blocks(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [rows[i : i + _BLOCK] for i in range(0, rows.size, _BLOCK)] or [rows]
