"""What every engine lets pass, what it refuses, and what it keeps to itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from guessproof.engines import Engine
from guessproof.errors import EngineError, SourceError
from guessproof.testing.harness import Harness, quoted, spoken
from guessproof.testing.overheard import overhear, told

SECRET = "s3cr3t4711"
ROWS = [(str(float(place)), str(place), SECRET) for place in range(5)]
COUNTED = "SELECT COUNT(*) FROM t"
REFUSED = (
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
)
HIDDEN = ("SELECT SUM(n * 2) FROM t", "SELECT SUM(CAST(x AS bigint)) FROM t", "SELECT SUM(s) FROM t")
FAILING = (
    "SELECT SUM(CAST(s AS double precision)) FROM t",
    "SELECT SUM(CAST(x AS double precision) * CAST(s AS int)) FROM t",
    "SELECT SUM(missing) FROM t",
    "SELECT CAST(SUM(CAST(n AS double precision)) + 1e30 AS BIGINT) FROM t",
    "SELECT (SELECT CAST(s AS date) FROM t LIMIT 1) FROM t",
    "DROP TABLE t",
)
NAMES = ("t", "my table", 'q"uote', "it's", "ü", "select", "gp_asked", "GP_hard", "x.y")


@contextmanager
def plain(harness: Harness, rows: Sequence[Sequence[str | None]] = ROWS, **more: Any) -> Generator[Engine]:
    """A table of a number x, a whole number n and a text s."""
    shelf = harness.shelf
    with harness.opened(
        rows, {"x": shelf.doubles.type, "n": shelf.longs.type, "s": shelf.texts.type}, **more
    ) as engine:
        yield engine


def caught(kind: type[BaseException], act: Callable[[], object], said: str) -> BaseException:
    """The exception of this kind that must come."""
    try:
        act()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised: {said}")


def slow(harness: Harness) -> str:
    """A query that takes far longer than anybody waits, on 2,000 rows."""
    names = "abcdefgh"[: harness.crossed]
    tables, text = ", ".join(f"t {name}" for name in names), " || ".join(f"{name}.s" for name in names)
    return f"SELECT MAX({harness.number('a.x')} + 1) FROM {tables} WHERE {text} = 'x'"


# What runs.


def good_queries(harness: Harness) -> None:
    """Queries of the forms that guessproof writes are prepared, and answered right."""
    x = harness.number("x")
    good: dict[str, list[tuple[Any, ...]]] = {
        f"SELECT COUNT(*), MAX({x}) FROM t": [(5, 4.0)],
        "SELECT s, COUNT(*) AS n FROM t GROUP BY s ORDER BY n LIMIT 3": [(SECRET, 5)],
        f"WITH a AS (SELECT {x} AS y FROM t WHERE {x} > 1) SELECT MAX(y) FROM a": [(4.0,)],
        "SELECT SUM(y), COUNT(y) FROM (SELECT CAST(CASE WHEN w BETWEEN 0 AND 9 THEN w END * 1024 AS BIGINT) AS y "
        f"FROM (SELECT {x} AS w FROM t) u) v": [(10240, 5)],
        "SELECT COUNT(*) FROM t AS a WHERE a.s IN ('a', 'b') AND s NOT IN (SELECT '3' AS k)": [(0,)],
        "SELECT k, COUNT(t.x) FROM (VALUES ('a'), ('b')) AS keys(k) LEFT JOIN t ON t.s = k GROUP BY k ORDER BY k": [
            ("a", 0),
            ("b", 0),
        ],
        "SELECT COUNT(*) FROM T HAVING COUNT(*) > 0": [(5,)],
        f"SELECT MAX({x}) FROM t UNION ALL SELECT MIN({x}) FROM t ORDER BY 1": [(0.0,), (4.0,)],
    }
    with plain(harness) as engine:
        for sql, expected in good.items():
            asked = spoken(engine, sql)
            engine.prepare(asked)
            assert engine.aggregates(asked) == expected, asked
        with engine.snapshot():  # of one state of the table
            assert [engine.aggregates(COUNTED) for _ in range(2)] == [[(5,)], [(5,)]]
        assert engine.aggregates(COUNTED) == [(5,)]


def table_names(harness: Harness) -> None:
    """A table may have any name: blanks, quotes, words of SQL, letters of any language."""
    for name in NAMES:
        with plain(harness, table=name) as engine:
            asked = spoken(engine, f"SELECT COUNT(*) FROM {quoted(name)}")
            engine.prepare(asked)
            assert engine.aggregates(asked) == [(5,)], name


def kinds(harness: Harness) -> None:
    """Columns are numbers, texts, truth values or times in the same words on every engine."""
    with plain(harness) as engine:
        assert dict(engine.schema()) == {"x": "number", "n": "number", "s": "text"}
        assert list(engine.types()) == list(engine.stored()) == ["x", "n", "s"]


def closes(harness: Harness) -> None:
    """A stored table says so, is checked, and may be closed twice."""
    with plain(harness) as engine:
        assert engine.is_stored
        engine.check()
        assert "://" not in repr(engine) + repr(vars(engine))
    engine.close()


def exact_sums(harness: Harness) -> None:
    """Whole numbers add up exactly, past 64 bits too."""
    with harness.opened([(str(2**63 - 1),)] * 4, {"n": harness.shelf.longs.type}) as engine:
        ((found,),) = engine.aggregates("SELECT SUM(n) FROM t")
        assert int(found) == 4 * (2**63 - 1)


# What is refused, and when.


def refused_queries(harness: Harness) -> None:
    """What is no single SELECT over the table, or cannot run, is refused before the charge, and touches nothing."""
    with plain(harness) as engine:
        for sql in REFUSED:
            for asked in {sql, spoken(engine, sql)}:
                error = caught(SourceError, lambda asked=asked: engine.prepare(asked), asked)
                assert error.__context__ is None, asked
                caught(SourceError, lambda asked=asked: engine.batches(asked), asked)
        assert engine.aggregates(COUNTED) == [(5,)]


def hidden_failures(harness: Harness) -> None:
    """What only some values make fail (an overflow, a word among numbers) is refused before the charge."""
    with plain(harness) as engine:
        for sql in HIDDEN:
            caught(SourceError, lambda sql=sql: engine.prepare(spoken(engine, sql)), sql)


def blind_preparation(harness: Harness) -> None:
    """What is refused before the charge does not depend on the rows."""
    queries = [*REFUSED, "SELECT SUM(n + 1) FROM t", "SELECT COUNT(x) FROM t", "SELECT MAX(s) FROM t"]

    def judged(rows: Sequence[Sequence[str | None]]) -> list[str]:
        with plain(harness, rows) as engine:
            return [_judged(engine, spoken(engine, sql)) for sql in queries]

    first = judged([("nan", str(2**63 - 1), "word")])
    assert first == judged([])
    assert set(first) > {"fits"}


def _judged(engine: Engine, sql: str) -> str:
    try:
        engine.prepare(sql)
    except SourceError as error:
        return str(error)
    return "fits"


# What happens after the charge.


def silent_failures(harness: Harness) -> None:
    """A query that fails says one constant sentence; no value of the table is in it, nor near it."""
    with plain(harness) as engine:
        for sql in FAILING:
            asked = spoken(engine, sql)
            with overhear() as heard:
                error = caught(EngineError, lambda asked=asked: engine.aggregates(asked), asked)
            shown = told(error)
            assert (error.__cause__, error.__context__) == (None, None), asked
            assert str(error) == str(EngineError()), asked
            assert SECRET not in shown + heard.text + repr(engine), asked
            assert "://" not in shown + repr(engine) + repr(vars(engine)), asked
            assert engine.aggregates(COUNTED) == [(5,)], "one failure does not poison the next query"
        with engine.snapshot():
            caught(EngineError, lambda: engine.aggregates("SELECT SUM(missing) FROM t"), "within a snapshot")
        assert engine.aggregates(COUNTED) == [(5,)]


def time_limit(harness: Harness) -> None:
    """A query is stopped when its time is over; the next one runs, and nothing is left behind."""
    before = threading.active_count()
    with plain(harness, ROWS * 400, timeout=harness.patience) as engine:
        caught(EngineError, lambda: engine.aggregates(spoken(engine, slow(harness))), "a query of years")
        assert engine.aggregates(COUNTED) == [(2000,)]
    for _ in range(100):  # threads of a connection may take a moment to end
        if threading.active_count() <= before:
            return
        time.sleep(0.1)
    raise AssertionError(f"threads are left behind: {threading.enumerate()}")


# Streams, for the owner's own scan.


def streams(harness: Harness) -> None:
    """Rows are streamed in batches, of columns with any name."""
    shelf = harness.shelf
    columns = {"x": shelf.doubles.type, "s": shelf.texts.type, 'q"q': shelf.longs.type}
    rows = [(str(float(place)), str(place % 7), str(place)) for place in range(10_000)]
    with harness.opened(rows, columns) as engine:
        asked = spoken(engine, f'SELECT "q""q", {harness.number("x")} AS x FROM t')
        batches = list(engine.batches(asked, size=2048))
        assert len(batches) > 3
        assert max(batch.num_rows for batch in batches) <= 2048
        assert batches[0].schema.names == ['q"q', "x"]
        assert sum(sum(batch.column(1).to_pylist()) for batch in batches) == sum(range(10_000))


def several_streams(harness: Harness) -> None:
    """Two streams and a query run side by side; one that is left leaves nothing open."""
    with harness.opened([("1.0",)] * 9000, {"x": harness.shelf.doubles.type}) as engine:
        first, second, left = (engine.batches("SELECT x FROM t", 1024) for _ in range(3))
        rows = next(first).num_rows + next(second).num_rows
        assert next(left).num_rows
        close: Any = left
        close.close()
        assert engine.aggregates(COUNTED) == [(9000,)]
        assert rows + sum(batch.num_rows for stream in (first, second) for batch in stream) == 18_000


CHECKS = (
    *(good_queries, table_names, kinds, closes, exact_sums),
    *(refused_queries, hidden_failures, blind_preparation),
    *(silent_failures, time_limit),
    *(streams, several_streams),
)
