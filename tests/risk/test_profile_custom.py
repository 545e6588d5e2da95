"""Profiles given as functions: never above the infimum, within 1e-6 of it, and honest about what was proven."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference.profiles import allowed_epsilon, exact_epsilon, lowest_in_box

from guessproof.errors import GuessproofError, InfeasibleError, NotCertifiedError, ParameterError
from guessproof.risk.profile import RiskProfile, relative_risk

CUSTOM = RiskProfile.custom
X = math.exp(-1)

SMOOTH: dict[str, Callable[[Any, Any], Any]] = {
    "constant": lambda p, q: 3.0,
    "exponential": lambda p, q: 1.2 + 9 * np.exp(-6 * p * q),
    "bowl": lambda p, q: 2 + 3 * (p - 0.6) ** 2 + 4 * (q - 0.3) ** 2,
    "hyperbola": lambda p, q: 1.5 + 1 / (0.1 + p * q),
    "power": lambda p, q: 1.2 * (p * q) ** -0.3,
    "logarithm": lambda p, q: 1.5 - np.log(p * q),
    "dip": lambda p, q: 3 - 1.5 * np.exp(-40 * ((p - 0.313) ** 2 + (q - 0.417) ** 2)),
    "steep": lambda p, q: 1.1 + 100 / (1 + np.exp(80 * (p * q - 0.3))),
    "wave": lambda p, q: 2 + (p - 0.2) ** 2 * (p - 0.7) ** 2 * 30 + (q - 0.5) ** 2,
}
KINKED: dict[str, Callable[[Any, Any], Any]] = {
    "maximum": lambda p, q: np.maximum(0.25 / (p * q), 3),
    "builtin": lambda p, q: max(0.25 / (p * q), 3),
    "valley": lambda p, q: 2 + 5 * np.maximum(p - 0.7 * q - 0.2, -3 * (p - 0.7 * q - 0.2)) + 0.3 * q,
}


def opaque(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The same function, in a form that only numbers get through."""
    return lambda p, q: function(float(p), float(q))


def arrays_only(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda p, q: function(np.asarray(p), np.asarray(q))


@pytest.mark.parametrize("name", SMOOTH | KINKED)
def test_formulas_are_proven_to_within_a_millionth(name: str) -> None:
    function = (SMOOTH | KINKED)[name]
    profile = CUSTOM(function)
    vectorised = np.vectorize(function) if name == "builtin" else function
    slow = lowest_in_box(lambda p, q: np.broadcast_to(vectorised(p, q), p.shape), (0, 1), (0, 1), zooms=6)
    assert profile.status == "proven"
    assert profile.how == "branch and bound over enclosures of the function"
    assert profile.epsilon() <= slow
    assert profile.epsilon() == pytest.approx(slow, abs=1e-6)
    assert profile.gap < 1e-6


@pytest.mark.parametrize("name", SMOOTH | KINKED)
def test_functions_that_cannot_be_followed_have_no_epsilon(name: str) -> None:
    """Whatever was seen at points, a dip between them is not ruled out: all doors refuse, and say what would help."""
    profile = CUSTOM(opaque((SMOOTH | KINKED)[name]))
    for ask in (profile.epsilon, lambda: profile.status, lambda: profile.releases(2), profile.to_dict):
        with pytest.raises(NotCertifiedError, match="lipschitz"):
            ask()


@pytest.mark.parametrize("name", ["exponential", "bowl", "hyperbola"])
def test_functions_of_arrays_are_called_with_arrays(name: str) -> None:
    calls = 0

    def counted(p: Any, q: Any) -> Any:
        nonlocal calls
        calls += 1
        return SMOOTH[name](np.asarray(p, dtype=float), q)

    profile = CUSTOM(counted, p=(0.2, 1), q=(0.2, 1), lipschitz=20)
    followed = CUSTOM(SMOOTH[name], p=(0.2, 1), q=(0.2, 1)).epsilon()
    assert followed - 0.01 <= profile.epsilon() <= followed + 1e-6
    assert calls < 400


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
    profile = CUSTOM(function, **region)
    assert profile.status == "proven"
    assert profile.epsilon() <= closed.epsilon()
    assert profile.epsilon() == pytest.approx(closed.epsilon(), abs=1e-6)
    assert profile.binding().ratio == pytest.approx(closed.binding().ratio, rel=1e-4)


JUMPS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any], float]] = {
    # function for arrays, the same for numbers, and the infimum: the lower side of the jump
    "step in p": (
        lambda p, q: np.where(p < 0.3, 2.0, 5.0),
        lambda p, q: 2.0 if p < 0.3 else 5.0,
        float(exact_epsilon(0.3, 0, 2)),
    ),
    "step with the lower value at the end": (
        lambda p, q: np.where(p <= 0.3, 2.0, 5.0),
        lambda p, q: 2.0 if p <= 0.3 else 5.0,
        float(exact_epsilon(0.3, 0, 2)),
    ),
    "oblique": (
        lambda p, q: np.where(p + q < 0.9, 2 + 3 * q, 5.0),
        lambda p, q: 2 + 3 * q if p + q < 0.9 else 5.0,
        float(exact_epsilon(0.9, 0, 2)),
    ),
    "nothing promised outside": (
        lambda p, q: np.where(p * q > 0.2, 1.5, np.inf),
        lambda p, q: 1.5 if p * q > 0.2 else math.inf,
        float(exact_epsilon(1, 0.2, 1.5)),
    ),
    "staircase": (
        lambda p, q: np.select([p * q < 0.01, p * q < 0.1, p * q < 0.4], [10.0, 4.0, 2.0], 1.3),
        lambda p, q: 10.0 if p * q < 0.01 else 4.0 if p * q < 0.1 else 2.0 if p * q < 0.4 else 1.3,
        float(exact_epsilon(1, 0.4, 1.3)),
    ),
}


