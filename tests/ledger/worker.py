"""One process among several that use the same ledger; kills itself with SIGKILL where it is told to.

worker.py release FILE REQUEST POINT        one release of ε = 0.1, killed at POINT
worker.py loop    FILE                      releases until it is killed, telling of each charge once it is paid
worker.py spill   FILE                      killed when half of a large entry is in the file and none is committed
worker.py race    FILE REQUEST COUNT        COUNT requests of its own
worker.py same    FILE REQUEST              one request until it has an answer
worker.py open    FILE NAME                 opens a name
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from guessproof.errors import BudgetError, LedgerError
from guessproof.ledger import Budget, Charged, Cost, Ledger, store_postgres, store_sqlite


def die(*_: Any) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def drawn(path: str) -> int:
    """Draw noise: each draw leaves a mark beside the ledger, as an attacker would see it."""
    with open(f"{path}.drawn", "ab") as marks:
        marks.write(b".")
    return os.getpid()


def charge(ledger: Ledger, request: str) -> Any:
    return ledger.charge("cafeteria", request, Cost("0.1"), {"slope": 0.1}, {"query": request})


def release(path: str, request: str, point: str) -> None:
    ledger = Ledger(path, patience=0)
    commits = store_sqlite._commit, store_postgres._commit
    if point == "before the charge is written":
        store_sqlite._commit = store_postgres._commit = die
    charged = charge(ledger, request)
    if point == "after the charge":
        die()
    value = drawn(path)
    if point == "after the run":
        die()
    if point == "before the answer is written":
        store_sqlite._commit = store_postgres._commit = die
    ledger.record(charged, {"value": value})
    store_sqlite._commit, store_postgres._commit = commits
    if point == "after the answer":
        die()


def loop(path: str) -> None:
    ledger = Ledger(path)
    number = 0
    while True:
        number += 1
        charged = charge(ledger, f"{os.getpid()}-{number}")
        print(f"charged {charged.seq} {charged.head}", flush=True)
        head = ledger.record(charged, {"value": number})
        print(f"recorded {charged.seq} {head}", flush=True)


def spill(path: str) -> None:
    ledger = Ledger(path)
    store_sqlite._commit = die
    ledger.note("cafeteria", "x" * 8_000_000)  # more than SQLite keeps in memory


def race(path: str, request: str, count: str) -> None:
    ledger = Ledger(path)
    for number in range(int(count)):
        try:
            charged = charge(ledger, f"{request}-{number}")
        except BudgetError:
            print("refused")
        else:
            print("won")
            ledger.record(charged, {"value": drawn(path)})


def same(path: str, request: str) -> None:
    ledger = Ledger(path)
    while True:
        try:
            result = charge(ledger, request)
        except LedgerError as error:
            if "being answered" not in str(error):
                raise
            time.sleep(0.01)
            continue
        if isinstance(result, Charged):
            time.sleep(0.1)  # long enough for the others to ask meanwhile
            ledger.record(result, {"value": drawn(path)})
            print("drew", end=" ")
            result = charge(ledger, request)
        print(result.answer["value"])
        return


def opening(path: str, name: str) -> None:
    try:
        Ledger.create(path, name, Budget("1.0"))
    except LedgerError as error:
        print("refused" if "already open" in str(error) else error)
    else:
        print("opened")


if __name__ == "__main__":
    job, file, *rest = sys.argv[1:]
    start = Path(f"{file}.start")
    if job in ("race", "same", "open"):
        print("ready", flush=True)
        while not start.exists():
            time.sleep(0.001)
    {"release": release, "loop": loop, "spill": spill, "race": race, "same": same, "open": opening}[job](file, *rest)
