"""Profiles written as points: what they mean between the points, and their ε."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference.profiles import allowed_epsilon, lowest_in_box, lowest_on_line

from guessproof.errors import ParameterError
from guessproof.risk import RiskProfile

PAPER = [(0.001, 10), (0.4, 1.2)]


def test_the_stewards_example() -> None:
    """[KR] section 1: ten-fold at 0.001, 1.2-fold at 0.4."""
    profile = RiskProfile.points(PAPER)
    assert profile.allowed([0.001, 0.4], 1.0) == pytest.approx([10, 1.2])
    assert profile.allowed([1e-9, 0.0005, 0.5, 1.0], 1.0) == pytest.approx([10, 10, 1.2, 1.2])
    assert profile.allowed(0.02, 1.0) == pytest.approx(math.sqrt(12))  # the middle, on logarithmic axes
    assert profile.allowed(0.2, 0.1) == pytest.approx(profile.allowed(0.02, 1.0))  # only pq counts
    binding = profile.binding()
    assert binding.p == 1.0
    assert profile.epsilon() == pytest.approx(0.5 * math.log(1.2 * 0.6 / (1 - 0.48)), rel=1e-6)
    assert binding.prior == pytest.approx(0.4)


def test_the_line_is_below_every_other_way_to_join_two_falling_points() -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        low, high = np.sort(random.random(2))
        upper, lower = 1 + np.sort(10 ** random.uniform(-2, 2, 2))[::-1]
        prior = np.linspace(low, high, 50)[1:-1]
        ours = RiskProfile.points([(low, upper), (high, lower)]).allowed(prior, 1.0)
        linear, logarithmic = (prior - low) / (high - low), np.log(prior / low) / math.log(high / low)
        for share in (linear, logarithmic):
            assert (ours <= upper * (1 - share) + lower * share + 1e-9).all()
            assert (ours <= upper ** (1 - share) * lower**share + 1e-9).all()


def test_rising_points_hold_the_lower_ratio_up_to_the_next() -> None:
    profile = RiskProfile.points([(0.1, 2), (0.3, 5)])
    assert profile.allowed([0.1, 0.2, 0.2999, 0.3, 0.5], 1.0) == pytest.approx([2, 2, 2, 5, 5])
    assert profile.epsilon() == pytest.approx(0.5 * math.log(2))


def test_one_point_is_a_constant() -> None:
    assert RiskProfile.points([(0.2, 3)]).epsilon() == pytest.approx(RiskProfile.constant(3).epsilon(), rel=1e-13)


def random_points(random: np.random.Generator) -> list[tuple[float, float]]:
    count = random.integers(1, 6)
    priors = np.sort(10 ** random.uniform(-5, 0, count))
    ratios = 1 + 10 ** random.uniform(-2, 3, count)
    if random.random() < 0.8:
        ratios = np.sort(ratios)[::-1]
    return list(zip(priors.tolist(), ratios.tolist(), strict=True))


def test_random_points_against_brute_force_where_inclusion_is_known() -> None:
    random = np.random.default_rng(2)
    inner = 0
    for _ in range(400):
        points = random_points(random)
        profile = RiskProfile.points(points)
        slow = lowest_on_line(lambda t, f=profile: f.allowed(1.0, t), lambda t: (np.ones_like(t), t))
        knots = np.array([prior for prior, _ in points])
        for side in (knots, knots * (1 - 1e-12)):
            slow = min(slow, float(allowed_epsilon(1.0, side, profile.allowed(1.0, side)).min()))
        assert profile.epsilon() <= slow + 1e-12
        assert profile.epsilon() == pytest.approx(slow, rel=1e-4, abs=1e-6)
        binding = profile.binding()
        inner += bool(np.all(np.abs(binding.prior - knots) > 1e-9) and binding.prior > 0)
    assert inner > 30  # the stationary points are exercised


def test_random_points_against_brute_force_on_rectangles() -> None:
    random = np.random.default_rng(3)
    for _ in range(150):
        points = random_points(random)
        p, q = (tuple(np.sort(random.random(2)).tolist()) for _ in range(2))
        profile = RiskProfile.points(points, p=p, q=q)
        slow = lowest_in_box(profile.allowed, p, q, count=61, zooms=5)
        if math.isinf(slow):
            assert profile.epsilon() == math.inf or profile.epsilon() > 5
            continue
        assert profile.epsilon() <= slow + 1e-9
        assert profile.epsilon() == pytest.approx(slow, rel=3e-3, abs=1e-4)
        inside = random.uniform(*p, 500), random.uniform(*q, 500)
        assert (profile.implied(*inside) >= profile.epsilon() - 1e-12).all()


def test_steep_points_bind_at_their_ends() -> None:
    profile = RiskProfile.points([(0.1, 9), (0.3, 1.2)])  # falls faster than 1/prior
    assert profile.binding().prior == pytest.approx(0.3)
    assert profile.epsilon() == pytest.approx(0.5 * math.log(1.2 * 0.7 / (1 - 0.36)))


def test_a_region_can_make_the_points_vacuous() -> None:
    assert RiskProfile.points([(0.1, 9), (0.3, 4)], p=(0.9, 1), q=(0.5, 1)).epsilon() == math.inf


@pytest.mark.parametrize(
    "bad",
    [
        [],
        3,
        None,
        "ab",
        [(0.1, 2, 3)],
        [(0.1,)],
        [0.1, 0.2],
        [(0.0, 2)],
        [(1.1, 2)],
        [(0.1, 0.9)],
        [(0.1, math.nan)],
        [(0.1, math.inf)],
        [(math.nan, 2)],
        [(0.1, 2), (0.1, 3)],
        [("0.1", 2)],
    ],
)
def test_points_that_cannot_be_meant(bad) -> None:
    with pytest.raises(ParameterError):
        RiskProfile.points(bad)


def test_extreme_points_stay_finite() -> None:
    for points in (
        [(5e-324, 1e99), (1.0, 1.0)],
        [(1e-99, 1e99), (1e-98, 1.0)],
        [(0.5, 1e99), (0.5000001, 1.0)],
        [(1e-12, 1e12), (1.0, 1.0)],  # ratio = 1/prior up to the end: nothing is promised
    ):
        assert RiskProfile.points(points).epsilon() >= 0
