"""Counts whose filters exclude each other: a plan's noise, charge and attacker are those of one histogram."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import commands
import pytest
from choosing.plans import plan

from guessproof.choosing import Choice, choose
from guessproof.ledger import Ledger
from guessproof.meaning import meaning
from guessproof.plan import load_plan
from guessproof.releasing import release
from guessproof.sql import AnalyzedQuery
from releasing.tables import budget

CUTS = ("age < 30", "age >= 30 AND age < 60", "age >= 60")
FILTERS = ", ".join(f"COUNT(*) FILTER (WHERE {cut}) AS n{i}" for i, cut in enumerate(CUTS))
CASES = ", ".join(f"SUM(CASE WHEN {cut} THEN 1 ELSE 0 END) AS n{i}" for i, cut in enumerate(CUTS))
OVERLAPPING = FILTERS.replace("age < 30", "age <= 30", 1)
AGES = [None, 0, 29, 29.5, 30, 30.5, 59, 60, 61, 120]
FIXED = "[release]\nepsilon = 1"
ASKED = ["[accuracy]\nwithin = 20\nconfidence = 0.95", FIXED]


def by_filters(outputs: str, unit: str, *more: str, missing: bool = True) -> Choice:
    age = f"bounds = [0, 120]\nmissing = {str(missing).lower()}\n"
    age += "prior = { uniform = { low = 0, high = 120 } }"
    return choose(plan(f"SELECT {outputs} FROM t", {"age": age}, *more, protects=unit))


def by_groups(unit: str, *more: str) -> Choice:
    weights = "prior = { categorical = { young = 0.25, middle = 0.25, old = 0.5 } }"
    return choose(plan("SELECT band, COUNT(*) AS n FROM t GROUP BY band", {"band": weights}, *more, protects=unit))


@pytest.mark.parametrize("outputs", [FILTERS, CASES])
@pytest.mark.parametrize("unit", ["records", "values"])
@pytest.mark.parametrize("asked", ASKED)
def test_noise_and_charge_are_those_of_a_histogram(outputs: str, unit: str, asked: str) -> None:
    choice, histogram = by_filters(outputs, unit, asked), by_groups(unit, asked)
    assert [n.scale for n in choice.noises] == pytest.approx([histogram.noise_scale] * 3, rel=1e-12)
    assert choice.cost == pytest.approx(histogram.cost, rel=1e-12)
    assert choice.guarantee.presence == pytest.approx(histogram.guarantee.presence, rel=1e-12)
    assert choice.guarantee.change == pytest.approx(histogram.guarantee.change, rel=1e-12)
    assert choice.cost <= 1


def contributions(question: AnalyzedQuery, age: float | None) -> list[float]:
    return [float(m.contribution.at({"age": age}) or 0.0) for m in question.measurements]


def moved(choice: Choice, before: list[float], after: list[float]) -> float:
    """Log-likelihood by which the whole answer can tell two tables apart."""
    return sum(abs(a - b) / n.scale for a, b, n in zip(before, after, choice.noises, strict=True))


def worst(choice: Choice, *, presence: bool) -> float:
    rows = [contributions(choice.question, age) for age in AGES]
    nothing = [0.0] * len(choice.noises)
    pairs = ((row, nothing) for row in rows) if presence else itertools.combinations(rows, 2)
    return max(moved(choice, a, b) for a, b in pairs)


MIXED = f"{FILTERS}, SUM(age) AS years"
SIGNED = "SUM(age - 50) FILTER (WHERE age < 30) AS a, COUNT(*) FILTER (WHERE age > 60) AS b, COUNT(*) AS n"


@pytest.mark.parametrize("outputs", [FILTERS, CASES, OVERLAPPING, MIXED, SIGNED])
@pytest.mark.parametrize("asked", ASKED)
def test_no_record_tells_more_than_is_charged(outputs: str, asked: str) -> None:
    choice = by_filters(outputs, "records", asked)
    assert worst(choice, presence=False) <= choice.cost * (1 + 1e-12)
    assert worst(choice, presence=False) <= choice.guarantee.change * (1 + 1e-12)
    assert worst(choice, presence=True) <= (choice.epsilon_add_remove or 0.0) * (1 + 1e-12)


def test_the_charge_is_reached() -> None:
    """No smaller ε would be true of three exclusive counts."""
    choice = by_filters(FILTERS, "records", FIXED)
    assert worst(choice, presence=False) == pytest.approx(choice.cost)
    assert worst(choice, presence=True) == pytest.approx(choice.epsilon_add_remove)


def test_filters_that_share_one_value_are_charged_one_by_one() -> None:
    """At 30 two of them count: with the third, a change can move all three."""
    choice = by_filters(OVERLAPPING, "records", FIXED)
    assert choice.question.families != ((0, 1, 2),)
    assert sum(n.cost[0] for n in choice.noises) == pytest.approx(1)
    # The planted mistake: taken for a histogram they would tell half as much again as is charged.
    mistaken = AnalyzedQuery.__new__(AnalyzedQuery)
    mistaken.__dict__.update({**choice.question.__dict__, "families": ((0, 1, 2),)})
    wrong = replace(choice, asked=mistaken, noises=by_filters(FILTERS, "records", FIXED).noises)
    assert worst(wrong, presence=False) > 1.4 * wrong.cost


def test_the_attacker_learns_what_he_does_from_a_histogram() -> None:
    choice = by_filters(FILTERS, "values", '[attacker]\ngoal = "age inside 0 30"\nadvantage = 0.1', missing=False)
    goal = '[attacker]\ngoal = "band among young"\nadvantage = 0.1'
    histogram = by_groups("values", goal)
    assert [n.scale for n in choice.noises] == pytest.approx([histogram.noise_scale] * 3, rel=1e-6)
    assert choice.advantage is not None
    assert float(choice.advantage.bound) <= 0.1


def test_normal_noise_shares_its_failure_among_two_of_them() -> None:
    choice = by_filters(FILTERS, "records", '[release]\nepsilon = 1\nmechanism = "gaussian"\ndelta = 1e-6')
    assert [n.cost for n in choice.noises] == [pytest.approx((0.5, 5e-7), rel=1e-3)] * 3
    assert (choice.cost, choice.delta) == pytest.approx((1, 1e-6), rel=1e-3)


def test_other_words_count_two_of_them() -> None:
    text = {"age": "bounds = [0, 120]"}
    found = meaning(plan(f"SELECT {FILTERS} FROM t", text, FIXED, protects="records"), 1.0)
    assert found.words.epsilon == pytest.approx(1)


PLAN = f"""
[data]
name = "test"
source = "t.csv"
table = "t"
protects = "records"

[query]
sql = "SELECT {FILTERS} FROM t"

[columns.age]
bounds = [0, 120]

[release]
epsilon = 1
"""


def test_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    shown = commands.run("choose", str(tmp_path / "plan.toml"), "--full")
    assert "exclude each other" in shown.output
    (tmp_path / "t.csv").write_text("age\n20\n", encoding="utf-8")
    page = commands.run("report", str(tmp_path / "plan.toml"), "--output", str(tmp_path / "report.html"))
    assert page.returncode == 0, page.output
    assert "exclude each other" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_release_charges_it_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age\n" + "20\n" * 400 + "30\n" * 300 + "60\n" * 200, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    book: Ledger = budget(tmp_path)
    before = book.remaining("test").epsilon
    answer = release(load_plan(tmp_path / "plan.toml"))
    shown = {a.name: a.value for a in answer.answers}
    assert shown == pytest.approx({"n0": 400, "n1": 300, "n2": 200}, abs=100)
    assert 0.99 < float(before - book.remaining("test").epsilon) <= 1
    assert [n["noise_scale"] for n in answer.noise] == pytest.approx([2, 2, 2])
    assert release(load_plan(tmp_path / "plan.toml")).answers == answer.answers
