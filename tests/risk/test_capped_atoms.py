"""Numbers under a capped distance: the shapes that are looked for, against linear programs over all likelihoods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.capped_atoms import capped_gain, told_apart
from guessproof.risk.finite import FiniteWorld
from guessproof.risk.single import belief_of
from guessproof.risk.truths import true_values_of
from guessproof.world.finite import Finite
from guessproof.world.minimum import Capped


def drawn(rng: np.random.Generator) -> tuple[gp.Attribute, Any]:
    """A few numbers, some close and some far apart, a cap among their distances, and a run of them."""
    values = np.unique(np.round(rng.normal(0, 3, int(rng.integers(4, 12))), int(rng.integers(0, 3))))
    weights = rng.uniform(0.05, 1, values.size)
    bare = (gp.Absolute(1.0), gp.Absolute(1.0) + 0.3 * gp.Discrete(), gp.Clamped(-2, 3, 1.0))[int(rng.integers(3))]
    metric = Capped(bare, float(rng.choice([0.5, 1.0, 2.0, 5.0, 1e9])))  # one is never met
    prior = gp.categorical(dict(zip(values.tolist(), (weights / weights.sum()).tolist(), strict=True)))
    return gp.Attribute("x", prior=prior, metric=metric), values


@pytest.mark.parametrize("seed", range(3))
def test_no_likelihood_beats_a_mountain_or_a_basin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    seen = 0
    while seen < 80:
        x, values = drawn(rng)
        first, last = (int(i) for i in np.sort(rng.integers(0, values.size, 2)))
        if last - first == values.size - 1:
            continue
        seen += 1
        prior, form = x.prior, x.distance.line_form
        assert isinstance(prior, Finite)
        assert form is not None
        goal = np.zeros(values.size)
        goal[first : last + 1] = 1
        world = FiniteWorld(prior.mass, x.distance.distance(values[:, None], values[None, :])).belief(goal)
        assert told_apart(prior, form) == (np.unique(form.psi(values)).size == values.size)
        if not told_apart(prior, form):  # some programs are left
            continue
        gain, _ = capped_gain(prior, form, np.array(values[first]), np.array(values[last]))
        k = np.asarray(float(rng.choice([1e-7, 0.01, 0.3, 1.0, 3.0, 20.0])) * float(rng.choice([1, -1])))
        (attack, bound), (reached, proven) = gain(k), world.gain(k)
        close = 1e-7 * abs(float(proven)) + 1e-13
        assert abs(float(attack - reached)) <= close, (values, first, last, k)
        assert abs(float(bound - proven)) <= close, (values, first, last, k)


def test_the_worst_true_value_is_that_of_all_tried_one_by_one() -> None:
    numbers = np.random.default_rng(5).normal(0, 3, 25)
    x = gp.Attribute("x", prior=gp.empirical(numbers), metric=Capped(gp.Absolute(1.0), 2.0))
    attack = gp.Attack(gp.within(x, 1.0))
    found = attack.epsilon(advantage=0.1)
    assert attack.advantage(found).bound <= 0.1
    assert attack.advantage(found * (1 + 1e-6)).attack > 0.1
    each = []
    for value in true_values_of(x, attack.goal):
        belief = belief_of(x, attack.goal, value)
        if np.isfinite(belief.log_p) and np.isfinite(belief.log_q):
            each.append(float(gp.Attack(attack.goal, at={"x": value}).advantage(0.3).bound))
    assert float(attack.advantage(0.3).bound) == pytest.approx(max(each), rel=1e-12)


def test_hundreds_of_numbers_are_answered_like_a_few_of_them() -> None:
    """Copies of one number count as one: 600 numbers of which 12 differ are 12 numbers."""
    rng = np.random.default_rng(6)
    few = np.round(rng.normal(0, 3, 12), 3)
    counts = rng.integers(20, 80, 12)
    metric = Capped(gp.Absolute(1.0), 2.5)
    many = gp.Attribute("x", prior=gp.empirical(np.repeat(few, counts)), metric=metric)
    one = gp.Attack(gp.within(many, 1.0), at={"x": float(few[0])}).epsilon(advantage=0.1)
    table: dict[Any, float] = {float(v): float(c) / float(counts.sum()) for v, c in zip(few, counts, strict=True)}
    same = gp.Attribute("x", prior=gp.categorical(table), metric=metric)
    assert one == pytest.approx(gp.Attack(gp.within(same, 1.0), at={"x": float(few[0])}).epsilon(advantage=0.1))
