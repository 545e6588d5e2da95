"""The tent on a prior with finitely many numbers: the peak need only range over the numbers in G."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from guessproof.risk.tent import SMALL
from guessproof.world.checks import Array, Mask
from guessproof.world.finite import Finite
from guessproof.world.line_form import LineForm

_BLOCK = 1 << 21  # numbers worked on at a time


def atoms_log_prior(prior: Finite, lo: ArrayLike, hi: ArrayLike) -> tuple[Array, Array]:
    """ln P(lo ≤ X ≤ hi) and ln P(otherwise), summed apart so that neither cancels."""
    lo, hi = np.broadcast_arrays(np.asarray(lo, dtype=np.float64), np.asarray(hi, dtype=np.float64))
    inside = (prior.points >= lo[..., None]) & (prior.points <= hi[..., None])
    with np.errstate(divide="ignore"):
        return np.log(inside @ prior.mass), np.log(~inside @ prior.mass)


def atoms_tent(prior: Finite, form: LineForm, lo: ArrayLike, hi: ArrayLike, k: ArrayLike) -> tuple[Array, Array]:
    """(attack, bound) of the signed gain at k = ±ε for the goal lo ≤ x ≤ hi, as in `tent`."""
    lo, hi, k = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (lo, hi, k)))
    size = max(1, _BLOCK // len(prior.values))
    flat = [v.ravel() for v in (lo, hi, k)]
    parts = [_gain(prior, form, *(v[i : i + size] for v in flat)) for i in range(0, lo.size, size)]
    gain = np.concatenate(parts).reshape(lo.shape)
    noise = 1e-13 * np.minimum(np.abs(gain), 1.0) + 4e-15 * np.abs(gain)
    return np.where(k > 0, gain - noise, gain + noise), np.where(k > 0, gain + noise, gain - noise)


def _gain(prior: Finite, form: LineForm, lo: Array, hi: Array, k: Array) -> Array:
    """The gain of the best peak (k > 0) or valley (k < 0) among the values inside each [lo, hi]."""
    points, psi = prior.points, form.psi(prior.points)
    inside = (points >= lo[:, None]) & (points <= hi[:, None])
    first, last = (
        psi[np.argmax(inside, axis=1)],
        psi[inside.shape[1] - 1 - np.argmax(inside[:, ::-1], axis=1)],
    )
    with np.errstate(divide="ignore"):
        log_mass = np.log(prior.mass)
    left, right = k[:, None] * (psi - first[:, None]), k[:, None] * (last[:, None] - psi)
    before, after = points < lo[:, None], points > hi[:, None]
    rising = np.logaddexp.accumulate(np.where(inside, log_mass + left, -np.inf), axis=1)
    falling = np.logaddexp.accumulate(np.where(inside, log_mass + right, -np.inf)[:, ::-1], axis=1)[:, ::-1]
    falling = np.concatenate([falling[:, 1:], np.full((k.size, 1), -np.inf)], axis=1)  # strictly right of the peak
    outer_left = _log_sum(np.where(before, log_mass + left, -np.inf))
    outer_right = _log_sum(np.where(after, log_mass + right, -np.inf))
    # Heights of the two slopes seen from a peak at x: e^{−k(ψ(x)−ψ(first))} and e^{−k(ψ(last)−ψ(x))}.
    odds = np.logaddexp(rising - left, falling - right) - np.logaddexp(
        outer_left[:, None] - left, outer_right[:, None] - right
    )
    odds = np.where(inside & (prior.mass > 0), odds, np.where(k > 0, -np.inf, np.inf)[:, None])
    best = np.where(k > 0, np.argmax(odds, axis=1), np.argmin(odds, axis=1))
    log_p, log_q = np.log(inside @ prior.mass), np.log(~inside @ prior.mass)
    gain = odds[np.arange(k.size), best] - (log_p - log_q)
    small = np.abs(gain) < SMALL
    if small.any():
        gain[small] = _small_gain(prior, psi, inside[small], k[small], psi[best[small]])
    return gain


def _small_gain(prior: Finite, psi: Array, inside: Mask, k: Array, peak: Array) -> Array:
    """The gain of a tent from the likelihood's deficits below 1, exact for tiny k."""
    deficit = -np.expm1(-k[:, None] * np.abs(psi - peak[:, None])) * prior.mass
    p, q = inside @ prior.mass, ~inside @ prior.mass
    lost_in, lost_out = np.sum(deficit * inside, axis=1), np.sum(deficit * ~inside, axis=1)
    advantage = (p * lost_out - q * lost_in) / (1 - lost_in - lost_out)
    return np.log1p(advantage / (p * (q - advantage)))


def _log_sum(terms: Array) -> Array:
    return np.logaddexp.reduce(terms, axis=1)
