"""The whole road by plans about times: dates in the plan, choose, release, replay, audit."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import commands
import pytest

import guessproof as gp
from guessproof.auditing import audit
from guessproof.choosing import choose
from guessproof.errors import PlanError
from guessproof.plan import load_plan, loads_plan
from guessproof.releasing import release
from guessproof.world.checks import days_of, show_time
from releasing.tables import budget

PLAN = """
[data]
name = "test"
source = "t.csv"
protects = "values"
rows = 40

[query]
sql = "SELECT AVG(born) AS middle FROM t"

[columns.born]
bounds = [1920-01-01, 2025-12-31]
missing = false
prior = { normal = { mean = 1980-06-01, sd = "10 years" } }

[attacker]
goal = "born within 30 days"
at = { born = 1980-05-17 }
advantage = 0.1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    days = [datetime.date(1980, 6, 1) + datetime.timedelta(days=97 * k) for k in range(-20, 20)]
    (tmp_path / "t.csv").write_text("born\n" + "\n".join(map(str, days)) + "\n", encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    budget(tmp_path)
    return tmp_path


def test_days_are_numbers(folder: Path) -> None:
    """The same question about a number of days has the same ε, and the noise is in days."""
    choice = choose(load_plan(folder / "plan.toml"))
    mean, at = (days_of(datetime.date(1980, m, d)) for m, d in ((6, 1), (5, 17)))
    days = gp.Attribute("born", prior=gp.normal(mean=mean, sd=3652.5))
    epsilon = gp.Attack(gp.within(days, 30), at={"born": at}).epsilon(advantage=0.1)
    assert choice.noise_scale == pytest.approx(1 / epsilon / 40, rel=1e-5)  # bounds are proven within 5e-6


@pytest.mark.parametrize("length", ["30 days", "720 hours", "30", "4.285714285714286 weeks"])
def test_lengths_in_any_unit(length: str) -> None:
    goals = [loads_plan(PLAN.replace("30 days", said)).goal() for said in ("30 days", length)]
    assert getattr(goals[0], "radius", 0) == pytest.approx(getattr(goals[1], "radius", 1))


def test_a_time_is_told_as_a_time(folder: Path) -> None:
    plan = load_plan(folder / "plan.toml")
    (row,) = release(plan).answers
    assert row.time is not None
    assert row.value is not None
    seen = datetime.datetime.fromisoformat(row.time)
    assert abs((seen - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1) - row.value) < 1e-4
    again = release(plan)
    assert again.replayed
    assert again.answers == (row,)
    shown = commands.run("release", str(folder / "plan.toml"))
    assert show_time(row.value, row.error) in shown.output
    assert "days" in shown.output
    found = json.loads(commands.run("release", str(folder / "plan.toml"), "--json").output)
    assert found["answers"][0]["time"] == row.time


def test_hardly_any_noise_gives_the_plain_answer(folder: Path) -> None:
    asked = """SELECT MIN(born) AS first, MAX(born) AS last, COUNT(*) FILTER (WHERE born < DATE '1980-01-01') AS old,
        AVG(DATEDIFF('day', born, DATE '2026-01-01')) AS age, COUNT(*) FILTER (WHERE YEAR(born) = 1980) AS y FROM t"""
    text = PLAN.split("[attacker]")[0].replace("SELECT AVG(born) AS middle FROM t", asked.replace("\n", " "))
    (folder / "plan.toml").write_text(text + "[release]\nepsilon = 1e9\n", encoding="utf-8")
    found = {row.name: row for row in release(load_plan(folder / "plan.toml")).answers}
    days = [datetime.date(1980, 6, 1) + datetime.timedelta(days=97 * k) for k in range(-20, 20)]
    for name, day in (("first", min(days)), ("last", max(days))):
        assert found[name].value == pytest.approx(days_of(day), abs=0.01)
        assert str(found[name].time).startswith(str(day)[:7])
    assert found["old"].value == sum(d < datetime.date(1980, 1, 1) for d in days)
    assert found["y"].value == sum(d.year == 1980 for d in days)
    ages = [(datetime.date(2026, 1, 1) - d).days for d in days]
    assert found["age"].value == pytest.approx(sum(ages) / 40, abs=0.01)


def test_the_audit_plays_with_times(folder: Path) -> None:
    found = audit(load_plan(folder / "plan.toml"), trials=2000, seconds=1e5, seed=3)
    assert not found.failures, found.failures


@pytest.mark.parametrize(
    ("wrong", "instead", "says"),
    [
        ("bounds = [1920-01-01, 2025-12-31]", "bounds = [2025-12-31, 1920-01-01]", "must be below"),
        ("within 30 days", "within 30 moons", "not expected here"),
        ("within 30 days", "within 30 %", "no percentage"),
        ("within 30 days", "inside 1980-13-01 1990-01-01", "not a time"),
        ("born = 1980-05-17", 'born = "soon"', "not a number"),
        ('sd = "10 years"', 'sd = "ten years"', "number"),
        ("missing = false", 'missing = false\nlevels = ["a"]', "outside the bounds"),
    ],
)
def test_what_is_no_time_is_refused(wrong: str, instead: str, says: str) -> None:
    assert wrong in PLAN
    with pytest.raises(PlanError, match=says):
        choose(loads_plan(PLAN.replace(wrong, instead)))


def test_a_date_beside_numbers_is_refused() -> None:
    text = PLAN.replace("bounds = [1920-01-01, 2025-12-31]", "bounds = [0, 9]\nkind = 'number'")
    with pytest.raises(PlanError, match=r"mean|number"):
        loads_plan(text)
    with pytest.raises(PlanError, match="unit of times"):
        loads_plan(text.replace("1980-06-01", "4").replace('"10 years"', "2").replace("at = { born = 1980-05-17 }", ""))


@pytest.mark.parametrize(
    "prior",
    [
        "{ uniform = { low = 1950-01-01, high = 2010-01-01 } }",
        "{ histogram = { edges = [1920-01-01, 1970-01-01, 2025-12-31], weights = [0.5, 0.5] } }",
        "{ laplace = { mean = 1980-01-01T12:00:00, scale = '5 years' } }",
        "{ truncated = { prior = { normal = { mean = 1980-01-01, sd = '10 years' } }, low = 1950-01-01 } }",
    ],
)
def test_priors_over_times(prior: str) -> None:
    text = PLAN.replace('{ normal = { mean = 1980-06-01, sd = "10 years" } }', prior)
    assert choose(loads_plan(text)).feasible
    knows = text.replace("advantage = 0.1", "advantage = 0.1\nknows = { born = [1975-01-01, 1990-01-01] }")
    assert choose(loads_plan(knows)).feasible


def test_a_joined_table_may_have_dates(tmp_path: Path) -> None:
    """Bounds of a public table's column are dates as well: a ward that opened between 1990 and 2010."""
    (tmp_path / "wards.csv").write_text("ward,opened\na,2001-02-03\nb,1999-01-01\n", encoding="utf-8")
    (tmp_path / "t.csv").write_text("ward\na\nb\na\n", encoding="utf-8")
    budget(tmp_path)
    text = """
    data = { name = "test", source = "t.csv", table = "t", protects = "records" }
    query.sql = "SELECT SUM(DATEDIFF('day', opened, DATE '2020-01-01')) AS s FROM t JOIN wards AS w ON t.ward = w.ward"
    tables.wards = { source = "wards.csv", key = ["ward"], columns.opened.bounds = [1990-01-01, 2010-01-01] }
    release = { epsilon = 1e6 }
    """
    plan = loads_plan(text, folder=tmp_path)
    assert choose(plan).question.measurements[0].guarantee.presence == pytest.approx(10957)  # days from 1990 to 2020
    days = [(datetime.date(2020, 1, 1) - d).days for d in (datetime.date(2001, 2, 3), datetime.date(1999, 1, 1))]
    assert release(plan).value == pytest.approx(2 * days[0] + days[1], abs=0.5)
