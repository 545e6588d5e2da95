"""The worst true value under a prior that may be wrong, at many ε at once: what attacks reach, and what is proven.

Attacks are followed in true value and peak, with the turns that are best there. Boxes of true values and peaks
(`truth_boxes`), dense around an attack, bound all others; those that stay open are cut where they are loosest. Beyond a
range of true values the declared belief, with odds κ times as large, is below the attack.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.quick import aim
from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.truth_boxes import MovedPolygon, PeakedGoals, most_risen
from guessproof.risk.misjudged.turns import TurnedPart, best_turns, dense, nearer_turns, reached_by
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.worst_case import TruthSearch
from guessproof.world.checks import Array

_LITTLE_OF_EPSILON = 2.5e-4  # how far above an attack a bound may be, as what it loses of ε
_CLOSEST = 1e-6  # the same as a share of the attack, at least
_TRUTHS, _PEAKS, _TURNS = 17, 7, 5  # where a search for attacks begins
_FARTHEST = 1e-9  # of the prior: beyond, no attack is looked for
_CLIMBS, _FIRST_STEP, _SHRINK = 6, 0.08, 0.4
_FIRST_STEPS, _CLIMB_STEPS, _STEPS = 3, 2, 1  # of Newton's method, to the best turns
_TAILS = (3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-6, 1e-8, 1e-11, 1e-14)  # of the prior: where true values may end
_WELL_BELOW = 0.5  # of an attack: what is left beyond such an end
_BOX_TRUTHS, _BOX_PEAKS, _DENSE = 5, 5, 0.03  # ends of the first boxes, and how dense they are around the attack
_RADII, _NARROW, _NARROWER, _DEEP = 5, 0.03, 0.01, 3  # the same of radii, at first and in boxes cut so many times
_BULKY = 3.0  # times where most of the prior lies: a range of radii for which that share is meant
_BOTH = 0.5  # boxes are cut both ways where the one says that much of the other
_AGAIN, _BETTER = 3, 1e-7  # times that boxes may show a better attack, and by how much
_ROUNDS, _MOST = 16, 1500  # of cutting boxes, and open ones of one ε at a time
_BLOCK = 512  # rows worked on at a time, so that they stay in the cache


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

    # By ε: the boxes of the proof, true values from and to and what bounds them.
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
        starts = np.stack([self._near(e) for e in epsilon], axis=1) if self.known else self._first(epsilon)[1]
        value, places = self._climbed(starts, epsilon)
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
        for e, place in zip(epsilon, places.T, strict=True):
            self.known[float(e)] = place
        return np.minimum(np.maximum(value, 0.0), bound), bound

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach: a coarse grid of them."""
        return self._first(epsilon)[0]

    def worse_than(self, epsilon: float, limit: float) -> tuple[float, float]:
        """Between which true values the belief may move further than a limit, of those in the range of boxes."""
        first, last, bound = self.proofs[epsilon]
        some = bound > limit
        low, high, _ = self.ranges[epsilon]
        return (float(np.min(first[some])), float(np.max(last[some]))) if some.any() else (low, low)

    def _near(self, epsilon: float) -> Array:
        return self.known[min(self.known, key=lambda e: abs(np.log(e / epsilon)))]

    def _enough(self, places: Array, epsilon: Array, value: Array) -> Array:
        """How far above the attack is close enough: what a little more of ε adds to it."""
        ahead = self._attacks(places, epsilon * (1 + _LITTLE_OF_EPSILON)).reached(places[2:])
        return np.maximum(ahead, value * (1 + _CLOSEST))

    # Attacks: true value, peak as a share of the goal, and two turns, in rows.

    def _attacks(self, places: Array, epsilon: Array) -> _TruthRows:
        low, high = self._peaks(places[0], places[0])
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
        """Newton's steps in true value and peak, on a small grid that shrinks; turns follow."""
        (low, high), every, step = self.attacked, np.arange(epsilon.size), _FIRST_STEP
        best, value, centre = start.copy(), np.full(epsilon.size, -np.inf), start.copy()
        shifts = np.stack(np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], indexing="ij")).reshape(2, 1, 9)
        shifts = shifts * np.array([(high - low) / 4, 1.0])[:, None, None]
        for _ in range(_CLIMBS):
            around = centre[:2, :, None] + step * shifts
            around = np.stack([np.clip(around[0], low, high), np.clip(around[1], 0.0, 1.0)])
            rows = self._attacks(around.reshape(2, -1), np.repeat(epsilon, 9))
            turns = rows.nearer(np.repeat(centre[2:], 9, axis=1), _CLIMB_STEPS)
            found = np.where(self._possible(around[0]), rows.reached(turns).reshape(-1, 9), -np.inf)
            place = np.argmax(found, axis=1)
            there, top = np.concatenate([around, turns.reshape(2, -1, 9)])[:, every, place], found[every, place]
            better = top > value
            best, value = np.where(better, there, best), np.where(better, top, value)
            centre = best.copy()
            centre[:2] = np.where(better, _parabola(found, around, best[:2]), best[:2])
            step *= _SHRINK
        return value, best

    # Boxes.

    def _bound(self, epsilon: Array, places: Array, reached: Array, enough: Array) -> tuple[Array, Array, Array]:
        """What no true value and no wrong prior exceeds, for each ε, and the best attack that boxes came upon."""
        bound, boxes = self._first_boxes(epsilon, places, reached)
        value, there, settled = np.full(epsilon.size, -np.inf), places.copy(), list[Array]()
        for _ in range(_ROUNDS):
            looked = self._asked(boxes, epsilon, enough)
            self._keep_best(boxes, looked, value, there)
            open_ = looked.most > enough[boxes.which]
            crowd = np.bincount(boxes.which[open_], minlength=epsilon.size)
            open_ &= crowd[boxes.which] <= _MOST
            np.maximum.at(bound, boxes.which[~open_], looked.most[~open_])
            settled.append(np.stack([boxes.which, *boxes.truths, looked.most])[:, ~open_])
            boxes = self._within(replace(boxes, turns=looked.turns).cut(looked, open_))
            if not boxes.which.size:
                break
        bound[boxes.which] = 1.0  # what is still open
        which, *proof = np.concatenate([*settled, np.stack([boxes.which, *boxes.truths, np.ones(boxes.which.size)])], 1)
        for i, e in enumerate(epsilon):
            self.proofs[float(e)] = np.stack(proof)[:, which == i]
        return np.minimum(bound, 1.0), value, there

    def _keep_best(self, boxes: _TruthBoxes, looked: _LookedBoxes, value: Array, there: Array) -> None:
        order = np.argsort(looked.reached)
        order = order[looked.reached[order] > value[boxes.which[order]]]
        which, t = boxes.which[order], boxes.middle[order]
        low, high = self._peaks(t, t)
        with np.errstate(all="ignore"):
            share = np.clip((looked.peak[order] - low) / (high - low), 0.0, 1.0)
        value[which] = looked.reached[order]  # the last one that is written is the largest
        there[:, which] = np.stack([t, share, *looked.turns[:, order]])

    def _first_boxes(self, epsilon: Array, places: Array, reached: Array) -> tuple[Array, _TruthBoxes]:
        """Boxes that are dense around each attack, and what bounds the true values beyond them."""
        beyond, parts = np.zeros(epsilon.size), list[_TruthBoxes]()
        for i, (e, value) in enumerate(zip(epsilon, reached, strict=True)):
            low, high, beyond[i] = self.ranges[float(e)] = self._range(float(e), float(value))
            share = np.clip((places[:1, i] - low) / (high - low), 0.0, 1.0)
            t = np.union1d(low + (high - low) * dense(share, _BOX_TRUTHS, _DENSE)[0], self._kinks)
            t = t[(t >= low) & (t <= high)]
            some = self.search.prior.mass(t[:-1], t[1:]) > 0
            t1, t2 = t[:-1][some], t[1:][some]
            first, last = (p[:, None] for p in self._peaks(t1, t2))
            c = first + dense(np.repeat(places[1, i], t1.size), _BOX_PEAKS, _DENSE) * (last - first)
            n = _BOX_PEAKS - 1
            truths, peaks = np.repeat([t1, t2], n, axis=1), np.stack([c[:, :-1].ravel(), c[:, 1:].ravel()])
            which, turns = np.full(t1.size * n, i), np.repeat(places[2:, i : i + 1], t1.size * n, axis=1)
            parts.append(_TruthBoxes(which, truths, peaks, turns, np.zeros(which.size, dtype=np.int64)))
        return beyond, _TruthBoxes.joined(parts)

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

    def _peaks(self, t1: Array, t2: Array) -> Pair:
        """Between which values tents peak, for true values from t1 to t2: in the goal, and where the prior is."""
        support = self.search.prior.support
        return np.clip(self.search.edges(t1)[0], *support), np.clip(self.search.edges(t2)[1], *support)

    def _within(self, boxes: _TruthBoxes) -> _TruthBoxes:
        """Boxes without the peaks that lie in no goal of theirs."""
        first, last = self._peaks(*boxes.truths)
        some = np.flatnonzero((boxes.peaks[1] >= first) & (boxes.peaks[0] <= last))
        return replace(boxes, peaks=np.clip(boxes.peaks, first, last)).pick(some)

    def _rows(self, epsilon: Array, truths: Pair, c: Array) -> _TruthRows:
        t1, t2 = truths
        lo, hi = self.search.edges(0.5 * t1 + 0.5 * t2)
        half = 0.5 * (t2 - t1) * (1 + 1e-15)
        return _TruthRows(PeakedGoals(self.world, self.factor, self.move, epsilon, lo, hi, half, c), self._bulk)

    @cached_property
    def _bulk(self) -> Pair:
        """Where radii may end."""
        prior = self.search.prior
        bulk, ends = prior.quantile([1e-15, 1 - 1e-15]), np.asarray(prior.support)
        low, high = np.where(np.isfinite(ends), ends, bulk)
        return np.asarray(low), np.asarray(high)

    def _asked(self, boxes: _TruthBoxes, epsilon: Array, enough: Array) -> _LookedBoxes:
        """What bounds each box: what bounds both peaks at its ends, and how much more there may be between them."""
        keys = np.stack([boxes.which, *boxes.truths, boxes.depth])
        keys = np.concatenate([np.tile(keys, 2), boxes.peaks.reshape(1, -1)])
        unique, index, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        which, t1, t2, depth, c = unique
        rows, turns = self._rows(epsilon[which.astype(np.int64)], (t1, t2), c), np.tile(boxes.turns, 2)[:, index]
        narrow = np.where(depth >= _DEEP, _NARROWER, _NARROW)
        peaks = _TruthPeaks.joined([rows.pick(b).looked(turns[:, b], narrow[b]) for b in _blocks(np.arange(c.size))])
        value = np.where(self._possible(0.5 * t1 + 0.5 * t2), peaks.value, -np.inf)
        more, sides = self._more(boxes, epsilon[boxes.which]), inverse.reshape(2, -1)
        most = np.max([peaks.bound_with(side, more, enough[boxes.which]) for side in sides], axis=0)
        better = np.where(value[sides[0]] >= value[sides[1]], *sides)
        own = np.max(peaks.bound[sides], axis=0)
        return _LookedBoxes(most, own, value[better], c[better], peaks.turns[:, better])

    def _more(self, boxes: _TruthBoxes, epsilon: Array) -> Array:
        """How much a tent with its peak between two others holds more than a mixture of theirs, of target and rest.

        Some of what lies between the peaks may be in no goal: that would only lower the belief.
        """
        (left, right), form, prior = boxes.peaks, self.search.form, self.search.prior
        apart = 0.5 * epsilon * (form.psi(right) - form.psi(left))
        # The excess of a tent is convex on both sides of its peak and 0 at the two others: no more than a triangle.
        most = 0.5 * (right - left) * prior.density_range(left, right)[1]
        mass = np.fmin(prior.mass(left, right), most if form.is_straight else np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            more = np.where(mass > 0, self.factor * np.sinh(apart) * mass, 0.0)
            raised = np.exp(epsilon * form.step)
        return np.stack([more * raised, 0 * more]) if self.move > 0 else np.stack([0 * more, -more])


@dataclass(frozen=True, eq=False)
class _TruthBoxes:
    """Of each box: its ε, true values and peaks from and to, about the best turns, and how often it was cut."""

    which: NDArray[np.int64]
    truths: Array
    peaks: Array
    turns: Array
    depth: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: list[_TruthBoxes]) -> _TruthBoxes:
        arrays = [[getattr(part, f.name) for part in parts] for f in fields(cls)]
        return cls(*(np.concatenate(each, axis=-1) for each in arrays))

    @property
    def middle(self) -> Array:
        return 0.5 * self.truths[0] + 0.5 * self.truths[1]

    def pick(self, some: NDArray[np.int64]) -> _TruthBoxes:
        return _TruthBoxes(*(getattr(self, f.name)[..., some] for f in fields(self)))

    def cut(self, looked: _LookedBoxes, open_: NDArray[np.bool_]) -> _TruthBoxes:
        """Open boxes cut in two, by what is loosest: true values (and radii), or peaks; or in four."""
        by_truth, by_peak = looked.own - looked.reached, looked.most - looked.own
        both = np.minimum(by_truth, by_peak) > _BOTH * np.maximum(by_truth, by_peak)
        kinds = both, ~both & (by_truth >= by_peak), ~both & (by_truth < by_peak)
        four, truths, peaks = (self.pick(np.flatnonzero(open_ & kind)) for kind in kinds)
        halves = four._halved("truths")._halved("peaks"), truths._halved("truths"), peaks._halved("peaks")
        return _TruthBoxes.joined(list(halves))

    def _halved(self, ends: str) -> _TruthBoxes:
        a, b = getattr(self, ends)
        middle = 0.5 * a + 0.5 * b
        parts = [np.stack(part) for part in ((a, middle), (middle, b))]
        return _TruthBoxes.joined([replace(self, depth=self.depth + 1, **{ends: part}) for part in parts])


