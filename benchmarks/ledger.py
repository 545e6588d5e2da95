"""What a charge and its record cost as a ledger grows: they must not.

    python benchmarks/ledger.py [SIZE ...]         default: 10 1000 100000

A ledger of each size is made without syncing to disk; then releases are charged and recorded, each by a ledger that was
opened anew, as a command does it.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from guessproof.ledger import Budget, Charged, Cost, Ledger, Protection, Recorded, store_sqlite, verify
from guessproof.ledger.ledger import utc_now
from guessproof.ledger.session import open_session

GUARANTEE = {"version": 2, "unit": "values", "columns": {"time": {"line": {"slopes": [0.1]}}}, "change": 0.1}
DESCRIBE = {"query": "SELECT AVG(time) AS mean_time FROM t", "protects": "values", "noise": [{"scale": 1.0}]}
PROTECTION = Protection("values", ("time",), ("faculty",), ("time",))
ANSWER = {"answers": [{"name": "mean_time", "group": {}, "value": 19.75, "error": 1.5}]}
RUNS = 20


def grown(path: Path, size: int) -> None:
    """A ledger with so many entries, as releases would have made it."""
    Ledger.create(path, "cafeteria", Budget("1000000"))
    store = store_sqlite.SqliteStore(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN IMMEDIATE")
    transaction = store_sqlite.SqliteTransaction(connection, path)
    session = open_session(store.path, transaction, None, utc_now)
    number = 0
    while session.entries[-1].seq < size:
        body = {"request": f"{number}", "cost": Cost("0.001").to_dict(), "guarantee": GUARANTEE, "describe": DESCRIBE}
        charge = session.append("charge", "cafeteria", {**body, "protection": PROTECTION.to_dict(), "advantage": None})
        session.append("answer", "cafeteria", {"charge": charge.seq, "answer": ANSWER})
        number += 1
    connection.execute("COMMIT")
    connection.close()


def paid(path: Path, request: str) -> float:
    start = time.perf_counter()
    ledger = Ledger(path)
    charged = ledger.charge("cafeteria", request, Cost("0.001"), GUARANTEE, DESCRIBE, protection=PROTECTION)
    assert isinstance(charged, Charged)
    ledger.record(charged, ANSWER)
    return time.perf_counter() - start


def replayed(path: Path, request: str) -> float:
    start = time.perf_counter()
    assert isinstance(Ledger(path).settled("cafeteria", [request]), Recorded)
    return time.perf_counter() - start


def measure(sizes: list[int]) -> list[dict[str, float]]:
    """For each size: milliseconds for charge and record, for a replay, and seconds for `verify`.

    The sizes take turns, so that whatever else the machine does meets all of them alike.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = {size: Path(folder) / f"{size}.ledger" for size in sizes}
        for size, path in paths.items():
            grown(path, size)
        pay = {size: list[float]() for size in sizes}
        again = {size: list[float]() for size in sizes}
        for turn in range(RUNS):
            for size, path in paths.items():
                pay[size].append(paid(path, f"new-{turn}"))
                again[size].append(replayed(path, "0"))
        return [
            {
                "entries": size,
                "charge and record, ms": 1000 * statistics.median(pay[size]),
                "replay, ms": 1000 * statistics.median(again[size]),
                "verify, s": verified(path),
            }
            for size, path in paths.items()
        ]


def verified(path: Path) -> float:
    start = time.perf_counter()
    assert verify(path).ok
    return time.perf_counter() - start


def rows() -> Iterator[tuple[str, str, str]]:
    """For the table of all benchmarks."""
    first, *others = measure([10, 1000, 100_000])
    pay = "charge and record, ms"
    yield f"charge and record, {first['entries']} entries", f"{first[pay]:.1f} ms", ""
    for row in others:
        times = row[pay] / first[pay]
        yield f"the same, {row['entries']} entries", f"{row[pay]:.1f} ms, {times:.2f} ×", "1 ×, + 5 ms"


if __name__ == "__main__":
    for row in measure([int(size) for size in sys.argv[1:]] or [10, 1000, 100_000]):
        print("  ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
