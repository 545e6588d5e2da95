"""Why this ε: which bound decides, in which words, and changes that each by itself would open the interval."""

from __future__ import annotations

import math

import pytest

import guessproof as gp
from choosing.plans import CAFETERIA, plan
from guessproof.choosing import Limit, choose
from guessproof.choosing.reasons import binding_name, limit_words, target_words
from guessproof.plan import Plan
from guessproof.world.metrics import Clamped

ATTACKER = '[attacker]\ngoal = "time within 2"\nadvantage = 0.05\nat = { time = 20 }'
EASY = "[accuracy]\nwithin = 1.5\nconfidence = 0.9"
TIGHT = "[accuracy]\nwithin = 0.15\nconfidence = 0.9"


def cafeteria(*more: str, rows: int = 120) -> Plan:
    return plan(*CAFETERIA, *more, rows=rows)


def limit(name: str, epsilon: float, side: str = "at most") -> Limit:
    return Limit(name, epsilon, side, "")


def test_the_accuracy_decides_where_there_is_a_target_else_the_least_upper_bound() -> None:
    above = [limit("attacker", 2.0), limit("budget", 1.0)]
    assert binding_name(above, True, None) == "budget"
    assert binding_name([*above, limit("accuracy", 0.5, "at least")], True, None) == "accuracy"
    assert binding_name(above, True, 0.7) == "fixed"
    assert binding_name([*above, limit("accuracy", 3.0, "at least")], False, None) == "accuracy and budget"
    assert binding_name([limit("accuracy", 3.0, "at least")], False, None) == "accuracy"


def test_limits_and_targets_in_words() -> None:
    asked = cafeteria(ATTACKER + "\nposterior = 0.4")
    words = limit_words(asked)
    assert "may rise by 0.05" in words
    assert "may reach 0.4" in words
    assert "time within 2" in words
    assert target_words({"y": (1.5, 0.9)}, {}) == "y within 1.5 with 90% confidence"


def test_the_explanation_names_what_was_decided() -> None:
    most = choose(cafeteria(ATTACKER)).explanation
    assert "the most that the limits allow (attacker binds)" in most
    least = choose(cafeteria(EASY)).explanation
    assert "the least that meets the accuracy" in least
    fixed = choose(cafeteria(EASY, "[release]\nepsilon = 4")).explanation
    assert "ε = 4, as the plan fixes it" in fixed
    outside = choose(cafeteria(EASY, "[release]\nepsilon = 0.01"))
    assert not outside.feasible
    assert "release.epsilon = 0.01 lies outside" in outside.explanation
    budget = choose(cafeteria(ATTACKER), remaining=0.25).explanation
    assert "write epsilon = 0.25 under [release]" in budget


def test_infeasible_says_by_how_much_and_the_smallest_way_out() -> None:
    choice = choose(cafeteria(ATTACKER, TIGHT))
    time = gp.Attribute("time", prior=gp.normal(20, 6.28), metric=Clamped(0, 120, scale=120))
    allowed = gp.Attack(gp.within(time, 2), at={"time": 20}).epsilon(advantage=0.05)
    needed = math.log(10) / 0.15
    assert not choice.feasible
    assert choice.interval == (pytest.approx(needed, rel=1e-6), pytest.approx(allowed, rel=1e-6))
    smallest = min(choice.changes, key=lambda change: change.factor)
    assert f"The smallest change that helps: {smallest.what} {smallest.then}" in choice.explanation


@pytest.mark.parametrize("what", ["within", "confidence", "rows", "advantage"])
def test_every_change_that_is_named_would_help_by_itself(what: str) -> None:
    choice = choose(cafeteria(ATTACKER, TIGHT))
    then = next(c.then for c in choice.changes if c.what.endswith(what))
    changed = {
        "within": lambda: cafeteria(ATTACKER, TIGHT.replace("0.15", then)),
        "confidence": lambda: cafeteria(ATTACKER, TIGHT.replace("0.9", then)),
        "rows": lambda: cafeteria(ATTACKER, TIGHT, rows=int(then)),
        "advantage": lambda: cafeteria(ATTACKER.replace("0.05", then), TIGHT),
    }[what]()
    assert not choice.feasible
    assert choose(changed).feasible
