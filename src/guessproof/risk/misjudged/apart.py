"""How unevenly a likelihood can lie on a set, from how far apart two of its values are, drawn independently.

Let S be the share s of a set where L is largest. For x in S and x' in the rest L(x)/L(x') ≤ e^{ε·d(x, x')}, and by
Jensen's inequality E_S[L]/E_rest[L] ≤ E_S[L]·E_rest[1/L], the mean of that ratio over S × rest. These pairs and their
mirrors are a share 2s(1−s) of all pairs, so the mean is at most that of e^{εd} over the furthest such share of all:
E_S[L]/E_rest[L] ≤ R(s). So S holds at most sR/(1−s+sR) of ∫Lf, and the share t with the least L holds t/(t+(1−t)R(t)).
What is far from most of a set is rare, so this says something where the set has no end.

For independent attributes under the largest of their distances, two values are within r of each other if they are so in
each attribute: shares of pairs are sums of products of one-dimensional ones, over which parts of the goal both are in.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from guessproof.risk.combinations import axis_labels
from guessproof.risk.several.formula import GoalBlock, Tree, blocks
from guessproof.risk.several.joint_attack import JointAttack, is_untouched
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array, Mask
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior, expit
from guessproof.world.line_form import LineForm

_SHARES = 160  # steps of s and of t
_RADII = 400
_CELLS = 320  # of the prior of one number
_FAR = 1e-7  # of a prior lies beyond the last radius, about
_MOST_VALUES = 1500  # of a table of which all pairs are looked at
_MOST_ATTRIBUTES = 4
Intervals = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class Apart:
    """How far two values of a set are apart: distances, falling, with their shares of all pairs.

    `beyond` are the numbers of the set of which pairs further apart than any of these are made.
    """

    distance: Array
    share: Array
    beyond: tuple[_Tail, ...] = ()
    within: float = 1.0  # the set's share of all values

    @classmethod
    def of_table(cls, mass: Array, distance: Array) -> Apart:
        """Finitely many values."""
        pairs = (np.outer(mass, mass) / mass.sum() ** 2).ravel()
        order = np.argsort(-distance.ravel(), kind="stable")
        return cls(distance.ravel()[order], pairs[order])

    def ratios(self, epsilon: float, shares: Array) -> Array:
        """R(s): the mean of e^{εd} over the furthest 2s(1−s) of all pairs."""
        wanted = 2 * shares * (1 - shares)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            told = np.concatenate([[self._furthest(epsilon)], self.share * np.exp(epsilon * self.distance)])
            sums, parts = np.cumsum(told), np.concatenate([[0.0], np.cumsum(self.share)])
            found = np.interp(wanted, parts, sums) / wanted * (1 + 1e-9)
        return np.where(np.isnan(found), np.inf, np.maximum(found, 1.0))

    def _furthest(self, epsilon: float) -> float:
        """E[e^{εd}] over pairs beyond all distances."""
        return sum(tail.told(epsilon, float(self.distance[0])) for tail in self.beyond) / self.within**2


@dataclass(frozen=True, eq=False)
class _Tail:
    """One number: of two that are further than r apart, one is further than r/2 from the middle."""

    world: TiltedIntegrals

    def told(self, epsilon: float, radius: float) -> float:
        """At most E[e^{εd}] over pairs of its values that are further apart."""
        form, step = self.world.form, self.world.form.step
        middle = np.asarray(self.world.prior.quantile(0.5))
        height, reach = form.psi(middle), max(radius - step, 0.0) / 2
        low, high = form.inverse(height - reach), form.inverse(height + reach)
        far, whole = (self._both_sides(epsilon, middle, *ends) for ends in ((low, high), (middle, middle)))
        with np.errstate(over="ignore"):
            return float(2 * far * whole * np.exp(epsilon * step))

    def _both_sides(self, epsilon: float, middle: Array, low: Array, high: Array) -> Array:
        """E[e^{ε|ψ(x) − ψ(middle)|}] over what lies below the first or above the second."""
        k, (start, end) = np.asarray(epsilon), (np.asarray(e) for e in self.world.prior.support)
        with np.errstate(over="ignore"):
            below = np.exp(self.world.log_tilt(-k, start, np.maximum(low, start), middle))
            above = np.exp(self.world.log_tilt(k, np.minimum(high, end), end, middle))
        return below + above


def most_moved(apart: tuple[Apart, Apart], epsilon: float, factor: float, gain: float, log_odds: float) -> float:
    """What no likelihood and no prior within the factor lets a belief rise by, given the declared gain.

    `apart`: of what is believed, and of the rest.
    """
    room, more, shares = math.log(factor), factor - 1, np.linspace(0.0, 1.0, _SHARES + 1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        near, far = (part.ratios(epsilon, shares) for part in apart)
        most = np.where(np.isinf(near), 1.0, shares / (shares + (1 - shares) / near))
        least = np.where(np.isinf(far), 0.0, shares / (shares + (1 - shares) * far))
    most[-1], least[0], least[-1] = 1.0, 0.0, 1.0
    mean = np.log1p(more * shares)
    # What the largest share holds grows with it, and what the least one holds: each step is taken at its worse end.
    raised, lowered = np.log1p(more * most[1:])[:, None], np.log1p(more * least[:-1])[None, :]
    grown = gain + raised - lowered - mean[:-1, None] + mean[None, 1:]
    low, high = log_odds + mean[:-1, None] - mean[None, 1:], log_odds + mean[1:, None] - mean[None, :-1]
    before = np.clip(np.minimum(-grown / 2, log_odds + gain + room - grown), low, high)
    after = np.minimum(before + grown, log_odds + gain + room)
    return float(np.max(expit(after) - expit(before))) + 1e-15


def apart_of(world: JointAttack, tree: Tree) -> tuple[Apart, Apart] | None:
    """Of the goal and of the rest, for independent attributes under the largest of their distances; else None."""
    own = blocks(tree)
    if world.norm != "linf" or len(own) > _MOST_ATTRIBUTES or not all(b.is_single for b in own):
        return None
    axes: list[_Axis] = []
    for block in own:
        axis = _axis_of(world, block.goal)
        if axis is None:
            return None
        axes.append(axis)
    radii = max(axis.far for axis in axes) * np.linspace(0.0, 1.0, _RADII + 1) ** 1.5
    near = [axis.near(radii) for axis in axes]
    sides = [
        s for s in itertools.product((1, 0), repeat=len(own)) if all(axes[i].mass[s[i]] > 0 for i in range(len(s)))
    ]
    goal = [s for s in sides if _holds(tree, list(s))]
    rest = [s for s in sides if not _holds(tree, list(s))]
    first, second = (_of_parts(part, axes, near, radii) for part in (goal, rest))
    return first, second


def apart_on_line(prior: LinePrior, form: LineForm, region: Intervals) -> tuple[Apart, Apart]:
    """Of some intervals of one number, and of the rest."""
    axis = _number(prior, form, region)
    radii = axis.far * np.linspace(0.0, 1.0, _RADII + 1) ** 1.5
    near = [axis.near(radii)]
    goal, rest = (_of_parts([(side,)], [axis], near, radii) for side in (1, 0))
    return goal, rest


def apart_in_table(mass: Array, distance: Array, correct: Mask) -> tuple[Apart, Apart] | None:
    """Of some of finitely many values, and of the others."""
    if mass.size > _MOST_VALUES or not np.all(np.isfinite(distance)):
        return None
    goal, rest = (Apart.of_table(mass[part], distance[np.ix_(part, part)]) for part in (correct, ~correct))
    return goal, rest


def _of_parts(parts: Sequence[tuple[int, ...]], axes: list[_Axis], near: list[Array], radii: Array) -> Apart:
    """A set that is put together from products of parts of the axes."""
    whole = sum(math.prod(axes[i].mass[s] for i, s in enumerate(part)) for part in parts)
    within = np.zeros(radii.size)
    for one, other in itertools.product(parts, repeat=2):
        within += np.prod([near[i][s, o] for i, (s, o) in enumerate(zip(one, other, strict=True))], axis=0)
    within = np.maximum.accumulate(np.clip(within / whole**2, 0.0, 1.0))
    tails = tuple(
        _Tail(axis.world) for i, axis in enumerate(axes) if axis.world and any(axis.has_tail(p[i]) for p in parts)
    )
    share = np.concatenate([[1 - within[-1]], np.diff(within)[::-1], [within[0]]])
    return Apart(np.concatenate([[radii[-1]], radii[:0:-1], [0.0]]), share, tails, whole)


def _holds(tree: Tree, sides: list[int]) -> bool:
    """Whether the goal holds where each block does or does not; takes the blocks' sides off the list in order."""
    if isinstance(tree, GoalBlock):
        return bool(sides.pop(0))
    found = [_holds(part, sides) for part in tree.parts]
    return all(found) if tree.kind == "and" else any(found)


