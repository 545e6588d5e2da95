"""Boxes of true values: what is proven for a box holds for everything in it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.several.belief_boxes import BeliefBoxes, join_boxes
from guessproof.risk.several.formula import GoalBlock, Tree, blocks, negated, normal

PARTS = [gp.within(gp.Attribute(n, gp.normal(0, 1)), 1) for n in "xyz"]
GOALS = [
    PARTS[0] & PARTS[1],
    PARTS[0] | PARTS[1],
    (PARTS[0] & PARTS[1]) | PARTS[2],
    (PARTS[0] | ~PARTS[1]) & PARTS[2],
    ~(PARTS[0] & PARTS[1] & PARTS[2]),
]


def belief(tree: Tree, of: dict[GoalBlock, float]) -> float:
    """All outcomes of independent parts, one by one."""
    own = blocks(tree)
    total = 0.0
    for outcome in itertools.product((True, False), repeat=len(own)):
        chance = np.prod([of[b] if met else 1 - of[b] for b, met in zip(own, outcome, strict=True)])
        total += float(chance) * holds(tree, dict(zip(own, outcome, strict=True)))
    return total


def holds(tree: Tree, met: dict[GoalBlock, bool]) -> bool:
    if isinstance(tree, GoalBlock):
        return met[tree]
    return (all if tree.kind == "and" else any)(holds(part, met) for part in tree.parts)


@pytest.mark.parametrize("goal", GOALS, ids=repr)
@pytest.mark.parametrize("turned", [False, True])
def test_no_point_of_a_box_exceeds_it(goal: gp.Goal, turned: bool) -> None:
    rng = np.random.default_rng([3, GOALS.index(goal), turned])
    tree = negated(normal(goal)) if turned else normal(goal)
    own = blocks(tree)
    for _ in range(60):
        low = rng.uniform(0, 0.9, len(own))
        high = low + rng.random(len(own)) * (1 - low)
        most = high + rng.random(len(own)) * (1 - high)
        rise = rng.random(len(own)) * (most - low)
        boxes = {
            b: BeliefBoxes(*(np.array([v[i]]) for v in (low, high, rise, most))).along(i, len(own))
            for i, b in enumerate(own)
        }
        whole = join_boxes(tree, boxes)
        for _ in range(20):
            before = low + rng.random(len(own)) * (high - low)
            after = np.minimum(before + rng.choice([1.0, rng.random()]) * rise, most)
            start, end = (belief(tree, dict(zip(own, v.tolist(), strict=True))) for v in (before, after))
            assert float(whole.low.item()) - 1e-12 <= start <= float(whole.high.item()) + 1e-12
            assert end <= float(whole.most.item()) + 1e-12
            assert end - start <= float(whole.rise.item()) + 1e-12


@pytest.mark.parametrize("goal", GOALS, ids=repr)
def test_a_box_that_is_a_point_is_met_exactly(goal: gp.Goal) -> None:
    tree = normal(goal)
    own = blocks(tree)
    before = np.linspace(0.2, 0.6, len(own))
    after = before + 0.15
    boxes = {
        b: BeliefBoxes.becoming(*(np.array([v]) for v in (p, p, a))) for b, p, a in zip(own, before, after, strict=True)
    }
    whole = join_boxes(tree, boxes)
    start, end = (belief(tree, dict(zip(own, v.tolist(), strict=True))) for v in (before, after))
    assert whole.rise.item() == pytest.approx(end - start, rel=1e-12)
    assert whole.most.item() == pytest.approx(end, rel=1e-12)


def test_a_wide_box_is_not_judged_by_its_likeliest_end() -> None:
    """From 0.9 a belief rises by 0.1 at most, from 0.2 by all of 0.5."""
    tree = normal(PARTS[0] & PARTS[1])
    wide = BeliefBoxes.rising(np.array([0.1]), np.array([0.9]), np.array([0.5]))
    sure = BeliefBoxes.rising(np.array([0.99]), np.array([0.99]), np.array([0.0]))
    whole = join_boxes(tree, dict(zip(blocks(tree), (wide, sure), strict=True)))
    assert whole.rise.item() == pytest.approx(0.99 * 0.5)


def test_each_block_has_an_axis_of_its_own() -> None:
    tree = normal(PARTS[0] & PARTS[1])
    first, second = blocks(tree)
    p, q = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.6])
    boxes = {
        first: BeliefBoxes.rising(p, p, np.zeros(3)).along(0, 2),
        second: BeliefBoxes.rising(q, q, np.full(2, 0.1)).along(1, 2),
    }
    whole = join_boxes(tree, boxes)
    assert whole.high == pytest.approx(np.outer(p, q))
    assert whole.rise == pytest.approx(np.outer(p, [0.1, 0.1]))
