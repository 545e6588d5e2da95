"""How values and slopes go through arithmetic and numpy's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from guessproof.risk.profile.checks import Array, Flags
from guessproof.risk.profile.enclosure import intervals
from guessproof.risk.profile.enclosure.intervals import ZERO, Interval
from guessproof.risk.profile.enclosure.traced import Paths, Traced, lift

Rule = Callable[[Traced], Traced]


def _sum(a: Interval | None, b: Interval | None) -> Interval | None:
    if a is None or b is None:
        return b if a is None else a
    return intervals.add(a, b)


def _scaled(factor: Interval, slope: Interval | None) -> Interval | None:
    return None if slope is None else intervals.multiply(factor, slope)


def _chain(value: Interval, derivative: Callable[[], Interval], a: Traced) -> Traced:
    """The chain rule for a function of one argument; its derivative is worked out only if needed."""
    if not a.varies:
        return Traced(value, None, None, a.paths)
    factor = derivative()
    return Traced(value, _scaled(factor, a.dp), _scaled(factor, a.dq), a.paths)


def add(a: Traced, b: Traced) -> Traced:
    return Traced(intervals.add(a.value, b.value), _sum(a.dp, b.dp), _sum(a.dq, b.dq), a.paths)


def negative(a: Traced) -> Traced:
    dp, dq = (None if slope is None else intervals.negate(slope) for slope in a.slopes)
    return Traced(intervals.negate(a.value), dp, dq, a.paths)


def subtract(a: Traced, b: Traced) -> Traced:
    return add(a, negative(b))


def multiply(a: Traced, b: Traced) -> Traced:
    dp, dq = (
        _sum(_scaled(b.value, first), _scaled(a.value, second))
        for first, second in zip(a.slopes, b.slopes, strict=True)
    )
    return Traced(intervals.multiply(a.value, b.value), dp, dq, a.paths)


def reciprocal(a: Traced) -> Traced:
    inverse = intervals.reciprocal(a.value)
    return _chain(inverse, lambda: intervals.negate(intervals.power(inverse, 2)), a)


def divide(a: Traced, b: Traced) -> Traced:
    return multiply(a, reciprocal(b))


def power(a: Traced, b: Traced) -> Traced:
    if b.value[0].ndim or b.value[0] != b.value[1]:
        return exp(multiply(b, log(a)))
    exponent = float(b.value[0])
    factor = intervals.interval(exponent, exponent)
    value = intervals.power(a.value, exponent)
    return _chain(value, lambda: intervals.multiply(factor, intervals.power(a.value, exponent - 1)), a)


def square(a: Traced) -> Traced:
    return power(a, lift(2.0, a.paths))


def maximum(a: Traced, b: Traced) -> Traced:
    """Where either may be the larger, the slope lies between those of the two."""
    above, below = a.value[0] >= b.value[1], b.value[0] >= a.value[1]

    def slope(first: Interval | None, second: Interval | None) -> Interval | None:
        if first is None and second is None:
            return None
        first, second = first or ZERO, second or ZERO
        either = intervals.hull(first, second)
        return intervals.choose(above, first, intervals.choose(below, second, either))

    dp, dq = (slope(first, second) for first, second in zip(a.slopes, b.slopes, strict=True))
    return Traced(intervals.maximum(a.value, b.value), dp, dq, a.paths)


def minimum(a: Traced, b: Traced) -> Traced:
    return negative(maximum(negative(a), negative(b)))


def absolute(a: Traced) -> Traced:
    return maximum(a, negative(a))


def same(a: Traced) -> Traced:
    return a


def _monotone(function: np.ufunc, slope: Callable[[Array], Array], above: float = -np.inf) -> Rule:
    """A monotone function whose derivative is monotone too."""

    def rule(a: Traced) -> Traced:
        value = intervals.monotone(function, a.value, above)
        return _chain(value, lambda: intervals.monotone(slope, a.value, above), a)

    return rule


def _slope_of_log(base: float) -> Callable[[Array], Array]:
    def slope(x: Array) -> Array:
        return 1 / (x * np.log(base))

    return slope


def _slope_of_log1p(x: Array) -> Array:
    return 1 / (1 + x)


def _slope_of_sqrt(x: Array) -> Array:
    return 0.5 / np.sqrt(x)


exp = _monotone(np.exp, np.exp)
log = _monotone(np.log, np.reciprocal, 0.0)


def logical_and(a: Traced, b: Traced) -> Traced:
    return (a != 0.0) & (b != 0.0)


def logical_or(a: Traced, b: Traced) -> Traced:
    return (a != 0.0) | (b != 0.0)


def logical_not(a: Traced) -> Traced:
    return ~(a != 0.0)


UFUNCS: dict[np.ufunc, Callable[..., Traced]] = {
    np.add: add,
    np.subtract: subtract,
    np.multiply: multiply,
    np.divide: divide,
    np.negative: negative,
    np.positive: same,
    np.power: power,
    np.float_power: power,
    np.square: square,
    np.reciprocal: reciprocal,
    np.absolute: absolute,
    np.fabs: absolute,
    np.maximum: maximum,
    np.fmax: maximum,
    np.minimum: minimum,
    np.fmin: minimum,
    np.exp: exp,
    np.expm1: _monotone(np.expm1, np.exp),
    np.log: log,
    np.log1p: _monotone(np.log1p, _slope_of_log1p, -1.0),
    np.log2: _monotone(np.log2, _slope_of_log(2), 0.0),
    np.log10: _monotone(np.log10, _slope_of_log(10), 0.0),
    np.sqrt: _monotone(np.sqrt, _slope_of_sqrt, 0.0),
    np.less: Traced.__lt__,
    np.less_equal: Traced.__le__,
    np.greater: Traced.__gt__,
    np.greater_equal: Traced.__ge__,
    np.equal: Traced.__eq__,
    np.not_equal: Traced.__ne__,
    np.logical_and: logical_and,
    np.logical_or: logical_or,
    np.logical_not: logical_not,
    np.bitwise_and: logical_and,
    np.bitwise_or: logical_or,
    np.invert: logical_not,
}


def where(paths: Paths, condition: Any, first: Any, second: Any) -> Traced:
    """Where the condition turns inside a cell, both values are possible and no slope is known."""
    test, a, b = lift(condition, paths) != 0.0, lift(first, paths), lift(second, paths)
    yes, decided = test.certain, test.certain == test.possible
    value = intervals.choose(test.possible, a.value, b.value)
    value = intervals.choose(decided, value, intervals.hull(a.value, b.value))
    dp, dq = (
        intervals.where_known(decided, intervals.choose(yes, one or ZERO, other or ZERO))
        for one, other in zip(a.slopes, b.slopes, strict=True)
    )
    return Traced(value, dp, dq, paths)


def select(paths: Paths, conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0.0) -> Traced:
    result = lift(default, paths)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = where(paths, condition, choice, result)
    return result


def clip(paths: Paths, a: Any, low: Any = None, high: Any = None) -> Traced:
    result = lift(a, paths)
    if low is not None:
        result = maximum(result, lift(low, paths))
    return result if high is None else minimum(result, lift(high, paths))


def interp(paths: Paths, x: Any, at: Any, to: Any) -> Traced:
    """A table read along straight lines: the ends of a cell and the knots inside decide."""
    a = lift(x, paths)
    knots, heights = np.asarray(at, dtype=np.float64), np.asarray(to, dtype=np.float64)
    low, high = a.value[0][..., None], a.value[1][..., None]

    def range_of(numbers: Array, touched: Flags) -> Interval:
        least, most = np.where(touched, numbers, np.inf), np.where(touched, numbers, -np.inf)
        return least.min(axis=-1), most.max(axis=-1)

    start, end = (np.asarray(np.interp(value, knots, heights), dtype=np.float64) for value in a.value)
    ends = np.minimum(start, end), np.maximum(start, end)
    inside = range_of(heights, (knots >= low) & (knots <= high))
    steep = np.concatenate([[0.0], np.diff(heights) / np.diff(knots), [0.0]])
    touched = (np.append(-np.inf, knots) <= high) & (np.append(knots, np.inf) >= low)
    value = intervals.widen(*intervals.hull(ends, inside))
    return _chain(value, lambda: intervals.widen(*range_of(steep, touched)), a)


def full_like(paths: Paths, like: Any, fill: Any) -> Any:
    return fill


def ones_like(paths: Paths, like: Any) -> Any:
    return 1.0


def zeros_like(paths: Paths, like: Any) -> Any:
    return 0.0


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: where,
    np.select: select,
    np.clip: clip,
    np.interp: interp,
    np.ones_like: ones_like,
    np.zeros_like: zeros_like,
    np.full_like: full_like,
}
