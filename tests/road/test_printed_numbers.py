"""Numbers that are printed in the documents and promised to users, each by its plan: to the printed digits."""

from __future__ import annotations

from pathlib import Path

import pytest

from guessproof.choosing import Choice, choose
from guessproof.errors import SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import loads_plan
from guessproof.releasing import release

VALUES = 'data = { name = "test", source = "t.csv", table = "t", protects = "values"'
LAPLACE = 'release.mechanism = "laplace"'
SALARY = """
columns.salary = { bounds = [0, 10000], missing = false, prior = { normal = { mean = 2000, sd = 235.7 } } }
attacker = { goal = "salary within 100", at = { salary = 2000 }, advantage = 0.1 }
"""
SHIPS = """
query.sql = "SELECT MIN(DISTANCE / speed) AS first FROM t"
columns.latitude = { bounds = [0, 300], missing = false, prior = { normal = { mean = 150, sd = 35.36 } } }
columns.longitude = { bounds = [0, 300], missing = false, prior = { normal = { mean = 150, sd = 35.36 } } }
columns.speed = { bounds = [20, 80], missing = false, public = true }

[attacker]
goal = "(latitude, longitude) within 5 by l2"
at = { latitude = 150, longitude = 150 }
advantage = 0.1
"""
VISITS = 'data = { name = "test", source = "t.csv", table = "t", protects = "persons", person = "id", max_rows = 3 }'


def chosen(*lines: str, folder: Path | str = ".") -> Choice:
    return choose(loads_plan("\n".join(lines), folder=folder))


def test_staff_in_twelve_months() -> None:
    """A view of staff × 12 months repeats each salary twelve times."""
    choice = chosen(f"{VALUES}, copies = 12 }}", LAPLACE, 'query.sql = "SELECT SUM(salary) AS s FROM t"', SALARY)
    assert choice.noise_scale == pytest.approx(5396.6, abs=0.05)


def joined(folder: Path, grades: str) -> list[str]:
    (folder / "grades.csv").write_text(f"grade,rate\n{grades}\n", encoding="utf-8")
    (folder / "t.csv").write_text("grade,salary\n1,2000\n", encoding="utf-8")
    return [
        f"{VALUES} }}",
        LAPLACE,
        'query.sql = "SELECT SUM(t.salary * p.rate) AS s FROM t JOIN grades AS p ON t.grade = p.grade"',
        'tables.grades = { source = "grades.csv", key = ["grade"], columns.rate.bounds = [0.5, 2] }',
        SALARY,
    ]


def test_a_join_counts_with_what_is_declared_of_the_other_table(tmp_path: Path) -> None:
    """The rate is declared to be at most 2, whatever the table holds; two rows of one grade are refused unpaid."""
    assert chosen(*joined(tmp_path, "1,1.1"), folder=tmp_path).noise_scale == pytest.approx(899.44, abs=0.005)
    ledger = Ledger.create(tmp_path / "guessproof.ledger", "test", Budget("100"))
    plan = loads_plan("\n".join(joined(tmp_path, "1,1.1\n1,1.2")), folder=tmp_path)
    with pytest.raises(SourceError, match="grade"):
        release(plan)
    assert ledger.remaining("test").to_dict()["epsilon"] == 100


def test_four_states() -> None:
    """Whoever changes the state moves two counts."""
    even = "{ a = 0.25, b = 0.25, c = 0.25, d = 0.25 }"
    choice = chosen(
        f"{VALUES} }}",
        LAPLACE,
        'query.sql = "SELECT state, COUNT(*) AS n FROM t GROUP BY state"',
        f"columns.state = {{ missing = false, prior = {{ categorical = {even} }} }}",
        'attacker = { goal = "state exactly", advantage = 0.1 }',
    )
    assert choice.epsilon == pytest.approx(0.47957, abs=5e-6)
    assert choice.noise_scale == pytest.approx(4.1704, abs=5e-5)


DISTANCES = (
    "(latitude^2 + longitude^2)^0.5",
    "SQRT(latitude^2 + longitude^2)",
    "SQRT(POWER(latitude, 2) + POWER(longitude, 2))",
    "POWER(latitude * latitude + longitude * longitude, 0.5)",
    "(POINT(latitude, longitude) <@> POINT(0, 0))",
)


@pytest.mark.parametrize("distance", [DISTANCES[0], DISTANCES[-1]])  # all in tests/deep: each takes seconds
def test_a_distance_is_one_however_it_is_written(distance: str) -> None:
    check_distance(distance)


def check_distance(distance: str) -> None:
    """The noise on a distance of ships, in one of its spellings."""
    choice = chosen(f"{VALUES} }}", LAPLACE, SHIPS.replace("DISTANCE", distance))
    least = 0.4968  # by one integral over the distance from the place; cells of a plane prove up to 6 % more
    assert least <= choice.noise_scale <= 1.06 * least


def test_persons_with_three_rows() -> None:
    choice = chosen(VISITS, 'query.sql = "SELECT COUNT(*) AS n FROM t"', "release.epsilon = 1")
    assert choice.epsilon_add_remove == pytest.approx(1)
    assert choice.noise_scale == pytest.approx(3)
    total = 'query.sql = "SELECT SUM(x) AS s FROM t"'
    choice = chosen(VISITS, total, "columns.x.bounds = [5, 30]", "release.epsilon = 1")
    promise = choice.question.measurements[0].guarantee
    assert (promise.presence, promise.change) == (90, 90)


def test_a_median_of_101_values() -> None:
    """What the exponential mechanism is known to keep; permute and flip keeps 13.75."""
    choice = chosen(
        VISITS.replace('protects = "persons", person = "id", max_rows = 3', 'protects = "records"'),
        'query.sql = "SELECT MEDIAN(x) AS m FROM t"',
        "columns.x = { bounds = [0, 100], step = 1 }",
        "release.epsilon = 1",
    )
    assert choice.rank_errors()["m"] == pytest.approx(13.75, abs=0.005)
    assert choice.rank_errors()["m"] <= 15.3
