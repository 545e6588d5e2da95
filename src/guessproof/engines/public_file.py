"""A public file as it is handed to a database: numbers and truth values as what they are, all else as texts.

A text of a number is read as a number everywhere, but that of a FLOAT is short of digits, and true is no number; a text
of a moment has no zone, and no more than microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Held = Literal["double", "boolean", "text"]


def held_as(stored: str) -> Held:
    """What a column of a file is for a database, by DuckDB's name of its type.

    >>> [held_as(stored) for stored in ("FLOAT", "DECIMAL(9,2)", "BOOLEAN", "BIGINT", "DATE")]
    ['double', 'double', 'boolean', 'text', 'text']
    """
    if stored in ("FLOAT", "DOUBLE") or (stored.startswith("DECIMAL(") and stored.endswith(")")):
        return "double"
    return "boolean" if stored == "BOOLEAN" else "text"


def write_public(table: str, types: Mapping[str, str]) -> str:
    """DuckDB's query for all rows of a public file."""
    columns = ", ".join(f"{_write(_quote(name), stored)} AS {_quote(name)}" for name, stored in types.items())
    return f"SELECT {columns} FROM {_quote(table)}"  # noqa: S608


def _write(name: str, stored: str) -> str:
    if stored.startswith("DECIMAL("):  # the cast of the widest is off by a digit at times
        return f"CAST(CAST({name} AS VARCHAR) AS DOUBLE)"
    if stored == "FLOAT":
        return f"CAST({name} AS DOUBLE)"
    if stored.startswith(("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")):
        return f"CAST(make_timestamp(epoch_us({name})) AS VARCHAR)"
    if stored == "TIMESTAMP_NS":
        return f"CAST(CAST({name} AS TIMESTAMP) AS VARCHAR)"
    return name if held_as(stored) != "text" else f"CAST({name} AS VARCHAR)"


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
