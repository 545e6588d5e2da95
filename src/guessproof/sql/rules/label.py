"""Labels against constants.

A protected column with declared levels is compared as text, so that the list of levels says how every comparison
comes out. Without levels any two labels may differ in outcome, and the engine compares as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne

from sqlglot import Expr, exp

from guessproof.sql import casts
from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.moves import EITHER, NO, YES, Outcome, Scene, Side, Truth, sides
from guessproof.sql.reader import Reader
from guessproof.sql.term import Condition, Node, Row, Types

COMPARE: dict[str, tuple[type[Expr], Callable[[str, str], bool]]] = {
    "=": (exp.EQ, eq),
    "<>": (exp.NEQ, ne),
    "<": (exp.LT, lt),
    "<=": (exp.LTE, le),
    ">": (exp.GT, gt),
    ">=": (exp.GTE, ge),
}


@dataclass(frozen=True)
class LabelTest(Condition):
    """A column's label against a constant."""

    name: str
    sign: str
    value: str
    constant: Expr
    as_text: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def at(self, row: Row) -> bool | None:
        label = row.get(self.name)
        return None if label is None else COMPARE[self.sign][1](plain_label(label), self.value)

    def follow(self, scene: Scene) -> Truth:
        return sides(scene[self.name], self._outcomes)

    def _outcomes(self, side: Side) -> frozenset[Outcome]:
        holds = COMPARE[self.sign][1]
        return outcomes(side, self.as_text, lambda label: holds(label, self.value))

    def write(self, types: Types) -> Expr:
        return COMPARE[self.sign][0](this=label_column(self.name, self.as_text), expression=self.constant.copy())


@dataclass(frozen=True)
class LabelAmong(Condition):
    """A column's label in a list."""

    name: str
    values: frozenset[str]
    constants: tuple[Expr, ...]
    as_text: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def at(self, row: Row) -> bool | None:
        label = row.get(self.name)
        return None if label is None else plain_label(label) in self.values

    def follow(self, scene: Scene) -> Truth:
        return sides(scene[self.name], self._outcomes)

    def _outcomes(self, side: Side) -> frozenset[Outcome]:
        return outcomes(side, self.as_text, self.values.__contains__)

    def write(self, types: Types) -> Expr:
        return exp.In(
            this=label_column(self.name, self.as_text), expressions=[constant.copy() for constant in self.constants]
        )


def outcomes(side: Side, as_text: bool, holds: Callable[[str], bool]) -> frozenset[Outcome]:
    """How a test comes out for the labels of one side."""
    if side.labels is None or not as_text:
        return EITHER
    ends = {holds(label) for label in side.labels}
    return EITHER if len(ends) > 1 else YES if True in ends else NO


def label_column(name: str, as_text: bool) -> Expr:
    """The column, as text where its levels decide the outcome."""
    column = exp.column(name, quoted=True)
    return casts.text(column) if as_text else column


def compared_as_text(column: DeclaredColumn) -> bool:
    """Whether the declared levels say how comparisons come out."""
    return column.protected and column.levels is not None and not column.is_number


def plain_label(value: object) -> str:
    """A label as text, as the engine would compare it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def literal_label(expression: Expr) -> Expr | None:
    """A text, or a date or time written as text; None where something else is."""
    if isinstance(expression, exp.Paren):
        return literal_label(expression.this)
    if isinstance(expression, exp.Literal) and expression.is_string:
        return exp.Literal.string(expression.this)
    if isinstance(expression, exp.Cast) and isinstance(expression.this, exp.Literal) and expression.this.is_string:
        kind = expression.to.this
        if kind in (exp.DType.DATE, exp.DType.TIMESTAMP) and not expression.args.get("format"):
            return exp.Cast(this=exp.Literal.string(expression.this.this), to=exp.DataType(this=kind))
    return None


def label_test(left: Expr, sign: str, constant: Expr, right: Expr, reader: Reader) -> LabelTest:
    """A column against a text or a date."""
    column = _column_of_labels(left, [constant], right, reader)
    return LabelTest(column.name, sign, constant_text(constant), constant, compared_as_text(column))


def label_among(left: Expr, constants: list[Expr], right: Expr, reader: Reader) -> LabelAmong:
    """A column against a list of texts or dates."""
    column = _column_of_labels(left, constants, right, reader)
    values = frozenset(map(constant_text, constants))
    return LabelAmong(column.name, values, tuple(constants), compared_as_text(column))


def constant_text(constant: Expr) -> str:
    """What stands between the quotes."""
    return str(constant.this.this if isinstance(constant, exp.Cast) else constant.this)


def _column_of_labels(left: Expr, constants: Iterable[Expr], right: Expr, reader: Reader) -> DeclaredColumn:
    column = reader.column(left)
    if column.is_number:
        raise reader.refuse(f"{column.name} holds numbers", right, "compare it with a number")
    if compared_as_text(column) and any(isinstance(c, exp.Cast) for c in constants):
        problem = f"the levels of {column.name} are texts, and this is a date"
        raise reader.refuse(problem, right, "write the text in quotes, as the levels are written")
    return column
