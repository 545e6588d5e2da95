"""The worst true value under a distance that jumps and a prior that may be wrong: nothing exceeds a curve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.misjudged.along_truths import MisjudgedAlongTruths
from guessproof.risk.misjudged.lumped_runs import MisjudgedAlongLumps
from guessproof.risk.misjudged.truth_curve import ProvenLine
from guessproof.risk.misjudged.truth_rows import TruthBoxes
from guessproof.world.checks import Array

PRIORS: list[Any] = [
    gp.normal(0, 1),
    gp.uniform(-2, 2),
    gp.histogram([-2, -1, 0, 1, 2], [0.2, 0.3, 0.4, 0.1]),
    gp.truncated(gp.normal(0.3, 1.5), -3, 3),
]


def on_a_grid(
    prior: Any, psi: Any, step: float, goal: tuple[float, float], peaks: Any, factor: float, epsilon: float, move: int
) -> float:
    """The best tent (or valley) and wrong prior on a grid of values that the goal's edges and jumps do not cut."""
    x, f = grid_of(prior, *goal)
    inside = (x >= goal[0]) & (x <= goal[1])
    target, best = inside if move > 0 else ~inside, 0.0
    for c in peaks:
        like = np.exp(-move * epsilon * np.abs(psi(x) - psi(np.asarray(c))) + epsilon * step * target)
        parts = list[tuple[Array, Array]]()
        for some, order in ((target, -like), (~target, like)):
            sort = np.argsort(order[some], kind="stable")
            sums = [np.append(0.0, np.cumsum(v[some][sort])) for v in (f, f * like)]
            few = np.unique(np.linspace(0, sort.size, 80).astype(int))
            parts.append((sums[0][-1] + (factor - 1) * sums[0][few], sums[1][-1] + (factor - 1) * sums[1][few]))
        (a, into), (b, out) = parts
        values = into[:, None] / (into[:, None] + out) - a[:, None] / (a[:, None] + b)
        best = max(best, float(np.max(values)))
    return best


def grid_of(prior: Any, lo: float, hi: float) -> tuple[Array, Array]:
    """Middles of cells and their masses; cells end at both edges of a goal and where a distance of the tests jumps."""
    low, high = prior.quantile([1e-7, 1 - 1e-7])
    ends = np.unique(np.clip(np.concatenate([np.linspace(low, high, 3000), [lo, hi, *CUTS]]), low, high))
    return 0.5 * (ends[1:] + ends[:-1]), np.asarray(prior.mass(ends[:-1], ends[1:]))


CUTS = -0.4, 0.5
DISTANCES: dict[str, gp.Metric] = {
    "one": gp.Absolute() + gp.Threshold(0.5),
    "two": gp.Absolute() + 0.5 * gp.Threshold(-0.4) + 2 * gp.Threshold(0.5),
    "step": gp.Absolute() + gp.Threshold(0.5) + 0.3 * gp.Discrete(),
    "only": gp.Threshold(0.5),
    "steps": gp.Threshold(-0.4) + 0.5 * gp.Threshold(0.5),
}


@pytest.mark.parametrize("name", list(DISTANCES))
@pytest.mark.parametrize("move", [1, -1])
def test_no_wrong_prior_at_any_true_value_exceeds_a_curve(name: str, move: int) -> None:
    """True values whose goals end at jumps, near them, and anywhere; peaks on both sides of jumps."""
    rng = np.random.default_rng(len(name) + move)
    for prior in PRIORS[:: 1 if name in ("one", "only") else 3]:
        radius, factor = float(rng.choice([0.1, 0.3, 0.8])), float(rng.choice([1.1, 1.5, 4.0, 10.0]))
        x = gp.Attribute("x", prior, metric=DISTANCES[name], bounds=(-2, 2))
        curve = gp.Curve(gp.Attack(gp.within(x, radius), prior_factor=factor))
        piece, form = curve.rise if move > 0 else curve.fall, DISTANCES[name].line_form
        assert form is not None
        assert piece.epsilon.size > 1
        assert piece.loose <= 1e-3
        at_jumps = [t for cut in CUTS for t in (cut - radius, cut + radius, cut, cut + 0.5 * radius)]
        for share in (0.3, 0.9):
            epsilon = float((1 - share) * piece.epsilon[0] + share * piece.epsilon[-1])
            most = piece.at(epsilon)
            assert most is not None
            found = list[float]()
            for t in [*at_jumps, *np.linspace(-2, 2, 41)]:
                goal = max(float(t) - radius, prior.support[0]), min(float(t) + radius, prior.support[1])
                beside = [p for c in CUTS for p in (c, np.nextafter(c, 1)) if goal[0] < p < goal[1]]
                peaks = [*np.linspace(*goal, 5)[1:-1], *beside]
                found.append(on_a_grid(prior, form.psi, form.step, goal, peaks, factor, epsilon, move))
            assert max(found) <= most * (1 + 1e-5)  # a grid is not the density
            assert max(found) >= 0.9 * most


