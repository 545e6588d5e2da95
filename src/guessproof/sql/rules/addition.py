"""Sums and differences."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.intervals import ONE
from guessproof.sql.movement import ChangeBounds, Neighbours, carry_through
from guessproof.sql.rules.time import Moment, parse_time, read_interval
from guessproof.sql.rules.values import Number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Node, OfOne, OfTwo, Reader, Rule, Term
from guessproof.world import UNITS


@dataclass(frozen=True)
class Addition(OfTwo):
    """a + b, or a − b."""

    sign: int = 1

    def value(self, a: float, b: float) -> float:
        return a + self.sign * b

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a, b = self.left.follow(neighbours), self.right.follow(neighbours)
        if self.sign > 0:
            return carry_through([(ONE, a), (ONE, b)], a.before + b.before, a.after + b.after, whole=self.is_whole)
        return carry_through([(ONE, a), (-ONE, b)], a.before - b.before, a.after - b.after, whole=self.is_whole)

    def write(self, target: SqlTarget) -> Expr:
        kind = exp.Add if self.sign > 0 else exp.Sub
        return exp.paren(kind(this=self.left.write(target), expression=self.right.write(target)), copy=False)

    @property
    def is_whole(self) -> bool:
        return self.left.is_whole and self.right.is_whole


@dataclass(frozen=True)
class Shift(Addition):
    """A time so many days later, or earlier."""

    @property
    def is_time(self) -> bool:
        return True


@dataclass(frozen=True)
class Negative(OfOne):
    """−a."""

    def value(self, a: float) -> float:
        return -a

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a = self.inner.follow(neighbours)
        return carry_through([(-ONE, a)], -a.before, -a.after, ulps=0)

    def write(self, target: SqlTarget) -> Expr:
        return exp.paren(exp.Neg(this=exp.paren(self.inner.write(target), copy=False)), copy=False)

    @property
    def is_whole(self) -> bool:
        return self.inner.is_whole


def read_addition(expression: Expr, reader: Reader) -> Node:
    """a + b, a − b, −a, (a)."""
    if isinstance(expression, exp.Paren):
        return reader.node(expression.this)
    if isinstance(expression, exp.Neg):
        return Negative(reader.term(expression.this))
    sign = 1 if isinstance(expression, exp.Add) else -1
    if isinstance(expression.expression, exp.Interval):
        return _read_shift(expression, sign, reader)
    left, right = reader.value(expression.this), reader.value(expression.expression)
    if not (left.is_time and right.is_time and sign < 0):
        left, right = (reader.number(term, expression) for term in (left, right))
    return Addition(left, right, sign)


def _read_shift(expression: Expr, sign: int, reader: Reader) -> Term:
    """A time with an INTERVAL added; months differ in length, so only a written time takes them."""
    moment = parse_time(expression, reader)
    if moment is not None:
        return Moment(moment)
    count, unit = read_interval(expression.expression, reader)
    start = reader.value(expression.this)
    if unit not in UNITS or unit == "year" or not start.is_time:
        problem = "only days, hours, minutes, seconds and weeks are added to a column of times"
        raise reader.refuse(problem, expression, "write born + INTERVAL 30 DAY")
    return Shift(start, Number(count * UNITS[unit]), sign)


RULE = Rule("+ and -", (exp.Add, exp.Sub, exp.Neg, exp.Paren), read_addition, ("SUM(time + age)", "SUM(-(time - age))"))
