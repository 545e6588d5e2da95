"""Gaussian noise: the curve against 60 digits and against dp_accounting."""

from __future__ import annotations

import math
import random

import mpmath
import pytest

from guessproof.errors import ParameterError
from guessproof.mechanisms.gaussian import (
    Gaussian,
    gdp_delta,
    gdp_epsilon,
    gdp_mu,
    log_gdp_delta,
)


def log_delta_reference(mu: float, epsilon: float) -> mpmath.mpf:
    """Balle & Wang's formula as it is printed, with as many digits as its cancellation eats."""
    u = epsilon / mu - mu / 2
    digits = 60 + int(u * u / 2) + (int(-2 * math.log10(mu)) if mu < 1 else 0)
    with mpmath.workdps(digits):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.log(mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m))


def test_curve_against_many_digits():
    rng = random.Random(5)
    for _ in range(150):
        mu, u = 10 ** rng.uniform(-6, 2), rng.uniform(-25, 25)
        epsilon = max(0.0, mu * (u + mu / 2))
        assert log_gdp_delta(mu, epsilon) == pytest.approx(float(log_delta_reference(mu, epsilon)), abs=1e-12)


def test_calibration_is_tight_and_private():
    rng = random.Random(6)
    for _ in range(60):
        epsilon, delta = 10 ** rng.uniform(-5, 2), 10 ** rng.uniform(-60, -0.1)
        mu = gdp_mu(epsilon, delta)
        assert log_delta_reference(mu, epsilon) <= mpmath.log(delta)
        assert log_delta_reference(mu * (1 + 1e-9), epsilon) > mpmath.log(delta)
        back = gdp_epsilon(mu, delta)
        assert back == pytest.approx(epsilon, rel=1e-7, abs=1e-12)
        assert log_delta_reference(mu, back) <= mpmath.log(delta)


def test_against_dp_accounting():
    from dp_accounting.pld import accountant, common

    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-5), (3.0, 1e-9), (8.0, 1e-3)):
        wanted = common.DifferentialPrivacyParameters(epsilon, delta)
        theirs = accountant.get_smallest_gaussian_noise(wanted, 1, 1.0)
        assert Gaussian(1, epsilon, delta).scale == pytest.approx(theirs, rel=2e-3)


def test_curve_against_dp_accounting_s_privacy_loss():
    from dp_accounting.pld import privacy_loss_mechanism as losses

    for sigma in (0.5, 1.0, 7.0):
        theirs = losses.GaussianPrivacyLoss(sigma, sensitivity=1.0)
        for epsilon in (0.01, 0.5, 2.0):
            assert gdp_delta(1 / sigma, epsilon) == pytest.approx(
                theirs.get_delta_for_epsilon(epsilon), rel=1e-9, abs=1e-15
            )


def test_mxk_theorem_3_fails_for_gaussian_noise_too(papers):
    """Its √-form depends on the standard deviation alone: ε = (M/c)√(ln 2 − ln(1−p)) at σ = M/ε."""

    def delivered(p: float) -> float:
        return math.erf(math.sqrt(math.log(2) - math.log(1 - p)) / math.sqrt(2))

    threshold = papers["mugunthan"]["thm3_gaussian_fails_above"]
    assert delivered(threshold - 1e-4) > threshold - 1e-4
    assert delivered(threshold + 1e-4) < threshold + 1e-4


def test_a_large_delta_needs_no_epsilon():
    assert Gaussian.epsilon_for(sensitivity=1, within=1e6, confidence=0.9, delta=1e-3) == 0
    assert Gaussian(1, 0, 0.01).delta_at(0) <= 0.01


@pytest.mark.parametrize("delta", [0, 1, -1e-6, math.nan])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(ParameterError, match="delta"):
        Gaussian(1, 1, delta)


def test_no_pure_guarantee():
    assert Gaussian(1, 1, 1e-6).epsilon_at() == math.inf
