"""Formulas of several numbers, and goals and knowledge about them: "weight / (height * height) within 1".

Attributes are added, subtracted, multiplied, divided and raised like numbers, and give a `Formula`:

>>> from guessproof.world.attributes import Attribute
>>> from guessproof.world.priors import normal
>>> rent, loan = Attribute("rent", normal(700, 200)), Attribute("loan", normal(300, 150))
>>> within(12 * (rent + loan), 600)
12 * (rent + loan) within 600

A formula has a value at a point, and on a box of points an enclosure that no rounding leaves: a box is a correct
guess wholly, not at all, or in part, and what is not decided is never counted in the attacker's disfavour.
"""

from __future__ import annotations

import functools
import math
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import GoalError, KnowledgeError
from guessproof.intervals import IntervalArray, constant, spread
from guessproof.world.attributes import Arithmetic, Attribute, is_pair
from guessproof.world.checks import Pair, floats, ordered, quiet
from guessproof.world.finite import is_number
from guessproof.world.goals import (
    Goal,
    GoalReach,
    Inside,
    Together,
    Truth,
    Within,
    span_words,
    unique_attributes,
)
from guessproof.world.priors import PartlyKnown, Unknown

Linear = tuple[float, dict[str, float]]
BINDS = {
    "+": 1,
    "-": 1,
    "*": 2,
    "/": 2,
    "^": 4,
    "": 5,
}  # how tightly operations hold their parts together
HAIR = 1e-12  # of an end: the edge of a goal counts, whatever was rounded on the way to it

Operation = tuple[
    Callable[..., Any], Callable[..., IntervalArray]
]  # of numbers, and of intervals
SIGNS: dict[str, Operation] = {
    "+": (np.add, IntervalArray.__add__),
    "-": (np.subtract, IntervalArray.__sub__),
    "*": (np.multiply, IntervalArray.__mul__),
    "/": (np.divide, lambda a, b: a * b.reciprocal()),
    "^": (np.power, IntervalArray.power),
}
NAMED: dict[str, Operation] = {
    "sqrt": (np.sqrt, IntervalArray.sqrt),
    "log": (np.log, IntervalArray.log),
    "exp": (np.exp, IntervalArray.exp),
    "abs": (np.abs, IntervalArray.absolute),
    "min": (np.minimum, IntervalArray.minimum),
    "max": (np.maximum, IntervalArray.maximum),
}
OPERATIONS = {**SIGNS, **NAMED}
FUNCTIONS = tuple(NAMED)


