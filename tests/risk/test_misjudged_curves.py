"""The worst true value under a prior that may be wrong: boxes of true values and peaks bound all attacks at every ε."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk import gaps
from guessproof.risk.gaps import gap_of_boxes, gap_of_tents
from guessproof.risk.misjudged import truth_curve, truth_rows
from guessproof.risk.misjudged.along_truths import MisjudgedAlongTruths
from guessproof.risk.misjudged.tents import MisjudgedGoal, TentRanges
from guessproof.risk.misjudged.truth_boxes import MovedPolygon, most_risen
from guessproof.risk.misjudged.truth_curve import CurveBoxes, ProvenLine
from guessproof.risk.rising import Further, Rising, bound_of, inverse_of
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.line_form import LineForm

STRAIGHT, STEP = LineForm(slopes=(1.0,)), LineForm(slopes=(1.0,), step=0.5)
BENT = LineForm((0.5, 4.0), (0.0, 1.0, 0.3), (0.0, 0.0))
PRIORS: dict[str, Any] = {
    "normal": gp.normal(2, 3),
    "bounded": gp.normal(2, 3).given(-1, 6),
    "uniform": gp.uniform(-4, 7),
    "laplace": gp.laplace(1, 2).given(-4, 9),
    "histogram": gp.histogram([-3, -1, 0, 4, 5], [0.1, 0.4, 0.2, 0.3]),
    "exponential": gp.exponential(2),
    "lognormal": gp.lognormal(2, 0.6),
    "beta": gp.beta(2, 3, -2, 6),
}


def drawn(name: str, radius: float, factor: float, move: Any, form: LineForm = STRAIGHT) -> MisjudgedAlongTruths:
    bounds = (0, 9) if name == "lognormal" else None
    search = gp.Attack(gp.within(gp.Attribute("x", PRIORS[name], bounds=bounds), radius)).truth_search
    low = search.low if form.is_straight else PRIORS[name].support[0]
    return MisjudgedAlongTruths(replace(search, form=form, low=low), factor, move)


def proven(along: MisjudgedAlongTruths, epsilon: Any) -> ProvenLine:
    """The line through some ε, all of it proven."""
    line = ProvenLine(along, np.asarray(epsilon))
    line.prove()
    assert not line.open.any(), along
    return line


@pytest.mark.parametrize("move", [1, -1])
def test_no_true_value_peak_or_wrong_prior_exceeds_a_line_and_it_is_close(move: Any) -> None:
    """At nodes and between them, which are far apart: what is looked up there is never below an attack."""
    rng = np.random.default_rng(3)
    drawn_from = ("normal", STEP), ("bounded", STRAIGHT), ("uniform", STRAIGHT), ("normal", BENT), ("beta", STRAIGHT)
    for name, form in (*drawn_from, ("lognormal", STRAIGHT)) if move > 0 else drawn_from:
        factor, radius = float(rng.choice([1.2, 1.5, 4.0])), float(rng.uniform(0.5, 1.5))
        along = drawn(name, radius, factor, move, form)
        line = proven(along, 10.0 ** rng.uniform(-2.5, -0.3) * np.array([1.0, 1.01, 1.03, 1.05]))
        assert np.all(line.value <= line.height)
        assert np.all(line.height <= along.reached(line.places, line.epsilon * 1.001)), (name, factor)
        goal = MisjudgedGoal(along.world, along.search.edges, *along.attacked, factor)
        for _ in range(6):
            epsilon = float(rng.uniform(line.epsilon[0], line.epsilon[-1]))
            axes = [rng.uniform(0, 1, n) for n in (21, 7, 7, 7)]
            axes[2][:2], axes[3][:2] = (0.0, 1.0), (0.0, 1.0)
            reached = np.max(TentRanges.of(goal).advantages(axes, epsilon, move))
            known = along.nearer(line.places, np.full(line.epsilon.size, epsilon))[0]
            assert max(reached, np.max(known)) <= np.interp(epsilon, line.epsilon, line.height)


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


def test_what_a_wrong_prior_makes_of_gaps() -> None:
    """Drawn wrong priors, peaks of a box and parts of the values: none has a larger gap, and some nearly as large."""
    rng, share = np.random.default_rng(9), np.linspace(0, 1, 9)[1:-1]
    x = (np.arange(6000) + 0.5) / 6000 * 24 - 12
    tight = dict.fromkeys((1.5, 16.0), 0.0)
    for prior in (gp.normal(0, 2), gp.laplace(0, 1.5), gp.uniform(-5, 6)):
        world, f = TiltedIntegrals(prior, STRAIGHT), np.exp(prior.log_density(x))
        for factor in tight:
            for width in (0.0, 0.2):
                c, (first, second) = float(rng.uniform(-2, 2)), np.sort(rng.uniform(0.05, 0.6, 2))
                low, high = c - rng.uniform(0.2, 1), c + rng.uniform(0.2, 1)
                peaks, rates = (np.array([c]), np.array([c + width])), (np.array([first]), np.array([second]))
                ends = np.array([-np.inf]), np.array([np.inf])
                parts = [(ends[0], np.array([low + width])), (np.array([high]), ends[1])], [
                    (ends[0], np.array([low])), (np.array([high + width]), ends[1])]  # fmt: skip
                every = [(ends[0], ends[1])]
                for pieces, at_least, at_most in (((every, every), 1.0, -1.0), (parts, low, high)):
                    gap, alone = (float(g[0]) for g in gap_of_boxes(world, pieces, peaks, rates, factor))
                    assert alone <= gap
                    for peak in (c, c + width / 2, c + width):
                        move = rng.uniform(0, width)
                        part = (x <= at_least + move) | (x >= at_most + move)
                        far = np.abs(np.abs(x - peak) - rng.uniform(0, 6, (40, 1)))
                        wrong = np.where(far > rng.uniform(0, 4, (40, 1)), factor, 1.0)
                        epsilon = np.concatenate([[first, second], (1 - share) * first + share * second])
                        weight = np.exp(-np.multiply.outer(epsilon, np.abs(x - peak))) * f * part
                        logs = np.log(wrong @ weight.T)
                        below = np.expm1((1 - share) * logs[:, :1] + share * logs[:, 1:2] - logs[:, 2:])
                        assert np.all(below <= 4 * share * (1 - share) * gap * (1 + 1e-6))
                        if width == 0:
                            tight[factor] = max(tight[factor], float(np.max(below / (4 * share * (1 - share) * gap))))
    assert tight[1.5] > 0.7
    assert tight[16.0] > 0.5


def test_a_weight_above_an_exponential() -> None:
    x = np.linspace(0, 30, 300_001)
    assert np.all(gaps._WEIGHT[0] + gaps._WEIGHT[1] * np.cosh(2 * x) >= np.exp(x))


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


def test_the_gap_below_a_chord_is_enough_at_every_place_of_it() -> None:
    """One peak: what is allowed for, and what is nearly all of it; lopsided, and with wide intervals."""
    share = np.linspace(0, 1, 21)[1:-1]
    for prior in (gp.normal(0, 1), gp.exponential(1), gp.uniform(0, 3)):
        world = TiltedIntegrals(prior, STRAIGHT)
        for peak in (0.1, 2.0):
            for first, second in ((0.3, 0.34), (0.3, 0.5), (0.5, 2.0), (1.0, 4.0)):
                at, ends = np.array([peak]), (np.array([first]), np.array([second]))
                gap = float(gap_of_tents(world, at, at, *ends, 1)[0])
                total = log_totals(world, peak, np.concatenate([[first, second], (1 - share) * first + share * second]))
                below = np.expm1((1 - share) * total[0] + share * total[1] - total[2:])
                assert np.all(below <= 4 * share * (1 - share) * gap)
                assert second > 0.5 or gap <= 1.16 * below[9] + 1e-9


def log_totals(world: TiltedIntegrals, peak: float, k: Any) -> Any:
    at, ends = np.full(k.size, peak), np.full(k.size, np.inf)
    return np.logaddexp(world.log_tilt(k, -ends, at, at), world.log_tilt(-k, at, ends, at))


def test_what_a_chord_lies_above_in_terms_of_a_hyperbolic_sine() -> None:
    """(xeˣ − sinh x)/2 bounds what is left of cosh x + τ·sinh x − e^{τx} after 1 − τ², and 0.566·sinh²x bounds that."""
    x = np.linspace(1e-3, 30, 30_000)
    most = 0.5 * (x * np.exp(x) - np.sinh(x))
    assert np.max(most / np.sinh(x) ** 2) == pytest.approx(2 * gaps.OF_SINH, rel=1e-4)
    assert np.all(most <= 2 * gaps.OF_SINH * np.sinh(x) ** 2)
    for tau in (-0.999, -0.5, 0.0, 0.7, 0.999):
        for way in (1, -1):
            above = np.cosh(x) + tau * way * np.sinh(x) - np.exp(tau * way * x)
            assert np.all(above <= (1 - tau**2) * most * (1 + 1e-9) + 1e-12)


def test_rooms_are_enough_for_every_belief_before() -> None:
    """Beliefs along a chord of logarithms, with 4θ(1−θ)g above it, from any belief up to some: below a parabola."""
    rng, share = np.random.default_rng(6), np.linspace(0, 1, 101)
    tight = 0.0
    for _ in range(300):
        before, gap = float(rng.uniform(0, 0.6)), float(rng.choice([0.0, 1e-4, 1e-2]))
        climbs = np.sort(rng.uniform(0, 0.4, 2) * rng.choice([1.0, 0.05]))
        room = float(gaps.room_by_ratio(np.array(gap), before, (np.array(climbs[0]), np.array(climbs[1]))))
        for p in np.linspace(0, before, 4):
            belief = (p + climbs[0]) ** (1 - share) * (p + climbs[1]) ** share * (1 + 4 * share * (1 - share) * gap)
            above = belief - p - (1 - share) * climbs[0] - share * climbs[1]
            assert np.all(above <= 4 * share * (1 - share) * room + 1e-15)
            tight = max(tight, float(np.max(above)) / max(room, 1e-9))
    assert tight > 0.9


@pytest.mark.parametrize("name", ["bounded", "uniform", "histogram"])
def test_an_attack_at_a_kink_is_found_there(name: str) -> None:
    """Beside it, boxes would stay open."""
    along = drawn(name, 0.7, 1.5, 1)
    for epsilon in (0.01, 0.2):
        line = proven(along, [epsilon, 1.02 * epsilon])
        assert np.min(np.abs(along._kinks - line.places[0, 0])) <= 1e-12


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


def test_a_better_attack_that_boxes_come_upon_raises_the_line() -> None:
    """From attacks at a wrong place everything is proven as from the best ones."""
    along = drawn("normal", 0.7, 2.0, 1)
    epsilon = np.array([0.2, 0.21, 0.22])
    line, best = ProvenLine(along, epsilon), proven(along, epsilon)
    line.places[0] = 8.0
    line.value = along.reached(line.places, epsilon)
    line.height[:] = 0.0
    line._lift(np.arange(3))
    assert np.all(line.height < 0.8 * best.value)
    line.prove()
    assert not line.open.any()
    assert line.value == pytest.approx(best.value, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "factor", "high"), [("normal", 2.0, 0.38), ("uniform", 16.0, 0.38), ("laplace", 1.5, 0.35)]
)
def test_a_curve_for_the_worst_true_value_of_a_wrong_prior(name: str, factor: float, high: float) -> None:
    """Up to usual limits and beyond: within its share of ε of what an attack reaches, at and between nodes."""
    curve = gp.Curve(gp.Attack(gp.within(gp.Attribute("x", PRIORS[name]), 1.0), prior_factor=factor))
    rise, along = curve.rise, drawn(name, 1.0, factor, 1)
    assert curve.within <= 1e-3
    assert rise.bound[0] < 1e-4
    assert rise.bound[-1] > high
    epsilon = np.geomspace(2 * rise.epsilon[0], rise.epsilon[-1], 23)[:-1]
    value = along.climbed(along._first(epsilon)[1], epsilon)[0]
    for e, reached in zip(epsilon, value, strict=True):
        assert reached <= curve.advantage(float(e))
        assert e * 0.999 <= curve.epsilon(advantage=float(reached)) <= e * (1 + 1e-6)


def test_where_an_attack_becomes_another_one_a_node_is_put() -> None:
    """A chord across the kink would lose more than its share of ε."""
    attack = gp.Attack(gp.within(gp.Attribute("x", gp.laplace(0, 2)), 1.0), prior_factor=1.5)
    along = MisjudgedAlongTruths(attack.truth_search, 1.5, 1)
    epsilon = np.linspace(0.3, 0.5, 31)
    kinks = np.setdiff1d(ProvenLine(along, epsilon).epsilon, epsilon)
    assert kinks.size == 1
    beside = kinks[0] * np.array([0.99, 1.01])
    truths = along.climbed(along._first(beside)[1], beside)[1][0]
    assert truths[0] == pytest.approx(0.0, abs=1e-6)
    assert truths[1] > 1.0


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


def test_high_limits_are_answered_from_a_part_that_is_made_when_they_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on where the first part ends, rises, and is never below an attack; what is not proven is not kept."""
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIORS["histogram"]), 1.0), prior_factor=1.5)
    curve, along = gp.Curve(attack), drawn("histogram", 1.0, 1.5, 1)
    assert not curve._made_further
    end = float(curve.rise.bound[-1])
    found = [curve.epsilon(advantage=limit) for limit in (0.9 * end, 1.05 * end, 1.2 * end)]
    assert set(curve._made_further) == {"rise"}
    further = curve._further("rise")
    assert further is not None
    assert further.parts
    for limit, epsilon in zip((1.05 * end, 1.2 * end), found[1:], strict=True):
        at = np.array([epsilon, 1.001 * epsilon])
        below, above = along.climbed(along._first(at)[1], at)[0]
        assert below <= limit <= above
    inner = np.linspace(found[0], found[2], 200)
    assert np.all(np.diff([curve.advantage(float(e)) for e in inner]) >= 0)
    monkeypatch.setattr(MisjudgedAlongTruths, "most_open", 0)
    assert truth_curve.curve_of_truths(along.search, 1.5, 1, 0.3, after=0.0) is None


