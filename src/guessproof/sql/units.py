"""The query that is run where a unit has several rows: all of them are brought within one bound, on the engine.

First the rows that pass every filter are added up for each unit (and each group), in whole numbers of 2^exponent. Then
what a unit adds is cut off at its bound; where it may add to several groups, all its numbers are scaled so that their
sizes add up to the bound. The scaling is done in whole numbers and cut towards 0,

    Σ ⌊|v|·C / T⌋  ≤  Σ |v|·C / T  =  C        with T = Σ |v|,

so that the bound holds to the last step of the grid, whatever was rounded before. A row without a name is nobody's.

Behind an average each row of a unit with n rows in all groups weighs min(1, C/n), in its sum and in its count alike:
what a group's n_g rows add, cut off at n_g·⌊h⌋ steps, is multiplied by C and divided by n. So Σ_g |.| ≤ C·⌊h⌋ again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import Expr, exp

from guessproof.guarantee import RowWeights
from guessproof.sql.measurement import Measurement
from guessproof.sql.query import AnalyzedQuery
from guessproof.sql.rewrite import select_rows, write_aggregate, write_end, write_text
from guessproof.sql.target import SqlTarget

# Before a number is scaled it is cut off here: times any bound (at most 2^52 steps) it still has 38 digits.
FURTHEST = 1 << 72
UNIT, ROWS, PLACE = "gp_unit", "gp_rows", "gp_place"  # columns of the inner queries
# The inner queries: by unit and group, those of them that count, and the units that add more than they may.
CELLS, KEPT, OVER = "gp_cells", "gp_kept", "gp_over"


def write_units(query: AnalyzedQuery, exponents: Sequence[int], target: SqlTarget) -> exp.Select:
    """What each unit adds, bounded, and then all of them."""
    pairs = zip(query.measurements, exponents, strict=True)
    bounds = [UnitBound.of(m, e) for m, e in pairs if not m.is_apart]
    cells = _write_cells(query, bounds, target)
    outputs = [exp.alias_(_column(f"k{i}", CELLS), key.name, quoted=True) for i, key in enumerate(query.keys)]
    rows = _column(ROWS, OVER if query.keys else CELLS)
    outputs += [exp.alias_(bound.write_all(f"v{j}", f"t{j}", rows, target), f"m{j}") for j, bound in enumerate(bounds)]
    scaled = [(j, bound) for j, bound in enumerate(bounds) if bound.most is not None]
    weights = next((b.weights for b in bounds if b.weights is not None), None) if query.keys else None
    reach = query.declared.unit.drop_groups(query.groups if query.keys else 0)
    is_joined = bool(scaled) or weights is not None
    if not is_joined and reach is None:
        found = exp.select(*outputs, copy=False).from_(cells.subquery(CELLS, copy=False), copy=False)
        return found.group_by(*_keys(query), copy=False) if query.keys else found
    found = exp.select(*outputs, copy=False).with_(CELLS, cells, materialized=True, copy=False)
    source = CELLS
    if reach is not None:
        source = KEPT
        found = found.with_(KEPT, keep_groups(query, reach), materialized=is_joined, copy=False)
    found = found.from_(exp.alias_(exp.to_table(source), CELLS, table=True), copy=False)
    if is_joined:
        found = found.with_(OVER, _write_over(scaled, weights, source), copy=False)
        same = exp.EQ(this=_column(UNIT, CELLS), expression=_column(UNIT, OVER))
        found = found.join(exp.to_table(OVER), on=same, join_type="left", copy=False)
    return found.group_by(*_keys(query), copy=False)


@dataclass(frozen=True)
class UnitBound:
    """How one measurement is bounded, in whole steps of its grid."""

    measurement: Measurement
    exponent: int
    low: int | None
    high: int | None
    most: int | None
    weights: RowWeights | None = None  # with the bounds of one row, in steps

    @staticmethod
    def of(measurement: Measurement, exponent: int) -> UnitBound:
        """The bounds in steps: none is wider than what was declared."""
        total = measurement.total
        assert total is not None
        is_counted = measurement.kind == "count" and measurement.is_whole  # rows are counted one by one
        step = Fraction(1) if is_counted else Fraction(2) ** exponent
        if total.weights is not None:
            low, high = (Fraction(end) / step for end in (total.weights.low, total.weights.high))
            row = RowWeights(total.weights.most, math.ceil(low), math.floor(high))
            return UnitBound(measurement, exponent, None, None, None, row)
        low, high, most = (None if end is None else Fraction(end) / step for end in (total.low, total.high, total.most))
        return UnitBound(
            measurement,
            exponent,
            None if low is None else math.ceil(low),
            None if high is None else math.floor(high),
            None if most is None else math.floor(most),
        )

    def write_cell(self, target: SqlTarget) -> Expr:
        """What one unit's rows of one group add up to."""
        found = write_aggregate(self.measurement, self.exponent, target)
        if self.measurement.kind not in ("count", "sum"):
            return found
        if self.weights is not None and self.measurement.kind == "sum":
            return self._clamp_rows(found, self.weights, target)
        if self.most is None and self.weights is None:
            return self._clamp(found, target)
        if self.measurement.kind == "sum":
            return target.extreme([target.extreme([found, _number(-FURTHEST)], True), _number(FURTHEST)], False)
        counted = found if self.high is None else self._once(found)
        if self.exponent > 0:
            return target.share(target.wide(counted), 1, target.wide(_number(1 << self.exponent)))
        return exp.Mul(this=target.wide(counted), expression=_number(1 << -self.exponent))

    def write_all(self, cell: str, total: str, rows: Expr, target: SqlTarget) -> Expr:
        """All units together; `cell` and `total` are the columns of what each adds here and in all groups.

        `rows` is how many rows it has in all groups.
        """
        value = _column(cell, CELLS)
        if self.measurement.kind not in ("count", "sum"):
            extreme = exp.Min if self.measurement.kind == "min" else exp.Max
            return write_end(self.measurement, self.exponent, extreme(this=value), target)
        most = self.most if self.weights is None else self.weights.most
        if most is not None:
            whole = _column(total, OVER) if self.weights is None else target.wide(rows)
            scaled = target.share(target.wide(value.copy()), most, whole)
            value = exp.case().when(exp.GT(this=whole.copy(), expression=_number(most)), scaled).else_(value)
        return exp.Coalesce(this=target.total(target.narrow(value)), expressions=[_number(0)])

    def _clamp(self, found: Expr, target: SqlTarget) -> Expr:
        if self.high is not None:
            found = target.extreme([found, _number(self.high)], largest=False)
        if self.low is not None and not (self.low == 0 and self.measurement.kind == "count"):
            found = target.extreme([found, _number(self.low)], largest=True)
        return found

    def _clamp_rows(self, found: Expr, row: RowWeights, target: SqlTarget) -> Expr:
        """What some rows add, within as many times what one may; and times `most` still of 38 digits."""
        furthest = 10**38 // row.most - 1
        ends = [(int(row.high), furthest, False), (int(row.low), -furthest, True)]
        for end, limit, largest in ends:
            many = exp.Mul(this=target.wide(exp.Count(this=exp.Star())), expression=_number(end))
            found = target.extreme([target.wide(found), many, target.wide(_number(limit))], largest)
        return found

    def _once(self, found: Expr) -> Expr:
        """1 for a unit that has rows: none of fewer is there."""
        return exp.case().when(exp.GT(this=found, expression=_number(0)), _number(1)).else_(_number(0))


