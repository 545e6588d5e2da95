"""Releases through a local Spark with one core and with two: the rewritten query, the whole release, the memory here.

The table is a folder of eight files. Every session is a process of its own; its start and its first queries, in which
Spark compiles, are not counted. Query and release take turns. A release of a question that this process has asked
before needs no dry run anew, one of a new question does, and Spark compiles its query the first time; both are told.
What rows cost is the slope between two sizes:
planning and starting a job take the same time on any number of cores.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
from timing import most_memory

Row = tuple[str, str, str]
SIZES = (1_000_000, 10_000_000)
REPEATS, WARM, FILES = 5, 3, 8
PLAN = """
[data]
name = "bench"
engine = "spark"
source = "{source}"
table = "t"
protects = "records"
[query]
sql = "SELECT faculty, SUM(salary) AS s, COUNT(*) AS n FROM t WHERE time <= {limit} GROUP BY faculty"
[columns.time]
bounds = [0, 120]
[columns.salary]
bounds = [0, 20000]
[columns.faculty]
levels = ["arts", "cs", "law", "math", "physics"]
[release]
epsilon = {epsilon}
ledger = "bench.ledger"
"""
MADE = """
COPY (SELECT (i * 7919) % 12000 / 100.0 AS time, ((i * 104729) % 2000000) / 100.0 AS salary,
  ['arts', 'cs', 'law', 'math', 'physics'][1 + i % 5] AS faculty FROM range({first}, {last}) AS r(i)) TO '{path}'
"""


def rows() -> Iterator[Row]:
    """What was measured, as rows for the table."""
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            make(Path(folder) / str(size), size)
        found = {(cores, size): _measured(folder, cores, size) for cores in (1, 2) for size in SIZES}
    for (cores, size), seen in found.items():
        what = f"release through Spark, {size // 1_000_000}M rows, local, {cores} core{'s' if cores > 1 else ''}"
        target = f"≤ 1.2 × the rewritten query + 20 ms: {1.2 * seen['query'] + 0.02:.2f} s"
        yield what, f"{seen['release']:.2f} s (the query alone {seen['query']:.2f} s)", target
        beside = f"the first time that its query runs {seen['first']:.2f} s, the rest is mostly its dry run"
        yield f"{what}, a new question", f"{seen['new']:.2f} s ({beside})", ""
    for size in SIZES:
        one, two = found[1, size]["query"], found[2, size]["query"]
        yield f"the rewritten query, {size // 1_000_000}M rows: one core against two", f"{one / two:.2f} ×", "2 ×"
    one, two = (found[c, SIZES[1]]["query"] - found[c, SIZES[0]]["query"] for c in (1, 2))
    yield "what its rows cost, without what any query costs: one core against two", f"{one / two:.2f} ×", "2 ×"
    memory = " / ".join(f"{found[2, size]['memory']} MB" for size in SIZES)
    yield "most memory of the client, 1M / 10M rows", memory, "flat"


def make(folder: Path, size: int) -> None:
    """A table of several files, the same every time."""
    folder.mkdir()
    part = size // FILES
    with duckdb.connect() as con:
        for k in range(FILES):
            con.execute(MADE.format(first=k * part, last=(k + 1) * part, path=folder / f"{k}.parquet"))


def _measured(folder: str, cores: int, size: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, folder, str(cores), str(size)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def work(folder: Path, cores: int, size: int) -> dict[str, Any]:
    """In a process of its own: the best of a few."""
    from guessproof.choosing import choose
    from guessproof.engines import open_engine, spark_session
    from guessproof.ledger import Budget, Ledger
    from guessproof.plan import loads_plan
    from guessproof.releasing import prepare_query, release

    spark_session.LOCAL["spark.master"] = f"local[{cores}]"
    book = folder / f"{cores}-{size}.ledger"
    Ledger.create(book, "bench", Budget("1e6"))
    time.sleep(2)  # what is known of files is kept once they are a little old

    def plan(epsilon: float, limit: float = 25) -> Any:
        return loads_plan(PLAN.format(source=size, epsilon=epsilon, limit=limit), folder=folder)

    def released(number: int, limit: float = 25) -> float:
        asked = plan(1 + number / 64, limit)
        chosen = choose(asked)
        return _timed(lambda: release(asked, choice=chosen, ledger=book))

    for number in range(WARM):
        released(number, 30 + number)
    with open_engine(plan(1).source, "t") as engine:

        def prepared(limit: float) -> Any:
            (part,) = choose(plan(1, limit)).asked.parts
            return prepare_query(engine, part.query, [0] * len(part.query.measurements))

        rewritten = prepared(25)
        query, whole, new, first = [], [], [], []
        for turn in range(WARM, WARM + REPEATS + 1):
            query.append(_timed(lambda: rewritten.run(engine.aggregates)))
            whole.append(released(turn))
            new.append(released(turn, 40 + turn))
            unknown = prepared(80 + turn)
            first.append(_timed(lambda asked=unknown: asked.run(engine.aggregates)))
    least = {"query": query, "release": whole, "new": new, "first": first}
    return {**{name: min(found) for name, found in least.items()}, "memory": most_memory()}


def _timed(act: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(work(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
        sys.exit()
    for line in rows():
        print(*line, sep=" | ", flush=True)
