"""What a column can hold (numbers, labels, truth values, times), and validation, once, where a value is made.

Times are days since 1970-01-01, without a time zone, with fractions. A moment is a whole number of microseconds; as
days it is one double, and below `EXACT` days no two moments share one.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from guessproof.errors import InputError, PriorError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
Pair = tuple[float, float]
Floats = tuple[float, ...]

LARGEST = 1e100  # beyond this squares overflow; no unit of measurement needs it

Kind = Literal["number", "label", "truth", "time"]
HOLDS: dict[Kind, str] = {
    "number": "numbers",
    "label": "labels",
    "truth": "truth values",
    "time": "times",
}
KINDS = tuple(HOLDS)

DAY = datetime.timedelta(days=1)
MICROSECONDS = 86_400_000_000  # of a day
EPOCH = datetime.datetime(1970, 1, 1)
EXACT = 65_536.0  # days from 1970, until 2149: a moment is a double that no other one shares
UNITS = {
    "second": 1 / 86_400,
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "year": 365.25,
}
_LENGTH = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([a-z]+?)s?\s*")


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


def label_of(value: Any) -> str:
    """A value as the text that stands for it.

    >>> label_of(True), label_of(2), label_of(2.0), label_of("math")
    ('true', '2', '2', 'math')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def spells(text: str, value: Any) -> bool:
    """Whether a text names a value: the same text, or the same number however it is written."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return text == label_of(value)


def days_of(moment: datetime.date) -> float:
    """A date, or a time, as days since 1970; a time with a zone as it is in UTC.

    >>> days_of(datetime.date(1970, 1, 3)), days_of(datetime.datetime(1970, 1, 1, 18))
    (2.0, 0.75)
    """
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - EPOCH) // datetime.timedelta(microseconds=1) / MICROSECONDS


def moment_of(days: float) -> datetime.datetime:
    """The moment that lies so many days after 1970, to the microsecond; the first or last of all beyond them."""
    try:
        return EPOCH + datetime.timedelta(
            microseconds=round(Fraction(days) * MICROSECONDS)
        )  # a product would round
    except (OverflowError, ValueError):
        return datetime.datetime.max if days > 0 else datetime.datetime.min


def length_of(text: str) -> float | None:
    """A length of time in days; a year has 365.25. None where something else is written.

    >>> length_of("10 years"), length_of("36 hours"), length_of("soon")
    (3652.5, 1.5, None)
    """
    found = _LENGTH.fullmatch(text.lower())
    return None if found is None or found[2] not in UNITS else float(found[1]) * UNITS[found[2]]


def show_time(days: float, error: float | None = None) -> str:
    """A time for people: to the day where it is midnight or may be a day off, to the second elsewhere.

    >>> show_time(3789.0), show_time(0.75), show_time(0.75, error=60.0)
    ('1980-05-17', '1970-01-01 18:00:00', '1970-01-02')
    """
    if not math.isfinite(days):
        return "no time"
    moment = moment_of(round(days) if error is not None and error >= 1 else days)
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.isoformat(sep=" ", timespec="seconds")
