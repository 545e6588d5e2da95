"""Several runs of correct guesses among finitely many numbers: what the sweep asks of them.

A stretch is a run of numbers that are all correct, or all not. Its amounts are sums of mass·e^{±k·distance}, added up
once for each k from either end; capacity may run out within a number, which is then served in part from either side,
and what waited may take only a part of the capacity of a number. Numbers that no release tells apart lie at one place:
a distance of 0 costs nothing, whatever their order.

For one s with likelihood e^{εs} the log-odds lie above their chord from 0 to k₀, and below it, by ln(1 + 4θ(1−θ)g) at
most (`gaps`, for the rest and for the goal), g = e^{(k₀R)²/32} − 1 with R how far the numbers reach. So the gain at θk₀
differs from θ times that at k₀ by 4θg at most: that tells gains which are less than what rounding leaves of sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from guessproof.risk.atoms import Atoms
from guessproof.risk.gaps import gap_across
from guessproof.risk.sweep import Line, Memories, Memory, Places, minus, of_both_signs, zigzag
from guessproof.world.checks import Array, Mask

_ULP = 1.2e-16  # what rounding does to a logarithm at most, as a share, where one more number is added
_AT_ONCE = 1 << 22  # sums that are kept together
_RUNS, _NUMBERS = 32, 500  # more runs of fewer numbers are answered sooner by a linear program
_FARTHEST = 1e8  # k times how far numbers reach: beyond it digits of exponents are lost, and hardly anything is gained


@dataclass(frozen=True, eq=False)
class AtomStretch:
    """A run of numbers: ln of their masses and ψ there."""

    log_mass: Array
    psi: Array
    goal: bool
    before: float

    @property
    def length(self) -> float:
        """The distance from the first to the last."""
        return float(self.psi[-1] - self.psi[0])

    @property
    def rounding(self) -> Array:
        """What rounding can do to ln of a sum, and for each k."""
        return _ULP * self.psi.size * np.array([4 + float(np.max(np.abs(self.log_mass))), self.length])

    def amounts(self, k: Array) -> Sums:
        """What it amounts to for these k."""
        return Sums(self, k)


@dataclass(frozen=True, eq=False)
class Sums:
    """What a run of numbers amounts to."""

    part: AtomStretch
    k: Array

    @property
    def _rate(self) -> Array:
        return self.k if self.part.goal else -self.k

    @cached_property
    def _from_start(self) -> Array:
        """By k and number: all up to this one, counted at the first."""
        psi = self.part.psi
        return np.logaddexp.accumulate(self.part.log_mass + self._rate[:, None] * (psi - psi[0]), axis=1)

    @cached_property
    def _to_end(self) -> Array:
        """By k and number: all from this one on, counted at the last."""
        psi = self.part.psi[::-1]
        return np.logaddexp.accumulate(self.part.log_mass[::-1] + self._rate[:, None] * (psi[0] - psi), axis=1)[:, ::-1]

    def whole(self) -> tuple[Array, Array]:
        """All of it, counted at the first and at the last number."""
        return self._from_start[:, -1], self._to_end[:, 0]

    def turned(self, some: Places, target: Array, guess: Array) -> tuple[Array, Array]:
        """The number within which so much is reached; what is left of it, and all after it."""
        del guess
        psi, last, rate = self.part.psi, self.part.psi.size - 1, self._rate[some]
        at = _first_reaching(self._from_start, some, target)
        own = minus(self._from_start[some, at], target) + rate * ((psi[-1] - psi[at]) - (psi[at] - psi[0]))
        after = np.where(at < last, self._to_end[some, np.minimum(at + 1, last)], -np.inf)
        return at.astype(np.float64), np.logaddexp(own, after)


def _first_reaching(sums: Array, rows: Places, target: Array) -> Places:
    """Where each of some rows, which rise, first reaches a target; the last place where none does."""
    low, high = np.zeros(rows.size, dtype=np.intp), np.full(rows.size, sums.shape[1] - 1)
    while np.any(low < high):
        middle = (low + high) // 2
        reached = sums[rows, middle] >= target
        low, high = np.where(reached, low, np.minimum(middle + 1, high)), np.where(reached, middle, high)
    return low


def runs_of(marks: Mask) -> list[slice]:
    """Where numbers are all marked, or all not, from left to right.

    >>> runs_of(np.array([True, True, False, True]))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    starts = np.flatnonzero(np.diff(marks, prepend=~marks[:1]))
    return [slice(int(a), int(b)) for a, b in zip(starts, [*starts[1:], marks.size], strict=True)]


