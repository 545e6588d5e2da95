"""Ordinary tables and the question that is asked of each: small, made from fixed seeds, as people bring them."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

ASKED_ABOUT_VALUES = ("1", "1")  # one row a person; who is in the table is known
ASKED_ABOUT_RECORDS = ("1", "2")  # one row a person; who is in the table is secret
Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Table:
    """A table, how its first plan is made, what is asked, and what the answer without noise is.

    ``said`` are the answers to `init --ask`, which then makes the whole plan; otherwise ``init`` are the options of
    `init` and ``plan`` is what its owner makes of it. ``truth`` asks DuckDB for the keys and answers without noise, of
    several questions for each by its name; of a quantile for all values.
    """

    columns: tuple[str, ...]
    rows: Callable[[random.Random], Rows]
    truth: str | Mapping[str, str]
    said: tuple[str, ...] = ()
    init: tuple[str, ...] = ()
    plan: str = ""
    says: tuple[str, ...] = ()  # must stand in what `release` prints, whole
    bias_unknown: bool = False

    def write(self, folder: Path, name: str) -> None:
        """Write the table as a file of comma-separated values."""
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows(self.rows(random.Random(name)))

    def text(self, name: str) -> str:
        """The plan that its owner writes."""
        return f'[data]\nname = "{name}"\nsource = "{name}.csv"\n{self.plan}'


def _numbers(low: float, high: float, digits: int, count: int = 300) -> Callable[[random.Random], Rows]:
    return lambda draw: [(round(draw.uniform(low, high), digits),) for _ in range(count)]


def _labels(*labels: str, count: int = 400) -> Callable[[random.Random], Rows]:
    return lambda draw: [(number, draw.choice(labels)) for number in range(count)]


def _often(draw: random.Random) -> Rows:
    """Persons with 1 to 1,000 rows: most few, some very many; whoever has many waits longer."""
    rows = list[tuple[str, str, float]]()
    for person in range(300):
        count = min(1000, int(draw.paretovariate(0.7)))
        wards = draw.sample(["north ward", "south ward", "east ward"], 2)
        rows += [(f"p{person:03}", draw.choice(wards), round(draw.gauss(5 + count / 20, 4), 1)) for _ in range(count)]
    return rows


def _as_declared(draw: random.Random) -> Rows:
    """Persons with as many rows as is declared: 60 % have 1, 25 % have 5, 10 % have 20 and 5 % have 200."""
    rows = list[tuple[int, float]]()
    for person in range(200):
        count = (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 5, 5, 5, 5, 20, 20, 200)[person % 20]
        rows += [(person, round(draw.uniform(-20, 110), 1)) for _ in range(count)]
    return rows


def _few(draw: random.Random) -> Rows:
    """Persons with 1 to 3 rows, as is declared."""
    persons = [(f"p{person:03}", draw.choice((1, 1, 2, 3))) for person in range(500)]
    wards = ["north ward", "south ward", "east ward"]
    return [(p, draw.choice(wards), round(draw.gauss(13, 8), 1)) for p, count in persons for _ in range(count)]


def _days(draw: random.Random) -> Rows:
    return [((date(1988, 1, 1) + timedelta(days=draw.randrange(700))).isoformat(),) for _ in range(400)]


def _incomplete(draw: random.Random) -> Rows:
    """A third of the weights are missing, and some groups."""
    weights = ["" if draw.random() < 1 / 3 else round(draw.gauss(70, 12), 1) for _ in range(500)]
    return [(weight, draw.choice(["a", "b", ""])) for weight in weights]


def _wide(draw: random.Random) -> Rows:
    return [tuple(draw.randrange(1, 6) for _ in range(300)) for _ in range(60)]


def _clamp(column: str, low: float, high: float) -> str:
    return f"GREATEST(LEAST({column}, {high}), {low})"


PERSONS = """
protects = "persons"
person = "patient"
max_rows = {most}
{more}
[query]
sql = "{sql}"
[columns.delay]
bounds = [-30, 120]
[columns.ward]
levels = ["north ward", "south ward", "east ward"]
[risk]
constant = 3
"""
RECORDS = """
protects = "records"
[query]
sql = "{sql}"
{columns}
[risk]
constant = 3
"""

TABLES: dict[str, Table] = {
    "thousandths": Table(
        ("dose",),
        _numbers(0.0005, 0.004, 6),
        f"SELECT AVG({_clamp('dose', 0, 0.005)}) FROM t",
        said=(
            "1",
            "dose",
            *ASKED_ABOUT_VALUES,
            "0 and 0.005",
            "300",
            "half between 0.001 and 0.003",
            "0.0002",
            "5 %",
            "",
        ),
    ),
    "thousands": Table(
        ("salary",),
        _numbers(1200, 190_000, 0),
        f"SELECT AVG({_clamp('salary', 0, 200_000)}) FROM t",
        said=(
            "1",
            "salary",
            *ASKED_ABOUT_VALUES,
            "0 and 200000",
            "300",
            "half between 30000 and 60000",
            "2000",
            "5 %",
            "",
        ),
    ),
    "billions": Table(
        ("assets",),
        _numbers(1e6, 4e9, 0),
        f"SELECT SUM({_clamp('assets', 0, 3e9)}) FROM t",
        init=("--column", "assets"),
        plan="""
