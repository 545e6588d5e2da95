"""Profiles aware of a query's own distances: the generic world is one of them, and a grid never finds less."""

from __future__ import annotations

import math

import numpy as np
import pytest

from guessproof.risk import RiskProfile, aware_epsilon

PROFILES = [
    RiskProfile.constant(3),
    RiskProfile.box(3, p=(0, 0.2), q=(0.1, 1)),
    RiskProfile.box(2, p=(0.4, 0.9), q=(0.05, 0.3)),
    RiskProfile.fixed_inclusion(p=0.05, absolute=0.1, relative=3),
    RiskProfile.fixed_inclusion(p=0.4, absolute=0.3, relative=1.5),
    RiskProfile.fixed_value(q=1, absolute=0.25, relative=3),
    RiskProfile.fixed_value(q=0.2, absolute=0.3, relative=2),
    RiskProfile.constant(6) & RiskProfile.fixed_value(q=0.5, absolute=0.7, relative=1.2),
]


@pytest.mark.parametrize("profile", PROFILES, ids=repr)
def test_the_generic_world_is_a_special_case(profile: RiskProfile) -> None:
    assert aware_epsilon(profile, 2.0, 1.0) == pytest.approx(profile.epsilon(), rel=1e-7)


@pytest.mark.parametrize("profile", PROFILES, ids=repr)
@pytest.mark.parametrize(("change", "presence"), [(1.0, 1.0), (0.0, 1.0), (1.0, 0.5), (1.5, 1.0)])
def test_no_prior_is_exposed_more_and_some_prior_as_much(profile: RiskProfile, change: float, presence: float) -> None:
    epsilon = aware_epsilon(profile, change, presence)
    assert epsilon is not None
    axes = [np.linspace(0, 1, 401), *[np.asarray(v) for v in ((0.05, 0.2, 0.4), (0.1, 0.5, 0.9))]]
    p, q = np.meshgrid(np.unique(np.concatenate(axes)), np.unique(np.concatenate(axes)))
    allowed = np.asarray(profile.allowed(p, q))

    def excess(e: float) -> float:
        risk = 1 / (p * q + p * (1 - q) * math.exp(-change * e) + (1 - p) * math.exp(-presence * e))
        return float(np.max((risk / allowed)[np.isfinite(allowed) & (p * q > 0)]))

    if math.isinf(epsilon):
        assert excess(50.0) <= 1 + 1e-9
    else:
        assert excess(epsilon) <= 1 + 1e-9
        assert excess(epsilon * 1.1) > 1


def test_profiles_given_as_points_are_left_to_the_generic_world() -> None:
    assert aware_epsilon(RiskProfile.points([(0.001, 10), (0.4, 1.2)]), 1.0, 1.0) is None
