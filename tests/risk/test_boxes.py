"""What no true value in a box exceeds, by the first-order bound alone, and at any ε: against true values inside."""

from __future__ import annotations

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk import truth_ends, truth_search
from guessproof.risk.truth_ends import Ends
from guessproof.risk.truth_search import TruthSearch

PRIORS = {
    "normal": gp.normal(1, 2),
    "exponential": gp.exponential(2),
    "uniform": gp.uniform(-3, 5),
    "histogram": gp.histogram([-3, -1, 0, 2, 6], [0.1, 0.4, 0.3, 0.2]),
}
METRICS = {
    "slope": gp.Absolute(0.7),
    "thresholds": gp.Threshold(0.8, 1.9),
    "threshold and clamp": 2 * gp.Threshold(0.8) + gp.Clamped(-1, 2),
    "step": gp.Absolute() + 0.2 * gp.Discrete(),
}
AIMS: tuple[truth_search.Direction, ...] = ("rise", "fall", "posterior")


def ranging(prior: str, metric: str, radius: float) -> TruthSearch:
    attribute = gp.Attribute("x", prior=PRIORS[prior], metric=METRICS[metric])
    form = attribute.distance.line_form
    assert form is not None
    return TruthSearch(
        PRIORS[prior], form, lambda t: gp.within(attribute, radius).edges(t)[0], *attribute.range, fixed_radius=True
    )


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("prior", PRIORS)
def test_the_outer_goal_bounds_beliefs_after_and_the_inner_goal_beliefs_before(
    prior: str, metric: str, aim: truth_search.Direction
) -> None:
    rng = np.random.default_rng(11)
    for radius in (0.4, 1.7):
        goal = ranging(prior, metric, radius)
        low, high = max(goal.low, -4.0), min(goal.high, 7.0)
        for epsilon in (0.05, 1.2, 60.0):
            left = rng.uniform(low, high, 16)
            width = (high - left) * 10 ** rng.uniform(-3, 0, 16)
            inside = np.stack([left + width * f for f in np.linspace(0, 1, 9)])
            found = Ends.at(goal, inside.ravel(), epsilon, aim).value.reshape(inside.shape)
            assert np.all(found <= goal.box(left, left + width, epsilon, aim) + 1e-9)


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("metric", ["thresholds", "threshold and clamp"])
def test_slopes_of_boxes_hold_where_the_peak_of_the_tent_lies_on_a_jump(
    prior: str, metric: str, aim: truth_search.Direction
) -> None:
    rng = np.random.default_rng(12)
    goal = ranging(prior, metric, 0.6)
    low, high = max(goal.low, -4.0), min(goal.high, 7.0)
    for epsilon in (3.0, 12.0, 60.0):
        left = rng.uniform(low, high, 30)
        width = (high - left) * 10 ** rng.uniform(-3, -0.5, 30)
        ends = [Ends.at(goal, t, epsilon, aim) for t in (left, left + width)]
        slopes = truth_ends.slope_range(goal, ends[0], ends[1], epsilon, aim)
        bound = truth_ends.box_bound(goal, ends[0], ends[1], *slopes, epsilon, aim)
        inside = np.stack([left + width * f for f in np.linspace(0, 1, 9)])
        found = Ends.at(goal, inside.ravel(), epsilon, aim).value.reshape(inside.shape)
        settled = (slopes[0] >= 0) | (slopes[1] <= 0)
        one_end = np.maximum(ends[0].bound, ends[1].bound)
        assert np.all(found <= np.where(settled, one_end, bound) + 1e-9)
