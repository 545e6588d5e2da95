"""An attacker's advantage as a function of the true value, enclosed over every cell of a grid.

A record's own advantage is a function of its true value t. It is computed at few points, and bounded between them:

- one interval of correct guesses: by `risk.advantage_over`;
- a goal that does not move with the truth: the same for every record;
- no prior: the advantage rises with the largest distance to a wrong value, which is largest at an end of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from guessproof.errors import GoalError
from guessproof.exposure import Exposure
from guessproof.risk import Attack, advantage_over
from guessproof.world import Array, LinePrior, Within, inside


@dataclass(frozen=True)
class CellBounds:
    """What holds for every true value of each cell: lower ≤ advantage ≤ upper."""

    lower: Array
    upper: Array


class TruthCurve(Protocol):
    """The advantage along the line."""

    @property
    def first(self) -> int:
        """How many cells to begin with."""
        ...

    @property
    def most(self) -> int:
        """How many cells may be spent."""
        ...

    @property
    def pieces(self) -> int:
        """Into how many pieces a cell is divided to be enclosed."""
        ...

    def over(self, ends: Array) -> CellBounds:
        """An enclosure between each and the next of some rising true values."""
        ...

    def beyond(self, t: Array, right: bool) -> Array:
        """What no true value from each t on to the right (or left) exceeds; 1 where nothing is known."""
        ...


@dataclass(frozen=True)
class IntervalCurve:
    """One interval of correct guesses around a number with a density: many cells at a time."""

    attack: Attack
    epsilon: float
    both: bool
    change: float = np.inf  # how far any two values are apart at most, where a cap was left out of the distance
    first: int = 1024  # one question about many cells costs little more than one about few
    most: int = 1 << 14
    pieces: int = 8

    def over(self, ends: Array) -> CellBounds:
        found = advantage_over(self.attack, ends, self.epsilon, self.both)
        if np.isinf(self.change):
            return CellBounds(found.least, found.most)
        least, most = self._before(ends)
        upper = np.minimum(found.most, at_most_apart(least, most, self.change) + 1e-12)
        return CellBounds(np.zeros(upper.shape), upper)

    def _before(self, ends: Array) -> tuple[Array, Array]:
        """The least and the largest belief before the release, for true values between two ends."""
        lo, hi = self._edges(ends)
        within = hi[:-1] > lo[1:]
        least = np.where(within, self._prior.mass(lo[1:], np.where(within, hi[:-1], lo[1:])), 0.0)
        return least, self._prior.mass(lo[:-1], hi[1:])

    def beyond(self, t: Array, right: bool) -> Array:
        """The goal lies inside everything beyond its nearer end: beliefs in that are at least as large."""
        lo, hi = self._edges(t)
        rests = [(float(end), np.inf) for end in lo] if right else [(-np.inf, float(end)) for end in hi]
        return np.asarray([self._beyond(rest) for rest in rests])

    def _beyond(self, rest: tuple[float, float]) -> float:
        try:
            asked = replace(self.attack, goal=inside(self.attack.goal.attributes[0], rest))
            return float(asked.posterior(self.epsilon).bound)
        except GoalError:  # nothing lies there, or everything
            return 0.0 if self._prior.mass(*rest) == 0 else 1.0

    def _edges(self, t: Array) -> tuple[Array, Array]:
        assert isinstance(self.attack.goal, Within)
        return self.attack.goal.edges(t)[0]

    @property
    def _prior(self) -> LinePrior:
        prior = self.attack.attribute.prior
        assert isinstance(prior, LinePrior)
        return prior


@dataclass(frozen=True)
class FlatCurve:
    """A goal that does not move with the truth: the same for every record."""

    lower: float = 0.0
    upper: float = 0.0
    first: int = 1
    most: int = 1
    pieces: int = 1

    def over(self, ends: Array) -> CellBounds:
        return CellBounds(np.full(ends.size - 1, self.lower), np.full(ends.size - 1, self.upper))

    def beyond(self, t: Array, right: bool) -> Array:
        return np.full(t.shape, self.upper)


@dataclass(frozen=True)
class RangeCurve:
    """No prior but a range: the largest distance from a correct to a wrong value is largest at an end of a cell."""

    exposure: Exposure
    name: str
    epsilon: float
    both: bool
    first: int = 32
    most: int = 128
    pieces: int = 1

    def over(self, ends: Array) -> CellBounds:
        found = np.asarray([self._bound(float(t)) for t in ends])
        upper = np.maximum(found[:-1], found[1:])
        return CellBounds(np.zeros(upper.shape), upper)

    def beyond(self, t: Array, right: bool) -> Array:
        return np.ones(t.shape)

    def _bound(self, t: float) -> float:
        prior: Any = self.exposure.attacker.attributes[self.name].prior
        attacker = replace(self.exposure.attacker, at={self.name: min(max(t, prior.low), prior.high)})
        try:
            return float(replace(self.exposure, attacker=attacker).advantage(self.epsilon, self.both).bound)
        except GoalError:  # certain there: nothing to be learnt
            return 0.0


def at_most_apart(least: Array, most: Array, change: float) -> Array:
    """The largest advantage if any two records are `change` apart and the belief before lies in least … most.

    It has one top, where the belief before is 1/(1 + e^{change/2}).
    """
    middle = np.clip(1 / (1 + np.exp(min(change / 2, 700.0))), least, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        after = middle / (middle + (1 - middle) * np.exp(-min(change, 700.0)))
    return np.nan_to_num(after - middle, nan=0.0)
