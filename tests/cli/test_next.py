"""What to do next: every command that a command prints works as it stands, wherever plan and program lie."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import commands
import pytest

import guessproof.cli.story as story
from guessproof.cli.printing import command, program

EXAMPLE = Path(__file__).parents[2] / "examples/survey"
BEFORE = "Next|Then|with this much or more|beside published ones|what they cost"
PRINTED = re.compile(rf"(?:{BEFORE})[^:\n]*:\s+(guessproof .+)$", re.MULTILINE)


def run(line: str) -> str:
    done = commands.run(*shlex.split(line)[1:], COLUMNS="200")
    assert done.returncode == 0, (line, done.output)
    return done.output


def test_whoever_follows_what_is_printed_gets_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From `check` on, in a folder whose name has a space; nothing is typed but what was printed."""
    shutil.copytree(EXAMPLE, tmp_path / "my plans")
    monkeypatch.chdir(tmp_path)
    waiting, done = [command("check", "my plans/plan.toml")], list[str]()
    while waiting:
        line = waiting.pop(0)
        done.append(line)
        waiting += [found for found in PRINTED.findall(run(line)) if found not in (*waiting, *done)]
    assert [shlex.split(line)[1] for line in done] == ["check", "choose", "ledger", "release", "report"]
    assert Path("report.html").exists()
    assert PRINTED.findall(run("guessproof audit 'my plans/plan.toml' --trials 2000")) == done[-1:]


def test_a_program_that_no_shell_finds_is_called_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `make demo`, where it lies in .venv/bin."""
    lies = tmp_path / ".venv/bin/guessproof"
    lies.parent.mkdir(parents=True)
    lies.write_text("#!/bin/sh\n")
    lies.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [".venv/bin/guessproof"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert program() == ".venv/bin/guessproof"
    monkeypatch.setenv("PATH", str(lies.parent))
    assert program() == "guessproof"
    monkeypatch.setattr(sys, "argv", ["/usr/lib/guessproof/__main__.py"])
    assert shlex.split(program()) == [sys.executable, "-m", "guessproof"]


def test_the_story_ends_with_commands_that_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(story, "_audit", lambda plan, place: None)  # it has tests of its own, and takes its time
    story.main()
    printed = PRINTED.findall(capsys.readouterr().out)
    served, explained = (next(line for line in printed if f" {word} " in line) for word in ("serve", "explain"))
    assert Path(shlex.split(served)[2]).is_file()
    assert "for this plan" in run(explained)
