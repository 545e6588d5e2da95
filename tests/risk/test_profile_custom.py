"""Profiles given as functions: never above the infimum, close to it, and refused where nothing is stated of them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference.profiles import allowed_epsilon, exact_epsilon, lowest_in_box

from guessproof.errors import GuessproofError, InfeasibleError, NotCertifiedError, ParameterError
from guessproof.risk import RiskProfile, relative_risk

CUSTOM = RiskProfile.custom

FALLING: dict[str, Callable[[Any, Any], Any]] = {
    "constant": lambda p, q: 3.0,
    "exponential": lambda p, q: 1.2 + 9 * np.exp(-6 * p * q),
    "hyperbola": lambda p, q: 1.5 + 1 / (0.1 + p * q),
    "power": lambda p, q: 1.2 * (p * q) ** -0.3,
    "logarithm": lambda p, q: 1.5 - np.log(p * q),
    "steep": lambda p, q: 1.1 + 100 / (1 + np.exp(80 * (p * q - 0.3))),
    "maximum": lambda p, q: np.maximum(0.25 / (p * q), 3),
}
SLOPED: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "bowl": (lambda p, q: 2 + 3 * (p - 0.6) ** 2 + 4 * (q - 0.3) ** 2, (1.8, 2.8)),
    "dip": (lambda p, q: 3 - 1.5 * np.exp(-40 * ((p - 0.313) ** 2 + (q - 0.417) ** 2)), 7),
    "sine": (lambda p, q: 2 + 0.5 * abs(np.sin(3 * p)) + 0.5 * q, (0.75, 0.25)),
}


def opaque(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The same function, in a form that only numbers get through."""
    return lambda p, q: function(float(p), float(q))


def lowest(function: Callable[[Any, Any], Any], p: Any = (0, 1), q: Any = (0, 1)) -> float:
    return lowest_in_box(lambda a, b: np.broadcast_to(function(a, b), a.shape), p, q, zooms=6)


@pytest.mark.parametrize("name", FALLING)
def test_functions_that_fall_are_proven_to_within_a_millionth(name: str) -> None:
    function = FALLING[name]
    for given in (function, opaque(function)):
        profile = CUSTOM(given, monotone="falling")
        slow = lowest(function)
        assert profile.status == "proven"
        assert profile.how == "branch and bound with the stated direction of r*"
        assert profile.epsilon() <= slow
        assert profile.epsilon() == pytest.approx(slow, abs=1e-6)
        assert profile.gap < 1e-6


@pytest.mark.parametrize("name", SLOPED)
def test_functions_with_a_stated_slope_are_proven(name: str) -> None:
    function, slopes = SLOPED[name]
    profile = CUSTOM(opaque(function), lipschitz=slopes)
    slow = lowest(function)
    assert profile.status == "proven"
    assert profile.how == "branch and bound with the stated slope of ln r*"
    assert profile.epsilon() <= slow
    assert profile.epsilon() == pytest.approx(slow, abs=1e-3)
    assert slow <= profile.epsilon() + profile.gap + 1e-6
    narrow = CUSTOM(lambda p, q: 2 + math.sin(9 * q) / 2, p=1, lipschitz=(0, 3))
    slow = lowest(lambda p, q: 2 + np.sin(9 * q) / 2, (1, 1))
    assert narrow.epsilon() <= slow
    assert narrow.epsilon() == pytest.approx(slow, abs=1e-6)


def test_directions_may_differ_between_the_priors() -> None:
    def function(p: Any, q: Any) -> Any:
        return 2 + p * p - q / 2

    profile = CUSTOM(function, monotone=("rising", "falling"))
    slow = lowest(function)
    assert profile.epsilon() <= slow
    assert profile.epsilon() == pytest.approx(slow, abs=1e-6)


