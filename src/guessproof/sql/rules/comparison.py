"""Comparisons: a column with a constant, where the jump is known, or any two expressions, where it is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.names import folded
from guessproof.sql.declared import DeclaredColumn, time_of
from guessproof.sql.movement import (
    EITHER,
    NO,
    NULL,
    YES,
    ChangeBounds,
    ColumnState,
    Neighbours,
    Outcome,
    OutcomePair,
    test_both_sides,
)
from guessproof.sql.rules.label import read_label_test
from guessproof.sql.rules.signs import HOLDS, MIRRORED, NODES, OPPOSITE, SIGNS
from guessproof.sql.rules.time import parse_time, read_time_test, write_time
from guessproof.sql.rules.truth import read_flag_test
from guessproof.sql.rules.values import parse_label, parse_number, write_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row, Rule, Term
from guessproof.world import Kind


@dataclass(frozen=True)
class NumberTest(Condition):
    """A column's number against a constant, with the column as it is: bounds clamp sums, not filters."""

    column: DeclaredColumn
    sign: str
    value: float

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    def at(self, row: Row) -> bool | None:
        value = self.column.read(row.get(self.column.name))
        return None if value is None else HOLDS[self.sign](value, self.value)

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return test_both_sides(neighbours[self.column.name], self._outcomes)

    def _outcomes(self, side: ColumnState) -> frozenset[Outcome]:
        numbers = side.numbers
        if numbers is None:
            return EITHER
        ends = {HOLDS[self.sign](end, self.value) for end in (numbers.low, numbers.high)}
        inside = numbers.low < self.value < numbers.high
        if len(ends) > 1 or (self.sign in ("=", "<>") and inside):
            return EITHER
        return YES if True in ends else NO

    def write(self, target: SqlTarget) -> Expr:
        return NODES[self.sign](this=write_number(self.column, target), expression=target.double(self.value))

    def keeps(self, target: SqlTarget) -> Expr:
        if not self.column.missing and HOLDS[self.sign](self.column.default, self.value):
            return self.write(target)
        test = NODES[self.sign](this=target.number(self.column), expression=target.double(self.value))
        # NaN is above every number: only a test from below lets it in.
        above = self.sign in (">", ">=", "<>")
        return exp.and_(test, target.is_number(self.column), copy=False) if above else test

    def cuts(self, column: str) -> frozenset[float]:
        if column != self.column.name:
            return frozenset()
        below = math.nextafter(self.value, -math.inf)
        if self.sign in ("=", "<>"):
            return frozenset((below, self.value))
        return frozenset((self.value if self.sign in (">", "<=") else below,))

    @property
    def opposite(self) -> Condition:
        return replace(self, sign=OPPOSITE[self.sign])


@dataclass(frozen=True)
class TermTest(Condition):
    """Two expressions: where the outcome changes is not known, so it may change anywhere."""

    left: Term
    sign: str
    right: Term

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.left, self.right

    def at(self, row: Row) -> bool | None:
        a, b = self.left.at(row), self.right.at(row)
        return None if a is None or b is None else HOLDS[self.sign](a, b)

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        a, b = self.left.follow(neighbours), self.right.follow(neighbours)
        before, after = self._outcomes(a, b, "before"), self._outcomes(a, b, "after")
        for part in (a, b):
            before, after = before | _nulls(part.null.before), after | _nulls(part.null.after)
        return OutcomePair.of(before, after, not (a.moves or b.moves))

    def _outcomes(self, a: ChangeBounds, b: ChangeBounds, side: Literal["before", "after"]) -> frozenset[Outcome]:
        left, right = (a.before, b.before) if side == "before" else (a.after, b.after)
        slack = a.error + b.error
        if left.low > right.high + slack or right.low > left.high + slack:
            return YES if HOLDS[self.sign](left.low, right.low) else NO
        return EITHER

    def write(self, target: SqlTarget) -> Expr:
        return NODES[self.sign](this=self.left.write(target), expression=self.right.write(target))

    @property
    def opposite(self) -> Condition:
        return replace(self, sign=OPPOSITE[self.sign])


@dataclass(frozen=True)
class PublicTest(Condition):
    """Two public columns of one kind against each other."""

    left: DeclaredColumn
    sign: str
    right: DeclaredColumn

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.left.name, self.right.name))

    def at(self, row: Row) -> bool | None:
        a, b = (column.read(row.get(column.name)) for column in (self.left, self.right))
        return None if a is None or b is None else HOLDS[self.sign](a, b)

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        moves = any(neighbours[name].moves for name in self.columns)  # what is looked up by a protected key does
        return OutcomePair(EITHER | NULL, EITHER | NULL, not moves)

    def write(self, target: SqlTarget) -> Expr:
        left, right = (_write_canonical(column, target) for column in (self.left, self.right))
        return NODES[self.sign](this=left, expression=right)


def _write_canonical(column: DeclaredColumn, target: SqlTarget) -> Expr:
    writers: dict[Kind, Callable[[DeclaredColumn, SqlTarget], Expr]] = {"number": write_number, "time": write_time}
    assert column.kind is not None
    return writers[column.kind](column, target) if column.kind in writers else target.label(column)


