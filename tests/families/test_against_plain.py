"""Every accepted question, released with hardly any noise, says what the plain query says: nothing is clamped away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workload.judging import cells, plain_answer, released
from workload.page import read_record
from workload.questions import Question, read_families

ACCEPTED = [q for f in read_families() for q in f.questions if read_record()[q.title].accepted]
PRECISE = 1e8  # so large an ε that noise is next to nothing


@pytest.mark.parametrize("question", ACCEPTED, ids=lambda q: q.title)
def test_without_noise_it_is_the_plain_answer(question: Question, sources: dict[str, Path]) -> None:
    asked, source = _unbounded(question), sources[question.family]
    truth, answer = plain_answer(question, source), released(asked, source, PRECISE)
    found = dict(cells(answer))
    assert set(truth) <= set(found)
    step = max((float(c["step"]) for c in question.columns.values() if "step" in c), default=0.0)
    noise = 40 * max(float(n["noise_scale"]) for n in answer.noise)
    for cell, value in found.items():
        if cell in truth:
            assert value == pytest.approx(truth[cell], rel=1e-6, abs=noise + step), cell
        else:  # a declared group that no row is in: sums and counts are 0, an average is anything in its bounds
            assert abs(value) <= noise or "AVG" in question.sql


def _unbounded(question: Question) -> Question:
    """The same with so large a bound for each person that nobody reaches it."""
    return replace(question, data={**question.data, "max_rows": 100}) if "max_rows" in question.data else question
