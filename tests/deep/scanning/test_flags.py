"""A scan says of a record what choosing says of a plan that names its values as the truth, whatever else is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scanning.making import exposure_of, made, text

from guessproof.choosing import choose
from guessproof.errors import PlanError
from guessproof.plan import loads_plan
from guessproof.scanning import scan
from guessproof.scanning.records import records_of

X = "bounds = [0, 120]\nmissing = false\nprior = { normal = { mean = 20, sd = 6.28 } }"
Y = "bounds = [0, 10]\nmissing = false\nprior = { uniform = { low = 0, high = 10 } }"
F = "missing = false\nprior = { categorical = { a = 0.2, b = 0.3, c = 0.5 } }"
G = "missing = false\nprior = { categorical = { u = 0.9, v = 0.1 } }"
LIST = "bounds = [0, 9]\nmissing = false\nprior = { empirical = [0, 1, 1, 2, 5, 9] }"
SUM = "SELECT SUM(x) AS s FROM t"
TWO = "SELECT COUNT(*) AS n FROM t WHERE f = 'a' OR g = 'v'"

# name: (columns, query, goal, flags of the attacker, ε, records)
ONE = {
    "plain": ({"x": X}, SUM, "x within 2", "", 6.0, [{"x": 20.0}, {"x": 33.0}, {"x": 4.5}]),
    "both ways": ({"x": X}, SUM, "x within 9", "both = true", 6.0, [{"x": 20.0}, {"x": 33.0}]),
    "knowing": ({"x": X}, SUM, "x within 2", "knows = { x = [15, 30] }", 30.0, [{"x": 16.0}, {"x": 24.0}]),
    "knowing, both": ({"x": X}, SUM, "x within 5", "both = true\nknows = { x = [15, 30] }", 30.0, [{"x": 22.0}]),
    "percent": ({"x": X}, SUM, "x within 10%", "", 6.0, [{"x": 20.0}, {"x": 40.0}]),
    "threshold": (
        {"x": X},
        "SELECT COUNT(*) AS n FROM t WHERE x > 22",
        "x within 2",
        "",
        1.0,
        [{"x": 21.0}, {"x": 30.0}],
    ),
    "band": (
        {"x": X},
        "SELECT COUNT(*) AS n FROM t WHERE x BETWEEN 18 AND 23",
        "x within 2",
        "",
        1.0,
        [{"x": 20.0}, {"x": 30.0}],
    ),
    "capped": ({"x": X}, "SELECT SUM(LEAST(x, 25)) AS s FROM t", "x within 2", "", 20.0, [{"x": 20.0}, {"x": 30.0}]),
    "curved": (
        {"x": X},
        "SELECT SUM(SQRT(GREATEST(x, 1))) AS s FROM t",
        "x within 2",
        "",
        5.0,
        [{"x": 20.0}, {"x": 30.0}],
    ),
    "two sums": (
        {"x": X},
        "SELECT SUM(x) AS s, COUNT(*) FILTER (WHERE x > 22) AS n FROM t",
        "x within 2",
        "",
        4.0,
        [{"x": 20.0}, {"x": 23.0}],
    ),
    "listed": ({"x": LIST}, SUM, "x within 1", "", 4.0, [{"x": 1.0}, {"x": 9.0}]),
    "listed, both": ({"x": LIST}, SUM, "x within 1", "both = true", 4.0, [{"x": 1.0}, {"x": 5.0}]),
    "listed, knowing": ({"x": LIST}, SUM, "x within 1", "knows = { x = [1, 9] }", 4.0, [{"x": 1.0}, {"x": 9.0}]),
    "labels": ({"f": F, "g": G}, TWO, "f exactly", "", 2.0, [{"f": "a"}, {"f": "c"}]),
    "labels, both": ({"f": F, "g": G}, TWO, "f exactly", "both = true", 2.0, [{"f": "a"}, {"f": "c"}]),
    "labels, knowing": (
        {"f": F, "g": G},
        TWO,
        "f exactly",
        'knows = { f = ["a", "c"] }',
        2.0,
        [{"f": "a"}, {"f": "c"}],
    ),
}
LOOSE = {"band": 0.065}  # a cap on the distance is left out there, and a scan says so; the others meet the bound
PAIRS = [{"f": "a", "g": "u"}, {"f": "c", "g": "v"}, {"f": "b", "g": "u"}]
SEVERAL = {
    "and": ({"f": F, "g": G}, TWO, "f exactly and g exactly", "", 2.0, PAIRS),
    "or": ({"f": F, "g": G}, TWO, "f exactly or g exactly", "", 2.0, PAIRS),
    "or, both": ({"f": F, "g": G}, TWO, "f exactly or g exactly", "both = true", 2.0, [{"f": "c", "g": "u"}, PAIRS[1]]),
    "each": ({"f": F, "g": G}, TWO, "f exactly or g exactly", 'or = "each"', 2.0, PAIRS),
    "each, both": ({"f": F, "g": G}, TWO, "f exactly or g exactly", 'or = "each"\nboth = true', 2.0, PAIRS[:2]),
    "knowing the other": ({"f": F, "g": G}, TWO, "f exactly and g exactly", 'knows = { g = ["u"] }', 2.0, PAIRS[:1]),
}


def written(case: tuple[Any, ...], flags: str, epsilon: float) -> str:
    columns, sql, goal, more, _, _ = case
    asked = f"advantage = 1.0\n{more}\n{flags}\n[release]\nepsilon = {epsilon}"
    return text(columns=columns, sql=sql, goal=goal, more=asked)


def chosen(case: tuple[Any, ...], record: dict[str, Any], epsilon: float) -> tuple[float, float]:
    """What choosing says where this record is the stated truth."""
    goal = case[2]
    at = ", ".join(f"{n} = {v!r}" for n, v in record.items() if n in goal.split() or f"({n}" in goal)
    choice = choose(loads_plan(written(case, f"at = {{ {at} }}".replace("'", '"'), epsilon)))
    assert choice.advantage is not None
    assert choice.epsilon == epsilon
    return float(choice.advantage.attack), float(choice.advantage.bound)


def scanned(case: tuple[Any, ...], record: dict[str, Any], epsilon: float, folder: Path) -> tuple[float, float]:
    names = list(case[0])
    rest = {n: 20.0 if "bounds" in column else "b" if "c =" in column else "u" for n, column in case[0].items()}
    plan = made(folder, written(case, "", epsilon), names, [[{**rest, **record}[n] for n in names]])
    found = scan(plan, epsilon=epsilon)
    assert found.judged == 1
    return found.quantiles[1.0]


@pytest.mark.parametrize("name", ONE)
def test_one_column(name: str, tmp_path: Path) -> None:
    _agree(ONE[name], tmp_path, rel=0.02, extra=LOOSE.get(name, 0.001))


@pytest.mark.parametrize("name", SEVERAL)
def test_several_columns(name: str, tmp_path: Path) -> None:
    _agree(SEVERAL[name], tmp_path, rel=1e-6, extra=1e-9)


@pytest.mark.parametrize("goal", ["x within 2 and f exactly", "x within 2 or y within 1"])
def test_several_columns_of_numbers_are_refused_with_the_advice_to_scan_each(goal: str, tmp_path: Path) -> None:
    columns = {"x": X, "f": F} if "f exactly" in goal else {"x": X, "y": Y}
    with pytest.raises(PlanError, match="scan a plan with such a goal about each column"):
        scanned((columns, SUM, goal, "", 4.0, []), {"x": 20.0, "y": 3.0}, 4.0, tmp_path)


def _agree(case: tuple[Any, ...], folder: Path, *, rel: float, extra: float) -> None:
    told: set[float] = set()
    for number, record in enumerate(case[5]):
        (folder / str(number)).mkdir()
        low, high = scanned(case, record, case[4], folder / str(number))
        attack, bound = chosen(case, record, case[4])
        assert low <= bound + 1e-9
        assert attack <= high + 1e-9
        assert high <= bound * (1 + rel) + extra
        told.add(round(bound, 6))
    assert len(told) == len(case[5])  # records that differ, so that a flag that is lost cannot hide behind a tie


@pytest.mark.parametrize(
    ("flag", "cases"),
    [
        ("both", ("plain", "both ways")),
        ("both", ("listed", "listed, both")),
        ("knows", ("plain", "knowing")),
        ("knows", ("labels", "labels, knowing")),
        ("both", ("or", "or, both")),
        ("or", ("or", "each")),
    ],
)
def test_every_flag_changes_what_a_scan_says(flag: str, cases: tuple[str, str], tmp_path: Path) -> None:
    """Otherwise the agreement above would say nothing of it."""
    without, having = ({**ONE, **SEVERAL}[name] for name in cases)
    plain = (*having[:3], "", *having[4:])
    assert flag in having[3]
    differs = False
    for number, record in enumerate(having[5]):
        found = []
        for turn, case in enumerate((plain, having)):
            folder = tmp_path / f"{number}-{turn}"
            folder.mkdir()
            found.append(scanned(case, record, having[4], folder))
        differs = differs or abs(found[0][1] - found[1][1]) > 1e-4
    assert differs
    assert without is not having


@pytest.mark.parametrize("name", ["plain", "listed", "labels", "and"])
def test_what_rounding_adds_is_added(name: str, tmp_path: Path) -> None:
    """A step of the guarantee between any two values moves a belief by a quarter of itself at most."""
    case = {**ONE, **SEVERAL}[name]
    plan = made(tmp_path, written(case, "", case[4]), list(case[0]), [])
    exposure = exposure_of(plan)
    plain, stepped = (
        records_of(plan, replace(exposure, step=step), case[4], 1.0, None).judge(None) for step in (0.0, 0.04)
    )
    assert stepped.upper == pytest.approx(np.minimum(plain.upper + 0.01, 1.0), abs=1e-12)
    assert stepped.lower == pytest.approx(plain.lower, abs=1e-12)


def test_a_grid_so_coarse_that_it_counts_is_counted(tmp_path: Path) -> None:
    """Numbers of 2^60 in steps of 2^9, and an ε at which one step is no longer small."""
    columns = {"x": "bounds = [0, 1e15]\nmissing = false\nprior = { uniform = { low = 0, high = 1e15 } }"}
    sql, goal = "SELECT SUM(x) AS s FROM t", "x within 1e13"
    case = (columns, sql, goal, "", 1e9, [{"x": 4e14}])
    low, high = scanned(case, {"x": 4e14}, 1e9, tmp_path)
    attack, bound = chosen(case, {"x": 4e14}, 1e9)
    assert low <= bound
    assert attack <= high


def test_the_worst_record_is_the_worst_case_of_choosing(tmp_path: Path) -> None:
    """No record within the bounds has more than the plan's own number, and some record comes near it."""
    for number, flags in enumerate(("", "both = true", "knows = { x = [10, 40] }")):
        folder = tmp_path / str(number)
        folder.mkdir()
        more = f"advantage = 0.05\n{flags}"
        plan = made(folder, text(columns={"x": X}, goal="x within 3", more=more), ["x"], [[v / 4] for v in range(481)])
        choice = choose(plan)
        found = scan(plan)
        assert choice.advantage is not None
        assert found.epsilon == choice.epsilon
        low, high = found.quantiles[1.0]
        assert high <= float(choice.advantage.bound) + 1e-9
        assert low >= 0.97 * float(choice.advantage.attack)
        assert found.exceeding == (0, 0)
