"""The worst true value under a prior that may be wrong: boxes of true values and peaks bound all attacks at every ε."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk import gaps, rising
from guessproof.risk.curve import _MisjudgedTruths
from guessproof.risk.gaps import gap_of_tents
from guessproof.risk.misjudged import along_truths, truth_rows
from guessproof.risk.misjudged.along_truths import MisjudgedAlongTruths
from guessproof.risk.misjudged.tents import MisjudgedGoal, TentRanges
from guessproof.risk.misjudged.truth_boxes import most_risen
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


@pytest.mark.parametrize("move", [1, -1])
def test_no_true_value_peak_or_wrong_prior_exceeds_a_bound_and_it_is_close(move: Any) -> None:
    rng = np.random.default_rng(3)
    drawn_from = ("normal", STEP), ("bounded", STRAIGHT), ("uniform", STRAIGHT), ("normal", BENT), ("beta", STRAIGHT)
    for name, form in (*drawn_from, ("lognormal", STRAIGHT)) if move > 0 else drawn_from:
        factor, radius = float(rng.choice([1.2, 1.5, 4.0])), float(rng.uniform(0.5, 1.5))
        along = drawn(name, radius, factor, move, form)
        epsilon = np.array([10.0 ** rng.uniform(-2.5, -0.3)])
        value, bound = along.measure(epsilon)
        assert value[0] <= bound[0] <= value[0] * 1.0005, (name, value, bound)
        goal = MisjudgedGoal(along.world, along.search.edges, *along.attacked, factor)
        axes = [rng.uniform(0, 1, n) for n in (25, 7, 9, 9)]
        axes[2][:2], axes[3][:2] = (0.0, 1.0), (0.0, 1.0)
        assert np.max(TentRanges.of(goal).advantages(axes, float(epsilon[0]), move)) <= bound[0]


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
        asked = along._asked(boxes, epsilon)
        inner = t1 + share * (t2 - t1) + np.zeros((1, 3, 1))
        at = peaks[0] + np.linspace(0, 1, 3)[:, None] * (peaks[1] - peaks[0]) + 0 * inner
        rows = along._rows(np.broadcast_to(epsilon, at.shape).ravel(), (inner.ravel(), inner.ravel()), at.ravel())
        starts = np.broadcast_to(turns[:, None, None], (2, *at.shape)).reshape(2, -1)
        best = np.maximum(rows.reached(rows.nearer(starts, 3)), rows.reached(starts)).reshape(at.shape)
        assert np.all(best <= asked.most + 1e-13), (name, form, factor)


def test_nothing_between_two_ends_of_a_box_exceeds_what_both_say() -> None:
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
        upper, lower = (np.stack([mass[i], told[i]])[:, :, None] for i in (0, 1))
        bound = most_risen(upper, lower, np.zeros((2, 1)))[0]
        along = np.linspace(0, 3, 13)
        (a, into), (b, out) = (
            [np.stack([np.interp(along, np.arange(4), v[i, end]) for end in (0, 1)]) for v in (mass, told)]
            for i in (0, 1)
        )
        moved = [(1 - share) * v[0] + share * v[1] for v in (a[:, :, None], into[:, :, None], b[:, None], out[:, None])]
        top = float(np.max(moved[1] / (moved[1] + moved[3]) - moved[0] / (moved[0] + moved[2])))
        assert top <= bound
        ends = [most_risen(upper[:, [e, e]], lower[:, [e, e]], np.zeros((2, 1)))[0] for e in (0, 1)]
        apart.append((top - max(ends)) / max(bound - max(ends), 1e-12))
    assert max(apart) > 0.6  # what is added for the way between the ends is needed


def test_few_ends_of_boxes_and_true_values_far_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the last box the declared belief with larger odds is below the attack; boxes that stay open count."""
    along = drawn("normal", 0.7, 2.0, 1)
    for epsilon, value in ((0.05, 0.02), (0.5, 0.2)):
        low, high, beyond = along._range(epsilon, value)
        t = high + np.array([0.0, 0.5, 3.0])
        rows = along._rows(np.full(3, epsilon), (t, t), t - 0.3)
        assert np.max(rows.reached(rows.nearer(np.full((2, 3), 0.5), 3))) <= beyond <= value
        assert low == PRIORS["normal"].mean
    boxes = truth_rows.TruthBoxes(
        np.zeros(4, dtype=np.int64),
        np.array([[3.0], [4.0]]) + np.zeros(4),
        np.array([[2.0, 2.0, 4.0, 4.8], [2.2, 3.0, 5.0, 5.5]]),
        np.zeros((2, 4)),
        np.zeros(4, dtype=np.int64),
    )
    kept = along._within(boxes).peaks  # peaks of these goals lie between 2.3 and 4.7
    assert kept == pytest.approx(np.array([[2.3, 4.0], [3.0, 4.7]]))
    monkeypatch.setattr(along_truths, "_ROUNDS", 1)
    value, bound = drawn("normal", 0.7, 2.0, 1).measure(np.array([0.1]))
    assert value[0] > 0.02
    assert bound[0] == 1.0


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
    assert np.max(most / np.sinh(x) ** 2) == pytest.approx(2 * gaps._OF_SINH, rel=1e-4)
    assert np.all(most <= 2 * gaps._OF_SINH * np.sinh(x) ** 2)
    for tau in (-0.999, -0.5, 0.0, 0.7, 0.999):
        for way in (1, -1):
            above = np.cosh(x) + tau * way * np.sinh(x) - np.exp(tau * way * x)
            assert np.all(above <= (1 - tau**2) * most * (1 + 1e-9) + 1e-12)