protects = "values"
[query]
sql = "SELECT SUM(assets) AS total FROM t"
[columns.assets]
bounds = [0, 3e9]
missing = false
prior = { lognormal = { median = 4e8, sd_log = 0.9 } }
[attacker]
goal = "assets within 10%"
advantage = 0.05
""",
    ),
    "money": Table(
        ("spent",),
        _numbers(0.05, 250, 2),
        f"SELECT SUM({_clamp('spent', 0, 200)}), COUNT(*) FROM t",
        init=("--column", "spent"),
        plan=RECORDS.format(
            sql="SELECT SUM(spent) AS euros, COUNT(*) AS bills FROM t", columns="[columns.spent]\nbounds = [0, 200]"
        ),
    ),
    "zeros_and_ones": Table(
        ("id", "smoker"),
        _labels("0", "1"),
        "SELECT COUNT(*) FROM t WHERE smoker = 1",
        said=("2", "smoker", *ASKED_ABOUT_VALUES, "0, 1", "1", "0 0.8, 1 0.2", "5 %", ""),
    ),
    "yes_or_no": Table(
        ("id", "smoker"),
        _labels("yes", "no"),
        "SELECT COUNT(*) FROM t WHERE smoker = 'yes'",
        said=("2", "smoker", *ASKED_ABOUT_VALUES, "yes, no", "yes", "yes 0.2, no 0.8", "5 %", "25"),
    ),
    "initials": Table(
        ("id", "vote"),
        _labels("Y", "N"),
        "SELECT vote, COUNT(*) FROM t GROUP BY vote",
        said=("3", "vote", *ASKED_ABOUT_RECORDS, "Y, N", "3", ""),
    ),
    "truth_values": Table(
        ("id", "member"),
        _labels("true", "false"),
        "SELECT CAST(member AS VARCHAR), COUNT(*) FROM t GROUP BY member",
        said=("3", "member", *ASKED_ABOUT_VALUES, "true, false", "true 0.4, false 0.6", "5 %", ""),
        says=("true", "false"),
    ),
    "leading_zeros": Table(
        ("id", "code"),
        _labels("007", "042", "100"),
        "SELECT code, COUNT(*) FROM read_csv('t.csv', all_varchar = true) GROUP BY code",
        init=("--template", "survey", "--column", "code"),
        plan=RECORDS.format(
            sql="SELECT code, COUNT(*) AS n FROM t GROUP BY code",
            columns='[columns.code]\nlevels = ["007", "042", "100"]',
        ),
        says=("007", "042", "100"),
    ),
    "days": Table(
        ("born",),
        _days,
        "SELECT AVG(born - DATE '1970-01-01') FROM t",
        init=("--column", "born"),
        plan="""
