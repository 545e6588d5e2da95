"""The whole road on PostgreSQL: choose, release, audit, scan, report; and whatever goes wrong after the charge."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import commands
import psycopg
import pytest
from servers import Place

import guessproof as gp
from guessproof import addresses
from guessproof.engines.postgres import Postgres
from guessproof.errors import EngineError, InfeasibleError, PlanError, SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import loads_plan
from guessproof.plan.identity import request_of

PASSWORD = "hunter2secret"
PLAN = """
[data]
name = "visits"
source = "env:DATABASE_URL"
table = "clinic_visits"
protects = "values"
[query]
sql = "SELECT ward, SUM(days) AS days FROM clinic_visits GROUP BY ward"
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


@pytest.fixture
def place(postgres: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    postgres.con.execute("CREATE TABLE clinic_visits (id int, days numeric(5,1), ward varchar(3))")
    postgres.con.execute(
        "INSERT INTO clinic_visits SELECT i, (i * 7) % 70, CASE WHEN i % 3 = 0 THEN 'A' ELSE 'B' END "
        "FROM generate_series(1, 500) i"
    )
    url = postgres.role(f"USAGE ON SCHEMA {postgres.schema}", "SELECT ON clinic_visits", password=PASSWORD)
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.chdir(tmp_path)
    Ledger.create(tmp_path / "guessproof.ledger", "visits", Budget("1e9"))
    return postgres


def written(folder: Path, text: str = PLAN) -> str:
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return str(folder / "plan.toml")


def told(*words: str, code: int = 0) -> str:
    done = commands.run(*words)
    assert PASSWORD not in done.output
    assert done.returncode == code, done
    return done.output


def test_the_whole_road(place: Place, tmp_path: Path) -> None:
    plan = written(tmp_path)
    assert "belief after" in told("choose", plan, "--full")
    released = json.loads(told("release", plan, "--json"))
    assert len(released["answers"]) == 2
    assert json.loads(told("release", plan, "--json"))["answers"] == released["answers"]  # paid for once
    audited = " ".join(told("audit", plan, "--full", "--trials", "2000", "--seed", "1", "--seconds", "100000").split())
    assert "DuckDB in place of the plan's own database" in audited
    assert "Nothing more was found than was promised" in audited
    scanned = told("scan", plan, "--by", "ward", "--identities", "id", "--top", "3")
    assert "INTERNAL" in scanned
    told("report", plan, "-o", str(tmp_path / "report.html"))
    for file in tmp_path.iterdir():
        assert PASSWORD.encode() not in file.read_bytes(), file
    assert "env:DATABASE_URL" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_with_hardly_any_noise_the_answers_are_those_of_the_table(place: Place, tmp_path: Path) -> None:
    answers = gp.release(gp.load_plan(written(tmp_path, QUIET))).answers
    asked = (
        "SELECT SUM(LEAST(days, 60)), COUNT(*) FILTER (WHERE days > 30) FROM clinic_visits GROUP BY ward ORDER BY ward"
    )
    expected = [float(value) for row in place.con.execute(asked).fetchall() for value in row]
    assert [a.value for a in answers] == pytest.approx(expected, abs=0.01)


def after_the_charge(tmp_path: Path, **more: Any) -> None:
    """The failure says nothing, the charge stays, and asking again costs again."""
    plan = gp.load_plan(str(tmp_path / "plan.toml"))
    with pytest.raises(EngineError) as caught:
        gp.release(plan, **more)
    assert str(caught.value) == str(EngineError())
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    (charge,) = Ledger(tmp_path / "guessproof.ledger").account("visits").charges.values()
    assert charge.answer is None


def slow(place: Place, tmp_path: Path) -> None:
    """A view whose rows take their time, and whose dry run does not."""
    place.con.execute("CREATE VIEW slow AS SELECT * FROM clinic_visits WHERE pg_sleep(0.05) IS NOT NULL")
    place.con.execute("GRANT SELECT ON slow TO public")
    written(tmp_path, QUIET.replace("clinic_visits", "slow").replace('"values"', '"values"\ncopies = 1'))


def test_a_time_out_after_the_charge(place: Place, tmp_path: Path) -> None:
    slow(place, tmp_path)
    after_the_charge(tmp_path, timeout=3)  # the dry run must end in it, however busy the machine is


def test_a_connection_killed_after_the_charge(place: Place, tmp_path: Path, postgres_server: str) -> None:
    slow(place, tmp_path)
    killer = threading.Thread(target=kill, args=(postgres_server, place.schema))
    killer.start()
    after_the_charge(tmp_path, timeout=60)
    killer.join()


def kill(server: str, schema: str) -> None:
    """End whatever reads the slow view of this schema."""
    busy = "query LIKE '%%gp_asked' AND query LIKE '%%NOT MATERIALIZED%%' AND state = 'active'"
    busy += f" AND query LIKE '%%{schema}%%'"
    with psycopg.connect(server, autocommit=True) as con:
        while not con.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {busy}").fetchall():
            pass


def test_a_view_that_fails_on_its_rows(place: Place, tmp_path: Path) -> None:
    place.con.execute("CREATE VIEW broken AS SELECT days / (id - id) AS days, ward FROM clinic_visits")
    place.con.execute("GRANT SELECT ON broken TO public")
    written(tmp_path, QUIET.replace("clinic_visits", "broken").replace('"values"', '"values"\ncopies = 1'))
    after_the_charge(tmp_path)


def test_a_view_must_say_how_often_it_repeats_a_record(place: Place, tmp_path: Path) -> None:
    place.con.execute("CREATE VIEW twice AS SELECT * FROM clinic_visits UNION ALL SELECT * FROM clinic_visits")
    place.con.execute("GRANT SELECT ON twice TO public")
    with pytest.raises(SourceError, match="copies = N"):
        gp.release(gp.load_plan(written(tmp_path, QUIET.replace("clinic_visits", "twice"))))
    assert not Ledger(tmp_path / "guessproof.ledger").account("visits").charges


WRONG: dict[str, tuple[Callable[[Place], str], str]] = {
    "missing": (lambda _: "", "DATABASE_URL is not set"),
    "another": (lambda _: f"mysql://me:{PASSWORD}@host/db", "no address of a PostgreSQL database"),
    "unreachable": (lambda _: f"postgresql://me:{PASSWORD}@127.0.0.1:1/db", "cannot be reached"),
    "no right": (
        lambda place: place.role(f"USAGE ON SCHEMA {place.schema}", password=PASSWORD),
        "may not read the table",
    ),
    "no table": (lambda place: place.url.replace(place.schema, "pg_catalog"), "has no table 'clinic_visits'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_the_command_line_says_of_a_source(
    wrong: str, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, words = WRONG[wrong]
    monkeypatch.setenv("DATABASE_URL", address(place))
    said = " ".join(told("release", written(tmp_path, QUIET), code=2).split())
    assert words in said
    assert not Ledger(tmp_path / "guessproof.ledger").account("visits").charges


def test_a_schema_may_stand_before_the_table(place: Place, tmp_path: Path) -> None:
    name = f"{place.schema}.clinic_visits"
    plan = gp.load_plan(written(tmp_path, QUIET.replace("clinic_visits", name)))
    assert len(gp.release(plan).answers) == 4


class Dialled:
    """Connections are counted as they are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[Any] = []
        real = addresses._dial
        monkeypatch.setattr(addresses, "_dial", lambda url: self.made.append(real(url)) or self.made[-1])


def test_a_release_calls_the_server_once_while_it_chooses(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = Dialled(monkeypatch)
    plan = gp.load_plan(written(tmp_path, QUIET))
    gp.release(plan)
    (con,) = dialled.made
    assert con.closed
    gp.release(plan)  # a replay needs no server
    assert len(dialled.made) == 1


def test_a_plan_that_is_refused_leaves_no_connection(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = Dialled(monkeypatch)
    refused = PLAN + "[accuracy]\nwithin = 1e-6\n"  # no noise is so small and so safe
    with pytest.raises(InfeasibleError):
        gp.release(gp.load_plan(written(tmp_path, refused)))
    while not dialled.made or not dialled.made[0].closed:  # it is closed when it comes
        time.sleep(0.01)
    monkeypatch.delenv("DATABASE_URL")
    with pytest.raises(InfeasibleError):  # the plan is at fault first
        gp.release(gp.load_plan(written(tmp_path, refused)))


def test_the_engine_is_no_part_of_a_request() -> None:
    named = PLAN.replace('"env:DATABASE_URL"', '"env:DATABASE_URL"\nengine = "postgres"')
    assert request_of(loads_plan(named)) == request_of(loads_plan(PLAN))
    assert "engine" not in loads_plan(PLAN).canonical()


@pytest.mark.parametrize(
    ("source", "engine", "words"),
    [("env:DATABASE_URL", "duckdb", "reads files, not a database"), ("x.csv", "postgres", "not a file")],
)
def test_an_engine_that_cannot_read_the_source_is_refused(source: str, engine: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        loads_plan(PLAN.replace('"env:DATABASE_URL"', f'"{source}"\nengine = "{engine}"'))


def test_several_questions_see_one_state_of_the_table(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that arrive between the first question and the second are in neither answer."""
    head, _, rest = PLAN.partition("[query]")
    columns = "[columns.days]" + rest.partition("[columns.days]")[2].split("[attacker]")[0]
    asked = '[queries.long]\nsql = "SELECT COUNT(*) AS n FROM clinic_visits WHERE days > 30"\n'
    asked += '[queries.total]\nsql = "SELECT SUM(days) AS days FROM clinic_visits"\n'
    plan = loads_plan(f"{head}{asked}{columns}[release]\nepsilon = 1e7\n")
    before = place.con.execute("SELECT SUM(LEAST(days, 60)) FROM clinic_visits").fetchall()[0][0]
    whole, seen = Postgres.aggregates, list[str]()

    def late(self: Postgres, sql: str) -> list[Any]:
        found = whole(self, sql)
        seen.append(sql)
        if len(seen) == 1:
            place.con.execute("INSERT INTO clinic_visits SELECT i, 50, 'A' FROM generate_series(1, 200) i")
        return found

    monkeypatch.setattr(Postgres, "aggregates", late)
    answer = gp.release(plan)
    assert len(seen) == 2
    assert answer["total"].value == pytest.approx(float(before), abs=1)
    # The planted mistake: without a snapshot the second question sees them.
    monkeypatch.setattr(Postgres, "snapshot", lambda self: nullcontext())
    seen.clear()
    again = gp.release(loads_plan(f"{head}{asked}{columns}[release]\nepsilon = 2e7\n"))
    assert (again["total"].value or 0.0) > float(before) + 200 * 50 + 1000
