"""Thousands of random questions: what is called sound or tight is. The oracles are the engine and linear programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import linear_program
from reference.cases import KINDS, Case, random_cases
from risk.asking import attack, product_prior

import guessproof as gp
from guessproof.mechanisms.cauchy import cauchy_b
from guessproof.mechanisms.laplace import Laplace
from guessproof.mechanisms.smooth import smooth_laplace_delta
from guessproof.papers import kazan_reiter as kr
from guessproof.papers import kazan_reiter_profiles as kp
from guessproof.papers import laud_pankova as lp
from guessproof.papers import laud_pankova_appendix as ap
from guessproof.papers import mugunthan as mxk
from guessproof.papers import slides
from guessproof.papers.judges.kazan_reiter_profiles import corrected_fixed_value
from guessproof.papers.judges.truth import ball, interval, line_world, square_world, three_worlds, two_values
from guessproof.risk import RiskProfile, epsilon_for_relative_risk

SLACK = 1 + 1e-9


def upper(question: gp.Attack, epsilon: float) -> float:
    return float(np.asarray(question.posterior(epsilon=epsilon).bound))


# --- ordinary differential privacy: [LP] 3.2 and 4.1, [slides] worst priors ---


def test_two_valued_forms_are_exact() -> None:
    rng = np.random.default_rng(1)
    for p, e, r in zip(
        rng.uniform(0.001, 0.999, 300), rng.uniform(0.01, 5, 300), rng.uniform(0.1, 3, 300), strict=True
    ):
        truth = upper(two_values(p), e * r)
        assert lp.posterior_bound(p, e, r) == pytest.approx(truth, rel=1e-9)
        assert slides.simplified(p, e, r) == pytest.approx(truth, rel=1e-9)


def test_two_valued_epsilons_are_exact_in_both_directions() -> None:
    rng = np.random.default_rng(2)
    for p, d in zip(rng.uniform(0.01, 0.99, 400), rng.uniform(0.001, 0.5, 400), strict=True):
        assert lp.epsilon_lb(p, d) == pytest.approx(two_values(p).epsilon(advantage=d), rel=1e-9)
        assert lp.epsilon_both(p, d) == pytest.approx(two_values(p).epsilon(advantage=d, both=True), rel=1e-9)


def test_no_prior_is_worse_than_the_worst() -> None:
    rng = np.random.default_rng(3)
    for d in rng.uniform(0.001, 0.9, 200):
        worst = lp.epsilon_lb(lp.worst_prior(d), d)
        assert worst == pytest.approx(4 * math.atanh(d), rel=1e-9)
        assert all(lp.epsilon_lb(p, d) >= worst * (1 - 1e-12) for p in rng.uniform(1e-4, 1, 20))
    for e in rng.uniform(0.01, 8, 200):
        best = slides.worst_prior_for_epsilon(e)
        most = slides.simplified(best, e) - best
        assert most == pytest.approx(math.tanh(e / 4), rel=1e-9)
        assert all(slides.simplified(p, e) - p <= most * SLACK for p in rng.uniform(1e-4, 1 - 1e-4, 20))


def test_two_priors_of_a_list_are_enough() -> None:
    rng = np.random.default_rng(4)
    for _ in range(1000):
        priors = rng.dirichlet(np.ones(rng.integers(2, 9))).tolist()
        d = float(rng.uniform(0.01, 0.4))
        assert lp.discrete_epsilon(priors, d) == min(lp.epsilon_lb(p, d) for p in priors)


# --- the line: [LP] (1), [slides] main theorem ---


def on_line(case: Case):
    return product_prior(case.kind, case.parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_equation_1_is_sound_with_points_near_all_of_the_goal(kind: str) -> None:
    rng = np.random.default_rng(5)
    for case in random_cases(kind, 120, seed=71):
        prior, truth = on_line(case), upper(attack(case), case.epsilon)
        if kind == "empirical":
            g = ball(case.parameters[0], [1 / len(case.parameters[0])] * len(case.parameters[0]), case.true_value)
        else:
            g = lambda z, prior=prior, case=case: float(  # noqa: E731
                prior.mass(case.true_value - max(z, 0), case.true_value + max(z, 0))
            )
        for a in case.radius * (2 + 10 ** rng.uniform(-1, 2, 4)):
            others = lp.others_near_all(g, case.radius, float(a))
            assert lp.equation_1_posterior(g(case.radius), others, float(a), case.epsilon) >= truth / SLACK


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "empirical"])
def test_the_main_theorem_of_the_slides_is_sound(kind: str) -> None:
    loose = 0.0
    for case in random_cases(kind, 200, seed=72):
        published = slides.main_theorem_on_line(on_line(case), case.low, case.high, case.epsilon)
        truth = float(np.asarray(attack(case).posterior(epsilon=case.epsilon).attack))
        assert published >= truth / SLACK
        loose = max(loose, published / truth)
    assert loose > 1.02


def test_the_main_theorem_on_the_line_is_the_finite_one_refined() -> None:
    prior, e = gp.normal(0, 1), 0.8
    edges = np.linspace(-7, 7, 1401)
    centres = (edges[1:] + edges[:-1]) / 2
    weights = np.asarray(prior.mass(edges[:-1], edges[1:]))
    goal = np.abs(centres) <= 0.5
    finite = slides.main_theorem(weights, np.abs(centres[:, None] - centres), goal, e)
    assert slides.main_theorem_on_line(prior, -0.5, 0.5, e) == pytest.approx(finite, rel=1e-4)


def test_the_main_theorem_is_exact_for_single_values_and_sound_for_all() -> None:
    rng = np.random.default_rng(6)
    for _ in range(150):
        n = int(rng.integers(2, 7))
        points, weights, e = rng.normal(size=(n, 2)), rng.dirichlet(np.ones(n)), float(rng.uniform(0.05, 3))
        apart = np.abs(points[:, None] - points).sum(axis=-1)
        single = np.eye(n)[0]
        assert slides.main_theorem(weights, apart, single, e) == pytest.approx(
            linear_program.posterior(weights, apart, single, e), rel=1e-6
        )
        several = (rng.random(n) < 0.5).astype(float)
        if 0 < several.sum() < n:
            truth = linear_program.posterior(weights, apart, several, e)
            assert slides.main_theorem(weights, apart, several, e) >= truth * (1 - 1e-7)


@pytest.mark.parametrize("prior", [gp.normal(0, 1), gp.laplace(0, 1), gp.uniform(-3, 3)])
def test_equation_1_as_evaluated_is_sound_for_symmetric_priors(prior) -> None:
    rng = np.random.default_rng(7)
    for r, e in zip(10 ** rng.uniform(-1.5, 0.3, 80), 10 ** rng.uniform(-2, 1, 80), strict=True):
        truth = upper(interval(prior, -r, r), e)
        for a in r * (1 + 10 ** rng.uniform(-1, 1.5, 4)):
            p = float(prior.mass(-r, r))
            assert lp.equation_1_posterior(p, float(prior.mass(-a, a)) - p, a, e) >= truth / SLACK


def test_the_corner_form_is_sound_while_the_goal_fits() -> None:
    rng = np.random.default_rng(8)
    for r, t, d in zip(rng.uniform(0.02, 0.45, 200), rng.random(200), rng.choice([0.02, 0.1, 0.3], 200), strict=True):
        if 2 * r + d >= 1:
            continue
        at = r + t * (1 - 2 * r)
        question = interval(gp.uniform(0, 1), at - r, at + r)
        epsilon = lp.best_over_a(lambda a, r=r, d=d: lp.corner_epsilon(r, 1.0, a, d), 2 * r + 1e-3, 1.0, points=60)
        if epsilon > 0:
            assert question.advantage(epsilon=epsilon).bound <= d * SLACK


def test_rings_with_larger_weights_are_sound() -> None:
    """What the ring sum should have been: e^{−ε(a+2)} always, e^{−ε(a+1)} for priors symmetric about t."""
    rng = np.random.default_rng(9)
    for _ in range(150):
        side = np.sort(rng.uniform(0.05, 6, 4))
        symmetric = bool(rng.random() < 0.5)
        values = np.concatenate([[0.0], side, -side if symmetric else -rng.uniform(0.05, 6, 4)])
        weights = rng.dirichlet(np.ones(5))
        weights = np.concatenate([weights[:1], weights[1:] / 2, weights[1:] / 2])
        goal, e = (np.abs(values) <= 1).astype(float), float(rng.uniform(0.05, 2))
        if goal.all():
            continue
        g = ball(values.tolist(), weights.tolist())
        shift = 1 if symmetric else 2
        total = sum(math.exp(-e * (a + shift)) * (g(a + 1) - g(a)) for a in range(1, 7))
        truth = line_world(values.tolist(), weights.tolist()).posterior(goal=goal, epsilon=e).attack
        assert slides.posterior_from(total / g(1)) >= truth / SLACK


# --- several attributes and outputs ---


def test_theorem_1_is_sound_with_smaller_balls_and_the_or_sum_is_sound() -> None:
    rng = np.random.default_rng(10)
    for _ in range(60):
        values = [0.0, float(rng.uniform(0.3, 4)), -float(rng.uniform(0.3, 4)), float(rng.uniform(2, 6))]
        weights, e = rng.dirichlet(np.ones(4)).tolist(), float(rng.uniform(0.05, 1.5))
        g, r = ball(values, weights), 1.0
        world, x, y = square_world(values, weights)
        both, either = (np.abs(x) <= r) & (np.abs(y) <= r), (np.abs(x) <= r) | (np.abs(y) <= r)
        if both.all() or either.all():
            continue
        truth = world.posterior(goal=both.astype(float), epsilon=e).attack
        for a in (2.5, 4.0, 7.0):
            others = max(g(a - r) ** 2 - g(r) ** 2, 0.0)
            assert lp.equation_1_posterior(g(r) ** 2, others, a, e) >= truth / SLACK
        single = line_world(values, weights).posterior(goal=(np.abs(values) <= r).astype(float), epsilon=e).attack
        one_of_two = world.posterior(goal=either.astype(float), epsilon=e).attack
        assert slides.or_sum([single, single]) >= one_of_two / SLACK
        assert 1 - (1 - single) ** 2 >= one_of_two / SLACK


def test_theorem_2_is_sound_once_repaired() -> None:
    """Blocks 2a wide, and g(a) − g(r) for g(a−r)."""
    rng = np.random.default_rng(11)
    for _ in range(60):
        values = [0.0, float(rng.uniform(1.1, 4)), -float(rng.uniform(1.1, 4))]
        weights, d = rng.dirichlet(np.ones(3)).tolist(), 0.1
        a = max(abs(v) for v in values)
        p, rest = weights[0], 1 - weights[0]
        first = lp.epsilon_for(1 - rest**2, rest**2, 2 * a, d)
        epsilon = min(first, lp.epsilon_for(p, rest, 2 * a, d))
        if not 0 < epsilon < 50:
            continue
        world, x, y = square_world(values, weights)
        assert world.advantage(((x == 0) | (y == 0)).astype(float), epsilon).attack <= d * SLACK


def test_theorem_4_is_never_exceeded() -> None:
    rng = np.random.default_rng(12)
    for p in (1.0, 1.3, 2.0, 5.0, math.inf):
        epsilons = rng.uniform(0.01, 2, 4)
        steps = rng.normal(size=(500, 4))
        steps /= np.linalg.norm(steps, ord=p, axis=1, keepdims=True)
        assert np.all(np.abs(steps) @ epsilons <= lp.theorem_4(epsilons.tolist(), p) * SLACK)


# --- [LP] appendices ---


def test_appendix_a_is_sound_where_its_ball_fits() -> None:
    rng = np.random.default_rng(13)
    factors = []
    for radius, e in zip(10 ** rng.uniform(0.7, 4, 300), 10 ** rng.uniform(-3, 0.5, 300), strict=True):
        if ap.best_a(e, 1.0) > radius:
            continue
        truth = upper(interval(gp.uniform(-radius, radius), -1, 1), e)
        assert ap.uniform_posterior(e, 1.0) >= truth / SLACK
        if 1 / e + 1 <= radius:
            assert ap.equation_2(e, 1.0, 1) >= truth / SLACK
    for radius, d in zip(10 ** rng.uniform(1.3, 4, 200), rng.uniform(0.01, 0.3, 200), strict=True):
        epsilon = ap.lambert_epsilon(1.0, radius, d)
        if ap.best_a(epsilon, 1.0) <= radius:
            factors.append(interval(gp.uniform(-radius, radius), -1, 1).epsilon(advantage=d) / epsilon)
    assert len(factors) > 50
    assert min(factors) >= 1
    assert max(factors) < math.e


def test_published_noise_rules_are_sound() -> None:
    rng = np.random.default_rng(14)
    for gamma, share in zip(rng.uniform(1.5, 8, 400), rng.random(400), strict=True):
        beta = 0.95 * share / gamma
        assert ap.cauchy_b(1.0, gamma, beta) <= cauchy_b(1.0, gamma, beta)
    for e, s, t in zip(rng.uniform(0.1, 2, 60), rng.random(60), rng.random(60), strict=True):
        b = e * (0.02 + 0.9 * s)
        beta = (e - b) * (0.05 + 0.9 * t)
        assert ap.smooth_delta(e, b, beta) >= smooth_laplace_delta(b, beta, e)


def test_the_feasible_range_of_b_lies_between_the_two_branches() -> None:
    rng = np.random.default_rng(15)
    for e, s, beta in zip(
        rng.uniform(0.3, 2, 300), rng.uniform(0.05, 0.8, 300), rng.uniform(0.01, 0.1, 300), strict=True
    ):
        alpha = e * s
        low, high = (ap.smooth_b(e, alpha, beta, 1.0, branch) for branch in (0, -1))
        if math.isnan(low):
            continue
        limit = math.exp(-alpha)
        for b in np.linspace(low, high, 7)[1:-1]:
            assert ap.smooth_loss(e, alpha, float(b), beta, 1.0) >= limit
        assert ap.smooth_loss(e, alpha, high * 1.001, beta, 1.0) < limit


# --- [KR] ---


def random_priors(seed: int, count: int):
    rng = np.random.default_rng(seed)
    return zip(rng.uniform(1e-4, 1, count), rng.uniform(1e-4, 1, count), strict=True)


def test_theorem_1_is_the_linear_program_of_three_worlds() -> None:
    rng = np.random.default_rng(16)
    for p, q in random_priors(16, 200):
        e = float(10 ** rng.uniform(-2, 1))
        world = three_worlds(p, q)
        truth = linear_program.posterior(world.prior, world.distance, [1, 0, 0], e) / (p * q)
        assert kr.theorem_1(p, q, e) == pytest.approx(truth, rel=1e-6)
        assert kr.corollary_1(e) >= kr.theorem_1(p, q, e) / SLACK


def test_theorem_2_is_the_stable_form() -> None:
    rng = np.random.default_rng(17)
    for p, q in random_priors(17, 3000):
        ratio = float(1 + 10 ** rng.uniform(-2, 2))
        exact, published = epsilon_for_relative_risk(p, q, ratio), kr.theorem_2(p, q, ratio)
        if math.isinf(exact):
            assert math.isnan(published) or published > 30
        else:
            assert published == pytest.approx(exact, rel=1e-6)
            assert kr.theorem_1(p, q, exact) <= ratio * SLACK
    for q in rng.uniform(0.01, 0.99, 300):
        ratio = float(rng.uniform(1.01, 1 / q)) if q < 0.98 else 1.005
        assert kr.corollary_2(q, ratio) == pytest.approx(epsilon_for_relative_risk(1.0, q, ratio), rel=1e-6, abs=1e-9)


def test_theorem_4_is_the_box_where_it_binds() -> None:
    rng = np.random.default_rng(18)
    for _ in range(1500):
        ratio = float(1 + 10 ** rng.uniform(-1, 1.5))
        p, q = (tuple(np.sort(rng.random(2)).tolist()) for _ in range(2))
        exact = RiskProfile.box(ratio, p=p, q=q).epsilon()
        published = kp.theorem_4(ratio, p, q)
        if math.isinf(exact):
            assert math.isnan(published)
        else:
            assert published == pytest.approx(exact, rel=1e-6)


def test_theorem_5_is_exact_away_from_the_tie() -> None:
    rng = np.random.default_rng(19)
    for p, a in random_priors(19, 1500):
        ratio = float(1 + 10 ** rng.uniform(-1, 1.5))
        if a >= 1 or abs(a / p - ratio) < 1e-3 * ratio:
            continue
        exact = RiskProfile.fixed_inclusion(p=p, absolute=a, relative=ratio).epsilon()
        assert kp.theorem_5(p, a, ratio) == pytest.approx(exact, rel=1e-6)
        assert exact >= 0.5 * math.log(ratio) * (1 - 1e-9)


def test_theorem_6_as_printed_is_never_too_large_and_the_corrected_form_is_exact() -> None:
    rng = np.random.default_rng(20)
    negative = 0
    for q, a in random_priors(20, 2500):
        ratio = float(1 + 10 ** rng.uniform(-1, 1.5))
        exact = RiskProfile.fixed_value(q=q, absolute=a, relative=ratio).epsilon()
        assert corrected_fixed_value(q, a, ratio) == pytest.approx(exact, rel=1e-6)
        assert exact >= 0.5 * math.log(ratio) * (1 - 1e-9)
        printed = kp.theorem_6(q, a, ratio)
        assert printed <= exact * SLACK
        negative += printed < 0
    assert negative > 100


def test_closed_forms_are_the_minimum_over_priors() -> None:
    """(17) by brute force: no prior of the profile allows less, and one comes near."""
    rng = np.random.default_rng(21)
    grid = np.linspace(1e-4, 1, 4001)
    for _ in range(200):
        fixed, a, ratio = rng.uniform(0.01, 1), rng.uniform(0.01, 0.95), 1 + 10 ** rng.uniform(-1, 1)
        by_value = epsilon_for_relative_risk(grid, fixed, np.maximum(a / (grid * fixed), ratio))
        assert corrected_fixed_value(fixed, a, ratio) == pytest.approx(float(np.min(by_value)), rel=3e-3, abs=1e-6)
        assert corrected_fixed_value(fixed, a, ratio) <= float(np.min(by_value)) * SLACK


def test_lee_and_clifton_keep_their_promise() -> None:
    rng = np.random.default_rng(22)
    for _ in range(60):
        n = int(rng.integers(3, 6))
        people = rng.integers(-5, 6, n).astype(float).tolist()
        removal, exchange = kr.delta_t(people, sum), kr.delta_v(people, sum)
        if exchange == 0:
            continue
        limit = float(rng.uniform(1 / n + 0.02, 0.95))
        epsilon = kr.equation_42(n, limit, removal, exchange)
        points = np.array(people)
        world = gp.FiniteWorld(prior=np.full(n, 1 / n), distance=np.abs(points[:, None] - points) / removal)
        for goal in np.eye(n):
            assert world.posterior(goal=goal, epsilon=epsilon).attack <= limit * SLACK


# --- [MXK] ---


def test_theorem_1_is_enough_for_laplace_and_gaussian_noise() -> None:
    for p in np.random.default_rng(23).uniform(0.001, 0.9999, 500):
        assert Laplace(1, mxk.theorem_1_laplace(1.0, 1.0, p)).confidence(within=1) >= p
        assert math.erf(1 / math.sqrt(2 * (1 - p))) >= p  # σ = c√(1−p)


def test_theorem_3_is_enough_below_its_thresholds_only() -> None:
    gaussian = 0.9371131685
    for p in np.random.default_rng(24).uniform(0.001, 0.9999, 1000):
        delivered = Laplace(1, mxk.theorem_3_laplace(1.0, 1.0, p)).confidence(within=1)
        assert (delivered >= p) == (p <= mxk.threshold())
        assert (math.erf(math.sqrt(math.log(2 / (1 - p)) / 2)) >= p) == (p <= gaussian)


def test_theorem_2_delivers_exactly() -> None:
    for p in np.random.default_rng(25).uniform(0.001, 0.9999, 500):
        assert Laplace(2, mxk.theorem_2_laplace(2.0, 3.0, p)).confidence(within=3) == pytest.approx(p, rel=1e-9)
