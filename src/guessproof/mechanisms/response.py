"""How a query's answer depends on one secret value, everything else being known to the attacker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.mechanisms.base import checked_finite, checked_positive

Curve = Callable[[Any], Any]


@dataclass(frozen=True)
class QueryResponse:
    """q(x) in pieces, each continuous and monotone; ``curves[i]`` holds from ``cuts[i−1]`` up to ``cuts[i]``.

    ``direction`` is +1 or −1 where q rises or falls as a whole (jumps included), 0 otherwise.
    """

    cuts: tuple[float, ...]
    curves: tuple[Curve, ...]
    direction: int = 0
    name: str = "piecewise"
    inverses: tuple[Curve, ...] = ()

    def __call__(self, x: Any) -> Any:
        """q(x); at a cut, the piece to the right."""
        values = np.asarray(x, dtype=float)
        which = np.searchsorted(self.cuts, values, side="right")
        with np.errstate(all="ignore"):
            found = np.select([which == i for i in range(len(self.curves))], [c(values) for c in self.curves])
        return found if found.ndim else float(found)

    def __repr__(self) -> str:
        return self.name

    def inverse(self, piece: int, low: float, high: float, targets: Any) -> Any:
        """The x in [low, high] where the piece reaches each target, clipped; by bisection unless it is given."""
        if self.inverses:
            return np.clip(self.inverses[piece](np.asarray(targets)), low, high)
        curve = self.curves[piece]
        rising = float(curve(np.float64(high))) >= float(curve(np.float64(low)))
        left, right = np.full(np.shape(targets), low), np.full(np.shape(targets), high)
        for _ in range(60):
            middle = 0.5 * (left + right)
            below = (curve(middle) < targets) == rising
            left, right = np.where(below, middle, left), np.where(below, right, middle)
        return 0.5 * (left + right)


@dataclass(frozen=True)
class Linear(QueryResponse):
    """q(x) = slope·x + offset."""

    slope: float = 1.0
    offset: float = 0.0

    def __repr__(self) -> str:
        return self.name


def linear(slope: float, offset: float = 0.0) -> Linear:
    """q(x) = slope·x + offset: the victim's term of a sum or average.

    >>> linear(0.5)(4.0)
    2.0
    """
    slope, offset = checked_finite("slope", slope), checked_finite("offset", offset)
    if slope == 0:
        raise ParameterError("slope", slope, "the answer would not depend on the secret", "give another slope")
    name = f"linear({slope:g}, {offset:g})"
    there, back = (lambda x: slope * x + offset), (lambda q: (q - offset) / slope)
    return Linear((), (there,), 1 if slope > 0 else -1, name, (back,), slope, offset)


def identity() -> Linear:
    """q(x) = x."""
    return linear(1.0)


def clamped(low: float, high: float, slope: float = 1.0) -> QueryResponse:
    """q(x) = slope·min(max(x, low), high), slope above 0: a sum of a clamped column.

    >>> clamped(0, 10)(25)
    10.0
    """
    low, high, slope = (
        checked_finite("low", low),
        checked_finite("high", high),
        checked_positive("slope", slope),
    )
    if low >= high:
        raise ParameterError("low, high", (low, high), "the lower end is not below the upper", "swap or widen them")
    bottom, top = (lambda x: np.full(np.shape(x), slope * low)), (lambda x: np.full(np.shape(x), slope * high))
    curves, back = (bottom, lambda x: slope * x, top), (lambda q: q / slope)
    return QueryResponse((low, high), curves, 1, f"clamped({low:g}, {high:g})", (back, back, back))


def threshold(cut: float, height: float = 1.0) -> QueryResponse:
    """q(x) = height where x ≥ cut, 0 below: a count with a filter.

    >>> threshold(18)([17, 18, 19]).tolist()
    [0.0, 1.0, 1.0]
    """
    cut, height = checked_finite("cut", cut), checked_positive("height", height)
    below, above = (lambda x: np.zeros(np.shape(x))), (lambda x: np.full(np.shape(x), height))
    return QueryResponse((cut,), (below, above), 1, f"threshold({cut:g})")


def piecewise(curves: Sequence[Curve], cuts: Sequence[float] = (), *, direction: int = 0) -> QueryResponse:
    """Any piecewise monotone q, as functions of arrays; say ``direction`` if q rises or falls throughout.

    >>> piecewise([lambda x: -x, lambda x: x], cuts=[0])(-3.0)
    3.0
    """
    points = tuple(checked_finite("cuts", cut) for cut in cuts)
    if list(points) != sorted(set(points)) or len(curves) != len(points) + 1:
        raise ParameterError(
            "cuts", cuts, "they must rise, one fewer than the curves", "sort them, one between two pieces"
        )
    return QueryResponse(points, tuple(curves), direction)
