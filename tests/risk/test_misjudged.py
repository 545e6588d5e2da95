"""A prior that may be wrong by a factor: exact where it is said so, and never below what a wrong prior reaches."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.errors import ParameterError
from guessproof.risk.misjudged.answer import misjudged_at
from guessproof.risk.misjudged.certificate import MoveQuestion, is_proven
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, best_tent
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

SALARY = gp.Attribute("salary", prior=gp.normal(mean=2000, sd=235.7))
NEAR = gp.within(SALARY, 100)


def at_2000(factor: float) -> gp.Attack:
    return gp.Attack(NEAR, at={"salary": 2000}, prior_factor=factor)


@pytest.mark.parametrize(
    ("factor", "epsilon"), [(1.5, 0.0019102), (2, 0.0017362), (4, 0.0014215), (16, 0.0010235), (100, 0.00074273)]
)
def test_goldens(factor: float, epsilon: float) -> None:
    found = at_2000(factor).epsilon(advantage=0.1)
    assert float(f"{found:.5g}") == epsilon
    bracket = at_2000(factor).advantage(found)
    assert bracket.attack <= bracket.bound <= 0.1 * (1 + 1e-6)
    assert bracket.attack >= 0.1 * (1 - 2e-8)


def test_factor_one_is_the_declared_prior() -> None:
    assert at_2000(1).epsilon(advantage=0.1) == gp.Attack(NEAR, at={"salary": 2000}).epsilon(advantage=0.1)


def test_a_hair_of_a_factor_changes_a_hair() -> None:
    declared, wrong = (at_2000(factor).epsilon(advantage=0.1) for factor in (1, 1 + 1e-7))
    assert declared * (1 - 1e-5) < wrong < declared


def test_any_prior_is_the_limit() -> None:
    flat = gp.Attribute("salary", prior=gp.uniform(1000, 3000))
    found = [
        gp.Attack(gp.within(flat, 100), at={"salary": 2000}, prior_factor=k).epsilon(advantage=0.1)
        for k in (1, 10, 1e6, math.inf)
    ]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in itertools.pairwise(found))
    assert found[-1] == pytest.approx(0.00036486, rel=2e-5)
    assert found[-1] <= found[-2] <= found[-1] * 1.002
    assert 0.0999 <= edge_to_edge(found[-2], 1e6) <= 0.1


def edge_to_edge(epsilon: float, factor: float) -> float:
    """How far a tent at the goal's edge, 2100, raises a belief where only values near it and near 1000 are favoured."""
    near, far = np.exp(np.linspace(-4, 3, 400))[:, None], np.exp(np.linspace(-4, 3, 400))
    a, b = 0.1 + (factor - 1) * near / 2000, 0.9 + (factor - 1) * far / 2000

    def told(first: Any, last: Any) -> Any:
        """∫ e^{−ε·way} from one distance to another, of a density of 1/2000."""
        return (np.exp(-epsilon * first) - np.exp(-epsilon * last)) / epsilon / 2000

    into = told(0, 200) + (factor - 1) * told(0, near)
    out = told(200, 1100) + told(0, 900) + (factor - 1) * told(1100 - far, 1100)
    return float(np.max(into / (into + out) - a / (a + b)))


def test_posterior_has_its_odds_multiplied() -> None:
    declared, wrong = (at_2000(k).posterior(0.002) for k in (1, 3))
    odds = [float(b.bound) / (1 - float(b.bound)) for b in (declared, wrong)]
    assert odds[1] == pytest.approx(3 * odds[0], rel=1e-12)
    low = [at_2000(k).posterior(0.002, side="lower") for k in (1, 3)]
    odds = [float(b.bound) / (1 - float(b.bound)) for b in low]
    assert odds[1] == pytest.approx(odds[0] / 3, rel=1e-12)
    assert at_2000(3).epsilon(posterior=wrong.bound) == pytest.approx(0.002, rel=1e-9)


def test_two_valued_distance_takes_the_worst_odds() -> None:
    """The prior odds range over [o/κ, κo]; the worst p for an advantage η is the nearest to (1 − η)/2."""
    column = gp.Attribute("c", prior=gp.categorical({"a": 0.2, "b": 0.8}))
    for factor in (1.5, 2.0, 10.0):
        p = min(0.25 * factor / (1 + 0.25 * factor), (1 - 0.1) / 2)
        expected = -math.log(p / (1 - p) * (1 / (p + 0.1) - 1))
        attack = gp.Attack(gp.exactly(column), at={"c": "a"}, prior_factor=factor)
        assert attack.epsilon(advantage=0.1) == pytest.approx(expected, rel=1e-9)
        assert attack.advantage(expected).status == "exact"


