"""Right guesses are marked on a prior wherever they lie, also where they have no end."""

from __future__ import annotations

import math

import pytest

import guessproof as gp
from guessproof.charts.numbers import density_rows
from guessproof.world.goals import Goal

X = gp.Attribute("x", prior=gp.normal(0, 1))
INSIDE = gp.inside(X, (-0.5, 1))


@pytest.mark.parametrize(
    ("goal", "right"),
    [
        (gp.inside(X, (1, math.inf)), lambda x: x >= 1),
        (gp.inside(X, (-math.inf, -0.5)), lambda x: x <= -0.5),
        (~INSIDE, lambda x: not -0.5 < x < 1),
        (INSIDE, lambda x: -0.5 <= x <= 1),
        (gp.within(X, 0.5), lambda x: abs(x) <= 0.5),
    ],
)
def test_right_guesses_are_marked(goal: Goal, right: object) -> None:
    rows = density_rows(X, goal, 0.0)
    assert callable(right)
    assert {row["inside"] for row in rows} == {True, False}
    assert all(row["inside"] == right(row["x"]) and math.isfinite(row["x"]) for row in rows)
