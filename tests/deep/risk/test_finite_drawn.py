"""Small finite worlds of every kind, ε·diameter from 10⁻³ to 10⁴: against all likelihoods that can be the worst one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.random import Generator
from reference import extreme_rays, linear_program

import guessproof as gp
from guessproof.risk.finite import worlds


@dataclass(frozen=True)
class World:
    mass: Any
    distance: Any
    goal: Any

    @property
    def made(self) -> gp.FiniteWorld:
        return gp.FiniteWorld(self.mass, self.distance)

    def truth(self, epsilon: float, side: str) -> mpf:
        return extreme_rays.posterior(self.mass, shortest(self.distance), self.goal, epsilon, side)

    def before(self) -> mpf:
        return mp.fsum(mpf(float(m)) * mpf(float(g)) for m, g in zip(self.made.prior, self.goal, strict=True))


def shortest(distance: Any) -> Any:
    """The distances with all detours taken, by trying again until none helps."""
    table = np.array(distance, float)
    while True:
        through = np.min(table[:, :, None] + table[None, :, :], axis=1)
        if np.all(through >= table):
            return table
        table = np.minimum(table, through)


def drawn(rng: Generator, points: int) -> World:
    """Points on a line, on a plane, in classes, or with distances that a shorter way may undercut."""
    match int(rng.integers(4)):
        case 0:
            x = np.sort(rng.normal(size=points))
            distance = np.abs(x[:, None] - x[None])
        case 1:
            x = rng.normal(size=(points, 2))
            distance = np.abs(x[:, None] - x[None]).max(axis=-1)
        case 2:
            label = rng.integers(0, 3, points)
            distance = np.abs(label[:, None] - label[None]).astype(float)
        case _:
            distance = rng.uniform(0.05, 1, (points, points))
            distance *= rng.random((points, points)) < 0.8  # some are not told apart
            distance = np.triu(distance, 1) + np.triu(distance, 1).T
    mass = rng.dirichlet(np.full(points, 10 ** rng.uniform(-1, 1))) + 1e-9
    goal = np.zeros(points)
    goal[rng.permutation(points)[: int(rng.integers(1, points))]] = 1
    if rng.random() < 0.3:
        goal = rng.uniform(0, 1, points)
    distance = distance / max(float(distance.max()), 1e-300) if distance.max() > 0 else 1 - np.eye(points)
    return World(mass / mass.sum(), distance, goal)


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("points", [2, 3, 4])
def test_no_world_is_too_wide_and_none_too_narrow(points: int, side: str) -> None:
    rng = np.random.default_rng([7, points])
    for _ in range(120 if points < 4 else 60):
        world, epsilon = drawn(rng, points), float(10 ** rng.uniform(-3, 4))
        bracket = world.made.posterior(world.goal, epsilon, side)
        truth = world.truth(epsilon, side)
        sign = 1 if side == "upper" else -1
        moved, before = sign * float(truth - world.before()), float(world.before())
        attack, bound = (sign * (v - before) for v in (bracket.attack, bracket.bound))
        assert attack <= moved * (1 + 1e-9) + 1e-14, (world, epsilon, bracket, truth)
        assert moved * (1 - 1e-9) - 1e-14 <= bound, (world, epsilon, bracket, truth)
        assert bound - attack <= 1e-8 * moved + 1e-11, (world, epsilon, bracket, truth)


@pytest.mark.parametrize("points", [5, 9, 30, 60])
def test_larger_worlds_agree_with_the_plain_program(points: int) -> None:
    """As far as a solver can see: up to an ε·diameter of about ten."""
    rng = np.random.default_rng([8, points])
    for _ in range(12):
        world, epsilon = drawn(rng, points), float(10 ** rng.uniform(-1, 1))
        truth = linear_program.posterior(world.mass, world.distance, world.goal, epsilon)
        bracket = world.made.posterior(world.goal, epsilon)
        assert bracket.attack <= truth + 1e-7
        assert truth - 1e-7 <= bracket.bound
        assert bracket.bound - bracket.attack <= 1e-8


@pytest.mark.parametrize("points", [5, 9, 30, 60])
def test_wide_worlds_are_answered_exactly_by_a_private_likelihood(points: int) -> None:
    """Beyond any solver: bound and attack are each checked by themselves, and they meet."""
    rng = np.random.default_rng([9, points])
    for _ in range(12):
        world, epsilon = drawn(rng, points), float(10 ** rng.uniform(1, 5))
        table = shortest(world.distance) * epsilon
        attack, bound, log_l = worlds.solve(world.mass, world.goal, epsilon * world.distance)
        assert np.all(log_l[:, None] - log_l[None] <= table * (1 + 1e-12) + 1e-12)
        log_mass = np.log(world.mass) + log_l
        with np.errstate(divide="ignore"):
            inside, outside = (np.logaddexp.reduce(log_mass + np.log(s)) for s in (world.goal, 1 - world.goal))
            base = np.log(world.mass @ world.goal) - np.log(world.mass @ (1 - world.goal))
        assert attack == pytest.approx(inside - outside - base, rel=1e-9, abs=1e-9)
        assert bound - attack <= 1e-9 * (1 + bound)


def test_four_points_thirty_apart() -> None:
    """Found by comparing with 60 digits: a linear program in floating point bounds this belief by 1."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        world, epsilon = drawn(rng, 4), float(rng.uniform(20, 30))
        wanted = float((1 + world.before()) / 2)
        if not world.truth(1e4, "upper") > wanted + 1e-6:
            continue
        chosen = world.made.epsilon(world.goal, posterior=wanted)
        assert float(world.truth(chosen, "upper")) == pytest.approx(wanted, rel=1e-7)
        assert world.made.posterior(world.goal, epsilon).status == "exact"


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_two_classes_keep_their_digits_at_any_distance(side: str) -> None:
    """Points that no release tells apart but for one cut: a formula, from ε·d = 10⁻¹² to 10⁴, against 60 digits."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        label = np.array([0, 1, *rng.integers(0, 2, 2)])
        mass = rng.dirichlet(np.ones(4))
        goal = np.array([*rng.permutation([1.0, 0.0]), *rng.integers(0, 2, 2)])
        epsilon = float(10 ** rng.uniform(-12, 4))
        classes = worlds.GoalClasses.of(mass, np.abs(label[:, None] - label[None]).astype(float), goal)
        attack, bound = classes.gain(epsilon if side == "upper" else -epsilon)
        with mp.workdps(60):
            parts = [[mp.fsum(mpf(float(m)) for m, g, c in zip(mass, goal, label, strict=True) if (g, c) == (x, y))
                      for y in (0, 1)] for x in (1, 0)]  # fmt: skip
            (a0, a1), (b0, b1) = parts
            gains = [mp.log((a0 + r * a1) / (b0 + r * b1) * (b0 + b1) / (a0 + a1)) if b0 + r * b1 > 0 else mp.inf
                     for r in (mp.exp(epsilon), mp.exp(-epsilon))]  # fmt: skip
            truth = float(max(gains) if side == "upper" else min(gains))
        assert len(classes.distance) == 2
        assert min(attack, bound) - 1e-300 <= truth <= max(attack, bound) + 1e-300
        assert abs(bound - attack) <= 1e-14 * epsilon + 1e-15 * abs(truth)
