"""Counterexamples once more, by linear programs and integrals that know nothing of the package's engine."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from reference import linear_program
from scipy import integrate, stats

from guessproof.papers import laud_pankova as lp
from guessproof.papers import laud_pankova_appendix as ap
from guessproof.papers import laud_pankova_examples as examples
from guessproof.papers import slides, verdict
from guessproof.papers.judges.truth import ball


def grid_world(values: list[float], weights: list[float]):
    points = np.array(list(product(values, repeat=2)))
    mass = np.array([a * b for a, b in product(weights, repeat=2)])
    return points, mass, np.abs(points[:, None] - points).max(axis=-1)


def advantage(mass, apart, goal, epsilon: float) -> float:
    goal = np.asarray(goal, dtype=float)
    return linear_program.posterior(mass, apart, goal, epsilon) - float(np.asarray(mass) @ goal)


def test_theorem_1() -> None:
    values, weights = [0.0, 1.0, -2.0], [0.05, 0.45, 0.5]
    g = ball(values, weights)
    epsilon = lp.theorem_1([g(1)] * 2, [g(2)] * 2, [2, 2], 0.1)
    points, mass, apart = grid_world(values, weights)
    reached = advantage(mass, apart, np.all(np.abs(points) <= 1, axis=1), epsilon)
    assert reached == pytest.approx(verdict("lp-thm1").figures["advantage delivered"], rel=1e-6)
    assert reached > 0.14


def test_theorem_2() -> None:
    values, weights = [0.0, 4.0, -4.0], [0.1, 0.45, 0.45]
    g = ball(values, weights)
    epsilon = min(lp.theorem_2([g, g], [1, 1], [4, 4], 0.1))
    points, mass, apart = grid_world(values, weights)
    goal = np.any(np.abs(points) <= 1, axis=1)
    assert advantage(mass, apart, goal, epsilon) > 0.15
    assert advantage(mass, apart, goal, epsilon / 2) < 0.1


def test_the_ring_sums() -> None:
    for reach, first in ((2.0, None), (3.0, 1)):
        values, weights = [0.0, reach, -reach], [0.3, 0.35, 0.35]
        g = ball(values, weights)
        published = (
            slides.ring_sum(g, 0.5, 6)
            if first is None
            else slides.ring_sum_from_goal(lambda z, g=g: g(1 + z), 0.3, 0.5, first, 6)
        )
        apart = np.abs(np.subtract.outer(values, values))
        assert linear_program.posterior(weights, apart, [1, 0, 0], 0.5) > published + 0.1


def test_salaries_with_laplace_noise() -> None:
    """A sum of salaries with Laplace noise of scale 1/0.0038 that happens to point at 2000."""
    sd, e = examples.SALARY_SD, examples.SALARY_EPSILON

    def weight(x: float) -> float:
        return math.exp(-e * abs(x)) * float(stats.norm.pdf(x, 0, sd))

    inside = 2 * integrate.quad(weight, 0, 100)[0]
    outside = 2 * integrate.quad(weight, 100, 12 * sd, limit=200)[0]
    gained = inside / (inside + outside) - math.erf(100 / (sd * math.sqrt(2)))
    assert gained == pytest.approx(verdict("lp-6.2").figures["advantage delivered at 0.0038"], rel=1e-5)
    assert gained > 0.16


def test_ships_in_the_plane() -> None:
    """Distance from the port distributed as |N(0, 1250)|, a release centred on the port."""
    sd, e = math.sqrt(examples.SHIP_VARIANCE), examples.SHIP_EPSILON

    def weight(z: float) -> float:
        return math.exp(-e * z) * 2 * float(stats.norm.pdf(z, 0, sd))

    near, all_ = integrate.quad(weight, 0, 10)[0], integrate.quad(weight, 0, 12 * sd, limit=200)[0]
    assert near / all_ - examples.ship_ball(10) == pytest.approx(
        verdict("lp-6.3").figures["advantage delivered"], rel=1e-5
    )


def test_a_density_is_not_a_probability() -> None:
    """[LP] B.1: Gaussian noise of standard deviation s, x = 0 or 1; how often the promised gain is exceeded."""
    from guessproof.mechanisms.gaussian import Gaussian

    figures = verdict("lp-B1").figures
    scale = Gaussian(1, 0.5, 0.1).scale
    promised = figures["gain promised with probability 0.99, unit 0.001"]
    odds = math.log((0.5 + promised) / (0.5 - promised))
    # ln of the likelihood ratio at y is (1 − 2y)/(2s²); it exceeds `odds` for y below this
    level = 0.5 - odds * scale**2
    exceeded = float(stats.norm.cdf(level / scale))
    assert exceeded == pytest.approx(figures["probability that it is exceeded, unit 0.001"], abs=2e-3)
    assert promised < 0.2 < figures["gain promised with probability 0.99, unit 1"]


def test_probabilistic_privacy_pair_by_pair() -> None:
    """The release of lp-B2-def7 satisfies Definition 7 with (0, δ), pair by pair."""
    delta, n = 0.05, 3
    named = np.full((n, n), delta) * (1 - np.eye(n))
    silent = np.full((n, 1), 1 - (n - 1) * delta)
    likelihood = np.hstack([named, silent])  # rows: true value; columns: outputs
    assert np.allclose(likelihood.sum(axis=1), 1)
    for x, z in product(range(n), repeat=2):
        differing = likelihood[x] > likelihood[z]
        assert likelihood[x][differing].sum() <= delta + 1e-12
    posterior = likelihood / likelihood.sum(axis=0)
    gains = likelihood[0] @ (posterior[0] > 1 / n + 1e-12)
    assert gains == pytest.approx(2 * delta)


def test_smooth_laplace_noise_has_no_bound_for_all_outputs() -> None:
    epsilon, beta, p = lp.epsilon_lb(0.2, 0.1), 0.05, 0.2
    _, b = ap.smooth_search(epsilon, beta, 1e-3)
    wide, narrow = math.exp(beta) / b, 1 / b
    ratios = [stats.laplace.logpdf(y, scale=wide) - stats.laplace.logpdf(y, scale=narrow) for y in (10, 60, 300)]
    beliefs = [p / (p + (1 - p) * math.exp(-r)) for r in ratios]
    assert beliefs[0] < beliefs[1] < beliefs[2]
    assert beliefs[2] > 0.9
