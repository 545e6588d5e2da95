"""Groups by a protected key: a record leaves one group and enters another, and both answers move."""

from __future__ import annotations

import dataclasses
import math
from random import Random
from typing import Any

import numpy as np
import pytest
from depth import cases

from guessproof.errors import QueryError
from guessproof.guarantee import RECORDS, VALUES
from guessproof.noise import noise_for
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, Measurement, analyze
from guessproof.world.distances import Matrix
from sql.grammar import POOL, Maker, setting
from sql.neighbours import EXPONENT, Answers, Bench, allowed
from sql.test_neighbours import OTHERS

UNIT = 2.0**EXPONENT
PAIRS = 60
BENCHES = (Bench(), Bench(OTHERS))
X = DeclaredColumn("x", bounds=(-2, 10), missing=False)
G = DeclaredColumn("g", levels=("north", "south"), missing=False)


def table(*columns: DeclaredColumn, rows: int | None = None) -> DeclaredTable:
    return DeclaredTable("t", {c.name: c for c in columns}, VALUES, rows)


def drawn(seed: int) -> AnalyzedQuery | None:
    """A query by a key that is protected like any other column."""
    random = Random(seed)
    declared = setting(random).declared
    columns = {**declared.columns, "g": dataclasses.replace(declared.columns["g"], protected=True)}
    sql = Maker(random).query(grouped=True)
    if random.random() < 0.3:  # the key itself is tested as well
        sql = sql.replace("FROM t", "FROM t WHERE g <> 'south' OR x > 3").replace("x > 3 WHERE", "x > 3 AND")
    try:
        return analyze(sql, dataclasses.replace(declared, columns=columns))
    except QueryError:
        return None


def faults(question: AnalyzedQuery, measurement: Measurement, answers: Answers, random: Random) -> list[str]:
    """Pairs of variants that differ in anything protected, the key among it, against every form."""
    declared, guarantee, used = question.declared, measurement.guarantee, answers.used
    kept = allowed(declared, used, complete=measurement.divisor != 1)
    moving = [i for i, name in enumerate(used) if declared.column(name).protected]
    euclidean = measurement.euclidean
    found: list[str] = []
    for _ in range(PAIRS):
        first = [random.choice(places) for places in kept]
        second = list(first)
        for axis in random.sample(moving, random.randint(1, len(moving))):
            second[axis] = random.choice(kept[axis])
        before, after = ({used[i]: POOL[used[i]][spot[i]] for i in moving} for spot in (first, second))
        apart = np.abs(answers.variants[tuple(first)] - answers.variants[tuple(second)]) * UNIT
        moved, straight = float(apart.sum()), float(np.linalg.norm(apart))
        says = {"between": guarantee.between(before, after), "change": guarantee.change}
        changed = [n for n in before if before[n] != after[n]]
        metric = guarantee.columns.get("g")
        if changed == ["g"] and metric is not None:
            listed = not isinstance(metric, Matrix) or {before["g"], after["g"]} <= set(metric.values)
            says |= {"metric": float(metric.distance(before["g"], after["g"]))} if listed else {}
        found += [
            f"{measurement.text} from {before} to {after} moves by {moved}, {form} says {most}"
            for form, most in says.items()
            if moved > most * (1 + 1e-12) + 2 * UNIT * (1 + 1e-6)
        ]
        if straight > euclidean * (1 + 1e-12) + 2 * UNIT * (1 + 1e-6):
            found.append(f"{measurement.text} from {before} to {after} moves by {straight} in a straight line")
    return found


@pytest.mark.parametrize("first", range(cases(3)))
def test_no_two_groups_move_further_together_than_the_guarantee_says(first: int) -> None:
    asked = 0
    for seed in range(9 * first, 9 * (first + 1)):
        question = drawn(seed)
        if question is None:
            continue
        asked += 1
        for measurement, answers in zip(question.measurements, BENCHES[first % 2].answers(question), strict=True):
            found = faults(question, measurement, answers, Random(seed))
            assert not found, (seed, question.sql, question.declared, found[:2])
    assert asked >= 4


