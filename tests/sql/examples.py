"""The rules' examples as whole queries, and the queries of the golden pages."""

from __future__ import annotations

from dataclasses import dataclass

from guessproof.guarantee import Persons, unit_named
from guessproof.sql import DeclaredColumn, DeclaredTable, PublicTable
from guessproof.sql.rules import RULES

COLUMNS = {
    "time": DeclaredColumn("time", bounds=(0, 120)),
    "age": DeclaredColumn("age", bounds=(0, 100)),
    "salary": DeclaredColumn("salary", bounds=(1000, 4000), missing=False),
    "lon": DeclaredColumn("lon", bounds=(-180, 180), missing=False),
    "lat": DeclaredColumn("lat", bounds=(-90, 90), missing=False),
    "grade": DeclaredColumn("grade", bounds=(0, 20), step=0.5),
    "colour": DeclaredColumn("colour", levels=("black", "white", "brown")),
    "smoker": DeclaredColumn("smoker", levels=("true", "false"), missing=False),
    "faculty": DeclaredColumn("faculty", levels=("math", "law"), protected=False),
    "speed": DeclaredColumn("speed", bounds=(20, 90), missing=False, protected=False),
    "born": DeclaredColumn("born", bounds=(-18263, 20453), kind="time"),
    "income": DeclaredColumn("income", bounds=(0, 90000), edges=(0, 10000, 20000, 50000), missing=False),
}
VALUES = DeclaredTable("t", COLUMNS)
COUNTED = DeclaredTable("t", COLUMNS, rows=120)
SECRET = {n: DeclaredColumn(n, c.bounds, c.levels, c.kind, step=c.step, edges=c.edges) for n, c in COLUMNS.items()}
RECORDS = DeclaredTable("t", SECRET, unit_named("records"))
PERSONS = DeclaredTable("t", SECRET, Persons("card", 3))
FEW_GROUPS = DeclaredTable("t", SECRET, Persons("card", 3, 1))


@dataclass(frozen=True)
class Example:
    """A query, and what is declared."""

    sql: str
    declared: DeclaredTable = VALUES


def whole(example: str) -> str:
    """COUNT(*) WHERE time > 30 as a query."""
    what, _, where = example.partition(" WHERE ")
    return f"SELECT {what} FROM t" + (f" WHERE {where}" if where else "")


QUERIES = {
    "counts": [
        Example("SELECT COUNT(time) FROM t"),
        Example("SELECT COUNT(*) FROM t", RECORDS),
        Example("SELECT COUNT(*) FILTER (WHERE time > 30) AS late, COUNT(colour) AS told FROM t"),
        Example("SELECT COUNT(*) FROM t WHERE smoker AND NOT time >= 30"),
    ],
    "averages": [
        Example("SELECT AVG(time) AS mean FROM t WHERE faculty = 'math'", COUNTED),
        Example("SELECT AVG(time) AS mean FROM t"),
        Example("SELECT AVG(time) AS mean FROM t", RECORDS),
        Example("SELECT AVG(CASE WHEN time > 30 THEN time END) AS late FROM t", COUNTED),
    ],
    "extremes": [
        Example("SELECT MIN(time) AS least, MAX(time) AS most FROM t"),
        Example("SELECT MAX(time + age) AS most FROM t"),
        Example("SELECT MIN((POINT(lon, lat) <@> POINT(3, 4)) / speed) AS soonest FROM t"),
    ],
    "variances": [
        Example("SELECT VARIANCE(salary) AS spread FROM t", COUNTED),
        Example("SELECT STDDEV_POP(time) AS spread FROM t WHERE smoker"),
    ],
    "distinct": [
        Example("SELECT COUNT(DISTINCT colour) AS colours FROM t"),
        Example("SELECT faculty, COUNT(DISTINCT colour) AS colours FROM t WHERE time > 3 GROUP BY faculty", RECORDS),
    ],
    "quantiles": [
        Example("SELECT MEDIAN(grade) AS middle FROM t"),
        Example("SELECT faculty, QUANTILE(grade, 0.9) AS high, COUNT(time) AS n FROM t WHERE smoker GROUP BY faculty"),
        Example("SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY ROUND(time / 7)) AS weeks FROM t", RECORDS),
    ],
    "groups": [
        Example("SELECT faculty, AVG(time) AS mean FROM t GROUP BY faculty ORDER BY mean DESC LIMIT 1", COUNTED),
        Example("SELECT faculty, SUM(time) AS total FROM t GROUP BY faculty HAVING total > 100", RECORDS),
        Example("SELECT colour, COUNT(*) AS n FROM t GROUP BY colour"),
        Example("SELECT smoker, AVG(time) AS mean FROM t GROUP BY smoker", COUNTED),
    ],
    "bins": [
        Example("SELECT income, COUNT(*) AS n FROM t GROUP BY income"),
        Example("SELECT income, SUM(income) AS total FROM t WHERE smoker GROUP BY income ORDER BY income", RECORDS),
        Example("SELECT income, COUNT(*) AS n FROM t GROUP BY income", PERSONS),
    ],
    "persons": [
        Example("SELECT COUNT(*) AS meals, COUNT(DISTINCT card) AS people FROM t WHERE time > 30", PERSONS),
        Example("SELECT SUM(lat) AS total, AVG(salary) AS mean, MAX(time) AS most FROM t", PERSONS),
        Example("SELECT faculty, COUNT(*) AS meals, SUM(lat) AS total FROM t GROUP BY faculty", PERSONS),
        Example(
            "SELECT faculty, COUNT(DISTINCT card) AS people, MIN(age) AS least FROM t GROUP BY faculty", FEW_GROUPS
        ),
    ],
    "subqueries": [
        Example("SELECT SUM(late) AS s FROM (SELECT time - 30 AS late FROM t WHERE time > 30) AS q"),
        Example("WITH a AS (SELECT * FROM t WHERE faculty = 'law') SELECT SUM(salary) AS s FROM a"),
    ],
    "groups of groups": [
        Example("SELECT MAX(s) AS most, MIN(s) AS least FROM (SELECT faculty, SUM(time) AS s FROM t GROUP BY faculty)"),
        Example(
            "SELECT COUNT(*) AS k FROM (SELECT colour, COUNT(*) AS n FROM t GROUP BY colour) WHERE n >= 9", RECORDS
        ),
    ],
    "after the noise": [Example("SELECT ROUND(SUM(time) / COUNT(time), 1) AS m, ABS(SUM(age)) + 1 AS a FROM t")],
}
PRICES = PublicTable(
    "prices",
    {"rate": DeclaredColumn("rate", bounds=(0.5, 2)), "side": DeclaredColumn("side", levels=("a", "b"))},
    key=("faculty",),
)
MONTHS = PublicTable("months", {"n": DeclaredColumn("n", bounds=(1, 12))}, max_matches=12)
JOINABLE = DeclaredTable("t", COLUMNS, public=(PRICES, MONTHS))
JOINS = [
    Example("SELECT SUM(t.salary * p.rate) AS pay FROM t JOIN prices AS p ON t.faculty = p.faculty", JOINABLE),
    Example("SELECT side, SUM(age * n) AS s FROM t LEFT JOIN prices USING (faculty), months GROUP BY side", JOINABLE),
    Example("SELECT MAX(time * rate) AS most FROM prices, t WHERE prices.faculty = t.faculty AND rate > 1", JOINABLE),
]
PAGES: dict[str, list[Example]] = {
    **{rule.name: [Example(whole(e)) for e in rule.examples] for rule in RULES},
    **QUERIES,
}
