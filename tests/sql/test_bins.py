"""Groups by bins of a number: exact at every edge, and both bins move when a number crosses one."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import itertools
import math
from pathlib import Path
from random import Random
from typing import Any, LiteralString, cast

import duckdb
import numpy as np
import pytest
from depth import cases
from servers import Place

from guessproof.errors import ParameterError, QueryError
from guessproof.guarantee import RECORDS, VALUES
from guessproof.guarantee.stored import metric_from_dict, metric_to_dict
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, Measurement, analyze, find_target, rewrite
from guessproof.sql.bins import Bins
from guessproof.world import Binned
from guessproof.world.distances import LineForm, LineMetric
from sql.grammar import POOL, Maker, setting
from sql.neighbours import EXPONENT, Answers, Bench, allowed
from sql.test_neighbours import OTHERS

UNIT = 2.0**EXPONENT
PAIRS = 80
BENCHES = (Bench(), Bench(OTHERS))
EDGES = (0.0, 3.0, 7.5)
X = DeclaredColumn("x", bounds=(-2, 10), edges=EDGES, missing=False)
Y = DeclaredColumn("y", bounds=(1, 6.5), missing=False)


def table(*columns: DeclaredColumn, unit: Any = VALUES) -> DeclaredTable:
    return DeclaredTable("t", {c.name: c for c in columns}, unit)


def drawn(seed: int) -> AnalyzedQuery | None:
    """A query by bins of a protected number, which is added up and tested as well."""
    random = Random(seed)
    declared = setting(random).declared
    edges = random.choice(
        ((0.0, 3.0, 7.5), (-2.0, 10.0), (-2.0, 0.0, 3.0, 7.5, 10.0), (3.0, 7.5), (-1e300, 0.1, 1e300))
    )
    columns = {**declared.columns, "x": dataclasses.replace(declared.columns["x"], edges=edges)}
    sql = Maker(random).query(grouped=True).replace("GROUP BY g", "GROUP BY x").replace("SELECT g,", "SELECT x AS bin,")
    if random.random() < 0.3:
        sql = sql.replace("FROM t", "FROM t WHERE x > 3 OR x < 0").replace("x < 0 WHERE", "x < 0 AND")
    try:
        return analyze(sql, dataclasses.replace(declared, columns=columns))
    except QueryError:
        return None


def says_of(measurement: Measurement, before: dict[str, Any], after: dict[str, Any]) -> dict[str, float]:
    """Every form of the guarantee about one pair."""
    guarantee = measurement.guarantee
    says = {"between": guarantee.between(before, after), "change": guarantee.change}
    changed = [n for n in before if before[n] is not after[n] and before[n] != after[n]]
    numbers = all(v is not None and v == v for v in (before["x"], after["x"]))
    if changed == ["x"] and numbers and guarantee.unit.tells_columns:
        says["metric"] = float(guarantee.columns["x"].distance(before["x"], after["x"]))
        says["line"] = float(guarantee.lines["x"].distance(before["x"], after["x"]))
    return says


def faults(question: AnalyzedQuery, measurement: Measurement, answers: Answers, random: Random) -> list[str]:
    """Pairs of variants that differ in anything protected, against every form; and each against its absence."""
    declared, used = question.declared, answers.used
    kept = allowed(declared, used, complete=measurement.divisor != 1)
    moving = [i for i, name in enumerate(used) if declared.column(name).protected]
    found: list[str] = []
    for turn in range(PAIRS):
        first = [random.choice(places) for places in kept]
        second = list(first)
        axes = [used.index("x")] if turn % 2 else random.sample(moving, random.randint(1, len(moving)))
        for axis in axes:
            second[axis] = random.choice(kept[axis])
        before, after = ({used[i]: POOL[used[i]][spot[i]] for i in moving} for spot in (first, second))
        apart = np.abs(answers.variants[tuple(first)] - answers.variants[tuple(second)]) * UNIT
        gone = float(np.abs(answers.variants[tuple(first)] - answers.without).sum()) * UNIT
        room = 2 * UNIT * (1 + 1e-6)
        found += [
            f"{measurement.text} from {before} to {after} moves by {apart.sum()}, {form} says {most}"
            for form, most in says_of(measurement, before, after).items()
            if float(apart.sum()) > most * (1 + 1e-12) + room
        ]
        if float(np.linalg.norm(apart)) > measurement.euclidean * (1 + 1e-12) + room:
            found.append(f"{measurement.text} from {before} to {after} moves further in a straight line")
        if gone > measurement.guarantee.presence * (1 + 1e-12) + room:
            found.append(f"{measurement.text} without {before} moves by {gone}, presence says less")
    return found


@pytest.mark.parametrize("first", range(cases(2)))
def test_no_two_bins_move_further_together_than_the_guarantee_says(first: int) -> None:
    asked = 0
    for seed in range(5 * first, 5 * (first + 1)):
        question = drawn(seed)
        if question is None:
            continue
        asked += 1
        for measurement, answers in zip(question.measurements, BENCHES[first % 2].answers(question), strict=True):
            found = faults(question, measurement, answers, Random(seed))
            assert not found, (seed, question.sql, question.declared, found[:2])
    assert asked >= 3


def test_what_is_forgotten_is_found() -> None:
    """The brute force itself: one bin only, an edge one ulp off, the numbers inside a bin taken for one."""
    question = analyze("SELECT x AS bin, SUM(x) AS s FROM t GROUP BY x", table(X))
    (measurement,), (answers,) = question.measurements, BENCHES[0].answers(question)
    assert not faults(question, measurement, answers, Random(1))
    kept = measurement.guarantee
    metric = kept.columns["x"]
    assert isinstance(metric, Binned)
    wrong = {
        "one bin": dataclasses.replace(metric, worth=tuple(w / 2 for w in metric.worth)),
        "an edge": dataclasses.replace(metric, cuts=(0.0, 3.0, 7.5)),
        "inside": dataclasses.replace(metric, inside=LineForm()),
    }
    for name, planted in wrong.items():
        made = dataclasses.replace(measurement, guarantee=dataclasses.replace(kept, columns={"x": planted}))
        assert any(
            "metric says" in fault for seed in range(8) for fault in faults(question, made, answers, Random(seed))
        ), name


@pytest.mark.parametrize(
    ("asked", "change"),
    [("COUNT(*)", 2), ("SUM(x)", 15), ("SUM(y)", 13), ("COUNT(*) FILTER (WHERE y > 2)", 2), ("MAX(y)", 11)],
)
def test_both_bins_move(asked: str, change: float) -> None:
    """SUM(x): up to 7.5 in each of two bins, for what lies beyond the last edge is in none."""
    (measurement,) = analyze(f"SELECT x, {asked} AS o FROM t GROUP BY x", table(X, Y)).measurements
    assert measurement.guarantee.change == pytest.approx(change, rel=1e-9)
    assert "in both groups together, when x changes" in measurement.account


def test_distances_between_numbers() -> None:
    """Nothing inside a bin, both bins across an edge, one from or to a number without a bin."""
    (measurement,) = analyze("SELECT x, COUNT(*) AS n FROM t GROUP BY x", table(X)).measurements
    metric, line = measurement.guarantee.columns["x"], measurement.guarantee.lines["x"]
    below = math.nextafter(3.0, 0)
    pairs = {
        (0.0, below): 0,
        (-0.0, 1.0): 0,
        (below, 3.0): 2,
        (0.0, 7.5): 2,
        (7.5, 8.0): 1,
        (-1.0, 0.0): 1,
        (-1.0, 9.0): 0,
    }
    for (a, b), apart in pairs.items():
        assert float(metric.distance(a, b)) == apart
        assert measurement.guarantee.between({"x": a}, {"x": b}) == apart
        assert float(line.distance(a, b)) >= apart
    assert measurement.guarantee.between({"x": math.nan}, {"x": 1.0}) == 1


def test_the_metric_keeps_the_triangle_and_bounds_its_intervals() -> None:
    random = Random(3)
    for _ in range(300):
        cuts = tuple(sorted(random.sample(range(-5, 15), 3)))
        inside = LineForm(
            (1.0, 4.0), (0.0, random.random() * 3, 0.0), (random.random(), 0.0), random.choice((0.0, 0.3))
        )
        worth = tuple(random.choice((0.0, 1.0, 2.5)) for _ in range(4))
        metric = Binned(tuple(map(float, cuts)), worth, random.choice((1.0, 4.0, 9.0)), inside)
        x, y, z = (random.choice((-6.0, 0.5, 1.0, 3.0, 4.5, float(random.randint(-5, 15)))) for _ in range(3))
        assert float(metric.distance(x, z)) <= float(metric.distance(x, y)) + float(metric.distance(y, z)) + 1e-12
        ends = np.array([min(x, y)]), np.array([max(x, y)])
        assert (
            float(metric.spread(ends, (np.array([z]), np.array([z])))[0])
            >= float(metric.distance((x + y) / 2, z)) - 1e-12
        )
        assert metric_from_dict(metric_to_dict(metric)) == metric


STORED: dict[str, list[Any]] = {
    "DOUBLE": [*POOL["x"], -0.0, 2.9999999],
    "FLOAT": [-0.0, 0.0, 3.0, 2.9999998, 7.5, 7.500001, math.inf, -math.inf, math.nan, None],
    "DECIMAL(20,10)": [-1, 0, 3, 2.9999999999, 7.5, 7.5000000001, None],
    "BIGINT": [-1, 0, 1, 2, 3, 7, 8, None],
    "VARCHAR": ["3", "3.0", "2.9999999999999996", "-0", "nan", "inf", "x", "", "7.5", "7.500000000000001", None],
}


@pytest.mark.parametrize("kind", STORED)
def test_the_engine_finds_the_bin_that_the_model_finds(kind: str) -> None:
    question = analyze("SELECT x AS bin, COUNT(*) AS n FROM t GROUP BY x", table(X))
    rewritten = rewrite(question, [0], find_target("duckdb", {"x": kind}))
    with duckdb.connect(":memory:") as con:
        for value in STORED[kind]:
            con.execute(f"CREATE OR REPLACE TABLE t (x {kind})")
            con.execute("INSERT INTO t VALUES (?)", [value])
            (held,) = con.execute("SELECT x FROM t").fetchone() or (None,)
            found = rewritten.run(lambda sql: con.execute(sql).fetchall())
            place = Bins(X).find_stored(held)
            assert [group for (group,) in found] == ([] if place is None else [Bins(X).names[place]]), value


def test_the_same_on_postgres(postgres: Place) -> None:
    question = analyze("SELECT x AS bin, COUNT(*) AS n FROM t GROUP BY x", table(X))
    for kind, values in {
        "double precision": STORED["DOUBLE"],
        "numeric": STORED["DECIMAL(20,10)"],
        "text": STORED["VARCHAR"],
    }.items():
        rewritten = rewrite(question, [0], find_target("postgres", {"x": kind}))
        for value in values:
            with postgres.con.transaction(force_rollback=True):
                postgres.con.execute(cast("LiteralString", f"CREATE TABLE t (x {kind})"))
                postgres.con.execute("INSERT INTO t VALUES (%s)", [value])
                found = rewritten.run(lambda sql: ask(postgres, sql))
                place = Bins(X).find_stored(value)
                assert [g for (g,) in found] == ([] if place is None else [Bins(X).names[place]]), (kind, value)


def test_dates(tmp_path: Path) -> None:
    edges = tuple(float((datetime.date(y, 1, 1) - datetime.date(1970, 1, 1)).days) for y in (1990, 2000, 2010))
    born = DeclaredColumn("born", kind="time", edges=edges)
    assert Bins(born).names == ("[1990-01-01, 2000-01-01)", "[2000-01-01, 2010-01-01]")
    question = analyze("SELECT born, COUNT(*) AS n FROM t GROUP BY born", table(born))
    rewritten = rewrite(question, [0], find_target("duckdb", {"born": "TIMESTAMP"}))
    moments = [
        "1999-12-31 23:59:59.999999",
        "2000-01-01",
        "2010-01-01",
        "2010-01-01 00:00:00.000001",
        "1990-01-01",
        None,
    ]
    with duckdb.connect(":memory:") as con:
        for moment, place in zip(moments, (0, 1, 1, None, 0, None), strict=True):
            con.execute("CREATE OR REPLACE TABLE t (born TIMESTAMP)")
            con.execute("INSERT INTO t VALUES (?)", [moment])
            found = rewritten.run(lambda sql: con.execute(sql).fetchall())
            assert Bins(born).find_stored(moment) == place
            assert [g for (g,) in found] == ([] if place is None else [Bins(born).names[place]])


def test_many_bins() -> None:
    column = dataclasses.replace(X, edges=tuple(float(e) for e in range(1001)))
    question = analyze("SELECT x, COUNT(*) AS n FROM t GROUP BY x", table(column, unit=RECORDS))
    rewritten = rewrite(question, [0], find_target("duckdb", {"x": "DOUBLE"}))
    with duckdb.connect(":memory:") as con:
        con.execute("CREATE TABLE t AS SELECT i / 2.0 AS x FROM range(-3, 2010) AS r(i)")
        found = rewritten.run(lambda sql: con.execute(sql).fetchall())
    assert [found[name,][0][0] for name in Bins(column).names] == [2] * 999 + [3]
    assert isinstance(question.measurements[0].guarantee.lines["x"], LineMetric)


@pytest.mark.parametrize(
    "edges",
    [
        tuple(float(e) for e in range(-20, 31)),
        tuple(0.1 * k for k in range(61)),
        tuple(-1e6 + k / 3 for k in range(50)),
        tuple(1e-300 * k for k in range(50)),
        tuple(1e90 * k for k in range(50)),
        tuple(k * k / 7 for k in range(20)),
    ],
)
def test_every_edge_of_many_is_exact(edges: tuple[float, ...], postgres: Place) -> None:
    """Each edge and its neighbours, whether bins are computed or compared; far outside nothing overflows."""
    column = dataclasses.replace(X, bounds=None, edges=edges)
    bins = Bins(column)
    values = [v for e in edges for v in (math.nextafter(e, -math.inf), e, math.nextafter(e, math.inf))]
    values += [(a + b) / 2 for a, b in itertools.pairwise(edges)]
    values += [math.inf, -math.inf, math.nan, 1e308, -1e308]
    places = collections.Counter(p for v in values if (p := bins.find(v)) is not None)
    expected = {(name,): [(places[i], None)] for i, name in enumerate(bins.names) if places[i]}
    question = analyze("SELECT x AS bin, COUNT(*) AS n FROM t GROUP BY x", table(column))
    with duckdb.connect(":memory:") as con:
        con.execute("CREATE TABLE t (x DOUBLE)")
        con.executemany("INSERT INTO t VALUES (?)", [[v] for v in values])
        rewritten = rewrite(question, [0], find_target("duckdb", {"x": "DOUBLE"}))
        assert rewritten.run(lambda sql: con.execute(sql).fetchall()) == expected
    postgres.con.execute("CREATE TABLE t (x double precision)")
    with postgres.con.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s)", [[v] for v in values])
    rewritten = rewrite(question, [0], find_target("postgres", {"x": "double precision"}))
    assert rewritten.run(lambda sql: ask(postgres, sql)) == expected


def ask(place: Place, sql: str) -> list[Any]:
    return place.con.execute(cast("LiteralString", sql)).fetchall()


@pytest.mark.parametrize("edges", [(), (1.0,), (2.0, 1.0), (1.0, 1.0), (0.0, math.inf), (0.0, math.nan)])
def test_edges_rise(edges: tuple[float, ...]) -> None:
    with pytest.raises(ParameterError, match="edges"):
        DeclaredColumn("x", edges=edges)


def test_labels_have_none() -> None:
    with pytest.raises(ParameterError, match="labels"):
        DeclaredColumn("c", levels=("a", "b"), edges=(0.0, 1.0))
