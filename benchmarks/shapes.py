"""Persons, joins and quantiles on a million rows: time beside error, and other libraries at the same ε.

Persons come in an even table (five rows each) and a skewed one (two to forty rows). The error is the root of the mean
square over groups and releases, bias included: what a bound cuts off counts as much as noise does.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from timing import shown

from guessproof import releasing as room
from guessproof.choosing import choose
from guessproof.engines import open_engine
from guessproof.ledger import Budget, Ledger
from guessproof.plan import plan_of

Row = tuple[str, str, str]
ROWS = int(os.environ.get("GUESSPROOF_ROWS", "1000000"))
GROUPS, RELEASES = 10, 12
LEVELS = [f"g{i}" for i in range(GROUPS)]
COUNT = "SELECT g, COUNT(*) AS a FROM t GROUP BY g"
SUM = "SELECT g, SUM(x) AS a FROM t GROUP BY g"
PERSONS = "SELECT SUM(a) FROM (SELECT person, g, SUM(x) AS a FROM t GROUP BY person, g)"
CAPS = {"even": (5,), "skewed": (30, 40)}
JOIN = "SELECT SUM(t.x * k.rate) AS a FROM t JOIN k ON t.code = k.code"
MEDIAN = "SELECT MEDIAN(x) AS a FROM t"


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shape in CAPS:
            make(folder / f"{shape}.duckdb", shape)
            for cap in CAPS[shape]:
                yield from _persons(folder, shape, cap)
            yield from _peers(folder, shape)
        yield from _join(folder, "code")
        yield from _join(folder, "name")
        yield from _quantile(folder)


def make(path: Path, shape: str) -> None:
    """Rows of persons in groups, with a number in [0, 100] and a code of a public table; the same every time."""
    often = "5" if shape == "even" else "2 + floor(38 * power(random(), 4))"
    with duckdb.connect(str(path)) as con:
        con.execute("SET threads = 1")
        con.execute("SELECT setseed(0.25)")
        con.execute(f"CREATE TABLE p AS SELECT i AS person, ({often})::INTEGER AS n FROM range({ROWS}) r(i)")
        con.execute(
            "CREATE TABLE t AS SELECT person, 'g' || (floor(10 * power(random(), 2)))::INTEGER AS g, "
            "round(100 * random(), 2) AS x, (hash(i) % 1000)::INTEGER AS code, 'k' || (hash(i) % 1000) AS name "
            f"FROM (SELECT person, unnest(range(n)) AS i FROM p LIMIT {ROWS})"
        )
        kept = "i::INTEGER AS code, 'k' || i AS name, 0.5 + (i % 4) / 2.0 AS rate"
        con.execute(f"CREATE TABLE k AS SELECT {kept} FROM range(1000) r(i)")
        con.execute("DROP TABLE p")


def _persons(folder: Path, shape: str, cap: int) -> Iterator[Row]:
    for work, sql in (("COUNT by group", COUNT), ("SUM by group", SUM)):
        data = {"protects": "persons", "person": "person", "max_rows": cap}
        plan = _plan(folder, shape, sql, data, {"g": {"levels": LEVELS}, "x": {"bounds": [0, 100]}})
        (ours, grouped, plain), error = _compared(folder, plan, sql)
        title = f"persons, {shape}, cap {cap}, {work}"
        yield f"{title}: RMSE", f"{error:.4g}", ""
        yield f"{title}: rewritten query", shown(ours), ""
        yield f"{title}: rewritten / plain grouped by person", f"{ours / grouped:.2f} ×", "≤ 3 ×"
        yield f"{title}: rewritten / plain", f"{ours / plain:.1f} ×", ""


def _join(folder: Path, key: str) -> Iterator[Row]:
    columns = {"x": {"bounds": [0, 100], "missing": False}}
    tables = {"k": {"key": [key], "columns": {"rate": {"bounds": [0.5, 2]}}}}
    sql = JOIN.replace("code", key)
    plan = _plan(folder, "even", sql, {"protects": "values"}, columns, tables)
    (ours, _, plain), _ = _compared(folder, plan, sql)
    kind = "whole numbers" if key == "code" else "texts"
    yield f"join with a public table on {kind}, SUM: rewritten / plain join", f"{ours / plain:.2f} ×", "≤ 1.5 ×"


def _quantile(folder: Path) -> Iterator[Row]:
    columns = {"x": {"bounds": [0, 100], "step": 0.1, "missing": False}}
    plan = _plan(folder, "even", MEDIAN, {"protects": "values"}, columns)
    (ours, one, plain), error = _compared(folder, plan, MEDIAN, "SELECT SUM(x), COUNT(*) FROM t WHERE x >= 0")
    yield "MEDIAN on a grid of 1001 values: rewritten / one pass (SUM)", f"{ours / one:.2f} ×", "≤ 3 ×"
    yield "MEDIAN: rewritten / plain MEDIAN", f"{ours / plain:.2f} ×", ""
    yield "MEDIAN: RMSE", f"{error:.4g}", ""


def _compared(folder: Path, plan: Any, sql: str, beside: str = PERSONS) -> tuple[list[float], float]:
    """Seconds of the rewritten query, of one beside it (by person) and of the plain one, in turns; and the error."""
    source = Path(plan.source)
    choice = choose(plan)
    with open_engine(plan.source, plan.data.table, public=plan.public_sources) as engine:
        rewritten = room.prepare_query(engine, choice.question, [n.grid.exponent for n in choice.noises]).statements
    with duckdb.connect(str(source), read_only=True) as con:
        asked = (rewritten, (beside,), (sql,))
        works = [lambda queries=queries: [con.execute(q).fetchall() for q in queries] for queries in asked]
        seconds = _turns(works)
        truth = {tuple(map(str, row[:-1])): float(row[-1]) for row in con.execute(sql).fetchall()}
    misses: list[float] = []
    for _ in range(RELEASES):
        answer = room.release(plan, choice=choice, ledger=_ledger(folder))
        misses += [a.value - truth[tuple(map(str, a.group.values()))] for a in answer.answers if a.value is not None]
    return seconds, math.sqrt(statistics.fmean(m * m for m in misses))


def _plan(
    folder: Path,
    shape: str,
    sql: str,
    data: Mapping[str, Any],
    columns: Mapping[str, Any],
    tables: Mapping[str, Any] | None = None,
) -> Any:
    written = {
        "data": {"name": "bench", "source": str(folder / f"{shape}.duckdb"), "table": "t", **data},
        "query": {"sql": sql},
        "columns": dict(columns),
        # ε = 2 for a change is ε = 1 for adding or removing a person, which is what the others mean by it
        "release": {"epsilon": 2.0 if data["protects"] == "persons" else 1.0, "ledger": "bench.ledger"},
    }
    return plan_of(written | ({"tables": dict(tables)} if tables else {}))


def _peers(folder: Path, shape: str) -> Iterator[Row]:
    path = folder / f"{shape}.parquet"
    with duckdb.connect(str(folder / f"{shape}.duckdb"), read_only=True) as con:
        con.execute(f"COPY t TO '{path}'")
        truth = {w: dict(con.execute(sql).fetchall()) for w, sql in (("COUNT", COUNT), ("SUM", SUM))}
    script = str(Path(__file__).with_name("peers_persons.py"))
    others = os.environ.get("GUESSPROOF_PEERS", "").split(os.pathsep)
    answered: set[tuple[str, str, int]] = set()
    for python in filter(None, (sys.executable, *others)):
        command = [python, script, str(path), *map(str, CAPS[shape])]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
        for line in map(json.loads, done.stdout.splitlines()):
            key = line["peer"], line["work"], line["cap"]
            if "reason" in line and key[1] == "COUNT":
                yield f"persons, {shape}, cap {key[2]}, {key[0]}: no answer", line["reason"][:90], ""
            if "seconds" in line and key not in answered:
                answered.add(key)
                error = math.sqrt(np.mean([(a[g] - truth[key[1]][g]) ** 2 for a in line["answers"] for g in a]))
                title = f"persons, {shape}, cap {key[2]}, {key[1]} by group, {key[0]}"
                yield title, f"{shown(line['seconds'])}, RMSE {error:.4g}", ""


def _ledger(folder: Path) -> Path:
    path = Path(tempfile.mkdtemp(dir=folder)) / "bench.ledger"
    Ledger.create(path, "bench", Budget(10.0))
    return path


def _turns(works: list[Callable[[], Any]], repeats: int = 5) -> list[float]:
    """The least time of each, taken in turns, so that a disturbance meets all of them."""
    least = [math.inf] * len(works)
    for _ in range(repeats):
        for place, work in enumerate(works):
            start = time.perf_counter()
            work()
            least[place] = min(least[place], time.perf_counter() - start)
    return least


if __name__ == "__main__":
    for what, value, target in rows():
        print(f"{what:85} {value:>24} {target}", flush=True)
