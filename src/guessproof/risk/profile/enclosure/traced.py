"""Values that remember, cell by cell, an interval of what they can be and intervals of their slopes.

A function of p and q that is called with ``Traced`` values instead of numbers computes such an enclosure
of itself. What can be followed is listed in ``RULES`` and ``FUNCTIONS``; anything else a function does
with its arguments raises. (``rules`` says how; ``follow`` puts the rules in place.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guessproof.intervals import Flags, IntervalArray, constant, spread

Slope = IntervalArray | None  # None: constant

RULES: dict[np.ufunc, Callable[..., Traced]] = {}
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


class Untraceable(Exception):
    """The function cannot be followed."""


@dataclass
class Paths:
    """The decisions of one run of a function with ``if``, and the cells to which they can apply."""

    forced: list[bool]
    alive: Flags
    pending: list[list[bool]]
    """Where a decision could also go the other way in some cell: the runs still to be made."""
    taken: list[bool] = field(default_factory=list[bool])

    def decide(self, certain: Flags, possible: Flags) -> bool:
        yes, no = self.alive & possible, self.alive & ~certain
        if len(self.taken) < len(self.forced):
            choice = self.forced[len(self.taken)]
        else:
            choice = bool(yes.any())
            if choice and no.any():
                self.pending.append([*self.taken, False])
        self.alive = yes if choice else no
        self.taken.append(choice)
        return choice


class Traced:
    """An interval of values per cell, with intervals of slopes in p and q (None: constant there)."""

    __slots__ = ("dp", "dq", "paths", "value")
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, value: IntervalArray, dp: Slope, dq: Slope, paths: Paths) -> None:
        self.value, self.dp, self.dq, self.paths = value, dp, dq, paths

    @property
    def slopes(self) -> tuple[Slope, Slope]:
        return self.dp, self.dq

    @property
    def varies(self) -> bool:
        return self.dp is not None or self.dq is not None

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a traced value is not an array")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Traced:
        if method != "__call__" or options:
            raise Untraceable(ufunc.__name__)
        return apply(ufunc, self.paths, *inputs)

    def __array_function__(self, function: Any, _: Any, arguments: Any, options: Any) -> Any:
        if function not in FUNCTIONS:
            raise Untraceable(function.__name__)
        return FUNCTIONS[function](self.paths, *arguments, **options)

    def __add__(self, other: Any) -> Traced:
        return apply(np.add, self.paths, self, other)

    def __sub__(self, other: Any) -> Traced:
        return apply(np.subtract, self.paths, self, other)

    def __rsub__(self, other: Any) -> Traced:
        return apply(np.subtract, self.paths, other, self)

    def __mul__(self, other: Any) -> Traced:
        return apply(np.multiply, self.paths, self, other)

    def __truediv__(self, other: Any) -> Traced:
        return apply(np.divide, self.paths, self, other)

    def __rtruediv__(self, other: Any) -> Traced:
        return apply(np.divide, self.paths, other, self)

    def __pow__(self, other: Any) -> Traced:
        return apply(np.power, self.paths, self, other)

    def __rpow__(self, other: Any) -> Traced:
        return apply(np.power, self.paths, other, self)

    def __neg__(self) -> Traced:
        return apply(np.negative, self.paths, self)

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Traced:
        return apply(np.absolute, self.paths, self)

    def __lt__(self, other: Any) -> TracedTruth:
        return less(self, lift(other, self.paths))

    def __gt__(self, other: Any) -> TracedTruth:
        return less(lift(other, self.paths), self)

    def __le__(self, other: Any) -> TracedTruth:
        return ~(self > other)

    def __ge__(self, other: Any) -> TracedTruth:
        return ~(self < other)

    def __eq__(self, other: Any) -> TracedTruth:  # pyright: ignore[reportIncompatibleMethodOverride]
        return (self <= other) & (self >= other)

    def __ne__(self, other: Any) -> TracedTruth:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ~(self == other)

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    __radd__, __rmul__ = __add__, __mul__


class TracedTruth(Traced):
    """A comparison: [1, 1] where it holds, [0, 0] where it does not, [0, 1] where it depends."""

    __slots__ = ()

    @property
    def certain(self) -> Flags:
        return self.value.low > 0

    @property
    def possible(self) -> Flags:
        return self.value.high > 0

    def __bool__(self) -> bool:
        return self.paths.decide(self.certain, self.possible)

    def __and__(self, other: Any) -> TracedTruth:
        second = lift(other, self.paths) != 0.0
        return truth(self.certain & second.certain, self.possible & second.possible, self.paths)

    def __or__(self, other: Any) -> TracedTruth:
        second = lift(other, self.paths) != 0.0
        return truth(self.certain | second.certain, self.possible | second.possible, self.paths)

    def __invert__(self) -> TracedTruth:
        return truth(~self.possible, ~self.certain, self.paths)

    def __ne__(self, other: Any) -> TracedTruth:
        # Compared with 0, a truth is itself; this also ends the recursion from ``Traced.__ne__``.
        return self if isinstance(other, float) and other == 0.0 else super().__ne__(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]
    __rand__, __ror__ = __and__, __or__


def lift(value: Any, paths: Paths) -> Traced:
    """A constant as a traced value."""
    if isinstance(value, Traced):
        return value
    if isinstance(value, (str, bytes)) or np.ndim(value) != 0:
        raise Untraceable(type(value).__name__)
    number = float(value)
    return Traced(constant(number), None, None, paths)


def apply(ufunc: np.ufunc, paths: Paths, *inputs: Any) -> Traced:
    if ufunc not in RULES:
        raise Untraceable(ufunc.__name__)
    return RULES[ufunc](*(lift(value, paths) for value in inputs))


def less(a: Traced, b: Traced) -> TracedTruth:
    return truth(a.value.high < b.value.low, a.value.low < b.value.high, a.paths)


def truth(certain: Flags, possible: Flags, paths: Paths) -> TracedTruth:
    """A truth has slope 0 where nothing happens, and no known slope where it turns."""
    decided = certain == possible
    jump = None if np.all(decided) else constant(0.0).keep_where(decided)
    return TracedTruth(spread(certain, possible), jump, jump, paths)
