"""An attacker's advantage as a function of the true value, enclosed over every cell of a grid.

A record's own advantage is a function of its true value t. It is computed at few points, and bounded between them:

- one interval of correct guesses under |ψ(x) − ψ(x')|: by the derivative, as in the search for the worst true value
  (`risk.truth_ends`), or, where the derivative is not known, by the goals themselves: for t in [t₁, t₂] the goal lies
  inside G(t₁) ∪ G(t₂) and holds G(t₁) ∩ G(t₂);
- a goal that does not move with the truth: the same for every record;
- no prior: the advantage rises with the largest distance to a wrong value, which is largest at an end of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from guessproof.errors import GoalError
from guessproof.exposure import Exposure
from guessproof.risk.limits import advantage_of, posterior_of
from guessproof.risk.tent import log_prior
from guessproof.risk.truth_ends import Ends, box_bound, slope_range

# The branch and bound's own pieces: points with their tents, and the derivative between two of them.
from guessproof.risk.truth_search import Direction as Side
from guessproof.risk.truth_search import TruthSearch
from guessproof.world.checks import Array


@dataclass(frozen=True)
class CellBounds:
    """What holds for every true value of each cell: lower ≤ advantage ≤ upper; `steep` bounds its slope."""

    lower: Array
    upper: Array
    steep: Array


class TruthCurve(Protocol):
    """The advantage along the line."""

    @property
    def first(self) -> int:
        """How many cells to begin with."""
        ...

    @property
    def most(self) -> int:
        """How many cells may be spent."""
        ...

    def at(self, t: Array) -> Any:
        """What is known at true values: a row for each, to be picked and joined."""
        ...

    def over(self, left: Any, right: Any) -> CellBounds:
        """An enclosure between neighbouring points."""
        ...

    def beyond(self, t: Array, right: bool) -> Array:
        """What no true value from each t on to the right (or left) exceeds; 1 where nothing is known."""
        ...


@dataclass(frozen=True)
class TruePoints:
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

    goal: TruthSearch
    epsilon: float
    sides: tuple[Side, ...]
    percent: bool
    change: float = np.inf  # how far any two values are apart at most, where a cap was left out of the distance
    first: int = 1024  # one question about many cells costs little more than one about few
    most: int = 1 << 14

    def at(self, t: Array) -> tuple[Any, ...]:
        with np.errstate(all="ignore"):
            return tuple(Ends.at(self.goal, t, self.epsilon, side) for side in self.sides)

    def over(self, left: tuple[Any, ...], right: tuple[Any, ...]) -> CellBounds:
        with np.errstate(all="ignore"):
            found = [self._side(a, b, side) for a, b, side in zip(left, right, self.sides, strict=True)]
        lower, upper, steep = (np.max([getattr(o, f.name) for o in found], axis=0) for f in fields(CellBounds))
        if np.isinf(self.change):
            return CellBounds(lower, upper, steep)
        least, most = self.before(left[0].t, right[0].t)
        upper = np.minimum(upper, at_most_apart(least, most, self.change) + 1e-12)
        return CellBounds(np.zeros(upper.shape), upper, np.full(upper.shape, np.inf))

    def before(self, t1: Array, t2: Array) -> tuple[Array, Array]:
        """The least and the largest belief before the release, for true values in each [t1, t2]."""
        (lo1, hi1), (lo2, hi2) = self.goal.edges(t1), self.goal.edges(t2)
        with np.errstate(all="ignore"):
            most = self.goal.prior.mass(lo1, hi2)
            least = np.where(hi1 > lo2, self.goal.prior.mass(lo2, np.maximum(hi1, lo2)), 0.0)
        return np.minimum(least, 1.0), np.minimum(most, 1.0)

    def beyond(self, t: Array, right: bool) -> Array:
        """The goal lies inside everything beyond its nearer end: beliefs in that are at least as large."""
        goal, open_ = self.goal, np.full(t.shape, np.inf)
        found = np.zeros(t.shape)
        with np.errstate(all="ignore"):
            lo, hi = (goal.edges(t)[0], open_) if right else (-open_, goal.edges(t)[1])
            log_p, log_q = log_prior(goal.prior, lo, hi)
            for side in self.sides:
                _, bound = goal.gain(lo, hi, self.epsilon, "rise", (log_p, log_q))
                most = posterior_of(log_p, log_q, bound) if side == "rise" else np.exp(log_p)
                found = np.maximum(found, np.nan_to_num(most, nan=1.0))
        return found

    def _side(self, left: Any, right: Any, side: Side) -> CellBounds:
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
            upper[open_] = np.nan_to_num(box_bound(self.goal, a, b, *s, self.epsilon, side), nan=1.0)
            lower[open_] = np.fmax(np.nan_to_num(lower[open_], nan=-np.inf), self._least(a.t, b.t, side))
        steep = np.maximum(np.abs(low), np.abs(high))
        return CellBounds(np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0), np.where(np.isnan(steep), np.inf, steep))

    def _slopes(self, left: Any, right: Any, side: Side) -> tuple[Array, Array]:
        shape = left.t.shape
        if not self.goal.sharp:
            return np.full(shape, -np.inf), np.full(shape, np.inf)
        low, high = slope_range(self.goal, left, right, self.epsilon, side)
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
        belief = posterior_of(log_p, log_q, attack)
        if side == "rise":
            found = np.where(held, belief, 0.0) - goal.prior.mass(lo1, hi2)
        else:
            found = np.where(held, goal.prior.mass(lo2, np.maximum(hi1, lo2)), 0.0) - belief
        return np.nan_to_num(found, nan=0.0)


@dataclass(frozen=True)
class FlatCurve:
    """A goal that does not move with the truth: the same for every record."""

    lower: float = 0.0
    upper: float = 0.0
    first: int = 1
    most: int = 1

    def at(self, t: Array) -> TruePoints:
        return TruePoints(t)

    def over(self, left: TruePoints, right: TruePoints) -> CellBounds:
        shape = left.t.shape
        return CellBounds(np.full(shape, self.lower), np.full(shape, self.upper), np.zeros(shape))

    def beyond(self, t: Array, right: bool) -> Array:
        return np.full(t.shape, self.upper)


@dataclass(frozen=True)
class RangeCurve:
    """No prior but a range: the largest distance from a correct to a wrong value is largest at an end of a cell."""

    exposure: Exposure
    name: str
    epsilon: float
    both: bool
    first: int = 32
    most: int = 128

    def at(self, t: Array) -> TruePoints:
        return TruePoints(t)

    def over(self, left: TruePoints, right: TruePoints) -> CellBounds:
        ends = np.maximum(self._bounds(left.t), self._bounds(right.t))
        return CellBounds(np.zeros(ends.shape), ends, np.full(ends.shape, np.inf))

    def beyond(self, t: Array, right: bool) -> Array:
        return np.ones(t.shape)

    def _bounds(self, t: Array) -> Array:
        return np.asarray([self._bound(float(v)) for v in t])

    def _bound(self, t: float) -> float:
        prior: Any = self.exposure.attacker.attributes[self.name].prior
        attacker = replace(self.exposure.attacker, at={self.name: min(max(t, prior.low), prior.high)})
        try:
            return float(replace(self.exposure, attacker=attacker).advantage(self.epsilon, self.both).bound)
        except GoalError:  # certain there: nothing to be learnt
            return 0.0


def at_most_apart(least: Array, most: Array, change: float) -> Array:
    """The largest advantage if any two records are `change` apart and the belief before lies in least … most.

    It has one top, where the belief before is 1/(1 + e^{change/2}).
    """
    middle = np.clip(1 / (1 + np.exp(min(change / 2, 700.0))), least, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(advantage_of(np.log(middle), np.log1p(-middle), change), nan=0.0)


def _finite(value: Array) -> Array:
    """−∞ marks a true value that cannot occur; then nothing is known from it."""
    return np.where(np.isfinite(value), value, -np.inf)
