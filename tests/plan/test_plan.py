"""What a plan means: its attributes, goal, limits, risk, accuracy, paths; and its canonical text."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import guessproof as gp
from guessproof.errors import PlanError
from guessproof.plan import Plan, load_plan, loads_plan
from guessproof.world.joint import joint_of

GOOD = Path(__file__).parent / "good"
BASE = """
[data]
name = "x"
source = "x.csv"
protects = "values"
[query]
sql = "SELECT SUM(a) AS s FROM t"
[columns.a]
bounds = [0, 10]
prior = { normal = { mean = 5, sd = 2 } }
"""
ATTACKER = '[attacker]\ngoal = "a within 1"\n'


def refused(text: str) -> PlanError:
    with pytest.raises(PlanError) as caught:
        loads_plan(text)
    return caught.value


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
    assert plan.accuracy.targets(["mean_time"]) == {"mean_time": (1.5, 0.95)}
    assert plan.release.mechanism == "laplace"
    assert plan.source == str(GOOD / "cafeteria.csv")
    assert plan.ledger_path == GOOD / "guessproof.ledger"
    assert plan.risk is None


def test_a_goal_is_built_on_the_attributes_that_are_given() -> None:
    plan = load_plan(GOOD / "cafeteria.toml")
    scaled = gp.Attribute("time", prior=gp.normal(20, 6.28), metric=gp.Absolute(120))
    assert plan.goal({"time": scaled}) == gp.within(scaled, 2)
    with pytest.raises(PlanError, match="line 16"):
        plan.goal({})


def test_every_prior_is_the_library_s_own() -> None:
    found = {name: attribute.prior for name, attribute in load_plan(GOOD / "every_prior.toml").attributes().items()}
    assert found.pop("i").joint == found.pop("j").joint == gp.joint_sample(("i", "j"), [(1, "x"), (1, "x"), (2, "y")])
    assert found == {
        "a": gp.uniform(0, 10),
        "b": gp.exponential(2),
        "c": gp.laplace(0, 1.5),
        "d": gp.histogram([0, 1, 2], [0.25, 0.75]),
        "e": gp.empirical([1, 2, 2, 3]),
        "f": gp.unknown(0, 1),
        "g": gp.unknown(-1, 1),
        "h": gp.partly_known(1, 0.5, 0, 9),
        "with space": gp.categorical({"New York": 0.5, "it's": 0.5}),
    }


def test_joint_priors_are_shared_by_their_attributes() -> None:
    plan = load_plan(GOOD / "cats.toml")
    sex, colour = (plan.attributes()[name] for name in ("sex", "colour"))
    assert joint_of(sex) is joint_of(colour) is not None
    assert sex.prior.weights == (0.5, 0.5)
    ships = load_plan(GOOD / "ships.toml").attributes()
    assert joint_of(ships["lon"]) == joint_of(ships["lat"]) is not None
    assert ships["lat"].bounds == (-100, 100)


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


@pytest.mark.parametrize(
    ("limits", "posterior"),
    [
        ('odds = "1 in 3"', 1 / 3),
        ('odds = " 1  in 4 "', 0.25),
        ('odds = "2.5 in 10"', 0.25),
        ('posterior = 0.3\nodds = "1 in 3"', 0.3),
        ('posterior = 0.4\nodds = "1 in 3"', 1 / 3),
        ("posterior = 1", 1.0),
    ],
)
def test_odds_are_probabilities_and_the_stricter_limit_counts(limits: str, posterior: float) -> None:
    assert loads_plan(BASE + ATTACKER + limits).limits.posterior == posterior


@pytest.mark.parametrize("odds", ["1:3", "1 to 3", "1/3", "1-3"])
def test_odds_of_two_readings_are_refused_with_the_remedy(odds: str) -> None:
    assert '"1 in 3"' in str(refused(BASE + ATTACKER + f'odds = "{odds}"'))


def test_an_attacker_needs_a_limit_unless_something_else_decides() -> None:
    assert "no limit" in str(refused(BASE + ATTACKER))
    assert loads_plan(BASE + ATTACKER + "[release]\nepsilon = 0.5").limits.advantage is None
    assert loads_plan(BASE + ATTACKER + "[risk]\nbox = { relative = 3, p = 1 }").risk is not None


def test_risk_profiles_are_those_of_the_library() -> None:
    records = BASE.replace('"values"', '"records"')
    profiles = {
        "constant = 3": gp.RiskProfile.constant(3),
        "box = { relative = 3, p = [0, 0.2], q = [0.1, 1] }": gp.RiskProfile.box(3, p=(0, 0.2), q=(0.1, 1)),
        "box = { relative = 2, p = 1, q = 0.25 }": gp.RiskProfile.box(2, p=1, q=0.25),
        "fixed_inclusion = { p = 0.05, absolute = 0.15, relative = 3 }": gp.RiskProfile.fixed_inclusion(0.05, 0.15, 3),
        "fixed_value = { q = 1, absolute = 0.25, relative = 3 }": gp.RiskProfile.fixed_value(1, 0.25, 3),
        "points = [[0.001, 10], [0.4, 1.2]]": gp.RiskProfile.points([(0.001, 10), (0.4, 1.2)]),
        "points = { pairs = [[0.001, 10], [0.4, 1.2]], p = 1 }": gp.RiskProfile.points(
            [(0.001, 10), (0.4, 1.2)], p=(1, 1)
        ),
    }
    for text, profile in profiles.items():
        found = loads_plan(f"{records}\n[risk]\n{text}").risk
        assert found is not None
        assert repr(found) == repr(profile)
        assert found.epsilon() == profile.epsilon()
    both = loads_plan(records + "\n[risk]\nconstant = 2\nfixed_value = { q = 1, absolute = 0.25, relative = 3 }").risk
    assert both is not None
    assert both.epsilon() == pytest.approx(math.log(2) / 2)


@pytest.mark.parametrize("text", ["box = { relative = 2, p = 1 }", "fixed_inclusion = { p = 1, relative = 2 }"])
def test_under_values_a_profile_needs_certain_membership(text: str) -> None:
    assert loads_plan(f"{BASE}\n[risk]\n{text}").risk is not None
    assert "membership" in str(refused(f"{BASE}\n[risk]\n{text.replace('p = 1', 'p = 0.9')}"))


def test_accuracy_by_output() -> None:
    plan = load_plan(GOOD / "salaries.toml")
    assert plan.accuracy.targets(["total", "n"]) == {"total": (10_000.0, 0.9), "n": (3.0, 0.99)}
    assert loads_plan(BASE).accuracy.targets(["s"]) == {}
    with pytest.raises(PlanError, match=r"line 29: accuracy\.n: is not an output.*use one of total, m") as caught:
        plan.accuracy.targets(["total", "m"])
    assert caught.value.line == 29
    inherited = loads_plan(BASE + "[accuracy]\nwithin = 2\nconfidence = 0.8\n[accuracy.s]\nconfidence = 0.9").accuracy
    assert inherited.targets(["s", "r"]) == {"s": (2.0, 0.9), "r": (2.0, 0.8)}


def test_paths_are_relative_to_the_plan_and_names_of_variables_stay() -> None:
    plan = load_plan(GOOD / "salaries.toml")
    assert plan.source == "env:DATABASE_URL"
    assert plan.ledger_path == GOOD / "books" / "salaries.ledger"
    assert loads_plan(BASE, folder="/srv/data").source == "/srv/data/x.csv"
    assert loads_plan(BASE.replace("x.csv", "/else/x.csv"), folder="/srv/data").source == "/else/x.csv"


def test_what_a_column_holds() -> None:
    plan = load_plan(GOOD / "public_prior.toml")
    kinds = {name: plan.kind(name) for name in [*plan.columns, "elsewhere"]}
    assert kinds == {
        "time": "number", "department": None, "smoker": "truth", "children": "number", "group": None, "elsewhere": None
    }  # fmt: skip
    for said, kind in (
        ("", None),
        ('kind = "label"', "label"),
        ("levels = [true, false]", "truth"),
        ('true = ["yes"]\nfalse = ["no"]', "truth"),
        ("levels = [1, 2]", "number"),
        ('levels = ["1", "2"]', None),
        ("prior = { categorical = [[true, 0.5], [false, 0.5]] }", "truth"),
    ):
        assert loads_plan(BASE + f"[columns.b]\n{said}").kind("b") == kind, said


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ('kind = "label"\nbounds = [0, 1]', "hold numbers"),
        ('kind = "truth"\nlevels = [0, 1]', "hold numbers"),
        ('kind = "number"\nlevels = ["a"]', "hold labels"),
        ('kind = "number"\nlevels = [true, false]', "hold labels"),
        ('kind = "number"\nprior = { categorical = { a = 1 } }', "hold labels"),
        ('kind = "time"\nlevels = ["2020-01-01"]', "of times"),
        ('kind = "label"\ntrue = ["a"]\nfalse = ["b"]', "holds labels"),
        ('true = ["a"]', "needs false"),
        ('false = ["a"]', "needs true"),
        ('true = []\nfalse = ["a"]', "names no label"),
        ('true = ["a"]\nfalse = ["b", "a"]', "named twice"),
        ('levels = ["a", "b"]\ntrue = ["a"]\nfalse = ["c"]', "not among"),
    ],
)
def test_a_column_has_one_kind(said: str, problem: str) -> None:
    with pytest.raises(PlanError, match=problem) as caught:
        loads_plan(BASE + f"[columns.b]\n{said}")
    assert caught.value.line is not None
    assert caught.value.remedy


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


SPELLINGS = [
    BASE,
    "# a comment\n" + BASE.replace("[0, 10]", "[\n 0.0, # low\n 1e1,\n]"),
    BASE.replace("mean = 5, sd = 2", "sd = 2.0, mean = 5.0"),
    BASE.replace('name = "x"', "name = 'x'") + "[release]\nledger = 'guessproof.ledger'\n[accuracy]\n",
    """query = { sql = "SELECT SUM(a) AS s FROM t" }
    columns.a.prior.normal.mean = 5
    columns.a.prior.normal.sd = 2
    columns."a".bounds = [-0.0, 10]
    data = { protects = "values", source = "x.csv", name = "x", table = "t" }""",
]


def test_the_canonical_text_does_not_depend_on_the_order_of_columns() -> None:
    one, two = "[columns.b]\nbounds = [0, 1]\n", "[columns.c]\nmissing = false\n"
    assert loads_plan(BASE + one + two).canonical() == loads_plan(BASE + two + one).canonical()


@pytest.mark.parametrize("text", SPELLINGS)
def test_the_canonical_text_does_not_depend_on_spelling(text: str) -> None:
    assert loads_plan(text).canonical() == loads_plan(BASE).canonical()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "x"', 'name = "y"'),
        ("x.csv", "y.csv"),
        ("SUM(a)", "AVG(a)"),
        ("[0, 10]", "[0, 11]"),
        ("sd = 2", "sd = 2.0000001"),
        ("bounds", "missing = false\nbounds"),
        ("[columns.a]", "[columns.b]\n[columns.a]"),
        ('protects = "values"', 'protects = "values"\nrows = 3'),
        ("[query]", "[release]\nepsilon = 1\n[query]"),
        ("[query]", "[risk]\nbox = { relative = 3, p = 1 }\n[query]"),
    ],
)
def test_the_canonical_text_changes_with_the_meaning(old: str, new: str) -> None:
    assert loads_plan(BASE.replace(old, new)).canonical() != loads_plan(BASE).canonical()


def test_the_canonical_text_is_json_with_the_name_of_the_variable_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hunter2@host/db")
    plan = load_plan(GOOD / "salaries.toml")
    text = plan.canonical()
    assert "hunter2" not in text + repr(plan)
    assert json.loads(text)["data"]["source"] == "env:DATABASE_URL"


def test_what_is_known_may_be_an_endless_interval() -> None:
    def knowing(low: str) -> str:
        return loads_plan(BASE + ATTACKER + f"advantage = 0.1\nknows = {{ a = [{low}, inf] }}").canonical()

    assert knowing("4") == knowing("4.0") != knowing("3")


def test_a_public_file_counts_by_its_content(tmp_path: Path) -> None:
    def made(content: str) -> Plan:
        (tmp_path / "p.csv").write_text(content)
        return loads_plan(BASE.replace("{ normal = { mean = 5, sd = 2 } }", '{ from = "p.csv" }'), folder=tmp_path)

    assert made("a\n1\n2\n").canonical() == made("a\n1\n2\n").canonical()
    assert made("a\n1\n2\n").canonical() != made("a\n1\n3\n").canonical()


def test_a_plan_without_an_attacker_has_no_goal() -> None:
    with pytest.raises(PlanError, match="no attacker"):
        loads_plan(BASE).goal()


def test_other_rooms_can_point_at_a_line() -> None:
    error = loads_plan(BASE, file="my.toml").error(("query", "sql"), "x", "is wrong", "mend it")
    assert str(error) == "my.toml, line 7: query.sql: is wrong (got 'x'); mend it"
