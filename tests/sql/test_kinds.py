"""One kind a column: model and engine read it alike, and a use that does not fit is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from guessproof.choosing import asked, choose
from guessproof.engines import open_engine
from guessproof.errors import QueryError, SourceError
from guessproof.plan import plan_of
from guessproof.releasing import prepare_query
from guessproof.sql import AnalyzedQuery, DeclaredColumn, find_target

Groups = dict[tuple[str, ...], list[tuple[int | None, int | None]]]


def question(sql: str, protects: str = "values", **columns: dict[str, Any]) -> AnalyzedQuery:
    """What a plan with these columns asks."""
    data = {"name": "d", "source": "t.duckdb", "table": "t", "protects": protects}
    tables = {"data": data, "query": {"sql": sql}, "columns": columns, "release": {"epsilon": 1.0}}
    return asked(plan_of(json.loads(json.dumps(tables))))


def answer(folder: Path, asked_for: AnalyzedQuery, create: str, *rows: str) -> Groups:
    """What the engine says of a table, without noise."""
    path = folder / "t.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as con:
        con.execute(f"CREATE TABLE t ({create})")
        for row in rows:
            con.execute(f"INSERT INTO t {row}")
    with open_engine(str(path), "t") as engine:
        rewritten = prepare_query(engine, asked_for, [0] * len(asked_for.measurements))
        return rewritten.read(engine.aggregates(rewritten.sql))


NUMERALS = [*"0123456789..eE+-+-_ xnaif\t", "inf", "nan", "1e400", "-1e-400", "\u00a0", "٣", "0x", "1_0"]
TIMES = [
    *"0159-: T.Z+",
    " ",
    "2020-01-01",
    "2020-01-01",
    "2020-02-29",
    "2021-02-29",
    "12:30",
    " 10:00",
    ":59",
    "24:00",
    "0000-01-01",
    "infinity",
]


@pytest.mark.parametrize(("kind", "parts"), [("number", NUMERALS), ("time", TIMES)])
def test_model_and_engine_read_the_same_from_any_text(kind: Any, parts: list[str]) -> None:
    """What a public table holds is read here, and decides on the noise: +-24 was no number here, and one to DuckDB."""
    random, column = Random(3), DeclaredColumn("x", kind=kind)
    texts = sorted({"".join(random.choices(parts, k=random.randint(1, 5))) for _ in range(20_000)})
    target = find_target("duckdb", {"x": "VARCHAR"})
    read = target.sql(target.number(column) if kind == "number" else target.time(column))
    with duckdb.connect() as con:
        con.register("t", pa.table({"x": texts}))
        found = [row[0] for row in con.execute(f"SELECT {read} FROM t").fetchall()]
    found = [None if isinstance(value, float) and math.isnan(value) else value for value in found]
    wrong = [(t, value, column.read(t)) for t, value in zip(texts, found, strict=True) if value != column.read(t)]
    assert not wrong
    assert sum(value is not None for value in found) > 5


@pytest.mark.parametrize("stored", ["BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM", "DECIMAL(38, 9)", "FLOAT"])
def test_model_and_engine_read_the_same_from_any_number(stored: str) -> None:
    """To the last digit, since keys of public tables are compared."""
    random, column = Random(4), DeclaredColumn("x", kind="number")
    least = 0 if stored.startswith("U") else -(2**127)
    drawn = [random.randint(least, 2**127) >> random.randint(0, 126) for _ in range(1500)]
    target = find_target("duckdb", {"x": stored})
    read = target.sql(target.number(column))
    with duckdb.connect() as con:
        con.register("texts", pa.table({"x": [str(number) for number in drawn]}))
        con.execute(f"CREATE TABLE t AS SELECT TRY_CAST(x AS {stored}) AS x FROM texts")
        rows = con.execute(f"SELECT {read}, x FROM t WHERE x IS NOT NULL").fetchall()
    assert len(rows) > 300
    assert not [(found, value) for found, value in rows if found != column.read(value)]


@pytest.mark.parametrize(("collation", "other"), [("NOCASE", "A"), ("NOACCENT", "á"), ("NFC", "a\u0301")])
def test_a_spelling_that_is_no_level_takes_no_rows_of_a_level_with_it(
    tmp_path: Path, collation: str, other: str
) -> None:
    asked_for = question("SELECT g, COUNT(*) AS n FROM t GROUP BY g", "records", g={"levels": ["a", "b", "á"]})
    stored, many = f"g VARCHAR COLLATE {collation}", "SELECT 'a' FROM range(1000)"
    before = answer(tmp_path, asked_for, stored, many)
    after = answer(tmp_path, asked_for, stored, f"VALUES ('{other}')", many)
    assert before[("a",)] == after[("a",)] == [(1000, None)]


def test_labels_are_compared_byte_by_byte_whatever_the_collation(tmp_path: Path) -> None:
    prior = {"prior": {"categorical": {"black": 0.02, "Black": 0.49, "white": 0.49}}}
    asked_for = question("SELECT COUNT(*) AS n FROM t WHERE colour = 'black'", colour=prior)
    metric = asked_for.measurements[0].guarantee.columns["colour"]
    for stored in ("VARCHAR", "VARCHAR COLLATE NOCASE", "ENUM('black', 'Black', 'white')"):
        counts = [
            answer(tmp_path, asked_for, f"colour {stored}", f"VALUES ('{v}')")[()][0][0]
            for v in ("black", "Black", "white")
        ]
        assert counts == [1, 0, 0]
    assert [float(metric.distance("Black", v)) for v in ("black", "white")] == [1, 0]


@pytest.mark.parametrize("labels", [("yes", "no"), ("y", "n"), ("t", "f"), ("1", "0"), ("True", "False")])
def test_flags_have_the_distance_that_their_labels_mean(tmp_path: Path, labels: tuple[str, str]) -> None:
    column = {"levels": labels, "prior": {"categorical": {labels[0]: 0.5, labels[1]: 0.5}}}
    asked_for = question("SELECT COUNT(*) AS n FROM t WHERE smoker", smoker=column)
    counts = [answer(tmp_path, asked_for, "smoker VARCHAR", f"VALUES ('{v}')")[()][0][0] for v in labels]
    assert counts == [1, 0]
    assert float(asked_for.measurements[0].guarantee.columns["smoker"].distance(*labels)) == 1


def test_an_attacker_learns_from_a_flag() -> None:
    tables = {
        "data": {"name": "d", "source": "t.duckdb", "table": "t", "protects": "values"},
        "query": {"sql": "SELECT COUNT(*) AS n FROM t WHERE smoker"},
        "columns": {
            "smoker": {"prior": {"categorical": {"yes": 0.5, "no": 0.5}}},
            "time": {"bounds": [0, 120], "prior": {"normal": {"mean": 20.0, "sd": 3.0}}},
        },
        "attacker": {"goal": "smoker exactly and time within 10", "advantage": 0.9, "or": "each"},
        "release": {"epsilon": 5.0},
    }
    advantage = choose(plan_of(json.loads(json.dumps(tables)))).advantage
    assert advantage is not None
    # Whoever knows the time already learns e⁵/(1 + e⁵) − 1/2 of the flag.
    assert float(advantage.bound) >= 0.49


def test_a_label_that_is_neither_true_nor_false_is_missing() -> None:
    sql = "SELECT SUM(CASE WHEN smoker IS NULL THEN 1000 WHEN smoker THEN 1 ELSE 0 END) AS s FROM t"
    column = {"levels": ["yes", "no", "unknown"], "missing": False}
    measurement = question(sql, smoker=column).measurements[0]
    metric = measurement.guarantee.columns["smoker"]
    assert measurement.per_answer.change == 1000
    assert [float(metric.distance("unknown", v)) for v in ("yes", "no")] == [999, 1000]
    counted = question("SELECT COUNT(smoker) AS n FROM t", smoker={**column, "kind": "truth"}).measurements[0]
    metric = counted.guarantee.columns["smoker"]
    assert [float(metric.distance("no", v)) for v in ("yes", "unknown")] == [0, 1]


def test_what_is_missing_against_the_declaration_is_read_as_something(tmp_path: Path) -> None:
    sql = "SELECT SUM(CASE WHEN f IS NULL THEN 1000 WHEN f THEN 1 ELSE 0 END) AS s, COUNT(f) AS n, SUM(x) AS t, "
    sql += "COUNT(*) FILTER (WHERE c <> 'a') AS o, MIN(x) AS m FROM t"
    columns = {"f": {"levels": ["yes", "no"]}, "x": {"bounds": [2, 5]}, "c": {"levels": ["a", "b"]}}
    asked_for = question(sql, "records", **{n: {**c, "missing": False} for n, c in columns.items()})
    found = answer(
        tmp_path, asked_for, "f VARCHAR, x DOUBLE, c VARCHAR", "VALUES ('maybe', 4, 'b'), (NULL, 'nan', NULL)"
    )
    assert [whole for whole, _ in found[()]] == [0, 2, 6, 2, 2]


@pytest.mark.parametrize(
    ("where", "underlined"),
    [
        ("smoker AND smoker = 'yes'", "'yes'"),
        ("smoker = 'yes' AND smoker", "smoker"),
        ("smoker AND smoker LIKE 'y%'", "smoker LIKE 'y%'"),
        ("smoker AND smoker > 1", "1"),
        ("age LIKE '1_'", "age LIKE '1_'"),
        ("age = '12'", "'12'"),
        ("age > DATE '2020-01-01'", None),
        ("town = 'a' AND town > 3", "3"),
        ("town > 3 AND town = 'a'", "'a'"),
        ("town AND town > DATE '2020-01-01'", None),
        ("town > DATE '2020-01-01' AND town IN ('a', 'b')", "'a'"),
        ("city < town", "town"),
        ("smoker = 'maybe'", "'maybe'"),
    ],
)
def test_a_column_is_not_two_things_at_once(where: str, underlined: str | None) -> None:
    columns: dict[str, Any] = {"smoker": {"levels": ["yes", "no"]}, "age": {"bounds": [0, 100]}}
    sql = f"SELECT SUM(age) AS s FROM t WHERE {where}"
    with pytest.raises(QueryError) as caught:
        question(sql, "values", **columns)
    assert caught.value.remedy
    if underlined is not None:
        start, end = caught.value.place or (0, 0)
        assert sql[start:end] == underlined


@pytest.mark.parametrize(
    ("stored", "column", "where"),
    [
        ("DOUBLE", {"levels": ["1", "2"]}, "c LIKE '1%'"),
        ("DECIMAL(4,1)", {"levels": ["1", "2"]}, "c = '1'"),
        ("BOOLEAN", {"levels": ["True", "False"]}, "c = 'True'"),
        ("BOOLEAN", {"levels": ["yes", "no"]}, "c"),
        ("BOOLEAN", {"true": ["yes"], "false": ["no"]}, "c"),
        ("DOUBLE", {"kind": "truth"}, "c"),
        ("TIMESTAMP", {"levels": ["2020-01-01"]}, "c = '2020-01-01'"),
        ("DATE", {"bounds": [0, 1]}, "c > 0.5"),
        ("BLOB", {"kind": "label"}, "c = 'a'"),
        ("INTEGER[]", {"kind": "label"}, "c = 'a'"),
        ("INTEGER", {"kind": "time"}, "c > DATE '2020-01-01'"),
    ],
)
def test_a_type_that_does_not_fit_the_kind_is_refused(
    tmp_path: Path, stored: str, column: dict[str, Any], where: str
) -> None:
    asked_for = question(f"SELECT COUNT(*) AS n FROM t WHERE {where}", "records", c=column)
    with pytest.raises(SourceError, match=r"column c is stored as"):
        answer(tmp_path, asked_for, f"c {stored}")


def test_names_are_one_column_in_any_case(tmp_path: Path) -> None:
    asked_for = question("SELECT SUM(time) AS s FROM t WHERE TIME > 1", Time={"bounds": [0, 10]})
    assert asked_for.columns == {"Time"}
    assert answer(tmp_path, asked_for, '"tImE" DOUBLE', "VALUES (1), (3), (20)") == {(): [(13, None)]}
