"""The distance that a query gives rise to on one column of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import MetricError
from guessproof.world.checks import Array
from guessproof.world.line_form import LineForm
from guessproof.world.metrics import Metric


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
