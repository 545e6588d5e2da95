"""Every question of the workload has the verdict that docs/workload.md prints, and there are enough of each kind.

`python -m workload --write` writes the page and the record anew.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest

from workload.judging import DRAWS, analysed, measured
from workload.page import PAGE, page, read_record
from workload.questions import FAMILIES, Question, read_families

QUESTIONS = [question for family in read_families() for question in family.questions]
RECORD = read_record()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.title)
def test_the_verdict_is_as_recorded(question: Question, sources: dict[str, Path]) -> None:
    found, known = analysed(question, sources[question.family]), RECORD[question.title]
    assert (found.accepted, found.reason) == (known.accepted, known.reason)
    assert [text for text, _ in found.scales] == [text for text, _ in known.scales]
    for (_, scale), (_, recorded) in zip(found.scales, known.scales, strict=True):
        assert math.isclose(scale, recorded, rel_tol=1e-9)


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(RECORD, DRAWS)
    assert list(RECORD) == [question.title for question in QUESTIONS]


def test_there_are_enough_questions_of_each_family() -> None:
    assert len(QUESTIONS) >= 60
    asked = Counter(question.family for question in QUESTIONS)
    assert all(asked[family] >= 5 for family in FAMILIES)
    accepted = {title for title, verdict in RECORD.items() if verdict.accepted}
    assert len(accepted) >= 50
    assert {f"tpch/q{number}" for number in (1, 3, 6, 12, 19)} <= accepted
    assert all(verdict.reason for title, verdict in RECORD.items() if title not in accepted)


@pytest.mark.parametrize("title", ["cats/tabby_queens", "payments/by_channel", "tpch/q1"])
def test_the_error_is_about_as_recorded(title: str, sources: dict[str, Path]) -> None:
    question = next(q for q in QUESTIONS if q.title == title)
    error = measured(question, sources[question.family]).error
    recorded = RECORD[title].error
    assert error is not None
    assert recorded is not None
    assert error <= 20 * recorded + 0.02  # noise is drawn anew: only a gross mistake is seen
