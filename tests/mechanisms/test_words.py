"""The field's other words: known curves are met, everything else lies on the safe side."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import guessproof as gp
from guessproof.errors import ParameterError
from guessproof.mechanisms.words import gdp_of_epsilon, words_of_charges, words_of_noise

RATES = (1e-4, 0.01, 0.05, 0.2, 0.5, 0.9)


def _laplace(alpha: float, epsilon: float) -> float:
    if alpha < math.exp(-epsilon) / 2:
        return 1 - math.exp(epsilon) * alpha
    return math.exp(-epsilon) / (4 * alpha) if alpha <= 0.5 else math.exp(-epsilon) * (1 - alpha)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_laplace_noise_has_its_known_curve(epsilon: float) -> None:
    words = gp.other_words([gp.Laplace(2, epsilon)])
    for rate in RATES:
        known = _laplace(rate, epsilon)
        assert words.tradeoff(rate) <= known * (1 + 1e-12)
        assert words.tradeoff(rate) == pytest.approx(known, abs=2e-5)
    assert words.advantage == pytest.approx(1 - math.exp(-epsilon / 2), rel=1e-12)
    assert words.zcdp == epsilon**2 / 2


def test_gaussian_noise_has_its_known_curve_and_adds_its_squares() -> None:
    one = gp.Gaussian(1, 1, 1e-5)
    for count in (1, 4):
        words, mu = gp.other_words([one] * count), one.mu * math.sqrt(count)
        assert words.gdp == pytest.approx(mu, rel=1e-12)
        assert words.zcdp == pytest.approx(mu**2 / 2, rel=1e-12)
        assert words.advantage == pytest.approx(2 * ndtr(mu / 2) - 1, rel=1e-9)
        for rate in RATES:
            assert words.tpr(rate) == pytest.approx(float(ndtr(ndtri(rate) + mu)), abs=1e-9)


def test_no_test_beats_the_curve_of_several_releases() -> None:
    """The best test by likelihood ratios, on drawn outputs of all releases, stays within what is said."""
    rng = np.random.default_rng(3)
    releases = [gp.Gaussian(1, 1, 1e-5), gp.Laplace(1, 0.5), gp.Laplace(2, 0.3)]
    words = gp.other_words(releases)
    shifts = [r.sensitivity for r in releases]
    draws = np.stack(
        [rng.standard_normal(200_000) * releases[0].scale, *(rng.laplace(0, r.scale, 200_000) for r in releases[1:])]
    )

    def score(outputs: np.ndarray) -> np.ndarray:
        return sum(
            r.log_density(np.abs(y - s)) - r.log_density(np.abs(y))
            for r, s, y in zip(releases, shifts, outputs, strict=True)
        )

    absent, present = score(draws), score(draws + np.array(shifts)[:, None])
    for rate in (0.01, 0.05, 0.3):
        cut = np.quantile(absent, 1 - rate)
        assert np.mean(present > cut) <= words.tpr(rate) + 0.005
    assert np.mean(present > 0) - np.mean(absent > 0) <= words.advantage + 0.005
    assert words.tpr(0.05) < 0.05 * math.exp(0.8) + 0.06  # nothing is given away that adding ε would keep


def test_pure_privacy_is_gaussian_privacy_with_this_mu() -> None:
    for epsilon, alpha in itertools.product((0.01, 0.5, 2.0, 9.0), np.linspace(1e-6, 1 - 1e-6, 301)):
        pure = max(0.0, 1 - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - alpha))
        assert float(ndtr(-ndtri(alpha) - gdp_of_epsilon(epsilon))) <= pure + 1e-12
    assert gdp_of_epsilon(29.999) == pytest.approx(gdp_of_epsilon(30.001), rel=1e-3)


def test_a_ledger_says_the_same_as_its_releases() -> None:
    tables = [
        {"epsilon": 0.5, "delta": 0.0, "sensitivity": 1.0, "noise_scale": 2.0},
        {"epsilon": 1.0, "delta": 1e-5, "sensitivity": 1.0, "noise_scale": gp.Gaussian(1, 1, 1e-5).scale},
    ]
    kept, words = words_of_noise(tables), gp.other_words([gp.Laplace(1, 0.5), gp.Gaussian(1, 1, 1e-5)])
    assert kept.gdp == pytest.approx(words.gdp, rel=1e-6)
    assert kept.tpr(0.05) >= words.tpr(0.05) - 1e-12


def test_a_ledger_with_one_release_says_what_the_release_does() -> None:
    """Laplace noise has its own curve: a ledger that knows only its ε would say 38 % instead of 33 %."""
    noise = {"mechanism": "laplace", "epsilon": 0.8, "delta": 0.0, "sensitivity": 3.0, "noise_scale": 3.75}
    kept, words = words_of_noise([noise]), gp.other_words([gp.Laplace(3, 0.8)])
    assert words.advantage == pytest.approx(-math.expm1(-0.4), rel=1e-9)
    assert words.advantage <= kept.advantage == pytest.approx(words.advantage, rel=1e-6)
    unknown = words_of_noise([{**noise, "mechanism": "another"}])
    assert unknown.advantage == pytest.approx(math.tanh(0.4), rel=1e-6)


def test_filters_that_cost_less_than_their_noises_are_said_at_what_they_cost() -> None:
    """Of three noises one record meets two at most: ε is charged for two, squares are added for all three."""
    noise = {"mechanism": "laplace", "epsilon": 0.3, "delta": 0.0, "sensitivity": 1.0, "noise_scale": 1 / 0.3}
    bell = {**noise, "mechanism": "gaussian", "delta": 1e-5, "noise_scale": gp.Gaussian(1, 0.3, 1e-5).scale}
    kept = words_of_charges([([noise] * 3, 0.6)])
    assert kept.epsilon == pytest.approx(0.6, rel=1e-6)
    assert kept.tpr(0.01) < words_of_noise([noise] * 3).tpr(0.01)
    assert kept.zcdp == pytest.approx(3 * 0.3**2 / 2, rel=1e-6)
    both = words_of_charges([([noise] * 3, 0.6), ([bell, noise], 0.6)])
    assert both.epsilon == pytest.approx(0.9, rel=1e-6)
    assert both.mu == pytest.approx(1 / bell["noise_scale"])  # pyright: ignore[reportOperatorIssue]


def test_beliefs_after_releases_can_be_compared_with_each_other() -> None:
    """Against every likelihood of the earlier releases on a grid, and the later ones at their worst."""
    for p, q, first, then in itertools.product((0.1, 0.7, 1.0), (0.2, 0.9), (0.0, 0.7), (0.3, 1.5)):
        told = gp.relative_risk_between(p=p, q=q, before=first, then=then)
        best = 0.0
        for other, absent in itertools.product(np.linspace(-2 * first, 2 * first, 9), np.linspace(-first, first, 9)):
            if abs(other - absent) > first + 1e-12:
                continue
            weights = np.array([p * q, p * (1 - q) * math.exp(other), (1 - p) * math.exp(absent)])
            belief = weights / weights.sum()
            best = max(best, 1 / float(belief @ [1, math.exp(-2 * then), math.exp(-then)]))
        assert best <= told * (1 + 1e-12)
        assert told <= best * (1 + 1e-9)
        if first == 0:
            assert told == pytest.approx(float(gp.relative_risk(p=p, q=q, epsilon=then)))


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ParameterError, match="fpr"):
        gp.other_words([gp.Laplace(1, 1)]).tpr(1.5)
    with pytest.raises(ParameterError, match="empty"):
        gp.other_words([])
    with pytest.raises(ParameterError, match="q"):
        gp.relative_risk_between(p=0.5, q=2, before=0, then=1)
