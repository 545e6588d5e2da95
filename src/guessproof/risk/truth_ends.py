"""Boxes of true values: what their ends give the attacker, and what no true value between them exceeds.

The bound by goals alone (`TruthSearch.box`) is of first order. The derivative makes it one of second order: by the
envelope theorem the best tent L may be held fixed, so the belief changes by f(hi)·hi'·L(hi)/Z − f(lo)·lo'·L(lo)/Z with
Z = ∫Lf. The peak c rises with t (at a fixed c the left ratio A/C falls and the right ratio B/D rises), and ln Z is
ε-Lipschitz in c, which encloses the derivative over a box from its two ends. A box on which it keeps its sign is
settled by one end. A step w multiplies the odds by e^w, and the belief's derivative by e^w/(1 + P·(e^w − 1))² where P
is the belief without it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.risk.capped_truths import ratios_of_hills
from guessproof.risk.limits import advantage_of, posterior_of
from guessproof.risk.tent import Tents, log_prior
from guessproof.risk.truth_search import Direction, Range, TruthSearch, signed_rate
from guessproof.world.checks import Array


@dataclass(frozen=True)
class Worst:
    """The best true value found for the attacker, what it gives, and what no true value exceeds."""

    at: float
    value: float
    bound: float
    prior: float


@dataclass(frozen=True)
class Ends:
    """True values, what they give the attacker, and the tent that gives it."""

    t: Array
    value: Array
    bound: Array
    prior: Array
    peak: Array
    log_z: Array
    plain: Array  # the belief without the step
    hill: Array  # of mountains, both pairs in rows (`capped`); of tents nothing

    @classmethod
    def at(
        cls, goal: TruthSearch, t: Array, epsilon: ArrayLike, direction: Direction, guess: Array | None = None
    ) -> Ends:
        """What these true values give; `guess` says where their tents about peak."""
        lo, hi = goal.edges(t)
        before = log_prior(goal.prior, lo, hi)
        return cls.of(goal, t, epsilon, direction, before, goal.tents(lo, hi, epsilon, direction, before, guess))

    @classmethod
    def of(
        cls, goal: TruthSearch, t: Array, epsilon: ArrayLike, direction: Direction, before: Range, tents: Tents
    ) -> Ends:
        """The same where the beliefs before and the tents are known."""
        log_p, log_q = before
        attack, bound = tents.attack, tents.bound
        pointless = np.isneginf(log_q) | np.isneginf(log_p)  # certain or empty at this true value
        attack, bound = np.where(pointless, 0.0, attack), np.where(pointless, 0.0, bound)
        gain = bound
        values = (_measure(log_p, log_q, gain, direction) for gain in (attack, bound))
        possible = goal.prior.log_density(t) > -np.inf
        attack, bound = (np.where(np.isnan(v), 0.0, v) for v in values)
        k = signed_rate(epsilon, direction)
        with np.errstate(invalid="ignore"):
            plain = posterior_of(log_p, log_q, gain - k * goal.form.step)
        value = np.where(possible, attack, -np.inf)
        hill = np.empty((t.size, 0)) if tents.hill is None else tents.hill
        plain = np.where(np.isnan(plain), 0.0, plain)
        return cls(t, value, bound, np.exp(log_p), tents.peak, tents.log_z, plain, hill)

    def guess(self, right: Ends, share: Array) -> Array:
        """Where the tents or mountains of true values between these and others about are, for each share of the way."""
        if self.hill.shape[1]:
            return np.concatenate([(1 - s) * self.hill + s * right.hill for s in share.ravel()])
        return ((1 - share) * self.peak + share * right.peak).ravel()

    def pick(self, which: Any) -> Ends:
        return Ends(*(getattr(self, f.name)[which] for f in fields(self)))

    def join(self, other: Ends) -> Ends:
        return Ends(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)))

    def best(self) -> Worst:
        i = int(np.argmax(self.value))
        return Worst(float(self.t[i]), float(self.value[i]), float(self.bound[i]), float(self.prior[i]))


def _measure(log_p: Array, log_q: Array, gain: Array, direction: Direction) -> Array:
    if direction == "posterior":
        return posterior_of(log_p, log_q, gain)
    return np.abs(advantage_of(log_p, log_q, gain))


def slope_range(
    goal: TruthSearch, left: Ends, right: Ends, epsilon: ArrayLike, direction: Direction
) -> tuple[Array, Array]:
    """An enclosure of the derivative of what the attacker gets, over each box."""
    k = signed_rate(epsilon, direction)
    (lo1, hi1), (lo2, hi2) = goal.edges(left.t), goal.edges(right.t)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        ratio_lo, ratio_hi = ratios_at_edges(goal, left, right, epsilon, direction)
        width = right.t - left.t
        upper, lower = goal.prior.density_range(hi1, hi2), goal.prior.density_range(lo1, lo2)
        flow_in = _times(upper, (hi2 - hi1) / width), _times(lower, (lo2 - lo1) / width)
        belief = _minus(_times(flow_in[0], *ratio_hi), _times(flow_in[1], *ratio_lo))
        factor = _step_factor(left, right, belief, k * goal.form.step)
        # What flows in at an edge raises the belief by L/Z there and the prior by 1: an infinite flow has one sign too.
        before = 0.0 if direction == "posterior" else 1.0
        net_hi, net_lo = (
            (ratio[0] * factor[0] - before, ratio[1] * factor[1] - before) for ratio in (ratio_hi, ratio_lo)
        )
        change = _minus(_times(flow_in[0], *net_hi), _times(flow_in[1], *net_lo))
        least, most = change if direction != "fall" else (-change[1], -change[0])
    return np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)


def ratios_at_edges(
    goal: TruthSearch, left: Ends, right: Ends, epsilon: ArrayLike, direction: Direction
) -> tuple[Range, Range]:
    """Enclosures of L/Z at the lower and at the upper edges, for all tents that peak between those of the two ends."""
    k, psi = signed_rate(epsilon, direction), goal.form.psi
    if np.isfinite(goal.form.cap):
        return ratios_of_hills(goal, left, right, k)
    (lo1, hi1), (lo2, hi2) = goal.edges(left.t), goal.edges(right.t)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        log_z = log_z_range(goal, left, right, epsilon)
        # Where a goal becomes certain its peak may be anywhere: the lower one need not be that of the left end.
        first, last = psi(np.minimum(left.peak, right.peak)), psi(np.maximum(left.peak, right.peak))
        climb_lo = k * (first - psi(lo2)), k * (last - psi(lo1))
        climb_hi = k * (psi(hi1) - last), k * (psi(hi2) - first)
        at_lo, at_hi = (
            (np.exp(-np.maximum(*climb) - log_z[1]), np.exp(-np.minimum(*climb) - log_z[0]))
            for climb in (climb_lo, climb_hi)
        )
    return at_lo, at_hi


def log_z_range(goal: TruthSearch, left: Ends, right: Ends, epsilon: ArrayLike) -> Range:
    """ln Z over each box: it is ε-Lipschitz in the peak, which stays between the peaks of the two ends."""
    drift = np.asarray(epsilon) * np.abs(goal.form.psi(right.peak) - goal.form.psi(left.peak))
    return np.maximum(left.log_z, right.log_z) - drift, np.minimum(left.log_z, right.log_z) + drift


def _step_factor(left: Ends, right: Ends, slope: Range, step: ArrayLike) -> Range:
    """The range of e^w/(1 + P·(e^w − 1))² over a box, P being the belief without the step."""
    if not np.any(step):
        return np.ones(left.t.shape), np.ones(left.t.shape)
    room = (right.t - left.t) * np.maximum(np.abs(slope[0]), np.abs(slope[1]))
    beliefs = np.minimum(left.plain, right.plain) - room, np.maximum(left.plain, right.plain) + room
    ends = [np.exp(step) / (1 + np.clip(p, 0.0, 1.0) * np.expm1(step)) ** 2 for p in beliefs]
    return np.minimum(*ends), np.maximum(*ends)


def _times(x: Range, *by: Array) -> Range:
    """The range of a product with one number, or with anything between two."""
    ends = [a * b for a in x for b in by]
    return np.min(ends, axis=0), np.max(ends, axis=0)


def _minus(x: Range, y: Range) -> Range:
    return x[0] - y[1], x[1] - y[0]


def box_bound(
    goal: TruthSearch,
    left: Ends,
    right: Ends,
    low_slope: Array,
    high_slope: Array,
    epsilon: ArrayLike,
    direction: Direction,
    enough: ArrayLike = np.inf,
) -> Array:
    """The bound that follows from the derivative, and where it matters the smaller of it and the first-order one.

    The first-order bound is at least the larger belief after minus the smaller one before, of the two ends: boxes on
    which that says more than the derivative does, or more than `enough`, need not be asked.
    """
    width = right.t - left.t
    with np.errstate(invalid="ignore"):
        climb, drop = width * np.maximum(high_slope, 0.0), width * np.minimum(low_slope, 0.0)
        by_slope = np.minimum(left.bound + climb, right.bound - drop)
    bound = np.where(np.isnan(by_slope), np.inf, by_slope)
    least = np.maximum(left.bound, right.bound)
    if direction != "posterior":
        sign = 1 if direction == "rise" else -1
        least = np.maximum(left.bound + sign * left.prior, right.bound + sign * right.prior)
        least -= np.minimum(sign * left.prior, sign * right.prior)
    ask = np.flatnonzero((least < bound) & ((least <= enough) | np.isposinf(bound)))
    if ask.size:
        narrow = direction != "fall" and goal.bend * goal.reach < np.min(epsilon)
        look = goal.moved if narrow else goal.box
        bound[ask] = np.fmin(look(left.t[ask], right.t[ask], _of(epsilon, ask), direction), bound[ask])
    return bound


def _of(epsilon: ArrayLike, which: Any) -> Array:
    """The ε of some boxes: one for all, or one for each."""
    epsilon = np.asarray(epsilon)
    return epsilon[which] if epsilon.ndim else epsilon


def in_tails(goal: TruthSearch, left: Ends, right: Ends, direction: Direction) -> Array:
    """What boxes in a memoryless tail do not exceed: a belief after is highest at their nearer end; inf elsewhere.

    Farther out by δ, what lies in and beyond the goal weighs e^{−rδ} times as much, r being the tail's rate. Of a
    log-concave prior everything before it weighs at least that, so that correct guesses lose.
    """
    bound = np.full(left.t.shape, np.inf)
    if direction == "fall" or not (goal.fixed_radius and goal.form.is_straight and goal.prior.is_log_concave):
        return bound
    breaks = [x for x in (*goal.prior.support, *goal.prior.breaks) if np.isfinite(x)]
    for side, near in ((0, right), (1, left)):
        if goal.prior.tails[side] == "memoryless":
            edge = goal.edges(near.t)[1 - side]
            outside = (edge >= max(breaks)) if side == 1 else (edge <= min(breaks))
            after = near.bound if direction == "posterior" else near.bound + near.prior
            bound = np.where(outside, np.minimum(bound, after), bound)
    return bound
