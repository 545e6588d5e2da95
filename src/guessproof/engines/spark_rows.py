"""Rows of Spark as Arrow batches, repacked by the workers and streamed: the driver holds one part at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import pyarrow as pa

PACKED = "packed binary"


def stream(session: Any, sql: str, size: int) -> Generator[pa.RecordBatch]:
    """The rows of a query, at most `size` in a batch."""
    rows: Any = session.sql(sql).mapInArrow(_packer(size), PACKED).toLocalIterator()
    try:
        for row in rows:
            with pa.ipc.open_stream(row[0]) as reader:
                yield from reader
    finally:
        getattr(rows, "close", lambda: None)()  # a stream that is left is let go at once


def _packer(size: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function that a worker runs; it goes there whole, so that nothing of guessproof need be there."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as arrow

        for batch in batches:
            for start in range(0, batch.num_rows, size):
                part = batch.slice(start, size)
                sink = arrow.BufferOutputStream()
                with arrow.ipc.new_stream(sink, part.schema) as writer:
                    writer.write_batch(part)
                packed = arrow.array([sink.getvalue().to_pybytes()], arrow.binary())
                yield arrow.RecordBatch.from_arrays([packed], ["packed"])

    return pack
