"""How values and slopes go through arithmetic and numpy's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from guessproof.intervals import Array, Flags, IntervalArray, choose, constant
from guessproof.risk.profile.enclosure.traced import Paths, Slope, Traced, lift

Rule = Callable[[Traced], Traced]


def _add_slopes(a: Slope, b: Slope) -> Slope:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _scale(factor: IntervalArray, slope: Slope) -> Slope:
    return None if slope is None else factor * slope


def _chain(value: IntervalArray, derivative: Callable[[], IntervalArray], a: Traced) -> Traced:
    """The chain rule for a function of one argument; its derivative is worked out only if needed."""
    if not a.varies:
        return Traced(value, None, None, a.paths)
    factor = derivative()
    return Traced(value, _scale(factor, a.dp), _scale(factor, a.dq), a.paths)


def add(a: Traced, b: Traced) -> Traced:
    return Traced(a.value + b.value, _add_slopes(a.dp, b.dp), _add_slopes(a.dq, b.dq), a.paths)


def negative(a: Traced) -> Traced:
    dp, dq = (None if slope is None else -slope for slope in a.slopes)
    return Traced(-a.value, dp, dq, a.paths)


def subtract(a: Traced, b: Traced) -> Traced:
    return add(a, negative(b))


def multiply(a: Traced, b: Traced) -> Traced:
    dp, dq = (
        _add_slopes(_scale(b.value, first), _scale(a.value, second))
        for first, second in zip(a.slopes, b.slopes, strict=True)
    )
    return Traced(a.value * b.value, dp, dq, a.paths)


def reciprocal(a: Traced) -> Traced:
    inverse = a.value.reciprocal()
    return _chain(inverse, lambda: -inverse.power(2), a)


def divide(a: Traced, b: Traced) -> Traced:
    return multiply(a, reciprocal(b))


def power(a: Traced, b: Traced) -> Traced:
    if np.ndim(b.value.low) or b.value.low != b.value.high:
        return exp(multiply(b, log(a)))
    exponent = float(b.value.low)
    return _chain(a.value.power(exponent), lambda: constant(exponent) * a.value.power(exponent - 1), a)


def square(a: Traced) -> Traced:
    return power(a, lift(2.0, a.paths))


def maximum(a: Traced, b: Traced) -> Traced:
    """Where either may be the larger, the slope lies between those of the two."""
    above, below = a.value.low >= b.value.high, b.value.low >= a.value.high

    def slope(first: Slope, second: Slope) -> Slope:
        if first is None and second is None:
            return None
        first, second = first or constant(0.0), second or constant(0.0)
        return choose(above, first, choose(below, second, first | second))

    dp, dq = (slope(first, second) for first, second in zip(a.slopes, b.slopes, strict=True))
    return Traced(a.value.maximum(b.value), dp, dq, a.paths)


def minimum(a: Traced, b: Traced) -> Traced:
    return negative(maximum(negative(a), negative(b)))


def absolute(a: Traced) -> Traced:
    found = maximum(a, negative(a))
    return Traced(a.value.absolute(), found.dp, found.dq, a.paths)


def same(a: Traced) -> Traced:
    return a


def _monotone(function: np.ufunc, slope: Callable[[Array], Array], above: float = -np.inf) -> Rule:
    """A monotone function whose derivative is monotone too."""

    def rule(a: Traced) -> Traced:
        return _chain(a.value.monotone(function, above), lambda: a.value.monotone(slope, above), a)

    return rule


def _slope_of_log(base: float) -> Callable[[Array], Array]:
    def slope(x: Array) -> Array:
        return 1 / (x * np.log(base))

    return slope


def _slope_of_log1p(x: Array) -> Array:
    return 1 / (1 + x)


def _slope_of_sqrt(x: Array) -> Array:
    return 0.5 / np.sqrt(x)


def exp(a: Traced) -> Traced:
    value = a.value.exp()
    return _chain(value, lambda: value, a)


def expm1(a: Traced) -> Traced:
    return _chain(a.value.monotone(np.expm1), a.value.exp, a)


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
    np.expm1: expm1,
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
    value = choose(decided, choose(test.possible, a.value, b.value), a.value | b.value)
    dp, dq = (
        choose(yes, one or constant(0.0), other or constant(0.0)).keep_where(decided)
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
    low, high = (np.asarray(end)[..., None] for end in a.value)

    def span(numbers: Array, touched: Flags) -> IntervalArray:
        least, most = np.where(touched, numbers, np.inf), np.where(touched, numbers, -np.inf)
        return IntervalArray(least.min(axis=-1), most.max(axis=-1))

    start, end = (np.asarray(np.interp(value, knots, heights), dtype=np.float64) for value in a.value)
    ends = IntervalArray(np.minimum(start, end), np.maximum(start, end))
    inside = span(heights, (knots >= low) & (knots <= high))
    steep = np.concatenate([[0.0], np.diff(heights) / np.diff(knots), [0.0]])
    touched = (np.append(-np.inf, knots) <= high) & (np.append(knots, np.inf) >= low)
    return _chain((ends | inside).widen(), lambda: span(steep, touched).widen(), a)


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
