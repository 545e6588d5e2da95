"""Distances between two possible values of a secret: sums, multiples, caps, bins, and their minimum.

A guarantee is a metric: ε times a metric bounds how fast ln(likelihood) may vary. Metrics are added (several releases),
multiplied (more or less noise) and bounded by a cap. Most metrics that queries give rise to have a `LineForm`,

    min(|ψ(x) − ψ(x′)|, cap) + step·1[x ≠ x′],   ψ non-decreasing and piecewise linear with jumps,

for which risk has exact answers.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from guessproof.errors import MetricError
from guessproof.world.checks import (
    Array,
    Floats,
    Pair,
    floats,
    frozen,
    ordered,
    positive,
    quiet,
    real,
)
from guessproof.world.checks import intervals as sorted_intervals

TRIANGLE_ROUNDING = (
    1e-12  # relative; a table that breaks the triangle inequality by less was rounded
)
Span = tuple[Array, Array]  # low and high ends of intervals


@dataclass(frozen=True)
class LineForm:
    """The distance min(|ψ(x) − ψ(x′)|, cap) + step·1[x ≠ x′].

    ψ has slope slopes[j] between cuts[j−1] and cuts[j] and rises by jumps[j] just above cuts[j].

    >>> LineForm((10.0, 120.0), (0.0, 1.0, 0.0), (10.0, 0.0)).psi([10, 20, 200]).tolist()
    [0.0, 20.0, 120.0]
    """

    cuts: Floats = ()
    slopes: Floats = (0.0,)
    jumps: Floats = ()
    step: float = 0.0
    cap: float = np.inf

    @property
    def is_straight(self) -> bool:
        """Whether ψ is one straight line."""
        return not self.cuts

    @property
    def is_flat(self) -> bool:
        """Whether ψ is constant, so that only the step is left."""
        return not any(self.slopes) and not any(self.jumps)

    @cached_property
    def _segments(self) -> tuple[Array, Array, Array]:
        """A point of each segment, ψ there from inside, and the slope."""
        cuts, slopes = floats(self.cuts), floats(self.slopes)
        first = self.cuts[0] if self.cuts else 0.0
        rises = slopes[:-1] * np.diff(cuts, prepend=first) + self.jumps
        return np.append(first, cuts), np.append(0.0, np.cumsum(rises)), slopes

    def psi(self, x: ArrayLike) -> Array:
        """ψ(x), zero at the first cut (or at 0 for a straight line)."""
        x = floats(x)
        anchor, height, slope = self._segments
        i = np.searchsorted(anchor[1:], x)
        return height[i] + slope[i] * np.where(slope[i] > 0, x - anchor[i], 0.0)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The distance between two values."""
        with quiet():  # of two values at one infinity
            away = np.abs(self.psi(x) - self.psi(y))
        return np.minimum(away, self.cap) + self.step * np.not_equal(x, y)

    def slope_at(self, x: float) -> float:
        """The slope of ψ just above x."""
        return self.slopes[sum(c <= x for c in self.cuts)]

    def jump_at(self, cut: float) -> float:
        """By how much ψ rises just above a point."""
        return self.jumps[self.cuts.index(cut)] if cut in self.cuts else 0.0

    def times(self, factor: float) -> LineForm:
        """The same distance, multiplied."""
        slopes = tuple(factor * slope for slope in self.slopes)
        jumps = tuple(factor * jump for jump in self.jumps)
        cap = factor * self.cap if factor else np.inf
        return LineForm(self.cuts, slopes, jumps, factor * self.step, cap)

    def plus(self, other: LineForm) -> LineForm | None:
        """The sum of two distances, or None where it leaves this form."""
        if min(self.cap, other.cap) < np.inf and not (self.is_flat or other.is_flat):
            return None
        cuts = tuple(sorted({*self.cuts, *other.cuts}))
        slopes = tuple(self.slope_at(x) + other.slope_at(x) for x in (-np.inf, *cuts))
        jumps = tuple(self.jump_at(x) + other.jump_at(x) for x in cuts)
        return LineForm(cuts, slopes, jumps, self.step + other.step, min(self.cap, other.cap))

    def capped(self, cap: float) -> LineForm:
        """The smaller of this distance and a constant for any two different values."""
        if cap <= self.step:
            return LineForm(step=cap)
        return replace(self, cap=min(self.cap, cap - self.step))

    def inverse(self, height: Array) -> Array:
        """Up to where ψ stays at or below a height: its inverse, at the cut where it jumps over it."""
        anchor, base, slope = self._segments
        i = np.searchsorted(base[1:], height, side="right")
        with quiet():
            found = anchor[i] + (height - base[i]) / slope[i]
        ends = np.concatenate([[-np.inf], self.cuts, [np.inf]])
        return np.clip(np.where(np.isnan(found), np.inf, found), ends[i], ends[i + 1])


