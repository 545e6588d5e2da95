"""What is computed from times: differences in days, years and months, the beginning of a month, casts.

Days on the line are whole at midnight, so the calendar is asked by whole days: no rounding moves a time across one.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.intervals import ONE, ZERO, Interval, outward, point
from guessproof.sql.movement import ChangeBounds, ColumnState, Neighbours, carry_through, find_nulls
from guessproof.sql.rules.addition import Addition
from guessproof.sql.rules.multiplication import Multiplication
from guessproof.sql.rules.time import TIMESTAMPS, Moment, TimeColumn, parse_time, read_time_column
from guessproof.sql.rules.values import Number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Node, Reader, Row, Rule, Term
from guessproof.world import EPOCH, EXACT, UNITS, days_of, moment_of

PARTS = {"year": (1, 9999), "quarter": (1, 4), "month": (1, 12), "day": (1, 31), "hour": (0, 23)}
YEARS_OF_DAY = outward(1 / 366, 1 / 365)  # d days make between d/366 − 1 and d/365 + 1 years
MOST_YEARS = 12
LENGTHS = {"day": 1.0, "week": 7.0, "month": 31.0, "quarter": 92.0, "year": 366.0}  # at most
NODES: dict[type[Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.Hour: "hour",
}
MOST_PERIODS = 120  # whose beginnings are cuts on the line; beyond it a part may change anywhere
WHOLE = (exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT)


def find_start(days: float, unit: str) -> datetime.date:
    """The first day of the day, week, month … in which a place on the line lies."""
    day = EPOCH.date() + datetime.timedelta(days=math.floor(days))
    if unit == "week":
        return day - datetime.timedelta(days=day.weekday())
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    return day if months is None else day.replace(month=(day.month - 1) // months * months + 1, day=1)


def find_part(moment: datetime.date, unit: str) -> int:
    """The year, quarter, month, day or hour."""
    return (moment.month - 1) // 3 + 1 if unit == "quarter" else int(getattr(moment, unit))


@dataclass(frozen=True)
class CalendarPart(Term):
    """The year, month … of a column's time: the same all through one such period."""

    inner: TimeColumn
    unit: str

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    def at(self, row: Row) -> float | None:
        spot = self.inner.at(row)
        return None if spot is None else float(find_part(moment_of(spot), self.unit))

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        column = neighbours[self.inner.column.name]
        before, after = self._range(column.before), self._range(column.after)
        null = find_nulls(column)
        if not column.moves:
            return ChangeBounds(before, after, null=null)
        gap = after - before
        if self._is_long and gap.size:
            a = self.inner.follow(neighbours)
            along = carry_through([(YEARS_OF_DAY, a)], before, after, whole=True)
            gap = along.gap + Interval(-1.0, 1.0) if a.slope != ZERO else gap
            return ChangeBounds(before, after, along.slope, gap, math.inf, along.error, null, moves=True)
        return ChangeBounds(before, after, ZERO, gap, math.inf if gap.size else 0.0, null=null, moves=True)

    @property
    def _is_long(self) -> bool:
        """Whether there are so many years that they are taken for a line with a step: a jump at each takes minutes."""
        low, high = self.inner.ends
        return self.unit == "year" and find_start(high, "year").year - find_start(low, "year").year > MOST_YEARS

    def _range(self, side: ColumnState) -> Interval:
        low, high = self.inner.ends if side.numbers is None else side.numbers.clamp(*self.inner.ends)
        if self.unit == "hour":
            return Interval(*map(float, PARTS["hour"]))
        first, last = find_start(low, self.unit), find_start(high, self.unit)
        if first == last:
            return point(float(find_part(first, self.unit)))
        ends = (first.year, last.year) if self.unit == "year" else PARTS[self.unit]
        return Interval(*map(float, ends))

    def cuts(self, column: str) -> frozenset[float]:
        if column != self.inner.column.name or self.unit == "hour":
            return frozenset()
        if self._is_long:
            return frozenset(self.inner.ends)
        low, high = self.inner.ends
        found: set[float] = set()
        start = find_start(high, self.unit)
        while days_of(start) > low and len(found) < MOST_PERIODS:
            found.add(math.nextafter(days_of(start), -math.inf))
            start = find_start(days_of(start) - 1, self.unit)
        return frozenset(found) if days_of(start) <= low else frozenset()

    def write(self, target: SqlTarget) -> Expr:
        return target.calendar_part(self.inner.clamped(target), self.unit)

    @property
    def is_whole(self) -> bool:
        return True


@dataclass(frozen=True)
class PeriodStart(Term):
    """The beginning of the month … in which a time lies: two end at most one period further apart than they were."""

    inner: TimeColumn
    unit: str

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    def at(self, row: Row) -> float | None:
        spot = self.inner.at(row)
        return None if spot is None else days_of(find_start(spot, self.unit))

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a = self.inner.follow(neighbours)
        before, after = self._range(a.before), self._range(a.after)
        if not a.moves:
            return ChangeBounds(before, after, null=a.null)
        length = LENGTHS[self.unit]
        gap = carry_through([(ONE, a)], a.before, a.after, ulps=0).gap + Interval(-length, length)
        if a.slope == ZERO:
            gap = gap & (after - before)
        return ChangeBounds(before, after, a.slope, gap, math.inf, 0.0, a.null, moves=True)

    def _range(self, days: Interval) -> Interval:
        return Interval(days_of(find_start(days.low, self.unit)), days_of(find_start(days.high, self.unit)))

    def write(self, target: SqlTarget) -> Expr:
        return target.days(target.truncated(self.inner.clamped(target), self.unit))

    @property
    def is_time(self) -> bool:
        return True


