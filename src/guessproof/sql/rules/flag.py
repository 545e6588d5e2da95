"""A column of truth values as a condition of its own: WHERE smoker."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.moves import EITHER, NO, YES, Outcome, Scene, Side, Truth
from guessproof.sql.reader import Reader
from guessproof.sql.rules.comparison import plain_label, sides
from guessproof.sql.term import Condition, Node, Row, Types


@dataclass(frozen=True)
class Flag(Condition):
    """A column that is true or false."""

    name: str

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def at(self, row: Row) -> bool | None:
        value = row.get(self.name)
        return None if value is None else plain_label(value) == "true"

    def follow(self, scene: Scene) -> Truth:
        return sides(scene[self.name], self._outcomes)

    def _outcomes(self, side: Side) -> frozenset[Outcome]:
        if side.labels is None:
            return EITHER
        ends = {label.lower() == "true" for label in side.labels}
        return EITHER if len(ends) > 1 else YES if True in ends else NO

    def write(self, types: Types) -> Expr:
        return exp.EQ(this=exp.column(self.name, quoted=True), expression=exp.true())

    def labels(self, column: str) -> frozenset[str]:
        return frozenset(("true",)) if column == self.name else frozenset()


def read_flag(expression: exp.Column, reader: Reader) -> Flag:
    """A bare column where a condition is needed."""
    column = reader.column(expression)
    if column.is_number:
        raise reader.refuse(f"{column.name} holds numbers", expression, f"compare it, as {column.name} > 0")
    return Flag(column.name)
