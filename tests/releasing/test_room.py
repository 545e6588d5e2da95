"""The command that makes room for a plan: what is printed works as it is, and just so."""

from __future__ import annotations

import shlex
from pathlib import Path

import commands
import pytest

from guessproof.choosing import choose
from guessproof.choosing.budgets import room_line
from guessproof.errors import BudgetError
from guessproof.ledger import Ledger
from guessproof.plan import Plan, load_plan, loads_plan
from guessproof.releasing import release
from releasing.tables import COLUMNS, table

PLAN = """[data]
name = {name}
source = "t.duckdb"
protects = "records"
[query]
sql = "SELECT COUNT(*) AS n FROM t"
{columns}
[release]
ledger = {ledger}
epsilon = 0.1
{more}"""
GAUSSIAN = 'mechanism = "gaussian"\ndelta = 1e-6'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    table(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(folder: Path, more: str = "", name: str = "'test'", ledger: str = "'guessproof.ledger'") -> Plan:
    return loads_plan(PLAN.format(name=name, columns=COLUMNS, ledger=ledger, more=more), folder=folder)


def run(line: str | None) -> str:
    assert line is not None
    program, *words = shlex.split(line)
    assert program == "guessproof"
    done = commands.run(*words)
    assert done.returncode == 0, done.output
    return done.stdout


@pytest.mark.parametrize("more", ["", "times = 3", GAUSSIAN])
@pytest.mark.parametrize("name", ["'test'", "\"two words & 'quotes'\""])
@pytest.mark.parametrize("ledger", ["'guessproof.ledger'", "'a ledger; of ours'"])
def test_what_is_printed_opens_just_enough(folder: Path, more: str, name: str, ledger: str) -> None:
    plan = made(folder, more, name, ledger)
    run(room_line(plan, choose(plan)))
    numbers = [None] if plan.release.times == 1 else [*range(1, 4)]
    for number in numbers:
        assert room_line(plan, choose(plan)) is None
        release(plan, number=number)
    left = Ledger(plan.ledger_path).remaining(plan.data.name)
    assert left.epsilon < 1e-4  # and nothing is opened that the plan does not need


@pytest.mark.parametrize("more", ["", GAUSSIAN])
def test_a_budget_is_raised_by_just_what_is_missing(folder: Path, more: str) -> None:
    first = made(folder, more)
    run(room_line(first, choose(first)))
    release(first)
    second = loads_plan(
        PLAN.format(name="'test'", columns=COLUMNS, ledger="'guessproof.ledger'", more=more).replace(
            "COUNT(*)", "SUM(age)"
        ),
        folder=folder,
    )
    line = room_line(second, choose(second))
    with pytest.raises(BudgetError, match="The owner can raise it, by an entry that everybody sees") as caught:
        release(second)
    assert line is not None
    assert line.startswith("guessproof ledger amend")
    assert line in str(caught.value)
    run(line)
    release(second)
    book = Ledger(folder / "guessproof.ledger")
    assert len(book.account("test").amendments) == 1
    assert book.remaining("test").epsilon < 1e-4


def test_a_paid_release_needs_no_room(folder: Path) -> None:
    plan = made(folder)
    run(room_line(plan, choose(plan)))
    release(plan)
    assert room_line(plan, choose(plan)) is None


def test_choose_prints_the_line_and_what_comes_then(folder: Path) -> None:
    text = PLAN.format(name="'test'", columns=COLUMNS, ledger="'guessproof.ledger'", more="")
    (folder / "my plan.toml").write_text(text)
    shown = commands.run("choose", "my plan.toml").stdout
    line = next(line.strip() for line in shown.splitlines() if "ledger open" in line)
    assert line == room_line(load_plan("my plan.toml"), choose(load_plan("my plan.toml")))
    assert "Then: guessproof release 'my plan.toml'" in shown
    run(line)
    again = commands.run("choose", "my plan.toml").stdout
    assert "ledger open" not in again
    assert "Next: guessproof release 'my plan.toml'" in again
