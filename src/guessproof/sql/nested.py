"""Aggregates of grouped subqueries: the inner groups come from the engine, and what is made of them from here.

One unit moves the inner values by D in all, and an outer SUM, MIN or MAX of them by no more. That needs every inner
group to be there: a group without rows counts with what nothing adds up to, or a filter could make it vanish. So the
groups are completed from their declared levels, and their values, whole numbers still without noise, put together.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.guarantee import Guarantee
from guessproof.names import folded
from guessproof.sql import formula
from guessproof.sql.declared import DeclaredColumn, DeclaredTable
from guessproof.sql.distances import Contribution
from guessproof.sql.flatten import split_conjunction
from guessproof.sql.measurement import Measurement, link_records
from guessproof.sql.parse import locate, name_construct
from guessproof.sql.query import AnalyzedQuery, ClauseReader, read_keys, read_query
from guessproof.sql.relation import count_matches
from guessproof.sql.rewrite import RewrittenQuery, rewrite
from guessproof.sql.rules import RULES
from guessproof.sql.rules.signs import HOLDS, MIRRORED, SIGNS
from guessproof.sql.rules.truth import read_flag
from guessproof.sql.rules.values import Number, parse_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, NoFilter, Reader
from guessproof.world import Discrete, Multiple

FOLDS: dict[type[Expr], str] = {exp.Sum: "sum", exp.Min: "min", exp.Max: "max", exp.Avg: "sum"}
EMPTY = ("count", "sum", "min", "max")  # what nothing adds up to is known
REMEDY = "use SUM, MIN, MAX or AVG of an inner COUNT, SUM, MIN or MAX, or COUNT(*) with a filter on one"
NamedTests = list[tuple[str, "ValueTest"]]
Cells = Mapping[tuple[str, ...], list[tuple[int | None, int | None]]]


@dataclass(frozen=True)
class ValueTest:
    """An inner value against a constant: true for a group or not, so that one unit turns it at most."""

    sign: str
    value: float

    def holds(self, units: int) -> bool:
        """Whether it holds for a whole number."""
        return HOLDS[self.sign](units, self.value)


@dataclass(frozen=True)
class FoldedMeasurement(Measurement):
    """A number that is made of the inner groups' values before it gets noise."""

    how: str = "sum"
    tests: tuple[ValueTest, ...] = ()
    inner: Measurement | None = None

    @property
    def euclidean(self) -> float:
        return self.guarantee.sensitivity  # what moves in several groups adds up

    def fold(self, values: list[int]) -> int:
        """What the groups make together."""
        if self.how == "count":
            return sum(all(test.holds(value) for test in self.tests) for value in values)
        return sum(values) if self.how == "sum" else (min if self.how == "min" else max)(values)


@dataclass(frozen=True)
class InnerQuery:
    """The grouped subquery: what is run, which of its groups count, and which of its keys the outer query groups by."""

    query: AnalyzedQuery
    kept: frozenset[tuple[str, ...]]  # groups that the outer WHERE lets through, by their public keys
    outer: tuple[int, ...]  # the inner keys that the outer query groups by

    def rewrite(self, query: AnalyzedQuery, exponents: Sequence[int], target: SqlTarget) -> NestedRewrite:
        """The query that is run."""
        return rewrite_nested(query, self, exponents, target)

    def members(self) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
        """The inner groups of each outer one."""
        found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for group in itertools.product(*(key.levels for key in self.query.keys)):
            inside = found.setdefault(tuple(group[i] for i in self.outer), [])
            if group in self.kept:
                inside.append(group)
        return found


@dataclass(frozen=True)
class NestedRewrite(RewrittenQuery):
    """The inner query as it is run; its groups are completed and put together when they are read."""

    inner: RewrittenQuery | None = None

    def read(self, rows: Sequence[tuple[object, ...]]) -> dict[tuple[str, ...], list[tuple[int | None, int | None]]]:
        assert self.inner is not None
        assert isinstance(self.query.inner, InnerQuery)
        cells, members = self.inner.read(rows), self.query.inner.members()
        places = range(len(self.exponents))
        return {outer: [self._fold(i, cells, inside) for i in places] for outer, inside in members.items()}

    def _fold(self, index: int, cells: Cells, inside: list[tuple[str, ...]]) -> tuple[int | None, int | None]:
        assert self.inner is not None
        measurement, inner = self.query.measurements[index], self.inner.query.measurements[index]
        assert isinstance(measurement, FoldedMeasurement)
        empty = round(inner.contribution.absent * 2.0 ** -self.inner.exponents[index])
        found = [cells[group][index][0] if group in cells else None for group in inside]
        folded_values = measurement.fold([empty if value is None else value for value in found])
        return self.units(index, folded_values) if measurement.how == "count" else folded_values, None


