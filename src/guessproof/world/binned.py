"""The distance of a number that decides on a group: nothing but what is added inside a bin, both groups across."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import MetricError
from guessproof.world.checks import Array
from guessproof.world.line_form import LineForm, LineMetric, Metric

FLAT = LineForm()  # nothing moves


@dataclass(frozen=True)
class Binned(Metric):
    """What x is worth in its piece of the line plus what x' is worth in another; inside one piece a line form.

    A piece ends at a cut (x ≤ cut) and begins above one; `worth` has one number for each piece. Inside one piece
    nothing moves further than twice its worth: that keeps the triangle inequality.

    >>> two = Binned((0.0, 10.0, 20.0), (0.0, 1.0, 1.0, 0.0), most=2.0)
    >>> [float(two.distance(5, x)) for x in (9, 10, 11, 25)]
    [0.0, 0.0, 2.0, 1.0]
    """

    cuts: tuple[float, ...]
    worth: tuple[float, ...]
    most: float
    inside: LineForm = FLAT

    def __post_init__(self) -> None:
        rising = list(self.cuts) == sorted(set(self.cuts)) and bool(np.all(np.isfinite(self.cuts)))
        if not rising or len(self.worth) != len(self.cuts) + 1 or not all(w >= 0 for w in (*self.worth, self.most)):
            raise MetricError("cuts", self.cuts, "are not in order, or lack a worth", "give one for each piece")

    @cached_property
    def _worths(self) -> Array:
        return np.asarray(self.worth, dtype=np.float64)

    def _piece(self, x: ArrayLike) -> np.ndarray[Any, np.dtype[np.intp]]:
        return np.searchsorted(np.asarray(self.cuts), np.asarray(x, dtype=np.float64), side="left")

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        i, j = self._piece(x), self._piece(y)
        both = self._worths[i] + self._worths[j]
        within = np.minimum(LineMetric(self.inside).distance(np.asarray(x, float), np.asarray(y, float)), both)
        return np.minimum(np.where(i == j, within, both), self.most)

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        (low_x, top_x), (low_y, top_y) = self._pieces(x), self._pieces(y)
        both = self._largest(low_x, top_x) + self._largest(low_y, top_y)
        alike = (low_x == top_x) & (low_y == top_y) & (low_x == low_y)
        within = np.minimum(LineMetric(self.inside).spread(x, y), both)
        return np.minimum(np.where(alike, within, both), self.most)

    def _pieces(self, x: tuple[Array, Array]) -> tuple[Any, Any]:
        """An interval between two cuts, both ends included, counts as the piece that its inside lies in."""
        top = self._piece(x[1])
        return np.minimum(np.searchsorted(np.asarray(self.cuts), x[0], side="right"), top), top

    def _largest(self, low: Any, top: Any) -> Array:
        """The largest worth of the pieces from one to another."""
        found = np.maximum(self._worths[low], self._worths[top])
        for spot in np.argwhere(top - low > 1):
            place = tuple(spot)
            found[place] = self._worths[low[place] : top[place] + 1].max()
        return found

    @property
    def tail(self) -> tuple[float, float]:
        return 0.0, self.most

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(sorted({*self.cuts, *self.inside.cuts}))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        inside = LineMetric(self.inside).to_dict()
        return {"cuts": list(self.cuts), "worth": list(self.worth), "most": self.most, "inside": inside}

    @staticmethod
    def from_dict(table: dict[str, Any]) -> Binned:
        """The metric that was written; nothing is executed."""
        try:
            cuts, worth = (tuple(float(v) for v in table[key]) for key in ("cuts", "worth"))
            return Binned(cuts, worth, float(table["most"]), LineMetric.from_dict(table["inside"]).form)
        except (KeyError, TypeError, ValueError):
            raise MetricError("metric", table, "is not a distance between bins", "write cuts and worth") from None
