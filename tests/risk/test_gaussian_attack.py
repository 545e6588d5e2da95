"""Gaussian noise and an attacker: closed forms, the general engine, brute force and simulation say the same."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import guessproof as gp
from guessproof.errors import GoalError, InfeasibleError, NotCertifiedError, ParameterError
from guessproof.risk import GaussianReading
from guessproof.world.distances import LineForm

TIME = gp.Attribute("time", prior=gp.normal(20, 6.28))
CLAMPED = gp.Attribute("time", prior=gp.normal(20, 6.28), bounds=(0, 120), metric=gp.Clamped(0, 120))
ALICE = gp.GaussianAttack(gp.within(TIME, 2), at={"time": 20})
STRAIGHT = LineForm(slopes=(1.0,))
COLUMN = LineForm((0.0, 120.0), (0.0, 1.0, 0.0), (0.0, 0.0))


def test_the_published_setting_has_these_figures() -> None:
    assert ALICE.sigma(advantage=0.05) == pytest.approx(9.2336, rel=1e-3)
    assert float(ALICE.failure(sigma=3.73, advantage=0.05).bound) == pytest.approx(0.7574, abs=5e-5)
    assert float(ALICE.failure(sigma=3.73, advantage=0.05, under_prior=True).bound) == pytest.approx(0.4493, abs=5e-5)
    assert ALICE.advantage(sigma=ALICE.sigma(advantage=0.05)).bound <= 0.05


def test_answers_that_are_drawn_break_the_limit_as_often() -> None:
    rng = np.random.default_rng(7)
    draws, before, noise = 200_000, ALICE.prior, 3.73
    sd = 1 / math.hypot(1 / 6.28, 1 / noise)
    for truth, told in ((np.full(draws, 20.0), 0.7574), (20 + 6.28 * rng.standard_normal(draws), 0.4493)):
        answers = truth + noise * rng.standard_normal(draws)
        centre = sd**2 * (20 / 6.28**2 + answers / noise**2)
        belief = ndtr((22 - centre) / sd) - ndtr((18 - centre) / sd)
        assert np.mean(belief - before > 0.05) == pytest.approx(told, abs=0.004)


def test_the_general_engine_meets_the_closed_forms() -> None:
    for sigma in (3.73, 40.0):
        seen = GaussianReading(TIME, gp.within(TIME, 2), 20.0, STRAIGHT.times(1 / sigma))
        exact = float(ALICE.advantage(sigma=sigma).bound)
        found = seen.advantage()
        assert float(found.attack) <= exact * (1 + 1e-9) + 1e-9
        assert exact <= float(found.bound)
        assert float(found.bound) == pytest.approx(exact, rel=2e-5)
        for failure in (1e-6, 0.01, 0.3):
            exact, found = float(ALICE.advantage(sigma=sigma, failure=failure).bound), seen.advantage(failure)
            assert float(found.attack) - 1e-9 <= exact <= float(found.bound) + 1e-9
        for drawn in (False, True):
            exact = float(ALICE.failure(sigma=sigma, advantage=0.05, under_prior=drawn).bound)
            found = seen.failure(advantage=0.05, under_prior=drawn)
            assert float(found.attack) - 1e-9 <= exact <= float(found.bound) + 1e-9
            assert float(found.bound) - float(found.attack) < 3e-3


PRIORS: tuple[Any, ...] = (
    gp.uniform(0, 60),
    gp.exponential(15),
    gp.beta(2, 5, 0, 120),
    gp.gamma(3, 6),
    gp.lognormal(20, 0.4),
    gp.student_t(4, 20, 5),
    gp.mixture((0.5, gp.normal(15, 4)), (0.5, gp.normal(40, 9))),
    gp.histogram([0, 10, 20, 40, 90], [0.1, 0.4, 0.3, 0.2]),
    gp.empirical([5, 10, 10, 15, 20, 22, 25, 31, 40]),
)


def _slow(prior: Any, truth: float, sigma: float) -> tuple[float, Any, Any]:
    """Belief before, outputs, and the belief after each, on a plain grid of quantiles."""
    x = np.asarray(prior.quantile((np.arange(20_000) + 0.5) / 20_000)) if hasattr(prior, "quantile") else prior.points
    weight = np.full(len(x), 1 / len(x)) if hasattr(prior, "quantile") else prior.mass
    inside = np.abs(x - truth) <= 2
    outputs = np.linspace(-60, 180, 961)
    likelihood = np.exp(-0.5 * ((outputs[:, None] - np.clip(x, 0, 120)) / sigma) ** 2) * weight
    return float(weight @ inside), outputs, (likelihood @ inside) / likelihood.sum(axis=1)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_every_prior_agrees_with_a_plain_grid(prior: Any) -> None:
    attribute = gp.Attribute("time", prior=prior, bounds=(0, 120), metric=gp.Clamped(0, 120))
    attack = gp.GaussianAttack(gp.within(attribute, 2), at={"time": 20})
    before, outputs, after = _slow(prior, 20.0, 6.0)
    assert float(attack.advantage(sigma=6).bound) >= np.max(after) - before - 2e-4
    assert float(attack.advantage(sigma=6).attack) <= np.max(after) - before + 3e-4
    mass = np.exp(-0.5 * ((outputs - 20) / 6) ** 2)
    often = float(mass @ (after - before > 0.04) / mass.sum())
    found = attack.failure(sigma=6, advantage=0.04)
    assert float(found.attack) - 0.01 <= often <= float(found.bound) + 0.01


@pytest.mark.parametrize(("sigma", "failure"), [(9.0, 1e-3), (20.0, 1e-6), (30.0, 0.05)])
def test_the_worst_true_value_is_no_worse_than_promised(sigma: float, failure: float) -> None:
    """Every true value of a fine grid keeps what was proven, and the worst one nearly reaches it."""
    found = gp.GaussianAttack(gp.within(CLAMPED, 2)).advantage(sigma=sigma, failure=failure)
    reached = 0.0
    for truth in np.linspace(0, 120, 41):
        at = gp.GaussianAttack(gp.within(CLAMPED, 2), at={"time": float(truth)})
        reached = max(reached, float(at.advantage(sigma=sigma, failure=failure).attack))
    assert reached <= float(found.bound)
    assert float(found.attack) >= 0.9 * reached
    assert float(found.bound) <= 1.04 * float(found.attack)


def test_noise_from_a_limit_keeps_it_and_is_not_wasteful() -> None:
    anyone = gp.GaussianAttack(gp.within(CLAMPED, 2))
    sigma = anyone.sigma(advantage=0.2, failure=1e-3)
    assert float(anyone.advantage(sigma=sigma, failure=1e-3).bound) <= 0.2
    assert float(anyone.advantage(sigma=0.93 * sigma, failure=1e-3).attack) > 0.2
    stated = gp.GaussianAttack(gp.within(CLAMPED, 2), at={"time": 30})
    sigma = stated.sigma(posterior=0.2, failure=1e-3)
    assert float(stated.posterior(sigma=sigma, failure=1e-3).bound) <= 0.2
    assert float(stated.posterior(sigma=0.99 * sigma, failure=1e-3).attack) > 0.2


def test_labels_are_judged_as_the_numbers_that_they_add() -> None:
    """One of two normal curves: the belief rises in the answer, so a level is passed from one answer on."""
    share, sigma, gain = 0.3, 1.7, 0.2
    voted = gp.Attribute("voted", prior=gp.categorical({0: 1 - share, 1: share}), metric=gp.Absolute())
    attack = gp.GaussianAttack(gp.within(voted, 0.5), at={"voted": 1})
    odds = math.log((share + gain) / (1 - share - gain)) - math.log(share / (1 - share))
    often = float(ndtr((1 - (0.5 + sigma**2 * odds)) / sigma))
    found = attack.failure(sigma=sigma, advantage=gain)
    assert float(found.attack) <= often <= float(found.bound)
    assert float(found.bound) == pytest.approx(often, abs=3e-3)
    assert float(attack.advantage(sigma=sigma).bound) == pytest.approx(1 - share, abs=1e-6)  # some answer tells all
    named = gp.Attribute("vote", prior=gp.categorical({"yes": share, "no": 1 - share}))
    with pytest.raises(GoalError, match="such as 0 and 1"):
        gp.GaussianAttack(gp.exactly(named), at={"vote": "yes"})


def test_a_smaller_failure_and_less_noise_tell_more() -> None:
    attack = gp.GaussianAttack(gp.within(CLAMPED, 2), at={"time": 27})
    gains = [float(attack.advantage(sigma=8, failure=f).bound) for f in (0.5, 0.1, 1e-3, 1e-9, 0.0)]
    assert all(one <= other * (1 + 5e-3) for one, other in pairwise(gains))  # each is proven within 5e-3
    rises = [float(attack.advantage(sigma=s).bound) for s in (40, 20, 10, 5, 2)]
    assert rises == sorted(rises)
    assert float(attack.advantage(sigma=8, failure=0.1, both=True).bound) >= gains[1]


def test_a_laplace_release_beside_it_is_judged_from_the_smaller_variance() -> None:
    """The belief after Gaussian noise is normal with variance v around any centre; the tent does the rest."""
    sigma, per_unit = 9.2336, 0.02
    sd = 1 / math.hypot(1 / 6.28, 1 / sigma)
    tent = gp.Attack(gp.within(gp.Attribute("time", prior=gp.normal(0, sd)), 2)).posterior(epsilon=per_unit)
    seen = GaussianReading(TIME, gp.within(TIME, 2), 20.0, STRAIGHT.times(1 / sigma), STRAIGHT.times(per_unit))
    found = seen.posterior()
    assert float(found.attack) <= float(tent.bound) * (1 + 1e-6)
    assert float(tent.attack) <= float(found.bound) <= 1.005 * float(tent.bound)
    alone = replace(seen, pure=LineForm())
    assert float(alone.posterior().bound) < float(found.attack)


def test_what_cannot_be_promised_is_refused_with_the_reason() -> None:
    with pytest.raises(InfeasibleError, match="failure = 1e-6"):
        gp.GaussianAttack(gp.within(CLAMPED, 2)).sigma(advantage=0.05)
    with pytest.raises(NotCertifiedError, match="declare bounds"):
        gp.GaussianAttack(gp.within(TIME, 2)).advantage(sigma=5)
    with pytest.raises(InfeasibleError, match="before any release"):
        gp.GaussianAttack(gp.within(CLAMPED, 2), at={"time": 20}).sigma(posterior=0.1, failure=1e-3)
    with pytest.raises(ParameterError, match="whole prior"):
        gp.GaussianAttack(gp.within(gp.Attribute("x", prior=gp.unknown(0, 1)), 0.1))
    other = gp.Attribute("age", prior=gp.normal(40, 9))
    with pytest.raises(GoalError, match="several"):
        gp.GaussianAttack(gp.within(TIME, 2) & gp.within(other, 2))
    for wrong in (-0.1, 1.0, math.nan):
        with pytest.raises(ParameterError, match="failure"):
            ALICE.advantage(sigma=3, failure=wrong)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_the_least_noise_is_found_for_every_prior(prior: Any) -> None:
    """The worst true value needs no less noise than a stated one, and both keep the limit closely."""
    attribute = gp.Attribute("time", prior=prior, bounds=(0, 100))
    stated = gp.GaussianAttack(gp.within(attribute, 2), at={"time": 20})
    sigma = stated.sigma(advantage=0.1, failure=1e-3)
    assert 0.098 < float(stated.advantage(sigma=sigma, failure=1e-3).bound) <= 0.1
    assert gp.GaussianAttack(gp.within(attribute, 2)).sigma(advantage=0.1, failure=1e-3) >= 0.99 * sigma


def test_limits_that_nothing_breaks_and_limits_that_nothing_keeps() -> None:
    assert ALICE.sigma(advantage=0.95) == 0
    assert gp.GaussianAttack(gp.within(CLAMPED, 2)).sigma(posterior=1, failure=1e-3) == 0
    with pytest.raises(InfeasibleError):
        gp.GaussianAttack(gp.within(CLAMPED, 2)).sigma(advantage=0, failure=1e-3)
