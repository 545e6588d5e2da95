"""Interval arithmetic on arrays: pairs (low, high) that hold the true value whatever was rounded.

Every result is widened by a few units in the last place, more than numpy's own functions err. What cannot
be bounded is (−∞, ∞).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from guessproof.risk.profile.checks import Array, Flags

Interval = tuple[Array, Array]

_FEW_ULPS = 2.0**-50
_ALWAYS: Flags = np.asarray(True)


def interval(low: ArrayLike, high: ArrayLike) -> Interval:
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)


ZERO = interval(0.0, 0.0)
ONE = interval(1.0, 1.0)


def widen(low: Array, high: Array) -> Interval:
    """Outwards by a few units in the last place; 0 stays, as nothing rounds to 0 but an underflow.

    (An underflow from below keeps its sign: −0.0, which ``reciprocal`` takes for a negative number.)
    """
    return low - np.abs(low) * _FEW_ULPS, high + np.abs(high) * _FEW_ULPS


def hull(a: Interval, b: Interval) -> Interval:
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def choose(first: Flags, a: Interval, b: Interval) -> Interval:
    """a where ``first``, b elsewhere."""
    return np.where(first, a[0], b[0]), np.where(first, a[1], b[1])


def where_known(known: Flags, a: Interval) -> Interval:
    """a where something is known of it, everything elsewhere. A NaN is not knowledge."""
    known = np.logical_and(known, a[0] <= a[1])
    return np.where(known, a[0], -np.inf), np.where(known, a[1], np.inf)


def add(a: Interval, b: Interval) -> Interval:
    return where_known(_ALWAYS, widen(a[0] + b[0], a[1] + b[1]))


def negate(a: Interval) -> Interval:
    return -a[1], -a[0]


def multiply(a: Interval, b: Interval) -> Interval:
    """All four products; 0·∞ says nothing new beside the other three, and nothing at all if alone."""
    corners = a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]
    low = np.fmin(np.fmin(corners[0], corners[1]), np.fmin(corners[2], corners[3]))
    high = np.fmax(np.fmax(corners[0], corners[1]), np.fmax(corners[2], corners[3]))
    return where_known(_ALWAYS, widen(low, high))


def reciprocal(a: Interval) -> Interval:
    """1/a; a zero at one end is a pole on that side, a zero inside leaves everything possible."""
    positive, negative = ~np.signbit(a[0]), a[1] <= 0
    low, high = np.where(positive, 1 / a[1], -1 / np.abs(a[1])), 1 / a[0]
    return where_known((positive | negative) & (a[0] < a[1]) | (a[0] * a[1] > 0), widen(low, high))


def maximum(a: Interval, b: Interval) -> Interval:
    return np.maximum(a[0], b[0]), np.maximum(a[1], b[1])


def monotone(function: Callable[[Array], Array], a: Interval, above: float = -np.inf) -> Interval:
    """A rising or falling function of a where a lies above its singularity."""
    ends = function(a[0]), function(a[1])
    return where_known(a[0] >= above, widen(np.minimum(*ends), np.maximum(*ends)))


def power(a: Interval, exponent: float) -> Interval:
    """a to a fixed power; a whole power of a negative number is allowed."""
    if exponent == 0:
        return ONE
    ends = a[0] ** exponent, a[1] ** exponent
    low, high = np.minimum(*ends), np.maximum(*ends)
    if exponent != int(exponent):
        return where_known(a[0] >= 0, widen(low, high))
    if exponent < 0:
        # A pole at a negative zero would get the wrong sign.
        return where_known(np.logical_or(a[0] >= 0, a[1] < 0), widen(low, high))
    crosses = np.logical_and(a[0] < 0, a[1] > 0)
    return where_known(_ALWAYS, widen(np.where(crosses & (exponent % 2 == 0), 0.0, low), high))
