"""The whole road on Spark: choose, release, replay, audit, scan, frames; through a server, and once without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import guessproof as gp
from guessproof.addresses import SPARK, read_address
from guessproof.cli.app import app
from guessproof.engines.spark_session import SETTINGS, open_remote
from guessproof.errors import EngineError, PlanError, SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import loads_plan
from guessproof.plan.identity import request_of

PLAN = """
[data]
name = "visits"
engine = "spark"
remote = "env:SPARK_REMOTE"
source = "FOLDER/visits.parquet"
table = "visits"
protects = "values"
[query]
sql = "SELECT ward, SUM(days) AS days FROM visits GROUP BY ward"
[columns.days]
bounds = [0, 60]
prior = { exponential = { scale = 6 } }
[columns.ward]
levels = ["A", "B"]
public = true
[attacker]
goal = "days within 1"
advantage = 0.1
"""
LONG = "SUM(days) AS days, COUNT(*) FILTER (WHERE days > 30) AS long"
QUIET = PLAN.split("[attacker]")[0].replace("SUM(days) AS days", LONG) + "[release]\nepsilon = 1e7\n"
ROWS = """
SELECT i AS id, ((i * 7) % 70)::DECIMAL(5, 1) AS days, CASE WHEN i % 3 = 0 THEN 'A' ELSE 'B' END AS ward,
  i % 40 AS person
FROM range(1, 501) AS r(i)
"""
HERE = 'engine = "spark"\nremote = "env:SPARK_REMOTE"\n'


@pytest.fixture
def folder(spark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with duckdb.connect() as con:
        con.execute(f"COPY ({ROWS}) TO '{tmp_path / 'visits.parquet'}'")
    monkeypatch.chdir(tmp_path)
    Ledger.create(tmp_path / "guessproof.ledger", "visits", Budget("1e9"))
    return tmp_path


def text(folder: Path, plan: str = PLAN) -> str:
    return plan.replace("FOLDER", str(folder))


def told(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=True)
    shown = done.output + str(done.exception or "")
    assert "sc://" not in shown
    assert done.exit_code == code or (code and done.exception), shown
    return shown


def values(answer: Any) -> list[tuple[Any, ...]]:
    return sorted((str(a.group), a.name, round(a.value, 2)) for a in answer.answers)


def test_the_whole_road(folder: Path) -> None:
    (folder / "plan.toml").write_text(text(folder), encoding="utf-8")
    plan = str(folder / "plan.toml")
    assert "belief after" in told("choose", plan)
    released = json.loads(told("release", plan, "--json"))
    assert len(released["answers"]) == 2
    assert json.loads(told("release", plan, "--json"))["answers"] == released["answers"]  # paid for once
    scanned = json.loads(told("scan", plan, "--json"))
    (folder / "plan.toml").write_text(text(folder).replace(HERE, ""), encoding="utf-8")
    here = json.loads(told("scan", plan, "--json"))
    assert {k: v for k, v in scanned.items() if k != "head"} == {k: v for k, v in here.items() if k != "head"}
    audited = " ".join(told("audit", plan, "--trials", "2000", "--seed", "1").split())
    assert "the engine" in audited


def test_a_scan_by_groups_with_identities_is_the_same_on_workers(folder: Path) -> None:
    there = loads_plan(text(folder), folder=folder)
    here = loads_plan(text(folder).replace(HERE, ""), folder=folder)
    found = [gp.scan(plan, by="ward", identities="id", top=3) for plan in (there, here)]
    assert found[0].groups == found[1].groups
    assert found[0].quantiles == found[1].quantiles
    assert [i.advantage for i in found[0].identified or ()] == [i.advantage for i in found[1].identified or ()]
    assert found[0].rows == 500


def test_workers_without_guessproof_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guessproof.engines.spark.__version__", "99")
    with pytest.raises(SourceError, match="install guessproof 99 there"):
        gp.scan(loads_plan(text(folder), folder=folder))


def test_nearly_no_noise_gives_the_same_answer_as_duckdb(folder: Path) -> None:
    """Values, persons, ranks, joins with public tables, groups of groups: one question each."""
    (folder / "wards.csv").write_text("ward,rate\nA,0.5\nB,2\n", encoding="utf-8")
    person = 'protects = "persons"\nperson = "person"\nmax_rows = 3'
    joined = '[tables.wards]\nsource = "wards.csv"\nkey = ["ward"]\n[tables.wards.columns.rate]\nbounds = [0.5, 2]\n'
    plain = "SELECT ward, " + LONG + " FROM visits GROUP BY ward"
    plans = [
        QUIET,
        QUIET.replace('protects = "values"', person).replace("\npublic = true", ""),
        QUIET.replace(plain, "SELECT SUM(days * rate) AS rated FROM visits JOIN wards USING (ward)") + joined,
        QUIET.replace(plain, "SELECT ward, MEDIAN(days) AS middle FROM visits GROUP BY ward").replace(
            "bounds = [0, 60]", "bounds = [0, 60]\nstep = 1"
        ),
        QUIET.replace(plain, "SELECT MAX(s) AS most FROM (SELECT ward, SUM(days) AS s FROM visits GROUP BY ward) AS g"),
    ]
    for number, plan in enumerate(plans):
        own = text(folder, plan).replace('name = "visits"', f'name = "visits{number}"')
        Ledger.create(folder / "guessproof.ledger", f"visits{number}", Budget("1e9"))
        found = [
            gp.release(loads_plan(t, folder=folder), ledger=_book(folder, number, place))
            for place, t in enumerate((own, own.replace(HERE, "")))
        ]
        assert values(found[0]) == values(found[1]), plan


def _book(folder: Path, number: int, place: int) -> Path:
    """A ledger of one's own, for the same request of another engine would be replayed."""
    path = folder / f"own{number}{place}.ledger"
    Ledger.create(path, f"visits{number}", Budget("1e9"))
    return path


