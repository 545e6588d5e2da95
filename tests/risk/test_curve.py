"""The curve of an attack: never above the safe ε, never more than 0.1 % below, whatever the attack is."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.errors import InfeasibleError, ParameterError
from guessproof.risk.curve import _measures_misjudged
from guessproof.risk.gaps import gap_across, gap_of_tents, room_by_odds
from guessproof.risk.misjudged import along
from guessproof.risk.misjudged.along import MisjudgedAlong, PeakGrid
from guessproof.risk.misjudged.tents import MisjudgedGoal, TentRanges, best_tent
from guessproof.risk.rising import Further, Rising
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.worst_case import worst_true_value
from guessproof.world.line_form import LineForm

DENSITIES: dict[str, Any] = {
    "normal": gp.normal(2, 3),
    "uniform": gp.uniform(-4, 7),
    "exponential": gp.exponential(2),
    "laplace": gp.laplace(1, 2),
    "histogram": gp.histogram([-3, -1, 0, 4, 5], [0.1, 0.4, 0.2, 0.3]),
}


def drawn_attack(name: str, rng: np.random.Generator, **more: Any) -> gp.Attack:
    x = gp.Attribute("x", prior=DENSITIES[name], scale=float(rng.choice([1.0, 2.5])))
    return gp.Attack(gp.within(x, float(rng.uniform(0.3, 1.5))), at={"x": float(rng.uniform(0.1, 3.5))}, **more)


def check_limits(curve: gp.Curve, limits: dict[str, Any], room: float = 1e-3) -> None:
    try:
        exact = curve.attack.epsilon(**limits)
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            curve.epsilon(**limits)
        return
    found = curve.epsilon(**limits)
    assert found <= exact, limits
    assert found >= (1 - room) * exact or (math.isinf(exact) and math.isinf(found)), (limits, found, exact)


def check_found(curve: gp.Curve, asked: str, limit: float) -> None:
    """The same of a worst true value, whose exact ε is a long search: the limit holds, and is broken just above."""
    attack, both = curve.attack, asked == "both"
    limits: dict[str, Any] = {"advantage": limit, "both": True} if both else {asked: limit}
    found = curve.epsilon(**limits)

    def measured(epsilon: float) -> gp.Bracket:
        return attack.posterior(epsilon) if asked == "posterior" else attack.advantage(epsilon, both)

    assert measured(found).bound <= limit * (1 + 1e-9), (limits, found)
    assert measured(found * 1.001).attack > limit, (limits, found)


@pytest.mark.parametrize("name", DENSITIES)
def test_a_stated_true_value(name: str) -> None:
    numbers = np.random.default_rng(len(name))
    attack = drawn_attack(name, numbers)
    curve = gp.Curve(attack)
    assert curve.within <= 1e-3
    for limit in numbers.uniform(0, 1, 6) ** 2:
        check_limits(curve, {"advantage": limit})
        check_limits(curve, {"advantage": limit, "both": True}, room=max(1e-3, curve.fall.loose))
        check_limits(curve, {"posterior": limit})
        check_limits(curve, {"posterior": limit, "advantage": limit / 3})
    epsilons = attack.attribute.scale * 10.0 ** numbers.uniform(-5, 2, 40)
    exact, after = attack.advantage(epsilons).bound, attack.posterior(epsilons).bound
    for epsilon, rise, belief in zip(epsilons, np.asarray(exact), np.asarray(after), strict=True):
        assert curve.advantage(epsilon) >= rise * (1 - 1e-12)
        assert curve.posterior(epsilon) >= belief * (1 - 1e-12)


@pytest.mark.parametrize("name", ["normal", "uniform", "exponential", "laplace"])
def test_the_worst_true_value(name: str) -> None:
    """Of exponential tails it lies at infinity for a large ε."""
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=DENSITIES[name]), 0.7))
    curve = gp.Curve(attack)
    assert curve.within <= 1e-3
    assert curve.believed.loose <= 1e-3
    tells_slowly = name in ("exponential", "laplace")  # there the search for one ε is slow, what a curve says is not
    for limit in (0.003, 0.1) if tells_slowly else (0.003, 0.1, 0.5):
        check_found(curve, "advantage", limit)
    check_found(curve, "posterior", 0.6 if tells_slowly else 0.7)
    if name in ("normal", "uniform"):
        check_found(curve, "both", 0.1)
    for epsilon in (0.11, 0.9):
        assert curve.advantage(epsilon) >= attack.advantage(epsilon).attack


def test_half_of_the_true_values_stands_for_all() -> None:
    """Where prior and goal are even around one value; nowhere else."""
    for prior in (gp.normal(2, 3), gp.laplace(1, 2), gp.uniform(-4, 7), gp.normal(2, 3).given(-1, 5)):
        half = gp.Attack(gp.within(gp.Attribute("x", prior=prior), 0.7)).truth_search
        whole = replace(half, low=prior.support[0])
        assert whole.half == half
        assert half.low > whole.low
        for epsilon in (0.05, 1.5):
            for direction in ("rise", "posterior"):
                some, every = (worst_true_value(search, epsilon, direction) for search in (half, whole))
                assert some.value == pytest.approx(every.value, rel=1e-6)
                assert every.value <= some.bound * (1 + 1e-9)
    for bounds, side in (((-1, 6), (2, 6)), ((-3, 4), (-3, 2)), ((3, 6), (3, 6))):  # the longer side has them all
        search = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(2, 3), bounds=bounds), 0.7)).truth_search
        assert (search.low, search.high) == side
        some, every = (
            worst_true_value(s, 0.4, "rise") for s in (search, replace(search, low=bounds[0], high=bounds[1]))
        )
        assert some.value == pytest.approx(every.value, rel=1e-6)
    lopsided = (
        gp.within(gp.Attribute("x", prior=gp.normal(2, 3).given(-1, 6)), 0.7),
        gp.within(gp.Attribute("x", prior=gp.normal(2, 3)), percent=10),
        gp.within(gp.Attribute("x", prior=gp.normal(2, 3), metric=gp.Clamped(0, 40, 1.0)), 0.7),
        gp.within(gp.Attribute("x", prior=gp.exponential(2)), 0.7),
    )
    for goal in lopsided:
        attack = gp.Attack(goal)
        assert attack.truth_search.low == attack.attribute.range[0]


def test_the_worst_true_value_of_a_percentage_and_of_a_clamped_distance() -> None:
    x = gp.Attribute("x", prior=gp.normal(20, 6.28), metric=gp.Clamped(0, 40, 1.0))
    for goal, limit in ((gp.within(x, 2), 0.15), (gp.within(x, percent=10), 0.02)):
        check_found(gp.Curve(gp.Attack(goal)), "advantage", limit)


def test_other_engines() -> None:
    faculty = gp.Attribute("faculty", prior=gp.categorical({"math": 0.5, "cs": 0.3, "law": 0.2}))
    places = gp.Attribute("place", prior=gp.empirical([1, 2, 2, 5, 9, 9.5, 14]))
    range_only = gp.Attribute("x", prior=gp.unknown(0, 10))
    for attack in (
        gp.Attack(gp.exactly(faculty), at={"faculty": "cs"}),
        gp.Attack(gp.exactly(faculty)),
        gp.Attack(gp.within(places, 1)),
        gp.Attack(gp.within(range_only, 1)),
    ):
        curve = gp.Curve(attack)
        for limit in (0.01, 0.1, 0.3):
            check_limits(curve, {"advantage": limit})


def test_a_prior_that_may_be_wrong() -> None:
    faculty = gp.Attribute("faculty", prior=gp.categorical({"math": 0.5, "cs": 0.3, "law": 0.2}))
    attack = gp.Attack(gp.exactly(faculty), at={"faculty": "cs"}, prior_factor=1.5)
    curve = gp.Curve(attack)
    for limit in (0.03, 0.2):
        check_limits(curve, {"advantage": limit}, room=max(curve.within, 1e-3))
    check_limits(curve, {"posterior": 0.6}, room=2e-3)
    assert curve.posterior(0.3) >= attack.posterior(0.3).bound * (1 - 1e-9)


@pytest.mark.parametrize(("name", "factor"), [("normal", 1.5), ("uniform", 1.5)])
def test_a_prior_that_may_be_wrong_at_a_stated_true_value(name: str, factor: float) -> None:
    """The curve bounds what the search finds at any ε, and loses little of ε where limits usually are."""
    numbers = np.random.default_rng(len(name))
    attack = drawn_attack(name, numbers, prior_factor=factor)
    curve = gp.Curve(attack)
    assert curve.within <= 1e-3
    low, high = curve.rise.epsilon[[0, -1]]
    goal = misjudged_goal(attack)
    for epsilon in low * (high / low) ** numbers.uniform(0.3, 1, 4):
        assert curve.advantage(epsilon) >= best_tent(goal, float(epsilon), 1).value * (1 - 1e-9)
    limit = 0.08
    found = curve.epsilon(advantage=limit)
    assert best_tent(goal, found, 1).value <= limit
    assert best_tent(goal, found * 1.0012, 1).value > limit


@pytest.mark.parametrize(("at", "radius"), [(9.0, 0.3), (6.0, 3.0)], ids=["all of it", "some of it"])
def test_a_goal_far_out_is_not_taken_for_one_within_reach(at: float, radius: float) -> None:
    """Peaks are looked for where the prior lies; beyond, the attack itself is asked, and nothing is warned about."""
    attack = gp.Attack(gp.within(gp.Attribute("x", gp.normal(0, 1)), radius), at={"x": at}, prior_factor=1.5)
    assert _measures_misjudged(attack, "rise") is None


def test_a_goal_that_ends_where_the_prior_ends_has_a_curve_of_its_own() -> None:
    for name, at in (("uniform", 6.8), ("exponential", 0.2), ("histogram", -2.9)):
        attack = gp.Attack(gp.within(gp.Attribute("x", DENSITIES[name]), 0.5), at={"x": at}, prior_factor=3.0)
        measures = _measures_misjudged(attack, "rise")
        assert measures is not None
        value, bound = measures[0](np.array([0.3]))
        low = max(at - 0.5, DENSITIES[name].support[0])
        goal = replace(misjudged_goal(attack), low=low, high=low)
        assert best_tent(goal, 0.3, 1).value <= bound[0] <= value[0] * 1.001


def misjudged_goal(attack: gp.Attack) -> MisjudgedGoal:
    prior, form = attack.attribute.prior, attack.attribute.distance.line_form
    (lo, hi), *_ = attack.goal.edges(np.asarray(float((attack.at or {})["x"])))
    world = TiltedIntegrals(prior, form)  # pyright: ignore[reportArgumentType]
    return MisjudgedGoal(world, lambda t: (lo + 0 * t, hi + 0 * t), float(lo), float(lo), attack.prior_factor)


@pytest.mark.parametrize("move", [1, -1])
def test_no_tent_and_no_wrong_prior_exceeds_a_bound_along_epsilon(move: Any) -> None:
    """Any peak, any h: also such as a search would not come upon."""
    rng = np.random.default_rng(11)
    for name, factor in (("normal", 1.5), ("uniform", 1.5), ("histogram", 6.0)):
        attack = drawn_attack(name, rng, prior_factor=factor)
        goal = misjudged_goal(attack)
        epsilons = attack.attribute.scale * np.array([0.02, 0.3, 1.5])
        value, bound = MisjudgedAlong(goal, move).measure(epsilons)
        assert np.all(value <= bound)
        assert np.all(bound[:2] <= value[:2] * 1.01)
        prior, psi = goal.world.prior, goal.world.form.psi
        grid = prior.quantile((np.arange(40_000) + 0.5) / 40_000)
        lo, hi = (float(e) for e in goal.edges(np.asarray(0.0)))
        inside = (grid >= lo) & (grid <= hi)
        low, high = np.clip((lo, hi), *prior.quantile([1e-9, 1 - 1e-9]))
        for epsilon, most in zip(epsilons, bound, strict=True):
            for peak in (*rng.uniform(low, high, 12), low, high, 0.5 * (low + high)):
                away = np.abs(psi(grid) - psi(peak))
                likelihood = np.exp(-move * epsilon * away)
                near, far = np.quantile(away[inside], rng.uniform(0, 1)), np.quantile(away[~inside], rng.uniform(0, 1))
                wrong = np.where(np.where(inside, away <= near, away >= far), factor, 1.0)
                before = wrong[inside].sum() / wrong.sum()
                after = (wrong * likelihood)[inside].sum() / (wrong * likelihood).sum()
                assert move * (after - before) <= most + 2e-4 * epsilon / attack.attribute.scale


@pytest.mark.parametrize("move", [1, -1])
@pytest.mark.parametrize(("peaks", "radii"), [(2, 3), (2, 25), (40, 2)], ids=["few", "few peaks", "few radii"])
def test_a_coarse_grid_anywhere_still_bounds_the_best_attack(
    move: Any, peaks: int, radii: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few peaks and radii, dense at a wrong place: what lies between them is what the bound must make up for."""
    monkeypatch.setattr(along, "_PEAKS_AT_FIRST", peaks)
    monkeypatch.setattr(along, "_RADII", radii)
    monkeypatch.setattr(along, "_STEPS", 0)
    rng = np.random.default_rng(3)
    for name, factor, epsilon, step in (
        ("normal", 1.5, 0.7, 0.0),
        ("laplace", 5.0, 0.2, 0.0),
        ("uniform", 9.0, 1.2, 2.0),
    ):
        low = float(rng.uniform(-2, 1))
        high, form = low + float(rng.uniform(0.5, 4)), LineForm(slopes=(1.0,), step=step)
        edges = np.asarray(low), np.asarray(high)
        world = TiltedIntegrals(DENSITIES[name], form)
        goal = MisjudgedGoal(world, lambda t, ends=edges: (ends[0] + 0 * t, ends[1] + 0 * t), low, low, factor)
        best = best_tent(goal, epsilon, move).value
        for shares in rng.uniform(0, 1, (4, 3, 1)):
            coarse = replace(along.CLOSE, rounds=0)
            grid = PeakGrid(TentRanges.of(goal), move, np.array([epsilon]), shares, coarse)
            for enough in (0.0, np.inf):  # looked at closely, or only with what is at hand
                bound, value, _ = grid.bound(np.zeros(1), np.full(1, enough))
                assert value[0] <= best * (1 + 1e-9)
                assert bound[0] >= best * (1 - 1e-9)


