"""Where the attack takes place: the victim's public side, the other records, and the two most distant secrets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.auditing.columns import Field, Row
from guessproof.auditing.tables import Group, PlainAnswer, contributes, in_group, level_of, plain_answer
from guessproof.sql import AnalyzedQuery
from guessproof.sql.formula import Key
from guessproof.sql.measurement import Measurement

OTHERS = 24  # other records in a table, unless a public count asks for more
MOST_ROWS = 20_000  # a larger public count is not built up: the noise does not depend on it
FRAMES, TRIES = 48, 200


@dataclass(frozen=True)
class AuditCase:
    """A table but for the victim's secrets. `pairs` are, by measurement, the most distant victims found.

    A victim of None is one who is not in the table.
    """

    question: AnalyzedQuery
    steps: tuple[float, ...]
    group: Group
    frame: Row
    others: tuple[Row, ...]
    pairs: dict[int, tuple[Row | None, Row | None]]

    def rows(self, victim: Row | None) -> list[Row]:
        """The table with this victim."""
        return [*self.others, *([] if victim is None else [victim])]

    def plain(self, index: int, victim: Row | None) -> PlainAnswer:
        """The answer for the victim's group, without noise."""
        measurement = self.question.measurements[index]
        mine = [r for r in self.rows(victim) if in_group(self.question, self.group, r)]
        return plain_answer(measurement, mine, self.steps[index])

    def answers(self, index: int, victims: Sequence[Row]) -> Any:
        """The same for many victims, quickly."""
        measurement = self.question.measurements[index]
        if measurement.kind == "distinct":  # what a victim adds depends on which levels the others hold
            return np.array([self.plain(index, victim).value for victim in victims])
        rest = self.plain(index, None).value
        own = np.array([contributes(measurement, v) for v in victims], dtype=float)
        return join_answers(measurement.kind, rest, own)


def join_answers(kind: str, rest: float, own: Any) -> Any:
    """An aggregate of a table from those of the others and of each victim alone."""
    if kind in ("count", "sum"):
        return rest + own
    return np.minimum(rest, own) if kind == "min" else np.maximum(rest, own)


def make_cases(
    question: AnalyzedQuery, fields: dict[str, Field], steps: tuple[float, ...], rng: Any
) -> list[AuditCase]:
    """A case for each measurement; measurements share one where the victim's public side is the same."""
    found: dict[str, list[tuple[int, Row, Row | None, Row | None]]] = {}
    for index, measurement in enumerate(question.measurements):
        frame, near, far = _furthest(question, measurement, fields, rng)
        found.setdefault(repr(sorted(frame.items())), []).append((index, frame, near, far))
    return [_make_case(question, fields, steps, parts, rng) for parts in found.values()]


def _furthest(
    question: AnalyzedQuery, measurement: Measurement, fields: dict[str, Field], rng: Any
) -> tuple[Row, Row | None, Row | None]:
    """The public side on which secrets move the measurement most, and the two secrets."""
    secret = [f for f in fields.values() if f.secret]
    # Who can leave the group that is looked at is no longer there, as one who is not in the table.
    absence = [None] if question.declared.unit.hides_presence or measurement.keys else []
    best: tuple[float, Row, Row | None, Row | None] | None = None
    for frame in _frames(fields, rng):
        tried: list[Row | None] = [{**frame, **s} for s in _assignments(secret, measurement, TRIES, rng)]
        ends = [_climb(measurement, secret, tried, sign) for sign in (-1, 1)]
        low, high = max(itertools.combinations([*ends, *absence], 2), key=lambda p: abs(_gap(measurement, *p)))
        gap = abs(_gap(measurement, low, high))
        if best is None or gap > best[0] * (1 + 1e-12):
            best = (gap, frame, low, high)
    assert best is not None
    return best[1:]


def _gap(measurement: Measurement, one: Row | None, other: Row | None) -> float:
    return _own(measurement, one) - _own(measurement, other)


def _own(measurement: Measurement, row: Row | None) -> float:
    return measurement.contribution.absent if row is None else contributes(measurement, row)


