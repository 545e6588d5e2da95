"""What priors that are wrong by a factor gain at most, proven at once, for one interval at any true value.

The best likelihood is a tent, whatever the prior. Let h lie between 1 and κ and be κ on a share s of a set: then
E[hL]/E[h] is E[L] times (1 + (κ−1)·τ)/(1 + (κ−1)·s), where τ is that share's part of the tent. Within the goal τ is at
most what lies nearest to the peak holds, outside of it at least what lies furthest holds: τ(s) is concave there and
convex here, known at a few radii (closed integrals), and between them no worse than where the lines through its
neighbours meet. The prior odds are multiplied by the mean of h within : its mean outside. So one look at the declared
prior, in boxes of true values, bounds what every wrong prior gains at one ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.risk.misjudged.odds import LARGEST_FACTOR
from guessproof.risk.misjudged.shares import Shares
from guessproof.risk.tent import TiltedIntegrals, log_prior
from guessproof.risk.truth_ends import Ends, box_bound, slope_range
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.risk.worst_case import first_points, likely_worst
from guessproof.world.checks import Array, Mask
from guessproof.world.line import expit

if TYPE_CHECKING:
    from guessproof.risk.misjudged.tents import Move

Parts = tuple[Array, Array]  # masses and ∫Lf of some sets
_FEW, _MANY, _ALONE = (5, 4), (13, 8), (129, 24)  # peaks in each goal, and radii at which shares are known
_AT_ONCE = 150  # boxes that are worth many peaks where an answer is wanted at once
_COARSE, _PARTS = 24, (4, 4, 4)  # boxes at first; into how many those that stay open are cut, again and again
_FINE = 3e-4  # of a logarithm
_WORST = 4  # rows of which the largest factor is looked for before all are asked


def quick_factor(search: TruthSearch, epsilon: float, limit: float, move: Move, worst: float | None = None) -> float:
    """A factor by which the prior may be wrong while the limit is proven at this ε for every true value of a search.

    `worst` is the worst true value under the declared prior, for a caller who knows it.
    """
    if search.form.is_flat:
        raise NotCertifiedError("the worst true value of a two-valued distance needs a finite prior; give at={…}")
    low, high, beyond = search.tails(epsilon, aim(move))
    if low == high:
        return DeclaredBoxes.at(search, epsilon, move, low).largest_factor(limit)
    hint = likely_worst(search, epsilon, aim(move)) if worst is None else worst
    most = DeclaredBoxes.at(search, epsilon, move, hint).largest_factor(limit)
    if beyond > 0:  # there the belief is at most this, and its odds are multiplied
        most = min(most, max(1.0, limit / (1 - limit) * (1 - beyond) / beyond)) if beyond < 1 else 1.0
    if most == 1 or math.isinf(most):
        return most
    left, right = first_boxes(search, low, high)
    if left.size == 0:  # the prior believes nobody where the bounds allow true values: nothing is proven there
        return 1.0
    for first in (True, False):
        boxes = DeclaredBoxes.between(search, epsilon, move, left, right, _FEW)
        broken = boxes.is_broken(most, limit, left.size)
        if broken.sum() == 0:
            return most
        all_open = first and 2 * broken.sum() > broken.size  # then those in between would be open as well
        left, right = _cut(left, right, broken, _PARTS[0] * _PARTS[1] if all_open else _PARTS[0])
        if all_open:
            break
    grid = _MANY if left.size <= _AT_ONCE else _FEW
    return DeclaredBoxes.between(search, epsilon, move, left, right, grid).largest_factor(limit, most)


def is_kept_by_shares(
    search: TruthSearch, epsilon: float, limit: float, factor: float, move: Move, truths: tuple[Array, Array]
) -> bool:
    """Whether a limit is proven at this ε between pairs of true values, if the prior is wrong by this factor."""
    left, right = truths
    for parts in (*_PARTS, 0):
        if left.size == 0:
            return True
        boxes = DeclaredBoxes.between(search, epsilon, move, left, right)
        broken = boxes.is_broken(factor, limit, left.size)
        if not parts:
            return not broken.any()
        left, right = _cut(left, right, broken, parts)
    return False


def left_by_shares(
    search: TruthSearch, epsilon: float, limit: float, factor: float, move: Move, truths: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Of pairs of true values those between which a first look does not prove the limit."""
    boxes = DeclaredBoxes.between(search, epsilon, move, *truths, _FEW)
    broken = boxes.is_broken(factor, limit, truths[0].size)
    return truths[0][broken], truths[1][broken]


