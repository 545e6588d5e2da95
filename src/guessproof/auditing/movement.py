"""How far one record moves the engine's answers, against every form of the guarantee: no chance is involved.

Families of tables that differ in one record are asked on every storage; what each form in which a guarantee is printed,
kept or used allows for the change is compared with how far the answers moved.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.auditing.columns import Field, Row, Storage
from guessproof.auditing.result import Check
from guessproof.auditing.tables import Cell, Group, TableFactory, contributes
from guessproof.choosing import Choice
from guessproof.errors import GuessproofError, SourceError
from guessproof.guarantee import Guarantee
from guessproof.noise import Noise
from guessproof.sql import AnalyzedQuery, DeclaredTable
from guessproof.sql.measurement import Measurement
from guessproof.world import Metric

Values = Mapping[str, Any]

MOST_NUMBERS, MOST_LABELS = 12, 40  # of one column in a family
MIXED = 10  # records that differ in everything
TRIED = 40  # records among which one is looked for in whose place the column matters most
OTHERS = 9


@dataclass(frozen=True)
class NeighbourFamily:
    """Records any two of which are neighbours: they differ in what is protected only. None: nobody is there."""

    victims: tuple[Row | None, ...]


@dataclass(frozen=True)
class FamilyAnswers:
    """The engine's answers for a family on one storage: companies × victims × measurements × groups, in grid steps."""

    storage: Storage
    family: NeighbourFamily
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
) -> list[NeighbourFamily]:
    """For each protected column all its values, with the rest of the record fixed; and records of any values."""
    found: list[NeighbourFamily] = []
    alone: tuple[Row | None, ...] = (None,) if question.declared.unit.hides_presence else ()
    for name in sorted(protected):
        values = _values(fields[name], storage, rng)
        bases = _telling(fields, storage, question, name, rng), record_of(fields, storage, rng)
        found += [NeighbourFamily((*alone, *({**base, name: v} for v in values))) for base in bases]
    if len(protected) != 1:
        base = record_of(fields, storage, rng)
        drawn = [record_of(fields, storage, rng) for _ in range(MIXED)]
        mixed = tuple({**base, **{n: v for n, v in row.items() if n in protected}} for row in drawn)
        found.append(NeighbourFamily((*alone, *mixed)))
    return found


def _telling(fields: Mapping[str, Field], storage: Storage, question: AnalyzedQuery, name: str, rng: Any) -> Row:
    """A record in which the column decides most, by plain arithmetic: where to look, not what to find."""
    tried = [record_of(fields, storage, rng, own=True) for _ in range(TRIED)]
    values = fields[name].values

    def spread(row: Row) -> float:
        seen = [[contributes(m, {**row, name: v}) for v in values] for m in question.measurements]
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


def linked_rows(declared: DeclaredTable, victims: Sequence[Row | None], place: int) -> list[Row]:
    """Records that tell of the victim: as far apart for one victim and the next as any two are."""
    there = [v for v in victims if v is not None]
    return [there[0 if place % 2 else -1]] * (declared.linked - 1) * (declared.copies or 1) if there else []


def ask_families(
    factory: TableFactory, storage: Storage, noises: Sequence[Noise], protected: frozenset[str], rng: Any, name: str
) -> Iterator[FamilyAnswers]:
    """Ask the engine about every family in every company, the victim before the others and after them."""
    found = families(factory.fields, storage, factory.question, protected, rng)
    others = companies(factory.fields, storage, rng)
    copies = factory.question.declared.copies or 1  # a view may show one record in so many rows
    tables: list[list[Row]] = []
    for family, company, first in itertools.product(found, others, (True, False)):
        for place, victim in enumerate(family.victims):
            mine = [] if victim is None else [victim] * copies
            mine += linked_rows(factory.question.declared, family.victims, place)
            tables.append([*mine, *company] if first else [*company, *mine])
    on_storage = replace(
        factory, form="duckdb" if not _is_plain(factory, storage) else factory.form, types=storage.types
    )
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
        yield FamilyAnswers(
            storage,
            family,
            values[start:end].reshape(*shape, len(noises), max(len(groups), 1)),
            steps,
            counts[start:end].reshape(*shape, len(noises)),
        )
        start = end


def _is_plain(factory: TableFactory, storage: Storage) -> bool:
    return all(factory.types[name] == kind for name, kind in storage.types.items())


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


