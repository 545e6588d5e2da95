"""What is known of the records before and after they are counted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from guessproof.scanning.columns import Codes, Mask, ScanColumn
from guessproof.world import Array


class ShownCells(Protocol):
    """The cells of one column as people read them."""

    def shown(self, place: int) -> Any:
        """A value, or a pair (from, to)."""
        ...


@dataclass(frozen=True)
class Judged:
    """An enclosure for every cell (the product of the columns' cells), and what the cells are."""

    names: tuple[str, ...]
    cells: Sequence[ShownCells]  # of each column
    nodes: tuple[Codes, ...]  # place → cell, for each column; special places come last
    sizes: tuple[int, ...]
    lower: Array
    upper: Array
    line: bool  # whether neighbouring cells are neighbours on a line
    how: str
    impossible: Mask | None = None  # combinations that the prior rules out although each value can occur

    def values(self, cell: int) -> dict[str, Any]:
        """What a cell holds of each column."""
        place = np.unravel_index(cell, self.sizes)
        return {n: c.shown(int(i)) for n, c, i in zip(self.names, self.cells, place, strict=True)}


class RecordJudge(ABC):
    """The columns to read, and the judgement of their codes."""

    columns: tuple[ScanColumn, ...]

    @abstractmethod
    def judge(self, occupied: Mask | None) -> Judged:
        """An enclosure for every cell, given which places hold records (None: any may)."""
