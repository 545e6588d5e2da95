"""Whole persons come, go and change, and records are joined with public tables: on the engine, against plain loops.

All versions of a table are asked at once, by one more key; a person has another name in each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

from guessproof.engines import Engine
from guessproof.guarantee import RECORDS, Persons
from guessproof.releasing import prepare_query
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, Measurement, PublicTable, analyze
from guessproof.sql.formula import Key
from guessproof.testing.guarantees import find_excesses
from guessproof.testing.harness import Cells, Harness
from guessproof.testing.model import draw_pairs, find_differences, keep_variants
from guessproof.testing.same import write_public
from guessproof.testing.variants import Row, ask_variants

COLUMNS = {
    "id": DeclaredColumn("id", kind="label"),
    "x": DeclaredColumn("x", bounds=(5, 30)),
    "y": DeclaredColumn("y", bounds=(-10, 20)),
    "g": DeclaredColumn("g", levels=("a", "b", "c")),
}
AGGREGATES = (
    *("COUNT(*)", "COUNT(x)", "COUNT(DISTINCT id)", "COUNT(DISTINCT id) FILTER (WHERE y > 0)", "SUM(x)", "SUM(y)"),
    *("SUM(x) FILTER (WHERE y > 3)", "SUM(x * y)", "AVG(x)", "AVG(y) FILTER (WHERE x < 20)", "MIN(x)", "MAX(y)"),
)
TOGETHER = ", ".join(f"{aggregate} AS a{i}" for i, aggregate in enumerate(AGGREGATES))
UNITS = (Persons("id", 3), Persons("id", 1), Persons("id", 2, 1), Persons("id", 50))
STEP = -7
Rows = list[dict[str, str | None]]
Answers = dict[tuple[str, ...], list[Fraction]]


def draw_person(random: Random, name: str | None, most: int) -> Rows:
    """Rows of one person, as texts: most of them in one group, some with values that are none."""
    favourite = random.choice("abc")
    return [
        {
            "id": name,
            "x": random.choice(("5", "30", "7.3", "24.99", "1e9", "-4", None, "nan")),
            "y": random.choice(("-10", "20", "0", "3.1", "-1e300", "inf", None)),
            "g": random.choice((favourite, favourite, "a", "b", "c", "other", None)),
        }
        for _ in range(random.randint(0, most))
    ]


def extreme_persons(random: Random) -> list[Rows]:
    """Persons that move most: many rows of one extreme, all in one group or spread over all."""
    x, y = random.choice((("30", "20"), ("24", "-10"), ("5", "20"), ("30", "1")))
    spread: Rows = [{"id": "1", "x": x, "y": y, "g": g} for g in "abc"]
    return [[spread[0]] * 5, spread * 4, [spread[-1]] * 9, spread[:2], []]


def ask_persons(unit: Persons, by: str) -> AnalyzedQuery:
    """All aggregates at once, of the whole table or by groups."""
    keys, grouped = (f"{by}, ", f" GROUP BY {by}") if by else ("", "")
    return analyze(f"SELECT {keys}{TOGETHER} FROM t WHERE x < 25 OR y > 0{grouped}", DeclaredTable("t", COLUMNS, unit))


def ask_versions(engine: Engine, question: AnalyzedQuery, count: int) -> list[Answers]:
    """What the engine says of each version of the table, in units of the answer."""
    levels = tuple(f"v{i}" for i in range(count))
    several = replace(question, keys=(Key("variant", "variant", levels), *question.keys))
    exponents = [0 if m.is_whole else STEP for m in question.measurements]
    found = prepare_query(engine, several, exponents).run(engine.aggregates)
    steps = [Fraction(2) ** e for e in exponents]
    answers: list[Answers] = [{} for _ in levels]
    for (level, *group), cells in found.items():
        answers[levels.index(level)][tuple(group)] = [
            Fraction(m.contribution.absent) if whole is None else whole * step
            for (whole, _), step, m in zip(cells, steps, question.measurements, strict=True)
        ]
    return answers


def moved(question: AnalyzedQuery, before: Answers, after: Answers) -> list[Fraction]:
    """How far each measurement moved, all groups together."""
    empty = [Fraction(m.contribution.absent) for m in question.measurements]
    return [
        sum((abs(before.get(g, empty)[j] - after.get(g, empty)[j]) for g in {*before, *after}), Fraction(0))
        for j in range(len(question.measurements))
    ]


def room(measurement: Measurement) -> float:
    """What rounding to the grid may add."""
    return 2.0**STEP * measurement.copies if measurement.is_rounded and not measurement.is_whole else 0.0


def find_person_excess(question: AnalyzedQuery, a: Answers, b: Answers, without: Answers) -> str | None:
    """What a person moved further than was promised: by changing, or by coming and going."""
    changed, gone = moved(question, a, b), moved(question, a, without)
    for measurement, change, presence in zip(question.measurements, changed, gone, strict=True):
        pledged, more = measurement.guarantee, room(measurement)
        if change > pledged.change + more or presence > pledged.presence + more:
            return f"{measurement.text}: a person moves it by {float(change)} or {float(presence)}, not {pledged}"
    return None


# What the persons' rows add up to, person by person.


def person_adds(question: AnalyzedQuery, index: int, rows: list[Row]) -> dict[tuple[str, ...], Fraction]:
    """What one person adds to each group, in whole steps, bounded as a whole."""
    measurement, unit = question.measurements[index], question.declared.unit
    total, step = measurement.total, Fraction(2) ** (0 if measurement.is_whole else STEP)
    assert total is not None and isinstance(unit, Persons)
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        group = tuple(str(row[key.column]) for key in question.keys)
        if question.where.at(row) and all(n in k.levels for n, k in zip(group, question.keys, strict=True)):
            groups.setdefault(group, []).append(row)
    if question.keys and unit.max_groups is not None:
        ranked = sorted(groups, key=lambda g: (-len(groups[g]), g))
        groups = {g: groups[g] for g in ranked[: unit.max_groups]}
    cells = {g: _cell(measurement, found, step) for g, found in groups.items()}
    if measurement.kind not in ("count", "sum"):
        return cells
    if measurement.contribution.weighted:
        weight = min(Fraction(1), Fraction(unit.max_rows, max(sum(map(len, groups.values())), 1)))
        return {g: int(v / step * weight) * step for g, v in cells.items()}
    if total.high is not None and total.low is not None:
        low, high = -(-Fraction(total.low) // step) * step, Fraction(total.high) // step * step
        cells = {g: min(max(v, low), high) for g, v in cells.items()}
    size = sum((abs(v) for v in cells.values()), Fraction(0))
    if total.most is None or size <= (most := Fraction(total.most) // step * step):
        return cells
    return {g: int(v * most / size / step) * step for g, v in cells.items()}


def _cell(measurement: Measurement, rows: list[Row], step: Fraction) -> Fraction:
    values = [measurement.contribution.term.at(row) for row in rows if measurement.filter.at(row)]
    found = [Fraction(round(Fraction(v) / step)) * step for v in values if v is not None]
    if measurement.kind in ("count", "sum"):
        return sum(found, Fraction(0))
    return (min if measurement.kind == "min" else max)([*found, Fraction(measurement.contribution.absent)])


def add_up(question: AnalyzedQuery, index: int, rows: list[Row]) -> dict[tuple[str, ...], Fraction]:
    """What a table's persons add up to."""
    measurement = question.measurements[index]
    groups: dict[tuple[str, ...], Fraction] = {}
    for person in {row["id"] for row in rows} - {None}:
        for group, value in person_adds(question, index, [row for row in rows if row["id"] == person]).items():
            known = groups.get(group)
            if measurement.kind in ("count", "sum"):
                groups[group] = (known or Fraction(0)) + value
            else:
                groups[group] = value if known is None else (min if measurement.kind == "min" else max)(known, value)
    return groups


