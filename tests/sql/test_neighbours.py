"""Brute-force neighbours: one record changes in every way, and no answer moves further than its guarantee says."""

from __future__ import annotations

import dataclasses
import math
from random import Random

import numpy as np
import pytest
from depth import cases

from guessproof.errors import QueryError
from guessproof.guarantee import RECORDS, unit_named
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, analyze
from sql.checks import faults
from sql.grammar import Maker, setting
from sql.neighbours import Bench
from sql.running import whole_numbers

OTHERS = (
    (1.5, 2.0, "black", True, 1.0, "north"),
    (9.0, None, "white", False, 4.0, "south"),
    (math.nan, 5.0, None, None, 0.5, "north"),
)
BENCHES = {
    "alone": Bench(),
    "among others": Bench(OTHERS),
    "stored as text": Bench(stored={"x": "VARCHAR", "c": "ENUM('black', 'white', 'bay', 'Black')"}),
}


def generated(seed: int) -> tuple[AnalyzedQuery | None, str]:
    """A question, or None where it is refused."""
    random = Random(seed)
    declared = setting(random).declared
    sql = Maker(random).query()
    try:
        return analyze(sql, declared), sql
    except QueryError:
        return None, sql


ROUNDS = [*["alone"] * cases(4), *["among others"] * cases(1), *["stored as text"] * cases(1)]
EACH = 20


@pytest.mark.parametrize(("first", "bench"), list(enumerate(ROUNDS)))
def test_no_answer_moves_further_than_its_guarantee(first: int, bench: str) -> None:
    asked = 0
    for seed in range(EACH * first, EACH * (first + 1)):
        question, sql = generated(seed)
        if question is None:
            continue
        asked += 1
        found = faults(BENCHES[bench], question, Random(seed))
        assert not found, (seed, sql, question.declared, found)
    assert asked >= EACH // 2, "the grammar writes too many queries that are refused"


def test_a_guarantee_that_is_too_small_is_found() -> None:
    """The brute force itself: 10 % less than the guarantee of simple queries is found out by each check."""
    numbers = {n: DeclaredColumn(n, bounds=b, missing=False) for n, b in (("x", (-2.0, 10.0)), ("y", (1.0, 6.5)))}
    question = analyze("SELECT SUM(x) AS o FROM t", DeclaredTable("t", numbers, RECORDS))
    measurement = question.measurements[0]
    kept = measurement.guarantee
    line = kept.lines["x"]
    shorter = dataclasses.replace(line, form=line.form.times(0.9))
    for wrong, said in (
        ({"change": 0.9 * kept.change}, "change says"),
        ({"presence": 0.9 * kept.presence}, "presence says"),
        ({"columns": {"x": shorter}}, "its metric says"),
        ({"slope": 0.9}, "euclidean says"),
        ({"lines": {"x": shorter}}, "line form"),
    ):
        smaller = dataclasses.replace(measurement, guarantee=dataclasses.replace(kept, **wrong))
        found = faults(BENCHES["alone"], dataclasses.replace(question, measurements=(smaller,)), Random(1))
        assert any(said in fault for fault in found), (said, found)


# Cases that no random query is sure to hit. Each was a mistake once, or is one that others made.

X = DeclaredColumn("x", bounds=(-2, 10), missing=False)


def table(*columns: DeclaredColumn, protects: str = "values", rows: int | None = None) -> DeclaredTable:
    return DeclaredTable("t", {c.name: c for c in columns}, unit_named(protects), rows)


def moved(question: AnalyzedQuery, rows: list[dict[str, object]], exponent: int = -20) -> float:
    """How far apart the answers for single records are."""
    found = whole_numbers(question, [[row] for row in rows], exponent)
    return max(abs(a - b) for a in found for b in found) * 2.0**exponent


