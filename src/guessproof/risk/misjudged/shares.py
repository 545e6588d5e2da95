"""What shares of a set hold of a likelihood: bounds between the few shares at which it is known.

The most that a share holds is concave in the share, the least is convex. Between two known shares neither goes further
than where the lines through their neighbours meet. A prior that is κ times as large on a share s, which holds τ, has
the mean (1 + (κ−1)·τ)/(1 + (κ−1)·s): along a line this is monotone, so it is furthest at an end or at such a meeting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from guessproof.world.checks import Array, Mask

_WHOLE = 1e-9  # a share below which a slope is noise


@dataclass(frozen=True)
class Shares:
    """What shares `at` of a set hold of L (`told`), one row a tent; between two of them it turns no further than there.

    `first` and `last` are slopes before the first and beyond the last share: of what is concave an upper and a lower
    bound, of what is convex the other way round.
    """

    at: Array
    told: Array
    turn_at: Array
    turn_told: Array

    @classmethod
    def of(cls, at: Array, told: Array, first: Array, last: float) -> Self:
        """Between two shares the lines through their neighbours are extended until they meet."""
        width, rise = np.diff(at), np.diff(told)
        before, after = [first], [np.full(first.shape, last)]
        for i in range(width.shape[1] - 1):
            before.append(_slope(rise[:, i], width[:, i], before[-1]))
            after.append(_slope(rise[:, -1 - i], width[:, -1 - i], after[-1]))
        left, right = np.stack(before, axis=1), np.stack(after[::-1], axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            way = (rise - right * width) / (left - right)
            way = np.clip(np.where(np.isnan(way), width, way), 0.0, width)
            steep = np.isinf(left)  # then all of the rise may be at once
            met = np.where(steep, told[:, 1:] - right * (width - way), told[:, :-1] + np.where(steep, 0.0, left) * way)
        return cls(at, told, at[:, :-1] + way, met)

    def most(self, more: float) -> Array:
        """The largest (1 + more·told)/(1 + more·at) between each two shares."""
        ends, turn = self._ratios(more)
        return np.maximum(np.maximum(ends[:, :-1], ends[:, 1:]), turn)

    def least(self, more: float) -> Array:
        """The smallest."""
        ends, turn = self._ratios(more)
        return np.minimum(np.minimum(ends[:, :-1], ends[:, 1:]), turn)

    def _ratios(self, more: float) -> tuple[Array, Array]:
        return (1 + more * self.told) / (1 + more * self.at), (1 + more * self.turn_told) / (1 + more * self.turn_at)

    def pick(self, which: Mask) -> Self:
        """Some of the rows."""
        return type(self)(self.at[which], self.told[which], self.turn_at[which], self.turn_told[which])


def _slope(rise: Array, width: Array, otherwise: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(width > _WHOLE, rise / width, otherwise)
