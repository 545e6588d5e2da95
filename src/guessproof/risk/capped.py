"""An interval of correct guesses under min(|ψ(x) − ψ(x')|, cap): the exact answer. (theory §5: mountains and basins.)

Let G = [lo, hi], W = ε·cap, and let u, v in G and two values e < lo, e' > hi be any. Write

    I(u) = ∫_lo^u e^{k(ψ(x)−ψ(lo))} f     O(e) = ∫_e^lo e^{k(ψ(x)−ψ(lo))} f      for the left side,

and the same for the right side with v, e' and hi. A likelihood that is private changes by e^{±k|ψ−ψ'|} at most, and by
e^{±W} at most: so its mass on [lo, u] is at most I/O times that on [e, lo], the one on [v, hi] likewise, and the one on
[u, v] at most e^W·P[u, v]/P(far) times the one on what lies farther than e and e'. No odds exceed the largest of these
three ratios. With ψ(u) − ψ(e) = ψ(e') − ψ(v) = cap, the table mountain that is 1 on [u, v], falls at rate k and stays at
e^{−W} has odds that are a weighted mean of the three: they meet where all are equal. I/O rises with u, so that for any
odds λ there is one u and one v; as λ rises they approach each other, the third ratio falls, and the three are equal for
one λ. There u ≤ v: at a peak between v and u both sides would have less than λ.

For k < 0 the same formulas with the inequalities turned give the smallest odds, those of a basin.

u and e move along the line together (`Pairs`). Where one of them comes to values that are all equally far, or to a jump
of ψ, it passes these while the other stays: any split of such values is a proof, and a mountain does not see it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from guessproof.risk.tent import TiltedIntegrals, along_odds, log_prior
from guessproof.world.checks import Array, Mask
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

Pair = tuple[Array, Array]

_STEPS, _TRUSTED = 100, 10  # of Newton's method; after some of them every other one halves what is left
_BLOCK = 1 << 12  # goals worked on at a time, so that they stay in the cache
_FARTHEST = 1e-13  # of the prior lies beyond the ends of the line
_NOISE = 1e-14  # of logarithms of integrals


@dataclass(frozen=True)
class Mountains:
    """The best mountains (or basins): (attack, bound) of the gain, where they are flat, and ln ∫ Lf at height 1 there."""

    attack: Array
    bound: Array
    left: Array
    right: Array
    log_z: Array


def best_mountains(
    prior: LinePrior, form: LineForm, lo: ArrayLike, hi: ArrayLike, k: ArrayLike, before: Pair | None = None
) -> Mountains:
    """The signed gain at k = +ε (the largest) or k = −ε (the smallest, negative) for each goal [lo, hi]."""
    before = log_prior(prior, lo, hi) if before is None else before
    parts = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (lo, hi, k, *before)))
    hills, shape, flat = Hills.of(prior, form), parts[0].shape, [v.ravel() for v in parts]
    blocks = [[v[i : i + _BLOCK] for v in flat] for i in range(0, max(flat[0].size, 1), _BLOCK)]
    if len(blocks) == 1:
        return Mountains(*(part.reshape(shape) for part in hills.best(*blocks[0])))
    with ThreadPoolExecutor() as pool:  # numpy lets go of the interpreter while it computes
        answers = list(pool.map(lambda block: hills.best(*block), blocks))
    return Mountains(*(np.concatenate(part).reshape(shape) for part in zip(*answers, strict=True)))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Two values that are as far apart as the cap, moving along the line together: a place, and both of them there."""

    place: Array
    below: Array
    above: Array
    start: float  # from here on there is a lower one, and up to the end an upper one: elsewhere the line is too short
    end: float

    @classmethod
    def of(cls, prior: LinePrior, form: LineForm) -> Pairs:
        """All pairs, by those at which one of the two comes to a bend or a jump."""
        x, height = _vertices(prior, form)
        critical = np.unique(np.concatenate([height, height + form.cap]))
        below, above = (_reached(x, height, critical - back) for back in (form.cap, 0.0))
        # The upper one passes values that are equally far before the lower one does.
        lower, upper = np.stack([below[0], below[0], below[1]]), np.stack([above[0], above[1], above[1]])
        lower, upper, at = lower.T.ravel(), upper.T.ravel(), np.repeat(critical, 3)
        place = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(lower), np.diff(upper)))])
        some = np.concatenate([[True], np.diff(place) > 0])
        start, end = np.min(place[at >= height[0] + form.cap]), np.max(place[at <= height[-1]])
        return cls(place[some], lower[some], upper[some], float(start), float(end))

    def at(self, place: Array) -> Pair:
        """Both values; beyond the ends of the line everything."""
        below, above = np.interp(place, self.place, self.below), np.interp(place, self.place, self.above)
        return np.where(below <= self.below[0], -np.inf, below), np.where(above >= self.above[-1], np.inf, above)

    def pace(self, place: Array) -> Pair:
        """How fast both move."""
        which = np.clip(np.searchsorted(self.place, place, side="right") - 1, 0, self.place.size - 2)
        step = np.diff(self.place)
        return (np.diff(self.below) / step)[which], (np.diff(self.above) / step)[which]

    def where(self, x: Array, *, above: bool, last: bool) -> Array:
        """The first or the last place at which the upper (or lower) one is at a value."""
        values = self.above if above else self.below
        x = np.clip(x, values[0], values[-1])
        i = np.clip(np.searchsorted(values, x, side="right" if last else "left"), 1, values.size - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (x - values[i - 1]) / (values[i] - values[i - 1])
        share = np.where(np.isnan(share), 1.0 if last else 0.0, share)
        return self.place[i - 1] + share * (self.place[i] - self.place[i - 1])


def _vertices(prior: LinePrior, form: LineForm) -> Pair:
    """The graph of ψ from one end of the prior to the other, by its corners."""
    ends = np.clip(prior.quantile([_FARTHEST, 1 - _FARTHEST]), *prior.support)
    whole = np.isfinite(prior.support)
    first, last = np.where(whole, prior.support, ends)
    cuts = [(c, j) for c, j in zip(form.cuts, form.jumps, strict=True) if first < c < last]
    x = [first, *(c for c, j in cuts for _ in range(2 if j else 1)), last]
    psi = form.psi
    height = [psi(first), *(h for c, j in cuts for h in ((psi(c), psi(c) + j) if j else (psi(c),))), psi(last)]
    at_start = form.jump_at(float(first))
    return np.array(x, dtype=np.float64), np.array([float(height[0]) + at_start, *height[1:]], dtype=np.float64)


def _reached(x: Array, height: Array, wanted: Array) -> Pair:
    """Between which values ψ has a height; the ends of the line where it has none."""
    found: list[Array] = []
    for side in ("left", "right"):
        i = np.clip(np.searchsorted(height, wanted, side=side), 1, height.size - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (wanted - height[i - 1]) / (height[i] - height[i - 1])
        share = np.clip(np.where(np.isnan(share), float(side == "right"), share), 0.0, 1.0)
        found.append(np.where(share >= 1, x[i], x[i - 1] + share * (x[i] - x[i - 1])))
    return found[0], found[1]


@dataclass(frozen=True)
class Hills:
    """A prior under a capped distance: all mountains and basins on it."""

    world: TiltedIntegrals
    cap: float

    @classmethod
    def of(cls, prior: LinePrior, form: LineForm) -> Hills:
        return cls(TiltedIntegrals(prior, replace(form, cap=np.inf, step=0.0)), form.cap)

    @cached_property
    def pairs(self) -> Pairs:
        return Pairs.of(self.world.prior, replace(self.world.form, cap=self.cap))

    def best(self, lo: Array, hi: Array, k: Array, log_p: Array, log_q: Array) -> tuple[Array, ...]:
        """(attack, bound) of the gain, both ends of the flat part, and ln ∫Lf."""
        support = self.world.prior.support
        lo, hi = np.clip(lo, *support), np.clip(hi, *support)
        attack, bound = np.zeros(lo.size), np.where(k >= 0, np.inf, -np.inf)
        left, right, log_z, todo = lo.copy(), hi.copy(), np.zeros(lo.size), np.arange(lo.size)
        search = _Search.of(self, lo, hi, k)
        for i in range(_STEPS):
            shape = search.shape()
            with np.errstate(invalid="ignore"):
                base, size = (log_p - log_q)[todo], 4 + np.abs(log_p) + np.abs(log_q)
                gain, most = shape.odds - base, shape.bound(search.k) - base
            better = np.where(search.k > 0, gain > attack[todo], gain < attack[todo])
            b = todo[better]
            attack[b], left[b], right[b], log_z[b] = (v[better] for v in (gain, shape.u, shape.v, shape.log_z))
            bound[todo] = np.where(search.k >= 0, np.fmin(bound[todo], most), np.fmax(bound[todo], most))
            noise = _NOISE * (size[todo] + np.abs(shape.odds))
            close = noise * (2 if i < _TRUSTED else 32)  # rounding may keep ratios apart
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
        low, high = np.maximum(np.abs(attack) - noise, 0.0), np.minimum(np.abs(bound) + noise, most)
        sign = np.sign(k)
        return sign * np.minimum(low, high), sign * high, left, right, log_z


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
    joined: Array  # ln of the right ratio with the flat part (of a basin, with what is far) joined to it

    def bound(self, k: Array) -> Array:
        """No odds exceed the largest of the three, or of two of them."""
        most = np.where(k >= 0, 1.0, -1.0)
        with np.errstate(invalid="ignore"):
            three = np.fmax(np.fmax(most * self.ratios[0], most * self.ratios[1]), most * self.flat)
            two = np.fmax(most * self.ratios[0], most * self.joined)
        return most * np.fmin(three, two)


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
    def of(cls, hills: Hills, lo: Array, hi: Array, k: Array) -> _Search:
        where = hills.pairs.where
        starts = where(lo, above=True, last=True), where(hi, above=False, last=False)
        ends = (
            np.minimum(np.minimum(where(hi, above=True, last=True), where(lo, above=False, last=True)), hills.pairs.end),
            np.maximum(np.maximum(where(lo, above=False, last=False), where(hi, above=True, last=False)), hills.pairs.start),
        )
        # Towards `last` slopes move inwards; on the right that is towards smaller places.
        first, last = np.stack(starts), np.stack(ends)
        low, high = hills.world.prior.support
        nothing = np.stack([lo <= low, hi >= high]) | ~np.isfinite(np.stack([lo, hi]))
        last = np.where(nothing, first, last)
        none = np.full(first.shape, np.inf)
        found = cls(hills, lo, hi, k, first, last, first.copy(), last.copy(), -none, none, 0.5 * (first + last))
        found.here = found._uncrossed(found.here)
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
        psi = world.form.psi
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            inner, outer, flat, rest = logs[:2], logs[2:4], logs[4], np.logaddexp(logs[5], logs[6])
            ratios = np.where(np.isneginf(inner), np.where(np.isneginf(outer), np.nan, -np.inf), inner - outer)
            drop = np.stack([k * (psi(u) - psi(ref[0])), k * (psi(ref[1]) - psi(v))])
            drop = np.where(np.isneginf(inner) & np.isneginf(outer), 0.0, drop)
            met = np.logaddexp(flat, np.logaddexp(*(inner - drop)))
            missed = np.logaddexp(rest - k * self.hills.cap, np.logaddexp(*(outer - drop)))
            third = np.where(np.isneginf(np.where(k > 0, flat, rest)), np.nan, k * self.hills.cap + flat - rest)
            joined = np.where(
                k > 0,
                np.logaddexp(inner[1], flat + k * (psi(ref[1]) - psi(u))) - outer[1],
                inner[1] - np.logaddexp(outer[1], rest - k * self.hills.cap),
            )
            slopes = self._slopes((e, u, v, far), inner, outer, ref)
        return _Shape(u, v, ratios, slopes, met - missed, np.logaddexp(met, missed), third, joined)

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
            ok = (moved > least) & (moved < most) & (i < _TRUSTED or i % 2 == 0)
        there = np.where(ok, moved, 0.5 * self.low + 0.5 * self.high)
        there = np.where(gap == 0, self.here, there)
        before, self.here = self.here, self._uncrossed(there)
        return np.any(np.abs(self.here - before) > 4e-16 * self.hills.pairs.place[-1], axis=0)

    def _uncrossed(self, there: Array) -> Array:
        """Where flat parts would be less than nothing, a peak in their middle."""
        pairs = self.hills.pairs
        u, v = pairs.at(there[0])[1], pairs.at(there[1])[0]
        moving = self.first != self.last
        u, v = np.where(moving[0], np.clip(u, self.lo, self.hi), self.lo), np.where(moving[1], np.clip(v, self.lo, self.hi), self.hi)
        cross = u > v
        if not cross.any():
            return there
        middle = 0.5 * u + 0.5 * v
        peaks = np.stack([pairs.where(middle, above=True, last=False), pairs.where(middle, above=False, last=False)])
        low, high = np.minimum(self.first, self.last), np.maximum(self.first, self.last)
        return np.where(cross & moving, np.clip(peaks, low, high), there)
