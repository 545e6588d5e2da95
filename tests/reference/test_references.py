"""The references, before they judge anything: against golden numbers, closed forms and one another."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

from reference import clipped, grid, linear_program, tent, three_region
from reference.cases import KINDS, Case, golden, golden_intervals, random_cases
from reference.tent import with_step

GOLDEN_INTERVALS = golden_intervals()
SIDES = ("upper", "lower")


@pytest.mark.parametrize(("case", "row"), GOLDEN_INTERVALS)
def test_tent_gives_the_golden_posteriors(case: Case, row: dict) -> None:
    assert case.probability() == pytest.approx(row["prior_probability"], rel=1e-13, abs=0)
    assert case.posterior("upper") == pytest.approx(row["posterior_upper"], rel=1e-13, abs=0)
    if row["posterior_lower"] is not None:
        assert case.posterior("lower") == pytest.approx(row["posterior_lower"], rel=1e-13, abs=0)


@pytest.mark.parametrize(("case", "row"), GOLDEN_INTERVALS)
def test_tent_gives_the_golden_epsilon(case: Case, row: dict) -> None:
    epsilon = float(tent.epsilon_for(case.prior(), case.low, case.high, 0.1))
    assert epsilon == pytest.approx(row["eps_for_advantage_0_1"], rel=1e-11, abs=0)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "empirical"])
def test_partial_integrals_equal_quadrature(kind: str) -> None:
    for case in random_cases(kind, 3, seed=11):
        prior, middle = case.prior(), mpf(case.true_value)
        ends = [
            middle - 1,
            *sorted(b for b in (*prior.breaks(), *prior.support()) if abs(b - middle) < 1),
            middle + 1,
        ]
        for rate in (mpf(-2), mpf(0), mpf("0.3")):
            by_quadrature = mp.quad(lambda x, rate=rate: mp.exp(rate * x) * _pdf(case, x), ends)  # noqa: B023
            assert float(prior.tilted(rate, middle - 1, middle + 1)) == pytest.approx(
                float(by_quadrature), rel=1e-10, abs=0
            )


def _pdf(case: Case, x: mpf) -> float:
    match case.kind:
        case "normal":
            return stats.norm(*case.parameters).pdf(float(x))
        case "laplace":
            return stats.laplace(*case.parameters).pdf(float(x))
        case "uniform":
            low, high = case.parameters
            return stats.uniform(low, high - low).pdf(float(x))
        case "exponential":
            return stats.expon(scale=case.parameters[0]).pdf(float(x))
        case "histogram":
            edges, weights = case.parameters
            return stats.rv_histogram((weights, edges), density=False).pdf(float(x))
    raise ValueError(case.kind)


def test_a_density_by_quadrature_gives_the_closed_form() -> None:
    closed = tent.Normal(0, 2)
    by_quadrature = tent.Density(lambda x: mp.npdf(x, 0, 2), -30, 30)
    for side in SIDES:
        expected = float(tent.posterior(closed, -0.5, 1.1, 0.7, side))
        assert float(tent.posterior(by_quadrature, -0.5, 1.1, 0.7, side, digits=5)) == pytest.approx(
            expected, rel=1e-12, abs=0
        )


@pytest.mark.parametrize("epsilon", [1e-12, 0.3, 5.0, 1e4])
def test_uniform_centred_has_the_closed_form(epsilon: float) -> None:
    exact = mp.expm1(-epsilon * mpf("0.5")) / mp.expm1(-epsilon * mpf(3))
    assert float(tent.posterior(tent.Uniform(-3, 3), -0.5, 0.5, epsilon)) == pytest.approx(
        float(exact), rel=1e-14, abs=0
    )


def test_no_peak_of_a_dense_scan_beats_the_search() -> None:
    for case in [c for kind in KINDS for c in random_cases(kind, 2, seed=12)]:
        prior, low, high = case.prior(), mpf(case.low), mpf(case.high)
        for side, slope, better in (("upper", -case.epsilon, max), ("lower", case.epsilon, min)):
            ratios = [
                prior.weigh(mpf(slope), c, low, high) / prior.weigh(mpf(slope), c, -mp.inf, mp.inf)
                for c in np.linspace(case.low, case.high, 101)
            ]
            found = case.posterior(side)
            scanned = float(better(ratios))
            assert scanned <= found * (1 + 1e-12) if side == "upper" else scanned >= found * (1 - 1e-12)
            if case.kind != "empirical":
                assert scanned == pytest.approx(found, rel=1e-2, abs=0)


@pytest.mark.parametrize("prior", [tent.Exponential(2), tent.Laplace(0, 2)])
def test_the_lowest_belief_is_zero_where_its_integral_diverges(prior: tent.Prior) -> None:
    assert tent.posterior(prior, 0.5, 1, 0.499, "lower") > 0
    assert tent.posterior(prior, 0.5, 1, 0.5, "lower") == 0
    assert tent.posterior(prior, 0.5, 1, 0.7, "lower") == 0


def test_tiny_epsilon_is_linear() -> None:
    gains = [tent.advantage(tent.Normal(0, 1), -0.5, 1, e, digits=50) / mpf(e) for e in (1e-12, 1e-10)]
    assert float(gains[0]) == pytest.approx(float(gains[1]), rel=1e-9, abs=0)


@pytest.mark.parametrize("row", golden()["finite"], ids=lambda row: f"{len(row['prior'])} points")
@pytest.mark.parametrize("side", SIDES)
def test_linear_program_gives_the_golden_posteriors(row: dict, side: str) -> None:
    value = linear_program.posterior(row["prior"], row["distance"], row["goal"], row["eps"], side)
    assert value == pytest.approx(row[f"posterior_{side}"], rel=1e-9, abs=0)


@pytest.mark.parametrize("p", [0.03, 0.5, 0.9])
def test_linear_program_gives_the_two_point_formula(p: float) -> None:
    for epsilon in (0.1, 1.0, 5.0):
        for side, sign in (("upper", -1), ("lower", 1)):
            value = linear_program.posterior([p, 1 - p], [[0, 2], [2, 0]], [1, 0], epsilon, side)
            assert value == pytest.approx(p / (p + math.exp(sign * 2 * epsilon) * (1 - p)), rel=1e-9, abs=0)


def test_a_fractional_goal_is_a_split_point() -> None:
    whole = linear_program.posterior([0.4, 0.6], [[0, 1], [1, 0]], [0.25, 0.5], 0.8)
    split = linear_program.posterior(
        [0.1, 0.3, 0.3, 0.3], [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]], [1, 0, 1, 0], 0.8
    )
    assert whole == pytest.approx(split, rel=1e-9, abs=0)


def test_the_likelihood_of_the_linear_program_is_private() -> None:
    rng = np.random.default_rng(3)
    places = rng.uniform(0, 3, (9, 2))
    distance = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    pairs = np.argwhere(np.triu(np.ones((9, 9)), k=1))
    likelihood = linear_program.worst_likelihood(
        rng.dirichlet(np.ones(9)), distance, rng.integers(0, 2, 9), pairs, 0.6, "upper"
    )
    assert np.all(np.log(likelihood[:, None] / likelihood[None, :]) <= 0.6 * distance + 1e-7)


@pytest.mark.parametrize("side", SIDES)
def test_atoms_of_the_tent_agree_with_the_linear_program(side: str) -> None:
    for case in random_cases("empirical", 20, seed=13):
        points = np.array(case.parameters[0])
        between, epsilon = abs(points[:, None] - points[None, :]), min(case.epsilon, 1.0)
        goal = (case.low <= points) & (points <= case.high)
        by_program = linear_program.posterior(np.full(len(points), 1 / len(points)), between, goal, epsilon, side)
        by_tent = tent.posterior(case.prior(), case.low, case.high, epsilon, side)
        assert by_program == pytest.approx(float(by_tent), rel=1e-6, abs=1e-9)


def absolute(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return abs(x - y)


@pytest.mark.parametrize("side", SIDES)
def test_grid_approximates_the_tent(side: str) -> None:
    for prior, cdf, window in (
        (tent.Normal(0, 2), stats.norm(0, 2).cdf, (-14.0, 14.0)),
        (tent.Uniform(-1, 6), stats.uniform(-1, 7).cdf, (-1.0, 6.0)),
        (tent.Laplace(0.4, 0.7), stats.laplace(0.4, 0.7).cdf, (-16.0, 16.0)),
    ):
        found = grid.posterior(cdf, window, [(-0.5, 1.1)], absolute, 0.7, side, breaks=[0.4])
        exact = float(tent.posterior(prior, -0.5, 1.1, 0.7, side))
        assert found.value == pytest.approx(exact, abs=3 * found.error + 1e-5)
        assert found.error < 3e-3


@pytest.mark.parametrize("side", SIDES)
def test_grid_leaves_out_only_what_follows(side: str) -> None:
    rng = np.random.default_rng(5)
    points, masses = np.sort(rng.uniform(0, 5, 14)), rng.dirichlet(np.ones(14))
    correct = (rng.random(14) < 0.5).astype(float)
    for distance in (
        absolute,
        lambda x, y: np.minimum(abs(x - y), 1.3),
        lambda x, y: abs(x.round() - y.round()),
    ):
        every_pair = linear_program.posterior(masses, distance(points[:, None], points[None, :]), correct, 0.9, side)
        assert grid.point_posterior(points, masses, correct, distance, 0.9, side) == pytest.approx(
            every_pair, rel=1e-7, abs=0
        )


CAPPED = [
    (tent.Normal(0, 2), stats.norm(0, 2).cdf, (-14.0, 14.0), 0.4),
    (
        tent.Histogram([-2, 0, 1, 4], [0.5, 0.1, 0.4]),
        stats.rv_histogram(([0.5, 0.1, 0.4], [-2, 0, 1, 4]), density=False).cdf,
        (-2.0, 4.0),
        1.5,
    ),
]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("prior", "cdf", "window", "cap"), CAPPED, ids=["normal", "histogram"])
def test_the_clipped_tent_is_the_optimum_of_a_capped_metric(prior, cdf, window, cap: float, side: str) -> None:
    def distance(x, y):
        return np.minimum(abs(x - y), cap)

    found = grid.posterior(cdf, window, [(-0.5, 1.1)], distance, 0.7, side, breaks=[0, 1])
    exact = float(clipped.posterior(prior, -0.5, 1.1, 0.7, cap, side, digits=6))
    assert found.value == pytest.approx(exact, abs=3 * found.error + 1e-4)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("goal", [(-0.5, 1.1), (-2.0, 0.5), (0.5, 2.4)])
def test_clamped_tent_is_the_optimum_of_a_clamped_metric(goal: tuple[float, float], side: str) -> None:
    found = grid.posterior(
        stats.norm(0, 2).cdf,
        (-14.0, 14.0),
        [goal],
        lambda x, y: abs(np.clip(x, -1, 2) - np.clip(y, -1, 2)),
        0.7,
        side,
        breaks=[-1, 2],
    )
    exact = float(tent.posterior(tent.Clamped(tent.Normal(0, 2), -1, 2), *goal, 0.7, side))
    assert found.value == pytest.approx(exact, abs=3 * found.error + 1e-5)


@pytest.mark.parametrize("side", SIDES)
def test_a_step_between_any_two_values_multiplies_the_odds(side: str) -> None:
    """If |x − x'| gains a step w for any two different values, the log odds move by exactly ±ε·w.

    Take any L that is private in d + w. Its envelope sup_{g∈G} e^{−εw}·L(g)·e^{−ε·d(x,g)} is private in d,
    at least e^{−εw}·L on the goal, at most L outside. So this holds in every metric space, for every goal.
    """
    rng = np.random.default_rng(6)
    places, masses = rng.uniform(0, 3, (10, 2)), rng.dirichlet(np.ones(10))
    between = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    goal = np.arange(10) < 4
    plain = linear_program.posterior(masses, between, goal, 0.7, side)
    stepped = linear_program.posterior(masses, between + 0.3 * (1 - np.eye(10)), goal, 0.7, side)
    assert with_step(plain, 0.7 * 0.3, side) == pytest.approx(stepped, rel=1e-8, abs=0)


@pytest.mark.parametrize("side", SIDES)
def test_known_interval_is_a_truncated_density(side: str) -> None:
    truncated = tent.Density(lambda x: mp.npdf(x, 0, 2), -1, 3)
    exact = float(tent.posterior(truncated, -0.5, 1.1, 0.7, side, digits=5))
    known = tent.Known(tent.Normal(0, 2), -1, 3)
    assert float(tent.posterior(known, -0.5, 1.1, 0.7, side)) == pytest.approx(exact, rel=1e-12, abs=0)
    assert float(tent.probability(known, -2, 3)) == pytest.approx(1, rel=1e-15, abs=0)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_three_regions_without_an_outside_are_two(epsilon: float) -> None:
    world = three_region.World(true_value=0, goal=1, radius=5, probability=1, low=-5, high=5)
    for side in SIDES:
        assert three_region.advantage(world, epsilon, side) == pytest.approx(
            math.tanh(epsilon * 6 / 4), rel=1e-9, abs=0
        )


def test_three_regions_with_an_infinite_outside() -> None:
    """The outside can be ruled out: p/(p + (q−p)e^{−ε(R'+r)}) − p, largest at the root of a quadratic."""
    world = three_region.World(true_value=10, goal=1, radius=3, probability=0.8)
    shrink = math.exp(-0.5 * 4)
    p = (math.sqrt(0.8 * shrink) - 0.8 * shrink) / (1 - shrink)
    exact = p / (p + (0.8 - p) * shrink) - p
    assert three_region.advantage(world, 0.5) == pytest.approx(exact, rel=1e-9, abs=0)
    assert three_region.advantage(world, 0.5, "lower") == pytest.approx(0.8, rel=1e-9, abs=0)


@pytest.mark.parametrize("side", SIDES)
def test_no_prior_of_the_kind_beats_the_three_regions(side: str) -> None:
    rng = np.random.default_rng(8)
    world = three_region.World(true_value=1, goal=1, radius=3, probability=0.7, low=-4, high=9)
    limit = three_region.advantage(world, 0.4, side)
    best = 0.0
    for _ in range(60):
        points = np.concatenate([rng.uniform(-2, 4, 4), rng.uniform(4, 9, 2), rng.uniform(-4, -2, 2), [0, 2, -2, 4]])
        in_ball = abs(points - 1) <= 3
        masses = np.where(in_ball, 0.7, 0.3) * rng.dirichlet(np.full(12, 0.3)).clip(1e-9)
        masses[in_ball] *= 0.7 / masses[in_ball].sum()
        masses[~in_ball] *= 0.3 / masses[~in_ball].sum()
        goal = abs(points - 1) <= 1
        worst = linear_program.posterior(masses, abs(points[:, None] - points[None, :]), goal, 0.4, side)
        best = max(best, abs(worst - masses[goal].sum()))
    assert 0.5 * limit < best <= limit + 1e-9
