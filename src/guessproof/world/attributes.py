"""An attribute: a name, what the attacker believes of its value, and how far apart two values are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import MetricError, ParameterError, PriorError, TrueValueError
from guessproof.world.checks import ordered
from guessproof.world.finite import Finite, is_number
from guessproof.world.line import LinePrior
from guessproof.world.metrics import Absolute, Discrete, Matrix, Metric
from guessproof.world.priors import PartlyKnown, Prior, Unknown


@dataclass(frozen=True)
class Attribute:
    """One sensitive attribute of one person.

    Numbers are |x − x'|/scale apart, categories 0/1, unless `metric` says otherwise. `bounds` are the
    declared range of the column: they say over which true values a worst case ranges, and never cut off the prior.
    Beside a sample they can also be wider than it: people whose values it does not hold are protected too.
    """

    name: str
    prior: Prior
    scale: float = 1.0
    metric: Metric | None = None
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError("name", self.name, "is not a name", "give a non-empty string")
        if not isinstance(self.prior, (LinePrior, Finite, Unknown, PartlyKnown)):
            raise PriorError("prior", self.prior, "is not a prior", "use normal(…), categorical({…}), unknown(…), …")
        if self.bounds is not None:
            object.__setattr__(self, "bounds", ordered(ParameterError, "bounds", *self.bounds))
        if self.metric is None:
            Absolute(self.scale)  # validates the scale
        elif not isinstance(self.metric, Metric):
            raise MetricError("metric", self.metric, "is not a metric", "use Absolute(), Discrete(), Clamped(…), …")
        elif self.scale != 1.0:
            raise MetricError("scale", self.scale, "has no meaning beside a metric", "put the scale into the metric")
        self._check_fit()

    def __repr__(self) -> str:
        unit = "" if self.metric is None and self.scale == 1.0 else f", {self.distance!r}"
        return f"Attribute({self.name!r}, {self.prior!r}{unit})"

    @property
    def distance(self) -> Metric:
        """The metric in force."""
        if self.metric is not None:
            return self.metric
        categories = isinstance(self.prior, Finite) and not self.prior.is_line
        return Discrete() if categories else Absolute(self.scale)

    @property
    def range(self) -> tuple[float, float]:
        """Which true values are possible: the prior's support within the bounds; beside a sample the bounds."""
        if isinstance(self.prior, Finite):
            low, high = self.prior.between or (float(self.prior.points[0]), float(self.prior.points[-1]))
        elif isinstance(self.prior, LinePrior):
            low, high = self.prior.support
        else:
            low, high = self.prior.low, self.prior.high
        if self.bounds is None:
            return low, high
        low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        if not low <= high:
            raise ParameterError("bounds", self.bounds, "the prior has no probability there", "widen the bounds")
        return self.bounds if isinstance(self.prior, Finite) and self.prior.between is not None else (low, high)

    def check_true(self, value: Any, field: str = "at") -> None:
        """Refuse a true value that a finite prior rules out; between those of a sample every number is possible."""
        assert isinstance(self.prior, Finite)
        if self.prior.between is not None and is_number(value) and math.isfinite(value):
            low, high = self.range
            if not low <= value <= high:
                problem, remedy = "lies outside the sample and the bounds", f"give a value in {low:g} … {high:g}"
                raise TrueValueError(field, value, problem, remedy)
        else:
            self.prior.index(value, field)

    def _check_fit(self) -> None:
        prior = self.prior
        if not isinstance(prior, Finite):
            if isinstance(self.distance, Matrix):
                raise MetricError(
                    "metric", self.metric, "a table of distances needs a finite prior", "use categorical({…})"
                )
            return
        if isinstance(self.distance, Discrete) or (prior.is_line and not isinstance(self.distance, Matrix)):
            return
        values = np.empty(len(prior.values), dtype=object)
        values[:] = prior.values
        try:
            self.distance.distance(values, values)
        except (TypeError, ValueError, MetricError):
            raise MetricError(
                "metric",
                self.metric,
                "does not know the prior's values",
                "use Discrete(), or a Matrix that names them all",
            ) from None
