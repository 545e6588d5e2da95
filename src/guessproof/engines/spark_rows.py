"""Rows of Spark, where they are asked one by one: streamed as Arrow batches, or counted by the workers themselves."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pyarrow as pa

PACKED = "packed binary"
Batches = Iterator[pa.RecordBatch]


def stream(frame: Any, size: int) -> Generator[pa.RecordBatch]:
    """The rows of a frame, at most `size` in a batch; the driver holds some batches at a time."""
    if hasattr(frame, "_jdf"):
        yield from _unpack(frame.mapInArrow(_packer(size), PACKED))
        return
    parts = frame.sparkSession.client.to_table_as_iterator(
        frame._plan.to_proto(frame.sparkSession.client), frame._plan.observations
    )
    try:
        for part in parts:
            if isinstance(part, pa.Table):
                yield from part.to_batches(max_chunksize=size)
    finally:
        parts.close()  # a stream that is left is let go at once


def _unpack(packed: Any) -> Iterator[pa.RecordBatch]:
    for row in packed.toLocalIterator():
        with pa.ipc.open_stream(row[0]) as reader:
            yield from reader


def _packer(size: int) -> Callable[[Batches], Batches]:
    """A function that a worker runs; it goes there whole, so that nothing of guessproof need be there."""

    def pack(batches: Batches) -> Batches:
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


def tally(frame: Any, count: Callable[[Batches], Any]) -> Generator[Any]:
    """What `count` makes of the rows of each part, computed by the workers: only that travels."""
    for row in frame.mapInArrow(_counter(count), PACKED).toLocalIterator():
        yield pickle.loads(row[0])  # noqa: S301 - written by our own workers


def _counter(count: Callable[[Batches], Any]) -> Callable[[Batches], Batches]:
    def counted(batches: Batches) -> Batches:
        import pickle as pickling

        import pyarrow as arrow

        found = arrow.array([pickling.dumps(count(batches))], arrow.binary())
        yield arrow.RecordBatch.from_arrays([found], ["packed"])

    return counted


def workers_version(session: Any) -> str | None:
    """Which guessproof a worker has; None where it has none."""

    def look(batches: Batches) -> Batches:
        import pyarrow as arrow

        try:
            from guessproof import __version__ as found
        except ImportError:
            found = None
        for _ in batches:
            yield arrow.RecordBatch.from_arrays([arrow.array([found], arrow.string())], ["version"])

    rows = session.range(0, 1, 1, 1).mapInArrow(look, "version string").collect()
    return rows[0][0]
