"""Validation of numbers, once, where a value is made."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.errors import InputError, PriorError
from guessproof.world.times import DAY, days_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
Pair = tuple[float, float]
Floats = tuple[float, ...]

LARGEST = 1e100  # beyond this squares overflow; no unit of measurement needs it


def in_days(value: Any) -> Any:
    """A date as days since 1970 and a length of time as days, also inside a list; anything else as it is.

    >>> in_days([datetime.date(1970, 1, 3), datetime.timedelta(hours=12), "late"])
    [2.0, 0.5, 'late']
    """
    if isinstance(value, (list, tuple)):
        items = [in_days(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, datetime.date):
        return days_of(value)
    return value / DAY if isinstance(value, datetime.timedelta) else value


def floats(values: Any) -> Array:
    """Numbers as an array."""
    return np.asarray(values, dtype=np.float64)


def quiet() -> np.errstate:
    """Infinities and what is not defined are expected, and seen to."""
    return np.errstate(all="ignore")


def real(error: type[InputError], field: str, value: Any, *, infinite: bool = False) -> float:
    """A real number (infinite only where that makes sense), as a float."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise error(field, value, "is not a number", "give a number")
    try:
        number = float(in_days(value))
    except (TypeError, ValueError, OverflowError):
        raise error(field, value, "is not a number", "give a number") from None
    if math.isnan(number) or (math.isinf(number) and not infinite):
        raise error(field, value, "is not finite", "give a finite number")
    if LARGEST < abs(number) < math.inf:
        raise error(field, value, "is too large to compute with", "change the unit")
    return number


def positive(error: type[InputError], field: str, value: Any) -> float:
    """A number above zero; a length of time counts days."""
    if isinstance(value, datetime.date):
        raise error(
            field,
            value,
            "is a time, and a length is needed",
            "write datetime.timedelta(days=…)",
        )
    number = real(error, field, value)
    if number <= 0:
        raise error(field, value, "must be positive", "give a number above 0")
    if number < 1 / LARGEST:
        raise error(field, value, "is too small to compute with", "change the unit")
    return number


def ordered(error: type[InputError], field: str, low: Any, high: Any) -> Pair:
    """Two ends of an interval, low strictly below high; either may be infinite."""
    a, b = real(error, field, low, infinite=True), real(error, field, high, infinite=True)
    if not a < b:
        raise error(
            field,
            (low, high),
            "the lower end must be below the upper end",
            "swap or widen them",
        )
    return a, b


def intervals(error: type[InputError], pairs: Any) -> list[Pair]:
    """One or more intervals, sorted; their ends may be infinite."""
    try:
        found = sorted(ordered(error, "interval", *pair) for pair in pairs)
    except TypeError:
        raise error("intervals", pairs, "are not pairs", "give (low, high), …") from None
    if not found:
        raise error("intervals", pairs, "are missing", "give at least one (low, high)")
    return found


def listed(
    error: type[InputError], field: str, values: Any, problem: str, remedy: str
) -> tuple[Any, ...]:
    """The members of a list or a set; a text is neither."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise error(field, values, problem, remedy)
    return tuple(values)  # pyright: ignore[reportUnknownVariableType]


def numbers(error: type[InputError], field: str, values: Any) -> Array:
    """A one-dimensional array of finite numbers, not empty."""
    try:
        dated = isinstance(values, (list, tuple)) and any(
            isinstance(v, (datetime.date, datetime.timedelta)) for v in values[:1]
        )  # pyright: ignore[reportUnknownVariableType]
        array = np.asarray(in_days(values) if dated else values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise error(
            field, values, "is not a list of numbers", "give a list of numbers"
        ) from None
    if array.ndim != 1 or array.size == 0:
        raise error(field, values, "is not a plain, non-empty list", "give at least one number")
    if not np.all(np.abs(array) <= LARGEST):
        raise error(
            field,
            values,
            "holds a NaN, an infinity or a number beyond 1e100",
            "give finite numbers",
        )
    return array


def rising(field: str, values: Any) -> Array:
    """Two or more edges of a histogram."""
    array = numbers(PriorError, field, values)
    if array.size < 2 or np.any(np.diff(array) <= 0):
        raise PriorError(field, values, "they do not rise", "sort them and drop repetitions")
    return array


def weights(field: str, values: Any, *, counts: bool = False) -> Array:
    """Probabilities that sum to one (to 1e-9; the rounding that remains is divided out), or whole numbers as counts."""
    array = numbers(PriorError, field, values)
    if np.any(array < 0):
        raise PriorError(field, values, "holds a negative weight", "give weights of 0 or more")
    total = float(np.sum(array))
    if abs(total - 1) > 1e-9 and not (
        counts and 1 < total < np.inf and np.all(array == np.floor(array))
    ):
        raise PriorError(
            field,
            values,
            f"the weights sum to {total:.12g}",
            "make them sum to 1, or give whole numbers as counts"
            if counts
            else "make them sum to 1",
        )
    return array / total


def scaled(values: Any, factor: float, middle: float) -> Floats:
    """Numbers further from a middle (factor > 1), or closer to it."""
    return tuple((middle + factor * (floats(values) - middle)).tolist())


def frozen(array: Array) -> Array:
    """The same array, read-only, so that a frozen value stays frozen."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array
