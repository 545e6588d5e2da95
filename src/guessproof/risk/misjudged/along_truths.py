"""The worst true value under a prior that may be wrong, at many ε at once: what attacks reach, and what is proven.

Attacks are followed in true value and peak, with the turns that are best there. Boxes of true values and peaks
(`truth_boxes`), dense around an attack, bound all others; those that stay open are cut where they are loosest. Beyond a
range of true values the declared belief, with odds κ times as large, is below the attack.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.quick import aim
from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.truth_boxes import PeakedGoals
from guessproof.risk.misjudged.truth_rows import DEEP, LookedBoxes, TruthBoxes, TruthPeaks, TruthRows, blocks
from guessproof.risk.misjudged.turns import best_turns, dense
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.worst_case import TruthSearch
from guessproof.world.checks import Array

_LITTLE_OF_EPSILON = 2.5e-4  # how far above an attack a bound may be, as what it loses of ε
_CLOSEST = 1e-6  # the same as a share of the attack, at least
_TRUTHS, _PEAKS, _TURNS = 17, 7, 5  # where a search for attacks begins
_FARTHEST = 1e-9  # of the prior: beyond, no attack is looked for, and no radius ends
_CLIMBS, _FIRST_STEP, _SHRINK = 6, 0.08, 0.4
_SWITCHES = 4  # looks for where an attack becomes another one
_SAME = 0.3  # of shares: attacks that are no further apart are taken for one that moves with ε
_NEAR_A_KINK = 0.1  # of the true values that attacks are looked for among
_FIRST_STEPS, _CLIMB_STEPS = 3, 2  # of Newton's method, to the best turns
_TAILS = (3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-6, 1e-8, 1e-11, 1e-14)  # of the prior: where true values may end
_WELL_BELOW = 0.5  # of an attack: what is left beyond such an end
_BOX_TRUTHS, _BOX_PEAKS, _DENSE = 5, 5, 0.03  # ends of the first boxes, and how dense they are around the attack
_NARROW, _NARROWER = 0.03, 0.01  # the same of radii, at first and in boxes cut some times
_AGAIN, _BETTER = 3, 1e-7  # times that boxes may show a better attack, and by how much
_MUCH_BETTER = 1e-4  # the same: where an attack is so much better, boxes are not cut for the one before
_ROUNDING = 1e-12  # of beliefs before a release
_ROUNDS, _MOST = 16, 150  # of cutting boxes, and open ones of one ε at a time


@dataclass(frozen=True)
class MisjudgedAlongTruths:
    """One interval around the true value, which may be any, under a prior that may be wrong by a factor."""

    search: TruthSearch
    factor: float
    move: Move
    known: dict[float, Array] = field(default_factory=dict[float, Array], repr=False, compare=False)  # attacks by ε
    # By ε: between which true values boxes lie, and what bounds those beyond.
    ranges: dict[float, tuple[float, float, float]] = field(
        default_factory=dict[float, tuple[float, float, float]], repr=False, compare=False
    )

    # By ε: the boxes of the proof, true values and peaks from and to, and what bounds them.
    proofs: dict[float, Array] = field(default_factory=dict[float, Array], repr=False, compare=False)

    @cached_property
    def world(self) -> TiltedIntegrals:
        """The prior's integrals in the metric's own units."""
        return TiltedIntegrals(self.search.prior, self.search.form)

    @cached_property
    def attacked(self) -> tuple[float, float]:
        """Between which true values attacks are looked for."""
        ends = np.clip(self.search.prior.quantile([_FARTHEST, 1 - _FARTHEST]), self.search.low, self.search.high)
        return float(ends[0]), float(ends[1])

    def measure(self, epsilon: Array) -> Pair:
        """(attack, bound) for each ε."""
        value, places = self._followed(epsilon)
        bound, todo = np.ones(epsilon.size), np.arange(epsilon.size)
        for _ in range(_AGAIN):
            enough = self._enough(places[:, todo], epsilon[todo], value[todo])
            bound[todo], found, there = self._bound(epsilon[todo], places[:, todo], value[todo], enough)
            better = found > value[todo] * (1 + _BETTER)
            value[todo] = np.where(better, found, value[todo])
            places[:, todo] = np.where(better, there, places[:, todo])
            todo = todo[better & (bound[todo] > enough)]
            if not todo.size:
                break
            # Some box has a better attack, and with it a bound that may be closer: from there on again.
            value[todo], places[:, todo] = self._climbed(places[:, todo], epsilon[todo])
        self._keep(epsilon, places)
        return np.minimum(np.maximum(value, 0.0), bound), bound

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach; what follows starts from there."""
        value, places = self._climbed(self._first(epsilon)[1], epsilon)
        self._keep(epsilon, places)
        return value

    def switches(self, epsilon: Array) -> Array:
        """Between which of some ε the best attack becomes another one: where both reach the same, about.

        There what attacks reach has a kink, and a chord across it would lie far above.
        """
        self._keep(epsilon, self._followed(epsilon)[1])
        left, right = (np.stack([self.known[float(e)] for e in side], axis=1) for side in (epsilon[:-1], epsilon[1:]))
        some = np.flatnonzero(~self._is_same(left, right))
        low, high, left, right = np.log(epsilon[some]), np.log(epsilon[some + 1]), left[:, some], right[:, some]
        if not some.size:
            return np.empty(0)
        ahead = [self._ahead(left, right, np.exp(at)) for at in (low, high)]
        for _ in range(_SWITCHES):
            with np.errstate(all="ignore"):
                share = np.clip(ahead[0] / (ahead[0] - ahead[1]), 0.05, 0.95)
            middle = low + np.where(np.isnan(share), 0.5, share) * (high - low)
            found = self._ahead(left, right, np.exp(middle))
            low, high = np.where(found > 0, middle, low), np.where(found > 0, high, middle)
            ahead = [np.where(found > 0, found, ahead[0]), np.where(found > 0, ahead[1], found)]
        return np.exp(np.where(np.abs(ahead[0]) < np.abs(ahead[1]), low, high))

    def _ahead(self, left: Array, right: Array, epsilon: Array) -> Array:
        """By how much the one attack reaches further than the other."""
        return self._climbed(left, epsilon)[0] - self._climbed(right, epsilon)[0]

    def _followed(self, epsilon: Array) -> Pair:
        """Attacks, from those that are known: what they reach, and where they are."""
        places = self._near(epsilon) if self.known else self._first(epsilon)[1]
        value = self._attacks(places, epsilon).reached(places[2:])
        new = np.flatnonzero([float(e) not in self.known for e in epsilon])
        if new.size:
            value[new], places[:, new] = self._climbed(places[:, new], epsilon[new])
        return value, places

    def _keep(self, epsilon: Array, places: Array) -> None:
        self.known.update({float(e): place for e, place in zip(epsilon, places.T, strict=True)})

    def _near(self, epsilon: Array) -> Array:
        """Where attacks begin: between those of the two ε around that are known."""
        known = np.array(sorted(self.known))
        after = np.clip(np.searchsorted(known, epsilon), 1, max(known.size - 1, 1))
        if known.size == 1:
            return np.repeat(self.known[float(known[0])][:, None], epsilon.size, axis=1)
        ends = [np.stack([self.known[float(e)] for e in known[i]], axis=1) for i in (after - 1, after)]
        left, right = known[after - 1], known[after]
        share = np.clip(np.log(epsilon / left) / np.log(right / left), 0.0, 1.0)
        nearer, between = np.where(share < 0.5, *ends), (1 - share) * ends[0] + share * ends[1]
        return np.where(self._is_same(*ends), between, nearer)

    def _is_same(self, left: Array, right: Array) -> NDArray[np.bool_]:
        """Whether attacks at two ε are one that moves with ε, or two."""
        (low, high), apart = self.attacked, np.abs(left - right)
        return (apart[0] <= _NEAR_A_KINK * (high - low)) & np.all(apart[1:] <= _SAME, axis=0)

    def _enough(self, places: Array, epsilon: Array, value: Array) -> Array:
        """How far above the attack is close enough: what a little more of ε adds to it."""
        ahead = self._attacks(places, epsilon * (1 + _LITTLE_OF_EPSILON)).reached(places[2:])
        return np.maximum(ahead, value * (1 + _CLOSEST))

    # Attacks: true value, peak as a share of the goal, and two turns, in rows.

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
            _, at = best_turns(*rows.parts(radii, radii[:, ::-1]))
        at = at if self.move > 0 else at[::-1]
        turns = np.stack([radii[every, at[0]], radii[:, ::-1][every, np.maximum(at[1] - 1, 0)]])
        nearer = rows.nearer(turns, _FIRST_STEPS)
        first, value = rows.reached(turns), rows.reached(nearer)
        turns, value = np.where(value > first, nearer, turns), np.maximum(value, first)
        value = np.where(self._possible(t), value, -np.inf)
        best = np.argmax(value.reshape(epsilon.size, -1), axis=1) + _TRUTHS * _PEAKS * np.arange(epsilon.size)
        return value[best], np.concatenate([np.stack([t, share])[:, best], turns[:, best]])

    def _climbed(self, start: Array, epsilon: Array) -> Pair:
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
        """Newton's steps in true value and peak, or in one of them, on a small grid that shrinks; turns follow."""
        (low, high), every, step = self.attacked, np.arange(epsilon.size), _FIRST_STEP
        best, value, centre = start.copy(), np.full(epsilon.size, -np.inf), start.copy()
        ways = [np.array([-1.0, 0.0, 1.0]) if size else np.zeros(1) for size in scale]
        shifts = np.stack(np.meshgrid(*ways, indexing="ij")).reshape(2, 1, -1) * scale[:, None, None]
        count, parabola = shifts.shape[2], _parabola if np.all(scale) else _parabola_of_peaks
        for _ in range(_CLIMBS):
            around = centre[:2, :, None] + step * shifts
            around = np.stack([np.clip(around[0], low, high), np.clip(around[1], 0.0, 1.0)])
            rows = self._attacks(around.reshape(2, -1), np.repeat(epsilon, count))
            turns = rows.nearer(np.repeat(centre[2:], count, axis=1), _CLIMB_STEPS)
            found = np.where(self._possible(around[0]), rows.reached(turns).reshape(-1, count), -np.inf)
            place = np.argmax(found, axis=1)
            there, top = np.concatenate([around, turns.reshape(2, -1, count)])[:, every, place], found[every, place]
            better = top > value
            best, value = np.where(better, there, best), np.where(better, top, value)
            centre = best.copy()
            centre[:2] = np.where(better, parabola(found, around, best[:2]), best[:2])
            step *= _SHRINK
        return value, best

    # Boxes.

    def _bound(self, epsilon: Array, places: Array, reached: Array, enough: Array) -> tuple[Array, Array, Array]:
        """What no true value and no wrong prior exceeds, for each ε, and the best attack that boxes came upon."""
        bound, boxes = self._first_boxes(epsilon, places, reached)
        value, there, settled = np.full(epsilon.size, -np.inf), places.copy(), list[Array]()
        for _ in range(_ROUNDS):
            looked = self._asked(boxes, epsilon)
            left = self._left(*boxes.truths)
            little = left <= enough[boxes.which]  # others are cut by what polygons say of them
            looked = replace(looked, most=np.where(little, np.fmin(looked.most, left), looked.most))
            self._keep_best(boxes, looked, value, there)
            open_ = looked.most > enough[boxes.which]
            open_ &= value[boxes.which] <= (1 + _MUCH_BETTER) * reached[boxes.which]  # else from the better one again
            crowd = np.bincount(boxes.which[open_], minlength=epsilon.size)
            open_ &= crowd[boxes.which] <= _MOST
            np.maximum.at(bound, boxes.which[~open_], looked.most[~open_])
            settled.append(boxes.proof(looked.most)[:, ~open_])
            boxes = self._within(replace(boxes, turns=looked.turns).cut(looked, open_))
            if not boxes.which.size:
                break
        bound[boxes.which] = 1.0  # what is still open
        settled.append(boxes.proof(np.ones(boxes.which.size)))
        which, *proof = np.concatenate(settled, axis=1)
        for i, e in enumerate(epsilon):
            self.proofs[float(e)] = np.stack(proof)[:, which == i]
        return np.minimum(bound, 1.0), value, there

    def _keep_best(self, boxes: TruthBoxes, looked: LookedBoxes, value: Array, there: Array) -> None:
        order = np.argsort(looked.reached)
        order = order[looked.reached[order] > value[boxes.which[order]]]
        which, t = boxes.which[order], boxes.middle[order]
        low, high = self.peaks(t, t)
        with np.errstate(all="ignore"):
            share = np.clip((looked.peak[order] - low) / (high - low), 0.0, 1.0)
        value[which] = looked.reached[order]  # the last one that is written is the largest
        there[:, which] = np.stack([t, share, *looked.turns[:, order]])

    def _first_boxes(self, epsilon: Array, places: Array, reached: Array) -> tuple[Array, TruthBoxes]:
        """Boxes that are dense around each attack, and what bounds the true values beyond them."""
        beyond, parts = np.zeros(epsilon.size), list[TruthBoxes]()
        for i, (e, value) in enumerate(zip(epsilon, reached, strict=True)):
            low, high, beyond[i] = self.ranges[float(e)] = self._range(float(e), float(value))
            share = np.clip((places[:1, i] - low) / (high - low), 0.0, 1.0)
            t = np.union1d(low + (high - low) * dense(share, _BOX_TRUTHS, _DENSE)[0], self._kinks)
            t = t[(t >= low) & (t <= high)]
            some = self.search.prior.mass(t[:-1], t[1:]) > 0
            t1, t2 = t[:-1][some], t[1:][some]
            first, last = (p[:, None] for p in self.peaks(t1, t2))
            c = first + dense(np.repeat(places[1, i], t1.size), _BOX_PEAKS, _DENSE) * (last - first)
            n = _BOX_PEAKS - 1
            truths, peaks = np.repeat([t1, t2], n, axis=1), np.stack([c[:, :-1].ravel(), c[:, 1:].ravel()])
            which, turns = np.full(t1.size * n, i), np.repeat(places[2:, i : i + 1], t1.size * n, axis=1)
            parts.append(TruthBoxes(which, truths, peaks, turns, np.zeros(which.size, dtype=np.int64)))
        return beyond, TruthBoxes.joined(parts)

    @cached_property
    def _kinks(self) -> Array:
        """True values whose goals begin or end where the density jumps or bends: boxes end there."""
        prior = self.search.prior
        breaks = np.array([x for x in (*prior.support, *prior.breaks) if np.isfinite(x)])
        lo, hi = self.search.edges(np.asarray(0.0))
        return np.concatenate([breaks - lo, breaks - hi])

    def _range(self, epsilon: float, value: float) -> tuple[float, float, float]:
        """Between which true values there may be as much as some attack reaches, and what bounds those beyond."""
        ends, most = [self.search.low, self.search.high], 0.0
        for side in (0, 1):
            if np.isfinite(ends[side]):
                continue
            kind, found = self.search.prior.tails[side], 1.0
            for far in _TAILS if kind in ("light", "memoryless") else ():
                ends[side] = float(self.search.prior.quantile(far if side == 0 else 1 - far))
                found = self._believed(self.search.beyond(ends[side], side, kind, epsilon, aim(self.move)))
                if found <= _WELL_BELOW * value:
                    break
            if found > _WELL_BELOW * value:
                low, high, beyond = self.search.tails(epsilon, aim(self.move))
                return low, high, self._believed(beyond)
            most = max(most, found)
        return ends[0], ends[1], most

    def _believed(self, declared: float) -> float:
        """What a belief is at most if the prior is wrong."""
        return float(with_odds_of(declared, self.factor)) if declared > 0 else 0.0

    def peaks(self, t1: Array, t2: Array) -> Pair:
        """Between which values tents peak, for true values from t1 to t2: in the goal, and where the prior is."""
        support = self.search.prior.support
        return np.clip(self.search.edges(t1)[0], *support), np.clip(self.search.edges(t2)[1], *support)

    def _within(self, boxes: TruthBoxes) -> TruthBoxes:
        """Boxes without the peaks that lie in no goal of theirs."""
        first, last = self.peaks(*boxes.truths)
        some = np.flatnonzero((boxes.peaks[1] >= first) & (boxes.peaks[0] <= last))
        return replace(boxes, peaks=np.clip(boxes.peaks, first, last)).pick(some)

    def _rows(self, epsilon: Array, truths: Pair, c: Array) -> TruthRows:
        t1, t2 = truths
        lo, hi = self.search.edges(0.5 * t1 + 0.5 * t2)
        half = 0.5 * (t2 - t1) * (1 + 1e-15)
        return TruthRows(PeakedGoals(self.world, self.factor, self.move, epsilon, lo, hi, half, c), self._bulk)

    @cached_property
    def _bulk(self) -> Pair:
        """Where radii may end."""
        prior = self.search.prior
        bulk, ends = prior.quantile([_FARTHEST, 1 - _FARTHEST]), np.asarray(prior.support)
        low, high = np.where(np.isfinite(ends), ends, bulk)
        return np.asarray(low), np.asarray(high)

    def _asked(self, boxes: TruthBoxes, epsilon: Array) -> LookedBoxes:
        """What bounds each box: what bounds both peaks at its ends, with how much more there may be between them."""
        keys = np.stack([boxes.which, *boxes.truths, boxes.depth])
        keys = np.concatenate([np.tile(keys, 2), boxes.peaks.reshape(1, -1)])
        unique, index, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        which, t1, t2, depth, c = unique
        rows, turns = self._rows(epsilon[which.astype(np.int64)], (t1, t2), c), np.tile(boxes.turns, 2)[:, index]
        narrow, sides = np.where(depth >= DEEP, _NARROWER, _NARROW), inverse.reshape(2, -1)
        peaks = TruthPeaks.joined([rows.pick(b).looked(turns[:, b], narrow[b]) for b in blocks(np.arange(c.size))])
        value = np.where(self._possible(0.5 * t1 + 0.5 * t2), peaks.value, -np.inf)
        more = self._more(boxes, epsilon[boxes.which])
        most = np.max(peaks.bounds(sides, more, self.move), axis=0)
        better = np.where(value[sides[0]] >= value[sides[1]], *sides)
        added = peaks.added(better, more, self.move)
        return LookedBoxes(most, added, value[better], c[better], peaks.turns[:, better])

    def _left(self, t1: Array, t2: Array) -> Array:
        """How far a belief can rise, or fall, at most: where a goal is nearly certain, polygons say nothing."""
        (lo1, hi1), (lo2, hi2) = self.search.edges(t1), self.search.edges(t2)
        ends = (lo1, hi2) if self.move < 0 else (lo2, np.maximum(lo2, hi1))
        declared = np.clip(self.search.prior.mass(*ends), 0.0, 1.0)
        if self.move < 0:
            return with_odds_of(declared, self.factor) + _ROUNDING
        return 1 - with_odds_of(declared, 1 / self.factor) + _ROUNDING

    def _more(self, boxes: TruthBoxes, epsilon: Array) -> Array:
        """How much a tent with its peak between two others holds more than a mixture of theirs, a valley less.

        Some of what lies between the peaks may be in no goal: that would only lower the belief.
        """
        (left, right), form, prior = boxes.peaks, self.search.form, self.search.prior
        apart = 0.5 * epsilon * (form.psi(right) - form.psi(left))
        # The excess of a tent is convex on both sides of its peak and 0 at the two others: no more than a triangle.
        most = 0.5 * (right - left) * prior.density_range(left, right)[1]
        mass = np.fmin(prior.mass(left, right), most if form.is_straight else np.inf)
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
