"""Bounds that take long are asked seldom: what is returned keeps the limit, and is about the largest that does."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from guessproof.risk.limits import largest_epsilon

SMOOTH = (
    lambda e: 0.3 * e**0.7,
    lambda e: e / (2 + e),
    lambda e: math.expm1(0.4 * e),
    lambda e: 0.5 * math.tanh(e) ** 2,
)
UNEVEN = (
    lambda e: e / (2 + e) * (1 + 0.004 * math.sin(900 * math.log(e))),
    lambda e: round(40 * e / (2 + e)) / 40 + 1e-3 * e / (1 + e),
)


def asked(bound: Callable[[float], float], limit: float, start: float) -> tuple[float, int]:
    looks: list[float] = []

    def seen(epsilon: np.ndarray) -> np.ndarray:
        looks.extend(epsilon.ravel().tolist())
        return np.vectorize(bound)(epsilon)

    return float(largest_epsilon(seen, np.asarray(limit), start=start, relative=1e-3)), len(looks)


@pytest.mark.parametrize("start", [1e-2, 0.9, 40.0])
@pytest.mark.parametrize("limit", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("bound", SMOOTH)
def test_the_largest_that_keeps_the_limit_is_found_in_few_looks(bound, limit: float, start: float) -> None:
    found, looks = asked(bound, limit, start)
    assert bound(found) <= limit < bound(found * 1.001)
    assert looks <= 14


@pytest.mark.parametrize("start", [1e-2, 0.9, 40.0])
@pytest.mark.parametrize("limit", [0.021, 0.1, 0.31])
@pytest.mark.parametrize("bound", UNEVEN)
def test_an_uneven_bound_is_kept_as_well(bound, limit: float, start: float) -> None:
    found, _ = asked(bound, limit, start)
    assert found > 0
    assert bound(found / (1 - 4e-12)) <= limit * (1 + 1e-9)  # where it was asked
