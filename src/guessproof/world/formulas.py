"""Formulas of several numbers, and goals and knowledge about them: "weight / (height * height) within 1".

Attributes are added, subtracted, multiplied, divided and raised like numbers, and give a `Formula`:

>>> from guessproof.world.attributes import Attribute
>>> from guessproof.world.priors import normal
>>> rent, loan = Attribute("rent", normal(700, 200)), Attribute("loan", normal(300, 150))
>>> within_formula(12 * (rent + loan), 600)
12 * (rent + loan) within 600

A formula has a value at a point, and on a box of points an enclosure that no rounding leaves: a box is a correct
guess wholly, not at all, or in part, and what is not decided is never counted in the attacker's disfavour.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import GoalError, InputError, KnowledgeError
from guessproof.intervals import IntervalArray, constant, spread
from guessproof.world.attributes import Arithmetic, Attribute
from guessproof.world.checks import ordered, positive
from guessproof.world.finite import Finite
from guessproof.world.goals import Conditional, Goal, Together, span_words, unique_attributes
from guessproof.world.priors import PartlyKnown, Unknown

Values = Mapping[str, Any]
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
_HAIR = 1e-12
_CHUNK = 200_000  # boxes that are enclosed in one go


class Formula(Arithmetic, ABC):
    """A number that is computed from attributes."""

    binds = 5  # how tightly its parts hang together when it is written

    @property
    @abstractmethod
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes that it is computed from, each once."""

    @abstractmethod
    def value(self, values: Values) -> Any:
        """Its value where the attributes have these values."""

    @abstractmethod
    def enclose(self, boxes: Mapping[str, IntervalArray]) -> IntervalArray:
        """All values that it can have in boxes."""

    @abstractmethod
    def on(self, attributes: Mapping[str, Attribute]) -> Formula:
        """The same formula of other attributes with the same names."""

    @property
    @abstractmethod
    def linear(self) -> tuple[float, dict[str, float]] | None:
        """(c, a) where it is c + Σ aᵢxᵢ; None where it is not."""


@dataclass(frozen=True, repr=False)
class FormulaNumber(Formula):
    """A number that stands in a formula."""

    number: float

    def __repr__(self) -> str:
        return f"{self.number:.12g}"

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return ()

    def value(self, values: Values) -> Any:
        return self.number

    def enclose(self, boxes: Mapping[str, IntervalArray]) -> IntervalArray:
        return constant(np.full(next(iter(boxes.values())).low.shape, self.number))

    def on(self, attributes: Mapping[str, Attribute]) -> Formula:
        return self

    @property
    def linear(self) -> tuple[float, dict[str, float]] | None:
        return self.number, {}


@dataclass(frozen=True, repr=False)
class FormulaAttribute(Formula):
    """An attribute that stands in a formula."""

    attribute: Attribute

    def __repr__(self) -> str:
        return self.attribute.name

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (self.attribute,)

    def value(self, values: Values) -> Any:
        return np.asarray(values[self.attribute.name], dtype=np.float64)

    def enclose(self, boxes: Mapping[str, IntervalArray]) -> IntervalArray:
        return boxes[self.attribute.name]

    def on(self, attributes: Mapping[str, Attribute]) -> Formula:
        return FormulaAttribute(attributes.get(self.attribute.name, self.attribute))

    @property
    def linear(self) -> tuple[float, dict[str, float]] | None:
        return 0.0, {self.attribute.name: 1.0}


