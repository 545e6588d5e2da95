"""Noise that follows the data, by the whole road: plan, choice, release, the same again; nothing tells the scale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import guessproof as gp
from guessproof.errors import GuessproofError
from guessproof.ledger import Budget, Ledger

PLAN = """
[data]
name = "ships"
source = "{source}"
rows = 50
protects = "values"
[query]
sql = "{sql}"
[columns.latitude]
bounds = [90, 300]
missing = false
prior = {{ normal = {{ mean = 150, sd = 35.36 }} }}
[columns.speed]
bounds = [20, 80]
public = true
[attacker]
goal = "latitude within 1"
at = {{ latitude = 150 }}
advantage = 0.1
[release]
{release}
"""
SHARP = 'smooth = true\nepsilon = 1e5\nmechanism = "cauchy"'
FIRST = "SELECT MIN(latitude / speed) AS first FROM t"


def made(folder: Path, release: str = "smooth = true", sql: str = FIRST, *, near: float = 100.0, fast: int = 80) -> Any:
    source = f"ships{near:g}-{fast}.csv"
    rows = [f"{near + k},{fast if k == 0 else 20 + k}" for k in range(50)]
    (folder / source).write_text("latitude,speed\n" + "\n".join(rows) + "\n")
    if not (folder / "guessproof.ledger").exists():
        Ledger.create(folder / "guessproof.ledger", "ships", Budget("1e6"))
    text = PLAN.format(source=source, sql=sql, release=release)
    return gp.loads_plan(
        text.replace("advantage = 0.1", "advantage = 0.99") if "1e5" in release else text, folder=folder
    )


def test_released_replayed_and_near_where_noise_is_tiny(tmp_path: Path) -> None:
    plan = made(tmp_path)
    first, again = gp.release(plan), gp.release(plan)
    assert again.replayed
    assert again.answers == first.answers
    sharp = gp.release(made(tmp_path, SHARP, near=101.0))
    assert sharp.value == pytest.approx(101 / 80, abs=0.05)


def test_what_is_told_is_the_same_for_every_table(tmp_path: Path) -> None:
    told = []
    for name, fast in (("one", 80), ("two", 20)):
        (tmp_path / name).mkdir()
        answer = gp.release(made(tmp_path / name, fast=fast)).to_dict()
        for number in answer["answers"]:
            for changing in ("value", "low", "high", "nearest"):
                del number[changing]
        del answer["head"]
        told.append(json.dumps(answer, sort_keys=True))
    assert told[0] == told[1]


def test_choose_says_which_way_is_better_and_what_is_the_worst(tmp_path: Path) -> None:
    plain, smooth = gp.choose(made(tmp_path, "")), gp.choose(made(tmp_path))
    assert "write smooth = true under [release]" in plain.explanation
    assert "at most" in smooth.explanation
    assert "Leave smooth out" not in smooth.explanation
    assert smooth.epsilon == pytest.approx(plain.epsilon, rel=1e-6)  # the same distance is hidden
    kept = gp.choose(made(tmp_path, "smooth = true\n[accuracy]\nwithin = 3\n"))
    assert kept.feasible
    assert kept.noises[0].error(0.95) <= 3
    useless = gp.choose(made(tmp_path, "", sql="SELECT MIN(latitude) AS first FROM t"))
    assert "smooth" not in useless.explanation


@pytest.mark.parametrize(
    ("release", "sql", "problem"),
    [
        ('smooth = true\nmechanism = "laplace"', FIRST, "noise has a fixed scale"),
        ("smooth = true\nranks_inside = 3", FIRST, "picked by its rank"),
        ("smooth = true", "SELECT SUM(latitude / speed) AS total FROM t", "no MIN or MAX"),
        ("smooth = true", "SELECT MIN(latitude) AS first FROM t", "every row moves it alike"),
    ],
)
def test_refused_with_the_reason(tmp_path: Path, release: str, sql: str, problem: str) -> None:
    with pytest.raises(GuessproofError, match=problem):
        gp.choose(made(tmp_path, release, sql))
