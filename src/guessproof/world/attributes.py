"""An attribute: a name, what an attacker believes of its value and may know of it, how far apart two values are."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import (
    KnowledgeError,
    MetricError,
    ParameterError,
    PriorError,
    TrueValueError,
)
from guessproof.world.checks import Pair, ordered, positive, show_time
from guessproof.world.distances import Absolute, Discrete, Matrix, Metric
from guessproof.world.finite import Finite, is_number
from guessproof.world.line import LinePrior
from guessproof.world.priors import PartlyKnown, Prior, Unknown

if TYPE_CHECKING:
    from guessproof.world.formulas import Formula
    from guessproof.world.joint import Joint

BULK = np.array([0.995, 0.005])  # quantiles between which 99 of 100 people are
STEPS = 200  # over these: as finely as somebody would say a true value


def _operator(sign: str, turned: bool = False) -> Callable[[Any, Any], Formula]:
    def joined(self: Any, other: Any) -> Formula:
        from guessproof.world.formulas import combined  # formulas are made of attributes

        return combined(sign, other, self) if turned else combined(sign, self, other)

    return joined


class Arithmetic:
    """What can be computed with: attributes, and formulas of them (`world.formulas`)."""

    attributes: tuple[
        Attribute, ...
    ] = ()  # of a formula, those that it is computed from, each once
    __add__, __radd__ = _operator("+"), _operator("+", True)
    __sub__, __rsub__ = _operator("-"), _operator("-", True)
    __mul__, __rmul__ = _operator("*"), _operator("*", True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", True)
    __pow__ = _operator("^")

    def __neg__(self) -> Formula:
        return -1.0 * self


@dataclass(frozen=True)
class Attribute(Arithmetic):
    """One sensitive attribute of one person.

    Numbers are |x − x'|/scale apart, categories 0/1, unless `metric` says otherwise. `bounds` are the
    declared range of the column: they say over which true values a worst case ranges, and never cut off the prior.
    Beside a sample they can also be wider than it: people whose values it does not hold are protected too.
    Times are days since 1970: dates are taken for them, and lengths (`datetime.timedelta`) for days.
    """

    name: str
    prior: Prior
    scale: float = 1.0
    metric: Metric | None = None
    bounds: Pair | None = None
    is_time: bool = False  # its values are days since 1970

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError("name", self.name, "is not a name", "give a non-empty string")
        if not isinstance(self.prior, (LinePrior, Finite, Unknown, PartlyKnown)):
            raise PriorError(
                "prior",
                self.prior,
                "is not a prior",
                "use normal(…), categorical({…}), unknown(…), …",
            )
        if self.bounds is not None:
            if any(isinstance(end, datetime.date) for end in self.bounds):
                vars(self).update(is_time=True)
            vars(self).update(bounds=ordered(ParameterError, "bounds", *self.bounds))
        if self.metric is None:
            positive(MetricError, "scale", self.scale)
        elif not isinstance(self.metric, Metric):
            raise MetricError(
                "metric",
                self.metric,
                "is not a metric",
                "use Absolute(), Discrete(), Clamped(…), …",
            )
        elif self.scale != 1.0:
            raise MetricError(
                "scale",
                self.scale,
                "has no meaning beside a metric",
                "put the scale into the metric",
            )
        self._check_fit()

    def __repr__(self) -> str:
        unit = "" if self.metric is None and self.scale == 1.0 else f", {self.distance!r}"
        return f"Attribute({self.name!r}, {self.prior!r}{unit})"

    def shown(self, value: Any) -> str:
        """A value for people: a time as a time."""
        if self.is_time and is_number(value):
            return show_time(float(value))
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    def roughly(self, value: Any) -> str:
        """A true value that was computed and that nobody promises: in steps, a few hundred of them over all people.

        >>> from guessproof.world.priors import Normal
        >>> Attribute("time", Normal(20, 6.28)).roughly(24.7147), Attribute("pay", Normal(2000, 264)).roughly(1772.59)
        ('24.7', '1,775')
        """
        if not isinstance(value, float) or not isinstance(self.prior, LinePrior):
            return self.shown(value)
        if self.is_time:
            return show_time(float(round(value)))
        most = float(np.subtract(*self.prior.quantile(BULK))) / STEPS
        if not 0 < most < math.inf:
            return self.shown(value)
        power = 10.0 ** math.floor(math.log10(most))
        step = power * max(part for part in (1, 2, 5) if part * power <= most)
        return f"{step * round(value / step) + 0.0:,.10g}"

    @property
    def distance(self) -> Metric:
        """The metric in force."""
        if self.metric is not None:
            return self.metric
        return Discrete() if self.is_category else Absolute(self.scale)

    @property
    def is_category(self) -> bool:
        """Whether its values are named one by one, and are not all numbers."""
        if isinstance(self.prior, Unknown):
            return bool(self.prior.values)
        return isinstance(self.prior, Finite) and not self.prior.is_line

    @property
    def range(self) -> Pair:
        """Which true values are possible: the prior's support within the bounds; beside a sample the bounds."""
        prior = self.prior
        low, high = prior.support
        if self.bounds is None:
            return low, high
        low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        if not low <= high:
            raise ParameterError(
                "bounds", self.bounds, "the prior has no probability there", "widen the bounds"
            )
        beside_sample = isinstance(prior, Finite) and prior.between is not None
        return self.bounds if beside_sample else (low, high)

    def check_true(self, value: Any, field: str = "at") -> None:
        """Refuse a true value that a finite prior rules out; between those of a sample every number is possible."""
        assert isinstance(self.prior, Finite)
        if self.prior.between is not None and is_number(value) and math.isfinite(value):
            low, high = self.range
            if not low <= value <= high:
                raise TrueValueError(
                    field,
                    value,
                    "lies outside the sample and the bounds",
                    f"give a value in {low:g} … {high:g}",
                )
        else:
            self.prior.index(value, field)

    def _check_fit(self) -> None:
        prior, metric = self.prior, self.distance
        if not isinstance(prior, Finite):
            if isinstance(metric, Matrix) and not getattr(prior, "values", ()):
                raise MetricError(
                    "metric",
                    metric,
                    "a table of distances needs a finite prior",
                    "use categorical({…})",
                )
        elif isinstance(metric, Matrix) or not (prior.is_line or isinstance(metric, Discrete)):
            values = np.empty(len(prior.values), dtype=object)
            values[:] = prior.values
            try:
                metric.distance(values, values)
            except (TypeError, ValueError, MetricError):
                raise MetricError(
                    "metric",
                    metric,
                    "does not know the prior's values",
                    "use Discrete(), or a Matrix that names them all",
                ) from None


