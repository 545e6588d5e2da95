"""Several runs of correct guesses along a line: the exact answer, by one sweep.

The best likelihood zigzags, e^{±kψ} between peaks inside the goal and valleys outside. Dually, mass of the goal
is carried to the complement, a distance d away at a price of e^{kd}, loading no point beyond λ times its prior:
if that can be done, no posterior odds exceed λ. On a line carriers never cross, and everything left of a
point is worth one amount to it, so one sweep from left to right decides whether λ suffices:

    rising    λ·capacity left behind, worth e^{−kd} a distance d further on, serves the goal ahead until it runs out;
    waiting   goal left behind, costing e^{+kd} a distance d further on, waits for capacity ahead until it is served.

The least λ that suffices is both the bound and, through its peaks and valleys, the attack. Both amounts are counted in
the units of the place that the sweep has reached.

Many k and λ are swept at once. What whole stretches amount to is the same for every λ; only the points where capacity
runs out, and where what waited is served, are looked for again, from where they were for the λ before.

The sweep does not mind what stretches are made of: parts of a density (`zigzag`) or runs of numbers (`zigzag_atoms`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.roots import crossings
from guessproof.world.checks import Array, Mask

Places = NDArray[np.intp]  # of some k among all

# How close the λ that suffices and the one that does not are brought, as logarithms; and where many are to be known.
_WITHIN, _WITHIN_OF_MANY = 1e-13, 1e-10
_NEVER = 1e9  # a gain beyond which none is looked for


class Amounts(Protocol):
    """What a stretch amounts to for some k, as logarithms.

    Goal is dearer, e^{+k·distance}, and capacity worth less, e^{−k·distance}, the further it is from where it is
    counted.
    """

    def whole(self) -> tuple[Array, Array]:
        """All of it, counted at its start and at its end."""
        ...

    def turned(self, some: Places, target: Array, guess: Array) -> tuple[Array, Array]:
        """For some k: up to where so much of it, counted at its start, reaches; what is left, counted at its end."""
        ...


class Stretch(Protocol):
    """A part of goal or complement."""

    @property
    def goal(self) -> bool:
        """Which of both."""
        ...

    @property
    def before(self) -> float:
        """The distance from the stretch before it."""
        ...

    @property
    def length(self) -> float:
        """The distance from start to end."""
        ...

    def amounts(self, k: Array) -> Amounts:
        """What it amounts to for these k."""
        ...


@dataclass(frozen=True, eq=False)
class Line:
    """All stretches from left to right."""

    parts: Sequence[Stretch]
    before: float  # the log-odds
    reach: float  # about how far the bulk of the prior reaches
    rounding: tuple[float, float] = (0.0, 0.0)  # what sums may do to ln λ beside all else, and for each k

    @property
    def far(self) -> float:
        """The length of all stretches that are finite."""
        return sum(p.before + p.length for p in self.parts if np.isfinite(p.length))


@dataclass(eq=False)
class Memory:
    """What is known of some k: between which two λ, as gains, the least that suffices lies, and where the turns are.

    A gain rises with k: neighbours enclose it, and their turns are near.
    """

    k: Array = field(default_factory=lambda: np.empty(0))
    ends: Array = field(default_factory=lambda: np.empty((2, 0)))
    turns: Array = field(default_factory=lambda: np.empty((0, 0)))

    def around(self, k: Array, sweep: Sweep) -> tuple[Array, Array]:
        """A gain that is not reached, one that perhaps suffices; and the sweep is told where to look for turns."""
        low, high = np.zeros(k.shape), np.clip(0.3 * k * sweep.line.reach, _WITHIN, 1.0)
        if not self.k.size:
            return low, high
        place = np.searchsorted(self.k, k)
        before, after = np.maximum(place - 1, 0), np.minimum(place, self.k.size - 1)
        nearest = np.where(k * k < self.k[before] * self.k[after], before, after)
        for turns, known in zip(sweep.turns, self.turns, strict=True):
            turns[:] = known[nearest]
        below, above = np.where(place > 0, self.ends[0][before], 0.0), self.ends[1][after]
        above = np.where(place < self.k.size, above, above * (k / self.k[-1]))
        # What has no end is looked for again: a neighbour may have one.
        return np.where(below <= _NEVER, below, low), np.where(above <= _NEVER, above, np.maximum(high, 2 * below))

    def learn(self, k: Array, ends: Array, turns: list[Array]) -> None:
        """Keep what was found."""
        every = np.concatenate([self.k, k])
        order = np.argsort(every)
        self.k, self.ends = every[order], np.concatenate([self.ends, ends], axis=1)[:, order]
        found = np.stack(turns)
        self.turns = (np.concatenate([self.turns, found], axis=1) if self.turns.size else found)[:, order]


def zigzag(line: Line, k: Array, memory: Memory | None = None) -> tuple[Array, Array]:
    """(attack, bound) of the gain at each k > 0."""
    sweep = Sweep(line, k)
    within, memory = (_WITHIN, Memory()) if memory is None else (_WITHIN_OF_MANY, memory)
    low, high = memory.around(k, sweep)
    at_low, at_high, open_ = np.full(k.shape, np.nan), np.empty(k.shape), np.arange(k.size)
    while open_.size:
        at_high[open_] = sweep.spare(high[open_], open_)
        open_ = open_[at_high[open_] < 0]
        low[open_], at_low[open_], high[open_] = high[open_], at_high[open_], 2 * high[open_]
        open_ = open_[high[open_] <= _NEVER]
    first, known = np.flatnonzero(np.isnan(at_low)), np.flatnonzero(high <= _NEVER)
    at_low[first] = np.minimum(sweep.spare(low[first], first), -1e-300)  # less gains less, whatever rounding says
    values, ends = (at_low[known], at_high[known]), np.full((2, *k.shape), np.inf)

    def spare(gain: Array, some: Places) -> Array:
        return sweep.spare(gain, known[some])

    ends[:, known] = _in_steps(spare, *crossings(spare, low[known], high[known], values, within), within)
    memory.learn(k, ends, sweep.turns)
    low, high = ends
    noise = 1e-12 * (1 + high) + 4e-15 * k * line.far + line.rounding[0] + line.rounding[1] * k
    return np.where(np.isinf(high), high, np.maximum(low - noise, 0.0)), high + noise


def _in_steps(spare: Callable[[Array, Places], Array], low: Array, high: Array, within: float) -> tuple[Array, Array]:
    """The same two gains moved apart to the nearest steps, so that they do not depend on how they were found.

    Else a bound might fall where k rises by less than its last digits.
    """
    step = np.exp2(np.ceil(np.log2(within * (1 + high))))
    below = np.floor(high / step) * step
    between = np.flatnonzero((low < below) & (below < high))
    enough = np.zeros(low.shape, dtype=bool)
    enough[between] = spare(below[between], between) >= 0
    below = np.where(enough | (below == high), below - step, below)
    return np.maximum(below, 0.0), below + step


@dataclass(frozen=True, eq=False)
class Sweep:
    """From left to right over all stretches, for some k each with its own λ; all amounts as logarithms."""

    line: Line
    k: Array
    turns: list[Array] = field(default_factory=list[Array])  # by stretch and k: where a peak or a valley was last

    def __post_init__(self) -> None:
        self.turns.extend(np.full(self.k.shape, np.nan) for _ in self.line.parts)

    @cached_property
    def _amounts(self) -> list[Amounts]:
        return [p.amounts(self.k) for p in self.line.parts]

    @cached_property
    def _whole(self) -> list[tuple[Array, Array]]:
        return [amounts.whole() for amounts in self._amounts]

    def spare(self, gain: Array, some: Places) -> Array:
        """Whether odds of λ, so much above the prior ones, let every piece of goal be carried: 0 or more if so.

        Between −1 and 1, rising with λ: by how much what is there exceeds what is asked for at the last stretch.
        """
        k, log_lambda = self.k[some], self.line.before + gain
        rising, waiting = np.full((2, *k.shape), -np.inf)
        for i, part in enumerate(self.line.parts[:-1]):
            rising, waiting = rising - k * part.before, _further(waiting, k * part.before)
            at_start, at_end = (whole[some] for whole in self._whole[i])
            amounts = (at_start, at_end) if part.goal else (log_lambda + at_start, log_lambda + at_end)
            through = self._through_goal if part.goal else self._through_rest
            rising, waiting = through(i, some, (rising, waiting), amounts, log_lambda)
        last, amount = self.line.parts[-1], self._whole[-1][0][some]
        rising, waiting = rising - k * last.before, _further(waiting, k * last.before)
        if last.goal:
            return np.where(np.isneginf(waiting), _compared(rising, amount), -1.0)
        return np.where(np.isneginf(waiting), 1.0, _compared(log_lambda + amount, waiting))

    def _through_goal(
        self, i: int, some: Places, state: tuple[Array, Array], whole: tuple[Array, Array], log_lambda: Array
    ) -> tuple[Array, Array]:
        del log_lambda
        (rising, waiting), (need, left) = state, whole
        length = self.k[some] * self.line.parts[i].length
        served = np.isneginf(waiting) & (need <= rising) & (rising > -np.inf)
        carried = np.logaddexp(_further(waiting, length), left)
        turning = np.flatnonzero(np.isneginf(waiting) & ~served & (rising > -np.inf))
        if turning.size:
            carried[turning] = self._left_after_turn(i, some[turning], rising[turning])
        rising = np.where(served, minus(rising, need) - length, -np.inf)
        return rising, np.where(served, -np.inf, carried)

    def _through_rest(
        self, i: int, some: Places, state: tuple[Array, Array], whole: tuple[Array, Array], log_lambda: Array
    ) -> tuple[Array, Array]:
        (rising, waiting), (room, left) = state, whole
        length = self.k[some] * self.line.parts[i].length
        idle, short = np.isneginf(waiting), room < waiting
        gained = np.logaddexp(rising - length, left)
        turning = np.flatnonzero(~idle & ~short)
        if turning.size:
            after = self._left_after_turn(i, some[turning], (waiting - log_lambda)[turning])
            gained[turning] = log_lambda[turning] + after
        short &= ~idle
        return np.where(short, -np.inf, gained), np.where(short, minus(waiting, room) + length, -np.inf)

    def _left_after_turn(self, i: int, places: Places, target: Array) -> Array:
        self.turns[i][places], left = self._amounts[i].turned(places, target, self.turns[i][places])
        return left


def _further(waiting: Array, length: Array | float) -> Array:
    """What waits, further on; nothing stays nothing however far that is."""
    return np.where(np.isneginf(waiting), -np.inf, waiting + length)


def _compared(there: Array, asked: Array) -> Array:
    """By how much there is more than is asked for, as a share of both."""
    return np.where(np.isneginf(there) | np.isposinf(asked), -1.0, np.tanh(0.5 * (there - asked)))


def minus(x: Array, y: Array) -> Array:
    """ln(e^x − e^y), −∞ where nothing is left."""
    whole: Mask = np.isneginf(y) | np.isposinf(x)
    return np.where(whole, x, np.where(y < x, x + np.log(-np.expm1(np.minimum(y - x, 0.0))), -np.inf))


Memories = tuple[Memory, Memory]  # of gains and of losses


def of_both_signs(
    gain: Callable[[int, Array, Memory | None], tuple[Array, Array]], k: Array, memories: Memories | None
) -> tuple[Array, Array]:
    """(attack, bound) at each k from those of the goal and, for k < 0, of the complement at |k|."""
    found = np.zeros((2, *k.shape))
    for sign, some, memory in zip((1, -1), (k > 0, k < 0), memories or (None, None), strict=True):
        if some.any():
            with np.errstate(all="ignore"):  # far out, integrals end at 0 or infinity, as they should
                found[:, some] = sign * np.stack(gain(sign, np.abs(k[some]), memory))
    return found[0], found[1]