def test_of_a_line_only_what_is_proven_is_kept() -> None:
    """A node is proven by an interval beside it; an open interval between two such nodes by the right one."""
    line = ProvenLine(drawn("normal", 0.7, 2.0, 1), 0.1 + 0.01 * np.arange(8))
    for is_open, nodes in (("0000000", (0, 7)), ("0011000", (4, 7)), ("0010111", (0, 4)), ("1101111", (2, 3))):
        line.open = np.array([mark == "1" for mark in is_open])
        kept = line.proven
        assert kept is not None
        assert (kept.epsilon[0], kept.epsilon[-1]) == (line.epsilon[nodes[0]], line.epsilon[nodes[1]]), is_open
    line.open[:] = True
    assert line.proven is None


def test_a_curve_of_which_nothing_is_proven_asks_the_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    """What attacks reach, a little above it, is no bound."""
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIORS["normal"]), 0.7), prior_factor=2.0)
    monkeypatch.setattr(truth_curve, "_ROUNDS", 0)
    curve = gp.Curve(attack)
    assert curve.rise.at(0.2) is None
    assert curve.within == 0
    assert curve.advantage(0.2) == attack.advantage(0.2).bound


def test_attacks_turn_among_values_beyond_a_bound() -> None:
    """Where ψ is flat the best wrong prior is κ on some of what is equally far, which no distance tells: 0.6 % more."""
    cells, weights = [0, 10.4, 36.5, 183.6, 208.6, 216.1, 219.7], [0.44, 0.16, 0.39, 0, 0.002, 0.008]
    prior, clamped = gp.histogram(cells, weights), gp.Clamped(6.3, 171.2)
    attack = gp.Attack(gp.within(gp.Attribute("x", prior, metric=clamped), 4.74), prior_factor=4.0)
    rise, epsilon, lo, hi = gp.Curve(attack).rise, 0.006, 0.14, 9.62
    bound, most = rise.at(epsilon), 0.0
    assert bound is not None
    x = (np.arange(40_000) + 0.5) / 40_000 * 219.7
    f, is_in = np.exp(prior.log_density(x)), (x >= lo) & (x <= hi)
    likely = np.exp(-epsilon * (np.clip(x, 6.3, 171.2) - 6.3))
    for part in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        for far in np.linspace(10, 160, 16):
            h = np.where(is_in & (x <= lo + part * (6.3 - lo)) | ~is_in & (x >= far), 4.0, 1.0)
            before, after = (np.sum((w * h * f)[is_in]) / np.sum(w * h * f) for w in (np.ones_like(x), likely))
            most = max(most, float(after - before))
    assert most <= np.interp(epsilon, rise.epsilon, rise.value) <= bound <= 1.01 * most
    assert rise.loose <= 1e-3


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