def test_nothing_between_two_polygons_exceeds_what_their_edges_say() -> None:
    """A concave and a convex polygon, drawn; a fine grid of both masses comes near the bound and not above it."""
    rng = np.random.default_rng(9)
    for _ in range(40):
        mass = np.sort(rng.uniform(0.05, 1, (2, 4)), axis=1)
        slopes = np.stack([-np.sort(-rng.uniform(0.3, 2, 3)), np.sort(rng.uniform(0.02, 1, 3))])
        told = rng.uniform(0.01, 0.2, (2, 1)) + np.concatenate(
            [np.zeros((2, 1)), np.cumsum(slopes * np.diff(mass), axis=1)], axis=1
        )
        upper, lower = (np.stack([mass[i], told[i]])[:, None] for i in (0, 1))
        bound = along.most_between(upper, lower, np.zeros((2, 1)))[0]
        a, b = (np.unique(np.concatenate([np.linspace(m[0], m[-1], 300), m])) for m in mass)
        into, out = np.interp(a, mass[0], told[0])[:, None], np.interp(b, mass[1], told[1])
        top = np.max(into / (into + out) - a[:, None] / (a[:, None] + b))
        assert top <= bound <= top + 2e-4
        more = rng.uniform(0, 0.1)
        assert along.most_between(upper, lower, np.array([[more], [0.0]]))[0] >= np.max(
            (into + more) / (into + more + out) - a[:, None] / (a[:, None] + b)
        )


