"""One real attribute, one interval of correct guesses: the exact answer. (theory §3: the tent.)

Let G = [lo, hi] and let ψ be the line's own measure of distance (x/scale for |x − x'|/scale). Write

    A(c) = ∫_lo^c e^{k(ψ(x)−ψ(lo))} f     C = ∫_{−∞}^lo e^{k(ψ(x)−ψ(lo))} f      for the left side,
    B(c) = ∫_c^hi e^{k(ψ(hi)−ψ(x))} f     D = ∫_hi^∞ e^{k(ψ(hi)−ψ(x))} f          for the right side.

Bound: for any c and any likelihood L whose logarithm is k-Lipschitz, L ≤ L(lo)·e^{k(ψ(x)−ψ(lo))} on [lo, c]
and L ≥ L(lo)·e^{k(ψ(x)−ψ(lo))} left of lo, so ∫_lo^c Lf / ∫_{−∞}^lo Lf ≤ A(c)/C; likewise B(c)/D on the right.
Posterior odds therefore never exceed max(A(c)/C, B(c)/D).
Attack: the tent L = e^{−k|ψ(x)−ψ(c)|} has odds that are a weighted mean of A(c)/C and B(c)/D.
Both meet at the one c where the two ratios are equal. A rises and B falls in c, so it is a monotone root.
For k < 0 the same formulas with the inequalities turned give the smallest posterior.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from guessproof.world.checks import Array, Mask
from guessproof.world.line import LinePrior, expit
from guessproof.world.line_form import LineForm
from guessproof.world.tilt_tables import TiltTables

Ends = tuple[Array, Array]

SMALL = 1e-2  # below this gain, differences of logarithms are replaced by integrals of expm1
_HARDLY_ANY = 4e-3  # of the prior
_HARDLY_OFF = 1e-11  # the share by which integrals from tables may be off
_STEPS = 120
_TRUSTED = 8  # steps that may all be Newton's; of those after them every other one halves what is left
_BLOCK = 1 << 14  # elements worked on at a time, so that they stay in the cache


@dataclass(frozen=True)
class TiltedIntegrals:
    """A prior under a distance that bends and jumps: its tilted integrals in the metric's own units."""

    prior: LinePrior
    form: LineForm

    def log_tilt(self, k: Array, a: Array, b: Array, ref: Array) -> Array:
        """ln ∫_a^b e^{k(ψ(x)−ψ(ref))} f."""
        slope = self._slope_of_all(a, b, ref)
        if slope is not None:
            return self.prior.log_tilt(k * slope, a, b, ref)
        found = np.full(np.broadcast_shapes(k.shape, a.shape, b.shape, ref.shape), -np.inf)
        for some, rate, ends, at, offset in self._parts(k, a, b, ref):
            part = offset + self.prior.log_tilt(rate, *ends, at)
            found[some] = np.logaddexp(found[some], part)
        return found

    @cached_property
    def spread(self) -> float:
        """How far apart four of five values of the prior are."""
        low, high = self.form.psi(self.prior.quantile([0.1, 0.9]))
        return float(high - low)

    @property
    def straightened(self) -> TiltedIntegrals | None:
        """The same under a straight distance that is nowhere shorter, if hardly any of the prior is where it bends.

        What is proven there holds here, is nearly the same, and needs fewer boxes: no two values are equally far away.
        """
        straight = None if self.form.is_straight else self.form.straightened
        return None if straight is None or self.beside > _HARDLY_ANY else TiltedIntegrals(self.prior, straight)

    @cached_property
    def beside(self) -> float:
        """How much of the prior lies where the distance is less steep than elsewhere."""
        less = np.asarray(self.form.slopes) < max(self.form.slopes)
        return float(np.sum(self.prior.mass(*(ends[less] for ends in self.form.ends))))

    @property
    def tables(self) -> TiltTables | None:
        """Tables that tell integrals sooner than they are computed one by one; None where they would not."""
        if self.form.is_straight and self.prior.is_quick:
            return None
        known = self.prior.tables
        if self.form not in known:
            made = TiltTables(self.prior, self.form, self.log_tilt)
            known[self.form] = None if made.ends is None else made
        return known[self.form]

    def sides(self, k: Array, left: Ends, right: Ends, ref: Array) -> tuple[Array, Array]:
        """∫f and ∫e^{k(ψ−ψ(ref))}f over pieces on the left, with −k over pieces on the right; a rate for each row.

        That is all of a tent (or valley) that peaks at ref, where the left pieces end before it and the others begin.
        """
        tables = self.tables
        if tables is None:
            return self._sides(k, left, right, ref)
        mass, (told, known) = tables.masses(left, right), tables.told(k, left, right, ref)
        rest = np.flatnonzero(~known)
        if rest.size:
            ends = [(a[rest], b[rest]) for a, b in (left, right)]
            mass[rest], told[rest] = self._sides(k[rest], ends[0], ends[1], ref[rest])
        return mass, told

    def log_tent(self, k: Array, a: Array, b: Array, ref: Array) -> Array:
        """ln ∫_a^b e^{−k|ψ−ψ(ref)|}f, wherever it peaks."""
        tables, turn = self.tables, np.clip(ref, a, b)
        if tables is None:
            return np.logaddexp(self.log_tilt(k, a, turn, ref), self.log_tilt(-k, turn, b, ref))
        told, known = tables.told(k, (a[:, None], turn[:, None]), (turn[:, None], b[:, None]), ref)
        with np.errstate(divide="ignore"):
            found = np.log(told[:, 0])
        rest = np.flatnonzero(~known)
        if rest.size:
            k, a, b, turn, ref = (v[rest] for v in (k, a, b, turn, ref))
            found[rest] = np.logaddexp(self.log_tilt(k, a, turn, ref), self.log_tilt(-k, turn, b, ref))
        return found

    def log_halves(self, k: Array, lo: Array, hi: Array) -> tuple[Array, Array, Array]:
        """ln ∫e^{kψ}f below lo and ln ∫e^{−kψ}f above hi, and by how much they may be off, but for rounding."""
        tables, psi, found, off = self.tables, self.form.psi, np.empty((2, *k.shape)), np.zeros(k.shape)
        rest = np.ones(k.shape, dtype=bool)
        with np.errstate(all="ignore"):
            if tables is not None:
                some = k > 0
                told, share = tables.halves(k[some], lo[some], hi[some])
                shift = k[some] * psi(tables.middle)
                found[:, some] = np.log(told) + np.stack([shift, -shift])
                off[some] = np.max(share, axis=0)
                rest[some] = off[some] > _HARDLY_OFF
                off[rest] = 0.0
            k, lo, hi, ends = k[rest], lo[rest], hi[rest], np.full(np.count_nonzero(rest), np.inf)
            found[0, rest] = self.log_tilt(k, -ends, lo, lo) + k * psi(lo)
            found[1, rest] = self.log_tilt(-k, hi, ends, hi) - k * psi(hi)
        return found[0], found[1], off

    def _sides(self, k: Array, left: Ends, right: Ends, ref: Array) -> tuple[Array, Array]:
        shape = np.broadcast_shapes(*(end.shape for end in (*left, *right)))
        a, b = (np.stack([np.broadcast_to(side[i], shape) for side in (left, right)]) for i in (0, 1))
        rate = np.array([1, -1])[:, None, None] * k[:, None]
        rates = np.stack([np.zeros_like(rate), rate])
        with np.errstate(over="ignore", invalid="ignore"):
            logs = self.log_tilt(*np.broadcast_arrays(rates, a, np.maximum(a, b), ref[:, None]))
            mass, told = np.sum(np.exp(logs), axis=1)
        return mass, told

    def excess(self, k: Array, a: Array, b: Array, ref: Array) -> Array:
        """∫_a^b (e^{k(ψ(x)−ψ(ref))} − 1) f."""
        slope = self._slope_of_all(a, b, ref)
        if slope is not None:
            return self.prior.excess(k * slope, a, b, ref)
        found = np.zeros(np.broadcast_shapes(k.shape, a.shape, b.shape, ref.shape))
        with np.errstate(over="ignore", invalid="ignore"):
            for some, rate, ends, at, offset in self._parts(k, a, b, ref):
                more = np.exp(offset) * self.prior.excess(rate, *ends, at) + np.expm1(offset) * self.prior.mass(*ends)
                found[some] += more
        return found

    def _slope_of_all(self, a: Array, b: Array, ref: Array) -> float | None:
        """The slope of ψ where all intervals lie, with their points of reference; None where it bends among them."""
        form = self.form
        if form.is_straight:
            return form.slopes[0]
        least = min(v.min(initial=np.inf) for v in (a, ref))
        most = max(v.max(initial=-np.inf) for v in (b, ref))
        part = bisect_right(form.cuts, least)
        inside = least > form.ends[0][part] or not part or not form.jumps[part - 1]
        return form.slopes[part] if inside and most <= form.ends[1][part] else None

    def _parts(
        self, k: Array, a: Array, b: Array, ref: Array
    ) -> Iterator[tuple[Mask, Array, tuple[Array, Array], Array, Array]]:
        """[a, b] cut where ψ bends, part by part: which intervals have a share in it, then of these the rate,
        the ends, a point between them, and k(ψ there − ψ(ref)).

        Most intervals have a share in one part or two: only those are worked on.
        """
        form = self.form
        k, a, b, ref = np.broadcast_arrays(k, a, b, ref)
        base = form.psi(ref)
        for slope, jump, start, end in zip(form.slopes, (0.0, *form.jumps), *form.ends, strict=True):
            some = (a < end) & (b > start) & (a < b)
            if not some.any():
                continue
            lo, hi, rate = np.maximum(a[some], start), np.minimum(b[some], end), k[some]
            at = np.clip(ref[some], np.where(np.isfinite(lo), lo, hi), np.where(np.isfinite(hi), hi, lo))
            at = np.where(np.isfinite(at), at, 0.0)
            # ψ just inside the part: a jump at its left end has been taken, one at its right end has not.
            inner = form.psi(at) + np.where(at == start, jump, 0.0)
            yield some, rate * slope, (lo, hi), at, rate * (inner - base[some])