def persons(harness: Harness) -> None:
    """Whole persons come, go and change: nothing moves further than promised, and each adds what plain loops add."""
    random, shelf = Random(3), harness.shelf
    versions: list[Rows] = []
    for _ in range(4):  # each with somebody, without him, and with the one whom he became
        others = [row for name in ("2", "3", None) for row in draw_person(random, name, 3)]
        first, second = random.sample([draw_person(random, "1", 7), *extreme_persons(random)], 2)
        versions += [others + first, others + second, others]
    cells: list[Cells] = [
        (f"v{i}", None if r["id"] is None else f"{i}-{r['id']}", r["x"], r["y"], r["g"])
        for i, rows in enumerate(versions)
        for r in rows
    ]
    types = {"variant": shelf.texts, "id": shelf.texts, "x": shelf.doubles, "y": shelf.doubles, "g": shelf.texts}
    with harness.opened(cells, {n: kind.type for n, kind in types.items()}) as engine:
        for unit in UNITS:
            for by in ("", "g"):
                _hold(ask_persons(unit, by), engine, versions)


def _hold(question: AnalyzedQuery, engine: Engine, versions: Sequence[Rows]) -> None:
    found = ask_versions(engine, question, len(versions))
    for i in range(0, len(versions), 3):
        fault = find_person_excess(question, *found[i : i + 3])
        assert fault is None, fault
    for rows, told in zip(versions, found, strict=True):
        values = [{n: r[n] if n in ("id", "g") or r[n] is None else float(str(r[n])) for n in r} for r in rows]
        for j, measurement in enumerate(question.measurements):
            model, empty = add_up(question, j, values), Fraction(measurement.contribution.absent)
            for group, cells in told.items():
                assert cells[j] == model.get(group, empty), (measurement.text, question.declared.unit, group, rows)


