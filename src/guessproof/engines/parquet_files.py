"""Several Parquet files as one table: a column must have one type in all of them.

Where types differ, a value of one file may not fit the type of another, and whether a query fails would depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

SHAPES = """
SELECT min(file_name) FROM (
  SELECT file_name, CAST(list((name, type, type_length, num_children, converted_type, scale, precision, logical_type))
    AS VARCHAR) AS shape
  FROM parquet_schema([{files}]) GROUP BY file_name
) GROUP BY shape ORDER BY 1
"""
TYPES = "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet({file}, hive_partitioning = false))"


def find_mixed(run: Callable[[str], Any], files: Sequence[str], quoted: Callable[[str], str]) -> str | None:
    """The column that has several types, in words; the footers are read, and no value. `files` are quoted paths."""
    shapes = run(SHAPES.format(files=", ".join(files))).fetchall() if len(files) > 1 else []
    if len(shapes) < 2:
        return None
    known: dict[str, str] = {}
    for (file,) in shapes:  # one of each
        for name, stored in run(TYPES.format(file=quoted(file))).fetchall():
            if known.setdefault(name.casefold(), stored) != stored:
                return f"column {name!r} is {known[name.casefold()]} in one of its files and {stored} in another"
    return None
