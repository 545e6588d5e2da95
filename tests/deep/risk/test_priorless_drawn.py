"""Unknown and partly known priors: what is called exact is reached by a prior that fits, on drawn ranges and goals."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.random import Generator

import guessproof as gp
from guessproof import errors


def values(low: float, high: float, cuts: list[float]) -> np.ndarray:
    """The range's ends, a coarse grid, and both sides of every cut."""
    beside = [c + s for c in cuts for s in (-1e-9, 0.0, 1e-9)]
    return np.array(sorted({x for x in [*np.linspace(low, high, 7), *beside] if low <= x <= high}))


def best(world: dict, epsilon: float, down: bool) -> float:
    """The largest advantage over priors with one value in each of four regions and a tent around any value."""
    t, r, ball, q, low, high = (world[k] for k in ("t", "r", "ball", "q", "low", "high"))
    x = values(low, high, [t - r, t + r, t - ball, t + ball])
    in_goal, in_ball = np.abs(x - t) <= r + 1e-15 * abs(t), np.abs(x - t) <= ball + 1e-15 * abs(t)
    regions = [x[in_goal & in_ball], x[~in_goal & in_ball], x[in_goal & ~in_ball], x[~in_goal & ~in_ball]]
    fine = np.logspace(-9, np.log10(0.5), 400)
    share = np.concatenate([[0.0], fine, 1 - fine[::-1], [1.0]])
    inner = share if regions[0].size and regions[1].size else np.array([1.0 if regions[0].size else 0.0])
    outer = share if regions[2].size and regions[3].size else np.array([1.0 if regions[2].size else 0.0])
    if q < 1 and not (regions[2].size or regions[3].size):
        return 0.0
    a, b = np.meshgrid(q * inner, (1 - q) * outer)
    masses = [a, q - a, b, 1 - q - b]
    most = 0.0
    for places in product(*(part if part.size else [np.nan] for part in regions)):
        for peak in (p for p in places if np.isfinite(p)):
            likelihood = [np.exp((1 if down else -1) * epsilon * np.nan_to_num(abs(p - peak))) for p in places]
            total = sum(m * v for m, v in zip(masses, likelihood, strict=True))
            after = (masses[0] * likelihood[0] + masses[2] * likelihood[2]) / total
            moved = after - (masses[0] + masses[2])
            most = max(most, float(np.max(-moved if down else moved)))
    return most


def drawn(rng: Generator) -> dict:
    low = float(rng.uniform(-5, 0))
    high = low + float(rng.uniform(2, 12))
    ball = float(rng.uniform(0.3, 4))
    r = ball if rng.random() < 0.15 else float(rng.uniform(0.2, 4))
    return {
        "t": float(rng.uniform(low, high)), "r": r, "ball": ball, "q": float(rng.choice([0.2, 0.6, 0.95, 1.0])),
        "low": low, "high": high,
    }  # fmt: skip


@pytest.mark.parametrize("down", [False, True])
def test_a_partly_known_prior_is_exact_only_where_a_prior_reaches_it(down: bool) -> None:
    rng = np.random.default_rng(5)
    seen = {"exact": 0, "proven": 0}
    for _ in range(60):
        world, epsilon = drawn(rng), float(10 ** rng.uniform(-1, 1))
        prior = gp.partly_known(world["ball"], world["q"], low=world["low"], high=world["high"])
        attack = gp.Attack(gp.within(gp.Attribute("x", prior=prior), world["r"]), at={"x": world["t"]})
        try:
            bracket = attack.advantage(epsilon, both=down)
        except errors.GoalError:
            continue
        reached = max(best(world, epsilon, side) for side in ((False, True) if down else (False,)))
        assert reached <= bracket.bound + 1e-7, (world, epsilon, bracket)
        assert bracket.attack <= reached + 2e-3, (world, epsilon, bracket)
        seen[bracket.status] += 1
        if bracket.status == "exact":
            assert bracket.bound <= reached + 2e-3, (world, epsilon, bracket)
    assert min(seen.values()) > 3


def test_a_partly_known_prior_at_the_worst_true_value() -> None:
    rng = np.random.default_rng(6)
    for _ in range(12):
        world, epsilon = drawn(rng), float(10 ** rng.uniform(-1, 0.5))
        prior = gp.partly_known(world["ball"], world["q"], low=world["low"], high=world["high"])
        goal = gp.within(gp.Attribute("x", prior=prior), world["r"])
        if world["r"] >= world["high"] - world["low"]:
            continue
        bracket = gp.Attack(goal).advantage(epsilon)
        truths = np.linspace(world["low"], world["high"], 13)
        reached = max(best({**world, "t": float(t)}, epsilon, down=False) for t in truths)
        assert reached <= bracket.bound + 1e-7, (world, epsilon, bracket)
        if bracket.status == "exact":
            edge = [world["low"] + world["r"], world["low"] + world["ball"], world["high"] - world["r"]]
            more = max(best({**world, "t": t}, epsilon, down=False) for t in edge if world["low"] <= t <= world["high"])
            assert bracket.bound <= max(reached, more) + 2e-3, (world, epsilon, bracket)


@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (0, 22), (8, 30), (-20, 16)])
def test_a_partly_known_prior_with_room_on_one_side_is_exact(low: float, high: float) -> None:
    prior = gp.partly_known(4, 0.8, low=low, high=high)
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=prior), 1), at={"x": 10})
    assert attack.advantage(0.3).status == "exact"


def test_an_unknown_prior_knows_how_far_the_true_value_can_be_from_the_ends() -> None:
    """Declared bounds limit the true value, not the guesses: from [3, 5] nothing is further than 7 on 0 … 10."""
    attribute = gp.Attribute("x", prior=gp.unknown(0, 10), bounds=(4, 6))
    assert gp.Attack(gp.within(attribute, 1)).advantage(1.0).bound == pytest.approx(np.tanh(7 / 4), rel=1e-12)
    free = gp.Attribute("x", prior=gp.unknown(0, 10))
    assert gp.Attack(gp.within(free, 1)).advantage(1.0).bound == pytest.approx(np.tanh(10 / 4), rel=1e-12)


def test_a_goal_that_covers_an_unknown_range_is_refused_and_not_called_a_risk() -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.unknown(0, 10)), 12))
    for ask in (lambda: attack.advantage(1.0), lambda: attack.epsilon(advantage=0.1)):
        with pytest.raises(errors.GoalError, match="certain"):
            ask()
