"""Times: written as constants, stored in columns, tested against each other. On the line a time is days since 1970.

A test of a column against a constant is a cut on that line, like one of a number: the column is seen as it is, to the
microsecond, and the outcome changes at one place. In arithmetic a column of times needs bounds, and is clamped to them.
"""

from __future__ import annotations

import calendar
import datetime
import math
from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn, time_of
from guessproof.sql.movement import (
    EITHER,
    NO,
    YES,
    ChangeBounds,
    ColumnState,
    Neighbours,
    Outcome,
    OutcomePair,
    clamp_column,
    constant,
    test_both_sides,
)
from guessproof.sql.rules.signs import HOLDS, NODES, OPPOSITE
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row, Term
from guessproof.world import DAY, EXACT, UNITS, days_of, moment_of

TIMESTAMPS = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ)
MONTHS = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True)
class Moment(Term):
    """A time that is written in the query."""

    value: datetime.datetime

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    def at(self, row: Row) -> float:
        return days_of(self.value)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        return constant(days_of(self.value))

    def write(self, target: SqlTarget) -> Expr:
        return target.double(days_of(self.value))

    @property
    def is_time(self) -> bool:
        return True


@dataclass(frozen=True)
class TimeColumn(Term):
    """A column's time between its bounds, in days since 1970."""

    column: DeclaredColumn
    first: datetime.datetime
    last: datetime.datetime

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    @property
    def ends(self) -> tuple[float, float]:
        """The bounds on the line."""
        return days_of(self.first), days_of(self.last)

    def at(self, row: Row) -> float | None:
        spot = self.column.place(row.get(self.column.name))
        return None if spot is None else min(max(spot, self.ends[0]), self.ends[1])

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        return clamp_column(neighbours[self.column.name], *self.ends)

    def write(self, target: SqlTarget) -> Expr:
        return target.days(self.clamped(target))

    def clamped(self, target: SqlTarget) -> Expr:
        """The time itself, clamped before anything is computed from it: an endless one is no error then."""
        low, high, x = target.moment(self.first), target.moment(self.last), target.time(self.column)
        found = (
            exp.case()
            .when(exp.Between(this=x, low=low, high=high), x.copy())
            .when(exp.LT(this=x.copy(), expression=low.copy()), low.copy())
            .when(exp.not_(exp.Is(this=x.copy(), expression=exp.null()), copy=False), high.copy())
        )
        return found if self.column.missing else found.else_(low.copy())

    def cuts(self, column: str) -> frozenset[float]:
        return frozenset(self.ends) if column == self.column.name else frozenset()

    @property
    def is_time(self) -> bool:
        return True


def write_days(column: DeclaredColumn, target: SqlTarget) -> Expr:
    """A column's time on the line, wherever it lies, and something instead of NULL where nothing may be missing."""
    anywhere = TimeColumn(replace(column, missing=True), datetime.datetime.min, datetime.datetime.max).write(target)
    return anywhere if column.missing else exp.func("COALESCE", anywhere, target.double(column.default))


@dataclass(frozen=True)
class TimeTest(Condition):
    """A column's time against a constant."""

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
        return test_both_sides(neighbours[self.column.name], self._outcomes)

    def _outcomes(self, side: ColumnState) -> frozenset[Outcome]:
        spot, numbers = self._spot, side.numbers
        if numbers is None or spot is None:
            return EITHER
        ends = {HOLDS[self.sign](end, spot) for end in (numbers.low, numbers.high)}
        if len(ends) > 1 or (self.sign in ("=", "<>") and numbers.low < spot < numbers.high):
            return EITHER
        return YES if True in ends else NO

    @property
    def _spot(self) -> float | None:
        """Where on the line the outcome changes; None where days are too coarse to say so to the microsecond."""
        days = days_of(self.value)
        return days if abs(days) < EXACT else None

    def cuts(self, column: str) -> frozenset[float]:
        spot = self._spot
        if column != self.column.name or spot is None:
            return frozenset()
        below = math.nextafter(spot, -math.inf)
        if self.sign in ("=", "<>"):
            return frozenset((below, spot))
        return frozenset((spot if self.sign in (">", "<=") else below,))

    def write(self, target: SqlTarget) -> Expr:
        return NODES[self.sign](this=write_time(self.column, target), expression=target.moment(self.value))

    @property
    def opposite(self) -> Condition:
        return replace(self, sign=OPPOSITE[self.sign])


