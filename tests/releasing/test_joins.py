"""Public tables on the whole road: plan, choice, checks before the charge, answer, replay; on every kind of source."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from servers import Place

from guessproof.choosing import choose
from guessproof.engines import open_engine
from guessproof.errors import InfeasibleError, PlanError, SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import release
from guessproof.scanning import scan

PEOPLE = [(1000.0, "a"), (2000.0, "b"), (4000.0, "none"), (500.0, None), (99999.0, "a")]
GRADES = [("a", 1.0, "x"), ("b", 5.0, "y"), ("c", 1.0, "x")]
TRUE_PAY = 1000 * 1 + 2000 * 2 + 10000 * 1
PLAN = """
[data]
name = "staff"
source = "{source}"
protects = "values"
[query]
sql = "SELECT SUM(t.salary * p.rate) AS pay FROM t JOIN p ON t.grade = p.grade"
[columns.salary]
bounds = [0, 10000]
missing = false
prior = {{ normal = {{ mean = 2000, sd = 235.7 }} }}
[tables.p]
{beside}
key = ["grade"]
[tables.p.columns.rate]
bounds = [0.5, 2]
[attacker]
goal = "salary within 100"
at = {{ salary = 2000 }}
advantage = 0.1
[release]
mechanism = "laplace"
"""
QUIET = PLAN.partition("[attacker]")[2].format()
LOUD = "\n[release]\nepsilon = 1e8\n"


def write_csv(path: Path, names: str, rows: list[tuple[Any, ...]]) -> None:
    lines = [",".join("" if v is None else str(v) for v in row) for row in rows]
    path.write_text("\n".join([names, *lines]) + "\n")


def in_files(folder: Path, _: Any) -> tuple[str, str]:
    write_csv(folder / "staff.csv", "salary,grade", PEOPLE)
    write_csv(folder / "grades.csv", "grade,rate,side", GRADES)
    return "staff.csv", 'source = "grades.csv"'


def in_duckdb(folder: Path, _: Any) -> tuple[str, str]:
    with duckdb.connect(str(folder / "staff.duckdb")) as con:
        con.execute("CREATE TABLE t (salary DOUBLE, grade VARCHAR)")
        con.execute("CREATE TABLE p (grade VARCHAR, rate DOUBLE, side VARCHAR)")
        con.executemany("INSERT INTO t VALUES (?, ?)", PEOPLE)
        con.executemany("INSERT INTO p VALUES (?, ?, ?)", GRADES)
    return "staff.duckdb", ""


def in_postgres(_: Path, place: Any) -> tuple[str, str]:
    fill_postgres(place())
    return "env:DATABASE_URL", ""


def beside_postgres(folder: Path, place: Any) -> tuple[str, str]:
    fill_postgres(place())
    write_csv(folder / "grades.csv", "grade,rate,side", GRADES)
    return "env:DATABASE_URL", 'source = "grades.csv"'


def fill_postgres(found: Place) -> None:
    found.con.execute("CREATE TABLE t (salary double precision, grade text)")
    found.con.execute("CREATE TABLE p (grade text, rate double precision, side text)")
    with found.con.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", PEOPLE)
        cursor.executemany("INSERT INTO p VALUES (%s, %s, %s)", GRADES)


SOURCES = {"files": in_files, "duckdb": in_duckdb, "postgres": in_postgres, "file and postgres": beside_postgres}
Maker = Callable[[str], Plan]


@pytest.fixture
def make(tmp_path: Path, request: pytest.FixtureRequest) -> Maker:
    """The plan over one kind of source, with a large budget."""

    def made(kind: str) -> Plan:
        source, beside = SOURCES[kind](tmp_path, lambda: request.getfixturevalue("postgres"))
        Ledger.create(tmp_path / "guessproof.ledger", "staff", Budget("1e9"))
        return loads_plan(PLAN.format(source=source, beside=beside), folder=tmp_path)

    return made


def again(plan: Plan, old: str, new: str) -> Plan:
    """The plan as it is read anew, with something changed."""
    text = PLAN.format(source=plan.data.source, beside=_beside(plan))
    assert old in text
    return loads_plan(text.replace(old, new), folder=plan.folder)


def loud(plan: Plan) -> Plan:
    """The same with hardly any noise."""
    return again(plan, f"[attacker]{QUIET}", LOUD)


def _beside(plan: Plan) -> str:
    source = plan.file.tables["p"].source
    return "" if source is None else f'source = "{source}"'


@pytest.mark.parametrize("kind", SOURCES)
def test_the_whole_road(make: Maker, kind: str) -> None:
    plan = make(kind)
    assert choose(plan).noises[0].scale == pytest.approx(899.44, abs=0.01)
    first = release(loud(plan))
    assert first.answers[0].value == pytest.approx(TRUE_PAY, abs=1)
    assert release(loud(plan)).head == first.head, "replayed"


@pytest.mark.parametrize("kind", SOURCES)
def test_a_key_that_is_none_is_refused_before_a_charge(make: Maker, kind: str) -> None:
    plan = again(make(kind), 'key = ["grade"]', 'key = ["side"]')
    wrong = loads_plan(_text(plan).replace("t.grade = p.grade", "t.grade = p.side"), folder=plan.folder)
    with pytest.raises(SourceError, match=r"2 of its rows match one record.*max_matches = 2"):
        release(wrong)
    assert Ledger(plan.folder / "guessproof.ledger").remaining("staff").to_dict()["epsilon"] == 1e9


def _text(plan: Plan) -> str:
    return PLAN.format(source=plan.data.source, beside=_beside(plan)).replace('key = ["grade"]', 'key = ["side"]')


@pytest.mark.parametrize("kind", ["files", "duckdb", "postgres"])
def test_a_changed_public_table_is_a_new_request(make: Maker, kind: str, request: pytest.FixtureRequest) -> None:
    plan = loud(make(kind))
    first = release(plan)
    if kind == "files":
        write_csv(plan.folder / "grades.csv", "grade,rate,side", [("a", 2.0, "x"), ("b", 2.0, "y")])
    elif kind == "duckdb":
        with duckdb.connect(str(plan.folder / "staff.duckdb")) as con:
            con.execute("UPDATE p SET rate = 2")
    else:
        request.getfixturevalue("postgres").con.execute("UPDATE p SET rate = 2")
    second = release(loud(plan))
    assert second.head != first.head
    assert second.answers[0].value == pytest.approx(2 * (1000 + 2000 + 10000), abs=1)


def test_a_public_table_that_changes_under_way_is_seen(make: Maker) -> None:
    plan = loud(make("files"))
    write_csv(plan.folder / "grades.csv", "grade,rate,side", [("a", 2.0, "x")])
    with pytest.raises(SourceError, match="has changed since the plan was read"):
        release(plan)


@pytest.mark.parametrize("confidential", ["t", "people"])
def test_no_other_name_of_a_confidential_table_is_public(postgres: Place, confidential: str) -> None:
    """Neither the table nor a second one of the same persons, by its schema or in other capitals."""
    fill_postgres(postgres)
    postgres.con.execute("CREATE TABLE people (id integer, age integer)")
    (schema,) = postgres.con.execute("SELECT current_schema()").fetchone() or ("",)
    text = PLAN.format(source="env:DATABASE_URL", beside="").replace("[tables.p", f'[tables."{schema}.{confidential}"')
    text = text.replace('protects = "values"', 'protects = "persons"\nperson = "grade"\nmax_rows = 1')
    text += '[tables.people]\nperson = "id"\n'
    with pytest.raises(SourceError, match="shows rows of a confidential table"):
        _ = loads_plan(text).stored_digests


def test_a_public_table_that_changes_between_check_and_query_is_seen(postgres: Place) -> None:
    """What was checked is what is read: the query's own snapshot is compared."""
    fill_postgres(postgres)
    with open_engine("env:DATABASE_URL", "t", public={"p": None}) as engine:
        assert engine.ask_public('SELECT COUNT(*) FROM "p"') == [(3,)]
        postgres.con.execute("UPDATE p SET rate = 7 WHERE grade = 'a'")
        with pytest.raises(SourceError, match="changed meanwhile"):
            engine.aggregates('SELECT COUNT(*) FROM "t"')