@pytest.mark.parametrize("move", [1, -1])
def test_peaks_between_two_others_are_bounded_by_them(move: Any) -> None:
    """What a tent holds more than a mixture of two is nearly what is allowed for; no peak between them exceeds both."""
    rng = np.random.default_rng(12)
    for factor, step in ((1.5, 0.0), (3.0, 0.0), (3.0, 1.0), (8.0, 0.0), (20.0, 1.0)):
        form, epsilon = LineForm(slopes=(1.0,), step=step), float(rng.uniform(0.3, 1.5))
        world = TiltedIntegrals(gp.uniform(0, 10), form)  # pyright: ignore[reportArgumentType]
        low = float(rng.uniform(0, 4))
        edges = np.asarray(low), np.asarray(low + 2.0)
        goal = MisjudgedGoal(world, lambda t, ends=edges: (ends[0] + 0 * t, ends[1] + 0 * t), low, low, factor)
        grid = PeakGrid(TentRanges.of(goal), move, np.array([epsilon]), np.zeros((3, 1)))
        shares, which = np.sort(rng.uniform(0, 1, 2)), np.zeros(2, dtype=np.int64)
        rows = grid._at(which, shares, np.full((2, 2), 0.5), 9, np.zeros(1))
        more = grid._more(rows, np.array([0]))[:, 0]
        x = low + (np.arange(200_000) + 0.5) / 1e5
        peaks = low + 2 * np.array([shares[0], shares.mean(), shares[1]])
        held = np.array([np.sum(np.exp(-move * epsilon * np.abs(x - c))) * 1e-6 for c in peaks]) * factor
        apart = held[1] * np.cosh(0.5 * epsilon * (peaks[2] - peaks[0])) - 0.5 * (held[0] + held[2])
        apart *= np.exp(epsilon * step) if move > 0 else 1.0
        allowed = more[0] if move > 0 else more[1]
        assert apart / allowed == pytest.approx(0.95, abs=0.0501)
        inner = np.linspace(shares[0], shares[1], 9)[1:-1]
        _, reached = grid.climbed(np.zeros(7, dtype=np.int64), inner, np.full((2, 7), 0.5))
        for enough in (np.zeros(1), np.ones(1)):
            between = grid._with_gaps(rows, np.arange(2), enough).between[0]
            assert between >= reached.max() * (1 - 1e-12)
            assert between >= np.max(rows.bound) * (1 - 1e-12)
        for place in (0, 1):
            changed = along.most_between(rows.upper[:, [place]], rows.lower[:, [place]], more[:, None])
            crude = rows.bound_with(np.array([place]), more[:, None])
            assert rows.bound[place] <= changed[0] <= crude[0]


