"""What a report says beside a prior that may be wrong: beliefs before and after belong to one prior."""

from __future__ import annotations

import pytest

from guessproof.choosing import choose
from guessproof.cli.printing import belief_words
from guessproof.plan import loads_plan
from guessproof.reporting.facts import gather
from guessproof.reporting.page import page
from guessproof.reporting.shift import shift_of
from guessproof.risk.prior_error.odds import posterior_before
from guessproof.rounded import percent_short, percent_up

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
    assert shift.misjudged == pytest.approx(float(posterior_before(shift.after, 1 / 1.5)))
    assert shift.misjudged > shift.limit  # of another start: a belief that was higher before
    assert shift.misjudged - float(posterior_before(shift.before, 1 / 1.5)) <= float(choice.advantage.bound) + 1e-9


WORST = PLAN.replace("GOAL", "salary within 100")


def test_beliefs_at_the_worst_true_value_are_of_the_declared_prior_in_every_place() -> None:
    """Where no true value is stated, too: the command line, the top of a report and its plain words."""
    choice = choose(loads_plan(WORST))
    high = choice.posterior
    assert high is not None
    assert high.worst_prior is not None
    assert choice.advantage is not None
    after = float(posterior_before(float(high.bound), 1.5))
    assert float(high.worst_prior) < after <= float(high.worst_prior) + float(choice.advantage.bound)
    words = belief_words(high, choice.prior, str, 1.5)
    assert f"→ {percent_up(after)}" in words
    assert f"misjudged by up to ×1.5 {percent_up(float(high.bound))}" in words
    told = page(gather(choice.plan))
    assert f"→ {percent_short(after)}" in told
    assert f"→ {percent_short(float(high.bound))}" not in told


def test_a_limit_on_the_belief_alone_says_both_beliefs_of_the_declared_prior() -> None:
    choice = choose(loads_plan(WORST.replace("advantage = 0.1", "posterior = 0.6")))
    shift = shift_of(choice)
    assert shift is not None
    assert shift.misjudged == pytest.approx(0.6, rel=1e-3)
    assert shift.after == pytest.approx(float(posterior_before(shift.misjudged, 1.5)))
    assert shift.before < shift.after