class Metric:
    """A distance between two possible values: one with a line form, or one that overrides what follows."""

    line_form: LineForm | None = None  # this distance in the form that has exact answers

    @property
    def _inner(self) -> tuple[Metric, ...]:
        """The metrics that it is made of."""
        return getattr(self, "parts", ()) or tuple(
            field for field in vars(self).values() if isinstance(field, Metric)
        )

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The distance between values (numbers, or categories for a matrix)."""
        form = self.line_form
        assert form is not None
        return form.distance(x, y)

    def spread(self, x: Span, y: Span) -> Array:
        """An upper bound on the distance between any value inside the interval x and any inside y.

        No break lies inside either; an interval of width 0 is a point.
        """
        sides = [
            [
                np.where(np.isinf(end), end, np.nextafter(end, other))
                for end, other in (span, span[::-1])
            ]
            for span in (x, y)
        ]
        with quiet():  # of two ends at one infinity other ends say more
            return np.fmax.reduce([self.distance(*pair) for pair in product(*sides)])

    def diameter(self, low: float, high: float) -> float:
        """An upper bound on the distance between any two values of a range."""
        beside = [np.nextafter(self.breaks, to) for to in (-np.inf, self.breaks, np.inf)]
        places = np.clip(np.concatenate([*beside, [low, high]]), low, high)
        with quiet():  # of one infinity and itself
            return float(np.nanmax(self.distance(places[:, None], places)))

    @property
    def breaks(self) -> Floats:
        """Points of the line where the distance changes abruptly."""
        form = self.line_form
        return (
            tuple(b for part in self._inner for b in part.breaks) if form is None else form.cuts
        )

    @property
    def tail(self) -> Pair:
        """(slope, offset) with distance(x, y) ≤ slope·|x − y| + offset wherever no break lies between."""
        form = self.line_form
        if form is not None:
            return max(form.slopes), form.step
        slopes, offsets = zip((0.0, 0.0), *(part.tail for part in self._inner), strict=True)
        return sum(slopes), sum(offsets)

    @property
    def keeps_triangle(self) -> bool:
        """Whether no detour is shorter than the direct way; else a release keeps the shortest paths."""
        return all(part.keeps_triangle for part in self._inner)

    def __add__(self, other: Metric) -> Metric:
        return Sum((self, other)) if isinstance(other, Metric) else NotImplemented

    def __mul__(self, factor: float) -> Metric:
        return Multiple(factor, self)

    __rmul__ = __mul__


@dataclass(frozen=True)
class Absolute(Metric):
    """|x − x'| / scale.

    >>> float(Absolute(scale=2).distance(3, 7))
    2.0
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        scale = positive(MetricError, "scale", self.scale)
        vars(self).update(line_form=LineForm(slopes=(1 / scale,)))


@dataclass(frozen=True)
class Discrete(Metric):
    """1 between any two different values: ordinary differential privacy for one attribute."""

    line_form = LineForm(step=1.0)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return floats(np.asarray(x) != np.asarray(y))


@dataclass(frozen=True)
class Clamped(Metric):
    """|clamp(x) − clamp(x')| / scale: what the sum of a clamped column lets through."""

    low: float
    high: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        ends = self.low, self.high
        ordered(MetricError, "low, high", *ends)
        for end in ends:
            real(MetricError, "low, high", end)
        slope = 1 / positive(MetricError, "scale", self.scale)
        vars(self).update(line_form=LineForm(ends, (0.0, slope, 0.0), (0.0, 0.0)))


class _Listed(Metric):
    """A metric that is made of a list of numbers or pairs, and is compared by it."""

    listed: tuple[Any, ...]

    def __repr__(self) -> str:
        words = (f"{part:g}" if isinstance(part, float) else str(part) for part in self.listed)
        return f"{type(self).__name__}({', '.join(words)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.listed == other.listed

    def __hash__(self) -> int:
        return hash(self.listed)


class Threshold(_Listed):
    """How many of the cuts separate x from x' (x ≤ cut against x > cut): a count with a filter.

    >>> float(Threshold(10, 20).distance(5, 25))
    2.0
    """

    def __init__(self, *cuts: float) -> None:
        found = tuple(sorted(real(MetricError, "cut", c) for c in cuts))
        if not cuts or len(set(found)) < len(cuts):
            raise MetricError("cuts", cuts, "are missing or repeated", "give different numbers")
        self.listed, zeros = found, (0.0,) * (len(cuts) + 1)
        self.line_form = LineForm(found, zeros, (1.0,) * len(cuts))


