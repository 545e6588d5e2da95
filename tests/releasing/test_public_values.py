"""What a public table holds decides on the noise: the model must find in it what the engine finds, or refuse it."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random

import duckdb
import pytest

import guessproof as gp
from guessproof.choosing import Choice
from guessproof.engines import open_engine
from guessproof.errors import QueryError, SourceError
from guessproof.releasing.run import prepare_queries

PLAN = """
[data]
name = "t"
source = "t.duckdb"
protects = "records"
[query]
sql = "{sql}"
[columns.grade]
levels = ["a", "b"]
[tables.p]
source = "p.parquet"
key = ["grade"]
[tables.p.columns.v]
{column}
[tables.q]
source = "q.parquet"
key = ["v"]
[tables.q.columns.v]
{kind}
[tables.q.columns.w]
bounds = [-40, 40]
[release]
epsilon = 1
"""
ALONE = "FROM t JOIN p ON t.grade = p.grade"
JOINED = f"{ALONE} JOIN q ON p.v = q.v"
TIMES = ("2020-01-01", "infinity", "-infinity", "0044-03-15 (BC)", "10183-09-21", "9999-12-31", "0001-01-01")
NUMBERS = ("24", "+-24", "1_0", "778476594397223563194572255149233897", "7.784765943972235e+35", "-0.0", "nan", "1e400")
# How each kind is stored, what it holds, and what is asked.
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "number": (
        ("VARCHAR", "DOUBLE", "HUGEINT", "BIGNUM", "DECIMAL(38, 2)"),
        NUMBERS,
        (f"SUM(p.v) AS s {ALONE}", f"SUM(q.w) AS s {JOINED}"),
    ),
    "time": (
        ("DATE", "TIMESTAMP", "TIMESTAMP_MS", "VARCHAR"),
        TIMES,
        (f"COUNT(p.v) AS s {ALONE}", f"SUM(q.w) AS s {JOINED}"),
    ),
    "label": (
        ("VARCHAR", "DATE", "BOOLEAN", "BIGINT", "UUID"),
        (*TIMES, *NUMBERS, "true", "False", "c9d1e5a0-0000-4000-8000-00000000ABCD", "A", "A "),
        (f"SUM(q.w) AS s {JOINED}", "COUNT(*) FILTER (WHERE p.v = '{x}') AS s " + ALONE),
    ),
}


def draw(random: Random, folder: Path) -> str:
    """Two public tables, and a question about them."""
    folder.mkdir()
    kind = random.choice([*KINDS])
    stored, values, questions = KINDS[kind]
    one, other, x, y = random.choice(stored), random.choice(stored), *random.sample(values, 2)
    with duckdb.connect(str(folder / "t.duckdb")) as con:
        con.execute("CREATE TABLE t (grade VARCHAR)")
        p = f"SELECT 'a' AS grade, TRY_CAST('{x}' AS {one}) AS v UNION ALL SELECT 'b', TRY_CAST('{y}' AS {one})"
        con.execute(f"COPY ({p}) TO '{folder}/p.parquet'")
        q = f"SELECT TRY_CAST('{x}' AS {other}) AS v, 24.0 AS w UNION ALL SELECT TRY_CAST('{y}' AS {other}), -1"
        con.execute(f"COPY ({q}) TO '{folder}/q.parquet'")
    column = f'kind = "{kind}"' + ("\nbounds = [-40, 40]" if kind == "number" else "")
    return PLAN.format(sql="SELECT " + random.choice(questions).format(x=x), column=column, kind=f'kind = "{kind}"')


def answer(plan: gp.Plan, choice: Choice, grade: str) -> float:
    """What the engine adds up of one record, without noise."""
    path = plan.folder / "t.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("DELETE FROM t")
        con.execute("INSERT INTO t VALUES (?)", [grade])
    with open_engine(str(path), "t", public=plan.public_sources) as engine:
        (query,) = prepare_queries(engine, choice).values()
        (cells,) = query.run(engine.aggregates).values()
    return float(cells[0][0] or 0) * 2.0 ** choice.noises[0].grid.exponent


def test_the_engine_finds_in_public_tables_what_the_noise_was_made_for(tmp_path: Path) -> None:
    judged = 0
    for seed in range(42):
        plan = gp.loads_plan(draw(Random(seed), tmp_path / str(seed)), folder=tmp_path / str(seed))
        try:
            choice = gp.choose(plan)
            answers = {grade: answer(plan, choice, grade) for grade in ("a", "b")}
        except (SourceError, QueryError):  # refused, or nothing in it depends on anybody
            continue
        judged += 1
        most = max(abs(x - y) for x, y in itertools.combinations((*answers.values(), 0.0), 2))
        assert most <= choice.asked.measurements[0].guarantee.change + 1e-6, (seed, plan.query.sql, answers)
    assert judged > 10


def test_a_time_that_python_does_not_have_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("grade\na\n")
    text = PLAN.format(sql=f"SELECT COUNT(p.v) AS s {ALONE}", column='kind = "time"', kind="")
    text = text.partition("[tables.q]")[0] + "[release]\nepsilon = 1\n"
    for when in ("infinity", "0044-03-15 (BC)", "10183-09-21"):
        duckdb.execute(f"COPY (SELECT 'a' AS grade, DATE '{when}' AS v) TO '{tmp_path}/p.parquet'")
        with pytest.raises(SourceError, match="column v holds a time before the year 1 or after 9999"):
            gp.choose(gp.loads_plan(text, folder=tmp_path))
