"""The worst true value by strips: against stated true values, and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

import guessproof as gp
from guessproof.errors import NotCertifiedError
from guessproof.risk import advantage_over

A = gp.Attribute
CAP = gp.minimum(gp.Absolute(), gp.Discrete() * 2.084)
QUESTIONS = [
    (A("x", prior=gp.normal(2000, 235.7)), 100, 0.002),
    (A("x", prior=gp.exponential(2)), 0.3, 0.2),
    (A("x", prior=gp.exponential(2)), 0.3, 0.7),
    (A("x", prior=gp.laplace(0, 1), metric=gp.Absolute() + gp.Discrete() * 0.1), 1, 2.0),
    (A("x", prior=gp.laplace(29.82, 9.663), bounds=(-16.56, 76.2)), 8.955, 0.01446),
    (A("x", prior=gp.student_t(9.58, 2.517, 3.427), bounds=(-18.05, 23.08)), 2.64, 0.2192),
    (A("x", prior=gp.truncated(gp.normal(8.016, 18.13), 53.34, 107.7)), 0.4635, 0.2204),
    (A("x", prior=gp.normal(33.05, 33.02), metric=gp.Clamped(-34.7648, 100.865)), 12.67, 0.0127),
    (A("x", prior=gp.laplace(43, 4), metric=gp.Clamped(34.0, 44.0)), 2.0, 0.5),
    (A("x", prior=gp.histogram([0, 5, 9, 20], [0.3, 0.5, 0.2]), bounds=(-8, 32)), 0.5359, 0.4),
    (A("x", prior=gp.histogram([0, 5, 9, 20], [0.3, 0.5, 0.2]), metric=CAP), 1.6, 0.3),
    (A("x", prior=gp.normal(0, 1)), 1e-4, 0.5),
    (A("x", prior=gp.normal(0, 1)), 0.5, 1e-9),
]


@pytest.mark.parametrize(("attribute", "radius", "epsilon"), QUESTIONS)
@pytest.mark.parametrize("both", [False, True])
def test_no_stated_true_value_beats_the_worst_one(attribute: gp.Attribute, radius: float, epsilon: float, both) -> None:
    goal = gp.within(attribute, radius)
    worst = gp.Attack(goal).advantage(epsilon, both=both)
    capped = math.isfinite(attribute.distance.line_form.cap)  # pyright: ignore[reportOptionalMemberAccess]
    assert worst.attack <= worst.bound <= worst.attack * (1.006 if capped else 1.0021)
    low, high = attribute.range
    t = np.clip(attribute.prior.quantile(np.linspace(0.001, 0.999, 25)), low, high)  # pyright: ignore
    stated = gp.Attack(goal, at={"x": np.append(t, worst.worst_at)}).advantage(epsilon, both=both)
    assert np.all(stated.attack <= worst.bound * (1 + 1e-9))
    assert np.asarray(stated.bound)[-1] >= worst.attack * (1 - 1e-9)
    assert np.max(stated.attack) >= worst.attack * (1 - 1e-4)


@pytest.mark.parametrize(("attribute", "radius", "epsilon"), QUESTIONS)
def test_an_epsilon_keeps_its_limit_and_is_about_the_largest(attribute, radius: float, epsilon: float) -> None:
    attack = gp.Attack(gp.within(attribute, radius))
    reached = attack.advantage(epsilon)
    capped = math.isfinite(attribute.distance.line_form.cap)
    found = attack.epsilon(advantage=reached.attack)
    assert found <= epsilon * (1 + 1e-6)
    assert found >= epsilon * (0.95 if capped or attribute.prior.support[0] > 50 else 0.998)


@pytest.mark.parametrize(("attribute", "radius", "epsilon"), QUESTIONS[:11])
@pytest.mark.parametrize("both", [False, True])
def test_cells_of_true_values_enclose_the_stated_ones(attribute, radius: float, epsilon: float, both: bool) -> None:
    """Wide and narrow cells: bounds between their ends hold at true values inside."""
    goal = gp.within(attribute, radius)
    low, high = (float(np.clip(attribute.prior.quantile(u), *attribute.range)) for u in (0.05, 0.95))
    for cells in (3, 12, 50):
        ends = np.linspace(low, high, cells + 1)
        found = advantage_over(gp.Attack(goal), ends, epsilon, both)
        inside = ends[:-1] + np.linspace(0.2, 0.8, cells) * np.diff(ends)
        stated = gp.Attack(goal, at={"x": inside}).advantage(epsilon, both=both)
        assert np.all(stated.attack <= found.most * (1 + 1e-9))
        assert np.all(stated.bound >= found.least * (1 - 1e-9))


@pytest.mark.parametrize("percent", [5.0, 40.0, 100.0])
def test_percentages_are_nested_too(percent: float) -> None:
    attribute = gp.Attribute("x", prior=gp.beta(3.4, 5.8, 0, 100))
    goal = gp.within(attribute, percent=percent)
    found = gp.Attack(goal).advantage(0.0074)
    stated = gp.Attack(goal, at={"x": np.linspace(1, 49 if percent == 100 else 99, 90)}).advantage(0.0074)
    assert np.max(stated.attack) <= found.bound <= np.max(stated.bound) * 1.01


def test_limits_on_beliefs_near_certainty() -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(2000, 235.7)), 100))
    assert 0.0679 <= attack.epsilon(posterior=0.999) <= 0.06791790689870


def test_heavy_tails_without_bounds_are_refused() -> None:
    attribute = gp.Attribute("x", prior=gp.student_t(3))
    with pytest.raises(NotCertifiedError, match="bounds="):
        gp.Attack(gp.within(attribute, 1)).advantage(1.0)


def test_a_tail_too_thin_for_floating_point_still_tells() -> None:
    """A likelihood that grows faster than a tail falls outweighs everything, however far out the goal ends."""
    prior = gp.mixture((0.9, gp.normal(-5, 9)), (0.1, gp.laplace(19, 0.4)))
    found = gp.Attack(gp.within(gp.Attribute("x", prior=prior), percent=90)).advantage(5.0, both=True)
    assert found.attack == found.bound == pytest.approx(1.0)
