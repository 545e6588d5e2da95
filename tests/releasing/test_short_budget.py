"""A budget that is too small for a plan: one ε everywhere, and advice that works as it is typed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import commands
import pytest

import guessproof as gp
from guessproof.errors import BudgetError
from guessproof.ledger import Budget, Ledger

PLAN = """
[data]
name = "salaries"
source = "salaries.csv"
protects = "values"
rows = 100
[query]
sql = "SELECT AVG(salary) AS mean_salary FROM t"
[columns.salary]
bounds = [0, 1000000]
missing = false
prior = { normal = { mean = 52000, sd = 15100 } }
[attacker]
goal = "salary within 2000"
advantage = 0.2
[release]
"""


@pytest.mark.parametrize("budget", ["134.6019999", "0.123456789"])
def test_choose_report_and_release_name_one_epsilon_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("salaries.csv").write_text("salary\n" + "52000\n" * 100, encoding="utf-8")
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    Ledger.create("guessproof.ledger", "salaries", Budget(budget))

    chosen = commands.printed("choose", "plan.toml", COLUMNS="300")
    reported = commands.printed("report", "plan.toml", COLUMNS="300")
    with pytest.raises(BudgetError) as refused:
        gp.release(gp.load_plan("plan.toml"))
    advised = [re.findall(r"write epsilon = (\S+) under", text) for text in (chosen, reported, str(refused.value))]
    (epsilon,) = {value for values in advised for value in values}
    assert all(advised)
    assert f"ε = {epsilon}" in chosen
    assert f"ε = {epsilon}" in reported
    page = re.sub(r"<[^>]*>", "", Path("report.html").read_text(encoding="utf-8")).replace("\xa0", " ")
    assert f"epsilon = {epsilon} under [release]" in page

    Path("plan.toml").write_text(f"{PLAN}epsilon = {epsilon}\n", encoding="utf-8")
    made = json.loads(commands.printed("release", "plan.toml", "--json"))
    assert made["epsilon"] == pytest.approx(float(epsilon), rel=1e-6)
    assert made["epsilon"] <= float(budget)
