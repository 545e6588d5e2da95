"""Bins of a number or a time as a GROUP BY key: [e0, e1), [e1, e2), …, the last one closed; nothing lies beyond.

A record of which the number changes inside one bin stays in its group; across an edge it leaves one group and enters
another. What lies outside all edges is in no group, as a label that is no level.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.target import SqlTarget
from guessproof.world import Binned, LineForm, LineMetric, label_of, show_time

if TYPE_CHECKING:
    from guessproof.sql.distances import ContributionResponse

FEW = 40  # bins that are told apart by comparisons as fast as by arithmetic
MOST_COUNTED = 2.0**53  # more rows than any table has
MOST_CUTS = 130  # of a line form, as for other expressions


@dataclass(frozen=True)
class Bins:
    """The bins of a column that lies on a line: numbers, or times as days since 1970."""

    column: DeclaredColumn

    @property
    def edges(self) -> tuple[float, ...]:
        """Where they begin and end."""
        assert self.column.edges is not None
        return self.column.edges

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the groups are called.

        >>> Bins(DeclaredColumn("x", edges=(0.0, 2.5, 10.0))).names
        ('[0, 2.5)', '[2.5, 10]')
        """
        shown = [show_time(e) if self.column.kind == "time" else label_of(e) for e in self.edges]
        pairs = list(pairwise(shown))
        return (*(f"[{a}, {b})" for a, b in pairs[:-1]), f"[{pairs[-1][0]}, {pairs[-1][1]}]")

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """A number is in the piece of how many of these it exceeds: the first and the last piece are no bins."""
        return (*(math.nextafter(e, -math.inf) for e in self.edges[:-1]), self.edges[-1])

    def find(self, x: float | None) -> int | None:
        """The bin of a number; None where it is in none.

        >>> [Bins(DeclaredColumn("x", edges=(0.0, 2.5, 10.0))).find(x) for x in (-0.0, 2.5, 10.0, 11.0)]
        [0, 1, 1, None]
        """
        piece = 0 if x is None or math.isnan(x) else bisect_left(self.cuts, x)
        return piece - 1 if 0 < piece < len(self.edges) else None

    def find_stored(self, value: object) -> int | None:
        """The bin of what is stored; what is missing is in none, whatever was declared."""
        return self.find(self._open.place(value))

    @cached_property
    def _open(self) -> DeclaredColumn:
        return replace(self.column, missing=True)

    # As it is run.

    def write_inside(self, target: SqlTarget) -> Expr:
        """Whether there is a bin: NULL and NaN, which is above everything, have none."""
        low, high = target.double(self.edges[0]), target.double(self.edges[-1])
        return exp.Between(this=self._write_number(target), low=low, high=high)

    def write(self, target: SqlTarget) -> Expr:
        """Which bin a number inside is in: computed where edges are evenly spaced, elsewhere by halving."""
        x = self._write_number(target)
        if self._width is not None:
            return self._write_computed(x, self._width, target)
        if len(self.names) == 1:  # a bare 0 in GROUP BY would mean a place in SELECT
            below = exp.LT(this=x, expression=target.double(self.edges[1]))
            return exp.case().when(below, exp.Literal.number(0)).else_(exp.Literal.number(0))
        return self._write_search(x, 0, len(self.names) - 1, target)

    def _write_number(self, target: SqlTarget) -> Expr:
        if self.column.kind == "time":
            return target.days(target.time(self.column))
        return target.number(self.column)

    @cached_property
    def _width(self) -> float | None:
        """The distance of many edges, where the operations of an engine give each of them exactly."""
        low, count = self.edges[0], len(self.names)
        width = (self.edges[-1] - low) / count
        even = count >= FEW and all(low + float(k) * width == edge for k, edge in enumerate(self.edges))
        return width if even else None

    def _write_computed(self, x: Expr, width: float, target: SqlTarget) -> Expr:
        """The nearest edge, exactly; below it, and at the last one, the bin before.

        What has no bin stands at the first edge, so that nothing can overflow in whatever order an engine works.
        """
        low, step = target.double(self.edges[0]), target.double(width)
        y = exp.paren(exp.case().when(self.write_inside(target), x).else_(low.copy()), copy=False)
        away = exp.paren(exp.Sub(this=y, expression=low), copy=False)
        nearest = target.whole(target.divide(away, step))
        edge = exp.Add(
            this=low.copy(), expression=exp.Mul(this=target.as_double(nearest.copy()), expression=step.copy())
        )
        last = exp.EQ(this=nearest.copy(), expression=exp.Literal.number(len(self.names)))
        below = exp.or_(last, exp.LT(this=y.copy(), expression=edge), copy=False)
        before = exp.Sub(this=nearest.copy(), expression=exp.Literal.number(1))
        return exp.case().when(below, before).else_(nearest.copy())

    def _write_search(self, x: Expr, first: int, last: int, target: SqlTarget) -> Expr:
        if first == last:
            return exp.Literal.number(first)
        middle = (first + last + 1) // 2
        below = exp.LT(this=x.copy(), expression=target.double(self.edges[middle]))
        lower, upper = (self._write_search(x, *part, target) for part in ((first, middle - 1), (middle, last)))
        return exp.case().when(below, lower).else_(upper)


@dataclass(frozen=True)
class CountBins(Bins):
    """Whole numbers from 0 to the last level, each by itself, and one bin for all that are above."""

    @property
    def edges(self) -> tuple[float, ...]:
        assert self.column.levels is not None
        return (*map(float, range(len(self.column.levels) + 1)), MOST_COUNTED)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The numbers, and the last bin in words.

        >>> CountBins(DeclaredColumn("n", bounds=(0, 1), levels=("0", "1"), counts=True)).names
        ('0', '1', '2 or more')
        """
        assert self.column.levels is not None
        return (*self.column.levels, f"{len(self.column.levels)} or more")

    def write(self, target: SqlTarget) -> Expr:
        last = target.double(float(len(self.names) - 1))
        return target.whole(target.extreme([self._write_number(target), last], largest=False))


def measure_bins(
    response: ContributionResponse, bins: Bins, inside: LineForm, change: float
) -> tuple[Binned, LineMetric]:
    """How far a record moves two groups together when its number changes, and the same or more as a line form."""
    worth = (0.0, *response.worths(bins.column.name, bins.cuts)[1:-1], 0.0)
    return Binned(bins.cuts, worth, change, inside), LineMetric(_make_line(bins.cuts, worth, inside, change))


def _make_line(cuts: Sequence[float], worth: Sequence[float], inside: LineForm, change: float) -> LineForm:
    """A jump at each edge by what is lost and what is won: over several edges these add up to more than needed."""
    jumps = tuple(a + b for a, b in pairwise(worth))
    if len(cuts) + len(inside.cuts) > MOST_CUTS:
        return LineForm(step=change)
    found = LineForm(tuple(cuts), (0.0,) * len(worth), jumps).plus(replace(inside, cap=math.inf))
    return LineForm(step=change) if found is None else found.capped(change)
