"""Columns of times: on a line of days, however they are stored; every change of one against what the guarantee says."""

from __future__ import annotations

import datetime
import math
from random import Random
from typing import Any

import duckdb
import pytest
from servers import Place

from guessproof.guarantee import RECORDS, VALUES, PrivacyUnit
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, analyze, find_target, rewrite
from guessproof.world.checks import days_of, length_of, moment_of, show_time

FIRST, LAST = datetime.date(1999, 11, 20), datetime.date(2003, 3, 2)
EXPONENT = -34
UNIT = 2.0**EXPONENT
QUERIES = [
    "COUNT(*) FILTER (WHERE t < DATE '2000-02-29')",
    "COUNT(*) FILTER (WHERE t <= TIMESTAMP '2000-02-29 12:00:00')",
    "COUNT(*) FILTER (WHERE t = DATE '2000-02-29')",
    "COUNT(*) FILTER (WHERE t <> '2000-02-29')",
    "COUNT(*) FILTER (WHERE t BETWEEN DATE '2000-01-01' AND DATE '2000-12-31')",
    "COUNT(*) FILTER (WHERE NOT t >= DATE '2000-01-31' + INTERVAL 1 MONTH)",
    "COUNT(*) FILTER (WHERE t IN (DATE '2000-02-29', DATE '2001-01-01'))",
    "COUNT(*) FILTER (WHERE t IS NULL OR t > DATE '2002-01-01')",
    "COUNT(*) FILTER (WHERE YEAR(t) = 2000)",
    "COUNT(*) FILTER (WHERE EXTRACT(QUARTER FROM t) = 2)",
    "COUNT(*) FILTER (WHERE EXTRACT(MONTH FROM t) IN (1, 3, 12))",
    "COUNT(*) FILTER (WHERE DATE_TRUNC('month', t) = DATE '2000-02-01')",
    "COUNT(*) FILTER (WHERE CAST(t AS DATE) <= DATE '2000-02-29')",
    "COUNT(*) FILTER (WHERE t + INTERVAL 3 DAY > DATE '2000-02-29')",
    "COUNT(t)",
    "SUM(YEAR(t))",
    "SUM(MONTH(t))",
    "SUM(DAY(t))",
    "SUM(HOUR(t))",
    "MIN(t)",
    "MAX(t)",
    "MAX(DATE_TRUNC('week', t))",
    "MIN(DATE_TRUNC('year', t))",
    "SUM(DATEDIFF('day', t, DATE '2004-01-01'))",
    "SUM(DATEDIFF('hour', t, DATE '2004-01-01') / 24)",
    "SUM(DATEDIFF('year', t, DATE '2004-06-01'))",
    "SUM(DATE '2004-01-01' - t)",
    "SUM(CASE WHEN t < DATE '2001-01-01' THEN DATEDIFF('day', t, DATE '2001-01-01') ELSE 0 END)",
]
CUTS = ["1999-11-20", "2000-01-01", "2000-02-26", "2000-02-29", "2000-03-01", "2001-01-01", "2002-01-01", "2003-03-02"]


def moments() -> list[datetime.datetime]:
    """At every cut, a microsecond beside it, and far outside the bounds."""
    found = [datetime.datetime.fromisoformat(text) for text in CUTS]
    tiny, noon = datetime.timedelta(microseconds=1), datetime.timedelta(hours=12)
    found = [m + shift for m in found for shift in (-tiny, datetime.timedelta(), tiny, noon)]
    return [*found, datetime.datetime(1950, 5, 5), datetime.datetime(2040, 7, 31, 1, 2, 3, 4)]


def ask(what: str, unit: PrivacyUnit = VALUES, **more: Any) -> AnalyzedQuery:
    declared = DeclaredTable(
        "t", {"t": DeclaredColumn("t", bounds=(days_of(FIRST), days_of(LAST)), kind="time", **more)}, unit
    )
    return analyze(f"SELECT {what} AS o FROM t", declared)


def answers(question: AnalyzedQuery, kind: str, rows: list[Any]) -> list[float]:
    """What the engine makes of each record alone; a time is written as a text and stored as this type."""
    rewritten = rewrite(question, [EXPONENT], find_target("duckdb", {"t": kind}))
    with duckdb.connect(":memory:", config={"threads": 1}) as con:
        con.execute("SET TimeZone = 'Asia/Tokyo'")
        found: list[float] = []
        for row in rows:
            con.execute(f'CREATE OR REPLACE TABLE "t" AS SELECT CAST(? AS {kind}) AS t', [row])
            units = rewritten.read(con.execute(rewritten.sql).fetchall())[()][0][0]
            absent = question.measurements[0].contribution.absent
            found.append(absent if units is None else units * UNIT)
        return found


