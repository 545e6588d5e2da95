"""Exact answers: the golden values, and hundreds of random questions that slow references answer too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from depth import cases
from mpmath import mp
from reference import clipped, grid, linear_program, tent, three_region
from reference.cases import KINDS, Case, golden, golden_intervals, random_case, random_cases
from scipy import stats

import guessproof as gp
from guessproof.errors import InfeasibleError
from risk.asking import NAME, attack, encloses, fixed_attack, product_prior

SIDES = ("upper", "lower")
GOLDEN_INTERVALS = golden_intervals()
PROVEN = 2e-5  # relative width of brackets for curved densities, which are made of pieces


def assert_exact(bracket: Any, truth: float, side: str, rel: float = PROVEN) -> None:
    """Attack and bound meet at the truth, up to the pieces of a curved density. Below 1e-15 a belief is nothing."""
    assert bracket.status in ("exact", "proven")
    assert bracket.attack == pytest.approx(truth, rel=rel, abs=1e-15)
    assert bracket.bound == pytest.approx(truth, rel=rel, abs=1e-15)
    assert encloses(bracket, truth, side) or truth < 1e-15


# --- golden values ---


@pytest.mark.parametrize(("case", "row"), GOLDEN_INTERVALS)
def test_golden_interval(case: Case, row: dict) -> None:
    question = attack(case)
    assert question.prior == pytest.approx(row["prior_probability"], rel=1e-9, abs=0)
    assert_exact(question.posterior(epsilon=case.epsilon), row["posterior_upper"], "upper")
    if row["posterior_lower"] is not None:
        assert_exact(question.posterior(epsilon=case.epsilon, side="lower"), row["posterior_lower"], "lower")


@pytest.mark.parametrize(("case", "row"), GOLDEN_INTERVALS)
def test_golden_epsilon_is_met_from_the_private_side(case: Case, row: dict) -> None:
    epsilon, truth = attack(case).epsilon(advantage=0.1), row["eps_for_advantage_0_1"]
    assert truth * (1 - PROVEN) <= epsilon <= truth * (1 + 1e-9)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("row", golden()["finite"], ids=lambda row: f"{len(row['prior'])} points")
def test_golden_finite_world(row: dict, side: str) -> None:
    world = gp.FiniteWorld(prior=row["prior"], distance=row["distance"])
    bracket = world.posterior(goal=row["goal"], epsilon=row["eps"], side=side)
    assert bracket.attack == pytest.approx(row[f"posterior_{side}"], rel=1e-7, abs=0)
    assert bracket.bound == pytest.approx(row[f"posterior_{side}"], rel=1e-7, abs=0)
    assert encloses(bracket, row[f"posterior_{side}"], side, slack=1e-9)


@pytest.mark.parametrize("row", golden()["risk"], ids=lambda row: f"p={row['p']:.2f} q={row['q']:.2f}")
def test_golden_relative_risk_is_a_world_of_three_points(row: dict) -> None:
    p, q = row["p"], row["q"]
    world = gp.FiniteWorld(prior=[p * q, p * (1 - q), 1 - p], distance=[[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    bracket = world.posterior(goal=[1, 0, 0], epsilon=row["eps"])
    assert bracket.bound / (p * q) == pytest.approx(row["relative_risk"], rel=1e-7, abs=0)
    assert bracket.attack / (p * q) == pytest.approx(row["relative_risk"], rel=1e-7, abs=0)


# --- random questions against the mpmath tent ---


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("kind", KINDS)
def test_random_intervals_agree_with_the_tent(kind: str, side: str) -> None:
    for case in random_cases(kind, cases(14), seed=1):
        bracket = attack(case).posterior(epsilon=case.epsilon, side=side)
        assert_exact(bracket, case.posterior(side), side)


@pytest.mark.parametrize("kind", KINDS)
def test_random_epsilons_are_the_largest_safe_ones(kind: str) -> None:
    rng = np.random.default_rng(7)
    for case in random_cases(kind, cases(6), seed=2):
        limit = float(rng.uniform(0.02, 0.9)) * (1 - case.probability())
        epsilon = attack(case).epsilon(advantage=limit)
        at, beyond = (_gain(case, e) for e in (epsilon, epsilon * (1 + PROVEN)))
        assert at <= limit * (1 + 1e-9)
        assert beyond >= limit * (1 - PROVEN)


def _gain(case: Case, epsilon: float, side: str = "upper") -> float:
    return float(tent.advantage(case.prior(), case.low, case.high, epsilon, side))


@pytest.mark.parametrize("kind", ["uniform", "normal", "histogram", "empirical"])
def test_both_directions_take_the_tighter_one(kind: str) -> None:
    for case in random_cases(kind, cases(4), seed=3):
        question = attack(case)
        gain, loss = _gain(case, case.epsilon), _gain(case, case.epsilon, "lower")
        either = question.advantage(epsilon=case.epsilon, both=True)
        assert either.bound == pytest.approx(max(gain, loss), rel=PROVEN, abs=0)
        limit = 0.3 * min(case.probability(), 1 - case.probability())
        epsilon = question.epsilon(advantage=limit, both=True)
        assert max(_gain(case, epsilon), _gain(case, epsilon, "lower")) <= limit * (1 + 1e-9)
        beyond = epsilon * (1 + PROVEN)
        assert max(_gain(case, beyond), _gain(case, beyond, "lower")) >= limit * (1 - 1e-12)


def test_posterior_limits_invert_the_posterior() -> None:
    for case in [c for kind in KINDS for c in random_cases(kind, cases(2), seed=4)]:
        p = case.probability()
        limit = p + 0.4 * (1 - p)
        epsilon = attack(case).epsilon(posterior=limit)
        assert _belief(case, epsilon) <= limit * (1 + 1e-9)
        assert _belief(case, epsilon * (1 + PROVEN)) >= limit * (1 - 1e-12)


def _belief(case: Case, epsilon: float) -> float:
    return float(tent.posterior(case.prior(), case.low, case.high, epsilon))


def test_the_scale_of_an_attribute_divides_epsilon() -> None:
    case = random_cases("normal", 1, seed=5)[0]
    scaled = attack(case, scale=4.0).posterior(epsilon=4 * case.epsilon)
    assert_exact(scaled, case.posterior("upper"), "upper")


# --- other descriptions of the same world ---


@pytest.mark.parametrize("side", SIDES)
def test_what_the_attacker_knows_conditions_the_prior(side: str) -> None:
    prior = tent.Known(tent.Normal(20, 6), 10, 24)
    truth = float(tent.posterior(prior, 18, 22, 0.3, side))
    time = gp.Attribute("time", prior=gp.normal(20, 6))
    told = gp.Attack(gp.within(time, 2), at={"time": 20}, knows={"time": (10, 24)})
    given = gp.Attack(gp.within(gp.Attribute("time", prior=gp.normal(20, 6).given(10, 24)), 2), at={"time": 20})
    assert told.prior == pytest.approx(float(tent.probability(prior, 18, 22)), rel=1e-9, abs=0)
    assert given.prior == pytest.approx(told.prior, rel=1e-12, abs=0)
    assert_exact(told.posterior(epsilon=0.3, side=side), truth, side)
    assert_exact(given.posterior(epsilon=0.3, side=side), truth, side)


def test_what_is_known_of_a_category_conditions_it() -> None:
    faculty = gp.Attribute("faculty", prior=gp.categorical({"math": 0.5, "cs": 0.3, "law": 0.2}))
    told = gp.Attack(gp.exactly(faculty), at={"faculty": "cs"}, knows={"faculty": {"math", "cs"}})
    assert told.prior == pytest.approx(0.375, rel=1e-14, abs=0)
    assert_exact(told.posterior(epsilon=0.8), _two_valued(0.375, 0.8), "upper")
    given = gp.categorical({"math": 0.5, "cs": 0.3, "law": 0.2}).given({"math", "cs"})
    again = gp.Attack(gp.exactly(gp.Attribute("faculty", prior=given)), at={"faculty": "cs"})
    assert again.prior == pytest.approx(0.375, rel=1e-14, abs=0)


def test_within_a_percentage_of_the_true_value() -> None:
    income = gp.Attribute("income", prior=gp.normal(2000, 235.7))
    relative = gp.Attack(gp.within(income, percent=5), at={"income": 1900})
    assert_exact(relative.posterior(epsilon=0.002), _salary_belief(1900, 95, 0.002), "upper")
    below_zero = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), percent=50), at={"x": -1})
    truth = float(tent.posterior(tent.Normal(0, 1), -1.5, -0.5, 0.7))
    assert_exact(below_zero.posterior(epsilon=0.7), truth, "upper")


def _salary_belief(true_value: float, radius: float, epsilon: float) -> float:
    return float(tent.posterior(tent.Normal(2000, 235.7), true_value - radius, true_value + radius, epsilon))


def test_within_means_at_most() -> None:
    values = gp.Attribute("x", prior=gp.empirical([0, 1, 2, 3]))
    assert gp.Attack(gp.within(values, 1), at={"x": 0}).prior == pytest.approx(0.5)
    assert gp.Attack(gp.inside(values, (1, 2))).prior == pytest.approx(0.5)
    assert gp.Attack(gp.among(values, [1, 3])).prior == pytest.approx(0.5)


@pytest.mark.parametrize("side", SIDES)
def test_any_scipy_distribution_by_quadrature(side: str) -> None:
    normal = gp.from_scipy(stats.norm(1, 2))
    truth = float(tent.posterior(tent.Normal(1, 2), 0.5, 2, 0.6, side))
    assert fixed_attack(normal, (0.5, 2.0)).posterior(epsilon=0.6, side=side).bound == pytest.approx(
        truth, rel=PROVEN, abs=0
    )


def test_scipy_distributions_that_have_no_closed_form() -> None:
    gamma = tent.Density(lambda x: x * mp.exp(-x), 0, 60)
    beta = tent.Density(lambda x: 12 * x * (1 - x) ** 2, 0, 1)
    for frozen, prior, goal in ((stats.gamma(2), gamma, (0.5, 2.0)), (stats.beta(2, 3), beta, (0.3, 0.6))):
        truth = float(tent.posterior(prior, *goal, 0.6, digits=5))
        bracket = fixed_attack(gp.from_scipy(frozen), goal).posterior(epsilon=0.6)
        assert bracket.bound == pytest.approx(truth, rel=PROVEN, abs=0)
        assert encloses(bracket, truth, slack=1e-9)


# --- two-valued distance ---


def _two_valued(p: float, distance: float, side: str = "upper") -> float:
    return p / (p + math.exp(-distance if side == "upper" else distance) * (1 - p))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("p", [1e-15, 0.004, 0.2, 0.5, 0.93, 1 - 1e-15])
def test_categories_have_the_two_valued_formula(p: float, side: str) -> None:
    attribute = gp.Attribute("c", prior=gp.categorical({"yes": p, "no": 1 - p}))
    question = gp.Attack(gp.exactly(attribute), at={"c": "yes"})
    for epsilon in (1e-12, 0.01, 1.0, 20.0):
        bracket = question.posterior(epsilon=epsilon, side=side)
        assert bracket.bound == pytest.approx(_two_valued(p, epsilon, side), rel=1e-12, abs=0)
        assert bracket.attack == pytest.approx(_two_valued(p, epsilon, side), rel=1e-12, abs=0)


@pytest.mark.parametrize("p", [0.001, 0.2, 0.45, 0.55, 0.9])
@pytest.mark.parametrize("limit", [1e-9, 0.01, 0.1, 0.4])
def test_categories_invert_in_closed_form(p: float, limit: float) -> None:
    question = gp.Attack(gp.among(gp.Attribute("c", prior=gp.categorical({"a": p, "b": 1 - p})), ["a"]))

    def one_side(p: float) -> float:
        return math.inf if limit >= 1 - p else math.log1p(limit / (p * (1 - p - limit)))

    assert question.epsilon(advantage=limit) == pytest.approx(one_side(p), rel=1e-9, abs=0)
    both = min(one_side(p), one_side(1 - p))
    assert question.epsilon(advantage=limit, both=True) == pytest.approx(both, rel=1e-9, abs=0)


def test_the_worst_category_is_nearest_to_the_worst_prior() -> None:
    colour = gp.Attribute("c", prior=gp.categorical({"a": 0.05, "b": 0.15, "c": 0.38, "d": 0.42}))
    question = gp.Attack(gp.exactly(colour))
    assert question.epsilon(advantage=0.1) == pytest.approx(-math.log(0.42 / 0.58 * (1 / 0.52 - 1)), rel=1e-9, abs=0)
    worst = question.advantage(epsilon=0.5)
    assert worst.worst_at == "d"
    assert worst.worst_prior == pytest.approx(0.42)
    # For a large ε the worst prior is nearest in log odds to −ε/2.
    assert question.advantage(epsilon=4.0).worst_at == "b"


# --- other metrics ---


@pytest.mark.parametrize("side", SIDES)
def test_random_finite_worlds_agree_with_the_linear_program(side: str) -> None:
    rng = np.random.default_rng(9)
    for _ in range(cases(30)):
        prior, distance = _random_world(rng)
        goal = _random_goal(rng, len(prior))
        epsilon = float(10 ** rng.uniform(-2, 0.7))
        truth = linear_program.posterior(prior, distance, goal, epsilon, side)
        bracket = gp.FiniteWorld(prior=prior, distance=distance).posterior(goal=goal, epsilon=epsilon, side=side)
        assert bracket.attack == pytest.approx(truth, rel=1e-7, abs=1e-9)
        assert bracket.bound == pytest.approx(truth, rel=1e-7, abs=1e-9)


def _random_world(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points in the plane under a norm, now and then some at the same place, or all equally far apart."""
    size = int(rng.integers(2, 13))
    prior = rng.dirichlet(np.full(size, 0.7)).clip(1e-6)
    places = rng.uniform(0, 2, (size, 2))
    if rng.random() < 0.3:
        places[-1] = places[0]
    elif rng.random() < 0.3:
        places = np.round(places)
    order = rng.choice([1, 2, np.inf])
    distance = np.linalg.norm(places[:, None] - places[None, :], ord=order, axis=2)
    if rng.random() < 0.2:
        distance = 1.0 - np.eye(size)
    return prior / prior.sum(), distance