class Outcome(_Listed):
    """0/1 on whether x lies in a union of intervals: the outcome of a filter.

    >>> [float(Outcome((10, 20)).distance(5, x)) for x in (15, 25)]
    [1.0, 0.0]
    """

    def __init__(self, *intervals: Pair) -> None:
        pairs = sorted_intervals(MetricError, intervals)
        if any(a[1] >= b[0] for a, b in pairwise(pairs)):
            raise MetricError("intervals", intervals, "overlap", "merge them")
        self.intervals = self.listed = tuple(pairs)

    def inside(self, x: ArrayLike) -> Array:
        """1 where x is in the union."""
        x = floats(x)
        return floats(np.any([(x >= a) & (x <= b) for a, b in self.intervals], axis=0))

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.abs(self.inside(x) - self.inside(y))

    @property
    def breaks(self) -> Floats:
        return tuple(e for pair in self.intervals for e in pair if np.isfinite(e))


class Matrix(Metric):
    """Distances between finitely many named values, as a symmetric table."""

    def __init__(self, values: Any, distances: Any) -> None:
        self.values: tuple[Hashable, ...] = tuple(values)
        self.distances = frozen(check_matrix(distances, len(self.values)))
        self._index = {v: i for i, v in enumerate(self.values)}
        if len(self._index) < len(self.values):
            raise MetricError("values", values, "a value is repeated", "name each value once")

    def __repr__(self) -> str:
        return f"Matrix({len(self.values)} values)"

    def _rows(self, x: Any) -> NDArray[np.intp]:
        try:
            return np.vectorize(self._index.__getitem__, otypes=[np.intp])(x)
        except (KeyError, TypeError):
            raise MetricError(
                "value", x, "is not in the table of distances", "add it to the table"
            ) from None

    @cached_property
    def keeps_triangle(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        table = self.distances
        detours = (table[:, k, None] + table[None, k, :] for k in range(len(table)))
        return all(np.all(table <= way * (1 + TRIANGLE_ROUNDING)) for way in detours)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return self.distances[self._rows(x), self._rows(y)]


def check_matrix(distances: Any, size: int) -> Array:
    """A symmetric table of non-negative distances, zero on the diagonal; infinity means no constraint."""
    try:
        table = floats(distances)
    except (TypeError, ValueError):
        table = floats([])
    if table.shape != (size, size):
        problem, remedy = f"is not a table of {size} × {size} numbers", "give one row per value"
    elif not np.all(table >= 0):
        problem, remedy = "holds a NaN or a negative number", "give distances of 0 or more"
    elif np.any(np.diag(table) != 0):
        problem, remedy = "a value is away from itself", "put 0 on the diagonal"
    elif not np.allclose(table, table.T, rtol=TRIANGLE_ROUNDING, atol=TRIANGLE_ROUNDING):
        problem, remedy = "is not symmetric", "make d(x, y) = d(y, x)"
    else:
        return table
    raise MetricError("distance", distances, problem, remedy)


@dataclass(frozen=True)
class Sum(Metric):
    """The sum of metrics: what several releases reveal together."""

    parts: tuple[Metric, ...]

    @cached_property
    def line_form(self) -> LineForm | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        total: LineForm | None = LineForm()
        for part in self.parts:
            form = part.line_form
            total = total.plus(form) if total and form else None
        return total

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.sum([part.distance(x, y) for part in self.parts], axis=0)


@dataclass(frozen=True)
class Multiple(Metric):
    """A metric times a factor: 1/b for noise of scale b."""

    factor: float
    metric: Metric

    def __post_init__(self) -> None:
        if real(MetricError, "factor", self.factor) < 0:
            raise MetricError(
                "factor",
                self.factor,
                "a distance cannot be negative",
                "give a factor of 0 or more",
            )

    @cached_property
    def line_form(self) -> LineForm | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        form = self.metric.line_form
        return form and form.times(self.factor)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return self.factor * self.metric.distance(x, y)

    @property
    def tail(self) -> Pair:
        slope, offset = self.metric.tail
        return self.factor * slope, self.factor * offset


@dataclass(frozen=True)
class Capped(Metric):
    """The smaller of a distance and a cap between any two different values."""

    metric: Metric
    cap: float

    @cached_property
    def line_form(self) -> LineForm | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        form = self.metric.line_form
        return form and form.capped(self.cap)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.minimum(self.metric.distance(x, y), self.cap)


def minimum(*metrics: Metric | float) -> Metric:
    """A distance, but at most a cap between any two different values: a number, or a multiple of `Discrete()`.

    The pointwise minimum of other metrics need not be one: two hops, each short by another of the two, can lead where
    neither does at once. What a release keeps are the shortest paths, whose lengths are not known.

    >>> float(minimum(Absolute(), 2.5).distance(0, 10))
    2.5
    """
    if len(metrics) < 2:
        raise MetricError(
            "minimum",
            metrics,
            "of fewer than two",
            "give at least two metrics or a metric and a cap",
        )
    caps: list[float] = []
    rest: list[Metric] = []
    for metric in metrics:
        form = metric.line_form if isinstance(metric, Metric) else None
        if not isinstance(metric, Metric):
            caps.append(positive(MetricError, "cap", metric))
        elif form and form.is_flat:
            caps.append(form.step)
        else:
            rest.append(metric)
    if len(rest) > 1:
        raise MetricError(
            "minimum",
            rest,
            "the smaller of these can be undercut by a detour whose length is not known",
            "use one of them alone, or a Matrix of the shortest ways",
        )
    return Capped(rest[0], min(caps)) if rest else Multiple(min(caps), Discrete())


@dataclass(frozen=True)
class LineMetric(Metric):
    """The metric of a line form, as ledgers store it.

    >>> filtered = LineMetric(LineForm((10.0, 120.0), (0.0, 1.0, 0.0), (10.0, 0.0)))
    >>> [float(filtered.distance(5, x)) for x in (10, 20, 200)]
    [0.0, 20.0, 120.0]
    """

    form: LineForm

    def __post_init__(self) -> None:
        vars(self).update(line_form=self.form)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an absent cap is null."""
        return _plain(self.form) | {"cap": None if np.isinf(self.form.cap) else self.form.cap}

    @staticmethod
    def from_dict(table: dict[str, Any]) -> LineMetric:
        """The metric that was written; nothing is executed."""
        try:
            cuts, slopes, jumps = (
                tuple(map(float, table[key])) for key in ("cuts", "slopes", "jumps")
            )
            step, cap = table["step"], np.inf if table["cap"] is None else table["cap"]
            form = LineForm(cuts, slopes, jumps, float(step), float(cap))
            rates, fits = (
                [*slopes, *jumps, form.step],
                len(slopes) - 1 == len(cuts) == len(jumps),
            )
            fits = fits and all(0 <= rate < np.inf for rate in rates) and form.cap >= 0
            if fits and _is_rising(cuts):
                return LineMetric(form)
        except (KeyError, TypeError, ValueError):
            pass
        raise MetricError(
            "metric",
            table,
            "is not a distance on the line",
            "write cuts, slopes of 0 or more, jumps",
        )


def _plain(value: Any) -> dict[str, Any]:
    return {
        name: list(field) if isinstance(field, tuple) else field
        for name, field in asdict(value).items()
    }


def _is_rising(cuts: Floats) -> bool:
    return bool(np.all(np.diff([-np.inf, *cuts, np.inf]) > 0))


@dataclass(frozen=True)
class Binned(Metric):
    """The distance of a number that decides on a group: both groups' worth across bins, a line form inside one.

    A bin ends at a cut (x ≤ cut) and begins above one; `worth` has one number for each bin. Inside a bin no two values
    are further apart than twice its worth, which keeps the triangle inequality.

    >>> two = Binned((0.0, 10.0, 20.0), (0.0, 1.0, 1.0, 0.0), most=2.0)
    >>> [float(two.distance(5, x)) for x in (9, 10, 11, 25)]
    [0.0, 0.0, 2.0, 1.0]
    """

    cuts: Floats
    worth: Floats
    most: float
    inside: LineForm = LineForm()

    def __post_init__(self) -> None:
        fits = _is_rising(self.cuts) and len(self.worth) == len(self.cuts) + 1
        if not fits or not min(*self.worth, self.most) >= 0:
            raise MetricError(
                "cuts",
                self.cuts,
                "are not in order, or lack a worth",
                "give one for each piece",
            )

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        worth = np.asarray(self.worth)
        i, j = np.searchsorted(self.cuts, x), np.searchsorted(self.cuts, y)
        both = worth[i] + worth[j]
        inside = np.where(i == j, self.inside.distance(x, y), np.inf)
        return np.minimum(np.minimum(inside, both), self.most)

    @property
    def tail(self) -> Pair:
        return 0.0, self.most

    @property
    def breaks(self) -> Floats:
        return tuple(sorted({*self.cuts, *self.inside.cuts}))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return _plain(self) | {"inside": LineMetric(self.inside).to_dict()}

    @staticmethod
    def from_dict(table: dict[str, Any]) -> Binned:
        """The metric that was written; nothing is executed."""
        try:
            cuts, worth = (tuple(float(v) for v in table[key]) for key in ("cuts", "worth"))
            return Binned(
                cuts, worth, float(table["most"]), LineMetric.from_dict(table["inside"]).form
            )
        except (KeyError, TypeError, ValueError):
            raise MetricError(
                "metric", table, "is not a distance between bins", "write cuts and worth"
            ) from None