@pytest.mark.parametrize("what", QUERIES)
def test_every_change_of_a_time_is_within_the_guarantee(what: str) -> None:
    """All pairs of moments at and beside the cuts, through the query that is really run."""
    question = ask(what)
    rows = [*moments(), None]
    found = answers(question, "TIMESTAMP", [None if m is None else str(m) for m in rows])
    guarantee, contribution = question.measurements[0].guarantee, question.measurements[0].contribution
    plain = [contribution.at({"t": m}) for m in rows]
    assert found == pytest.approx(plain, abs=2 * UNIT), "the model and the engine differ"
    metric, line = guarantee.columns["t"], guarantee.lines["t"]
    for i, a in enumerate(rows):
        for j, b in enumerate(rows[:i]):
            moved = abs(found[i] - found[j])
            assert moved <= guarantee.change + 2 * UNIT
            assert moved <= guarantee.between({"t": a}, {"t": b}) + 2 * UNIT, (a, b)
            if a is not None and b is not None:
                spots = days_of(a), days_of(b)
                assert moved <= float(metric.distance(*spots)) + 2 * UNIT, (a, b)
                assert float(line.distance(*spots)) >= float(metric.distance(*spots)) * (1 - 1e-12)
                assert guarantee.between({"t": spots[0]}, {"t": spots[1]}) >= moved - 2 * UNIT


def test_a_cut_that_is_off_by_a_microsecond_is_found() -> None:
    """The brute force itself: the metric of a cut one microsecond later lets a move through."""
    question = ask("COUNT(*) FILTER (WHERE t < DATE '2000-02-29')")
    late = ask("COUNT(*) FILTER (WHERE t < TIMESTAMP '2000-02-29 00:00:00.000001')")
    cut = datetime.datetime(2000, 2, 29)
    pair = [cut - datetime.timedelta(microseconds=1), cut]
    found = answers(question, "TIMESTAMP", [str(m) for m in pair])
    spots = [days_of(m) for m in pair]
    assert abs(found[0] - found[1]) == 1 == float(question.measurements[0].guarantee.columns["t"].distance(*spots))
    assert float(late.measurements[0].guarantee.columns["t"].distance(*spots)) == 0


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "VARCHAR", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS"])
@pytest.mark.parametrize("what", [QUERIES[0], "MIN(t)", "SUM(DATE '2004-01-01' - t)", "SUM(YEAR(t))"])
@pytest.mark.parametrize("missing", [True, False])
def test_however_it_is_stored_a_time_is_the_same(kind: str, what: str, missing: bool) -> None:
    days = ["1999-12-31", "2000-02-28", "2000-02-29", "2002-07-01", "1900-01-01", None]
    rows: list[Any] = [d if d is None or "ZONE" not in kind else f"{d} 00:00:00+00" for d in days]
    rows += ["2000-02-30", "no time"] if kind == "VARCHAR" else []
    question = ask(what, missing=missing)
    contribution = question.measurements[0].contribution
    plain = [contribution.at({"t": d if d is None else d.removesuffix(" 00:00:00+00")}) for d in rows]
    assert answers(question, kind, rows) == pytest.approx(plain, abs=2 * UNIT)


def test_an_endless_time_is_clamped_like_any_other() -> None:
    found = answers(ask("MAX(t)"), "TIMESTAMP", ["infinity", "-infinity"])
    assert found == [days_of(LAST), days_of(FIRST)]


@pytest.mark.parametrize(
    ("what", "slope", "change"),
    [
        ("MAX(t)", 1, 1198),
        ("SUM(DATEDIFF('day', t, DATE '2004-01-01'))", 1, 1198),
        ("SUM(DATEDIFF('week', t, DATE '2004-01-01'))", 1 / 7, 1198 / 7),
        ("COUNT(*) FILTER (WHERE t < DATE '2000-02-29')", 0, 1),
        ("SUM(YEAR(t))", 0, 4),
    ],
)
def test_a_day_is_the_unit(what: str, slope: float, change: float) -> None:
    guarantee = ask(what, missing=False).measurements[0].guarantee
    assert guarantee.slopes["t"] == pytest.approx(slope, rel=1e-9)
    assert guarantee.change == pytest.approx(change, rel=1e-9)


