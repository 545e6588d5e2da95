"""Adding an engine is one class behind the protocol, one target, and their entries: a toy carries a whole release."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Self

import pytest
from sql.test_target import Lite

from guessproof.engines import Engine
from guessproof.engines import base as door
from guessproof.errors import EngineError, SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import loads_plan
from guessproof.releasing import release
from guessproof.sql import targets

PLAN = """
[data]
name = "horses"
source = "lite.db"
table = "t"
protects = "records"
[query]
sql = "SELECT SUM(x) AS total, COUNT(*) AS n FROM t WHERE c = 'bay'"
[columns.x]
bounds = [0, 10]
[columns.c]
levels = ["bay", "black"]
[release]
epsilon = 1e6
"""


class LiteEngine:
    """One table of a SQLite file."""

    dialect = "sqlite"
    is_stored = True

    def __init__(self, path: str, table: str) -> None:
        self._con, self._table = sqlite3.connect(path), table

    def types(self) -> Mapping[str, str]:
        return {row[1]: row[2] for row in self._con.execute(f"PRAGMA table_info({self._table})")}

    stored = types

    def schema(self) -> Mapping[str, str]:
        return {name: "number" if stored == "REAL" else "text" for name, stored in self.types().items()}

    def check(self, columns: Collection[str] | None = None) -> None:
        pass

    def prepare(self, sql: str) -> None:
        empty = sqlite3.connect(":memory:")
        (made,) = self._con.execute("SELECT sql FROM sqlite_master WHERE name = ?", [self._table]).fetchone()
        try:
            empty.execute(made)
            empty.execute(sql)
        except sqlite3.Error:
            raise SourceError("the query cannot run") from None
        finally:
            empty.close()

    def aggregates(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return self._con.execute(sql).fetchall()
        except sqlite3.Error:
            raise EngineError from None

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()

    def batches(self, sql: str, size: int = 1) -> Iterator[Any]:
        raise NotImplementedError

    def close(self) -> None:
        self._con.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def opened(source: str, table: str, _: float | None, __: Mapping[str, str | None]) -> Engine | None:
    return LiteEngine(source, table) if source.endswith("lite.db") else None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "lite.db") as con:
        con.execute("CREATE TABLE t (x REAL, c TEXT)")
        con.executemany("INSERT INTO t VALUES (?, ?)", [(4.0, "bay"), (99.0, "bay"), (3.0, "black"), (None, "bay")])
    con.close()
    Ledger.create(tmp_path / "guessproof.ledger", "horses", Budget("1e9"))
    return tmp_path


def test_a_release_goes_through_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "OPENERS", [opened, *door.OPENERS])
    monkeypatch.setattr(targets, "TARGETS", (*targets.TARGETS, Lite))
    total, count = release(loads_plan(PLAN, folder=folder)).answers
    assert total.value == pytest.approx(14, abs=0.01)
    assert count.value == pytest.approx(3, abs=0.01)


def test_without_its_entries_nothing_is_charged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError):  # it is no DuckDB file
        release(loads_plan(PLAN, folder=folder))
    monkeypatch.setattr(door, "OPENERS", [opened, *door.OPENERS])
    with pytest.raises(SourceError, match="no SQL is written for sqlite"):
        release(loads_plan(PLAN, folder=folder))
    assert not Ledger(folder / "guessproof.ledger").account("horses").charges
