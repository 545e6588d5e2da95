"""Laplace noise: closed forms against independent routes."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof.errors import ParameterError
from guessproof.mechanisms.laplace import Laplace


@pytest.mark.parametrize("sensitivity", [1e-6, 1, 37.5, 1e9])
@pytest.mark.parametrize("within", [1e-4, 0.7, 5, 1e6])
@pytest.mark.parametrize("confidence", [1e-9, 0.5, 0.95, 0.999999])
def test_epsilon_for_accuracy_is_theorem_2_of_mxk(sensitivity, within, confidence):
    with mpmath.workdps(40):
        exact = -mpmath.mpf(sensitivity) * mpmath.log(1 - mpmath.mpf(confidence)) / mpmath.mpf(within)
    found = Laplace.epsilon_for(sensitivity=sensitivity, within=within, confidence=confidence)
    assert found == pytest.approx(float(exact), rel=1e-12)


@given(st.floats(1e-8, 1e8), st.floats(1e-8, 1e8))
def test_scale_is_on_the_private_side(sensitivity, epsilon):
    noise = Laplace(sensitivity, epsilon)
    assert Fraction(noise.scale) * Fraction(epsilon) >= Fraction(sensitivity)
    assert noise.scale == pytest.approx(sensitivity / epsilon, rel=1e-15)


def test_mxk_theorem_3_fails_above_a_confidence(papers):
    """[MXK] Theorem 3 promises P > p; for Laplace noise it breaks the promise above p = 0.92151."""

    def delivered(p: float) -> float:
        epsilon = math.sqrt(2 * (math.log(2) - math.log(1 - p)))
        return Laplace(1, epsilon).confidence(within=1)

    threshold = 1 - math.exp(-(1 + math.sqrt(1 + 2 * math.log(2))))
    assert threshold == pytest.approx(papers["mugunthan"]["threshold_p"], abs=1e-6)
    assert delivered(0.92150) > 0.92150
    assert delivered(0.92152) < 0.92152
    assert delivered(0.95) == pytest.approx(papers["mugunthan"]["thm3_confidence_delivered_at_0.95"], abs=5e-4)


def test_mxk_theorem_1_suffices_and_is_never_needed():
    for p in (0.1, 0.5, 0.9, 0.99):
        chebyshev = math.sqrt(2) / math.sqrt(1 - p)
        assert Laplace.epsilon_for(sensitivity=1, within=1, confidence=p) < chebyshev


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("sensitivity", (0, 1)),
        ("sensitivity", (-1, 1)),
        ("sensitivity", (math.nan, 1)),
        ("epsilon", (1, 0)),
        ("epsilon", (1, math.inf)),
        ("epsilon", (1, "1")),
        ("epsilon", (1, None)),
        ("epsilon", (1, True)),
        ("epsilon", (1e300, 1e-300)),
    ],
)
def test_refusals_name_the_field(field, arguments):
    with pytest.raises(ParameterError) as caught:
        Laplace(*arguments)
    assert caught.value.field == field


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 95, math.nan])
def test_confidence_outside_the_unit_interval_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        Laplace(1, 1).error(confidence=confidence)
    with pytest.raises(ParameterError, match="confidence"):
        Laplace.epsilon_for(sensitivity=1, within=1, confidence=confidence)


def test_within_must_make_sense():
    with pytest.raises(ParameterError, match="within"):
        Laplace(1, 1).confidence(within=-1)
    with pytest.raises(ParameterError, match="within"):
        Laplace.epsilon_for(sensitivity=1, within=0, confidence=0.9)
    assert Laplace(1, 1).confidence(within=0) == 0