@pytest.mark.parametrize("name", FALLING)
def test_functions_of_which_nothing_is_stated_have_no_epsilon(name: str) -> None:
    """A dip between the points that were seen is not ruled out: every question is refused, with what would help."""
    profile = CUSTOM(FALLING[name])
    for ask in (profile.epsilon, lambda: profile.status, lambda: profile.releases(2), profile.to_dict):
        with pytest.raises(NotCertifiedError, match=r"the smallest ε seen is .*lipschitz=.*monotone="):
            ask()


def test_the_smallest_value_seen_is_named() -> None:
    with pytest.raises(NotCertifiedError, match=r"0\.549306 at p=1, q=1e-13"):
        CUSTOM(lambda p, q: 3.0).epsilon()


@pytest.mark.parametrize(
    ("closed", "function", "region"),
    [
        (RiskProfile.constant(3), lambda p, q: 3, {}),
        (RiskProfile.box(3, p=(0.1, 0.9), q=(0.4, 1)), lambda p, q: 3, {"p": (0.1, 0.9), "q": (0.4, 1)}),
        (RiskProfile.fixed_value(1, 0.25, 3), lambda p, q: np.maximum(0.25 / (p * q), 3), {"q": 1}),
        (RiskProfile.fixed_value(0.5, 0.25, 3), lambda p, q: np.maximum(0.25 / (p * q), 3), {"q": 0.5}),
        (RiskProfile.fixed_inclusion(0.05, 0.15, 3), lambda p, q: max(0.15 / (p * q), 3), {"p": 0.05}),
        (RiskProfile.fixed_inclusion(0.05, 0.025, 3), lambda p, q: max(0.025 / (p * q), 3), {"p": 0.05}),
        (
            RiskProfile.points([(0.001, 10), (0.4, 1.2)]),
            lambda p, q: np.exp(np.interp(np.log(p * q), np.log([0.001, 0.4]), np.log([10, 1.2]))),
            {},
        ),
        (
            RiskProfile.box(2, p=(0.2, 1), q=(0.1, 1)) & RiskProfile.constant(5),
            lambda p, q: np.where((p >= 0.2) & (q >= 0.1), 2.0, 5.0),
            {},
        ),
    ],
)
def test_closed_forms_are_found_again(closed: RiskProfile, function, region) -> None:
    profile = CUSTOM(function, **region, monotone="falling")
    assert profile.status == "proven"
    assert profile.epsilon() <= closed.epsilon() + 2e-7
    assert profile.epsilon() == pytest.approx(closed.epsilon(), abs=1e-6)
    assert profile.binding().ratio == pytest.approx(closed.binding().ratio, rel=1e-4)


JUMPS: dict[str, tuple[Callable[[Any, Any], Any], str, float]] = {
    # function, its direction, and the infimum: the lower side of the jump
    "step in p": (lambda p, q: 2.0 if p < 0.3 else 5.0, "rising", float(exact_epsilon(0.3, 0, 2))),
    "the lower value at the end": (lambda p, q: 2.0 if p <= 0.3 else 5.0, "rising", float(exact_epsilon(0.3, 0, 2))),
    "nothing promised": (lambda p, q: 1.5 if p * q > 0.2 else math.inf, "falling", float(exact_epsilon(1, 0.2, 1.5))),
    "staircase": (
        lambda p, q: 10.0 if p * q < 0.01 else 4.0 if p * q < 0.1 else 2.0 if p * q < 0.4 else 1.3,
        "falling",
        float(exact_epsilon(1, 0.4, 1.3)),
    ),
}


@pytest.mark.parametrize("name", JUMPS)
def test_jumps_count_with_their_lower_side(name: str) -> None:
    function, direction, infimum = JUMPS[name]
    profile = CUSTOM(function, monotone=direction)
    assert profile.epsilon() <= infimum
    assert profile.epsilon() == pytest.approx(infimum, abs=1e-6)


def test_a_stated_slope_sees_a_dip_between_all_sampled_points() -> None:
    def dip(p: Any, q: Any) -> float:
        return 3 - 1.9 * max(0.0, 1 - abs(float(q) - 4 / 9) / 0.012)

    truth = float(exact_epsilon(1, 4 / 9, 1.1))
    profile = CUSTOM(dip, p=1, lipschitz=(0, 150))
    assert profile.epsilon() <= truth
    assert profile.epsilon() == pytest.approx(truth, abs=1e-6)


