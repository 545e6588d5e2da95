"""PostgreSQL behind the protocol: what must be refused, what must fail without a word, and what a role may do."""

from __future__ import annotations

import logging
import math
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

import psycopg
import pytest
from servers import Place

from guessproof.addresses import read_address
from guessproof.engines import open_engine
from guessproof.engines.base import Engine
from guessproof.engines.postgres import Postgres
from guessproof.engines.postgres_query import find_fault
from guessproof.errors import EngineError, SourceError

SECRET = "s3cr3t4711"
SOURCE = "env:DATABASE_URL"
FAILING = [
    "SELECT SUM(CAST(s AS double precision)) FROM t",
    "SELECT SUM(CAST(CAST(n AS text) || 'x' AS int)) FROM t",
    "SELECT SUM(9223372036854775807 * n) FROM t",
    "SELECT SUM(1 / (n - n)) FROM t",
    "SELECT SUM(missing) FROM t",
    "SELECT (SELECT x FROM t) FROM t",
]


@pytest.fixture
def table(postgres: Place) -> Place:
    postgres.con.execute("CREATE TABLE t (x double precision, n bigint, s text)")
    postgres.con.execute(f"INSERT INTO t SELECT i, i, '{SECRET}' FROM generate_series(0, 4) i")
    return postgres


@pytest.fixture
def engine(table: Place) -> Iterator[Engine]:
    with open_engine(SOURCE, "t") as opened:
        yield opened


def refusal(source: str = SOURCE, table: str = "t") -> str:
    with pytest.raises(SourceError) as caught:
        open_engine(source, table).close()
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "hunter2" not in shown
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    return str(caught.value)


# Queries.


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*), SUM(x) FROM t",
        "SELECT s, COUNT(*) AS n FROM t GROUP BY s ORDER BY n LIMIT 3",
        "WITH a AS (SELECT x FROM t WHERE x > 1) SELECT MAX(x) FROM a",
        "SELECT COUNT(*) FROM t AS a WHERE a.s IN ('a', 'b') AND s NOT IN (SELECT '3')",
        "SELECT k, COUNT(t.x) FROM (VALUES ('a'), ('b')) AS keys(k) LEFT JOIN t ON t.s = k GROUP BY k",
        "SELECT SUM(x) FROM t UNION ALL SELECT MIN(x) FROM t -- a comment",
    ],
)
def test_good_queries_are_prepared_and_run(engine: Engine, sql: str) -> None:
    if "SUM(x)" not in sql:  # a sum of doubles can leave their range, and says so by failing
        engine.prepare(sql)
    assert engine.aggregates(sql)


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT SUM(y) FROM t", "a column or a type"),
        ("SELECT SUM(s) FROM t", "a function"),
        ("SELECT COUNT(*) FROM t WHERE s < 3", "a function"),
        ("SELECT unheard(x) FROM t", "not known to be harmless"),
        ("SELECT CAST('word' AS double precision)", "a constant"),
        ("SELECT TRY_CAST(s AS double precision) FROM t", "not one SELECT"),
        ("SELECT SUM(n * 2) FROM t", "some values"),
        ("SELECT SUM(CAST(x AS bigint)) FROM t", "some values"),
        ("SELECT SUM(ABS(n)) FROM t", "some values"),
        ("SELECT SUM(CAST(s AS double precision)) FROM t", "some values"),
        ("SELECT SUM(x * x) FROM t WHERE x < 1 AND x > 0", "some values"),  # underflow
        ("SELECT SUM(EXP(-1000 * x)) FROM t WHERE x = 1", "some values"),
        ("SELECT pg_sleep(10) FROM t", "not known to be harmless"),
        ("SELECT COUNT(*) FROM pg_catalog.pg_class", "another table"),
        ("SELECT COUNT(*) FROM pg_class", "another table"),
        ("SELECT COUNT(*) FROM generate_series(1, 3)", "only the table itself|not known"),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("SELECT 1) AS q; DROP TABLE t; SELECT * FROM (SELECT 1", "not one SELECT"),
        ("DROP TABLE t", "only SELECT"),
        ("WITH a AS (DELETE FROM t RETURNING x) SELECT COUNT(*) FROM a", "not one SELECT"),
        ("SELECT x INTO y FROM t", "not one SELECT"),
        ("SELECT x FROM t FOR UPDATE", "not one SELECT"),
        ("SELECT $1", "not one SELECT"),
        ("SELECT '\0'", "a character"),
        ("COPY t TO '/tmp/x'", "only SELECT|not one SELECT"),
    ],
)
def test_what_cannot_run_is_found_before_the_charge(engine: Engine, sql: str, problem: str) -> None:
    with pytest.raises(SourceError, match=problem) as caught:
        engine.prepare(sql)
    assert caught.value.__context__ is None
    if find_fault(sql, "t"):
        with pytest.raises(EngineError):
            engine.aggregates(sql)