def _random_goal(rng: np.random.Generator, size: int) -> np.ndarray:
    goal = np.zeros(size)
    goal[rng.permutation(size)[: rng.integers(1, size)]] = 1
    return goal


def test_finite_worlds_invert() -> None:
    rng = np.random.default_rng(10)
    for _ in range(20):
        prior, distance = _random_world(rng)
        goal = (np.arange(len(prior)) == 0).astype(float)
        world, p = gp.FiniteWorld(prior=prior, distance=distance), float(prior[0])
        if distance[0].max() == 0 or (distance[0, 1:] == 0).any():
            continue
        epsilon = world.epsilon(goal=goal, advantage=0.3 * (1 - p))
        assert linear_program.posterior(prior, distance, goal, epsilon) - p <= 0.3 * (1 - p) * (1 + 1e-6)
        assert linear_program.posterior(prior, distance, goal, epsilon * 1.0001) - p >= 0.3 * (1 - p) * (1 - 1e-6)


@pytest.mark.parametrize("side", SIDES)
def test_a_matrix_of_distances_between_categories(side: str) -> None:
    distances = [[0, 1, 3], [1, 0, 2.5], [3, 2.5, 0]]
    metric = gp.Matrix(["a", "b", "c"], distances)
    attribute = gp.Attribute("c", prior=gp.categorical({"a": 0.2, "b": 0.5, "c": 0.3}), metric=metric)
    bracket = gp.Attack(gp.exactly(attribute), at={"c": "b"}).posterior(epsilon=0.8, side=side)
    truth = linear_program.posterior([0.2, 0.5, 0.3], distances, [0, 1, 0], 0.8, side)
    assert bracket.bound == pytest.approx(truth, rel=1e-7, abs=0)
    assert bracket.attack == pytest.approx(truth, rel=1e-7, abs=0)


