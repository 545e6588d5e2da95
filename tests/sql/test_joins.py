"""Joins with public tables: no answer moves further than its guarantee says; the engine adds up what the model does."""

from __future__ import annotations

import dataclasses
import itertools
from random import Random
from typing import Any

import duckdb
import pytest
from depth import cases

from guessproof.errors import QueryError
from guessproof.guarantee import RECORDS, VALUES
from guessproof.guarantee.unit import PrivacyUnit
from guessproof.sql import (
    AnalyzedQuery,
    DeclaredColumn,
    DeclaredTable,
    PublicTable,
    aggregate_reader,
    analyze,
    distances,
    find_target,
    lookup,
    rewrite,
)
from sql.checks import faults
from sql.grammar import POOL
from sql.joined import PUBLIC, ROWS, TYPES, JoinBench, all_types, generated
from sql.neighbours import AXES, EXPONENT
from sql.neighbours import TYPES as OWN

BENCH = JoinBench()
EACH = 15


def understood(seed: int) -> tuple[AnalyzedQuery | None, str]:
    declared, sql = generated(seed)
    try:
        return analyze(sql, declared), sql
    except QueryError:
        return None, sql


@pytest.mark.parametrize("first", range(cases(3)))
def test_no_answer_moves_further_than_its_guarantee(first: int) -> None:
    asked = 0
    for seed in range(EACH * first, EACH * (first + 1)):
        question, sql = understood(seed)
        if question is not None:
            asked += 1
            found = faults(BENCH, question, Random(seed))
            assert not found, (seed, sql, question.declared, found)
    assert asked >= EACH // 3, "too many queries are refused"


