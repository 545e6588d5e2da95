"""From text to one SELECT over the table: CTEs and subqueries that only select rows and compute columns are folded in.

What is not understood is refused, with the place in the text underlined.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import sqlglot
from sqlglot import Expr, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from guessproof.errors import QueryError

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
MOST_NODES = 5000  # x + x in a subquery of a subquery … doubles each time
OUTER = {"expressions", "from_", "where", "group", "having", "order", "limit", "with_"}
INNER = {"expressions", "from_", "where", "with_"}
CLAUSES = {
    "joins": ("a join", "ask one table; joins are not supported yet"),
    "distinct": ("DISTINCT", "count rows, or GROUP BY a declared list"),
    "group": ("GROUP BY inside", "group in the outer query"),
    "order": ("ORDER BY inside", "order the outer query"),
    "limit": ("LIMIT inside", "limit the outer query"),
    "having": ("HAVING inside", "use it in the outer query"),
    "windows": ("a window", "windows are not supported"),
    "qualify": ("QUALIFY", "windows are not supported"),
    "offset": ("OFFSET", "use LIMIT alone"),
    "sample": ("a sample", "ask the whole table"),
    "laterals": ("a lateral join", "ask one table"),
    "into": ("INTO", "nothing is written"),
    "locks": ("a lock", "nothing is locked"),
    "pivots": ("PIVOT", "GROUP BY a declared list"),
    "version": ("a version of the table", "ask the table as it is"),
    "kind": ("SELECT AS STRUCT", "name the columns"),
    "hint": ("a hint", "leave it out"),
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


@dataclass(frozen=True)
class FlatSelect:
    """One SELECT over one table: outputs, filters, and the clauses that act on the result."""

    table: str
    select: exp.Select
    where: tuple[Expr, ...]


def flatten(select: exp.Select, sql: str) -> FlatSelect:
    """The query with every inner SELECT folded in."""
    return _Flattener(sql).outer(select)


@dataclass(frozen=True)
class _Source:
    """What a FROM offers: the table, and what each visible name stands for (None: the table's own columns)."""

    table: str
    names: Mapping[str, Expr] | None
    where: tuple[Expr, ...]


@dataclass(frozen=True)
class _Flattener:
    sql: str
    used: set[str] = field(default_factory=set[str])  # names of WITH that some FROM reads

    def outer(self, select: exp.Select) -> FlatSelect:
        self._only(select, OUTER)
        source, alias = self._source(select, self._ctes(select, {}))
        for clause in select.find_all(exp.CTE):
            if clause.alias.casefold() not in self.used:
                raise self._refuse(f"{clause.alias} is not used", clause.args["alias"], "leave it out of WITH")
        flat = select.copy()
        flat.set("with_", None)
        where = flat.args.pop("where", None)
        conditions = source.where if where is None else (*source.where, self._seen(where.this, source, alias))
        for key in ("expressions", "group", "having", "order"):
            self._rewrite(flat, key, source, alias)
        return FlatSelect(source.table, flat, conditions)

    def _rewrite(self, flat: exp.Select, key: str, source: _Source, alias: str) -> None:
        found = flat.args.get(key)
        if found is None:
            return
        # Names of outputs shadow those of the subquery in HAVING and ORDER BY, as engines read them.
        shadowing = source.names is not None and key in ("having", "order")
        keep = {e.alias_or_name.casefold() for e in flat.expressions if e.alias and shadowing}
        if isinstance(found, list):
            flat.set(key, [self._output(e, source, alias) for e in found])
        else:
            flat.set(key, self._seen(found, source, alias, frozenset(keep)))

    def _output(self, expression: Expr, source: _Source, alias: str) -> Expr:
        """An output keeps its name although what it stands for is put in its place."""
        seen = self._seen(expression, source, alias)
        if source.names is not None and isinstance(expression, exp.Column) and not isinstance(seen, exp.Alias):
            return exp.alias_(seen, expression.name, quoted=True)
        return seen

    def _ctes(self, select: exp.Select, known: dict[str, exp.Select]) -> dict[str, exp.Select]:
        clause = select.args.get("with_")
        found = dict(known)
        if clause is None:
            return found
        if clause.args.get("recursive"):
            raise self._refuse("a recursive query", clause, "ask one table")
        for cte in clause.expressions:
            if (
                not isinstance(cte.this, exp.Select)
                or cte.args.get("alias") is None
                or cte.args["alias"].args.get("columns")
            ):
                raise self._refuse("this WITH is not understood", cte, "write WITH name AS (SELECT … FROM the_table)")
            found[cte.alias.casefold()] = cte.this
        return found

    def _source(self, select: exp.Select, ctes: dict[str, exp.Select], depth: int = 0) -> tuple[_Source, str]:
        clause = select.args.get("from_")
        if clause is None:
            raise self._refuse("there is no FROM", None, "write SELECT … FROM the_table")
        if depth > 20:
            raise self._refuse("subqueries are nested too deeply", clause, "write it more simply")
        what = clause.this
        if isinstance(what, exp.Subquery) and isinstance(what.this, exp.Select):
            self._bare(what, {"this", "alias"})
            return self._inner(what.this, ctes, depth), what.alias or "_"
        if not isinstance(what, exp.Table) or not isinstance(what.this, exp.Identifier):
            raise self._refuse("only a table can be asked", what, "write FROM the_table, not a function or a file")
        self._bare(what, {"this", "alias", "db"})
        name, alias = f"{what.db}.{what.name}" if what.db else what.name, what.alias or what.name
        if name.casefold() in ctes:
            self.used.add(name.casefold())
            rest = {k: v for k, v in ctes.items() if k != name.casefold()}
            return self._inner(ctes[name.casefold()], rest, depth), alias
        return _Source(name, None, ()), alias

    def _inner(self, select: exp.Select, ctes: dict[str, exp.Select], depth: int) -> _Source:
        self._only(select, INNER)
        ctes = self._ctes(select, ctes)
        source, alias = self._source(select, ctes, depth + 1)
        where = select.args.get("where")
        conditions = source.where if where is None else (*source.where, self._seen(where.this, source, alias))
        return _Source(source.table, self._names(select, source, alias), conditions)

    def _names(self, select: exp.Select, source: _Source, alias: str) -> dict[str, Expr] | None:
        """What an inner SELECT offers, by name; None for the table's own columns."""
        names: dict[str, Expr] = {}
        for expression in select.expressions:
            if isinstance(expression, exp.Star) and not any(expression.args.values()):
                if source.names is not None:
                    names.update(source.names)
                    continue
                if len(select.expressions) == 1:
                    return None
                raise self._refuse("* beside other columns", select, "name the columns that are needed")
            if not expression.alias_or_name or expression.is_star:
                raise self._refuse("a computed column without a name", expression, "write expression AS name")
            seen = self._seen(expression.unalias(), source, alias)
            if any(isinstance(n, (exp.AggFunc, exp.Window, exp.Query)) for n in seen.walk()):
                raise self._refuse("an aggregate of aggregates", expression, "aggregate once, in the outer query")
            names[expression.alias_or_name.casefold()] = seen
        return names

    def _seen(self, expression: Expr, source: _Source, alias: str, keep: frozenset[str] = frozenset()) -> Expr:
        """An expression in terms of the table's own columns, without qualifiers."""
        names = source.names

        def named(node: exp.Column) -> Expr:
            if node.args.get("db") or (node.table and node.table.casefold() != alias.casefold()):
                raise self._refuse(f"{node.sql()} belongs to another table", node, f"columns are of {alias}")
            if names is None:
                node.set("table", None)
                return node
            if not node.table and node.name.casefold() in keep:
                return node
            if node.name.casefold() not in names:
                raise self._refuse(f"the subquery has no column {node.name}", node, f"use {', '.join(sorted(names))}")
            found = names[node.name.casefold()]
            return found.copy() if isinstance(found, (exp.Column, exp.Literal)) else exp.Paren(this=found.copy())

        copied, size = expression.copy(), 0
        for node in list(copied.find_all(exp.Column)):
            replacement = named(node)
            size += sum(1 for _ in replacement.walk())
            if size > MOST_NODES:
                raise self._refuse(
                    "the query is too large once its subqueries are put in", None, "write it more simply"
                )
            if replacement is not node:
                if node is copied:
                    copied = replacement
                else:
                    node.replace(replacement)
        return copied

    def _only(self, select: exp.Select, allowed: set[str]) -> None:
        for key, value in select.args.items():
            if key in allowed or value in (None, False, [], ()):
                continue
            word, remedy = CLAUSES.get(key, (key.strip("_").upper(), "leave it out"))
            spot = value[0] if isinstance(value, list) else value
            raise self._refuse(f"{word} is not supported", spot if isinstance(spot, Expr) else None, remedy)

    def _bare(self, node: Expr, allowed: set[str]) -> None:
        for key, value in node.args.items():
            if key not in allowed and value not in (None, False, [], ()):
                word, remedy = CLAUSES.get(key, (key.strip("_").upper(), "name the table alone"))
                raise self._refuse(f"{word} is not supported here", node, remedy)
        alias = node.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise self._refuse("renamed columns are not supported", node, "rename with AS inside")

    def _refuse(self, problem: str, expression: Expr | None, remedy: str) -> QueryError:
        return QueryError(problem, self.sql, None if expression is None else locate(expression, self.sql), remedy)
