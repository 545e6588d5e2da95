"""What one record moves on the engine, held against every form of the guarantee: no form is exceeded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from guessproof.errors import MetricError
from guessproof.guarantee import Guarantee, guarantee_from_dict, guarantee_to_dict, total
from guessproof.sql import AnalyzedQuery, DeclaredColumn, Measurement
from guessproof.testing.variants import UNIT, Row, Told, Variants, list_groups, whole_number
from guessproof.world import Metric


def find_excesses(question: AnalyzedQuery, table: Variants, told: Sequence[Told]) -> Iterator[str]:
    """Every way in which a pair of variants moves further than was promised, of the release or of one measurement."""
    parts = [MovedOnEngine(question, m, j, told) for j, m in enumerate(question.measurements)]
    weights = [1 / len(parts) / m.guarantee.sensitivity for m in question.measurements]
    own = total([m.guarantee.scaled(w) for m, w in zip(question.measurements, weights, strict=True)])
    kept = guarantee_from_dict(guarantee_to_dict(own))
    for i in range(0, len(table.variants), 2):
        before, after = table.variants[i], table.variants[i + 1]
        for part in parts:
            yield from part.find_excesses(i, before, after)
        moved = math.fsum(w * p.moved(i, i + 1) for w, p in zip(weights, parts, strict=True))
        steps = math.fsum(w * m.copies for w, m in zip(weights, question.measurements, strict=True))
        room = 1e-9 * moved + 2.001 * UNIT * steps
        for name, pledged in (("the release", own), ("the ledger", kept)):
            for form, bound in _forms(question, pledged, before, after):
                if moved > bound + room:
                    yield f"{name}: from {before} to {after} moves by {moved}, {form} says {bound}"


class MovedOnEngine:
    """One measurement's answers for every variant."""

    def __init__(self, question: AnalyzedQuery, measurement: Measurement, index: int, told: Sequence[Told]) -> None:
        self.question, self.measurement = question, measurement
        groups = list_groups(question)
        self.table = np.array([[whole_number(measurement, t, index, g) for g in groups] for t in told])

    def moved(self, i: int, j: int) -> float:
        """Over all groups together, before any divisor."""
        return float(np.abs(self.table[i] - self.table[j]).sum()) * UNIT

    def find_excesses(self, i: int, before: Row, after: Row) -> Iterator[str]:
        """Every form that one pair exceeds."""
        m, guarantee, moved = self.measurement, self.measurement.guarantee, self.moved(i, i + 1)
        keys = {key.column for key in self.question.keys}
        forms = [("change", m.per_answer.change * m.divisor)]
        if m.declared.unit.name == "records":
            forms += [("sensitivity", m.per_answer.sensitivity * m.divisor)]
            gone = max(self.moved(i, -1), self.moved(i + 1, -1))
            if gone > m.per_answer.presence * m.divisor * (1 + 1e-9) + UNIT * 1.001 * m.copies:
                yield f"{m.text}: coming or going moves by {gone}, presence says {m.per_answer.presence}"
        if all(before[key] == after[key] for key in keys):
            forms += [("guarantee.change", guarantee.change)]
            forms += [(f"measured {form}", bound) for form, bound in self._own(before, after)]
        assumed = m.divisor != 1 and self._misses(before, after)  # a public count: whether a value is missing is known
        for form, bound in () if assumed else forms:
            if moved > bound * (1 + 1e-9) + UNIT * 2.001 * m.copies:
                yield f"{m.text}: from {before} to {after} moves by {moved}, {form} says {bound}"

    def _misses(self, before: Row, after: Row) -> bool:
        return any(self.question.declared.column(n).read(r[n]) is None for n in before for r in (before, after))

    def _own(self, before: Row, after: Row) -> Iterator[tuple[str, float]]:
        guarantee = self.measurement.guarantee
        moving = {
            n for n in self.measurement.contribution.columns if n in before and _differ(self.question, n, before, after)
        }
        yield "between", guarantee.between(before, after)
        yield from _distances(self.question, guarantee, moving, before, after)
        straight = _straight(self.question, moving, before, after)
        if guarantee.slope is not None and straight is not None:
            yield "euclidean", guarantee.slope * straight + guarantee.rounding


def _forms(question: AnalyzedQuery, pledged: Guarantee, before: Row, after: Row) -> Iterator[tuple[str, float]]:
    if any(m.divisor != 1 for m in question.measurements):
        read = [question.declared.column(n).read(r[n]) for n in before for r in (before, after)]
        if None in read:
            return
    yield "change", pledged.change
    if pledged.responses is not None:
        yield "between", pledged.between(before, after)
    moving = {n for n in before if n in question.columns and _differ(question, n, before, after)}
    yield from _distances(question, pledged, moving, before, after)
    straight = _straight(question, moving, before, after)
    if pledged.slope is not None and straight is not None:
        yield "euclidean", pledged.slope * straight + 2 * pledged.rounding


def _differ(question: AnalyzedQuery, name: str, before: Row, after: Row) -> bool:
    """Whether a column moves at all: labels by themselves, for a metric tells labels apart and not truth values."""
    column = question.declared.column(name)
    ends = [
        column.label(r[name]) if column.is_textual and r[name] is not None else column.read(r[name])
        for r in (before, after)
    ]
    return ends[0] != ends[1]


def _distances(
    question: AnalyzedQuery, pledged: Guarantee, moving: set[str], before: Row, after: Row
) -> Iterator[tuple[str, float]]:
    for form, metrics in (("columns", pledged.columns), ("lines", pledged.lines)):
        apart = _distance(question, metrics, moving, before, after)
        if apart is not None:
            yield form, apart


def _distance(
    question: AnalyzedQuery, metrics: Mapping[str, Metric], moving: set[str], before: Row, after: Row
) -> float | None:
    """The sum over columns; None where a value is none that the metrics speak of (missing, or no level)."""
    found = 0.0
    for name in moving:
        column = question.declared.column(name)
        ends = [_point(column, r[name]) for r in (before, after)]
        if name not in metrics or None in ends:
            return None
        try:
            found += float(metrics[name].distance(*ends))
        except (MetricError, TypeError):
            return None
    return found


def _point(column: DeclaredColumn, value: Any) -> Any:
    if column.is_on_line:
        return column.place(value)
    if column.is_textual:
        label = None if value is None else column.label(value)
        return label if isinstance(label, str) else None
    return None if column.read(value) is None else str(value)


def _straight(question: AnalyzedQuery, moving: set[str], before: Row, after: Row) -> float | None:
    columns = [question.declared.column(n) for n in moving]
    ends = [[c.read(r[c.name]) for c in columns] for r in (before, after)]
    if not all(c.is_number for c in columns) or any(v is None or abs(v) > 1e100 for end in ends for v in end):
        return None
    return math.dist(*ends)
