"""All frozen questions: nothing becomes unsound, lost or looser than its class allows."""

from __future__ import annotations

import pytest
from frozen import check, questions

QUESTIONS = questions()


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_all_frozen_questions_keep_their_answers(name: str) -> None:
    assert check(QUESTIONS[name]) == []
