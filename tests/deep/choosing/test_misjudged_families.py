"""Every family of priors through a plan with a factor: what it costs, what is kept, and what is said of it."""

from __future__ import annotations

import pytest
from choosing.plans import CAFETERIA, plan
from depth import cases

from guessproof.choosing import Choice, choose

FAMILIES = {  # those that take longest come last, and with HYPOTHESIS_PROFILE=explore only
    "categorical": "{ categorical = [[10, 0.3], [20, 0.5], [40, 0.2]] }",
    "empirical": "{ empirical = [12, 18, 20, 22, 35] }",
    "truncated": "{ truncated = { prior = { normal = { mean = 20, sd = 9 } }, low = 0 } }",
    "laplace": "{ laplace = { mean = 20, scale = 5 } }",
    "normal": "{ normal = { mean = 20, sd = 6.28 } }",
    "histogram": "{ histogram = { edges = [0, 10, 30, 120], weights = [0.3, 0.6, 0.1] } }",
    "gamma": "{ gamma = { shape = 3, scale = 7 } }",
    "mixture": "{ mixture = [{ weight = 0.7, prior = { normal = { mean = 20, sd = 5 } } }, "
    "{ weight = 0.3, prior = { uniform = { low = 0, high = 60 } } }] }",
    "lognormal": "{ lognormal = { median = 20, sd_log = 0.4 } }",
    "exponential": "{ exponential = { scale = 20 } }",
    "uniform": "{ uniform = { low = 0, high = 60 } }",
    "student_t": "{ student_t = { df = 4, mean = 20, scale = 5 } }",
    "beta": "{ beta = { a = 2, b = 5, high = 100 } }",
}


def chosen(prior: str, *more: str) -> Choice:
    goal = "\n".join(['[attacker]\ngoal = "time within 4"\nadvantage = 0.1\nat = { time = 20 }', *more])
    return choose(plan(CAFETERIA[0], {"time": f"bounds = [0, 120]\nmissing = false\nprior = {prior}"}, goal, rows=120))


@pytest.mark.parametrize("family", list(FAMILIES)[: cases(4)])
def test_a_factor_costs_some_of_epsilon_and_holds(family: str) -> None:
    declared, wrong = chosen(FAMILIES[family]), chosen(FAMILIES[family], "prior_factor = 1.5")
    assert 0.7 * declared.epsilon < wrong.epsilon < 0.95 * declared.epsilon
    assert wrong.largest_prior_factor is not None
    assert 1.5 <= wrong.largest_prior_factor < 1.6
    assert any("×1.5" in limit.how for limit in wrong.limits)
    assert wrong.advantage is not None
    assert 0.0999 < float(wrong.advantage.bound) <= 0.1
