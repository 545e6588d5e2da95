"""`guessproof audit` as it is typed, and its picture."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import commands
import pytest

from auditing.forms import FORMS
from auditing.plans import CATS, SALARIES, chosen, fast
from guessproof.auditing import Audit, audit_choice
from guessproof.auditing.certain import examine
from guessproof.auditing.result import MEANINGS, Check, Verdict
from guessproof.charts.audit import calibration
from guessproof.cli.audit import STYLES
from guessproof.noise import Noise

MOST_LINES = 25
FOREVER = ("--seconds", "100000")  # all draws are made, however busy the machine is
MANY = """
[data]
name = "stays"
source = "stays.csv"
protects = "persons"
person = "patient"
max_rows = 3
[query]
sql = "SELECT ward, COUNT(*) AS n, SUM(balance) AS s, AVG(days) AS d FROM t GROUP BY ward"
[columns.balance]
bounds = [-5000, 5000]
[columns.days]
bounds = [0, 40]
[columns.ward]
levels = ["north", "south"]
[risk]
constant = 3
"""
DRAW = Noise.draw  # the real sampler


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
    done = commands.run("audit", *words, *FOREVER, COLUMNS="100")
    return done.returncode, done.stdout, done.stderr


def found() -> Audit:
    return audit_choice(chosen(SALARIES), trials=2000, seconds=1e5, seed=1)


def test_a_sound_plan_passes_and_says_so(plan: str) -> None:
    code, out, err = typed(plan, "--trials", "2000", "--seed", "1")
    assert code == 0
    assert "Nothing more was found than was promised" in out
    assert "chance of a false alarm 0.001 at most" in re.sub(r"\s+", " ", out)
    assert "Traceback" not in err
    code, full, _ = typed(plan, "--trials", "2000", "--seed", "1", "--full")
    assert code == 0
    assert "guesser, SUM(salary)" in full
    assert "No value of the plan's source was read" in re.sub(r"\s+", " ", full)


def test_it_is_a_line_a_check_and_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guessproof.auditing.run.examine", examine)
    for number, text in enumerate((SALARIES, CATS, MANY)):
        path = tmp_path / f"{number}.toml"
        path.write_text(text, encoding="utf-8")
        done = commands.run("audit", str(path), "--trials", "2000", *FOREVER, COLUMNS="80")
        lines = done.stdout.splitlines()
        assert done.returncode == 0
        assert len(lines) <= MOST_LINES, done.stdout
        assert max(len(line) for line in lines if not line.startswith(("More: ", "Next: "))) <= 80
        assert [line for line in lines if line.startswith("storage: ") and "stored in" in line] != []
        assert lines[-1].startswith("Next: ")


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
    for words, hint in ((("--chart", "audit.docx"), "chart"), (("--chart", "no/such/a.svg"), "folder")):
        code, _, refused = typed(plan, *words)
        assert (code, hint in refused) == (2, True)
    code, _, refused = typed(plan, "--trials", "5")
    assert (code, "trials" in refused) == (2, True)


def test_the_picture_is_drawn_beside_the_table(plan: str, tmp_path: Path) -> None:
    path = tmp_path / "audit.svg"
    assert typed(plan, "--trials", "2000", "--seed", "1", "--chart", str(path))[0] == 0
    assert path.read_text(encoding="utf-8").startswith("<svg")


def test_the_picture_holds_every_point_and_says_what_failed() -> None:
    sound = found()
    spec = json.dumps(calibration(sound).to_dict(), ensure_ascii=False)
    assert "measured as predicted" in spec
    assert str(sound.points[0].predicted) in spec
    broken = replace(sound, passed=False, checks=(replace(sound.checks[0], verdict="fail"), *sound.checks[1:]))
    assert "NOT as promised: engine" in json.dumps(calibration(broken).to_dict())


FAILING = """
data = { name = "c", source = "nowhere.csv", table = "t", protects = "values", rows = 4 }
query.sql = "SELECT SUM(time) AS total FROM t"
columns.time = { bounds = [0, 120], missing = false, prior = { normal = { mean = 20, sd = 6.28 } } }
attacker = { goal = "time within 2", at = { time = 20 }, advantage = 0.05, failure = 0.01 }
release = { mechanism = "gaussian", delta = 1e-6 }
"""


def test_every_check_and_verdict_has_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guessproof.auditing.run.examine", examine)
    audits = [
        audit_choice(chosen(text), trials=2000, seconds=1e5) for text in (SALARIES, CATS, FORMS["found"], FAILING)
    ]
    assert {check.kind for found in audits for check in found.checks} == set(MEANINGS)
    assert set(STYLES) == set(get_args(Verdict))


@pytest.mark.parametrize(("text", "check"), [(FORMS["found"], "found groups"), (FAILING, "failure")])
def test_plans_of_every_kind_end_with_a_verdict(
    text: str, check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "draw", DRAW)
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    code, out, _ = typed(str(tmp_path / "plan.toml"), "--trials", "2000", "--seed", "1", "--full")
    words = re.sub(r"\s+", " ", out)
    assert code == 0
    assert f"{check}: {MEANINGS[check]}" in words
    assert "Nothing more was found than was promised" in words
    assert words.count("together: ") <= 1


def test_a_check_without_a_meaning_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="add its meaning"):
        Check("something new", 0.0, None, 0.0, "pass", "")
