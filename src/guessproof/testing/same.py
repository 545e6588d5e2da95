"""One question, two engines: the same whole numbers to the last bit as DuckDB's, over hard values of every sort."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from guessproof.engines import Engine
from guessproof.guarantee import RECORDS, Persons
from guessproof.releasing import prepare_query
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, PublicTable, analyze
from guessproof.sql.rules import RULES
from guessproof.testing.files import DuckDBHarness
from guessproof.testing.harness import Cells, Harness

EXPONENT = -24
TOGETHER = 8
ROWS = 300
COLUMNS = {
    "time": DeclaredColumn("time", bounds=(0, 120)),
    "age": DeclaredColumn("age", bounds=(0, 100)),
    "salary": DeclaredColumn("salary", bounds=(1000, 4000), missing=False),
    "lon": DeclaredColumn("lon", bounds=(-180, 180), missing=False),
    "lat": DeclaredColumn("lat", bounds=(-90, 90), missing=False),
    "grade": DeclaredColumn("grade", bounds=(0, 20), step=0.5),
    "speed": DeclaredColumn("speed", bounds=(20, 90), missing=False, protected=False),
    "income": DeclaredColumn("income", bounds=(0, 90000), edges=(0, 10000, 20000, 50000), missing=False),
    "colour": DeclaredColumn("colour", levels=("black", "white", "brown")),
    "smoker": DeclaredColumn("smoker", levels=("true", "false"), missing=False),
    "faculty": DeclaredColumn("faculty", levels=("math", "law"), protected=False),
    "born": DeclaredColumn("born", bounds=(-18263, 20453), kind="time"),
}
NUMBERS = [name for name, column in COLUMNS.items() if column.bounds is not None and column.kind != "time"]
TEXTS = ["colour", "smoker", "faculty", "card", "born"]
HARD = (
    *(None, "nan", "inf", "-inf", "-0.0", "0", "0.5", "1.5", "2.5", "-2.5", "7", "30", "60", "90.5", "1e300", "-1e300"),
    *("1e-200", "5e-324", "-1e-170", "3.0000000000000004", "0.285", "29.999999999999996", "119.99999999999999"),
)
LABELS = {
    "colour": ("black", "white", "brown", "Black", "black ", "bläck", "x", "b%", None),
    "smoker": ("true", "false", "TRUE", "yes", "maybe", None),
    "faculty": ("math", "law", "Math", "other", None),
    "card": ("1", "2", "3", "a", "A", None),
}
# Texts that some databases take for numbers, and others that are some.
ODD = ("12d", "3f", "1_0", " 7 ", "+2.5", "0x1F", "5.", ".5", "1e400", "1e-400", "Infinity", "x", "7,5", "１")
BORN = ("1980-05-17", "2001-02-29", "1999-12-31 23:59:59.5", "0001-01-01", "x", None)
# A public table, with keys that are missing or that nobody has, and values out of bounds.
PRICES = PublicTable(
    "prices",
    {"rate": DeclaredColumn("rate", bounds=(0.5, 2)), "side": DeclaredColumn("side", levels=("a", "b"))},
    key=("faculty",),
)
PRICE_ROWS = {"faculty": ["math", "law", None, "art"], "rate": [0.7, 99.0, 1.0, None], "side": ["a", "b", "a", None]}
VALUES = DeclaredTable("t", COLUMNS)
SECRET = {n: DeclaredColumn(n, c.bounds, c.levels, c.kind, step=c.step, edges=c.edges) for n, c in COLUMNS.items()}
OF_RECORDS = DeclaredTable("t", SECRET, RECORDS)
OF_PERSONS = DeclaredTable("t", SECRET, Persons("card", 3))
FEW_GROUPS = DeclaredTable("t", SECRET, Persons("card", 3, 1))
JOINABLE = DeclaredTable("t", COLUMNS, public=(PRICES,))
QUERIES: tuple[tuple[str, DeclaredTable], ...] = (
    ("SELECT COUNT(*) FILTER (WHERE time > 30) AS late, COUNT(colour) AS told FROM t", VALUES),
    ("SELECT AVG(time) AS mean, MIN(time) AS least, MAX(time + age) AS most FROM t WHERE smoker", OF_RECORDS),
    ("SELECT MIN((POINT(lon, lat) <@> POINT(3, 4)) / speed) AS soonest FROM t", VALUES),
    ("SELECT STDDEV_POP(time) AS spread, COUNT(DISTINCT colour) AS colours FROM t WHERE smoker", VALUES),
    ("SELECT faculty, QUANTILE(grade, 0.9) AS high, COUNT(time) AS n FROM t WHERE smoker GROUP BY faculty", VALUES),
    ("SELECT colour, SUM(time) AS total FROM t GROUP BY colour", OF_RECORDS),
    ("SELECT income, SUM(income) AS total FROM t WHERE smoker GROUP BY income ORDER BY income", OF_RECORDS),
    ("SELECT COUNT(*) AS meals, COUNT(DISTINCT card) AS people, SUM(lat) AS s FROM t WHERE time > 30", OF_PERSONS),
    ("SELECT faculty, COUNT(*) AS meals, SUM(lat) AS total, MAX(time) AS most FROM t GROUP BY faculty", OF_PERSONS),
    ("SELECT faculty, COUNT(DISTINCT card) AS people, MIN(age) AS least FROM t GROUP BY faculty", FEW_GROUPS),
    ("SELECT MAX(s) AS most FROM (SELECT faculty, SUM(time) AS s FROM t GROUP BY faculty)", VALUES),
    ("SELECT SUM(ROUND(time / 2)) AS a, SUM(ROUND(lon * lat, 2)) AS b FROM t", OF_RECORDS),
    ("SELECT SUM(POWER(time, 3)) AS a, SUM(POWER(salary, -2)) AS b FROM t", OF_RECORDS),
    ("SELECT SUM(EXP(lat * 8 - 720)) AS a, COUNT(*) FILTER (WHERE time * time > 0.25) AS b FROM t", OF_RECORDS),
    ("SELECT SUM(7 / speed) AS a, SUM(7 / 2) AS b, SUM(time / (age + 1)) AS c FROM t", OF_RECORDS),
    ("SELECT COUNT(*) AS n FROM t WHERE colour > 'Z' OR colour LIKE 'b_%'", OF_RECORDS),
    ("SELECT SUM(CASE WHEN time > age THEN 1 ELSE 0.5 END) AS a FROM t WHERE NOT smoker", OF_RECORDS),
)
JOINS = (
    "SELECT SUM(t.salary * p.rate) AS pay FROM t JOIN prices AS p ON t.faculty = p.faculty",
    "SELECT side, SUM(age) AS s, COUNT(age) AS n FROM t LEFT JOIN prices USING (faculty) GROUP BY side",
    "SELECT MAX(time * rate) AS most FROM prices, t WHERE prices.faculty = t.faculty AND rate > 1",
)


def _together(examples: Sequence[str]) -> str:
    """Several examples in one query: on some engines a query costs more than what it computes."""
    outputs: list[str] = []
    for i, example in enumerate(examples):
        what, _, where = example.partition(" WHERE ")
        outputs.append(f"{what} FILTER (WHERE {where}) AS a{i}" if where else f"{what} AS a{i}")
    return f"SELECT {', '.join(outputs)} FROM t"


def list_questions() -> list[tuple[str, DeclaredTable]]:
    """Queries in which dialects differ, joins, and every rule's examples."""
    examples = [e for rule in RULES for e in rule.examples]
    parts = [examples[i : i + TOGETHER] for i in range(0, len(examples), TOGETHER)]
    joins = ((sql, JOINABLE) for sql in JOINS)
    return [*QUERIES, *joins, *((_together(part), VALUES) for part in parts)]


