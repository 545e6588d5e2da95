"""Every way in which an engine can store a column, with values that are hard to read, and what they are in Python."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

COLLATIONS = ("NOCASE", "NOACCENT", "NFC", "NOCASE.NOACCENT", "NOACCENT.NFC", "de", "tr", "en_us", "C", "POSIX")
TEXTS = (
    *(
        "black",
        "Black",
        "BLACK",
        "bläck",
        "bla\u0308ck",
        "black ",
        " black",
        "",
        "bay",
        "Bay",
        "1",
        "1.0",
        "0",
        "01",
        "-1",
    ),
    *(
        "yes",
        "Yes",
        "YES",
        "no",
        "NO",
        "y",
        "n",
        "t",
        "f",
        "T",
        "true",
        "True",
        "TRUE",
        "false",
        "False",
        "on",
        "unknown",
    ),
    *("nan", "inf", "-Infinity", "1e3", "1e400", "1_0", " 7 ", "+2.5", "0x1F", "１", "x'y", "2.5", "12d", "5."),
    *(
        "2020-01-31",
        "2020-01-31 10:00",
        "2020-01-31T10:00:00",
        "2020-1-31",
        "2020-02-30",
        "infinity",
        "2020-01-31 24:00:00",
    ),
    *("2020-01-31 10:00:00.25", "2020-01-31 10:00:00Z", "epoch", "2019-12-31 23:59:59"),
)
NUMBERS = (
    "0",
    "1",
    "2",
    "2.5",
    "-3",
    "10",
    "12",
    "1e300",
    "-1e300",
    "0.1",
    "nan",
    "inf",
    "-inf",
    "-0.0",
    "3.0000000000000004",
)
MOMENTS = (
    "2020-01-31 10:00:00",
    "2020-01-31 00:00:00",
    "2019-12-31 23:59:59",
    "0001-01-01 00:00:00",
    "2021-06-01 12:30:45",
)
CODES = ("11111111-1111-1111-1111-111111111111", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")


@dataclass(frozen=True)
class Storage:
    """A type, texts that are cast to it, and Python's value of each."""

    type: str
    texts: tuple[str, ...]
    value: Callable[[str], Any]


@dataclass(frozen=True)
class Shelf:
    """Every way in which an engine can store a column, and by which of them a kind is mostly stored."""

    storages: tuple[Storage, ...]
    fitting: dict[str, tuple[str, ...]]
    plain: Storage  # doubles


def _whole(*texts: str) -> tuple[str, ...]:
    return ("0", "1", "2", "10", *texts)


def _truth(text: str) -> bool:
    return text == "true"


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def _day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def _single(text: str) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(text))


