"""The slow reference of clamped distances, where the clamp never binds."""

import pytest
from reference import clipped, tent

SIDES = ("upper", "lower")


@pytest.mark.parametrize("side", SIDES)
def test_a_cap_that_never_binds_changes_nothing(side: str) -> None:
    prior = tent.Uniform(-2, 5)
    exact = float(tent.posterior(prior, 1, 3.3, 0.7, side))
    assert float(clipped.posterior(prior, 1, 3.3, 0.7, 7, side)) == pytest.approx(exact, rel=1e-13, abs=0)
