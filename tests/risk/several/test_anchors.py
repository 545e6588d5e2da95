"""Bounds from anchors on the goal's edge: never below an attack, near the best ones; correlated places, any norm."""

import numpy as np
import pytest
from scipy.optimize import minimize

import guessproof as gp
from guessproof.errors import KnowledgeError, PriorError
from guessproof.risk.several import anchors
from guessproof.risk.several.downhill import Loss, downhill
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.tiles import edge_bound
from guessproof.world.checks import Array
from guessproof.world.goals import Norm, combine

EAST, NORTH = (gp.Attribute(n, gp.normal(0, 1250**0.5)) for n in ("east", "north"))


def cone(density: object, t: tuple[float, float], radius: float, epsilon: float, by: str, norm: str) -> float:
    """The belief after e^{−ε·distance from t}, on a fine grid: one of the likelihoods that a bound must cover."""
    x = np.linspace(-180, 180, 1201)
    gx, gy = np.meshgrid(x, x, indexing="ij")
    gaps = [np.abs(gx - t[0]), np.abs(gy - t[1])]
    likely = density(gx, gy) * np.exp(-epsilon * combine(norm, gaps))  # pyright: ignore[reportCallIssue]
    inside = combine(by, gaps) <= radius
    return float(likely[inside].sum() / likely.sum())


def independent(x: object, y: object) -> object:
    return np.exp(-(x**2 + y**2) / 2500)  # pyright: ignore[reportOperatorIssue]


def correlated(x: object, y: object) -> object:
    u, v = x / 30, y / 40  # pyright: ignore[reportOperatorIssue]
    return np.exp(-(u**2 - 1.2 * u * v + v**2) / (2 * 0.64))


@pytest.mark.parametrize(("t", "norm", "by"), [((20.0, 30.0), "l2", "l2"), ((20.0, 30.0), "l3", "l1.5")])
def test_places_off_centre(t: tuple[float, float], norm: str, by: str) -> None:
    attack = gp.Attack(gp.near((EAST, NORTH), 10, by=by), at={"east": t[0], "north": t[1]}, norm=norm)
    found = attack.posterior(0.047)
    reached = cone(independent, t, 10, 0.047, by, norm)
    assert found.attack <= found.bound
    assert reached * (1 - 1e-3) <= found.bound <= reached * 1.06


def test_the_ships_at_sea_are_nearly_exact() -> None:
    """A likelihood that climbs from the goal's far side gives 0.1 at ε = 0.0475; 0.0420 was answered before."""
    attack = gp.Attack(gp.near((EAST, NORTH), 10), at={"east": 20.0, "north": 30.0}, norm="l2")
    assert 0.0461 <= attack.epsilon(advantage=0.1) <= 0.0476


@pytest.mark.parametrize("t", [(0.0, 0.0), (20.0, 30.0)])
def test_correlated_places(t: tuple[float, float]) -> None:
    lon, lat = gp.joint_normal(("lon", "lat"), mean=(0, 0), sd=(30, 40), correlation=0.6).attributes()
    attack = gp.Attack(gp.near((lon, lat), 10), at={"lon": t[0], "lat": t[1]}, norm="l2")
    assert attack.prior == pytest.approx(cone(correlated, t, 10, 0.0, "l2", "l2"), rel=5e-3)
    found, reached = attack.posterior(0.05), cone(correlated, t, 10, 0.05, "l2", "l2")
    assert found.attack <= found.bound
    assert reached * (1 - 1e-3) <= found.bound <= reached * 1.06


def test_a_histogram_of_correlated_places() -> None:
    edges = (np.linspace(-120, 120, 25), np.linspace(-160, 160, 25))
    middle = [(e[1:] + e[:-1]) / 2 for e in edges]
    weights = correlated(*np.meshgrid(*middle, indexing="ij"))
    weights = weights / weights.sum()  # pyright: ignore[reportAttributeAccessIssue, reportOperatorIssue]
    lon, lat = gp.joint_histogram(("lon", "lat"), edges, weights.tolist()).attributes()
    found = gp.Attack(gp.near((lon, lat), 10), at={"lon": 20.0, "lat": 30.0}, norm="l2").posterior(0.05)
    low, high = (float(p) / (1 - float(p)) for p in (found.attack, found.bound))
    assert low <= high <= 1.05 * low


