"""DuckDB, inside this process: it reads one source, writes nothing, and cannot be talked into anything else.

Errors of DuckDB quote values, so none of them is ever passed on or chained: a failure is remembered as the name
of its class, and ours is raised after the `except` block has ended.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from guessproof.engines.base import (
    SelfClosing,
    count_each,
    has_hostile_values,
    hostile_rows,
    pick_columns,
    unasked_public,
    unfit_query,
)
from guessproof.engines.files import Source, header
from guessproof.errors import EngineError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",  # a Python variable must not answer for a table
    "error_on_division_by_zero": "false",  # NULL instead: an error would tell of a zero
    "temp_directory": "",  # rows are never spilled to disk
    # type_pushdown turns TRY_CAST of a CSV column into CAST, which fails (duckdb#23818); statistics_propagation
    # believes Parquet statistics, which leave NaN out, and takes x <= 'Infinity' to be true.
    "disabled_optimizers": "statistics_propagation,type_pushdown",
}
INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
FRAME = "gp_frame"
ENUM = re.compile(r"ENUM\('(?:[^']|'')*'(?:, '(?:[^']|'')*')*\)")
QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE"}
TABLE_NODES = {"BASE_TABLE", "SUBQUERY", "JOIN", "EMPTY", "EXPRESSION_LIST"}
NUMBERS = INTEGERS | {f"U{name}" for name in INTEGERS} | {"FLOAT", "DOUBLE", "DECIMAL", "BIGNUM"}
# Of these a file or a frame holds every value that its bytes can be; any other may hold some that cannot be read.
STURDY = INTEGERS | {f"U{name}" for name in INTEGERS} | {"FLOAT", "DOUBLE", "BOOLEAN", "DATE", "UUID", "BLOB"}
BROKEN_LINE = (
    "some line does not have the columns of the first, has an open quote or is not UTF-8; save the table again as CSV "
    "(UTF-8)"
)
BROKEN_VALUE = (
    "some value cannot be read: a time beyond all times, or a text that is not UTF-8; correct it where it is stored, "
    "or leave the column out"
)
TABLE_TYPE = (
    "SELECT table_type FROM information_schema.tables "
    "WHERE table_catalog = 'gp_source' AND table_schema = 'main' AND lower(table_name) = lower(?)"
)
TABLE_NAMES = (
    "SELECT table_name FROM information_schema.tables "
    "WHERE table_catalog = 'gp_source' AND table_schema = 'main' ORDER BY table_name"
)
WORDS = {
    "ParserException": "DuckDB does not understand it",
    "BinderException": "a column or a type in it does not fit the table",
    "CatalogException": "it uses a function that DuckDB does not have",
    "ConversionException": "a constant in it does not fit the column beside it",
    "InterruptException": "it took too long even on an empty table",
}


class DuckDB(SelfClosing):
    """One table, read through DuckDB."""

    dialect = "duckdb"

    def __init__(
        self,
        source: Source,
        table: str,
        *,
        timeout: float | None,
        public: Mapping[str, Source | None] | None = None,
        secret: frozenset[str] = frozenset(),
    ) -> None:
        self._source = source
        self._table = table
        self._public_sources = dict(public or {})
        self._secret = secret  # those of them that are no public ones
        self._public_types: dict[str, dict[str, str]] = {}
        self._timeout = timeout
        self._faultless: set[tuple[str, bool]] = set()  # the tables that a query may name never change
        self._con = duckdb.connect(":memory:", config={**SETTINGS, "memory_limit": _memory()})
        self._blank, self._hostile = self._con.cursor(), self._con.cursor()
        for con in (self._con, self._blank, self._hostile):  # no bar on a terminal, nor in a notebook
            con.execute("SET enable_progress_bar = false")
        self._tried_before = self._closed = self._is_held = False
        self._stored = bool(source.is_stored)
        try:
            self._types = self._load()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"DuckDB(table={self._table!r})"

    @property
    def is_stored(self) -> bool:
        return self._stored

    def schema(self) -> Mapping[str, str]:
        return {name: _kind(stored) for name, stored in self._types.items()}

    def types(self) -> Mapping[str, str]:
        return dict(self._types)

    def stored(self) -> Mapping[str, str]:
        found, failure = _try(self._collated)
        if failure or found is None:
            raise SourceError(f"source {self._source.said!r}: the types of its columns cannot be read; check the file")
        return found

    def check(self, columns: Collection[str] | None = None) -> None:
        beside = [(name, self._public_sources[name] or self._source, None) for name in sorted(self._secret)]
        for table, source, wanted in ((self._table, self._source, columns), *beside):
            sql = count_each(table, self._fragile(table, source, wanted), _name)
            failure = None if sql is None else _try(lambda sql=sql: self._con.execute(sql).fetchall())[1]
            if failure:
                raise SourceError(f"source {source.said!r}: {BROKEN_LINE if source.form == 'csv' else BROKEN_VALUE}")

    def _fragile(self, table: str, source: Source, wanted: Collection[str] | None) -> list[str]:
        """The columns that must be read to know that they can be. What DuckDB stores itself, it keeps whole."""
        types = self._types if table == self._table else self._public_types[table]
        if source.form == "csv":
            return list(types)
        if source.form == "duckdb":
            return []
        return [name for name in pick_columns(types, wanted) if types[name] not in STURDY]

    def prepare(self, sql: str) -> None:
        problem, failure = _try(lambda: self._fault(sql))
        if not problem and not failure:
            _, failure = _try(lambda: self._run(self._blank, sql))
            problem = failure and WORDS.get(failure)
        if not problem and not failure:
            _, failure = _try(lambda: self._run(self._trial(), sql))
            problem = failure and "some values that its columns can hold make it fail (an overflow, a text, a date)"
        if problem or failure:
            raise unfit_query(self._table, problem or "DuckDB refuses it")

    def aggregates(self, sql: str) -> list[tuple[Any, ...]]:
        rows, failure = _try(lambda: None if self._fault(sql) else self._run(self._con, sql))
        if failure or rows is None:
            raise EngineError
        return rows

    @contextmanager
    def snapshot(self) -> Generator[None]:
        with self._transaction(self._con):
            self._is_held = True
            try:
                yield
            finally:
                self._is_held = False

    def public(self) -> Mapping[str, Mapping[str, str]]:
        return self._public_types

    def ask_public(self, sql: str) -> list[tuple[Any, ...]]:
        rows, failure = _try(lambda: None if self._fault(sql, own=False) else self._run(self._con, sql))
        if failure or rows is None:
            raise unasked_public()
        return rows

    def batches(self, sql: str, size: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        self.prepare(sql)
        return self._streamed(sql, size)

    def exchange(self, frame: Any) -> None:
        """Another frame with the same columns in the place of the one it was opened with: much cheaper than opening."""
        from guessproof.engines.frames import frame_of

        found, before = frame_of(frame), self._source.frame
        if found.frame is None or before is None or found.frame.schema != before.schema:
            raise SourceError("source: only a frame can be exchanged, for one with the same columns; open it instead")
        self._source = found
        self._hand_frame(self._con)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            for con in (self._blank, self._hostile, self._con):
                con.close()

    def _load(self) -> dict[str, str]:
        """Put the table in its place, an empty twin beside it, and lock everything else. Gives its types."""
        reader = _reader(self._source, self._table)
        stored, failure = _try(lambda: self._reading(reader))
        if failure or stored is None:
            raise SourceError(f"source {self._source.said!r}: {_unreadable(self._source, self._table, failure)}")
        self._refuse_mixed(self._source, f"source {self._source.said!r}")
        for name, source in self._public_sources.items():
            self._place_public(name, source)
        self._refuse_confidential()
        _, failure = _try(lambda: self._placed(reader))
        if failure:
            raise SourceError(f"source {self._source.said!r}: {_unreadable(self._source, self._table, failure)}")
        return stored

    def _reading(self, reader: str) -> dict[str, str]:
        """The types that the source stores, read when nothing but the source can be opened any more."""
        run = self._con.execute
        paths = [path for source in self._public_sources.values() if source is not None for path in source.paths]
        if self._source.form == "duckdb":
            run(f"ATTACH {_text(self._source.paths[0])} AS gp_source (READ_ONLY, TYPE duckdb)")
        else:
            paths += self._source.paths
        if paths:  # as a name, and as the pattern that means the name
            run(f"SET allowed_paths = [{', '.join(f'{_text(path)}, {_pattern(path)}' for path in paths)}]")
        self._hand_frame(self._con)
        run("ATTACH ':memory:' AS gp_twin")
        run("SET enable_external_access = false")
        types = _types(run(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {reader})").fetchall())  # noqa: S608
        if self._source.form == "duckdb":
            self._stored = self._is_table(reader, types)
        return types

    def _is_table(self, reader: str, types: Mapping[str, str]) -> bool:
        """Whether it is no view: tables alone number their rows. Where a column is called so, the catalogue is asked.

        Asking it takes a third of all opening, for DuckDB then reads the texts of all its own views.
        """
        run = self._con.execute
        if any(name.lower() == "rowid" for name in types):
            return run(TABLE_TYPE, [self._table]).fetchall() == [("BASE TABLE",)]
        return _try(lambda: run(f"SELECT rowid FROM {reader} AS gp LIMIT 0"))[1] is None  # noqa: S608

    def _refuse_mixed(self, source: Source, said: str) -> None:
        """Before anything is charged: later a value that does not fit would decide whether a query fails."""
        if source.form != "parquet" or len(source.paths) < 2:
            return
        from guessproof.engines.parquet_files import find_mixed

        problem, failure = _try(lambda: find_mixed(self._con.execute, [*map(_pattern, source.paths)], _pattern))
        if problem or failure:
            problem = problem or "its files cannot be read as one table"
            raise SourceError(f"{said}: {problem}; save them again with the same types, or name one of them")

    def _hand_frame(self, con: duckdb.DuckDBPyConnection) -> None:
        """A frame is known to the connection that it is given to, and to no other."""
        if self._source.frame is not None:
            con.register(FRAME, self._source.frame)

    def _place_public(self, name: str, source: Source | None) -> None:
        """A public table under its own name. A file is read once: what is checked is what is asked."""
        if source is not None and source.form == "duckdb":
            raise SourceError(f"table {name!r}: a public table is a csv or parquet file, or one of the same database")
        own = source or self._source
        self._refuse_mixed(own, f"table {name!r}")
        is_copied = source is not None and name not in self._secret
        _, failure = _try(lambda: self._placed_public(name, _reader(own, name), copied=is_copied))
        if failure:
            raise SourceError(f"table {name!r}: {_unreadable(own, name, failure)}")

    def _refuse_confidential(self) -> None:
        """A public table of the same database shows no row of a confidential one."""
        stored = {name for name, source in self._public_sources.items() if source is None}
        if stored <= self._secret:
            return
        from guessproof.engines.duckdb_views import find_public_fault

        confidential = [_reader(self._source, name) for name in (self._table, *(stored & self._secret))]
        for name in sorted(stored - self._secret):
            reader = _reader(self._source, name)
            fault, failure = _try(lambda: find_public_fault(self._con.execute, confidential, reader))  # noqa: B023
            if fault or failure:
                raise SourceError(f"table {name!r}: {fault or _unreadable(self._source, name, failure)}")

    def _placed_public(self, name: str, reader: str, *, copied: bool) -> None:
        run, quoted = self._con.execute, _name(name)
        run(f"CREATE {'TABLE' if copied else 'VIEW'} {quoted} AS SELECT * FROM {reader}")  # noqa: S608
        if name in self._secret:
            run(f"CREATE TABLE gp_twin.main.{quoted} AS SELECT * FROM memory.main.{quoted} LIMIT 0")  # noqa: S608
        else:
            run(f"CREATE VIEW gp_twin.main.{quoted} AS SELECT * FROM memory.main.{quoted}")  # noqa: S608
        self._public_types[name] = _types(run(f"SELECT column_name, column_type FROM (DESCRIBE {quoted})").fetchall())  # noqa: S608

    def _placed(self, reader: str) -> None:
        """The table under its own name, and its twin without rows."""
        name, run = _name(self._table), self._con.execute
        run(f"CREATE VIEW {name} AS SELECT * FROM {reader}")  # noqa: S608
        run(f"CREATE TABLE gp_twin.main.{name} AS SELECT * FROM {name} LIMIT 0")  # noqa: S608
        run("CREATE SCHEMA gp_twin.hostile")
        self._blank.execute("USE gp_twin.main")
        self._hostile.execute("USE gp_twin.hostile")
        run("SET lock_configuration = true")

    def _collated(self) -> dict[str, str]:
        """DESCRIBE leaves collations out; the definition of a table made like the column has them."""
        run, reader = self._con.execute, _reader(self._source, self._table)
        run("CREATE SCHEMA IF NOT EXISTS gp_twin.stored")
        found: dict[str, str] = {}
        for name in self._types:
            run(f"CREATE OR REPLACE TABLE gp_twin.stored.x AS SELECT {_name(name)} AS x FROM {reader} LIMIT 0")  # noqa: S608
            made = run("SELECT sql FROM duckdb_tables() WHERE schema_name = 'stored' AND table_name = 'x'").fetchall()
            stored = str(made[0][0]).split("(x ", 1)[1].removesuffix(";").removesuffix(")")
            found[name] = "ENUM" if stored.startswith("ENUM(") else stored  # its labels may come from the values
        return found

    def _trial(self) -> duckdb.DuckDBPyConnection:
        """Where the table is its twin with hostile rows; they are made when first asked for."""
        if not self._tried_before:
            for name, types in {self._table: self._types, **self._public_types}.items():
                self._make_hostile(name, types)
            self._tried_before = True
        return self._hostile

    def _make_hostile(self, name: str, types: Mapping[str, str]) -> None:
        table, run = _name(name), self._hostile.execute
        run(f"CREATE TABLE {table} AS SELECT * FROM gp_twin.main.{table} LIMIT 0")  # noqa: S608
        known = {column: stored for column, stored in types.items() if has_hostile_values(stored)}
        if known:
            names = ", ".join(map(_name, known))
            run(f"INSERT INTO {table} ({names}) VALUES {hostile_rows([*known.values()])}")  # noqa: S608

    def _fault(self, sql: str, *, own: bool = True) -> str | None:
        if "\0" in sql:  # a text may end there for one reader and go on for the next
            return "it holds a character that no query has"
        if (sql, own) in self._faultless:
            return None
        found = self._blank.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
        beside = self._public_sources.keys() - (frozenset() if own else self._secret)
        fault = find_fault(found[0][0], *([self._table] if own else []), *beside)
        if fault is None:
            self._faultless.add((sql, own))
        return fault

    def _run(self, con: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
        """One query in a transaction that cannot write, stopped when its time is over."""
        clock = None if self._timeout is None else threading.Timer(self._timeout, con.interrupt)
        is_inside = self._is_held and con is self._con
        with nullcontext() if is_inside else self._transaction(con):
            try:
                if clock:
                    clock.start()
                return con.execute(sql).fetchall()
            finally:
                if clock:
                    clock.cancel()

    @contextmanager
    def _transaction(self, con: duckdb.DuckDBPyConnection) -> Generator[None]:
        con.execute("BEGIN TRANSACTION READ ONLY")
        try:
            yield
        finally:
            con.execute("ROLLBACK")

    def _streamed(self, sql: str, size: int) -> Iterator[pa.RecordBatch]:
        failed = False
        cursor = self._con.cursor()
        self._hand_frame(cursor)
        clock = None if self._timeout is None else threading.Timer(self._timeout, cursor.interrupt)
        try:
            if clock:
                clock.start()
            yield from cursor.sql(sql).to_arrow_reader(size)
        except Exception:  # its message may quote a value
            failed = True
        finally:
            if clock:
                clock.cancel()
            cursor.close()
        if failed:
            raise EngineError(charged=False)


def find_fault(serialized: str, *tables: str) -> str | None:
    """What is wrong with a query (as json_serialize_sql writes it), or None where it is one SELECT over these tables.

    DuckDB calls `WITH a AS (INSERT …) SELECT …` and `SUMMARIZE t` a SELECT, so its statement type is not enough:
    what counts is the tree of its own parser.
    """
    tree = json.loads(serialized)
    if tree["error"]:
        return "it is not one SELECT that DuckDB understands"
    if len(tree["statements"]) != 1:
        return "it has more than one statement"
    nodes = list(_nodes(tree))
    known = {table.lower() for table in tables} | {entry["key"].lower() for node in nodes for entry in _ctes(node)}
    return next((problem for node in nodes if (problem := _node_fault(node, known))), None)


def _node_fault(node: dict[str, Any], known: set[str]) -> str | None:
    kind = str(node.get("type", ""))
    if "class" in node:
        return _function_fault(node) if "function_name" in node else None
    if kind.endswith("_NODE") and kind not in QUERY_NODES:
        return "only SELECT is allowed"
    if "alias" in node and "sample" in node:  # what stands after FROM
        if kind not in TABLE_NODES:
            return "only the table itself may stand after FROM"
        if kind == "BASE_TABLE" and (node["table_name"].lower() not in known or node["qualified_name"]["path"][1:]):
            return "it names another table than the plan's"
    return None


def _function_fault(node: dict[str, Any]) -> str | None:
    """A function of another database would be a macro, which can read its tables."""
    if node.get("catalog") or node.get("schema"):
        return "it calls a function of another database"
    return None


def _ctes(node: dict[str, Any]) -> list[dict[str, Any]]:
    found = node.get("cte_map")
    return found["map"] if isinstance(found, dict) else []


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of the tree, without recursion: queries can be nested as deeply as DuckDB reads them."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def names_of_tables(source: Source) -> list[str]:
    """The tables and views of a DuckDB database; none where it cannot be opened, which is said when one is read."""
    with duckdb.connect(":memory:", config={**SETTINGS}) as con:

        def listed() -> list[tuple[str]]:
            con.execute(f"ATTACH {_text(source.paths[0])} AS gp_source (READ_ONLY, TYPE duckdb)")
            con.execute("SET enable_external_access = false")
            return con.execute(TABLE_NAMES).fetchall()

        found, _ = _try(listed)
    return [name for (name,) in found or []]


def _try(work: Callable[[], T]) -> tuple[T | None, str | None]:
    """The result, or the class of the failure and nothing more of it."""
    try:
        return work(), None
    except (SourceError, EngineError):
        raise
    except Exception as error:
        return None, type(error).__name__


def _reader(source: Source, table: str) -> str:
    """What stands after FROM to read the source."""
    if source.form == "frame":
        return FRAME
    if source.form == "duckdb":
        return f"gp_source.main.{_name(table)}"
    files = f"[{', '.join(map(_pattern, source.paths))}]"
    if source.form == "parquet":
        return f"read_parquet({files}, hive_partitioning = false, union_by_name = {len(source.paths) > 1})"
    delimiter, names = header(source)
    columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({files}, auto_detect = false, header = true, delim = {_text(delimiter)}, quote = '\"', "
        f"escape = '\"', compression = '{'gzip' if source.zipped else 'none'}', columns = {{{columns}}})"
    )


def _unreadable(source: Source, table: str, failure: str | None) -> str:
    if source.form == "duckdb" and failure in ("CatalogException", "BinderException"):
        return f"it has no table {table!r} in its schema main; write one of its tables as [data] table"
    if source.form == "duckdb" and failure == "IOException":
        return "it is not a DuckDB database, or another program is writing to it; close that one or check the file"
    return f"it cannot be read as {'CSV' if source.form == 'csv' else source.form}; check the file"


def _types(described: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The types of columns, without the labels of a list: those may come from the values, and refusals quote types.

    >>> _types([("a", "ENUM('it''s', 'b)')[]"), ("b", "STRUCT(c ENUM('x'), d DOUBLE)")])
    {'a': 'ENUM[]', 'b': 'STRUCT(c ENUM, d DOUBLE)'}
    """
    return {name: ENUM.sub("ENUM", stored) for name, stored in described}


def _kind(stored: str) -> str:
    """The kind of a column by DuckDB's name of its type.

    >>> [_kind(stored) for stored in ("DECIMAL(18,2)", "ENUM('a')", "TIMESTAMP WITH TIME ZONE", "DOUBLE[]")]
    ['number', 'text', 'time', 'other']
    """
    if stored.endswith("]"):
        return "other"
    plain = stored.split("(")[0]
    if plain in NUMBERS:
        return "number"
    if plain in ("VARCHAR", "ENUM"):
        return "text"
    if plain == "BOOLEAN":
        return "boolean"
    return "time" if plain.startswith(("DATE", "TIME")) else "other"


def _memory() -> str:
    """Room for scans and caches: bounded whatever the table's size, more where more threads scan."""
    return f"{1024 + 128 * (os.cpu_count() or 1)}MiB"


def _name(name: str) -> str:
    """An identifier, quoted."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: object) -> str:
    """A string, quoted."""
    return "'" + str(value).replace("'", "''") + "'"


def _pattern(path: object) -> str:
    """A path that stands for itself where DuckDB expects a pattern."""
    return _text("".join(f"[{c}]" if c in "*?[" else c for c in str(path)))
