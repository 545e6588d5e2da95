"""The best tents of many goals at many ε from tables: to a millionth of a millionth of a belief, ten times as fast.

With V(x) = ∫_{−∞}^x e^{k(ψ−ψ₀)}f and W(x) = ∫_x^∞ e^{−k(ψ−ψ₀)}f the two ratios of `tent` are

    A(c)/C = V(c)/V(lo) − 1     and     B(c)/D = W(c)/W(hi) − 1,

and they meet where ln V − ln W, which is the same rising function of c for all goals, is ln V(lo) − ln W(hi). Both are
sums of what is not below 0, so that tables keep their digits. A share δ by which they are off moves the odds + 1 by as
much, and the belief by δ of what is left to believe.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.limits import advantage_of
from guessproof.risk.tent import Tents, TiltedIntegrals, best_tents
from guessproof.world.checks import Array, Mask
from guessproof.world.tilt_tables import TiltTables

_STEPS = 40
_TRUSTED = 6  # steps that may all be Newton's; of those after them every other one halves what is left
_BALANCED = 1e-7  # of what a likelihood climbs by along a goal: how far apart both sides may stay
_OFF = 1e-5  # of what a true value gains at most with the same ε: how far off a belief may be
_ROUNDING = 1e-15


def tabled_tents(
    world: TiltedIntegrals, lo: Array, hi: Array, k: Array, before: tuple[Array, Array], guess: Array | None
) -> Tents:
    """`best_tents` for k > 0, from tables where they tell enough."""
    tables = world.tables
    if tables is None or any(world.form.jumps):
        return best_tents(world.prior, world.form, lo, hi, k, before, guess)
    lo, hi, k, log_p, log_q = np.broadcast_arrays(lo, hi, k, *before)
    found, told = _GoalsAtRates(world, tables, lo, hi, k).tents((log_p, log_q), guess)
    rest = np.flatnonzero(~told)
    if rest.size:
        given = None if guess is None else guess[rest]
        slow = best_tents(world.prior, world.form, lo[rest], hi[rest], k[rest], (log_p[rest], log_q[rest]), given)
        for name in ("attack", "bound", "peak", "log_z"):
            getattr(found, name)[rest] = getattr(slow, name)
    return found


@dataclass(frozen=True, eq=False)
class _GoalsAtRates:
    """Goals [lo, hi], with a rate k for each."""

    world: TiltedIntegrals
    tables: TiltTables
    lo: Array
    hi: Array
    k: Array

    def tents(self, before: tuple[Array, Array], guess: Array | None) -> tuple[Tents, Mask]:
        """The best tents, and for which goals they are told closely enough."""
        (low, high), k = self.world.prior.support, self.k
        a, b = np.clip(self.lo, low, high), np.clip(self.hi, low, high)
        (below, above), off = self.tables.halves(k, self.lo, self.hi)
        none_below, none_above, off = self.lo <= low, self.hi >= high, np.sum(off, axis=0)
        with np.errstate(all="ignore"):
            target = np.log(below) - np.log(above)
        open_ = np.isfinite(off) & ~none_below & ~none_above & (a < b)
        peak = np.where(none_below, a, b)  # nothing on the one side: all of the goal answers to the other
        peak[open_] = self._balance(np.flatnonzero(open_), a, b, target, guess)
        sums, off_peak = self.tables.halves(k, peak, peak)
        off = off + np.where(none_below, 0.0, off_peak[0]) + np.where(none_above, 0.0, off_peak[1])
        with np.errstate(all="ignore"):
            odds = np.where(none_below, np.nan, sums[0] / below - 1), np.where(none_above, np.nan, sums[1] / above - 1)
            lean = k * self.tables.away(peak)
            log_z = np.logaddexp(np.log(sums[0]) - lean, np.log(sums[1]) + lean)
            found = _Odds(np.fmin(*odds), np.fmax(*odds), off + _ROUNDING).gains(before)
        told = np.isfinite(found[0]) & np.isfinite(found[1]) & np.isfinite(log_z) & ~(none_below & none_above)
        told &= self._is_close(before, found)
        return Tents(found[0], found[1], peak, log_z), told

    def _balance(self, rows: NDArray[np.int64], a: Array, b: Array, target: Array, guess: Array | None) -> Array:
        """Where ln V − ln W is the target: Newton's method inside a bracket."""
        a, b, k, target = a[rows], b[rows], self.k[rows], target[rows]
        left, right, here = a, b, 0.5 * a + 0.5 * b
        if guess is not None:
            here = np.where((guess[rows] > a) & (guess[rows] < b), guess[rows], here)
        found, todo = here.copy(), np.arange(rows.size)
        psi = self.world.form.psi
        enough = _BALANCED * np.minimum(k * (psi(b) - psi(a)), 1.0) + 4 * _ROUNDING
        for i in range(_STEPS):
            gap, step = self._newton(k, here, target)
            done = (np.abs(gap) <= enough) | np.isnan(gap) | (right - left <= 4 * _ROUNDING * np.abs(here))
            found[todo[done]] = here[done]
            if done.all() or i == _STEPS - 1:
                found[todo] = here
                break
            left, right = np.where(gap < 0, here, left), np.where(gap < 0, right, here)
            moved = here - step
            ok = (moved > left) & (moved < right) & (i < _TRUSTED or i % 2 == 0)
            here = np.where(ok, moved, 0.5 * left + 0.5 * right)
            left, right, here, k, target, enough = (v[~done] for v in (left, right, here, k, target, enough))
            todo = todo[~done]
        return found

    def _newton(self, k: Array, c: Array, target: Array) -> tuple[Array, Array]:
        (below, above), _ = self.tables.halves(k, c, c)
        with np.errstate(all="ignore"):
            gap = np.log(below / above) - target
            tilt = np.exp(k * self.tables.away(c))
            return gap, gap / (np.exp(self.world.prior.log_density(c)) * (tilt / below + 1 / (tilt * above)))

    def _is_close(self, before: tuple[Array, Array], gains: tuple[Array, Array]) -> Mask:
        """Whether a belief is told so closely that it does not matter where another gains more."""
        _, which = np.unique(self.k, return_inverse=True)
        with np.errstate(all="ignore"):
            least, most = (advantage_of(*before, gain) for gain in gains)
        best = np.zeros(which.max(initial=-1) + 1)
        np.fmax.at(best, which, least)
        return most - least <= _OFF * best[which]


@dataclass(frozen=True, eq=False)
class _Odds:
    """Two odds between which those of the best tent lie, and by which share 1 and the odds may be off."""

    low: Array
    high: Array
    off: Array

    def gains(self, before: tuple[Array, Array]) -> tuple[Array, Array]:
        """What the logarithms of odds gain: what is reached, and what is not exceeded."""
        base = before[0] - before[1]
        least, most = self.low - self.off * (1 + self.low), self.high + self.off * (1 + self.high)
        noise = 4 * _ROUNDING * (4 + np.abs(base))
        return np.maximum(np.log(least) - base - noise, 0.0), np.log(most) - base + noise
