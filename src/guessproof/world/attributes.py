"""An attribute: a name, what an attacker believes of its value and may know of it, how far apart two values are."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import KnowledgeError, MetricError, ParameterError, PriorError, TrueValueError
from guessproof.world.checks import ordered, positive
from guessproof.world.finite import Finite, is_number
from guessproof.world.line import LinePrior
from guessproof.world.line_form import Metric
from guessproof.world.metrics import Absolute, Discrete, Matrix
from guessproof.world.priors import PartlyKnown, Prior, Unknown
from guessproof.world.times import show_time

if TYPE_CHECKING:
    from guessproof.world.formulas import Formula
    from guessproof.world.joint import Joint

STEPS = 200  # over 99 of 100 people: as finely as somebody would say a true value


class Arithmetic:
    """What can be computed with: attributes, and formulas of them (`world.formulas`)."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Of a formula, the attributes that it is computed from."""
        return ()

    def __add__(self, other: Any) -> Formula:
        return _combined("+", self, other)

    def __radd__(self, other: Any) -> Formula:
        return _combined("+", other, self)

    def __sub__(self, other: Any) -> Formula:
        return _combined("-", self, other)

    def __rsub__(self, other: Any) -> Formula:
        return _combined("-", other, self)

    def __mul__(self, other: Any) -> Formula:
        return _combined("*", self, other)

    def __rmul__(self, other: Any) -> Formula:
        return _combined("*", other, self)

    def __truediv__(self, other: Any) -> Formula:
        return _combined("/", self, other)

    def __rtruediv__(self, other: Any) -> Formula:
        return _combined("/", other, self)

    def __pow__(self, other: Any) -> Formula:
        return _combined("^", self, other)

    def __neg__(self) -> Formula:
        return _combined("*", -1.0, self)


def _combined(sign: str, left: Any, right: Any) -> Formula:
    from guessproof.world.formulas import combined  # only goals that are formulas need it

    return combined(sign, left, right)


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
    bounds: tuple[float, float] | None = None
    is_time: bool = False  # its values are days since 1970

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError("name", self.name, "is not a name", "give a non-empty string")
        if not isinstance(self.prior, (LinePrior, Finite, Unknown, PartlyKnown)):
            raise PriorError("prior", self.prior, "is not a prior", "use normal(…), categorical({…}), unknown(…), …")
        if self.bounds is not None:
            if any(isinstance(end, datetime.date) for end in self.bounds):
                object.__setattr__(self, "is_time", True)
            object.__setattr__(self, "bounds", ordered(ParameterError, "bounds", *self.bounds))
        if self.metric is None:
            positive(MetricError, "scale", self.scale)
        elif not isinstance(self.metric, Metric):
            raise MetricError("metric", self.metric, "is not a metric", "use Absolute(), Discrete(), Clamped(…), …")
        elif self.scale != 1.0:
            raise MetricError("scale", self.scale, "has no meaning beside a metric", "put the scale into the metric")
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

        >>> from guessproof.world.line import Normal
        >>> Attribute("time", Normal(20, 6.28)).roughly(24.7147), Attribute("pay", Normal(2000, 264)).roughly(1772.59)
        ('24.7', '1,775')
        """
        if not isinstance(value, float) or not isinstance(self.prior, LinePrior):
            return self.shown(value)
        if self.is_time:
            return show_time(float(round(value)))
        low, high = (float(self.prior.quantile(share)) for share in (0.005, 0.995))
        if not high > low or abs(value) >= 1e15:
            return self.shown(value)
        place = math.floor(math.log10((high - low) / STEPS))
        step = max(part * 10.0**place for part in (1, 2, 5) if part * 10.0**place <= (high - low) / STEPS)
        text = f"{step * round(value / step) + 0.0:,.{max(0, -place)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text

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
            if isinstance(self.metric, Matrix):
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


def joint_of(attribute: Attribute) -> Joint | None:
    """The joint prior behind an attribute, if its own is a part of one."""
    return getattr(attribute.prior, "joint", None)


def conditioned(attributes: Iterable[Attribute], knows: Mapping[str, Any]) -> dict[str, Attribute]:
    """The attributes as an attacker sees them who knows some of them to lie in an interval or a set."""
    found: dict[str, Attribute] = {}
    joints: dict[tuple[str, ...], Any] = {}
    for attribute in attributes:
        joint, prior = joint_of(attribute), attribute.prior
        if joint is not None:
            own = {name: known for name, known in knows.items() if name in joint.names}
            if own:
                joints.setdefault(joint.names, joint.given(own))
                attribute = replace(attribute, prior=joints[joint.names].marginal(attribute.name))
        elif attribute.name in knows:
            attribute = replace(attribute, prior=_given(prior, knows[attribute.name], attribute.name))
        found[attribute.name] = _narrowed(attribute, prior, knows.get(attribute.name))
    return found


def _narrowed(attribute: Attribute, before: Any, known: Any) -> Attribute:
    """Beside a sample, people's own values range as far as it did before, within what is known of this attribute."""
    prior = attribute.prior
    if not isinstance(before, Finite) or before.between is None or not isinstance(prior, Finite):
        return attribute
    if known is None:
        return replace(attribute, prior=replace(prior, between=before.between))
    if not is_pair(known):
        return replace(attribute, prior=replace(prior, between=None))
    prior = replace(prior, between=before.between_given(*known))
    if attribute.bounds is None:
        return replace(attribute, prior=prior)
    low, high = max(attribute.bounds[0], float(known[0])), min(attribute.bounds[1], float(known[1]))
    if not low < high:
        raise KnowledgeError("knows", known, "lies outside the bounds", f"widen it, or the bounds {attribute.bounds}")
    return replace(attribute, prior=prior, bounds=(low, high))


def is_pair(known: Any) -> bool:
    """Whether knowledge is an interval, and not a set of values."""
    return isinstance(known, (tuple, list)) and len(known) == 2


def _given(prior: Any, known: Any, name: str) -> Any:
    if not isinstance(prior, (Finite, LinePrior)):
        raise KnowledgeError("knows", known, "an unknown prior cannot be conditioned", "narrow its range instead")
    try:
        return prior.given(*known) if is_pair(known) else prior.given(known)
    except KnowledgeError as error:  # say which attribute's
        raise KnowledgeError(f"knows[{name!r}]", known, error.problem, error.remedy) from None
