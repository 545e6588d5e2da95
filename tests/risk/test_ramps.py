"""Goals that reach to an end of what is possible, and all but one interval, under a prior that may be wrong.

The reference knows none of our integrals: cells of a fine grid, each with its share of a SciPy distribution,
likelihoods on them, and every pair of turns of a wrong prior, or turns and likelihoods that are drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

import guessproof as gp
from guessproof.risk.ramp import Ramp

INF = math.inf
CELLS = 800

PRIORS = {
    "normal": (gp.normal(50, 10), stats.norm(50, 10)),
    "exponential": (gp.exponential(30), stats.expon(scale=30)),
    "Laplace": (gp.laplace(50, 8), stats.laplace(50, 8)),
    "gamma": (gp.gamma(3, 15), stats.gamma(3, scale=15)),
    "Student's": (gp.student_t(4, 50, 8), stats.t(4, 50, 8)),
    "log-normal": (gp.lognormal(45, 0.4), stats.lognorm(0.4, scale=45)),
    "histogram": (
        gp.histogram([0, 20, 40, 60, 90], [0.1, 0.4, 0.0, 0.5]),
        stats.rv_histogram((np.array([0.1, 0.4, 0.0, 0.5]), np.array([0, 20, 40, 60, 90.0])), density=False),
    ),
}
METRICS = {
    "straight": (gp.Absolute(), lambda x: x, 0.0),
    "clamped": (gp.Clamped(20, 70), lambda x: np.clip(x, 20, 70), 0.0),
    "with a jump": (gp.Absolute() + 15 * gp.Threshold(47), lambda x: x + 15 * (x > 47), 0.0),
    "with a step": (gp.Absolute() + 4 * gp.Discrete(), lambda x: x, 4.0),
    "clamped, with a step": (gp.Clamped(30, 65) + 2 * gp.Discrete(), lambda x: np.clip(x, 30, 65), 2.0),
}
HEAVY = {"Student's", "log-normal"}


@dataclass(frozen=True)
class Cells:
    """A prior on a fine grid, with values in a distance's own units; a goal."""

    mass: np.ndarray
    psi: np.ndarray
    goal: np.ndarray
    step: float

    @classmethod
    def of(cls, prior: str, metric: str, region: list[tuple[float, float]]) -> Cells:
        law, (_, psi, step) = PRIORS[prior][1], METRICS[metric]
        ends = np.concatenate([np.linspace(0, 1, CELLS // 2), 10.0 ** -np.linspace(1.5, 12, CELLS // 4)])
        cuts = np.unique(np.concatenate([law.ppf(ends), law.isf(ends), [47.0], *region]))
        mass = np.where(cuts[:-1] < law.median(), np.diff(law.cdf(cuts)), -np.diff(law.sf(cuts)))
        near = np.clip(cuts, cuts[np.isfinite(cuts)][0], cuts[np.isfinite(cuts)][-1])
        middle = 0.5 * (near[:-1] + near[1:])
        some, goal = mass > 0, np.zeros(middle.size, dtype=bool)
        for a, b in region:
            goal |= (middle > a) & (middle < b) | np.isinf(cuts[1:]) & (b == INF) | np.isinf(cuts[:-1]) & (a == -INF)
        return cls(mass[some], psi(middle[some]), goal[some], step)

    def rise(self, log_likelihood: np.ndarray, factor: float) -> float:
        """The most that a prior wrong by a factor lets the belief rise, turns tried one by one."""
        likely = np.exp(log_likelihood - np.max(log_likelihood))
        sides = []
        for part, way in ((self.goal, -1), (~self.goal, 1)):
            order = np.argsort(way * likely[part], kind="stable")
            mass, told = self.mass[part][order], (self.mass * likely)[part][order]
            sides.append([v.sum() + (factor - 1) * np.concatenate([[0.0], np.cumsum(v)]) for v in (mass, told)])
        (a, into), (b, out) = sides
        after = into[:, None] / (into[:, None] + out[None, :])
        return float(np.max(after - a[:, None] / (a[:, None] + b[None, :])))

    def ramp(self, epsilon: float, side: int) -> np.ndarray:
        return epsilon * (side * self.psi + self.step * self.goal)

    def valley(self, epsilon: float, lowest: float) -> np.ndarray:
        return epsilon * (np.abs(self.psi - lowest) + self.step * self.goal)

    def drawn(self, epsilon: float, rng: np.random.Generator) -> np.ndarray:
        """A likelihood that the distance allows: slopes at random, and the step where it is likely to help."""
        order = np.argsort(self.psi, kind="stable")
        walk = np.cumsum(np.diff(self.psi[order], prepend=self.psi[order][0]) * rng.uniform(-1, 1, self.psi.size))
        bias = rng.choice([0.0, 0.6, -0.6])
        found = np.empty(self.psi.size)
        found[order] = (1 - abs(bias)) * walk + bias * self.psi[order]
        return epsilon * (found + self.step * self.goal * rng.uniform(0, 1))


def attack_on(prior: str, metric: str, region: list[tuple[float, float]], factor: float) -> gp.Attack:
    attribute = gp.Attribute("x", prior=PRIORS[prior][0], metric=METRICS[metric][0])
    return gp.Attack(gp.inside(attribute, *region), prior_factor=factor)


def drawn_cases(count: int, seed: int) -> list[tuple[str, str, float, float, int]]:
    rng = np.random.default_rng(seed)
    cases = []
    for i in range(count):
        prior, metric = rng.choice(list(PRIORS)), rng.choice(list(METRICS))
        if prior in HEAVY and "clamped" not in metric:
            metric = "clamped"
        epsilon, factor = float(10 ** rng.uniform(-3, -0.6)), float(rng.choice([1.02, 1.5, 4.0, 30.0]))
        if prior in {"exponential", "gamma", "Laplace"} and "clamped" not in metric:
            epsilon = min(epsilon, 0.02)  # a grid does not reach to where tails count that hardly outweigh it
        cases.append((str(prior), str(metric), epsilon, factor, int(i)))
    return cases


@pytest.mark.parametrize(("prior", "metric", "epsilon", "factor", "seed"), drawn_cases(40, 1))
def test_a_ramp_is_what_a_fine_grid_finds_and_nothing_drawn_exceeds_it(
    prior: str, metric: str, epsilon: float, factor: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    edge = float(rng.uniform(25, 68))
    side = int(rng.choice([1, -1]))
    region = [(edge, INF)] if side > 0 else [(-INF, edge)]
    cells, attack = Cells.of(prior, metric, region), attack_on(prior, metric, region, factor)
    found = attack.advantage(epsilon)
    best = cells.rise(cells.ramp(epsilon, side), factor)
    assert found.attack == pytest.approx(best, rel=3e-3)
    assert found.bound == pytest.approx(found.attack, rel=1e-6)
    for _ in range(4):
        assert cells.rise(cells.drawn(epsilon, rng), factor) <= found.bound * (1 + 3e-3)
    fall = attack.advantage(epsilon, both=True)
    other = Cells(cells.mass, cells.psi, ~cells.goal, cells.step)
    assert fall.attack == pytest.approx(max(best, other.rise(other.ramp(epsilon, -side), factor)), rel=3e-3)


@pytest.mark.parametrize(("prior", "metric", "epsilon", "factor", "seed"), drawn_cases(14, 2))
def test_all_but_one_interval_rises_as_that_one_falls(
    prior: str, metric: str, epsilon: float, factor: float, seed: int
) -> None:
    rng = np.random.default_rng(100 + seed)
    lo = float(rng.uniform(25, 50))
    hi = lo + float(rng.uniform(8, 25))
    region = [(-INF, lo), (hi, INF)]
    cells, attack = Cells.of(prior, metric, region), attack_on(prior, metric, region, factor)
    found = attack.advantage(epsilon)
    lowest = np.unique(cells.psi[~cells.goal])
    chosen = lowest[np.linspace(0, lowest.size - 1, 25).astype(int)]
    best = max(cells.rise(cells.valley(epsilon, float(c)), factor) for c in chosen)
    assert best <= found.bound * (1 + 3e-3)
    assert found.attack <= best * (1 + 1e-2)
    for _ in range(4):
        assert cells.rise(cells.drawn(epsilon, rng), factor) <= found.bound * (1 + 3e-3)


@pytest.mark.parametrize("factor", [1.5, 4.0])
@pytest.mark.parametrize("prior", ["normal", "exponential", "histogram"])
@pytest.mark.parametrize("region", [[(60, INF)], [(-INF, 45)], [(-INF, 38), (62, INF)]])
def test_their_curves_are_within_a_thousandth_on_the_private_side(
    prior: str, region: list[tuple[float, float]], factor: float
) -> None:
    attack = attack_on(prior, "straight", region, factor)
    curve = gp.Curve(attack)
    assert curve.within <= 1e-3
    for limit in (0.003, 0.1):
        exact, found = curve.epsilon(advantage=limit, exact=True), curve.epsilon(advantage=limit)
        assert 0.9985 * exact <= found <= exact * (1 + 1e-9)
    for epsilon in np.geomspace(curve.rise.epsilon[0], curve.rise.epsilon[-1], 5)[1:-1]:
        assert curve.advantage(float(epsilon)) >= attack.advantage(float(epsilon)).attack


def test_a_sample_is_asked_of_all_but_a_run_what_programs_say() -> None:
    """Forty numbers: the linear program of any goal, and tents on the others, say the same."""
    rng = np.random.default_rng(5)
    values = np.unique(np.round(rng.normal(50, 10, 40), 1))
    attribute = gp.Attribute("x", prior=gp.empirical(values.tolist()))
    goal = gp.inside(attribute, (0, 44.05), (58.05, 100))
    chosen = (values < 44.05) | (values > 58.05)
    from guessproof.risk.finite import finite_belief

    program = finite_belief(np.full(values.size, 1 / values.size), np.abs(values[:, None] - values), chosen * 1.0)
    for epsilon in (0.01, 0.1, 0.4):
        found = gp.Attack(goal).posterior(epsilon)
        _, bound = program.gain(np.asarray(epsilon))
        odds = chosen.mean() / (1 - chosen.mean()) * math.exp(float(bound))
        assert found.bound == pytest.approx(odds / (1 + odds), rel=1e-6)
        wrong, few = gp.Attack(goal, prior_factor=3.0).advantage(epsilon), gp.Attack(goal).advantage(epsilon)
        assert few.bound < wrong.attack <= wrong.bound <= wrong.attack * (1 + 1e-3)


@pytest.mark.parametrize("prior", sorted(HEAVY))
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_a_tail_that_outweighs_every_tilt_leaves_no_epsilon_however_small(prior: str, factor: float) -> None:
    attack = attack_on(prior, "straight", [(60, INF)], factor)
    assert attack.advantage(1e-12).attack > 0.5
    assert attack.epsilon(advantage=0.1) == 0
    assert gp.Curve(attack).epsilon(advantage=0.1) == 0


@pytest.mark.parametrize(("prior", "metric", "end"), [("normal", "clamped", 140.0), ("exponential", "clamped", 1200.0)])
@pytest.mark.parametrize("both", [False, True])
def test_a_goal_that_ends_where_hardly_anybody_is_counts_as_one_without_an_end(
    prior: str, metric: str, end: float, both: bool
) -> None:
    ended, endless = (attack_on(prior, metric, [(60.0, e)], 2.0) for e in (end, INF))
    for epsilon in (0.002, 0.02):
        found, without = ended.advantage(epsilon, both=both), endless.advantage(epsilon, both=both)
        assert without.bound <= found.bound <= without.bound + 3e-12
        assert without.attack - 3e-12 <= found.attack <= found.bound


def test_an_end_where_a_likelihood_puts_people_is_no_end() -> None:
    """An exponential tail beyond 1,200 counts where ε nearly outweighs it: nothing is proven by leaving that out."""
    epsilon, attack = 1 / 30.001, attack_on("exponential", "straight", [(60, 1200)], 2.0)
    x = np.linspace(0, 9e4, 900_001)
    told = np.exp(-x / 30 + epsilon * np.minimum(x, 1200) - epsilon * np.maximum(x - 1200, 0))
    goal = (x > 60) & (x < 1200)
    risen = told[goal].sum() / told.sum() - stats.expon(scale=30).sf(60)
    found = attack.advantage(epsilon)
    assert risen <= found.bound
    assert found.attack <= found.bound


@pytest.mark.parametrize("factor", [1.5, 4.0])
def test_where_a_tail_outweighs_epsilon_all_that_can_be_believed_is(factor: float) -> None:
    """Beliefs rise from what they are at least, of any prior that is allowed, to 1."""
    heavy, outside = attack_on("log-normal", "straight", [(60, INF)], factor), [(-INF, 38), (62, INF)]
    least = stats.lognorm(0.4, scale=45).sf(60)
    assert heavy.advantage(1e-3).bound == pytest.approx(1 / (1 + least / (1 - least) / factor), rel=1e-9)
    both = gp.Curve(attack_on("exponential", "straight", outside, factor))
    between = stats.expon(scale=30).cdf(62) - stats.expon(scale=30).cdf(38)
    most = between * factor / (1 - between + between * factor)
    assert both.advantage(0.05) == pytest.approx(most, rel=1e-9)
    assert both.epsilon(advantage=most * 1.001) == INF


def test_gaps_of_a_ramp_bound_how_far_log_odds_bend() -> None:
    """ln of all that a ramp weighs, and of the rest alone, lies so little below its chord; for wrong priors too."""
    rng, form = np.random.default_rng(8), (gp.Absolute() + 0.8 * gp.Discrete()).line_form
    ramp = Ramp.of(gp.normal(0, 1), form, 0.7, INF)
    assert ramp is not None
    x, needed = np.linspace(-9, 12, 20001), 0
    density, goal = stats.norm.pdf(x), x > 0.7
    for _ in range(80):
        first, factor = float(rng.uniform(0.05, 1.5)), float(rng.choice([1.0, 1.5, 6.0]))
        second, turn = first * float(rng.uniform(1.02, 1.6)), rng.normal(0.5, 1)
        h = density * (1 + (factor - 1) * ((x > turn) if rng.random() < 0.5 else (x < turn)))
        gaps = ramp.gaps(np.array([first]), np.array([second]), factor)
        for some, gap in zip((np.ones_like(goal), ~goal), gaps, strict=True):
            rates = first, second, 0.5 * (first + second)
            ends = [float(np.log(np.sum((h * np.exp(e * (x + 0.8 * goal)))[some]))) for e in rates]
            below = math.expm1(0.5 * (ends[0] + ends[1]) - ends[2])
            assert below <= float(gap[0]) * (1 + 1e-9) + 1e-12
            needed += below > float(gap[0]) / 1.5
    assert needed > 20


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("prior", "end"), [("exponential", 1200.0), ("normal", 135.0), ("Laplace", 340.0)])
def test_between_two_epsilons_a_goal_that_ends_is_not_below_its_attack(prior: str, end: float, both: bool) -> None:
    """Hardly anybody is beyond its end, but a likelihood may put people there: one ramp is not all that tells."""
    attack = attack_on(prior, "straight", [(60.0, end)], 1.0)
    curve = gp.Curve(attack)
    knots = (curve.fall if both else curve.rise).epsilon
    for epsilon in np.sqrt(knots[:-1] * knots[1:])[::4]:
        assert curve.advantage(float(epsilon), both) >= attack.advantage(float(epsilon), both).attack
