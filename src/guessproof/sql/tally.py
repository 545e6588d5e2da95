"""What COUNT adds for a row: of a column, or of an expression."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.moves import Moved, Scene, constant, null_of
from guessproof.sql.rules.column import NumberColumn, is_number, number, plain_number
from guessproof.sql.term import Node, Row, Term, Types


@dataclass(frozen=True)
class Held(Term):
    """1 where the column holds something; for a protected number NaN counts as nothing. No bounds are needed."""

    name: str
    as_number: bool

    @staticmethod
    def of(column: DeclaredColumn) -> Held:
        """What COUNT(column) adds."""
        return Held(column.name, bool(column.is_number) and column.protected)

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def at(self, row: Row) -> float | None:
        value = row.get(self.name)
        return None if (plain_number(value) if self.as_number else value) is None else 1.0

    def follow(self, scene: Scene) -> Moved:
        column = scene[self.name]
        return replace(constant(1.0), null=null_of(column), moves=column.moves)

    def write(self, types: Types) -> Expr:
        if self.as_number:
            return exp.case().when(is_number(number(self.name, types)), exp.Literal.number(1))
        return exp.column(self.name, quoted=True)  # COUNT looks at nothing but whether it is NULL

    @property
    def is_whole(self) -> bool:
        return True


def tally(term: Term) -> Term:
    """What COUNT of an expression adds."""
    return Held(term.name, as_number=True) if isinstance(term, NumberColumn) else Tallied(term)


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

    def write(self, types: Types) -> Expr:
        return exp.case().when(self.inner.present(types), exp.Literal.number(1))

    @property
    def is_whole(self) -> bool:
        return True