@dataclass(frozen=True, eq=False)
class _Axis:
    """One attribute: small pieces of it, each on one side of its goal, and how far they are apart."""

    mass: tuple[float, float]  # outside its goal, and in it
    far: float
    side: Mask  # of each piece
    own: Array  # its mass
    apart: Array  # of any two pieces, at most
    world: TiltedIntegrals | None = None

    def has_tail(self, side: int) -> bool:
        """Whether values on this side can be any distance apart."""
        rows = self.side == bool(side)
        return bool(np.isinf(self.apart[np.ix_(rows, rows)]).any())

    def near(self, radii: Array) -> Array:
        """side × side × radii: P(the first there, the second there, both within the radius), at least."""
        found = np.zeros((2, 2, radii.size))
        for one, other in itertools.product((0, 1), repeat=2):
            rows, cols = self.side == bool(one), self.side == bool(other)
            apart = self.apart[np.ix_(rows, cols)].ravel()
            place = np.searchsorted(radii, apart * (1 - 1e-15))
            pairs = np.bincount(place, np.outer(self.own[rows], self.own[cols]).ravel(), radii.size + 1)
            found[one, other] = np.cumsum(pairs)[: radii.size]
        return found * (1 - 1e-12)


def _axis_of(world: JointAttack, goal: Goal) -> _Axis | None:
    (attribute,) = world.members(goal)
    if isinstance(attribute.prior, Finite):
        return _listed(attribute, attribute.prior, np.asarray(goal.chosen(attribute.prior, world.at(goal))))
    form = LineForm() if is_untouched(attribute.distance) else attribute.distance.line_form
    assert isinstance(attribute.prior, LinePrior)
    return None if form is None else _number(attribute.prior, form, tuple(world.intervals(goal)))


