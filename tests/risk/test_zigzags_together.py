"""Several intervals at many ε: the same as one by one, and between two of them nothing exceeds a curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.roots import crossings
from guessproof.risk.sweep import Memory
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.zigzag import components, signed_zigzag
from guessproof.risk.zigzag_gaps import density_parts, gap_of_zigzags
from guessproof.world.checks import Array
from guessproof.world.line_form import LineForm
from risk import one_zigzag
from risk.near_curves import check_near

Random = np.random.Generator
STRAIGHT = LineForm(slopes=(1.0,))

PRIORS: dict[str, Callable[[Random], Any]] = {
    "normal": lambda r: gp.normal(r.uniform(-1, 1), r.uniform(0.5, 3)),
    "uniform": lambda r: gp.uniform(-r.uniform(1, 3), r.uniform(1, 3)),
    "exponential": lambda r: gp.exponential(r.uniform(0.5, 2)),
    "laplace": lambda r: gp.laplace(r.uniform(-1, 1), r.uniform(0.5, 2)),
    "gamma": lambda r: gp.gamma(r.uniform(1.2, 4), 1),
    "histogram": lambda r: gp.histogram([-3, -2, -1, 0, 1.5, 3], r.dirichlet(np.ones(5)).tolist()),
    "histogram with holes": lambda _: gp.histogram([-3, -2, -1, 0, 1.5, 3], [0.3, 0, 0.2, 0.5, 0]),
    "truncated": lambda r: gp.truncated(gp.normal(0, r.uniform(0.5, 2)), -2, 2.5),
}


def cuts(random: Random, count: int) -> tuple[float, ...]:
    return tuple(float(c) for c in np.sort(random.uniform(-2, 2, count)))


FORMS: dict[str, Callable[[Random], LineForm]] = {
    "straight": lambda _: STRAIGHT,
    "clamped": lambda r: LineForm(cuts(r, 2), (0.0, 1.0, 0.0), (0.0, 0.0)),
    "bent, with jumps": lambda r: LineForm(cuts(r, 2), (1.0, 0.5, 0.0), (1.0, float(r.uniform(0, 3)))),
    "only jumps": lambda r: LineForm(cuts(r, 3), (0.0,) * 4, (0.5, 1.5, float(r.uniform(0, 2)))),
}


def drawn_goal(random: Random, prior: Any) -> list[tuple[float, float]]:
    """Two to five intervals of which some of the prior is inside and some outside."""
    while True:
        ends = np.sort(random.uniform(-2.5, 3, 2 * random.integers(2, 6)))
        ends[0] = -np.inf if random.random() < 0.2 else ends[0]
        ends[-1] = np.inf if random.random() < 0.2 else ends[-1]
        intervals = [(float(a), float(b)) for a, b in zip(ends[::2], ends[1::2], strict=True)]
        if len({goal for *_, goal in components(prior, intervals)}) == 2:
            return intervals


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("prior", PRIORS)
def test_many_at_once_are_what_each_is_alone(prior: str, form: str) -> None:
    random = np.random.default_rng([len(prior), len(form)])
    world, distance = PRIORS[prior](random), FORMS[form](random)
    intervals = drawn_goal(random, world)
    k = np.concatenate([[0.0], np.exp(random.uniform(np.log(1e-3), np.log(8), 2)), [-0.7]])
    with np.errstate(all="ignore"):
        alone = np.array([one_zigzag.signed_zigzag(world, distance, intervals, float(each)) for each in k]).T
    together, memories = signed_zigzag(world, distance, intervals, k), (Memory(), Memory())
    for some in (k[::2], k[1::2]):  # what is remembered of the first ones changes little of the others
        followed = signed_zigzag(world, distance, intervals, some, memories)
        expected = np.array(together)[:, np.isin(k, some)]
        np.testing.assert_allclose(followed, expected, rtol=4e-10, atol=4e-10)
    np.testing.assert_allclose(together, alone, rtol=4e-13, atol=4e-13)
    attack, bound = np.abs(together)
    assert np.all((attack <= bound) | np.isinf(bound))


def test_what_is_remembered_without_an_end_has_one_before_it() -> None:
    """An unbounded goal is certain from some ε on: what lies below that is not, whatever was asked first."""
    prior, intervals, memories = gp.exponential(10), [(2.0, 5.0), (20.0, np.inf)], (Memory(), Memory())
    k = np.array([0.3, 0.02, 0.05, 0.09, 0.5])
    followed = [signed_zigzag(prior, STRAIGHT, intervals, k[i : i + 1], memories)[1] for i in range(k.size)]
    alone = signed_zigzag(prior, STRAIGHT, intervals, k)[1]
    assert np.isinf(alone).tolist() == [True, False, False, False, True]
    np.testing.assert_allclose(np.concatenate(followed), alone, rtol=4e-10, atol=4e-10)


def test_a_bound_rises_with_epsilon_down_to_its_last_digits() -> None:
    prior, intervals = gp.normal(0, 1), [(-1.0, 0.0), (0.5, 1.0)]
    k = np.multiply.outer(np.array([1e-6, 1e-3, 0.4, 3.0]), 1 + 1e-11 * np.arange(40.0)).ravel()
    apart = [signed_zigzag(prior, STRAIGHT, intervals, k[i : i + 1])[1].item() for i in range(k.size)]
    assert np.all(np.diff(apart) >= 0)
    assert np.all(np.diff(signed_zigzag(prior, STRAIGHT, intervals, k, (Memory(), Memory()))[1]) >= 0)


@pytest.mark.parametrize("is_left", [True, False])
@pytest.mark.parametrize("prior", ["normal", "laplace", "truncated"])
def test_a_rest_on_one_side_is_told_within_a_fifth(prior: str, is_left: bool) -> None:
    """Then there is one group, and only one s: what lies below the chord is known, and the bound is near it."""
    world = PRIORS[prior](np.random.default_rng(6))
    at, (low, high) = 0.4, world.support
    pieces = [(low, at, not is_left), (at, high, is_left)]
    first = np.array([0.3, 1.0, 4.0])
    second = first * 1.2
    gap = gap_of_zigzags(density_parts(TiltedIntegrals(world, STRAIGHT), pieces), first, second)
    sign, ends = (1, (low, at)) if is_left else (-1, (at, high))
    logs = [world.log_tilt(sign * e, *ends, at) for e in (first, 0.5 * (first + second), second)]
    below = 0.5 * (logs[0] + logs[2]) - logs[1]
    assert np.all(below <= np.log1p(gap))
    assert np.all(np.log1p(gap) <= 1.2 * below)


LUMPS = gp.histogram([-4, -3.9, 1, 1.02, 1.1], [0.5, 0, 0.2, 0.3])  # either side is nearly one value


@pytest.mark.parametrize(("prior", "rates"), [("normal", 1.0), ("laplace", 1.0), ("exponential", 1.0), ("lumps", 0.3)])
def test_a_rest_on_two_sides_is_told_within_a_factor(prior: str, rates: float) -> None:
    """Beside one narrow interval the two sides are nearly as high as each other: what they weigh is known."""
    world, lo, hi = LUMPS if prior == "lumps" else PRIORS[prior](np.random.default_rng(6)), 1.0, 1.02
    (low, high), first = world.support, rates * np.array([0.3, 1.0, 4.0])
    second, pieces = first * 1.1, [(low, lo, False), (lo, hi, True), (hi, high, False)]
    gap, below = gap_of_zigzags(density_parts(TiltedIntegrals(world, STRAIGHT), pieces), first, second), np.zeros(3)
    for peak in np.linspace(lo, hi, 9):
        logs = [
            np.logaddexp(world.log_tilt(e, low, lo, peak), world.log_tilt(-e, hi, high, peak))
            for e in (first, 0.5 * (first + second), second)
        ]
        below = np.maximum(below, 0.5 * (logs[0] + logs[2]) - logs[1])
    assert np.all(below <= np.log1p(gap))
    assert np.all(np.log1p(gap) <= 2.5 * below)  # the looser side counts for both


def test_a_shape_of_any_kind() -> None:
    """One number, an empty array, a table: as many answers."""
    prior, intervals = gp.normal(0, 1), [(-1.0, 0.0), (0.5, 1.0)]
    for shape in ((), (0,), (2, 3)):
        found = signed_zigzag(prior, STRAIGHT, intervals, np.full(shape, 0.7))
        assert all(part.shape == shape for part in found)


def test_crossings_enclose_the_roots_of_many_functions() -> None:
    random = np.random.default_rng(4)
    at, steep = random.uniform(0.1, 5, 200), np.exp(random.uniform(-3, 9, 200))

    def shape(x: Array, some: Any) -> Array:
        return np.tanh(steep[some] * (x - at[some]))

    every, low, high = np.arange(200), np.zeros(200), np.full(200, 6.0)
    found = crossings(shape, low, high, (shape(low, every), shape(high, every)), 1e-12)
    assert np.all((found[0] <= at) & (at <= found[1]))
    assert np.all(found[1] - found[0] <= 1e-12 * (1 + found[1]))


def log_of_rest(mass: Array, s: Array, epsilon: float) -> float:
    return float(np.logaddexp.reduce(epsilon * s + np.log(mass)))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("form", ["straight", "clamped", "bent, with jumps"])
@pytest.mark.parametrize("prior", ["normal", "uniform", "exponential", "laplace"])
def test_nothing_of_a_rest_lies_further_below_its_chord(prior: str, form: str, sign: int) -> None:
    """Drawn heights at the edges of all intervals, and the lowest rest that goes with them."""
    random = np.random.default_rng([len(prior), len(form), sign + 1])
    world, distance = PRIORS[prior](random), FORMS[form](random)
    least, low, high, most = (float(v) for v in world.quantile([1e-12, 0.03, 0.97, 1 - 1e-12]))
    edges = np.sort(random.uniform(low, high, 2 * random.integers(2, 4)))
    intervals = [(float(a), float(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    ends = np.unique(np.concatenate([np.linspace(least, most, 4001), edges, distance.cuts]))
    x, mass = 0.5 * (ends[1:] + ends[:-1]), np.asarray(world.mass(ends[:-1], ends[1:]))
    x, mass = x[mass > 0], mass[mass > 0]
    inside = np.any([(x >= a) & (x <= b) for a, b in intervals], axis=0)
    goal = inside if sign > 0 else ~inside
    pieces = [(a, b, g if sign > 0 else not g) for a, b, g in components(world, intervals)]
    parts = density_parts(TiltedIntegrals(world, distance), pieces)
    psi, at = distance.psi(x), distance.psi(edges)
    apart, mass, nearest = np.abs(psi[~goal, None] - at), mass[~goal], 0.0
    for first, second in ((0.3, 0.4), (1.0, 1.3), (4.0, 4.4), (0.5, 1.5), (10.0, 10.5)):
        gap = float(gap_of_zigzags(parts, np.array([first]), np.array([second]))[0])
        for _ in range(40):
            rises = np.clip(random.normal(0, 1.5, at.size - 1), -1, 1) * np.diff(at)
            heights = np.concatenate([[0.0], np.cumsum(rises)])
            s = np.max(heights - apart, axis=1)
            logs = [log_of_rest(mass, s, e) for e in (first, second)]
            for share in (0.25, 0.5, 0.75):
                chord = (1 - share) * logs[0] + share * logs[1]
                below = chord - log_of_rest(mass, s, (1 - share) * first + share * second)
                proven = np.log1p(4 * share * (1 - share) * gap)
                assert below <= proven * (1 + 1e-6) + 1e-12
                nearest = max(nearest, below / proven)
    assert nearest > 0.05 or form != "straight"  # some come as near; a clamped distance may be 0 all over a rest


X = gp.Attribute("x", prior=gp.normal(0, 1))
CURVES: dict[str, gp.Attack] = {
    "normal": gp.Attack(gp.inside(gp.Attribute("x", prior=gp.normal(50, 10)), (40, 50), (60, 70))),
    "clamped": gp.Attack(
        gp.inside(gp.Attribute("x", prior=gp.normal(50, 10), metric=gp.Clamped(30, 65)), (40, 50), (60, 70))
    ),
    "jump": gp.Attack(
        gp.inside(
            gp.Attribute("x", prior=gp.laplace(0, 1), metric=gp.Absolute() + gp.Threshold(0.5)), (-1, 0), (0.3, 1)
        )
    ),
    "step": gp.Attack(
        gp.inside(
            gp.Attribute("x", prior=gp.uniform(0, 1), metric=gp.Absolute() + 0.2 * gp.Discrete()), (0, 0.1), (0.3, 0.7)
        )
    ),
    "unbounded goal": gp.Attack(gp.inside(gp.Attribute("x", prior=gp.exponential(10)), (2, 5), (20, np.inf))),
    "true value": gp.Attack(
        gp.within(X, 0.4) | gp.inside(X, (1, 2)),
        at={"x": -0.5},
    ),
}


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_of_several_intervals_is_near_and_never_below(name: str) -> None:
    attack, random = CURVES[name], np.random.default_rng(len(name))
    curve = gp.Curve(attack)
    check_near(curve, random)


def test_a_curve_of_several_intervals_has_few_knots() -> None:
    assert all(gp.Curve(CURVES[name]).rise.epsilon.size <= 250 for name in ("normal", "clamped"))
