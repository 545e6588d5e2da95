"""What a FROM offers: the protected table, public tables beside it, and what each visible name stands for.

After this a column of the protected table has no qualifier, and a column of a public table has that of its join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.names import folded

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
        return folded(name) in self.known if self.names is None else name.casefold() in self.names

    def column(self, name: str) -> Expr:
        """What a column of it stands for."""
        if self.names is None:
            return exp.column(name, self.qualifier or None)
        return self.names[name.casefold()].copy()


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
            item = next((i for i in self.items if i.alias.casefold() == node.table.casefold()), None)
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
        if node.name.casefold() not in item.names:
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

    def beside(self, other: Scope, place: Expr) -> Scope:
        """Both, joined: every row of one with every row of the other."""
        if self.table is not None and other.table is not None:
            problem = "the protected table is joined with itself, so that one record could meet all others"
            raise self.refuse(problem, place, "join it with public tables, declared as [tables.NAME]")
        taken = {item.alias.casefold() for item in self.items} & {item.alias.casefold() for item in other.items}
        if taken:
            raise self.refuse(f"two tables are called {min(taken)}", place, "name one of them with AS")
        merged = {**self.merged, **other.merged}
        table = self.table if other.table is None else other.table
        joins, where = (*self.joins, *other.joins), (*self.where, *other.where)
        return Scope((*self.items, *other.items), self.refuse, table, joins, where, merged)


def split_conjunction(expression: Expr) -> Iterator[Expr]:
    """The parts of a AND b AND c."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, exp.And):
        yield from split_conjunction(expression.this)
        yield from split_conjunction(expression.expression)
    else:
        yield expression
