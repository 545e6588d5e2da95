"""The door is real: a target for another engine is one class, and everything else in `sql` runs there unchanged."""

from __future__ import annotations

import datetime
import math
import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest
from sqlglot import Expr, exp

from guessproof.errors import SourceError
from guessproof.guarantee import RECORDS
from guessproof.sql import DeclaredColumn, DeclaredTable, SqlTarget, analyze, find_target, rewrite
from guessproof.sql.targets import TARGETS

STORED = {"x": "REAL", "c": "TEXT", "f": "TEXT", "d": "BLOB"}
ROWS: list[tuple[Any, ...]] = [
    (1.5, "black", "yes"),
    (99.0, "Black", "no"),
    (None, "bay", "maybe"),
    (-4.0, None, "YES"),
    (math.inf, "black ", None),
    (3.25, "bay", "no"),
]
QUERIES = [
    "SELECT COUNT(*) FROM t WHERE c = 'black'",
    "SELECT COUNT(*) FROM t WHERE c <> 'black' AND NOT f",
    "SELECT COUNT(*) FROM t WHERE f OR x IS NULL",
    "SELECT SUM(x) FROM t WHERE c LIKE 'b%'",
    "SELECT MIN(x) AS a, MAX(x) FILTER (WHERE f) AS b FROM t",
    "SELECT SUM(LEAST(x, 3) * 2 + ABS(x - 1)) FROM t WHERE x BETWEEN 0 AND 50 OR x IN (99, -4)",
    "SELECT SUM(CASE WHEN f IS NULL THEN 100 WHEN f THEN COALESCE(x, 7) END) FROM t",
]


class Lite(SqlTarget):
    """SQLite, in which any value may stand in any column and comparisons follow a column's collation."""

    dialect = "sqlite"

    def number(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        if stored != "REAL":
            raise self.refusal(column, "number", "store it as REAL")
        kind = exp.Anonymous(this="typeof", expressions=[self.name(name)])
        return exp.case().when(exp.EQ(this=kind, expression=exp.Literal.string("real")), self.name(name))

    def is_number(self, column: DeclaredColumn) -> Expr:
        return self.is_value(self.number(column))

    def is_value(self, x: Expr) -> Expr:  # SQLite stores NaN as NULL
        return exp.not_(exp.Is(this=exp.paren(x), expression=exp.null()))

    def label(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        if stored != "TEXT":
            raise self.refusal(column, "label", "store it as TEXT")
        return exp.Collate(this=self.name(name), expression=exp.Var(this="BINARY"))

    def truth(self, column: DeclaredColumn) -> Expr | None:
        return None

    def time(self, column: DeclaredColumn) -> Expr:
        raise self.refusal(column, "time", "there are no times here")

    def days(self, time: Expr) -> Expr:
        raise NotImplementedError

    def double(self, value: float) -> Expr:
        return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))

    def no_number(self) -> Expr:
        return exp.null()

    def moment(self, time: datetime.datetime) -> Expr:
        raise AssertionError(time)

    def as_double(self, x: Expr) -> Expr:
        return exp.Cast(this=x, to=exp.DataType(this=exp.DType.DOUBLE))

    def whole(self, x: Expr) -> Expr:
        return exp.Cast(this=exp.Round(this=x), to=exp.DataType(this=exp.DType.BIGINT))

    def extreme(self, terms: Sequence[Expr], largest: bool) -> Expr:
        end = exp.Literal.number("1e999")
        filled = [exp.Coalesce(this=t, expressions=[exp.Neg(this=end) if largest else end]) for t in terms]
        return exp.Anonymous(this="max" if largest else "min", expressions=filled)

    def like(self, text: Expr, pattern: str) -> Expr:
        raise AssertionError(pattern)


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("sql", QUERIES)
def test_another_engine_is_one_class(sql: str, missing: bool) -> None:
    columns = [
        DeclaredColumn("x", bounds=(-2.0, 10.0), missing=missing),
        DeclaredColumn("c", levels=("black", "bay"), missing=missing),
        DeclaredColumn("f", levels=("yes", "no", "maybe"), missing=missing),
    ]
    question = analyze(sql, DeclaredTable("t", {c.name: c for c in columns}, RECORDS))
    rewritten = rewrite(question, [-10] * len(question.measurements), Lite(STORED))
    with sqlite3.connect(":memory:") as con:
        con.execute("CREATE TABLE t (x REAL, c TEXT COLLATE NOCASE, f TEXT COLLATE RTRIM)")
        con.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
        found = rewritten.read(con.execute(rewritten.sql).fetchall())[()]
    rows = [dict(zip("xcf", row, strict=True)) for row in ROWS]
    for measurement, (whole, _) in zip(question.measurements, found, strict=True):
        contribution = measurement.contribution
        kept = [r for r in rows if contribution.condition.at(r) and contribution.term.at(r) is not None]
        values = [contribution.at(r) for r in kept]
        total = {"min": min, "max": max}.get(measurement.kind, math.fsum)(values)
        assert (whole or 0) * 2.0**-10 == pytest.approx(total, abs=0.01), sql


def test_a_target_never_falls_back() -> None:
    declared = DeclaredTable("t", {"d": DeclaredColumn("d", kind="label")}, RECORDS)
    question = analyze("SELECT COUNT(*) FROM t WHERE d = 'a'", declared)
    with pytest.raises(SourceError, match="stored as BLOB"):
        rewrite(question, [0], Lite(STORED))
    for known in TARGETS:
        with pytest.raises(SourceError, match=r"stored as SOMETHING NEW.*; "):
            rewrite(question, [0], known({"d": "SOMETHING NEW"}))
        with pytest.raises(SourceError, match="no column d"):
            rewrite(question, [0], known({"e": "VARCHAR"}))
    with pytest.raises(SourceError, match="no SQL is written for sqlite"):
        find_target("sqlite", STORED)


def test_a_name_that_two_columns_may_mean_must_be_written_as_one_of_them() -> None:
    """Some engines have Time and TIME in one table; to us they are one column."""
    stored = {"Time": "VARCHAR", "TIME": "VARCHAR"}
    for name in ("Time", "TIME", "time"):
        declared = DeclaredTable("t", {name: DeclaredColumn(name, kind="label")}, RECORDS)
        question = analyze("SELECT COUNT(*) FROM t WHERE time = 'a'", declared)
        if name in stored:
            assert f'"{name}"' in rewrite(question, [0], find_target("duckdb", stored)).sql
        else:
            with pytest.raises(SourceError, match="as one of them is written"):
                rewrite(question, [0], find_target("duckdb", stored))
