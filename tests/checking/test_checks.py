"""Modelling mistakes: each is said once, with its line and a remedy that works; what is meant so is left in peace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import pytest
from choosing.plans import plan as short

import guessproof as gp
from guessproof.checking import CHECKS, Concern
from guessproof.errors import PlanError, QueryError
from guessproof.plan import Plan, loads_plan

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.toml"))
CAFETERIA = (ROOT / "examples" / "cafeteria" / "plan.toml").read_text(encoding="utf-8")


def found(plan: Plan, **options: Any) -> list[Concern]:
    """What is said of a plan whose table does not exist, but for just that."""
    return [c for c in gp.check(plan, opens=False, **options) if c.kind != "source_missing"]


def cafeteria(*changes: tuple[str, str]) -> Plan:
    text = CAFETERIA.replace("advantage = 0.05", "at = { time = 20 }\nadvantage = 0.05")  # quicker than the worst case
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return loads_plan(text, folder=ROOT / "examples" / "cafeteria", file="plan.toml")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_nothing_is_said_of_the_shipped_examples(path: Path) -> None:
    assert gp.check(gp.load_plan(path)) == ()


WHERE = "AVG(time) AS mean_time FROM t WHERE faculty = 'math'"
FAR, LISTED = (WHERE.replace("AVG", "SUM") + f" AND time {what}" for what in ("> 7200", "IN (30, -1)"))
LOW = ("confidence = 0.95", "confidence = 0.05")
# A change of the cafeteria plan, the kind of concern, its line, words of the problem, and a change that mends it.
MISTAKES = [
    (("mean = 20, sd = 6.28", "mean = 2000, sd = 628"), "prior_outside_bounds", 15, "99 %", ("[0, 120]", "[0, 4000]")),
    (("bounds = [0, 120]", "bounds = [0, 2]"), "prior_outside_bounds", 15, "0 … 2", None),
    ((WHERE, FAR), "filter_outside_bounds", 11, "7200", ("7200", "60")),
    ((WHERE, LISTED), "filter_outside_bounds", 11, "-1", (", -1", "")),
    (("advantage = 0.05", "advantage = 1.0"), "limit_without_force", 20, "more than certain", ("1.0 ", "0.05 ")),
    (LOW, "confidence_low", 24, "more often than not", LOW[::-1]),
    (("mean = 20, sd = 6.28", "mean = 20, sd = 0.01"), "goal_decided", 18, "100 % of cases", ("sd = 0.01", "sd = 6")),
    (("time within 2", "time within 0.00002"), "goal_decided", 18, "fewer than", ("0.00002", "2")),
    (("bounds = [0, 120]", "bounds = [-1e9, 1e9]"), "bounds_wide", 14, "3.8", ("[-1e9, 1e9]", "[0, 90]")),
    (("at = { time = 20 }", "at = { time = 500 }"), "truth_unlikely", 19, "outside the bounds 0 … 120", ("500", "30")),
    (("at = { time = 20 }", "at = { time = 119 }"), "truth_unlikely", 19, "nobody near", ("119", "19")),
    (("advantage = 0.05", "advantage = 0.9"), "limit_loose", 20, "90 percentage points", ("0.9 ", "0.1 ")),
    (("advantage = 0.05", "posterior = 0.99"), "limit_loose", 20, "reach 99 %", ("0.99 ", "0.5 ")),
    (('time      = "', 'tmie      = "'), "label_of_nothing", 31, "nobody would see", ("tmie", "time")),
    (("within     = 1.5", "within     = 70"), "error_beyond_range", 22, "120 wide", ("= 70", "= 5")),
]  # fmt: skip


@pytest.mark.parametrize(("change", "kind", "line", "words", "mended"), MISTAKES, ids=lambda part: str(part)[:24])
def test_a_mistake_is_said_with_its_line_and_mended(
    change: tuple[str, str], kind: str, line: int, words: str, mended: tuple[str, str] | None
) -> None:
    said = [c for c in found(cafeteria(change)) if c.kind == kind]
    assert len(said) == 1
    assert said[0].line == line
    assert words in said[0].problem
    assert said[0].remedy
    if mended is not None:
        assert [c for c in found(cafeteria(change, mended)) if c.kind == kind] == []


def test_a_plan_that_limits_nothing() -> None:
    """The accuracy alone would decide what is told of people; whoever decided an ε elsewhere is left in peace."""
    start, end = CAFETERIA.index("[attacker]"), CAFETERIA.index("[accuracy]")
    bare = CAFETERIA[:start] + CAFETERIA[end:]
    (said,) = found(loads_plan(bare))
    assert (said.kind, said.line) == ("nothing_limited", 7)
    assert found(loads_plan(bare.replace("[release]", "[release]\nepsilon = 5"))) == []


def test_bounds_of_dates_are_said_as_dates() -> None:
    text = (ROOT / "examples" / "births" / "plan.toml").read_text(encoding="utf-8")
    (said,) = found(loads_plan(text.replace("mean = 1980-01-01", "mean = 1880-01-01")))
    assert "outside the bounds 1920-01-01 … 2010-12-31" in said.problem


def test_a_goal_on_a_column_that_is_never_read() -> None:
    columns = {
        "age": "bounds = [0, 100]\nprior = { normal = { mean = 40, sd = 12 } }",
        "income": "bounds = [0, 9000]\nprior = { normal = { mean = 3000, sd = 800 } }",
    }
    goal = '[attacker]\ngoal = "income within 100"\nadvantage = 0.05'
    (said,) = found(short("SELECT SUM(age) AS total FROM t", columns, goal))
    assert (said.kind, said.field) == ("goal_not_read", "attacker.goal")
    assert "never reads income" in said.problem
    assert "age" in said.remedy
    assert found(short("SELECT SUM(age) AS a, SUM(income) AS b FROM t", columns, goal)) == []
    either = '[attacker]\ngoal = "income within 100 and age within 2"\nadvantage = 0.05'
    assert found(short("SELECT SUM(age) AS total FROM t", columns, either)) == []


def test_a_goal_that_a_joint_prior_ties_to_what_is_read() -> None:
    columns = {"sex": "", "colour": ""}
    rows = '[["M", "red", 0.4], ["M", "grey", 0.1], ["F", "red", 0.2], ["F", "grey", 0.3]]'
    joint = f'[prior."(sex, colour)"]\ntable = {rows}\n[attacker]\ngoal = "sex exactly"\nadvantage = 0.05'
    assert found(short("SELECT COUNT(*) AS n FROM t WHERE colour = 'red'", columns, joint)) == []


def test_a_pattern_that_no_level_has() -> None:
    columns = {"ward": 'levels = ["North", "South"]\nprior = { categorical = { North = 0.5, South = 0.5 } }'}
    goal = '[attacker]\ngoal = "ward exactly"\nadvantage = 0.05'
    (said, *others) = found(
        short("SELECT COUNT(*) AS n FROM t WHERE ward LIKE 'Est%' OR ward = 'South'", columns, goal)
    )
    assert said.kind == "filter_without_match"
    assert "North, South" in said.problem
    assert others == []
    assert found(short("SELECT COUNT(*) AS n FROM t WHERE ward LIKE 'N%'", columns, goal)) == []


def test_a_label_that_is_no_level_is_refused_with_the_one_that_was_meant() -> None:
    columns = {
        "grade": 'levels = ["A", "B", "C", "D"]\nprior = { categorical = { A = 0.2, B = 0.3, C = 0.3, D = 0.2 } }'
    }
    goal = '[attacker]\ngoal = "grade exactly"\nadvantage = 0.05'
    with pytest.raises(QueryError, match="did you mean D\\?"):
        gp.check(short("SELECT COUNT(*) AS n FROM t WHERE grade = 'd'", columns, goal))


def test_a_limit_that_nothing_can_break() -> None:
    columns = {"smoker": 'levels = ["yes", "no"]\nprior = { categorical = { yes = 0.7, no = 0.3 } }'}
    for advantage, said in (("0.4", 1), ("0.2", 0)):
        limit = f'goal = "smoker exactly"\nat.smoker = "yes"\nadvantage = {advantage}'
        goal = f"[attacker]\n{limit}\n[accuracy]\nwithin = 9"
        kinds = [c.kind for c in found(short("SELECT COUNT(*) AS n FROM t WHERE smoker = 'yes'", columns, goal))]
        assert kinds == ["limit_without_force"] * said


def test_what_choose_refuses_is_refused() -> None:
    columns = {"delay": "bounds = [-30, 120]"}
    data = {"protects": "persons", "person": "person", "max_rows": 20}
    plan = short("SELECT AVG(delay) AS d FROM t", columns, "[risk]\nconstant = 3\n[accuracy]\nwithin = 3", **data)
    for refusing in (gp.check, gp.choose):
        with pytest.raises(PlanError, match="no target can be promised"):
            refusing(plan)


def test_an_extreme_that_says_nothing() -> None:
    columns = {"time": "bounds = [0, 120]\nprior = { normal = { mean = 20, sd = 6 } }"}
    goal = '[attacker]\ngoal = "time within 2"\nadvantage = 0.02'
    (said,) = found(short("SELECT MAX(time) AS longest FROM t", columns, goal))
    assert said.kind == "error_beyond_range"


def test_a_missing_file_table_or_column(tmp_path: Path) -> None:
    text = CAFETERIA.replace("cafeteria.csv", "other.csv")
    (said,) = gp.check(loads_plan(text, folder=tmp_path))
    assert (said.kind, said.line) == ("source_missing", 5)
    # broken rows: whoever read a value would stumble
    (tmp_path / "other.csv").write_text('minutes,faculty\n"x,\0\n1,2,3,4\n')
    (said,) = gp.check(loads_plan(text, folder=tmp_path))
    assert (said.kind, said.line, said.value) == ("column_missing", 13, "time")
    assert "minutes" not in said.remedy  # the first line may be a record
    (tmp_path / "other.csv").write_text("Time,faculty\n1,math\n")
    assert gp.check(loads_plan(text, folder=tmp_path)) == ()
    (tmp_path / "other.csv").write_text("time,faclty\n1,math\n")
    (said,) = gp.check(loads_plan(text, folder=tmp_path))
    assert (said.line, said.value) == (11, "faculty")


def test_a_typed_table_says_which_column_was_meant(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"times": [1.0], "faculty": ["math"]}), tmp_path / "c.parquet")
    text = CAFETERIA.replace("cafeteria.csv", "c.parquet")
    (said,) = gp.check(loads_plan(text, folder=tmp_path))
    assert said.remedy == "did you mean times?"


def test_strict_refuses_with_the_same_words() -> None:
    plan = cafeteria(("confidence = 0.95", "confidence = 0.05"))
    (said,) = gp.check(plan)
    with pytest.raises(PlanError) as caught:
        gp.check(plan, strict=True)
    assert (caught.value.line, caught.value.problem, caught.value.remedy) == (said.line, said.problem, said.remedy)


def run(*words: str, code: int = 0) -> Any:
    done = commands.run(*words)
    assert done.returncode == code, done.output
    return done


def test_the_commands_say_it(tmp_path: Path) -> None:
    cats = (ROOT / "examples" / "cats" / "either.toml").read_text(encoding="utf-8")
    bad = tmp_path / "plan.toml"
    bad.write_text(f"{cats}\n[accuracy]\nwithin = 20\nconfidence = 0.05\n", encoding="utf-8")
    (tmp_path / "cats.csv").write_text("colour,gender\nred,F\n")
    (line,) = run("check", str(bad)).stdout.splitlines()
    assert line.startswith(f"warning: {bad}, line 31: accuracy.confidence:")
    run("check", "--strict", str(bad), code=2)
    told = json.loads(run("check", "--json", str(bad)).stdout)
    assert told["ok"] is False
    assert [w["kind"] for w in told["warnings"]] == ["confidence_low"]
    chosen = run("choose", str(bad))
    assert "line 31: accuracy.confidence" in chosen.stderr
    assert json.loads(run("choose", "--json", str(bad)).stdout)["warnings"] == told["warnings"]
    run("choose", "--strict", str(bad), code=2)
    good = str(ROOT / "examples" / "cats" / "either.toml")
    assert "nothing to mend" in run("check", "--strict", good).stdout
    assert json.loads(run("check", "--json", good).stdout) == {"ok": True, "warnings": []}


def test_percent_where_a_share_was_meant() -> None:
    for old, new, hint in (
        ("advantage = 0.05", "advantage = 5", "for 5 % write 0.05"),
        ("confidence = 0.95", "confidence = 95", "for 95 % write 0.95"),
        ("advantage = 0.05", "posterior = 30", "for 30 % write 0.3"),
    ):
        with pytest.raises(PlanError) as caught:
            cafeteria((old, new))
        assert caught.value.remedy == hint


def test_knowledge_outside_the_bounds_is_refused_where_it_stands() -> None:
    with pytest.raises(PlanError, match="lies outside the bounds 0 … 120") as caught:
        cafeteria(("at = { time = 20 }", "knows = { time = [130, 140] }"))
    assert caught.value.line == 19


def test_every_check_is_listed_once() -> None:
    assert len({each.__name__ for each in CHECKS}) == len(CHECKS)