def test_a_name_that_two_tables_have_is_refused(make: Maker) -> None:
    plan = again(make("files"), "t.salary * p.rate", "salary * rate")
    assert choose(plan).feasible
    write_csv(plan.folder / "staff.csv", "salary,grade,rate", [(*row, 1) for row in PEOPLE])
    with pytest.raises(SourceError, match=r"column rate may be t\.rate and p\.rate"):
        release(plan)


def test_a_scan_refuses_with_the_reason(make: Maker) -> None:
    with pytest.raises(InfeasibleError, match="this query joins others"):
        scan(make("files"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('key = ["grade"]', "", "nothing says how many of its rows can match"),
        ('key = ["grade"]', 'key = ["grade", "Grade"]', "names a column twice"),
        ('source = "grades.csv"', 'source = "staff.csv"', "is the table, which is confidential"),
        ('source = "grades.csv"', 'source = "nowhere.csv"', "there is no such file"),
        ('source = "grades.csv"', 'source = "env:DATABASE_URL"', "is no public file"),
        ('source = "grades.csv"', "", "there is no other table beside it"),
        ("[tables.p.columns.rate]\nbounds = [0.5, 2]", "[tables.p.columns.rate]\nbounds = [2, 0.5]", "must be below"),
        ("bounds = [0.5, 2]", 'bounds = [0.5, 2]\nprior = "unknown"', "needs no prior"),
        ("[tables.p]", "[tables.T]", "the protected table"),
    ],
)
def test_plans_that_cannot_be_meant(make: Maker, old: str, new: str, said: str) -> None:
    plan = make("files")
    text = PLAN.format(source=plan.data.source, beside=_beside(plan))
    changed = text.replace(old, new)
    changed = changed.replace("[tables.p.", "[tables.T.") if new == "[tables.T]" else changed
    with pytest.raises(PlanError, match=re.escape(said)):
        loads_plan(changed, folder=plan.folder)


