"""Tiles: cells of the plane, and what each of them is worth to an anchor (`anchors`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.world.checks import Array
from guessproof.world.goals import Norm, combine


@dataclass(frozen=True)
class Tiles:
    """Cells of the plane: corners in units of distance, their weights at the cell's mean, masses, shares.

    On a cell e^{εd} is convex in position and lies below its corners' values (Edmundson–Madansky), and e^{−εd} above
    e^{−ε·(mean d)} (Jensen). In a cell that the goal's edge cuts only the farthest corner counts.
    """

    corners: Array  # cell × corner × axis
    weight: Array  # cell × corner
    mass: Array
    right: tuple[Array, Array]  # the least and the most that belongs to the goal, as shares
    wrong: tuple[Array, Array]  # the same of wrong guesses
    is_cut: Any
    rise: Array  # ln E[e^{+ε·(way beyond the corners)}] of cells that reach to infinity, 0 elsewhere
    fall: Array  # the same of e^{−ε·…}
    is_upright: bool = True  # whether the sides of cells run along the axes
    parts: TileParts | None = None  # smaller cells by which these are measured, where there are any

    @cached_property
    def middle(self) -> Array:
        """Where the cells' means lie."""
        return np.einsum("kc,kci->ki", self.weight, self.corners)

    @property
    def is_far(self) -> Any:
        """Which cells reach to infinity."""
        return (self.rise != 0) | (self.fall != 0)

    @property
    def inside(self) -> Array:
        """The most that can belong to the goal."""
        return self.right[1]

    @property
    def outside(self) -> Array:
        """The least that is a wrong guess."""
        return self.wrong[0]

    def worth(
        self, anchors: Array, norm: Norm, epsilon: float, sign: int, chosen: NDArray[np.int64] | None = None
    ) -> Array:
        """ln of what correct cells (sign +1) or wrong ones (−1) are worth to each anchor, or to those chosen for it."""
        if self.parts is not None:
            return self.parts.worth(self, anchors, norm, epsilon, sign, chosen)
        share = self.inside if sign > 0 else self.outside
        some = share > 0
        corners, weight, cut = self.corners[some], self.weight[some], self.is_cut[some][:, None]
        places = anchors[None, :, :] if chosen is None else anchors[chosen]
        total, most = (np.zeros((corners.shape[0], places.shape[1])) for _ in range(2))
        for c in range(corners.shape[1]):
            way = epsilon * combine(norm, [np.abs(corners[:, c, i, None] - places[:, :, i]) for i in (0, 1)])
            most = np.maximum(most, way)
            with np.errstate(over="ignore"):
                total += weight[:, c, None] * (np.exp(way) if sign > 0 else way)
        if sign > 0:  # where exponentials have no number, the farthest corner bounds them
            found = np.where(cut | np.isinf(total), most, np.log(total)) + self.rise[some][:, None]
        else:
            found = self.fall[some][:, None] - np.where(cut, most, total)
        with np.errstate(divide="ignore"):
            return found + np.log(self.mass * share)[some, None]


@dataclass(frozen=True)
class TileParts:
    """Cells cut smaller, to measure what they are worth: each is handed out as a whole, but over its parts e^{±εd}
    varies less than over itself, and the bound's loss is the square of that."""

    tiles: Tiles
    whole: NDArray[np.int64]  # of which cell each is a part; parts of one stand together

    def shares(self, count: int) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """The least and the most that is correct, and that is wrong, of the whole cells: what their parts add up to."""
        mass = np.bincount(self.whole, self.tiles.mass, count)

        def summed(share: Array) -> Array:
            return np.asarray(np.bincount(self.whole, self.tiles.mass * share, count), dtype=np.float64) / mass

        right, wrong = ([summed(share) for share in side] for side in (self.tiles.right, self.tiles.wrong))
        return (right[0], right[1]), (wrong[0], wrong[1])

    def worth(
        self, cells: Tiles, anchors: Array, norm: Norm, epsilon: float, sign: int, chosen: NDArray[np.int64] | None
    ) -> Array:
        """What whole cells are worth to anchors: the sum over their parts."""
        some = (cells.inside if sign > 0 else cells.outside) > 0
        place = np.cumsum(some) - 1
        own = self.whole[(self.tiles.inside if sign > 0 else self.tiles.outside) > 0]
        worth = self.tiles.worth(anchors, norm, epsilon, sign, None if chosen is None else chosen[place[own]])
        begin = np.flatnonzero(np.diff(own, prepend=-1))
        return np.logaddexp.reduceat(worth, begin, axis=0)