@dataclass(frozen=True, repr=False)
class FormulaOperation(Formula):
    """Two formulas joined by +, −, * or /, or one raised to a fixed power."""

    sign: str
    left: Formula
    right: Formula

    @property
    def binds(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return _BINDS[self.sign]

    def __repr__(self) -> str:
        left = f"({self.left!r})" if self.left.binds < self.binds + (self.sign == "^") else repr(self.left)
        return f"{left} {self.sign} " + (f"({self.right!r})" if self.right.binds <= self.binds else repr(self.right))

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return unique_attributes((self.left, self.right))

    def value(self, values: Values) -> Any:
        left, right = self.left.value(values), self.right.value(values)
        with np.errstate(all="ignore"):
            if self.sign == "+":
                return left + right
            if self.sign == "-":
                return left - right
            if self.sign == "*":
                return left * right
            return np.divide(left, right) if self.sign == "/" else np.power(left, right)

    def enclose(self, boxes: Mapping[str, IntervalArray]) -> IntervalArray:
        left = self.left.enclose(boxes)
        with np.errstate(all="ignore"):
            if self.sign == "^":
                return left.power(self.exponent)
            if self.sign == "*" and self.left == self.right:
                return left.power(2)  # x·x is not below 0, which two intervals do not know of each other
            right = self.right.enclose(boxes)
            if self.sign == "+":
                return left + right
            if self.sign == "-":
                return left - right
            return left * right if self.sign == "*" else left * right.reciprocal()

    @property
    def exponent(self) -> float:
        """The fixed power."""
        assert isinstance(self.right, FormulaNumber)
        return self.right.number

    def on(self, attributes: Mapping[str, Attribute]) -> Formula:
        return FormulaOperation(self.sign, self.left.on(attributes), self.right.on(attributes))

    @property
    def linear(self) -> tuple[float, dict[str, float]] | None:
        left, right = self.left.linear, self.right.linear
        if left is None or right is None:
            return None
        if self.sign in "+-":
            turn = 1.0 if self.sign == "+" else -1.0
            names = {**left[1], **right[1]}
            return left[0] + turn * right[0], {n: left[1].get(n, 0.0) + turn * right[1].get(n, 0.0) for n in names}
        if self.sign == "*" and (not left[1] or not right[1]):
            (factor, _), (c, a) = (left, right) if not left[1] else (right, left)
            return factor * c, {n: factor * w for n, w in a.items()}
        if self.sign == "/" and not right[1] and right[0]:
            return left[0] / right[0], {n: w / right[0] for n, w in left[1].items()}
        return left if self.sign == "^" and self.exponent == 1 else None


_FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., IntervalArray]]] = {
    "sqrt": (np.sqrt, IntervalArray.sqrt),
    "log": (np.log, IntervalArray.log),
    "exp": (np.exp, IntervalArray.exp),
    "abs": (np.abs, IntervalArray.absolute),
    "min": (np.minimum, IntervalArray.minimum),
    "max": (np.maximum, IntervalArray.maximum),
}
FUNCTIONS = tuple(_FUNCTIONS)


@dataclass(frozen=True, repr=False)
class FormulaFunction(Formula):
    """A function of one formula, or the smaller or larger of two."""

    name: str
    parts: tuple[Formula, ...]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.parts))})"

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return unique_attributes(self.parts)

    def value(self, values: Values) -> Any:
        with np.errstate(all="ignore"):
            return _FUNCTIONS[self.name][0](*(part.value(values) for part in self.parts))

    def enclose(self, boxes: Mapping[str, IntervalArray]) -> IntervalArray:
        with np.errstate(all="ignore"):
            return _FUNCTIONS[self.name][1](*(part.enclose(boxes) for part in self.parts))

    def on(self, attributes: Mapping[str, Attribute]) -> Formula:
        return replace(self, parts=tuple(part.on(attributes) for part in self.parts))

    @property
    def linear(self) -> tuple[float, dict[str, float]] | None:
        return None


def formula_of(part: Any) -> Formula:
    """An attribute, a number or a formula, as a formula."""
    if isinstance(part, Formula):
        return part
    if isinstance(part, Attribute):
        _check_number(part)
        return FormulaAttribute(part)
    if isinstance(part, (int, float, np.integer, np.floating)) and not isinstance(part, bool) and math.isfinite(part):
        return FormulaNumber(float(part))
    raise GoalError("formula", part, "is no part of a formula", "use attributes, numbers, + - * / and **")


