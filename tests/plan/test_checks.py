"""What must fit together in a plan: limits, odds, risk profiles, one kind a column."""

from __future__ import annotations

import math

import pytest

import guessproof as gp
from guessproof.errors import PlanError
from guessproof.plan import load_plan, loads_plan
from plan.texts import ATTACKER, BASE, GOOD, refused


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