@pytest.mark.parametrize(
    ("stored", "hidden"),
    [
        ("double precision", "CASE WHEN c = 'nan' THEN CAST(c AS bigint) END"),
        ("double precision", "CASE WHEN c = '-inf' THEN CAST(c AS bigint) END"),
        ("double precision", "CASE WHEN c = 0 THEN 1 / c END"),
        ("double precision", "CASE WHEN c > 0 AND c < 1e-300 THEN c * c END"),
        ("real", "CAST(c AS integer)"),
        ("bigint", "CASE WHEN c > 0 THEN c + 1 END"),
        ("bigint", "CASE WHEN c < 0 THEN c - 1 END"),
        ("smallint", "CASE WHEN c > 0 THEN c * 2::smallint END"),
        ("numeric", "CAST(c AS double precision)"),
        ("numeric(4,2)", "CAST(c AS numeric(3,2))"),
        ("text", "CAST(c AS double precision)"),
        ("character varying(3)", "CASE WHEN c = '' THEN CAST(c AS int) END"),
        ("character(8)", "CAST(c AS date)"),
        ("boolean", "CASE WHEN NOT c THEN 1 / CAST(c AS int) END"),
        ("date", "CAST(c AS timestamp)"),
        ("timestamp", "c + INTERVAL '400000 years'"),
    ],
)
def test_hostile_rows_find_what_hides(postgres: Place, stored: str, hidden: str) -> None:
    postgres.con.execute(f"CREATE TABLE t (a double precision, c {stored})")
    with open_engine(SOURCE, "t") as engine:
        engine.prepare("SELECT COUNT(c) FROM t")
        with pytest.raises(SourceError, match="some values"):
            engine.prepare(f"SELECT COUNT({hidden}) FROM t")


def test_preparing_never_reads_the_table(table: Place) -> None:
    """It fits although every row that is read is an error."""
    table.con.execute("CREATE VIEW v AS SELECT 1 / (n - n) AS x FROM t")
    with open_engine(SOURCE, "v") as engine:
        engine.prepare("SELECT COUNT(x) FROM v")
        with pytest.raises(EngineError):
            engine.aggregates("SELECT MAX(x) FROM v")


@pytest.mark.parametrize("sql", FAILING)
def test_a_failure_after_the_charge_says_nothing(
    engine: Engine, sql: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(EngineError) as caught:
        engine.aggregates(sql)
    error = caught.value
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert (error.__cause__, error.__context__) == (None, None)
    assert str(error) == str(EngineError())
    assert SECRET not in shown + caplog.text + "".join(capfd.readouterr()) + repr(engine)
    assert "postgresql://" not in shown + caplog.text + repr(vars(engine))
    assert engine.aggregates("SELECT COUNT(*) FROM t") == [(5,)]  # one failure does not poison the next query


def test_a_query_is_stopped_when_its_time_is_over(table: Place) -> None:
    table.con.execute("INSERT INTO t SELECT i, i, '' FROM generate_series(1, 2000) i")
    with open_engine(SOURCE, "t", timeout=2) as engine:
        with pytest.raises(EngineError) as caught:
            engine.aggregates("SELECT SUM(a.x * b.x + c.x) FROM t a, t b, t c, t d")
        assert str(caught.value) == str(EngineError())
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(2005,)]


