"""Several runs of correct guesses under a prior that may be wrong: what no likelihood exceeds, by walks on the line.

Let a belief rise from p to P or more under some prior h·f with 1 ≤ h ≤ κ and some likelihood L. Then for every M = λL
the least over h, at each point by itself, of

    Φ(M) = ∫_goal f·w((1−p) − (1−P)·M) + ∫_rest f·w(P·M − p),       w(z) = min(z, κz),

is not positive (theory §13). Φ falls with M in the goal and rises with it in the rest. So let s be what M is at the
edges of stretches: between two of them M is at least a valley, in the rest, and at most a peak, in the goal, both told
by s at the two edges. What the stretches add is a sum in which only neighbours meet, and its least value for a given s
at one edge is found by walking towards that edge from either end of the line:

    Y(s) = min over turns v of (what the stretch adds) + Y(s'),        s' = s·e^{±ε(width − 2v)} at the next edge.

**If for some edge and some s the two walks add up to more than 0, no likelihood lets a belief rise so far**, since any
L may be scaled until it is s there. (Without that scale nothing would follow: a likelihood may be mixed with itself at
another scale.) One s need not serve all likelihoods: each of some classes of them may have its own, and here those
that turn in one stretch between two neighbouring places are a class.

*Few s and few turns are enough.* Φ is concave in M, and Y, as a least value over shapes of M, is concave in s: between
two s it lies above its chord. Let a valley turn between two others that are w apart and have the same s at one edge.
It is a mixture of theirs, at the next edge too, but for x between them. There it is lower than the mixture by no more
than tanh(εw/2) times the higher of their bottoms, at its own turn, and by less, convex, on both sides of it; a peak is
higher by tanh(εw/2) times the higher of their tops. So it adds no less than the lesser of the two, less κ·P (for a
peak κ·(1−P)) times that and times the mass between them, of an even density half of it. The point at which w bends lies
in one cell of a stretch, told by s: there w lies above its chord.

*All beliefs before.* With M and h fixed, all is linear in p while P = p + η: what is positive at two beliefs, for the
same class, edge and s, is so between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.stretches import ToldHalf, ToldStretch
from guessproof.world.checks import Array

Turns = NDArray[np.int64]  # places of a stretch, from its left end on

_ROUNDING = 5e-13  # of an integral, as a share: likelihoods may be large, and what they add of either sign


@dataclass(frozen=True, eq=False)
class Levels:
    """What M may be at each edge: 0, and levels around one that is typical there."""

    typical: Array  # ln M by edge
    beside: Array  # added to it, rising, by edge and level

    @cached_property
    def logs(self) -> Array:
        """ln M by edge and level."""
        rows = self.typical[:, None] + self.beside
        return np.concatenate([np.full((len(rows), 1), -np.inf), rows], axis=1)

    @cached_property
    def values(self) -> Array:
        """M by edge and level."""
        return np.exp(self.logs)


@dataclass(frozen=True, eq=False)
class BeliefPairs:
    """Some beliefs before and after, the worst prior's factor, and by what a step raises likelihoods in the goal."""

    before: Array
    after: Array
    factor: float
    raised: float

    def weights(self, goal: bool) -> tuple[Array, Array]:
        """α and β of z = α + β·M."""
        return (1 - self.before, -(1 - self.after) * self.raised) if goal else (-self.before, self.after)


class Walked(NamedTuple):
    """What is added at least, by belief and level at an edge."""

    least: Array
    pairs: Array  # by two neighbouring turns of the next stretch, too
    turn: Turns  # about where a likelihood turns there that adds least


class TurnedAt(NamedTuple):
    """The inner stretch whose neighbouring turns make classes; levels are at its left edge (way 1) or right one."""

    stretch: int
    way: int

    @property
    def edge(self) -> int:
        return self.stretch if self.way > 0 else self.stretch + 1


