"""What programs build on: JSON with schemas, refusals as JSON, true exit codes, a log without data, short reprs."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import commands
import jsonschema
import pytest

import guessproof as gp
from guessproof import errors
from guessproof.cli import app as room
from guessproof.ledger import Budget, Ledger
from guessproof.risk.bracket import Bracket
from guessproof.schemas import COMMANDS, schemas

ROOT = Path(__file__).parents[2]
GOLDEN = sorted((ROOT / "tests" / "data" / "json").glob("*.json"))


def fits(name: str, document: Any) -> None:
    jsonschema.Draft202012Validator({**schemas(), "$ref": f"#/$defs/{name}"}).validate(document)


@pytest.fixture
def cats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cats example with an open ledger, as the working folder."""
    shutil.copytree(ROOT / "examples" / "cats", tmp_path / "cats")
    monkeypatch.chdir(tmp_path / "cats")
    Ledger.create("guessproof.ledger", "cats", Budget("20"))
    return tmp_path / "cats"


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The command as a shell runs it: exit code, what is printed, what is said beside it."""
    monkeypatch.setattr(sys, "argv", ["guessproof", *words])
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        room.main()
    shown = capsys.readouterr()
    return int(stopped.value.code or 0), shown.out, shown.err


def test_the_published_schemas_are_current() -> None:
    published = json.loads((ROOT / "docs" / "output.schema.json").read_text(encoding="utf-8"))
    assert published == schemas(), "run: python -m guessproof.schemas > docs/output.schema.json"
    jsonschema.Draft202012Validator.check_schema(published)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_json_fits_its_schema(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    fits(path.stem, document)
    for key in list(document) if isinstance(document, dict) else []:
        if key in COMMANDS[path.stem].get("required", ()):
            with pytest.raises(jsonschema.ValidationError):  # the schema asks for every key that it requires
                fits(path.stem, {k: v for k, v in document.items() if k != key})


def test_what_a_test_prints_is_held_to_its_schema() -> None:
    with pytest.raises(jsonschema.ValidationError):
        commands.check_json(("doctor", "--json"), '{"version": 1, "parts": []}')
    with pytest.raises(json.JSONDecodeError):
        commands.check_json(("doctor", "--json"), "{} {}")
    commands.check_json(("doctor", "--json"), '{"version": "1", "parts": []}')


def test_an_edited_ledger_and_a_median_fit_their_schemas(cats: Path) -> None:
    with closing(sqlite3.connect(cats / "guessproof.ledger")) as file, file:
        for (trigger,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            file.execute(f'DROP TRIGGER "{trigger}"')
        table = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchone()[0]
        columns = [row[1] for row in file.execute(f"PRAGMA table_info('{table}')")]
        file.execute(f'UPDATE "{table}" SET "{columns[-1]}" = "{columns[-1]}" || 1')
    found = json.loads(commands.run("ledger", "verify", "--json").stdout)
    assert found["ok"] is False
    assert {"entry", "what"} == set(found["defects"][0])
    (cats / "median.toml").write_text(
        'data = { name = "m", source = "cats.csv", table = "t", protects = "records" }\n'
        'query.sql = "SELECT MEDIAN(weight) AS m FROM t"\n'
        "columns.weight = { bounds = [0, 10], step = 1 }\nrelease.epsilon = 1.0\n"
    )
    (noise,) = json.loads(commands.printed("choose", "median.toml", "--json"))["noise"]
    assert noise["picked_from"] == {"values": 11, "lowest": 0.0, "highest": 10.0}


def test_every_command_has_a_schema_and_a_golden_document() -> None:
    assert {path.stem for path in GOLDEN} == set(COMMANDS) - {"error", "bounds"}


def test_what_is_printed_fits_too(
    cats: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, words in {
        "check": ("check", "either.toml"),
        "choose": ("choose", "either.toml"),
        "explain_plan": ("explain", "either.toml"),
        "release": ("release", "either.toml"),
        "ledger_show": ("ledger", "show"),
        "ledger_verify": ("ledger", "verify"),
        "doctor": ("doctor",),
    }.items():
        code, printed, _ = run(monkeypatch, capsys, *words, "--json")
        assert code == 0
        fits(name, json.loads(printed))
    chosen = json.loads(run(monkeypatch, capsys, "choose", "either.toml", "--json")[1])
    explained = json.loads(run(monkeypatch, capsys, "explain", "either.toml", "--json")[1])
    assert explained["epsilon"] == chosen["epsilon"]  # without an ε it is the chosen one


# Refusals ----------------------------------------------------------------------------------------------------------


def _fail(*_: Any, **__: Any) -> Any:
    raise ValueError("SECRET-VALUE")


def _refuse(*_: Any, **__: Any) -> Any:
    raise errors.LedgerError("the disk is full; make room")


def test_an_answer_that_was_paid_for_is_shown_even_if_its_file_cannot_be_written(
    cats: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("guessproof.writing.write_answers", _fail)
    code, printed, said = run(monkeypatch, capsys, "release", "either.toml", "-o", "a.csv", "--json")
    assert code == 5
    fits("release", json.loads(printed))  # one document, whatever fails
    assert "unexpected" in said
    assert "SECRET" not in printed + said


def test_a_failure_of_what_was_paid_before_is_no_charge(
    cats: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, capsys, "release", "either.toml")[0] == 0
    monkeypatch.setattr("guessproof.writing.write_answers", _refuse)
    code, printed, _ = run(monkeypatch, capsys, "release", "either.toml", "-o", "a.csv", "--json")
    assert (code, json.loads(printed)["replayed"]) == (4, True)


def test_an_engine_that_could_not_read_for_a_scan_charged_nothing() -> None:
    assert errors.EngineError(charged=False).to_dict()["charged"] is False
    assert errors.EngineError().to_dict()["charged"] is True
    assert errors.RowsError().to_dict()["field"] == "data.rows"


def test_the_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, capsys, "--version") == (0, f"{gp.__version__}\n", "")


# Python ------------------------------------------------------------------------------------------------------------


def test_the_log_says_what_happened_and_holds_no_data(cats: Path, caplog: pytest.LogCaptureFixture) -> None:
    plan = gp.load_plan("either.toml")
    with caplog.at_level(logging.DEBUG, logger="guessproof"):
        answer = gp.release(plan)
        gp.release(plan)
    told = [record.getMessage() for record in caplog.records if record.name.startswith("guessproof")]
    assert [words.split(": ")[1][:7] for words in told] == ["charged", "answere", "the rec"]
    text = " ".join(told)
    assert "SELECT" not in text
    assert "tabby" not in text
    assert str(answer.value) not in text.replace(f"{answer.epsilon:.6g}", "")


def test_short_words_for_a_choice_an_answer_and_a_bracket(cats: Path) -> None:
    plan = gp.load_plan("either.toml")
    choice = gp.choose(plan)
    assert repr(choice) == "Choice('cats', ε=0.847297, attacker decides, between 0 and 0.847297)"
    assert float(choice) == choice.epsilon
    assert f"{choice:.2f}" == "0.85"
    assert "<table>" in choice._repr_html_()
    answer = gp.release(plan)
    assert float(answer) == answer.value
    assert f"{answer:.0f}" == f"{answer.value:.0f}"
    assert len(repr(answer)) < 120
    assert repr(answer).startswith("Answer(tabby_queens=")
    assert "tabby_queens" in answer._repr_html_()
    bracket = Bracket(0.25, 0.5, "proven", "two <words>")
    assert repr(bracket) == "Bracket(attack=0.25, bound=0.5, 'proven')"
    assert float(bracket) == 0.5
    assert f"{bracket:.1%}" == "50.0%"
    assert f"{bracket}" == str(bracket)
    assert "&lt;words&gt;" in bracket._repr_html_()


def test_no_bar_of_the_database(tmp_path: Path) -> None:
    from guessproof.engines import open_engine

    (tmp_path / "t.csv").write_text("a\n1\n")
    with open_engine(str(tmp_path / "t.csv"), "t") as engine:
        cursor: Any = engine._con  # pyright: ignore[reportAttributeAccessIssue]
        assert cursor.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)


def test_a_whole_ledger_is_said_in_the_other_words(
    cats: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One release: what `explain` says of its noise. Two: squares and ε add up; on the screen as in JSON."""
    assert run(monkeypatch, capsys, "release", "plan.toml")[0] == 0
    own = json.loads(run(monkeypatch, capsys, "explain", "plan.toml", "--json")[1])["other_words"]
    shown = json.loads(run(monkeypatch, capsys, "ledger", "show", "cats", "--json")[1])
    fits("ledger_show", shown)
    once = shown["names"][0]["other_words"]
    assert once["advantage"] == pytest.approx(own["advantage"], rel=1e-6)
    assert once["tpr_at_fpr"]["0.01"] == pytest.approx(own["tpr_at_fpr"]["0.01"], rel=1e-6)
    assert run(monkeypatch, capsys, "release", "either.toml")[0] == 0
    other = json.loads(run(monkeypatch, capsys, "explain", "either.toml", "--json")[1])["other_words"]
    twice = json.loads(run(monkeypatch, capsys, "ledger", "show", "cats", "--json")[1])["names"][0]["other_words"]
    assert twice["zcdp_rho"] == pytest.approx(once["zcdp_rho"] + other["zcdp_rho"], rel=1e-6)
    assert once["tpr_at_fpr"]["0.01"] < twice["tpr_at_fpr"]["0.01"]
    text = run(monkeypatch, capsys, "ledger", "show", "cats")[1]
    assert "in other words: TPR at FPR 1 %" in text
    assert "zCDP with ρ" in text


def test_a_key_in_the_wrong_table_is_told_where_it_belongs(
    cats: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = (cats / "plan.toml").read_text(encoding="utf-8").replace("[attacker]\n", "[attacker]\nlinked_records = 2\n")
    (cats / "wrong.toml").write_text(plan, encoding="utf-8")
    code, _, said = run(monkeypatch, capsys, "choose", "wrong.toml")
    assert code == 2
    assert "it is a key of [data]: move it there" in said
