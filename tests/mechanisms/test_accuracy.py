"""From accuracy to ε, and budgets shared among queries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof.errors import ParameterError
from guessproof.mechanisms.accuracy import (
    Target,
    least_budget,
    relative_target,
    split_budget,
    split_convex,
    split_worst,
)
from guessproof.mechanisms.composition import total_epsilon
from guessproof.mechanisms.gaussian import Gaussian
from guessproof.mechanisms.geometric import Geometric

amounts = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6)
norms = st.sampled_from(["linf", "l2", "l1", 1.5, 3.0])


@given(st.data(), amounts, norms, st.sampled_from([0.5, 1, 2, 4]))
def test_split_is_feasible_and_optimal(data, sensitivities, norm, power):
    count = len(sensitivities)
    weights = data.draw(st.lists(st.floats(1e-2, 1e2), min_size=count, max_size=count))
    split = np.array(split_budget(epsilon=1.7, sensitivities=sensitivities, weights=weights, norm=norm, power=power))
    assert total_epsilon(split, norm) <= 1.7
    assert total_epsilon(split, norm) == pytest.approx(1.7)

    def loss(epsilons):
        return np.sum(np.array(weights) * (np.array(sensitivities) / epsilons) ** power)

    rng = np.random.default_rng(0)
    for spread in (0.01, 0.3, 2):
        other = split * np.exp(spread * rng.normal(size=count))
        other *= 1.7 / total_epsilon(other, norm)
        assert loss(split) <= loss(other) * (1 + 1e-9)


@given(amounts, norms)
def test_worst_error_split_is_feasible_and_optimal(sensitivities, norm):
    split = np.array(split_worst(epsilon=0.9, sensitivities=sensitivities, norm=norm))
    assert total_epsilon(split, norm) <= 0.9
    worst = np.max(np.array(sensitivities) / split)
    rng = np.random.default_rng(1)
    for _ in range(5):
        other = split * np.exp(0.2 * rng.normal(size=len(split)))
        other *= 0.9 / total_epsilon(other, norm)
        assert worst <= np.max(np.array(sensitivities) / other) * (1 + 1e-9)


def test_large_power_approaches_the_worst_error():
    many = split_budget(epsilon=1, sensitivities=[1, 3, 9], power=200)
    assert many == pytest.approx(split_worst(epsilon=1, sensitivities=[1, 3, 9]), rel=0.03)


@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
def test_convex_solver_agrees_with_the_closed_form(norm):
    sensitivities = [1, 4, 10]
    closed = split_budget(epsilon=2, sensitivities=sensitivities, norm=norm)
    solved = split_convex(epsilon=2, errors=[lambda e, d=d: (d / e) ** 2 for d in sensitivities], norm=norm)
    assert solved == pytest.approx(closed, rel=2e-3)
    assert total_epsilon(solved, norm) <= 2


def test_convex_solver_for_geometric_variances():
    """The variance of integer noise is no power of ε: there is no closed form."""

    def variance(weight):
        return lambda e: weight * Geometric(1, e).standard_deviation ** 2

    errors = [variance(1), variance(5)]
    split = split_convex(epsilon=6, errors=errors)
    grid = np.linspace(0.5, 5.5, 2001)
    best = min(errors[0](e) + errors[1](6 - e) for e in grid)
    assert errors[0](split[0]) + errors[1](split[1]) <= best * (1 + 1e-6)


def test_least_budget_meets_every_target():
    targets = [
        Target(1, 5, 0.95),
        Target(3, 10, 0.9, Geometric),
        Target(1, 4, 0.95, Gaussian, {"delta": 1e-6}),
    ]
    budget = least_budget(targets)
    assert budget.total == pytest.approx(math.fsum(budget.epsilons))
    assert least_budget(targets, norm="l1").total == max(budget.epsilons)
    for target, epsilon in zip(targets, budget.epsilons, strict=True):
        noise = target.mechanism(target.sensitivity, epsilon, *target.options.values())
        assert noise.confidence(within=target.within) >= target.confidence


def test_relative_targets_use_a_declared_magnitude():
    target = relative_target(fraction=0.05, magnitude=200, sensitivity=2, confidence=0.9, mechanism=Geometric)
    assert target.within == 10
    assert target.epsilon == Geometric.epsilon_for(sensitivity=2, within=10, confidence=0.9)


@pytest.mark.parametrize(
    "arguments",
    [
        {"sensitivities": []},
        {"sensitivities": [1, -1]},
        {"sensitivities": [1, math.nan]},
        {"sensitivities": [1, 2], "weights": [1]},
        {"sensitivities": [1, 2], "weights": [1, 0]},
        {"sensitivities": [1, 2], "norm": "l3"},
        {"sensitivities": [1, 2], "norm": 0.5},
        {"sensitivities": [1, 2], "power": 0},
    ],
)
def test_refusals(arguments):
    with pytest.raises(ParameterError):
        split_budget(epsilon=1, **arguments)
