"""No command writes over anything that it reads, by whatever name it is called; and never half a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import commands
import pytest

from guessproof.errors import ParameterError
from guessproof.ledger import Budget, Ledger
from guessproof.outputs import check_output, leads_to, write_output

PLAN = """
[data]
name = "people"
source = "{source}"
protects = "values"
[query]
sql = "SELECT SUM(x) AS total FROM t"
[columns.x]
bounds = [0, 10]
missing = false
prior = {{ from = "public.csv", column = "x" }}
[attacker]
goal = "x within 1"
advantage = 0.2
at = {{ x = 5 }}
"""
INPUTS = ["t.csv", "plan.toml", "guessproof.ledger", "public.csv", "key"]
COMMANDS: dict[str, tuple[list[str], str]] = {
    "release": (["release", "plan.toml", "--key-file", "key", "-o"], ".csv"),
    "report": (["report", "plan.toml", "--key-file", "key", "-o"], ".html"),
    "scan": (["scan", "plan.toml", "--key-file", "key", "-o"], ".json"),
    "scan chart": (["scan", "plan.toml", "--key-file", "key", "--chart"], ".svg"),
    "audit": (["audit", "plan.toml", "--trials", "50", "--chart"], ".svg"),
    "init": (["init", "t.csv", "--column", "x", "--force", "-o"], ".toml"),
}
DISGUISES: dict[str, Callable[[Path, Path], Path]] = {
    "itself": lambda path, _: path,
    "relative": lambda path, _: Path("folder/..") / path.name,
    "link": lambda path, name: (name.symlink_to(path), name)[1],
    "second name": lambda path, name: (name.hardlink_to(path), name)[1],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "t.csv").write_text("x\n1\n5\n9\n")
    (tmp_path / "public.csv").write_text("x\n" + "\n".join(map(str, range(11))) + "\n")
    (tmp_path / "key").write_bytes(b"k" * 32)
    (tmp_path / "plan.toml").write_text(PLAN.format(source="t.csv"))
    Ledger.create(tmp_path / "guessproof.ledger", "people", Budget("100"), b"k" * 32)
    return tmp_path


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_is_read_is_written_over(folder: Path, command: str, disguise: str) -> None:
    words, kind = COMMANDS[command]
    for name in INPUTS:
        if command == "init" and name in ("plan.toml", "public.csv", "key"):
            continue  # init reads the table only; a plan is replaced if that is asked for
        if command == "audit" and name == "key":
            continue
        path = folder / name
        before = path.read_bytes()
        output = DISGUISES[disguise](path, folder / f"other-{name}{kind}")
        done = commands.run(*words, str(output))
        assert done.returncode == 2, (name, done)
        assert path.read_bytes() == before
        assert not list(folder.glob(".guessproof-*"))
    verified = commands.run("ledger", "show", "--key-file", "key", "--json")
    assert '"charges": []' in verified.output  # refused before anything was charged or noted
    assert '"notes": []' in verified.output


def test_what_a_pattern_would_find_is_part_of_the_table(tmp_path: Path) -> None:
    kept = [("the table", tmp_path / "part-*.parquet"), ("the ledger", tmp_path / "Book.Ledger")]
    for name in ("part-9.parquet", "PART-9.parquet", "book.ledger"):
        with pytest.raises(ParameterError, match="is the"):
            check_output("output", tmp_path / name, kept=kept)
    assert check_output("output", tmp_path / "answers.parquet", kept=kept)
    (tmp_path / "folder").mkdir()
    assert leads_to(tmp_path / "folder" / "new.parquet", tmp_path / "folder")


def test_a_database_is_never_replaced(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "some.ledger", "people", Budget("1"))
    with pytest.raises(ParameterError, match="database"):
        check_output("output", tmp_path / "some.ledger")


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, broken)
    with pytest.raises(ParameterError, match="No space left"):
        write_output(target, b"new")
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_modes(tmp_path: Path) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    shared, private, new = (tmp_path / name for name in ("shared", "private", "new"))
    shared.write_text("old")
    shared.chmod(0o640)
    private.write_text("old")
    private.chmod(0o644)
    plain = tmp_path / "plain"
    plain.write_text("made by others")
    write_output(shared, b"new")
    write_output(private, b"new", private=True)
    write_output(new, b"new")
    assert (mode(shared), mode(private), mode(new)) == (0o640, 0o600, mode(plain))


def test_a_file_is_not_replaced_unless_asked(tmp_path: Path) -> None:
    target = tmp_path / "a"
    write_output(target, b"one", replaces=False)
    with pytest.raises(ParameterError, match="already"):
        write_output(target, b"two", replaces=False)
    assert target.read_bytes() == b"one"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