def test_an_average_over_a_count_that_depends_on_protected_values_measures_both() -> None:
    """AVG(CASE WHEN x > 3 THEN x END): who is counted is as secret as x, whatever `rows` says."""
    for sql in (
        "SELECT AVG(CASE WHEN x > 3 THEN x END) FROM t",
        "SELECT AVG(x) FILTER (WHERE x > 3) FROM t",
        "SELECT AVG(x) FROM t WHERE x > 3",
        "SELECT AVG(1) FROM t WHERE x > 3",
    ):
        question = analyze(sql, table(X, rows=100))
        assert [(m.kind, m.divisor) for m in question.measurements] == [("sum", 1), ("count", 1)], sql
    public = analyze("SELECT AVG(x) FROM t WHERE g = 'north'", table(X, rows=100))
    assert [(m.kind, m.divisor, m.per_answer.change) for m in public.measurements] == [("sum", 100, 0.12)]


def test_rounding_what_hardly_moves_still_jumps_by_a_step() -> None:
    """ROUND((x + 0.5) - x): a constant on paper, 0 or 1 in floating point."""
    question = analyze(
        "SELECT SUM(ROUND((x + 0.5) - x)) FROM t", table(DeclaredColumn("x", bounds=(0, 1), missing=False))
    )
    values = [k / 997 for k in range(997)]
    rows: list[dict[str, object]] = [{"x": v} for v in values]
    assert moved(question, rows) == 1
    found = whole_numbers(question, [[row] for row in rows], 0)
    a, b = found.index(0), found.index(1)
    metric = question.measurements[0].guarantee.columns["x"]
    assert float(metric.distance(values[a], values[b])) >= 1


def test_errors_of_floating_point_are_part_of_the_guarantee() -> None:
    """(x + 1e9) - 1e9 loses the last digits of x: close values end further apart than they were."""
    question = analyze("SELECT SUM((x + 1e9) - 1e9) FROM t", table(DeclaredColumn("x", bounds=(0, 1), missing=False)))
    metric, exponent = question.measurements[0].guarantee.columns["x"], -45
    values = np.linspace(0, 0.9, 200)
    one, other = (whole_numbers(question, [[{"x": v}] for v in vs], exponent) for vs in (values, values + 1e-9))
    gone = np.abs(np.subtract(one, other)) * 2.0**exponent
    assert np.all(gone <= metric.distance(values, values + 1e-9) + 2.0**exponent)
    assert np.any(gone > 1.01e-9), "this test must see the error that it is about"


def test_a_divisor_near_zero_by_rounding_counts_at_its_smallest() -> None:
    """1/(x + 1e9 - 1e9 - c): what is computed for the divisor lies below what it is on paper."""
    declared = table(DeclaredColumn("x", bounds=(0, 1), missing=False))
    question = analyze("SELECT SUM(1 / ((x + 1e9) - 1e9 + 0.000001)) FROM t", declared)
    values = [k * 1e-8 for k in range(40)]
    assert moved(question, [{"x": v} for v in values], -10) <= question.measurements[0].per_answer.change + 2.0**-10


def test_a_label_that_was_not_declared_is_one_other_label() -> None:
    """It equals no level, is like nothing, and comes before nothing; so a level is all that it can be told from."""
    colour = DeclaredColumn("c", levels=("black", "white", "bay"))
    others = [{"c": "Black"}, {"c": "bay "}, {"c": ""}]
    for test in ("c < 'bb'", "c LIKE 'b%'", "c <> 'bay'", "c IN ('bay', 'black')", "NOT c <= 'bay'"):
        question = analyze(f"SELECT COUNT(*) FROM t WHERE {test}", table(colour))
        assert moved(question, others) == 0
        assert moved(question, [*others, {"c": "bay"}]) == question.measurements[0].per_answer.change == 1


