"""A scan says of every record what asking about it by itself says."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guessproof.plan import Plan
from guessproof.scanning import Scan, scan
from scanning.making import alone, made, text

NUMBERS: list[float | None] = [
    20.0, 20.0, 13.5, 0.0, -0.0, 120.0, 45.0, -17.66, 60.0, 300.0, -1e9,
    None, math.nan, math.inf, -math.inf, 1e200, 0.1 + 0.2,
]  # fmt: skip

LINES = {
    "normal": ('bounds = [0, 120]\nprior = { normal = { mean = 20, sd = 6.28 } }', "x within 2"),
    "percent": ('bounds = [0, 120]\nprior = { normal = { mean = 20, sd = 6.28 } }', "x within 10%"),
    "uniform": ('bounds = [0, 60]\nprior = { uniform = { low = 0, high = 60 } }', "x within 5"),
    "gap": (
        'bounds = [0, 120]\nprior = { histogram = { edges = [0, 10, 30, 60, 120], weights = [0.3, 0, 0.6, 0.1] } }',
        "x within 4",
    ),
    "laplace": ('bounds = [0, 120]\nprior = { laplace = { mean = 20, scale = 5 } }', "x within 2"),
    "wide": ("bounds = [0, 120]\nprior = { normal = { mean = 20, sd = 6.28 } }", "x within 9"),
    "exponential": ('bounds = [0, 120]\nprior = { exponential = { scale = 15 } }', "x within 2"),
}  # fmt: skip


def judged(plan: Plan, found: Scan, truths: list[dict[str, Any]], epsilon: float) -> list[tuple[float, float]]:
    """The counts agree with the slow way; its answers, for the records that have one."""
    slow = [alone(plan, at, epsilon) for at in truths]
    assert found.rows == len(truths)
    for reason, count in (("missing", found.missing), ("infinite", found.infinite), ("outside", found.outside)):
        assert slow.count(reason) == count, reason
    answers = [s for s in slow if not isinstance(s, str)]
    assert found.judged == len(answers)
    assert sum(b.count for b in found.histogram) == len(answers)
    return answers


def check_ranks(found: Scan, answers: list[tuple[float, float]]) -> None:
    """Every order statistic lies within its enclosure: no proven bound lies below it, no attack above."""
    lows, highs = (sorted(side) for side in zip(*answers, strict=True))
    for level, (low, high) in found.quantiles.items():
        rank = max(1, math.ceil(level * len(answers) - 1e-9)) - 1
        assert low <= highs[rank] + 1e-9
        assert lows[rank] <= high + 1e-9
    assert found.mean is not None
    assert found.mean[0] <= np.mean(highs) + 1e-9
    assert np.mean(lows) <= found.mean[1] + 1e-9


@pytest.mark.parametrize(("name", "both"), [*((name, False) for name in LINES), ("wide", True), ("gap", True)])
def test_numbers_agree_with_asking_one_by_one(tmp_path: Path, name: str, both: bool) -> None:
    column, goal = LINES[name]
    more = f"advantage = 0.05\nboth = {str(both).lower()}"
    plan = made(tmp_path, text(columns={"x": column}, goal=goal, more=more), ["x"], [[v] for v in NUMBERS])
    for epsilon in (0.5, 6.0) if name == "normal" else (6.0,):
        found = scan(plan, epsilon=epsilon, top=100)
        answers = judged(plan, found, [{"x": v} for v in NUMBERS], epsilon)
        check_ranks(found, answers)
        assert sum(e.count for e in found.exposed) == found.judged
        for value in NUMBERS:  # each record lies in a cell that is shown, with its own advantage enclosed
            own = alone(plan, {"x": value}, epsilon)
            if isinstance(own, str):
                continue
            assert value is not None
            cells = [e for e in found.exposed if _holds(e.values["x"], value)]
            assert any(e.advantage[0] - 1e-12 <= own[1] and own[0] <= e.advantage[1] + 1e-12 for e in cells)


def test_a_capped_distance_is_bounded_from_above(tmp_path: Path) -> None:
    values = [20.0, 12.0, 33.0, 60.0, None, -math.inf]
    sql = "SELECT MAX(x) AS m, COUNT(x) AS n FROM t WHERE x > 10"
    plan = made(tmp_path, text(sql=sql), ["x"], [[v] for v in values])
    for epsilon in (1.0, 8.0):
        found = scan(plan, epsilon=epsilon)
        answers = judged(plan, found, [{"x": v} for v in values], epsilon)
        check_ranks(found, answers)
        assert found.quantiles[1.0][1] < 1.5 * max(bound for _, bound in answers) + 0.01


def test_a_fixed_goal_is_the_same_for_every_record(tmp_path: Path) -> None:
    plan = made(tmp_path, text(goal="x inside 10 20"), ["x"], [[v] for v in NUMBERS])
    found = scan(plan, epsilon=3.0)
    low, high = found.quantiles[0.5]
    own = alone(plan, {"x": 15.0}, 3.0)
    assert not isinstance(own, str)
    assert low - 1e-8 <= own[0] <= own[1] <= high + 1e-8
    assert high - low < 1e-6
    assert found.judged == sum(not isinstance(alone(plan, {"x": v}, 3.0), str) for v in NUMBERS)


def test_no_prior_bounds_every_record(tmp_path: Path) -> None:
    column = {"x": 'bounds = [0, 120]\nprior = "unknown"'}
    values = [0.0, 1.0, 60.0, 120.0, 121.0, None]
    plan = made(tmp_path, text(columns=column), ["x"], [[v] for v in values])
    found = scan(plan, epsilon=0.4)
    check_ranks(found, judged(plan, found, [{"x": v} for v in values], 0.4))


def test_knowledge_rules_values_out(tmp_path: Path) -> None:
    plan = made(
        tmp_path,
        text(more="advantage = 0.05\nknows = { x = [10, 40] }"),
        ["x"],
        [[v] for v in (9.99, 10, 20, 40, 40.1)],
    )
    found = scan(plan, epsilon=3.0)
    assert (found.judged, found.outside) == (3, 2)
    check_ranks(found, judged(plan, found, [{"x": v} for v in (9.99, 10.0, 20.0, 40.0, 40.1)], 3.0))


def test_labels_and_numbers_of_a_list_are_exact(tmp_path: Path) -> None:
    labels = ["math", "cs", "law", "math", None, "Math", "arts"]
    plan = made(
        tmp_path,
        text(
            sql="SELECT COUNT(*) AS n FROM t WHERE f = 'math'",
            columns={"f": "prior = { categorical = { math = 0.5, cs = 0.3, law = 0.2 } }"},
            goal="f exactly",
        ),
        ["f"],
        [[v] for v in labels],
    )
    found = scan(plan, epsilon=0.7)
    assert (found.rows, found.missing, found.outside) == (7, 1, 2)
    check_ranks(found, [a for v in labels[:4] if not isinstance(a := alone(plan, {"f": v}, 0.7), str)])
    assert {e.values["f"]: e.count for e in found.exposed} == {"math": 2, "cs": 1, "law": 1}
    assert all(high - low < 1e-6 for low, high in found.quantiles.values())


def test_many_numbers_of_a_list(tmp_path: Path) -> None:
    sample = [float(v) for v in range(100)]
    values = [3.0, 99.0, 50.0, 50.5, None, math.nan, math.inf]
    plan = made(
        tmp_path,
        text(columns={"x": f"bounds = [0, 120]\nprior = {{ empirical = {sample} }}"}, goal="x within 3"),
        ["x"],
        [[v] for v in values],
    )
    found = scan(plan, epsilon=2.0)
    check_ranks(found, judged(plan, found, [{"x": v} for v in values], 2.0))
    assert found.exposed[0].advantage[1] - found.exposed[0].advantage[0] < 1e-6


SAMPLE = [10.0, 11.5, 40.0, 41.5, 70.0, 71.5, 100.0, 101.5]
BESIDE = [10.0, 10.5, 11.0, 12.5, 9.0, 8.99, 25.0, 40.5, 41.0, 71.0, 101.0, 0.0, 120.0, 121.0, None, math.inf]


@pytest.mark.parametrize("goal", ["x within 1", "x within 5%", "x within 40"])
@pytest.mark.parametrize("both", [False, True])
def test_records_beside_a_sample_are_judged_too(tmp_path: Path, goal: str, both: bool) -> None:
    """Whoever has a value that no one of the sample has can lose most: 11 lies within 1 of two of them."""
    columns = {"x": f"bounds = [0, 120]\nprior = {{ empirical = {SAMPLE} }}"}
    more = f"advantage = 0.05\nboth = {str(both).lower()}"
    plan = made(tmp_path, text(columns=columns, goal=goal, more=more), ["x"], [[v] for v in BESIDE])
    found = scan(plan, epsilon=4.0, top=100)
    answers = judged(plan, found, [{"x": v} for v in BESIDE], 4.0)
    check_ranks(found, answers)
    assert found.outside == 1
    for value in (v for v in BESIDE if v is not None and v <= 120):
        own = alone(plan, {"x": value}, 4.0)
        assert not isinstance(own, str)
        shown = [e.advantage for e in found.exposed if _holds(e.values["x"], value)]
        assert any(abs(low - own[0]) < 1e-8 and abs(high - own[1]) < 1e-8 for low, high in shown), value


def test_a_sample_beside_labels(tmp_path: Path) -> None:
    columns = {
        "x": "bounds = [0, 9]\nmissing = false\nprior = { empirical = [0, 1, 2, 5, 9] }",
        "f": "missing = false\nprior = { categorical = { a = 0.4, b = 0.6 } }",
    }
    sql, goal = "SELECT SUM(x) AS s FROM t WHERE f = 'a'", "x within 1 and f exactly"
    rows = [(0.5, "a"), (1.0, "b"), (3.5, "a"), (9.0, "b")]
    plan = made(tmp_path, text(columns=columns, sql=sql, goal=goal), ["x", "f"], rows)
    found = scan(plan, epsilon=3.0, top=100)
    assert found.judged == 4
    answers = [alone(plan, {"x": x, "f": f}, 3.0) for x, f in rows]
    check_ranks(found, [a for a in answers if not isinstance(a, str)])


def test_in_a_sample_of_combinations_any_values_may_go_together(tmp_path: Path) -> None:
    tail = '[prior."(x, y)"]\nsample = [[1, 1], [2, 2], [5, 3]]'
    columns = dict.fromkeys("xy", "bounds = [0, 6]\nmissing = false")
    goal, rows = "x within 1 and y within 1", [(1.0, 1.0), (1.5, 3.0), (5.0, 1.0)]
    written = text(sql="SELECT SUM(x + y) AS s FROM t", columns=columns, goal=goal, tail=tail)
    plan = made(tmp_path, written, ["x", "y"], [*rows, (7.0, 1.0)])
    found = scan(plan, epsilon=3.0, top=100)
    assert (found.judged, found.outside) == (3, 1)
    answers = [alone(plan, {"x": x, "y": y}, 3.0) for x, y in rows]
    check_ranks(found, [a for a in answers if not isinstance(a, str)])
    assert {e.advantage[1] > 1e-6 for e in found.exposed} == {True, False}  # near (5, 1) nobody of the sample is


CATS = {
    "colour": "prior = { categorical = { red = 0.2, tabby = 0.3, black = 0.5 } }",
    "gender": "prior = { categorical = { M = 0.5, F = 0.5 } }",
}


@pytest.mark.parametrize("goal", ["colour exactly and gender exactly", "colour exactly or gender exactly"])
def test_combinations_of_labels(tmp_path: Path, goal: str) -> None:
    rows = [("red", "M"), ("tabby", "F"), ("tabby", "F"), ("black", None), (None, "x"), ("green", "M"), ("black", "M")]
    plan = made(
        tmp_path,
        text(sql="SELECT COUNT(*) AS n FROM t WHERE colour = 'tabby' AND gender = 'F'", columns=CATS, goal=goal),
        ["gender", "colour"],
        [(g, c) for c, g in rows],
    )
    found = scan(plan, epsilon=1.0)
    assert (found.rows, found.missing, found.outside, found.judged) == (7, 2, 1, 4)
    answers = [alone(plan, {"colour": c, "gender": g}, 1.0) for c, g in (rows[0], rows[1], rows[2], rows[6])]
    check_ranks(found, [a for a in answers if not isinstance(a, str)])
    shown = {(e.values["colour"], e.values["gender"]): e.count for e in found.exposed}
    assert shown == {("red", "M"): 1, ("tabby", "F"): 2, ("black", "M"): 1}


def test_combinations_that_a_joint_prior_rules_out(tmp_path: Path) -> None:
    tail = '[prior."(colour, gender)"]\ntable = [["red", "M", 0.5], ["tabby", "F", 0.3], ["tabby", "M", 0.2]]'
    plan = made(
        tmp_path,
        text(
            sql="SELECT COUNT(*) AS n FROM t WHERE colour = 'tabby' AND gender = 'F'",
            columns={"colour": "missing = false", "gender": "missing = false"},
            goal="colour exactly and gender exactly",
            tail=tail,
        ),
        ["colour", "gender"],
        [("red", "M"), ("red", "F"), ("tabby", "F")],
    )
    found = scan(plan, epsilon=1.0)
    assert (found.judged, found.outside) == (2, 1)
    answers = [alone(plan, {"colour": c, "gender": g}, 1.0) for c, g in (("red", "M"), ("tabby", "F"))]
    check_ranks(found, [a for a in answers if not isinstance(a, str)])


def _holds(cell: Any, value: Any) -> bool:
    return cell[0] - 1e-9 <= value <= cell[1] + 1e-9 if isinstance(cell, tuple) else cell == value
