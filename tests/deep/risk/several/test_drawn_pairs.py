"""Two hundred drawn attacks on two numbers, judged by a grid of our own: a program over points, sums on a fine grid.

Nothing of the engines is used here: distances, priors (from SciPy), goals and formulas are written out again.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog
from scipy.sparse import coo_array

import guessproof as gp

DRAWN, GROUPS = 200, 20
POINTS, FINE = 8, 160
NEAR = 5.0  # neighbours that are compared on the grid of points are at most so many times its steps apart, squared
POWER = {"l1": 1.0, "l2": 2.0, "l3": 3.0, "linf": np.inf}
FORMULAS = {
    "product": lambda x, y: x * y,
    "ratio": lambda x, y: x / y,
    "sum": lambda x, y: x + 2 * y,
    "difference": lambda x, y: x - y,
    "square": lambda x, y: x * x + y,
}
PLAIN = ("and", "or", "but", "neither", "near l1", "near l2", "near linf")
SHAPES = (*PLAIN, *FORMULAS, "known total")


@dataclass(frozen=True)
class Drawn:
    priors: list[Any]  # of SciPy
    attributes: list[gp.Attribute]
    shape: str
    share: tuple[float, float]  # of the spread of what is guessed
    t: tuple[float, float]
    norm: str
    epsilon: float
    side: str

    @property
    def attack(self) -> gp.Attack:
        x, y = self.attributes
        at = {"x": self.t[0], "y": self.t[1]}
        if self.shape in FORMULAS:
            return gp.Attack(gp.within(FORMULAS[self.shape](x, y), self.radius[0]), at=at, norm=self.norm)
        one, two = gp.within(x, self.radius[0]), gp.within(y, self.radius[1])
        if self.shape == "known total":
            return gp.Attack(one, at={"x": self.t[0]}, norm=self.norm, knows={x + y: self.known})
        goals = {"and": one & two, "or": one | two, "but": one & ~two, "neither": ~(one | two)}
        if self.shape.startswith("near"):
            return gp.Attack(gp.near((x, y), self.radius[0], by=self.shape.split()[1]), at=at, norm=self.norm)
        return gp.Attack(goals[self.shape], at=at, norm=self.norm)

    @cached_property
    def radius(self) -> tuple[float, float]:
        if self.shape not in FORMULAS:
            return self.share[0] * self.priors[0].std(), self.share[1] * self.priors[1].std()
        x, y = np.meshgrid(*(p.ppf(np.linspace(0.02, 0.98, 60)) for p in self.priors), indexing="ij")
        return self.share[0] * float(np.std(FORMULAS[self.shape](x, y))), 0.0

    @property
    def known(self) -> tuple[float, float]:
        middle, half = sum(self.t), 0.8 * float(np.hypot(*(p.std() for p in self.priors)))
        return middle - half, middle + half

    def meets(self, x: Any, y: Any) -> Any:
        if self.shape in FORMULAS:
            value = FORMULAS[self.shape]
            return np.abs(value(x, y) - value(*self.t)) <= self.radius[0]
        gaps = np.abs(x - self.t[0]), np.abs(y - self.t[1])
        if self.shape.startswith("near"):
            return np.linalg.norm(np.stack(gaps), ord=POWER[self.shape.split()[1]], axis=0) <= self.radius[0]
        one, two = gaps[0] <= self.radius[0], gaps[1] <= self.radius[1]
        told = {"and": one & two, "or": one | two, "but": one & ~two, "neither": ~(one | two), "known total": one}
        return told[self.shape]

    def possible(self, x: Any, y: Any) -> Any:
        """What the attacker has not ruled out."""
        return (self.known[0] <= x + y) & (x + y <= self.known[1]) if self.shape == "known total" else x == x

    def edges(self, count: int) -> list[Any]:
        """Edges of cells between the priors' quantiles of nearly nothing, the ends of straight goals among them."""
        found = []
        for i, (prior, t) in enumerate(zip(self.priors, self.t, strict=True)):
            low, high = prior.ppf([2e-6, 1 - 2e-6])
            straight = self.shape in ("and", "or", "but", "neither", "near linf", "known total")
            r = self.radius[0 if self.shape == "near linf" else i]
            ends = [e for e in (t - r, t + r) if low < e < high] if straight else []
            even = np.linspace(low, high, count // 2 + 1), prior.ppf(np.linspace(2e-6, 1 - 2e-6, count // 2 + 1))
            found.append(np.unique([*even[0], *even[1], *ends]))  # as dense where much lies as far out
        return found

    def cells(self, edges: list[Any]) -> tuple[Any, Any, Any]:
        """Middles, masses and half widths of all cells."""
        middle = np.meshgrid(*(0.5 * (e[1:] + e[:-1]) for e in edges), indexing="ij")
        mass = np.meshgrid(*(np.diff(p.cdf(e)) for p, e in zip(self.priors, edges, strict=True)), indexing="ij")
        half = np.meshgrid(*(np.diff(e) / 2 for e in edges), indexing="ij")
        return np.stack([m.ravel() for m in middle]), (mass[0] * mass[1]).ravel(), np.stack([h.ravel() for h in half])

    def way(self, a: Any, b: Any) -> Any:
        gaps = [np.abs(a[i] - b[i]) for i in (0, 1)]
        power = POWER[self.norm]
        return np.maximum(*gaps) if np.isinf(power) else (gaps[0] ** power + gaps[1] ** power) ** (1 / power)


def drawn(seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]  # each as often as any other
    ours, theirs, slowest = [], [], np.inf
    for name in "xy":
        kind, s = rng.choice(["normal", "laplace", "uniform", "exponential"]), float(rng.uniform(0.7, 2.5))
        if shape == "ratio" and name == "y" and kind == "exponential":
            kind = "normal"  # nothing is divided by numbers near 0
        middle = 6 * s if shape in FORMULAS else 0.0
        ours.append(
            {
                "normal": lambda s=s, m=middle: gp.normal(m, s),
                "laplace": lambda s=s, m=middle: gp.laplace(m, s / 1.5),
                "uniform": lambda s=s, m=middle: gp.uniform(m - 2 * s, m + 2 * s),
                "exponential": lambda s=s: gp.exponential(s),
            }[kind]()
        )
        theirs.append(
            {
                "normal": stats.norm(middle, s),
                "laplace": stats.laplace(middle, s / 1.5),
                "uniform": stats.uniform(middle - 2 * s, 4 * s),
                "exponential": stats.expon(scale=s),
            }[kind]
        )
        ours[-1] = gp.Attribute(name, ours[-1])
        slowest = min(slowest, {"laplace": 1.5 / s, "exponential": 1 / s}.get(kind, np.inf))
    t = tuple(float(p.ppf(rng.uniform(0.15, 0.85))) for p in theirs)
    share = tuple(float(rng.uniform(0.35, 0.9)) for _ in "xy")
    norm = str(rng.choice(list(POWER)))
    # Tails that fall as slowly as a likelihood climbs lie beyond any grid.
    epsilon, side = float(rng.uniform(0.1, min(0.8, 0.6 * slowest))), str(rng.choice(["upper", "lower"]))
    return Drawn(theirs, ours, shape, share, t, norm, epsilon, side)


def program(inside: Any, outside: Any, cost: Any, near: Any) -> tuple[float, Any]:
    """The largest Σ inside·M : Σ outside·M of all M that are private among near points, and M."""
    n = inside.size
    rows, cols = np.nonzero(near & ~np.eye(n, dtype=bool))
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
    weight = weight * case.possible(*fine)
    right = case.meets(*fine) if case.side == "upper" else ~case.meets(*fine)
    home = [np.clip(np.searchsorted(e, f) - 1, 0, e.size - 2) for e, f in zip(edges, fine, strict=True)]
    cell = home[0] * (edges[1].size - 1) + home[1]
    correct, wrong = (np.bincount(cell, weight * side, mass.size) for side in (right, ~right))
    # Leaving far pairs out allows more likelihoods, not fewer.
    place = np.stack(np.unravel_index(np.arange(mass.size), [e.size - 1 for e in edges]))
    near = np.sum((place[:, :, None] - place[:, None, :]) ** 2, axis=0) <= NEAR
    _, m = program(correct, wrong, cost, near)
    log_l = np.full(weight.size, -np.inf)
    for spot, height in zip(places.T, np.log(np.maximum(m, 1e-300)), strict=True):
        log_l = np.maximum(log_l, height - case.epsilon * case.way(spot[:, None], fine))
    likely = weight * np.exp(log_l)
    reached = float(likely[right].sum() / likely[~right].sum())
    # In a cell no likelihood is farther from that of its middle than the way there.
    most, _ = program(correct * np.exp(case.epsilon * half), wrong * np.exp(-case.epsilon * half), cost, near)
    return reached, most


def odds(case: Drawn, belief: float) -> float:
    right, wrong = (belief, 1 - belief) if case.side == "upper" else (1 - belief, belief)
    return right / wrong if wrong else np.inf


def check(seed: int) -> tuple[float, float]:
    case = drawn(seed)
    found = case.attack.posterior(case.epsilon, side=case.side)
    fine, weight, _ = case.cells(case.edges(FINE))
    weight = weight * case.possible(*fine)
    before = float(weight[case.meets(*fine)].sum() / weight.sum())
    assert case.attack.prior == pytest.approx(before, abs=0.005), (seed, case)
    attack, bound = odds(case, float(found.attack)), odds(case, float(found.bound))
    reached, most = odds_between(case)
    assert attack <= bound * (1 + 1e-9)
    assert bound >= reached * (1 - 0.02), (seed, case, bound, reached)  # 2 %: what the fine grid and cut tails miss
    assert attack <= most * (1 + 0.02), (seed, case, attack, most)
    return bound / reached, most / attack


@pytest.mark.parametrize("group", range(GROUPS))
def test_brackets_agree_with_a_grid_of_our_own(group: int) -> None:
    for seed in range(group, DRAWN, GROUPS):
        check(seed)


def test_every_kind_of_goal_rises_and_falls_among_them() -> None:
    count = Counter((case.shape, case.side) for case in map(drawn, range(DRAWN)))
    assert all(count[shape, side] >= 3 for shape in SHAPES for side in ("upper", "lower")), count
