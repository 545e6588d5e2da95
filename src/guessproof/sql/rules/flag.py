"""A column of truth values: WHERE smoker, WHERE smoker = TRUE."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql import casts
from guessproof.sql.moves import EITHER, NO, YES, Outcome, Scene, Side, Truth, sides
from guessproof.sql.reader import Reader
from guessproof.sql.rules.label import plain_label
from guessproof.sql.rules.logic import Opposite
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
        known = {"true": YES, "false": NO}
        if side.labels is None:
            return EITHER
        return frozenset[Outcome]().union(*(known.get(label.lower(), EITHER) for label in side.labels))

    def write(self, types: Types) -> Expr:
        column = exp.column(self.name, quoted=True)
        if types.get(self.name) == "boolean":
            return column
        return casts.try_boolean(column)  # what is neither is NULL, never an error


def read_flag(expression: Expr, reader: Reader) -> Flag:
    """A bare column where a condition is needed."""
    column = reader.column(expression)
    if column.is_number:
        raise reader.refuse(f"{column.name} holds numbers", expression, f"compare it, as {column.name} > 0")
    return Flag(column.name)


def read_flag_test(left: Expr, sign: str, right: exp.Boolean, reader: Reader) -> Condition:
    """column = TRUE, column <> FALSE."""
    flag = read_flag(left, reader)
    if sign not in ("=", "<>"):
        raise reader.refuse("truth values have no order", right, "compare with = or <>")
    return flag if bool(right.this) == (sign == "=") else Opposite(flag)