def rewrite_nested(
    query: AnalyzedQuery, groups: InnerQuery, exponents: Sequence[int], target: SqlTarget
) -> NestedRewrite:
    """The inner query in the outer one's units; what is only tested is asked as it is."""
    counted = [isinstance(m, FoldedMeasurement) and m.how == "count" for m in query.measurements]
    own = [0 if tested else exponent for tested, exponent in zip(counted, exponents, strict=True)]
    inner = rewrite(groups.query, own, target)
    return NestedRewrite(inner.sql, query, tuple(exponents), inner=inner)


# Reading -----------------------------------------------------------------------------------------------------------


def find_grouped(select: exp.Select) -> exp.Select | None:
    """The grouped subquery that a SELECT asks, by its place or by its name in WITH; with the WITH that it needs."""
    clause, with_clause = select.args.get("from_"), select.args.get("with_")
    ctes = {} if with_clause is None else {folded(c.alias): c.this for c in with_clause.expressions}
    what = None if clause is None or select.args.get("joins") else clause.this
    own = folded(what.name) if isinstance(what, exp.Table) and not what.db else ""
    inner = what.this if isinstance(what, exp.Subquery) else ctes.get(own)
    if not isinstance(inner, exp.Select) or not is_grouped(inner):
        return None
    needed = _needed({name: cte for name, cte in ctes.items() if name != own}, inner)
    if not needed:
        return inner
    assert with_clause is not None
    found, kept = inner.copy(), with_clause.copy()
    kept.set("expressions", [c for c in kept.expressions if folded(c.alias) in needed])
    if found.args.get("with_") is not None:
        kept.set("expressions", [*kept.expressions, *found.args["with_"].expressions])
    found.set("with_", kept)
    return found


def is_grouped(select: exp.Select) -> bool:
    """Whether a SELECT aggregates."""
    return select.args.get("group") is not None or any(e.find(exp.AggFunc) for e in select.expressions)


def _needed(ctes: Mapping[str, Expr], inner: Expr) -> set[str]:
    """The names of WITH that a subquery reads, by way of others too."""
    found: set[str] = set()
    todo = [inner]
    while todo:
        for table in todo.pop().find_all(exp.Table):
            name = folded(table.name)
            if name in ctes and name not in found:
                found.add(name)
                todo.append(ctes[name])
    return found


def analyze_nested(sql: str, select: exp.Select, inner: AnalyzedQuery) -> AnalyzedQuery:
    """The outer query over the groups of the inner one."""
    return _NestedReader(sql, select, inner, select.args["from_"].this.alias_or_name).read()


