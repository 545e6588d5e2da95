"""Boxes of true values, peaks and ε, and what is asked of those who know how to attack and bound them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.tents import Move, Pair
from guessproof.risk.misjudged.truth_rows import DEEP, LookedBoxes, TruthBoxes
from guessproof.world.checks import Array

_BOTH = 0.5  # boxes are cut both ways where the one says that much of the other
_GAINED = 0.7  # of what is loose by true values or by peaks: what a cut in two takes away, about


class AlongTruths(Protocol):
    """Attacks at the worst true value, in rows, and boxes of true values and peaks."""

    @property
    def factor(self) -> float: ...
    @property
    def move(self) -> Move: ...
    @property
    def largest(self) -> float:
        """The largest ε of which it knows."""
        ...

    @property
    def nodes(self) -> int:
        """How many nodes a line has."""
        ...

    @property
    def most_open(self) -> int:
        """How many boxes there may be at one node before it is given up."""
        ...

    @property
    def most_looks(self) -> int:
        """How many looks there may be in a round, up to some node."""
        ...

    # Attacks: what they reach, and where they are (a true value, a peak and two turns).
    def rough(self, epsilon: Array) -> Array: ...
    def keep(self, epsilon: Array, places: Array) -> None: ...
    def followed(self, epsilon: Array) -> Pair: ...
    def is_same(self, left: Array, right: Array) -> NDArray[np.bool_]: ...
    def reached(self, places: Array, epsilon: Array) -> Array: ...
    def nearer(self, places: Array, epsilon: Array) -> Pair: ...
    def climbed(self, start: Array, epsilon: Array) -> Pair: ...
    def places_of(self, looked: LookedBoxes, some: NDArray[np.int64]) -> Array: ...

    # Boxes: where they begin, what bounds them, and how they are cut.
    def range_of(self, epsilon: Array, line: Array) -> tuple[float, float] | None: ...
    def first_boxes(self, place: Array, range_: tuple[float, float]) -> Pair: ...
    def asked(self, boxes: TruthBoxes, epsilon: Array) -> LookedBoxes: ...
    def left(self, t1: Array, t2: Array, epsilon: Array, *, closely: bool) -> Array: ...
    def within(self, truths: Array, peaks: Array) -> tuple[NDArray[np.bool_], Array]: ...
    def divisible(self, truths: Array, peaks: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]: ...
    def middles(self, ends: str, a: Array, b: Array) -> Pair: ...

    # Along ε: g of all values and of what is compared; the least and the largest declared belief of a box.
    def gap_of_all(self, peaks: Array, rates: Pair) -> Pair: ...
    def gap_of_rest(self, truths: Array, peaks: Array, rates: Pair) -> Array: ...
    def declared(self, truths: Array) -> Pair: ...


@dataclass(frozen=True, eq=False)
class CurveBoxes:
    """Of each box: nodes, true values and peaks from and to; at both ends what was looked at; how often it was cut."""

    nodes: NDArray[np.int64]
    truths: Array
    peaks: Array
    turns: Array  # by end, inside and outside
    most: Array  # by end, as what follows; not a number where nobody looked yet
    reached: Array
    by_peak: Array
    depth: NDArray[np.int64]

    @classmethod
    def new(cls, nodes: Any, truths: Array, peaks: Array, turns: Array, depth: Any) -> CurveBoxes:
        nothing = np.full(truths.shape, np.nan)
        return cls(nodes, truths, peaks, turns, nothing, nothing, nothing, depth)

    @classmethod
    def joined(cls, parts: Sequence[CurveBoxes]) -> CurveBoxes:
        arrays = [[getattr(part, f.name) for part in parts] for f in fields(cls)]
        return cls(*(np.concatenate(each, axis=-1) for each in arrays))

    def pick(self, some: NDArray[Any]) -> CurveBoxes:
        return CurveBoxes(*(getattr(self, f.name)[..., some] for f in fields(self)))

    @property
    def size(self) -> int:
        return self.depth.size

    @property
    def loose(self) -> Array:
        """How far what bounds an end lies above what is reached there, at most."""
        return np.max(self.most - self.reached, axis=0)

    def in_places(self, along: AlongTruths, over: Array) -> CurveBoxes:
        """Cut in two, by what is loosest: true values (and radii), or peaks; or in four, where two are not enough.

        Where there are no true values between two others, radii alone come closer.
        """
        by_peak = np.max(self.by_peak, axis=0)
        by_truth = self.loose - by_peak
        both = np.minimum(by_truth, by_peak) > _BOTH * np.maximum(by_truth, by_peak)
        both &= ~(_GAINED * np.maximum(by_truth, by_peak) >= over)
        both |= (np.max(self.most, axis=0) >= 1) & (self.depth >= DEEP)  # which says nothing of what is loose
        more_truths, more_peaks = along.divisible(self.truths, self.peaks)
        truths, peaks = (both | (by_truth >= by_peak)) & more_truths, (both | (by_truth < by_peak)) & more_peaks
        kinds = truths & peaks, truths & ~peaks, ~truths & peaks, ~truths & ~peaks
        four, two, others, closer = (self.pick(kind) for kind in kinds)
        halves = [
            four._halved("truths", along)._halved("peaks", along),
            two._halved("truths", along),
            others._halved("peaks", along),
            CurveBoxes.new(closer.nodes, closer.truths, closer.peaks, closer.turns, closer.depth + 1),
        ]
        return CurveBoxes.joined(halves)

    def _halved(self, ends: str, along: AlongTruths) -> CurveBoxes:
        a, b = getattr(self, ends)
        first, second = along.middles(ends, a, b)
        new = CurveBoxes.new(self.nodes, self.truths, self.peaks, self.turns, self.depth + 1)
        return CurveBoxes.joined([replace(new, **{ends: np.stack(part)}) for part in ((a, first), (second, b))])

    def in_epsilon(self) -> CurveBoxes:
        """Cut at the node in the middle: each half keeps what is known of the end that it has."""
        middle, none = np.sum(self.nodes, axis=0) // 2, np.full(self.size, np.nan)
        known = self.most, self.reached, self.by_peak
        first = np.stack([self.nodes[0], middle]), *(np.stack([v[0], none]) for v in known)
        second = np.stack([middle, self.nodes[1]]), *(np.stack([none, v[1]]) for v in known)
        names = "nodes", "most", "reached", "by_peak"
        return CurveBoxes.joined([replace(self, **dict(zip(names, half, strict=True))) for half in (first, second)])