ENUM = tuple(t for t in TEXTS if t)
STORAGES = (
    Storage("VARCHAR", TEXTS, str),
    *(Storage(f"VARCHAR COLLATE {name}", TEXTS, str) for name in COLLATIONS),
    Storage("CHAR(3)", TEXTS, str),
    Storage("ENUM(" + ", ".join("'" + t.replace("'", "''") + "'" for t in ENUM) + ")", ENUM, str),
    Storage("DOUBLE", NUMBERS, float),
    Storage("FLOAT", ("0", "1", "2", "2.5", "-3", "10", "12", "0.1", "nan", "inf", "-inf"), _single),
    Storage("TINYINT", _whole("-128", "127"), int),
    Storage("SMALLINT", _whole("-32768"), int),
    Storage("INTEGER", _whole("-3", "2147483647"), int),
    Storage("BIGINT", _whole("-9223372036854775808", "9223372036854775807"), int),
    Storage("HUGEINT", _whole("-170141183460469231731687303715884105727"), int),
    Storage("UTINYINT", _whole("255"), int),
    Storage("UBIGINT", _whole("18446744073709551615"), int),
    Storage("UHUGEINT", _whole("340282366920938463463374607431768211455"), int),
    Storage("BIGNUM", _whole("1" + "0" * 30), int),
    Storage("DECIMAL(9,2)", ("0", "1", "2", "2.5", "-3", "12.34", "9999999.99"), Decimal),
    Storage("DECIMAL(38,10)", ("0", "1", "2.5", "-3", "0.1", "12.0000000001"), Decimal),
    Storage("BOOLEAN", ("true", "false"), _truth),
    Storage("DATE", ("2020-01-31", "2019-12-31", "0001-01-01", "2021-06-01"), _day),
    *(Storage(t, MOMENTS, _moment) for t in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS")),
    Storage("TIMESTAMP_NS", MOMENTS[:3] + MOMENTS[4:], _moment),
    Storage("TIMESTAMPTZ", tuple(f"{t}+02:00" for t in MOMENTS[:3] + MOMENTS[4:]), _moment),
    Storage("TIME", ("10:00:00", "00:00:00"), datetime.time.fromisoformat),
    Storage("INTERVAL", ("3 days",), str),
    Storage("UUID", CODES, uuid.UUID),
    Storage("BLOB", ("black", "1"), str.encode),
    Storage("BIT", ("101", "1"), str),
    Storage("JSON", ('"black"', "1"), str),
)
FITTING = {
    "number": (
        "VARCHAR",
        "ENUM",
        "DOUBLE",
        "FLOAT",
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "DECIMAL",
        "U",
    ),
    "label": ("VARCHAR", "CHAR", "ENUM", "INTEGER", "UUID", "BOOLEAN", "DATE", "BIGNUM"),
    "truth": ("VARCHAR", "CHAR", "ENUM", "BOOLEAN", "TINYINT"),
    "time": ("VARCHAR", "DATE", "TIMESTAMP"),
}
DUCKDB = Shelf(STORAGES, FITTING, next(s for s in STORAGES if s.type == "DOUBLE"))


def _short(length: int) -> Storage:
    """PostgreSQL's character(n): blanks at the end are none of the value."""
    return Storage(f"character({length})", tuple(t for t in TEXTS if len(t) <= length), lambda t: t.rstrip(" "))


# Enumerations of PostgreSQL have a name; `written` makes it.
MOODS = tuple(t for t in TEXTS if t)
IN_POSTGRES = (
    Storage("text", (*TEXTS, "1e-400", "-1e400", "1e99999", "-1e-99999", ".5", "1_", "_1", "1__0", "nan(1)"), str),
    *(
        Storage(f'text COLLATE "{name}"', TEXTS, str)
        for name in ("C", "POSIX", "ucs_basic", "pg_c_utf8", "pg_unicode_fast")
    ),
    Storage("character varying", TEXTS, str),
    Storage("character varying(40) COLLATE pg_unicode_fast", TEXTS, str),
    _short(3),
    _short(9),
    Storage("gp_mood", MOODS, str),
    Storage("gp_domain", TEXTS, str),
    Storage("double precision", (*NUMBERS, "5e-324", "1e-200"), float),
    Storage("real", ("0", "1", "2", "2.5", "-3", "10", "12", "0.1", "nan", "inf", "-inf"), _single),
    Storage("smallint", _whole("-32768"), int),
    Storage("integer", _whole("-3", "2147483647"), int),
    Storage("bigint", _whole("-9223372036854775808", "9223372036854775807"), int),
    Storage("numeric(9,2)", ("0", "1", "2", "2.5", "-3", "12.34", "9999999.99", "NaN"), Decimal),
    Storage("numeric(38,10)", ("0", "1", "2.5", "-3", "0.1", "12.0000000001"), Decimal),
    Storage(
        "numeric",
        ("0", "1", "2.5", "-3", "1e400", "-1e400", "1e-400", "-1e-400", "NaN", "Infinity", "-Infinity"),
        Decimal,
    ),
    Storage("boolean", ("true", "false"), _truth),
    Storage("date", ("2020-01-31", "2019-12-31", "0001-01-01", "2021-06-01"), _day),
    Storage("timestamp", MOMENTS, _moment),
    Storage("timestamptz", tuple(f"{t}+02:00" for t in MOMENTS[:3] + MOMENTS[4:]), _moment),
    Storage("time", ("10:00:00", "00:00:00"), datetime.time.fromisoformat),
    Storage("interval", ("3 days",), str),
    Storage("uuid", CODES, uuid.UUID),
    Storage("bytea", ("black", "1"), str.encode),
    Storage("bit(3)", ("101",), str),
    Storage("json", ('"black"', "1"), str),
    Storage("text[]", ("{a,b}",), str),
    Storage("money", ("1", "2.5"), str),
)
POSTGRES = Shelf(
    IN_POSTGRES,
    {
        "number": ("text", "gp_mood", "double", "real", "smallint", "integer", "bigint", "numeric", "boolean"),
        "label": ("text", "character", "gp_", "integer", "uuid", "boolean", "date"),
        "truth": ("text", "character", "gp_", "boolean", "smallint"),
        "time": ("text", "date", "timestamp", "gp_domain"),
    },
    next(s for s in IN_POSTGRES if s.type == "double precision"),
)
