"""Narrowing by tiles and anchors: what is reached is really reached, bounds stay above it, rounds narrow."""

from itertools import count

import numpy as np
import pytest
from scipy.stats import norm as bell

import guessproof as gp
from guessproof.risk.bracket import Effort, Progress
from guessproof.risk.several import refining
from guessproof.risk.several.belief import JointEngine
from guessproof.risk.several.cells import Certified, cut
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.narrowing import Narrowing, narrowing
from guessproof.risk.several.plane import Boxes2, plane_of
from guessproof.risk.several.reaching import Landscape, climbed_land, follow, reached_odds
from guessproof.risk.several.tiles import decider, tile_shares
from guessproof.world.goals import Goal, Norm, Not, combine

X, Y = gp.Attribute("x", gp.normal(0, 2)), gp.Attribute("y", gp.normal(0, 3))
BOX = gp.within(X, 1) & gp.within(Y, 1)
DISC = gp.near((X, Y), 1.5)


def at(goal: Goal, t: tuple[float, float], epsilon: float, norm: str = "linf") -> Narrowing:
    found = narrowing(JointAttack({"x": X, "y": Y}, {"x": t[0], "y": t[1]}, norm), goal, epsilon)
    assert found is not None
    return found


def odds_of(land: Landscape, goal: Goal, t: tuple[float, float], norm: str, epsilon: float) -> float:
    """ln odds after the landscape's likelihood, summed on a fine grid."""
    x, y = (np.linspace(-7 * s, 7 * s, 701) for s in (2, 3))
    x, y = 0.5 * (x[1:] + x[:-1]), 0.5 * (y[1:] + y[:-1])
    log_l = np.full((x.size, y.size), -np.inf)
    for (a, b), h in zip(land.points, land.height, strict=True):
        way = combine(norm, list(np.broadcast_arrays(np.abs(x - a)[:, None], np.abs(y - b)[None, :])))
        log_l = np.maximum(log_l, land.sign * h - epsilon * way)
    mass = bell.pdf(x, scale=2)[:, None] * bell.pdf(y, scale=3)[None, :] * np.exp(land.sign * log_l)
    gaps = np.broadcast_arrays(np.abs(x - t[0])[:, None], np.abs(y - t[1])[None, :])
    inner = goal.part if isinstance(goal, Not) else goal
    inside = (gaps[0] <= 1) & (gaps[1] <= 1) if inner is BOX else combine("l2", list(gaps)) <= 1.5
    inside = ~inside if inner is not goal else inside
    return float(np.log(mass[inside].sum() / mass[~inside].sum()))


@pytest.mark.parametrize(("goal", "norm"), [(BOX, "linf"), (~BOX, "l2"), (DISC, "l2"), (~DISC, "l1")])
def test_what_is_said_to_be_reached_is_reached(goal: Goal, norm: str) -> None:
    """Peaks and hollows, as they follow the anchors and after a climb, against a plain sum on a fine grid."""
    t, epsilon = (1.5, 2.0), 0.6
    state = at(goal, t, epsilon, norm)
    for sign in (+1, -1):
        land = follow(state.tiles, state.anchors, state.log_w, norm, epsilon, sign, 40)
        for one in (land, climbed_land(state.tiles, land, norm, epsilon)):
            said, reached = reached_odds(state.tiles, one, norm, epsilon), odds_of(one, goal, t, norm, epsilon)
            assert said <= reached + 2e-3  # what the grid itself misses
            assert said >= reached - 0.25
            assert said <= state.bound


@pytest.mark.parametrize("t", [(0.0, 0.0), (1.5, 2.0)])
def test_falls_of_belief_in_a_box_are_within_three_percent(t: tuple[float, float]) -> None:
    state = at(~BOX, t, 1.0)
    for _ in range(4):
        state, before = state.narrowed(2.0), state
        assert before.attack <= state.attack <= state.bound <= before.bound
    assert np.expm1(state.bound - state.attack) <= 0.03


FIRST, SECOND = gp.Attribute("first", gp.normal(10, 3)), gp.Attribute("second", gp.normal(5, 2))


