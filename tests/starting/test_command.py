"""`guessproof init` as it is typed; the table's values are never asked for."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path
from typing import Any

import commands
import pytest
from servers import Place

import guessproof as gp
from guessproof import engines
from guessproof.addresses import SPARK, read_address
from guessproof.engines.base import SparkSource
from guessproof.engines.spark_session import open_remote
from guessproof.errors import ParameterError
from guessproof.starting import read_schema, write_plan
from starting.test_first_plan import load


class SchemaOnly:
    """An engine that knows its columns and breaks at any other question."""

    opened: list[tuple[str, str]]

    def __init__(self, source: str, table: str) -> None:
        SchemaOnly.opened = [(source, table)]

    def __enter__(self) -> SchemaOnly:
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def schema(self) -> dict[str, str]:
        return {"time": "number", "faculty": "text"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(engines, "open_engine", SchemaOnly)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> commands.Done:
    return commands.run("init", *words)


def test_only_the_schema_is_read(folder: Path) -> None:
    done = run("cafeteria.csv", "--prior", "half between 10 and 30")
    assert done.returncode == 0, done.output
    assert SchemaOnly.opened == [("cafeteria.csv", "t")]
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    assert "mean = 20, sd = 14.8260" in text
    assert "faculty" not in text  # a first line may be a record: nothing of it is repeated that nobody named
    assert "columns.time.bounds: the smallest and largest time that can occur" in done.output
    assert "Then: guessproof check plan.toml" in done.output


def test_an_injected_engine_is_used_and_closed() -> None:
    assert read_schema("x.csv", SchemaOnly) == {"time": "number", "faculty": "text"}


def test_without_a_table(folder: Path) -> None:
    done = run("--template", "covid-survey", "--preset", "open", "-o", "covid.toml", "--json")
    assert json.loads(done.output) == {"plan": "covid.toml", "blanks": []}
    done = run("--json", "--template", "average", "-o", "average.toml")
    blanks = json.loads(done.output)["blanks"]
    lines = (folder / "average.toml").read_text(encoding="utf-8").split("\n")
    assert [b["key"] for b in blanks] == ["data.rows", "columns.time.bounds", "columns.time.prior", "attacker.goal"]
    assert all('"?"' in lines[b["line"] - 1] for b in blanks)


def test_a_plan_is_never_replaced_unless_asked(folder: Path) -> None:
    (folder / "plan.toml").write_text("mine")
    done = run("--template", "survey")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert (folder / "plan.toml").read_text() == "mine"
    assert run("--template", "survey", "--force").returncode == 0
    assert "[risk]" in (folder / "plan.toml").read_text(encoding="utf-8")


def test_the_table_is_never_overwritten(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(table)
    for path in (table, tmp_path / "link.csv"):
        with pytest.raises(ParameterError, match="is the table itself"):
            write_plan(path, "text", force=True, table=str(table))
    assert table.read_text() == "a\n1\n"
    with pytest.raises(ParameterError, match="folder does not exist"):
        write_plan(tmp_path / "none" / "plan.toml", "text")


def test_a_table_that_cannot_be_opened_leaves_no_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("nothing.csv")
    assert done.returncode == 2
    assert not list(tmp_path.iterdir())


def test_a_real_csv_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("sex,height\nF,977531\n")
    done = run("people.csv", "--column", "height")
    assert done.returncode == 0, done
    assert "977531" not in done.output + (tmp_path / "plan.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("first", ["Canary,flu", "Canary", "Canary;flu;cold", "Canary\tflu"])
@pytest.mark.parametrize("words", [(), ("--column", "time"), ("--column", "canari"), ("--template", "location")])
def test_a_first_line_that_is_a_record_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(f"{first}\n{first.replace('Canary', 'Bob')}\n")
    done = run("people.csv", *words)
    shown = done.output + "".join(p.read_text() for p in tmp_path.glob("*.toml"))
    assert "canary" not in shown.casefold()
    assert "flu" not in shown


def test_the_tables_of_a_database_are_listed_by_name_and_one_is_picked(
    postgres_alone: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    con = postgres_alone.con
    empty = run("env:DATABASE_URL")
    assert empty.returncode == 2
    assert "GRANT USAGE" in empty.stderr
    con.execute("CREATE TABLE visits (days double precision, ward text)")
    con.execute("INSERT INTO visits VALUES (4711, 's3cr3t')")
    con.execute('CREATE VIEW "My Wards" AS SELECT ward FROM visits')
    con.execute("CREATE SCHEMA clinic CREATE TABLE stays (days double precision)")
    asked = run("env:DATABASE_URL")
    assert asked.returncode == 2
    assert "the database has My Wards, clinic.stays, visits" in asked.stderr
    assert "--table" in asked.stderr
    assert not (tmp_path / "plan.toml").exists()
    for name, data in (("visits", "visits"), ("clinic.stays", "stays")):
        done = run("env:DATABASE_URL", "--table", name, "--column", "days", "--force", "--json")
        assert done.returncode == 0, done.output
        text = (tmp_path / "plan.toml").read_text(encoding="utf-8")
        assert f'table = "{name}"' in text
        assert f'name = "{data}"' in text
        assert f"SELECT AVG(days) AS mean_days FROM {name}" in text
        assert "4711" not in text + done.output
        filled = text.replace('rows = "?"', "rows = 9").replace('bounds = "?"', "bounds = [0, 9]")
        filled = filled.replace('prior = "?"', 'prior = "unknown"').replace('goal = "?"', 'goal = "days within 2"')
        assert gp.choose(gp.loads_plan(filled, folder=tmp_path)).feasible
    missing = run("env:DATABASE_URL", "--table", "missing")
    assert missing.returncode == 2
    assert "no table 'missing'" in missing.stderr


# What Spark reads.


def data_of(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))["data"]


def test_files_that_spark_reads(folder: Path) -> None:
    (folder / "sub").mkdir()
    for words, expected in (
        (("visits.parquet",), {"source": "../visits.parquet"}),
        (("s3a://clinic/visits",), {"source": "s3a://clinic/visits"}),
        (("lake/visits", "--remote", "env:SPARK_REMOTE"), {"source": "lake/visits", "remote": "env:SPARK_REMOTE"}),
    ):
        done = run(*words, "--engine", "spark", "--force", "-o", "sub/plan.toml")
        assert done.returncode == 0, done
        assert SchemaOnly.opened == [(SparkSource(words[0], expected.get("remote")), "t")]
        found = data_of(folder / "sub" / "plan.toml")
        assert {"engine": "spark", "name": "visits", "table": "t", **expected}.items() <= found.items()
        assert ("remote" in found) == ("remote" in expected)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("x.csv", "--remote", "env:SPARK_REMOTE"), "only with Spark"),
        (("--engine", "spark", "--remote", "sc://host/;token=hunter2"), "kept in the environment"),
        (("x.csv", "--engine", "duckdb"), "leave it out"),
        (("env:DATABASE_URL", "--engine", "spark"), "names a database"),
        (("s3a://me:hunter2@bucket/x", "--engine", "spark"), "a password must not stand in a plan"),
    ],
)
def test_spark_that_cannot_be_meant(folder: Path, words: tuple[str, ...], problem: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert problem in done.stderr
    assert "hunter2" not in done.stderr


def test_the_tables_of_a_catalogue_are_listed_by_name_and_one_is_picked(
    spark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = ("--engine", "spark", "--remote", "env:SPARK_REMOTE")
    own = open_remote(read_address("env:SPARK_REMOTE", what="remote", server=SPARK))
    try:
        own.session.sql("CREATE DATABASE starting").collect()
        own.session.sql("CREATE TABLE starting.visits (days DOUBLE, ward STRING) USING parquet").collect()
        own.session.sql("INSERT INTO starting.visits VALUES (4711, 's3cr3t')").collect()
        own.session.sql("CREATE VIEW starting.wards AS SELECT ward FROM starting.visits").collect()
        asked = run(*there)
        assert asked.returncode == 2
        assert "starting.visits, starting.wards" in asked.stderr
        assert "--table" in asked.stderr
        assert not (tmp_path / "plan.toml").exists()
        done = run(*there, "--table", "starting.visits", "--column", "days")
        assert done.returncode == 0, done
    finally:
        own.session.sql("DROP DATABASE starting CASCADE").collect()
        own.close()
    text = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    assert "SELECT AVG(days) AS mean_days FROM starting.visits" in text
    assert "4711" not in text
    assert "s3cr3t" not in text
    found = data_of(tmp_path / "plan.toml")
    assert (found["engine"], found["remote"], found["table"]) == ("spark", "env:SPARK_REMOTE", "starting.visits")
    assert "source" not in found


@pytest.mark.parametrize("template", ["average", "count", "survey", "location", "membership"])
def test_columns_of_a_text_file_are_left_blank_and_the_plan_loads_once_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "salaries.csv").write_text("Canary,salary\nProf,1000\n")
    words = () if template == "average" else ("--template", template)
    done = run("salaries.csv", *words)
    assert done.returncode == 0, done.output
    text = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    assert "Canary" not in text + done.output
    assert "salary" not in text + done.output
    assert 'columns."?": the name of a column that is asked about' in done.output
    refused = commands.run("check", "plan.toml")
    assert refused.returncode == 2
    assert 'fill in columns."?"' in refused.stderr
    named = text.replace('"? 2"', "other").replace('[columns."?"]', "[columns.salary]").replace('"?" = ', "salary = ")
    assert load(named.replace("NAME2", "other").replace("NAME", "salary")).columns.keys() >= {"salary"}


def test_a_terminal_is_asked_which_column(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SchemaOnly, "schema", lambda _: {"salary": "text", "sex": "text"})

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(commands.io, "StringIO", Terminal)
    done = commands.run("init", "salaries.csv", typed="average\nsalary\n1\n1\n0, 120\n\nno idea\n2\n5 %\n\n")
    assert done.returncode == 0, done.output
    assert "One question at a time" in done.output
    assert "AVG(salary)" in (folder / "plan.toml").read_text(encoding="utf-8")


def test_a_column_is_not_picked_silently(folder: Path) -> None:
    assert "It asks about time; for another column add --column NAME --force." in run("people.parquet").output