def test_what_the_rest_lacks_lowers_what_all_is_divided_by() -> None:
    """Corners that do not move: A/(A + B − q') is reached midway, to the last digit."""
    upper = MovedPolygon(np.array([1.0, 1.0])[:, None, None, None] * np.ones((1, 2, 1, 2)), np.zeros((1, 1)))
    lower = MovedPolygon(np.array([3.0, 0.1])[:, None, None, None] * np.ones((1, 2, 1, 2)), np.full((1, 1), 0.09))
    assert most_risen(upper, lower, np.zeros((2, 1)))[0] == pytest.approx(1 / 1.01 - 1 / 4, abs=1e-12)


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


def test_a_parabola_is_compared_with_a_line_between_nodes_too() -> None:
    """At nodes it may lie on the line and yet exceed it between them."""
    line = ProvenLine(drawn("normal", 0.7, 2.0, 1), np.array([0.1, 0.2, 0.3]))
    none, nodes = np.zeros((2, 1)), np.array([[0], [2]])
    boxes = replace(CurveBoxes.new(nodes, none, none, np.zeros((2, 2, 1)), np.zeros(1, dtype=np.int64)), most=none)
    for above, is_below in ((0.0, False), (0.024, False), (0.026, True)):
        line.height = np.array([0.0, 0.1, 0.0]) + above
        assert line._compared(boxes, np.array([0.1]))[0][0] == is_below
    line.height = np.array([0.1, -0.1, 0.1])
    assert not line._compared(boxes, np.zeros(1))[0][0]