@dataclass(frozen=True, eq=False)
class _LookedBoxes:
    """Of each box: what bounds it, what bounds the peaks at its ends, and the better attack at one of them."""

    most: Array
    own: Array
    reached: Array
    peak: Array
    turns: Array


@dataclass(frozen=True, eq=False)
class _TruthPeaks:
    """Of goals and peaks, in rows: what bounds them, the best attack on the grid of radii, and the polygons."""

    bound: Array
    value: Array
    turns: Array
    upper: Array
    lower: Array

    @classmethod
    def joined(cls, parts: list[_TruthPeaks]) -> _TruthPeaks:
        axes = 0, 0, 1, 2, 2
        arrays = [[getattr(part, f.name) for part in parts] for f in fields(cls)]
        return cls(*(np.concatenate(each, axis=axis) for each, axis in zip(arrays, axes, strict=True)))

    def bound_with(self, places: NDArray[np.int64], more: Array, enough: Array) -> Array:
        """The bound of some rows where A or B is changed: at most by what that is of the least A + B, at h = 1."""
        least = np.min(self.upper[1, :, places, 0] + self.lower[1, :, places, 0], axis=1) + more[1]
        with np.errstate(all="ignore"):
            found = self.bound[places] + (more[0] - more[1]) / least
        found = np.where(least > 0, np.fmin(found, 1.0), 1.0)
        for part in _blocks(np.flatnonzero(found > enough)):
            upper, lower = self.upper[:, :, places[part]], self.lower[:, :, places[part]]
            found[part] = np.minimum(found[part], most_risen(upper, lower, more[:, part]))
        return found


