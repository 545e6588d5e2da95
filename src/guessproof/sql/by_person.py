"""Questions about persons instead of rows: a subquery with GROUP BY the person has one row for each of them.

Whatever is worked out from the rows of one person alone is that person's own, like a column of a table with one row a
person. So the subquery is taken for such a table: its columns are numbers between bounds that follow from those of the
rows and from `max_rows`, to which they are clamped, and the outer query is read like any other, with one row a person.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.names import folded
from guessproof.sql import formula
from guessproof.sql.declared import DeclaredColumn, DeclaredTable
from guessproof.sql.distances import build_unit_guarantee
from guessproof.sql.formula import Output
from guessproof.sql.measurement import Measurement, OncePresent
from guessproof.sql.parse import locate
from guessproof.sql.query import AnalyzedQuery, resolve_key
from guessproof.sql.rewrite import RewrittenQuery, rewrite, select_rows, write_aggregate
from guessproof.sql.target import SqlTarget

PERSONS = "gp_persons"
FINE = 30  # a row's number in a sum is rounded to so many binary digits
MOST_LEVELS = 1000  # a count of rows that can be no more is a column with levels, to group by
Analyze = Callable[[str, DeclaredTable, exp.Select], AnalyzedQuery]


@dataclass(frozen=True)
class PersonRows:
    """The subquery: what it works out from the rows of each person, and the outer query over that."""

    query: AnalyzedQuery  # the subquery without its GROUP BY
    outer: AnalyzedQuery  # over a table with one row a person
    person: str  # what the outer query calls the person

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the table itself that are read."""
        return self.query.columns

    def rewrite(self, query: AnalyzedQuery, exponents: Sequence[int], target: SqlTarget) -> RewrittenQuery:
        """The outer query as it is run, with the subquery after its FROM."""
        identity = self.query.declared.column(self.query.declared.unit.identity or "")
        columns: list[Expr] = [exp.alias_(target.identity(identity), self.person, quoted=True)]
        written = {output.name: self._write(output, target) for output in self.query.outputs}
        columns += [exp.alias_(value, name, quoted=True) for name, value in written.items()]
        source = select_rows(self.query, columns, [target.identity(identity)], target)
        types = {self.person: target.stored(identity)[1], **dict.fromkeys(written, target.stored_double)}
        return rewrite(replace(self.outer, source=source), exponents, type(target)(types))

    def _write(self, output: Output, target: SqlTarget) -> Expr:
        """A number of one person, as a double."""
        ratio = formula.read_ratio(output.formula)
        if ratio is None:
            return self._write_number(output.measured[0], target)
        total, count = (self._write_number(index, target) for index in ratio[:2])
        some = exp.Nullif(this=count, expression=target.double(0.0))
        mean = target.divide(total, some)
        return exp.Add(this=target.double(ratio[4]), expression=mean) if ratio[4] else mean

    def _write_number(self, index: int, target: SqlTarget) -> Expr:
        measurement = self.query.measurements[index]
        exponent = 0 if measurement.contribution.is_whole else math.frexp(measurement.range.size or 1.0)[1] - FINE
        number = target.as_double(write_aggregate(measurement, exponent, target))
        return target.times(number, target.double(2.0**exponent)) if exponent else number


def find_person(grouped: exp.Select, declared: DeclaredTable) -> exp.Column | None:
    """The person, where a subquery groups by nothing else."""
    group, identity = grouped.args.get("group"), declared.unit.identity
    if identity is None or group is None or len(group.expressions) != 1:
        return None
    if any(v for k, v in group.args.items() if k != "expressions"):
        return None
    key = resolve_key(group.expressions[0], grouped, (*declared.columns, identity))
    return key if isinstance(key, exp.Column) and folded(key.name) == folded(identity) else None


def analyze_by_person(
    sql: str, select: exp.Select, grouped: exp.Select, declared: DeclaredTable, analyze: Analyze
) -> AnalyzedQuery:
    """The outer query over one row for each person."""
    identity = declared.unit.identity or ""
    inner, person = _without_group(sql, grouped, identity)
    select = _with_having(select, inner, identity, person)
    query = analyze(sql, declared, inner)
    if query.order or query.limit is not None:
        raise _refuse(sql, grouped, "ORDER BY or LIMIT inside is not supported", "leave it out: all persons count")
    if query.inner is not None:
        raise _refuse(sql, grouped, "groups of groups of a person are not supported", "group once, by the person")
    columns = {output.name: _column(sql, output, query) for output in query.outputs}
    columns[person] = replace(query.declared.column(identity), name=person)
    table = DeclaredTable(PERSONS, columns, declared.unit.with_one_row(person), finds_groups=declared.finds_groups)
    table = replace(table, ranks_inside=declared.ranks_inside, linked=declared.linked, role="persons")
    outer = analyze(sql, table, _plain(sql, select, columns))
    told = tuple(_tell(m, query) for m in outer.measurements)
    return replace(
        outer,
        declared=query.declared,
        measurements=told,
        joins=query.joins,
        bare=query.bare,
        inner=PersonRows(query, replace(outer, measurements=told), person),
    )