def test_statements_that_points_contradict_are_refused() -> None:
    def wave(p: Any, q: Any) -> float:
        return 2 + 9 * math.sin(p)

    for function in (wave, lambda p, q: 2.0 if float(p) < 0.5 else math.inf):
        with pytest.raises(ParameterError) as caught:
            CUSTOM(function, lipschitz=0.1).epsilon()
        assert caught.value.field == "lipschitz"
        with pytest.raises(ParameterError) as caught:
            CUSTOM(function, monotone="falling").epsilon()
        assert caught.value.field == "monotone"


def test_random_rectangles_and_coefficients() -> None:
    random = np.random.default_rng(6)
    for _ in range(60):
        a, b, c, d = random.uniform([1.05, 0, 0, 0], [3, 8, 6, 2])
        p, q = (tuple(np.sort(random.random(2)).tolist()) for _ in range(2))

        def function(p: Any, q: Any, a: float = a, b: float = b, c: float = c, d: float = d) -> Any:
            return a + b * np.exp(-c * p * q) + np.maximum(d * (0.5 - p * q), 0)

        slow = lowest_in_box(function, p, q, count=61, zooms=6)
        for stated, close in (({"monotone": "falling"}, 2e-6), ({"lipschitz": (b * c + d) / a}, 2e-3)):
            profile = CUSTOM(function, p=p, q=q, **stated)
            assert profile.epsilon() <= slow + 1e-12
            if math.isinf(slow):
                assert profile.epsilon() == math.inf
            else:
                assert profile.epsilon() == pytest.approx(slow, abs=close)


@pytest.mark.parametrize(
    ("function", "region"),
    [
        (lambda p, q: math.inf, {}),
        (lambda p, q: 30.0, {"p": (0.5, 1), "q": (0.5, 1)}),
        (lambda p, q: 2 / (p * q), {"p": (0.1, 1), "q": (0.2, 0.9)}),
    ],
)
def test_functions_that_never_bind(function, region) -> None:
    profile = CUSTOM(function, **region, monotone="falling")
    assert profile.epsilon() == math.inf
    assert profile.binding() is None
    assert profile.status == "proven"


@pytest.mark.parametrize("function", [lambda p, q: 1 / (p * q), lambda p, q: relative_risk(p, q, 40.0)])
def test_where_rounding_decides_whether_anything_binds_nothing_is_said(function) -> None:
    with pytest.raises(NotCertifiedError, match="rounding"):
        CUSTOM(function, p=(0.3, 1), q=(0.3, 1), monotone="falling").epsilon()


def test_zero_where_the_posterior_may_not_exceed_the_prior() -> None:
    for function, stated in (
        (lambda p, q: 1.0, {"monotone": "falling"}),
        (lambda p, q: 1 + (p - 0.5) ** 2, {"lipschitz": 1}),
        (lambda p, q: max(1, 0.3 / (p * q)), {"monotone": "falling"}),
    ):
        assert CUSTOM(function, **stated).epsilon() == 0
        assert CUSTOM(function, **stated).status == "proven"


def test_a_profile_that_asks_for_one_epsilon_everywhere_stays_below_it() -> None:
    """Every point binds, so every cell stays open: the answer is below, and the gap says how far."""
    profile = CUSTOM(lambda p, q: relative_risk(p, q, 1.0), p=(0.1, 0.6), q=(0.1, 0.6), lipschitz=(1.1, 2.7))
    assert profile.epsilon() <= 1
    assert profile.epsilon() == pytest.approx(1, abs=0.02)
    assert 1 - 1e-6 <= profile.epsilon() + profile.gap <= 1 + 1e-9


