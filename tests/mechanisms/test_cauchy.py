"""Generalised Cauchy noise: the closed form of b against its definition, constants, the best γ."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from guessproof.errors import ParameterError
from guessproof.mechanisms.cauchy import (
    Cauchy,
    best_gamma,
    cauchy_b,
    cauchy_confidence,
    cauchy_epsilon,
    cauchy_quantile,
    cauchy_tail_quantile,
)


def cauchy_condition(z: Any, b: float, gamma: float = 4.0, beta: float = 0.0) -> Any:
    """The left side of the exact condition at z ≥ 0, as it is written: the loss per unit of distance.

    >>> round(float(cauchy_condition(3**0.25, b=1 / 2.2795)), 4)
    1.0
    """
    power = np.power(np.asarray(z, dtype=float), gamma)
    slide = gamma * np.power(np.asarray(z, dtype=float), gamma - 1) / (1 + power)
    return (b * slide + beta * np.abs(gamma * power / (1 + power) - 1))[()]


def published_b(epsilon: float, gamma: float = 4.0, beta: float = 0.0) -> float:
    """b = ε/γ − β ([LP] appendix A.1): sound, 1.75 × the noise needed at γ = 4, β = 0; negative: impossible.

    >>> round(cauchy_b(1.0) / published_b(1.0), 3)
    1.755
    """
    return epsilon / gamma - beta


def pleak_b(epsilon: float, gamma: float = 4.0, beta: float = 0.0) -> float:
    """b = ε/(γ+1) − β (the analyser Pleak): sound, 2.19 × the noise needed at γ = 4, β = 0.

    >>> round(cauchy_b(1.0) / pleak_b(1.0), 3)
    2.193
    """
    return epsilon / (gamma + 1) - beta


def supremum(b: float, gamma: float, beta: float) -> float:
    """The condition's supremum by brute force over log z, refined around the best point."""
    logs = np.linspace(-60 / gamma, 60 / gamma, 4001)
    values = cauchy_condition(np.exp(logs), b, gamma, beta)
    best = int(np.argmax(values))
    ends = logs[max(0, best - 1)], logs[min(len(logs) - 1, best + 1)]
    found = minimize_scalar(lambda x: -cauchy_condition(math.exp(x), b, gamma, beta), bounds=ends, method="bounded")
    return max(float(values[best]), -float(found.fun))


@given(st.floats(0.01, 10), st.floats(1.05, 12), st.floats(0, 0.99))
def test_largest_b_meets_the_condition(epsilon, gamma, share):
    beta = share * epsilon / max(1, gamma - 1)
    b = cauchy_b(epsilon, gamma, beta)
    assert supremum(b, gamma, beta) <= epsilon * (1 + 1e-12)
    assert supremum(b * (1 + 1e-5), gamma, beta) > epsilon or share > 0.98
    assert cauchy_epsilon(b, gamma, beta) == pytest.approx(epsilon, rel=1e-9)


def test_constants():
    assert 1 / cauchy_b(1, 4) == pytest.approx(3**0.75, rel=1e-12)
    assert pytest.approx(2.2795, abs=5e-5) == 3**0.75
    assert cauchy_confidence(1, 4) == pytest.approx(0.78055, abs=5e-6)
    with mpmath.workdps(30):
        exact = mpmath.quad(lambda x: mpmath.sqrt(2) / mpmath.pi / (1 + x**4), [-1, 1])
    assert cauchy_confidence(1, 4) == pytest.approx(float(exact), rel=1e-14)


def test_errors_at_95_percent():
    for gamma, error in ((3, 4.53), (3.86, 4.081), (4, 4.09), (5, 4.39)):
        assert Cauchy(1, 1, gamma).error(confidence=0.95) == pytest.approx(error, abs=0.006)
    gamma = best_gamma(0.95)
    assert gamma == pytest.approx(3.86, abs=0.005)
    least = Cauchy(1, 1, gamma).error(confidence=0.95)
    assert least == pytest.approx(4.081, abs=5e-4)
    for other in (gamma - 0.05, gamma + 0.05):
        assert Cauchy(1, 1, other).error(confidence=0.95) > least


def test_published_rules_cost_more_noise():
    assert cauchy_b(1) / published_b(1) == pytest.approx(1.75, abs=0.01)
    assert cauchy_b(1) / pleak_b(1) == pytest.approx(2.19, abs=0.01)
    assert cauchy_b(1, beta=0.1) / published_b(1, beta=0.1) == pytest.approx(2.3, abs=0.05)
    assert cauchy_b(1, beta=0.1) / pleak_b(1, beta=0.1) == pytest.approx(3.4, abs=0.05)
    for gamma in (2, 3, 4, 6):
        for beta in (0, 0.05, 0.1):
            assert supremum(published_b(1, gamma, beta), gamma, beta) <= 1


@pytest.mark.parametrize("gamma", [1.2, 2, 3.86, 4, 9])
def test_quantiles_against_many_digits(gamma):
    for p in (1e-6, 0.3, 0.95, 1 - 1e-9):
        z = cauchy_quantile(p, gamma)
        with mpmath.workdps(120):
            power = mpmath.mpf(z) ** gamma
            inside = mpmath.mpf(1) / gamma
            tail = mpmath.betainc(1 - inside, inside, 0, 1 / (1 + power), regularized=True)
        assert float(tail) == pytest.approx(1 - p, rel=1e-9)
    assert cauchy_tail_quantile(1e-30, 4) == pytest.approx((2 * math.sqrt(2) / (3 * math.pi) * 1e30) ** (1 / 3))


def test_standard_deviation():
    assert Cauchy(1, 1, 3).standard_deviation == math.inf
    for gamma in (3.5, 4, 7):
        noise = Cauchy(1, 1, gamma)
        with mpmath.workdps(20):
            moments = [mpmath.quad(lambda z, k=k, g=gamma: z**k / (1 + z**g), [0, 1, 10, mpmath.inf]) for k in (0, 2)]
        expected = noise.scale * math.sqrt(moments[1] / moments[0])
        assert noise.standard_deviation == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("gamma", {"gamma": 1}),
        ("gamma", {"gamma": math.inf}),
        ("beta", {"beta": -0.1}),
        ("beta", {"beta": 1 / 3}),
        ("beta", {"gamma": 1.5, "beta": 1}),
    ],
)
def test_refusals(field, arguments):
    with pytest.raises(ParameterError) as caught:
        Cauchy(1, 1, **arguments)
    assert caught.value.field == field
