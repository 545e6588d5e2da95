"""Whatever comes in, an answer or an exception of guessproof comes out."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from guessproof import lee_clifton, wood
from guessproof.errors import GuessproofError
from guessproof.risk import RiskProfile, absolute_risk, epsilon_for_relative_risk, relative_risk

STRANGE = st.one_of(
    st.floats(),
    st.floats(0, 1),
    st.floats(1, 100),
    st.integers(-3, 10**400),
    st.sampled_from([None, True, "0.5", b"", (), [], {}, 1j, np.nan, np.inf, -np.inf, 5e-324, 1 - 2**-53, object()]),
    st.lists(st.floats(0, 1), max_size=3),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
SENSIBLE = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 5e-324, 1e-300, 1 - 2**-53]))
RATIO = st.one_of(st.floats(1, 1e6), st.sampled_from([1.0, 1 + 2**-52, 1e300, math.inf]))


@settings(max_examples=cases(100))
@given(a=STRANGE, b=STRANGE, c=STRANGE)
def test_functions(a: Any, b: Any, c: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: relative_risk(a, b, c),
        lambda: absolute_risk(a, b, c),
        lambda: epsilon_for_relative_risk(a, b, c),
        lambda: lee_clifton(a, posterior=b),
        lambda: lee_clifton(a, posterior=b, statistic=c),
        lambda: wood(absent=a, epsilon=b),
        lambda: wood(absent=a, present=b),
        lambda: RiskProfile.constant(a).epsilon(),
        lambda: RiskProfile.box(a, p=b, q=c).epsilon(),
        lambda: RiskProfile.fixed_value(a, b, c).epsilon(),
        lambda: RiskProfile.fixed_inclusion(a, b, c).epsilon(),
        lambda: RiskProfile.points(a).epsilon(),
        lambda: RiskProfile.points([(a, b), (c, a)]).epsilon(),
        lambda: RiskProfile.constant(3).releases(a),
        lambda: RiskProfile.constant(3).allowed(a, b),
        lambda: RiskProfile.constant(3).implied(a, b),
    ]
    for call in calls:
        with contextlib.suppress(GuessproofError):
            call()


@settings(max_examples=cases(100))
@given(
    p=SENSIBLE, q=SENSIBLE, ends=st.tuples(SENSIBLE, SENSIBLE), ratio=RATIO, pairs=st.lists(st.tuples(SENSIBLE, RATIO))
)
def test_profiles_answer_with_a_number_that_keeps_them(p, q, ends, ratio, pairs) -> None:
    made = []
    for make in (
        lambda: RiskProfile.constant(ratio),
        lambda: RiskProfile.box(ratio, p=tuple(sorted((p, ends[0]))), q=tuple(sorted((q, ends[1])))),
        lambda: RiskProfile.fixed_value(p, q, ratio),
        lambda: RiskProfile.fixed_inclusion(p, q, ratio),
        lambda: RiskProfile.fixed_value(p, q),
        lambda: RiskProfile.points(pairs),
        lambda: RiskProfile.points(pairs, p=tuple(sorted(ends)), q=tuple(sorted((p, q)))),
    ):
        with contextlib.suppress(GuessproofError):
            made.append(make())
    for profile in made:
        epsilon = profile.epsilon()
        assert epsilon >= 0
        json.dumps(profile.to_dict(), allow_nan=False)
        if math.isfinite(epsilon):
            binding = profile.binding()
            assert 0 <= binding.p <= 1
            assert 0 <= binding.q <= 1
            # what is released at ε keeps the ratio where the profile binds
            assert relative_risk(binding.p, binding.q, epsilon) <= binding.ratio * (1 + 1e-12)


@settings(max_examples=cases(25))
@given(
    coefficients=st.lists(st.floats(-5, 5), min_size=4, max_size=4),
    kind=st.integers(0, 4),
    region=st.tuples(SENSIBLE, SENSIBLE, SENSIBLE, SENSIBLE),
    stated=st.sampled_from([{}, {"lipschitz": 9}, {"monotone": "falling"}, {"monotone": ("rising", "falling")}]),
)
def test_custom_functions(coefficients, kind, region, stated) -> None:
    a, b, c, d = coefficients
    functions: list[Callable[[Any, Any], Any]] = [
        lambda p, q: a + b * p + c * q + d * p * q,
        lambda p, q: np.exp(a * p) + b / (q + 1e-3) + c,
        lambda p, q: max(a / p, b / q, c) if p > d else a,
        lambda p, q: math.exp(a * p + b * q) + c,
        lambda p, q: (p - a / 5) ** -1 + np.sqrt(b * q) + np.log(p) * c,
    ]
    p, q = tuple(sorted(region[:2])), tuple(sorted(region[2:]))
    with contextlib.suppress(GuessproofError):
        profile = RiskProfile.custom(functions[kind], p=p, q=q, **stated)
        assert profile.epsilon() >= 0
        json.dumps(profile.to_dict(), allow_nan=False)