def _write_cells(query: AnalyzedQuery, bounds: Sequence[UnitBound], target: SqlTarget) -> exp.Select:
    """The rows that pass every filter, by unit and group."""
    unit = query.declared.unit
    identity = target.identity(query.declared.column(unit.identity or ""))
    keys = [write_text(key, query, target) for key in query.keys]
    columns: list[Expr] = [exp.alias_(identity, UNIT)]
    columns += [exp.alias_(key, f"k{i}") for i, key in enumerate(keys)]
    columns += [exp.alias_(bound.write_cell(target), f"v{j}") for j, bound in enumerate(bounds)]
    if unit.drop_groups(query.groups) is not None or any(bound.weights for bound in bounds):
        columns.append(exp.alias_(exp.Count(this=exp.Star()), ROWS))
    found = select_rows(query, columns, [identity.copy(), *(key.copy() for key in keys)], target)
    return found.where(exp.not_(exp.Is(this=identity.copy(), expression=exp.null()), copy=False), copy=False)


def write_unit_rows(query: AnalyzedQuery, target: SqlTarget) -> exp.Select:
    """How many rows each unit has that pass every filter, in all groups."""
    identity = target.identity(query.declared.column(query.declared.unit.identity or ""))
    found = select_rows(query, [exp.alias_(exp.Count(this=exp.Star()), ROWS)], [identity], target)
    return found.where(exp.not_(exp.Is(this=identity.copy(), expression=exp.null()), copy=False), copy=False)


def keep_groups(query: AnalyzedQuery, reach: int) -> exp.Select:
    """Of each unit's groups those with most of its rows; among equals the first by name."""
    order = [exp.Ordered(this=exp.column(ROWS), desc=True), *(exp.Ordered(this=k) for k in _keys(query, None))]
    place = exp.Window(
        this=exp.RowNumber(), partition_by=[exp.column(UNIT)], order=exp.Order(expressions=order), over="OVER"
    )
    placed = exp.select(exp.Star(), exp.alias_(place, PLACE)).from_(exp.to_table(CELLS))
    few = exp.LTE(this=exp.column(PLACE), expression=_number(reach))
    return exp.select(exp.Star()).from_(placed.subquery("gp_placed")).where(few)


def _write_over(scaled: Sequence[tuple[int, UnitBound]], weights: RowWeights | None, source: str) -> exp.Select:
    """The units that add more than they may to any measurement or have more rows, and how much it is in each."""
    sums = {j: exp.Sum(this=exp.Abs(this=exp.column(f"v{j}"))) for j, _ in scaled}
    limits: list[tuple[str, Expr, int]] = [(f"t{j}", sums[j], bound.most or 0) for j, bound in scaled]
    if weights is not None:
        limits.append((ROWS, exp.Sum(this=exp.column(ROWS)), weights.most))
    over = exp.or_(*(exp.GT(this=total.copy(), expression=_number(most)) for _, total, most in limits))
    found = exp.select(exp.column(UNIT), *(exp.alias_(total, name) for name, total, _ in limits), copy=False)
    return found.from_(exp.to_table(source), copy=False).group_by(exp.column(UNIT), copy=False).having(over, copy=False)


def _keys(query: AnalyzedQuery, table: str | None = CELLS) -> list[Expr]:
    return [_column(f"k{i}", table) for i in range(len(query.keys))]


def _column(name: str, table: str | None) -> Expr:
    return exp.column(name, table=table)


def _number(value: int) -> Expr:
    return exp.Literal.number(value)
