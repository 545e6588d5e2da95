"""The worst true place of normal numbers: no place exceeds it, and it is near what some place gives."""

from __future__ import annotations

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.several.bends import least_spread, spread
from guessproof.risk.several.carried import leant
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.moving import BoxBeliefs, moving
from guessproof.risk.several.plane import Boxes2, plane_of
from guessproof.risk.several.worst_place import WorstPlace

X, Y = gp.Attribute("x", gp.normal(1.0, 2.0)), gp.Attribute("y", gp.normal(-1.0, 3.0))
BOX = gp.within(X, 1.0) & gp.within(Y, 1.5)


def exact(place: tuple[float, float], epsilon: float, aim: str) -> tuple[float, float]:
    """The belief in the box before and after, by ℓ1: there the product of single beliefs is exact."""
    singles = [gp.Attack(gp.within(a, r), at={a.name: t}) for a, r, t in ((X, 1.0, place[0]), (Y, 1.5, place[1]))]
    side = "lower" if aim == "fall" else "upper"
    return float(np.prod([s.prior for s in singles])), float(
        np.prod([float(s.posterior(epsilon, side).bound) for s in singles])
    )


def corners_of(low: np.ndarray, high: np.ndarray, epsilon: float, aim: str) -> BoxBeliefs:
    found = [exact((a, b), epsilon, aim) for a in (low[0], high[0]) for b in (low[1], high[1])]
    p, u = (np.array(side) for side in zip(*found, strict=True))
    if aim == "fall":
        p, u = 1 - p, 1 - u
    return BoxBeliefs(np.log(p), np.log1p(-p), np.log(u), np.log1p(-u))


def test_no_place_in_a_box_exceeds_what_its_corners_prove() -> None:
    rng = np.random.default_rng(5)
    world = moving({"x": X, "y": Y}, BOX, "l1")
    assert world is not None
    tightest = 1.0
    for _ in range(24):
        epsilon, aim = float(rng.choice([0.05, 0.3, 1.0])), str(rng.choice(["rise", "fall", "posterior"]))
        half = rng.uniform(0.2, 2.0, 2)
        low, high = (rng.uniform(-2, 3, 2) * rng.choice([0, 1]) + sign * half for sign in (-1, 1))
        low, high = np.minimum(low, high), np.maximum(low, high) + 0.1
        after, misses = aim == "posterior", aim == "fall"
        corners = corners_of(low + world.mean, high + world.mean, epsilon, aim)
        most = world.most(corners, low, high, epsilon, misses, after)
        for place in (0.5 * (low + high), *rng.uniform(low, high, (4, 2))):
            p, u = exact((place[0] + 1.0, place[1] - 1.0), epsilon, aim)
            value = u if after else abs(u - p)
            assert value <= most * (1 + 1e-9)
            tightest = min(tightest, 1 - value / most)
    assert tightest < 0.04


def test_variances_under_likelihoods_stay_within_what_is_proven() -> None:
    rng, x = np.random.default_rng(6), np.linspace(-9, 9, 3001)
    for _ in range(60):
        e, end = float(rng.uniform(0.01, 3)), float(rng.uniform(0, 3))
        slope = e * np.clip(np.cumsum(rng.normal(size=x.size)) * 0.2 + rng.normal(), -1, 1)
        if rng.random() < 0.5:
            slope = e * np.sign(x + rng.normal() * 0.3) * rng.choice([-1, 1])
        weight = np.exp(np.cumsum(slope) * (x[1] - x[0]) - x**2 / 2)
        variance = np.average(x**2, weights=weight) - np.average(x, weights=weight) ** 2
        assert float(least_spread(np.array(e))) - 1e-3 <= variance <= spread(e) + 1e-3
        falling = np.where(x > end, -np.abs(slope), np.where(x < -end, np.abs(slope), slope))
        weight = np.exp(np.cumsum(falling) * (x[1] - x[0]) - x**2 / 2)
        assert np.average(x**2, weights=weight) <= spread(e, end) + 1e-3


