"""The least of several timings: what the work costs when nothing else disturbs it; and how much memory it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def seconds(work: Callable[[], Any], *, repeats: int = 7, at_least: float = 0.05) -> float:
    """Seconds for one call, the best of several rounds."""
    start = time.perf_counter()
    work()
    once = max(time.perf_counter() - start, 1e-9)
    calls = max(1, round(at_least / once))
    rounds = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        rounds.append((time.perf_counter() - start) / calls)
    return min(rounds)


def shown(value: float) -> str:
    """A time in the unit that suits it."""
    return f"{value * 1e3:.2f} ms" if value < 1 else f"{value:.2f} s"


def most_memory() -> int:
    """The most memory that this process has held so far, in MB.

    From /proc: what getrusage tells begins with the size of the process that started this one.
    """
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) // 1024
