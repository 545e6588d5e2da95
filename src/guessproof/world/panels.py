"""Tilted integrals of one density at many rates and over many intervals: tables of panels that are added up quickly.

All rates of one octave share their panels. Panels between two others are added up by two numbers at any rate: for each
power of two, what lies between a panel and the middle of its block is kept. Nothing is ever subtracted, so that tiny
integrals keep their digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from guessproof.world.checks import Array, Mask
from guessproof.world.line import NODE_WEIGHTS, NODES, log_sum

_MOST_PANELS, _FEWEST = 600, 12
_BLOCK = 2048  # integrals made at a time, so that their nodes stay in the cache


class Density(Protocol):
    """What a table is made of."""

    @property
    def support(self) -> tuple[float, float]: ...

    def log_density(self, x: Array) -> Array: ...

    def exact_at_ends(self, edges: Array, weight: Array) -> Array: ...

    def log_tilt_slowly(self, k: Array, a: Array, b: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class PanelTables:
    """ln ∫ e^{kx} f over panels that cover the bulk and beyond them on either side, for some rates k."""

    prior: Density
    edges: Array
    rates: Array
    sums: Array  # rate, power of two, panel: from there to the middle of its block; first of all the panels themselves

    @classmethod
    def build(cls, prior: Density, ends: Array, rates: Array) -> PanelTables | None:
        """For rates of one octave, on panels that break at some ends; None where they would need too many.

        Far out in heavy tails they would: there the table ends before.
        """
        ends = np.unique(np.concatenate([ends, [e for e in prior.support if np.isfinite(e)]]))
        # As floats: at a large rate they may be more than integers count.
        parts = np.maximum(np.ceil(float(np.max(np.abs(rates))) * np.diff(ends) / 2), 1)
        while np.sum(parts) > _MOST_PANELS:
            if parts.size <= _FEWEST:
                return None
            kept = slice(1, None) if parts[0] >= parts[-1] else slice(None, -1)
            ends, parts = ends[kept], parts[kept]
        parts = parts.astype(np.int64)
        share = np.concatenate([np.arange(n) / n for n in parts])
        edges = np.append(np.repeat(ends[:-1], parts) + share * np.repeat(np.diff(ends), parts), ends[-1])
        x, weight = _nodes(prior, edges[:-1], edges[1:])
        full = log_sum(weight + rates[:, None, None] * x)
        start, end = np.full(rates.size, -np.inf), np.full(rates.size, np.inf)
        low, high = np.full(rates.size, edges[0]), np.full(rates.size, edges[-1])
        beyond = prior.log_tilt_slowly(np.tile(rates, 2), np.append(start, high), np.append(low, end))
        full = np.concatenate([beyond[: rates.size, None], full, beyond[rates.size :, None]], axis=1)
        return cls(prior, edges, rates, _block_sums(full))

    def holds(self, a: Array, b: Array) -> Mask:
        """Which intervals it answers: their ends lie among the panels, or where the density ends."""
        (low, high), first, last = self.prior.support, self.edges[0], self.edges[-1]
        return ((a <= low) | (a >= first)) & ((b >= high) | (b <= last)) & (b >= first) & (a <= last)

    def log_tilt(self, which: NDArray[np.int64], a: Array, b: Array) -> Array:
        """For rates by their places: whole panels from the table, and a part of one at each end."""
        out = np.empty(a.size)
        for i in (slice(j, j + _BLOCK) for j in range(0, a.size, _BLOCK)):
            out[i] = self._block(which[i], a[i], b[i])
        return out

    def _block(self, which: NDArray[np.int64], a: Array, b: Array) -> Array:
        edges, last = self.edges, self.edges.size - 1
        i = np.searchsorted(edges, a, side="left")  # the first edge at or after a
        j = np.searchsorted(edges, b, side="right") - 1  # the last edge at or before b
        low, high = self.prior.support
        start, end, inside = a <= low, b >= high, i > j  # the last: both ends in one panel
        parts = [self._whole(which, np.where(start, 0, i + 1), np.where(inside, -1, np.where(end, last + 1, j)))]
        left, right = np.flatnonzero(~start), np.flatnonzero(~end & ~inside)
        for some, ends in (
            (left, (a[left], np.where(inside, b, edges[np.minimum(i, last)])[left])),
            (right, (edges[np.maximum(j, 0)][right], b[right])),
        ):
            part = np.full(a.size, -np.inf)
            part[some] = self._part(self.rates[which[some]], *ends)
            parts.append(part)
        return log_sum(np.stack(parts, axis=-1))

    def _whole(self, which: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]) -> Array:
        """All panels from one to another, both included; none where the second is before the first."""
        level = np.frexp((first ^ np.maximum(last, first)).astype(np.float64))[1]  # 0 where they are the same
        ends = [self.sums[which, level, np.maximum(at, 0)] for at in (first, last)]
        found = np.where(first == last, ends[0], np.logaddexp(*ends))
        return np.where(first <= last, found, -np.inf)

    def _part(self, k: Array, a: Array, b: Array) -> Array:
        """ln ∫ e^{kx} f over intervals that lie in one panel each."""
        out = np.full(a.size, -np.inf)
        some = np.flatnonzero(b > a)
        x, weight = _nodes(self.prior, a[some], b[some])
        out[some] = log_sum(weight + k[some, None] * x)
        return out


def _nodes(prior: Density, a: Array, b: Array) -> tuple[Array, Array]:
    """Nodes on each interval, and ln(weight · density) there."""
    half = (b - a)[:, None] / 2
    x = a[:, None] + half * (1 + NODES)
    with np.errstate(divide="ignore"):
        weight = np.log(half * NODE_WEIGHTS) + prior.log_density(x)
    return x, prior.exact_at_ends(np.stack([a, b], axis=-1), weight[:, None, :])[:, 0]


def _block_sums(full: Array) -> Array:
    """For each power of two: from each panel to the middle of its block of twice as many, on its side of it."""
    rates, count = full.shape
    levels = int(np.ceil(np.log2(count)))
    padded = np.full((rates, 2**levels), -np.inf)
    padded[:, :count] = full
    sums = [padded]
    for level in range(levels):
        blocks = padded.reshape(rates, -1, 2, 2**level)
        to_middle = np.logaddexp.accumulate(blocks[:, :, 0, ::-1], axis=-1)[..., ::-1]
        from_middle = np.logaddexp.accumulate(blocks[:, :, 1], axis=-1)
        sums.append(np.stack([to_middle, from_middle], axis=2).reshape(rates, -1))
    return np.stack(sums, axis=1)