def first_boxes(search: TruthSearch, low: float, high: float) -> tuple[Array, Array]:
    """Pairs of true values between which all that are possible lie."""
    points = first_points(search, low, high, _COARSE)
    left, right = points[:-1], points[1:]
    some = search.prior.mass(left, right) > 0
    return left[some], right[some]


def _cut(left: Array, right: Array, which: Mask, parts: int) -> tuple[Array, Array]:
    t = left[which] + np.arange(parts + 1)[:, None] / parts * (right - left)[which]
    return t[:-1].T.ravel(), t[1:].T.ravel()


def aim(move: Move) -> Direction:
    """The same in the words of the declared prior."""
    return "rise" if move > 0 else "fall"


@dataclass(frozen=True)
class DeclaredBoxes:
    """What the declared prior says of true values and peaks at one ε, of the rise of a belief or of that in the rest.

    In each row the log-odds before lie in low … high, they become at most `most`, and rise by at most `gain`; `near`
    and `far` are what shares of the goal and of the rest hold of L, at most and at least.
    """

    low: Array
    high: Array
    gain: Array
    most: Array
    near: Shares
    far: Shares
    across: float  # the largest gain of all, ε times the largest distance

    @classmethod
    def at(cls, search: TruthSearch, epsilon: float, move: Move, truth: float) -> Self:
        """One true value."""
        ends = Ends.at(search, np.array([truth]), epsilon, aim(move))
        return cls._made(search, epsilon, move, (ends.t, ends.t), (ends.prior, ends.prior), ends.bound, _ALONE)

    @classmethod
    def between(
        cls, search: TruthSearch, epsilon: float, move: Move, left: Array, right: Array, grid: tuple[int, int] = _MANY
    ) -> Self:
        """Boxes of true values."""
        points, which = np.unique(np.concatenate([left, right]), return_inverse=True)  # most end where others begin
        ends = Ends.at(search, points, epsilon, aim(move))
        first, last = ends.pick(which[: left.size]), ends.pick(which[left.size :])
        slopes = slope_range(search, first, last, epsilon, aim(move))
        rise = box_bound(search, first, last, *slopes, epsilon, aim(move))
        return cls._made(search, epsilon, move, (left, right), _before(search, first, last), rise, grid)

    @classmethod
    def _made(
        cls,
        search: TruthSearch,
        epsilon: float,
        move: Move,
        truths: tuple[Array, Array],
        before: tuple[Array, Array],
        rise: Array,
        grid: tuple[int, int],
    ) -> Self:
        low, high = (np.clip(p, 0.0, 1.0) for p in (before if move > 0 else (1 - before[1], 1 - before[0])))
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = [np.log(p) - np.log1p(-p) for p in (low, high)]
            grown = [np.log(p) - np.log1p(-p) for p in (np.minimum(p + rise, 1.0) for p in (low, high))]
            gain = np.fmax(*(b - a for a, b in zip(odds, grown, strict=True)))
        first, last = (float(search.form.psi(e)) for e in search.prior.support)
        across = epsilon * (last - first + search.form.step)
        by_peak, near, far = _Goals.of(search, *truths).tents(epsilon, move, *grid)
        gain = np.minimum(np.where(np.isnan(gain), across, gain)[:, None], by_peak + epsilon * search.form.step)
        low, high, most = (np.broadcast_to(v[:, None], gain.shape) for v in (*odds, grown[1]))
        return cls(low.ravel(), high.ravel(), gain.ravel(), most.ravel(), near, far, across)

    def limits(self, factor: float) -> Array:
        """What no prior that is wrong by this factor lets the belief move by, in each row."""
        room, more = math.log(factor), factor - 1
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            raised, own = (np.log(v)[:, :, None] for v in (self.near.most(more), 1 + more * self.near.at))
            lowered, rest = (np.log(v)[:, None, :] for v in (self.far.least(more), 1 + more * self.far.at))
            gain = np.minimum(self.gain[:, None, None] + raised - lowered, self.across)
            low = self.low[:, None, None] + own[:, :-1] - rest[:, :, 1:]
            high = self.high[:, None, None] + own[:, 1:] - rest[:, :, :-1]
            top = np.broadcast_to((self.most + room)[:, None, None], gain.shape)
            before = np.clip(np.fmin(-gain / 2, top - gain), low, high)
            after = np.minimum(before + gain, top)
            found = expit(after) - expit(before) + 1e-15
        return np.max(np.where(np.isnan(found), expit(top), found), axis=(1, 2))

    def largest_factor(self, limit: float, most: float = LARGEST_FACTOR) -> float:
        """The largest factor up to `most` at which this proves the limit; 1 where it proves none."""
        if math.tanh(self.across / 4) <= limit:
            return math.inf
        rows, told = self, self.limits(math.exp(min(1.0, 0.5 * math.log(most))))
        while True:  # the worst rows say how far they go, and the others whether they go as far
            found = rows._pick(told >= np.sort(told)[-_WORST:][0])._bisected(limit, math.log(most))
            told = rows.limits(math.exp(found))
            broken = told > limit
            if found == 0 or not broken.any():
                return math.exp(found)
            rows, told = rows._pick(broken), told[broken]  # what holds here holds for smaller factors

    def _bisected(self, limit: float, most: float) -> float:
        """The logarithm of the largest factor at which few rows prove the limit."""
        low, high = 0.0, most
        while high - low > _FINE:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if (self.limits(math.exp(middle)) > limit).any() else (middle, high)
        return low

    def is_broken(self, factor: float, limit: float, boxes: int) -> Mask:
        """In which of so many boxes a limit is not proven."""
        return np.any((self.limits(factor) > limit).reshape(boxes, -1), axis=1)

    def _pick(self, which: Mask) -> Self:
        rows = {name: getattr(self, name)[which] for name in ("low", "high", "gain", "most")}
        return replace(self, **rows, near=self.near.pick(which), far=self.far.pick(which))


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

    def tents(self, epsilon: float, move: Move, peaks: int, count: int) -> tuple[Array, Shares, Shares]:
        """For each peak (boxes × peaks) what its tents gain, and what shares inside and outside hold of them.

        Where the belief falls, that in the rest rises: L grows away from c, and the two change places.
        """
        psi = self.world.form.psi
        c = self.lo[:, None] + np.linspace(0.0, 1.0, peaks) * (self.hi - self.lo)[:, None]
        # A peak of the grid stands for all that are half a step away: ln L is off by `off` at most.
        off = 0.5 * epsilon * np.max(np.diff(psi(c), axis=1), axis=1, keepdims=True)
        with np.errstate(over="ignore", invalid="ignore"):
            varies = np.exp(epsilon * (psi(self.hi) - psi(self.lo)))
            off = np.exp(2 * np.broadcast_to(off, c.shape).reshape(-1, 1))
        lo, hi, strips, varies = (np.repeat(v, peaks)[:, None] for v in (self.lo, self.hi, self.strips, varies))
        rows = _Rows(self.world, lo, hi, c.reshape(-1, 1), move * epsilon)
        radii = rows.radii(count)
        own, rest = rows.inside(radii), rows.outside(radii)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            told = _risen(own, rest, strips, varies, off) if move > 0 else _fallen(own, rest, strips, varies, off)
        gain = np.where(np.isnan(told[0]), np.inf, told[0])
        return gain.reshape(c.shape), told[1], told[2]


