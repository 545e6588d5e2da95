"""IS TRUE, IS FALSE and IS DISTINCT FROM: tests that are never unknown."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.movement import NO, YES, Neighbours, Outcome, OutcomePair
from guessproof.sql.rules.comparison import read_comparison
from guessproof.sql.rules.logic import Conjunction, Disjunction, negate_condition
from guessproof.sql.rules.missing import IsNull, read_missing
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row, Rule


@dataclass(frozen=True)
class IsOutcome(Condition):
    """Whether a condition comes out as true (or, not `wanted`, as false): unknown is neither."""

    inner: Condition
    wanted: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    def at(self, row: Row) -> bool:
        return self.inner.at(row) is self.wanted

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        inner = self.inner.follow(neighbours)
        return OutcomePair.of(self._told(inner.before), self._told(inner.after), inner.same)

    def _told(self, outcomes: frozenset[Outcome]) -> frozenset[Outcome]:
        sought = YES if self.wanted else NO
        found: frozenset[Outcome] = YES if outcomes & sought else frozenset()
        return found | NO if outcomes - sought else found

    def write(self, target: SqlTarget) -> Expr:
        inner = exp.paren(self.inner.write(target), copy=False)
        told = inner if self.wanted else exp.not_(inner, copy=False)
        return exp.Coalesce(this=told, expressions=[exp.false()])

    def keeps(self, target: SqlTarget) -> Expr:
        return self.inner.keeps(target) if self.wanted else negate_condition(self.inner).keeps(target)


def read_is(expression: Expr, reader: Reader) -> Condition:
    """x IS NULL, a IS TRUE, a IS FALSE (and, through NOT, the opposite)."""
    if not isinstance(expression.expression, exp.Boolean):
        return read_missing(expression, reader)
    return IsOutcome(reader.condition(expression.this), bool(expression.expression.this))


def read_distinct(expression: Expr, reader: Reader) -> Condition:
    """a IS [NOT] DISTINCT FROM b: like = and <>, with NULL as a value."""
    left, right = expression.this, expression.expression
    same = _read_same(left, right, reader)
    return negate_condition(same) if isinstance(expression, exp.NullSafeNEQ) else same


def _read_same(left: Expr, right: Expr, reader: Reader) -> Condition:
    if isinstance(right, exp.Null):
        return IsNull(reader.column(left))
    equal = IsOutcome(read_comparison(exp.EQ(this=left, expression=right), reader), wanted=True)
    if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
        if not isinstance(left, exp.Column) or right.find(exp.Column):
            raise reader.refuse("IS DISTINCT FROM compares a column with a constant or a column", right, "write a = b")
        return equal
    return Disjunction(equal, Conjunction(IsNull(reader.column(left)), IsNull(reader.column(right))))


RULE = Rule(
    "IS NULL and IS TRUE",
    (exp.Is,),
    read_is,
    ("COUNT(*) WHERE time IS NOT NULL", "COUNT(*) WHERE (time > 30) IS NOT TRUE", "COUNT(*) WHERE smoker IS FALSE"),
)
DISTINCT_RULE = Rule(
    "IS DISTINCT FROM",
    (exp.NullSafeEQ, exp.NullSafeNEQ),
    read_distinct,
    ("COUNT(*) WHERE colour IS DISTINCT FROM 'black'", "COUNT(*) WHERE time IS NOT DISTINCT FROM 3"),
)