@pytest.mark.parametrize(("e", "end"), [(34.0, 5.0), (36.0, 5.0), (80.0, 0.5), (100.0, 40.0)])
def test_no_likelihood_spreads_further_however_steep(e: float, end: float) -> None:
    """Where masses below the end are no numbers, too."""
    s = np.linspace(0.0, end + 10, 200_001)
    logs = e * np.minimum(s, end) - s * s / 2
    most = np.average(s * s, weights=np.exp(logs - np.max(logs)))
    assert most * (1 - 1e-3) <= spread(e, end) <= 1.05 * most


def test_shares_of_tiles_hold_where_these_are_carried_to() -> None:
    """A tile that the goal's edge cuts has another share of correct guesses where the prior leans another way."""
    rng, plane = np.random.default_rng(7), plane_of(JointAttack({"x": X, "y": Y}, {}, "l2"), gp.near((X, Y), 1.0))
    assert plane is not None
    changed = 0.0
    for _ in range(200):
        low, size, way = rng.normal(0, 2, 2), rng.uniform(0.01, 0.8, 2), rng.uniform(-1.5, 1.5, 2)
        boxes, cut = Boxes2.product(*([a, a + b] for a, b in zip(low, size, strict=True))), rng.random()  # pyright: ignore[reportArgumentType]
        part = Boxes2.product([low[0], low[0] + cut * size[0]], [low[1], low[1] + size[1]])  # pyright: ignore[reportArgumentType]
        s = float(plane.mass(part)[0] / plane.mass(boxes)[0])
        there = float((plane.mass(plane.moved(part, way)) / plane.mass(plane.moved(boxes, way)))[0])
        least, most, none, every = leant(plane, boxes, np.array([[s], [s], [0.0], [1.0]]), way)[:, 0]
        assert least <= there * (1 + 1e-9)
        assert there <= most * (1 + 1e-9)
        assert (none, every) == (0.0, 1.0)
        changed = max(changed, abs(there - s) / (most - s))
    assert changed > 0.5  # what stays as it was would be wrong, and this is not far from it


@pytest.mark.parametrize("aim", ["rise", "fall", "posterior"])
def test_the_worst_place_is_found_where_the_answer_is_exact(aim: str) -> None:
    found = WorstPlace.of({"x": X, "y": Y}, BOX, "l1")
    assert found is not None
    worst = found.worst(0.3, aim)  # pyright: ignore[reportArgumentType]
    values = []
    for x in np.linspace(-3, 5, 9):
        for y in np.linspace(-7, 5, 9):
            p, u = exact((float(x), float(y)), 0.3, aim)
            values.append(u if aim == "posterior" else abs(u - p))
    assert max(values) <= worst.bound <= max(values) * 1.03


