"""Quantiles and counts of levels where persons have several rows: exact odds of neighbours on the engine."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from engines import tables

from guessproof.guarantee import Persons
from guessproof.guarantee.unit import UnitTotal
from guessproof.ledger import Budget, Ledger
from guessproof.mechanisms.selection import Selection
from guessproof.plan import loads_plan
from guessproof.releasing import release
from guessproof.sql import (
    AnalyzedQuery,
    DeclaredColumn,
    DeclaredTable,
    RewrittenQuery,
    analyze,
    find_target,
    rewrite,
    unit_places,
)
from guessproof.sql.measurement import PARTS_OF_ROW
from guessproof.sql.places import RankContribution
from sql.running import run

COLUMNS = {
    "id": DeclaredColumn("id", kind="number"),
    "x": DeclaredColumn("x", bounds=(0, 4), step=1),
    "g": DeclaredColumn("g", levels=("a", "b", "c")),
}
STORED = {"id": "BIGINT", "x": "DOUBLE", "g": "VARCHAR"}
ARROW = {"id": pa.int64(), "x": pa.float64(), "g": pa.string()}
UNITS = (Persons("id", 1), Persons("id", 3), Persons("id", 3, 1), Persons("id", 2, 2))
PICKED = ("MEDIAN(x)", "QUANTILE(x, 0.9)", "MIN(x)")
SCALE = 2.0
WRITTEN: dict[int, RewrittenQuery] = {}
Table = list[dict[str, Any]]


def ask(what: str, by: str, unit: Persons, where: str = "") -> AnalyzedQuery:
    inside = 1 if what.startswith("MIN") else None
    keys, grouped = (f"{by}, ", f" GROUP BY {by}") if by else ("", "")
    declared = DeclaredTable("t", COLUMNS, unit, ranks_inside=inside)
    return analyze(f"SELECT {keys}{what} AS v FROM t {where}{grouped}", declared)


def cells(question: AnalyzedQuery, rows: Table) -> dict[Any, Any]:
    written = WRITTEN.get(id(question))
    if written is None:
        written = rewrite(question, [0] * len(question.measurements), find_target("duckdb", STORED))
        WRITTEN[id(question)] = written  # which holds the question, so that its number stays its own
    return {group: found[0][0] for group, found in written.run(lambda sql: run(sql, rows, ARROW)).items()}


def draw_person(rng: random.Random, person: int) -> Table:
    return [
        {"id": person, "x": rng.choice([0.0, 1.0, 2.0, 4.0, 4.0, None]), "g": rng.choice("abc")}
        for _ in range(rng.choice([0, 1, 2, 3, 9]))
    ]


def neighbours(cases: int, seed: int = 5) -> list[tuple[Table, Table, bool]]:
    """Two tables that differ in one person, and whether she is in both."""
    rng, found = random.Random(seed), []
    for case in range(cases):
        others = [row for person in range(2, 2 + case % 4) for row in draw_person(rng, person)]
        own = [draw_person(rng, 1), draw_person(rng, 1)]
        if case % 5 == 0:  # all that she has stands at one end, and then at the other
            own = [[{"id": 1, "x": end, "g": "a"}] * 9 for end in (0.0, 4.0)]
        found.append(([*others, *own[0]], [*others, *own[1]], bool(own[0] and own[1])))
    return found


def told(question: AnalyzedQuery, here: Table, there: Table) -> float:
    """The largest change of the logarithm of a probability over all groups together, times the noise scale."""
    contribution = question.measurements[0].contribution
    assert isinstance(contribution, RankContribution)
    aim, places = contribution.aim, len(contribution.grid.values)
    sides = [cells(question, rows) for rows in (here, there)]
    total = 0.0
    for group in {**sides[0], **sides[1]}:
        chances: list[Any] = []
        for side in sides:
            scores = aim.scores(side.get(group) or (0,) * places, PARTS_OF_ROW)
            per_rank = aim.level.denominator * PARTS_OF_ROW
            chances.append(Selection(SCALE, 1.0, places).chances([s / per_rank for s in scores]))
        total += float(np.abs(np.log(chances[0]) - np.log(chances[1])).max())
    return total * SCALE


def excess(question: AnalyzedQuery, cases: int = 15) -> float:
    """By how much neighbours exceed what is promised, at most; below 0 where they keep to it."""
    promise = question.measurements[0].guarantee
    found = ((told(question, a, b), promise.change if both else promise.presence) for a, b, both in neighbours(cases))
    return max(moved - allowed for moved, allowed in found)


@pytest.mark.parametrize("by", ["", "g"])
@pytest.mark.parametrize("what", PICKED)
def test_no_person_moves_ranks_further_than_promised(what: str, by: str) -> None:
    for unit in UNITS:
        assert excess(ask(what, by, unit)) <= 1e-6


def test_what_is_promised_is_needed() -> None:
    """Someone whose three rows go from one end to the other moves two values apart by all six ranks."""
    question = ask("MEDIAN(x)", "", Persons("id", 3))
    others = [{"id": 10 + k, "x": float(x), "g": "a"} for k, x in enumerate([0] * 40 + [4] * 40 + [2] * 40)]
    ends = [[*others, *([{"id": 1, "x": end, "g": "a"}] * 3)] for end in (0.0, 4.0)]
    assert told(question, *ends) > 2.9  # half of it on five values only


def test_the_weights_are_those_of_plain_arithmetic() -> None:
    rng = random.Random(2)
    for unit in (Persons("id", 3), Persons("id", 2)):
        rows = [row for person in range(6) for row in draw_person(rng, person)]
        kept = [row for row in rows if row["x"] is not None]
        expected = [0] * 5
        for person in range(6):
            places = Counter(int(row["x"]) for row in kept if row["id"] == person)
            total = sum(places.values())
            for place, count in places.items():
                share = Fraction(count * min(unit.max_rows, total) * PARTS_OF_ROW, total)
                expected[place] += share.numerator // share.denominator
        assert cells(ask("MEDIAN(x)", "", unit), rows)[()] == tuple(expected)


def level_excess(question: AnalyzedQuery, cases: int = 30) -> float:
    promise, worst = question.measurements[0].guarantee, -1e9
    for here, there, both in neighbours(cases, seed=8):
        sides = [cells(question, rows) for rows in (here, there)]
        moved = sum(abs((sides[0].get(g) or 0) - (sides[1].get(g) or 0)) for g in {**sides[0], **sides[1]})
        worst = max(worst, moved - (promise.change if both else promise.presence))
    return worst


@pytest.mark.parametrize("by", ["", "x"])
def test_no_person_moves_a_count_of_levels_further_than_promised(by: str) -> None:
    levels = {**COLUMNS, "x": DeclaredColumn("x", levels=("0", "1", "2", "4"), kind="number")}
    for unit in UNITS:
        keys, grouped = (f"{by}, ", f" GROUP BY {by}") if by else ("", "")
        sql = f"SELECT {keys}COUNT(DISTINCT g) AS v FROM t{grouped}"
        question = analyze(sql, DeclaredTable("t", levels, unit))
        assert -1e9 < level_excess(question) <= 0


# Planted ------------------------------------------------------------------------------------------------------------


def test_rows_that_are_not_bounded_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Persons, "row_bound", 1000)
    assert excess(ask("MEDIAN(x)", "", Persons("id", 1))) > 0.5
    assert level_excess(analyze("SELECT COUNT(DISTINCT g) AS v FROM t", DeclaredTable("t", COLUMNS, UNITS[0]))) > 0.5


def test_a_promise_of_one_row_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    one = UnitTotal(None, None, 1.0, 2.0, 1.0)
    monkeypatch.setattr(Persons, "bound_ranks", lambda self, apart, groups: one)
    assert excess(ask("MEDIAN(x)", "", Persons("id", 3))) > 0.2


def test_groups_beyond_the_bound_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts in all groups is bounded together: a bound for each of them would be too much."""
    true = unit_places.window
    monkeypatch.setattr(
        unit_places, "window", lambda f, by, order=(): true(f, [*by, "k0"] if by == ["u"] else by, order)
    )
    assert excess(ask("MEDIAN(x)", "g", Persons("id", 1)), 20) > 0.2


