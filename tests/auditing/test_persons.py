"""An audit of persons: whole persons come, go and change, with more rows than may count."""

from __future__ import annotations

import pytest

from guessproof.auditing import audit
from guessproof.auditing.result import Audit
from guessproof.errors import PlanError
from guessproof.plan import Plan, loads_plan
from guessproof.sql.units import UnitBound

VISITS = """
[data]
name = "visits"
source = "nowhere/visits.parquet"
table = "visits"
protects = "persons"
person = "patient"
max_rows = 3
[query]
sql = "{sql}"
[columns.days]
bounds = [5, 30]
prior = {{ uniform = {{ low = 5, high = 30 }} }}
[columns.ward]
levels = ["north", "south"]
[attacker]
goal = "days within 2"
advantage = 0.2
"""
ALONE = "SELECT SUM(days) AS s, COUNT(DISTINCT patient) AS people FROM visits WHERE days < 25"


def visits(sql: str) -> Plan:
    return loads_plan(VISITS.format(sql=sql))


def played(sql: str) -> Audit:
    return audit(visits(sql), trials=2000, seconds=1e5, seed=3)


def test_an_audit_finds_a_bound_that_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UnitBound, "_clamp", lambda self, found, target: found)
    failed = {c.name for c in played(ALONE).checks if c.verdict == "fail"}
    assert {"engine", "movement", "storage"} <= failed


def test_an_audit_makes_up_names_and_says_so() -> None:
    with pytest.raises(PlanError, match="filters on patient"):
        played("SELECT COUNT(*) AS n FROM visits WHERE patient = 'p1'")
