"""Numbers of each person: whole persons come, go and change, through the query that is really run."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engines import tables
from servers import Place

from guessproof.choosing import choose
from guessproof.errors import QueryError
from guessproof.guarantee import Persons, unit_named
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import release
from guessproof.releasing.row_bounds import bound_rows
from guessproof.sql import (
    AnalyzedQuery,
    DeclaredColumn,
    DeclaredTable,
    RewrittenQuery,
    analyze,
    by_person,
    find_target,
    rewrite,
)
from sql.running import run

COLUMNS = {"x": DeclaredColumn("x", bounds=(-2, 5)), "g": DeclaredColumn("g", levels=("a", "b"))}
STORED = {"id": "BIGINT", "x": "DOUBLE", "g": "VARCHAR"}
ARROW = {"id": pa.int64(), "x": pa.float64(), "g": pa.string()}
UNIT = Persons("id", 3)
Table = list[dict[str, Any]]
EACH = "SELECT id, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m, MIN(x) AS low, COUNT(*) FILTER (WHERE g = 'a') AS a FROM t"
ASKED = {
    "COUNT(*) FROM (EACH GROUP BY id)": lambda p: 1,
    "COUNT(*) FROM (EACH WHERE x > 0 GROUP BY id) WHERE n >= 2 AND s < 9": None,
    "SUM(n) FROM (EACH GROUP BY id)": lambda p: min(len(p), 3),
    "SUM(s) FROM (EACH GROUP BY id)": lambda p: min(max(sum(r["x"] or 0.0 for r in p), -6), 15),
    "SUM(s) FROM (EACH GROUP BY 1) WHERE low < 0 OR m > 1": None,
    "SUM(m * a) FROM (EACH GROUP BY id)": None,
    "SUM(low) FILTER (WHERE n > 1) FROM (EACH WHERE g IN ('a', 'b') GROUP BY id)": None,
    "SUM(CASE WHEN s > 4 THEN n ELSE 0 END) FROM (EACH GROUP BY id)": None,
    "SUM(n) FROM (SELECT id AS who, COUNT(*) AS n FROM t GROUP BY who HAVING COUNT(*) > 1 AND MAX(x) > 2)": lambda p: (
        min(len(p), 3) if len(p) > 1 and max((r["x"] for r in p if r["x"] is not None), default=-2) > 2 else 0
    ),
}


def ask(what: str, unit: Any = UNIT) -> AnalyzedQuery:
    head, tail = what.replace("EACH", EACH).split(" FROM (", 1)
    return analyze(f"SELECT {head} AS v FROM ({tail}", DeclaredTable("t", COLUMNS, unit))


def value(written: RewrittenQuery, rows: Table) -> Fraction:
    found = written.run(lambda sql: run(sql, rows, ARROW))[()][0][0]
    return Fraction(found or 0) * Fraction(2) ** written.exponents[0]


def write(question: AnalyzedQuery) -> RewrittenQuery:
    exponents = [0 if m.is_whole else -20 for m in question.measurements]
    return rewrite(question, exponents, find_target("duckdb", STORED))


def draw_person(rng: random.Random, person: int) -> Table:
    return [
        {"id": person, "x": rng.choice([-9.0, -2.0, 0.5, 3.0, 5.0, 80.0, None]), "g": rng.choice(["a", "b", "c", None])}
        for _ in range(rng.choice([0, 1, 2, 3, 8]))
    ]


def excess(question: AnalyzedQuery, cases: int = 24) -> float:
    """By how much a person moves the answer further than promised, at most."""
    rng, written, promise = random.Random(4), write(question), question.measurements[0].guarantee
    worst = -1e9
    for case in range(cases):
        others = [row for person in range(2, 2 + case % 4) for row in draw_person(rng, person)]
        own = [draw_person(rng, 1), draw_person(rng, 1)]
        moved = abs(value(written, [*others, *own[0]]) - value(written, [*others, *own[1]]))
        worst = max(worst, float(moved) - (promise.change if all(own) else promise.presence))
    return worst


@pytest.mark.parametrize("what", ASKED)
def test_no_person_moves_an_answer_further_than_promised(what: str) -> None:
    assert -1e9 < excess(ask(what)) <= 1e-4  # the rounding of one number, which is charged


def test_half_of_the_promise_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    true = by_person.build_unit_guarantee
    monkeypatch.setattr(by_person, "build_unit_guarantee", lambda *given: true(*given).scaled(0.5))
    for what in ("COUNT(*) FROM (EACH GROUP BY id)", "SUM(s) FROM (EACH GROUP BY id)"):
        assert excess(ask(what)) > 0.4


@pytest.mark.parametrize("what", [name for name, one in ASKED.items() if one is not None])
def test_the_engine_adds_what_plain_arithmetic_adds(what: str) -> None:
    one: Callable[[Table], float] | None = ASKED[what]
    assert one is not None
    rng, written = random.Random(9), write(ask(what))
    for _ in range(10):
        persons = [[{**r, "x": r["x"] and min(max(r["x"], -2.0), 5.0)} for r in draw_person(rng, p)] for p in range(5)]
        expected = sum(one(p) for p in persons if p)
        nobody = [{"id": None, "x": 5.0, "g": "a"}] * 3
        assert float(value(written, [*(r for p in persons for r in p), *nobody])) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("what", "unit", "words"),
    [
        ("AVG(n) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id ORDER BY n)", UNIT, "leave it out"),
        ("AVG(n) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id HAVING g = 'a')", UNIT, "no column g"),
        ("AVG(n) FROM (SELECT id, g, COUNT(*) AS n FROM t GROUP BY id, g)", UNIT, "GROUP BY id alone here"),
        ("AVG(n) FROM (SELECT id, 2 * COUNT(*) AS n FROM t GROUP BY id)", UNIT, "outer query"),
        ("AVG(n) FROM (SELECT id, COUNT(*) FROM t GROUP BY id)", UNIT, "needs a name"),
        ("AVG(q) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id)", UNIT, "no column q"),
        ("AVG(n) FROM (SELECT id, COUNT(DISTINCT id) AS n FROM t GROUP BY id)", UNIT, "no COUNT"),
        ("AVG(n) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id)", unit_named("records"), "not declared"),
        ("AVG(n) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id)", unit_named("values"), "not declared"),
    ],
)
def test_what_is_no_number_of_a_person_is_refused(what: str, unit: Any, words: str) -> None:
    with pytest.raises(QueryError, match=words):
        ask(what, unit)


# Groups of persons --------------------------------------------------------------------------------------------------

GROUPED = {
    "n, COUNT(*)": "COUNT(*) AS n FROM t GROUP BY id) GROUP BY n",
    "n, MIN(s)": "COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY id) GROUP BY n",
    "n, SUM(s)": "COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY id) GROUP BY n",
    "s, COUNT(*)": "SUM(x) AS s FROM t GROUP BY id) GROUP BY s",
}


def ask_groups(what: str, finds: bool = True) -> AnalyzedQuery:
    table = DeclaredTable("t", COLUMNS, UNIT, finds_groups=finds)
    return analyze(f"SELECT {what} AS v FROM (SELECT id, {GROUPED[what]}", table)


def moved_in_groups(question: AnalyzedQuery, cases: int = 24) -> float:
    """By how much a person moves all groups together further than promised, at most."""
    rng, written, promise = random.Random(3), write(question), question.measurements[0].guarantee
    absent, worst = Fraction(question.measurements[0].contribution.absent) / Fraction(2) ** written.exponents[0], -1e9
    for case in range(cases):
        others = [row for person in range(2, 2 + case % 4) for row in draw_person(rng, person)]
        own = [draw_person(rng, 1), draw_person(rng, 1)]
        both = [[*others, *part] for part in own]
        found = [written.run(lambda sql, rows=rows: run(sql, rows, ARROW)) for rows in both]
        cells = [{group: cell[0][0] for group, cell in answer.items()} for answer in found]
        moved = sum(abs((cells[0].get(g, absent)) - cells[1].get(g, absent)) for g in {*cells[0], *cells[1]})
        allowed = promise.change if all(own) else promise.presence
        worst = max(worst, float(moved) * 2.0 ** written.exponents[0] - allowed)
    return worst


@pytest.mark.parametrize("what", GROUPED)
def test_a_person_is_in_one_group_at_a_time(what: str) -> None:
    question = ask_groups(what)
    assert question.finds_groups == what.startswith("s")
    assert -1e9 < moved_in_groups(question) <= 1e-4


def test_leaving_one_group_unseen_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    true = by_person.build_unit_guarantee
    monkeypatch.setattr(by_person, "build_unit_guarantee", lambda *given: true(*given).scaled(0.5))
    assert moved_in_groups(ask_groups("n, COUNT(*)")) > 0.4


def test_extremes_by_number_of_rows_move_in_two_groups_at_most() -> None:
    found = ask_groups("n, MIN(s)").measurements[0].guarantee
    assert (found.change, found.presence) == (42, 21)  # not by the range in all five groups


def test_remedies_help_where_they_are_printed() -> None:
    with pytest.raises(QueryError, match="each person would be a group") as refused:
        analyze("SELECT id, COUNT(*) FROM t GROUP BY id", DeclaredTable("t", COLUMNS, UNIT))
    instead = str(refused.value).split("ask about the numbers of each: ")[1].splitlines()[0]
    assert analyze(instead, DeclaredTable("t", COLUMNS, UNIT)).measurements
    with pytest.raises(QueryError, match="delta = 1e-6") as refused:
        ask_groups("s, COUNT(*)", finds=False)
    condition = str(refused.value).split("as COUNT(*) ")[1].split(",")[0]
    assert ask(f"COUNT(*) {condition} FROM (EACH GROUP BY id)").measurements
    with pytest.raises(QueryError, match=r"edges = \[-2, 1.5, 5\]"):
        analyze("SELECT x, COUNT(*) FROM t GROUP BY x", DeclaredTable("t", COLUMNS, UNIT))
    inner = "SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id)"
    with pytest.raises(QueryError, match='if id names persons, write protects = "persons"') as refused:
        analyze(inner, DeclaredTable("t", COLUMNS, unit_named("records")))
    assert "delta" not in str(refused.value)


def test_persons_who_tell_of_each_other_move_normal_noise_together() -> None:
    sql = "SELECT g, COUNT(*) AS c FROM t GROUP BY g"
    alone, linked = (analyze(sql, DeclaredTable("t", COLUMNS, UNIT, linked=k)).measurements[0] for k in (1, 3))
    assert alone.euclidean < alone.guarantee.sensitivity
    assert linked.euclidean == pytest.approx(3 * alone.euclidean)


def test_persons_who_tell_of_each_other_count_together_behind_groups() -> None:
    sql = "SELECT COUNT(*) AS n FROM (SELECT id, COUNT(*) AS visits FROM t GROUP BY id) AS p WHERE visits > 2"
    alone, linked = (analyze(sql, DeclaredTable("t", COLUMNS, UNIT, linked=k)).measurements[0] for k in (1, 3))
    assert linked.guarantee.linked == 3
    assert linked.guarantee.change == pytest.approx(3 * alone.guarantee.change)
    assert linked.guarantee.presence == pytest.approx(3 * alone.guarantee.presence)


# The road -----------------------------------------------------------------------------------------------------------

ROWS = [{"id": p, "x": float(p % 5), "g": "ab"[k % 2]} for p in range(200) for k in range(1 + p % 6)]
QUESTION = """
SELECT AVG(n) AS visits, COUNT(*) FILTER (WHERE s > 4) AS many, MEDIAN(n) AS middle
FROM (SELECT id, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY id)"""


def plan(folder: Path, sql: str, source: str = "t.parquet", max_rows: int = 6) -> Plan:
    text = f"""
    [data]
    name = "test"
    source = "{source}"
    table = "t"
    protects = "persons"
    person = "id"
    max_rows = {max_rows}
    [query]
    sql = '''{sql}'''
    [columns]
    x = {{ bounds = [-2, 5] }}
    [release]
    epsilon = 1e6
    """
    return loads_plan(text, folder=folder)


def check(asked: Plan) -> None:
    found = {a.name: a.value for a in release(asked).answers}
    sizes = [1 + p % 6 for p in range(200)]
    assert found["visits"] == pytest.approx(statistics.mean(sizes), abs=1e-3)
    assert found["many"] == sum(n * (p % 5) > 4 for p, n in enumerate(sizes))
    assert found["middle"] in (3, 4)
    assert release(asked).replayed


def test_from_a_plan_to_an_answer(tmp_path: Path) -> None:
    tables.write(tmp_path, ROWS, "parquet", types=STORED)
    Ledger.create(tmp_path / "guessproof.ledger", "test", Budget("1e9"))
    asked = plan(tmp_path, QUESTION)
    check(asked)
    assert choose(asked).bias["visits"] is None
    sql = "SELECT n, COUNT(*) AS c FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id) GROUP BY n"
    by_number = plan(tmp_path, sql, max_rows=4)
    shown = {a.group["n"]: a.value for a in release(by_number).answers}
    assert shown["2"] == pytest.approx(sum(p % 6 == 1 for p in range(200)), abs=1e-3)
    assert list(shown) == ["0", "1", "2", "3", "4", "5 or more"]  # nobody is left out who has more than may count
    assert sum(value or 0.0 for value in shown.values()) == pytest.approx(200, abs=1e-2)
    assert bound_rows(asked, epsilon=1e4, candidates=(2, 4, 6)).choose(share=0.95) == 6


def test_the_same_on_postgres(postgres: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    postgres.con.execute("CREATE TABLE t (id bigint, x float8, g text)")
    with postgres.con.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s)", [tuple(row.values()) for row in ROWS])
    monkeypatch.setenv("DATABASE_URL", postgres.url)
    Ledger.create(tmp_path / "guessproof.ledger", "test", Budget("1e9"))
    check(plan(tmp_path, QUESTION, source="env:DATABASE_URL"))
