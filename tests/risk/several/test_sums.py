"""Weighted sums of log-concave numbers as one number: against quadrature, drawn likelihoods and drawn true values."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import guessproof as gp
from guessproof.world.goals import combine
from guessproof.world.pieces import LogLinear
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
    way = ("l1", "l2", "linf", "l3")[rng.integers(4)]
    return gp.Attack(gp.within(formula, float(rng.uniform(0.3, 1.5))), at=at, norm=way), float(rng.uniform(0.1, 1.5))


@pytest.mark.parametrize("seed", DRAWN)
def test_the_density_of_a_sum_is_within_its_slack(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    one, other = drawn_prior(rng), drawn_prior(rng)
    a, b = 1.0, float(rng.choice([-1.5, 0.7]))
    found = sum_of([one, other], [a, b], 2.0)
    if found is None:  # neither is exponential in pieces, or one is known by quadrature only
        assert not any(isinstance(p, LogLinear) for p in (one, other)) or one.by_quadrature or other.by_quadrature
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
    assert np.ptp(off) <= found.gap + 1e-9
    assert found.gap < 0.1
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


def test_by_l1_a_sum_of_two_such_numbers_is_answered_closely() -> None:
    """Bound and attack meet but for the knots."""
    rent = gp.Attribute("rent", gp.normal(700, 200))
    loan = gp.Attribute("loan", gp.exponential(300))
    attack = gp.Attack(gp.within(rent + loan, 50), at={"rent": 700, "loan": 300}, norm="l1")
    found = attack.advantage(0.002)
    assert float(found.attack) < float(found.bound) < 1.02 * float(found.attack)
    assert attack.advantage(attack.epsilon(advantage=0.05)).bound <= 0.05


def hypoexponential(v: Any) -> Any:
    return (np.exp(-v / 2) - np.exp(-v / 0.5)) / 1.5


def bell_and_flat(v: Any) -> Any:
    return norm.cdf(v) - norm.cdf(v - 1)


def triangle(v: Any) -> Any:
    return np.maximum(np.minimum(v, 2 - v), 0.0)


@pytest.mark.parametrize(
    ("priors", "density", "ends", "fastest"),
    [
        ((gp.exponential(2.0), gp.exponential(0.5)), hypoexponential, (0.0, 120.0), 0.49),
        ((gp.normal(0, 1), gp.uniform(0, 1)), bell_and_flat, (-14.0, 0.5), 7.0),
        ((gp.uniform(0, 1), gp.uniform(0, 1)), triangle, (0.0, 2.0), 4.0),
    ],
    ids=["tail of an exponential", "tail of a bell", "density that ends in 0"],
)
def test_odds_are_off_by_no_more_than_the_slack(
    priors: Any, density: Any, ends: tuple[float, float], fastest: float
) -> None:
    """Likelihoods that rise into the tails as fast as they may, where f and what is taken for it differ most."""
    found = sum_of(list(priors), [1.0, 1.0])
    assert found is not None
    x = np.linspace(*ends, 400_001)[1:-1]
    f, g = density(x), np.exp(found.log_density(x))
    rng, most = np.random.default_rng(1), 0.0
    for rate in (0.0, 0.3 * fastest, 0.7 * fastest, fastest):
        for _ in range(6):
            a, b = (float(e) for e in found.quantile(np.sort(rng.uniform(0.02, 0.4, 2))))
            goal, turn = (x >= a) & (x <= b), float(rng.choice([x[0], x[-1], rng.uniform(a, b)]))
            for sign in (1, -1):
                logs = sign * rate * np.abs(x - turn)
                told = np.exp(logs - logs.max())
                odds = [np.log(np.sum((d * told)[goal]) / np.sum((d * told)[~goal])) for d in (f, g)]
                off = abs(odds[0] - odds[1])
                assert off <= found.slack(rate, [(a, b)]) + 1e-7  # of the grid
                if sign < 0 and a <= turn <= b:
                    assert off <= found.slack(rate, [(a, b)], peaked=True) + 1e-7
                most = max(most, off)
    assert most > 0.2 * found.gap


def test_what_may_lie_beyond_the_knots_counts() -> None:
    """A density that ends far above what was seen of it, and nothing at all there: both must be allowed for."""
    found = sum_of([gp.normal(0, 1), gp.uniform(0, 1)], [1.0, 1.0])
    assert found is not None
    low, high = found.knots[1], found.knots[-2]
    cut = np.linspace(low, high, 200_001)
    steep = (found.logs[2] - found.logs[1]) / (found.knots[2] - found.knots[1])
    for rate, wide in ((0.9 * steep, 20.0), (0.99 * steep, 200.0)):
        x = np.concatenate([np.linspace(low - wide, low, 200_001)[:-1], cut])
        line = found.log_density(np.array(low)) + steep * (x - low)
        step = np.gradient(x)
        told = -rate * (x - low)
        logs = np.where(x < low, line, found.log_density(np.maximum(x, low))) + told
        weights = np.exp(logs - logs.max()) * step
        goal = (x > 0) & (x < 1)
        with_it, without = (np.sum(weights[~goal & kept]) for kept in (x > -np.inf, x >= low))
        assert np.log(with_it / without) > found.gap  # far more than what lies between knots
        assert np.log(with_it / without) <= found.slack(rate, [(0.0, 1.0)])
    assert found.slack(1.1 * steep, [(0.0, 1.0)]) == np.inf
    assert found.slack(1.1 * steep, [(0.0, 1.0)], peaked=True) < 2 * found.gap  # nobody's tail grows


def test_what_is_no_such_sum_is_not_taken_for_one() -> None:
    assert sum_of([gp.normal(0, 1), gp.histogram([0, 1, 2], [0.9, 0.1])], [1.0, 1.0]) is None
    assert sum_of([gp.normal(0, 1), gp.gamma(0.5, 1)], [1.0, 1.0]) is None
    assert sum_of([gp.normal(0, 1), gp.uniform(0, 1), gp.uniform(0, 1)], [1.0, 1.0, 1.0]) is None
