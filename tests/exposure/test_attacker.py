"""Who attacks: which columns tell of his goal, whom an OR is divided among, and what he believes."""

from __future__ import annotations

import pytest

import guessproof as gp
from guessproof.exposure import Attacker
from guessproof.world.goals import Goal
from guessproof.world.joint import joint_table
from guessproof.world.priors import Unknown

X = gp.Attribute("x", prior=gp.normal(0, 2))
G = gp.Attribute("g", prior=gp.categorical({"a": 0.5, "b": 0.5}))
H = gp.Attribute("h", prior=gp.categorical({"a": 0.5, "b": 0.5}))
OR = {"x": X, "g": G}


def either(parts: dict[str, gp.Attribute]) -> Goal:
    return gp.within(parts["x"], 1) | gp.exactly(parts["g"])


def joint() -> dict[str, gp.Attribute]:
    rows = {("a", "u"): 0.4, ("a", "v"): 0.1, ("b", "u"): 0.1, ("b", "v"): 0.4}
    table = joint_table(("g", "k"), rows)
    return {name: gp.Attribute(name, prior=table.marginal(name)) for name in ("g", "k")}


def test_a_column_outside_the_goal_on_which_one_inside_depends_is_tied() -> None:
    parts = joint()
    assert Attacker(parts, lambda p: gp.exactly(p["g"])).tied == {"k"}
    assert Attacker(parts, lambda p: gp.exactly(p["g"]) & gp.exactly(p["k"])).tied == frozenset()
    assert Attacker(OR, either).tied == frozenset()


def test_each_alternative_is_an_attacker_with_what_concerns_him() -> None:
    whole = Attacker(OR, either, {"x": 1.0, "g": "a"}, {"x": (-2.0, 2.0)}, or_="each")
    first, second = whole.alternatives
    assert (first.names, first.at, first.knows) == (("x",), {"x": 1.0}, {"x": (-2.0, 2.0)})
    assert (second.names, second.at, second.knows) == (("g",), {"g": "a"}, None)
    assert first.alternatives == ()
    assert Attacker(OR, either).alternatives == ()
    assert Attacker(OR, lambda p: gp.within(p["x"], 1), or_="each").alternatives == ()


def test_an_alternative_keeps_what_is_known_of_columns_that_it_depends_on() -> None:
    parts = {**joint(), "x": X}
    whole = Attacker(
        parts, lambda p: gp.exactly(p["g"]) | gp.within(p["x"], 1), None, {"k": {"u"}, "x": (0.0, 1.0)}, or_="each"
    )
    assert [one.knows for one in whole.alternatives] == [{"k": {"u"}}, {"x": (0.0, 1.0)}]


def test_what_is_listed_and_what_is_believed() -> None:
    assert not Attacker(OR, either).has_listed_values
    assert Attacker({"g": G}, lambda p: gp.exactly(p["g"])).has_listed_values
    assert Attacker(OR, either).has_prior
    blank = {"x": gp.Attribute("x", prior=Unknown(0.0, 10.0))}
    assert not Attacker(blank, lambda p: gp.within(p["x"], 1)).has_prior


def test_narrower_and_wider_priors_concern_the_goal_alone() -> None:
    parts = {"x": X, "y": gp.Attribute("y", prior=gp.normal(0, 3)), "g": G}
    narrow = Attacker(parts, lambda p: gp.within(p["x"], 1)).stretched(0.75)
    assert narrow is not None
    assert narrow.attributes["x"].prior.quantile(0.9) == pytest.approx(0.75 * X.prior.quantile(0.9))
    assert narrow.attributes["y"] == parts["y"]
    assert narrow.goal == gp.within(narrow.attributes["x"], 1)
    assert Attacker(parts, lambda p: gp.exactly(p["g"])).stretched(0.75) is None
