"""BETWEEN and IN."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.moves import EITHER, NO, YES, Outcome, Scene, Side, Truth, sides
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.rules.column import clean, number, plain_number
from guessproof.sql.rules.comparison import TermTest, column_test, number_test
from guessproof.sql.rules.label import label_among, literal_label
from guessproof.sql.rules.logic import Both
from guessproof.sql.rules.number import double, literal_number
from guessproof.sql.term import Condition, Node, Row, Types

MOST_VALUES = 500


@dataclass(frozen=True)
class NumberAmong(Condition):
    """A column's number in a list, in order."""

    name: str
    values: tuple[float, ...]
    public: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def at(self, row: Row) -> bool | None:
        value = plain_number(row.get(self.name))
        return None if value is None else value in self.values

    def follow(self, scene: Scene) -> Truth:
        return sides(scene[self.name], self._outcomes)

    def _outcomes(self, side: Side) -> frozenset[Outcome]:
        if side.numbers is None:
            return EITHER
        place = bisect_left(self.values, side.numbers.low)
        if place == len(self.values) or self.values[place] > side.numbers.high:
            return NO
        return YES if side.numbers.is_point else EITHER

    def write(self, types: Types) -> Expr:
        return self._among(exp.column(self.name, quoted=True) if self.public else clean(self.name, types))

    def keeps(self, types: Types) -> Expr:
        return self.write(types) if self.public else self._among(number(self.name, types))

    def _among(self, column: Expr) -> Expr:
        return exp.In(this=column, expressions=[double(v) for v in self.values])

    def cuts(self, column: str) -> frozenset[float]:
        if column != self.name:
            return frozenset()
        return frozenset(c for v in self.values for c in (math.nextafter(v, -math.inf), v))


def read_membership(expression: Expr, reader: Reader) -> Condition:
    """x BETWEEN a AND b, x IN (a, b, …)."""
    if isinstance(expression, exp.Between):
        return _between(expression, reader)
    values = expression.expressions
    if expression.args.get("query") or expression.args.get("unnest") or not values:
        raise reader.refuse("this IN is not a list of constants", expression, "list the values: x IN (1, 2, 3)")
    if len(values) > MOST_VALUES:
        raise reader.refuse(f"more than {MOST_VALUES} values", expression.this, "compare with a range")
    if len(values) == 1:
        test = column_test(expression.this, "=", values[0], reader)
        if test is not None:
            return test
    return _among(expression.this, values, reader)


def _among(left: Expr, values: list[Expr], reader: Reader) -> Condition:
    numbers, labels = [literal_number(v) for v in values], [literal_label(v) for v in values]
    for value, number_found, label_found in zip(values, numbers, labels, strict=True):
        if isinstance(value, exp.Null):
            raise reader.refuse("nothing equals NULL", value, "write … OR x IS NULL")
        if number_found is None and label_found is None:
            raise reader.refuse("IN needs constants", value, "list the values: x IN (1, 2, 3)")
    found = sorted({n + 0.0 for n in numbers if n is not None})
    texts = [label for label in labels if label is not None]
    if found and texts:
        raise reader.refuse("numbers and texts in one list", left, "list values of one kind")
    if texts:
        return label_among(left, texts, values[0], reader)
    first = number_test(left, "=", found[0], values[0], reader)
    return NumberAmong(first.name, tuple(found), first.public)


def _between(expression: exp.Between, reader: Reader) -> Condition:
    low, high = expression.args["low"], expression.args["high"]
    if expression.args.get("symmetric"):
        raise reader.refuse("BETWEEN SYMMETRIC is not understood", expression, "write the smaller bound first")
    ends: list[Condition] = []
    for sign, end in ((">=", low), ("<=", high)):
        test = column_test(expression.this, sign, end, reader) if isinstance(expression.this, exp.Column) else None
        ends.append(test or TermTest(reader.term(expression.this), sign, reader.term(end)))
    return Both(ends[0], ends[1])


RULE = Rule(
    "BETWEEN and IN",
    (exp.Between, exp.In),
    read_membership,
    ("COUNT(*) WHERE time BETWEEN 10 AND 20", "COUNT(*) WHERE colour IN ('black', 'white')"),
)