protects = "values"
rows = 400
[query]
sql = "SELECT AVG(born) AS middle FROM t"
[columns.born]
bounds = [1988-01-01, 1989-12-31]
missing = false
prior = { uniform = { low = 1988-01-01, high = 1989-12-31 } }
[attacker]
goal = "born within 30 days"
advantage = 0.1
odds = "1 in 2"
""",
    ),
    "quarters": Table(
        ("born",),
        _days,
        "SELECT CASE WHEN born < DATE '1988-08-01' THEN '[1988-01-01, 1988-08-01)'"
        " WHEN born < DATE '1988-11-01' THEN '[1988-08-01, 1988-11-01)' ELSE '[1988-11-01, 1989-12-31]' END AS bin,"
        " COUNT(*) FROM t GROUP BY bin",
        init=("--template", "survey", "--column", "born"),
        plan=RECORDS.format(
            sql="SELECT born, COUNT(*) AS n FROM t GROUP BY born",
            columns="[columns.born]\nedges = [1988-01-01, 1988-08-01, 1988-11-01, 1989-12-31]",
        ),
        says=("[1988-01-01, 1988-08-01)", "[1988-08-01, 1988-11-01)", "[1988-11-01, 1989-12-31]"),
    ),
    "incomplete": Table(
        ("weight", "arm"),
        _incomplete,
        f"SELECT arm, AVG({_clamp('weight', 30, 150)}), COUNT(*) FROM t WHERE arm IS NOT NULL AND weight IS NOT NULL"
        " GROUP BY arm",
        init=("--column", "weight"),
        plan=RECORDS.format(
            sql="SELECT arm, AVG(weight) AS kilograms, COUNT(weight) AS n FROM t WHERE arm IS NOT NULL GROUP BY arm",
            columns='[columns.weight]\nbounds = [30, 150]\n[columns.arm]\nlevels = ["a", "b"]',
        ),
    ),
    "heavy_tails": Table(
        ("patient", "ward", "delay"),
        _often,
        "SELECT SUM(delay * weight) / SUM(weight) FROM"
        " (SELECT delay, LEAST(1, 20 / COUNT(*) OVER (PARTITION BY patient)) AS weight FROM t)",
        init=("--column", "delay", "--person", "patient"),
        plan=PERSONS.format(most=20, more="", sql="SELECT AVG(delay) AS wait FROM t"),
        bias_unknown=True,
    ),
    "persons": Table(
        ("patient", "ward", "delay"),
        _few,
        f"SELECT ward, COUNT(*), AVG({_clamp('delay', -30, 120)}) FROM t GROUP BY ward",
        init=("--column", "delay", "--person", "patient"),
        plan=PERSONS.format(
            most=3,
            more="rows_each = [[1, 0.5], [2, 0.25], [3, 0.25]]",
            sql="SELECT ward, COUNT(*) AS visits, AVG(delay) AS wait FROM t GROUP BY ward",
        ),
        says=("north ward", "south ward", "east ward"),
    ),
    "named_freely": Table(
        ("Größe (cm)", "mon pays"),
        lambda draw: [(round(draw.gauss(170, 9)), draw.choice(["Österreich", "Côte d'Ivoire"])) for _ in range(300)],
        'SELECT "mon pays", COUNT(*) FROM t GROUP BY "mon pays"',
        said=("3", "mon pays", *ASKED_ABOUT_VALUES, "Österreich, Côte d'Ivoire", "0.6, 0.4", "5 %", ""),
        says=("Österreich", "Côte d'Ivoire"),
    ),
    "one_column": Table(
        ("stars",),
        lambda draw: [(draw.randrange(1, 6),) for _ in range(200)],
        "SELECT stars, COUNT(*) FROM t GROUP BY stars",
        said=("3", "stars", *ASKED_ABOUT_RECORDS, "1, 2, 3, 4, 5", "3", ""),
    ),
    "wide": Table(
        tuple(f"q{number}" for number in range(300)),
        _wide,
        "SELECT AVG(q7) FROM t",
        said=("1", "q7", *ASKED_ABOUT_VALUES, "1 and 5", "60", "no idea", "1", "5 %", ""),
    ),
    "no_row": Table(
        ("id", "smoker"),
        lambda draw: [],
        "SELECT l, 0 FROM (VALUES ('yes'), ('no')) v(l)",
        said=("3", "smoker", *ASKED_ABOUT_RECORDS, "yes, no", "3", ""),
    ),
    "one_row": Table(
        ("time",),
        lambda draw: [(17.5,)],
        "SELECT SUM(time), 1 FROM t",
        init=("--column", "time"),
        plan=RECORDS.format(
            sql="SELECT SUM(time) AS total, COUNT(*) AS n FROM t", columns="[columns.time]\nbounds = [0, 120]"
        ),
    ),
    "found_groups": Table(
        ("state",),
        lambda draw: [
            (draw.choice(["Kansas"] * 5 + ["Ohio"] * 4 + [f"rare {draw.randrange(50)}"]),) for _ in range(900)
        ],
        "SELECT state, COUNT(*) FROM t WHERE state NOT LIKE 'rare%' GROUP BY state",
        init=("--template", "survey", "--column", "state"),
        plan="""
