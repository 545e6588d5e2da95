"""BETWEEN and IN."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import reduce

from sqlglot import Expr, exp

from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.movement import EITHER, NO, YES, ColumnState, Neighbours, Outcome, OutcomePair, test_both_sides
from guessproof.sql.rules.comparison import bare, lacks_quotes, read_column_test, read_number_test, read_term_test
from guessproof.sql.rules.label import read_label_among
from guessproof.sql.rules.logic import Conjunction, Disjunction
from guessproof.sql.rules.time import parse_time, read_time_test
from guessproof.sql.rules.values import parse_label, parse_number, write_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row, Rule

MOST_VALUES = 500


@dataclass(frozen=True)
class NumberAmong(Condition):
    """A column's number in a list, in order."""

    column: DeclaredColumn
    values: tuple[float, ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    def at(self, row: Row) -> bool | None:
        value = self.column.read(row.get(self.column.name))
        return None if value is None else value in self.values

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return test_both_sides(neighbours[self.column.name], self._outcomes)

    def _outcomes(self, side: ColumnState) -> frozenset[Outcome]:
        if side.numbers is None:
            return EITHER
        place = bisect_left(self.values, side.numbers.low)
        if place == len(self.values) or self.values[place] > side.numbers.high:
            return NO
        return YES if side.numbers.is_point else EITHER

    def write(self, target: SqlTarget) -> Expr:
        return self._among(write_number(self.column, target), target)

    def keeps(self, target: SqlTarget) -> Expr:
        if not self.column.missing and self.column.default in self.values:
            return self.write(target)
        return self._among(target.number(self.column), target)

    def _among(self, column: Expr, target: SqlTarget) -> Expr:
        return exp.In(this=column, expressions=[target.double(v) for v in self.values])

    def cuts(self, column: str) -> frozenset[float]:
        if column != self.column.name:
            return frozenset()
        return frozenset(c for v in self.values for c in (math.nextafter(v, -math.inf), v))


def read_membership(expression: Expr, reader: Reader) -> Condition:
    """x BETWEEN a AND b, x IN (a, b, …)."""
    if isinstance(expression, exp.Between):
        return _read_between(expression, reader)
    values = expression.expressions
    if expression.args.get("query") or expression.args.get("unnest") or not values:
        raise reader.refuse("this IN is not a list of constants", expression, "list the values: x IN (1, 2, 3)")
    if len(values) > MOST_VALUES:
        raise reader.refuse(f"more than {MOST_VALUES} values", expression.this, "compare with a range")
    if len(values) == 1:
        test = read_column_test(expression.this, "=", values[0], reader)
        if test is not None:
            return test
    return _read_among(expression.this, values, reader)


def _read_among(left: Expr, values: list[Expr], reader: Reader) -> Condition:
    numbers = [parse_number(v) for v in values]
    labels = [parse_label(v) for v in values]
    times = [parse_time(v, reader) for v in values]
    for value, *found in zip(values, numbers, labels, times, strict=True):
        if isinstance(value, exp.Null):
            raise reader.refuse("nothing equals NULL", value, "write … OR x IS NULL")
        if found == [None, None, None]:
            remedy = "list the values: x IN (1, 2, 3)"
            if lacks_quotes(value, reader):
                remedy = f"a text is written in quotes: {left.name} IN ('{value.name}')"
            raise reader.refuse("IN needs constants", value, remedy)
    kinds = [[v for v in found if v is not None] for found in (numbers, labels, times)]
    if sum(map(bool, kinds)) > 1:
        raise reader.refuse("values of several kinds in one list", left, "list values of one kind")
    if kinds[1]:
        return read_label_among(left, [str(v) for v in kinds[1]], values, reader)
    if kinds[2]:
        tests = [read_time_test(left, "=", v, place, reader) for v, place in zip(times, values, strict=True) if v]
        return reduce(Disjunction, tests[1:], tests[0])
    if not isinstance(bare(left, reader), exp.Column):
        equal = [read_term_test(left, "=", value, reader) for value in values]
        return reduce(Disjunction, equal[1:], equal[0])
    first = read_number_test(left, "=", numbers[0] or 0.0, values[0], reader)
    return NumberAmong(first.column, tuple(sorted({n + 0.0 for n in numbers if n is not None})))


def _read_between(expression: exp.Between, reader: Reader) -> Condition:
    low, high = expression.args["low"], expression.args["high"]
    if expression.args.get("symmetric"):
        raise reader.refuse("BETWEEN SYMMETRIC is not understood", expression, "write the smaller bound first")
    ends: list[Condition] = []
    left = bare(expression.this, reader)
    for sign, end in ((">=", low), ("<=", high)):
        test = read_column_test(left, sign, end, reader) if isinstance(left, exp.Column) else None
        ends.append(test or read_term_test(left, sign, end, reader))
    return Conjunction(ends[0], ends[1])


RULE = Rule(
    "BETWEEN and IN",
    (exp.Between, exp.In),
    read_membership,
    ("COUNT(*) WHERE time BETWEEN 10 AND 20", "COUNT(*) WHERE colour IN ('black', 'white')"),
)
