"""The worst true value under a prior that may be wrong, at many ε: attacks that are followed, and boxes beside them.

Attacks are followed in true value and peak, with the turns that are best there. Boxes of true values and peaks
(`truth_boxes`), dense around an attack, bound all others (`truth_curve` cuts them). Beyond a range of true values the
declared belief, with odds κ times as large, is below the attack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.gaps import Pieces, gap_of_boxes
from guessproof.risk.misjudged.far_truths import FarTruths
from guessproof.risk.misjudged.radii import Radii
from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.truth_boxes import SLIVER, PeakedGoals
from guessproof.risk.misjudged.truth_rows import (
    DEEP,
    LookedBoxes,
    TruthBoxes,
    TruthPeaks,
    TruthRows,
    blocks,
)
from guessproof.risk.misjudged.turns import best_turns, dense
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_search import TruthSearch
from guessproof.world.checks import Array

_TRUTHS, _PEAKS, _TURNS, _BEST = 17, 7, 5, 8  # where a search for attacks begins, and how many of them are followed
_FARTHEST = 1e-9  # of the prior: beyond, no attack is looked for, and no radius ends
_CLIMBS, _FIRST_STEP, _SHRINK, _GROW = 12, 0.08, 0.4, 1.5
_HARDLY_MORE = 2e-6  # of what attacks reach: what is not worth another step
_EVERY = 6  # ε of many at which attacks are climbed to; in between they are followed
_SAME = 0.3  # of shares: attacks that are no further apart are taken for one that moves with ε
_NEAR_A_KINK = 0.1  # of the true values that attacks are looked for among
_FIRST_STEPS, _CLIMB_STEPS = 3, 2  # of Newton's method, to the best turns
_BOX_TRUTHS, _BOX_PEAKS, _DENSE = 5, 5, 0.03  # ends of the first boxes, and how dense they are around the attack
_THIN = 0.1  # of how far peaks are apart: where true values are as near to each other, peaks are what is cut
_APART = 1e-9  # of a range of true values: nothing is between a kink and what is nearer to it
_NARROW, _NARROWER = 0.03, 0.01  # the same of radii, at first and in boxes cut some times


@dataclass(frozen=True)
class MisjudgedAlongTruths:
    """One interval around the true value, which may be any, under a prior that may be wrong by a factor."""

    search: TruthSearch
    factor: float
    move: Move
    known: dict[float, Array] = field(default_factory=dict[float, Array], repr=False, compare=False)  # attacks by ε

    @cached_property
    def world(self) -> TiltedIntegrals:
        """The prior's integrals in the metric's own units."""
        return TiltedIntegrals(self.search.prior, self.search.form)

    @cached_property
    def _radii(self) -> Radii:
        return Radii(self.world)

    @cached_property
    def attacked(self) -> tuple[float, float]:
        """Between which true values attacks are looked for."""
        ends = np.clip(self.search.prior.quantile([_FARTHEST, 1 - _FARTHEST]), self.search.low, self.search.high)
        return float(ends[0]), float(ends[1])

    # Attacks: true value, peak as a share of the goal, and two turns, in rows.

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach; what follows starts from there."""
        value, places = self.climbed(self._first(epsilon)[1], epsilon)
        self.keep(epsilon, places)
        return value

    def followed(self, epsilon: Array) -> Pair:
        """Attacks at many ε, from those that are known around each: what they reach, and where they are."""
        if len(self.known) < 2:
            self.rough(epsilon[[0, -1]])
        some = np.unique(np.append(epsilon[::_EVERY], epsilon[-1]))
        self.keep(some, self._better_of(self._beside(some), some, self.climbed)[1])
        return self._better_of(self._beside(epsilon), epsilon, self.nearer)

    def _better_of(self, starts: Pair, epsilon: Array, way: Callable[[Array, Array], Pair]) -> Pair:
        """Of two attacks at each ε, brought on their way, the one that reaches more."""
        value, places = way(starts[0], epsilon)
        other = np.flatnonzero(np.any(starts[0] != starts[1], axis=0))
        if not other.size:
            return value, places
        found, there = way(starts[1][:, other], epsilon[other])
        better = found > value[other]
        value[other[better]], places[:, other[better]] = found[better], there[:, better]
        return value, places

    def keep(self, epsilon: Array, places: Array) -> None:
        """Attacks that others may start from."""
        self.known.update({float(e): place for e, place in zip(epsilon, places.T, strict=True)})

    def _beside(self, epsilon: Array) -> Pair:
        """Where attacks begin: between those at the two ε around that are known, or at one where they differ."""
        known = np.array(sorted(self.known))
        after = np.clip(np.searchsorted(known, epsilon), 1, known.size - 1)
        left, right = (np.stack([self.known[float(e)] for e in known[i]], axis=1) for i in (after - 1, after))
        with np.errstate(invalid="ignore", divide="ignore"):  # of one alone nothing lies between
            share = np.clip(np.log(epsilon / known[after - 1]) / np.log(known[after] / known[after - 1]), 0.0, 1.0)
        between = np.where(left == right, left, (1 - share) * left + share * right)
        first, second = (np.where(self.is_same(left, right), between, side) for side in (left, right))
        return first, second

    def is_same(self, left: Array, right: Array) -> NDArray[np.bool_]:
        """Whether attacks at two ε are one that moves with ε, or two."""
        (low, high), apart = self.attacked, np.abs(left - right)
        return (apart[0] <= _NEAR_A_KINK * (high - low)) & np.all(apart[1:] <= _SAME, axis=0)

    def reached(self, places: Array, epsilon: Array) -> Array:
        """How far attacks move a belief."""
        return np.where(self._possible(places[0]), self._attacks(places, epsilon).reached(places[2:]), -np.inf)

    def nearer(self, places: Array, epsilon: Array) -> Pair:
        """Attacks with turns that are nearer to the best ones, where that reaches more; and what they reach."""
        rows = self._attacks(places, epsilon)
        turns = np.stack([rows.nearer(places[2:], _CLIMB_STEPS), places[2:]], axis=-1)
        found = np.where(self._possible(places[0])[:, None], rows.reached(turns), -np.inf)
        better = found[:, 0] > found[:, 1]
        return np.max(found, axis=1), np.concatenate([places[:2], np.where(better, turns[..., 0], turns[..., 1])])

    def _attacks(self, places: Array, epsilon: Array) -> TruthRows:
        low, high = self.peaks(places[0], places[0])
        return self._rows(epsilon, (places[0], places[0]), low + places[1] * (high - low))

    def _possible(self, t: Array) -> NDArray[np.bool_]:
        return np.isfinite(self.search.prior.log_density(t))

    def _first(self, epsilon: Array) -> Pair:
        """The best of a grid of true values and peaks, with about the best turns for each, and where it is."""
        grid = np.meshgrid(np.linspace(*self.attacked, _TRUTHS), np.linspace(0.0, 1.0, _PEAKS), indexing="ij")
        t, share = (np.tile(v.ravel(), epsilon.size) for v in grid)
        which = np.repeat(np.arange(epsilon.size), _TRUTHS * _PEAKS)
        rows, every = self._attacks(np.stack([t, share]), epsilon[which]), np.arange(which.size)
        radii = np.tile(np.linspace(0.0, 1.0, _TURNS), (which.size, 1))
        with np.errstate(all="ignore"):
            value, at = best_turns(*rows.parts(radii, radii[:, ::-1]))
        at = at if self.move > 0 else at[::-1]
        turns = np.stack([radii[every, at[0]], radii[:, ::-1][every, np.maximum(at[1] - 1, 0)]])
        value = np.where(self._possible(t), value, -np.inf).reshape(epsilon.size, -1)
        few = np.argpartition(-value, _BEST, axis=1)[:, :_BEST] + _TRUTHS * _PEAKS * np.arange(epsilon.size)[:, None]
        places = np.stack([t, share, *turns])[:, few.ravel()]
        turns = self._attacks(places, epsilon[which[few.ravel()]]).nearer(places[2:], _FIRST_STEPS)
        found, places = self.nearer(np.concatenate([places[:2], turns]), epsilon[which[few.ravel()]])
        best = np.argmax(found.reshape(epsilon.size, -1), axis=1) + _BEST * np.arange(epsilon.size)
        return found[best], places[:, best]

    def climbed(self, start: Array, epsilon: Array) -> Pair:
        """Attacks climbed in true value and peak, and those near a kink along the peak at the kink itself.

        Where an edge of the goal meets a jump of the density the best true value is often just there, and an attack
        beside it, however close, leaves boxes open that cutting does not close.
        """
        (low, high), every = self.attacked, np.arange(epsilon.size)
        value, best = self._climb(start, epsilon, np.array([(high - low) / 4, 1.0]))
        kinks = self._kinks[(self._kinks >= low) & (self._kinks <= high)]
        if not kinks.size:
            return value, best
        away = np.abs(kinks[:, None] - best[0])
        which = np.argmin(away, axis=0)
        near = np.flatnonzero(away[which, every] <= _NEAR_A_KINK * (high - low))
        there = np.concatenate([kinks[which[near]][None], best[1:, near]])
        found, there = self._climb(there, epsilon[near], np.array([0.0, 1.0]))
        better = near[found > value[near]]
        best[:, better], value[better] = there[:, found > value[near]], found[found > value[near]]
        return value, best

    def _climb(self, start: Array, epsilon: Array, scale: Array) -> Pair:
        """Newton's steps in true value and peak, or in one of them, on a small grid; turns follow.

        The grid grows until the best attack lies inside of it, and then shrinks, until hardly more is reached.
        """
        best, value, centre = start.copy(), np.full(epsilon.size, -np.inf), start.copy()
        some, step = np.arange(epsilon.size), np.full(epsilon.size, _FIRST_STEP)
        for _ in range(_CLIMBS):
            if not some.size:
                break
            there, top, ahead = self._stepped(centre[:, some], epsilon[some], step[some] * scale[:, None])
            with np.errstate(invalid="ignore"):
                gained, better = top - value[some], top > value[some]
                away = np.abs(ahead - centre[:2, some]) > step[some] * scale[:, None]
            best[:, some] = np.where(better, there, best[:, some])
            centre[:, some] = best[:, some]
            centre[:2, some] = np.where(better, ahead, best[:2, some])
            value[some] = np.where(better, top, value[some])
            inside = ~(better & np.any(away, axis=0))
            step[some] *= np.where(inside, _SHRINK, _GROW)
            some = some[gained > _HARDLY_MORE * np.abs(value[some])]
        return value, best

    def _stepped(self, centre: Array, epsilon: Array, step: Array) -> tuple[Array, Array, Array]:
        """The best attacks around some, what they reach, and where a parabola through all of them says to go on."""
        (low, high), every = self.attacked, np.arange(epsilon.size)
        ways = [np.array([-1.0, 0.0, 1.0]) if np.any(sizes) else np.zeros(1) for sizes in step]
        shifts = np.stack(np.meshgrid(*ways, indexing="ij")).reshape(2, 1, -1) * step[:, :, None]
        count, parabola = shifts.shape[2], _parabola if len(ways[0]) > 1 else _parabola_of_peaks
        around = centre[:2, :, None] + shifts
        around = np.stack([np.clip(around[0], low, high), np.clip(around[1], 0.0, 1.0)])
        rows = self._attacks(around.reshape(2, -1), np.repeat(epsilon, count))
        turns = rows.nearer(np.repeat(centre[2:], count, axis=1), _CLIMB_STEPS)
        found = np.where(self._possible(around[0]), rows.reached(turns).reshape(-1, count), -np.inf)
        place = np.argmax(found, axis=1)
        there = np.concatenate([around, turns.reshape(2, -1, count)])[:, every, place]
        return there, found[every, place], parabola(found, around, there[:2])

    # Boxes.

    def places_of(self, looked: LookedBoxes, some: NDArray[np.int64]) -> Array:
        """The best attacks that some boxes have in their corners."""
        t = looked.truth[some]
        low, high = self.peaks(t, t)
        with np.errstate(all="ignore"):
            share = np.clip(np.nan_to_num((looked.peak[some] - low) / (high - low)), 0.0, 1.0)
        return np.stack([t, share, *looked.turns[:, some]])

    def first_boxes(self, place: Array, range_: tuple[float, float]) -> Pair:
        """True values and peaks of boxes that are dense around an attack, from one end of a range to the other."""
        low, high = range_
        share = np.clip((place[:1] - low) / (high - low), 0.0, 1.0)
        t, kinks = low + (high - low) * dense(share, _BOX_TRUTHS, _DENSE)[0], np.append(self._kinks, [low, high])
        t = t[np.min(np.abs(t[:, None] - kinks), axis=1) > _APART * (high - low)]  # what is as near is the kink itself
        t = np.union1d(t, kinks)
        t = np.unique(np.concatenate([[low], t[(t > low) & (t < high)], [high]]))  # rounded, the last may be beyond it
        some = self.search.prior.mass(t[:-1], t[1:]) > 0
        t1, t2 = t[:-1][some], t[1:][some]
        first, last = (p[:, None] for p in self.peaks(t1, t2))
        c = first + dense(np.repeat(place[1], t1.size), _BOX_PEAKS, _DENSE) * (last - first)
        c[:, -1] = last[:, 0]
        truths = np.repeat([t1, t2], _BOX_PEAKS - 1, axis=1)
        return self._without_jumps(truths, np.stack([c[:, :-1].ravel(), c[:, 1:].ravel()]))

    def _without_jumps(self, truths: Array, peaks: Array) -> Pair:
        """Boxes cut where ψ jumps between their peaks: there are none between the two sides of a jump."""
        for cut in self.search.form.jumped:
            across = (peaks[0] <= cut) & (peaks[1] > cut)
            above = peaks[:, across]
            above[0] = np.nextafter(cut, np.inf)
            peaks[1, across] = cut
            truths, peaks = (np.concatenate(v, axis=1) for v in ((truths, truths[:, across]), (peaks, above)))
        boxes = np.unique(np.concatenate([truths, peaks]), axis=1)  # where ψ is flat all have the same peaks
        return boxes[:2], boxes[2:]

    @cached_property
    def _kinks(self) -> Array:
        """True values whose goals begin or end where the density jumps or bends, or ψ jumps: boxes end there."""
        prior = self.search.prior
        breaks = np.array([x for x in (*prior.support, *prior.breaks, *self.search.form.jumped) if np.isfinite(x)])
        return self.search.truths_with_edges_at(breaks)

    @cached_property
    def _far(self) -> FarTruths:
        return FarTruths(self.search, self.world, self.factor, self.move)

    def range_of(self, epsilon: Array, line: Array) -> tuple[float, float] | None:
        """Between which true values there may be more than a line, at some ε and between them; None if without end."""
        return self._far.range_of(epsilon, line)

    def left(self, t1: Array, t2: Array, epsilon: Array, *, closely: bool) -> Array:
        """How far a belief can rise, or fall, at most, told without polygons."""
        return self._far.left(t1, t2, epsilon, closely=closely)

    def peaks(self, t1: Array, t2: Array) -> Pair:
        """Between which values tents peak, for true values from t1 to t2: in the goal, and where the prior is.

        A goal that begins or ends where ψ jumps has nothing on the other side, but for rounding.
        """
        low, high = np.clip(self.search.edges(t1)[0], *self._peaked), np.clip(self.search.edges(t2)[1], *self._peaked)
        for cut in self.search.form.jumped:
            sliver = SLIVER * (np.abs(low) + np.abs(high))
            low = np.where((low <= cut) & (cut - low <= sliver), np.nextafter(cut, np.inf), low)
            high = np.where((high > cut) & (high - cut <= sliver), cut, high)
        return low, high

    @cached_property
    def _peaked(self) -> tuple[float, float]:
        """Between which values all peaks are: one beyond a bound is the same as one at it."""
        form, (low, high) = self.search.form, self.search.prior.support
        if form.is_straight:
            return low, high
        last = float(np.nextafter(form.cuts[-1], np.inf)) if form.jumps[-1] else form.cuts[-1]
        return low if form.slopes[0] else max(low, form.cuts[0]), high if form.slopes[-1] else min(high, last)

    def within(self, truths: Array, peaks: Array) -> tuple[NDArray[np.bool_], Array]:
        """Of boxes: whether some of their peaks lie in a goal of theirs, and peaks without those that lie in none."""
        first, last = self.peaks(truths[0], truths[1])
        return (peaks[1] >= first) & (peaks[0] <= last), np.clip(peaks, first, last)

    def divisible(self, truths: Array, peaks: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether boxes have more true values between their ends, and more peaks: always."""
        return np.ones(truths.shape[1], dtype=bool), np.ones(peaks.shape[1], dtype=bool)

    def middles(self, ends: str, a: Array, b: Array) -> Pair:
        """Where the first half of a box ends and the second begins."""
        del ends
        middle = 0.5 * a + 0.5 * b
        return middle, middle

    @property
    def largest(self) -> float:
        return np.inf

    @property
    def nodes(self) -> int:
        return 128

    @property
    def most_open(self) -> int:
        return 90

    @property
    def most_looks(self) -> int:
        return 4000

    # Along ε.

    def _goals(self, truths: Array) -> tuple[Pair, Pair]:
        """What all goals of a box lie in, and what they have in common."""
        (lo1, hi1), (lo2, hi2) = (self.search.edges(t) for t in truths)
        return (lo1, hi2), (lo2, np.maximum(lo2, hi1))

    def declared(self, truths: Array) -> Pair:
        """Beliefs before, as declared: the least and the largest of a box."""
        union, common = self._goals(truths)
        return self.search.prior.mass(*common), self.search.prior.mass(*union)

    def gap_of_all(self, peaks: Array, rates: Pair) -> Pair:
        """g of all values, for each box; and in the middle of its peaks alone."""
        every: Pieces = [(np.full(peaks.shape[1], -np.inf), np.full(peaks.shape[1], np.inf))]
        ends = peaks[0], peaks[1]
        return gap_of_boxes(self.world, (every, every), ends, rates, self.factor, self.search.form.step)

    def gap_of_rest(self, truths: Array, peaks: Array, rates: Pair) -> Array:
        """g of what goals are compared with."""
        parts = self._compared_with(*self._goals(truths))
        return gap_of_boxes(self.world, parts, (peaks[0], peaks[1]), rates, self.factor)[0]

    def _compared_with(self, union: Pair, common: Pair) -> tuple[Pieces, Pieces]:
        """What goals of a box are compared with, at most and at least: the rest for tents, the goal for valleys."""
        if self.move < 0:
            return [union], [common]
        ends = np.full(union[0].shape, -np.inf), np.full(union[0].shape, np.inf)
        at_most, at_least = ([(ends[0], lo), (hi, ends[1])] for lo, hi in (common, union))
        return at_most, at_least

    def _rows(self, epsilon: Array, truths: Pair, c: Array) -> TruthRows:
        t1, t2 = truths
        lo, hi = self.search.edges(0.5 * t1 + 0.5 * t2)
        halves = 0.5 * (t2 - t1) * (1 + 1e-15) * np.stack(self.search.pace(t1, t2))
        return TruthRows(PeakedGoals(self._radii, self.factor, self.move, epsilon, lo, hi, halves, c), self._bulk)

    @cached_property
    def _bulk(self) -> Pair:
        """Where radii may end."""
        prior = self.search.prior
        bulk, ends = prior.quantile([_FARTHEST, 1 - _FARTHEST]), np.asarray(prior.support)
        low, high = np.where(np.isfinite(ends), ends, bulk)
        return np.asarray(low), np.asarray(high)

    def asked(self, boxes: TruthBoxes, epsilon: Array) -> LookedBoxes:
        """What bounds each box: what bounds both peaks at its ends, with how much more there may be between them."""
        keys = np.stack([boxes.which, *boxes.truths, boxes.depth])
        keys = np.concatenate([np.tile(keys, 2), boxes.peaks.reshape(1, -1)])
        unique, index, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        which, t1, t2, depth, c = unique
        rows, turns = self._rows(epsilon[which.astype(np.int64)], (t1, t2), c), np.tile(boxes.turns, 2)[:, index]
        narrow, sides = np.where(depth >= DEEP, _NARROWER, _NARROW), inverse.reshape(2, -1)
        peaks = TruthPeaks.joined([rows.pick(b).looked(turns[:, b], narrow[b]) for b in blocks(np.arange(c.size))])
        value = np.where(self._possible(np.stack([t1, t2])), peaks.value, -np.inf)
        truth, value = np.where(value[1] > value[0], t2, t1), np.max(value, axis=0)
        more = self._more(boxes, epsilon[boxes.which])
        most = np.max(peaks.bounds(sides, more, self.move), axis=0)
        better = np.where(value[sides[0]] >= value[sides[1]], *sides)
        thin = boxes.truths[1] - boxes.truths[0] < _THIN * (boxes.peaks[1] - boxes.peaks[0])
        added = np.where(thin, np.inf, peaks.added(better, more, self.move))
        return LookedBoxes(most, added, value[better], truth[better], c[better], peaks.turns[:, better])

    def _more(self, boxes: TruthBoxes, epsilon: Array) -> Array:
        """How much a tent with its peak between two others holds more than a mixture of theirs, a valley less.

        Some of what lies between the peaks may be in no goal: that would only lower the belief.
        """
        (left, right), form, prior = boxes.peaks, self.search.form, self.search.prior
        apart = 0.5 * epsilon * (form.psi(right) - form.psi(left))
        # The excess of a tent is convex on both sides of its peak and 0 at the two others: no more than a triangle.
        most = 0.5 * (right - left) * prior.density_range(left, right)[1]
        straight = np.all([(cut <= left) | (cut >= right) for cut in form.cuts], axis=0)
        mass = np.fmin(prior.mass(left, right), np.where(straight, most, np.inf))
        with np.errstate(over="ignore", invalid="ignore"):
            more = np.where(mass > 0, self.factor * np.sinh(apart) * mass, 0.0)
            return more * np.exp(epsilon * form.step) if self.move > 0 else more


def _parabola(found: Array, around: Array, there: Array) -> Array:
    """Where the parabola through 3×3 values is highest, if that is near; the best of them elsewhere."""
    v, at = found.reshape(-1, 3, 3), around.reshape(2, -1, 3, 3)
    with np.errstate(all="ignore"):
        first, second = 0.5 * (v[:, 2, 1] - v[:, 0, 1]), 0.5 * (v[:, 1, 2] - v[:, 1, 0])
        own, other = v[:, 2, 1] + v[:, 0, 1] - 2 * v[:, 1, 1], v[:, 1, 2] + v[:, 1, 0] - 2 * v[:, 1, 1]
        mixed = 0.25 * (v[:, 2, 2] + v[:, 0, 0] - v[:, 2, 0] - v[:, 0, 2])
        det = own * other - mixed * mixed
        move = np.stack([mixed * second - other * first, mixed * first - own * second]) / det
        step = 0.5 * np.stack([at[0, :, 2, 1] - at[0, :, 0, 1], at[1, :, 1, 2] - at[1, :, 1, 0]])
        top = (det > 0) & (own < 0) & np.all(np.abs(move) <= 2, axis=0)
        return np.where(top, at[:, :, 1, 1] + step * move, there)


def _parabola_of_peaks(found: Array, around: Array, there: Array) -> Array:
    """The same for three values at one true value."""
    with np.errstate(all="ignore"):
        first, own = 0.5 * (found[:, 2] - found[:, 0]), found[:, 2] + found[:, 0] - 2 * found[:, 1]
        move = -first / own
        top = (own < 0) & (np.abs(move) <= 2)
        peak = around[1, :, 1] + 0.5 * (around[1, :, 2] - around[1, :, 0]) * move
    return np.stack([there[0], np.where(top, peak, there[1])])