def test_a_step_is_part_of_what_a_ratio_is_compared_with() -> None:
    """Far larger than all that the prior spreads by: the belief leaves its chord by what the step does."""
    form = LineForm(slopes=(1.0,), step=60.0)
    along = drawn("normal", 2.0, 1.2, 1, form)
    line, t = ProvenLine(along, np.array([0.01, 0.1])), np.array([2.0])
    turns, nodes = np.repeat(line.places[2:, [0]][None], 2, axis=0), np.array([[0], [line.epsilon.size - 1]])
    ends = np.stack([t, t])
    boxes = line._looked(CurveBoxes.new(nodes, ends, ends, turns, np.zeros(1, dtype=np.int64)))
    line.height[:] = 1.0
    room = line._by_ratio(boxes, line._climbs(boxes))[0][0]
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        rows = along._rows((1 - share) * line.epsilon[:1] + share * line.epsilon[-1:], (t, t), t)
        above = rows.reached(rows.nearer(turns[0], 4))[0] - (1 - share) * boxes.most[0, 0] - share * boxes.most[1, 0]
        assert above <= 4 * share * (1 - share) * room


def test_what_a_smaller_part_has_less_divides_its_gap() -> None:
    """Most of the larger part is equally far from the peak; without it s varies much more."""
    prior = gp.histogram([-8, -7, -1.01, -1, 1, 1.01, 7, 8], [0.003, 0, 0.003, 0.01, 0.98, 0, 0.004])
    world, share = TiltedIntegrals(prior, STRAIGHT), np.linspace(0, 1, 9)[1:-1]
    ends, (lo, hi1, hi2) = (np.array([-np.inf]), np.array([np.inf])), (np.array([v]) for v in (-1.0, 1.0, 1.01))
    parts = [(ends[0], lo), (hi1, ends[1])], [(ends[0], lo), (hi2, ends[1])]
    first, second, c = np.array([0.1]), np.array([0.2]), np.zeros(1)
    gap = float(gap_of_boxes(world, parts, (c, c), (first, second), 1.0)[0][0])
    rates = np.concatenate([first, second, (1 - share) * first + share * second])
    logs = np.array([gaps._log_part(world, parts[1], c, np.array([k]))[0] for k in rates])
    below = np.expm1((1 - share) * logs[0] + share * logs[1] - logs[2:])
    assert np.all(below <= 4 * share * (1 - share) * gap)


