"""The exact engine as the judges use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from guessproof.papers.laud_pankova_examples import SALARY_MEAN, SALARY_SD
from guessproof.risk import Attack, Bracket, FiniteWorld, largest_epsilon
from guessproof.world import Array, Attribute, categorical, exactly, inside, normal, within

SALARY = normal(mean=SALARY_MEAN, sd=SALARY_SD)


def bound_of(bracket: Bracket) -> float:
    """What is proven not to be exceeded."""
    return float(np.asarray(bracket.bound))


def reached_by(bracket: Bracket) -> float:
    """What some release attains."""
    return float(np.asarray(bracket.attack))


def two_values(p: float) -> Attack:
    """Two values at distance 1, the true one with prior p: ordinary differential privacy."""
    secret = Attribute("secret", prior=categorical({"yes": p, "no": 1 - p}))
    return Attack(exactly(secret), at={"secret": "yes"})


def interval(prior: Any, low: float, high: float) -> Attack:
    """A real attribute, distance |x − x'|, and a fixed interval of correct guesses."""
    return Attack(inside(Attribute("x", prior=prior), (low, high)))


def salary(at: float | None = 2000.0) -> Attack:
    """[LP] §6.2: a salary within 100; without `at`, for the worst true salary."""
    goal = within(Attribute("salary", prior=SALARY), 100.0)
    return Attack(goal, at=None if at is None else {"salary": at})


def line_world(values: Sequence[float], weights: Sequence[float]) -> FiniteWorld:
    """Atoms on the line."""
    points = np.asarray(values, dtype=float)
    return FiniteWorld(prior=weights, distance=np.abs(points[:, None] - points))


def square_world(values: Sequence[float], weights: Sequence[float]) -> tuple[FiniteWorld, Array, Array]:
    """Two independent attributes with the same atoms, ℓ∞; the world and the two coordinates of its points."""
    points, mass = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)
    x, y = np.repeat(points, points.size), np.tile(points, points.size)
    distance = np.maximum(np.abs(x[:, None] - x), np.abs(y[:, None] - y))
    return FiniteWorld(prior=np.outer(mass, mass).ravel(), distance=distance), x, y


def three_worlds(p: float, q: float) -> FiniteWorld:
    """In the data with a value in S, in the data with another, not in the data: 2 steps, 1 step, 1 step apart."""
    return FiniteWorld(prior=[p * q, p * (1 - q), 1 - p], distance=[[0, 2, 1], [2, 0, 1], [1, 1, 0]])


def ball(values: Sequence[float], weights: Sequence[float], at: float = 0.0) -> Callable[[float], float]:
    """g(z) of a discrete prior."""
    gaps, mass = np.abs(np.asarray(values, dtype=float) - at), np.asarray(weights, dtype=float)
    return lambda z: float(mass[gaps <= z * (1 + 1e-12)].sum())


def solve_posterior(posterior: Callable[[float], float], prior: float, advantage: float) -> float:
    """The largest ε at which a published bound on the posterior stays within prior + advantage."""

    def gained(epsilon: Any) -> Any:
        return np.vectorize(lambda e: max(posterior(float(e)) - prior, 0.0))(epsilon)

    return float(largest_epsilon(gained, np.asarray(advantage), relative=1e-10))
