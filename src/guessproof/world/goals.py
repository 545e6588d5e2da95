"""What the attacker wants: which guesses count as correct, given the true value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import GoalError, TrueValueError
from guessproof.world.attributes import Arithmetic, Attribute
from guessproof.world.checks import Array, ordered, positive, real
from guessproof.world.finite import Finite

if TYPE_CHECKING:
    from guessproof.world.formulas import Formula, FormulaWithin

Intervals = tuple[tuple[Array, Array], ...]


class Goal(ABC):
    """A set of correct guesses G(t) around the true value t, or one that does not depend on it."""

    attribute: Attribute

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes that the goal speaks of."""
        return (self.attribute,)

    @property
    def depends_on_truth(self) -> bool:
        """Whether the correct guesses move with the true value."""
        return True

    @abstractmethod
    def edges(self, t: ArrayLike) -> Intervals:
        """The closed intervals of correct guesses, sorted and apart."""

    def __and__(self, other: Any) -> Goal:
        """Both goals at once."""
        return And((self, other)) if isinstance(other, Goal) else NotImplemented

    def __or__(self, other: Any) -> Goal:
        """At least one of the goals."""
        return Or((self, other)) if isinstance(other, Goal) else NotImplemented

    def __invert__(self) -> Goal:
        """That the goal is missed."""
        return self.part if isinstance(self, Not) else Not(self)

    def __bool__(self) -> bool:
        raise GoalError("goal", self, "is neither true nor false", "combine goals with &, | and ~, not and, or, not")

    def chosen(self, prior: Finite, t: Any) -> Array:
        """1 for each value of a finite prior that counts as correct."""
        points = prior.points
        return np.any([(points >= lo) & (points <= hi) for lo, hi in self.edges(t)], axis=0).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Within(Goal):
    """A guess at most `radius` away, or at most `percent` of the true value away."""

    attribute: Attribute
    radius: float | None = None
    percent: float | None = None

    def __post_init__(self) -> None:
        _needs_numbers(self.attribute)
        if (self.radius is None) == (self.percent is None):
            raise GoalError("within", (self.radius, self.percent), "needs a radius or a percentage", "give one of them")
        if self.radius is not None:
            object.__setattr__(self, "radius", positive(GoalError, "radius", self.radius))
        elif positive(GoalError, "percent", self.percent) > 100:
            raise GoalError("percent", self.percent, "is more than the value itself", "give at most 100")

    def __repr__(self) -> str:
        size = f"{self.radius:g}" if self.radius is not None else f"{self.percent:g} %"
        return f"{self.attribute.name} within {size}"

    def edges(self, t: ArrayLike) -> Intervals:
        t = np.asarray(t, dtype=np.float64)
        reach = self.radius if self.radius is not None else np.abs(t) * (float(self.percent or 0) / 100)
        return ((t - reach, t + reach),)

    def window(self, points: Array, t: ArrayLike) -> tuple[Any, Any]:
        """Positions of the first and the last of sorted numbers that are correct, edges included up to rounding."""
        lo, hi = self.edges(t)[0]
        slack = 4 * np.spacing(np.maximum(np.abs(lo), np.abs(hi)))
        return np.searchsorted(points, lo - slack), np.searchsorted(points, hi + slack, side="right") - 1

    def turning_points(self, points: Array) -> Array:
        """The true values at which one of the numbers becomes correct, or ceases to be."""
        if self.radius is not None:
            return np.concatenate([points - self.radius, points + self.radius])
        share = float(self.percent or 0) / 100
        ends = [points / (1 + share), [0.0]] + ([points / (1 - share)] if share < 1 else [])
        return np.concatenate(ends)

    def chosen(self, prior: Finite, t: Any) -> Array:
        chosen = np.zeros(len(prior.values))
        first, last = self.window(prior.points, float(t))
        chosen[int(first) : int(last) + 1] = 1.0
        return chosen


