"""Releases on 1 and 10 million rows of a DuckDB file: the plain query, the rewritten one, the whole release; peers.

What does not depend on the rows (choosing the noise) is measured on its own. Every time is for a newly opened file,
as a single command would open it. Peers that do not live with our versions run under other Pythons, whose paths the
environment variable GUESSPROOF_PEERS names, with ":" between them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
from timing import most_memory, shown

from guessproof import releasing as room
from guessproof.choosing import choose
from guessproof.engines import open_engine
from guessproof.ledger import Budget, Ledger
from guessproof.plan import load_plan

Row = tuple[str, str, str]
SIZES = (1_000_000, 10_000_000)
FACULTIES = ("arts", "cs", "law", "math", "physics")
KEYS = "[columns.faculty]\npublic = true\nlevels = [" + ", ".join(f'"{name}"' for name in FACULTIES) + "]"
PLAN = """
[data]
name = "bench"
source = "{source}"
table = "t"
protects = "{protects}"
{rows}
[query]
sql = "{sql}"
[columns.time]
bounds = [0, 120]
prior = {{ normal = {{ mean = 20, sd = 6.28 }} }}
[columns.salary]
bounds = [0, 20000]
{keys}
[release]
epsilon = 1.0
ledger = "bench.ledger"
"""
WORKS = {
    "AVG WHERE, values": ("values", "SELECT AVG(time) AS a FROM t WHERE faculty = 'math'"),
    "COUNT WHERE, values": ("values", "SELECT COUNT(*) AS n FROM t WHERE time <= 25"),
    "SUM, records": ("records", "SELECT SUM(salary) AS s FROM t"),
    "SUM by group, values": ("values", "SELECT faculty, SUM(salary) AS s FROM t GROUP BY faculty"),
}


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in SIZES:
            make(folder / f"{size}.duckdb", size)
            for work, (protects, sql) in WORKS.items():
                yield from _work(f"{size // 10**6}M rows, {work}", folder, size, protects, sql)
        yield from _memory(folder)
        yield from _peers(folder)


def make(path: Path, size: int) -> None:
    """A table of people, the same every time: one thread, a fixed seed, some values outside the bounds."""
    spread = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
    names = ", ".join(f"'{name}'" for name in FACULTIES)
    with duckdb.connect(str(path)) as con:
        con.execute("SET threads = 1")
        con.execute("SELECT setseed(0.5)")
        con.execute(
            f"CREATE TABLE t AS SELECT i AS id, [{names}][1 + (hash(i) % 5)::INTEGER] AS faculty, "
            f"20 + 6.28 * {spread} AS time, exp(8 + 0.7 * {spread}) AS salary, "
            f"(18 + floor(random() * 70))::INTEGER AS age FROM range({size}) r(i)"
        )


def _work(title: str, folder: Path, size: int, protects: str, sql: str) -> Iterator[Row]:
    plan = _plan(folder, size, protects, sql)
    start = time.perf_counter()
    choice = choose(plan)
    chosen = time.perf_counter() - start
    with _opened(plan) as engine:
        rewritten = room.prepare_query(engine, choice.question, [n.grid.exponent for n in choice.noises]).sql
        warm, warm_plain = _each(lambda: engine.aggregates(rewritten), lambda: engine.aggregates(sql), repeats=7)

    def asked(query: str) -> Any:
        with _opened(plan) as engine:
            return engine.aggregates(query)

    ledgers = iter([_ledger(folder) for _ in range(9)])
    whole, run = _each(
        lambda: room.release(plan, choice=choice, ledger=next(ledgers)), lambda: asked(rewritten), repeats=7
    )
    yield f"{title}: plain query, file open", shown(warm_plain), ""
    yield f"{title}: rewritten / plain", f"{warm / warm_plain:.2f} ×", "≤ 1.5 ×"
    yield f"{title}: open and run the rewritten query", shown(run), ""
    yield f"{title}: release after the choice", shown(whole), f"≤ {(1.2 * run + 0.020) * 1e3:.0f} ms"
    if size == SIZES[0]:
        yield f"{title}: choosing the noise, no table", shown(chosen), ""


def _plan(folder: Path, size: int, protects: str, sql: str) -> Any:
    count = f"rows = {size // 10}" if protects == "values" and "AVG" in sql else ""
    keys = KEYS if "GROUP BY" in sql else ""
    text = PLAN.format(source=folder / f"{size}.duckdb", protects=protects, rows=count, sql=sql, keys=keys)
    path = folder / "plan.toml"
    path.write_text(text)
    return load_plan(path)


def _opened(plan: Any) -> Any:
    return open_engine(plan.source, plan.data.table)


def _ledger(folder: Path) -> Path:
    """A new book for each release, for the same request would be answered from the record."""
    path = Path(tempfile.mkdtemp(dir=folder)) / "bench.ledger"
    Ledger.create(path, "bench", Budget(10.0))
    return path


def _each(*works: Callable[[], Any], repeats: int) -> list[float]:
    """The least time of each work, taken in turns, so that a disturbance meets all of them."""
    least = [float("inf")] * len(works)
    for _ in range(repeats):
        for place, work in enumerate(works):
            start = time.perf_counter()
            work()
            least[place] = min(least[place], time.perf_counter() - start)
    return least


def _memory(folder: Path) -> Iterator[Row]:
    """The most memory that a process takes which releases once, small table and large."""
    peaks: list[int] = []
    for size in SIZES:
        _plan(folder, size, *WORKS["AVG WHERE, values"])
        command = [sys.executable, __file__, str(folder / "plan.toml"), str(_ledger(folder))]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        yield f"{size // 10**6}M rows: most memory of a process that releases", f"{peaks[-1]} MB", ""
    yield "more memory for 10 × the rows", f"{peaks[1] - peaks[0]} MB", "≤ 200 MB"


def _peers(folder: Path) -> Iterator[Row]:
    path = folder / "table.parquet"
    with duckdb.connect(str(folder / f"{SIZES[0]}.duckdb"), read_only=True) as con:
        con.execute(f"COPY t TO '{path}'")
    script = str(Path(__file__).with_name("peers.py"))
    others = os.environ.get("GUESSPROOF_PEERS", "").split(os.pathsep)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for python in filter(None, (sys.executable, *others)):
        done = subprocess.run([python, script, str(path)], check=False, capture_output=True, text=True)
        for line in map(json.loads, done.stdout.splitlines()):
            key = line["peer"], line.get("work", "")
            found.setdefault(key, line)
            if "seconds" in line:
                found[key] = line
    answered = {peer for (peer, work), line in found.items() if work and "seconds" in line}
    for (peer, work), line in found.items():
        if "seconds" in line:
            yield f"1M rows, {peer}: {work}", shown(line["seconds"]), ""
        elif peer not in answered:
            yield f"1M rows, {peer}: left out, {line['reason']}", "", ""


def _release_once(plan: str, ledger: str) -> None:
    room.release(load_plan(plan), ledger=ledger)
    print(most_memory())


if __name__ == "__main__":
    if len(sys.argv) == 3:
        _release_once(*sys.argv[1:])
    else:
        for what, value, target in rows():
            print(f"{what:75} {value:>12} {target}", flush=True)
