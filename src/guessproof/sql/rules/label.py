"""Labels against constants.

Where a column's levels are declared, a test is nothing but the list of levels for which it holds: Python says which,
and the engine only looks whether a text is one of them, byte by byte. A label that is no level counts as one other
label: it equals no text, is like no pattern, and comes neither before nor after any. Without levels the engine
compares texts byte by byte, and any two labels may differ in outcome.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import eq, ge, gt, le, lt, ne

from sqlglot import Expr, exp

from guessproof.names import suggest_name
from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.movement import (
    EITHER,
    NO,
    OTHER,
    YES,
    ColumnState,
    Label,
    Neighbours,
    Outcome,
    OutcomePair,
    test_both_sides,
)
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row

COMPARE: dict[str, tuple[type[Expr], Callable[[str, str], bool]]] = {
    "=": (exp.EQ, eq),
    "<>": (exp.NEQ, ne),
    "<": (exp.LT, lt),
    "<=": (exp.LTE, le),
    ">": (exp.GT, gt),
    ">=": (exp.GTE, ge),
}
MOST_SHOWN = 8


@dataclass(frozen=True)
class LabelCondition(Condition):
    """A test of a column's label."""

    column: DeclaredColumn

    @abstractmethod
    def holds(self, label: str) -> bool:
        """How it comes out for a label."""

    @abstractmethod
    def plain(self, text: Expr, target: SqlTarget) -> Expr:
        """The test itself, for a column whose levels are not known."""

    @property
    def holds_for_other(self) -> bool:
        """How it comes out for a label that is no level."""
        return False

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    def outcome(self, label: Label) -> bool:
        """How it comes out for a label or the one other."""
        return self.holds_for_other if label is OTHER else self.holds(str(label))

    def at(self, row: Row) -> bool | None:
        label = self.column.read(row.get(self.column.name))
        return None if label is None else self.outcome(label)

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return test_both_sides(neighbours[self.column.name], self._outcomes)

    def _outcomes(self, side: ColumnState) -> frozenset[Outcome]:
        labels = side.labels
        if labels is None:
            if self.column.levels is None:
                return EITHER
            labels = frozenset[Label]((*self.column.levels, OTHER))
        ends = {self.outcome(label) for label in labels}
        return EITHER if len(ends) > 1 else YES if True in ends else NO

    @cached_property
    def _kept(self) -> tuple[str, ...]:
        """The levels for which it comes out otherwise than for a label that is none."""
        return tuple(v for v in self.column.levels or () if self.holds(v) != self.holds_for_other)

    def write(self, target: SqlTarget) -> Expr:
        found = self._write_test(target)
        return found if self.column.missing else exp.Coalesce(this=found, expressions=[self._default])

    def keeps(self, target: SqlTarget) -> Expr:
        if not self.column.missing and self.holds_for_other:
            return self.write(target)
        return self._write_test(target)

    @property
    def _default(self) -> Expr:
        return exp.Boolean(this=self.holds_for_other)

    def _write_test(self, target: SqlTarget) -> Expr:
        text = target.label(self.column)
        if self.column.levels is None:
            return self.plain(text, target)
        return target.among(text, self._kept, within=not self.holds_for_other)


@dataclass(frozen=True)
class LabelTest(LabelCondition):
    """A column's label against a constant."""

    sign: str
    value: str

    def holds(self, label: str) -> bool:
        return COMPARE[self.sign][1](label, self.value)

    @property
    def holds_for_other(self) -> bool:
        return self.sign == "<>"

    def plain(self, text: Expr, target: SqlTarget) -> Expr:
        return COMPARE[self.sign][0](this=text, expression=exp.Literal.string(self.value))


@dataclass(frozen=True)
class LabelAmong(LabelCondition):
    """A column's label in a list."""

    values: tuple[str, ...]

    def holds(self, label: str) -> bool:
        return label in self.values

    def plain(self, text: Expr, target: SqlTarget) -> Expr:
        return target.among(text, self.values)


def read_label_test(left: Expr, sign: str, value: str, right: Expr, reader: Reader) -> LabelTest:
    """A column against a text."""
    column = read_label_column(left, right, reader)
    if sign in ("=", "<>"):
        _check_level(column, value, right, reader)
    return LabelTest(column, sign, value)


def read_label_among(left: Expr, values: list[str], places: list[Expr], reader: Reader) -> LabelAmong:
    """A column against a list of texts."""
    column = read_label_column(left, places[0], reader)
    for value, place in zip(values, places, strict=True):
        _check_level(column, value, place, reader)
    return LabelAmong(column, tuple(dict.fromkeys(values)))


def read_label_column(left: Expr, right: Expr, reader: Reader) -> DeclaredColumn:
    """A column that is compared as text."""
    column = reader.column(left)
    remedies = {"truth": f"write {column.name} or NOT {column.name}", "time": "compare it with a DATE or a TIMESTAMP"}
    remedy = remedies.get(column.kind or "", "compare it with a number")
    return reader.use_as(column, "label", right, remedy)


def _check_level(column: DeclaredColumn, value: str, place: Expr, reader: Reader) -> None:
    if column.levels is None or value in column.levels:
        return
    shown = ", ".join(column.levels[:MOST_SHOWN]) + (", …" if len(column.levels) > MOST_SHOWN else "")
    problem = f"{value!r} is no level of {column.name}, whose levels are {shown}"
    otherwise = f"write one of them, or add {value!r} to its levels or its prior"
    raise reader.refuse(problem, place, suggest_name(value, column.levels, otherwise))