def random_world(draw: np.random.Generator) -> tuple[list[float], list[float], gp.Metric]:
    edges = np.sort(draw.choice(np.linspace(0, 10, 41), size=7, replace=False)).tolist()
    weights = (draw.random(6) + 0.05).tolist()
    metric: gp.Metric = gp.Absolute() if draw.random() < 0.5 else gp.Absolute() + float(draw.random()) * gp.Discrete()
    return edges, weights, metric


@pytest.mark.parametrize("seed", [0, 2])
def test_no_wrong_prior_exceeds_the_bound(seed: int) -> None:
    """Priors h·f, flat between the same edges, have exact answers of their own: a climb over h stays below."""
    draw = np.random.default_rng(seed)
    edges, weights, metric = random_world(draw)
    factor, epsilon, radius = float(1 + 3 * draw.random()), float(0.05 + draw.random()), float(0.3 + draw.random())
    truth = float(draw.uniform(edges[1], edges[-2]))
    both = bool(draw.random() < 0.5)

    def advantage(h: np.ndarray, wrong: float = 1.0) -> gp.Bracket:
        mass = np.asarray(weights) * h
        prior = gp.histogram(edges, (mass / mass.sum()).tolist())
        x = gp.Attribute("x", prior=prior, metric=metric)
        return gp.Attack(gp.within(x, radius), at={"x": truth}, prior_factor=wrong).advantage(epsilon, both=both)

    found = advantage(np.ones(6), factor)
    best, most = np.ones(6), float(advantage(np.ones(6)).attack)
    for _ in range(30):
        h = np.where(draw.random(6) < 0.3, draw.choice([1.0, factor, 1 + (factor - 1) * draw.random()], 6), best)
        reached = float(advantage(h).attack)
        if reached > most:
            best, most = h, reached
    assert most <= float(found.bound) * (1 + 1e-12)
    assert float(found.attack) <= float(found.bound) <= float(found.attack) * (1 + 5e-3)
    assert most >= 0.5 * float(found.attack)  # the climb is no strawman


def test_largest_factor_is_where_the_limit_breaks() -> None:
    attack = gp.Attack(NEAR, at={"salary": 2000})
    epsilon = at_2000(2).epsilon(advantage=0.1)
    found = attack.largest_prior_factor(epsilon=epsilon, advantage=0.1)
    assert 1.99 <= found <= 2.0
    assert attack.largest_prior_factor(epsilon=attack.epsilon(advantage=0.1), advantage=0.1) == 1.0
    assert attack.largest_prior_factor(epsilon=0.1, advantage=0.1) == 0.0
    belief = float(attack.posterior(0.001).bound)
    limit = 2 * belief / (1 + belief)  # twice the odds
    assert attack.largest_prior_factor(epsilon=0.001, posterior=limit) == pytest.approx(2, rel=1e-3)
    column = gp.Attribute("c", prior=gp.categorical({"a": 0.2, "b": 0.8}))
    assert gp.Attack(gp.exactly(column)).largest_prior_factor(epsilon=0.3, advantage=0.1) == math.inf


@pytest.mark.parametrize("wrong", [0.5, -1, float("nan"), "2", True, None])
def test_bad_factors(wrong: object) -> None:
    with pytest.raises(ParameterError, match="prior_factor"):
        gp.Attack(NEAR, prior_factor=wrong)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_by_odds_dominates_every_wrong_prior(seed: int) -> None:
    """Any distances, any goal: a climb over h, each with the linear program's own answer, stays below the bound."""
    draw = np.random.default_rng(1000 + seed)
    size = int(draw.integers(3, 7))
    places = draw.random((size, 2)) * draw.integers(1, 5)
    table = np.abs(places[:, None] - places[None, :]).sum(axis=-1)
    names = [f"v{i}" for i in range(size)]
    mass = draw.dirichlet(np.ones(size)) * 0.9 + 0.1 / size
    goal = [n for i, n in enumerate(names) if i == 0 or (i < size - 1 and draw.random() < 0.4)]
    factor, epsilon, both = float(1 + 2 * draw.random()), float(0.1 + draw.random()), bool(draw.random() < 0.5)

    def advantage(h: np.ndarray, wrong: float = 1.0) -> gp.Bracket:
        weights = mass * h / np.sum(mass * h)
        prior = gp.categorical(dict(zip(names, weights.tolist(), strict=True)))
        x = gp.Attribute("x", prior=prior, metric=gp.Matrix(names, table))
        return gp.Attack(gp.among(x, goal), prior_factor=wrong).advantage(epsilon, both=both)

    found = advantage(np.ones(size), factor)
    best, most = np.ones(size), float(advantage(np.ones(size)).attack)
    for _ in range(25):
        h = np.where(draw.random(size) < 0.4, draw.choice([1.0, factor, 1 + (factor - 1) * draw.random()], size), best)
        reached = float(advantage(h).attack)
        best, most = (h, reached) if reached > most else (best, most)
    assert most <= float(found.bound) * (1 + 1e-9)
    assert float(found.attack) <= float(found.bound)


