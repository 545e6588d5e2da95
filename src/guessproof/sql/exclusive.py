"""Counts and sums to which a record contributes one at a time: one histogram, though it is written as filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from guessproof.intervals import ZERO
from guessproof.sql.distances import MOST_LEVELS, Contribution, list_cuts, split_line
from guessproof.sql.measurement import Measurement
from guessproof.sql.movement import OTHER, ColumnChange, ColumnState
from guessproof.sql.relation import count_matches

MOST_STATES = 200


def find_families(measurements: Sequence[Measurement]) -> tuple[tuple[int, ...], ...]:
    """Measurements, by their places, any two of which never both get something from one record."""
    families: list[list[int]] = []
    for index, measurement in enumerate(measurements):
        if not _may_exclude(measurement):
            continue
        fitting = (f for f in families if all(are_exclusive(measurements[i], measurement) for i in f))
        family = next(fitting, None)
        if family is None:
            families.append([index])
        else:
            family.append(index)
    return tuple(tuple(family) for family in families if len(family) > 1)


def _may_exclude(measurement: Measurement) -> bool:
    """A sum or a count of rows: extremes, ranks, averages and what persons add up are left alone.

    So are records that a join makes several rows of: each row tells the filters apart, not the record.
    """
    if count_matches(measurement.contribution.joins) > 1:
        return False
    plain = measurement.kind in ("count", "sum") and not measurement.picks and measurement.divisor == 1
    return plain and measurement.declared.unit.identity is None and measurement.contribution.absent == 0


def are_exclusive(one: Measurement, other: Measurement) -> bool:
    """Whether some column tells, whatever it holds, that one of the two gets nothing."""
    both = one.contribution.columns & other.contribution.columns
    return any(
        all(_is_nothing(state, name, one, other) for state in _states(name, one, other)) for name in sorted(both)
    )


def _states(name: str, one: Measurement, other: Measurement) -> Iterator[ColumnState]:
    """Everything that the column can hold, in pieces; one piece that holds all where there would be too many."""
    column = one.declared.column(name)
    if column.may_be_null:
        yield ColumnState(missing="yes")
    if column.is_on_line:
        cuts = tuple(sorted({*list_cuts(one.contribution, name), *list_cuts(other.contribution, name)}))
        pieces = split_line(cuts) if len(cuts) < MOST_STATES else split_line(())
        yield from (ColumnState(piece) for piece in pieces)
    elif column.levels is not None and len(column.levels) < min(MOST_LEVELS, MOST_STATES):
        yield from (ColumnState(labels=frozenset((level,))) for level in (*column.levels, OTHER))
    else:
        yield column.side


def _is_nothing(state: ColumnState, name: str, one: Measurement, other: Measurement) -> bool:
    return any(_adds_nothing(m.contribution, m, name, state) for m in (one, other))


def _adds_nothing(contribution: Contribution, measurement: Measurement, name: str, state: ColumnState) -> bool:
    rest = measurement.declared.at_rest(contribution.columns)
    return contribution.follow({**rest, name: ColumnChange(state, state)}).hull == ZERO
