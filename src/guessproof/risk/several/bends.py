"""How much ln N and ln Z bend as the true place moves along an axis (`moving`), for normal numbers.

A normal prior with covariance Σ moved by t is f(z)·e^{−t·Σ⁻¹z} times a number that cancels in beliefs. So for every
likelihood L the masses N(t) = ∫_G Lf and Z(t) = ∫ Lf are log-convex in t, and the second derivative of their logarithms
is the variance of s = (Σ⁻¹z)_i under Lf, in G or everywhere. Under f alone s is normal with variance τ² = (Σ⁻¹)_ii, and
L averaged over the rest is Lipschitz in it: moving s by 1 moves z by e_i/τ². Of all such L e^{+|s|} spreads s furthest,
from which the variance is at most τ²·V(e), V(e) = 1 + e·(e + φ(e)/Φ(e)), e = ε·d(0, e_i)/τ. Independent numbers have
less: of all L that agree on G the one that lies lowest elsewhere gains most, and it falls from G on in every direction,
so that it can pull away from the prior's mean no further than to the far end of G. Within G the variance is at most the
square of Σ_j |Σ⁻¹|_ij r_j where G reaches r_j along every axis. And everywhere it is at least v(e)·τ², with
v² − (2 + e²)v + 1 = 0, since for the density h of s/τ, ln h = −s²/2 + g, Cramér and Rao say Var ≥ 1/E[(s − g')²], and
E[(s − g')²] = 2 + E[g'²] − E[s²].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, exp, pi, sqrt
from typing import Any, Protocol

import numpy as np

from guessproof.world import special
from guessproof.world.checks import Array
from guessproof.world.goals import Norm, combine

_ANGLES = (0.0, 0.4, 0.8, 1.2)  # turns that are tried
_FAR = 30.0  # standard deviations, beyond which masses soon are no numbers
Ends = tuple[Array, Array]  # the least and the most, along each axis


class Bends(Protocol):
    """Second derivatives in the true place along each axis, over boxes of places given as ways from an origin.

    What is added to those of ln N and of ln Z alike cancels in beliefs. Where one is large in few places only, what is
    given stands for it: along a side of length w no more than w²θ(1 − θ)/2 times it may lie between function and chord.
    """

    def goal(self, low: Array, high: Array, epsilon: float) -> Ends:
        """Of ln N, for every likelihood."""
        ...

    def rest(self, low: Array, high: Array, epsilon: float) -> Ends:
        """Of ln Z; the most for likelihoods only that are as low as can be beside the goal."""
        ...

    def beyond(self, axis: int, at: float, epsilon: float) -> float:
        """No belief in guesses around a place that lies `at` or further from the origin along an axis exceeds this."""
        ...

    def cut(self, axis: int, low: float, high: float) -> float:
        """Where a box of places is best cut in two."""
        ...

    def within(self, low: Array, high: Array, epsilon: float, misses: bool) -> float:
        """No belief in guesses around a place in a box exceeds this (before the release for `misses`)."""
        ...


@dataclass(frozen=True)
class NormalBends:
    """Normal numbers."""

    covariance: Array
    slopes: Array
    reach: Array
    norm: Norm

    @property
    def precision(self) -> Array:
        """The inverse of the covariance."""
        return np.asarray(np.linalg.inv(self.covariance), dtype=np.float64)

    @property
    def is_independent(self) -> bool:
        """Whether the numbers are."""
        return not np.any(self.covariance - np.diag(np.diag(self.covariance)))

    def goal(self, low: Array, high: Array, epsilon: float) -> Ends:
        """Of ln N: it is log-convex."""
        return np.zeros(self.reach.size), (np.abs(self.precision) @ self.reach) ** 2

    def rest(self, low: Array, high: Array, epsilon: float) -> Ends:
        """Of ln Z."""
        own = np.diag(self.precision)
        tau, sd = np.sqrt(own), np.sqrt(np.diag(self.covariance))
        pull = epsilon * self.slopes / tau
        far = np.maximum(np.abs(low), np.abs(high))
        ends = (far + self.reach) / sd if self.is_independent else np.full(own.size, np.inf)
        most = own * np.array([spread(float(e), float(end)) for e, end in zip(pull, ends, strict=True)])
        return own * least_spread(pull), most

    def beyond(self, axis: int, at: float, epsilon: float) -> float:
        """Guesses lie beyond a = at − reach, and L averaged over the others is Lipschitz in this number.

        For a normal number ∫_a^∞ e^{e(s−a)}φ and ∫_−∞^a e^{−e(a−s)}φ have one factor in common, and their share is
        P(s > a − e).
        """
        sd = sqrt(float(self.covariance[axis, axis]))
        way = self.covariance[:, axis] / sd  # of all numbers where this one moves by its standard deviation
        rate = epsilon * float(combine(self.norm, list(np.abs(way) * self.slopes)))
        return 0.5 * erfc(((at - float(self.reach[axis])) / sd - rate) / sqrt(2)) * (1 + 1e-12)

    def cut(self, axis: int, low: float, high: float) -> float:
        """In the middle."""
        return 0.5 * (low + high)

    def within(self, low: Array, high: Array, epsilon: float, misses: bool) -> float:
        """Jointly normal numbers: by the product rule in coordinates that are independent.

        z = Ms with independent standard normal s, for M = A·R with AAᵀ = Σ and any turn R. Whatever the place, its
        guesses lie in one interval of each s_k, and ln L rises by ε·d(0, M's column k) at most where s_k does by 1.
        Independent numbers: nothing that corners would not say.
        """
        if self.is_independent or self.reach.size != 2:
            return np.inf
        root, rate = np.linalg.cholesky(self.covariance), 0.0 if misses else epsilon
        middle, half = 0.5 * (low + high), 0.5 * (high - low) + self.reach
        there = np.linalg.solve(root, middle)
        found = 1.0
        for angle in (*_ANGLES, float(np.arctan2(there[1], there[0]))):
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            ways, rows = root @ turn, np.linalg.inv(root @ turn)
            at, reach = rows @ middle, np.abs(rows) @ half
            rates = [rate * float(combine(self.norm, list(np.abs(ways[:, k]) * self.slopes))) for k in (0, 1)]
            found = min(found, float(np.prod([believed(float(at[k] - reach[k]), float(at[k] + reach[k]), rates[k])
                                              for k in (0, 1)])))  # fmt: skip
        return found


def believed(low: float, high: float, e: float) -> float:
    """No belief in an interval of a standard normal number exceeds this where ln L has slopes up to e.

    Cut it at any c. To the right of c nothing beats L = e^{−es}, of what is inside against what is beyond `high`; to
    the left nothing beats e^{+es}; and no belief has better odds than the better side.

    >>> round(believed(-1.0, 1.0, 0.0), 6), round(believed(-1.0, 1.0, 0.5), 4)
    (0.682689, 0.7835)
    """
    cuts = np.linspace(low, high, 33)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = _between(low - e, cuts - e) / special.ndtr(np.float64(low - e))
        right = _between(cuts + e, high + e) / special.ndtr(np.float64(-high - e))
        least = float(np.min(np.where(np.isnan(left + right), np.inf, np.maximum(left, right))))
    return 1.0 if np.isinf(least) else least / (1 + least) * (1 + 1e-9)


def _between(low: Any, high: Any) -> Array:
    """P(low ≤ s ≤ high), by the smaller tails."""
    return np.where(low > 0, special.ndtr(-low) - special.ndtr(-high), special.ndtr(high) - special.ndtr(low))


def least_spread(e: Array) -> Array:
    """No variance of a standard normal number is less after a likelihood whose logarithm has slopes up to e."""
    b = 2 + e**2
    return 2 / (b + np.sqrt(b * b - 4)) * (1 - 1e-12)


def spread(e: float, end: float = np.inf) -> float:
    """The largest E[s²] of a standard normal number after a likelihood whose logarithm has slopes up to e.

    Beyond `end` on either side the likelihood does not rise. On each half-line e^{e·min(s, end)} is the largest then.
    Where `end` lies far below e that has its mass beyond, and none lifts s above what it is there.

    >>> spread(0.0), round(spread(1.0), 4), round(spread(1.0, 0.5), 4)
    (1.0, 2.2876, 1.0868)
    """
    if e == 0:
        return 1.0
    if end < e - _FAR:
        return (1 + end * sqrt(2 / pi) / float(special.erfcx(end / sqrt(2)))) * (1 + 1e-9)
    a, b = -e, min(end - e, 40.0)
    inner = float(special.ndtr(b) - special.ndtr(a))
    top, low = _bell(b), _bell(a)
    beyond = top * float(special.erfcx((b + e) / sqrt(2))) * sqrt(pi / 2)  # e^{e·end − e²/2}·P(s > end)
    second = inner * (1 + e * e) - (b * top - a * low) - 2 * e * (top - low) + (b + e) * top + beyond
    return second / (inner + beyond) * (1 + 1e-9)


def _bell(x: float) -> float:
    return exp(-x * x / 2) / sqrt(2 * pi)