@pytest.mark.parametrize(("norm", "sign", "wide"), [("linf", +1, 0.13), ("l2", +1, 0.1), ("l2", -1, 0.2)])
def test_a_product_is_narrowed_around_likelihoods_on_a_grid(norm: Norm, sign: int, wide: float) -> None:
    """Tiles measured in parts: what they say is reached is reached on a fine grid, and their bound is above it."""
    product, t, epsilon = gp.within(FIRST * SECOND, 5), {"first": 11.0, "second": 5.5}, 0.6
    goal = product if sign > 0 else ~product
    state = narrowing(JointAttack({"first": FIRST, "second": SECOND}, t, norm), goal, epsilon)
    assert state is not None
    for _ in range(2):
        state, before = state.narrowed(2.0), state
        assert before.attack <= state.attack <= state.bound <= before.bound
    parts = state.tiles.parts
    assert parts is not None
    assert parts.tiles.mass.sum() == pytest.approx(state.tiles.mass.sum(), rel=1e-9)
    assert np.expm1(state.bound - state.attack) <= wide
    land = state.land
    assert land is not None
    x, y = (np.linspace(m - 7 * s, m + 7 * s, 701) for m, s in ((10, 3), (5, 2)))
    x, y = 0.5 * (x[1:] + x[:-1])[:, None], 0.5 * (y[1:] + y[:-1])[None, :]
    log_l = np.full((x.size, y.size), -np.inf)
    for (a, b), h in zip(land.points, land.height, strict=True):
        way = combine(norm, list(np.broadcast_arrays(np.abs(x - a), np.abs(y - b))))
        log_l = np.maximum(log_l, land.sign * h - epsilon * way)
    mass = bell.pdf(x, 10, 3) * bell.pdf(y, 5, 2) * np.exp(land.sign * log_l)
    inside = (np.abs(x * y - 60.5) <= 5) == (sign > 0)
    reached = float(np.log(mass[inside].sum() / mass[~inside].sum()))
    assert state.attack <= reached + 2e-3  # what the grid itself misses
    assert state.bound >= reached - 2e-3


@pytest.mark.parametrize(("either", "norm", "wide"), [(True, "linf", 0.08), (False, "l2", 0.08)])
def test_straight_ends_of_dependent_numbers_are_narrowed_around_likelihoods_on_a_grid(
    either: bool, norm: Norm, wide: float
) -> None:
    """Anchors stand along every straight end, also where it is an end of tiles: without them this is 30 % wide."""
    lon, lat = gp.joint_normal(("lon", "lat"), mean=(0, 0), sd=(3, 4), correlation=0.6).attributes()
    one, two = gp.within(lon, 1), gp.within(lat, 1)
    truth, epsilon = {"lon": 2.0, "lat": 3.0}, 0.3 if either else 1.0
    state = narrowing(JointAttack({"lon": lon, "lat": lat}, truth, norm), one | two if either else one & two, epsilon)
    assert state is not None
    state, before = state.narrowed(1.7), state
    assert before.attack <= state.attack <= state.bound <= before.bound
    assert np.expm1(state.bound - state.attack) <= wide
    land = state.land
    assert land is not None
    x, y = (np.linspace(-7 * s, 7 * s, 421) for s in (3, 4))  # ends of the goal are ends of its cells
    x, y = 0.5 * (x[1:] + x[:-1])[:, None], 0.5 * (y[1:] + y[:-1])[None, :]
    log_l = np.full((x.size, y.size), -np.inf)
    for (a, b), h in zip(land.points, land.height, strict=True):
        way = combine(norm, list(np.broadcast_arrays(np.abs(x - a), np.abs(y - b))))
        log_l = np.maximum(log_l, land.sign * h - epsilon * way)
    mass = bell.pdf(x, 0, 3) * bell.pdf(y, 0.8 * x, 3.2) * np.exp(land.sign * log_l)
    near = np.abs(x - 2) <= 1, np.abs(y - 3) <= 1
    inside = near[0] | near[1] if either else near[0] & near[1]
    reached = float(np.log(mass[inside].sum() / mass[~inside].sum()))
    assert state.attack <= reached + 2e-3  # what the grid itself misses
    assert state.bound >= reached - 2e-3


