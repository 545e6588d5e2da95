"""From text to one SELECT, or a refusal that underlines the place."""

from __future__ import annotations

import logging

import sqlglot
from sqlglot import Expr, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

from guessproof.errors import QueryError
from guessproof.sql.reader import place

LONGEST = 20_000  # characters
DEEPEST = 200  # nested expressions


class Asked(DuckDB):
    """DuckDB's SQL, with the distance of two points written as in PostgreSQL's extensions: a <@> b."""

    class Tokenizer(DuckDB.Tokenizer):
        """Reads <@> as one sign."""

        KEYWORDS = {**DuckDB.Tokenizer.KEYWORDS, "<@>": TokenType.LR_ARROW}


def parse(sql: str) -> exp.Select:
    """The one SELECT of a text.

    >>> parse("SELECT 1; DROP TABLE t")
    Traceback (most recent call last):
    ...
    guessproof.errors.QueryError: more than one statement; write one SELECT
    """
    if not isinstance(sql, str) or not sql.strip():
        raise QueryError("there is no query", remedy="write SELECT COUNT(*) FROM the_table")
    if len(sql) > LONGEST:
        raise QueryError(f"the query has more than {LONGEST} characters", remedy="ask less at once")
    if "\x00" in sql:
        raise QueryError("the query holds a NUL character", remedy="remove it")
    statements = _parsed(sql)
    if len(statements) != 1:
        problem = "there is no query" if not statements else "more than one statement"
        raise QueryError(problem, sql, None, "write one SELECT")
    select = statements[0]
    while isinstance(select, (exp.Subquery, exp.Paren)) and isinstance(select.this, Expr):
        select = select.this
    if not isinstance(select, exp.Select):
        name = "VALUES" if isinstance(select, exp.Values) else select.key.upper()
        raise QueryError(
            f"this is no SELECT but {name}", sql, place(select, sql), "write one SELECT; nothing else is run"
        )
    if _depth(select) > DEEPEST:
        raise QueryError(f"the query is nested more than {DEEPEST} deep", remedy="write it more simply")
    return select


def _parsed(sql: str) -> list[Expr]:
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it logs texts it does not understand
    try:
        return [s for s in sqlglot.parse(sql, read=Asked) if s is not None]
    except SqlglotError as error:
        details = getattr(error, "errors", None) or [{}]
        where = _offset(sql, details[0])
        what = str(details[0].get("description") or "this is no SQL").rstrip(".")
        raise QueryError(f"not understood: {_plain(what)}", sql, where, "write one SELECT") from None
    except (RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError):
        raise QueryError("the query is not understood", sql, None, "write one SELECT") from None


def _plain(description: str) -> str:
    """The parser's words without names of its own classes."""
    return description.split(" for <class")[0].split("Instead got")[0].strip(" .")


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
