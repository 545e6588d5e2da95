"""What programs build on: JSON with schemas, refusals as JSON, true exit codes, a log without data, short reprs."""

from __future__ import annotations

import json
import logging
import shutil
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import guessproof as gp
from guessproof import errors
from guessproof.cli import app as room
from guessproof.ledger import Budget, Ledger
from guessproof.releasing import run as releasing
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

PLANNED = ("check", "choose", "explain", "release", "audit", "scan", "report", "bounds")


@pytest.mark.parametrize("command", PLANNED)
def test_every_command_refuses_in_json(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "plan.toml"
    text = (ROOT / "examples" / "cats" / "plan.toml").read_text(encoding="utf-8")
    bad.write_text(text.replace("advantage = 0.1", "advantage = 10"), encoding="utf-8")
    more = ("--epsilon", "1") if command == "bounds" else ()
    code, printed, said = run(monkeypatch, capsys, command, str(bad), *more, "--json")
    assert code == 2
    document = json.loads(printed)
    fits("error", document)
    assert document["error"] == {
        "kind": "plan",
        "field": "attacker.advantage",
        "line": 23,
        "problem": "must be at most 1",
        "remedy": "for 10 % write 0.1",
        "charged": False,
    }
    assert "line 23" in said
    assert run(monkeypatch, capsys, command, str(bad), *more)[1] == ""  # without --json nothing is printed


@pytest.mark.parametrize(
    ("words", "code", "kind", "field"),
    [
        (("choose", "none.toml"), 2, "plan", "plan"),
        (("choose", "sql.toml"), 2, "query", "query.sql"),
        (("choose",), 2, "usage", None),
        (("release", "either.toml", "--nonsense"), 2, "usage", None),
        (("explain", "--epsilon", "-1"), 2, "parameter", "epsilon"),
        (("explain",), 2, "usage", None),
        (("release", "elsewhere.toml"), 4, "ledger", None),
        (("release", "gone.toml"), 2, "source", None),
        (("ledger", "show", "dogs"), 4, "ledger", None),
        (("ledger", "open", "cats", "--budget", "0"), 2, "parameter", None),
        (("report", "either.toml", "-o", "none/at.html"), 2, "parameter", "output"),
        (("papers", "--id", "none"), 2, "parameter", None),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_kinds_and_codes(
    cats: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
    kind: str,
    field: str | None,
) -> None:
    text = Path("either.toml").read_text(encoding="utf-8")
    Path("sql.toml").write_text(text.replace("COUNT(*)", "COUNTS(*)"), encoding="utf-8")
    Path("elsewhere.toml").write_text(text.replace("guessproof.ledger", "none.ledger"), encoding="utf-8")
    Path("gone.toml").write_text(text.replace("cats.csv", "gone.csv"), encoding="utf-8")
    found, printed, said = run(monkeypatch, capsys, *words, "--json")
    error = json.loads(printed)["error"]
    assert (found, error["kind"]) == (code, kind)
    assert field is None or error["field"] == field
    assert error["charged"] is False
    assert error["problem"]
    assert said
    if kind == "query":
        assert error["line"] == 11


def test_nothing_feasible_exits_with_3(
    cats: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("either.toml").read_text(encoding="utf-8")
    Path("exact.toml").write_text(text + "[accuracy]\nwithin = 0.001\n", encoding="utf-8")
    code, printed, _ = run(monkeypatch, capsys, "choose", "exact.toml", "--json")
    assert (code, json.loads(printed)["feasible"]) == (3, False)
    for command in ("release", "explain"):
        code, printed, _ = run(monkeypatch, capsys, command, "exact.toml", "--json")
        assert (code, json.loads(printed)["error"]["kind"]) == (3, "infeasible")


def _fail(*_: Any, **__: Any) -> Any:
    raise ValueError("SECRET-VALUE")


def _refuse(*_: Any, **__: Any) -> Any:
    raise errors.LedgerError("the disk is full; make room")


@pytest.mark.parametrize(
    ("owner", "name", "broken", "kind"),
    [
        (releasing, "add_noise", _fail, "engine"),  # after the rehearsal
        (Ledger, "record", _refuse, "ledger"),
        (Ledger, "record", _fail, "unexpected"),
        ("guessproof.writing", "write_answers", _fail, "unexpected"),
    ],
    ids=("engine", "record", "unexpected", "written"),
)
def test_whatever_fails_after_the_charge_exits_with_5(
    cats: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    owner: Any,
    name: str,
    broken: Any,
    kind: str,
) -> None:
    if name == "add_noise":
        rehearsed: list[int] = []

        def second(*given: Any) -> Any:
            rehearsed.append(1)
            return honest(*given) if len(rehearsed) == 1 else _fail()

        honest = releasing.add_noise
        broken = second
    target = f"{owner}.{name}" if isinstance(owner, str) else owner
    monkeypatch.setattr(target, broken) if isinstance(target, str) else monkeypatch.setattr(target, name, broken)
    code, printed, said = run(monkeypatch, capsys, "release", "either.toml", "-o", "a.csv", "--json")
    assert code == 5
    document = json.loads(printed)  # one document, whatever fails
    if name == "write_answers":  # an answer that was paid for is shown
        fits("release", document)
        assert kind in said
    else:
        assert (document["error"]["kind"], document["error"]["charged"]) == (kind, True)
    assert "SECRET" not in printed + said
    assert float(Ledger("guessproof.ledger").standing("cats").left.epsilon) < 20


STOPS = {"stopped": KeyboardInterrupt, "gone": BrokenPipeError, "full": lambda: OSError(28, "SECRET")}


@pytest.mark.parametrize(
    ("command", "why", "code"),
    [
        ("release", "stopped", 5),
        ("release", "gone", 5),
        ("release", "full", 5),
        ("check", "stopped", 1),
        ("check", "gone", 0),
        ("check", "full", 1),
    ],
)
def test_a_stop_a_closed_pipe_and_a_full_disk_say_whether_it_was_charged(
    cats: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    why: str,
    code: int,
) -> None:
    def broken(*_: Any) -> None:
        raise STOPS[why]()

    monkeypatch.setattr(f"guessproof.cli.{command.replace('release', 'releasing')}.print_json", broken)
    if why == "full":
        monkeypatch.setattr("guessproof.cli.refusing.print_json", broken)
    if why != "stopped":  # the real standard output is the tests' own
        monkeypatch.setattr("guessproof.cli.refusing.os.dup2", lambda *_: None)
    found, printed, said = run(monkeypatch, capsys, command, "either.toml", "--json")
    assert found == code
    assert "SECRET" not in printed + said
    if why == "stopped":
        document = json.loads(printed)
        fits("error", document)
        assert (document["error"]["kind"], document["error"]["charged"]) == ("stopped", command == "release")
    else:
        assert printed == ""


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