def _risen(own: Parts, rest: Parts, strips: Array, varies: Array, off: Array) -> tuple[Array, Shares, Shares]:
    """What tents gain in the goals of a box, which lack some strips, and the rest, which has them on top; L ≤ 1."""
    held = np.maximum(own[1][:, -1:] - strips, 0.0)
    mean = np.minimum(own[1][:, -1:] / (own[0][:, -1:] - strips), 1.0)
    mean = np.where(own[0][:, -1:] > strips, mean, 1.0)
    least = rest[1][:, -1:] / (rest[0][:, -1:] + strips)
    near = _near(own[0] / own[0][:, -1:], own[1] / held, own[0][:, -1:] / held, off, varies)
    far = _far((rest[0] + strips) / rest[0][:, -1:], rest[1] / (rest[1][:, -1:] + strips), off)
    return np.log(mean) - np.log(least) + np.log(off), near, far


def _fallen(own: Parts, rest: Parts, strips: Array, varies: Array, off: Array) -> tuple[Array, Shares, Shares]:
    """The same for what lies outside, where L grows away from the goal; in the goal and its strips 1 ≤ L ≤ `varies`."""
    more, mass = strips * varies, own[0][:, -1:] - strips
    mean = (rest[1][:, -1:] + more) / rest[0][:, -1:]
    least = np.maximum((own[1][:, -1:] - more) / own[0][:, -1:], 1.0)
    at = np.minimum(rest[0] / (rest[0][:, -1:] + strips), 1.0)
    at = np.concatenate([np.zeros((len(at), 1)), at[:, :-1], np.ones((len(at), 1))], axis=1)
    told = np.concatenate([more, rest[1] + more], axis=1) / rest[1][:, -1:]
    near = _near(at, told, np.full((len(at), 1), np.inf), off, np.full((len(at), 1), np.inf))
    far = _far(np.where(mass > 0, own[0] / mass, 1.0), np.where(mass > 0, own[1] / own[1][:, -1:], 0.0), off)
    return np.log(mean) - np.log(least) + np.log(off), near, far


