"""Dry runs, aggregates, time-outs, streams, and failures that say nothing."""

from __future__ import annotations

import logging
import subprocess
import sys
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


def test_the_room_is_entered_without_loading_duckdb() -> None:
    program = "import sys, guessproof.engines; sys.exit('duckdb' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
