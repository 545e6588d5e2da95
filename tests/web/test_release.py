"""From a table to a release: names only, a question that is checked, a cost that is named first and charged once."""

from __future__ import annotations

import copy
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from guessproof.ledger import Ledger
from guessproof.rounded import beside_error
from web.conftest import TABLE
from web.running import CAFETERIA, Served, serving


@pytest.fixture
def paid(tmp_path: Path) -> Iterator[Served]:
    """A page with a table and a budget of 5."""
    shutil.copy(TABLE, tmp_path / "cafeteria.csv")
    with serving(tmp_path) as found:
        body = {"state": CAFETERIA, "name": "cafeteria", "budget": "5"}
        assert found.ask("POST", "/api/budget/open", body)[0] == 201
        yield found


def spent(served: Served) -> float:
    return float(Ledger(served.shop.folder.root / "guessproof.ledger").standing("cafeteria").epsilon)


def asking(sql: str) -> dict[str, Any]:
    found = copy.deepcopy(CAFETERIA)
    found["query"]["sql"] = sql
    return found


PERSONS: dict[str, Any] = {
    "data": {"name": "lunches", "source": "cafeteria.csv", "protects": "persons", "person": "time", "max_rows": 2},
    "query": {"sql": "SELECT COUNT(*) AS n FROM t WHERE faculty = 'nowhere'"},
    "columns": {"faculty": {"levels": ["math", "nowhere"]}},
    "release": {"epsilon": 0.05, "ledger": "guessproof.ledger"},
}


def test_what_is_said_beside_an_answer_is_said_on_the_page(paid: Served) -> None:
    """The bias nobody knows, and which possible value is nearest to a negative count."""
    paid.ask("POST", "/api/budget/open", {"state": PERSONS, "name": "lunches", "budget": "50"})
    offered = paid.ask("POST", "/api/release/offer", {"state": PERSONS})[1]
    answer = paid.ask("POST", "/api/release", {"state": PERSONS, "offer": offered["offer"]})[1]
    (row,) = answer["answers"]
    assert answer["shown"]["notes"] == [f"{answer['bias_note']}."]
    assert "unknown, may exceed the stated error" in answer["bias_note"]
    assert answer["shown"]["rows"][0]["nearest"] == ("0" if row["value"] < 0 else "")


def test_a_release_is_charged_after_its_cost_was_confirmed(paid: Served) -> None:
    status, offer = paid.ask("POST", "/api/release/offer", {"state": CAFETERIA})
    assert status == 200
    assert offer["cost"] == "1.99716"
    assert (offer["fits"], offer["answered_before"]) == (True, False)
    assert spent(paid) == 0
    status, answer = paid.ask("POST", "/api/release", {"state": CAFETERIA, "offer": offer["offer"]})
    assert status == 200
    mean = answer["answers"][0]
    assert abs(mean["value"] - 20) < 15
    assert answer["shown"]["rows"][0]["value"] == beside_error(mean["value"], mean["error"])  # as the command prints it
    assert spent(paid) == pytest.approx(1.99715, rel=1e-5)
    again = paid.ask("POST", "/api/release/offer", {"state": CAFETERIA})[1]
    assert (again["cost"], again["answered_before"]) == ("0", True)
    replayed = paid.ask("POST", "/api/release", {"state": CAFETERIA, "offer": again["offer"]})[1]
    assert replayed["replayed"] is True
    assert replayed["answers"] == answer["answers"]
    assert spent(paid) == pytest.approx(1.99715, rel=1e-5)
    standing = paid.ask("POST", "/api/budget", {"state": CAFETERIA})[1]
    assert len(standing["charges"]) == 1


def test_two_tabs_cannot_spend_it_twice(paid: Served) -> None:
    other = copy.deepcopy(CAFETERIA)
    other["accuracy"]["within"] = 1.4
    first = paid.ask("POST", "/api/release/offer", {"state": CAFETERIA})[1]
    second = paid.ask("POST", "/api/release/offer", {"state": other})[1]
    assert paid.ask("POST", "/api/release", {"state": CAFETERIA, "offer": first["offer"]})[0] == 200
    before = spent(paid)
    status, refused = paid.ask("POST", "/api/release", {"state": other, "offer": second["offer"]})
    assert status == 409
    assert "changed" in refused["error"]["problem"]
    assert refused["error"]["charged"] is False
    assert spent(paid) == before
    assert paid.ask("POST", "/api/release", {"state": CAFETERIA, "offer": first["offer"]})[0] == 409  # used


