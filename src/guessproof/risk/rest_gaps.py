"""How far the log-odds of a belief lie above their chord between two ε, told from what is not in the goal.

As in `gaps`, for one s the odds are N(ε)/M(ε) with N = ∫_G e^{εs}f and M the same over the rest; ln N is convex, so
that ln(N/M) lies above its chord by no more than ln M lies below its own. With a tent that peaks at c in G = [lo, hi],

    M = e^{−εψ(c)}·C + e^{εψ(c)}·D,     C(lo) = ∫_{−∞}^{lo} e^{εψ}f,     D(hi) = ∫_{hi}^{∞} e^{−εψ}f:

the peak only says how much the two sides weigh. Let ω = ln(C/D) − 2εψ(c), which climbs by Δω from ε₁ to ε₂, and let
e^γ − 1 ≤ 4θ(1−θ)·g_C hold for ln C and its chord, and the same for D. With q = 1/(1 + e^{−ω}), ω on its chord,

    M ≥ (e^{chord of ln C} + e^{chord of ln D})·(1 − 4θ(1−θ)·(q·g_C + (1−q)·g_D))

up to the peak's factors, and the logarithm of the first bracket has the second derivative q(1−q)·Δω² in θ. So ln M lies
at most 4θ(1−θ)·y below its chord, for the largest y = −ln(1 − q·g_C − (1−q)·g_D) + q(1−q)·Δω²/8.

For all true values from t₁ to t₂: C rises with lo and D falls with hi, and so do the means of ψ, which are what ln C and
−ln D climb by. So ω and Δω at t₁ and t₂ enclose them between. g_C is told by E[sinh²] of two copies of ψ below lo
(`gaps`): what is below lo₂ counts at most (C(lo₂)/C(lo₁))² times as much as below lo₁. Under a log-concave density it
counts most at lo₂ itself, where ψ is convex up to there: the quantiles of what lies below lo are Q(u·v) with v = P(x ≤
lo), of which ψ grows in u by ψ'(Q)·v/f(Q); f(Q(p))/p falls with p, so that this rises with v, and any two copies are
further apart. Where ψ varies by R below lo₂, g_C ≤ e^{(ε₂−ε₁)²R²/32} − 1.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.gaps import gap_across, gap_near
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array

_PEAKS = np.linspace(0.0, 1.0, 17)  # between these shares of ψ over a goal peaks are taken together
_RATES = (-2, 0, 2, -1, 1)  # halves of ε₂ − ε₁ around the middle; the last two are ε₁ and ε₂


@dataclass(frozen=True, eq=False)
class Sides:
    """Of some goals: both edges, and ln C and ln D there by rate."""

    lo: Array
    hi: Array
    below: Array
    above: Array

    @classmethod
    def of(cls, world: TiltedIntegrals, lo: Array, hi: Array, first: Array, second: Array) -> Sides:
        """What lies on both sides of goals, for two ε each."""
        middle, half = 0.5 * (first + second), 0.5 * (second - first)
        k = np.stack([middle + n * half for n in _RATES])
        a, b, ends = lo + 0 * k, hi + 0 * k, np.full(k.shape, np.inf)
        with np.errstate(all="ignore"):
            below = world.log_tilt(k, -ends, a, a) + k * world.form.psi(a)
            above = world.log_tilt(-k, b, ends, b) - k * world.form.psi(b)
        return cls(lo, hi, below, above)

    def pick(self, which: NDArray[Any]) -> Sides:
        return Sides(*(getattr(self, f.name)[..., which] for f in fields(self)))

    def join(self, other: Sides) -> Sides:
        return Sides(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)], axis=-1) for f in fields(self)))


@dataclass(frozen=True, eq=False)
class RestGaps:
    """A prior under a distance: how far log-odds lie above their chords, for all true values of a box."""

    world: TiltedIntegrals

    def between(self, left: Sides, right: Sides, first: Array, second: Array) -> Array:
        """g, with log-odds at most ln(1 + 4θ(1−θ)·g) above their chord, for all goals from `left` to `right`."""
        with np.errstate(all="ignore"):
            below = _of_side(right.below, left.below, right.lo <= self._convex_to)
            above = _of_side(left.above, right.above, left.hi >= self._concave_from)
            low, high = self.world.prior.support
            psi = self.world.form.psi
            below = np.fmin(below, gap_across(1.0, 0 * first, (second - first) * (psi(right.lo) - psi(low))))
            above = np.fmin(above, gap_across(1.0, 0 * first, (second - first) * (psi(high) - psi(left.hi))))
            return np.expm1(self._of_both(left, right, below, above, first, second))

    def _of_both(self, left: Sides, right: Sides, below: Array, above: Array, first: Array, second: Array) -> Array:
        """The largest y of all peaks: those between two shares of ψ are taken together."""
        psi, (low, high) = self.world.form.psi, self.world.prior.support
        a, b = psi(np.clip(left.lo, low, high)), psi(np.clip(right.hi, low, high))
        peaks = a + _PEAKS[:, None] * (b - a)
        at = [[side.below[i] - side.above[i] for i in (3, 4)] for side in (left, right)]
        # Where a side holds nothing yet, its ψ is as far out as it can be as soon as it does.
        empty = np.isneginf(left.below[1]), np.isneginf(right.above[1])
        climb = second - first
        least = np.where(empty[0], psi(low) * climb, left.below[4] - left.below[3]) - (left.above[4] - left.above[3])
        most = (right.below[4] - right.below[3]) + np.where(
            empty[1], psi(high) * climb, -(right.above[4] - right.above[3])
        )
        weights = [
            np.minimum(at[0][0] - 2 * first * peaks[1:], at[0][1] - 2 * second * peaks[1:]),
            np.maximum(at[1][0] - 2 * first * peaks[:-1], at[1][1] - 2 * second * peaks[:-1]),
        ]
        shares = [1 / (1 + np.exp(-w)) for w in weights]
        sides = np.maximum(*(q * below + (1 - q) * above for q in shares))
        apart = np.maximum(np.abs(least - 2 * climb * peaks[1:]), np.abs(most - 2 * climb * peaks[:-1]))
        nearest = np.clip(0.0, *weights)
        both = 0.25 / np.square(np.cosh(0.5 * nearest))
        mixed = np.where(both > 0, both * np.square(apart) / 8, 0.0)
        found = np.max(mixed - np.log1p(-np.minimum(sides, 1.0)), axis=0)
        one_side = np.isneginf(right.below[1]) | np.isneginf(left.above[1])  # or none
        alone = -np.log1p(-np.minimum(np.maximum(below, above), 1.0))
        found = np.where(one_side, alone, found)
        return np.where(np.isnan(found), np.inf, found)

    @cached_property
    def _convex_to(self) -> float:
        """Up to where what lies below is more spread the more there is of it; −∞ where that is not known."""
        form = self.world.form
        if not self.world.prior.is_log_concave:
            return -np.inf
        for cut, jump, before, after in zip(form.cuts, form.jumps, form.slopes, form.slopes[1:], strict=False):
            if jump or after < before:
                return cut
        return np.inf

    @cached_property
    def _concave_from(self) -> float:
        """The same for what lies above."""
        form = self.world.form
        if not self.world.prior.is_log_concave:
            return np.inf
        parts = zip(form.cuts[::-1], form.jumps[::-1], form.slopes[-2::-1], form.slopes[::-1], strict=False)
        for cut, jump, before, after in parts:
            if jump or before < after:
                return cut
        return -np.inf


def _of_side(most: Array, least: Array, rises: NDArray[np.bool_]) -> Array:
    """g of one side at most, from where it holds most; 0 where it never holds anything."""
    more = np.where(rises, 0.0, np.maximum(most[1] - least[1], 0.0))
    return np.where(np.isneginf(most[1]), 0.0, gap_near(most[[0, 2, 1]], 0.0, more))
