"""The engines that the contract is held against: how rows are kept for each, and what it cannot do, with reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from servers import Place

from engines.tables import write

POSTGRES = {"DOUBLE": "double precision", "BIGINT": "bigint", "VARCHAR": "text"}
Rows = Sequence[Mapping[str, Any]]


class Stock(Protocol):
    """Tables of one form, opened by one engine."""

    name: str

    def keep(self, rows: Rows, types: Mapping[str, str], table: str = "t") -> Any:
        """Store rows by types in DuckDB's words, and give the source."""
        ...

    def number(self, column: str) -> str:
        """A column of numbers in the engine's SQL."""
        ...


@dataclass(frozen=True)
class Files:
    """Files that DuckDB reads."""

    name: str
    folder: Path

    def keep(self, rows: Rows, types: Mapping[str, str], table: str = "t") -> str:
        return write(self.folder, rows, self.name, table=table, types=types, name=f"kept.{self.name}")

    def number(self, column: str) -> str:
        return f"TRY_CAST({column} AS DOUBLE)" if self.name == "csv" else column


ARROW = {"DOUBLE": pa.float64(), "BIGINT": pa.int64(), "VARCHAR": pa.string()}


@dataclass(frozen=True)
class Frames:
    """Arrow tables in memory."""

    name: str = "frame"

    def keep(self, rows: Rows, types: Mapping[str, str], table: str = "t") -> pa.Table:
        return pa.table({name: pa.array([row[name] for row in rows], ARROW[kind]) for name, kind in types.items()})

    def number(self, column: str) -> str:
        return column


@dataclass(frozen=True)
class Server:
    """Tables of PostgreSQL."""

    place: Place
    name: str = "postgres"

    def keep(self, rows: Rows, types: Mapping[str, str], table: str = "t") -> str:
        quoted = '"' + table.replace('"', '""') + '"'
        columns = [('"' + name.replace('"', '""') + '"', POSTGRES[kind]) for name, kind in types.items()]
        self.place.con.execute("SET client_min_messages = error")
        self.place.con.execute(f"DROP TABLE IF EXISTS {quoted}")
        self.place.con.execute(f"CREATE TABLE {quoted} ({', '.join(f'{name} {kind}' for name, kind in columns)})")
        with self.place.con.cursor() as cursor, cursor.copy(f"COPY {quoted} FROM STDIN") as copy:
            for row in rows:
                copy.write_row([row[name] for name in types])
        return "env:DATABASE_URL"

    def number(self, column: str) -> str:
        return column


# What a form cannot do, and why: (form, what) → reason. A test that asks for it must then see it fail.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("csv", "types"): "the columns of a CSV file are texts, so that none has a wrong type",
    ("csv", "exact numbers"): "a CSV file has no whole numbers",
}
STOCKS = ("csv", "parquet", "duckdb", "frame", "postgres")
