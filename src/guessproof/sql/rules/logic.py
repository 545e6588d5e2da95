"""AND, OR, NOT, TRUE and FALSE, in three values."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.movement import ALWAYS, NEVER, Scene, Truth, all_of, any_of, negated
from guessproof.sql.target import Target
from guessproof.sql.terms import Condition, Node, Reader, Row, Rule


@dataclass(frozen=True)
class Both(Condition):
    """a AND b."""

    left: Condition
    right: Condition

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.left, self.right

    def at(self, row: Row) -> bool | None:
        outcomes = (self.left.at(row), self.right.at(row))
        return False if False in outcomes else None if None in outcomes else True

    def follow(self, scene: Scene) -> Truth:
        return all_of((self.left.follow(scene), self.right.follow(scene)))

    def write(self, target: Target) -> Expr:
        return exp.and_(self.left.write(target), self.right.write(target), copy=False)

    def keeps(self, target: Target) -> Expr:
        return exp.and_(self.left.keeps(target), self.right.keeps(target), copy=False)

    @property
    def opposite(self) -> Condition:
        return OneOf(_not(self.left), _not(self.right))


@dataclass(frozen=True)
class OneOf(Condition):
    """a OR b."""

    left: Condition
    right: Condition

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.left, self.right

    def at(self, row: Row) -> bool | None:
        outcomes = (self.left.at(row), self.right.at(row))
        return True if True in outcomes else None if None in outcomes else False

    def follow(self, scene: Scene) -> Truth:
        return any_of((self.left.follow(scene), self.right.follow(scene)))

    def write(self, target: Target) -> Expr:
        return exp.or_(self.left.write(target), self.right.write(target), copy=False)

    def keeps(self, target: Target) -> Expr:
        return exp.or_(self.left.keeps(target), self.right.keeps(target), copy=False)

    @property
    def opposite(self) -> Condition:
        return Both(_not(self.left), _not(self.right))


@dataclass(frozen=True)
class Opposite(Condition):
    """NOT a."""

    inner: Condition

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    def at(self, row: Row) -> bool | None:
        outcome = self.inner.at(row)
        return None if outcome is None else not outcome

    def follow(self, scene: Scene) -> Truth:
        return negated(self.inner.follow(scene))

    def write(self, target: Target) -> Expr:
        return exp.not_(exp.paren(self.inner.write(target), copy=False), copy=False)

    @property
    def opposite(self) -> Condition:
        return self.inner


@dataclass(frozen=True)
class Fixed(Condition):
    """TRUE or FALSE."""

    outcome: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    def at(self, row: Row) -> bool:
        return self.outcome

    def follow(self, scene: Scene) -> Truth:
        return ALWAYS if self.outcome else NEVER

    def write(self, target: Target) -> Expr:
        return exp.Boolean(this=self.outcome)


def _not(condition: Condition) -> Condition:
    """NOT of a condition, moved inwards as in three values it may be."""
    return condition.opposite or Opposite(condition)


def read_logic(expression: Expr, reader: Reader) -> Condition:
    """a AND b, a OR b, NOT a, TRUE, FALSE."""
    if isinstance(expression, exp.Boolean):
        return Fixed(bool(expression.this))
    if isinstance(expression, exp.Not):
        return _not(reader.condition(expression.this))
    kind = Both if isinstance(expression, exp.And) else OneOf
    return kind(reader.condition(expression.this), reader.condition(expression.expression))


RULE = Rule(
    "AND, OR and NOT",
    (exp.And, exp.Or, exp.Not, exp.Boolean),
    read_logic,
    ("COUNT(*) WHERE colour = 'black' AND NOT time > 30",),
)
