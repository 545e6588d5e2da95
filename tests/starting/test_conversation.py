"""A first plan by conversation: every road through the questions ends in a plan that loads and chooses."""

from __future__ import annotations

import json
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import commands
import pytest
from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st

import guessproof as gp
from guessproof.errors import ParameterError
from guessproof.plan import loads_plan
from guessproof.plan.checks import list_blanks
from guessproof.starting.conversation import doubtful_answer, is_complete, plan_text
from guessproof.starting.questions import QUESTIONS, next_question

ROADS = {
    "average": ["1", "time", "1", "1", "0 and 120", "120", "half between 10 and 30", "2", "5 %", "1.5"],
    "no idea": ["1", "time", "one", "values", "0, 120", "not public", "no idea", "2", "0.05", ""],
    "average of records": ["average", "time", "1", "2", "-5 … 120", "", "3"],
    "average of persons": ["average", "time", "2", "who", "4", "0 … 120", "5000", "3", "20"],
    "count": ["2", "smoker", "1", "1", "yes, no", "yes", "yes 0.1", "5%", ""],
    "count of persons": ["2", "smoker", "2", 'my "own" id', "3", "yes, no", "yes", "3", "30"],
    "odd names": ["2", "my 'own' \"thing\"", "1", "1", 'it\'s, a "b"', "it's", "0.5", "10 %", "30"],
    "count of numbers": ["2", "smoker", "1", "1", "0, 1", "1", "1 0.1", "5%", ""],
    "groups of numbers": ["3", "stars", "1", "1", "0, 1.5, 3", "20 %, 50 %, 30 %", "5 %", ""],
    "groups": ["3", "age group", "1", "1", "young, old, very old", "20 %, 50 %, 30 %", "5 %", ""],
    "groups of records": ["3", "group", "1", "2", "young, old", "3", "10"],
    "groups of persons": ["3", "ward", "several", "patient", "4", "north, south, east", "3", "60"],
}


@pytest.mark.parametrize(
    ("values", "levels", "condition"),
    [("0, 1", [0, 1], "smoker = 1"), ("00, 1", ["00", "1"], "smoker = '1'"), ("no, 1", ["no", "1"], "smoker = '1'")],
)
def test_numbers_are_written_as_numbers_and_codes_as_texts(values: str, levels: list[Any], condition: str) -> None:
    answers = answered([*ROADS["count of numbers"][:4], values, *ROADS["count of numbers"][5:]])
    written = tomllib.loads(plan_text(answers, name="people", origin={"source": "people.csv"}))
    assert written["columns"]["smoker"]["levels"] == levels
    assert written["query"]["sql"].endswith(condition)


def answered(given: list[str]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    left = list(given)
    while (question := next_question(answers)) is not None:
        answers[question.id] = question.read(left.pop(0), answers)
        json.dumps(question.to_dict(answers))
        # the plan grows: whatever is still open, its text is TOML with blanks
        raw = tomllib.loads(plan_text(answers, name="x", origin={"source": "x.csv"}))
        assert is_complete(answers) is False or list(list_blanks(raw)) == []
    assert left == []
    return answers


@pytest.mark.parametrize("road", ROADS)
def test_every_road_ends_in_a_plan_that_chooses(road: str) -> None:
    plan = loads_plan(plan_text(answered(ROADS[road]), name="x", origin={"source": "x.csv"}))
    known = ("source_missing", "bias_unknown")  # nobody was asked how many rows persons have
    assert [c for c in gp.check(plan, opens=False) if c.kind not in known] == []
    assert gp.choose(plan).feasible


def test_persons_with_several_rows_are_protected_and_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the questions to a release: a person with twenty rows counts once, and all of them are one person's."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{patient},{'north' if patient % 2 else 'south'}" for patient in range(400)] + ["7,north"] * 20
    Path("visits.csv").write_text("patient,ward\n" + "\n".join(rows) + "\n", encoding="utf-8")
    ask(["3", "ward", "2", "ward", "patient", "4", "north, south", "3", "60"], "visits.csv")
    plan = gp.load_plan("plan.toml")
    assert (plan.data.protects, plan.data.person, plan.data.max_rows) == ("persons", "patient", 4)
    gp.Ledger.create("guessproof.ledger", "visits", gp.Budget("5"))
    answer = gp.release(plan)
    assert all(abs((row.value or 0) - 200) < 200 for row in answer.answers)
    assert "COUNT(DISTINCT patient)" in plan.asked


def test_every_question_is_asked_on_some_road() -> None:
    assert {key for road in ROADS.values() for key in answered(road)} == {q.id for q in QUESTIONS}


def test_examples_are_answers() -> None:
    known = answered(ROADS["count"]) | {"bounds": (0.0, 120.0)}
    for question in QUESTIONS:
        assert question.read(question.example, known) is not None


@pytest.mark.parametrize(
    ("key", "said", "hint"),
    [
        ("asked", "4", "1 to 3"),
        ("bounds", "120 and 0", "smaller first"),
        ("bounds", "0 and 1,000", "two numbers"),
        ("levels", "yes", "two or more"),
        ("counted", "yse", "did you mean yes?"),
        ("rows", "12.5", "for instance 120"),
        ("belief", "old people", "half between 10 and 30"),
        ("shares", "0.5, 0.6", "yes 0.5, no 0.5"),
        ("near", "200", "for instance 2"),
        ("limit", "0", "as 5 %"),
        ("limit", "200 %", "as 5 %"),
        ("factor", "-1", "for instance 3"),
        ("factor", "1", "for instance 3"),
    ],
)
def test_what_is_not_understood_is_asked_again_with_an_example(key: str, said: str, hint: str) -> None:
    question = next(q for q in QUESTIONS if q.id == key)
    known = {"levels": ("yes", "no"), "bounds": (0.0, 120.0)}
    with pytest.raises(ParameterError) as caught:
        question.read(said, known)
    assert hint in caught.value.remedy


@settings(max_examples=cases(25))
@given(st.text(max_size=20), st.sampled_from(QUESTIONS))
def test_any_words_are_an_answer_or_a_refusal(said: str, question: Any) -> None:
    with suppress(ParameterError):
        question.read(said, {"levels": ("yes", "no"), "bounds": (0.0, 120.0)}, ("time", "faculty"))


def test_a_refused_key_leads_to_its_question() -> None:
    answers = dict.fromkeys(("bounds", "near", "limit", "belief"), 1)
    assert doubtful_answer("columns.time.bounds", answers) == "bounds"
    assert doubtful_answer("attacker.goal", answers) == "near"
    assert doubtful_answer("columns.time.prior.normal.sd", answers) == "belief"
    assert doubtful_answer("data.name", answers) is None


def ask(said: list[str], *words: str, code: int = 0) -> str:
    done = commands.run("init", *words, "--ask", typed="\n".join(said) + "\n")
    assert done.returncode == code, done.output
    return done.output


def test_the_terminal_asks_one_thing_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cafeteria.csv").write_text("time,faculty\n12,math\n", encoding="utf-8")
    said = ["1", "tiem", "time", *ROADS["average"][2:]]
    shown = ask(said, "cafeteria.csv")
    assert "look at its first line" in shown
    assert "faculty" not in shown  # the first line of a text file may be a record
    assert shown.index("│ [query]") < shown.index("│ bounds = [0, 120]") < shown.index("│ within = 1.5")
    assert gp.check(gp.load_plan("plan.toml")) == ()
    assert "there is a file already" in commands.run("init", "cafeteria.csv", "--ask").stderr
    ask([], "--preset", "open", "-o", "b.toml", code=2)
    assert not Path("b.toml").exists()
