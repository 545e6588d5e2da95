"""Proof that no wrong prior and no mountain raise a belief by more than R: a multiplier, and two searches along a line.

Let p be the belief before, P = p + R, and ρ = e^{ε·step}. If some h and some mountain L have a belief of at most p
before and of more than P after it, then for every μ ≥ 0

    ∫_target hf·((1−P)·ρL − μ(1−p)) + ∫_others hf·(μp − P·L) > 0.

The largest h is taken point by point, κ where the integrand is positive and 1 elsewhere, which leaves ∫φ(L, x)·f with
φ convex in L. L is that of the left slope to the left of u, 1 up to v, and that of the right slope beyond: so the
integral is U(u) + V(v) and a constant, and its largest value with u ≤ v is found along u and along v. With s =
e^{−εψ(u)} the left slope at x is min(1, max(e^{−W}, s·e^{εψ(x)})): between u₁ and u₂ it is a mixture of the two but
for x between them, where it is higher by tanh(Δ/4) at most, Δ = ε(ψ(u₂) − ψ(u₁)), and for x between the feet of both,
where it is lower by e^{−W}·tanh(Δ/4) at most (for basins lower between them, and higher by e^W as much between the
feet). As φ is convex, U between them is at most the larger of the two, and that little times the steepest slope of φ.
For one μ all is convex in p: an interval of beliefs is proven by its two ends.

At the attack μ is (A+B)/(a+b), the mean of L; at other p it is the one with which h of the attack's flat part has the
belief p. Any other would prove too, or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.capped import best_mountains
from guessproof.risk.misjudged.hills import HillGoal, one_side
from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.turns import dense
from guessproof.risk.tent import log_prior
from guessproof.world.checks import Array
from guessproof.world.line import expit

_BELIEFS = 12  # ends of intervals of beliefs
_PLACES = (
    9,
    17,
    33,
    49,
    65,
    97,
    129,
)  # ends of flat parts: where that does not prove an interval, it is halved, with more of them
_NARROW = 0.15  # the share of a range in which places are even
_HALVINGS = 26
_LOWEST, _HIGHEST = -4.0, 3.0  # ln μ beside that of the attack

Pair = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class ProofRows:
    """Beliefs before and after, a multiplier and an ε in each row: φ, and where h turns."""

    goal: HillGoal
    move: Move
    epsilon: Array
    before: Array
    after: Array
    mu: Array

    def pick(self, some: NDArray[Any]) -> ProofRows:
        parts = (v[some] for v in (self.epsilon, self.before, self.after, self.mu))
        return ProofRows(self.goal, self.move, *parts)

    @property
    def k(self) -> Array:
        return self.move * self.epsilon

    @property
    def lines(self) -> tuple[Pair, Pair]:
        """The integrand without h as αL + β: inside and outside of the goal."""
        target = (1 - self.after) * np.exp(self.epsilon * self.goal.step), -self.mu * (1 - self.before)
        others = -self.after, self.mu * self.before
        return (target, others) if self.move > 0 else (others, target)

    @property
    def radii(self) -> Pair:
        """How far from the flat part h turns inside, and outside."""
        (a, b), (c, d) = self.lines
        return -np.log(-b / a) / self.k, -np.log(-d / c) / self.k

    @property
    def flat(self) -> Array:
        """φ on the flat part."""
        (a, b), _ = self.lines
        return (a + b) * np.where(a + b > 0, self.goal.factor, 1.0)

    def side(self, at: Array, side: int) -> Array:
        """U (side 1) or V (−1) at the ends of flat parts, one a row."""
        goal, world, cap, more = self.goal, self.goal.hills.world, self.goal.hills.cap, self.goal.factor - 1
        form, (inner, outer) = world.form, self.radii
        height = form.psi(at)
        edge = np.full(at.shape, goal.lo if side > 0 else goal.hi)

        def there(radius: Array) -> Array:
            # What ties with the end itself is not passed by a radius of nothing.
            return np.where(radius > 0, form.inverse(height - side * np.maximum(radius, 0.0)), at)

        foot = there(np.full(at.shape, cap))
        nearer, farther = (np.minimum, np.maximum) if side < 0 else (np.maximum, np.minimum)
        foot = farther(foot, edge)
        turn_in = nearer(farther(there(inner), at), edge)
        turn_out = farther(nearer(there(np.minimum(outer, cap)), foot), edge)
        starts, ends = np.stack([edge, turn_in, foot, foot], axis=1), np.stack([at, at, edge, turn_out], axis=1)
        mass, told = one_side(world, self.k, *((starts, ends) if side > 0 else (ends, starts)), at, side)
        beyond = world.prior.mass(
            *((np.full(at.shape, -np.inf), foot) if side > 0 else (foot, np.full(at.shape, np.inf)))
        )
        (a, b), (c, d) = self.lines
        found = a * (told[:, 0] + more * told[:, 1]) + b * (mass[:, 0] + more * mass[:, 1])
        found += c * (told[:, 2] + more * told[:, 3]) + d * (mass[:, 2] + more * mass[:, 3])
        far = c * np.exp(-self.k * cap) + d
        found += far * np.where(outer < cap, 1 + more, 1.0) * beyond
        return found - self.flat * mass[:, 0]

    def between(self, first: Array, last: Array, side: int) -> Array:
        """By how much U or V between two ends may exceed the larger of what it is at them."""
        world, cap, factor = self.goal.hills.world, self.goal.hills.cap, self.goal.factor
        psi, inverse, mass = world.form.psi, world.form.inverse, world.prior.mass
        size = factor * np.tanh(0.25 * self.epsilon * (psi(last) - psi(first)))
        feet = inverse(psi(first) - side * cap), inverse(psi(last) - side * cap)
        (a, _), (c, _) = self.lines
        return size * (np.abs(a) * mass(first, last) + np.abs(c) * np.exp(-self.k * cap) * mass(*feet))


@dataclass(frozen=True, eq=False)
class HillProof:
    """One goal whose belief moves one way, with the best attacks at some ε: their flat parts and beliefs."""

    goal: HillGoal
    move: Move
    epsilon: Array
    flat: Pair
    mean: Array  # (A + B)/(a + b) of the attack
    before: Array  # and the belief that it starts from

    @cached_property
    def most(self) -> Array:
        """The largest belief after a release: that under the declared prior, with κ times the odds."""
        goal, world = self.goal, self.goal.hills.world
        form = replace(world.form, cap=goal.hills.cap)
        log_p, log_q = log_prior(world.prior, goal.lo, goal.hi)
        gain = best_mountains(world.prior, form, goal.lo, goal.hi, self.move * self.epsilon, (log_p, log_q)).bound
        odds = self.move * (log_p - log_q + gain) + self.epsilon * goal.step + np.log(goal.factor)
        return np.asarray(expit(odds)) * (1 + 1e-12)

    def holds(self, rise: Array) -> NDArray[np.bool_]:
        """Whether it is proven that nothing raises the belief by more, for each ε."""
        ends, every = self._beliefs, np.arange(self.epsilon.size)
        mu = self._multipliers(np.repeat(every, ends.shape[1]), ends.ravel(), rise).reshape(ends.shape)
        which = np.repeat(every, ends.shape[1] - 1)
        low, high, middle = (v.ravel() for v in (ends[:, :-1], ends[:, 1:], np.sqrt(mu[:, :-1] * mu[:, 1:])))
        centres, open_ = np.stack([e[which] for e in self.flat]), np.ones(which.size, dtype=bool)
        for count in _PLACES:
            top = np.minimum(high, (self.most - rise)[which])  # from a larger belief it would rise above all others
            value, centres = self._most(which, (low, top), middle, rise[which], centres, count)
            open_ = (value > 0) & (low < top)
            if not open_.any() or count == _PLACES[-1]:
                break
            which, low, high, centres = which[open_], low[open_], high[open_], centres[:, open_]
            halfway = 0.5 * (low + high)
            which, centres = np.tile(which, 2), np.tile(centres, (1, 2))
            low, high = np.append(low, halfway), np.append(halfway, high)
            middle = self._multipliers(which, 0.5 * (low + high), rise)
        return ~np.isin(every, which[open_])

    @property
    def _beliefs(self) -> Array:
        """Beliefs that a move may start from, dense around that of the attack."""
        prior, factor = self._prior, self.goal.factor
        low, high = (float(with_odds_of(prior, f)) for f in (1 / factor, factor))
        share = np.clip((self.before - low) / max(high - low, 1e-300), 0.0, 1.0)
        return low + (high - low) * dense(share, _BELIEFS, 0.1)

    @property
    def _prior(self) -> float:
        inside = float(self.goal.hills.world.prior.mass(self.goal.lo, self.goal.hi))
        return inside if self.move > 0 else 1 - inside

    def _multipliers(self, which: NDArray[np.int64], before: Array, rise: Array) -> Array:
        """With which the attack's flat part and the best h have such a belief before."""
        low, high = np.full(which.size, _LOWEST), np.full(which.size, _HIGHEST)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            short = self._turned_belief(which, self.mean[which] * np.exp(middle), before, rise) > before
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return self.mean[which] * np.exp(0.5 * (low + high))

    def _turned_belief(self, which: NDArray[np.int64], mu: Array, before: Array, rise: Array) -> Array:
        """The belief before, under the h that a multiplier leads to; it falls as the multiplier rises."""
        after = np.minimum(before + rise[which], 1 - 1e-12)
        rows = ProofRows(self.goal, self.move, self.epsilon[which], before, after, mu)
        goal, mass, more = self.goal, self.goal.hills.world.prior.mass, self.goal.factor - 1
        form, (inner, outer), (u, v) = goal.hills.world.form, rows.radii, (e[which] for e in self.flat)
        away = np.maximum(inner, 0.0)
        a, b = form.inverse(form.psi(u) - away), form.inverse(form.psi(v) + away)
        turned = np.where(inner < 0, 0.0, mass(np.maximum(a, goal.lo), np.minimum(b, goal.hi)))
        c, d = (
            np.where(outer > 0, form.inverse(form.psi(e) + s * np.maximum(outer, 0.0)), e) for e, s in ((u, -1), (v, 1))
        )
        ends = np.full(which.size, np.inf)
        rest = mass(-ends, np.minimum(c, goal.lo)) + mass(np.maximum(d, goal.hi), ends)
        rest = np.where(outer > goal.hills.cap, 0.0, rest)
        inside = float(mass(goal.lo, goal.hi))
        inside, outside = inside + more * turned, 1 - inside + more * rest
        target = inside if self.move > 0 else outside
        return target / (inside + outside)

    def _most(
        self, which: NDArray[np.int64], beliefs: Pair, mu: Array, rise: Array, centres: Array, count: int
    ) -> Pair:
        """The largest value of the integral over each interval of beliefs, and the flat part that it has there.

        An interval is proven where it is not positive.
        """
        found = np.full(which.size, -np.inf)
        for before in beliefs:
            rows = ProofRows(self.goal, self.move, self.epsilon[which], before, np.minimum(before + rise, 1.0), mu)
            value = rows.flat * float(self.goal.hills.world.prior.mass(self.goal.lo, self.goal.hi))
            sides = [self._along(rows, at, side, count) for at, side in zip(centres, (1, -1), strict=True)]
            both, there = self._in_order(sides[0], sides[1])
            value = np.where(np.isnan(value + both), np.inf, value + both)
            centres = np.where(value > found, there, centres)
            found = np.maximum(found, value)
        return found, centres

    def _in_order(self, left: Pair, right: Pair) -> Pair:
        """The largest U(u) + V(v) with u ≤ v, and the middles of the cells where it is."""
        (u_values, u), (v_values, v), every = left, right, np.arange(left[0].shape[0])
        # Rows one after the other along a line: how many cells of u begin before a cell of v ends.
        apart = 4 * (self.goal.hi - self.goal.lo) * every[:, None]
        before = np.searchsorted((u[:, :-1] + apart).ravel(), (v[:, 1:] + apart).ravel(), side="right")
        before = before.reshape(v_values.shape) - u_values.shape[1] * every[:, None]
        most = np.maximum.accumulate(u_values, axis=1)
        both = np.where(before > 0, v_values + np.take_along_axis(most, np.maximum(before - 1, 0), axis=1), -np.inf)
        j = np.argmax(both, axis=1)
        i = np.argmax(u_values >= most[every, np.maximum(before[every, j] - 1, 0)][:, None], axis=1)
        there = np.stack([0.5 * (u[every, i] + u[every, i + 1]), 0.5 * (v[every, j] + v[every, j + 1])])
        return both[every, j], there

    def _along(self, rows: ProofRows, centre: Array, side: int, count: int) -> Pair:
        """What U or V is at most in each cell of a row, and the ends of cells."""
        goal, (most, least), every = self.goal, self.goal.ends, np.arange(centre.size)
        start, end = (goal.lo, most) if side > 0 else (least, goal.hi)
        share = np.clip((centre - start) / max(end - start, 1e-300), 0.0, 1.0)
        places = start + (end - start) * dense(share, count, _NARROW)
        values = rows.pick(np.repeat(every, count)).side(places.ravel(), side).reshape(places.shape)
        first, last = places[:, :-1].ravel(), places[:, 1:].ravel()
        more = rows.pick(np.repeat(every, count - 1)).between(first, last, side)
        between = np.maximum(values[:, :-1], values[:, 1:]) + more.reshape(values[:, 1:].shape)
        return between, places
