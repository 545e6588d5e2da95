"""One target per engine: the only files of `sql` that know a dialect."""

from __future__ import annotations

from collections.abc import Mapping

from guessproof.errors import SourceError
from guessproof.sql.target import Target
from guessproof.sql.targets.duckdb import DuckDBTarget

TARGETS: tuple[type[Target], ...] = (DuckDBTarget,)


def target_of(dialect: str, stored: Mapping[str, str]) -> Target:
    """The target of an engine, for a table whose columns are stored by these types.

    >>> target_of("oracle", {})
    Traceback (most recent call last):
    ...
    guessproof.errors.SourceError: no SQL is written for oracle; use one of duckdb
    """
    for target in TARGETS:
        if target.dialect == dialect:
            return target(stored)
    raise SourceError(f"no SQL is written for {dialect}; use one of {', '.join(t.dialect for t in TARGETS)}")
