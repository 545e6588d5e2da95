"""ABS."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.intervals import ONE, Interval
from guessproof.sql.movement import ChangeBounds, Neighbours, carry_through
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import OfOne, Reader, Rule


@dataclass(frozen=True)
class AbsoluteValue(OfOne):
    """|a|, of slope −1 or 1."""

    def value(self, a: float) -> float:
        return abs(a)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a = self.inner.follow(neighbours)
        slope = ONE if a.hull.low >= 0 else -ONE if a.hull.high <= 0 else Interval(-1.0, 1.0)
        return carry_through([(slope, a)], a.before.absolute(), a.after.absolute(), ulps=0)

    def write(self, target: SqlTarget) -> Expr:
        return exp.Abs(this=self.inner.write(target))

    @property
    def is_whole(self) -> bool:
        return self.inner.is_whole


def read_absolute(expression: Expr, reader: Reader) -> AbsoluteValue:
    """ABS(a)."""
    return AbsoluteValue(reader.term(expression.this))


RULE = Rule("ABS", (exp.Abs,), read_absolute, ("SUM(ABS(time - 30))",))