def test_lumps_say_what_boxes_of_densities_say() -> None:
    for prior, factor in ((PRIORS[0], 1.5), (PRIORS[2], 4.0)):
        attack = gp.Attack(gp.within(gp.Attribute("x", prior, metric=gp.Threshold(0.5)), 0.3), prior_factor=factor)
        epsilon, search = np.array([0.9, 0.91]), attack.truth_search
        lumps = MisjudgedAlongLumps.of(search, factor, 1)
        assert lumps is not None
        lines = [ProvenLine(along, epsilon) for along in (lumps, MisjudgedAlongTruths(search, factor, 1))]
        lines[0].prove()
        assert not lines[0].open.any()
        assert lines[0].value == pytest.approx(lines[1].value, rel=1e-3)


@pytest.mark.parametrize("move", [1, -1])
def test_a_box_of_two_goals_bounds_those_between_them(move: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few cells much lies between two goals, and less of it is one edge's than the other's."""
    monkeypatch.setattr("guessproof.risk.misjudged.lumped_runs._CELLS", 12)
    rng, wide, off = np.random.default_rng(5), 0, 0
    for prior in PRIORS:
        for form in (gp.Threshold(0.5), gp.Threshold(-0.4) + 0.5 * gp.Threshold(0.5)):
            attack = gp.Attack(gp.within(gp.Attribute("x", prior, metric=form, bounds=(-2, 2)), 0.45))
            along = MisjudgedAlongLumps.of(attack.truth_search, 4.0, move)
            assert along is not None
            assert not along.divisible(np.array([[3.0], [4.0]]), np.array([[2.0], [2.0]]))[0][0]
            for r in rng.integers(0, along.first.size - 1, 12):
                t = along.runs.at[[r, r + 1]]
                edges = np.clip(np.stack([t - 0.45, t + 0.45]), *prior.support)
                c = int(rng.integers(along.first[r], along.end[r + 1]))
                box = TruthBoxes(
                    np.zeros(1, dtype=np.int64), np.array([[float(r)], [r + 1.0]]), np.full((2, 1), float(c)),
                    np.full((2, 1), 0.5), np.array([8]),
                )  # fmt: skip
                most = float(along.asked(box, np.array([1.0])).most[0])
                psi = form.line_form.psi  # pyright: ignore[reportOptionalMemberAccess]
                peak, found = along.runs.atoms.points[c], list[float]()
                for share in (0.0, 0.2, 0.5, 0.8, 1.0):
                    middle = float((1 - share) * t[0] + share * t[1])
                    goal = max(middle - 0.45, prior.support[0]), min(middle + 0.45, prior.support[1])
                    found.append(on_a_grid(prior, psi, 0.0, goal, [peak], 4.0, 1.0, move))
                    ends = np.clip((middle - 0.45, middle + 0.45), *prior.support)
                    passed, all_ = ([float(prior.mass(a, b)) for a, b in zip(edges[:, 0], to, strict=True)]
                                    for to in (ends, edges[:, 1]))  # fmt: skip
                    ahead = abs(passed[1] - sum(passed) * all_[1] / sum(all_))
                    assert along.between is not None
                    assert ahead <= along.between[r]
                    off += ahead > max(0.3 * along.between[r], 1e-6)
                assert max(found) <= most + 1e-6
                wide += most < 1.02 * max(found)
    assert wide > 20
    assert off > 10


def test_where_goals_are_empty_or_certain_or_hold_much_further_out_lumps_are_not_asked() -> None:
    form = gp.Threshold(0.5)
    gap = gp.histogram([-2, -1, 1, 2], [0.5, 0.0, 0.5])
    certain = gp.Attack(gp.within(gp.Attribute("x", gp.uniform(0, 1), metric=form), 1.5)).truth_search
    assert MisjudgedAlongLumps.of(certain, 2.0, 1) is None
    empty = gp.Attack(gp.within(gp.Attribute("x", gap, metric=form), 0.1)).truth_search
    assert MisjudgedAlongLumps.of(empty, 2.0, 1) is None
    normal = gp.Attack(gp.within(gp.Attribute("x", gp.normal(0, 1), metric=form), 0.3)).truth_search
    along = MisjudgedAlongLumps.of(normal, 2.0, 1)
    assert along is not None
    assert along.range_of(np.array([1.0]), np.array([1e-6])) == (0.0, along.first.size - 1.0)
    assert along.range_of(np.array([1.0]), np.array([1e-14])) is None


def test_no_attack_tells_apart_what_a_jump_does_not() -> None:
    """However large ε is, nobody learns more than on which side of the jump a value is."""
    time = gp.Attribute("time", prior=gp.normal(0, 1), metric=gp.Threshold(0.5))
    (engine,) = gp.Attack(gp.within(time, 0.3), prior_factor=1.5)._misjudged.engines.ravel()
    above = float(gp.normal(0, 1).mass(0.5, 1.1) / gp.normal(0, 1).mass(0.5, np.inf))
    assert 0.4 < engine.reached(50.0, 1) <= 1.5 * above / (1.5 * above + 1 - above)


def test_beyond_its_curve_one_epsilon_is_proven_on_cells() -> None:
    time = gp.Attribute("time", prior=gp.normal(0, 1), metric=gp.Threshold(0.5))
    found = gp.Attack(gp.within(time, 0.3), prior_factor=1.5).advantage(5.0)
    assert float(found.attack) <= float(found.bound) <= 1.001 * float(found.attack)
