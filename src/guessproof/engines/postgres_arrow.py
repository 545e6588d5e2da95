"""Rows of PostgreSQL as Arrow batches, through a cursor that the server keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from psycopg.types.string import TextLoader

if TYPE_CHECKING:
    from psycopg import Connection

# By the number of the type; all others are read as the text that the server writes, so that no day is out of range.
ARROW: dict[int, Any] = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    700: pa.float64(),
    701: pa.float64(),
}


def record_batches(con: Connection[Any], sql: str, size: int) -> Iterator[pa.RecordBatch]:
    """The rows of a query, `size` at a time, inside the transaction that is open."""
    con.execute(f"DECLARE gp_rows NO SCROLL CURSOR FOR {sql}".encode())
    cursor = con.cursor()
    described = con.execute(b"FETCH 0 FROM gp_rows").description or []
    for column in described:
        if column.type_code not in ARROW:
            cursor.adapters.register_loader(column.type_code, TextLoader)
    names = [column.name for column in described]
    kinds = [ARROW.get(column.type_code, pa.string()) for column in described]
    while rows := cursor.execute(f"FETCH {int(size)} FROM gp_rows".encode()).fetchall():
        arrays = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names)
