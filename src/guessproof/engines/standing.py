"""What stands for the tables of a query that is sent to a database: all their rows, none, or hostile ones.

A WITH of a table's name hides whatever else is called so, needs no right beyond reading, and the query need not change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")  # a table as its engine knows it


@dataclass(frozen=True)
class StandIns(Generic[T]):
    """How an engine writes a table's rows after `AS`, each in parentheses, and how it quotes a name."""

    whole: Callable[[T], str]
    empty: Callable[[T], str]
    hostile: Callable[[T], str]
    quoted: Callable[[str], str]

    def write_whole(self, sql: str, own: Mapping[str, T], beside: Mapping[str, T]) -> str:
        """The query over all rows of its own tables and of those beside them."""
        return self._write(sql, {name: self.whole(found) for name, found in {**own, **beside}.items()})

    def write_empty(self, sql: str, own: Mapping[str, T], beside: Mapping[str, T], secret: Collection[str]) -> str:
        """The same without a row that is secret; public tables may stay as they are."""
        kept = {name: (self.empty if name in secret else self.whole)(found) for name, found in beside.items()}
        return self._write(sql, {name: self.empty(found) for name, found in own.items()} | kept)

    def write_hostile(self, sql: str, own: Mapping[str, T], beside: Mapping[str, T]) -> str:
        """The same over values that are hard to compute with, and no row of any table."""
        return self._write(sql, {name: self.hostile(found) for name, found in {**own, **beside}.items()})

    def _write(self, sql: str, tables: Mapping[str, str]) -> str:
        rows = ", ".join(f"{self.quoted(name)} AS {rows}" for name, rows in tables.items())
        return f"WITH {rows} SELECT * FROM (\n{sql}\n) AS gp_asked"  # noqa: S608