CAPPED = [
    ("normal", (0.0, 2.0), (-0.5, 1.1), 0.7, 0.4),
    ("normal", (0.0, 2.0), (-0.5, 1.1), 0.7, 1.5),
    ("uniform", (-2.0, 5.0), (1.0, 3.3), 0.4, 1.0),
    ("histogram", ((-2.0, 0.0, 1.0, 4.0), (0.5, 0.1, 0.4)), (-0.5, 1.1), 1.5, 0.8),
    ("laplace", (0.3, 1.0), (0.5, 2.0), 2.0, 2.5),
]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("kind", "parameters", "goal", "epsilon", "cap"), CAPPED)
def test_a_capped_metric_has_the_clipped_tent(
    kind: str, parameters: tuple, goal: tuple[float, float], epsilon: float, cap: float, side: str
) -> None:
    case = Case(kind, parameters, 0, 1, epsilon)
    truth = float(clipped.posterior(case.prior(), *goal, epsilon, cap, side, digits=6))
    question = fixed_attack(product_prior(kind, parameters), goal, metric=gp.minimum(gp.Absolute(), cap))
    bracket = question.posterior(epsilon=epsilon, side=side)
    assert encloses(bracket, truth, side, slack=1e-9)
    assert bracket.bound == pytest.approx(truth, rel=1e-5, abs=0)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("goal", [(-0.5, 1.1), (-2.0, 0.5), (0.5, 2.4)])
