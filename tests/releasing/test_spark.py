"""The whole road on Spark: choose, release, replay, audit, scan, frames; through a server, and once without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import duckdb
import pytest

import guessproof as gp
from guessproof.engines.spark_session import SETTINGS
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
    done = commands.run(*words)
    assert "sc://" not in done.output
    assert done.returncode == code, done
    return done.output


def values(answer: Any) -> list[tuple[Any, ...]]:
    return sorted((str(a.group), a.name, round(a.value, 2)) for a in answer.answers)


def test_the_whole_road(folder: Path) -> None:
    (folder / "plan.toml").write_text(text(folder), encoding="utf-8")
    plan = str(folder / "plan.toml")
    assert "belief after" in told("choose", plan, "--full")
    released = json.loads(told("release", plan, "--json"))
    assert len(released["answers"]) == 2
    assert json.loads(told("release", plan, "--json"))["answers"] == released["answers"]  # paid for once
    scanned = json.loads(told("scan", plan, "--json"))
    (folder / "plan.toml").write_text(text(folder).replace(HERE, ""), encoding="utf-8")
    here = json.loads(told("scan", plan, "--json"))
    assert {k: v for k, v in scanned.items() if k != "head"} == {k: v for k, v in here.items() if k != "head"}
    audited = " ".join(told("audit", plan, "--full", "--trials", "2000", "--seed", "1", "--seconds", "100000").split())
    assert "the engine" in audited


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
        QUIET.replace('protects = "values"', person)
        .replace("\npublic = true", "")
        .replace(plain, "SELECT AVG(m) AS mean FROM (SELECT person, AVG(days) AS m FROM visits GROUP BY person) AS g"),
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


def test_settings_are_of_spark_alone() -> None:
    assert all(key.startswith("spark.sql.") for key in SETTINGS)
