"""The goal language: what is understood, with which precedence, and how refusals point at the place."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof import world as goals
from guessproof.errors import GoalError
from guessproof.plan.goals import read_goal
from guessproof.world.attributes import Attribute
from guessproof.world.priors import categorical, empirical, normal, uniform, unknown

TIME = Attribute("time", prior=normal(20, 6))
FACULTY = Attribute("faculty", prior=categorical({"math": 0.5, "cs": 0.3, "computer science": 0.2}))
CHILDREN = Attribute("children", prior=categorical({0: 0.5, 1: 0.3, 2: 0.2}))
SMOKER = Attribute("smoker", prior=categorical({True: 0.2, False: 0.8}))
AGE = Attribute("age group", prior=categorical({"0-17": 0.5, "18+": 0.5}))
LON, LAT = Attribute("lon", prior=uniform(-9, 9)), Attribute("lat", prior=normal(0, 3))
BLUR = Attribute("blur", prior=unknown(0, 9))
SIZES = Attribute("sizes", prior=empirical([1, 1.5, 2]))
ALL = {a.name: a for a in (TIME, FACULTY, CHILDREN, SMOKER, AGE, LON, LAT, BLUR, SIZES)}

t2, t5 = goals.within(TIME, 2), goals.inside(TIME, (5, 7))
f, s = goals.exactly(FACULTY), goals.exactly(SMOKER)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("time within 2", t2),
        ("  time   WITHIN 2.0\n", t2),
        ("time within 2e0", t2),
        ("time within 5%", goals.within(TIME, percent=5)),
        ("time within 5 %", goals.within(TIME, percent=5)),
        ("faculty exactly", f),
        ("blur exactly", goals.exactly(BLUR)),
        ("faculty among math, cs", goals.among(FACULTY, ["math", "cs"])),
        ("faculty among 'computer science',math", goals.among(FACULTY, ["computer science", "math"])),
        ('"faculty" among "math"', goals.among(FACULTY, ["math"])),
        ("children among 0, 2.0", goals.among(CHILDREN, [0, 2])),
        ("children within 1", goals.within(CHILDREN, 1)),
        ("sizes among 1.50", goals.among(SIZES, [1.5])),
        ("smoker among true", goals.among(SMOKER, [True])),
        ("'age group' among 0-17", goals.among(AGE, ["0-17"])),
        ("time inside 5 7", t5),
        ("time inside 5, 7", t5),
        ("time above 5", goals.inside(TIME, (5, math.inf))),
        ("time Below -5", goals.inside(TIME, (-math.inf, -5))),
        ("time above 7 or time below 5", goals.inside(TIME, (7, math.inf)) | goals.inside(TIME, (-math.inf, 5))),
        ("time inside -5 7, 20 21", goals.inside(TIME, (-5, 7), (20, 21))),
        ("(lon, lat) within 5 by l2", goals.near((LON, LAT), 5, by="l2")),
        ("(lon, lat) within 5", goals.near((LON, LAT), 5, by="l2")),
        ("(lon, 'lat') within 5 by LINF", goals.near((LON, LAT), 5, by="linf")),
        ("(time) within 2", t2),
        ("(time within 2)", t2),
        ("((time within 2))", t2),
        ("not time within 2", ~t2),
        ("not not time within 2", t2),
        ("time within 2 and faculty exactly", t2 & f),
        ("time within 2 or faculty exactly and smoker exactly", t2 | (f & s)),
        ("time within 2 and faculty exactly or smoker exactly", (t2 & f) | s),
        ("time within 2 and (faculty exactly or smoker exactly)", t2 & (f | s)),
        ("not time within 2 and faculty exactly", ~t2 & f),
        ("not (time within 2 and faculty exactly)", ~(t2 & f)),
        ("(lon, lat) within 5 and (time within 2 or faculty exactly)", goals.near((LON, LAT), 5) & (t2 | f)),
        ("faculty among math, cs or time within 2", goals.among(FACULTY, ["math", "cs"]) | t2),
        ("time inside 5 7 and smoker exactly", t5 & s),
    ],
)
def test_what_is_understood(text: str, meant: goals.Goal) -> None:
    assert read_goal(text).build(ALL) == meant


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("tme within 2", "tme", "did you mean time?"),
        ("Time within 2", "Time", "did you mean time?"),
        ("time withing 2", "withing", "did you mean within?"),
        ("time within 2 nad faculty exactly", "nad", "and, or"),
        ("time within 2 faculty exactly", "faculty", "and, or"),
        ("time within 2 by l2", "by", "leave it out"),
        ("(lon, lat) within 5%", "%", "give a number"),
        ("(lon, lat) within 5 by ly", "ly", "l1, l2, linf"),
        ("(lon, lat) exactly", "exactly", "within"),
        ("(lon, lat within 5", "within", ")"),
        ("faculty among maths", "maths", "did you mean math?"),
        ("faculty among Math", "Math", "did you mean math?"),
        ("faculty among", "", "among math, cs"),
        ("faculty among and", "and", "among math, cs"),
        ("children among three", "three", "choose from 0, 1, 2"),
        ("time inside 5", "", "inside 10 20"),
        ("time inside 5 7 9", "", "inside 10 20"),
        ("time above", "", "above 10"),
        ("time above 5 7", "7", "and, or"),
        ("faculty above 5", "faculty above 5", "among"),
        ("time inside 7 5", "time inside 7 5", "swap"),
        ("time within 0", "time within 0", "above 0"),
        ("time within 200%", "time within 200%", "at most 100"),
        ("time within 1e999", "1e999", "for instance"),
        ("and", "and", "for instance"),
        ("not", "", "for instance"),
        ("", "", "for instance"),
        ("time within 2 and", "", "for instance"),
        ("time within 2)", ")", "and, or"),
        ("time; within 2", ";", "quotes"),
        ("faculty among 'math", "'math", "close them"),
        ("lon exactly", "lon exactly", "within"),
        ("lon among 1, 2", "lon among 1, 2", "inside"),
        ("faculty within 2", "faculty within 2", "exactly or among"),
        ("(time, time) within 2", "(time, time) within 2", "each once"),
        ("(" * 60 + "time within 2", "(", "fewer parentheses"),
        ("not " * 400 + "time within 2", "not", "fewer parentheses"),
    ],
)
def test_refusals_underline_the_place(text: str, place: str, hint: str) -> None:
    with pytest.raises(GoalError) as caught:
        read_goal(text).build(ALL)
    message = str(caught.value)
    assert hint in message
    shown, marks = message.rsplit("\n", 2)[1:]
    start = marks.index("^")
    assert marks.rstrip() == " " * start + "^" * max(1, len(place))
    assert shown[start : start + len(place)] == place


def test_many_goals_side_by_side_are_not_deep() -> None:
    built = read_goal(" or ".join(f"(not time within {i})" for i in range(1, 75))).build(ALL)
    assert isinstance(built, goals.Or)
    assert len(built.parts) == 74


def test_a_goal_knows_its_columns_and_can_be_built_again_on_others() -> None:
    text = read_goal("time within 2 or (lon, lat) within 1 or time inside 1 2")
    assert text.names == ("time", "lon", "lat")
    other = Attribute("time", prior=normal(0, 1), scale=3)
    assert text.build(ALL | {"time": other}).attributes[0] is other


def test_a_column_without_a_prior_is_told_apart_from_an_unknown_one() -> None:
    with pytest.raises(GoalError, match=r'add prior to \[columns\."my time"\]'):
        read_goal("'my time' within 2").build(ALL, ("my time",))
    with pytest.raises(GoalError, match=r'declare it as \[columns\."my day"\]'):
        read_goal("'my day' within 2").build(ALL, ("another",))


WORDS = st.sampled_from(
    ["time", "faculty", "within", "exactly", "among", "inside", "above", "and", "or", "not", "(", ")", ",", "2", "%",
     "by", "l2", "math", "'", '"', "-", "lon", "lat", ".5", "\n", "é", "[", "1e9"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=30), st.lists(WORDS, max_size=12).map(" ".join), st.lists(WORDS).map("".join)))
def test_any_text_is_a_goal_or_a_goal_error(text: str) -> None:
    try:
        built = read_goal(text).build(ALL)
    except GoalError:
        return
    assert isinstance(built, goals.Goal)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("weight / (height * height) within 1", "weight / (height * height) within 1"),
        ("(weight + height) / 2 within 5%", "(weight + height) / 2 within 5 %"),
        ("weight -3 * height + 2 within 1", "weight - 3 * height + 2 within 1"),
        ("-weight + height ^ 2 inside 3 4", "-1 * weight + height ^ 2 in [3, 4]"),
        ("weight + height above 3", "weight + height ≥ 3"),
        ("sqrt(weight ** 2 + height ** 2) within 1 and weight within 2",
         "sqrt(weight ^ 2 + height ^ 2) within 1 & weight within 2"),
        ("not (weight * height within 3 or max(weight, height) within 1)",
         "~(weight * height within 3 | max(weight, height) within 1)"),
    ],
)  # fmt: skip
def test_formulas_are_read(words: str, shown: str) -> None:
    both = {name: Attribute(name, prior=normal(3, 1)) for name in ("weight", "height")}
    assert repr(read_goal(words).build(both)) == shown


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("weight / within 1", "is no part of a formula"),
        ("(weight + height within 1", "the parenthesis is not closed"),
        ("weight + height exactly", "does not say what is wanted of the formula"),
        ("weight ^ height within 1", "a power is a fixed number"),
        ("weight + width within 1", "is not a declared column"),
        ("2 * weight within 1", "fewer than two attributes"),
        ("min(weight) + height within 1", "takes 2 numbers"),
        ("weight-height within 1", "is not a declared column"),
    ],
)
def test_formulas_that_are_not_understood_are_underlined(words: str, problem: str) -> None:
    both = {name: Attribute(name, prior=normal(3, 1)) for name in ("weight", "height")}
    with pytest.raises(GoalError, match=problem):
        read_goal(words).build(both)
