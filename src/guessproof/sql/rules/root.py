"""SQRT, and the distance that hides in SQRT(a² + b²)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.movement import ChangeBounds, Neighbours, carry_through
from guessproof.sql.rules.distance import read_squares
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import OfOne, Reader, Rule, Term


@dataclass(frozen=True)
class SquareRoot(OfOne):
    """√a, where a stays above 0 by more than rounding: the slope 1/(2√a) is finite."""

    def value(self, a: float) -> float:
        return math.sqrt(a)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a = self.inner.follow(neighbours)
        root = a.hull.sqrt()
        return carry_through([((root + root).reciprocal(), a)], a.before.sqrt(), a.after.sqrt())

    def write(self, target: SqlTarget) -> Expr:
        return exp.Sqrt(this=self.inner.write(target))


def read_root(expression: Expr, reader: Reader) -> Term:
    """SQRT(a), or the distance SQRT(POWER(a, 2) + POWER(b, 2))."""
    distance = read_squares(expression.this, reader)
    if distance is not None:
        return distance
    inner = reader.term(expression.this)
    seen = inner.follow(reader.declared.at_rest(inner.columns))
    if seen.hull.low <= 0:
        raise reader.refuse(
            "the root of a number that can be 0 or less changes without limit there",
            expression.this,
            "keep it away from 0, as SQRT(GREATEST(x, 1)); a distance is SQRT(POWER(a, 2) + POWER(b, 2))",
        )
    return SquareRoot(inner)


RULE = Rule("SQRT", (exp.Sqrt,), read_root, ("SUM(SQRT(time + 1))",))
