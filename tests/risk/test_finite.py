"""Finite worlds: trees and programs agree with the recursion along a line, and with every likelihood that was tried."""

from __future__ import annotations

import numpy as np
import pytest

import guessproof as gp


@pytest.mark.parametrize("points", [3, 12, 60])
@pytest.mark.parametrize("epsilon", [1e-5, 0.02, 1.0, 30.0])
def test_a_world_on_a_line_has_the_answer_of_the_line(points: int, epsilon: float) -> None:
    rng = np.random.default_rng(points)
    for _ in range(4):
        x, weights = np.sort(rng.normal(size=points)), rng.dirichlet(np.ones(points))
        low, high = sorted(rng.normal(size=2))
        goal = (x >= low) & (x <= high)
        if not 0 < goal.sum() < points:
            continue
        world = gp.FiniteWorld(weights, np.abs(x[:, None] - x))
        prior = gp.categorical(dict(zip(x.tolist(), weights.tolist(), strict=True)))
        line = gp.Attack(gp.inside(gp.Attribute("x", prior=prior, metric=gp.Absolute()), (low, high)))
        for side in ("upper", "lower"):
            found, other = world.posterior(goal, epsilon, side), line.posterior(epsilon, side)
            assert float(found.bound) == pytest.approx(float(other.bound), rel=1e-7)
            assert float(found.attack) == pytest.approx(float(other.attack), rel=1e-7)


def test_no_likelihood_and_no_prior_within_the_factor_moves_a_belief_further() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        points = rng.normal(size=(6, 2))
        apart = np.abs(points[:, None] - points).max(axis=-1)
        weights, goal, epsilon = rng.dirichlet(np.ones(6)), rng.permutation([1, 1, 0, 0, 0, 0.5]), rng.uniform(0.1, 2)
        declared, wrong = gp.FiniteWorld(weights, apart), gp.FiniteWorld(weights, apart, prior_factor=2.0)
        bounds = [world.advantage(goal, epsilon, both=True) for world in (declared, wrong)]
        best = [0.0, 0.0]
        for _ in range(500):
            level = np.min(rng.normal(0, 2, 6) + epsilon * apart, axis=1)
            for i, h in enumerate((np.ones(6), rng.choice([1.0, 2.0], 6))):
                mass = h * weights
                likelihood = mass * np.exp(level)
                moved = likelihood @ goal / likelihood.sum() - mass @ goal / mass.sum()
                best[i] = max(best[i], abs(moved))
        assert all(reached <= found.bound for reached, found in zip(best, bounds, strict=True))
        assert bounds[1].attack >= bounds[0].attack
        assert bounds[1].bound <= 3 * bounds[1].attack
