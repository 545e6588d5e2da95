"""A query that was understood: what is measured, what each record can do to it, and what is computed from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.names import folded
from guessproof.sql import formula
from guessproof.sql.aggregate_reader import REMEDY as FUNCTIONS
from guessproof.sql.aggregate_reader import AggregateReader, read_filter, spell
from guessproof.sql.aggregates import AGGREGATES
from guessproof.sql.declared import DeclaredTable
from guessproof.sql.flatten import FlatSelect, flatten
from guessproof.sql.formula import Key, Output
from guessproof.sql.measurement import Measurement
from guessproof.sql.parse import locate, parse
from guessproof.sql.relation import JoinReader, PublicJoin, joining
from guessproof.sql.rules import RULES
from guessproof.sql.rules.logic import Conjunction
from guessproof.sql.rules.truth import read_flag
from guessproof.sql.terms import Condition, Node, NoFilter, Reader
from guessproof.world import Kind

if TYPE_CHECKING:
    from guessproof.sql.by_person import PersonRows
    from guessproof.sql.nested import InnerQuery
    from guessproof.sql.publication import Publication

MOST_GROUPS = 10_000


@dataclass(frozen=True)
class AnalyzedQuery:
    """A query as a value: everything that is known before the table is opened."""

    sql: str
    declared: DeclaredTable
    where: Condition
    measurements: tuple[Measurement, ...]
    outputs: tuple[Output, ...]
    keys: tuple[Key, ...] = ()
    having: Expr | None = field(default=None, compare=False)
    order: tuple[tuple[Expr, bool], ...] = field(default=(), compare=False)
    limit: int | None = None
    joins: tuple[PublicJoin, ...] = ()
    bare: frozenset[str] = frozenset()  # names of columns that must be in one of the joined tables only
    inner: InnerQuery | PersonRows | None = None  # the grouped subquery that it puts together
    source: exp.Select | None = field(default=None, compare=False)  # what stands after FROM, where that is no table

    @property
    def parts(self) -> tuple[AskedPart, ...]:
        """It alone: a plan with one question."""
        return (AskedPart("", self, tuple(range(len(self.measurements)))),)

    @property
    def groups(self) -> int:
        """How many rows the answer can have."""
        return formula.count_groups(self.keys)

    @property
    def finds_groups(self) -> bool:
        """Whether groups are found in the table, and shown where they are frequent."""
        return any(key.is_found for key in self.keys)

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Measurements to which one record contributes one at a time, by their places."""
        if len(self.measurements) < 2:
            return ()
        from guessproof.sql.exclusive import find_families

        return find_families(self.measurements)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that are read."""
        if self.inner is not None:
            return self.inner.query.columns
        used = self.where.columns.union(*(m.contribution.columns | m.filter.columns for m in self.measurements))
        joined = frozenset[str]().union(*(join.columns | join.read for join in self.joins))
        return used | joined | {k.column for k in self.keys}

    @property
    def stored(self) -> frozenset[str]:
        """The same with the column that tells persons apart."""
        identity = self.declared.unit.identity
        return self.columns if identity is None else self.columns | {identity}

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each column that the declaration or the query tells: number, label, truth or time."""
        columns = [self.declared.column(name) for name in sorted(self.columns)]
        return {column.name: column.kind for column in columns if column.kind is not None}

    @property
    def nodes(self) -> Iterator[Node]:
        """Every term and condition in it."""
        todo: list[Node] = [self.where, *(m.contribution for m in self.measurements)]
        todo += [m.filter for m in self.measurements]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(node.parts)


@dataclass(frozen=True)
class AskedPart:
    """One question of a plan, and where its measurements stand among all that are asked."""

    name: str  # empty for an only one
    query: AnalyzedQuery
    places: tuple[int, ...]

    def label(self, output: str) -> str:
        """What an output is called where those of other questions stand beside it."""
        return f"{self.name}.{output}" if self.name else output


