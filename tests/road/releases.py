"""Roads that are really walked: a table in a database, a ledger, answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

import guessproof as gp
from guessproof.ledger import Budget, Ledger
from road.plans import Road
from road.query import Column, Row


def table(folder: Path, columns: Sequence[Column], rows: Sequence[Row]) -> None:
    """The rows in a new database in this folder."""
    path = folder / "t.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as con:
        types = ", ".join(f"{c.name} {'DOUBLE' if c.is_number else 'VARCHAR'}" for c in columns)
        con.execute(f"CREATE TABLE t ({types})")
        places = ", ".join("?" for _ in columns)
        con.executemany(f"INSERT INTO t VALUES ({places})", [[row[c.name] for c in columns] for row in rows])


def opened(folder: Path, road: Road, **budget: Any) -> Ledger:
    """A new ledger in this folder."""
    path = folder / "guessproof.ledger"
    path.unlink(missing_ok=True)
    return Ledger.create(path, road.name, Budget("1e9", **budget))


def released(folder: Path, road: Road) -> dict[str, Any]:
    return gp.release(gp.loads_plan(road.text("t.duckdb"), folder=folder)).to_dict()
