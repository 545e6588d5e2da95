"""Curves of the worst true value: what bounds true values and ε between others holds, and is close, in every world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.chords import chord_bound
from guessproof.risk.gaps import OF_SINH, of_two_copies
from guessproof.risk.rest_gaps import RestGaps, Sides
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_ends import Ends
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.risk.worst_case import likely_worst
from guessproof.risk.worst_curve import WorstTruths
from guessproof.risk.worst_rooms import Rooms
from guessproof.world.line_form import LineForm

DIRECTIONS: tuple[Direction, ...] = ("rise", "fall", "posterior")
STEPS = [0, 1, 2, 3, 4, 5]
SHARES = [0.1, 0.3, 0.35, 0.15, 0.1]


def attack_of(prior: Any, radius: float, **more: Any) -> gp.Attack:
    percent = more.pop("percent", None)
    x = gp.Attribute("x", prior=prior, **more)
    return gp.Attack(gp.within(x, percent=percent) if percent else gp.within(x, radius))


WORLDS: dict[str, Callable[[], gp.Attack]] = {
    "normal": lambda: attack_of(gp.normal(0, 1), 0.3, scale=2.0),
    "wide goal": lambda: attack_of(gp.normal(0, 1), 1.4),
    "cut normal": lambda: attack_of(gp.truncated(gp.normal(0, 1), -1, 3), 0.3),
    "uniform": lambda: attack_of(gp.uniform(0, 1), 0.1),
    "histogram": lambda: attack_of(gp.histogram(STEPS, SHARES), 0.5),
    "exponential": lambda: attack_of(gp.exponential(1), 0.3),
    "laplace": lambda: attack_of(gp.laplace(0, 1), 0.3),
    "clamped far out": lambda: attack_of(gp.normal(20, 6.28), 2, metric=gp.Clamped(0, 120), bounds=(0, 120)),
    "clamped": lambda: attack_of(gp.normal(0, 1), 0.3, metric=gp.Clamped(-1, 1), bounds=(-1, 1)),
    "clamped, any value": lambda: attack_of(gp.normal(0, 1), 0.3, metric=gp.Clamped(-1, 1)),
    "clamped histogram": lambda: attack_of(gp.histogram(STEPS, SHARES), 0.5, metric=gp.Clamped(1, 4)),
    "jump": lambda: attack_of(gp.normal(0, 1), 0.3, metric=gp.Absolute() + gp.Threshold(0.5)),
    "gamma": lambda: attack_of(gp.gamma(3, 1), 0.5, bounds=(0, 20)),
    "lognormal": lambda: attack_of(gp.lognormal(1, 0.5), 0.3, bounds=(0.05, 10)),
    "percent": lambda: attack_of(gp.lognormal(1, 0.5), 0.0, bounds=(0.05, 10), percent=5),
    "beta": lambda: attack_of(gp.beta(2, 3), 0.1),
    "student": lambda: attack_of(gp.student_t(4, 0, 1), 0.3, bounds=(-10, 10)),
    "mixture": lambda: attack_of(gp.mixture((0.6, gp.normal(0, 1)), (0.4, gp.normal(4, 0.5))), 0.3, bounds=(-6, 8)),
}
QUICK = [name for name in WORLDS if name not in ("gamma", "lognormal", "percent", "beta", "student")]


def drawn_box(search: TruthSearch, rng: np.random.Generator) -> tuple[float, float]:
    """A box of true values, narrow or wide, in the bulk or in the tails."""
    low, high = (float(search.prior.quantile(u)) for u in (1e-3, 1 - 1e-3))
    low, high = max(low, search.low), min(high, search.high)
    width = (high - low) * 10 ** rng.uniform(-3, -0.3)
    first = float(rng.uniform(low, high - width))
    return first, first + width


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", WORLDS)
def test_no_true_value_between_two_exceeds_chord_and_parabola(name: str, direction: Direction) -> None:
    rng, attack = np.random.default_rng(5), WORLDS[name]()
    search, known, count = attack.truth_search, 0, 40
    for _ in range(count):
        ends = drawn_box(search, rng)
        epsilon = attack.typical * 10 ** rng.uniform(-2, 1.3)
        left, right = (Ends.at(search, np.array([t]), epsilon, direction) for t in ends)
        bound = float(chord_bound(search, left, right, epsilon, direction)[0])
        between = Ends.at(search, np.linspace(*ends, 21), epsilon, direction)
        assert np.max(between.value) <= bound + 1e-13, (ends, epsilon)
        known += np.isfinite(bound)
    assert known >= (1 if "histogram" in name else count // 2)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_chord_and_parabola_are_of_second_order(direction: Direction) -> None:
    attack = WORLDS["normal"]()
    search, epsilon = attack.truth_search, 0.7
    t = likely_worst(search, epsilon, direction) if direction != "fall" else 0.4
    above = []
    for width in (0.2, 0.1, 0.05):
        left, right = (Ends.at(search, np.array([t + side * width]), epsilon, direction) for side in (-0.5, 0.5))
        middle = Ends.at(search, np.array([t]), epsilon, direction)
        bound = float(chord_bound(search, left, right, epsilon, direction)[0])
        above.append(bound - max(*(float(e.value[0]) for e in (left, middle, right))))
        # No more than a few times what the value itself bends by over the width.
        assert above[-1] <= 1.5 * width**2 * epsilon * float(search.prior.density_range(t, t)[1])
    assert above[2] <= 0.35 * above[1] <= 0.35**2 * above[0] * 1.2


def log_rest(world: TiltedIntegrals, goal: tuple[float, float], peak: float, epsilon: float) -> float:
    """ln ∫ e^{−ε|ψ(x)−ψ(c)|} f outside of a goal."""
    k, c = np.array([epsilon]), np.array([peak])
    below = world.log_tilt(k, np.array([-np.inf]), np.array([goal[0]]), c)
    above = world.log_tilt(-k, np.array([goal[1]]), np.array([np.inf]), c)
    return float(np.logaddexp(below, above)[0])


@pytest.mark.parametrize("name", WORLDS)
def test_no_tent_of_a_box_bends_more_than_its_rest_says(name: str) -> None:
    rng, attack = np.random.default_rng(6), WORLDS[name]()
    search = attack.truth_search
    world = TiltedIntegrals(search.prior, search.form)
    tight, known = 0.0, 0
    for i in range(30 if name in QUICK else 12):
        ends = drawn_box(search, rng)
        ends = ends if i % 3 else (ends[0], ends[0])
        first = attack.typical * 10 ** rng.uniform(-2, 1.3)
        second = first * (1 + 10 ** rng.uniform(-2, -0.3))
        pair = np.array([first]), np.array([second])
        sides = [Sides.of(world, *search.edges(np.array([t])), *pair) for t in ends]
        gap, steepest = (float(v[0]) for v in RestGaps(world).between(sides[0], sides[1], *pair))
        known += np.isfinite(gap)
        for _ in range(3):
            t = float(rng.uniform(*ends))
            lo, hi = (float(e) for e in search.edges(np.asarray(t)))
            inside = np.clip([lo, hi], *search.prior.support)
            peak = float(rng.choice([*inside, rng.uniform(*inside)]))
            logs = [log_rest(world, (lo, hi), peak, e) for e in (first, second)]
            if not np.all(np.isfinite(logs)):
                continue
            assert logs[0] - logs[1] <= steepest + 1e-12
            for share in (0.05, 0.3, 0.5, 0.8):
                middle = log_rest(world, (lo, hi), peak, (1 - share) * first + share * second)
                below = (1 - share) * logs[0] + share * logs[1] - middle
                allowed = np.log1p(4 * share * (1 - share) * gap)
                assert below <= allowed + 1e-12, (ends, t, peak, first, second)
                tight = max(tight, below / allowed if allowed > 1e-9 else 0.0)
    assert known > 5
    assert tight > 0.6  # it says about what some tent needs


def test_two_sides_that_are_points_bend_by_just_what_their_weights_say() -> None:
    epsilon, climb = 0.4, 0.02
    weights = np.array([np.exp(epsilon * 10), 0, 1, 0, np.exp(epsilon * 3)])
    prior = gp.histogram([-10.001, -10, 0, 0.01, 3, 3.001], weights / weights.sum())
    world = TiltedIntegrals(prior, LineForm(slopes=(1.0,)))
    pair = np.array([epsilon - climb / 2]), np.array([epsilon + climb / 2])
    goal = Sides.of(world, np.zeros(1), np.array([0.01]), *pair)
    gap = float(RestGaps(world).between(goal, goal, *pair)[0][0])
    logs = [log_rest(world, (0.0, 0.01), 0.005, float(e)) for e in (pair[0][0], epsilon, pair[1][0])]
    below = 0.5 * (logs[0] + logs[2]) - logs[1]
    assert below <= np.log1p(gap) <= 1.005 * below


@pytest.mark.parametrize("name", WORLDS)
def test_what_lies_on_one_side_is_nowhere_more_spread_than_its_end_says(name: str) -> None:
    rng, attack = np.random.default_rng(9), WORLDS[name]()
    search = attack.truth_search
    world = TiltedIntegrals(search.prior, search.form)
    for _ in range(25):
        ends = drawn_box(search, rng)
        first = attack.typical * 10 ** rng.uniform(-2, 1.3)
        second = first * (1 + 10 ** rng.uniform(-2, -0.3))
        t = np.linspace(*ends, 9)
        every = Sides.of(world, *search.edges(t), np.full(9, first), np.full(9, second))
        left, right = every.pick(np.arange(1)), every.pick(np.array([8]))
        with np.errstate(all="ignore"):
            found = RestGaps(world).of_sides(left, right, np.array([second - first]))
            for most, logs in zip(found, (every.below, every.above), strict=True):
                spread = OF_SINH * of_two_copies(logs[[0, 2, 1]])
                some = np.isfinite(spread) & np.isfinite(logs[1])
                assert np.all(spread[some] <= most * (1 + 1e-9) + 1e-12), (ends, first, second)


@pytest.mark.parametrize("name", QUICK)
def test_no_true_value_of_a_box_rises_above_its_chord_by_more_than_the_room(name: str) -> None:
    rng, attack = np.random.default_rng(7), WORLDS[name]()
    search = attack.truth_search
    for direction in ("rise", "posterior"):
        for _ in range(12):
            ends = drawn_box(search, rng)
            t = np.linspace(*ends, 15)
            first = attack.typical * 10 ** rng.uniform(-1.5, 1.3)
            second = first * (1 + 10 ** rng.uniform(-2, -0.5))
            a, m, b = (Ends.at(search, t, e, direction) for e in (first, 0.5 * (first + second), second))
            bounds = np.max(a.value, keepdims=True), np.max(b.value, keepdims=True)
            rooms = Rooms(search, np.array([first]), np.array([second]), bounds, direction)
            low, high = (np.array([e]) for e in ends)
            room = float(rooms.of(np.zeros(1, dtype=np.int64), low, high, np.empty(0))[0])
            assert np.max(m.value) <= 0.5 * float(bounds[0][0] + bounds[1][0]) + room + 1e-12


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", QUICK)
def test_a_curve_lies_above_every_attack_and_close_to_the_best(name: str, direction: Direction) -> None:
    rng, attack = np.random.default_rng(8), WORLDS[name]()
    search, curve = attack.truth_search, gp.Curve(attack)
    piece = {"rise": curve.rise, "fall": curve.fall, "posterior": curve.believed}[direction]
    assert piece.loose <= 1e-3
    assert piece.epsilon.size <= 400

    def reached(epsilon: float) -> float:
        """The worst of many true values, and of those around it, nearer and nearer."""
        low, high = (float(search.prior.quantile(u)) for u in (1e-12, 1 - 1e-12))
        t = np.append(search.prior.quantile(np.linspace(1e-6, 1 - 1e-6, 301)), np.linspace(low, high, 101))
        bends = search.truths_with_edges_at(
            np.asarray(search.form.cuts)
        )  # where the worst one often is, to the last digit
        t = np.unique(np.clip(np.append(t, bends), search.low, search.high))
        most = 0.0
        for _ in range(3):
            value = Ends.at(search, t, epsilon, direction).value
            best = int(np.argmax(value))
            most = max(most, float(value[best]))
            t = np.linspace(t[max(best - 1, 0)], t[min(best + 1, t.size - 1)], 41)
        return most

    for u in rng.uniform(0.02, 0.98, 12):
        epsilon = float(np.interp(u, np.linspace(0, 1, piece.epsilon.size), piece.epsilon))
        found = piece.at(epsilon)
        assert found is not None
        assert reached(epsilon) <= found <= reached(epsilon * (1 + 1e-3)) * (1 + 1e-5) + 1e-12


@pytest.mark.parametrize("name", ["clamped", "clamped, any value", "jump", "gamma", "percent", "student", "mixture"])
def test_a_curve_answers_as_the_long_search_does(name: str) -> None:
    attack = WORLDS[name]()
    curve = gp.Curve(attack)
    assert curve.within <= 1e-3
    for limit in (0.02, 0.3, 0.8):
        found = curve.epsilon(advantage=limit)
        assert attack.advantage(found).attack <= limit
        assert attack.advantage(found * (1 + 1.1e-3)).bound >= limit
        assert curve.advantage(found) >= attack.advantage(found).attack


def test_knots_that_are_the_same_but_for_rounding_are_searched_as_closely() -> None:
    attack = WORLDS["clamped histogram"]()
    worst = WorstTruths(attack.truth_search, "rise", attack.typical)
    for epsilon in ([8.0], [2.0, 7.9], [np.nextafter(8.0, 0)], [7.9]):
        value, bound = worst.measure(np.array(epsilon))
        assert np.all(bound - value <= 1e-4 * value)


@pytest.mark.parametrize("direction", ["rise", "fall", "posterior"])
def test_a_density_that_jumps_says_nothing_between_two_true_values(direction: Direction) -> None:
    """Not even where likelihoods vanish, or are 1: nothing times an unknown slope is not known."""
    prior = gp.histogram([0, 1, 2, 3], [0.2, 0.5, 0.3])
    search = gp.Attack(gp.within(gp.Attribute("x", prior), 0.3)).truth_search
    for epsilon in (1e-300, 1.0, 1e3, 1e5):
        ends = Ends.at(search, np.array([0.6, 0.8, 1.4, 1.8]), epsilon, direction)
        found = chord_bound(search, ends.pick(slice(0, -1)), ends.pick(slice(1, None)), epsilon, direction)
        assert np.all(np.isposinf(found[[0, 2]])), epsilon
