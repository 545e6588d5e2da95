"""One root of a function that changes sign at most once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """The root between low and high, to the last bits, or the end where it would be.

    >>> round(root(lambda x: x * x - 2, 0.0, 2.0), 12)
    1.414213562373
    """
    from scipy.optimize import brentq  # heavy, and often not needed

    if not low < high:
        return low
    at_low, at_high = function(low), function(high)
    if at_low == 0 or (at_low > 0) == (at_high > 0):
        return low if abs(at_low) <= abs(at_high) else high
    found: Any = brentq(function, low, high, xtol=1e-300, rtol=1e-15, maxiter=500)  # pyright: ignore[reportArgumentType]
    return float(found)
