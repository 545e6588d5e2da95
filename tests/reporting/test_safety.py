"""What must never happen: the table opened, something of it told, markup from a plan, bytes that differ."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import commands
import pytest

import guessproof.engines as engines
from guessproof.choosing import choose
from guessproof.errors import LedgerError, ParameterError, PlanError
from guessproof.ledger import Budget, Ledger, verify
from guessproof.ledger.amounts import typed
from guessproof.plan import load_plan, loads_plan
from guessproof.releasing import release
from guessproof.reporting import Report, report
from guessproof.reporting.facts import safe_source

from .conftest import SECRET
from .plans import CAFETERIA, CATS, COVID, HOSTILE
from .reading import Page

Make = Callable[[str], Report]
QUICK = CATS.replace("JOIN", "and")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# The table.


@pytest.mark.parametrize("state", ["unreadable", "folder"])
def test_the_table_is_not_needed(state: str, tmp_path: Path, made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """All other reports here are made with no table at all."""
    table = tmp_path / "cats.parquet"
    if state == "folder":
        table.mkdir()
    else:
        table.write_bytes(b"\x00\xff nonsense")
        table.chmod(0)
    monkeypatch.setattr(engines, "open_engine", None)
    monkeypatch.setattr("guessproof.releasing.run.open_engine", None)
    (tmp_path / "and.toml").write_text(QUICK, encoding="utf-8")
    assert report(load_plan(tmp_path / "and.toml")).html == made("and").html


def test_nothing_of_the_table_appears_but_charged_answers(shop: Path) -> None:
    made = report(load_plan(shop / "plan.toml"))
    for secret in (str(SECRET), "73.59", "Nobody", "Somebody", "P17"):
        assert secret not in made.html
    answer = made.facts.own[0].answer
    assert answer is not None
    released = answer["answers"][0]["value"]
    without = made.html.replace(str(released), "")
    assert len(without) < len(made.html)


def test_scans_are_not_told_but_marked(shop: Path, tmp_path: Path) -> None:
    text = report(load_plan(shop / "plan.toml")).html
    assert "A scan found" not in text
    assert "looked at" not in text
    Ledger.create(tmp_path / "guessproof.ledger", "cats", Budget("9")).note("cats", "scan: F3 at 0.99", scan=True)
    scanned = report(loads_plan(QUICK, folder=tmp_path), text=QUICK)
    assert "F3" not in scanned.html
    assert "The exposure of the records was looked at before this choice" in scanned.html
    assert scanned.to_dict()["choice"]["data_dependent"] is True


# The ledger.


def test_releases_and_budget_are_those_of_the_ledger(shop: Path) -> None:
    made = report(load_plan(shop / "plan.toml"))
    page, book = Page(made.html), Ledger(shop / "guessproof.ledger")
    account = book.account("cafeteria")
    assert made.facts.head == book.head
    assert book.head in page.one("footer").text
    assert f"--head {book.head}" in page.part("releases")
    assert [m.is_own for m in made.facts.made] == [False, True]
    answers = {m.seq: m.answer for m in made.facts.made}
    assert answers == {seq: charge.answer for seq, charge in account.charges.items()}
    for recorded in page.data["releases"]:
        assert recorded["answer"] == account.charges[recorded["entry"]].answer
        assert any(e.digest == recorded["head"] and e.kind == "answer" for e in book.entries())
    assert page.data["left"]["epsilon"] == str(account.left.epsilon)
    assert "2030-01-02 03:04:05 UTC" in page.part("releases")
    assert "Released with ε = " in page.one("header").text
    assert "cumulative advantage" in page.part("releases")
    spent = re.search(
        r"other releases took ([\d.]+), this plan took ([\d.]+) and ([\d.]+) is left", page.part("releases")
    )
    assert spent is not None
    assert sum(map(float, spent.groups())) == pytest.approx(20, abs=1e-4)


def test_a_release_is_reported_as_it_was_decided_even_when_the_budget_is_gone(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,colour\nF,calico\nM,black\n", encoding="utf-8")
    text = QUICK.replace("cats.parquet", "t.csv")
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    plan = load_plan(tmp_path / "plan.toml")
    cost = choose(plan).cost
    Ledger.create(tmp_path / "guessproof.ledger", "cats", Budget(str(round(1.5 * cost, 6))))
    before = report(plan)
    assert not before.facts.own
    assert "This release would cost" in before.html
    assert "budget" in [limit["name"] for limit in before.to_dict()["choice"]["limits"]]
    release(plan)
    after = report(plan)
    assert after.facts.choice.feasible
    assert len(after.facts.own) == 1
    assert after.to_dict()["choice"] == choose(plan).to_dict()


def test_the_first_screen_speaks_in_the_plan_s_words_and_never_of_more_than_the_budget(tmp_path: Path) -> None:
    """The budget is the one that `choose` prints: ε beside it must not look larger. No raw name stands there."""
    (tmp_path / "t.csv").write_text("sex,colour\nF,calico\nM,black\n", encoding="utf-8")
    words = '[labels]\nn = "calico queens"\ncolour = "colour of the coat"\n'
    (tmp_path / "plan.toml").write_text(QUICK.replace("cats.parquet", "t.csv") + words, encoding="utf-8")
    plan = load_plan(tmp_path / "plan.toml")
    Ledger.create(tmp_path / "guessproof.ledger", "cats", Budget(typed(Decimal(choose(plan).cost_of_all))))
    release(plan)
    page = Page(report(plan).html)
    told = re.search(r"ε of this release([\d.]+)noise.*?of ε = ([\d.]+)", page.one("header").text)
    assert told is not None
    assert float(told[1]) <= float(told[2])
    for raw in (r"\bn = ", r"\bn \(", r"your colour\b(?! of)", r"\bn within"):
        assert not re.search(raw, page.one("header").text + page.part("plain") + page.part("releases")), raw
    assert page.one("h1").text == "Calico queens from “cats”"
    assert "both your sex and your colour of the coat" in page.part("plain")
    assert "calico queens = " in page.part("board")


def test_what_is_left_of_the_budget_is_a_limit_before_a_release(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "guessproof.ledger", "covid", Budget("0.01"))
    made = report(loads_plan(COVID, folder=tmp_path), text=COVID)
    assert not made.facts.choice.feasible
    assert "what is left of the budget allows 0.00999999 at most" in Page(made.html).one("header").text


def test_a_ledger_that_was_edited_gives_no_report(tmp_path: Path) -> None:
    path = tmp_path / "guessproof.ledger"
    Ledger.create(path, "cats", Budget("9"))
    connection = sqlite3.connect(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.commit()
    connection.close()
    assert not verify(path).ok
    with pytest.raises(LedgerError):
        report(loads_plan(QUICK, folder=tmp_path), tmp_path / "report.html", text=QUICK)
    assert not (tmp_path / "report.html").exists()


def test_a_ledger_that_is_named_must_be_there_and_the_plan_s_own_may_be_missing(tmp_path: Path) -> None:
    plan = loads_plan(QUICK, folder=tmp_path)
    with pytest.raises(LedgerError):
        report(plan, ledger=tmp_path / "other.ledger", text=QUICK)
    assert report(plan, text=QUICK).facts.head is None


def test_another_name_in_the_ledger_is_not_told(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "guessproof.ledger", "elsewhere", Budget("9"))
    made = report(loads_plan(QUICK, folder=tmp_path), text=QUICK)
    assert "elsewhere" not in made.html
    assert made.facts.account is None


# Escaping.


def test_nothing_in_a_plan_becomes_markup(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(HOSTILE, encoding="utf-8")
    made = report(load_plan(tmp_path / "plan.toml"))
    page = Page(made.html)
    assert len(page.all("script")) == 1
    assert {"img", "b"}.isdisjoint(e.tag for e in page.elements)
    assert not [n for e in page.elements for n in e.attributes if n.startswith("on")]
    assert "alert(1)" in page.one("h1").text
    assert "alert(3)" in page.part("board")
    assert "alert(4)" in page.part("choice")
    assert "alert(6)" in page.part("appendix")
    assert page.data["plan"]["data"]["name"] == "</title><script>alert(1)</script>"


def test_passwords_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(HOSTILE, encoding="utf-8")
    made = report(load_plan(tmp_path / "plan.toml"))
    assert "geheim" not in made.html
    assert "hunter2" not in made.html
    assert "postgresql://***@host/db" in Page(made.html).part("appendix")
    assert "secret" not in safe_source("postgresql://me:secret@host/db")
    assert safe_source("cafeteria.csv") == "cafeteria.csv"


def test_the_plan_stands_there_word_for_word(tmp_path: Path) -> None:
    text = "# a remark: ε < 1 & “so on”\n" + QUICK
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    page = Page(report(load_plan(tmp_path / "plan.toml")).html)
    assert page.one("pre").text == text.rstrip("\n")


# The same bytes.


WATCHED = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event in ("open", "sqlite3.connect") else None)
from guessproof.plan import load_plan
from guessproof.reporting import report
for name in sys.argv[2:]:
    report(load_plan(name), f"{name}.{sys.argv[1]}.html")
assert any("guessproof.ledger" in name for name in opened), "the watch does not work"
print([name for name in opened if "cafeteria.csv" in name])
"""