@pytest.mark.parametrize("levels", [("True", "False"), ("true", "false")])
def test_flags_are_told_apart_however_their_levels_are_spelled(levels: tuple[str, str]) -> None:
    flag = DeclaredColumn("f", levels=levels, missing=False)
    for sql in ("SELECT COUNT(*) FROM t WHERE f", "SELECT COUNT(*) FROM t WHERE f <> TRUE"):
        measurement = analyze(sql, table(flag)).measurements[0]
        assert measurement.per_answer.change == 1
        assert float(measurement.guarantee.columns["f"].distance(*levels)) == 1
        assert measurement.guarantee.between({"f": levels[0]}, {"f": levels[1]}) == 1


def test_two_spellings_are_one_column() -> None:
    """`secret` and `Secret` are one column to the engine: moving one moves both."""
    question = analyze("SELECT COUNT(*) FROM t WHERE secret > 3 AND Secret > 5", table(protects="records"))
    assert question.columns == {"secret"}
    assert question.measurements[0].guarantee.between({"SECRET": 9}, {"SECRET": 0}) == 1


@pytest.mark.parametrize("value", [math.nan, None, "no number"])
def test_what_is_no_number_is_missing(value: object) -> None:
    column = DeclaredColumn("x", bounds=(-2, 10))
    guarantee = analyze("SELECT SUM(x) FROM t", table(column)).measurements[0].guarantee
    assert guarantee.between({"x": 10}, {"x": value}) == 10
    assert guarantee.between({"x": value}, {"x": None}) == 0


# Tight: the bound is attained.

TIGHT = [
    ("SUM(x)", "values", 12),
    ("SUM(x + x)", "values", 24),
    ("SUM(2 * x)", "values", 24),
    ("SUM(x - x)", "records", 24),  # not tight, and not 0: interval arithmetic forgets that both are one x
    ("SUM(ABS(x))", "values", 10),
    ("SUM(ABS(x - 4))", "values", 6),
    ("SUM(POWER(x, 2))", "values", 100),
    ("SUM(ROUND(x))", "values", 12),
    ("SUM(LEAST(x, 5))", "values", 7),
    ("SUM(CASE WHEN x > 3 THEN 1 ELSE 0 END)", "values", 1),
    ("COUNT(*) FILTER (WHERE x BETWEEN 2 AND 4)", "values", 1),
    ("SUM(x) FILTER (WHERE x > 3)", "values", 10),
    ("MIN(x)", "values", 12),
    ("MAX(-x)", "values", 12),
    ("SUM(x)", "records", 10),
]


@pytest.mark.parametrize(("aggregate", "protects", "bound"), TIGHT)
def test_the_bound_is_attained(aggregate: str, protects: str, bound: float) -> None:
    question = analyze(f"SELECT {aggregate} FROM t", table(X, protects=protects))
    measurement = question.measurements[0]
    found = measurement.per_answer
    assert (found.presence if protects == "records" and "x - x" not in aggregate else found.change) == (
        pytest.approx(bound, rel=1e-12)
    )
    if "x - x" in aggregate:
        return
    values = [-2.0, 0.0, 2.0, 3.0, math.nextafter(3, 9), 4.0, 5.0, 10.0, 11.0]
    states: list[list[dict[str, object]]] = [[{"x": v}] for v in values]
    found = whole_numbers(question, [*states, []] if protects == "records" else states, -20)
    attained = max(abs(a - b) for a in found for b in found) if protects == "values" else max(map(abs, found))
    assert attained * 2.0**-20 == pytest.approx(bound, rel=1e-5)


def test_a_sum_twice_is_a_sum_of_twice() -> None:
    """x + x and 2 * x have one guarantee."""
    one, other = (analyze(f"SELECT SUM({e}) FROM t", table(X)).measurements[0].guarantee for e in ("x + x", "2 * x"))
    assert one.change == pytest.approx(24, rel=1e-12)
    assert other.change == pytest.approx(24, rel=1e-12)
    assert one.slopes == other.slopes == {"x": 2}


