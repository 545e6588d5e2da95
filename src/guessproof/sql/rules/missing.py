"""IS NULL."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.moves import Scene, Truth, null_of
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.rules.column import clean, plain_number
from guessproof.sql.term import Condition, Node, Row, Types


@dataclass(frozen=True)
class Missing(Condition):
    """Whether a column holds nothing; for a protected number NaN counts as nothing."""

    name: str
    is_number: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def at(self, row: Row) -> bool:
        value = row.get(self.name)
        return (plain_number(value) if self.is_number else value) is None

    def follow(self, scene: Scene) -> Truth:
        return null_of(scene[self.name])

    def write(self, types: Types) -> Expr:
        column = clean(self.name, types) if self.is_number else exp.column(self.name, quoted=True)
        return exp.Is(this=exp.paren(column, copy=False), expression=exp.null())


def read_missing(expression: Expr, reader: Reader) -> Missing:
    """x IS NULL (and, through NOT, x IS NOT NULL)."""
    if not isinstance(expression.expression, exp.Null):
        raise reader.refuse("only IS NULL and IS NOT NULL are understood", expression, "compare with = or <>")
    column = reader.column(expression.this)
    return Missing(column.name, bool(column.is_number) and column.protected)


RULE = Rule("IS NULL", (exp.Is,), read_missing, ("COUNT(*) WHERE time IS NOT NULL",))
