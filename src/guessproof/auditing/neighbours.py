"""Neighbouring tables on every storage: records that differ in one column or in all, among others of every kind.

Nothing here reckons what the answer should be. The engine's answers are compared with each other, and how far they are
apart with what each form of the guarantee allows: whatever the query's reader misunderstood shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.auditing.columns import Field, Row
from guessproof.auditing.storage import Storage
from guessproof.auditing.tables import Cell, Group, Shop
from guessproof.errors import SourceError
from guessproof.noise import Noise
from guessproof.sql import AnalyzedQuery

MOST_NUMBERS, MOST_LABELS = 12, 40  # of one column in a family
MIXED = 10  # records that differ in everything
TRIED = 40  # records among which one is looked for in whose place the column matters most
OTHERS = 9


@dataclass(frozen=True)
class Family:
    """Records any two of which are neighbours: they differ in what is protected only. None: nobody is there."""

    victims: tuple[Row | None, ...]


@dataclass(frozen=True)
class Answered:
    """The engine's answers for a family on one storage: companies × victims × measurements × groups, in grid steps."""

    storage: Storage
    family: Family
    values: Any  # whole numbers of any size: a difference of one step must not be lost
    steps: Any  # by measurement
    counts: Any  # companies × victims × measurements: the rows behind an average, over all groups

    @cached_property
    def moved(self) -> Any:
        """victims × victims × measurements: how far apart they are over all groups, in the worst company."""
        units = np.abs(self.values[:, :, None] - self.values[:, None, :]).sum(axis=4).max(axis=0)
        return units.astype(float) * self.steps

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The neighbours between whom some answer moved."""
        found = itertools.combinations(range(len(self.family.victims)), 2)
        return [(one, other) for one, other in found if self.moved[one, other].any()]


def families(
    fields: Mapping[str, Field], storage: Storage, question: AnalyzedQuery, protected: frozenset[str], rng: Any
) -> list[Family]:
    """For each protected column all its values, with the rest of the record fixed; and records of any values."""
    found: list[Family] = []
    alone: tuple[Row | None, ...] = (None,) if question.declared.unit.hides_presence else ()
    for name in sorted(protected):
        values = _values(fields[name], storage, rng)
        bases = _telling(fields, storage, question, name, rng), record_of(fields, storage, rng)
        found += [Family((*alone, *({**base, name: v} for v in values))) for base in bases]
    if len(protected) != 1:
        base = record_of(fields, storage, rng)
        drawn = [record_of(fields, storage, rng) for _ in range(MIXED)]
        mixed = tuple({**base, **{n: v for n, v in row.items() if n in protected}} for row in drawn)
        found.append(Family((*alone, *mixed)))
    return found


def _telling(fields: Mapping[str, Field], storage: Storage, question: AnalyzedQuery, name: str, rng: Any) -> Row:
    """A record in which the column decides most, by plain arithmetic: where to look, not what to find."""
    tried = [record_of(fields, storage, rng, own=True) for _ in range(TRIED)]
    values = fields[name].values

    def spread(row: Row) -> float:
        seen = [[m.contribution.at({**row, name: v}) for v in values] for m in question.measurements]
        return sum(
            (max(own) - min(own)) / m.per_answer.sensitivity for own, m in zip(seen, question.measurements, strict=True)
        )

    return max(tried, key=spread)


def _values(field: Field, storage: Storage, rng: Any) -> list[Any]:
    """The plan's own values first; of the rest as many as there is room for."""
    most = MOST_NUMBERS if field.kind == "number" else MOST_LABELS
    own = [v for v in storage.values[field.name] if v in field.values][:most]
    rest = [v for v in storage.values[field.name] if v not in own]
    chosen = [rest[i] for i in rng.permutation(len(rest))[: most - len(own)]]
    return [*own, *chosen, *([None] if field.missing else [])]


def record_of(fields: Mapping[str, Field], storage: Storage, rng: Any, *, own: bool = False) -> Row:
    """A record of values that its columns can hold; with `own`, of values that the plan names."""
    found: Row = {}
    for name, field in fields.items():
        named = [v for v in storage.values[name] if v in field.values] or list(storage.values[name])
        values = named if own or rng.random() < 0.7 else list(storage.values[name])
        found[name] = values[int(rng.integers(len(values)))]
    return found


def companies(fields: Mapping[str, Field], storage: Storage, rng: Any) -> list[tuple[Row, ...]]:
    """The others: nobody; records of the plan's values, each twice; records of anything."""
    named = [record_of(fields, storage, rng, own=True) for _ in range(OTHERS)]
    for field in fields.values():
        if field.is_key:  # every group has members, so that one who comes could take them along
            named += [{**named[0], field.name: v} for v in storage.values[field.name] if v in field.values]
    return [(), (*named, *named), tuple(record_of(fields, storage, rng) for _ in range(OTHERS))]


def answered(
    shop: Shop, storage: Storage, noises: Sequence[Noise], protected: frozenset[str], rng: Any, name: str
) -> Iterator[Answered]:
    """Ask the engine about every family in every company, the victim before the others and after them."""
    found = families(shop.fields, storage, shop.question, protected, rng)
    others = companies(shop.fields, storage, rng)
    copies = shop.question.declared.copies or 1  # a view may show one record in so many rows
    tables: list[list[Row]] = []
    for family, company, first in itertools.product(found, others, (True, False)):
        for victim in family.victims:
            mine = [] if victim is None else [victim] * copies
            tables.append([*mine, *company] if first else [*company, *mine])
    on_storage = replace(shop, form="duckdb" if not _is_plain(shop, storage) else shop.form, types=storage.types)
    try:
        asked = on_storage.ask_each(tables, name)
    except SourceError:  # a release would refuse this storage before any charge
        if storage.is_sources:
            raise
        return
    groups = sorted({group for answer in asked for group in answer})
    values = np.array([units_of(answer, groups, noises) for answer in asked], dtype=object)
    steps = np.array([noise.grid.step for noise in noises])
    counts = np.array([_counts(answer, len(noises)) for answer in asked])
    start, width = 0, 2 * len(others)
    for family in found:
        end = start + width * len(family.victims)
        shape = (width, len(family.victims))
        yield Answered(
            storage,
            family,
            values[start:end].reshape(*shape, len(noises), max(len(groups), 1)),
            steps,
            counts[start:end].reshape(*shape, len(noises)),
        )
        start = end


def _is_plain(shop: Shop, storage: Storage) -> bool:
    return all(shop.types[name] == kind for name, kind in storage.types.items())


def units_of(answer: Mapping[Group, list[Cell]], groups: Sequence[Group], noises: Sequence[Noise]) -> list[list[int]]:
    """measurements × groups: a group without rows answers like nothing at all."""
    found: list[list[int]] = []
    for j, noise in enumerate(noises):
        absent = noise.grid.units(noise.measurement.contribution.absent)
        units = [answer[g][j][0] if g in answer else None for g in groups] or [None]
        found.append([absent if unit is None else unit for unit in units])
    return found


def _counts(answer: Mapping[Group, list[Cell]], width: int) -> list[int]:
    return [sum(cells[j][1] or 0 for cells in answer.values()) for j in range(width)]