def _listed(attribute: Attribute, prior: Finite, chosen: Array) -> _Axis | None:
    if prior.mass.size > _MOST_VALUES or not np.all((chosen == 0) | (chosen == 1)):
        return None
    labels, side = axis_labels(prior), chosen > 0
    apart = attribute.distance.distance(labels[:, None], labels[None, :])
    far = float(np.max(apart))
    if not np.isfinite(far):
        return None
    return _Axis((float(prior.mass[~side].sum()), float(prior.mass[side].sum())), far, side, prior.mass, apart)


def _number(prior: LinePrior, form: LineForm, region: Intervals) -> _Axis:
    tails = np.concatenate([10.0 ** np.linspace(np.log10(_FAR), -3, 13), np.arange(1, _CELLS) / _CELLS])
    places = np.asarray(prior.quantile(np.unique(np.concatenate([tails, 1 - tails]))))
    inner = [*form.cuts, *itertools.chain.from_iterable(region)]
    ends = _within(np.concatenate([prior.support, places, inner]), prior.support)
    left, right = ends[:-1], ends[1:]
    own = np.asarray(prior.mass(left, right))
    side = np.zeros(left.size, dtype=bool)
    for lo, hi in region:
        side |= (left >= lo) & (right <= hi)
    with np.errstate(invalid="ignore"):
        low, high = form.psi(left), form.psi(right)
        for cut, jump in zip(form.cuts, form.jumps, strict=True):
            low = low + np.where(left == cut, jump, 0.0)  # just inside the piece
        apart = np.maximum(high[:, None] - low[None, :], high[None, :] - low[:, None])
    apart = np.minimum(np.where(np.isnan(apart), np.inf, apart), form.cap) + form.step
    masses = float(own[~side].sum()), float(own[side].sum())
    far = float(np.max(apart[np.isfinite(apart)]))  # pieces without an end reach further: those are the tails
    return _Axis(masses, far, side, own, apart, TiltedIntegrals(prior, form))


def _within(places: Iterable[float], support: tuple[float, float]) -> Array:
    found = np.unique(np.asarray(list(places), dtype=np.float64))
    return found[(found >= support[0]) & (found <= support[1])]