def test_an_offer_is_for_one_plan_only(paid: Served) -> None:
    offer = paid.ask("POST", "/api/release/offer", {"state": CAFETERIA})[1]
    other = asking("SELECT SUM(time) AS total FROM t")
    assert paid.ask("POST", "/api/release", {"state": other, "offer": offer["offer"]})[0] == 409
    assert spent(paid) == 0
    assert paid.ask("POST", "/api/release", {"state": CAFETERIA, "offer": "0" * 32})[0] == 409


def test_a_budget_is_opened_once_and_by_name(paid: Served) -> None:
    body = {"state": CAFETERIA, "name": "cafeteria", "budget": "50"}
    assert paid.ask("POST", "/api/budget/open", body)[0] == 409
    assert paid.ask("POST", "/api/budget/open", {**body, "name": "other"})[0] == 422
    assert paid.ask("POST", "/api/budget", {"state": CAFETERIA})[1]["budget"] == "5"


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("SELECT AVG(time) AS m FROM t; DROP TABLE t", "; DROP TABLE t"),
        ("SELECT time FROM t", "time"),
        ("SELECT AVG(RANDOM() * time) AS m FROM t", "RANDOM()"),
    ],
)
def test_the_refused_part_of_a_question_is_named(served: Served, sql: str, part: str) -> None:
    status, found = served.ask("POST", "/api/question", {"state": asking(sql)})
    assert status == 200
    assert found["accepted"] is False
    error = found["questions"][""]["error"]
    start, end = error["place"]
    assert part.strip("; ").split()[0] in sql[start:end] or sql[start:end] in part
    assert error["problem"]


def test_an_accepted_question_says_what_one_person_changes(served: Served) -> None:
    found = served.ask("POST", "/api/question", {"state": CAFETERIA})[1]["questions"][""]
    assert found["accepted"] is True
    assert found["outputs"] == ["mean_time"]
    assert "one person moves it" in found["accounts"][0]


def test_several_questions_are_paid_together(paid: Served) -> None:
    state = {key: value for key, value in copy.deepcopy(CAFETERIA).items() if key not in ("query", "accuracy")}
    state["queries"] = {
        "mean": {"sql": CAFETERIA["query"]["sql"], "accuracy": {"within": 3}},
        "total": {"sql": "SELECT SUM(time) AS total FROM t", "accuracy": {"within": 400}},
    }
    found = paid.ask("POST", "/api/question", {"state": state})[1]
    assert found["accepted"] is True
    assert set(found["questions"]) == {"mean", "total"}
    outcome = paid.work("outcome", state)["result"]
    assert outcome["feasible"], outcome["explanation"]
    offer = paid.ask("POST", "/api/release/offer", {"state": state})[1]
    status, answer = paid.ask("POST", "/api/release", {"state": state, "offer": offer["offer"]})
    assert status == 200, answer
    assert len(answer["shown"]["rows"]) == 2
    state["queries"]["total"]["sql"] = "SELECT time FROM t"
    found = paid.ask("POST", "/api/question", {"state": state})[1]["questions"]
    assert (found["mean"]["accepted"], found["total"]["accepted"]) == (True, False)


