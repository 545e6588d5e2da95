"""Numeric group keys beside text keys: the rewritten query over the plain one, by turns, in time of computing."""

from __future__ import annotations

import statistics
import time

import duckdb

from guessproof.guarantee import RECORDS
from guessproof.sql import DeclaredColumn, DeclaredTable, analyze, find_target, rewrite

ROWS, LEVELS, TURNS = 20_000_000, 12, 5


def main() -> None:
    """Medians of several turns, in turn about."""
    con = duckdb.connect(config={"threads": 2})
    levels = tuple(str(k) for k in range(LEVELS))
    con.execute(
        f"CREATE TABLE t AS SELECT CAST(range % {LEVELS} AS DOUBLE) AS n, CAST(range % {LEVELS} AS VARCHAR) AS c, "
        f"random() * 100 AS x FROM range({ROWS})"
    )
    stored = {"n": "DOUBLE", "c": "VARCHAR", "x": "DOUBLE"}
    queries: dict[str, str] = {}
    for name, kind in (("n", "number"), ("c", "label")):
        columns = {name: DeclaredColumn(name, levels=levels, kind=kind), "x": DeclaredColumn("x", bounds=(0, 100))}
        sql = f"SELECT {name}, COUNT(*) AS k, SUM(x) AS s FROM t GROUP BY {name}"
        question = analyze(sql, DeclaredTable("t", columns, RECORDS))
        queries[f"{kind}, plain"] = sql
        queries[f"{kind}, rewritten"] = rewrite(question, [0, -10], find_target("duckdb", stored)).sql
    taken: dict[str, list[float]] = {name: [] for name in queries}
    for _ in range(TURNS):
        for name, sql in queries.items():
            start = time.process_time()
            con.execute(sql).fetchall()
            taken[name].append(time.process_time() - start)
    middle = {name: statistics.median(found) for name, found in taken.items()}
    for name, seconds in middle.items():
        print(f"{name:20} {seconds * 1000:8.1f} ms   {seconds / middle[name.split(',')[0] + ', plain']:5.2f} × plain")


if __name__ == "__main__":
    main()
