"""Persons: whole persons come, go and change on tiny tables, through the query that is really run."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from guessproof.guarantee import Persons
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, analyze, find_target, rewrite
from guessproof.sql import units as written
from guessproof.sql.rewrite import RewrittenQuery
from sql.running import run

COLUMNS = {
    "id": DeclaredColumn("id", kind="number"),
    "x": DeclaredColumn("x", bounds=(5, 30)),
    "y": DeclaredColumn("y", bounds=(-10, 20)),
    "g": DeclaredColumn("g", levels=("a", "b", "c")),
    "h": DeclaredColumn("h", levels=("1", "2"), kind="number"),
}
TYPES = {"id": "BIGINT", "x": "DOUBLE", "y": "DOUBLE", "g": "VARCHAR", "h": "DOUBLE"}
ARROW = {"id": pa.int64(), "x": pa.float64(), "y": pa.float64(), "g": pa.string(), "h": pa.float64()}
AGGREGATES = (
    "COUNT(*)",
    "COUNT(x)",
    "COUNT(DISTINCT id)",
    "COUNT(DISTINCT id) FILTER (WHERE y > 0)",
    "SUM(x)",
    "SUM(y)",
    "SUM(x) FILTER (WHERE y > 3)",
    "SUM(x * y)",
    "AVG(x)",
    "AVG(y)",
    "AVG(y) FILTER (WHERE x < 20)",
    "VARIANCE(y)",
    "MIN(x)",
    "MAX(y)",
)
TOGETHER = ", ".join(f"{aggregate} AS a{i}" for i, aggregate in enumerate(AGGREGATES))
GROUPS = ("", "g", "h", "g, h")
EXPONENT = -7
EVERYBODY = "id >= 0 OR id < 0"
UNITS = (Persons("id", 3), Persons("id", 1), Persons("id", 2, 1), Persons("id", 3, 2), Persons("id", 50))
Row = dict[str, Any]
Table = list[Row]
Answers = dict[tuple[str, ...], list[Fraction]]


def ask(aggregate: str, by: str, unit: Persons, where: str = "x < 25 OR y > 0") -> AnalyzedQuery:
    grouped = f" GROUP BY {by}" if by else ""
    keys = f"{by}, " if by else ""
    return analyze(f"SELECT {keys}{aggregate} FROM t WHERE {where}{grouped}", DeclaredTable("t", COLUMNS, unit))


def exponents(question: AnalyzedQuery) -> list[int]:
    return [0 if m.is_whole else EXPONENT for m in question.measurements]


def in_sql(question: AnalyzedQuery) -> RewrittenQuery:
    return rewrite(question, exponents(question), find_target("duckdb", TYPES))


def answers(question: AnalyzedQuery, table: Table, rewritten: RewrittenQuery | None = None) -> Answers:
    """Every declared group's numbers, in units of the answer."""
    rewritten = rewritten or in_sql(question)
    found = rewritten.read(run(rewritten.sql, table, ARROW))
    steps = [Fraction(2) ** e for e in exponents(question)]
    empty = [Fraction(m.contribution.absent) for m in question.measurements]
    return {
        group: [e if whole is None else whole * step for (whole, _), step, e in zip(cells, steps, empty, strict=True)]
        for group, cells in found.items()
    }


def moved(question: AnalyzedQuery, before: Answers, after: Answers) -> list[Fraction]:
    """How far each measurement moved, all groups together."""
    empty = [Fraction(m.contribution.absent) for m in question.measurements]
    return [
        sum((abs(before.get(g, empty)[j] - after.get(g, empty)[j]) for g in {*before, *after}), Fraction(0))
        for j in range(len(question.measurements))
    ]


def draw_rows(rng: random.Random, person: int | None, most: int = 7) -> Table:
    favourite = rng.choice("abc")
    return [
        {
            "id": person,
            "x": rng.choice([5.0, 30.0, 7.3, 24.99, 1e9, -4.0, None, float("nan")]),
            "y": rng.choice([-10.0, 20.0, 0.0, 3.1, -1e300, float("inf"), None]),
            "g": rng.choice([favourite, favourite, "a", "b", "c", "other", None]),
            "h": rng.choice([1.0, 2.0, 2.0, 3.0, None]),
        }
        for _ in range(rng.randint(0, most))
    ]


def extreme_persons(rng: random.Random) -> list[Table]:
    """Persons that move most: many rows of one extreme, all in one group or spread over all."""
    x, y = rng.choice([(30.0, 20.0), (24.0, -10.0), (5.0, 20.0), (30.0, 1.0)])
    spread = [{"id": 1, "x": x, "y": y, "g": g, "h": h} for g in "abc" for h in (1.0, 2.0)]
    return [[{**spread[0]} for _ in range(5)], spread * 3, [dict(spread[-1]) for _ in range(9)], spread[:2]]


