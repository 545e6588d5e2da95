"""Values that a file or a frame cannot give: found before anything is charged, or no query fails for them."""

from __future__ import annotations

import datetime
import itertools
from contextlib import nullcontext
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import guessproof as gp
from guessproof.engines import open_engine
from guessproof.engines.base import SparkSource
from guessproof.errors import EngineError, GuessproofError, SourceError
from guessproof.ledger import Budget, Ledger

FAR = (2**63 - 1, -(2**63), 10**16, -(10**17), 0, 10**9)
QUERIES = (
    "SELECT COUNT(x) FROM t",
    "SELECT COUNT(*) FROM t WHERE x IS NULL AND y > 0",
    "SELECT MAX(hash(x)) IS NULL FROM t WHERE y > 0",
)


def bytes_as_text(values: list[bytes]) -> pa.Array:
    ends = np.cumsum([0, *map(len, values)]).astype(np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(values), [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(values))]
    )


def draw_column(random: Random, rows: int) -> pa.Array:
    """A column of plain values, or with some that a reader may stumble over."""
    kind = random.choice(("timestamp", "timestamp", "text", "date32", "time64", "duration", "decimal", "double"))
    if kind == "timestamp":
        stored: Any = pa.timestamp(random.choice(("s", "ms", "us", "ns")), random.choice((None, "UTC", "Asia/Tokyo")))
    elif kind in ("time64", "duration"):
        stored = getattr(pa, kind)(random.choice(("us", "ns")))
    elif kind == "text":
        return bytes_as_text([random.choice((b"a", b"", b"\xc3\xa9", b"s3cr3t\xff")) for _ in range(rows)])
    elif kind == "decimal":
        return pa.array([Decimal("9.5"), *[None] * (rows - 1)], pa.decimal128(random.choice((3, 18, 38)), 1))
    elif kind == "double":
        return pa.array([random.choice((float("nan"), float("inf"), -0.0, 1e308)) for _ in range(rows)])
    else:
        return pa.array([random.choice((2**31 - 1, -(2**31), 0)) for _ in range(rows)], pa.int32()).view(pa.date32())
    return pa.array([random.choice(FAR) for _ in range(rows)], pa.int64()).view(stored)


def test_no_query_fails_where_the_check_did_not(tmp_path: Path) -> None:
    refused = answered = 0
    for seed in range(80):
        random = Random(seed)
        rows = random.randint(1, 3)
        table: Any = pa.table({"x": draw_column(random, rows), "y": pa.array(range(rows))})
        if random.random() < 0.5:
            try:
                pq.write_table(table, tmp_path / f"{seed}.parquet")
            except pa.ArrowInvalid:  # Arrow itself does not write that one
                continue
            table = str(tmp_path / f"{seed}.parquet")
        found = outcome(table)
        assert found in ("answered", "refused"), (seed, table, found)
        refused, answered = refused + (found == "refused"), answered + (found == "answered")
    assert refused > 15
    assert answered > 30


def outcome(table: Any) -> str:
    try:
        with open_engine(table, "t") as engine:
            engine.check(["Y"])  # what is not asked about may be as it is
            engine.check(["X", "y"])
            for sql in QUERIES:
                engine.aggregates(sql)
    except SourceError as error:
        return "refused" if "s3cr3t" not in str(error) and error.__context__ is None else f"told: {error}"
    except EngineError:
        return "failed after the check"
    return "answered"


def test_spark_finds_a_time_beyond_all_times_before_the_charge(spark: str, tmp_path: Path) -> None:
    for name, far in {"far": 10**16, "near": 10**9}.items():
        held = pa.array([far], pa.int64()).view(pa.timestamp("ms"))
        pq.write_table(pa.table({"x": held, "y": [1]}), tmp_path / f"{name}.parquet")
        with open_engine(SparkSource(str(tmp_path / f"{name}.parquet"), "env:SPARK_REMOTE"), "t") as engine:
            engine.check(["y"])
            with nullcontext() if name == "near" else pytest.raises(SourceError, match="beyond all times"):
                engine.check(["X"])


PLAN = """
[data]
name = "t"
source = "{source}"
{data}
[query]
sql = "{sql}"
[columns.x]
{x}
[release]
epsilon = 1e6
ledger = "l"
{more}
"""
RECORDS = 'protects = "records"'


