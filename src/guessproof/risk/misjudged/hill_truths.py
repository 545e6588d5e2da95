"""The worst true value under a distance with a cap and a prior that may be wrong, at many ε at once.

An attack is a true value, a mountain and an h that turns at two radii (`hills`): looked for around the best mountains
of the declared prior, closer and closer. A line a little above what it reaches is then proven for all true values, in
boxes (`hill_boxes`) that are halved where they prove nothing, the true values or the beliefs of a box.

Far out little is believed: under the declared prior no more than `TruthSearch.beyond` says, and κ times these odds
under any other. A box that is believed in as little needs no corners either: from p a belief rises to p + R only if
that is not above all that is ever believed there.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.capped import Hills, best_mountains
from guessproof.risk.chords import steepest
from guessproof.risk.misjudged.along import most_between
from guessproof.risk.misjudged.hill_boxes import BeliefLines, CappedWorld, Hull, largest, multipliers
from guessproof.risk.misjudged.hills import HillGoal, HillRows, least_proven
from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.turns import best_turns, dense
from guessproof.risk.tent import log_prior
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.risk.worst_case import first_points
from guessproof.world.checks import Array

Pair = tuple[Array, Array]

_LITTLE_OF_EPSILON, _AHEAD = 1e-3, 1e-2  # how far above an attack a line is proven, as what it loses of ε
_FURTHER = (1.0, 4.0, 16.0)  # times as far, where that is not proven
_LEAST = 1e-7  # of what is reached: a line that much above it
_ROUNDING = 8e-14
_POINTS = 8  # ends of the first boxes: so many over the range, and twice as many over the bulk of the prior
_ZOOMS, _SHRINK, _REACH = 9, 0.5, 0.15  # of looks around the best attack
_RADII = 5
_BELIEFS = 3  # intervals of beliefs of the first boxes
_LEVELS = ((9, 0.15), (13, 0.06), (17, 0.04), (25, 0.03), (33, 0.02), (49, 0.01), (97, 0.005))  # of flat parts
_ROUNDS = 30
_SHARE = 0.45  # of what is left below 0: where more is lost, a box is cut or looked at more closely
_MOST = 200  # boxes of an ε at once: where more are open, it is left
_BESIDE = 1e-13  # of beliefs: rounding


@dataclass(frozen=True, eq=False)
class HillBoxes:
    """Boxes of true values and of beliefs, each of one ε, and about which flat part is best there."""

    which: NDArray[np.int64]
    level: NDArray[np.int64]  # how closely flat parts are looked at
    first: Array
    last: Array
    low: Array  # the least belief before, at the first and at the last true value, and the largest
    high: Array
    flat: Array  # u and v of the attack, as shares of the goal
    best: Array  # the same of where F was largest
    turn: Array  # ln μ, beside that with which the attack's flat part has the beliefs of a box
    tries: Array

    def pick(self, some: Any) -> HillBoxes:
        return HillBoxes(*(getattr(self, f.name)[..., some] for f in fields(self)))


@dataclass(frozen=True, eq=False)
class HillTruths:
    """One interval around a true value that may be any, under a distance with a cap and a wrong prior."""

    search: TruthSearch
    factor: float
    move: Move

    @cached_property
    def world(self) -> CappedWorld:
        form = self.search.form
        return CappedWorld(Hills.of(self.search.prior, form), form.step, self.factor, self.move)

    @property
    def direction(self) -> Direction:
        return "rise" if self.move > 0 else "fall"

    def measure(self, epsilon: Array) -> Pair:
        """(attack, bound) for each ε."""
        with np.errstate(all="ignore"):
            value, best = self.climbed(epsilon)
            value = np.maximum(value, 0.0)

            def holds(some: Any, line: Array) -> Any:
                return self.holds(epsilon[some], line, best[:, some])

            bound = least_proven(value, self._close(epsilon, value, best), _FURTHER, holds)
        return np.minimum(value, bound), bound

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach."""
        with np.errstate(all="ignore"):
            return self.climbed(epsilon)[0]

    # Attacks.

    def edges(self, t: Array) -> Pair:
        """The goal, as far as the prior reaches."""
        lo, hi = (np.clip(e, *self.search.prior.support) for e in self.search.edges(t))
        return lo, hi

    def climbed(self, epsilon: Array) -> tuple[Array, Array]:
        """The best attacks that were found: what they reach; their true values, flat parts as shares, and turns."""
        best, value, reach = self._first(epsilon)
        near = (-1, 0, 1)
        ways = np.array([(0, i, j) for i in near for j in near] + [(s, i, i) for s in (-1, 1) for i in near])
        size = np.stack([reach, np.full(epsilon.size, _REACH), np.full(epsilon.size, _REACH)])
        for zoom in range(_ZOOMS):
            tried = best[:3, :, None] + size[:, :, None] * ways.T[:, None, :]
            which = np.repeat(np.arange(epsilon.size), len(ways))
            tried = tried.reshape(3, -1)
            reached, turns, tried = self._reached(epsilon[which], tried, best[3:, which], 0.4**zoom)
            best, value = self._better(best, value, which, reached, np.concatenate([tried, turns]))
            size = size * _SHRINK
        return value, best

    def _first(self, epsilon: Array) -> tuple[Array, Array, Array]:
        """Where to begin: around the best mountains of the declared prior, at some true values."""
        low, high, _ = self.search.tails(float(np.max(epsilon)), self.direction)
        t = first_points(self.search, low, high, _POINTS)
        which, at = np.repeat(np.arange(epsilon.size), t.size), np.tile(t, epsilon.size)
        lo, hi = self.edges(at)
        before = log_prior(self.search.prior, lo, hi)
        found = best_mountains(
            self.search.prior, self.search.form, lo, hi, self.move * epsilon[which], before, near=1e-3
        )
        pairs = self.world.hills.pairs
        u, v = pairs.at(found.hill[:, 0])[1], pairs.at(found.hill[:, 1])[0]
        width = np.maximum(hi - lo, 1e-300)
        tried = np.stack([at, np.clip((u - lo) / width, 0, 1), np.clip((v - lo) / width, 0, 1)])
        reached, turns, tried = self._reached(epsilon[which], tried, np.full((2, at.size), 0.5), 1.0)
        start = np.zeros((5, epsilon.size)), np.full(epsilon.size, -np.inf)
        best, value = self._better(*start, which, reached, np.concatenate([tried, turns]))
        place = np.clip(np.searchsorted(t, best[0]), 1, t.size - 2)
        return best, value, 0.5 * (t[place + 1] - t[place - 1])

    def _better(self, best: Array, value: Array, which: NDArray[np.int64], reached: Array, tried: Array) -> Pair:
        """The best of each ε: what was known, or one of those tried."""
        rows = reached.reshape(value.size, -1)
        row = rows.shape[1] * np.arange(value.size) + np.argmax(rows, axis=1)
        return np.where(reached[row] > value, tried[:, row], best), np.maximum(value, reached[row])

    def _reached(self, epsilon: Array, tried: Array, turns: Array, narrow: float) -> tuple[Array, Array, Array]:
        """What true values and flat parts reach with about the best turns, these, and what was looked at."""
        low, high = self.search.prior.support
        t = np.clip(tried[0], max(self.search.low, low), min(self.search.high, high))
        u, v = np.clip(tried[1], 0.0, 1.0), np.clip(tried[2], 0.0, 1.0)
        u, v = np.where(u > v, 0.5 * (u + v), u), np.where(u > v, 0.5 * (u + v), v)
        lo, hi = self.edges(t)
        goal = HillGoal(self.world.hills, lo, hi, self.search.form.step, self.factor)
        rows = HillRows(goal, self.move, epsilon, lo + u * (hi - lo), lo + v * (hi - lo))
        closer = rows.nearer(turns, 1)
        radii = (
            np.sort(np.concatenate([dense(a, _RADII, narrow), b[:, None]], axis=1), axis=1)
            for a, b in zip(turns, closer, strict=True)
        )
        inside, outside = rows.with_ties(*radii)
        target, rest = rows.parts(inside, outside[:, ::-1])
        none, every = np.zeros((2, t.size)), np.arange(t.size)
        reached = most_between(np.stack([target.mass, target.told]), np.stack([rest.mass, rest.told]), none)
        at = best_turns(target, rest)[1]
        best = [np.maximum(place - 2, 0) for place in (at if self.move > 0 else at[::-1])]
        turns = np.stack([inside[every, best[0]], outside[:, ::-1][every, best[1]]])
        possible = (self.search.prior.log_density(t) > -np.inf) & (hi > lo) & (reached < 1)
        return np.where(possible, reached - _ROUNDING, -np.inf), turns, np.stack([t, u, v])

    def _close(self, epsilon: Array, value: Array, best: Array) -> Array:
        """How far above an attack is close enough: what a little more of ε adds to it."""
        ahead = self._reached(epsilon * (1 + _AHEAD), best[:3], best[3:], _SHRINK**_ZOOMS)[0]
        return np.maximum((ahead - value) * _LITTLE_OF_EPSILON / _AHEAD, _LEAST * value) + _ROUNDING

    # Proofs.

    def holds(self, epsilon: Array, line: Array, best: Array) -> NDArray[np.bool_]:
        """Whether it is proven that nothing moves the belief by more, whatever the true value is, for each ε."""
        open_ = np.zeros(epsilon.size, dtype=bool)
        boxes = self._boxes(epsilon, line, best, open_)
        for _ in range(_ROUNDS):
            if not boxes.which.size:
                break
            boxes = self._unproven(epsilon, line, boxes)
            open_ |= np.bincount(boxes.which, minlength=epsilon.size) > _MOST
            boxes = boxes.pick(~open_[boxes.which])
        open_[boxes.which] = True
        return ~open_

    def _range(self, epsilon: float, line: float) -> tuple[float, float] | None:
        """Between which true values there may be more than a line; None where that is not known."""
        search, ends = self.search, [self.search.low, self.search.high]
        low, high, beyond = search.tails(epsilon, self.direction)
        if not with_odds_of(beyond, self.factor) <= line:
            return None
        for side in (0, 1):
            if np.isfinite(ends[side]):
                continue
            kind, far = search.prior.tails[side], (low, high)[side]
            middle = float(search.prior.quantile(0.5))
            ends[side] = far
            for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.75):
                t = middle + share * (far - middle)
                if with_odds_of(search.beyond(t, side, kind, epsilon, self.direction), self.factor) <= line:
                    ends[side] = t
                    break
        return ends[0], ends[1]

    def _boxes(self, epsilon: Array, line: Array, best: Array, open_: NDArray[np.bool_]) -> HillBoxes:
        """The first boxes of all ε; those of which no range is known are marked."""
        parts: list[tuple[int, Array]] = []
        for i, e in enumerate(epsilon):
            range_ = self._range(float(e), float(line[i]))
            open_[i] = range_ is None
            if range_ is not None:
                parts.append((i, first_points(self.search, *range_, _POINTS)))
        which = np.concatenate([np.full(t.size - 1, i) for i, t in parts] or [np.zeros(0, dtype=np.int64)])
        ends = slice(None, -1), slice(1, None)
        first, last = (np.concatenate([t[s] for _, t in parts] or [np.zeros(0)]) for s in ends)
        some = self.search.prior.mass(first, last) > 0
        which, first, last = which[some].astype(np.int64), first[some], last[some]
        low, high = self._beliefs(epsilon[which], line[which], first, last)
        some = ~(low >= high)
        which, first, last, low, high = which[some], first[some], last[some], low[some], high[some]
        # Cut where the odds are the same share of what a wrong prior makes of them: so they move with the true value.
        ends = self._declared(np.stack([first, last]))
        cuts = [np.stack([low, low])]
        cuts += [np.clip(with_odds_of(ends, self.factor**s), low, high) for s in np.linspace(-1, 1, _BELIEFS + 1)[1:-1]]
        cuts += [np.stack([high, high])]
        flat, level, none = best[1:3, which], np.zeros(which.size, dtype=np.int64), np.zeros(which.size)
        each = [HillBoxes(which, level, first, last, a, b, flat, flat, none, none) for a, b in pairwise(cuts)]
        boxes = HillBoxes(*(np.concatenate([getattr(b, f.name) for b in each], axis=-1) for f in fields(HillBoxes)))
        return boxes.pick(~np.all(boxes.low >= boxes.high, axis=0))

    def _declared(self, t: Array) -> Array:
        """What is believed before, of the goal or of the rest, with the declared prior."""
        inside = np.clip(self.search.prior.mass(*self.edges(t)), 0.0, 1.0)
        return inside if self.move > 0 else 1 - inside

    def _possible(self, first: Array, last: Array) -> Pair:
        """Straight lines along boxes between which beliefs before are: below all of them, and above.

        The declared one lies beside its own chord by what both edges of the goal bend it at most. A factor on its odds
        makes it concave, and a divisor convex: the tangent in the middle is above, or below.
        """
        ends, beside = self._declared(np.stack([first, last])), np.zeros((2, first.size))
        for a, b in zip(self.search.edges(first), self.search.edges(last), strict=True):
            slopes = self.search.prior.density_slopes(a, b)
            bent = np.maximum(np.abs(slopes[0]), np.abs(slopes[1])) * np.square(b - a) / 8
            beside += np.stack([np.where(np.isnan(bent), np.inf, bent), self.search.prior.mass(a, np.maximum(a, b))])
        beside = np.min(beside, axis=0) + _BESIDE
        middle = np.clip(0.5 * (ends[0] + ends[1]), _BESIDE, 1 - _BESIDE)
        found: list[Array] = []
        for way, factor in ((-1, 1 / self.factor), (1, self.factor)):
            there = with_odds_of(middle, factor)
            slope = factor / np.square(1 + (factor - 1) * middle)
            # Where a line leaves 0 … 1 it stays straight: cut off there, it would cut off beliefs elsewhere.
            found.append(there + slope * (ends + way * beside - middle) + way * _BESIDE)
        return found[0], found[1]

    def _trimmed(self, line: Array, boxes: HillBoxes) -> HillBoxes:
        """Boxes without beliefs that nobody has. Their lines may cross, but lead nowhere where p + R is more than 1."""
        least, most = self._possible(boxes.first, boxes.last)
        least = np.minimum(least, 1 - line[boxes.which])
        low = np.where(np.all(boxes.low <= least, axis=0), least, boxes.low)
        high = np.where(np.all(boxes.high >= most, axis=0), most, boxes.high)
        return replace(boxes, low=low, high=high).pick(~np.all(low >= high, axis=0))

    def _beliefs(self, epsilon: Array, line: Array, first: Array, last: Array) -> Pair:
        """Between which beliefs a move may start, of all true values of a box; none where the first is the larger."""
        (lo1, hi1), (lo2, hi2) = self.edges(first), self.edges(last)
        mass = self.search.prior.mass
        inner, outer = mass(lo2, np.maximum(hi1, lo2)), np.minimum(mass(lo1, hi2), 1.0)
        low, high = with_odds_of(inner, 1 / self.factor), with_odds_of(outer, self.factor)
        if self.move > 0:
            before = log_prior(self.search.prior, lo1, hi2)
            gain = best_mountains(self.search.prior, self.search.form, lo1, hi2, epsilon, before, near=1e-3).bound
            gain = np.minimum(gain, epsilon * self.world.hills.cap) + epsilon * self.world.step
            odds = before[0] - before[1] + gain + np.log(self.factor)
            most = 1 / (1 + np.exp(-odds))
            most = np.where(np.isnan(most), 1.0, most) * (1 + 1e-12)
            return low * (1 - 1e-12), np.minimum(high * (1 + 1e-12), most - line)
        return (1 - high) * (1 - 1e-12), np.minimum((1 - low) * (1 + 1e-12), 1 - line)

    def _unproven(self, epsilon: Array, line: Array, boxes: HillBoxes) -> HillBoxes:
        """What is left of boxes: those that were not proven, halved or to be looked at more closely."""
        boxes = self._trimmed(line, boxes)
        if not boxes.which.size:
            return boxes
        levels = np.unique(boxes.level)
        found = [self._looked_at(epsilon, line, boxes.pick(boxes.level == n), *_LEVELS[n]) for n in levels]
        return HillBoxes(*(np.concatenate([getattr(b, f.name) for b in found], axis=-1) for f in fields(HillBoxes)))

    def _looked_at(self, epsilon: Array, line: Array, boxes: HillBoxes, count: int, narrow: float) -> HillBoxes:
        e, rise = epsilon[boxes.which], line[boxes.which]
        ends = np.mean(boxes.low, axis=0), np.mean(boxes.high, axis=0)
        starts = [self._lines(e, rise, boxes, p) for p in (ends[0], ends[1], 0.5 * (ends[0] + ends[1]))]
        mu, alone = self._multipliers(boxes, starts)
        (seen, most, flats), room, bent = self._corners(e, rise, boxes, mu, starts[0].within(boxes.best), count, narrow)
        left = ~(np.max(most, axis=(0, 1)) + room + bent <= 0)  # what is not a number proves nothing
        boxes, seen, flats = boxes.pick(left), seen[..., left], flats[..., left]
        corner = np.argmax(seen.reshape(4, -1), axis=0)
        side = corner % 2  # whether it is one of the least beliefs, or of the largest
        start = BeliefLines(
            self.world,
            *(np.where(side, *(getattr(s, f.name)[left] for s in starts[1::-1])) for f in fields(BeliefLines)[1:]),
        )
        flat = flats.reshape(4, 2, -1)[corner, :, np.arange(corner.size)].T
        boxes = self._turned(boxes, start, np.where(side, alone[1][left], alone[0][left]), seen, flat)
        return self._halved(boxes, seen, most[..., left], room[left], bent[left])

    def _corners(
        self, e: Array, rise: Array, boxes: HillBoxes, mu: list[Array], centre: Array, count: int, narrow: float
    ) -> tuple[tuple[Array, Array, Array], Array, Array]:
        """The largest F at the corners of boxes, by true value and belief: seen, of all mountains, and with which.

        And by how much F may be larger between true values, and between beliefs.
        """
        goals = [self.edges(t) for t in (boxes.first, boxes.last)]
        hull = Hull((goals[0][0], goals[1][0]), (goals[0][1], goals[1][1]))
        seen, most, flats = np.empty((2, 2, e.size)), np.empty((2, 2, e.size)), np.empty((2, 2, 2, e.size))
        room = np.zeros(e.size)
        for j, before in enumerate((boxes.low, boxes.high)):
            after = np.minimum(before + rise, 1.0)
            corners = [BeliefLines(self.world, e, *goals[i], before[i], after[i], mu[j]) for i in (0, 1)]
            for i, lines in enumerate(corners):
                found = largest(lines, hull, centre, count, narrow)
                seen[i, j], most[i, j], flats[i, j] = found.seen, found.most, found.flat
            room = np.maximum(room, self._between(corners, hull, boxes))
        bent = 0.25 * self.factor * np.max(np.maximum((mu[0] - mu[1]) * (boxes.high - boxes.low), 0.0), axis=0)
        return (seen, most, flats), room, bent

    def _lines(self, epsilon: Array, rise: Array, boxes: HillBoxes, before: Array) -> BeliefLines:
        """The true values in the middle of boxes, with some beliefs."""
        goal = self.edges(0.5 * (boxes.first + boxes.last))
        return BeliefLines(
            self.world, epsilon, *goal, before, np.minimum(before + rise, 1 - 1e-12), np.ones(before.size)
        )

    def _multipliers(self, boxes: HillBoxes, lines: list[BeliefLines]) -> tuple[list[Array], list[Array]]:
        """Those of the least and of the largest beliefs, no further from that of the middle than ties ask for; and
        those that go with the attack's flat part alone.

        Where a prior is as wrong as it can be, multipliers go to 0 or to infinity, and any does.
        """
        *ends, middle = (multipliers(each, each.within(boxes.flat)) for each in lines)
        found: list[Array] = []
        for mu, end in zip(ends, lines[:2], strict=True):
            shares = end.before / lines[2].before, (1 - end.before) / (1 - lines[2].before)
            apart = np.abs(np.log(shares[0])) + np.abs(np.log(shares[1]))
            away = np.clip(np.log(mu / middle), -apart, apart)
            found.append(middle * np.exp(np.where(np.isnan(away), 0.0, away) + boxes.turn))
        return found, ends

    def _turned(self, boxes: HillBoxes, lines: BeliefLines, alone: Array, seen: Array, flat: Array) -> HillBoxes:
        """Boxes that know where F was largest, with multipliers on the way to one that serves these mountains too.

        F is convex in μ, and falls where it is largest towards the multiplier that goes with that flat part: a step
        there, ever shorter, leads to where no mountain has more than others.
        """
        own = multipliers(lines, (flat[0], flat[1]))
        step = (np.log(own / alone) - boxes.turn) / (2 + boxes.tries)
        step = np.where(np.max(seen, axis=(0, 1)) > 0, step, 0.0)
        best = np.clip((flat - lines.lo) / np.maximum(lines.hi - lines.lo, 1e-300), 0.0, 1.0)
        return replace(boxes, best=best, turn=boxes.turn + step, tries=boxes.tries + 1)

    def _halved(self, boxes: HillBoxes, seen: Array, most: Array, room: Array, bent: Array) -> HillBoxes:
        """Boxes that are cut along true values or along beliefs, or looked at more closely: what promises most."""
        most, seen_most = np.max(most, axis=(0, 1)), np.max(seen, axis=(0, 1))
        place, free = most - seen_most, np.maximum(-seen_most, 0.0)
        closer = (place > _SHARE * free) & (place > 0.5 * np.maximum(seen_most, room))
        closer &= boxes.level < len(_LEVELS) - 1
        boxes = replace(boxes, level=boxes.level + closer)
        cut = ~closer | (room + bent > _SHARE * free)
        along_t = np.max(np.abs(seen[0] - seen[1]), axis=0) + 2 * room
        along_p = np.max(np.abs(seen[:, 0] - seen[:, 1]), axis=0) + 2 * bent
        by_truth, by_belief = cut & (along_t > along_p), cut & (along_t <= along_p)
        whole, truths, beliefs = (boxes.pick(some) for some in (~cut, by_truth, by_belief))
        t, ends = 0.5 * (truths.first + truths.last), [0.5 * (v[0] + v[1]) for v in (truths.low, truths.high)]
        p = 0.5 * (beliefs.low + beliefs.high)
        parts = (
            whole,
            replace(truths, last=t, low=np.stack([truths.low[0], ends[0]]), high=np.stack([truths.high[0], ends[1]])),
            replace(truths, first=t, low=np.stack([ends[0], truths.low[1]]), high=np.stack([ends[1], truths.high[1]])),
            replace(beliefs, high=p),
            replace(beliefs, low=p),
        )
        return HillBoxes(*(np.concatenate([getattr(b, f.name) for b in parts], axis=-1) for f in fields(HillBoxes)))

    def _between(self, ends: list[BeliefLines], hull: Hull, boxes: HillBoxes) -> Array:
        """By how much F between two true values may exceed the larger of what it is at them."""
        world, prior, (one, other) = self.world, self.search.prior, ends
        reach = np.minimum(world.hills.cap, world.psi(hull.hi[1]) - world.psi(hull.lo[0]))
        told = np.ones(reach.shape), np.exp(-one.k * reach)
        pairs = [(a.phi(each)[0], b.phi(each)[1]) for a in ends for b in ends for each in told]
        size = np.max([np.abs(inside - outside) for inside, outside in pairs], axis=0)
        alpha = np.max([np.abs(a) for lines in ends for a, _ in lines.slopes], axis=0)
        steep = 2 * world.factor * alpha * one.epsilon * np.max(told, axis=0)
        away = (world.factor - 1) * np.max([np.abs(one.mu - each) for each in told], axis=0)
        away += world.factor * np.expm1(one.epsilon * world.step) * np.max(told, axis=0)
        turned = 2 * away * np.abs(other.before - one.before)
        first, second = np.zeros(size.shape), np.zeros(size.shape)
        for a, b in zip(self.search.edges(boxes.first), self.search.edges(boxes.last), strict=True):
            slopes, densest, moved = prior.density_slopes(a, b), prior.density_range(a, b)[1], np.abs(b - a)
            bent = np.maximum(np.abs(slopes[0]), np.abs(slopes[1])) * size
            bent = bent + densest * steep * steepest(self.search, a, b)
            second += np.where(densest > 0, (np.square(moved) * bent + moved * densest * turned) / 8, 0.0)
            first += prior.mass(a, np.maximum(a, b)) * size
        return np.fmin(first, second)
