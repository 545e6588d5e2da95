"""Moving the true place is moving the prior: what holds between places whose beliefs are known.

Where distances are straight and correct guesses lie around the true place t, the world seen from t is the same for
every t, but for its prior. A normal prior with covariance Σ moved by t is f(z)·e^{−t·Σ⁻¹z} times a number that cancels
in beliefs. So for every likelihood L the masses N(t) = ∫_G Lf and Z(t) = ∫ Lf are log-convex in t. With corners t_i of
a box and weights θ_i of a place t in it, N(t) ≤ Π N(t_i)^{θ_i}, and Z(t) ≥ e^{−γ} Π Z(t_i)^{θ_i}, where γ adds up w²/8
times the largest second derivative of ln Z along each side of length w. That is the variance of s = (Σ⁻¹z)_i under Lf.
Under f alone s is normal with variance τ² = (Σ⁻¹)_ii, and L averaged over the rest is Lipschitz in it: moving s by 1
moves z by e_i/τ². Of all such L e^{+|s|} spreads s furthest, from which the variance is at most τ²·V(e),
V(e) = 1 + e·(e + φ(e)/Φ(e)), e = ε·d(0, e_i)/τ. Independent numbers have less: of all L that agree on G the one that
lies lowest elsewhere gains most, and it falls from G on in every direction, so that it can pull away from the prior's
mean no further than to the far end of G. Hence

    belief(t) ≤ e^γ Π belief(t_i)^{θ_i}

for the supremum over L as well: second order in the box's size. Before the release the same holds with V = 1, from
which belief after : before exceeds what lies between its corners by no more than (V − 1)τ² and the variance of s within
G lead to, at most the square of Σ_j |Σ⁻¹|_ij r_j where G reaches r_j along every axis. For the smallest belief in G
exchange N's and Z's sides: the variance of s is at least v(e)·τ², v² − (2 + e²)v + 1 = 0, since for the density h of
s/τ, ln h = −s²/2 + g, Cramér and Rao say Var ≥ 1/E[(s − g')²], and E[(s − g')²] = 2 + E[g'²] − E[s²].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import erfc, exp, pi, sqrt

import numpy as np

from guessproof.world import special
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.goals import And, Goal, Near, Norm, Within, combine
from guessproof.world.joint import JointNormal
from guessproof.world.line import LinePrior

_PARTS = {1: 128, 2: 32, 3: 12}  # of each side of a box, in which beliefs between its corners are compared


@dataclass(frozen=True)
class BoxBeliefs:
    """Beliefs at the corners of a box, as logarithms: before (p, q = 1 − p) and at most after (u, v = 1 − u)."""

    log_p: Array
    log_q: Array
    log_u: Array
    log_v: Array


@dataclass(frozen=True)
class Moving:
    """Normal numbers, straight distances, and correct guesses within `reach` of the true place."""

    attributes: Mapping[str, Attribute]  # with straight distances, at least as large as the declared ones
    mean: Array
    covariance: Array
    slopes: Array
    reach: Array
    norm: Norm

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return self.mean.size

    @property
    def sd(self) -> Array:
        """The standard deviation of each number."""
        return np.asarray(np.sqrt(np.diag(self.covariance)), dtype=np.float64)

    @property
    def precision(self) -> Array:
        """The inverse of the covariance."""
        return np.asarray(np.linalg.inv(self.covariance), dtype=np.float64)

    @property
    def is_independent(self) -> bool:
        """Whether the numbers are."""
        return not np.any(self.covariance - np.diag(np.diag(self.covariance)))

    def bend(self, epsilon: float, far: Array) -> Array:
        """The largest second derivative of ln Z along each axis, for places up to `far` from the mean."""
        tau = np.sqrt(np.diag(self.precision))
        ends = (far + self.reach) / self.sd if self.is_independent else np.full(self.count, np.inf)
        pull = epsilon * self.slopes / tau
        return tau**2 * np.array([spread(float(e), float(end)) for e, end in zip(pull, ends, strict=True)])

    def beyond(self, axis: int, at: float, epsilon: float) -> float:
        """No belief in guesses around a place whose number lies `at` or further from its mean exceeds this.

        They lie beyond a = at − reach, and L averaged over the others is Lipschitz in this number. For a normal number
        ∫_a^∞ e^{e(s−a)}φ and ∫_−∞^a e^{−e(a−s)}φ have one factor in common, and their share is P(s > a − e).
        """
        sd = self.sd[axis]
        way = self.covariance[:, axis] / sd  # of all numbers where this one moves by its standard deviation
        rate = epsilon * float(combine(self.norm, list(np.abs(way) * self.slopes)))
        return 0.5 * erfc(((at - self.reach[axis]) / sd - rate) / sqrt(2)) * (1 + 1e-12)

    def bent(self, low: Array, high: Array, epsilon: float, misses: bool) -> Array:
        """How much belief after : before may bend along each axis of a box of places, given as ways from the mean."""
        inside = (np.abs(self.precision) @ self.reach) ** 2
        own = np.diag(self.precision)
        if misses:
            pull = epsilon * self.slopes / np.sqrt(own)
            return inside + own * (1 - _least_spread(pull))
        far = np.maximum(np.abs(low), np.abs(high))
        return inside + self.bend(epsilon, far) - own

    def gap(self, low: Array, high: Array, epsilon: float, misses: bool) -> float:
        """γ of belief after : before in a box of places."""
        return float((high - low) ** 2 / 8 @ self.bent(low, high, epsilon, misses))

    def most(self, corners: BoxBeliefs, low: Array, high: Array, epsilon: float, misses: bool, after: bool) -> float:
        """What no place in a box exceeds: the rise of a belief, or the belief `after`; in guesses, or in `misses`.

        The box has its corners in the order of `product`, along those axes on which it has any length.
        """
        axes = np.flatnonzero(high > low)
        grid = _Grid(axes.size, _PARTS.get(axes.size, 4))
        share = (high - low)[axes] ** 2
        own, ratio = (grid.bumps(share * bend[axes])
                      for bend in (np.diag(self.precision), self.bent(low, high, epsilon, misses)))  # fmt: skip
        if misses:
            held = np.minimum(np.exp(grid.ends(corners.log_q)[1] + own), 1.0)  # the guesses, before
            left = np.exp(np.minimum(grid.ends(corners.log_v - corners.log_q)[0] - ratio, 0.0))
            return float(np.max(held * (1 - left)))
        before = np.minimum(np.exp(grid.ends(corners.log_p)[1] + own), 1.0)
        gain = np.exp(np.maximum(grid.ends(corners.log_u - corners.log_p)[1] + ratio, 0.0))
        if after:
            return float(np.max(np.minimum(before * gain, 1.0)))
        least = np.exp(grid.ends(corners.log_p)[0])
        return float(np.max(np.minimum(before * (gain - 1), 1 - least)))


@dataclass(frozen=True)
class _Grid:
    """A box cut into parts along its sides: what lies between the values at its corners, part by part."""

    size: int
    parts: int

    def ends(self, logs: Array) -> tuple[Array, Array]:
        """The least and the largest weighted mean of the corners' values: it has them at the corners of a part."""
        line = np.linspace(0.0, 1.0, self.parts + 1)
        grid = logs.reshape([2] * self.size)
        for axis in range(self.size):
            first, last = (np.expand_dims(np.take(grid, end, axis=axis), axis) for end in (0, 1))
            weight = line.reshape([-1 if i == axis else 1 for i in range(self.size)])
            grid = first * (1 - weight) + last * weight
        return self._over(grid, np.minimum), self._over(grid, np.maximum)

    def _over(self, grid: Array, pick: Callable[[Array, Array], Array]) -> Array:
        for axis in range(self.size):
            grid = pick(*(np.take(grid, range(k, self.parts + k), axis=axis) for k in (0, 1)))
        return grid.ravel()

    def bumps(self, bends: Array) -> Array:
        """How far a function that bends so much lies above the mean of its corners: θ(1 − θ)/2 along each side."""
        line = np.linspace(0.0, 1.0, self.parts + 1)
        inner = np.clip(0.5, line[:-1], line[1:])
        total = np.zeros([self.parts] * self.size)
        for axis, bend in enumerate(bends):
            shape = [-1 if i == axis else 1 for i in range(self.size)]
            total = total + (0.5 * bend * inner * (1 - inner)).reshape(shape)
        return total.ravel()


