"""By how much a prior may at least be wrong: proven at once, for one interval at any true value.

Let h lie between 1 and κ and have mean μ on a set. Its standard deviation there is at most √((μ−1)(κ−μ)), so that
E[hL]/E[h] differs from E[L] by at most v·CV·E[L], v = √((μ−1)(κ−μ))/μ, CV being how much L varies on that set: its
standard deviation by its mean. Within the goal this raises what the declared prior gains, outside of it the same in the
other direction; the prior odds are multiplied by μ within : μ outside. For tents the mean of L and of L² are closed
integrals. So one look at the declared prior, in boxes of true values, bounds what every wrong prior gains at one ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import expit

from guessproof.errors import NotCertifiedError
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import LARGEST_FACTOR
from guessproof.risk.tent import TiltedIntegrals, log_prior
from guessproof.risk.worst_case import (
    Direction,
    Ends,
    TruthSearch,
    box_bound,
    first_points,
    likely_worst,
    slope_range,
)
from guessproof.world.checks import Array, Mask

_PEAKS, _PEAKS_ALONE = 5, 65  # peaks of tents in each goal, and where there is but one goal
_MEANS, _MEANS_ALONE = 7, 17  # cuts of the mean of h on either side
_COARSE, _PARTS = 24, (4, 4)  # boxes at first; into how many those that stay open are cut, once and again
_FINE = 3e-4  # of a logarithm


def quick_factor(search: TruthSearch, epsilon: float, limit: float, move: Move) -> float:
    """A factor by which the prior may be wrong while the limit is proven at this ε for every true value of a search."""
    if search.form.is_flat:
        raise NotCertifiedError("the worst true value of a two-valued distance needs a finite prior; give at={…}")
    low, high, beyond = search.tails(epsilon, _aim(move))
    if low == high:
        return DeclaredBoxes.at(search, epsilon, move, low).largest_factor(limit)
    hint = likely_worst(search, epsilon, _aim(move))
    most = DeclaredBoxes.at(search, epsilon, move, hint).largest_factor(limit)
    if beyond > 0:  # there the belief is at most this, and its odds are multiplied
        most = min(most, max(1.0, limit / (1 - limit) * (1 - beyond) / beyond)) if beyond < 1 else 1.0
    if most == 1 or math.isinf(most):
        return most
    points = first_points(search, low, high, _COARSE)
    left, right = points[:-1], points[1:]
    some = search.prior.mass(left, right) > 0
    left, right = left[some], right[some]
    boxes = DeclaredBoxes.between(search, epsilon, move, left, right)
    for parts in _PARTS:
        broken = boxes.is_broken(most, limit, boxes.low.size // left.size)
        t = left[broken] + np.arange(parts + 1)[:, None] / parts * (right - left)[broken]
        if t.size == 0:
            return most
        left, right = t[:-1].T.ravel(), t[1:].T.ravel()
        boxes = DeclaredBoxes.between(search, epsilon, move, left, right)
    return boxes.largest_factor(limit, most)


def _aim(move: Move) -> Direction:
    return "rise" if move > 0 else "fall"


@dataclass(frozen=True)
class DeclaredBoxes:
    """What the declared prior says of true values and peaks at one ε, of the rise of a belief or of that in the rest.

    In each row the log-odds before lie in low … high, they become at most `most`, and rise by at most `gain`; `inside`
    and `outside` are how much L varies there, as a share of its mean.
    """

    low: Array
    high: Array
    gain: Array
    most: Array
    inside: Array
    outside: Array
    across: float  # the largest gain of all, ε times the largest distance

    @classmethod
    def at(cls, search: TruthSearch, epsilon: float, move: Move, truth: float) -> Self:
        """One true value."""
        ends = Ends.at(search, np.array([truth]), epsilon, _aim(move))
        return cls._made(search, epsilon, move, (ends.t, ends.t), (ends.prior, ends.prior), ends.bound)

    @classmethod
    def between(cls, search: TruthSearch, epsilon: float, move: Move, left: Array, right: Array) -> Self:
        """Boxes of true values."""
        ends = Ends.at(search, np.concatenate([left, right]), epsilon, _aim(move))
        first, last = ends.pick(slice(None, left.size)), ends.pick(slice(left.size, None))
        slopes = slope_range(search, first, last, epsilon, _aim(move))
        rise = box_bound(search, first, last, *slopes, epsilon, _aim(move))
        return cls._made(search, epsilon, move, (left, right), _before(search, first, last), rise)

    @classmethod
    def _made(
        cls,
        search: TruthSearch,
        epsilon: float,
        move: Move,
        truths: tuple[Array, Array],
        before: tuple[Array, Array],
        rise: Array,
    ) -> Self:
        low, high = (np.clip(p, 0.0, 1.0) for p in (before if move > 0 else (1 - before[1], 1 - before[0])))
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = [np.log(p) - np.log1p(-p) for p in (low, high)]
            grown = [np.log(p) - np.log1p(-p) for p in (np.minimum(p + rise, 1.0) for p in (low, high))]
            gain = np.fmax(*(b - a for a, b in zip(odds, grown, strict=True)))
        first, last = (float(search.form.psi(e)) for e in search.prior.support)
        across = epsilon * (last - first + search.form.step)
        by_peak, inside, outside = _Goals.of(search, *truths).varies(epsilon, move)
        gain = np.minimum(np.where(np.isnan(gain), across, gain)[:, None], by_peak + epsilon * search.form.step)
        low, high, most = (np.broadcast_to(v[:, None], gain.shape) for v in (*odds, grown[1]))
        inside, outside = (np.broadcast_to(v, gain.shape) for v in (inside, outside))
        return cls(low.ravel(), high.ravel(), gain.ravel(), most.ravel(), inside.ravel(), outside.ravel(), across)

    def limits(self, factor: float) -> Array:
        """What no prior that is wrong by this factor lets the belief move by, in each row."""
        room = math.log(factor)
        means = np.linspace(0.0, room, _MEANS if self.low.size > _PEAKS_ALONE else _MEANS_ALONE)
        spread = np.maximum(*(_spread(np.exp(ends), factor) for ends in (means[:-1], means[1:])))
        peak = math.log(2 * factor / (1 + factor))
        spread = np.where((means[:-1] <= peak) & (peak <= means[1:]), (factor - 1) / (2 * math.sqrt(factor)), spread)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            raised = np.minimum(np.log1p(spread * self.inside[:, None]), room)[:, :, None]
            lowered = np.minimum(-np.log(np.maximum(1 - spread * self.outside[:, None], 0.0)), room)[:, None, :]
            gain = np.minimum(self.gain[:, None, None] + raised + lowered, self.across)
            low = self.low[:, None, None] + means[:-1, None] - means[None, 1:]
            high = self.high[:, None, None] + means[1:, None] - means[None, :-1]
            top = np.broadcast_to((self.most + room)[:, None, None], gain.shape)
            before = np.clip(np.minimum(-gain / 2, top - gain), low, high)
            after = np.minimum(before + gain, top)
            found = expit(after) - expit(before) + 1e-15
        return np.max(np.where(np.isnan(found), expit(top), found), axis=(1, 2))

    def largest_factor(self, limit: float, most: float = LARGEST_FACTOR) -> float:
        """The largest factor up to `most` at which this proves the limit; 1 where it proves none."""
        if math.tanh(self.across / 4) <= limit:
            return math.inf
        low, high, rows = 0.0, math.log(most), self
        while high - low > _FINE:
            middle = 0.5 * (low + high)
            broken = rows.limits(math.exp(middle)) > limit
            low, high = (low, middle) if broken.any() else (middle, high)
            rows = rows._pick(broken) if broken.any() else rows  # what holds here holds for smaller factors
        return math.exp(low)

    def is_broken(self, factor: float, limit: float, peaks: int) -> Mask:
        """In which boxes, of so many rows each, a limit is not proven."""
        return np.any((self.limits(factor) > limit).reshape(-1, peaks), axis=1)

    def _pick(self, which: Mask) -> Self:
        own = ("low", "high", "gain", "most", "inside", "outside")
        return replace(self, **{name: getattr(self, name)[which] for name in own})


def _spread(mean: Array, factor: float) -> Array:
    """The largest standard deviation of h, by its mean."""
    return np.sqrt(np.maximum((mean - 1) * (factor - mean), 0.0)) / mean


def _before(search: TruthSearch, left: Ends, right: Ends) -> tuple[Array, Array]:
    """Between which beliefs a box starts: near the straight line between its ends, within its goals in any case."""
    (lo1, hi1), (lo2, hi2) = search.edges(left.t), search.edges(right.t)
    width = right.t - left.t
    upper, lower = search.prior.density_range(hi1, hi2), search.prior.density_range(lo1, lo2)
    with np.errstate(invalid="ignore", over="ignore"):
        flow = [((hi2 - hi1) / width * u, (lo2 - lo1) / width * v) for u, v in zip(upper, lower, strict=True)]
        bend = 0.25 * width * ((flow[1][0] - flow[0][1]) - (flow[0][0] - flow[1][1]))
    bend = np.where(np.isnan(bend), np.inf, bend)
    least = search.prior.mass(lo2, np.maximum(hi1, lo2))
    most = np.exp(log_prior(search.prior, lo1, hi2)[0])
    low = np.maximum(np.minimum(left.prior, right.prior) - bend, least)
    return low, np.minimum(np.maximum(left.prior, right.prior) + bend, most)


@dataclass(frozen=True)
class _Goals:
    """The goals of boxes of true values: all lie in lo … hi, and differ by `strips` of the prior at most."""

    world: TiltedIntegrals
    lo: Array
    hi: Array
    strips: Array

    @classmethod
    def of(cls, search: TruthSearch, t1: Array, t2: Array) -> Self:
        (lo1, hi1), (lo2, hi2) = search.edges(t1), search.edges(t2)
        low, high = search.prior.support
        strips = search.prior.mass(lo1, lo2) + search.prior.mass(hi1, hi2)
        world = TiltedIntegrals(search.prior, search.form)
        return cls(world, np.clip(lo1, low, high), np.clip(hi2, low, high), np.where(lo1 < lo2, strips, 0.0))

    def varies(self, epsilon: float, move: Move) -> tuple[Array, Array, Array]:
        """For each peak what its tents gain, and how much they vary inside and outside; for a fall: in the goal."""
        psi = self.world.form.psi
        width = epsilon * (psi(self.hi) - psi(self.lo))[:, None]
        with np.errstate(over="ignore"):
            most = np.sinh(width / 2)
        if move < 0:
            return np.full(width.shape, np.inf), np.full(width.shape, np.inf), most
        share = np.linspace(0.0, 1.0, _PEAKS_ALONE if self.lo.size == 1 else _PEAKS)
        c = self.lo[:, None] + share * (self.hi - self.lo)[:, None]
        lo, hi, inf = (np.broadcast_to(v, c.shape) for v in (self.lo[:, None], self.hi[:, None], np.inf))
        own = self._moments(((lo, c), (c, hi)), c, epsilon)
        rest = self._moments(((-inf, lo), (hi, inf)), c, epsilon)
        # A peak of the grid stands for all that are half a step away: ln L is off by `off` at most.
        off = 0.5 * epsilon * np.max(np.diff(psi(c), axis=1), axis=1, keepdims=True)
        (inside, raised), (outside, kept) = self._means(own, lacking=True), self._means(rest, lacking=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.log(raised) - np.log(kept) + 2 * off
        return (
            np.where(np.isnan(gain), np.inf, gain),
            np.minimum(_shifted(inside, off), most),
            _shifted(outside, off),
        )

    def _moments(self, sides: tuple[tuple[Array, Array], tuple[Array, Array]], c: Array, epsilon: float) -> list[Array]:
        """∫f, ∫Lf and ∫L²f over two sides of the peak."""
        tilt = self.world.log_tilt
        rates = [np.full(c.shape, rate * epsilon) for rate in (0.0, 1.0, 2.0)]
        return [
            np.exp(tilt(k, sides[0][0], np.maximum(*sides[0]), c))
            + np.exp(tilt(-k, sides[1][0], np.maximum(*sides[1]), c))
            for k in rates
        ]

    def _means(self, moments: list[Array], *, lacking: bool) -> tuple[Array, Array]:
        """The largest CV, and the largest mean where strips are lacking, or the least where they come on top."""
        mass, first, second = moments
        strips = self.strips[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = first / mass
            variance = np.maximum(second - first * mean, 0.0) + 1e-14 * second
            if lacking:
                least, total, end = (first - strips) / mass, np.maximum(mass - strips, 0.0), first / (mass - strips)
                end = np.where(mass > strips, np.minimum(end, 1.0), 1.0)
            else:
                variance = variance + strips * np.maximum(mean, 1 - mean) ** 2
                least, total, end = first / (mass + strips), mass, first / (mass + strips)
            found = np.sqrt(variance / total) / np.maximum(least, 0.0)
        return np.where(np.isnan(found), np.inf, found), end


def _shifted(cv: Array, off: Array) -> Array:
    """The CV of L·e^u with |u| ≤ off, from that of L."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = (cv + np.expm1(off) * np.sqrt(1 + cv**2)) * np.exp(off)
    return np.where(np.isnan(found), np.inf, found)
