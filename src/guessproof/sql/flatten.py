"""One SELECT over the table: CTEs and subqueries that only select rows and compute columns are folded in.

Public tables stay beside the protected one as joins. What is not understood is refused, its place underlined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.names import folded
from guessproof.sql.parse import locate

MOST_NODES = 5000  # x + x in a subquery of a subquery … doubles each time
OUTER = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_"}
INNER = {"expressions", "from_", "joins", "where", "with_"}
CLAUSES = {
    "distinct": ("DISTINCT", "ask for COUNT(DISTINCT column), or GROUP BY a declared list"),
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

Refusal = Callable[[str, Expr | None, str], QueryError]


@dataclass(frozen=True)
class FlatJoin:
    """A public table that is joined: `outer` keeps records that match none of its rows. An inner join's ON is WHERE."""

    table: str
    alias: str
    outer: bool = False
    on: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class ScopeItem:
    """One name after FROM: a table, by the qualifier of its columns, or a subquery, by what its names stand for."""

    alias: str
    qualifier: str = ""  # none for the protected table
    known: frozenset[str] = frozenset()  # the columns that the plan declares
    names: Mapping[str, Expr] | None = None  # None: a table's own columns

    @property
    def is_protected(self) -> bool:
        """Whether it is the protected table itself."""
        return self.names is None and not self.qualifier

    def offers(self, name: str) -> bool:
        """Whether it is known to have such a column."""
        return folded(name) in (self.known if self.names is None else self.names)

    def column(self, name: str) -> Expr:
        """What a column of it stands for."""
        if self.names is None:
            return exp.column(name, self.qualifier or None)
        return self.names[folded(name)].copy()


@dataclass(frozen=True)
class Scope:
    """The tables of one FROM, the conditions that they bring along, and the names that SELECT can use."""

    items: tuple[ScopeItem, ...]
    refuse: Refusal
    table: str | None = None  # the protected one
    joins: tuple[FlatJoin, ...] = ()
    where: tuple[Expr, ...] = ()
    merged: Mapping[str, Expr] = field(default_factory=dict[str, Expr])  # by USING

    @property
    def only(self) -> ScopeItem | None:
        """The one table or subquery, where nothing is joined."""
        return self.items[0] if len(self.items) == 1 else None

    def find(self, node: exp.Column, bare: set[str]) -> Expr:
        """What a column that is written stands for; `bare` collects names of tables that no qualifier decides on."""
        if node.args.get("db"):
            raise self._foreign(node)
        if node.table:
            item = next((i for i in self.items if folded(i.alias) == folded(node.table)), None)
            if item is None:
                raise self._foreign(node)
            return self._of(item, node)
        if folded(node.name) in self.merged:
            return self.merged[folded(node.name)].copy()
        return self._of(self._bare(node, bare), node)

    def _bare(self, node: exp.Column, bare: set[str]) -> ScopeItem:
        """The table of a name without a qualifier: the one that the plan declares it for, or else the protected one."""
        if self.only is not None:
            return self.only
        found = [item for item in self.items if item.offers(node.name)]
        if len(found) > 1:
            several = " and ".join(f"{item.alias}.{node.name}" for item in found)
            raise self.refuse(f"{node.name} may be {several}", node, "write which one is meant")
        tables = [item for item in self.items if item.names is None]
        found = found or [item for item in tables if item.is_protected] or (tables if len(tables) == 1 else [])
        if not found:
            raise self.refuse(f"no table is known to have a column {node.name}", node, "write table.column")
        if found[0].names is None:
            bare.add(folded(node.name))
        return found[0]

    def _of(self, item: ScopeItem, node: exp.Column) -> Expr:
        if item.names is None:
            written = node.copy()
            written.set("table", exp.to_identifier(item.qualifier) if item.qualifier else None)
            return written
        if folded(node.name) not in item.names:
            remedy = f"use {', '.join(sorted(item.names))}"
            raise self.refuse(f"the subquery has no column {node.name}", node, remedy)
        return item.column(node.name)

    def _foreign(self, node: exp.Column) -> QueryError:
        several = " or ".join(item.alias for item in self.items)
        return self.refuse(f"{node.sql()} belongs to another table", node, f"columns are of {several}")

    def named(self, alias: str) -> Scope:
        """The same, under the name by which an outer query sees it."""
        assert self.only is not None
        item = self.only
        renamed = ScopeItem(alias, item.qualifier, item.known, item.names)
        return Scope((renamed,), self.refuse, self.table, self.joins, self.where)


