"""Every way in which an engine can store a column, with values that are hard to read, and what they are in Python."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

WORDS = "black|Black|BLACK|bläck|bla\u0308ck|black | black||bay|Bay|1|1.0|0|01|-1"
TRUTHS = "yes|Yes|YES|no|NO|y|n|t|f|T|true|True|TRUE|false|False|on|unknown"
FIGURES = "nan|inf|-Infinity|1e3|1e400|1_0| 7 |+2.5|0x1F|１|x'y|2.5|12d|5."
DATES = "2020-01-31|2020-01-31 10:00|2020-01-31T10:00:00|2020-1-31|2020-02-30|infinity|2020-01-31 24:00:00"
CLOCKS = "2020-01-31 10:00:00.25|2020-01-31 10:00:00Z|epoch|2019-12-31 23:59:59"
TEXTS = tuple("|".join((WORDS, TRUTHS, FIGURES, DATES, CLOCKS)).split("|"))
FINITE = ("0", "1", "2", "2.5", "-3", "10", "12", "0.1", "1e300", "-1e300", "-0.0", "3.0000000000000004")
NUMBERS = (*FINITE, "nan", "inf", "-inf")
SINGLES = (*FINITE[:8], "nan", "inf", "-inf")
DAYS = ("2020-01-31", "2019-12-31", "0001-01-01", "2021-06-01")
MOMENTS = (
    *("2020-01-31 10:00:00", "2020-01-31 00:00:00", "2019-12-31 23:59:59"),
    *("0001-01-01 00:00:00", "2021-06-01 12:30:45"),
)
ZONED = tuple(f"{t}+02:00" for t in MOMENTS[:3] + MOMENTS[4:])
CODES = ("11111111-1111-1111-1111-111111111111", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")
COLLATIONS = ("NOCASE", "NOACCENT", "NFC", "NOCASE.NOACCENT", "NOACCENT.NFC", "de", "tr", "en_us", "C", "POSIX")


@dataclass(frozen=True)
class StoredType:
    """A type in the engine's words, texts that are cast to it, and Python's value of each."""

    type: str
    texts: tuple[str, ...]
    value: Callable[[str], Any]


@dataclass(frozen=True)
class Shelf:
    """Every type by which an engine can store a column; how each kind is mostly stored; the plainest of four.

    `fitting` has the beginnings of the types that can hold a kind ("number", "label", "truth", "time"). A kind that is
    stored by one of them must be read as Python reads it; by any other it may also be refused.
    """

    types: tuple[StoredType, ...]
    fitting: Mapping[str, tuple[str, ...]]
    doubles: StoredType
    longs: StoredType
    texts: StoredType

    def fits(self, kind: str) -> list[StoredType]:
        """The types that can hold a kind; an array of them can not."""
        single = (stored for stored in self.types if "[" not in stored.type)
        return [stored for stored in single if stored.type.startswith(self.fitting[kind])]


def whole(*texts: str) -> tuple[str, ...]:
    """Whole numbers, and the extremes of a type."""
    return ("0", "1", "2", "10", *texts)


def as_truth(text: str) -> bool:
    """Python's value of true and false.

    >>> as_truth("false")
    False
    """
    return text == "true"


def as_single(text: str) -> float:
    """Python's value of a number with 24 bits.

    >>> as_single("0.1") == 0.1, as_single("2.5")
    (False, 2.5)
    """
    with np.errstate(over="ignore"):
        return float(np.float32(text))


as_moment = datetime.datetime.fromisoformat
as_day = datetime.date.fromisoformat
as_clock = datetime.time.fromisoformat
NAMED = tuple(t for t in TEXTS if t)
IN_DUCKDB = (
    StoredType("VARCHAR", TEXTS, str),
    *(StoredType(f"VARCHAR COLLATE {name}", TEXTS, str) for name in COLLATIONS),
    StoredType("CHAR(3)", TEXTS, str),
    StoredType("ENUM(" + ", ".join("'" + t.replace("'", "''") + "'" for t in NAMED) + ")", NAMED, str),
    StoredType("DOUBLE", NUMBERS, float),
    StoredType("FLOAT", SINGLES, as_single),
    StoredType("TINYINT", whole("-128", "127"), int),
    StoredType("SMALLINT", whole("-32768"), int),
    StoredType("INTEGER", whole("-3", "2147483647"), int),
    StoredType("BIGINT", whole("-9223372036854775808", "9223372036854775807"), int),
    StoredType("HUGEINT", whole("-170141183460469231731687303715884105727"), int),
    StoredType("UTINYINT", whole("255"), int),
    StoredType("UBIGINT", whole("18446744073709551615"), int),
    StoredType("UHUGEINT", whole("340282366920938463463374607431768211455"), int),
    StoredType("BIGNUM", whole("1" + "0" * 30), int),
    StoredType("DECIMAL(9,2)", ("0", "1", "2", "2.5", "-3", "12.34", "9999999.99"), Decimal),
    StoredType("DECIMAL(38,10)", ("0", "1", "2.5", "-3", "0.1", "12.0000000001"), Decimal),
    StoredType("BOOLEAN", ("true", "false"), as_truth),
    StoredType("DATE", DAYS, as_day),
    *(StoredType(t, MOMENTS, as_moment) for t in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS")),
    StoredType("TIMESTAMP_NS", MOMENTS[:3] + MOMENTS[4:], as_moment),
    StoredType("TIMESTAMPTZ", ZONED, as_moment),
    StoredType("TIME", ("10:00:00", "00:00:00"), as_clock),
    StoredType("INTERVAL", ("3 days",), str),
    StoredType("UUID", CODES, uuid.UUID),
    StoredType("BLOB", ("black", "1"), str.encode),
    StoredType("BIT", ("101", "1"), str),
    StoredType("JSON", ('"black"', "1"), str),
)
WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "UBIGINT", "UHUGEINT")


def named(types: tuple[StoredType, ...], name: str) -> StoredType:
    """A type by its name."""
    return next(stored for stored in types if stored.type == name)


DUCKDB_SHELF = Shelf(
    IN_DUCKDB,
    {
        "number": ("VARCHAR", "ENUM", "DOUBLE", "FLOAT", "DECIMAL", *WHOLE_TYPES),
        "label": ("VARCHAR", "CHAR", "ENUM", "INTEGER", "UUID", "BOOLEAN", "DATE", "BIGNUM"),
        "truth": ("VARCHAR", "CHAR", "ENUM", "BOOLEAN", "TINYINT"),
        "time": ("VARCHAR", "DATE", "TIMESTAMP"),
    },
    doubles=named(IN_DUCKDB, "DOUBLE"),
    longs=named(IN_DUCKDB, "BIGINT"),
    texts=named(IN_DUCKDB, "VARCHAR"),
)