def read_part(expression: Expr, reader: Reader) -> CalendarPart:
    """YEAR(t), EXTRACT(MONTH FROM t), …"""
    if isinstance(expression, exp.Extract):
        unit, inner = str(expression.this).lower(), expression.expression
    else:
        unit, inner = NODES[type(expression)], expression.this
    if unit not in PARTS:
        raise reader.refuse(f"{unit} of a time is not understood", expression, f"use {', '.join(PARTS)}")
    return CalendarPart(_read_bounded(inner, reader), unit)


def read_truncated(expression: Expr, reader: Reader) -> PeriodStart:
    """DATE_TRUNC('month', t)."""
    unit = str(expression.args.get("unit") or "").lower().removesuffix("(monday)")
    if unit not in LENGTHS or expression.args.get("zone"):
        raise reader.refuse("this part of a time is not understood", expression, f"use {', '.join(LENGTHS)}")
    return PeriodStart(_read_bounded(expression.this, reader), unit)


def _read_bounded(expression: Expr, reader: Reader) -> TimeColumn:
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if not isinstance(expression, exp.Column):
        raise reader.refuse("a column of times is needed here", expression, "name a column with dates as bounds")
    found = read_time_column(expression, reader)
    if max(map(abs, found.ends)) >= EXACT:
        remedy = "declare bounds between 1791 and 2149"
        raise reader.refuse("the calendar of these years is not followed", expression, remedy)
    return found


def read_difference(expression: Expr, reader: Reader) -> Term:
    """DATEDIFF('day', a, b): b − a in days, with their fractions; in years: the difference of the years."""
    unit = str(expression.args.get("unit") or "day").lower()
    ends = [expression.this, expression.expression]
    if unit == "year":
        return Addition(*(_read_year(end, reader) for end in ends), sign=-1)
    if unit not in UNITS:
        remedy = "use 'day', 'hour', 'minute', 'second', 'week' or 'year'"
        raise reader.refuse(f"a difference in {unit}s is not understood", expression, remedy)
    late, early = (read_moment(end, reader) for end in ends)
    days = Addition(late, early, -1)
    return days if unit == "day" else Multiplication(days, Number(1 / UNITS[unit]))


def _read_year(expression: Expr, reader: Reader) -> Term:
    moment = parse_time(expression, reader)
    return CalendarPart(_read_bounded(expression, reader), "year") if moment is None else Number(float(moment.year))


def read_moment(expression: Expr, reader: Reader) -> Term:
    """A time: written, stored, or computed from one."""
    moment = parse_time(expression, reader)
    found = reader.value(expression) if moment is None else Moment(moment)
    if not found.is_time:
        raise reader.refuse("a time is needed here", expression, "name a column of times, or write DATE '2020-01-31'")
    return found


def read_cast(expression: Expr, reader: Reader) -> Term:
    """DATE '2020-01-31', and casts to what a term already is."""
    moment, kind, inner = parse_time(expression, reader), expression.args["to"].this, expression.this
    if moment is not None:
        return Moment(moment)
    if kind == exp.DType.DATE:
        return PeriodStart(_read_bounded(inner, reader), "day")
    if kind in TIMESTAMPS:
        return read_moment(inner, reader)
    term = reader.term(inner)
    if kind == exp.DType.DOUBLE or (kind in WHOLE and term.is_whole):
        return term
    remedy = "write ROUND(x)" if kind in WHOLE else "leave it out: a column with bounds is read as numbers"
    raise reader.refuse("this would change the numbers in a way that is not followed", expression, remedy)


PART_RULE = Rule(
    "YEAR, MONTH, DAY and EXTRACT",
    (exp.Extract, *NODES),
    read_part,
    ("COUNT(*) WHERE YEAR(born) = 1980", "SUM(EXTRACT(MONTH FROM born))"),
)
TRUNCATED_RULE = Rule(
    "DATE_TRUNC",
    (exp.TimestampTrunc, exp.DateTrunc),
    read_truncated,
    ("COUNT(*) WHERE DATE_TRUNC('month', born) = DATE '1980-05-01'",),
)
DIFFERENCE_RULE = Rule(
    "DATEDIFF",
    (exp.DateDiff,),
    read_difference,
    ("SUM(DATEDIFF('day', born, DATE '2026-01-01'))", "SUM((DATE '2026-01-01' - born) / 365.25)"),
)
CAST_RULE = Rule(
    "CAST to what it is",
    (exp.Cast, exp.TryCast),
    read_cast,
    ("SUM(CAST(time AS DOUBLE))", "MIN(born + INTERVAL 30 DAY)"),
)
