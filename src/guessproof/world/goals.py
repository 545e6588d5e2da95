"""What the attacker wants: which guesses count as correct, given the true value."""

from __future__ import annotations

import functools
import operator
import re
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import GoalError, InputError, TrueValueError
from guessproof.world.attributes import Attribute
from guessproof.world.checks import (
    Array,
    Floats,
    Pair,
    floats,
    intervals,
    listed,
    positive,
    quiet,
    real,
)
from guessproof.world.finite import Finite

Intervals = tuple[
    tuple[Any, Any], ...
]  # low and high ends, of one true value or of an array of them
Attributes = tuple[Attribute, ...]
Truth = Sequence[float] | None  # one number for each member


class Goal:
    """A set of correct guesses G(t) around the true value t, or one that does not depend on it."""

    attribute: Attribute
    depends_on_truth: bool = True  # whether the correct guesses move with the true value

    @property
    def attributes(self) -> Attributes:
        """The attributes that the goal speaks of."""
        return (self.attribute,)

    def edges(self, t: ArrayLike) -> Intervals:
        """The closed intervals of correct guesses, sorted and apart."""
        raise GoalError(
            "goal",
            self,
            "is not a set of intervals of one attribute",
            "ask for goal.attributes",
        )

    def __and__(self, other: Goal) -> Goal:
        """Both goals at once."""
        return And((self, other))

    def __or__(self, other: Goal) -> Goal:
        """At least one of the goals."""
        return Or((self, other))

    def __invert__(self) -> Goal:
        """That the goal is missed."""
        return Not(self)

    def __bool__(self) -> bool:
        raise GoalError(
            "goal",
            self,
            "is neither true nor false",
            "combine goals with &, | and ~, not and, or, not",
        )

    def chosen(self, prior: Finite, t: Any) -> Array:
        """1 for each value of a finite prior that counts as correct."""
        points = prior.points
        return floats(np.any([(points >= a) & (points <= b) for a, b in self.edges(t)], axis=0))


class GoalReach:
    """A radius, or a percentage of the true value: exactly one of them."""

    radius: float | None
    percent: float | None

    def __post_init__(self) -> None:
        if (self.radius is None) == (self.percent is None):
            raise GoalError(
                "within",
                (self.radius, self.percent),
                "needs a radius or a percentage",
                "give one of them",
            )
        if self.radius is not None:
            vars(self).update(radius=positive(GoalError, "radius", self.radius))
        elif positive(GoalError, "percent", self.percent) > 100:
            raise GoalError(
                "percent", self.percent, "is more than the value itself", "give at most 100"
            )

    def around(self, value: Any) -> tuple[Any, Any]:
        """From where to where guesses are correct around a value."""
        reach = self.radius
        if reach is None:
            reach = np.abs(value) * ((self.percent or 0) / 100)
        return value - reach, value + reach

    @property
    def words(self) -> str:
        """The radius, or the percentage."""
        return f"{self.percent:g} %" if self.radius is None else f"{self.radius:g}"


@dataclass(frozen=True)
class Within(GoalReach, Goal):
    """A guess at most `radius` away, or at most `percent` of the true value away."""

    attribute: Attribute
    radius: float | None = None
    percent: float | None = None

    def __post_init__(self) -> None:
        _needs_numbers(self.attribute)
        super().__post_init__()

    def __repr__(self) -> str:
        return f"{self.attribute.name} within {self.words}"

    def edges(self, t: ArrayLike) -> Intervals:
        return (self.around(floats(t)),)

    def window(self, points: Array, t: ArrayLike) -> tuple[Any, Any]:
        """Positions of the first and the last of sorted numbers that are correct, edges included up to rounding."""
        low, high = self.around(floats(t))
        slack = 4 * np.spacing(np.maximum(np.abs(low), np.abs(high)))
        return np.searchsorted(points, low - slack), np.searchsorted(
            points, high + slack, side="right"
        ) - 1

    def turning_points(self, points: Array) -> Array:
        """The true values at which one of the numbers becomes correct, or ceases to be."""
        if self.radius is not None:
            return np.concatenate([points - self.radius, points + self.radius])
        share = (self.percent or 0) / 100
        ends = [points / (1 + share), [0.0]] + ([points / (1 - share)] if share < 1 else [])
        return np.concatenate(ends)

    def chosen(self, prior: Finite, t: Any) -> Array:
        first, last = self.window(prior.points, float(t))
        places = np.arange(len(prior.values))
        return floats((places >= first) & (places <= last))


