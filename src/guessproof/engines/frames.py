"""Frames that are at hand: pandas, polars, Arrow and DuckDB relations, handed to DuckDB as an Arrow table.

Nothing of a frame is copied that Arrow can look at where it lies. A library is recognised by its name, so that none is
imported that the user has not imported already.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from guessproof.engines.files import Source
from guessproof.errors import SourceError

KNOWN = "use a pandas or polars frame, an Arrow table, a DuckDB relation, or a Spark frame"
# What a relation of DuckDB reads row by row from something stored; any other is a query, as a view is.
STORED_RELATIONS = ("TABLE_RELATION", "VALUE_LIST_RELATION", "READ_CSV_RELATION")


def frame_of(source: Any) -> Source:
    """What a user hands in, as an Arrow table.

    >>> frame_of(pa.table({"x": [1.0, 2.0]})).frame.column_names
    ['x']
    """
    library = type(source).__module__.partition(".")[0]
    table, stored = _read(source, library)
    table = table if table is not None and _is_whole(table) else None
    if table is None:
        raise SourceError(f"source: {_problem(source, library)}")
    names = [name.lower() for name in table.column_names]
    if len(set(names)) < len(names):
        raise SourceError("source: two columns of the frame have the same name (capitals do not count); rename one")
    return Source("the frame", "frame", (), is_stored=stored, frame=table)


def _read(source: Any, library: str) -> tuple[pa.Table | None, bool]:
    """The table, or None where it cannot be one. What a library says of a failure may quote values: it is dropped."""
    try:
        if isinstance(source, pa.RecordBatchReader):
            return source.read_all(), True
        if library == "pandas" and hasattr(source, "columns"):
            return pa.Table.from_pandas(source, preserve_index=False), True
        if library in ("duckdb", "_duckdb"):
            return source.to_arrow_table(), str(source.type) in STORED_RELATIONS
        if library == "polars" and hasattr(source, "collect"):
            source = source.collect()
        if hasattr(source, "__arrow_c_stream__") or isinstance(source, pa.RecordBatch):
            return pa.table(source), True
    except Exception:  # noqa: S110
        pass
    return None, False


def _is_whole(table: pa.Table) -> bool:
    """Whether texts are texts and labels are in their lists, as Arrow says: DuckDB believes it unseen."""
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _problem(source: Any, library: str) -> str:
    if library in ("pandas", "polars", "pyarrow", "duckdb", "_duckdb"):
        return (
            f"this {library.lstrip('_')} {type(source).__name__} cannot be read as a table; give one whose columns "
            "have different names and hold values of one type each"
        )
    return f"a {type(source).__name__} is not a table that can be read; {KNOWN}"
