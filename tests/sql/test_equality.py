"""Without noise the rewritten query is the plain one: by DuckDB, and row by row in Python."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from depth import cases

from guessproof.errors import QueryError
from guessproof.guarantee import unit_named
from guessproof.sql import (
    AnalyzedQuery,
    DeclaredColumn,
    DeclaredTable,
    Measurement,
    analyze,
    find_target,
    formula,
    rewrite,
)
from sql.grammar import BOUNDS, CUTS, LEVELS, Maker, setting
from sql.running import run

EXPONENT = -24
COLUMNS = {"x": pa.float64(), "y": pa.float64(), "p": pa.float64(), "c": pa.string(), "g": pa.string(), "f": pa.bool_()}
TYPES = {"x": "DOUBLE", "y": "DOUBLE", "p": "DOUBLE", "c": "VARCHAR", "g": "VARCHAR", "f": "BOOLEAN"}
Row = dict[str, Any]
ROUNDS, EACH = cases(3), 30


def record(random: Random, declared: DeclaredTable) -> Row:
    """A record inside the bounds; nothing is missing where that is declared."""

    def number(name: str) -> float | None:
        pick, missing = random.random(), declared.column(name).missing
        if pick < 0.25 and missing:
            return None if pick < 0.15 else math.nan
        if pick < 0.5:
            return random.choice((*CUTS[name], *BOUNDS[name]))
        return random.uniform(*BOUNDS[name])

    row: Row = {name: number(name) for name in BOUNDS}
    nothing = {name: (None,) if declared.column(name).missing else () for name in LEVELS}
    return {**row, **{name: random.choice((*levels, *nothing[name])) for name, levels in LEVELS.items()}}


def stored(row: Row) -> Row:
    """With truth values as such."""
    return {**row, "f": None if row["f"] is None else row["f"] == "true"}


def answers(question: AnalyzedQuery, rows: list[Row]) -> dict[tuple[str, ...], dict[int, float]]:
    """The measurements of every group, from the query that is really run."""
    exponents = [EXPONENT] * len(question.measurements)
    rewritten = rewrite(question, exponents, find_target("duckdb", TYPES))
    found: dict[tuple[str, ...], dict[int, float]] = {}
    for key, values in rewritten.read(run(rewritten.sql, [stored(r) for r in rows], COLUMNS)).items():
        found[key] = {i: _measured(m, *v) for i, (m, v) in enumerate(zip(question.measurements, values, strict=True))}
    return found


def _measured(measurement: Measurement, whole: int | None, count: int | None) -> float:
    value = measurement.contribution.absent if whole is None else whole * 2.0**EXPONENT
    return value / max(count or 0, 1) if measurement.divisor != 1 else value


def plain(question: AnalyzedQuery, rows: list[Row]) -> dict[tuple[str, ...], list[Any]]:
    """The same query as it was written, by DuckDB; NaN is NULL, for that is what it counts as."""
    cleaned = [{n: None if v != v else v for n, v in stored(r).items()} for r in rows]
    width = len(question.keys)
    return {tuple(map(str, r[:width])): list(r[width:]) for r in run(question.sql, cleaned, COLUMNS)}


def contributed(measurement: Measurement, rows: list[Row]) -> list[float]:
    """Row by row: what the terms say in Python."""
    kept = [r for r in rows if measurement.contribution.condition.at(r)]
    return [v for r in kept if (v := measurement.contribution.term.at(r)) is not None]


def reference(measurement: Measurement, rows: list[Row]) -> float:
    """The aggregate of that."""
    values = contributed(measurement, rows)
    if measurement.kind in ("count", "sum"):
        total = math.fsum(values)
        return total / max(len(values), 1) if measurement.divisor != 1 else total
    if not values:
        return measurement.contribution.absent
    return min(values) if measurement.kind == "min" else max(values)


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=40 * 2.0**EXPONENT)


@pytest.mark.parametrize("first", range(ROUNDS))
def test_without_noise_the_answer_is_that_of_the_plain_query(first: int) -> None:
    compared = 0
    for seed in range(10_000 + first * EACH, 10_000 + (first + 1) * EACH):
        random = Random(seed)
        declared = setting(random).declared
        maker = Maker(random, points=False)
        try:
            question = analyze(maker.query(), declared)
        except QueryError:
            continue
        rows = [record(random, declared) for _ in range(random.choice((0, 1, 5, 30)))]
        compare(question, rows, seed)
        compared += 1
    assert compared >= EACH // 2


def compare(question: AnalyzedQuery, rows: list[Row], seed: object = None) -> None:
    """Plain query, rewritten query and Python agree."""
    found, expected = answers(question, rows), plain(question, rows)
    kept = [r for r in rows if all(r[k.column] in k.levels for k in question.keys)]
    for key in found:
        group = [r for r in kept if tuple(r[k.column] for k in question.keys) == key]
        empty: set[int] = set()
        for i, measurement in enumerate(question.measurements):
            by_hand = reference(measurement, group)
            assert close(found[key][i], by_hand), (seed, question.sql, measurement.text, found[key][i], by_hand)
            if measurement.kind != "count" and not contributed(measurement, group):
                empty.add(i)  # NULL in the plain query; 0, or the far end of the range, here
        outputs = [o for o in question.outputs if o.measured]
        for output, said in zip(outputs, expected[key], strict=True):
            if not empty & set(output.measured):
                value = formula.evaluate(output.formula, found[key], key)
                assert close(value, float(said)), (seed, question.sql, key, output.name, value, said)


WRITTEN = [
    "SELECT SUM(x) / COUNT(x) AS r, ABS(SUM(x)) AS a, ROUND(AVG(x), 2) AS m FROM t",
    "SELECT g, SUM(x) AS s, COUNT(y) AS n FROM t GROUP BY g",
    "SELECT SUM(z) AS s FROM (SELECT x + y AS z, c FROM t WHERE x > 0) AS q WHERE c = 'bay'",
    "WITH a AS (SELECT * FROM t WHERE y > 2), b AS (SELECT x AS w FROM a) SELECT MIN(w) AS lo, MAX(w) AS hi FROM b",
    "SELECT u.g AS place, AVG(u.x) AS m FROM t AS u WHERE NOT u.f GROUP BY place",
    "SELECT COUNT(*) AS n FROM t WHERE (f) AND NOT (NOT f)",
    "SELECT SUM(x) FILTER (WHERE x > 2 * 1.5) AS s, COUNT(c) AS n FROM t",
    "SELECT LEAST(SUM(x), 5) + GREATEST(COUNT(y), 1, 2) - (-SQRT(COUNT(x))) AS r FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE c IN ('bay') OR x NOT IN (0, 3) OR c LIKE '%a_'",
    "SELECT COUNT(*) AS n FROM t WHERE x <> 3 AND NOT (x IN (0, 7.5)) AND NOT (x BETWEEN 1 AND 2)",
    "SELECT MAX(x) FILTER (WHERE c = 'white') AS a, MIN(x) FILTER (WHERE y < 4) AS b, MAX(x) AS d, MIN(x) AS e FROM t",
    "SELECT SUM(CASE c WHEN 'bay' THEN x WHEN 'white' THEN 2 END) AS s, AVG(COALESCE(x, y)) AS a FROM t",
]


@pytest.mark.parametrize("sql", WRITTEN)
@pytest.mark.parametrize("protects", ["values", "records"])
def test_queries_as_people_write_them(sql: str, protects: Any) -> None:
    columns = {n: DeclaredColumn(n, bounds=b) for n, b in BOUNDS.items()}
    columns |= {n: DeclaredColumn(n, levels=v, protected=n != "g") for n, v in LEVELS.items()}
    random = Random(sql)
    for size in (0, 1, 40):
        declared = DeclaredTable("t", columns, unit_named(protects))
        compare(analyze(sql, declared), [record(random, declared) for _ in range(size)])


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT SUM("É") AS s FROM (SELECT x AS "É", y AS "é" FROM t) AS q',
        'SELECT SUM(Q.A) AS s FROM (SELECT x AS a, y AS "é" FROM t) AS q',
        'WITH "é" AS (SELECT y AS a FROM t), "É" AS (SELECT a AS "É", 1 AS "é" FROM "é") SELECT SUM("É") FROM "É"',
        'SELECT SUM(x) AS "É", SUM(y) AS "é" FROM t',
    ],
)
def test_names_are_the_same_where_the_engine_takes_them_for_the_same(sql: str) -> None:
    columns = {n: DeclaredColumn(n, bounds=BOUNDS[n]) for n in ("x", "y")}
    declared, random = DeclaredTable("t", columns), Random(5)
    compare(analyze(sql, declared), [record(random, declared) for _ in range(40)])


def test_having_order_and_limit_act_on_the_answer() -> None:
    columns = {n: DeclaredColumn(n, bounds=b) for n, b in BOUNDS.items()}
    columns["g"] = DeclaredColumn("g", levels=("north", "south"), protected=False)
    sql = "SELECT g, SUM(x) AS s FROM t GROUP BY g HAVING s > 3 AND NOT g = 'south' ORDER BY s DESC, 1 LIMIT 1"
    question = analyze(sql, DeclaredTable("t", columns))
    assert question.limit == 1
    assert question.having is not None
    outcomes = [formula.evaluate(question.having, {0: s}, (g,)) for s, g in ((4, "north"), (2, "north"), (4, "south"))]
    assert outcomes == [True, False, False]
    (by_sum, down), (by_key, up) = question.order
    assert (formula.evaluate(by_sum, {0: 7.0}, ("north",)), down) == (7.0, True)
    assert (formula.evaluate(by_key, {0: 7.0}, ("north",)), up) == ("north", False)


def test_what_is_asked_twice_is_measured_once() -> None:
    columns = {"x": DeclaredColumn("x", bounds=(0, 10))}
    question = analyze(
        "SELECT AVG(x) AS a, SUM(t.x) AS s, COUNT(x) AS n, SUM(x) AS again FROM t", DeclaredTable("t", columns)
    )
    assert [m.kind for m in question.measurements] == ["sum", "count"]


def test_an_average_of_noise_stays_inside_the_range() -> None:
    output = analyze("SELECT AVG(x) FROM t", DeclaredTable("t", {"x": DeclaredColumn("x", bounds=(2, 10))})).outputs[0]
    values = [
        formula.evaluate(output.formula, {0: s, 1: n}) for s, n in ((5.0, 0.0), (5.0, -3.0), (-9.0, 1.0), (1e9, 2.0))
    ]
    assert values == [5.0, 5.0, 2.0, 10.0]


def test_a_pair_beside_the_sign_of_a_distance_is_a_point() -> None:
    """The example query of the work that this project implements."""
    columns = {n: DeclaredColumn(n, bounds=(-100, 100)) for n in ("x", "y")}
    ship = DeclaredTable("ship", {**columns, "speed": DeclaredColumn("speed", bounds=(10, 100))})
    sql = "SELECT MIN((POINT(ship.x, ship.y) <@> {})/ship.speed) FROM ship;"
    pair, point = (analyze(sql.format(origin), ship).measurements[0] for origin in ("(0,0)", "POINT(0, 0)"))
    assert pair.guarantee == point.guarantee
    assert pair.contribution.term.at({"x": 3.0, "y": 4.0, "speed": 10.0}) == 0.5