def write_time(column: DeclaredColumn, target: SqlTarget) -> Expr:
    """A column's time, and the first of all where nothing may be missing."""
    found = target.time(column)
    if column.missing:
        return found
    return exp.Coalesce(this=found, expressions=[target.moment(column.read(None))])


def read_time_column(expression: Expr, reader: Reader) -> TimeColumn:
    """A column of times in arithmetic needs bounds."""
    column = reader.column(expression)
    remedy = "compare it with a number or a text, as it is declared"
    column = reader.use_as(column, "time", expression, remedy, ", and a time is needed here")
    if column.bounds is None:
        problem = f"{column.name} has no bounds, so one record could move the answer by any amount"
        remedy = f"declare bounds = [1920-01-01, 2025-12-31] {reader.where(column)}, from public knowledge"
        raise reader.refuse(problem, expression, remedy)
    return TimeColumn(column, *(moment_of(end) for end in column.bounds))


def read_time_test(left: Expr, sign: str, value: datetime.datetime, right: Expr, reader: Reader) -> TimeTest:
    """A column against a time."""
    column = reader.column(left)
    if column.kind is None and column.levels is not None:
        problem = f"the levels of {column.name} are texts, and this is a time"
        raise reader.refuse(problem, right, "write the text in quotes, as the levels are written")
    remedies = {"number": "compare it with a number", "truth": f"write {column.name} or NOT {column.name}"}
    remedy = remedies.get(column.kind or "", "compare it with a text in quotes")
    return TimeTest(reader.use_as(column, "time", right, remedy), sign, value)


def parse_time(expression: Expr, reader: Reader) -> datetime.datetime | None:
    """A date or a time that is written as such, also with an INTERVAL added; None where something else is."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, (exp.Add, exp.Sub)) and isinstance(expression.expression, exp.Interval):
        start = parse_time(expression.this, reader)
        sign = 1 if isinstance(expression, exp.Add) else -1
        return None if start is None else _shift(start, sign, expression.expression, reader)
    if not isinstance(expression, exp.Cast) or isinstance(expression, exp.TryCast):
        return None
    text = expression.this
    if expression.to.this not in (exp.DType.DATE, *TIMESTAMPS) or expression.args.get("format"):
        return None
    if not isinstance(text, exp.Literal) or not text.is_string:
        return None
    moment = time_of(str(text.this))
    if moment is None:
        raise reader.refuse("this is no time", expression, "write DATE '2020-01-31' or TIMESTAMP '2020-01-31 10:00:00'")
    return moment


def read_interval(interval: Expr, reader: Reader) -> tuple[int, str]:
    """How many of which unit: INTERVAL 3 DAY, INTERVAL '3 days'."""
    unit = str(interval.args["unit"]).lower().removesuffix("s") if interval.args.get("unit") else ""
    count = interval.this
    text = str(count.this) if isinstance(count, exp.Literal) else ""
    if not text.removeprefix("-").isdecimal() or unit not in {**UNITS, **MONTHS} or len(text) > 6:
        raise reader.refuse("this INTERVAL is not understood", interval, "write INTERVAL 30 DAY")
    return int(text), unit


def _shift(start: datetime.datetime, sign: int, interval: Expr, reader: Reader) -> datetime.datetime:
    count, unit = read_interval(interval, reader)
    try:
        if unit not in MONTHS:
            return start + sign * count * UNITS[unit] * DAY
        months = start.year * 12 + start.month - 1 + sign * count * MONTHS[unit]
        year, month = months // 12, months % 12 + 1
        return start.replace(year=year, month=month, day=min(start.day, calendar.monthrange(year, month)[1]))
    except (OverflowError, ValueError):
        raise reader.refuse("this leaves the years 1 to 9999", interval, "write another time") from None
