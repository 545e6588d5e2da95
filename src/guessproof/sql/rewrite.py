"""The query that is really run: cleaned, clamped, in whole numbers, and only aggregates of declared groups.

Every term was proven to stay inside its range, so nothing in it can fail for some data and not for other. Sums are
added in whole numbers of 2^exponent: the same in whatever order an engine adds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from sqlglot import Expr, exp

from guessproof.errors import SourceError
from guessproof.sql.declared import DeclaredTable
from guessproof.sql.formula import Key
from guessproof.sql.measurement import Measurement
from guessproof.sql.places import GridPlace
from guessproof.sql.query import AnalyzedQuery
from guessproof.sql.relation import write_joins
from guessproof.sql.rules.values import Number, NumberColumn, write_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, NoFilter, Term
from guessproof.world import label_of


def find_target(dialect: str, stored: Mapping[str, str]) -> SqlTarget:
    """The target of an engine, for a table whose columns are stored by these types.

    >>> find_target("oracle", {})
    Traceback (most recent call last):
    ...
    guessproof.errors.SourceError: no SQL is written for oracle; use one of duckdb, postgres, spark
    """
    from guessproof.sql.targets import TARGETS  # only who sends a query needs them

    for target in TARGETS:
        if target.dialect == dialect:
            return target(stored)
    raise SourceError(f"no SQL is written for {dialect}; use one of {', '.join(t.dialect for t in TARGETS)}")


Rows = Sequence[tuple[object, ...]]
Group = tuple[Any, ...]  # texts; None: a key that is missing, where keys are found in the table
# A whole number or None (for one that is apart: a tuple of them, by places), and a count or None.
Cell = tuple[Any, int | None]


@dataclass(frozen=True)
class PlacedNumbers:
    """SQL whose rows are: the keys, a place, and a whole number there; for the measurements named.

    The places are those of a grid, and the number is how many rows stand there; or they are classes of rows, and it is
    the extreme of each. `empty` is the number of a place without rows.
    """

    sql: str
    indices: tuple[int, ...]
    width: int  # how many places there are
    empty: int | None = 0
    is_single: bool = False  # there is one place, and its number is what is asked for


@dataclass(frozen=True)
class RewrittenQuery:
    """SQL whose rows are: the keys, then for each measurement its whole number and, behind an average, its count.

    It is empty where every measurement is told apart; what these need comes from `places`, one query each.
    """

    sql: str
    query: AnalyzedQuery
    exponents: tuple[int, ...]
    places: tuple[PlacedNumbers, ...] = ()

    @property
    def statements(self) -> tuple[str, ...]:
        """Everything that is run."""
        return (*([self.sql] if self.sql else []), *(p.sql for p in self.places))

    def run(self, ask: Callable[[str], Rows]) -> dict[Group, list[Cell]]:
        """Ask an engine, and read what it answers."""
        found = self.read(ask(self.sql)) if self.sql else {}
        for placed in self.places:
            for group, numbers in self._read_places(ask(placed.sql), placed).items():
                cells = found.setdefault(group, [(None, None)] * len(self.query.measurements))
                for index in placed.indices:
                    cells[index] = (self.units(index, numbers[0]) if placed.is_single else numbers, None)
        return found

    def _read_places(self, rows: Rows, placed: PlacedNumbers) -> dict[Group, tuple[int | None, ...]]:
        width, found = len(self.query.keys), dict[Group, list[int | None]]()
        for row in rows:
            place, number = int(row[width]), int(row[width + 1])  # pyright: ignore[reportArgumentType]
            found.setdefault(self._group(row[:width]), [placed.empty] * placed.width)[place] = number
        return {group: tuple(numbers) for group, numbers in found.items()}

    def _group(self, keys: Sequence[object]) -> Group:
        """The levels of a group: a text is its own, a number is the first that it equals."""
        pairs = zip(self._levels, keys, strict=True)
        return tuple(table.get(found, None if found is None else label_of(found)) for table, found in pairs)

    @cached_property
    def _levels(self) -> list[dict[object, str]]:
        return [self._names(key) for key in self.query.keys]

    def _names(self, key: Key) -> dict[object, str]:
        """What the engine calls a level, where that is no text."""
        if key.bins is not None:
            return dict(enumerate(key.levels))
        is_number = self.query.declared.column(key.column).is_number
        return {float(v): v for v in reversed(key.levels)} if is_number else {}

    def read(self, rows: Rows) -> dict[Group, list[Cell]]:
        """For each group its (whole number or None, count or None) per measurement."""
        return dict(map(self.read_row, rows))

    def read_row(self, row: tuple[object, ...]) -> tuple[Group, list[Cell]]:
        """A group, and what was measured of it."""
        width = len(self.query.keys)
        rest = iter(row[width:])
        values: list[Cell] = []
        for index, measurement in enumerate(self.query.measurements):
            if measurement.is_apart:
                values.append((None, None))
                continue
            whole = self.units(index, _read_whole(next(rest)))
            values.append((whole, _read_whole(next(rest)) if measurement.divisor != 1 else None))
        return self._group(row[:width]), values

    def units(self, index: int, found: int | None) -> int | None:
        """What the engine found, in units of 2^exponent.

        An engine counts rows one by one: a count in fine units would leave its whole numbers at some number of rows,
        and the failure would tell that number. So counts are brought to their units here, where integers have no end.
        """
        measurement = self.query.measurements[index]
        if found is None or measurement.kind != "count" or not measurement.is_whole:
            return found
        return round(found * Fraction(2) ** -self.exponents[index])


def rewrite(query: AnalyzedQuery, exponents: Sequence[int], target: SqlTarget) -> RewrittenQuery:
    """The query to run, with measurement j in units of 2^exponents[j] once it was read."""
    if query.inner is not None:
        return query.inner.rewrite(query, exponents, target)
    apart = any(m.is_apart for m in query.measurements)
    places = tuple(_list_apart(query, exponents, target)) if apart else ()
    if all(m.is_apart for m in query.measurements):
        return RewrittenQuery("", query, tuple(exponents), places)
    if query.declared.unit.identity is None:
        select = _write_rows(query, exponents, target)
    else:
        from guessproof.sql.units import write_units

        select = write_units(query, exponents, target)
    if query.finds_groups:
        from guessproof.sql.found import write_streamed

        select = write_streamed(select, query)
    return RewrittenQuery(target.sql(select), query, tuple(exponents), places)


def _write_rows(query: AnalyzedQuery, exponents: Sequence[int], target: SqlTarget) -> exp.Select:
    """Where a row is a record: everything in one pass."""
    columns: list[Expr] = [_write_key(key, query, target) for key in query.keys]
    for index, (measurement, exponent) in enumerate(zip(query.measurements, exponents, strict=True)):
        if measurement.is_apart:
            continue
        columns.append(exp.alias_(write_aggregate(measurement, exponent, target), f"m{index}"))
        if measurement.divisor != 1:
            columns.append(exp.alias_(exp.Count(this=_write_own(measurement, target)), f"n{index}"))
    return select_rows(query, columns, [write_text(key, query, target) for key in query.keys], target)


def select_rows(query: AnalyzedQuery, columns: Sequence[Expr], by: Sequence[Expr], target: SqlTarget) -> exp.Select:
    """These columns of the rows that are asked about, grouped."""
    select = _select_from(query.declared, columns)
    if query.source is not None:
        select.set("from_", exp.From(this=query.source.copy().subquery(query.declared.table)))
    if query.joins:
        write_joins(select, query.declared, query.joins, query.columns, target)
    conditions = [] if isinstance(query.where, NoFilter) else [query.where.keeps(target)]
    conditions += [_write_levels(key, query, target) for key in query.keys if not key.is_found]
    if conditions:
        select = select.where(*conditions, copy=False)
    return select.group_by(*by, copy=False) if by else select


def _list_apart(query: AnalyzedQuery, exponents: Sequence[int], target: SqlTarget) -> Iterator[PlacedNumbers]:
    """The statements of what is told by more than one number, or cannot be added up."""
    yield from _count_places(query, target)
    yield from _find_extremes(query, exponents, target)
    if query.declared.unit.identity is not None:
        from guessproof.sql.unit_places import count_levels

        yield from count_levels(query, target)


def _count_places(query: AnalyzedQuery, target: SqlTarget) -> Iterator[PlacedNumbers]:
    """One pass for each number of which quantiles are asked: how many rows of each group stand at each place."""
    alike: dict[tuple[Term, Condition], list[int]] = {}
    for index, measurement in enumerate(query.measurements):
        if measurement.picks:
            alike.setdefault((measurement.contribution.term, measurement.filter), []).append(index)
    for (term, own), indices in alike.items():
        assert isinstance(term, GridPlace)
        named = {f"k{place}": write_text(key, query, target) for place, key in enumerate(query.keys)}
        more = [] if isinstance(own, NoFilter) else [own.keeps(target)]
        if query.declared.unit.identity is not None:
            unit = target.identity(query.declared.column(query.declared.unit.identity))
            named["u"] = unit
            more.append(exp.not_(exp.Is(this=unit.copy(), expression=exp.null()), copy=False))
        named["x"] = term.inner.write(target)
        columns: list[Expr] = [exp.alias_(column, name, quoted=True) for name, column in named.items()]
        kept = select_rows(query, columns, [], target)
        rows = kept.where(*more, term.inner.present(target), copy=False)
        *names, x = (exp.column(name, quoted=True) for name in named)
        place = exp.alias_(term.grid.write(x, target), "place", quoted=True)
        counted = exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True)
        select = exp.select(*names, place, counted, copy=False).from_(rows.subquery("kept", copy=False), copy=False)
        groups = [exp.Literal.number(k + 1) for k in range(len(names) + 1)]
        select = select.group_by(*groups, copy=False)
        if query.declared.unit.identity is not None:
            from guessproof.sql.unit_places import bound_places

            select = bound_places(query, select, query.measurements[indices[0]].fine, target)
        yield PlacedNumbers(target.sql(select), tuple(indices), len(term.grid.values))


def _find_extremes(query: AnalyzedQuery, exponents: Sequence[int], target: SqlTarget) -> Iterator[PlacedNumbers]:
    """One pass for each extreme whose noise follows the data: the extreme of each class of rows."""
    for index, (measurement, exponent) in enumerate(zip(query.measurements, exponents, strict=True)):
        if measurement.follows:
            from guessproof.sql.aggregates.steep import CLASSES, SteepContribution

            steep = measurement.contribution
            assert isinstance(steep, SteepContribution)
            named = {f"k{place}": write_text(key, query, target) for place, key in enumerate(query.keys)}
            named |= {"class": steep.write_class(target), "x": _write_own(measurement, target)}
            columns: list[Expr] = [exp.alias_(column, name, quoted=True) for name, column in named.items()]
            rows = select_rows(query, columns, [], target).where(steep.term.present(target), copy=False)
            *names, x = (exp.column(name, quoted=True) for name in named)
            extreme = exp.Min if measurement.kind == "min" else exp.Max
            kept = exp.not_(exp.Is(this=x.copy(), expression=exp.null()), copy=False)
            found = write_end(measurement, exponent, extreme(this=_write_units(x, exponent, target)), target)
            select = exp.select(*names, exp.alias_(found, "m", quoted=True), copy=False)
            select = select.from_(rows.subquery("kept", copy=False), copy=False).where(kept, copy=False)
            sql = target.sql(select.group_by(*(exp.Literal.number(k + 1) for k in range(len(names))), copy=False))
            yield PlacedNumbers(sql, (index,), CLASSES, empty=None)


def write_aggregate(measurement: Measurement, exponent: int, target: SqlTarget) -> Expr:
    if measurement.kind == "count":
        return _write_count(measurement, target)
    if measurement.kind == "distinct":  # its filter leaves nothing but levels
        level = exp.case().when(measurement.filter.keeps(target), measurement.contribution.write(target))
        return exp.Count(this=exp.Distinct(expressions=[level]))
    if measurement.kind == "sum":
        return exp.Coalesce(
            this=target.total(_write_units(_write_own(measurement, target), exponent, target)),
            expressions=[exp.Literal.number(0)],
        )
    extreme = exp.Min if measurement.kind == "min" else exp.Max
    term = measurement.contribution.term
    if isinstance(term, NumberColumn):  # clamping rises: the clamped extreme is the extreme of the clamped values
        kept = extreme(this=_write_kept(measurement, term, target))
        found = _write_units(term.clamp(kept, target, target.is_value(kept.copy()), filled=False), exponent, target)
    else:
        found = extreme(this=_write_units(_write_own(measurement, target), exponent, target))
    return write_end(measurement, exponent, found, target)


def write_end(measurement: Measurement, exponent: int, found: Expr, target: SqlTarget) -> Expr:
    """Nothing at all is the far end of the range, and nothing that a table holds against its declaration is beyond."""
    end = exp.Literal.number(round(measurement.contribution.absent * 2.0**-exponent))
    return target.extreme([found, end], largest=measurement.kind == "max")


def _write_count(measurement: Measurement, target: SqlTarget) -> Expr:
    if isinstance(measurement.contribution.term, Number):
        return _count_everyone(measurement, target)
    return exp.Count(this=_write_own(measurement, target))


def _count_everyone(measurement: Measurement, target: SqlTarget) -> Expr:
    if isinstance(measurement.filter, NoFilter):
        return exp.Count(this=exp.Star())
    return exp.Count(this=exp.case().when(measurement.filter.keeps(target), exp.Literal.number(1)))


def _write_kept(measurement: Measurement, term: NumberColumn, target: SqlTarget) -> Expr:
    """The column where its own FILTER holds. NaN would be the largest; the smallest never is, unless all are."""
    smallest = measurement.kind == "min" and term.column.missing
    x = target.number(term.column) if smallest else write_number(term.column, target)
    if isinstance(measurement.filter, NoFilter):
        return x
    return exp.case().when(measurement.filter.keeps(target), x)


def _write_units(term: Expr, exponent: int, target: SqlTarget) -> Expr:
    """A term in whole numbers of 2^exponent; the cast rounds to the nearest."""
    if exponent:
        term = target.times(exp.paren(term, copy=False), target.double(2.0**-exponent)).unnest()
    return target.whole(term)


def _write_own(measurement: Measurement, target: SqlTarget) -> Expr:
    """The term where its own FILTER holds; WHERE is left to the engine, which is faster."""
    term = measurement.contribution.term.write(target)
    if isinstance(measurement.filter, NoFilter):
        return term
    return exp.case().when(measurement.filter.keeps(target), term)


def _write_key(key: Key, query: AnalyzedQuery, target: SqlTarget) -> Expr:
    return exp.alias_(write_text(key, query, target), key.name, quoted=True)


def write_text(key: Key, query: AnalyzedQuery, target: SqlTarget) -> Expr:
    """What a key is grouped by: a text, a bin by its place, or a number as a number, for 1 may be stored as 1.0.

    Which level a number is, is looked up for each group and not for each row; 0 is added so that −0 is 0.
    """
    column = query.declared.column(key.column)
    if key.is_found:
        from guessproof.sql.found import write_found

        return write_found(column, target)
    if key.bins is not None:
        return key.bins.write(target)
    if not column.is_number:
        return target.label(column)
    return exp.paren(exp.Add(this=target.number(column), expression=target.double(0.0)), copy=False)


def _write_levels(key: Key, query: AnalyzedQuery, target: SqlTarget) -> Expr:
    column = query.declared.column(key.column)
    if key.bins is not None:
        return key.bins.write_inside(target)
    if column.is_number:
        return exp.In(this=target.number(column), expressions=[target.double(float(level)) for level in key.levels])
    return target.among(target.label(column), key.levels)


def _read_whole(value: object) -> int | None:
    return None if value is None else int(value)  # pyright: ignore[reportArgumentType]


def write_listing(columns: Sequence[tuple[str, Expr]], declared: DeclaredTable, target: SqlTarget) -> str:
    """The rows themselves, as the query sees them: for the owner's own scan."""
    return target.sql(_select_from(declared, [exp.alias_(column, name, quoted=True) for name, column in columns]))


def _select_from(declared: DeclaredTable, columns: Sequence[Expr]) -> exp.Select:
    table = exp.Table(this=exp.to_identifier(declared.table, quoted=True))
    return exp.select(*columns, copy=False).from_(table, copy=False)
