"""What the suite needs to know of an engine: how to store rows for it, and nothing of what it does with them."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot.errors import SqlglotError

from guessproof.engines import Engine, open_engine
from guessproof.engines.base import PublicSources
from guessproof.testing.gaps import GAPS
from guessproof.testing.values import Shelf

Cells = Sequence[str | None]


class Harness(ABC):
    """One engine, as the suite reaches it. An author writes `name`, `shelf` and `keep`; `cut` where there is a wire.

    The engine itself is opened as a plan would open it, by its entry in `guessproof.engines.base.OPENERS`.
    """

    name: str
    shelf: Shelf
    patience = 0.3  # seconds within which it surely counts 2,000 rows
    drawn = 5  # how many plans each check of drawn plans draws, with a table and queries for each
    crossed = 4  # how many tables of 2,000 rows, each row with each, keep it busy for minutes at least

    @abstractmethod
    def keep(self, table: str, columns: Mapping[str, str], rows: Sequence[Cells]) -> Any:
        """Store rows as a table, in place of one of the same name, and give its source as a plan names it.

        `columns` has their types in the engine's words, `rows` their values as texts that are to be cast to them.
        """

    def number(self, column: str) -> str:
        """SQL that gives the number in a column of `shelf.doubles`, where a plain name does not."""
        return column

    def cut(self) -> None:
        """End the connection that a query is running on, as a network would; wait until there is one."""
        raise NotImplementedError("there is no connection to cut")

    @property
    def gaps(self) -> Mapping[str, str]:
        """What this engine cannot do: a check's name, and the reason."""
        return GAPS.get(self.name, {})

    @cached_property
    def folder(self) -> Path:
        """For files of one's own; it goes with the harness."""
        path = Path(tempfile.mkdtemp(prefix="guessproof-testing-"))
        weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)
        return path

    @contextmanager
    def opened(
        self,
        rows: Sequence[Cells],
        columns: Mapping[str, str],
        *,
        table: str = "t",
        timeout: float | None = None,
        public: PublicSources | None = None,
    ) -> Generator[Engine]:
        """The rows, stored and opened."""
        source = self.keep(table, columns, rows)
        with open_engine(source, table, timeout=timeout, public=public) as engine:
            yield engine


def spoken(engine: Engine, sql: str) -> str:
    """A query of the suite, which are written for PostgreSQL, in the engine's words; as it is where it is no query."""
    if "\0" in sql:  # some dialects have words for it, which are harmless
        return sql
    try:
        (tree,) = sqlglot.parse(sql, dialect="postgres")
    except (SqlglotError, ValueError):
        return sql
    return sql if tree is None else tree.sql(engine.dialect)


def quoted(name: str) -> str:
    """A name as the suite's queries write it."""
    return '"' + name.replace('"', '""') + '"'
