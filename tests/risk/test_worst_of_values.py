"""The worst true value beside finitely many values, against a slow search that names every set of correct guesses.

The oracle works in fractions: for a sample it lists every place along the bounds (or the hull) where a number becomes a
correct guess or ceases to be one, and a true value between any two; for a table its own values. For each it writes the
linear program of all constraints down.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from reference import linear_program

import guessproof as gp
from guessproof.errors import GoalError, GuessproofError, InfeasibleError, TrueValueError

PAIRS = [10, 11.5, 40, 41.5, 70, 71.5, 100, 101.5]


# Each thing by itself.


def test_somebody_between_two_values_of_a_sample_is_protected() -> None:
    x = gp.Attribute("x", prior=gp.empirical(PAIRS))
    attack = gp.Attack(gp.within(x, 1))
    epsilon = attack.epsilon(advantage=0.05)
    for t in np.arange(10, 101.6, 0.25):
        try:
            one = gp.Attack(gp.within(x, 1), at={"x": float(t)}).advantage(epsilon=epsilon)
        except GoalError:  # nobody in the sample is near: nothing is guessed
            continue
        assert one.bound <= 0.05 + 1e-12
    assert epsilon == pytest.approx(0.0042800420624, rel=1e-9)
    worst = attack.advantage(epsilon=0.0081685)
    assert (worst.status, worst.worst_prior) == ("exact", pytest.approx(0.25))
    assert worst.bound == pytest.approx(0.0978688, abs=1e-6)
    there = gp.Attack(gp.within(x, 1), at={"x": worst.worst_at}).advantage(epsilon=0.0081685)
    assert there.bound == pytest.approx(worst.bound, rel=1e-9)


def test_bounds_widen_and_narrow_where_the_true_value_may_be() -> None:
    """Beyond the sample only its last values are near, which tells more than both together."""
    values = [0.0, 0.9, 1.8]

    def worst(bounds: tuple[float, float] | None, knows: Any = None) -> gp.Bracket:
        x = gp.Attribute("x", prior=gp.empirical(values), bounds=bounds)
        return gp.Attack(gp.within(x, 1), knows=knows).advantage(epsilon=1.0)

    hull, wide, narrow = worst(None), worst((-5, 5)), worst((0.7, 0.75))
    assert hull.bound < wide.bound
    assert not 0 <= wide.worst_at <= 1.8
    assert 0.7 <= narrow.worst_at <= 0.75
    x = gp.Attribute("x", prior=gp.empirical(values))
    stated = gp.Attack(gp.within(x, 1), at={"x": 0.72}).advantage(epsilon=1.0).bound
    assert narrow.bound == pytest.approx(stated, rel=1e-9)
    assert worst((-5, 5), {"x": (0, 1.8)}).bound == pytest.approx(hull.bound, rel=1e-12)
    longer = gp.Attribute("x", prior=gp.empirical([*values, 10.0]))
    known = gp.Attack(gp.within(longer, 1), knows={"x": (0, 1.8)}).advantage(epsilon=1.0)
    assert known.bound == pytest.approx(hull.bound, rel=1e-12)


def test_a_table_lists_all_that_people_can_have() -> None:
    """How many children: nobody has one and a half, whatever bounds clamp the query."""
    table: dict[Any, float] = {0: 0.3, 1: 0.3, 2: 0.2, 4: 0.2}
    for bounds in (None, (0.0, 10.0)):
        x = gp.Attribute("x", prior=gp.categorical(table), bounds=bounds)
        found = gp.Attack(gp.within(x, 0.6)).advantage(epsilon=1.0)
        each = [gp.Attack(gp.within(x, 0.6), at={"x": v}).advantage(epsilon=1.0).bound for v in table]
        assert found.bound == pytest.approx(max(each), rel=1e-9)
        assert found.worst_at in table
    with pytest.raises(TrueValueError):
        gp.Attack(gp.within(x, 1), at={"x": 1.5}).advantage(epsilon=1.0)


def test_a_true_value_at_which_the_goal_is_certain_counts_for_a_posterior() -> None:
    x = gp.Attribute("x", prior=gp.empirical([0, 1, 2]))
    attack = gp.Attack(gp.within(x, 1))
    found = attack.posterior(epsilon=1.0)
    assert (found.attack, found.bound, found.worst_at, found.worst_prior) == (1.0, 1.0, 1.0, 1.0)
    with pytest.raises(InfeasibleError, match=r"at the true value 1\.0"):
        attack.epsilon(posterior=0.9)
    assert attack.epsilon(posterior=1.0) == math.inf
    assert 0 < attack.epsilon(advantage=0.1) < math.inf


def test_a_certain_true_value_of_several_attributes_counts_too() -> None:
    x, g = (
        gp.Attribute("x", prior=gp.empirical([0, 1, 2])),
        gp.Attribute("g", prior=gp.categorical({"a": 0.3, "b": 0.7})),
    )
    attack = gp.Attack(gp.within(x, 1) | gp.exactly(g))
    assert attack.posterior(epsilon=1.0).attack == 1.0
    with pytest.raises(InfeasibleError):
        attack.epsilon(posterior=0.95)
    assert attack.epsilon(posterior=1.0) == math.inf


def test_a_location_beside_a_sample_is_not_guessed() -> None:
    a, b = gp.joint_sample(("a", "b"), [(0, 1), (2, 3), (5, 5)]).attributes()
    with pytest.raises(gp.errors.NotCertifiedError):
        gp.Attack(gp.near((a, b), 1)).advantage(epsilon=1.0)


def test_edges_count_however_decimals_are_rounded() -> None:
    """0.7 + 0.1 falls short of 0.8 in floating point; within means at most."""
    x = gp.Attribute("x", prior=gp.empirical([0.6, 0.8, 5]))
    assert gp.Attack(gp.within(x, 0.1), at={"x": 0.7}).prior == pytest.approx(2 / 3)
    both = gp.Attack(gp.within(x, 0.1)).posterior(epsilon=1e-9)
    assert both.bound == pytest.approx(2 / 3, abs=1e-6)


# Drawn worlds against the slow search.


@dataclass(frozen=True)
class World:
    """A drawn question; numbers are fractions, so that edges are exact."""

    points: tuple[Fraction, ...]
    mass: tuple[float, ...]
    sample: bool
    radius: Fraction | None
    percent: int | None
    bounds: tuple[Fraction, Fraction] | None
    knows: tuple[Fraction, Fraction] | None
    metric: gp.Metric
    scale: float

    @property
    def attribute(self) -> gp.Attribute:
        points = [float(p) for p in self.points]
        prior = gp.empirical(list(np.repeat(points, [round(100 * m) for m in self.mass]))) if self.sample else (
            gp.categorical(dict(zip(points, self.mass, strict=True)))
        )  # fmt: skip
        bounds = None if self.bounds is None else (float(self.bounds[0]), float(self.bounds[1]))
        return gp.Attribute("x", prior=prior, metric=self.metric, bounds=bounds)

    def attack(self, turned: bool = False, at: float | None = None) -> gp.Attack:
        goal: Any = gp.within(self.attribute, None if self.radius is None else float(self.radius), percent=self.percent)
        knows = None if self.knows is None else {"x": (float(self.knows[0]), float(self.knows[1]))}
        return gp.Attack(~goal if turned else goal, None if at is None else {"x": at}, knows)

    def reach(self, t: Fraction) -> Fraction:
        return self.radius if self.radius is not None else abs(t) * Fraction(self.percent or 0, 100)

    def believed(self) -> tuple[list[Fraction], Any]:
        low, high = self.knows or (self.points[0], self.points[-1])
        kept = [(p, m) for p, m in zip(self.points, self.mass, strict=True) if low <= p <= high]
        mass = np.array([m for _, m in kept])
        return [p for p, _ in kept], mass / mass.sum()

    def truths(self) -> list[Fraction]:
        """Every true value that the goal can tell from others."""
        points, _ = self.believed()
        low, high = self.bounds or (self.points[0], self.points[-1])
        if self.knows is not None:
            low, high = max(low, self.knows[0]), min(high, self.knows[1])
        if not self.sample:
            return [p for p in points if low <= p <= high]
        if self.radius is not None:
            turns = [p + s * self.radius for p in points for s in (-1, 1)]
        else:
            share = Fraction(self.percent or 0, 100)
            turns = [p / (1 + s * share) for p in points for s in (-1, 1) if s * share != -1] + [Fraction(0)]
        cuts = sorted({low, high, *(t for t in turns if low <= t <= high)})
        return sorted({*cuts, *((a + b) / 2 for a, b in itertools.pairwise(cuts))})

    def goals(self, turned: bool = False) -> Iterator[tuple[float, Any]]:
        """Probability and membership of every different set of correct guesses."""
        points, mass = self.believed()
        seen = {tuple((abs(p - t) <= self.reach(t)) != turned for p in points) for t in self.truths()}
        for mask in seen:
            yield float(mass @ np.array(mask, dtype=float)), np.array(mask, dtype=float)

    def answers(self, epsilon: float, turned: bool = False) -> tuple[float, float, float]:
        """The largest rise, fall and posterior over all true values."""
        points, mass = self.believed()
        x = np.array([float(p) for p in points])
        distance = self.attribute.distance.distance(x[:, None], x[None, :])
        rise = fall = most = 0.0
        for p, mask in self.goals(turned):
            if mask.all() or not mask.any():
                most = max(most, 1.0 if mask.all() else 0.0)
                continue
            up, down = (linear_program.posterior(mass, distance, mask, epsilon, side) for side in ("upper", "lower"))
            rise, fall, most = max(rise, up - p), max(fall, p - down), max(most, up)
        return rise, fall, most


def _drawn(rng: np.random.Generator) -> World:
    count = int(rng.integers(2, 7))
    step = Fraction(1, int(rng.choice([1, 2, 10])))
    points: tuple[Fraction, ...] = tuple(
        sorted({Fraction(int(v)) * step for v in rng.integers(-8 if rng.random() < 0.5 else 1, 20, count)})
    )
    while len(points) < 2:
        points = (*points, points[-1] + 1)  # pyright: ignore[reportGeneralTypeIssues]
    counts = rng.integers(1, 30, len(points)).astype(float)
    mass = np.round(100 * counts / counts.sum()).clip(1)
    mass[-1] += 100 - mass.sum()
    if mass[-1] < 1:
        return _drawn(rng)
    by_percent = rng.random() < 0.2
    ends = sorted(Fraction(int(v)) * step for v in rng.integers(-12, 26, 2))
    bounds = (ends[0], ends[1]) if rng.random() < 0.5 and ends[0] < ends[1] else None
    knows = sorted(Fraction(int(v)) * step for v in rng.integers(-10, 24, 2))
    metrics = [
        gp.Absolute(0.7), gp.Clamped(1, 9), gp.Absolute() + 0.2 * gp.Discrete(), gp.Discrete(),
        gp.Absolute() + 0.6 * gp.Threshold(3), 2 * gp.Threshold(2, 5), gp.minimum(gp.Absolute(), 1.5),
    ]  # fmt: skip
    return World(
        points,
        tuple((mass / 100).tolist()),
        bool(rng.random() < 0.7),
        None if by_percent else Fraction(int(rng.integers(1, 16))) * step / 2,
        int(rng.choice([5, 25, 50, 100])) if by_percent else None,
        bounds,
        (knows[0], knows[1]) if rng.random() < 0.4 and knows[0] < knows[1] else None,
        metrics[int(rng.integers(len(metrics)))],
        1.0,
    )


def _some(seed: int, count: int) -> Iterator[tuple[World, float, Any]]:
    """Drawn worlds in which some goal is open."""
    rng = np.random.default_rng(seed)
    while count:
        world, epsilon = _drawn(rng), float(10 ** rng.uniform(-2, 0.7))
        try:
            believed = world.believed()[0]
            _ = world.attack().attribute.range
        except (GuessproofError, ZeroDivisionError):
            continue
        if not believed or not any(0 < mask.sum() < mask.size for _, mask in world.goals()):
            continue
        count -= 1
        yield world, epsilon, rng


@pytest.mark.parametrize("seed", range(3))
def test_no_true_value_exceeds_the_answer_and_one_attains_it(seed: int) -> None:
    for world, epsilon, _ in _some(seed, 30):
        attack = world.attack()
        rise, fall, most = world.answers(epsilon)
        for bracket, truth in (
            (attack.advantage(epsilon=epsilon), rise),
            (attack.advantage(epsilon=epsilon, both=True), max(rise, fall)),
            (attack.posterior(epsilon=epsilon), most),
        ):
            assert bracket.bound >= truth - 1e-8, world
            assert bracket.attack <= truth + 1e-8, world
            assert bracket.bound - bracket.attack <= 1e-6, world
            if most < 1:  # what is said to be the worst true value gives what is said
                there = world.attack(at=bracket.worst_at)
                assert there.prior == pytest.approx(bracket.worst_prior, abs=1e-9), world


@pytest.mark.parametrize("seed", range(6, 8))
def test_the_epsilon_keeps_the_limit_for_everybody_and_no_larger_one_does(seed: int) -> None:
    for world, _, rng in _some(seed, 20):
        attack, limit = world.attack(), float(rng.choice([0.02, 0.1, 0.3]))
        both, aim = bool(rng.random() < 0.5), str(rng.choice(["advantage", "posterior"]))
        if aim == "posterior":
            before = max(p for p, _ in world.goals())
            limit = before + limit * (1 - before)
            if before == 1:
                with pytest.raises(InfeasibleError):
                    attack.epsilon(posterior=0.999)
                continue
        asked: dict[str, Any] = {aim: limit, "both": both}
        epsilon = attack.epsilon(**asked)

        def reached(value: float, world: World = world, both: bool = both, aim: str = aim) -> float:
            rise, fall, most = world.answers(value)
            return most if aim == "posterior" else max(rise, fall) if both else rise

        if math.isinf(epsilon):
            assert reached(30.0) <= limit + 1e-8, world
            continue
        assert reached(epsilon) <= limit + 1e-8, world
        assert epsilon > 30 or reached(epsilon * (1 + 1e-5)) >= limit - 1e-8, world


@pytest.mark.parametrize("seed", range(10, 11))
def test_goals_that_are_no_interval_range_over_the_same_true_values(seed: int) -> None:
    for world, epsilon, _ in _some(seed, 15):
        attack = world.attack(turned=True)
        rise, _, most = world.answers(epsilon, turned=True)
        found, after = attack.advantage(epsilon=epsilon), attack.posterior(epsilon=epsilon)
        assert found.attack - 1e-8 <= rise <= found.bound + 1e-8, world
        assert after.attack - 1e-8 <= most <= after.bound + 1e-8, world


# The fast path against the slow one.


@pytest.mark.parametrize("seed", range(4))
def test_large_samples_agree_with_every_true_value_asked(seed: int) -> None:
    """Enough values that stretches of true values are dropped by their bounds."""
    rng = np.random.default_rng(seed)
    values = [rng.normal(0, 5, 200), rng.integers(0, 200, 900), np.exp(rng.normal(3, 1.5, 200)), np.arange(200)][seed]
    x = gp.Attribute("x", prior=gp.empirical(values), metric=gp.Absolute() + 0.1 * gp.Discrete() if seed % 2 else None)
    radius = float(np.std(values)) / 4
    attack = gp.Attack(gp.within(x, radius))
    epsilon = attack.epsilon(advantage=0.04, both=True)
    points = np.unique(values).astype(float)
    turns = np.unique(np.concatenate([points - radius, points + radius]).clip(points[0], points[-1]))
    t = np.unique(np.concatenate([turns, (turns[1:] + turns[:-1]) / 2]))
    near = np.searchsorted(points, t + radius, side="right") > np.searchsorted(points, t - radius)
    one = gp.Attack(gp.within(x, radius), at={"x": t[near]})
    for both in (False, True):
        found, each = attack.advantage(epsilon=epsilon, both=both), one.advantage(epsilon=epsilon, both=both)
        assert found.status == "exact"
        assert found.bound == pytest.approx(float(np.max(each.bound)), rel=1e-8)
    assert attack.advantage(epsilon=epsilon, both=True).bound <= 0.04 + 1e-12
    assert attack.advantage(epsilon=epsilon * (1 + 1e-7), both=True).attack > 0.04
    assert attack.posterior(epsilon=epsilon).bound == pytest.approx(float(np.max(one.posterior(epsilon=epsilon).bound)))


def test_what_is_returned_was_proven_for_every_run() -> None:
    """The worst run moves with ε, so the first ε that one run allows can be a little too large for another."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        two = np.concatenate([rng.normal(0, 1, 300), rng.normal(6, 2, 100)])
        values = [rng.normal(0, 3, 400), np.exp(rng.normal(0, 1, 400)), two][seed % 3]
        x = gp.Attribute("x", prior=gp.empirical(values))
        attack = gp.Attack(gp.within(x, float(np.std(values) * rng.uniform(0.1, 1))))
        limit, both = float(rng.choice([0.02, 0.1, 0.2, 0.4, 1e-6])), seed % 5 == 0
        epsilon = attack.epsilon(advantage=limit, both=both)
        if 0 < epsilon < math.inf:
            assert attack.advantage(epsilon=epsilon, both=both).bound <= limit
            assert attack.advantage(epsilon=epsilon * (1 + 1e-6), both=both).attack > limit * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.2, 4.0])
