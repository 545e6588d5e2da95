"""What a given ε means for a plan: the attack, the noise and the limits, each computed another way."""

from __future__ import annotations

import json
import math

import pytest
from choosing.plans import CAFETERIA, plan

import guessproof as gp
from guessproof.errors import ParameterError
from guessproof.meaning import meaning
from guessproof.plan import Plan
from guessproof.world.distances import Clamped

ATTACKER = '[attacker]\ngoal = "time within 2"\nadvantage = 0.05'
AT = ATTACKER + "\nat = { time = 20 }"
ACCURACY = "[accuracy]\nwithin = 1.5\nconfidence = 0.9"


def cafeteria(*more: str) -> Plan:
    return plan(*CAFETERIA, *more, rows=120)


def attack() -> gp.Attack:
    """The average of 120 people: a clamped column, one person 120 units of ε apart at most."""
    time = gp.Attribute("time", prior=gp.normal(20, 6.28), metric=Clamped(0, 120, scale=120))
    return gp.Attack(gp.within(time, 2), at={"time": 20})


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_beliefs_are_those_of_the_attack_at_that_epsilon(epsilon: float) -> None:
    found = meaning(cafeteria(AT), epsilon)
    assert found.prior == pytest.approx(attack().prior)
    assert found.posterior is not None
    assert found.advantage is not None
    assert float(found.posterior.bound) == pytest.approx(float(attack().posterior(epsilon).bound), rel=1e-9)
    assert float(found.advantage.bound) == pytest.approx(float(attack().advantage(epsilon).bound), rel=1e-9)
    assert found.epsilon == epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_noise_and_error_are_laplaces(epsilon: float) -> None:
    """One of 120 people moves the average by 1 at most: scale 1/ε, and a quantile of that."""
    found = meaning(cafeteria(ACCURACY), epsilon)
    assert found.noises[0].scale == pytest.approx(1 / epsilon, rel=1e-6)
    assert found.errors == {"mean_time": pytest.approx(math.log(1 / (1 - 0.9)) / epsilon, rel=1e-6)}


def test_an_output_that_depends_on_its_answer_has_no_error_of_its_own() -> None:
    whole = plan("SELECT SUM(time) / COUNT(*) AS y, COUNT(*) AS n FROM t", CAFETERIA[1], protects="records")
    found = meaning(whole, 1.0)
    assert found.errors["y"] is None
    assert found.errors["n"] is not None


def test_limits_are_kept_or_not() -> None:
    asked = cafeteria(AT, ACCURACY.replace("1.5", "0.15"))
    allowed = attack().epsilon(advantage=0.05)
    needed = math.log(10) / 0.15
    assert allowed < needed  # so that no ε keeps both
    for epsilon, kept in (
        (allowed * 0.99, {"attacker": True, "accuracy": False}),
        (allowed * 1.01, {"attacker": False, "accuracy": False}),
        (needed * 1.01, {"attacker": False, "accuracy": True}),
    ):
        assert {limit.name: limit.kept for limit in meaning(asked, epsilon).limits} == kept


def test_without_an_attacker_only_what_holds_for_all_data_is_said() -> None:
    found = meaning(cafeteria(ACCURACY), 2.0)
    assert (found.prior, found.posterior, found.advantage) == (None, None, None)
    assert found.general.worst_advantage == pytest.approx(math.tanh(0.5))


def test_a_range_without_a_prior_has_an_advantage_but_no_belief() -> None:
    found = meaning(plan("SELECT SUM(x) AS y FROM t", {"x": "bounds = [0, 10]\nprior = { unknown = {} }"},
                         '[attacker]\ngoal = "x within 1"\nadvantage = 0.1'), 1.0)  # fmt: skip
    assert found.posterior is None
    assert found.prior is None
    assert found.advantage is not None
    assert 0 < float(found.advantage.bound) <= math.tanh(1 / 4) + 1e-9


def test_it_is_ready_for_other_programs() -> None:
    found = meaning(cafeteria(AT, ACCURACY), 1.0)
    assert {limit.name: limit.kept for limit in found.limits} == {"attacker": True, "accuracy": False}
    assert found.errors["mean_time"] == pytest.approx(-math.log(0.1))
    table = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert table["epsilon"] == table["general"]["epsilon"] == 1.0
    assert [limit["name"] for limit in table["limits"]] == ["attacker", "accuracy"]
    assert table["posterior"]["bound"] > table["prior"]


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_an_epsilon_that_is_none_is_refused(epsilon: float) -> None:
    with pytest.raises(ParameterError):
        meaning(cafeteria(AT), epsilon)


def test_the_plans_own_choice_says_the_same_as_a_new_look() -> None:
    """What was answered while choosing is not asked again; at another ε it is."""
    plan = cafeteria(AT)
    choice = gp.choose(plan)
    anew, known = meaning(plan, choice.epsilon), meaning(plan, choice.epsilon, choice=choice)
    assert known.limits == anew.limits
    assert known.largest_prior_factor == choice.largest_prior_factor
    for one, other in ((known.advantage, anew.advantage), (known.posterior, anew.posterior)):
        assert one is not None
        assert other is not None
        assert one.bound == pytest.approx(other.bound, rel=1e-8)
    assert meaning(plan, choice.epsilon / 2, choice=choice).advantage == meaning(plan, choice.epsilon / 2).advantage
