"""A plan that is released several times: limits hold for all of them together, and each is charged and drawn once."""

from __future__ import annotations

import json
import math
import shlex
from decimal import Decimal
from pathlib import Path
from typing import Any

import commands
import pytest

from guessproof.choosing import attacker_of, choose
from guessproof.errors import BudgetError, ParameterError, PlanError
from guessproof.exposure import Exposure
from guessproof.exposure.gaussian import judged_together
from guessproof.guarantee import bells_of_dicts, guarantee_to_dict, total_of_dicts
from guessproof.ledger import Budget, Ledger
from guessproof.meaning import meaning
from guessproof.plan import Plan, load_plan
from guessproof.plan.identity import request_of
from guessproof.releasing import release

ATTACKER = '[attacker]\ngoal = "time within 2"\nadvantage = 0.05\nat = { time = 20 }'
RISK = "[risk]\nfixed_inclusion = { p = 1.0, absolute = 0.1, relative = 3 }"


def made(folder: Path, extra: str = "", *, limit: str = ATTACKER, name: str = "plan.toml") -> Plan:
    (folder / "t.csv").write_text("time\n" + "\n".join(str(20 + n % 7) for n in range(50)) + "\n")
    (folder / name).write_text(
        f"""
[data]
name = "cafeteria"
source = "t.csv"
protects = "values"
[query]
sql = "SELECT SUM(time) AS total FROM t"
[columns.time]
bounds = [0, 120]
prior = {{ normal = {{ mean = 20, sd = 6.28 }} }}
{limit}
[release]
{extra}
"""
    )
    return load_plan(folder / name)


def opened(plan: Plan, budget: Any = "10") -> Ledger:
    return Ledger.create(plan.ledger_path, "cafeteria", Budget(budget))


@pytest.mark.parametrize("limit", [ATTACKER, RISK])
def test_each_release_gets_its_part_of_what_one_would_get(tmp_path: Path, limit: str) -> None:
    once, twelve = choose(made(tmp_path, limit=limit)), choose(made(tmp_path, "times = 12", limit=limit))
    assert twelve.epsilon == pytest.approx(once.epsilon / 12, rel=1e-6)
    assert twelve.epsilon * 12 <= once.epsilon * (1 + 1e-12)
    assert twelve.cost_of_all == pytest.approx(12 * twelve.cost, rel=1e-12)
    assert twelve.cost_of_all >= 12 * twelve.cost * (1 - 1e-15)


def test_beliefs_are_after_all_of_them_as_after_one_release_of_their_sum(tmp_path: Path) -> None:
    """The oracle adds up what the ledger keeps of twelve releases: metrics add."""
    twelve = choose(made(tmp_path, "times = 12\nepsilon = 0.05", limit=ATTACKER.replace("0.05", "0.5")))
    once = choose(made(tmp_path, "epsilon = 0.6", limit=ATTACKER.replace("0.05", "0.5")))
    assert twelve.advantage is not None
    assert once.advantage is not None
    assert float(twelve.advantage.bound) == pytest.approx(float(once.advantage.bound), rel=1e-6)
    assert float(twelve.advantage.bound) >= float(once.advantage.attack)
    kept = guarantee_to_dict(twelve.guarantee)
    added, counted = total_of_dicts([kept] * 12), total_of_dicts([kept], times=[12])
    for part in (added, counted, twelve.guarantee.repeated(12)):
        assert part.change == pytest.approx(12 * twelve.guarantee.change, rel=1e-12)
        assert part.change >= math.fsum([twelve.guarantee.change] * 12)
        assert float(part.columns["time"].distance(0.0, 7.0)) >= 12 * float(
            twelve.guarantee.columns["time"].distance(0.0, 7.0)
        ) * (1 - 1e-15)
    said = meaning(made(tmp_path, "times = 12", limit=ATTACKER), 0.05)
    assert said.times == 12
    assert said.advantage is not None
    assert float(said.advantage.bound) == pytest.approx(float(once.advantage.bound), rel=1e-6)