def draw_rows(of_texts: bool) -> list[Cells]:
    """Rows of hard values: numbers, which may be any texts, then texts. Every column holds each of its hard values."""
    random = Random(14)
    hard = (*HARD, *ODD) if of_texts else HARD

    def numbers() -> list[str | None]:
        plain = [repr(float(f"{random.uniform(-10, 130):.6f}")) for _ in range(2 * ROWS // 5)]
        return _mixed([*itertools.islice(itertools.cycle(hard), ROWS - len(plain)), *plain], random)

    labels = [_mixed([*itertools.islice(itertools.cycle(held), ROWS)], random) for held in (*LABELS.values(), BORN)]
    return list(zip(*(numbers() for _ in NUMBERS), *labels, strict=True))


def _mixed(cells: list[str | None], random: Random) -> list[str | None]:
    return random.sample(cells, len(cells))


@contextmanager
def twins(harness: Harness, own: str, reference: str) -> Generator[tuple[Engine, Engine]]:
    """The same rows here and in DuckDB, with the public table beside them."""
    rows, twin = draw_rows(own == harness.shelf.texts.type), DuckDBHarness("duckdb")
    file = write_public(harness.folder, PRICES.name, PRICE_ROWS)
    columns = dict.fromkeys(NUMBERS, own) | dict.fromkeys(TEXTS, harness.shelf.texts.type)
    others = dict.fromkeys(NUMBERS, reference) | dict.fromkeys(TEXTS, "VARCHAR")
    with (
        harness.opened(rows, columns, public={PRICES.name: file}) as here,
        twin.opened(rows, others, public={PRICES.name: file}) as there,
    ):
        yield here, there


def write_public(folder: Path, name: str, rows: Mapping[str, Sequence[Any]]) -> str:
    """A public table as a file."""
    kinds = {n: pa.string() if any(isinstance(v, str) for v in values) else pa.float64() for n, values in rows.items()}
    path = folder / f"{name}.parquet"
    pq.write_table(pa.table({n: pa.array(values, kinds[n]) for n, values in rows.items()}), path)
    return str(path)


def whole_numbers(engine: Engine, question: AnalyzedQuery, exponent: int = EXPONENT) -> Any:
    """What an engine says, before any noise."""
    rewritten = prepare_query(engine, question, [exponent] * len(question.measurements))
    return rewritten.run(engine.aggregates)


def find_difference(
    here: Engine, there: Engine, sql: str, declared: DeclaredTable, exponents: Sequence[int] = (EXPONENT,)
) -> str | None:
    """What is not the same, in words."""
    question = analyze(sql, declared)
    for exponent in exponents:
        found, expected = (whole_numbers(engine, question, exponent) for engine in (here, there))
        if found != expected or not found:
            return f"{sql} in units of 2^{exponent}: {found} here, {expected} on DuckDB"
    return None


def _hold(harness: Harness, own: str, reference: str, *, coarse: bool) -> None:
    with twins(harness, own, reference) as (here, there):
        for sql, declared in list_questions():
            units = (EXPONENT, 3) if coarse and declared is not VALUES else (EXPONENT,)
            fault = find_difference(here, there, sql, declared, units)
            assert fault is None, fault


def same_answers(harness: Harness) -> None:
    """Every rule's examples, persons, groups, quantiles and joins: to the last bit what DuckDB answers."""
    reference = "VARCHAR" if harness.shelf.doubles.value is str else "DOUBLE"
    _hold(harness, harness.shelf.doubles.type, reference, coarse=True)


def same_answers_of_texts(harness: Harness) -> None:
    """The same where numbers are stored as texts."""
    # How they are read does not depend on the unit of the answer.
    _hold(harness, harness.shelf.texts.type, "VARCHAR", coarse=False)


CHECKS = (same_answers, same_answers_of_texts)
