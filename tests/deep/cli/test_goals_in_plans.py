"""Every kind of goal about two columns, with a true value and without, through every command that speaks of it."""

from __future__ import annotations

from pathlib import Path

import commands
import pytest

PLAN = """
[data]
name = "homes"
source = "homes.csv"
table = "homes"
protects = "values"
rows = 4
[query]
sql = "SELECT SUM(rent) AS rent, SUM(loan) AS loan FROM homes"
[columns.rent]
bounds = [0, 2000]
missing = false
prior = {{ normal = {{ mean = 700, sd = 200 }} }}
[columns.loan]
bounds = [0, 1500]
missing = false
prior = {{ normal = {{ mean = 300, sd = 150 }} }}
[attacker]
goal = "{goal}"
advantage = 0.1
{at}
"""
GOALS = ("rent + loan within 50", "rent - 2 * loan within 50", "rent within 50", "rent within 50 or loan within 30")
COMMANDS = (("choose",), ("explain", "--epsilon", "5"), ("report",), ("check",))


def said(*words: str) -> str:
    done = commands.run(*words)
    assert done.returncode == 0, done.output
    return " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("at", ["", "at = { rent = 650, loan = 400 }"], ids=["worst", "at"])
def test_every_command_speaks_of_every_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goal: str, at: str
) -> None:
    monkeypatch.chdir(tmp_path)
    at = "at = { rent = 650 }" if at and goal == "rent within 50" else at
    Path("homes.csv").write_text("rent,loan\n650,400\n700,300\n900,0\n0,200\n")
    Path("plan.toml").write_text(PLAN.format(goal=goal, at=at))
    told = {words[0]: said(*words, "plan.toml") for words in COMMANDS}
    assert "{'" not in "".join(told.values())  # no value is shown as Python writes it
    if not at and goal == "rent + loan within 50":
        assert "rent + loan = 1,000" in told["choose"]
