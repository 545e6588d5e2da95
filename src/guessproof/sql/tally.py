"""What COUNT of an expression adds for a row."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.sql.moves import Moved, Scene, constant
from guessproof.sql.term import Node, Row, Term, Types


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
        present = exp.not_(
            exp.Is(this=exp.paren(self.inner.write(types), copy=False), expression=exp.null()), copy=False
        )
        return exp.case().when(present, exp.cast(exp.Literal.number(1), "DOUBLE"))

    @property
    def is_whole(self) -> bool:
        return True
