"""The search for the largest ε ends on the private side, by the bound itself and not by a tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from guessproof.risk.limits import largest_epsilon

BOUNDS = {
    "line": lambda e: e,
    "steep": lambda e: 1e9 * e,
    "flat start": lambda e: e**3,
    "saturating": lambda e: 3 * np.tanh(e),
    "logarithm": np.log1p,
    "kink": lambda e: np.where(e < 0.3, e, 0.3 + 50 * (e - 0.3)),
    "jump": lambda e: np.where(e <= 0.7, e, e + 5),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_answer_keeps_the_limit_and_hardly_more_would(name: str) -> None:
    bound = BOUNDS[name]
    limits = np.array([1e-12, 1e-6, 0.1, 0.3, 0.9, 2.9])
    found = largest_epsilon(bound, limits)
    assert np.all(bound(found) <= limits)
    assert np.all(bound(found * (1 + 3e-11)) > limits)


def test_every_limit_in_a_thousand_is_kept() -> None:
    limits = 10 ** np.random.default_rng(0).uniform(-13, 2.3, 1000)
    found = largest_epsilon(np.arcsinh, limits)
    assert np.all(np.arcsinh(found) <= limits)
    assert np.all(found >= np.sinh(limits) * (1 - 1e-9))


def test_ends() -> None:
    found = largest_epsilon(lambda e: np.tanh(e), np.array([0.0, 1.0, 2.0, np.inf]))
    assert found.tolist() == [0.0, np.inf, np.inf, np.inf]


def test_units_may_be_absurd() -> None:
    """A table in parsecs of something atomic: ε per unit is enormous, and still finite."""
    found = largest_epsilon(lambda e: e * 1e-25, np.array([1.0]))
    assert found[0] == pytest.approx(1e25, rel=1e-9)


def test_a_limit_that_nothing_reaches_takes_few_looks() -> None:
    """A bound that stands still below its limit may cost much at every look; it is not doubled to the end."""
    looks: list[float] = []

    def bound(epsilon: np.ndarray) -> np.ndarray:
        looks.append(float(epsilon[0]))
        return np.tanh(epsilon)

    assert largest_epsilon(bound, np.array([1.5]))[0] == np.inf
    assert max(looks) >= 1e90
    assert len(looks) < 40


def test_a_bound_that_rests_and_rises_again_is_followed() -> None:
    def bound(epsilon: np.ndarray) -> np.ndarray:
        return np.minimum(epsilon, 1.0) + 1e-9 * np.maximum(epsilon - 1e8, 0.0)

    limits = np.array([1.5, 0.9, 30.0])
    found = largest_epsilon(bound, limits)
    assert np.all(bound(found) <= limits)
    assert np.all(bound(found * (1 + 3e-11)) > limits)


@pytest.mark.parametrize("start", [1e-6, 1.0, 1e6])
def test_a_bound_that_stays_above_the_limit_is_given_up_soon(start: float) -> None:
    """Cells on the edge of a goal are counted for both sides: such a bound does not fall to 0 with ε."""
    looks = 0

    def bound(epsilon: np.ndarray) -> np.ndarray:
        nonlocal looks
        looks += 1
        return 0.2 + epsilon

    found = largest_epsilon(bound, np.array([0.1, 0.3]), start=start)
    assert found[0] == 0
    assert found[1] == pytest.approx(0.1, rel=1e-10)
    assert found[1] <= 0.1
    assert looks < 80


def test_a_bound_that_falls_slowly_is_followed() -> None:
    found = largest_epsilon(lambda e: e**0.01, np.array([0.5, 0.1]))
    assert found == pytest.approx([0.5**100, 0.1**100], rel=1e-9)
