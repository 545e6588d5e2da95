"""A plan for every form of question that is audited as a whole; none of their tables exists, but for public ones."""

from __future__ import annotations

WARDS = "ward,rate,beds\nnorth,0.5,10\nsouth,1.5,20\neast,2,35\n"
RECORDS = """
data = { name = "d", source = "nowhere/t.parquet", table = "t", protects = "records" }
columns.x = { bounds = [0, 10] }
columns.g = { levels = ["a", "b", "c"] }
release = { epsilon = 1.0 }
"""
PERSONS = RECORDS.replace('protects = "records"', 'protects = "persons", person = "id", max_rows = 3')
PUBLIC = """
[tables.wards]
source = "wards.csv"
KEY
[tables.wards.columns.rate]
bounds = [0.5, 2]
[tables.wards.columns.ward]
levels = ["north", "south", "east"]
"""
JOIN = "SELECT SUM(t.x * w.rate) AS s, COUNT(*) AS n FROM t JOIN wards w ON t.ward = w.ward"


def asking(base: str, sql: str, more: str = "") -> str:
    return f'{base}query.sql = """{sql}"""\n{more}'


FORMS = {
    "join": asking(RECORDS, JOIN, PUBLIC.replace("KEY", "max_matches = 4")),
    "left join of values": asking(
        RECORDS.replace('"records"', '"values"'),
        "SELECT SUM(t.x * w.rate) AS s FROM t LEFT JOIN wards w ON t.ward = w.ward",
        PUBLIC.replace("KEY", 'key = ["ward"]'),
    ),
    "lookup": asking(
        RECORDS.replace('"records"', '"values"') + 'columns.ward = { levels = ["north", "south", "east"] }\n',
        "SELECT SUM(w.beds) AS s FROM t JOIN wards w ON t.ward = w.ward",
        PUBLIC.replace("KEY", 'key = ["ward"]') + "[tables.wards.columns.beds]\nbounds = [0, 50]\n",
    ),
    "nested": asking(RECORDS, "SELECT MAX(s) AS most, SUM(s) AS s FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g)"),
    "by person": asking(
        PERSONS,
        "SELECT AVG(n) AS n, COUNT(*) AS c FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id HAVING SUM(x) > 3)",
    ),
    "median": asking(RECORDS, "SELECT g, MEDIAN(x) AS m FROM t GROUP BY g").replace("[0, 10]", "[0, 10], step = 1"),
    "median of persons": asking(PERSONS, "SELECT MEDIAN(x) AS m FROM t").replace("[0, 10]", "[0, 10], step = 1"),
    "levels of persons": asking(PERSONS, "SELECT COUNT(DISTINCT g) AS n FROM t"),
    "found": asking(RECORDS, "SELECT town, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY town").replace(
        "epsilon = 1.0", "epsilon = 1.0, delta = 1e-3"
    ),
    "smooth": asking(
        RECORDS.replace('"records"', '"values"').replace("[0, 10]", "[0, 10], missing = false")
        + "columns.speed = { bounds = [1, 8], public = true, missing = false }\n",
        "SELECT MIN(x / speed) AS m FROM t",
    ).replace("epsilon = 1.0", "epsilon = 1.0, smooth = true"),
    "several": RECORDS.replace("[0, 10]", "[0, 10], step = 1")
    + """
[queries.all]
sql = "SELECT COUNT(*) AS n, SUM(x) AS s FROM t"
[queries.groups]
sql = "SELECT g, SUM(x) AS s FROM t GROUP BY g"
[queries.middle]
sql = "SELECT MEDIAN(x) AS m FROM t WHERE g = 'a'"
""",
    "tables of persons": asking(
        PERSONS.replace("max_rows = 3", "max_rows = 4"),
        "SELECT SUM(o.amount) AS s, COUNT(*) AS n "
        "FROM t JOIN orders o ON t.id = o.who JOIN lines l ON l.number = o.number",
        """
[tables.orders]
source = "nowhere/orders.parquet"
person = "who"
key = ["number"]
[tables.orders.columns.amount]
bounds = [0, 5]
[tables.lines]
source = "nowhere/lines.parquet"
owner = "orders"
key = ["number"]
""",
    ),
}


def believed(name: str) -> str:
    """The same question beside an attacker who thinks that he knows x roughly."""
    stated = "columns.x = { prior = { normal = { mean = 5, sd = 2 } }, "
    attacker = 'attacker = { goal = "x within 1", at = { x = 5 }, advantage = 0.5 }\n'
    return attacker + FORMS[name].replace("columns.x = { ", stated)
