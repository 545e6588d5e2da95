"""DensitySlopes of densities that are known only by their values: they enclose those of the formula, and closely."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import guessproof as gp
from guessproof.world.quadrature import FrozenScipy
from guessproof.world.smooth import DensitySlopes, smooth_panels

# What SciPy knows by values, and the same with a formula for its slope.
PAIRS: dict[str, tuple[Any, Any]] = {
    "log-normal": (stats.lognorm(0.5), gp.lognormal(1, 0.5)),
    "gamma": (stats.gamma(3), gp.gamma(3, 1)),
    "beta": (stats.beta(2, 3), gp.beta(2, 3)),
    "heavy tails": (stats.t(4), gp.student_t(4)),
    "normal": (stats.norm(20, 6.28), gp.normal(20, 6.28)),
}


def _boxes(prior: Any, rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    a = prior.quantile(rng.uniform(0.001, 0.999, n))
    width = np.ptp(prior.quantile([0.1, 0.9])) * 10.0 ** rng.uniform(-6, 0, n)
    return a, np.minimum(a + width, prior.quantile(0.9995))


@pytest.mark.parametrize("name", PAIRS)
def test_slopes_from_values_enclose_those_of_the_formula(name: str) -> None:
    frozen, known = FrozenScipy(PAIRS[name][0]), PAIRS[name][1]
    a, b = _boxes(known, np.random.default_rng(3), 2000)
    found, exact = frozen.density_slopes(a, b), known.density_slopes(a, b)
    size = float(np.max(np.abs(known.density_slopes(*known.quantile([0.01, 0.99])))))
    assert np.all(found[0] <= exact[0] + 1e-13 * size)
    assert np.all(found[1] >= exact[1] - 1e-13 * size)
    np.testing.assert_allclose(found, exact, atol=1e-5 * size)


@pytest.mark.parametrize(
    "frozen",
    [stats.weibull_min(1.8), stats.triang(0.3), stats.skewnorm(4), stats.logistic(), stats.argus(1), stats.norm(0, 1)],
    ids=lambda d: d.dist.name,
)
def test_no_chord_is_steeper_than_slopes_allow(frozen: Any) -> None:
    """Whatever a density does on a box: chords between values there are as steep as slopes there."""
    prior = FrozenScipy(frozen)
    a, b = _boxes(prior, np.random.default_rng(4), 600)
    low, high = prior.density_slopes(a, b)
    x = a[:, None] + (b - a)[:, None] * np.linspace(0, 1, 65)
    with np.errstate(invalid="ignore", divide="ignore"):
        chords = np.diff(frozen.pdf(x), axis=1) / np.diff(x, axis=1)
    rounding = 4e-16 * np.max(frozen.pdf(x), axis=1) / ((b - a) / 64)
    assert np.all(np.max(chords, axis=1) <= high + rounding * (1 + np.abs(a) / (b - a)))
    assert np.all(np.min(chords, axis=1) >= low - rounding * (1 + np.abs(a) / (b - a)))
    assert np.mean(np.isfinite(high)) > 0.9


def test_a_kink_is_a_slope_from_one_side_to_the_other() -> None:
    low, high = FrozenScipy(stats.triang(0.3)).density_slopes(np.array([0.29, 0.1, 0.5]), np.array([0.31, 0.2, 0.6]))
    np.testing.assert_allclose(low, [-2 / 0.7, 2 / 0.3, -2 / 0.7], rtol=1e-3)
    np.testing.assert_allclose(high, [2 / 0.3, 2 / 0.3, -2 / 0.7], rtol=1e-3)


def test_at_an_end_a_density_may_rise_as_steeply_as_it_likes() -> None:
    prior = FrozenScipy(stats.weibull_min(1.8))  # like x^0.8 at 0
    low, high = prior.density_slopes(np.array([0.0, 0.01]), np.array([0.01, 0.02]))
    assert np.isinf(high[0])
    assert np.isfinite(high[1])
    outside = prior.density_slopes(np.array([-2.0, -1.0]), np.array([-1.0, 1.0]))
    assert outside[0][0] == outside[1][0] == 0.0
    assert np.isinf(outside[1][1])
    assert np.all(low <= high)


def test_a_density_that_is_infinite_has_no_smooth_panels() -> None:
    assert smooth_panels(gp.beta(0.5, 0.5)) is None
    assert DensitySlopes.of(gp.beta(0.5, 0.5)) is None
    assert np.isinf(FrozenScipy(stats.weibull_min(0.5)).density_slopes(0.1, 0.2)[1])


@pytest.mark.parametrize("shape", [1.3, 1.8, 2.5])
def test_near_an_end_slopes_are_those_of_the_formula_or_unknown(shape: float) -> None:
    """A density like a broken power of x has a slope that its nodes do not tell to the last digit, close to 0."""
    x, frozen = np.geomspace(1e-11, 1.0, 4000), FrozenScipy(stats.weibull_min(shape))
    exact = np.exp(frozen.log_density(x)) * ((shape - 1) / x - shape * x ** (shape - 1))
    low, high = frozen.density_slopes(x, x)
    assert np.all(low <= exact + 1e-9 * np.abs(exact))
    assert np.all(high >= exact - 1e-9 * np.abs(exact))
    assert np.all(np.isfinite(high[x > 0.1]))
