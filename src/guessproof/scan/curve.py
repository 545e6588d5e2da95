"""An attacker's advantage as a function of the true value, enclosed over every cell of a grid.

A record's own advantage is a function of its true value t. It is computed at few points, and bounded between them:

- one interval of correct guesses under |ψ(x) − ψ(x')|: by the derivative, as in the search for the worst true value
  (`risk.worst_case`), or, where the derivative is not known, by the goals themselves: for t in [t₁, t₂] the goal lies
  inside G(t₁) ∪ G(t₂) and holds G(t₁) ∩ G(t₂);
- other goals about one column: by these two goals, asked one by one;
- no prior: the advantage rises with the largest distance to a wrong value, which is largest at an end of a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from guessproof.errors import GoalError, GuessproofError
from guessproof.exposure import Aim, Exposure
from guessproof.risk import odds
from guessproof.risk.tent import log_prior

# The branch and bound's own pieces: points with their tents, and the derivative between two of them.
from guessproof.risk.worst_case import Aim as Side
from guessproof.risk.worst_case import (
    Ranging,
    _box_bound,  # pyright: ignore[reportPrivateUsage]
    _derivative,  # pyright: ignore[reportPrivateUsage]
    _Ends,  # pyright: ignore[reportPrivateUsage]
)
from guessproof.world.checks import Array
from guessproof.world.goals import And, Goal, Inside, Not, Or, Within, inside

_HAIR = 1e-9  # more than an empty goal, which is asked about as one of two neighbouring floats, can weigh


@dataclass(frozen=True)
class Over:
    """What holds for every true value of each cell: lower ≤ advantage ≤ upper; `steep` bounds its slope."""

    lower: Array
    upper: Array
    steep: Array


class Curve(Protocol):
    """The advantage along the line."""

    @property
    def first(self) -> int:
        """How many cells to begin with."""
        ...

    @property
    def most(self) -> int:
        """How many cells may be spent."""
        ...

    @property
    def cheap(self) -> bool:
        """Whether a hundred cells cost little."""
        ...

    def at(self, t: Array) -> Any:
        """What is known at true values: a row for each, to be picked and joined."""
        ...

    def over(self, left: Any, right: Any) -> Over:
        """An enclosure between neighbouring points."""
        ...


@dataclass(frozen=True)
class Points:
    """True values, and nothing else known of them."""

    t: Array


def pick(points: Any, which: Any) -> Any:
    """Some of the points."""
    if isinstance(points, tuple):
        return tuple(pick(p, which) for p in points)
    return type(points)(*(getattr(points, f.name)[which] for f in fields(points)))


def join(one: Any, other: Any) -> Any:
    """Points of two lists, one after the other."""
    if isinstance(one, tuple):
        return tuple(join(a, b) for a, b in zip(one, other, strict=True))
    parts = (np.concatenate([getattr(one, f.name), getattr(other, f.name)]) for f in fields(one))
    return type(one)(*parts)


@dataclass(frozen=True)
class TentCurve:
    """One interval of correct guesses: many cells at a time, exact at their ends."""

    goal: Ranging
    epsilon: float
    sides: tuple[Side, ...]
    percent: bool
    first: int = 64
    most: int = 1 << 14
    cheap: bool = True

    def at(self, t: Array) -> tuple[Any, ...]:
        with np.errstate(all="ignore"):
            return tuple(_Ends.at(self.goal, t, self.epsilon, side) for side in self.sides)

    def over(self, left: tuple[Any, ...], right: tuple[Any, ...]) -> Over:
        with np.errstate(all="ignore"):
            found = [self._side(a, b, side) for a, b, side in zip(left, right, self.sides, strict=True)]
        whole = [np.max([getattr(o, f.name) for o in found], axis=0) for f in fields(Over)]
        return Over(*whole)

    def _side(self, left: Any, right: Any, side: Side) -> Over:
        low, high = self._slopes(left, right, side)
        width = right.t - left.t
        first, last = _finite(left.value), _finite(right.value)
        upper = np.minimum(left.bound + width * np.maximum(high, 0), right.bound - width * np.minimum(low, 0))
        lower = np.maximum(first + width * np.minimum(low, 0), last - width * np.maximum(high, 0))
        one_end = (low >= 0) | (high <= 0)
        upper = np.where(one_end, np.maximum(left.bound, right.bound), upper)
        lower = np.where(one_end, np.minimum(first, last), lower)
        open_ = np.flatnonzero(~(np.isfinite(lower) & np.isfinite(upper)))
        if open_.size:
            a, b, s = pick(left, open_), pick(right, open_), (low[open_], high[open_])
            upper[open_] = np.nan_to_num(_box_bound(self.goal, a, b, *s, self.epsilon, side), nan=1.0)
            lower[open_] = np.fmax(np.nan_to_num(lower[open_], nan=-np.inf), self._least(a.t, b.t, side))
        steep = np.maximum(np.abs(low), np.abs(high))
        return Over(np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0), np.where(np.isnan(steep), np.inf, steep))

    def _slopes(self, left: Any, right: Any, side: Side) -> tuple[Array, Array]:
        shape = left.t.shape
        if not self.goal.sharp:
            return np.full(shape, -np.inf), np.full(shape, np.inf)
        low, high = _derivative(self.goal, left, right, self.epsilon, side)
        bent = (left.t < 0) & (right.t > 0) if self.percent else np.zeros(shape, dtype=bool)
        return np.where(bent, -np.inf, low), np.where(bent, np.inf, high)

    def _least(self, t1: Array, t2: Array, side: Side) -> Array:
        """What every true value in [t1, t2] reaches at least, from the goals inside and outside of all of theirs."""
        goal = self.goal
        (lo1, hi1), (lo2, hi2) = goal.edges(t1), goal.edges(t2)
        held = hi1 > lo2
        lo, hi = (lo2, np.maximum(hi1, lo2)) if side == "rise" else (lo1, hi2)
        log_p, log_q = log_prior(goal.prior, lo, hi)
        attack, _ = goal.gain(lo, hi, self.epsilon, side, (log_p, log_q))
        belief = odds.posterior(log_p, log_q, attack)
        if side == "rise":
            found = np.where(held, belief, 0.0) - goal.prior.mass(lo1, hi2)
        else:
            found = np.where(held, goal.prior.mass(lo2, np.maximum(hi1, lo2)), 0.0) - belief
        return np.nan_to_num(found, nan=0.0)


@dataclass(frozen=True)
class GoalCurve:
    """Any goal about one column: each cell asked about the goal that holds, and the one that is held by, all of it."""

    exposure: Exposure
    epsilon: float
    both: bool
    first: int = 24
    most: int = 160
    cheap: bool = False

    def at(self, t: Array) -> Points:
        return Points(t)

    def over(self, left: Points, right: Points) -> Over:
        pairs = [self._cell(a, b) for a, b in zip(left.t.tolist(), right.t.tolist(), strict=True)]
        lower, upper = (np.asarray(v, dtype=np.float64) for v in zip(*pairs, strict=True))
        return Over(lower, upper, np.full(left.t.shape, np.inf))

    def _cell(self, t1: float, t2: float) -> tuple[float, float]:
        outer, inner = (self._asked(t1, t2, most) for most in (True, False))
        prior_hi, prior_lo = outer.prior(1.0), inner.prior(0.0)
        lower = inner.rises(self.epsilon, 0.0) - prior_hi
        upper = outer.rises(self.epsilon, 1.0, bound=True) - prior_lo
        if self.both:
            upper = max(upper, prior_hi - inner.falls(self.epsilon, 0.0, bound=True))
            lower = max(lower, prior_lo - outer.falls(self.epsilon, 1.0))
        return min(max(lower - _HAIR, 0.0), 1.0), min(max(upper + _HAIR, 0.0), 1.0)

    def _asked(self, t1: float, t2: float, most: bool) -> _Fixed:
        aim = self.exposure.aim

        def build(attributes: Any) -> Goal:
            return _fixed(aim.build(attributes), t1, t2, most)

        fixed: Aim = replace(aim, build=build, at=None)
        return _Fixed(Exposure(fixed, self.exposure.pledge, self.exposure.step))


@dataclass(frozen=True)
class _Fixed:
    """Beliefs in a goal that does not depend on the truth; a careful number where it is empty or certain."""

    exposure: Exposure

    def prior(self, otherwise: float) -> float:
        found = self.exposure.prior
        return otherwise if found is None else found

    def rises(self, epsilon: float, otherwise: float, *, bound: bool = False) -> float:
        """The largest belief: what no attacker exceeds, or what some attacker reaches."""
        return self._or(otherwise, lambda: _side_of(self.exposure.posterior(epsilon), bound))

    def falls(self, epsilon: float, otherwise: float, *, bound: bool = False) -> float:
        """The smallest belief, by the largest one in the complement."""
        aim = self.exposure.aim
        flipped = replace(aim, build=lambda attributes: ~aim.build(attributes))
        other = replace(self.exposure, aim=flipped)
        return self._or(otherwise, lambda: 1 - _side_of(other.posterior(epsilon), bound))

    def _or(self, otherwise: float, question: Callable[[], float]) -> float:
        try:
            return question()
        except GuessproofError:
            return otherwise


@dataclass(frozen=True)
class RangeCurve:
    """No prior but a range: the largest distance from a correct to a wrong value is largest at an end of a cell."""

    exposure: Exposure
    name: str
    epsilon: float
    both: bool
    first: int = 32
    most: int = 128
    cheap: bool = False

    def at(self, t: Array) -> Points:
        return Points(t)

    def over(self, left: Points, right: Points) -> Over:
        ends = np.maximum(self._bounds(left.t), self._bounds(right.t))
        return Over(np.zeros(ends.shape), ends, np.full(ends.shape, np.inf))

    def _bounds(self, t: Array) -> Array:
        return np.asarray([self._bound(float(v)) for v in t])

    def _bound(self, t: float) -> float:
        prior: Any = self.exposure.aim.attributes[self.name].prior
        aim = replace(self.exposure.aim, at={self.name: min(max(t, prior.low), prior.high)})
        try:
            return float(replace(self.exposure, aim=aim).advantage(self.epsilon, self.both).bound)
        except GoalError:  # certain there: nothing to be learnt
            return 0.0


def _fixed(goal: Goal, t1: float, t2: float, most: bool) -> Goal:
    """A goal that holds (`most`), or is held by, the goal at every true value in [t1, t2]."""
    if isinstance(goal, Not):
        return Not(_fixed(goal.part, t1, t2, not most))
    if isinstance(goal, (And, Or)):
        return type(goal)(tuple(_fixed(part, t1, t2, most) for part in goal.parts))
    if not isinstance(goal, Within):
        return goal
    (lo1, hi1), (lo2, hi2) = (goal.edges(t)[0] for t in (t1, t2))
    low, high = (float(lo1), float(hi2)) if most else (float(lo2), float(hi1))
    if low < high:
        return inside(goal.attribute, (low, high))
    point = float(np.nextafter(low, np.inf))
    return Inside(goal.attribute, ((low, point),))  # next to nothing: an empty goal is not one


def _side_of(bracket: Any, bound: bool) -> float:
    return float(bracket.bound if bound else bracket.attack)


def _finite(value: Array) -> Array:
    """−∞ marks a true value that cannot occur; then nothing is known from it."""
    return np.where(np.isfinite(value), value, -np.inf)
