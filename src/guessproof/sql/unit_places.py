"""Quantiles and counts of levels where a unit has several rows: what each has is brought within a bound, on the engine.

Rows by places: the weights of one unit's rows, over all groups and places, are scaled so that they add up to
`max_rows` at most. They are whole numbers of so many parts of a row, cut towards 0, so that the bound holds exactly.
With W and W′ the weights of a unit before and after, the number below a value less the rank that is aimed at, α times
the number of all, moves by max(α, 1 − α)·W at most when it comes, and by max(W, W′) when it changes (theory §16).

Levels: of all pairs of a group and a level that a unit has, as many count as the bound says: those with most rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import Expr, exp

from guessproof.sql.query import AnalyzedQuery
from guessproof.sql.rewrite import PlacedNumbers, select_rows, write_text
from guessproof.sql.target import SqlTarget

UNIT, ROWS, TOTAL, ORDER = "u", "n", "t", "o"  # columns beside the keys and the place


def bound_places(query: AnalyzedQuery, cells: exp.Select, fine: int, target: SqlTarget) -> exp.Select:
    """From rows by unit, group and place to weights by group and place."""
    keys = [f"k{i}" for i in range(len(query.keys))]
    reach = query.declared.unit.drop_groups(query.groups if query.keys else 0)
    if reach is not None:
        cells = _keep_groups(cells, keys, reach)
    cells = _beside(cells, TOTAL, window(exp.Sum(this=_column(ROWS)), [UNIT]))
    most = query.declared.unit.row_bound
    whole, rows = _column(TOTAL), target.wide(_column(ROWS))
    scaled = target.share(rows, most * fine, whole)
    plain = exp.Mul(this=rows.copy(), expression=exp.Literal.number(fine))
    weight = exp.case().when(exp.GT(this=whole.copy(), expression=exp.Literal.number(most)), scaled).else_(plain)
    added = exp.alias_(exp.Sum(this=target.whole(weight)), ROWS, quoted=True)
    shown = [*keys, "place"]
    return _from(cells, [*map(_column, shown), added]).group_by(*map(_column, shown), copy=False)


def _keep_groups(cells: exp.Select, keys: Sequence[str], reach: int) -> exp.Select:
    """Of each unit's groups those with most of its rows, among equals the first by name: all places of them."""
    cells = _beside(cells, TOTAL, window(exp.Sum(this=_column(ROWS)), [UNIT, *keys]))
    order = window(exp.Anonymous(this="DENSE_RANK"), [UNIT], [_falling(TOTAL), *map(_rising, keys)])
    kept = _from(_beside(cells, ORDER, order), [*map(_column, [UNIT, *keys, "place", ROWS])])
    return kept.where(_few(reach), copy=False)


def count_levels(query: AnalyzedQuery, target: SqlTarget) -> Iterator[PlacedNumbers]:
    """One pass for each column whose levels are counted."""
    for index, measurement in enumerate(query.measurements):
        if measurement.kind != "distinct":
            continue
        identity = target.identity(query.declared.column(query.declared.unit.identity or ""))
        named = {f"k{i}": write_text(key, query, target) for i, key in enumerate(query.keys)}
        keys = [*named]
        named |= {UNIT: identity, "place": measurement.contribution.write(target)}
        columns: list[Expr] = [exp.alias_(column, name, quoted=True) for name, column in named.items()]
        columns.append(exp.alias_(exp.Count(this=exp.Star()), ROWS, quoted=True))
        by: list[Expr] = [exp.Literal.number(k + 1) for k in range(len(named))]
        known = exp.not_(exp.Is(this=identity.copy(), expression=exp.null()), copy=False)
        cells = select_rows(query, columns, by, target).where(known, measurement.filter.keeps(target), copy=False)
        order = window(exp.RowNumber(), [UNIT], [_falling(ROWS), *map(_rising, [*keys, "place"])])
        few = _from(_beside(cells, ORDER, order), [*map(_column, [*keys, "place"])])
        few = few.where(_few(query.declared.unit.row_bound), copy=False)
        counted = exp.Count(this=exp.Distinct(expressions=[_column("place")]))
        found = _from(few, [*map(_column, keys), exp.Literal.number(0), counted])
        found = found.group_by(*map(_column, keys), copy=False) if keys else found
        yield PlacedNumbers(target.sql(found), (index,), 1, is_single=True)


def _beside(cells: exp.Select, name: str, column: Expr) -> exp.Select:
    """The same rows with one more column."""
    return _from(cells, [exp.Star(), exp.alias_(column, name, quoted=True)])


def _from(cells: exp.Select, columns: Sequence[Expr]) -> exp.Select:
    return exp.select(*columns, copy=False).from_(cells.subquery("gp_cells", copy=False), copy=False)


def window(function: Expr, by: Sequence[str], order: Sequence[Expr] = ()) -> Expr:
    placed = exp.Order(expressions=list(order)) if order else None
    return exp.Window(this=function, partition_by=[*map(_column, by)], order=placed, over="OVER")


def _column(name: str) -> Expr:
    return exp.column(name, quoted=True)


def _falling(name: str) -> Expr:
    return exp.Ordered(this=_column(name), desc=True)


def _rising(name: str) -> Expr:
    return exp.Ordered(this=_column(name))


def _few(most: int) -> Expr:
    return exp.LTE(this=_column(ORDER), expression=exp.Literal.number(most))
