"""Scanning 10 million records against one DuckDB pass over the same column, and memory against rows."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb
from timing import most_memory

from guessproof.engines import open_engine
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan
from guessproof.scanning import scan

ROWS = 10_000_000
NUMBERS = "20 + 6.28 * sqrt(-2 * ln(random() + 1e-300)) * cos(2 * pi() * random())"
PLAN = """
[data]
name = "people"
source = "{source}"
protects = "values"
[query]
sql = "{sql}"
[columns.minutes]
bounds = [0, 120]
prior = {{ normal = {{ mean = 20, sd = 6.28 }} }}
[columns.faculty]
prior = {{ categorical = {{ math = 0.5, cs = 0.3, law = 0.2 }} }}
[attacker]
goal = "{goal}"
advantage = 0.05
"""
GOALS = {
    "minutes": ("minutes within 2", "SELECT SUM(minutes) AS s FROM t", "SELECT SUM(minutes) FROM t"),
    "faculty": (
        "faculty exactly",
        "SELECT COUNT(*) AS n FROM t WHERE faculty = 'cs'",
        "SELECT faculty, COUNT(*) FROM t GROUP BY faculty",
    ),
}


def rows() -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, ROWS)
        for source in ("people.duckdb", "people.parquet"):
            for column in GOALS:
                found += _compared(folder, source, column)
        peaks = [_peak(folder, count) for count in (1_000_000, 10_000_000)]
    found.append(("scan, peak memory at 1M / 10M rows", " / ".join(f"{p} MiB" for p in peaks), "flat"))
    return found


def make(folder: Path, count: int) -> None:
    """People with a number and a label each, as a database and as Parquet."""
    con = duckdb.connect(str(folder / "people.duckdb"))
    label = "CASE WHEN i % 10 < 5 THEN 'math' WHEN i % 10 < 8 THEN 'cs' ELSE 'law' END"
    con.execute(f"CREATE TABLE t AS SELECT ({NUMBERS})::DOUBLE AS minutes, {label} AS faculty FROM range({count}) r(i)")
    con.execute(f"COPY t TO '{folder / 'people.parquet'}' (FORMAT parquet)")
    con.close()
    Ledger.create(folder / "guessproof.ledger", "people", Budget("100"))


def planned(folder: Path, source: str, column: str) -> Plan:
    goal, sql, _ = GOALS[column]
    return loads_plan(PLAN.format(source=source, goal=goal, sql=sql), folder=folder)


def _compared(folder: Path, source: str, column: str) -> list[tuple[str, str, str]]:
    """A scan, one pass and a bare stream, in turns, so that a busy machine is busy for all of them."""
    plan, path, passed = planned(folder, source, column), str(folder / source), GOALS[column][2]

    def one_pass() -> None:
        with open_engine(path, "t") as engine:
            engine.aggregates(passed)

    def stream() -> int:
        with open_engine(path, "t") as engine:
            return sum(batch.column(0).null_count for batch in engine.batches(f'SELECT "{column}" FROM t'))

    work: dict[str, Callable[[], Any]] = {
        "scan": lambda: scan(plan, epsilon=5.0),
        "pass": one_pass,
        "stream": stream,
    }
    best = dict.fromkeys(work, float("inf"))
    for _ in range(7):
        for name, call in work.items():
            start = perf_counter()
            call()
            best[name] = min(best[name], perf_counter() - start)
    text = ", ".join(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in best.items())
    what = f"scan of 10M records, {column} in {source}: {text}"
    return [
        (f"{what}; × one DuckDB pass", f"{best['scan'] / best['pass']:.1f} ×", "≤ 3 ×"),
        (f"the same × a bare Arrow stream, {column} in {source}", f"{best['scan'] / best['stream']:.1f} ×", ""),
    ]


def _peak(folder: Path, count: int) -> int:
    """The largest memory of a process that scans so many rows, in MiB."""
    place = folder / str(count)
    place.mkdir()
    make(place, count)
    done = subprocess.run(
        [sys.executable, __file__, str(place)], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    return int(done.stdout)


if __name__ == "__main__":
    scan(planned(Path(sys.argv[1]), "people.parquet", "minutes"), epsilon=5.0)
    print(most_memory())
