"""Times against constants: DATE '2020-01-31', TIMESTAMP '2020-01-31 10:00:00'."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.movement import EITHER, Neighbours, OutcomePair, test_both_sides
from guessproof.sql.rules.signs import HOLDS, NODES
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row


@dataclass(frozen=True)
class TimeTest(Condition):
    """A column's time against a constant. Where the outcome changes is not followed: it may change anywhere."""

    column: DeclaredColumn
    sign: str
    value: datetime.datetime

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    def at(self, row: Row) -> bool | None:
        moment = self.column.read(row.get(self.column.name))
        return None if moment is None else HOLDS[self.sign](moment, self.value)

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return test_both_sides(neighbours[self.column.name], lambda _: EITHER)

    def write(self, target: SqlTarget) -> Expr:
        return NODES[self.sign](this=write_time(self.column, target), expression=target.moment(self.value))


def write_time(column: DeclaredColumn, target: SqlTarget) -> Expr:
    """A column's time, and the first of all where nothing may be missing."""
    found = target.time(column)
    if column.missing:
        return found
    return exp.Coalesce(this=found, expressions=[target.moment(column.read(None))])


def read_time_test(left: Expr, sign: str, value: datetime.datetime, right: Expr, reader: Reader) -> TimeTest:
    """A column against a time."""
    column = reader.column(left)
    if column.kind is None and column.levels is not None:
        problem = f"the levels of {column.name} are texts, and this is a time"
        raise reader.refuse(problem, right, "write the text in quotes, as the levels are written")
    remedies = {"number": "compare it with a number", "truth": f"write {column.name} or NOT {column.name}"}
    remedy = remedies.get(column.kind or "", "compare it with a text in quotes")
    return TimeTest(reader.use_as(column, "time", right, remedy), sign, value)
