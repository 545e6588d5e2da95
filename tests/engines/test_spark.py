"""Spark behind the protocol, through a real Spark Connect server: what is refused, what fails without a word."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from guessproof.addresses import read_address
from guessproof.engines import open_engine, spark_session, spark_tables
from guessproof.engines.base import Engine, SparkSource
from guessproof.engines.spark_query import find_fault
from guessproof.engines.spark_session import SETTINGS, open_remote
from guessproof.errors import EngineError, SourceError
from guessproof.testing.door import REFUSED

SECRET = "s3cr3t4711"
REMOTE = "env:SPARK_REMOTE"
TABLE = f"SELECT i::DOUBLE AS x, i AS n, '{SECRET}' AS s FROM range(5) AS r(i)"


def kept(folder: Path, sql: str, name: str = "kept.parquet") -> SparkSource:
    """The rows of a query of DuckDB in a file, as Spark's source."""
    with duckdb.connect() as con:
        con.execute(f"COPY ({sql}) TO '{folder / name}' (FORMAT {name.rpartition('.')[2]})")
    return SparkSource(str(folder / name), REMOTE)


@pytest.fixture
def engine(spark: str, tmp_path: Path) -> Iterator[Engine]:
    with open_engine(kept(tmp_path, TABLE), "t") as opened:
        yield opened


def refusal(source: SparkSource, table: str = "t", **more: Any) -> str:
    with pytest.raises(SourceError) as caught:
        open_engine(source, table, **more).close()
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "hunter2" not in shown
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    return str(caught.value)


# Queries.


def test_good_queries_are_prepared_and_run(engine: Engine) -> None:
    good = {
        "SELECT COUNT(*), MAX(x) FROM t": [(5, 4.0)],
        "SELECT s, COUNT(*) AS n FROM t GROUP BY s ORDER BY n LIMIT 3": [(SECRET, 5)],
        "WITH a AS (SELECT x AS y FROM t WHERE x > 1) SELECT MAX(y) FROM a": [(4.0,)],
        "SELECT k, COUNT(t.x) FROM (VALUES ('a'), ('b')) AS keys(k) LEFT JOIN t ON t.s = k GROUP BY k ORDER BY k": [
            ("a", 0),
            ("b", 0),
        ],
        "SELECT COUNT(*) FROM T HAVING COUNT(*) > 0": [(5,)],
        "SELECT MAX(x) FROM t UNION ALL SELECT MIN(x) FROM t ORDER BY 1 -- a remark": [(0.0,), (4.0,)],
        "SELECT SUM(CAST(n AS DECIMAL(38, 0)) * 9223372036854775807) FROM t": [(Decimal(10 * (2**63 - 1)),)],
    }
    for sql, expected in good.items():
        engine.prepare(sql)
        assert engine.aggregates(sql) == expected, sql
    assert dict(engine.schema()) == {"x": "number", "n": "number", "s": "text"}
    assert engine.is_stored


HARMFUL = [
    "SELECT reflect('java.lang.System', 'getenv', 'HOME')",
    "SELECT COUNT(*) FROM parquet.`/tmp`",
    "SELECT TRANSFORM (s) USING 'cat' AS (s) FROM t",
    "SELECT EXPLODE(ARRAY(1, 2))",
    "SELECT /*+ BROADCAST(t) */ COUNT(*) FROM t",
    "SELECT input_file_name() FROM t",
    "SELECT '${env:HOME}' FROM t LATERAL VIEW explode(array(1)) v AS y",
    "CREATE TABLE stolen AS SELECT * FROM t",
    "SELECT current_user()",
    "SHOW TABLES",
]


def test_what_cannot_run_is_found_before_the_charge(engine: Engine) -> None:
    hidden = ["SELECT SUM(n * 2) FROM t", "SELECT SUM(CAST(x AS bigint)) FROM t", "SELECT SUM(n) FROM t"]
    words = [
        ("SELECT SUM(y) FROM t", "a column or a type"),
        ("SELECT CAST('word' AS double)", "a constant"),
        ("SELECT SUM(CAST(s AS double)) FROM t", "some values"),
        *((sql, "some values") for sql in hidden),
    ]
    for sql, problem in [*words, *((sql, ".") for sql in (*REFUSED, *HARMFUL))]:
        with pytest.raises(SourceError, match=problem) as caught:
            engine.prepare(sql)
        assert caught.value.__context__ is None
        if find_fault(sql, "t"):
            with pytest.raises(EngineError):
                engine.aggregates(sql)
            with pytest.raises(SourceError):
                engine.batches(sql)
    for sql in HARMFUL:
        assert find_fault(sql, "t"), sql
    assert engine.aggregates("SELECT COUNT(*) FROM t") == [(5,)]


