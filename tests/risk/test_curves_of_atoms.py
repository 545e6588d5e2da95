"""Curves beside finitely many numbers, and of distances that jump: never on the wrong side, and close."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.errors import GoalError
from guessproof.risk import atom_gaps
from guessproof.risk.atom_gaps import AtomPeaks, gap_of_peaks, gap_of_rest
from guessproof.risk.atoms import Atoms
from guessproof.risk.gaps import gap_of_tents
from guessproof.risk.misjudged import along_atoms, answer
from guessproof.risk.misjudged.along_atoms import MisjudgedRun
from guessproof.risk.misjudged.answer import farthest
from guessproof.risk.rooms import gaps_of, run_of
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.line_form import LineForm

Run = tuple[int, int]
SHARES = 40


def drawn_atoms(rng: np.random.Generator, count: tuple[int, int] = (4, 24)) -> tuple[Atoms, Run]:
    """Numbers, some of them close together and some at one place of the distance, and a run of them but not all."""
    points = np.unique(np.round(rng.normal(0, 3, int(rng.integers(*count))), 1))
    psi = points + (points > 0.5) * float(rng.choice([0.0, 1.5]))
    if rng.uniform() < 0.3:
        psi = np.round(psi)
    first = int(rng.integers(0, points.size - 1))
    last = int(rng.integers(first, points.size - (first == 0)))
    return Atoms(points, rng.dirichlet(np.ones(points.size)), psi), (first, last)


def chosen(atoms: Atoms, run: Run) -> Any:
    inside = np.zeros(atoms.mass.size, dtype=bool)
    inside[run[0] : run[1] + 1] = True
    return inside


def log_total(atoms: Atoms, some: Any, peak: int, rate: float) -> float:
    return float(np.log(np.sum((atoms.mass * np.exp(-rate * np.abs(atoms.psi - atoms.psi[peak])))[some])))


@pytest.mark.parametrize("few", [None, 3])
def test_gaps_are_enough_for_every_peak_and_everywhere_between_two_epsilons(
    few: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ln ∫ e^{εs} f lies no further below its own chord, also where few numbers stand for all."""
    if few is not None:
        monkeypatch.setattr(atom_gaps, "enough_peaks", lambda climb: np.full(np.shape(climb), few))
    rng, tight = np.random.default_rng(3), 0
    for _ in range(150):
        atoms, run = drawn_atoms(rng)
        low = float(rng.choice([0.02, 0.3, 1.0]))
        first, second = np.array([low]), np.array([low * float(rng.choice([1.05, 1.5, 4.0]))])
        inside, everyone = chosen(atoms, run), (0, atoms.mass.size - 1)
        cases = [
            (gap_of_rest(atoms, run, first, second), ~inside, run, 1),
            (gap_of_peaks(atoms, run, first, second, -1), inside, run, -1),
            (gap_of_peaks(atoms, everyone, first, second, 1), inside | True, everyone, 1),
        ]
        for (gap,), some, (i, j), sign in cases:
            for peak, share in product(range(i, j + 1), (0.2, 0.5, 0.8)):
                rates = (float(first[0]), float((1 - share) * first[0] + share * second[0]), float(second[0]))
                ends = [log_total(atoms, some, peak, sign * rate) for rate in rates]
                below = (1 - share) * ends[0] + share * ends[2] - ends[1]
                assert np.expm1(below) <= 4 * share * (1 - share) * gap * (1 + 1e-9) + 1e-13
                tight += bool(np.expm1(below) > 0.6 * 4 * share * (1 - share) * gap and gap > 1e-4)
    assert few is not None or tight > 100  # and not by much more than is needed


def test_a_step_is_part_of_what_a_belief_is_compared_with() -> None:
    rng, broken = np.random.default_rng(5), 0
    for _ in range(60):
        atoms, run = drawn_atoms(rng)
        inside, everyone, step = chosen(atoms, run), (0, atoms.mass.size - 1), 2.0
        ends = np.array([0.5]), np.array([1.0])
        gap, without = (float(gap_of_peaks(atoms, everyone, *ends, 1, w)[0]) for w in (step, 0.0))
        for peak in range(run[0], run[1] + 1):
            s = -np.abs(atoms.psi - atoms.psi[peak]) + step * inside
            logs = [float(np.log(np.sum(atoms.mass * np.exp(e * s)))) for e in (0.5, 0.75, 1.0)]
            below = np.expm1(0.5 * (logs[0] + logs[2]) - logs[1])
            assert below <= gap
            broken += bool(below > without * (1 + 1e-9))
    assert broken


