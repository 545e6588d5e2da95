"""The worst true value beside a sample, under a prior that may be wrong: no run, peak or prior exceeds what is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.atom_gaps import AtomBins
from guessproof.risk.atoms import Atoms
from guessproof.risk.misjudged import answer, sample_world
from guessproof.risk.misjudged.along_runs import MisjudgedAlongRuns
from guessproof.risk.misjudged.truth_curve import proven_at
from guessproof.risk.misjudged.truth_rows import TruthBoxes
from guessproof.risk.rising import Rising
from guessproof.risk.worst_atoms import Runs


def drawn_runs(rng: np.random.Generator, count: tuple[int, int]) -> Runs:
    """Runs of numbers within a radius of true values between them, of even or uneven masses, with a step or without."""
    size = int(rng.integers(*count))
    points = np.unique(np.round(rng.choice([rng.normal(0, 3, size), rng.exponential(3, size)]), 2))
    mass = np.full(points.size, 1 / points.size) if rng.random() < 0.5 else rng.dirichlet(np.ones(points.size))
    radius = float(rng.choice([0.4, 1.0, 2.5]))
    t = np.unique(np.concatenate([points - radius, points + radius, points]))
    t = np.sort(np.concatenate([t, 0.5 * (t[1:] + t[:-1])]))
    t = t[(t >= points[0]) & (t <= points[-1])]
    first, last = np.searchsorted(points, t - radius), np.searchsorted(points, t + radius, side="right") - 1
    return Runs.made(Atoms(points, mass, points), float(rng.choice([0.0, 0.6])), t, first, last)


def best_of_all(runs: Runs, run: int, c: int, epsilon: float, factor: float, move: int, parts: int = 1) -> float:
    """Every pair of thresholds of h, for one run and one tent or valley, number by number, each in some parts."""
    psi, mass, places = runs.atoms.psi, runs.atoms.mass / parts, np.arange(runs.atoms.psi.size)
    at, inside = psi[c], (places >= runs.first[run]) & (places <= runs.last[run])
    psi, mass, inside = (np.repeat(v, parts) for v in (psi, mass, inside))
    target = inside if move > 0 else ~inside
    likely = np.exp(-move * epsilon * np.abs(psi - at) + epsilon * runs.step * target)
    sides = list[Any]()
    for some, sign in ((target, -1), (~target, 1)):
        order = np.argsort(sign * likely[some])
        f, told = mass[some][order], (mass * likely)[some][order]
        sides.append([np.sum(v) + (factor - 1) * np.append(0.0, np.cumsum(v)) for v in (f, told)])
    (a, into), (b, out) = ((v[0][:, None], v[1][:, None]) if i == 0 else (v[0], v[1]) for i, v in enumerate(sides))
    return float(np.max(into / (into + out) - a / (a + b)))


@pytest.mark.parametrize("move", [1, -1])
@pytest.mark.parametrize("few", [0, 1000])
def test_a_box_of_runs_and_peaks_bounds_each_of_them_and_every_wrong_prior(
    move: Any, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Boxes as they come of halving, of one run or many, at a guess of the turns that may be far off."""
    monkeypatch.setattr("guessproof.risk.misjudged.sample_world._FEW", few)
    rng, tight, wide = np.random.default_rng(7 + move), 0, 0
    for _ in range(60):
        runs = drawn_runs(rng, (12, 90))
        factor, epsilon = float(rng.choice([1.05, 1.5, 4.0, 20.0])), np.array([float(rng.choice([0.02, 0.3, 1.5]))])
        along, last = MisjudgedAlongRuns(runs, factor, move), runs.first.size - 1
        boxes, truths = list[tuple[int, int]](), [(0, last)]
        while truths:
            a, b = truths.pop()
            boxes.append((a, b))
            if b > a:
                ends = along.middles("truths", np.array([float(a)]), np.array([float(b)]))
                truths += [(a, int(ends[0][0])), (int(ends[1][0]), b)]
        for i in rng.permutation(len(boxes))[:6]:
            a, b = boxes[i]
            low, high = runs.first[a], runs.last[b]
            c = np.sort(rng.integers(low, high + 1, 2))
            box = TruthBoxes(
                np.zeros(1, dtype=np.int64), np.array([[a], [b]], dtype=np.float64), c[:, None].astype(np.float64),
                rng.random((2, 1)), np.array([int(rng.integers(0, 12))]),
            )  # fmt: skip
            most = float(along.asked(box, epsilon).most[0])
            within = [(r, p) for r in range(a, b + 1) for p in range(int(c[0]), int(c[1]) + 1)]
            found = max(best_of_all(runs, r, p, float(epsilon[0]), factor, move) for r, p in within)
            assert found <= most
            tight += most < found * 1.01
            wide += b > a + 1 and most < found * 1.1
    assert tight > 20
    assert wide > 5


