"""The columns of the answer."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql import formula


@dataclass(frozen=True)
class Output:
    """One column of the answer: its name, and how it is computed from noisy numbers."""

    name: str
    formula: Expr

    @property
    def measured(self) -> tuple[int, ...]:
        """The measurements that it uses."""
        return formula.measurements(self.formula)

    @property
    def is_plain(self) -> bool:
        """Whether it is one noisy number as it is."""
        return isinstance(self.formula, exp.Anonymous) and self.formula.this == formula.MEASURED


@dataclass(frozen=True)
class Key:
    """A column to group by, and its public list of values."""

    name: str
    column: str
    levels: tuple[str, ...]
