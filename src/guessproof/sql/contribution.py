"""What one record adds to an aggregate."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr

from guessproof.sql.moves import Moved, Scene, chosen, settled
from guessproof.sql.rules.choice import Nothing
from guessproof.sql.target import Target
from guessproof.sql.term import Condition, Node, Row, Term


@dataclass(frozen=True)
class Contribution(Term):
    """φ(x): the term where the filter holds and there is a number, `absent` elsewhere."""

    condition: Condition
    term: Term
    absent: float

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.condition, self.term

    def at(self, row: Row) -> float:
        value = self.term.at(row) if self.condition.at(row) else None
        return self.absent if value is None else value

    def follow(self, scene: Scene) -> Moved:
        inside = chosen(self.condition.follow(scene), self.term.follow(scene), Nothing().follow(scene))
        return settled(inside, self.absent)

    def write(self, target: Target) -> Expr:
        return self.term.write(target)

    @property
    def is_whole(self) -> bool:
        return self.term.is_whole
