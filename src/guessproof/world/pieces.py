"""Priors whose log-density is piecewise linear: uniform, exponential, Laplace, histogram.

Tilting such a prior by e^{kx} changes the slopes and nothing else, so one closed form serves all four.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import PriorError
from guessproof.world.checks import Array, frozen, numbers, ordered, positive, real, weights
from guessproof.world.line import LinePrior, Tail, log_sum, split

_FEW = 4  # pieces, up to which they are taken one after the other


@dataclass(frozen=True)
class LogLinear(LinePrior):
    """A density exp(height + slope·(x − anchor)) on each of several adjoining pieces."""

    left: Array = field(init=False, repr=False, compare=False)
    right: Array = field(init=False, repr=False, compare=False)
    anchor: Array = field(init=False, repr=False, compare=False)
    height: Array = field(init=False, repr=False, compare=False)
    slope: Array = field(init=False, repr=False, compare=False)

    def _set_pieces(self, left: ArrayLike, right: ArrayLike, height: ArrayLike, slope: ArrayLike) -> None:
        left, right, height, slope = (np.asarray(v, dtype=np.float64) for v in (left, right, height, slope))
        anchor = np.where(np.isfinite(left), left, right)
        for name, value in zip(
            ("left", "right", "anchor", "height", "slope"), (left, right, anchor, height, slope), strict=True
        ):
            object.__setattr__(self, name, frozen(value))

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(self.left[1:].tolist())

    @property
    def support(self) -> tuple[float, float]:
        return float(self.left[0]), float(self.right[-1])

    @property
    def is_quick(self) -> bool:
        return self.left.size <= _FEW

    @property
    def tails(self) -> tuple[Tail, Tail]:
        low, high = self.support
        return (
            "bounded" if np.isfinite(low) else "memoryless",
            "bounded" if np.isfinite(high) else "memoryless",
        )

    def log_density(self, x: ArrayLike) -> Array:
        x = np.asarray(x, dtype=np.float64)
        # A point where two pieces meet belongs to the denser one: it is possible if either side is.
        pieces = (np.minimum(np.searchsorted(self.right, x, side=s), self.right.size - 1) for s in ("left", "right"))
        value = np.maximum(*(self.height[i] + self.slope[i] * (x - self.anchor[i]) for i in pieces))
        return np.where((x >= self.left[0]) & (x <= self.right[-1]), value, -np.inf)

    def log_tilt(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike = 0.0) -> Array:
        k, a, b, ref = (np.asarray(v, dtype=np.float64) for v in (k, a, b, ref))
        pieces = zip(self.left, self.right, self.anchor, self.height, self.slope, strict=True)
        if self.left.size <= _FEW:
            return _log_tilt_of_few(list(pieces), *np.broadcast_arrays(k, a, b, ref))
        k, a, b, ref = (v[..., None] for v in (k, a, b, ref))
        low, high = np.maximum(a, self.left), np.minimum(b, self.right)
        some = (high > low) & (self.height > -np.inf)
        value = _log_piece(k, low, high, ref, self.anchor, self.height, self.slope)
        return log_sum(np.where(some, value, -np.inf))

    def density_range(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        a, b = (np.asarray(v, dtype=np.float64)[..., None] for v in (a, b))
        low, high = np.maximum(a, self.left), np.minimum(b, self.right)
        touched = high >= low
        with np.errstate(invalid="ignore", over="ignore"):
            ends = [np.exp(self.height + self.slope * (e - self.anchor)) for e in (low, high)]
        least = np.min(np.where(touched, np.minimum(*ends), np.inf), axis=-1)
        most = np.max(np.where(touched, np.maximum(*ends), 0.0), axis=-1)
        beyond = (a[..., 0] < self.left[0]) | (b[..., 0] > self.right[-1])
        return np.where(beyond, 0.0, least), most

    def density_slopes(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        a, b = (np.asarray(v, dtype=np.float64)[..., None] for v in (a, b))
        low, high = np.maximum(a, self.left), np.minimum(b, self.right)
        with np.errstate(invalid="ignore", over="ignore"):
            sides = [np.exp(self.height + self.slope * (e - self.anchor)) for e in (self.left, self.right)]
            slopes = [self.slope * np.exp(self.height + self.slope * (e - self.anchor)) for e in (low, high)]
        some = high > low
        least = np.min(np.where(some, np.minimum(*slopes), np.inf), axis=-1)
        most = np.max(np.where(some, np.maximum(*slopes), -np.inf), axis=-1)
        before, after = np.append(0.0, sides[1]), np.append(sides[0], 0.0)  # at each end of a piece
        edges = np.append(self.left, self.right[-1])
        jumps = edges[np.isfinite(edges) & ~np.isclose(before, after, rtol=1e-13, atol=0.0)]
        jumped = np.any((a < jumps) & (jumps < b), axis=-1)
        outside = (b[..., 0] <= self.left[0]) | (a[..., 0] >= self.right[-1])
        least, most = np.where(jumped, -np.inf, least), np.where(jumped, np.inf, most)
        return np.where(outside, 0.0, least), np.where(outside, 0.0, most)

    def quantile(self, u: ArrayLike) -> Array:
        u = np.asarray(u, dtype=np.float64)
        with np.errstate(invalid="ignore"):  # pieces that hold nothing
            each = _log_piece(np.zeros(1), self.left, self.right, np.zeros(1), self.anchor, self.height, self.slope)
        masses = np.where(self.height > -np.inf, np.exp(each), 0.0)
        edges = np.concatenate([[0.0], np.cumsum(masses)])
        positive_mass = masses > 0
        piece = np.clip(np.searchsorted(edges, u, side="right") - 1, 0, masses.size - 1)
        last = int(np.flatnonzero(positive_mass)[-1])
        piece = np.where(positive_mass[piece], piece, last)
        rest = np.maximum(u - edges[piece], 0.0)
        slope, anchor, density = self.slope[piece], self.anchor[piece], np.exp(self.height[piece])
        from_left = np.isfinite(self.left[piece])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            flat = self.left[piece] + rest / density
            rising = anchor + np.log1p(np.maximum(slope * rest / density, -1.0)) / slope
            unbounded = anchor + np.log(slope * rest / density) / slope
            # Far out, what is left above says where that is: masses before it add up to 1 but for rounding.
            falling = anchor + np.log(-slope * (1 - u) / density) / slope
        far = np.isinf(self.right[piece]) & (2 * rest > masses[piece])
        x = np.where(slope == 0, flat, np.where(far, falling, np.where(from_left, rising, unbounded)))
        return np.clip(x, *self.support)

    def panels(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        a, b = (np.asarray(v, dtype=np.float64)[..., None] for v in (a, b))
        low, high = np.maximum(a, self.left), np.minimum(b, self.right)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(self.slope != 0, 40 / np.abs(self.slope), np.inf)
            low = np.where(self.slope > 0, np.maximum(low, high - reach), low)
            high = np.where(self.slope < 0, np.minimum(high, low + reach), high)
        some = (high > low) & (self.height > -np.inf)
        low, high = np.where(some, low, 0.0), np.where(some, high, 0.0)
        left, right = split(low, high, 6)
        shape = (*left.shape[:-2], -1)
        return left.reshape(shape), right.reshape(shape)


def _log_tilt_of_few(pieces: list[tuple[float, ...]], k: Array, a: Array, b: Array, ref: Array) -> Array:
    """The same piece by piece, each only for the intervals that reach into it."""
    shape, (k, a, b, ref) = a.shape, (v.ravel() for v in (k, a, b, ref))
    total = np.full(a.size, -np.inf)
    for left, right, anchor, height, slope in pieces:
        low, high = np.maximum(a, left), np.minimum(b, right)
        some = np.flatnonzero(high > low) if height > -np.inf else np.empty(0, dtype=np.int64)
        if some.size == a.size:
            part = _log_piece(k, low, high, ref, anchor, height, slope)
            total = part if len(pieces) == 1 else np.logaddexp(total, part)
        elif some.size:
            part = _log_piece(k[some], low[some], high[some], ref[some], anchor, height, slope)
            total[some] = np.logaddexp(total[some], part)
    return total.reshape(shape)


def _log_piece(k: Array, low: Array, high: Array, ref: Array, anchor: Any, height: Any, slope: Any) -> Array:
    """ln ∫_low^high e^{k(x−ref)} f for a piece that holds low … high, +inf where it diverges.

    Measured from the end where the tilted density is largest: a finite one unless it diverges.
    """
    rate = slope + k
    decay = np.abs(rate)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        length = high - low
        fall = decay * length
        end = np.where((rate > 0) | ((rate == 0) & np.isneginf(low)), high, low)
        size = np.where(fall > 0, -np.expm1(-fall) / decay, length)
        value = height + slope * (end - anchor) + k * (end - ref) + np.log(size)
    return np.where(np.isinf(end) | (np.isinf(length) & (rate == 0)), np.inf, value)


@dataclass(frozen=True)
class Uniform(LogLinear):
    """Every value between low and high alike."""

    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = ordered(PriorError, "low, high", self.low, self.high)
        object.__setattr__(self, "low", real(PriorError, "low", low))
        object.__setattr__(self, "high", real(PriorError, "high", high))
        self._set_pieces([low], [high], [-np.log(high - low)], [0.0])

    def __repr__(self) -> str:
        return f"uniform(low={self.low:g}, high={self.high:g})"

    @property
    def name(self) -> str:
        return "uniform"

    @property
    def is_log_concave(self) -> bool:
        return True

    @property
    def mirror(self) -> float:
        return self.low / 2 + self.high / 2

    def stretched(self, factor: float) -> Uniform:
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2 * factor
        return Uniform(middle - half, middle + half)


@dataclass(frozen=True)
class ExponentialPrior(LogLinear):
    """Density e^{−x/scale}/scale on x ≥ 0.

    >>> ExponentialPrior(2.0).log_tilt(0.0, 0, np.inf).round(12) + 0.0
    np.float64(0.0)
    """

    scale: float

    def __post_init__(self) -> None:
        scale = positive(PriorError, "scale", self.scale)
        object.__setattr__(self, "scale", scale)
        self._set_pieces([0.0], [np.inf], [-np.log(scale)], [-1 / scale])

    def __repr__(self) -> str:
        return f"exponential(scale={self.scale:g})"

    @property
    def name(self) -> str:
        return "exponential"

    @property
    def is_log_concave(self) -> bool:
        return True

    def stretched(self, factor: float) -> ExponentialPrior:
        return ExponentialPrior(self.scale * factor)


@dataclass(frozen=True)
class LaplacePrior(LogLinear):
    """Density e^{−|x−mean|/scale}/(2·scale)."""

    mean: float
    scale: float

    def __post_init__(self) -> None:
        mean, scale = real(PriorError, "mean", self.mean), positive(PriorError, "scale", self.scale)
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "scale", scale)
        height = -np.log(2 * scale)
        self._set_pieces([-np.inf, mean], [mean, np.inf], [height, height], [1 / scale, -1 / scale])

    def __repr__(self) -> str:
        return f"laplace(mean={self.mean:g}, scale={self.scale:g})"

    @property
    def name(self) -> str:
        return "laplace"

    @property
    def is_log_concave(self) -> bool:
        return True

    @property
    def mirror(self) -> float:
        return self.mean

    def stretched(self, factor: float) -> LaplacePrior:
        return LaplacePrior(self.mean, self.scale * factor)


@dataclass(frozen=True)
class Histogram(LogLinear):
    """Probability weights[i] spread evenly over edges[i] … edges[i+1]."""

    edges: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        edges, mass = numbers(PriorError, "edges", self.edges), weights("weights", self.weights)
        if edges.size != mass.size + 1:
            raise PriorError(
                "edges",
                self.edges,
                f"{mass.size} weights need {mass.size + 1} edges",
                "give one edge more than weights",
            )
        if np.any(np.diff(edges) <= 0):
            raise PriorError("edges", self.edges, "they do not rise", "sort them and drop repetitions")
        object.__setattr__(self, "edges", tuple(edges.tolist()))
        object.__setattr__(self, "weights", tuple(mass.tolist()))
        keep = np.flatnonzero(mass)
        inner = slice(keep[0], keep[-1] + 1)  # empty cells at either end are outside the support
        with np.errstate(divide="ignore"):
            height = np.log(mass / np.diff(edges))[inner]
        self._set_pieces(edges[:-1][inner], edges[1:][inner], height, np.zeros(height.size))

    def __repr__(self) -> str:
        return f"histogram({len(self.weights)} cells from {self.edges[0]:g} to {self.edges[-1]:g})"

    @property
    def name(self) -> str:
        return "histogram"

    @property
    def mirror(self) -> float | None:
        centres = {low / 2 + high / 2 for low, high in zip(self.edges, reversed(self.edges), strict=True)}
        return centres.pop() if len(centres) == 1 and self.weights == self.weights[::-1] else None

    def stretched(self, factor: float) -> Histogram:
        edges, mass = np.asarray(self.edges), np.asarray(self.weights)
        middle = float(mass @ (edges[1:] + edges[:-1])) / 2
        return Histogram(tuple((middle + factor * (edges - middle)).tolist()), self.weights)
