"""Distances between two possible values of a secret, and the form of them on the line that has exact answers.

A guarantee is a metric: ε times a metric bounds how fast ln(likelihood) may vary. Metrics add up
(several releases), can be multiplied (more noise, less noise) and bounded (a cap), with ``+``, ``*``
and :func:`~guessproof.world.minimum.minimum`. Those that queries give rise to are mostly of one form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import MetricError
from guessproof.world.checks import Array, real


@dataclass(frozen=True)
class LineForm:
    """The distance min(|ψ(x) − ψ(x')|, cap) + step·1[x ≠ x'], with ψ rising, piecewise linear.

    ψ has slope slopes[j] between cuts[j−1] and cuts[j] and rises by jumps[j] just above cuts[j].
    Most distances that queries give rise to are of this form, and it has exact answers.
    """

    cuts: tuple[float, ...] = ()
    slopes: tuple[float, ...] = (0.0,)
    jumps: tuple[float, ...] = ()
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
    def ends(self) -> tuple[Array, Array]:
        """Where each straight piece of ψ starts and ends."""
        return np.array([-np.inf, *self.cuts]), np.array([*self.cuts, np.inf])

    def psi(self, x: ArrayLike) -> Array:
        """ψ(x), zero at the first cut (or at 0 for a straight line)."""
        x = np.asarray(x, dtype=np.float64)
        if self.is_straight:
            return times(self.slopes[0], x)
        if self._corners is not None:  # a clamped column: flat outside, no jumps
            return np.asarray(np.interp(x, *self._corners))
        total = times(self.slopes[0], np.minimum(x - self.cuts[0], 0.0))
        ends = (*self.cuts[1:], np.inf)
        for cut, end, slope, jump in zip(self.cuts, ends, self.slopes[1:], self.jumps, strict=True):
            total = total + times(slope, np.clip(x, cut, end) - cut) + jump * (x > cut)
        return total

    def rise(self, x: float, y: float) -> float:
        """How far ψ rises from just below x to just above y ≥ x."""
        between = float(self.psi(y) - self.psi(x)) if y > x else 0.0
        return between + self.jump_at(y)

    def inverse(self, height: Array) -> Array:
        """Up to where ψ stays at or below a height: its inverse, at the cut where it jumps over it."""
        if self.is_straight:
            return height / self.slopes[0]
        found = np.full(np.shape(height), -np.inf)
        for slope, start, end in zip(self.slopes, *self.ends, strict=True):
            at = float(start if np.isfinite(start) else end)
            base = float(self.psi(at)) + (self.jump_at(at) if at == start else 0.0)
            reached = at + (height - base) / slope if slope else np.where(height >= base, end, start)
            found = np.where(reached > start, np.clip(reached, start, end), found)
        return found

    def slope_at(self, x: float) -> float:
        """The slope of ψ just above x."""
        return self.slopes[sum(c <= x for c in self.cuts)]

    @cached_property
    def _corners(self) -> tuple[Array, Array] | None:
        """The cuts and ψ there, where ψ is continuous and flat outside them; None elsewhere."""
        if any(self.jumps) or self.slopes[0] or self.slopes[-1]:
            return None
        cuts = np.asarray(self.cuts)
        return cuts, np.concatenate([[0.0], np.cumsum(np.asarray(self.slopes[1:-1]) * np.diff(cuts))])

    def is_even_around(self, centre: float) -> bool:
        """Whether distances are the same on both sides of a value."""
        cuts = tuple(2 * centre - c for c in reversed(self.cuts))
        return cuts == self.cuts and self.slopes == self.slopes[::-1] and not any(self.jumps)

    @property
    def straightened(self) -> LineForm | None:
        """The distance along a straight line that is nowhere shorter; None where ψ jumps.

        With slopes up to s and no jumps |ψ(x) − ψ(x')| ≤ s·|x − x'|: what is proven with the straight one holds.
        """
        return None if any(self.jumps) else LineForm(slopes=(max(self.slopes),), step=self.step, cap=self.cap)

    @property
    def jumped(self) -> Array:
        """The cuts above which ψ jumps."""
        return np.array([cut for cut, jump in zip(self.cuts, self.jumps, strict=True) if jump])

    def times(self, factor: float) -> LineForm:
        """The same distance, multiplied."""
        return LineForm(
            self.cuts,
            tuple(factor * s for s in self.slopes),
            tuple(factor * j for j in self.jumps),
            factor * self.step,
            factor * self.cap if factor else np.inf,
        )

    def plus(self, other: LineForm) -> LineForm | None:
        """The sum of two distances, or None where it leaves this form."""
        if min(self.cap, other.cap) < np.inf and not (self.is_flat or other.is_flat):
            return None
        cuts = tuple(sorted({*self.cuts, *other.cuts}))
        slopes = tuple(s + t for s, t in zip(self._slopes_on(cuts), other._slopes_on(cuts), strict=True))
        jumps = tuple(self.jump_at(c) + other.jump_at(c) for c in cuts)
        return LineForm(cuts, slopes, jumps, self.step + other.step, min(self.cap, other.cap))

    def below(self, other: LineForm) -> LineForm:
        """The shortest ways if every hop may follow either of two distances without a step."""
        cuts = tuple(sorted({*self.cuts, *other.cuts}))
        slopes = tuple(min(s, t) for s, t in zip(self._slopes_on(cuts), other._slopes_on(cuts), strict=True))
        jumps = tuple(min(self.jump_at(c), other.jump_at(c)) for c in cuts)
        return LineForm(cuts, slopes, jumps, 0.0, min(self.cap, other.cap))

    def capped(self, cap: float) -> LineForm:
        """The smaller of this distance and a constant for any two different values."""
        if cap <= self.step:
            return LineForm(step=cap)
        return LineForm(self.cuts, self.slopes, self.jumps, self.step, min(self.cap, cap - self.step))

    def _slopes_on(self, cuts: tuple[float, ...]) -> list[float]:
        starts = [-np.inf, *cuts]
        return [self.slopes[sum(c <= s for c in self.cuts)] for s in starts]

    def jump_at(self, cut: float) -> float:
        """By how much ψ rises just above a point."""
        return self.jumps[self.cuts.index(cut)] if cut in self.cuts else 0.0


def times(factor: float, x: ArrayLike) -> Array:
    """factor·x with 0·∞ = 0."""
    x = np.asarray(x, dtype=np.float64)
    return factor * x if factor else np.zeros_like(x)


class Metric(ABC):
    """A distance between two possible values."""

    @abstractmethod
    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The distance between values (numbers, or categories for a matrix)."""

    @abstractmethod
    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        """An upper bound on the distance between any value in the interval x and any in y."""

    @property
    def tail(self) -> tuple[float, float]:
        """(slope, offset) with distance(x, y) ≤ slope·|x − y| + offset wherever no break lies between."""
        return 0.0, 0.0

    @property
    def line_form(self) -> LineForm | None:
        """This distance in the form that has exact answers, if it has it."""
        return None

    @property
    def breaks(self) -> tuple[float, ...]:
        """Points of the line where the distance changes abruptly."""
        return ()

    @property
    def keeps_triangle(self) -> bool:
        """Whether no detour is shorter than the direct way; else what a release keeps are the shortest ways."""
        return True

    def __add__(self, other: Metric) -> Metric:
        return Sum((self, other)) if isinstance(other, Metric) else NotImplemented

    def __mul__(self, factor: float) -> Metric:
        return Multiple(factor, self)

    __rmul__ = __mul__


@dataclass(frozen=True)
class Sum(Metric):
    """The sum of metrics: what several releases reveal together."""

    parts: tuple[Metric, ...]

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.sum([m.distance(x, y) for m in self.parts], axis=0)

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        return np.sum([m.spread(x, y) for m in self.parts], axis=0)

    @property
    def tail(self) -> tuple[float, float]:
        tails = [m.tail for m in self.parts]
        return sum(t[0] for t in tails), sum(t[1] for t in tails)

    @property
    def line_form(self) -> LineForm | None:
        total: LineForm | None = LineForm()
        for part in self.parts:
            form = part.line_form
            total = total.plus(form) if total is not None and form is not None else None
        return total

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(b for m in self.parts for b in m.breaks)

    @property
    def keeps_triangle(self) -> bool:
        return all(m.keeps_triangle for m in self.parts)


@dataclass(frozen=True)
class Multiple(Metric):
    """A metric times a factor: 1/b for noise of scale b."""

    factor: float
    metric: Metric

    def __post_init__(self) -> None:
        if real(MetricError, "factor", self.factor) < 0:
            raise MetricError("factor", self.factor, "a distance cannot be negative", "give a factor of 0 or more")

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return self.factor * self.metric.distance(x, y)

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        return times(self.factor, self.metric.spread(x, y))

    @property
    def tail(self) -> tuple[float, float]:
        slope, offset = self.metric.tail
        return self.factor * slope, self.factor * offset

    @property
    def line_form(self) -> LineForm | None:
        form = self.metric.line_form
        return None if form is None else form.times(self.factor)

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.metric.breaks

    @property
    def keeps_triangle(self) -> bool:
        return self.metric.keeps_triangle


@dataclass(frozen=True)
class LineMetric(Metric):
    """min(|ψ(x) − ψ(x')|, cap) + step·1[x ≠ x'], for any rising, piecewise linear ψ with jumps.

    >>> filtered = LineMetric(LineForm((10.0, 120.0), (0.0, 1.0, 0.0), (10.0, 0.0)))
    >>> [float(filtered.distance(5, x)) for x in (10, 20, 200)]
    [0.0, 20.0, 120.0]
    """

    form: LineForm

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        form = self.form
        apart = np.asarray(np.asarray(x) != np.asarray(y), dtype=np.float64)
        return np.minimum(np.abs(form.psi(x) - form.psi(y)), form.cap) + form.step * apart

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        form = self.form
        (a, b), (c, d) = ((form.psi(low), form.psi(high)) for low, high in (x, y))
        same = (x[0] == x[1]) & (y[0] == y[1]) & (x[0] == y[0])
        furthest = np.minimum(np.maximum(np.maximum(b - c, d - a), 0.0), form.cap)
        return furthest + form.step * np.where(same, 0.0, 1.0)

    @property
    def tail(self) -> tuple[float, float]:
        return max(self.form.slopes), self.form.step

    @property
    def line_form(self) -> LineForm:
        return self.form

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.form.cuts

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an absent cap is null."""
        form = self.form
        cap = None if np.isinf(form.cap) else form.cap
        return {
            "cuts": list(form.cuts),
            "slopes": list(form.slopes),
            "jumps": list(form.jumps),
            "step": form.step,
            "cap": cap,
        }

    @staticmethod
    def from_dict(table: dict[str, Any]) -> LineMetric:
        """The metric that was written; nothing is executed."""
        try:
            cuts, slopes, jumps = (tuple(float(v) for v in table[key]) for key in ("cuts", "slopes", "jumps"))
            step = float(table["step"])
            cap = np.inf if table["cap"] is None else float(table["cap"])
        except (KeyError, TypeError, ValueError):
            raise MetricError("metric", table, "is not a distance on the line", "write cuts, slopes, jumps") from None
        fits = len(slopes) == len(cuts) + 1 and len(jumps) == len(cuts) and list(cuts) == sorted(set(cuts))
        numbers = (*slopes, *jumps, step, cap)
        if not fits or not all(v >= 0 for v in numbers) or not np.all(np.isfinite((*cuts, *slopes, *jumps, step))):
            raise MetricError("metric", table, "is not a distance on the line", "slopes and jumps are 0 or more")
        return LineMetric(LineForm(cuts, slopes, jumps, step, cap))