def test_joint_normal_priors_are_checked() -> None:
    with pytest.raises(PriorError, match="between"):
        gp.joint_normal(("a", "b"), (0, 0), (1, 1), 1.0)
    with pytest.raises(PriorError, match="positive"):
        gp.joint_normal(("a", "b"), (0, 0), (1, 0), 0.5)
    a, b = gp.joint_normal(("a", "b"), (0, 0), (1, 2), 0.5).attributes()
    with pytest.raises(KnowledgeError, match="not conditioned"):
        _ = gp.Attack(gp.near((a, b), 1), at={"a": 0, "b": 0}, knows={"a": (0, 1)}).prior


def test_a_goal_about_one_of_two_jointly_normal_numbers_is_that_of_a_normal_one() -> None:
    a, _ = gp.joint_normal(("a", "b"), (0, 0), (1, 2), 0.5).attributes()
    alone = gp.Attack(gp.within(gp.Attribute("a", gp.normal(0, 1)), 0.5), at={"a": 0.3})
    joint = gp.Attack(gp.within(a, 0.5), at={"a": 0.3})
    assert joint.epsilon(advantage=0.1) == pytest.approx(alone.epsilon(advantage=0.1))


@pytest.mark.parametrize(
    ("t", "epsilon", "norm"),
    [((0.0, 0.0), 0.3, "l2"), ((60.0, -5.0), 0.1, "linf")],
)
def test_our_way_downhill_proves_as_much_as_a_general_one(
    t: tuple[float, float], epsilon: float, norm: Norm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any way is a proof; ours must not give a bound that is wider by 1 % in odds, for either side of the goal."""

    def general(loss: Loss, start: Array, steps: int) -> Array:
        return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": steps // 2}).x  # of longer steps

    disc = gp.near((EAST, NORTH), 10)
    places = {"east": EAST, "north": NORTH}, {"east": t[0], "north": t[1]}
    for goal in (disc, ~disc):
        own = edge_bound(JointAttack(*places, norm), goal, epsilon)
        with monkeypatch.context() as patch:
            patch.setattr(anchors, "downhill", general)
            other = edge_bound(JointAttack(*places, norm), goal, epsilon)
        assert own is not None
        assert other is not None
        assert own.bound <= other.bound + 0.01 < np.inf


def test_a_bound_is_kept_for_the_same_epsilon_and_a_hair_below_never_above() -> None:
    at_sea, goal = (
        JointAttack({"east": EAST, "north": NORTH}, {"east": 20.0, "north": 30.0}, "l2"),
        gp.near((EAST, NORTH), 10),
    )
    first = edge_bound(at_sea, goal, 0.047)
    assert edge_bound(at_sea, goal, 0.047) is first
    assert edge_bound(at_sea, goal, 0.047 * (1 - 4e-12)) is first
    assert edge_bound(at_sea, goal, 0.047 * (1 + 4e-12)) is not first
    assert edge_bound(at_sea, ~goal, 0.047) is not first


def test_downhill_ends_no_higher_than_it_began_and_finds_the_lowest_place() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        n = int(rng.integers(1, 40))
        root = rng.normal(size=(n, n))
        curve, lowest = root @ root.T + np.eye(n), rng.normal(size=n)

        def loss(x: Array, curve: Array = curve, lowest: Array = lowest) -> tuple[float, Array]:
            return float((x - lowest) @ curve @ (x - lowest) / 2), curve @ (x - lowest)

        start = rng.normal(size=n)
        heights = [loss(downhill(loss, start, steps))[0] for steps in (0, 1, 5, 200)]
        assert np.all(np.diff([loss(start)[0], *heights]) <= 0)
        assert heights[-1] <= 1e-6 * max(heights[0], 1.0)


def test_downhill_learns_nothing_from_slopes_that_change_by_less_than_squares_can_tell() -> None:
    """A climb that rounding led far out once divided by such a square."""

    def loss(place: np.ndarray) -> tuple[float, np.ndarray]:
        return float(place[0]), np.array([1.0, 1e-150 * (1.0 - 1e-13 * (place[0] < 0))])

    assert downhill(loss, np.zeros(2), 5)[0] < -1
