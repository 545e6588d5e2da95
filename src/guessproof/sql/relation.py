"""Joins with public tables: which row of a public table a record meets, how many, and what moves with the record.

A public table is a function that everybody knows. On a public key the joined row is the record with more public
columns. On a protected key these columns change with the record, and whether there is a match at all does too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import Expr, exp

from guessproof.names import folded
from guessproof.sql.declared import DeclaredColumn, DeclaredTable, JoinedTable
from guessproof.sql.flatten import FlatJoin
from guessproof.sql.movement import ALWAYS, EITHER, OTHER, ColumnChange, Neighbours, OutcomePair
from guessproof.sql.rules.logic import Conjunction
from guessproof.sql.rules.time import write_time
from guessproof.sql.rules.values import write_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, NoFilter, Reader, Row
from guessproof.world import Kind


@dataclass(frozen=True)
class JoinKey:
    """A column of the public table that must equal one of the tables before it."""

    left: DeclaredColumn
    right: DeclaredColumn

    def matches(self, left: Any, right: Any) -> bool:
        """Whether two stored values are one key. What is missing, or no level, is none."""
        a, b = self.left.read(left), self.right.read(right)
        return a is not None and b is not None and OTHER not in (a, b) and bool(a == b)

    def write(self, target: SqlTarget) -> Expr:
        """The same in SQL."""
        labels = self.left.kind == self.right.kind == "label"
        sides = target.whole_pair(self.left, self.right) if labels else None
        left, right = sides or (write_key(self.left, target), write_key(self.right, target))
        equal: Expr = exp.EQ(this=left, expression=right)
        for column in (self.left, self.right):
            if column.kind == "label" and column.levels is not None:
                equal = exp.and_(equal, target.among(target.label(column), column.levels), copy=False)
        return equal


def write_key(column: DeclaredColumn, target: SqlTarget) -> Expr:
    """A column as keys are compared: numbers as numbers, texts byte by byte."""
    if column.kind == "number":
        return write_number(column, target)
    return write_time(column, target) if column.kind == "time" else target.label(column)


@dataclass(frozen=True)
class PublicJoin:
    """One join: on which keys, beside which condition on the public table alone, with how many matches at most."""

    joined: JoinedTable
    keys: tuple[JoinKey, ...]
    filter: Condition
    matches: int

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the tables before it that decide on the match."""
        return frozenset(key.left.name for key in self.keys)

    @property
    def read(self) -> frozenset[str]:
        """The columns of the public table that the join itself reads."""
        return frozenset(key.right.name for key in self.keys) | self.filter.columns

    def moves(self, neighbours: Neighbours) -> bool:
        """Whether another row may match after the move."""
        return any(neighbours[name].moves for name in self.columns)


@dataclass(frozen=True)
class Match(Condition):
    """Whether there is such a joined row: of the matches that a record may have, one."""

    join: PublicJoin

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return self.join.columns

    def at(self, row: Row) -> bool:
        return True  # only joined rows are looked at

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        if self.join.joined.outer and self.join.matches == 1:
            return ALWAYS
        return OutcomePair(EITHER, EITHER, not self.join.moves(neighbours))

    def write(self, target: SqlTarget) -> Expr:
        return exp.true()  # FROM says it


def carry_along(joins: Sequence[PublicJoin], neighbours: Neighbours) -> Neighbours:
    """What is read from a public table moves freely where the key moves."""
    found = dict(neighbours)
    for join in joins:
        if join.moves(found):
            for name, change in found.items():
                if join.joined.name_inside(name) is not None:
                    found[name] = ColumnChange(change.before, change.after, moves=True)
    return found


def find_roots(joins: Sequence[PublicJoin], name: str) -> frozenset[str]:
    """The columns of the protected table that a column depends on: itself, or the keys of its public table."""
    for join in joins:
        if join.joined.name_inside(name) is not None:
            return frozenset[str]().union(*(find_roots(joins, key) for key in join.columns))
    return frozenset((name,))


def count_matches(joins: Iterable[PublicJoin]) -> int:
    """How many joined rows one row can become: several joins multiply."""
    total = 1
    for join in joins:
        total *= join.matches
    return total


