"""One contract for every engine: what runs, what is refused, what fails without a word, what is streamed."""

from __future__ import annotations

import logging
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest

from engines.contract import EXCEPTIONS, STOCKS, Files, Frames, Server, Stock
from guessproof.engines import open_engine
from guessproof.errors import EngineError, SourceError

SECRET = "s3cr3t4711"
TYPES = {"x": "DOUBLE", "n": "BIGINT", "s": "VARCHAR"}
ROWS: list[dict[str, Any]] = [{"x": float(place), "n": place, "s": SECRET} for place in range(5)]


@pytest.fixture(params=STOCKS)
def stock(request: pytest.FixtureRequest, tmp_path: Path) -> Stock:
    if request.param == "postgres":
        return Server(request.getfixturevalue("postgres"))
    if request.param == "frame":
        return Frames()
    return Files(request.param, tmp_path)


def test_good_queries_are_prepared_and_run(stock: Stock) -> None:
    x = stock.number("x")
    good = {
        f"SELECT COUNT(*), MAX({x}) FROM t": [(5, 4.0)],
        "SELECT s, COUNT(*) AS n FROM t GROUP BY s ORDER BY n LIMIT 3": [(SECRET, 5)],
        f"WITH a AS (SELECT {x} AS y FROM t WHERE {x} > 1) SELECT MAX(y) FROM a": [(4.0,)],
        "SELECT SUM(y), COUNT(y) FROM (SELECT CAST(CASE WHEN w BETWEEN 0 AND 9 THEN w END * 1024 AS BIGINT) AS y "
        f"FROM (SELECT {x} AS w FROM t) u) v": [(10240, 5)],
        "SELECT COUNT(*) FROM t AS a WHERE a.s IN ('a', 'b') AND s NOT IN (SELECT '3')": [(0,)],
        "SELECT k, COUNT(t.x) FROM (VALUES ('a'), ('b')) AS keys(k) LEFT JOIN t ON t.s = k GROUP BY k ORDER BY k": [
            ("a", 0),
            ("b", 0),
        ],
        "SELECT COUNT(*) FROM T HAVING COUNT(*) > 0": [(5,)],
        f"SELECT MAX({x}) FROM t UNION ALL SELECT MIN({x}) FROM t ORDER BY 1 -- a remark": [(0.0,), (4.0,)],
    }
    with open_engine(stock.keep(ROWS, TYPES), "t") as engine:
        for sql, expected in good.items():
            engine.prepare(sql)
            assert engine.aggregates(sql) == expected, sql


REFUSED = [
    "SELECT SUM(y) FROM t",
    "SELECT unheard(x) FROM t",
    "SELECT CAST('word' AS double precision)",
    "SELECT SUM(CAST(s AS double precision)) FROM t",
    "SELECT COUNT(*) FROM other",
    "SELECT COUNT(*) FROM main.t",
    "SELECT COUNT(*) FROM information_schema.tables",
    "SELECT COUNT(*) FROM 'kept.csv'",
    "SELECT COUNT(*) FROM range(3)",
    "SELECT 1; SELECT 2",
    "SELECT 1) AS q; DROP TABLE t; SELECT * FROM (SELECT 1",
    "DROP TABLE t",
    "INSERT INTO t SELECT * FROM t",
    "WITH a AS (INSERT INTO t SELECT * FROM t RETURNING x) SELECT COUNT(*) FROM a",
    "COPY t TO 'stolen.csv'",
    "SET timezone = 'UTC'",
    "SELECT '\0'",
    "",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_what_cannot_run_is_found_before_the_charge(stock: Stock, sql: str) -> None:
    with open_engine(stock.keep(ROWS, TYPES), "t") as engine:
        with pytest.raises(SourceError) as caught:
            engine.prepare(sql)
        assert caught.value.__context__ is None
        with pytest.raises(SourceError):
            engine.batches(sql)
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(5,)]


@pytest.mark.parametrize(
    "sql", ["SELECT SUM(n * 2) FROM t", "SELECT SUM(CAST(x AS bigint)) FROM t", "SELECT SUM(s) FROM t"]
)
def test_what_only_some_values_make_fail_is_found_too(stock: Stock, sql: str) -> None:
    with open_engine(stock.keep(ROWS, TYPES), "t") as engine, pytest.raises(SourceError):
        engine.prepare(sql)