def test_what_the_square_of_a_gap_is_at_most() -> None:
    """E[φ²] as it is, for tents and valleys at one peak: never more than said, and not much less."""
    x, share, tight = (np.arange(6000) + 0.5) / 6000 * 24 - 12, np.linspace(0, 1, 9)[1:-1], 0.0
    for prior in (gp.normal(0, 2), gp.laplace(0, 1.5).given(-9, 9), gp.uniform(-5, 6)):
        f = np.exp(prior.log_density(x))
        for sign, c, (first, second) in ((1, 0.3, (0.2, 0.25)), (1, -2.0, (0.1, 0.5)), (-1, 1.0, (0.05, 0.1))):
            s, middle, half = -np.abs(x - c), sign * 0.5 * (first + second), 0.5 * (second - first)
            logs = np.log([[np.sum(np.exp((middle + n * half) * s) * f)] for n in (0, -2, 2, -4, 4, -6, 6)])
            spread = float(gaps._spread_near(logs, 0.0, 0.0, 0.0)[0])
            weight = np.exp(middle * s) * f
            u = s - np.sum(s * weight) / np.sum(weight)
            for theta in share:
                change = 2 * half * u
                phi = (1 - theta) * np.exp(-theta * change) + theta * np.exp((1 - theta) * change) - 1
                at = np.exp((middle + (2 * theta - 1) * half) * s) * f
                found = np.sum(np.square(phi) * at) / np.sum(at) / (4 * theta * (1 - theta)) ** 2
                assert found <= spread
                tight = max(tight, found / spread)
    assert tight > 0.6


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


