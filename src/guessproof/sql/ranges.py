"""Ranges of numbers: what an expression can be, whatever the row holds. Every result is rounded outwards.

Scalars, because a query has a few dozen nodes; the array version lives with the risk profiles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

INF = math.inf
EXACT = 2.0**53  # whole numbers below this are held exactly


@dataclass(frozen=True)
class Range:
    """All numbers from low to high, both included.

    >>> Range(1, 2) * Range(-3, 5) == Range(-6, 10)
    True
    >>> (Range(0, 0.1) + Range(0, 0.2)).high >= 0.1 + 0.2
    True
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ArithmeticError(f"no range from {self.low} to {self.high}")

    @property
    def width(self) -> float:
        """How far apart two numbers of the range can be."""
        return outward(0.0, self.high - self.low, exact=_whole(self)).high

    @property
    def size(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def is_point(self) -> bool:
        """Whether there is only one number."""
        return self.low == self.high

    def holds(self, value: float) -> bool:
        """Whether a number belongs to the range."""
        return self.low <= value <= self.high

    def clamp(self, low: float, high: float) -> Range:
        """The range of clamped values."""
        return Range(min(max(self.low, low), high), min(max(self.high, low), high))

    def __add__(self, other: Range) -> Range:
        return outward(_sum(self.low, other.low, -INF), _sum(self.high, other.high, INF), exact=_whole(self, other))

    def __sub__(self, other: Range) -> Range:
        return self + -other

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low)

    def __mul__(self, other: Range) -> Range:
        if self == ZERO or other == ZERO:
            return ZERO
        if self == ONE or other == ONE:
            return other if self == ONE else self
        corners = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return outward(min(corners), max(corners), exact=_whole(self, other))

    def __or__(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))

    def __and__(self, other: Range) -> Range:
        """What lies in both. Two enclosures of one number meet; rounding that says otherwise is undone."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(low, high) if low <= high else Range(high, low)

    def reciprocal(self) -> Range:
        """1/x, for a range without zero."""
        return outward(1 / self.high if self.high else -INF, 1 / self.low if self.low else INF)

    def through(self, rising: Callable[[float], float], ulps: int = 4) -> Range:
        """The range of a rising function."""
        return outward(rising(self.low), rising(self.high), ulps)


def point(value: float) -> Range:
    """One number.

    >>> point(3)
    Range(low=3.0, high=3.0)
    """
    return Range(float(value), float(value))


def outward(low: float, high: float, ulps: int = 1, *, exact: bool = False) -> Range:
    """A range widened by units in the last place; whole numbers that floats hold exactly stay."""
    if exact and low > -EXACT and high < EXACT:
        return Range(low, high)
    for _ in range(ulps):
        low, high = math.nextafter(low, -INF) if low else low, math.nextafter(high, INF) if high else high
    return Range(low, high)


ZERO = point(0)
ONE = point(1)
EVERYTHING = Range(-INF, INF)


def _whole(*ranges: Range) -> bool:
    return all(float(r.low).is_integer() and float(r.high).is_integer() for r in ranges)


def _times(a: float, b: float) -> float:
    """a·b with 0·∞ = 0; what underflows keeps its sign, so that rounding outwards is not lost."""
    if a == 0 or b == 0:
        return 0.0
    return a * b or math.copysign(math.ulp(0.0), math.copysign(1, a) * math.copysign(1, b))


def _sum(a: float, b: float, undefined: float) -> float:
    total = a + b
    return undefined if math.isnan(total) else total
