"""A prior that may be wrong beside a distance with a cap, at many ε at once: attacks, and what nothing exceeds.

An attack is a mountain (`capped`) and an h that turns at two radii (`hills`): four numbers, looked for on a grid of
flat parts that closes in on the best one, with the turns that are best for each. A line a little above what it reaches
is then proven for all of them (`hill_proof`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.risk.misjudged.along import most_between
from guessproof.risk.misjudged.hill_proof import HillProof
from guessproof.risk.misjudged.hills import HillGoal, HillRows, least_proven
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.turns import best_turns, dense
from guessproof.world.checks import Array

_LITTLE_OF_EPSILON = 2e-4  # how far above an attack a line is proven, as what it loses of ε
_AHEAD = 1e-2  # of ε: for that
_FURTHER = (1.0, 4.0, 16.0, 64.0, 512.0, 4096.0)  # times as far, where that is not proven
_POINTS, _ZOOMS, _SHRINK, _REACH = 8, 7, 0.4, 0.1  # of a grid of flat parts, and how it closes in
_STEPS, _RADII = 1, 5  # of Newton's method for turns, each time, and radii around the last ones
_ROUNDING = 8e-14
_LEAST = 1e-7  # of what is reached: a line that much above it

Pair = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class MisjudgedHills:
    """One interval at one true value, under a distance with a cap and a prior that may be wrong by a factor."""

    goal: HillGoal
    move: Move

    def measure(self, epsilon: Array) -> Pair:
        """(attack, bound) for each ε."""
        with np.errstate(all="ignore"):
            value, best = self._climbed(epsilon)
            value = np.maximum(value, 0.0)

            def holds(some: Any, line: Array) -> Any:
                return self._proof(epsilon[some], best[:, some]).holds(line)

            bound = least_proven(value, self._close(epsilon, value, best), _FURTHER, holds)
        return np.minimum(value, bound), bound

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach."""
        with np.errstate(all="ignore"):
            return self._climbed(epsilon)[0]

    def _close(self, epsilon: Array, value: Array, best: Array) -> Array:
        """How far above an attack is close enough: what a little more of ε adds to it."""
        ahead = self._looked(
            HillRows(self.goal, self.move, epsilon * (1 + _AHEAD), best[0], best[1]), best[2:], _SHRINK**_ZOOMS
        )[0]
        return np.maximum((ahead - value) * _LITTLE_OF_EPSILON / _AHEAD, _LEAST * value) + _ROUNDING

    def _proof(self, epsilon: Array, best: Array) -> HillProof:
        rows = HillRows(self.goal, self.move, epsilon, best[0], best[1])
        target, rest = rows.parts(best[2][:, None], best[3][:, None])
        a, b, into, out = (v[:, -1] for v in (target.mass, rest.mass, target.told, rest.told))
        return HillProof(self.goal, self.move, epsilon, (best[0], best[1]), (into + out) / (a + b), a / (a + b))

    def _climbed(self, epsilon: Array) -> tuple[Array, Array]:
        """The best attacks that a grid of flat parts finds, looked at closer and closer: u, v and both turns."""
        lo, hi = self.goal.lo, self.goal.hi
        i, j = np.triu_indices(_POINTS)
        shares = np.linspace(0.0, 1.0, _POINTS)
        places = [np.broadcast_to(lo + (hi - lo) * shares[at], (epsilon.size, i.size)) for at in (i, j)]
        turns, reach = np.full((2, epsilon.size), 0.5), _REACH * (hi - lo)
        best, value, every = np.zeros((4, epsilon.size)), np.full(epsilon.size, -np.inf), np.arange(epsilon.size)
        around = np.stack(np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], indexing="ij")).reshape(2, -1)
        for zoom in range(_ZOOMS):
            u, v = self._allowed(*places)
            which = np.repeat(every, u.shape[1])
            rows = HillRows(self.goal, self.move, epsilon[which], u.ravel(), v.ravel())
            reached, turned = self._looked(rows, turns[:, which], _SHRINK**zoom)
            row = u.shape[1] * every + np.argmax(reached.reshape(u.shape), axis=1)
            there = np.stack([rows.u[row], rows.v[row], *turned[:, row]])
            best, value = np.where(reached[row] > value, there, best), np.maximum(value, reached[row])
            turns, places = best[2:], [best[n][:, None] + reach * around[n] for n in (0, 1)]
            reach *= _SHRINK
        return value, best

    def _allowed(self, u: Array, v: Array) -> Pair:
        """Flat parts within the goal, with something of the rest on their slopes."""
        most, least = self.goal.ends
        u, v = np.clip(u, self.goal.lo, most), np.clip(v, least, self.goal.hi)
        cross, middle = u > v, np.clip(0.5 * (u + v), least, most)
        return np.where(cross, middle, u), np.where(cross, middle, v)

    def _looked(self, rows: HillRows, turns: Array, narrow: float) -> Pair:
        """What mountains reach with about the best turns, and these; also with an h between 1 and κ on some values.

        Newton's steps lead to where both turns are best with each other. Where h is best nowhere κ outside, or on some
        of what ties, radii around the last ones find the turn inside that goes with it.
        """
        closer = rows.nearer(turns, _STEPS)
        radii = (
            np.concatenate([dense(t, _RADII, narrow), c[:, None]], axis=1) for t, c in zip(turns, closer, strict=True)
        )
        inside, outside = rows.with_ties(*(np.sort(r, axis=1) for r in radii))
        target, rest = rows.parts(inside, outside[:, ::-1])
        none, every = np.zeros((2, rows.u.size)), np.arange(rows.u.size)
        reached = most_between(np.stack([target.mass, target.told]), np.stack([rest.mass, rest.told]), none)
        at = best_turns(target, rest)[1]
        best = [np.maximum(place - 2, 0) for place in (at if self.move > 0 else at[::-1])]
        turns = np.stack([inside[every, best[0]], outside[:, ::-1][every, best[1]]])
        return np.where(reached >= 1, -np.inf, reached - _ROUNDING), turns