@pytest.mark.parametrize("name", JUMPS)
def test_jumps_count_with_their_lower_side(name: str) -> None:
    arrays, numbers, infimum = JUMPS[name]
    for function in (arrays, numbers):
        profile = CUSTOM(function)
        assert profile.status == "proven"
        assert profile.epsilon() <= infimum
        assert profile.epsilon() == pytest.approx(infimum, abs=1e-6)


def test_what_only_an_enclosure_can_see() -> None:
    """A dip between all sampled points: found where the formula is followed, and no ε is returned where it is not."""

    def dip(p: Any, q: Any) -> Any:
        return 3 - 1.9 * np.exp(-4000 * ((p - 0.313) ** 2 + (q - 0.417) ** 2))

    proven = CUSTOM(dip)
    assert proven.epsilon() == pytest.approx(float(exact_epsilon(0.313, 0.417, 1.1)), abs=1e-5)
    assert proven.status == "proven"
    with pytest.raises(NotCertifiedError):
        CUSTOM(arrays_only(dip)).epsilon()
    at = CUSTOM(lambda p, q: 1.05 if p == 0.123 else 3.0)  # a single line of points
    assert at.epsilon() <= float(exact_epsilon(0.123, 0, 1.05)) < 0.1


def test_a_stated_slope_proves_what_cannot_be_followed() -> None:
    def opaque_bowl(p: Any, q: Any) -> float:
        return 2 + 0.5 * abs(math.sin(3 * p)) + 0.5 * q

    profile = CUSTOM(opaque_bowl, lipschitz=(0.75, 0.25))
    assert profile.status == "proven"
    assert profile.how == "branch and bound with the stated slope of ln r*"
    slow = lowest_in_box(np.vectorize(opaque_bowl), (0, 1), (0, 1), count=61)
    assert profile.epsilon() <= slow
    assert profile.epsilon() == pytest.approx(slow, abs=1e-6)
    narrow = CUSTOM(lambda p, q: 2 + math.sin(9 * q) / 2, p=1, lipschitz=(0, 3))
    slow = lowest_in_box(lambda p, q: 2 + np.sin(9 * q) / 2, (1, 1), (0, 1))
    assert narrow.epsilon() <= slow
    assert narrow.epsilon() == pytest.approx(slow, abs=1e-6)


def test_a_stated_slope_sees_a_dip_between_all_sampled_points() -> None:
    def dip(p: Any, q: Any) -> float:
        return 3 - 1.9 * max(0.0, 1 - abs(float(q) - 4 / 9) / 0.012)

    truth = float(exact_epsilon(1, 4 / 9, 1.1))
    profile = CUSTOM(dip, p=1, lipschitz=(0, 150))
    assert profile.status == "proven"
    assert profile.epsilon() <= truth
    assert profile.epsilon() == pytest.approx(truth, abs=1e-6)


def test_a_stated_slope_stays_below_even_when_it_runs_out_of_cells() -> None:
    def smooth(p: Any, q: Any) -> float:
        return 1.2 + 9 * math.exp(-6 * p * q)

    proven = CUSTOM(lambda p, q: 1.2 + 9 * np.exp(-6 * p * q)).binding().epsilon
    profile = CUSTOM(smooth, p=(0.5, 1), q=(0.3, 1), lipschitz=6)
    assert profile.status == "proven"
    assert profile.epsilon() <= proven
    assert profile.gap < 1e-4


def test_a_stated_slope_that_points_contradict_is_refused() -> None:
    for function in (lambda p, q: 2 + 9 * math.sin(p), lambda p, q: 2.0 if float(p) < 0.5 else math.inf):
        with pytest.raises(ParameterError) as caught:
            CUSTOM(function, lipschitz=0.1).epsilon()
        assert caught.value.field == "lipschitz"


