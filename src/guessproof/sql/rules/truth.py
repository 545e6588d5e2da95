"""A column of truth values: WHERE smoker, WHERE smoker = TRUE.

Which labels mean true and which false is stated, by the plan or by a fixed list of words; what is neither is NULL.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.movement import (
    EITHER,
    NO,
    NULL,
    YES,
    ColumnState,
    Neighbours,
    Outcome,
    OutcomePair,
    test_both_sides,
)
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row

OUTCOMES: dict[bool | None, frozenset[Outcome]] = {True: YES, False: NO, None: NULL}


@dataclass(frozen=True)
class TruthTest(Condition):
    """Whether a column is true (or, not `wanted`, false)."""

    column: DeclaredColumn
    wanted: bool = True

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    def at(self, row: Row) -> bool | None:
        value = self.column.read(row.get(self.column.name))
        return None if value is None else value == self.wanted

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return test_both_sides(neighbours[self.column.name], self._outcomes)

    def _outcomes(self, side: ColumnState) -> frozenset[Outcome]:
        if side.labels is None:
            return EITHER | NULL if self.column.has_neither else EITHER
        told = [self.column.truth(label) for label in side.labels]
        return frozenset[Outcome]().union(*(OUTCOMES[None if t is None else t == self.wanted] for t in told))

    def write(self, target: SqlTarget) -> Expr:
        if not self.column.may_be_null:
            return exp.Coalesce(this=self._write_test(target), expressions=[exp.Boolean(this=not self.wanted)])
        stored = target.truth(self.column)
        if stored is not None:
            return stored if self.wanted else exp.not_(stored, copy=False)
        yes, no = self._labels
        text = target.label(self.column)
        found = exp.case().when(target.among(text, yes), exp.true())
        return found.when(target.among(text.copy(), no), exp.false())

    def keeps(self, target: SqlTarget) -> Expr:
        if self.column.may_be_null:
            return self._write_test(target)
        return self._write_test(target) if self.wanted else self.write(target)

    @property
    def _labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        yes, no = self.column.trues, self.column.falses
        return (yes, no) if self.wanted else (no, yes)

    def _write_test(self, target: SqlTarget) -> Expr:
        """True where the condition is; where nothing is NULL, false is whatever does not mean true."""
        stored = target.truth(self.column)
        if stored is not None:
            return stored if self.wanted else exp.not_(stored, copy=False)
        text = target.label(self.column)
        if self.column.may_be_null or self.wanted:
            return target.among(text, self._labels[0])
        return target.among(text, self.column.trues, within=False)

    @property
    def opposite(self) -> Condition:
        return replace(self, wanted=not self.wanted)


def read_flag(expression: Expr, reader: Reader) -> TruthTest:
    """A bare column where a condition is needed."""
    column = reader.column(expression)
    remedies = {"label": f"compare it, as {column.name} = '…', or say which labels are true and which false"}
    remedy = remedies.get(column.kind or "", f"compare it, as {column.name} > 0")
    column = reader.use_as(column, "truth", expression, remedy)
    if column.levels is not None and not (column.trues and column.falses):
        known = "true" if column.falses else "false" if column.trues else "true and which false"
        problem = f"which levels of {column.name} mean {known} is not known"
        raise reader.refuse(problem, expression, f'declare true = ["…"] and false = ["…"] for {column.name}')
    return TruthTest(column)


def read_flag_test(left: Expr, sign: str, right: exp.Boolean, reader: Reader) -> TruthTest:
    """column = TRUE, column <> FALSE."""
    flag = read_flag(left, reader)
    if sign not in ("=", "<>"):
        raise reader.refuse("truth values have no order", right, "compare with = or <>")
    return replace(flag, wanted=bool(right.this) == (sign == "="))
