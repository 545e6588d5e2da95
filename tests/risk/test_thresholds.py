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
