"""Metrics add: what several releases reveal together."""

from __future__ import annotations

import pytest

import guessproof as gp
from guessproof import errors


def test_releases_add_up_to_one_with_the_sum_of_their_epsilons() -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 0.5), at={"x": 0.2})
    guarantees = [0.3 * gp.Absolute(), 0.2 * gp.Absolute(), 0.1 * gp.Absolute()]
    found = gp.cumulative_advantage(attack, guarantees, both=True)
    for bracket, epsilon in zip(found, (0.3, 0.5, 0.6), strict=True):
        assert bracket.bound == pytest.approx(attack.advantage(epsilon=epsilon, both=True).bound, rel=1e-9)


def test_a_count_and_a_sum_together_dominate_each_alone() -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 0.5), at={"x": 0.2})
    count, total = 0.8 * gp.Threshold(0.4), 0.5 * gp.Clamped(-2, 2)
    alone = [gp.cumulative_advantage(attack, [g])[0].bound for g in (count, total)]
    together = gp.cumulative_advantage(attack, [count, total])[-1]
    assert 0 <= together.bound - together.attack < 1e-4 * together.bound
    assert max(alone) < together.bound < sum(alone) * 1.5


@pytest.mark.parametrize("wrong", [[], [0.3], "metrics"])
def test_what_is_no_list_of_metrics_is_refused(wrong: object) -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 0.5), at={"x": 0.2})
    with pytest.raises(errors.ParameterError, match="guarantees"):
        gp.cumulative_advantage(attack, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "goal",
    [
        lambda x: ~gp.within(x, 0.5),
        lambda x: ~gp.inside(x, (-0.2, 0.9)),
        lambda x: gp.within(x, 0.5) & ~gp.inside(x, (0.3, 0.4)),
        lambda x: gp.inside(x, (-2, -1)) | gp.inside(x, (0.5, 0.9)),
    ],
)
def test_any_goal_about_one_attribute(goal) -> None:  # type: ignore[no-untyped-def]
    attack = gp.Attack(goal(gp.Attribute("x", prior=gp.normal(0, 1))), at={"x": 0.2})
    found = gp.cumulative_advantage(attack, [0.3 * gp.Absolute(), 0.2 * gp.Absolute()])
    for bracket, epsilon in zip(found, (0.3, 0.5), strict=True):
        assert bracket.bound == pytest.approx(attack.advantage(epsilon).bound, rel=1e-9)


def test_a_scale_beside_guarantees_is_refused_as_beside_a_metric() -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1), scale=2.0), 0.5), at={"x": 0.2})
    with pytest.raises(errors.MetricError, match="scale"):
        gp.cumulative_advantage(attack, [0.3 * gp.Absolute()])
    plain = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 0.5), at={"x": 0.2})
    found = gp.cumulative_advantage(plain, [0.3 * gp.Absolute(scale=2.0)])[0]
    assert found.bound == pytest.approx(attack.advantage(0.3).bound, rel=1e-9)


def test_goals_about_several_attributes_are_refused() -> None:
    both = gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 1) & gp.within(
        gp.Attribute("y", prior=gp.normal(0, 1)), 1
    )
    with pytest.raises(errors.ParameterError, match="several"):
        gp.cumulative_advantage(gp.Attack(both, at={"x": 0, "y": 0}), [0.3 * gp.Absolute()])
