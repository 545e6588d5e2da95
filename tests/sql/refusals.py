"""Queries that are refused: the query, a part of the reason, and the text that is underlined (None: no place).

The table is shown in docs/queries.md; `T` marks the table's name in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from guessproof.guarantee import unit_named
from guessproof.sql import DeclaredColumn, DeclaredTable

COLUMNS = {
    "time": DeclaredColumn("time", bounds=(0, 120)),
    "age": DeclaredColumn("age", bounds=(0, 100)),
    "height": DeclaredColumn("height", kind="number"),
    "colour": DeclaredColumn("colour", levels=("black", "white", "brown")),
    "faculty": DeclaredColumn("faculty", levels=("math", "law"), protected=False),
    "town": DeclaredColumn("town", kind="label", protected=False),
    "smoker": DeclaredColumn("smoker", levels=("true", "false")),
    "lon": DeclaredColumn("lon", bounds=(-180, 180)),
    "lat": DeclaredColumn("lat", bounds=(-90, 90)),
    "born": DeclaredColumn("born", bounds=(-18263, 20453), kind="time"),
}
TABLE = DeclaredTable("t", COLUMNS)
RECORDS = DeclaredTable("t", COLUMNS, unit_named("records"))


@dataclass(frozen=True)
class Refusal:
    """A refused query. `shown`: in the docs."""

    sql: str
    problem: str
    underlined: str | None
    shown: bool = True
    declared: DeclaredTable = TABLE


def _refuse(sql: str, problem: str, underlined: str | None, **more: object) -> Refusal:
    return Refusal(sql, problem, underlined, **more)  # type: ignore[arg-type]


STATEMENTS = [
    _refuse("SELECT SUM(time) FROM t; DROP TABLE t", "more than one statement", "DROP TABLE t"),
    _refuse("DROP TABLE t", "no SELECT but DROP", "DROP"),
    _refuse("INSERT INTO t VALUES (1)", "no SELECT but INSERT", "INSERT"),
    _refuse("UPDATE t SET time = 1", "no SELECT but UPDATE", "UPDATE"),
    _refuse("DELETE FROM t", "no SELECT but DELETE", "DELETE"),
    _refuse("CREATE TABLE u AS SELECT * FROM t", "no SELECT but CREATE", "CREATE"),
    _refuse("ALTER TABLE t ADD COLUMN z INT", "no SELECT but ALTER", "ALTER"),
    _refuse("PRAGMA database_list", "no SELECT but PRAGMA", "PRAGMA"),
    _refuse("SET memory_limit = '1GB'", "no SELECT but SET", "SET"),
    _refuse("ATTACH 'other.db' AS o", "no SELECT but ATTACH", "ATTACH"),
    _refuse("COPY t TO 'out.csv'", "no SELECT but COPY", "COPY"),
    _refuse("INSTALL httpfs", "no SELECT but INSTALL", "INSTALL"),
    _refuse("LOAD httpfs", "no SELECT but LOAD", "LOAD"),
    _refuse("CALL pragma_version()", "no SELECT but CALL", "CALL"),
    _refuse("EXPLAIN SELECT SUM(time) FROM t", "no SELECT but EXPLAIN", "EXPLAIN"),
    _refuse("SUMMARIZE t", "no SELECT but SUMMARIZE", "SUMMARIZE"),
    _refuse("VALUES (1)", "no SELECT but VALUES", "VALUES"),
    _refuse("SELECT SUM(time) FROM t UNION SELECT SUM(age) FROM t", "no SELECT but UNION", "SELECT"),
    _refuse("(SELECT SUM(time) FROM t) LIMIT 0", "no SELECT but", None, shown=False),
    _refuse("WITH a AS (INSERT INTO t VALUES (1)) SELECT SUM(time) FROM t", "this WITH is not understood", None),
    _refuse("", "there is no query", None, shown=False),
    _refuse("   -- nothing", "there is no query", None, shown=False),
    _refuse("SELECT SUM(time) FROM t WHERE town = 'a'' OR 1=1 --", "a quote or a comment is not closed", None),
    _refuse("SELECT SUM(time FROM t", "a bracket is not closed", "FROM"),
    _refuse("SELEC SUM(time) FROM t", "does not fit", None),
    _refuse("SELECT SUM(time) FROM t WHERE age >", "something is missing here", ">"),
]
TABLES = [
    _refuse("SELECT COUNT(*) FROM other", "the plan declares no table other", "other"),
    _refuse("SELECT COUNT(*) FROM main.t", "the plan declares no table main.t", "main.t"),
    _refuse("SELECT COUNT(*) FROM 'secret.csv'", "the plan declares no table secret.csv", None),
    _refuse("SELECT COUNT(*) FROM read_csv('secret.csv')", "only a table can be asked", "read_csv('secret.csv')"),
    _refuse("SELECT COUNT(*) FROM range(10)", "only a table can be asked", None),
    _refuse("SELECT COUNT(*) FROM (VALUES (1)) AS v", "only a table can be asked", None),
    _refuse("SELECT COUNT(*) FROM t, t AS u", "the protected table is joined with itself", None),
    _refuse("SELECT COUNT(*) FROM t JOIN u ON t.id = u.id", "the plan declares no table u", None),
    _refuse("SELECT SUM(time) FROM t TABLESAMPLE 10%", "a sample is not supported", None),
    _refuse("SELECT SUM(u.time) FROM t", "u.time belongs to another table", "u.time"),
    _refuse("SELECT SUM(1)", "there is no FROM", None),
    _refuse("WITH RECURSIVE a AS (SELECT * FROM t) SELECT SUM(time) FROM a", "a recursive query", None),
    _refuse("WITH a AS (SELECT * FROM t) SELECT SUM(time) FROM t", "a is not used", "a"),
    _refuse("SELECT SUM(z) FROM (SELECT time AS y FROM t) AS q", "the subquery has no column z", "z"),
    _refuse(
        "SELECT SUM(time) FROM t JOIN (SELECT faculty, AVG(time) AS m FROM t GROUP BY faculty) AS q USING (faculty)",
        "an inner value that is joined back to rows",
        None,
    ),
    _refuse("SELECT SUM(a) FROM (SELECT time AS a, age AS A FROM t) AS q", "two columns of the subquery", "age AS A"),
    _refuse("SELECT SUM(s) FROM (SELECT SUM(time) AS s FROM t) AS q", "an aggregate of aggregates", None),
    _refuse("SELECT SUM(time) FROM (SELECT * FROM t LIMIT 5) AS q", "LIMIT inside", None),
    _refuse("SELECT SUM(time) FROM (SELECT DISTINCT time FROM t) AS q", "DISTINCT is not supported", None),
]
OUTPUTS = [
    _refuse("SELECT * FROM t", "rows cannot be released", None),
    _refuse("SELECT t.* FROM t", "rows cannot be released", None, shown=False),
    _refuse("SELECT time FROM t", "time is neither aggregated nor grouped by", "time"),
    _refuse("SELECT faculty, SUM(time) FROM t", "faculty is neither aggregated nor grouped by", "faculty"),
    _refuse("SELECT 1 FROM t", "the query asks for no aggregate", None),
    _refuse("SELECT DISTINCT SUM(time) FROM t", "DISTINCT is not supported", None),
    _refuse("SELECT SUM(SUM(time)) FROM t", "an aggregate or a subquery inside an aggregate", "SUM(time)"),
    _refuse("SELECT SUM(time) OVER () FROM t", "a subquery or a window", "SUM(time)"),
    _refuse("SELECT (SELECT SUM(time) FROM t) FROM t", "a subquery or a window", None),
    _refuse("SELECT MEDIAN(time) FROM t", "is picked from a public list, and none is declared", None),
    _refuse("SELECT QUANTILE_CONT(time, 0.5) FROM t", "is picked from a public list, and none is declared", None),
    _refuse("SELECT MEDIAN(time / 7) FROM t", "an expression has no steps of its own", None),
    _refuse("SELECT QUANTILE(ROUND(time), 1) FROM t", "the level must lie strictly between 0 and 1", None),
    _refuse("SELECT QUANTILE(ROUND(time), [0.1, 0.9]) FROM t", "the level of a quantile is one number", None),
    _refuse("SELECT COUNT(DISTINCT time) FROM t", "the values of time are not declared", None),
    _refuse("SELECT COUNT(DISTINCT colour || 'x') FROM t", "COUNT DISTINCT counts the levels of one column", None),
    _refuse("SELECT SUM(DISTINCT time) FROM t", "DISTINCT is not supported here", None),
    _refuse("SELECT STRING_AGG(colour, ',') FROM t", "STRING_AGG is not supported", "STRING_AGG(colour, ',')"),
    _refuse("SELECT FIRST(time) FROM t", "FIRST is not supported", None),
    _refuse("SELECT ARG_MAX(colour, time) FROM t", "ARG_MAX is not supported", "ARG_MAX(colour, time)"),
    _refuse("SELECT SUM(*) FROM t", "this star is not understood", None),
    _refuse("SELECT COUNT(* EXCLUDE (time)) FROM t", "this star is not understood", None),
    _refuse("SELECT SUM(COLUMNS(*)) FROM t", "COLUMNS is not understood", None),
    _refuse("SELECT MAX(time, 3) FROM t", "takes one argument", None),
    _refuse("SELECT COUNT(*) FROM t", "depends on nothing that is protected", "COUNT(*)"),
    _refuse("SELECT AVG(COALESCE(time, 0)) FROM t", "over a number of rows that is public", "AVG(COALESCE(time, 0))"),
    _refuse("SELECT SUM(time) AS a, SUM(age) AS a FROM t", "two outputs are called a", None),
    _refuse("SELECT LN(SUM(time)) FROM t", "LN of an aggregate is not supported", None),
    _refuse("SELECT CAST(SUM(time) AS INT) FROM t", "CAST of an aggregate is not supported", None),
    _refuse("SELECT SUM(time) AS s, measured(0) AS m FROM t", "there is no function measured", "measured(0)"),
    _refuse("SELECT SUM(time), ratio(0, 0, 1, 2, 3) FROM t", "there is no function ratio", "ratio(0, 0, 1, 2, 3)"),
    _refuse("SELECT faculty, SUM(time), key(0) FROM t GROUP BY faculty", "there is no function key", "key(0)"),
    _refuse("SELECT SUM(time) > 3 FROM t", "this output is not supported", None),
    _refuse("SELECT 'a', SUM(time) FROM t", "this output is not supported", None, shown=False),
    _refuse("SELECT faculty + 1, SUM(time) FROM t GROUP BY faculty", "a group is a text", None),
    _refuse("SELECT ROUND(SUM(time), 99) FROM t", "the number of digits", None, shown=False),
]
EXPRESSIONS = [
    _refuse("SELECT SUM(height) FROM t", "height has no bounds", "height"),
    _refuse("SELECT SUM(town) FROM t", "town holds labels", "town"),
    _refuse("SELECT SUM(1 / time) FROM t", "the divisor can be 0", "time"),
    _refuse("SELECT SUM(time / (age - 5)) FROM t", "the divisor can be 0", None),
    _refuse("SELECT SUM(SQRT(time)) FROM t", "the root of a number that can be 0", "time"),
    _refuse("SELECT SUM(LN(time)) FROM t", "the logarithm of a number that can be 0", "time"),
    _refuse("SELECT SUM(LOG(2, time)) FROM t", "LOG is not understood", None),
    _refuse("SELECT SUM(EXP(time * age)) FROM t", "this exponential can leave", None),
    _refuse("SELECT SUM(POWER(time, 40)) FROM t", "too large to be added exactly", None),
    _refuse("SELECT SUM(POWER(time, age)) FROM t", "the exponent must be a number", "age"),
    _refuse("SELECT SUM(POWER(time, 0.5)) FROM t", "this power changes without limit", "time"),
    _refuse("SELECT SUM(time % age) FROM t", "the divisor must be a positive number", "age"),
    _refuse("SELECT SUM(time % 0) FROM t", "the divisor must be a positive number", None),
    _refuse("SELECT SUM(time // 7) FROM t", "is not understood", None),
    _refuse("SELECT SUM(CAST(town AS INT)) FROM t", "town holds labels", None),
    _refuse("SELECT SUM(CAST(time AS INT)) FROM t", "this would change the numbers", None),
    _refuse("SELECT SUM(born) FROM t", "this is a time", "born"),
    _refuse("SELECT SUM(born + 3) FROM t", "this is a time", None),
    _refuse("SELECT MIN(YEAR(died)) FROM t", "died has no bounds", "died"),
    _refuse("SELECT MAX(born + INTERVAL 1 MONTH) FROM t", "only days, hours", None),
    _refuse("SELECT SUM(DATEDIFF('month', born, DATE '2026-01-01')) FROM t", "a difference in months", None),
    _refuse("SELECT SUM(EXTRACT(SECOND FROM born)) FROM t", "second of a time is not understood", None),
    _refuse("SELECT SUM(DATE_TRUNC('hour', born) - born) FROM t", "this part of a time is not understood", None),
    _refuse("SELECT SUM(CURRENT_DATE - born) FROM t", "is not understood", None),
    _refuse("SELECT SUM(FLOOR(time, 2)) FROM t", "only FLOOR(x) and CEIL(x)", None),
    _refuse("SELECT SUM(SIN(time)) FROM t", "SIN is not understood", None),
    _refuse("SELECT SUM(RANDOM()) FROM t", "is not understood", None),
    _refuse("SELECT SUM(time + UUID()) FROM t", "UUID is not understood", None),
    _refuse("SELECT COUNT(*) FROM t WHERE NOW() > DATE '2020-01-01'", "is not understood", None),
    _refuse("SELECT SUM(YEAR(town)) FROM t", "town holds labels, and a time is needed here", None),
    _refuse("SELECT SUM(GETENV('HOME')) FROM t", "GETENV is not understood", None),
    _refuse("SELECT SUM(LENGTH(READ_TEXT('/etc/passwd'))) FROM t", "LENGTH is not understood", None),
    _refuse("SELECT SUM(CURRENT_SETTING('threads')) FROM t", "CURRENT_SETTING is not understood", None),
    _refuse("SELECT SUM(ROUND(time, -2)) FROM t", "the number of digits is not understood", None),
    _refuse("SELECT SUM('5') FROM t", "a number is needed here", None),
    _refuse("SELECT SUM(time > 3) FROM t", "a number is needed here", "time > 3"),
    _refuse("SELECT SUM(?) FROM t", "is not understood", None),
    _refuse("SELECT SUM(time) FROM t WHERE age > $1", "is not understood", None),
    _refuse("SELECT MIN((lon, lat) <@> (3, 4, 5)) FROM t", "a point is needed here", None),
    _refuse("SELECT SUM(lon <@> lat) FROM t", "a point is needed here", "lon"),
]
FILTERS = [
    _refuse("SELECT COUNT(*) FROM t WHERE time", "time holds numbers", "time"),
    _refuse("SELECT COUNT(*) FROM t WHERE time + 1", "a condition is needed here", None),
    _refuse("SELECT COUNT(*) FROM t WHERE time = NULL", "nothing equals NULL", None),
    _refuse("SELECT COUNT(*) FROM t WHERE time IN (1, NULL)", "nothing equals NULL", None),
    _refuse("SELECT COUNT(*) FROM t WHERE time = 'ten'", "time holds numbers", "'ten'"),
    _refuse("SELECT COUNT(*) FROM t WHERE colour = 3", "colour holds labels", "3"),
    _refuse("SELECT COUNT(*) FROM t WHERE colour > DATE '2020-01-01'", "the levels of colour are texts", None),
    _refuse("SELECT COUNT(*) FROM t WHERE colour = age", "colour holds labels", "colour"),
    _refuse("SELECT COUNT(*) FROM t WHERE colour LIKE town", "this pattern is not understood", "town"),
    _refuse("SELECT COUNT(*) FROM t WHERE town ILIKE 'B%'", "what a small letter is", None),
    _refuse("SELECT COUNT(*) FROM t WHERE time + 1 IS DISTINCT FROM age", "compares a column with a constant", None),
    _refuse("SELECT COUNT(*) FROM t WHERE colour SIMILAR TO 'b.*'", "is not understood", None),
    _refuse("SELECT COUNT(*) FROM t WHERE regexp_matches(colour, 'b')", "is not understood", None),
    _refuse(
        "SELECT COUNT(*) FROM t WHERE time IN (SELECT time FROM t)", "an aggregate or a subquery in a filter", None
    ),
    _refuse("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t)", "an aggregate or a subquery in a filter", None),
    _refuse("SELECT COUNT(*) FROM t WHERE time > AVG(time)", "an aggregate or a subquery in a filter", "AVG(time)"),
    _refuse("SELECT COUNT(*) FROM t WHERE time IN (age, 3)", "IN needs constants", "age"),
    _refuse("SELECT COUNT(*) FROM t WHERE time IN (1, 'a')", "values of several kinds in one list", None),
    _refuse("SELECT COUNT(*) FROM t WHERE smoker > FALSE", "truth values have no order", None),
    _refuse("SELECT COUNT(*) FROM t WHERE height > age", "height has no bounds", "height"),
    _refuse("SELECT COUNT(*) FROM t WHERE 1=1 OR sleep(5)", "SLEEP is not understood", None),
]
CLAUSES = [
    _refuse("SELECT town, SUM(time) FROM t GROUP BY town", "the values of town are not declared", "town"),
    _refuse(
        "SELECT town, COUNT(*) FROM t GROUP BY town", "the values of town are not declared", "town", declared=RECORDS
    ),
    _refuse("SELECT SUM(time) FROM t GROUP BY faculty, faculty", "grouped by twice", "faculty, faculty"),
    _refuse("SELECT SUM(time) FROM t GROUP BY ROLLUP (faculty)", "this GROUP BY is not supported", None),
    _refuse("SELECT SUM(time) FROM t GROUP BY ALL", "this GROUP BY is not supported", None),
    _refuse("SELECT SUM(time) FROM t GROUP BY LENGTH(faculty)", "a column is needed here", None),
    _refuse("SELECT faculty, SUM(time) AS s FROM t GROUP BY faculty HAVING MAX(age) > 3", "not an output", "MAX(age)"),
    _refuse("SELECT faculty, SUM(time) AS s FROM t GROUP BY faculty HAVING s", "HAVING needs a comparison", None),
    _refuse("SELECT faculty, SUM(time) AS s FROM t GROUP BY faculty HAVING faculty > 3", "compared with a text", None),
    _refuse("SELECT SUM(time) FROM t ORDER BY MIN(age)", "not an output", "MIN(age)"),
    _refuse("SELECT SUM(time) FROM t ORDER BY 2", "there is no such output", "2"),
    _refuse("SELECT SUM(time) FROM t HAVING measured(0) > 3", "there is no function measured", "measured(0)"),
    _refuse("SELECT SUM(time) FROM t ORDER BY ratio(0, 0, 1, 2, 3)", "there is no function ratio", None),
    _refuse("SELECT SUM(time) FROM t ORDER BY RANDOM()", "of an aggregate is not supported", None),
    _refuse("SELECT SUM(time) FROM t LIMIT 1 OFFSET 1", "OFFSET is not supported", None),
    _refuse("SELECT SUM(time) FROM t LIMIT 10%", "this LIMIT is not understood", None, shown=False),
    _refuse("SELECT SUM(time) FROM t QUALIFY 1 > 0", "QUALIFY is not supported", None),
    _refuse("SELECT SUM(time) INTO u FROM t", "INTO is not supported", None),
    _refuse("SELECT SUM(time) FROM t FOR UPDATE", "a lock is not supported", None),
]
REFUSALS = [*STATEMENTS, *TABLES, *OUTPUTS, *EXPRESSIONS, *FILTERS, *CLAUSES]
