"""Quantiles by the whole road: a plan, a choice, a release, the same again; and what is refused on the way."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import pytest

from guessproof.choosing import choose
from guessproof.errors import GuessproofError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import load_plan
from guessproof.releasing import release

PLAN = """
[data]
name = "staff"
source = "staff.csv"
protects = "{protects}"
[query]
sql = "{sql}"
[columns.age]
bounds = [0, 100]
step = 1
missing = false
prior = {{ normal = {{ mean = 40, sd = 12 }} }}
[columns.team]
levels = ["a", "b"]
{public}
{more}
"""
MEDIAN = "SELECT MEDIAN(age) AS middle FROM t"


def written(folder: Path, more: str, sql: str = MEDIAN, protects: str = "values") -> Path:
    rows = "\n".join(f"{20 + k % 41},{'ab'[k % 2]}" for k in range(2000))
    (folder / "staff.csv").write_text(f"age,team\n{rows}\n")
    public = "public = true" if protects == "values" else ""
    (folder / "plan.toml").write_text(PLAN.format(sql=sql, protects=protects, more=more, public=public))
    if not (folder / "guessproof.ledger").exists():
        Ledger.create(folder / "guessproof.ledger", "staff", Budget("10"))
    return folder / "plan.toml"


def test_a_median_is_near_and_comes_again_without_a_charge(tmp_path: Path) -> None:
    plan = load_plan(written(tmp_path, "[release]\nepsilon = 1"))
    first, second = release(plan), release(plan)
    assert second.replayed
    assert first.answers == second.answers
    found = first.answers[0]
    assert found.value in range(101)
    assert found.error is None  # how far apart the values lie, only the data could tell
    assert found.ranks == pytest.approx(13.7478, abs=1e-3)
    assert (found.low, found.high) == (0.0, 100.0)
    assert abs((found.value or 0.0) - 40) <= 3  # each age has 49 records: 3 years are 150 ranks


def test_groups_and_other_numbers_beside_it(tmp_path: Path) -> None:
    sql = "SELECT team, QUANTILE(age, 0.9) AS high, COUNT(*) AS n FROM t GROUP BY team"
    answer = release(load_plan(written(tmp_path, "[release]\nepsilon = 8", sql, "records")))
    assert [(a.name, a.group["team"]) for a in answer.answers] == [("high", "a"), ("n", "a"), ("high", "b"), ("n", "b")]
    assert all(abs((a.value or 0) - (56 if a.name == "high" else 1000)) < 40 for a in answer.answers)


def test_a_target_in_ranks_decides(tmp_path: Path) -> None:
    choice = choose(load_plan(written(tmp_path, "[accuracy]\nranks = 10")))
    assert choice.rank_errors()["middle"] == pytest.approx(10, rel=1e-6)
    assert choice.to_dict()["targets"] == {"middle": {"ranks": 10.0, "confidence": 0.95}}
    assert "10 ranks" in choice.limits[0].how


def test_an_attacker_decides(tmp_path: Path) -> None:
    more = '[attacker]\ngoal = "age within 2"\nadvantage = 0.1'
    choice = choose(load_plan(written(tmp_path, more)))
    assert choice.advantage is not None
    assert float(choice.advantage.bound) <= 0.1
    assert choice.noise_scale == pytest.approx(2 / choice.epsilon, rel=1e-9)


@pytest.mark.parametrize(
    ("more", "sql", "words"),
    [
        ("[accuracy]\nwithin = 2", MEDIAN, "write ranks = 10"),
        ("[accuracy.middle]\nwithin = 2", MEDIAN, "write ranks = 10"),
        ("[accuracy]\nranks = 2", "SELECT COUNT(*) AS n FROM t WHERE age > 3", "error in ranks"),
        ("[accuracy.middle]\nranks = 2", "SELECT MEDIAN(age) / 2 AS middle FROM t", "error in ranks"),
    ],
)
def test_targets_that_cannot_be_promised_are_refused(tmp_path: Path, more: str, sql: str, words: str) -> None:
    with pytest.raises(GuessproofError, match=words):
        choose(load_plan(written(tmp_path, more, sql)))


@pytest.mark.parametrize("step", ["0", "3", "-1"])
def test_a_step_must_divide_the_bounds(tmp_path: Path, step: str) -> None:
    path = written(tmp_path, "")
    path.write_text(path.read_text().replace("step = 1", f"step = {step}"))
    with pytest.raises(GuessproofError, match="step"):
        load_plan(path)


def test_the_command_line_says_ranks(tmp_path: Path) -> None:
    path = written(tmp_path, "[release]\nepsilon = 1")
    shown = commands.run("choose", str(path))
    assert "ranks" in shown.output
    found = commands.run("release", str(path), "--json")
    assert found.returncode == 0
    answer = json.loads(found.stdout)
    assert answer["answers"][0]["ranks"] > 13
    assert answer["noise"][0]["mechanism"] == "permute and flip"
    report = commands.run("report", str(path), "-o", str(tmp_path / "report.html"))
    assert report.returncode == 0
    assert "ranks of the one that is asked for" in (tmp_path / "report.html").read_text()


def test_extremes_aim_inside(tmp_path: Path) -> None:
    sql = "SELECT MIN(age) AS least, MAX(age) AS most FROM t"
    answer = release(load_plan(written(tmp_path, "[release]\nepsilon = 4\nranks_inside = 30", sql)))
    least, most = (a.value or 0 for a in answer.answers)
    assert 20 <= least <= 23  # 49 records of each age from 20 to 60
    assert 57 <= most <= 60


def test_choose_says_which_way_to_an_extreme_is_of_use(tmp_path: Path) -> None:
    sql = "SELECT MAX(age) AS most FROM t"
    wide = choose(load_plan(written(tmp_path, "[release]\nepsilon = 1", sql)))
    assert "ranks_inside = N" in wide.explanation
    fine = choose(load_plan(written(tmp_path, "[release]\nepsilon = 20", sql)))
    assert "ranks_inside" not in fine.explanation
    few = choose(load_plan(written(tmp_path, "[release]\nepsilon = 1\nranks_inside = 3", sql)))
    assert "ranks_inside = 14" in few.explanation
    enough = choose(load_plan(written(tmp_path, "[release]\nepsilon = 1\nranks_inside = 14", sql)))
    assert "ranks_inside" not in enough.explanation
