"""Several questions in one release: one charge, one state of the table, one answer for each."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import commands
import jsonschema
import pytest

from guessproof.engines.duckdb import DuckDB
from guessproof.errors import BudgetError, EngineError, ParameterError, PlanError, RowsError
from guessproof.ledger import Ledger, verify
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import release
from guessproof.releasing.row_bounds import bound_rows
from guessproof.scanning import scan
from guessproof.schemas import schemas
from releasing.tables import COLUMNS, budget, table

QUESTIONS = {
    "mean": "SELECT AVG(time) AS m FROM t WHERE faculty = 'math'",
    "by_faculty": "SELECT faculty, COUNT(*) AS n, SUM(age) AS years FROM t GROUP BY faculty ORDER BY n DESC LIMIT 3",
    "size": "SELECT COUNT(*) AS n FROM t",
}
TRUE = {"mean": 22.83, "math": (3, 123), "size": 8}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table(tmp_path)
    budget(tmp_path, "3e7")
    return tmp_path


def plan(folder: Path, questions: dict[str, str] = QUESTIONS, *more: str, epsilon: float = 1e6, **data: Any) -> Plan:
    settings = {"name": "test", "source": "t.duckdb", "protects": "records", **data}
    head = "\n".join(f"{k} = {v!r}" if isinstance(v, str) else f"{k} = {v}" for k, v in settings.items())
    asked = "\n".join(f'[queries.{name}]\nsql = """{sql}"""' for name, sql in questions.items())
    text = f"[data]\n{head}\n{asked}\n{COLUMNS}\n" + "\n".join([*more, f"[release]\nepsilon = {epsilon}"])
    return loads_plan(text, folder=folder)


def test_every_question_is_answered_and_all_are_charged_once(folder: Path) -> None:
    answer = release(plan(folder))
    assert answer["mean"].value == pytest.approx(22.83, abs=0.01)
    assert answer["size"].value == 8
    rows = answer["by_faculty"].answers
    assert [(row.group["faculty"], row.name, round(row.value or 0)) for row in rows[:2]] == [
        ("math", "n", 3),
        ("math", "years", 123),
    ]
    assert len(rows) == 6
    (charge,) = Ledger(folder / "guessproof.ledger").account("test").charges.values()
    paid, drawn = Fraction(charge.cost.epsilon), sum(Fraction(float(n["epsilon"])) for n in answer.noise)
    assert drawn <= paid <= drawn * (1 + Fraction(1, 10**12))
    assert [n["questions"] for n in answer.noise] == [["mean"], ["mean"], ["by_faculty"], ["by_faculty"], ["size"]]
    assert charge.describe["query"].startswith("mean: SELECT AVG(time)")
    assert verify(folder / "guessproof.ledger").ok


def test_the_same_plan_replays_all_of_them(folder: Path) -> None:
    first = release(plan(folder))
    left = Ledger(folder / "guessproof.ledger").remaining("test").epsilon
    again = release(plan(folder, dict(reversed(QUESTIONS.items()))))
    assert again.replayed
    assert {**first.to_dict(), "replayed": True} == again.to_dict()
    assert Ledger(folder / "guessproof.ledger").remaining("test").epsilon == left


def test_a_number_that_two_questions_need_is_drawn_once(folder: Path) -> None:
    """Noise of its own in each would let their mean tell more than is charged."""
    sql = "SELECT SUM(age) AS years FROM t"
    answer = release(
        plan(folder, {"a": sql, "b": f"{sql} ORDER BY years", "c": "SELECT COUNT(*) AS n FROM t"}, epsilon=0.5)
    )
    assert answer["a"].value == answer["b"].value
    assert [n["questions"] for n in answer.noise] == [["a", "b"], ["c"]]


def test_a_question_more_is_another_request(folder: Path) -> None:
    release(plan(folder, {"size": QUESTIONS["size"], "mean": QUESTIONS["mean"]}))
    assert not release(plan(folder)).replayed


@pytest.mark.parametrize("fails_at", [1, 3])
def test_a_failure_after_the_charge_is_never_redrawn_free(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """Whichever question breaks: one constant message, nothing is shown, and asking again costs again."""
    asked: list[str] = []
    whole = DuckDB.aggregates

    def broken(self: DuckDB, sql: str) -> list[Any]:
        asked.append(sql)
        if len(asked) == fails_at:
            raise ValueError("SECRET")
        return whole(self, sql)

    monkeypatch.setattr(DuckDB, "aggregates", broken)
    with pytest.raises(EngineError) as caught:
        release(plan(folder))
    assert str(caught.value) == str(EngineError())
    monkeypatch.undo()
    assert not release(plan(folder)).replayed
    outcomes = [c.outcome for c in Ledger(folder / "guessproof.ledger").account("test").charges.values()]
    assert outcomes == ["failed", "answered"]


def test_all_questions_see_one_state_of_the_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every query runs inside the transaction that the first one opened."""
    states: list[Any] = []
    whole = DuckDB._run  # pyright: ignore[reportPrivateUsage]

    def seen(self: DuckDB, con: Any, sql: str) -> list[Any]:
        if con is self._con:  # pyright: ignore[reportPrivateUsage]
            states.append(con.execute("SELECT txid_current()").fetchall())
        return whole(self, con, sql)

    monkeypatch.setattr(DuckDB, "_run", seen)
    release(plan(folder))
    assert len(states) == 3
    assert states[0] == states[1] == states[2]


