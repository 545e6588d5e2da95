"""AND, OR, NOT, TRUE and FALSE, in three values."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.movement import ALWAYS, NEVER, Neighbours, OutcomePair, combine_and, combine_or, negate
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row, Rule


@dataclass(frozen=True)
class TwoConditions(Condition):
    """What two of them make together."""

    left: Condition
    right: Condition

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.left, self.right


@dataclass(frozen=True)
class Conjunction(TwoConditions):
    """a AND b."""

    def at(self, row: Row) -> bool | None:
        outcomes = (self.left.at(row), self.right.at(row))
        return False if False in outcomes else None if None in outcomes else True

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return combine_and((self.left.follow(neighbours), self.right.follow(neighbours)))

    def write(self, target: SqlTarget) -> Expr:
        return exp.and_(self.left.write(target), self.right.write(target), copy=False)

    def keeps(self, target: SqlTarget) -> Expr:
        return exp.and_(self.left.keeps(target), self.right.keeps(target), copy=False)

    @property
    def opposite(self) -> Condition:
        return Disjunction(negate_condition(self.left), negate_condition(self.right))


@dataclass(frozen=True)
class Disjunction(TwoConditions):
    """a OR b."""

    def at(self, row: Row) -> bool | None:
        outcomes = (self.left.at(row), self.right.at(row))
        return True if True in outcomes else None if None in outcomes else False

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return combine_or((self.left.follow(neighbours), self.right.follow(neighbours)))

    def write(self, target: SqlTarget) -> Expr:
        return exp.or_(self.left.write(target), self.right.write(target), copy=False)

    def keeps(self, target: SqlTarget) -> Expr:
        return exp.or_(self.left.keeps(target), self.right.keeps(target), copy=False)

    @property
    def opposite(self) -> Condition:
        return Conjunction(negate_condition(self.left), negate_condition(self.right))


@dataclass(frozen=True)
class Negation(Condition):
    """NOT a."""

    inner: Condition

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    def at(self, row: Row) -> bool | None:
        outcome = self.inner.at(row)
        return None if outcome is None else not outcome

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return negate(self.inner.follow(neighbours))

    def write(self, target: SqlTarget) -> Expr:
        return exp.not_(exp.paren(self.inner.write(target), copy=False), copy=False)

    @property
    def opposite(self) -> Condition:
        return self.inner


@dataclass(frozen=True)
class TruthConstant(Condition):
    """TRUE or FALSE."""

    outcome: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    def at(self, row: Row) -> bool:
        return self.outcome

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return ALWAYS if self.outcome else NEVER

    def write(self, target: SqlTarget) -> Expr:
        return exp.Boolean(this=self.outcome)


def negate_condition(condition: Condition) -> Condition:
    """NOT of a condition, moved inwards as in three values it may be."""
    return condition.opposite or Negation(condition)


def read_logic(expression: Expr, reader: Reader) -> Condition:
    """a AND b, a OR b, NOT a, TRUE, FALSE."""
    if isinstance(expression, exp.Boolean):
        return TruthConstant(bool(expression.this))
    if isinstance(expression, exp.Not):
        return negate_condition(reader.condition(expression.this))
    kind = Conjunction if isinstance(expression, exp.And) else Disjunction
    return kind(reader.condition(expression.this), reader.condition(expression.expression))


RULE = Rule(
    "AND, OR and NOT",
    (exp.And, exp.Or, exp.Not, exp.Boolean),
    read_logic,
    ("COUNT(*) WHERE colour = 'black' AND NOT time > 30",),
)