def test_a_connection_that_is_killed_says_nothing(table: Place, postgres_server: str) -> None:
    table.con.execute("INSERT INTO t SELECT i, i, '' FROM generate_series(1, 2000) i")

    def kill() -> None:
        with psycopg.connect(postgres_server, autocommit=True) as con:
            busy = f"query LIKE '%%gp_asked' AND query LIKE '%%{table.schema}%%' AND state = 'active'"
            while not con.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {busy}").fetchall():
                pass

    killer = threading.Thread(target=kill)
    with open_engine(SOURCE, "t", timeout=60) as engine:
        killer.start()
        with pytest.raises(EngineError) as caught:
            engine.aggregates("SELECT SUM(a.x * b.x + c.x) FROM t a, t b, t c, t d")
        killer.join()
        assert (str(caught.value), caught.value.__context__) == (str(EngineError()), None)
        with pytest.raises(EngineError):
            engine.aggregates("SELECT COUNT(*) FROM t")


def test_exact_numbers_come_back_exact(postgres: Place) -> None:
    postgres.con.execute(
        "CREATE TABLE t AS SELECT 9223372036854775807 AS n, 1.25::numeric(9,2) AS d FROM generate_series(1, 4)"
    )
    with open_engine(SOURCE, "t") as engine:
        assert engine.aggregates("SELECT SUM(n), SUM(d) FROM t") == [(Decimal(4 * (2**63 - 1)), Decimal("5.00"))]


def test_nothing_can_be_written(table: Place) -> None:
    """Even what the check of the query would let pass: the transaction itself cannot write."""
    table.con.execute("CREATE FUNCTION public.replace(text) RETURNS int LANGUAGE sql AS 'DELETE FROM t RETURNING 1'")
    try:
        with open_engine(SOURCE, "t") as engine, pytest.raises(SourceError):
            engine.prepare("SELECT replace(s) FROM t")
        with (
            Postgres(read_address(SOURCE), "t", timeout=None) as engine,
            pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
            engine._reading(engine._con) as con,
        ):
            con.execute(f"DELETE FROM {table.schema}.t")
    finally:
        table.con.execute("DROP FUNCTION public.replace(text)")
    assert table.con.execute("SELECT COUNT(*) FROM t").fetchall() == [(5,)]


# Streams.


def test_rows_are_streamed_in_batches(postgres: Place) -> None:
    postgres.con.execute(
        'CREATE TABLE t AS SELECT i AS "q""q", i::float8 AS x, i::text AS s FROM generate_series(0, 9999) i'
    )
    with open_engine(SOURCE, "t") as engine:
        batches = list(engine.batches('SELECT "q""q", x, s FROM t', size=2048))
        assert [b.num_rows for b in batches] == [2048] * 4 + [10_000 - 4 * 2048]
        assert batches[0].schema.names == ['q"q', "x", "s"]
        assert sum(sum(batch.column(1).to_pylist()) for batch in batches) == sum(range(10_000))
        for refused in ("SELECT nope FROM t", "SELECT * FROM other", "DROP TABLE t"):
            with pytest.raises(SourceError):
                engine.batches(refused)


def test_two_streams_and_a_query_at_once(table: Place) -> None:
    with open_engine(SOURCE, "t") as engine:
        first, second = (engine.batches("SELECT x FROM t", 2) for _ in range(2))
        rows = next(first).num_rows + next(second).num_rows
        assert engine.aggregates("SELECT COUNT(*) FROM t") == [(5,)]
        assert rows + sum(batch.num_rows for stream in (first, second) for batch in stream) == 10


