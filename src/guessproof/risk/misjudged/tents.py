"""The attack under a misjudged prior: a tent, and a prior that favours what the tent tells most about.

h is κ inside the goal up to a distance s₁ of the peak c and outside it from a distance s₂ on, 1 elsewhere. Inside and
outside do not know of each other, so a grid of (t, c, s₁) and one of (t, c, s₂) give all of (t, c, s₁, s₂); the best
cell is looked at again, closer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from guessproof.risk.limits import advantage_of
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array
from guessproof.world.line import LinePrior, log_sum

Move = Literal[1, -1]  # a belief that rises, or one that falls
Pair = tuple[Array, Array]
Edges = Callable[[Array], Pair]

_COARSE = (1, 17, 25, 25)  # points along t, c, s₁ and s₂ at first
_COARSE_OVER_TRUTHS = (25, 9, 11, 11)
_FINE, _FINE_OVER_TRUTHS = 9, 7
_FIRST_ZOOMS, _ZOOMS, _SHRINK = 5, 20, 0.5
_AT_THE_END = 0.05  # of where the prior lies: as near to its end as that, peaks and turns are looked for up to there
_STARTS = 3  # peaks that are looked at closer: the best one may be anywhere in the goal


@dataclass(frozen=True)
class MisjudgedGoal:
    """Correct guesses in one interval, for true values in [low, high], under a prior that may be wrong by a factor."""

    world: TiltedIntegrals
    edges: Edges
    low: float
    high: float
    factor: float

    @property
    def is_fixed(self) -> bool:
        """Whether there is but one true value."""
        return self.low == self.high


@dataclass(frozen=True)
class FoundTent:
    """An attack: how far the belief moves, at which true value."""

    value: float
    at: float


def best_tent(goal: MisjudgedGoal, epsilon: float, move: Move) -> FoundTent:
    """The best true value, peak and wrong prior that a search finds; what it finds is an attack in any case."""
    ranges = TentRanges.of(goal)
    counts = _COARSE if goal.is_fixed else _COARSE_OVER_TRUTHS
    axes = [np.linspace(0.0, 1.0, n) if n > 1 else np.array([0.0]) for n in counts]
    values = ranges.advantages(axes, epsilon, move)
    by_peak = np.max(values, axis=(2, 3))
    found: list[tuple[tuple[float, Array], Array]] = []
    for at in _local_maxima(by_peak)[:_STARTS]:
        rest = np.unravel_index(int(np.argmax(values[at])), values.shape[2:])
        start = np.array([axis[i] for axis, i in zip(axes, (*at, *rest), strict=True)])
        reach = np.array([0.0 if n == 1 else 1.5 / (n - 1) for n in counts])
        zoom = _zoomed(ranges, (float(values[at][rest]), start), reach, _FIRST_ZOOMS, epsilon, move)
        found.append((zoom, reach * _SHRINK**_FIRST_ZOOMS))
    most, reach = max(found, key=lambda pair: pair[0][0])
    value, best = _zoomed(ranges, most, 2 * reach, _ZOOMS, epsilon, move)
    return FoundTent(max(value, 0.0), float(ranges.truth(best[0])))


def _local_maxima(values: Array) -> list[tuple[int, int]]:
    """Places in a grid that no neighbour exceeds, the highest first."""
    around = np.pad(values, 1, constant_values=-np.inf)
    rows, columns = values.shape
    shifts = [around[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    places = np.argwhere(values >= np.max(shifts, axis=0))
    return sorted(((int(i), int(j)) for i, j in places), key=lambda at: -float(values[at]))


def _zoomed(
    ranges: TentRanges, start: tuple[float, Array], reach: Array, times: int, epsilon: float, move: Move
) -> tuple[float, Array]:
    """Closer and closer around a place of the grid."""
    value, best = start
    for _ in range(times):
        count = _FINE if ranges.goal.is_fixed else _FINE_OVER_TRUTHS
        axes = [_axis(float(b), float(r), count) for b, r in zip(best, reach, strict=True)]
        values = ranges.advantages(axes, epsilon, move)
        top = np.unravel_index(int(np.argmax(values)), values.shape)
        if values[top] > value:
            best, value = np.array([axis[i] for axis, i in zip(axes, top, strict=True)]), float(values[top])
        reach = reach * _SHRINK
    return value, best


def _axis(centre: float, reach: float, count: int) -> Array:
    return np.unique(np.clip(np.linspace(centre - reach, centre + reach, count), 0.0, 1.0))


def bulk_of(prior: LinePrior) -> Pair:
    """Between which values peaks and turns are looked for."""
    bulk = np.clip(prior.quantile([1e-15, 1 - 1e-15]), *prior.support)
    ends = np.asarray(prior.support)
    near = np.abs(bulk - ends) <= _AT_THE_END * (bulk[1] - bulk[0])  # goals that end where the prior does are whole
    low, high = np.where(near, ends, bulk)
    return np.asarray(low), np.asarray(high)


@dataclass(frozen=True)
class TentRanges:
    """Shares in [0, 1] of the ranges of t, c, s₁ and s₂."""

    goal: MisjudgedGoal
    bulk: Pair

    @classmethod
    def of(cls, goal: MisjudgedGoal) -> TentRanges:
        return cls(goal, bulk_of(goal.world.prior))

    def truth(self, share: Array) -> Array:
        goal = self.goal
        return goal.low + share * (goal.high - goal.low)

    def advantages(self, axes: list[Array], epsilon: float | Array, move: Move) -> Array:
        """How far beliefs move, for all combinations; the others may depend on the first axis, and so may ε."""
        goal, psi = self.goal, self.goal.world.form.psi
        lo, hi = (end[:, None] for end in goal.edges(self.truth(axes[0])))
        lo, hi = np.clip(lo, *self.bulk), np.clip(hi, *self.bulk)
        c = lo + axes[1] * (hi - lo)
        reach_in = np.maximum(psi(hi) - psi(c), psi(c) - psi(lo))
        least = np.minimum(psi(hi) - psi(c), psi(c) - psi(lo))
        most = np.maximum(psi(self.bulk[1]) - psi(c), psi(c) - psi(self.bulk[0]))
        near = axes[2] * reach_in[..., None]
        far = least[..., None] + axes[3] * (most - least)[..., None]
        lo, hi = (end[:, None] for end in goal.edges(self.truth(axes[0])))
        inside = self.masses(lo, hi, c, near, move * epsilon, inside=True)
        outside = self.masses(lo, hi, c, far, move * epsilon, inside=False)
        with np.errstate(invalid="ignore"):
            before = inside[0][..., :, None] - outside[0][..., None, :]
            after = inside[1][..., :, None] - outside[1][..., None, :]
            after = after + move * np.asarray(epsilon)[..., None] * goal.world.form.step
            log_p, log_q = -np.logaddexp(0.0, -before), -np.logaddexp(0.0, before)
            found = move * advantage_of(log_p, log_q, after - before)
        # What is stated is possible; and where the goal is the same for all, no true value is.
        possible = (goal.world.prior.log_density(self.truth(axes[0])) > -np.inf) | goal.is_fixed
        return np.where(np.isnan(found) | ~possible[:, None, None, None], -np.inf, found)

    def masses(
        self, lo: Array, hi: Array, c: Array, cut: Array, k: float | Array, *, inside: bool, from_one: bool = False
    ) -> Pair:
        """ln ∫hf and ln ∫Lhf inside or outside the goal, for each place where h turns.

        With `from_one` h is 1 everywhere at the first place and κ at the last: where ψ is flat, many values are equally
        far from the peak, and a radius says too little.
        """
        world, (lo, hi, c) = self.goal.world, (v[..., None] for v in np.broadcast_arrays(lo, hi, c))
        psi, inverse = world.form.psi, world.form.inverse
        left, right = inverse(psi(c) - cut), inverse(psi(c) + cut)
        # Each side from its edge on, and from where h turns: all in one go, because every call has its price.
        if inside:
            left, right = np.clip(left, lo, c), np.clip(right, c, hi)
            start, end = c, c
        else:
            left, right = np.minimum(left, lo), np.maximum(right, hi)
            start, end = np.asarray(np.inf), np.asarray(-np.inf)
        left, right = np.concatenate([lo, left], axis=-1), np.concatenate([hi, right], axis=-1)
        ends = (left, end, start, right) if inside else (end, left, right, start)
        tilts = self._tilts(ends, c, k)
        whole, turned = tilts[..., :1], tilts[..., 1:]
        if from_one:
            turned[..., 0], turned[..., -1] = -np.inf, whole[..., 0]
        terms = np.broadcast_to(whole, turned.shape)
        if self.goal.factor > 1:
            terms = np.concatenate([terms, turned + np.log(self.goal.factor - 1)], axis=1)
        mass, told = log_sum(np.moveaxis(terms, 1, -1))
        return mass, told

    def _tilts(self, ends: tuple[Array, Array, Array, Array], c: Array, k: float | Array) -> Array:
        """ln ∫f and ln ∫Lf, by side of the peak: from the first end to the second, and from the third to the fourth."""
        world = self.goal.world
        if world.tables is not None:
            return self._tilts_from_tables(ends, c, k)
        a1, b1, a2, b2 = np.broadcast_arrays(*ends)
        sides = np.stack([a1, a2]), np.maximum(np.stack([a1, a2]), np.stack([b1, b2]))
        rate = np.broadcast_to(k, a1.shape)
        rates = np.stack([np.zeros((2, *a1.shape)), np.stack([rate, -rate])])
        return world.log_tilt(*np.broadcast_arrays(rates, *sides, c))

    def _tilts_from_tables(self, ends: tuple[Array, ...], c: Array, k: float | Array) -> Array:
        """The same for all peaks in rows; the two sides come added up, on the left."""
        shape = np.broadcast_shapes(*(end.shape for end in ends))
        columns = [np.broadcast_to(e, (*shape[:-1], e.shape[-1] if e.ndim else 1)) for e in ends]
        a1, b1, a2, b2 = (end.reshape(-1, end.shape[-1]) for end in columns)
        rate, ref = (np.broadcast_to(v, (*shape[:-1], 1)).ravel() for v in (k, c))
        found = self.goal.world.sides(rate, (a1, b1), (a2, b2), ref)
        with np.errstate(divide="ignore"):
            left = np.log(np.stack(found)).reshape(2, *shape)
        return np.stack([left, np.full_like(left, -np.inf)], axis=1)
