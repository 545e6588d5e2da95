"""Facts about DuckDB that the rewritten queries lean on. If an upgrade changes one, this must fail loudly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from guessproof.engines.duckdb import SETTINGS

NAN, INF = "'nan'::DOUBLE", "'Infinity'::DOUBLE"
CLAMPED = (  # the rewriter's form for SUM: clean, clamp to [0, 120], fixed point of 1/1024
    "SUM(CAST((CASE WHEN x BETWEEN 0.0e0 AND 120.0e0 THEN x WHEN x < 0.0e0 THEN 0.0e0 "
    f"WHEN x <= {INF} THEN 120.0e0 END) * 1024 AS BIGINT))"
)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:", config=SETTINGS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # LEAST and GREATEST skip NULL; NaN is the greatest of all and equal to itself
        ("LEAST(NULL, 1)", 1),
        ("GREATEST(NULL::DOUBLE, 1e0)", 1.0),
        (f"LEAST({NAN}, 1e0)", 1.0),
        (f"GREATEST({NAN}, 1e0)", math.nan),
        (f"{NAN} > {INF}", True),
        (f"{NAN} = {NAN}", True),
        (f"{NAN} <= {INF}", False),
        (f"{NAN} BETWEEN 0e0 AND 120e0", False),
        (f"isnan({NAN})", True),
        ("isnan(NULL::DOUBLE)", None),
        (f"isfinite({INF})", False),
        ("-0.0e0 = 0e0", True),
        # casts to text and back
        ("TRY_CAST('abc' AS DOUBLE)", None),
        ("TRY_CAST('nan' AS DOUBLE)", math.nan),
        ("TRY_CAST('1e400' AS DOUBLE)", math.inf),
        ("TRY_CAST(' 12 ' AS DOUBLE)", 12.0),
        ("TRY_CAST('1,5' AS DOUBLE)", None),
        (f"TRY_CAST({NAN} AS BIGINT)", None),
        ("TRY_CAST(1e19 AS BIGINT)", None),
        # CAST(DOUBLE AS BIGINT) rounds half to even, round() half away from zero
        ("[CAST(x AS BIGINT) FOR x IN [0.5e0, 1.5e0, 2.5e0, -0.5e0, -2.5e0]]", [0, 2, 2, 0, -2]),
        ("[round(x) FOR x IN [0.5e0, 1.5e0, 2.5e0, -0.5e0, -2.5e0]]", [1, 2, 3, -1, -3]),
        ("CAST(0.49999999999999994e0 AS BIGINT)", 0),
        ("CAST(9223372036854774784.0e0 AS BIGINT)", 2**63 - 1024),
        # a literal with an exponent is DOUBLE, exactly; one with a point is DECIMAL
        ("typeof(120.0)", "DECIMAL(4,1)"),
        ("typeof(120.0e0)", "DOUBLE"),
        ("0.1e0", 0.1),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("5e-324", 5e-324),
        ("2.2250738585072014e-308", 2.2250738585072014e-308),
        # division, with the engine's settings: by zero infinite for numbers, NULL where whole numbers are asked for
        ("typeof(1 / 2)", "DOUBLE"),
        ("1 / 0", math.inf),
        ("0e0 / 0", math.nan),
        ("1 // 0", None),
        ("1 % 0", None),
        # functions outside their domain give NaN or infinity, never an error
        ("SQRT(-1)", math.nan),
        ("LN(0)", -math.inf),
        ("LN(-1)", math.nan),
        ("POW(10, 400)", math.inf),
        ("POW(0, -1)", math.inf),
        ("POW(-8, 0.5)", math.nan),
        ("EXP(1000)", math.inf),
        ("1e308 * 10e0", math.inf),
        # sums
        ("typeof(SUM(1::BIGINT))", "HUGEINT"),
        ("typeof(SUM(1::INTEGER))", "HUGEINT"),
        ("SUM(x) FROM (VALUES (9223372036854775807::BIGINT), (9223372036854775807)) v(x)", 2**64 - 2),
        ("SUM(x) FROM (VALUES (1.7e308), (1.7e308)) v(x)", math.inf),
        (f"SUM(x) FROM (VALUES ({INF}), (-{INF})) v(x)", math.nan),
        (f"MIN(x) FROM (VALUES ({NAN}), (1e0)) v(x)", 1.0),
        (f"MAX(x) FROM (VALUES ({NAN}), (1e0)) v(x)", math.nan),
        ("COUNT(x) FROM (VALUES (NULL), (1)) v(x)", 1),
        ("SUM(x) FILTER (WHERE x > 5) FROM (VALUES (1)) v(x)", None),
        ("CASE WHEN NULL THEN 1 ELSE 2 END", 2),
    ],
)
def test_values(con: duckdb.DuckDBPyConnection, expression: str, value: Any) -> None:
    found = con.execute(f"SELECT {expression}").fetchall()[0][0]
    if isinstance(value, float) and math.isnan(value):
        assert math.isnan(found)
    else:
        assert found == value
        assert type(found) is type(value)


@pytest.mark.parametrize(
    "expression",
    [
        f"CAST({NAN} AS BIGINT)",
        f"CAST({INF} AS BIGINT)",
        "CAST(9223372036854775808e0 AS BIGINT)",
        "CAST('x' AS INTEGER)",
        "2147483647::INTEGER * 2",
        "2147483647::INTEGER + 1",
        "9223372036854775807::BIGINT + 1",
        "ABS((-2147483648)::INTEGER)",
        "100::TINYINT * 2::TINYINT",
        "COUNT(*) FROM (VALUES ('a')) v(s) WHERE s = 2",
        f"SUM(x) FROM (VALUES ({2**127 - 1}::HUGEINT), (1)) v(x)",
        f"SUM(CAST(x AS BIGINT)) FILTER (WHERE x < 5) FROM (VALUES (1e0), ({NAN})) v(x)",
    ],
)
def test_what_fails_on_some_values(con: duckdb.DuckDBPyConnection, expression: str) -> None:
    with pytest.raises(duckdb.Error):
        con.execute(f"SELECT {expression}").fetchall()


def test_case_guards_a_cast_where_filter_does_not(con: duckdb.DuckDBPyConnection) -> None:
    guarded = f"SELECT SUM(CASE WHEN x < 5 THEN CAST(x AS BIGINT) END) FROM (VALUES (1e0), ({NAN})) v(x)"
    assert con.execute(guarded).fetchall() == [(1,)]


def test_the_clamped_sum_is_right_for_every_strange_value(con: duckdb.DuckDBPyConnection) -> None:
    values = ["NULL", NAN, INF, f"-{INF}", "1e300", "-1e300", "0.25e0", "120e0", "-0.0e0", "119.9999e0"]
    rows = ", ".join(f"({value}::DOUBLE)" for value in values)
    exact = 1024 * (120 + 0 + 120 + 0) + 256 + 1024 * 120 + 0 + 122880
    assert con.execute(f"SELECT {CLAMPED} FROM (VALUES {rows}) v(x)").fetchall() == [(exact,)]
    assert con.execute(f"SELECT {CLAMPED} FROM (VALUES (NULL::DOUBLE), ({NAN})) v(x)").fetchall() == [(None,)]


def test_aggregates_of_nothing(con: duckdb.DuckDBPyConnection) -> None:
    """COUNT is 0, the rest NULL: COUNT_IF too, which is a sum in disguise."""
    asked = f"SELECT COUNT(*), COUNT(x), COUNT_IF(x > 1), SUM(x), AVG(x), MIN(x), MAX(x), {CLAMPED}"
    assert con.execute(f"{asked} FROM (SELECT 1e0 AS x WHERE false)").fetchall() == [(0, 0) + (None,) * 6]


def test_the_order_of_rows_changes_a_float_sum_and_not_the_clamped_one(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE f AS SELECT 120 * ((i * 7919) % 99991) / 99991 AS x FROM range(50000) r(i)")
    rising, falling = ("(SELECT x FROM f ORDER BY x)", "(SELECT x FROM f ORDER BY x DESC)")
    sums = {con.execute(f"SELECT SUM(x) FROM {rows}").fetchall()[0][0] for rows in (rising, falling)}
    fixed = {con.execute(f"SELECT {CLAMPED} FROM {rows}").fetchall()[0][0] for rows in (rising, falling)}
    assert len(sums) == 2
    assert len(fixed) == 1


def test_a_select_may_hide_an_insert(con: duckdb.DuckDBPyConnection) -> None:
    """Why the statement's type is not enough, and the tree is looked at."""
    hidden = con.extract_statements("WITH a AS (INSERT INTO f VALUES (1) RETURNING x) SELECT * FROM a")
    assert [str(statement.type) for statement in hidden] == ["StatementType.SELECT"]
