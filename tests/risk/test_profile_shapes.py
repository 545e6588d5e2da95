"""Profiles with a closed form against the tables of Kazan & Reiter, exact arithmetic and brute force."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from reference.profiles import allowed_epsilon, exact_epsilon, lowest_in_box, lowest_on_line

from guessproof.errors import NotCertifiedError, ParameterError
from guessproof.risk import RiskProfile, epsilon_for_relative_risk
from guessproof.risk.profile.risk_profile import Releases

PRINTED = json.loads((Path(__file__).parents[1] / "data" / "papers.json").read_text())["kazan_reiter"]
PROFILE = RiskProfile


def geometric(epsilon: float) -> tuple[float, float]:
    """Standard deviation and probability of 0 of two-sided geometric noise, [KR] (2) and (3)."""
    x = math.exp(-epsilon)
    return math.sqrt(2 * x) / (1 - x), (1 - x) / (1 + x)


def assert_row(epsilon: float, row: dict[str, float]) -> None:
    deviation, exact = geometric(epsilon)
    assert round(epsilon, 2) == row["eps"]
    assert round(deviation, 2) == row["sd"]
    assert round(exact, 2) == row["exact_probability"]


@pytest.mark.parametrize("row", PRINTED["table3"])
def test_table_3(row: dict[str, float]) -> None:
    assert_row(PROFILE.fixed_value(row["q"], row["absolute"], row["relative"]).epsilon(), row)


@pytest.mark.parametrize("row", PRINTED["table4"])
def test_table_4(row: dict[str, float]) -> None:
    assert_row(PROFILE.fixed_inclusion(row["p"], row["absolute"], row["relative"]).epsilon(), row)


def test_table_4_does_not_flip_where_the_limits_meet_up_to_rounding() -> None:
    assert 0.15 / 0.05 < 3  # why a comparison of the ratios goes wrong
    around = [PROFILE.fixed_inclusion(0.05, a, 3).epsilon() for a in np.nextafter(0.15, [0, 0.15, 1])]
    assert around == pytest.approx([math.log(0.15 * 0.95 / (0.05 * 0.85))] * 3, rel=1e-13)


@pytest.mark.parametrize(("relative", "printed"), [(1.5, 0.2), (3, 0.55), (6, 0.9)])
def test_constant_is_half_the_logarithm(relative: float, printed: float) -> None:
    profile = PROFILE.constant(relative)
    assert round(profile.epsilon(), 2) == printed
    assert profile.epsilon() <= 0.5 * mp.log(relative)
    assert profile.epsilon() == pytest.approx(0.5 * math.log(relative), rel=1e-14)
    assert profile.status == "exact"
    assert (profile.binding().p, profile.binding().q) == (1.0, 0.0)


def test_equation_16_as_it_should_read() -> None:
    assert PROFILE.fixed_value(0.5, 0.25, 3).epsilon() == pytest.approx(1.232706, abs=5e-7)
    assert PROFILE.fixed_value(0.05, 0.3, 3).epsilon() == pytest.approx(0.5 * math.log(0.3 * 0.95 / (0.05 * 0.7)))
    assert PROFILE.fixed_value(0.2, 0.3, 3).epsilon() == pytest.approx(0.5 * math.log(0.8 / (1 / 3 - 0.2)))
    assert PROFILE.fixed_value(1, 0.1, 3).epsilon() == pytest.approx(math.log(2.9 / 0.9))  # Figure 1, agency 2


def corrected_16(q: float, a: float, r: float) -> mp.mpf:
    """(16) with its missing ã and its missing case, case by case, in fifty digits."""
    with mp.workdps(50):
        q, a, r = mp.mpf(q), mp.mpf(a), mp.mpf(r)
        if q < a / r:
            return mp.log(a * (1 - q) / (q * (1 - a))) / 2
        if q <= 1 / (r + 1):
            return mp.log((1 - q) / (1 / r - q)) / 2
        if q < 1:
            root = mp.sqrt((r * q - a) ** 2 + 4 * a * q * (1 - q) * (1 - a))
            return mp.log(2 * a * (1 - q) / (root - (r * q - a)))
        return mp.log((r - a) / (1 - a))


def printed_14(p: float, a: float, r: float) -> mp.mpf:
    with mp.workdps(50):
        p, a, r = mp.mpf(p), mp.mpf(a), mp.mpf(r)
        if a / p < r:
            root = mp.sqrt(r**2 * (1 - p) ** 2 + 4 * (p * r - a) * (1 - a))
            return mp.log(2 * (p * r - a) / (root - r * (1 - p)))
        return mp.log(a * (1 - p) / (p * (1 - a)))


def limits(count: int, seed: int) -> list[tuple[float, float, float]]:
    random = np.random.default_rng(seed)
    prior = np.where(random.random(count) < 0.1, 1.0, random.uniform(0.001, 1, count))
    prior = np.where(random.random(count) < 0.1, 10 ** random.uniform(-8, 0, count), prior)
    absolute = np.where(random.random(count) < 0.2, 10 ** random.uniform(-8, 0, count), random.random(count))
    relative = 1 + 10 ** random.uniform(-3, 2, count)
    return list(zip(prior.tolist(), (absolute * 0.999).tolist(), relative.tolist(), strict=True))


def test_fixed_value_is_below_fifty_digits_by_rounding_only() -> None:
    for q, a, r in limits(3000, 1):
        truth, ours = corrected_16(q, a, r), PROFILE.fixed_value(q, a, r).epsilon()
        assert mp.mpf(ours) <= truth
        assert float(truth - mp.mpf(ours)) <= 1e-12 * (1 + float(truth))


def test_fixed_inclusion_is_below_fifty_digits_by_rounding_only() -> None:
    for p, a, r in limits(3000, 2):
        if p == 1 and a >= r:
            continue
        truth, ours = printed_14(p, a, r), PROFILE.fixed_inclusion(p, a, r).epsilon()
        assert mp.mpf(ours) <= truth
        assert float(truth - mp.mpf(ours)) <= 1e-12 * (1 + float(truth))


def test_fixed_profiles_against_a_grid() -> None:
    for prior, a, r in limits(250, 3):

        def ratio(t: np.ndarray, prior: float = prior, a: float = a, r: float = r) -> np.ndarray:
            return np.maximum(a / (prior * t), r)

        slow = lowest_on_line(ratio, lambda t, prior=prior: (np.full_like(t, prior), t))
        ours = PROFILE.fixed_inclusion(prior, a, r).epsilon()
        assert ours <= slow + 1e-12
        assert ours == pytest.approx(slow, rel=1e-5, abs=1e-7)

        slow = lowest_on_line(ratio, lambda t, prior=prior: (t, np.full_like(t, prior)))
        ours = PROFILE.fixed_value(prior, a, r).epsilon()
        assert ours <= slow + 1e-12
        assert ours == pytest.approx(slow, rel=1e-5, abs=1e-7)


def test_boxes_against_a_grid() -> None:
    random = np.random.default_rng(4)
    vacuous = 0
    for _ in range(400):
        p, q = (tuple(np.sort(random.random(2))) for _ in range(2))
        p = random.choice([0.0, p[0]]), random.choice([1.0, p[1]])
        q = random.choice([0.0, q[0]]), random.choice([1.0, q[1]])
        r = 1 + 10 ** random.uniform(-2, 2)
        slow = lowest_in_box(lambda a, b, r=r: np.full(a.shape, r), p, q, count=17, zooms=2)
        ours = PROFILE.box(r, p=p, q=q).epsilon()
        vacuous += math.isinf(ours)
        assert ours <= slow + 1e-12
        if math.isfinite(slow):
            assert ours == pytest.approx(slow, rel=1e-6, abs=1e-6)
        else:
            assert math.isinf(ours)
    assert 5 < vacuous < 200


@pytest.mark.parametrize(
    ("r", "p", "q", "corner"),
    [
        (3, (0.2, 0.8), (0.1, 0.9), (0.8, 0.1)),  # q0 below 1/(r+1): the largest p
        (3, (0.2, 0.8), (0.25, 0.9), (0.8, 0.25)),  # at 1/(r+1): any p
        (3, (0.2, 0.8), (0.3, 0.9), (0.2, 0.3)),  # above: the smallest p
        (3, (0.0, 0.8), (0.3, 0.9), (0.0, 0.3)),
        (3, (0.2, 0.8), (1.0, 1.0), (0.2, 1.0)),
    ],
)
def test_the_four_cases_of_equation_12(r, p, q, corner) -> None:
    profile = PROFILE.box(r, p=p, q=q)
    assert profile.epsilon() == pytest.approx(float(exact_epsilon(*corner, r)), rel=1e-13)
    binding = profile.binding()
    assert epsilon_for_relative_risk(binding.p, binding.q, r) == pytest.approx(profile.epsilon(), rel=1e-13)


def test_boxes_that_never_bind() -> None:
    for profile in (
        PROFILE.box(3, p=(0.5, 1), q=(0.8, 1)),
        PROFILE.box(2, p=(0.5, 1), q=1),
        PROFILE.box(3, p=(1 / 3, 1), q=1),
        PROFILE.box(math.inf),
        PROFILE.fixed_value(0.3, absolute=1),
        PROFILE.fixed_value(1, absolute=1, relative=5),
        PROFILE.fixed_inclusion(0.3, absolute=1, relative=2),
        PROFILE.fixed_inclusion(0.3, relative=math.inf),
    ):
        assert profile.epsilon() == math.inf
        assert profile.binding() is None
        assert profile.status == "exact"
        assert profile.to_dict()["epsilon"] is None
        assert not profile.to_dict()["binds"]
    # vacuous at the corner that (12) names, but not where p is small
    assert PROFILE.box(3, p=(0.1, 1), q=(0.5, 1)).epsilon() == pytest.approx(float(exact_epsilon(0.1, 0.5, 3)))


def test_one_limit_alone() -> None:
    assert PROFILE.fixed_inclusion(0.2, absolute=0.3).epsilon() == pytest.approx(math.log(0.3 * 0.8 / (0.2 * 0.7)))
    assert PROFILE.fixed_value(0.2, absolute=0.3).epsilon() == pytest.approx(0.5 * math.log(0.3 * 0.8 / (0.2 * 0.7)))
    assert PROFILE.fixed_inclusion(0.2, absolute=0.2).epsilon() == 0
    assert PROFILE.fixed_value(0.2, absolute=0.2).epsilon() == 0
    assert PROFILE.fixed_inclusion(0.2, relative=3).epsilon() == pytest.approx(float(exact_epsilon(0.2, 0, 3)))
    assert PROFILE.fixed_value(0.2, relative=3).epsilon() == pytest.approx(float(exact_epsilon(1, 0.2, 3)))
    assert PROFILE.fixed_value(0.4, relative=3).epsilon() == pytest.approx(math.log(3))  # p → 0
    assert PROFILE.constant(1).epsilon() == 0
    assert PROFILE.fixed_value(0.2, absolute=0.1, relative=1).epsilon() == 0


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: PROFILE.constant(0.5), "relative"),
        (lambda: PROFILE.constant(math.nan), "relative"),
        (lambda: PROFILE.constant("3"), "relative"),
        (lambda: PROFILE.constant(True), "relative"),
        (lambda: PROFILE.box(3, p=(0.5, 0.2)), "p"),
        (lambda: PROFILE.box(3, p=(0, 0)), "p"),
        (lambda: PROFILE.box(3, q=(0.1, 1.2)), "q"),
        (lambda: PROFILE.box(3, q=(0.1, 0.2, 0.3)), "q"),
        (lambda: PROFILE.box(3, q="ab"), "q"),
        (lambda: PROFILE.box(3, q=(math.nan, 1)), "q"),
        (lambda: PROFILE.fixed_inclusion(0, 0.1, 3), "p"),
        (lambda: PROFILE.fixed_value(0, 0.1, 3), "q"),
        (lambda: PROFILE.fixed_value(0.5), "absolute"),
        (lambda: PROFILE.fixed_value(0.5, absolute=0.4), "absolute"),
        (lambda: PROFILE.fixed_inclusion(0.5, absolute=0.4), "absolute"),
        (lambda: PROFILE.fixed_value(0.5, absolute=1.5, relative=3), "absolute"),
        (lambda: PROFILE.fixed_value(0.5, absolute=0.2, relative=0.9), "relative"),
        (lambda: PROFILE.constant(3) & 3, "other"),
        (lambda: PROFILE.constant(3).releases(0), "releases"),
        (lambda: PROFILE.constant(3).releases([0.1, -0.1]), "releases"),
        (lambda: PROFILE.constant(3).releases("ab"), "releases"),
        (lambda: PROFILE.constant(3).allowed(1.5, 0.2), "p"),
        (lambda: PROFILE.constant(3).epsilon(bounded=True), "p"),
        (lambda: PROFILE.constant(3).releases(math.nan), "releases"),
    ],
)
def test_contradictions_name_the_field(make, field: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.field == field
    assert caught.value.problem
    assert caught.value.remedy


def test_allowed_is_the_profile_itself() -> None:
    box = PROFILE.box(3, p=(0.1, 0.2), q=(0.3, 0.4))
    assert box.allowed(0.15, 0.35) == 3
    assert box.allowed(0.15, 0.45) == math.inf
    value = PROFILE.fixed_value(1, 0.25, 3)
    assert value.allowed([0.01, 0.25 / 3, 0.9], 1.0) == pytest.approx([25, 3, 3])
    assert value.allowed(0.01, 0.99) == math.inf
    inclusion = PROFILE.fixed_inclusion(0.05, 0.1, 3)
    assert inclusion.allowed(0.05, [0.1, 0.5, 1.0]) == pytest.approx([20, 4, 3])
    assert inclusion.allowed(0.05, 0.0) == math.inf
    assert inclusion.allowed(0.06, 0.5) == math.inf


@pytest.mark.parametrize(
    "profile",
    [
        PROFILE.constant(3),
        PROFILE.box(2, p=(0.1, 0.9), q=(0.2, 0.7)),
        PROFILE.fixed_value(0.3, 0.25, 3),
        PROFILE.fixed_inclusion(0.3, 0.25, 3),
        PROFILE.fixed_value(0.3, 0.25, 3) & PROFILE.constant(20),
        PROFILE.points([(0.001, 10), (0.4, 1.2)]),
    ],
)
def test_no_point_allows_less_and_the_binding_point_allows_the_same(profile: RiskProfile) -> None:
    random = np.random.default_rng(5)
    p, q = random.uniform(0, 1, (2, 5000))
    p[:1000], q[1000:2000] = 0.3, 0.3
    assert (profile.implied(p, q) >= profile.epsilon()).all()
    assert (allowed_epsilon(p, q, profile.allowed(p, q)) >= profile.epsilon() - 1e-12).all()
    binding = profile.binding()
    assert profile.epsilon() == pytest.approx(binding.epsilon, rel=1e-15 if profile.status == "exact" else 1e-6)
    assert epsilon_for_relative_risk(binding.p, binding.q, binding.ratio) == pytest.approx(binding.epsilon, rel=1e-9)
    assert binding.posterior == pytest.approx(binding.prior * binding.ratio)


def test_stricter_is_the_minimum_of_the_ratios_and_of_the_epsilons() -> None:
    a, b = PROFILE.fixed_value(0.3, 0.25, 3), PROFILE.box(2, p=(0.5, 1), q=(0.2, 0.4))
    both = a & b
    assert both == a.stricter(b)
    assert both.epsilon() == min(a.epsilon(), b.epsilon())
    assert both.binding() == (a if a.epsilon() < b.epsilon() else b).binding()
    p, q = np.meshgrid(np.linspace(0.01, 1, 30), np.append(np.linspace(0.01, 1, 30), 0.3))
    assert (both.allowed(p, q) == np.minimum(a.allowed(p, q), b.allowed(p, q))).all()
    assert both.status == "exact"
    guess = PROFILE.custom(lambda p, q: 5 + math.sin(float(p)))
    with pytest.raises(NotCertifiedError):
        (both & guess).epsilon()
    assert len(((both & guess) & both).shape.parts) == 5


def test_releases_add_up() -> None:
    profile = PROFILE.constant(3)
    limit = profile.epsilon()
    for count in (1, 2, 3, 7, 1000):
        plan = profile.releases(count)
        assert len(plan.epsilons) == count
        assert plan.kept
        assert sum(map(Fraction, plan.epsilons)) <= Fraction(limit)
        assert plan.total == pytest.approx(limit, rel=1e-12)
    over = profile.releases([0.3, 0.3])
    assert not over.kept
    assert over.remaining == 0
    assert profile.releases([0.2, 0.1]).remaining == pytest.approx(limit - 0.3)
    assert profile.releases([0.2, 0.1]).remaining <= limit - 0.3
    assert profile.releases([]).remaining <= limit
    assert profile.releases(0.5).remaining == pytest.approx(limit - 0.5)
    assert PROFILE.box(math.inf).releases([3.0]).remaining == math.inf
    # two releases of ε₁ and ε₂ leave the risk of one of ε₁ + ε₂
    assert Releases((0.1, 0.2), 1.0).total == pytest.approx(0.3)


def test_bounded_is_twice_for_known_inclusion() -> None:
    profile = PROFILE.box(2, p=1, q=(0.25, 1))
    assert profile.epsilon(bounded=True) == pytest.approx(math.log(3))
    assert PROFILE.fixed_inclusion(1, 0.4, 2).epsilon(bounded=True) == pytest.approx(
        2 * PROFILE.fixed_inclusion(1, 0.4, 2).epsilon()
    )
    with pytest.raises(ParameterError):
        PROFILE.fixed_value(0.3, 0.4, 2).epsilon(bounded=True)


def test_text_and_dict() -> None:
    written = {
        "RiskProfile.constant(3)": PROFILE.constant(3),
        "RiskProfile.box(3, p=(0, 0.2), q=(0.1, 1))": PROFILE.box(3, p=(0, 0.2), q=(0.1, 1)),
        "RiskProfile.fixed_inclusion(p=0.05, absolute=0.1, relative=3)": PROFILE.fixed_inclusion(0.05, 0.1, 3),
        "RiskProfile.fixed_value(q=1, relative=3)": PROFILE.fixed_value(1, relative=3),
        "RiskProfile.points([(0.001, 10), (0.4, 1.2)])": PROFILE.points([(0.4, 1.2), (0.001, 10)]),
    }
    for text, profile in written.items():
        assert repr(profile) == text
        assert eval(text) == profile
        json.dumps(profile.to_dict(), allow_nan=False)
        assert profile.to_dict()["epsilon"] == profile.epsilon()
    assert repr(PROFILE.constant(3) & PROFILE.constant(2)) == "RiskProfile.constant(3) & RiskProfile.constant(2)"
    custom = PROFILE.custom(lambda p, q: 2 + p, q=1, monotone="rising")
    assert repr(custom) == "RiskProfile.custom(function, p=(0, 1), q=(1, 1))"
    json.dumps((custom & PROFILE.constant(3)).to_dict(), allow_nan=False)
