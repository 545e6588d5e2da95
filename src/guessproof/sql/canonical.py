"""Python's side of the door: what a stored value is as a number, a label, a truth value or a time.

`targets` writes the same in an engine's SQL. Whatever is stored, both must say the same of it; tests hold them to it.
"""

from __future__ import annotations

import datetime
import math
import re
from enum import Enum
from typing import Any


class Unlisted(Enum):
    """A label that is not among the declared levels: one label like any other, equal to none of them."""

    OTHER = "other"


OTHER = Unlisted.OTHER
Label = str | Unlisted


def _spelt(*words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spell(word) for word in words for spell in (str.lower, str.title, str.upper)))


# What a truth value is called where the plan does not say: these spellings and no others.
TRUE_WORDS = (*_spelt("true", "t", "yes", "y"), "1")
FALSE_WORDS = (*_spelt("false", "f", "no", "n"), "0")

# A time as text: year to day, with hours and minutes, seconds, and a fraction of one if you like. No time zone.
TIME = (
    r"(000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d\d\d)-\d\d-\d\d"
    r"([ T]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?)?"
)
FIRST = datetime.datetime(1, 1, 1)


def number_of(value: Any) -> float | None:
    """A number, or None for what is none; NaN is none.

    >>> number_of("1e3"), number_of(True), number_of("nan"), number_of("x")
    (1000.0, 1.0, None, None)
    """
    if isinstance(value, str) and not value.isascii():
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    except OverflowError:  # a whole number beyond the floats
        return math.copysign(math.inf, int(value))
    return None if math.isnan(number) else number


def time_of(value: Any) -> datetime.datetime | None:
    """A moment without a time zone, or None for what is none.

    >>> time_of("2020-01-31 10:00") == datetime.datetime(2020, 1, 31, 10)
    True
    """
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    if not isinstance(value, str) or not re.fullmatch(TIME, value, re.ASCII):
        return None
    try:
        return datetime.datetime.fromisoformat(value)
    except ValueError:
        return None
