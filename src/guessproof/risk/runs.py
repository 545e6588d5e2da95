"""Sums over runs of consecutive points, in logarithms, without ever subtracting.

Σ mass·e^x over the points i … j, x rising, is kept in units of its last and largest term, so nothing overflows and no
digit is lost however steep e^x is. Points are paired into blocks of 1, 2, 4, … and each block remembers the sum from
every point to its end and from its start to every point. The highest bit in which i and j differ names two neighbouring
blocks: the run is the end of the first and the start of the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.world.checks import Array


class RunSums:
    """ln Σ mass·e^{x − x_j} over the points i … j, for x that rise."""

    def __init__(self, mass: Array, x: Array) -> None:
        self.levels = max(1, (mass.size - 1).bit_length())
        size = 1 << self.levels
        pad = size - mass.size
        self.mass = np.concatenate([mass, np.zeros(pad)])
        self.x = np.concatenate([x, np.full(pad, x[-1])])
        self.size = size
        self.kept = np.empty(self.levels * size)  # per level: to the end of the block if it is a first one, else from
        to_end, from_start = self.mass.copy(), self.mass.copy()
        for level in range(self.levels):
            first, second = (v.reshape(-1, 2, 1 << level) for v in (to_end, from_start))
            row = self.kept[level * size : (level + 1) * size].reshape(-1, 2, 1 << level)
            row[:, 0], row[:, 1] = first[:, 0], second[:, 1]
            ends = self.x.reshape(-1, 2, 1 << level)
            total = first[:, :, 0].copy()  # whole blocks, in units of their last terms
            last = ends[:, 0, -1:]
            second[:, 1] += total[:, :1] * np.exp(last - ends[:, 1])
            first[:, 0] = first[:, 0] * np.exp(last - ends[:, 1, -1:]) + total[:, 1:]

    def upto(self, i: Any, j: Any) -> Array:
        """The logarithm, −∞ for an empty run."""
        empty = i > j
        i, j = np.where(empty, 0, i), np.where(empty, 0, j)
        level = np.maximum(np.frexp((i ^ j).astype(np.float64))[1] - 1, 0)
        row = level * self.size
        block = ((i >> level) << level) + (1 << level) - 1  # the last point of the first block
        found = self.kept[row + j] + self.kept[row + i] * np.exp(self.x[block] - self.x[j])
        found = np.where(i == j, self.mass[j], found)
        with np.errstate(divide="ignore"):
            return np.where(empty, -np.inf, np.log(found))


@dataclass(frozen=True, eq=False)
class Beside:
    """ln of a slope's sum over everything on one side of a run, and ψ where its unit is."""

    total: Array
    psi: Array

    def pick(self, some: Any) -> Beside:
        return Beside(self.total[some], self.psi[some])


class Slopes:
    """The two slopes of a tent or, for k < 0, a basin: ln Σ mass·e^{±kψ} over runs, ψ rising.

    Each sum comes in units of e^{±kψ} at one of its ends: the left slope's at its right end for a tent, and so on.
    """

    def __init__(self, mass: Array, psi: Array, k: float) -> None:
        steep = abs(k) * (psi - psi[psi.size // 2])
        self.k, self.psi, self.last = k, psi, mass.size - 1
        self.rising = RunSums(mass, steep)
        self.falling = RunSums(mass[::-1], -steep[::-1])

    def left(self, i: Any, j: Any) -> tuple[Array, Any]:
        """ln Σ mass·e^{kψ} over i … j, and the point in whose unit it is."""
        return (self.rising.upto(i, j), j) if self.k > 0 else (self._falling(i, j), i)

    def right(self, i: Any, j: Any) -> tuple[Array, Any]:
        """ln Σ mass·e^{−kψ} over i … j, and the point in whose unit it is."""
        return (self._falling(i, j), i) if self.k > 0 else (self.rising.upto(i, j), j)

    def _falling(self, i: Any, j: Any) -> Array:
        return self.falling.upto(self.last - j, self.last - i)

    def before(self, first: Any) -> Beside:
        """The left slope's sum over everything before `first`."""
        total, end = self.left(np.zeros_like(first), first - 1)
        return Beside(total, self._psi(end))

    def after(self, last: Any) -> Beside:
        """The right slope's sum over everything after `last`."""
        total, end = self.right(last + 1, np.full_like(last, self.last))
        return Beside(total, self._psi(end))

    def left_odds(self, before: Beside, i: Any, j: Any) -> Array:
        """ln of the left slope's sum over i … j against that of everything before some point."""
        inside, at = self.left(i, j)
        return _less(inside, before.total) + self.k * (self._psi(at) - before.psi)

    def right_odds(self, after: Beside, i: Any, j: Any) -> Array:
        """ln of the right slope's sum over i … j against that of everything after some point."""
        inside, at = self.right(i, j)
        return _less(inside, after.total) + self.k * (after.psi - self._psi(at))

    def _psi(self, place: Any) -> Array:
        """ψ at some points; that of the next one where there is none."""
        return self.psi[np.minimum(np.maximum(place, 0), self.last)]


def _less(x: Array, y: Array) -> Array:
    """x − y where both exist; nothing inside weighs nothing, nothing outside sets no limit (NaN)."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(y), np.nan, x - y)