def joined_rows(question: AnalyzedQuery, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Every row that a record becomes, by nested loops over the public tables."""
    rows = [record]
    for join in question.joins:
        alias, table = join.joined.alias, join.joined.table.name
        beside = [{f"{alias}.{n}": v for n, v in zip(TYPES[table], row, strict=True)} for row in ROWS[table]]
        found: list[dict[str, Any]] = []
        for row in rows:
            fits = [p for p in beside if all(k.matches(row.get(k.left.name), p[k.right.name]) for k in join.keys)]
            if join.joined.outer:
                fits = [p for p in fits if join.filter.at(p)] or [{}]
            found += [{**row, **p} for p in fits]
        rows = found
    return rows


def computed(question: AnalyzedQuery, records: list[dict[str, Any]]) -> list[float]:
    """What the model says of each measurement, in one group."""
    rows = [row for record in records for row in joined_rows(question, record) if question.where.at(row)]
    found: list[float] = []
    for m in question.measurements:
        kept = [v for row in rows if m.filter.at(row) and (v := m.contribution.term.at(row)) is not None]
        extreme = min if m.kind == "min" else max
        found.append(sum(kept) if m.kind in ("sum", "count") else extreme([*kept, m.contribution.absent]))
    return found


def asked_of_the_engine(question: AnalyzedQuery, records: list[dict[str, Any]]) -> list[float]:
    names = [n for n in AXES if n in question.columns] or ["x"]
    BENCH.con.execute(f"CREATE OR REPLACE TABLE t ({', '.join(f'{n} {OWN[n]}' for n in names)})")
    rows = [[record[n] for n in names] for record in records]
    BENCH.con.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)
    run = rewrite(question, [EXPONENT] * len(question.measurements), find_target("duckdb", {**OWN, **all_types()}))
    ((_, values),) = run.read(BENCH.con.execute(run.sql).fetchall()).items()
    return [float(whole or 0) * 2.0**EXPONENT for whole, _ in values]


@pytest.mark.parametrize("first", range(cases(1)))
def test_the_engine_adds_up_what_the_model_says(first: int) -> None:
    asked = 0
    for seed in range(10_000 + 40 * first, 10_000 + 40 * (first + 1)):
        question, sql = understood(seed)
        if question is None or question.keys:
            continue
        asked += 1
        random = Random(seed)
        records = [{n: random.choice(POOL[n]) for n in AXES} for _ in range(random.choice((1, 3, 12)))]
        for says, finds in zip(computed(question, records), asked_of_the_engine(question, records), strict=True):
            assert finds == pytest.approx(says, rel=1e-9, abs=200 * 2.0**EXPONENT), (seed, sql, records)
    assert asked >= 8


QUERIES = {
    "multiplicity": "SELECT SUM(x) AS o FROM t JOIN s ON t.p = s.p",
    "lookup": "SELECT SUM(q.w) AS o FROM t LEFT JOIN q ON t.c = q.c",
}


def test_forgotten_multiplicity_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    declared, _ = generated(3)
    sound = analyze(QUERIES["multiplicity"], declared)
    assert not faults(BENCH, sound, Random(1))
    monkeypatch.setattr(aggregate_reader, "count_matches", lambda _: 1)
    assert faults(BENCH, analyze(QUERIES["multiplicity"], declared), Random(1))


def test_what_a_protected_key_looks_up_must_move(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = dataclasses.replace(generated(0)[0], unit=RECORDS)
    assert not faults(BENCH, analyze(QUERIES["lookup"], declared), Random(1))
    monkeypatch.setattr(distances, "carry_along", lambda _, neighbours: neighbours)
    assert faults(BENCH, analyze("SELECT SUM(q.w * x) AS o FROM t LEFT JOIN q ON t.c = q.c", declared), Random(1))


LABELS = {"c": DeclaredColumn("c", levels=("black", "white", "bay", "Black"), missing=False)}


@pytest.mark.parametrize("unit", [VALUES, RECORDS])
def test_a_lookup_is_as_far_as_the_public_numbers_are(unit: PrivacyUnit) -> None:
    """black finds 0.5, white 99 (declared: at most 5), Black 2, bay a row without a number."""
    declared = DeclaredTable("t", LABELS, unit, public=PUBLIC)
    question = analyze("SELECT SUM(w) AS o FROM t JOIN q ON t.c = q.c", declared)
    found, holds = question.measurements[0].guarantee, {"black": 0.5, "white": 5.0, "Black": 2.0, "bay": 0.0}
    for (a, low), (b, high) in itertools.combinations(holds.items(), 2):
        assert float(found.columns["c"].distance(a, b)) == pytest.approx(abs(low - high), abs=1e-12)
        assert found.between({"c": a}, {"c": b}) == pytest.approx(abs(low - high), abs=1e-12)
    assert found.change == found.presence == pytest.approx(5.0)
    assert not faults(BENCH, question, Random(1))


def test_a_lookup_counts_every_match_once() -> None:
    """Three rows of s match 1: what they hold is added up, not three times the largest."""
    rows = [{"k": "one", "v": 1.0}, {"k": "one", "v": -1.5}, {"k": "two", "v": 3.0}, {"k": "two", "v": 2.0}]
    table = PublicTable("m", {"v": DeclaredColumn("v", bounds=(-2, 3))}, max_matches=2, read=lambda: rows)
    levels = {"c": DeclaredColumn("c", levels=("one", "two"), missing=False)}
    question = analyze("SELECT SUM(v) AS o FROM t JOIN m ON t.c = m.k", DeclaredTable("t", levels, public=(table,)))
    assert question.measurements[0].guarantee.change == pytest.approx(5.5)
    assert question.measurements[0].copies == 2, "each of its rows is rounded"


def test_a_lookup_that_is_off_by_one_level_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = DeclaredTable("t", LABELS, RECORDS, public=PUBLIC)
    sound = lookup.LookupRows.rows
    turned = {"black": "white", "white": "bay", "bay": "Black", "Black": "black"}

    def wrong(self: lookup.LookupRows, record: dict[str, Any]) -> list[dict[str, Any]]:
        return sound(self, {"c": turned.get(record["c"], record["c"])})

    monkeypatch.setattr(lookup.LookupRows, "rows", wrong)
    assert faults(BENCH, analyze("SELECT SUM(w) AS o FROM t JOIN q ON t.c = q.c", declared), Random(1))


def test_public_bounds_clamp_and_count() -> None:
    """The largest in the table is 99; what is declared is 5."""
    declared, _ = generated(0)
    found = analyze("SELECT SUM(x * w) AS o FROM t JOIN q ON t.c = q.c", dataclasses.replace(declared, unit=RECORDS))
    assert found.measurements[0].guarantee.presence == pytest.approx(50)
    (most,) = asked_of_the_engine(found, [{"x": 10.0, "c": "white"}])
    assert most == pytest.approx(50)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT SUM(x) FROM t JOIN q ON t.c = q.r", "q is joined on q.r, and its key is c"),
        ("SELECT SUM(x) FROM t JOIN q ON t.c < q.c", "q is joined on nothing"),
        ("SELECT SUM(x) FROM t, q", "q is joined on nothing"),
        ("SELECT SUM(x) FROM q LEFT JOIN t ON t.c = q.c", "rows without a record would be counted"),
        ("SELECT SUM(x) FROM t JOIN t AS b ON t.c = b.c", "joined with itself"),
        ("SELECT SUM(x) FROM t JOIN other ON t.c = other.c", "declares no table other"),
        ("SELECT SUM(x) FROM t FULL JOIN q ON t.c = q.c", "FULL JOIN is not supported"),
        ("SELECT SUM(x) FROM t NATURAL JOIN q", "NATURAL JOIN is not supported"),
        ("SELECT SUM(x) FROM t JOIN q ON t.c = q.c JOIN q ON t.c = q.c", "two tables are called q"),
        ("SELECT SUM(x * r) FROM t JOIN q USING (c) JOIN z ON q.r = z.r", "r may be q.r and z.r"),
        ("SELECT SUM(x) FROM t LEFT JOIN q ON t.c = q.c AND t.x > 3", "a LEFT JOIN matches on equal columns"),
        ("SELECT SUM(x) FROM t JOIN s ON t.c = s.p", "c holds labels"),
        ("SELECT SUM(u.x) FROM t JOIN q USING (c)", "belongs to another table"),
        ("SELECT MIN(w) FROM q", "public tables only"),
        ("SELECT SUM(x) FROM (SELECT * FROM t JOIN q USING (c)) AS d", "* of a join"),
    ],
)
def test_refusals_say_why(sql: str, said: str) -> None:
    declared, _ = generated(0)
    with pytest.raises(QueryError) as caught:
        analyze(sql, declared)
    assert said in caught.value.problem
    assert caught.value.remedy


@pytest.mark.parametrize("types", [("INTEGER", "INTEGER"), ("INTEGER", "BIGINT"), ("VARCHAR", "INTEGER")])
def test_whole_numbers_are_joined_as_their_texts_are(types: tuple[str, str]) -> None:
    public = PublicTable("k", {"rate": DeclaredColumn("rate", bounds=(0.5, 2))}, key=("code",))
    table = DeclaredTable("t", {"x": DeclaredColumn("x", bounds=(0, 10))}, public=(public,))
    asked = analyze("SELECT SUM(t.x * k.rate) AS a FROM t JOIN k ON t.code = k.code", table)
    stored = {"x": "DOUBLE", "code": types[0], "k.code": types[1], "k.rate": "DOUBLE"}
    written = rewrite(asked, [-10], find_target("duckdb", stored)).sql
    assert ('ON "code" = "k.code"' in written) == (types[0] == types[1])  # as they are, or byte by byte
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS SELECT i::DOUBLE AS x, (i - 3)::{types[0]} AS code FROM range(9) r(i)")
        con.execute(f"CREATE TABLE k AS SELECT (i * 2 - 4)::{types[1]} AS code, 1.5 AS rate FROM range(5) r(i)")
        con.execute("INSERT INTO t VALUES (7, NULL); INSERT INTO k VALUES (NULL, 2)")
        assert con.execute(written).fetchall() == [(int(1.5 * (1 + 3 + 5 + 7) * 1024),)]


def test_levels_of_a_public_table_count_once_for_each_match() -> None:
    """One record matches three rows, each with a level of its own: all of them may vanish with it."""
    table = PublicTable("m", {"v": DeclaredColumn("v", levels=("a", "b", "c"))}, max_matches=3)
    columns = {"x": DeclaredColumn("x", bounds=(0, 10), missing=False)}
    declared = DeclaredTable("t", columns, public=(table,))
    question = analyze("SELECT COUNT(DISTINCT v) AS o FROM t JOIN m ON t.g = m.k WHERE x > 3", declared)
    assert question.measurements[0].guarantee.change == 3
    repeated = DeclaredTable("t", {**columns, "g": DeclaredColumn("g", levels=("a", "b"), protected=False)}, copies=2)
    question = analyze("SELECT COUNT(DISTINCT g) AS o FROM t WHERE x > 3", repeated)
    assert question.measurements[0].guarantee.change == 2
