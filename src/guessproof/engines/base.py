"""Which engine reads a source, and what engines have in common: how they close, what they refuse, hard values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from guessproof.engines.protocol import Engine
from guessproof.errors import ParameterError, SourceError
from guessproof.names import folded

# Hard values by type: extremes, zeros, NaN, infinities, words.
BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
FLOATS = ("nan", "inf", "-inf", "0", "-0.0", "1e-40", "1")
WORDS = ("x", "", "nan", "1e400", "-1", "0", "9" * 40, "'")
DAYS = ("infinity", "-infinity", "epoch")
NANOSECONDS = ("2262-04-11", "1677-09-22")
EDGES = {"DATE": ("5881580-07-10", "0001-01-01"), "TIMESTAMP_NS": NANOSECONDS, "TIMESTAMPTZ_NS": NANOSECONDS}
# Why a table of a database is no public one.
SHOWS_CONFIDENTIAL = (
    "it shows rows of a confidential table (under another name, or as a view, a partition or the table behind one); "
    "name a public table"
)
UNTOLD = (
    "nothing shows where it has its rows from (it is a table of the system or elsewhere, or a view that calls a "
    "function, or any view of Spark); copy its rows into a public table, or name a csv or parquet file"
)


@dataclass(frozen=True)
class SecretSource:
    """A second table of the same persons: joined like a public one, and as confidential as the first."""

    file: str | None


@dataclass(frozen=True)
class SparkSource:
    """What Spark reads: files, or a table of its catalogue (None); on this machine (None), or by env:NAME elsewhere."""

    files: str | None = None
    remote: str | None = None


# The file of each table that may be joined; None: it is in the same database.
PublicSources = Mapping[str, str | SecretSource | None]


def file_of(source: str | SecretSource | None) -> str | None:
    """The file of a table beside the first; None where it is in the same database."""
    return source.file if isinstance(source, SecretSource) else source


def list_secret(public: PublicSources) -> frozenset[str]:
    """The tables among them that are no public ones."""
    return frozenset(name for name, source in public.items() if isinstance(source, SecretSource))


class SelfClosing(ABC):
    """What every engine does where a block ends."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def unfit_query(table: str, problem: str) -> SourceError:
    """The refusal of a query that a dry run has shown to fail, in words that hold no value."""
    return SourceError(
        f"the query cannot run on table {table!r}: {problem}; "
        "compare it with the names and kinds of the table's columns"
    )


def unasked_public() -> SourceError:
    """The refusal of a question about public tables that fails."""
    return SourceError("a public table cannot be asked; compare [tables] of the plan with its columns")


def open_engine(
    source: Any, table: str, *, timeout: float | None = None, public: PublicSources | None = None
) -> Engine:
    """Open a table for reading.

    `source` is a .csv, .tsv (also .gz), .parquet (a file, a folder, a pattern), .duckdb or .db file, or env:NAME for
    a PostgreSQL database whose address that environment variable holds; or a frame (`engines.frames`), or a
    `SparkSource`.
    `table` is the name under which queries find it. `timeout` is in seconds for each query. Columns are handed on
    as they are stored, those of a CSV file as text: what a query makes of them is its own to say. `public` names
    tables that queries may join, each with its file, or with None where it is a table of the same database.
    """
    if timeout is not None and not 0 < timeout < math.inf:  # a query that is stopped at once would be charged first
        remedy = "give a number of seconds above 0, or leave it out"
        raise ParameterError("timeout", timeout, "is no time to wait", remedy)
    found = (opener(source, table, timeout, public or {}) for opener in OPENERS)
    return next(engine for engine in found if engine is not None)


def reach_ahead(source: Any) -> AbstractContextManager[None]:
    """While it is open: a database is called in the background, so that nobody waits for it later. Files need none."""
    if not isinstance(source, str) or not source.startswith("env:"):
        return nullcontext()
    from guessproof.addresses import calling, read_address

    try:
        return calling(read_address(source))
    except SourceError:  # it is told where the source is opened
        return nullcontext()


def list_tables(source: str | SparkSource) -> list[str] | None:
    """The tables of a database, by name; None for a source whose tables are not listed, as a file that is one."""
    if isinstance(source, SparkSource):
        from guessproof.engines.spark_catalog import names_in_catalog

        return names_in_catalog(source) if source.files is None else None
    if not source.startswith("env:"):
        from guessproof.addresses import find_form
        from guessproof.engines.files import find

        if "://" in source or find_form(source)[0] != "duckdb":
            return None
        from guessproof.engines.duckdb import names_of_tables as names_in_file

        return names_in_file(find(source)) or None
    from guessproof.addresses import read_address
    from guessproof.engines.postgres_tables import names_of_tables

    return names_of_tables(read_address(source))


def _open_file(source: str, table: str, timeout: float | None, public: PublicSources) -> Engine:
    """DuckDB reads every file, and nothing else."""
    if "://" in source:  # never repeated: an address may hold a password
        raise SourceError("source: an address is not supported; put it into an environment variable and write env:NAME")
    from guessproof.engines.duckdb import DuckDB
    from guessproof.engines.files import find

    named = {name: file_of(beside) for name, beside in public.items()}
    files = {name: None if file is None else find(file) for name, file in named.items()}
    return DuckDB(find(source), table, timeout=timeout, public=files, secret=list_secret(public))