def test_preparing_does_not_depend_on_the_rows_and_never_reads_them(spark: str, tmp_path: Path) -> None:
    queries = ["SELECT SUM(n + 1) FROM t", "SELECT COUNT(x) FROM t", "SELECT MAX(s) FROM t", "SELECT SUM(n) FROM t"]

    def judged(sql: str) -> list[str]:
        found: list[str] = []
        source = kept(tmp_path, sql)
        with open_engine(source, "t") as engine:
            Path(str(source.files)).unlink()  # whoever reads it now fails
            for query in queries:
                try:
                    engine.prepare(query)
                    found.append("fits")
                except SourceError as error:
                    found.append(str(error))
            with pytest.raises(EngineError):
                engine.aggregates("SELECT MAX(x) FROM t")
        return found

    first = judged(f"SELECT 'nan'::DOUBLE AS x, 9223372036854775807 AS n, '{SECRET}' AS s")
    assert first == judged(f"{TABLE} WHERE false")
    assert first[1:3] == ["fits", "fits"]
    assert "some values" in first[0]


def test_a_failure_after_the_charge_says_nothing(
    engine: Engine, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    failing = [
        "SELECT SUM(CAST(s AS double)) FROM t",
        "SELECT SUM(9223372036854775807 * n) FROM t",
        "SELECT SUM(1 / (n - n)) FROM t",
        "SELECT SUM(missing) FROM t",
        "SELECT (SELECT x FROM t) FROM t",
        "DROP TABLE t",
    ]
    for sql in failing:
        with pytest.raises(EngineError) as caught:
            engine.aggregates(sql)
        error = caught.value
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert (error.__cause__, error.__context__) == (None, None)
        assert str(error) == str(EngineError())
        assert SECRET not in shown + caplog.text + "".join(capfd.readouterr()) + repr(engine)
        assert "://" not in shown + repr(engine) + repr(vars(engine))
    assert engine.aggregates("SELECT COUNT(*) FROM t") == [(5,)]  # one failure does not poison the next query


# Streams.


def test_rows_are_streamed_in_batches_several_at_once(spark: str, tmp_path: Path) -> None:
    with open_engine(kept(tmp_path, 'SELECT i AS "q""q", i::DOUBLE AS x FROM range(9000) r(i)'), "t") as engine:
        first, second = (engine.batches('SELECT `q"q`, x FROM t', 2048) for _ in range(2))
        begun = next(first)
        assert begun.schema.names == ['q"q', "x"]
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(9000,)]
        batches = [begun, *first]
        assert max(batch.num_rows for batch in batches) <= 2048
        assert sum(sum(batch.column(1).to_pylist()) for batch in batches) == sum(range(9000))
        next(second)
        close: Any = second
        close.close()
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(9000,)]


# Sources.


def test_any_table_name(spark: str, tmp_path: Path) -> None:
    source = kept(tmp_path, TABLE, "odd name.parquet")
    for table in ("my table", 'q"uote', "it's", "ü", "select", "gp_asked", "GP_hard", "x.y", "back`tick"):
        with open_engine(source, table) as engine:
            assert engine.aggregates(f"SELECT COUNT(*) FROM `{table.replace('`', '``')}`") == [(5,)]