def test_what_is_added_of_the_least_sum_is_enough() -> None:
    """Where next to nothing is believed, or next to nothing is left: there what A or B changes by is all of it."""
    little, all_ = (np.broadcast_to(np.array([v, 1.01 * v]), (2, 1, 2)) for v in (1e-4, 1.0))
    for upper, lower, more in ((little, all_, [[1e-6], [0.0]]), (all_, little, [[0.0], [-1e-6]])):
        bound, none = along.most_between(upper, lower, np.zeros((2, 1))), np.zeros(1)
        rows = along._PeakRows(np.array([0]), none, bound, none, np.zeros((2, 1)), upper, lower, none)
        exact = along.most_between(upper, lower, np.array(more))[0]
        assert exact <= rows.bound_with(np.array([0]), np.array(more))[0]


@pytest.mark.parametrize("goal", [(-3.0, 0.5), (1.0, 5.0), (-1.0, 0.5), (-0.5, 3.0)])
def test_grids_of_radii_reach_from_no_wrong_odds_to_all(goal: tuple[float, float]) -> None:
    """Where ψ is flat many values are equally far away: a radius of 0, or the largest, takes none or all of them."""
    x = gp.Attribute("x", gp.normal(0, 2), metric=gp.Clamped(-1, 2))
    prior, form = x.prior, x.distance.line_form
    world = TiltedIntegrals(prior, form)  # pyright: ignore[reportArgumentType]
    clamped = MisjudgedGoal(world, lambda t: (goal[0] + 0 * t, goal[1] + 0 * t), 0.0, 0.0, 1.5)
    chance = float(prior.mass(*goal))
    for peak in (goal[0], 0.5 * (goal[0] + goal[1]), goal[1]):
        tents = along._PeakTents.of(TentRanges.of(clamped), 1, np.array([0.4]), np.array([peak]))
        radii = np.linspace(0.0, 1.0, 5)[None]
        parts = tents.parts(radii, radii[:, ::-1], from_one=True)
        for part, share in zip(parts, (chance, 1 - chance), strict=True):
            assert part.mass[0, [0, -1]] == pytest.approx([share, 1.5 * share], rel=1e-9)
            assert np.all(np.diff(part.mass[0]) >= -1e-12)


