"""VARIANCE, STDDEV and COUNT(DISTINCT): the formula against plain arithmetic, all neighbours against the guarantee."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from guessproof.guarantee import unit_named
from guessproof.intervals import Interval
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, analyze, find_target, formula, rewrite
from sql.running import run

COLUMNS = {
    "x": DeclaredColumn("x", bounds=(-2, 10)),
    "c": DeclaredColumn("c", levels=("a", "b", "d")),
    "k": DeclaredColumn("k", levels=("1", "2.5"), kind="number"),
    "g": DeclaredColumn("g", levels=("u", "v"), protected=False),
}
TYPES = {"x": "DOUBLE", "c": "VARCHAR", "k": "DOUBLE", "g": "VARCHAR"}
ARROW = {n: pa.string() if kind == "VARCHAR" else pa.float64() for n, kind in TYPES.items()}
EXPONENT = -30


def asked(question: AnalyzedQuery, rows: list[dict[str, Any]]) -> dict[Any, list[float]]:
    """The numbers behind the answer, without noise."""
    exponents = [0 if m.is_whole else EXPONENT for m in question.measurements]
    found = rewrite(question, exponents, find_target("duckdb", TYPES)).run(lambda sql: run(sql, rows, ARROW))
    scaled: dict[Any, list[float]] = {}
    for group, cells in found.items():
        each = zip(cells, exponents, strict=True)
        scaled[group] = [(unit or 0) * 2.0**exponent / (count or 1) for (unit, count), exponent in each]
    return scaled


@pytest.mark.parametrize("name", ["VAR_POP", "VARIANCE", "VAR_SAMP", "STDDEV_POP", "STDDEV", "STDDEV_SAMP"])
@pytest.mark.parametrize(
    "declared", [DeclaredTable("t", COLUMNS, rows=40), DeclaredTable("t", COLUMNS, unit_named("records"))]
)
def test_without_noise_the_formula_is_the_variance(name: str, declared: DeclaredTable) -> None:
    question = analyze(f"SELECT {name}(x) AS s FROM t", declared)
    rng = np.random.default_rng(4)
    values = [float(v) for v in rng.uniform(-2, 10, 40)]
    numbers = asked(question, [{"x": v} for v in values])[()]
    true = statistics.pvariance(values) if "POP" in name else statistics.variance(values)
    true = math.sqrt(true) if name.startswith("STD") else true
    shown = formula.evaluate(question.outputs[0].formula, dict(enumerate(numbers)))
    assert shown == pytest.approx(true, rel=1e-6)
    ranges = {j: Interval(v - 0.1, v + 0.1) for j, v in enumerate(numbers)}
    enclosed = formula.enclose(question.outputs[0].formula, ranges)
    assert enclosed.low <= true <= enclosed.high  # where every number is off by no more than that
    for _ in range(40):
        noisy = {j: v + float(rng.uniform(-0.1, 0.1)) for j, v in enumerate(numbers)}
        assert enclosed.low - 1e-9 <= formula.evaluate(question.outputs[0].formula, noisy) <= enclosed.high + 1e-9


def test_noise_can_never_make_a_variance_that_none_is() -> None:
    question = analyze("SELECT VAR_POP(x) AS s FROM t", DeclaredTable("t", COLUMNS, unit_named("records")))
    for numbers in itertools.product((-100.0, 0.0, 1e3), repeat=3):
        assert 0 <= formula.evaluate(question.outputs[0].formula, dict(enumerate(numbers))) <= 36 * (1 + 1e-9)


DISTINCT = ["COUNT(DISTINCT c)", "COUNT(DISTINCT k)", "COUNT(DISTINCT c) FILTER (WHERE k > 1)"]
VALUES = {"c": [None, "a", "b", "z"], "k": [None, 1.0, 2.5, 3.0]}


def count(what: str, rows: list[dict[str, Any]]) -> int:
    name = what[15]
    kept = [r for r in rows if "FILTER" not in what or (r["k"] is not None and r["k"] > 1)]
    return len({r[name] for r in kept if str(r[name]).removesuffix(".0") in ("a", "b", "d", "1", "2.5")})


@pytest.mark.parametrize("what", DISTINCT)
@pytest.mark.parametrize("unit", ["values", "records"])
def test_no_neighbours_move_a_count_of_levels_further_than_promised(what: str, unit: str) -> None:
    question = analyze(f"SELECT {what} AS n FROM t", DeclaredTable("t", COLUMNS, unit_named(unit)))
    guarantee = question.measurements[0].guarantee
    records = [{"c": c, "k": k} for c, k in itertools.product(*VALUES.values())]
    others = [[], *([r] for r in records[::3]), [records[5], records[10]]]
    tables = {(i, j): [*o, r] for i, o in enumerate(others) for j, r in enumerate(records)}
    counts = {key: count(what, rows) for key, rows in tables.items()}
    reached = 0
    for i, rest in enumerate(others):
        for (j, one), (k, other) in itertools.combinations(enumerate(records), 2):
            moved = abs(counts[i, j] - counts[i, k])
            reached = max(reached, moved)
            assert moved <= guarantee.between(one, other)
            changed = [n for n in ("c", "k") if one[n] != other[n]]
            if (
                len(changed) == 1
                and None not in (one[changed[0]], other[changed[0]])
                and changed[0] in guarantee.columns
            ):
                name = changed[0]
                pair = [o if isinstance(o, float) else np.asarray(o, dtype=object) for o in (one[name], other[name])]
                if "z" not in (one[name], other[name]):
                    assert moved <= float(guarantee.columns[name].distance(*pair))
            if unit == "records":
                assert abs(counts[i, j] - count(what, rest)) <= guarantee.presence
    assert reached == guarantee.change == 1.0


@pytest.mark.parametrize("what", DISTINCT)
def test_the_engine_counts_levels_as_the_model_does(what: str) -> None:
    question = analyze(f"SELECT g, {what} AS n FROM t GROUP BY g", DeclaredTable("t", COLUMNS))
    rng = np.random.default_rng(1)
    for _ in range(5):
        rows = [
            {"c": VALUES["c"][rng.integers(4)], "k": VALUES["k"][rng.integers(4)], "g": "uv"[rng.integers(2)]}
            for _ in range(int(rng.integers(1, 6)))
        ]
        found = {group[0]: numbers[0] for group, numbers in asked(question, rows).items()}
        assert found == {g: count(what, [r for r in rows if r["g"] == g]) for g in {r["g"] for r in rows}}