@dataclass(frozen=True, repr=False)
class Exactly(Goal):
    """The true value itself."""

    attribute: Attribute

    def __post_init__(self) -> None:
        _is_attribute(self.attribute)

    def __repr__(self) -> str:
        return f"{self.attribute.name} exactly"

    def edges(self, t: ArrayLike) -> Intervals:
        t = np.asarray(t, dtype=np.float64)
        return ((t, t),)

    def chosen(self, prior: Finite, t: Any) -> Array:
        chosen = np.zeros(len(prior.values))
        if prior.between is None or prior.holds(t):  # a value that a sample does not hold is never guessed
            chosen[prior.index(t)] = 1.0
        return chosen


@dataclass(frozen=True, repr=False)
class Among(Goal):
    """That the value is one of a fixed set."""

    attribute: Attribute
    values: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        _is_attribute(self.attribute)
        if not self.values:
            raise GoalError("values", self.values, "the goal is empty", "name at least one value")
        prior = self.attribute.prior
        if not isinstance(prior, Finite):
            for value in self.values:
                real(GoalError, "values", value)
        else:
            for value in self.values:
                if value not in prior.values:
                    raise GoalError("values", value, "is not a value of the prior", "choose values that can occur")

    def __repr__(self) -> str:
        return f"{self.attribute.name} among {set(self.values)!r}"

    @property
    def depends_on_truth(self) -> bool:
        return False

    def edges(self, t: ArrayLike) -> Intervals:
        _needs_numbers(self.attribute)
        points = sorted(float(v) for v in self.values)  # pyright: ignore[reportArgumentType]
        return tuple((np.asarray(p), np.asarray(p)) for p in points)

    def chosen(self, prior: Finite, t: Any) -> Array:
        return np.array([1.0 if v in self.values else 0.0 for v in prior.values])


def span_words(low: float, high: float) -> str:
    """An interval, or what lies above or below a number.

    >>> span_words(3, 4), span_words(3, np.inf), span_words(-np.inf, 4)
    ('in [3, 4]', '≥ 3', '≤ 4')
    """
    if low > -np.inf and high == np.inf:
        return f"≥ {low:g}"
    return f"≤ {high:g}" if low == -np.inf and high < np.inf else f"in [{low:g}, {high:g}]"


@dataclass(frozen=True, repr=False)
class Inside(Goal):
    """That the value lies in a fixed union of closed intervals."""

    attribute: Attribute
    intervals: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        _needs_numbers(self.attribute)
        if not self.intervals:
            raise GoalError("intervals", self.intervals, "the goal is empty", "give at least one (low, high)")
        try:
            pairs = sorted(ordered(GoalError, "interval", *pair) for pair in self.intervals)
        except TypeError:
            raise GoalError("intervals", self.intervals, "is not a list of pairs", "give (low, high), …") from None
        merged: list[tuple[float, float]] = []
        for low, high in pairs:
            if merged and low <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        object.__setattr__(self, "intervals", tuple(merged))

    def __repr__(self) -> str:
        words = " or ".join(span_words(a, b) for a, b in self.intervals)
        return f"{self.attribute.name} {words.replace(' or in ', ' or ')}"

    @property
    def depends_on_truth(self) -> bool:
        return False

    def edges(self, t: ArrayLike) -> Intervals:
        return tuple((np.asarray(a), np.asarray(b)) for a, b in self.intervals)


