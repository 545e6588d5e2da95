"""The harnesses of engines that need a server: how rows are stored there, and how a connection is cut."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal

import psycopg
from servers import Place

from guessproof.testing.harness import Cells, Harness, quoted
from guessproof.testing.values import (
    CODES,
    DAYS,
    MOMENTS,
    NAMED,
    NUMBERS,
    SINGLES,
    TEXTS,
    ZONED,
    Shelf,
    StoredType,
    as_clock,
    as_day,
    as_moment,
    as_single,
    as_truth,
    named,
    whole,
)


def _short(length: int) -> StoredType:
    """PostgreSQL's character(n): blanks at the end are none of the value."""
    return StoredType(f"character({length})", tuple(t for t in TEXTS if len(t) <= length), lambda t: t.rstrip(" "))


COLLATED = ("C", "POSIX", "ucs_basic", "pg_c_utf8", "pg_unicode_fast")
TYPES = (
    StoredType("text", (*TEXTS, "1e-400", "-1e400", "1e99999", "-1e-99999", ".5", "1_", "_1", "1__0", "nan(1)"), str),
    *(StoredType(f'text COLLATE "{name}"', TEXTS, str) for name in COLLATED),
    StoredType("character varying", TEXTS, str),
    StoredType("character varying(40) COLLATE pg_unicode_fast", TEXTS, str),
    _short(3),
    _short(9),
    StoredType("gp_mood", NAMED, str),
    StoredType("gp_domain", TEXTS, str),
    StoredType("double precision", (*NUMBERS, "5e-324", "1e-200"), float),
    StoredType("real", SINGLES, as_single),
    StoredType("smallint", whole("-32768"), int),
    StoredType("integer", whole("-3", "2147483647"), int),
    StoredType("bigint", whole("-9223372036854775808", "9223372036854775807"), int),
    StoredType("numeric(9,2)", ("0", "1", "2", "2.5", "-3", "12.34", "9999999.99", "NaN"), Decimal),
    StoredType("numeric(38,10)", ("0", "1", "2.5", "-3", "0.1", "12.0000000001"), Decimal),
    StoredType(
        "numeric",
        ("0", "1", "2.5", "-3", "1e400", "-1e400", "1e-400", "-1e-400", "NaN", "Infinity", "-Infinity"),
        Decimal,
    ),
    StoredType("boolean", ("true", "false"), as_truth),
    StoredType("date", DAYS, as_day),
    StoredType("timestamp", MOMENTS, as_moment),
    StoredType("timestamptz", ZONED, as_moment),
    StoredType("time", ("10:00:00", "00:00:00"), as_clock),
    StoredType("interval", ("3 days",), str),
    StoredType("uuid", CODES, uuid.UUID),
    StoredType("bytea", ("black", "1"), str.encode),
    StoredType("bit(3)", ("101",), str),
    StoredType("json", ('"black"', "1"), str),
    StoredType("text[]", ("{a,b}",), str),
    StoredType("money", ("1", "2.5"), str),
)
SHELF = Shelf(
    TYPES,
    {
        "number": ("text", "gp_mood", "double", "real", "smallint", "integer", "bigint", "numeric"),
        "label": ("text", "character", "gp_", "integer", "uuid", "boolean", "date"),
        "truth": ("text", "character", "gp_", "boolean", "smallint"),
        "time": ("text", "date", "timestamp", "gp_domain"),
    },
    doubles=named(TYPES, "double precision"),
    longs=named(TYPES, "bigint"),
    texts=named(TYPES, "text"),
)


class PostgresHarness(Harness):
    """Tables of a schema of its own, found by env:DATABASE_URL."""

    name, shelf = "postgres", SHELF

    def __init__(self, place: Place) -> None:
        self.con, self.schema = place.con, place.schema
        labels = ", ".join("'" + t.replace("'", "''") + "'" for t in NAMED)
        self.con.execute(f"CREATE TYPE gp_mood AS ENUM ({labels}); CREATE DOMAIN gp_domain AS text COLLATE pg_c_utf8")
        self.con.execute("SET client_min_messages = error")

    def keep(self, table: str, columns: Mapping[str, str], rows: Sequence[Cells]) -> str:
        self.con.execute(f"DROP TABLE IF EXISTS {quoted(table)}")
        self.con.execute(f"CREATE TABLE {quoted(table)} ({', '.join(f'{quoted(n)} {t}' for n, t in columns.items())})")
        with self.con.cursor() as cursor, cursor.copy(f"COPY {quoted(table)} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        return "env:DATABASE_URL"

    def cut(self) -> None:
        """Others may share the server: only what reads this schema is ended."""
        busy = "query LIKE '%%gp_asked' AND query LIKE '%%NOT MATERIALIZED%%' AND state = 'active'"
        busy += f" AND query LIKE '%%{self.schema}%%'"
        with psycopg.connect(self.con.info.dsn, autocommit=True) as con:
            asked = (
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {busy} AND datname = current_database()"
            )
            while not con.execute(asked).fetchall():
                pass
