"""Harnesses of DuckDB: the files that it reads, and frames in memory. They are examples for other engines as well."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa

from guessproof.testing.harness import Cells, Harness, quoted
from guessproof.testing.values import DUCKDB_SHELF, NUMBERS, TEXTS, Shelf, StoredType, whole

# An empty cell of a CSV file is missing, quoted or not.
_IN_CSV = StoredType("VARCHAR", tuple(text for text in TEXTS if text), str)
CSV_SHELF = Shelf(
    (_IN_CSV,),
    dict.fromkeys(DUCKDB_SHELF.fitting, ("VARCHAR",)),
    doubles=replace(_IN_CSV, texts=NUMBERS),
    longs=replace(_IN_CSV, texts=whole()),
    texts=_IN_CSV,
)
# Types that Parquet and Arrow write as another one, which holds less.
_NARROWED = ("HUGEINT", "UHUGEINT", "BIGNUM", "BIT", "INTERVAL")
ARROW_SHELF = replace(DUCKDB_SHELF, types=tuple(found for found in DUCKDB_SHELF.types if found.type not in _NARROWED))
SHELVES = {"csv": CSV_SHELF, "parquet": ARROW_SHELF, "duckdb": DUCKDB_SHELF, "frame": ARROW_SHELF}


class DuckDBHarness(Harness):
    """Rows in a file of one form ("csv", "parquet", "duckdb"), or in an Arrow table ("frame")."""

    def __init__(self, form: str) -> None:
        self.name, self.shelf = form, SHELVES[form]

    def keep(self, table: str, columns: Mapping[str, str], rows: Sequence[Cells]) -> Any:
        path = self.folder / f"kept.{self.name}"
        path.unlink(missing_ok=True)
        if self.name == "csv":
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([columns, *rows])
            return str(path)
        with duckdb.connect(str(path) if self.name == "duckdb" else ":memory:") as con:
            _fill(con, table, columns, rows)
            if self.name == "frame":
                return con.sql(f"SELECT * FROM {quoted(table)}").to_arrow_table()
            if self.name == "parquet":
                con.execute(f"COPY {quoted(table)} TO {_text(str(path))} (FORMAT parquet)")
        return str(path)

    def number(self, column: str) -> str:
        return f"TRY_CAST({column} AS DOUBLE)" if self.name == "csv" else column


def _fill(con: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, str], rows: Sequence[Cells]) -> None:
    con.execute(f"CREATE TABLE {quoted(table)} ({', '.join(f'{quoted(n)} {t}' for n, t in columns.items())})")
    cells = {str(i): pa.array([row[i] for row in rows], pa.string()) for i in range(len(columns))}
    con.register("gp_arriving", pa.table(cells))
    con.execute(f"INSERT INTO {quoted(table)} SELECT * FROM gp_arriving")
    con.unregister("gp_arriving")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
