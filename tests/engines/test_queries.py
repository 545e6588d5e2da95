"""Dry runs, aggregates, time-outs, streams, and failures that say nothing."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import traceback
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from engines.tables import FORMS, opened, write
from guessproof.engines import open_engine
from guessproof.errors import EngineError, SourceError

SECRET = "s3cr3t4711"
ROWS: list[dict[str, Any]] = [{"x": float(place), "n": place, "s": SECRET} for place in range(5)]
GOOD = (
    "SELECT COUNT(*), SUM(TRY_CAST(x AS DOUBLE)) FROM t",
    "SELECT s, COUNT(*) AS n FROM t GROUP BY s ORDER BY n LIMIT 3",
    "WITH a AS (SELECT x FROM t WHERE TRY_CAST(x AS DOUBLE) > 1) SELECT MAX(x) FROM a",
    "SELECT SUM(y), COUNT(y) FROM (SELECT CAST(CASE WHEN w BETWEEN 0 AND 9 THEN w END * 1024 AS BIGINT) AS y "
    "FROM (SELECT TRY_CAST(x AS DOUBLE) AS w FROM t) u) v",
    "SELECT COUNT(*) FROM t AS a WHERE a.s IN ('a', 'b') AND s NOT IN (SELECT '3')",
    "SELECT k, COUNT(t.x) FROM (VALUES ('a'), ('b')) AS keys(k) LEFT JOIN t ON t.s = k GROUP BY k",
    "SELECT COUNT(*) FROM T HAVING COUNT(*) > 0",
    "SELECT SUM(TRY_CAST(x AS DOUBLE)) FROM t UNION ALL SELECT MIN(TRY_CAST(x AS DOUBLE)) FROM t",
    "SELECT ABS(MIN(TRY_CAST(x AS DOUBLE))), 1 // COUNT(*), 1 % COUNT(*), "
    "EXTRACT(year FROM DATE '2020-01-01') FROM t WHERE s LIKE '%'",
)


@pytest.mark.parametrize("form", FORMS)
def test_good_queries_are_prepared_and_run(tmp_path: Path, form: str) -> None:
    with opened(tmp_path, ROWS, form, types={"x": "DOUBLE", "n": "DOUBLE", "s": "VARCHAR"}) as engine:
        for sql in GOOD:
            engine.prepare(sql)
            assert engine.aggregates(sql)
        assert engine.aggregates(GOOD[1]) == [(SECRET, 5)]
        assert engine.aggregates(GOOD[3]) == [(10240, 5)]


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT SUM(y) FROM t", "a column or a type"),
        ("SELECT SUM(s) FROM t", "a column or a type"),
        ("SELECT COUNT(*) FROM t WHERE s < 3", "a column or a type"),
        ("SELECT unheard(x) FROM t", "a function"),
        ("SELECT CAST('word' AS DOUBLE)", "a constant"),
        ("SELECT COUNT(*) FROM t WHERE x < 'word'", "some values"),
        ("SELECT COUNT(*) FROM t WHERE s = 3", "some values"),
        ("SELECT SUM(n * 2) FROM t", "some values"),
        ("SELECT SUM(CAST(x AS BIGINT)) FROM t", "some values"),
        ("SELECT SUM(ABS(n)) FROM t", "some values"),
        ("SELECT SUM(CAST(s AS DOUBLE)) FROM t", "some values"),
    ],
)
def test_what_cannot_run_is_found_before_the_charge(tmp_path: Path, sql: str, problem: str) -> None:
    with opened(tmp_path, ROWS, "parquet") as engine, pytest.raises(SourceError, match=problem) as caught:
        engine.prepare(sql)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("stored", "hidden"),
    [
        ("DOUBLE", "CASE WHEN isnan(c) THEN CAST(c AS BIGINT) END"),
        ("DOUBLE", "CASE WHEN c = 'inf' THEN CAST(c AS BIGINT) END"),
        ("DOUBLE", "CASE WHEN c = '-inf' THEN CAST(c AS BIGINT) END"),
        ("DOUBLE", "CASE WHEN isfinite(c) AND c > 0 THEN CAST(c AS BIGINT) END"),
        ("DOUBLE", "CASE WHEN c = 0 THEN error('zero') END"),
        ("DOUBLE", "CASE WHEN c IS NULL THEN error('null') END"),
        ("FLOAT", "CAST(c AS INTEGER)"),
        ("BIGINT", "CASE WHEN c > 0 THEN c + 1 END"),
        ("BIGINT", "CASE WHEN c < 0 THEN c - 1 END"),
        ("INTEGER", "CASE WHEN c > 0 THEN c * 2 END"),
        ("UTINYINT", "CAST(c AS TINYINT)"),
        ("UTINYINT", "c - 1::UTINYINT"),
        ("HUGEINT", "c + 1"),
        ("DECIMAL(4,2)", "CAST(c AS DECIMAL(3,2))"),
        ("VARCHAR", "CAST(c AS DOUBLE)"),
        ("VARCHAR", "CASE WHEN c = '' THEN error('empty') END"),
        ("BOOLEAN", "CASE WHEN NOT c THEN error('false') END"),
        ("DATE", "c + 1"),
        ("TIMESTAMP", "CAST(c AS TIMESTAMP_NS)"),
        ("TIME", "CASE WHEN c > TIME '12:00' THEN error('late') END"),
    ],
)
def test_hostile_rows_find_what_hides(tmp_path: Path, stored: str, hidden: str) -> None:
    with opened(tmp_path, [], "duckdb", types={"a": "DOUBLE", "c": stored}) as engine:
        engine.prepare("SELECT COUNT(c), MIN(c) FROM t")
        with pytest.raises(SourceError, match="some values"):
            engine.prepare(f"SELECT COUNT({hidden}) FROM t")


def test_preparing_does_not_depend_on_the_rows(tmp_path: Path) -> None:
    """The same answers on a table with rows that make queries fail, and on one without rows."""
    bad = [{"x": float("nan"), "n": 2**63 - 1, "s": "word"}]
    types = {"x": "DOUBLE", "n": "BIGINT", "s": "VARCHAR"}
    queries = [*GOOD, "SELECT SUM(n + 1) FROM t", "SELECT SUM(CAST(x AS BIGINT)) FROM t", "SELECT SUM(x) FROM t"]

    def judged(rows: list[dict[str, Any]]) -> list[str]:
        found: list[str] = []
        with opened(tmp_path, rows, "parquet", types=types) as engine:
            for sql in queries:
                try:
                    engine.prepare(sql)
                    found.append("fits")
                except SourceError as error:
                    found.append(str(error))
        return found

    assert judged(bad) == judged([])
    assert set(judged([])) > {"fits"}


def test_preparing_never_reads_the_table(tmp_path: Path) -> None:
    path = Path(write(tmp_path, ROWS, "csv"))
    with open_engine(str(path), "t") as engine:
        path.unlink()
        engine.prepare("SELECT COUNT(s) FROM t")
        assert list(engine.schema()) == ["x", "n", "s"]
        with pytest.raises(EngineError):
            engine.aggregates("SELECT COUNT(s) FROM t")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CAST(s AS DOUBLE)) FROM t",
        "SELECT COUNT(*) FROM t WHERE s = 3",
        "SELECT error(s) FROM t",
        "SELECT SUM(9223372036854775807 * n) FROM t",
        "SELECT SUM(missing) FROM t",
        "SELECT (SELECT x FROM t) FROM t",
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_a_failure_after_the_charge_says_nothing(
    tmp_path: Path, sql: str, form: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    sql = sql.replace("9223372036854775807 * n", "CAST(n + 1e30 AS BIGINT)") if form == "csv" else sql
    with open_engine(write(tmp_path, ROWS, form), "t") as engine:
        with pytest.raises(EngineError) as caught:
            engine.aggregates(sql)
        error = caught.value
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert (error.__cause__, error.__context__) == (None, None)
        assert str(error) == str(EngineError())
        assert SECRET not in shown + caplog.text + "".join(capfd.readouterr()) + repr(engine)
        assert "duckdb." not in repr(error.__traceback__)
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(5,)]  # one failure does not poison the next query


def test_a_query_is_stopped_when_its_time_is_over(tmp_path: Path) -> None:
    endless = "SELECT SUM(a.x * b.x + c.x) FROM t a, t b, t c, t d"
    before = threading.active_count()
    with opened(tmp_path, ROWS * 400, "parquet", timeout=0.2) as engine:
        with pytest.raises(EngineError):
            engine.aggregates(endless)
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(2000,)]
    assert threading.active_count() == before


def test_rows_are_streamed_in_batches(tmp_path: Path) -> None:
    rows = [{"x": float(place), "s": str(place % 7), 'q"q': place} for place in range(10_000)]
    for form in FORMS:
        with opened(tmp_path, rows, form) as engine:
            batches = list(engine.batches('SELECT "q""q", TRY_CAST(x AS DOUBLE) AS x FROM t', size=2048))
            assert len(batches) > 3
            assert max(batch.num_rows for batch in batches) <= 2048
            assert batches[0].schema.names == ['q"q', "x"]
            assert sum(sum(batch.column(1).to_pylist()) for batch in batches) == sum(range(10_000))
            for refused in ("SELECT nope FROM t", "SELECT * FROM other", "DROP TABLE t"):
                with pytest.raises(SourceError):
                    engine.batches(refused)


def test_two_streams_and_a_query_at_once(tmp_path: Path) -> None:
    with opened(tmp_path, [{"x": 1.0}] * 9000, "duckdb") as engine:
        first, second = (engine.batches("SELECT x FROM t", 1024) for _ in range(2))
        rows = next(first).num_rows + next(second).num_rows
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(9000,)]
        assert rows + sum(batch.num_rows for stream in (first, second) for batch in stream) == 18_000


def test_a_stream_that_breaks_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n" + SECRET + "\n")
    with open_engine(str(path), "t") as engine, pytest.raises(EngineError) as caught:
        list(engine.batches("SELECT a FROM t"))
    assert caught.value.__context__ is None


def test_exact_numbers_come_back_exact(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT 9223372036854775807 AS n, 1.25::DECIMAL(9,2) AS d FROM range(4)")
    with open_engine(str(path), "t") as engine:
        assert engine.aggregates("SELECT SUM(n), SUM(d) FROM t") == [(4 * (2**63 - 1), Decimal("5.00"))]


@pytest.mark.parametrize("table", ["t", "my table", 'q"uote', "it's", "ü", "select", "gp_source", "GP_TWIN", "x.y"])
@pytest.mark.parametrize("form", FORMS)
def test_any_table_name(tmp_path: Path, table: str, form: str) -> None:
    source = write(tmp_path, ROWS, form, table=table, name=f"file.{form}")
    with open_engine(source, table) as engine:
        sql = 'SELECT COUNT(*) FROM "' + table.replace('"', '""') + '"'
        engine.prepare(sql)
        assert engine.aggregates(sql) == [(5,)]


def test_the_room_is_entered_without_loading_duckdb() -> None:
    program = "import sys, guessproof.engines; sys.exit('duckdb' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
