"""The worst advantage when all that is known of the prior is P(|x − t| ≤ radius) = probability.

For a given mass p of the goal the posterior is a ratio of linear functions of the prior, so the worst prior
has one atom in the goal, one in the rest of the ball and one outside. Every place
on a line and every p is tried.
"""

from __future__ import annotations

from itertools import product
from math import inf, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class World(NamedTuple):
    """The true value, the goal's radius, the ball with its probability, and the range."""

    true_value: float
    goal: float
    radius: float
    probability: float
    low: float = -inf
    high: float = inf


def advantage(world: World, epsilon: float, side: str = "upper", places: int = 7) -> float:
    """The largest gain (or loss) of belief over all such priors, for a guarantee ε|x − x'|."""
    p = np.linspace(0, world.probability, 401)[1:]
    at_places = {atoms: gain(world, p, atoms, epsilon, side) for atoms in product(*_regions(world, places))}
    worst = max(at_places, key=lambda atoms: at_places[atoms].max())
    best = int(np.argmax(at_places[worst]))
    low, high = (p[best - 1] if best else 0.0), p[min(best + 1, len(p) - 1)]
    finer = np.linspace(low, high, 20_001)[1:]
    return float(gain(world, finer, worst, epsilon, side).max())


def gain(world: World, p: Floats, atoms: tuple[float, float, float], epsilon: float, side: str) -> Floats:
    """With masses p, probability − p and 1 − probability at three places and the steepest likelihood."""
    goal, rest, outside = atoms
    slope = -epsilon if side == "upper" else epsilon
    with np.errstate(over="ignore"):
        others = (world.probability - p) * np.exp(slope * abs(goal - rest))
        if world.probability < 1:
            others += (1 - world.probability) * np.exp(slope * abs(goal - outside))
    posterior = p / (p + others)
    return posterior - p if side == "upper" else p - posterior


def _regions(world: World, places: int) -> tuple[list[float], list[float], list[float]]:
    """Places in the goal, in the rest of the ball, and outside it (an infinite end stands for a limit)."""
    t, goal, radius = world.true_value, world.goal, world.radius
    left = [(t - radius, t - goal), (world.low, t - radius)]
    right = [(t + goal, t + radius), (t + radius, world.high)]
    rest, outside = (
        [x for ends in pair for x in _between(ends, world, places)] for pair in zip(left, right, strict=True)
    )
    return _between((t - goal, t + goal), world, places), rest, outside or [t]


def _between(ends: tuple[float, float], world: World, places: int) -> list[float]:
    low, high = max(ends[0], world.low), min(ends[1], world.high)
    if not low <= high:
        return []
    if isfinite(low) and isfinite(high):
        return [float(x) for x in np.linspace(low, high, places)]
    return [low, high]
