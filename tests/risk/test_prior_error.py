"""Beliefs under a prior that is wrong by a factor: bounds dominate attacks on a fine chain, and come close to them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.prior_error import answer

PRIORS = {
    "normal": gp.normal(20, 5),
    "gamma": gp.gamma(1.5, 6),
    "histogram": gp.histogram([0, 10, 25, 60], [0.5, 0.1, 0.4]),
    "student": gp.student_t(3, 20, 4),
    "sample": gp.empirical([3, 8, 8, 14, 19, 21, 21, 26, 30, 44]),
}
CELLS = 4_000  # of the chain: tilts in a cell are off by a thousandth


def chain(prior, low, high):
    """Points and masses that stand for a prior, and which of them lie in the goal."""
    if hasattr(prior, "points"):
        x, mass = prior.points, prior.mass
    else:
        ends = prior.quantile([1e-8, 1 - 1e-8])
        edges = np.unique(np.concatenate([np.linspace(*ends, CELLS), [low, high]]))
        x, mass = 0.5 * (edges[1:] + edges[:-1]), prior.mass(edges[:-1], edges[1:])
    return x, mass, (x >= low - 1e-9) & (x <= high + 1e-9)


def best_on_chain(x, mass, inside, epsilon, factor, sign, cap=math.inf):
    """The largest move of a belief over tents (valleys) with peaks in the goal and priors of two thresholds."""
    best = 0.0
    for c in np.linspace(x[inside][0], x[inside][-1], 25):
        likelihood = np.exp(-sign * epsilon * np.minimum(np.abs(x - c), cap))
        near, far = np.abs(x - c)[inside], np.abs(x - c)[~inside]
        for s1 in np.quantile(near, np.linspace(0, 1, 9)):
            for s2 in np.quantile(far, np.linspace(0, 1, 13)):
                weight = np.where(inside, np.abs(x - c) <= s1, np.abs(x - c) >= s2)
                h = mass * np.where(weight, factor, 1.0)
                before = h[inside].sum() / h.sum()
                after = (h * likelihood)[inside].sum() / (h * likelihood).sum()
                best = max(best, sign * (after - before))
    return best


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", PRIORS)
def test_the_bound_dominates_attacks_on_a_chain_and_is_close(name: str, sign: int):
    prior, epsilon, factor = PRIORS[name], 0.12, 3.0
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=prior), 4), at={"x": 21}, prior_factor=factor)
    x, mass, inside = chain(prior, 17, 25)
    reached = best_on_chain(x, mass, inside, epsilon, factor, sign)
    goal = attack if sign > 0 else gp.Attack(~attack.goal, at={"x": 21}, prior_factor=factor)
    found = goal.advantage(epsilon)
    assert reached * (1 - 2e-3) <= found.bound
    assert 0.97 * reached <= found.attack <= found.bound <= 1.05 * found.attack


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["normal", "gamma", "histogram", "student"])
def test_a_cap_is_taken_into_account(name: str, sign: int) -> None:
    prior, epsilon, factor, cap = PRIORS[name], 0.2, 4.0, 7.0
    metric = gp.minimum(gp.Absolute(), cap)
    goal = gp.within(gp.Attribute("x", prior=prior, metric=metric), 4)
    x, mass, inside = chain(prior, 17, 25)
    reached = best_on_chain(x, mass, inside, epsilon, factor, sign, cap)
    attack = gp.Attack(goal if sign > 0 else ~goal, at={"x": 21}, prior_factor=factor)
    found = attack.advantage(epsilon)
    assert reached * (1 - 2e-3) <= found.attack <= found.bound <= 1.02 * found.attack
    assert 0.95 * epsilon <= attack.epsilon(advantage=found.bound) <= epsilon * (1 + 1e-6)


@pytest.mark.parametrize("cap", [1e3, 9.0, 3.0])
def test_random_priors_and_likelihoods_stay_below_the_bound(cap: float):
    rng = np.random.default_rng(7)
    prior, epsilon, factor = PRIORS["sample"], 0.2, 2.0
    x, mass, inside = chain(prior, 17, 25)
    goal = gp.within(gp.Attribute("x", prior=prior, metric=gp.minimum(gp.Absolute(), cap)), 4)
    found = gp.Attack(goal, at={"x": 21}, prior_factor=factor).advantage(epsilon, both=True)
    gaps = epsilon * np.minimum(np.abs(x[:, None] - x[None, :]), cap)
    for _ in range(3_000):
        level = np.min(rng.normal(0, 3, x.size)[None, :] + gaps, axis=1)  # the largest private one below random levels
        h = mass * rng.choice([1.0, factor], x.size)
        likelihood = h * np.exp(level)
        moved = likelihood[inside].sum() / likelihood.sum() - h[inside].sum() / h.sum()
        assert abs(moved) <= found.bound


def test_the_worst_true_value_dominates_every_stated_one():
    for prior in (PRIORS["normal"], PRIORS["sample"]):
        attribute = gp.Attribute("x", prior=prior, bounds=(0, 45))
        worst = gp.Attack(gp.within(attribute, 3), prior_factor=2).advantage(0.1)
        stated = [
            gp.Attack(gp.within(attribute, 3), at={"x": t}, prior_factor=2).advantage(0.1).attack
            for t in (3, 8, 14, 20, 26, 30, 44)
        ]
        assert max(stated) <= worst.bound <= 1.16 * worst.attack


@pytest.mark.parametrize("at", [{"x": 21}, None])
def test_an_epsilon_and_a_factor_keep_their_limit(at: dict[str, float] | None):
    attribute = gp.Attribute("x", prior=PRIORS["normal"])
    attack = gp.Attack(gp.within(attribute, 4), at=at, prior_factor=2.5)
    epsilon = attack.epsilon(advantage=0.1)
    assert attack.advantage(epsilon).attack <= 0.1 < attack.advantage(1.3 * epsilon).attack
    declared = gp.Attack(gp.within(attribute, 4), at=at)
    factor = declared.largest_prior_factor(epsilon=epsilon, advantage=0.1)
    assert 2.0 <= factor <= 2.6
    assert gp.Attack(gp.within(attribute, 4), at=at, prior_factor=factor).advantage(epsilon).attack <= 0.1


def test_a_limit_that_nothing_breaks_and_one_that_is_broken_at_once():
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=PRIORS["normal"]), 4), at={"x": 20}, prior_factor=2)
    assert attack.epsilon(advantage=0.9999) == math.inf
    assert attack.epsilon(advantage=1e-6) > 0


def test_a_goal_of_two_intervals_and_a_step_are_bounded_from_above():
    attribute = gp.Attribute("x", prior=PRIORS["normal"], metric=gp.Absolute() + 0.5 * gp.Discrete())
    goal = gp.inside(attribute, (12, 14), (24, 30))
    x, mass, inside = chain(PRIORS["normal"], 12, 14)
    inside |= (x >= 24) & (x <= 30)
    found = gp.Attack(goal, prior_factor=2).advantage(0.1)
    step = math.exp(0.1 * 0.5)
    for c in np.linspace(10, 32, 23):
        likelihood = np.exp(-0.1 * np.abs(x - c)) * np.where(inside, step, 1.0)
        h = mass * np.where(inside == (np.abs(x - c) <= 4), 2.0, 1.0)
        after = (h * likelihood)[inside].sum() / (h * likelihood).sum()
        assert after - h[inside].sum() / h.sum() <= found.bound


def test_boxes_and_the_odds_bound_agree_about_the_same_numbers() -> None:
    """Two engines on one question: a sample on a line, and the same numbers as a finite world that is hardly one."""
    rng = np.random.default_rng(5)
    for factor in (1.01, 2.0, 16.0):
        for scale in (1e-3, 0.3, 20.0):
            x = np.unique(rng.normal(size=9))
            gaps = np.abs(x[:, None] - x)
            world = gp.FiniteWorld(np.ones(x.size) / x.size, gaps ** (1 - 1e-10), prior_factor=factor)
            same = gp.FiniteWorld(np.ones(x.size) / x.size, gaps, prior_factor=factor)
            low, high = x[2] - 1e-9, x[rng.integers(2, 7)] + 1e-9
            attribute = gp.Attribute("x", prior=gp.empirical(x.tolist()), metric=gp.Absolute())
            line = gp.Attack(gp.inside(attribute, (low, high)), prior_factor=factor)
            boxes = line.advantage(scale, both=True)
            odds = world.advantage((x >= low) & (x <= high), scale, both=True)
            again = same.advantage((x >= low) & (x <= high), scale, both=True)
            assert again.bound == pytest.approx(float(boxes.bound), rel=1e-6)
            assert boxes.attack <= odds.bound * (1 + 1e-9)
            assert odds.attack <= boxes.bound * (1 + 1e-9)
            assert boxes.bound <= 1.05 * boxes.attack


@pytest.mark.parametrize("df", [1.2, 3])
def test_heavy_tails_are_attacked_where_most_is_learned(df: float) -> None:
    attribute = gp.Attribute("x", prior=gp.student_t(df, 0, 1), bounds=(-50, 50))
    worst = gp.Attack(gp.within(attribute, 1), prior_factor=3).advantage(0.3)
    stated = [gp.Attack(gp.within(attribute, 1), at={"x": t}, prior_factor=3).advantage(0.3) for t in (0, 3, 20, 50)]
    most = max(float(found.attack) for found in stated)
    assert 0.99 * most <= worst.attack <= worst.bound <= 1.12 * worst.attack
    assert all(found.bound <= 1.003 * found.attack for found in stated)


@pytest.mark.parametrize("factor", [1.5, math.inf])
def test_true_values_without_an_end_are_covered(factor: float) -> None:
    goal = gp.within(gp.Attribute("x", prior=gp.laplace(0, 1)), 1)
    worst = gp.Attack(goal, prior_factor=factor).advantage(0.4, both=True)
    for t in (0.0, 2.0, 6.0, 30.0):
        assert gp.Attack(goal, at={"x": t}, prior_factor=factor).advantage(0.4, both=True).attack <= worst.bound
    assert math.isinf(factor) or worst.bound <= 1.05 * worst.attack


def test_a_cap_that_nothing_reaches_changes_nothing() -> None:
    prior, plain = gp.uniform(0, 10), gp.Absolute()
    found = [
        gp.Attack(gp.within(gp.Attribute("x", prior=prior, metric=metric), 1), at={"x": 4}, prior_factor=2)
        for metric in (plain, gp.minimum(plain, 11))
    ]
    assert found[0].advantage(0.3) == found[1].advantage(0.3)


def test_a_tail_without_exponential_moments_lets_a_belief_fall_to_nothing() -> None:
    goal = gp.inside(gp.Attribute("x", prior=gp.lognormal(3, 0.5)), (0, 9))
    for attack in (gp.Attack(goal, prior_factor=2), gp.Attack(~goal, prior_factor=2)):
        found = attack.advantage(1e-3, both=True)
        assert found.attack == pytest.approx(float(found.bound), rel=0.05)
        assert found.attack > 0.9


@pytest.mark.parametrize(("name", "at"), [("normal", 21), ("histogram", 21), ("student", 21), ("histogram", None)])
def test_no_limit_below_an_attack_is_proven(monkeypatch: pytest.MonkeyPatch, name: str, at: float | None) -> None:
    """A search that misses the best attack by a little never makes a bound too small."""
    within = gp.within(gp.Attribute("x", prior=PRIORS[name], bounds=(1, 44)), 4)
    honest, missed = answer.best_attack, 0.985 if at else 0.93
    for goal in (within, ~within) if at else (within,):
        attack = gp.Attack(goal, at={"x": at} if at else None, prior_factor=3)
        reached = attack.advantage(0.12)
        monkeypatch.setattr(answer, "best_attack", lambda *x: (missed * honest(*x)[0], 0))
        again = gp.Attack(goal, at=attack.at, prior_factor=3)
        assert again.advantage(0.12).bound >= reached.attack
        monkeypatch.setattr(answer, "best_attack", honest)


def test_no_bound_exceeds_one() -> None:
    attribute = gp.Attribute("x", prior=gp.student_t(3, 0, 1))
    assert gp.Attack(gp.within(attribute, 1), prior_factor=2).advantage(5.0).bound <= 1


def test_an_outcome_between_the_ends_of_the_range_counts() -> None:
    """The goal (0, 2) lies half inside the filter's (−1, 1): a wrong prior can believe in that half."""
    prior, factor = gp.uniform(-3, 3), 1.5
    goal = gp.inside(gp.Attribute("x", prior=prior, metric=gp.Outcome((-1, 1))), (0, 2))
    mass, distance = np.array([1, 1, 1, 3]) / 6, np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    wrong = mass * [factor, 1, 1, 1]  # of (0, 1), (1, 2), (−1, 0) and the rest
    reached = gp.FiniteWorld(wrong / wrong.sum(), distance).advantage([1, 1, 0, 0], 1.0)
    assert reached.attack > 0.08
    assert gp.Attack(goal, prior_factor=factor).advantage(1.0).bound >= reached.attack
