"""Every command on example plans, as a newcomer would run them; the whole job of the others is in tests/deep."""

from __future__ import annotations

from pathlib import Path

import commands
import pytest
from commands import printed

from cli.examples import CHOSEN, asked, check_audit, check_choice, check_whole_job, open_example

WHOLE = ("cafeteria/plan", "cats/either", "survey/plan", "visits/plan")


@pytest.fixture
def example(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The example's name, and its plan in a folder with an open ledger."""
    return request.param, open_example(request.param, tmp_path, monkeypatch)


@pytest.mark.parametrize("example", WHOLE, indirect=True)
def test_the_whole_job(example: tuple[str, str]) -> None:
    check_whole_job(*example)


@pytest.mark.parametrize("example", [name for name in CHOSEN if name not in WHOLE], indirect=True)
def test_what_is_chosen(example: tuple[str, str]) -> None:
    check_choice(*example)


@pytest.mark.parametrize("example", ["cafeteria/plan", "survey/plan"], indirect=True)
def test_the_audit_finds_nothing(example: tuple[str, str]) -> None:
    check_audit(example[1])


@pytest.mark.parametrize("example", ["cats/plan", "salaries/plan"], indirect=True)
def test_the_scan_is_internal_and_marks_later_choices(example: tuple[str, str]) -> None:
    found = asked("scan", example[1])
    assert "INTERNAL" in found["banner"]
    assert asked("choose", example[1])["data_dependent"] is True


@pytest.mark.parametrize(
    ("example", "hint"), [("survey/plan", "attacker"), ("ships/plan", "each column")], indirect=["example"]
)
def test_what_cannot_be_scanned_is_refused(example: tuple[str, str], hint: str) -> None:
    refused = commands.run("scan", example[1])
    assert refused.returncode == 2
    assert hint in refused.stderr


@pytest.mark.parametrize("example", ["cafeteria/plan", "cats/either", "survey/plan"], indirect=True)
def test_text_is_readable_without_a_terminal(example: tuple[str, str]) -> None:
    text = printed("choose", example[1], "--full")
    assert "ε" in text
    assert "assumed known" in text or "presence of one row" in text
    assert "Charged" in printed("release", example[1])