def test_gaps_by_parts_of_the_peaks() -> None:
    """Of boxes of peaks: no less than at any peak in them, and no more than of all peaks."""
    rng, world = np.random.default_rng(1), TiltedIntegrals(PRIORS["normal"], STRAIGHT)
    first, second, ends = np.array([0.1, 0.3]), np.array([0.15, 0.4]), (np.array([-3.0, 1.0]), np.array([9.0, 1.0]))
    gaps_of = gaps.PeakGaps.of(world, ends, first, second, 1, 2.0)
    row = np.repeat([0, 1], [40, 1])
    peaks = np.sort(np.concatenate([rng.uniform(-3, 9, (2, 40)), np.ones((2, 1))], axis=1), axis=0)
    peaks[:, 0] = -3.0, 9.0
    found, whole = gaps_of.between(row, peaks), gap_of_tents(world, *ends, first, second, 1, 2.0)
    assert found[0] == np.max(gaps_of.found[:, 0])
    for share in (0.0, 0.3, 1.0):
        c = (1 - share) * peaks[0] + share * peaks[1]
        alone = gap_of_tents(world, c, c, first[row], second[row], 1, 2.0)
        assert np.all(alone <= found * (1 + 1e-9))
    assert np.all(found <= 1.1 * whole[row])
    assert found.min() < 0.7 * whole[0]
    grid = np.linspace(-3.0, 9.0, len(gaps_of.found))
    nearest = np.argmin(np.abs(grid[:, None] - peaks[0, :40]), axis=0)
    alone = gaps_of.between(row[:40], np.stack([peaks[0, :40], peaks[0, :40]]))
    assert np.array_equal(alone, gaps_of.found[nearest, 0])


def test_the_nearest_peak_is_the_nearest_by_distance() -> None:
    """Two lumps, as far from the peak at 0: no gap there. Beside it, where ψ has risen to its next level, there is."""
    form = LineForm((-3.0, 0.0, 0.45, 3.0), (1.0, 0.0, 1.0, 0.0, 1.0), (0.0,) * 4)
    lumps = gp.histogram([-4.001, -3.999, 3.549, 3.551], [0.5, 0.0, 0.5])
    world, first, second = TiltedIntegrals(lumps, form), np.array([0.1]), np.array([0.2])
    gaps_of = gaps.PeakGaps.of(world, (np.array([-2.0]), np.array([2.0])), first, second, 1, 1.0)
    assert len(gaps_of.found) == 5
    for peak in (-0.6, 0.1, 0.46, 0.6):
        at = np.array([peak])
        alone = gap_of_tents(world, at, at, first, second, 1)
        assert alone <= gaps_of.between(np.zeros(1, dtype=np.int64), np.stack([at, at])), peak


