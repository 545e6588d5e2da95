"""POWER with a constant exponent."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.intervals import point
from guessproof.sql.movement import ChangeBounds, Neighbours, carry_through
from guessproof.sql.rules.distance import read_squares
from guessproof.sql.rules.values import Number, parse_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import OfOne, Reader, Rule, Term

LARGEST_EXPONENT = 64


@dataclass(frozen=True)
class Power(OfOne):
    """aᵏ, with derivative k·aᵏ⁻¹."""

    exponent: float

    def value(self, a: float) -> float:
        return a**self.exponent

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a = self.inner.follow(neighbours)
        slope = point(self.exponent) * a.hull.power(self.exponent - 1)
        return carry_through([(slope, a)], a.before.power(self.exponent), a.after.power(self.exponent), ulps=4)

    def write(self, target: SqlTarget) -> Expr:
        return target.power(self.inner.write(target), self.exponent)

    @property
    def is_whole(self) -> bool:
        return self.inner.is_whole and self.exponent == math.floor(self.exponent) and self.exponent >= 0


def read_power(expression: Expr, reader: Reader) -> Term:
    """POWER(a, 2), also a ** 2 and a ^ 2; (a^2 + b^2)^0.5 is a distance."""
    exponent = parse_number(expression.expression)
    if exponent is None or abs(exponent) > LARGEST_EXPONENT:
        remedy = f"write a number between −{LARGEST_EXPONENT} and {LARGEST_EXPONENT}, as POWER(x, 2)"
        raise reader.refuse("the exponent must be a number", expression.expression, remedy)
    distance = read_squares(expression.this, reader) if exponent == 0.5 else None
    if distance is not None:
        return distance
    inner = reader.term(expression.this)
    if exponent == 0:
        return Number(1.0)
    seen = inner.follow(reader.declared.at_rest(inner.columns))
    whole = exponent == math.floor(exponent) and exponent >= 1
    if not whole and seen.hull.low <= 0:
        remedy = "keep the base above 0, as POWER(GREATEST(x, 1), 0.5)"
        raise reader.refuse("this power changes without limit where its base can be 0 or less", expression.this, remedy)
    return Power(inner, exponent)


RULE = Rule("POWER", (exp.Pow,), read_power, ("SUM(POWER(time, 2))", "SUM(time^3 / 1000)"))