protects = "records"
[query]
sql = "SELECT state, COUNT(*) AS n FROM t GROUP BY state"
[release]
delta = 1e-6
epsilon = 0.5
""",
        says=("Kansas", "Ohio"),
    ),
    "gaussian": Table(
        ("bp",),
        _numbers(60, 140, 1),
        "SELECT AVG(bp) FROM t",
        init=("--column", "bp"),
        plan="""
protects = "values"
rows = 300
[query]
sql = "SELECT AVG(bp) AS pressure FROM t"
[columns.bp]
bounds = [50, 150]
missing = false
prior = { normal = { mean = 95, sd = 14 } }
[attacker]
goal = "bp within 10"
advantage = 0.05
failure = 1e-6
at = { bp = 100 }
[release]
mechanism = "gaussian"
delta = 1e-6
""",
    ),
    "middle": Table(
        ("age",),
        lambda draw: [(draw.randrange(18, 90),) for _ in range(400)],
        "SELECT LIST(age) FROM t",
        init=("--column", "age"),
        plan="""
protects = "values"
[query]
sql = "SELECT MEDIAN(age) AS middle FROM t"
[columns.age]
bounds = [18, 100]
step = 1
missing = false
prior = { truncated = { prior = "half between 32 and 58", low = 18, high = 100 } }
[attacker]
goal = "age within 2"
advantage = 0.1
[accuracy]
ranks = 32
""",
    ),
    "several_questions": Table(
        ("ward", "stay"),
        lambda draw: [(draw.choice(["surgery", "births"]), round(draw.lognormvariate(1.5, 0.7))) for _ in range(400)],
        {
            "mean_stay": "SELECT AVG(stay) FROM t",
            "by_ward": "SELECT ward, COUNT(*) FROM t GROUP BY ward",
        },
        init=("--column", "stay"),
        plan="""
