"""Comparisons: a column with a constant, where the jump is known, or any two expressions, where it is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Literal

from sqlglot import Expr, exp

from guessproof.sql.moves import EITHER, NO, NULL, YES, Moved, Outcome, Scene, Side, Truth, sides
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.rules.column import clean, is_number, number, plain_number
from guessproof.sql.rules.flag import read_flag_test
from guessproof.sql.rules.label import label_test, literal_label
from guessproof.sql.rules.number import double, literal_number
from guessproof.sql.term import Condition, Node, Row, Term, Types

SIGNS: dict[type[Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
NODES = {sign: node for node, sign in SIGNS.items()}
HOLDS: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True)
class NumberTest(Condition):
    """A column's number against a constant, with the column as it is: bounds clamp sums, not filters."""

    name: str
    sign: str
    value: float
    public: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def at(self, row: Row) -> bool | None:
        value = plain_number(row.get(self.name))
        return None if value is None else HOLDS[self.sign](value, self.value)

    def follow(self, scene: Scene) -> Truth:
        return sides(scene[self.name], self._outcomes)

    def _outcomes(self, side: Side) -> frozenset[Outcome]:
        numbers = side.numbers
        if numbers is None:
            return EITHER
        ends = {HOLDS[self.sign](end, self.value) for end in (numbers.low, numbers.high)}
        inside = numbers.low < self.value < numbers.high
        if len(ends) > 1 or (self.sign in ("=", "<>") and inside):
            return EITHER
        return YES if True in ends else NO

    def write(self, types: Types) -> Expr:
        column = exp.column(self.name, quoted=True) if self.public else clean(self.name, types)
        return NODES[self.sign](this=column, expression=double(self.value))

    def keeps(self, types: Types) -> Expr:
        if self.public:
            return self.write(types)
        test = NODES[self.sign](this=number(self.name, types), expression=double(self.value))
        # NaN is above every number: only a test from below lets it in.
        above = self.sign in (">", ">=", "<>")
        return exp.and_(test, is_number(number(self.name, types)), copy=False) if above else test

    def cuts(self, column: str) -> frozenset[float]:
        if column != self.name:
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

    def follow(self, scene: Scene) -> Truth:
        a, b = self.left.follow(scene), self.right.follow(scene)
        before, after = self._outcomes(a, b, "before"), self._outcomes(a, b, "after")
        for part in (a, b):
            before, after = before | _nulls(part.null.before), after | _nulls(part.null.after)
        return Truth.of(before, after, not (a.moves or b.moves))

    def _outcomes(self, a: Moved, b: Moved, side: Literal["before", "after"]) -> frozenset[Outcome]:
        left, right = (a.before, b.before) if side == "before" else (a.after, b.after)
        slack = a.error + b.error
        if left.low > right.high + slack or right.low > left.high + slack:
            return YES if HOLDS[self.sign](left.low, right.low) else NO
        return EITHER

    def write(self, types: Types) -> Expr:
        return NODES[self.sign](this=self.left.write(types), expression=self.right.write(types))

    @property
    def opposite(self) -> Condition:
        return replace(self, sign=OPPOSITE[self.sign])


@dataclass(frozen=True)
class PublicTest(Condition):
    """Two public columns against each other: the engine compares them as they are."""

    left: str
    sign: str
    right: str

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.left, self.right))

    def at(self, row: Row) -> bool | None:
        a, b = row.get(self.left), row.get(self.right)
        return None if a is None or b is None else HOLDS[self.sign](a, b)

    def follow(self, scene: Scene) -> Truth:
        return Truth(EITHER | NULL, EITHER | NULL, True)

    def write(self, types: Types) -> Expr:
        left, right = (exp.column(name, quoted=True) for name in (self.left, self.right))
        return NODES[self.sign](this=left, expression=right)


def _nulls(null: frozenset[Outcome]) -> frozenset[Outcome]:
    return NULL if "true" in null else frozenset[Outcome]()


def read_comparison(expression: Expr, reader: Reader) -> Condition:
    """a = b, a <> b, a < b, a <= b, a > b, a >= b."""
    left, right, sign = expression.this, expression.expression, SIGNS[type(expression)]
    while isinstance(left, exp.Paren):
        left = left.this
    while isinstance(right, exp.Paren):
        right = right.this
    if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
        left, right, sign = right, left, MIRRORED[sign]
    if isinstance(left, exp.Column):
        found = column_test(left, sign, right, reader)
        if found is not None:
            return found
    if isinstance(left, exp.Column) and isinstance(right, exp.Column):
        a, b = reader.column(left), reader.column(right)
        if not a.protected and not b.protected:
            return PublicTest(a.name, sign, b.name)
    return TermTest(reader.term(left), sign, reader.term(right))


def column_test(left: Expr, sign: str, right: Expr, reader: Reader) -> Condition | None:
    """A column against a constant; None where the right side is not one."""
    if isinstance(right, exp.Null):
        raise reader.refuse("nothing equals NULL", right, "write IS NULL or IS NOT NULL")
    if isinstance(right, exp.Boolean):
        return read_flag_test(left, sign, right, reader)
    value, label = literal_number(right), literal_label(right)
    if value is not None:
        return number_test(left, sign, value, right, reader)
    return None if label is None else label_test(left, sign, label, right, reader)


def number_test(left: Expr, sign: str, value: float, right: Expr, reader: Reader) -> NumberTest:
    """A column against a number."""
    column = reader.column(left)
    if column.is_number is False:
        raise reader.refuse(f"{column.name} holds labels", right, "compare it with a text in quotes")
    return NumberTest(column.name, sign, value, not column.protected)


RULE = Rule(
    "comparisons",
    tuple(SIGNS),
    read_comparison,
    ("COUNT(*) WHERE time > 30", "COUNT(*) WHERE colour = 'black'", "COUNT(*) WHERE time + age > 60"),
)