@pytest.mark.parametrize("move", [1, -1])
@pytest.mark.parametrize(
    "form",
    [
        LineForm(slopes=(1.0,)),
        LineForm(slopes=(1.0,), step=0.7),
        LineForm((-1.0, 0.5), (0.0, 1.0, 0.4), (0.2, 0.0), 0.3),
    ],
)
def test_nothing_is_proven_below_an_attack(form: LineForm, move: Move) -> None:
    """Boxes prove what is above the best attack, with a step and bends too, and never what an attack reaches."""
    world = TiltedIntegrals(gp.normal(0, 1), form)
    for factor in (1.3, 3.0):
        goal = MisjudgedGoal(world, lambda t: (t - 0.4, t + 0.4), 0.3, 0.3, factor)
        reached = best_tent(goal, 0.5, move).value
        assert not is_proven(goal, 0.5, reached * (1 - 1e-4), move)
        assert is_proven(goal, 0.5, reached * (1 + 1e-2), move)


def test_the_worst_true_value_is_worse_than_any_stated_one() -> None:
    column = gp.Attribute("salary", prior=gp.normal(mean=2000, sd=235.7), bounds=(1000, 3000))
    goal = gp.within(column, 100)
    worst = gp.Attack(goal, prior_factor=1.5).advantage(0.0016)
    engines = [misjudged_at(column, goal, t, 1.5).engines[()] for t in (1750, 2000)]
    stated = [engine.reached(0.0016, 1) for engine in engines]  # attacks alone: proofs of these are tested elsewhere
    assert max(stated) <= float(worst.bound) <= 1.0011 * float(worst.attack)
    assert float(worst.attack) >= max(stated) * (1 - 1e-6)
    assert min(abs(worst.worst_at - t) for t in (1750, 2250)) < 5


def test_a_goal_that_reaches_beyond_the_support_is_the_one_that_ends_there() -> None:
    x = gp.Attribute("x", prior=gp.exponential(1))
    beyond, whole = (gp.Attack(gp.inside(x, (low, 0.5)), prior_factor=1.5) for low in (-1.0, 0.0))
    for limit in (0.1, 0.45, 0.6):
        assert beyond.epsilon(advantage=limit) == whole.epsilon(advantage=limit)


@pytest.mark.parametrize("prior", [gp.gamma(3, 1), gp.lognormal(1, 0.5), gp.histogram([-1, 0, 1, 3], [0.5, 0, 0.5])])
def test_a_goal_that_asks_for_no_true_value_needs_no_density_at_0(prior: LinePrior) -> None:
    found = gp.Attack(gp.inside(gp.Attribute("x", prior=prior), (0.5, 1.5)), prior_factor=1.5).advantage(0.5)
    assert 0.999 * found.bound <= found.attack <= found.bound


@pytest.mark.parametrize("ends", [(0.5, math.inf), (-math.inf, 0.5)])
def test_a_goal_without_an_end_is_what_a_far_one_tends_to(ends: tuple[float, float]) -> None:
    x = gp.Attribute("x", prior=gp.normal(0, 1))
    found = gp.Attack(gp.inside(x, ends), prior_factor=1.5).advantage(0.5)
    near = gp.Attack(gp.inside(x, (max(ends[0], -7.5), min(ends[1], 7.5))), prior_factor=1.5).advantage(0.5)
    assert found.attack == pytest.approx(near.attack, rel=1e-6)
    assert found.bound == pytest.approx(found.attack, rel=1e-4)


def test_attacks_of_boxes_at_an_infinite_end_are_what_integrals_say() -> None:
    """λ = e^{εx} over all of (0.5, ∞), told by a sum over a fine grid."""
    lo, hi, epsilon = np.array([0.5]), np.array([np.inf]), 0.7
    goal = MisjudgedGoal(TiltedIntegrals(gp.normal(0, 1), LineForm(slopes=(1.0,))), lambda t: (lo, hi), 1.0, 1.0, 1.0)
    question = MoveQuestion(goal, epsilon, 0.1, 1)
    found = question.reached((lo, hi), hi, np.array([0.3]), np.zeros((2, 1)))
    x = np.linspace(-12, 12, 240_001)
    weight, inside = np.exp(-x * x / 2), x > 0.5
    after, before = ((w * inside).sum() / w.sum() for w in (weight * np.exp(epsilon * x), weight))
    assert found == pytest.approx(after - before, rel=1e-3)


def test_a_jump_of_the_distance_is_proven_on_a_grid_too() -> None:
    """Where boxes alone leave open 3 %, and 13 % of ε."""
    x = gp.Attribute("x", prior=gp.exponential(1), metric=gp.Absolute() + gp.Threshold(0.5))
    found = gp.Attack(gp.within(x, 0.3), at={"x": 0.6}, prior_factor=20).advantage(1.0)
    assert found.attack <= found.bound <= found.attack * (1 + 1e-3)
