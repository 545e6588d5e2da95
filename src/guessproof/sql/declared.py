"""What is declared about a table, from public knowledge, never from the table itself; and what a stored value is.

This is Python's side of the door: what is stored, as a number, a label, a truth value or a time. `targets` writes the
same in an engine's SQL. Whatever is stored, both must say the same of it; tests hold them to it.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from guessproof.errors import ParameterError
from guessproof.guarantee.unit import VALUES, PrivacyUnit
from guessproof.intervals import EVERYTHING
from guessproof.names import folded
from guessproof.sql.movement import (
    EITHER,
    NO,
    OTHER,
    YES,
    ColumnChange,
    ColumnState,
    Label,
    Neighbours,
    Outcome,
    OutcomePair,
    find_nulls,
)
from guessproof.world import HOLDS, KINDS, Kind, days_of, label_of, moment_of


def _spell(*words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spell(word) for word in words for spell in (str.lower, str.title, str.upper)))


# What a truth value is called where the plan does not say: these spellings and no others.
TRUE_WORDS = (*_spell("true", "t", "yes", "y"), "1")
FALSE_WORDS = (*_spell("false", "f", "no", "n"), "0")

# A time as text: year to day, with hours and minutes, seconds, and a fraction of one if you like. No time zone.
TIME = (
    r"(000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d\d\d)-\d\d-\d\d"
    r"([ T]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?)?"
)
FIRST = datetime.datetime(1, 1, 1)


def number_of(value: Any) -> float | None:
    """A number, or None for what is none; NaN is none.

    >>> number_of("1e3"), number_of(True), number_of("nan"), number_of("x")
    (1000.0, 1.0, None, None)
    """
    if isinstance(value, str) and not value.isascii():
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    except OverflowError:  # a whole number beyond the floats
        return math.copysign(math.inf, int(value))
    return None if math.isnan(number) else number


def time_of(value: Any) -> datetime.datetime | None:
    """A moment without a time zone, or None for what is none.

    >>> time_of("2020-01-31 10:00") == datetime.datetime(2020, 1, 31, 10)
    True
    """
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    if not isinstance(value, str) or not re.fullmatch(TIME, value, re.ASCII):
        return None
    try:
        return datetime.datetime.fromisoformat(value)
    except ValueError:
        return None


def is_believed(value: Any) -> bool:
    """Whether this is a time that somebody believes in, as days since 1970: no table stores a time so."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


