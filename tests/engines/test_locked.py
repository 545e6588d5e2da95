"""Nothing but the table can be read, nothing can be written, no setting can be changed: two walls, each on its own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from engines.tables import FORMS, opened, write
from guessproof.engines import open_engine
from guessproof.engines.base import Engine
from guessproof.engines.duckdb import DuckDB, find_fault
from guessproof.engines.files import find
from guessproof.engines.frames import frame_of
from guessproof.errors import EngineError, SourceError

ROWS = [{"x": float(place), "s": "word"} for place in range(10)]
READING = (
    "SELECT * FROM read_csv('{other}')",
    "SELECT * FROM read_text('{other}')",
    "SELECT * FROM read_blob('{other}')",
    "SELECT * FROM '{other}'",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT (SELECT COUNT(*) FROM read_text('{other}')) FROM t",
    "WITH a AS (SELECT * FROM read_csv('{other}')) SELECT COUNT(*) FROM a",
    "SELECT COUNT(*) FROM t WHERE s IN (SELECT content FROM read_text('{other}'))",
    "SELECT * FROM read_parquet('{folder}/*.parquet')",
    "SELECT * FROM read_json('{other}')",
    "SELECT * FROM sniff_csv('{other}')",
    "ATTACH '{folder}/other.duckdb' AS o",
    "IMPORT DATABASE '{folder}'",
)
WRITING = (
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "COPY t TO '{folder}/out.parquet'",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/new.duckdb' AS n",
)
EXTENDING = ("INSTALL httpfs", "LOAD httpfs", "INSTALL spatial FROM community", "FORCE INSTALL sqlite")
SETTING = (
    "SET threads = 1",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET memory_limit = '1TB'",
    "SET temp_directory = '{folder}'",
    "SET allowed_paths = ['{other}']",
    "RESET threads",
    "PRAGMA enable_profiling",
    "PRAGMA threads = 1",
)
CHANGING = (
    "CREATE TABLE made AS SELECT 1 AS a",
    "CREATE VIEW made AS SELECT 1 AS a",
    "CREATE OR REPLACE VIEW t AS SELECT 1 AS a",
    "CREATE MACRO f(a) AS a",
    "CREATE SEQUENCE q",
    "INSERT INTO t VALUES (1, 'a')",
    "UPDATE t SET x = 0",
    "DELETE FROM t",
    "TRUNCATE t",
    "DROP VIEW t",
    "DROP TABLE t",
    "ALTER TABLE t ADD COLUMN y INTEGER",
    "WITH a AS (INSERT INTO gp_twin.main.t VALUES (1, 'a') RETURNING x) SELECT * FROM a",
)
CURIOUS = (  # allowed by DuckDB, for they open nothing; refused by our own look at the tree
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM query_table('t')",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM range(10)",
    "SELECT * FROM other",
    "SELECT * FROM gp_source.main.other",
    "SELECT * FROM gp_twin.main.t",
    "SELECT * FROM memory.main.t",
    "SELECT * FROM main.t",
    "SELECT (SELECT MAX(x) FROM other) FROM t",
    "SELECT gp_source.main.peek() FROM t",
    "USE gp_source",
    "SET SESSION search_path = 'gp_source'",
    "SELECT pg_catalog.abs(1)",
    "SELECT COUNT(*) FROM t; SELECT 1",
    "SELECT 1; DROP VIEW t",
    "SUMMARIZE t",
    "DESCRIBE t",
    "SHOW TABLES",
    "EXPLAIN ANALYZE SELECT 1",
    "PIVOT t ON s USING SUM(x)",
    "CALL pragma_version()",
    "EXECUTE something",
    "BEGIN",
    "COMMIT",
    "CHECKPOINT",
    "VACUUM",
    "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT COUNT(*) FROM r",
    "",
    "nonsense",
    "SELECT",
    "SELECT '\udcff'",
    "SELECT 1 \0",
    "SELECT 1 \0; DROP VIEW t",
    "SELECT ?",
)


@pytest.fixture(params=FORMS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "other.csv").write_text("secret\n42\n")
    write(tmp_path, ROWS, "parquet", name="other.parquet")
    write(tmp_path, ROWS, "duckdb", name="other.duckdb")
    home = tmp_path / "home"
    home.mkdir()
    source = write(home, ROWS, request.param)
    if request.param == "duckdb":
        with duckdb.connect(source) as con:
            con.execute("CREATE TABLE other AS SELECT 42e0 AS x")
            con.execute("CREATE MACRO peek() AS (SELECT MAX(x) FROM other)")
        with open_engine(source, "t") as found:
            yield found
    else:
        with opened(home, ROWS, request.param) as found:
            yield found


def put(statement: str, folder: Path) -> str:
    return statement.replace("{other}", str(folder / "other.csv")).replace("{folder}", str(folder))


def fingerprints(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file below a folder, by its bytes and the time of its last change."""
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_engine_refuses_everything_but_one_select_over_the_table(engine: Engine, tmp_path: Path) -> None:
    before = fingerprints(tmp_path)
    for statement in (*READING, *WRITING, *EXTENDING, *SETTING, *CHANGING, *CURIOUS):
        text = put(statement, tmp_path)
        with pytest.raises(SourceError) as caught:
            engine.prepare(text)
        assert caught.value.__context__ is None, statement
        with pytest.raises(EngineError) as failed:
            engine.aggregates(text)
        assert failed.value.__context__ is None, statement
    assert engine.aggregates("SELECT COUNT(*), SUM(TRY_CAST(x AS DOUBLE)) FROM t") == [(10, 45.0)]
    assert fingerprints(tmp_path) == before


