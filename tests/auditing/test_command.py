"""`guessproof audit` as it is typed, and its picture."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner

from auditing.plans import CATS, SALARIES, chosen, fast
from guessproof.auditing import Audit, audit_choice
from guessproof.auditing.certain import examine
from guessproof.auditing.result import Verdict
from guessproof.charts.audit import calibration, save
from guessproof.cli.audit import MEANINGS, STYLES, audit
from guessproof.errors import ParameterError
from guessproof.noise import Noise

app = typer.Typer()
app.command()(audit)


@pytest.fixture
def plan(tmp_path: Path) -> str:
    path = tmp_path / "plan.toml"
    path.write_text(SALARIES, encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Noise, "draw", fast(53))
    monkeypatch.setattr("guessproof.auditing.run.examine", lambda *_: ())


def typed(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(words), env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def found() -> Audit:
    return audit_choice(chosen(SALARIES), trials=2000, seed=1)


def test_a_sound_plan_passes_and_says_so(plan: str) -> None:
    code, out, err = typed(plan, "--trials", "2000", "--seed", "1")
    assert code == 0
    assert "Nothing more was found than was promised" in out
    assert "guesser, SUM(salary)" in out
    assert "chance of a false alarm 0.001 at most" in re.sub(r"\s+", " ", out)
    assert "No value of the plan's source was read" in re.sub(r"\s+", " ", out)
    assert "Traceback" not in err


def test_json_is_all_there_is_on_the_output(plan: str) -> None:
    code, out, _ = typed(plan, "--trials", "2000", "--seed", "1", "--json")
    table = json.loads(out)
    assert code == 0
    assert table["passed"] is True
    assert table["seed"] == 1
    assert table["false_alarm"] == 0.001
    assert {"name", "measured", "interval", "expected", "verdict", "words"} == set(table["checks"][0])
    assert table["points"]


def test_what_fails_exits_with_7_and_is_named(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Noise, "draw", fast(53, scale=0.5))
    code, out, _ = typed(plan, "--trials", "8000", "--seed", "1")
    assert code == 7
    assert "do not release" in out
    assert "noise, SUM(salary): laplace noise" in re.sub(r"\s+", " ", out)
    code, out, _ = typed(plan, "--trials", "8000", "--seed", "1", "--json")
    assert code == 7
    assert json.loads(out)["passed"] is False


def test_a_belief_above_its_bound_exits_with_7(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from guessproof.auditing import run

    honest = run.check_exposure
    monkeypatch.setattr(
        run,
        "check_exposure",
        lambda *given: [replace(c, verdict="fail") if c.name == "belief" else c for c in honest(*given)],
    )
    code, out, _ = typed(plan, "--trials", "2000", "--seed", "1")
    assert code == 7
    assert "do not release" in out
    assert "belief: over all trials the belief" in re.sub(r"\s+", " ", out)
    assert "Nothing more was found" not in out
    code, out, _ = typed(plan, "--trials", "2000", "--seed", "1", "--json")
    assert code == 7
    table = json.loads(out)
    assert (table["passed"], table["failures"]) == (False, ["belief"])


def test_wrong_options_are_refused_before_anything_is_done(plan: str) -> None:
    with pytest.raises(ParameterError, match="chart"):
        typed(plan, "--chart", "audit.docx")
    with pytest.raises(ParameterError, match="folder"):
        typed(plan, "--chart", "no/such/folder/audit.svg")
    with pytest.raises(ParameterError, match="trials"):
        typed(plan, "--trials", "5")


def test_the_picture_is_drawn_beside_the_table(plan: str, tmp_path: Path) -> None:
    path = tmp_path / "audit.svg"
    assert typed(plan, "--trials", "2000", "--seed", "1", "--chart", str(path))[0] == 0
    assert path.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("html", b"<!DOCTYPE html>")])
def test_pictures_of_other_forms(form: str, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"audit.{form}"
    save(found(), str(path))
    content = path.read_bytes()
    assert content.lstrip().startswith(start)
    assert b"https://cdn" not in content


def test_the_picture_holds_every_point_and_says_what_failed() -> None:
    sound = found()
    spec = json.dumps(calibration(sound).to_dict(), ensure_ascii=False)
    assert "measured as predicted" in spec
    assert str(sound.points[0].predicted) in spec
    broken = replace(sound, passed=False, checks=(replace(sound.checks[0], verdict="fail"), *sound.checks[1:]))
    assert "NOT as promised: engine" in json.dumps(calibration(broken).to_dict())


def test_every_check_and_verdict_has_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guessproof.auditing.run.examine", examine)
    seen = {c.name.split(",")[0] for text in (SALARIES, CATS) for c in audit_choice(chosen(text), trials=2000).checks}
    assert seen == set(MEANINGS)
    assert set(STYLES) == set(get_args(Verdict))
