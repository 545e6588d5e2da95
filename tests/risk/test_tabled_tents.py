"""Tents from tables enclose the exact ones, closely, and integrals on either side of goals are off by what they say."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import guessproof as gp
from guessproof.risk.tabled_tents import tabled_tents
from guessproof.risk.tent import TiltedIntegrals, best_tents, log_prior
from guessproof.world.line_form import LineForm

PRIORS: dict[str, Any] = {
    "normal": gp.normal(20, 6.28),
    "exponential": gp.exponential(2),
    "histogram": gp.histogram([0, 1, 2, 3, 4, 7], [0.1, 0.3, 0.35, 0.05, 0.2]),
    "mixture": gp.mixture((0.6, gp.normal(0, 1)), (0.4, gp.normal(4, 0.5))),
    "log-normal": gp.lognormal(1, 0.5),
    "gamma": gp.gamma(3, 1),
    "beta": gp.beta(2, 3),
    "beta with infinite ends": gp.beta(0.5, 0.5),
    "heavy tails": gp.student_t(4),
    "from SciPy": gp.from_scipy(stats.weibull_min(1.8)),
    "part of a log-normal": gp.lognormal(1, 0.5).given(0.4, 5),
}


def _form(kind: str, prior: Any) -> LineForm:
    low, high = (float(q) for q in prior.quantile([0.2, 0.85]))
    if kind == "straight":
        return LineForm(slopes=(0.7,))
    if kind == "clamped":
        return LineForm((low, high), (0.0, 1.0, 0.0), (0.0, 0.0))
    return LineForm((low, high), (0.4, 1.0, 0.2), (0.0, 0.3 * (high - low)))


def _goals(prior: Any, rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    """Goals anywhere, wide and narrow, some that hold an end of the prior; and rates of all sizes."""
    spread = float(np.ptp(prior.quantile([0.1, 0.9])))
    t = prior.quantile(rng.uniform(1e-4, 1 - 1e-4, n))
    half = spread * np.exp(rng.uniform(-6, 0.5, n))
    return t - half, t + half, np.exp(rng.uniform(-9, 3.5, n)) / spread


@pytest.mark.parametrize("kind", ["straight", "clamped", "bent and jumping"])
@pytest.mark.parametrize("name", PRIORS)
def test_tents_from_tables_enclose_the_exact_ones(name: str, kind: str) -> None:
    rng, prior = np.random.default_rng(len(name + kind)), PRIORS[name]
    world = TiltedIntegrals(prior, _form(kind, prior))
    lo, hi, k = _goals(prior, rng, 400)
    before = log_prior(prior, lo, hi)
    guess = lo + rng.random(400) * (hi - lo)
    found = tabled_tents(world, lo, hi, k, before, guess)
    exact = best_tents(prior, world.form, lo, hi, k, before)
    possible = np.isfinite(exact.bound) & np.isfinite(before[0]) & np.isfinite(before[1])
    assert np.count_nonzero(possible) > 200
    p, q = np.exp(before[0]), np.exp(before[1])

    def belief(gain: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return 1 / (1 + q / p * np.exp(-gain))

    with np.errstate(all="ignore"):
        rise = (belief(exact.bound) - p)[possible]
        assert np.all(belief(found.attack)[possible] <= belief(exact.bound)[possible] * (1 + 1e-14))
        assert np.all(belief(found.bound)[possible] >= belief(exact.attack)[possible] * (1 - 1e-14))
        # One ε each: every goal is the best of its ε, so that a hundred-thousandth of its own rise counts.
        apart = (belief(found.bound) - belief(found.attack))[possible]
        settled = (exact.bound - exact.attack)[possible] <= 1e-9
        assert np.all(apart[settled] <= 1.1e-5 * rise[settled] + 1e-11)
        tall = np.isfinite(exact.log_z) & (np.abs(found.peak - exact.peak) < 1e-12 * (np.abs(lo) + np.abs(hi)))
        np.testing.assert_allclose(found.log_z[tall], exact.log_z[tall], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["log-normal", "gamma", "beta", "heavy tails", "part of a log-normal"])
def test_what_lies_beside_a_goal_is_off_by_no_more_than_it_says(name: str) -> None:
    """Against adaptive quadrature of the density; in the first panel, where there is hardly anything, most is off."""
    rng, prior = np.random.default_rng(5), PRIORS[name]
    world = TiltedIntegrals(prior, LineForm(slopes=(1.0,)))
    tables = world.tables
    assert tables is not None
    near = prior.quantile(np.concatenate([10.0 ** rng.uniform(-12, -1, 12), rng.uniform(0.1, 0.9, 8)]))
    x = np.concatenate([near, prior.quantile(1 - 10.0 ** rng.uniform(-9, -1, 8))])
    rates = np.exp(rng.uniform(-4, 2.5, x.size)) / np.ptp(prior.quantile([0.1, 0.9]))
    told, off = tables.halves(rates, x, x)
    assert np.count_nonzero(off < 1e-11) > x.size
    for side in (0, 1):
        for i in np.flatnonzero(off[side] < 1e-6):
            exact = _exactly(prior, (1 - 2 * side) * rates[i], tables.middle, x[i], side)
            assert abs(told[side, i] / exact - 1) <= off[side, i] + 2e-11, (side, x[i], rates[i])


def _exactly(prior: Any, k: float, middle: float, x: float, side: int) -> float:
    (first, last), far = prior.support, 80 / abs(k)
    first, last = max(first, x - far), min(last, x + far)  # e⁻⁸⁰ of the tilt is left out
    inner = np.clip(prior.quantile([1e-15, 1e-12, 1e-9, 1e-5, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-9]), first, last)
    cuts = np.unique([first, *inner[inner < x], x] if side == 0 else [x, *inner[inner > x], last])
    parts = [
        integrate.quad(
            lambda v: float(np.exp(k * (v - middle) + prior.log_density(v))), a, b, epsabs=0, epsrel=1e-12, limit=200
        )[0]
        for a, b in pairwise(cuts)
        if b > a
    ]
    return float(np.sum(parts))