def test_every_value_can_be_streamed(postgres: Place) -> None:
    """Days and numbers that Python has not are texts."""
    postgres.con.execute("CREATE TABLE t (d date, n numeric, x double precision, b boolean, z timestamptz)")
    postgres.con.execute(
        "INSERT INTO t VALUES ('infinity', 'NaN', 'nan', true, '294276-01-01'), (NULL, NULL, NULL, NULL, NULL)"
    )
    with open_engine(SOURCE, "t") as engine:
        first, second = (row for batch in engine.batches("SELECT d, n, x, b, z FROM t") for row in batch.to_pylist())
    assert (first["d"], first["n"], first["b"]) == ("infinity", "NaN", True)
    assert math.isnan(first["x"])
    assert set(second.values()) == {None}


def test_a_stream_that_breaks_says_nothing(table: Place) -> None:
    table.con.execute("CREATE VIEW v AS SELECT CAST(s AS double precision) AS x FROM t")
    with open_engine(SOURCE, "v") as engine, pytest.raises(EngineError) as caught:
        list(engine.batches("SELECT x FROM v"))
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)


# Sources.


def test_a_variable_that_is_missing_or_holds_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOWHERE", raising=False)
    assert "NOWHERE is not set" in refusal("env:NOWHERE")
    for wrong in ("mysql://me:hunter2@host/db", "host=db password=hunter2", "hunter2"):
        monkeypatch.setenv("NOWHERE", wrong)
        assert "no address of a PostgreSQL database" in refusal("env:NOWHERE")
    for unreachable in (
        "postgresql://me:hunter2@/db?host=/nowhere",
        "postgresql://me:hunter2@127.0.0.1:1/db",
        "postgresql://hunter2:99999999/x",
    ):
        monkeypatch.setenv("NOWHERE", unreachable)
        assert "cannot be reached" in refusal("env:NOWHERE")


