"""Finitely many values under a prior that may be wrong: every corner likelihood with every pair of thresholds.

Given the belief p before and P after, a wrong prior h and a likelihood L do it if (1−p)·Σ_G hf ≤ p·Σ_rest hf and
(1−P)·Σ_G Lhf ≥ P·Σ_rest Lhf. For one L no h does exactly where some λ makes

    Σ_G f·w((1−p) − (1−P)·λL) + Σ_rest f·w(P·λL − p) > 0,      w(z) = z or κz, the less.

w is concave, so the L for which there is such a λ form a convex cone. A cone of likelihoods lies in it as soon as its
corners do: the worst likelihood is a corner, of which there are finitely many (`corners`). For one L the worst h is κ
on the correct values where L is largest and on the wrong ones where it is smallest: each count of either is tried. For
given p the best h solves a program with one constraint: at most one value is between 1 and κ, and its h is a formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from guessproof.risk.misjudged.corners import MOST_CORNERS, Corners, corner_count, corners_of
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import MeasuredDirectly, Widths
from guessproof.world.checks import Array, Mask

MOST_PAIRS = 4_000_000  # of thresholds, over all corners
_ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class Split:
    """The values that are correct and those that are not: their masses, and the distances from one to the other."""

    inside: Array
    outside: Array
    distance: Array

    @classmethod
    def of(cls, mass: Array, distance: Array, correct: Mask) -> Split:
        """Of values that can occur, with shortest ways between them."""
        right, wrong = np.flatnonzero(correct), np.flatnonzero(~correct)
        return cls(mass[right], mass[wrong], distance[np.ix_(right, wrong)])

    @cached_property
    def fall(self) -> Split:
        """The same for the rest of the values: their rise is the fall of these."""
        return Split(self.outside, self.inside, self.distance.T)

    @cached_property
    def corners(self) -> Corners | None:
        """All corner likelihoods; None where they are too many."""
        return corners_of(self.distance)

    @cached_property
    def size(self) -> float:
        """How much work it is, of what may be done for one goal."""
        count = min(corner_count(self.distance), 10**200)  # which is far too many, and a number yet
        pairs = (self.inside.size + 1) * (self.outside.size + 1)
        return max(count / MOST_CORNERS, count * pairs / MOST_PAIRS)

    def most(self, epsilon: float, factor: float) -> tuple[float, float]:
        """(reached, bound) of the rise of the belief."""
        corners = self.corners
        assert corners is not None
        values = self._rises(epsilon * corners.inside, epsilon * corners.outside, factor)
        best = int(np.argmax(values))
        whatever = math.tanh(epsilon * float(np.max(self.distance)) / 4)
        bound = min(float(values[best]) * (1 + _ROUNDING), whatever * (1 + 1e-15))
        return min(self._repaired(corners.outside[best], epsilon, factor), bound), bound

    def _repaired(self, heights: Array, epsilon: float, factor: float) -> float:
        """The attack: a corner of the distances as they are, without what was added to break ties."""
        x = np.min(heights + self.distance, axis=1)
        y = np.max(x[:, None] - self.distance, axis=0)
        return float(self._rises(epsilon * x[None], epsilon * y[None], factor)[0]) * (1 - 1e-14)

    def _rises(self, inside: Array, outside: Array, factor: float) -> Array:
        """For each likelihood the largest rise over all pairs of thresholds, and between two of them."""
        top = np.max(inside, axis=1, keepdims=True)
        chosen = _Sums.of(self.inside, inside - top, factor, falling=True).spread(2)
        rest = _Sums.of(self.outside, outside - top, factor, falling=False).spread(1)
        found = [_rise(chosen.mass, chosen.tilt, rest.mass, rest.tilt)]
        if factor > 1:
            found.append(_rise(*chosen.between(rest), rest.mass, rest.tilt))
            found.append(_rise(chosen.mass, chosen.tilt, *rest.between(chosen)))
        return np.max([np.max(values, axis=(1, 2)) for values in found], axis=0)


def _rise(mass: Array, tilt: Array, other: Array, less: Array) -> Array:
    """The rise of the belief: M = Σ hf and E = Σ (L−1)hf for the correct and for the other values."""
    return (tilt * other - mass * less) / ((mass + other) * (mass + tilt + other + less))


@dataclass(frozen=True)
class _Sums:
    """Σ hf and Σ (L−1)hf with h = κ on the first values of an order, for every number of first ones; what each adds."""

    mass: Array
    tilt: Array
    more: Array  # (κ−1)·f of each value, in order
    log_l: Array
    axis: int = 1

    @classmethod
    def of(cls, mass: Array, log_l: Array, factor: float, *, falling: bool) -> _Sums:
        order = np.argsort(-log_l if falling else log_l, axis=1, kind="stable")
        own, log_l = mass[order], np.take_along_axis(log_l, order, axis=1)
        parts: list[Array] = []
        for term in (own, own * np.expm1(log_l)):
            sums = np.concatenate([np.zeros((len(term), 1)), np.cumsum(term, axis=1)], axis=1)
            parts.append(sums[:, -1:] + (factor - 1) * sums)
        return cls(parts[0], parts[1], (factor - 1) * own, log_l)

    def spread(self, axis: int) -> _Sums:
        """With an axis for the other side's thresholds."""
        parts = (np.expand_dims(v, axis) for v in (self.mass, self.tilt, self.more, self.log_l))
        return _Sums(*parts, axis=3 - axis)

    def between(self, other: _Sums) -> tuple[Array, Array]:
        """M and E where h of the next value is neither 1 nor κ but what raises the belief most.

        The derivative vanishes where √M·(M + … + E + …) = √(B·L)·(M + …), M and B = M + E those of the other side.
        """
        count = self.more.shape[self.axis]
        mass, tilt = (np.take(v, np.arange(count), axis=self.axis) for v in (self.mass, self.tilt))
        before, after = np.sqrt(other.mass), np.exp(0.5 * self.log_l) * np.sqrt(other.mass + other.tilt)
        whole, told = mass + other.mass, mass + tilt + other.mass + other.tilt
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = (before * told - after * whole) / (self.more * (after - before * np.exp(self.log_l)))
        share = np.clip(np.nan_to_num(share), 0.0, 1.0) * self.more
        return mass + share, tilt + share * np.expm1(self.log_l)


@dataclass(frozen=True)
class WrongListed(MeasuredDirectly):
    """Few enough values: attack and bound meet."""

    split: Split

    @classmethod
    def of(cls, factor: float, mass: Array, distance: Array, correct: Mask, among: int = 1) -> WrongListed | None:
        """None where there are too many corners, or too many pairs of thresholds, for one `among` several goals."""
        split = Split.of(mass, distance, correct)
        if split.size * among > 1 or split.corners is None or split.fall.corners is None:
            return None
        across = float(np.max(split.distance))
        log_odds = float(np.log(split.inside.sum()) - np.log(split.outside.sum()))
        return cls(factor, Widths(across, across, across, log_odds), split)

    def measured(self, epsilon: float, move: Move) -> tuple[float, float]:
        return (self.split if move > 0 else self.split.fall).most(epsilon, self.factor)
