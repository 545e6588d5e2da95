"""Proof that no true value, no wrong prior and no mountain raise a belief by more than R, by boxes of true values.

As in `hill_proof`: for a belief before p, P = p + R, a multiplier μ ≥ 0 and one mountain L that is flat on [u, v],

    F_t(L) = ∫_{G(t)} φ_in(L)·f + ∫_{others} φ_out(L)·f

is the most that any h makes of ∫_target hf·((1−P)ρL − μ(1−p)) + ∫_others hf·(μp − P·L): φ_in and φ_out are convex,
with slopes of at most κ times those of the two integrands. Where F_t ≤ 0 for all mountains that are flat within G(t),
nothing raises a belief from p to more than P at the true value t.

*Between two true values.* Held fixed, L knows nothing of t. Let edges of the goal and p move evenly from t₁ to t₂, by
δ_lo, δ_hi and δ_p, and let Δφ = φ_in − φ_out. Both φ are convex in p, so that all that bends F the other way is at the
edges: F lies above the straight line through what it is at t₁ and at t₂ by at most

    (1/8)·Σ (δ²·(max|f'|·max|Δφ| + max f·κD·ε·ψ'·max L) + 2|δ·δ_p|·max f·max|∂Δφ/∂p|)      over both edges,

as Δφ is monotone in L with a slope of at most κD, D = (1−P)ρ + P, and L changes by no more than εψ' times itself. In p,
Δφ changes by no more than (κ−1)|μ − L| + κ(ρ−1)L. Whatever the density is, F lies above that line by no more than
Σ P(between the edges)·max|Δφ|: from t₁ along p alone F is convex, and what it is there at the last p differs from what
it is at t₂ by that at most; from t₂ it is the same, and the smaller of the two is at most their mean. L at an edge is
between 1 and e^{∓ε·min(cap, the goal's width)}; z is bilinear in L and p, so that φ is largest and smallest at corners.

The best mountain of any t between is flat within [lo(t₁), hi(t₂)]: so if F is at most minus that at t₁ and at t₂, for
all mountains that are flat within there, it is at most 0 for all of them at every t between. There a flat part may
reach beyond the goal of t₁ or of t₂: F = constant + U(u) + V(v) still,

    U(u) = ∫_{x<u} (φ(L(x)) − φ(1))·f     and the same to the right of v,     the constant being all of ∫φ(1)·f,

and beyond the far edge of the goal the integrand is at most what it is at that edge. Between two u, U is at most the
larger of the two, and a little (`hill_proof`).

For one μ all is convex in p. Where many values tie (all that is farther than the cap), a multiplier is right for one p
only: so it may move evenly from μ₁ at the least p of a box to μ₂ at the largest. Then both integrands have the second
derivative 2(μ₂−μ₁)/(p₂−p₁) in p: they lie below their chords where μ rises with p, and elsewhere above them by at most
|μ₂−μ₁|·(p₂−p₁)/4, which costs κ times that. So a box of true values, and of beliefs between two straight lines along
it, is proven by its four corners. Where these lines cross, nothing lies between them, and each is still one along which
F is bounded by its ends; neither leads to where p + R is more than 1, since there a cut-off P would bend.

*Rounding.* Integrals in closed form are off by a few units in the last place of themselves, those from tables by up to
1e−11 of what a table adds up (`tilt_tables`): no more than L can be, 1 or e^{ε·cap}. Both are allowed for.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from guessproof.risk.capped import Hills
from guessproof.risk.misjudged.hills import one_side
from guessproof.risk.misjudged.tents import Move
from guessproof.world.checks import Array
from guessproof.world.line import Normal

Pair = tuple[Array, Array]

_FARTHEST, _HALVINGS = 30.0, 26  # ln μ at most, and how closely it is looked for
_ROUNDING, _BY_TABLES = 4e-14, 4e-11  # as shares of what is added up: closed forms, and integrals from tables


@dataclass(frozen=True, eq=False)
class CappedWorld:
    """A prior under a distance with a cap, wrong by a factor, and a belief that moves one way."""

    hills: Hills
    step: float
    factor: float
    move: Move

    def psi(self, x: Array) -> Array:
        return np.asarray(self.hills.world.form.psi(x))

    def at(self, height: Array) -> Array:
        return np.asarray(self.hills.world.form.inverse(height))

    @cached_property
    def normal(self) -> Normal | None:
        return self.hills.world.prior.normal_form

    def mass(self, a: Array, b: Array) -> Array:
        """P(a ≤ X ≤ b), to about 1e−15 of what lies beyond its nearer end: what is far may be told much."""
        b = np.maximum(a, b)
        if self.normal is None:
            return np.asarray(self.hills.world.prior.quick_mass(a, b))
        first, last = ((x - self.normal.mean) / self.normal.sd for x in (a, b))
        above = first > 0
        return special.ndtr(np.where(above, -first, last)) - special.ndtr(np.where(above, -last, first))

    @cached_property
    def rounding(self) -> float:
        """Of sums of integrals, each with κ: by which share they may be off."""
        return self.factor * (_ROUNDING if self.hills.world.tables is None else _BY_TABLES)

    def told(self, k: Array, start: Array, end: Array, ref: Array, side: int) -> Pair:
        """∫f and ∫e^{−k|ψ−ψ(ref)|}f over pieces to the left (side 1) of a value, or to its right (−1), in rows."""
        world = self.hills.world
        if world.tables is not None:
            return one_side(world, k, start, end, ref, side)
        rates = np.broadcast_to(side * k[:, None], start.shape)
        logs = world.log_tilt(rates, start, np.maximum(start, end), np.broadcast_to(ref[:, None], start.shape))
        return self.mass(start, end), np.exp(logs)


@dataclass(frozen=True, eq=False)
class BeliefLines:
    """Beliefs before and after, a multiplier, an ε and a goal in each row: φ, and where h turns."""

    world: CappedWorld
    epsilon: Array
    lo: Array
    hi: Array
    before: Array
    after: Array
    mu: Array

    def pick(self, some: Any) -> BeliefLines:
        return BeliefLines(self.world, *(getattr(self, f.name)[some] for f in fields(self)[1:]))

    def within(self, share: Array) -> Array:
        """Flat parts that begin and end at shares of the goal."""
        return self.lo + share * (self.hi - self.lo)

    @property
    def k(self) -> Array:
        return self.world.move * self.epsilon

    @property
    def slopes(self) -> tuple[Pair, Pair]:
        """The integrand without h as αL + β: inside and outside of the goal."""
        target = (1 - self.after) * np.exp(self.epsilon * self.world.step), -self.mu * (1 - self.before)
        others = -self.after, self.mu * self.before
        return (target, others) if self.world.move > 0 else (others, target)

    def phi(self, told: Array) -> Pair:
        """φ inside and outside, for a likelihood."""
        found = (a * told + b for a, b in self.slopes)
        inside, outside = (np.where(z > 0, self.world.factor, 1.0) * z for z in found)
        return inside, outside

    @property
    def radii(self) -> Pair:
        """How far from the flat part h turns inside, and outside."""
        (a, b), (c, d) = self.slopes
        return -np.log(-b / a) / self.k, -np.log(-d / c) / self.k

    @property
    def rounding(self) -> Array:
        """By how much F may be off: each integral by a share of the most that L, and what it is taken times, can be."""
        slopes = np.sum([np.abs(v) for pair in self.slopes for v in pair], axis=0)
        return self.world.rounding * slopes * np.maximum(np.exp(-self.k * self.world.hills.cap), 1.0)

    @property
    def constant(self) -> Array:
        """∫φ(1)·f."""
        inside, outside = self.phi(np.ones(self.k.shape))
        there = self.world.mass(self.lo, self.hi)
        return inside * there + outside * (1 - there)

    def side(self, at: Array, side: int) -> Array:
        """U (side 1) or V (−1) at the ends of flat parts, one a row."""
        world, cap, more = self.world, self.world.hills.cap, self.world.factor - 1
        nearer, farther = (np.minimum, np.maximum) if side < 0 else (np.maximum, np.minimum)
        edge, other = (self.lo, self.hi) if side > 0 else (self.hi, self.lo)
        height, (inner, outer) = world.psi(at), self.radii

        def there(radius: Array) -> Array:
            return np.where(radius > 0, world.at(height - side * np.maximum(radius, 0.0)), at)

        def within(x: Array, far: Array, near: Array) -> Array:
            return farther(nearer(x, far), near)

        foot = there(np.full(at.shape, cap))
        outside, inside = farther(edge, at), farther(other, at)  # where the rest ends, and the goal
        rest_foot, goal_foot = farther(foot, outside), within(foot, outside, inside)
        turn_in = within(there(inner), goal_foot, inside)
        turn_out = within(there(np.minimum(outer, cap)), rest_foot, outside)
        starts = np.stack([goal_foot, turn_in, rest_foot, rest_foot], axis=1)
        ends = np.stack([inside, inside, outside, turn_out], axis=1)
        mass, told = world.told(self.k, *((starts, ends) if side > 0 else (ends, starts)), at, side)
        infinite = np.full(at.shape, -side * np.inf)
        pieces = ((infinite, rest_foot), (outside, goal_foot), (other, at))
        beyond, far_in, across = (world.mass(*(p if side > 0 else p[::-1])) for p in pieces)
        (a, b), (c, d) = self.slopes
        found = a * (told[:, 0] + more * told[:, 1]) + b * (mass[:, 0] + more * mass[:, 1])
        found += c * (told[:, 2] + more * told[:, 3]) + d * (mass[:, 2] + more * mass[:, 3])
        flat, last = self.phi(np.ones(at.shape)), self.phi(np.exp(-self.k * cap))
        found += last[0] * far_in + last[1] * beyond
        found -= flat[0] * (mass[:, 0] + far_in) + flat[1] * (mass[:, 2] + beyond)
        # A flat part that begins beyond the goal's far edge: between the two at most what is at that edge.
        low = self.phi(np.exp(-self.k * side * (height - world.psi(inside))))[1]
        return found + np.maximum(low - flat[1], 0.0) * across

    def between(self, first: Array, last: Array, side: int) -> Array:
        """By how much U or V between two ends may exceed the larger of what it is at them."""
        world, cap = self.world, self.world.hills.cap
        low, high = world.psi(first), world.psi(last)
        size = world.factor * np.tanh(0.25 * self.epsilon * (high - low))
        feet = world.at(low - side * cap), world.at(high - side * cap)
        (a, _), (c, _) = self.slopes
        return size * (np.abs(a) * world.mass(first, last) + np.abs(c) * np.exp(-self.k * cap) * world.mass(*feet))

    def believed(self, flat: Array | Pair) -> Array:
        """The belief before, under the h that the multiplier leads to beside a flat part; it falls as that rises."""
        world, (inner, outer), (u, v) = self.world, self.radii, flat
        more, away = world.factor - 1, np.maximum(inner, 0.0)
        heights = world.psi(u), world.psi(v)
        a, b = world.at(heights[0] - away), world.at(heights[1] + away)
        turned = np.where(inner < 0, 0.0, world.mass(np.maximum(a, self.lo), np.minimum(b, self.hi)))
        out = np.maximum(outer, 0.0)
        c, d = (np.where(outer > 0, world.at(h + s * out), e) for h, s, e in ((heights[0], -1, u), (heights[1], 1, v)))
        rest = 1 - world.mass(np.minimum(c, self.lo), np.maximum(d, self.hi))
        rest = np.where(outer > world.hills.cap, 0.0, rest)
        there = world.mass(self.lo, self.hi)
        inside, outside = there + more * turned, 1 - there + more * rest
        return (inside if world.move > 0 else outside) / (inside + outside)


def multipliers(lines: BeliefLines, flat: Array | Pair) -> Array:
    """With which the best h beside a flat part has the beliefs before that the rows ask for.

    With a smaller one than all at which h turns somewhere h is κ on all of the target and 1 elsewhere; with a larger
    one it is the other way round.
    """
    raised, last = np.exp(lines.epsilon * lines.world.step), -lines.k * lines.world.hills.cap
    ends = np.log(raised * (1 - lines.after) / (1 - lines.before)), np.log(lines.after / lines.before)
    turns = np.clip(np.stack([ends[0], ends[0] + last, ends[1], ends[1] + last]), -_FARTHEST, _FARTHEST)
    low, high = np.min(turns, axis=0), np.max(turns, axis=0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        short = replace(lines, mu=np.exp(middle)).believed(flat) > lines.before
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.exp(0.5 * (low + high))


@dataclass(frozen=True, eq=False)
class Hull:
    """Goals of all true values of a box: both edges at its first and at its last one."""

    lo: Pair
    hi: Pair

    def ends(self, world: CappedWorld, side: int) -> Pair:
        """Between which values flat parts begin (side 1) or end.

        Beyond these all of a slope would lie in the goal, and a wider flat part tells more.
        """
        first, last = self.lo[0], self.hi[1]
        if side > 0:
            last = np.minimum(last, world.at(world.psi(self.lo[1]) + world.hills.cap))
        else:
            first = np.maximum(first, world.at(world.psi(self.hi[0]) - world.hills.cap))
        return first, np.maximum(first, last)


@dataclass(frozen=True, eq=False)
class LargestHill:
    """The largest F in each row: at flat parts that were looked at, and of all; and where it is."""

    seen: Array
    most: Array
    flat: Array


def largest(lines: BeliefLines, hull: Hull, centres: Array, count: int, narrow: float) -> LargestHill:
    """The largest F of all mountains that are flat within a hull, looked at around some of them."""
    sides = [_along(lines, hull, centre, side, count, narrow) for centre, side in zip(centres, (1, -1), strict=True)]
    (u, u_values, u_most), (v, v_values, v_most) = sides
    constant = lines.constant + lines.rounding
    every = np.arange(u.shape[0])
    seen, i, j = _in_order(u, u_values, v, v_values)
    most = constant + _in_order(u[:, :-1], u_most, v[:, 1:], v_most)[0]
    return LargestHill(constant + seen, np.where(np.isnan(most), np.inf, most), np.stack([u[every, i], v[every, j]]))


def _along(
    lines: BeliefLines, hull: Hull, centre: Array, side: int, count: int, narrow: float
) -> tuple[Array, Array, Array]:
    """Places at which flat parts begin (side 1) or end, U or V there, and what it is at most in each cell."""
    (start, end), every = hull.ends(lines.world, side), np.arange(centre.size)
    share = np.clip((centre - start) / np.maximum(end - start, 1e-300), 0.0, 1.0)
    places = start[:, None] + (end - start)[:, None] * _dense(share, count, narrow)
    values = lines.pick(np.repeat(every, count)).side(places.ravel(), side).reshape(places.shape)
    first, last = places[:, :-1].ravel(), places[:, 1:].ravel()
    more = lines.pick(np.repeat(every, count - 1)).between(first, last, side).reshape(values[:, 1:].shape)
    return places, values, np.maximum(values[:, :-1], values[:, 1:]) + more


def _dense(centre: Array, count: int, narrow: float) -> Array:
    """Shares from 0 to 1 around each centre, as far apart on one side of it as on the other, in rows.

    Cells beside the best flat part prove least: where it is near an end, those on the other side must not be wider.
    """
    away = narrow * np.sinh(np.linspace(-1.0, 1.0, count) * np.arcsinh(1 / narrow))
    made = np.clip(centre[:, None] + away, 0.0, 1.0)
    made[:, 0], made[:, -1] = 0.0, 1.0
    return made


def _in_order(
    u: Array, u_values: Array, v: Array, v_values: Array
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """The largest U(u) + V(v) with u ≤ v in each row, and at which of both."""
    every, wide = np.arange(u.shape[0]), float(np.max(v) - np.min(u))
    # Rows one after the other along a line: how many u come before each v, or are the same but for rounding.
    apart = 4 * wide * every[:, None] - np.minimum(np.min(u, axis=1), np.min(v, axis=1))[:, None]
    before = np.searchsorted((u + apart).ravel(), (v + apart + 1e-9 * wide).ravel(), side="right")
    before = np.clip(before.reshape(v.shape) - u.shape[1] * every[:, None], 0, u.shape[1])
    most = np.maximum.accumulate(u_values, axis=1)
    both = np.where(before > 0, v_values + np.take_along_axis(most, np.maximum(before - 1, 0), axis=1), -np.inf)
    both = np.where(np.isnan(both), np.inf, both)
    j = np.argmax(both, axis=1)
    i = np.argmax(u_values >= most[every, np.maximum(before[every, j] - 1, 0)][:, None], axis=1)
    return both[every, j], i, j
