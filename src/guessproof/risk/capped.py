"""An interval of correct guesses under min(|ψ(x) − ψ(x')|, cap): the exact answer. (theory §5: mountains and basins.)

Let G = [lo, hi], W = ε·cap, and let u, v in G and two values e < lo, e' > hi be any. Write

    I(u) = ∫_lo^u e^{k(ψ(x)−ψ(lo))} f     O(e) = ∫_e^lo e^{k(ψ(x)−ψ(lo))} f      for the left side,

and the same for the right side with v, e' and hi. A likelihood that is private changes by e^{±k|ψ−ψ'|} at most, and by
e^{±W} at most: so its mass on [lo, u] is at most I/O times that on [e, lo], the one on [v, hi] likewise, and the one
on [u, v] at most e^W·P[u, v]/P(far) times the one on what lies farther than e and e'. No odds exceed the largest of
these three ratios. With ψ(u) − ψ(e) = ψ(e') − ψ(v) = cap, the table mountain that is 1 on [u, v], falls at rate k and
stays at e^{−W} has odds that are a weighted mean of the three: they meet where all are equal. I/O rises with u, so
that for any odds λ there is one u and one v; as λ rises they approach each other, the third ratio falls, and the three
are equal for one λ. There u ≤ v: at a peak between v and u both sides would have less than λ.

For k < 0 the same formulas with the inequalities turned give the smallest odds, those of a basin.

u and e move along the line together (`capped_pairs`). Where one of them comes to values that are all equally far, or
to a jump of ψ, it passes these while the other stays: any split of such values is a proof, and a mountain does not see
it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from guessproof.risk.capped_pairs import BentPairs, StraightPairs, pairs_of
from guessproof.risk.tent import TiltedIntegrals, along_odds, log_prior
from guessproof.world.checks import Array, Mask
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

Pair = tuple[Array, Array]

_STEPS, _TRUSTED = 40, 10  # of Newton's method; after some of them every other one halves what is left
_TO_THE_END, _NEARLY = 3, 1e-3  # how often an end is tried, and how near to it a place has to be for that
_BLOCK = 1 << 12  # goals worked on at a time, so that they stay in the cache
_NOISE = 1e-14  # of logarithms of integrals


@dataclass(frozen=True)
class Mountains:
    """The best mountains (or basins): (attack, bound) of the gain, ln ∫ Lf with 1 on the flat part, and both pairs.

    Of these four numbers each: their places, left and right, and how fast the ratios there change with them.
    """

    attack: Array
    bound: Array
    log_z: Array
    hill: Array


def best_mountains(
    prior: LinePrior,
    form: LineForm,
    lo: ArrayLike,
    hi: ArrayLike,
    k: ArrayLike,
    before: Pair | None = None,
    guess: Array | None = None,
    near: float = 0.0,
) -> Mountains:
    """The signed gain at k = +ε (the largest) or k = −ε (the smallest, negative) for each goal [lo, hi].

    `before` is the goal's `log_prior`, for a caller who has it already; `guess` says where its pairs about are, and
    `near` which share of a gain bound and attack may stay apart, where that is told sooner.
    """
    before = log_prior(prior, lo, hi) if before is None else before
    given = (lo, hi, k, *before) if guess is None else (lo, hi, k, *before, guess[..., 0], guess[..., 1])
    parts = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in given))
    hills, shape, flat = Hills.of(prior, form), parts[0].shape, [v.ravel() for v in parts]
    blocks = [[v[i : i + _BLOCK] for v in flat] for i in range(0, max(flat[0].size, 1), _BLOCK)]

    def best(block: list[Array]) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):  # beside gaps of a prior there may be nothing to compare
            return hills.best(*block, near=near)

    if len(blocks) == 1:
        return Mountains(*(part.reshape((*shape, *part.shape[1:])) for part in best(blocks[0])))
    with ThreadPoolExecutor() as pool:  # numpy lets go of the interpreter while it computes
        answers = list(pool.map(best, blocks))
    joined = [np.concatenate(part) for part in zip(*answers, strict=True)]
    return Mountains(*(part.reshape((*shape, *part.shape[1:])) for part in joined))


@dataclass(frozen=True)
class Hills:
    """A prior under a capped distance: all mountains and basins on it."""

    world: TiltedIntegrals
    cap: float

    @classmethod
    def of(cls, prior: LinePrior, form: LineForm) -> Hills:
        return cls(TiltedIntegrals(prior, replace(form, cap=np.inf, step=0.0)), form.cap)

    @cached_property
    def pairs(self) -> StraightPairs | BentPairs:
        """What moves along the line."""
        return pairs_of(self.world.prior, replace(self.world.form, cap=self.cap))

    def best(
        self, lo: Array, hi: Array, k: Array, log_p: Array, log_q: Array, *guess: Array, near: float = 0.0
    ) -> tuple[Array, Array, Array, Array]:
        """(attack, bound) of the gain, ln ∫Lf, and both pairs."""
        support = self.world.prior.support
        lo, hi = np.clip(lo, *support), np.clip(hi, *support)
        attack, bound = np.zeros(lo.size), k * self.cap  # no gain is larger, whatever the goal
        log_z, hill, todo = np.zeros(lo.size), np.zeros((lo.size, 4)), np.arange(lo.size)
        search = _Search.of(self, lo, hi, k, guess)
        for i in range(_STEPS):
            shape = search.shape()
            with np.errstate(invalid="ignore"):
                base, size = (log_p - log_q)[todo], 4 + np.abs(log_p) + np.abs(log_q)
                gain, most = shape.odds - base, shape.bound(search.k) - base
            better = np.where(search.k > 0, gain > attack[todo], gain < attack[todo])
            better |= i == 0
            b = todo[better]
            attack[b], log_z[b] = gain[better], shape.log_z[better]
            hill[b] = np.concatenate([search.here, shape.slopes])[:, better].T
            bound[todo] = np.where(search.k >= 0, np.fmin(bound[todo], most), np.fmax(bound[todo], most))
            noise = _NOISE * (size[todo] + np.abs(shape.odds))
            # A ratio is known no closer than its slope times what a place is rounded by.
            close = (
                2 * noise
                + 1e-12 * np.minimum(1 + np.abs(gain), 1e4 * np.abs(gain))
                + np.minimum(1e-15 * search.rounded(shape), 1e-8 * np.abs(gain))
            )
            close = np.maximum(close, near * np.abs(gain))
            done = (np.abs(bound[todo] - attack[todo]) <= close) | np.isnan(base) | (search.k == 0)
            moved = search.stepped(shape, attack[todo] + base, i)
            done |= ~moved
            if done.all() or i == _STEPS - 1:
                break
            if done.any():
                todo = todo[~done]
                search = search.pick(~done)
        noise = _NOISE * (4 + np.abs(np.where(np.isfinite(log_p), log_p, 0.0)) + np.abs(attack))
        most = np.abs(k) * self.cap
        sign, off = np.sign(k), (hi < self.pairs.first) | (lo > self.pairs.last)  # where no pairs are known
        low = np.where(off, 0.0, np.maximum(sign * attack - noise, 0.0))
        high = np.minimum(np.abs(bound) + noise, most)
        return sign * np.minimum(low, high), sign * high, log_z, hill


@dataclass(frozen=True, eq=False)
class _Shape:
    """Mountains with given flat parts: ratios of the three pairs of masses, and what is attained."""

    u: Array
    v: Array
    ratios: Array  # ln I/O on the left and on the right
    slopes: Array  # how they change with the place
    odds: Array
    log_z: Array
    flat: Array  # ln of the third ratio
    joined: Array  # ln of each ratio with the flat part (of a basin, with what is far) joined to it
    folded: Array  # ln of the third with one side's part of the goal (of a basin, of the rest) joined to it

    def bound(self, k: Array) -> Array:
        """No odds exceed the largest of the three, or of two of them with the rest joined to one of these."""
        most = np.where(k >= 0, 1.0, -1.0)
        with np.errstate(invalid="ignore"):
            three = np.fmax(np.fmax(most * self.ratios[0], most * self.ratios[1]), most * self.flat)
            two = most * np.concatenate([self.joined, self.folded])
            two = np.fmax(two, most * self.ratios[[1, 0, 1, 0]])
        return most * np.fmin(three, np.fmin.reduce(two))


@dataclass(eq=False)
class _Search:
    """Newton's method for the places of both pairs of each goal, inside brackets."""

    hills: Hills
    lo: Array
    hi: Array
    k: Array
    first: Array  # places of both sides, (2, goals), between which the best ones are
    last: Array
    low: Array  # brackets, and the ratios at their ends
    high: Array
    at_low: Array
    at_high: Array
    here: Array

    @classmethod
    def of(cls, hills: Hills, lo: Array, hi: Array, k: Array, guess: tuple[Array, ...]) -> _Search:
        where = hills.pairs.where
        starts = where(lo, above=True, last=True), where(hi, above=False, last=False)
        ends = (
            np.minimum(
                np.minimum(where(hi, above=True, last=True), where(lo, above=False, last=True)), hills.pairs.end
            ),
            np.maximum(
                np.maximum(where(lo, above=False, last=False), where(hi, above=True, last=False)), hills.pairs.start
            ),
        )
        # Towards `last` slopes move inwards; on the right that is towards smaller places.
        first, last = np.stack(starts), np.stack(ends)
        low, high = hills.world.prior.support
        nothing = np.stack([lo <= low, hi >= high]) | ~np.isfinite(np.stack([lo, hi]))
        last = np.where(nothing, first, last)
        none = np.full(first.shape, np.inf)
        here = 0.5 * (first + last)
        if guess:
            about = np.stack(guess)
            here = np.where((about - first) * (about - last) < 0, about, here)
        found = cls(hills, lo, hi, k, first, last, first.copy(), last.copy(), -none, none, here)
        found.here = found._uncrossed(here)
        return found

    def pick(self, which: Mask) -> _Search:
        rows = (self.first, self.last, self.low, self.high, self.at_low, self.at_high, self.here)
        return _Search(self.hills, self.lo[which], self.hi[which], self.k[which], *(v[:, which] for v in rows))

    def shape(self) -> _Shape:
        """What the present places say."""
        world, lo, hi, k = self.hills.world, self.lo, self.hi, self.k
        pairs = self.hills.pairs
        e, u = pairs.at(self.here[0])
        v, far = pairs.at(self.here[1])
        still = self.first == self.last
        u, e = np.where(still[0], lo, np.clip(u, lo, hi)), np.minimum(e, lo)
        v, far = np.where(still[1], hi, np.clip(v, lo, hi)), np.maximum(far, hi)
        v = np.maximum(u, v)
        ends, none = np.full(lo.shape, np.inf), np.zeros(lo.shape)
        ref = np.where(np.isfinite(lo), lo, 0.0), np.where(np.isfinite(hi), hi, 0.0)
        logs = world.log_tilt(
            np.stack([k, -k, k, -k, none, none, none]),
            np.stack([lo, v, e, hi, u, -ends, far]),
            np.stack([u, hi, lo, far, v, e, ends]),
            np.stack([*ref, *ref, none, none, none]),
        )
        psi, height = world.form.psi, (pairs.heights(self.here[0])[1], pairs.heights(self.here[1])[0])
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            inner, outer, flat, rest = logs[:2], logs[2:4], logs[4], np.logaddexp(logs[5], logs[6])
            ratios = np.where(np.isneginf(inner), np.where(np.isneginf(outer), np.nan, -np.inf), inner - outer)
            drop = np.stack([k * (height[0] - psi(ref[0])), k * (psi(ref[1]) - height[1])])
            drop = np.where(np.isneginf(inner) & np.isneginf(outer), 0.0, drop)
            met = np.logaddexp(flat, np.logaddexp(*(inner - drop)))
            missed = np.logaddexp(rest - k * self.hills.cap, np.logaddexp(*(outer - drop)))
            third = np.where(np.isneginf(np.where(k > 0, flat, rest)), np.nan, k * self.hills.cap + flat - rest)
            across = np.stack([k * (psi(v) - psi(ref[0])), k * (psi(ref[1]) - psi(u))])
            joined = np.where(
                k > 0,
                np.logaddexp(inner, flat + across) - outer,
                inner - np.logaddexp(outer, rest - k * self.hills.cap),
            )
            folded = k * self.hills.cap + np.where(
                k > 0, np.logaddexp(flat, inner) - rest, flat - np.logaddexp(rest, outer)
            )
            slopes = self._slopes((e, u, v, far), inner, outer, ref)
        return _Shape(u, v, ratios, slopes, met - missed, np.logaddexp(met, missed), third, joined, folded)

    def rounded(self, shape: _Shape) -> Array:
        """How much more a ratio is rounded than a number is."""
        some = self.first != self.last
        return np.max(np.where(some, np.abs(self.here * shape.slopes), 0.0), axis=0)

    def _slopes(self, at: tuple[Array, Array, Array, Array], inner: Array, outer: Array, ref: Pair) -> Array:
        """How ln I/O changes as the places move inwards."""
        world, k, psi = self.hills.world, self.k, self.hills.world.form.psi
        (e, u, v, far), pairs = at, self.hills.pairs
        (back, ahead), (ahead_right, back_right) = pairs.pace(self.here[0]), pairs.pace(self.here[1])
        height = np.stack([k * (psi(u) - psi(ref[0])), k * (psi(ref[1]) - psi(v))])
        depth = np.stack([k * (psi(e) - psi(ref[0])), k * (psi(ref[1]) - psi(far))])
        density = world.prior.log_density
        gained = np.exp(density(np.stack([u, v])) + height - inner) * np.stack([ahead, ahead_right])
        lost = np.exp(density(np.stack([e, far])) + depth - outer) * np.stack([back, back_right])
        found = np.nan_to_num(gained, nan=0.0) + np.nan_to_num(lost, nan=0.0)
        return np.stack([found[0], -found[1]])

    def stepped(self, shape: _Shape, odds: Array, i: int) -> Mask:
        """One step to where both ratios are these odds; whether anything moved."""
        gap = np.where(self.first == self.last, 0.0, np.nan_to_num(shape.ratios - odds, nan=0.0))
        gap = np.where(np.isnan(shape.ratios) & (self.first != self.last), -1.0, gap)  # a slope over nothing may go on
        ratios = gap + odds
        short = gap < 0
        # Odds have moved on since brackets were made: one that holds no more starts again.
        stale_low, stale_high = self.at_low >= odds, self.at_high <= odds
        self.low = np.where(short, self.here, np.where(stale_low, self.first, self.low))
        self.at_low = np.where(short, ratios, np.where(stale_low, -np.inf, self.at_low))
        self.high = np.where(short, np.where(stale_high, self.last, self.high), self.here)
        self.at_high = np.where(short, np.where(stale_high, np.inf, self.at_high), ratios)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = gap / shape.slopes
            step = np.where(np.isfinite(step), step, np.inf * np.sign(gap) * np.sign(self.last - self.first))
            low, high = np.minimum(self.first, self.last), np.maximum(self.first, self.last)
            moved = along_odds(low, high, self.here, step)
            least, most = np.minimum(self.low, self.high), np.maximum(self.low, self.high)
            ok = (moved > least) & (moved < most) & (i < _TRUSTED or i % 3 > 0)
            # Elsewhere along the chord of the bracket, or halfway.
            share = (odds - self.at_low) / (self.at_high - self.at_low)
            known = np.isfinite(self.at_low) & np.isfinite(self.at_high) & np.isfinite(share)
            share = np.where(known & (i < _TRUSTED or i % 3 == 1), np.clip(share, 0.01, 0.99), 0.5)
        there = np.where(ok, moved, self.low + share * (self.high - self.low))
        if i % _TO_THE_END == 0 and i:  # the root may be the end itself
            near = np.abs(self.last - there) < _NEARLY * np.abs(self.last - self.first)
            there = np.where(short & (self.high == self.last) & near, self.last, there)
        there = np.where(gap == 0, self.here, there)
        before, self.here = self.here, self._uncrossed(there)
        return np.any(np.abs(self.here - before) > 4e-16 * np.abs(before), axis=0)

    def _uncrossed(self, there: Array) -> Array:
        """Where flat parts would be less than nothing, a peak in their middle."""
        pairs = self.hills.pairs
        u, v = pairs.at(there[0])[1], pairs.at(there[1])[0]
        moving = self.first != self.last
        u, v = (
            np.where(moving[0], np.clip(u, self.lo, self.hi), self.lo),
            np.where(moving[1], np.clip(v, self.lo, self.hi), self.hi),
        )
        cross = u > v
        if not cross.any():
            return there
        middle = 0.5 * u + 0.5 * v
        peaks = np.stack([pairs.where(middle, above=True, last=False), pairs.where(middle, above=False, last=False)])
        low, high = np.minimum(self.first, self.last), np.maximum(self.first, self.last)
        return np.where(cross & moving, np.clip(peaks, low, high), there)
