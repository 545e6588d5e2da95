"""A tenth of the frozen questions: nothing becomes unsound, lost or looser than its class allows."""

from __future__ import annotations

import pytest
from frozen import check, questions

QUESTIONS = questions(every=10)


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_frozen_questions_keep_their_answers(name: str) -> None:
    assert check(QUESTIONS[name]) == []
