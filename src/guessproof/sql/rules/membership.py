"""BETWEEN and IN."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.reader import Reader, Rule
from guessproof.sql.rules.comparison import LabelTest, NumberTest, TermTest, column_test
from guessproof.sql.rules.logic import Both, OneOf
from guessproof.sql.term import Condition, Types

MOST_VALUES = 500


@dataclass(frozen=True)
class Among(OneOf):
    """x IN (a, b, …): followed as an OR, written as an IN, which engines answer faster."""

    tests: tuple[NumberTest | LabelTest, ...] = ()

    def write(self, types: Types) -> Expr:
        written = [t.write(types) for t in self.tests]
        return exp.In(this=written[0].this, expressions=[w.expression for w in written])


def read_membership(expression: Expr, reader: Reader) -> Condition:
    """x BETWEEN a AND b, x IN (a, b, …)."""
    if isinstance(expression, exp.Between):
        return _between(expression, reader)
    if expression.args.get("query") or expression.args.get("unnest") or not expression.expressions:
        raise reader.refuse("this IN is not a list of constants", expression, "list the values: x IN (1, 2, 3)")
    if len(expression.expressions) > MOST_VALUES:
        raise reader.refuse(f"more than {MOST_VALUES} values", expression.this, "compare with a range")
    tests: list[NumberTest | LabelTest] = []
    for value in expression.expressions:
        test = column_test(expression.this, "=", value, reader)
        if not isinstance(test, (NumberTest, LabelTest)):
            raise reader.refuse("IN needs constants", value, "list the values: x IN (1, 2, 3)")
        tests.append(test)
    if len({type(t) for t in tests}) > 1:
        raise reader.refuse("numbers and texts in one list", expression, "list values of one kind")
    return tests[0] if len(tests) == 1 else _among(tuple(tests))


def _among(tests: tuple[NumberTest | LabelTest, ...]) -> Among:
    """A balanced tree, so that long lists do not nest deeply."""

    def tree(part: tuple[NumberTest | LabelTest, ...]) -> Condition:
        half = len(part) // 2
        return part[0] if half == 0 else OneOf(tree(part[:half]), tree(part[half:]))

    half = len(tests) // 2
    return Among(tree(tests[:half]), tree(tests[half:]), tests)


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
