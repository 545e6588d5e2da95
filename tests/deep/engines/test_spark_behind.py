"""A table of Spark's catalogue is public only if it is stored, and not in the files of a confidential one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guessproof.addresses import SPARK, read_address
from guessproof.engines import open_engine
from guessproof.engines.base import SecretSource, SparkSource
from guessproof.engines.spark_session import open_remote
from guessproof.errors import SourceError

REMOTE = "env:SPARK_REMOTE"
SHOWS, UNTOLD = "shows rows of a confidential table", "nothing shows where it has its rows from"


@pytest.fixture
def catalogue(spark: str, tmp_path: Path) -> Iterator[Any]:
    own = open_remote(read_address(REMOTE, what="remote", server=SPARK))
    statements = (
        "CREATE DATABASE behind",
        f"CREATE TABLE behind.people USING parquet LOCATION '{tmp_path}/people' AS SELECT 1 AS id, 2 AS a",
        "CREATE TABLE behind.wards USING parquet AS SELECT 2 AS a, 3 AS b",
        f"CREATE TABLE behind.again USING parquet LOCATION '{tmp_path}/people'",
        "CREATE VIEW behind.shown AS SELECT a FROM behind.people",
        "CREATE VIEW behind.counted AS SELECT (SELECT COUNT(*) FROM behind.people) AS a FROM behind.wards",
    )
    try:
        for statement in statements:
            own.session.sql(statement).collect()
        yield own
    finally:
        own.session.sql("DROP DATABASE IF EXISTS behind CASCADE").collect()
        own.close()


def test_no_public_table_of_spark_shows_a_confidential_one(catalogue: Any, tmp_path: Path) -> None:
    ways = {
        "behind.people": SHOWS,
        "spark_catalog.behind.people": SHOWS,
        "BEHIND.People": SHOWS,
        "behind.again": SHOWS,
        "behind.shown": UNTOLD,
        "behind.counted": UNTOLD,
        f"parquet.`{tmp_path}/people`": "has no such table",
    }
    own = SparkSource(None, REMOTE)
    for name, words in ways.items():
        with pytest.raises(SourceError, match=words):
            open_engine(own, "behind.people", public={name: None})
        with pytest.raises(SourceError, match=words):
            open_engine(own, "behind.wards", public={name: None, "behind.people ": SecretSource(f"{tmp_path}/people")})
    with open_engine(SparkSource(f"{tmp_path}/people", REMOTE), "t", public={"behind.wards": None}) as engine:
        assert list(engine.public()["behind.wards"]) == ["a", "b"]
    assert len(ways) == 7