def test_two_processes_write_the_same_bytes_and_never_open_the_table(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "or.toml").write_text(CATS.replace("JOIN", "or"), encoding="utf-8")
    plans = [shop / "plan.toml", tmp_path / "or.toml"]
    here = [digest(report(load_plan(plan)).html) for plan in plans]
    environment = {**os.environ, "PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"}
    words = [sys.executable, "-c", WATCHED, "2", *map(str, plans[::-1])]  # charts drawn before must not leave traces
    done = subprocess.run(words, check=True, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
    there = [plan.with_name(f"{plan.name}.2.html") for plan in plans]
    assert [digest(target.read_text(encoding="utf-8")) for target in there] == here
    for target in there:
        target.unlink()


def test_the_folder_does_not_show(tmp_path: Path, made: Make) -> None:
    assert str(tmp_path.parent) not in made("and").html
    (tmp_path / "and.toml").write_text(QUICK, encoding="utf-8")
    assert report(load_plan(tmp_path / "and.toml")).html == made("and").html


# Writing.


def test_it_is_written_whole_and_replaces_an_earlier_report(tmp_path: Path, made: Make) -> None:
    (tmp_path / "and.toml").write_text(QUICK, encoding="utf-8")
    target = tmp_path / "report.html"
    target.write_text("old", encoding="utf-8")
    report(load_plan(tmp_path / "and.toml"), target)
    assert target.read_text(encoding="utf-8") == made("and").html
    assert sorted(p.name for p in tmp_path.iterdir()) == ["and.toml", "report.html"]


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (".", "is a folder"),
        ("missing/report.html", "its folder does not exist"),
        ("plan.toml", "is the plan"),
        ("guessproof.ledger", "is the ledger"),
        ("cafeteria.csv", "is the table"),
        ("link.html", "is the table"),
    ],
)
def test_nothing_else_is_overwritten(target: str, problem: str, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = shop / "link.html"
    if not link.is_symlink():
        link.symlink_to(shop / "cafeteria.csv")
    before = {p.name: p.read_bytes() for p in shop.iterdir()}
    monkeypatch.chdir(shop)
    with pytest.raises(ParameterError, match=problem):
        report(load_plan("plan.toml"), target)
    assert {p.name: p.read_bytes() for p in shop.iterdir()} == before


def test_a_failure_while_writing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("guessproof.outputs.os.replace", full)
    with pytest.raises(ParameterError, match="No space left"):
        report(loads_plan(QUICK, folder=tmp_path), tmp_path / "report.html", text=QUICK)
    assert list(tmp_path.iterdir()) == []


def test_a_plan_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(QUICK, encoding="utf-8")
    plan = load_plan(path)
    path.write_text(QUICK.replace("0.1", "0.2"), encoding="utf-8")
    with pytest.raises(PlanError, match="changed while the report was made"):
        report(plan)


# The command.


def run(*words: str) -> commands.Done:
    return commands.run("report", *words)


def test_the_command_writes_and_tells(shop: Path, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    done = run(str(shop / "plan.toml"), "-o", str(target), "--json")
    assert done.returncode == 0, done.output
    told = json.loads(done.stdout)
    assert told["sha256"] == digest(target.read_text(encoding="utf-8"))
    assert told["released"] == 1
    assert told["choice"]["feasible"] is True
    assert told["head"] == Ledger(shop / "guessproof.ledger").head


def test_the_command_tells_the_decision_also_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(COVID.replace("within = 10", "within = 0.1"), encoding="utf-8")
    done = run(str(tmp_path / "plan.toml"), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 0
    assert "nothing can be released" in done.output
    assert (tmp_path / "page.html").exists()


def test_the_command_refuses_before_it_works(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(QUICK, encoding="utf-8")
    done = run(str(tmp_path / "plan.toml"), "-o", str(tmp_path))
    assert done.returncode == 2
    assert "is a folder" in done.stderr


def test_what_was_charged_is_not_told_too_low(tmp_path: Path) -> None:
    """A limit binds: the ε that is recommended is rounded down, and what was released is a cost, rounded up."""
    text = CAFETERIA.replace("[accuracy]\nwithin = 40\n", "[release]\nepsilon = 0.123456789\n")
    (tmp_path / "cafeteria.csv").write_text("faculty,time\n" + "math,20\n" * 5, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    plan = load_plan(tmp_path / "plan.toml")
    assert "Can be released with ε = 0.123456;" in Page(report(plan).html).one("header").text
    book = Ledger.create(tmp_path / "guessproof.ledger", "cafeteria", Budget("20"))
    release(plan, ledger=book)
    page = Page(report(plan).html)
    assert "Released with ε = 0.123457;" in page.one("header").text
    assert "Charged: ε = 0.123457" in page.part("releases")
