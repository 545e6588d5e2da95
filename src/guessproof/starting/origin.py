"""Where the table of a first plan is: a file, a database, or what Spark reads; how it is opened and written down."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from guessproof.addresses import is_address, is_elsewhere, local_path
from guessproof.engines.base import SparkSource
from guessproof.engines.files import is_text_table
from guessproof.errors import ParameterError
from guessproof.plan.places import hide_secrets

Table = str | SparkSource
_ENV = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*\Z")


def find_table(source: str | None, engine: str | None, remote: str | None) -> Table | None:
    """The table that somebody names; None where there is none yet."""
    if engine not in (None, "spark"):
        raise ParameterError("engine", engine, "need not be named", "leave it out, or write --engine spark")
    if engine is None:
        if remote is not None:
            problem = "has a meaning only with Spark"
            raise ParameterError("remote", hide_secrets(remote), problem, "add --engine spark")
        return source
    if remote is not None and not _ENV.match(remote):
        problem = "where Spark runs is kept in the environment: an address may hold a token"
        remedy = "put it into an environment variable and write --remote env:SPARK_REMOTE"
        raise ParameterError("remote", hide_secrets(remote), problem, remedy)
    if source is not None and (is_elsewhere(source) or hide_secrets(source) != source):
        problem = "names a database" if is_elsewhere(source) else "a password must not stand in a plan"
        remedy = "name files or a folder, or leave it out for a table of the catalogue"
        raise ParameterError("source", hide_secrets(source), problem, remedy)
    if source is None or remote is not None or is_address(source):
        return SparkSource(source, remote)
    return SparkSource(str(local_path(source, Path())), None)


def is_told(table: Table | None) -> bool:
    """Whether its column names are surely names: the first line of a text file may be a record."""
    path = table.files if isinstance(table, SparkSource) else table
    return path is None or not is_text_table(path)


def own_file(table: Table | None) -> Path | None:
    """The file on this machine that must not be written over."""
    path = table.files if isinstance(table, SparkSource) else table
    if path is None or is_elsewhere(path) or _is_far(table):
        return None
    return Path(path)


def name_data(table: Table | None, called: str, otherwise: str) -> str:
    """What the ledger calls the data: as its file is called, or its table."""
    path = table.files if isinstance(table, SparkSource) else table
    named = path if called == "t" else called.rpartition(".")[2]
    stem = otherwise if named is None else Path(named).name.split(".")[0]
    return "".join(c for c in stem if c.isprintable()).strip() or otherwise


def write_origin(table: Table | None, name: str, plan: Path) -> Mapping[str, str]:
    """What `[data]` of a plan says of it, key by key."""
    if not isinstance(table, SparkSource):
        return {"source": f"{name}.csv" if table is None else path_beside(table, plan)}
    keys = {"engine": "spark", "remote": table.remote}
    files = table.files
    keys["source"] = files if files is None or _is_far(table) else path_beside(files, plan)
    return {key: value for key, value in keys.items() if value is not None}


def path_beside(table: str, plan: Path) -> str:
    """The table's path as the plan will look for it, from its own folder."""
    if is_elsewhere(table) or os.path.isabs(table):
        return table
    try:
        return Path(os.path.relpath(table, plan.parent)).as_posix()
    except ValueError:  # another drive
        return os.path.abspath(table)


def _is_far(table: Table | None) -> bool:
    """Whether a path is one of the cluster's, to be left as it is."""
    return isinstance(table, SparkSource) and (table.remote is not None or is_address(table.files or ""))