@dataclass(frozen=True)
class _NestedReader:
    sql: str
    select: exp.Select
    inner: AnalyzedQuery
    alias: str

    def read(self) -> AnalyzedQuery:
        self._check_inner()
        select = self._plain()
        reader = Reader(self.sql, self._declared(), RULES, read_flag)
        kept, tests = self._where(select, reader)
        keys = read_keys(select, reader, ())
        places = tuple(self._key_index(key.column) for key in keys)
        if not all(InnerQuery(self.inner, kept, places).members().values()):
            raise self._refuse("no group is left of some", self.select, "filter on the keys in the subquery")
        folds = FoldReader(reader, self.inner, self._values(), tests, kept, places)
        clauses = ClauseReader(reader, select, NoFilter(), keys, (), folds)
        found = read_query(clauses, frozenset())
        own = tuple(replace(self.inner.keys[i], name=key.name) for i, key in zip(places, keys, strict=True))
        folded_ones = tuple(folds.measurements.values())
        run = replace(self.inner, measurements=tuple(m.inner for m in folded_ones if m.inner is not None))
        return replace(
            found,
            declared=self.inner.declared,
            where=self.inner.where,
            joins=self.inner.joins,
            bare=self.inner.bare,
            keys=own,
            inner=InnerQuery(run, kept, places),
        )

    def _check_inner(self) -> None:
        query = self.inner
        if not query.keys:
            raise self._refuse("an aggregate of aggregates", self.select, "aggregate once, or GROUP BY inside")
        if query.having is not None or query.order or query.limit is not None or query.inner is not None:
            problem = "HAVING, ORDER BY or LIMIT of inner groups, or groups of groups, are not supported"
            raise self._refuse(problem, self.select, "count groups with COUNT(*) … WHERE n > 10, which is a filter")

    def _plain(self) -> exp.Select:
        """The outer query without its FROM: columns are those of the subquery."""
        select = self.select.copy()
        for key in ("with_", "joins"):
            select.set(key, None)
        for column in select.find_all(exp.Column):
            if column.table and folded(column.table) != folded(self.alias):
                raise self._refuse(f"{column.sql()} belongs to another table", column, f"columns are of {self.alias}")
            column.set("table", None)
        for key in ("distinct", "windows", "qualify", "offset", "sample", "laterals", "into", "locks", "pivots"):
            if select.args.get(key):
                raise self._refuse(f"{key.upper()} is not supported here", select, "leave it out")
        return select

    def _names(self) -> dict[str, Expr]:
        return {output.name: output.formula for output in self.inner.outputs}

    def _declared(self) -> DeclaredTable:
        columns = {name: DeclaredColumn(name, kind="number", protected=False) for name in self._names()}
        for name, made in self._names().items():
            if _is_key(made):
                levels = self.inner.keys[formula.read_index(made)].levels
                columns[name] = DeclaredColumn(name, levels=levels, kind="label", missing=False, protected=False)
        return DeclaredTable("subquery", columns)

    def _values(self) -> dict[str, Measurement]:
        """The inner values that can be put together, by name."""
        outputs = [o for o in self.inner.outputs if o.is_plain]
        found = {folded(o.name): self.inner.measurements[formula.read_index(o.formula)] for o in outputs}
        numbers = {name: m for name, m in found.items() if m.divisor == 1 and not m.contribution.term.is_time}
        return {name: m for name, m in numbers.items() if m.kind in EMPTY}

    def _key_index(self, name: str) -> int:
        return next(formula.read_index(made) for n, made in self._names().items() if folded(n) == folded(name))

    def _where(self, select: exp.Select, reader: Reader) -> tuple[frozenset[tuple[str, ...]], NamedTests]:
        """The groups that public keys let through, and the tests of inner values."""
        clause = select.args.pop("where", None)
        by_key: list[Condition] = []
        tests: NamedTests = []
        for part in [] if clause is None else split_conjunction(clause.this):
            test = self._value_test(part)
            if test is not None:
                tests.append(test)
            elif {folded(c.name) for c in part.find_all(exp.Column)} & set(self._values()):
                raise self._refuse("this filter on an inner value is not understood", part, "write n > 10")
            else:
                by_key.append(reader.condition(part))
        names = [next((n for n, m in self._names().items() if _is_key(m, i)), "") for i in range(len(self.inner.keys))]
        groups = itertools.product(*(key.levels for key in self.inner.keys))
        rows = ((group, dict(zip(names, group, strict=True))) for group in groups)
        return frozenset(group for group, row in rows if all(c.at(row) for c in by_key)), tests

    def _value_test(self, part: Expr) -> tuple[str, ValueTest] | None:
        if type(part) not in SIGNS:
            return None
        left, right, sign = part.this, part.expression, SIGNS[type(part)]
        if isinstance(right, exp.Column):
            left, right, sign = right, left, MIRRORED[sign]
        value = parse_number(right)
        if not isinstance(left, exp.Column) or value is None or folded(left.name) not in self._values():
            return None
        return folded(left.name), ValueTest(sign, value)

    def _refuse(self, problem: str, place: Expr | None, remedy: str) -> QueryError:
        return QueryError(problem, self.sql, None if place is None else locate(place, self.sql), remedy)


def _is_key(made: Expr, index: int | None = None) -> bool:
    return isinstance(made, formula.GroupKey) and index in (None, formula.read_index(made))


