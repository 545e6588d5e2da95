"""The largest distance that is below several others.

The smaller of two distances need not be one: two hops, each short by another of the two, may lead where neither does at
once. What a release keeps that keeps the smaller of both are the shortest ways, and only where these are known is there
an answer. A cap on a distance is one. Of several ψ without steps, every stretch is walked along the flattest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import MetricError
from guessproof.world.checks import Array, positive
from guessproof.world.line_form import LineForm, LineMetric, Metric, Multiple
from guessproof.world.metrics import Discrete


@dataclass(frozen=True)
class Capped(Metric):
    """The smaller of a distance and a cap between any two different values."""

    metric: Metric
    cap: float

    def distance(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.minimum(self.metric.distance(x, y), self.cap * Discrete().distance(x, y))

    def spread(self, x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
        return np.minimum(self.metric.spread(x, y), self.cap * Discrete().spread(x, y))

    @property
    def tail(self) -> tuple[float, float]:
        return min(self.metric.tail, (0.0, self.cap))

    @property
    def line_form(self) -> LineForm | None:
        form = self.metric.line_form
        return None if form is None else form.capped(self.cap)

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.metric.breaks

    @property
    def keeps_triangle(self) -> bool:
        return self.metric.keeps_triangle


def minimum(*metrics: Metric | float) -> Metric:
    """The largest distance below all of these; a number stands for a cap between any two different values.

    >>> from guessproof.world.metrics import Absolute, Clamped
    >>> float(minimum(Absolute(), 2.5).distance(0, 10))
    2.5
    >>> float(minimum(Clamped(0, 10), 3 * Clamped(5, 20)).distance(0, 20))  # 5 … 10 at rate 1, free elsewhere
    5.0
    """
    if len(metrics) < 2:
        raise MetricError("minimum", metrics, "of fewer than two", "give at least two metrics or a metric and a cap")
    caps = [positive(MetricError, "cap", m) for m in metrics if not isinstance(m, Metric)]
    rest: list[Metric] = []
    for metric in (m for m in metrics if isinstance(m, Metric)):
        form = metric.line_form
        if form is not None and form.is_flat:
            caps.append(form.step)
        else:
            rest.append(metric)
    if not rest:
        return Multiple(min(caps), Discrete())
    below = rest[0] if len(rest) == 1 else _flattest(rest)
    return Capped(below, min(caps)) if caps else below


def _flattest(metrics: list[Metric]) -> Metric:
    forms = [m.line_form for m in metrics]
    known = [f for f in forms if f is not None and f.step == 0]
    if len(known) < len(forms):
        raise MetricError(
            "minimum",
            metrics,
            "the smaller of these can be undercut by a detour whose length is not known",
            "use one of them alone, or a Matrix of the shortest ways",
        )
    lowest = known[0]
    for form in known[1:]:
        lowest = lowest.below(form)
    return LineMetric(lowest)