def test_a_query_that_joins_nothing_reads_no_public_table(make: Maker) -> None:
    plan = again(
        make("files"), "SUM(t.salary * p.rate) AS pay FROM t JOIN p ON t.grade = p.grade", "SUM(salary) FROM t"
    )
    (plan.folder / "grades.csv").unlink()
    assert release(plan).answers


def test_a_name_that_a_public_file_has_is_asked_about_before_anything_is_opened(tmp_path: Path) -> None:
    (tmp_path / "wards.csv").write_text("ward,beds,rate\na,1,2\n", encoding="utf-8")
    text = """
    data = { name = "test", source = "none.csv", table = "t", protects = "records" }
    query.sql = "SELECT COUNT(*) AS n FROM t JOIN wards AS w ON t.ward = w.ward WHERE NAME > 3"
    columns.beds.bounds = [0, 9]
    tables.wards = { source = "wards.csv", key = ["ward"], columns.rate.bounds = [0, 5] }
    release.epsilon = 1
    """
    for name in ("beds", "BEDS"):  # declared for the one, and a column of the other: nobody can tell
        with pytest.raises(PlanError, match=r"write w\.beds"):
            choose(loads_plan(text.replace("NAME", name), folder=tmp_path))
    for name in ("rate", "w.beds", "t.beds", "height"):
        assert choose(loads_plan(text.replace("NAME", name), folder=tmp_path)).feasible
