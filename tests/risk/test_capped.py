"""One attribute under a capped distance: against linear programs, random likelihoods, laws and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import guessproof as gp

PRIORS = (
    gp.normal(0, 1),
    gp.laplace(0.3, 0.7),
    gp.lognormal(1.5, 0.6),
    gp.gamma(0.6, 1.5),
    gp.student_t(2.5, 0.2, 0.8),
    gp.uniform(-1.5, 2.5),
    gp.histogram([-2, -1, 0.5, 3], [0.2, 0.5, 0.3]),
    gp.mixture((0.6, gp.normal(-0.5, 0.4)), (0.4, gp.exponential(1.5))),
)
BASES = (gp.Absolute(), gp.Clamped(-1.0, 2.0), gp.Threshold(-1.0, 0.4, 2.0))


def ask(prior, metric, low: float, high: float) -> gp.Attack:
    return gp.Attack(gp.inside(gp.Attribute("x", prior=prior, metric=metric), (low, high)))


@pytest.mark.parametrize("seed", range(24))
def test_samples_agree_with_the_linear_program(seed: int) -> None:
    """Ties included: several values exactly a cap apart, below a clamp, or at one height after a jump."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.choice(20, rng.integers(3, 12), replace=False)) / 4 - 2
    weights = rng.dirichlet(np.full(values.size, rng.choice([0.3, 3.0])))
    metric = gp.minimum(BASES[seed % 3], float(rng.choice([0.5, 1.0, rng.uniform(0.1, 4)])))
    if seed % 4 == 3:
        metric = metric + 0.3 * gp.Discrete()
    first, last = np.sort(rng.integers(0, values.size, 2))
    chosen = np.zeros(values.size, dtype=bool)
    chosen[first : last + 1] = True
    if chosen.all():
        chosen[-1] = False
    prior = gp.categorical(dict(zip(values.tolist(), weights.tolist(), strict=True)))
    attribute = gp.Attribute("x", prior=prior, metric=metric)
    distance = metric.distance(values[:, None], values[None, :])
    world = gp.FiniteWorld(prior=list(prior.weights), distance=distance.tolist())
    for goal in (chosen, ~chosen):
        question = gp.Attack(gp.among(attribute, values[goal].tolist()))
        for epsilon in (0.05, 0.7, 4.0):
            for side in ("upper", "lower"):
                expected = world.posterior(goal=goal.astype(int).tolist(), epsilon=epsilon, side=side)
                found = question.posterior(epsilon, side=side)
                assert found.bound == pytest.approx(expected.bound, rel=1e-7)
                assert found.attack == pytest.approx(expected.attack, rel=1e-7)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_no_private_likelihood_beats_the_bound(prior) -> None:
    """Random capped likelihoods on a fine grid of the prior."""
    rng = np.random.default_rng(11)
    x = np.unique(np.asarray(prior.quantile((np.arange(4000) + 0.5) / 4000)))
    edges = np.concatenate([[-math.inf], 0.5 * (x[1:] + x[:-1]), [math.inf]])
    mass = prior.mass(edges[:-1], edges[1:])
    goal = (x >= -0.5) & (x <= 0.9)
    for base in BASES:
        place = base.line_form.psi(x)
        for cap in (0.3, 1.6):
            question = ask(prior, gp.minimum(base, cap), -0.5, 0.9)
            for epsilon in (0.2, 3.0):
                high, low = (float(question.posterior(epsilon, side=side).bound) for side in ("upper", "lower"))
                for _ in range(25):
                    tips = rng.choice(place, rng.integers(1, 4))
                    heights = rng.uniform(0, epsilon, tips.size)
                    log_l = np.max(heights - epsilon * np.abs(place[:, None] - tips), axis=1)
                    least = rng.uniform(log_l.min(), log_l.max())
                    likelihood = np.exp(np.clip(log_l, least, least + epsilon * cap))
                    belief = float((mass * likelihood)[goal].sum() / (mass * likelihood).sum())
                    assert low - 2e-3 <= belief <= high + 2e-3  # cells of the grid cut by the goal's edges


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_attack_and_bound_are_close_and_rise_with_epsilon_and_the_cap(prior) -> None:
    for base in BASES:
        above = ask(prior, base, -0.5, 0.9)
        before = above.prior
        for epsilon in (1e-9, 1e-4, 0.1, 1.0, 8.0):
            least = before
            for cap in (0.05, 0.8, 3.0):
                found = ask(prior, gp.minimum(base, cap), -0.5, 0.9).posterior(epsilon)
                assert least <= found.bound * (1 + 1e-9)
                assert found.attack <= found.bound <= found.attack + 1e-4 * (1 - before) * min(1, 10 * epsilon)
                two_valued = before / (before + (1 - before) * math.exp(-epsilon * cap))
                assert found.bound <= min(two_valued, above.posterior(epsilon).bound) * (1 + 1e-6)
                least = found.attack


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: p.name)
def test_the_complement_loses_what_the_goal_gains(prior) -> None:
    goal = gp.inside(gp.Attribute("x", prior=prior, metric=gp.minimum(gp.Absolute(), 0.7)), (-0.5, 0.9))
    for epsilon in (0.1, 1.5):
        rise, fall = gp.Attack(goal).posterior(epsilon), gp.Attack(~goal).posterior(epsilon, side="lower")
        assert rise.bound == pytest.approx(1 - fall.bound, rel=1e-9)
        assert rise.attack == pytest.approx(1 - fall.attack, rel=1e-9)


def test_a_cap_that_cannot_bind_changes_nothing() -> None:
    for prior in (gp.uniform(0, 4), gp.histogram([0, 1, 4], [0.3, 0.7]), gp.empirical([0.0, 1.0, 2.5, 4.0])):
        capped, bare = (ask(prior, metric, 0.5, 2) for metric in (gp.minimum(gp.Absolute(), 4.0), gp.Absolute()))
        assert capped.posterior(1.3).to_dict() == bare.posterior(1.3).to_dict()
    far = ask(gp.normal(0, 1), gp.minimum(gp.Absolute(), 1e6), -0.5, 0.9).posterior(1.3)
    assert far.bound == pytest.approx(ask(gp.normal(0, 1), gp.Absolute(), -0.5, 0.9).posterior(1.3).bound, rel=1e-5)


def test_half_lines_and_far_goals() -> None:
    """A half-line has one ramp; far out the two-valued bound is reached."""
    for low, high in ((1.0, math.inf), (-math.inf, -1.0)):
        found = ask(gp.normal(0, 1), gp.minimum(gp.Absolute(), 0.5), low, high).posterior(2.0)
        assert found.bound == pytest.approx(found.attack, rel=1e-5)
    question = ask(gp.normal(0, 1), gp.minimum(gp.Absolute(), 0.5), 9.0, 10.0)
    found = question.posterior(2.0)
    assert found.bound / question.prior == pytest.approx(math.exp(1.0), rel=1e-3)
    assert found.attack / question.prior == pytest.approx(math.exp(1.0), rel=1e-3)