def test_an_upload_is_a_table_like_any_other(paid: Served) -> None:
    headers = {"X-File-Name": quote("mensa 1.csv"), "Content-Type": "application/octet-stream"}
    status, found = paid.ask("POST", "/api/uploads", TABLE.read_bytes(), headers)
    assert (status, found) == (201, {"name": "mensa 1.csv"})
    hidden = paid.ask("POST", "/api/tables/columns", {"source": "mensa 1.csv"})[1]
    assert hidden["needs_header"] is True  # its first line may be a record
    assert hidden["columns"] == {}
    shown = paid.ask("POST", "/api/tables/columns", {"source": "mensa 1.csv", "named": True})[1]
    assert {"time", "faculty"} <= set(shown["columns"])
    state = copy.deepcopy(CAFETERIA)
    state["data"]["source"] = "mensa 1.csv"
    offer = paid.ask("POST", "/api/release/offer", {"state": state})[1]
    status, answer = paid.ask("POST", "/api/release", {"state": state, "offer": offer["offer"]})
    assert status == 200, answer
    assert spent(paid) > 0  # in the ledger of the folder, which stays


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("../up.csv", b"a\n1\n"),
        ("a/b.csv", b"a\n1\n"),
        (".hidden.csv", b"a\n1\n"),
        ("table.duckdb", b"a\n1\n"),
        ("page.html", b"<script>"),
        ("no.parquet", b"PAR1 but not really"),
        ("empty.csv", b""),
        ("bad.csv.gz", b"not a zip"),
        ("a\nb.csv", b"a\n1\n"),
        ("x" * 300 + ".csv", b"a\n1\n"),
    ],
)
def test_an_upload_that_is_no_table_is_refused(served: Served, name: str, content: bytes) -> None:
    headers = {"X-File-Name": quote(name, safe=""), "Content-Type": "application/octet-stream"}
    status, found = served.ask("POST", "/api/uploads", content, headers)
    assert status == 422, found
    assert list(served.shop.folder.uploads.iterdir()) == []


def test_an_upload_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, largest_upload=1000) as found:
        headers = {"X-File-Name": "a.csv", "Content-Type": "application/octet-stream"}
        assert found.ask("POST", "/api/uploads", b"a\n" + b"1\n" * 1000, headers)[0] == 413
        assert list(found.shop.folder.uploads.iterdir()) == []


def test_nothing_of_the_table_is_told_before_it_is_paid_for(paid: Served) -> None:
    """A value that stands in the table, and nowhere else, is in no answer."""
    table = paid.shop.folder.root / "cafeteria.csv"
    table.write_text("time,faculty\n77.125,math\n" + "12,math\n" * 200)
    asked = {"state": CAFETERIA}
    answers = [
        paid.ask("POST", f"/api/{door}", asked)[1]
        for door in ("live", "question", "plan/write", "budget", "release/offer", "charts")
    ]
    answers += [paid.work("outcome", CAFETERIA), paid.ask("GET", "/api/start")[1]]
    answers.append(paid.ask("POST", "/api/tables/columns", {"source": "cafeteria.csv", "named": True})[1])
    assert "77.125" not in str(answers)


def test_the_report_cannot_run_anything(paid: Served) -> None:
    job = paid.work("report", CAFETERIA)
    assert job["state"] == "done", job
    assert job["result"] is None
    kept = paid.ask("POST", "/api/report/keep", {"job": job["id"]})[1]
    with urllib.request.urlopen(paid.address + kept["address"].removeprefix("/")) as page:
        policy = page.headers["content-security-policy"]
        assert b"cafeteria" in page.read()
    assert "sandbox" in policy
    assert "script-src" not in policy
    assert "default-src 'none'" in policy


class Taken:
    """A lock that a release holds; nothing else may wait for it."""

    def __enter__(self) -> None:
        raise AssertionError

    def __exit__(self, *_: object) -> None: ...


def test_a_release_that_takes_long_does_not_stop_answers_while_dragging(
    paid: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paid.shop, "ledger_lock", Taken())
    status, job = paid.ask("POST", "/api/jobs", {"state": CAFETERIA, "kind": "beliefs"})
    assert status == 201, job
    while paid.ask("GET", f"/api/jobs/{job['id']}?wait=10")[1]["state"] in ("waiting", "running"):
        pass
    assert paid.ask("POST", "/api/live", {"state": CAFETERIA})[1]["ready"] is True
    assert paid.ask("POST", "/api/charts", {"state": CAFETERIA})[0] == 200
    offer = paid.ask("POST", "/api/release/offer", {"state": CAFETERIA})[1]
    assert paid.ask("POST", "/api/release", {"state": CAFETERIA, "offer": offer["offer"]})[0] == 500  # it waits for it
