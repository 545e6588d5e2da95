"""Aggregates beyond plain COUNT, SUM, AVG, MIN and MAX: one file each, read when a query uses it.

COUNT stands here for levels, COUNT(DISTINCT …), and MIN and MAX for extremes that are picked by their ranks
or whose noise follows the data.

An entry names the node of a parsed query and what reads it: the reader of aggregates, the call, its own FILTER and
its text in, the formula of its place in the outputs out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import Expr, exp

if TYPE_CHECKING:
    from guessproof.sql.aggregate_reader import AggregateReader
    from guessproof.sql.terms import Condition

    Read = Callable[[AggregateReader, Expr, Condition, str], Expr]


def _read_quantile(aggregates: AggregateReader, call: Expr, own: Condition, text: str) -> Expr:
    from guessproof.sql.aggregates.quantile import read_quantile

    return read_quantile(aggregates, call, own, text)


def _read_extreme(aggregates: AggregateReader, call: Expr, own: Condition, text: str) -> Expr:
    if aggregates.reader.declared.smooth:
        from guessproof.sql.aggregates.steep import read_steep

        return read_steep(aggregates, call, own, text)
    from guessproof.sql.aggregates.quantile import read_extreme

    return read_extreme(aggregates, call, own, text)


def _read_variance(aggregates: AggregateReader, call: Expr, own: Condition, text: str) -> Expr:
    from guessproof.sql.aggregates.variance import read_variance

    return read_variance(aggregates, call, own, text)


def _read_distinct(aggregates: AggregateReader, call: Expr, own: Condition, text: str) -> Expr:
    from guessproof.sql.aggregates.distinct import read_distinct

    return read_distinct(aggregates, call, own, text)


AGGREGATES: dict[type[Expr], Read] = {
    exp.Median: _read_quantile,
    exp.Quantile: _read_quantile,
    exp.PercentileCont: _read_quantile,
    exp.PercentileDisc: _read_quantile,
    exp.WithinGroup: _read_quantile,
    exp.Variance: _read_variance,
    exp.VariancePop: _read_variance,
    exp.Stddev: _read_variance,
    exp.StddevPop: _read_variance,
    exp.StddevSamp: _read_variance,
    exp.ApproxDistinct: _read_distinct,
    exp.Count: _read_distinct,
    exp.Min: _read_extreme,
    exp.Max: _read_extreme,
}