protects = "values"
[queries.mean_stay]
sql = "SELECT AVG(stay) AS days FROM t"
rows = 400
[queries.mean_stay.accuracy]
within = 0.5
[queries.by_ward]
sql = "SELECT ward, COUNT(*) AS patients FROM t GROUP BY ward"
weight = 2
[columns.stay]
bounds = [0, 60]
missing = false
prior = { lognormal = { median = 4.5, sd_log = 0.75 } }
[columns.ward]
levels = ["surgery", "births"]
missing = false
[attacker]
goal = "stay within 1"
advantage = 0.1
""",
        says=("surgery", "births"),
    ),
    "frequent_visitors": Table(
        ("patient", "delay"),
        _as_declared,
        "SELECT SUM(GREATEST(LEAST(total, 2400), -600)), SUM(LEAST(n, 20))"
        " FROM (SELECT SUM(delay) AS total, COUNT(*) AS n FROM t GROUP BY patient)",
        init=("--column", "delay", "--person", "patient"),
        plan=PERSONS.format(
            most=20,
            more="rows_each = [[1, 0.6], [5, 0.25], [20, 0.1], [200, 0.05]]",
            sql="SELECT SUM(delay) AS total, COUNT(*) AS visits FROM t",
        ),
    ),
    "visits_each": Table(
        ("patient", "ward", "delay"),
        _few,
        "SELECT n, COUNT(*) FROM (SELECT COUNT(*) AS n FROM t GROUP BY patient) GROUP BY n",
        init=("--column", "delay", "--person", "patient"),
        plan=PERSONS.format(
            most=3,
            more="rows_each = [[1, 0.5], [2, 0.25], [3, 0.25]]",
            sql="SELECT n, COUNT(*) AS patients"
            " FROM (SELECT patient, COUNT(*) AS n FROM t GROUP BY patient) GROUP BY n",
        ),
    ),
    "temperatures": Table(
        ("celsius",),
        lambda draw: [(round(draw.gauss(-4, 8), 1),) for _ in range(500)],
        f"SELECT VAR_POP(x), AVG(x) FROM (SELECT {_clamp('celsius', -40, 40)} AS x FROM t)",
        init=("--column", "celsius"),
        plan=RECORDS.format(
            sql="SELECT VAR_POP(celsius) AS variance, AVG(celsius) AS mean FROM t",
            columns="[columns.celsius]\nbounds = [-40, 40]",
        ),
    ),
    "extremes": Table(
        ("age",),
        lambda draw: [(draw.randrange(18, 96),) for _ in range(400)],
        "SELECT MIN(age), MAX(age) FROM t",
        init=("--column", "age"),
        plan="""
protects = "values"
[query]
sql = "SELECT MIN(age) AS youngest, MAX(age) AS oldest FROM t"
[columns.age]
bounds = [18, 100]
missing = false
prior = "unknown"
[attacker]
goal = "age within 2"
advantage = 0.1
""",
    ),
    "partly_known": Table(
        ("time",),
        _numbers(0, 120, 1),
        "SELECT AVG(time) FROM t",
        init=("--column", "time"),
        plan="""
protects = "values"
rows = 300
[query]
sql = "SELECT AVG(time) AS mean_time FROM t"
[columns.time]
bounds = [0, 120]
missing = false
prior = { partly_known = { radius = 5, probability = 0.5 } }
[attacker]
goal = "time within 5"
advantage = 0.1
""",
    ),
    "unknown_labels": Table(
        ("id", "party"),
        _labels("red", "green", "blue, light"),
        "SELECT party, COUNT(*) FROM t GROUP BY party",
        init=("--column", "party", "--template", "count"),
        plan="""
protects = "values"
[query]
sql = "SELECT party, COUNT(*) AS votes FROM t GROUP BY party"
[columns.party]
levels = ["red", "green", "blue, light"]
missing = false
prior = "unknown"
[attacker]
goal = "party exactly"
advantage = 0.1
""",
        says=("red", "green", "blue, light"),
    ),
    "unknown_numbers": Table(
        ("id", "smoker"),
        _labels("0", "1"),
        "SELECT COUNT(*) FROM t WHERE smoker = 1",
        init=("--column", "smoker", "--template", "count"),
        plan="""
