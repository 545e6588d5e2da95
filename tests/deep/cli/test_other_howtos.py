"""The how-tos that tests/cli leaves out, run as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.howtos import PAGES, check_how_to
from cli.test_howtos import FIRST


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem not in FIRST], ids=lambda page: page.stem)
def test_a_how_to_is_true(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_how_to(page, tmp_path, monkeypatch)
