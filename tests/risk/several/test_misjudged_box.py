"""AND of intervals under a prior that may be wrong: no attack exceeds the bound, and it is near the best one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.auditing.wrong_priors import worst_beliefs

PRIORS = gp.normal(0, 2), gp.normal(0, 3)
X, Y = (gp.Attribute(name, prior=prior) for name, prior in zip("xy", PRIORS, strict=True))
GOAL = gp.within(X, 1) & gp.within(Y, 1)


def advantage(factor: float, epsilon: float, at: dict[str, float]) -> Any:
    return gp.Attack(GOAL, at=at, prior_factor=factor).advantage(epsilon)


def odds(p: float) -> float:
    return p / (1 - p)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_within_a_tenth_in_odds_of_the_best_attack(epsilon: float) -> None:
    at = {"x": 0.0, "y": 0.0}
    found, before = advantage(1.5, epsilon, at), gp.Attack(GOAL, at=at).prior
    assert float(found.attack) <= float(found.bound)
    assert odds(before + float(found.bound)) <= 1.1 * odds(before + float(found.attack))
    declared = gp.Attack(GOAL, at=at).advantage(epsilon)
    assert float(declared.attack) < float(found.attack)


def test_it_meets_the_declared_prior_and_grows_in_the_factor() -> None:
    at = {"x": 0.5, "y": -1.0}
    declared = float(gp.Attack(GOAL, at=at).advantage(0.5).bound)
    found = [float(advantage(factor, 0.5, at).bound) for factor in (1 + 1e-9, 1.2, 2.0, 10.0, 1e6)]
    assert found[0] == pytest.approx(declared, rel=1e-6)
    assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("seed", range(3))
def test_no_likelihood_with_its_worst_prior_exceeds_it(seed: int) -> None:
    """Signed distances with any peaks and offsets on a fine grid, each with the prior that favours it most."""
    draw = np.random.default_rng(seed)
    at = {"x": float(draw.normal()), "y": float(draw.normal())}
    epsilon, factor = float(0.1 + draw.random()), float(1.2 + 2 * draw.random())
    bound = float(advantage(factor, epsilon, at).bound)
    x, y = (np.asarray(prior.quantile((np.arange(301) + 0.5) / 301)) for prior in PRIORS)
    fits = (np.abs(x - at["x"]) <= 1)[:, None] & (np.abs(y - at["y"]) <= 1)
    weights = np.full(fits.size, 1 / fits.size)
    best = 0.0
    for _ in range(25):
        c = [at[n] + draw.uniform(-1, 1) for n in ("x", "y")]
        b = draw.uniform(0, 1.5, 2) * draw.integers(0, 2)
        signed = np.minimum(b[0] - np.abs(x - c[0])[:, None], b[1] - np.abs(y - c[1]))
        signed = np.minimum(signed, draw.choice([0.0, 9.0]))
        told = weights * np.exp(epsilon * signed).ravel()
        after, before = worst_beliefs(told, weights, fits.ravel().astype(float), factor)[0]
        best = max(best, after - before)
    assert 0.5 * bound < best <= bound * (1 + 0.02)  # the grid's own error


def test_plans_of_limits_use_it() -> None:
    at = {"x": 0.0, "y": 0.0}
    strict = gp.Attack(GOAL, at=at, prior_factor=1.5)
    epsilon = strict.epsilon(advantage=0.1)
    assert float(strict.advantage(epsilon).bound) <= 0.1
    assert gp.Attack(GOAL, at=at).largest_prior_factor(epsilon=epsilon, advantage=0.1) == pytest.approx(1.5, rel=2e-3)
