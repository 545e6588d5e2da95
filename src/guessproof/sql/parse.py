"""From text to one SELECT, and where in the text an expression stands; what is no SELECT is refused."""

from __future__ import annotations

import logging
import re

import sqlglot
from sqlglot import Expr, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from guessproof.errors import QueryError
from guessproof.names import folded

CALL = re.compile(r"(\w+)\s*\(\s*$")
# A bracket after one of these is no call.
NO_CALLS = frozenset(
    re.findall(r"\w+", "AND BETWEEN BY CASE ELSE EXISTS FILTER FROM HAVING IN IS LIKE NOT ON OR SELECT THEN WHEN WHERE")
)
SPOKEN: dict[type[Expr], str] = {
    exp.Mod: "%",
    exp.IntDiv: "//",
    exp.DPipe: "||",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.SimilarTo: "SIMILAR TO",
    exp.Placeholder: "a parameter",
    exp.Parameter: "a parameter",
    exp.Subquery: "a subquery",
    exp.Select: "a subquery",
    exp.Dot: "a part of a column",
    exp.Bracket: "a part of a column",
    exp.Star: "*",
}
LONGEST = 20_000  # characters
DEEPEST = 100  # nested expressions
STATEMENTS = {"COLUMN": "a word", "TRUNCATETABLE": "TRUNCATE", "TRANSACTION": "BEGIN", "SUBQUERY": "one in brackets"}
SAID = {  # what the parser says, in words of our own
    "Expecting )": "a bracket is not closed, or a word before this does not fit",
    "Expecting (": "a bracket is missing",
    "Required keyword": "something is missing here",
    "Expected table name": "the name of a table is missing",
    "Error tokenizing": "a quote or a comment is not closed",
    "Invalid expression / Unexpected token": "this does not fit here",
}


class QueryDialect(DuckDB):
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
    statements = _parse_statements(sql)
    if len(statements) > 1:
        statements = _join_statements(statements)
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
        problem = f"this is no SELECT but {STATEMENTS.get(name, name)}"
        start = len(sql) - len(sql.lstrip())
        spot = (start, start + len(sql[start:].split()[0]))
        raise QueryError(problem, sql, spot, "write one SELECT; nothing else is run")
    if _measure_depth(select) > DEEPEST:
        raise QueryError(f"the query is nested more than {DEEPEST} deep", remedy="write it more simply")
    return select


def _join_statements(statements: list[Expr]) -> list[Expr]:
    """INSERT INTO a SELECT …; SELECT … FROM a as one query, WITH a AS (SELECT …) SELECT … FROM a."""
    *first, last = statements
    steps = [step for step in map(_read_step, first) if step is not None]
    names = {folded(name) for name, _ in steps}
    if not isinstance(last, exp.Select) or len(steps) < len(first) or len(names) < len(steps):
        return statements
    joined = last.copy()
    own = joined.args.get("with_")
    made = [exp.CTE(this=inner, alias=exp.TableAlias(this=exp.to_identifier(name))) for name, inner in steps]
    joined.set("with_", exp.With(expressions=[*made, *([] if own is None else own.expressions)]))
    return [joined]


def _read_step(statement: Expr) -> tuple[str, exp.Select] | None:
    """The name and the rows of INSERT INTO a SELECT …, or CREATE TABLE a AS SELECT …; None for anything else."""
    is_made = isinstance(statement, exp.Create) and str(statement.args.get("kind")).upper() in ("TABLE", "VIEW")
    rows, place = statement.args.get("expression"), statement.this
    while isinstance(rows, (exp.Subquery, exp.Paren)) and _is_bare(rows):
        rows = rows.this
    if not (is_made or isinstance(statement, exp.Insert)) or not isinstance(rows, exp.Select):
        return None
    names = place.expressions if isinstance(place, exp.Schema) else []
    table = place.this if isinstance(place, exp.Schema) else place
    if not isinstance(table, exp.Table) or table.db or (names and len(names) != len(rows.expressions)):
        return None
    if names:
        pairs = zip(rows.expressions, names, strict=True)
        rows.set("expressions", [exp.alias_(e.unalias(), n.name, quoted=True) for e, n in pairs])
    return table.name, rows


def _parse_statements(sql: str) -> list[Expr]:
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it logs texts it does not understand
    try:
        return [s for s in sqlglot.parse(sql, read=QueryDialect) if s is not None]
    except SqlglotError as error:
        details: list[dict[str, object]] = getattr(error, "errors", None) or [{"description": str(error)}]
        said = str(details[0].get("description"))
        what = next((ours for theirs, ours in SAID.items() if said.startswith(theirs)), "this is no SQL that we know")
        where = _locate_error(sql, details[0])
    except (RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError):
        what, where = "this is no SQL that we know", None
    raise QueryError(what, sql, where, "write one SELECT, as SELECT COUNT(*) FROM the_table WHERE …")


def _is_bare(node: Expr) -> bool:
    """Whether nothing hangs on a bracket, as (SELECT …) LIMIT 0."""
    return not any(value for key, value in node.args.items() if key != "this")


def _locate_error(sql: str, detail: dict[str, object]) -> tuple[int, int] | None:
    before, mark = detail.get("start_context"), detail.get("highlight")
    if not isinstance(before, str) or not isinstance(mark, str) or not mark:
        return None
    found = sql.find(before + mark)
    return None if found < 0 else (found + len(before), found + len(before) + len(mark))


def _measure_depth(expression: Expr) -> int:
    deepest, todo = 0, [(expression, 1)]
    while todo:
        node, depth = todo.pop()
        deepest = max(deepest, depth)
        todo.extend((child, depth + 1) for child in node.iter_expressions())
    return deepest


def locate(expression: Expr, sql: str) -> tuple[int, int] | None:
    """Where an expression stands in the text: from its first to its last known token, brackets closed."""
    spots = [n.meta for n in expression.walk() if "start" in n.meta and "end" in n.meta]
    if not spots:
        return None
    start, end = min(int(m["start"]) for m in spots), max(int(m["end"]) for m in spots) + 1
    if _is_call(expression) and "start" not in expression.meta:
        name = CALL.search(sql[:start])
        start = start if name is None or name[1].upper() in NO_CALLS else name.start()
    if _is_call(expression) and re.fullmatch(r"\w+", sql[start:end]) and sql[end : end + 1] == "(":
        end += 1
    open_brackets = sql[start:end].count("(") - sql[start:end].count(")")
    while open_brackets > 0 and end < len(sql) and sql[end] in " )*\n\t":
        open_brackets -= sql[end] == ")"
        end += 1
    return start, end


def name_construct(expression: Expr, sql: str) -> str:
    """The name of a function as it was written, or of what stands there."""
    spot = locate(expression, sql)
    written = re.match(r"(\w+)\s*\(", sql[spot[0] :]) if spot is not None and _is_call(expression) else None
    if written is not None and written[1].upper() not in NO_CALLS:
        return written[1].upper()
    if isinstance(expression, exp.Anonymous):
        return str(expression.this).upper()
    if isinstance(expression, exp.Func):
        return expression.sql_name()
    return SPOKEN.get(type(expression), type(expression).__name__.upper())


def _is_call(expression: Expr) -> bool:
    return isinstance(expression, exp.Func) and not isinstance(expression, (exp.Connector, exp.Case, exp.Cast))
