"""Several attributes without a true value, some of them samples: nobody between the sample's values is worse off."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.errors import GoalError, InfeasibleError

SAMPLE = [10, 11.5, 40, 41.5, 70, 71.5, 100, 101.5]
OTHERS: dict[str, Any] = {
    "label": (gp.categorical({"a": 0.3, "b": 0.7}), ["a", "b"]),
    "sample": (gp.empirical([0, 2, 9]), [0.0, 1.0, 2.5, 8.2]),
    "normal": (gp.normal(0, 1), [-1.0, 0.0, 0.7]),
    "table": (gp.categorical({1: 0.5, 2: 0.3, 4: 0.2}), [1, 2, 4]),
}


def _worst(goal: Any, epsilon: float, places: dict[str, list[Any]]) -> tuple[float, float]:
    """The largest attack on the advantage and the posterior over many true values, asked one by one."""
    rise = after = 0.0
    for values in itertools.product(*places.values()):
        attack = gp.Attack(goal, at=dict(zip(places, values, strict=True)))
        try:
            rise = max(rise, float(attack.advantage(epsilon=epsilon).attack))
            after = max(after, float(attack.posterior(epsilon=epsilon).attack))
        except GoalError as error:
            after = max(after, 1.0 if "P(goal) = 1" in str(error) else 0.0)
    return rise, after


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("kind", ["and", "or", "not"])
def test_true_values_between_those_of_a_sample_count(other: str, kind: str) -> None:
    x = gp.Attribute("x", prior=gp.empirical(SAMPLE), bounds=(5, 110))
    prior, places = OTHERS[other]
    y = gp.Attribute("y", prior=prior)
    part = gp.exactly(y) if other == "label" else gp.within(y, 1)
    near = gp.within(x, 1)
    goal = {"and": near & part, "or": near | part, "not": ~near & part}[kind]
    truths = {"x": [9.1, 10.75, 12.2, 40.75, 102.0], "y": places}
    attack = gp.Attack(goal)
    for epsilon in (0.02, 0.3):
        rise, after = _worst(goal, epsilon, truths)
        found, most = attack.advantage(epsilon=epsilon), attack.posterior(epsilon=epsilon)
        assert found.bound >= rise - 1e-7
        assert most.bound >= after - 1e-7
        if found.status == "exact":
            there = gp.Attack(goal, at=found.worst_at).advantage(epsilon=epsilon)
            assert float(there.bound) == pytest.approx(float(found.bound), rel=1e-6)


def test_combinations_that_a_sample_does_not_hold_are_possible() -> None:
    """Two columns that always went together in a public sample need not do so for everybody."""
    a, b = gp.joint_sample(("a", "b"), [(0, 0), (1, 1), (8, 8)]).attributes()
    goal = gp.within(a, 0.6) | gp.within(b, 0.6)
    found = gp.Attack(goal).advantage(epsilon=0.3)
    rise, _ = _worst(goal, 0.3, {"a": [0.0, 0.5, 8.0], "b": [0.0, 0.5, 8.0]})
    assert found.bound >= rise - 1e-9
    listed = gp.joint_table(("a", "b"), {(0, 0): 0.4, (1, 1): 0.3, (8, 8): 0.3}).attributes()
    only = gp.Attack(gp.exactly(listed[0]) | gp.exactly(listed[1])).advantage(epsilon=0.3)
    assert only.worst_at["a"] == only.worst_at["b"]


def test_limits_on_the_belief_see_certain_true_values() -> None:
    x = gp.Attribute("x", prior=gp.empirical([0, 1, 2]))
    y = gp.Attribute("y", prior=gp.normal(0, 1))
    with pytest.raises(InfeasibleError):
        gp.Attack(gp.within(x, 1) | gp.within(y, 1)).epsilon(posterior=0.9)
    assert float(gp.Attack(gp.within(x, 1) | gp.within(y, 1)).posterior(epsilon=0.1).bound) == pytest.approx(1.0)
    assert np.isinf(gp.Attack(gp.within(x, 1) | gp.within(y, 1)).epsilon(posterior=1.0))
