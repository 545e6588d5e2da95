"""MEDIAN, QUANTILE, PERCENTILE: a value of a public grid is picked by its rank."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import Expr, exp

from guessproof.sql.aggregate_reader import AggregateReader
from guessproof.sql.declared import DeclaredColumn, number_of
from guessproof.sql.places import MOST_PLACES, Aim, GridPlace, PlaceGrid, RankContribution, grid_of_steps
from guessproof.sql.rules.rounding import Rounded
from guessproof.sql.rules.values import NumberColumn, parse_fraction
from guessproof.sql.terms import Condition, Reader, Term

FINEST = 10_000  # of a level's denominator: scores are whole multiples of one over it
FORM = "write QUANTILE(x, 0.9), or PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)"


def read_quantile(aggregates: AggregateReader, call: Expr, own: Condition, text: str) -> Expr:
    """The place of a quantile."""
    reader = aggregates.reader
    inner, level = _split(call, reader)
    if not 0 < level < 1 or level.denominator > FINEST:
        problem = f"the level must lie strictly between 0 and 1, in steps of 1/{FINEST} or a simple fraction"
        raise reader.refuse(problem, call, "write a level such as 0.95; for the ends, ask for MIN or MAX")
    return _pick(aggregates, inner, Aim(level), own, call, text)


def read_extreme(aggregates: AggregateReader, call: Expr, own: Condition, text: str) -> Expr:
    """MIN or MAX, so many ranks inside: the outermost value of a wide grid would be picked almost at random."""
    assert isinstance(call, exp.AggFunc)
    inner, inside = aggregates.argument(call), aggregates.reader.declared.ranks_inside
    assert inside is not None
    aim = Aim(Fraction(0), inside) if isinstance(call, exp.Min) else Aim(Fraction(1), -inside)
    return _pick(aggregates, inner, aim, own, call, text)


def _pick(aggregates: AggregateReader, inner: Expr, aim: Aim, own: Condition, call: Expr, text: str) -> Expr:
    aggregates.check_plain(inner)
    place = read_place(inner, aggregates.reader)
    contribution = RankContribution(aggregates.condition(own), place, 0.0, aggregates.joins, aim=aim)
    return aggregates.add(text, "quantile", contribution, own, call)


def _split(call: Expr, reader: Reader) -> tuple[Expr, Fraction]:
    """The argument and the level, however they are written."""
    if isinstance(call, exp.Median):
        return call.this, Fraction(1, 2)
    if isinstance(call, exp.WithinGroup):
        ordered = call.expression.expressions
        if isinstance(call.this, (exp.PercentileCont, exp.PercentileDisc)) and len(ordered) == 1:
            level = _read_level(call.this.this, reader)
            return ordered[0].this, 1 - level if ordered[0].args.get("desc") else level
        raise reader.refuse("this WITHIN GROUP is not understood", call, FORM)
    level = call.args.get("quantile") or call.args.get("expression")
    if level is None:
        raise reader.refuse("the level or the argument is missing", call, FORM)
    return call.this, _read_level(level, reader)


def _read_level(level: Expr, reader: Reader) -> Fraction:
    found = parse_fraction(level)
    if found is None:
        raise reader.refuse("the level of a quantile is one number", level, f"{FORM}; ask for several one by one")
    return found


def read_place(inner: Expr, reader: Reader) -> GridPlace:
    """The number, and the public grid on which its quantiles lie."""
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Column):
        column = reader.column(inner)
        place = _read_column(column, reader, inner)
    else:
        term = reader.term(inner)
        if not isinstance(term, Rounded):
            problem = "an expression has no steps of its own, and a quantile is picked from a public list"
            raise reader.refuse(problem, inner, "wrap it in ROUND(…, 0), whose results are the list")
        place = GridPlace(term, _grid_of_rounded(term, reader))
    count = len(place.grid.values)
    if not 2 <= count <= MOST_PLACES or not place.grid.is_sound:
        problem = f"a quantile is picked from 2 to {MOST_PLACES} values that numbers can tell apart, not {count}"
        raise reader.refuse(problem, inner, "declare a coarser or a finer step")
    return place


def _read_column(column: DeclaredColumn, reader: Reader, inner: Expr) -> GridPlace:
    if column.bounds is not None and column.step is not None:
        low, high, step = (Fraction(repr(float(x))) for x in (*column.bounds, column.step))
        count = (high - low) / step
        grid = grid_of_steps(low, high, step) if count < MOST_PLACES else PlaceGrid((0.0,) * (int(count) + 1))
    else:
        levels = [number_of(level) for level in column.levels or ()]
        values = tuple(sorted(level for level in levels if level is not None))
        if not values or len(values) < len(levels):
            problem = f"a quantile of {column.name} is picked from a public list, and none is declared"
            remedy = f"declare bounds and step for {column.name}, or its levels as numbers"
            raise reader.refuse(problem, inner, remedy)
        grid = PlaceGrid(values)
    return GridPlace(_clamped(column, grid, reader, inner), grid)


def _clamped(column: DeclaredColumn, grid: PlaceGrid, reader: Reader, inner: Expr) -> Term:
    """The column between its bounds; levels are bounds as well."""
    used = reader.use_as(column, "number", inner, "group by it instead", ", and a number is needed here")
    low, high = used.bounds or (grid.values[0], grid.values[-1])
    return NumberColumn(used, float(low), float(high))


def _grid_of_rounded(term: Rounded, reader: Reader) -> PlaceGrid:
    """All results that ROUND can have."""
    seen = term.follow(reader.declared.at_rest(term.columns)).hull
    step = Fraction(1, 10**term.digits)
    low, high = (round(Fraction(end) / step) * step for end in (seen.low, seen.high))
    if (high - low) / step >= MOST_PLACES:
        return PlaceGrid((0.0,) * (int((high - low) / step) + 1))
    return grid_of_steps(low, high, step)
