"""True values between two: no belief among them lies further above the straight line than is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.gaussian.nodes import nodes_of, odds_of
from guessproof.risk.gaussian.outputs import belief_cells
from guessproof.risk.gaussian.strips import Strips
from guessproof.world.line_form import LineForm
from guessproof.world.special import expit

PRIORS: tuple[Any, ...] = (
    gp.normal(20, 6),
    gp.uniform(0, 60),
    gp.exponential(15),
    gp.mixture((0.5, gp.normal(15, 4)), (0.5, gp.normal(40, 9))),
    gp.histogram([0, 10, 20, 40, 90], [0.1, 0.4, 0.3, 0.2]),
    gp.lognormal(20, 0.4),
)
FLAT = LineForm()


@pytest.mark.parametrize("percent", [None, 20.0])
@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_beliefs_between_two_true_values(prior: Any, percent: float | None) -> None:
    """Cells of drawn widths; all true values of each on a grid, for all outputs of a cell of them."""
    draw = np.random.default_rng(11)
    attribute = gp.Attribute("time", prior=prior, bounds=(0, 120), metric=gp.Clamped(0, 120))
    goal = gp.within(attribute, 3) if percent is None else gp.within(attribute, percent=percent)
    spared = 0.0
    for _ in range(12):
        response = LineForm((0.0, 120.0), (0.0, 1.0, 0.0), (0.0, 0.0)).times(1 / draw.uniform(1.5, 12))
        low = draw.uniform(2, 50)
        high = low + draw.choice([0.3, 1.5, 6.0])
        truths = np.linspace(low, high, 21)
        lo, hi = goal.edges(truths)[0]
        nodes = nodes_of(prior, response, FLAT, np.concatenate([lo, hi]))
        strips = Strips.of(goal, prior, response, nodes, np.array([low]), np.array([high]))
        ends = np.linspace(-6.0, float(response.psi(120.0)) + 6, 200)
        found = belief_cells(nodes, ends, strips.first, strips.past)
        fine = 0.5 * (found.ends[1:] + found.ends[:-1])
        after = expit(odds_of(nodes, fine, *nodes.positions(lo, hi)).log)
        before = np.asarray(prior.mass(lo, hi))
        for said, truth in (
            (strips.rises(found), after - before),
            (strips.falls(found), before - after),
            (strips.beliefs(found), after),
        ):
            assert np.all(np.max(truth, axis=1) <= said[:, 0] + 1e-9)
            spared = max(spared, float(np.max(np.max(truth, axis=1) - np.maximum(truth[:, 0], truth[:, -1]))))
    assert spared > 1e-3  # some lie above both ends: what is added is needed


@pytest.mark.parametrize("height", [0.02, 0.05])
def test_an_answer_that_rises_within_a_strip_comes_near_what_is_added(height: float) -> None:
    """Two answers, one for either half of the strip: nothing makes the shares differ more."""
    attribute = gp.Attribute("time", prior=gp.uniform(0, 60))
    goal, response = gp.within(attribute, 3), LineForm((29.999, 30.001), (0.0, height / 0.002, 0.0), (0.0, 0.0))
    truths = np.linspace(26.0, 28.0, 41)
    lo, hi = goal.edges(truths)[0]
    nodes = nodes_of(attribute.prior, response, FLAT, np.concatenate([lo, hi]))  # pyright: ignore[reportArgumentType]
    strips = Strips.of(goal, attribute.prior, response, nodes, truths[:1], truths[-1:])  # pyright: ignore[reportArgumentType]
    found = belief_cells(nodes, np.array([-4.0, -3.999, -3.998]), strips.first, strips.past)
    after = expit(odds_of(nodes, found.ends[:-1], *nodes.positions(lo, hi)).log)
    line = after[:, :1] + (after[:, -1:] - after[:, :1]) * np.linspace(0.0, 1.0, 41)
    above, added = float(np.max(np.abs(after - line))), float(np.max(strips.beliefs(found) - np.max(after)))
    assert 0.97 * added <= above <= added * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize(("sigma", "failure"), [(30.0, 1e-3), (60.0, 0.05)])
def test_the_worst_true_value_both_ways_is_met_within_two_percent(sigma: float, failure: float) -> None:
    clamped = gp.Attribute("time", prior=gp.normal(20, 6.28), bounds=(0, 120), metric=gp.Clamped(0, 120))
    found = gp.GaussianAttack(gp.within(clamped, 2)).advantage(sigma=sigma, failure=failure, both=True)
    assert float(found.attack) <= float(found.bound) <= 1.02 * float(found.attack)


def test_finitely_many_values_are_met_at_the_true_value_that_turns_most() -> None:
    """Between two true values at which a value becomes correct, or ceases to be, the goal is one and the same."""
    values = [5, 10, 10, 15, 20, 22, 25, 31, 40]
    listed = gp.Attribute("time", prior=gp.empirical(values), bounds=(0, 120), metric=gp.Clamped(0, 120))
    found = gp.GaussianAttack(gp.within(listed, 2)).advantage(sigma=15, failure=1e-3)
    turns = [v + side for v in values for side in (-2, 2)]
    for truth in {*turns, *(t + 0.2 for t in turns), 0.0, 60.0, 120.0}:
        at = gp.GaussianAttack(gp.within(listed, 2), at={"time": float(truth)})
        assert float(at.advantage(sigma=15, failure=1e-3).attack) <= float(found.bound)
    assert float(found.bound) <= 1.02 * float(found.attack)
