"""Boxes of true values and peaks under a prior that may be wrong: nothing in them exceeds what bounds them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.misjudged import truth_curve, truth_rows
from guessproof.risk.misjudged.along_truths import MisjudgedAlongTruths
from guessproof.risk.misjudged.truth_boxes import MovedPolygon, most_risen
from guessproof.risk.misjudged.truth_curve import CurveBoxes, ProvenLine
from guessproof.risk.misjudged.turns import dense
from risk.misjudged_worlds import BENT, PRIORS, STEP, STRAIGHT, drawn, proven


def test_boxes_between_two_nodes_need_chord_and_parabola() -> None:
    """What every true value and peak of a settled box reaches between its two ε lies below both, and not far below."""
    rng, nearest = np.random.default_rng(8), 0.0
    for name, factor, move in (("normal", 1.5, 1), ("normal", 16.0, 1), ("exponential", 4.0, 1), ("bounded", 4.0, -1)):
        along = drawn(name, 0.9, factor, move)
        line = ProvenLine(along, np.geomspace(0.02, 1.5, 14) if name != "exponential" else np.geomspace(0.02, 0.4, 14))
        n, last = 60, line.epsilon.size - 1
        t, w = rng.uniform(*PRIORS[name].quantile([0.2, 0.95]), n), rng.choice([1e-6, 0.05, 0.4], n)
        low, high = along.peaks(t, t + w)
        c = low + rng.uniform(0, 1, n) * (high - low)
        nodes = np.sort(rng.integers(0, last, (2, n)), axis=0) + np.array([[0], [1]])
        peaks = np.stack([c, np.minimum(c + rng.choice([0.0, 0.05, 0.4], n), high)])
        turns = np.repeat(line.places[2:, nodes[0]][None], 2, axis=0)
        boxes = line._looked(CurveBoxes.new(nodes, np.stack([t, t + w]), peaks, turns, np.zeros(n, dtype=np.int64)))
        line.height[:] = 1.0  # nothing is cut off
        climbs = line._climbs(boxes)
        room = np.fmin(line._by_ratio(boxes, climbs)[0], line._by_odds(boxes, climbs))
        for share in (0.1, 0.5, 0.9):
            first, second = line.epsilon[nodes]
            epsilon = (1 - share) * first + share * second
            above = (1 - share) * climbs[0] + share * climbs[1] + 4 * share * (1 - share) * room
            for at in rng.uniform(0, 1, (6, 2, n)):
                truth, peak = t + at[0] * w, peaks[0] + at[1] * (peaks[1] - peaks[0])
                rows = along._rows(epsilon, (truth, truth), peak)
                reached = np.maximum(*(rows.reached(rows.nearer(turns[0], k)) for k in (1, 4)))
                assert np.all(reached <= above), (name, factor)
                nearest = max(nearest, float(np.nanmax(np.where(w < 1e-5, reached / above, 0.0))))
    assert nearest > 0.99


@pytest.mark.parametrize("move", [1, -1])
@pytest.mark.parametrize("radii", [3, 25], ids=["few radii", "many radii"])
def test_a_wide_box_bounds_every_true_value_and_peak_in_it(
    move: Any, radii: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wide enough that every term of second order counts, and peaks at the edges of goals and beside them."""
    monkeypatch.setattr(truth_rows, "_RADII", radii)
    rng, n = np.random.default_rng(5), 96
    for name, form in (*((n, STRAIGHT) for n in PRIORS), ("normal", STEP), ("bounded", BENT)):
        factor = float(rng.choice([1.3, 6.0, 30.0]))
        along = drawn(name, float(rng.uniform(0.4, 1.5)), factor, move, form)
        t1 = rng.uniform(*PRIORS[name].quantile([0.03, 0.97]), n)
        t2 = np.minimum(t1 + rng.choice([1e-3, 0.1, 0.5], n), along.search.high)
        low, high = along.peaks(t1, t2)
        c = low + rng.choice([0.0, 0.02, 0.5, 1.0], n) * (high - low)
        peaks, epsilon = (
            np.stack([c, np.minimum(c + rng.choice([0.0, 0.3, 1.0], n), high)]),
            10.0 ** rng.uniform(-2, 0.3, n),
        )
        turns, share = rng.uniform(0.2, 1, (2, n)), np.linspace(0, 1, 5)[:, None, None]
        boxes = truth_rows.TruthBoxes(np.arange(n), np.stack([t1, t2]), peaks, turns, np.zeros(n, dtype=np.int64))
        asked = along.asked(boxes, epsilon)
        inner = t1 + share * (t2 - t1) + np.zeros((1, 3, 1))
        at = peaks[0] + np.linspace(0, 1, 3)[:, None] * (peaks[1] - peaks[0]) + 0 * inner
        rows = along._rows(np.broadcast_to(epsilon, at.shape).ravel(), (inner.ravel(), inner.ravel()), at.ravel())
        starts = np.broadcast_to(turns[:, None, None], (2, *at.shape)).reshape(2, -1)
        best = np.maximum(rows.reached(rows.nearer(starts, 3)), rows.reached(starts)).reshape(at.shape)
        assert np.all(best <= asked.most + 1e-13), (name, form, factor)


