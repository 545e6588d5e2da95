"""Groups that are found in the table: each gets a noisy count, and only those above the threshold go on.

Groups come from the engine in batches, so that memory holds one of these and what is shown. Nothing tells of the
others: the answer is sorted by the names that are shown, whatever order the table has, before LIMIT cuts it off.
"""

from __future__ import annotations

from collections.abc import Iterator

from guessproof.choosing import Choice
from guessproof.choosing.frequent import GroupThreshold
from guessproof.engines import Engine
from guessproof.releasing.answer import Answer, Row, make_answer, numbers_by_group
from guessproof.sql import RewrittenQuery
from guessproof.sql.rewrite import Cell, Group

Measured = tuple[Group, list[Cell]]


def show_frequent(engine: Engine, query: RewrittenQuery, choice: Choice) -> Answer:
    """The answer of the groups that are shown."""
    assert choice.threshold is not None
    rows: list[Row] = []
    for found in _measured(engine, query):
        rows += draw_frequent(choice, choice.threshold, found)
    keys = choice.question.keys
    rows.sort(key=lambda row: tuple(key.rank(level) for key, level in zip(keys, row[0], strict=True)))
    return make_answer(choice, {"": rows})


def _measured(engine: Engine, query: RewrittenQuery) -> Iterator[list[Measured]]:
    for batch in engine.batches(query.sql):
        columns = [column.to_pylist() for column in batch.columns]
        yield [query.read_row(row) for row in zip(*columns, strict=True)]


def draw_frequent(choice: Choice, threshold: GroupThreshold, found: list[Measured]) -> list[Row]:
    """Noise for each count; for all other numbers of the groups whose noisy count is large enough."""
    least, noise = threshold.least, threshold.noise
    counts = noise.draw([cells[threshold.index][0] or 0 for _, cells in found])
    shown = [(measured, count) for measured, count in zip(found, counts, strict=True) if count >= least]
    cells = [measured for (_, measured), _ in shown]
    columns = [
        [noise.grid.value(count) for _, count in shown]
        if index == threshold.index
        else other.numbers([measured[index] for measured in cells])
        for index, other in enumerate(choice.noises)
    ]
    return numbers_by_group([group for (group, _), _ in shown], columns)