def test_a_group_that_is_forgotten_is_found() -> None:
    """The brute force itself: a guarantee that sees only the group that is left, or one straight line."""
    question = analyze("SELECT g, SUM(x) AS s FROM t GROUP BY g", table(X, G))
    (measurement,), (answers,) = question.measurements, BENCHES[0].answers(question)
    kept = measurement.guarantee
    single = dataclasses.replace(kept, change=10.0)
    wrong = dataclasses.replace(measurement, guarantee=single)
    assert any("change says 10" in fault for fault in faults(question, wrong, answers, Random(1)))
    half = dataclasses.replace(kept, columns={**kept.columns, "g": Matrix(("north", "south"), [[0, 10], [10, 0]])})
    wrong = dataclasses.replace(measurement, guarantee=half)
    assert any("metric says 10" in fault for fault in faults(question, wrong, answers, Random(1)))
    assert not faults(question, measurement, answers, Random(1))


@pytest.mark.parametrize(
    ("asked", "change", "euclidean"),
    [
        ("COUNT(*)", 2, math.sqrt(2)),
        ("SUM(x)", 20, 10 * math.sqrt(2)),
        ("SUM(x - 4)", 12, 12),  # within a group it moves further than each of two groups does
        ("MIN(x)", 24, 12 * math.sqrt(2)),
        ("COUNT(*) FILTER (WHERE x > 3)", 2, math.sqrt(2)),
    ],
)
def test_both_groups_move(asked: str, change: float, euclidean: float) -> None:
    (measurement,) = analyze(f"SELECT g, {asked} AS o FROM t GROUP BY g", table(X, G)).measurements
    assert measurement.guarantee.change == pytest.approx(change, rel=1e-9)
    assert measurement.euclidean == pytest.approx(euclidean, rel=1e-9)
    assert "when g changes" in measurement.account


def test_only_levels_are_shown() -> None:
    """Whoever goes to a key outside the levels leaves one group and enters none."""
    (measurement,) = analyze("SELECT g, SUM(x) AS s FROM t GROUP BY g", table(X, G)).measurements
    between = measurement.guarantee.between
    assert between({"g": "north", "x": 10.0}, {"g": "south", "x": 3.0}) == 13
    assert between({"g": "north", "x": 10.0}, {"g": "east", "x": 3.0}) == 10
    assert between({"g": "north", "x": 10.0}, {"g": "north", "x": 3.0}) == 7


def test_a_key_that_is_tested_as_well_is_worth_what_it_lets_through() -> None:
    sql = "SELECT g, COUNT(*) AS n FROM t WHERE g <> 'south' GROUP BY g"
    metric = analyze(sql, table(G)).measurements[0].guarantee.columns["g"]
    assert float(metric.distance("north", "south")) == 1


def test_how_many_are_in_a_group_is_private_behind_an_average() -> None:
    question = analyze("SELECT g, AVG(x) AS m FROM t GROUP BY g", table(X, G, rows=100))
    assert [(m.kind, m.divisor) for m in question.measurements] == [("sum", 1), ("count", 1)]
    public = dataclasses.replace(G, protected=False)
    question = analyze("SELECT g, AVG(x) AS m FROM t GROUP BY g", table(X, public, rows=100))
    assert [(m.kind, m.divisor) for m in question.measurements] == [("sum", 100)]


def test_a_public_key_beside_a_protected_one() -> None:
    """Only the protected one moves a record."""
    p = DeclaredColumn("p", levels=("1", "2"), protected=False)
    question = analyze("SELECT g, p, COUNT(*) AS n FROM t GROUP BY g, p", table(G, p))
    (measurement,) = question.measurements
    assert set(measurement.guarantee.columns) == {"g"}
    assert measurement.guarantee.change == 2


def test_normal_noise_counts_two_groups_by_straight_line_distance() -> None:
    def scale(unit: Any, kind: str) -> float:
        declared = DeclaredTable("t", {"g": G}, unit)
        (measurement,) = analyze("SELECT g, COUNT(*) AS n FROM t GROUP BY g", declared).measurements
        return noise_for(measurement, 1.0, kind, delta=1e-6).mechanism.sensitivity

    assert scale(VALUES, "laplace") == scale(RECORDS, "laplace") == 2
    assert scale(VALUES, "gaussian") == pytest.approx(math.sqrt(2))
    assert scale(RECORDS, "gaussian") == pytest.approx(math.sqrt(2))
