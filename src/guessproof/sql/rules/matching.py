"""LIKE."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr, exp

from guessproof.sql.rules.label import LabelCondition, read_label_column
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Reader, Rule


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


def read_like(expression: Expr, reader: Reader) -> Like:
    """x LIKE 'a%'."""
    pattern = expression.expression
    if not isinstance(pattern, exp.Literal) or not pattern.is_string or "\\" in pattern.this:
        raise reader.refuse("this pattern is not understood", pattern, "write LIKE 'abc%' with a constant text")
    return Like(read_label_column(expression.this, expression, reader), str(pattern.this))


RULE = Rule("LIKE", (exp.Like,), read_like, ("COUNT(*) WHERE colour LIKE 'b%'",))
