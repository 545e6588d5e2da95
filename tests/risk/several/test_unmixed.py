"""Jointly normal numbers whose true place is unknown: turned, they are independent, and the question is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.several.bends import NormalBends, believed
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.narrowing import narrowing
from guessproof.risk.several.reaching import Landscape, reached_odds
from guessproof.risk.several.unmixed import Unmixed
from guessproof.risk.several.worst_place import WorstPlace
from guessproof.world.goals import combine

RNG = np.random.default_rng(11)


def pair(correlation: float, **more: Any) -> dict[str, gp.Attribute]:
    mean, sd = RNG.normal(0, 3, 2), RNG.uniform(1, 5, 2)
    found = gp.joint_normal(("x", "y"), mean, sd, correlation).attributes()
    return {a.name: gp.Attribute(a.name, a.prior, **more) for a in found}


def named(place: np.ndarray) -> dict[str, float]:
    return dict(zip("xy", place.tolist(), strict=True))


@pytest.mark.parametrize("correlation", [-0.9, -0.3, 0.0, 0.6, 0.95])
def test_every_place_gives_the_same_before_and_after_turning(correlation: float) -> None:
    world = pair(correlation, scale=1.7)
    goal = gp.near(world.values(), 1.4)
    turned = Unmixed.of(world, goal, "l2")
    assert turned is not None
    bells = [a.prior.normal_form for a in turned.attributes.values()]  # pyright: ignore[reportAttributeAccessIssue]
    for way in RNG.uniform(-1.5, 1.5, (3, 2)):
        place = np.array([bell.mean + w * bell.sd for bell, w in zip(bells, way, strict=True)])
        here = gp.Attack(goal, at=named(turned.back(place)), norm="l2")
        there = gp.Attack(turned.goal, at=named(place), norm="l2")
        assert there.prior == pytest.approx(here.prior, rel=3e-5)
        one, other = (attack.advantage(0.4, tolerance=0.03) for attack in (here, there))
        assert float(one.attack) <= float(other.bound) * (1 + 1e-9)
        assert float(other.attack) <= float(one.bound) * (1 + 1e-9)


def test_only_what_looks_the_same_from_every_side_is_turned() -> None:
    world = pair(0.6)
    x, y = world.values()
    disc = gp.near((x, y), 1.0)
    assert Unmixed.of(world, disc, "l2") is not None
    assert Unmixed.of(world, disc, "linf") is None
    assert Unmixed.of(world, gp.near((x, y), 1.0, by="l1"), "l2") is None
    assert Unmixed.of(world, gp.within(x, 1.0) & gp.within(y, 1.0), "l2") is None
    bounded = {"x": gp.Attribute("x", x.prior, bounds=(-1.0, 1.0)), "y": y}
    scaled = {"x": gp.Attribute("x", x.prior, scale=2.0), "y": y}
    clamped = {"x": gp.Attribute("x", x.prior, metric=gp.Clamped(-3, 3)), "y": y}
    for other in (bounded, scaled, clamped):
        assert Unmixed.of(other, gp.near(other.values(), 1.0), "l2") is None
    apart = {n: gp.Attribute(n, gp.normal(0, 2)) for n in "xy"}
    assert Unmixed.of(apart, gp.near(apart.values(), 1.0), "l2") is None


def test_without_correlation_every_goal_is_one_about_independent_numbers() -> None:
    x, y = gp.joint_normal(("x", "y"), (1, -1), (2, 3), 0.0).attributes()
    apart = gp.Attribute("x", gp.normal(1, 2)), gp.Attribute("y", gp.normal(-1, 3))
    joined, alone = (gp.within(a, 1.0) & gp.within(b, 1.5) for a, b in ((x, y), apart))
    found, same = (gp.Attack(goal, norm="l1").advantage(0.3) for goal in (joined, alone))
    assert float(found.bound) == pytest.approx(float(same.bound), rel=1e-9)
    assert found.worst_at == pytest.approx(same.worst_at)


def test_the_worst_place_of_correlated_numbers_is_bounded_closely() -> None:
    x, y = gp.joint_normal(("x", "y"), (5, -2), (3, 4), 0.6).attributes()
    goal = gp.near((x, y), 1.5)
    found = gp.Attack(goal, norm="l2").advantage(0.3)
    assert 0.93 * float(found.bound) <= float(found.attack)
    assert float(found.bound) <= 0.1352
    best = 0.0
    for way in [(0.0, 0.0), (2.2, 3.5), (-2.2, -3.5), (3.0, -1.0), *RNG.normal(0, 2, (4, 2)).tolist()]:
        one = gp.Attack(goal, at={"x": 5 + way[0], "y": -2 + way[1]}, norm="l2").advantage(0.3)
        best = max(best, float(one.attack))
        assert float(one.attack) <= float(found.bound)
    assert best >= 0.93 * float(found.bound)
    at = gp.Attack(goal, at=found.worst_at, norm="l2")
    assert at.prior == pytest.approx(float(np.asarray(found.worst_prior)), rel=3e-5)
    assert float(at.advantage(0.3).bound) >= float(found.attack) * (1 - 1e-9)


def test_an_epsilon_for_correlated_numbers_keeps_its_limit() -> None:
    world = pair(-0.7)
    goal = gp.near(world.values(), 1.0)
    found = WorstPlace.of(world, goal, "l2")
    assert found is not None
    epsilon = found.epsilon(0.08, "rise", 0.4)
    mean = [a.prior.mean for a in world.values()]  # pyright: ignore[reportAttributeAccessIssue]
    values = [
        float(gp.Attack(goal, at=named(mean + way), norm="l2").advantage(epsilon).attack)
        for way in [np.zeros(2), *RNG.normal(0, 2, (8, 2))]
    ]
    assert 0.08 * 0.9 <= max(values) <= 0.08


def test_no_peak_gives_an_interval_more_than_is_said() -> None:
    s = np.linspace(-10, 10, 8001)
    density, tightest = np.exp(-s * s / 2), 1.0
    for _ in range(60):
        e, ends = float(RNG.uniform(0, 2)), np.sort(RNG.normal(0, 1.5, 2))
        inside = (s >= ends[0]) & (s <= ends[1])
        most = believed(float(ends[0]), float(ends[1]), e)
        for peak in np.linspace(ends[0], ends[1], 17):
            weight = density * np.exp(-e * np.abs(s - peak))
            gained = np.sum(weight[inside]) / np.sum(weight)
            assert gained <= most + 4e-3
            tightest = min(tightest, 1 - gained / most)
    assert tightest < 0.01


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_no_likelihood_gives_a_box_of_correlated_places_more_than_is_said(norm: Any) -> None:
    covariance, slopes, reach = np.array([[4.0, 3.0], [3.0, 5.0]]), np.array([1.0, 0.7]), np.array([0.6, 0.9])
    bends = NormalBends(covariance, slopes, reach, norm)
    x, y = np.meshgrid(np.arange(-10, 10, 0.05), np.arange(-12, 12, 0.05), indexing="ij")
    precision = np.linalg.inv(covariance)
    log_density = -0.5 * (precision[0, 0] * x * x + 2 * precision[0, 1] * x * y + precision[1, 1] * y * y)
    tightest = 1.0
    for _ in range(12):
        low, epsilon = RNG.normal(0, 2, 2), float(RNG.uniform(0.1, 1.0))
        high = low + RNG.uniform(0, 0.5, 2)
        place = RNG.uniform(low, high)
        right = (np.abs(x - place[0]) <= reach[0]) & (np.abs(y - place[1]) <= reach[1])
        way = combine(norm, [slopes[0] * np.abs(x - place[0]), slopes[1] * np.abs(y - place[1])])
        weight = np.exp(log_density - epsilon * way)
        gained, most = float(np.sum(weight[right]) / np.sum(weight)), bends.within(low, high, epsilon, misses=False)
        before = np.exp(log_density)
        assert gained <= most * (1 + 0.02)  # squares of 0.05 are cut by the goal's edge
        assert float(np.sum(before[right]) / np.sum(before)) <= bends.within(low, high, epsilon, misses=True) * 1.05
        tightest = min(tightest, 1 - gained / most)
    assert tightest < 0.75


def test_heights_beyond_all_measure_claim_nothing() -> None:
    """A climb may go astray; what its landscape reaches is still no more than the bound."""
    x, y = (gp.Attribute(name, gp.normal(0, 2)) for name in "xy")
    goal = gp.near((x, y), 1.0)
    state = narrowing(JointAttack({"x": x, "y": y}, {"x": 0.5, "y": 0.0}, "l2"), goal, 0.5)
    assert state is not None
    for sign in (+1, -1):
        for size in (1e6, 1e18, 1e24):
            heights = size * RNG.normal(size=len(state.anchors))
            for land in (Landscape(state.anchors, heights, sign), Landscape(state.anchors, 0 * heights + size, sign)):
                assert reached_odds(state.tiles, land, "l2", 0.5) <= state.bound + 1e-9


def test_a_strip_of_hardly_correlated_numbers_is_bounded_as_one_number() -> None:
    """Here nothing is lost: one number alone tells of the strip, and a peak in it is nearly the best attack."""
    bends = NormalBends(np.array([[4.0, 0.02], [0.02, 5.0]]), np.array([1.3, 1.0]), np.array([0.6, 60.0]), "l1")
    x = np.arange(-16, 16, 1e-3) + 5e-4
    for place in (0.0, 0.8):
        right, way = np.abs(x - place) <= 0.6, np.array([place, 0.0])
        for epsilon, misses in ((0.3, False), (1.0, False), (1.0, True)):
            peaks = [0.0] if misses else np.linspace(place - 0.5, place + 0.5, 21)
            weights = [np.exp(-x * x / 8 - (0.0 if misses else 1.3 * epsilon) * np.abs(x - c)) for c in peaks]
            gained = max(float(np.sum(w[right]) / np.sum(w)) for w in weights)
            assert gained * (1 - 1e-6) <= bends.within(way, way, epsilon, misses) <= 1.04 * gained
