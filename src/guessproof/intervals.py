"""Interval arithmetic: all numbers from low to high, whatever was rounded on the way.

An `Interval` has two numbers for its ends (a query has a few dozen nodes), an `IntervalArray` two arrays (a search over
priors has thousands of cells). The operations are the same and stand in `Enclosure`; the two differ in how ends are
computed. Every result is rounded outwards by more than the operation can err. What is not known, as 1/x where x may
be 0 inside, or 0·∞ alone, is everything: (−∞, ∞).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Numbers = TypeVar("Numbers", float, Array)

INF = math.inf
TINY = math.ulp(0.0)
EXACT = 2.0**53  # whole numbers below this are held exactly
FEW_ULPS = 2.0**-50  # of a number: 4 to 8 units in its last place, more than numpy's own functions err
FUNCTION_ULPS = 4  # more than the functions of `math` err


@dataclass(frozen=True)
class Enclosure(ABC, Generic[Numbers]):
    """All numbers from low to high, both included."""

    low: Numbers
    high: Numbers

    # How ends are computed, of numbers or of arrays.

    _lower: ClassVar[Callable[[Any, Any], Any]]
    _higher: ClassVar[Callable[[Any, Any], Any]]
    _exp: ClassVar[Callable[[Any], Any]]
    _log: ClassVar[Callable[[Any], Any]]
    _sqrt: ClassVar[Callable[[Any], Any]]
    _raise: ClassVar[Callable[[Any, float], Any]]  # to a power; what vanishes keeps its sign and the least size

    @staticmethod
    @abstractmethod
    def outward(low: Any, high: Any, ulps: int = 1, *, exact: bool = False) -> Any:
        """Both ends moved outwards by units in the last place; an end that says nothing leaves everything possible.

        0 stays: no sum rounds to 0, and products and powers that vanish are brought back before.
        """

    @abstractmethod
    def keep_where(self, known: Any) -> Any:
        """The same where something is known of it, everything elsewhere. A NaN is not knowledge."""

    @abstractmethod
    def reciprocal(self) -> Any:
        """1/x; a zero at one end is a pole on that side, a zero inside leaves everything possible."""

    @abstractmethod
    def _is_exact(self, other: Any) -> bool:
        """Whether sums and products of both are held exactly."""

    @abstractmethod
    def _multiply(self, other: Any) -> tuple[Any, Any]:
        """The least and the largest of the four products; what vanished keeps its sign and the least size."""

    # What is done with them.

    def __iter__(self) -> Iterator[Numbers]:
        yield self.low
        yield self.high

    @property
    def size(self) -> Numbers:
        """The largest absolute value."""
        return self._higher(abs(self.low), abs(self.high))

    def clamp(self, low: float, high: float) -> Self:
        """The interval of clamped values."""
        lower, higher = self._lower, self._higher
        return type(self)(lower(higher(self.low, low), high), lower(higher(self.high, low), high))

    def widen(self, ulps: int = 1) -> Self:
        """The same, rounded outwards."""
        return self.outward(self.low, self.high, ulps)

    def __neg__(self) -> Self:
        return type(self)(-self.high, -self.low)

    def __add__(self, other: Self) -> Self:
        return self.outward(self.low + other.low, self.high + other.high, exact=self._is_exact(other))

    def __sub__(self, other: Self) -> Self:
        return self.outward(self.low - other.high, self.high - other.low, exact=self._is_exact(other))

    def __mul__(self, other: Self) -> Self:
        """All four products; 0·∞ says nothing new beside the other three, and nothing at all if alone."""
        return self.outward(*self._multiply(other), exact=self._is_exact(other))

    def __or__(self, other: Self) -> Self:
        """What holds both."""
        return type(self)(self._lower(self.low, other.low), self._higher(self.high, other.high))

    def __and__(self, other: Self) -> Self:
        """What lies in both. Two enclosures of one number meet; rounding that says otherwise is undone."""
        low, high = self._higher(self.low, other.low), self._lower(self.high, other.high)
        return type(self)(self._lower(low, high), self._higher(low, high))

    def maximum(self, other: Self) -> Self:
        """The larger of two numbers."""
        return type(self)(self._higher(self.low, other.low), self._higher(self.high, other.high))

    def minimum(self, other: Self) -> Self:
        """The smaller of two numbers."""
        return type(self)(self._lower(self.low, other.low), self._lower(self.high, other.high))

    def absolute(self) -> Self:
        """|x|."""
        return type(self)(self._higher(self._higher(self.low, -self.high), 0.0) + 0.0, self.size)  # no −0.0

    def exp(self) -> Self:
        """eˣ, which is never 0."""
        return self.monotone(self._exp)

    def log(self) -> Self:
        """ln x where x is not below 0."""
        return self.monotone(self._log, above=0.0)

    def sqrt(self) -> Self:
        """√x where x is not below 0."""
        return self.monotone(self._sqrt, above=0.0)

    def power(self, exponent: float) -> Self:
        """x to a fixed power, where x is not below 0 or the power is whole.

        >>> Interval(-2.0, 3.0).power(2).low
        0.0
        """
        if exponent < 0:
            return self.power(-exponent).reciprocal()
        base = self.absolute() if exponent % 2 == 0 else self
        begin = -INF if exponent == math.floor(exponent) else 0.0
        return base.monotone(lambda x: self._raise(x, exponent), begin)

    def monotone(self, function: Callable[[Any], Any], above: float = -INF) -> Self:
        """A rising or falling function of x where x does not lie below `above`, where it begins."""
        known = self.low >= above
        if known is False:
            return self.keep_where(known)
        ends = function(self.low), function(self.high)
        found: Self = self.outward(self._lower(*ends), self._higher(*ends), FUNCTION_ULPS)
        return found.keep_where(known)


def _exp(x: float) -> float:
    return max(math.exp(x), TINY) if x < 709 else INF


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -INF


def _raise(x: float, exponent: float) -> float:
    try:
        power = math.pow(x, exponent)
    except OverflowError:
        return math.copysign(INF, x if exponent % 2 else 1.0)
    return power or _restore(power, x)


def _restore(vanished: float, *factors: float) -> float:
    """0 where a factor is; the least number where the result was too small for any."""
    return math.copysign(TINY, vanished) if all(factors) else vanished


@final
@dataclass(frozen=True)
class Interval(Enclosure[float]):
    """An interval whose ends are numbers.

    >>> Interval(1, 2) * Interval(-3, 5) == Interval(-6, 10)
    True
    >>> (Interval(0, 0.1) + Interval(0, 0.2)).high >= 0.1 + 0.2
    True
    """

    _lower, _higher = min, max
    _exp, _log, _sqrt, _raise = staticmethod(_exp), staticmethod(_log), math.sqrt, staticmethod(_raise)

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ArithmeticError(f"no interval from {self.low} to {self.high}")

    @property
    def is_point(self) -> bool:
        """Whether there is only one number."""
        return self.low == self.high

    @property
    def width(self) -> float:
        """How far apart two numbers of the interval can be."""
        return outward(0.0, self.high - self.low, exact=self._is_exact(self)).high

    def holds(self, value: float) -> bool:
        """Whether a number belongs to the interval."""
        return self.low <= value <= self.high

    @staticmethod
    def outward(low: float, high: float, ulps: int = 1, *, exact: bool = False) -> Interval:
        """By as many units as are asked for; not at all where both ends are whole and held exactly."""
        low, high = -INF if low != low else low, INF if high != high else high
        if exact and low > -EXACT and high < EXACT:
            return Interval(low, high)
        for _ in range(ulps):
            low, high = math.nextafter(low, -INF) if low else low, math.nextafter(high, INF) if high else high
        return Interval(low, high)

    def keep_where(self, known: Any) -> Interval:
        return self if known else EVERYTHING

    def __mul__(self, other: Any) -> Interval:
        if other.low == other.high == 1:
            return self
        return other if self.low == self.high == 1 else super().__mul__(other)

    def reciprocal(self) -> Interval:
        """1/x.

        >>> Interval(0.0, 0.5).reciprocal().high, Interval(-1.0, 1.0).reciprocal() == EVERYTHING
        (inf, True)
        """
        low, high = self.low, self.high
        if low > 0 or high < 0:
            return outward(1 / high, 1 / low)
        if low == high or math.copysign(1.0, low) < 0 < high:  # −0.0 may be a number below 0
            return EVERYTHING
        return outward(1 / high, INF) if high > 0 else outward(-INF, 1 / low)

    def _is_exact(self, other: Any) -> bool:
        return not (self.low % 1 or self.high % 1 or other.low % 1 or other.high % 1)  # ∞ % 1 is NaN, which is true

    def _multiply(self, other: Any) -> tuple[float, float]:
        products = [a * b or _restore(a * b, a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        if math.isnan(sum(products)):
            products = [product for product in products if not math.isnan(product)] or [math.nan]
        return min(products), max(products)


outward = Interval.outward


def point(value: float) -> Interval:
    """One number.

    >>> point(3)
    Interval(low=3.0, high=3.0)
    """
    return Interval(float(value), float(value))


ZERO = point(0)
ONE = point(1)
EVERYTHING = Interval(-INF, INF)


@final
@dataclass(frozen=True, eq=False)
class IntervalArray(Enclosure[Array]):
    """An interval in every cell of an array."""

    _lower, _higher, _log, _sqrt = np.minimum, np.maximum, np.log, np.sqrt

    @staticmethod
    def _exp(x: Array) -> Array:
        return np.maximum(np.exp(x), TINY)

    @staticmethod
    def _raise(x: Array, exponent: float) -> Array:
        return _restore_cells(x**exponent, x)

    @staticmethod
    def outward(low: Array, high: Array, ulps: int = 1, *, exact: bool = False) -> IntervalArray:
        """By a few units, whatever is asked for: in one go."""
        return IntervalArray(low - _few_ulps(low), high + _few_ulps(high)).keep_where(True)

    def keep_where(self, known: Any) -> IntervalArray:
        kept = self.low <= self.high if known is True else np.logical_and(known, self.low <= self.high)
        if kept.all() and kept.shape == self.low.shape == self.high.shape:
            return self
        return IntervalArray(np.where(kept, self.low, -INF), np.where(kept, self.high, INF))

    def reciprocal(self) -> IntervalArray:
        low, high = self.low, self.high
        above, below = ~np.signbit(low), high <= 0  # −0.0 may be a number below 0
        found = self.outward(np.where(above, 1 / high, -1 / np.abs(high)), 1 / low)
        return found.keep_where((above | below) & (low < high) | (low > 0) | (high < 0))

    def _is_exact(self, other: Any) -> bool:
        return False

    def _multiply(self, other: Any) -> tuple[Array, Array]:
        return _find_ends([_restore_cells(a * b, a, b) for a in self for b in other])


def _find_ends(products: list[Array]) -> tuple[Array, Array]:
    """The least and the largest of four, NaN left out."""
    a, b, c, d = products
    return np.fmin(np.fmin(a, b), np.fmin(c, d)), np.fmax(np.fmax(a, b), np.fmax(c, d))


def _few_ulps(numbers: Array) -> Array:
    return np.abs(numbers) * FEW_ULPS + TINY * (numbers != 0)


def _restore_cells(result: Array, *factors: Array) -> Array:
    if result.all():
        return result
    vanished = result == 0
    for factor in factors:
        vanished = vanished & (factor != 0)
    return np.where(vanished, np.copysign(TINY, result), result) if vanished.any() else result


def spread(low: ArrayLike, high: ArrayLike) -> IntervalArray:
    """Lower and upper ends of whatever type."""
    return IntervalArray(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))


def constant(value: ArrayLike) -> IntervalArray:
    """One number in each cell."""
    return spread(value, value)


def choose(first: Flags, a: IntervalArray, b: IntervalArray) -> IntervalArray:
    """a where ``first``, b elsewhere."""
    return IntervalArray(np.where(first, a.low, b.low), np.where(first, a.high, b.high))