@pytest.mark.parametrize("factor", [1.5, 40.0])
def test_what_bounds_a_gap_solves_its_equation(factor: float) -> None:
    """v² = e·v + (κ−1)·E[φ²]/4, with e and E[φ²] as they are bounded without a wrong prior."""
    world, every = TiltedIntegrals(gp.normal(0, 2), STRAIGHT), [(np.array([-np.inf]), np.array([np.inf]))]
    c, first, second = np.array([0.5]), np.array([0.2]), np.array([0.24])
    plain, wrong = (float(gap_of_boxes(world, (every, every), (c, c), (first, second), k)[0][0]) for k in (1.0, factor))
    logs = np.stack([gaps._log_part(world, every, c, np.array([0.22 + n * 0.02])) for n in (0, -2, 2, -4, 4, -6, 6)])
    spread = float(gaps._spread_near(logs, 0.0, 0.0, 0.0)[0])
    solved = wrong * wrong - plain * wrong - (factor - 1) * spread / 4
    assert solved == pytest.approx(0, abs=1e-3 * wrong * wrong) or wrong == pytest.approx(factor * plain)
    assert factor < 2 or wrong < 0.9 * factor * plain


@pytest.mark.filterwarnings("error")
def test_a_curve_that_has_levelled_has_no_second_part() -> None:
    """Goals that nearly everybody meets: no advantage is left that a higher limit would allow."""
    prior = gp.histogram([-110, -80, -60, -20], [0.3, 0.4, 0.3])
    column = gp.Attribute("x", prior, metric=gp.Clamped(-72, -40, 13), bounds=(-74, -35))
    curve = gp.Curve(gp.Attack(gp.within(column, 90), prior_factor=100))
    further = curve._further("rise")
    assert further is not None
    assert not list(further.each())


