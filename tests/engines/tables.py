"""Small tables for tests, from rows of Python values to the files that guessproof opens."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from guessproof.engines import open_engine
from guessproof.engines.base import Engine

FORMS = ("csv", "parquet", "duckdb")
TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR", datetime.date: "DATE"}
KINDS = {"BOOLEAN": "boolean", "BIGINT": "number", "INTEGER": "number", "DOUBLE": "number", "VARCHAR": "text"}


def write(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    form: str = "csv",
    *,
    table: str = "t",
    types: Mapping[str, str] | None = None,
    name: str | None = None,
) -> str:
    """A file that holds the rows; `types` (DuckDB's names) where the values do not tell, say for an empty table."""
    types = dict(types or {}) or {column: _type([row[column] for row in rows]) for column in rows[0]}
    path = folder / (name or f"{table}.{form}")
    quoted, columns = '"' + table.replace('"', '""') + '"', [column.replace('"', '""') for column in types]
    with duckdb.connect(str(path) if form == "duckdb" else ":memory:") as con:
        described = ", ".join(f'"{column}" {kind}' for column, kind in zip(columns, types.values(), strict=True))
        con.execute(f"CREATE TABLE {quoted} ({described})")
        if rows:
            values = pa.table({str(place): pa.array([row[c] for row in rows]) for place, c in enumerate(types)})
            con.register("gp_rows", values)
            con.execute(f"INSERT INTO {quoted} SELECT * FROM gp_rows")
            con.unregister("gp_rows")
        if form != "duckdb":
            options = "FORMAT csv, HEADER" if form == "csv" else "FORMAT parquet"
            con.execute(f"COPY {quoted} TO '{str(path).replace(chr(39), chr(39) * 2)}' ({options})")
    return str(path)


def opened(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    form: str = "csv",
    *,
    table: str = "t",
    types: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Engine:
    """The rows behind an engine; the columns of a CSV file are texts."""
    types = dict(types or {}) or {column: _type([row[column] for row in rows]) for column in rows[0]}
    source = write(folder, rows, form, table=table, types=types)
    return open_engine(source, table, timeout=timeout)


def _type(values: Sequence[Any]) -> str:
    known = {type(value) for value in values if value is not None}
    return "DOUBLE" if known == {int, float} else TYPES[known.pop()] if known else "VARCHAR"