# Reading -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JoinReader:
    """Takes the keys of joins out of WHERE and ON, and puts the joins in an order in which each finds its keys."""

    reader: Reader

    def read(self, flats: Sequence[FlatJoin], where: Sequence[Expr]) -> tuple[tuple[PublicJoin, ...], list[Expr]]:
        """The joins, and what is left of WHERE."""
        pending, rest = list(flats), list(where)
        found: list[PublicJoin] = []
        placed = {""}
        while pending:
            flat = next((f for f in pending if self._is_next(f, placed, rest)), None)
            flat = flat or next((f for f in pending if not f.outer), pending[0])
            pending.remove(flat)
            conditions = list(flat.on) if flat.outer else rest
            keys = [e for e in conditions if self._is_key(e, flat.alias, placed)]
            if not flat.outer:
                rest = [e for e in rest if not any(e is key for key in keys)]
            found.append(self._join(flat, keys, conditions))
            self._check_owner(found[-1], found[:-1], keys)
            placed.add(folded(flat.alias))
        return tuple(found), rest

    def _is_next(self, flat: FlatJoin, placed: set[str], rest: Sequence[Expr]) -> bool:
        return any(self._is_key(e, flat.alias, placed) for e in (flat.on if flat.outer else rest))

    def _is_key(self, expression: Expr, alias: str, placed: set[str]) -> bool:
        """a.k = b.k, one of them of this table and the other of one before."""
        if not isinstance(expression, exp.EQ):
            return False
        sides = [_strip(expression.this), _strip(expression.expression)]
        if not all(isinstance(side, exp.Column) for side in sides):
            return False
        a, b = (folded(side.table) for side in sides if isinstance(side, exp.Column))
        return (a == folded(alias) and b in placed) or (b == folded(alias) and a in placed)

    def _join(self, flat: FlatJoin, keys: Sequence[Expr], conditions: Sequence[Expr]) -> PublicJoin:
        joined = next(j for j in self.reader.declared.joined if folded(j.alias) == folded(flat.alias))
        own = [e for e in conditions if not any(e is key for key in keys) and _is_only_of(e, flat.alias)]
        if flat.outer and len(own) + len(keys) < len(conditions):
            wrong = next(e for e in conditions if not any(e is k for k in (*keys, *own)))
            problem = "a LEFT JOIN matches on equal columns, and on conditions about the public table"
            raise self.reader.refuse(problem, wrong, "put other conditions into WHERE or CASE")
        # What an inner join asks of the public table alone is in WHERE; here it only narrows the matches.
        fixed = own if flat.outer else [e for e in own if _fixed_column(e) is not None]
        filtered: Condition = NoFilter()
        for expression in fixed:
            condition = self.reader.condition(expression)
            filtered = condition if isinstance(filtered, NoFilter) else Conjunction(filtered, condition)
        pairs = tuple(dict.fromkeys(self._key(key, flat.alias) for key in keys))
        known = {str(joined.name_inside(pair.right.name)) for pair in pairs}
        known |= {name for e in fixed if (name := _fixed_column(e)) is not None}
        return PublicJoin(joined, pairs, filtered, self._matches(joined, known, pairs, keys))

    def _key(self, expression: Expr, alias: str) -> JoinKey:
        sides = [_strip(expression.this), _strip(expression.expression)]
        left, right = sides if folded(sides[1].text("table")) == folded(alias) else reversed(sides)
        columns = self.reader.column(left), self.reader.column(right)
        kinds: list[Kind] = list(dict.fromkeys(c.kind for c in columns if c.kind is not None)) or ["label"]
        if len(kinds) > 1 or kinds[0] == "truth":
            problem = f"{columns[0].name} and {columns[1].name} differ in kind, or hold truth values"
            remedy = 'declare both with the same kind: "number", "label" or "time"'
            raise self.reader.refuse(problem, expression, remedy)
        used = [self.reader.use_as(c, kinds[0], expression, "join columns of one kind") for c in columns]
        return JoinKey(used[0], used[1])

    def _check_owner(self, join: PublicJoin, before: Sequence[PublicJoin], places: Sequence[Expr]) -> None:
        """A second table of the same persons is joined so that both rows are one person's; else refused."""
        table, declared = join.joined.table, self.reader.declared
        if not table.is_secret:
            return
        place = places[0] if places else None
        equal = {(folded(str(join.joined.name_inside(k.right.name))), folded(k.left.name)) for k in join.keys}
        if any(key.left.kind != "label" or key.right.kind != "label" for key in join.keys):
            problem = "columns that name persons are compared as texts, and one of these is declared as a number"
            raise self.reader.refuse(problem, place, 'declare kind = "label" for both')
        if table.person is not None:
            named = {folded(str(declared.unit.identity))}
            named |= {folded(f"{j.joined.alias}.{j.joined.table.person}") for j in before if j.joined.table.person}
            if not any(right == folded(table.person) and left in named for right, left in equal):
                problem = f"{table.name} is as confidential as {declared.table}, and is not joined on the person"
                remedy = f"join it on {declared.table}.{declared.unit.identity} = {table.name}.{table.person}"
                raise self.reader.refuse(problem, place, remedy)
            return
        owners = [j.joined for j in before if j.joined.table.is_secret]
        aliases = [joined.alias for joined in owners if folded(joined.table.name) == folded(str(table.owner))]
        starts = [f"{folded(alias)}." for alias in aliases]
        is_first = folded(str(table.owner)) == folded(declared.table)
        owned = {r for r, left in equal if any(left.startswith(s) for s in starts) or (is_first and "." not in left)}
        if not owned >= {folded(name) for name in table.key}:
            problem = f"each row of {table.name} belongs to one of {table.owner}, and is not joined on all of its key"
            raise self.reader.refuse(problem, place, f"join {table.owner} on {', '.join(table.key)}")

    def _matches(self, joined: JoinedTable, known: set[str], pairs: Sequence[JoinKey], places: Sequence[Expr]) -> int:
        table, place = joined.table, places[0] if places else None
        if table.is_secret:
            return 1  # all joined rows of a person are bounded together, however many there are
        if table.key and {folded(name) for name in table.key} <= {folded(name) for name in known}:
            return 1
        if table.max_matches is not None:
            return table.max_matches
        if table.key:
            on = f"on {' and '.join(p.right.name for p in pairs)}" if pairs else "on nothing"
            problem = f"{table.name} is joined {on}, and its key is {', '.join(table.key)}"
        else:
            problem = f"how many rows of {table.name} one record can match is not declared"
        remedy = f'declare key = ["…"] under [tables.{table.name}], the columns it is joined on, or max_matches = N'
        raise self.reader.refuse(problem, place, remedy)


