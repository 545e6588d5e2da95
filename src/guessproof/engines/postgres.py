"""PostgreSQL: one table, read by a role that needs no right but SELECT, in transactions that cannot write.

Its errors quote values and its address holds a password, so neither is ever passed on or chained: a failure is
remembered as its SQLSTATE, and ours is raised after the `except` block has ended.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from guessproof.addresses import Address, attempt, connect
from guessproof.engines.base import (
    BITS,
    SHOWS_CONFIDENTIAL,
    UNTOLD,
    WORDS,
    PublicSources,
    SelfClosing,
    file_of,
    list_secret,
    quoted_rows,
    unasked_public,
    unfit_query,
)
from guessproof.engines.postgres_query import find_fault
from guessproof.engines.postgres_tables import read_behind
from guessproof.engines.public_file import Held, held_as, write_public
from guessproof.engines.standing import StandIns
from guessproof.errors import EngineError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa
    from psycopg import Connection

MOST_ROWS = 20_000  # of a public file
OF_FILES: dict[Held, str] = {"double": "double precision", "boolean": "boolean", "text": "text"}
REFUSED = "PostgreSQL refuses it"
SETTINGS = {
    "search_path": "pg_catalog",  # nobody's function or table answers for one of the system's
    "datestyle": "ISO, YMD",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
}
# The table under its exact name, or the one whose name differs in case only; in a schema that is named, or in sight.
FIND = """
SELECT c.oid, n.nspname, c.relname, c.relkind FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND (
  (lower(c.relname) = lower(%(name)s) AND pg_catalog.pg_table_is_visible(c.oid))
  OR lower(n.nspname || '.' || c.relname) = lower(%(name)s))
ORDER BY (c.relname = %(name)s OR n.nspname || '.' || c.relname = %(name)s) DESC
"""
# Whether what stands below it, partitions of partitions too, is anything but stored tables.
BELOW = """
WITH RECURSIVE below AS (
  SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = %(table)s
  UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN below b ON i.inhparent = b.inhrelid)
SELECT count(*), coalesce(bool_and(c.relispartition AND c.relkind IN ('r', 'p')), true)
FROM below JOIN pg_catalog.pg_class c ON c.oid = below.inhrelid
"""
# A domain is its base, an enumeration just that: its labels may come from the values.
COLUMNS = """
WITH RECURSIVE base AS (
  SELECT a.attnum, a.attname, a.atttypid AS type, a.atttypmod AS modifier, a.attcollation AS collation
  FROM pg_catalog.pg_attribute a WHERE a.attrelid = %(table)s AND a.attnum > 0 AND NOT a.attisdropped
    AND pg_catalog.has_column_privilege(%(table)s, a.attnum, 'SELECT')
  UNION ALL
  SELECT b.attnum, b.attname, t.typbasetype, t.typtypmod, b.collation
  FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.type WHERE t.typtype = 'd')