@dataclass(frozen=True)
class Exactly(Goal):
    """The true value itself."""

    attribute: Attribute

    def __post_init__(self) -> None:
        _is_attribute(self.attribute)

    def __repr__(self) -> str:
        return f"{self.attribute.name} exactly"

    def edges(self, t: ArrayLike) -> Intervals:
        t = floats(t)
        return ((t, t),)

    def chosen(self, prior: Finite, t: Any) -> Array:
        if prior.between is None:
            prior.index(
                t
            )  # refuses what cannot be; a value that a sample does not hold is never guessed
        return np.array([float(v == t) for v in prior.values])


@dataclass(frozen=True)
class Among(Goal):
    """That the value is one of a fixed set."""

    attribute: Attribute
    values: tuple[Hashable, ...]
    depends_on_truth = False

    def __post_init__(self) -> None:
        _is_attribute(self.attribute)
        if not self.values:
            raise GoalError(
                "values", self.values, "the goal is empty", "give at least one value"
            )
        possible = getattr(self.attribute.prior, "values", ())
        for value in self.values:
            if not possible:
                real(GoalError, "values", value)
            elif value not in possible:
                raise GoalError(
                    "values",
                    value,
                    "is not a value of the prior",
                    "choose values that can occur",
                )

    def __repr__(self) -> str:
        return f"{self.attribute.name} among {set(self.values)!r}"

    def edges(self, t: ArrayLike) -> Intervals:
        _needs_numbers(self.attribute)
        points = np.sort(floats(self.values))
        return tuple(zip(points, points, strict=True))

    def chosen(self, prior: Finite, t: Any) -> Array:
        return np.array([float(v in self.values) for v in prior.values])


def span_words(low: float, high: float) -> str:
    """An interval, or what lies above or below a number.

    >>> span_words(3, 4), span_words(3, np.inf), span_words(-np.inf, 4)
    ('in [3, 4]', '≥ 3', '≤ 4')
    """
    if low > -np.inf and high == np.inf:
        return f"≥ {low:g}"
    return f"≤ {high:g}" if low == -np.inf and high < np.inf else f"in [{low:g}, {high:g}]"


@dataclass(frozen=True)
class Inside(Goal):
    """That the value lies in a fixed union of closed intervals."""

    attribute: Attribute
    intervals: tuple[Pair, ...]
    depends_on_truth = False

    def __post_init__(self) -> None:
        _needs_numbers(self.attribute)
        union = _where_true([tuple(intervals(GoalError, self.intervals))], np.any)
        vars(self).update(intervals=tuple((float(a), float(b)) for a, b in union))

    def __repr__(self) -> str:
        words = " or ".join(span_words(a, b) for a, b in self.intervals)
        return f"{self.attribute.name} {words.replace(' or in ', ' or ')}"

    def edges(self, t: ArrayLike) -> Intervals:
        return tuple((np.asarray(a), np.asarray(b)) for a, b in self.intervals)


