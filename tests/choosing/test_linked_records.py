"""Linked records: a household tells of its members, and the promise holds all the same."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.auditing.run import audit_choice
from guessproof.errors import BudgetError, PlanError
from guessproof.guarantee import guarantee_from_dict, guarantee_to_dict, total_of_dicts

PRIOR = gp.normal(2000, 235.7)


def _plan(folder: Path, linked: str = "linked_records = 2", more: str = "", **keys: str) -> Any:
    (folder / "t.csv").write_text("salary,age\n2000,40\n2100,41\n")
    return gp.loads_plan(
        f"""
[data]
name = "pay"
source = "t.csv"
table = "t"
protects = "values"
rows = 2
{linked}
[query]
sql = "{keys.get("sql", "SELECT SUM(salary) AS total FROM t")}"
[columns.salary]
bounds = [1000, 3000]
missing = false
prior = {{ normal = {{ mean = 2000, sd = 235.7 }} }}
[columns.age]
bounds = [18, 90]
missing = false
prior = {{ uniform = {{ low = 18, high = 90 }} }}
[attacker]
goal = "{keys.get("goal", "salary within 100")}"
advantage = 0.1
{keys.get("at", "at = { salary = 2000 }")}
[release]
ledger = "{folder / "l.ledger"}"
{more}
""",
        folder=folder,
    )


def _spouse_gain(scale: float) -> float:
    """The best output for an attacker who knows that the spouse earns 3000 iff the victim is in the goal, else 1000."""
    x = np.asarray(PRIOR.quantile((np.arange(8_000) + 0.5) / 8_000))
    inside = np.abs(x - 2000) <= 100
    total = np.clip(x, 1000, 3000) + np.where(inside, 3000.0, 1000.0)
    outputs = np.linspace(1500, 7000, 551)
    likelihood = np.exp(-np.abs(outputs[:, None] - total) / scale)
    return float(np.max((likelihood @ inside) / likelihood.sum(axis=1)) - inside.mean())


def test_a_spouse_who_tells_keeps_the_promise(tmp_path: Path) -> None:
    choice = gp.choose(_plan(tmp_path))
    assert choice.noise_scale is not None
    assert _spouse_gain(choice.noise_scale) <= 0.1
    alone = gp.choose(_plan(tmp_path, ""))
    assert alone.noise_scale == pytest.approx(1 / 0.0022236, rel=1e-3)
    # Twice the distance of one record is not enough: the spouse need not move as the victim does.
    assert _spouse_gain(2 * alone.noise_scale) == pytest.approx(0.483, abs=0.002)
    # The metric's step alone brings the spouse's worst gain near the limit: the bound is no guess.
    assert _spouse_gain(choice.noise_scale) > 0.08


def test_every_world_of_two_linked_records_keeps_the_distance() -> None:
    """Brute force: whatever the other does, likelihoods differ by no more than the stated distance says."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        values, others = rng.uniform(0, 10, 4), rng.uniform(0, 10, (4, 3))
        chances = rng.dirichlet(np.ones(3), 4)
        for y in rng.uniform(-20, 40, 30):
            seen = np.sum(chances * np.exp(-np.abs(y - values[:, None] - others) / 3), axis=1)
            for i, j in itertools.combinations(range(4), 2):
                allowed = abs(values[i] - values[j]) / 3 + 10 / 3
                assert abs(np.log(seen[i] / seen[j])) <= allowed + 1e-12


def test_it_is_said_in_every_output(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    choice = gp.choose(plan)
    assert any("Up to 2 records tell of each other" in text for text in choice.assumptions)
    assert not any(text.startswith("Records are independent") for text in choice.assumptions)
    assert "2 records that tell of each other" in choice.question.measurements[0].account
    book = gp.Ledger.create(tmp_path / "l.ledger", "pay", gp.Budget("10"))
    answer = gp.release(plan, ledger=book)
    assert any("Up to 2 records" in text for text in answer.assumptions)


def test_a_column_that_the_query_does_not_read_may_tell_of_the_others(tmp_path: Path) -> None:
    keys = {"goal": "age within 5", "at": "at = { age = 40 }", "more": "epsilon = 1"}
    assert float(gp.choose(_plan(tmp_path, "", **keys)).advantage.bound) < 1e-9
    assert float(gp.choose(_plan(tmp_path, "linked_records = 3", **keys)).advantage.bound) > 0.05


def test_more_linked_records_mean_more_noise(tmp_path: Path) -> None:
    scales = [gp.choose(_plan(tmp_path, f"linked_records = {k}")).noise_scale for k in (1, 2, 3, 5)]
    assert scales == sorted(scales)
    costs = [gp.choose(_plan(tmp_path, f"linked_records = {k}", "epsilon = 0.1")).noise_scale for k in (1, 2, 4)]
    assert costs == pytest.approx([20000, 40000, 80000], rel=1e-6)


def test_the_ledger_counts_what_earlier_releases_told_of_the_others(tmp_path: Path) -> None:
    one, two = (gp.choose(_plan(tmp_path, f"linked_records = {k}")).guarantee for k in (1, 2))
    kept = guarantee_to_dict(two)
    assert kept["linked"] == 2
    assert guarantee_from_dict(kept).linked == 2
    raised = total_of_dicts([guarantee_to_dict(one)], ("salary", "age"), [1], 2)
    assert raised.change == pytest.approx(2 * one.change, rel=1e-9)
    assert float(raised.columns["age"].distance(1.0, 2.0)) == pytest.approx(one.change, rel=1e-9)
    again = total_of_dicts([kept], ("salary",), [1], 2)
    assert again.change == pytest.approx(two.change, rel=1e-9)
    book = gp.Ledger.create(tmp_path / "l.ledger", "pay", gp.Budget("10", advantage=0.15))
    gp.release(_plan(tmp_path), ledger=book)
    with pytest.raises(BudgetError, match="cumulative"):
        gp.release(_plan(tmp_path, sql="SELECT AVG(salary) AS mean FROM t"), ledger=book)


def test_the_audit_plays_linked_records_and_finds_noise_for_one_only(tmp_path: Path) -> None:
    """Listed salaries; the spouse's tells of the victim's."""
    plan = _plan(tmp_path, more="epsilon = 0.5")
    table = plan.file.model_dump(exclude_defaults=True, by_alias=True)
    prior = {"empirical": [1000, 2000, 2000, 3000]}
    table["columns"] = {"salary": {"bounds": [1000, 3000], "missing": False, "prior": prior}}
    table["attacker"] = {"goal": "salary within 100", "advantage": 0.3}
    choice = gp.choose(gp.plan_of(table, folder=tmp_path))
    fair = {c.name: c.verdict for c in audit_choice(choice, trials=2000, seconds=1e5, seed=1).checks}
    assert "fail" not in fair.values()
    noise = choice.noises[0]
    weak = replace(noise, mechanism=replace(noise.mechanism, sensitivity=noise.mechanism.sensitivity / 2))
    found = audit_choice(replace(choice, noises=(weak,)), trials=2000, seconds=1e5, seed=1)
    assert not found.passed


def test_persons_and_gaussian_noise_are_refused_with_it(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="tell of each other"):
        gp.choose(_plan(tmp_path, more='mechanism = "gaussian"\ndelta = 1e-6'))
