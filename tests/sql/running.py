"""Runs rewritten queries on small tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

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
    """The first measurement of each table, in units of 2^exponent: all tables in one query."""
    assert not question.keys
    measurement = question.measurements[0]
    rewritten = rewrite(question, [exponent] * len(question.measurements), {})
    tree = sqlglot.parse_one(rewritten.sql, dialect="duckdb")
    assert isinstance(tree, exp.Select)
    rows = [{**row, "variant": i} for i, table in enumerate(tables) for row in table]
    grouped = tree.select("variant").group_by("variant").sql("duckdb")
    answers = {
        row[-1]: row[0]
        for row in run(grouped, rows, {**types(question), "variant": pa.int64()}, question.declared.table)
    }
    empty = round(measurement.contribution.absent * 2.0**-exponent)
    found = [rewritten.units(0, answers.get(i)) for i in range(len(tables))]
    return [empty if whole is None else int(whole) for whole in found]
