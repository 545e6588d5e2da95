"""Several intervals under a prior that may be wrong: against corners, tents, and zigzags tried one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

import guessproof as gp
from guessproof.risk.atoms import Atoms
from guessproof.risk.misjudged.along import MisjudgedAlong
from guessproof.risk.misjudged.along_zigzags import HAIRS, MisjudgedZigzags
from guessproof.risk.misjudged.answer import stretches_of
from guessproof.risk.misjudged.stretches import AtomStretches, DensityStretches
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move
from guessproof.risk.misjudged.thresholds import WrongListed
from guessproof.risk.misjudged.zigzag_proof import BeliefPairs, Levels, TurnedAt, Walk
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array

TWO = ((40.0, 50.0), (60.0, 70.0))


def _salary(*intervals: tuple[float, float], factor: float, **known: object) -> gp.Attack:
    number = gp.Attribute("x", prior=gp.normal(mean=50, sd=10), **known)  # pyright: ignore[reportArgumentType]
    return gp.Attack(gp.inside(number, *intervals), prior_factor=factor)


class _Tried:
    """Zigzags over N(50, 10²) in cells of 0.01, with the best two levels at which the prior turns."""

    def __init__(self, epsilon: float, factor: float) -> None:
        ends = np.linspace(-10, 110, 12_001)
        self.epsilon, self.factor, self.mass = epsilon, factor, np.diff(norm.cdf(ends, 50, 10))
        self.x = 0.5 * (ends[:-1] + ends[1:])
        self.goal = np.any([(self.x > a) & (self.x < b) for a, b in TWO], axis=0)

    def rise(self, turns: Array) -> float:
        c, v, d = np.clip(turns, (40, 50, 60), (50, 60, 70))
        height = np.interp(self.x, (c - 100, c, v, d, d + 100), np.cumsum((0, 100, c - v, d - v, -100)) - 100)
        told = self.mass * np.exp(self.epsilon * height)
        sums = []
        for part, way in ((self.goal, -1), (~self.goal, 1)):
            order = np.argsort(way * height[part], kind="stable")
            for each in (self.mass, told):
                more = np.concatenate([[0.0], np.cumsum(each[part][order])])[::12]
                sums.append(each[part].sum() + (self.factor - 1) * more)
        a, into, b, out = sums[0][:, None], sums[1][:, None], sums[2], sums[3]
        return float(np.max(into / (into + out) - a / (a + b)))

    def best(self) -> float:
        starts = sorted(product((42, 45, 49), (51, 55, 58), (62, 66, 69)), key=lambda at: -self.rise(np.array(at)))
        how: dict[str, float] = {"xatol": 0.02, "maxiter": 60}
        found = [minimize(lambda at: -self.rise(at), at, method="Nelder-Mead", options=how) for at in starts[:2]]
        return -min(each.fun for each in found)


@pytest.mark.parametrize(("epsilon", "factor"), [(0.02, 1.5), (0.1, 1.5), (0.1, 4.0), (0.3, 1.5)])
def test_two_intervals_as_zigzags_tried_one_by_one(epsilon: float, factor: float) -> None:
    found, tried = _salary(*TWO, factor=factor).advantage(epsilon), _Tried(epsilon, factor).best()
    assert tried <= float(found.bound) <= tried * 1.001
    assert tried * 0.999 <= float(found.attack) <= float(found.bound)


@pytest.mark.parametrize("move", [1, -1])
@pytest.mark.parametrize(("lo", "hi"), [(45.0, 60.0), (62.0, 66.0)])
def test_one_interval_as_tents(lo: float, hi: float, move: Move) -> None:
    prior = gp.normal(mean=50, sd=10)
    form = gp.Attribute("x", prior=prior).distance.line_form
    assert form is not None
    world = TiltedIntegrals(prior, form)
    epsilon = np.array([0.01, 0.1, 0.4])
    goal = MisjudgedGoal(world, lambda t: (lo + 0 * t, hi + 0 * t), lo, lo, 2.0)
    value, bound = MisjudgedAlong(goal, move).measure(epsilon)
    cut = DensityStretches.of(world, [(lo, hi)])
    assert cut is not None
    attack, proven = MisjudgedZigzags(cut if move > 0 else cut.turned, 0.0, 2.0, HAIRS).measure(epsilon)
    assert np.all(proven >= value)
    assert np.all(attack <= bound)
    assert proven == pytest.approx(value, rel=1e-3)
    assert attack == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_few_numbers_as_all_corners(seed: int) -> None:
    rng = np.random.default_rng(seed)
    psi = np.sort(rng.uniform(0, 10, 9))
    psi[4] = psi[5] if seed % 2 else psi[4]  # two numbers that no release tells apart
    mass, factor = rng.dirichlet(np.ones(9)), float(rng.choice([1.2, 2.0, 6.0]))
    marks = np.array([0, 1, 1, 0, 0, 1, 1, 1, 0] if seed < 2 else [1, 0, 0, 0, 1, 1, 1, 0, 1], dtype=bool)
    step = 0.5 * (seed % 3)
    distance = np.abs(psi[:, None] - psi) + step * ~np.eye(9, dtype=bool)
    listed = WrongListed.of(factor, mass, distance, marks, 1)
    assert listed is not None
    for correct, move, epsilon in ((marks, 1, 0.3), (~marks, -1, 0.1)):
        exact = listed.reached(epsilon, 1 if move > 0 else -1)
        cut = AtomStretches(Atoms(psi, mass, psi), correct)
        attack, bound = MisjudgedZigzags(cut, step, factor, HAIRS[4:]).measure(np.array([epsilon]))
        assert attack[0] <= exact * (1 + 1e-9)
        assert bound[0] >= exact * (1 - 1e-9)


def test_many_numbers() -> None:
    values = norm.ppf((np.arange(2000) + 0.5) / 2000, 50, 10)
    number = gp.Attribute("x", prior=gp.empirical(values))
    attack = gp.Attack(gp.inside(number, *TWO), prior_factor=1.5)
    for both in (False, True):
        found = attack.advantage(0.1, both)
        assert float(found.attack) <= float(found.bound) <= float(found.attack) * 1.002
    density = _salary(*TWO, factor=1.5).advantage(0.1)
    assert float(attack.advantage(0.1).bound) == pytest.approx(float(density.bound), rel=0.01)


def test_a_goal_that_ends_where_nobody_is() -> None:
    number = gp.Attribute("x", prior=gp.normal(mean=2000, sd=235.7), bounds=(0, 5000))
    ended = gp.Attack(gp.inside(number, (0, 1700), (2300, 5000)), prior_factor=1.5).advantage(0.001)
    endless = gp.Attack(~gp.inside(number, (1700, 2300)), prior_factor=1.5).advantage(0.001)
    assert float(endless.attack) * (1 - 1e-9) <= float(ended.bound) <= float(endless.bound) * 1.001


def test_three_intervals_within_a_few_percent() -> None:
    found = _salary((30, 40), (45, 55), (60, 70), factor=1.5).advantage(0.03)
    assert float(found.attack) <= float(found.bound) <= float(found.attack) * 1.04


def test_a_curve_of_two_intervals_is_close() -> None:
    curve = gp.Curve(_salary((45, 50), (52, 70), factor=1.5))
    assert curve.within < 0.001
    epsilon = curve.epsilon(advantage=0.1)
    found = curve.attack.advantage(epsilon)
    assert float(found.attack) <= 0.1 <= float(curve.attack.advantage(1.002 * epsilon).bound)


def test_which_goals_are_cut() -> None:
    number = gp.Attribute("x", prior=gp.normal(mean=0, sd=1))
    two = gp.inside(number, (0, 1), (2, 3))
    assert stretches_of(number, two, None) is not None
    assert (
        stretches_of(gp.Attribute("x", prior=number.prior, metric=gp.Absolute() + gp.Threshold(0.5)), two, None) is None
    )


def _walk(cells: int, turns: int, seed: int) -> tuple[Walk, AtomStretches]:
    """Sixty numbers of which the middle ones are correct, in few cells or many."""
    rng = np.random.default_rng(seed)
    psi, mass = np.sort(rng.uniform(0, 10, 60)), rng.dirichlet(np.ones(60))
    marks = (np.arange(60) >= 20) & (np.arange(60) < 40)
    cut = AtomStretches(Atoms(psi, mass, psi), marks if seed % 2 else ~marks, cells)
    stretches = cut.at(0.4)
    assert stretches is not None
    levels = Levels(np.zeros(2), np.tile(np.linspace(-6.0, 6.0, 61), (2, 1)))
    beliefs = BeliefPairs(np.array([0.2, 0.5]), np.array([0.3, 0.6]), 3.0, 1.0)
    places = np.unique(np.linspace(0, cells + 2, turns).astype(np.int64))
    return Walk(stretches, [places], levels, beliefs, TurnedAt(0, 1)), cut


@pytest.mark.parametrize("seed", range(4))
def test_a_stretch_adds_no_less_than_its_cells_say(seed: int) -> None:
    walk, cut = _walk(4, 2, seed)
    run = slice(0, 20)
    psi, mass, goal = cut.atoms.psi[run], cut.atoms.mass[run], bool(cut.marks[0])
    edge = cut.atoms.psi[20] if not goal else psi[-1]
    told = walk.levels.values[0][:, None] * np.exp((1 if goal else -1) * 0.4 * (edge - psi))
    z = np.stack([(1 - p) - (1 - q) * told if goal else q * told - p for p, q in ((0.2, 0.3), (0.5, 0.6))])
    exact = np.sum(mass * np.minimum(z, 3.0 * z), axis=-1)
    least = walk.left[0].least
    assert np.all(least <= exact)
    assert np.max(exact - least) > 1e-3  # in few cells something is lost
    closer = _walk(400, 2, seed)[0].left[0].least
    assert closer == pytest.approx(exact, abs=2e-3, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_between_two_turns_no_likelihood_adds_less(seed: int) -> None:
    few, many = (_walk(200, turns, seed)[0].right[0].least for turns in (6, 203))
    known = np.isfinite(few)
    assert np.all(few[known] <= many[known] + 1e-9)
    assert np.any(few[known] < many[known] - 1e-4)


def test_a_tail_that_outweighs_epsilon() -> None:
    number = gp.Attribute("x", prior=gp.exponential(1.0))
    attack = gp.Attack(gp.inside(number, (0.2, 0.5), (1, 2)), prior_factor=1.5)
    low, high = attack.advantage(0.9, both=True), attack.advantage(1.1, both=True)
    assert 0 < float(low.attack) <= float(low.bound) < 1
    assert float(low.bound) <= float(high.bound) <= 1


@pytest.mark.parametrize(
    ("intervals", "alike"),
    [
        (((3, 5), (6.5, 7.5)), (6.5, 7.5)),  # nobody is in the first
        (((0.5, 2), (6, 7.5)), (0.5, 7.5)),  # nobody is between them
        (((0.5, 3), (3.5, 4), (5.5, 7.5)), (0.5, 7.5)),
        (((3, 5), (6, 10)), (5, 10)),
    ],
)
def test_a_likelihood_changes_where_nobody_is(
    intervals: tuple[tuple[float, float], ...], alike: tuple[float, float]
) -> None:
    number = gp.Attribute("x", prior=gp.histogram([0, 2, 6, 8, 10], [0.4, 0, 0.3, 0.3]))
    several = gp.Attack(gp.inside(number, *intervals), prior_factor=1.5).advantage(0.2)
    one = gp.Attack(gp.inside(number, alike), prior_factor=1.5).advantage(0.2)
    assert float(one.attack) * (1 - 1e-9) <= float(several.bound) <= float(one.bound) * 1.03
    assert float(several.attack) <= float(one.bound)


def test_few_correct_numbers_at_an_end_of_many() -> None:
    values = norm.ppf((np.arange(1000) + 0.5) / 1000, 50, 10)
    number = gp.Attribute("x", prior=gp.empirical(values))
    attack = gp.Attack(gp.inside(number, (values[-3], values[-1] + 1)), prior_factor=1.5)
    assert 0 < float(attack.advantage(0.1).attack) <= float(attack.advantage(0.1).bound)


def test_an_interval_that_ends_very_far_out() -> None:
    far, near = (_salary((end, 40), (60, 70), factor=1.5).advantage(0.1) for end in (-1e9, -1e3))
    assert float(far.bound) == pytest.approx(float(near.bound), rel=1e-4)


def test_a_goal_of_which_all_may_be_believed_in_the_end() -> None:
    prior = gp.lognormal(33.0, 0.5)
    number = gp.Attribute("x", prior=prior)
    goal = gp.inside(number, (10, 20), (60, 1e9))
    cut = stretches_of(number, goal, None)
    assert cut is not None
    _, bound = MisjudgedZigzags(cut, 0.0, 1.5).measure(np.array([0.01]))
    p = float(prior.mass(10, 20) + prior.mass(60, np.inf))
    most = 1 - p / (p + 1.5 * (1 - p))
    assert most <= bound[0] == pytest.approx(most, rel=1e-9)
