"""The worst true value beside a sample, under a prior that may be wrong, at many ε: attacks, and boxes beside them.

True values are runs of numbers, in order (`worst_atoms`), and peaks are numbers. With a likelihood and a wrong prior
held fixed, S = ΣLhf and T = Σhf do not depend on the run, and the belief in it rises by Σ hf·(L/S − 1/T) over the run:
the best run is where two sums differ most. So attacks take turns: the best run, then the best peak and turns for it.
Boxes of runs are halved such that how far each may be off its chord is known beforehand (`sample_boxes`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.atom_gaps import AtomBins
from guessproof.risk.atoms import Places
from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.sample_boxes import SampledRuns
from guessproof.risk.misjudged.sample_world import SampleWorld
from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.truth_rows import LookedBoxes, TruthBoxes, TruthPeaks, blocks
from guessproof.risk.worst_atoms import Runs
from guessproof.world.checks import Array

_TRUTHS, _PEAKS, _BEST = 33, 3, 4  # where a search for attacks begins, and how many are climbed to
_VERY_WRONG = 6.0  # a factor
_EVERY = 6  # ε of many at which attacks are climbed to; in between they are followed
_NARROW, _NARROWER = (1.0, 0.15, 0.02), (0.05, 1e-3)  # how dense radii are around the turns of attacks, look by look
_CLIMBS = (0.2, 0.06, 0.02)  # of a run: steps of the peak, a look at all runs before each
_FIRST_BOXES, _FIRST_PEAKS, _MOST_TIES = 8, 2, 16  # boxes and peaks that begin; parts where many are equally far
_BOX, _SHRINK, _NARROWEST = 0.1, 0.6, 1e-5  # the same in boxes that are cut more and more often


class MisjudgedAlongRuns:
    """Runs of numbers, each of which some true value makes correct, and a prior that may be wrong by a factor."""

    def __init__(self, runs: Runs, factor: float, move: Move, between: Array | None = None) -> None:
        """`between` tells by how much one between two neighbours may be off their chord, where there are such."""
        self.runs, self.factor, self.between = runs, factor, between
        self.move: Move = move
        self.world = SampleWorld(runs.atoms, runs.step)
        self.bins = AtomBins(runs.atoms, factor, runs.step)
        self.first, self.end = runs.first, runs.last + 1
        self._known: dict[float, Array] = {}

    @property
    def largest(self) -> float:
        return self.world.largest

    @property
    def nodes(self) -> int:
        return 128 if self.factor <= _VERY_WRONG else 208  # parabolas between them are the higher

    @property
    def most_open(self) -> int:
        return 800

    @property
    def most_looks(self) -> int:
        return 40_000

    # Attacks: run, peak, and two turns, in rows.

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach; what follows starts from there."""
        epsilon = np.minimum(epsilon, self.largest)
        starts = self._starts(epsilon)
        value, places = self.climbed(starts, np.repeat(epsilon, _BEST))
        best = np.argmax(value.reshape(epsilon.size, _BEST), axis=1) + _BEST * np.arange(epsilon.size)
        self.keep(epsilon, places[:, best])
        return value[best]

    def followed(self, epsilon: Array) -> Pair:
        """Attacks at many ε, from those that are known around each: what they reach, and where they are."""
        if not self._known:
            self.rough(epsilon[[0, -1]])
        some = np.unique(np.append(epsilon[::_EVERY], epsilon[-1]))
        self.keep(some, self._climb(self._best_known(some), some, _CLIMBS)[1])
        return self._better_beside(epsilon, _CLIMBS[-1:])

    def _best_known(self, epsilon: Array) -> Pair:
        """The best of all runs that are known from any ε."""
        places = np.stack(list(self._known.values()), axis=1)
        places = places[:, np.unique(places[0], return_index=True)[1]]
        count = places.shape[1]
        value, places = self.nearer(np.tile(places, epsilon.size), np.repeat(epsilon, count))
        best = np.argmax(value.reshape(epsilon.size, count), axis=1) + count * np.arange(epsilon.size)
        return value[best], places[:, best]

    def _better_beside(self, epsilon: Array, steps: tuple[float, ...]) -> Pair:
        """Of the attacks that are known at the two ε around each, brought nearer, the one that reaches more."""
        known = np.array(sorted(self._known))
        after = np.searchsorted(known, epsilon)
        near = (known[np.clip(i, 0, known.size - 1)] for i in (after - 1, after))
        left, right = (np.stack([self._known[float(e)] for e in each], axis=1) for each in near)
        found = self.nearer(left, epsilon)
        return self._climb(self._better(found, right, epsilon), epsilon, steps)

    def keep(self, epsilon: Array, places: Array) -> None:
        """Attacks that others may start from."""
        self._known.update({float(e): place for e, place in zip(epsilon, places.T, strict=True)})

    def is_same(self, left: Array, right: Array) -> NDArray[np.bool_]:
        """Whether attacks at two ε are of one run."""
        return left[0] == right[0]

    def reached(self, places: Array, epsilon: Array) -> Array:
        return self.nearer(places, epsilon)[0]

    def nearer(self, places: Array, epsilon: Array) -> Pair:
        """What attacks reach with turns that are nearer to the best ones, and these."""
        value, turns = self._attacks(places, epsilon).climbed(places[2:], _NARROWER)
        return value, np.concatenate([places[:2], turns])

    def _attacks(self, places: Array, epsilon: Array) -> SampledRuns:
        run, c = places[:2].astype(np.int64)
        return self._rows(epsilon, run, run, c)

    def _rows(self, epsilon: Array, first: Places, last: Places, c: Places) -> SampledRuns:
        lo, hi = (self.first[first], self.first[last]), (self.end[first], self.end[last])
        row = self.world.rows_of(epsilon)
        return SampledRuns(self.world, self.factor, self.move, row, epsilon, lo, hi, self._off(first, last), c)

    def _starts(self, epsilon: Array) -> Array:
        """Some runs that are better than those beside them, with the best of some peaks: so many for each ε."""
        run = np.unique(np.linspace(0, self.first.size - 1, _TRUTHS).astype(np.int64))
        share = (np.arange(_PEAKS) + 0.5) / _PEAKS
        c = self.first[run][:, None] + share * (self.end[run] - self.first[run])[:, None]
        places = np.stack([np.repeat(run, _PEAKS), np.floor(c).ravel()]).astype(np.float64)
        rows = np.tile(places, epsilon.size)
        found = self._attacks(rows, np.repeat(epsilon, places.shape[1])).climbed(np.full(rows.shape, 0.5), _NARROW)
        value, rows = found[0].reshape(epsilon.size, run.size, _PEAKS), np.concatenate([rows, found[1]])
        peak, most = np.argmax(value, axis=2), np.pad(np.max(value, axis=2), ((0, 0), (1, 1)), constant_values=-np.inf)
        tops = (most[:, 1:-1] >= most[:, :-2]) & (most[:, 1:-1] >= most[:, 2:])
        best = np.argsort(np.where(tops, -most[:, 1:-1], 1 - most[:, 1:-1]), axis=1)[:, np.arange(_BEST) % run.size]
        at = (np.arange(epsilon.size)[:, None] * run.size + best) * _PEAKS + np.take_along_axis(peak, best, axis=1)
        return rows[:, at.ravel()]

    def climbed(self, start: Array, epsilon: Array) -> Pair:
        """Attacks with better runs and peaks, by turns; turns of h follow."""
        return self._climb(self.nearer(start, epsilon), epsilon, _CLIMBS)

    def _climb(self, found: Pair, epsilon: Array, steps: tuple[float, ...]) -> Pair:
        value, best = found
        for step in steps:
            value, best = self._better((value, best), self._best_runs(best, epsilon), epsilon)
            run = best[0].astype(np.int64)
            lo, hi = self.first[run], self.end[run]
            move = np.maximum(1, (step * (hi - lo)).astype(np.int64))
            for way in (-move, move):
                c = np.clip(best[1] + way, lo, hi - 1)
                value, best = self._better((value, best), np.concatenate([best[:1], c[None], best[2:]]), epsilon)
        return value, best

    def _better(self, known: Pair, places: Array, epsilon: Array) -> Pair:
        value, best = known[0].copy(), known[1].copy()
        other = np.flatnonzero(np.any(places[:2] != best[:2], axis=0))
        found, places = self.nearer(places[:, other], epsilon[other])
        better = found > value[other]
        value[other[better]], best[:, other[better]] = found[better], places[:, better]
        return value, best

    def _best_runs(self, places: Array, epsilon: Array) -> Array:
        """The same peaks and radii with the best runs for them, if h stays as it is."""
        rows, best = self._attacks(places, epsilon), places.copy()
        reach, near, far = rows.reaches
        inside, outside = reach * places[2], near + (far - near) * places[3]
        target, rest = rows.parts(places[2][:, None], places[3][:, None])
        before, after = (v[:, -1] for v in (target.mass + rest.mass[:, -1:], target.told + rest.told[:, -1:]))
        psi, mass, peak = self.world.psi, self.world.mass, rows.log_peak
        for i, c in enumerate(places[1].astype(np.int64)):
            some = slice(np.searchsorted(self.end, c, side="right"), np.searchsorted(self.first, c, side="right"))
            first, end = self.first[some], self.end[some]
            held = slice(first[0], end[-1])
            away = np.abs(psi[held] - psi[c])
            h = np.where((away <= inside[i]) | (away >= outside[i]), self.factor, 1.0)
            z = np.exp(peak[i] - rows.rate[i] * away) / after[i] - 1 / before[i]
            sums = np.append(0.0, np.cumsum(self.move * h * z * mass[held]))
            best[0, i] = some.start + np.argmax(sums[end - held.start] - sums[first - held.start])
        return best

    def places_of(self, looked: LookedBoxes, some: NDArray[np.int64]) -> Array:
        """The best attacks that some boxes have in their corners."""
        return np.stack([looked.truth[some], looked.peak[some], *looked.turns[:, some]])

    # Boxes.

    def range_of(self, epsilon: Array, line: Array) -> tuple[float, float] | None:
        """All runs."""
        del epsilon, line
        return 0.0, float(self.first.size - 1)

    def first_boxes(self, place: Array, range_: tuple[float, float]) -> Pair:
        """Runs in a few blocks that can be halved, and some peaks for each."""
        del place
        last = int(range_[1])
        width = 1 << max((last // _FIRST_BOXES).bit_length(), 0)
        t1 = np.arange(0, max(last, 1), width)
        t2 = np.minimum(t1 + width, last)
        ends = [self._peaks(int(self.first[a]), int(self.end[b]) - 1) for a, b in zip(t1, t2, strict=True)]
        truths = np.repeat(np.stack([t1, t2]), [each.shape[1] for each in ends], axis=1)
        return truths.astype(np.float64), np.concatenate(ends, axis=1).astype(np.float64)

    def _peaks(self, low: int, high: int) -> Places:
        """From one number to another in some parts: of numbers that are equally far from all others one part each."""
        psi = self.world.psi[low : high + 1]
        starts = np.flatnonzero(np.diff(psi, prepend=-np.inf))
        if starts.size <= _MOST_TIES < psi.size:
            return low + np.stack([starts, np.append(starts[1:], psi.size) - 1])
        c = np.linspace(low, high, _FIRST_PEAKS + 1).astype(np.int64)
        return np.stack([c[:-1], c[1:]])

    def within(self, truths: Array, peaks: Array) -> tuple[NDArray[np.bool_], Array]:
        """Of boxes: whether some of their peaks lie in a run of theirs, and peaks without those that lie in none."""
        first, last = self.first[truths[0].astype(np.int64)], self.end[truths[1].astype(np.int64)] - 1
        return (peaks[1] >= first) & (peaks[0] <= last), np.clip(peaks, first, last)

    def divisible(self, truths: Array, peaks: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether boxes have more runs than one (or two, with others between them), and other peaks between theirs."""
        first, last = self.world.psi[peaks.astype(np.int64)]
        return truths[1] > truths[0] + (self.between is not None), (peaks[1] > peaks[0] + 1) & (last > first)

    def middles(self, ends: str, a: Array, b: Array) -> Pair:
        """Where the first half of a box ends and the second begins: two runs are taken apart."""
        if ends == "peaks":
            middle = np.floor(0.5 * (a + b))
            return middle, middle
        half = np.exp2(np.ceil(np.log2(np.maximum(b - a, 2))) - 1)
        return np.where(b - a > 1, a + half, a), np.where(b - a > 1, a + half, b)

    def asked(self, boxes: TruthBoxes, epsilon: Array) -> LookedBoxes:
        """What bounds each box: what bounds both peaks at its ends, with how much more there may be between them."""
        keys = np.stack([boxes.which, *boxes.truths, boxes.depth])
        keys = np.concatenate([np.tile(keys, 2), boxes.peaks.reshape(1, -1)])
        unique, index, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        which, first, last, depth, c = unique.astype(np.int64)
        rows, turns = self._rows(epsilon[which], first, last, c), np.tile(boxes.turns, 2)[:, index]
        narrow, sides = np.maximum(_BOX * _SHRINK**depth, _NARROWEST), inverse.reshape(2, -1)
        peaks = TruthPeaks.joined([rows.pick(b).looked(turns[:, b], narrow[b]) for b in blocks(np.arange(c.size))])
        truth, value = np.where(peaks.value[1] > peaks.value[0], last, first), np.max(peaks.value, axis=0)
        more = self._more(boxes, epsilon[boxes.which]) * np.exp(rows.log_peak)[sides]
        most = np.max(peaks.bounds(sides, more, self.move), axis=0) + self.world.rounding
        right = value[sides[1]] > value[sides[0]]
        better = np.where(right, sides[1], sides[0])
        added = peaks.added(better, np.where(right, more[1], more[0]), self.move)
        return LookedBoxes(most, added, value[better], truth[better], c[better], peaks.turns[:, better])

    def _more(self, boxes: TruthBoxes, epsilon: Array) -> Array:
        """How much a tent with its peak between two others holds more than a mixture of theirs, a valley less.

        Only numbers strictly between them count, of which some may be in no run: that would only lower the belief.
        """
        (left, right), psi = boxes.peaks.astype(np.int64), self.world.psi
        mass = self.world.masses((left + 1, right))
        with np.errstate(over="ignore"):
            more = self.factor * np.sinh(0.5 * epsilon * (psi[right] - psi[left])) * mass * (1 + 1e-12)
        more = np.where(right > left + 1, more + self.world.rounding, 0.0)
        return more * np.exp(epsilon * self.world.step) if self.move > 0 else more

    def declared(self, truths: Array) -> Pair:
        """Beliefs before, as declared: the least and the largest of a box."""
        first, last = truths.astype(np.int64)
        masses, (lo1, hi1), (lo2, hi2) = self.world.masses, *((self.first[r], self.end[r]) for r in (first, last))
        return masses((lo2, hi1)), masses((lo1, hi2))

    def left(self, t1: Array, t2: Array, epsilon: Array, *, closely: bool) -> Array:
        """How far a belief can rise, or fall, at most, at any ε."""
        del epsilon, closely
        least, most = (np.clip(v, 0.0, 1.0) for v in self.declared(np.stack([t1, t2])))
        found = 1 - with_odds_of(least, 1 / self.factor) if self.move > 0 else with_odds_of(most, self.factor)
        return found + self.world.rounding

    def gap_of_all(self, peaks: Array, rates: Pair) -> Pair:
        """g of all numbers, for each box; and in the middle of its peaks alone."""
        low, high = peaks.astype(np.int64)
        return self.bins.gap(low, high, *rates)

    def gap_of_rest(self, truths: Array, peaks: Array, rates: Pair) -> Array:
        """g of what lies outside of runs; for valleys, which are compared with the run itself, it is not told."""
        if self.move < 0:
            return np.full(truths.shape[1], np.inf)
        (first, last), (low, high) = truths.astype(np.int64), peaks.astype(np.int64)
        union, common = (self.first[first], self.end[last]), (self.first[last], self.end[first])
        return self.bins.gap_of_rest(union, common, (low, high), rates)

    # How far runs are off the chords of boxes.

    @cached_property
    def _offs(self) -> list[Array]:
        """Between what the upper end of a run is ahead of its chord in each block of 1, 2, 4, … runs."""
        last, below = self.first.size - 1, self.world.below
        lo, hi = below[self.first], below[self.end]
        pairs = np.zeros(max(last, 1)) if self.between is None else self.between
        found = [np.stack([-pairs, pairs])]
        while (1 << (len(found) - 1)) < last:
            width = 1 << len(found)
            rows = np.minimum(np.arange(0, last, width)[:, None] + np.arange(width + 1), last)
            a, b = lo[rows], hi[rows]
            both = a + b
            with np.errstate(invalid="ignore", divide="ignore"):
                share = (both - both[:, :1]) / (both[:, -1:] - both[:, :1])
            ahead = np.nan_to_num(b - b[:, :1] - share * (b[:, -1:] - b[:, :1]))
            off, error = np.stack([np.min(ahead, axis=1), np.max(ahead, axis=1)]), self.world.rounding
            more = np.maximum.reduceat(pairs, np.arange(0, last, width)) + error
            found.append(off + np.stack([-more, more]))
        return found

    def _off(self, first: Places, last: Places) -> Array:
        """The same for boxes of runs that come of halving; between two neighbours there may be nothing."""
        level = np.where(last > first, np.ceil(np.log2(np.maximum(last - first, 1))), -1).astype(np.int64)
        found = np.zeros((2, first.size))
        for each in np.unique(level[level >= 0]):
            some = level == each
            found[:, some] = self._offs[each][:, first[some] >> each]
        return found
