"""Releases through a local Spark with one core and with two: the rewritten query, the whole release, the memory here.

Every session is a process of its own; its start and its first query, in which Spark compiles, are not counted.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb

Row = tuple[str, str, str]
SIZES = (1_000_000, 10_000_000)
REPEATS = 3
PLAN = """
[data]
name = "bench"
engine = "spark"
source = "{source}"
table = "t"
protects = "records"
[query]
sql = "SELECT faculty, SUM(salary) AS s, COUNT(*) AS n FROM t WHERE time <= 25 GROUP BY faculty"
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
  ['arts', 'cs', 'law', 'math', 'physics'][1 + i % 5] AS faculty FROM range({rows}) AS r(i)) TO '{path}'
"""


def rows() -> Iterator[Row]:
    """What was measured, as rows for the table."""
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            with duckdb.connect() as con:
                con.execute(MADE.format(rows=size, path=Path(folder) / f"{size}.parquet"))
        found = {(cores, size): _measured(folder, cores, size) for cores in (1, 2) for size in SIZES}
    for (cores, size), seen in found.items():
        what = f"release through Spark, {size // 1_000_000}M rows, local, {cores} core{'s' if cores > 1 else ''}"
        target = f"≤ 1.2 × the rewritten query + 20 ms: {1.2 * seen['query'] + 0.02:.2f} s"
        yield what, f"{seen['release']:.2f} s (the query alone {seen['query']:.2f} s)", target
    for size in SIZES:
        one, two = found[1, size]["query"], found[2, size]["query"]
        yield f"the rewritten query, {size // 1_000_000}M rows: one core against two", f"{one / two:.2f} ×", "2 ×"
    memory = " / ".join(f"{found[2, size]['memory']} MB" for size in SIZES)
    yield "most memory of the client, 1M / 10M rows", memory, "flat"


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
    plans = [loads_plan(PLAN.format(source=f"{size}.parquet", epsilon=1 + i / 8), folder=folder) for i in range(8)]
    choices = [choose(plan) for plan in plans]
    release(plans[0], choice=choices[0], ledger=book)  # warms up
    with open_engine(plans[1].source, "t") as engine:
        (part,) = choices[1].asked.parts
        rewritten = prepare_query(engine, part.query, [0] * len(part.query.measurements))
        query = min(_timed(lambda: rewritten.run(engine.aggregates)) for _ in range(REPEATS + 1))
    numbers = range(1, 1 + REPEATS)
    whole = min(_timed(lambda i=i: release(plans[i], choice=choices[i], ledger=book)) for i in numbers)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"query": query, "release": whole, "memory": memory}


def _timed(act: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(json.dumps(work(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
