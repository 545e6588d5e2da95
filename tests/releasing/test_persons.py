"""Persons from a plan to an answer: every question at a huge ε against plain arithmetic, the charge, the replay."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import commands
import pytest
from engines import tables

from guessproof.choosing import choose
from guessproof.errors import LedgerError, PlanError, SourceError
from guessproof.guarantee import guarantee_from_dict, guarantee_to_dict
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import release
from guessproof.scanning import scan

TYPES = {"patient": "VARCHAR", "ward": "VARCHAR", "days": "DOUBLE"}
WARDS = ("north", "south")
COLUMNS = """
[columns.days]
bounds = [5, 30]
prior = { uniform = { low = 5, high = 30 } }
[columns.ward]
levels = ["north", "south"]
"""


def draw(rng: random.Random, persons: int = 12) -> list[dict[str, Any]]:
    return [
        {"patient": f"p{p}", "ward": rng.choice(WARDS), "days": float(rng.randint(5, 30))}
        for p in range(persons)
        for _ in range(rng.choice([1, 1, 2, 3, 6]))
    ]


ROWS = draw(random.Random(7))


def plan(folder: Path, sql: str, *more: str, epsilon: float | None = 1e6, **data: Any) -> Plan:
    keys = {"name": "test", "source": "t.parquet", "table": "t", "protects": "persons", "person": "patient"}
    settings = {**keys, "max_rows": 3, **data}
    head = "\n".join(f"{k} = {v!r}" if isinstance(v, str) else f"{k} = {v}" for k, v in settings.items())
    fixed = "" if epsilon is None else f"[release]\nepsilon = {epsilon}\n"
    return loads_plan(
        f'[data]\n{head}\n[query]\nsql = """{sql}"""\n{COLUMNS}\n{fixed}' + "\n".join(more), folder=folder
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tables.write(tmp_path, ROWS, "parquet", types=TYPES)
    Ledger.create(tmp_path / "guessproof.ledger", "test", Budget("1e9"))
    return tmp_path


def persons(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [[row for row in rows if row["patient"] == p] for p in sorted({row["patient"] for row in rows})]


def test_a_count_is_of_three_rows_a_person_at_most(folder: Path) -> None:
    asked = plan(folder, "SELECT COUNT(*) AS n FROM t WHERE days > 7", epsilon=1.0)
    choice = choose(asked)
    assert (choice.epsilon_add_remove, choice.noise_scale) == (pytest.approx(1), pytest.approx(3))
    answer = release(plan(folder, "SELECT COUNT(*) AS n FROM t WHERE days > 7"))
    kept = [[row for row in rows if row["days"] > 7] for rows in persons(ROWS)]
    assert answer.value == sum(min(len(rows), 3) for rows in kept)


def test_sums_are_cut_at_ninety(folder: Path) -> None:
    answer = release(plan(folder, "SELECT SUM(days) AS total FROM t"))
    assert answer.value == pytest.approx(sum(min(sum(r["days"] for r in rows), 90) for rows in persons(ROWS)), abs=0.1)


def test_every_person_is_counted_once(folder: Path) -> None:
    answer = release(plan(folder, "SELECT COUNT(DISTINCT patient) AS people FROM t"))
    assert answer.value == len(persons(ROWS))


def test_averages_by_group_of_persons_within_their_bound(folder: Path) -> None:
    sql = "SELECT ward, AVG(days) AS mean, COUNT(*) AS n FROM t GROUP BY ward HAVING n > 0 ORDER BY mean DESC LIMIT 2"
    answer = release(plan(folder, sql, epsilon=1e7, max_rows=50))
    for ward in WARDS:
        days = [row["days"] for row in ROWS if row["ward"] == ward]
        found = {a.name: a.value for a in answer.answers if a.group == {"ward": ward}}
        assert found["n"] == pytest.approx(len(days), abs=0.1)
        assert found["mean"] == pytest.approx(sum(days) / len(days), abs=0.1)


def heavy_tails(rng: random.Random) -> list[dict[str, Any]]:
    """Persons with 1 to 100 rows, far from the middle of the bounds, whose values say nothing of how many they are."""
    return [
        {"patient": f"p{p}", "ward": rng.choice(WARDS), "days": rng.choice([6.0, 7.0, 8.0])}
        for p in range(200)
        for _ in range(int(100 ** rng.random()))
    ]


@pytest.mark.parametrize("by", ["", "ward"])
def test_averages_weight_the_rows_of_a_person_in_sum_and_count_alike(tmp_path: Path, by: str) -> None:
    """Persons with many rows count for `max_rows` in both, so the mean of such rows is the mean (it was 5 for 7)."""
    rows = heavy_tails(random.Random(2))
    tables.write(tmp_path, rows, "parquet", types=TYPES)
    Ledger.create(tmp_path / "guessproof.ledger", "test", Budget("1e9"))
    key, grouped = (f"{by}, ", f" GROUP BY {by}") if by else ("", "")
    sql = f"SELECT {key}AVG(days) AS mean, VAR_POP(days) AS spread FROM t{grouped}"
    answer = release(plan(tmp_path, sql, epsilon=1e7, max_rows=4))
    weights = {row["patient"]: min(1.0, 4 / len(own)) for own in persons(rows) for row in own}
    for found in answer.answers:
        shown = [(row["days"], weights[row["patient"]]) for row in rows if not by or row[by] == found.group[by]]
        whole = sum(w for _, w in shown)
        mean = sum(x * w for x, w in shown) / whole
        spread = sum((x - mean) ** 2 * w for x, w in shown) / whole
        assert found.value == pytest.approx(mean if found.name == "mean" else spread, abs=1e-3)
        assert mean == pytest.approx(7, abs=0.1)


def test_groups_share_what_a_person_may_add(folder: Path) -> None:
    answer = release(plan(folder, "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward", epsilon=1e7, max_rows=2))
    shares: dict[str, float] = dict.fromkeys(WARDS, 0.0)
    for rows in persons(ROWS):
        for row in rows:
            shares[row["ward"]] += min(1.0, 2 / len(rows))
    for found in answer.answers:
        assert found.value == pytest.approx(shares[found.group["ward"]], abs=0.01)


def test_the_same_request_gives_the_recorded_answer(folder: Path) -> None:
    asked = plan(folder, "SELECT SUM(days) AS total FROM t", epsilon=0.5)
    first, again = release(asked), release(asked)
    assert again.replayed
    assert again.value == first.value
    assert Ledger(folder / "guessproof.ledger").account("test").epsilon <= 0.5
    other = release(plan(folder, "SELECT SUM(days) AS total FROM t", epsilon=0.5, max_rows=4))
    assert not other.replayed


def test_a_ledger_keeps_to_one_column_that_names_persons(folder: Path) -> None:
    release(plan(folder, "SELECT COUNT(*) AS n FROM t"))
    with pytest.raises(LedgerError, match="tell persons apart by patient, and this plan by ward"):
        release(plan(folder, "SELECT COUNT(*) AS n FROM t", person="ward"))
    data = "[data]\nname = 'test'\nsource = 't.parquet'\nprotects = 'records'\n"
    query = "[query]\nsql = 'SELECT COUNT(*) AS n FROM t'\n[release]\nepsilon = 1"
    other = loads_plan(data + query, folder=folder)
    with pytest.raises(LedgerError, match="protect persons, and this plan protects records"):
        release(other)


def test_what_was_promised_is_read_back(folder: Path) -> None:
    kept = choose(plan(folder, "SELECT SUM(days) AS total FROM t", epsilon=1.0)).guarantee
    again = guarantee_from_dict(guarantee_to_dict(kept))
    assert (again.unit.name, again.change, again.presence) == ("persons", kept.change, kept.presence)
    assert not again.unit.tells_columns


GOAL = '[attacker]\ngoal = "days within 2"\nadvantage = 0.1'


def test_a_goal_is_as_far_from_any_other_value(folder: Path) -> None:
    """The distance is 0 or 1: what a query tells of one column does not make persons who are alike in it close."""
    asked = plan(folder, "SELECT SUM(days) AS total FROM t", GOAL, epsilon=None)
    other = plan(folder, "SELECT COUNT(*) AS n FROM t WHERE ward = 'north'", GOAL, epsilon=None)
    found = choose(asked)
    assert found.epsilon == pytest.approx(choose(other).epsilon, rel=1e-6)
    assert found.advantage is not None
    assert found.advantage.bound <= 0.1
    # One who believes the goal with probability p can get e^ε p / (1 − p + e^ε p): all of ε counts.
    p, e = 4 / 25, 2.718281828459045**found.epsilon
    assert e * p / (1 - p + e * p) - p == pytest.approx(0.1, abs=1e-3)
    assert any("All rows of one person (the rows that have the same patient)" in text for text in found.assumptions)


def test_a_risk_profile_counts_a_person_as_one(folder: Path) -> None:
    risk = "[risk]\nfixed_value = { q = 1.0, absolute = 0.25, relative = 3.0 }"
    three = choose(plan(folder, "SELECT COUNT(*) AS n FROM t", risk, epsilon=None))
    one = choose(plan(folder, "SELECT COUNT(*) AS n FROM t", risk, epsilon=None, max_rows=1))
    assert three.epsilon_add_remove == pytest.approx(one.epsilon_add_remove)
    assert three.noise_scale == pytest.approx(3 * (one.noise_scale or 0))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"copies": 2}, "bounded together"),
        ({"rows": 9}, "secret where persons are protected"),
        ({"max_rows": 0}, "max_rows"),
        ({"max_groups": 0}, "max_groups"),
    ],
)
def test_what_cannot_be_meant_is_refused(folder: Path, data: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        plan(folder, "SELECT COUNT(*) AS n FROM t", **data)


def test_a_person_who_is_no_name_is_refused_before_any_charge(folder: Path) -> None:
    for person, words in (("days", "does not tell persons apart"), ("nobody", "has no column nobody")):
        with pytest.raises(SourceError, match=words):
            release(plan(folder, "SELECT COUNT(*) AS n FROM t", person=person))
    assert not Ledger(folder / "guessproof.ledger").account("test").charges


def test_a_scan_is_refused_with_the_reason(folder: Path) -> None:
    with pytest.raises(PlanError, match="judges each row by itself"):
        scan(plan(folder, "SELECT SUM(days) AS total FROM t", GOAL, epsilon=1.0))


def test_names_are_compared_letter_by_letter(tmp_path: Path) -> None:
    """Two names that a database takes for one would be one person, who comes and goes by twice as much."""
    rows = [{"patient": name, "ward": "north", "days": 6.0} for name in ("a", "A", "a ", "á")]
    tables.write(tmp_path, rows, "duckdb", types={**TYPES, "patient": "VARCHAR COLLATE NOCASE"})
    Ledger.create(tmp_path / "guessproof.ledger", "test", Budget("1e9"))
    answer = release(plan(tmp_path, "SELECT COUNT(DISTINCT patient) AS n FROM t", source="t.duckdb"))
    assert answer.value == 4


def test_the_command_line_tells_of_persons(folder: Path) -> None:
    text = '[data]\nname = "test"\nsource = "t.parquet"\nprotects = "persons"\nperson = "patient"\nmax_rows = 3\n'
    text += '[query]\nsql = "SELECT COUNT(*) AS n FROM t"\n[release]\nepsilon = 1.0\n'
    (folder / "plan.toml").write_text(text)
    shown = [run(*words, str(folder / "plan.toml")) for words in (("choose", "--full"), ("release",), ("release",))]
    assert "ε for adding or removing a person │ 1" in shown[0]
    assert "All rows of one person (the rows that have the same patient)" in shown[0]
    answer = shown[1].partition("Charged")[0]
    assert shown[2].startswith(f"This very request was answered before: the same answer, no new charge. {answer}")


def run(*words: str) -> str:
    done = commands.run(*words)
    assert done.returncode == 0, done.output
    return " ".join(done.output.split())
