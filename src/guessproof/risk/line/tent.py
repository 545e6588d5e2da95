"""Best beliefs in one interval for many true values at once: the tent, on prefix sums over the prior's pieces.

For a goal [lo, hi] and a peak c in it, with tilted masses A = ∫_lo^c e^{εψ} f, C = ∫_{x<lo} e^{εψ} f on the left and
B, D likewise on the right, the odds are at most max(A/C, B/D) for any c, and L = e^{−ε|ψ−ψ(c)|} attains the mediant
(A + B)/(C + D). The two meet where both ratios are equal; a peak at an atom shares its mass between both sides (theory
§5). Beliefs fall to the same expressions with e^{−εψ} and the smaller of the two ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.line.recursion import DOWN, EPS, UP, LineQuestion, tilted_masses
from guessproof.world.checks import Array

Indices = NDArray[np.int64]
STEPS = (
    40  # of a search at most, each fourth one a bisection; any place of the peak gives a bound
)
MET = 1e-14  # of a difference of logarithms, where rounding begins
CANCELS = 16 * EPS  # of a cumulative sum: rounding that a difference of two of them may show
STRAIGHT = 1e-12  # of a tilt: below it the density is constant in floating point


@dataclass(frozen=True)
class Masses:
    """Tilted masses (rows) of pieces, their tilts, and sums of them from both ends."""

    own: Array
    bend: Array
    forward: Array
    backward: Array

    def between(self, row: Indices | int, start: Array, stop: Array) -> Array:
        """ln of a mass between two places, rounded to the row's side; −inf where they are not in order."""
        p, q = start.astype(np.int64), stop.astype(np.int64)
        x, y = start - p, stop - q
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            first = self._part(row, p, x, np.where(p == q, y, 1.0))
            last = self._part(row, q, np.where(p == q, 1.0, 0.0), y)
            p = np.minimum(p + 1, self.own.shape[1] - 1)
            # The difference of two sums, of those that lose fewer digits.
            ahead = self.forward[row, q] <= self.backward[row, p]
            base = np.where(ahead, self.forward[row, q], self.backward[row, p])
            other = np.where(ahead, self.forward[row, p], self.backward[row, q])
            slack = np.where(np.asarray(row) % 2 == 1, CANCELS, -CANCELS)
            whole = base + np.log(np.maximum(slack - np.expm1(other - base), 0.0))
            whole = np.where(
                (p < q) & (base > -np.inf), np.where(base < np.inf, whole, np.inf), -np.inf
            )
            return np.where(
                start < stop, np.logaddexp(np.logaddexp(first, last), whole), -np.inf
            )

    def _part(self, row: Indices | int, piece: Indices, start: Array, stop: Array) -> Array:
        """ln of the mass between two shares of a piece."""
        z = self.bend[row, piece]
        size, wide = np.abs(z), np.maximum(stop - start, 0.0)
        share = np.where(z > 0, z * (stop - 1), z * start) + np.log(
            np.expm1(-size * wide) / np.expm1(-size)
        )
        share = np.where(size < STRAIGHT, np.log(wide), share)
        return np.where(wide > 0, self.own[row, piece] + share, -np.inf)


