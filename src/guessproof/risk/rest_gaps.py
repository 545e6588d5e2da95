"""How far the log-odds of a belief lie above their chord between two ε, told from what is not in the goal.

As in `gaps`, for one s the odds are N(ε)/M(ε) with N = ∫_G e^{εs}f and M the same over the rest; ln N is convex, so
that ln(N/M) lies above its chord by no more than ln M lies below its own. With a tent that peaks at c in G = [lo, hi],

    M = e^{−εψ(c)}·C + e^{εψ(c)}·D,     C(lo) = ∫_{−∞}^{lo} e^{εψ}f,     D(hi) = ∫_{hi}^{∞} e^{−εψ}f:

the peak only says how much the two sides weigh. Let ω = ln(C/D) − 2εψ(c), which climbs by Δω from ε₁ to ε₂, and let
e^γ − 1 ≤ 4θ(1−θ)·g_C hold for ln C and its chord, and the same for D. With q = 1/(1 + e^{−ω}), ω on its chord,

    M ≥ (e^{chord of ln C} + e^{chord of ln D})·(1 − 4θ(1−θ)·(q·g_C + (1−q)·g_D))

up to the peak's factors, and the logarithm of the first bracket has the second derivative q(1−q)·Δω² in θ. So ln M lies
at most 4θ(1−θ)·y below its chord, for the largest y = −ln(1 − q·g_C − (1−q)·g_D) + q(1−q)·Δω²/8.

ln N never climbs, as s ≤ 0 with the peak at height 0, and a convex function lies above its tangents: so the log-odds
climb by at most q·(Δε·ψ(c) − Δ ln C) + (1−q)·(−Δε·ψ(c) − Δ ln D), with q at ε₁.

For all true values from t₁ to t₂: C rises with lo and D falls with hi, and the means of ψ on both sides, which are the
slopes of ln C and −ln D, rise with t. So ω and Δω at t₁ and t₂ enclose them between.

g_C = 0.283·q with q = E[sinh²(δ(ψ₁−ψ₂))] for two copies of ψ below lo (`gaps`). Let h be the same expectation with
ψ(lo) in place of the second copy. As lo rises, values at lo itself join: with Λ = ln(C(lo)/C(lo₁)),

    dq/dΛ = 2(h − q),     hence     q ≤ q₁ + (1 − e^{−2Λ})·(H − q₁)     where h ≤ H and q₁ ≤ H, else q ≤ q₁.

What is below lo is below lo₁, then its distance to ψ(lo) is at most Δ = ψ(lo₂) − ψ(lo₁) more than that to ψ(lo₁), or it
has joined, then it is at most Δ itself: so h ≤ H = E₁[sinh²(δ(ψ(lo₁) − ψ + Δ))], told by the same integrals at lo₁.
Where ψ varies by R below lo₂, g_C ≤ e^{(ε₂−ε₁)²R²/32} − 1. D is the same seen from the other end.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.gaps import OF_SINH, gap_across, of_two_copies
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array

_SHARES = np.linspace(0.0, 1.0, 9)[:, None]  # of ψ over a goal: peaks between two of them are taken together
_RATES = (-2, 0, 2, -1, 1)  # halves of ε₂ − ε₁ around the middle; the last two are ε₁ and ε₂

Pair = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Sides:
    """Of some goals: both edges, rates, by rate ln C and ln D, and by how much these may be off, but for rounding."""

    lo: Array
    hi: Array
    rates: Array
    below: Array
    above: Array
    off: Array

    @classmethod
    def of(cls, world: TiltedIntegrals, lo: Array, hi: Array, first: Array, second: Array) -> Sides:
        """What lies on both sides of goals, for two ε each."""
        middle, half = 0.5 * (first + second), 0.5 * (second - first)
        k = np.stack([middle + n * half for n in _RATES])
        return cls(lo, hi, k, *world.log_halves(k, lo + 0 * k, hi + 0 * k))

    def pick(self, which: NDArray[Any]) -> Sides:
        return Sides(*(getattr(self, f.name)[..., which] for f in fields(self)))

    def join(self, other: Sides) -> Sides:
        return Sides(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)], axis=-1) for f in fields(self)))


@dataclass(frozen=True, eq=False)
class RestGaps:
    """A prior under a distance: how far log-odds lie above their chords, for all true values of a box."""

    world: TiltedIntegrals

    def between(self, left: Sides, right: Sides, first: Array, second: Array) -> tuple[Array, Array]:
        """For all goals from `left` to `right`: g, with log-odds at most ln(1 + 4θ(1−θ)·g) above their chord; and what
        they climb by at most."""
        psi, (low, high), climb = self.world.form.psi, self.world.prior.support, second - first
        with np.errstate(all="ignore"):
            below, above = self.of_sides(left, right, climb)
            below = np.fmin(below, gap_across(1.0, 0 * first, climb * (psi(right.lo) - psi(low))))
            above = np.fmin(above, gap_across(1.0, 0 * first, climb * (psi(high) - psi(left.hi))))
            bent, steepest = self._of_both(left, right, (below, above), first, second)
        return np.expm1(bent), steepest

    def _of_both(self, left: Sides, right: Sides, gaps: Pair, first: Array, second: Array) -> Pair:
        """The largest y, and the most that log-odds climb by, of all peaks: those between two shares of ψ together."""
        peaks, climb = self._peaks(left, right), second - first
        from_, to = peaks[:-1], peaks[1:]
        (below, below_most), (above, above_most) = self._climbs(left, right, climb)
        starts = [left.below[i] - left.above[i] - 2 * e * to for i, e in ((3, first), (4, second))]
        ends = [right.below[i] - right.above[i] - 2 * e * from_ for i, e in ((3, first), (4, second))]
        weights = np.minimum(*starts), np.maximum(*ends)
        shares = [1 / (1 + np.exp(-w)) for w in weights]
        noise = 1e-15 * (4 + np.max(np.where(np.isfinite(left.below), np.abs(left.below), 0.0), axis=0))
        noise = noise + 1e-15 * np.max(np.where(np.isfinite(right.above), np.abs(right.above), 0.0), axis=0)
        noise = noise + 4 * np.max(np.maximum(left.off, right.off), axis=0)
        apart = np.maximum(np.abs(below - above_most - 2 * climb * to), np.abs(below_most - above - 2 * climb * from_))
        apart = apart + noise
        both = 0.25 / np.square(np.cosh(0.5 * np.clip(0.0, *weights)))
        sides = np.maximum(*(_mean(q, *gaps) for q in shares))
        bent = np.where(both > 0, both * np.square(apart) / 8, 0.0) - np.log1p(-np.minimum(sides, 1.0))
        falls = climb * to - below, -climb * from_ - above  # of ln M, by side
        steepest = np.maximum(*(_mean(q, *falls) for q in shares))
        found = np.max(bent, axis=0), np.max(steepest, axis=0) + noise
        return np.where(np.isnan(found[0]), np.inf, found[0]), np.where(np.isnan(found[1]), np.inf, found[1])

    def _peaks(self, left: Sides, right: Sides) -> Array:
        psi, support = self.world.form.psi, self.world.prior.support
        low, high = psi(np.clip(left.lo, *support)), psi(np.clip(right.hi, *support))
        return low + _SHARES * (high - low)

    def _climbs(self, left: Sides, right: Sides, climb: Array) -> tuple[Pair, Pair]:
        """What ln C and ln D climb by, at least and at most: where a side holds nothing, ψ at its very end tells."""
        psi, (low, high) = self.world.form.psi, self.world.prior.support
        below, above = (
            [np.where(np.isneginf(v[3]), end * climb, v[4] - v[3]) for v in sides]
            for end, sides in ((psi(low), (left.below, right.below)), (-psi(high), (right.above, left.above)))
        )
        return (below[0], below[1]), (above[0], above[1])

    def of_sides(self, left: Sides, right: Sides, climb: Array) -> Pair:
        """g of both sides at most, told from the end where there is less of it."""
        psi, half = self.world.form.psi, 0.5 * climb
        near = left.below - left.rates * psi(left.lo), right.above + right.rates * psi(right.hi)
        apart = psi(right.lo) - psi(left.lo), psi(right.hi) - psi(left.hi)
        more = right.below[1] - left.below[1], left.above[1] - right.above[1]
        off = np.max(left.off, axis=0), np.max(right.off, axis=0)
        each = zip(near, apart, more, off, strict=True)
        below, above = (_of_side(n, half * a, np.maximum(m, 0.0) + 2 * o, o) for n, a, m, o in each)
        return np.where(np.isneginf(right.below[1]), 0.0, below), np.where(np.isneginf(left.above[1]), 0.0, above)


def _of_side(logs: Array, reach: Array, more: Array, off: Array) -> Array:
    """g of one side: ln C, measured from its edge, is known where least is in it; elsewhere e^{more} times as much is,
    and δψ at the edge differs by `reach`."""
    copies = of_two_copies(logs[[0, 2, 1]], off)
    far, near = np.exp(logs[0] - logs[1] + 2 * reach), np.exp(logs[2] - logs[1] - 2 * reach)
    edge = 0.25 * (far + near) - 0.5 + (off + 1e-15 * (4 + np.max(np.abs(logs), axis=0))) * (far + 1)
    found = OF_SINH * (copies - np.expm1(-2 * more) * np.maximum(edge - copies, 0.0))
    return np.where(np.isfinite(found), found, np.inf)


def _mean(share: Array, first: Array, second: Array) -> Array:
    """share·first + (1 − share)·second, whatever has no share."""
    return np.where(share > 0, share * first, 0.0) + np.where(share < 1, (1 - share) * second, 0.0)
