"""Whatever the prior is: a formula answers, also along curves, and nothing is warned of on the way."""

import math
import warnings

import numpy as np
import pytest

import guessproof as gp

_PRIORS = {
    "uniform": (lambda: gp.uniform(0, 1), gp.Absolute(), 1.0),
    "jumps": (lambda: gp.normal(0, 1), gp.Threshold(0.5), 1.0),
    "few numbers": (lambda: gp.empirical([1.0, 2.0, 3.0, 4.0, 7.0, 9.0]), gp.Absolute(), 8.0),
    "many numbers": (lambda: gp.empirical(np.linspace(0.0, 2.0, 401)), gp.Absolute(), 2.0),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", _PRIORS)
def test_curves_whatever_the_prior_is_are_as_close_as_others(name: str) -> None:
    prior, metric, across = _PRIORS[name]
    time = gp.Attribute("time", prior=prior(), metric=metric)
    curve = gp.Curve(gp.Attack(gp.within(time, 0.1), prior_factor=math.inf))
    assert curve.within <= 0.02
    for limit in (0.01, 0.1, 0.5):
        exact = 4 * math.atanh(limit) / across
        assert 0.98 * exact <= curve.epsilon(advantage=limit) <= exact * (1 + 1e-12)
        assert curve.advantage(exact) >= limit * (1 - 1e-12)


@pytest.mark.filterwarnings("error")
def test_one_true_value_whatever_the_prior_is() -> None:
    time = gp.Attribute("time", prior=gp.uniform(0, 1))
    attack = gp.Attack(gp.within(time, 0.1), at={"time": 0.3}, prior_factor=math.inf)
    exact = 4 * math.atanh(0.1) / 0.8  # from 0.2 to 1
    assert 0.98 * exact <= gp.Curve(attack).epsilon(advantage=0.1) <= exact * (1 + 1e-12)


@pytest.mark.filterwarnings("error")
def test_nothing_is_learned_at_no_epsilon_however_far_apart_values_are() -> None:
    time = gp.Attribute("time", prior=gp.normal(0, 1))
    attack = gp.Attack(gp.within(time, 0.1), prior_factor=math.inf)
    assert list(np.asarray(attack.advantage(np.array([0.0, 1e-9, 1e9])).bound)) == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("move", [1, -1])
def test_a_step_that_is_long_beside_a_sample_overflows_nothing(move: int) -> None:
    points = list(np.linspace(0.0, 1e-3, 3))
    time = gp.Attribute("time", prior=gp.empirical(points), metric=gp.Absolute() + gp.Discrete())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = gp.Curve(gp.Attack(gp.within(time, 2e-4), prior_factor=1.01))
        assert curve.within <= 0.02
        assert 0.977 * 4 * math.atanh(0.1) <= curve.epsilon(advantage=0.1, both=move < 0) < 0.5
        assert curve.advantage(900.0, both=move < 0) < 0.9


@pytest.mark.filterwarnings("error")
def test_no_bound_beside_many_numbers_exceeds_what_is_left_to_believe() -> None:
    time = gp.Attribute("time", prior=gp.empirical(np.linspace(0.0, 2.0, 401)))
    attack = gp.Attack(gp.within(time, 0.1), prior_factor=1.5)
    least = 21 / 401  # the declared belief at an end
    assert float(attack.advantage(1e4).bound) <= 1 - least / (least + 1.5 * (1 - least)) + 1e-12