def _near(at: Array, told: Array, first: Array, off: Array, varies: Array) -> Shares:
    """The most that shares of a set hold, if L is off by a factor, and varies by no more than another."""
    told = np.where(np.isnan(told), 1.0, np.minimum(told * (1 + 1e-9), 1.0))
    told, first = told * off / (1 + told * (off - 1)), np.where(np.isnan(first), np.inf, first * off)
    at = np.where(np.isnan(at), 1.0, at)
    even = at * varies / (1 + at * (varies - 1))
    told, first = np.where(np.isnan(even), told, np.minimum(told, even)), np.fmin(first * (1 + 1e-9), varies)
    return Shares.of(at, told, first[:, 0], 0.0)


def _far(at: Array, told: Array, off: Array) -> Shares:
    """The least that shares of the rest hold, if L is off by a factor."""
    told = np.where(np.isnan(told), 0.0, np.maximum(told * (1 - 1e-9), 0.0))
    told, at = told / (told + off * (1 - told)), np.where(np.isnan(at), 1.0, np.minimum(at, 1.0))
    zero = np.zeros((len(at), 1))
    at, told = np.concatenate([zero, at], axis=1), np.concatenate([zero, told], axis=1)
    return Shares.of(at, told, zero[:, 0], np.inf)


@dataclass(frozen=True)
class _Rows:
    """Tents with peaks c over goals lo … hi, one row each."""

    world: TiltedIntegrals
    lo: Array
    hi: Array
    c: Array
    rate: float  # of decay away from the peak; below 0 L grows

    def radii(self, count: int) -> Array:
        """Distances from the peak that part the prior about evenly."""
        form, places = self.world.form, self.world.prior.quantile((np.arange(4 * count) + 0.5) / (4 * count))
        away = np.sort(np.abs(form.psi(places) - form.psi(self.c)), axis=1)
        return away[:, 2::4]

    def inside(self, radii: Array) -> tuple[Array, Array]:
        """Mass and ∫Lf of what lies within shares of the way to the goal's further end, from none to all of it."""
        psi = self.world.form.psi
        reach = np.maximum(psi(self.hi) - psi(self.c), psi(self.c) - psi(self.lo))
        cut = np.minimum(reach, radii[:, -1:]) * np.linspace(0.0, 1.0, radii.shape[1] + 2)[:-1]
        cut = np.concatenate([cut, np.full((len(cut), 1), np.inf)], axis=1)
        left, right = self._ends(cut)
        return self._integrals((np.clip(left, self.lo, self.c), self.c), (self.c, np.clip(right, self.c, self.hi)))

    def outside(self, radii: Array) -> tuple[Array, Array]:
        """Mass and ∫Lf of what lies beyond radii, the furthest first, then of all outside the goal."""
        cut = np.concatenate([radii[:, ::-1], np.zeros((len(radii), 1))], axis=1)
        left, right = self._ends(cut)
        inf = np.full(cut.shape, np.inf)
        return self._integrals((-inf, np.minimum(left, self.lo)), (np.maximum(right, self.hi), inf))

    def _ends(self, cut: Array) -> tuple[Array, Array]:
        form = self.world.form
        return form.inverse(form.psi(self.c) - cut), form.inverse(form.psi(self.c) + cut)

    def _integrals(self, left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
        a, b, d, e, c = np.broadcast_arrays(*left, *right, self.c)
        b, e, k, mass = np.maximum(a, b), np.maximum(d, e), np.full(c.shape, self.rate), self.world.prior.mass
        tilted = np.exp(self.world.log_tilt(k, a, b, c)) + np.exp(self.world.log_tilt(-k, d, e, c))
        return mass(a, b) + mass(d, e), tilted