# All that a plan asks: one query, or several that are released and judged together.
Asked: TypeAlias = "AnalyzedQuery | Publication"


def analyze(sql: str, declared: DeclaredTable) -> AnalyzedQuery:
    """Understand a query about a declared table, or refuse it.

    >>> from guessproof.sql.declared import DeclaredColumn
    >>> t = DeclaredTable("t", {"time": DeclaredColumn("time", bounds=(0, 120))}, rows=120)
    >>> query = analyze("SELECT AVG(time) AS mean FROM t WHERE faculty = 'math'", t)
    >>> [m.per_answer.change for m in query.measurements]
    [1.0]
    """
    select = parse(sql)
    try:
        return _analyze_select(sql, declared, select)
    except ArithmeticError:
        raise QueryError("these numbers leave the range of arithmetic", sql, None, "narrow the bounds") from None
    except RecursionError:
        raise QueryError("the query is nested too deeply", sql, None, "write it more simply") from None


def _analyze_select(sql: str, declared: DeclaredTable, select: exp.Select) -> AnalyzedQuery:
    if any(inner.args.get("group") for inner in select.find_all(exp.Select) if inner is not select):
        from guessproof.sql.nested import analyze_nested, find_grouped

        grouped = find_grouped(select)
        if grouped is not None and declared.unit.identity is not None:
            from guessproof.sql.by_person import analyze_by_person, find_person

            if find_person(grouped, declared) is not None:
                return analyze_by_person(sql, select, grouped, declared, _analyze_select)
        if grouped is not None:
            inner = replace(declared, finds_groups=False, role="grouped")
            return analyze_nested(sql, select, _analyze_select(sql, inner, grouped))
    public = {table.name: frozenset(map(folded, (*table.columns, *table.key))) for table in declared.public}
    flat = flatten(select, sql, declared.table, frozenset(map(folded, declared.columns)), public)
    if folded(flat.table) != folded(declared.table):
        spot = locate(flat.select.args["from_"], sql)
        raise QueryError(f"the plan declares no table {flat.table}", sql, spot, f"write FROM {declared.table}")
    declared = joining(declared, flat.joins) if flat.joins else declared
    first = Reader(sql, declared, RULES, read_flag)
    query = _read_query(first, flat)
    if all(declared.column(name).kind is not None for name in query.columns):
        return query
    # Read again where the plan leaves kinds open: IS NULL and COUNT depend on what a column is taken for elsewhere.
    return _read_query(Reader(sql, replace(declared, learned=first.learned), RULES, read_flag, first.spelled), flat)


def _read_query(reader: Reader, flat: FlatSelect) -> AnalyzedQuery:
    return read_query(ClauseReader.of(flat, reader), flat.bare)


def read_query(clauses: ClauseReader, bare: frozenset[str]) -> AnalyzedQuery:
    """All clauses of one SELECT."""
    outputs = clauses.outputs()
    having, order, limit = clauses.having(outputs), tuple(clauses.order(outputs)), clauses.limit()
    if any(key.is_found for key in clauses.keys):
        from guessproof.sql.found import count_units

        count_units(clauses)
    measurements = tuple(clauses.aggregates.measurements.values())
    found = clauses.where, measurements, outputs, clauses.keys, having, order, limit, clauses.joins, bare
    return AnalyzedQuery(clauses.reader.sql, clauses.reader.declared, *found)


class MeasurementReader(Protocol):
    """Reads aggregates, and collects what they measure."""

    @property
    def measurements(self) -> Mapping[Any, Measurement]:
        """What was measured so far."""
        ...

    def read(self, node: Expr) -> Expr:
        """The formula of an aggregate."""
        ...

    def is_time(self, node: Expr) -> bool:
        """Whether an aggregate gives a time."""
        ...


