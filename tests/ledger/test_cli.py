"""`guessproof ledger` as a user types it: golden text, JSON, refusals, exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import commands
import pytest
import typer

from guessproof.cli.ledger import ledger_app
from guessproof.ledger import Budget, Cost, Ledger
from ledger.making import GUARANTEE, KEY, Clock, copied, edit, filled, opened, pay


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GUESSPROOF_LEDGER_KEY", raising=False)


def run(*words: object, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Exit code and text."""
    done = commands.run("ledger", *map(str, words), COLUMNS="100", TERM="dumb", **(env or {}))
    return done.returncode, "\n".join(line.rstrip() for line in done.output.rstrip().splitlines())


def asked(*words: object) -> dict[str, Any]:
    code, text = run(*words, "--json")
    assert code == 0, text
    return json.loads(text)


def story(path: Path) -> Ledger:
    clock = Clock()
    ledger = Ledger.create(path, "cafeteria", Budget("1.0", "1e-5", "0.2"), clock=clock)
    sql = "SELECT AVG(time) AS mean_time FROM t"
    for number, (epsilon, delta) in enumerate([("0.1", 0), (1 / 3, "1e-6"), ("0.2", 0)]):
        clock.move(3600)
        what = {"mechanism": "laplace", "query": f"{sql} WHERE day = {number}"}
        cost = Cost(epsilon, delta)
        charged = ledger.charge(
            "cafeteria", f"{number}", cost, GUARANTEE, what, lambda g: 0.03 * sum(t.times for t in g)
        )
        if number == 0:
            ledger.record(charged, {"value": 19.75})
        if number == 1:
            ledger.failed(charged)
    ledger.note("cafeteria", "the most exposed records were looked at", scan=True)
    return ledger


def test_show_is_a_readable_account() -> None:
    ledger = story(Path("guessproof.ledger"))
    code, text = run("show")
    assert code == 0
    assert (
        text
        == f"""\
cafeteria, opened 2030-01-01 00:00:00 UTC
        ε ███████████████████░░░░░░░░░░░ 0.633334 of 1 spent, 0.366666 left
        δ ███░░░░░░░░░░░░░░░░░░░░░░░░░░░ 0.000001 of 0.00001 spent, 0.000009 left
advantage ██████████████░░░░░░░░░░░░░░░░ 0.09 of 0.2 spent, 0.11 left
┏━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┓
┃ entry ┃ when (UTC)          ┃        ε ┃        δ ┃ became    ┃ on what                          ┃
┡━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┩
│     6 │ 2030-01-01 03:00:00 │      0.2 │        0 │ NO ANSWER │ SELECT AVG(time) AS mean_time    │
│       │                     │          │          │           │ FROM t WHERE day = 2             │
│       │                     │          │          │           │ mechanism: laplace               │
│     4 │ 2030-01-01 02:00:00 │ 0.333334 │ 0.000001 │ failed    │ SELECT AVG(time) AS mean_time    │
│       │                     │          │          │           │ FROM t WHERE day = 1             │
│       │                     │          │          │           │ mechanism: laplace               │
│     2 │ 2030-01-01 01:00:00 │      0.1 │        0 │ answered  │ SELECT AVG(time) AS mean_time    │
│       │                     │          │          │           │ FROM t WHERE day = 0             │
│       │                     │          │          │           │ mechanism: laplace               │
└───────┴─────────────────────┴──────────┴──────────┴───────────┴──────────────────────────────────┘
NO ANSWER: that run died or is still at work. Its charge stays; asking again is charged again.
note 7, 2030-01-01 03:00:00 UTC (scan): the most exposed records were looked at
head {ledger.head}"""
    )


def test_show_as_json_is_exact() -> None:
    ledger = story(Path("guessproof.ledger"))
    told = asked("show", "cafeteria")
    (account,) = told["names"]
    assert (told["head"], told["sealed"]) == (ledger.head, False)
    assert account["budget"] == {"epsilon": "1.0", "delta": "0.00001", "advantage": "0.2"}
    assert account["spent"]["epsilon"] == "0.63333333333333332"
    assert account["left"]["epsilon"] == "0.36666666666666668"
    assert [charge["outcome"] for charge in account["charges"]] == ["answered", "failed", "no answer"]
    assert [charge["answer"] for charge in account["charges"]] == [{"value": 19.75}, None, None]
    assert account["notes"][0]["scan"] is True