@dataclass(frozen=True)
class Formula(Arithmetic):
    """A number that is computed from attributes: one of them, a fixed number, or an operation on formulas."""

    leaf: Attribute | float | None
    name: str = ""  # of the operation: a sign or a function; a power is a fixed number
    parts: tuple[Formula, ...] = ()

    def __post_init__(self) -> None:
        own = (
            (self.leaf,) if isinstance(self.leaf, Attribute) else unique_attributes(self.parts)
        )
        vars(self).update(attributes=own)

    def __repr__(self) -> str:
        if self.leaf is not None:
            return self.leaf.name if isinstance(self.leaf, Attribute) else f"{self.leaf:.12g}"
        if self.name in FUNCTIONS:
            return f"{self.name}({', '.join(map(repr, self.parts))})"
        own = BINDS[self.name]
        left, right = ((repr(part), BINDS.get(part.name, BINDS[""])) for part in self.parts)
        first = f"({left[0]})" if left[1] < own + (self.name == "^") else left[0]
        return f"{first} {self.name} " + (f"({right[0]})" if right[1] <= own else right[0])

    def value(self, values: Mapping[str, Any]) -> Any:
        """Its value where the attributes have these values."""
        return self._computed(0, float, {name: floats(x) for name, x in values.items()})

    def enclose(self, boxes: Mapping[str, IntervalArray]) -> IntervalArray:
        """All values that it can have in boxes."""
        shape = next(iter(boxes.values())).low.shape
        return self._computed(1, lambda number: constant(np.full(shape, number)), boxes)

    def _computed(
        self, kind: int, number: Callable[[float], Any], values: Mapping[str, Any]
    ) -> Any:
        if self.leaf is not None:
            return (
                values[self.leaf.name]
                if isinstance(self.leaf, Attribute)
                else number(self.leaf)
            )
        name, parts = self.name, self.parts
        if (
            name == "*" and parts[0] == parts[1]
        ):  # not below 0, as a product of two intervals could be
            name, parts = "^", (parts[0], Formula(2.0))
        with quiet():
            found = [part._computed(kind, number, values) for part in parts]
            if name == "^":
                found[1] = parts[1].leaf
            return OPERATIONS[name][kind](*found)

    def on(self, attributes: Mapping[str, Attribute]) -> Formula:
        """The same formula of other attributes with the same names."""
        if isinstance(self.leaf, Attribute):
            return Formula(attributes.get(self.leaf.name, self.leaf))
        return replace(self, parts=tuple(part.on(attributes) for part in self.parts))

    @property
    def linear(self) -> Linear | None:
        """(c, a) where it is c + Σ aᵢxᵢ; None where it is not."""
        if isinstance(self.leaf, Attribute):
            return 0.0, {self.leaf.name: 1.0}
        if self.leaf is not None:
            return self.leaf, {}
        known = [linear for part in self.parts if (linear := part.linear) is not None]
        if self.name in FUNCTIONS or len(known) < 2:
            return None
        (c, a), (d, b) = known
        if self.name in "+-":
            turn = 1.0 if self.name == "+" else -1.0
            return c + turn * d, {n: a.get(n, 0.0) + turn * b.get(n, 0.0) for n in {**a, **b}}
        if self.name == "*" and not a:
            (c, a), (d, b) = (d, b), (c, a)
        if b or (self.name == "/" and not d) or (self.name == "^" and d != 1):
            return None
        factor = 1 / d if self.name == "/" else d
        return factor * c, {n: factor * w for n, w in a.items()}


def formula_of(part: Any) -> Formula:
    """An attribute, a number or a formula, as a formula."""
    if isinstance(part, Formula):
        return part
    if isinstance(part, Attribute):
        if part.is_category:
            raise GoalError(
                "formula",
                part.name,
                "its values are categories, not numbers",
                "use attributes of numbers",
            )
        if isinstance(part.prior, (Unknown, PartlyKnown)):
            raise GoalError(
                "formula", part.name, "has no prior, which a formula needs", "give it one"
            )
        return Formula(part)
    if is_number(part) and math.isfinite(part):
        return Formula(float(part))
    raise GoalError(
        "formula", part, "is no part of a formula", "use attributes, numbers, + - * / and **"
    )


def combined(sign: str, left: Any, right: Any) -> Formula:
    """Two parts joined by a sign."""
    one, two = formula_of(left), formula_of(right)
    if sign == "^" and not isinstance(two.leaf, float):
        raise GoalError(
            "formula", two, "is not a fixed power", "raise to a number, as height ** 2"
        )
    return Formula(None, sign, (one, two))


def applied(name: str, *parts: Any) -> Formula:
    """A function of formulas.

    >>> applied("sqrt", 2)
    sqrt(2)
    """
    wanted = 2 if name in ("min", "max") else 1
    if name not in FUNCTIONS:
        raise GoalError(
            "formula",
            name,
            "is not a function that is known",
            f"use one of {', '.join(FUNCTIONS)}",
        )
    if len(parts) != wanted:
        raise GoalError(
            "formula", name, f"takes {wanted} numbers, not {len(parts)}", "give as many"
        )
    return Formula(None, name, tuple(map(formula_of, parts)))


