"""Ledgers to test with: a clock that only moves when told, and ways to damage a file as a tamperer would."""

from __future__ import annotations

import shutil
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from guessproof.ledger import Budget, Charged, Cost, Ledger, Tally, is_on_server
from guessproof.ledger.store_sqlite import SCHEMA

KEY = b"a key for tests, long enough"
GUARANTEE = {"time": {"slopes": [0.1], "step": 0.0}}
DESCRIBE = {"query": "SELECT AVG(time) FROM t", "mechanism": "laplace"}


class Clock:
    """1 January 2030, until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def count(given: list[Tally]) -> int:
    """How many releases a judge has to count."""
    return sum(tally.times for tally in given)


def placed(home: Path, file: str = "test.ledger") -> Path:
    """The ledger of a folder, or the one on a server."""
    return home if is_on_server(home) else home / file


def opened(folder: Path, budget: Budget | str = "1.0", *, name: str = "cafeteria", **options: Any) -> Ledger:
    limits = budget if isinstance(budget, Budget) else Budget(budget)
    return Ledger.create(placed(folder), name, limits, **{"clock": Clock(), **options})


def pay(ledger: Ledger, request: str, epsilon: Any = "0.1", *, name: str = "cafeteria", **options: Any) -> Charged:
    charged = ledger.charge(name, request, Cost(epsilon), GUARANTEE, DESCRIBE, **options)
    assert isinstance(charged, Charged)
    return charged


def filled(folder: Path, key: bytes | None = None) -> Ledger:
    """Two names, and an entry of every kind; the last charge has no answer."""
    ledger = opened(folder, key=key)
    Ledger.create(ledger.path, "cats", Budget("2", "1e-5", "0.3"), key=key, clock=Clock())
    ledger.record(pay(ledger, "one"), {"answers": [{"name": "mean_time", "value": 19.75}]})
    ledger.failed(pay(ledger, "two", 0.25))
    ledger.charge(
        "cats",
        "three",
        Cost("0.5", "1e-6"),
        GUARANTEE,
        DESCRIBE,
        lambda given: 0.1 * sum(tally.times for tally in given),
    )
    ledger.note("cafeteria", "looked at the most exposed records", scan=True)
    pay(ledger, "four", "0.2")
    return ledger


def edit(path: Path, *statements: str, restore: bool = True) -> None:
    """Run SQL on the file as someone would who drops the triggers first and makes them again afterwards.

    Where entries are found is dropped as well: it is made from them anew.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DROP TABLE IF EXISTS lookups")
    for name in SCHEMA:
        if name != "entries":
            connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    for name, sql in SCHEMA.items():
        if restore and name != "entries":
            connection.execute(sql)
    connection.close()


def copied(path: Path, name: str = "copy.ledger") -> Path:
    return Path(shutil.copy2(path, path.parent / name))