def test_turns_come_near_the_best_ones() -> None:
    """Three steps of Newton's method from anywhere near leave little to gain for that peak."""
    rng = np.random.default_rng(6)
    for name, factor, epsilon, move in (
        ("normal", 16.0, 0.4, 1),
        ("laplace", 2.0, 0.02, 1),
        ("histogram", 3.0, 1.0, -1),
    ):
        goal = misjudged_goal(drawn_attack(name, rng, prior_factor=factor))
        way: Any = move
        found, starts = MisjudgedAlong(goal, way)._first(TentRanges.of(goal), np.array([epsilon]))
        assert found[0] <= best_tent(goal, epsilon, way).value * (1 + 1e-9)
        grid = PeakGrid(TentRanges.of(goal), way, np.array([epsilon]), starts)
        turns = np.clip(starts[1:] + rng.uniform(-0.05, 0.05, (2, 1)), 0, 1)
        again, reached = grid.climbed(np.array([0]), starts[0], turns)
        assert reached[0] == pytest.approx(found[0], rel=1e-4)
        assert again.shape == (2, 1)


def test_several_attributes_say_how_near_they_are() -> None:
    colour = gp.Attribute("colour", prior=gp.categorical({"red": 0.2, "white": 0.8}))
    sex = gp.Attribute("sex", prior=gp.categorical({"M": 0.5, "F": 0.5}))
    attack = gp.Attack(gp.exactly(colour) | gp.exactly(sex), at={"colour": "red", "sex": "M"})
    curve = gp.Curve(attack)
    check_limits(curve, {"advantage": 0.1}, room=max(curve.within, 1e-9))
    each = gp.Curve(gp.Attack(attack.goal, attack.at, or_="each"))
    check_limits(each, {"advantage": 0.1})


