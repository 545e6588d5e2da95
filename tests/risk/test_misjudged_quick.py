"""The factor that is proven at once: no attack exceeds it, it falls in ε, and it is not far from the largest."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.misjudged.quick import DeclaredBoxes
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, best_tent
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_search import TruthSearch
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

PRIORS = [
    gp.normal(0, 1),
    gp.exponential(1.0),
    gp.histogram([-2, -1, 0.5, 1, 4], [0.2, 0.5, 0.1, 0.2]),
    gp.uniform(-2, 3),
]
MOVES: tuple[Move, ...] = (1, 1, -1)
FORMS = [LineForm(slopes=(1.0,)), LineForm((-1.0, 0.5), (0.0, 1.0, 0.4), (0.2, 0.0), 0.3)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("prior", PRIORS)
def test_no_attack_exceeds_it(prior: LinePrior, form: LineForm) -> None:
    """Boxes of true values, wide and narrow: the best tent with its prior stays below, at their ends and in between;
    at one true value it is near."""
    draw = np.random.default_rng(len(repr(prior)))
    for move in MOVES:
        radius, epsilon, factor = 0.2 + draw.random(), 0.1 + draw.random(), 1 + 3 * draw.random()
        left = float(prior.quantile(0.1 + 0.6 * draw.random()))
        right = left + float(draw.choice([1e-3, 0.05, 0.4]))
        search = TruthSearch(prior, form, lambda t, r=radius: (t - r, t + r), left, right, True)
        boxes = DeclaredBoxes.between(search, epsilon, move, np.array([left]), np.array([right]))
        bound = float(np.max(boxes.limits(factor)))
        t = float(draw.choice([left, 0.5 * (left + right), right]))
        goal = MisjudgedGoal(TiltedIntegrals(prior, form), search.edges, t, t, factor)
        reached = best_tent(goal, epsilon, move).value
        assert reached <= bound * (1 + 1e-9)
        alone = float(np.max(DeclaredBoxes.at(search, epsilon, move, t).limits(factor)))
        assert reached <= alone * (1 + 1e-9) <= reached * (1.03 if form.is_straight and factor < 2 else 1.2)


@pytest.mark.parametrize("move", [1, -1])
def test_shares_hold_what_they_are_said_to_at_every_true_value_of_a_box(move: Move) -> None:
    """On a fine grid of values: the most that a share of what rises holds, the least of the rest, and their means."""
    prior, form, epsilon, radius = gp.normal(0, 1), FORMS[0], 0.7, 0.5
    search = TruthSearch(prior, form, lambda t: (t - radius, t + radius), 0.4, 0.7, True)
    boxes = DeclaredBoxes.between(search, epsilon, move, np.array([0.4]), np.array([0.7]))
    x = np.asarray(prior.quantile((np.arange(20_000) + 0.5) / 20_000))
    peaks = np.linspace(0.4 - radius, 0.7 + radius, boxes.gain.size)
    step = peaks[1] - peaks[0]
    for row, t in [(row, t) for row in range(2, peaks.size - 2) for t in (0.4, 0.5, 0.7)]:
        peak = peaks[row] + step * (0.5 if row % 2 else -0.5)
        likelihood = np.exp(-move * epsilon * np.abs(x - peak))
        goal = np.abs(x - t) <= radius
        raised, rest = np.sort(likelihood[goal == (move > 0)])[::-1], np.sort(likelihood[goal == (move < 0)])
        for part, shares, sign in ((raised, boxes.near, 1), (rest, boxes.far, -1)):
            held = np.interp(shares.at[row], np.arange(part.size + 1) / part.size, [0.0, *np.cumsum(part) / part.sum()])
            room = sign * (shares.told[row] - held)
            assert np.all(room[shares.at[row] <= 1] >= -2e-4)  # the grid's own error
        assert np.log(raised.mean() / rest.mean()) <= boxes.gain[row] + 1e-3


def test_it_is_near_the_largest_and_falls_in_epsilon() -> None:
    salary = gp.Attribute("salary", prior=gp.normal(mean=2000, sd=235.7), bounds=(1000, 3000))
    for at, share in (({"salary": 2000}, 0.75), (None, 0.4)):
        attack = gp.Attack(gp.within(salary, 100), at=at)
        largest = attack.epsilon(advantage=0.1)
        found = [
            attack.largest_prior_factor(epsilon=e * largest, advantage=0.1, quick=True)
            for e in (1.01, 1.0, 0.9, 0.8, 0.4)
        ]
        assert found[:2] == [0.0, 1.0]
        assert found[1] < found[2] < found[3] < found[4]
        assert math.log(found[3]) > share * math.log(1.8)  # 1.853 is the largest at 2000
        wrong = gp.Attack(gp.within(salary, 100), at={"salary": 2000}, prior_factor=found[3])
        assert float(wrong.advantage(0.8 * largest).bound) <= 0.1


def test_the_worst_true_value_is_proven_near_its_attack() -> None:
    salary = gp.Attribute("salary", prior=gp.normal(mean=2000, sd=235.7))
    found = gp.Attack(gp.within(salary, 100), prior_factor=1.5).advantage(0.0015, both=True)
    assert float(found.attack) < float(found.bound) <= 1.0011 * float(found.attack)


def test_every_prior_is_proven_where_none_breaks_the_limit() -> None:
    flat = gp.Attribute("x", prior=gp.uniform(0, 1))
    attack = gp.Attack(gp.within(flat, 0.1))
    assert attack.largest_prior_factor(epsilon=4 * math.atanh(0.1), advantage=0.1, quick=True) == math.inf
    assert attack.largest_prior_factor(epsilon=4.2 * math.atanh(0.1), advantage=0.1, quick=True) < math.inf


@pytest.mark.parametrize("prior", [gp.normal(20, 6), gp.exponential(5), gp.empirical(np.arange(400) ** 1.1)], ids=repr)
@pytest.mark.parametrize("factor", [1.3, 6.0])
def test_the_largest_factor_at_the_worst_true_value_is_close_and_keeps_the_limit(prior: Any, factor: float) -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=prior), 2.0), prior_factor=factor)
    epsilon = attack.epsilon(advantage=0.1)
    found = attack.largest_prior_factor(epsilon=epsilon, advantage=0.1)
    assert 0.98 * factor <= found <= 1.003 * factor
    assert replace(attack, prior_factor=found).advantage(epsilon).attack <= 0.1
