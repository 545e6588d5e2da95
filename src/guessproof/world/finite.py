"""Priors with finitely many values: categories, or numbers on a line."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import KnowledgeError, PriorError, TrueValueError
from guessproof.world.checks import (
    Array,
    Floats,
    Pair,
    floats,
    frozen,
    listed,
    numbers,
    scaled,
    weights,
)


@dataclass(frozen=True)
class Finite:
    """Probability weights[i] on values[i]; numbers are kept sorted.

    A table lists every value that people can have. A sample only shows some: `between` then says from where to where
    people's own values may lie, also between those that the sample holds.

    >>> Finite.of({"math": 0.5, "cs": 0.3, "law": 0.2})
    categorical({'math': 0.5, 'cs': 0.3, 'law': 0.2})
    """

    values: tuple[Hashable, ...]
    weights: Floats
    between: Pair | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, table: Mapping[Hashable, float]) -> Finite:
        """From a table of value → probability."""
        if not isinstance(table, Mapping) or not table:
            raise PriorError(
                "categorical",
                table,
                "is not a table of value → probability",
                "give a non-empty dict",
            )
        names: list[Any] = list(table)
        if all(map(is_number, names)):
            numbers(PriorError, "values", names)
            names.sort()
        mass = weights("weights", [table[name] for name in names], counts=True)
        return cls(tuple(names), tuple(mass.tolist()))

    @classmethod
    def sample(cls, values: Any) -> Finite:
        """Each of a list of observed numbers equally likely; repetitions add up."""
        points, counts = np.unique(numbers(PriorError, "values", values), return_counts=True)
        hull = float(points[0]), float(points[-1])
        return cls(
            tuple(points.tolist()), tuple((counts / counts.sum()).tolist()), between=hull
        )

    def __repr__(self) -> str:
        if len(self.values) > 8:
            return f"finite prior on {len(self.values)} values from {self.values[0]!r} to {self.values[-1]!r}"
        body = ", ".join(
            f"{v!r}: {w:g}" for v, w in zip(self.values, self.weights, strict=True)
        )
        return f"{'categorical' if self.between is None else 'sample'}({{{body}}})"

    @property
    def name(self) -> str:
        """As people and plans call it."""
        return "categorical" if self.between is None else "empirical"

    def stretched(self, factor: float) -> Finite | None:
        """The same numbers, further apart (factor > 1) or closer around their mean; None for categories."""
        if not self.is_line:
            return None
        middle, ends = float(self.points @ self.mass), self.between
        if ends is not None:
            ends = scaled(ends, factor, middle)
        return Finite(scaled(self.points, factor, middle), self.weights, between=ends)  # pyright: ignore[reportArgumentType] - two of them

    @cached_property
    def is_line(self) -> bool:
        """Whether the values are numbers, so that distances between them make sense."""
        return self.between is not None or all(is_number(v) for v in self.values)

    @cached_property
    def points(self) -> Array:
        """The values as numbers."""
        return frozen(floats(self.values))

    @property
    def support(self) -> Pair:
        """From the least to the largest number that people can have."""
        return self.between or (float(self.points[0]), float(self.points[-1]))

    @cached_property
    def mass(self) -> Array:
        """The weights as an array."""
        return frozen(floats(self.weights))

    def quantile(self, u: ArrayLike) -> Array:
        """The least of the numbers that has probability u below it or at it."""
        at = np.searchsorted(np.cumsum(self.mass), u)
        return self.points[np.minimum(at, self.mass.size - 1)]

    @cached_property
    def _index(self) -> dict[Hashable, int]:
        return {v: i for i, v in enumerate(self.values)}

    def holds(self, value: Any) -> bool:
        """Whether a value is one of those listed."""
        return value in self._index

    def index(self, value: Any, field: str = "at") -> int:
        """The position of a value, which must be possible."""
        try:
            i = self._index[value]
        except (KeyError, TypeError):
            raise TrueValueError(
                field,
                value,
                "is not a value of the prior",
                f"choose one of {_few(self.values)}",
            ) from None
        if self.weights[i] == 0:
            raise TrueValueError(
                field, value, "has prior probability 0", "choose a value that can occur"
            )
        return i

    def given(self, *known: Any) -> Finite:
        """This prior for an attacker who knows the value to be in a set, or between two numbers."""
        if len(known) == 2:
            low, high = known
            if not (self.is_line and is_number(low) and is_number(high)):
                raise KnowledgeError(
                    "knows", known, "these values have no order", "give a set, given({…})"
                )
            keep = [low <= v <= high for v in self.values]  # pyright: ignore[reportOperatorIssue]
        else:
            among = listed(
                KnowledgeError,
                "knows",
                known[0],
                "is not a set of values",
                "give a set, given({…})",
            )
            for value in among:
                if not isinstance(value, Hashable) or value not in self._index:
                    raise KnowledgeError(
                        "knows",
                        value,
                        "is not a value of the prior",
                        f"choose from {_few(self.values)}",
                    )
            keep = [v in among for v in self.values]
        kept = list(compress(self.weights, keep))
        total = sum(kept)
        if total <= 0:
            raise KnowledgeError(
                "knows",
                known,
                "the prior gives this no probability",
                f"keep at least one of {_few(self.values)}",
            )
        shares = tuple(weight / total for weight in kept)
        between = self.between_given(*known)
        return Finite(tuple(compress(self.values, keep)), shares, between=between)

    def between_given(self, *known: Any) -> Pair | None:
        """Where people's own values may lie once this is known: a set of values leaves nothing between them."""
        if self.between is None or len(known) != 2:
            return None
        return max(self.between[0], float(known[0])), min(self.between[1], float(known[1]))


def is_number(value: Any) -> bool:
    """Whether a value is a number, so that it has a place on the line."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(
        value, bool
    )


def _few(values: tuple[Hashable, ...]) -> str:
    shown = ", ".join(repr(v) for v in values[:6])
    return shown + (", …" if len(values) > 6 else "")
