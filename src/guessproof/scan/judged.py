"""What is known of the records before and after they are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from guessproof.scan.columns import Codes, Mask, ScanColumn
from guessproof.world.checks import Array


@dataclass(frozen=True)
class Judged:
    """An enclosure for every cell (the product of the columns' cells), and what the cells are."""

    nodes: tuple[Codes, ...]  # place → cell, for each column; special places come last
    sizes: tuple[int, ...]
    lower: Array
    upper: Array
    values: Callable[[int], dict[str, Any]]
    line: bool  # whether neighbouring cells are neighbours on a line
    how: str
    impossible: Mask | None = None  # combinations that the prior rules out although each value can occur


@dataclass(frozen=True)
class RecordJudge:
    """The columns to read, and the judgement of their codes, given which places hold records (None: any may)."""

    columns: tuple[ScanColumn, ...]
    judge: Callable[[Mask | None], Judged]
