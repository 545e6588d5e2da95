"""A goal that reaches to an end of what is possible, under a prior that may be wrong: the exact answer, at many ε.

One likelihood tells most, whatever the prior is (`ramp`). What is left is where a wrong prior h turns to κ, once on each
side of the edge: from there outwards, where L is large in the target and small in the rest. As in `along`, ∫Lhf is
concave in ∫hf in the target and convex in the rest, tangents around the best turns bound all others, and both meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.misjudged.along import most_between
from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.tents import Move, Pair, bulk_of
from guessproof.risk.misjudged.turns import TurnedPart, best_turns, dense, nearer_turns, reached_by
from guessproof.risk.ramp import Ramp
from guessproof.world.checks import Array

_FIRST, _CLOSER = 0.1, (1e-2, 1e-4)  # the share of a side in which turns are even, at first and looking closer
_TURNS, _STEPS = 15, 3  # of Newton's method, each time


@dataclass(frozen=True)
class MisjudgedRamp:
    """A goal on one side of an edge, under a prior that may be wrong by a factor."""

    target: Ramp
    bulk: tuple[float, float]  # turns are looked for between these
    factor: float

    @classmethod
    def of(cls, goal: Ramp, factor: float, move: Move) -> MisjudgedRamp | None:
        """A belief in the goal that rises or falls; None where its edge lies beyond where turns are looked for."""
        low, high = (float(end) for end in bulk_of(goal.world.prior))
        return cls(goal if move > 0 else goal.rest, (low, high), factor) if low < goal.edge < high else None

    def measure(self, epsilon: Array) -> Pair:
        """(attack, bound) for each ε."""
        with np.errstate(all="ignore"):
            heights = np.stack([part.log_tilt(self.target.side * epsilon) for part in (self.target, self.target.rest)])
            told = np.isfinite(heights).all(axis=0)  # where a tail outweighs ε, all that can be believed is
            value, bound = np.full((2, epsilon.size), self._most)
            value[told], bound[told] = self._told(epsilon[told], heights[:, told])
        return np.minimum(np.maximum(value, 0.0), bound), bound

    def rough(self, epsilon: Array) -> Array:
        """What attacks reach."""
        return self.measure(epsilon)[0]

    @property
    def _most(self) -> float:
        """How far a belief can rise at all."""
        declared = np.exp(self.target.log_tilt(np.zeros(1)))[0]
        return 1.0 - float(with_odds_of(np.minimum(declared, 1.0), 1 / self.factor))

    def _told(self, epsilon: Array, heights: Array) -> Pair:
        """The best turns of a grid, brought nearer to where derivatives vanish, and what bounds all others."""
        sides = _Sides(self, epsilon, heights)
        value, shares, _ = sides.looked(np.full((2, epsilon.size), 0.5), _FIRST)
        bound = np.ones(epsilon.size)
        for narrow in _CLOSER:
            shares = sides.nearer(shares)
            found, shares, most = sides.looked(shares, narrow)
            value, bound = np.maximum(value, found), np.minimum(bound, most)
        return value, bound


@dataclass(frozen=True, eq=False)
class _Sides:
    """Target and rest at some ε, a row each. Turns are shares of the way from far out, where h is 1, to the edge."""

    ramp: MisjudgedRamp
    epsilon: Array
    heights: Array  # ln ∫Lf over target and rest, h being 1

    def looked(self, shares: Array, narrow: float) -> tuple[Array, Array, Array]:
        """The best of some turns dense around others, where they are, and what no turn exceeds."""
        around, every = [dense(share, _TURNS, narrow) for share in shares], np.arange(self.epsilon.size)
        target, rest = self._parts(around[0], around[1], whole=True)
        value, places = best_turns(target, rest)
        best = np.stack([at[every, place] for at, place in zip(around, places, strict=True)])
        return value, best, most_between(target.polygon(1), rest.polygon(-1), np.zeros((2, self.epsilon.size)))

    def nearer(self, shares: Array) -> Array:
        """Turns after some of Newton's steps, where these reach more."""
        nearer = nearer_turns(self._parts, shares, 1, self.epsilon * self._steep[:, None], _STEPS)
        better = reached_by(self._parts, nearer) > reached_by(self._parts, shares)
        return np.where(better, nearer, shares)

    @property
    def _steep(self) -> Array:
        """How ψ, as it rises into the target, changes along a share."""
        return self.ramp.target.side * np.array([edge - far for far, edge in map(self._ends, (1, -1))])

    def _ends(self, way: Move) -> tuple[float, float]:
        """ψ far out and at the edge."""
        part = self.ramp.target if way > 0 else self.ramp.target.rest
        far, edge = part.world.form.psi([self.ramp.bulk[part.side > 0], part.edge])
        return float(far), float(edge)

    def _parts(self, inside: Array, outside: Array, *, whole: bool = False) -> tuple[TurnedPart, TurnedPart]:
        """The target and the rest; `whole` from h = 1 everywhere to κ everywhere."""
        return self._part(1, inside, whole), self._part(-1, outside, whole)

    def _part(self, way: Move, shares: Array, whole: bool) -> TurnedPart:
        """∫hf, ∫Lhf and L at the turn."""
        part, (far, edge) = self.ramp.target if way > 0 else self.ramp.target.rest, self._ends(way)
        psi, inverse = part.world.form.psi, part.world.form.inverse
        turn = inverse(far + shares * (edge - far))
        if whole:
            turn[:, 0], turn[:, -1] = part.side * np.inf, part.edge
        rate, scale = (self.ramp.target.side * self.epsilon)[:, None], np.logaddexp(*self.heights)[:, None]
        logs = part.log_tilt(np.stack([0 * rate, rate]), turn)
        every = np.stack([part.log_tilt(0 * self.epsilon), self.heights[0 if way > 0 else 1]])
        # L is 1 on average, so that neither it nor what it is compared with leaves the numbers.
        less = np.stack([0 * scale, scale])
        mass, told = np.exp(every[..., None] - less) + (self.ramp.factor - 1) * np.exp(logs - less)
        raised = np.exp(self.epsilon * part.world.form.step)[:, None] if way > 0 else np.ones_like(rate)
        return TurnedPart(mass, told, np.exp(rate * (psi(turn) - edge) - scale)).raised(raised)
