"""What the page says is what the command line and the library say, to the last digit."""

from __future__ import annotations

import copy
import json
import math
import random
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import commands
import pytest

import guessproof as gp
from guessproof.exposure import Exposure
from guessproof.meaning import meaning
from guessproof.web.folder import Folder
from guessproof.web.opening import read_toml
from guessproof.web.writing import as_command, as_python, as_toml
from web.running import CAFETERIA, CALCULATION, Served

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/*.toml"))


def run(*words: str) -> Any:
    """What the command prints as JSON, in this process."""
    return json.loads(commands.run(*words).stdout)


def changed(state: dict[str, Any], *path: str, to: Any) -> dict[str, Any]:
    found = copy.deepcopy(state)
    place = found
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = to
    return found


def test_a_calculation_is_that_of_the_command_line(served: Served) -> None:
    state = changed(CALCULATION, "attacker", "posterior", to=0.4)
    job = served.work("outcome", state)
    command = served.ask("POST", "/api/plan/write", {"state": state})[1]["command"]
    assert job["result"]["answer"] == run(*shlex.split(command)[1:], "--json")


def test_so_is_one_of_two_columns(served: Served) -> None:
    """Noise is on the sum of each, so that distances add up, on the page and in the command."""
    priors = {"rent": (700, 200), "loan": (300, 150)}
    columns = {name: {"prior": {"normal": {"mean": mean, "sd": sd}}} for name, (mean, sd) in priors.items()}
    state = {"columns": columns, "attacker": {"goal": "rent + loan within 50", "advantage": 0.1}}
    told = served.work("outcome", state)["result"]
    words = [word for name, (mean, sd) in priors.items() for word in ("--prior", f"{name}: normal({mean}, {sd})")]
    asked = run("choose", *words, "--goal", "rent + loan within 50", "--advantage", "0.1", "--json")
    assert told["answer"]["epsilon"] == asked["epsilon"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_example_goes_through_the_page_and_back(served: Served, example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    status, found = served.ask("POST", "/api/plan/read", {"toml": text})
    assert status == 200
    toml = served.ask("POST", "/api/plan/write", {"state": found["state"]})[1]["toml"]
    folder = example.parent
    assert gp.loads_plan(toml, folder=folder).canonical() == gp.loads_plan(text, folder=folder).canonical()


NAMES = sorted({path.parent.name for path in EXAMPLES} - {"ships"})  # which takes seconds, twice
FIRST = ("cafeteria", "cats", "survey", "visits")


@pytest.mark.parametrize("name", FIRST)  # the others are in tests/deep
def test_the_page_says_what_the_command_line_says(served: Served, name: str) -> None:
    check_example(served, name)


def check_example(served: Served, name: str) -> None:
    """An example with limits that were drawn: to the last digit."""
    [example] = [path for path in EXAMPLES if path.parent.name == name and path.stem == "plan"]
    for table in example.parent.glob("*.csv"):
        shutil.copy(table, served.shop.folder.root / table.name)
    state = drawn(read_toml(example.read_text(encoding="utf-8")), random.Random(name))
    plan = served.shop.folder.root / f"{name}.toml"
    plan.write_text(served.ask("POST", "/api/plan/write", {"state": state})[1]["toml"], encoding="utf-8")
    job = served.work("outcome", state)
    assert job["state"] == "done", job["error"]
    outcome = job["result"]
    assert outcome["answer"] == run("choose", str(plan), "--json")
    if name == "cafeteria":
        printed = " ".join(commands.run("choose", str(plan)).stdout.split())
        assert f"ε = {outcome['shown']['epsilon']}:" in printed
        meant = served.work("meaning", state, epsilon=outcome["epsilon"])["result"]
        told = run("explain", str(plan), "--epsilon", repr(outcome["epsilon"]), "--json")
        assert meant["advantage"]["bound"] == told["advantage"]["bound"]
        assert {k["name"]: k["kept"] for k in meant["limits"]} == {k["name"]: k["kept"] for k in told["limits"]}


def drawn(state: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Other limits: somewhat stricter, or somewhat laxer. A true value is stated where the worst one takes seconds."""
    found = copy.deepcopy(state)
    if "days" in found.get("columns", {}):
        found["attacker"]["at"] = {"days": chance.randint(2, 9)}
    for table, keys in (("attacker", ("advantage", "posterior")), ("accuracy", ("within",)), ("risk", ("constant",))):
        for key in keys:
            if isinstance(found.get(table, {}).get(key), (int, float)):
                found[table][key] = float(f"{found[table][key] * chance.uniform(0.8, 1.3):.3g}")
    return found


@pytest.mark.parametrize("state", [CAFETERIA, CALCULATION], ids=["plan", "calculation"])
def test_beliefs_side_by_side_are_of_the_stated_prior_however_wrong_it_may_be(
    served: Served, state: dict[str, Any]
) -> None:
    """One of the worst prior beside one of the stated prior said that a release lowers a belief, from 33 to 27."""
    check_beliefs(
        served, changed(changed(state, "attacker", "prior_factor", to=1.5), "attacker", "at", to={"time": 20})
    )


def check_beliefs(served: Served, asked: dict[str, Any]) -> None:
    """Whatever says what is believed of people in the cafeteria says the same."""
    exact = served.work("outcome", asked)["result"]
    served.work("beliefs", asked)
    quick = served.ask("POST", "/api/live", {"state": asked})[1]["outcome"]
    meant = {"state": asked, "epsilon": exact["epsilon"]}
    told = [
        exact,
        quick,
        served.ask("POST", "/api/meaning", meant)[1]["meaning"],
        served.work("meaning", **meant)["result"],
    ]
    time = gp.Attribute("time", gp.normal(20, 6.28), metric=gp.Clamped(0, 120), bounds=(0, 120))
    rate = exact["epsilon"] / (120 if "data" in asked else 1)
    believed = gp.Attack(gp.within(time, 2), at={"time": 20}).posterior(rate).bound  # nobody is easier to guess
    for each in told:
        assert each["people"]["base"] == 100
        assert each["people"]["before"] == 25
        after = math.ceil(100 * believed)  # a quick answer is given for an ε that is up to 2 % smaller
        assert each["people"]["after"] in ((after - 1, after) if each is quick else (after,))


@pytest.mark.parametrize("state", [CALCULATION, CAFETERIA], ids=["calculation", "plan"])
def test_quick_answers_are_on_the_private_side(served: Served, state: dict[str, Any]) -> None:
    curve = served.work("beliefs", state)
    assert curve["state"] == "done"
    assert curve["result"] is None  # it stays on the server
    for advantage in (0.004, 0.05, 0.21):
        asked = changed(state, "attacker", "advantage", to=advantage)
        asked.pop("accuracy", None)
        live = served.ask("POST", "/api/live", {"state": asked})[1]
        exact = served.work("outcome", asked)["result"]
        assert live["ready"]
        quick = live["outcome"]
        assert 0.979 * exact["epsilon"] <= quick["epsilon"] <= exact["epsilon"]
        assert quick["exact"] is False
        truth = exact_at(asked, quick["epsilon"])
        assert quick["advantage"]["bound"] >= float(truth.advantage(quick["epsilon"]).bound) * (1 - 1e-9)
        assert quick["posterior"]["bound"] >= float(truth.posterior(quick["epsilon"]).bound) * (1 - 1e-9)


@pytest.mark.parametrize(("key", "value"), [("ranks_inside", 2), ("smooth", True)])
def test_a_live_answer_is_of_the_release_that_is_asked_for(served: Served, key: str, value: Any) -> None:
    state = changed(CAFETERIA, "query", "sql", to="SELECT MAX(time) AS most FROM t WHERE faculty = 'math'")
    state["columns"]["time"]["step"] = 1
    state.pop("accuracy", None)
    other = copy.deepcopy(state)
    other.setdefault("release", {})[key] = value
    assert served.work("beliefs", state)["state"] == "done"
    assert served.ask("POST", "/api/live", {"state": state})[1]["ready"]
    assert not served.ask("POST", "/api/live", {"state": other})[1]["ready"]  # until its own curve is there


def test_ways_out_are_looked_up_while_dragging(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that nothing keeps is answered from the curve as well, the ways out included."""
    asked = changed(CAFETERIA, "attacker", "advantage", to=0.004)
    assert served.work("beliefs", asked)["state"] == "done"
    searched: list[Any] = []
    monkeypatch.setattr(Exposure, "epsilon", lambda *words: searched.append(words))  # an exact search
    quick = served.ask("POST", "/api/live", {"state": asked})[1]["outcome"]
    monkeypatch.undo()
    assert not searched
    assert quick["feasible"] is False
    exact = served.work("outcome", asked)["result"]
    assert [c["what"] for c in quick["changes"]] == [c["what"] for c in exact["changes"]] != []


def exact_at(state: dict[str, Any], epsilon: float) -> Any:
    """Whoever answers exactly at an ε."""
    if "data" not in state:
        time = gp.Attribute("time", prior=gp.normal(20, 6.28))
        return gp.Attack(gp.within(time, 2), at={"time": 20})
    return meaning(gp.plan_of(state), epsilon).exposure


def test_an_infeasible_limit_is_an_answer(served: Served) -> None:
    job = served.work("outcome", changed(CALCULATION, "attacker", "posterior", to=0.1))
    assert job["state"] == "done"
    assert job["result"]["feasible"] is False


def test_python_and_toml_mean_the_same(tmp_path: Path) -> None:
    folder = Folder.opened(tmp_path)
    time = gp.Attribute("time", prior=gp.normal(20, 6.28), bounds=(0, 120))
    wanted = gp.Attack(gp.within(time, 2), at={"time": 20}).epsilon(advantage=0.05)
    said = subprocess.run(
        [sys.executable, "-c", as_python(CALCULATION, folder)], capture_output=True, text=True, check=True
    )
    assert float(said.stdout) == wanted
    numbers = {name: {"prior": {"normal": {"mean": 700, "sd": 200}}} for name in ("rent", "the loan")}
    at, knows = {"rent": 700, "the loan": 300}, {"rent - 1.23456789 * 'the loan'": [-300, 900]}
    goal = {"goal": "rent ^ 2 / 'the loan' within 5%", "advantage": 0.1, "at": at, "knows": knows}
    code = as_python({"columns": numbers, "attacker": goal}, folder)
    assert "gp.within(rent ** 2 / x2, percent=5.0)" in code
    assert "knows={rent - 1.23456789 * x2: (-300, 900)}" in code
    assert tomllib.loads(as_toml(CAFETERIA)) == CAFETERIA
    odd = changed(CAFETERIA, "labels", to={'fac"ulty.math': "M\n\u202e\x7f"})
    assert tomllib.loads(as_toml(odd)) == odd
    assert as_command(CAFETERIA, folder) == "guessproof choose plan.toml"
    folder.close()


def test_a_tab_finds_its_state_again(served: Served) -> None:
    desk = {"X-Desk": "a-tab-of-mine"}
    assert served.ask("GET", "/api/state", headers=desk)[1] == {"state": None}
    assert served.ask("PUT", "/api/state", {"state": CAFETERIA}, desk)[0] == 204
    assert served.ask("GET", "/api/state", headers=desk)[1] == {"state": CAFETERIA}
    assert served.ask("GET", "/api/state", headers={"X-Desk": "another-tab"})[1] == {"state": None}


def test_work_can_be_stopped(served: Served) -> None:
    slow = changed(CAFETERIA, "attacker", "advantage", to=0.06)
    _, job = served.ask("POST", "/api/jobs", {"kind": "audit", "state": slow, "trials": 1_000_000, "seconds": 100})
    status, stopped = served.ask("DELETE", f"/api/jobs/{job['id']}")
    assert status == 200
    assert stopped["state"] == "stopped"
    assert served.work("outcome", CALCULATION)["state"] == "done"  # another process took its place


def test_a_refusal_has_the_words_of_the_command_line(served: Served) -> None:
    job = served.work(
        "outcome", changed(CALCULATION, "columns", "time", "prior", to={"normal": {"mean": 20, "sd": -1}})
    )
    assert job["state"] == "failed"
    assert "sd" in job["error"]["message"]
    assert job["error"]["remedy"]
    status, found = served.ask("POST", "/api/plan/read", {"toml": "[data\nname = 1"})
    assert status == 422
    assert found["error"]["line"] == 1
