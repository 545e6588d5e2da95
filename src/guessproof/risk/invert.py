"""The largest ε that keeps a bound: a monotone search that ends on the private side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from guessproof.world.checks import Array, Mask

_RELATIVE = 1e-11  # how close to the true root the answer is driven
_BACK = 4e-12  # taken off at the end: more than rounding in the limit itself can hide
_LARGEST = 1e100  # a limit that holds even here is one that nothing can break

Excess = Callable[[Array], Array]


def largest_epsilon(
    bound: Callable[[Array], Array], limit: Array, *, start: float = 1.0, relative: float = _RELATIVE
) -> Array:
    """The largest ε with bound(ε) ≤ limit, elementwise, never above the true one; inf if nothing breaks it.

    `bound` rises from 0 in ε; it is called with arrays of the limit's shape.

    >>> largest_epsilon(lambda e: 2 * e, np.array([1.0, 3.0])).round(9)
    array([0.5, 1.5])
    """
    shape, limit = limit.shape, limit.ravel()

    def excess(epsilon: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return bound(epsilon.reshape(shape)).ravel() - limit

    ready = (limit > 0) & np.isfinite(limit)
    low, high, f_low, f_high = _bracket(excess, limit, ready, start)
    closed = ready & np.isfinite(high)
    low = _close_in(excess, low, high, f_low, f_high, closed, relative)
    epsilon = np.where(closed, low * (1 - _BACK), np.where(limit > 0, np.inf, 0.0))
    return epsilon.reshape(shape)


def _bracket(excess: Excess, limit: Array, ready: Mask, start: float) -> tuple[Array, Array, Array, Array]:
    """Two values of ε between which the limit is crossed; the upper one infinite where it never is."""
    low, high = np.zeros(limit.shape), np.full(limit.shape, np.inf)
    f_low, f_high = -limit, np.full(limit.shape, np.inf)
    trial = np.full(limit.shape, start)
    for _ in range(200):
        open_ = ready & (np.isinf(high) | (low == 0)) & (low < _LARGEST)
        if not open_.any():
            break
        f = excess(trial)
        kept, broken = open_ & (f <= 0), open_ & ~(f <= 0)
        low, f_low = np.where(kept, trial, low), np.where(kept, f, f_low)
        high, f_high = np.where(broken, trial, high), np.where(broken, f, f_high)
        # The bound is roughly proportional to ε at first, which tells about where the limit is reached.
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.nan_to_num(limit / (f + limit), nan=1.0, posinf=1e6)
        up = np.clip(1.3 * share, 2.0, 1e6) * trial
        down = np.clip(0.7 * share, 1e-9, 0.5) * trial
        trial = np.where(open_, np.where(np.isinf(high), up, down), trial)
    return low, high, f_low, f_high


def _close_in(
    excess: Excess, low: Array, high: Array, f_low: Array, f_high: Array, todo: Mask, relative: float
) -> Array:
    """Chandrupatla's method on all elements at once; returns the end at which the limit is kept."""
    a, fa = np.where(todo, low, 1.0), np.where(todo, f_low, -1.0)
    b, fb = np.where(todo, high, 2.0), np.where(todo, np.minimum(f_high, 1e300), 1.0)
    c, fc = a, fa
    t = np.full(a.shape, 0.5)
    for _ in range(200):
        if not todo.any():
            break
        x = a + t * (b - a)
        f = np.nan_to_num(excess(x), nan=1e300, posinf=1e300)
        same = (f <= 0) == (fa <= 0)
        c, fc = np.where(todo, np.where(same, a, b), c), np.where(todo, np.where(same, fa, fb), fc)
        b, fb = np.where(todo & ~same, a, b), np.where(todo & ~same, fa, fb)
        a, fa = np.where(todo, x, a), np.where(todo, f, fa)
        width = np.abs(b - a)
        todo = todo & (width > relative * np.maximum(np.abs(a), np.abs(b)))
        t = _next_fraction(a, b, c, fa, fb, fc, 0.25 * relative * np.abs(a) / np.maximum(width, 1e-300))
    return np.where(fa <= 0, a, b)


def _next_fraction(a: Array, b: Array, c: Array, fa: Array, fb: Array, fc: Array, least: Array) -> Array:
    """Inverse quadratic interpolation where it is safe, the middle otherwise (Chandrupatla 1997)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    t = np.where(safe & np.isfinite(t), t, 0.5)
    least = np.minimum(least, 0.5)
    return np.clip(t, least, 1 - least)
