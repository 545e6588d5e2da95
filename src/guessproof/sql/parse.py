"""From text to one SELECT, or a refusal that underlines the place."""

from __future__ import annotations

import logging

import sqlglot
from sqlglot import Expr, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from guessproof.errors import QueryError

LONGEST = 20_000  # characters
DEEPEST = 100  # nested expressions
NAMES = {"COLUMN": "a word", "TRUNCATETABLE": "TRUNCATE", "TRANSACTION": "BEGIN", "SUBQUERY": "one in brackets"}
SAID = {  # what the parser says, in words of our own
    "Expecting )": "a bracket is not closed, or a word before this does not fit",
    "Expecting (": "a bracket is missing",
    "Required keyword": "something is missing here",
    "Expected table name": "the name of a table is missing",
    "Error tokenizing": "a quote or a comment is not closed",
    "Invalid expression / Unexpected token": "this does not fit here",
}


class Asked(DuckDB):
    """DuckDB's SQL, with the distance of two points written as in PostgreSQL's extensions: a <@> b."""

    class Tokenizer(DuckDB.Tokenizer):
        """Reads <@> as one sign."""

        KEYWORDS = {**DuckDB.Tokenizer.KEYWORDS, "<@>": TokenType.LR_ARROW}  # noqa: RUF012 - as the parent declares it


def parse(sql: str) -> exp.Select:
    """The one SELECT of a text.

    >>> parse("SELECT 1; DROP TABLE t")
    Traceback (most recent call last):
    ...
    guessproof.errors.QueryError: more than one statement; write one SELECT
      SELECT 1; DROP TABLE t
                ^^^^^^^^^^^^
    """
    if not isinstance(sql, str) or not sql.strip():
        raise QueryError("there is no query", remedy="write SELECT COUNT(*) FROM the_table")
    if len(sql) > LONGEST:
        raise QueryError(f"the query has more than {LONGEST} characters", remedy="ask less at once")
    if "\x00" in sql:
        raise QueryError("the query holds a NUL character", remedy="remove it")
    statements = _parsed(sql)
    if len(statements) != 1:
        second = sql.find(";") + 1
        spot = (second + len(sql[second:]) - len(sql[second:].lstrip()), len(sql)) if statements and second else None
        problem = "more than one statement" if statements else "there is no query"
        raise QueryError(problem, sql, spot, "write one SELECT")
    select = statements[0]
    while isinstance(select, (exp.Subquery, exp.Paren)) and isinstance(select.this, Expr) and _is_bare(select):
        select = select.this
    if not isinstance(select, exp.Select):
        name = str(select.this) if isinstance(select, exp.Command) else select.key.upper()
        problem = f"this is no SELECT but {NAMES.get(name, name)}"
        start = len(sql) - len(sql.lstrip())
        spot = (start, start + len(sql[start:].split()[0]))
        raise QueryError(problem, sql, spot, "write one SELECT; nothing else is run")
    if _depth(select) > DEEPEST:
        raise QueryError(f"the query is nested more than {DEEPEST} deep", remedy="write it more simply")
    return select


def _parsed(sql: str) -> list[Expr]:
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it logs texts it does not understand
    try:
        return [s for s in sqlglot.parse(sql, read=Asked) if s is not None]
    except SqlglotError as error:
        details: list[dict[str, object]] = getattr(error, "errors", None) or [{"description": str(error)}]
        said = str(details[0].get("description"))
        what = next((ours for theirs, ours in SAID.items() if said.startswith(theirs)), "this is no SQL that we know")
        where = _offset(sql, details[0])
    except (RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError):
        what, where = "this is no SQL that we know", None
    raise QueryError(what, sql, where, "write one SELECT, as SELECT COUNT(*) FROM the_table WHERE …")


def _is_bare(node: Expr) -> bool:
    """Whether nothing hangs on a bracket, as (SELECT …) LIMIT 0."""
    return not any(value for key, value in node.args.items() if key != "this")


def _offset(sql: str, detail: dict[str, object]) -> tuple[int, int] | None:
    before, mark = detail.get("start_context"), detail.get("highlight")
    if not isinstance(before, str) or not isinstance(mark, str) or not mark:
        return None
    found = sql.find(before + mark)
    return None if found < 0 else (found + len(before), found + len(before) + len(mark))


def _depth(expression: Expr) -> int:
    deepest, todo = 0, [(expression, 1)]
    while todo:
        node, depth = todo.pop()
        deepest = max(deepest, depth)
        todo.extend((child, depth + 1) for child in node.iter_expressions())
    return deepest
