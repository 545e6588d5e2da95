"""What is written and what is stored: numbers, texts and times as constants, a column's number between its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.movement import ChangeBounds, Neighbours, clamp_column, constant
from guessproof.sql.rules.time import read_time_column
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Node, Reader, Row, Rule, Term


@dataclass(frozen=True)
class Number(Term):
    """A constant."""

    value: float

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    def at(self, row: Row) -> float:
        return self.value

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        return constant(self.value)

    def write(self, target: SqlTarget) -> Expr:
        return target.double(self.value)

    @property
    def is_whole(self) -> bool:
        return self.value == math.floor(self.value)


def parse_number(expression: Expr) -> float | None:
    """The number that is written, with its sign, or as arithmetic of numbers; None where something else is."""
    exact = parse_fraction(expression)
    try:
        return None if exact is None else float(exact)
    except OverflowError:
        return None


def parse_fraction(expression: Expr) -> Fraction | None:
    """The same, exactly."""
    if isinstance(expression, (exp.Paren, exp.Neg)):
        inner = parse_fraction(expression.this)
        return inner if inner is None or isinstance(expression, exp.Paren) else -inner
    if isinstance(expression, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
        a, b = parse_fraction(expression.this), parse_fraction(expression.expression)
        if a is None or b is None or (b == 0 and isinstance(expression, exp.Div)):
            return None
        match expression:
            case exp.Add():
                return a + b
            case exp.Sub():
                return a - b
            case exp.Mul():
                return a * b
            case _:
                return a / b
    if isinstance(expression, exp.Literal) and not expression.is_string:
        try:
            value = float(expression.this)
            return Fraction(str(expression.this)) if 1e-300 < abs(value) < 1e300 else Fraction(0) if not value else None
        except ValueError:
            return None
    return None


def read_number(expression: Expr, reader: Reader) -> Number:
    """A constant."""
    value = parse_number(expression)
    if value is None:
        raise reader.refuse("a number is needed here", expression, "compare labels with = or IN")
    return Number(value)


NUMBER_RULE = Rule("numbers", (exp.Literal,), read_number, ("SUM(time + 1)",))


@dataclass(frozen=True)
class NumberColumn(Term):
    """clamp(x): NaN counts as missing, infinities as the bounds."""

    column: DeclaredColumn
    low: float
    high: float

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    def at(self, row: Row) -> float | None:
        value = self.column.read(row.get(self.column.name))
        return None if value is None else min(max(value, self.low), self.high)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        return clamp_column(neighbours[self.column.name], self.low, self.high)

    def write(self, target: SqlTarget) -> Expr:
        return self.clamp(target.number(self.column), target)

    def present(self, target: SqlTarget) -> Expr:
        return target.is_number(self.column) if self.column.missing else exp.true()

    def cuts(self, column: str) -> frozenset[float]:
        return frozenset((self.low, self.high)) if column == self.column.name else frozenset()

    def clamp(self, x: Expr, target: SqlTarget, known: Expr | None = None, *, filled: bool = True) -> Expr:
        """A number of the column between its bounds. NULL and NaN fall through all branches."""
        low, high = target.double(self.low), target.double(self.high)
        # Most values lie inside: this order is the fastest.
        found = (
            exp.case()
            .when(exp.Between(this=x.copy(), low=low, high=high), x.copy())
            .when(exp.LT(this=x.copy(), expression=low.copy()), low.copy())
            .when(target.is_number(self.column) if known is None else known, high.copy())
        )
        return found if self.column.missing or not filled else found.else_(low.copy())


def write_number(column: DeclaredColumn, target: SqlTarget) -> Expr:
    """A column's number, with NaN as NULL, and something instead of NULL where nothing may be missing."""
    found = exp.case().when(target.is_number(column), target.number(column))
    return found if column.missing else found.else_(target.double(column.default))


def read_column(expression: Expr, reader: Reader) -> Term:
    """A column in arithmetic needs bounds."""
    column = reader.column(expression)
    if column.kind == "time":
        return read_time_column(expression, reader)
    remedy = f"write CASE WHEN {column.name} = '…' THEN 1 ELSE 0 END"
    column = reader.use_as(column, "number", expression, remedy, ", and a number is needed here")
    if column.bounds is None:
        problem = f"{column.name} has no bounds, so one record could move the answer by any amount"
        remedy = (
            f"declare bounds = [smallest, largest] {reader.where(column)}, from public knowledge (COUNT needs none)"
        )
        raise reader.refuse(problem, expression, reader.meant(column, remedy))
    return NumberColumn(column, float(column.bounds[0]), float(column.bounds[1]))


COLUMN_RULE = Rule("columns with bounds", (exp.Column,), read_column, ("SUM(time)", "MIN(time)"))


def parse_label(expression: Expr) -> str | None:
    """A text; None where something else is."""
    if isinstance(expression, exp.Paren):
        return parse_label(expression.this)
    return str(expression.this) if isinstance(expression, exp.Literal) and expression.is_string else None