def test_preparing_does_not_depend_on_the_rows(stock: Stock) -> None:
    """The same answers on a table with rows that make queries fail, and on one without rows."""
    bad = [{"x": float("nan"), "n": 2**63 - 1, "s": "word"}]
    queries = [*REFUSED, "SELECT SUM(n + 1) FROM t", "SELECT COUNT(x) FROM t", "SELECT MAX(s) FROM t"]

    def judged(rows: list[dict[str, Any]]) -> list[str]:
        found: list[str] = []
        with open_engine(stock.keep(rows, TYPES), "t") as engine:
            for sql in queries:
                try:
                    engine.prepare(sql)
                    found.append("fits")
                except SourceError as error:
                    found.append(str(error))
        return found

    for file in getattr(stock, "folder", Path("/nowhere")).glob("kept.*"):
        file.unlink()
    first = judged(bad)
    for file in getattr(stock, "folder", Path("/nowhere")).glob("kept.*"):
        file.unlink()
    assert first == judged([])
    assert set(first) > {"fits"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CAST(s AS double precision)) FROM t",
        "SELECT SUM(CAST(x AS double precision) * CAST(s AS int)) FROM t",
        "SELECT SUM(missing) FROM t",
        "SELECT CAST(SUM(CAST(n AS double precision)) + 1e30 AS BIGINT) FROM t",
        "SELECT (SELECT CAST(s AS date) FROM t LIMIT 1) FROM t",
        "DROP TABLE t",
    ],
)
def test_a_failure_after_the_charge_says_nothing(
    stock: Stock, sql: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with open_engine(stock.keep(ROWS, TYPES), "t") as engine:
        with pytest.raises(EngineError) as caught:
            engine.aggregates(sql)
        error = caught.value
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert (error.__cause__, error.__context__) == (None, None)
        assert str(error) == str(EngineError())
        assert SECRET not in shown + caplog.text + "".join(capfd.readouterr()) + repr(engine)
        assert "://" not in shown + repr(engine) + repr(vars(engine))
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(5,)]  # one failure does not poison the next query


def test_a_query_is_stopped_when_its_time_is_over(stock: Stock) -> None:
    x = stock.number("a.x")
    before = threading.active_count()
    with open_engine(stock.keep(ROWS * 400, TYPES), "t", timeout=0.3) as engine:
        with pytest.raises(EngineError):
            engine.aggregates(f"SELECT MAX({x} + 1) FROM t a, t b, t c, t d WHERE a.s || b.s || c.s || d.s = 'x'")
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(2000,)]
    assert threading.active_count() == before


def test_rows_are_streamed_in_batches(stock: Stock) -> None:
    rows = [{"x": float(place), "s": str(place % 7), 'q"q': place} for place in range(10_000)]
    with open_engine(stock.keep(rows, {"x": "DOUBLE", "s": "VARCHAR", 'q"q': "BIGINT"}), "t") as engine:
        batches = list(engine.batches(f'SELECT "q""q", {stock.number("x")} AS x FROM t', size=2048))
        assert len(batches) > 3
        assert max(batch.num_rows for batch in batches) <= 2048
        assert batches[0].schema.names == ['q"q', "x"]
        assert sum(sum(batch.column(1).to_pylist()) for batch in batches) == sum(range(10_000))


def test_two_streams_and_a_query_at_once(stock: Stock) -> None:
    with open_engine(stock.keep([{"x": 1.0}] * 9000, {"x": "DOUBLE"}), "t") as engine:
        first, second = (engine.batches("SELECT x FROM t", 1024) for _ in range(2))
        rows = next(first).num_rows + next(second).num_rows
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(9000,)]
        assert rows + sum(batch.num_rows for stream in (first, second) for batch in stream) == 18_000


def test_a_stream_that_is_left_leaves_nothing_open(stock: Stock) -> None:
    with open_engine(stock.keep([{"x": 1.0}] * 9000, {"x": "DOUBLE"}), "t") as engine:
        stream: Any = engine.batches("SELECT x FROM t", 1024)
        assert next(stream).num_rows
        stream.close()
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(9000,)]


def test_exact_numbers_come_back_exact(stock: Stock) -> None:
    with open_engine(stock.keep([{"n": 2**63 - 1}] * 4, {"n": "BIGINT"}), "t") as engine:
        asked = "SELECT SUM(n) FROM t"
        if (stock.name, "exact numbers") in EXCEPTIONS:
            asked = "SELECT SUM(CAST(n AS BIGINT)) FROM t"
        ((found,),) = engine.aggregates(asked)
        assert int(found) == 4 * (2**63 - 1)


@pytest.mark.parametrize("table", ["t", "my table", 'q"uote', "it's", "ü", "select", "gp_asked", "GP_hard", "x.y"])
def test_any_table_name(stock: Stock, table: str) -> None:
    sql = 'SELECT COUNT(*) FROM "' + table.replace('"', '""') + '"'
    with open_engine(stock.keep(ROWS, TYPES, table), table) as engine:
        engine.prepare(sql)
        assert engine.aggregates(sql) == [(5,)]


def test_kinds_are_the_same_words_everywhere(stock: Stock) -> None:
    with open_engine(stock.keep(ROWS, TYPES), "t") as engine:
        numbers = "text" if (stock.name, "types") in EXCEPTIONS else "number"
        assert dict(engine.schema()) == {"x": numbers, "n": numbers, "s": "text"}
        assert list(engine.types()) == list(engine.stored()) == list(TYPES)
        assert engine.is_stored
        engine.check()
    engine.close()  # twice does nothing


def test_every_exception_has_a_reason() -> None:
    assert all(form in STOCKS and len(reason) > 10 for (form, _), reason in EXCEPTIONS.items())
