"""Spark: one table of files, of the catalogue or of a frame; everything is computed there, only aggregates come back.

What is sent are SELECTs of which every part is known to be harmless. What Spark says of a failure quotes values, so
none of it is ever passed on or chained.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from guessproof._version import __version__
from guessproof.engines.base import (
    PublicSources,
    SelfClosing,
    SparkSource,
    count_each,
    file_of,
    list_secret,
    unasked_public,
    unfit_query,
)
from guessproof.engines.spark_query import find_fault
from guessproof.engines.spark_rows import stream, tally, workers_version
from guessproof.engines.spark_session import (
    SettledSession,
    attempt_quietly,
    borrow,
    open_local,
    open_remote,
    settle,
)
from guessproof.engines.spark_tables import (
    ViewedTable,
    copy_public,
    kind_of,
    quote_name,
    read_catalog,
    read_files,
    read_frame,
)
from guessproof.engines.standing import StandIns
from guessproof.errors import EngineError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

STAND_INS = StandIns[ViewedTable](
    lambda found: f"({found.whole})", lambda found: f"({found.empty})", lambda found: f"({found.hostile})", quote_name
)
MOST_TRIED = 256  # dry runs that a session remembers
SAID = {  # by the condition that Spark names, or what it begins with
    "PARSE_SYNTAX_ERROR": "Spark does not understand it",
    "UNRESOLVED_ROUTINE": "it uses a function that Spark does not have",
    "UNRESOLVED_COLUMN": "a column or a type in it does not fit the table",
    "DATATYPE_MISMATCH": "a column or a type in it does not fit the table",
    "CAST_INVALID_INPUT": "a constant in it does not fit the column beside it",
    "OPERATION_CANCELED": "it took too long even on an empty table",
}


def open_spark(
    source: SparkSource | Any, table: str, *, timeout: float | None, public: PublicSources | None = None
) -> Spark:
    """Open a table of Spark, or a frame, and the tables that queries may join."""
    own = open_session(source)
    try:
        if isinstance(source, SparkSource):
            found = _find(own, source, table)
        else:  # the view first: a frame means what its own session understands by it
            found = read_frame(own, source)
            settle(own, "source")
        secret = list_secret(public or {})
        beside: dict[str, ViewedTable] = {}
        for name in sorted(public or {}, key=lambda name: name not in secret):  # first what is confidential
            confidential = [found, *(beside[other] for other in secret if other in beside)]
            beside[name] = _beside(own, source, name, file_of((public or {})[name]), name in secret, confidential)
    except BaseException:
        own.close()
        raise
    return Spark(own, table, found, beside, secret, timeout)


def open_session(source: SparkSource | Any) -> SettledSession:
    """That of a frame, or one on this machine or elsewhere."""
    if not isinstance(source, SparkSource):
        return borrow(source)
    if source.remote is None:
        return open_local()
    from guessproof.addresses import SPARK, read_address

    return open_remote(read_address(source.remote, what="remote", server=SPARK))


def _find(own: SettledSession, source: SparkSource, table: str) -> ViewedTable:
    if source.files is None:
        return read_catalog(own, table)
    return read_files(own, source.files, remote=source.remote is not None)


def _beside(
    own: SettledSession, source: Any, name: str, file: str | None, is_secret: bool, confidential: Sequence[ViewedTable]
) -> ViewedTable:
    """A public table is copied, a second one of the same persons is not."""
    if not is_secret:
        return copy_public(own, name, file, confidential)
    if file is None:
        return read_catalog(own, name)
    return read_files(own, file, remote=isinstance(source, SparkSource) and source.remote is not None)


class Spark(SelfClosing):
    """One table, read through a session of Spark, and others beside it."""

    dialect = "spark"

    def __init__(
        self,
        own: SettledSession,
        table: str,
        found: ViewedTable,
        beside: Mapping[str, ViewedTable],
        secret: frozenset[str],
        timeout: float | None,
    ) -> None:
        self._own, self._table, self._found, self._beside = own, table, found, beside
        self._secret, self._timeout = secret, timeout
        self._faults: dict[str, str | None] = {}

    def __repr__(self) -> str:
        return f"Spark(table={self._table!r})"

    @property
    def is_stored(self) -> bool:
        return self._found.is_stored

    def schema(self) -> Mapping[str, str]:
        return {name: kind_of(stored) for name, stored in self._found.types.items()}

    def types(self) -> Mapping[str, str]:
        return dict(self._found.types)

    def stored(self) -> Mapping[str, str]:
        return dict(self._found.types)  # collations are part of Spark's types

    def check(self, columns: Collection[str] | None = None) -> None:
        beside = [(self._beside[name], None) for name in sorted(self._secret)]
        for found, wanted in ((self._found, columns), *beside):
            sql = found.count_odd() if found.is_text else count_each(found.view, found.fragile(wanted), quote_name)
            if sql is None:
                continue
            rows, failure = attempt_quietly(lambda sql=sql: _rows(self._own.ask(sql, None)))
            if found.is_text and (failure or rows != [(0,)]):
                raise SourceError(
                    "source: some line does not have the columns or the end of the first, has an open quote, a blank "
                    "before one, or is not UTF-8; save the table again as CSV (UTF-8)"
                )
            if failure:
                raise SourceError(
                    "source: some value cannot be read: a time beyond all times; correct it where it is stored, or "
                    "leave the column out"
                )

    def prepare(self, sql: str) -> None:
        problem, failure = self._fault(sql), None
        empty = self._on_nothing(sql)
        hostile = STAND_INS.write_hostile(sql, self._own_tables, self._beside)
        if not problem and self._try(f"({empty}) UNION ALL ({hostile})"):
            failure = self._try(empty)
            problem = failure and _words(failure)
            if not failure:
                failure = self._try(hostile)
                problem = failure and "some values that its columns can hold make it fail (an overflow, a text, a date)"
        if problem or failure:
            raise unfit_query(self._table, problem or "Spark refuses it")

    def _try(self, asked: str) -> str | None:
        """A dry run, once for each text: all that it depends on stands in it, and the session is the same."""
        if asked in self._own.tried:
            return None
        _, failure = attempt_quietly(lambda: self._own.ask(asked, self._timeout))
        if not failure:
            if len(self._own.tried) >= MOST_TRIED:
                self._own.tried.clear()
            self._own.tried.add(asked)
        return failure

    def aggregates(self, sql: str) -> list[tuple[Any, ...]]:
        rows, failure = attempt_quietly(lambda: None if self._fault(sql) else self._run(self._on_all(sql)))
        if failure or rows is None:
            raise EngineError
        return rows

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()  # Spark knows no states of a table; which files it has was settled when it was opened

    def tally(self, sql: str, count: Callable[[Iterator[pa.RecordBatch]], T]) -> Iterator[T]:
        """What `count` makes of the rows of one SELECT, part by part, computed by the workers."""
        self.prepare(sql)
        version, failure = attempt_quietly(lambda: workers_version(self._own.session))
        if failure or version != __version__:
            had = f"have guessproof {version}" if version else "cannot import guessproof"
            raise SourceError(
                f"the scan runs on Spark's workers, and they {had}; install guessproof {__version__} there, for the "
                "Python that they run"
            )
        return self._tallied(sql, count)

    def _tallied(self, sql: str, count: Callable[[Iterator[pa.RecordBatch]], T]) -> Iterator[T]:
        asked = self._on_all(sql)
        frame, failure = attempt_quietly(lambda: self._own.session.sql(asked))
        if not failure:
            failure = yield from _quietly(tally(frame, count))
        if failure:
            raise EngineError(charged=False)

    def public(self) -> Mapping[str, Mapping[str, str]]:
        return {name: dict(found.types) for name, found in self._beside.items()}

    def ask_public(self, sql: str) -> list[tuple[Any, ...]]:
        known = self._beside.keys() - self._secret
        rows, failure = attempt_quietly(lambda: None if find_fault(sql, *known) else self._run(self._on_nothing(sql)))
        if failure or rows is None:
            raise unasked_public()
        return rows

    def batches(self, sql: str, size: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        self.prepare(sql)
        return self._streamed(sql, size)

    def close(self) -> None:
        self._own.close()

    @property
    def _own_tables(self) -> Mapping[str, ViewedTable]:
        return {self._table: self._found}

    def _on_all(self, sql: str) -> str:
        return STAND_INS.write_whole(sql, self._own_tables, self._beside)

    def _on_nothing(self, sql: str) -> str:
        return STAND_INS.write_empty(sql, self._own_tables, self._beside, self._secret)

    def _run(self, asked: str) -> list[tuple[Any, ...]]:
        return _rows(self._own.ask(asked, self._timeout))

    def _fault(self, sql: str) -> str | None:
        """Read once: what is run is the very text that was prepared."""
        if sql not in self._faults:
            self._faults[sql] = find_fault(sql, self._table, *self._beside)
        return self._faults[sql]

    def _streamed(self, sql: str, size: int) -> Iterator[pa.RecordBatch]:
        asked = self._on_all(sql)
        frame, failure = attempt_quietly(lambda: self._own.session.sql(asked))
        if not failure:
            failure = yield from _quietly(stream(frame, size))
        if failure:
            raise EngineError(charged=False)


def _quietly(parts: Generator[T]) -> Generator[T, None, str | None]:
    """Part after part; in the end the failure, or None."""
    failure: str | None = None
    try:
        while not failure:
            part, failure = attempt_quietly(lambda: next(parts, None))
            if part is None:
                break
            yield part
    finally:
        attempt_quietly(parts.close)
    return failure


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True))


def _words(failure: str) -> str | None:
    return next((words for condition, words in SAID.items() if failure.startswith(condition)), None)
