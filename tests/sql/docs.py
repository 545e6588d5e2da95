"""The tables of docs/queries.md, from the rules' examples and the table of refusals."""

from __future__ import annotations

from pathlib import Path

from guessproof.errors import QueryError
from guessproof.sql import analyze
from guessproof.sql.rules import RULES
from sql.examples import QUERIES, VALUES, Example, whole
from sql.refusals import CLAUSES, EXPRESSIONS, FILTERS, OUTPUTS, STATEMENTS, TABLES, Refusal

PAGE = Path(__file__).parents[2] / "docs" / "queries.md"
START, END = "<!-- written by tests/sql/docs.py: change the rules, not this -->", "<!-- end -->"
CHAPTERS = {
    "Statements": STATEMENTS,
    "Tables": TABLES,
    "Outputs": OUTPUTS,
    "Expressions": EXPRESSIONS,
    "Filters": FILTERS,
    "Groups and what comes after": CLAUSES,
}


def tables() -> str:
    """Everything between the marks."""
    return "\n".join((START, "", *supported(), "", *refused(), END))


def supported() -> list[str]:
    """What can be asked, and what one record does to it."""
    lines = ["## What can be asked", "", "| construct | query | one record |", "|---|---|---|"]
    for rule in RULES:
        lines += [_row(rule.name, Example(whole(example), VALUES)) for example in rule.examples]
    for name, examples in QUERIES.items():
        lines += [_row(name, example) for example in examples]
    return lines


def _row(name: str, example: Example) -> str:
    question = analyze(example.sql, example.declared)
    accounts = "; ".join(m.account.removeprefix(f"{m.text}: ") for m in question.measurements)
    rows = f", {example.declared.rows} rows public" if example.declared.rows else ""
    protects = f" ({example.declared.unit.name}{rows})" if rows or example.declared.unit.hides_presence else ""
    return f"| {_cell(name)} | `{_cell(example.sql)}`{protects} | {_cell(accounts)} |"


def refused() -> list[str]:
    """What is refused, and what to write instead."""
    lines = ["## What is refused", ""]
    for chapter, refusals in CHAPTERS.items():
        lines += [f"### {chapter}", "", "| query | why not | instead |", "|---|---|---|"]
        lines += [_refusal(refusal) for refusal in refusals if refusal.shown]
        lines.append("")
    return lines


def _refusal(refusal: Refusal) -> str:
    try:
        analyze(refusal.sql, refusal.declared)
    except QueryError as error:
        return f"| `{_cell(refusal.sql)}` | {_cell(error.problem)} | {_cell(error.remedy)} |"
    raise AssertionError(f"not refused: {refusal.sql}")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
