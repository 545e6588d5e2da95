"""Products and quotients."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.movement import ChangeBounds, Neighbours, carry_through
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import OfTwo, Reader, Rule, Term

LARGEST_DIVISOR = 1e150


@dataclass(frozen=True)
class Multiplication(OfTwo):
    """a · b: Δ(ab) = a·Δb + b·Δa, each factor at its largest."""

    def value(self, a: float, b: float) -> float:
        return a * b

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a, b = self.left.follow(neighbours), self.right.follow(neighbours)
        return carry_through([(b.hull, a), (a.hull, b)], a.before * b.before, a.after * b.after, whole=self.is_whole)

    def write(self, target: SqlTarget) -> Expr:
        return target.times(self.left.write(target), self.right.write(target))

    @property
    def is_whole(self) -> bool:
        return self.left.is_whole and self.right.is_whole


@dataclass(frozen=True)
class Division(OfTwo):
    """a / b, where b cannot come near 0."""

    def value(self, a: float, b: float) -> float:
        return a / b

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a, b = self.left.follow(neighbours), self.right.follow(neighbours)
        inverse = b.hull.reciprocal()
        partials = [(inverse, a), (-(a.hull * inverse * inverse), b)]
        return carry_through(partials, a.before * b.before.reciprocal(), a.after * b.after.reciprocal(), ulps=2)

    def write(self, target: SqlTarget) -> Expr:
        return target.divide(self.left.write(target), self.right.write(target))


def read_multiplication(expression: Expr, reader: Reader) -> Term:
    """a * b, a / b."""
    left, right = reader.term(expression.this), reader.term(expression.expression)
    if isinstance(expression, exp.Mul):
        return Multiplication(left, right)
    seen = right.follow(reader.declared.at_rest(right.columns))
    if seen.hull.holds(0.0):
        raise reader.refuse(
            "the divisor can be 0",
            expression.expression,
            "keep it away from 0 by bounds, or by GREATEST(divisor, smallest)",
        )
    if seen.hull.size > LARGEST_DIVISOR:  # a quotient too small for a number is an error in some engines
        raise reader.refuse("the divisor can leave the range of numbers", expression.expression, "narrow its bounds")
    return Division(left, right)


RULE = Rule("* and /", (exp.Mul, exp.Div), read_multiplication, ("SUM(2 * time)", "SUM(time * age)", "SUM(time / 60)"))
