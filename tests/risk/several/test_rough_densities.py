"""Tiles of densities that jump, have narrow hills, rise without end or fall slowly: means, tails and bounds hold."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaincc

import guessproof as gp
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.narrowing import Narrowing, narrowing
from guessproof.risk.several.peak_attack import mean_places
from guessproof.risk.several.plane import Boxes2, plane_of

COMB = np.linspace(-6.0, 6.0, 121)
WEIGHTS = np.where(np.arange(120) % 5 == 3, 1.0, 0.02) * np.exp(-(((COMB[1:] + COMB[:-1]) / 4) ** 2) / 2)
TEETH = WEIGHTS / WEIGHTS.sum()


class Comb:
    """A histogram of very many bins, few of which hold much."""

    def cdf(self, x: Any) -> Any:
        return np.interp(x, COMB, np.concatenate([[0.0], np.cumsum(TEETH)]))


class Spike:
    """A narrow hill on a wide one."""

    def cdf(self, x: Any) -> Any:
        return 0.5 * stats.norm(0, 3).cdf(x) + 0.5 * stats.norm(0.83, 0.01).cdf(x)


WORLDS: dict[str, tuple[Any, Any, tuple[float, float]]] = {
    "comb": (gp.histogram(COMB, TEETH), Comb(), (-6.0, 6.0)),
    "spike": (gp.mixture((0.5, gp.normal(0, 3)), (0.5, gp.normal(0.83, 0.01))), Spike(), (-9.0, 9.0)),
    "gamma": (gp.gamma(0.1, 4.0), stats.gamma(0.1, scale=4.0), (0.0, 20.0)),
    "beta": (gp.beta(0.3, 0.4, -3, 3), stats.beta(0.3, 0.4, -3, 6), (-3.0, 3.0)),
    "scipy": (gp.from_scipy(stats.weibull_min(0.5, scale=2.0)), stats.weibull_min(0.5, scale=2.0), (0.0, 20.0)),
}


def split_finely(law: Any, edges: Any, parts: int = 20_000) -> tuple[Any, Any]:
    """Middles and masses of very many pieces between edges, dense where the law rises without end."""
    share = np.linspace(0.0, 1.0, parts + 1)
    steep = np.unique(np.concatenate([share, share**8, 1 - share**8]))
    fine = np.unique(np.concatenate([a + (b - a) * steep for a, b in pairwise(edges)]))
    return 0.5 * (fine[1:] + fine[:-1]), np.diff(law.cdf(fine))


@pytest.mark.parametrize("name", WORLDS)
def test_means_of_pieces_are_those_of_sums_over_very_many_smaller_ones(name: str) -> None:
    prior, law, (low, high) = WORLDS[name]
    edges = np.linspace(low, high, 24)
    found = mean_places(prior, edges[:-1], edges[1:], False)
    for place, a, b in zip(found, edges[:-1], edges[1:], strict=True):
        x, mass = split_finely(law, np.array([a, b]))
        assert place == pytest.approx(((x - a) @ mass) / mass.sum() / (b - a), abs=2e-4)


def test_pieces_that_stand_more_than_once_or_have_no_end_keep_their_places() -> None:
    prior, left, right = WORLDS["gamma"][0], np.array([1.0, 0.0, 1.0, 5.0]), np.array([2.0, 0.2, 2.0, np.inf])
    found = mean_places(prior, left, right, False)
    assert found[0] == found[2] != found[1]
    assert found[3] == 0.5
    assert mean_places(prior, left[:2], right[:2], True).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("shape", "t", "radius", "epsilon"), [(0.1, 0.8, 1.0, 1.0), (0.2, 0.8, 1.0, 2.0)])
def test_no_bound_is_below_a_tent_where_the_density_rises_without_end(
    shape: float, t: float, radius: float, epsilon: float
) -> None:
    """The second number is nearly certain, so that the tent of the first one alone is nearly the best there is."""
    law = stats.gamma(shape, scale=4.0)
    x, y = gp.Attribute("x", gp.gamma(shape, 4.0)), gp.Attribute("y", gp.uniform(-1, 1))
    points, mass = split_finely(law, np.array([0.0, 0.05, t + radius, 30.0, 150.0]))
    inside = points < t + radius
    tents = [mass * np.exp(-epsilon * np.abs(points - c)) for c in np.linspace(0, t + radius, 200)]
    reached = max(np.log(one[inside].sum() / one[~inside].sum()) for one in tents)
    attack = JointAttack({"x": x, "y": y}, {"x": t, "y": 0.0}, "linf")
    state = narrowing(attack, gp.within(x, radius) & gp.within(y, 0.999999), epsilon)
    for _ in range(3):
        assert state is not None
        assert state.attack <= state.bound
        assert state.bound >= reached - 1e-5  # what the second number hides
        state = state.narrowed(1.7)


def cut_tails() -> Narrowing:
    """A state some of whose tiles without end were cut farther out than others."""
    x, y = gp.Attribute("x", gp.gamma(0.5, 1.0)), gp.Attribute("y", gp.normal(0, 1))
    attack = JointAttack({"x": x, "y": y}, {"x": 0.5, "y": 0.0}, "linf")
    found = narrowing(attack, ~(gp.within(x, 1) & gp.within(y, 1)), 0.9)
    assert found is not None
    return found.narrowed(1.7)


def test_tails_that_were_cut_are_each_measured_from_their_own_end() -> None:
    state = cut_tails()
    some = np.isinf(state.boxes.high[0]) & np.isfinite(state.boxes.low[1]) & np.isfinite(state.boxes.high[1])
    ends = np.unique(state.boxes.low[0][some])
    assert ends.size > 1
    for end in ends:
        own = some & (state.boxes.low[0] == end)
        for k, told in ((0.9, state.tiles.rise), (-0.9, state.tiles.fall)):
            tilted = gammaincc(0.5, (1 - k) * end) / np.sqrt(1 - k) * np.exp(-k * end)  # e^{k(x − end)} from there on
            assert told[own] == pytest.approx(np.log(tilted / gammaincc(0.5, end)), rel=1e-9)


def test_tails_to_both_sides_have_their_own_moments() -> None:
    x, y = gp.Attribute("x", gp.laplace(0, 1)), gp.Attribute("y", gp.normal(0, 1))
    attack = JointAttack({"x": x, "y": y}, {"x": 0.0, "y": 0.0}, "linf")
    plane = plane_of(attack, gp.within(x, 1) & gp.within(y, 1))
    assert plane is not None
    inf = np.inf
    boxes = Boxes2(
        (np.array([-inf, -inf, 4.0, 7.0]), np.array([-1.0, -1.0, -1.0, 2.0])),
        (np.array([-3.0, -9.0, inf, inf]), np.array([1.0, 1.0, 1.0, inf])),
    )
    tiles = plane.tiles(boxes, np.tile(np.array([[0.0], [0.0], [1.0], [1.0]]), (1, 4)), 0.5)
    assert tiles.rise[:3] == pytest.approx(np.full(3, np.log(2.0)))  # an exponential tail is the same from everywhere
    assert tiles.fall[:3] == pytest.approx(np.full(3, -np.log(1.5)))
    bell = stats.norm.sf(1.5) / stats.norm.sf(2.0) * np.exp(-0.5 * 2.0 + 0.5**2 / 2)
    assert tiles.rise[3] == pytest.approx(np.log(2.0) + np.log(bell))


def test_an_attack_far_from_where_people_stand_close_together_is_no_better_than_it_is() -> None:
    """Panels as long as a wide number's tail saw nothing of the narrow one: what it reached lay beyond the bound."""
    narrow = gp.Attribute("narrow", gp.mixture((0.3, gp.normal(-2.72625, 1.36313)), (0.7, gp.normal(5.4525, 2.72625))))
    wide = gp.Attribute("wide", gp.student_t(2.6, 0, 4.0), scale=0.5)
    goal = gp.within(narrow, 1.83069) & ~gp.within(wide, 7.1242)
    found = gp.Attack(goal, at={"narrow": -21.81, "wide": -131.483}, norm="l3").posterior(0.0047314, "lower")
    assert found.attack >= found.bound
    assert found.attack <= 1.001 * found.bound