def joint_of(attribute: Attribute) -> Joint | None:
    """The joint prior behind an attribute, if its own is a part of one."""
    return getattr(attribute.prior, "joint", None)


def conditioned(
    attributes: Iterable[Attribute], knows: Mapping[str, Any]
) -> dict[str, Attribute]:
    """The attributes as an attacker sees them who knows some of them to lie in an interval or a set."""
    found: dict[str, Attribute] = {}
    joints: dict[tuple[str, ...], Any] = {}
    for attribute in attributes:
        name, joint, prior = attribute.name, joint_of(attribute), attribute.prior
        if joint is not None:
            own = {known: knows[known] for known in knows if known in joint.names}
            if own and joint.names not in joints:
                joints[joint.names] = joint.given(own)
            prior = joints[joint.names].marginal(name) if own else prior
        elif name in knows:
            prior = _given(attribute, knows[name])
        found[name] = _narrowed(
            replace(attribute, prior=prior), attribute.prior, knows.get(name)
        )
    return found


def _narrowed(attribute: Attribute, before: Any, known: Any) -> Attribute:
    """Beside a sample, people's own values range as far as it did before, within what is known of this attribute."""
    between, bounds, prior = getattr(before, "between", None), attribute.bounds, attribute.prior
    if between is None or not isinstance(prior, Finite):
        return attribute
    if known is not None:
        between = before.between_given(*known) if is_pair(known) else None
        if between is not None and bounds is not None:
            low, high = max(bounds[0], float(known[0])), min(bounds[1], float(known[1]))
            if not low < high:
                raise KnowledgeError(
                    "knows",
                    known,
                    "lies outside the bounds",
                    f"widen it, or the bounds {bounds}",
                )
            bounds = low, high
    return replace(attribute, prior=replace(prior, between=between), bounds=bounds)


def is_pair(known: Any) -> bool:
    """Whether knowledge is an interval, and not a set of values."""
    return isinstance(known, (tuple, list)) and len(known) == 2


def conditioned_prior(prior: Any, known: Any) -> Any:
    """A prior given an interval or a set of values."""
    return prior.given(*known) if is_pair(known) else prior.given(known)


def _given(attribute: Attribute, known: Any) -> Any:
    if not isinstance(attribute.prior, (Finite, LinePrior)):
        raise KnowledgeError(
            "knows", known, "an unknown prior cannot be conditioned", "narrow its range instead"
        )
    try:
        return conditioned_prior(attribute.prior, known)
    except KnowledgeError as error:  # say which attribute's
        raise KnowledgeError(
            f"knows[{attribute.name!r}]", known, error.problem, error.remedy
        ) from None
