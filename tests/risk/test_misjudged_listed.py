"""Finitely many values under a prior that may be wrong: exact, and no wrong prior of any kind exceeds it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from reference import linear_program

import guessproof as gp
from guessproof.risk.finite import shortest_paths
from guessproof.risk.misjudged.corners import corner_count, corners_of


def drawn_distances(draw: Generator, size: int) -> Any:
    """Points of the plane, of a small grid (with many ties), or any distances."""
    match int(draw.integers(3)):
        case 0:
            places = draw.random((size, 2)) * 3
        case 1:
            places = draw.integers(0, 3, (size, 2)).astype(float)
        case _:
            table = np.triu(draw.random((size, size)), 1)
            return shortest_paths(table + table.T)
    return np.abs(places[:, None] - places[None]).max(axis=-1)


def best_of_all_priors(mass: Any, distance: Any, goal: Any, epsilon: float, factor: float) -> float:
    """Every h of 1 and κ, and each with one value in between, by the linear program of its own prior."""

    def rise(h: Any) -> float:
        prior = mass * h / np.sum(mass * h)
        return float(linear_program.posterior(prior, distance, goal, epsilon) - prior @ goal)

    most = 0.0
    for corner in itertools.product([1.0, factor], repeat=len(mass)):
        h = np.array(corner)
        most = max(most, rise(h))
        for i in range(len(mass)) if rise(h) > 0.8 * most else ():
            for share in np.linspace(0.1, 0.9, 5):
                h[i] = 1 + share * (factor - 1)
                most = max(most, rise(h))
            h[i] = corner[i]
    return most


@pytest.mark.parametrize("seed", range(8))
def test_no_prior_exceeds_it_and_one_reaches_it(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = 3 + seed % 3
    distance, mass = drawn_distances(draw, size), draw.dirichlet(np.ones(size))
    goal = (np.arange(size) < draw.integers(1, size)).astype(float)
    epsilon, factor = float(0.05 + 2 * draw.random()), float(1.1 + 3 * draw.random())
    found = gp.FiniteWorld(mass, distance, prior_factor=factor).advantage(goal, epsilon)
    best = best_of_all_priors(mass, distance, goal, epsilon, factor)
    assert found.status == "exact"
    assert 0.98 * float(found.bound) <= best <= float(found.bound) * (1 + 1e-7) + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_twelve_points_are_exact_from_one_end_to_the_other(seed: int) -> None:
    draw = np.random.default_rng(100 + seed)
    distance, mass = drawn_distances(draw, 12), draw.dirichlet(np.ones(12))
    goal, epsilon = (np.arange(12) < 2 + 2 * seed).astype(float), float(0.1 + draw.random())
    factors = [1.0, 1 + 1e-9, 1.5, 2.0, 7.0, 1e3, 1e7, math.inf]
    found = [gp.FiniteWorld(mass, distance, prior_factor=k).advantage(goal, epsilon, both=True) for k in factors]
    assert all(bracket.status == "exact" for bracket in found)
    bounds = [float(bracket.bound) for bracket in found]
    assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(bounds))
    assert bounds[1] == pytest.approx(bounds[0], rel=1e-6)
    across = float(np.max(shortest_paths(distance)[np.ix_(goal > 0, goal == 0)]))
    assert bounds[-1] == pytest.approx(math.tanh(epsilon * across / 4), rel=1e-12)
    assert bounds[-2] == pytest.approx(bounds[-1], rel=1e-3)


def test_limits_are_kept_and_used_up() -> None:
    draw = np.random.default_rng(7)
    distance, mass = drawn_distances(draw, 12), draw.dirichlet(np.ones(12))
    goal = (np.arange(12) < 4).astype(float)
    wrong = gp.FiniteWorld(mass, distance, prior_factor=2.0)
    epsilon = wrong.epsilon(goal, advantage=0.1)
    assert 0.1 * (1 - 1e-8) <= float(wrong.advantage(goal, epsilon).bound) <= 0.1
    declared = gp.FiniteWorld(mass, distance)
    assert declared.largest_prior_factor(goal, epsilon=epsilon, advantage=0.1) in (1.999, 2.0)
    assert declared.largest_prior_factor(goal, epsilon=50.0, advantage=0.1) == 0.0
    most = float(wrong.posterior(goal, 0.5).bound)
    assert wrong.epsilon(goal, posterior=most) == pytest.approx(0.5, rel=1e-8)


def test_the_corners_are_all_there_and_are_corners() -> None:
    """Their number is known where nothing ties; tight pairs hold all values together, and none is exceeded."""
    draw = np.random.default_rng(3)
    for inside, outside in ((1, 6), (3, 4), (5, 5)):
        table = (
            drawn_distances(np.random.default_rng(0), inside + outside) + draw.random((inside + outside,) * 2) * 1e-3
        )
        distance = table[:inside, inside:]
        found = corners_of(distance)
        assert found is not None
        assert len(found.inside) == math.comb(inside + outside - 2, inside - 1) == corner_count(distance)
        slack = distance - found.inside[:, :, None] + found.outside[:, None, :]
        assert np.all(slack > -1e-9)
        assert np.all(np.sum(slack < 1e-9, axis=(1, 2)) == inside + outside - 1)


def test_values_that_move_together_are_one() -> None:
    """On a line the corners are the tents: one for each correct value, however many wrong ones there are."""
    x = np.arange(200.0)
    inside = (x >= 90) & (x <= 110)
    distance = np.abs(x[:, None] - x[None])
    assert corner_count(distance[np.ix_(inside, ~inside)]) == 21
    assert corner_count(np.ones((30, 50))) == 1


def test_one_attribute_and_several_use_it() -> None:
    city = gp.Attribute("city", prior=gp.categorical({"a": 0.2, "b": 0.3, "c": 0.5}))
    age = gp.Attribute("age", prior=gp.empirical([20, 30, 40, 50]))
    for goal in (gp.exactly(city) & gp.within(age, 10), gp.exactly(city) | gp.within(age, 5)):
        for norm in ("linf", "l1"):
            attack = gp.Attack(goal, at={"city": "a", "age": 30}, norm=norm, prior_factor=1.5)
            assert attack.advantage(0.2, both=True).status == "exact"
    worst = gp.Attack(gp.within(age, 10), prior_factor=2).advantage(0.05)
    stated = [gp.Attack(gp.within(age, 10), at={"age": t}, prior_factor=2).advantage(0.05) for t in (20, 30, 40, 50)]
    assert worst.status == "exact"
    assert float(worst.bound) >= max(float(b.bound) for b in stated) * (1 - 1e-12)
