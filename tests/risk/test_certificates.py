"""A linear program's bound is recomputed from its dual: a solver that errs can only make it wider."""

from __future__ import annotations

import numpy as np
import pytest

from guessproof.risk.finite import linear, worlds


def world(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    points = rng.normal(size=(n, 2))
    distance = np.abs(points[:, None] - points[None]).max(axis=-1) * rng.uniform(0.05, 3)
    goal = np.zeros(n)
    goal[: int(rng.integers(1, n))] = 1
    return rng.dirichlet(np.ones(n)), goal, distance


@pytest.mark.parametrize("spoil", ["random", "zero", "twice", "noise"])
def test_a_solver_that_errs_never_makes_a_bound_too_small(monkeypatch: pytest.MonkeyPatch, spoil: str) -> None:
    honest = linear.solve_edges
    monkeypatch.setattr(worlds, "EXACT_UP_TO", 0)  # so that every world is solved by the program
    rng = np.random.default_rng(3)

    def wrong(*args, **more):  # type: ignore[no-untyped-def]
        m, y = honest(*args, **more)
        spoiled = {
            "random": lambda: (rng.uniform(0.1, 2, m.shape), rng.uniform(0, 1, y.shape)),
            "zero": lambda: (np.ones_like(m), np.zeros_like(y)),
            "twice": lambda: (m, 2 * y),
            "noise": lambda: (m * rng.uniform(0.9, 1.1, m.shape), y * rng.uniform(0.9, 1.1, y.shape)),
        }
        return spoiled[spoil]()

    for seed in range(60):
        mass, goal, distance = world(seed)
        attack, bound = worlds.solve(mass, goal, distance)[:2]
        monkeypatch.setattr(linear, "solve_edges", wrong)
        worse_attack, worse_bound = worlds.solve(mass, goal, distance)[:2]
        monkeypatch.setattr(linear, "solve_edges", honest)
        assert worse_bound >= attack - 1e-12
        assert worse_attack <= bound + 1e-12


def test_the_attack_is_a_private_likelihood() -> None:
    for seed in range(60):
        mass, goal, distance = world(seed)
        attack, _, log_l = worlds.solve(mass, goal, distance)
        assert np.all(log_l[:, None] - log_l[None] <= distance + 1e-12)
        likelihood = np.exp(log_l) * mass
        odds = np.log(likelihood @ goal) - np.log(likelihood @ (1 - goal))
        base = np.log(mass @ goal) - np.log(mass @ (1 - goal))
        assert odds - base == pytest.approx(attack, rel=1e-6, abs=1e-9)
