"""ε without data, against integrals and searches that know nothing of the package."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

import guessproof as gp
from guessproof.calculate import Limits, calculate
from guessproof.risk.attack import Attack

MEAN, SD, RADIUS = 20.0, 6.28, 2.0
BOUNDS = (0.0, 120.0)


def attack(truth: float | None = MEAN, bounds: tuple[float, float] | None = BOUNDS) -> Attack:
    time = gp.Attribute("time", prior=gp.normal(MEAN, SD), bounds=bounds)
    return Attack(gp.within(time, RADIUS), at=None if truth is None else {"time": truth})


def slow_belief(epsilon: float, sd: float = SD) -> float:
    """The highest belief in "within RADIUS of MEAN": the likelihood falls from there as fast as ε lets it."""

    def mass(low: float, high: float) -> float:
        return 2 * quad(lambda x: math.exp(-epsilon * x) * norm.pdf(x, scale=sd), low, high, epsabs=1e-13)[0]

    inside = mass(0, RADIUS)
    return inside / (inside + mass(RADIUS, 12 * sd))


def slow_epsilon(reached: float, sd: float = SD) -> float:
    return float(brentq(lambda e: slow_belief(e, sd) - reached, 0.0, 50.0, xtol=1e-12))


def test_a_limit_on_the_advantage() -> None:
    found = calculate(attack(), Limits(advantage=0.1))
    before = slow_belief(0.0)
    slow = slow_epsilon(before + 0.1)
    assert found.feasible
    assert found.epsilon == pytest.approx(slow, rel=2e-5)
    assert found.epsilon <= slow * (1 + 1e-9)
    assert found.noise_scale == pytest.approx(1 / slow, rel=2e-5)
    assert found.prior == pytest.approx(before, rel=1e-9)
    assert found.belief is not None
    assert found.advantage is not None
    assert float(found.belief.bound) == pytest.approx(before + 0.1, rel=2e-5)
    assert float(found.advantage.bound) == pytest.approx(0.1, rel=2e-5)


def test_a_limit_on_the_belief_and_the_stricter_of_two() -> None:
    belief = calculate(attack(), Limits(posterior=1 / 3))
    assert belief.epsilon == pytest.approx(slow_epsilon(1 / 3), rel=2e-5)
    rise = calculate(attack(), Limits(advantage=0.05))
    both = calculate(attack(), Limits(advantage=0.05, posterior=1 / 3))
    assert both.epsilon == pytest.approx(min(rise.epsilon, belief.epsilon), rel=2e-5)


@pytest.mark.parametrize(("name", "factor"), [("narrower_prior_epsilon", 0.75), ("wider_prior_epsilon", 1.25)])
def test_the_answer_under_another_prior(name: str, factor: float) -> None:
    found = calculate(attack(), Limits(advantage=0.1))
    sd = factor * SD
    assert getattr(found, name) == pytest.approx(slow_epsilon(slow_belief(0.0, sd) + 0.1, sd), rel=2e-5)


@pytest.mark.parametrize("advantage", [0.01, 0.1, 0.5])
def test_without_any_prior(advantage: float) -> None:
    """Two values at the ends of the range, any prior on them: the best of these is found by trying all."""
    found = calculate(attack(), Limits(advantage=advantage)).prior_free_epsilon
    assert found is not None

    def worst(epsilon: float) -> float:
        grown = math.exp(epsilon * (BOUNDS[1] - BOUNDS[0]))
        shares = [i / 20_000 for i in range(1, 20_000)]
        return max(p * grown / (p * grown + 1 - p) - p for p in shares)

    assert worst(found) == pytest.approx(advantage, rel=1e-4)


def test_no_range_means_no_answer_without_a_prior() -> None:
    assert calculate(attack(bounds=None), Limits(advantage=0.1)).prior_free_epsilon is None
    assert calculate(attack(), Limits(posterior=0.5)).prior_free_epsilon is None


def test_the_worst_true_value_is_worse_than_any() -> None:
    worst = calculate(attack(truth=None), Limits(advantage=0.1))
    assert worst.prior is None
    assert worst.advantage is not None
    others = [calculate(attack(truth), Limits(advantage=0.1)).epsilon for truth in (8.0, 14.0, 20.0, 26.0)]
    assert worst.epsilon <= min(others)
    at = float(worst.advantage.worst_at)
    assert 1 <= calculate(attack(at), Limits(advantage=0.1)).epsilon / worst.epsilon <= 1.001


def test_a_belief_may_neither_rise_nor_fall() -> None:
    """Of two values a unit apart and equally probable, rising and falling are mirror images; of others they are not."""
    kind = gp.Attribute("kind", prior=gp.categorical({"a": 0.8, "b": 0.2}))
    one = Attack(gp.among(kind, ["a"]))
    rise, either = (calculate(one, Limits(advantage=0.1, both=both)).epsilon for both in (False, True))
    odds = 0.8 / 0.2
    assert rise == pytest.approx(math.log((0.9 / 0.1) / odds), rel=1e-6)
    assert either == pytest.approx(math.log(odds / (0.7 / 0.3)), rel=1e-6)


def test_nothing_is_enough_and_everything_is() -> None:
    none = calculate(attack(), Limits(posterior=0.1))
    assert (none.feasible, none.epsilon, none.noise_scale) == (False, 0.0, math.inf)
    assert none.to_dict()["noise_scale"] is None
    every = calculate(attack(), Limits(posterior=1.0))
    assert every.feasible
    assert math.isinf(every.epsilon)
    assert "do not decide" in every.explanation
    json.dumps(every.to_dict(), allow_nan=False)


def test_the_unit_of_distance_counts() -> None:
    """Distances in steps of two: half as many of them, so twice the ε for the same limit."""
    one = attack()
    time = gp.Attribute("time", prior=gp.normal(MEAN, SD), bounds=BOUNDS, scale=2.0)
    two = replace(one, goal=gp.within(time, RADIUS))
    limits = Limits(advantage=0.1)
    assert calculate(two, limits).epsilon == pytest.approx(2 * calculate(one, limits).epsilon, rel=1e-6)
