"""The metrics that have a name: plain differences, clamped ones, counted cuts, outcomes, tables."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import MetricError
from guessproof.world.checks import Array, frozen, ordered, positive, real
from guessproof.world.line_form import LineForm, Metric


@dataclass(frozen=True)
class Absolute(Metric):
    """|x − x'| / scale.

    >>> float(Absolute(scale=2).distance(3, 7))
    2.0
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        positive(MetricError, "scale", self.scale)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.abs(np.subtract(x, y)) / self.scale

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        return np.maximum(np.maximum(x[1] - y[0], y[1] - x[0]), 0.0) / self.scale

    @property
    def tail(self) -> tuple[float, float]:
        return 1 / self.scale, 0.0

    @property
    def line_form(self) -> LineForm:
        return LineForm(slopes=(1 / self.scale,))


@dataclass(frozen=True)
class Discrete(Metric):
    """1 between any two different values: ordinary differential privacy for one attribute."""

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.asarray(np.asarray(x) != np.asarray(y), dtype=np.float64)

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        same = (x[0] == x[1]) & (y[0] == y[1]) & (x[0] == y[0])
        return np.where(same, 0.0, 1.0)

    @property
    def tail(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def line_form(self) -> LineForm:
        return LineForm(step=1.0)


@dataclass(frozen=True)
class Clamped(Metric):
    """|clamp(x) − clamp(x')| / scale: what the sum of a clamped column lets through."""

    low: float
    high: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        for end in ordered(MetricError, "low, high", self.low, self.high):
            real(MetricError, "low, high", end)
        positive(MetricError, "scale", self.scale)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.abs(np.clip(x, self.low, self.high) - np.clip(y, self.low, self.high)) / self.scale

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        (a, b), (c, d) = (tuple(np.clip(end, self.low, self.high) for end in pair) for pair in (x, y))
        return np.maximum(np.maximum(b - c, d - a), 0.0) / self.scale

    @property
    def line_form(self) -> LineForm:
        return LineForm((self.low, self.high), (0.0, 1 / self.scale, 0.0), (0.0, 0.0))

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.low, self.high


class Threshold(Metric):
    """How many of the cuts separate x from x' (x ≤ cut against x > cut): a count with a filter.

    >>> float(Threshold(10, 20).distance(5, 25))
    2.0
    """

    def __init__(self, *cuts: float) -> None:
        self.cuts = tuple(sorted(real(MetricError, "cut", c) for c in cuts))
        if not cuts or len(set(self.cuts)) < len(cuts):
            raise MetricError("cuts", cuts, "are missing or repeated", "give different numbers")

    def __repr__(self) -> str:
        return f"Threshold({', '.join(f'{c:g}' for c in self.cuts)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Threshold) and self.cuts == other.cuts

    def __hash__(self) -> int:
        return hash(self.cuts)

    def _level(self, x: ArrayLike) -> Array:
        return np.searchsorted(np.asarray(self.cuts), np.asarray(x, dtype=np.float64), side="left").astype(np.float64)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.abs(self._level(x) - self._level(y))

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        # An interval between two cuts, both ends included, counts as the piece that its inside lies in.
        (low_x, top_x), (low_y, top_y) = self._levels(x), self._levels(y)
        return np.maximum(np.maximum(top_x - low_y, top_y - low_x), 0.0)

    def _levels(self, x: tuple[Array, Array]) -> tuple[Array, Array]:
        top = self._level(x[1])
        return np.minimum(np.searchsorted(np.asarray(self.cuts), x[0], side="right"), top), top

    @property
    def line_form(self) -> LineForm:
        return LineForm(self.cuts, (0.0,) * (len(self.cuts) + 1), (1.0,) * len(self.cuts))

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.cuts


class Outcome(Metric):
    """0/1 on whether x lies in a union of intervals: the outcome of a filter.

    >>> [float(Outcome((10, 20)).distance(5, x)) for x in (15, 25)]
    [1.0, 0.0]
    """

    def __init__(self, *intervals: tuple[float, float]) -> None:
        if not intervals:
            raise MetricError("intervals", intervals, "are missing", "give at least one (low, high)")
        pairs = sorted(_pair(i) for i in intervals)
        if any(a[1] >= b[0] for a, b in pairwise(pairs)):
            raise MetricError("intervals", intervals, "overlap", "merge them")
        self.intervals = tuple(pairs)

    def __repr__(self) -> str:
        return f"Outcome({', '.join(map(str, self.intervals))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and self.intervals == other.intervals

    def __hash__(self) -> int:
        return hash(self.intervals)

    def inside(self, x: ArrayLike) -> Array:
        """1 where x is in the union."""
        x = np.asarray(x, dtype=np.float64)
        return np.any([(x >= a) & (x <= b) for a, b in self.intervals], axis=0).astype(np.float64)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.abs(self.inside(x) - self.inside(y))

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        within = [(np.minimum(*pair) >= a) & (np.maximum(*pair) <= b) for pair in (x, y) for a, b in self.intervals]
        n = len(self.intervals)
        both_in = np.any(within[:n], axis=0) & np.any(within[n:], axis=0)
        touches = [(pair[1] > a) & (pair[0] < b) for pair in (x, y) for a, b in self.intervals]
        both_out = ~np.any(touches[:n], axis=0) & ~np.any(touches[n:], axis=0)
        return np.where(both_in | both_out, 0.0, 1.0)

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(e for pair in self.intervals for e in pair if np.isfinite(e))


class Matrix(Metric):
    """Distances between finitely many named values, as a symmetric table."""

    def __init__(self, values: Any, distances: Any) -> None:
        self.values: tuple[Hashable, ...] = tuple(values)
        self.distances = frozen(check_matrix(distances, len(self.values)))
        if len(set(self.values)) < len(self.values):
            raise MetricError("values", values, "a value is repeated", "name each value once")
        self._index = {v: i for i, v in enumerate(self.values)}

    def __repr__(self) -> str:
        return f"Matrix({len(self.values)} values)"

    def _rows(self, x: Any) -> np.ndarray[Any, np.dtype[np.intp]]:
        labels = np.empty(np.shape(x), dtype=object)
        labels[...] = x
        try:
            return np.asarray([self._index[v] for v in labels.ravel()], dtype=np.intp).reshape(labels.shape)
        except (KeyError, TypeError):
            raise MetricError("value", x, "is not in the table of distances", "add it to the table") from None

    @property
    def keeps_triangle(self) -> bool:
        return self._keeps_triangle

    @cached_property
    def _keeps_triangle(self) -> bool:
        table = self.distances
        detours = (table[:, k, None] + table[None, k, :] for k in range(len(table)))
        return all(bool(np.all(table <= way * (1 + 1e-12))) for way in detours)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return self.distances[self._rows(x), self._rows(y)]

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        raise MetricError("metric", self, "a table has no distances between intervals", "use a finite prior with it")


def check_matrix(distances: Any, size: int) -> Array:
    """A symmetric table of non-negative distances, zero on the diagonal; infinity means no constraint."""
    try:
        table = np.asarray(distances, dtype=np.float64)
    except (TypeError, ValueError):
        raise MetricError("distance", distances, "is not a table of numbers", "give a square table") from None
    if table.shape != (size, size):
        raise MetricError("distance", table.shape, f"is not a table of {size} × {size}", "give one row per value")
    if np.any(np.isnan(table)) or np.any(table < 0):
        raise MetricError("distance", distances, "holds a NaN or a negative number", "give distances of 0 or more")
    if np.any(np.diag(table) != 0):
        raise MetricError("distance", distances, "a value is away from itself", "put 0 on the diagonal")
    both_infinite = np.isinf(table) & np.isinf(table.T)
    gap = np.abs(np.where(both_infinite, 0.0, table) - np.where(both_infinite, 0.0, table.T))
    if np.any(gap > 1e-12 * (1 + np.where(np.isinf(table), 0.0, table))):
        raise MetricError("distance", distances, "is not symmetric", "make d(x, y) = d(y, x)")
    return table


def _pair(interval: Any) -> tuple[float, float]:
    try:
        low, high = interval
    except (TypeError, ValueError):
        raise MetricError("interval", interval, "is not a pair", "give (low, high)") from None
    return ordered(MetricError, "interval", low, high)
