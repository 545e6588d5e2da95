"""How far a belief can lie above the straight line between its values at two ε.

A likelihood that is ε-Lipschitz is e^{εs} with s 1-Lipschitz, whatever ε is. For one s the belief in G is N(ε)/Z(ε)
with N = ∫_G e^{εs}f and Z = ∫ e^{εs}f; the logarithms of both are convex in ε. So between ε₁ and ε₂

    N ≤ N₁^{1−θ}·N₂^θ     and     Z ≥ e^{−γ}·Z₁^{1−θ}·Z₂^θ,     hence     N/Z ≤ e^γ·((1−θ)·N₁/Z₁ + θ·N₂/Z₂)

where γ is how far ln Z lies below its own chord at most. Let δ be half of ε₂ − ε₁, take means in the middle, and let m
be the mean of s there. With x = δ(s − m), by the means of two numbers and as E[e^{yx}] ≥ 1 for every y,

    e^γ − 1 ≤ E[sup over θ of (1−θ)e^{−x} + θe^x − e^{(2θ−1)x}] ≤ E[c + c²/9],     c = cosh x − 1:

the supremum is cosh x + u·(ln u − 1) with u = sinh(x)/x, at most c + (u − 1)², and u − 1 ≤ c/3 term by term. Two
copies of s, independent, tell E[c] without m: M₊ = E[e^x] and M₋ = E[e^{−x}] are 1 at least, so that
(M₊ + M₋)/2 − 1 ≤ (M₊M₋ − 1)/2, which is q₁ = E[sinh²(δ(s₁−s₂)/2)]. As c² = sinh²x − 2c, and E[sinh²x] ≤ q₂/2 with q₂
the same for 2δ, what is left is 7q₁/9 + q₂/18, about q₁. (A convex function that lies g below its chord in the middle
lies at most 2g below it anywhere: e^γ − 1 ≤ 2q₁, which says more where q₂ is large.) For tents that peak at most h
apart, s differs by h and the weights by e^{2εh}, which bounds all peaks from a few; a step w on top adds w to what s
differs by and e^{εw} to the weights. Where s varies by R at most, its variance is at most R²/4 and γ ≤ (ε₂ − ε₁)²R²/32.

The same for what is not in G, with M = Z − N instead of Z: ln(N/M) lies at most γ above its own chord. That says more
where little is left to believe.

Let the prior be wrong: h·f with 1 ≤ h ≤ κ. At ε = (1−θ)ε₁ + θε₂, with Δ = ε₂ − ε₁ and means taken at ε, e^γ is

    E[e^{−θΔs}]^{1−θ}·E[e^{(1−θ)Δs}]^θ ≤ 1 + E[φ(s−m)],     φ(u) = (1−θ)e^{−θΔu} + θe^{(1−θ)Δu} − 1 ≥ 0,

for any m. The mean of φ under h·f is at most κ times that under f: so is what bounds e^γ − 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array

_PEAKS = (33, 65, 129, 257, 513)  # how many are looked at, by how far they reach


Total = Callable[[Array, Array], Array]  # peaks and rates → ln ∫ e^{εs} f over all values, or some


def gap_of_tents(
    world: TiltedIntegrals,
    low: Array,
    high: Array,
    first: Array,
    second: Array,
    sign: int,
    factor: float = 1.0,
    goal: tuple[float, float] | None = None,
) -> Array:
    """e^γ − 1 at most, for tents (sign +1) or valleys (−1) that peak between low and high, for each two ε.

    With a goal: of what its belief is compared with, the rest for tents and the goal itself for valleys.
    """
    total = partial(_log_total, world) if goal is None else partial(_log_rest, world, *goal, sign)
    step = world.form.step if goal is None else 0.0  # on the rest, or on the goal, it is the same everywhere
    climb = second * (world.form.psi(high) - world.form.psi(low))
    enough = np.searchsorted(_PEAKS[:-1], 6 * climb)  # further apart, their gaps say little
    found = np.zeros(np.shape(first))
    for size in np.unique(enough):
        rows = enough == size
        a, b, left, right = (np.broadcast_to(e, rows.shape)[rows] for e in (low, high, first, second))
        found[rows] = factor * _gap_of_peaks(world, total, step, _PEAKS[size], (a, b), (sign * left, sign * right))
    return found


def _gap_of_peaks(
    world: TiltedIntegrals,
    total: Total,
    step: float,
    count: int,
    range_: tuple[Array, Array],
    rates: tuple[Array, Array],
) -> Array:
    share, (first, second) = np.linspace(0.0, 1.0, count)[:, None], rates
    peaks = (1 - share) * range_[0] + share * range_[1]
    apart = 0.5 * np.max(np.diff(world.form.psi(peaks), axis=0), axis=0)
    middle, half = 0.5 * (first + second), 0.5 * (second - first)
    with np.errstate(invalid="ignore", over="ignore"):
        there = total(peaks, middle)

        def spread(half: Array) -> Array:
            """E[sinh²] for copies of s that are weighed as in the middle, for every peak."""
            ends = np.stack([total(peaks, middle - half), total(peaks, middle + half), there])
            below = np.max(0.5 * (ends[0] + ends[1]) - ends[2], axis=0)
            below = np.maximum(below, 0.0) + 4e-16 * (4 + np.max(np.abs(ends), axis=(0, 1)))
            root, reach = np.sqrt(0.5 * np.expm1(2 * below)), np.abs(half) * (apart + 0.5 * step)
            grown = np.cosh(reach) * root + np.sinh(reach) * np.sqrt(1 + root * root)
            return np.square(np.exp(np.abs(second) * (2 * apart + step)) * grown)

        near, far = spread(half), spread(2 * half)
        found = np.fmin(2 * near, 7 / 9 * near + far / 18)
    return np.where(np.isfinite(found), found, np.inf)


def _log_total(world: TiltedIntegrals, peaks: Array, k: Array) -> Array:
    """ln ∫ e^{−k|ψ(x)−ψ(c)|} f for each peak c."""
    k = np.broadcast_to(k, peaks.shape)
    ends = np.full(peaks.shape, np.inf)
    return np.logaddexp(world.log_tilt(k, -ends, peaks, peaks), world.log_tilt(-k, peaks, ends, peaks))


def _log_rest(world: TiltedIntegrals, lo: float, hi: float, sign: int, peaks: Array, k: Array) -> Array:
    """The same outside of a goal (sign +1), or in it (−1)."""
    k, ends, edges = np.broadcast_to(k, peaks.shape), np.full(peaks.shape, np.inf), (peaks * 0 + lo, peaks * 0 + hi)
    left, right = ((-ends, edges[0]), (edges[1], ends)) if sign > 0 else ((edges[0], peaks), (peaks, edges[1]))
    return np.logaddexp(world.log_tilt(k, *left, peaks), world.log_tilt(-k, *right, peaks))


def room_by_odds(
    gap: Array, before: tuple[Array, Array], climbs: tuple[Array, Array], most: tuple[Array, Array]
) -> Array:
    """How far a rise A can lie above its chord where ln of the odds lies at most γ above its own (gap = e^γ − 1).

    The belief P starts anywhere between two beliefs p. It ends at p + A at most, and at `most`; with P(1−P) = v and D
    the climb of P, the chord of the log-odds lies at most D²/8·(2P−1)/v above that of P, and γ adds at most gap·v.
    """
    climb = np.maximum(climbs[1] - climbs[0], most[1] - most[0])
    low, high = np.minimum(before[0] + climbs[0], most[0]), np.minimum(before[1] + climbs[1], most[1])
    ends = low * (1 - low), high * (1 - high)
    least, nearest = np.minimum(*ends), np.clip(0.5, low, high)
    largest = nearest * (1 - nearest)
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = np.square(climb / least) / 8 * largest * np.maximum(2 * high - 1, 0.0)
        found = np.where(high > 0.5, bend, 0.0) + gap * largest
    return np.where(np.isnan(found), np.inf, found)


def gap_across(across: float, first: Array, second: Array) -> Array:
    """e^γ − 1 at most where no two values are further than `across` apart."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.expm1(np.square((second - first) * across) / 32)
    return np.where(np.isnan(found), np.inf, found)
