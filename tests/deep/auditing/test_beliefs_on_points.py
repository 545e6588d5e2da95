"""A belief on points is off by no more than it is said to be."""

from __future__ import annotations

import numpy as np
import pytest

from guessproof.auditing.largest_belief import unevenness


@pytest.mark.parametrize("slope", [0.5, 4.0, 30.0])
@pytest.mark.parametrize("width", [0.02, 0.5])
def test_cells_within_which_the_likelihood_is_uneven(slope: float, width: float) -> None:
    """An even prior on [−1, 1], a likelihood that falls from the middle and by a step: closed form beside points."""
    edges = np.unique([*np.linspace(-1, 1, 200), -width, width, 0.0])
    middle, weights = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    fits = np.abs(middle) < width
    likelihood = np.exp(-slope * np.abs(middle)) * np.where(middle > 0, 1.0, 0.01)
    told = likelihood * weights / (likelihood @ weights)
    exact = np.expm1(-slope * width) / np.expm1(-slope)
    error = abs(float(told @ fits) - exact)
    assert 0 < error <= unevenness(told, weights) + 1e-12
    assert unevenness(told, weights) < (slope * 0.01) ** 2 / 6
