"""Weighted sums of log-concave numbers as one number: against quadrature, drawn likelihoods and drawn true values."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import guessproof as gp
from guessproof.world.goals import combine
from guessproof.world.sums import sum_of

DRAWN = range(6)


def drawn_prior(rng: np.random.Generator) -> Any:
    size = float(rng.uniform(0.5, 3))
    made = (
        lambda: gp.normal(float(rng.normal()), size),
        lambda: gp.uniform(-size, 2 * size),
        lambda: gp.exponential(size),
        lambda: gp.laplace(float(rng.normal()), size),
        lambda: gp.gamma(float(rng.uniform(1, 4)), size),
        lambda: gp.normal(0, size).given(-size, 2 * size),
    )
    return made[rng.integers(len(made))]()


def drawn_attack(seed: int) -> tuple[gp.Attack, float]:
    rng = np.random.default_rng(seed)
    scales = rng.uniform(0.5, 2, 2)
    x, y = (gp.Attribute(n, drawn_prior(rng), scale=float(s)) for n, s in zip("xy", scales, strict=True))
    formula = float(rng.uniform(0.5, 2)) * x + float(rng.choice([-1.5, 0.7, 1.0])) * y
    at = {a.name: float(a.prior.quantile(rng.uniform(0.1, 0.9))) for a in (x, y)}
    norm = ("l1", "l2", "linf", "l3")[rng.integers(4)]
    return gp.Attack(gp.within(formula, float(rng.uniform(0.3, 1.5))), at=at, norm=norm), float(rng.uniform(0.1, 1.5))


@pytest.mark.parametrize("seed", DRAWN)
def test_the_density_of_a_sum_is_within_its_slack(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    one, other = drawn_prior(rng), drawn_prior(rng)
    a, b = 1.0, float(rng.choice([-1.5, 0.7]))
    found = sum_of([one, other], [a, b], 2.0)
    if found is None:  # two that are no exponentials in pieces
        assert one.by_quadrature
        assert other.by_quadrature
        return
    low, high = (float(e) for e in found.quantile([0.001, 0.999]))

    def density(v: float) -> float:
        def term(x: float) -> float:
            return float(np.exp(one.log_density(x) + other.log_density((v - 2 - a * x) / b))) / abs(b)

        ends = [float(one.quantile(u)) for u in (1e-13, 0.2, 0.5, 0.8, 1 - 1e-13)]
        kinks = [(v - 2 - b * e) / a for e in (*other.support, *other.breaks) if np.isfinite(e)]
        cuts = sorted({*ends, *(k for k in (*kinks, *one.breaks) if ends[0] < k < ends[-1])})
        return sum(quad(term, c, d, epsabs=1e-13, epsrel=1e-11)[0] for c, d in itertools.pairwise(cuts))

    places = rng.uniform(low, high, 8)
    off = np.log([density(float(v)) for v in places]) - found.log_density(places)
    assert np.ptp(off) <= found.slack + 1e-9
    assert found.slack < 0.1
    assert found.mass(-np.inf, np.inf) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("seed", DRAWN)
def test_no_drawn_likelihood_exceeds_the_bound(seed: int) -> None:
    """Cones around points, tents of the sum, and the larger and smaller of such: all private, none above the bound."""
    attack, epsilon = drawn_attack(seed)
    members = attack.goal.attributes
    n = 200
    u = (np.arange(n) + 0.5) / n
    x, y = np.meshgrid(*(a.prior.quantile(u) for a in members), indexing="ij")
    goal: Any = attack.goal
    right = goal.holds([x, y], [float((attack.at or {})[a.name]) for a in members])
    rng = np.random.default_rng(seed)
    value = goal.values_at([x, y])
    weights = goal.formula.linear[1]
    dear = [abs(weights[a.name]) * a.scale for a in members]
    power = {"l1": np.inf, "l2": 2.0, "linf": 1.0, "l3": 1.5}[str(attack.norm)]
    steep = max(dear) if np.isinf(power) else sum(d**power for d in dear) ** (1 / power)
    logs = [-np.abs(value - c) / steep for c in rng.choice(value[right], 6)]
    for i in rng.choice(np.flatnonzero(right), 6):
        gaps = [np.abs(v - v.ravel()[i]) / a.scale for v, a in zip((x, y), members, strict=True)]
        logs.append(-combine(attack.norm, gaps))
    logs += [np.maximum(logs[0], logs[6]), np.maximum(logs[7], logs[8]), np.minimum(logs[1], logs[9])]
    for side, turn in (("upper", 1.0), ("lower", -1.0)):
        found = attack.posterior(epsilon, side)
        reached = [np.sum(w * right) / np.sum(w) for w in (np.exp(turn * epsilon * s) for s in logs)]
        slack = 3 / n  # of the grid
        if side == "upper":
            assert max(reached) <= float(found.bound) + slack
            assert float(found.attack) <= float(found.bound)
        else:
            assert min(reached) >= float(found.bound) - slack
    if attack.norm == "l1" and abs(dear[0] - dear[1]) < 1e-9:
        assert float(found.bound) == pytest.approx(float(found.attack), rel=0.01)


def test_by_l1_a_sum_of_any_such_numbers_is_answered_closely() -> None:
    """Bound and attack meet but for the knots; the narrow cell bracket of the plane lies between them."""
    rent = gp.Attribute("rent", gp.normal(700, 200))
    loan, extra = gp.Attribute("loan", gp.exponential(300)), gp.Attribute("extra", gp.uniform(0, 300))
    for formula, at in ((rent + loan, {"rent": 700, "loan": 300}), (rent + loan - extra, {"rent": 700, "loan": 300,
                        "extra": 100})):  # fmt: skip
        attack = gp.Attack(gp.within(formula, 50), at=at, norm="l1")
        found = attack.advantage(0.002)
        assert float(found.attack) < float(found.bound) < 1.02 * float(found.attack)
        assert attack.advantage(attack.epsilon(advantage=0.05)).bound <= 0.05


def test_no_true_value_exceeds_the_worst() -> None:
    rng = np.random.default_rng(5)
    x, y = gp.Attribute("x", gp.uniform(0, 10)), gp.Attribute("y", gp.exponential(2.0), bounds=(0, 30))
    goal = gp.within(x + y, 1)
    worst = gp.Attack(goal, norm="l1").advantage(0.3)
    found = [gp.Attack(goal, at={"x": float(t), "y": float(s)}, norm="l1").advantage(0.3)
             for t, s in zip(rng.uniform(0, 10, 5), rng.exponential(2, 5), strict=True)]  # fmt: skip
    assert max(float(f.attack) for f in found) <= float(worst.bound) < 1.05 * float(worst.attack)
    epsilon = gp.Attack(goal, norm="l1").epsilon(advantage=0.1)
    assert float(gp.Attack(goal, norm="l1").advantage(epsilon).bound) <= 0.1


def test_what_is_no_such_sum_is_not_taken_for_one() -> None:
    assert sum_of([gp.normal(0, 1), gp.histogram([0, 1, 2], [0.9, 0.1])], [1.0, 1.0]) is None
    assert sum_of([gp.normal(0, 1), gp.gamma(0.5, 1)], [1.0, 1.0]) is None
