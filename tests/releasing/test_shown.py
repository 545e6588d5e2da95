"""Numbers for people: the digits that an error leaves, the nearest possible value, labels, and ε on the safe side."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import commands
import pytest
from choosing.plans import plan as short
from hypothesis import given
from hypothesis import strategies as st

import guessproof as gp
from guessproof.errors import PlanError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import loads_plan
from guessproof.plan.identity import first_text, request_of
from guessproof.rounded import beside_error, margin, within_bounds
from guessproof.schemas import schemas

RECORDS = """
[data]
name = "visits"
source = "visits.csv"
protects = "records"
[query]
sql = "SELECT ward, COUNT(*) AS n, SUM(days) AS days FROM t GROUP BY ward"
[columns.ward]
levels = ["north", "south"]
[columns.days]
bounds = [0, 30]
[release]
epsilon = 0.01
"""
LABELS = '[labels]\nward = "Ward of the clinic"\nn = "number of visits"\n"ward.north" = "the north wing"\n'


@given(st.floats(1e-6, 1e6), st.floats(0, 1), st.floats(1, 3))
def test_a_shown_epsilon_keeps_what_it_stands_beside(epsilon: float, below: float, above: float) -> None:
    for low, high in ((epsilon, epsilon * above), (epsilon * below, epsilon), (epsilon, epsilon)):
        assert low <= float(within_bounds(epsilon, low, high)) <= high


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e6))
def test_no_digit_is_missing_that_the_error_leaves(value: float, error: float) -> None:
    shown = beside_error(value, error)
    assert "e" not in shown
    assert abs(float(shown.replace(",", "")) - value) <= error / 10


def test_large_numbers_are_written_out() -> None:
    assert beside_error(2000010.0, 26.0) == "2,000,010"
    assert beside_error(-1.6321, 0.143) == "-1.632"
    assert beside_error(3.0, None) == "3"
    assert beside_error(math.inf, 1.0) == "inf"


@pytest.mark.parametrize("which", ["cafeteria", "survey"])
def test_the_epsilon_of_a_choice_can_be_typed_in_again(which: str) -> None:
    plan = gp.load_plan(Path(__file__).parents[2] / "examples" / which / "plan.toml")
    choice = gp.choose(plan)
    least, most = choice.interval
    assert least <= float(choice.shown_epsilon) <= most
    assert f"ε = {choice.shown_epsilon}" in choice.explanation


def released(text: str, folder: Path) -> gp.Plan:
    (folder / "visits.csv").write_text("ward,days\n" + "north,1\nsouth,2\n" * 3, encoding="utf-8")
    if not (folder / "guessproof.ledger").exists():
        Ledger.create(folder / "guessproof.ledger", "visits", Budget("5"))
    return loads_plan(text, folder=folder)


def test_the_nearest_possible_value_stands_beside_the_unbiased_one(tmp_path: Path) -> None:
    answers = gp.release(released(RECORDS, tmp_path)).answers
    for row in answers:
        assert row.value is not None
        assert row.nearest == max(row.value, 0.0)  # counts, and sums of numbers that are none below 0
        assert row.to_dict()["nearest"] == row.nearest
    assert "nearest" in schemas()["$defs"]["number"]["properties"]


WIDE = """
[data]
name = "visits"
source = "visits.csv"
protects = "records"
[query]
sql = "SELECT ward, day, COUNT(*) AS n, SUM(paid) AS paid FROM t GROUP BY ward, day"
[columns.ward]
levels = ["geburtshilfliche Station", "north"]
[columns.day]
edges = [2024-01-01, 2024-08-01, 2024-12-31]
[columns.paid]
bounds = [0, 1e12]
[release]
epsilon = 2
"""


@pytest.mark.parametrize("columns", ["40", "80", "100", "130", "200"])
def test_no_key_and_no_number_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """However narrow the terminal is: a number that lost its last digits is another number."""
    monkeypatch.chdir(tmp_path)
    released(RECORDS, tmp_path)
    (tmp_path / "visits.csv").write_text("ward,day,paid\nnorth,2024-02-01,7\n", encoding="utf-8")
    (tmp_path / "plan.toml").write_text(WIDE, encoding="utf-8")
    shown = commands.run("release", "plan.toml", COLUMNS=columns).output
    assert "…" not in shown.replace(" … ", "")
    answers = gp.release(gp.load_plan("plan.toml")).answers
    for row in answers:
        words = (*map(str, row.group.values()), beside_error(row.value or 0.0, row.error), margin(row.error or 0.0))
        lines = [line for line in shown.splitlines() if all(word in line for word in words)]
        assert lines != [], (words, shown)


def test_an_average_lies_in_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"time": "bounds = [0, 120]\nprior = { normal = { mean = 20, sd = 6 } }"}
    choice = gp.choose(short("SELECT AVG(time) AS mean FROM t", columns, "[release]\nepsilon = 0.001", rows=10))
    from guessproof.releasing.answer import add_noise

    seen = [add_noise(choice, {}).answers[0] for _ in range(60)]
    assert all(row.nearest is not None and 0 <= row.nearest <= 120 for row in seen)
    assert any(row.nearest != row.value for row in seen)


def test_labels_are_words_for_people_and_change_no_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bare, labelled = released(RECORDS, tmp_path), released(RECORDS + LABELS, tmp_path)
    assert request_of(bare) == request_of(labelled)
    assert first_text(bare.file, {}) == first_text(labelled.file, {})
    assert labelled.label("ward", "south") == "south"
    first = gp.release(bare)
    again = gp.release(labelled)
    assert again.replayed
    assert again.answers == first.answers
    (tmp_path / "plan.toml").write_text(RECORDS + LABELS, encoding="utf-8")
    shown: Any = commands.run("release", "plan.toml", COLUMNS="200").output
    assert all(words in shown for words in ("Ward of the clinic", "number of visits", "the north wing", "south"))
    gp.report(gp.load_plan("plan.toml"), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the north wing" in page
    assert "Ward of the clinic" in page
    assert page.index('aria-label="Released"') < page.index('<section id="plain"')  # on the first screen


def test_half_between_wherever_a_prior_can_be_written() -> None:
    column = 'bounds = [0, 120]\nprior = "half of people lie between 10 and 30"'
    plan = short("SELECT SUM(time) AS total FROM t", {"time": column})
    prior: Any = plan.attributes()["time"].prior
    assert prior == gp.half_between(10, 30)
    assert prior.mass(10, 30) == pytest.approx(0.5)
    from guessproof.cli.reading import read_prior

    assert read_prior("half between 10 and 30") == prior
    with pytest.raises(PlanError, match="below the second"):
        short("SELECT SUM(time) AS total FROM t", {"time": 'bounds = [0, 9]\nprior = "half between 30 and 10"'})


def test_the_report_accuses_nobody_of_what_came_later(tmp_path: Path) -> None:
    from guessproof.reporting.facts import gather

    plan = released(RECORDS, tmp_path)
    gp.release(plan)
    Ledger(tmp_path / "guessproof.ledger").note("visits", "looked", scan=True)
    assert not gather(plan).choice.data_dependent
    other = released(RECORDS.replace("0.01", "0.02"), tmp_path)
    assert gather(other).choice.data_dependent