def test_under_a_prior_that_may_be_wrong_gaps_are_as_much_larger_as_they_have_to_be() -> None:
    """Every pattern of wrong odds on what is compared, for tents and valleys of small samples."""
    rng, needed, factor = np.random.default_rng(8), 0, 4.0
    for _ in range(12):
        x = gp.Attribute("x", prior=gp.empirical(np.unique(np.round(rng.normal(0, 3, 9), 1)).tolist()))
        attack = gp.Attack(gp.within(x, 1.5), at={"x": 0.0}, prior_factor=factor)
        run = run_of(attack)
        if run is None or run[1] == (0, run[0].mass.size - 1):
            continue
        atoms, ends = run[0], (np.array([0.3]), np.array([0.4]))
        for sign in (1, -1):
            gap = float(gaps_of(attack, np.inf)(*ends, sign)[1][0])
            some = chosen(*run[:2]) if sign < 0 else ~chosen(*run[:2])
            for peak, wrong in product(range(run[1][0], run[1][1] + 1), product((1.0, factor), repeat=int(some.sum()))):
                mass = atoms.mass.copy()
                mass[some] *= wrong
                logs = [log_total(Atoms(atoms.points, mass, atoms.psi), some, peak, sign * e) for e in (0.3, 0.35, 0.4)]
                below = float(np.expm1(0.5 * (logs[0] + logs[2]) - logs[1]))
                assert below <= gap * (1 + 1e-9)
                needed += below > gap / factor
    assert needed > 20


def test_few_numbers_stand_for_those_close_to_them() -> None:
    rng = np.random.default_rng(6)
    for count, wide in product((1, 2, 7, 500), (0.0, 1.0)):
        psi = np.sort(rng.normal(size=300)) * wide
        peaks = AtomPeaks.among(psi, count)
        assert peaks.places.size <= (count + 1 if count < psi.size else psi.size)
        near = np.min(np.abs(psi[:, None] - psi[peaks.places]) - peaks.away, axis=1)
        assert np.all(near <= 1e-15)


def reference(atoms: Atoms, run: Run, step: float, factor: float, move: int, epsilon: float) -> float:
    """Every peak and every pair of turns, with many shares of a number at which h turns: an attack by plain sums."""
    inside = chosen(atoms, run)
    target = inside if move > 0 else ~inside
    best = 0.0
    for peak in range(run[0], run[1] + 1):
        log_l = -move * epsilon * np.abs(atoms.psi - atoms.psi[peak]) + epsilon * step * target
        likelihood = np.exp(log_l - np.max(log_l))
        parts: list[tuple[Any, Any]] = []
        for some, falling in ((target, True), (~target, False)):
            order = np.argsort(-likelihood[some] if falling else likelihood[some], kind="stable")
            mass, told = atoms.mass[some][order], (atoms.mass * likelihood)[some][order]
            counts = np.linspace(0, mass.size, SHARES * mass.size + 1)
            sums = [np.interp(counts, np.arange(mass.size + 1), np.append(0.0, np.cumsum(v))) for v in (mass, told)]
            parts.append((mass.sum() + (factor - 1) * sums[0], told.sum() + (factor - 1) * sums[1]))
        for every in ((1, SHARES), (SHARES, 1)):  # at most one number has an h that is neither 1 nor κ
            (a, into), (b, out) = ((v[::n] for v in part) for part, n in zip(parts, every, strict=True))
            rise = into[:, None] / (into[:, None] + out) - a[:, None] / (a[:, None] + b)
            best = max(best, float(np.max(rise)))
    return best


