"""COUNT, SUM, AVG, MIN, MAX: what is measured, what one record does to it, its place in the outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeVar

from sqlglot import Expr, exp

from guessproof.guarantee import Guarantee, UnitTotal
from guessproof.intervals import Interval
from guessproof.rounded import up
from guessproof.sql.declared import DeclaredColumn, DeclaredTable
from guessproof.sql.distances import (
    Contribution,
    bound_euclidean,
    bound_sensitivity,
)
from guessproof.sql.formula import Key
from guessproof.sql.movement import ChangeBounds, Neighbours, constant
from guessproof.sql.rules.missing import write_presence
from guessproof.sql.rules.values import Number, NumberColumn
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Row, Term
from guessproof.world import Binned, LineForm, LineMetric, Matrix, Metric, Multiple

AnyMeasurement = TypeVar("AnyMeasurement", bound="Measurement")
AggregateKind = Literal["count", "sum", "min", "max", "quantile", "distinct"]
EXTREMES = ("min", "max")
PARTS_OF_ROW = 1 << 10


@dataclass(frozen=True)
class ColumnPresence(Term):
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

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        column = neighbours[self.column.name]
        return replace(constant(1.0), null=self.column.holds_nothing(column), moves=column.moves)

    def write(self, target: SqlTarget) -> Expr:
        if not self.column.may_be_null:
            return exp.Literal.number(1)
        if self.column.is_number:
            return exp.case().when(target.is_number(self.column), exp.Literal.number(1))
        return write_presence(self.column, target)  # COUNT looks at nothing but whether it is NULL

    @property
    def is_whole(self) -> bool:
        return True


def count_presence(term: Term) -> Term:
    """What COUNT of an expression adds."""
    return ColumnPresence(term.column) if isinstance(term, NumberColumn) else TermPresence(term)


@dataclass(frozen=True)
class TermPresence(Term):
    """1 where the expression has a value, nothing elsewhere."""

    inner: Term

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    def at(self, row: Row) -> float | None:
        return None if self.inner.at(row) is None else 1.0

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        inner = self.inner.follow(neighbours)
        return replace(constant(1.0), null=inner.null, moves=inner.moves)

    def write(self, target: SqlTarget) -> Expr:
        return exp.case().when(self.inner.present(target), exp.Literal.number(1))

    @property
    def is_whole(self) -> bool:
        return True


@dataclass(frozen=True)
class OncePresent(Number):
    """1 for each unit that has a row at all, however many it has."""


@dataclass(frozen=True)
class Measurement:
    """One aggregate that gets noise, and the guarantee of one protected unit for what the engine adds up.

    `divisor` is the public count behind an average: the answer is the noisy sum over it.
    `filter` is the aggregate's own FILTER, beside the query's WHERE. `total` is what the rows of one unit may add up
    to, where it has several: the engine sees to it.
    """

    text: str
    kind: AggregateKind
    contribution: Contribution
    filter: Condition
    guarantee: Guarantee
    declared: DeclaredTable
    divisor: float
    copies: int = 1  # how many rows of one record are added up in it, or numbers that it moves
    keys: tuple[Key, ...] = ()  # protected ones of GROUP BY: a record may leave one group and enter another
    account: str = ""
    total: UnitTotal | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the answer is a whole number, so that whole noise fits."""
        scaled = self.total is not None and (self.total.most is not None or self.total.weights is not None)
        return self.contribution.is_whole and self.divisor == 1 and not scaled

    @property
    def euclidean(self) -> float:
        """How far a record can move all groups by straight-line distance, which normal noise hides: at most this."""
        most = self.guarantee.sensitivity
        if self.total is not None:
            return min(most, self.declared.linked * self.total.euclidean)
        if not self.keys:
            return most
        return min(most, self.copies * self.declared.linked * bound_euclidean(self.contribution, self.declared))

    @cached_property
    def range(self) -> Interval:
        """What one row can contribute, rounding of floating-point arithmetic included."""
        return self.contribution.follow(self.declared.at_rest(self.contribution.columns)).hull

    @property
    def size(self) -> float:
        """The largest number that a row or a unit contributes."""
        return self.range.size if self.total is None else max(self.range.size, self.total.presence)

    @property
    def is_rounded(self) -> bool:
        """Whether rounding to a grid can add to a move. What was bounded after it moves no further than the bound."""
        return self.total is None or self.kind not in ("count", "sum")

    @property
    def picks(self) -> bool:
        """Whether a value is picked by its rank, instead of noise on a number."""
        return self.contribution.picks

    @property
    def is_apart(self) -> bool:
        """Whether the engine tells more of it than one number: by a statement of its own."""
        return self.contribution.apart

    @property
    def follows(self) -> bool:
        """Whether the scale of its noise follows the data."""
        return self.contribution.follows

    @property
    def fine(self) -> int:
        """Into how many parts a row is divided where the rows of one unit are scaled and counted by places."""
        return 1 if self.total is None else PARTS_OF_ROW

    @property
    def per_answer(self) -> Guarantee:
        """The guarantee in units of the answer."""
        return self.guarantee.scaled(1 / self.divisor)


