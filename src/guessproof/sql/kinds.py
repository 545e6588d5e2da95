"""What a query takes its columns to be."""

from __future__ import annotations

from guessproof.sql.question import Question
from guessproof.world.kinds import Kind


def kinds_of(question: Question) -> dict[str, Kind]:
    """The kind of each column that the declaration or the query tells: number, label, truth or time."""
    kinds = {name: question.declared.column(name).kind for name in sorted(question.columns)}
    return {name: kind for name, kind in kinds.items() if kind is not None}