def _strip(expression: Expr) -> Expr:
    while isinstance(expression, exp.Paren):
        expression = expression.this
    return expression


def _is_only_of(expression: Expr, alias: str) -> bool:
    columns = list(expression.find_all(exp.Column))
    return bool(columns) and all(folded(c.table) == folded(alias) for c in columns)


def _fixed_column(expression: Expr) -> str | None:
    """The column of column = constant."""
    if not isinstance(expression, exp.EQ):
        return None
    a, b = _strip(expression.this), _strip(expression.expression)
    a, b = (b, a) if isinstance(b, exp.Column) else (a, b)
    return a.name if isinstance(a, exp.Column) and b.find(exp.Column) is None else None


def joining(declared: DeclaredTable, flats: Sequence[FlatJoin]) -> DeclaredTable:
    """The declaration of the joined rows."""
    tables = ((flat, declared.table_named(flat.table)) for flat in flats)
    return replace(declared, joined=tuple(JoinedTable(f.alias, t, f.outer) for f, t in tables if t is not None))


# Writing -----------------------------------------------------------------------------------------------------------


def write_joins(
    select: exp.Select, declared: DeclaredTable, joins: Sequence[PublicJoin], read: Iterable[str], target: SqlTarget
) -> None:
    """The public tables beside the one in FROM; their columns are called as the joined row has them."""
    names = sorted(read)
    for join in joins:
        on = [key.write(target) for key in join.keys]
        if join.joined.outer and not isinstance(join.filter, NoFilter):
            on.append(join.filter.keeps(target))
        derived = write_public(join, declared, names, target)
        select.append(
            "joins",
            exp.Join(
                this=derived,
                side="LEFT" if join.joined.outer else None,
                kind=None if on or join.joined.outer else "CROSS",
                on=exp.and_(*on, copy=False) if on else exp.true() if join.joined.outer else None,
            ),
        )


def write_public(join: PublicJoin, declared: DeclaredTable, read: Iterable[str], target: SqlTarget) -> exp.Subquery:
    """The columns of a public table that are read, renamed."""
    names = {n for n in read if join.joined.name_inside(n) is not None} | join.read
    stored = sorted({target.stored(declared.column(name))[0] for name in names})
    columns = [exp.alias_(target.name(str(join.joined.name_inside(n))), n, quoted=True) for n in stored]
    table = exp.Table(this=exp.to_identifier(join.joined.table.name, quoted=True))
    chosen = columns or [exp.alias_(exp.Literal.number(1), join.joined.alias, quoted=True)]
    inner = exp.select(*chosen, copy=False).from_(table, copy=False)
    return exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(join.joined.alias, quoted=True)))


def write_most_matches(join: PublicJoin, declared: DeclaredTable, target: SqlTarget) -> str:
    """A query over the public table alone: the most of its rows that one record can match."""
    number = exp.alias_(exp.Count(this=exp.Star()), "n")
    rows = exp.select(number, copy=False).from_(write_public(join, declared, (), target), copy=False)
    if not isinstance(join.filter, NoFilter):
        rows = rows.where(join.filter.keeps(target), copy=False)
    for key in join.keys:
        known = exp.Is(this=exp.paren(write_key(key.right, target), copy=False), expression=exp.null())
        rows = rows.where(exp.not_(known, copy=False), copy=False)
        rows = rows.group_by(write_key(key.right, target), copy=False)
    counted = rows.subquery("counted", copy=False)
    most = exp.Coalesce(this=exp.Max(this=exp.column("n")), expressions=[exp.Literal.number(0)])
    return target.sql(exp.select(most, copy=False).from_(counted, copy=False))