@pytest.mark.parametrize(
    ("bent", "far", "tight"), [(0.0, 1.0, 0.6), (0.05, 1.0, 0.6), (0.05, 0.02, 0.8)], ids=["straight", "bent", "near"]
)
def test_nothing_between_two_ends_of_a_box_exceeds_what_both_say(bent: float, far: float, tight: float) -> None:
    """Polygons that keep their slopes while their corners move, drawn: a fine grid comes near and not above."""
    rng, share = np.random.default_rng(4), np.linspace(0, 1, 21)[:, None, None]
    apart: list[float] = []
    for _ in range(300):
        slopes = np.stack([-np.sort(-rng.uniform(0.3, 2, 3)), np.sort(rng.uniform(0.02, 1, 3))])
        # Target or rest, end of the box, corner: far from each other, or hardly.
        steps = rng.uniform(0, 1, (2, 2, 3)) * rng.choice([1e-3, 0.3])
        start, height = 10 ** rng.uniform(-2, 0, (2, 2, 1)), 10 ** rng.uniform(-2, 0, (2, 2, 1))
        mass, told = (
            first + np.concatenate([np.zeros((2, 2, 1)), np.cumsum(by, axis=2)], axis=2)
            for first, by in ((start, steps), (height, slopes[:, None] * steps))
        )
        mass[:, 1], told[:, 1] = (v[:, 0] + far * (v[:, 1] - v[:, 0]) for v in (mass, told))
        bends = bent * rng.uniform(0, 1, (2, 1, 3)) * np.min(told)
        upper, lower = (MovedPolygon(np.stack([mass[i], told[i]])[:, :, None], bends[i]) for i in (0, 1))
        bound = most_risen(upper, lower, np.zeros((2, 1)))[0]
        along = np.linspace(0, 3, 13)
        edge = np.minimum(along, 2.99).astype(np.int64)
        (a, into), (b, out) = (
            [np.stack([np.interp(along, np.arange(4), v[i, end]) for end in (0, 1)]) for v in (mass, told)]
            for i in (0, 1)
        )
        moved = [(1 - share) * v[0] + share * v[1] for v in (a[:, :, None], into[:, :, None], b[:, None], out[:, None])]
        hill = 4 * share * (1 - share)
        moved[1] = moved[1] + hill * bends[0, 0][edge][:, None]
        moved[3] = moved[3] - hill * bends[1, 0][edge][None]
        top = float(np.max(moved[1] / (moved[1] + moved[3]) - moved[0] / (moved[0] + moved[2])))
        assert top <= bound
        still = [MovedPolygon(v.corners, 0 * v.bends) for v in (upper, lower)]
        ends = [
            most_risen(*(MovedPolygon(v.corners[:, [e, e]], v.bends) for v in still), np.zeros((2, 1)))[0]
            for e in (0, 1)
        ]
        apart.append((top - max(ends)) / max(bound - max(ends), 1e-12))
    assert max(apart) > tight  # what is added for the way between the ends is needed


