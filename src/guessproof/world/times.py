"""Times on a line: days since 1970-01-01, without a time zone, with fractions.

A moment is a whole number of microseconds; as days it is one double, and below `EXACT` days no two moments share one.
"""

from __future__ import annotations

import datetime
import math
import re
from fractions import Fraction

DAY = datetime.timedelta(days=1)
MICROSECONDS = 86_400_000_000  # of a day
EPOCH = datetime.datetime(1970, 1, 1)
EXACT = (
    65_536.0  # days from 1970, until 2149: further out a double is coarser than a microsecond
)
UNITS = {
    "second": 1 / 86_400,
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "year": 365.25,
}
_LENGTH = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([a-z]+?)s?\s*")


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
