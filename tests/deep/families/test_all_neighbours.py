"""All questions of the workload are walked from neighbour to neighbour; tests/families walks a third of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from families.test_neighbours import ACCEPTED, check_walk

from workload.questions import Question


@pytest.mark.parametrize("question", ACCEPTED, ids=lambda q: q.title)
def test_no_neighbour_moves_an_answer_further_than_claimed(
    question: Question, small_sources: dict[str, Path], tmp_path: Path
) -> None:
    check_walk(question, small_sources, tmp_path)
