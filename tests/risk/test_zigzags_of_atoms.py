"""Several runs among finitely many numbers: the sweep against linear programs, a plain sweep, and drawn likelihoods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk import zigzag_atoms
from guessproof.risk.atoms import Atoms
from guessproof.risk.finite import finite_belief
from guessproof.risk.rooms import zigzags_of
from guessproof.risk.single import belief_of
from guessproof.risk.sweep import Memory
from guessproof.risk.zigzag_atoms import AtomZigzag
from guessproof.risk.zigzag_gaps import AtomPart, atom_parts, gap_of_zigzags
from guessproof.world.checks import Array
from guessproof.world.line_form import LineForm, LineMetric
from risk.near_curves import check_near

Random = np.random.Generator


def cuts(random: Random, count: int) -> tuple[float, ...]:
    return tuple(float(c) for c in np.sort(random.uniform(-4, 4, count)))


FORMS: dict[str, Callable[[Random], LineForm]] = {
    "straight": lambda _: LineForm(slopes=(1.0,)),
    "clamped": lambda r: LineForm(cuts(r, 2), (0.0, 1.0, 0.0), (0.0, 0.0)),
    "bent, with jumps": lambda r: LineForm(cuts(r, 2), (1.0, 0.5, 0.0), (1.0, float(r.uniform(0, 3)))),
    "only jumps": lambda r: LineForm(cuts(r, 3), (0.0,) * 4, (0.5, 1.5, float(r.uniform(0, 2)))),
}


def drawn(random: Random, form: LineForm, count: int) -> AtomZigzag:
    """Numbers of which some lie close together, some are very unlikely, and two to five runs are correct."""
    while True:
        points = np.unique(np.round(random.normal(0, 3, count), 1 if count < 50 else 3))
        mass = random.dirichlet(np.full(points.size, float(random.choice([0.2, 1.0, 5.0])))) + 1e-9
        marks = np.zeros(points.size, dtype=bool)
        for _ in range(random.integers(2, 6)):
            start = int(random.integers(points.size))
            marks[start : start + int(random.integers(1, 2 + points.size // 6))] = True
        if marks.any() and not marks.all():
            return AtomZigzag(Atoms(points, mass / mass.sum(), form.psi(points)), marks)


def table(world: AtomZigzag, step: float = 0.0) -> Array:
    psi = world.atoms.psi
    return np.abs(psi[:, None] - psi) + step * (1 - np.eye(psi.size))


RATES = np.multiply.outer([1.0, -1.0], [1e-9, 1e-5, 0.01, 0.3, 1.0, 4.0, 30.0]).ravel()


@pytest.mark.parametrize("step", [0.0, 0.3])
@pytest.mark.parametrize("form", FORMS)
def test_a_linear_program_says_the_same(form: str, step: float) -> None:
    random, met = np.random.default_rng([len(form), int(10 * step)]), 0
    for _ in range(25):
        world = drawn(random, FORMS[form](random), int(random.integers(4, 36)))
        gains = finite_belief(world.atoms.mass, table(world, step), world.marks.astype(np.float64)).gain(RATES)
        lower, upper = np.abs(gains)
        attack, bound = (np.abs(g + RATES * step) for g in world.signed_gain(RATES))
        noise = 1e-12 + 1e-9 * upper
        assert np.all(attack <= upper + noise)
        assert np.all(bound >= lower - noise)
        assert np.all(attack <= bound)
        close = upper - lower <= 1e-9 * upper + 1e-12  # some programs fail
        met += int(close.sum())
        np.testing.assert_allclose(bound[close], upper[close], rtol=3e-5, atol=4e-12)
        large = close & (np.abs(RATES) >= 0.01)
        np.testing.assert_allclose(bound[large], upper[large], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(attack[large], upper[large], rtol=1e-8, atol=1e-10)
    assert met > 300


def suffices(world: AtomZigzag, k: float, odds: float) -> bool:
    """Whether every number of the goal finds capacity, one number after the other in plain sums."""
    capacity = waiting = 0.0
    psi, last = world.atoms.psi, world.atoms.psi[0]
    for mass, at, goal in zip(world.atoms.mass, psi, world.marks, strict=True):
        capacity, waiting, last = capacity * np.exp(-k * (at - last)), waiting * np.exp(k * (at - last)), at
        more, less = (0.0, mass) if goal else (odds * mass, 0.0)
        served = min(capacity + more, waiting + less)
        capacity, waiting = capacity + more - served, waiting + less - served
    return waiting <= 1e-15


@pytest.mark.parametrize("form", FORMS)
def test_number_after_number_says_the_same(form: str) -> None:
    random = np.random.default_rng(len(form))
    for _ in range(6):
        world = drawn(random, FORMS[form](random), 300)
        base = np.log(world.atoms.mass[world.marks].sum() / world.atoms.mass[~world.marks].sum())
        for k in (0.05, 0.6):
            low, high = 0.0, 20.0
            for _ in range(30):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if suffices(world, k, float(np.exp(base + middle))) else (middle, high)
            attack, bound = world.signed_gain(np.array([k]))
            assert attack[0] == pytest.approx(high, abs=1e-7)
            assert bound[0] == pytest.approx(high, abs=1e-7)


@pytest.mark.parametrize("step", [0.0, 0.4])
@pytest.mark.parametrize("form", FORMS)
def test_no_drawn_likelihood_exceeds_a_bound(form: str, step: float) -> None:
    """Any heights, pulled down to what the distance allows; some of them come near."""
    random, nearest = np.random.default_rng([3, len(form)]), 0.0
    for _ in range(20):
        world = drawn(random, FORMS[form](random), 60)
        mass, marks, apart = world.atoms.mass, world.marks, table(world, step)
        base = np.log(mass[marks].sum() / mass[~marks].sum())
        for k in (0.1, 1.0, -0.5):
            bound = float(world.signed_gain(np.array([k]))[1][0]) + k * step
            for _ in range(30):
                wanted = np.where(marks == (k > 0), 1.0, 0.0) * random.uniform(0, 4) + random.normal(0, 0.3, mass.size)
                heights = np.min(wanted + abs(k) * apart, axis=1)
                inside, outside = (np.log(np.sum((mass * np.exp(heights))[some])) for some in (marks, ~marks))
                gain = inside - outside - base
                assert np.sign(k) * gain <= abs(bound) + 1e-12
                nearest = max(nearest, np.sign(k) * gain / abs(bound))
    assert nearest > 0.9


def test_many_at_once_are_what_each_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(8)
    for form in FORMS.values():
        world, memories = drawn(random, form(random), 40), (Memory(), Memory())
        alone = np.array([np.ravel(world.signed_gain(RATES[i : i + 1])) for i in range(RATES.size)]).T
        monkeypatch.setattr(zigzag_atoms, "_AT_ONCE", 5 * world.marks.size)  # five k, then five more
        np.testing.assert_allclose(world.signed_gain(RATES), alone, rtol=1e-9, atol=1e-12)
        for some in (slice(None, None, 2), slice(1, None, 2)):  # what is remembered changes little
            followed = world.signed_gain(RATES[some], memories)
            np.testing.assert_allclose(followed, alone[:, some], rtol=1e-5, atol=4e-10)
        for shape in ((), (0,), (2, 3)):
            assert all(part.shape == shape for part in world.signed_gain(np.full(shape, 0.7)))


def test_a_bound_rises_with_epsilon() -> None:
    random = np.random.default_rng(9)
    for form in FORMS.values():
        world = drawn(random, form(random), 40)
        k = np.geomspace(1e-12, 1e15, 400)
        bound = world.signed_gain(k)[1]
        assert np.all(np.diff(bound) >= -1e-14 * bound[1:])
        assert np.all(bound <= k * (world.atoms.psi[-1] - world.atoms.psi[0]))


def test_where_values_are_told_apart_by_nothing_something_is_left_open() -> None:
    """However large ε is, numbers at one place of the distance remain one."""
    points, mass = np.arange(6.0), np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.1])
    marks, psi = np.array([True, False, True, False, False, True]), np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    world = AtomZigzag(Atoms(points, mass, psi), marks)
    told = np.log(3.0) - np.log(0.5 / 0.5)  # of the place in the middle, where 0.3 are correct and 0.1 are not
    for k in (50.0, 1e7, 1e12, 1e300):
        attack, bound = world.signed_gain(np.array([k]))
        assert attack[0] <= bound[0]
        assert bound[0] == pytest.approx(told, abs=1e-9)
        assert attack[0] == pytest.approx(told, abs=1e-6)
    one_place = AtomZigzag(Atoms(points, mass, np.zeros(6)), marks)
    assert np.all(np.array(one_place.signed_gain(RATES)) == 0)


def test_numbers_far_closer_together_than_others_are_told_apart_by_a_huge_epsilon() -> None:
    """Beyond where a sweep has digits a bound still holds."""
    points, mass = np.array([0.0, 1e-8, 0.5, 1 - 1e-8, 1.0]), np.array([0.1, 0.3, 0.1, 0.4, 0.1])
    world = AtomZigzag(Atoms(points, mass, points), np.array([True, False, False, False, True]))
    base = np.log(0.2 / 0.8)
    for k in (1e7, 1e9, 1e10, 1e14):
        logs = np.log(mass) - k * np.minimum(points, 1 - points)
        odds = np.logaddexp.reduce(logs[world.marks]) - np.logaddexp.reduce(logs[~world.marks])
        attack, bound = world.signed_gain(np.array([k]))
        assert bound[0] >= odds - base - 1e-9
        assert attack[0] <= bound[0]


SAMPLE = np.round(np.random.default_rng(1).normal(50, 10, 400), 1)
PRIOR = gp.empirical(SAMPLE.tolist())


def test_a_row_for_each_true_value_is_what_it_is_alone() -> None:
    x = gp.Attribute("x", prior=PRIOR, metric=gp.Absolute() + 0.2 * gp.Discrete())
    goal, truths = gp.within(x, 3) | gp.inside(x, (60, 63)), np.array([40.0, 50.3, 61.0])
    together = belief_of(x, goal, truths)
    assert "zigzag" in together.how
    for k in (0.2, np.array([[0.1], [-0.4]])):
        found = np.stack(together.gain(np.asarray(k)))
        alone = [belief_of(x, goal, float(t)).gain(np.asarray(k)) for t in truths]
        expected = np.concatenate([np.reshape(each, (2, -1, 1)) for each in alone], axis=2)
        np.testing.assert_allclose(found, expected.reshape(found.shape), rtol=1e-9)


def test_impossible_numbers_do_not_matter() -> None:
    prior = gp.categorical({0: 0.2, 1: 0.0, 2: 0.3, 3: 0.1, 4: 0.0, 5: 0.4})
    without = gp.categorical({0: 0.2, 2: 0.3, 3: 0.1, 5: 0.4})
    goals = [gp.inside(gp.Attribute("x", prior=p), (0, 1), (3, 4)) for p in (prior, without)]
    found = [gp.Attack(goal).advantage(np.array([0.1, 1.0, 3.0])) for goal in goals]
    np.testing.assert_array_equal(found[0].bound, found[1].bound)
    assert "zigzag" in found[0].how


def test_very_many_runs_of_few_numbers_are_left_to_programs() -> None:
    every_other = np.arange(80) % 2 == 0
    points = np.arange(80.0)
    world = AtomZigzag(Atoms(points, np.full(80, 1 / 80), points), every_other)
    x = gp.Attribute("x", prior=gp.categorical({float(v): 1 / 80 for v in points}))
    attack = gp.Attack(gp.among(x, points[every_other].tolist()))
    assert not world.is_quick
    assert zigzags_of(attack) is None
    found = attack.advantage(0.3)
    assert "linear program" in found.how
    gain = world.signed_gain(np.array([0.3]))[1][0]
    assert found.bound == pytest.approx(np.exp(gain) / (1 + np.exp(gain)) - 0.5, rel=1e-8)


def log_of(mass: Array, s: Array, epsilon: float) -> float:
    return float(np.logaddexp.reduce(epsilon * s + np.log(mass)))


@pytest.mark.parametrize("count", [20, 400])
@pytest.mark.parametrize("form", ["straight", "clamped", "bent, with jumps"])
def test_nothing_of_a_rest_lies_further_below_its_chord(form: str, count: int) -> None:
    """Drawn heights on the goal, and the lowest rest that goes with them."""
    random, nearest = np.random.default_rng([count, len(form)]), 0.0
    for _ in range(8):
        world = drawn(random, FORMS[form](random), count)
        for sign in (1, -1):
            goal = world.marks if sign > 0 else ~world.marks
            at, mass = world.atoms.psi[goal], world.atoms.mass[~goal]
            apart = np.abs(world.atoms.psi[~goal, None] - at)
            for first, second in ((0.1, 0.13), (0.5, 0.6), (2.0, 2.2), (0.3, 0.9), (10.0, 10.5)):
                gap = float(gap_of_zigzags(atom_parts(world), np.array([first]), np.array([second]), sign)[0])
                for _ in range(15):
                    rises = np.clip(random.normal(random.choice([-1, 0, 1]), 1.5, at.size - 1), -1, 1) * np.diff(at)
                    s = np.max(np.concatenate([[0.0], np.cumsum(rises)]) - apart, axis=1)
                    logs = [log_of(mass, s, e) for e in (first, second)]
                    for share in (0.25, 0.5, 0.75):
                        chord = (1 - share) * logs[0] + share * logs[1]
                        below = chord - log_of(mass, s, (1 - share) * first + share * second)
                        proven = np.log1p(4 * share * (1 - share) * gap)
                        assert below <= proven * (1 + 1e-9) + 1e-12
                        nearest = max(nearest, below / max(proven, 1e-6))
    assert nearest > 0.3


@pytest.mark.parametrize("count", [20, 400])
@pytest.mark.parametrize("form", FORMS)
def test_no_tent_is_lighter_than_the_lightest(form: str, count: int) -> None:
    random, rates = np.random.default_rng([count, len(form)]), np.array([0.05, 0.5, 3.0, 20.0])
    for _ in range(8):
        world = drawn(random, FORMS[form](random), count)
        part = AtomPart(world.atoms.mass, world.atoms.psi, goal=False)
        apart, away = table(world), (part.ends[1] - part.ends[0]) / 65  # no part of the line is wider
        tents = [np.logaddexp.reduce(np.log(part.mass)[:, None] - rate * apart, axis=0) for rate in rates]
        least, found = np.min(tents, axis=1), part.lightest_tent(rates)
        assert np.all(found <= least + 1e-12)
        assert np.all(found >= least - (4 * rates * away if count > 65 else 0.0) - 1e-12)


def attack_on(prior: Any, *intervals: tuple[float, float], metric: Any = None) -> gp.Attack:
    x = gp.Attribute("x", prior=prior) if metric is None else gp.Attribute("x", prior=prior, metric=metric)
    return gp.Attack(gp.inside(x, *intervals))


CURVES: dict[str, Callable[[], gp.Attack]] = {
    "sample": lambda: attack_on(PRIOR, (30, 40), (60, 70)),
    "three, to the end": lambda: attack_on(PRIOR, (20, 42), (50, 51), (64, np.inf)),
    "clamped": lambda: attack_on(PRIOR, (30, 45), (60, 70), metric=gp.Clamped(35, 65)),
    "jump": lambda: attack_on(PRIOR, (40, 50), (60, 70), metric=gp.Absolute() + 4 * gp.Threshold(45.05)),
    "step": lambda: attack_on(PRIOR, (40, 50), (60, 70), metric=gp.Absolute() + 0.5 * gp.Discrete()),
    "table": lambda: attack_on(
        gp.categorical({0: 0.2, 1: 0.1, 2: 0.3, 5: 0.15, 6: 0.05, 9: 0.2}), (-0.5, 0.5), (1.5, 2.5), (5.5, 6.5)
    ),
    "heavy tails": lambda: attack_on(
        gp.empirical(np.exp(np.random.default_rng(2).normal(3, 1, 300)).tolist()), (5, 15), (30, 60)
    ),
}


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_of_several_runs_is_near_and_never_below(name: str) -> None:
    attack, random = CURVES[name](), np.random.default_rng(len(name))
    curve = gp.Curve(attack)
    assert zigzags_of(attack) is not None
    assert curve.rise.epsilon.size <= 450
    check_near(curve, random)


def test_a_distance_with_a_cap_is_left_to_programs() -> None:
    metric = LineMetric(LineForm(slopes=(1.0,), cap=3.0))
    attack = attack_on(gp.categorical(dict.fromkeys(range(10), 0.1)), (0, 1), (4, 5), metric=metric)
    assert zigzags_of(attack) is None
    assert "linear program" in attack.advantage(0.3).how
