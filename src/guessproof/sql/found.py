"""Keys of GROUP BY without a public list: found in the table, and shown where a noisy count is large enough.

Whether a group is shown is decided by one count of the units in it: the query's own, or one that is made for it. What
must hold for the threshold to keep its promise is checked here, before anything else is done with the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import Expr, exp

from guessproof.errors import QueryError, SourceError
from guessproof.names import folded
from guessproof.sql.declared import DeclaredColumn, DeclaredTable, number_of
from guessproof.sql.measurement import Measurement, OncePresent
from guessproof.sql.rules.values import Number
from guessproof.sql.terms import NoFilter, Reader
from guessproof.world import label_of, show_time

if TYPE_CHECKING:
    from guessproof.sql.query import AnalyzedQuery, ClauseReader
    from guessproof.sql.target import SqlTarget

YEARS = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"
FOUND = "gp_found"  # the query whose numbers are handed on as texts


def check_found(column: DeclaredColumn, reader: Reader, spot: Expr) -> None:
    """Refuse a key without a list where groups are not to be found, cannot be bounded, or would never be shown."""
    unit = reader.declared.unit
    if unit.identity is not None and folded(column.name) == folded(unit.identity):
        problem = f"each {unit.noun} would be a group of its own, and no such group may be shown"
        raise reader.refuse(problem, spot, _name_way_out(unit.identity, reader.declared))
    if not reader.declared.finds_groups:
        raise _refuse_unlisted(column, reader, spot)
    if unit.identity is not None and unit.bound_groups(1 << 62) is None:
        problem = f"the values of {column.name} are not declared, and one {unit.noun} may be in any number of groups"
        raise reader.refuse(problem, spot, f"declare max_groups = 2 under [data]: in so many a {unit.noun} may count")


def _name_way_out(identity: str, declared: DeclaredTable) -> str:
    """What can be asked instead of a group for each unit."""
    if declared.role == "grouped":
        return f"GROUP BY {identity} alone here, with numbers such as COUNT(*) FILTER (WHERE …) AS n"
    if declared.role == "persons":
        return "group by something that several have, or leave GROUP BY out"
    inner = f"SELECT {identity}, COUNT(*) AS n FROM {declared.table} GROUP BY {identity}"  # noqa: S608 - words only
    each = f"SELECT AVG(n) FROM ({inner})"  # noqa: S608
    return f"group by something that several have, or ask about the numbers of each: {each}"


def _refuse_unlisted(column: DeclaredColumn, reader: Reader, spot: Expr) -> QueryError:
    """Each remedy helps where it is printed: in a subquery no groups are found, and its columns are not declared."""
    declared, name = reader.declared, column.name
    problem = f"the values of {name} are not declared, and rare ones would be revealed"
    low, high = (label_of(end) for end in column.bounds or (0.0, 10.0))
    if declared.role == "persons":
        remedy = f"count with conditions, as COUNT(*) FILTER (WHERE {name} >= {low} AND {name} < {high})"
    elif column.is_on_line:
        remedy = f"declare edges = {_example_edges(column)} {reader.where(column)}, from public knowledge"
    else:
        remedy = f'declare levels = ["…", "…"] {reader.where(column)}, from public knowledge'
    if declared.role == "grouped" and declared.unit.identity is None:
        remedy += f'; if {name} names persons, write protects = "persons", person = "{name}" and max_rows under [data]'
    elif declared.role != "grouped" and declared.unit.hides_presence:
        remedy += ", or write delta = 1e-6 under [release] and see the frequent ones"
    return reader.refuse(problem, spot, reader.meant(column, remedy))


def _example_edges(column: DeclaredColumn) -> str:
    """Two bins of what the column may hold, as a plan writes them."""
    low, high = column.bounds or (0.0, 20.0)
    ends = (low, low / 2 + high / 2, high)
    shown = [show_time(end) if column.kind == "time" else label_of(end) for end in ends]
    return f"[{', '.join(shown)}]"


def count_units(clauses: ClauseReader) -> None:
    """A count of the units of each group is among the measurements, whether it is asked for or not."""
    aggregates, reader = clauses.aggregates, clauses.reader
    for measurement in aggregates.measurements.values():
        if measurement.is_apart:
            problem = f"{measurement.text} by groups that are found in the table is not supported"
            raise reader.refuse(problem, clauses.select, "declare the levels of the column that is grouped by")
    if find_count(tuple(aggregates.measurements.values())) is None:
        identity = reader.declared.unit.identity
        named = exp.Distinct(expressions=[exp.column(identity)]) if identity is not None else exp.Star()
        aggregates.read(exp.Count(this=named))


def find_count(measurements: Sequence[Measurement]) -> int | None:
    """Which measurement says how many are in a group: every unit once, or else every row."""
    plain = [
        (not isinstance(m.contribution.term, OncePresent), index)
        for index, m in enumerate(measurements)
        if m.kind == "count" and isinstance(m.contribution.term, Number) and isinstance(m.filter, NoFilter)
    ]
    return min(plain)[1] if plain else None


def rank_found(level: str | None) -> tuple[int, float, str]:
    """What found values are sorted by, whatever the table's order is: numbers, then texts, then what is missing."""
    if level is None:
        return 2, 0.0, ""
    number = number_of(level)
    return (1, 0.0, level) if number is None or label_of(number) != level else (0, number, level)


# On the engine -----------------------------------------------------------------------------------------------------


def write_found(column: DeclaredColumn, target: SqlTarget) -> Expr:
    """A column as groups are told apart by: a text or a number, as its kind says, or else as it is stored."""
    if column.kind == "number":
        return _write_number(column, target)
    if column.kind == "time" and target.stored(column)[1].upper() != "DATE":
        return _write_time(column, target)
    if column.kind is not None:
        return target.label(column)
    for write in (target.label, lambda c: _write_number(c, target)):
        try:
            return write(column)
        except SourceError:
            continue
    return _write_time(column, target)


def _write_number(column: DeclaredColumn, target: SqlTarget) -> Expr:
    """0 is added so that −0 is 0; what is no number is missing."""
    whole = exp.Add(this=target.number(column), expression=target.double(0.0))
    return exp.case().when(target.is_number(column), exp.paren(whole, copy=False))


def _write_time(column: DeclaredColumn, target: SqlTarget) -> Expr:
    """Years 1 to 9999 as texts; what lies outside is missing: an engine may store times that it cannot write."""
    first, last = (exp.cast(exp.Literal.string(end), exp.DType.TIMESTAMP) for end in YEARS)
    inside = exp.Between(this=target.time(column), low=first, high=last)
    return _as_text(exp.case().when(inside, target.time(column)))


def _as_text(x: Expr) -> Expr:
    return exp.Cast(this=x, to=exp.DataType(this=exp.DType.TEXT))


def write_streamed(select: exp.Select, query: AnalyzedQuery) -> exp.Select:
    """The same with its whole numbers as texts: a stream of rows has no type for all of them."""
    keys = len(query.keys)
    names = [column.alias for column in select.selects]
    outputs: list[Expr] = [exp.column(name, quoted=True) for name in names[:keys]]
    outputs += [exp.alias_(_as_text(exp.column(name, quoted=True)), name, quoted=True) for name in names[keys:]]
    return exp.select(*outputs, copy=False).from_(select.subquery(FOUND, copy=False), copy=False)
