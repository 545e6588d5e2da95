"""Numbers: 3, 2.5, -1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import Expr, exp

from guessproof.sql.moves import Moved, Scene, constant
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.target import Target
from guessproof.sql.term import Node, Row, Term


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

    def write(self, target: Target) -> Expr:
        return target.double(self.value)

    @property
    def is_whole(self) -> bool:
        return self.value == math.floor(self.value)


def literal_number(expression: Expr) -> float | None:
    """The number that is written, with its sign, or as arithmetic of numbers; None where something else is."""
    exact = _exactly(expression)
    try:
        return None if exact is None else float(exact)
    except OverflowError:
        return None


def _exactly(expression: Expr) -> Fraction | None:
    if isinstance(expression, (exp.Paren, exp.Neg)):
        inner = _exactly(expression.this)
        return inner if inner is None or isinstance(expression, exp.Paren) else -inner
    if isinstance(expression, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
        a, b = _exactly(expression.this), _exactly(expression.expression)
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
    value = literal_number(expression)
    if value is None:
        raise reader.refuse("a number is needed here", expression, "compare labels with = or IN")
    return Number(value)


RULE = Rule("numbers", (exp.Literal,), read_number, ("SUM(time + 1)",))
