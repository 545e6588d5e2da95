"""Spark without a server, scans on its workers and frames of a remote session."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from releasing.test_public_values import find_differences
from releasing.test_spark import HERE, QUIET, text, values

import guessproof as gp
from guessproof.addresses import SPARK, read_address
from guessproof.engines import open_engine
from guessproof.engines.base import SparkSource
from guessproof.engines.spark_session import open_remote
from guessproof.errors import SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import loads_plan


def test_a_scan_by_groups_with_identities_is_the_same_on_workers(folder: Path) -> None:
    there = loads_plan(text(folder), folder=folder)
    here = loads_plan(text(folder).replace(HERE, ""), folder=folder)
    found = [gp.scan(plan, by="ward", identities="id", top=3) for plan in (there, here)]
    assert found[0].groups == found[1].groups
    assert found[0].quantiles == found[1].quantiles
    assert [i.advantage for i in found[0].identified or ()] == [i.advantage for i in found[1].identified or ()]
    assert found[0].rows == 500


def test_frames_of_a_remote_session(folder: Path) -> None:
    plan = loads_plan(text(folder, QUIET), folder=folder)
    here = gp.release(plan, ledger=_book_named(folder, "here"))
    own = open_remote(read_address("env:SPARK_REMOTE", what="remote", server=SPARK))
    try:
        own.session.conf.set("spark.sql.ansi.enabled", "false")
        own.session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        frame = own.session.read.parquet(str(folder / "visits.parquet"))
        assert values(gp.release(plan, source=frame, ledger=_book_named(folder, "frame"))) == values(here)
        held = own.session.conf.getAll  # as it was before
        assert (held["spark.sql.ansi.enabled"], held["spark.sql.session.timeZone"]) == ("false", "Asia/Tokyo")
        assert not [table for table in own.session.catalog.listTables() if table.name.startswith("gp_")]
        with pytest.raises(SourceError, match="copies"):
            gp.release(plan, source=frame.filter("days > 0"), ledger=_book_named(folder, "query"))
        scanned = gp.scan(loads_plan(text(folder), folder=folder), source=frame)
        assert scanned.rows == 500
    finally:
        own.close()


def _book_named(folder: Path, name: str) -> Path:
    path = folder / f"{name}.ledger"
    Ledger.create(path, "visits", Budget("1e9"))
    return path


CLASSIC = """
import sys, pathlib
import pyarrow as pa, pyarrow.parquet as pq
import guessproof as gp
from guessproof.engines import spark_tables
from guessproof.engines.base import SparkSource, open_engine
from guessproof.errors import EngineError

folder = pathlib.Path(sys.argv[1])
plan = gp.load_plan(folder / "plan.toml")
here = gp.release(plan)
source = str(folder / "odd [name] {a} *.parquet")
with open_engine(SparkSource(source), "t", timeout=100) as engine:
    assert engine.aggregates("SELECT COUNT(*) FROM t") == [(500,)]
    years = "SELECT MAX(a.id) FROM t a, t b, t c, t d WHERE a.id + b.id + c.id + d.id < 0"
    engine._own.session.conf.set("spark.sql.parquet.columnarReaderBatchSize", "1")  # how often a task looks up
    engine._timeout = 1
    for sql in ("SELECT SUM(CAST(ward AS INT)) FROM t", years):
        try:
            engine.aggregates(sql)
        except EngineError as error:
            assert str(error) == str(EngineError()) and error.__context__ is None
        else:
            raise AssertionError(sql)
    engine._timeout = 100
    assert sum(batch.num_rows for batch in engine.batches("SELECT id FROM t", 100)) == 500
    session = engine._own.session
    frame = session.read.parquet(str(folder / "visits.parquet"))
    other = gp.release(plan, source=frame, ledger=folder / "other.ledger")
    assert [round(a.value, 2) for a in other.answers] == [round(a.value, 2) for a in here.answers]
    assert gp.scan(gp.load_plan(folder / "scan.toml"), source=frame).rows == 500
# The session is used again while it is as it was settled; what is known of a file holds while the file stays.
assert any(source in str(state) for state in spark_tables._SCHEMAS)
pq.write_table(pa.table({"id": ["a"]}), source)
with open_engine(SparkSource(source), "t") as again:
    assert again._own.session is session
    assert again.types() == {"id": "string"}
    assert again.aggregates("SELECT MAX(id) FROM t") == [("a",)]
    again.prepare("SELECT MAX(id) FROM t")
    assert again._own.tried
session.conf.set("spark.sql.ansi.enabled", "false")
with open_engine(SparkSource(source), "t") as anew:
    assert anew._own.session is not session and not anew._own.tried
    assert anew._own.session.conf.get("spark.sql.ansi.enabled") == "true"
print("done")
"""


def test_a_classic_session_of_this_machine_is_silent(folder: Path) -> None:
    """Started by the engine itself; nothing that the JVM says is heard, not even of failures that quote values."""
    quiet = text(folder, QUIET).replace('remote = "env:SPARK_REMOTE"\n', "").replace(f"{folder}/", "")
    (folder / "plan.toml").write_text(quiet, encoding="utf-8")
    (folder / "scan.toml").write_text(text(folder), encoding="utf-8")
    (folder / "odd [name] {a} *.parquet").write_bytes((folder / "visits.parquet").read_bytes())
    Ledger.create(folder / "other.ledger", "visits", Budget("1e12"))
    (folder / "guessproof.ledger").unlink()
    Ledger.create(folder / "guessproof.ledger", "visits", Budget("1e12"))
    own = {key: value for key, value in os.environ.items() if key != "SPARK_REMOTE"}
    own["PYSPARK_SUBMIT_ARGS"] = '--driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" pyspark-shell'
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CLASSIC), str(folder)],
        env=own,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("done")
    assert done.stderr == ""


def test_spark_tells_python_what_its_queries_compute_with(spark: str) -> None:
    columns = "c0 FLOAT, c1 DOUBLE, c2 DECIMAL(9, 2), c3 CHAR(4), c4 VARCHAR(9), c5 STRING, c6 BIGINT, c7 DATE"
    held = "0.1, 0.1, 0.1, '0.1', ' a ', 'A', 9007199254740993, DATE '2020-02-29'"
    session = open_remote(read_address("env:SPARK_REMOTE", what="remote", server=SPARK)).session
    session.sql("CREATE TABLE told_t (grade STRING) USING parquet").collect()
    session.sql(f"CREATE TABLE p (id INT, {columns}) USING parquet").collect()
    try:
        session.sql(f"INSERT INTO p VALUES (1, {held})").collect()
        source = SparkSource(None, "env:SPARK_REMOTE")
        with open_engine(source, "told_t", public={"p": None}) as engine:
            assert not find_differences(engine)
    finally:
        for table in ("told_t", "p"):
            session.sql(f"DROP TABLE {table}").collect()