def _least_spread(e: Array) -> Array:
    """No variance of a standard normal number is less after a likelihood whose logarithm has slopes up to e."""
    b = 2 + e**2
    return 2 / (b + np.sqrt(b * b - 4)) * (1 - 1e-12)


def spread(e: float, end: float = np.inf) -> float:
    """The largest E[s²] of a standard normal number after a likelihood whose logarithm has slopes up to e.

    Beyond `end` on either side the likelihood does not rise. On each half-line e^{e·min(s, end)} is the largest then.

    >>> spread(0.0), round(spread(1.0), 4), round(spread(1.0, 0.5), 4)
    (1.0, 2.2876, 1.0868)
    """
    if e == 0:
        return 1.0
    a, b = -e, min(end - e, 40.0)
    inner = float(special.ndtr(b) - special.ndtr(a))
    top, low = _bell(b), _bell(a)
    beyond = top * float(special.erfcx((b + e) / sqrt(2))) * sqrt(pi / 2)  # e^{e·end − e²/2}·P(s > end)
    second = inner * (1 + e * e) - (b * top - a * low) - 2 * e * (top - low) + (b + e) * top + beyond
    return second / (inner + beyond) * (1 + 1e-9)


def _bell(x: float) -> float:
    return exp(-x * x / 2) / sqrt(2 * pi)


