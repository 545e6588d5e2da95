"""How-tos of each kind, run as they are written; the others are in tests/deep."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.howtos import PAGES, check_how_to

FIRST = ("a-count", "median-and-quantiles", "several-rows-of-a-person")


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem in FIRST], ids=lambda page: page.stem)
def test_a_how_to_is_true(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_how_to(page, tmp_path, monkeypatch)


def test_these_how_tos_are_there() -> None:
    assert {page.stem for page in PAGES} >= set(FIRST)
