"""What must never happen: commands that do not need the table never open it, and no traceback reaches a user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run

from guessproof.cli.manual import manual

ROOT = Path(__file__).parents[2]
WITHOUT_TABLE = (
    ("choose", "plan.toml"),
    ("explain", "plan.toml", "--epsilon", "1"),
    ("audit", "plan.toml", "--trials", "2000", "--seconds", "100000"),
    ("report", "plan.toml", "-o", "page.html"),
    ("init", "--template", "average", "--column", "time", "-o", "new.toml"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples" / "cafeteria", tmp_path / "c")
    monkeypatch.chdir(tmp_path / "c")
    return tmp_path / "c"


@pytest.mark.parametrize("words", [WITHOUT_TABLE[0], WITHOUT_TABLE[-1]], ids=lambda w: w[0])
def test_a_plan_is_weighed_before_its_table_is_there(folder: Path, words: tuple[str, ...]) -> None:
    (folder / "cafeteria.csv").unlink()
    done = run(*words)
    assert done.returncode == 0, done.stderr


@pytest.mark.timeout(240)
@pytest.mark.parametrize("words", WITHOUT_TABLE[:4], ids=lambda w: w[0])
def test_the_source_is_not_even_looked_into(folder: Path, words: tuple[str, ...]) -> None:
    """Opening a named pipe would wait for ever: whatever a table holds, these commands cannot know it."""
    source = folder / "cafeteria.csv"
    source.unlink()
    os.mkfifo(source)
    done = run(*words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (("choose", "absent.toml"), 2, "guessproof init"),
        (("release", "plan.toml"), 4, "ledger open"),
        (("scan", "plan.toml"), 4, "ledger open"),
        (("release", "plan.toml", "-o", "a.xls"), 2, ".csv"),
        (("explain", "plan.toml", "--epsilon", "-1"), 2, "above 0"),
        (("audit", "absent.toml"), 2, "no such file"),
        (("report", "plan.toml", "-o", "none/at/all.html"), 2, "folder"),
        (("ledger", "show"), 4, "ledger open"),
    ],
    ids=lambda w: " ".join(w) if isinstance(w, tuple) else "",
)
def test_refusals_are_a_few_words_and_an_exit_code(folder: Path, words: tuple[str, ...], code: int, hint: str) -> None:
    done = run(*words)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert hint in " ".join(done.stderr.split())
    assert folder.exists()


def test_an_unexpected_failure_shows_no_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from guessproof.cli import app as room

    def broken() -> None:
        raise ValueError("SECRET-VALUE")

    monkeypatch.setattr(room, "app", broken)
    with pytest.raises(SystemExit) as stopped:
        room.main()
    assert stopped.value.code == 1
    assert "SECRET" not in capsys.readouterr().err


@pytest.mark.parametrize("words", [("--debug", "check", "plan.toml"), ("check", "plan.toml", "--debug")])
def test_its_place_is_shown_where_that_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    def broken(_: object) -> None:
        raise ValueError("what nobody foresaw")

    monkeypatch.setattr("guessproof.plan.load_plan", broken)
    shown, hidden = run(*words), run(*(word for word in words if word != "--debug"))
    assert (shown.returncode, hidden.returncode) == (1, 1)
    assert "ValueError: what nobody foresaw" in shown.stderr
    assert "in broken" in shown.stderr
    assert "Traceback" not in hidden.stderr
    assert folder.exists()


def test_the_manual_is_current() -> None:
    """Made anew with: python -m guessproof.cli.manual > docs/commands.md"""
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == manual()


def test_help_is_quick_to_import() -> None:
    """No heavy room is loaded for --help; the clock is left to the benchmarks."""
    script = (
        "import sys; sys.argv = ['guessproof', '--help']\n"
        "from guessproof.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'duckdb', 'sqlglot', 'pydantic', 'pyarrow', 'altair'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
