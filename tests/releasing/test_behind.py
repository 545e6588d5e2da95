"""A table of a database is public only if none of its rows come from a confidential table, by whatever it is made."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from servers import Place

from guessproof.errors import ParameterError, PlanError, SourceError
from guessproof.plan import loads_plan
from guessproof.plan.beside import read_rows
from guessproof.writing import check_target

PLAN = """
query.sql = "SELECT COUNT(*) AS n FROM t"
release.epsilon = 1
columns.a = {{ {prior} }}
[data]
name = "staff"
source = "{source}"
table = "{own}"
protects = "records"
copies = 1
{more}
"""
PUBLIC = "[tables.'{}']\nkey = ['a']\n"
SHOWS, UNTOLD = "shows rows of a confidential table", "nothing shows where it has its rows from"
BOTH = """
CREATE TABLE people (id integer, a integer);
INSERT INTO people VALUES (1, 1), (2, 2), (3, 2);
CREATE TABLE wards (a integer, b integer);
INSERT INTO wards VALUES (1, 7), (2, 8);
CREATE VIEW counted AS SELECT a, COUNT(*) AS n FROM people GROUP BY a;
CREATE VIEW further AS SELECT * FROM counted;
CREATE VIEW filtered AS SELECT a FROM wards WHERE a IN (SELECT a FROM people);
CREATE VIEW harmless AS SELECT a FROM wards;
"""
IN_DUCKDB = """
CREATE MACRO told() AS (SELECT COUNT(*) FROM people);
CREATE VIEW called AS SELECT told() AS a;
CREATE VIEW sizes AS SELECT estimated_size AS a FROM duckdb_tables();
"""
IN_POSTGRES = """
CREATE MATERIALIZED VIEW kept AS SELECT a FROM people;
CREATE TABLE whole (id integer, a integer) PARTITION BY LIST (a);
CREATE TABLE part PARTITION OF whole DEFAULT;
CREATE FUNCTION told() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE VIEW called AS SELECT told() AS a;
CREATE VIEW quoted AS SELECT 1 AS a WHERE pg_catalog.query_to_xml('TABLE people', true, true, '') IS NULL;
"""
EVERYWHERE = [
    ("people", "counted", SHOWS),
    ("people", "further", SHOWS),
    ("people", "filtered", SHOWS),
    ("counted", "people", SHOWS),
    ("filtered", "counted", SHOWS),
    ("people", "wards", None),
    ("people", "harmless", None),
    ("counted", "wards", None),
]
MADE_IN_DUCKDB = [("people", "called", SHOWS), ("people", "sizes", UNTOLD)]
MADE_IN_POSTGRES = [
    ("people", "kept", SHOWS),
    ("whole", "part", SHOWS),
    ("part", "whole", SHOWS),
    ("people", "called", UNTOLD),
    ("people", "quoted", UNTOLD),
    ("people", "pg_catalog.pg_stat_user_tables", UNTOLD),
]


def check(folder: Path, source: str, own: str, public: str, words: str | None) -> None:
    plan = loads_plan(PLAN.format(source=source, own=own, prior="", more=PUBLIC.format(public)), folder=folder)
    if words is None:
        assert len(read_rows(plan, public)) == 2
    else:
        with pytest.raises(SourceError, match=words):
            read_rows(plan, public)


@pytest.mark.parametrize(("own", "public", "words"), EVERYWHERE + MADE_IN_DUCKDB)
def test_no_public_table_of_duckdb_shows_a_confidential_one(
    tmp_path: Path, own: str, public: str, words: str | None
) -> None:
    with duckdb.connect(str(tmp_path / "s.duckdb")) as con:
        con.execute(BOTH + IN_DUCKDB)
    check(tmp_path, "s.duckdb", own, public, words)


@pytest.mark.parametrize(("own", "public", "words"), EVERYWHERE + MADE_IN_POSTGRES)
def test_no_public_table_of_postgres_shows_a_confidential_one(
    tmp_path: Path, postgres: Place, own: str, public: str, words: str | None
) -> None:
    postgres.con.execute(BOTH + IN_POSTGRES)  # pyright: ignore[reportArgumentType]
    check(tmp_path, "env:DATABASE_URL", own, public, words)


def test_a_folder_called_as_an_address_begins_stands_for_nothing_else(tmp_path: Path) -> None:
    """What is checked is what is read: a file in a folder called file: is not the file of that address."""
    (tmp_path / "people.csv").write_text("id,a\n1,1\n2,2\n")
    address = f"file:{tmp_path}/people.csv"
    (tmp_path / address).parent.mkdir(parents=True)
    (tmp_path / address).write_text("a,b\n1,1\n")
    for prior, more in (("", f"{PUBLIC.format('p')}source = '{address}'"), (f"prior.from = '{address}'", "")):
        with pytest.raises(PlanError, match="is the table, which is confidential"):
            loads_plan(PLAN.format(source="people.csv", own="t", prior=prior, more=more), folder=tmp_path)


def test_a_public_file_that_an_address_names_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,a\n1,1\n2,2\n")
    (tmp_path / "wards.csv").write_text("a,b\n1,7\n")
    more = f"{PUBLIC.format('p')}source = 'file:{tmp_path}/wards.csv'"
    plan = loads_plan(PLAN.format(source="people.csv", own="t", prior="", more=more), folder=tmp_path)
    assert read_rows(plan, "p") == [{"a": "1", "b": "7"}]
    with pytest.raises(ParameterError, match="is the public file"):
        check_target(str(tmp_path / "wards.csv"), plan)
