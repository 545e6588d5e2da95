"""A private choice of max_rows, and what a bound likely cuts off."""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path
from typing import Any

import commands
import pytest
from engines import tables

from guessproof.checking import check
from guessproof.choosing import Choice, choose
from guessproof.choosing.bias import describe_bias
from guessproof.errors import BudgetError, ParameterError, PlanError, SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import loads_plan
from guessproof.plan.identity import request_of
from guessproof.releasing import release
from guessproof.releasing.row_bounds import bound_rows
from guessproof.reporting import report
from guessproof.reporting.facts import gather
from guessproof.reporting.registry import registry_text
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


def test_the_noise_is_that_of_a_person_who_moves_two_counts(tmp_path: Path) -> None:
    """Mean distances of 2/ε = 100 over 303 draws: 70 lies five standard deviations below, and seven above 50."""
    opened(tmp_path, [1, 2, 3])
    draws = [
        count
        for first in (1, 2, 3)
        for count in bound_rows(plan(tmp_path, COUNT), epsilon=0.02, candidates=range(first, first + 100)).persons
    ]
    assert len(draws) == 303
    assert sum(map(abs, draws)) / len(draws) > 70


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
    done = commands.run(*words)
    assert "max_rows = 5" in done.output
    found = json.loads(commands.run(*words, "--share", "0.4", "--json").stdout)
    assert (found["max_rows"], found["replayed"]) == (1, True)
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    section = page.split("## bounds\n", 1)[1].split("\n## ", 1)[0]
    assert all(f"`{key}`" in section for key in found)


def test_the_command_explains_counts_below_nobody(tmp_path: Path) -> None:
    opened(tmp_path, [1] * 40)
    text = '[data]\nname = "test"\nsource = "t.parquet"\nprotects = "persons"\nperson = "patient"\nmax_rows = 1\n'
    (tmp_path / "plan.toml").write_text(text + f'[query]\nsql = "{COUNT}"\n{COLUMNS}\n[release]\nepsilon = 1.0\n')
    words = ["bounds", str(tmp_path / "plan.toml"), "--epsilon", "0.01"]
    done = commands.run(*words, "--candidates", ",".join(map(str, range(1, 60))))  # of 60 counts one is below 0
    assert re.search(r" -\d+ ", done.output)
    assert "Counts below 0" in done.output


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


# What is said of the bias beside every error.

SAID = "Bias from max_rows: unknown, may exceed the stated error"


def said_everywhere(choice: Choice) -> list[bool]:
    """Whether a choice, an answer, its JSON, the report's headline, the registry and a check say it."""
    answer = release(choice.plan)
    page = report(choice.plan).html
    return [
        choice.to_dict().get("bias_note") == SAID,
        answer.to_dict().get("bias_note") == SAID,
        answer.record().get("bias_note") == SAID,
        SAID in page.split('class="lead"')[1].split("</p>")[0],
        SAID in registry_text(gather(choice.plan)),
        "bias_unknown" in [concern.kind for concern in check(choice.plan)],
    ]


def test_an_unknown_bias_is_said_beside_every_error(tmp_path: Path) -> None:
    opened(tmp_path, [1] * 30 + [9] * 10)
    asked = "SELECT AVG(days) AS a FROM t"
    assert said_everywhere(choose(plan(tmp_path, asked, epsilon=1.0))) == [True] * 6
    told = choose(plan(tmp_path, asked, epsilon=2.0, rows_each=[[1, 0.75], [9, 0.25]]))
    assert said_everywhere(told) == [False] * 6
    once = choose(plan(tmp_path, "SELECT MAX(days) AS m, COUNT(DISTINCT patient) AS n FROM t", epsilon=1.0))
    assert said_everywhere(once) == [False] * 6  # neither is cut


def test_what_is_lost_by_what_is_declared_is_said_beside_every_error(tmp_path: Path) -> None:
    """A count that loses most of itself is no answer ± its noise, and nobody knows how far an average is off."""
    opened(tmp_path, [1] * 30 + [9] * 10)
    both = "SELECT COUNT(*) AS n, AVG(days) AS a FROM t"
    note = (
        "Bias from max_rows: n loses about 50.0 % of it, a may be off by an unknown amount as about 25.0 % of the "
        "persons have more rows, by what is declared"
    )
    choice = choose(plan(tmp_path, both, epsilon=1.0, rows_each=[[1, 0.75], [9, 0.25]]))
    answer = release(choice.plan)
    assert choice.bias_note == choice.to_dict()["bias_note"] == note
    assert answer.bias_note == answer.to_dict()["bias_note"] == answer.record()["bias_note"] == note
    assert note in report(choice.plan).html.split('class="lead"')[1].split("</p>")[0]
    assert note in registry_text(gather(choice.plan))
    few = choose(plan(tmp_path, both, epsilon=1.0, rows_each=[[1, 0.5], [3, 0.5]]))
    assert few.bias_note is None


def test_what_was_paid_for_is_read_from_the_ledger(tmp_path: Path) -> None:
    opened(tmp_path, [1] * 30 + [9] * 10)
    asked = plan(tmp_path, COUNT, epsilon=1.0, max_rows=2)
    assert "guessproof bounds" in describe_bias(choose(asked))[0][1]
    bound_rows(asked, epsilon=HUGE, candidates=(1, 5, 20))
    found = choose(asked)
    assert (
        found.bias_note
        == "Bias from max_rows: about 25.0 % of the persons have more rows, as guessproof bounds counted"
    )
    assert "pay for it" not in describe_bias(found)[0][1]
    assert release(asked).bias_note == found.bias_note
    assert check(asked) == ()
    assert choose(plan(tmp_path, COUNT, epsilon=1.0, max_rows=20)).bias_note == found.bias_note.replace("25.0", "0")
    other = choose(plan(tmp_path, "SELECT COUNT(*) AS n FROM t", epsilon=1.0))  # other rows pass
    assert other.bias_note == SAID


def test_an_answer_says_once_that_values_are_assumed_within_bounds(tmp_path: Path) -> None:
    opened(tmp_path, [1, 2])
    words = "assuming all values lie within bounds"
    sums, counts = (plan(tmp_path, f"SELECT {a} AS a FROM t", epsilon=1.0) for a in ("SUM(days)", "COUNT(*)"))
    assert [sum(words in text for text in release(asked).assumptions) for asked in (sums, counts)] == [1, 0]


@pytest.mark.parametrize("each", [[[1, 0.5]], [[2, 0.5], [1, 0.5]], [[0, 1.0]]])
def test_shares_that_cannot_be_meant_are_refused(tmp_path: Path, each: list[Any]) -> None:
    with pytest.raises(PlanError, match="rows_each"):
        plan(tmp_path, COUNT, rows_each=each)


def test_the_report_tells_of_persons_and_of_what_is_cut_off(tmp_path: Path) -> None:
    opened(tmp_path, [1, 2])
    report(plan(tmp_path, COUNT, epsilon=1.0, rows_each=[[1, 0.5], [7, 0.5]]), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Protected are all records of each person together" in page
    assert "about 50.0 % of it" in page
    assert "adding or removing one person" in page