@dataclass(frozen=True)
class ClauseReader:
    """Reads the clauses of one SELECT."""

    reader: Reader
    select: exp.Select
    where: Condition
    keys: tuple[Key, ...]
    joins: tuple[PublicJoin, ...]
    aggregates: MeasurementReader

    @staticmethod
    def of(flat: FlatSelect, reader: Reader) -> ClauseReader:
        """WHERE and GROUP BY come first: every aggregate depends on them."""
        joins, rest = JoinReader(reader).read(flat.joins, flat.where) if flat.joins else ((), flat.where)
        where: Condition = NoFilter()
        for expression in rest:
            condition = read_filter(expression, reader)
            where = condition if isinstance(where, NoFilter) else Conjunction(where, condition)
        keys = read_keys(flat.select, reader, joins)
        return ClauseReader(reader, flat.select, where, keys, joins, AggregateReader(reader, where, keys, joins))

    def outputs(self) -> tuple[Output, ...]:
        """What SELECT asks for."""
        found = tuple(self._outputs(self.select.expressions))
        if not self.aggregates.measurements:
            raise self.reader.refuse("the query asks for no aggregate", self.select, "use COUNT, SUM, AVG, MIN or MAX")
        return found

    def having(self, outputs: tuple[Output, ...]) -> Expr | None:
        """A condition on the noisy answer."""
        clause = self.select.args.get("having")
        if clause is None:
            return None
        with_names = self._replaced(clause.this, _index_by_name(outputs))
        formula.check_condition(with_names, self.reader.sql)
        return with_names

    def order(self, outputs: tuple[Output, ...]) -> Iterator[tuple[Expr, bool]]:
        """What the noisy answer is sorted by, and whether downwards."""
        clause = self.select.args.get("order")
        for item in [] if clause is None else clause.expressions:
            number = _parse_whole(item.this)
            if number is None:
                what = self._replaced(item.this, _index_by_name(outputs))
                formula.check_output(what, self.reader.sql)
                yield what, bool(item.args.get("desc"))
            elif 1 <= number <= len(outputs):
                yield outputs[number - 1].formula, bool(item.args.get("desc"))
            else:
                raise self.reader.refuse("there is no such output", item, f"count from 1 to {len(outputs)}")

    def limit(self) -> int | None:
        """How many rows of the noisy answer are shown."""
        clause = self.select.args.get("limit")
        if clause is None:
            return None
        count = _parse_whole(clause.expression) if isinstance(clause, exp.Limit) else None
        if count is None or any(v for k, v in clause.args.items() if k != "expression"):
            raise self.reader.refuse("this LIMIT is not understood", clause, "write LIMIT 10")
        return count

    def _outputs(self, expressions: Iterable[Expr]) -> Iterator[Output]:
        seen: set[str] = set()
        for expression in expressions:
            inner = expression.unalias()
            if isinstance(inner, exp.Star) or inner.is_star:
                raise self.reader.refuse("rows cannot be released", self.select, "use COUNT, SUM, AVG, MIN or MAX")
            name = expression.alias or (inner.name if isinstance(inner, exp.Column) else folded(spell(inner)))
            if folded(name) in seen:
                raise self.reader.refuse(f"two outputs are called {name}", expression, "name them with AS")
            seen.add(folded(name))
            replaced = self._replaced(inner, {})
            formula.check_output(replaced, self.reader.sql)
            yield Output(name, replaced, self._is_time(inner))

    def _is_time(self, node: Expr) -> bool:
        while isinstance(node, exp.Paren):
            node = node.this
        return self.aggregates.is_time(node)

    def _replaced(self, node: Expr, names: dict[str, Expr]) -> Expr:
        """The same with aggregates, keys and names of outputs in their places."""
        if isinstance(node, (exp.AggFunc, exp.Filter)) or type(node) in AGGREGATES:
            return self._aggregate(node, may_add=not names)
        if isinstance(node, (exp.Query, exp.Window)):
            raise self.reader.refuse("a subquery or a window is not supported here", node, "use one plain aggregate")
        if isinstance(node, exp.Column):
            return self._column(node, names)
        copied = node.copy()
        for part in list(copied.iter_expressions()):
            part.replace(self._replaced(part, names))
        return copied

    def _aggregate(self, node: Expr, *, may_add: bool) -> Expr:
        known = len(self.aggregates.measurements)
        found = self.aggregates.read(node)
        if len(self.aggregates.measurements) > known and not may_add:
            problem = "HAVING or ORDER BY uses an aggregate that is not an output"
            raise self.reader.refuse(problem, node, "add it to SELECT and use its name")
        return found

    def _column(self, node: exp.Column, names: dict[str, Expr]) -> Expr:
        if not node.table and folded(node.name) in names:
            return names[folded(node.name)].copy()
        for index, key in enumerate(self.keys):
            if self.reader.column(node).name == key.column:
                return formula.mark_key(index)
        unknown = node.find_ancestor(exp.Anonymous)
        if unknown is not None:
            raise self.reader.refuse(f"there is no function {unknown.name}", unknown, FUNCTIONS)
        problem = f"{node.name} is neither aggregated nor grouped by"
        raise self.reader.refuse(problem, node, "wrap it in SUM, AVG, MIN or MAX")


