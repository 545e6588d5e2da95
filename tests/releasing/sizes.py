"""Tables of every size: what the engine finds is what Python's integers say, at every ε, so that no size fails.

An answer that is charged must not depend on anything but the noise: a table with one row more must neither overflow
nor be counted in another way. The sizes lie around every power of two that whole numbers of some width end at.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from guessproof.choosing import choose
from guessproof.engines import open_engine
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import prepare_query, release

QUERIES = [
    "COUNT(*)",
    "COUNT(x)",
    "COUNT(*) FILTER (WHERE k < 2)",
    "SUM(x)",
    "SUM(k)",
    "AVG(x)",
    "MIN(x)",
    "MAX(x)",
    "SUM(CASE WHEN k = 1 THEN 1 ELSE 0 END)",
]
MECHANISMS = ["laplace", "geometric", "gaussian", "cauchy"]
PLAN = """
[data]
name = "sizes"
source = "sizes.duckdb"
table = "t{size}"
protects = "records"
[query]
sql = "SELECT {what} AS a FROM t{size}{where}"
[columns.x]
bounds = [-1e6, 1e6]
[columns.k]
bounds = [0, 3]
[release]
epsilon = {epsilon!r}
mechanism = "{mechanism}"
"""


def write_tables(place: Path, sizes: Sequence[int]) -> Path:
    """One table of each size."""
    with duckdb.connect(str(place / "sizes.duckdb")) as con:
        for size in sizes:
            x = "CAST(i % 4 AS DOUBLE) * CAST('333333.3' AS DOUBLE)"
            con.execute(f"CREATE TABLE t{size} AS SELECT i % 4 AS k, {x} AS x FROM range({size}) r(i)")
    return place


def plan_of(folder: Path, **words: Any) -> Plan:
    mechanism = words["mechanism"]
    delta = "delta = 1e-6\n" if mechanism == "gaussian" else ""
    return loads_plan(PLAN.format(**words) + delta, folder=folder)


def expected(what: str, size: int, exponent: int, only: int | None) -> int:
    """The same in exact integers: each row is rounded to the grid, then all are added."""
    counts = {k: size // 4 + (k < size % 4) for k in range(4) if only in (None, k)}
    unit = Fraction(2) ** exponent

    def units(value: float) -> int:
        return round(Fraction(value) / unit)

    there = [k for k, n in counts.items() if n]
    if what.startswith("COUNT(*) FILTER"):
        return units(sum(n for k, n in counts.items() if k < 2))
    if what.startswith("COUNT"):
        return units(sum(counts.values()))
    if what.startswith(("SUM(CASE", "SUM(k")):
        return sum(n * units(float(k == 1 if "CASE" in what else k)) for k, n in counts.items())
    if what.startswith("SUM"):
        return sum(n * units(k * 333333.3) for k, n in counts.items())
    far = 1e6 if what.startswith("MIN") else -1e6
    return units((min if what.startswith("MIN") else max)((k * 333333.3 for k in there), default=far))


def check_addition(folder: Path, sizes: Sequence[int], seed: int) -> None:
    """The engine adds what Python adds, for a drawn query at a drawn ε."""
    draw = random.Random(seed)
    size, what, mechanism = draw.choice(sizes), draw.choice(QUERIES), draw.choice(MECHANISMS)
    only = draw.choice([None, None, 1])
    if mechanism == "geometric" and not what.startswith(("COUNT", "SUM(CASE")):
        mechanism = "laplace"  # a column of numbers need not hold whole ones
    epsilon = 10 ** draw.uniform(-6, 9)
    where = "" if only is None else f" WHERE k = {only}"
    plan = plan_of(folder, size=size, what=what, where=where, epsilon=epsilon, mechanism=mechanism)
    choice = choose(plan)
    exponents = [n.grid.exponent for n in choice.noises]
    with open_engine(plan.source, plan.data.table) as engine:
        rewritten = prepare_query(engine, choice.question, exponents)
        [cells] = rewritten.read(engine.aggregates(rewritten.sql)).values()
    for (found, _), measurement, exponent in zip(cells, choice.question.measurements, exponents, strict=True):
        assert found == expected(measurement.text, size, exponent, only)


def check_count(folder: Path, size: int, mechanism: str, epsilon: float) -> None:
    """A count is released, near the number of rows."""
    plan = plan_of(folder, size=size, what="COUNT(*)", where="", epsilon=epsilon, mechanism=mechanism)
    ledger = folder / "guessproof.ledger"
    ledger.unlink(missing_ok=True)
    Ledger.create(ledger, "sizes", Budget("1e10", "0.1"))
    answer = release(plan, ledger=ledger).answers[0]
    assert answer.value is not None
    assert answer.error is not None
    assert abs(answer.value - size) <= 30 * answer.error + 1e-3
