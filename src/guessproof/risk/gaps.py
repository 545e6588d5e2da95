"""How far a belief can lie above the straight line between its values at two ε.

A likelihood that is ε-Lipschitz is e^{εs} with s 1-Lipschitz, whatever ε is. For one s the belief in G is N(ε)/Z(ε)
with N = ∫_G e^{εs}f and Z = ∫ e^{εs}f; the logarithms of both are convex in ε. So between ε₁ and ε₂

    N ≤ N₁^{1−θ}·N₂^θ     and     Z ≥ e^{−γ}·Z₁^{1−θ}·Z₂^θ,     hence     N/Z ≤ e^γ·((1−θ)·N₁/Z₁ + θ·N₂/Z₂)

where γ is how far ln Z lies below its own chord at most. A convex function that lies g below its chord in the middle
lies at most 2g below it anywhere. With two independent copies of s, e^{2g} = E[cosh(δ(s₁ − s₂))] in the middle, δ being
half of ε₂ − ε₁. For tents that peak at most h apart, s differs by h and the weights by e^{2εh}, which bounds all peaks
from a few; a step w on top adds w to what s differs by and e^{εw} to the weights; a prior whose odds may be wrong by κ
adds a factor κ to the weights. Where s varies by R at most, its variance is at most R²/4 and γ ≤ (ε₂ − ε₁)²R²/32.
"""

from __future__ import annotations

import numpy as np

from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array

_PEAKS = (33, 65, 129, 257, 513)  # how many are looked at, by how far they reach


def gap_of_tents(
    world: TiltedIntegrals, low: Array, high: Array, first: Array, second: Array, sign: int, factor: float = 1.0
) -> Array:
    """e^γ − 1 at most, for tents (sign +1) or valleys (−1) that peak between low and high, for each two ε."""
    climb = second * (world.form.psi(high) - world.form.psi(low))
    enough = np.searchsorted(_PEAKS[:-1], 6 * climb)  # further apart, their gaps say little
    found = np.zeros(np.shape(first))
    for size in np.unique(enough):
        rows = enough == size
        a, b, left, right = (np.broadcast_to(e, rows.shape)[rows] for e in (low, high, first, second))
        found[rows] = _gap_of_peaks(world, _PEAKS[size], a, b, left, right, sign, factor)
    return found


def _gap_of_peaks(
    world: TiltedIntegrals, count: int, low: Array, high: Array, first: Array, second: Array, sign: int, factor: float
) -> Array:
    share = np.linspace(0.0, 1.0, count)[:, None]
    peaks = (1 - share) * low + share * high
    heights = world.form.psi(peaks)
    apart = 0.5 * np.max(np.diff(heights, axis=0), axis=0)
    middle, half = 0.5 * (first + second), 0.5 * (second - first)
    with np.errstate(invalid="ignore", over="ignore"):
        ends = [_log_total(world, peaks, sign * k) for k in (first, middle, second)]
        below = np.max(0.5 * (ends[0] + ends[2]) - ends[1], axis=0)
        below = np.maximum(below, 0.0) + 4e-16 * (4 + np.max(np.abs(ends), axis=(0, 1)))
        spread, step = np.sqrt(0.5 * np.expm1(2 * below)), world.form.step
        reach = half * (apart + 0.5 * step)
        spread = np.exp(second * (2 * apart + step)) * (
            np.cosh(reach) * spread + np.sinh(reach) * np.sqrt(1 + spread * spread)
        )
        found = 2 * np.square(factor * spread)
    return np.where(np.isfinite(found), found, np.inf)


def _log_total(world: TiltedIntegrals, peaks: Array, k: Array) -> Array:
    """ln ∫ e^{−k|ψ(x)−ψ(c)|} f for each peak c."""
    k = np.broadcast_to(k, peaks.shape)
    ends = np.full(peaks.shape, np.inf)
    return np.logaddexp(world.log_tilt(k, -ends, peaks, peaks), world.log_tilt(-k, peaks, ends, peaks))


def gap_across(across: float, first: Array, second: Array) -> Array:
    """e^γ − 1 at most where no two values are further than `across` apart."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.expm1(np.square((second - first) * across) / 32)
    return np.where(np.isnan(found), np.inf, found)
