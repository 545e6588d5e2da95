"""What `choose` prints by itself: a few lines to decide by, all of them whole at 80 columns; the rest with --full."""

from __future__ import annotations

import re
from pathlib import Path

import commands
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PLANS = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("*/*.toml"))
MOST_LINES = 14


@pytest.mark.parametrize("plan", PLANS)
def test_a_choice_is_a_few_lines(plan: str) -> None:
    found = commands.run("choose", str(EXAMPLES / plan), COLUMNS="80")
    lines = found.stdout.rstrip().splitlines()
    assert found.returncode == 0
    assert len(lines) <= MOST_LINES, found.stdout
    names = {line.partition(":")[0] for line in lines}
    assert {"Error", "Bias", "Limits", "More"} <= names
    assert "(decides)" in found.stdout
    assert lines[-1].startswith(("Then: ", "Next: "))
    assert "Risk" in names or " guesses at “" in found.stdout


def test_guesses_are_counted_as_the_full_output_counts_them() -> None:
    plan = str(EXAMPLES / "cafeteria/plan.toml")
    short = " ".join(commands.run("choose", plan, COLUMNS="80").stdout.split())
    full = commands.run("choose", plan, "--full", COLUMNS="300").stdout
    assert "of 100 guesses at “time within 2” 25 are right before and at most 27 after" in short
    assert "25 in 100 → 27 in 100" in full
    assert "his belief rises by at most 1.8 percentage points" in short


PARTLY_KNOWN = """
[data]
name = "sales"
source = "sales.csv"
protects = "values"
rows = 300
[query]
sql = "SELECT AVG(euros) AS mean FROM t"
[columns.euros]
bounds = [0, 100]
prior = { partly_known = { radius = 20, probability = 0.8 } }
[attacker]
goal = "euros within 3"
advantage = 0.1
"""


def test_a_partly_known_prior_is_not_said_to_assume_nothing(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PARTLY_KNOWN, encoding="utf-8")
    short = " ".join(commands.run("choose", str(plan), COLUMNS="80").stdout.split())
    assert "no belief in “euros within 3” beforehand is defined; his belief rises by at most 10" in short


@pytest.mark.parametrize("prior", ["categorical(yes=0.2, no=0.8)", "categorical({yes: 0.2, no: 0.8})", "categorical"])
def test_the_remedy_of_a_prior_of_labels_works_as_it_is_typed(prior: str) -> None:
    goal = ("--goal", "exactly", "--advantage", "0.1")
    refused = commands.run("choose", "--prior", prior, *goal, COLUMNS="300")
    assert refused.returncode == 2
    found = re.search(r"write for instance: (categorical.*)", refused.output)
    assert found is not None, refused.output
    assert commands.run("choose", "--prior", found[1].strip(), *goal).returncode == 0
