"""Composition: the dual-norm theorem on random cases, Gaussian lists, dp_accounting."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.splits import solved_split

from guessproof.errors import MissingExtraError, ParameterError
from guessproof.mechanisms.cauchy import Cauchy
from guessproof.mechanisms.composition import (
    compose,
    compose_numerically,
    dual_exponent,
    norm_exponent,
    parallel,
    sequential,
    split_budget,
    total_epsilon,
)
from guessproof.mechanisms.gaussian import Gaussian, gdp_epsilon
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace

epsilons = st.lists(st.floats(0.001, 5), min_size=1, max_size=5)
norms = st.one_of(st.sampled_from(["l1", "l2", "linf"]), st.floats(1, 8))


@given(epsilons, norms, st.integers(0, 2**32 - 1))
def test_dual_norm_theorem(values, norm, seed):
    """[LP] Theorem 4: Σ εᵢdᵢ ≤ ‖ε‖_q whenever ‖d‖_p ≤ 1, and some d attains it."""
    total, array = total_epsilon(values, norm), np.array(values)
    power, dual = norm_exponent(norm), dual_exponent(norm)
    moves = np.abs(np.random.default_rng(seed).normal(size=(50, len(values))))
    moves /= np.linalg.norm(moves, ord=power, axis=1, keepdims=True)
    assert np.all(moves @ array <= total * (1 + 1e-9))
    if math.isinf(dual):
        best = (array == array.max()) / np.sum(array == array.max())
    else:
        best = (array / array.max()) ** (dual - 1)
        best = best / np.linalg.norm(best, ord=power)
    assert best @ array == pytest.approx(total, rel=1e-9)


def test_dual_norm_on_real_mechanisms():
    """Two Laplace releases of two components: the joint log-ratio over outputs is exactly the bound."""
    noises = [Laplace(1, 0.6), Laplace(1, 0.8)]
    outputs = np.linspace(-4, 4, 41)
    for norm, power in (("l1", 1), ("l2", 2), ("linf", math.inf)):
        worst = 0.0
        for angle in np.linspace(0, math.pi / 2, 201):
            move = np.array([math.cos(angle), math.sin(angle)])
            move /= np.linalg.norm(move, ord=power)
            ratios = [np.log(n.density(outputs) / n.density(outputs - m)) for n, m in zip(noises, move, strict=True)]
            worst = max(worst, max(a + b for a, b in itertools.product(*ratios)))
        assert worst <= total_epsilon([0.6, 0.8], norm) * (1 + 1e-12)
        assert worst == pytest.approx(total_epsilon([0.6, 0.8], norm), rel=1e-3)


@given(epsilons)
def test_parallel_and_sequential_are_the_ends(values):
    between = [total_epsilon(values, norm) for norm in ("l1", 1.5, "l2", 4.0, "linf")]
    assert between == sorted(between) or np.all(np.diff(between) > -1e-12)
    assert between[0] == parallel(values) == max(values)
    assert between[-1] == sequential(values) == math.fsum(values)


def test_nothing_costs_nothing():
    assert total_epsilon([]) == 0
    assert compose([]).epsilon == 0


def test_gaussians_compose_exactly():
    releases = [Gaussian(1, 0.5, 1e-6), Gaussian(3, 1, 1e-7), Gaussian(2, 0.2, 1e-5)]
    mu = math.sqrt(sum(release.mu**2 for release in releases))
    result = compose(releases, delta=1e-4)
    assert result.method == "μ-GDP"
    assert result.epsilon == pytest.approx(gdp_epsilon(mu, 1e-4))
    assert result.epsilon < 1.7


def test_mixed_lists_are_sound():
    releases = [Laplace(1, 0.3), Gaussian(1, 0.5, 1e-6), Cauchy(1, 0.2)]
    closed = compose(releases, delta=1e-5)
    assert closed.epsilon <= 1.0
    assert compose_numerically(releases, delta=1e-5).epsilon <= closed.epsilon


def test_dp_accounting_is_tighter_for_many_laplace_releases():
    result = compose_numerically([Laplace(1, 0.1)] * 50, delta=1e-6)
    assert result.epsilon == pytest.approx(3.12, abs=0.02)
    assert compose([Laplace(1, 0.1)] * 50, delta=1e-6).epsilon == pytest.approx(5)


def test_one_release_costs_what_it_says():
    for release in (Laplace(2, 0.7), Geometric(2, 0.7), Gaussian(2, 0.7, 1e-3)):
        delta = 1e-3
        numeric = compose_numerically([release], delta=delta).epsilon
        assert numeric <= 0.7 + 1e-12
        assert numeric == pytest.approx(release.epsilon_at(delta), abs=2e-3)


def test_too_small_a_delta_is_refused():
    with pytest.raises(ParameterError, match="delta"):
        compose([Gaussian(1, 1, 1e-6)])


def test_missing_accountant_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(MissingExtraError, match="dp-accounting"):
        compose_numerically([Laplace(1, 1)], delta=1e-6)


# Splitting a budget.

amounts = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6)
some_norms = st.sampled_from(["linf", "l2", "l1", 1.5, 3.0])


@given(st.data(), amounts, some_norms, st.sampled_from([0.5, 1, 2, 4]))
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


def test_large_power_approaches_the_worst_error():
    many = split_budget(epsilon=1, sensitivities=[1, 3, 9], power=200)
    assert many == pytest.approx([1 / 13, 3 / 13, 9 / 13], rel=0.03)


@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
def test_a_solver_agrees_with_the_closed_form(norm):
    sensitivities = [1, 4, 10]
    closed = split_budget(epsilon=2, sensitivities=sensitivities, norm=norm)
    solved = solved_split(epsilon=2, errors=[lambda e, d=d: (d / e) ** 2 for d in sensitivities], norm=norm)
    assert solved == pytest.approx(closed, rel=2e-3)
    assert total_epsilon(closed, norm) <= 2


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
def test_splits_refuse_what_is_no_number(arguments):
    with pytest.raises(ParameterError):
        split_budget(epsilon=1, **arguments)