def parts_with_gaps() -> tuple[Rising, Rising]:
    """The first ends at ε = 2, the second begins at 3; both lie above ε/10."""
    first = Rising(np.array([1.0, 2.0]), np.array([0.1, 0.2]), np.array([0.11, 0.22]), np.zeros(1))
    return first, Rising(np.array([3.0, 4.0]), np.array([0.3, 0.4]), np.array([0.31, 0.42]), np.zeros(1))


def test_between_parts_others_may_say_no_less_than_the_last_and_no_more_than_the_next() -> None:
    parts = parts_with_gaps()
    for limit, least, most in ((0.05, 0.0, 0.11), (0.22, 2.0, 0.31), (0.3, 2.0, 0.31)):
        assert inverse_of(parts, limit) == (least, inverse_of(parts, most)[1])
    for limit, epsilon in ((0.11, 1.0), (0.31, 3.0)):
        assert inverse_of(parts, limit)[0] == inverse_of(parts, limit)[1] == pytest.approx(epsilon)
    assert [inverse_of(parts, limit) for limit in (0.42, 0.9)] == [(4.0, np.inf)] * 2
    assert bound_of(parts, 0.5) == (0.0, 0.11)
    assert bound_of(parts, 2.0) == (0.22, 0.22)
    assert bound_of(parts, 2.5) == (0.22, 0.31)
    assert bound_of(parts, 5.0) == (0.42, np.inf)
    higher = parts[0], replace(parts[1], epsilon=np.array([2.0, 4.0]))  # no ε lies between them
    assert inverse_of(higher, 0.25) == (2.0, 2.0)


@pytest.mark.parametrize("off", [0.5, 0.99, 1.0, 1.2])
def test_a_curve_rises_across_what_is_asked_of_the_attack(monkeypatch: pytest.MonkeyPatch, off: float) -> None:
    """What the attack proves may be looser, or closer, than what the parts before and after it do."""
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIORS["normal"]), 1.0), prior_factor=1.5)
    curve, (first, second) = gp.Curve(attack), parts_with_gaps()
    further = Further(2.0, lambda _: None, [second], is_whole=True)
    curve.__dict__.update(rise=first, _made_further={"rise": further})
    monkeypatch.setattr(gp.Attack, "epsilon", lambda *_, advantage, **__: 10 * advantage * off)
    monkeypatch.setattr(gp.Attack, "advantage", lambda _, e, __: gp.Bracket.meet(0.0, min(0.1 * e / off, 1.0), "drawn"))
    limits, epsilons = np.linspace(0.01, 0.9, 300), np.linspace(0.1, 9.0, 300)
    assert np.all(np.diff([curve.epsilon(advantage=float(v)) for v in limits]) >= 0)
    assert np.all(np.diff([curve.advantage(float(e)) for e in epsilons]) >= 0)
    assert curve.epsilon(advantage=0.22) == max(2.0, 2.2 * off)


def test_what_is_proven_stays_proven_where_a_line_is_loosened_beside_it() -> None:
    """Looks that are too many for some nodes are no reason to give up others that nothing is left to ask of."""
    line = ProvenLine(drawn("normal", 1.0, 1.5, 1), np.geomspace(0.05, 0.2, 24))
    line.prove()
    assert not line.open.any()
    before, line.open[10:12], line.looks = line.height.copy(), True, 0
    line.loosen()
    assert np.flatnonzero(line.open).tolist() == [10, 11]
    assert np.all(line.height >= before)
    assert np.all(np.diff(line.height) >= 0)
    line.looks = 10**6
    line.loosen()
    assert not line.open.any()