def _without_group(sql: str, grouped: exp.Select, identity: str) -> tuple[exp.Select, str]:
    """The subquery over all rows, and what it calls the person."""
    inner, person = grouped.copy(), identity
    inner.set("group", None)
    kept: list[Expr] = []
    for output in inner.expressions:
        named = output.unalias()
        if isinstance(named, exp.Column) and folded(named.name) == folded(identity):
            person = output.alias or named.name
        elif not output.alias:
            raise _refuse(sql, output, "a number of each person needs a name", "write COUNT(*) AS n")
        else:
            kept.append(output)
    inner.set("expressions", kept or [exp.alias_(exp.Count(this=exp.Star()), "gp_rows")])
    return inner, person


def _with_having(select: exp.Select, inner: exp.Select, identity: str, person: str) -> exp.Select:
    """HAVING of the subquery as a condition of the outer query: numbers that only it reads become outputs."""
    clause = inner.args.get("having")
    if clause is None:
        return select
    inner.set("having", None)

    def named(node: Expr) -> Expr:
        if isinstance(node, exp.Column) and folded(node.name) == folded(identity):
            return exp.column(person)
        if not isinstance(node, (exp.AggFunc, exp.Filter)):
            return node
        found = next((output for output in inner.expressions if output.unalias() == node), None)
        if found is None:
            found = exp.alias_(node.copy(), f"gp_having{len(inner.expressions)}")
            inner.append("expressions", found)
        return exp.column(found.alias)

    return select.where(exp.paren(clause.this.transform(named), copy=False), copy=True)


def _plain(sql: str, select: exp.Select, columns: Iterable[str]) -> exp.Select:
    """The outer query over a table with the subquery's columns."""
    alias = select.args["from_"].this.alias_or_name
    outer = select.copy()
    outer.set("with_", None)
    outer.set("from_", None)
    known = {folded(name) for name in (*columns, *(output.alias for output in outer.expressions))}
    for column in outer.find_all(exp.Column):
        if column.table and folded(column.table) != folded(alias):
            raise _refuse(sql, column, f"{column.sql()} belongs to another table", f"columns are of {alias}")
        if folded(column.name) not in known:
            remedy = f"use one of {', '.join(columns)}"
            raise _refuse(sql, column, f"the subquery has no column {column.name}", remedy)
        column.set("table", None)
    outer.set("from_", exp.From(this=exp.to_table(PERSONS)))
    return outer


def _column(sql: str, output: Output, query: AnalyzedQuery) -> DeclaredColumn:
    """A number of each person: its bounds follow from those of a row and from how many rows may count."""
    ratio = formula.read_ratio(output.formula)
    if ratio is not None:  # an average of no value is missing
        return DeclaredColumn(output.name, bounds=(ratio[2], ratio[3]))
    measurement = query.measurements[output.measured[0]] if output.is_plain else None
    if measurement is None or measurement.is_apart or isinstance(measurement.contribution.term, OncePresent):
        problem = f"{output.name} is no COUNT, SUM, AVG, MIN or MAX of a person's rows"
        raise _refuse(sql, None, problem, "compute with them in the outer query")
    if output.is_time or measurement.kind not in ("count", "sum", "min", "max"):
        raise _refuse(sql, None, f"{output.name} is no number of a person", "ask for a COUNT, SUM, AVG, MIN or MAX")
    total = measurement.total
    assert total is not None
    if measurement.kind in ("min", "max"):
        return DeclaredColumn(output.name, bounds=(measurement.range.low, measurement.range.high), missing=False)
    bounds = (total.low or 0.0, total.high or 0.0)
    if measurement.kind == "sum":
        return DeclaredColumn(output.name, bounds=bounds, missing=False)
    most = int(bounds[1])
    levels = tuple(map(str, range(most + 1))) if most <= MOST_LEVELS else None
    counts = levels is not None
    return DeclaredColumn(output.name, (0, most), levels, "number", missing=False, step=1, counts=counts)


def _tell(measurement: Measurement, query: AnalyzedQuery) -> Measurement:
    """The same as something that the columns of the table tell: any of them, and all alike."""
    assert measurement.total is not None
    declared = query.declared
    read = query.columns | {declared.unit.identity or ""} | frozenset(declared.columns if declared.linked > 1 else ())
    found = build_unit_guarantee(measurement.total, declared.unit, read)
    return replace(measurement, guarantee=found.linked_with(declared.linked))


def _refuse(sql: str, place: Expr | None, problem: str, remedy: str) -> QueryError:
    return QueryError(problem, sql, None if place is None else locate(place, sql), remedy)
