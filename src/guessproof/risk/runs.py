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
from numpy.typing import ArrayLike

from guessproof.world.checks import Array


class RunSums:
    """ln Σ mass·e^{x − x_j} over the points i … j, for x that rise: one row of them, or several."""

    def __init__(self, mass: Array, x: Array) -> None:
        rows, self.levels = x.shape[0], max(1, (mass.size - 1).bit_length())
        size = 1 << self.levels
        pad = size - mass.size
        self.mass = np.concatenate([mass, np.zeros(pad)])
        padded = np.concatenate([x, np.repeat(x[:, -1:], pad, axis=1)], axis=1)
        self.size, self.x = size, padded.ravel()
        # By row and level: to the end of the block if it is a first one, else from its start.
        kept = np.empty((rows, self.levels, size))
        to_end, from_start = np.tile(self.mass, (rows, 1)), np.tile(self.mass, (rows, 1))
        for level in range(self.levels):
            blocks = rows, -1, 2, 1 << level
            first, second, ends, row = (v.reshape(blocks) for v in (to_end, from_start, padded, kept[:, level]))
            row[:, :, 0], row[:, :, 1] = first[:, :, 0], second[:, :, 1]
            total = first[..., 0].copy()  # whole blocks, in units of their last terms
            last = ends[:, :, 0, -1:]
            second[:, :, 1] += total[..., :1] * np.exp(last - ends[:, :, 1])
            first[:, :, 0] = first[:, :, 0] * np.exp(last - ends[:, :, 1, -1:]) + total[..., 1:]
        self.kept = kept.ravel()

    def upto(self, i: Any, j: Any, which: Any = 0) -> Array:
        """The logarithm in some rows, −∞ for an empty run."""
        empty = i > j
        i, j = np.where(empty, 0, i), np.where(empty, 0, j)
        level = np.maximum(np.frexp((i ^ j).astype(np.float64))[1] - 1, 0)
        row, x = (which * self.levels + level) * self.size, which * self.size
        block = ((i >> level) << level) + (1 << level) - 1  # the last point of the first block
        found = self.kept[row + j] + self.kept[row + i] * np.exp(self.x[x + block] - self.x[x + j])
        found = np.where(i == j, self.mass[j], found)
        with np.errstate(divide="ignore"):
            return np.where(empty, -np.inf, np.log(found))


@dataclass(frozen=True, eq=False)
class Beside:
    """Of runs: ln of a slope's sum over everything on one side, ψ where its unit is, and which k it has."""

    total: Array
    psi: Array
    which: Any
    k: Any

    def pick(self, some: Any) -> Beside:
        which, k = (self.which[some], self.k[some]) if np.ndim(self.which) else (self.which, self.k)
        return Beside(self.total[some], self.psi[some], which, k)


class Slopes:
    """The two slopes of a tent or, for k < 0, a basin: ln Σ mass·e^{±kψ} over runs, ψ rising.

    Each sum comes in units of e^{±kψ} at one of its ends: the left slope's at its right end for a tent, and so on.
    There may be several k, all above 0 or all below: `which` says which one each run has.
    """

    def __init__(self, mass: Array, psi: Array, k: ArrayLike) -> None:
        self.k = np.atleast_1d(np.asarray(k, dtype=np.float64))
        self.is_tent, self.psi, self.last = bool(self.k[0] > 0), psi, mass.size - 1
        steep = np.abs(self.k)[:, None] * (psi - psi[psi.size // 2])
        self.rising = RunSums(mass, steep)
        self.falling = RunSums(mass[::-1], -steep[:, ::-1])

    def left(self, i: Any, j: Any, which: Any = 0) -> tuple[Array, Any]:
        """ln Σ mass·e^{kψ} over i … j, and the point in whose unit it is."""
        return (self.rising.upto(i, j, which), j) if self.is_tent else (self._falling(i, j, which), i)

    def right(self, i: Any, j: Any, which: Any = 0) -> tuple[Array, Any]:
        """ln Σ mass·e^{−kψ} over i … j, and the point in whose unit it is."""
        return (self._falling(i, j, which), i) if self.is_tent else (self.rising.upto(i, j, which), j)

    def _falling(self, i: Any, j: Any, which: Any) -> Array:
        return self.falling.upto(self.last - j, self.last - i, which)

    def before(self, first: Any, which: Any = 0) -> Beside:
        """The left slope's sum over everything before `first`."""
        total, end = self.left(np.zeros_like(first), first - 1, which)
        return Beside(total, self._psi(end), which, self.k[which])

    def after(self, last: Any, which: Any = 0) -> Beside:
        """The right slope's sum over everything after `last`."""
        total, end = self.right(last + 1, np.full_like(last, self.last), which)
        return Beside(total, self._psi(end), which, self.k[which])

    def left_odds(self, before: Beside, i: Any, j: Any) -> Array:
        """ln of the left slope's sum over i … j against that of everything before some point."""
        inside, at = self.left(i, j, before.which)
        return _less(inside, before.total) + before.k * (self._psi(at) - before.psi)

    def right_odds(self, after: Beside, i: Any, j: Any) -> Array:
        """ln of the right slope's sum over i … j against that of everything after some point."""
        inside, at = self.right(i, j, after.which)
        return _less(inside, after.total) + after.k * (after.psi - self._psi(at))

    def _psi(self, place: Any) -> Array:
        """ψ at some points; that of the next one where there is none."""
        return self.psi[np.minimum(np.maximum(place, 0), self.last)]


def _less(x: Array, y: Array) -> Array:
    """x − y where both exist; nothing inside weighs nothing, nothing outside sets no limit (NaN)."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(y), np.nan, x - y)
