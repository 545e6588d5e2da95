"""What a query is made of, once it was understood: terms (numbers) and conditions (true, false, unknown).

Each knows four things: its plain value for one row (`at`), how a move of the record changes it (`follow`), the SQL
that computes it without any error that depends on data (`write`), and where on a column it may jump (`cuts`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import Expr, exp

from guessproof.sql.moves import ALWAYS, Moved, Scene, Truth
from guessproof.sql.target import Target

Row = Mapping[str, Any]


class Node(ABC):
    """A term or a condition."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Node, ...]:
        """What it is made of."""

    @abstractmethod
    def write(self, target: Target) -> Expr:
        """SQL that is safe to run."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns it reads."""
        return frozenset[str]().union(*(p.columns for p in self.parts))

    def cuts(self, column: str) -> frozenset[float]:
        """Where, as a function of this column, it may jump or bend: x ≤ cut against x > cut."""
        return frozenset[float]().union(*(p.cuts(column) for p in self.parts))


class Term(Node):
    """A number, or NULL."""

    @abstractmethod
    def at(self, row: Row) -> float | None:
        """The plain value for one row."""

    @abstractmethod
    def follow(self, scene: Scene) -> Moved:
        """What a move does to it."""

    def present(self, target: Target) -> Expr:
        """SQL that is true exactly where there is a number."""
        return exp.not_(exp.Is(this=exp.paren(self.write(target), copy=False), expression=exp.null()), copy=False)

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number for every row."""
        return False


class Condition(Node):
    """True, false or unknown. `write` says which; `keeps` only has to tell true from the rest."""

    @abstractmethod
    def at(self, row: Row) -> bool | None:
        """The plain outcome for one row."""

    @abstractmethod
    def follow(self, scene: Scene) -> Truth:
        """What a move does to it."""

    def keeps(self, target: Target) -> Expr:
        """SQL that is true exactly where the condition is: cheaper, for WHERE and WHEN."""
        return self.write(target)

    @property
    def opposite(self) -> Condition | None:
        """NOT of it, where that is as simple."""
        return None


@dataclass(frozen=True)
class Everyone(Condition):
    """No filter at all."""

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    def at(self, row: Row) -> bool:
        return True

    def follow(self, scene: Scene) -> Truth:
        return ALWAYS

    def write(self, target: Target) -> Expr:
        return exp.true()
