"""Many questions in few jobs: on Spark a job costs more than what it computes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from guessproof.engines.spark import Spark
from guessproof.engines.spark_tables import ViewedTable
from guessproof.releasing.run import list_types
from guessproof.sql import AnalyzedQuery, RewrittenQuery, find_target, rewrite

Found = dict[tuple[str, ...], list[Any]]


def ask_many(engine: Spark, asked: Sequence[tuple[AnalyzedQuery, int]]) -> list[Found]:
    """What the engine says to each question; it can say it on an empty and on a hostile table too."""
    rewritten = [_rewrite(engine, question, exponent) for question, exponent in asked]
    statements = [sql for one in rewritten for sql in one.statements]
    for sql in statements:
        assert engine._fault(sql) is None, sql
    rows: dict[str, list[tuple[Any, ...]]] = {sql: [] for sql in statements}
    for sql in statements:
        for stand_in in (ViewedTable.empty, ViewedTable.hostile):
            _ask(engine, [sql], lambda table, kind=stand_in: kind.fget(table))  # pyright: ignore[reportOptionalCall]
        rows[sql] = [row for _, row in _ask(engine, [sql], lambda table: table.whole)]
    return [one.run(lambda sql: rows[sql]) for one in rewritten]


def _rewrite(engine: Spark, question: AnalyzedQuery, exponent: int) -> RewrittenQuery:
    target = find_target(engine.dialect, list_types(engine, question))
    return rewrite(question, [exponent] * len(question.measurements), target)


def _ask(engine: Spark, statements: Sequence[str], stand_in: Any) -> list[tuple[int, tuple[Any, ...]]]:
    """The rows of several statements, as JSON and by their place."""
    wide = "TO_JSON(STRUCT(gp_one.*), MAP('ignoreNullFields', 'false'))"
    parts = [f"SELECT {place} AS place, {wide} AS row FROM ({sql}) AS gp_one" for place, sql in enumerate(statements)]
    table = engine._own.ask(engine._asked(stand_in, " UNION ALL ".join(parts)), None)
    found = zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True)
    return [(place, tuple(json.loads(row).values())) for place, row in found]
