"""What a public table holds decides on the noise: the model must find in it what the engine finds, or refuse it."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from depth import cases
from servers import Place
from sqlglot import exp

import guessproof as gp
from guessproof.choosing import Choice
from guessproof.engines import Engine, open_engine
from guessproof.errors import QueryError, SourceError
from guessproof.plan.beside import read_from
from guessproof.releasing.run import prepare_queries
from guessproof.sql import DeclaredColumn, find_target
from guessproof.sql.relation import write_key

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
    for seed in range(cases(16)):
        plan = gp.loads_plan(draw(Random(seed), tmp_path / str(seed)), folder=tmp_path / str(seed))
        try:
            choice = gp.choose(plan)
            answers = {grade: answer(plan, choice, grade) for grade in ("a", "b")}
        except (SourceError, QueryError):  # refused, or nothing in it depends on anybody
            continue
        judged += 1
        most = max(abs(x - y) for x, y in itertools.combinations((*answers.values(), 0.0), 2))
        assert most <= choice.asked.measurements[0].guarantee.change + 1e-6, (seed, plan.query.sql, answers)
    assert judged > 4


def find_differences(engine: Engine) -> list[Any]:
    """Where the model, given the public table p, reads something else than a query of the engine does."""
    types = engine.public()["p"]
    rows, target = read_from(engine, "p"), find_target(engine.dialect, types)
    wrong: list[Any] = []
    for name, kind in itertools.product([n for n in types if n != "id"], ("number", "label", "time")):
        column = DeclaredColumn(name, kind=kind)
        try:
            seen = write_key(column, target)
        except SourceError:  # this type is not read so
            continue
        asked = exp.select(exp.column("id", quoted=True), exp.alias_(seen, "seen")).from_(exp.to_table("p"))
        found = dict(engine.ask_public(target.sql(asked)))
        pairs = [(found[row["id"]], column.read(row[name])) for row in rows]
        wrong += [(name, types[name], kind, pair) for pair in pairs if pair[0] != pair[1]]
    return wrong


STORED = {
    **dict.fromkeys(("real", "double precision", "numeric", "character(4)"), "0.1"),
    "varchar(9)": " a ",
    "text": "A",
    "name": "n",
    "integer": "7",
    "bigint": "9007199254740993",
    "boolean": "true",
    "date": "2020-02-29",
    "timestamp": "2020-02-29",
    "timestamptz": "2020-02-29 23:00:00+05",
    "uuid": "C9D1E5A0-0000-4000-8000-00000000ABCD",
}


def test_postgres_tells_python_what_its_queries_compute_with(postgres: Place) -> None:
    """A character(4) was told with its spaces, which no query sees."""
    columns = ", ".join(f"c{place} {stored}" for place, stored in enumerate(STORED))
    postgres.con.execute("CREATE TABLE t (grade text)")
    postgres.con.execute(f"CREATE TABLE p (id integer, {columns})".encode())
    texts = ", ".join(f"'{text}'" for text in STORED.values())
    postgres.con.execute(f"INSERT INTO p VALUES (1, {texts}), (2{', NULL' * len(STORED)})".encode())
    with open_engine("env:DATABASE_URL", "t", public={"p": None}) as engine:
        assert not find_differences(engine)


def test_duckdb_tells_python_what_its_queries_compute_with(tmp_path: Path) -> None:
    types = (
        "REAL",
        "DOUBLE",
        "DECIMAL(30, 20)",
        "VARCHAR",
        "UUID",
        "DATE",
        "TIMESTAMP_NS",
        "BOOLEAN",
        "HUGEINT",
        "BIGNUM",
    )
    hard = (
        *NUMBERS,
        "2020-02-29",
        "1969-12-31 23:59:59.999999999",
        "true",
        "C9D1E5A0-0000-4000-8000-00000000ABCD",
        "0.1",
    )
    with duckdb.connect(str(tmp_path / "t.duckdb")) as con:
        con.execute("CREATE TABLE t (grade VARCHAR)")
        rows = ", ".join(f"({place}, '{text}')" for place, text in enumerate(hard))
        columns = ", ".join(f"TRY_CAST(x AS {stored}) AS c{place}" for place, stored in enumerate(types))
        con.execute(f"CREATE TABLE p AS SELECT id, {columns} FROM (VALUES {rows}) AS rows(id, x)")
    with open_engine(str(tmp_path / "t.duckdb"), "t", public={"p": None}) as engine:
        assert not find_differences(engine)


def test_a_time_that_python_does_not_have_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("grade\na\n")
    text = PLAN.format(sql=f"SELECT COUNT(p.v) AS s {ALONE}", column='kind = "time"', kind="")
    text = text.partition("[tables.q]")[0] + "[release]\nepsilon = 1\n"
    for when in ("infinity", "0044-03-15 (BC)", "10183-09-21"):
        duckdb.execute(f"COPY (SELECT 'a' AS grade, DATE '{when}' AS v) TO '{tmp_path}/p.parquet'")
        with pytest.raises(SourceError, match="column v holds a time before the year 1 or after 9999"):
            gp.choose(gp.loads_plan(text, folder=tmp_path))