@pytest.mark.parametrize(("factor", "move"), [*product([1.5, 4.0, 16.0], [1, -1])])
def test_no_peak_and_no_wrong_prior_exceeds_a_bound_and_attacks_come_near_it(factor: float, move: Any) -> None:
    rng = np.random.default_rng(int(10 * factor) + move)
    epsilon = np.array([1e-3, 0.1, 0.5, 2.0])
    for count in [(4, 24)] * 8 + [(60, 90)] * 3:  # a turn at each number, and radii
        atoms, run = drawn_atoms(rng, count)
        assert (atoms.mass.size <= along_atoms._SMALL) == (count[0] == 4)
        step = float(rng.choice([0.0, 0.3]))
        value, bound = MisjudgedRun(atoms, run, step, factor, move).measure(epsilon)
        exact = [reference(atoms, run, step, factor, move, float(e)) for e in epsilon]
        assert np.all(bound >= exact)
        assert np.all(value >= np.array(exact) * (1 - 2.5e-4))
        further = [reference(atoms, run, step, factor, move, float(e) * 1.001) for e in epsilon]
        assert np.all(bound <= np.array(further) * (1 + 1e-4) + 1e-9)


@pytest.mark.parametrize(("move", "small"), [*product([1, -1], [0, 40])])
def test_few_peaks_and_radii_bound_all_others(move: Any, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without looking closer bounds are loose, and bounds all the same."""
    monkeypatch.setattr(along_atoms, "_PEAKS", 2)
    monkeypatch.setattr(along_atoms, "_ROUNDS", 0)
    monkeypatch.setattr(along_atoms, "_RADII", 5)
    monkeypatch.setattr(along_atoms, "_SMALL", small)
    rng, tight = np.random.default_rng(9), 0
    for _ in range(40):
        atoms, run = drawn_atoms(rng, (4, 40))
        step, factor = float(rng.choice([0.0, 0.3])), float(rng.choice([1.5, 4.0]))
        epsilon = rng.uniform(0.05, 1.0, 2)
        bound = MisjudgedRun(atoms, run, step, factor, move).measure(epsilon)[1]
        exact = [reference(atoms, run, step, factor, move, float(e)) for e in epsilon]
        assert np.all(bound >= exact)
        tight += int(np.sum(bound < np.array(exact) * 1.2))
    assert tight > 10


def sample(rng: np.random.Generator, count: int) -> gp.Attribute:
    return gp.Attribute("x", prior=gp.empirical(np.round(rng.normal(20, 6, count), 1).tolist()))


@pytest.mark.parametrize("count", [12, 60, 1500])
def test_the_curve_of_a_sample_at_a_stated_true_value(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(4):
        x = sample(rng, count)
        attack = gp.Attack(gp.within(x, float(rng.uniform(1, 4))), at={"x": 20.0})
        curve = gp.Curve(attack)
        assert curve.within <= 1e-3
        assert curve.rise.epsilon.size < 200
        for limit, both in product(rng.uniform(1e-3, 0.4, 4), (False, True)):
            exact, found = (float(one.epsilon(advantage=limit, both=both)) for one in (attack, curve))
            assert (1 - 1e-3) * exact <= found <= exact or math.isinf(exact)


@pytest.mark.parametrize(("factor", "both"), [*product([1.5, 4.0], [False, True])])
def test_the_curve_of_a_sample_under_a_prior_that_may_be_wrong(factor: float, both: bool) -> None:
    rng = np.random.default_rng(int(factor))
    for count in (9, 70):
        attack = gp.Attack(gp.within(sample(rng, count), 3), at={"x": 20.0}, prior_factor=factor)
        curve = gp.Curve(attack)
        assert curve.within <= 1e-3
        run = run_of(attack)
        assert run is not None
        assert (run[0].mass.size <= along_atoms._SMALL) == (count == 9)

        def exact(epsilon: float, run: Any = run) -> float:
            return max(reference(*run[:2], 0.0, factor, move, epsilon) for move in ((1, -1) if both else (1,)))

        for epsilon in np.exp(rng.uniform(np.log(2e-3), np.log(0.3), 3)):
            found = curve.advantage(float(epsilon), both)
            assert exact(float(epsilon)) <= found <= exact(float(epsilon) * 1.0011) * (1 + 1e-4)


@pytest.mark.parametrize("both", [False, True])
def test_one_epsilon_of_a_large_sample_under_a_prior_that_may_be_wrong(
    both: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is too much for every turn is bounded by radii, and comes within 0.1 % of what every turn says."""
    rng = np.random.default_rng(12)
    x = sample(rng, 60)
    exact, closely = (gp.Attack(gp.within(x, 3), at={"x": 20.0}, prior_factor=k) for k in (2.0, 2.0))
    limits = [0.01, 0.1, 0.3]
    largest = [exact.epsilon(advantage=limit, both=both) for limit in limits]
    assert "every corner" in exact.advantage(0.1).how
    monkeypatch.setattr(answer, "MOST_PAIRS", 100)
    assert "own values" in closely.advantage(0.1).how
    for limit, most in zip(limits, largest, strict=True):
        found = closely.epsilon(advantage=limit, both=both)
        assert (1 - 1e-3) * most <= found <= most * (1 + 1e-9)
    assert closely.largest_prior_factor(epsilon=largest[1], advantage=0.1) == pytest.approx(2.0, rel=2e-2) or both
    assert closely.advantage(largest[2]).attack <= 0.3 * (1 + 1e-9)


def test_the_curve_of_a_sample_at_the_worst_true_value() -> None:
    rng = np.random.default_rng(2)
    for count in (15, 200):
        attack = gp.Attack(gp.within(sample(rng, count), 1.0))
        curve = gp.Curve(attack)
        assert curve.within <= 1e-3
        for epsilon in np.exp(rng.uniform(np.log(1e-3), np.log(0.5), 5)):
            for both in (False, True):
                found = curve.advantage(float(epsilon), both)
                assert attack.advantage(float(epsilon), both).attack <= found * (1 + 1e-12)
                assert found <= attack.advantage(float(epsilon) * 1.0011, both).bound * (1 + 1e-9)
            assert attack.posterior(float(epsilon)).attack <= curve.posterior(float(epsilon)) * (1 + 1e-12)


JUMPING: dict[str, gp.Metric] = {
    "only jumps": gp.Threshold(0.5),
    "a jump in the goal": gp.Absolute() + gp.Threshold(0.5),
    "two jumps": gp.Absolute() + gp.Threshold(0.45) + 2 * gp.Threshold(0.9),
}


@pytest.mark.parametrize("name", list(JUMPING))
def test_the_curve_of_a_distance_that_jumps(name: str) -> None:
    x = gp.Attribute("x", prior=gp.normal(0, 1), metric=JUMPING[name])
    attack = gp.Attack(gp.within(x, 0.3), at={"x": 0.6})
    curve = gp.Curve(attack)
    assert curve.within <= 1e-3
    assert curve.rise.epsilon.size < 200
    for limit in (0.003, 0.02, 0.08):
        exact = attack.epsilon(advantage=limit)
        assert (1 - 1e-3) * exact <= curve.epsilon(advantage=limit) <= exact


@pytest.mark.parametrize("sign", [1, -1])
def test_gaps_hold_on_both_sides_of_a_jump(sign: int) -> None:
    """The part beyond the jump, where more of the prior lies, is not forgotten; nor are peaks in the jump counted."""
    form = LineForm((0.0,), (1.0, 1.0), (3.0,))
    for middle in (-2.0, 2.0):
        prior = gp.normal(middle, 1.5)
        grid = prior.quantile((np.arange(20_000) + 0.5) / 20_000)
        first, second = np.array([0.3]), np.array([0.6])
        gap = float(
            gap_of_tents(TiltedIntegrals(prior, form), np.array([-1.0]), np.array([1.0]), first, second, sign)[0]
        )
        most = 0.0
        for peak in np.linspace(-1.0, 1.0, 41):
            s = -sign * np.abs(form.psi(grid) - form.psi(peak))
            logs = [float(np.log(np.mean(np.exp(e * s)))) for e in (0.3, 0.45, 0.6)]
            most = max(most, float(np.expm1(0.5 * (logs[0] + logs[2]) - logs[1])))
        assert most <= gap * (1 + 1e-3)
        assert gap <= 1.6 * most


@pytest.mark.parametrize(("name", "factor"), [*product(JUMPING, [1.5, 4.0])])
def test_a_distance_that_jumps_and_a_prior_that_may_be_wrong(name: str, factor: float) -> None:
    """Against many numbers in place of the density: those in a cell are moved by no more than its width."""
    prior, metric = gp.normal(0, 1), JUMPING[name]
    curve = gp.Curve(gp.Attack(gp.within(gp.Attribute("x", prior=prior, metric=metric), 0.3), at={"x": 0.6},
                               prior_factor=factor))  # fmt: skip
    assert curve.within <= 1e-3
    edges = np.unique(np.concatenate([np.linspace(-5, 5, 4001), [0.3, 0.9, 0.45, 0.5]]))
    middle, mass = 0.5 * (edges[1:] + edges[:-1]), np.diff(np.asarray(prior.cdf(edges)))
    form = metric.line_form
    assert form is not None
    inside = np.flatnonzero((middle > 0.3) & (middle < 0.9))
    run = MisjudgedRun(Atoms(middle, mass, form.psi(middle)), (int(inside[0]), int(inside[-1])), 0.0, factor, 1)
    for epsilon in (0.01, 0.1, 0.4):
        reached, further = run.measure(np.array([epsilon, epsilon * 1.001]))
        assert curve.advantage(epsilon) >= reached[0] * (1 - 1e-6)
        assert curve.advantage(epsilon) <= further[1] * (1 + 1e-3)


def test_rooms_where_only_distances_are_known() -> None:
    """A cap, categories and tables: the belief before tells how much room there is."""
    rng = np.random.default_rng(4)
    capped = gp.minimum(gp.Absolute(), 2 * gp.Discrete())
    x = gp.Attribute("x", prior=gp.empirical(np.round(rng.normal(0, 2, 40), 2).tolist()), metric=capped)
    c = gp.Attribute("c", prior=gp.categorical({"a": 0.5, "b": 0.3, "c": 0.2}))
    attacks = [
        gp.Attack(gp.within(x, 0.7), at={"x": 0.5}),
        gp.Attack(gp.among(c, {"a", "c"})),
        gp.Attack(gp.exactly(c)),
        gp.Attack(gp.exactly(c), prior_factor=1.5),
        gp.Attack(gp.exactly(c), at={"c": "b"}, prior_factor=4.0),
        gp.Attack(gp.exactly(c), prior_factor=math.inf),
    ]
    for attack in attacks:
        curve = gp.Curve(attack)
        assert curve.within <= 1e-3
        for epsilon, both in product(np.exp(rng.uniform(np.log(0.01), np.log(1.5), 6)), (False, True)):
            found = curve.advantage(float(epsilon), both)
            assert attack.advantage(float(epsilon), both).bound <= found * (1 + 1e-12)
            assert found <= attack.advantage(float(epsilon) * 1.0011, both).bound * (1 + 1e-9)


def test_several_epsilons_are_asked_of_every_true_value_under_a_wrong_prior() -> None:
    c = gp.Attribute("c", prior=gp.categorical({"a": 0.5, "b": 0.3, "c": 0.2}))
    attack = gp.Attack(gp.exactly(c), prior_factor=1.5)
    together = attack.advantage([0.1, 0.7]).bound
    assert together == pytest.approx([attack.advantage(e).bound for e in (0.1, 0.7)], rel=1e-15)


@pytest.mark.parametrize("metric", [gp.Absolute(), gp.Clamped(-1, 1), gp.minimum(gp.Absolute(), 2 * gp.Discrete())])
def test_the_first_and_the_last_number_are_furthest_apart(metric: gp.Metric) -> None:
    x = gp.Attribute("x", prior=gp.empirical([-4.0, -0.5, 0.25, 3.0, 7.0]), metric=metric)
    points = np.array([-4.0, -0.5, 0.25, 3.0, 7.0])
    assert farthest(x) == np.max(metric.distance(points[:, None], points[None, :]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("prior", [gp.empirical([1, 2, 3, 3, 5]), gp.normal(3, 1).given(1, 5)])
def test_goals_that_are_certain_are_refused_in_words(prior: Any) -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior), 9), at={"x": 3}, prior_factor=4)
    with pytest.raises(GoalError, match="certain"):
        gp.Curve(attack)