@pytest.mark.parametrize(("spent", "filled_cells"), [(None, 0), ("1e-9", 1), ("0.5", 15), ("0.999999", 29), ("1", 30)])
def test_the_bar_is_empty_only_before_and_full_only_at_the_end(
    tmp_path: Path, spent: str | None, filled_cells: int
) -> None:
    ledger = opened(tmp_path)
    if spent:
        pay(ledger, "one", spent)
    _, text = run("show", "--ledger", ledger.path)
    assert (text.count("█"), text.count("░")) == (filled_cells, 30 - filled_cells)


def test_what_a_ledger_says_cannot_steer_the_terminal(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.charge("cafeteria", "one", Cost("0.1"), GUARANTEE, {"query": "[red]x[/red]\x1b[2J\r"})
    ledger.note("cafeteria", "bell \a and \x1b]0;title")
    _, text = run("show", "--ledger", ledger.path)
    assert "[red]x[/red]" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)


def test_open_sets_a_budget_once() -> None:
    code, text = run("open", "cafeteria", "--budget", "1.0", "--advantage", "0.1")
    head = Ledger("guessproof.ledger").head
    assert code == 0
    assert text == (
        "Opened cafeteria in guessproof.ledger: ε = 1.0, δ = 0, cumulative advantage at most 0.1.\n"
        "This budget is set once; no plan can raise it.\n"
        f"head {head}\n"
        "Keep the head outside this machine: `guessproof ledger verify --head …` then shows what was cut off."
    )
    code, text = run("open", "cafeteria", "--budget", "9")
    assert code == 4
    assert "already open, with a budget of ε = 1.0" in text
    told = asked("open", "cats", "--budget", "0.1", "--delta", "1e-6")
    assert told["budget"] == {"epsilon": "0.1", "delta": "0.000001", "advantage": None}
    assert (told["name"], told["sealed"], told["ledger"]) == ("cats", False, "guessproof.ledger")
    assert told["head"] == Ledger("guessproof.ledger").head != head


@pytest.mark.parametrize("budget", ["0", "-1", "nan", "inf", "one", "1,0", "", "1e99"])
def test_budgets_that_cannot_be_meant_make_no_file(budget: str) -> None:
    code, text = run("open", "cafeteria", f"--budget={budget}")
    assert code == 2
    assert "budget.epsilon" in text
    assert not Path("guessproof.ledger").exists()


def test_verify_says_what_was_checked_and_what_not() -> None:
    head = story(Path("guessproof.ledger")).head
    checked = """\
checked:
  - where it is kept: its tables, and the triggers that make them append-only
  - that entries are numbered without gaps, each linked to the one before
  - that each entry's digest fits what it says
  - that no budget was raised or overspent, and each answer belongs to one charge
  - that each checkpoint says what the entries before it add up to, and every entry is found by its keys"""
    assert run("verify") == (
        0,
        f"""\
guessproof.ledger: 7 entries (cafeteria), not sealed
{checked}
  note: without a remembered head (--head), entries cut off at the end do not show
  note: without a key or a remembered head, a ledger that was rewritten as a whole does not show
head {head}
Everything that was checked fits.""",
    )
    assert run("verify", "--head", head) == (
        0,
        f"""\
guessproof.ledger: 7 entries (cafeteria), not sealed
{checked}
  - that the remembered head is still there
head {head}
Everything that was checked fits.""",
    )


def test_verify_lists_each_defect_and_exits_with_6() -> None:
    ledger = story(Path("guessproof.ledger"))
    cut = copied(ledger.path, "cut.ledger")
    head = ledger.head
    edit(cut, "DELETE FROM entries WHERE seq = 7")
    assert run("verify", "--ledger", "cut.ledger")[0] == 0
    code, text = run("verify", "--ledger", "cut.ledger", "--head", head)
    assert code == 6
    assert f"  ✗ the remembered head {head} is gone: truncated, rolled back or replaced\n" in text
    edit(ledger.path, "UPDATE entries SET body = replace(body, '0.333', '0.033')", restore=False)
    for command in ("verify", "show"):
        code, text = run(command)
        assert code == 6
        assert "  ✗ the trigger no_update was dropped or changed\n" in text
        assert "  ✗ entry 4 was edited: its digest does not fit what it says\n" in text
        assert "NOT VERIFIED: 4 defects found." in text
    code, text = run("verify", "--json")
    assert code == 6
    told = json.loads(text)
    assert told["ok"] is False
    assert {"entry": 4, "what": "entry 4 was edited: its digest does not fit what it says"} in told["defects"]
    assert run("show", "--json")[0] == 6  # refused: what it would show is not to be trusted