def _climb(measurement: Measurement, secret: list[Field], rows: list[Row | None], sign: int) -> Row:
    """The row with the largest (or smallest) contribution, improved column by column."""
    best = max((r for r in rows if r is not None), key=lambda r: sign * contributes(measurement, r))
    for _ in range(2):
        for field in secret:
            for value in _choices(field, measurement):
                moved = {**best, field.name: value}
                if sign * (contributes(measurement, moved) - contributes(measurement, best)) > 0:
                    best = moved
    return best


def _choices(field: Field, measurement: Measurement) -> list[Any]:
    """The values of a secret; behind a public count it is known to have one."""
    return [*field.values, *([None] if field.missing and measurement.divisor == 1 else [])]


def _frames(fields: dict[str, Field], rng: Any) -> Iterator[Row]:
    open_ones = [f for f in fields.values() if not f.secret]
    sizes = math.prod(len(f.values) for f in open_ones)
    if sizes <= FRAMES:
        for values in itertools.product(*(f.values for f in open_ones)):
            yield {f.name: v for f, v in zip(open_ones, values, strict=True)}
        return
    for turn in range(FRAMES * 2):  # each value once in turn, then at random
        yield {f.name: f.values[turn % len(f.values) if turn < FRAMES else _index(f.values, rng)] for f in open_ones}


def _assignments(secret: list[Field], measurement: Measurement, most: int, rng: Any) -> Iterator[Row]:
    choices = [_choices(f, measurement) for f in secret]
    if math.prod(len(c) for c in choices) <= most:
        for values in itertools.product(*choices):
            yield {f.name: v for f, v in zip(secret, values, strict=True)}
        return
    for _ in range(most):
        yield {f.name: c[_index(c, rng)] for f, c in zip(secret, choices, strict=True)}


def _index(values: Sequence[Any], rng: Any) -> int:
    return int(rng.integers(len(values)))


def _make_case(
    question: AnalyzedQuery,
    fields: dict[str, Field],
    steps: tuple[float, ...],
    parts: list[tuple[int, Row, Row | None, Row | None]],
    rng: Any,
) -> AuditCase:
    frame = parts[0][1]
    group = tuple(_level(key, frame[key.column]) for key in question.keys)
    pairs = {index: (near, far) for index, _, near, far in parts}
    others = [row for row in _strangers(fields, rng) if not _hides(question, row, pairs)]
    for index in pairs:
        others += _behind_average(question, index, fields, frame, group, others, rng)
    return AuditCase(question, steps, group, frame, tuple(others), pairs)


def _level(key: Key, value: Any) -> str:
    found = level_of(key, value)
    assert found is not None
    return found


def _strangers(fields: dict[str, Field], rng: Any) -> Iterator[Row]:
    """Other records: values of every kind, also missing, not a number, infinite."""
    for _ in range(OTHERS):
        yield {f.name: _any_value(f, rng) for f in fields.values()}


def _any_value(field: Field, rng: Any) -> Any:
    odd = [math.nan, math.inf, -math.inf] if field.kind == "number" and field.secret else []
    values = [*field.values, *field.values, *odd, *([None] if field.missing and not field.is_key else [])]
    return values[_index(values, rng)]


def _hides(question: AnalyzedQuery, row: Row, pairs: dict[int, tuple[Row | None, Row | None]]) -> bool:
    """Whether this record would keep the victim from being the smallest (or largest)."""
    for index, pair in pairs.items():
        measurement = question.measurements[index]
        ends = [_own(measurement, victim) for victim in pair]
        if measurement.kind == "min" and contributes(measurement, row) < max(ends):
            return True
        if measurement.kind == "max" and contributes(measurement, row) > min(ends):
            return True
    return False


def _behind_average(
    question: AnalyzedQuery, index: int, fields: dict[str, Field], frame: Row, group: Group, others: list[Row], rng: Any
) -> list[Row]:
    """Records of the victim's group until the public count is there, the victim included."""
    measurement = question.measurements[index]
    if measurement.divisor == 1:
        return []
    mine = [r for r in others if in_group(question, group, r)]
    lacking = int(min(measurement.divisor, MOST_ROWS)) - 1 - plain_answer(measurement, mine, 1.0).count
    secret = [f for f in fields.values() if f.secret]
    return [{**frame, **{f.name: f.values[_index(f.values, rng)] for f in secret}} for _ in range(max(lacking, 0))]
