"""What the attacker wants: which guesses count as correct, given the true value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import GoalError
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array, ordered, positive
from guessproof.world.finite import Finite

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

    def chosen(self, prior: Finite, t: Any) -> Array:
        """1 for each value of a finite prior that counts as correct."""
        points = prior.points
        return np.any([(points >= lo) & (points <= hi) for lo, hi in self.edges(t)], axis=0).astype(
            np.float64
        )


@dataclass(frozen=True, repr=False)
class Within(Goal):
    """A guess at most `radius` away, or at most `percent` of the true value away."""

    attribute: Attribute
    radius: float | None = None
    percent: float | None = None

    def __post_init__(self) -> None:
        _needs_numbers(self.attribute)
        if (self.radius is None) == (self.percent is None):
            raise GoalError(
                "within", (self.radius, self.percent), "needs a radius or a percentage", "give one of them"
            )
        if self.radius is not None:
            positive(GoalError, "radius", self.radius)
        elif positive(GoalError, "percent", self.percent) > 100:
            raise GoalError("percent", self.percent, "is more than the value itself", "give at most 100")

    def __repr__(self) -> str:
        size = f"{self.radius:g}" if self.radius is not None else f"{self.percent:g} %"
        return f"{self.attribute.name} within {size}"

    def edges(self, t: ArrayLike) -> Intervals:
        t = np.asarray(t, dtype=np.float64)
        reach = self.radius if self.radius is not None else np.abs(t) * (float(self.percent or 0) / 100)
        return ((t - reach, t + reach),)


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
        if isinstance(prior, Finite):
            for value in self.values:
                if value not in prior.values:
                    raise GoalError(
                        "values", value, "is not a value of the prior", "choose values that can occur"
                    )

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
            raise GoalError(
                "intervals", self.intervals, "is not a list of pairs", "give (low, high), …"
            ) from None
        merged: list[tuple[float, float]] = []
        for low, high in pairs:
            if merged and low <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        object.__setattr__(self, "intervals", tuple(merged))

    def __repr__(self) -> str:
        return f"{self.attribute.name} in {' or '.join(f'[{a:g}, {b:g}]' for a, b in self.intervals)}"

    @property
    def depends_on_truth(self) -> bool:
        return False

    def edges(self, t: ArrayLike) -> Intervals:
        return tuple((np.asarray(a), np.asarray(b)) for a, b in self.intervals)


def within(attribute: Attribute, radius: float | None = None, *, percent: float | None = None) -> Within:
    """The attacker wants to be at most `radius` (or `percent` of the true value) off; the edge counts."""
    return Within(attribute, radius, percent)


def exactly(attribute: Attribute) -> Exactly:
    """The attacker wants the very value."""
    return Exactly(attribute)


def among(attribute: Attribute, values: Iterable[Hashable]) -> Among:
    """The attacker wants to confirm that the value is one of these."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise GoalError("values", values, "is not a set of values", "give a set or a list")
    return Among(attribute, tuple(dict.fromkeys(values)))


def inside(attribute: Attribute, *intervals: tuple[float, float]) -> Inside:
    """The attacker wants to confirm that the value lies in one of these closed intervals."""
    return Inside(attribute, tuple(intervals))


def _is_attribute(attribute: Any) -> None:
    if not isinstance(attribute, Attribute):
        raise GoalError("attribute", attribute, "is not an attribute", "give gp.Attribute(name, prior=…)")


def _needs_numbers(attribute: Any) -> None:
    _is_attribute(attribute)
    if isinstance(attribute.prior, Finite) and not attribute.prior.is_line:
        raise GoalError(
            "attribute", attribute.name, "its values are categories, not numbers", "use exactly or among"
        )