@dataclass(frozen=True, eq=False)
class Tilts:
    """Tents over runs of a question's pieces; a place is the number of pieces to its left, the last one in shares."""

    question: LineQuestion
    epsilon: float

    @cached_property
    def rate(self) -> Array:
        return self.epsilon * self.question.rate

    @cached_property
    def level(self) -> tuple[Array, Array]:
        """ε·ψ at the left and right end of each piece."""
        return self.epsilon * self.question.position[0], self.epsilon * self.question.position[
            1
        ]

    @cached_property
    def masses(self) -> Masses:
        """Masses of the pieces times e^{εψ}, e^{−εψ} and 1."""
        pieces, (own, whole) = self.question.pieces, tilted_masses(self.question, self.epsilon)
        with np.errstate(invalid="ignore"):
            width = pieces.right - pieces.left
        width = np.where(np.isfinite(width), width, 0.0)
        pad = np.full((6, 1), -np.inf)
        bend = (pieces.slope + np.repeat([1.0, -1.0, 0.0], 2)[:, None] * self.rate) * width
        forward = np.concatenate([pad, np.logaddexp.accumulate(whole, axis=1)], axis=1)
        backward = np.concatenate(
            [np.logaddexp.accumulate(whole[:, ::-1], axis=1)[:, ::-1], pad], axis=1
        )
        return Masses(
            np.concatenate([own, pad], axis=1),
            np.append(bend, np.zeros((6, 1)), axis=1),
            forward,
            backward,
        )

    def odds(self, first: Indices, last: Indices, rises: bool, bound: bool) -> Array:
        """One of both numbers of `bracket`."""
        return self.bracket(first, last, rises)[bound]

    def bracket(self, first: Indices, last: Indices, rises: bool) -> tuple[Array, Array]:
        """ln of odds that are reached for pieces `first` … `last` − 1, and that nothing exceeds (or falls below)."""
        rows = np.array([[UP], [DOWN]]) if rises else np.array([[DOWN], [UP]])
        lo, hi = first.astype(np.float64), last.astype(np.float64)
        up = int(rises)  # the goal's masses are rounded up for a bound of beliefs that rise

        def inside(peak: Array, rounded: int) -> Array:
            """ln A and ln B for a peak."""
            return self.masses.between(
                rows + rounded, np.stack([lo, peak]), np.stack([peak, hi])
            )

        def outside(rounded: int) -> Array:
            """ln C and ln D."""
            stops = np.stack([lo, np.full_like(hi, self.question.goal.size)])
            return self.masses.between(rows + rounded, np.stack([0 * lo, hi]), stops)

        beyond, others = outside(1 - up), outside(up)
        dead = np.isneginf(beyond)  # a goal that reaches an end has one ratio only

        def excess(peak: Array) -> Array:
            """How far a peak lies behind the place where both ratios are equal."""
            with np.errstate(invalid="ignore"):
                left, right = inside(peak, up) - beyond
                return left - right

        low, top = first, last
        while np.any(top - low > 1):
            middle = (low + top) // 2
            late = excess(middle.astype(np.float64)) > 0
            low, top = np.where(late, low, middle), np.where(late, middle, top)
        shares = crossing(lambda u: excess(low + u * (top - low)), lo.shape, MET)
        # Both ends of what is left: where almost nothing lies on one side the peak is needed very closely there.
        attacks, bounds = np.empty((2, 2, lo.size))
        for i, u in enumerate(shares):
            peak = np.where(dead[0], lo, np.where(dead[1], hi, low + u * (top - low)))
            piece = np.minimum(peak.astype(np.int64), self.rate.size - 1)
            start, stop = (ends[piece] for ends in self.level)
            place = (1 if rises else -1) * (start + (peak - piece) * (stop - start))
            shift = np.stack([-place, place])
            with np.errstate(invalid="ignore"):
                ratios = np.where(dead, -np.inf if rises else np.inf, inside(peak, up) - beyond)
                bounds[i] = np.max(ratios, axis=0) if rises else np.min(ratios, axis=0)
                met = np.logaddexp.reduce(inside(peak, 1 - up) + shift)
                attacks[i] = met - np.logaddexp.reduce(others + shift)
        attack, bound = (
            (np.max(attacks, axis=0), np.min(bounds, axis=0))
            if rises
            else (np.min(attacks, axis=0), np.max(bounds, axis=0))
        )
        # Beliefs fall to 0 where what lies beyond outweighs everything.
        return (
            np.where(np.isposinf(others).any(axis=0), -np.inf, attack),
            np.where(np.isposinf(beyond).any(axis=0), -np.inf, bound),
        )

    def log_extreme(self, rises: bool) -> Array:
        """At every knot ln of the largest value (or of 1/the smallest) of a likelihood whose mean is 1."""
        masses, side = self.masses, int(not rises)
        left, right = (
            masses.forward[(UP if rises else DOWN) + side],
            masses.backward[(DOWN if rises else UP) + side],
        )
        place = (1 if rises else -1) * np.append(self.level[0], self.level[1][-1])
        return (-1 if rises else 1) * np.logaddexp(left - place, right + place)


def crossing(
    rising: Callable[[Array], Array], shape: tuple[int, ...], enough: float
) -> tuple[Array, Array]:
    """Between which shares of [0, 1] functions that rise cross 0, up to `enough`; or the end that is nearer to it."""

    def value(u: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(np.tanh(0.5 * rising(u)))

    below, above, last_side = np.zeros(shape), np.ones(shape), np.zeros(shape)
    f_below, f_above = value(below), value(above)
    above = np.where(f_below >= 0, 0.0, above)
    below = np.where(f_above <= 0, 1.0, below)
    for i in range(STEPS):
        with np.errstate(invalid="ignore", divide="ignore"):
            share = f_below / (f_below - f_above)
        inner = (share > 0) & (share < 1) & (i % 4 < 3)
        u = below + np.where(inner, share, 0.5) * (above - below)
        f = value(u)
        side = np.where(f > 0, 1.0, -1.0)
        kept = np.where(
            side == last_side, 0.5, 1.0
        )  # Illinois: an end that stays twice counts half
        f_below, f_above = (
            np.where(f > 0, kept * f_below, f),
            np.where(f > 0, f, kept * f_above),
        )
        met = np.abs(f) <= enough
        below, above = np.where((f <= 0) | met, u, below), np.where((f > 0) | met, u, above)
        last_side = side
        if np.all(below >= above):
            break
    return below, above