def test_a_wrong_password_is_not_repeated(table: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", table.url.replace("://postgres:@", "://nobody:hunter2@"))
    assert "does not let this user in" in refusal()


def test_psycopg_is_asked_for_where_it_is_missing(table: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'guessproof[postgres]'" in refusal()


def test_tables_are_found_by_name_and_schema(table: Place) -> None:
    table.con.execute('CREATE TABLE "My Table" (x int); CREATE TABLE "a.b" (x int); CREATE TABLE "Twice" (x int)')
    table.con.execute('CREATE TABLE twicE (x int); CREATE TABLE "TWICE" (x int)')
    for name in ("t", "T", "My Table", "my table", "a.b", f"{table.schema}.t", "Twice", "twice"):
        with open_engine(SOURCE, name) as engine:
            assert engine.aggregates(f'SELECT COUNT(*) FROM "{name}"') == [(5 if name.lower().endswith("t") else 0,)]
    assert "has no table 'nothing'" in refusal(table="nothing")
    assert f"may be {table.schema}." in refusal(table="tWICE")


def test_a_role_needs_no_right_but_select(table: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", table.role(f"USAGE ON SCHEMA {table.schema}", "SELECT ON t"))
    with open_engine(SOURCE, "t") as engine:
        engine.prepare("SELECT COUNT(*) FROM t WHERE n > 2")
        assert engine.aggregates("SELECT COUNT(*) FROM t WHERE n > 2") == [(2,)]
        assert sum(batch.num_rows for batch in engine.batches("SELECT x FROM t")) == 5


def test_a_role_without_a_right_is_told_so(table: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", table.role(f"USAGE ON SCHEMA {table.schema}"))
    assert "may not read the table 't'" in refusal()
    monkeypatch.setenv("DATABASE_URL", table.role("SELECT ON t"))
    assert "may not read the table" in refusal(table=f"{table.schema}.t")


def test_columns_that_a_role_may_not_read_are_not_there(table: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", table.role(f"USAGE ON SCHEMA {table.schema}", "SELECT (x, n) ON t"))
    with open_engine(SOURCE, "t") as engine:
        assert list(engine.types()) == ["x", "n"]
        assert engine.aggregates("SELECT SUM(n) FROM t") == [(Decimal(10),)]


@pytest.mark.parametrize(
    ("make", "stored"),
    [
        ("CREATE TABLE o (x int)", True),
        ("CREATE TABLE o (x int) PARTITION BY RANGE (x); CREATE TABLE p PARTITION OF o DEFAULT", True),
        ("CREATE TABLE o (x int); CREATE TABLE p () INHERITS (o)", False),
        ("CREATE TABLE p (x int); CREATE TABLE o () INHERITS (p)", True),
        ("CREATE VIEW o AS SELECT x FROM t", False),
        ("CREATE MATERIALIZED VIEW o AS SELECT x FROM t", False),
        (
            "CREATE TABLE o (x int) PARTITION BY RANGE (x); "
            "CREATE FOREIGN TABLE p PARTITION OF o DEFAULT SERVER gp_server",
            False,
        ),
    ],
)
def test_only_stored_rows_are_taken_for_records(table: Place, make: str, stored: bool) -> None:
    """A foreign table alone cannot be opened here: the server of the tests has no wrapper that answers."""
    table.con.execute("CREATE FOREIGN DATA WRAPPER gp_wrapper; CREATE SERVER gp_server FOREIGN DATA WRAPPER gp_wrapper")
    try:
        table.con.execute(make)
        with open_engine(SOURCE, "o") as engine:
            assert engine.is_stored is stored
    finally:
        table.con.execute("SET client_min_messages = error; DROP FOREIGN DATA WRAPPER gp_wrapper CASCADE")


def test_types_are_told_in_plain_words(postgres: Place) -> None:
    con = postgres.con
    con.execute("CREATE TYPE mood AS ENUM ('sad'); CREATE DOMAIN years AS int NOT NULL CHECK (VALUE > 3)")
    con.execute('CREATE TABLE t (m mood, y years, c char(3), v varchar COLLATE "C", z timestamptz, g int[])')
    with open_engine(SOURCE, "t") as engine:
        assert dict(engine.types()) == {
            "m": "enum",
            "y": "integer",
            "c": "character(3)",
            "v": "character varying",
            "z": "timestamp with time zone",
            "g": "integer[]",
        }
        assert [*engine.schema().values()] == ["text", "number", "text", "text", "time", "other"]
        assert engine.stored()["v"] == "character varying COLLATE C"
        engine.prepare("SELECT COUNT(m), COUNT(y), COUNT(g) FROM t")  # a domain's rule does not stop a dry run


def test_a_role_s_own_settings_change_nothing(table: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    url = table.role(f"USAGE ON SCHEMA {table.schema}", "SELECT ON t")
    role = url.split("://")[1].split(":")[0]
    for name, value in {"datestyle": "'SQL, DMY'", "timezone": "'Asia/Tokyo'", "extra_float_digits": "-5"}.items():
        table.con.execute(f"ALTER ROLE {role} SET {name} = {value}")
    table.con.execute("INSERT INTO t VALUES (0.1::float8 + 0.2, 1, '2020-02-01')")
    monkeypatch.setenv("DATABASE_URL", url)
    asked = "SELECT CAST(MAX(x) FILTER (WHERE x < 1) AS text), CAST(CAST('2020-02-01' AS date) AS text) FROM t"
    with open_engine(SOURCE, "t") as engine:
        assert engine.aggregates(asked) == [("0.30000000000000004", "2020-02-01")]


def test_the_room_is_entered_without_loading_psycopg() -> None:
    program = "import sys, guessproof.engines; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# Facts that the target leans on. If an upgrade changes one, this must fail loudly.


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("CAST(2.5::float8 AS bigint), CAST(3.5::float8 AS bigint), CAST(-2.5::float8 AS bigint)", (2, 4, -2)),
        ("ROUND(2.5::float8), ROUND(-2.5::float8)", (2.0, -2.0)),
        ("'NaN'::float8 <= 'Infinity'::float8, 'NaN'::float8 BETWEEN 0 AND 120", (False, False)),
        ("LEAST(NULL, 1), GREATEST(NULL::float8, 1)", (1, 1.0)),
        ("7 / 2, pg_typeof(SUM(1::bigint))::text", (3, "numeric")),
        ("pg_input_is_valid('1e400', 'float8'), pg_input_is_valid('1_0', 'float8')", (False, False)),
        ("'x  '::char(3) = 'x', CAST('x  '::char(3) AS text)", (True, "x")),
        ("'a%' LIKE 'a\\%', 'a%' LIKE 'a\\%' ESCAPE ''", (True, False)),
        ("'NaN'::numeric > 'Infinity'::numeric", (True,)),
        ("CASE WHEN NULL THEN 1 ELSE 2 END", (2,)),
    ],
)
def test_values(postgres: Place, expression: str, value: Any) -> None:
    assert postgres.con.execute(f"SELECT {expression}").fetchall() == [value]


@pytest.mark.parametrize(
    "expression",
    [
        "1e-200::float8 * 1e-200::float8",
        "exp(-800::float8)",
        "power(1e-10::float8, 64::float8)",
        "1e-300::float8 / 1e100::float8",
        "1::float8 / 0",
        "CAST(1e400::numeric AS float8)",
        "CAST(1e-400::numeric AS float8)",
        "CAST('5874897-12-31'::date AS timestamp)",
        "CAST('x' AS float8)",
    ],
)
def test_what_fails_on_some_values(postgres: Place, expression: str) -> None:
    with pytest.raises(psycopg.DataError):
        postgres.con.execute(f"SELECT {expression}")


def test_rounding_is_half_away_from_zero_to_the_last_bit(postgres: Place) -> None:
    """TRUNC(y + SIGN(y) · (½ less a bit)) against exact arithmetic, near every half."""
    random = Random(7)
    drawn = [random.choice((-1, 1)) * (random.getrandbits(random.randint(1, 53)) + 0.5) for _ in range(2000)]
    values = [
        v
        for y in [*drawn, 0.5, 0.0, 2.0**52 + 1, 2.0**51 + 0.5]
        for v in (y, math.nextafter(y, 0), math.nextafter(y, 1e300))
    ]
    rounded = "TRUNC(y + SIGN(y) * '0.49999999999999994'::float8)"
    asked = f"SELECT {rounded} FROM unnest(%s::float8[]) WITH ORDINALITY v(y, i) ORDER BY i"
    found = [row[0] for row in postgres.con.execute(asked, [values]).fetchall()]
    expected = [math.copysign(int(Decimal(abs(y)).to_integral_value("ROUND_HALF_UP")), y) for y in values]
    assert found == expected


def test_a_release_sends_few_messages(table: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits for a server that may be far away: settings go with BEGIN, and nothing is looked at for no table."""
    sent: list[Any] = []
    execute = psycopg.Connection.execute

    def counted(con: Any, query: Any, *more: Any, **named: Any) -> Any:
        sent.append(query)
        return execute(con, query, *more, **named)

    monkeypatch.setattr(psycopg.Connection, "execute", counted)
    with open_engine(SOURCE, "t", timeout=2500.5) as opened:
        assert len(sent) == 6
        opened.prepare("SELECT COUNT(*) FROM t")
        assert opened.aggregates("SELECT COUNT(*) FROM t") == [(5,)]
        assert len(sent) == 13
        con = opened._con  # type: ignore[attr-defined]
        with opened._reading(con):  # type: ignore[attr-defined]
            named = ("search_path", "timezone", "statement_timeout", "transaction_read_only", "transaction_isolation")
            found = [con.execute(f"SHOW {name}").fetchone()[0] for name in named]
    assert found == ["pg_catalog", "UTC", "2500500ms", "on", "repeatable read"]
