"""A filter's outcome is all that a count reveals: however large ε is, the value behind it stays hidden."""

from __future__ import annotations

import math

import pytest

import guessproof as gp

SIDES = ("upper", "lower")


@pytest.mark.parametrize("cut", [-0.3, 0.5, 0.7999])
@pytest.mark.parametrize("epsilon", [20.0, 36.0, 60.0, 1e3, 1e4])
def test_a_threshold_reveals_no_more_than_its_outcome(cut: float, epsilon: float) -> None:
    prior = gp.normal(0, 1)
    attribute = gp.Attribute("x", prior=prior, metric=gp.Threshold(cut))
    attack = gp.Attack(gp.within(attribute, 0.5), at={"x": 0.3})
    below = prior.mass(-0.2, min(cut, 0.8)) / prior.cdf(cut) if cut > -0.2 else 0.0
    above = prior.mass(max(cut, -0.2), 0.8) / prior.mass(cut, math.inf)
    upper, lower = attack.posterior(epsilon=epsilon), attack.posterior(epsilon=epsilon, side="lower")
    assert upper.bound == pytest.approx(max(below, above), rel=1e-7)
    assert upper.attack == pytest.approx(max(below, above), rel=1e-7)
    assert lower.bound == pytest.approx(min(below, above), rel=1e-7, abs=1e-7)


def test_no_epsilon_breaks_a_limit_that_the_outcome_cannot_reach() -> None:
    attribute = gp.Attribute("x", prior=gp.normal(0, 1), metric=gp.Threshold(0.5))
    attack = gp.Attack(gp.within(attribute, 0.5), at={"x": 0.3})
    assert attack.epsilon(advantage=0.5) == math.inf
    assert attack.epsilon(posterior=0.5) == math.inf
    assert 0 < attack.epsilon(advantage=0.01) < math.inf


@pytest.mark.parametrize("epsilon", [1e3, 60.0, 48.7, 30.0, 20.0])
def test_a_hardly_uneven_threshold_tells_hardly_anything_however_large_epsilon_is(epsilon: float) -> None:
    """The outcome raises the belief by a percent: a gain so small that it is computed from differences."""
    attribute = gp.Attribute("day", prior=gp.uniform(4383, 6910), metric=gp.Threshold(6010))
    attack = gp.Attack(gp.within(attribute, 30), at={"day": 6001})
    truth = (6010 - 5971) / (6010 - 4383) - 60 / (6910 - 4383)
    bracket = attack.advantage(epsilon)
    assert bracket.status == "exact"
    assert bracket.bound == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("cut", [9.376831076857243, 10.173194032029544])
def test_a_jump_a_bit_before_the_end_of_one_of_two_intervals(cut: float) -> None:
    prior = gp.exponential(1.7)
    attribute = gp.Attribute("x", prior=prior, metric=gp.Threshold(cut))
    attack = gp.Attack(gp.inside(attribute, (7.9, 9.376831076857245), (10.173194032029544, 10.4)))
    below = [prior.mass(7.9, min(cut, 9.376831076857245)), prior.mass(10.173194032029544, max(10.173194032029544, cut))]
    left = float(sum(below)) / float(prior.cdf(cut))
    right = float(prior.mass(max(cut, 10.173194032029544), 10.4)) / float(prior.mass(cut, math.inf))
    assert attack.posterior(690.0).bound == pytest.approx(max(left, right), rel=1e-8)
