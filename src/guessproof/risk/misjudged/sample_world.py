"""A sample under a distance, for boxes of true values: places among its numbers, and sums over pieces between places.

A place k stands before the k-th number: the piece from a to b holds the numbers a … b−1, a peak c is the number c. Sums
of masses times e^{±εψ}, a row for each ε, are added up from where terms are small: what two of them differ by has lost
no more than what is added to it anyway.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.atoms import Atoms, Places
from guessproof.risk.misjudged.tents import Move
from guessproof.world.checks import Array

Piece = tuple[Places, Places]  # from and to

_KEPT = 1 << 24  # numbers in sums that are kept
_FEW = 200  # numbers
_MOST = 600.0  # ε times how far apart numbers are, with a step: as far as exponentials reach


class SampleWorld:
    """Numbers with their masses, under |ψ(x) − ψ(x')| and a step."""

    def __init__(self, atoms: Atoms, step: float) -> None:
        self.psi, self.mass, self.step = atoms.psi, atoms.mass, step
        self.below = np.append(0.0, np.cumsum(atoms.mass))
        self._rows: dict[float, int] = {}
        self._rising = self._falling = np.empty((0, self.below.size))

    @property
    def size(self) -> int:
        return self.psi.size

    @cached_property
    def across(self) -> float:
        """How far apart two numbers are."""
        return float(self.psi[-1] - self.psi[0])

    @cached_property
    def is_few(self) -> bool:
        """Whether so few numbers are different that each may be where h turns."""
        return np.unique(self.psi).size <= _FEW

    @property
    def largest(self) -> float:
        """The largest ε of which sums are known, and how much a step raises them."""
        return _MOST / (self.across + self.step)

    @property
    def rounding(self) -> float:
        """Of beliefs that are made of so many masses."""
        return 1e-15 * (64 + self.size)

    @property
    def at_once(self) -> int:
        """Of how many ε sums are kept."""
        return max(4, _KEPT // self.size)

    def rows_of(self, epsilon: Array) -> NDArray[np.int64]:
        """Where the sums of some ε are kept; of no more than `at_once` at a time."""
        wanted, inverse = np.unique(epsilon, return_inverse=True)
        new = np.array([e for e in wanted.tolist() if e not in self._rows])
        if new.size:
            if len(self._rows) + new.size > self.at_once:
                self._rows, new = {}, wanted
                self._rising = self._falling = np.empty((0, self.below.size))
            rising = self.mass * np.exp(new[:, None] * (self.psi - self.psi[-1]))
            falling = self.mass * np.exp(new[:, None] * (self.psi[0] - self.psi))
            none = np.zeros((new.size, 1))
            rising = np.concatenate([none, np.cumsum(rising, axis=1)], axis=1)
            falling = np.concatenate([-np.cumsum(falling[:, ::-1], axis=1)[:, ::-1], none], axis=1)
            self._rows.update({float(e): len(self._rows) + i for i, e in enumerate(new)})
            self._rising, self._falling = (
                np.concatenate([old, more]) for old, more in ((self._rising, rising), (self._falling, falling))
            )
        return np.array([self._rows[float(e)] for e in wanted], dtype=np.int64)[inverse.reshape(epsilon.shape)]

    def masses(self, piece: Piece) -> Array:
        """What a piece holds; nothing where it ends before it begins."""
        return np.maximum(self.below[piece[1]] - self.below[piece[0]], 0.0)

    def log_peak(self, epsilon: Array, move: Move, c: Places) -> Array:
        """ln L at a peak: L is 1 where it is largest, which for a valley is far away."""
        return (
            np.zeros(c.size)
            if move > 0
            else -epsilon * np.maximum(self.psi[-1] - self.psi[c], self.psi[c] - self.psi[0])
        )

    def told(self, row: Places, epsilon: Array, move: Move, c: Places, left: list[Piece], right: list[Piece]) -> Array:
        """Σ mass·L over pieces on both sides of peaks, L being a tent (1) or a valley (−1); rows as `rows_of` says."""
        row, at, peak = row[:, None], self.psi[c], self.log_peak(epsilon, move, c)
        rising = np.exp(epsilon * (self.psi[-1] - at) + peak)[:, None], self._rising
        falling = np.exp(epsilon * (at - self.psi[0]) + peak)[:, None], self._falling
        found: Array | float = 0.0
        for pieces, (unit, sums) in ((left, (rising, falling)[move < 0]), (right, (falling, rising)[move < 0])):
            for a, b in pieces:
                found = found + unit * np.maximum(sums[row, b] - sums[row, a], 0.0)
        return np.asarray(found)

    def around(self, c: Places, radius: Array) -> Piece:
        """The piece of what is no further from a peak than some radius."""
        at = self.psi[c]
        return np.searchsorted(self.psi, at - radius), np.searchsorted(self.psi, at + radius, side="right")

    def beside(self, c: Places, radius: Array) -> tuple[Array, Array]:
        """The largest distance of a number from a peak that is no longer than some radius, and the next one."""
        (first, end), psi, at = self.around(c, radius), np.concatenate([[-np.inf], self.psi, [np.inf]]), self.psi[c]
        before = np.maximum(at - psi[np.minimum(first, c) + 1], psi[np.maximum(end - 1, c) + 1] - at)
        after = np.minimum(at - psi[first], psi[end + 1] - at)
        return before, np.where(np.isfinite(after), after, radius)

    def away(self, c: Places, place: Places) -> tuple[Array, Array]:
        """How far the two numbers beside a place are from a peak, the nearer one and the other."""
        before, after = (np.abs(self.psi[np.clip(p, 0, self.size - 1)] - self.psi[c]) for p in (place - 1, place))
        return np.minimum(before, after), np.maximum(before, after)