@dataclass(frozen=True)
class DeclaredColumn:
    """A column: its kind, its bounds (numbers) or levels (labels), and whether a value may be missing.

    `kind` is None where the plan leaves it open: the query then says what the column is, once. `true` and `false` are
    the labels of a column of truth values; what is neither is NULL. With `missing = False` what is missing all the
    same is read as something: the lower bound, a label that is no level, false, the first of all times.
    """

    name: str
    bounds: tuple[float, float] | None = None
    levels: tuple[str, ...] | None = None
    kind: Kind | None = None
    missing: bool = True
    protected: bool = True
    true: tuple[str, ...] = TRUE_WORDS
    false: tuple[str, ...] = FALSE_WORDS
    step: float | None = None  # of the grid on which a quantile of the column lies
    edges: tuple[float, ...] | None = None  # of the bins that GROUP BY makes of numbers or times
    counts: bool = False  # whole numbers from 0: what is above the levels is one more group of GROUP BY

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise ParameterError("kind", self.kind, "is no kind of column", f"use one of {', '.join(KINDS)}")
        if self.bounds is not None:
            low, high = self.bounds
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                raise ParameterError("bounds", self.bounds, "are not two numbers in order", "write [smallest, largest]")
            if self.kind not in (None, "number", "time"):
                problem = f"{self.name} holds {HOLDS[self.kind]}"
                raise ParameterError("bounds", self.bounds, problem, "declare levels instead")
            object.__setattr__(self, "kind", self.kind or "number")
        if self.edges is not None:
            self._check_edges(self.edges)
        if self.levels is not None:
            self._check_levels(self.levels)
        if self.step is not None:
            self._check_step(self.step)
        if both := [label for label in self.true if label in self.false]:
            raise ParameterError("true", both[0], "is also among false", "name each label once")

    def _check_edges(self, edges: tuple[float, ...]) -> None:
        if len(edges) < 2 or not all(map(math.isfinite, edges)) or list(edges) != sorted(set(edges)):
            raise ParameterError("edges", edges, "are not two or more rising numbers", "write [0, 10, 20]")
        if self.levels is not None or self.kind not in (None, "number", "time"):
            raise ParameterError("edges", edges, f"{self.name} holds {HOLDS[self.kind or 'label']}", "leave them out")
        object.__setattr__(self, "edges", tuple(float(e) + 0.0 for e in edges))  # −0 is 0
        object.__setattr__(self, "kind", self.kind or "number")

    def _check_step(self, step: float) -> None:
        if self.bounds is None:
            raise ParameterError("step", step, f"{self.name} has no bounds to step between", "declare bounds")
        if not (math.isfinite(step) and step > 0):
            raise ParameterError("step", step, "is no distance", "write a positive number")
        low, high, width = (Fraction(repr(float(x))) for x in (*self.bounds, step))
        if (high - low) % width or high == low:
            problem = f"the bounds {self.bounds[0]:g} … {self.bounds[1]:g} are no whole number of steps apart"
            raise ParameterError("step", step, problem, "choose bounds or step so that they are")

    def _check_levels(self, levels: tuple[str, ...]) -> None:
        if not levels or len(set(levels)) < len(levels):
            raise ParameterError("levels", levels, "are empty or repeated", "list each value once")
        if self.kind == "number" and any(number_of(level) is None for level in levels):
            raise ParameterError("levels", levels, f"{self.name} holds numbers", "list numbers")
        if self.kind == "time":
            raise ParameterError("levels", levels, f"{self.name} holds times", "leave them out")

    def may_be(self, kind: Kind) -> bool:
        """Whether the column can be used so, as far as the plan tells."""
        if self.kind is not None or self.levels is None:
            return self.kind in (None, kind)
        return kind in ("label", "truth")

    @property
    def is_number(self) -> bool:
        """Whether the column is known to hold numbers."""
        return self.kind == "number"

    @property
    def is_on_line(self) -> bool:
        """Whether its values lie on a line: numbers, or times as days."""
        return self.kind in ("number", "time")

    @property
    def is_textual(self) -> bool:
        """Whether its values are told apart as labels."""
        return self.kind in ("label", "truth")

    @property
    def default(self) -> float:
        """The number that a missing one is read as where none may be missing."""
        return 0.0 if self.bounds is None else float(self.bounds[0])

    @cached_property
    def trues(self) -> tuple[str, ...]:
        """The labels that mean true: among the levels, where there are some."""
        return self.true if self.levels is None else tuple(v for v in self.levels if v in self.true)

    @cached_property
    def falses(self) -> tuple[str, ...]:
        """The labels that mean false."""
        return self.false if self.levels is None else tuple(v for v in self.levels if v in self.false)

    @cached_property
    def has_neither(self) -> bool:
        """Whether a column of truth values may hold labels that mean neither true nor false."""
        return self.kind == "truth" and (self.levels is None or len(self.trues) + len(self.falses) < len(self.levels))

    @property
    def may_be_null(self) -> bool:
        """Whether the query can find nothing in the column."""
        return self.missing or self.has_neither

    def read(self, value: Any) -> Any:
        """What the query sees where this is stored: a float, a label, True or False, a time, or None."""
        if self.kind == "number":
            number = number_of(value)
            return self.default if number is None and not self.missing else number
        if self.kind == "truth":
            return self.truth(None if value is None else self.label(value))
        if self.kind == "time":
            moment = moment_of(value) if is_believed(value) else time_of(value)
            return FIRST if moment is None and not self.missing else moment
        if value is None:
            return None if self.missing else OTHER
        return self.label(value) if self.kind == "label" else value

    def place(self, value: Any) -> float | None:
        """Where on the line what is stored lies: a number, or days since 1970; None where nothing is."""
        if self.kind == "time" and is_believed(value):
            return float(value)
        seen = self.read(value)
        return days_of(seen) if isinstance(seen, datetime.datetime) else seen

    def label(self, value: Any) -> Label:
        """The level that a stored value is, or the one other label."""
        if value is None or value is OTHER:
            return OTHER
        label = label_of(value)
        return label if self.levels is None or label in self.levels else OTHER

    def truth(self, label: Label | None) -> bool | None:
        """What a label means in a column of truth values."""
        if label in self.trues:
            return True
        return False if label in self.falses or not self.may_be_null else None

    @property
    def side(self) -> ColumnState:
        """Everything the column can hold: also numbers outside the bounds, also labels that were not declared."""
        numbers = EVERYTHING if self.kind is None or self.is_on_line else None
        return ColumnState(numbers=numbers, missing="maybe" if self.may_be_null else "no")

    def holds_nothing(self, column: ColumnChange) -> OutcomePair:
        """IS NULL, followed through a move: for truth values a label may say it."""
        if self.kind != "truth":
            return find_nulls(column)
        return OutcomePair.of(self._nothing(column.before), self._nothing(column.after), not column.moves)

    def _nothing(self, side: ColumnState) -> frozenset[Outcome]:
        """NULL by itself, or by a label that means neither."""
        if not side.present or side.labels is None:
            return EITHER if side.missing == "no" and self.has_neither else side.outcomes_of_missing
        found: frozenset[Outcome] = NO if side.missing == "no" else EITHER
        neither = [self.truth(label) is None for label in side.labels]
        return YES if all(neither) else found | YES if any(neither) else found