def forms(guarantee: Guarantee, before: Values, after: Values) -> Iterator[tuple[str, float]]:
    """(form, most) for a change of these columns, each to a value that is there; forms that say nothing are left out.

    A column that a guarantee does not name is one that it says nothing can be learnt of.
    """
    moved = [n for n in before if before[n] != after[n]]
    if not guarantee.unit.tells_columns or any(before[n] is None or after[n] is None for n in moved):
        return
    apart = {n: _distance(guarantee.columns.get(n), before[n], after[n]) for n in moved}
    if None not in apart.values():
        yield "column by column", math.fsum(d for d in apart.values() if d is not None)
    along = {
        n: _distance(guarantee.lines.get(n), before[n], after[n]) if n in guarantee.lines else apart[n] for n in moved
    }
    if any(n in guarantee.lines for n in moved) and None not in along.values():
        yield "on the line", math.fsum(d for d in along.values() if d is not None)
    if guarantee.slope is not None and all(isinstance(before[n], float) for n in moved):
        far = math.hypot(*(before[n] - after[n] for n in moved))
        yield "straight-line", guarantee.slope * far + guarantee.rounding


def _distance(metric: Metric | None, before: Any, after: Any) -> float | None:
    """How far two values are apart; None where the metric does not know one of them."""
    if metric is None:
        return 0.0
    try:
        found = metric.distance(np.asarray(before, dtype=_kind(before)), np.asarray(after, dtype=_kind(after)))
        return float(np.asarray(found))
    except (GuessproofError, TypeError, ValueError):
        return None


def _kind(value: Any) -> Any:
    return float if isinstance(value, float) else object


@dataclass(frozen=True)
class AnswerMove:
    """A change of one record, how far the answer moved, how far it may have, and which form says so."""

    what: str
    form: str
    moved: float
    allowed: float
    storage: str

    @property
    def share(self) -> float:
        """Above 1 is too far."""
        if self.moved <= 0:
            return 0.0
        return self.moved / self.allowed if self.allowed > 0 else math.inf

    def words(self, noun: str) -> str:
        """In one line."""
        return (
            f"stored as {self.storage}, one {noun} moved {self.what} by {self.moved:.6g} where at most "
            f"{self.allowed:.6g} was promised ({self.form})"
        )


def storage_check(choice: Choice, played: Sequence[FamilyAnswers]) -> Check:
    """The largest share of what any form of the guarantee allows, over all storages, families and companies."""
    whole = _whole_moves(choice, choice.guarantee, played)
    best = max(itertools.chain(_moves(choice, played), whole), key=lambda m: m.share, default=None)
    compared = dict.fromkeys(a.storage.compared for a in played)
    pairs = sum(math.comb(len(a.family.victims), 2) * len(a.values) for a in played)
    ways = "way" if len(compared) == 1 else "ways"
    done = f"{pairs} pairs of neighbouring tables, stored in {len(compared)} {ways} ({'; or '.join(compared)})"
    if best is None:
        return Check("storage", 0.0, None, 1.0, "pass", f"{done}: no record moved any answer")
    verdict = "pass" if best.share <= 1 + 1e-9 else "fail"
    return Check("storage", best.share, None, 1.0, verdict, f"{done}: {best.words(choice.plan.unit.noun)}")


def together_check(choice: Choice, both: Guarantee, played: Sequence[FamilyAnswers]) -> Check:
    """Two releases of the same plan, its columns spelt in two ways: the ledger must add up what each of them tells."""
    once = choice.guarantee
    best = max(_twice(choice, once, both, played), key=lambda m: m.share, default=None)
    start = "two releases whose plans spell the columns differently"
    if best is None:
        return Check("two releases", 0.0, None, 1.0, "pass", f"{start}: no record moved any answer")
    verdict = "pass" if best.share <= 1 + 1e-9 else "fail"
    return Check("two releases", best.share, None, 1.0, verdict, f"{start}: {best.words(choice.plan.unit.noun)}")


def _twice(choice: Choice, once: Guarantee, both: Guarantee, played: Sequence[FamilyAnswers]) -> Iterator[AnswerMove]:
    """What one release moved, within what it promised, moves two of them twice as far."""
    for answered, before, after, moved in _whole(choice, played):
        single = dict(_promised(choice, once, before, after))
        for form, most in _promised(choice, both, before, after):
            told = _describe_move("the two answers", before, after)
            yield AnswerMove(told, form, 2 * min(moved, single.get(form, 0.0)), most, answered.storage.shown)


def _moves(choice: Choice, played: Sequence[FamilyAnswers]) -> Iterator[AnswerMove]:
    for answered in played:
        for one, other in answered.pairs:
            for j, distance in enumerate(answered.moved[one, other]):
                if distance > 0:
                    yield from _of_measurement(choice, answered, j, float(distance), one, other)
        yield from _count_moves(choice, answered)


