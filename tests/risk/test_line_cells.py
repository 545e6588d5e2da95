"""Certified cells against the exact sweep: a threshold written as a filter's outcome is the same distance.

Goals lie anywhere, in the far tails too, where 1 − P(x) has no digits left.
"""

from __future__ import annotations

import numpy as np
import pytest

import guessproof as gp

PRIORS = {
    "normal": gp.normal(1, 2),
    "laplace": gp.laplace(0.5, 1.5),
    "exponential": gp.exponential(2),
    "uniform": gp.uniform(-3, 5),
    "truncated": gp.normal(1, 2).given(12, 30),
}


@pytest.mark.parametrize("seed", [1, 4, 6])
@pytest.mark.parametrize("name", PRIORS)
def test_cells_hold_the_exact_answer(name: str, seed: int) -> None:
    prior, rng = PRIORS[name], np.random.default_rng([17, seed])
    low, high = (float(q) for q in prior.quantile([0.02, 0.98]))
    width = high - low
    start, end = prior.support
    cut = float(low + width * rng.uniform(0, 1))
    reach = 6.0 if seed % 2 else 0.6  # every other goal is in a far tail
    middle = float(np.clip(0.5 * (low + high) + width * reach * rng.choice([-1, 1]), start + 0.1, end - 0.1))
    radius = float(width * 10 ** rng.uniform(-1.5, -0.3))
    goals = [(middle - radius, middle + radius)]
    if seed >= 6:  # everything beyond a point is one cell without an end
        goals = [(middle, np.inf)] if rng.random() < 0.5 else [(-np.inf, middle)]
    elif rng.random() < 0.5:
        goals.append((middle + 2 * radius, middle + 3 * radius))
    epsilon = float(10 ** rng.uniform(-1.5, 1.2) / width)
    jump = float(10 ** rng.uniform(-1, 1) / epsilon)
    slope = gp.Absolute()
    exact, cells = (
        gp.Attack(gp.inside(gp.Attribute("x", prior=prior, metric=jump * metric + slope), *goals))
        for metric in (gp.Threshold(cut), gp.Outcome((-1e9, cut)))
    )
    for side, sign in (("upper", 1), ("lower", -1)):
        truth, found = (a.posterior(epsilon, side=side) for a in (exact, cells))
        size = 1e-7 * abs(truth.bound)
        assert sign * found.attack <= sign * truth.bound + size, (goals, cut, epsilon, jump, truth, found)
        assert sign * truth.attack <= sign * found.bound + size, (goals, cut, epsilon, jump, truth, found)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["normal", "laplace"])
def test_a_filter_anywhere_is_a_world_of_two(name: str, seed: int) -> None:
    """Which side of a filter a value is on is all that is seen: the belief follows from four masses, in tails too."""
    prior, rng = PRIORS[name], np.random.default_rng([29, seed])
    ends = np.sort(1 + rng.choice([-1, 1]) * rng.uniform(0, 14, 2))
    passed = (float(ends[0]), float(ends[1]))
    centre = float(rng.uniform(*passed)) if seed % 2 else float(rng.uniform(-14, 14))
    goal = (centre - float(rng.uniform(0.1, 3)), centre + float(rng.uniform(0.1, 3)))
    if seed % 4 == 1:
        goal = passed
    epsilon = float(rng.uniform(0.5, 25))
    both = max(passed[0], goal[0]), min(passed[1], goal[1])
    mass = [float(prior.mass(a, b)) for a, b in (goal, both if both[0] < both[1] else (0.0, 0.0), passed)]
    found = gp.Attack(gp.inside(gp.Attribute("x", prior=prior, metric=gp.Outcome(passed)), goal)).posterior(epsilon)
    weight = [np.exp(s * epsilon) for s in (1, -1)]
    truth = max((mass[1] * w + mass[0] - mass[1]) / (mass[2] * w + 1 - mass[2]) for w in weight)
    assert found.attack <= truth * (1 + 1e-6)
    assert found.bound >= truth * (1 - 1e-9), (passed, goal, epsilon, truth, found)