def worst_ratios(question: AnalyzedQuery, rng: random.Random, cases: int) -> tuple[float, float]:
    """The largest share of presence and of change that any person was seen to move."""
    presence = change = 0.0
    rewritten = in_sql(question)
    for _ in range(cases):
        others = [row for person in (2, 3) for row in draw_rows(rng, person, 3)] + draw_rows(rng, None, 2)
        versions = [draw_rows(rng, 1), *extreme_persons(rng), []]
        chosen = [others + rows for rows in rng.sample(versions, 2)]
        a, b, without = (answers(question, table, rewritten) for table in (*chosen, others))
        for j, (distance, gone) in enumerate(zip(moved(question, a, b), moved(question, a, without), strict=True)):
            kept = question.measurements[j]
            slack = 2.0**EXPONENT * kept.copies if kept.is_rounded and not kept.is_whole else 0.0
            change = max(change, float(distance) / (kept.guarantee.change + slack))
            presence = max(presence, float(gone) / (kept.guarantee.presence + slack))
    return presence, change


@pytest.mark.parametrize("by", GROUPS)
def test_no_person_moves_an_answer_further_than_promised(by: str) -> None:
    rng = random.Random(by)
    for unit in UNITS:
        presence, change = worst_ratios(ask(TOGETHER, by, unit), rng, 3)
        assert presence <= 1, unit
        assert change <= 1, unit


@pytest.mark.parametrize(
    ("aggregate", "by", "least"),
    [("COUNT(*)", "", 1.0), ("SUM(x)", "", 0.99), ("COUNT(*)", "g", 0.99), ("SUM(y)", "g", 0.99)],
)
def test_the_promise_is_not_larger_than_what_some_person_does(aggregate: str, by: str, least: float) -> None:
    presence, change = worst_ratios(ask(aggregate, by, Persons("id", 3)), random.Random(1), 8)
    assert max(presence, change) >= least


# A slow, obvious oracle.


def expected(question: AnalyzedQuery, table: Table, index: int) -> dict[tuple[str, ...], Fraction]:
    """What the persons' rows add up to, person by person, in whole steps."""
    measurement = question.measurements[index]
    step = Fraction(2) ** exponents(question)[index]
    groups: dict[tuple[str, ...], Fraction] = {}
    for person in {row["id"] for row in table} - {None}:
        rows = [row for row in table if row["id"] == person]
        for group, value in person_adds(question, index, rows, step).items():
            known = groups.get(group)
            if measurement.kind in ("count", "sum"):
                groups[group] = (known or Fraction(0)) + value
            else:
                pick = min if measurement.kind == "min" else max
                groups[group] = value if known is None else pick(known, value)
    return groups


