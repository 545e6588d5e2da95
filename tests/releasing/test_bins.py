"""The whole road by a plan whose query groups a number by declared edges."""

from __future__ import annotations

import math
from pathlib import Path

import commands
import pytest

from guessproof.auditing import audit
from guessproof.choosing import choose
from guessproof.errors import PlanError
from guessproof.plan import load_plan, loads_plan
from guessproof.releasing import release
from guessproof.world.priors import Normal
from releasing.tables import budget

PLAN = """
[data]
name = "test"
source = "t.csv"
table = "t"
protects = "values"

[query]
sql = "SELECT income, COUNT(*) AS n FROM t GROUP BY income ORDER BY income DESC"

[columns.income]
edges = [0, 10000, 20000, 100000]
missing = false
prior = { normal = { mean = 20000, sd = 8000 } }

[attacker]
goal = "income within 1000"
at = { income = 9000 }
advantage = 0.1

[release]
mechanism = "laplace"
"""
BINS = ["[0, 10000)", "[10000, 20000)", "[20000, 100000]"]
STORED = ["-0.0", *["9999.99"] * 40, *["10000"] * 30, *["20000"] * 20, "100000", "100001", "nan", "", "-1"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("income\n" + "".join(f"{v}\n" for v in STORED), encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    budget(tmp_path)
    return tmp_path


def belief(epsilon: float) -> float:
    """By hand: the goal lies in the first bin, and a bin tells nothing of where in it a number is.

    The best answer for the attacker makes other bins less likely by e^−ε and what lies in no bin by e^(−ε/2).
    """
    prior = Normal(20000, 8000)
    goal, first, rest = (float(prior.mass(*ends)) for ends in ((8000, 10000), (0, 10000), (10000, 100000)))
    none = 1 - first - rest
    return goal / (first + rest * math.exp(-epsilon) + none * math.exp(-epsilon / 2)) - goal


def test_a_goal_of_numbers_is_judged_by_bins(folder: Path) -> None:
    choice = choose(load_plan(folder / "plan.toml"))
    assert belief(choice.epsilon) == pytest.approx(0.1, abs=1e-6)
    assert choice.noise_scale == pytest.approx(2 / choice.epsilon)


def test_within_a_bin_nothing_is_learnt() -> None:
    """A goal of a tenth of one bin: knowing the bin for sure is less than the limit, so that any ε will do."""
    text = PLAN.replace("income = 9000", "income = 25000")
    choice = choose(loads_plan(text + "epsilon = 3\n"))
    assert choice.epsilon == 3


def test_release_replay_and_audit(folder: Path) -> None:
    plan = load_plan(folder / "plan.toml")
    answer = release(plan)
    assert [a.group["income"] for a in answer.answers] == BINS[::-1]  # by their place, not by their text
    assert release(plan).replayed
    assert not audit(plan, trials=2000, seconds=1e5, seed=1).failures


def test_every_bin_has_a_row_and_edges_belong_above(folder: Path) -> None:
    text = PLAN.split("[attacker]")[0].replace('"values"', '"records"') + "[release]\nepsilon = 1e6\n"
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    found = {a.group["income"]: round(a.value or 0) for a in release(load_plan(folder / "plan.toml")).answers}
    assert found == dict(zip(BINS, (41, 30, 21), strict=True))


def test_by_the_command_line(folder: Path) -> None:
    found = commands.run("release", str(folder / "plan.toml"))
    assert found.returncode == 0, found.output
    assert all(name in found.output for name in BINS)


def test_dates_and_sums(folder: Path) -> None:
    (folder / "t.csv").write_text(
        "born,pay\n1990-05-01,3\n2000-01-01,4\n1999-12-31,2\n1980-01-01,9\n", encoding="utf-8"
    )
    text = """
[data]
name = "test"
source = "t.csv"
protects = "records"
[query]
sql = "SELECT born, SUM(pay) AS total FROM t GROUP BY born"
[columns.born]
edges = [1990-01-01, 2000-01-01, 2010-01-01]
[columns.pay]
bounds = [0, 10]
[release]
epsilon = 1e6
"""
    answers = release(loads_plan(text, folder=folder)).answers
    found = {a.group["born"]: round(a.value or 0) for a in answers}
    assert found == {"[1990-01-01, 2000-01-01)": 5, "[2000-01-01, 2010-01-01]": 4}


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("edges = [0]", "two edges make a bin"),
        ("edges = [0, 5, 5]", "does not lie above 5"),
        ('edges = [0, 5]\nlevels = ["a"]', "only numbers and times have edges"),
        ('edges = [0, 5]\nkind = "label"', "only numbers and times have edges"),
        ("edges = [0, 1e200]", "too large"),
    ],
)
def test_edges_that_cannot_be_meant(written: str, problem: str) -> None:
    text = PLAN.split("[attacker]")[0].replace("edges = [0, 10000, 20000, 100000]", written)
    with pytest.raises(PlanError, match=problem):
        loads_plan(text.replace("prior = { normal = { mean = 20000, sd = 8000 } }", "") + "[release]\nepsilon = 1\n")


def test_requests_without_edges_are_what_they_were() -> None:
    from guessproof.plan.identity import canonical_text

    plain = loads_plan(PLAN.replace("edges = [0, 10000, 20000, 100000]\n", ""))
    assert '"edges"' not in canonical_text(plain.file, {})
    assert '"edges":[0,10000,20000,100000]' in canonical_text(loads_plan(PLAN).file, {})