@dataclass(frozen=True)
class FlatSelect:
    """One SELECT over one table and public ones: outputs, filters, and the clauses that act on the result.

    `bare` are the names of columns, without a qualifier, of which only the tables themselves can say that they are
    not ambiguous.
    """

    table: str
    select: exp.Select
    where: tuple[Expr, ...]
    joins: tuple[FlatJoin, ...] = ()
    bare: frozenset[str] = frozenset()


def flatten(
    select: exp.Select, sql: str, table: str, known: frozenset[str], public: Mapping[str, frozenset[str]]
) -> FlatSelect:
    """The query with every inner SELECT folded in. `public` are the tables that may be joined, with their columns."""
    return _Flattener(sql, table, known, {folded(name): columns for name, columns in public.items()}).outer(select)


@dataclass(frozen=True)
class _Flattener:
    sql: str
    table: str
    known: frozenset[str]
    public: Mapping[str, frozenset[str]]
    used: set[str] = field(default_factory=set[str])  # names of WITH that some FROM reads
    taken: set[str] = field(default_factory=set[str])  # qualifiers of public tables
    bare: set[str] = field(default_factory=set[str])

    def outer(self, select: exp.Select) -> FlatSelect:
        self._only(select, OUTER)
        scope = self._scope(select, self._ctes(select, {}))
        for clause in select.find_all(exp.CTE):
            if folded(clause.alias) not in self.used:
                raise self._refuse(f"{clause.alias} is not used", clause.args["alias"], "leave it out of WITH")
        if scope.table is None:
            spot = select.args["from_"]
            problem, remedy = "the query asks public tables only", f"ask the database itself, or write {self.table}"
            raise self._refuse(problem, spot, remedy)
        flat = select.copy()
        for key in ("with_", "joins"):
            flat.set(key, None)
        where = flat.args.pop("where", None)
        conditions = self._conditions(scope, where)
        for key in ("expressions", "group", "having", "order"):
            self._rewrite(flat, key, scope)
        return FlatSelect(scope.table, flat, conditions, scope.joins, frozenset(self.bare))

    def _conditions(self, scope: Scope, where: Expr | None) -> tuple[Expr, ...]:
        if where is None:
            return scope.where
        seen = self._seen(where.this, scope)
        return (*scope.where, *(split_conjunction(seen) if scope.joins else (seen,)))

    def _rewrite(self, flat: exp.Select, key: str, scope: Scope) -> None:
        found = flat.args.get(key)
        if found is None:
            return
        # Names of outputs shadow those of the tables in HAVING and ORDER BY, as engines read them.
        shadowing = key in ("having", "order") and (scope.only is None or scope.only.names is not None)
        keep = {folded(e.alias_or_name) for e in flat.expressions if e.alias and shadowing}
        if isinstance(found, list):
            flat.set(key, [self._output(e, scope) for e in found])
        else:
            flat.set(key, self._seen(found, scope, frozenset(keep)))

    def _output(self, expression: Expr, scope: Scope) -> Expr:
        """An output keeps its name although what it stands for is put in its place."""
        seen = self._seen(expression, scope)
        is_folded = isinstance(expression, exp.Column) and not isinstance(seen, exp.Alias)
        if is_folded and (not isinstance(seen, exp.Column) or seen.name != expression.name):
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
            found[folded(cte.alias)] = cte.this
        return found

    # FROM ----------------------------------------------------------------------------------------------------------

    def _scope(self, select: exp.Select, ctes: dict[str, exp.Select], depth: int = 0) -> Scope:
        clause = select.args.get("from_")
        if clause is None:
            raise self._refuse("there is no FROM", None, "write SELECT … FROM the_table")
        if depth > 20:
            raise self._refuse("subqueries are nested too deeply", clause, "write it more simply")
        joins = select.args.get("joins") or []
        scope = self._item(clause.this, ctes, depth, alone=not joins)
        for join in joins:
            from guessproof.sql.joined import check_rows, join_scopes

            check_rows(join, ctes, self._refuse)
            scope = join_scopes(scope, self._item(join.this, ctes, depth, alone=False), join, self._seen, self.bare)
        return scope

    def _item(self, what: Expr, ctes: dict[str, exp.Select], depth: int, *, alone: bool) -> Scope:
        if isinstance(what, exp.Subquery) and isinstance(what.this, exp.Select):
            self._bare(what, {"this", "alias"})
            return self._inner(what.this, ctes, depth).named(what.alias or "_")
        if not isinstance(what, exp.Table) or not isinstance(what.this, exp.Identifier):
            raise self._refuse("only a table can be asked", what, "write FROM the_table, not a function or a file")
        self._bare(what, {"this", "alias", "db"})
        name, alias = f"{what.db}.{what.name}" if what.db else what.name, what.alias or what.name
        if folded(name) in ctes:
            self.used.add(folded(name))
            rest = {k: v for k, v in ctes.items() if k != folded(name)}
            return self._inner(ctes[folded(name)], rest, depth).named(alias)
        if folded(name) in self.public:
            own = self._qualifier(alias)
            item = ScopeItem(alias, own, self.public[folded(name)])
            return Scope((item,), self._refuse, None, (FlatJoin(name, own),))
        if not alone and folded(name) != folded(self.table):
            remedy = f"declare [tables.{name}] with its key, if everybody may know it"
            raise self._refuse(f"the plan declares no table {name}", what, remedy)
        return Scope((ScopeItem(alias, "", self.known),), self._refuse, name)

    def _qualifier(self, alias: str) -> str:
        """A name of its own for each public table: the same alias may stand in several subqueries."""
        found, number = alias, 1
        while folded(found) in self.taken:
            number += 1
            found = f"{alias}_{number}"
        self.taken.add(folded(found))
        return found

    # Inside --------------------------------------------------------------------------------------------------------

    def _inner(self, select: exp.Select, ctes: dict[str, exp.Select], depth: int) -> Scope:
        self._only(select, INNER)
        scope = self._scope(select, self._ctes(select, ctes), depth + 1)
        names, only = self._names(select, scope), scope.only
        where = self._conditions(scope, select.args.get("where"))
        if names is None:
            assert only is not None
            return replace(scope, where=where)
        return Scope((ScopeItem("_", names=names),), self._refuse, scope.table, scope.joins, where)

    def _names(self, select: exp.Select, scope: Scope) -> dict[str, Expr] | None:
        """What an inner SELECT offers, by name; None for the table's own columns."""
        names: dict[str, Expr] = {}
        for expression in select.expressions:
            if isinstance(expression, exp.Star) and not any(expression.args.values()):
                if scope.only is None:
                    raise self._refuse("* of a join", select, "name the columns that are needed")
                if scope.only.names is not None:
                    names.update(scope.only.names)
                    continue
                if len(select.expressions) == 1:
                    return None
                raise self._refuse("* beside other columns", select, "name the columns that are needed")
            if not expression.alias_or_name or expression.is_star:
                raise self._refuse("a computed column without a name", expression, "write expression AS name")
            seen = self._seen(expression.unalias(), scope)
            if any(isinstance(n, (exp.AggFunc, exp.Window, exp.Query)) for n in seen.walk()):
                raise self._refuse("an aggregate of aggregates", expression, "aggregate once, in the outer query")
            name = folded(expression.alias_or_name)
            if name in names:
                problem = f"two columns of the subquery are called {expression.alias_or_name}"
                raise self._refuse(problem, expression, "name them apart with AS")
            names[name] = seen
        return names

    def _seen(self, expression: Expr, scope: Scope, keep: frozenset[str] = frozenset()) -> Expr:
        """An expression in terms of the tables' own columns; those of the protected one without qualifiers."""

        def named(node: exp.Column) -> Expr:
            if not node.table and folded(node.name) in keep:
                return node
            found = scope.find(node, self.bare)
            return found if isinstance(found, (exp.Column, exp.Literal)) else exp.Paren(this=found)

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


def split_conjunction(expression: Expr) -> Iterator[Expr]:
    """The parts of a AND b AND c."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, exp.And):
        yield from split_conjunction(expression.this)
        yield from split_conjunction(expression.expression)
    else:
        yield expression
