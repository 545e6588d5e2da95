"""AND of intervals under a prior that may be wrong: no attack exceeds the bound, and it is near the best one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.auditing.wrong_priors import worst_beliefs
from guessproof.risk.misjudged.answer import misjudged_several
from guessproof.risk.several.program import Edges, best_odds

PRIORS = gp.normal(0, 2), gp.normal(0, 3)
X, Y = (gp.Attribute(name, prior=prior) for name, prior in zip("xy", PRIORS, strict=True))
GOAL = gp.within(X, 1) & gp.within(Y, 1)


def advantage(factor: float, epsilon: float, at: dict[str, float], goal: Any = GOAL) -> Any:
    return gp.Attack(goal, at=at, prior_factor=factor).advantage(epsilon)


def odds(p: float) -> float:
    return p / (1 - p)


@pytest.mark.parametrize("at", [{"x": 0.0, "y": 0.0}, {"x": 1.5, "y": 2.0}], ids=["centre", "beside"])
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0])
def test_within_a_tenth_in_odds_of_the_best_attack(epsilon: float, at: dict[str, float]) -> None:
    found, before = advantage(1.5, epsilon, at), gp.Attack(GOAL, at=at).prior
    assert float(found.attack) <= float(found.bound)
    assert odds(before + float(found.bound)) <= 1.1 * odds(before + float(found.attack))
    declared = gp.Attack(GOAL, at=at).advantage(epsilon)
    assert float(declared.attack) < float(found.attack)


def test_it_meets_the_declared_prior_and_grows_in_the_factor() -> None:
    at = {"x": 0.5, "y": -1.0}
    declared = float(gp.Attack(GOAL, at=at).advantage(0.5).bound)
    found = [float(advantage(factor, 0.5, at).bound) for factor in (1 + 1e-9, 1.2, 2.0, 10.0, 1e6)]
    assert found[0] == pytest.approx(declared, rel=1e-6)
    assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(found))


def lattice(step: float) -> tuple[Any, Any, Edges]:
    """Places a step apart in the bulk of both priors, their masses, and which are neighbours (by the largest side)."""
    lines = [step * np.arange(-np.ceil(3 * sd / step), np.ceil(3 * sd / step) + 1) for sd in (2, 3)]
    x, y = np.meshgrid(*lines, indexing="ij")
    masses = [prior.mass(line - step / 2, line + step / 2) for prior, line in zip(PRIORS, lines, strict=True)]
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    apart = np.abs(places[:, None] - places[None]).max(axis=-1)
    rows, cols = np.nonzero((apart > 0) & (apart < 1.5 * step))
    return places, np.outer(*masses).ravel(), Edges(rows, cols, np.full(rows.size, step))


@pytest.mark.parametrize(("seed", "either"), [(0, False), (2, False), (0, True), (3, True)])
def test_no_likelihood_with_its_worst_prior_exceeds_it(seed: int, either: bool) -> None:
    """The best likelihood of a prior by a linear program, then the worst prior of that likelihood, in turn: each
    likelihood is extended from the lattice as far as privacy allows, and weighed on a fine grid."""
    draw = np.random.default_rng(seed)
    at = {"x": float(draw.normal()), "y": float(draw.normal())}
    epsilon, factor = float(0.2 + draw.random()), float(1.2 + 2 * draw.random())
    found = advantage(factor, epsilon, at, gp.within(X, 1) | gp.within(Y, 1) if either else GOAL)
    places, mass, near = lattice(0.75)
    x, y = (np.asarray(prior.quantile((np.arange(151) + 0.5) / 151)) for prior in PRIORS)
    both = np.logical_or if either else np.logical_and
    fits = both((np.abs(x - at["x"]) <= 1)[:, None], np.abs(y - at["y"]) <= 1).ravel()
    correct = both(*(np.abs(places - [at["x"], at["y"]]) <= 1).T)
    raised, weights, best = np.ones(mass.size), np.full(fits.size, 1 / fits.size), 0.0
    for _ in range(3):
        prior = mass * raised
        edges = Edges(near.rows, near.cols, epsilon * near.cost)
        log_l = best_odds(prior * correct, prior * ~correct, edges).log_m
        told = np.zeros((x.size, y.size))
        for place, height in zip(places, log_l, strict=True):
            apart = np.maximum(np.abs(x - place[0])[:, None], np.abs(y - place[1]))
            told = np.maximum(told, np.exp(height - epsilon * apart))
        after, before = worst_beliefs(weights * told.ravel(), weights, fits.astype(float), factor)[0]
        best = max(best, after - before)
        cuts = np.quantile(log_l[correct], draw.random()), np.quantile(log_l[~correct], draw.random())
        raised = np.where(np.where(correct, log_l > cuts[0], log_l < cuts[1]), factor, 1.0)
    bound, reached = float(found.bound), float(found.attack)
    assert best <= bound * (1 + 0.01)  # the grid's own error
    assert (0.9 * reached if either else 0.8 * bound) < best


@pytest.mark.parametrize(
    ("radius", "epsilon", "factor", "loose"),
    [
        (0.3, 1.0, 1.5, 0.027),
        (0.1, 2.0, 2.0, 0.025),
        (1.0, 0.3, 1.5, 0.069),
        (1.0, 1.0, 1.5, 0.05),
        (3.0, 1.5, 1.5, 0.02),
    ],
)
def test_the_bound_is_neither_below_its_attack_nor_far_above(
    radius: float, epsilon: float, factor: float, loose: float
) -> None:
    """Narrow goals, where hardly anything but the rest counts, and wide ones: a term of the bound that is too small
    falls below the attack, one that is too large does not stay near."""
    attack = gp.Attack(gp.within(X, radius) & gp.within(Y, radius), at={"x": 0.0, "y": 0.0})
    assert attack.several is not None
    engine = misjudged_several(attack.several.engine, factor).engines[()]
    reached, limit = engine.reached(epsilon, 1), engine.limit(epsilon, 1)
    assert reached <= limit <= (1 + loose) * reached


def test_shares_hold_what_they_are_said_to() -> None:
    """What lies furthest from a peak, on a fine grid: the bound is below it, and not by more than its own steps."""
    attack = gp.Attack(GOAL, at={"x": 0.5, "y": -1.0})
    assert attack.several is not None
    engine, epsilon, shares = misjudged_several(attack.several.engine, 1.5).engines[()], 0.6, np.linspace(0.0, 1.0, 6)
    x, y = (np.asarray(prior.quantile((np.arange(301) + 0.5) / 301)) for prior in PRIORS)
    fits = (np.abs(x - 0.5) <= 1)[:, None] & (np.abs(y + 1) <= 1)
    found = engine.box.least(epsilon, engine.widths.log_odds, shares)
    for row in (0, 5, 100, 144, 288):
        c = engine.box.peaks[row]
        tent = np.exp(-epsilon * np.maximum(np.abs(x - c[0])[:, None], np.abs(y - c[1])))
        for part, least in ((tent[fits], found[0][row]), (tent[~fits], found[1][row])):
            sums = np.concatenate([[0.0], np.cumsum(np.sort(part))]) / part.size
            held = np.interp(shares, np.arange(part.size + 1) / part.size, sums)
            assert np.all(least <= held * np.exp(-epsilon * engine.box.off) * 1.01 + 1e-12)
            assert np.all(least >= held * np.exp(-epsilon * engine.box.off) * 0.97)


def test_plans_of_limits_use_it() -> None:
    at = {"x": 0.0, "y": 0.0}
    strict = gp.Attack(GOAL, at=at, prior_factor=1.5)
    epsilon = strict.epsilon(advantage=0.1)
    assert float(strict.advantage(epsilon).bound) <= 0.1
    assert gp.Attack(GOAL, at=at).largest_prior_factor(epsilon=epsilon, advantage=0.1) == pytest.approx(1.5, rel=2e-3)
