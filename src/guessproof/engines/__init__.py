"""Databases behind one tiny protocol: the table stays where it is, and only aggregates leave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from guessproof.errors import SourceError

if TYPE_CHECKING:
    from guessproof.engines.base import Engine


def open_engine(
    source: str, table: str, *, timeout: float | None = None, kinds: Mapping[str, str] | None = None
) -> Engine:
    """Open a table for reading.

    `source` is a .csv, .tsv (also .gz), .parquet (a file, a folder, a pattern), .duckdb or .db file, and
    `table` the name under which queries find it. `timeout` is in seconds for each query. `kinds` are the
    kinds that the plan declares for columns ("number", "text", "boolean", "time"): they win over what the
    file stores, and a value that does not fit is NULL. A CSV file declares nothing: its columns are text
    unless `kinds` says otherwise.
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

    return DuckDB(find(source), table, timeout=timeout, kinds=kinds or {})