def test_what_one_release_may_cost_may_be_too_much_for_twelve(tmp_path: Path) -> None:
    fixed = 0.9 * choose(made(tmp_path)).epsilon
    assert choose(made(tmp_path, f"epsilon = {fixed}")).feasible
    assert not choose(made(tmp_path, f"epsilon = {fixed}\ntimes = 2")).feasible
    told = choose(made(tmp_path, "times = 12"))
    assert "each of 12 releases" in told.explanation
    assert "after all 12" in told.explanation
    assert any("released 12 times" in words for words in told.assumptions)
    assert told.to_dict()["times"] == 12
    assert told.to_dict()["epsilon_charged_for_all"] == told.cost_of_all


def test_accuracy_that_twelve_cannot_have_says_how_many_could(tmp_path: Path) -> None:
    once = choose(made(tmp_path))
    within = 1.01 * once.errors()["total"] * 4  # type: ignore[operator]
    target = f"{ATTACKER}\n[accuracy]\nwithin = {within}"
    told = choose(made(tmp_path, "times = 12", limit=target))
    assert not told.feasible
    (change,) = [c for c in told.changes if c.what == "release.times"]
    assert change.then == "4"
    assert choose(made(tmp_path, "times = 4", limit=target)).feasible
    assert not choose(made(tmp_path, "times = 5", limit=target)).feasible


def test_every_number_is_charged_and_drawn_once_and_replayed_after(tmp_path: Path) -> None:
    plan = made(tmp_path, "times = 3")
    choice = choose(plan)
    ledger = opened(plan, 3 * Decimal(str(choice.cost)) * Decimal("1.0000001"))
    answers = [release(plan, number=number) for number in (3, 1, 2)]
    assert [a.number for a in answers] == [3, 1, 2]
    assert len({a.value for a in answers}) == 3
    assert {a.epsilon for a in answers} == {choice.cost}
    assert len(ledger.account("cafeteria").charges) == 3
    for first, number in zip(answers, (3, 1, 2), strict=True):
        again = release(plan, number=number)
        assert again.replayed
        assert (again.value, again.number, again.times) == (first.value, number, 3)
    assert len(ledger.account("cafeteria").charges) == 3
    numbers = [c.describe["number"] for c in ledger.account("cafeteria").charges.values()]
    assert numbers == ["3 of 3", "1 of 3", "2 of 3"]
    with pytest.raises(BudgetError):
        release(made(tmp_path, "times = 4", name="more.toml"), number=4)


@pytest.mark.parametrize("number", [None, 0, 4, -1, 1.0, True, "1"])
def test_a_number_that_is_none_of_them_is_refused_and_charges_nothing(tmp_path: Path, number: Any) -> None:
    plan = made(tmp_path, "times = 3")
    ledger = opened(plan)
    with pytest.raises(ParameterError, match=r"number: this plan is released 3 times .*(--number 1 … 3|from 1 to 3)"):
        release(plan, number=number)
    assert len(ledger.entries()) == 1


def test_a_plan_that_is_released_once_needs_no_number_and_keeps_its_request(tmp_path: Path) -> None:
    plan, same = made(tmp_path), made(tmp_path, "times = 1", name="same.toml")
    opened(plan)
    first = release(plan)
    assert release(same, number=1).value == first.value
    assert request_of(plan) == request_of(same) == request_of(plan, number=1)
    assert "times" not in first.to_dict()
    with pytest.raises(ParameterError, match="released once"):
        release(plan, number=2)
    requests = {request_of(made(tmp_path, f"times = {t}"), number=n) for t in (2, 3) for n in range(1, t + 1)}
    assert len(requests | {request_of(plan)}) == 6


def test_the_budget_is_shared_by_the_releases_to_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from guessproof.choosing.budgets import budget_left

    plan = made(tmp_path, "times = 3")
    cost = choose(plan).cost
    opened(plan, f"{3.001 * cost:.12f}")
    for number in (1, 2):
        release(plan, number=number)
    left = budget_left(plan)
    assert left.numbers == (3,)
    assert choose(plan, remaining=left.epsilon, to_come=left.to_come).binding == "attacker"
    assert choose(plan, remaining=left.epsilon).binding == "budget"  # for three more it would not do
    release(plan, number=3)
    left = budget_left(plan)
    assert left.to_come == 0
    assert choose(plan, remaining=left.epsilon, to_come=left.to_come).binding == "attacker"