def test_no_true_value_exceeds_the_curve_of_a_sample_and_it_is_close() -> None:
    """Beside small samples every true value is asked one by one, which is exact."""
    rng = np.random.default_rng(3)
    for i in range(16):
        size = int(rng.integers(3, 24))
        values = [rng.normal(20, 6, size), rng.exponential(5, size) + 1, np.round(rng.normal(20, 6, 3 * size))][i % 3]
        metric = [gp.Absolute(), gp.Absolute() + 0.7 * gp.Discrete(), gp.Clamped(15.0, 24.0)][i // 3 % 3]
        factor = float(np.exp(rng.uniform(np.log(1.02), np.log(20))))
        x = gp.Attribute("x", prior=gp.empirical(values.tolist()), metric=metric)
        attack = gp.Attack(gp.within(x, float(rng.uniform(0.5, 6))), prior_factor=factor)
        curve = gp.Curve(attack)
        assert curve.within <= 1e-3
        engines = attack._misjudged.engines.ravel()
        for piece, move in ((curve.rise, 1), (curve.fall, -1)):
            for share in rng.random(3):
                epsilon = float(piece.epsilon[0] ** (1 - share) * piece.epsilon[-1] ** share)
                exact = max(engine.limit(epsilon, move) for engine in engines)
                ahead = max(engine.limit(epsilon * (1 + 2e-3), move) for engine in engines)
                assert exact * (1 - 1e-9) <= piece.at(epsilon) <= ahead * (1 + 1e-9)  # pyright: ignore[reportOptionalOperand]


@pytest.mark.parametrize("factor", [1.5, 4.0])
def test_the_curve_of_a_large_sample(factor: float) -> None:
    """True values here and there, stated, are below it; the worst one that was found is near it."""
    rng = np.random.default_rng(5)
    x = gp.Attribute("x", prior=gp.empirical(rng.normal(20, 6, 1500).tolist()))
    attack = gp.Attack(gp.within(x, 1.0), prior_factor=factor)
    curve = gp.Curve(attack)
    assert curve.within <= 1e-3
    assert curve.rise.bound[0] < 1e-4
    assert curve.rise.bound[-1] > 0.3
    for epsilon in (0.01, 0.1):
        found = attack.advantage(epsilon)
        assert found.worst_at is not None
        stated = replace(attack, at={"x": found.worst_at}).advantage(epsilon)
        assert float(found.attack) <= float(stated.bound)
        assert float(stated.attack) <= curve.advantage(epsilon) <= float(stated.attack) * 1.002
        for t in rng.uniform(5, 35, 6):
            assert float(replace(attack, at={"x": float(t)}).advantage(epsilon).attack) <= curve.advantage(epsilon)
    limit = curve.epsilon(advantage=0.1)
    assert attack.epsilon(advantage=0.1) == pytest.approx(limit, rel=3e-3)
    assert float(attack.advantage(limit).attack) <= 0.1
    assert attack.epsilon(advantage=0.1, both=True) <= attack.epsilon(advantage=0.1)
    assert attack.largest_prior_factor(epsilon=limit, advantage=0.1) == pytest.approx(factor, rel=5e-2)


def test_many_true_values_are_asked_together_as_they_are_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    for _ in range(8):
        x = gp.Attribute("x", prior=gp.empirical(rng.normal(20, 6, int(rng.integers(4, 20))).tolist()))
        attack = gp.Attack(gp.within(x, float(rng.uniform(0.5, 6))), prior_factor=float(rng.choice([1.2, 3.0, 30.0])))
        alone = attack.advantage(0.1, both=True)
        with monkeypatch.context() as patch:
            patch.setattr(answer, "MOST_TRUTHS", 0)
            together = replace(attack).advantage(0.1, both=True)
        assert float(alone.bound) * (1 - 1e-9) <= float(together.bound) <= float(alone.bound) * 1.003
        assert float(alone.bound) * 0.999 <= float(together.attack) <= float(alone.bound) * (1 + 1e-9)


@pytest.mark.parametrize("bins", [4, 512])
def test_gaps_of_bins_are_enough_for_every_peak_and_every_wrong_prior(
    bins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ln ΣLhf lies no further below its own chord, also where few numbers stand for all."""
    monkeypatch.setattr("guessproof.risk.atom_gaps._BINS", bins)
    rng, tight = np.random.default_rng(13), 0
    for _ in range(200):
        runs = drawn_runs(rng, (6, 40))
        factor, low = float(rng.choice([1.5, 4.0])), float(rng.choice([0.02, 0.3, 1.0]))
        first, second = np.array([low]), np.array([low * float(rng.choice([1.05, 1.5, 3.0]))])
        sign, psi = int(rng.choice([1, -1])), runs.atoms.psi
        ends = np.sort(rng.integers(0, psi.size - 1, 2))
        ends[1] = ends[0] + 1 if rng.random() < 0.5 else ends[1]  # neighbours are judged each by itself
        (gap,), _ = AtomBins(runs.atoms, factor, 0.0).gap(ends[:1], ends[1:], sign * first, sign * second)
        for c in range(int(ends[0]), int(ends[1]) + 1):
            away = np.abs(psi - psi[c])
            near = np.argsort(away)
            for cut in rng.integers(0, psi.size, 4):
                h = np.ones(psi.size)
                h[near[:cut] if rng.random() < 0.5 else near[cut:]] = factor
                share = float(rng.choice([0.3, 0.5, 0.7]))
                rates = [float(first[0]), float((1 - share) * first[0] + share * second[0]), float(second[0])]
                logs = [float(np.log(np.sum(h * runs.atoms.mass * np.exp(-sign * r * away)))) for r in rates]
                below = np.expm1((1 - share) * logs[0] + share * logs[2] - logs[1])
                assert below <= 4 * share * (1 - share) * gap * (1 + 1e-9) + 1e-13
                tight += below > 0.4 * 4 * share * (1 - share) * gap > 1e-6
    assert bins < 512 or tight > 50


def test_sums_that_are_not_kept_are_added_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = drawn_runs(np.random.default_rng(17), (40, 60))
    epsilon, before = 0.2, proven_at(MisjudgedAlongRuns(runs, 2.0, 1), 0.2)
    monkeypatch.setattr(sample_world, "_KEPT", 1)
    along = MisjudgedAlongRuns(runs, 2.0, 1)
    assert proven_at(along, epsilon) == before
    assert along.rough(np.geomspace(0.01, 1, 9)).shape == (9,)
    assert proven_at(along, 2 * along.largest) == (0.0, 1.0, 0.0)  # where exponentials end


@pytest.mark.parametrize("move", [1, -1])
def test_attacks_come_near_the_best_of_all_runs_peaks_and_priors(move: Any) -> None:
    rng, near = np.random.default_rng(19), 0
    for _ in range(12):
        runs, epsilon = drawn_runs(rng, (12, 30)), float(rng.choice([0.05, 0.3, 1.0]))
        (value,) = MisjudgedAlongRuns(runs, 2.0, move).rough(np.array([epsilon]))
        every = [(r, c) for r in range(runs.first.size) for c in range(runs.first[r], runs.last[r] + 1)]
        best = max(best_of_all(runs, r, c, epsilon, 2.0, move, parts=8) for r, c in every)
        assert 0.97 * best <= value <= best * 1.001
        near += value >= 0.999 * best
    assert near > 8


def test_a_piece_of_a_curve_is_put_between_two_of_its_knots() -> None:
    curve = Rising(
        np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.array([1.1, 2.1, 3.1]), np.array([0.1, 0.2])
    )
    piece = Rising(np.array([2.0, 2.5, 3.0]), np.array([2.0, 2.4, 3.05]), np.array([2.2, 2.6, 3.0]), np.zeros(2))
    made = curve.with_piece(1, piece)
    assert made.epsilon.tolist() == [1.0, 2.0, 2.5, 3.0]
    assert made.value.tolist() == [1.0, 2.0, 2.4, 3.05]
    assert made.bound.tolist() == [1.1, 2.2, 2.6, 3.1]
    assert made.room.tolist() == [0.1, 0.0, 0.0]


def test_a_curve_with_a_piece_rises_also_where_the_piece_begins_below_or_ends_above_it() -> None:
    knots = np.array([1.0, 2.0, 3.0, 4.0])
    curve = Rising(knots, knots, np.array([1.1, 2.7, 3.1, 4.1]), np.zeros(3))
    piece = Rising(np.array([2.0, 2.5, 3.0]), np.array([2.0, 2.5, 4.05]), np.array([2.2, 2.6, 4.2]), np.zeros(2))
    made = curve.with_piece(1, piece)
    assert made.bound.tolist() == [1.1, 2.7, 2.7, 4.2, 4.2]
    assert made.value.tolist() == [1.0, 2.0, 2.5, 4.05, 4.05]


@pytest.mark.parametrize("move", [1, -1])
def test_what_every_run_of_a_box_holds_lies_below_and_above_its_polygons(move: Any) -> None:
    """Also where numbers are even, so that no run is off its chord, but likelihoods vary along what its ends pass."""
    rng, raised = np.random.default_rng(23), 0
    for i in range(24):
        runs = drawn_runs(rng, (60, 120))
        if i % 2:
            points, n = np.linspace(0, 10, 81), np.arange(61)
            runs = Runs(Atoms(points, np.full(81, 1 / 81), points), 0.3, points[n + 10], n, n + 20)
        along = MisjudgedAlongRuns(runs, 3.0, move)
        width = 1 << int(rng.integers(2, 6))
        a = int(rng.integers(0, max((runs.first.size - 1) // width, 1))) * width
        b = min(a + width, runs.first.size - 1)
        c, epsilon = int(rng.integers(runs.first[a], runs.last[b] + 1)), np.array([float(rng.choice([0.3, 1.5]))])
        places = np.array([a]), np.array([b]), np.array([c])
        looked = along._rows(epsilon, *places).looked(rng.random((2, 1)), np.array([0.1]))
        lo, hi = along.world.below[along.first], along.world.below[along.end]
        psi, mass, log_peak = runs.atoms.psi, runs.atoms.mass, float(along.world.log_peak(epsilon, move, places[2])[0])
        for r in range(a, b + 1):
            share = (lo[r] + hi[r] - lo[a] - hi[a]) / (lo[b] + hi[b] - lo[a] - hi[a])
            inside = (np.arange(psi.size) >= along.first[r]) & (np.arange(psi.size) < along.end[r])
            target = inside if move > 0 else ~inside
            likely = np.exp(log_peak - move * epsilon[0] * np.abs(psi - psi[c]) + epsilon[0] * runs.step * target)
            sides = (target, looked.upper, looked.raised, 1), (~target, looked.lower, looked.lowered, -1)
            for some, corners, lifts, way in sides:
                order = np.argsort(-way * likely[some])
                held, told = (
                    (2 * np.append(0.0, np.cumsum(v[order])) + v.sum()) for v in (mass[some], (mass * likely)[some])
                )
                at, most = ((1 - share) * v[0, 0] + share * v[1, 0] for v in corners)
                above = np.interp(held, at, most)
                assert np.all(way * (told - above) <= np.max(lifts) + 1e-12)
                assert at[0] <= held[0] + 1e-12
                assert held[-1] <= at[-1] + 1e-12
                raised += bool(np.any(way * (told - above) > 0.2 * np.max(lifts)) and i % 2 and np.max(lifts) > 1e-9)
    assert raised > 20


def test_very_many_numbers_are_bounded_by_boxes_under_the_declared_prior_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guessproof.risk.curve._MANY_NUMBERS", 0)
    rng = np.random.default_rng(29)
    for values in (rng.normal(20, 6, 80), np.round(rng.exponential(5, 200)), rng.normal(20, 6, 9)):
        attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.empirical(values.tolist())), 1.5))
        curve = gp.Curve(attack)
        assert curve.within <= 1e-3
        for piece, both in ((curve.rise, False), (curve.fall, True)):
            assert piece.epsilon.size > 60
            for epsilon in piece.epsilon[[3, 40, -2]] * 1.003:
                direction = "fall" if both else "rise"
                exact, ahead = (attack.worst(float(e), direction).bound for e in (epsilon, 1.002 * epsilon))
                assert float(exact) * (1 - 1e-9) <= piece.at(float(epsilon)) <= float(ahead)  # pyright: ignore[reportOptionalOperand]
        high = 1.2 * float(curve.rise.bound[-1])
        assert curve.epsilon(advantage=high) == pytest.approx(attack.epsilon(advantage=high), rel=1e-3)
        assert curve.epsilon(advantage=high) <= attack.epsilon(advantage=high)


def below_its_chord(mass: Any, away: Any, rates: list[float], share: float) -> float:
    """e^γ − 1 of what some numbers hold, γ being how far its logarithm lies below its own chord."""
    logs = [float(np.log(np.sum(mass * np.exp(-rate * away)))) for rate in rates]
    return float(np.expm1((1 - share) * logs[0] + share * logs[2] - logs[1]))


def test_of_two_neighbours_that_are_far_apart_each_has_a_gap_of_its_own() -> None:
    psi = np.append(np.linspace(0, 1, 11), 6.0)
    bins = AtomBins(Atoms(psi, np.full(12, 1 / 12), psi), 1.5, 0.0)
    (gap,), _ = bins.gap(np.array([10]), np.array([11]), np.array([0.2]), np.array([0.4]))
    own = [bins.gap(np.array([c]), np.array([c]), np.array([0.2]), np.array([0.4]))[0][0] for c in (10, 11)]
    assert gap == max(own)
    assert own[1] > 2 * own[0]
    assert below_its_chord(np.full(12, 1 / 12), np.abs(psi - 6), [0.2, 0.3, 0.4], 0.5) <= gap < 0.1


@pytest.mark.parametrize("bins", [6, 512])
def test_gaps_of_what_lies_outside_hold_for_every_run_between_two(bins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guessproof.risk.atom_gaps._BINS", bins)
    rng, tight, known = np.random.default_rng(31), 0, 0
    for _ in range(300):
        atoms = drawn_runs(rng, (8, 40)).atoms
        n, psi, factor = atoms.psi.size, atoms.psi, float(rng.choice([1.0, 1.5, 4.0]))
        a, b, c, d = np.sort(rng.integers(0, n + 1, 4))
        peaks = np.sort(rng.integers(b, max(c, b + 1), 2))
        low = float(rng.choice([0.05, 0.5]))
        rates = [low, 1.3 * low, 1.6 * low]
        if not b < c or b == 0 or c == n:
            continue
        (gap,) = AtomBins(atoms, factor, 0.0).gap_of_rest(
            (np.array([a]), np.array([d])), (np.array([b]), np.array([c])), (peaks[:1], peaks[1:]),
            (np.array([rates[0]]), np.array([rates[2]])),
        )  # fmt: skip
        known += bool(np.isfinite(gap))
        for _ in range(4):
            first, end, peak = rng.integers(a, b + 1), rng.integers(c, d + 1), rng.integers(peaks[0], peaks[1] + 1)
            some = (np.arange(n) < first) | (np.arange(n) >= end)
            if not some.any():
                continue
            h = np.where(rng.random(n) < 0.5, factor, 1.0) * atoms.mass
            below = below_its_chord(h[some], np.abs(psi - psi[peak])[some], rates, 0.5)
            assert below <= gap * (1 + 1e-9) + 1e-13
            tight += bool(below > 0.5 * gap > 1e-9)
    assert known > (30 if bins < 512 else 60)
    assert bins < 512 or tight > 10


@pytest.mark.parametrize("limit", [0.1, 0.4, 0.7])
def test_an_attack_on_a_sample_is_answered_as_closely_as_its_curve(limit: float) -> None:
    values = np.random.default_rng(1).normal(20, 6, 300).round(1)
    attack = gp.Attack(gp.within(gp.Attribute("x", gp.empirical(values)), 1), prior_factor=2)
    epsilon = attack.epsilon(advantage=limit)
    assert epsilon == pytest.approx(gp.Curve(attack).epsilon(advantage=limit), rel=1e-3)
    found = attack.advantage(epsilon)
    assert found.bound <= limit * (1 + 1e-12)
    assert attack.advantage(epsilon * 1.0012).attack > limit * (1 - 1e-9)