# Joins with public tables: keys twice or missing, values out of bounds.

PUBLIC_ROWS: dict[str, dict[str, list[Any]]] = {
    "q": {"c": ["black", "white", "Black", None, "bay"], "w": [0.5, 99.0, 2.0, 1.0, None]},
    "s": {
        "n": [1.0, 1.0, 0.0, -0.0, float("inf"), None, float("nan"), 1.0],
        "v": [1.0, -7.0, 2.5, 4.0, 3.0, 1.0, 1.0, None],
    },
}
OWN = {
    "x": DeclaredColumn("x", bounds=(-2, 10)),
    "n": DeclaredColumn("n", kind="number"),
    "c": DeclaredColumn("c", levels=("black", "white", "bay", "Black")),
}
JOINS = (
    "SELECT SUM(q.w) AS a, SUM(x * q.w) AS b, COUNT(*) AS n FROM t JOIN q ON t.c = q.c",
    "SELECT SUM(x) AS a, MAX(w) AS b, COUNT(w) AS n FROM t LEFT JOIN q USING (c) WHERE w < 3 OR x > 1",
    "SELECT SUM(x + s.v) AS a, COUNT(*) AS n, MIN(s.v) AS b FROM t JOIN s ON t.n = s.n",
    "SELECT SUM(COALESCE(v, x)) AS a FROM t LEFT JOIN s ON s.n = t.n AND s.v < 3",
    "SELECT SUM(w * b.v) AS a, COUNT(*) AS n FROM t JOIN q USING (c) JOIN s AS b ON b.n = t.n",
    "SELECT SUM(d.m) AS a FROM t AS a LEFT JOIN (SELECT c AS k, w AS m FROM q WHERE w < 3) AS d ON a.c = d.k",
)


def list_public() -> tuple[PublicTable, ...]:
    """The public tables as they are declared."""
    return (
        PublicTable("q", {"w": DeclaredColumn("w", bounds=(0, 5))}, key=("c",), read=lambda: _records("q")),
        PublicTable(
            "s",
            {"v": DeclaredColumn("v", bounds=(-2, 3)), "n": DeclaredColumn("n", kind="number")},
            max_matches=3,
            read=lambda: _records("s"),
        ),
    )


def _records(name: str) -> list[Row]:
    columns = PUBLIC_ROWS[name]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def join_rows(question: AnalyzedQuery, record: Row) -> list[Row]:
    """Every row that a record becomes, by nested loops over the public tables."""
    rows = [record]
    for join in question.joins:
        beside = [{f"{join.joined.alias}.{n}": v for n, v in row.items()} for row in _records(join.joined.table.name)]
        found: list[Row] = []
        for row in rows:
            fits = [p for p in beside if all(k.matches(row.get(k.left.name), p[k.right.name]) for k in join.keys)]
            if join.joined.outer:
                fits = [p for p in fits if join.filter.at(p)] or [{}]
            found += [{**row, **p} for p in fits]
        rows = found
    return rows


def joins(harness: Harness) -> None:
    """Joins with public tables: each record adds what nested loops add, and moves nothing further than promised."""
    random, shelf = Random(5), harness.shelf
    stored = {"x": shelf.doubles, "n": shelf.doubles, "c": shelf.texts}
    texts = {**{n: kind.texts for n, kind in stored.items()}, "c": ("black", "white", "bay", "Black", "bläck", "x")}

    def cell(name: str) -> str | None:
        return None if random.random() < 0.12 else random.choice(texts[name])

    public = {name: write_public(harness.folder, name, rows) for name, rows in PUBLIC_ROWS.items()}
    pairs, others = draw_pairs(random, ("c", "x"), cell, tuple(stored))
    table, columns, rows = keep_variants(stored, pairs, others, shelf.texts)
    with harness.opened(rows, columns, public=public) as engine:
        for sql in JOINS:
            question = analyze(sql, DeclaredTable("t", OWN, RECORDS, public=list_public()))
            told = ask_variants(engine, question, table.levels)
            fault = next(find_differences(question, table, told, join_rows), None)
            fault = fault or next(find_excesses(question, table, told), None)
            assert fault is None, f"{sql}: {fault}"


CHECKS = (persons, joins)
