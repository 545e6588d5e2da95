"""One root of a function that changes sign at most once.

Brent's method (1973); tests hold it to SciPy's, which takes longer to import than most questions take to answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_MOST_STEPS = 500
_FINEST = 8.9e-16  # relative: no float is nearer


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