@pytest.mark.parametrize("times", [1, 3])
def test_following_what_choose_says_next_makes_each_release_once(tmp_path: Path, times: int) -> None:
    """With a budget for just these: the line that is printed works each time, and then says that all is done."""
    plan = made(tmp_path, f"times = {times}")
    opened(plan, f"{times * choose(plan).cost * (1 + 1e-9):.12f}")
    epsilon = json.loads(typed("choose", str(plan.path), "--json"))["epsilon"]
    for number in range(1, times + 1):
        line = typed("choose", str(plan.path)).strip().splitlines()[-1]
        assert line.startswith("Next: ")
        words = shlex.split(line.removeprefix("Next: "))[1:]
        assert words[2:] == ([] if times == 1 else ["--number", str(number)])
        assert "answered before" not in typed(*words)
    last = typed("choose", str(plan.path)).strip().splitlines()[-1]
    assert "answered before" in last
    assert "the same answer" in typed(*shlex.split(last.split(" by: ")[1])[1:])
    assert json.loads(typed("choose", str(plan.path), "--json"))["epsilon"] == pytest.approx(epsilon, rel=1e-6)


def typed(*words: str) -> str:
    found = commands.run(*words, COLUMNS="500")
    assert found.returncode == 0, found.output
    return found.stdout


def test_no_other_attacker_is_the_way_out_of_a_budget_that_is_too_small(tmp_path: Path) -> None:
    once = choose(made(tmp_path))
    target = f"{ATTACKER}\n[accuracy]\nwithin = {1.1 * once.errors()['total'] * 2}"  # type: ignore[operator]
    told = choose(made(tmp_path, "times = 2", limit=target), remaining=once.epsilon)
    assert told.feasible
    poor = choose(made(tmp_path, "times = 2", limit=target), remaining=once.epsilon / 2)
    assert not poor.feasible
    assert {c.what for c in poor.changes if c.what.startswith("attacker")} == set()
    assert [c.then for c in poor.changes if c.what == "release.times"] == ["1"]


@pytest.mark.parametrize("times", ["0", "-1", "1.5", '"12"', "true", "1001"])
def test_times_that_cannot_be_meant_are_refused_by_line(tmp_path: Path, times: str) -> None:
    with pytest.raises(PlanError, match="times"):
        made(tmp_path, f"times = {times}")


def test_the_commands_say_which_release_it_is(tmp_path: Path) -> None:
    plan = made(tmp_path, "times = 12")
    opened(plan)

    def run(*words: str) -> Any:
        return commands.run(*words)

    path = str(tmp_path / "plan.toml")
    told = json.loads(run("release", path, "--number", "3", "--json").output)
    assert (told["number"], told["times"]) == (3, 12)
    assert "Release 3 of 12" in run("release", path, "--number", "3").output
    assert run("release", path).returncode == 2
    assert "all 12 releases" in run("choose", path).output
    assert "in each of 12 releases" in run("explain", path, "--epsilon", "0.01").output
    page = tmp_path / "report.html"
    assert run("report", path, "-o", str(page)).returncode == 0
    assert "release 3 of 12" in page.read_text()
    assert "released 12 times" in page.read_text()


FORMS = {
    "a mean": ("values", "SELECT AVG(time) AS a FROM t", "rows = 50"),
    "a median": ("values", "SELECT MEDIAN(time) AS a FROM t", ""),
    "a largest value by ranks": ("values", "SELECT MAX(time) AS a FROM t", ""),
    "groups": ("records", "SELECT team, SUM(time) AS a, COUNT(*) AS n FROM t GROUP BY team", ""),
    "linked records": ("values", "SELECT SUM(time) AS a FROM t", "linked_records = 3"),
    "copies": ("values", "SELECT SUM(time) AS a FROM t", "copies = 2"),
    "persons": ("persons", "SELECT SUM(time) AS a FROM t", 'person = "who"\nmax_rows = 3'),
    "persons, two numbers": ("persons", "SELECT SUM(time) AS a, COUNT(*) AS n FROM t", 'person = "who"\nmax_rows = 3'),
    "a join": ("values", "SELECT SUM(time * rate) AS a FROM t JOIN w ON t.team = w.team", ""),
}


