"""Interval arithmetic holds the true result of every operation, for numbers and for arrays alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from guessproof.intervals import EVERYTHING, ONE, TINY, Interval, IntervalArray, constant, outward, point

SIZES = [0.0, TINY, 3e-320, 1e-200, 1e-10, 0.1, 1.0, 7.0, 123.456, 2.0**60, 1e200, 1.7e308]


@st.composite
def numbers(draw: st.DrawFn) -> float:
    size = draw(st.sampled_from(SIZES)) * draw(st.sampled_from([1.0, 1.1, 0.3]))
    number = draw(st.sampled_from([size, -size, draw(st.floats(-1e3, 1e3))]))
    return number if math.isfinite(number) else 1.0


@st.composite
def intervals(draw: st.DrawFn) -> tuple[Interval, float]:
    """An interval, and a number of it."""
    low, high = sorted((draw(numbers()), draw(numbers())))
    inside = draw(st.sampled_from([low, high, min(max(0.0, low), high), min(max(draw(numbers()), low), high)]))
    return Interval(low, high), inside


def as_arrays(a: Interval) -> Any:
    return IntervalArray(np.array([a.low, a.low]), np.array([a.high, a.high]))


def check(operation: Callable[..., Any], truth: Any, *parts: Interval) -> None:
    """Both arithmetics hold the truth, which no rounding touched."""
    for found in (operation(*parts), operation(*map(as_arrays, parts))):
        for low, high in zip(np.ravel(found.low), np.ravel(found.high), strict=True):
            assert mpmath.mpf(low) <= truth <= mpmath.mpf(high), (parts, float(low), float(high))


def exactly(x: float) -> mpmath.mpf:
    return mpmath.mpf(x)


TWO: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "sum": (lambda a, b: a + b, lambda x, y: x + y),
    "difference": (lambda a, b: a - b, lambda x, y: x - y),
    "product": (lambda a, b: a * b, lambda x, y: x * y),
    "largest": (lambda a, b: a.maximum(b), max),
    "smallest": (lambda a, b: a.minimum(b), min),
    "either": (lambda a, b: a | b, lambda x, y: x),
}
ONES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "negative": (lambda a: -a, lambda x: -x),
    "absolute": (lambda a: a.absolute(), abs),
    "reciprocal": (lambda a: a.reciprocal(), lambda x: 1 / x),
    "square": (lambda a: a.power(2), lambda x: x**2),
    "cube": (lambda a: a.power(3), lambda x: x**3),
    "inverse square": (lambda a: a.power(-2), lambda x: x**-2),
    "inverse cube": (lambda a: a.power(-3), lambda x: x**-3),
    "half power": (lambda a: a.power(0.5), lambda x: mpmath.sqrt(x) if x >= 0 else mpmath.mpf(0)),
    "root": (lambda a: a.sqrt(), lambda x: mpmath.sqrt(x) if x >= 0 else mpmath.mpf(0)),
    "exponential": (lambda a: a.exp(), mpmath.exp),
    "logarithm": (lambda a: a.log(), lambda x: mpmath.log(x) if x > 0 else -mpmath.inf),
    "clamped": (lambda a: a.clamp(-2.0, 3.0), lambda x: min(max(x, -2), 3)),
}
POLES = {"reciprocal", "inverse square", "inverse cube"}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", TWO)
@settings(max_examples=cases(40))
@given(data=st.data())
def test_two_numbers(name: str, data: st.DataObject) -> None:
    operation, truth = TWO[name]
    (a, x), (b, y) = data.draw(intervals()), data.draw(intervals())
    with mpmath.workprec(4400):  # enough that no sum or product of two floats is rounded
        check(operation, truth(exactly(x), exactly(y)), a, b)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ONES)
@settings(max_examples=cases(40))
@given(data=st.data())
def test_one_number(name: str, data: st.DataObject) -> None:
    operation, truth = ONES[name]
    a, x = data.draw(intervals())
    if name in POLES and x == 0:
        return  # there is nothing to hold
    if name == "exponential" and abs(x) > 1e6:
        return  # beyond what can be written down; the ends are 0 and ∞
    with mpmath.workprec(400):
        check(operation, truth(exactly(x)), a)


def test_what_vanishes_is_not_lost() -> None:
    """A product below the smallest number is no 0, whose reciprocal would have no other side."""
    for a, b in ((1e-200, 1e-200), (-1e-200, 1e-200)):
        for product in (point(a) * point(b), constant([a]) * constant([b])):
            assert (product.low, product.high) != (0.0, 0.0)
            assert np.all(product.low <= 0) if a < 0 else np.all(product.high > 0)
    assert point(-800.0).exp().high > 0
    assert np.all(constant([-800.0]).exp().high > 0)
    assert point(-1e-200).power(3).low < 0
    assert np.all(constant([-1e-200]).power(3).low < 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_known_is_everything() -> None:
    unknown = [
        Interval(-1.0, 1.0).reciprocal(),
        point(0.0).reciprocal(),
        Interval(-0.0, 1.0).reciprocal(),
        point(0.0) * EVERYTHING,
        Interval(-1.0, 1.0).log(),
        Interval(-1.0, 1.0).power(-1),
        Interval(-0.0, 1.0).power(-1),
        Interval(-1.0, 1.0).power(0.5),
    ]
    assert unknown == [EVERYTHING] * len(unknown)
    one, zero = IntervalArray(np.array([-1.0]), np.array([1.0])), constant([0.0])
    below = IntervalArray(np.array([-0.0]), np.array([1.0]))
    for found in (
        one.reciprocal(),
        zero.reciprocal(),
        zero * IntervalArray(np.array([-math.inf]), np.array([math.inf])),
        one.log(),
        one.power(-1),
        below.reciprocal(),
        below.power(-1),
        one.power(0.5),
        one.keep_where(False),
    ):
        assert (found.low.tolist(), found.high.tolist()) == ([-math.inf], [math.inf])


def test_whole_numbers_stay_exact_and_others_do_not() -> None:
    assert Interval(1.0, 2.0) + Interval(3.0, 4.0) == Interval(4.0, 6.0)
    assert (Interval(0.0, 0.1) + Interval(0.0, 0.2)).high == math.nextafter(0.1 + 0.2, 1)
    assert ONE * Interval(0.1, 0.3) == Interval(0.1, 0.3)
    assert outward(2.0**60, 2.0**60, exact=True) != point(2.0**60)


def test_an_interval_has_an_order() -> None:
    for low, high in ((2.0, 1.0), (math.nan, 1.0), (0.0, math.nan)):
        with pytest.raises(ArithmeticError):
            Interval(low, high)


@given(a=numbers(), b=numbers())
def test_arrays_are_rounded_at_least_as_far_as_numbers(a: float, b: float) -> None:
    """Where both are followed, the one that takes all cells at once is never the narrower."""
    with np.errstate(all="ignore"):
        plain, several = point(a) + point(b), constant([a]) + constant([b])
    assert several.low[0] <= plain.low
    assert plain.high <= several.high[0]
    assert Fraction(a) + Fraction(b) >= (Fraction(plain.low) if math.isfinite(plain.low) else -math.inf)
