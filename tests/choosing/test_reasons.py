"""Why this ε: which bound decides, in which words, and changes that each by itself would open the interval."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import guessproof as gp
from choosing.plans import CAFETERIA, plan
from guessproof.choosing import Limit, choose
from guessproof.choosing.choice import Change
from guessproof.choosing.chooser import Chooser
from guessproof.choosing.reasons import binding_name, explain_choice, limit_words, target_words
from guessproof.plan import Plan
from guessproof.world.distances import Clamped

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
    assert "may rise by 5 percentage points" in words
    assert "may reach 40 %" in words
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


@pytest.mark.parametrize("what", ["within", "advantage"])
def test_every_change_that_is_named_would_help_by_itself(what: str) -> None:
    choice = choose(cafeteria(ATTACKER, TIGHT))
    then = next(c.then for c in choice.changes if c.what.endswith(what))
    changed = {
        "within": lambda: cafeteria(ATTACKER, TIGHT.replace("0.15", then)),
        "advantage": lambda: cafeteria(ATTACKER.replace("0.05", then), TIGHT),
    }[what]()
    assert not choice.feasible
    assert choose(changed).feasible


TWO = "SELECT SUM(a) AS one, COUNT(*) FILTER (WHERE b = 'yes') AS two FROM t"
COLUMNS = {
    "a": "bounds = [0, 10]\nmissing = false\nprior = { normal = { mean = 5, sd = 2 } }",
    "b": "missing = false\nprior = { categorical = { yes = 0.3, no = 0.7 } }",
}


def applied(text: str, change: Change, wanted: dict[str, tuple[float, float]]) -> str:
    """The further tables of a plan after a change, as somebody would type it."""
    place, _, key = change.what.rpartition(": ")
    if change.what == "release.times":
        return text.replace(f"times = {change.now}", f"times = {change.then}")
    if place == "attacker":
        return text.replace(f"{key} = {change.now}", f"{key} = {change.then}")
    for name, (within, confidence) in wanted.items():
        factor = float(change.then) if place == "accuracy of every output" else 1
        new = {"within": within * factor, "confidence": confidence}
        if place == f"accuracy of {name}":
            new |= {key: float(change.then)}
        old = f"[accuracy.{name}]\nwithin = {within!r}\nconfidence = {confidence!r}"
        assert old in text
        text = text.replace(old, f"[accuracy.{name}]\nwithin = {new['within']!r}\nconfidence = {new['confidence']!r}")
    return text


@settings(max_examples=15, deadline=None)
@given(
    st.floats(0.02, 30),
    st.floats(0.02, 30),
    st.sampled_from([0.6, 0.9, 0.99]),
    st.sampled_from([0.01, 0.1, 0.4]),
    st.sampled_from([None, 0.3, 3.0]),
    st.sampled_from([1, 4]),
)
def test_every_way_out_works_as_it_is_printed(
    one: float, two: float, confidence: float, advantage: float, remaining: float | None, times: int
) -> None:
    wanted = {"one": (one, confidence), "two": (two, 0.9)}
    targets = "".join(f"[accuracy.{n}]\nwithin = {w!r}\nconfidence = {c!r}\n" for n, (w, c) in wanted.items())
    goal = f'[attacker]\ngoal = "b exactly"\nadvantage = {advantage}\n'
    text = f"{goal}{targets}[release]\ntimes = {times}\n"
    choice = choose(plan(TWO, COLUMNS, text), remaining=remaining)
    assume(not choice.feasible)
    assert choice.changes
    for change in choice.changes:
        assert change.what != "data.rows"
        if change.what.startswith("budget"):
            assert choose(plan(TWO, COLUMNS, text), remaining=float(change.then)).feasible
        else:
            changed = plan(TWO, COLUMNS, applied(text, change, wanted))
            assert choose(changed, remaining=remaining).feasible, change
        if change.what.startswith("attacker") or change.what.endswith("confidence"):
            assert float(change.then) <= 0.99


def test_a_budget_that_is_too_small_is_no_matter_of_the_attacker() -> None:
    choice = choose(cafeteria(ATTACKER, EASY), remaining=0.5)
    assert not choice.feasible
    assert {change.what.partition(":")[0] for change in choice.changes} == {"accuracy of mean_time", "budget"}
    (budget,) = [change for change in choice.changes if change.what.startswith("budget")]
    assert choose(cafeteria(ATTACKER, EASY), remaining=float(budget.then)).feasible


def test_two_targets_that_must_both_give_way_are_changed_together() -> None:
    targets = "[accuracy]\nwithin = 0.1"
    choice = choose(plan(TWO, COLUMNS, targets), remaining=0.5)
    assert [change.what for change in choice.changes] == ["accuracy of every output: times", "budget: ε that is left"]
    assert "accuracy of every output" in choice.explanation


def test_where_no_single_change_helps_that_is_said() -> None:
    bounds = [limit("attacker", 1.0), limit("accuracy", 3.0, "at least")]
    words = explain_choice(cafeteria(ATTACKER), bounds, 1.0, False, (3.0, 1.0), (), None, (), {})
    assert words.endswith("No single change of the plan helps: ask for a larger error and allow more together.")


def test_a_change_that_moves_no_limit_is_tried_without_another_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, search = list[object](), Chooser._allowed
    monkeypatch.setattr(Chooser, "_allowed", lambda self, exposure: (searched.append(0), search(self, exposure))[1])
    wish = "[attacker]\ngoal = 'time within 2'\nadvantage = 0.05\n", "[accuracy]\nwithin = 0.2\nconfidence = 0.95\n"
    found = choose(plan(*CAFETERIA, *wish, rows=120))
    assert not found.feasible
    assert {c.what for c in found.changes} >= {"accuracy of mean_time: within", "attacker: advantage"}
    others = [c for c in found.changes if not c.what.endswith(": within")]
    assert len(searched) == 1 + len(others)  # a larger error alone asks nothing new of the attacker
