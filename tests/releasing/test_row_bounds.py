"""A private choice of max_rows, and what a bound likely cuts off."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from engines import tables
from typer.testing import CliRunner

from guessproof.choosing import choose
from guessproof.cli.app import app
from guessproof.errors import BudgetError, ParameterError, PlanError, SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import loads_plan
from guessproof.plan.identity import request_of
from guessproof.releasing.row_bounds import bound_rows
from guessproof.reporting import report
from releasing.test_persons import COLUMNS, TYPES, plan

COUNT = "SELECT COUNT(*) AS n FROM t WHERE days > 7"
HUGE = 1e5


def visits(numbers: list[int], days: float = 10.0) -> list[dict[str, Any]]:
    return [{"patient": f"p{p}", "ward": "north", "days": days} for p, rows in enumerate(numbers) for _ in range(rows)]


def opened(folder: Path, numbers: list[int], budget: str = "1e9", more: list[dict[str, Any]] | None = None) -> Ledger:
    tables.write(folder, [*visits(numbers), *(more or [])], "parquet", types=TYPES)
    return Ledger.create(folder / "guessproof.ledger", "test", Budget(budget))


def test_persons_are_counted_by_the_rows_that_pass(tmp_path: Path) -> None:
    below = [{"patient": "p0", "ward": "north", "days": 6.0}] * 9
    unseen = [*below, *([{"patient": None, "ward": "north", "days": 9.0}] * 4)]
    opened(tmp_path, [1] * 15 + [2] * 3 + [5] + [40], more=unseen)
    found = bound_rows(plan(tmp_path, COUNT), epsilon=HUGE, candidates=(1, 2, 5))
    assert found.persons == (15, 3, 1, 1)
    assert (found.choose(0.7), found.choose(0.9), found.choose(0.95), found.choose(0.99)) == (1, 2, 5, None)
    assert found.beyond() == pytest.approx([0.25, 0.1, 0.05])


def test_it_is_charged_first_and_given_again(tmp_path: Path) -> None:
    book = opened(tmp_path, [1, 2, 3], budget="0.25")
    first = bound_rows(plan(tmp_path, COUNT), epsilon=0.2)
    assert float(book.account("test").epsilon) == pytest.approx(0.2)
    again = bound_rows(plan(tmp_path, COUNT, max_rows=9), epsilon=0.2)
    assert (again.replayed, again.persons) == (True, first.persons)
    with pytest.raises(BudgetError):
        bound_rows(plan(tmp_path, COUNT), epsilon=0.2, candidates=(1, 2))
    (charge,) = book.account("test").charges.values()
    assert charge.guarantee["unit"] == "persons"
    assert (charge.guarantee["change"], charge.guarantee["presence"]) == (0.2, 0.1)


def test_no_person_moves_the_counts_further_than_is_charged(tmp_path: Path) -> None:
    """All tables of three persons with up to four rows: one person changed or gone."""
    counted: dict[tuple[int, ...], tuple[int, ...]] = {}
    for place, numbers in enumerate(itertools.combinations_with_replacement(range(5), 3)):
        folder = tmp_path / str(place)
        folder.mkdir()
        opened(folder, list(numbers), more=[{"patient": None, "ward": "north", "days": 9.0}])
        found = bound_rows(plan(folder, COUNT), epsilon=HUGE, candidates=(1, 2, 3))
        counted[numbers] = found.persons
    for one, other in itertools.combinations(counted, 2):
        rest = list(other)
        for rows in one:
            if rows in rest:
                rest.remove(rows)
        if len(rest) == 1:
            moved = sum(abs(a - b) for a, b in zip(counted[one], counted[other], strict=True))
            gone = rest[0] == 0 or set(one) - set(other) == {0}
            assert moved <= (1 if gone else 2)
            assert moved <= 2


def test_what_cannot_be_bounded_is_refused_unpaid(tmp_path: Path) -> None:
    book = opened(tmp_path, [1, 2])
    data = "[data]\nname = 'test'\nsource = 't.parquet'\nprotects = 'records'\n"
    query = "[query]\nsql = 'SELECT COUNT(*) AS n FROM t'\n[release]\nepsilon = 1"
    records = loads_plan(data + query, folder=tmp_path)
    with pytest.raises(PlanError, match="only where a person has several"):
        bound_rows(records, epsilon=1)
    with pytest.raises(SourceError, match="no column nobody"):
        bound_rows(plan(tmp_path, COUNT, person="nobody"), epsilon=1)
    for candidates in ((), (2, 1), (0, 1)):
        with pytest.raises(ParameterError, match="rising"):
            bound_rows(plan(tmp_path, COUNT), epsilon=1, candidates=candidates)
    assert not book.account("test").charges


def test_the_command(tmp_path: Path) -> None:
    opened(tmp_path, [1] * 40 + [3] * 60)
    text = '[data]\nname = "test"\nsource = "t.parquet"\nprotects = "persons"\nperson = "patient"\nmax_rows = 1\n'
    (tmp_path / "plan.toml").write_text(text + f'[query]\nsql = "{COUNT}"\n{COLUMNS}\n[release]\nepsilon = 1.0\n')
    words = ["bounds", str(tmp_path / "plan.toml"), "--epsilon", "1000", "--candidates", "1,2,5"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert "max_rows = 5" in done.output
    found = json.loads(CliRunner().invoke(app, [*words, "--share", "0.4", "--json"], catch_exceptions=False).stdout)
    assert (found["max_rows"], found["replayed"]) == (1, True)
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    section = page.split("## bounds\n", 1)[1].split("\n## ", 1)[0]
    assert all(f"`{key}`" in section for key in found)


# What a bound likely cuts off.


def test_the_share_of_a_count_that_is_cut_off(tmp_path: Path) -> None:
    asked = "SELECT COUNT(*) AS n, SUM(days) AS s, COUNT(DISTINCT patient) AS p, MAX(days) AS m, AVG(days) AS a FROM t"
    found = choose(plan(tmp_path, asked, rows_each=[[1, 0.5], [2, 0.3], [8, 0.2]]))
    assert found.bias["n"] == pytest.approx(0.2 * 5 / (0.5 + 0.6 + 1.6))
    # Days are uniform on [5, 30]: eight visits are 140 days long on average, of which 90 count.
    rng = random.Random(1)
    sums = [sum(rng.uniform(5, 30) for _ in range(rng.choices([1, 2, 8], [0.5, 0.3, 0.2])[0])) for _ in range(20000)]
    assert found.bias["s"] == pytest.approx(sum(max(s - 90, 0) for s in sums) / sum(sums), abs=0.02)
    assert set(found.bias) == {"n", "s", "a"}
    assert found.bias["a"] is None
    assert found.to_dict()["bias"] == found.bias == choose(found.plan).bias


def test_without_a_declaration_it_cannot_be_said(tmp_path: Path) -> None:
    asked = plan(tmp_path, COUNT)
    assert choose(asked).bias == {"n": None}
    told = plan(tmp_path, COUNT, rows_each=[[1, 1.0]])
    assert choose(told).bias == {"n": 0.0}
    assert request_of(told) == request_of(asked)  # it changes no answer


@pytest.mark.parametrize("each", [[[1, 0.5]], [[2, 0.5], [1, 0.5]], [[0, 1.0]]])
def test_shares_that_cannot_be_meant_are_refused(tmp_path: Path, each: list[Any]) -> None:
    with pytest.raises(PlanError, match="rows_each"):
        plan(tmp_path, COUNT, rows_each=each)


def test_the_report_tells_of_persons_and_of_what_is_cut_off(tmp_path: Path) -> None:
    opened(tmp_path, [1, 2])
    report(plan(tmp_path, COUNT, epsilon=1.0, rows_each=[[1, 0.5], [7, 0.5]]), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Protected are all records of each person together" in page
    assert "about 50 % of it" in page
    assert "adding or removing one person" in page
