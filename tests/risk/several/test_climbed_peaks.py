"""An attack that goes uphill from a program's answer: it reaches what is said of it, and mostly more than before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import guessproof as gp
from guessproof.risk.several.cells import Certified, certified_cells, climbed_further
from guessproof.risk.several.heights import climbed_heights
from guessproof.risk.several.joint_attack import JointAttack

SD, AT = (2.0, 3.0), (1.5, 2.0)
X, Y = (gp.Attribute(name, gp.normal(0, sd)) for name, sd in zip("xy", SD, strict=True))


def worlds(norm: Any) -> JointAttack:
    return JointAttack({"x": X, "y": Y}, dict(zip("xy", AT, strict=True)), norm)


def reached(found: Certified, wanted: Any) -> float:
    """Log-odds of its likelihood, by the middles of many small squares."""
    x, y = (np.arange(-9 * sd, 9 * sd, 0.05) + 0.025 for sd in SD)  # the goals' ends lie between them
    near = [np.abs(axis - t) <= 1 for axis, t in zip((x, y), AT, strict=True)]
    mass = np.outer(*(stats.norm.pdf(axis, 0, sd) for axis, sd in zip((x, y), SD, strict=True)))
    assert found.peaks is not None
    logs = np.stack([found.peaks.log_likelihood([np.full(y.size, a), y]) for a in x])
    weight, right = mass * np.exp(logs - np.max(logs)), wanted(near[0][:, None], near[1][None, :])
    return float(np.log(np.sum(weight[right]) / np.sum(weight[~right])))


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("joined", ["missing an OR", "OR"])
def test_a_climbed_attack_reaches_what_is_said_of_it(norm: str, joined: str) -> None:
    either, world = gp.within(X, 1) | gp.within(Y, 1), worlds(norm)
    goal = either if joined == "OR" else ~either
    before = certified_cells(world, goal, 1.0, 500)
    after = climbed_further(before, world, goal)
    there = reached(after, (lambda a, b: a | b) if joined == "OR" else (lambda a, b: ~(a | b)))
    assert before.attack <= after.attack <= there + 1e-3 <= after.bound
    assert there - after.attack < 0.04


def test_climbing_closes_much_of_what_a_program_leaves_open() -> None:
    goal, world = ~(gp.within(X, 1) | gp.within(Y, 1)), worlds("linf")
    before = certified_cells(world, goal, 1.0, 3000)
    after = climbed_further(before, world, goal)
    assert after.bound == before.bound
    assert after.attack > before.attack + 4e-3
    assert after.bound - after.attack < 0.028


def test_heights_climb_to_the_best_of_two_peaks() -> None:
    """Two tiles of the goal and one beside it: the peak that the wrong tile is near to has to go down."""
    ways = np.array([[0.0, 2.0], [2.0, 0.0], [2.0, 0.5]])
    right, wrong = np.array([1.0, 0.2, 0.0]), np.array([0.0, 0.0, 1.0])

    def odds(height: np.ndarray) -> float:
        level = np.exp(np.max(height - ways, axis=1))
        return float(np.log(right @ level) - np.log(wrong @ level))

    start = np.zeros(2)
    better = climbed_heights(start, ways, (right, wrong), +1)
    assert better[1] - better[0] < -0.1
    assert odds(better) > odds(start) + 0.05
    assert np.max(np.abs(better - start)) <= 0.2