def test_it_is_a_value() -> None:
    curve = gp.Curve(drawn_attack("normal", np.random.default_rng(4)))
    again = pickle.loads(pickle.dumps(curve))
    assert again.epsilon(advantage=0.1) == curve.epsilon(advantage=0.1)
    points = curve.points(50)
    assert all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(points))
    with pytest.raises(AttributeError):
        curve.attack = None  # pyright: ignore[reportAttributeAccessIssue]


def test_what_has_no_curve_is_refused() -> None:
    x = gp.Attribute("x", prior=gp.normal(0, 1))
    with pytest.raises(ParameterError, match="one curve for each"):
        gp.Curve(gp.Attack(gp.within(x, 1), at={"x": [0, 1]}))
    with pytest.raises(ParameterError, match="is not an attack"):
        gp.Curve(x)  # pyright: ignore[reportArgumentType]
    curve = gp.Curve(gp.Attack(gp.within(x, 1), at={"x": 0}))
    for wrong in (-1, math.nan, [1, 2]):
        with pytest.raises(ParameterError):
            curve.advantage(wrong)  # pyright: ignore[reportArgumentType]


def test_gaps_hold_for_every_peak_far_between_two_epsilons() -> None:
    """With few and wide intervals the room above the line is what keeps the bound above the truth."""
    rng = np.random.default_rng(5)
    for form in (LineForm(slopes=(1.0,)), LineForm((0.0,), (1.0, 0.5), (0.4,)), LineForm(slopes=(1.0,), step=0.3)):
        for prior in (gp.normal(1, 2), gp.laplace(0, 1.5), gp.uniform(-3, 5)):
            x = gp.Attribute("x", prior=prior, metric=gp.Absolute(1.0))
            world = TiltedIntegrals(x.prior, form)  # pyright: ignore[reportArgumentType]
            low, width = float(rng.uniform(-1, 1)), float(rng.uniform(0.2, 2))
            grid = prior.quantile((np.arange(20_000) + 0.5) / 20_000)
            inside = (grid >= low) & (grid <= low + width)
            for first, second in ((0.05, 0.4), (0.3, 1.5), (1.0, 1.3)):
                ends = np.array([low]), np.array([low + width])
                gap = gap_of_tents(world, *ends, np.array([first]), np.array([second]), 1)[0]
                for peak in rng.uniform(low, low + width, 6):
                    s = -np.abs(form.psi(grid) - form.psi(peak)) + form.step * inside
                    beliefs = [belief(s, inside, e) for e in (first, 0.5 * (first + second), second)]
                    assert beliefs[1] <= (1 + gap) * 0.5 * (beliefs[0] + beliefs[2]) * (1 + 1e-3 * gap) + 1e-9
                    wrong = (
                        np.where(rng.uniform(size=grid.size) < 0.5, 3.0, 1.0)
                        if rng.uniform() < 0.5
                        else np.where((np.abs(grid - peak) < 0.5 * width) == inside, 3.0, 1.0)
                    )
                    beliefs = [belief(s, inside, e, wrong) for e in (first, 0.5 * (first + second), second)]
                    assert beliefs[1] <= (1 + 3 * gap) * 0.5 * (beliefs[0] + beliefs[2]) * (1 + 1e-3 * gap) + 1e-9
                    goal = low, low + width
                    rest = gap_of_tents(world, *ends, np.array([first]), np.array([second]), 1, 3.0, goal)[0]
                    odds = [np.log(b / (1 - b)) for b in beliefs]
                    assert odds[1] <= 0.5 * (odds[0] + odds[2]) + np.log1p(rest) * (1 + 1e-3) + 1e-4
                    beliefs = [belief(s, inside, e) for e in (first, 0.5 * (first + second), second)]
                    across = gap_across(float(np.ptp(s)), np.array(first), np.array(second))
                    assert beliefs[1] <= (1 + across) * 0.5 * (beliefs[0] + beliefs[2]) + 1e-12