@pytest.mark.parametrize("step", [0.0, 0.3])
def test_the_worst_of_many_true_values_is_found_at_any_epsilon(epsilon: float, step: float) -> None:
    """Bounds of tents name the true values that are asked: none that is worse may be missed, in either direction."""
    rng = np.random.default_rng(round(10 * step))
    points = np.unique(np.append(rng.normal(0, 5, 60), rng.normal(9, 0.2, 12)))
    x = gp.Attribute("x", prior=gp.empirical(points), metric=gp.Absolute() + step * gp.Discrete())
    turns = np.unique(np.append(points - 1.5, points + 1.5).clip(points[0], points[-1]))
    t = (turns[1:] + turns[:-1]) / 2
    t = t[np.searchsorted(points, t + 1.5) > np.searchsorted(points, t - 1.5)]
    assert t.size > 100
    worst, each = gp.Attack(gp.within(x, 1.5)), gp.Attack(gp.within(x, 1.5), at={"x": t})
    for found, all_ in (
        (worst.advantage(epsilon), each.advantage(epsilon)),
        (worst.advantage(epsilon, both=True), each.advantage(epsilon, both=True)),
        (worst.posterior(epsilon), each.posterior(epsilon)),
    ):
        most, close = float(np.max(all_.attack)), 1e-9 if epsilon > 1e-6 else 1e-4  # rounding of sums
        assert found.attack == pytest.approx(most, rel=close)
        assert most <= found.bound <= most * (1 + max(close, 1e-5))