def combined(sign: str, left: Any, right: Any) -> Formula:
    """Two parts joined by a sign."""
    one, two = formula_of(left), formula_of(right)
    if sign == "^" and not isinstance(two, FormulaNumber):
        raise GoalError("formula", two, "is not a fixed power", "raise to a number, as height ** 2")
    return FormulaOperation(sign, one, two)


def applied(name: str, *parts: Any) -> Formula:
    """A function of formulas.

    >>> applied("sqrt", 2)
    sqrt(2)
    """
    wanted = 2 if name in ("min", "max") else 1
    if name not in _FUNCTIONS:
        raise GoalError("formula", name, "is not a function that is known", f"use one of {', '.join(FUNCTIONS)}")
    if len(parts) != wanted:
        raise GoalError("formula", name, f"takes {wanted} numbers, not {len(parts)}", "give as many")
    return FormulaFunction(name, tuple(formula_of(part) for part in parts))


@dataclass(frozen=True, repr=False)
class FormulaGoal(Together):
    """A goal about the value of a formula."""

    formula: Formula

    def __post_init__(self) -> None:
        if len(self.formula.attributes) < 2:
            problem = "is a formula of fewer than two attributes"
            raise GoalError("goal", self.formula, problem, "say it of the attribute itself, as in within(rent, 50)")

    @property
    def members(self) -> tuple[Attribute, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.formula.attributes

    @abstractmethod
    def ends(self, t: Sequence[float] | None) -> tuple[float, float]:
        """The least and the largest value that is a correct guess, where t is true."""

    def values_at(self, x: Iterable[ArrayLike]) -> Any:
        """The formula's values at points, one array per member."""
        return self.formula.value(dict(zip((a.name for a in self.members), x, strict=True)))

    def holds(self, x: Iterable[ArrayLike], t: Sequence[float] | None) -> Any:
        low, high = self.ends(t)
        slack = _HAIR * max(abs(low), abs(high))  # the edge counts, whatever was rounded on the way to it
        found = self.values_at(x)
        with np.errstate(invalid="ignore"):
            return (found >= low - slack) & (found <= high + slack)

    def decided(self, low: Sequence[Any], high: Sequence[Any], t: Sequence[float] | None) -> tuple[Any, Any]:
        first, last = self.ends(t)
        sides = [np.broadcast_arrays(a, b) for a, b in zip(low, high, strict=True)]
        shape = np.broadcast_shapes(*(a.shape for a, _ in sides))
        flat = [[np.broadcast_to(e, shape).ravel() for e in side] for side in sides]
        found = [self._enclose(flat, slice(i, i + _CHUNK)) for i in range(0, max(flat[0][0].size, 1), _CHUNK)]
        least, most = (np.concatenate([getattr(f, end) for f in found]).reshape(shape) for end in ("low", "high"))
        return (least >= first) & (most <= last), ~((least > last) | (most < first))

    def _enclose(self, sides: list[list[Any]], part: slice) -> IntervalArray:
        boxes = {a.name: spread(s[0][part], s[1][part]) for a, s in zip(self.members, sides, strict=True)}
        return self.formula.enclose(boxes)


@dataclass(frozen=True, repr=False)
class FormulaWithin(FormulaGoal):
    """A value of the formula at most `radius` (or `percent`) from the true one."""

    radius: float | None = None
    percent: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.radius is None) == (self.percent is None):
            raise GoalError("within", (self.radius, self.percent), "needs a radius or a percentage", "give one of them")
        if self.radius is not None:
            object.__setattr__(self, "radius", positive(GoalError, "radius", self.radius))
        elif positive(GoalError, "percent", self.percent) > 100:
            raise GoalError("percent", self.percent, "is more than the value itself", "give at most 100")

    def __repr__(self) -> str:
        return f"{self.formula!r} within " + (f"{self.radius:g}" if self.percent is None else f"{self.percent:g} %")

    def around(self, value: Any) -> tuple[Any, Any]:
        """The values that are correct guesses where the formula has this value."""
        reach = np.abs(value) * (self.percent / 100) if self.percent is not None else self.radius
        return value - reach, value + reach

    def ends(self, t: Sequence[float] | None) -> tuple[float, float]:
        assert t is not None
        value = float(self.values_at(t))
        if not math.isfinite(value):
            raise GoalError("at", tuple(t), f"{self.formula!r} has no value there", "give true values where it has one")
        low, high = self.around(value)
        return float(low), float(high)


