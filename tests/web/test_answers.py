"""What the page says is what the command line and the library say, to the last digit."""

from __future__ import annotations

import copy
import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import guessproof as gp
from guessproof.meaning import meaning
from guessproof.web.folder import Folder
from guessproof.web.writing import as_command, as_python, as_toml
from web.running import CAFETERIA, CALCULATION, Served


def run(*words: str, folder: Path | None = None) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "guessproof", *words], capture_output=True, text=True, cwd=folder, check=False
    )
    return json.loads(done.stdout)


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


def test_a_choice_is_that_of_the_command_line(served: Served) -> None:
    job = served.work("outcome", CAFETERIA)
    plan = served.shop.folder.root / "plan.toml"
    plan.write_text(served.ask("POST", "/api/plan/write", {"state": CAFETERIA})[1]["toml"])
    assert job["result"]["answer"] == run("choose", plan.name, "--json", folder=plan.parent)


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
        assert 0.99 * exact["epsilon"] <= quick["epsilon"] <= exact["epsilon"]
        assert quick["exact"] is False
        truth = exact_at(asked, quick["epsilon"])
        assert quick["advantage"]["bound"] >= float(truth.advantage(quick["epsilon"]).bound) * (1 - 1e-9)
        assert quick["posterior"]["bound"] >= float(truth.posterior(quick["epsilon"]).bound) * (1 - 1e-9)


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
    assert tomllib.loads(as_toml(CAFETERIA)) == CAFETERIA
    odd = changed(CAFETERIA, "labels", to={'fac"ulty.math': "M\n\u202e\x7f"})
    assert tomllib.loads(as_toml(odd)) == odd
    assert as_command(CAFETERIA, folder) == "guessproof choose plan.toml"
    folder.close()


@pytest.mark.parametrize("example", ["cafeteria", "cats", "salaries", "ships", "survey"])
def test_every_example_goes_through_the_page_and_back(served: Served, example: str) -> None:
    text = (Path(__file__).parents[2] / "examples" / example / "plan.toml").read_text()
    status, found = served.ask("POST", "/api/plan/read", {"toml": text})
    assert status == 200
    toml = served.ask("POST", "/api/plan/write", {"state": found["state"]})[1]["toml"]
    assert gp.loads_plan(toml).canonical() == gp.loads_plan(text).canonical()


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