@dataclass(frozen=True, eq=False)
class Walk:
    """What all stretches add at least, from some beliefs."""

    stretches: Sequence[ToldStretch]
    turns: Sequence[Turns]  # by inner stretch
    levels: Levels
    beliefs: BeliefPairs
    split: TurnedAt

    @cached_property
    def sums(self) -> Array:
        """By two neighbouring turns of the stretch that is split, belief, and level at its edge: Φ at least."""
        ahead, behind = (self.right[0], self.left[-1]) if self.split.way > 0 else (self.left[-1], self.right[0])
        return behind.least + np.moveaxis(ahead.pairs, -1, 0)

    @cached_property
    def right(self) -> list[Walked]:
        """What lies to the right of each edge, from that on."""
        found = [self._outer(self.stretches[-1].left, -1)]
        for i in range(len(self.turns) - 1, self.split.edge - 1, -1):
            found.insert(0, self._through(i, 1, found[0]))
        return found

    @cached_property
    def left(self) -> list[Walked]:
        """What lies to the left of each edge, up to that."""
        found = [self._outer(self.stretches[0].right, 0)]
        for i in range(self.split.edge):
            found.append(self._through(i, -1, found[-1]))
        return found

    def excluded(self, which: Turns) -> Array:
        """What is proven, positive where it is: of each of some beliefs, or of pairs of them by one level, (2, …)."""
        some = self.sums[:, which]
        return np.min(np.max(np.min(some, axis=1) if which.ndim > 1 else some, axis=-1), axis=0)

    @cached_property
    def _alone(self) -> Array:
        return self.excluded(np.arange(self.beliefs.before.size))

    @property
    def least(self) -> float:
        """What is proven of each belief by itself, at least."""
        return float(np.min(self._alone))

    @property
    def worst(self) -> int:
        """The belief of which least is proven."""
        return int(np.argmin(self._alone))

    def likely(self, belief: int) -> list[Turns]:
        """Turns of likelihoods that come near to what is excluded from one belief, about the nearest first."""
        tops = np.max(self.sums[:, belief], axis=-1)
        return [self._turns(belief, int(pair)) for pair in np.argsort(tops)]

    def _turns(self, belief: int, pair: int) -> Turns:
        """About those of the likelihood that adds least of all that turn between two places of the split stretch."""
        found, (i, way), edge = np.zeros(len(self.turns), dtype=np.int64), self.split, self.split.edge
        level = ahead = self.levels.logs[edge, int(np.argmax(self.sums[pair, belief]))]
        found[i] = self.turns[i][pair if way > 0 else -1 - pair]
        if way > 0:
            ahead += self._ahead(i, found[i])
        else:
            level -= self._ahead(i, found[i])
        for j in range(i + 1, found.size):
            found[j] = self.right[j - edge].turn[belief, self._row(j, ahead)]
            ahead += self._ahead(j, found[j])
        for j in range(i - 1, -1, -1):
            found[j] = self.left[j + 1].turn[belief, self._row(j + 1, level)]
            level -= self._ahead(j, found[j])
        return found

    def _row(self, edge: int, level: float) -> int:
        return int(np.argmin(np.abs(self.levels.logs[edge, 1:] - level))) + 1

    def _ahead(self, i: int, turn: int) -> float:
        """ln of how much higher a likelihood is at the right edge of an inner stretch than at the left one."""
        half = self.stretches[i + 1].left
        assert half is not None
        return float(half.rate * (2 * half.far[turn] - half.far[-1]))

    def _outer(self, half: ToldHalf | None, edge: int) -> Walked:
        assert half is not None
        least = self._added(half, self.levels.logs[edge][:, None], np.array([half.far.size - 1]))
        return Walked(least[..., 0], least, np.zeros(least.shape[:2], dtype=np.int64))

    def _through(self, i: int, way: int, beyond: Walked) -> Walked:
        """An inner stretch and all beyond it, at its nearer edge. Way 1 looks to the right, −1 to the left."""
        stretch = self.stretches[i + 1]
        near, far = (stretch.left, stretch.right) if way > 0 else (stretch.right, stretch.left)
        assert near is not None
        assert far is not None
        last = near.far.size - 1
        turns = self.turns[i] if way > 0 else (last - self.turns[i])[::-1]
        edge, other = (i, i + 1) if way > 0 else (i + 1, i)
        level = self.levels.logs[edge][:, None]
        across = level + near.rate * (2 * near.far[turns] - near.far[-1])  # at the other edge, by level and turn
        added = self._added(near, level, turns) + self._added(far, across, last - turns)
        added += self._beyond(beyond.least, np.exp(across), other)
        slope = self.beliefs.factor * np.abs(self.beliefs.weights(stretch.goal)[1])
        wide = np.tanh(0.5 * abs(near.rate) * np.diff(near.far[turns])) * near.under_tents(turns)
        top = near.height[turns[1:] if stretch.goal else turns[:-1]] * wide
        pairs = np.minimum(added[..., 1:], added[..., :-1]) - slope[:, None, None] * (np.exp(level) * top)
        best = turns[np.argmin(added, axis=-1)]
        return Walked(np.min(pairs, axis=-1), pairs, best if way > 0 else last - best)

    def _added(self, half: ToldHalf, level: Array, turns: Turns) -> Array:
        """∫f·w(z) from the end of a stretch up to places, at least; by belief, and by level there and turn."""
        alpha, beta = (v[:, None, None] for v in self.beliefs.weights(half.rate > 0))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # z falls from the end on, and is 0 as far from it as this.
            bend = half.cells_up_to((np.log(-alpha / beta) - level) / half.rate)
            mass, told = half.after
            height = beta * np.exp(level)
            below = alpha * (half.mass[turns] - mass[bend]) + _times(height, half.told[turns] - told[bend])
            mass, told = alpha * half.mass[turns], _times(height, half.told[turns])
            lost = _ROUNDING * self.beliefs.factor * (np.abs(mass) + np.abs(told))
            below = np.where(bend <= turns, np.minimum(below, 0.0), 0.0)
            return mass + told + (self.beliefs.factor - 1) * below - lost

    def _beyond(self, found: Array, level: Array, edge: int) -> Array:
        """What was found at the levels of an edge, between them; nothing is known above the last."""
        values = self.levels.values[edge]
        at = np.clip(np.searchsorted(values, level, side="right") - 1, 0, values.size - 2)
        share = (level - values[at]) / (values[at + 1] - values[at])
        low, high = np.take(found, at, axis=1), np.take(found, at + 1, axis=1)
        with np.errstate(invalid="ignore"):
            mixed = low + share * (high - low)
        return np.where((share <= 1) & ~np.isnan(mixed), mixed, -np.inf)


def _times(height: Array, told: Array) -> Array:
    """Nothing of what is infinite is nothing."""
    return np.where(height == 0, 0.0, height * told) if np.isinf(told).any() else height * told