def person_adds(question: AnalyzedQuery, index: int, rows: Table, step: Fraction) -> dict[tuple[str, ...], Fraction]:
    measurement = question.measurements[index]
    total = measurement.total
    assert total is not None
    inside = [(group_of(question, row), row) for row in rows if question.where.at(row)]
    by_group: dict[tuple[str, ...], Table] = {}
    for group, row in inside:
        if group is not None:
            by_group.setdefault(group, []).append(row)
    unit = question.declared.unit
    assert isinstance(unit, Persons)
    if question.keys and unit.max_groups is not None:
        ranked = sorted(by_group, key=lambda g: (-len(by_group[g]), g))
        by_group = {g: by_group[g] for g in ranked[: unit.max_groups]}
    cells = {g: cell(measurement, found, step) for g, found in by_group.items()}
    if measurement.kind not in ("count", "sum"):
        return cells
    if measurement.contribution.weighted:
        number = sum(map(len, by_group.values()))
        return {g: int(v / step * min(Fraction(1), Fraction(unit.max_rows, number))) * step for g, v in cells.items()}
    if total.high is not None and total.low is not None:
        low, high = -(-Fraction(total.low) // step) * step, Fraction(total.high) // step * step
        cells = {g: min(max(v, low), high) for g, v in cells.items()}
    size = sum((abs(v) for v in cells.values()), Fraction(0))
    if total.most is None or size <= (most := Fraction(total.most) // step * step):
        return cells
    return {g: int(v * most / size / step) * step for g, v in cells.items()}


def cell(measurement: Any, rows: Table, step: Fraction) -> Fraction:
    values = [measurement.contribution.term.at(row) for row in rows if measurement.filter.at(row)]
    found = [Fraction(round(Fraction(v) / step)) * step for v in values if v is not None]
    if measurement.kind in ("count", "sum"):
        return sum(found, Fraction(0))
    pick = min if measurement.kind == "min" else max
    return pick([*found, Fraction(measurement.contribution.absent)])


def group_of(question: AnalyzedQuery, row: Row) -> tuple[str, ...] | None:
    names = [
        None if (v := row[k.column]) is None else str(int(v)) if isinstance(v, float) else v for k in question.keys
    ]
    listed = all(name in key.levels for name, key in zip(names, question.keys, strict=True))
    return tuple(str(name) for name in names) if listed else None


@pytest.mark.parametrize("by", GROUPS)
def test_the_engine_adds_what_plain_arithmetic_adds(by: str) -> None:
    rng = random.Random(by)
    for unit in UNITS:
        question = ask(TOGETHER, by, unit)
        rewritten = in_sql(question)
        for _ in range(2):
            table = [row for person in (1, 2, 3, 4, None) for row in draw_rows(rng, person)]
            found = answers(question, table, rewritten)
            for index, measurement in enumerate(question.measurements):
                model, empty = expected(question, table, index), Fraction(measurement.contribution.absent)
                for group, cells in found.items():
                    assert cells[index] == model.get(group, empty), (measurement.text, by, unit, group)


# The numbers that the theory names.


@pytest.mark.parametrize(
    ("aggregate", "by", "presence", "change"),
    [
        ("COUNT(*)", "", 3, 3),
        ("SUM(x)", "", 90, 90),
        ("SUM(y)", "", 60, 90),
        ("COUNT(DISTINCT id)", "", 1, 1),
        ("MAX(x)", "", 25, 25),
        ("COUNT(*)", "g", 3, 6),
        ("SUM(x)", "g", 90, 180),
        ("COUNT(DISTINCT id)", "g", 3, 3),
        ("COUNT(DISTINCT id)", "g, h", 3, 6),
        ("MAX(x)", "g", 75, 75),
    ],
)
def test_how_far_a_person_moves_an_answer(aggregate: str, by: str, presence: float, change: float) -> None:
    (measurement,) = ask(aggregate, by, Persons("id", 3), EVERYBODY).measurements
    assert (measurement.guarantee.presence, measurement.guarantee.change) == (presence, change)


def test_few_groups_of_a_person_are_fewer_numbers_that_move() -> None:
    (measurement,) = ask("MAX(x)", "g, h", Persons("id", 3, 2), EVERYBODY).measurements
    assert (measurement.guarantee.presence, measurement.guarantee.change) == (50, 100)


def test_averages_are_measured_from_the_middle_of_the_bounds() -> None:
    total, count = ask("AVG(x)", "", Persons("id", 3), EVERYBODY).measurements
    assert (total.guarantee.presence, total.guarantee.change, count.guarantee.change) == pytest.approx((37.5, 75, 3))


# Mistakes that are planted: each must be caught by the neighbours above.


def caught(question: AnalyzedQuery, cases: int = 8) -> bool:
    presence, change = worst_ratios(question, random.Random(5), cases)
    return presence > 1 or change > 1


def test_a_promise_of_75_would_be_caught() -> None:
    question = ask("SUM(x)", "", Persons("id", 3))
    (measurement,) = question.measurements
    lower = replace(measurement, guarantee=measurement.guarantee.scaled(75 / 90))
    assert not caught(question)
    assert caught(replace(question, measurements=(lower,)))


def test_one_group_too_many_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    question = ask("COUNT(DISTINCT id)", "g", Persons("id", 3, 1))
    assert not caught(question)
    keep: Callable[..., Any] = written.keep_groups
    monkeypatch.setattr(written, "keep_groups", lambda query, reach: keep(query, reach + 1))
    assert caught(question)


def test_rounding_up_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    question = ask("COUNT(*)", "g", Persons("id", 1))
    assert not caught(question, 10)
    share: Callable[..., Any] = type(find_target("duckdb", {})).share

    def up(self: Any, x: Any, part: int, whole: Any) -> Any:
        return share(self, x, part, whole) + 1

    monkeypatch.setattr(type(find_target("duckdb", {})), "share", up)
    assert caught(question, 10)


def test_a_bound_before_the_filter_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows have their bounds; a person's are added up after the WHERE, and only a bound there holds them together."""
    question = ask("SUM(x)", "", Persons("id", 3))
    monkeypatch.setattr(written.UnitBound, "_clamp", lambda self, found, target: found)
    assert caught(question)


@pytest.mark.parametrize("by", ["", "g"])
def test_rows_that_do_not_weigh_less_where_there_are_many_would_be_caught(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = ask("AVG(y)", by, Persons("id", 3), EVERYBODY)
    assert not caught(question)
    monkeypatch.setattr(type(find_target("duckdb", {})), "share", lambda self, x, part, whole: x)
    assert caught(question)


def test_a_row_without_a_name_is_nobodys() -> None:
    question = ask("COUNT(*)", "", Persons("id", 2))
    assert answers(question, [{"id": None, "x": 6.0}, {"id": None, "x": 7.0}]) == {(): [0]}
