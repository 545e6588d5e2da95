"""What a report says beside a prior that may be wrong: beliefs before and after belong to one prior."""

from __future__ import annotations

import pytest

from guessproof.choosing import choose
from guessproof.plan import loads_plan
from guessproof.reporting.shift import shift_of
from guessproof.risk.misjudged.odds import with_odds_of

PLAN = """
[data]
name = "pay"
source = "pay.csv"
table = "staff"
protects = "values"
[query]
sql = "SELECT SUM(salary) AS total FROM staff"
[columns.salary]
bounds = [1000, 3000]
missing = false
prior = { normal = { mean = 2000, sd = 236 } }
[attacker]
goal = "GOAL"
advantage = 0.1
prior_factor = 1.5
[release]
ledger = "pay.ledger"
"""


@pytest.mark.parametrize("goal", ["salary above 2300", "salary below 1500", "not (salary inside 1800 2300)"])
def test_a_belief_is_not_shown_to_rise_further_than_is_allowed(goal: str) -> None:
    choice = choose(loads_plan(PLAN.replace("GOAL", goal)))
    shift = shift_of(choice)
    assert shift is not None
    assert shift.limit is not None
    assert choice.advantage is not None
    assert shift.before < shift.after <= shift.before + float(choice.advantage.bound) <= shift.limit + 1e-9
    assert shift.misjudged == pytest.approx(float(with_odds_of(shift.after, 1.5)))
    assert shift.misjudged > shift.limit  # of another start: a belief that was higher before
    assert shift.misjudged - float(with_odds_of(shift.before, 1.5)) <= float(choice.advantage.bound) + 1e-9
