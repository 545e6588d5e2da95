"""The doctor tries imports, asks java for its version, and says what to run for what is missing."""

from __future__ import annotations

import importlib
import json
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import commands
import pytest

from guessproof.cli.doctor import PARTS, look

ROOT = Path(__file__).parents[2]


def run(*words: str) -> str:
    done = commands.run("doctor", *words)
    assert done.returncode == 0
    return done.output


def test_every_part_is_named_and_what_is_there_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hunter2@host/db")
    text, told = run(), json.loads(run("--json"))
    found = {part["name"]: part for part in told["parts"]}
    assert list(found) == ["noise", "duckdb", "postgres", "spark", "java", "frames", "charts", "web"]
    for name in found:
        assert found[name]["ready"]
        assert found[name]["remedy"] is None
        assert f"✓ {name}" in text
    assert found["noise"]["version"] == version("opendp")
    assert "hunter2" not in text + json.dumps(told)


def test_what_is_missing_comes_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name in ("psycopg", "polars"):
            raise ImportError(name)
        if name == "duckdb":
            raise RuntimeError("broken on this machine")
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    found = {part.name: look(part) for part in PARTS}
    assert found["postgres"].remedy == "pip install 'guessproof[postgres]'"
    assert found["frames"].missing == ("polars",)
    assert found["frames"].remedy == "pip install 'guessproof[frames]'"
    assert found["duckdb"].missing == ("duckdb",)
    assert "✗ postgres" in run()


@pytest.mark.parametrize("script", [None, "echo 'openjdk version \"1.8.0_392\"' >&2"])
def test_a_machine_without_a_fitting_java_is_told_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> None:
    if script is not None:
        (tmp_path / "bin").mkdir()
        java = tmp_path / "bin" / "java"
        java.write_text(f"#!/bin/sh\n{script}\n")
        java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    (part,) = (part for part in PARTS if part.name == "java")
    found = look(part)
    assert found.missing == ("java 17",)
    assert found.version == (None if script is None else "8")
    assert "openjdk-17" in str(found.remedy)


def test_an_extra_that_is_named_is_one_that_this_version_has() -> None:
    """A command that pip would only warn about is no remedy."""
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {part.extra for part in PARTS if part.extra} <= set(offered)