@dataclass(frozen=True)
class Tents:
    """The best tents: (attack, bound) of the gain, where they peak, and ln ∫ Lf with the peak at height 1."""

    attack: Array
    bound: Array
    peak: Array
    log_z: Array
    hill: Array | None = None  # of mountains: both pairs (`capped`)


def log_prior(prior: LinePrior, lo: ArrayLike, hi: ArrayLike) -> tuple[Array, Array]:
    """ln P(G) and ln P(not G), each to full relative precision."""
    lo, hi = np.broadcast_arrays(np.asarray(lo, dtype=np.float64), np.asarray(hi, dtype=np.float64))
    inside = prior.log_tilt(0.0, lo, hi)
    outside = prior.log_tilt(0.0, np.stack([np.full(lo.shape, -np.inf), hi]), np.stack([lo, np.full(lo.shape, np.inf)]))
    return inside, np.logaddexp(outside[0], outside[1])


def tent(
    prior: LinePrior,
    form: LineForm,
    lo: ArrayLike,
    hi: ArrayLike,
    k: ArrayLike,
    before: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """(attack, bound) of the signed gain at k = +ε (the largest) or k = −ε (the smallest, negative).

    `before` is the goal's `log_prior`, for a caller who has it already.
    """
    found = best_tents(prior, form, lo, hi, k, before)
    return found.attack, found.bound


def best_tents(
    prior: LinePrior,
    form: LineForm,
    lo: ArrayLike,
    hi: ArrayLike,
    k: ArrayLike,
    before: tuple[Array, Array] | None = None,
    guess: Array | None = None,
) -> Tents:
    """`tent`, with the tents themselves; `guess` says where they about peak."""
    before = log_prior(prior, lo, hi) if before is None else before
    given = (lo, hi, k, *before) if guess is None else (lo, hi, k, *before, guess)
    parts = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in given))
    world, shape, flat = TiltedIntegrals(prior, form), parts[0].shape, [v.ravel() for v in parts]
    size = max(_BLOCK // len(form.slopes), 1 << 8)
    blocks = [[v[i : i + size] for v in flat] for i in range(0, flat[0].size, size)]
    if len(blocks) == 1:
        return Tents(*(part.reshape(shape) for part in _tents(world, *blocks[0])))
    with ThreadPoolExecutor() as pool:  # numpy lets go of the interpreter while it computes
        answers = list(pool.map(lambda block: _tents(world, *block), blocks))
    return Tents(*(np.concatenate(part).reshape(shape) for part in zip(*answers, strict=True)))


def _tents(
    world: TiltedIntegrals, lo: Array, hi: Array, k: Array, log_p: Array, log_q: Array, guess: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    outer = _outer(world, lo, hi, k)
    peak, inner = _balance(world, lo, hi, k, outer, guess)
    base = log_p - log_q
    with np.errstate(invalid="ignore"):  # an empty or certain goal has no odds to speak of
        low, high = (side - base for side in _between(world, lo, hi, k, peak, inner, outer))
        if any(world.form.jumps):
            attack, bound = (v - np.where(k > 0, base, -base) for v in _at_jumps(world, lo, hi, k, outer))
            low = np.where(k > 0, np.fmax(low, attack), np.fmax(low, -bound))
            high = np.where(k > 0, np.fmin(high, bound), np.fmin(high, -attack))
    size = np.max(np.where(np.isfinite(outer), np.abs(outer), 0.0), axis=0)
    noise = 4e-15 * (4 + np.abs(base) + size)
    low, high = low - noise, high + noise
    small = (np.maximum(np.abs(low), np.abs(high)) < SMALL) & (np.minimum(log_p, log_q) > -600)
    if small.any():
        s = np.flatnonzero(small)
        with np.errstate(invalid="ignore"):
            (left, right), (c_left, c_right) = inner[:, s], outer[:, s]
            apart = np.nan_to_num(np.abs((left - c_left) - (right - c_right)), nan=0.0, posinf=0.0)
        finer = _small(world, lo[s], hi[s], k[s], peak[s], log_p[s], log_q[s], apart + noise[s])
        low[s], high[s] = _narrowed((low[s], high[s]), finer)
    # k > 0: nothing exceeds `high`. k < 0: nothing falls below `low`. Beliefs never move the wrong way.
    attack = np.where(k == 0, 0.0, np.where(k > 0, np.maximum(low, 0.0), np.minimum(high, 0.0)))
    bound = np.where(k == 0, 0.0, np.where(k > 0, high, low))
    return attack, bound, peak, _log_z(world.form, lo, hi, k, peak, inner, outer)


def _narrowed(bracket: tuple[Array, Array], finer: tuple[Array, Array]) -> tuple[Array, Array]:
    """The finer of two brackets of one number, or the first where they contradict each other."""
    low, high = np.fmax(bracket[0], finer[0]), np.fmin(bracket[1], finer[1])
    agree = low <= high
    return np.where(agree, low, bracket[0]), np.where(agree, high, bracket[1])


def _log_z(form: LineForm, lo: Array, hi: Array, k: Array, c: Array, inner: Array, outer: Array) -> Array:
    """ln ∫ Lf of the tent with its peak, at c, of height 1."""
    left, right = np.logaddexp(inner, outer)
    with np.errstate(invalid="ignore"):
        at_peak = form.psi(c)
        return np.logaddexp(left - k * (at_peak - form.psi(lo)), right - k * (form.psi(hi) - at_peak))


def _pair(left: Array, right: Array) -> Array:
    return np.stack([left, right])


def _outer(world: TiltedIntegrals, lo: Array, hi: Array, k: Array) -> Array:
    """ln C and ln D."""
    infinite = np.full(lo.shape, np.inf)
    ends = _pair(np.where(np.isfinite(lo), lo, 0.0), np.where(np.isfinite(hi), hi, 0.0))
    return world.log_tilt(_pair(k, -k), _pair(-infinite, hi), _pair(lo, infinite), ends)


def _inner(world: TiltedIntegrals, lo: Array, hi: Array, k: Array, c: Array) -> Array:
    """ln A(c) and ln B(c); an infinite end only occurs where its side is not asked."""
    ref = _pair(np.where(np.isfinite(lo), lo, 0.0), np.where(np.isfinite(hi), hi, 0.0))
    return world.log_tilt(_pair(k, -k), _pair(lo, c), _pair(c, hi), ref)


def _balance(
    world: TiltedIntegrals, lo: Array, hi: Array, k: Array, outer: Array, guess: Array | None
) -> tuple[Array, Array]:
    """The c at which A(c)/C = B(c)/D, with ln A(c) and ln B(c): Newton's method inside a bracket.

    Near the ends of the goal A and B vanish like the distances to them: in the log-odds of where c lies between the
    ends the equation is nearly straight, however close to one of them its root is.
    """
    low, high = world.prior.support
    a, b = np.clip(lo, low, high), np.clip(hi, low, high)
    # With nothing outside on the left, all of G answers to the right: c = lo; and the other way round.
    a, b = np.where(np.isneginf(outer[1]), b, a), np.where(np.isneginf(outer[0]), a, b)
    settled = a == b
    with np.errstate(invalid="ignore"):
        target = np.where(settled, 0.0, outer[0] - outer[1])
    # An integral that diverges on one side only pulls the balance to that side's end.
    a = np.where(np.isposinf(target), b, a)
    b = np.where(np.isneginf(target), a, b)
    c = _first_guess(world, a, b, k, target)
    if guess is not None:
        c = np.where((guess > a) & (guess < b), guess, c)
    todo = np.flatnonzero((a < b) & np.isfinite(target))
    inner = np.empty((2, c.size)) if todo.size == c.size else _inner(world, lo, hi, k, c)
    open_ = np.stack([lo, hi, k, target, a, b, a, b, c])[:, todo]
    for i in range(_STEPS if todo.size else 0):
        low, high, rate, goal, first, last, left, right, here = open_
        part = _inner(world, low, high, rate, here)
        with np.errstate(invalid="ignore"):  # a goal without mass has no balance
            gap = part[0] - part[1] - goal
        short = gap < 0
        left, right = np.where(short, here, left), np.where(short, right, here)
        moved = along_odds(first, last, here, _newton(world, low, high, rate, here, part, gap))
        size = 4e-16 * (np.abs(here) + np.abs(low) + np.abs(high))
        done = (np.abs(gap) <= 2e-14 * (1 + np.abs(goal))) | (right - left <= size)
        done |= (np.abs(moved - here) <= size) | np.isnan(gap)
        if i == _STEPS - 1 or done.all():
            c[todo], inner[:, todo] = here, part
            break
        moved = np.minimum(np.maximum(moved, left + 0.5 * size), right - 0.5 * size)
        ok = (moved > left) & (moved < right) & (i < _TRUSTED or i % 2 == 0)
        open_[6:] = left, right, np.where(ok, moved, 0.5 * left + 0.5 * right)
        if done.any():
            c[todo[done]], inner[:, todo[done]] = here[done], part[:, done]
            open_, todo = open_[:, ~done], todo[~done]
    return _beside_jumps(world, lo, hi, k, c, inner, outer) if any(world.form.jumps) else (c, inner)


def along_odds(low: Array, high: Array, here: Array, step: Array) -> Array:
    """Newton's next point, his step measured in the log-odds of where a point lies between two ends."""
    before, after = here - low, high - here
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        odds = before * np.exp(-step * (high - low) / (before * after))
        return low + (high - low) / (1 + after / odds)  # also where the odds overflow


def _beside_jumps(
    world: TiltedIntegrals, lo: Array, hi: Array, k: Array, c: Array, inner: Array, outer: Array
) -> tuple[Array, Array]:
    """The balance on the right side of a jump that is nearer than floating point can say."""
    near = 4e-15 * (np.abs(c) + np.abs(lo) + np.abs(hi))
    balanced = np.all(np.isfinite(outer), axis=0)
    for cut, jump in zip(world.form.cuts, world.form.jumps, strict=True):
        close = np.flatnonzero(balanced & (np.abs(c - cut) <= near) & (lo <= cut) & (cut < hi))
        if not jump or close.size == 0:
            continue
        at = np.full(close.size, cut)
        with np.errstate(invalid="ignore"):
            sides = _inner(world, lo[close], hi[close], k[close], at) - outer[:, close]
        c[close] = np.where(sides[0] >= sides[1], cut, np.nextafter(cut, np.inf))
        inner[:, close] = _inner(world, lo[close], hi[close], k[close], c[close])
    return c, inner


def _first_guess(world: TiltedIntegrals, a: Array, b: Array, k: Array, target: Array) -> Array:
    """Where the balance would be if the density were even: right both for a flat and for a sharp tent."""
    middle = 0.5 * a + 0.5 * b
    with np.errstate(invalid="ignore"):
        flatness = 1 + 0.5 * np.abs(k) * (world.form.psi(b) - world.form.psi(a))
        guess = a + (b - a) * np.clip(expit(target / flatness), 0.01, 0.99)
    return np.where(np.isfinite(guess), guess, middle)


def _between(
    world: TiltedIntegrals, lo: Array, hi: Array, k: Array, c: Array, inner: Array, outer: Array
) -> tuple[Array, Array]:
    """Log-odds below and above the common value of A/C and B/D at the balance near c."""
    with np.errstate(invalid="ignore"):
        sides = np.where(np.isneginf(outer), np.nan, inner - outer)  # nothing outside: sets no limit
    low, high = np.fmin(sides[0], sides[1]), np.fmax(sides[0], sides[1])
    # Where floating point cannot name the balance finely enough, it lies between two neighbours of c:
    # A/C is at least its value on the left one and at most that on the right one, B/D the other way round.
    with np.errstate(invalid="ignore"):
        coarse = np.flatnonzero((high - low > 1e-13 * (1 + np.abs(high))) & np.isfinite(high - low))
    if coarse.size:
        lo, hi, k, c, outer = lo[coarse], hi[coarse], k[coarse], c[coarse], outer[:, coarse]
        step = 1e-15 * (np.abs(c) + np.abs(lo) + np.abs(hi))
        left, right = np.maximum(c - step, lo), np.minimum(c + step, hi)
        at_left, at_right = (_inner(world, lo, hi, k, e) - outer for e in (left, right))
        straddled = (at_left[0] <= at_left[1]) & (at_right[0] >= at_right[1])
        low[coarse] = np.where(straddled, np.fmax(at_left[0], at_right[1]), low[coarse])
        high[coarse] = np.where(straddled, np.fmin(at_right[0], at_left[1]), high[coarse])
    return low, high


def _at_jumps(world: TiltedIntegrals, lo: Array, hi: Array, k: Array, outer: Array) -> tuple[Array, Array]:
    """Log-odds of the best tent with its peak beside a jump of ψ, and the bound with the balance on a jump.

    Where ψ jumps, the balance can be closer to the jump than floating point can say.
    """
    form, attack, bound = world.form, np.full(lo.shape, -np.inf), np.full(lo.shape, np.inf)
    for cut, jump in zip(form.cuts, form.jumps, strict=True):
        c = np.clip(cut, lo, hi)
        inner = _inner(world, lo, hi, k, c)
        with np.errstate(invalid="ignore"):
            # Goal without any complement on its side: infinite odds. Neither: no limit from this side (NaN).
            sides = np.where(np.isneginf(outer) & np.isneginf(inner), np.nan, inner - outer)
        # For k < 0 the roles of in and out are swapped, and with them largest and smallest.
        bound = np.minimum(bound, np.where(k > 0, np.fmax(*sides), -np.fmin(*sides)))
        for rise in (0.0, jump) if jump else (0.0,):
            psi = form.psi(c) + np.where(c == cut, rise, 0.0)
            drop = _pair(k * (psi - form.psi(lo)), k * (form.psi(hi) - psi))
            with np.errstate(invalid="ignore"):
                odds = np.logaddexp(*(inner - drop)) - np.logaddexp(*(outer - drop))
            attack = np.fmax(attack, np.where(k > 0, odds, -odds))
    return attack, bound


def _newton(world: TiltedIntegrals, lo: Array, hi: Array, k: Array, c: Array, inner: Array, gap: Array) -> Array:
    psi = world.form.psi
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        density = world.prior.log_density(c)
        rise = np.exp(density + k * (psi(c) - psi(lo)) - inner[0]) + np.exp(density + k * (psi(hi) - psi(c)) - inner[1])
        step = gap / rise
    return np.where(np.isfinite(step), step, np.inf)


def _small(
    world: TiltedIntegrals,
    lo: Array,
    hi: Array,
    k: Array,
    c: Array,
    log_p: Array,
    log_q: Array,
    apart: Array,
) -> tuple[Array, Array]:
    """The gain from its excesses over 1: ln ρ with ρ − 1 = (q(α+β) + p(γ+δ)) / (p(q−γ−δ)), from below and above.

    That is the mean (A+B)/(C+D) of the two sides. Where they are `apart`, because c is not quite the balance, the mean
    errs too, but by no more than that share of it by which the tent falls between the ends: carrying c to the balance
    takes from one side nearly what it gives to the other.
    """
    p, q = np.exp(log_p), np.exp(log_q)
    ref = _pair(np.where(np.isfinite(lo), lo, 0.0), np.where(np.isfinite(hi), hi, 0.0))
    infinite = np.full(lo.shape, np.inf)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        inside = np.sum(world.excess(_pair(k, -k), _pair(lo, c), _pair(c, hi), ref), axis=0)
        outside = -np.sum(world.excess(_pair(k, -k), _pair(-infinite, hi), _pair(lo, infinite), ref), axis=0)
        gain = np.log1p((q * inside + p * outside) / (p * (q - outside)))
        fall = np.fmin(1.0, np.abs(k) * (world.form.psi(hi) - world.form.psi(lo)))
    error = 1e-12 * np.abs(gain) + 2 * apart * fall
    return np.where(np.isnan(gain), -np.inf, gain - error), np.where(np.isnan(gain), np.inf, gain + error)
