"""Runs rewritten queries on small tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from guessproof.sql import AnalyzedQuery, SqlTarget, find_target, rewrite

CONNECTION = duckdb.connect(":memory:", config={"threads": 1})


def run(sql: str, rows: Sequence[dict[str, Any]], columns: dict[str, Any], table: str = "t") -> list[tuple[Any, ...]]:
    """A query on a table of these rows; `columns` gives the types."""
    arrays = {name: pa.array([row.get(name) for row in rows], kind) for name, kind in columns.items()}
    CONNECTION.register(table, pa.table(arrays))
    try:
        return CONNECTION.execute(sql).fetchall()
    finally:
        CONNECTION.unregister(table)


STORED = {"number": "DOUBLE", "label": "VARCHAR", "truth": "VARCHAR", "time": "TIMESTAMP", None: "DOUBLE"}
TYPES: dict[str, dict[str, str]] = {  # the same in an engine's words
    "duckdb": {},
    "postgres": {"DOUBLE": "double precision", "VARCHAR": "text", "TIMESTAMP": "timestamp without time zone"},
    "spark": {"DOUBLE": "double", "VARCHAR": "string", "TIMESTAMP": "timestamp_ntz"},
}
ARROW = {"DOUBLE": pa.float64(), "VARCHAR": pa.string(), "TIMESTAMP": pa.timestamp("us")}


def stored(question: AnalyzedQuery) -> dict[str, str]:
    """By which type each column is stored: the plainest of its kind."""
    identity = question.declared.unit.identity
    named = {} if identity is None else {identity: "VARCHAR"}
    return {n: STORED[question.declared.column(n).kind] for n in question.columns} | named


def target(question: AnalyzedQuery, **types: str) -> SqlTarget:
    """DuckDB's SQL for a table that stores the columns of a query plainly, or as is said."""
    return find_target("duckdb", {**stored(question), **types})


def types(question: AnalyzedQuery) -> dict[str, Any]:
    """The columns of a query as Arrow holds them; at least one."""
    return {n: ARROW[kind] for n, kind in stored(question).items()} or {"any": pa.float64()}


def whole_numbers(question: AnalyzedQuery, tables: Sequence[Sequence[dict[str, Any]]], exponent: int) -> list[int]:
    """The first measurement of each table, in units of 2^exponent: all tables in one query."""
    assert not question.keys
    measurement = question.measurements[0]
    rewritten = rewrite(question, [exponent] * len(question.measurements), target(question))
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