def test_a_clamped_metric_has_atoms_at_its_ends(goal: tuple[float, float], side: str) -> None:
    truth = float(tent.posterior(tent.Clamped(tent.Normal(0, 2), -1, 2), *goal, 0.7, side))
    bracket = fixed_attack(gp.normal(0, 2), goal, metric=gp.Clamped(-1, 2)).posterior(epsilon=0.7, side=side)
    assert encloses(bracket, truth, side, slack=1e-9)
    assert abs(bracket.bound - bracket.attack) < 0.01
    halved = gp.Clamped(-1, 2, scale=2.0)
    same = fixed_attack(gp.normal(0, 2), goal, metric=halved).posterior(epsilon=1.4, side=side)
    assert same.bound == pytest.approx(bracket.bound, rel=1e-6, abs=0)


@pytest.mark.parametrize("side", SIDES)
def test_a_step_between_any_two_values_moves_the_log_odds(side: str) -> None:
    for case in [c for kind in KINDS for c in random_cases(kind, 3, seed=6)]:
        truth = tent.with_step(case.posterior(side), case.epsilon * 0.3, side)
        stepped = attack(case, metric=gp.Absolute() + 0.3 * gp.Discrete())
        bracket = stepped.posterior(epsilon=case.epsilon, side=side)
        assert encloses(bracket, truth, side, slack=1e-9) or truth < 1e-12
        assert abs(bracket.bound - bracket.attack) < 0.01


