"""Laplace noise on smooth sensitivity: the certified δ against numerical integrals and the published rule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof.errors import ParameterError
from guessproof.mechanisms.laplace import Laplace
from guessproof.mechanisms.smooth import (
    SmoothLaplace,
    _slide,
    hockey_stick,
    smooth_laplace_b,
    smooth_laplace_delta,
)

X = np.linspace(-40, 40, 800_001)


def published_smooth_laplace_delta(b: float, beta: float, epsilon: float) -> float:
    """δ = 2e^(ε−1−(ε−b)/β), for b + β ≤ ε ([LP] appendix B.2)."""
    return 2 * math.exp(epsilon - 1 - (epsilon - b) / beta)


@given(st.floats(0, 2), st.floats(0, 3), st.floats(-0.5, 0.5))
def test_hockey_stick_is_its_integral(epsilon, centre, log_scale):
    scale = math.exp(log_scale)
    excess = np.exp(-np.abs(X)) / 2 - math.exp(epsilon) * np.exp(-np.abs(X - centre) / scale) / (2 * scale)
    numeric = np.trapezoid(np.clip(excess, 0, None), X)
    assert hockey_stick(epsilon, centre, log_scale) == pytest.approx(numeric, abs=1e-7)


@pytest.mark.parametrize(
    ("b", "beta", "epsilon"),
    [(0.5, 0.05, 1), (0.3, 0.1, 1), (0.8, 0.01, 1), (1.5, 0.1, 2), (0.05, 0.005, 0.1)],
)
def test_certified_delta(b, beta, epsilon):
    bound = smooth_laplace_delta(b, beta, epsilon)
    attack = max(hockey_stick(epsilon, _slide(b, beta, x), x) for x in np.linspace(-beta, beta, 401))
    assert attack <= bound <= attack * 1.0011
    assert bound < published_smooth_laplace_delta(b, beta, epsilon)


def test_slide_is_the_longest_path():
    """Random β-Lipschitz paths of ln c never slide further than the tent."""
    rng = np.random.default_rng(3)
    b, beta, steps = 0.7, 0.4, 400
    for _ in range(200):
        slopes = np.clip(rng.normal(rng.uniform(-1, 1), 1, steps), -1, 1) * beta / steps
        path = np.concatenate([[0], np.cumsum(slopes)])
        slide = b * np.trapezoid(np.exp(path), dx=1 / steps)
        assert slide <= _slide(b, beta, path[-1]) * (1 + 1e-6)


def test_no_smoothing_is_plain_laplace():
    assert smooth_laplace_b(1, 1e-6, 0) == pytest.approx(1 - 2 * math.log1p(-1e-6), rel=1e-9)
    assert smooth_laplace_delta(1, 0, 0.5) == pytest.approx(Laplace(1, 1).delta_at(0.5))


def test_needs_less_noise_than_published():
    for beta in (0.01, 0.03, 0.05):
        published = 1 - beta * (-math.log(1e-6 / 2))
        assert SmoothLaplace(1, 1, 1e-6, beta).b > published


def test_impossible_beta_is_refused():
    with pytest.raises(ParameterError, match="beta"):
        SmoothLaplace(1, 0.1, 1e-9, 0.5)