def test_room_by_odds_is_enough_between_any_two_beliefs() -> None:
    """From every belief before, log-odds along a chord and γ above it."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        before = np.sort(rng.uniform(0, 0.7, 2))
        climbs = np.sort(rng.uniform(0, 1 - before[1], 2))
        gap = np.array(float(rng.choice([0.0, 1e-3, 0.1])))
        top = np.array(1.0), np.array(1.0)
        room = float(room_by_odds(gap, (before[0], before[1]), (climbs[0], climbs[1]), top))
        for p in np.linspace(*before, 5):
            ends = [np.log((p + c) / (1 - p - c)) for c in climbs]
            for share in (0.2, 0.5, 0.8):
                odds = np.exp((1 - share) * ends[0] + share * ends[1]) * (1 + gap)
                assert odds / (1 + odds) - p <= (1 - share) * climbs[0] + share * climbs[1] + room + 1e-12


def belief(s: Any, inside: Any, epsilon: float, wrong: Any = 1.0) -> float:
    weight = np.exp(epsilon * s) * wrong
    return float(weight[inside].sum() / weight.sum())


def test_a_rising_function_with_few_knots_stays_above() -> None:
    """tanh lies above its chords: without room the look-up would be too low."""

    def measure(e: Any) -> tuple[Any, Any]:
        return np.tanh(e), np.tanh(e)

    def room(a: Any, b: Any, _: Any) -> Any:
        return 0.1 * (b - a) ** 2  # |tanh''| ≤ 0.77, and chords are missed by an eighth of that

    made = Rising.through(measure, room, 0.3, 40)
    for e in np.geomspace(1e-4, 2, 200):
        known = made.at(float(e))
        assert known is None or known >= np.tanh(e)
        back = made.inverse(float(np.tanh(e)))
        assert back is None or back <= e * (1 + 1e-12)


def test_a_look_up_just_below_a_knot_without_room() -> None:
    """So near that it is all of the way there, and nothing is known in between but what the knot says."""
    rising = Rising(np.array([1.0, 1e17]), np.array([0.1, 0.2]), np.array([0.1, 0.2]), np.array([np.inf]))
    assert rising.at(float(np.nextafter(1e17, 0))) == 0.2
    assert rising.at(2.0) == 0.2


@pytest.mark.parametrize("limit", [0.3, 0.5019558178528393, 0.6, 0.6453717658107934])
def test_knots_are_near_enough_where_a_curve_levels_slowly(limit: float) -> None:
    """How it bends before a wide interval says too much of how it bends in it."""
    x = gp.Attribute("x", prior=gp.laplace(1.637, 0.333), metric=gp.Clamped(0.297, 1.826))
    curve = gp.Curve(gp.Attack(gp.inside(x, (1.826, 4.118))))
    assert curve.within <= 1e-3
    check_limits(curve, {"advantage": limit})


@pytest.mark.parametrize("name", ["normal", "exponential", "laplace"])
@pytest.mark.parametrize("ends", [(1.5, math.inf), (-math.inf, 2.5)])
def test_a_goal_without_an_end_needs_no_more_knots(name: str, ends: tuple[float, float]) -> None:
    attack = gp.Attack(gp.inside(gp.Attribute("x", prior=DENSITIES[name], scale=2.5), ends))
    curve = gp.Curve(attack)
    assert curve.within <= 1e-3
    assert curve.rise.epsilon.size < 200
    for share in (0.01, 0.3, 0.8, 0.99):
        for both in (False, True):
            check_limits(curve, {"advantage": share * (1 - attack.prior), "both": both})


@pytest.mark.parametrize("prior", [gp.gamma(3, 1), gp.beta(2, 3, 0, 5)])
def test_a_goal_that_ends_where_a_thin_tail_does(prior: Any) -> None:
    """Below a quantile of 1e-15 there is still some of the goal."""
    x = gp.Attribute("x", prior=prior)
    curve = gp.Curve(gp.Attack(gp.within(x, 0.5), at={"x": 0.4}, prior_factor=1.5))
    assert curve.within <= 1e-3
    for limit in (0.02, 0.3):
        check_limits(curve, {"advantage": limit})


def test_parts_after_a_curve_are_made_once_whoever_asks() -> None:
    """While one is made another thread asks for the same one, and is faster."""

    def make(after: float) -> Rising:
        if len(further.parts) < 3 and after not in asked:
            asked.append(after)
            list(further.each())
        knots = np.array([after, 2 * after])
        return Rising(knots, 1 - 1 / knots, 1 - 1 / knots, np.zeros(1))

    asked: list[float] = []
    further = Further(2.0, make)
    parts = list(further.each())
    assert [float(part.epsilon[0]) for part in parts] == [2.0 ** (i + 1) for i in range(len(parts))]
    assert len(parts) == 8
    assert not further.is_whole


def test_a_curve_is_asked_of_one_limit_at_a_time() -> None:
    curve = gp.Curve(drawn_attack("normal", np.random.default_rng(1)))
    several: list[Any] = [np.array([0.1, 0.2]), [0.1]]
    for limit in several:
        with pytest.raises(ParameterError, match="one at a time"):
            curve.epsilon(advantage=limit)
        with pytest.raises(ParameterError, match="one at a time"):
            curve.epsilon(posterior=limit)


@pytest.mark.parametrize("both", [False, True])
def test_a_huge_epsilon_is_answered_without_a_warning(both: bool) -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 0.3), at={"x": 0.5}, prior_factor=1.5)
    found = [attack.advantage(epsilon, both) for epsilon in (1e3, 1e8)]
    assert found[0].bound <= found[1].bound <= 1 - attack.prior / (1.5 - 0.5 * attack.prior) + 1e-6
