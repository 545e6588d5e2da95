"""LIKE."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.moves import Outcome, Scene, Side, Truth, sides
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.rules.label import compared_as_text, label_column, outcomes, plain_label
from guessproof.sql.term import Condition, Node, Row, Types


@dataclass(frozen=True)
class Like(Condition):
    """A label against a pattern of % and _."""

    name: str
    pattern: str
    as_text: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def at(self, row: Row) -> bool | None:
        label = row.get(self.name)
        return None if label is None else fits(plain_label(label), self.pattern)

    def follow(self, scene: Scene) -> Truth:
        return sides(scene[self.name], self._outcomes)

    def _outcomes(self, side: Side) -> frozenset[Outcome]:
        return outcomes(side, self.as_text, lambda label: fits(label, self.pattern))

    def write(self, types: Types) -> Expr:
        return exp.Like(this=label_column(self.name, self.as_text), expression=exp.Literal.string(self.pattern))


def fits(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern: the shortest match of each % suffices, so no pattern takes long.

    >>> [fits("banana", pattern) for pattern in ("b%", "%n_n%", "%an", "banana%", "_")]
    [True, True, False, True, False]
    """
    at = spot = 0
    star, resume = -1, 0
    while at < len(text):
        if spot < len(pattern) and pattern[spot] == "%":
            star, resume = spot, at
            spot += 1
        elif spot < len(pattern) and pattern[spot] in ("_", text[at]):
            at, spot = at + 1, spot + 1
        elif star >= 0:
            resume += 1
            at, spot = resume, star + 1
        else:
            return False
    return pattern[spot:].strip("%") == ""


def read_like(expression: Expr, reader: Reader) -> Like:
    """x LIKE 'a%'."""
    column, pattern = reader.column(expression.this), expression.expression
    if not isinstance(pattern, exp.Literal) or not pattern.is_string or "\\" in pattern.this:
        raise reader.refuse("this pattern is not understood", pattern, "write LIKE 'abc%' with a constant text")
    if column.is_number:
        raise reader.refuse(f"{column.name} holds numbers", expression, "compare it with a number")
    return Like(column.name, pattern.this, compared_as_text(column))


RULE = Rule("LIKE", (exp.Like,), read_like, ("COUNT(*) WHERE colour LIKE 'b%'",))
