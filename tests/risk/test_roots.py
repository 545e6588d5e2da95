"""What stands in for SciPy where reading it would take longer than the answer: the same digits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from guessproof.risk.finite import _components  # pyright: ignore[reportPrivateUsage]
from guessproof.risk.roots import crossing, lowest, root
from guessproof.world import line

SHAPES: list[Callable[[float, float, float, float], float]] = [
    lambda x, a, b, c: math.tanh(a * x + b) + 0.3 * c,
    lambda x, a, b, c: abs(a) * x**3 + b * x + c,
    lambda x, a, b, c: math.exp(min(a * x, 300.0)) - 2 - abs(c),
    lambda x, a, b, c: math.copysign(abs(x - b) ** 0.5, x - b),
    lambda x, a, b, c: (x - c) ** 7,
]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_crossing_is_brents_to_the_last_bit(shape: Callable[[float, float, float, float], float]) -> None:
    random = np.random.default_rng(11)
    seen = 0
    for _ in range(150):
        a, b, c = random.normal(size=3).tolist()
        low, high = sorted((5 * random.normal(size=2)).tolist())

        def function(x: float, own: tuple[float, float, float] = (a, b, c)) -> float:
            return shape(x, *own)

        if function(low) * function(high) >= 0:
            continue
        for xtol in (1e-300, 1e-6):
            wanted = brentq(function, low, high, xtol=xtol, rtol=8.9e-16, maxiter=500)  # pyright: ignore[reportUnknownVariableType, reportArgumentType]
            assert crossing(function, low, high, xtol=xtol) == wanted
        seen += 1
    assert seen > 20


def test_a_root_is_an_end_where_nothing_crosses() -> None:
    assert root(lambda x: x + 1, 0.0, 2.0) == 0.0
    assert root(lambda x: x - 5, 0.0, 2.0) == 2.0
    assert root(lambda x: x, 3.0, 2.0) == 3.0
    with pytest.raises(ValueError, match="same sign"):
        crossing(lambda x: x + 1, 0.0, 2.0)


def test_connected_parts_are_numbered_as_they_come() -> None:
    random = np.random.default_rng(12)
    for _ in range(100):
        size = int(random.integers(1, 30))
        alike = random.random((size, size)) < 0.15 * random.random()
        alike = alike | alike.T | np.eye(size, dtype=bool)
        assert _components(alike).tolist() == connected_components(alike, directed=False)[1].tolist()


def test_beliefs_from_odds_are_scipys() -> None:
    odds = np.concatenate([np.linspace(-800, 800, 4001), [-np.inf, np.inf, -1e300, 1e300]])
    assert np.allclose(line.expit(odds), expit(odds), rtol=4e-16, atol=0)
    assert np.isnan(line.expit(np.nan))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_bottom_is_that_of_the_bounded_search_to_the_last_bit(
    shape: Callable[[float, float, float, float], float],
) -> None:
    random = np.random.default_rng(12)
    for _ in range(100):
        a, b, c = random.normal(size=3).tolist()
        low, high = sorted((5 * random.normal(size=2)).tolist())

        def function(x: float, own: tuple[float, float, float] = (a, b, c)) -> float:
            return math.hypot(shape(x, *own), 0.1 * x)

        for xtol in (1e-5, 1e-9):
            wanted = minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": xtol})
            assert lowest(function, low, high, xtol=xtol) == wanted.x