PAIRS = {
    "unlike": (X, Y, 1.0, 1.5),
    "alike": (gp.Attribute("x", gp.normal(1.0, 2.0)), gp.Attribute("y", gp.normal(-1.0, 2.0)), 1.2, 1.2),
    "alike, at other places": (
        gp.Attribute("x", gp.normal(0.0, 2.0), bounds=(3.0, 9.0)),
        gp.Attribute("y", gp.normal(0.0, 2.0), bounds=(-9.0, 1.0)),
        1.0,
        1.0,
    ),
    "alike, apart": (
        gp.Attribute("x", gp.normal(0.0, 2.0), bounds=(0.0, 9.0)),
        gp.Attribute("y", gp.normal(0.0, 2.0), bounds=(0.0, 0.3)),
        1.7,
        1.7,
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("aim", "limit"), [("rise", 0.02), ("rise", 0.1), ("fall", 0.03), ("posterior", 0.4)])
def test_epsilon_keeps_its_limit_at_every_place_and_hardly_less(pair: str, aim: str, limit: float) -> None:
    """Boxes that are settled at one ε stay so at smaller ones; numbers that are alike change places."""
    x, y, *radii = PAIRS[pair]
    found = WorstPlace.of({"x": x, "y": y}, gp.within(x, radii[0]) & gp.within(y, radii[1]), "l1")
    assert found is not None
    epsilon = found.epsilon(limit, aim, 0.7)  # pyright: ignore[reportArgumentType]
    sides: list[tuple[np.ndarray, np.ndarray]] = []
    for a, r in zip((x, y), radii, strict=True):
        ends = np.clip(np.array([-8.0, 8.0]), *a.range)
        singles = [gp.Attack(gp.within(a, r), at={a.name: float(t)}) for t in np.linspace(*ends, 65)]
        side = "lower" if aim == "fall" else "upper"
        after = np.array([float(s.posterior(epsilon, side).bound) for s in singles])
        sides.append((np.array([s.prior for s in singles]), after))
    p, u = (np.outer(*(side[k] for side in sides)) for k in (0, 1))  # by ℓ1 the product of single beliefs is exact
    most = float(np.max(u if aim == "posterior" else np.abs(u - p)))
    assert limit * 0.97 <= most <= limit * (1 + 1e-9)


def test_a_place_at_sea_without_a_true_one() -> None:
    east, north = (gp.Attribute(n, gp.normal(0, 35.36)) for n in ("east", "north"))
    goal = gp.near((east, north), 10)
    epsilon = gp.Attack(goal, norm="l2").epsilon(advantage=0.1)
    assert 0.0452 * 0.97 <= epsilon <= 0.0452001
    for place in ((0, 0), (8, 0), (30, -20)):
        one = gp.Attack(goal, at=dict(zip(("east", "north"), place, strict=True)), norm="l2")
        assert float(one.advantage(epsilon).attack) <= 0.1


def test_declared_bounds_say_where_people_are() -> None:
    far = gp.Attribute("x", gp.normal(1.0, 2.0), bounds=(4.0, 9.0))
    near = WorstPlace.of({"x": X, "y": Y}, BOX, "l1")
    there = WorstPlace.of({"x": far, "y": Y}, gp.within(far, 1.0) & gp.within(Y, 1.5), "l1")
    assert near is not None
    assert there is not None
    most, best = near.worst(0.3, "rise").bound, there.worst(0.3, "rise")
    assert best.place[0] >= 4.0
    assert best.bound < most
    assert best.bound >= exact((4.0, -1.0), 0.3, "rise")[1] - exact((4.0, -1.0), 0.3, "rise")[0]


def test_a_clamped_distance_is_judged_as_a_straight_one() -> None:
    clamped = gp.Attribute("x", gp.normal(1.0, 2.0), metric=gp.Clamped(-3, 3))
    world = moving({"x": clamped, "y": Y}, gp.within(clamped, 1.0) & gp.within(Y, 1.5), "linf")
    assert world is not None
    assert world.attributes["x"].distance.distance(-9.0, 9.0) >= clamped.distance.distance(-9.0, 9.0)
    found = gp.Attack(gp.within(clamped, 1.0) & gp.within(Y, 1.5)).advantage(0.3)
    assert 0.9 * float(found.bound) <= float(found.attack) <= float(found.bound)
    assert moving({"x": X, "y": Y}, gp.within(X, 1.0) | gp.within(Y, 1.5), "linf") is None
    other = gp.Attribute("x", gp.lognormal(1, 1))
    assert moving({"x": other, "y": Y}, gp.within(other, 1.0) & gp.within(Y, 1.5), "linf") is None


def test_the_worst_pair_of_numbers_is_within_five_percent() -> None:
    x, y = gp.Attribute("x", gp.normal(0, 2)), gp.Attribute("y", gp.normal(0, 3))
    goal = gp.within(x, 1) & gp.within(y, 1)
    found = WorstPlace.of({"x": x, "y": y}, goal, "linf")
    assert found is not None
    assert found.worst(0.3, "rise", enough=0.0807).bound <= 0.0807
    attack = gp.Attack(goal, at={"x": 0.0, "y": 2.0}).advantage(0.3)
    assert 0.0768 <= float(attack.attack) <= 0.0807
