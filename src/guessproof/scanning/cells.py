"""The cells of a grid with an enclosure each: as few as the tolerance needs, and only where there are records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.scanning.columns import SPECIAL, Codes, GridColumn, Mask
from guessproof.scanning.curve import CellBounds, TruthCurve
from guessproof.world import Array

RELATIVE = 0.01  # how wide an enclosure may be, against its own upper end …
SHARE = 0.005  # … or against the largest of all
FINER = 8  # times as many pieces of a cell where the limit is in question
_PARTS = 16  # into how many a cell is cut at most in one round


@dataclass(frozen=True)
class GridCells:
    """Neighbouring places of a grid joined to cells: `node` gives the cell of every place, the special ones last."""

    node: Codes
    first: Array
    last: Array
    lower: Array
    upper: Array

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.upper.size

    def shown(self, place: int) -> tuple[float, float]:
        """A cell as (from, to)."""
        return float(self.first[place]), float(self.last[place])


def enclosed(
    grid: GridColumn,
    curve: TruthCurve,
    occupied: Mask | None = None,
    limit: float | None = None,
) -> GridCells:
    """Cut until every cell that holds records is narrow enough, and tells whether they exceed the limit."""
    edges, some = grid.edges(), _counted(grid, occupied)
    index = _start(grid, curve, occupied)
    while True:
        first, last = edges[index[:-1]] - grid.slack, edges[index[1:]] + grid.slack
        over = _over(curve, first, last, curve.pieces)
        new = _cuts(index, over, some(index[:-1], index[1:]), limit, curve.most + 1 - index.size)
        if new.size == 0:
            break
        index = np.union1d(index, new)
    if limit is not None:
        unclear = np.flatnonzero(_unclear(over, limit) & some(index[:-1], index[1:]))
        finer = _over(curve, first[unclear], last[unclear], FINER * curve.pieces)
        over.lower[unclear], over.upper[unclear] = finer.lower, finer.upper
    index, over = _filled(grid, index, over)
    first, last = edges[index[:-1]], edges[index[1:]]
    sizes = np.diff(index)
    beyond = grid.beyond()
    if beyond[0].size:
        far = _far(curve, grid, None if occupied is None else occupied[grid.count : grid.size])
        first, last = np.append(first, beyond[0]), np.append(last, beyond[1])
        over = CellBounds(*(np.append(getattr(over, n), getattr(far, n)) for n in ("lower", "upper")))
        sizes = np.append(sizes, np.ones(beyond[0].size, dtype=np.int64))
    count = sizes.size
    node = np.append(np.repeat(np.arange(count), sizes), count + np.arange(SPECIAL))
    return GridCells(node, first, last, over.lower, over.upper)


def _start(grid: GridColumn, curve: TruthCurve, occupied: Mask | None) -> Codes:
    """Equal cells from the first record to the last."""
    held = np.flatnonzero(True if occupied is None else occupied[: grid.count])
    low, high = (0, grid.count) if occupied is None or not held.size else (int(held[0]), int(held[-1]) + 1)
    return np.unique(np.linspace(low, high, min(curve.first, high - low) + 1).round().astype(np.int64))


def _filled(grid: GridColumn, index: Codes, over: CellBounds) -> tuple[Codes, CellBounds]:
    """The same with a cell before and one after, where nothing is known because no record is there."""
    before, after = int(index[0] > 0), int(index[-1] < grid.count)
    index = np.concatenate([[0] * before, index, [grid.count] * after]).astype(np.int64)
    sides = zip((over.lower, over.upper), (0.0, 1.0), strict=True)
    return index, CellBounds(*(np.pad(side, (before, after), constant_values=value) for side, value in sides))


def _counted(grid: GridColumn, occupied: Mask | None) -> Any:
    """Whether any record lies in the places from … to."""
    if occupied is None:
        return lambda start, end: np.ones(start.shape, dtype=bool)
    total = np.append(0, np.cumsum(occupied[: grid.count]))
    return lambda start, end: total[end] > total[start]


def _cuts(index: Codes, over: CellBounds, some: Mask, limit: float | None, budget: int) -> Codes:
    """Where to cut: the widest of the cells that are too wide, or of which it is open whether they exceed the limit."""
    room, wide = index[1:] - index[:-1], over.upper - over.lower
    top = float(np.max(over.upper[some], initial=0.0))
    allowed = np.maximum(RELATIVE * over.upper, SHARE * top) + 1e-12
    parts = np.where(wide > allowed, np.ceil(2.2 * wide / allowed), 0.0)
    if limit is not None:
        parts = np.where(_unclear(over, limit), np.maximum(parts, 8.0), parts)
    parts = np.where(some, np.minimum(parts, np.minimum(room, _PARTS)), 0).astype(np.int64)
    chosen = np.argsort(-wide, kind="stable")
    chosen = chosen[parts[chosen] > 1]
    chosen = chosen[np.cumsum(parts[chosen] - 1) <= budget]
    found = [_inner(int(index[i]), int(room[i]), int(parts[i])) for i in chosen]
    return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)


def _inner(start: int, room: int, parts: int) -> Codes:
    """The cuts that divide a stretch of places into parts."""
    return start + (room * np.arange(1, parts, dtype=np.int64)) // parts


def _over(curve: TruthCurve, first: Array, last: Array, pieces: int) -> CellBounds:
    """An enclosure for each of some cells, from those of its pieces."""
    if not first.size:
        return CellBounds(np.empty(0), np.empty(0))
    cuts = first[:, None] + np.arange(pieces) / pieces * (last - first)[:, None]
    ends = np.union1d(cuts, last)
    over = curve.over(ends)
    ranges = np.searchsorted(ends, np.stack([first, last], axis=1)).ravel()
    lower = np.minimum.reduceat(np.append(over.lower, np.inf), ranges)[::2]
    return CellBounds(lower, np.maximum.reduceat(np.append(over.upper, 0.0), ranges)[::2])


def _unclear(over: CellBounds, limit: float) -> Mask:
    """Of which cells it is open whether they exceed the limit; by a millionth does not count."""
    return (over.lower <= limit) & (over.upper > limit * (1 + 1e-6))


def _far(curve: TruthCurve, grid: GridColumn, occupied: Mask | None) -> CellBounds:
    """The wide cells beyond the grid, asked for only where records lie."""
    first, last = grid.beyond()
    over = CellBounds(np.zeros(first.shape), np.ones(first.shape))
    held = np.flatnonzero((last > first) & (True if occupied is None else occupied))
    if not held.size:
        return over
    found = _over(curve, first[held], last[held], 1)
    over.lower[held], over.upper[held] = found.lower, found.upper
    left = slice(0, grid.far[0])
    right = slice(grid.far[0], None)
    for side, near, rightwards in ((left, last, False), (right, first, True)):
        if near[side].size:
            most = np.minimum.accumulate(curve.beyond(near[side], rightwards))
            over.upper[side] = np.minimum(over.upper[side], most)
    over.lower[:] = np.minimum(over.lower, over.upper)
    return over