@dataclass(frozen=True, eq=False)
class AtomZigzag:
    """Numbers of which some are correct."""

    atoms: Atoms
    marks: Mask

    @property
    def is_quick(self) -> bool:
        """Whether a sweep is worth it."""
        return self.marks.size > _NUMBERS or len(runs_of(self.marks)) <= _RUNS

    @cached_property
    def line(self) -> Line:
        """As the sweep asks for it."""
        psi, mass, parts = self.atoms.psi, self.atoms.mass, list[AtomStretch]()
        log_mass = np.log(mass)
        for run in runs_of(self.marks):
            before = float(psi[run.start] - psi[run.start - 1]) if parts else 0.0
            parts.append(AtomStretch(log_mass[run], psi[run], bool(self.marks[run.start]), before))
        odds = float(np.log(mass[self.marks].sum()) - np.log(mass[~self.marks].sum()))
        low, high = psi[np.minimum(np.searchsorted(np.cumsum(mass), [0.1, 0.9]), psi.size - 1)]
        rounding = np.sum([part.rounding for part in parts], axis=0)
        return Line(parts, odds, float(high - low), (float(rounding[0]), float(rounding[1])))

    @cached_property
    def told(self) -> float:
        """The gain of one who is told where on the line a number lies: no release tells more."""
        starts = np.flatnonzero(np.diff(self.atoms.psi, prepend=-np.inf))
        inside, outside = (np.add.reduceat(self.atoms.mass * part, starts) for part in (self.marks, ~self.marks))
        with np.errstate(divide="ignore"):
            return float(np.max(np.log(inside) - np.log(outside))) - self.line.before + 1e-12

    @cached_property
    def turned(self) -> AtomZigzag:
        """The same with all others correct."""
        return AtomZigzag(self.atoms, ~self.marks)

    def signed_gain(self, k: Array, memories: Memories | None = None) -> tuple[Array, Array]:
        """(attack, bound) of the signed gain at each k; a loss is the gain of all others."""
        return of_both_signs(lambda sign, k, memory: (self if sign > 0 else self.turned).gain(k, memory), k, memories)

    def gain(self, k: Array, memory: Memory | None) -> tuple[Array, Array]:
        """(attack, bound) of the gain at each k > 0."""
        far = self.line.far
        if far == 0:
            return np.zeros(k.shape), np.zeros(k.shape)
        attack, bound = self._swept(np.minimum(k, _FARTHEST / far), memory)
        bound = np.minimum(np.where(k * far > _FARTHEST, np.inf, bound), np.minimum(self.told, k * far))
        # From here on down rounding leaves less of a sweep than the line through 0 does.
        straight = np.sqrt(8 * (1e-12 + self.line.rounding[0])) / far
        few = np.flatnonzero(k < straight)
        if few.size:
            at, share = self._swept(np.array([straight]), None), k[few] / straight
            bent = 4 * gap_across(far, np.zeros(1), np.array([straight]))
            bound[few] = np.minimum(bound[few], share * (at[1] + bent))
            attack[few] = np.maximum(attack[few], share * (at[0] - bent))
        return np.minimum(attack, bound), bound

    def _swept(self, k: Array, memory: Memory | None) -> tuple[Array, Array]:
        found, size = np.empty((2, k.size)), max(1, _AT_ONCE // self.marks.size)
        for i in range(0, k.size, size):
            found[:, i : i + size] = zigzag(self.line, k[i : i + size], memory)
        return found[0], found[1]