def test_binding_is_a_point_of_the_function() -> None:
    function = FALLING["exponential"]
    profile = CUSTOM(function, monotone="falling")
    binding = profile.binding()
    assert binding.ratio == pytest.approx(float(function(binding.p, binding.q)))
    assert float(allowed_epsilon(binding.p, binding.q, binding.ratio)) == pytest.approx(binding.epsilon, rel=1e-9)
    assert 0 <= binding.epsilon - profile.epsilon() < 1e-6
    limit = CUSTOM(lambda p, q: 3, monotone="falling").binding()
    assert (limit.p, limit.q) == (1.0, 0.0)


def test_allowed_is_the_function_with_its_limits_at_zero() -> None:
    profile = CUSTOM(lambda p, q: max(0.25 / (p * q), 3), p=(0, 0.5))
    assert profile.allowed(0.5, 0.1) == pytest.approx(5)
    assert profile.allowed(0.6, 0.1) == math.inf
    assert profile.allowed(0.0, 0.1) > 1e9
    assert profile.allowed([[0.1, 0.2]], [[0.5], [1.0]]).shape == (2, 2)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda p, q: math.nan, ParameterError),
        (lambda p, q: -1.0, ParameterError),
        (lambda p, q: np.where(p < 0.5, 3.0, np.nan), ParameterError),
        (lambda p, q: math.nan if p > 0.5 else 3.0, ParameterError),
        (lambda p, q: "3", ParameterError),
        (lambda p, q: None, ParameterError),
        (lambda p, q: 2 + 1j, ParameterError),
        (lambda p, q: [2, 3], ParameterError),
        (lambda p, q: 1 / 0, ParameterError),
        (lambda p: 3.0, ParameterError),
        (lambda p, q: 0.5, InfeasibleError),
        (lambda p, q: 3 - 2.5 * p, InfeasibleError),
    ],
)
def test_functions_that_contradict_themselves(function, error: type[GuessproofError]) -> None:
    for stated in ({}, {"monotone": "falling"}, {"lipschitz": 9}):
        with pytest.raises(error, match="function"):
            CUSTOM(function, **stated).epsilon()


def test_a_dip_below_one_is_found_where_a_slope_is_stated() -> None:
    def dip(p: Any, q: Any) -> Any:
        return 3 - 2.2 * np.exp(-4000 * ((p - 0.313) ** 2 + (q - 0.417) ** 2))

    with pytest.raises(InfeasibleError, match="function"):
        CUSTOM(dip, lipschitz=150).epsilon()


@pytest.mark.parametrize(
    "make",
    [
        lambda: CUSTOM(3),
        lambda: CUSTOM(None),
        lambda: CUSTOM(lambda p, q: 3, p=(0.5, 0.1)),
        lambda: CUSTOM(lambda p, q: 3, q=(0, 0)),
        lambda: CUSTOM(lambda p, q: 3, lipschitz=-1),
        lambda: CUSTOM(lambda p, q: 3, lipschitz=math.nan),
        lambda: CUSTOM(lambda p, q: 3, lipschitz=(1, 2, 3)),
        lambda: CUSTOM(lambda p, q: 3, lipschitz="1"),
        lambda: CUSTOM(lambda p, q: 3, monotone="up"),
        lambda: CUSTOM(lambda p, q: 3, monotone=("falling", "falling", "falling")),
        lambda: CUSTOM(lambda p, q: 3, monotone=1),
        lambda: CUSTOM(lambda p, q: 3, monotone=("falling", ["rising"])),
    ],
)
def test_arguments_that_cannot_be_meant(make) -> None:
    with pytest.raises(ParameterError):
        make()


def test_answers_stay_below_what_points_allow() -> None:
    """Whatever is stated, no ε lies above that of a point of the region."""
    random = np.random.default_rng(8)
    for _ in range(40):
        a, b, c = random.uniform([1, -1, -1], [4, 3, 3])
        with contextlib.suppress(GuessproofError):
            profile = CUSTOM(lambda p, q, a=a, b=b, c=c: a + b * p + c * q * q, lipschitz=12)
            p, q = random.random((2, 2000))
            assert (profile.implied(p, q) >= profile.epsilon() - 1e-12).all()
