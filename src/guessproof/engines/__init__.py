"""Databases behind one tiny protocol: the table stays where it is, and only aggregates leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guessproof.errors import SourceError

if TYPE_CHECKING:
    from guessproof.engines.base import Engine


def open_engine(source: str, table: str, *, timeout: float | None = None) -> Engine:
    """Open a table for reading.

    `source` is a .csv, .tsv (also .gz), .parquet (a file, a folder, a pattern), .duckdb or .db file, and
    `table` the name under which queries find it. `timeout` is in seconds for each query. Columns are handed on
    as they are stored, those of a CSV file as text: what a query makes of them is its own to say.
    """
    if source.startswith("env:"):
        raise SourceError(
            f"source {source!r}: databases named by an environment variable are not supported yet; "
            "use a .csv, .parquet or .duckdb file"
        )
    if "://" in source:  # never repeated: an address may hold a password
        raise SourceError("source: an address is not supported; use a .csv, .parquet or .duckdb file")
    from guessproof.engines.duckdb import DuckDB
    from guessproof.engines.files import find

    return DuckDB(find(source), table, timeout=timeout)