@dataclass(frozen=True)
class FoldReader:
    """Collects what is made of the inner groups; what is asked twice is measured once."""

    reader: Reader
    inner: AnalyzedQuery
    values: Mapping[str, Measurement]
    tests: list[tuple[str, ValueTest]]
    kept: frozenset[tuple[str, ...]]
    outer: tuple[int, ...]
    measurements: dict[object, FoldedMeasurement] = field(default_factory=dict[object, FoldedMeasurement])

    def read(self, node: Expr) -> Expr:
        """The formula of an outer aggregate."""
        if isinstance(node, exp.Filter):
            raise self.reader.refuse("FILTER is not supported over groups", node, "put the condition into WHERE")
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
            return self._count(node, self.tests)
        value = self.values.get(folded(node.this.name)) if isinstance(node.this, exp.Column) else None
        if type(node) not in FOLDS or value is None:
            what = name_construct(node, self.reader.sql)
            raise self.reader.refuse(f"{what} of groups is not understood", node, REMEDY)
        if self.tests:
            problem = "a filter on an inner value makes a whole group come and go, which can move this by any amount"
            raise self.reader.refuse(problem, node, "count the groups with COUNT(*), or filter on the keys")
        measured = self._add(node, value, FOLDS[type(node)], ())
        if not isinstance(node, exp.Avg):
            return measured
        # The number of groups is public: it is that of the declared levels.
        return exp.Div(this=measured, expression=exp.Literal.number(self._groups(node)))

    def is_time(self, node: Expr) -> bool:
        """Inner values are numbers: a time is not put together."""
        return False

    def _groups(self, node: Expr) -> int:
        """How many inner groups each outer one has."""
        counts = Counter(tuple(group[i] for i in self.outer) for group in self.kept)
        if len(set(counts.values())) != 1:
            problem = "no group is left to average" if not counts else "the groups of an average differ in number"
            raise self.reader.refuse(problem, node, "use SUM, and divide it by the number of groups")
        return next(iter(counts.values()))

    def _count(self, node: Expr, tests: list[tuple[str, ValueTest]]) -> Expr:
        """How many groups pass: one unit turns those that it is in."""
        if not tests:
            problem = f"the number of groups is public: {len(self.kept)}"
            raise self.reader.refuse(problem, node, "count rows in the subquery, or filter: WHERE n > 10")
        if len({name for name, _ in tests}) > 1:
            raise self.reader.refuse("two inner values are tested", node, "test one inner value")
        inner = self.values[tests[0][0]]
        if not inner.is_whole or inner.declared.unit.identity is not None:
            problem = "a filter needs an inner value that is a whole number, of rows that are records"
            raise self.reader.refuse(problem, node, "test a COUNT")
        return self._add(node, inner, "count", tuple(test for _, test in tests))

    def _add(self, node: Expr, inner: Measurement, how: str, tests: tuple[ValueTest, ...]) -> Expr:
        known = (inner.text, how, tests)
        if known not in self.measurements:
            self.measurements[known] = self._made(node.sql("duckdb"), inner, how, tests)
        return formula.mark_measured(list(self.measurements).index(known))

    def _made(self, text: str, inner: Measurement, how: str, tests: tuple[ValueTest, ...]) -> FoldedMeasurement:
        values = {name: getattr(inner, name) for name in Measurement.__dataclass_fields__}
        if tests:
            values |= {"contribution": Contribution(NoFilter(), Number(1.0), 0.0), "kind": "count"}
            values["guarantee"] = self._jump(inner)
        shown = f"{text} of groups, each {inner.text}"
        account = f"{shown}: one unit moves it by at most {values['guarantee'].sensitivity:g}"
        values |= {"text": shown, "account": account, "keys": (), "copies": 2 * inner.copies}
        made = FoldedMeasurement(**values, how=how, tests=tests, inner=inner)
        return link_records(made) if tests else made  # otherwise the inner value's guarantee counts them already

    def _jump(self, inner: Measurement) -> Guarantee:
        """Each group that a unit is in may pass or not."""
        declared = inner.declared
        spread = any(declared.is_joined(key.column) for key in self.inner.keys)
        touched = (declared.copies or 1) * (count_matches(self.inner.joins) if spread else 1)
        change = float(touched * (2 if declared.unit.hides_presence or inner.keys else 1))
        columns = {name: Multiple(change, Discrete()) for name in inner.guarantee.columns}
        return Guarantee(declared.unit, columns, {}, change, float(touched), None, 0.0, None)