SELECT b.attname, CASE t.typtype WHEN 'e' THEN 'enum' ELSE pg_catalog.format_type(b.type, b.modifier) END, c.collname
FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.type LEFT JOIN pg_catalog.pg_collation c ON c.oid = b.collation
WHERE t.typtype <> 'd' ORDER BY b.attnum
"""
NUMBERS = ("smallint", "integer", "bigint", "real", "double precision", "numeric")
TEXTS = ("text", "character", "name", "enum")
SAID = {  # by SQLSTATE, or its class
    "42601": "PostgreSQL does not understand it",
    "42883": "it uses a function that PostgreSQL does not have, or not for these types",
    "42501": "the role may not read all of it",
    "57014": "it took too long even on an empty table",
    "42": "a column or a type in it does not fit the table",
    "22": "a constant in it does not fit the column beside it",
}


@dataclass(frozen=True)
class Found:
    """A table as the catalogue has it."""

    schema: str
    name: str
    is_stored: bool
    types: Mapping[str, str]
    collations: Mapping[str, str]

    @property
    def columns(self) -> str:
        return ", ".join(map(_name, self.types))

    @property
    def qualified(self) -> str:
        return f"{_name(self.schema)}.{_name(self.name)}"


@dataclass(frozen=True)
class PublicRows:
    """A public file beside the database: its rows are sent along with each query."""

    types: Mapping[str, str]
    rows: Sequence[Sequence[object]] = field(repr=False)

    @property
    def columns(self) -> str:
        return ", ".join(map(_name, self.types))

    @property
    def qualified(self) -> str:
        texts = ", ".join(f"NULL::text AS {_name(name)}" for name in self.types)
        rows = ", ".join(f"({', '.join(map(_cell, row))})" for row in self.rows)
        all_rows = f"(SELECT {texts} WHERE false{f' UNION ALL VALUES {rows}' if rows else ''}) AS gp_texts"
        typed = ", ".join(f"{_name(name)}::{stored} AS {_name(name)}" for name, stored in self.types.items())
        return f"(SELECT {typed} FROM {all_rows}) AS gp_public"  # noqa: S608


def read_rows(name: str, file: str) -> PublicRows:
    """The rows of a public file."""
    from guessproof.engines.base import open_engine

    with open_engine(file, name) as engine:
        rows = engine.aggregates(write_public(name, engine.types()))
        if len(rows) > MOST_ROWS:
            raise SourceError(
                f"table {name!r}: a file of more than {MOST_ROWS} rows is not sent to PostgreSQL with each query; "
                f"load it into the database and leave out source under [tables.{name}]"
            )
        return PublicRows({column: OF_FILES[held_as(stored)] for column, stored in engine.types().items()}, rows)


class Postgres(SelfClosing):
    """One table, read through psycopg, and public ones beside it."""

    dialect = "postgres"

    def __init__(
        self, address: Address, table: str, *, timeout: float | None, public: PublicSources | None = None
    ) -> None:
        self._address, self._table, self._timeout = address, table, timeout
        self._open: list[Connection[Any]] = []
        self._is_held = False  # whether a snapshot is open
        self._read: dict[str, str | None] = {}
        self._con = self._connect()
        try:
            self._found = self._look(table)
            self._secret = list_secret(public or {})
            named = {name: file_of(beside) for name, beside in (public or {}).items()}
            files = {name: file for name, file in named.items() if file is not None}
            for name in sorted(self._secret & set(files)):
                problem = "a second table of the same persons is not sent to PostgreSQL"
                raise SourceError(f"table {name!r}: {problem}; load it into the database and leave out its source")
            self._public: dict[str, Found | PublicRows] = {
                name: read_rows(name, files[name]) if name in files else self._look(name) for name in public or {}
            }
            self._refuse_confidential()
            self._marks = self._read_marks()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"Postgres(table={self._table!r})"

    @property
    def is_stored(self) -> bool:
        return self._found.is_stored

    def schema(self) -> Mapping[str, str]:
        return {name: _kind(stored) for name, stored in self._found.types.items()}

    def types(self) -> Mapping[str, str]:
        return dict(self._found.types)

    def stored(self) -> Mapping[str, str]:
        found = self._found
        return {n: f"{s} COLLATE {found.collations[n]}" if n in found.collations else s for n, s in found.types.items()}

    def check(self, columns: Collection[str] | None = None) -> None:
        """A server keeps its tables whole by itself; a right that is missing was found when it was opened."""

    def prepare(self, sql: str) -> None:
        problem = self._fault(sql) or self._try(sql)
        if problem:
            raise unfit_query(self._table, problem)

    def _try(self, sql: str) -> str | None:
        """What is wrong with it on no rows, and on hostile ones."""
        found, lost = attempt(lambda: self._try_both(sql))
        return REFUSED if lost else found

    def _try_both(self, sql: str) -> str | None:
        with self.snapshot():
            _, failure = attempt(lambda: self._run(self._on_nothing(sql), read=False))
            if failure:
                return _words(failure) or REFUSED
            hostile = STAND_INS.write_hostile(sql, self._own, self._public)
            _, failure = attempt(lambda: self._run(hostile, read=False))
        return failure and "some values that its columns can hold make it fail (an overflow, a text, a date)"

    def aggregates(self, sql: str) -> list[tuple[Any, ...]]:
        rows, failure = attempt(lambda: None if self._fault(sql) else self._run(self._on_all(sql)))
        if failure or rows is None:
            raise EngineError
        return rows

    @contextmanager
    def snapshot(self) -> Generator[None]:
        with self._reading(self._con):
            self._is_held = True
            try:
                yield
            finally:
                self._is_held = False

    def _fault(self, sql: str) -> str | None:
        """Read once: what is run is the very text that was prepared."""
        if sql not in self._read:
            self._read[sql] = find_fault(sql, self._table, *self._public)
        return self._read[sql]

    def public(self) -> Mapping[str, Mapping[str, str]]:
        return {name: dict(found.types) for name, found in self._public.items()}

    def ask_public(self, sql: str) -> list[tuple[Any, ...]]:
        known = self._public.keys() - self._secret
        rows, failure = attempt(lambda: None if find_fault(sql, *known) else self._run(self._on_nothing(sql)))
        if failure or rows is None:
            raise unasked_public()
        return rows

    def batches(self, sql: str, size: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        self.prepare(sql)
        return self._streamed(sql, size)

    def close(self) -> None:
        while self._open:
            attempt(self._open.pop().close)

    @property
    def _own(self) -> Mapping[str, Found | PublicRows]:
        return {self._table: self._found}

    def _on_all(self, sql: str) -> str:
        return STAND_INS.write_whole(sql, self._own, self._public)

    def _on_nothing(self, sql: str) -> str:
        return STAND_INS.write_empty(sql, self._own, self._public, self._secret)

    def _run(self, asked: str, *, read: bool = True) -> list[tuple[Any, ...]]:
        con = self._con
        with nullcontext() if self._is_held else self._reading(con):
            if self._find_marks(con) != self._marks:  # in one snapshot with the query: what was checked is what is read
                raise SourceError("a public table has changed meanwhile; run it again")
            # In binary form a text is one statement, whatever it holds.
            found = con.execute(_as_query(asked), binary=True)
            return found.fetchall() if read else []  # a dry run has days that Python has not

    def _streamed(self, sql: str, size: int) -> Iterator[pa.RecordBatch]:
        from guessproof.engines.postgres_arrow import record_batches

        failed = False
        try:
            con = self._connect()
            with self._reading(con):
                if self._find_marks(con) != self._marks:  # in one snapshot with the query, as in `_run`
                    raise SourceError("a public table has changed meanwhile; run it again")
                yield from record_batches(con, self._on_all(sql), size)
            self._open.remove(con)
            con.close()
        except GeneratorExit:
            raise
        except Exception:  # its message may quote a value
            failed = True
        if failed:
            raise EngineError(charged=False)

    # The session.

    def _connect(self) -> Connection[Any]:
        con = connect(self._address)
        self._open.append(con)
        return con

    @contextmanager
    def _reading(self, con: Connection[Any]) -> Generator[Connection[Any]]:
        """One snapshot, nothing written, stopped when its time is over."""
        try:
            con.execute(self._begin)  # all in one message: a server may be far away
            yield con
        finally:
            if not con.closed:
                con.execute("ROLLBACK")

    @property
    def _begin(self) -> Any:
        time = 0 if self._timeout is None else max(1, round(self._timeout * 1000))
        settings = {**SETTINGS, "statement_timeout": str(time)}.items()
        calls = ", ".join(f"pg_catalog.set_config({_text(name)}, {_text(value)}, true)" for name, value in settings)
        return _as_query(f"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT {calls}")

    def _read_marks(self) -> list[Any] | None:
        if not self._marked_tables:
            return []
        found, failure = attempt(self._marked)
        if failure:
            raise SourceError(f"source 'env:{self._address.variable}': a public table cannot be read; try psql")
        return found

    def _marked(self) -> list[Any]:
        with self._reading(self._con) as con:
            return self._find_marks(con)

    @property
    def _marked_tables(self) -> list[Found]:
        return [found for found in self._public.values() if isinstance(found, Found)]

    def _find_marks(self, con: Connection[Any]) -> list[Any]:
        """How many rows the public tables of the database have, and a sum of hashes of them."""
        rows = (f"(SELECT {found.columns} FROM {found.qualified}) AS x" for found in self._marked_tables)  # noqa: S608
        marks = "SELECT count(*)::text, coalesce(sum(hashtextextended(x::text, 0)), 0)::text"
        return [con.execute(_as_query(f"{marks} FROM {row}")).fetchall() for row in rows]

    def _look(self, table: str) -> Found:
        found, failure = attempt(lambda: self._find(table))
        if failure or found is None:
            raise SourceError(f"source 'env:{self._address.variable}': {_unreadable(table, failure)}")
        return found

    def _find(self, table: str) -> Found:
        """The table, its columns that the role may read, and that it may indeed read them."""
        con = self._con
        row = self._choose(table, con.execute(FIND, {"name": table}).fetchall())
        oid, schema, name, kind = row
        with self._reading(con):
            below, whole = con.execute(BELOW, {"table": oid}).fetchall()[0]
            columns = con.execute(COLUMNS, {"table": oid}).fetchall()
            stored = kind in ("r", "p") and whole and (kind == "p" or not below)
            types = {str(c): str(t) for c, t, _ in columns}
            found = Found(str(schema), str(name), bool(stored), types, {str(c): str(k) for c, _, k in columns if k})
            if not types:
                raise SourceError(self._no_right(table))
            con.execute(_as_query(f"SELECT {found.columns} FROM {found.qualified} WHERE false"))  # noqa: S608
        return found

    def _refuse_confidential(self) -> None:
        """A public table shows no row of a confidential one, be it under another name, as a view or as a partition."""
        stored = {name: found for name, found in self._public.items() if isinstance(found, Found)}
        if stored.keys() <= self._secret:
            return
        own = [self._found, *(found for name, found in stored.items() if name in self._secret)]
        confidential = {oid for found in own for oid in self._behind(found)}
        for name in stored.keys() - self._secret:
            behind = self._behind(stored[name])
            if confidential & behind.keys():
                raise SourceError(f"table {name!r}: {SHOWS_CONFIDENTIAL}")
            if not all(behind.values()):
                raise SourceError(f"table {name!r}: {UNTOLD}")

    def _behind(self, found: Found) -> dict[int, bool]:
        """The relations that its rows come from, and whether each tells so."""
        behind, failure = attempt(lambda: read_behind(self._con, found.qualified))
        if failure or behind is None:
            raise SourceError(f"source 'env:{self._address.variable}': {_unreadable(found.name, failure)}")
        return behind

    def _choose(self, table: str, rows: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        said = f"source 'env:{self._address.variable}'"
        exact = [r for r in rows if table in (r[2], f"{r[1]}.{r[2]}")]
        rows = exact or rows
        if not rows:
            raise SourceError(
                f"{said}: it has no table {table!r}, or not in a schema where this role looks; write one of its "
                'tables as [data] table, with its schema where it needs one: table = "clinic.visits"'
            )
        if len(rows) > 1:
            several = " and ".join(f"{r[1]}.{r[2]}" for r in rows)
            raise SourceError(f"{said}: {table!r} may be {several}; write one of them as [data] table")
        return rows[0]

    def _no_right(self, table: str) -> str:
        return f"source 'env:{self._address.variable}': {_unreadable(table, '42501')}"


def _whole(found: Found | PublicRows) -> str:
    return f"NOT MATERIALIZED (SELECT {found.columns} FROM {found.qualified})"  # noqa: S608


def _empty(found: Found | PublicRows) -> str:
    return f"MATERIALIZED (SELECT {found.columns} FROM {found.qualified} WHERE false)"  # noqa: S608


def _hostile(found: Found | PublicRows) -> str:
    """No row of the table, and hard values of the types of its columns; of an enumeration nothing is known."""
    known = {name: stored for name, stored in found.types.items() if hostile_values(stored)}
    if not known:
        return _empty(found)
    rows = quoted_rows([hostile_values(stored) for stored in known.values()], [*known.values()])
    names = ", ".join(map(_name, known))
    own = ", ".join(n if name in known else f"NULL AS {n}" for name in found.types for n in (_name(name),))
    empty = f"SELECT {found.columns} FROM {found.qualified} WHERE false"  # noqa: S608
    return f"MATERIALIZED ({empty} UNION ALL SELECT {own} FROM (VALUES {rows}) AS gp_hard ({names}))"  # noqa: S608


STAND_INS = StandIns["Found | PublicRows"](_whole, _empty, _hostile, lambda name: _name(name))


def hostile_values(stored: str) -> Sequence[str]:
    """Values of one type that are hard to compute with.

    >>> hostile_values("smallint"), hostile_values("numeric(4,2)")
    (('-32768', '32767', '0', '-1'), ('99.99', '-99.99', '0', 'NaN'))
    """
    kind, _, rest = stored.partition("(")
    if bits := BITS.get(kind.upper()):
        return str(-(1 << bits - 1)), str((1 << bits - 1) - 1), "0", "-1"
    if kind == "numeric" and not rest:
        return "1e400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "0", "1e-200"
    if kind == "numeric":
        digits, places = map(int, rest.rstrip(")").split(","))
        most = "9" * max(digits - places, 1) + "." + "9" * places if 0 < places < digits else "0"
        return most, "-" + most, "0", "NaN"
    if kind in ("real", "double precision"):
        most, least = ("3.4e38", "1e-44") if kind == "real" else ("1.7e308", "5e-324")
        return "NaN", "Infinity", "-Infinity", "0", "-0.0", "1e-40", "1", least, most, "-" + most
    if kind.startswith(("date", "timestamp")):
        last = "5874897-12-31" if kind == "date" else "294276-12-31"
        return "infinity", "-infinity", "epoch", last, "0001-01-01", "4713-01-01 BC"
    if kind in ("text", "character", "character varying"):
        return (*WORDS, "1e-400", "1_000", "\\", "2020-02-30")
    return {"boolean": ("true", "false"), "uuid": ("0" * 32,), "time without time zone": ("00:00:00", "24:00:00")}.get(
        stored, ()
    )


def _as_query(sql: str) -> Any:
    """Our own text, as psycopg asks for it."""
    return sql.encode()


def _words(failure: str) -> str | None:
    return SAID.get(failure) or SAID.get(failure[:2])


def _unreadable(table: str, failure: str | None) -> str:
    if failure == "42501":
        return f"this role may not read the table {table!r}; its owner can GRANT USAGE on its schema and SELECT on it"
    return f"the table {table!r} cannot be opened; check it with psql"


def _kind(stored: str) -> str:
    """The kind of a column by the name of its type.

    >>> [_kind(s) for s in ("numeric(9,2)", "character varying(3)", "timestamp with time zone", "text[]", "json")]
    ['number', 'text', 'time', 'other', 'other']
    """
    plain = stored.split("(")[0]
    if stored.endswith("]"):
        return "other"
    if plain in NUMBERS:
        return "number"
    if plain.startswith("character") or plain in TEXTS:
        return "text"
    if plain == "boolean":
        return "boolean"
    return "time" if plain.startswith(("date", "time")) else "other"


def _text(value: str | None) -> str:
    """A text, quoted; backslashes mean nothing, as the session's settings say."""
    return "NULL::text" if value is None else "'" + value.replace("'", "''") + "'"


def _cell(value: object) -> str:
    """A value of a public file, as a text."""
    return _text(None if value is None else str(value))


def _name(name: str) -> str:
    """An identifier, quoted."""
    return '"' + name.replace('"', '""') + '"'
