"""One attribute's share of a signed distance: a function s(x) that climbs at unit speed into the goal.

All that the attack asks of it are four probabilities for many levels a at once, each summed on its own so that none
cancels: P(s > a, goal), P(s > a, not goal), P(s ≤ a, goal), P(s ≤ a, not goal). Arrays have one row per set of
parameters and one column per level.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from guessproof.risk.combinations import axis_labels
from guessproof.risk.finite import solve
from guessproof.risk.several.joint_attack import JointAttack, is_untouched
from guessproof.risk.several.quick import Sketch, sketch
from guessproof.risk.tent import best_tents
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

_BREAKS = 40  # so many breaks of a density are worth a panel each


Four = tuple[Array, Array, Array, Array]


class Slope(ABC):
    """A 1-Lipschitz function of one attribute, with parameters of which the first is an offset."""

    p: float
    q: float
    start: Array  # where the search begins
    unit: Array  # how far a parameter sensibly moves

    @abstractmethod
    def split(self, theta: Array, a: Array) -> Four:
        """The goal above a, the rest above a, the goal up to a, the rest up to a."""

    @abstractmethod
    def levels(self, theta: Array) -> Array:
        """The levels at which these probabilities bend; the least and the largest level among them."""

    def sketched(self) -> Slope:
        """The same with a prior that answers faster, for a search."""
        return self


@dataclass(frozen=True)
class Tent(Slope):
    """s = b − min(|ψ(x) − ψ(c)|, cap) + step inside the goal lo ≤ x ≤ hi."""

    prior: LinePrior
    drawn: Sketch
    form: LineForm
    lo: float
    hi: float
    p: float
    q: float
    start: Array
    unit: Array
    quick: bool = False

    @classmethod
    def of(cls, prior: LinePrior, form: LineForm, lo: float, hi: float, p: float, q: float, epsilon: float) -> Tent:
        drawn = sketch(prior)
        near, far = drawn.ends
        low, high = max(lo, near), min(hi, far)
        if not low < high:
            low, high = (lo, hi) if np.isfinite(hi - lo) else (near, far)
        c = best_tents(prior, form, np.array([lo]), np.array([hi]), epsilon).peak[0]
        c = float(np.clip(c, low, high)) if np.isfinite(c) else 0.5 * (low + high)
        half = 0.5 * float(form.psi(high) - form.psi(low))
        return cls(
            prior=prior,
            drawn=drawn,
            form=form,
            lo=lo,
            hi=hi,
            p=p,
            q=q,
            start=np.array([half, c]),
            unit=np.array([half or 1.0, 0.5 * (high - low)]),
        )

    def sketched(self) -> Slope:
        return replace(self, quick=True)

    def split(self, theta: Array, a: Array) -> Four:
        b, c = theta[:, :1], theta[:, 1:]
        centre = self.form.psi(c)
        start, end = self._around(centre, c, b + self.form.step - a)
        lo, hi = (self._tails(np.asarray(e)) for e in (self.lo, self.hi))
        low, high = self._tails(start), self._tails(end)
        side = int(self.lo > self.drawn.middle)  # from which end the goal is measured, so that it does not cancel
        goal, goal_low = _between(low[side], high[side], lo[side], hi[side])
        if self.form.step:
            start, end = self._around(centre, c, b - a)
            low, high = self._tails(start), self._tails(end)
        left = np.minimum(high[0], lo[0]) - np.minimum(low[0], lo[0])
        right = np.minimum(low[1], hi[1]) - np.minimum(high[1], hi[1])
        left_low = np.minimum(low[0], lo[0]) + lo[0] - np.minimum(high[0], lo[0])
        right_low = np.minimum(high[1], hi[1]) + hi[1] - np.minimum(low[1], hi[1])
        return goal, left + right, goal_low, left_low + right_low

    def _tails(self, x: Array) -> tuple[Array, Array]:
        """P(X ≤ x) and P(X ≥ x), each to its own precision."""
        if self.quick:
            return np.interp(x, self.drawn.x, self.drawn.below), np.interp(x, self.drawn.x, self.drawn.above)
        edge = np.full(x.shape, np.inf)
        return self.prior.quick_mass(-edge, x), self.prior.quick_mass(x, edge)

    def _around(self, centre: Array, c: Array, width: Array) -> tuple[Array, Array]:
        width = np.where(width > self.form.cap, np.inf, np.maximum(width, 0.0))
        if self.form.is_straight and self.form.slopes[0] > 0:
            reach = width / self.form.slopes[0]
            return c - reach, c + reach
        return unpsi(self.form, centre - width), unpsi(self.form, centre + width)

    def levels(self, theta: Array) -> Array:
        b, c = theta[:, :1], theta[:, 1:]
        centre = self.form.psi(c)
        places = [self.lo, self.hi, *self.drawn.ends, *self.prior.support, *self.form.cuts]
        if not self.quick:  # nodes of a long panel miss people who stand close together
            places += [*self.drawn.bulk, *(self.drawn.breaks if len(self.drawn.breaks) <= _BREAKS else ())]
        places = [z for z in places if np.isfinite(z)]
        drops = np.minimum(np.abs(self.form.psi(np.asarray(places)) - centre), self.form.cap)
        kinks = np.concatenate([b, b - drops], axis=1)
        return np.concatenate([kinks, kinks + self.form.step], axis=1) if self.form.step else kinks


def _between(start: Array, end: Array, lo: Array, hi: Array) -> tuple[Array, Array]:
    """The mass from lo to hi that lies between start and end, and the mass that does not; all as tails."""
    first, last = np.minimum(lo, hi), np.maximum(lo, hi)
    a, b = (np.clip(e, first, last) for e in (np.minimum(start, end), np.maximum(start, end)))
    return b - a, (a - first) + (last - b)


@dataclass(frozen=True)
class Bands(Slope):
    """s = b − how far outside a union of intervals x lies (+ how far inside, where no cap forbids it)."""

    prior: LinePrior
    drawn: Sketch
    form: LineForm
    region: tuple[tuple[float, float], ...]
    p: float
    q: float
    start: Array
    unit: Array
    quick: bool = False

    def sketched(self) -> Slope:
        return replace(self, quick=True)

    def mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        """P(a ≤ x ≤ b)."""
        return self.drawn.mass(a, b) if self.quick else self.prior.quick_mass(a, b)

    def split(self, theta: Array, a: Array) -> Four:
        deep = np.isinf(self.form.cap)
        level = a - theta[:, :1] - self.form.step
        inward = np.where(level > 0, level if deep else np.inf, 0.0)
        outward = np.maximum(theta[:, :1] - a, 0.0)
        outward = np.where(outward > self.form.cap, np.inf, outward)
        goal, rest = np.zeros(a.shape), np.zeros(a.shape)
        for lo, hi in self.region:
            goal = goal + self.mass(self._from(lo, inward), self._from(hi, -inward))
        for lo, hi in self._gaps():
            first = np.minimum(self._from(lo, outward), hi)
            rest = rest + self.mass(np.full(a.shape, lo), first)
            rest = rest + self.mass(np.maximum(self._from(hi, -outward), first), np.full(a.shape, hi))
        return goal, rest, np.maximum(self.p - goal, 0.0), np.maximum(self.q - rest, 0.0)

    def _gaps(self) -> list[tuple[float, float]]:
        ends = [-np.inf, *(e for pair in self.region for e in pair), np.inf]
        return [(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True) if a < b]

    def _from(self, edge: float, way: Array) -> Array:
        """The point `way` beyond an edge; an infinite edge stays where it is."""
        if np.isinf(edge):
            return np.full(way.shape, edge)
        if self.form.is_straight and self.form.slopes[0] > 0:
            return edge + way / self.form.slopes[0]
        return np.where(way == 0, edge, unpsi(self.form, self.form.psi(edge) + way))

    def levels(self, theta: Array) -> Array:
        b = theta[:, :1]
        ends = [e for pair in self.region for e in pair if np.isfinite(e)]
        near, far = self.drawn.ends
        widths = [min(hi, far) - max(lo, near) for lo, hi in self.region]
        inner = [0.5 * w if np.isfinite(lo + hi) else w for w, (lo, hi) in zip(widths, self.region, strict=True)]
        steep = max(self.form.slopes) if np.isinf(self.form.cap) else 0.0
        rises = [steep * max(w, 0.0) for w in inner]
        places = (near, far, *ends, *(() if self.quick else self.drawn.bulk))
        falls = [abs(float(self.form.psi(e) - self.form.psi(x))) for e in ends for x in places]
        falls += [0.5 * f for f in falls]
        marks = [self.form.step, 0.0, *(self.form.step + r for r in rises), *(-min(f, self.form.cap) for f in falls)]
        return b + np.array(marks)[None, :]


@dataclass(frozen=True)
class Steps(Slope):
    """A finite attribute: s = b + a height for every value."""

    mass: Array
    chosen: Array
    height: Array
    p: float
    q: float
    start: Array
    unit: Array

    def split(self, theta: Array, a: Array) -> Four:
        over = self.height > (a - theta[:, :1])[..., None]
        goal, rest = self.mass * self.chosen, self.mass * (1 - self.chosen)
        return over @ goal, over @ rest, ~over @ goal, ~over @ rest

    def levels(self, theta: Array) -> Array:
        return theta[:, :1] + np.unique(self.height)[None, :]


@dataclass(frozen=True)
class Still(Slope):
    """An attribute that the release does not touch, or that the attack leaves alone: s = +∞ or −∞."""

    p: float
    q: float
    start: Array
    unit: Array
    high: bool = True

    def split(self, theta: Array, a: Array) -> Four:
        one, none = np.ones(a.shape), np.zeros(a.shape)
        low = (self.p * one, self.q * one)
        return (*low, none, none) if self.high else (none, none, *low)

    def levels(self, theta: Array) -> Array:
        return np.empty((len(theta), 0))


@dataclass(frozen=True)
class Turned(Slope):
    """−s, for the complement of the goal."""

    inner: Slope

    def __post_init__(self) -> None:
        for name, value in (("p", self.inner.q), ("q", self.inner.p), ("start", self.inner.start.copy())):
            object.__setattr__(self, name, value)
        self.start[:1] *= -1
        object.__setattr__(self, "unit", self.inner.unit)

    def sketched(self) -> Slope:
        return Turned(self.inner.sketched())

    def _inner(self, theta: Array) -> Array:
        return np.concatenate([-theta[:, :1], theta[:, 1:]], axis=1)

    def split(self, theta: Array, a: Array) -> Four:
        return self.inner.split(self._inner(theta), -a)[::-1]  # pyright: ignore[reportReturnType]

    def levels(self, theta: Array) -> Array:
        return -self.inner.levels(self._inner(theta))


def slope_of(joint_attack: JointAttack, goal: Goal, epsilon: float) -> Slope | None:
    """The slope of a goal about one attribute, or None where no simple one is known."""
    (attribute,) = joint_attack.members(goal)
    part = joint_attack.single(goal)
    p, q = float(np.exp(part.log_p)), float(np.exp(part.log_q))
    if is_untouched(attribute.distance) or not part.is_open:
        return Still(p, q, np.empty(0), np.empty(0))
    if isinstance(attribute.prior, Finite):
        return _steps(joint_attack, attribute, attribute.prior, goal, p, q, epsilon)
    prior, form = attribute.prior, attribute.distance.line_form
    assert isinstance(prior, LinePrior)
    if form is None:
        return None
    region = joint_attack.intervals(goal)
    if form.is_flat:
        levels = np.array([0.0, form.step])
        return Steps(np.array([q, p]), np.array([0.0, 1.0]), levels, p, q, np.zeros(1), np.array([form.step]))
    if len(region) == 1:
        return Tent.of(prior, form, *region[0], p, q, epsilon)
    if len(region) == 2 and np.isinf(region[0][0]) and np.isinf(region[1][1]):
        return Turned(Tent.of(prior, form, region[0][1], region[1][0], q, p, epsilon))
    size = np.array([max(span_of(form, b - a) for a, b in region if np.isfinite(b - a))])
    return Bands(
        prior=prior, drawn=sketch(prior), form=form, region=tuple(region), p=p, q=q, start=np.zeros(1), unit=size
    )


def span_of(form: LineForm, width: float) -> float:
    """A typical climb over an interval of this width."""
    return max(form.slopes) * width or 1.0


def _steps(
    joint_attack: JointAttack, attribute: Attribute, prior: Finite, goal: Goal, p: float, q: float, epsilon: float
) -> Steps | None:
    chosen, labels = goal.chosen(prior, joint_attack.at(goal)), axis_labels(prior)
    if len(labels) > 200:
        return None
    table = attribute.distance.distance(labels[:, None], labels[None, :])
    if not np.all(np.isfinite(table)):
        return None
    some = prior.mass > 0
    height = np.zeros(len(labels))
    form = attribute.distance.line_form
    if form is not None and form.is_flat:
        height = form.step * chosen
    else:
        height[some] = solve(prior.mass[some], chosen[some], epsilon * table[np.ix_(some, some)])[2] / epsilon
    return Steps(prior.mass, chosen, height, p, q, np.array([-float(np.max(height[some]))]), np.ones(1))


def unpsi(form: LineForm, value: Array) -> Array:
    """The x at which ψ passes a value; infinite where it never does.

    >>> unpsi(LineForm((0.0, 10.0), (0.0, 2.0, 0.0), (0.0, 0.0)), np.array([-1.0, 6.0, 21.0]))
    array([-inf,   3.,  inf])
    """
    if form.is_straight:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(value == 0, 0.0, value / form.slopes[0])
    low = np.asarray(form.psi(np.asarray(form.cuts)))
    knots = np.repeat(np.asarray(form.cuts), 2)
    heights = np.stack([low, low + np.asarray(form.jumps)], axis=1).ravel()
    x = np.interp(value, heights, knots)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(value < heights[0], knots[0] + (value - heights[0]) / form.slopes[0], x)
        return np.where(value > heights[-1], knots[-1] + (value - heights[-1]) / form.slopes[-1], first)
