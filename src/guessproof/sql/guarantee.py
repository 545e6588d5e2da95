"""The guarantee metric of an aggregate: how far one record can move it (MATHEMATICS 6).

A record contributes φ(x) to a sum, a count, a smallest or a largest value, and what it contributes when it is
filtered out (0, or the end of the range that leaves MIN or MAX alone). Sums, counts and extremes move no further than
φ does: D(x, x') = |φ(x) − φ(x')|, with every other record and every column that is not protected as it is. Where a
record is in several rows, as in a view, a sum moves by that many times as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guessproof.sql.by_column import euclidean, label_metric, number_metric
from guessproof.sql.contribution import Contribution
from guessproof.sql.declared import Declared, DeclaredColumn
from guessproof.sql.moves import Column, Side
from guessproof.sql.ranges import point
from guessproof.sql.reach import Reach, reach
from guessproof.sql.rules.column import plain_number
from guessproof.sql.rules.label import plain_label
from guessproof.world.line_metric import LineMetric
from guessproof.world.metrics import Matrix, Metric, Multiple


@dataclass(frozen=True)
class Guarantee:
    """What one record can do to one number, per unit of noise.

    `columns`: by changing this column alone, the others at their worst. `change`: by changing any protected values,
    also to NULL. `presence`: by coming or going. `euclidean`: per unit of straight-line distance over all protected
    numbers, None where there are jumps. `error`: what floating-point arithmetic can add to any change; all but
    `euclidean` include it.
    """

    columns: Mapping[str, Metric]
    lines: Mapping[str, LineMetric]  # a simpler, never smaller form of the same, for searches over true values
    change: float
    presence: float
    euclidean: float | None
    error: float
    contribution: Contribution
    declared: Declared
    copies: int = 1  # rows of one record that are added up; everything above includes it

    @property
    def slopes(self) -> dict[str, float]:
        """The largest change per unit of each column of numbers."""
        return {name: max(metric.form.slopes) for name, metric in self.lines.items()}

    def between(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
        """How far the number can move when the named columns go from one set of values to another, at most."""
        scene = dict(self.declared.at_rest(self.contribution.columns))
        read = {name.casefold(): name for name in scene}
        for name in before:
            column = self.declared.column(name)
            sides = _side(column, before[name]), _side(column, after[name])
            if name.casefold() in read:  # one that stays is known all the same, which rules out most outcomes
                scene[read[name.casefold()]] = Column(*sides, moves=sides[0] != sides[1])
        return self.copies * self.contribution.follow(scene).change


def guarantee(contribution: Contribution, declared: Declared, copies: int = 1) -> Guarantee:
    """The guarantee of a contribution that is made up to `copies` times, for every protected column."""
    furthest = reach(contribution, declared)
    lines: dict[str, LineMetric] = {}
    columns: dict[str, Metric] = {}
    for name in sorted(contribution.columns):
        column = declared.column(name)
        if column.protected and column.is_number:
            columns[name], lines[name] = number_metric(contribution, declared, name)
        elif column.protected:
            columns[name] = label_metric(contribution, declared, column)
    steep = euclidean(contribution, declared)
    return Guarantee(
        {name: _repeated(metric, copies) for name, metric in columns.items()},
        {name: LineMetric(metric.form.times(copies)) for name, metric in lines.items()},
        copies * _changed(furthest, declared),
        copies * furthest.presence,
        None if steep is None else copies * steep,
        copies * 2 * furthest.error,
        contribution,
        declared,
        copies,
    )


def _changed(furthest: Reach, declared: Declared) -> float:
    """In a view one record for another may also be fewer rows for more, or none; with values the number is known."""
    if declared.copies is None or declared.protects != "records":
        return furthest.change
    return max(furthest.change, furthest.presence)


def _repeated(metric: Metric, copies: int) -> Metric:
    """The same distance, as many times as there are rows of the record; in its own form."""
    if copies == 1:
        return metric
    match metric:
        case LineMetric(form):
            return LineMetric(form.times(copies))
        case Multiple(factor, inner):
            return Multiple(copies * factor, inner)
        case Matrix():
            return Matrix(metric.values, copies * metric.distances)
        case _:
            return Multiple(copies, metric)


def _side(column: DeclaredColumn, value: Any) -> Side:
    if column.is_number:
        number = plain_number(value)
        return Side(missing="yes") if number is None else Side(numbers=point(number))
    return Side(missing="yes") if value is None else Side(labels=frozenset((plain_label(value),)))
