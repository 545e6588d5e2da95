"""EXP and LN."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.movement import ChangeBounds, Neighbours, carry_through
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import OfOne, Reader, Rule, Term


@dataclass(frozen=True)
class NaturalExponential(OfOne):
    """eᵃ, its own derivative."""

    def value(self, a: float) -> float:
        return math.exp(a)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a = self.inner.follow(neighbours)
        return carry_through([(a.hull.exp(), a)], a.before.exp(), a.after.exp(), ulps=4)

    def write(self, target: SqlTarget) -> Expr:
        return target.exponential(self.inner.write(target))


@dataclass(frozen=True)
class NaturalLogarithm(OfOne):
    """ln a, where a stays above 0."""

    def value(self, a: float) -> float:
        return math.log(a)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a = self.inner.follow(neighbours)
        return carry_through([(a.hull.reciprocal(), a)], a.before.log(), a.after.log(), ulps=4)

    def write(self, target: SqlTarget) -> Expr:
        return exp.Ln(this=self.inner.write(target))


def read_exponential(expression: Expr, reader: Reader) -> Term:
    """EXP(a), LN(a)."""
    inner = reader.term(expression.this)
    seen = inner.follow(reader.declared.at_rest(inner.columns))
    if isinstance(expression, exp.Exp):
        if seen.hull.high > 700:
            remedy = "narrow the bounds, or write EXP(LEAST(x, 20))"
            raise reader.refuse("this exponential can leave the range of numbers", expression.this, remedy)
        return NaturalExponential(inner)
    if seen.hull.low <= 0:
        remedy = "keep it above 0, as LN(GREATEST(x, 1))"
        raise reader.refuse("the logarithm of a number that can be 0 or less", expression.this, remedy)
    return NaturalLogarithm(inner)


RULE = Rule("EXP and LN", (exp.Exp, exp.Ln), read_exponential, ("SUM(EXP(time / 60))", "SUM(LN(time + 1))"))