@dataclass(frozen=True)
class PublicTable:
    """A table that everybody may know, and how many of its rows can match one record: one a `key`, or `max_matches`.

    `read` gives its rows, by names of columns, where a query needs to look into it. One with a `person` or an `owner`
    is no public table: its rows belong to the same persons as those of the first, by that column, or by its key, which
    names one row of the owner.
    """

    name: str
    columns: Mapping[str, DeclaredColumn] = field(default_factory=dict[str, DeclaredColumn], hash=False)
    key: tuple[str, ...] = ()
    max_matches: int | None = None
    read: Callable[[], Sequence[Mapping[str, Any]]] | None = field(default=None, compare=False, repr=False)
    person: str | None = None
    owner: str | None = None

    @property
    def is_secret(self) -> bool:
        """Whether it tells of the same persons as the first."""
        return self.person is not None or self.owner is not None

    def column(self, name: str, alias: str, *, outer: bool) -> DeclaredColumn:
        """A column of it as a joined row has it: nobody's secret, and missing where a LEFT JOIN finds no row."""
        found = next((c for n, c in self.columns.items() if folded(n) == folded(name)), DeclaredColumn(name))
        return replace(found, name=f"{alias}.{name}", protected=self.is_secret, missing=found.missing or outer)


@dataclass(frozen=True)
class JoinedTable:
    """A public table under the name by which one join of the query knows it."""

    alias: str
    table: PublicTable
    outer: bool = False

    def name_inside(self, name: str) -> str | None:
        """A column's name in the public table; None for a column of another.

        >>> JoinedTable("p", PublicTable("prices")).name_inside("P.rate")
        'rate'
        """
        end = len(self.alias)
        return name[end + 1 :] if name[end : end + 1] == "." and folded(name[:end]) == folded(self.alias) else None


