"""Aggregates of grouped subqueries: inner groups are completed, and one record moves the outer number no further."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from guessproof.errors import QueryError
from guessproof.guarantee import RECORDS, VALUES
from guessproof.guarantee.unit import PrivacyUnit
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, analyze, find_target, nested, rewrite

EXPONENT = -20
TYPES = {"x": "DOUBLE", "g": "VARCHAR", "h": "VARCHAR"}
ARROW = {"x": pa.float64(), "g": pa.string(), "h": pa.string()}
CONNECTION = duckdb.connect(":memory:", config={"threads": 1})
VALUES_OF = {"x": [-1.0, 0.0, 2.0, 3.5, 10.0, 99.0, None], "g": ["a", "b", "c", "other"], "h": ["u", "v"]}


def table(unit: PrivacyUnit) -> DeclaredTable:
    secret = unit is RECORDS
    columns = {
        "x": DeclaredColumn("x", bounds=(0, 10)),
        "g": DeclaredColumn("g", levels=("a", "b", "c"), protected=secret, missing=False),
        "h": DeclaredColumn("h", levels=("u", "v"), protected=secret, missing=False),
    }
    return DeclaredTable("t", columns, unit)


QUERIES = [
    *(f"SELECT {o}(s) AS o FROM (SELECT g, {i} AS s FROM t WHERE x > 1 GROUP BY g) AS q"
      for o in ("SUM", "MIN", "MAX", "AVG") for i in ("COUNT(*)", "SUM(x)", "MIN(x)", "MAX(x)")),
    "SELECT h, MAX(n) AS o FROM (SELECT g, h, COUNT(x) AS n FROM t GROUP BY g, h) GROUP BY h",
    "SELECT MIN(n) AS o, SUM(s) AS p FROM (SELECT g, COUNT(x) AS n, SUM(x * x) AS s FROM t GROUP BY g) WHERE g <> 'b'",
    "SELECT COUNT(*) AS o FROM (SELECT g, COUNT(x) AS n FROM t GROUP BY g) AS q WHERE 2 <= q.n AND n < 4",
    "SELECT COUNT(*) AS o FROM (SELECT g, COUNT(*) FILTER (WHERE x > 3) AS n FROM t GROUP BY g) WHERE n = 0",
    "WITH a AS (SELECT x + 1 AS y, g FROM t), b AS (SELECT g, SUM(y) AS s FROM a GROUP BY g) SELECT MIN(s) AS o FROM b",
    "INSERT INTO a (k, s) SELECT g, SUM(x) FROM t GROUP BY g; SELECT MAX(s) AS o FROM a WHERE k IN ('a', 'c')",
]  # fmt: skip


def answers(question: AnalyzedQuery, records: list[dict[str, Any]]) -> dict[tuple[str, ...], list[float]]:
    """What is run, on these records, before the noise; in the unit of the answer."""
    run = rewrite(question, [EXPONENT] * len(question.measurements), find_target("duckdb", TYPES))
    rows = pa.table({n: pa.array([r[n] for r in records], ARROW[n]) for n in TYPES})
    CONNECTION.register("t", rows)
    found = run.read(CONNECTION.execute(run.sql).fetchall())
    return {group: [float(whole or 0) * 2.0**EXPONENT for whole, _ in cells] for group, cells in found.items()}


def distance(one: dict[tuple[str, ...], list[float]], other: dict[tuple[str, ...], list[float]], index: int) -> float:
    return sum(abs(one[group][index] - other[group][index]) for group in one)


@pytest.mark.parametrize("unit", [VALUES, RECORDS], ids=lambda u: u.name)
@pytest.mark.parametrize("sql", QUERIES)
def test_no_answer_moves_further_than_its_guarantee(sql: str, unit: PrivacyUnit) -> None:
    """One record in every way, beside few others: groups empty, fill, vanish."""
    assert not faults(analyze(sql, table(unit)), unit, Random(sql))


def faults(question: AnalyzedQuery, unit: PrivacyUnit, random: Random) -> list[str]:
    found: list[str] = []
    for others in ([draw(random) for _ in range(3)], [draw(random) for _ in range(8)]):
        fixed = {} if unit is RECORDS else {"g": random.choice(VALUES_OF["g"]), "h": random.choice(VALUES_OF["h"])}
        variants = [{**draw(random), **fixed, "x": x} for x in VALUES_OF["x"]]
        seen = [answers(question, [*others, record]) for record in variants]
        without = answers(question, others)
        for index, measurement in enumerate(question.measurements):
            room = 4 * 2.0**EXPONENT
            moved = max(distance(a, b, index) for a, b in itertools.combinations(seen, 2))
            if moved > measurement.guarantee.change + room:
                found.append(f"{measurement.text} moves by {moved}, change says {measurement.guarantee.change}")
            gone = max(distance(a, without, index) for a in seen)
            if unit is RECORDS and gone > measurement.guarantee.presence + room:
                found.append(f"{measurement.text} moves by {gone}, presence says {measurement.guarantee.presence}")
            for (a, one), (b, other) in itertools.combinations(zip(variants, seen, strict=True), 2):
                metric = measurement.guarantee.columns.get("x")
                if unit is RECORDS or metric is None or None in (a["x"], b["x"]):
                    continue
                if distance(one, other, index) > float(metric.distance(a["x"], b["x"])) + room:
                    found.append(f"{measurement.text}: x from {a['x']} to {b['x']} moves further than its metric")
    return found


def draw(random: Random) -> dict[str, Any]:
    return {name: random.choice(values) for name, values in VALUES_OF.items()}


def test_an_empty_group_counts_with_what_nothing_adds_up_to() -> None:
    question = analyze("SELECT MIN(n) AS o FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g)", table(RECORDS))
    assert answers(question, [{"x": 1.0, "g": "a", "h": "u"}] * 3) == {(): [0.0]}
    question = analyze("SELECT MIN(s) AS o, MAX(s) AS p FROM (SELECT g, MIN(x) AS s FROM t GROUP BY g)", table(RECORDS))
    assert answers(question, [{"x": 1.0, "g": "a", "h": "u"}]) == {(): [1.0, 10.0]}


def test_groups_that_are_not_completed_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """{50, 2} → {50}: where a filter makes the last record of a group vanish, MIN would move by 48."""
    question = analyze("SELECT MIN(s) AS o FROM (SELECT g, SUM(x) AS s FROM t WHERE x > 1 GROUP BY g)", table(VALUES))
    others = [{"x": 10.0, "g": g, "h": "u"} for g in ("a", "c") for _ in range(5)]

    def moved() -> float:
        one, other = (answers(question, [*others, {"x": x, "g": "b", "h": "u"}]) for x in (2.0, 0.0))
        return distance(one, other, 0)

    assert moved() <= question.measurements[0].guarantee.change
    sound = nested.NestedRewrite._fold

    def wrong(self: Any, index: int, cells: Any, inside: Any) -> Any:
        return sound(self, index, cells, [group for group in inside if group in cells])

    monkeypatch.setattr(nested.NestedRewrite, "_fold", wrong)
    assert moved() > question.measurements[0].guarantee.change


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT SUM(s) FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g) WHERE s > 10", "a whole group come and go"),
        ("SELECT COUNT(*) FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g)", "the number of groups is public: 3"),
        ("SELECT COUNT(*) FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g) WHERE s > 3.5", "a whole number"),
        ("SELECT SUM(s) FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g HAVING SUM(x) > 3)", "HAVING"),
        (
            "SELECT SUM(x) FROM t JOIN (SELECT g, AVG(x) AS s FROM t GROUP BY g) AS q ON t.g = q.g",
            "joined back to rows",
        ),
        ("SELECT SUM(s) FROM (SELECT k, SUM(x) AS s FROM t GROUP BY k)", "the values of k are not declared"),
        ("SELECT MAX(s) FROM (SELECT SUM(x) AS s FROM t)", "an aggregate of aggregates"),
        ("SELECT MAX(s) FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g) WHERE g = 'a' AND g = 'b'", "no group is left"),
        ("SELECT MAX(s + 1) FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g)", "MAX of groups is not understood"),
        ("SELECT SUM(s) FROM (SELECT g, AVG(x) AS s FROM t GROUP BY g)", "SUM of groups is not understood"),
        ("DELETE FROM t; SELECT SUM(x) FROM t", "more than one statement"),
        (
            "INSERT INTO a SELECT x FROM t; INSERT INTO a SELECT x FROM t; SELECT SUM(x) FROM a",
            "more than one statement",
        ),
    ],
)
def test_refusals_say_why(sql: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        analyze(sql, table(RECORDS))
    assert said in caught.value.problem
    assert caught.value.remedy
