"""One unit of the database after another is changed in drawn ways: no answer moves further than was claimed.

FAMILY_STEPS=1000 looks further.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from families.exact import exact, moved
from families.units import Walk
from workload.judging import chosen
from workload.making import make_database
from workload.page import read_record
from workload.questions import Question, read_families

ACCEPTED = [q for f in read_families() for q in f.questions if read_record()[q.title].accepted]
STEPS = int(os.environ.get("FAMILY_STEPS", "6"))
SMALL = 0.02


@pytest.mark.parametrize("question", ACCEPTED, ids=lambda q: q.title)
def test_no_neighbour_moves_an_answer_further_than_claimed(question: Question, tmp_path: Path) -> None:
    assert escapes(question, tmp_path, STEPS) == []


def escapes(question: Question, folder: Path, steps: int) -> list[str]:
    """Every step that moved something too far, in words."""
    asked = _small(question)
    source = make_database(folder / "made.duckdb", question.family, SMALL)
    choice = chosen(asked, source)
    walk = Walk(asked, source, Counter(question.title)["a"] + len(question.title))
    found: list[str] = []
    before = exact(choice)
    for _ in range(steps):
        step = walk.step()
        after = exact(choice)
        parts = moved(choice, before, after)
        for part in parts:
            limit = (part.presence if step.presence else part.change) + part.rounding
            if part.by > limit * (1 + 1e-9):
                found.append(f"{part.text} moved by {part.by}, at most {limit} was claimed: {step.words}")
        total = math.fsum(part.by / part.scale for part in parts)
        whole = choice.guarantee.presence if step.presence else choice.guarantee.change
        if total > whole * (1 + 1e-9):
            found.append(f"all together moved by {total} of the noise, at most {whole} was claimed: {step.words}")
        before = after
    return found


def _small(question: Question) -> Question:
    """The same for a table with few rows: a public number of rows must not exceed them."""
    return replace(question, data={**question.data, "rows": 1}) if "rows" in question.data else question
