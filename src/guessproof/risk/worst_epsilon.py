"""The largest ε that keeps a limit whatever the true value is: the worst one moves with ε, so both are looked for.

What the worst true value gives rises with ε. A few looks, each at several true values and several ε at once, close in
on the ε at which it reaches the limit and on the true value at which it does. Nothing of this is proven: a hair below
the ε that is found, the limit is proven for every true value by branch and bound, or nothing is returned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from guessproof.risk.truth_ends import Ends
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.risk.worst_case import first_points, worst_true_value
from guessproof.world.checks import Array

_WIDE, _CLOSER = 2.0 ** np.linspace(-8, 8, 9), 2.0 ** np.linspace(-1.5, 1.5, 7)  # two looks at ε, around a typical one
_FURTHER, _TRIES, _LOOKS = 4, 4, 12
_LEVELS = ((17, 1.0, 0.15), (9, 0.1, 2e-3), (1, 0.0, 1e-5))  # true values, how far they reach, and how far ln ε does
_EPSILONS = np.linspace(-1, 1, 3)  # few: integrals at other ε have nothing in common


@dataclass(frozen=True)
class _Near:
    """About where a limit is reached: ε, the worst true value there, and how far around it the next look goes."""

    epsilon: float
    at: float
    reach: float


def epsilon_at_worst(search: TruthSearch, limit: float, direction: Direction, start: float) -> float | None:
    """The largest ε with a proof that no true value exceeds the limit; None where the search does not settle."""
    if not search.sharp or not 0 < limit < 1:
        return None
    near = _first(search, limit, direction, start)
    room = max(1e-9, 4e-10 / limit)  # the worst value itself is known to 1e-10 only
    for _ in range(_TRIES):
        near = near and _settled(search, limit, direction, near)
        if near is None:
            return None
        safe = near.epsilon * (1 - room)
        proven = worst_true_value(search, safe, direction, near.at)
        if proven.bound <= limit:
            return safe
        if proven.value <= limit and abs(proven.at - near.at) <= 1e-3 * near.reach:
            return None  # it is there, and is not known closely enough
        near = replace(near, at=proven.at)
    return None


def _first(search: TruthSearch, limit: float, direction: Direction, start: float) -> _Near | None:
    """A look over all true values at a typical ε, one over many ε at the worst of them, and one over all again."""
    near: _Near | None = None
    for grid in (_WIDE, _CLOSER):
        epsilon = start if near is None else near.epsilon
        low, high, _ = search.tails(epsilon, direction)
        t = first_points(search, low, high, 24)
        i = int(np.argmax(Ends.at(search, t, epsilon, direction).value))
        found = _roughly(search, limit, direction, float(t[i]), epsilon * grid)
        if found is None:
            return None
        reach = float(max(t[i] - t[max(i - 1, 0)], t[min(i + 1, t.size - 1)] - t[i]))
        near = _Near(found, float(t[i]), reach)
    return near


def _roughly(search: TruthSearch, limit: float, direction: Direction, at: float, epsilon: Array) -> float | None:
    """About the ε at which one true value reaches the limit; None where none does."""
    for _ in range(_FURTHER):
        found = Ends.at(search, np.full(epsilon.shape, at), epsilon, direction).bound
        i = int(np.searchsorted(found, limit, side="right"))
        if 0 < i < epsilon.size:
            below, above = math.log(max(found[i - 1], 1e-300)), math.log(found[i])
            share = (math.log(limit) - below) / (above - below)  # about a power of ε
            return float(epsilon[i - 1] * (epsilon[i] / epsilon[i - 1]) ** share)
        epsilon = epsilon * (epsilon[-1] / epsilon[0]) ** (1 if i else -1)
    return None


def _settled(search: TruthSearch, limit: float, direction: Direction, near: _Near) -> _Near | None:
    """Where the limit is reached, as closely as floating point tells; None where the looks lead nowhere."""
    level, step, best = 0, near.reach, near.at
    low, high = max(search.low, search.prior.support[0]), min(search.high, search.prior.support[1])
    for _ in range(_LOOKS):
        truths, share, spread = _LEVELS[level]
        # The best so far as well: where the worst value has a tip, the top of a parabola lies beside it.
        at = np.unique(np.clip([*(near.at + share * step * np.linspace(-1, 1, truths)), best], low, high))
        epsilon = near.epsilon * np.exp(spread * _EPSILONS)
        ends = Ends.at(search, np.repeat(at, epsilon.size), np.tile(epsilon, at.size), direction)
        found = ends.value.reshape(at.size, epsilon.size)
        most = np.max(found, axis=0)
        if not most[0] <= limit <= most[-1]:
            near = replace(near, epsilon=float(epsilon[0 if most[0] > limit else -1]))
            continue
        there = _crossing(epsilon, most, limit)
        values = found[:, int(np.argmin(np.abs(epsilon - there)))]
        i = int(np.argmax(values))
        best = float(at[i])
        near = replace(near, epsilon=there, at=best)
        if truths == 1:
            return near
        if (i > 0 or best == low) and (i < at.size - 1 or best == high):
            level, near = level + 1, replace(near, at=_top(at, values, i))
    return None


def _crossing(x: Array, y: Array, level: float) -> float:
    """Where rising values reach a level: x as a polynomial of y, by Neville's scheme."""
    found = x.copy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for step in range(1, x.size):
            left, right = y[:-step], y[step:]
            found = ((level - left) * found[1:] + (right - level) * found[:-1]) / (right - left)
    return float(np.clip(found[0], x[0], x[-1])) if math.isfinite(found[0]) else float(np.interp(level, y, x))


def _top(x: Array, y: Array, i: int) -> float:
    """The top of the parabola through the largest value and its neighbours; itself at an end."""
    if i in (0, x.size - 1):
        return float(x[i])
    before, after = x[i] - x[i - 1], x[i + 1] - x[i]
    falls = (y[i] - y[i - 1]) / before, (y[i] - y[i + 1]) / after
    if not 0 < max(falls) < math.inf or min(falls) < 0:
        return float(x[i])
    return float(x[i] + 0.5 * (falls[0] * after - falls[1] * before) / (falls[0] + falls[1]))