def test_duckdb_itself_is_locked_behind_that(engine: Engine, tmp_path: Path) -> None:
    """As if our own look at the query had let everything pass."""
    assert isinstance(engine, DuckDB)
    before = fingerprints(tmp_path)
    for statement in (*READING, *WRITING, *EXTENDING, *SETTING, *CHANGING):
        with pytest.raises(duckdb.Error):
            engine._run(engine._con, put(statement, tmp_path))
    assert engine.aggregates("SELECT COUNT(*), SUM(TRY_CAST(x AS DOUBLE)) FROM t") == [(10, 45.0)]
    assert fingerprints(tmp_path) == before


def test_the_settings_that_hold_the_walls(engine: Engine) -> None:
    assert isinstance(engine, DuckDB)
    expected = {
        "enable_external_access": False,
        "lock_configuration": True,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
        "temp_directory": "",
        "disabled_optimizers": "statistics_propagation,type_pushdown",
        "error_on_division_by_zero": False,
    }
    for con in (engine._con, engine._blank, engine._con.cursor()):
        for name, value in expected.items():
            assert con.execute("SELECT current_setting(?)", [name]).fetchall() == [(value,)], name


def test_a_database_is_attached_for_reading_only(tmp_path: Path) -> None:
    with opened(tmp_path, ROWS, "duckdb") as engine:
        assert isinstance(engine, DuckDB)
        for statement in ("DELETE FROM gp_source.main.t", "CREATE TABLE gp_source.main.made (a INTEGER)"):
            with pytest.raises(duckdb.Error, match="read-only"):
                engine._con.execute(statement)


def test_the_look_at_the_tree_needs_no_help() -> None:
    """What DuckDB would refuse by itself is refused here too."""

    def fault(sql: str) -> str | None:
        return find_fault(duckdb.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0], "t")

    assert fault("SELECT COUNT(*) FROM T") is None
    assert fault("WITH a AS (SELECT x FROM t), b AS (SELECT x FROM A) SELECT SUM(x) FROM b JOIN t USING (x)") is None
    assert fault("SELECT x FROM other") == "it names another table than the plan's"
    assert fault("SELECT ABS(gp_source.peek())") == "it calls a function of another database"
    assert fault("SELECT a.main.peek()") == "it calls a function of another database"
    assert fault("SELECT 1; SELECT 2") == "it has more than one statement"
    assert fault("DROP TABLE t") == "it is not one SELECT that DuckDB understands"
    for sql in (*READING[:-2], *CURIOUS):
        if "\0" not in sql and "\udcff" not in sql and sql != "SELECT ?":
            assert fault(sql), sql


def test_a_python_variable_does_not_answer_for_a_table(engine: Engine) -> None:
    import pyarrow as pa

    other = pa.table({"x": [42.0]})
    assert other.num_rows == 1
    with pytest.raises(duckdb.Error):
        engine._con.execute("SELECT * FROM other")  # pyright: ignore[reportAttributeAccessIssue]


def test_working_leaves_the_source_and_its_folder_as_they_were(engine: Engine, tmp_path: Path) -> None:
    before = fingerprints(tmp_path)
    engine.check()
    engine.prepare("SELECT SUM(TRY_CAST(x AS DOUBLE)) FROM t")
    assert engine.aggregates("SELECT SUM(TRY_CAST(x AS DOUBLE)) FROM t") == [(45.0,)]
    assert sum(batch.num_rows for batch in engine.batches("SELECT x, s FROM t")) == 10
    engine.close()
    engine.close()
    assert fingerprints(tmp_path) == before
    assert sorted(os.listdir(tmp_path)) == ["home", "other.csv", "other.duckdb", "other.parquet"]


def test_a_frame_is_exchanged_for_one_with_the_same_columns_only(tmp_path: Path) -> None:
    """What is asked is the new one, under the old locks; nothing of the old one is left."""
    with DuckDB(frame_of(pa.table({"x": [1.0, 2.0]})), "t", timeout=None) as engine:
        assert engine.aggregates("SELECT SUM(x), COUNT(*) FROM t") == [(3.0, 2)]
        engine.exchange(pa.table({"x": [5.0]}))
        assert engine.aggregates("SELECT SUM(x), COUNT(*) FROM t") == [(5.0, 1)]
        for other in (pa.table({"y": [5.0]}), pa.table({"x": ["5"]}), pa.table({"x": [5.0], "y": [1.0]})):
            with pytest.raises(SourceError, match="same columns"):
                engine.exchange(other)
        assert engine.aggregates("SELECT SUM(x) FROM t") == [(5.0,)]
        with pytest.raises(duckdb.Error):
            engine._con.execute("SET enable_external_access = true")
    (tmp_path / "t.csv").write_text("x\n1\n")
    with DuckDB(find(str(tmp_path / "t.csv")), "t", timeout=None) as engine, pytest.raises(SourceError):
        engine.exchange(pa.table({"x": ["1"]}))