def test_a_csv_file_is_read_as_duckdb_reads_it(spark: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('\ufeffx;s\n1;"a;""b"""\n;""\n nan ;"two\nlines"\n"3";  z \n', encoding="utf-8")
    found: list[list[tuple[Any, ...]]] = []
    for source in (str(path), SparkSource(str(path), REMOTE), SparkSource(str(path))):
        if isinstance(source, SparkSource) and source.remote is None:
            continue  # that is another process's to try
        with open_engine(source, "t") as engine:
            assert dict(engine.types()).keys() == {"x", "s"}
            engine.check()
            found.append(engine.aggregates("SELECT x, s FROM t"))
    assert found[0] == found[1]
    (tmp_path / "broken.csv").write_text(f"a,b\n1,2\n{SECRET}\n", encoding="utf-8")
    with open_engine(SparkSource(str(tmp_path / "broken.csv"), REMOTE), "t") as engine:
        with pytest.raises(SourceError, match="some line") as caught:
            engine.check()
        assert SECRET not in str(caught.value)
    (tmp_path / "headless.csv").write_text("1.5,x\n2,y\n", encoding="utf-8")
    assert "1.5" not in refusal(SparkSource(str(tmp_path / "headless.csv"), REMOTE))


def test_files_that_are_none(spark: str, tmp_path: Path) -> None:
    assert "cannot read it" in refusal(SparkSource(str(tmp_path / "nowhere.parquet"), REMOTE))
    (tmp_path / "text.parquet").write_text(SECRET)
    assert SECRET not in refusal(SparkSource(str(tmp_path / "text.parquet"), REMOTE))
    assert "DuckDB's files" in refusal(SparkSource("x.duckdb", REMOTE))


def test_tables_and_views_of_the_catalogue(spark: str, tmp_path: Path) -> None:
    own = open_remote(read_address(REMOTE, what="remote", server=_spark_kind()))
    run = own.session.sql
    try:
        run("CREATE DATABASE IF NOT EXISTS clinic").collect()
        run("CREATE OR REPLACE TEMPORARY VIEW passing AS SELECT 1 AS x").collect()
        run("DROP TABLE IF EXISTS clinic.visits").collect()
        run("CREATE TABLE clinic.visits (x DOUBLE, c CHAR(3), u STRING COLLATE UNICODE_CI) USING parquet").collect()
        run("INSERT INTO clinic.visits VALUES (1, 'a', 'A'), (2, 'b', 'b')").collect()
        run("CREATE OR REPLACE VIEW clinic.seen AS SELECT * FROM clinic.visits").collect()
        for name in ("clinic.visits", "spark_catalog.clinic.visits", "CLINIC.Visits"):
            with open_engine(SparkSource(None, REMOTE), name) as engine:
                assert engine.is_stored
                assert dict(engine.types()) == {"x": "double", "c": "char(3)", "u": "string collate UNICODE_CI"}
                assert engine.aggregates(f"SELECT COUNT(*) FROM `{name}`") == [(2,)]
        with open_engine(SparkSource(None, REMOTE), "clinic.seen") as engine:
            assert not engine.is_stored
        assert "has no such table" in refusal(SparkSource(None, REMOTE), "clinic.nothing")
    finally:
        run("DROP DATABASE clinic CASCADE").collect()
        own.close()


def _spark_kind() -> Any:
    from guessproof.addresses import SPARK

    return SPARK


def test_the_session_is_ours_whatever_the_clusters_habits_are(engine: Engine) -> None:
    session: Any = engine
    held = session._own.session.conf.getAll
    assert {key: held[key] for key in SETTINGS} == SETTINGS  # the server's own are not ANSI, and not UTC
    session._own.session.conf.set("spark.sql.ansi.enabled", "false")
    assert engine.aggregates("SELECT CAST('x' AS DOUBLE)") == [(None,)]  # what it would be without


def test_an_address_that_is_missing_wrong_or_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOWHERE", raising=False)
    source = SparkSource(None, "env:NOWHERE")
    assert "NOWHERE is not set" in refusal(source)
    for wrong in ("spark://me:hunter2@host:7077", "hunter2"):
        monkeypatch.setenv("NOWHERE", wrong)
        assert "no address of a Spark Connect server" in refusal(source)
    monkeypatch.setenv("NOWHERE", "sc://127.0.0.1:1/;token=hunter2")
    assert "cannot be reached" in refusal(source)


def test_what_is_missing_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NOWHERE", "sc://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert "pip install 'guessproof[spark]'" in refusal(SparkSource(None, "env:NOWHERE"))
    monkeypatch.delitem(sys.modules, "pyspark")
    monkeypatch.setattr(spark_session, "_KEPT", [])
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "openjdk-17-jre-headless" in refusal(SparkSource(None))
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_1\"' >&2\n")
    old.chmod(0o755)
    assert "Java 8 is too old" in refusal(SparkSource(None))


def test_a_file_that_was_written_anew_is_told_from_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"one")
    assert spark_tables.files_state([path]) is None  # a second write could bear the same time
    monkeypatch.setattr(spark_tables, "SETTLED", -60.0)
    first = spark_tables.files_state([path])
    assert first is not None
    assert first == spark_tables.files_state([path])
    times = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert spark_tables.files_state([path]) != first
    assert spark_tables.files_state([path, tmp_path]) is None
    assert spark_tables.files_state([tmp_path / "none.parquet"]) is None