def plan_in(
    folder: Path, source: str, sql: str, data: str = RECORDS, x: str = "bounds = [0, 9]", more: str = ""
) -> gp.Plan:
    Ledger.create(folder / "l", "t", Budget(Decimal(10**9)))
    return gp.loads_plan(PLAN.format(source=source, sql=sql, data=data, x=x, more=more), folder=folder)


def assert_refused(plan: gp.Plan, words: str) -> None:
    with pytest.raises(SourceError, match=words) as caught:
        gp.release(plan)
    assert "s3cr3t" not in str(caught.value)
    assert Ledger(plan.folder / "l").remaining("t").epsilon == 10**9


def test_a_person_that_cannot_be_read_is_found_unpaid(tmp_path: Path) -> None:
    """The column that tells persons apart is read as well, though no aggregate names it."""
    pq.write_table(pa.table({"x": [1.0], "who": bytes_as_text([b"s3cr3t\xff"])}), tmp_path / "t.parquet")
    persons = 'protects = "persons"\nperson = "who"\nmax_rows = 2'
    assert_refused(plan_in(tmp_path, "t.parquet", "SELECT SUM(x) AS s FROM t", persons), "cannot be read")


def test_a_broken_line_of_a_second_table_of_persons_is_found_unpaid(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,x\na,1\n")
    (tmp_path / "u.csv").write_text("who,z\na,1\ns3cr3t\n")
    persons = 'protects = "persons"\nperson = "who"\nmax_rows = 2'
    sql = "SELECT COUNT(*) AS n FROM t JOIN u ON t.who = u.who"
    more = '[tables.u]\nsource = "u.csv"\nperson = "who"'
    assert_refused(plan_in(tmp_path, "t.csv", sql, persons, more=more), "some line")


def test_no_refusal_quotes_the_labels_of_a_list(tmp_path: Path) -> None:
    """Labels that were made from the values stood in the type, and so in what was said of it."""
    with duckdb.connect(str(tmp_path / "t.duckdb")) as con:
        con.execute("CREATE TABLE raw AS SELECT * FROM (VALUES ('s3cr3t'), ('it''s s3cr3t), (s3cr3t'), ('a')) AS r(v)")
        con.execute("CREATE TYPE names AS ENUM (SELECT v FROM raw)")
        con.execute("CREATE TABLE t AS SELECT v::names AS x, [v::names] AS y, {'a': v::names, 'b': 1} AS z FROM raw")
    Ledger.create(tmp_path / "l", "t", Budget(Decimal(10**9)))
    refused, told = 0, list[str]()
    for column, kind in itertools.product("xyz", ("number", "label", "truth", "time", "person")):
        data = f'protects = "persons"\nperson = "{column}"\nmax_rows = 2' if kind == "person" else RECORDS
        tests = {"time": " > DATE '2020-01-01'", "label": " = 'a'", "number": " > 1", "truth": ""}
        where = "" if kind == "person" else f" WHERE {column}{tests[kind]}"
        text = PLAN.format(source="t.duckdb", sql=f"SELECT COUNT(*) AS n FROM t{where}", data=data, x="", more="")
        text = text.replace("[columns.x]", "" if kind == "person" else f'[columns.{column}]\nkind = "{kind}"')
        with open_engine(str(tmp_path / "t.duckdb"), "t") as engine:
            assert "s3cr3t" not in repr(engine.types())
        try:
            gp.release(gp.loads_plan(text, folder=tmp_path))
        except GuessproofError as error:
            refused += isinstance(error, SourceError)
            told.append(str(error))
    assert "s3cr3t" not in " ".join(told)
    assert refused > 8


def test_times_with_zones_are_moments_in_any_unit(tmp_path: Path) -> None:
    """Nanoseconds too, which is what pandas and its Parquet files mostly hold."""
    moments = [datetime.datetime(2020, 1, 1, hour, tzinfo=datetime.UTC) for hour in (0, 5, 23)]
    sql = "SELECT COUNT(*) AS n FROM t WHERE x >= TIMESTAMP '2020-01-01 05:00:00'"
    for unit in ("s", "ms", "us", "ns"):
        folder = tmp_path / unit
        folder.mkdir()
        plan = plan_in(folder, "t.parquet", sql, x='kind = "time"')
        frame = pa.table({"x": pa.array(moments, pa.timestamp(unit, "America/New_York"))})
        (answer,) = gp.release(plan, source=frame).answers
        assert answer.value == pytest.approx(2, abs=0.01), unit
