"""One root of a function that changes sign at most once, of many such functions at once, and the bottom of one valley.

Brent's methods (1973), and Chandrupatla's (1997) for many; tests hold Brent's to SciPy's, which take longer to import
than most questions take to answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from guessproof.world.checks import Array

_MOST_STEPS = 500
_FINEST = 8.9e-16  # relative: no float is nearer
_GOLDEN, _ROOT_OF_FINEST = 0.5 * (3.0 - math.sqrt(5.0)), math.sqrt(2.2e-16)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """The root between low and high, to the last bits, or the end where it would be.

    >>> round(root(lambda x: x * x - 2, 0.0, 2.0), 12)
    1.414213562373
    """
    if not low < high:
        return low
    at_low, at_high = function(low), function(high)
    if at_low == 0 or (at_low > 0) == (at_high > 0):
        return low if abs(at_low) <= abs(at_high) else high
    return crossing(function, low, high, rtol=1e-15)


def crossing(
    function: Callable[[float], float], low: float, high: float, *, xtol: float = 1e-300, rtol: float = _FINEST
) -> float:
    """Where a function crosses 0 between two ends of different signs.

    >>> round(crossing(math.cos, 1.0, 2.0), 12)
    1.570796326795
    """
    last, here = float(low), float(high)
    at_last, at_here = float(function(last)), float(function(here))
    if at_last == 0:
        return last
    if at_here == 0:
        return here
    if (at_last < 0) == (at_here < 0):
        raise ValueError("the function has the same sign at both ends")
    other, at_other, step_before, step = last, at_last, 0.0, 0.0  # `other`: on the far side of the root
    for _ in range(_MOST_STEPS):
        if (at_last < 0) != (at_here < 0) and at_last != 0:
            other, at_other = last, at_last
            step_before = step = here - last
        if abs(at_other) < abs(at_here):
            last, here, other = here, other, here
            at_last, at_here, at_other = at_here, at_other, at_here
        nearest, half = 0.5 * (xtol + rtol * abs(here)), 0.5 * (other - here)
        if at_here == 0 or abs(half) < nearest:
            return here
        step_before, step = _steps((last, here, other), (at_last, at_here, at_other), step_before, step, half, nearest)
        last, at_last = here, at_here
        here += step if abs(step) > nearest else math.copysign(nearest, half)
        at_here = float(function(here))
    return here


def _steps(
    x: tuple[float, float, float],
    f: tuple[float, float, float],
    before: float,
    last: float,
    half: float,
    nearest: float,
) -> tuple[float, float]:
    """The step before the next one, and the next: through the last values where that closes in, else to the middle."""
    (x0, x1, x2), (f0, f1, f2) = x, f
    if abs(before) <= nearest or abs(f1) >= abs(f0):
        return half, half
    if x0 == x2:
        step = -f1 * (x1 - x0) / (f1 - f0)
    else:
        slope, far = (f0 - f1) / (x0 - x1), (f2 - f1) / (x2 - x1)
        below = far * slope * (f2 - f0)
        step = -f1 * (f2 * far - f0 * slope) / below if below else math.inf
    return (last, step) if 2 * abs(step) < min(abs(before), 3 * abs(half) - nearest) else (half, half)


def lowest(function: Callable[[float], float], low: float, high: float, *, xtol: float = 1e-5) -> float:
    """Where a function with one valley between two ends is lowest: parabolas where they help, else the golden section.

    >>> round(lowest(lambda x: (x - 2) ** 2, 0.0, 5.0), 6)
    2.0
    """
    a, b = float(low), float(high)
    best = second = third = a + _GOLDEN * (b - a)
    at_best = at_second = at_third = float(function(best))
    step = before = 0.0
    for _ in range(_MOST_STEPS):
        middle = 0.5 * (a + b)
        near = _ROOT_OF_FINEST * abs(best) + xtol / 3
        if abs(best - middle) <= 2 * near - 0.5 * (b - a):
            break
        across = None
        if abs(before) > near:
            r, q = (best - second) * (at_best - at_third), (best - third) * (at_best - at_second)
            p, q = (best - third) * q - (best - second) * r, 2 * (q - r)
            p, q = (-p if q > 0 else p), abs(q)
            if abs(p) < abs(0.5 * q * before) and q * (a - best) < p < q * (b - best):
                across = p / q
            before = step
        if across is None:
            before = a - best if best >= middle else b - best
            step = _GOLDEN * before
        else:
            beside_an_end = best + across - a < 2 * near or b - best - across < 2 * near
            step = (near if middle >= best else -near) if beside_an_end else across
        here = best + (max(abs(step), near) if step >= 0 else -max(abs(step), near))
        at_here = float(function(here))
        if at_here <= at_best:
            a, b = (best, b) if here >= best else (a, best)
            third, at_third, second, at_second, best, at_best = second, at_second, best, at_best, here, at_here
            continue
        a, b = (here, b) if here < best else (a, here)
        if at_here <= at_second or second == best:
            third, at_third, second, at_second = second, at_second, here, at_here
        elif at_here <= at_third or third in (best, second):
            third, at_third = here, at_here
    return best


def crossings(
    function: Callable[[Array, NDArray[np.intp]], Array],
    low: Array,
    high: Array,
    values: tuple[Array, Array],
    within: float,
) -> tuple[Array, Array]:
    """Between which two values each of many functions rises through 0, no further apart than a share of 1 + the upper.

    `function` is asked for some of them, named by their places. Its `values` are below 0 at `low`, and not at `high`.

    >>> square = lambda x, at: x * x - np.array([2.0, 3.0])[at]
    >>> values = np.array([-2.0, -3.0]), np.array([2.0, 1.0])
    >>> low, high = crossings(square, np.zeros(2), np.full(2, 2.0), values, 1e-9)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([1.414214, 1.732051], [1.414214, 1.732051])
    """
    open_, a, fa, b, fb = np.arange(low.size), low.copy(), values[0].copy(), high.copy(), values[1].copy()
    t = np.clip(fa / (fa - fb), 0.1, 0.9)
    for _ in range(_MOST_STEPS):
        open_ = open_[np.abs(b - a)[open_] > within * (1 + np.maximum(a, b)[open_])]
        if not open_.size:
            break
        last, at_last, other, at_other = a[open_], fa[open_], b[open_], fb[open_]
        x = last + t[open_] * (other - last)
        f = function(x, open_)
        same = (f < 0) == (at_last < 0)
        c, fc = np.where(same, last, other), np.where(same, at_last, at_other)
        other, at_other = np.where(same, other, last), np.where(same, at_other, at_last)
        a[open_], fa[open_], b[open_], fb[open_] = x, f, other, at_other
        least = 0.25 * within * (1 + np.maximum(x, other)) / np.maximum(np.abs(other - x), 1e-300)
        t[open_] = next_fraction(x, other, c, f, at_other, fc, least)
    return np.where(fa < 0, a, b), np.where(fa < 0, b, a)


def next_fraction(a: Array, b: Array, c: Array, fa: Array, fb: Array, fc: Array, least: Array) -> Array:
    """Inverse quadratic interpolation where it is safe, the middle otherwise (Chandrupatla 1997)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    t = np.where(safe & np.isfinite(t), t, 0.5)
    least = np.minimum(least, 0.5)
    return np.clip(t, least, 1 - least)
