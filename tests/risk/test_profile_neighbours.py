"""Lee & Clifton and Wood et al., as Kazan & Reiter section 5 tells them."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from guessproof.errors import ParameterError
from guessproof.risk.profile import (
    Differences,
    absolute_risk,
    lee_clifton_differences,
    lee_clifton_epsilon,
    wood_epsilon,
    wood_posterior,
)

PRINTED = json.loads((Path(__file__).parents[1] / "data" / "papers.json").read_text())["kazan_reiter"]


def by_subsets(population: list[float], statistic) -> Differences:
    """(43) and (44) word for word."""
    n = len(population)
    smaller = list(itertools.combinations(range(n), n - 1))
    removal = max(
        abs(statistic([population[i] for i in kept]) - statistic([population[i] for i in kept if i != left]))
        for kept in smaller
        for left in kept
    )
    exchange = max(
        abs(statistic([population[i] for i in a]) - statistic([population[i] for i in b]))
        for a, b in itertools.product(smaller, smaller)
    )
    return Differences(removal, exchange)


def test_differences_against_all_subsets() -> None:
    random = np.random.default_rng(1)
    for _ in range(300):
        population = (random.integers(-4, 9, random.integers(3, 7)) * random.uniform(0.1, 3)).tolist()
        for name, statistic in (("sum", sum), ("mean", lambda v: sum(v) / len(v))):
            ours, slow = lee_clifton_differences(population, name), by_subsets(population, statistic)
            assert ours.removal == pytest.approx(slow.removal, abs=1e-12)
            assert ours.exchange == pytest.approx(slow.exchange, abs=1e-12)
        assert lee_clifton_differences(population).factor >= 0.5 - 1e-12


def test_the_motivating_example() -> None:
    epsilon = lee_clifton_epsilon(4, 1 / 3)
    assert epsilon == pytest.approx(math.log(1.5), rel=1e-14)
    assert epsilon == pytest.approx(PRINTED["lee_clifton_n4_a_third"], rel=1e-14)
    assert epsilon <= PRINTED["lee_clifton_n4_a_third"]


def posterior_of_missing(values: list[float], epsilon: float) -> float:
    """The largest belief that one person is missing, over all outputs of a Laplace sum."""
    scale = lee_clifton_differences(values).removal / epsilon
    outputs = np.linspace(sum(values) - 50, sum(values) + 50, 20001)
    answers = sum(values) - np.array(values)
    likelihood = np.exp(-np.abs(outputs[:, None] - answers) / scale)
    return float((likelihood / likelihood.sum(axis=1, keepdims=True)).max())


def test_with_differences_the_limit_holds_and_without_it_need_not() -> None:
    values = [-1.0, 1.0, 1.0, 1.0]
    differences = lee_clifton_differences(values)
    assert posterior_of_missing(values, lee_clifton_epsilon(4, 1 / 3)) == pytest.approx(3 / 7, abs=1e-4)  # above 1/3
    assert posterior_of_missing(values, lee_clifton_epsilon(4, 1 / 3, differences)) <= 1 / 3 + 1e-9
    random = np.random.default_rng(2)
    for _ in range(50):
        values = random.normal(0, 3, 5).tolist()
        epsilon = lee_clifton_epsilon(5, 0.4, lee_clifton_differences(values))
        assert posterior_of_missing(values, epsilon) <= 0.4 + 1e-9


def test_edges_of_lee_and_clifton() -> None:
    assert lee_clifton_epsilon(4, 0.25) == 0
    assert lee_clifton_epsilon(4, 1) == math.inf
    assert lee_clifton_epsilon(3, 0.5, lee_clifton_differences([2, 2, 2])) == math.inf
    for n, absolute in ((1, 0.5), (4, 0.2), (2.5, 0.6), (4, math.nan), ("4", 0.5), (4, 1.2)):
        with pytest.raises(ParameterError):
            lee_clifton_epsilon(n, absolute)
    for population, statistic in (
        ([1], "sum"),
        ([1, 2], "mean"),
        ([1, math.nan], "sum"),
        (3, "sum"),
        (["a", "b"], "sum"),
    ):
        with pytest.raises(ParameterError):
            lee_clifton_differences(population, statistic)
    with pytest.raises(ParameterError):
        lee_clifton_differences([1, 2, 3], "median")


def test_wood_is_the_risk_of_a_person_known_to_take_part() -> None:
    for prior in (0.01, 0.3, 0.9):
        for epsilon in (0.0, 0.1, 1.0, 5.0):
            assert wood_posterior(prior, epsilon) == pytest.approx(absolute_risk(1, prior, epsilon), rel=1e-13)
            back = wood_epsilon(prior, wood_posterior(prior, epsilon))
            assert back == pytest.approx(epsilon, rel=1e-9, abs=1e-9)
            assert wood_posterior(prior, back) <= wood_posterior(prior, epsilon) + 1e-15
    assert wood_posterior(0.0, math.inf) == 0
    assert wood_posterior(0.2, math.inf) == 1
    assert wood_epsilon(0.2, 1.0) == math.inf
    assert wood_epsilon(0.2, 0.2) == 0
    for absent, present in ((0.3, 0.2), (math.nan, 0.5), (0.3, 2)):
        with pytest.raises(ParameterError):
            wood_epsilon(absent, present)
    for absent, epsilon in ((1.2, 1), (0.5, -1), (0.5, math.nan)):
        with pytest.raises(ParameterError):
            wood_posterior(absent, epsilon)
