"""What a query takes its columns to be."""

from __future__ import annotations

from guessproof.sql.question import Question
from guessproof.world.kinds import Kind


def kinds_of(question: Question) -> dict[str, Kind]:
    """The kind of each column that the declaration or the query tells: number, label, truth or time."""
    columns = [question.declared.column(name) for name in sorted(question.columns)]
    return {column.name: column.kind for column in columns if column.kind is not None}
