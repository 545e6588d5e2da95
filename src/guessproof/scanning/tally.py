"""Counting records as they stream by, in memory that does not grow with them.

What is counted of one part of the rows and of another can be put together: an engine may count on several machines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from guessproof.errors import ParameterError
from guessproof.scanning.columns import SPECIAL, Codes, ScanColumn, texts
from guessproof.scanning.judged import Judged
from guessproof.world import Array

MOST_GROUPS = 10_000
CLASSES = 512  # of advantages that a group is counted in
NO_VALUE = "(missing)"


class PassCounter(ABC):
    """Something that is counted in one pass over the rows."""

    @abstractmethod
    def add(self, batch: pa.RecordBatch) -> Any:
        """Count a batch."""

    @abstractmethod
    def found(self) -> Any:
        """What was counted, and nothing that others know as well: this travels."""

    @abstractmethod
    def merge(self, found: Any) -> int:
        """Add what was counted elsewhere; gives the number of its rows."""

    def count(self, batches: Iterable[pa.RecordBatch]) -> Any:
        """What one part of the rows comes to, from nothing: run where they are."""
        own = self._fresh()
        for batch in batches:
            own.add(batch)
        return own.found()

    def _fresh(self) -> Self:
        return deepcopy(self)  # of one that has counted nothing yet


class Places(PassCounter):
    """How many records each place of one column has: nothing else is needed to judge them afterwards."""

    def __init__(self, column: ScanColumn) -> None:
        self._column = column
        self.counts = np.zeros(column.size + SPECIAL, dtype=np.int64)

    def add(self, batch: pa.RecordBatch) -> None:
        self.counts += np.bincount(self._column.codes(batch.column(0)), minlength=self.counts.size)

    def found(self) -> Codes:
        return self.counts

    def merge(self, found: Codes) -> int:
        self.counts += found
        return int(found.sum())


class CellCounts:
    """How many records each cell has, for several columns, and codes for others who count."""

    def __init__(self, columns: tuple[ScanColumn, ...], judged: Judged) -> None:
        self._columns, self._judged = columns, judged
        self.total = int(np.prod(judged.sizes))
        self.counts = np.zeros(self.total + SPECIAL, dtype=np.int64)

    def add(self, batch: pa.RecordBatch) -> Codes:
        """Count a batch; the cell of each row, special ones last."""
        codes = self._codes(batch)
        if codes.size * 8 > self.counts.size:
            self.counts += np.bincount(codes, minlength=self.counts.size)
        else:
            np.add.at(self.counts, codes, 1)
        return codes

    def _codes(self, batch: pa.RecordBatch) -> Codes:
        judged, special = self._judged, None
        whole = np.zeros(batch.num_rows, dtype=np.int64)
        for i, (column, node, size) in enumerate(zip(self._columns, judged.nodes, judged.sizes, strict=True)):
            cell = node[column.codes(batch.column(i))]
            whole = whole * size + cell
            apart = cell - size  # 0 and more: cannot be placed, for the reason that comes first
            if apart.size and apart.max() >= 0:
                reason = np.where(apart >= 0, apart, SPECIAL)
                special = reason if special is None else np.minimum(special, reason)
        if special is not None:
            whole = np.where(special < SPECIAL, self.total + special, whole)
        if judged.impossible is not None:
            gone = np.append(judged.impossible, np.zeros(SPECIAL, dtype=bool))
            whole = np.where(gone[whole], self.total + SPECIAL - 1, whole)
        return whole


@dataclass(frozen=True)
class Classes:
    """Cells joined to few classes of similar advantage, so that many groups can be counted."""

    of: Codes  # cell → class; special ones last
    lower: Array
    upper: Array

    @staticmethod
    def from_judged(judged: Judged) -> Classes:
        size = judged.upper.size
        order = np.argsort(judged.upper, kind="stable")
        count = min(size, CLASSES)
        rank = np.empty(size, dtype=np.int64)
        # Classes of equal width in advantage, not of equal size: what matters is how far apart their ends are.
        top = float(judged.upper[order[-1]]) or 1.0
        rank[:] = np.minimum((judged.upper / top * count).astype(np.int64), count - 1)
        lower, upper = np.ones(count), np.zeros(count)
        np.minimum.at(lower, rank, judged.lower)
        np.maximum.at(upper, rank, judged.upper)
        return Classes(np.append(rank, count + np.arange(SPECIAL)), np.minimum(lower, upper), upper)


@dataclass
class Groups:
    """How many records of each group fall into each class."""

    column: str
    classes: Classes
    place: int  # of the column in a batch
    names: dict[str, int] = field(default_factory=dict[str, int])
    counts: list[Codes] = field(default_factory=list[Any])

    def add(self, batch: pa.RecordBatch, codes: Codes) -> None:
        """Count a batch, of which the cells are known."""
        encoded = pc.fill_null(texts(batch.column(self.place)), NO_VALUE).dictionary_encode()
        known = np.asarray([self._group(str(v)) for v in encoded.dictionary.to_pylist()], dtype=np.int64)
        group = known[encoded.indices.to_numpy(zero_copy_only=False)]
        width = self.classes.upper.size + SPECIAL
        found = np.bincount(group * width + self.classes.of[codes], minlength=len(self.counts) * width)
        for number in np.unique(known).tolist():
            self.counts[number] += found[number * width : (number + 1) * width]

    def merge(self, found: dict[str, Codes]) -> None:
        """Add what was counted elsewhere."""
        for name, counts in found.items():
            self.counts[self._group(name)] += counts

    def _group(self, name: str) -> int:
        if name not in self.names:
            if len(self.names) >= MOST_GROUPS:
                raise ParameterError(
                    "by", self.column, f"the column has more than {MOST_GROUPS} values", "choose a coarser one"
                )
            self.names[name] = len(self.names)
            self.counts.append(np.zeros(self.classes.upper.size + SPECIAL, dtype=np.int64))
        return self.names[name]


@dataclass
class Top:
    """The most exposed rows, by the upper end of their cell; of equals the first ones."""

    size: int
    upper: Array  # of each cell; special ones are below all
    names: tuple[str, ...]  # of the columns of the goal
    identity: int  # the place of the column that names a row
    kept: list[tuple[float, str, dict[str, Any]]] = field(default_factory=list[Any])

    def add(self, batch: pa.RecordBatch, codes: Codes) -> None:
        """Look at a batch, of which the cells are known."""
        value = self.upper[codes]
        least = self.kept[-1][0] if len(self.kept) >= self.size else 0.0
        rows = np.flatnonzero(value > least)
        if rows.size > self.size:
            order = np.argsort(-value[rows], kind="stable")[: self.size]
            rows = rows[order]
        for row in rows.tolist():
            at = {name: batch.column(i)[row].as_py() for i, name in enumerate(self.names)}
            self.kept.append((float(value[row]), str(batch.column(self.identity)[row].as_py()), at))
        self._cut()

    def merge(self, found: list[tuple[float, str, dict[str, Any]]]) -> None:
        """The same of rows that were looked at elsewhere."""
        self.kept += found
        self._cut()

    def _cut(self) -> None:
        self.kept.sort(key=lambda kept: -kept[0])
        del self.kept[self.size :]


@dataclass
class RowCounter(PassCounter):
    """Everything that is asked of the rows together: cells, groups, and the most exposed."""

    cells: CellCounts
    groups: Groups | None
    top: Top | None

    def add(self, batch: pa.RecordBatch) -> None:
        codes = self.cells.add(batch)
        if self.groups is not None:
            self.groups.add(batch, codes)
        if self.top is not None:
            self.top.add(batch, codes)

    def found(self) -> tuple[Codes, dict[str, Codes], list[Any]]:
        groups = self.groups
        named = {} if groups is None else {name: groups.counts[number] for name, number in groups.names.items()}
        return self.cells.counts, named, [] if self.top is None else self.top.kept

    def merge(self, found: tuple[Codes, dict[str, Codes], list[Any]]) -> int:
        counts, named, kept = found
        self.cells.counts += counts
        if self.groups is not None:
            self.groups.merge(named)
        if self.top is not None:
            self.top.merge(kept)
        return int(counts.sum())