def test_random_rectangles_and_coefficients() -> None:
    random = np.random.default_rng(6)
    for _ in range(60):
        a, b, c, d = random.uniform([1.05, 0, 0, -1], [3, 8, 6, 2])
        p, q = (tuple(np.sort(random.random(2)).tolist()) for _ in range(2))

        def function(p: Any, q: Any, a: float = a, b: float = b, c: float = c, d: float = d) -> Any:
            return a + b * np.exp(-c * p * q) + np.maximum(d * (p - q), 0)

        profile = CUSTOM(function, p=p, q=q)
        slow = lowest_in_box(function, p, q, count=61, zooms=6)
        assert profile.epsilon() <= slow + 1e-12
        if math.isinf(slow):
            assert profile.epsilon() == math.inf
        else:
            assert profile.status == "proven"
            assert profile.epsilon() == pytest.approx(slow, abs=2e-6)


@pytest.mark.parametrize(
    ("function", "region"),
    [
        (lambda p, q: math.inf, {}),
        (lambda p, q: 30.0, {"p": (0.5, 1), "q": (0.5, 1)}),
        (lambda p, q: 2 / (p * q), {"p": (0.1, 1), "q": (0.2, 0.9)}),
    ],
)
def test_functions_that_never_bind(function, region) -> None:
    profile = CUSTOM(function, **region)
    assert profile.epsilon() == math.inf
    assert profile.binding() is None
    assert profile.status == "proven"


@pytest.mark.parametrize("function", [lambda p, q: 1 / (p * q), lambda p, q: 2 / (p * q)])
def test_where_rounding_decides_whether_anything_binds_nothing_is_said(function) -> None:
    with pytest.raises(NotCertifiedError):
        CUSTOM(function).epsilon()


def test_zero_where_the_posterior_may_not_exceed_the_prior() -> None:
    for function in (lambda p, q: 1.0, lambda p, q: 1 + (p - 0.5) ** 2, lambda p, q: max(1, 0.3 / (p * q))):
        assert CUSTOM(function).epsilon() == 0
        assert CUSTOM(function).status == "proven"


def test_a_profile_that_asks_for_one_epsilon_everywhere_stays_below_it() -> None:
    profile = CUSTOM(lambda p, q: 1 / (p * q + p * (1 - q) * X * X + (1 - p) * X), p=(0.1, 0.6), q=(0.1, 0.6))
    assert profile.epsilon() <= 1
    assert profile.epsilon() == pytest.approx(1, abs=1e-4)
    assert profile.gap < 1e-4
    with pytest.raises(NotCertifiedError):
        CUSTOM(lambda p, q: relative_risk(p, q, 1.0), p=(0.1, 0.6), q=(0.1, 0.6)).epsilon()


@pytest.mark.parametrize(
    "function",
    [
        # enclosures cannot see that p - p is 0 or that q < q is false, however small the cells
        lambda p, q: 1.5 + abs((p - p) / (0.001 + (p * q) ** 4) - 0.1),
        lambda p, q: 1.05 + abs(np.where(q < q, q, q + 1) * (0.5 + p * q) - np.sqrt(0.5 + (q + 1) ** 2)),
        lambda p, q: 1.05 + np.where(p < p, -1.0, 1.0),
    ],
)
def test_formulas_that_enclosures_cannot_resolve_end_in_time_and_below(function) -> None:
    slow = lowest_in_box(lambda p, q: np.broadcast_to(function(p, q), p.shape), (0, 1), (0, 1), count=61)
    with contextlib.suppress(NotCertifiedError):
        assert 0 <= CUSTOM(function).epsilon() <= slow


def test_binding_is_a_point_of_the_function() -> None:
    profile = CUSTOM(SMOOTH["exponential"])
    binding = profile.binding()
    assert binding.ratio == pytest.approx(float(SMOOTH["exponential"](binding.p, binding.q)))
    assert float(allowed_epsilon(binding.p, binding.q, binding.ratio)) == pytest.approx(binding.epsilon, rel=1e-9)
    assert 0 <= binding.epsilon - profile.epsilon() < 1e-6
    limit = CUSTOM(lambda p, q: 3).binding()
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
        (lambda p, q: 3 - 2.2 * np.exp(-4000 * ((p - 0.313) ** 2 + (q - 0.417) ** 2)), InfeasibleError),
        (lambda p, q: 0.9 if p == 0.5 else 3.0, InfeasibleError),
    ],
)
def test_functions_that_contradict_themselves(function, error: type[GuessproofError]) -> None:
    with pytest.raises(error, match="function"):
        CUSTOM(function).epsilon()


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
    ],
)
def test_arguments_that_cannot_be_meant(make) -> None:
    with pytest.raises(ParameterError):
        make()


def test_a_function_that_behaves_differently_when_followed_is_not_trusted() -> None:
    def sly(p: Any, q: Any) -> float:
        return 3.0 if isinstance(p, (float, np.ndarray)) else 30.0

    with pytest.raises(NotCertifiedError):
        CUSTOM(sly).epsilon()
