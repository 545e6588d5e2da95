"""Counts whose filters exclude each other: what they can do together, against every change of a record."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from guessproof.guarantee import RECORDS, VALUES, PrivacyUnit, total, total_of_families
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, PublicTable, analyze
from sql.neighbours import EXPONENT, Bench, allowed

UNIT = 2.0**EXPONENT
BENCH = Bench()


def ask(outputs: str, unit: PrivacyUnit = RECORDS, missing: bool = True, linked: int = 1) -> AnalyzedQuery:
    columns = {
        "x": DeclaredColumn("x", bounds=(-2, 10), missing=missing),
        "y": DeclaredColumn("y", bounds=(1, 6.5), missing=missing),
        "c": DeclaredColumn("c", levels=("black", "white", "bay"), missing=missing),
        "f": DeclaredColumn("f", levels=("true", "false"), missing=missing),
    }
    return analyze(f"SELECT {outputs} FROM t", DeclaredTable("t", columns, unit, linked=linked))


EXCLUSIVE = [
    "COUNT(*) FILTER (WHERE x < 3) AS a, COUNT(*) FILTER (WHERE x >= 3) AS b",
    "COUNT(*) FILTER (WHERE x < 0) AS a, COUNT(*) FILTER (WHERE x IN (0, 3)) AS b, COUNT(*) FILTER (WHERE x > 3) AS d",
    "SUM(CASE WHEN x < 3 THEN 1 ELSE 0 END) AS a, SUM(CASE WHEN x >= 3 THEN y ELSE 0 END) AS b",
    "COUNT(*) FILTER (WHERE c = 'black') AS a, SUM(x) FILTER (WHERE c IN ('white', 'bay')) AS b",
    "COUNT(*) FILTER (WHERE f) AS a, COUNT(*) FILTER (WHERE NOT f) AS b, COUNT(*) FILTER (WHERE f IS NULL) AS d",
    "COUNT(*) FILTER (WHERE x IS NULL) AS a, COUNT(x) AS b",
]
OVERLAPPING = [
    "COUNT(*) FILTER (WHERE x <= 3) AS a, COUNT(*) FILTER (WHERE x >= 3) AS b",
    "COUNT(*) FILTER (WHERE x < 3) AS a, COUNT(*) FILTER (WHERE y >= 3) AS b",
    "COUNT(*) FILTER (WHERE c <> 'black') AS a, COUNT(*) FILTER (WHERE c = 'bay') AS b",
    "SUM(CASE WHEN x < 3 THEN 1 ELSE 0.5 END) AS a, COUNT(*) FILTER (WHERE x >= 3) AS b",
    "MIN(x) FILTER (WHERE x < 3) AS a, COUNT(*) FILTER (WHERE x >= 3) AS b",
    "COUNT(*) FILTER (WHERE f) AS a, COUNT(*) FILTER (WHERE f OR x > 3) AS b",
]


@pytest.mark.parametrize("outputs", [*EXCLUSIVE, *OVERLAPPING])
@pytest.mark.parametrize("unit", [VALUES, RECORDS])
@pytest.mark.parametrize("missing", [True, False])
def test_no_record_does_more_to_all_of_them_together(outputs: str, unit: PrivacyUnit, missing: bool) -> None:
    if "IS NULL" in outputs and not missing:  # nothing is then: that count needs no noise
        outputs = EXCLUSIVE[0]
    question = ask(outputs, unit, missing)
    weights = [1.0, 0.5, 2.0][: len(question.measurements)]
    parts = [m.guarantee.scaled(w) for m, w in zip(question.measurements, weights, strict=True)]
    joint = total_of_families(parts, question.families)
    found = BENCH.answers(question)
    used = found[0].used
    kept = allowed(question.declared, used)
    answers = np.stack(
        [w * UNIT * a.variants[np.ix_(*kept, [0])].ravel() for w, a in zip(weights, found, strict=True)], axis=1
    )
    without = np.array([w * UNIT * a.without[0] for w, a in zip(weights, found, strict=True)])
    assert np.abs(answers - without).sum(axis=1).max() <= joint.presence + 1e-4
    random = Random(4)
    rows = [answers[i] for i in random.sample(range(len(answers)), min(200, len(answers)))]
    most = max(np.abs(a - b).sum() for a, b in itertools.combinations(rows, 2))
    assert most <= joint.change + 1e-4


@pytest.mark.parametrize("outputs", EXCLUSIVE)
def test_they_cost_what_one_histogram_costs(outputs: str) -> None:
    question = ask(outputs)
    assert question.families == (tuple(range(len(question.measurements))),)
    parts = [m.guarantee for m in question.measurements]
    joint = total_of_families(parts, question.families)
    assert joint.presence == pytest.approx(max(p.presence for p in parts))
    assert joint.change <= 2 * joint.presence * (1 + 1e-9)


@pytest.mark.parametrize("outputs", OVERLAPPING)
def test_what_may_overlap_is_charged_in_full(outputs: str) -> None:
    question = ask(outputs)
    assert question.families == ()
    parts = [m.guarantee for m in question.measurements]
    assert total_of_families(parts, question.families).presence == total(parts).presence


@pytest.mark.parametrize("unit", [VALUES, RECORDS])
def test_linked_records_change_while_one_comes_or_goes(unit: PrivacyUnit) -> None:
    question = ask("COUNT(*) FILTER (WHERE x < 3) AS a, COUNT(*) FILTER (WHERE x >= 3) AS b", unit, linked=3)
    joint = total_of_families([m.guarantee for m in question.measurements], question.families)
    assert question.families == ((0, 1),)
    # One comes into a, and two more go from a to b, or all three do.
    assert joint.change >= 6
    if unit.hides_presence:
        assert joint.presence >= 5


def test_a_record_that_a_join_makes_several_rows_of_may_count_in_all() -> None:
    rows = [{"c": "black", "v": 1.0}, {"c": "black", "v": 5.0}]
    public = PublicTable("s", {"v": DeclaredColumn("v", bounds=(0, 9))}, max_matches=2, read=lambda: rows)
    declared = DeclaredTable("t", {"c": DeclaredColumn("c", levels=("black", "white"))}, RECORDS, public=(public,))
    counts = "COUNT(*) FILTER (WHERE s.v < 3) AS a, COUNT(*) FILTER (WHERE s.v >= 3) AS b"
    question = analyze(f"SELECT {counts} FROM t JOIN s ON t.c = s.c", declared)
    parts = [m.guarantee for m in question.measurements]
    assert total_of_families(parts, question.families).presence >= 2  # black is in both