def _threshold_truth(cuts: list[float], goal: tuple[float, float], epsilon: float, side: str) -> float:
    """Between two cuts the likelihood is constant: a finite world whose goal holds a share of each cell."""
    normal = stats.norm(0, 2)
    edges = np.array([-np.inf, *cuts, np.inf])
    masses = np.diff(normal.cdf(edges))
    inside = np.diff(normal.cdf(np.clip(edges, *goal)))
    cells = np.arange(len(masses))
    return linear_program.posterior(masses, abs(cells[:, None] - cells[None, :]), inside / masses, epsilon, side)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("cuts", [[0.3], [-1.0, 0.3], [-3.0, 0.0, 1.1]])
def test_a_threshold_metric_counts_the_cuts_between(cuts: list[float], side: str) -> None:
    goal = (-0.5, 1.1)
    question = fixed_attack(gp.normal(0, 2), goal, metric=gp.Threshold(*cuts))
    for epsilon in (0.1, 1.3):
        truth = _threshold_truth(cuts, goal, epsilon, side)
        bracket = question.posterior(epsilon=epsilon, side=side)
        assert bracket.bound == pytest.approx(truth, rel=1e-7, abs=0)
        assert bracket.attack == pytest.approx(truth, rel=1e-7, abs=0)


def _outcome_truth(prior: Any, outcome: list[tuple], goal: tuple[float, float], epsilon: float, side: str) -> float:
    hit = sum(np.diff(prior.cdf(piece))[0] for piece in outcome)
    both = sum(np.diff(prior.cdf(np.clip(piece, *goal)))[0] for piece in outcome)
    rest = np.diff(prior.cdf(goal))[0] - both
    beliefs = [(k * both + rest) / (k * hit + 1 - hit) for k in (math.exp(epsilon), math.exp(-epsilon))]
    return max(beliefs) if side == "upper" else min(beliefs)


@pytest.mark.parametrize("side", SIDES)
def test_an_outcome_metric_sees_only_the_outcome(side: str) -> None:
    outcome, goal = [(-1.0, 0.2), (0.9, 3.0)], (-0.5, 1.1)
    question = fixed_attack(gp.normal(0, 2), goal, metric=gp.Outcome(*outcome))
    bracket = question.posterior(epsilon=0.9, side=side)
    truth = _outcome_truth(stats.norm(0, 2), outcome, goal, 0.9, side)
    assert bracket.bound == pytest.approx(truth, rel=1e-9, abs=0)
    assert bracket.attack == pytest.approx(truth, rel=1e-9, abs=0)


