"""What guessproof asks of every database: names, a dry run, aggregates, and a stream for the owner's own scan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa

# What a column can be, in words that mean the same on every engine.
KINDS = ("number", "text", "boolean", "time", "other")


class Engine(Protocol):
    """One table of one database, opened for reading, with public ones beside it; it closes itself."""

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

    def check(self, columns: Collection[str] | None = None) -> None:
        """Read these columns (None: all) once, as far as reading them can fail: SourceError before anything is charged.

        Later, whether a query fails must not depend on a value of the file: a broken line, a moment beyond all moments,
        bytes that are no text.
        """
        ...

    def prepare(self, sql: str) -> None:
        """Run the query on an empty table of the same schema: SourceError if it does not fit. Never touches values."""
        ...

    def aggregates(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one SELECT over the table. Every failure, a time-out too, is EngineError() and says nothing else."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """While it is open, all aggregates are of one state of the table, as far as the engine knows states."""
        ...

    def batches(self, sql: str, size: int = ...) -> Iterator[pa.RecordBatch]:
        """The rows of one SELECT, streamed in batches of about `size` rows: to the owner's scan, and to noise."""
        ...

    def public(self) -> Mapping[str, Mapping[str, str]]:
        """The public tables that were opened beside it, with the types of their columns."""
        ...

    def ask_public(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one SELECT over public tables alone: SourceError where it fails. Never touches the table itself."""
        ...

    def close(self) -> None:
        """Let go of the source; closing twice does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class TallyingEngine(Protocol):
    """An engine that counts rows where they are, on several machines."""

    def tally(self, sql: str, count: Callable[[Iterator[pa.RecordBatch]], Any]) -> Iterator[Any]:
        """What `count` makes of the rows of one SELECT, part by part: for the owner's internal scan only."""
        ...