@dataclass(frozen=True, repr=False)
class Compound(Goal):
    """A goal made of goals. About one attribute only, it is a set of intervals or of values like any other."""

    parts: tuple[Goal, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 1 or not all(isinstance(p, Goal) for p in self.parts):
            raise GoalError("parts", self.parts, "are not goals", "combine goals with &, | and ~")
        flat = [q for p in self.parts for q in (p.parts if type(p) is type(self) is not Not else (p,))]  # pyright: ignore[reportAttributeAccessIssue]
        object.__setattr__(self, "parts", tuple(flat))
        unique_attributes(self.parts)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return unique_attributes(self.parts)

    @property
    def attribute(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        first, *others = self.attributes
        if others:
            raise GoalError("goal", self, "speaks of several attributes", "ask for goal.attributes")
        return first

    @property
    def depends_on_truth(self) -> bool:
        return any(p.depends_on_truth for p in self.parts)

    def edges(self, t: ArrayLike) -> Intervals:
        _ = self.attribute
        return _where_true([p.edges(t) for p in self.parts], self._holds)

    def chosen(self, prior: Finite, t: Any) -> Array:
        _ = self.attribute
        return self._holds([p.chosen(prior, t) > 0.5 for p in self.parts]).astype(np.float64)

    @abstractmethod
    def _holds(self, parts: list[Any]) -> Any:
        """The truth of the whole from the truth of the parts, as Boolean arrays."""


@dataclass(frozen=True, repr=False)
class And(Compound):
    """All of several goals."""

    def __repr__(self) -> str:
        return " & ".join(_bracketed(p) for p in self.parts)

    def _holds(self, parts: list[Any]) -> Any:
        return np.all(parts, axis=0)


@dataclass(frozen=True, repr=False)
class Or(Compound):
    """At least one of several goals."""

    def __repr__(self) -> str:
        return " | ".join(_bracketed(p) for p in self.parts)

    def _holds(self, parts: list[Any]) -> Any:
        return np.any(parts, axis=0)


@dataclass(frozen=True, repr=False)
class Not(Compound):
    """That a goal is missed."""

    def __init__(self, part: Goal) -> None:
        object.__setattr__(self, "parts", (part,))
        self.__post_init__()

    @property
    def part(self) -> Goal:
        """What is missed."""
        return self.parts[0]

    def __repr__(self) -> str:
        return f"~{_bracketed(self.part)}" if isinstance(self.part, Compound) else f"~({self.part!r})"

    def _holds(self, parts: list[Any]) -> Any:
        return np.logical_not(parts[0])


class Conditional(Goal):
    """A goal for an attacker who knows that the values lie in a region: what he rules out counts nowhere."""

    goal: Goal

    @property
    @abstractmethod
    def region(self) -> Goal:
        """What is known."""


Norm = str  # "l1", "l2", "linf", or "l" and any number from 1 on, as "l1.5"


class Together(Goal):
    """A goal about several numbers at once, which is no combination of goals about each of them."""

    members: tuple[Attribute, ...]

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.members

    @property
    def attribute(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise GoalError("goal", self, "speaks of several attributes", "ask for goal.attributes")

    def edges(self, t: ArrayLike) -> Intervals:
        raise GoalError("goal", self, "is not a set of intervals of one attribute", "ask for goal.holds")

    @abstractmethod
    def holds(self, x: Iterable[ArrayLike], t: Sequence[float] | None) -> Any:
        """Whether the points x (one array per member) are correct guesses where t is true."""

    @abstractmethod
    def decided(self, low: Sequence[Any], high: Sequence[Any], t: Sequence[float] | None) -> tuple[Any, Any]:
        """Of boxes (one array of ends per member): which hold correct guesses only, and which may hold any."""

    def marks(self, member: int, t: Sequence[float] | None) -> tuple[float, ...]:
        """Values of a member beyond which no guess is correct: good edges of cells."""
        return ()


@dataclass(frozen=True, repr=False)
class Near(Together):
    """A point at most `radius` away in several numbers at once, each in its own unit."""

    members: tuple[Attribute, ...]
    radius: float
    by: Norm = "l2"

    def __post_init__(self) -> None:
        if not isinstance(self.members, tuple) or len(self.members) < 2:
            raise GoalError("near", self.members, "needs at least two attributes", "for one, use within")
        for attribute in self.members:
            _needs_numbers(attribute)
        if len({a.name for a in self.members}) < len(self.members):
            raise GoalError("near", self.members, "names an attribute twice", "name each once")
        object.__setattr__(self, "radius", positive(GoalError, "radius", self.radius))
        if not is_norm(self.by):
            raise GoalError("by", self.by, "is not a norm", "say 'l1', 'l2', 'linf', or l and a number as 'l3'")

    def __repr__(self) -> str:
        return f"({', '.join(a.name for a in self.members)}) within {self.radius:g} by {self.by}"

    def holds(self, x: Iterable[ArrayLike], t: Sequence[float] | None) -> Any:
        assert t is not None
        gaps = [np.abs(np.subtract(a, b)) for a, b in zip(x, t, strict=True)]
        return combine(self.by, gaps) <= self.radius

    def decided(self, low: Sequence[Any], high: Sequence[Any], t: Sequence[float] | None) -> tuple[Any, Any]:
        assert t is not None
        with np.errstate(invalid="ignore"):
            near = [np.maximum(np.maximum(a - c, c - b), 0.0) for a, b, c in zip(low, high, t, strict=True)]
            far = [np.maximum(np.abs(a - c), np.abs(b - c)) for a, b, c in zip(low, high, t, strict=True)]
        return combine(self.by, far) <= self.radius, combine(self.by, near) <= self.radius

    def rim(self, t: Sequence[float], count: int) -> tuple[Array, Array]:
        """Points of the edge around t, for two numbers."""
        angle = 2 * np.pi * np.arange(count) / count
        ways = [np.cos(angle), np.sin(angle)]
        size = self.radius / combine(self.by, [np.abs(way) for way in ways])
        return t[0] + size * ways[0], t[1] + size * ways[1]

    def marks(self, member: int, t: Sequence[float] | None) -> tuple[float, ...]:
        assert t is not None
        return t[member] - self.radius, t[member] + self.radius


def is_norm(norm: Any) -> bool:
    """Whether a text names a norm.

    >>> [is_norm(n) for n in ("l1", "linf", "l2.5", "l0.5", "lx", 2)]
    [True, True, True, False, False, False]
    """
    if not isinstance(norm, str) or not norm.startswith("l"):
        return False
    try:
        return norm == "linf" or (norm[1:2].isdigit() and 1 <= float(norm[1:]) < np.inf)
    except ValueError:
        return False


def power_of(norm: Norm) -> float:
    """The p of an ℓp norm."""
    return np.inf if norm == "linf" else float(norm[1:])


def combine(norm: Norm, parts: list[Any]) -> Any:
    """The norm of non-negative parts.

    >>> [float(combine(n, [3.0, 4.0])) for n in ("l1", "l2", "linf")]
    [7.0, 5.0, 4.0]
    >>> round(float(combine("l3", [3.0, 4.0])) ** 3, 9)
    91.0
    """
    power = power_of(norm)
    if np.isinf(power):
        total = parts[0]
        for part in parts[1:]:
            total = np.maximum(total, part)
        return total
    if power not in (1, 2):
        return _ell(power, parts)
    total = parts[0] if power == 1 else np.square(parts[0])
    for part in parts[1:]:
        total = total + (part if power == 1 else np.square(part))
    return total if power == 1 else np.sqrt(total)


def other_side(norm: Norm, radius: float, gap: Any) -> Any:
    """How large the other of two parts may be where the norm is at most a radius; negative where it may not at all."""
    power = power_of(norm)
    share = np.minimum(gap / radius, 1.0)
    rest = 1.0 if np.isinf(power) else np.power(np.maximum(1 - np.power(share, power), 0.0), 1 / power)
    return np.where(gap <= radius, radius * rest, -1.0)


def _ell(power: float, parts: list[Any]) -> Any:
    """Scaled by the largest part, so that no power overflows; infinite where a part is."""
    most = combine("linf", parts)
    size = np.where((most > 0) & np.isfinite(most), most, 1.0)
    total = np.sum([np.power(np.minimum(part, size) / size, power) for part in np.broadcast_arrays(*parts)], axis=0)
    return np.where(np.isfinite(most), size * np.power(total, 1 / power) * (most > 0), most)


@overload
def within(attribute: Attribute, radius: float | None = None, *, percent: float | None = None) -> Within: ...
@overload
def within(attribute: Formula, radius: float | None = None, *, percent: float | None = None) -> FormulaWithin: ...
def within(attribute: Any, radius: float | None = None, *, percent: float | None = None) -> Goal:
    """The attacker wants to be at most `radius` (or `percent` of the true value) off; the edge counts.

    Of one attribute, or of a formula of several: within(rent + loan, 50), within(weight / height**2, 1).
    """
    if not isinstance(attribute, Attribute) and isinstance(attribute, Arithmetic):
        from guessproof.world.formulas import within_formula

        return within_formula(cast("Formula", attribute), radius, percent=percent)
    return Within(attribute, radius, percent)


def exactly(attribute: Attribute) -> Exactly:
    """The attacker wants the very value."""
    return Exactly(attribute)


def among(attribute: Attribute, values: Iterable[Hashable]) -> Among:
    """The attacker wants to confirm that the value is one of these."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise GoalError("values", values, "is not a set of values", "give a set or a list")
    return Among(attribute, tuple(dict.fromkeys(values)))


@overload
def inside(attribute: Attribute, *intervals: tuple[float, float]) -> Inside: ...
@overload
def inside(attribute: Formula, *intervals: tuple[float, float]) -> Goal: ...
def inside(attribute: Any, *intervals: tuple[float, float]) -> Goal:
    """The attacker wants to confirm that the value (or that of a formula) lies in one of these closed intervals."""
    if not isinstance(attribute, Attribute) and isinstance(attribute, Arithmetic):
        from guessproof.world.formulas import inside_formula

        return inside_formula(cast("Formula", attribute), *intervals)
    return Inside(attribute, tuple(intervals))


def near(attributes: Iterable[Attribute], radius: float, *, by: Norm = "l2") -> Near:
    """The attacker wants a point at most `radius` off, in the norm `by` of several numbers together."""
    if isinstance(attributes, (str, bytes, Attribute)) or not isinstance(attributes, Iterable):
        raise GoalError("near", attributes, "is not a list of attributes", "give (first, second), radius")
    return Near(tuple(attributes), radius, by)


def unique_attributes(goals: Iterable[Any]) -> tuple[Attribute, ...]:
    """The attributes of several goals, each once; one name must not stand for two attributes."""
    found: dict[str, Attribute] = {}
    for attribute in (a for goal in goals for a in goal.attributes):
        if found.setdefault(attribute.name, attribute) != attribute:
            raise GoalError(
                "goal", attribute.name, "is the name of two different attributes", "use one attribute per name"
            )
    return tuple(found.values())


def _bracketed(goal: Goal) -> str:
    return f"({goal!r})" if isinstance(goal, (And, Or)) else repr(goal)


def _where_true(parts: list[Intervals], holds: Callable[[list[Any]], Any]) -> Intervals:
    """The intervals on which a Boolean combination of unions of intervals holds, up to single points."""
    ends = [np.asarray(e, dtype=np.float64) for part in parts for pair in part for e in pair]
    if any(e.ndim for e in ends):
        raise TrueValueError("at", "an array", "a combined goal needs one true value at a time", "ask one at a time")
    cuts = np.unique([-np.inf, *[float(e) for e in ends], np.inf])
    left, right = cuts[:-1], cuts[1:]
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(left), right - 1.0, np.where(np.isinf(right), left + 1.0, left / 2 + right / 2))
    if cuts.size == 2:
        middle = np.zeros(1)
    true = holds([np.any([(middle > a) & (middle < b) for a, b in part], axis=0) for part in parts])
    merged: list[tuple[float, float]] = []
    for a, b, yes in zip(left.tolist(), right.tolist(), np.asarray(true).tolist(), strict=True):
        if yes and merged and merged[-1][1] == a:
            merged[-1] = (merged[-1][0], b)
        elif yes:
            merged.append((a, b))
    return tuple((np.asarray(a), np.asarray(b)) for a, b in merged)


def _is_attribute(attribute: Any) -> None:
    if not isinstance(attribute, Attribute):
        raise GoalError("attribute", attribute, "is not an attribute", "give gp.Attribute(name, prior=…)")


def _needs_numbers(attribute: Any) -> None:
    _is_attribute(attribute)
    if isinstance(attribute.prior, Finite) and not attribute.prior.is_line:
        raise GoalError("attribute", attribute.name, "its values are categories, not numbers", "use exactly or among")
