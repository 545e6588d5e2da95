"""Mountains of one goal under a prior that may be wrong: what is told by each, along the radii at which h turns.

For every wrong prior the best likelihood is a mountain (`capped`): 1 on a flat part [u, v] in the goal, falling on both
sides down to e^{−ε·cap}. All values of the flat part are equally likely to have brought about an answer, and so are all
that lie farther than the cap; the best h may be κ on some of either and not on the others. So h turns first among the
values of the flat part and then along radii from it, and outside among what is far and then along radii inwards: as in
`along`, A is concave in a and B convex in b, with straight pieces where values tie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.risk.capped import Hills
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.turns import TurnedPart, nearer_turns
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array

_BESIDE = 1e-9  # of a radius: just before and just after values that are equally far

Pair = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class HillGoal:
    """One interval of correct guesses, under a distance with a cap and a prior that may be wrong by a factor.

    For mountains in rows it may be another one in each.
    """

    hills: Hills
    lo: Any
    hi: Any
    step: float
    factor: float

    @property
    def ends(self) -> tuple[float, float]:
        """The largest u and the smallest v: beyond them all of a slope would lie in the goal."""
        form, cap = self.hills.world.form, self.hills.cap
        u = float(form.inverse(form.psi(self.lo) + cap))
        below = form.psi(self.hi) - cap
        v = float(form.inverse(np.asarray(below))) if below > form.psi(self.lo) else self.lo
        return min(u, self.hi), max(v, self.lo)


@dataclass(frozen=True, eq=False)
class HillRows:
    """Mountains with an ε each; radii are shares of how far they can reach."""

    goal: HillGoal
    move: Move
    epsilon: Array
    u: Array
    v: Array

    @property
    def _sizes(self) -> tuple[Array, Array]:
        """How far the farther and the nearer edge are from the flat part: a little more, and a little less.

        Where ψ is flat at an edge, values on both sides of it are equally far: radii that begin there would pass them.
        """
        psi, beside = self.goal.hills.world.form.psi, _BESIDE * self.goal.hills.cap
        left, right = psi(self.u) - psi(self.goal.lo), psi(self.goal.hi) - psi(self.v)
        low, high = self.goal.hills.world.prior.support
        # Towards an end of the prior there is no rest that could be near.
        near = np.minimum(np.where(self.goal.lo > low, left, np.inf), np.where(self.goal.hi < high, right, np.inf))
        return np.maximum(left, right) + beside, np.minimum(near, self.goal.hills.cap) - beside

    def parts(self, inside: Array, outside: Array, *, whole: bool = False) -> tuple[TurnedPart, TurnedPart]:
        """What is raised and what it is compared with, for radii; with `whole` the last radius is all there is."""
        goal, k = self.goal, self.move * self.epsilon[:, None]
        cap, (reach, near) = goal.hills.cap, self._sizes
        cut_in, cut_out = reach[:, None] * inside, near[:, None] + (cap - near)[:, None] * outside
        with np.errstate(over="ignore", invalid="ignore"):
            flat = goal.hills.world.prior.mass(self.u, self.v)[:, None]
            first, last = np.exp(0 * k), np.exp(-k * cap)
            target = self._turned(self._inside(cut_in), flat, first, cut_in, whole=whole)
            rest = self._turned(self._outside(cut_out), self._far[:, None], last, cut_out, whole=whole)
            target, rest = (target, rest) if self.move > 0 else (rest, target)
            raised = np.exp(self.epsilon * goal.step)[:, None]
        return target.raised(raised), rest

    def _turned(self, told: Pair, tied: Array, level: Array, cut: Array, *, whole: bool) -> TurnedPart:
        """∫hf and ∫Lhf as h becomes κ: nowhere, on what ties, and along radii; first column: all there is."""
        k, more = self.move * self.epsilon[:, None], self.goal.factor - 1
        found: list[Array] = []
        for values, weight in zip(told, (np.ones_like(level), level), strict=True):
            every, turned = values[:, :1] + weight * tied, values[:, 1:] + weight * tied
            if whole:
                turned[:, -1:] = every
            found.append(every + more * np.concatenate([0 * tied, weight * tied, turned], axis=1))
        return TurnedPart(found[0], found[1], np.concatenate([level, level, np.exp(-k * cut)], axis=1))

    def _inside(self, cut: Array) -> Pair:
        """∫f and ∫Lf on both slopes in the goal: all of it, and up to radii."""
        lo, hi = self._edges
        below, above = self._around(cut)
        u, v = self.u[:, None], self.v[:, None]
        left = np.concatenate([lo, np.clip(below, lo, u)], axis=1), u
        right = v, np.concatenate([hi, np.clip(above, v, hi)], axis=1)
        return self._sum(left, right)

    def _outside(self, cut: Array) -> Pair:
        """The same on both slopes outside: all of them, and from radii on."""
        lo, hi = self._edges
        below, above = self._around(cut)
        foot, far = (end[:, None] for end in self._feet)
        left = foot, np.concatenate([lo, np.clip(below, foot, lo)], axis=1)
        right = np.concatenate([hi, np.clip(above, hi, far)], axis=1), far
        return self._sum(left, right)

    @property
    def _edges(self) -> Pair:
        lo, hi = (np.broadcast_to(edge, self.u.shape)[:, None] for edge in (self.goal.lo, self.goal.hi))
        return lo, hi

    def _sum(self, left: Pair, right: Pair) -> Pair:
        world, k = self.goal.hills.world, self.move * self.epsilon
        a, b = one_side(world, k, *left, self.u, 1), one_side(world, k, *right, self.v, -1)
        return a[0] + b[0], a[1] + b[1]

    def _around(self, cut: Array) -> Pair:
        form = self.goal.hills.world.form
        return form.inverse(form.psi(self.u)[:, None] - cut), form.inverse(form.psi(self.v)[:, None] + cut)

    @property
    def _feet(self) -> Pair:
        """Where slopes end; within the rest."""
        form, cap = self.goal.hills.world.form, self.goal.hills.cap
        below, above = form.inverse(form.psi(self.u) - cap), form.inverse(form.psi(self.v) + cap)
        return np.minimum(below, self.goal.lo), np.maximum(above, self.goal.hi)

    @property
    def _far(self) -> Array:
        mass, (below, above), ends = self.goal.hills.world.prior.mass, self._feet, np.full(self.u.shape, np.inf)
        return mass(-ends, below) + mass(above, ends)

    def nearer(self, turns: Array, steps: int) -> Array:
        """Turns that are nearer to the best ones of each mountain."""
        reach, near = self._sizes
        steep = -self.move * self.epsilon * np.stack([reach, self.goal.hills.cap - near])
        return nearer_turns(self.parts, turns, self.move, steep, steps)

    def with_ties(self, inside: Array, outside: Array) -> Pair:
        """Radii, and those just before and just after values that are equally far because ψ is flat there."""
        form, (reach, near) = self.goal.hills.world.form, self._sizes
        low, high = self.goal.hills.world.prior.support
        found = [inside], [outside]
        for slope, start, end in zip(form.slopes, *form.ends, strict=True):
            if slope or end <= low or start >= high:
                continue
            height = form.psi(np.asarray(end if np.isfinite(end) else start))
            away = np.maximum(form.psi(self.u) - height, height - form.psi(self.v))
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = away / reach, (away - near) / (self.goal.hills.cap - near)
            for kept, share in zip(found, shares, strict=True):
                share = np.where(np.isnan(share), 0.0, share)
                kept += [np.clip(share * (1 + way * _BESIDE), 0.0, 1.0)[:, None] for way in (-1, 1)]
        return np.sort(np.concatenate(found[0], axis=1), axis=1), np.sort(np.concatenate(found[1], axis=1), axis=1)


def one_side(world: TiltedIntegrals, k: Array, start: Array, end: Array, ref: Array, side: int) -> Pair:
    """∫f and ∫e^{−k|ψ−ψ(ref)|}f over pieces to the left (side 1) of a value, or to its right (−1), in rows."""
    start, end = np.broadcast_arrays(start, end)
    if world.tables is not None:
        none = np.repeat(ref[:, None], start.shape[1], axis=1), np.repeat(ref[:, None], start.shape[1], axis=1)
        pieces = (start, np.maximum(start, end))
        return world.sides(k, pieces, none, ref) if side > 0 else world.sides(k, none, pieces, ref)
    rates = np.stack([0 * k, side * k])[:, :, None]
    with np.errstate(over="ignore", invalid="ignore"):
        logs = world.log_tilt(*np.broadcast_arrays(rates, start, np.maximum(start, end), ref[:, None]))
        mass, told = np.exp(logs)
    return mass, told


def least_proven(value: Array, close: Array, further: Iterable[float], holds: Callable[[Any, Array], Any]) -> Array:
    """Of lines that lie ever further above what is reached the first that is proven, in each row; 1 where none is."""
    bound, open_ = np.ones(value.size), np.arange(value.size)
    for times in further:
        line = value[open_] + times * close[open_]
        kept = holds(open_, line)
        bound[open_[kept]] = np.minimum(line[kept], 1.0)
        open_ = open_[~kept]
        if not open_.size:
            break
    return bound
