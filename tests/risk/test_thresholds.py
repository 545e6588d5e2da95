"""A filter's outcome is all that a count reveals: however large ε is, the value behind it stays hidden."""

from __future__ import annotations

import math

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.limits import posterior_of
from guessproof.risk.tent import best_tents, log_prior, tent

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


@pytest.mark.parametrize("k", [3.0, 50.0, 400.0, -3.0, -50.0, -400.0])
def test_the_peak_of_the_tent_is_on_the_side_of_the_jump_where_it_is_best(k: float) -> None:
    """Its place and its integral are what the worst true value is followed by."""
    prior, cuts = gp.normal(0, 1), (-0.2, 0.35)
    form = gp.Threshold(*cuts).line_form
    lo, hi = np.linspace(-1.0, 0.3, 27), np.linspace(-0.1, 1.4, 27)
    found = best_tents(prior, form, lo, hi, k)
    c, log_z = found.peak, found.log_z
    ends = np.array([-np.inf, *cuts, np.inf])
    mass = prior.mass(ends[:-1], ends[1:])
    inside = prior.mass(*np.broadcast_arrays(*(f(e[:, None], g) for f, e, g in (
        (np.maximum, lo, ends[:-1]), (np.minimum, hi, ends[1:])
    ))))  # fmt: skip
    log_l = -k * np.abs(np.arange(3) - form.psi(c)[:, None])
    top = log_l.max(axis=1)
    total = np.exp(log_l - top[:, None]) * mass
    belief = np.sum(np.exp(log_l - top[:, None]) * inside, axis=1) / total.sum(axis=1)
    log_p, log_q = log_prior(prior, lo, hi)
    assert belief == pytest.approx(posterior_of(log_p, log_q, tent(prior, form, lo, hi, k)[1]), rel=1e-8)
    assert log_z == pytest.approx(np.log(total.sum(axis=1)) + top, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("cut", [9.376831076857243, 10.173194032029544])
def test_a_jump_a_bit_before_the_end_of_one_of_two_intervals(cut: float) -> None:
    prior = gp.exponential(1.7)
    attribute = gp.Attribute("x", prior=prior, metric=gp.Threshold(cut))
    attack = gp.Attack(gp.inside(attribute, (7.9, 9.376831076857245), (10.173194032029544, 10.4)))
    below = [prior.mass(7.9, min(cut, 9.376831076857245)), prior.mass(10.173194032029544, max(10.173194032029544, cut))]
    left = float(sum(below)) / float(prior.cdf(cut))
    right = float(prior.mass(max(cut, 10.173194032029544), 10.4)) / float(prior.mass(cut, math.inf))
    assert attack.posterior(690.0).bound == pytest.approx(max(left, right), rel=1e-8)
