"""What is computed from noisy numbers: arithmetic on outputs, HAVING, ORDER BY. Post-processing costs nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.sql.ranges import EVERYTHING, Range, point
from guessproof.sql.reader import place
from guessproof.sql.rules.comparison import HOLDS, SIGNS
from guessproof.sql.rules.number import literal_number

MEASURED = "measured"  # exp.Anonymous(this=MEASURED, expressions=[index]) stands for a noisy number
RATIO = "ratio"  # a noisy sum over a noisy count, kept within the column's range
KEY = "key"  # a group's key

Numbers = Mapping[int, float]


def measured(index: int) -> Expr:
    """The place of a noisy number."""
    return exp.Anonymous(this=MEASURED, expressions=[exp.Literal.number(index)])


def ratio(total: int, count: int, low: float, high: float) -> Expr:
    """The place of an average of two noisy numbers."""
    parts = [exp.Literal.number(str(p)) for p in (total, count, repr(low), repr(high))]
    return exp.Anonymous(this=RATIO, expressions=parts)


def key(index: int) -> Expr:
    """The place of a group's key."""
    return exp.Anonymous(this=KEY, expressions=[exp.Literal.number(index)])


def check(node: Expr, sql: str, *, condition: bool = False) -> None:
    """Refuse what cannot be computed from noisy numbers."""
    remedy = "outputs can use + - * /, ABS, SQRT, ROUND, LEAST and GREATEST of aggregates"
    if condition and isinstance(node, (exp.And, exp.Or, exp.Not, *SIGNS)):
        inner = condition and not isinstance(node, tuple(SIGNS))
        for part in node.iter_expressions():
            check(part, sql, condition=inner)
        return
    if isinstance(node, exp.Paren):
        check(node.this, sql, condition=condition)
        return
    if isinstance(node, exp.Anonymous) and node.this in (MEASURED, RATIO, KEY):
        return
    if isinstance(node, exp.Literal) and (condition or not node.is_string or node.parent is None):
        return
    if isinstance(node, exp.Literal) and node.is_string and isinstance(node.parent, tuple(SIGNS)):
        return
    if isinstance(node, exp.Round):
        digits = node.args.get("decimals")
        count = 0.0 if digits is None else literal_number(digits)
        if count is None or count != math.floor(count) or not 0 <= count <= 12:
            raise QueryError("the number of digits is not understood", sql, place(node, sql), "write ROUND(x, 0…12)")
        check(node.this, sql)
        return
    if not isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Abs, exp.Sqrt, exp.Least, exp.Greatest)):
        if isinstance(node, exp.Column):
            problem, remedy = f"{node.name} is neither aggregated nor grouped by", "wrap it in SUM, AVG, MIN or MAX"
            raise QueryError(problem, sql, place(node, sql), remedy)
        raise QueryError(f"{node.key.upper()} of an aggregate is not supported", sql, place(node, sql), remedy)
    for part in node.iter_expressions():
        check(part, sql)


def value(node: Expr, numbers: Numbers, keys: tuple[Any, ...] = ()) -> Any:
    """The value of an output, a key or a condition; NaN where it has none."""
    if isinstance(node, exp.Paren):
        return value(node.this, numbers, keys)
    if isinstance(node, exp.Anonymous):
        return _leaf(node, numbers, keys)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else float(node.this)
    if isinstance(node, (exp.And, exp.Or, exp.Not)):
        outcomes = [bool(value(p, numbers, keys)) for p in node.iter_expressions()]
        return (
            all(outcomes)
            if isinstance(node, exp.And)
            else any(outcomes)
            if isinstance(node, exp.Or)
            else not outcomes[0]
        )
    if type(node) in SIGNS:
        left, right = (value(p, numbers, keys) for p in (node.this, node.expression))
        if isinstance(left, str) != isinstance(right, str):
            left, right = str(left), str(right)
        return HOLDS[SIGNS[type(node)]](left, right)
    return _arithmetic(node, [value(p, numbers, keys) for p in _operands(node)])


def _operands(node: Expr) -> list[Expr]:
    if isinstance(node, exp.Round):
        return [node.this]
    return list(node.iter_expressions())


def _leaf(node: exp.Anonymous, numbers: Numbers, keys: tuple[Any, ...]) -> Any:
    parts = [float(p.this) for p in node.expressions]
    if node.this == KEY:
        return keys[int(parts[0])]
    if node.this == MEASURED:
        return numbers[int(parts[0])]
    total, count, low, high = numbers[int(parts[0])], numbers[int(parts[1])], parts[2], parts[3]
    return min(max(total / max(count, 1.0), low), high)


def _arithmetic(node: Expr, parts: list[float]) -> float:
    work: dict[type[Expr], Callable[..., float]] = {
        exp.Add: lambda a, b: a + b,
        exp.Sub: lambda a, b: a - b,
        exp.Mul: lambda a, b: a * b,
        exp.Div: lambda a, b: a / b if b else math.nan,
        exp.Neg: lambda a: -a,
        exp.Abs: abs,
        exp.Sqrt: lambda a: math.sqrt(a) if a >= 0 else math.nan,
        exp.Least: min,
        exp.Greatest: max,
        exp.Round: lambda a: _rounded(a, _digits(node)),
    }
    try:
        return work[type(node)](*parts)
    except OverflowError:
        return math.nan


def _digits(node: Expr) -> int:
    digits = node.args.get("decimals")
    return 0 if digits is None else int(literal_number(digits) or 0)


def _rounded(a: float, digits: int) -> float:
    return (
        a
        if math.isnan(a) or math.isinf(a)
        else float(math.copysign(math.floor(abs(a) * 10**digits + 0.5) / 10**digits, a))
    )


def enclosed(node: Expr, ranges: Mapping[int, Range]) -> Range:
    """Where an output lies when each noisy number's truth lies in its range."""
    if isinstance(node, exp.Paren):
        return enclosed(node.this, ranges)
    if isinstance(node, exp.Anonymous):
        parts = [float(p.this) for p in node.expressions]
        if node.this == MEASURED:
            return ranges[int(parts[0])]
        count = ranges[int(parts[1])]
        bounded = Range(max(count.low, 1.0), max(count.high, 1.0))
        return (ranges[int(parts[0])] * bounded.reciprocal()).clamp(parts[2], parts[3])
    if isinstance(node, exp.Literal):
        return point(float(node.this))
    return _enclosed(node, [enclosed(p, ranges) for p in _operands(node)])


def _enclosed(node: Expr, parts: list[Range]) -> Range:
    match node:
        case exp.Add():
            return parts[0] + parts[1]
        case exp.Sub():
            return parts[0] - parts[1]
        case exp.Mul():
            return parts[0] * parts[1]
        case exp.Div():
            return EVERYTHING if parts[1].holds(0.0) else parts[0] * parts[1].reciprocal()
        case exp.Neg():
            return -parts[0]
        case exp.Abs():
            low = 0.0 if parts[0].holds(0.0) else min(abs(parts[0].low), abs(parts[0].high))
            return Range(low, parts[0].size)
        case exp.Sqrt():
            return parts[0].clamp(0.0, math.inf).through(math.sqrt)
        case exp.Round():
            half = 0.5 * 10.0 ** -_digits(node)
            return Range(parts[0].low - half, parts[0].high + half)
        case _:
            pick = max if isinstance(node, exp.Greatest) else min
            return Range(pick(p.low for p in parts), pick(p.high for p in parts))