def test_too_small_a_budget_charges_nothing(folder: Path) -> None:
    with pytest.raises(BudgetError):
        release(plan(folder, epsilon=1e8))
    assert not Ledger(folder / "guessproof.ledger").account("test").charges


def test_each_question_has_rows_of_its_own(folder: Path) -> None:
    head = '[data]\nname = "test"\nsource = "t.duckdb"\nprotects = "values"\n'
    columns = COLUMNS.replace('"art"]', '"art"]\npublic = true').replace("[0, 120]", "[0, 120]\nmissing = false")
    asked = "[queries.math]\nsql = \"SELECT AVG(time) AS m FROM t WHERE faculty = 'math'\"\nrows = {}\n"
    asked += "[queries.cs]\nsql = \"SELECT AVG(time) AS m FROM t WHERE faculty = 'cs'\"\nrows = 2\n"
    text = head + asked + columns + "[release]\nepsilon = 1000000.0\n"
    answer = release(loads_plan(text.format(3), folder=folder))
    assert answer["math"].value == pytest.approx(22.83, abs=0.01)
    assert answer["cs"].value == pytest.approx(2.625, abs=0.01)
    with pytest.raises(RowsError):  # four students of mathematics there are not
        release(loads_plan(text.format(4), folder=folder))


def test_tables_and_files_have_the_questions_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(folder)
    answer = release(made)
    assert answer["by_faculty"].to_pandas().columns.tolist() == ["faculty", "n", "n_error", "years", "years_error"]
    with pytest.raises(ParameterError, match="a table for each question"):
        answer.to_pandas()
    with pytest.raises(ParameterError, match="its questions are mean, by_faculty, size"):
        answer["median"]
    assert answer._repr_html_().count("<table>") == 3  # pyright: ignore[reportPrivateUsage]
    assert "size.n=8" in repr(release(plan(folder, {"size": QUESTIONS["size"]})))
    told = answer.to_dict()
    assert [row["name"] for row in told["questions"]["by_faculty"]["answers"]] == ["n", "years"] * 3
    assert {row["question"] for row in told["answers"]} == set(QUESTIONS)


def test_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    asked = "\n".join(f'[queries.{name}]\nsql = """{sql}"""' for name, sql in QUESTIONS.items())
    head = '[data]\nname = "test"\nsource = "t.duckdb"\nprotects = "records"\n'
    Path("plan.toml").write_text(f"{head}{asked}\n{COLUMNS}\n[release]\nepsilon = 1000")
    run = lambda *words: commands.run(*words)  # noqa: E731
    chosen = json.loads(run("choose", "plan.toml", "--json").stdout)
    assert chosen["questions"]["size"]["sql"] == QUESTIONS["size"]
    released = json.loads(run("release", "plan.toml", "--json").stdout)
    for name, document in (("choose", chosen), ("release", released)):
        jsonschema.validate(document, {**schemas(), "$ref": f"#/$defs/{name}"})
    shown = run("release", "plan.toml", "-o", "out.csv").stdout
    assert all(f"{name}: SELECT" in shown for name in QUESTIONS)
    assert Path("out.csv").read_text().splitlines()[0].startswith("faculty,question,name,value")
    page = run_report(run)
    assert "by_faculty: answer of" in page
    head, _, rest = page.partition("In plain words</h2>")
    for name in ("mean.m", "size.n", "by_faculty.years (math)"):  # on the first screen, and for the board
        assert f"<dt>{name}</dt>" in head
        assert f"{name} = " in rest


def run_report(run: Any) -> str:
    done = run("report", "plan.toml", "-o", "report.html")
    assert done.returncode == 0, done.output
    return Path("report.html").read_text(encoding="utf-8")


def test_what_works_with_one_question_says_so(folder: Path) -> None:
    persons = plan(folder, protects="persons", person="id", max_rows=2)
    with pytest.raises(PlanError, match="works with one question, and this plan has several"):
        bound_rows(persons, epsilon=1.0)


def test_a_scan_judges_the_whole_publication(folder: Path) -> None:
    """The same advantages as for one SELECT with the same numbers."""
    prior = "\nprior = { uniform = { low = 0, high = 120 } }\nmissing = false"
    columns = COLUMNS.replace("bounds = [0, 120]", f"bounds = [0, 120]{prior}").replace(
        '"art"]', '"art"]\npublic = true'
    )
    head = '[data]\nname = "test"\nsource = "t.duckdb"\nprotects = "values"\n'
    rest = columns + '[attacker]\ngoal = "time within 5"\nadvantage = 0.2\n[release]\nepsilon = 2.0\n'
    many = '[queries.a]\nsql = "SELECT SUM(time) AS s FROM t"\n'
    many += '[queries.b]\nsql = "SELECT COUNT(*) AS n FROM t WHERE time > 20"\n'
    one = '[query]\nsql = "SELECT SUM(time) AS s, COUNT(*) FILTER (WHERE time > 20) AS n FROM t"\n'
    found = [scan(loads_plan(head + asked + rest, folder=folder)) for asked in (many, one)]
    assert found[0].quantiles == found[1].quantiles
    assert found[0].mean == found[1].mean