def test_missing_ledgers_and_names_exit_with_4() -> None:
    for words in (("show",), ("verify",), ("show", "--ledger", "none", "--json")):
        code, text = run(*words)
        assert code == 4
        assert "guessproof ledger open NAME" in text
    story(Path("guessproof.ledger"))
    code, text = run("show", "cats")
    assert code == 4
    assert "open: cafeteria" in text
    assert run("verify", "--head", "abc")[0] == 2


def test_a_key_comes_from_a_file_or_the_environment_never_from_the_command_line(tmp_path: Path) -> None:
    Path("key").write_bytes(KEY + b"\n")
    code, text = run("open", "cafeteria", "--budget", "1.0", "--key-file", "key")
    assert code == 0
    assert KEY.decode() not in text
    for words, env in ((("--key-file", "key"), {}), ((), {"GUESSPROOF_LEDGER_KEY": KEY.decode()})):
        code, text = run("verify", *words, env=env)
        assert code == 0, text
        assert "that each entry is sealed with the key" in text
        assert run("show", *words, env=env)[0] == 0
    code, text = run("verify")
    assert code == 6
    assert "✗ the ledger is sealed and no key was given; put it into GUESSPROOF_LEDGER_KEY, or give --key-file" in text
    code, text = run("verify", env={"GUESSPROOF_LEDGER_KEY": "a wrong key, long enough"})
    assert code == 6
    assert "✗ no seal fits the key: the key is wrong" in text
    assert "a wrong key" not in text
    assert run("verify", "--key-file", "none")[0] == 4
    assert run("open", "cats", "--budget", "1.0", env={"GUESSPROOF_LEDGER_KEY": ""})[0] == 2
    assert run("verify", "--key", "secret")[0] == 2


def test_a_damaged_name_does_not_stop_the_report(tmp_path: Path) -> None:
    path = filled(tmp_path).path
    edit(path, "UPDATE entries SET name = CAST(x'ff41' AS TEXT)")
    for words in ((), ("--json",)):
        code, text = run("verify", "--ledger", path, *words)
        assert code == 6
        assert "entry 1 was edited" in text


@pytest.mark.parametrize("command", ["open", "amend", "show", "verify"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    code, text = run(command, "--help")
    assert code == 0
    assert f"Example: guessproof ledger {command}" in " ".join(text.split())
    assert "--json" in text
    assert "--key-file" in text


def test_only_the_owners_command_amends_and_it_shows() -> None:
    commands = sorted(typer.main.get_command(ledger_app).commands)  # type: ignore[attr-defined]
    assert commands == ["amend", "copy", "open", "show", "verify"]
    run("open", "cafeteria", "--budget", "1.0")
    code, text = run("amend", "cafeteria", "--protect", "salary", "--protect", "Age", "--budget", "2.5")
    assert code == 0
    assert text == (
        "cafeteria protects salary from now on; a plan that does not is refused.\n"
        "cafeteria protects Age from now on; a plan that does not is refused.\n"
        "The budget of cafeteria is now ε = 2.5, δ = 0.\n"
        f"head {Ledger('guessproof.ledger').head}"
    )
    _, text = run("show", "cafeteria")
    assert "protected values: Age, salary" in text
    assert "protects salary, Age budget ε = 2.5" in text
    shown = asked("show")["names"][0]
    assert (shown["protected"], shown["budget"]["epsilon"]) == (["Age", "salary"], "2.5")
    assert shown["amendments"][0]["protect"] == ["salary", "Age"]
    assert asked("amend", "cafeteria", "--delta", "1e-6")["budget"]["delta"] == "0.000001"
    for words in (("--budget", "2"), ("--protect", "AGE"), ("--advantage", "0.5")):
        assert run("amend", "cafeteria", *words)[0] == 4
    assert run("amend", "cafeteria")[0] == 2


def test_what_was_answered_can_be_read_from_the_ledger(tmp_path: Path) -> None:
    _, text = run("show", "cafeteria", "--ledger", filled(tmp_path).path)
    assert "mean_time = 19.75" in " ".join(text.replace("│", " ").split())


def test_the_commands_load_nothing_heavy() -> None:
    heavy = ("numpy", "duckdb", "sqlglot", "pydantic", "pyarrow", "rich", "sqlite3")
    code = f"import sys, guessproof.cli.ledger; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    light = "import sys, guessproof.ledger; print([m for m in ('numpy', 'rich', 'typer') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", light], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
