"""Questions that make a first plan, what one ε means, and published methods: each as elsewhere, to the last digit."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from web.running import CAFETERIA, CALCULATION, Served

import guessproof as gp
from guessproof.meaning import meaning
from guessproof.rounded import margin
from guessproof.starting.conversation import plan_text
from guessproof.starting.questions import next_question
from guessproof.web.states import cleaned

AVERAGE = ["1", "time", "1", "1", "0 and 120", "120", "half between 10 and 30", "2", "5 %", "1.5"]
COUNT = ["2", "smokes", "1", "1", "yes, no", "yes", "yes 0.2, no 0.8", "10 %", ""]
GROUPS = ["groups", "age", "one", "records", "young, old", "3", "4"]
PERSONS = ["groups", "ward", "several", "patient", "4", "north, south", "3", "60"]


def told(said: list[str]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for text in said:
        question = next_question(answers)
        assert question is not None
        answers[question.id] = question.read(text, answers)
    return answers


@pytest.mark.parametrize("said", [AVERAGE, COUNT, GROUPS, PERSONS], ids=["average", "count", "groups", "persons"])
def test_the_questions_make_the_plan_of_init(served: Served, said: list[str]) -> None:
    for count in range(len(said)):
        status, found = served.ask("POST", "/api/ask", {"answers": said[:count]})
        assert (status, found["state"], found["number"]) == (200, None, count + 1), found
        asked = next_question(told(said[:count]))
        assert asked is not None
        assert found["question"] == {**asked.to_dict(told(said[:count]))} | {
            "choices": [{"value": v, "words": w} for v, w in asked.options(told(said[:count]))]
        }
    _, found = served.ask("POST", "/api/ask", {"answers": said})
    assert found["question"] is None
    assert found["toml"] == plan_text(told(said), name="table", origin={"source": "table.csv"})
    assert gp.plan_of(cleaned(found["state"])).canonical() == gp.loads_plan(found["toml"]).canonical()
    assert served.work("outcome", found["state"])["state"] == "done"


def test_an_answer_that_is_not_understood_is_asked_again(served: Served) -> None:
    status, found = served.ask("POST", "/api/ask", {"answers": ["9"]})
    assert (status, found["error"]["field"]) == (422, "asked")
    known = {"source": "cafeteria.csv", "columns": ["time", "faculty"]}
    status, found = served.ask("POST", "/api/ask", {"answers": ["1", "tme"], **known})
    assert status == 422
    assert "time" in found["error"]["remedy"]
    status, found = served.ask("POST", "/api/ask", {"answers": [], "source": "../secret.csv"})
    assert status == 422
    assert "outside" in found["error"]["problem"]
    assert served.ask("POST", "/api/ask", {"answers": [*AVERAGE, "more"]})[0] == 422


@pytest.mark.parametrize("epsilon", [0.3, 2.5])
def test_an_epsilon_means_what_explain_says(served: Served, epsilon: float) -> None:
    asked = {"state": CAFETERIA, "epsilon": epsilon}
    exact = served.work("meaning", **asked)["result"]
    wanted = meaning(gp.plan_of(CAFETERIA), epsilon)
    assert wanted.advantage is not None
    assert wanted.posterior is not None
    assert exact["advantage"]["bound"] == wanted.advantage.bound
    assert exact["posterior"]["bound"] == wanted.posterior.bound
    assert [(k["name"], k["kept"]) for k in exact["limits"]] == [(k.name, k.kept) for k in wanted.limits]
    served.work("beliefs", CAFETERIA)
    quick = served.ask("POST", "/api/meaning", asked)[1]["meaning"]
    assert quick["exact"] is False
    assert exact["advantage"]["bound"] <= quick["advantage"]["bound"] <= 1.02 * exact["advantage"]["bound"]
    assert quick["errors"] == exact["errors"] == f"mean_time {margin(wanted.errors['mean_time'])}"


def test_an_epsilon_means_something_without_data(served: Served) -> None:
    time = gp.Attribute("time", prior=gp.normal(20, 6.28), bounds=(0, 120))
    attack = gp.Attack(gp.within(time, 2), at={"time": 20})
    exact = served.work("meaning", CALCULATION, epsilon=0.5)["result"]
    assert exact["posterior"]["bound"] == attack.posterior(0.5).bound
    assert exact["people"] == {"base": 100, "before": 25, "after": 68}
    served.work("beliefs", CALCULATION)
    quick = served.ask("POST", "/api/meaning", {"state": CALCULATION, "epsilon": 0.5})[1]["meaning"]
    assert quick["posterior"]["bound"] >= exact["posterior"]["bound"]
    fresh = copy.deepcopy(CALCULATION)
    fresh["attacker"]["at"]["time"] = 21.5
    assert served.ask("POST", "/api/meaning", {"state": fresh, "epsilon": 0.5})[1]["ready"] is False
    for wrong in (0, -1, 1e9):
        assert served.ask("POST", "/api/meaning", {"state": CALCULATION, "epsilon": wrong})[0] == 422


def test_published_methods_are_judged_for_this_very_attack(served: Served) -> None:
    found = served.work("published", CALCULATION)["result"]
    here = {m["id"]: m for m in found["methods"]}
    assert found["at"] == 20
    assert {name: m["here"] for name, m in here.items()} == {
        "lp-3.2": "sound but loose",
        "lp-eq1": "sound but loose",
        "lp-4.1-evaluated": "sound but loose",
        "slides-main": "sound but loose",
        "slides-ring-integral": "unsound",
    }
    assert here["lp-4.1-evaluated"]["general"] == "unsound"  # elsewhere it fails
    best = served.work("outcome", CALCULATION)["result"]["epsilon"]
    for method in here.values():
        assert (float(method["epsilon"]) > best) == (method["here"] == "unsound")
    planned = {m["id"]: m for m in served.work("published", CAFETERIA)["result"]["methods"]}
    for name, method in here.items():  # one of 120 moves the average by a 120th
        assert float(planned[name]["epsilon"]) == pytest.approx(120 * float(method["epsilon"]), rel=1e-4)
    records = copy.deepcopy(CAFETERIA)
    records["data"] = {"name": "c", "source": "cafeteria.csv", "protects": "records"}
    records["query"]["sql"] = "SELECT COUNT(*) AS n FROM t"
    del records["attacker"], records["accuracy"]
    records["risk"] = {"constant": 3}
    assert served.work("published", records)["result"]["methods"] == []
