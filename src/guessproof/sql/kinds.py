"""What a query takes its columns to be, so that an engine can read them so: numbers, labels, truth values, times."""

from __future__ import annotations

from sqlglot import exp

from guessproof.sql.question import Question
from guessproof.sql.rules.column import NumberColumn
from guessproof.sql.rules.comparison import NumberTest
from guessproof.sql.rules.flag import Flag
from guessproof.sql.rules.label import LabelAmong, LabelTest
from guessproof.sql.rules.membership import NumberAmong


def kinds_of(question: Question) -> dict[str, str]:
    """The kind of each column that the query or the declaration tells: "number", "text", "boolean" or "time"."""
    found: dict[str, str] = {}
    for name in question.columns:
        declared = question.declared.column(name)
        if declared.is_number is not None:
            found[name] = "number" if declared.is_number else "text"
    for node in question.nodes:
        if isinstance(node, (NumberColumn, NumberTest, NumberAmong)):
            found[node.name] = "number"
        elif isinstance(node, Flag):
            found[node.name] = "boolean"
        elif (isinstance(node, LabelTest) and isinstance(node.constant, exp.Cast)) or (
            isinstance(node, LabelAmong) and any(isinstance(constant, exp.Cast) for constant in node.constants)
        ):
            found[node.name] = "time"
    return found