def test_of_a_true_value_that_may_be_worst_every_peak_needs_room() -> None:
    """What one tent reaches need not rise with ε: below the first bound at the second ε, it may be above it between."""
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIORS["exponential"]), 0.7), prior_factor=2.0)
    truths, epsilon = _MisjudgedTruths(attack, "rise"), (np.array([0.2]), np.array([0.3]))
    bounds, second = (np.array([0.1]), np.array([0.1 + 1e-9])), float(epsilon[1][0])
    truths.along.ranges[second] = 0.0, 20.0, 0.0
    first, low, other = [0.0, 0.1, 0.7, 0.7, 0.1 + 1e-9], [0.05, 0.15, 0.0, 0.0, 0.05], [2.0, 3.0, 2.5, 2.5, 0.05]
    rooms: list[float] = []
    for boxes in ([first], [first, other], [first, low]):
        truths.along.proofs[second] = np.array(boxes).T
        rooms.append(float(truths.room(*epsilon, bounds)[0]))
    gap = gap_of_tents(truths.world, np.zeros(1), np.zeros(1), *epsilon, 1, 2.0)[0]
    assert rooms[0] == rooms[1] < 0.8 * rooms[2]
    assert rooms[2] >= gap * (0.1 + PRIORS["exponential"].mass(-0.6, 0.8))


def test_rooms_are_enough_for_every_belief_before() -> None:
    """Beliefs along a chord of logarithms, with 4θ(1−θ)g above it, from any belief up to some."""
    rng, share = np.random.default_rng(6), np.linspace(0, 1, 101)
    tight, above = 0.0, 0.0
    for _ in range(300):
        before, gap = float(rng.uniform(0, 0.6)), float(rng.choice([0.0, 1e-4, 1e-2]))
        climbs = np.sort(rng.uniform(0, 0.4, 2) * rng.choice([1.0, 0.05]))
        lower = climbs[1] - float(rng.choice([0.0, 1e-4, 1e-3]))
        lower = max(lower, climbs[0])
        room = gaps.room_by_ratio(np.array(gap), before, (np.array(climbs[0]), np.array(lower)))
        left = float(gaps.room_below(room, np.array(climbs[1] - lower)))
        for p in np.linspace(0, before, 4):
            belief = (p + climbs[0]) ** (1 - share) * (p + lower) ** share * (1 + 4 * share * (1 - share) * gap)
            above = np.max(belief - p - (1 - share) * climbs[0] - share * climbs[1])
            assert above <= left + 1e-15
        tight = max(tight, above / max(left, 1e-9))
    assert tight > 0.9


@pytest.mark.parametrize("name", ["bounded", "uniform", "histogram"])
def test_an_attack_at_a_kink_is_found_there(name: str) -> None:
    """Beside it, boxes would stay open: few of them prove the bound."""
    along = drawn(name, 0.7, 1.5, 1)
    value, bound = along.measure(np.array([0.01, 0.2]))
    kinks = along._kinks
    for e in (0.01, 0.2):
        assert np.min(np.abs(kinks - along.known[e][0])) <= 1e-12
        assert along.proofs[e].shape[1] < 250
    assert np.all(bound <= value * 1.0003)


def test_peaks_are_cut_where_they_are_loose_however_wrong_the_prior() -> None:
    """What a tent holds more is worth most to a prior that is nowhere κ: few boxes prove the bound all the same."""
    search = gp.Attack(gp.within(gp.Attribute("x", gp.normal(-0.75, 3.1).given(-7.5, 3)), 2.0)).truth_search
    along = MisjudgedAlongTruths(search, 16.0, 1)
    value, bound = along.measure(np.array([0.02]))
    assert bound[0] <= value[0] * 1.0003
    assert along.proofs[0.02].shape[1] < 250


