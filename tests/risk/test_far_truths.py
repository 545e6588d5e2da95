"""True values that need no boxes under a prior that may be wrong, and the parts of a curve that rest on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import guessproof as gp
from guessproof.risk.misjudged.along_truths import MisjudgedAlongTruths
from guessproof.risk.misjudged.odds import most_moved
from guessproof.risk.misjudged.truth_curve import ProvenLine

PRIORS: dict[str, tuple[Any, Any]] = {
    "normal": (gp.normal(0, 1), stats.norm()),
    "exponential": (gp.exponential(1), stats.expon()),
    "laplace": (gp.laplace(0, 1), stats.laplace()),
}


def along(name: str, radius: float, factor: float, move: Any = 1, metric: Any = None) -> MisjudgedAlongTruths:
    attribute = gp.Attribute("x", PRIORS[name][0], **({} if metric is None else {"metric": metric}))
    return MisjudgedAlongTruths(gp.Attack(gp.within(attribute, radius)).truth_search, factor, move)


# Beliefs before and after, whatever h is.


def belief(correct: Any, weight: Any) -> float:
    return float(np.sum(weight[correct]) / np.sum(weight))


def test_no_wrong_prior_moves_a_belief_further_than_declared_beliefs_allow() -> None:
    rng = np.random.default_rng(1)
    for _ in range(400):
        size, factor, least = int(rng.integers(3, 9)), float(rng.uniform(1, 20)), float(rng.uniform(0.01, 1))
        mass, correct = rng.dirichlet(np.full(size, 0.7)), np.arange(size) < rng.integers(1, size)
        release = np.where(correct, rng.uniform(least, 1, size), 10.0 ** rng.uniform(-4, 0.5, size))
        release[0] = 1.0
        most = float(most_moved(belief(correct, mass), belief(correct, mass * release), least, factor))
        for _ in range(40):  # thresholds are what is best, and anything else is possible
            turns = 10.0 ** rng.uniform(-4, 0.5, 2)
            best = np.where(correct, release >= turns[0], release <= turns[1])
            h = np.where(
                rng.random(size) < rng.choice([0.0, 0.2]), rng.uniform(1, factor, size), 1 + (factor - 1) * best
            )
            moved = belief(correct, mass * release * h) - belief(correct, mass * h)
            assert moved <= most + 1e-12


def test_what_declared_beliefs_allow_is_reached() -> None:
    """A release that is the same for all correct guesses, and says that most others are wrong."""
    factor, p, near = 4.0, 0.01, 1e-4
    mass, correct = np.array([p, near, 1 - p - near]), np.array([True, False, False])
    release, within = np.array([1.0, 1.0, 0.0]), np.linspace(1, factor, 101)
    priors = [np.array([h, 1.0, factor]) for h in within]
    moved = max(belief(correct, mass * release * h) - belief(correct, mass * h) for h in priors)
    assert moved == pytest.approx(float(most_moved(p, belief(correct, mass * release), 1.0, factor)), abs=5e-5)


# True values far out.


def reached_by_many(world: MisjudgedAlongTruths, t: Any, epsilon: Any) -> Any:
    """About the best attacks at some true values: many peaks, with turns brought nearer to the best ones."""
    share, turn = (v.ravel() for v in np.meshgrid(np.linspace(0, 1, 13), [0.2, 0.6, 1.0]))
    places = np.stack([np.repeat(t, share.size), *(np.tile(v, t.size) for v in (share, turn, turn / 4))])
    many = np.repeat(epsilon, share.size)
    return np.max(world.nearer(world.nearer(places, many)[1], many)[0].reshape(t.size, -1), axis=1)


@pytest.mark.parametrize("metric", [None, gp.Absolute() + 0.3 * gp.Discrete()])
@pytest.mark.parametrize("name", ["exponential", "laplace"])
@pytest.mark.parametrize("factor", [1.3, 4.0])
def test_beliefs_bound_all_true_values_of_a_tail_without_memory(name: str, factor: float, metric: Any) -> None:
    world, rng = along(name, 0.3, factor, metric=metric), np.random.default_rng(2)
    near, epsilon = rng.uniform(0.3, 9, 60), rng.uniform(0.3, 6, 60)
    far = near + rng.exponential(0.3, 60)
    most = world.left(near, far, epsilon, closely=True)
    for share in (0.0, 0.4, 1.0):
        assert np.all(reached_by_many(world, near + share * (far - near), epsilon) <= most)
    out, epsilon = np.full(4, 18.0), np.array([1.5, 2.0, 4.0, 6.0])  # and there nearly all of it is reached
    assert reached_by_many(world, out, epsilon) == pytest.approx(world.left(out, out, epsilon, closely=True), rel=2e-3)


@pytest.mark.parametrize("name", sorted(PRIORS))
@pytest.mark.parametrize(("first", "last"), [(0.4, 0.5), (1.3, 1.5), (4.0, 5.0)])
def test_no_true_value_outside_of_the_range_exceeds_the_line(name: str, first: float, last: float) -> None:
    world, rng = along(name, 0.3, 2.0), np.random.default_rng(3)
    line = ProvenLine(world, np.linspace(first, last, 9))
    found = world.range_of(line.epsilon, line.height)
    assert found is not None
    assert found[1] <= 40
    low, high = found
    t = np.concatenate([np.linspace(high, high + 6, 40), np.linspace(low - 6, low, 40)])
    t = t[np.isfinite(world.search.prior.log_density(t))]
    for _ in range(4):
        epsilon = np.full(t.size, rng.uniform(first, last))
        assert np.all(reached_by_many(world, t, epsilon) <= np.interp(epsilon, line.epsilon, line.height))


def test_a_range_ends_where_nobody_believes_enough() -> None:
    """Much nearer than where what lies beyond is nothing."""
    line = ProvenLine(along("normal", 0.3, 1.5), np.linspace(9.0, 9.3, 5))
    low, high = line.along.range_of(line.epsilon, line.height) or (0.0, np.inf)
    assert line.places[0, 0] < high < 10
    assert low >= -10


def test_slices_that_are_left_out_are_below_the_line_between_its_nodes_too() -> None:
    for r, ends in ((0.3, (0.0, 9.0)), (0.5, (-8.0, 10.0)), (0.2, (-7.0, 0.0))):
        world = along("normal", r, 1.5)
        epsilon, line = np.array([1.0, 2.0, 4.0]), np.array([0.3, 0.5, 0.7])
        low, high = world._far._trimmed(*ends, epsilon, line)
        assert high < ends[1] or low > ends[0]
        t = np.concatenate([np.linspace(high, ends[1], 50), np.linspace(ends[0], low, 50)])
        t = t[(t >= high) & (high < ends[1]) | (t <= low) & (low > ends[0])]
        for e in np.linspace(1.0, 4.0, 60):
            after = world.search.box(t, t, np.full(t.size, e), "posterior")
            assert np.all(1.5 * after / (1.5 * after + 1 - after) <= np.interp(e, epsilon, line)), e
        inner = (
            (np.array([high]), np.array([high - 0.02])) if high < ends[1] else (np.array([low + 0.02]), np.array([low]))
        )
        after = world.search.box(inner[1], inner[0], epsilon[2], "posterior")[0]
        wide = (ends[1] - ends[0]) / 64
        assert high - low <= ends[1] - ends[0] - 2 * wide
        assert 1.5 * after / (1.5 * after + 1 - after) > 0.5 * line[0]  # not many are left that could be left out


@pytest.mark.parametrize("name", ["exponential", "laplace"])
def test_beyond_where_a_tail_is_forgotten_no_belief_exceeds_the_line(name: str) -> None:
    world = along(name, 0.3, 1.5)
    epsilon = np.linspace(1.8, 2.6, 9)
    limit = world.search.beyond_forgotten(1e3, epsilon, "rise")
    for above in (1e-3, 1e-2, 0.1):
        line = 1.5 * limit / (1.5 * limit + 1 - limit) + above
        t = world._far._forgotten(1, epsilon, line)
        assert t is not None
        fine = np.linspace(1.8, 2.6, 300)
        after = world.search.beyond_forgotten(t, fine, "rise")
        assert np.all(1.5 * after / (1.5 * after + 1 - after) <= np.interp(fine, epsilon, line))
    assert world._far._forgotten(1, epsilon, line - 0.11) is None


# High limits.


def most_of_cells(dist: Any, t: float, radius: float, epsilon: float, factor: float) -> float:
    """What attacks reach at one true value at least: cells of a prior, from its distribution, on the private side."""
    ends = np.unique(
        np.concatenate([dist.ppf(np.linspace(0, 1, 900)), np.linspace(t - 5, t + 5, 700), [t - radius, t + radius]])
    )
    ends = ends[(ends >= dist.support()[0])]
    mass, inside = np.diff(dist.cdf(ends)), (ends[:-1] >= t - radius) & (ends[1:] <= t + radius)
    best = 0.0
    for peak in np.linspace(max(t - radius, dist.support()[0]), t + radius, 25):
        away = np.abs(ends - peak)
        near = np.where((ends[:-1] < peak) & (ends[1:] > peak), 0.0, np.minimum(away[1:], away[:-1]))
        release = np.exp(-epsilon * np.where(inside, np.maximum(away[1:], away[:-1]), near))
        sums = []
        for part, sign in ((inside, -1), (~inside, 1)):
            order = np.argsort(sign * release[part], kind="stable")
            of = np.stack([mass[part][order], (mass * release)[part][order]])
            upto = np.concatenate([np.zeros((2, 1)), np.cumsum(of, axis=1)], axis=1)
            sums.append(upto[:, -1:] + (factor - 1) * upto[:, :: max(upto.shape[1] // 60, 1)])
        (a, into), (b, out) = sums[0][:, :, None], sums[1][:, None, :]
        best = max(best, float(np.max(into / (into + out) - a / (a + b))))
    return best


@pytest.mark.parametrize("name", sorted(PRIORS))
@pytest.mark.parametrize("factor", [1.5, 4.0])
def test_high_limits_are_kept_and_close(name: str, factor: float) -> None:
    """Above where a curve ends at first: its parts are never above what attacks on cells reach, and within 0.1 %."""
    prior, dist = PRIORS[name]
    curve = gp.Curve(gp.Attack(gp.within(gp.Attribute("x", prior), 0.3), prior_factor=factor))
    world, before = along(name, 0.3, factor), 0.0
    for limit in (0.45, 0.58, 0.7):
        epsilon = curve.epsilon(advantage=limit)
        assert epsilon > before
        before = epsilon
        assert curve.advantage(epsilon) <= limit * (1 + 1e-9)
        worst = world.climbed(world._first(np.array([epsilon]))[1], np.array([epsilon]))[1][0, 0]
        for t in (worst, 0.3, 1.0, 2.0, 5.0):
            assert most_of_cells(dist, float(min(t, 12.0)), 0.3, epsilon, factor) <= limit
        loose = (
            1.005 if (name, factor) == ("exponential", 4.0) else 1.001
        )  # where the worst true value goes to infinity
        assert world.rough(np.array([loose * epsilon]))[0] > limit
    further = curve._further("rise")
    assert further is not None
    assert further.parts


def test_a_line_is_raised_where_it_could_not_be_proven() -> None:
    """It rises, what was proven stays so, and nothing exceeds it."""
    world = along("normal", 0.3, 1.5)
    line = ProvenLine(world, np.linspace(3.0, 4.0, 13))
    looks, line.looks = line.looks, 60
    line.prove()
    assert line.open.any()
    first, settled = line.height.copy(), ~line.open
    line.looks = looks
    line.loosen()
    assert not line.open.any()
    assert np.all(line.height >= first)
    assert np.all(np.diff(line.height) >= 0)
    assert np.any(line.height > world.reached(line.places, line.epsilon * 1.003))
    kept = np.flatnonzero(settled)
    assert not kept.size or np.all(line.height[kept] <= world.reached(line.places[:, kept], line.epsilon[kept] * 1.001))
    for epsilon in np.linspace(3.0, 4.0, 29):
        t = np.linspace(0, 6, 60)
        reached = np.max(reached_by_many(world, t, np.full(t.size, epsilon)))
        assert reached <= np.interp(epsilon, line.epsilon, line.height)


def test_a_line_below_what_is_reached_is_not_proven_by_raising_it() -> None:
    """From attacks at a wrong place: boxes come upon better ones, or it stays open."""
    world = along("normal", 0.3, 1.5)
    best = ProvenLine(world, np.linspace(1.0, 1.1, 5))
    line = ProvenLine(world, np.linspace(1.0, 1.1, 5))
    line.places[0] = 6.0
    line.value, line.height[:], line.open[:] = world.reached(line.places, line.epsilon), 0.0, True
    line._lift(np.arange(5))
    assert np.all(line.height < 0.8 * best.value)
    line.loosen()
    assert line.open.all() or np.all(line.height >= best.value * (1 - 1e-9))
    assert not line.open.any()


@pytest.mark.parametrize(("prior", "t", "factor"), [(gp.normal(0, 1), 0.4, 16.0), (gp.gamma(3, 1), 2.5, 4.0)])
def test_a_curve_of_one_true_value_goes_on_where_higher_limits_are_asked(prior: Any, t: float, factor: float) -> None:
    """From its own end on, rising, never above what is exact and within 0.1 %."""
    bounds = None if prior.support[0] < 0 else (0, 20)
    attribute = gp.Attribute("x", prior, bounds=bounds)
    attack = gp.Attack(gp.within(attribute, 0.4), at={"x": t}, prior_factor=factor)
    curve = gp.Curve(attack)
    end = float(curve.rise.bound[-1])
    limits = end + np.array([1e-9, 0.02, 0.08])
    found = np.array([curve.epsilon(advantage=float(limit)) for limit in limits])
    further = curve._further("rise")
    assert further is not None
    part = further.parts[0]
    assert part.epsilon[0] == curve.rise.epsilon[-1]
    assert part.loose <= 1e-3
    assert np.all(np.diff([curve.rise.inverse(end * (1 - 1e-9)), *found]) > 0)
    for limit, epsilon in zip(limits, found, strict=True):
        exact = float(attack.epsilon(advantage=float(limit)))
        assert 0.999 * exact <= epsilon <= exact * (1 + 1e-3)
        assert attack.advantage(1.001 * epsilon).bound > limit
        assert attack.advantage(epsilon).attack <= limit
