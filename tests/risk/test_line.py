"""One attribute, stated true value: the recursion against linear programs, against laws and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

import guessproof as gp

METRICS = (gp.Absolute(), gp.Clamped(-1.0, 2.0), gp.Threshold(-1.0, 0.4, 2.0), gp.Absolute() + 0.3 * gp.Discrete())
PRIORS = (
    gp.normal(0, 1),
    gp.laplace(0.3, 0.7),
    gp.lognormal(1.5, 0.6),
    gp.gamma(0.6, 1.5),
    gp.student_t(2.5, 0.2, 0.8),
    gp.histogram([-2, -1, 0.5, 3], [0.2, 0.5, 0.3]),
    gp.mixture((0.6, gp.normal(-0.5, 0.4)), (0.4, gp.exponential(1.5))),
)


def ask(prior, metric, *intervals: tuple[float, float]) -> gp.Attack:
    return gp.Attack(gp.inside(gp.Attribute("x", prior=prior, metric=metric), *intervals))


@pytest.mark.parametrize("seed", range(12))
def test_samples_agree_with_the_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(rng.choice(40, 9, replace=False)) / 8 - 2
    weights = rng.dirichlet(np.ones(values.size))
    chosen = rng.random(values.size) < 0.5
    chosen[:2] = True, False
    metric = METRICS[seed % 4]
    prior = gp.categorical(dict(zip(values.tolist(), weights.tolist(), strict=True)))
    question = gp.Attack(gp.among(gp.Attribute("x", prior=prior, metric=metric), values[chosen].tolist()))
    distance = metric.distance(values[:, None], values[None, :])
    world = gp.FiniteWorld(prior=list(prior.weights), distance=distance.tolist())
    for epsilon in (0.05, 0.7, 4.0):
        for side in ("upper", "lower"):
            expected = world.posterior(goal=chosen.astype(int).tolist(), epsilon=epsilon, side=side)
            found = question.posterior(epsilon, side=side)
            assert found.bound == pytest.approx(expected.bound, rel=1e-7)
            assert found.attack == pytest.approx(expected.attack, rel=1e-7)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_no_private_likelihood_beats_the_bound(prior) -> None:
    """Random piecewise-exponential likelihoods on a fine grid of the prior."""
    rng = np.random.default_rng(11)
    x = np.unique(np.asarray(prior.quantile((np.arange(4000) + 0.5) / 4000)))
    edges = np.concatenate([[-math.inf], 0.5 * (x[1:] + x[:-1]), [math.inf]])
    mass = prior.mass(edges[:-1], edges[1:])
    for metric in METRICS[:3]:
        question = ask(prior, metric, (-0.5, 0.4), (1.0, 1.8))
        goal = ((x >= -0.5) & (x <= 0.4)) | ((x >= 1.0) & (x <= 1.8))
        place = metric.line_form.psi(x)
        for epsilon in (0.2, 3.0):
            high, low = (float(question.posterior(epsilon, side=side).bound) for side in ("upper", "lower"))
            for _ in range(40):
                tips = rng.choice(place, rng.integers(1, 5))
                heights = rng.uniform(0, epsilon, tips.size)
                likelihood = np.exp(np.max(heights - epsilon * np.abs(place[:, None] - tips), axis=1))
                belief = float((mass * likelihood)[goal].sum() / (mass * likelihood).sum())
                assert low - 2e-3 <= belief <= high + 2e-3  # cells of the grid cut by the goal's edges


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_attack_and_bound_are_close_and_rise_with_epsilon(prior) -> None:
    for metric in METRICS:
        question = ask(prior, metric, (-0.5, 0.4), (1.0, 1.8))
        before = question.prior
        for epsilon in (1e-9, 1e-4, 0.1, 1.0, 8.0):
            found = question.posterior(epsilon)
            assert before <= found.attack * (1 + 1e-9)
            assert found.attack <= found.bound <= found.attack + 1e-4 * (1 - before) * min(1, 10 * epsilon)
            before = found.bound


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_the_complement_loses_what_the_goal_gains(prior) -> None:
    goal = gp.inside(gp.Attribute("x", prior=prior), (-0.5, 0.4), (1.0, 1.8))
    for epsilon in (0.1, 1.5):
        rise, fall = gp.Attack(goal).posterior(epsilon), gp.Attack(~goal).posterior(epsilon, side="lower")
        assert rise.bound == pytest.approx(1 - fall.bound, rel=1e-9)
        assert rise.attack == pytest.approx(1 - fall.attack, rel=1e-9)


def test_far_tails_and_huge_rates() -> None:
    """exponential(2), x ≥ t: the best likelihood rises at full slope, so odds are a closed form."""
    for start in (3.0, 300.0):
        for epsilon in (1e-6, 0.3, 0.499):
            inside = -0.5 * start - math.log(1 - 2 * epsilon)  # ln ∫_t^∞ e^{ε(x−t)} f
            outside = math.log(math.exp(-epsilon * start) - math.exp(-0.5 * start)) - math.log(1 - 2 * epsilon)
            found = ask(gp.exponential(2), gp.Absolute(), (start, math.inf)).posterior(epsilon)
            assert math.log(found.bound / (1 - found.bound)) == pytest.approx(inside - outside, rel=1e-9, abs=3e-9)
        assert ask(gp.exponential(2), gp.Absolute(), (start, math.inf)).posterior(0.5).attack == 1.0
    wide = ask(gp.student_t(1.2), gp.Absolute(), (1e5, 2e5)).posterior(5.0)
    assert wide.attack == wide.bound == 1.0
    assert ask(gp.lognormal(1, 1), gp.Absolute(), (2.0, 3.0)).posterior(1e-9, side="lower").bound == 0.0


def test_nothing_is_learned_where_the_metric_is_flat() -> None:
    question = ask(gp.uniform(0, 1), gp.Clamped(3, 5), (0.2, 0.4))
    assert question.posterior(50.0).bound == pytest.approx(0.2, rel=1e-12)
    assert question.epsilon(advantage=1e-9) == math.inf


def test_a_density_without_known_curvature_says_so() -> None:
    from scipy import stats

    found = ask(gp.from_scipy(stats.weibull_min(1.5)), gp.Absolute(), (0.5, 1.0)).posterior(0.3)
    assert found.status == "proven"
    assert "checked" in found.how
