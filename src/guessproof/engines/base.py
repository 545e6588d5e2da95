"""What guessproof asks of a database: names, a dry run, aggregates, and a stream for the owner's own scan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    import pyarrow as pa

# What a column can be, in words that mean the same on every engine.
KINDS = ("number", "text", "boolean", "time", "other")


class Engine(Protocol):
    """One table of one database, opened for reading; a context manager that closes itself."""

    @property
    def dialect(self) -> str:
        """sqlglot's name of the SQL that this engine speaks."""
        ...

    @property
    def is_stored(self) -> bool:
        """Whether every row is stored as such: a table or a file. The rows of a view may repeat one record."""
        ...

    def schema(self) -> Mapping[str, str]:
        """Column names and what each is (one of `KINDS`). Never a value."""
        ...

    def types(self) -> Mapping[str, str]:
        """Column names and by which type each is stored, in the engine's own words. Never a value."""
        ...

    def stored(self) -> Mapping[str, str]:
        """The same with collations, and without the labels of a list, which may come from the values. Never a value."""
        ...

    def check(self) -> None:
        """Read the source once, so that a broken file is found before anything is charged: SourceError."""
        ...

    def prepare(self, sql: str) -> None:
        """Run the query on an empty table of the same schema: SourceError if it does not fit. Never touches values."""
        ...

    def aggregates(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one SELECT over the table. Every failure, a time-out too, is EngineError() and says nothing else."""
        ...

    def batches(self, sql: str, size: int = ...) -> Iterator[pa.RecordBatch]:
        """The rows of one SELECT, streamed in batches of about `size` rows: for the owner's internal scan only."""
        ...

    def close(self) -> None:
        """Let go of the source; closing twice does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
