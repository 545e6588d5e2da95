"""Enclosures hold every value and every slope that the function takes on a cell, or say that they cannot."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from guessproof.intervals import IntervalArray
from guessproof.risk.profile.enclosure import Untraceable, bound

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "constant": lambda p, q: 3.0,
    "arithmetic": lambda p, q: 2 + 3 * p - q / 2 + p * q - (1 - p) * (-q),
    "reverse": lambda p, q: 1 - p + 2 / (1 + q) + 3 - +q,
    "ratio": lambda p, q: 0.25 / (p * q),
    "powers": lambda p, q: p**2 + q**-0.5 + (p - 0.5) ** 3 + (q - 0.5) ** 2 + 2**p + p**q + p**0 + (p + 1) ** -2,
    "negative powers": lambda p, q: (p - 2) ** -1 + (q - 3) ** -2,
    "exp and log": lambda p, q: np.exp(-6 * p * q) - np.log(p) + np.log1p(q) + np.expm1(p) + np.log2(q) + np.log10(p),
    "roots": lambda p, q: np.sqrt(p * q) + np.square(p) + np.reciprocal(q) + np.float_power(p, 1.5),
    "signs": lambda p, q: abs(p - 0.4) + np.abs(q - p) + np.fabs(p - q) + np.negative(p) + np.positive(q),
    "maximum": lambda p, q: np.maximum(0.25 / (p * q), 3) + np.minimum(p, q) + np.fmax(p, 0.3) + np.fmin(q, 0.7),
    "builtin": lambda p, q: max(0.25 / (p * q), 3, 1 + p) + min(p, q),
    "if": lambda p, q: 2 + q if p < 0.3 else (5.0 if q >= p else 4 * p),
    "chained": lambda p, q: 3.0 if 0.2 < p <= 0.6 and q != 0.25 else 2.0,
    "truths": lambda p, q: 2 + 3 * (p < 0.4) + (p > q) * q + (~(q != 0.5)) * 1.0 + ((p <= 0.2) | (q >= 0.7)),
    "logic": lambda p, q: np.where(
        np.logical_and(p > 0.3, np.logical_not(q < 0.5)) | np.logical_or(p < 0.1, q > 0.9), 2, 3
    ),
    "truth of numbers": lambda p, q: 1.0 if p * q - p * q + p else 2.0,
    "where": lambda p, q: np.where((p < 0.3) & (q > 0.5), 2 * q, np.where(p > 0.6, 5.0, 1 / p)),
    "where never": lambda p, q: np.where(p < 2, q, 1 / p),
    "select": lambda p, q: np.select([p * q < 0.01, p * q < 0.1, np.less(p, 0.5)], [10.0, 4 * q, 2.0], 1.3),
    "clip": lambda p, q: np.clip(3 * p, 0.5, 1 + q) + np.clip(q, None, 0.5) + np.clip(p, 0.2, None),
    "interp": lambda p, q: np.interp(p * q, [0.1, 0.2, 0.5], [3.0, 4.0, 1.0]) + np.interp(q, [0, 1], [0, 1]),
    "like": lambda p, q: np.ones_like(p) * 2 + np.zeros_like(q) + np.full_like(p, 3.0) + np.float64(2) * p,
    "numpy compares": lambda p, q: (
        np.where(np.greater_equal(p, q), 1, 2) + (np.float64(0.3) > p) + np.less_equal(p, 0.4)
    ),
}


CELL = IntervalArray(np.array([0.1]), np.array([0.2]))


def cells(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    ends = np.sort(random.random((2, 2, count)), axis=1)
    shrink = 10 ** random.uniform(-6, 0, (2, count))
    ends[:, 1] = ends[:, 0] + (ends[:, 1] - ends[:, 0]) * shrink
    ends[:, 0, : count // 10] = 0.0
    return IntervalArray(ends[0, 0], ends[0, 1]), IntervalArray(ends[1, 0], ends[1, 1])


def values(function: Callable[[Any, Any], Any], p: np.ndarray, q: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.array([float(function(a, b)) for a, b in zip(p, q, strict=True)])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes_lie_inside(name: str) -> None:
    function, random = FUNCTIONS[name], np.random.default_rng(len(name))
    p, q = cells(random, 60)
    bounds = bound(function, p, q)
    for _ in range(12):
        share_p, share_q = random.random((2, 60))
        at_p, at_q = p.low + (p.high - p.low) * share_p, q.low + (q.high - q.low) * share_q
        value = values(function, at_p, at_q)
        assert (bounds.value.low <= value).all()
        assert (value <= bounds.value.high).all()
        # the slope of a chord lies between the slopes of the curve
        for slope, (chord_p, chord_q), (low, high) in (
            (bounds.slope_p, (True, False), p),
            (bounds.slope_q, (False, True), q),
        ):
            other = low + (high - low) * random.random(60)
            start, end = (at_p, at_q), (other if chord_p else at_p, other if chord_q else at_q)
            run = (end[0] - start[0]) + (end[1] - start[1])
            with np.errstate(all="ignore"):
                chord = (values(function, *end) - value) / run
                noise = 1e-14 * (1 + np.abs(value)) / np.abs(run) + 1e-9
            usable = np.abs(run) > 1e-9
            assert (slope.low - noise <= chord)[usable].all()
            assert (chord <= slope.high + noise)[usable].all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_cells_have_tight_bounds(name: str) -> None:
    random = np.random.default_rng(9)
    at_p, at_q = random.uniform(0.31, 0.39, (2, 20))  # away from the jumps of the functions above
    p, q = IntervalArray(at_p, at_p + 1e-7), IntervalArray(at_q, at_q + 1e-7)
    low, high = bound(FUNCTIONS[name], p, q, slopes=False).value
    low, high = np.broadcast_to(low, 20), np.broadcast_to(high, 20)
    settled = np.abs(at_p - at_q) > 1e-6
    assert (high - low < 1e-4)[settled].all()


@pytest.mark.parametrize(
    "function",
    [
        lambda p, q: math.exp(p),
        lambda p, q: float(p) + q,
        lambda p, q: np.asarray(p) + q,
        lambda p, q: p % 2,
        lambda p, q: p // 2,
        lambda p, q: np.sin(p),
        lambda p, q: np.add.reduce([p, q]),
        lambda p, q: np.add(p, q, dtype=float),
        lambda p, q: np.max([p, q]),
        lambda p, q: np.cumsum(p),
        lambda p, q: p * np.array([1.0, 2.0]),
        lambda p, q: {p: 1}[p],
        lambda p, q: p.mean(),
        lambda p, q: "3",
        lambda p, q: None,
        lambda p, q: 1 / 0,
        lambda p: p,
    ],
)
def test_what_cannot_be_followed_says_so(function) -> None:
    with pytest.raises(Untraceable):
        bound(function, CELL, CELL)


def test_too_many_paths_are_given_up() -> None:
    def many(p: Any, q: Any) -> float:
        return 1.0 + sum(1 for k in range(50) if p < 0.1 + k / 100)

    cell = IntervalArray(np.array([0.0]), np.array([1.0]))
    with pytest.raises(Untraceable):
        bound(many, cell, cell)


def test_every_branch_of_an_if_counts_where_it_can_be_taken() -> None:
    def steps(p: Any, q: Any) -> float:
        if p < 0.3:
            return 2.0
        return 5.0 if q < 0.5 else 7.0

    p = IntervalArray(np.array([0.1, 0.1, 0.4, 0.4]), np.array([0.2, 0.4, 0.5, 0.5]))
    q = IntervalArray(np.array([0.1, 0.1, 0.1, 0.4]), np.array([0.2, 0.2, 0.2, 0.6]))
    bounds = bound(steps, p, q)
    assert bounds.value.low.tolist() == [2, 2, 5, 5]
    assert bounds.value.high.tolist() == [2, 5, 5, 7]
    assert np.isinf(bounds.slope_p.high).tolist() == [False, True, False, True]


def test_a_pole_at_zero_is_one_sided() -> None:
    cell = IntervalArray(np.array([0.0]), np.array([0.5]))
    low, high = bound(lambda p, q: 1 / (p * q), cell, cell).value
    assert low == pytest.approx(4)
    assert high == math.inf
    low, high = bound(lambda p, q: 1 / (p - 0.25), cell, cell).value
    assert (low, high) == (-math.inf, math.inf)
    low, high = bound(lambda p, q: np.log(p - 0.25), cell, cell).value
    assert low == -math.inf


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """Python formulas of p and q that are defined on the whole unit square."""
    if depth == 0:
        return draw(st.sampled_from(["p", "q", "0.5", "2.0", "1.25"]))
    one = draw(expressions(depth=depth - 1))
    other = draw(expressions(depth=depth - 1))
    form = draw(
        st.sampled_from(
            [
                "({a} + {b})",
                "({a} - {b})",
                "({a} * {b})",
                "({a} / (1.5 + {b} ** 2))",
                "np.maximum({a}, {b})",
                "min({a}, {b})",
                "np.exp(-abs({a}))",
                "np.sqrt(0.5 + {a} ** 2)",
                "np.log(2 + abs({b}))",
                "np.where({a} < {b}, {a}, {b} + 1)",
                "({a} if {a} > 0.6 else {b})",
            ]
        )
    )
    return form.format(a=one, b=other)


@settings(max_examples=cases(60))
@given(text=expressions(), seed=st.integers(0, 2**32 - 1))
def test_random_formulas_lie_inside_their_enclosures(text: str, seed: int) -> None:
    function = eval(f"lambda p, q: {text}", {"np": np})
    random = np.random.default_rng(seed)
    p, q = cells(random, 20)
    try:
        low, high = bound(function, p, q).value
    except Untraceable:
        return  # too many paths
    for _ in range(5):
        at_p = p.low + (p.high - p.low) * random.random(20)
        at_q = q.low + (q.high - q.low) * random.random(20)
        value = values(function, at_p, at_q)
        assert (low <= value).all()
        assert (value <= high).all()
