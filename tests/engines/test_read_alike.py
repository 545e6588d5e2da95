"""What is stored is one number, one cell, one public row, whichever engine reads it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from servers import Place
from sqlglot import exp

from guessproof.engines import Engine, open_engine
from guessproof.engines.base import SparkSource
from guessproof.errors import SourceError
from guessproof.sql import DeclaredColumn, DeclaredTable, PublicTable, analyze, find_target
from guessproof.sql.declared import number_of
from guessproof.sql.rules.values import write_number
from guessproof.testing.same import whole_numbers

REMOTE = "env:SPARK_REMOTE"
TEXTS = (
    *("123456789012345678901_2", " 123456789012345678901_2\v", "1234567890123456789012__3", "+-1234567890123456789_1"),
    *("9.9007199254740993_1e400", "0.12345678901234567890_12e-400", "12_34567890123456789012345", "1_0", "+-1"),
    *("0." + "0" * 17_000 + "1", "-0." + "0" * 17_000 + "1", "0." + "0" * 17_000 + "1e+9", "1" + "0" * 400),
)
WIDE = ("6162264054441942115978864316310296668", "-532841802124109978570873726182998297", "21565203369304787001", "7")
# The public rows of one file: numbers of 24 bits, moments with a zone or nanoseconds, truth values as numbers.
PUBLIC = """SELECT * FROM (VALUES
  ('math', 0.1::FLOAT, TIMESTAMPTZ '2020-01-31 10:00:00+02', TIMESTAMP_NS '2020-01-31 10:00:00.123456789', true, 0.7),
  ('law', 1.3::FLOAT, TIMESTAMPTZ '1999-12-31 23:00:00+00', TIMESTAMP_NS '1960-01-31 10:00:00', false, 1.25),
  ('art', NULL, NULL, NULL, NULL, NULL)) AS p(faculty, rate, since, until, open, paid)"""
ROWS = (("math", "1"), ("law", "2.5"), ("art", "3"), (None, "4"), ("math", "5"))
PRICES = PublicTable(
    "p",
    {n: DeclaredColumn(n, bounds=(0, 2)) for n in ("rate", "open", "paid")}
    | {n: DeclaredColumn(n, bounds=(-9000, 30000), kind="time") for n in ("since", "until")},
    key=("faculty",),
)
JOINED = DeclaredTable("t", {"x": DeclaredColumn("x", bounds=(0, 10))}, public=(PRICES,))
OUTPUTS = (
    *("SUM(x * p.rate)", "SUM(x * p.open)", "SUM(x * p.paid)"),
    *(f"SUM(CASE WHEN p.{n} > DATE '1999-12-31' THEN x ELSE 0 END)" for n in ("since", "until")),
)
QUESTION = ", ".join(f"{output} AS a{i}" for i, output in enumerate(OUTPUTS))


def write(path: Path, sql: str) -> str:
    with duckdb.connect() as con:
        con.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")
    return str(path)


def values(rows: tuple[tuple[str | None, ...], ...], names: str) -> str:
    written = (", ".join("NULL" if cell is None else f"'{cell}'" for cell in row) for row in rows)
    return f"(VALUES {', '.join(f'({row})' for row in written)}) AS v({names})"


def read(engine: Engine) -> dict[int, float | None]:
    target = find_target(engine.dialect, engine.types())
    number = write_number(DeclaredColumn("x", bounds=(-1, 1)), target)
    table = exp.Table(this=exp.to_identifier("t", quoted=True))
    asked = exp.select(exp.alias_(target.name("i"), "i"), exp.alias_(number, "found")).from_(table)
    found: dict[int, float | None] = {}
    for batch in engine.batches(target.sql(asked)):
        found |= dict(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    return found


def texts_of(folder: Path) -> str:
    numbered = values(tuple((str(i), text) for i, text in enumerate(TEXTS)), "i, x")
    return write(folder / "texts.parquet", f"SELECT i::BIGINT AS i, x FROM {numbered}")


EXPECTED = {i: number_of(text) for i, text in enumerate(TEXTS)}


def test_texts_of_many_digits(tmp_path: Path) -> None:
    with open_engine(texts_of(tmp_path), "t") as engine:
        assert read(engine) == EXPECTED


def test_texts_of_many_digits_in_postgres(postgres: Place) -> None:
    postgres.con.execute("CREATE TABLE t (i bigint, x text)")
    for i, text in enumerate(TEXTS):
        postgres.con.execute("INSERT INTO t VALUES (%s, %s)", (i, text))
    with open_engine("env:DATABASE_URL", "t") as engine:
        assert read(engine) == EXPECTED


def test_texts_of_many_digits_in_spark(spark: str, tmp_path: Path) -> None:
    with open_engine(SparkSource(texts_of(tmp_path), REMOTE), "t") as engine:
        assert read(engine) == EXPECTED


@pytest.mark.parametrize("stored", ["DECIMAL(38,0)", "HUGEINT", "VARCHAR"])
def test_whole_numbers_of_many_digits(stored: str, tmp_path: Path) -> None:
    numbered = values(tuple((str(i), text) for i, text in enumerate(WIDE)), "i, x")
    path = str(tmp_path / "wide.duckdb")
    with duckdb.connect(path) as con:
        con.execute(f"CREATE TABLE t AS SELECT i::BIGINT AS i, x::{stored} AS x FROM {numbered}")
    with open_engine(path, "t") as engine:
        assert read(engine) == {i: float(Decimal(text)) for i, text in enumerate(WIDE)}


def test_a_decimal_without_a_whole_part_in_spark(spark: str, tmp_path: Path) -> None:
    path = write(tmp_path / "small.parquet", "SELECT 0::BIGINT AS i, 0.25::DECIMAL(18, 18) AS x")
    with open_engine(SparkSource(path, REMOTE), "t") as engine:
        assert read(engine) == {0: 0.25}


# A public file beside a database.


def joined(source: Any, file: str) -> Any:
    with open_engine(source, "t", public={"p": file}) as engine:
        question = analyze(f"SELECT {QUESTION} FROM t JOIN p ON t.faculty = p.faculty", JOINED)
        return whole_numbers(engine, question, -40)


def beside(folder: Path) -> tuple[str, str]:
    own = f"SELECT faculty, x::DOUBLE AS x FROM {values(ROWS, 'faculty, x')}"
    return write(folder / "t.parquet", own), write(folder / "p.parquet", PUBLIC)


def test_a_public_file_beside_postgres(postgres: Place, tmp_path: Path) -> None:
    own, file = beside(tmp_path)
    postgres.con.execute("CREATE TABLE t (faculty text, x double precision)")
    for row in ROWS:
        postgres.con.execute("INSERT INTO t VALUES (%s, %s)", row)
    expected = joined(own, file)
    assert all(number for number, _ in expected[()])
    assert joined("env:DATABASE_URL", file) == expected


def test_a_public_file_beside_spark(spark: str, tmp_path: Path) -> None:
    own, file = beside(tmp_path)
    assert joined(SparkSource(own, REMOTE), file) == joined(own, file)


@pytest.mark.parametrize("column", ["rate", "paid"])
def test_numbers_of_a_public_file_are_no_labels(column: str, postgres: Place, tmp_path: Path) -> None:
    own, file = beside(tmp_path)
    postgres.con.execute("CREATE TABLE t (faculty text, x double precision)")
    table = PublicTable("p", {column: DeclaredColumn(column, kind="label")}, key=("faculty",))
    declared = DeclaredTable("t", JOINED.columns, public=(table,))
    question = analyze(f"SELECT SUM(x) AS s FROM t JOIN p ON t.faculty = p.faculty WHERE p.{column} = '1'", declared)
    for source in (own, "env:DATABASE_URL"):
        with (
            open_engine(source, "t", public={"p": file}) as engine,
            pytest.raises(SourceError, match="one number has several texts"),
        ):
            whole_numbers(engine, question)


# CSV files, cell by cell.

WHOLE = (
    'a,b\r\n"x\r\ny",1\r\nz,"2\n3"\r\n',  # ends of lines inside quotes stay
    'a;b\n"1;""2""";3\n\n; \n',
    'a,b\n  "x",1\n',  # quotes that begin no cell
)
ODD = (
    'a,b\n"x"y,1\n',  # more after a quote
    'a,b\n1, "2"\n',  # a blank before a quote, which DuckDB leaves out
    "a,b\n1,2\r\n3,4\n",  # a line that ends otherwise
)


def cells(source: Any) -> list[tuple[Any, ...]]:
    with open_engine(source, "t") as engine:
        engine.check()
        return engine.aggregates("SELECT a, b FROM t")


def test_csv_cells_in_spark(spark: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for text in WHOLE:
        path.write_bytes(text.encode())
        assert cells(SparkSource(str(path), REMOTE)) == cells(str(path))
    for odd in (*(text.encode() for text in ODD), b"a,b\n\xff,1\n"):
        path.write_bytes(odd)
        with pytest.raises(SourceError, match="some line"):
            cells(SparkSource(str(path), REMOTE))
    path.write_bytes(b"a\n1\n\n2\n")  # the line between is a missing value, which Spark leaves out
    with pytest.raises(SourceError, match="one column"):
        cells(SparkSource(str(path), REMOTE))