def test_few_ends_of_boxes_and_true_values_far_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the last box the declared belief with larger odds is below the line; where boxes stay open, it is open."""
    for name, epsilon in (("normal", 0.05), ("normal", 0.5), ("exponential", 0.2), ("exponential", 0.9)):
        along = drawn(name, 0.7, 2.0, 1)
        line = ProvenLine(along, epsilon * np.array([1.0, 1.01]))
        found = along.range_of(line.epsilon, line.height)
        assert found is not None
        t = found[1] + np.array([0.0, 0.5, 3.0, 9.0])
        for e in (epsilon, 1.005 * epsilon):
            rows = along._rows(np.full(4, e), (t, t), t - 0.3)
            assert np.max(rows.reached(rows.nearer(np.full((2, 4), 0.5), 3))) <= np.interp(e, line.epsilon, line.height)
        assert found[0] == (PRIORS["normal"].mean if name == "normal" else 0.0)
        assert along.range_of(line.epsilon, 0 * line.height - 1) is None
    peaks = np.array([[2.0, 2.0, 4.0, 4.8], [2.2, 3.0, 5.0, 5.5]])
    some, kept = drawn("normal", 0.7, 2.0, 1).within(np.array([[3.0], [4.0]]) + np.zeros(4), peaks)
    assert kept[:, some] == pytest.approx(np.array([[2.3, 4.0], [3.0, 4.7]]))  # goals reach from 2.3 to 4.7
    for limit in ("_ROUNDS", "most_open", "most_looks"):
        with monkeypatch.context() as patch:
            patch.setattr(truth_curve if limit == "_ROUNDS" else MisjudgedAlongTruths, limit, 1)
            line = ProvenLine(drawn("normal", 0.7, 2.0, 1), np.array([0.1, 0.11, 0.12]))
            line.prove()
            assert line.open.all(), limit


def test_slopes_of_a_density() -> None:
    rng = np.random.default_rng(2)
    mixed = gp.mixture((0.4, gp.normal(0, 1)), (0.6, gp.laplace(2, 3)))
    for prior in (*PRIORS.values(), gp.laplace(1, 2), mixed):
        for a, b in np.sort(rng.uniform(-5, 8, (12, 2)), axis=1):
            least, most = (float(v) for v in prior.density_slopes(a, b))
            x = np.linspace(a, b, 400)
            slopes = np.diff(np.exp(prior.log_density(x))) / np.diff(x)
            assert least <= np.min(slopes) + 1e-9
            assert most >= np.max(slopes) - 1e-9
    assert [float(v) for v in PRIORS["uniform"].density_slopes(-4, 7)] == [0, 0]
    assert np.isinf(PRIORS["uniform"].density_slopes(-4.1, 7)).all()
    assert np.isinf(PRIORS["histogram"].density_slopes(-0.5, 0.5)).all()
    least, most = PRIORS["normal"].density_slopes(-20, 20)
    assert most == pytest.approx(np.exp(-0.5) / np.sqrt(2 * np.pi) / 9)
    assert least == -most


def test_peaks_are_cut_where_they_are_loose_however_wrong_the_prior() -> None:
    """What a tent holds more is worth most to a prior that is nowhere κ: boxes prove the line all the same."""
    search = gp.Attack(gp.within(gp.Attribute("x", gp.normal(-0.75, 3.1).given(-7.5, 3)), 2.0)).truth_search
    along = MisjudgedAlongTruths(search, 16.0, 1)
    line = proven(along, [0.02, 0.0205])
    assert np.all(line.height <= along.reached(line.places, 1.001 * line.epsilon))


@pytest.mark.parametrize("move", [1, -1])
def test_a_goal_that_may_be_certain_leaves_little_to_rise(move: Any) -> None:
    """Of some true value everything is correct; near it polygons say nothing, and the line is proven all the same."""
    along = MisjudgedAlongTruths(gp.Attack(gp.within(gp.Attribute("x", gp.uniform(0, 2)), 1.0)).truth_search, 1.5, move)
    t1 = np.array([0.2, 0.9, 1.0])
    most = along.left(t1, t1 + 0.1, np.full(3, 1e3), closely=True)  # so much that nearly all is told
    p = along.search.prior.mass(t1 + 0.05 - 1, t1 + 0.05 + 1)
    wrong = p * 1.5**-move / (p * 1.5**-move + 1 - p)  # the belief before at which most can be gained, or lost
    assert np.all((1 - wrong if move > 0 else wrong) <= most)
    line = ProvenLine(along, np.array([0.1, 0.102]))
    line.prove()
    assert move < 0 or not line.open.any()


def test_single_terms_of_a_box() -> None:
    """How far what tangents say leaves its chord, what a step raises between peaks, and the ends of all radii."""
    along, epsilon = drawn("normal", 0.7, 2.0, 1), np.array([0.3])
    t, half = np.array([-0.3]), np.array([0.2])  # the lower edge is one standard deviation below the mean
    goals = along._rows(epsilon, (t - half, t + half), t).goals
    prior, x = PRIORS["normal"], np.linspace(-1.3, 0.7, 20001)
    for slope in (0.7, 0.95, 1.2):  # nowhere, somewhere and everywhere above the likelihood in the goal
        for way, sign in ((1, 1), (-1, -1)):
            w = np.exp(-0.3 * np.abs(x - t)) - slope
            density = np.where(way * w > 0, 2.0, 1.0) * w * np.exp(prior.log_density(x))
            heights = [sign * np.trapezoid(density[(x >= m - 0.7) & (x <= m + 0.7)], x[(x >= m - 0.7) & (x <= m + 0.7)])
                       for m in (-0.5, -0.3, -0.1)]  # fmt: skip
            above = way * (heights[1] - 0.5 * (heights[0] + heights[2]))
            bends = [
                strip.bends(np.array([[slope]]), way, out, np.ones(1), 2.0)[0, 0]
                for strip, out in zip(goals.strips(), (-sign, sign), strict=True)
            ]
            allowed = 0.5 * half[0] ** 2 * sum(bends)
            assert above <= allowed + 1e-6
            assert allowed <= 1.5 * max(above, 0.0) + 6e-4
    least, most = goals.strips()[0].bends_of_mass
    assert least <= np.exp(-0.5) / np.sqrt(2 * np.pi) / 9 <= most
    boxes = truth_rows.TruthBoxes(np.array([0]), np.stack([t, t]), np.stack([t, t + 0.3]), t, np.array([0]))
    plain, stepped = (drawn("normal", 0.7, 2.0, 1, form)._more(boxes, epsilon)[0] for form in (STRAIGHT, STEP))
    assert stepped == pytest.approx(plain * np.exp(0.3 * 0.5))
    peaks = (
        drawn("bounded", 0.7, 2.0, 1, BENT)
        ._rows(epsilon, (t - 1e-7, t + 1e-7), t)
        .looked(np.full((2, 1), 0.5), np.array([0.03]))
    )
    for corners in (peaks.upper, peaks.lower):  # where ψ is flat too, h is 1 everywhere at first and κ at last
        assert corners[..., -1] == pytest.approx(2 * corners[..., 0], rel=1e-5)


def test_masses_that_rounding_leaves_above_one_are_one() -> None:
    line = ProvenLine(drawn("histogram", 0.7, 2.0, 1), np.array([0.1, 0.11]))
    prior = replace(PRIORS["histogram"])
    object.__setattr__(prior, "mass", lambda a, b: np.full(np.shape(a), 1 + 2e-16))
    line.along = MisjudgedAlongTruths(replace(line.along.search, prior=prior), 2.0, 1)
    line.proof, none = line.along, np.zeros((2, 1))
    boxes = CurveBoxes.new(none.astype(np.int64), np.array([[1.0], [2.0]]), none, np.zeros((2, 2, 1)), none[0])
    assert np.all(line._before(boxes) == 1.0)


def test_first_boxes_leave_no_true_value_out() -> None:
    """Whatever rounding makes of the last one: a box from there to the end of the range would be lost."""
    along, rng = drawn("uniform", 0.7, 2.0, 1), np.random.default_rng(1)
    for _ in range(60):
        low, high = -float(rng.uniform(0.1, 4)), float(rng.uniform(0.1, 7))
        truths, peaks = along.first_boxes(np.array([rng.uniform(low, high), 0.5, 0.5, 0.5]), (low, high))
        ends = np.unique(truths, axis=1)
        assert (ends[0, 0], ends[1, -1]) == (low, high)
        assert np.array_equal(ends[0, 1:], ends[1, :-1])
        first, last = along.peaks(*ends)
        for t1, t2, c1, c2 in zip(*ends, first, last, strict=True):
            own = np.sort(peaks[:, (truths[0] == t1) & (truths[1] == t2)], axis=1)
            assert (own[0, 0], own[1, -1]) == (c1, c2)
            assert np.array_equal(own[0, 1:], own[1, :-1])


@pytest.mark.parametrize("move", [1, -1])
def test_polygons_reach_as_far_as_the_masses_of_all_goals_and_their_slopes_as_far_as_likelihoods(move: Any) -> None:
    """Between the ends of a box a goal holds more than both say, or less; and its values lie nearer and further."""
    along, epsilon, prior = drawn("normal", 0.7, 2.0, move), 0.4, PRIORS["normal"]
    for middle, half, peak in ((2.0, 0.5, 2.1), (6.0, 0.4, 5.9), (2.0, 0.3, 2.9)):
        t, c = np.array([middle]), np.array([peak])
        looked = along._rows(np.array([epsilon]), (t - half, t + half), c).looked(
            np.full((2, 1), 0.5), np.array([0.03])
        )
        parts = (looked.upper, looked.lower) if move > 0 else (looked.lower, looked.upper)
        for share in np.linspace(0, 1, 9):
            lo, hi = (middle + (2 * share - 1) * half + way * 0.7 for way in (-1, 1))
            mass = float(prior.mass(lo, hi))
            away = max(hi - peak, peak - lo), max(min(hi - peak, peak - lo), 0.0)
            for part, held, radius, side in zip(parts, (mass, 1 - mass), away, (1, -1), strict=True):
                masses = (1 - share) * part[0, 0, 0] + share * part[0, 1, 0]
                assert masses[0] <= held + 1e-15
                assert masses[-1] >= 2 * held - 1e-15
                last = np.diff(part[1, :, 0])[:, -1] / np.diff(part[0, :, 0])[:, -1]
                assert np.all(side * move * (last - np.exp(-move * epsilon * radius)) <= 1e-12)


def test_likelihoods_that_are_tiny_everywhere_bound_no_less() -> None:
    """A belief does not tell them from larger ones; what underflows on the way is not taken for nothing."""
    mass, told = np.array([[0.1, 0.3], [0.4, 0.5]]), np.array([[0.2, 0.3], [0.5, 0.55]])
    bounds = list[float]()
    for scale in (1.0, 1e-200):
        upper = MovedPolygon(np.stack([mass, scale * told])[:, :, None], np.full((1, 1), 0.02 * scale))
        lower = MovedPolygon(np.stack([mass[::-1], scale * told[::-1]])[:, :, None], np.full((1, 1), 0.02 * scale))
        bounds.append(float(most_risen(upper, lower, np.zeros((2, 1)))[0]))
    assert bounds[0] < 0.9
    assert bounds[1] >= bounds[0] - 1e-12


@pytest.mark.parametrize("centre", [0.0, 0.01, 0.4, 0.97, 1.0])
def test_radii_lie_on_both_sides_of_a_turn_however_near_to_an_end_it_is(centre: float) -> None:
    """Where one side had none but its end, polygons there were far from what they bound, and boxes small."""
    made = dense(np.array([centre]), 5, 0.03)[0]
    assert made[[0, 2, 4]].tolist() == [0.0, centre, 1.0]
    assert np.all(np.diff(made) >= 0)
    for side, beside in ((centre, made[2] - made[1]), (1 - centre, made[3] - made[2])):
        assert (0 < beside < side) if side else beside == 0


@pytest.mark.parametrize("epsilon", [0.1, 0.4])
def test_attacks_are_climbed_to_from_far_away(epsilon: float) -> None:
    """Steps stay long until the best one lies within them."""
    along = drawn("normal", 0.7, 2.0, 1)
    best = along.climbed(along._first(np.array([epsilon]))[1], np.array([epsilon]))[0]
    start = np.array([[7.0], [0.9], [0.9], [0.3]])
    assert along.reached(start, np.array([epsilon]))[0] < 0.95 * best[0]
    assert along.climbed(start, np.array([epsilon]))[0] == pytest.approx(best, rel=1e-5)
