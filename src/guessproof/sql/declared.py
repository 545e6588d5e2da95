"""What is declared about a table: from public knowledge, never from the table itself."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from guessproof.errors import ParameterError
from guessproof.sql.moves import Column, Scene, Side
from guessproof.sql.ranges import EVERYTHING

Protects = Literal["values", "records"]


@dataclass(frozen=True)
class DeclaredColumn:
    """A column: its bounds (numbers) or levels (labels), and whether a value may be missing."""

    name: str
    bounds: tuple[float, float] | None = None
    levels: tuple[str, ...] | None = None
    is_number: bool | None = None  # None: not known, because it was not declared
    missing: bool = True
    protected: bool = True

    @property
    def side(self) -> Side:
        """Everything the column can hold."""
        missing = "maybe" if self.missing else "no"
        if self.is_number:
            return Side(numbers=EVERYTHING, missing=missing)
        labels = None if self.levels is None else frozenset(self.levels)
        return Side(numbers=EVERYTHING if self.is_number is None else None, labels=labels, missing=missing)


@dataclass(frozen=True)
class Declared:
    """The table, its columns, what is protected, and how many rows are public knowledge.

    >>> t = Declared("t", {"time": DeclaredColumn("time", bounds=(0, 120), is_number=True)})
    >>> t.column("Time").bounds, t.column("faculty").protected
    ((0, 120), False)
    """

    table: str
    columns: Mapping[str, DeclaredColumn] = field(default_factory=dict[str, DeclaredColumn])
    protects: Protects = "values"
    rows: int | None = None

    def __post_init__(self) -> None:
        if self.protects not in ("values", "records"):
            known = difflib.get_close_matches(str(self.protects), ("values", "records"), n=1)
            hint = f"did you mean {known[0]}?" if known else 'use "values" or "records"'
            raise ParameterError("protects", self.protects, "is not something that can be protected here", hint)
        folded = [name.casefold() for name in self.columns]
        if len(set(folded)) < len(folded):
            raise ParameterError("columns", sorted(self.columns), "two names differ in case only", "rename one")

    def column(self, name: str) -> DeclaredColumn:
        """A column by its name, whatever the case; one that is not declared is public, or secret with its record."""
        for known, column in self.columns.items():
            if known.casefold() == name.casefold():
                return column
        return DeclaredColumn(name, protected=self.protects == "records")

    def complete(self) -> Declared:
        """The same table with no protected value missing."""
        columns = {name: replace(c, missing=c.missing and not c.protected) for name, c in self.columns.items()}
        return replace(self, columns=columns)

    def at_rest(self, names: frozenset[str]) -> Scene:
        """A scene in which nothing moves."""
        return {name: Column(self.column(name).side, self.column(name).side) for name in names}

    def in_motion(self, names: frozenset[str]) -> Scene:
        """A scene in which every protected column may change from anything to anything."""
        return {n: Column(c.side, c.side, moves=c.protected) for n in names for c in (self.column(n),)}