def read_keys(select: exp.Select, reader: Reader, joins: tuple[PublicJoin, ...]) -> tuple[Key, ...]:
    """The columns of GROUP BY, each with its public list of values."""
    group = select.args.get("group")
    if group is None:
        return ()
    special = (exp.Rollup, exp.Cube, exp.GroupingSets)
    if any(v for k, v in group.args.items() if k != "expressions") or group.find(*special):
        raise reader.refuse("this GROUP BY is not supported", group, "group by columns with declared lists")
    columns = tuple(reader.declared.columns)
    keys = tuple(_read_key(resolve_key(e, select, columns), reader, joins) for e in group.expressions)
    if math.prod(len(k.levels) for k in keys if not k.is_found) > MOST_GROUPS:
        raise reader.refuse(f"more than {MOST_GROUPS} groups", group, "group by fewer columns")
    if len({k.column for k in keys}) < len(keys):
        raise reader.refuse("a column is grouped by twice", group, "name it once")
    return _name_apart(keys)


def _name_apart(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """A column of a public table is called as in its table, unless two keys would have one name."""
    names = [folded(key.name) for key in keys]
    return tuple(replace(k, name=k.column) if names.count(folded(k.name)) > 1 else k for k in keys)


def resolve_key(expression: Expr, select: exp.Select, columns: Iterable[str]) -> Expr:
    """GROUP BY 1 and GROUP BY alias mean an output; a column of the table comes before an alias."""
    number = _parse_whole(expression)
    if number is not None and 1 <= number <= len(select.expressions):
        return select.expressions[number - 1].unalias()
    bare = isinstance(expression, exp.Column) and not expression.table
    if bare and folded(expression.name) not in map(folded, columns):
        for output in select.expressions:
            if output.alias and folded(output.alias) == folded(expression.name):
                return output.unalias()
    return expression


def _read_key(expression: Expr, reader: Reader, joins: tuple[PublicJoin, ...]) -> Key:
    column = reader.column(expression)
    bins = None
    if column.edges is not None or column.counts:
        from guessproof.sql.bins import Bins, CountBins

        bins = CountBins(column) if column.counts else Bins(column)
    levels = column.levels if bins is None else bins.names
    name = next(filter(None, (join.joined.name_inside(column.name) for join in joins)), column.name)
    if levels is not None:
        return Key(name, column.name, levels, bins)
    from guessproof.sql.found import check_found

    check_found(column, reader, expression)
    return Key(name, column.name, (), is_found=True)


def _index_by_name(outputs: tuple[Output, ...]) -> dict[str, Expr]:
    return {folded(o.name): o.formula for o in outputs}


def _parse_whole(node: Expr | None) -> int | None:
    """A whole number that is written as such."""
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isascii() and str(node.this).isdigit():
        return int(node.this)
    return None
