"""Running a function on whole cells, along every path that its ``if``s can take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.intervals import Flags, IntervalArray, choose, constant
from guessproof.risk.profile.enclosure import rules
from guessproof.risk.profile.enclosure.traced import FUNCTIONS, RULES, Paths, Traced, Untraceable, lift

_MOST_PATHS = 64

RULES.update(rules.UFUNCS)
FUNCTIONS.update(rules.FUNCTIONS)


@dataclass(frozen=True)
class Bounds:
    """What is certain about a function on each cell."""

    value: IntervalArray
    slope_p: IntervalArray
    slope_q: IntervalArray


def bound(function: Callable[[Any, Any], Any], p: IntervalArray, q: IntervalArray, *, slopes: bool = True) -> Bounds:
    """Enclose a function and, unless told otherwise, its slopes on the cells p × q.

    >>> cells = IntervalArray(np.array([0.1, 0.5]), np.array([0.2, 0.6]))
    >>> low, high = bound(lambda p, q: max(0.25 / p, 1 + q), cells, cells).value
    >>> [(round(float(a), 3), round(float(b), 3)) for a, b in zip(low, high)]
    [(1.25, 2.5), (1.5, 1.6)]
    """
    cells = p.low.shape
    nothing = IntervalArray(np.full(cells, np.inf), np.full(cells, -np.inf))
    value, slope_p, slope_q = nothing, nothing, nothing
    seen = np.zeros(cells, dtype=np.bool_)
    one = constant(1.0) if slopes else None
    pending: list[list[bool]] = [[]]
    with np.errstate(all="ignore"):
        for _ in range(_MOST_PATHS):
            paths = Paths(pending.pop(), np.ones(cells, dtype=np.bool_), pending)
            result = _call(function, Traced(p, one, None, paths), Traced(q, None, one, paths))
            alive, again = paths.alive, paths.alive & seen
            value = choose(alive, value | result.value, value)
            slope_p = _join(slope_p, result.dp, alive, again)
            slope_q = _join(slope_q, result.dq, alive, again)
            seen |= alive
            if not pending:
                return Bounds(value, slope_p, slope_q)
    raise Untraceable("too many paths")


def _call(function: Callable[[Any, Any], Any], p: Traced, q: Traced) -> Traced:
    try:
        return lift(function(p, q), p.paths)
    except Exception as error:  # a foreign function given a foreign type may raise anything
        raise Untraceable from error


def _join(slope: IntervalArray, new: IntervalArray | None, alive: Flags, again: Flags) -> IntervalArray:
    """Two paths through one cell may meet in a jump: then no slope is known."""
    return choose(alive, new or constant(0.0), slope).keep_where(~again)