def test_the_cats() -> None:
    """theory §12: 0/1 on the filter's outcome, and two values on the same side are at distance 0."""
    colour = DeclaredColumn("colour", levels=("black", "white", "brown"), missing=False)
    gender = DeclaredColumn("gender", levels=("M", "F"), missing=False)
    sql = "SELECT COUNT(*) FROM cats WHERE colour = 'black' AND gender = 'M'"
    guarantee = analyze(sql, DeclaredTable("cats", {"colour": colour, "gender": gender})).measurements[0].guarantee
    assert guarantee.change == 1
    metric = guarantee.columns["colour"]
    assert [float(metric.distance("white", c)) for c in ("black", "brown")] == [1, 0]
    assert guarantee.between({"colour": "white", "gender": "M"}, {"colour": "brown", "gender": "F"}) == 0
    assert guarantee.between({"colour": "white", "gender": "M"}, {"colour": "black", "gender": "M"}) == 1


def test_the_salaries() -> None:
    salary = DeclaredColumn("salary", bounds=(1000, 4000), missing=False)
    guarantee = analyze("SELECT SUM(salary) FROM t", table(salary)).measurements[0].guarantee
    assert (guarantee.change, guarantee.slopes, guarantee.slope) == (3000, {"salary": 1}, 1)
    assert float(guarantee.columns["salary"].distance(2000, 2100)) == 100


def test_the_ships() -> None:
    """MIN of distance over speed: 1/speed per unit of straight-line distance."""
    lon, lat = (DeclaredColumn(n, bounds=(-100, 100), missing=False) for n in ("lon", "lat"))
    speed = DeclaredColumn("speed", bounds=(20, 90), missing=False, protected=False)
    spellings = ("POINT(lon, lat) <@> POINT(3, 4)", "SQRT(POWER(lon - 3, 2) + POWER(lat - 4, 2))")
    for distance in spellings:
        question = analyze(f"SELECT MIN(({distance}) / speed) FROM t", table(lon, lat, speed))
        guarantee = question.measurements[0].guarantee
        assert guarantee.slope == pytest.approx(1 / 20, rel=1e-12)
        assert guarantee.slopes == pytest.approx({"lon": 1 / 20, "lat": 1 / 20}, rel=1e-12)
        far = moved(question, [{"lon": 3.0, "lat": 4.0, "speed": 20.0}, {"lon": 63.0, "lat": 84.0, "speed": 20.0}])
        assert far == pytest.approx(guarantee.slope * 100, rel=1e-6)


def test_groups_under_records_count_twice() -> None:
    """A record may leave one group and enter another."""
    g = DeclaredColumn("g", levels=("a", "b"))
    question = analyze("SELECT g, SUM(x) FROM t GROUP BY g", table(X, g, protects="records"))
    measurement = question.measurements[0]
    found = measurement.per_answer
    assert (found.presence, found.change, found.sensitivity) == (10, 20, 20)


def test_each_part_of_a_filter_is_a_jump() -> None:
    metric = analyze("SELECT SUM(x) FROM t WHERE x > 3", table(X)).measurements[0].guarantee.columns["x"]
    assert float(metric.distance(3, math.nextafter(3, 9))) == pytest.approx(3)
    assert float(metric.distance(-2, 2.5)) == 0


@pytest.mark.parametrize(
    "term",
    ["x + 0 * (1e200 * x * 1e200)", "LEAST(x * 1e200 * 1e200 - x * 1e200 * 1e200, 1)", "x / (1e200 * y * 1e200)"],
)
def test_what_leaves_the_range_of_floats_is_refused_wherever_it_stands(term: str) -> None:
    """An engine would go on with infinity, then NaN, and fail for some values and not for others."""
    with pytest.raises(QueryError, match=r"leave the range of arithmetic|can be 0"):
        analyze(f"SELECT SUM({term}) FROM t", table(X, DeclaredColumn("y", bounds=(1, 2))))
