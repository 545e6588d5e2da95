"""The parts of the search for the worst true value: each enclosure must hold what it encloses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import guessproof as gp
from guessproof.errors import NotCertifiedError
from guessproof.risk import truth_ends, truth_search
from guessproof.risk.truth_search import TruthSearch
from guessproof.risk.worst_case import worst_true_value
from guessproof.world.goals import Within
from guessproof.world.line import LinePrior

PRIORS = {
    "normal": gp.normal(1, 2),
    "laplace": gp.laplace(0.5, 1.5),
    "exponential": gp.exponential(2),
    "uniform": gp.uniform(-3, 5),
    "histogram": gp.histogram([-3, -1, 0, 2, 6], [0.1, 0.4, 0.3, 0.2]),
    "truncated": gp.normal(1, 2).given(-1, 6),
}
METRICS = {
    "slope": gp.Absolute(0.7),
    "slope and threshold": gp.Absolute() + 0.3 * gp.Threshold(0.8),
    "clamped": gp.Clamped(-2, 4),
    "step": gp.Absolute() + 0.2 * gp.Discrete(),
}
AIMS: tuple[truth_search.Direction, ...] = ("rise", "fall", "posterior")


def ranging(prior: str, metric: str, goal: Within | None = None) -> TruthSearch:
    attribute = gp.Attribute("x", prior=PRIORS[prior], metric=METRICS[metric])
    form = attribute.distance.line_form
    assert form is not None
    goal = gp.within(attribute, 0.6) if goal is None else goal
    return TruthSearch(PRIORS[prior], form, lambda t: goal.edges(t)[0], *attribute.range, True)


def values(goal: TruthSearch, t: np.ndarray, epsilon: float, aim: truth_search.Direction) -> np.ndarray:
    return truth_ends.Ends.at(goal, t, epsilon, aim).bound


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("prior", PRIORS)
def test_boxes_hold_what_is_in_them(prior: str, metric: str, aim: truth_search.Direction) -> None:
    goal, rng = ranging(prior, metric), np.random.default_rng(7)
    low, high = max(goal.low, -4.0), min(goal.high, 7.0)
    for epsilon in (0.05, 1.2):
        left = rng.uniform(low, high, 40)
        width = (high - left) * 10 ** rng.uniform(-4, 0, 40)
        ends = [truth_ends.Ends.at(goal, t, epsilon, aim) for t in (left, left + width)]
        slopes = truth_ends.slope_range(goal, ends[0], ends[1], epsilon, aim)
        bound = truth_ends.box_bound(goal, ends[0], ends[1], *slopes, epsilon, aim)
        inside = np.stack([left + width * f for f in np.linspace(0, 1, 23)])
        found = values(goal, inside.ravel(), epsilon, aim).reshape(inside.shape)
        assert np.all(found <= bound + 1e-9)
        low_z, high_z = truth_ends.log_z_range(goal, ends[0], ends[1], epsilon)
        log_z = truth_ends.Ends.at(goal, inside.ravel(), epsilon, aim).log_z.reshape(inside.shape)
        infinite = np.isinf(log_z) | np.isnan(low_z) | np.isinf(low_z)
        assert np.all(infinite | ((log_z >= low_z - 1e-9) & (log_z <= high_z + 1e-9)))
        # Secants are averages of the derivative, so they must lie in its enclosure.
        secants = np.diff(found, axis=0) / np.diff(inside, axis=0)
        slack = 1e-10 / np.diff(inside, axis=0)
        assert np.all(secants <= slopes[1] + slack + 1e-9)
        assert np.all(secants >= slopes[0] - slack - 1e-9)


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("prior", PRIORS)
def test_no_true_value_on_a_fine_grid_exceeds_the_bound(prior: str, aim: truth_search.Direction) -> None:
    for metric in METRICS:
        goal = ranging(prior, metric)
        grid = np.linspace(max(goal.low, -30.0), min(goal.high, 40.0), 1001)
        epsilon = 0.3 if aim == "fall" else 1.0
        worst = worst_true_value(goal, epsilon, aim)
        top = float(np.max(values(goal, grid, epsilon, aim)))
        assert top <= worst.bound + 1e-9
        assert worst.value <= worst.bound + 1e-12


def test_the_enclosure_is_of_second_order() -> None:
    """Halving a box near the top must quarter what its bound adds, or the search would take forever."""
    goal = ranging("normal", "slope")
    worst = worst_true_value(goal, 0.5, "rise")
    added = []
    for width in (1e-2, 5e-3):
        ends = [truth_ends.Ends.at(goal, np.array([worst.at + s * width]), 0.5, "rise") for s in (-1, 1)]
        slopes = truth_ends.slope_range(goal, ends[0], ends[1], 0.5, "rise")
        added.append(truth_ends.box_bound(goal, ends[0], ends[1], *slopes, 0.5, "rise")[0] - worst.value)
    assert added[1] < 0.3 * added[0]


@pytest.mark.parametrize("metric", ["slope", "step"])
def test_moving_the_true_value_is_at_most_a_larger_epsilon(metric: str) -> None:
    """Boxes of all widths, far narrower and far wider than the goal: none holds a true value above its bound."""
    rng = np.random.default_rng(11)
    attribute = gp.Attribute("x", prior=PRIORS["normal"], metric=METRICS[metric])
    for radius, epsilon in ((1e-3, 40.0), (0.05, 2.0), (0.6, 0.4)):
        goal = ranging("normal", metric, gp.within(attribute, radius))
        left, width = rng.uniform(-6, 8, 60), 10 ** rng.uniform(-4, 0.5, 60)
        inside = left + width * np.linspace(0, 1, 23)[:, None]
        for aim in ("rise", "posterior"):
            bound = goal.moved(left, left + width, epsilon, aim)
            found = values(goal, inside.ravel(), epsilon, aim).reshape(inside.shape)
            assert np.all(found <= bound + 1e-12)
            small = width < 1e-3
            assert np.all(bound[small] <= found.max(axis=0)[small] * (1 + 1e-2) + 1e-4)


@pytest.mark.parametrize("radius", [1e-2, 1e-3, 1e-5])
def test_a_narrow_goal_is_proven_as_closely_as_a_wide_one(radius: float) -> None:
    """All true values give nearly the same, so that boxes as narrow as the goal would take forever."""
    attribute = gp.Attribute("time", prior=gp.normal(20, 6.28))
    bracket = gp.Attack(gp.within(attribute, radius)).advantage(epsilon=0.0513 / radius)
    assert bracket.attack <= bracket.bound <= bracket.attack * (1 + 1e-5)
    stated = gp.Attack(gp.within(attribute, radius), at={"time": 20.0}).advantage(epsilon=0.0513 / radius)
    assert stated.bound <= bracket.bound


def test_a_worst_case_at_infinity_is_a_limit() -> None:
    """Exponential tails and a large ε: the belief stays high where the prior vanishes."""
    attribute = gp.Attribute("x", prior=gp.exponential(2))
    bracket = gp.Attack(gp.within(attribute, 1)).advantage(epsilon=1.0)
    far = [gp.Attack(gp.within(attribute, 1), at={"x": t}).advantage(epsilon=1.0).bound for t in (10, 20, 40)]
    assert far[0] < far[1] <= far[2] <= bracket.bound + 1e-12
    assert bracket.bound == pytest.approx(far[2], rel=1e-6)


def test_unknown_tails_are_not_guessed() -> None:
    attribute = gp.Attribute("x", prior=gp.from_scipy(stats.t(3)))
    with pytest.raises(NotCertifiedError, match="bounds"):
        gp.Attack(gp.within(attribute, 1)).advantage(epsilon=0.5)
    bounded = gp.Attribute("x", prior=gp.from_scipy(stats.t(3)), bounds=(-2, 2))
    bracket = gp.Attack(gp.within(bounded, 1)).advantage(epsilon=0.5)
    assert bracket.status == "exact"
    for t in (-1.5, 0.0, 0.7, 2.0):
        assert gp.Attack(gp.within(bounded, 1), at={"x": t}).advantage(epsilon=0.5).bound <= bracket.bound


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("prior", "side"), [("normal", 0), ("normal", 1), ("laplace", 0), ("laplace", 1), ("exponential", 1)]
)
def test_what_lies_beyond_a_cut_stays_below_its_bound(
    prior: str, side: int, metric: str, aim: truth_search.Direction
) -> None:
    """The argument for an infinite tail must hold from any cut on, not only from the far one that is used."""
    goal = ranging(prior, metric)
    kind = goal.prior.tails[side]
    for u in (0.3, 0.05, 1e-3, 1e-6):
        cut = float(goal.prior.quantile(u if side == 0 else 1 - u))
        beyond = cut + (1 if side == 1 else -1) * np.geomspace(1e-3, 30, 40)
        if kind == "memoryless" and (cut < 2 if side == 1 else cut > -1):
            continue  # the Laplace density has its own bend near the middle
        for epsilon in (0.2, 1.5):
            bound = goal.beyond(cut, side, kind, epsilon, aim)
            assert np.all(values(goal, beyond, epsilon, aim) <= bound + 1e-9)


@pytest.mark.parametrize("prior", [gp.laplace(0, 1), gp.laplace(3, 0.5), gp.exponential(1)])
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 5.0, 20.0])
def test_in_a_memoryless_tail_beliefs_fall_outwards(prior: LinePrior, epsilon: float) -> None:
    x = gp.Attribute("x", prior=prior)
    for radius in (0.1, 1.0):
        start = max(prior.breaks, default=0.0) + radius
        places = start + np.linspace(0, 12, 60)
        after = gp.Attack(gp.within(x, radius), at={"x": places}).posterior(epsilon).bound
        assert np.all(np.diff(after) <= 1e-12)
        for bounds in (None, (start - radius, start + 4)):
            within = places if bounds is None else np.linspace(*bounds, 80)[1:]
            known = gp.Attribute("x", prior=prior, bounds=bounds)
            reached = float(np.max(gp.Attack(gp.within(known, radius), at={"x": within}).advantage(epsilon).attack))
            worst = gp.Attack(gp.within(known, radius)).advantage(epsilon)
            assert worst.status == "exact"
            assert reached <= worst.bound


def test_a_tail_forgets_only_beyond_its_last_break() -> None:
    """A wide goal that still holds the middle does not: further out its belief is bounded by half-lines."""
    search = gp.Attack(gp.within(gp.Attribute("x", gp.laplace(0, 1)), 30.0)).truth_search
    assert not search.forgets(20.0, 1, "posterior")
    assert search.forgets(31.0, 1, "posterior")
    assert search.forgets(-31.0, 0, "posterior")
    assert not search.forgets(31.0, 1, "fall")
