"""Any prior, metric, goal and ε from 10⁻¹² to 10⁶: an ordered answer or a refusal of our own, never a raw error.

Warnings are errors here, so an overflow counts. What is drawn is wild on purpose; exact values are tested elsewhere.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from depth import cases
from numpy.random import Generator

import guessproof as gp
from guessproof.errors import GuessproofError


def some_prior(rng: Generator) -> Any:
    size = float(10 ** rng.uniform(-3, 6))
    middle = float(rng.choice([0, 0, 1, 5, 100]) * size)
    match int(rng.integers(8)):
        case 0:
            return gp.normal(middle, size)
        case 1:
            return gp.uniform(middle - size, middle + size)
        case 2:
            return gp.exponential(size)
        case 3:
            return gp.laplace(middle, size)
        case 4:
            cells = int(rng.integers(2, 7))
            mass = rng.uniform(0.01, 1, cells) * (rng.random(cells) < 0.7)
            mass[rng.integers(cells)] += 0.2
            return gp.histogram(middle + size * np.cumsum(rng.uniform(0.2, 2, cells + 1)), mass / mass.sum())
        case 5:
            return gp.empirical(middle + size * rng.normal(size=int(rng.integers(2, 12))))
        case 6:
            mass = rng.dirichlet(np.full(4, 10 ** rng.uniform(-2, 1)))
            return gp.categorical(
                dict(zip((middle + size * np.cumsum(rng.uniform(0.1, 1, 4))).tolist(), mass, strict=True))
            )
        case _:
            left, right = (float(size * 10 ** rng.uniform(-2, 1)) for _ in "ab")
            return gp.normal(middle, size).given(middle - left, middle + right)


def bulk(prior: Any) -> tuple[float, float]:
    a, b = prior.quantile([0.01, 0.99]) if hasattr(prior, "quantile") else (prior.points[0], prior.points[-1])
    return float(a), max(float(b) - float(a), 1e-9)


def some_metric(rng: Generator, prior: Any) -> Any:
    start, width = bulk(prior)
    low, high = np.sort(start + width * rng.uniform(-0.2, 1.2, 2)).tolist()
    unit = float(width * 10 ** rng.uniform(-2, 1))
    slope, step = gp.Absolute(unit), float(10 ** rng.uniform(-6, 2))
    clamp = gp.Clamped(low, high, unit)
    return (
        None,
        slope,
        gp.Discrete(),
        clamp,
        gp.Threshold(low, high),
        gp.minimum(slope, float(10 ** rng.uniform(-2, 3))),
        gp.Outcome((low, high)),
        clamp + step * gp.Threshold(float(start + width * rng.uniform(-0.2, 1.2))),
        gp.minimum(clamp, 0.7) + step * gp.Discrete(),
        gp.Outcome((low, high)) + slope,
        slope + step * gp.Discrete(),
    )[int(rng.integers(11))]


def some_goal(rng: Generator, attribute: gp.Attribute) -> tuple[Any, float | None]:
    prior: Any = attribute.prior
    start, width = bulk(prior)
    finite = hasattr(prior, "points")
    truth = rng.choice(prior.points[prior.mass > 0]) if finite else prior.quantile(rng.uniform(1e-6, 1 - 1e-6))
    centre, radius = start + width * rng.uniform(-0.3, 1.3, 2), width * 10 ** rng.uniform(-5, 0.5, 2)
    pairs = [(float(c - r), float(c + r)) for c, r in zip(centre, radius, strict=True)]
    return (
        (gp.within(attribute, float(radius[0])), float(truth)),
        (gp.within(attribute, percent=float(rng.uniform(1, 100))), float(truth)),
        (gp.exactly(attribute), float(truth)),
        (gp.inside(attribute, pairs[0]), None),
        (gp.inside(attribute, *pairs), None),
        (~gp.inside(attribute, pairs[0]), None),
    )[int(rng.integers(6))]


def ordered(bracket: gp.Bracket, side: int) -> None:
    assert np.isfinite(bracket.attack)
    assert np.isfinite(bracket.bound)
    assert side * bracket.attack <= side * bracket.bound + 1e-15
    assert -1e-12 <= bracket.bound <= 1 + 1e-9


def ask(rng: Generator, attack: gp.Attack, epsilon: float) -> None:
    match int(rng.integers(5)):
        case 0:
            ordered(attack.advantage(epsilon), +1)
        case 1:
            ordered(attack.advantage(epsilon, both=True), +1)
        case 2:
            ordered(attack.posterior(epsilon), +1)
        case 3:
            ordered(attack.posterior(epsilon, side="lower"), -1)
        case _:
            limit = float(10 ** rng.uniform(-8, -0.05))
            chosen = attack.epsilon(advantage=limit)
            assert chosen >= 0
            if chosen < 1e50:
                assert attack.advantage(chosen).bound <= limit * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(cases(60)))
def test_one_attribute(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    with contextlib.suppress(GuessproofError):
        prior = some_prior(rng)
        goal, truth = some_goal(rng, gp.Attribute("x", prior=prior, metric=some_metric(rng, prior)))
        attack = gp.Attack(goal, at=None if truth is None else {"x": truth})
        ask(rng, attack, float(10 ** rng.uniform(-12, 6)))


@pytest.mark.parametrize("seed", range(cases(20)))
def test_two_attributes(seed: int) -> None:
    rng = np.random.default_rng([4, seed])
    with contextlib.suppress(GuessproofError):
        goals, at = [], {}
        for name in ("x", "y"):
            goal, truth = some_goal(rng, gp.Attribute(name, prior=some_prior(rng)))
            goals.append(goal)
            at |= {} if truth is None else {name: truth}
        whole = goals[0] & goals[1] if rng.random() < 0.5 else goals[0] | goals[1]
        ask(rng, gp.Attack(whole, at=at or None), float(10 ** rng.uniform(-12, 6)))


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("epsilon", [0.4, 1.0, 40.0])
def test_a_cap_in_units_of_money(epsilon: float, side: str) -> None:
    """ε·cap is 800 and more; a cap beyond everybody's reach changes nothing."""
    goals = [
        gp.within(gp.Attribute("salary", prior=gp.uniform(1000, 3000), metric=metric), 100)
        for metric in (gp.Absolute(), gp.minimum(gp.Absolute(), 2000))
    ]
    plain, capped = (gp.Attack(goal, at={"salary": 1900}).posterior(epsilon, side=side) for goal in goals)
    assert capped.bound == pytest.approx(plain.bound, rel=1e-6, abs=1e-12)
    assert capped.attack == pytest.approx(plain.attack, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("prior", "goal"), [(gp.normal(0, 1), (20, 37)), (gp.laplace(0, 1), (690, 700)), (gp.laplace(0, 1), (-700, 40))]
)
def test_a_goal_in_a_far_tail(prior: Any, goal: tuple[float, float]) -> None:
    metric = gp.Outcome((-3, 0)) + gp.Absolute()
    bracket = gp.Attack(gp.inside(gp.Attribute("x", prior=prior, metric=metric), goal)).posterior(3.0)
    assert 0 <= bracket.attack <= bracket.bound <= 1