def describe(measurement: Measurement) -> str:
    """What one record can do to a number, and why.

    >>> from guessproof.sql.declared import DeclaredColumn, DeclaredTable
    >>> from guessproof.sql.query import analyze
    >>> t = DeclaredTable("t", {"salary": DeclaredColumn("salary", bounds=(1000, 4000), missing=False)})
    >>> analyze("SELECT SUM(salary) FROM t", t).measurements[0].account
    "SUM(salary): one person moves it by at most |x − x'|, at most 3000"
    """
    if measurement.picks:
        return _describe_pick(measurement)
    answer = measurement.per_answer
    if answer.unit.hides_presence:
        return (
            f"{measurement.text}: adding or removing one {answer.unit.noun} moves it by at most {up(answer.presence)}, "
            f"changing one by at most {up(answer.change)}"
        )
    metrics = {n: m for n, m in measurement.guarantee.columns.items() if _matters(m)}
    largest = f"{up(answer.change)}{_describe_remedy(measurement)}"
    per = f" (over {measurement.divisor:g} rows or more, known to have a value)" if measurement.divisor != 1 else ""
    start = f"{measurement.text}: one person moves it by at most"
    if not metrics:
        return f"{start} {up(answer.change)}, when a value goes missing{per}"
    if measurement.keys:
        return f"{start} {largest}, in both groups together, when {_list_keys(measurement)} changes{per}"
    if not any(isinstance(m, LineMetric) and any(m.form.slopes) for m in metrics.values()):
        return f"{start} {largest}, when {' or '.join(metrics)} changes the outcome of a test{per}"
    parts = [_describe_column(name, metric, measurement.divisor, len(metrics) == 1) for name, metric in metrics.items()]
    return f"{start} {' + '.join(parts)}, at most {largest}{per}"


def _list_keys(measurement: Measurement) -> str:
    return " or ".join(key.column for key in measurement.keys)


def _describe_pick(measurement: Measurement) -> str:
    """What one record can do to the odds of two values, in ranks."""
    found = measurement.guarantee
    inside = measurement.contribution.ranks_inside
    start = f"{measurement.text}: a value is picked by its rank" + (f", {inside} inside" if inside else "")
    if found.unit.hides_presence:
        return (
            f"{start}; adding or removing one {found.unit.noun} moves the ranks of two values apart by at most "
            f"{up(found.presence)}, changing one by at most {up(found.change)}"
        )
    return f"{start}; one person moves the ranks of two values apart by at most {up(found.change)}"


def _matters(metric: Metric) -> bool:
    """Whether the column alone can move anything."""
    if isinstance(metric, Matrix):
        return bool(metric.distances.max())
    if isinstance(metric, Multiple):
        return metric.factor > 0
    if isinstance(metric, Binned):
        return any(metric.worth)
    assert isinstance(metric, LineMetric)
    return not metric.form.is_flat or metric.form.step > 0


def _describe_remedy(measurement: Measurement) -> str:
    """What it would help to know that no value is missing."""
    declared = measurement.declared
    complete = declared.complete()
    if complete == declared or measurement.keys:  # whoever changes the group moves both, missing or not
        return ""
    present = measurement.copies * bound_sensitivity(measurement.contribution, complete).change / measurement.divisor
    if measurement.per_answer.change <= present * (1 + 1e-9):
        return ""
    return f" ({up(present)} if no value can be missing: say missing = false)"


def _describe_column(name: str, metric: Metric, divisor: float, alone: bool) -> str:
    if isinstance(metric, LineMetric):
        return _describe_line(name, metric.form, divisor, alone)
    largest = metric.factor if isinstance(metric, Multiple) else 0.0
    largest = float(metric.distances.max()) if isinstance(metric, Matrix) else largest
    return f"{up(largest / divisor)} when {name} changes the outcome of a test"


def _describe_line(name: str, form: LineForm, divisor: float, alone: bool) -> str:
    """x stands for the column where there is only one; otherwise each is called by its name."""
    slope, jump, step = max(form.slopes) / divisor, max(form.jumps, default=0.0) / divisor, form.step / divisor
    parts: list[str] = []
    if slope:
        moved = "|x − x'|" if alone else f"|{name} − {name}'|"
        parts.append(moved if math.isclose(slope, 1) else f"{up(slope)}·{moved}")
    if jump > 1e-9 * (slope + jump + step):
        parts.append(f"{up(jump)} where a test of {name} changes its outcome")
    if step > 1e-9 * (slope + jump + step):
        parts.append(f"{up(step)} for any change of {name}")
    return " + ".join(parts)


def link_records(measurement: AnyMeasurement) -> AnyMeasurement:
    """The same where records tell of each other; also columns that the query does not read may tell of the others."""
    declared, guarantee = measurement.declared, measurement.guarantee
    if declared.linked == 1:
        return measurement
    unread = [c for n, c in declared.columns.items() if c.protected and n not in guarantee.columns]
    numbers, labels = ([c.name for c in unread if c.is_number == wanted] for wanted in (True, False))
    linked = guarantee.linked_with(declared.linked, numbers, labels)
    most = up(linked.scaled(1 / measurement.divisor).sensitivity)
    account = f"{measurement.account}; {declared.linked} records that tell of each other by at most {most}"
    return replace(measurement, guarantee=linked, account=account)