def test_what_an_outcome_can_never_reveal_allows_every_epsilon() -> None:
    question = fixed_attack(gp.normal(0, 2), (-0.5, 1.1), metric=gp.Threshold(-0.5))
    most = stats.norm(0, 2).cdf([-0.5, 1.1])
    ceiling = (most[1] - most[0]) / (1 - most[0])
    assert question.epsilon(posterior=ceiling + 1e-6) == math.inf
    assert question.epsilon(posterior=ceiling - 1e-3) < math.inf


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("epsilon", [0.3, 1.5])
def test_a_union_of_intervals_agrees_with_the_grid(epsilon: float, side: str) -> None:
    goal = [(-3.0, -2.0), (0.5, 1.5)]
    found = grid.posterior(stats.norm(0, 2).cdf, (-14.0, 14.0), goal, lambda x, y: abs(x - y), epsilon, side, cells=120)
    bracket = fixed_attack(gp.normal(0, 2), *goal).posterior(epsilon=epsilon, side=side)
    assert encloses(bracket, found.value, side, slack=(3 * found.error + 1e-4) / found.value)
    assert abs(bracket.bound - bracket.attack) < 0.01


@pytest.mark.parametrize("side", SIDES)
def test_a_set_of_values_agrees_with_the_linear_program(side: str) -> None:
    rng = np.random.default_rng(12)
    values = np.round(rng.normal(0, 3, 30), 1)
    chosen = [float(v) for v in np.unique(values)[::3]]
    truth = linear_program.posterior(
        np.full(30, 1 / 30), abs(values[:, None] - values[None, :]), np.isin(values, chosen), 0.6, side
    )
    attribute = gp.Attribute(NAME, prior=gp.empirical(values.tolist()))
    bracket = gp.Attack(gp.among(attribute, chosen)).posterior(epsilon=0.6, side=side)
    assert bracket.bound == pytest.approx(truth, rel=1e-7, abs=0)
    assert bracket.attack == pytest.approx(truth, rel=1e-7, abs=0)


# --- unknown and partly known priors ---


@pytest.mark.parametrize("limit", [1e-6, 0.1, 0.7])
def test_an_unknown_prior_depends_on_the_range_only(limit: float) -> None:
    question = gp.Attack(gp.within(gp.Attribute("x", prior=gp.unknown(-5, 15), scale=2.0), 1))
    epsilon = question.epsilon(advantage=limit)
    assert epsilon == pytest.approx(4 * math.atanh(limit) / 10, rel=1e-9, abs=0)
    assert epsilon <= 4 * math.atanh(limit) / 10 * (1 + 1e-12)
    bracket = question.advantage(epsilon=epsilon)
    assert bracket.bound == pytest.approx(limit, rel=1e-8, abs=0)
    assert bracket.worst_prior == pytest.approx((1 - limit) / 2, rel=1e-6, abs=0)


def test_an_unknown_prior_at_a_true_value_is_no_worse() -> None:
    attribute = gp.Attribute("x", prior=gp.unknown(0, 10))
    anywhere = gp.Attack(gp.within(attribute, 1)).epsilon(advantage=0.1)
    here = gp.Attack(gp.within(attribute, 1), at={"x": 5}).epsilon(advantage=0.1)
    # From [4, 6] nothing is further than 6.
    assert anywhere * (1 - 1e-12) <= here <= 4 * math.atanh(0.1) / 6 * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.05, 0.4, 1.5])
