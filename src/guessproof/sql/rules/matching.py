"""LIKE."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from sqlglot import Expr, exp

from guessproof.sql.moves import EITHER, NO, YES, Outcome, Scene, Side, Truth
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.rules.comparison import plain_label, sides
from guessproof.sql.term import Condition, Node, Row, Types


@dataclass(frozen=True)
class Like(Condition):
    """A label against a pattern of % and _."""

    name: str
    pattern: str

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        pieces = {"%": ".*", "_": "."}
        return re.compile("".join(pieces.get(c, re.escape(c)) for c in self.pattern), re.DOTALL)

    def at(self, row: Row) -> bool | None:
        label = row.get(self.name)
        return None if label is None else self._fits(plain_label(label))

    def _fits(self, label: str) -> bool:
        return self._expression.fullmatch(label) is not None

    def follow(self, scene: Scene) -> Truth:
        return sides(scene[self.name], self._outcomes)

    def _outcomes(self, side: Side) -> frozenset[Outcome]:
        if side.labels is None:
            return EITHER
        ends = {self._fits(label) for label in side.labels}
        return EITHER if len(ends) > 1 else YES if True in ends else NO

    def write(self, types: Types) -> Expr:
        return exp.Like(this=exp.column(self.name, quoted=True), expression=exp.Literal.string(self.pattern))


def read_like(expression: Expr, reader: Reader) -> Like:
    """x LIKE 'a%'."""
    column, pattern = reader.column(expression.this), expression.expression
    if (
        not isinstance(pattern, exp.Literal)
        or not pattern.is_string
        or "\\" in pattern.this
        or pattern.this.count("%") > 4
    ):
        raise reader.refuse("this pattern is not understood", pattern, "write LIKE 'abc%' with a constant text")
    if column.is_number:
        raise reader.refuse(f"{column.name} holds numbers", expression, "compare it with a number")
    return Like(column.name, pattern.this)


RULE = Rule("LIKE", (exp.Like,), read_like, ("COUNT(*) WHERE colour LIKE 'b%'",))