def _open_spark(source: Any, table: str, timeout: float | None, public: PublicSources) -> Engine | None:
    """Spark reads what a plan says it reads, and its own frames."""
    if not isinstance(source, SparkSource) and type(source).__module__.partition(".")[0] != "pyspark":
        return None
    from guessproof.engines.spark import open_spark

    return open_spark(source, table, timeout=timeout, public=public)


def _open_frame(source: Any, table: str, timeout: float | None, public: PublicSources) -> Engine | None:
    """A frame in memory is read by DuckDB."""
    if isinstance(source, str):
        return None
    from guessproof.engines.duckdb import DuckDB
    from guessproof.engines.files import find
    from guessproof.engines.frames import frame_of

    named = {name: file_of(beside) for name, beside in public.items()}
    beside = [name for name, file in named.items() if file is None]
    if beside:
        remedy = f'write its file as source = "…" under [tables.{beside[0]}]'
        raise SourceError(f"table {beside[0]!r}: a frame has no database with other tables beside it; {remedy}")
    files = {name: find(file) for name, file in named.items() if file is not None}
    return DuckDB(frame_of(source), table, timeout=timeout, public=files, secret=list_secret(public))


def _open_database(source: str, table: str, timeout: float | None, public: PublicSources) -> Engine | None:
    """PostgreSQL is named by an environment variable that holds its address."""
    if not source.startswith("env:"):
        return None
    from guessproof.addresses import read_address
    from guessproof.engines.postgres import Postgres

    return Postgres(read_address(source), table, timeout=timeout, public=public)


# Asked in turn: each opens a source that is its own, and gives None for any other; the last one says what is possible.
OPENERS: list[Callable[[Any, str, float | None, PublicSources], Engine | None]] = [
    _open_spark,
    _open_frame,
    _open_database,
    _open_file,
]


def count_each(table: str, names: Iterable[str], quoted: Callable[[str], str]) -> str | None:
    """A query that reads every value of these columns; None where there are none. Its failure is all that counts."""
    counts = ", ".join(f"COUNT({quoted(name)})" for name in names)
    return f"SELECT {counts} FROM {quoted(table)}" if counts else None  # noqa: S608


def pick_columns(types: Iterable[str], columns: Collection[str] | None) -> list[str]:
    """The columns of a table that are meant by these names (None: all)."""
    wanted = None if columns is None else {folded(name) for name in columns}
    return [name for name in types if wanted is None or folded(name) in wanted]


def hostile_rows(types: Sequence[str]) -> str:
    """The rows of a VALUES list of the values that make queries fail, for a dry run on columns of these types.

    They are texts that the table casts, in several mixtures. A query that fails on them could fail on the table after
    the charge, and its failure would tell something; it is refused before. The reverse does not hold (a WHERE may hide
    every hostile row), so the rules of `sql` must not lean on this.
    """
    return text_rows([_hostile_values(stored) for stored in types])


def text_rows(values: Sequence[Sequence[str]]) -> str:
    """The same for values that an engine knows to be hard, as texts."""
    return _mixed([["NULL", *map(_quoted, hard)] for hard in values])


def quoted_rows(values: Sequence[Sequence[str]], types: Sequence[str]) -> str:
    """The same for values that an engine knows to be hard, each cast to its type."""
    pairs = zip(values, types, strict=True)
    return _mixed([[f"CAST({cell} AS {kind})" for cell in ("NULL", *map(_quoted, hard))] for hard, kind in pairs])


def _mixed(columns: Sequence[Sequence[str]]) -> str:
    mixtures = [(row, shift) for shift in (0, 1, 3) for row in range(max(map(len, columns)))]
    return ", ".join(
        f"({', '.join(column[(row + shift * place) % len(column)] for place, column in enumerate(columns))})"
        for row, shift in mixtures
    )


def has_hostile_values(stored: str) -> bool:
    """Whether hard values of the type are known.

    >>> has_hostile_values("DECIMAL(18,2)"), has_hostile_values("STRUCT(a INTEGER)")
    (True, False)
    """
    return bool(_hostile_values(stored))


def _hostile_values(stored: str) -> Sequence[str]:
    """Values of one type that are hard to compute with.

    >>> _hostile_values("TINYINT")
    ('-128', '127', '0', '-1')
    """
    if bits := BITS.get(stored):
        return str(-(1 << bits - 1)), str((1 << bits - 1) - 1), "0", "-1"
    if bits := BITS.get(stored.removeprefix("U")):
        return "0", str((1 << bits) - 1)
    if stored.startswith("DECIMAL("):
        digits, places = map(int, stored[8:-1].split(","))
        most = "9" * (digits - places) + "." + "9" * places
        return most, "-" + most, "0"
    if stored in ("FLOAT", "DOUBLE"):
        most = "3.4e38" if stored == "FLOAT" else "1.7e308"
        return (*FLOATS, most, "-" + most)
    if stored.startswith(("DATE", "TIMESTAMP")):
        return *DAYS, *EDGES.get(stored, ("290000-12-31", "0001-01-01"))
    return {"VARCHAR": WORDS, "BOOLEAN": ("true", "false"), "TIME": ("00:00:00", "23:59:59")}.get(stored, ())


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
