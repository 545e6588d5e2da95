"""A goal that reaches to an end of what is possible, under a prior that may be wrong: the exact answer, at many ε.

One likelihood tells most, whatever the prior is (`ramp`). What is left is where a wrong prior h turns to κ, once on
each side of the edge: from there outwards, where L is large in the target and small in the rest. As in `along`, ∫Lhf is
concave in ∫hf in the target and convex in the rest, tangents around the best turns bound all others, and both meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.misjudged.along import best_levels, most_between
from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.tents import Move, Pair, bulk_of
from guessproof.risk.misjudged.turns import TurnedPart, dense
from guessproof.risk.ramp import Ramp
from guessproof.world.checks import Array

_NARROW = 0.1, *(10.0**-n for n in (2, 2, 3, 3, 4, 4, 5, 5))  # of a side: where turns are even, closer and closer
_MEETS, _ROUNDING = 1e-8, 1e-13  # where bound and attack are as near as that, they meet
_LITTLE = 1e-12  # what may be believed to lie beyond the end of a goal
_HUGE = 1e9  # times a typical ε
_TURNS = 13
_LEAST, _BESIDE = -600.0, 0.2  # ln of a probability; and of the bulk of a prior
_WAYS: tuple[Move, Move] = 1, -1  # the target, and the rest


@dataclass(frozen=True)
class MisjudgedRamp:
    """A goal on one side of an edge, under a prior that may be wrong by a factor."""

    target: Ramp
    bulk: tuple[float, float]  # turns are looked for between these
    factor: float

    @classmethod
    def of(cls, goal: Ramp, factor: float, move: Move) -> MisjudgedRamp | None:
        """A belief in the goal that rises or falls; None where hardly a number says how little is on one side."""
        if any(part.log_tilt(np.zeros(1))[0] < _LEAST for part in (goal, goal.rest)):
            return None
        low, high = (float(end) for end in bulk_of(goal.world.prior))
        beyond = _BESIDE * (high - low)  # an edge in a thin tail has turns beyond it, too
        ends = np.clip([min(low, goal.edge - beyond), max(high, goal.edge + beyond)], *goal.world.prior.support)
        found = cls(goal if move > 0 else goal.rest, (float(ends[0]), float(ends[1])), factor)
        return found if goal.beyond is None or found._is_endless(goal.beyond) else None

    def _is_endless(self, beyond: Ramp) -> bool:
        """Whether hardly anybody is believed to be beyond the end of a goal, whatever ε is: its odds rise with ε."""
        with np.errstate(all="ignore"):
            most = beyond.log_odds(np.array([_HUGE / self.target.world.spread]))[0]
            return bool(self.factor * np.exp(most) <= _LITTLE)

    def measure(self, epsilon: Array) -> Pair:
        """(attack, bound) for each ε."""
        with np.errstate(all="ignore"):
            heights = np.stack([part.log_tilt(self.target.side * epsilon) for part in (self.target, self.target.rest)])
            told = np.isfinite(heights).all(axis=0)  # where a tail outweighs ε, all that can be believed is
            value, bound = np.full(epsilon.size, self._most), np.full(epsilon.size, self._most + _ROUNDING)
            value[told], bound[told] = self._told(epsilon[told], heights[:, told])
            if self.target.beyond is not None:  # what is believed to be there is more of the goal, or less
                value, bound = value - _LITTLE, np.minimum(bound + _LITTLE, 1.0)
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
        """Turns closer and closer to the best ones, and what bounds all others."""
        value, bound = np.zeros(epsilon.size), np.ones(epsilon.size)
        shares, todo = np.full((2, epsilon.size), 0.5), np.arange(epsilon.size)
        for narrow in _NARROW:
            found, shares[:, todo], most = _Sides(self, epsilon[todo], heights[:, todo]).looked(shares[:, todo], narrow)
            value[todo], bound[todo] = np.maximum(value[todo], found), np.minimum(bound[todo], most)
            todo = todo[bound[todo] > value[todo] * (1 + _MEETS) + _ROUNDING]
            if not todo.size:
                break
        return value, bound


@dataclass(frozen=True, eq=False)
class _Sides:
    """Target and rest at some ε, a row each. Turns are shares of the way from far out, where h is 1, to the edge."""

    ramp: MisjudgedRamp
    epsilon: Array
    heights: Array  # ln ∫Lf over target and rest, h being 1

    def looked(self, shares: Array, narrow: float) -> tuple[Array, Array, Array]:
        """The best of some turns dense around others, where better ones are, and what no turn exceeds.

        Between two turns a prior may turn in part, which counts where many values are equally far.
        """
        turns = [self._turns(way, dense(share, _TURNS, narrow)) for way, share in zip(_WAYS, shares, strict=True)]
        parts = [self._part(way, self._with_ends(way, turn)) for way, turn in zip(_WAYS, turns, strict=True)]
        target, rest = parts
        value, levels = best_levels(target, rest)
        nearer = np.stack([self._share(way, level) for way, level in zip(_WAYS, levels, strict=True)])
        most = most_between(target.polygon(1), rest.polygon(-1), np.zeros((2, self.epsilon.size)))
        return value, nearer, most

    def _side(self, way: Move) -> Ramp:
        return self.ramp.target if way > 0 else self.ramp.target.rest

    def _ends(self, way: Move) -> tuple[float, float]:
        """ψ far out and at the edge."""
        part = self._side(way)
        far, edge = part.world.form.psi([self.ramp.bulk[part.side > 0], part.edge])
        return float(far), float(edge)

    def _turns(self, way: Move, shares: Array) -> Array:
        """Where h turns, in rows."""
        part, (far, edge) = self._side(way), self._ends(way)
        outwards = np.maximum if part.side > 0 else np.minimum  # where ψ is flat around the edge
        return outwards(part.world.form.inverse(far + shares * (edge - far)), part.edge)

    def _share(self, way: Move, level: Array) -> Array:
        """The share at which ln L is so much, in each row."""
        far, edge = self._ends(way)
        raised = self.epsilon * self.ramp.target.world.form.step if way > 0 else 0.0
        psi = (level + np.logaddexp(*self.heights) - raised) / (self.ramp.target.side * self.epsilon)
        share = (psi + edge - far) / (edge - far)
        return np.clip(np.where(np.isnan(share), 0.5, share), 0.0, 1.0)

    def _with_ends(self, way: Move, turn: Array) -> Array:
        """Turns from where h is 1 everywhere to where it is κ, with all at which ψ bends: beyond it may be flat."""
        part = self._side(way)
        ends = [part.side * np.inf, part.edge, *np.clip(part.world.form.cuts, *part.interval)]
        turn = np.concatenate([turn, np.broadcast_to(ends, (len(turn), len(ends)))], axis=1)
        return -part.side * np.sort(-part.side * turn, axis=1)

    def _part(self, way: Move, turn: Array) -> TurnedPart:
        """∫hf, ∫Lhf and L at the turn."""
        part, (_, edge) = self._side(way), self._ends(way)
        rate, scale = (self.ramp.target.side * self.epsilon)[:, None], np.logaddexp(*self.heights)[:, None]
        logs = part.log_tilt(np.stack([0 * rate, rate]), turn)
        every = np.stack([part.log_tilt(0 * self.epsilon), self.heights[0 if way > 0 else 1]])
        # L is 1 on average, so that neither it nor what it is compared with leaves the numbers.
        less = np.stack([0 * scale, scale])
        mass, told = np.exp(every[..., None] - less) + (self.ramp.factor - 1) * np.exp(logs - less)
        raised = np.exp(self.epsilon * part.world.form.step)[:, None] if way > 0 else np.ones_like(rate)
        return TurnedPart(mass, told, np.exp(rate * (part.world.form.psi(turn) - edge) - scale)).raised(raised)