class Several(Goal):
    """A goal that may speak of several attributes."""

    @property
    def attribute(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        first, *others = self.attributes
        if others:
            raise GoalError(
                "goal", self, "speaks of several attributes", "ask for goal.attributes"
            )
        return first


@dataclass(frozen=True)
class Compound(Several):
    """A goal made of goals. About one attribute only, it is a set of intervals or of values like any other."""

    parts: tuple[Goal, ...]

    sign: ClassVar[str] = ""
    rule: ClassVar[
        Callable[..., Any]
    ]  # the truth of the whole from the truth of the parts, as Boolean arrays

    def __post_init__(self) -> None:
        if not self.parts or not all(isinstance(part, Goal) for part in self.parts):
            raise GoalError(
                "parts", self.parts, "are not goals", "combine goals with &, | and ~"
            )
        flat: list[Goal] = []
        for part in self.parts:
            flat += part.parts if self.sign and isinstance(part, type(self)) else (part,)
        depends = any(part.depends_on_truth for part in flat)
        vars(self).update(parts=tuple(flat), depends_on_truth=depends)
        unique_attributes(flat)

    def __repr__(self) -> str:
        return self.sign.join(
            f"({p!r})" if isinstance(p, (And, Or)) else repr(p) for p in self.parts
        )

    @property
    def attributes(self) -> Attributes:
        return unique_attributes(self.parts)

    def edges(self, t: ArrayLike) -> Intervals:
        _ = self.attribute
        return _where_true([p.edges(t) for p in self.parts], self.rule)

    def chosen(self, prior: Finite, t: Any) -> Array:
        _ = self.attribute
        return floats(self.rule([p.chosen(prior, t) > 0 for p in self.parts], axis=0))


class And(Compound):
    """All of several goals."""

    sign = " & "
    rule = staticmethod(np.all)


class Or(Compound):
    """At least one of several goals."""

    sign = " | "
    rule = staticmethod(np.any)


class Not(Compound):
    """That a goal is missed."""

    def __init__(self, part: Goal) -> None:
        super().__init__((part,))

    def __invert__(self) -> Goal:
        return self.part

    @property
    def part(self) -> Goal:
        """What is missed."""
        return self.parts[0]

    def __repr__(self) -> str:
        return f"~({self.part!r})"

    @staticmethod
    def rule(parts: list[Any], axis: int) -> Any:
        return np.logical_not(parts[0])


@dataclass(frozen=True)
class Given(Several):
    """A goal for an attacker who knows that the values lie in regions: what they rule out counts nowhere."""

    goal: Goal
    known: tuple[Together, ...]

    def __post_init__(self) -> None:
        vars(self).update(depends_on_truth=self.goal.depends_on_truth)

    def __repr__(self) -> str:
        return f"{self.goal!r}, knowing {' and '.join(map(repr, self.known))}"

    @cached_property
    def region(self) -> Goal:
        """All that is known."""
        return functools.reduce(operator.and_, self.known)

    @property
    def attributes(self) -> Attributes:
        return unique_attributes((self.goal, *self.known))

    def __invert__(self) -> Goal:
        return Given(~self.goal, self.known)


Conditional = Given
Norm = str  # "l1", "l2", "linf", or "l" and any number from 1 on, as "l1.5"


class Together(Several):
    """A goal about several numbers at once, which is no combination of goals about each of them."""

    members: Attributes

    @property
    def attributes(self) -> Attributes:
        return self.members

    @abstractmethod
    def holds(self, x: Iterable[ArrayLike], t: Truth) -> Any:
        """Whether the points x (one array per member) are correct guesses where t is true."""

    @abstractmethod
    def decided(self, low: Sequence[Any], high: Sequence[Any], t: Truth) -> tuple[Any, Any]:
        """Of boxes (one array of ends per member): which hold correct guesses only, and which may hold any."""

    def marks(self, member: int, t: Truth) -> Floats:
        """Values of a member beyond which no guess is correct: good edges of cells."""
        return ()


@dataclass(frozen=True)
class Near(Together):
    """A point at most `radius` away in several numbers at once, each in its own unit."""

    members: Attributes
    radius: float
    by: Norm = "l2"

    def __post_init__(self) -> None:
        if len(self.members) < 2:
            raise GoalError(
                "near", self.members, "needs at least two attributes", "for one, use within"
            )
        for attribute in self.members:
            _needs_numbers(attribute)
        if len({a.name for a in self.members}) < len(self.members):
            raise GoalError("near", self.members, "names an attribute twice", "name each once")
        vars(self).update(radius=positive(GoalError, "radius", self.radius))
        check_norm(GoalError, "by", self.by)

    def __repr__(self) -> str:
        return (
            f"({', '.join(a.name for a in self.members)}) within {self.radius:g} by {self.by}"
        )

    def holds(self, x: Iterable[ArrayLike], t: Truth) -> Any:
        points = list(x)
        return self.decided(points, points, t)[0]

    def decided(self, low: Sequence[Any], high: Sequence[Any], t: Truth) -> tuple[Any, Any]:
        assert t is not None
        with quiet():
            sides = [
                (a - c, c - b) for a, b, c in zip(low, high, t, strict=True)
            ]  # beyond c, where above 0
            near = [np.maximum(np.maximum(*pair), 0.0) for pair in sides]
            far = [np.maximum(*np.abs(pair)) for pair in sides]
        return combine(self.by, far) <= self.radius, combine(self.by, near) <= self.radius

    def marks(self, member: int, t: Truth) -> Floats:
        assert t is not None
        return t[member] - self.radius, t[member] + self.radius


def is_norm(norm: Any) -> bool:
    """Whether a text names a norm.

    >>> [is_norm(n) for n in ("l1", "linf", "l2.5", "l0.5", "lx", 2)]
    [True, True, True, False, False, False]
    """
    named = isinstance(norm, str) and re.fullmatch(r"l(inf|[0-9]+(\.[0-9]*)?)", norm)
    return bool(named) and power_of(norm) >= 1


def check_norm(error: type[InputError], field: str, norm: Any) -> None:
    """Refuse what does not name a norm."""
    if not is_norm(norm):
        remedy = "say 'l1', 'l2', 'linf', or l and a number as 'l3'"
        raise error(field, norm, "is not a norm", remedy)


def power_of(norm: Norm) -> float:
    """The p of an ℓp norm."""
    return float(norm[1:])


def combine(norm: Norm, parts: list[Any]) -> Any:
    """The norm of non-negative parts.

    >>> [float(combine(n, [3.0, 4.0])) for n in ("l1", "l2", "linf")]
    [7.0, 5.0, 4.0]
    >>> round(float(combine("l3", [3.0, 4.0])) ** 3, 9)
    91.0
    """
    sizes = np.stack(np.broadcast_arrays(*parts))
    most = np.max(sizes, axis=0)
    with quiet():  # scaled, so that no power overflows; infinite where a part is
        total = np.linalg.norm(sizes / most, power_of(norm), axis=0)
    return np.where((most > 0) & np.isfinite(most), most * total, most)


def other_side(norm: Norm, radius: float, gap: Any) -> Any:
    """How large the other of two parts may be where the norm is at most a radius; negative where it may not at all."""
    power, rest = power_of(norm), 1.0
    if power < np.inf:
        rest = (1 - np.minimum(gap / radius, 1.0) ** power) ** (1 / power)
    return np.where(gap <= radius, radius * rest, -1.0)


def exactly(attribute: Attribute) -> Exactly:
    """The attacker wants the very value."""
    return Exactly(attribute)


def among(attribute: Attribute, values: Iterable[Hashable]) -> Among:
    """The attacker wants to confirm that the value is one of these."""
    values = listed(
        GoalError, "values", values, "is not a set of values", "give a set or a list"
    )
    return Among(attribute, tuple(dict.fromkeys(values)))


def near(attributes: Iterable[Attribute], radius: float, *, by: Norm = "l2") -> Near:
    """The attacker wants a point at most `radius` off, in the norm `by` of several numbers together."""
    members = listed(
        GoalError, "near", attributes, "is not a list of attributes", "give (first, second)"
    )
    return Near(members, radius, by)


def unique_attributes(goals: Iterable[Any]) -> Attributes:
    """The attributes of several goals, each once; one name must not stand for two attributes."""
    found: dict[str, Attribute] = {}
    for attribute in (a for goal in goals for a in goal.attributes):
        if found.setdefault(attribute.name, attribute) != attribute:
            raise GoalError(
                "goal",
                attribute.name,
                "is the name of two different attributes",
                "use one attribute per name",
            )
    return tuple(found.values())


def _where_true(parts: list[Intervals], rule: Callable[..., Any]) -> Intervals:
    """The intervals on which a Boolean combination of unions of intervals holds, up to single points."""
    ends = [end for part in parts for pair in part for end in pair]
    if any(np.ndim(end) for end in ends):
        raise TrueValueError(
            "at",
            "an array",
            "a combined goal needs one true value at a time",
            "ask one at a time",
        )
    cuts = np.unique(floats([-np.inf, 0.0, *ends, np.inf]))
    wide = np.clip(cuts, cuts[1] - 1, cuts[-2] + 1)
    middle = wide[:-1] / 2 + wide[1:] / 2
    known = [np.any([(middle > a) & (middle < b) for a, b in part], axis=0) for part in parts]
    change = np.diff(np.pad(np.asarray(rule(known, axis=0), dtype=np.intp), 1))
    return tuple(zip(cuts[change > 0], cuts[change < 0], strict=True))


def _is_attribute(attribute: Any) -> None:
    if not isinstance(attribute, Attribute):
        raise GoalError(
            "attribute", attribute, "is not an attribute", "give gp.Attribute(name, prior=…)"
        )


def _needs_numbers(attribute: Any) -> None:
    _is_attribute(attribute)
    if attribute.is_category:
        raise GoalError(
            "attribute",
            attribute.name,
            "its values are categories, not numbers",
            "use exactly or among",
        )