# The road -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["parquet"])
def test_medians_of_persons_are_released(tmp_path: Path, form: str) -> None:
    rng = random.Random(1)
    rows = [{"id": p, "x": float(rng.choice([0, 1, 1, 3, 4])), "g": rng.choice("ab")} for p in range(300) for _ in "xx"]
    tables.write(tmp_path, rows, form, types={"id": "BIGINT", "x": "DOUBLE", "g": "VARCHAR"})
    Ledger.create(tmp_path / "guessproof.ledger", "test", Budget("1e9"))
    plan = loads_plan(
        """
        data = { name = "test", source = "t.parquet", table = "t", protects = "persons", person = "id", max_rows = 2 }
        query.sql = "SELECT MEDIAN(x) AS m, COUNT(*) AS n, COUNT(DISTINCT g) AS kinds, MAX(x) AS most FROM t"
        columns.x = { bounds = [0, 4], step = 1 }
        columns.g = { levels = ["a", "b", "c"] }
        release = { epsilon = 1e5 }
        """,
        folder=tmp_path,
    )
    answer = release(plan)
    found = {a.name: a for a in answer.answers}
    assert found["m"].value == statistics.median(float(row["x"]) for row in rows)
    assert found["m"].ranks is not None
    assert found["n"].value == 600
    assert found["kinds"].value == 2
    assert found["most"].value == pytest.approx(4, abs=0.01)
    assert release(plan).replayed
