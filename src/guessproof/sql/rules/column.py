"""A column's number, between its declared bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql import casts
from guessproof.sql.moves import Moved, Scene, clamped
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.rules.number import double
from guessproof.sql.term import Node, Row, Term, Types


@dataclass(frozen=True)
class NumberColumn(Term):
    """clamp(x): NaN counts as missing, infinities as the bounds."""

    name: str
    low: float
    high: float

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def at(self, row: Row) -> float | None:
        value = plain_number(row.get(self.name))
        return None if value is None else min(max(value, self.low), self.high)

    def follow(self, scene: Scene) -> Moved:
        return clamped(scene[self.name], self.low, self.high)

    def write(self, types: Types) -> Expr:
        return clamp(number(self.name, types), self.low, self.high)

    def present(self, types: Types) -> Expr:
        return is_number(number(self.name, types))

    def cuts(self, column: str) -> frozenset[float]:
        return frozenset((self.low, self.high)) if column == self.name else frozenset()


def clamp(x: Expr, low: float, high: float) -> Expr:
    """A number between its bounds. NULL and NaN fall through all branches and stay NULL."""
    # Most values lie inside: this order is the fastest.
    return (
        exp.case()
        .when(exp.Between(this=x.copy(), low=double(low), high=double(high)), x.copy())
        .when(exp.LT(this=x.copy(), expression=double(low)), double(low))
        .when(is_number(x), double(high))
    )


def number(name: str, types: Types) -> Expr:
    """A column as a double; what is no number is NULL, never an error."""
    # For a column of doubles the cast costs nothing; `types` does not tell them from other numbers.
    return casts.try_double(exp.column(name, quoted=True))


def clean(name: str, types: Types) -> Expr:
    """The same with NaN as NULL."""
    x = number(name, types)
    return exp.case().when(is_number(x), x.copy())


def is_number(x: Expr) -> Expr:
    """Neither NULL nor NaN, which is greater than infinity in every engine we speak to."""
    return exp.LTE(this=x.copy(), expression=casts.double(exp.Literal.string("Infinity")))


def plain_number(value: object) -> float | None:
    """What the cleaned column holds for a Python value."""
    if value is None or isinstance(value, bool):
        return None if value is None else float(value)
    try:
        number = float(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) else number


def read_column(expression: Expr, reader: Reader) -> NumberColumn:
    """A column in arithmetic needs bounds."""
    column = reader.column(expression)
    if column.is_number is False:
        remedy = f"write CASE WHEN {column.name} = '…' THEN 1 ELSE 0 END"
        raise reader.refuse(f"{column.name} holds labels, and a number is needed here", expression, remedy)
    if column.bounds is None:
        problem = f"{column.name} has no bounds, so one record could move the answer by any amount"
        remedy = f"declare bounds = [smallest, largest] for {column.name}, from public knowledge (COUNT needs none)"
        raise reader.refuse(problem, expression, remedy)
    return NumberColumn(column.name, float(column.bounds[0]), float(column.bounds[1]))


RULE = Rule("columns with bounds", (exp.Column,), read_column, ("SUM(time)", "MIN(time)"))