@dataclass(frozen=True, repr=False)
class FormulaInside(FormulaGoal):
    """A value of the formula between two fixed numbers."""

    low: float
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = _ends(GoalError, "interval", self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def __repr__(self) -> str:
        return f"{self.formula!r} {span_words(self.low, self.high)}"

    @property
    def depends_on_truth(self) -> bool:
        return False

    def ends(self, t: Sequence[float] | None) -> tuple[float, float]:
        return self.low, self.high


@dataclass(frozen=True, repr=False)
class Given(Conditional):
    """A goal for an attacker who knows the values of formulas to lie in intervals."""

    goal: Goal
    known: tuple[FormulaInside, ...]

    def __repr__(self) -> str:
        return f"{self.goal!r}, knowing {' and '.join(map(repr, self.known))}"

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return unique_attributes((self.goal, *self.known))

    @property
    def attribute(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise GoalError("goal", self, "speaks of several attributes", "ask for goal.attributes")

    @property
    def depends_on_truth(self) -> bool:
        return self.goal.depends_on_truth

    @cached_property
    def region(self) -> Goal:  # pyright: ignore[reportIncompatibleMethodOverride]
        first, *others = self.known
        whole: Goal = first
        for other in others:
            whole = whole & other
        return whole

    def edges(self, t: ArrayLike) -> Any:
        raise GoalError("goal", self, "is not a set of intervals of one attribute", "ask goal and region")

    def __invert__(self) -> Goal:
        return Given(~self.goal, self.known)


def within_formula(formula: Formula, radius: float | None = None, *, percent: float | None = None) -> FormulaWithin:
    """The attacker wants the formula's value to within a radius, or a percentage of it."""
    return FormulaWithin(formula, radius, percent)


def inside_formula(formula: Formula, *intervals: tuple[float, float]) -> Goal:
    """The attacker wants to confirm that the formula's value lies in one of these closed intervals."""
    if not intervals:
        raise GoalError("intervals", intervals, "the goal is empty", "give at least one (low, high)")
    goals: list[Goal] = [FormulaInside(formula, *pair) for pair in intervals]
    whole = goals[0]
    for goal in goals[1:]:
        whole = whole | goal
    return whole


def known_formula(formula: Formula, known: Any) -> FormulaInside:
    """What an attacker knows of a formula's value."""
    if not (isinstance(known, (tuple, list)) and len(known) == 2):
        raise KnowledgeError(f"knows[{formula!r}]", known, "a formula is known by an interval", "give (low, high)")
    low, high = _ends(KnowledgeError, f"knows[{formula!r}]", *known)
    try:
        return FormulaInside(formula, low, high)
    except GoalError as error:
        raise KnowledgeError("knows", formula, error.problem, "name the attribute itself") from None


def _ends(error: type[InputError], field: str, low: Any, high: Any) -> tuple[float, float]:
    """Two ends in their order; of finitely many values a single one can be meant."""
    if isinstance(low, (int, float)) and low == high and math.isfinite(low):
        return float(low), float(high)
    return ordered(error, field, low, high)


def _check_number(attribute: Attribute) -> None:
    if isinstance(attribute.prior, Finite) and not attribute.prior.is_line:
        raise GoalError(
            "formula", attribute.name, "its values are categories, not numbers", "use attributes of numbers"
        )
    if isinstance(attribute.prior, (Unknown, PartlyKnown)):
        raise GoalError("formula", attribute.name, "has no prior, which a formula needs", "give it one")
