"""Every kind of source that DuckDB has, times every aggregate: one record of the base table changes.

Whatever stands between the record and the query, the answer moves by no more than the guarantee says, or the source
is refused before anything is charged.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from depth import cases

from guessproof.choosing import asked, choose
from guessproof.engines import open_engine
from guessproof.errors import GuessproofError, SourceError
from guessproof.mechanisms.base import Grid
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import prepare_query
from guessproof.sql import AnalyzedQuery, Measurement

MONTHS = 12
# Each makes `t` from the base table `people`, and says how many of its rows one record can be in.
SOURCES: dict[str, tuple[str, int]] = {
    "table": ("CREATE TABLE t AS SELECT *, 0 AS month FROM people", 1),
    "generated column": ("CREATE TABLE t (x DOUBLE, g VARCHAR, month INTEGER, z DOUBLE AS (x * 2)); "
                         "INSERT INTO t SELECT x, g, 0 FROM people", 1),
    "view": ("CREATE VIEW t AS SELECT *, 0 AS month FROM people", 1),
    "filtered view": ("CREATE VIEW t AS SELECT *, 0 AS month FROM people WHERE g = 'a'", 1),
    "join": ("CREATE VIEW t AS SELECT p.*, m AS month FROM people p, range(12) r(m)", MONTHS),
    "stored join": ("CREATE TABLE months AS SELECT m FROM range(12) r(m); "
                    "CREATE VIEW t AS SELECT p.*, m AS month FROM people p JOIN months ON true", MONTHS),
    "union": ("CREATE VIEW t AS FROM (SELECT *, 0 AS month FROM people UNION ALL SELECT *, 1 AS month FROM people)", 2),
    "view of a view": ("CREATE VIEW inner_t AS SELECT p.*, m AS month FROM people p, range(3) r(m); "
                       "CREATE VIEW t AS SELECT i.x, i.g, i.month FROM inner_t i, range(4) q(n)", MONTHS),
    "unnested": ("CREATE VIEW t AS SELECT p.*, UNNEST([0, 1, 2, 3]) AS month FROM people p", 4),
    "uneven": ("CREATE VIEW t AS SELECT p.*, m AS month FROM people p JOIN range(12) r(m) ON m = 0 OR g = 'a'", MONTHS),
    "macro": ("CREATE MACRO t() AS TABLE SELECT p.*, m AS month FROM people p, range(12) r(m)", MONTHS),
    "view of a macro": ("CREATE MACRO f() AS TABLE SELECT p.*, m AS month FROM people p, range(12) r(m); "
                        "CREATE VIEW t AS FROM f()", MONTHS),
    "another capital": ("CREATE VIEW T AS SELECT p.*, m AS month FROM people p, range(12) r(m)", MONTHS),
}  # fmt: skip
AGGREGATES = [
    "SUM(x)", "SUM(x) FILTER (WHERE x > 3)", "AVG(x)", "MIN(x)", "MAX(x)", "COUNT(x)", "COUNT(*)", "SUM(x * x)",
    "SUM(CASE WHEN x > 5 THEN 1 ELSE 0 END)",
]  # fmt: skip
COLUMNS = """
[columns.x]
bounds = [-2, 10]
{missing}
[columns.month]
levels = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
{public}
[columns.g]
levels = ["a", "b"]
{public}
"""
EXPONENT = -20


def made(folder: Path, make: str, people: list[tuple[Any, ...]]) -> None:
    path = folder / "people.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE people (x DOUBLE, g VARCHAR)")
        if people:
            con.executemany("INSERT INTO people VALUES (?, ?)", people)
        con.execute(make)


def plan_of(folder: Path, sql: str, protects: str, copies: int | None, rows: int | None) -> Plan:
    public = "public = true" if protects == "values" else ""
    lines = [f'protects = "{protects}"', f"copies = {copies}" if copies else "", f"rows = {rows}" if rows else ""]
    columns = COLUMNS.format(public=public, missing="missing = false" if rows else "")
    return loads_plan(
        f'[data]\nname = "p"\nsource = "people.duckdb"\n{os.linesep.join(lines)}\n[query]\nsql = "{sql}"\n{columns}',
        folder=folder,
    )


def found(plan: Plan, question: AnalyzedQuery | None = None) -> dict[Any, Any]:
    question = question or asked(plan)
    with open_engine(plan.source, plan.data.table) as engine:
        rewritten = prepare_query(engine, question, [EXPONENT] * len(question.measurements))
        return rewritten.read(engine.aggregates(rewritten.sql))


def moved(measurement: Measurement, before: dict[Any, Any], after: dict[Any, Any], index: int) -> float:
    """Over all groups together: each has noise of its own."""
    nothing = round(measurement.contribution.absent * 2.0**-EXPONENT)

    def at(answers: dict[Any, Any], group: Any) -> int:
        whole = answers[group][index][0] if group in answers else None
        return nothing if whole is None else whole

    return sum(abs(at(before, g) - at(after, g)) for g in {*before, *after}) * 2.0**EXPONENT


def person(draw: random.Random, complete: bool) -> tuple[float | None, str]:
    pool = [-2.0, 0.0, 2.9, 3.1, 7.5, 10.0, 99.0, -99.0, *([] if complete else [None, float("nan")])]
    return draw.choice(pool), draw.choice("ab")


def checked(tmp_path: Path, kind: str, plan: Plan, people: list[Any], changed_people: list[Any]) -> None:
    """The last person changes, and goes: both move the answers by no more than every form of the guarantee says."""
    make, grouped, protects = SOURCES[kind][0], "GROUP BY" in plan.query.sql, plan.data.protects
    first, second = people[-1], changed_people[-1]
    try:
        question = asked(plan)
    except GuessproofError:
        return  # nothing in it is protected
    made(tmp_path, make, people)
    if kind == "macro" or (plan.data.copies is None and not make.startswith("CREATE TABLE t ")):
        with pytest.raises(SourceError):
            found(plan)
        return
    before = found(plan, question)
    made(tmp_path, make, changed_people)
    changed = found(plan, question)
    made(tmp_path, make, people[:-1])
    gone = found(plan, question)
    for index, m in enumerate(question.measurements):
        room = 1e-9 + m.copies * 2.0**EXPONENT
        assert moved(m, before, changed, index) <= m.per_answer.change * m.divisor + room
        if protects == "records":
            assert moved(m, before, gone, index) <= m.per_answer.presence * m.divisor + room
        values = (first[0], second[0])
        if grouped or first[1] != second[1] or "x" not in m.guarantee.columns or None in values:
            continue
        if not any(v != v for v in values):  # every printed form of the guarantee, not only the whole change
            forms = [m.guarantee.columns["x"].distance(*values), m.guarantee.lines["x"].distance(*values)]
            forms.append(m.guarantee.between({"x": values[0]}, {"x": values[1]}))
            assert moved(m, before, changed, index) <= float(min(forms)) + room


def together(aggregates: list[str]) -> str:
    return ", ".join(f"{what} AS a{i}" for i, what in enumerate(aggregates))


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("seed", range(cases(2)))
def test_one_record_moves_no_more_than_is_promised(tmp_path: Path, kind: str, seed: int) -> None:
    draw = random.Random(f"{kind} {seed}")
    copies = SOURCES[kind][1]
    protects = draw.choice(["values", "records"])
    what, by = draw.sample([a for a in AGGREGATES if "x" in a], 4), draw.choice([None, None, "g", "month"])
    what += ["COUNT(*)"] if protects == "records" else []
    said = draw.choice([None, copies, copies])
    rows = draw.choice([None, copies]) if protects == "values" and "AVG(x)" in what and by is None else None
    what = ["AVG(x)"] if rows else what
    keys = "" if by is None else f"{by}, "
    sql = f"SELECT {keys}{together(what)} FROM t" + ("" if by is None else f" GROUP BY {by}")
    others = [person(draw, bool(rows)) for _ in range(draw.choice([0, 3]) if not rows else 3)]
    first, second = person(draw, bool(rows)), person(draw, bool(rows))
    if protects == "values":
        second = (second[0], first[1])  # the group is public
    checked(tmp_path, kind, plan_of(tmp_path, sql, protects, said, rows), [*others, first], [*others, second])


@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind != "macro"])
def test_one_record_for_another_in_every_aggregate(tmp_path: Path, kind: str) -> None:
    plan = plan_of(tmp_path, f"SELECT {together(AGGREGATES)} FROM t", "records", SOURCES[kind][1], None)
    checked(tmp_path, kind, plan, [(1.0, "a"), (10.0, "a")], [(1.0, "a"), (-2.0, "b")])


def test_stored_tables_need_no_word_and_nothing_else_goes_without(tmp_path: Path) -> None:
    for kind, (make, copies) in SOURCES.items():
        made(tmp_path, make, [(1.0, "a")])
        plan = plan_of(tmp_path, "SELECT SUM(x) AS a FROM t", "values", None, None)
        if make.startswith("CREATE TABLE t "):
            assert found(plan), kind
            continue
        with pytest.raises(SourceError):
            found(plan)
        if kind != "macro":
            assert found(plan_of(tmp_path, "SELECT SUM(x) AS a FROM t", "values", copies, None)), kind


def test_a_file_with_two_names_is_read_once(tmp_path: Path) -> None:
    with duckdb.connect() as con:
        con.execute(f"COPY (SELECT 1.0 AS x) TO '{tmp_path}/one.parquet' (FORMAT parquet)")
    (tmp_path / "two.parquet").hardlink_to(tmp_path / "one.parquet")
    (tmp_path / "three.parquet").symlink_to(tmp_path / "one.parquet")
    with open_engine(f"{tmp_path}/*.parquet", "t") as engine:
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(1,)]


def test_every_row_of_a_record_is_rounded_by_itself(tmp_path: Path) -> None:
    text = '[data]\nname = "p"\nsource = "p.csv"\nprotects = "records"\ncopies = 12\n[query]\n'
    text += 'sql = "SELECT SUM(x) AS a FROM t"\n[columns.x]\nbounds = [0, 10]\n[release]\nepsilon = 1.0\n'
    for more in ("", 'mechanism = "gaussian"\ndelta = 1e-6\n'):
        [noise] = choose(loads_plan(text + more, folder=tmp_path)).noises
        coarse = replace(noise, grid=Grid(0))
        alone = replace(coarse, measurement=replace(coarse.measurement, copies=1))
        rounded = [n.step * n.mechanism.scale for n in (alone, coarse)]
        assert rounded[1] == pytest.approx(12 * rounded[0])
        assert max(c - a for a, c in zip(alone.cost, coarse.cost, strict=True)) > 0


def test_a_view_of_twelve_months(tmp_path: Path) -> None:
    text = """
    [data]
    name = "staff"
    source = "staff.duckdb"
    protects = "values"
    copies = 12
    [query]
    sql = "SELECT SUM(salary) AS total FROM t"
    [columns.salary]
    bounds = [0, 10000]
    missing = false
    prior = { normal = { mean = 2000, sd = 235.7 } }
    [attacker]
    goal = "salary within 100"
    at = { salary = 2000 }
    advantage = 0.1
    [release]
    mechanism = "laplace"
    """
    choice = choose(loads_plan(text, folder=tmp_path))
    assert choice.noise_scale == pytest.approx(5396.6, abs=0.05)
    assert any("at most 12 of the table's rows" in words for words in choice.assumptions)
    without = loads_plan(text.replace("copies = 12", ""), folder=tmp_path)
    assert "copies" not in without.canonical()  # a request that was made before keeps its name
