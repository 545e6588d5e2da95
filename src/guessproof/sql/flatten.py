"""CTEs and subqueries that only select rows and compute columns, folded into one SELECT over the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.sql.reader import place

MOST_NODES = 5000  # x + x in a subquery of a subquery … doubles each time
OUTER = {"expressions", "from_", "where", "group", "having", "order", "limit", "with_"}
INNER = {"expressions", "from_", "where", "with_"}
WORDS = {
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
    "db": ("a schema before the table", "write the table's name alone"),
    "pivots": ("PIVOT", "GROUP BY a declared list"),
    "version": ("a version of the table", "ask the table as it is"),
    "kind": ("SELECT AS STRUCT", "name the columns"),
    "hint": ("a hint", "leave it out"),
}


@dataclass(frozen=True)
class Flat:
    """One SELECT over one table: outputs, filters, and the clauses that act on the result."""

    table: str
    select: exp.Select
    where: tuple[Expr, ...]


def flatten(select: exp.Select, sql: str) -> Flat:
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

    def outer(self, select: exp.Select) -> Flat:
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
        return Flat(source.table, flat, conditions)

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
        self._bare(what, {"this", "alias"})
        name, alias = what.name, what.alias or what.name
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
            word, remedy = WORDS.get(key, (key.strip("_").upper(), "leave it out"))
            spot = value[0] if isinstance(value, list) else value
            raise self._refuse(f"{word} is not supported", spot if isinstance(spot, Expr) else None, remedy)

    def _bare(self, node: Expr, allowed: set[str]) -> None:
        for key, value in node.args.items():
            if key not in allowed and value not in (None, False, [], ()):
                word, remedy = WORDS.get(key, (key.strip("_").upper(), "name the table alone"))
                raise self._refuse(f"{word} is not supported here", node, remedy)
        alias = node.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise self._refuse("renamed columns are not supported", node, "rename with AS inside")

    def _refuse(self, problem: str, expression: Expr | None, remedy: str) -> QueryError:
        return QueryError(problem, self.sql, None if expression is None else place(expression, self.sql), remedy)
