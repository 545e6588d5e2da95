"""Drawn attacks on two numbers, judged by a grid of our own: a program over points, and sums on a fine grid.

Nothing of the engines is used here: distances, priors (from SciPy) and goals are written out again.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog
from scipy.sparse import coo_array

import guessproof as gp

DRAWN = 14  # 200 were run by hand
POINTS, FINE = 9, 200
POWER = {"l1": 1.0, "l2": 2.0, "l3": 3.0, "linf": np.inf}


@dataclass(frozen=True)
class Drawn:
    priors: list[Any]  # of SciPy
    attributes: list[gp.Attribute]
    shape: str
    radius: tuple[float, float]
    t: tuple[float, float]
    norm: str
    epsilon: float
    side: str

    @property
    def attack(self) -> gp.Attack:
        x, y = self.attributes
        one, two = gp.within(x, self.radius[0]), gp.within(y, self.radius[1])
        goal = {"and": one & two, "or": one | two, "but": one & ~two, "near": gp.near((x, y), self.radius[0], by="l2")}
        return gp.Attack(goal[self.shape], at=dict(zip("xy", self.t, strict=True)), norm=self.norm)

    def meets(self, x: Any, y: Any) -> Any:
        one, two = np.abs(x - self.t[0]) <= self.radius[0], np.abs(y - self.t[1]) <= self.radius[1]
        if self.shape == "near":
            return np.hypot(x - self.t[0], y - self.t[1]) <= self.radius[0]
        return one & two if self.shape == "and" else one | two if self.shape == "or" else one & ~two

    def edges(self, count: int) -> list[Any]:
        """Edges of cells between the priors' quantiles of nearly nothing, the ends of straight goals among them."""
        found = []
        for prior, t, r in zip(self.priors, self.t, self.radius, strict=True):
            low, high = prior.ppf([2e-6, 1 - 2e-6])
            ends = [] if self.shape == "near" else [e for e in (t - r, t + r) if low < e < high]
            found.append(np.unique([*np.linspace(low, high, count + 1), *ends]))
        return found

    def cells(self, edges: list[Any]) -> tuple[Any, Any, Any]:
        """Middles, masses and half widths of all cells."""
        middle = np.meshgrid(*(0.5 * (e[1:] + e[:-1]) for e in edges), indexing="ij")
        mass = np.meshgrid(*(np.diff(p.cdf(e)) for p, e in zip(self.priors, edges, strict=True)), indexing="ij")
        half = np.meshgrid(*(np.diff(e) / 2 for e in edges), indexing="ij")
        return np.stack([m.ravel() for m in middle]), (mass[0] * mass[1]).ravel(), np.stack([h.ravel() for h in half])

    def way(self, a: Any, b: Any) -> Any:
        return np.linalg.norm(np.stack([np.abs(a[0] - b[0]), np.abs(a[1] - b[1])]), ord=POWER[self.norm], axis=0)


def drawn(seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    ours, theirs, slowest = [], [], np.inf
    for name in "xy":
        kind, s = rng.choice(["normal", "laplace", "uniform", "exponential"]), float(rng.uniform(0.7, 2.5))
        ours.append(
            {
                "normal": lambda s=s: gp.normal(0, s),
                "laplace": lambda s=s: gp.laplace(0, s / 1.5),
                "uniform": lambda s=s: gp.uniform(-2 * s, 2 * s),
                "exponential": lambda s=s: gp.exponential(s),
            }[kind]()
        )
        theirs.append(
            {
                "normal": stats.norm(0, s),
                "laplace": stats.laplace(0, s / 1.5),
                "uniform": stats.uniform(-2 * s, 4 * s),
                "exponential": stats.expon(scale=s),
            }[kind]
        )
        ours[-1] = gp.Attribute(name, ours[-1])
        slowest = min(slowest, {"laplace": 1.5 / s, "exponential": 1 / s}.get(kind, np.inf))
    t = tuple(float(p.ppf(rng.uniform(0.15, 0.85))) for p in theirs)
    radius = tuple(float(rng.uniform(0.35, 0.9) * p.std()) for p in theirs)
    shape, norm = str(rng.choice(["and", "or", "but", "near"])), str(rng.choice(["l1", "l2", "l3", "linf"]))
    # Tails that fall as slowly as a likelihood climbs lie beyond any grid.
    epsilon, side = float(rng.uniform(0.1, min(0.8, 0.6 * slowest))), str(rng.choice(["upper", "lower"]))
    return Drawn(theirs, ours, shape, radius, t, norm, epsilon, side)


def program(inside: Any, outside: Any, cost: Any) -> tuple[float, Any]:
    """The largest Σ inside·M : Σ outside·M of all M that are private among the points, and M."""
    n = inside.size
    rows, cols = np.nonzero(~np.eye(n, dtype=bool))
    index, ones = np.arange(rows.size), np.ones(rows.size)
    entries = np.concatenate([np.exp(-cost[rows, cols]), -ones])
    table = coo_array((entries, (np.tile(index, 2), np.concatenate([rows, cols]))), shape=(rows.size, n)).tocsr()
    found = linprog(outside, A_ub=table, b_ub=np.zeros(rows.size), A_eq=inside[None, :], b_eq=[1.0], method="highs-ds")
    assert found.status == 0
    return float(1 / (outside @ found.x)), np.asarray(found.x)


def odds_between(case: Drawn) -> tuple[float, float]:
    """Odds of what rises that are reached by a likelihood of this grid, and that no private one exceeds."""
    edges = case.edges(POINTS)
    places, mass, half = case.cells(edges)
    half = case.way(half, np.zeros((2, 1)))
    cost = case.epsilon * case.way(places[:, :, None], places[:, None, :])
    fine, weight, _ = case.cells(case.edges(FINE))
    right = case.meets(*fine) if case.side == "upper" else ~case.meets(*fine)
    home = [np.clip(np.searchsorted(e, f) - 1, 0, e.size - 2) for e, f in zip(edges, fine, strict=True)]
    cell = home[0] * (edges[1].size - 1) + home[1]
    correct, wrong = (np.bincount(cell, weight * side, mass.size) for side in (right, ~right))
    _, m = program(correct, wrong, cost)
    log_l = np.full(weight.size, -np.inf)
    for place, height in zip(places.T, np.log(np.maximum(m, 1e-300)), strict=True):
        log_l = np.maximum(log_l, height - case.epsilon * case.way(place[:, None], fine))
    likely = weight * np.exp(log_l)
    reached = float(likely[right].sum() / likely[~right].sum())
    # In a cell no likelihood is farther from that of its middle than the way there.
    most, _ = program(correct * np.exp(case.epsilon * half), wrong * np.exp(-case.epsilon * half), cost)
    return reached, most


def odds(case: Drawn, belief: float) -> float:
    right, wrong = (belief, 1 - belief) if case.side == "upper" else (1 - belief, belief)
    return right / wrong if wrong else np.inf


def check(seed: int) -> tuple[float, float]:
    case = drawn(seed)
    found = case.attack.posterior(case.epsilon, side=case.side)
    attack, bound = odds(case, float(found.attack)), odds(case, float(found.bound))
    reached, most = odds_between(case)
    assert attack <= bound * (1 + 1e-9)
    assert bound >= reached * (1 - 0.02), (case, bound, reached)  # 2 %: what the fine grid and cut tails miss
    assert attack <= most * (1 + 0.02), (case, attack, most)
    return bound / reached, most / attack


@pytest.mark.parametrize("seed", range(DRAWN))
def test_brackets_agree_with_a_grid_of_our_own(seed: int) -> None:
    check(seed)
