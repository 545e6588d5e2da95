"""Integer Laplace noise: tables of the paper and sums over the whole numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof.errors import ParameterError
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace


@pytest.mark.parametrize("table", ["table3", "table4"])
def test_tables_of_kazan_and_reiter(papers, table):
    for row in papers["kazan_reiter"][table]:
        # the printed ε is rounded to two digits; the printed figures must lie in the range that it leaves
        loose, tight = (Geometric(1, row["eps"] + side) for side in (-0.005, 0.005))
        assert tight.standard_deviation - 0.005 <= row["sd"] <= loose.standard_deviation + 0.005
        assert loose.mass(0) - 0.005 <= row["exact_probability"] <= tight.mass(0) + 0.005


def test_tables_from_their_own_profiles(papers):
    """Table 3 has q = 1: ε = ln((r−a)/(1−a)); the noise figures then agree to every printed digit."""
    for row in papers["kazan_reiter"]["table3"]:
        noise = Geometric(1, math.log((row["relative"] - row["absolute"]) / (1 - row["absolute"])))
        assert noise.epsilon == pytest.approx(row["eps"], abs=0.00501)
        assert noise.standard_deviation == pytest.approx(row["sd"], abs=0.00501)
        assert noise.mass(0) == pytest.approx(row["exact_probability"], abs=0.00501)


@pytest.mark.parametrize("noise", [Geometric(1, 0.1), Geometric(1, 3), Geometric(7, 2)])
def test_moments_and_cdf_from_the_masses(noise):
    k = np.arange(-3000, 3001)
    mass = noise.mass(k)
    assert math.sqrt(np.sum(mass * k**2)) == pytest.approx(noise.standard_deviation, rel=1e-10)
    assert noise.cdf(k[1000:5000]) == pytest.approx(np.cumsum(mass)[1000:5000], abs=1e-13)
    assert noise.cdf(2.5) == noise.cdf(2)
    assert noise.mass(0.5) == 0


@given(st.integers(1, 50), st.integers(0, 40), st.floats(1e-6, 1 - 1e-6))
def test_epsilon_for_accuracy_is_the_least(sensitivity, within, confidence):
    epsilon = Geometric.epsilon_for(sensitivity=sensitivity, within=within, confidence=confidence)
    assert Geometric(sensitivity, epsilon).confidence(within=within) >= confidence
    assert Geometric(sensitivity, epsilon * (1 - 1e-9)).confidence(within=within) < confidence


@given(st.integers(1, 9), st.floats(0.05, 8), st.floats(0, 1.2))
def test_delta_is_the_hockey_stick(sensitivity, epsilon, share):
    noise = Geometric(sensitivity, epsilon)
    k = np.arange(-12_000, 12_000)
    stick = np.clip(noise.mass(k) - math.exp(share * epsilon) * noise.mass(k - sensitivity), 0, None).sum()
    assert noise.delta_at(share * epsilon) == pytest.approx(stick, abs=1e-12)


def test_epsilon_at_inverts_delta_at():
    noise = Geometric(3, 2)
    for delta in (1e-6, 0.01, 0.3):
        epsilon = noise.epsilon_at(delta)
        assert noise.delta_at(epsilon) <= delta
        assert noise.delta_at(epsilon * (1 - 1e-6)) > delta
    assert noise.epsilon_at() <= noise.epsilon
    assert noise.epsilon_at(0.999) == 0


def test_error_is_whole_and_least():
    for epsilon in (0.01, 0.3, 1.7, 9):
        noise = Geometric(1, epsilon)
        for p in (0.01, 0.5, 0.95, 0.9999):
            c = noise.error(confidence=p)
            assert c == int(c)
            assert noise.confidence(within=c) >= p
            assert c == 0 or noise.confidence(within=c - 1) < p
    assert Geometric(1, 1e-18).error(confidence=0.5) == pytest.approx(math.log(2) * 1e18, rel=1e-12)


def test_lemma_1_of_mxk_does_not_hold_here():
    """σ is not proportional to 1/ε for integer noise (it is for Laplace)."""
    assert Laplace(1, 2).standard_deviation == pytest.approx(Laplace(1, 1).standard_deviation / 2)
    ratio = Geometric(1, 2).standard_deviation / Geometric(1, 4).standard_deviation
    assert ratio > 3


def test_only_whole_sensitivities():
    with pytest.raises(ParameterError, match="sensitivity"):
        Geometric(0.5, 1)
