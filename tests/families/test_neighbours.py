"""One unit of the database after another is changed in drawn ways: no answer moves further than was claimed."""

from __future__ import annotations

import math
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from depth import cases

from families import exact
from families.exact import Moved, moved, prepared
from families.units import Step, Walk
from guessproof.choosing import Choice
from guessproof.releasing.answer import Found
from workload.judging import chosen
from workload.page import read_record
from workload.questions import Question, read_families

ACCEPTED = [q for f in read_families() for q in f.questions if read_record()[q.title].accepted]
STEPS = cases(5)


@pytest.mark.parametrize("question", ACCEPTED[::3], ids=lambda q: q.title)  # all in tests/deep
def test_no_neighbour_moves_an_answer_further_than_claimed(
    question: Question, small_sources: dict[str, Path], tmp_path: Path
) -> None:
    check_walk(question, small_sources, tmp_path)


def check_walk(question: Question, small_sources: dict[str, Path], tmp_path: Path) -> None:
    """No step of a walk through neighbouring databases moves an answer too far."""
    source = Path(shutil.copy(small_sources[question.family], tmp_path / "walked.duckdb"))
    assert [*escapes(question, source, STEPS)] == []


def escapes(question: Question, source: Path, steps: int) -> Iterator[str]:
    """Every step that moved something too far, in words."""
    asked = _small(question)
    choice = chosen(asked, source)
    query = prepared(choice)
    walk = Walk(asked, source, zlib.crc32(question.title.encode()))
    before = query.run(walk.ask)
    try:
        for _ in range(steps):
            step = walk.step()
            after = query.run(walk.ask)
            yield from _beyond(choice, step, moved(choice, before, after))
            before = after
    finally:
        walk.con.close()


def _beyond(choice: Choice, step: Step, parts: list[Moved]) -> list[str]:
    """What moved further than was claimed: one measurement, or all beside their noise."""
    limits = [(part.presence if step.presence else part.change) + part.rounding for part in parts]
    found = [
        f"{part.text} moved by {part.by}, at most {limit} was claimed: {step.words}"
        for part, limit in zip(parts, limits, strict=True)
        if part.by > limit * (1 + 1e-9)
    ]
    total = math.fsum(part.by / part.scale for part in parts)
    whole = choice.guarantee.presence if step.presence else choice.guarantee.change
    if total > whole * (1 + 1e-9):
        found.append(f"all together moved by {total} of the noise, at most {whole} was claimed: {step.words}")
    return found


def _small(question: Question) -> Question:
    """The same for a table with few rows: a public number of rows must not exceed them."""
    return replace(question, data={**question.data, "rows": 1}) if "rows" in question.data else question


@pytest.mark.parametrize("title", ["cats/by_colour", "payments/of_clients", "ships/dues"])
def test_a_claim_that_is_too_small_is_seen(
    title: str, small_sources: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A multiplicity forgotten, a second group not counted: what is claimed is a fraction of the truth."""
    question = next(q for q in ACCEPTED if q.title == title)
    source = Path(shutil.copy(small_sources[question.family], tmp_path / "walked.duckdb"))
    monkeypatch.setattr("families.test_neighbours.moved", _understated)
    assert next(escapes(question, source, 40), None)


def _understated(choice: Choice, before: Found, after: Found) -> list[Moved]:
    return [replace(m, change=m.change / 4, presence=m.presence / 4) for m in exact.moved(choice, before, after)]