def test_shares_of_tiles_on_a_curved_edge_enclose_what_a_fine_grid_says() -> None:
    goal, corners = gp.within(FIRST * SECOND, 5), [(8.0, 5.0), (11.0, 4.4), (5.0, 11.0)]
    attack = JointAttack({"first": FIRST, "second": SECOND}, {"first": 11.0, "second": 5.5}, "linf")
    plane = plane_of(attack, goal)
    assert plane is not None
    x, y = (np.array(side) for side in zip(*corners, strict=True))
    shares = tile_shares(plane, Boxes2((x, y), (x + 2.0, y + 1.0)), decider(attack, goal, plane))
    for (a, b), (least, most, wrong_least, wrong_most) in zip(corners, shares.T, strict=True):
        u, v = (np.linspace(c, c + w, 2001) for c, w in ((a, 2.0), (b, 1.0)))
        u, v = 0.5 * (u[1:] + u[:-1])[:, None], 0.5 * (v[1:] + v[:-1])[None, :]
        mass = bell.pdf(u, 10, 3) * bell.pdf(v, 5, 2)
        share = float(mass[np.abs(u * v - 60.5) <= 5].sum() / mass.sum())
        assert least <= share + 1e-4
        assert share <= most + 1e-4
        assert 0 < most - least < 0.12
        assert (wrong_least, wrong_most) == pytest.approx((1 - most, 1 - least), abs=1e-9)


def test_more_time_is_used_and_narrows() -> None:
    """A clock that ticks when it is looked at, often in a round: who waits longer gets more rounds, in time."""
    ends: list[float] = []
    for seconds in (7.0, 14.0):
        ticks, seen = count(), list[Progress]()
        effort = Effort(1e-9, seconds, lambda ticks=ticks: next(ticks) / 8, seen.append)
        engine = JointEngine(JointAttack({"x": X, "y": Y}, {"x": 1.5, "y": 2.0}, "linf"), BOX)
        attack, bound = engine.refined(-1.0, effort)
        assert attack >= bound
        assert [p.width for p in seen] == sorted((p.width for p in seen), reverse=True)
        assert [p.cells for p in seen] == sorted(p.cells for p in seen)
        assert seen[-1].seconds >= 0.5 * seconds
        ends.append(seen[-1].width)
    assert ends[1] < 0.7 * ends[0]


def test_no_program_is_solved_twice_and_what_is_left_goes_to_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that take 3 s for 1000 cells, on a clock of their own: none of the same size again, then tiles."""
    now, sizes, seen = [0.0], list[int](), list[Progress]()

    def program(joint_attack: JointAttack, goal: Goal, epsilon: float, target: int, seconds: float) -> Certified:
        sizes.append(cut(joint_attack, goal, epsilon, target)[0].mass.size)
        now[0] += min(3 * (sizes[-1] / 1000) ** 1.5, seconds)
        return Certified(-np.inf, np.inf, None, sizes[-1])

    def round_of_tiles(state: Narrowing) -> Narrowing:
        now[0] += 0.5
        return state

    monkeypatch.setattr(refining, "certified_cells", program)
    monkeypatch.setattr(Narrowing, "narrowed", lambda self, *_: round_of_tiles(self))
    mixed = gp.within(X, 0.7) | ~gp.within(Y, 1.1)
    attack = JointAttack({"x": X, "y": Y}, {"x": 1.0, "y": -1.5}, "linf")
    refining.refined(attack, mixed, 0.3, (0.0, 5.0), 0.0, Effort(1e-3, 40.0, lambda: now[0], seen.append), 0.0)
    assert sizes == sorted(set(sizes))
    assert len(sizes) >= 2
    assert seen[-1].cells not in sizes  # tiles
    assert seen[-1].width < 1
    assert now[0] >= 0.8 * 40
