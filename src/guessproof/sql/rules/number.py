"""Numbers: 3, 2.5, -1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.moves import Moved, Scene, constant
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.term import Node, Row, Term, Types


@dataclass(frozen=True)
class Number(Term):
    """A constant."""

    value: float

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    def at(self, row: Row) -> float:
        return self.value

    def follow(self, scene: Scene) -> Moved:
        return constant(self.value)

    def write(self, types: Types) -> Expr:
        return double(self.value)

    @property
    def is_whole(self) -> bool:
        return self.value == math.floor(self.value)


def double(value: float) -> Expr:
    """A constant as the engine's double: no decimal type, whose digits overflow, can arise."""
    return exp.cast(exp.Literal.number(repr(value)), "DOUBLE")


def literal_number(expression: Expr) -> float | None:
    """The number that is written, with its sign; None where something else is."""
    if isinstance(expression, exp.Paren):
        return literal_number(expression.this)
    if isinstance(expression, exp.Neg):
        value = literal_number(expression.this)
        return None if value is None else -value
    if isinstance(expression, exp.Literal) and not expression.is_string:
        try:
            value = float(expression.this)
        except ValueError:
            return None
        return value if math.isfinite(value) else None
    return None


def read_number(expression: Expr, reader: Reader) -> Number:
    """A constant."""
    value = literal_number(expression)
    if value is None:
        raise reader.refuse("a number is needed here", expression, "compare labels with = or IN")
    return Number(value)


RULE = Rule("numbers", (exp.Literal,), read_number, ("SUM(time + 1)",))
