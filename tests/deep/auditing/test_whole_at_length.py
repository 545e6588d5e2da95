"""Audits of whole plans that take seconds each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from auditing.test_persons import ALONE, played
from auditing.test_whole import choose_form, fails, small

from guessproof.auditing.result import Audit
from guessproof.noise import FollowingNoise
from guessproof.sql import publication

__all__ = ["small"]  # used by all tests here


def test_questions_that_do_not_exclude_each_other_must_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publication, "find_families", lambda measured: (tuple(range(len(measured))),))
    choice = choose_form("several", tmp_path)
    assert fails(choice, "together")


def test_noise_that_follows_the_data_too_closely_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = FollowingNoise.scale_of
    monkeypatch.setattr(FollowingNoise, "scale_of", lambda *given: true(*given) / 4)
    assert fails(choose_form("smooth", tmp_path), "movement")


GROUPED = "SELECT ward, COUNT(*) AS n, SUM(days - 17) AS s FROM visits GROUP BY ward"


def checks(found: Audit) -> dict[str, Any]:
    return {check.name: check for check in found.checks}


def test_an_audit_finds_a_person_who_moves_all_that_is_promised_and_no_more() -> None:
    for sql in (GROUPED, ALONE):
        found = played(sql)
        assert found.passed, [c.words for c in found.checks if c.verdict == "fail"]
        for name in ("movement", "storage"):
            assert 0.999 <= (checks(found)[name].measured or 0) <= 1
        assert "one person moved" in checks(found)["movement"].words
