"""How much ln N and ln Z bend as the true place moves, for independent numbers whose densities have edges.

Along one axis N(t) = ∫ m(z) f(z + t) dz, where m is the likelihood (in the goal) averaged over the other number. Let f
be exponential between its breaks x_k (uniform, exponential, Laplace, a histogram, and these truncated), with slopes s
of ln f; a truncated normal density has one curvature everywhere, which cancels in beliefs. With D_k = m(x_k − t) : N,
Δ_k = f(x_k+) − f(x_k−) and λ_k = (ln m)', the derivative G = (ln N)' is E[s] + Σ Δ_k D_k, and

    (ln N)'' = E[s²] − G² + Σ D_k·(s₊f₊ − s₋f₋ − Δ_k λ_k),        where −G² ≤ j² − 2jG for every j,

so that it is at most max (s − j)² + Σ D_k·((s₊ − 2j)f₊ − (s₋ − 2j)f₋ + e|Δ_k|), e the rate at which ln L may change.
Since L is Lipschitz, m_k·∫e^{−e|x−x_k|}f ≤ N ≤ m_k·∫e^{+e|x−x_k|}f: that bounds every D_k. The same holds for Z, where
|G| ≤ e. In a disc D is bounded by what it is without L and e^{ε·diameter}.

Where a break passes an end of G, m jumps from or to 0 and N has a kink of Δ_k D_k. In a disc m' has a second part, the
rim's: Δ_k·h'(z) times L's density at both ends of the chord of half-length h(z), without end where the chord is short,
but its sum over a box is the change of h. Where φ ≥ 0 adds up to S along a side of length w, it lifts a function above
its chord by at most wθ(1 − θ)·S, as 2S/w everywhere would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from guessproof.risk.several.bends import Ends
from guessproof.risk.several.edged_axis import EdgedAxis, Pieces
from guessproof.world.checks import Array
from guessproof.world.goals import Near, Norm, combine, other_side, power_of

_TRIES = 9  # slopes j that are tried


@dataclass(frozen=True)
class EdgedBends:
    """Independent numbers, at least one of whose densities has edges; correct guesses in a box or in a disc."""

    axes: tuple[EdgedAxis, ...]
    norm: Norm
    disc: Near | None  # None: a box
    prior: Callable[[Sequence[float], float], float]  # of a disc around a place, with a radius
    _known: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False, compare=False)

    def goal(self, low: Array, high: Array, epsilon: float) -> Ends:
        """Of ln N."""
        key = (low.tobytes(), high.tobytes(), epsilon)
        if key not in self._known:
            self._known[key] = self._goals(low, high, epsilon)
        return self._known[key]

    def _goals(self, low: Array, high: Array, epsilon: float) -> Ends:
        found = list[tuple[float, float]]()
        for i, axis in enumerate(self.axes):
            if axis.pieces is None:
                least, most = axis.normal.goal(low[i : i + 1], high[i : i + 1], epsilon)
                found.append((float(least[0]), float(most[0])))
            else:
                found.append(self._goal(i, axis, axis.pieces, low, high, epsilon))
        return np.array([f[0] for f in found]), np.array([f[1] for f in found])

    def rest(self, low: Array, high: Array, epsilon: float) -> Ends:
        """Of ln Z."""
        found = list[tuple[float, float]]()
        for i, axis in enumerate(self.axes):
            if axis.pieces is None:
                least, most = axis.normal.rest(low[i : i + 1], high[i : i + 1], epsilon)
                found.append((float(least[0]), float(most[0])))
            else:
                if (i, epsilon) not in self._known:
                    self._known[i, epsilon] = _rest(axis, axis.pieces, epsilon * axis.slope)
                found.append(self._known[i, epsilon])
        return np.array([f[0] for f in found]), np.array([f[1] for f in found])

    def beyond(self, axis: int, at: float, epsilon: float) -> float:
        """The half-lines on either side."""
        one = self.axes[axis]
        return max(one.believed(one.origin + at - one.reach, np.inf, epsilon * one.slope),
                   one.believed(-np.inf, one.origin - at + one.reach, epsilon * one.slope))  # fmt: skip

    def cut(self, axis: int, low: float, high: float) -> float:
        """Where an edge of the density passes an end of the goal, or in the middle."""
        one, middle = self.axes[axis], 0.5 * (low + high)
        if one.pieces is None:
            return middle
        x, before, after, _, _ = one.pieces.breaks
        jumps = x[before != after] - one.origin
        marks = np.concatenate([jumps - one.reach, jumps + one.reach])
        gap = 1e-6 * (high - low)
        marks = marks[(marks > low + gap) & (marks < high - gap)]
        return middle if not marks.size else float(marks[np.argmin(np.abs(marks - middle))])

    def within(self, low: Array, high: Array, epsilon: float, misses: bool) -> float:
        """Whatever the place, its guesses lie in one box; beliefs in it by the product rule."""
        rate = 0.0 if misses else epsilon
        found = [axis.believed(axis.origin + a - axis.reach, axis.origin + b + axis.reach, rate * axis.slope)
                 for axis, a, b in zip(self.axes, low.tolist(), high.tolist(), strict=True)]  # fmt: skip
        return float(np.prod(found))

    def _goal(
        self, i: int, axis: EdgedAxis, pieces: Pieces, low: Array, high: Array, epsilon: float
    ) -> tuple[float, float]:
        a, b = axis.origin + float(low[i]), axis.origin + float(high[i])
        rate = epsilon * axis.slope
        first, last = a - axis.reach, b + axis.reach
        x, *_ = pieces.breaks
        met = (x > first) & (x < last)
        x, before, after, under, over = (side[met] for side in pieces.breaks)
        always = (x > b - axis.reach) & (x < a + axis.reach)  # whatever the place
        jump = after - before
        if self.disc is None:
            if b - axis.reach >= a + axis.reach and x.size:
                return -np.inf, np.inf
            least, most = np.minimum(b - axis.reach, x), np.maximum(a + axis.reach, x)
            with np.errstate(over="ignore", divide="ignore"):
                ends = np.full(x.shape, first), np.full(x.shape, last)
                dense = (
                    np.where(always, 1 / axis.tilted(+1, rate, x, *ends), 0.0),
                    1 / axis.tilted(-1, rate, x, least, most),
                )
            rise, fall = _kinks(x, jump, dense[1], (a, b), axis.reach)
        else:
            dense, rise, fall = self._in_disc(i, self.disc, x, jump, low, high, epsilon)
        lowest, highest = pieces.slopes(first, last)
        mean = [_sum(jump, dense, pick) + s for pick, s in ((min, lowest), (max, highest))]
        if not np.all(np.isfinite(mean)):
            return -np.inf, np.inf
        bends = _Breaks(before, after, under, over, dense, rate, (lowest, highest))
        drift = max(abs(_sum(jump, dense, pick)) for pick in (min, max))
        most = min(bends.most(float(j)) for j in np.linspace(mean[0], mean[1], _TRIES))
        least = min(bends.least(s) for s in (lowest, highest)) - drift**2
        return least - fall, most + rise

    def _in_disc(
        self, i: int, disc: Near, x: Array, jump: Array, low: Array, high: Array, epsilon: float
    ) -> tuple[Ends, float, float]:
        """D of the breaks in a disc, and what the rim adds to (ln N)'': upward and downward."""
        axis, other = self.axes[i], self.axes[1 - i]
        a, b = axis.origin + float(low[i]), axis.origin + float(high[i])
        c, d = other.origin + float(low[1 - i]), other.origin + float(high[1 - i])
        near, far = (np.clip(x - e, -disc.radius, disc.radius) for e in (b, a))  # z of each break, over the box
        chord = _chord(disc, np.clip(0.0, near, far))  # the longest
        with np.errstate(over="ignore", divide="ignore"):
            steep = np.exp(epsilon * self._across(disc, low, high)) / np.float64(self._least(disc, low, high))
        if x.size and not np.isfinite(steep):
            return (np.zeros(x.shape), np.full(x.shape, np.inf)), np.inf, np.inf
        slices = np.minimum(other.prior.quick_mass(c - chord, d + chord), 2 * chord * other.most_density())
        size, steps = steep * np.abs(jump) * self._at_ends(other, disc, (c, d), near, far), (b - a) or 1.0
        left = _rim(disc, -np.minimum(far, 0.0), -np.minimum(near, 0.0), steps)  # h rises left of the place
        right = _rim(disc, np.maximum(near, 0.0), np.maximum(far, 0.0), steps)
        rise, fall = np.where(jump > 0, right, left), np.where(jump > 0, left, right)
        return (np.zeros(x.shape), slices * steep), float(size @ rise), float(size @ fall)

    def _at_ends(self, other: EdgedAxis, disc: Near, places: tuple[float, float], near: Array, far: Array) -> Array:
        """The largest density of the other number at both ends of the chords between two sides, together."""
        long, short = _chord(disc, np.clip(0.0, near, far)), _chord(disc, np.where(-near > far, near, far))
        ends = (places[0] - long, places[1] - short), (places[0] + short, places[1] + long)
        one, two = (np.minimum(other.prior.density_range(*pair)[1], other.most_density()) for pair in ends)
        return one + two

    def _across(self, disc: Near, low: Array, high: Array) -> float:
        """The largest distance between two correct guesses that are possible."""
        spans = list[Any]()
        for axis, a, b in zip(self.axes, low, high, strict=True):
            ends = (
                max(axis.origin + a - axis.reach, axis.prior.support[0]),
                min(axis.origin + b + axis.reach, axis.prior.support[1]),
            )
            spans.append(axis.slope * min(2 * disc.radius, max(ends[1] - ends[0], 0.0)))
        wider = max(0.0, 1 / power_of(self.norm) - 1 / power_of(disc.by))
        whole = 2 * disc.radius * max(axis.slope for axis in self.axes) * 2**wider
        return min(float(combine(self.norm, spans)), whole)

    def _least(self, disc: Near, low: Array, high: Array) -> float:
        """No disc in the box has a lower prior."""
        origin = np.array([axis.origin for axis in self.axes])
        if all(axis.prior.is_log_concave for axis in self.axes):  # so is the prior of a disc, and least at a corner
            corners = [np.where(c, high, low) + origin for c in product((False, True), repeat=2)]
            return min(self._prior(corner, disc.radius) for corner in corners)
        left = disc.radius - float(combine(disc.by, list(0.5 * (high - low))))
        return self._prior(0.5 * (low + high) + origin, left) if left > 0 else 0.0

    def _prior(self, place: Array, radius: float) -> float:
        key = (*place.tolist(), radius)
        if key not in self._known:
            self._known[key] = self.prior(place.tolist(), radius) * (1 - 1e-9)
        return self._known[key]


@dataclass(frozen=True)
class _Breaks:
    """What breaks add to (ln N)'': densities and slopes on either side, D at least and at most, the rate of ln L."""

    before: Array
    after: Array
    under: Array
    over: Array
    dense: Ends
    rate: float
    slopes: tuple[float, float]

    def _weights(self, j: float) -> Array:
        return (self.over - 2 * j) * self.after - (self.under - 2 * j) * self.before

    def most(self, j: float) -> float:
        bend = max((s - j) ** 2 for s in self.slopes)
        return bend + _sum(self._weights(j) + self.rate * np.abs(self.after - self.before), self.dense, max)

    def least(self, mean: float) -> float:
        """But for the square of Σ ΔD, where s has this mean."""
        return _sum(self._weights(mean) - self.rate * np.abs(self.after - self.before), self.dense, min)


def _sum(weights: Array, dense: Ends, pick: Callable[..., Any]) -> float:
    """The least or largest Σ weight·D."""
    with np.errstate(invalid="ignore"):
        ends = [np.where(weights == 0, 0.0, weights * side) for side in dense]
    return float(np.sum((np.minimum if pick is min else np.maximum)(*ends)))


def _rest(axis: EdgedAxis, pieces: Pieces, rate: float) -> tuple[float, float]:
    x, before, after, under, over = pieces.breaks
    ends = np.full(x.shape, -np.inf), np.full(x.shape, np.inf)
    with np.errstate(over="ignore", divide="ignore"):
        dense = 1 / axis.tilted(+1, rate, x, *ends), 1 / axis.tilted(-1, rate, x, *ends)
    bends = _Breaks(before, after, under, over, dense, rate, pieces.slopes(-np.inf, np.inf))
    most = min(bends.most(float(j)) for j in np.linspace(-rate, rate, _TRIES))
    straight = np.array_equal(*pieces.slope)
    same = float(np.min(np.abs(pieces.slope[0]))) if straight else 0.0
    least = same**2 - rate**2 + bends.least(0.0)
    return least, most


def _kinks(x: Array, jump: Array, dense: Array, box: tuple[float, float], reach: float) -> tuple[float, float]:
    """What jumps add to (ln N)'' where they pass an end of the goal in a box: upward and downward."""
    rise, fall = 0.0, 0.0
    for sign in (+1, -1):  # the goal's upper end, its lower end
        mark = x - sign * reach
        size = np.where((mark > box[0]) & (mark < box[1]), sign * jump, 0.0) * np.where(jump == 0, 0.0, dense)
        rise, fall = rise + float(np.sum(np.maximum(size, 0.0))), fall + float(np.sum(np.maximum(-size, 0.0)))
    width = (box[1] - box[0]) or 1.0
    return 2 * rise / width, 2 * fall / width


def _rim(disc: Near, near: Array, far: Array, width: float) -> Array:
    """What |h'| between two distances from the place is worth in a box as wide: its largest, or 2S/w."""
    drop = _chord(disc, near) - _chord(disc, far)
    power = power_of(disc.by)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steep = (far / _chord(disc, far)) ** (power - 1)  # h^p + z^p = r^p
    return np.where(drop > 0, np.minimum(2 * drop / width, np.where(np.isnan(steep), np.inf, steep)), 0.0)


def _chord(disc: Near, z: Array) -> Array:
    return np.maximum(other_side(disc.by, disc.radius, np.abs(z)), 0.0)
