"""COUNT(DISTINCT column): how many of a column's declared levels occur.

A record that goes from one level to another may take the last one of the first away and be the first of the second:
the count falls by one, rises by one, or stays. One who comes or goes moves it by one at most. What several rows of one
record hold is the same, so in one group they move it no further.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.guarantee import UnitTotal
from guessproof.intervals import Interval
from guessproof.sql.aggregate_reader import AggregateReader
from guessproof.sql.declared import DeclaredColumn, DeclaredTable, number_of
from guessproof.sql.distances import Contribution
from guessproof.sql.measurement import ColumnPresence
from guessproof.sql.movement import EITHER, ChangeBounds, ColumnChange, Neighbours, OutcomePair
from guessproof.sql.places import leave_out
from guessproof.sql.relation import carry_along
from guessproof.sql.rules.label import LabelAmong
from guessproof.sql.rules.logic import Conjunction
from guessproof.sql.rules.membership import NumberAmong
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, NoFilter, Reader


@dataclass(frozen=True)
class LevelOf(ColumnPresence):
    """A column whose levels all count for themselves: no two of them come out alike."""

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        found = super().follow(neighbours)
        return replace(found, null=OutcomePair(EITHER, EITHER, not found.moves))


@dataclass(frozen=True)
class DistinctContribution(Contribution):
    """A record's level, among those that are counted once."""

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        neighbours = carry_along(self.joins, neighbours) if self.joins else neighbours
        gone, column = leave_out(self.condition.follow(neighbours)), neighbours[self.column.name]
        sides = gone.before, gone.after
        leaves = not gone.same and any("true" in a and "false" in b for a, b in (sides, sides[::-1]))
        changes = all("false" in side for side in sides) and not _stays(column)
        most = 1.0 if leaves or changes else 0.0
        ends = [Interval(0.0 if "true" in side else 1.0, 1.0 if "false" in side else 0.0) for side in sides]
        moves = column.moves or not gone.same
        return ChangeBounds(*ends, gap=Interval(-most, most), steep=math.inf if most else 0.0, moves=moves)

    @property
    def column(self) -> DeclaredColumn:
        """Whose levels are counted."""
        assert isinstance(self.term, LevelOf)
        return self.term.column

    @property
    def is_whole(self) -> bool:
        return True

    def write(self, target: SqlTarget) -> Expr:
        """What is the same for the same level; other values must have been left out before."""
        return target.number(self.column) if self.column.is_number else target.label(self.column)


@dataclass(frozen=True)
class OwnedLevels(DistinctContribution):
    """The same where a unit has several rows: as many of its levels count as it may have rows."""

    apart = True

    def bound_unit(self, declared: DeclaredTable, groups: int, *, adds: bool, once: bool) -> UnitTotal | None:
        return declared.unit.bound_levels(len(self.column.levels or ()), groups)


def _stays(column: ColumnChange) -> bool:
    """Whether both sides are bound to hold the same level."""
    if not column.moves:
        return True
    before, after = column.before, column.after
    if before.numbers is not None and after.numbers is not None:
        return before.numbers.is_point and before.numbers == after.numbers
    return before.labels is not None and before.labels == after.labels and len(before.labels) == 1


def read_distinct(aggregates: AggregateReader, call: Expr, own: Condition, text: str) -> Expr:
    """The place of a count of levels."""
    reader, inner = aggregates.reader, call.this
    assert isinstance(inner, Expr)
    if isinstance(inner, exp.Distinct):
        inner = inner.expressions[0] if len(inner.expressions) == 1 and not inner.args.get("on") else inner
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.Column):
        raise reader.refuse("COUNT DISTINCT counts the levels of one column", call, "name one column with levels")
    column = reader.column(inner)
    if column.levels is None:
        problem = f"the values of {column.name} are not declared, and how many there are would tell of rare ones"
        raise reader.refuse(problem, call, reader.meant(column, _remedy(column, reader)))
    column = column if column.is_number else reader.use_as(column, "label", inner, "declare its levels as labels")
    among = _among(column)
    kept = among if isinstance(own, NoFilter) else Conjunction(own, among)
    made = DistinctContribution if reader.declared.unit.identity is None else OwnedLevels
    contribution = made(aggregates.condition(kept), LevelOf(column), 0.0, aggregates.joins)
    return aggregates.add(text, "distinct", contribution, kept, call)


def _remedy(column: DeclaredColumn, reader: Reader) -> str:
    """Levels, or that persons are counted: by another column than the plan names, or in a plan that names none."""
    name = column.name
    levels = f'declare levels = ["…", "…"] {reader.where(column)}, from public knowledge'
    if reader.declared.unit.identity is not None:
        return f'{levels}; if {name} names the persons, write person = "{name}" under [data]'
    return f'{levels}; if {name} names persons, write protects = "persons", person = "{name}" and max_rows under [data]'


def _among(column: DeclaredColumn) -> Condition:
    levels = column.levels or ()
    if not column.is_number:
        return LabelAmong(column, levels)
    numbers = sorted(number for number in map(number_of, levels) if number is not None)
    return NumberAmong(column, tuple(numbers))
