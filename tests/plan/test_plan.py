"""What a plan means: its attributes, goal, limits, accuracy and paths."""

from __future__ import annotations

from typing import Any

import pytest

import guessproof as gp
from guessproof.errors import PlanError
from guessproof.plan import load_plan, loads_plan
from plan.texts import BASE, GOOD, refused


def test_the_product_s_own_example() -> None:
    plan = load_plan(GOOD / "cafeteria.toml")
    assert (plan.data.name, plan.data.table, plan.data.protects, plan.data.rows) == ("cafeteria", "t", "values", 120)
    assert plan.columns["time"].bounds == (0.0, 120.0)
    assert plan.columns["time"].missing is True
    time = plan.attributes()["time"]
    assert time == gp.Attribute("time", prior=gp.normal(20, 6.28), bounds=(0, 120))
    assert time.metric is None
    assert plan.goal() == gp.within(time, 2)
    assert (plan.limits.advantage, plan.limits.posterior, plan.limits.both) == (0.05, None, False)
    assert plan.questions[0].accuracy.targets(["mean_time"]) == {"mean_time": (1.5, 0.95)}
    assert plan.release.mechanism == "laplace"
    assert plan.source == str(GOOD / "cafeteria.csv")
    assert plan.ledger_path == GOOD / "guessproof.ledger"
    assert plan.risk is None


def test_a_true_value_is_said_as_people_would_and_in_the_plan_s_words() -> None:
    plan = load_plan(GOOD / "cafeteria.toml")
    assert [plan.truth_words(at) for at in (24.714729492734378, 20.0, 20)] == ["24.7", "20", "20"]
    cats = load_plan(GOOD.parents[2] / "examples/cats/plan.toml")
    assert cats.truth_words({"colour": "tabby", "gender": "F"}) == "colour = tabby, gender = queen"


def test_a_goal_is_built_on_the_attributes_that_are_given() -> None:
    plan = load_plan(GOOD / "cafeteria.toml")
    scaled = gp.Attribute("time", prior=gp.normal(20, 6.28), metric=gp.Absolute(120))
    assert plan.goal({"time": scaled}) == gp.within(scaled, 2)
    with pytest.raises(PlanError, match="line 16"):
        plan.goal({})


def test_what_the_attacker_knows_is_ready_for_an_attack() -> None:
    plan = loads_plan(
        BASE.replace("[columns.a]", "[columns.b]\nprior = { categorical = { x = 0.5, y = 0.3, z = 0.2 } }\n[columns.a]")
        + '[attacker]\ngoal = "a within 1 and b exactly"\nadvantage = 0.1\n'
        + 'at = { a = 4, b = "x" }\nknows = { a = [3, 8], b = ["x", "y"] }\n'
    )
    assert plan.attacker is not None
    assert plan.attacker.knows == {"a": (3.0, 8.0), "b": frozenset({"x", "y"})}
    attack = gp.Attack(plan.goal(), at=plan.attacker.at, knows=plan.attacker.knows, or_=plan.attacker.or_)
    narrow = gp.within(gp.Attribute("a", prior=gp.normal(5, 2).given(3, 8)), 1)
    assert attack.prior == pytest.approx(gp.Attack(narrow, at={"a": 4}).prior * 0.5 / 0.8)


def test_true_values_take_the_prior_s_own_type() -> None:
    text = BASE.replace("prior = { normal = { mean = 5, sd = 2 } }", "prior = { categorical = { 1 = 0.5, 2 = 0.5 } }")
    text += '[attacker]\ngoal = "a exactly"\nadvantage = 0.1\nat = { a = 2 }\n'
    assert "categories" in str(refused(text))  # keys of a table are texts
    plan = loads_plan(text.replace("bounds = [0, 10]", "levels = [1, 2]"))
    assert plan.attributes()["a"].prior.values == (1, 2)
    assert plan.attacker is not None
    assert plan.attacker.at == {"a": 2}


def test_accuracy_by_output() -> None:
    plan = load_plan(GOOD / "salaries.toml")
    assert plan.questions[0].accuracy.targets(["total", "n"]) == {"total": (10_000.0, 0.9), "n": (3.0, 0.99)}
    assert loads_plan(BASE).questions[0].accuracy.targets(["s"]) == {}
    with pytest.raises(PlanError, match=r"line 29: accuracy\.n: is not an output.*use one of total, m") as caught:
        plan.questions[0].accuracy.targets(["total", "m"])
    assert caught.value.line == 29
    inherited = (
        loads_plan(BASE + "[accuracy]\nwithin = 2\nconfidence = 0.8\n[accuracy.s]\nconfidence = 0.9")
        .questions[0]
        .accuracy
    )
    assert inherited.targets(["s", "r"]) == {"s": (2.0, 0.9), "r": (2.0, 0.8)}


def test_paths_are_relative_to_the_plan_and_names_of_variables_stay() -> None:
    plan = load_plan(GOOD / "salaries.toml")
    assert plan.source == "env:DATABASE_URL"
    assert plan.ledger_path == GOOD / "books" / "salaries.ledger"
    assert loads_plan(BASE, folder="/srv/data").source == "/srv/data/x.csv"
    assert loads_plan(BASE.replace("x.csv", "/else/x.csv"), folder="/srv/data").source == "/else/x.csv"


def test_a_plan_is_frozen() -> None:
    plan: Any = load_plan(GOOD / "cafeteria.toml")
    for change in (
        lambda: setattr(plan, "path", None),
        lambda: setattr(plan.data, "rows", 3),
        lambda: setattr(plan.columns["time"], "bounds", None),
        lambda: plan.columns.update({}),
    ):
        with pytest.raises((AttributeError, ValueError)):
            change()
    plan.attributes().clear()
    assert plan.attributes()


def test_a_plan_without_an_attacker_has_no_goal() -> None:
    with pytest.raises(PlanError, match="no attacker"):
        loads_plan(BASE).goal()


def test_other_rooms_can_point_at_a_line() -> None:
    error = loads_plan(BASE, file="my.toml").error(("query", "sql"), "x", "is wrong", "mend it")
    assert str(error) == "my.toml, line 7: query.sql: is wrong (got 'x'); mend it"