@pytest.mark.parametrize(
    "world",
    [
        three_region.World(true_value=10, goal=1, radius=3, probability=0.8),
        three_region.World(true_value=10, goal=1, radius=3, probability=0.8, low=0, high=22),
        three_region.World(true_value=10, goal=1, radius=4, probability=0.3, low=8, high=30),
        three_region.World(true_value=10, goal=2, radius=5, probability=0.95, low=-20, high=16),
    ],
)
def test_a_partly_known_prior_has_three_regions(world: three_region.World, epsilon: float) -> None:
    prior = gp.partly_known(world.radius, world.probability, low=world.low, high=world.high)
    question = gp.Attack(gp.within(gp.Attribute("x", prior=prior), world.goal), at={"x": world.true_value})
    truth = three_region.advantage(world, epsilon)
    bracket = question.advantage(epsilon=epsilon)
    assert bracket.bound == pytest.approx(truth, rel=1e-7, abs=0)
    assert encloses(bracket, truth, slack=1e-8)
    # An outside at infinity can be ruled out at any ε > 0, so the advantage may be flat before it rises.
    largest = question.epsilon(advantage=truth)
    assert largest >= epsilon * (1 - 1e-6)
    assert three_region.advantage(world, largest) <= truth * (1 + 1e-6)


def test_a_partly_known_prior_in_both_directions() -> None:
    world = three_region.World(true_value=10, goal=1, radius=3, probability=0.8, low=0, high=22)
    prior = gp.partly_known(3, 0.8, low=0, high=22)
    question = gp.Attack(gp.within(gp.Attribute("x", prior=prior), 1), at={"x": 10})
    truth = max(three_region.advantage(world, 0.2, side) for side in SIDES)
    assert question.advantage(epsilon=0.2, both=True).bound == pytest.approx(truth, rel=1e-7, abs=0)


# --- the worst true value ---


def test_the_worst_salary_is_not_the_most_likely_one() -> None:
    salary = gp.Attribute("salary", prior=gp.normal(mean=2000, sd=235.7))
    likely = gp.Attack(gp.within(salary, 100), at={"salary": 2000}).epsilon(advantage=0.1)
    assert likely == pytest.approx(0.0022236, rel=1e-5, abs=0)
    anywhere = gp.Attack(gp.within(salary, 100))
    epsilon = anywhere.epsilon(advantage=0.1)
    at_worst = float(tent.epsilon_for(tent.Normal(2000, 235.7), 1672.59073, 1872.59073, 0.1))
    assert at_worst == pytest.approx(0.00192522, rel=1e-5, abs=0)
    assert at_worst * (1 - 1e-3) <= epsilon <= at_worst * (1 + 1e-9)
    worst = anywhere.advantage(epsilon=epsilon)
    assert abs(worst.worst_at - 2000) == pytest.approx(2000 - 1772.6, abs=2)
    truth = float(tent.probability(tent.Normal(2000, 235.7), worst.worst_at - 100, worst.worst_at + 100))
    assert worst.worst_prior == pytest.approx(truth, rel=1e-6, abs=0)
    assert worst.attack <= worst.bound <= 0.1


@pytest.mark.parametrize("kind", ["normal", "uniform", "histogram", "empirical"])
def test_no_true_value_beats_the_worst_one(kind: str) -> None:
    rng = np.random.default_rng(21)
    for _ in range(4):
        case = random_case(kind, rng)
        goal = gp.within(gp.Attribute(NAME, prior=product_prior(kind, case.parameters)), case.radius)
        places = _places(case)
        places = places[_open(case, places)]
        if not len(places):
            continue
        each = gp.Attack(goal, at={NAME: places})
        worst = gp.Attack(goal).advantage(epsilon=case.epsilon)
        assert np.max(each.advantage(epsilon=case.epsilon).attack) <= worst.bound * (1 + 1e-9) + 1e-15
        assert np.max(each.advantage(epsilon=case.epsilon).bound) <= worst.attack * (1 + 1e-2) + 1e-3
        safe = gp.Attack(goal).epsilon(advantage=0.05)
        assert safe <= np.min(each.epsilon(advantage=0.05)) * (1 + PROVEN)


def _places(case: Case) -> np.ndarray:
    match case.kind:
        case "empirical":
            return np.unique(case.parameters[0])
        case "normal":
            return np.linspace(*stats.norm(*case.parameters).ppf([1e-4, 1 - 1e-4]), 101)
        case "uniform":
            return np.linspace(*case.parameters, 101)
    edges, weights = (np.array(part) for part in case.parameters)
    cells = np.flatnonzero(weights)
    share = np.linspace(0.01, 0.99, 20)
    return np.concatenate([edges[c] + share * (edges[c + 1] - edges[c]) for c in cells])