@pytest.mark.parametrize("move", [1, -1])
def test_a_goal_that_may_be_certain_leaves_little_to_rise(move: Any) -> None:
    """Of some true value everything is correct; near it polygons say nothing, and the bound is close all the same."""
    along = MisjudgedAlongTruths(gp.Attack(gp.within(gp.Attribute("x", gp.uniform(0, 2)), 1.0)).truth_search, 1.5, move)
    t1 = np.array([0.2, 0.9, 1.0])
    most, p = along._left(t1, t1 + 0.1), along.search.prior.mass(t1 + 0.05 - 1, t1 + 0.05 + 1)
    wrong = p * 1.5**-move / (p * 1.5**-move + 1 - p)  # the belief before at which most can be gained, or lost
    assert np.all((1 - wrong if move > 0 else wrong) <= most)
    value, bound = along.measure(np.array([0.1]))
    assert move < 0 or bound[0] <= value[0] * 1.0005


@pytest.mark.parametrize("direction", ["rise", "fall"])
def test_between_two_knots(direction: Any) -> None:
    """The line through two bounds and some room above it bound what lies between; the line alone does not."""
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIORS["normal"]), 0.7), prior_factor=1.5)
    truths = _MisjudgedTruths(attack, direction)
    epsilon = np.array([0.3, 0.4, 0.5])
    value, bound = truths.measure(epsilon)
    line = 0.5 * (bound[0] + bound[2])
    room = truths.room(epsilon[:1], epsilon[2:], (bound[:1], bound[2:]))
    assert line < value[1] <= line + room[0] < 1


def test_a_curve_for_the_worst_true_value_of_a_wrong_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few knots: never below what an attack reaches, and an ε that is found keeps its limit."""
    monkeypatch.setattr(rising, "CLOSE", 4e-2)
    monkeypatch.setattr("guessproof.risk.curve._CLOSE", 5e-2)
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIORS["uniform"]), 1.0), prior_factor=1.5)
    curve = gp.Curve(attack)
    assert 1e-2 < curve.within <= 5e-2
    assert curve.rise.bound[-1] > 0.5
    along = drawn("uniform", 1.0, 1.5, 1)
    low, high = curve.rise.epsilon[[0, -1]]
    inner = np.geomspace(low, high, 13)[1:-1]
    value = along._climbed(along._first(inner)[1], inner)[0]
    for epsilon, reached in zip(inner, value, strict=True):
        assert reached <= curve.advantage(float(epsilon)) <= reached * 1.08
    for more, limit in ((1.0, 0.08), (1.06, -0.08)):
        found = more * np.array([curve.epsilon(advantage=0.08)])
        assert np.sign(limit) * along._climbed(along._first(found)[1], found)[0][0] <= limit


@pytest.mark.parametrize("name", ["normal", "laplace"])
def test_knots_are_where_a_rough_look_says(name: str) -> None:
    """Few of them, up to a usual limit, each interval within its share of ε; nothing exceeds it between them."""
    factor = 2.0
    curve = gp.Curve(gp.Attack(gp.within(gp.Attribute("x", PRIORS[name]), 1.0), prior_factor=factor))
    rise = curve.rise
    assert curve.within <= 1e-3
    assert rise.bound[-1] > 0.2
    assert rise.epsilon.size < 70
    along = drawn(name, 1.0, factor, 1)
    middle = np.sqrt(rise.epsilon[:-1] * rise.epsilon[1:])[::4]
    value = along._climbed(along._first(middle)[1], middle)[0]
    for epsilon, reached in zip(middle, value, strict=True):
        assert reached <= curve.advantage(float(epsilon))
        assert curve.epsilon(advantage=float(reached)) >= epsilon * 0.9988


def test_single_terms_of_a_box() -> None:
    """What an edge adds where the density is steepest, what a step raises between peaks, and the ends of all radii."""
    along, epsilon = drawn("normal", 0.7, 2.0, 1), np.array([0.3])
    t, half = np.array([-0.3]), np.array([0.2])  # the lower edge is one standard deviation below the mean
    rows = along._rows(epsilon, (t - half, t + half), t)
    strip = rows.goals.strips()[0]
    off = strip.off(np.ones((1, 1)), half, np.ones(1), 2.0)[0] + strip.holds
    true = 2 * (PRIORS["normal"].mass(-1.0, -0.8) - half * np.exp(PRIORS["normal"].log_density(-1.0))) / half**2
    assert true <= off <= 1.1 * true
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
