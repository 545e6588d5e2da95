"""What COUNT adds for a row: of a column, or of an expression."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.moves import Moved, Scene, constant
from guessproof.sql.rules.column import NumberColumn
from guessproof.sql.rules.missing import found
from guessproof.sql.target import Target
from guessproof.sql.term import Node, Row, Term


@dataclass(frozen=True)
class Held(Term):
    """1 where the column holds something of its kind. No bounds are needed."""

    column: DeclaredColumn

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    def at(self, row: Row) -> float | None:
        return None if self.column.read(row.get(self.column.name)) is None else 1.0

    def follow(self, scene: Scene) -> Moved:
        column = scene[self.column.name]
        return replace(constant(1.0), null=self.column.holds_nothing(column), moves=column.moves)

    def write(self, target: Target) -> Expr:
        if not self.column.may_be_null:
            return exp.Literal.number(1)
        if self.column.is_number:
            return exp.case().when(target.is_number(self.column), exp.Literal.number(1))
        return found(self.column, target)  # COUNT looks at nothing but whether it is NULL

    @property
    def is_whole(self) -> bool:
        return True


def tally(term: Term) -> Term:
    """What COUNT of an expression adds."""
    return Held(term.column) if isinstance(term, NumberColumn) else Tallied(term)


@dataclass(frozen=True)
class Tallied(Term):
    """1 where the expression has a value, nothing elsewhere."""

    inner: Term

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    def at(self, row: Row) -> float | None:
        return None if self.inner.at(row) is None else 1.0

    def follow(self, scene: Scene) -> Moved:
        inner = self.inner.follow(scene)
        return replace(constant(1.0), null=inner.null, moves=inner.moves)

    def write(self, target: Target) -> Expr:
        return exp.case().when(self.inner.present(target), exp.Literal.number(1))

    @property
    def is_whole(self) -> bool:
        return True
