"""Every command on the example plans that tests/cli leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.examples import CHOSEN, check_audit, check_whole_job, open_example
from cli.test_examples import WHOLE


@pytest.mark.parametrize("which", [name for name in CHOSEN if name not in WHOLE])
def test_the_whole_job(which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_whole_job(which, open_example(which, tmp_path, monkeypatch))


def test_the_audit_finds_nothing_about_ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_audit(open_example("ships/plan", tmp_path, monkeypatch))
