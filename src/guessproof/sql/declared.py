"""What is declared about a table: from public knowledge, never from the table itself."""

from __future__ import annotations

import difflib
import math
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

    def __post_init__(self) -> None:
        if self.bounds is not None:
            low, high = self.bounds
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                raise ParameterError("bounds", self.bounds, "are not two numbers in order", "write [smallest, largest]")
            if self.is_number is False:
                raise ParameterError("bounds", self.bounds, f"{self.name} holds labels", "declare levels instead")
            object.__setattr__(self, "is_number", True)
        if self.levels is not None and (not self.levels or len(set(self.levels)) < len(self.levels)):
            raise ParameterError("levels", self.levels, "are empty or repeated", "list each value once")

    @property
    def side(self) -> Side:
        """Everything the column can hold: also numbers outside the bounds, also labels that were not declared."""
        numbers = None if self.is_number is False else EVERYTHING
        return Side(numbers=numbers, missing="maybe" if self.missing else "no")


@dataclass(frozen=True)
class Declared:
    """The table, its columns, what is protected, how many rows are public knowledge, and how many repeat one record.

    `copies` is None where nothing was said of it: a row is a record, which only a stored table can be trusted in.

    >>> t = Declared("t", {"time": DeclaredColumn("time", bounds=(0, 120), is_number=True)})
    >>> t.column("Time").bounds, t.column("faculty").protected
    ((0, 120), False)
    """

    table: str
    columns: Mapping[str, DeclaredColumn] = field(default_factory=dict[str, DeclaredColumn])
    protects: Protects = "values"
    rows: int | None = None
    copies: int | None = None

    def __post_init__(self) -> None:
        if self.protects not in ("values", "records"):
            known = difflib.get_close_matches(str(self.protects), ("values", "records"), n=1)
            hint = f"did you mean {known[0]}?" if known else 'use "values" or "records"'
            raise ParameterError("protects", self.protects, "is not something that can be protected here", hint)
        if self.rows is not None and not self.rows >= 1:
            raise ParameterError("rows", self.rows, "is no number of rows", "write how many there are at least")
        if self.copies is not None and not self.copies >= 1:
            raise ParameterError("copies", self.copies, "is no number of rows", "write how many there are at most")
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
