"""Shares of tiles that are level: what every anchor is handed of both sides, in the same proportion.

At the best likelihood among anchors each is handed correct and wrong tiles in the same odds, and only then does what
they are handed prove no more than these odds (`anchors`). Steps along the slope alone leave anchors that are handed
little far from it, since they hardly tell in the slope; with the curvature each moves by its own measure (Newton's
steps, damped as by Levenberg and Marquardt). What is found is a hint, never a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from guessproof.world.checks import Array

_DAMPED = 0.1  # of the curvature that a share has at most: where a climb begins
_LEAST_SHARE = 1e-7
_LONGEST = 0.5  # step of one ln w
_TELLING = 1e-4  # shares in a tile that count in the curvature
_CONJUGATE, _NEARLY = 60, 1e-6  # looks at a linear system, and of its square residual that may be left
_STANDS = 1e-9  # a promised rise that is none


class Side(Protocol):
    """Tiles of correct or of wrong guesses, and the anchors that each may be handed to."""

    @property
    def count(self) -> int:
        """The number of anchors."""
        ...

    @property
    def anchor(self) -> Any:
        """Anchors × tile: which anchors; None where every one is offered, in order."""
        ...

    def soft(self, log_w: Array, sharpness: float) -> tuple[Array, Array]:
        """What tiles are worth, smoothed, and the share of each anchor in them."""
        ...

    def gathered(self, amounts: Array) -> Array:
        """What falls to each anchor."""
        ...


@dataclass(frozen=True)
class Half:
    """One side at some ln w: ln of its total, tiles' parts of that, anchors' shares in tiles and in all."""

    log_total: float
    part: Array
    share: Array
    handed: Array

    @classmethod
    def of(cls, side: Side, log_w: Array, sharpness: float) -> Half:
        logs, share = side.soft(log_w, sharpness)
        top = float(np.max(logs))
        part = np.exp(logs - top)
        total = float(np.sum(part))
        part /= total
        return cls(top + float(np.log(total)), part, share, side.gathered(share * part))

    def together(self, side: Side) -> Any:
        """How much of the total is shared between any two anchors, a sparse Σ over tiles of part·share·share'."""
        from scipy.sparse import csr_array  # heavy, and only narrowing needs it

        tiles = self.share.shape[1]
        kept = np.flatnonzero(self.share > _TELLING)
        tile = kept % tiles
        anchor = kept // tiles if side.anchor is None else side.anchor.ravel()[kept]
        amount = self.share.ravel()[kept] * np.sqrt(self.part[tile])
        rows: Any = csr_array((amount, (tile, anchor)), shape=(tiles, side.count))
        return rows.T @ rows


Halves = tuple[Half, Half]


@dataclass(frozen=True)
class Curvature:
    """Second derivatives of minus the log-odds, without the part by which they can be negative.

    With a tile's shares π, ln of a soft least has −s·(diag π − ππᵀ), of a soft largest the opposite; the variance of π
    among tiles counts for the sum of largest ones and against that of least ones, where it is left out.
    """

    shared: Any
    wrong: Any
    handed: Array
    whole: Array  # row sums of what is shared
    sharpness: float

    @classmethod
    def of(cls, sides: tuple[Side, Side], halves: Halves, sharpness: float) -> Curvature:
        right, wrong = (half.together(side) for half, side in zip(halves, sides, strict=True))
        shared = right + wrong
        whole = np.asarray(shared.sum(axis=1), dtype=np.float64).ravel()
        return cls(shared, wrong, halves[1].handed, whole, sharpness)

    def times(self, step: Array) -> Array:
        """Its product with a step."""
        split = self.whole * step - self.shared @ step
        return self.sharpness * split + self.wrong @ step - self.handed * float(np.sum(self.handed * step))

    @property
    def diagonal(self) -> Array:
        """What it is along each anchor alone."""
        split = self.whole - self.shared.diagonal()
        return self.sharpness * split + self.wrong.diagonal() - self.handed**2

    def solved(self, slope: Array, damping: Array) -> Array:
        """The step that ends at the bottom of the damped parabola, nearly: by conjugate gradients.

        Not by NumPy's solver, whose threads wait for one another far longer than so small a system takes.
        """
        scale = np.maximum(self.diagonal, 0.0) + damping
        step, left = np.zeros(slope.size), -slope
        way = left / scale
        size = start = float(np.sum(left * way))
        for _ in range(_CONJUGATE):
            if size <= _NEARLY * start:
                break
            along = self.times(way) + damping * way
            length = size / float(np.sum(way * along))
            step, left = step + length * way, left - length * along
            size, before = float(np.sum(left * left / scale)), size
            way = left / scale + (size / before) * way
        return step


def never() -> bool:
    """Whether it is too late, where nobody waits."""
    return False


def levelled(
    sides: tuple[Side, Side], log_w: Array, sharpness: float, looks: int, is_late: Callable[[], bool] = never
) -> Array:
    """ln w from which no step leads to larger odds of the first side to the second, or after so many looks.

    TimeoutError where it takes too long.
    """
    halves, curved, damped = halves_at(sides, log_w, sharpness), None, _DAMPED
    for _ in range(looks):
        if is_late():
            raise TimeoutError
        slope = halves[1].handed - halves[0].handed
        if curved is None:
            curved = Curvature.of(sides, halves, sharpness)
        share = 0.5 * (halves[0].handed + halves[1].handed) + _LEAST_SHARE
        step = curved.solved(slope, damped * sharpness * share)
        step = np.clip(step - float(np.mean(step)), -_LONGEST, _LONGEST)  # all of them together change nothing
        promised = -float(slope @ step + 0.5 * step @ curved.times(step))
        if promised < _STANDS:
            break
        there = halves_at(sides, log_w + step, sharpness)
        kept = (_odds(there) - _odds(halves)) / promised
        if kept > 0:
            log_w, halves, curved = log_w + step, there, None
        damped *= 0.2 if kept > 0.8 else 0.5 if kept > 0.5 else 1.0 if kept > 0.2 else 3.0 if kept > 0 else 8.0
    return log_w


def halves_at(sides: tuple[Side, Side], log_w: Array, sharpness: float) -> Halves:
    return Half.of(sides[0], log_w, sharpness), Half.of(sides[1], log_w, sharpness)


def _odds(halves: Halves) -> float:
    return halves[0].log_total - halves[1].log_total
