"""VARIANCE and STDDEV: from the noisy sums of deviations from the middle of the range, of their squares, and a count.

With deviations d from any public centre, the variance is the mean of d² less the square of the mean of d: all that
comes after the noise costs nothing. From the middle of the range both sums need the least noise.
"""

from __future__ import annotations

from sqlglot import Expr, exp

from guessproof.sql.aggregate_reader import AggregateReader, spell
from guessproof.sql.rules.addition import Addition
from guessproof.sql.rules.power import Power
from guessproof.sql.rules.values import Number
from guessproof.sql.terms import Condition

OF_ALL = (exp.VariancePop, exp.StddevPop)  # the others estimate the variance behind a sample: n − 1 in place of n
ROOTS = (exp.Stddev, exp.StddevPop, exp.StddevSamp)


def read_variance(aggregates: AggregateReader, call: Expr, own: Condition, text: str) -> Expr:
    """The formula of a variance, or of its root."""
    assert isinstance(call, exp.AggFunc)
    inner = aggregates.argument(call)
    term = aggregates.reader.term(inner)
    seen = term.follow(aggregates.reader.declared.at_rest(term.columns)).hull
    centre = seen.low / 2 + seen.high / 2
    away = Addition(term, Number(centre), -1) if centre else term
    shown = f"{spell(inner)} - {centre:g}" if centre else spell(inner)
    rest = "" if text.endswith(")") and "FILTER" not in text else text[text.index(" FILTER") :]
    rows = aggregates.public_rows(term, own, call, text)
    sums = (f"SUM({shown}){rest}", away), (f"SUM(({shown})^2){rest}", Power(away, 2.0))
    if rows is not None:
        total, squares = (aggregates.measure(t, "sum", term, own, call, divisor=float(rows)) for t, term in sums)
        mean, square, more = total, squares, _number(1.0 if isinstance(call, OF_ALL) else rows / max(rows - 1, 1))
    else:
        total, squares = (aggregates.measure_mean(t, "sum", term, own, call) for t, term in sums)
        count = _at_least(aggregates.count(f"COUNT({spell(inner)}){rest}", term, own, call), 1.0)
        mean, square = _over(total, count), _over(squares, count)
        more = _number(1.0) if isinstance(call, OF_ALL) else _over(count, _less_one(_at_least(count, 2.0)))
    spread = exp.Mul(this=exp.paren(_minus_square(square, mean), copy=False), expression=more)
    half = seen.width / 2
    # No variance lies outside: of two values at the ends it is half², and twice that for a sample of two.
    most = _number(half * half * (1 if isinstance(call, OF_ALL) else 2))
    kept = exp.Least(this=_at_least(spread, 0.0), expressions=[most])
    return exp.Sqrt(this=kept) if isinstance(call, ROOTS) else kept


def _minus_square(square: Expr, mean: Expr) -> Expr:
    return exp.Sub(this=square, expression=exp.Mul(this=mean, expression=mean.copy()))


def _number(value: float) -> Expr:
    return exp.Literal(this=repr(value), is_string=False)


def _over(a: Expr, b: Expr) -> Expr:
    return exp.Div(this=a, expression=b.copy())


def _less_one(a: Expr) -> Expr:
    return exp.paren(exp.Sub(this=a, expression=_number(1.0)), copy=False)


def _at_least(a: Expr, least: float) -> Expr:
    return exp.Greatest(this=a.copy(), expressions=[_number(least)])
