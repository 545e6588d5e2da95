"""A plan that does not trust its prior: the factor goes from the plan to every number that is said."""

from __future__ import annotations

import math

import pytest

import guessproof as gp
from choosing.plans import CAFETERIA, plan
from guessproof.choosing import choose
from guessproof.errors import PlanError
from guessproof.plan import Plan
from guessproof.plan.identity import identity_text
from guessproof.rounded import misjudged_words
from guessproof.world.distances import Clamped

AT = '[attacker]\ngoal = "time within 2"\nadvantage = 0.05\nat = { time = 20 }'


def cafeteria(*more: str) -> Plan:
    return plan(*CAFETERIA, *more, rows=120)


def test_the_factor_of_the_plan_is_that_of_the_attack() -> None:
    time = gp.Attribute("time", prior=gp.normal(20, 6.28), metric=Clamped(0, 120, scale=120))
    exact = gp.Attack(gp.within(time, 2), at={"time": 20}, prior_factor=1.5).epsilon(advantage=0.05)
    choice = choose(cafeteria(AT + "\nprior_factor = 1.5"))
    assert choice.epsilon <= exact
    assert choice.epsilon == pytest.approx(exact, rel=1e-5)
    assert choice.epsilon < 0.95 * choose(cafeteria(AT)).epsilon
    assert choice.largest_prior_factor is not None
    assert choice.largest_prior_factor >= 1.5
    assert any("×1.5" in limit.how for limit in choice.limits)
    assert choice.advantage is not None
    assert float(choice.advantage.bound) <= 0.05


def test_the_factor_beside_a_choice_is_where_the_limit_breaks() -> None:
    strict = choose(cafeteria(AT + "\nprior_factor = 2")).epsilon
    choice = choose(cafeteria(AT, f"[release]\nepsilon = {strict!r}"))
    assert choice.largest_prior_factor == pytest.approx(2, rel=0.01)
    assert 1.5 < choice.to_dict()["largest_prior_factor"] <= 2.0  # what is proven at once
    assert choose(cafeteria(AT)).to_dict()["largest_prior_factor"] == 1.0
    assert choose(cafeteria(AT)).largest_prior_factor == 1.0


def test_the_worst_true_value_has_a_factor_at_once() -> None:
    """No `at`: what `choose` says beside its ε, at which the limit has room, and what it falls to where it has none."""
    goal = '[attacker]\ngoal = "time within 2"\nadvantage = 0.05'
    largest = choose(cafeteria(goal))
    assert largest.to_dict()["largest_prior_factor"] == 1.0
    some, more = (
        choose(cafeteria(goal, f"[release]\nepsilon = {share * largest.epsilon!r}")).quick_prior_factor
        for share in (0.8, 0.5)
    )
    assert some is not None
    assert more is not None
    assert 1.15 < some < more


def test_listed_columns_are_proven_under_a_wrong_prior() -> None:
    """A table of all combinations: what the plan's factor allows is where the choice without it says that it breaks."""
    columns = {
        "city": 'levels = ["a", "b", "c"]\nprior = { categorical = { a = 0.2, b = 0.3, c = 0.5 } }',
        "job": 'levels = ["x", "y"]\nprior = { categorical = { x = 0.4, y = 0.6 } }',
    }
    listed = ("SELECT COUNT(*) AS n FROM t WHERE city = 'a' OR job = 'x'", columns)
    goal = '[attacker]\ngoal = "city exactly and job exactly"\nadvantage = 0.1'
    strict = choose(plan(*listed, goal + "\nprior_factor = 2"))
    assert strict.advantage is not None
    assert strict.advantage.status == "proven"
    found = choose(plan(*listed, goal, f"[release]\nepsilon = {strict.epsilon!r}"))
    assert found.quick_prior_factor == pytest.approx(2, rel=2e-3)


def test_an_epsilon_that_needs_no_prior_says_so() -> None:
    """Two values: with odds of 0.7 that may be wrong by ×2 even odds are among them, the worst of all; by ×1.05 not."""
    columns = {"job": 'levels = ["x", "y"]\nmissing = false\nprior = { categorical = { x = 0.35, y = 0.65 } }'}
    asked = ("SELECT COUNT(*) AS n FROM t WHERE job = 'x'", columns)
    goal = '[attacker]\ngoal = "job exactly"\nadvantage = 0.1\nprior_factor = '
    free, bound = (choose(plan(*asked, goal + factor)) for factor in ("2", "1.05"))
    assert (free.needs_no_prior, free.largest_prior_factor) == (True, math.inf)
    assert (bound.needs_no_prior, bound.largest_prior_factor) == (False, 1.05)
    belief = choose(plan(*asked, goal + "1.5\nposterior = 0.8"))  # holds for no prior that is above it already
    assert not belief.needs_no_prior
    assert belief.largest_prior_factor is not None
    assert belief.largest_prior_factor < math.inf


def test_words() -> None:
    assert misjudged_words(math.inf) == "the promise holds however wrong the prior is"
    assert "declared prior only" in misjudged_words(1.0)
    assert misjudged_words(1.2345678).endswith("×1.234")


def test_factor_one_is_the_same_request() -> None:
    today, said, wrong = (cafeteria(AT + more) for more in ("", "\nprior_factor = 1", "\nprior_factor = 1.5"))
    assert identity_text(today.file, {}) == identity_text(said.file, {}) != identity_text(wrong.file, {})


@pytest.mark.parametrize("value", ["0.5", "-1", "inf", "nan", '"2"'])
def test_bad_factors(value: str) -> None:
    with pytest.raises(PlanError, match="prior_factor"):
        cafeteria(AT + f"\nprior_factor = {value}")


def test_a_prior_that_believes_nobody_within_the_bounds_proves_nothing_there() -> None:
    """As one in cents beside bounds in euros: no true value has any mass to prove something with."""
    far = {"time": "bounds = [0, 120]\nmissing = false\nprior = { normal = { mean = 3652, sd = 6.28 } }"}
    limit = '[attacker]\ngoal = "time within 2"\nadvantage = 0.05'
    choice = choose(plan(CAFETERIA[0], far, limit, "[accuracy]\nwithin = 1.5", rows=120))
    assert choice.to_dict()["largest_prior_factor"] == 1.0
