"""Pictures of audits of every form."""

from __future__ import annotations

from pathlib import Path

import pytest
from auditing.test_command import _quick, found

from guessproof.charts.audit import save

__all__ = ["_quick"]  # used by all tests here


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("html", b"<!DOCTYPE html>")])
def test_pictures_of_other_forms(form: str, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"audit.{form}"
    save(found(), str(path))
    content = path.read_bytes()
    assert content.lstrip().startswith(start)
    assert b"https://cdn" not in content