def test_which_engine_reads_changes_no_request_but_where_it_runs_does(folder: Path) -> None:
    here = text(folder).replace(HERE, "")
    local = here.replace('name = "visits"', 'name = "visits"\nengine = "spark"')
    first, second, third = (request_of(loads_plan(t, folder=folder)) for t in (here, local, text(folder)))
    assert first == second != third


def test_a_failure_after_the_charge_is_one_constant_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from guessproof.engines.spark import Spark

    plan = loads_plan(text(folder), folder=folder)
    monkeypatch.setattr(Spark, "_run", _failing(Spark._run))
    with pytest.raises(EngineError) as caught:
        gp.release(plan)
    assert str(caught.value) == str(EngineError())
    assert Ledger(folder / "guessproof.ledger").remaining("visits").to_dict()["epsilon"] < 1e9


def _failing(run: Any) -> Any:
    def failing(self: Any, stand_in: Any, sql: str) -> Any:
        if stand_in.__name__ == "_whole":
            return self._own.ask("SELECT 1 / CAST('s3cret' AS INT)", None)
        return run(self, stand_in, sql)

    return failing


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


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('source = "x.parquet"', "has a meaning only with Spark"),
        ('source = "env:DATABASE_URL"\nengine = "spark"', "names a database"),
        ('source = "s3a://me:hunter2@bucket/x"\nengine = "spark"', "a password must not stand in a plan"),
        ('engine = "spark"\nremote = "sc://host/;token=hunter2"', "must not stand in a plan"),
        ('engine = "duckdb"', "is missing"),
    ],
)
def test_plans_that_cannot_be_meant(line: str, problem: str) -> None:
    remote = "" if "remote" in line or "duckdb" in line else 'remote = "env:SPARK_REMOTE"\n'
    plan = PLAN.replace(HERE, remote).replace('source = "FOLDER/visits.parquet"', line)
    with pytest.raises(PlanError, match=problem) as caught:
        loads_plan(plan)
    assert "hunter2" not in str(caught.value)


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


def test_settings_are_of_spark_alone() -> None:
    assert all(key.startswith("spark.sql.") for key in SETTINGS)
