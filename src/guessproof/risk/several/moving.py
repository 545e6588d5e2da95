"""Moving the true place is moving the prior: what holds between places whose beliefs are known.

Where distances are straight and correct guesses lie around the true place t, the world seen from t is the same for
every t, but for its prior. With corners t_i of a box and weights θ_i of a place t in it, N(t) = ∫_G Lf is at most
e^γ Π N(t_i)^{θ_i} for every likelihood L, and Z(t) = ∫ Lf at least e^{−γ'} Π Z(t_i)^{θ_i}, where γ and γ' add up w²/8
times the largest −(ln N)'' and (ln Z)'' along each side of length w (`bends`, `edged_bends`). Hence

    belief(t) ≤ e^{γ+γ'} Π belief(t_i)^{θ_i}

for the supremum over L as well: second order in the box's size. The same holds before the release, without L, so that
belief after : before exceeds what lies between its corners by no more than what both bend apart. For the smallest
belief in G exchange N's and Z's sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from guessproof.risk.several.bends import Bends, NormalBends
from guessproof.risk.several.edged_axis import EdgedAxis, Pieces
from guessproof.risk.several.edged_bends import EdgedBends
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.near import disc_prior
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.goals import And, Goal, Near, Norm, Within
from guessproof.world.joint import JointNormal
from guessproof.world.line import LinePrior

_PARTS = {1: 128, 2: 32, 3: 12}  # of each side of a box, in which beliefs between its corners are compared
_ENDLESS = 700.0
_WIDE = 0.2  # γ of a box that is looked at in fewer parts


@dataclass(frozen=True)
class BoxBeliefs:
    """Beliefs at the corners of a box, as logarithms: before (p, q = 1 − p) and at most after (u, v = 1 − u)."""

    log_p: Array
    log_q: Array
    log_u: Array
    log_v: Array


@dataclass(frozen=True)
class Moving:
    """Numbers with straight distances, correct guesses around the true place, and how much beliefs bend as it moves."""

    attributes: Mapping[str, Attribute]  # with straight distances, at least as large as the declared ones
    mean: Array  # from which ways to places are measured
    sd: Array
    slopes: Array
    bends: Bends
    mirrored: tuple[bool, ...]  # whether places on both sides of the mean are alike, number by number
    is_even: bool = False  # whether the numbers can change places

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return self.mean.size

    def place(self, way: Array) -> Array:
        """The place at the end of a way: none outside of the prior, rounding apart."""
        ends = [a.prior.support for a in self.attributes.values() if isinstance(a.prior, LinePrior)]
        return np.clip(way + self.mean, [e[0] for e in ends], [e[1] for e in ends])

    @property
    def is_normal(self) -> bool:
        """Whether all numbers are."""
        return isinstance(self.bends, NormalBends)

    @property
    def is_log_concave(self) -> bool:
        """Whether all densities are: so is the belief before, as the place moves, and lies nowhere below its chords."""
        return all(a.prior.is_log_concave for a in self.attributes.values() if isinstance(a.prior, LinePrior))

    def bent(self, low: Array, high: Array, epsilon: float, misses: bool) -> Array:
        """How much belief after : before may bend along each axis of a box of places, given as ways from the mean."""
        (least, most), (still, stirred) = (self.bends.goal(low, high, e) for e in (epsilon, 0.0))
        (slow, fast), (kept, grown) = (self.bends.rest(low, high, e) for e in (epsilon, 0.0))
        bent = most - slow - still + grown if misses else fast - least + stirred - kept
        return _finite(bent)

    def own(self, low: Array, high: Array) -> Array:
        """How much the belief before may bend down along each axis."""
        bent = self.bends.rest(low, high, 0.0)[1] - self.bends.goal(low, high, 0.0)[0]
        return _finite(bent)

    def apart(self, low: Array, high: Array, epsilon: float) -> tuple[Array, Array]:
        """How much the belief after may bend down, and the belief before up."""
        (least, _), (_, most) = (self.bends.goal(low, high, e) for e in (epsilon, 0.0))
        (_, fast), (slow, _) = (self.bends.rest(low, high, e) for e in (epsilon, 0.0))
        return _finite(fast - least), _finite(most - slow)

    def gap(self, low: Array, high: Array, epsilon: float, misses: bool) -> float:
        """γ of belief after : before in a box of places."""
        return float((high - low) ** 2 / 8 @ self.bent(low, high, epsilon, misses))

    def most(self, corners: BoxBeliefs, low: Array, high: Array, epsilon: float, misses: bool, after: bool) -> float:
        """What no place in a box exceeds: the rise of a belief, or the belief `after`; in guesses, or in `misses`.

        The box has its corners in the order of `product`, along those axes on which it has any length.
        """
        axes = np.flatnonzero(high > low)
        share = (high - low)[axes] ** 2
        bends = [bend[axes] for bend in (self.own(low, high), self.bent(low, high, epsilon, misses))]
        wide = float(share @ bends[1]) > 8 * _WIDE
        grid = _Grid(axes.size, 4 if wide else _PARTS.get(axes.size, 4))
        own, ratio = (grid.bumps(share * bend) for bend in bends)
        if misses:
            held = np.exp(np.minimum(grid.ends(corners.log_q)[1] + own, 0.0))  # the guesses, before
            left = np.exp(np.minimum(grid.ends(corners.log_v - corners.log_q)[0] - ratio, 0.0))
            return float(np.max(held * (1 - left)))
        before = np.minimum(grid.ends(corners.log_p)[1] + own, 0.0)
        gain = np.maximum(grid.ends(corners.log_u - corners.log_p)[1] + ratio, 0.0)
        then = np.exp(np.minimum(before + gain, 0.0))  # in one step: a belief that is no number before is one after
        if after:
            return float(np.max(then))
        least = grid.ends(corners.log_p)[0]
        rise = np.where(gain < _ENDLESS, np.exp(before) * np.expm1(np.minimum(gain, _ENDLESS)), then)
        if self.is_normal:
            return float(np.max(np.minimum(rise, 1 - np.exp(least))))
        # What bends in the belief before and after alike is not known to cancel there.
        over, under = (grid.bumps(share * bend[axes]) for bend in self.apart(low, high, epsilon))
        above = np.exp(np.minimum(grid.ends(corners.log_u)[1] + over, 0.0))
        below = np.exp(least if self.is_log_concave else least - under)
        return float(np.max(np.minimum(rise, above - below)))


def _finite(bends: Array) -> Array:
    """Bends that can be multiplied with the length of a side, be it 0."""
    return np.clip(np.where(np.isnan(bends), np.inf, bends), 0.0, 1e300)


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


def moving(attributes: Mapping[str, Attribute], goal: Goal, norm: Norm) -> Moving | None:
    """The goal as guesses around a place that moves; None where it is none, or the priors are not such."""
    reach = _reaches(goal)
    if reach is None or list(reach) != list(attributes) or not 2 <= len(reach) <= 3:
        return None
    members = [_straightened(a) for a in attributes.values()]
    found = [(a, a.prior) for a in members if a is not None and isinstance(a.prior, LinePrior)]
    if len(found) < len(reach):
        return None
    world = {a.name: a for a, _ in found}
    joints = [joint_of(a) for a in world.values()]
    slopes, radii = np.array([1 / a.scale for a in world.values()]), np.array(list(reach.values()))
    if all(j is None for j in joints):
        priors = [prior for _, prior in found]
        normals = [bell for prior in priors if (bell := prior.normal_form) is not None]
        if len(normals) < len(priors):
            return _edged(world, priors, goal, norm, slopes, radii)
        mean, covariance = np.array([p.mean for p in normals]), np.diag([p.sd**2 for p in normals])
    else:
        joint = joints[0]
        if not isinstance(joint, JointNormal) or joint.names != tuple(reach):
            return None
        cross = joint.correlation * joint.sd[0] * joint.sd[1]
        mean = np.array(joint.mean)
        covariance = np.array([[joint.sd[0] ** 2, cross], [cross, joint.sd[1] ** 2]])
    bends = NormalBends(covariance, slopes, radii, norm)
    sd = np.asarray(np.sqrt(np.diag(covariance)), dtype=np.float64)
    even = all(bool(np.ptp(side) == 0) for side in (sd, slopes, radii))
    return Moving(world, mean, sd, slopes, bends, (bends.is_independent,) * mean.size, even)


def _edged(
    world: Mapping[str, Attribute], priors: list[LinePrior], goal: Goal, norm: Norm, slopes: Array, reach: Array
) -> Moving | None:
    """Two independent numbers whose densities have edges; None where a density has more than these."""
    pieces = [None if prior.normal_form is not None else Pieces.of(prior) for prior in priors]
    if len(priors) != 2 or any(p is None and q.normal_form is None for p, q in zip(pieces, priors, strict=True)):
        return None
    mirrors = [prior.mirror for prior in priors]
    origin = np.array([float(p.quantile(0.5)) if m is None else m for p, m in zip(priors, mirrors, strict=True)])
    axes = tuple(
        EdgedAxis(*one) for one in zip(priors, origin.tolist(), slopes.tolist(), reach.tolist(), pieces, strict=True)
    )
    disc = goal if isinstance(goal, Near) and goal.by != "linf" else None

    def prior_of(place: Sequence[float], radius: float) -> float:
        assert disc is not None
        inside = (min(max(t, p.support[0]), p.support[1]) for t, p in zip(place, priors, strict=True))
        found = disc_prior(
            JointAttack(world, dict(zip(world, inside, strict=True)), norm), replace(disc, radius=radius)
        )
        assert found is not None
        return float(np.exp(found[0]))

    ends = [np.asarray(prior.quantile([0.1, 0.9])) for prior in priors]
    sd = np.array([float(e[1] - e[0]) / 2.5 for e in ends])
    bends = EdgedBends(axes, norm, disc, prior_of)
    even = priors[0] == priors[1] and slopes[0] == slopes[1] and reach[0] == reach[1]
    return Moving(world, origin, sd, slopes, bends, tuple(m is not None for m in mirrors), even)


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
