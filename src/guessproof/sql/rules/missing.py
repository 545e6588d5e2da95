"""IS NULL."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.movement import Neighbours, OutcomePair
from guessproof.sql.rules.truth import TruthTest
from guessproof.sql.rules.values import write_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row


@dataclass(frozen=True)
class IsNull(Condition):
    """Whether a column holds nothing of its kind: NULL, NaN, a text that is no number, truth or time."""

    column: DeclaredColumn

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    def at(self, row: Row) -> bool:
        return self.column.read(row.get(self.column.name)) is None

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return self.column.holds_nothing(neighbours[self.column.name])

    def write(self, target: SqlTarget) -> Expr:
        if not self.column.may_be_null:
            return exp.false()
        return exp.Is(this=exp.paren(write_presence(self.column, target), copy=False), expression=exp.null())


def write_presence(column: DeclaredColumn, target: SqlTarget) -> Expr:
    """Something that is NULL exactly where the column holds nothing of its kind."""
    if column.kind == "number":
        return write_number(column, target)
    if column.kind == "truth":
        return TruthTest(column).write(target)
    return target.time(column) if column.kind == "time" else target.held(column)


def read_missing(expression: Expr, reader: Reader) -> IsNull:
    """x IS NULL (and, through NOT, x IS NOT NULL)."""
    if not isinstance(expression.expression, exp.Null):
        raise reader.refuse("only NULL, TRUE and FALSE can stand here", expression, "compare with = or <>")
    return IsNull(reader.column(expression.this))