@dataclass(frozen=True, eq=False)
class _TruthRows:
    """Goals with their peaks; radii are shares of how far they can reach."""

    goals: PeakedGoals
    bulk: Pair

    def pick(self, some: NDArray[np.int64]) -> _TruthRows:
        return _TruthRows(self.goals.pick(some), self.bulk)

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

    def looked(self, turns: Array, narrow: Array) -> _TruthPeaks:
        """What bounds every row, with radii that are dense around the best turns."""
        goals, every = self.goals, np.arange(self.goals.c.size)
        inside, outside = self._radii(self.nearer(turns, _STEPS), narrow)
        target, rest = self.parts(inside, outside, from_one=True)
        with np.errstate(all="ignore"):
            value, at = best_turns(target, rest)
            upper = MovedPolygon.of(target, goals, goals.move, 1, self.raised).corners
            lower = MovedPolygon.of(rest, goals, -goals.move, -1, np.ones_like(self.raised)).corners
        bound, at = most_risen(upper, lower, np.zeros((2, every.size))), at if goals.move > 0 else at[::-1]
        best = np.stack([inside[every, at[0]], outside[every, np.maximum(at[1] - 1, 0)]])
        return _TruthPeaks(bound, value, best, upper, lower)

    def _radii(self, turns: Array, narrow: Array) -> Pair:
        world, (_, near, far) = self.goals.world, self.reaches
        low, high = world.form.psi(world.prior.quantile([0.1, 0.9]))
        with np.errstate(divide="ignore"):
            bulky = np.clip(_BULKY * (high - low) / (far - near), 1e-3, 1.0)
        return dense(turns[0], _RADII, narrow), dense(turns[1], _RADII, narrow * bulky)[:, ::-1]


def _blocks(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [rows[i : i + _BLOCK] for i in range(0, rows.size, _BLOCK)] or [rows]


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