def formed(folder: Path, form: str, release_keys: str) -> Plan:
    protects, sql, data = FORMS[form]
    rows = "".join(f"{20 + n % 7},{'rb'[n % 2]},{n // 2}\n" for n in range(50))
    (folder / "t.csv").write_text(f"time,team,who\n{rows}")
    (folder / "w.csv").write_text("team,rate\nr,1.5\nb,0.5\n")
    inside = "ranks_inside = 5" if "MAX" in sql else ""
    wards = (
        '[tables.w]\nsource = "w.csv"\nkey = ["team"]\n[tables.w.columns.rate]\nbounds = [0, 2]'
        if "JOIN" in sql
        else ""
    )
    public = "public = true" if protects == "values" else ""
    (folder / "form.toml").write_text(
        f"""
[data]
name = "cafeteria"
source = "t.csv"
protects = "{protects}"
{data}
[query]
sql = "{sql}"
[columns.time]
bounds = [0, 120]
step = 1
prior = {{ normal = {{ mean = 20, sd = 6.28 }} }}
[columns.team]
levels = ["r", "b"]
{public}
{wards}
[attacker]
goal = "time within 2"
advantage = 0.5
at = {{ time = 20 }}
[release]
{inside}
{release_keys}
"""
    )
    return load_plan(folder / "form.toml")


@pytest.mark.parametrize("form", FORMS)
def test_whatever_is_asked_four_releases_tell_what_the_ledger_adds_up(tmp_path: Path, form: str) -> None:
    """The oracle adds what the ledger keeps of each release, with the noise that it really had."""
    plan = formed(tmp_path, form, "times = 4\nepsilon = 0.1")
    choice = choose(plan)
    attacker = attacker_of(plan)
    assert choice.advantage is not None
    assert attacker is not None
    kept = total_of_dicts([guarantee_to_dict(choice.guarantee)] * 4, tuple(plan.columns))
    told = Exposure(attacker, kept).advantage(1.0)
    assert float(choice.advantage.bound) >= float(told.attack) * (1 - 1e-9)
    assert float(choice.advantage.bound) > 2 * float(choose(formed(tmp_path, form, "epsilon = 0.1")).advantage.attack)  # type: ignore[union-attr]
    opened(plan)
    numbers = [release(plan, number=number) for number in (1, 4)]
    assert [a.number for a in numbers] == [1, 4]
    assert release(plan, number=4).answers == numbers[1].answers


def test_gaussian_noise_adds_precisions_and_shares_the_failure(tmp_path: Path) -> None:
    """Four answers of sd 2σ tell of one value what one of sd σ tells: no linear sum, which would ask for sd 4σ."""
    limit = f"{ATTACKER}\nfailure = 0.01"
    noise = 'mechanism = "gaussian"\ndelta = 1e-6'
    once, four = choose(made(tmp_path, noise, limit=limit)), choose(made(tmp_path, f"{noise}\ntimes = 4", limit=limit))
    assert four.noise_scale == pytest.approx(2 * (once.noise_scale or 0.0), rel=1e-3)
    assert four.advantage is not None
    assert float(four.advantage.bound) <= 0.05
    plan = made(tmp_path, f"{noise}\ntimes = 4", limit=limit)
    ledger = Ledger.create(plan.ledger_path, "cafeteria", Budget("1000", "1e-4", advantage="0.0501"))
    for number in range(1, 5):
        release(plan, number=number)
    kept = [c.guarantee for c in ledger.account("cafeteria").charges.values()]
    bells = bells_of_dicts(kept, [1] * 4)
    attacker = attacker_of(plan)
    assert attacker is not None
    assert math.fsum(b.failure for b in bells) == pytest.approx(0.01)
    told = judged_together(attacker, None, bells, False)
    assert float(told.bound) == pytest.approx(float(four.advantage.bound), rel=1e-3)
    with pytest.raises(BudgetError, match="advantage"):
        release(made(tmp_path, f"{noise}\ntimes = 5", limit=limit, name="more.toml"), number=5)
