"""The largest epsilon at the worst true value, where limits and beliefs are at their ends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import guessproof as gp

SQUARES = gp.Attribute("x", gp.empirical([float(i * i) for i in range(100)]))


@pytest.mark.parametrize("limit", [0.3, 0.9])
def test_a_belief_about_a_sample_has_an_epsilon(limit: float) -> None:
    """Most true values have a smaller prior than the largest one."""
    attack = gp.Attack(gp.within(SQUARES, 3))
    epsilon = attack.epsilon(posterior=limit)
    assert 0 < epsilon < math.inf
    assert attack.posterior(epsilon).bound <= limit
    assert attack.posterior(1.001 * epsilon).attack > limit


@pytest.mark.parametrize("seed", range(3))
def test_an_epsilon_for_a_sample_is_that_of_the_most_exposed_true_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(30, 8, 120), 1 + seed % 2)
    attribute = gp.Attribute("x", gp.empirical(values))
    radius = float(rng.uniform(0.5, 4))
    worst = gp.Attack(gp.within(attribute, radius))
    limits: Any
    for limits in ({"advantage": 0.1}, {"posterior": 0.5}):
        epsilon = worst.epsilon(**limits)
        at = np.unique(np.concatenate([values, np.linspace(values.min(), values.max(), 90)]))
        each = gp.Attack(gp.within(attribute, radius), at={"x": at})
        reached = each.advantage if "advantage" in limits else each.posterior
        limit = next(iter(limits.values()))
        assert np.max(reached(epsilon).bound) <= limit * (1 + 1e-9)
        assert np.max(reached(1.01 * epsilon).attack) > limit * 0.95  # between the values asked, too


def test_what_no_release_can_break_is_said_at_once() -> None:
    """Within the bounds every belief is nearly 1 before any release."""
    narrow = gp.Attribute("x", gp.normal(0, 1), bounds=(-0.1, 0.1))
    attack = gp.Attack(gp.within(narrow, 3))
    assert attack.epsilon(advantage=0.05) == math.inf
    least = 1 - float(gp.normal(0, 1).mass(-2.9, 3.1))
    assert 0 < attack.epsilon(advantage=0.5 * least) < math.inf
    share = gp.Attack(gp.within(gp.Attribute("x", gp.beta(5.6, 5.4), bounds=(0.474, 0.480)), percent=95.6))
    assert share.epsilon(advantage=0.05) == math.inf


def test_a_belief_is_at_most_certain() -> None:
    x, y = gp.Attribute("x", gp.laplace(0, 1)), gp.Attribute("y", gp.exponential(2.0))
    assert gp.Attack(~(gp.within(x, 0.2) & gp.within(y, 1.0))).posterior(0.05).bound <= 1


@pytest.mark.parametrize("epsilon", [math.nan, math.inf, -1, "x", [1.0, 2.0]])
def test_a_factor_is_asked_for_at_one_epsilon(epsilon: Any) -> None:
    with pytest.raises(gp.errors.ParameterError, match="epsilon"):
        gp.Attack(gp.within(SQUARES, 3), at={"x": 16.0}).largest_prior_factor(epsilon=epsilon, advantage=0.1)