def _open(case: Case, places: np.ndarray) -> np.ndarray:
    """Where the goal is not certain already."""
    prior = case.prior()
    return np.array([tent.probability(prior, t - case.radius, t + case.radius) < 1 - 1e-9 for t in places])


# --- limits that nothing breaks, and limits that nothing keeps ---


def test_limits_at_their_ends() -> None:
    time = gp.Attribute("time", prior=gp.normal(20, 6.28))
    question = gp.Attack(gp.within(time, 2), at={"time": 20})
    assert question.epsilon(advantage=0) == 0.0
    assert question.epsilon(advantage=1 - question.prior) == math.inf
    assert question.epsilon(advantage=0.9) == math.inf
    assert question.epsilon(posterior=1.0) == math.inf
    assert question.epsilon(posterior=question.prior) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InfeasibleError):
        question.epsilon(posterior=question.prior / 2)


# --- figures of the papers that concern one attribute ---


def test_the_cats_of_laud_and_pankova() -> None:
    figures = golden("papers")["laud_pankova"]
    colours = {"red": 0.2, "white": 0.1, "tabby": 0.25, "black": 0.4, "tortoise": 0.05}
    cats = {f"{colour} {sex}": p / 2 for colour, p in colours.items() for sex in "MF"}
    both = gp.Attack(gp.exactly(gp.Attribute("cat", prior=gp.categorical(cats))))
    assert both.epsilon(advantage=0.1) == pytest.approx(figures["6.1_and"]["value"], rel=1e-9, abs=0)
    assert both.epsilon(advantage=0.1, both=True) == pytest.approx(figures["6.1_and"]["value"], rel=1e-9, abs=0)
    world = gp.FiniteWorld(prior=list(cats.values()), distance=1.0 - np.eye(10))
    either = [[float(not {*cat.split()}.isdisjoint(true.split())) for cat in cats] for true in cats]
    two_sided = min(world.epsilon(goal=goal, advantage=0.1, both=True) for goal in either)
    one_sided = min(world.epsilon(goal=goal, advantage=0.1) for goal in either)
    assert two_sided == pytest.approx(figures["6.1_or"]["both_directions"], rel=1e-9, abs=0)
    assert one_sided == pytest.approx(figures["6.1_or"]["one_direction"], rel=1e-6, abs=0)


def test_the_cats_under_the_metric_of_their_query() -> None:
    """Only whether a cat is a female tabby is counted, so two other cats are at distance 0."""
    prior = [0.125, 0.2, 0.2, 0.125, 0.1, 0.1, 0.05, 0.05, 0.025, 0.025]
    counted = np.arange(10) == 0
    world = gp.FiniteWorld(prior=prior, distance=(counted[:, None] != counted[None, :]).astype(float))
    epsilon = min(world.epsilon(goal=goal, advantage=0.1) for goal in np.eye(10))
    assert epsilon == pytest.approx(-math.log(0.125 / 0.875 * (1 / 0.225 - 1)), rel=1e-9, abs=0)
    assert epsilon == pytest.approx(0.709, abs=5e-4)


def test_the_salaries_of_laud_and_pankova() -> None:
    figures = golden("papers")["laud_pankova"]["6.2"]
    salary = gp.Attribute("salary", prior=gp.normal(2000, math.sqrt(55556)))
    question = gp.Attack(gp.within(salary, 100), at={"salary": 2000})
    assert question.prior == pytest.approx(figures["prior"], rel=1e-9, abs=0)
    epsilon = question.epsilon(advantage=0.1)
    assert epsilon == pytest.approx(figures["exact_eps_t_2000"], rel=PROVEN, abs=0)
    gained = question.advantage(epsilon=0.767 / 200).bound
    assert gained == pytest.approx(figures["true_advantage_at_0.767_over_200"], rel=PROVEN, abs=0)


def test_the_worst_prior_of_laud_and_pankova() -> None:
    figures = golden("papers")["laud_pankova"]["worst_prior_eta_0.1"]
    question = gp.Attack(gp.within(gp.Attribute("x", prior=gp.unknown(0, 1)), 0.1))
    assert question.epsilon(advantage=0.1) == pytest.approx(figures["eps_times_R"], rel=1e-9, abs=0)
    worst = question.advantage(epsilon=figures["eps_times_R"])
    assert worst.worst_prior == pytest.approx(figures["p"], rel=1e-6, abs=0)
