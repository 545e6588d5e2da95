"""Persons: time against the plain query grouped by person, and error against a clamp of rows, at ε = 1.

`python benchmarks/persons.py [ROWS] [even|skewed]`. Two tables: even (five rows a person) and skewed (many few, some
thousands), ten groups. A clamp of rows keeps the first `max_rows` rows of each person, as others do; both get Laplace
noise for the presence of a person, so that only what is cut off and how long it takes differ. Queries take turns; time
is that of computing, over both threads, so that other programs on the machine change little.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import duckdb

from guessproof.guarantee import Persons
from guessproof.sql import DeclaredColumn, DeclaredTable, analyze, find_target, rewrite

GROUPS = tuple(f"g{i}" for i in range(10))
COLUMNS = {"x": DeclaredColumn("x", bounds=(0, 30), missing=False), "g": DeclaredColumn("g", levels=GROUPS)}
TYPES = {"person": "BIGINT", "g": "VARCHAR", "x": "DOUBLE"}
TABLES = {
    "even": "CAST(random() * {persons} AS BIGINT)",
    "skewed": "CAST(power(random(), 4) * {persons} AS BIGINT)",
}
MOST = 10
ROUNDS = 2


def main(rows: int, *names: str) -> None:
    """Both tables, with and without groups."""
    for name, person in ((name, TABLES[name]) for name in names or TABLES):
        con = duckdb.connect(":memory:", config={"threads": 2})
        chosen = person.format(persons=rows // 5)
        con.execute(
            f"CREATE TABLE t AS SELECT {chosen} AS person, 'g' || CAST(floor(random() * 10) AS INT) AS g, "
            f"random() * 30 AS x FROM range({rows})"
        )
        for by in ("", "g"):
            report(con, name, by)


def report(con: duckdb.DuckDBPyConnection, name: str, by: str) -> None:
    """One line: times, their ratio, and root mean squared errors of SUM over the groups."""
    keys = f"{by}, " if by else ""
    plain = f"SELECT {keys}SUM(s) FROM (SELECT person, {keys}SUM(x) AS s FROM t GROUP BY ALL) GROUP BY ALL"
    question = analyze(
        f"SELECT {keys}SUM(x) AS s FROM t{f' GROUP BY {by}' if by else ''}",
        DeclaredTable("t", COLUMNS, Persons("person", MOST)),
    )
    exponent = -20
    ours = rewrite(question, [exponent], find_target("duckdb", TYPES)).sql
    clamp = (
        f"SELECT {keys}SUM(x) FROM (SELECT *, row_number() OVER (PARTITION BY person) AS n FROM t) WHERE n <= {MOST} "
        "GROUP BY ALL"
    )
    found = best(con, {"plain": plain, "ours": ours, "clamp": clamp})
    truth = {row[:-1]: float(row[-1]) for row in found["plain"][1]}
    noise = math.sqrt(2) * MOST * 30  # ε = 1 for adding or removing a person
    errors = {
        label: math.sqrt(
            sum((float(row[-1]) * scale - truth[row[:-1]]) ** 2 for row in found[label][1]) / len(truth) + noise**2
        )
        for label, scale in (("ours", 2.0**exponent), ("clamp", 1.0))
    }
    seconds = {label: taken for label, (taken, _) in found.items()}
    times = {label: f"{s:.2f} s ({s / seconds['plain']:.2f} ×)" for label, s in seconds.items()}
    print(
        f"{name:7s} {'by group' if by else 'in all':9s} plain by person {seconds['plain']:.2f} s · persons "
        f"{times['ours']}, RMSE {errors['ours']:.4g} · rows clamped {times['clamp']}, RMSE {errors['clamp']:.4g}",
        flush=True,
    )


def best(con: duckdb.DuckDBPyConnection, queries: dict[str, str]) -> dict[str, tuple[float, list[tuple[Any, ...]]]]:
    """Of each query, by turns: the least time of computing, and the rows."""
    found = {label: (math.inf, list[tuple[Any, ...]]()) for label in queries}
    for _ in range(ROUNDS):
        for label, sql in queries.items():
            start = time.process_time()
            rows = con.execute(sql).fetchall()
            found[label] = (min(found[label][0], time.process_time() - start), rows)
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000, *sys.argv[2:])
