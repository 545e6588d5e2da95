"""Which tables Spark's catalogue has: their names, and nothing else."""

from __future__ import annotations

from typing import Any

from guessproof.engines.base import SparkSource
from guessproof.engines.spark import open_session
from guessproof.engines.spark_session import attempt_quietly
from guessproof.engines.spark_tables import quote_name
from guessproof.errors import SourceError

MOST_SCHEMAS = 50  # that are looked into


def names_in_catalog(source: SparkSource) -> list[str]:
    """The names, as `[data] table` takes them: those of the session's own schema first, without it."""
    own = open_session(source)
    try:
        names, failure = attempt_quietly(lambda: _names(own.session))
    finally:
        own.close()
    if failure or names is None:
        raise SourceError("engine 'spark': the tables of its catalogue cannot be listed; name one with --table")
    return names


def _names(session: Any) -> list[str]:
    first = str(session.catalog.currentDatabase())
    found = [str(row[0]) for row in session.sql("SHOW SCHEMAS").collect()]
    schemas = [first, *(name for name in sorted(found) if name != first)]
    return [
        table if schema == first else f"{schema}.{table}"
        for schema in schemas[:MOST_SCHEMAS]
        for table in _tables(session, schema)
        if not any(mark in schema + table for mark in ".`")
    ]


def _tables(session: Any, schema: str) -> list[str]:
    rows = session.sql(f"SHOW TABLES IN {quote_name(schema)}").collect()
    return sorted(str(row.tableName) for row in rows if not row.isTemporary)
