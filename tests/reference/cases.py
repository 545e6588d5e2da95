"""Questions about one real attribute as plain numbers, to be put to references and package alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from reference import tent

DATA = Path(__file__).parent.parent / "data"
KINDS = ("normal", "uniform", "exponential", "laplace", "histogram", "empirical")


@dataclass(frozen=True)
class Case:
    """Prior, goal |x − true_value| ≤ radius, and ε per unit."""

    kind: str
    parameters: tuple[Any, ...]
    true_value: float
    radius: float
    epsilon: float

    @property
    def low(self) -> float:
        return self.true_value - self.radius

    @property
    def high(self) -> float:
        return self.true_value + self.radius

    def prior(self) -> tent.Prior:
        return reference_prior(self.kind, self.parameters)

    def probability(self) -> float:
        return float(tent.probability(self.prior(), self.low, self.high))

    def posterior(self, side: str) -> float:
        return float(tent.posterior(self.prior(), self.low, self.high, self.epsilon, side))


def reference_prior(kind: str, parameters: tuple[Any, ...]) -> tent.Prior:
    match kind:
        case "normal":
            return tent.Normal(*parameters)
        case "uniform":
            return tent.Uniform(*parameters)
        case "exponential":
            return tent.Exponential(*parameters)
        case "laplace":
            return tent.Laplace(*parameters)
        case "histogram":
            return tent.Histogram(*parameters)
        case "empirical":
            return tent.Atoms(parameters[0], [1.0] * len(parameters[0]))
    raise ValueError(kind)


def random_parameters(kind: str, rng: Generator) -> tuple[Any, ...]:
    match kind:
        case "normal" | "laplace":
            return float(rng.uniform(-3, 3)), float(rng.uniform(0.3, 4))
        case "uniform":
            low = float(rng.uniform(-5, 1))
            return low, low + float(rng.uniform(0.5, 9))
        case "exponential":
            return (float(rng.uniform(0.3, 4)),)
        case "histogram":
            cells = int(rng.integers(2, 9))
            edges = np.cumsum(rng.uniform(0.2, 2, cells + 1)) - 4
            weights = rng.uniform(0.01, 1, cells) * (rng.random(cells) < 0.85)
            weights[rng.integers(cells)] += 0.2
            weights /= weights.sum()
            return tuple(edges.tolist()), tuple(weights.tolist())
        case "empirical":
            return (tuple(np.round(rng.normal(0, 3, int(rng.integers(2, 25))), 2).tolist()),)
    raise ValueError(kind)


def random_true_value(kind: str, parameters: tuple[Any, ...], rng: Generator) -> float:
    """A value that the prior allows, drawn from it or near it."""
    match kind:
        case "normal":
            return float(rng.normal(*parameters))
        case "laplace":
            return float(rng.laplace(*parameters))
        case "uniform":
            return float(rng.uniform(*parameters))
        case "exponential":
            return float(rng.exponential(*parameters))
        case "histogram":
            edges, weights = parameters
            cell = int(rng.choice(len(weights), p=weights))
            return float(rng.uniform(edges[cell], edges[cell + 1]))
        case "empirical":
            return float(rng.choice(parameters[0]))
    raise ValueError(kind)


def random_case(kind: str, rng: Generator) -> Case:
    """A goal neither impossible nor certain, and an ε from 'nothing leaks' to 'almost everything does'."""
    while True:
        parameters = random_parameters(kind, rng)
        true_value = random_true_value(kind, parameters, rng)
        # The odd last digits: no atom, rounded to two decimals, lies on the edge of a goal.
        radius = round(float(10 ** rng.uniform(-1.5, 0.7)), 3) + 0.000371
        case = Case(kind, parameters, true_value, radius, float(10 ** rng.uniform(-3, 1.2)))
        if 1e-9 < case.probability() < 1 - 1e-9:
            return case


def random_cases(kind: str, count: int, seed: int) -> list[Case]:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    return [random_case(kind, rng) for _ in range(count)]


def golden(name: str = "exact") -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())


def golden_intervals() -> list[tuple[Case, dict[str, Any]]]:
    """The golden interval questions, histogram weights normalised."""
    return [(_golden_case(row), row) for row in golden()["interval"]]


def _golden_case(row: dict[str, Any]) -> Case:
    parameters = tuple(row["parameters"])
    if row["prior"] == "histogram":
        edges, weights = parameters
        parameters = (tuple(edges), tuple((np.array(weights) / np.sum(weights)).tolist()))
    return Case(row["prior"], parameters, row["t"], row["r"], row["eps_per_unit"])