def _of_measurement(
    choice: Choice, answered: FamilyAnswers, j: int, distance: float, one: int, other: int
) -> Iterator[AnswerMove]:
    noise = choice.noises[j]
    measurement = noise.measurement
    before, after = (answered.family.victims[i] for i in (one, other))
    if measurement.divisor != 1 and _has_missing(choice, before, after):
        return  # behind a public count it is assumed known who has a value
    distance = max(0.0, distance - _rounding(choice, j, len(answered.values[0, 0, 0])))
    for form, most in _allowed(choice, measurement, before, after):
        yield AnswerMove(_describe_move(measurement.text, before, after), form, distance, most, answered.storage.shown)


def _allowed(choice: Choice, measurement: Measurement, before: Row | None, after: Row | None) -> Any:
    """Every form of one measurement's guarantee, in units of its sum."""
    if before is None or after is None:
        yield "presence", measurement.guarantee.presence
        return
    yield "any change", measurement.guarantee.change
    old, new = _secrets(choice, before), _secrets(choice, after)
    yield "between the two", measurement.guarantee.between(old, new)
    yield from forms(measurement.guarantee, old, new)


def _whole_moves(choice: Choice, promised: Guarantee, played: Sequence[FamilyAnswers]) -> Iterator[AnswerMove]:
    """All measurements together, in log-likelihood."""
    for answered, before, after, moved in _whole(choice, played):
        for form, most in _promised(choice, promised, before, after):
            yield AnswerMove(_describe_move("the answer", before, after), form, moved, most, answered.storage.shown)


def _whole(choice: Choice, played: Sequence[FamilyAnswers]) -> Iterator[tuple[FamilyAnswers, Row, Row, float]]:
    """Neighbours that moved something, and how far in all, in units of the noise."""
    if any(n.mechanism.has_delta for n in choice.noises):
        return
    rates = [n.mechanism.epsilon / n.mechanism.sensitivity for n in choice.noises]
    public = any(n.measurement.divisor != 1 for n in choice.noises)
    for answered in played:
        victims, groups = answered.family.victims, len(answered.values[0, 0, 0])
        for one, other in answered.pairs:
            before, after, moved = victims[one], victims[other], answered.moved[one, other]
            if before is None or after is None or (public and _has_missing(choice, before, after)):
                continue
            parts = (max(0.0, float(d) - _rounding(choice, j, groups)) * rates[j] for j, d in enumerate(moved))
            yield answered, before, after, math.fsum(parts)


def _promised(choice: Choice, promised: Guarantee, before: Row, after: Row) -> Iterator[tuple[str, float]]:
    yield "any change", promised.change
    yield from forms(promised, _secrets(choice, before), _secrets(choice, after))


def _count_moves(choice: Choice, answered: FamilyAnswers) -> Iterator[AnswerMove]:
    """Behind a public count, nobody who has a value may change how many rows are counted."""
    victims = answered.family.victims
    for j, noise in enumerate(choice.noises):
        if noise.measurement.divisor == 1:
            continue
        there = [i for i, v in enumerate(victims) if v is not None and not _has_missing(choice, v)]
        counts = answered.counts[:, there, j]
        if counts.size and (apart := int((counts.max(axis=1) - counts.min(axis=1)).max())):
            yield AnswerMove(
                f"the rows behind {noise.measurement.text}", "public count", apart, 0.0, answered.storage.shown
            )


def _rounding(choice: Choice, j: int, groups: int) -> float:
    """What rounding contributions to the grid may add; whole numbers are not rounded."""
    noise = choice.noises[j]
    return (
        0.0
        if noise.measurement.is_whole
        else 2 * noise.grid.step * min(groups, 2) * (noise.measurement.copies * noise.measurement.declared.linked)
    )


def _secrets(choice: Choice, row: Row) -> Row:
    declared = choice.question.declared
    return {n: v for n, v in row.items() if declared.column(n).protected}


def _has_missing(choice: Choice, *rows: Row | None) -> bool:
    return any(v is None for row in rows if row is not None for v in _secrets(choice, row).values())


def _describe_move(text: str, before: Row | None, after: Row | None) -> str:
    if before is None or after is None:
        return f"{text} by being there"
    changed = [n for n in before if before[n] != after[n]]
    return f"{text} when {', '.join(f'{n} went from {before[n]!r} to {after[n]!r}' for n in changed)}"
