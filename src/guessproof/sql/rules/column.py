"""A column's number, between its declared bounds."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.moves import Moved, Scene, clamped
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.target import Target
from guessproof.sql.term import Node, Row, Term


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

    def follow(self, scene: Scene) -> Moved:
        return clamped(scene[self.column.name], self.low, self.high)

    def write(self, target: Target) -> Expr:
        return self.clamp(target.number(self.column), target)

    def present(self, target: Target) -> Expr:
        return target.is_number(self.column) if self.column.missing else exp.true()

    def cuts(self, column: str) -> frozenset[float]:
        return frozenset((self.low, self.high)) if column == self.column.name else frozenset()

    def clamp(self, x: Expr, target: Target, known: Expr | None = None, *, filled: bool = True) -> Expr:
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


def clean(column: DeclaredColumn, target: Target) -> Expr:
    """A column's number, with NaN as NULL, and something instead of NULL where nothing may be missing."""
    found = exp.case().when(target.is_number(column), target.number(column))
    return found if column.missing else found.else_(target.double(column.default))


def read_column(expression: Expr, reader: Reader) -> NumberColumn:
    """A column in arithmetic needs bounds."""
    column = reader.column(expression)
    remedy = f"write CASE WHEN {column.name} = '…' THEN 1 ELSE 0 END"
    column = reader.used(column, "number", expression, remedy, ", and a number is needed here")
    if column.bounds is None:
        problem = f"{column.name} has no bounds, so one record could move the answer by any amount"
        remedy = f"declare bounds = [smallest, largest] for {column.name}, from public knowledge (COUNT needs none)"
        raise reader.refuse(problem, expression, remedy)
    return NumberColumn(column, float(column.bounds[0]), float(column.bounds[1]))


RULE = Rule("columns with bounds", (exp.Column,), read_column, ("SUM(time)", "MIN(time)"))
