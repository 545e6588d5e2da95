"""Groups of groups on the whole road: one number from completed inner groups, charged once, replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from guessproof.choosing import choose
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import release

ROWS = [("a", 4.0), ("a", 6.0), ("b", 3.0), ("b", None), ("elsewhere", 9.0)]
PLAN = """
[data]
name = "visits"
source = "visits.csv"
protects = "{protects}"
{more}
[query]
sql = "{sql}"
[columns.x]
bounds = [0, 10]
[columns.g]
levels = ["a", "b", "c"]
{public}
[release]
epsilon = 1e8
"""
ANSWERS = {
    "SELECT MAX(s) AS o FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g)": 10.0,
    "SELECT MIN(s) AS o FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g)": 0.0,
    "SELECT AVG(n) AS o FROM (SELECT g, COUNT(x) AS n FROM t GROUP BY g)": 1.0,
    "SELECT COUNT(*) AS o FROM (SELECT g, COUNT(x) AS n FROM t GROUP BY g) AS q WHERE q.n < 2": 2.0,
    "INSERT INTO s SELECT g, MAX(x) AS m FROM t GROUP BY g; SELECT SUM(m) AS o FROM s WHERE g <> 'c'": 9.0,
}


def made(folder: Path, sql: str, protects: str = "values") -> Plan:
    rows = "".join(f"p{i % 2},{g},{'' if x is None else x}\n" for i, (g, x) in enumerate(ROWS))
    (folder / "visits.csv").write_text(f"person,g,x\n{rows}")
    more = 'person = "person"\nmax_rows = 100' if protects == "persons" else ""
    text = PLAN.format(sql=sql, protects=protects, more=more, public="public = true" if protects == "values" else "")
    return loads_plan(text, folder=folder)


@pytest.mark.parametrize("protects", ["values", "records", "persons"])
@pytest.mark.parametrize("sql", ANSWERS)
def test_the_whole_road(tmp_path: Path, sql: str, protects: str) -> None:
    plan = made(tmp_path, sql, protects)
    Ledger.create(tmp_path / "guessproof.ledger", "visits", Budget("1e12"))
    if protects == "persons" and "q.n < 2" in sql:
        with pytest.raises(Exception, match="of rows that are records"):
            choose(plan)
        return
    first = release(plan)
    assert first.answers[0].value == pytest.approx(ANSWERS[sql], abs=0.01)
    again = release(made(tmp_path, sql, protects))
    assert again.replayed
    assert again.answers == first.answers
