"""Runs rewritten queries on small tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from guessproof.sql import Question, rewrite

CONNECTION = duckdb.connect(":memory:", config={"threads": 1})


def run(sql: str, rows: Sequence[dict[str, Any]], columns: dict[str, Any], table: str = "t") -> list[tuple[Any, ...]]:
    """A query on a table of these rows; `columns` gives the types."""
    arrays = {name: pa.array([row.get(name) for row in rows], kind) for name, kind in columns.items()}
    CONNECTION.register(table, pa.table(arrays))
    try:
        return CONNECTION.execute(sql).fetchall()
    finally:
        CONNECTION.unregister(table)


def types(question: Question) -> dict[str, Any]:
    """Doubles for numbers and text for the rest; at least one column."""
    declared = question.declared
    return {
        n: pa.float64() if declared.column(n).is_number is not False else pa.string() for n in question.columns
    } or {"any": pa.float64()}


def whole_numbers(question: Question, tables: Sequence[Sequence[dict[str, Any]]], exponent: int) -> list[int]:
    """The first measurement of each table, in units of 2^exponent."""
    measurement = question.measurements[0]
    rewritten = rewrite(question, [exponent] * len(question.measurements), {})
    found: list[int] = []
    for rows in tables:
        answers = rewritten.read(run(rewritten.sql, rows, types(question), question.declared.table))
        whole = answers[()][0][0]
        found.append(round(measurement.contribution.absent * 2.0**-exponent) if whole is None else whole)
    return found