@dataclass(frozen=True, repr=False)
class FormulaGoal(Together):
    """A goal about the value of a formula."""

    formula: Formula

    def __post_init__(self) -> None:
        if len(self.formula.attributes) < 2:
            raise GoalError(
                "goal",
                self.formula,
                "is a formula of fewer than two attributes",
                "say it of the attribute itself, as in within(rent, 50)",
            )
        vars(self).update(members=self.formula.attributes)

    @abstractmethod
    def ends(self, t: Truth) -> Pair:
        """The least and the largest value that is a correct guess, where t is true."""

    def values_at(self, x: Iterable[ArrayLike]) -> Any:
        """The formula's values at points, one array per member."""
        return self.formula.value(dict(zip(self._names, x, strict=True)))

    @property
    def _names(self) -> list[str]:
        return [a.name for a in self.members]

    def holds(self, x: Iterable[ArrayLike], t: Truth) -> Any:
        low, high = self.ends(t)
        slack = HAIR * max(abs(end) for end in (low, high, 0.0) if math.isfinite(end))
        found = self.values_at(x)
        with quiet():
            return (found >= low - slack) & (found <= high + slack)

    def decided(self, low: Sequence[Any], high: Sequence[Any], t: Truth) -> tuple[Any, Any]:
        count, ends = len(self.members), np.broadcast_arrays(*low, *high)
        boxes = map(spread, ends[:count], ends[count:])
        found = self.formula.enclose(dict(zip(self._names, boxes, strict=True)))
        first, last = self.ends(t)
        outside = (found.low > last) | (found.high < first)
        return (found.low >= first) & (found.high <= last), ~outside


@dataclass(frozen=True)
class FormulaWithin(GoalReach, FormulaGoal):
    """A value of the formula at most `radius` (or `percent`) from the true one."""

    radius: float | None = None
    percent: float | None = None

    def __post_init__(self) -> None:
        FormulaGoal.__post_init__(self)
        super().__post_init__()

    def __repr__(self) -> str:
        return f"{self.formula!r} within {self.words}"

    def ends(self, t: Truth) -> Pair:
        assert t is not None
        value = float(self.values_at(t))
        if not math.isfinite(value):
            raise GoalError(
                "at",
                tuple(t),
                f"{self.formula!r} has no value there",
                "give true values where it has one",
            )
        return self.around(value)


@dataclass(frozen=True)
class FormulaInside(FormulaGoal):
    """A value of the formula between two fixed numbers."""

    low: float
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.low, self.high
        if not (is_number(low) and low == high and math.isfinite(low)):  # a single value
            low, high = ordered(GoalError, "interval", low, high)
        vars(self).update(low=float(low), high=float(high), depends_on_truth=False)

    def __repr__(self) -> str:
        return f"{self.formula!r} {span_words(self.low, self.high)}"

    def ends(self, t: Truth) -> Pair:
        return self.low, self.high


def within(
    attribute: Attribute | Formula, radius: float | None = None, *, percent: float | None = None
) -> Within | FormulaWithin:
    """The attacker wants to be at most `radius` (or `percent` of the true value) off; the edge counts.

    Of one attribute, or of a formula of several: within(rent + loan, 50), within(weight / height**2, 1).
    """
    if isinstance(attribute, Formula):
        return FormulaWithin(attribute, radius, percent)
    return Within(attribute, radius, percent)


def inside(attribute: Attribute | Formula, *intervals: Pair) -> Goal:
    """The attacker wants to confirm that the value (or that of a formula) lies in one of these closed intervals."""
    if not isinstance(attribute, Formula):
        return Inside(attribute, intervals)
    if not intervals:
        raise GoalError("intervals", intervals, "are missing", "give at least one (low, high)")
    return functools.reduce(
        operator.or_, (FormulaInside(attribute, *pair) for pair in intervals)
    )


def known_formula(formula: Formula, known: Any) -> FormulaInside:
    """What an attacker knows of a formula's value."""
    field = f"knows[{formula!r}]"
    if not is_pair(known):
        raise KnowledgeError(
            field, known, "a formula is known by an interval", "give (low, high)"
        )
    try:
        return FormulaInside(formula, *known)
    except GoalError as error:
        raise KnowledgeError(field, known, error.problem, error.remedy) from None