@dataclass(frozen=True)
class DeclaredTable:
    """The table, its columns, what is protected, how many rows are public knowledge, and how many repeat one record.

    `public` are the tables that a query may join. A query's own declaration has `joined`, those that it does join: a
    joined row is the record with more columns, which are called after their table, as p.rate.

    `copies` is None where nothing was said of it: a row is a record, which only a stored table can be trusted in.
    With `ranks_inside`, MIN and MAX pick a value that lies so many ranks inside; with `smooth` their noise follows the
    data.

    `learned` are the kinds that the query gave to columns whose kind was left open; None before it was read.

    >>> t = DeclaredTable("t", {"time": DeclaredColumn("time", bounds=(0, 120))})
    >>> t.column("Time").bounds, t.column("faculty").protected
    ((0, 120), False)
    """

    table: str
    columns: Mapping[str, DeclaredColumn] = field(default_factory=dict[str, DeclaredColumn])
    unit: PrivacyUnit = VALUES
    rows: int | None = None
    learned: Mapping[str, Kind] | None = None
    copies: int | None = None
    linked: int = 1  # up to so many records tell of each other
    public: tuple[PublicTable, ...] = ()
    joined: tuple[JoinedTable, ...] = ()
    ranks_inside: int | None = None
    smooth: bool = False
    finds_groups: bool = False  # a key of GROUP BY without a list is found in the table: frequent values are shown
    role: Literal["table", "grouped", "persons"] = "table"  # what is asked: it, its inner groups, a row a person

    def __post_init__(self) -> None:
        if self.rows is not None and not self.rows >= 1:
            raise ParameterError("rows", self.rows, "is no number of rows", "write how many there are at least")
        if self.copies is not None and not self.copies >= 1:
            raise ParameterError("copies", self.copies, "is no number of rows", "write how many there are at most")
        if len({folded(name) for name in self.columns}) < len(self.columns):
            raise ParameterError("columns", sorted(self.columns), "two names differ in case only", "rename one")

    @cached_property
    def _by_name(self) -> dict[str, DeclaredColumn]:
        return {folded(name): self._settled(column) for name, column in self.columns.items()}

    def _settled(self, column: DeclaredColumn) -> DeclaredColumn:
        """With the kind that the query gave it, where the plan left it open."""
        if self.learned is None or column.kind is not None:
            return column
        return replace(column, kind=self.learned.get(folded(column.name)) or ("label" if column.levels else None))

    def column(self, name: str) -> DeclaredColumn:
        """A column by its name, whatever the case; one that is not declared is public, or secret with its record."""
        known = self._by_name
        if folded(name) not in known:  # remembered: a query asks for it often
            known[folded(name)] = self._settled(self._find_joined(name) or self._undeclared(name))
        return known[folded(name)]

    def _find_joined(self, name: str) -> DeclaredColumn | None:
        for join in self.joined:
            inside = join.name_inside(name)
            if inside is not None:
                return join.table.column(inside, join.alias, outer=join.outer)
        return None

    def _undeclared(self, name: str) -> DeclaredColumn:
        return DeclaredColumn(name, protected=self.unit.protects(declared=False, public=False))

    def is_joined(self, name: str) -> bool:
        """Whether a column is one of a public table."""
        return any(join.name_inside(name) is not None for join in self.joined)

    def table_named(self, name: str) -> PublicTable | None:
        """The public table of this name, whatever the case."""
        return next((table for table in self.public if folded(table.name) == folded(name)), None)

    def complete(self) -> DeclaredTable:
        """The same table with no protected value missing."""
        columns = {name: replace(c, missing=c.missing and not c.protected) for name, c in self.columns.items()}
        return replace(self, columns=columns)

    def at_rest(self, names: frozenset[str]) -> Neighbours:
        """Neighbours that do not differ."""
        return {name: ColumnChange(self.column(name).side, self.column(name).side) for name in names}

    def in_motion(self, names: frozenset[str]) -> Neighbours:
        """Neighbours whose protected columns may differ in anything."""
        return {n: ColumnChange(c.side, c.side, moves=c.protected) for n in names for c in (self.column(n),)}