def _nulls(null: frozenset[Outcome]) -> frozenset[Outcome]:
    return NULL if "true" in null else frozenset[Outcome]()


def read_comparison(expression: Expr, reader: Reader) -> Condition:
    """a = b, a <> b, a < b, a <= b, a > b, a >= b."""
    left, right, sign = expression.this, expression.expression, SIGNS[type(expression)]
    left, right = bare(left, reader), bare(right, reader)
    if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
        left, right, sign = right, left, MIRRORED[sign]
    if isinstance(left, exp.Column):
        found = read_column_test(left, sign, right, reader)
        if found is not None:
            return found
    if isinstance(left, exp.Column) and isinstance(right, exp.Column):
        found = _read_public_test(left, sign, right, reader)
        if found is not None:
            return found
        if reader.column(left).levels is not None and lacks_quotes(right, reader):
            raise _refuse_unquoted(left, sign, right, reader)
    return read_term_test(left, sign, right, reader)


def lacks_quotes(value: Expr, reader: Reader) -> bool:
    """Whether a name may be a text that was written without quotes: no column of this name is declared."""
    known = {folded(name) for name in reader.declared.columns}
    return isinstance(value, exp.Column) and not value.table and folded(value.name) not in known


def _refuse_unquoted(left: Expr, sign: str, right: Expr, reader: Reader) -> QueryError:
    problem = f"{right.name} is no column that is declared"
    return reader.refuse(problem, right, f"a text is written in quotes: {left.name} {sign} '{right.name}'")


def read_term_test(left: Expr, sign: str, right: Expr, reader: Reader) -> TermTest:
    """Two numbers, or two times, of any making."""
    a, b = reader.value(left), reader.value(right)
    if a.is_time and b.is_time:
        return TermTest(a, sign, b)
    return TermTest(reader.number(a, left), sign, reader.number(b, right))


CASTS: dict[exp.DType, Kind] = {
    exp.DType.VARCHAR: "label",
    exp.DType.TEXT: "label",
    exp.DType.DOUBLE: "number",
    exp.DType.BOOLEAN: "truth",
    exp.DType.TIMESTAMP: "time",
    exp.DType.TIMESTAMPNTZ: "time",
}


def bare(expression: Expr, reader: Reader) -> Expr:
    """Without brackets, and without casts of a column to what it holds anyway."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, exp.Cast) and isinstance(expression.this, exp.Column):
        kind = CASTS.get(expression.to.this)
        if kind is not None and reader.column(expression.this).may_be(kind):
            return expression.this
    return expression


def _read_public_test(left: Expr, sign: str, right: Expr, reader: Reader) -> Condition | None:
    """Two public columns; None where one is protected, or numbers with bounds are added up in the usual way."""
    columns = reader.column(left), reader.column(right)
    if any(column.protected for column in columns):
        return None
    kinds: list[Kind] = list(dict.fromkeys(c.kind for c in columns if c.kind is not None))
    if columns[0].levels is not None and lacks_quotes(right, reader):
        raise _refuse_unquoted(left, sign, right, reader)
    if "truth" in kinds or any(column.levels is not None for column in columns):
        raise reader.refuse("lists of labels cannot be compared", right, "compare each column with a text")
    if len(kinds) != 1:
        problem = "what these two columns hold is not known" if not kinds else "these two columns differ in kind"
        quoted = (
            f"write a text in quotes, {left.name} {sign} '{right.name}', or " if lacks_quotes(right, reader) else ""
        )
        kind = 'declare them as public = true with kind = "number", "label" or "time"'
        raise reader.refuse(problem, right, quoted + kind)
    a, b = (reader.use_as(c, kinds[0], right, "compare columns of one kind") for c in columns)
    return PublicTest(a, sign, b)


def read_column_test(left: Expr, sign: str, right: Expr, reader: Reader) -> Condition | None:
    """A column against a constant; None where the right side is not one."""
    if isinstance(right, exp.Null):
        raise reader.refuse("nothing equals NULL", right, "write IS NULL or IS NOT NULL")
    if isinstance(right, exp.Boolean):
        return read_flag_test(left, sign, right, reader)
    value, label = parse_number(right), parse_label(right)
    if value is not None:
        return read_number_test(left, sign, value, right, reader)
    if label is None:
        moment = parse_time(right, reader)
        return None if moment is None else read_time_test(left, sign, moment, right, reader)
    moment = time_of(label) if reader.column(left).kind == "time" else None
    if moment is not None:
        return read_time_test(left, sign, moment, right, reader)
    return read_label_test(left, sign, label, right, reader)


def read_number_test(left: Expr, sign: str, value: float, right: Expr, reader: Reader) -> NumberTest:
    """A column against a number."""
    column = reader.column(left)
    remedies = {"truth": f"write {column.name} or NOT {column.name}", "time": "compare it with a DATE or a TIMESTAMP"}
    remedy = remedies.get(column.kind or "", "compare it with a text in quotes")
    return NumberTest(reader.use_as(column, "number", right, remedy), sign, value)


RULE = Rule(
    "comparisons",
    tuple(SIGNS),
    read_comparison,
    ("COUNT(*) WHERE time > 30", "COUNT(*) WHERE colour = 'black'", "COUNT(*) WHERE time + age > 60"),
)
