"""An engine of a few lines, for tests of everything above engines: real answers, a diary, and failures on demand."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa

from guessproof.engines import base
from guessproof.engines.base import Engine
from guessproof.errors import EngineError, SourceError

SOURCE = "fake.db"  # what a plan writes as its source


class FakeEngine:
    """One Arrow table in memory, asked by DuckDB without its locks.

    `diary` has every call and its query; `failing` names the call that fails as an engine would.
    """

    dialect = "duckdb"
    is_stored = True

    def __init__(self, table: pa.Table, name: str = "t", *, failing: str | None = None) -> None:
        self.diary: list[tuple[str, str]] = []
        self._failing, self._con = failing, duckdb.connect(":memory:")
        self._con.register("gp_given", table)
        self._con.execute(f'CREATE TABLE "{name}" AS SELECT * FROM gp_given')
        self._name = name

    def types(self) -> Mapping[str, str]:
        return {row[0]: row[1] for row in self._con.execute(f'DESCRIBE "{self._name}"').fetchall()}

    stored = types

    def schema(self) -> Mapping[str, str]:
        kinds = {"VARCHAR": "text", "BOOLEAN": "boolean", "DATE": "time", "TIMESTAMP": "time"}
        return {name: kinds.get(kind, "number") for name, kind in self.types().items()}

    def check(self, columns: Collection[str] | None = None) -> None:
        self._note("check", "", SourceError("the source cannot be read"))

    def prepare(self, sql: str) -> None:
        self._note("prepare", sql, SourceError("the query cannot run"))

    def aggregates(self, sql: str) -> list[tuple[Any, ...]]:
        self._note("aggregates", sql, EngineError())
        return self._con.execute(sql).fetchall()

    @contextmanager
    def snapshot(self) -> Generator[None]:
        yield

    def batches(self, sql: str, size: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        self._note("batches", sql, SourceError("the query cannot run"))
        found: Any = self._con.sql(sql)
        yield from found.to_arrow_table().to_batches(size)

    def public(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    def ask_public(self, sql: str) -> list[tuple[Any, ...]]:
        raise SourceError("there is no public table")

    def close(self) -> None:
        self.diary.append(("close", ""))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _note(self, call: str, sql: str, failure: Exception) -> None:
        self.diary.append((call, sql))
        if self._failing == call:
            raise failure


@contextmanager
def opening(engine: Engine) -> Generator[None]:
    """As long as this lasts, a plan whose source is "fake.db" gets this engine."""

    def opener(source: Any, *_: Any) -> Engine | None:
        return engine if str(source).endswith(SOURCE) else None

    base.OPENERS.insert(0, opener)
    try:
        yield
    finally:
        base.OPENERS.remove(opener)
