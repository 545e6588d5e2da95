"""Questions drawn at random, walked from neighbour to neighbour: those that are accepted keep their claims."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from families.drawn import VOCABULARIES, draw_question
from families.test_neighbours import escapes

from guessproof.errors import GuessproofError

SEEDS, STEPS = 5, 8


@pytest.mark.parametrize("name", VOCABULARIES)
def test_drawn_questions_keep_their_claims(name: str, small_sources: dict[str, Path], tmp_path: Path) -> None:
    accepted = 0
    for seed in range(SEEDS):
        question = draw_question(name, seed)
        source = Path(shutil.copy(small_sources[question.family], tmp_path / "walked.duckdb"))
        try:
            assert [*escapes(question, source, STEPS)] == [], question.sql
        except GuessproofError:  # refused: it need not be kept
            continue
        accepted += 1
    assert accepted >= 2