protects = "values"
[query]
sql = "SELECT COUNT(*) AS smokers FROM t WHERE smoker = 1"
[columns.smoker]
levels = [0, 1]
missing = false
prior = "unknown"
[attacker]
goal = "smoker exactly"
advantage = 0.1
""",
    ),
    "unnamed": Table(
        ("x", "y", "speed"),
        lambda draw: [
            (round(draw.gauss(0, 30), 3), round(draw.gauss(0, 30), 3), round(draw.uniform(10, 40), 1))
            for _ in range(300)
        ],
        f"SELECT MIN(SQRT({_clamp('x', -100, 100)} ** 2 + {_clamp('y', -100, 100)} ** 2) / speed) FROM t",
        init=("--column", "speed"),
        plan=RECORDS.format(
            sql="SELECT MIN((POINT(x, y) <@> (0, 0)) / speed) FROM t;",
            columns="[columns.x]\nbounds = [-100, 100]\n[columns.y]\nbounds = [-100, 100]\n"
            "[columns.speed]\nbounds = [10, 40]",
        ),
    ),
    "times": Table(
        ("came",),
        lambda draw: [
            (f"2025-03-{draw.randrange(1, 29):02} {draw.randrange(24):02}:{draw.randrange(60):02}:00",)
            for _ in range(300)
        ],
        "SELECT AVG(EPOCH(came)) / 86400 FROM t",
        init=("--column", "came"),
        plan="""
protects = "values"
rows = 300
[query]
sql = "SELECT AVG(came) AS middle FROM t"
[columns.came]
bounds = [2025-03-01, 2025-04-01]
missing = false
prior = { uniform = { low = 2025-03-01, high = 2025-04-01 } }
[attacker]
goal = "came within 2 hours"
advantage = 0.02
""",
    ),
    "ordered": Table(
        ("city", "sex", "rent", "income"),
        lambda draw: [
            (
                draw.choice(["Köln", "Bonn"]),
                draw.choice("mf"),
                round(draw.gauss(900, 200)),
                round(draw.gauss(3000, 600)),
            )
            for _ in range(600)
        ],
        "SELECT city, sex, COUNT(*), SUM(rent) / SUM(income) FROM t GROUP BY city, sex",
        init=("--column", "rent"),
        plan=RECORDS.format(
            sql="SELECT city, sex, COUNT(*) AS n, SUM(rent) / SUM(income) AS share FROM t GROUP BY city, sex"
            " HAVING COUNT(*) > 10 ORDER BY n DESC LIMIT 3",
            columns="[columns.rent]\nbounds = [0, 3000]\n[columns.income]\nbounds = [0, 10000]\n"
            '[columns.city]\nlevels = ["Köln", "Bonn"]\n[columns.sex]\nlevels = ["m", "f"]',
        ),
    ),
    "missing_keys": Table(
        ("weight", "arm"),
        _incomplete,
        "SELECT arm, COUNT(*) FROM t GROUP BY arm",
        init=("--template", "survey", "--column", "arm"),
        plan="""
protects = "values"
[query]
sql = "SELECT arm, COUNT(*) AS n FROM t GROUP BY arm"
[columns.arm]
levels = ["a", "b"]
missing = true
prior = { categorical = { a = 2, b = 3 } }
[attacker]
goal = "arm exactly"
advantage = 0.1
both = true
""",
    ),
    "two_columns": Table(
        ("age", "smoker"),
        lambda draw: [(draw.randrange(18, 90), draw.choice(["yes", "no", "no"])) for _ in range(400)],
        "SELECT COUNT(*) FROM t WHERE age >= 65 AND smoker = 'yes'",
        init=("--column", "smoker", "--template", "count"),
        plan="""
protects = "values"
[query]
sql = "SELECT COUNT(*) AS n FROM t WHERE age >= 65 AND smoker = 'yes'"
[columns.age]
bounds = [18, 100]
missing = false
prior = { histogram = { edges = [18, 40, 65, 100], weights = [4, 3, 3] } }
[columns.smoker]
levels = ["yes", "no"]
missing = false
prior = { categorical = { yes = 0.3, no = 0.7 } }
[attacker]
goal = "age within 5 and smoker exactly"
advantage = 0.1
at = { age = 70, smoker = "yes" }
""",
    ),
}
