"""A lookup: what a record contributes is a table of its protected key, made from public tables alone.

Where nothing else of the record enters, φ(level) is the sum (or the extreme) over the public rows that the level finds,
and two levels are exactly |φ(a) − φ(b)| apart: however many rows match, and whatever bounds were declared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guessproof.intervals import ZERO, Interval
from guessproof.names import folded
from guessproof.sql.declared import DeclaredColumn, DeclaredTable
from guessproof.sql.distances import MOST_LEVELS, Contribution
from guessproof.sql.movement import OTHER, ChangeBounds, ColumnState, Label, Neighbours
from guessproof.sql.relation import PublicJoin, count_matches
from guessproof.sql.terms import Node, Row
from guessproof.world import Matrix, Metric


@dataclass(frozen=True)
class Lookup(Contribution):
    """φ by the label of one column; `None` stands for nothing, and a label that is no level finds no row."""

    key: DeclaredColumn | None = None
    values: Mapping[Label | None, float] = field(default_factory=dict[Label | None, float], hash=False)
    error: float = 0.0

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        assert self.key is not None
        return frozenset((self.key.name,))

    def at(self, row: Row) -> float:
        assert self.key is not None
        return self.values[self.key.read(row.get(self.key.name))]

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        assert self.key is not None
        change = neighbours[self.key.name]
        before, after = self._reach(change.before), self._reach(change.after)
        gap = after - before if change.moves else ZERO
        return ChangeBounds(before, after, gap=gap, error=self.error, moves=change.moves)

    def _reach(self, side: ColumnState) -> Interval:
        labels: set[Label | None] = set(side.labels or self.values) - {None}
        labels = labels if side.present else set()
        found = [self.values[label] for label in (*labels, *((None,) if side.missing != "no" else ()))]
        return Interval(min(found), max(found))

    def distances(self, levels: Sequence[str]) -> Metric:
        """Every pair of levels, exactly."""
        found = np.array([self.values[level] for level in levels])
        apart = np.abs(found[:, None] - found[None, :])
        return Matrix(levels, np.where(apart > 0, apart * (1 + 1e-15) + 2 * self.error, 0.0).tolist())


def look_up(
    contribution: Contribution, declared: DeclaredTable, combine: Callable[[Sequence[float]], float]
) -> Lookup | None:
    """The table behind a contribution, or None where it is more than a table of one protected column with levels."""
    own = [name for name in contribution.columns if not declared.is_joined(name)]
    key = declared.column(own[0]) if len(own) == 1 else None
    if key is None or not key.protected or key.kind != "label" or key.levels is None or len(key.levels) > MOST_LEVELS:
        return None
    if any(join.joined.table.read is None for join in contribution.joins):
        return None
    found = LookupRows(contribution)
    labels: list[Label | None] = [*key.levels, OTHER, None]
    values = {x: combine([contribution.at(row) for row in found.rows({key.name: x})]) for x in labels}
    error = contribution.follow(declared.at_rest(contribution.columns)).error * count_matches(contribution.joins)
    return Lookup(contribution.condition, contribution.term, contribution.absent, (), key, values, error)


class LookupRows:
    """The public tables behind a contribution, found by their keys."""

    def __init__(self, contribution: Contribution) -> None:
        read = contribution.columns.union(*(join.read for join in contribution.joins))
        self.joins = [(join, self._index(join, read)) for join in contribution.joins]

    def rows(self, record: dict[str, Any]) -> list[dict[str, Any]]:
        """The joined rows that a record becomes."""
        rows = [record]
        for join, index in self.joins:
            rows = [joined for row in rows for joined in self._joined(join, index, row)]
        return rows

    def _joined(self, join: PublicJoin, index: Mapping[Any, Any], row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        wanted = tuple(key.left.read(row.get(key.left.name)) for key in join.keys)
        found = index.get(wanted, []) if _is_known(wanted) else []
        for public in found or ([{}] if join.joined.outer else []):
            yield {**row, **public}

    def _index(self, join: PublicJoin, read: frozenset[str]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
        found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        inside = {n: folded(i) for n in read if (i := join.joined.name_inside(n)) is not None}
        assert join.joined.table.read is not None
        for stored in join.joined.table.read():
            values = {folded(name): value for name, value in stored.items()}
            row = {name: values.get(own) for name, own in inside.items()}
            wanted = tuple(key.right.read(row[key.right.name]) for key in join.keys)
            if _is_known(wanted) and (not join.joined.outer or join.filter.at(row)):
                found.setdefault(wanted, []).append(row)
        return found


def _is_known(values: tuple[Any, ...]) -> bool:
    """What is missing, or no level, matches nothing."""
    return not any(value is None or value is OTHER or value != value for value in values)


def combine_of(kind: str, absent: float) -> Callable[[Sequence[float]], float]:
    """What the rows of a record make together."""
    if kind in ("count", "sum"):
        return math.fsum
    return lambda found: min([*found, absent]) if kind == "min" else max([*found, absent])
