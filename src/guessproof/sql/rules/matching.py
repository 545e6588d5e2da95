"""LIKE and ILIKE."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.rules.label import LabelCondition, read_label_column
from guessproof.sql.rules.logic import negate_condition
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Reader, Rule


@dataclass(frozen=True)
class Like(LabelCondition):
    """A label against a pattern of % and _."""

    pattern: str

    def holds(self, label: str) -> bool:
        return fits(label, self.pattern)

    def plain(self, text: Expr, target: SqlTarget) -> Expr:
        return target.like(text, self.pattern)


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


@dataclass(frozen=True)
class LikeAnyCase(Like):
    """The same, whatever letters are large: for declared levels, of which Python says which fit."""

    def holds(self, label: str) -> bool:
        return fits(label.lower(), self.pattern.lower())


def read_like(expression: Expr, reader: Reader) -> Condition:
    """x LIKE 'a%', x ILIKE 'a%'."""
    pattern = expression.expression
    if not isinstance(pattern, exp.Literal) or not pattern.is_string or "\\" in pattern.this:
        raise reader.refuse("this pattern is not understood", pattern, "write LIKE 'abc%' with a constant text")
    column, text = read_label_column(expression.this, expression, reader), str(pattern.this)
    if isinstance(expression, exp.ILike) and column.levels is None:
        remedy = f"declare levels for {column.name}, or use LIKE"
        raise reader.refuse("what a small letter is depends on the database", expression, remedy)
    found = LikeAnyCase(column, text) if isinstance(expression, exp.ILike) else Like(column, text)
    return negate_condition(found) if expression.args.get("negate") else found


RULE = Rule(
    "LIKE and ILIKE",
    (exp.Like, exp.ILike),
    read_like,
    ("COUNT(*) WHERE colour LIKE 'b%'", "COUNT(*) WHERE colour NOT ILIKE 'B%'"),
)