def test_years_jump_at_new_year_only() -> None:
    metric = ask("SUM(YEAR(t))", missing=False).measurements[0].guarantee.columns["t"]
    days = [days_of(datetime.date(*d)) for d in ((2000, 1, 1), (2000, 12, 31), (2001, 1, 1))]
    assert [float(metric.distance(days[0], d)) for d in days] == pytest.approx([0, 0, 1])


def test_under_records_a_time_counts_from_the_middle() -> None:
    """AVG of times: 1970 is no 0 that means anything, so deviations from the middle are added up."""
    total, count = ask("AVG(t)", RECORDS).measurements
    assert total.guarantee.presence == pytest.approx(599, rel=1e-9)
    assert count.guarantee.presence == 1


def test_far_from_1970_a_test_may_change_anywhere() -> None:
    """A double is coarser than a microsecond there: no cut is claimed."""
    guarantee = ask("COUNT(*) FILTER (WHERE t < DATE '1700-01-01')").measurements[0].guarantee
    assert float(guarantee.columns["t"].distance(0.0, 1.0)) == 1


def test_days_and_moments_are_the_same() -> None:
    random = Random(3)
    for _ in range(2000):
        moment = datetime.datetime(1800, 1, 1) + datetime.timedelta(microseconds=random.randrange(10**16))
        assert moment_of(days_of(moment)) == moment
        late = moment + datetime.timedelta(microseconds=1)
        assert days_of(moment) < days_of(late)
    assert moment_of(1e300) == datetime.datetime.max
    assert (length_of("2 weeks"), length_of("1.5 hour"), length_of("5 moons")) == (14, 0.0625, None)
    assert show_time(math.inf) == "no time"


@pytest.mark.parametrize("kind", ["date", "timestamp without time zone", "timestamp with time zone", "text"])
def test_postgres_says_the_same(kind: str, postgres: Place) -> None:
    postgres.con.execute("SET TimeZone = 'Asia/Tokyo'")
    found = [m.date() if kind == "date" else m for m in moments()[::2]]
    texts = [f"{m}+00" if "with time" in kind else str(m) for m in found]
    rows = [*zip(texts, found, strict=True), (None, None)]
    rows += [("infinity", datetime.datetime.max), ("-infinity", datetime.datetime.min)] if kind != "text" else []
    for what in QUERIES[len(kind) % 2 :: 3]:
        question = ask(what)
        rewritten = rewrite(question, [EXPONENT], find_target("postgres", {"t": kind}))
        contribution = question.measurements[0].contribution
        for text, moment in rows:
            postgres.con.execute(f"DROP TABLE IF EXISTS t; CREATE TABLE t (t {kind})")
            postgres.con.execute(f"INSERT INTO t VALUES (CAST(%s AS {kind}))", [text])
            cells = rewritten.read(postgres.con.execute(rewritten.sql).fetchall())[()][0]
            said = contribution.absent if cells[0] is None else cells[0] * UNIT
            assert said == pytest.approx(contribution.at({"t": moment}), abs=2 * UNIT), (what, text)


def test_many_years_are_a_line_with_a_step() -> None:
    """A jump at each of a hundred years takes minutes to judge; no two dates may be further apart than is said."""
    first, last = datetime.date(1920, 1, 1), datetime.date(2025, 12, 31)
    born = DeclaredColumn("born", bounds=(days_of(first), days_of(last)), kind="time", missing=False)
    measurement = analyze("SELECT SUM(YEAR(born)) AS y FROM t", DeclaredTable("t", {"born": born})).measurements[0]
    form = measurement.guarantee.lines["born"].form
    assert len(form.cuts) == 2
    rng = Random(6)
    for _ in range(400):
        one, other = (first + datetime.timedelta(days=rng.randint(-400, 39_100)) for _ in range(2))
        if rng.random() < 0.5:  # around the turn of a year, where it is tight
            one = datetime.date(rng.randint(1921, 2025), 1, 1)
            other = one + datetime.timedelta(days=rng.choice([-1, 364, 365, 366, -366, 730, 731]))
        clamped = [min(max(day, first), last).year for day in (one, other)]
        moved = abs(clamped[0] - clamped[1])
        metric = measurement.guarantee.columns["born"]
        assert moved <= float(metric.distance(days_of(one), days_of(other))) + 1e-9