def moving(attributes: Mapping[str, Attribute], goal: Goal, norm: Norm) -> Moving | None:
    """The goal as guesses around a place in a normal world; None where it is none."""
    reach = _reaches(goal)
    if reach is None or list(reach) != list(attributes) or not 2 <= len(reach) <= 3:
        return None
    members = [_straightened(a) for a in attributes.values()]
    found = [(a, a.prior) for a in members if a is not None and isinstance(a.prior, LinePrior)]
    if len(found) < len(reach):
        return None
    joints = [joint_of(a) for a, _ in found]
    slopes = np.array([1 / a.scale for a, _ in found])
    if all(j is None for j in joints):
        normals = [p for _, prior in found if (p := prior.normal_form) is not None]
        if len(normals) < len(found):
            return None
        mean, covariance = np.array([p.mean for p in normals]), np.diag([p.sd**2 for p in normals])
    else:
        joint = joints[0]
        if not isinstance(joint, JointNormal) or joint.names != tuple(reach):
            return None
        cross = joint.correlation * joint.sd[0] * joint.sd[1]
        mean = np.array(joint.mean)
        covariance = np.array([[joint.sd[0] ** 2, cross], [cross, joint.sd[1] ** 2]])
    return Moving({a.name: a for a, _ in found}, mean, covariance, slopes, np.array(list(reach.values())), norm)


def _reaches(goal: Goal) -> dict[str, float] | None:
    """How far correct guesses lie from the true place along each axis; None where they do not simply move with it."""
    if isinstance(goal, Near):
        return {a.name: goal.radius for a in goal.members}
    if not isinstance(goal, And):
        return None
    parts = [p for p in goal.parts if isinstance(p, Within) and p.radius is not None]
    found = {p.attribute.name: float(p.radius or 0.0) for p in parts}
    return found if len(found) == len(goal.parts) else None


def _straightened(attribute: Attribute) -> Attribute | None:
    """The attribute with a straight distance that is nowhere below its own; None where there is none."""
    form = attribute.distance.line_form
    if form is None or form.step or any(form.jumps) or not 0 < max(form.slopes) < np.inf:
        return None
    if attribute.metric is None and form.is_straight and np.isinf(form.cap):
        return attribute  # the same, so that attacks found for it are attacks on it
    return replace(attribute, metric=None, scale=float(np.nextafter(1 / max(form.slopes), 0)))
