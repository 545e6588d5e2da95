"""Shares that are level: Newton's steps against plain derivatives, and proofs that leave nothing out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import guessproof as gp
from guessproof.risk.several.anchors import MiscountedTiles, levelled_bound, merged, offered, uphill
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.levelling import Curvature, halves_at, levelled
from guessproof.risk.several.narrowing import Narrowing, narrowing
from guessproof.risk.several.program import Edges, best_odds
from guessproof.risk.several.tile import Tiles
from guessproof.world.checks import Array
from guessproof.world.goals import Goal

X, Y = gp.Attribute("x", gp.normal(0, 2)), gp.Attribute("y", gp.normal(0, 3))
BOX, EITHER = gp.within(X, 1) & gp.within(Y, 1), gp.within(X, 1) | gp.within(Y, 1)
DISC = gp.near((X, Y), 1.5)


def first_round(goal: Goal, norm: str, epsilon: float = 1.0) -> Narrowing:
    found = narrowing(JointAttack({"x": X, "y": Y}, {"x": 1.5, "y": 2.0}, norm), goal, epsilon)
    assert found is not None
    return found


def sides_of(state: Narrowing, offers: int):
    return offered(state.tiles, state.anchors, state.norm, state.epsilon, state.log_w, offers)


@pytest.mark.parametrize("offers", [7, 1000])
def test_the_curvature_is_that_of_the_odds_but_for_a_variance(offers: int) -> None:
    """Against differences of the slope; what is left out is the variance of shares among correct tiles."""
    state, sharpness, rng = first_round(~EITHER, "linf"), 5.0, np.random.default_rng(3)
    sides, log_w = sides_of(state, offers), state.log_w
    halves = halves_at(sides, log_w, sharpness)
    curved = Curvature.of(sides, halves, sharpness)

    def slope(at: Array) -> Array:
        right, wrong = halves_at(sides, at, sharpness)
        return wrong.handed - right.handed

    for _ in range(4):
        way = rng.normal(size=log_w.size)
        measured = (slope(log_w + 1e-5 * way) - slope(log_w - 1e-5 * way)) / 2e-5
        right, side = halves[0], sides[0]
        along = np.sum(right.share * (way[:, None] if side.anchor is None else way[side.anchor]), axis=0)
        mean = float(np.sum(right.part * along))
        left_out = side.gathered(right.share * (right.part * along)) - right.handed * mean
        np.testing.assert_allclose(curved.times(way), measured + left_out, atol=2e-3 * np.max(np.abs(measured)))


@pytest.mark.parametrize(("goal", "norm"), [(~EITHER, "linf"), (~BOX, "linf"), (DISC, "l2")])
def test_levelled_shares_are_level_and_reach_no_less_than_a_plain_climb(goal: Goal, norm: str) -> None:
    state = first_round(goal, norm)
    sides, start = sides_of(state, 1000), state.log_w
    found, plain = start, start
    for sharpness in (30.0, 100.0):
        found, plain = levelled(sides, found, sharpness, 40), uphill(sides, plain, sharpness, 40)
    right, wrong = halves_at(sides, found, 100.0)
    climbed = halves_at(sides, plain, 100.0)
    assert right.log_total - wrong.log_total >= climbed[0].log_total - climbed[1].log_total - 1e-6
    share = 0.5 * (right.handed + wrong.handed)
    tells = share > 1e-4
    assert np.max(np.abs(right.handed - wrong.handed)[tells] / share[tells]) <= 0.02


@pytest.mark.parametrize(("goal", "norm"), [(~EITHER, "linf"), (~BOX, "l2"), (DISC, "l1")])
def test_bounds_of_rounds_stay_above_what_is_reached_and_finer_ones_are_lower(goal: Goal, norm: str) -> None:
    """Each round's own bound: levelled shares leave no round worse than the one before."""
    state, own = first_round(goal, norm), list[float]()
    for _ in range(3):
        found = levelled_bound(
            state.tiles, state.anchors, norm, 1.0, state.log_w, ((30.0, 8), (100.0, 10), (400.0, 14))
        )
        own.append(found.bound)
        state = state.narrowed(1.7)
        assert found.bound >= state.attack - 1e-9
    assert own[1] <= own[0] + 1e-3
    assert own[2] <= own[1] + 1e-3
    assert own[2] < own[0] - 0.01


@pytest.mark.parametrize("seed", range(20))
def test_anchors_that_are_left_out_are_paid_for(seed: int) -> None:
    """The program without them bounds the whole one, and hardly from above."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 4, (12, 2))
    cost = np.max(np.abs(places[:, None] - places[None]), axis=2)
    right, wrong = rng.normal(size=12), rng.normal(size=12)
    right[:5] -= rng.uniform(5, 40, 5)
    wrong[:5] -= rng.uniform(5, 40, 5)

    def solved(inside: Array, some: NDArray[np.int64]) -> float:
        rows, cols = np.nonzero(~np.eye(some.size, dtype=bool))
        edges = Edges(rows, cols, cost[some[rows], some[cols]])
        return best_odds(np.exp(inside), np.exp(wrong[some]), edges).bound

    inside, some = merged(right, wrong, cost)
    for peak in range(12):  # what is counted for a likelihood that peaks there
        log_m = -cost[peak]
        assert np.logaddexp.reduce(inside + log_m[some]) >= np.logaddexp.reduce(right + log_m) - 1e-14
    whole, fewer = solved(right, np.arange(12)), solved(inside, some)
    assert some.size < 12
    assert whole - 1e-7 <= fewer <= whole + 1e-4  # as close as a solver comes


def test_what_is_counted_too_much_is_taken_off_and_no_more() -> None:
    """Two cells on the edge, one anchor: by hand. The farther they are, the less is sure to be there."""
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    corners = np.stack([square, square + np.array([3.0, 0.0])])
    share, none = (np.array([0.2, 0.3]), np.array([0.6, 0.5])), np.zeros(2)
    wrong = (1 - share[1], 1 - share[0])
    mass, cut = np.array([0.4, 0.6]), np.array([True, True])
    tiles = Tiles(corners, np.full((2, 4), 0.25), mass, share, wrong, cut, none, none)
    counted = MiscountedTiles.of(tiles, (0.35, 0.65), np.zeros((1, 2)), "linf", 0.1)
    assert counted is not None
    assert (counted.over, counted.under) == pytest.approx((0.54 - 0.35, 0.65 - 0.46), abs=1e-6)
    assert counted.ways == pytest.approx([0.4])
    right, wrong_handed = counted.mended(np.log([0.6]), np.log([0.4]), np.zeros(1))
    assert np.exp(right) == pytest.approx([0.6 - 0.19 * np.exp(-0.4)], abs=1e-6)
    assert np.exp(wrong_handed) == pytest.approx([0.4 + 0.19 * np.exp(-0.4)], abs=1e-6)
